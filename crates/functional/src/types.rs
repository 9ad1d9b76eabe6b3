//! Data types of the language, indexed by sizes.

use std::fmt;

use loops::{Scalar, Size};

/// A data type (the paper, section 2.1: `num`, `idx n`, `ary n t`, `tensor s t`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// A number or truth value.
    Scalar(Scalar),
    /// An index below `n`.
    Idx(Size),
    /// `[n]t`: an array of `n` elements.
    Array(Size, Box<DataType>),
    /// `(s, t)`: a pair.
    Pair(Box<DataType>, Box<DataType>),
    /// `vec k t`: `k` lanes that are computed together.
    Vector(Size, Scalar),
}

impl DataType {
    /// `[n]elem`.
    pub fn array(n: Size, elem: DataType) -> DataType {
        DataType::Array(n, Box::new(elem))
    }

    /// `(first, second)`.
    pub fn pair(first: DataType, second: DataType) -> DataType {
        DataType::Pair(Box::new(first), Box::new(second))
    }

    /// Whether values of the type are a single number, truth value or index.
    pub fn is_scalar(&self) -> bool {
        matches!(self, DataType::Scalar(_) | DataType::Idx(_))
    }

    /// The type with each size replaced by `f` of it.
    pub fn map_sizes(&self, f: &mut dyn FnMut(&Size) -> Size) -> DataType {
        match self {
            DataType::Scalar(s) => DataType::Scalar(*s),
            DataType::Idx(n) => DataType::Idx(f(n)),
            DataType::Array(n, t) => {
                let n = f(n);
                DataType::array(n, t.map_sizes(f))
            }
            DataType::Pair(a, b) => {
                let a = a.map_sizes(f);
                DataType::pair(a, b.map_sizes(f))
            }
            DataType::Vector(n, s) => DataType::Vector(f(n), *s),
        }
    }
}

impl From<Scalar> for DataType {
    fn from(scalar: Scalar) -> DataType {
        DataType::Scalar(scalar)
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Scalar(s) => write!(f, "{s}"),
            DataType::Idx(n) => write!(f, "idx ({n})"),
            DataType::Array(n, t) => write!(f, "[{n}]{t}"),
            DataType::Pair(a, b) => write!(f, "({a}, {b})"),
            DataType::Vector(n, s) => write!(f, "vec ({n}) {s}"),
        }
    }
}
