//! Element types: scalars, and pairs of element types.

use std::fmt;

/// A scalar type of the hub.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scalar {
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// 32-bit signed integer, wrapping.
    I32,
    /// 64-bit signed integer; also the type of loop variables, sizes and subscripts.
    I64,
    /// Truth value.
    Bool,
}

impl Scalar {
    /// All scalar types, in the order of the enum.
    pub const ALL: [Scalar; 5] = [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::I64, Scalar::Bool];

    /// Whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether this is an integer type.
    pub fn is_int(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::I64)
    }

    /// Size in bytes in C and in an array file.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::F32 | Scalar::I32 => 4,
            Scalar::F64 | Scalar::I64 => 8,
            Scalar::Bool => 1,
        }
    }

    /// The keyword of the textual forms: `f32 f64 i32 i64 bool`.
    pub fn keyword(self) -> &'static str {
        match self {
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::Bool => "bool",
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// The type of an array's elements: a scalar, or a pair of element types (a C struct with members `x1`, `x2`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Elem {
    /// A scalar.
    Scalar(Scalar),
    /// A pair; its components are addressed by [`crate::Component`].
    Pair(Box<Elem>, Box<Elem>),
}

impl Elem {
    /// The pair of two element types.
    pub fn pair(first: Elem, second: Elem) -> Elem {
        Elem::Pair(Box::new(first), Box::new(second))
    }
}

impl From<Scalar> for Elem {
    fn from(scalar: Scalar) -> Elem {
        Elem::Scalar(scalar)
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::Scalar(scalar) => scalar.fmt(f),
            Elem::Pair(first, second) => write!(f, "({first}, {second})"),
        }
    }
}
