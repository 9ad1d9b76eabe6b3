//! Acceptor-passing rules: `A(e)(a)` computes `e` into `a`.

use functional::{Arg, DataType, Group, Prim, Term, TermKind};
use loops::diagnostic::Span;
use loops::{Diagnostic, LoopKind, Scalar, Size};

use super::{Applied, Result, Translator, closures, is_flat};
use crate::env::Env;
use crate::phrase::{
    Acc, AccView, Comm, CommKind, Demand, Exp, ExpArg, ExpKind, Folding, Fun, Macro, Role, Then, length,
};

/// Copies of a body that are written out at most where the user does not ask for them.
const MOST_COPIES: i64 = 64;

impl Translator<'_> {
    /// One rule at `A(e)(a)`; the expression is resolved.
    pub(super) fn acceptor(&mut self, e: &Exp, a: &Acc) -> Applied {
        match e.kind() {
            ExpKind::Closure(term, env) => match term.kind() {
                TermKind::Let(binder, value, body) => {
                    let after = self.bind_let(binder, value, body, env, |e| CommKind::A(e, a.clone()).into());
                    Ok(("a.let", after))
                }
                TermKind::Prim(prim, args) => self.accept_prim(term, *prim, args, env, a),
                TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => Err(self.ill_typed(term)),
            },
            _ => Ok(self.accept_value(e, a)),
        }
    }

    /// An expression that needs no further translation, but for what is delayed in it.
    fn accept_value(&mut self, e: &Exp, a: &Acc) -> (&'static str, Comm) {
        match e.ty() {
            DataType::Scalar(_) | DataType::Idx(_) if self.paper() || !e.delayed() => {
                ("a.1", CommKind::Assign(a.clone(), e.clone()).into())
            }
            DataType::Pair(..) if !self.paper() && e.delayed() && is_flat(e.ty()) => {
                ("a.3", self.through_continuation(e, a))
            }
            DataType::Scalar(_) | DataType::Idx(_) => ("a.1", self.through_continuation(e, a)),
            DataType::Pair(..) => {
                let parts = (|| Some((e.first()?, e.second()?, a.first()?, a.second()?)))();
                let Some((e1, e2, a1, a2)) = parts else { return ("a.3", CommKind::Skip.into()) };
                let part = |e: Exp, a: Acc| -> Comm {
                    if self.paper() { CommKind::Assign(a, e).into() } else { CommKind::A(e, a).into() }
                };
                ("a.3", part(e1, a1).then(part(e2, a2)))
            }
            DataType::Array(..) | DataType::Vector(..) => {
                let kind = self.kind_of_copy(e);
                let elem = crate::phrase::element(e.ty()).unwrap_or(DataType::Scalar(Scalar::F32));
                let y = self.value();
                let o = self.acceptor_variable();
                let (from, to) = (Exp::var(&y, elem.clone()), Acc::var(&o, elem));
                let body: Comm = if self.paper() {
                    CommKind::Assign(to, from).into()
                } else {
                    CommKind::A(from, to).into()
                };
                let m = Macro::Map { kind, y, o, body, xs: e.clone(), out: a.clone() };
                ("a.2", CommKind::Macro(m).into())
            }
        }
    }

    /// `C(e)(λx. A(x)(a))`
    fn through_continuation(&mut self, e: &Exp, a: &Acc) -> Comm {
        let kind = self.kind_of_copy(e);
        self.chain(vec![(e.clone(), Demand::Once(kind))], |_, mut xs| {
            CommKind::A(xs.remove(0), a.clone()).into()
        })
    }

    /// How a copy loop of an array runs: as the user's `map` inside says, or in parallel if nothing
    /// around it does.
    fn kind_of_copy(&self, e: &Exp) -> LoopKind {
        if let DataType::Vector(..) = e.ty() {
            return LoopKind::Vector;
        }
        if self.paper() {
            return LoopKind::Parallel;
        }
        let flat = crate::phrase::element(e.ty()).is_some_and(|t| is_flat(&t));
        let otherwise = self.kind_without_strategy(e.ty(), flat);
        match kind_inside(e) {
            // The user's parallel loop is the one around this one already.
            Some(LoopKind::Parallel) if self.parallel > 0 => LoopKind::Sequential,
            None => otherwise,
            Some(kind) => kind,
        }
    }

    /// How a loop runs if the user gives no strategy. Arrays of a few elements are meant for
    /// registers. Their loops are unrolled, the innermost as lanes, so that the target's compiler
    /// can keep them there. Of deep nests only the inner loops are unrolled: otherwise a tensor of
    /// small extents would become thousands of statements.
    fn kind_without_strategy(&self, ty: &DataType, innermost: bool) -> LoopKind {
        let small = super::constant_bytes(ty).is_some_and(|bytes| bytes <= super::LOCAL_ACCUMULATOR);
        match length(ty).and_then(Size::as_constant) {
            Some(n) if n <= 64 && innermost => LoopKind::Vector,
            Some(n) if n <= 16 && small && copies(ty) <= MOST_COPIES => LoopKind::Unroll(None),
            Some(n) if n <= 64 => LoopKind::Sequential,
            _ if self.parallel > 0 || self.sequential > 0 => LoopKind::Sequential,
            _ => LoopKind::Parallel,
        }
    }

    fn accept_prim(&mut self, term: &Term, prim: Prim, args: &[Arg], env: &Env, a: &Acc) -> Applied {
        let rule = prim.info().rules[0];
        let exps = closures(args, env);
        if let Prim::Map | Prim::Reduce = prim {
            return Err(self.no_strategy(prim, term));
        }
        if let (
            Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll,
            [ExpArg::Fun(f), ExpArg::Exp(e)],
        ) = (prim, &exps[..])
            && !self.paper()
            && computes(e)
            && let Some(views) = rearranges(f)
        {
            let n = length(e.ty()).ok_or_else(|| self.ill_typed(term))?.clone();
            let acc = views.into_iter().fold(a.clone(), |acc, (view, ty)| {
                acc.view(AccView::Map(Box::new(view)), DataType::array(n.clone(), ty))
            });
            return Ok(("a.mapLayout", CommKind::A(e.clone(), acc).into()));
        }
        let after = match self.accept_pattern(term, prim, &exps, a)? {
            Some(after) => after,
            None => match self.accept_view(term, prim, &exps, a)? {
                Some(after) => after,
                None => self.accept_operation(term, prim, exps, a),
            },
        };
        Ok((rule, after))
    }

    /// Patterns and what is written in loops of its own.
    fn accept_pattern(&mut self, term: &Term, prim: Prim, exps: &[ExpArg], a: &Acc) -> Result<Option<Comm>> {
        Ok(Some(match (prim, exps) {
            (
                Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll,
                [ExpArg::Fun(f), ExpArg::Exp(e)],
            ) => self.map_into(loop_kind(prim), f, e.clone(), a),
            (Prim::Generate, [ExpArg::Size(n), ExpArg::Fun(f)]) => {
                let iota = Exp::prim(
                    Prim::Iota,
                    vec![ExpArg::Size(n.clone())],
                    DataType::array(n.clone(), DataType::Idx(n.clone())),
                );
                let flat = is_flat(f.body.ty()) && !self.info.work(&f.body).loops;
                let kind = if self.paper() {
                    LoopKind::Parallel
                } else {
                    self.kind_without_strategy(term.ty(), flat)
                };
                self.map_into(kind, f, iota, a)
            }
            (Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar | Prim::Iterate, _) => {
                self.reduction(term, prim, exps.to_vec(), Then::Into(a.clone()))?
            }
            (Prim::ScanSeq, [ExpArg::Fun(f), ExpArg::Exp(init), ExpArg::Exp(xs)]) => {
                let f = self.folding(f);
                let (init, out) = (init.clone(), a.clone());
                let reader = Demand::Once(LoopKind::Sequential);
                self.chain(vec![(xs.clone(), reader)], |_, mut xs| {
                    CommKind::Macro(Macro::Scan { f, init, xs: xs.remove(0), out }).into()
                })
            }
            (Prim::ReduceByIndex, [ExpArg::Fun(f), ExpArg::Exp(base), ExpArg::Exp(is), ExpArg::Exp(xs)]) => {
                let (f, out) = (self.folding(f), a.clone());
                let reader = Demand::Once(LoopKind::Sequential);
                let rest = self.chain(vec![(is.clone(), reader), (xs.clone(), reader)], |_, mut vs| {
                    let xs = vs.remove(1);
                    CommKind::Macro(Macro::ReduceByIndex { f, is: vs.remove(0), xs, out }).into()
                });
                Comm::from(CommKind::A(base.clone(), a.clone())).then(rest)
            }
            (Prim::TransPar | Prim::ReverseSeq | Prim::CopySeq, [ExpArg::Exp(e)]) => {
                let out = a.clone();
                let reader = match prim {
                    Prim::TransPar => Demand::Any,
                    _ => Demand::Once(LoopKind::Sequential),
                };
                self.chain(vec![(e.clone(), reader)], |_, mut xs| {
                    let xs = xs.remove(0);
                    let m = match prim {
                        Prim::TransPar => Macro::TransPar(xs, out),
                        Prim::ReverseSeq => Macro::ReverseSeq(xs, out),
                        _ => Macro::CopySeq(xs, out),
                    };
                    CommKind::Macro(m).into()
                })
            }
            (Prim::Scatter, [ExpArg::Exp(is), ExpArg::Exp(base), ExpArg::Exp(xs)]) => {
                let out = a.clone();
                let reader = Demand::Once(LoopKind::Sequential);
                let rest = self.chain(vec![(is.clone(), reader), (xs.clone(), reader)], |_, mut vs| {
                    let xs = vs.remove(1);
                    CommKind::Macro(Macro::Scatter(vs.remove(0), xs, out)).into()
                });
                Comm::from(CommKind::A(base.clone(), a.clone())).then(rest)
            }
            _ => return Ok(None),
        }))
    }

    /// Pairs and layouts: the parts are computed into views of the acceptor.
    fn accept_view(&mut self, term: &Term, prim: Prim, exps: &[ExpArg], a: &Acc) -> Result<Option<Comm>> {
        let ill = || self.ill_typed(term);
        let into = |e: &Exp, a: Acc| -> Comm { CommKind::A(e.clone(), a).into() };
        Ok(Some(match (prim, exps) {
            (Prim::ToMem, [ExpArg::Exp(e)]) => into(e, a.clone()),
            (Prim::Pair, [ExpArg::Exp(e1), ExpArg::Exp(e2)]) => {
                let (a1, a2) = (a.first().ok_or_else(ill)?, a.second().ok_or_else(ill)?);
                into(e1, a1).then(into(e2, a2))
            }
            (Prim::Zip, [ExpArg::Exp(e1), ExpArg::Exp(e2)]) if self.paper() || (stores(e1) || stores(e2)) => {
                let (a1, a2) =
                    (a.view(AccView::Zip1, e1.ty().clone()), a.view(AccView::Zip2, e2.ty().clone()));
                into(e1, a1).then(into(e2, a2))
            }
            (Prim::Unzip, [ExpArg::Exp(e)]) => into(e, a.view(AccView::Unzip, e.ty().clone())),
            (Prim::Split, [ExpArg::Size(k), ExpArg::Exp(e)]) if self.paper() || stores(e) => {
                into(e, a.view(AccView::Split(k.clone()), e.ty().clone()))
            }
            (Prim::AsVector, [ExpArg::Size(k), ExpArg::Exp(e)]) if self.paper() || stores(e) => {
                into(e, a.view(AccView::AsVector(k.clone()), e.ty().clone()))
            }
            (Prim::Join | Prim::AsScalar, [ExpArg::Exp(e)]) => {
                let n = inner_length(e.ty()).ok_or_else(ill)?;
                let view = if prim == Prim::Join { AccView::Join(n) } else { AccView::AsScalar(n) };
                into(e, a.view(view, e.ty().clone()))
            }
            (Prim::Transpose, [ExpArg::Exp(e)]) => into(e, a.view(AccView::Transpose, e.ty().clone())),
            (Prim::Reverse, [ExpArg::Exp(e)]) => {
                let n = length(e.ty()).ok_or_else(ill)?.clone();
                into(e, a.view(AccView::Reverse(n), e.ty().clone()))
            }
            (Prim::Copy, [ExpArg::Exp(e)]) => into(e, a.clone()),
            (Prim::Concat, [ExpArg::Exp(e1), ExpArg::Exp(e2)]) => {
                let n = length(e1.ty()).ok_or_else(ill)?.clone();
                let front = a.view(AccView::Take, e1.ty().clone());
                let back = a.view(AccView::Drop(n), e2.ty().clone());
                into(e1, front).then(into(e2, back))
            }
            (Prim::Pad, [ExpArg::Size(l), ExpArg::Size(r), ExpArg::Exp(value), ExpArg::Exp(e)]) => {
                self.pad_into(l, r, value, e, a).ok_or_else(|| self.ill_typed(term))?
            }
            _ => return Ok(None),
        }))
    }

    /// Everything else: the arguments are computed first, then the operation on them.
    fn accept_operation(&mut self, term: &Term, prim: Prim, exps: Vec<ExpArg>, a: &Acc) -> Comm {
        match (prim, &exps[..]) {
            (Prim::Fst | Prim::Snd, [ExpArg::Exp(e)]) => {
                let ty = term.ty().clone();
                let reader = Demand::Once(self.kind_of_copy(e));
                self.chain(vec![(e.clone(), reader)], |this, xs| {
                    let part = Exp::prim(prim, xs.into_iter().map(ExpArg::Exp).collect(), ty);
                    this.put(part, a)
                })
            }
            (Prim::Select, [ExpArg::Exp(p), ExpArg::Exp(yes), ExpArg::Exp(no)]) if !self.paper() => {
                // Stored by one of two commands, the condition is read once.
                let (yes, no, then) = (yes.clone(), no.clone(), Then::Into(a.clone()));
                self.chain(vec![(p.clone(), Demand::Any)], |_, mut xs| {
                    CommKind::Branch(xs.remove(0), yes, no, then).into()
                })
            }
            _ => {
                let ty = term.ty().clone();
                let reader = match prim {
                    Prim::Index => Demand::Once(LoopKind::Parallel),
                    _ if prim.info().group == Group::Scalar => Demand::Any,
                    _ => Demand::Once(LoopKind::Parallel),
                };
                self.chain_args(prim, exps, reader, |this, args| this.put(Exp::prim(prim, args, ty), a))
            }
        }
    }

    /// `a := e`, or `A(e)(a)` where something is left to translate.
    fn put(&self, e: Exp, a: &Acc) -> Comm {
        let scalar = e.ty().is_scalar() && !matches!(e.kind(), ExpKind::Prim(Prim::Index, _));
        if self.paper() && !matches!(e.ty(), DataType::Array(..)) || scalar && is_operation(&e) {
            CommKind::Assign(a.clone(), e).into()
        } else {
            CommKind::A(e, a.clone()).into()
        }
    }

    /// `C(e)(λx. mapI (λy o. A(f y)(o)) x a)`
    fn map_into(&mut self, kind: LoopKind, f: &Fun, e: Exp, a: &Acc) -> Comm {
        let y = self.parameter(&f.params[0]);
        let o = self.acceptor_variable();
        let image = self.apply(f, &[Exp::var(&y, f.params[0].ty.clone())]);
        let to = Acc::var(&o, image.ty().clone());
        let body: Comm = CommKind::A(image, to).into();
        let out = a.clone();
        self.chain(vec![(e, Demand::Once(kind))], |_, mut xs| {
            CommKind::Macro(Macro::Map { kind, y, o, body, xs: xs.remove(0), out }).into()
        })
    }

    /// Three parts: before the array, the array itself, after it.
    fn pad_into(&mut self, l: &Size, r: &Size, value: &Exp, e: &Exp, a: &Acc) -> Option<Comm> {
        let n = length(e.ty())?.clone();
        let elem = value.ty().clone();
        let fill = |this: &mut Self, k: &Size, value: &Exp, acc: Acc| -> Comm {
            if k.as_constant() == Some(0) {
                return CommKind::Skip.into();
            }
            let iota = Exp::prim(
                Prim::Iota,
                vec![ExpArg::Size(k.clone())],
                DataType::array(k.clone(), DataType::Idx(k.clone())),
            );
            let (y, o) = (this.value(), this.acceptor_variable());
            let body = CommKind::A(value.clone(), Acc::var(&o, elem.clone())).into();
            let kind = LoopKind::Sequential;
            CommKind::Macro(Macro::Map { kind, y, o, body, xs: iota, out: acc }).into()
        };
        let part = |k: &Size| DataType::array(k.clone(), elem.clone());
        let behind = DataType::array(n.clone() + r.clone(), elem.clone());
        let value_and_rest = |this: &mut Self, value: Exp| {
            let front = fill(this, l, &value, a.view(AccView::Take, part(l)));
            let rest = a.view(AccView::Drop(l.clone()), behind.clone());
            let middle: Comm = CommKind::A(e.clone(), rest.view(AccView::Take, e.ty().clone())).into();
            let back = fill(this, r, &value, a.view(AccView::Drop(l.clone() + n.clone()), part(r)));
            front.then(middle).then(back)
        };
        let v = self.fresh("x", None, Role::Expression { many: true });
        let inner = value_and_rest(self, Exp::var(&v, value.ty().clone()));
        Some(self.chain(vec![(value.clone(), Demand::Any)], |_, mut xs| {
            CommKind::Share(v, xs.remove(0), inner).into()
        }))
    }

    /// `λ x y o. A(f x y)(o)`
    pub(super) fn folding(&mut self, f: &Fun) -> Folding {
        let (x, y) = (self.parameter(&f.params[0]), self.parameter(&f.params[1]));
        let o = self.acceptor_variable();
        let args = [Exp::var(&x, f.params[0].ty.clone()), Exp::var(&y, f.params[1].ty.clone())];
        let image = self.apply(f, &args);
        let to = Acc::var(&o, image.ty().clone());
        Folding { x, y, o, body: CommKind::A(image, to).into() }
    }

    /// The reductions and `iterate`, in either position.
    pub(super) fn reduction(
        &mut self,
        term: &Term,
        prim: Prim,
        args: Vec<ExpArg>,
        then: Then,
    ) -> Result<Comm> {
        let (f, init, xs) = match (prim, &args[..]) {
            (Prim::Iterate, [ExpArg::Size(k), ExpArg::Fun(f), ExpArg::Exp(init)]) => {
                let iota = Exp::prim(
                    Prim::Iota,
                    vec![ExpArg::Size(k.clone())],
                    DataType::array(k.clone(), DataType::Scalar(Scalar::I64)),
                );
                let (x, y) = (self.value(), self.parameter(&f.params[0]));
                self.turns.insert(x.id);
                let o = self.acceptor_variable();
                let image = self.apply(f, &[Exp::var(&y, f.params[0].ty.clone())]);
                let to = Acc::var(&o, image.ty().clone());
                let f = Folding { x, y, o, body: CommKind::A(image, to).into() };
                (f, init.clone(), iota)
            }
            (Prim::ReducePar, [ExpArg::Fun(f), ExpArg::Exp(init), ExpArg::Exp(xs)]) => {
                return self.parallel_reduction(term, f, init.clone(), xs.clone(), then);
            }
            (_, [ExpArg::Fun(f), ExpArg::Exp(init), ExpArg::Exp(xs)]) => {
                (self.folding(f), init.clone(), xs.clone())
            }
            _ => return Err(self.ill_typed(term)),
        };
        let kind = if prim == Prim::ReduceUnroll { LoopKind::Unroll(None) } else { LoopKind::Sequential };
        let reader = Demand::Once(kind);
        if self.paper() {
            let then = match then {
                Then::Into(a) => {
                    let r = self.value();
                    let result = Exp::var(&r, init.ty().clone());
                    Then::Continue(r, CommKind::A(result, a).into())
                }
                other => other,
            };
            return Ok(self.chain(vec![(xs, reader), (init, Demand::Any)], |_, mut vs| {
                let init = vs.remove(1);
                CommKind::Macro(Macro::Reduce { kind, f, init, xs: vs.remove(0), then }).into()
            }));
        }
        Ok(self.chain(vec![(xs, reader)], |_, mut vs| {
            CommKind::Macro(Macro::Reduce { kind, f, init, xs: vs.remove(0), then }).into()
        }))
    }

    /// `reducePar (λx a. g x (+) a) init xs`
    fn parallel_reduction(&mut self, term: &Term, f: &Fun, init: Exp, xs: Exp, then: Then) -> Result<Comm> {
        let Some((op, g)) = super::expand::privatisable(f) else {
            let span = f.body.span();
            return Err(self
                .error(
                    "D0103",
                    "the function of `reducePar` is not of the form `\\x a -> g x (+) a`",
                    span,
                    "the accumulator must be one side of `+ * min max && ||` here, and occur nowhere else",
                )
                .note("any other function must combine two values of the accumulator's type, and elements are of another type")
                .help("make elements values of that type first: `mapPar g xs |> reducePar f init`")
                .help("or use `reduceSeq`"));
        };
        if matches!(term.ty(), DataType::Pair(..) | DataType::Array(..)) {
            return Err(self.ill_typed(term));
        }
        let x = self.parameter(&f.params[0]);
        let env = f.env.with(&f.params[0].var, Exp::var(&x, f.params[0].ty.clone()));
        let value = Exp::closure(&g, &env);
        let then = match then {
            Then::Continue(r, c) => (r, c),
            Then::Into(a) => {
                let r = self.value();
                let result = Exp::var(&r, init.ty().clone());
                (r, CommKind::A(result, a).into())
            }
        };
        Ok(self.chain(vec![(xs, Demand::Once(LoopKind::Parallel))], |_, mut vs| {
            CommKind::Macro(Macro::ReducePar { op, x, value, init, xs: vs.remove(0), then }).into()
        }))
    }

    /// `map` and `reduce` say what to compute; how is the user's to choose.
    pub(super) fn no_strategy(&self, prim: Prim, term: &Term) -> Diagnostic {
        let (name, span): (&str, Span) = (prim.name(), term.span());
        let error = self.error(
            "D0101",
            format!("`{name}` has no execution strategy"),
            span,
            "whether it is sequential or parallel must be decided before code is generated",
        );
        let written = match prim {
            Prim::Map => "write `mapPar`, `mapSeq`, `mapVec` or `mapUnroll` instead of `map`",
            _ => "write `reduceSeq`, `reducePar` or `reduceUnroll` instead of `reduce`",
        };
        error
            .help(written)
            .help("or name a strategy for the definition, which chooses by rewriting")
            .help("or compile with `--schedule auto`, which chooses by the dependences of the loops")
    }
}

