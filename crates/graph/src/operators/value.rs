//! Terms with operators: arithmetic of core terms in usual notation, with errors kept inside.
//!
//! A [`Val`] is a term, or the reason why there is none. An operation on a reason gives the same
//! reason, so builders of operators need not test every step. Index arithmetic on constants and
//! sizes is evaluated at once.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use arith::number::{floor_div, floor_rem};
use functional::build;
use functional::{Arg, DataType, Literal, Prim, Term, TermKind};
use loops::{Scalar, Size};

use super::Refusal;

/// A term, or why there is none.
#[derive(Clone, Debug)]
pub struct Val(Result<Term, Refusal>);

impl From<Term> for Val {
    fn from(term: Term) -> Val {
        Val(Ok(term))
    }
}

impl From<Refusal> for Val {
    fn from(refusal: Refusal) -> Val {
        Val(Err(refusal))
    }
}

impl From<build::Built> for Val {
    fn from(built: build::Built) -> Val {
        Val(built.map_err(|error| Refusal::internal(error.to_string())))
    }
}

/// An integer of type `i64`.
pub fn int(value: i64) -> Val {
    size(&Size::constant(value))
}

/// The value of a size, as `i64`.
pub fn size(size: &Size) -> Val {
    Val::from(match size.as_constant() {
        Some(value) => build::literal(Literal::I64(value)),
        None => build::size(size.clone()),
    })
}

/// The number of this type that is nearest to `value`; of integer types, its integer part.
pub fn number(scalar: Scalar, value: f64) -> Val {
    Val::from(build::literal(match scalar {
        Scalar::F32 => Literal::F32((value as f32).to_bits()),
        Scalar::F64 => Literal::F64(value.to_bits()),
        Scalar::I32 => Literal::I32(value as i32),
        Scalar::I64 => Literal::I64(value as i64),
        Scalar::Bool => Literal::Bool(value != 0.0),
        other => Literal::Integer(other, value as i64),
    }))
}

/// A truth value.
pub fn truth(value: bool) -> Val {
    Val::from(build::literal(Literal::Bool(value)))
}

/// The index of this constant value below `n`.
pub fn index(value: i64, n: &Size) -> Val {
    Val::from(build::index(Size::constant(value), n.clone()))
}

impl Val {
    /// The term.
    ///
    /// # Errors
    /// The first reason why there is none.
    pub fn term(self) -> Result<Term, Refusal> {
        self.0
    }

    /// Its type; of a reason, that of a truth value.
    pub fn ty(&self) -> DataType {
        match &self.0 {
            Ok(term) => term.ty().clone(),
            Err(_) => DataType::Scalar(Scalar::Bool),
        }
    }

    /// Its scalar type, if it is a number or truth value; of anything else `i64`.
    pub fn scalar(&self) -> Scalar {
        match self.ty() {
            DataType::Scalar(scalar) => scalar,
            _ => Scalar::I64,
        }
    }

