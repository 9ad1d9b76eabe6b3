//! Building core terms in Rust: fresh variables, and applications of primitives. Types are computed
//! and checked.
//!
//! ```
//! use functional::build::{self, Supply};
//! use functional::{DataType, Prim};
//! use loops::{Scalar, Size};
//!
//! let mut supply = Supply::new();
//! let f64 = DataType::Scalar(Scalar::F64);
//! let xs = supply.binder("xs", DataType::array(Size::param("n"), f64.clone()));
//! let squares = supply.lambda1("x", f64, |_, x| build::mul(x.clone(), x)).unwrap();
//! let body = build::map(Prim::Map, squares, build::var(&xs)).unwrap();
//! assert_eq!(body.ty(), &xs.ty);
//! ```

use loops::diagnostic::Span;
use loops::{Scalar, Size};

use crate::facts::SizeFacts;
use crate::prim::Prim;
use crate::term::{Arg, Binder, Definition, Lambda, Literal, Term, TermKind, Var};
use crate::types::DataType;
use crate::typing::{TypeError, type_of};
use crate::walk;

/// A term, or why it has no type.
pub type Built = Result<Term, TypeError>;

/// Fresh variables: numbers above all those in use.
#[derive(Clone, Debug, Default)]
pub struct Supply {
    next: u32,
}

impl Supply {
    /// Numbers from 0 up, for a new definition.
    pub fn new() -> Supply {
        Supply::default()
    }

    /// Numbers above all those of a definition.
    pub fn above(definition: &Definition) -> Supply {
        let mut supply = Supply::above_term(&definition.body);
        for param in &definition.params {
            supply.next = supply.next.max(param.var.id.saturating_add(1));
        }
        supply
    }

    /// Numbers above all those of a term.
    pub(crate) fn above_term(term: &Term) -> Supply {
        let mut supply = Supply::new();
        walk::visit_vars(term, &mut |var| supply.next = supply.next.max(var.id.saturating_add(1)));
        supply
    }

    /// A fresh variable of this type.
    pub fn binder(&mut self, name: &str, ty: DataType) -> Binder {
        let id = self.next;
        self.next = id.checked_add(1).expect("fewer than 2^32 variables");
        Binder { var: Var { name: name.into(), id }, ty }
    }

    /// The function of one fresh parameter whose body the closure builds.
    ///
    /// # Errors
    /// Those of the closure.
    pub fn lambda1(
        &mut self,
        name: &str,
        ty: DataType,
        body: impl FnOnce(&mut Supply, Term) -> Built,
    ) -> Result<Lambda, TypeError> {
        let x = self.binder(name, ty);
        let body = body(self, var(&x))?;
        Ok(Lambda { params: vec![x], body })
    }

    /// The function of two fresh parameters whose body the closure builds.
    ///
    /// # Errors
    /// Those of the closure.
    pub fn lambda2(
        &mut self,
        first: (&str, DataType),
        second: (&str, DataType),
        body: impl FnOnce(&mut Supply, Term, Term) -> Built,
    ) -> Result<Lambda, TypeError> {
        let x = self.binder(first.0, first.1);
        let a = self.binder(second.0, second.1);
        let body = body(self, var(&x), var(&a))?;
        Ok(Lambda { params: vec![x, a], body })
    }
}

/// `prim` applied to `args`, with the type that they give.
///
/// # Errors
/// If the arguments do not fit, or leave the type open (`zero`, `one`: use [`zero`] and [`one`]).
pub fn apply(prim: Prim, args: Vec<Arg>) -> Built {
    apply_with(prim, args, None, &SizeFacts::none())
}

/// `prim` applied to `args` at the type `ty`.
///
/// # Errors
/// If the arguments do not fit or the type is another one.
pub fn apply_as(prim: Prim, args: Vec<Arg>, ty: &DataType) -> Built {
    apply_with(prim, args, Some(ty), &SizeFacts::none())
}

/// `prim` applied to `args`. Sizes may be equal by `facts`. If a type is asked for, the node gets
/// that type.
///
/// # Errors
/// If the arguments do not fit, or the type is not the one asked for.
pub fn apply_with(prim: Prim, args: Vec<Arg>, ty: Option<&DataType>, facts: &SizeFacts) -> Built {
    let found = type_of(prim, &args, ty, facts)?;
    let ty = match ty {
        None => found,
        Some(asked) if facts.same_type(asked, &found) => asked.clone(),
        Some(asked) => {
            return Err(TypeError {
                prim,
                message: format!("its result is {found}, but {asked} is asked for"),
            });
        }
    };
    Ok(Term::new(TermKind::Prim(prim, args), ty, Span::default()))
}

/// The use of a variable.
pub fn var(binder: &Binder) -> Term {
    Term::new(TermKind::Var(binder.var.clone()), binder.ty.clone(), Span::default())
}

/// A constant.
pub fn literal(value: Literal) -> Term {
    Term::new(TermKind::Literal(value), DataType::Scalar(value.scalar()), Span::default())
}