/// Whether the outermost primitive of a pending term computes into memory. It is then written
/// through a view of acceptors.
fn stores(e: &Exp) -> bool {
    let ExpKind::Closure(term, _) = e.kind() else { return false };
    match term.kind() {
        TermKind::Let(..) => true,
        TermKind::Prim(prim, _) => crate::info::stores(*prim),
        _ => false,
    }
}

/// Whether a pending term has a computing pattern below its outermost views, instead of being a
/// view of memory.
fn computes(e: &Exp) -> bool {
    let ExpKind::Closure(term, _) = e.kind() else { return false };
    let mut term = term.clone();
    loop {
        let TermKind::Prim(prim, args) = term.kind() else { return matches!(term.kind(), TermKind::Let(..)) };
        let next = match (prim, &args[..]) {
            (
                Prim::Join | Prim::Transpose | Prim::Reverse | Prim::Copy | Prim::AsScalar,
                [Arg::Term(inner)],
            )
            | (Prim::Split | Prim::AsVector, [_, Arg::Term(inner)]) => inner.clone(),
            _ => return prim.info().group == Group::Pattern,
        };
        term = next;
    }
}

/// If the function only rearranges an array without losing an element: the views of acceptors that
/// undo it, outermost first, each with the type of what is below.
fn rearranges(f: &Fun) -> Option<Vec<(AccView, DataType)>> {
    layout(&f.params[0].var, &f.body)
}

