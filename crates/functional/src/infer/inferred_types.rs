//! Types during inference: data types and functions over them, with unknown types and sizes.

use std::sync::Arc;

use loops::{Name, Scalar, Size};

use crate::types::DataType;

/// The way out where something computes in half precision.
pub(crate) const HALF: &str = "half precision is only stored: compute with `f32 x`, and store `f16 y`";

/// A type in which types and sizes may be unknown. An unknown size is a size parameter whose name
/// starts with `?`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    /// Unknown.
    Meta(u32),
    /// A type parameter of the definition.
    Param(Name),
    Scalar(Scalar),
    Idx(Size),
    Array(Size, Arc<Ty>),
    Pair(Arc<Ty>, Arc<Ty>),
    Vector(Size, Arc<Ty>),
    Fun(Arc<Ty>, Arc<Ty>),
    /// An error was reported. Fits everything.
    Error,
}

/// What a type is required to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    /// A number, or a vector of numbers.
    Num,
    /// A number.
    Plain,
    /// An integer.
    Int,
    /// `f32` or `f64`.
    Float,
    /// A number, truth value or index.
    Cast,
    /// What a literal without fraction can be: a number, a vector of one number, or an index.
    Literal,
    /// What a literal with a fraction can be: a floating-point number, or a vector of one.
    Fraction,
}

impl Class {
    pub(crate) fn from_name(name: &str) -> Option<Class> {
        Some(match name {
            "num" => Class::Num,
            "int" => Class::Int,
            "float" => Class::Float,
            "cast" => Class::Cast,
            _ => return None,
        })
    }

    /// The text for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Class::Num | Class::Plain => "a number",
            Class::Int => "an integer",
            Class::Float | Class::Fraction => "a floating-point number",
            Class::Cast => "a number, a truth value or an index",
            Class::Literal => "a number or an index",
        }
    }

    pub(crate) fn admits(self, scalar: Scalar) -> bool {
        match self {
            Class::Num | Class::Plain | Class::Literal => scalar.is_number(),
            Class::Int => scalar.is_int(),
            Class::Float | Class::Fraction => scalar.is_float(),
            Class::Cast => true,
        }
    }

    /// Whether a type parameter of class `given` is always of this class.
    pub(crate) fn admits_class(self, given: Option<Class>) -> bool {
        match given {
            None => false,
            Some(given) => Scalar::ALL.into_iter().filter(|s| given.admits(*s)).all(|s| self.admits(s)),
        }
    }

    /// The type for which a type parameter or literal stands where nothing else decides.
    pub(crate) fn default(self) -> Scalar {
        match self {
            Class::Num | Class::Plain | Class::Float | Class::Fraction | Class::Cast => Scalar::F32,
            Class::Int | Class::Literal => Scalar::I64,
        }
    }
}

impl Ty {
    pub(crate) fn array(n: Size, t: Ty) -> Ty {
        Ty::Array(n, Arc::new(t))
    }

    pub(crate) fn pair(a: Ty, b: Ty) -> Ty {
        Ty::Pair(Arc::new(a), Arc::new(b))
    }

    pub(crate) fn fun(a: Ty, b: Ty) -> Ty {
        Ty::Fun(Arc::new(a), Arc::new(b))
    }

    pub(crate) const BOOL: Ty = Ty::Scalar(Scalar::Bool);
    pub(crate) const I64: Ty = Ty::Scalar(Scalar::I64);

    /// Rebuilds the type with sizes, unknown types and type parameters replaced.
    pub(crate) fn rewrite(
        &self,
        size: &mut dyn FnMut(&Size) -> Size,
        leaf: &dyn Fn(&Ty) -> Option<Ty>,
    ) -> Ty {
        match self {
            Ty::Meta(_) | Ty::Param(_) => leaf(self).unwrap_or_else(|| self.clone()),
            Ty::Scalar(_) | Ty::Error => self.clone(),
            Ty::Idx(n) => Ty::Idx(size(n)),
            Ty::Array(n, t) => Ty::array(size(n), t.rewrite(size, leaf)),
            Ty::Vector(n, t) => Ty::Vector(size(n), Arc::new(t.rewrite(size, leaf))),
            Ty::Pair(a, b) => Ty::pair(a.rewrite(size, leaf), b.rewrite(size, leaf)),
            Ty::Fun(a, b) => Ty::fun(a.rewrite(size, leaf), b.rewrite(size, leaf)),
        }
    }

