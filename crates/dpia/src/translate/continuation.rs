//! Continuation-passing rules: `C(e)(λx. c)` computes `e` and continues with `c`.

use functional::{Arg, Group, Prim, Term, TermKind};
use loops::LoopKind;

use super::{Applied, Result, Translator, closures};
use crate::env::Env;
use crate::phrase::{Acc, Comm, CommKind, Demand, Exp, ExpArg, ExpKind, Fun, PVar, Role, Then};
use crate::view::lanewise;

impl Translator<'_> {
    /// One rule at `C(e)(λx. c)`; the expression is resolved.
    pub(super) fn continuation(&mut self, e: &Exp, demand: Demand, x: &PVar, c: &Comm) -> Applied {
        match e.kind() {
            ExpKind::Closure(term, env) => self.continue_term(term, env, demand, x, c),
            _ if !self.paper() && e.delayed() => self.continue_delayed(e, demand, x, c),
            _ => Ok(("c.1", bind(x, e, c))),
        }
    }

    fn continue_term(&mut self, term: &Term, env: &Env, demand: Demand, x: &PVar, c: &Comm) -> Applied {
        match term.kind() {
            TermKind::Let(binder, value, body) => {
                let (x, c) = (x.clone(), c.clone());
                let after = self.bind_let(binder, value, body, env, |e| CommKind::C(e, demand, x, c).into());
                Ok(("c.let", after))
            }
            TermKind::Prim(prim, args) => self.continue_prim(term, *prim, args, env, demand, x, c),
            TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => Err(self.ill_typed(term)),
        }
    }

    /// `let binder = value in body`, where `rest` gets the body with the variable standing for the
    /// value.
    pub(super) fn bind_let(
        &mut self,
        binder: &functional::Binder,
        value: &Term,
        body: &Term,
        env: &Env,
        rest: impl FnOnce(Exp) -> Comm,
    ) -> Comm {
        let value = Exp::closure(value, env);
        if !self.info.many(binder.var.id) {
            return rest(Exp::closure(body, &env.with(&binder.var, value)));
        }
        let v = self.parameter(binder);
        let body = Exp::closure(body, &env.with(&binder.var, Exp::var(&v, binder.ty.clone())));
        let body = rest(body);
        // Memory that the value takes is named after the variable.
        let mut x = self.value();
        x.hint = v.hint.clone();
        let shared = CommKind::Share(v, Exp::var(&x, value.ty().clone()), body).into();
        CommKind::C(value, Demand::Any, x, shared).into()
    }

    #[allow(clippy::too_many_arguments)]
    fn continue_prim(
        &mut self,
        term: &Term,
        prim: Prim,
        args: &[Arg],
        env: &Env,
        demand: Demand,
        x: &PVar,
        c: &Comm,
    ) -> Applied {
        let rule = prim.info().rules[1];
        let this = || Exp::closure(term, env);
        let exps = closures(args, env);
        let after = match prim {
            Prim::Map | Prim::Reduce => return Err(self.no_strategy(prim, term)),
            Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll => {
                let [ExpArg::Fun(f), ExpArg::Exp(_)] = &exps[..] else { return Err(self.ill_typed(term)) };
                if self.map_needs_memory(prim, f, demand) {
                    self.through_memory(&this(), x, c, x.hint.as_ref())
                } else {
                    return Ok(("c.mapV", self.chain_views(prim, exps, term, demand, x, c)));
                }
            }
            Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar | Prim::Iterate => {
                let then = Then::Continue(x.clone(), c.clone());
                self.reduction(term, prim, exps, then)?
            }
            Prim::ScanSeq
            | Prim::ReduceByIndex
            | Prim::TransPar
            | Prim::ReverseSeq
            | Prim::CopySeq
            | Prim::Scatter
            | Prim::ToMem => self.through_memory(&this(), x, c, x.hint.as_ref()),
            Prim::Generate | Prim::Reorder if self.paper() => {
                let loops = exps.iter().any(|arg| match arg {
                    ExpArg::Fun(f) => self.info.work(&f.body).loops,
                    _ => false,
                });
                if loops {
                    self.through_memory(&this(), x, c, x.hint.as_ref())
                } else {
                    self.chain_views(prim, exps, term, demand, x, c)
                }
            }
            Prim::Select if !self.paper() => {
                let [ExpArg::Exp(p), ExpArg::Exp(a), ExpArg::Exp(b)] = &exps[..] else {
                    return Err(self.ill_typed(term));
                };
                let then = Then::Continue(x.clone(), c.clone());
                self.choice(p, a, b, then)
            }
            Prim::Fst | Prim::Snd if !self.paper() => {
                // The pair may be delayed, and then its component is still to be computed.
                let ty = term.ty().clone();
                self.chain_args(prim, exps, demand, |_, args| {
                    CommKind::C(Exp::prim(prim, args, ty), demand, x.clone(), c.clone()).into()
                })
            }
            Prim::Index => {
                let [ExpArg::Exp(e), ExpArg::Exp(i)] = &exps[..] else { return Err(self.ill_typed(term)) };
                let one = Demand::Once(LoopKind::Parallel);
                let (paper, elem) = (self.paper(), term.ty().clone());
                self.chain(vec![(e.clone(), one), (i.clone(), Demand::Any)], |_, xs| {
                    let element = Exp::prim(Prim::Index, xs.into_iter().map(ExpArg::Exp).collect(), elem);
                    if paper {
                        bind(x, &element, c)
                    } else {
                        CommKind::C(element, demand, x.clone(), c.clone()).into()
                    }
                })
            }
            _ => self.chain_views(prim, exps, term, demand, x, c),
        };
        Ok((rule, after))
    }

    /// `C(e1)(λx1. … C(en)(λxn. c(prim x1 … xn)))`: the rule of every primitive that is an
    /// expression of its arguments.
    fn chain_views(
        &mut self,
        prim: Prim,
        args: Vec<ExpArg>,
        term: &Term,
        demand: Demand,
        x: &PVar,
        c: &Comm,
    ) -> Comm {
        self.chain_args(prim, args, demand, |_, args| bind(x, &Exp::prim(prim, args, term.ty().clone()), c))
    }

    /// Computes the arguments that are expressions and hands all of them on.
    pub(super) fn chain_args(
        &mut self,
        prim: Prim,
        args: Vec<ExpArg>,
        demand: Demand,
        body: impl FnOnce(&mut Self, Vec<ExpArg>) -> Comm,
    ) -> Comm {
        let inner = demand_of_argument(prim, demand);
        let exps: Vec<(Exp, Demand)> = args
            .iter()
            .filter_map(|arg| match arg {
                ExpArg::Exp(e) => Some((e.clone(), inner)),
                _ => None,
            })
            .collect();
        self.chain(exps, |this, values| {
            let mut values = values.into_iter();
            let args = args
                .into_iter()
                .map(|arg| match arg {
                    ExpArg::Exp(e) => ExpArg::Exp(values.next().unwrap_or(e)),
                    other => other,
                })
                .collect();
            body(this, args)
        })
    }

    /// Whether a `map` whose result is read by `demand` is stored rather than computed when read.
    fn map_needs_memory(&self, prim: Prim, f: &Fun, demand: Demand) -> bool {
        if self.paper() {
            return true;
        }
        let loops = self.info.work(&f.body).loops;
        match demand {
            Demand::Any => loops,
            // The user wants these loops to run in parallel, and the reader goes one by one.
            Demand::Once(LoopKind::Sequential | LoopKind::Unroll(_)) => {
                loops && prim == Prim::MapPar && self.parallel == 0
            }
            Demand::Once(_) => false,
        }
    }

    /// `C(p)(λx. branch x a b then)`; between arrays the condition is computed once, not for every
    /// element.
    pub(super) fn choice(&mut self, p: &Exp, a: &Exp, b: &Exp, then: Then) -> Comm {
        let (a, b) = (a.clone(), b.clone());
        let many = !super::is_flat(a.ty());
        let cond = self.fresh("c", None, Role::Expression { many });
        self.chain(vec![(p.clone(), Demand::Any)], |_, mut xs| {
            let p = xs.remove(0);
            let chosen = CommKind::Branch(Exp::var(&cond, p.ty().clone()), a, b, then).into();
            CommKind::Share(cond, p, chosen).into()
        })
    }

    /// `C` of the value of the branch that the condition selects.
    pub(super) fn branch(&mut self, cond: &Exp, a: &Exp, b: &Exp, then: &Then) -> Result<Comm> {
        let cond = self.resolve(cond);
        let (a, b) = (self.resolve(a), self.resolve(b));
        let ty = a.ty().clone();
        if let Then::Into(acc) = then
            && !super::is_flat(&ty)
        {
            let yes = self.normalise(CommKind::A(a, acc.clone()).into())?;
            let no = self.normalise(CommKind::A(b, acc.clone()).into())?;
            return Ok(CommKind::If(cond, yes, no).into());
        }
        let yes = self.value_of(a)?;
        let no = self.value_of(b)?;
        if let (CommKind::Yield(a), CommKind::Yield(b)) = (yes.kind(), no.kind()) {
            let args = [&cond, a, b].map(|e| ExpArg::Exp(e.clone())).to_vec();
            let value = Exp::prim(Prim::Select, args, ty);
            return self.normalise(match then {
                Then::Continue(x, c) => bind(x, &value, c),
                Then::Into(acc) => CommKind::A(value, acc.clone()).into(),
            });
        }
        match then {
            Then::Into(acc) => {
                let yes = self.finish_branch(&yes, acc)?;
                let no = self.finish_branch(&no, acc)?;
                Ok(CommKind::If(cond, yes, no).into())
            }
            Then::Continue(x, c) => {
                let tmp = self.memory("tmp", x.hint.as_ref());
                let acc = Acc::var(&tmp, ty.clone());
                let yes = self.finish_branch(&yes, &acc)?;
                let no = self.finish_branch(&no, &acc)?;
                let rest = self.normalise(bind(x, &Exp::var(&tmp, ty.clone()), c))?;
                let both = Comm::new(CommKind::If(cond, yes, no)).then(rest);
                Ok(CommKind::New(tmp, ty, both).into())
            }
        }
    }

    /// Commands that compute the value and end in `Yield`.
    fn value_of(&mut self, e: Exp) -> Result<Comm> {
        let x = self.value();
        let end = CommKind::Yield(Exp::var(&x, e.ty().clone())).into();
        self.normalise(CommKind::C(e, Demand::Any, x, end).into())
    }

    /// Stores what the branch yields.
    fn finish_branch(&mut self, comm: &Comm, acc: &Acc) -> Result<Comm> {
        Ok(match comm.kind() {
            CommKind::Yield(e) => self.normalise(CommKind::A(e.clone(), acc.clone()).into())?,
            CommKind::Seq(a, b) => CommKind::Seq(a.clone(), self.finish_branch(b, acc)?).into(),
            CommKind::New(v, ty, c) => {
                CommKind::New(v.clone(), ty.clone(), self.finish_branch(c, acc)?).into()
            }
            CommKind::Alias(v, a, c) => {
                CommKind::Alias(v.clone(), a.clone(), self.finish_branch(c, acc)?).into()
            }
            _ => comm.clone(),
        })
    }
}

/// `c` with `x` standing for `e`.
pub(super) fn bind(x: &PVar, e: &Exp, c: &Comm) -> Comm {
    CommKind::Bind(x.clone(), e.clone(), c.clone()).into()
}

/// How the arguments of a primitive are read when its result is read by `demand`.
fn demand_of_argument(prim: Prim, demand: Demand) -> Demand {
    match prim {
        Prim::Join
        | Prim::Transpose
        | Prim::Slide
        | Prim::PadClamp
        | Prim::Gather
        | Prim::Reorder
        | Prim::AsScalar
        | Prim::Splat => Demand::Any,
        _ if prim.info().group == Group::Scalar && lanewise(prim) => Demand::Any,
        _ => demand,
    }
}