fn layout(param: &functional::Var, body: &Term) -> Option<Vec<(AccView, DataType)>> {
    let mut views = Vec::new();
    let mut term = body.clone();
    loop {
        let next = match term.kind() {
            TermKind::Var(v) if v == param && !views.is_empty() => return Some(views),
            TermKind::Prim(prim, args) => match (prim, &args[..]) {
                (Prim::Join, [Arg::Term(e)]) => {
                    views.push((AccView::Join(inner_length(e.ty())?), e.ty().clone()));
                    e.clone()
                }
                (Prim::AsScalar, [Arg::Term(e)]) => {
                    views.push((AccView::AsScalar(inner_length(e.ty())?), e.ty().clone()));
                    e.clone()
                }
                (Prim::Split, [Arg::Size(k), Arg::Term(e)]) => {
                    views.push((AccView::Split(k.clone()), e.ty().clone()));
                    e.clone()
                }
                (Prim::Transpose, [Arg::Term(e)]) => {
                    views.push((AccView::Transpose, e.ty().clone()));
                    e.clone()
                }
                (Prim::Reverse, [Arg::Term(e)]) => {
                    views.push((AccView::Reverse(length(e.ty())?.clone()), e.ty().clone()));
                    e.clone()
                }
                (
                    Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll,
                    [Arg::Fun(g), Arg::Term(e)],
                ) => {
                    let n = length(e.ty())?.clone();
                    for (view, ty) in layout(&g.params[0].var, &g.body)? {
                        views.push((AccView::Map(Box::new(view)), DataType::array(n.clone(), ty)));
                    }
                    e.clone()
                }
                _ => return None,
            },
            _ => return None,
        };
        term = next;
    }
}

