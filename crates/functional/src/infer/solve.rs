//! Unknown types and sizes: their bindings, equations between sizes, and what remains to be shown.

use loops::{Name, Size, Span};

use super::inferred_types::{Class, Ty, show_size};
use crate::facts::SizeFacts;

/// An unknown type.
#[derive(Clone, Debug)]
pub(crate) struct TypeMeta {
    pub(crate) bound: Option<Ty>,
    /// Whether it can't be a function.
    pub(crate) data_only: bool,
    pub(crate) origin: Span,
    pub(crate) what: String,
}

/// An unknown size.
#[derive(Clone, Debug)]
pub(crate) struct SizeMeta {
    pub(crate) bound: Option<Size>,
    pub(crate) origin: Span,
    /// What it is, for a reader.
    pub(crate) what: String,
    /// What determined it.
    pub(crate) bound_at: Option<Span>,
}

/// An equation that is not solved yet.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    pub(crate) actual: Size,
    pub(crate) expected: Size,
    pub(crate) at: Span,
    pub(crate) why: String,
    pub(crate) why_at: Option<Span>,
}

/// `size >= 0` is to be shown.
#[derive(Clone, Debug)]
pub(crate) struct Obligation {
    pub(crate) left: Size,
    pub(crate) right: Size,
    pub(crate) at: Span,
    pub(crate) why: String,
}

/// What became of an equation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Solved,
    Open,
    Wrong,
}

/// Why two types don't fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mismatch {
    /// Different forms.
    Shape,
    /// Different sizes.
    Size(Size, Size),
    /// A type that contains itself.
    Infinite,
    /// A function where data is needed.
    Function,
}

/// How hard to try.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effort {
    /// Only solutions that are certainly natural numbers.
    Careful,
    /// Also those that remain to be shown natural, and quotients that remain to be shown exact.
    Eager,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Solver {
    pub(crate) types: Vec<TypeMeta>,
    pub(crate) sizes: Vec<SizeMeta>,
    pub(crate) equations: Vec<Equation>,
    pub(crate) obligations: Vec<Obligation>,
    pub(crate) facts: SizeFacts,
}

/// The number of an unknown size.
pub(crate) fn meta_of(name: &Name) -> Option<usize> {
    name.strip_prefix('?')?.parse().ok()
}

impl Solver {
    pub(crate) fn fresh(&mut self, data_only: bool, origin: Span, what: impl Into<String>) -> Ty {
        let what = what.into();
        self.types.push(TypeMeta { bound: None, data_only, origin, what });
        Ty::Meta(self.types.len() as u32 - 1)
    }

    pub(crate) fn fresh_size(&mut self, origin: Span, what: impl Into<String>) -> Size {
        let what = what.into();
        self.sizes.push(SizeMeta { bound: None, origin, what, bound_at: None });
        Size::param(format!("?{}", self.sizes.len() - 1))
    }