    /// Every size that occurs, in order.
    pub(crate) fn sizes(&self, visit: &mut dyn FnMut(&Size)) {
        match self {
            Ty::Meta(_) | Ty::Param(_) | Ty::Scalar(_) | Ty::Error => {}
            Ty::Idx(n) => visit(n),
            Ty::Array(n, t) | Ty::Vector(n, t) => {
                visit(n);
                t.sizes(visit);
            }
            Ty::Pair(a, b) | Ty::Fun(a, b) => {
                a.sizes(visit);
                b.sizes(visit);
            }
        }
    }

    /// Whether `test` holds of the type or a part of it.
    pub(crate) fn any(&self, test: &dyn Fn(&Ty) -> bool) -> bool {
        test(self)
            || match self {
                Ty::Array(_, t) | Ty::Vector(_, t) => t.any(test),
                Ty::Pair(a, b) | Ty::Fun(a, b) => a.any(test) || b.any(test),
                _ => false,
            }
    }

    /// The data type, if nothing is unknown and there is no function. `param` gives the types of
    /// type parameters.
    pub(crate) fn to_data(
        &self,
        size: &dyn Fn(&Size) -> Size,
        param: &dyn Fn(&Name) -> Option<DataType>,
    ) -> Option<DataType> {
        Some(match self {
            Ty::Meta(_) | Ty::Fun(..) | Ty::Error => return None,
            Ty::Param(name) => param(name)?,
            Ty::Scalar(s) => DataType::Scalar(*s),
            Ty::Idx(n) => DataType::Idx(size(n)),
            Ty::Array(n, t) => DataType::array(size(n), t.to_data(size, param)?),
            Ty::Pair(a, b) => DataType::pair(a.to_data(size, param)?, b.to_data(size, param)?),
            Ty::Vector(n, t) => match t.to_data(size, param)? {
                DataType::Scalar(s) => DataType::Vector(size(n), s),
                _ => return None,
            },
        })
    }
}

/// The type as messages show it. Unknown parts are `_`.
pub(crate) fn show(ty: &Ty) -> String {
    match ty {
        Ty::Meta(_) | Ty::Error => "_".to_owned(),
        Ty::Param(name) => name.to_string(),
        Ty::Scalar(s) => s.to_string(),
        Ty::Idx(n) => format!("idx {}", show_size_atom(n)),
        Ty::Array(n, t) => match &**t {
            Ty::Idx(_) | Ty::Vector(..) | Ty::Fun(..) => format!("[{}]({})", show_size(n), show(t)),
            _ => format!("[{}]{}", show_size(n), show(t)),
        },
        Ty::Pair(a, b) => format!("({}, {})", show(a), show(b)),
        Ty::Vector(n, t) => format!("vec {} {}", show_size_atom(n), show(t)),
        Ty::Fun(a, b) if matches!(**a, Ty::Fun(..)) => format!("({}) -> {}", show(a), show(b)),
        Ty::Fun(a, b) => format!("{} -> {}", show(a), show(b)),
    }
}

/// The size as messages show it. Unknown sizes are `_`.
pub(crate) fn show_size(size: &Size) -> String {
    size.substitute(&|name| name.starts_with('?').then(|| Size::param("_"))).to_string()
}

fn show_size_atom(size: &Size) -> String {
    let text = show_size(size);
    if size.as_param().is_some() || size.as_constant().is_some_and(|c| c >= 0) {
        text
    } else {
        format!("({text})")
    }
}