/// Operations on scalars whose arguments are translated already.
fn is_operation(e: &Exp) -> bool {
    match e.kind() {
        ExpKind::Prim(prim, _) => matches!(prim.info().group, Group::Scalar | Group::Index),
        _ => false,
    }
}

/// The loop of a member of the `map` family.
pub(super) fn loop_kind(prim: Prim) -> LoopKind {
    match prim {
        Prim::MapPar => LoopKind::Parallel,
        Prim::MapVec => LoopKind::Vector,
        Prim::MapUnroll => LoopKind::Unroll(None),
        _ => LoopKind::Sequential,
    }
}

/// The kind of the first delayed `map` in an expression.
fn kind_inside(e: &Exp) -> Option<LoopKind> {
    let mut e = e.clone();
    loop {
        if !e.delayed() {
            return None;
        }
        let ExpKind::Prim(prim, args) = e.kind() else { return None };
        if matches!(prim, Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll) {
            return Some(loop_kind(*prim));
        }
        let next = args.iter().find_map(|arg| match arg {
            ExpArg::Exp(e) if e.delayed() => Some(e.clone()),
            _ => None,
        })?;
        e = next;
    }
}

fn inner_length(ty: &DataType) -> Option<Size> {
    length(&crate::phrase::element(ty)?).cloned()
}

/// The number of copies of the innermost loops over data of this type if all loops around them are
/// unrolled. The greatest number if a size is a symbol.
fn copies(ty: &DataType) -> i64 {
    match ty {
        DataType::Array(n, t) if !is_flat(t) => {
            n.as_constant().map_or(i64::MAX, |n| n.saturating_mul(copies(t)))
        }
        DataType::Pair(a, b) => copies(a).saturating_add(copies(b)),
        _ => 1,
    }
}