    /// Whether it is a name or a constant, which may be used several times at no cost.
    pub(crate) fn is_atom(&self) -> bool {
        match &self.0 {
            Ok(term) => matches!(term.kind(), TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_)),
            Err(_) => true,
        }
    }

    fn apply(prim: Prim, args: &[&Val]) -> Val {
        let mut terms = Vec::with_capacity(args.len());
        for arg in args {
            match &arg.0 {
                Ok(term) => terms.push(Arg::Term(term.clone())),
                Err(refusal) => return refusal.clone().into(),
            }
        }
        build::apply(prim, terms).into()
    }

    /// The size that an `i64` constant is.
    fn as_size(&self) -> Option<Size> {
        match self.0.as_ref().ok()?.kind() {
            TermKind::Literal(Literal::I64(value)) => Some(Size::constant(*value)),
            TermKind::Size(size) if self.ty() == DataType::Scalar(Scalar::I64) => Some(size.clone()),
            _ => None,
        }
    }

    fn arithmetic(prim: Prim, a: &Val, b: &Val) -> Val {
        if let (Some(x), Some(y)) = (a.as_size(), b.as_size()) {
            let constants = x.as_constant().zip(y.as_constant());
            let folded = match (prim, constants) {
                (Prim::Add, Some((x, y))) => x.checked_add(y).map(Size::constant),
                (Prim::Sub, Some((x, y))) => x.checked_sub(y).map(Size::constant),
                (Prim::Mul, Some((x, y))) => x.checked_mul(y).map(Size::constant),
                (Prim::Div, Some((x, y))) if y > 0 => floor_div(x, y).map(Size::constant),
                (Prim::Mod, Some((x, y))) if y > 0 => floor_rem(x, y).map(Size::constant),
                (Prim::Add, None) => Some(x + y),
                (Prim::Sub, None) => Some(x - y),
                (Prim::Mul, None) => Some(x * y),
                _ => None,
            };
            if let Some(folded) = folded {
                return size(&folded);
            }
        }
        let (x, y) = (a.constant(), b.constant());
        match prim {
            Prim::Add if x == Some(0) => b.clone(),
            Prim::Add | Prim::Sub if y == Some(0) => a.clone(),
            Prim::Mul if x == Some(1) => b.clone(),
            Prim::Mul | Prim::Div if y == Some(1) => a.clone(),
            Prim::Mod if y == Some(1) => int(0),
            _ => Val::apply(prim, &[a, b]),
        }
    }

    /// The value of an `i64` constant.
    pub(super) fn constant(&self) -> Option<i64> {
        self.as_size()?.as_constant()
    }

    /// As an `i64`: an index becomes its value.
    pub fn int(&self) -> Val {
        match self.0.as_ref().map(|term| (term.kind(), term.ty())) {
            Ok((TermKind::Size(s), DataType::Idx(_))) => size(s),
            _ => self.to(Scalar::I64),
        }
    }

    /// Converted to a scalar type as in C; to a truth value, whether it is not 0.
    pub fn to(&self, scalar: Scalar) -> Val {
        if self.ty() == DataType::Scalar(scalar) {
            return self.clone();
        }
        match Prim::to(scalar) {
            Some(prim) => Val::apply(prim, &[self]),
            None => self.ne(&number(self.scalar(), 0.0)),
        }
    }

    /// As an index below `n`; a value outside is clamped.
    pub fn below(&self, n: &Size) -> Val {
        let term = match &self.0 {
            Ok(term) => term,
            Err(_) => return self.clone(),
        };
        match (term.kind(), term.ty()) {
            (_, DataType::Idx(bound)) if bound == n => return self.clone(),
            // the value of an index below the same bound is that index
            (TermKind::Prim(Prim::ToI64, args), _) => {
                if let [Arg::Term(inner)] = &args[..]
                    && matches!(inner.ty(), DataType::Idx(bound) if bound == n)
                {
                    return inner.clone().into();
                }
            }
            (TermKind::Literal(Literal::I64(value)), _)
                if *value >= 0 && n.as_constant().is_some_and(|n| *value < n) =>
            {
                return index(*value, n);
            }
            _ => {}
        }
        let value = self.int();
        match value.term() {
            Ok(value) => build::apply(Prim::ToIdx, vec![Arg::Size(n.clone()), Arg::Term(value)]).into(),
            Err(refusal) => refusal.into(),
        }
    }

    /// The element at these indices, one a dimension; numbers are clamped into the array.
    pub fn at(&self, indices: &[Val]) -> Val {
        let mut value = self.clone();
        for i in indices {
            let DataType::Array(n, _) = value.ty() else {
                return Refusal::internal("an element of what is no array".to_owned()).into();
            };
            value = Val::apply(Prim::Index, &[&value, &i.below(&n)]);
        }
        value
    }

    /// `self` where the condition holds, else `other`.
    pub fn when(&self, condition: &Val, other: &Val) -> Val {
        Val::apply(Prim::Select, &[condition, self, other])
    }

    /// Equality of numbers or truth values.
    pub fn eq(&self, other: &Val) -> Val {
        match self.scalar() {
            Scalar::Bool => self.when(other, &self.not()),
            _ => Val::apply(Prim::Eq, &[self, other]),
        }
    }

    /// Inequality.
    pub fn ne(&self, other: &Val) -> Val {
        match self.scalar() {
            Scalar::Bool => self.not().when(other, self),
            _ => Val::apply(Prim::Ne, &[self, other]),
        }
    }

    /// Pair.
    pub fn pair(&self, other: &Val) -> Val {
        Val::apply(Prim::Pair, &[self, other])
    }

    /// Power of floating-point numbers.
    pub fn pow(&self, other: &Val) -> Val {
        Val::apply(Prim::Pow, &[self, other])
    }
}