/// The constant of type `scalar` with this small integer value (a truth value: whether it is not
/// 0).
pub fn number(scalar: Scalar, value: i32) -> Term {
    literal(match scalar {
        Scalar::F32 => Literal::F32((value as f32).to_bits()),
        Scalar::F64 => Literal::F64(f64::from(value).to_bits()),
        Scalar::I32 => Literal::I32(value),
        Scalar::I64 => Literal::I64(i64::from(value)),
        Scalar::Bool => Literal::Bool(value != 0),
        other => Literal::Integer(other, i64::from(value)),
    })
}

/// The number 0 of a type.
///
/// # Errors
/// If it is no type of numbers.
pub fn zero(ty: &DataType) -> Built {
    apply_as(Prim::Zero, vec![], ty)
}

/// The number 1 of a type.
///
/// # Errors
/// If it is no type of numbers.
pub fn one(ty: &DataType) -> Built {
    apply_as(Prim::One, vec![], ty)
}

/// The value of a size, as `i64`.
pub fn size(size: Size) -> Term {
    Term::new(TermKind::Size(size), DataType::Scalar(Scalar::I64), Span::default())
}

/// The value of a size, as an index below `bound`.
pub fn index(size: Size, bound: Size) -> Term {
    Term::new(TermKind::Size(size), DataType::Idx(bound), Span::default())
}

/// `let binder = value in body`.
///
/// # Errors
/// If the value has another type than the binder.
pub fn let_in(binder: Binder, value: Term, body: Term) -> Built {
    if binder.ty != *value.ty() {
        let message = format!("`let {}: {}` is given {}", binder.var.name, binder.ty, value.ty());
        return Err(TypeError { prim: Prim::Copy, message });
    }
    let ty = body.ty().clone();
    Ok(Term::new(TermKind::Let(binder, value, body), ty, Span::default()))
}

macro_rules! unary {
    ($($name:ident = $prim:ident, $doc:literal;)*) => {
        $(#[doc = $doc]
        ///
        /// # Errors
        /// If the type does not fit.
        pub fn $name(x: Term) -> Built {
            apply(Prim::$prim, vec![Arg::Term(x)])
        })*
    };
}

macro_rules! binary {
    ($($name:ident = $prim:ident, $doc:literal;)*) => {
        $(#[doc = $doc]
        ///
        /// # Errors
        /// If the types do not fit.
        pub fn $name(x: Term, y: Term) -> Built {
            apply(Prim::$prim, vec![Arg::Term(x), Arg::Term(y)])
        })*
    };
}

macro_rules! sized {
    ($($name:ident = $prim:ident, $doc:literal;)*) => {
        $(#[doc = $doc]
        ///
        /// # Errors
        /// If the types do not fit.
        pub fn $name(k: impl Into<Size>, x: Term) -> Built {
            apply(Prim::$prim, vec![Arg::Size(k.into()), Arg::Term(x)])
        })*
    };
}

unary! {
    fst = Fst, "First component.";
    snd = Snd, "Second component.";
    unzip = Unzip, "Pair of arrays of an array of pairs.";
    join = Join, "Blocks one after another.";
    transpose = Transpose, "Rows become columns.";
    reverse = Reverse, "Last element first.";
    to_mem = ToMem, "Through a temporary in memory.";
    as_scalar = AsScalar, "Vectors as an array of numbers.";
}

binary! {
    add = Add, "Sum.";
    sub = Sub, "Difference.";
    mul = Mul, "Product.";
    pair = Pair, "Pair.";
    zip = Zip, "Array of pairs.";
    concat = Concat, "One array after another.";
    at = Index, "The element at an index.";
}

sized! {
    split = Split, "Blocks of `k` elements.";
    take = Take, "The first `k` elements.";
    drop_first = Drop, "All but the first `k` elements.";
    as_vector = AsVector, "Blocks of `k` numbers as vectors.";
    splat = Splat, "A vector whose `k` lanes are one number.";
}

/// `map f xs` by this member of the map family.
///
/// # Errors
/// If the types do not fit.
pub fn map(prim: Prim, f: Lambda, xs: Term) -> Built {
    apply(prim, vec![Arg::Fun(f), Arg::Term(xs)])
}

/// `reduce f init xs` by this member of the reduce family.
///
/// # Errors
/// If the types do not fit.
pub fn reduce(prim: Prim, f: Lambda, init: Term, xs: Term) -> Built {
    apply(prim, vec![Arg::Fun(f), Arg::Term(init), Arg::Term(xs)])
}

/// `pad left right value xs`.
///
/// # Errors
/// If the types do not fit.
pub fn pad(left: Size, right: Size, value: Term, xs: Term) -> Built {
    apply(Prim::Pad, vec![Arg::Size(left), Arg::Size(right), Arg::Term(value), Arg::Term(xs)])
}

/// `slide w s xs`.
///
/// # Errors
/// If the types do not fit.
pub fn slide(w: Size, s: Size, xs: Term) -> Built {
    apply(Prim::Slide, vec![Arg::Size(w), Arg::Size(s), Arg::Term(xs)])
}
