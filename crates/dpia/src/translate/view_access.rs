//! Reading delayed arrays (default mode): an index moves through views to the `map` or `generate`
//! below, whose function is then applied.

use functional::{DataType, Prim};

use super::continuation::bind;
use super::{Applied, Translator};
use crate::phrase::{Comm, CommKind, Demand, Exp, ExpArg, ExpKind, PVar, Step, Then};
use crate::view::{self, Viewed, lanewise};

impl Translator<'_> {
    /// One rule at `C(e)(λx. c)` for an expression that holds functions; it is resolved and no
    /// closure.
    pub(super) fn continue_delayed(&mut self, e: &Exp, demand: Demand, x: &PVar, c: &Comm) -> Applied {
        let (head, mut path) = peel(e);
        if path.is_empty() {
            return Ok(self.continue_whole(e, demand, x, c));
        }
        let go_on = |e: Exp| -> Comm { CommKind::C(e, demand, x.clone(), c.clone()).into() };
        if let ExpKind::Prim(prim, args) = head.kind()
            && let Some(Step::At(i)) = path.last().cloned()
        {
            let rule = match prim {
                Prim::Generate => "v.generate",
                Prim::Reorder => "v.reorder",
                _ => "v.map",
            };
            match (prim, &args[..]) {
                (Prim::Generate, [ExpArg::Size(_), ExpArg::Fun(f)]) => {
                    path.pop();
                    let y = self.parameter(&f.params[0]);
                    let image = self.apply(f, &[Exp::var(&y, f.params[0].ty.clone())]);
                    let rest = self.continue_at(image, path, demand, x, c);
                    return Ok((rule, CommKind::Share(y, i, rest).into()));
                }
                (Prim::Reorder, [ExpArg::Fun(f), ExpArg::Exp(xs)]) => {
                    path.pop();
                    let y = self.parameter(&f.params[0]);
                    let place = self.apply(f, &[Exp::var(&y, f.params[0].ty.clone())]);
                    let xs = xs.clone();
                    let rest = self.chain(vec![(place, Demand::Any)], |_, mut js| {
                        path.push(Step::At(js.remove(0)));
                        go_on(along(&xs, &path))
                    });
                    return Ok((rule, CommKind::Share(y, i, rest).into()));
                }
                (Prim::Gather, [ExpArg::Exp(is), ExpArg::Exp(xs)]) if is.delayed() => {
                    path.pop();
                    let Some(place) = is.at(i) else { return Ok(("c.1", bind(x, e, c))) };
                    let xs = xs.clone();
                    let rest = self.chain(vec![(place, Demand::Any)], |_, mut js| {
                        path.push(Step::At(js.remove(0)));
                        go_on(along(&xs, &path))
                    });
                    return Ok(("cge.gather", rest));
                }
                (_, [ExpArg::Fun(f), ExpArg::Exp(xs)]) => {
                    path.pop();
                    let Some(element) = xs.at(i) else { return Ok(("c.1", bind(x, e, c))) };
                    let y = self.parameter(&f.params[0]);
                    let image = self.apply(f, &[Exp::var(&y, f.params[0].ty.clone())]);
                    let rest = self.continue_at(image, path, demand, x, c);
                    let after = self.chain(vec![(element, demand)], |_, mut vs| {
                        CommKind::Share(y, vs.remove(0), rest).into()
                    });
                    return Ok((rule, after));
                }
                _ => {}
            }
        }
        match view::step(&head, &mut path) {
            Some(Viewed::Go(rule, inner)) => Ok((rule, go_on(along(&inner, &path)))),
            Some(Viewed::Branch(rule, cond, (a, pa), (b, pb))) => {
                let then = Then::Continue(x.clone(), c.clone());
                Ok((rule, CommKind::Branch(cond, along(&a, &pa), along(&b, &pb), then).into()))
            }
            None => Ok(("c.1", bind(x, e, c))),
        }
    }

    /// `C(e)(λr. C(r at path)(λx. c))`
    fn continue_at(&mut self, e: Exp, path: Vec<Step>, demand: Demand, x: &PVar, c: &Comm) -> Comm {
        if path.is_empty() {
            return CommKind::C(e, demand, x.clone(), c.clone()).into();
        }
        self.chain(vec![(e, demand)], |_, mut rs| {
            CommKind::C(along(&rs.remove(0), &path), demand, x.clone(), c.clone()).into()
        })
    }

    /// Not an element of anything: arrays stay delayed, the parts of numbers and pairs are
    /// computed.
    fn continue_whole(&mut self, e: &Exp, demand: Demand, x: &PVar, c: &Comm) -> (&'static str, Comm) {
        let ExpKind::Prim(prim, args) = e.kind() else { return ("c.1", bind(x, e, c)) };
        let parts = *prim == Prim::Pair || (lanewise(*prim) && !matches!(e.ty(), DataType::Vector(..)));
        if *prim == Prim::Select
            && super::is_flat(e.ty())
            && let [ExpArg::Exp(cond), ExpArg::Exp(a), ExpArg::Exp(b)] = &args[..]
        {
            let then = Then::Continue(x.clone(), c.clone());
            return ("c.select", CommKind::Branch(cond.clone(), a.clone(), b.clone(), then).into());
        }
        if !parts {
            return ("c.1", bind(x, e, c));
        }
        let ty = e.ty().clone();
        let prim = *prim;
        let after =
            self.chain_args(prim, args.clone(), demand, |_, args| bind(x, &Exp::prim(prim, args, ty), c));
        (prim.info().rules[1], after)
    }
}

/// The expression below the outermost indices and components, and these as a path (the last step is
/// next to the head).
fn peel(e: &Exp) -> (Exp, Vec<Step>) {
    let mut path = Vec::new();
    let mut head = e.clone();
    loop {
        let next = match head.kind() {
            ExpKind::Prim(Prim::Index, args) => match &args[..] {
                [ExpArg::Exp(a), ExpArg::Exp(i)] => {
                    path.push(Step::At(i.clone()));
                    a.clone()
                }
                _ => break,
            },
            ExpKind::Prim(prim @ (Prim::Fst | Prim::Snd), args) => match &args[..] {
                [ExpArg::Exp(a)] => {
                    path.push(if *prim == Prim::Fst { Step::First } else { Step::Second });
                    a.clone()
                }
                _ => break,
            },
            _ => break,
        };
        head = next;
    }
    (head, path)
}

/// The expression at a path. Steps that do not fit its type end it. The checker of phrases reports
/// them.
pub(crate) fn along(e: &Exp, path: &[Step]) -> Exp {
    let mut e = e.clone();
    for step in path.iter().rev() {
        match e.step(step) {
            Some(next) => e = next,
            None => break,
        }
    }
    e
}