macro_rules! unary {
    ($($name:ident = $prim:ident, $doc:literal;)*) => {
        impl Val {
            $(#[doc = $doc]
            pub fn $name(&self) -> Val {
                Val::apply(Prim::$prim, &[self])
            })*
        }
    };
}

macro_rules! binary {
    ($($name:ident = $prim:ident, $doc:literal;)*) => {
        impl Val {
            $(#[doc = $doc]
            pub fn $name(&self, other: &Val) -> Val {
                Val::apply(Prim::$prim, &[self, other])
            })*
        }
    };
}

unary! {
    abs = Abs, "Absolute value.";
    sqrt = Sqrt, "Square root.";
    exp = Exp, "Exponential.";
    log = Log, "Natural logarithm.";
    tanh = Tanh, "Hyperbolic tangent.";
    sin = Sin, "Sine.";
    cos = Cos, "Cosine.";
    atan = Atan, "Arc tangent.";
    tan = Tan, "Tangent.";
    asin = Asin, "Arc sine.";
    acos = Acos, "Arc cosine.";
    sinh = Sinh, "Hyperbolic sine.";
    cosh = Cosh, "Hyperbolic cosine.";
    bits32 = Bits32, "Bits of a number of single precision.";
    bits64 = Bits64, "Bits of a number of double precision.";
    float32 = Float32, "Number of single precision of these bits.";
    float64 = Float64, "Number of double precision of these bits.";
    floor = Floor, "Rounded down.";
    ceil = Ceil, "Rounded up.";
    round = Round, "Rounded to the nearest integer, of two to the even one.";
    not = Not, "Negation of a truth value.";
    first = Fst, "First component.";
    second = Snd, "Second component.";
    stored = ToMem, "Through a temporary in memory.";
}

binary! {
    min = Min, "Smaller operand.";
    max = Max, "Larger operand.";
    lt = Lt, "Less.";
    le = Le, "At most.";
    gt = Gt, "Greater.";
    ge = Ge, "At least.";
    and = And, "Conjunction.";
    or = Or, "Disjunction.";
    fmod = Fmod, "Remainder of the truncated quotient, of floating-point numbers.";
    bit_and = BitAnd, "Bits set in both.";
    bit_or = BitOr, "Bits set in one of two.";
    bit_xor = BitXor, "Bits in which two differ.";
    shift_left = ShiftLeft, "Bits moved up.";
    shift_right = ShiftRight, "Bits moved down, with the sign.";
}

macro_rules! operators {
    ($($trait:ident $method:ident $prim:ident;)*) => {
        $(impl $trait<&Val> for &Val {
            type Output = Val;
            fn $method(self, other: &Val) -> Val {
                Val::arithmetic(Prim::$prim, self, other)
            }
        }

        impl $trait<Val> for &Val {
            type Output = Val;
            fn $method(self, other: Val) -> Val {
                Val::arithmetic(Prim::$prim, self, &other)
            }
        }

        impl $trait<&Val> for Val {
            type Output = Val;
            fn $method(self, other: &Val) -> Val {
                Val::arithmetic(Prim::$prim, &self, other)
            }
        }

        impl $trait<Val> for Val {
            type Output = Val;
            fn $method(self, other: Val) -> Val {
                Val::arithmetic(Prim::$prim, &self, &other)
            }
        })*
    };
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Mod;
}

impl Neg for &Val {
    type Output = Val;
    fn neg(self) -> Val {
        Val::apply(Prim::Neg, &[self])
    }
}
