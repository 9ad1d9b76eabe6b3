//! Helpers for rules: fresh variables, facts about sizes, and constructors that use both.

use std::collections::BTreeMap;
use std::fmt;

use loops::{Scalar, Size};

use crate::build::{self, Supply};
use crate::elaborate::cheap::is_view;
use crate::facts::SizeFacts;
use crate::prim::Prim;
use crate::term::{Arg, Binder, Lambda, Term, TermKind};
use crate::types::DataType;
use crate::typing::TypeError;
use crate::walk;

/// Why a rule does not apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The condition that does not hold, as the end of a sentence about the term.
    pub reason: String,
}

impl Refusal {
    /// A refusal for this reason.
    pub fn new(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl From<TypeError> for Refusal {
    fn from(error: TypeError) -> Refusal {
        Refusal::new(format!("the result would have no type: {error}"))
    }
}

/// A refusal.
pub(super) fn no<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(reason))
}

pub(super) type Rewritten = Result<Term, Refusal>;

/// Where a rule is applied.
pub struct Context<'a> {
    /// Fresh variables.
    pub supply: &'a mut Supply,
    /// Facts about sizes.
    pub facts: &'a SizeFacts,
    /// Whether the order of floating-point operations may change.
    pub reassociate: bool,
}

/// A map: its primitive, function and array.
pub(super) struct Map<'t> {
    pub prim: Prim,
    pub f: &'t Lambda,
    pub xs: &'t Term,
}

/// A reduction or scan: its primitive, function, start and array.
pub(super) struct Reduce<'t> {
    pub prim: Prim,
    pub f: &'t Lambda,
    pub init: &'t Term,
    pub xs: &'t Term,
}

pub(super) fn is_map(prim: Prim) -> bool {
    matches!(prim, Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll)
}

pub(super) fn is_reduce(prim: Prim) -> bool {
    matches!(prim, Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar)
}

/// The reduction for a function that is no single operation: `reducePar` must have one.
pub(super) fn over_parts(prim: Prim) -> Prim {
    if prim == Prim::ReducePar { Prim::ReduceSeq } else { prim }
}

pub(super) fn as_map(term: &Term) -> Result<Map<'_>, Refusal> {
    match term.kind() {
        TermKind::Prim(prim, args) if is_map(*prim) => match args.as_slice() {
            [Arg::Fun(f), Arg::Term(xs)] => Ok(Map { prim: *prim, f, xs }),
            _ => no("the map is malformed"),
        },
        _ => no("it is not a map"),
    }
}

/// Reductions; not scans.
pub(super) fn as_reduce(term: &Term) -> Result<Reduce<'_>, Refusal> {
    match term.kind() {
        TermKind::Prim(prim, args) if is_reduce(*prim) => match args.as_slice() {
            [Arg::Fun(f), Arg::Term(init), Arg::Term(xs)] => Ok(Reduce { prim: *prim, f, init, xs }),
            _ => no("the reduction is malformed"),
        },
        _ => no("it is not a reduction"),
    }
}

/// The arguments of this primitive.
pub(super) fn args_of(term: &Term, wanted: Prim) -> Result<&[Arg], Refusal> {
    match term.kind() {
        TermKind::Prim(prim, args) if *prim == wanted => Ok(args),
        _ => no(format!("it is not `{}`", wanted.name())),
    }
}

/// The argument of a primitive of one term.
pub(super) fn unary(term: &Term, prim: Prim) -> Result<&Term, Refusal> {
    match args_of(term, prim)? {
        [Arg::Term(x)] => Ok(x),
        _ => no(format!("`{}` is malformed", prim.name())),
    }
}

/// The arguments of a primitive of two terms.
pub(super) fn binary(term: &Term, prim: Prim) -> Result<(&Term, &Term), Refusal> {
    match args_of(term, prim)? {
        [Arg::Term(x), Arg::Term(y)] => Ok((x, y)),
        _ => no(format!("`{}` is malformed", prim.name())),
    }
}

/// The arguments of a primitive of a size and a term.
pub(super) fn sized(term: &Term, prim: Prim) -> Result<(&Size, &Term), Refusal> {
    match args_of(term, prim)? {
        [Arg::Size(k), Arg::Term(x)] => Ok((k, x)),
        _ => no(format!("`{}` is malformed", prim.name())),
    }
}

/// Length and element type of an array.
pub(super) fn array(term: &Term) -> Result<(&Size, &DataType), Refusal> {
    match term.ty() {
        DataType::Array(n, t) => Ok((n, t)),
        _ => no("it is not an array"),
    }
}

/// The parameters of a function of one argument.
pub(super) fn param(f: &Lambda) -> Result<&Binder, Refusal> {
    f.params.first().ok_or_else(|| Refusal::new("the function has no parameter"))
}

/// Whether a term only accesses existing data, so that using it twice costs next to nothing.
pub(super) fn is_cheap(term: &Term) -> bool {
    match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => true,
        TermKind::Let(..) => false,
        TermKind::Prim(prim, args) => {
            let view = is_view(*prim) || matches!(prim, Prim::Concat | Prim::Iota);
            view && args.iter().all(|arg| match arg {
                Arg::Term(t) => is_cheap(t),
                Arg::Size(_) => true,
                Arg::Fun(_) => false,
            })
        }
    }
}