    /// The type with its outermost unknown replaced by what it is bound to.
    pub(crate) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Meta(k) = ty {
            match &self.types[k as usize].bound {
                Some(bound) => ty = bound.clone(),
                None => break,
            }
        }
        ty
    }

    /// The size with all that is known of it.
    pub(crate) fn size(&self, size: &Size) -> Size {
        let mut size = size.clone();
        while size.params().iter().any(|n| meta_of(n).is_some_and(|k| self.sizes[k].bound.is_some())) {
            size = size.substitute(&|name| self.sizes[meta_of(name)?].bound.clone());
        }
        size
    }

    /// How many types a type is made of, itself included; counting ends above `limit`.
    pub(crate) fn parts(&self, ty: &Ty, limit: usize) -> usize {
        match &self.shallow(ty) {
            Ty::Meta(_) | Ty::Param(_) | Ty::Scalar(_) | Ty::Error | Ty::Idx(_) => 1,
            Ty::Array(_, t) | Ty::Vector(_, t) => 1 + self.parts(t, limit),
            Ty::Pair(a, b) | Ty::Fun(a, b) => {
                let first = 1 + self.parts(a, limit);
                if first > limit { first } else { first + self.parts(b, limit - first) }
            }
        }
    }

    /// The type with all that is known of it.
    pub(crate) fn zonk(&self, ty: &Ty) -> Ty {
        let ty = self.shallow(ty);
        match &ty {
            Ty::Meta(_) | Ty::Param(_) | Ty::Scalar(_) | Ty::Error => ty,
            Ty::Idx(n) => Ty::Idx(self.size(n)),
            Ty::Array(n, t) => Ty::array(self.size(n), self.zonk(t)),
            Ty::Vector(n, t) => Ty::Vector(self.size(n), self.zonk(t).into()),
            Ty::Pair(a, b) => Ty::pair(self.zonk(a), self.zonk(b)),
            Ty::Fun(a, b) => Ty::fun(self.zonk(a), self.zonk(b)),
        }
    }

    /// Makes both types the same. Equations between sizes that cannot be decided yet are kept for
    /// later.
    pub(crate) fn unify(
        &mut self,
        actual: &Ty,
        expected: &Ty,
        at: Span,
        why: (&str, Option<Span>),
    ) -> Result<(), Mismatch> {
        let (actual, expected) = (self.shallow(actual), self.shallow(expected));
        match (&actual, &expected) {
            (Ty::Error, _) | (_, Ty::Error) => Ok(()),
            (Ty::Meta(a), Ty::Meta(b)) if a == b => Ok(()),
            (Ty::Meta(k), other) | (other, Ty::Meta(k)) => self.bind(*k, other),
            (Ty::Param(a), Ty::Param(b)) if a == b => Ok(()),
            (Ty::Scalar(a), Ty::Scalar(b)) if a == b => Ok(()),
            (Ty::Idx(n), Ty::Idx(m)) => self.same_size(n, m, at, why),
            (Ty::Array(n, s), Ty::Array(m, t)) | (Ty::Vector(n, s), Ty::Vector(m, t)) => {
                let sizes = self.same_size(n, m, at, why);
                self.unify(s, t, at, why)?;
                sizes
            }
            (Ty::Pair(a, b), Ty::Pair(c, d)) => {
                self.unify(a, c, at, why)?;
                self.unify(b, d, at, why)
            }
            // A parameter is given by the context: the other way round.
            (Ty::Fun(a, b), Ty::Fun(c, d)) => {
                self.unify(c, a, at, why)?;
                self.unify(b, d, at, why)
            }
            _ => Err(Mismatch::Shape),
        }
    }

    fn bind(&mut self, k: u32, ty: &Ty) -> Result<(), Mismatch> {
        let ty = self.zonk(ty);
        if ty.any(&|t| *t == Ty::Meta(k)) {
            return Err(Mismatch::Infinite);
        }
        if self.types[k as usize].data_only {
            if ty.any(&|t| matches!(t, Ty::Fun(..))) {
                return Err(Mismatch::Function);
            }
            if let Ty::Meta(other) = ty {
                self.types[other as usize].data_only = true;
            }
        }
        self.types[k as usize].bound = Some(ty);
        Ok(())
    }

    fn same_size(
        &mut self,
        actual: &Size,
        expected: &Size,
        at: Span,
        why: (&str, Option<Span>),
    ) -> Result<(), Mismatch> {
        match self.solve(actual, expected, at, Effort::Careful) {
            Outcome::Solved => Ok(()),
            Outcome::Wrong => Err(Mismatch::Size(actual.clone(), expected.clone())),
            Outcome::Open => {
                self.equations.push(Equation {
                    actual: actual.clone(),
                    expected: expected.clone(),
                    at,
                    why: why.0.to_owned(),
                    why_at: why.1,
                });
                Ok(())
            }
        }
    }

    /// Tries to make both sizes equal by binding unknown ones.
    pub(crate) fn solve(&mut self, actual: &Size, expected: &Size, at: Span, effort: Effort) -> Outcome {
        let (left, right) = (self.size(actual), self.size(expected));
        let difference = left.clone() - right.clone();
        if difference.as_constant() == Some(0) {
            return Outcome::Solved;
        }
        let metas: Vec<Name> = difference.params().into_iter().filter(|n| meta_of(n).is_some()).collect();
        if metas.is_empty() {
            return if self.facts.equal(&left, &right) { Outcome::Solved } else { Outcome::Wrong };
        }
        let normal = self.facts.normal(&difference);
        for name in &metas {
            for difference in [&difference, &normal] {
                let Some((factor, rest)) = difference.factor_in(name) else { continue };
                let Some(value) = (-rest).exact_quotient(&factor) else { continue };
                let certain = value.is_natural() || self.facts.natural(&value);
                if certain || effort == Effort::Eager {
                    return self.bind_size(name, value, at, !certain);
                }
            }
        }
        if effort == Effort::Eager && metas.len() == 1 {
            // `factor * ? = rest`: the quotient, if it is shown to be exact.
            if let Some((factor, rest)) = difference.factor_in(&metas[0]) {
                for (factor, rest) in [(factor.clone(), -rest.clone()), (-factor, rest)] {
                    let quotient = rest.div(&factor);
                    if self.facts.equal(&(factor * quotient.clone()), &rest) {
                        return self.bind_size(&metas[0], quotient, at, true);
                    }
                }
            }
        }
        Outcome::Open
    }

    fn bind_size(&mut self, name: &Name, value: Size, at: Span, to_show: bool) -> Outcome {
        let k = meta_of(name).expect("an unknown size");
        if to_show {
            let why = format!("{} must not be negative", self.sizes[k].what);
            self.obligations.push(Obligation { left: Size::constant(0), right: value.clone(), at, why });
        }
        self.sizes[k].bound = Some(value);
        self.sizes[k].bound_at = Some(at);
        Outcome::Solved
    }

    /// Solves what can be solved; what is left stays in `equations`, and what is wrong is returned.
    pub(crate) fn settle(&mut self) -> Vec<Equation> {
        let mut wrong = Vec::new();
        let mut effort = Effort::Careful;
        loop {
            let before = self.equations.len();
            let mut eager_hit = false;
            for equation in std::mem::take(&mut self.equations) {
                let effort = if eager_hit { Effort::Careful } else { effort };
                match self.solve(&equation.actual, &equation.expected, equation.at, effort) {
                    Outcome::Solved => eager_hit |= effort == Effort::Eager,
                    Outcome::Open => self.equations.push(equation),
                    Outcome::Wrong => wrong.push(equation),
                }
            }
            if self.equations.len() < before {
                effort = Effort::Careful;
            } else if effort == Effort::Careful && before > 0 {
                effort = Effort::Eager;
            } else {
                return wrong;
            }
        }
    }

    /// Demands `left <= right` of what will be known in the end.
    pub(crate) fn demand(&mut self, left: Size, right: Size, at: Span, why: impl Into<String>) {
        if !(right.clone() - left.clone()).is_natural() {
            self.obligations.push(Obligation { left, right, at, why: why.into() });
        }
    }

    /// Demands that a size is at least 0.
    pub(crate) fn demand_natural(&mut self, size: &Size, at: Span, what: &str) {
        let why = format!("{what} must not be negative");
        self.demand(Size::constant(0), size.clone(), at, why);
    }

    /// Whether an obligation holds.
    pub(crate) fn holds(&self, obligation: &Obligation) -> bool {
        self.facts.at_most(&self.size(&obligation.left), &self.size(&obligation.right))
    }

    /// The unknown sizes that occur in a size, with where they were determined.
    pub(crate) fn sources(&self, size: &Size) -> Vec<(Span, String)> {
        let mut out = Vec::new();
        for name in size.params() {
            if let Some(meta) = meta_of(&name).map(|k| &self.sizes[k])
                && let (Some(at), Some(value)) = (meta.bound_at, &meta.bound)
            {
                out.push((at, show_size(&self.size(value))));
            }
        }
        out
    }

    /// Whether a type is of a class: yes, no, or not known yet.
    pub(crate) fn is_of(
        &self,
        class: Class,
        ty: &Ty,
        param: &dyn Fn(&Name) -> Option<Class>,
    ) -> Option<bool> {
        Some(match self.shallow(ty) {
            Ty::Meta(_) => return None,
            Ty::Error => true,
            Ty::Scalar(s) => class.admits(s),
            Ty::Param(name) => class.admits_class(param(&name)),
            Ty::Idx(_) => matches!(class, Class::Cast | Class::Literal),
            Ty::Vector(_, t) => {
                matches!(class, Class::Num | Class::Literal | Class::Fraction)
                    && self.is_of(class, &t, param)?
            }
            Ty::Array(..) | Ty::Pair(..) | Ty::Fun(..) => false,
        })
    }
}