impl Context<'_> {
    /// A primitive applied, its type computed.
    pub(super) fn ap(&self, prim: Prim, args: Vec<Arg>) -> Rewritten {
        Ok(build::apply_with(prim, args, None, self.facts)?)
    }

    pub(super) fn un(&self, prim: Prim, x: Term) -> Rewritten {
        self.ap(prim, vec![Arg::Term(x)])
    }

    pub(super) fn bin(&self, prim: Prim, x: Term, y: Term) -> Rewritten {
        self.ap(prim, vec![Arg::Term(x), Arg::Term(y)])
    }

    pub(super) fn sz(&self, prim: Prim, k: &Size, x: Term) -> Rewritten {
        self.ap(prim, vec![Arg::Size(k.clone()), Arg::Term(x)])
    }

    pub(super) fn map(&self, prim: Prim, f: Lambda, xs: Term) -> Rewritten {
        self.ap(prim, vec![Arg::Fun(f), Arg::Term(xs)])
    }

    pub(super) fn reduce(&self, prim: Prim, f: Lambda, init: Term, xs: Term) -> Rewritten {
        self.ap(prim, vec![Arg::Fun(f), Arg::Term(init), Arg::Term(xs)])
    }

    pub(super) fn zip(&self, xs: Term, ys: Term) -> Rewritten {
        self.bin(Prim::Zip, xs, ys)
    }

    pub(super) fn pair(&self, x: Term, y: Term) -> Rewritten {
        self.bin(Prim::Pair, x, y)
    }

    /// First component; of a pair that is written out, just that.
    pub(super) fn fst(&self, x: &Term) -> Rewritten {
        match binary(x, Prim::Pair) {
            Ok((a, _)) => Ok(a.clone()),
            Err(_) => self.un(Prim::Fst, x.clone()),
        }
    }

    /// Second component; of a pair that is written out, just that.
    pub(super) fn snd(&self, x: &Term) -> Rewritten {
        match binary(x, Prim::Pair) {
            Ok((_, b)) => Ok(b.clone()),
            Err(_) => self.un(Prim::Snd, x.clone()),
        }
    }

    /// A function of one fresh parameter.
    pub(super) fn fun1(
        &mut self,
        name: &str,
        ty: &DataType,
        body: impl FnOnce(&mut Self, Term) -> Rewritten,
    ) -> Result<Lambda, Refusal> {
        let x = self.supply.binder(name, ty.clone());
        let body = body(self, build::var(&x))?;
        Ok(Lambda { params: vec![x], body })
    }

    /// A function of two fresh parameters.
    pub(super) fn fun2(
        &mut self,
        first: (&str, &DataType),
        second: (&str, &DataType),
        body: impl FnOnce(&mut Self, Term, Term) -> Rewritten,
    ) -> Result<Lambda, Refusal> {
        let x = self.supply.binder(first.0, first.1.clone());
        let a = self.supply.binder(second.0, second.1.clone());
        let body = body(self, build::var(&x), build::var(&a))?;
        Ok(Lambda { params: vec![x, a], body })
    }

    /// The function applied to these arguments. A cheap argument, or one that is used once and not
    /// in a loop, replaces the parameter. Others are bound by `let`. Binders of the function's body
    /// are fresh.
    pub(super) fn call(&mut self, f: &Lambda, args: &[Term]) -> Rewritten {
        let mut inlined = BTreeMap::new();
        let mut bound = Vec::new();
        for (param, arg) in f.params.iter().zip(args) {
            let once =
                walk::occurrences(&f.body, &param.var) <= 1 && !walk::used_in_function(&f.body, &param.var);
            if once || is_cheap(arg) {
                inlined.insert(param.var.clone(), arg.clone());
            } else {
                let binder = self.supply.binder(&param.var.name, arg.ty().clone());
                inlined.insert(param.var.clone(), build::var(&binder));
                bound.push((binder, arg.clone()));
            }
        }
        let mut body = walk::substitute(&f.body, &inlined, self.supply);
        for (binder, value) in bound.into_iter().rev() {
            let value = walk::refresh(&value, self.supply);
            body = build::let_in(binder, value, body)?;
        }
        Ok(walk::settled(&body))
    }

    /// A copy with fresh binders, for a term that is used again.
    pub(super) fn again(&mut self, term: &Term) -> Term {
        walk::refresh(term, self.supply)
    }

    /// The same term with exactly this type, which it must have by the facts.
    pub(super) fn retype(&self, term: Term, ty: &DataType) -> Rewritten {
        if term.ty() == ty {
            return Ok(term);
        }
        if !self.facts.same_type(term.ty(), ty) {
            return no(format!("the result would have type {} and not {ty}", term.ty()));
        }
        Ok(Term::new(term.kind().clone(), ty.clone(), term.span()))
    }

    /// Whether the value consists of floating-point numbers, or may.
    pub(super) fn is_float(&self, term: &Term) -> bool {
        fn floats(ty: &DataType) -> bool {
            match ty {
                DataType::Scalar(s) | DataType::Vector(_, s) => matches!(s, Scalar::F32 | Scalar::F64),
                DataType::Idx(_) => false,
                DataType::Array(_, t) => floats(t),
                DataType::Pair(a, b) => floats(a) || floats(b),
            }
        }
        floats(term.ty())
    }

    /// Whether evaluating the term cannot fail, whatever the variables are.
    pub(super) fn is_total(&self, term: &Term) -> bool {
        let here = match term.kind() {
            TermKind::Prim(prim, args) => match (prim, args.as_slice()) {
                (Prim::Index, [_, Arg::Term(i)]) => self.index_is_valid(i),
                (Prim::AddIdx | Prim::SubIdx | Prim::MulIdx, _) => false,
                (Prim::ToIdx, [Arg::Size(n), _]) | (Prim::IdxPred, [Arg::Size(n)]) => {
                    self.facts.at_most(&Size::constant(1), n)
                }
                (Prim::Gather | Prim::Scatter, _) => true,
                (Prim::Reorder, [Arg::Fun(f), _]) => self.index_is_valid(&f.body),
                (Prim::Div | Prim::Mod, [_, Arg::Term(d)]) => match (d.ty(), d.kind()) {
                    (DataType::Scalar(s) | DataType::Vector(_, s), _) if s.is_float() => true,
                    (_, TermKind::Literal(crate::term::Literal::I32(v))) => *v != 0,
                    (_, TermKind::Literal(crate::term::Literal::I64(v))) => *v != 0,
                    (_, TermKind::Literal(crate::term::Literal::Integer(_, v))) => *v != 0,
                    _ => false,
                },
                (Prim::Take | Prim::Drop, [Arg::Size(k), Arg::Term(xs)]) => {
                    array(xs).is_ok_and(|(n, _)| self.facts.natural(k) && self.facts.at_most(k, n))
                }
                (Prim::Slide, [Arg::Size(w), Arg::Size(s), Arg::Term(xs)]) => {
                    array(xs).is_ok_and(|(n, _)| {
                        self.facts.at_most(&Size::constant(1), s)
                            && self.facts.at_most(w, &(n.clone() + s.clone()))
                    })
                }
                (Prim::PadClamp, [Arg::Size(l), Arg::Size(r), Arg::Term(xs)]) => {
                    array(xs).is_ok_and(|(n, _)| self.clamp_is_total(l, r, n))
                }
                (_, args) => args.iter().all(|arg| match arg {
                    Arg::Size(k) => self.facts.natural(k),
                    _ => true,
                }),
            },
            TermKind::Size(_) => !matches!(term.ty(), DataType::Idx(_)) || self.index_is_valid(term),
            _ => true,
        };
        here && walk::children(term).into_iter().all(|(_, child)| self.is_total(child))
    }

    /// Whether `padClamp l r` of `n` elements has a value: there is an element, or nothing to add.
    fn clamp_is_total(&self, l: &Size, r: &Size, n: &Size) -> bool {
        let natural = self.facts.natural(l) && self.facts.natural(r);
        let some = self.facts.at_most(&Size::constant(1), n);
        // Where n is 0, a padding that is a multiple of n, or the rest to a multiple of a block, is
        // 0 too.
        let none_of_none = || {
            n.as_param().is_some_and(|name| {
                let at_zero = |s: &Size| s.substitute(&|p| (p == name).then(|| Size::constant(0)));
                at_zero(l) == Size::constant(0) && at_zero(r) == Size::constant(0)
            })
        };
        // The padding that fills the last block of k is 0 where there is nothing.
        let fills = || {
            r.terms().flat_map(|(_, factors)| factors).any(|(factor, _)| match factor {
                loops::size::Factor::Quotient(_, k) => k.as_constant().is_some_and(|c| {
                    let blocks = (n.clone() + Size::constant(c - 1)).div(k);
                    c > 0 && self.facts.equal(r, &(k.clone() * blocks - n.clone()))
                }),
                _ => false,
            })
        };
        natural && (some || none_of_none() || (*l == Size::constant(0) && fills()))
    }

    /// Whether an index term is within its bound: a variable of index type is, by the meaning of
    /// the type.
    fn index_is_valid(&self, index: &Term) -> bool {
        match (index.kind(), index.ty()) {
            (TermKind::Var(_), DataType::Idx(_)) => true,
            (TermKind::Size(k), DataType::Idx(n)) => self.facts.natural(k) && self.facts.less(k, n),
            (TermKind::Prim(Prim::ToIdx, _), DataType::Idx(_)) => self.is_total(index),
            _ => false,
        }
    }

    /// Refuses a term whose evaluation might fail where it was not evaluated before.
    pub(super) fn require_total(&self, term: &Term, what: &str) -> Result<(), Refusal> {
        if self.is_total(term) {
            return Ok(());
        }
        no(format!("{what} might have no value where it was not evaluated before"))
    }
}
