//! Element types: scalars, and pairs of element types.

use std::fmt;

/// A scalar type of the loop IR.
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
    /// 8-bit signed integer, wrapping.
    I8,
    /// 8-bit unsigned integer, wrapping.
    U8,
    /// 16-bit signed integer, wrapping.
    I16,
    /// 16-bit unsigned integer, wrapping.
    U16,
    /// 32-bit unsigned integer, wrapping.
    U32,
    /// 64-bit unsigned integer, wrapping.
    U64,
    /// IEEE half precision, as numbers are stored: nothing computes in it. It is converted to and
    /// from the other types.
    F16,
}

impl Scalar {
    /// All scalar types, in the order of the enum.
    pub const ALL: [Scalar; 12] = [
        Scalar::F32,
        Scalar::F64,
        Scalar::I32,
        Scalar::I64,
        Scalar::Bool,
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F16,
    ];

    /// The types that graphs compute in, and that run on cores with local memory. C and functional
    /// programs also have the others.
    pub const COMMON: [Scalar; 5] = [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::I64, Scalar::Bool];

    /// Whether this is a floating-point type that programs compute in.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether this is a type of numbers that programs compute in.
    pub fn is_number(self) -> bool {
        self.is_float() || self.is_int()
    }

    /// Whether this is an integer type.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Scalar::Bool && self != Scalar::F16
    }

    /// Whether this is an integer type without negative numbers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }

    /// Whether this is an integer type that C promotes to `int` before it computes: one of 8 or 16
    /// bits.
    pub fn is_narrow(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16)
    }

    /// Whether this is one of [`Scalar::COMMON`].
    pub fn is_common(self) -> bool {
        Scalar::COMMON.contains(&self)
    }

    /// Size in bytes in C and in an array file.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::F32 | Scalar::I32 | Scalar::U32 => 4,
            Scalar::F64 | Scalar::I64 | Scalar::U64 => 8,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I8 | Scalar::U8 | Scalar::Bool => 1,
        }
    }

    /// The keyword of the textual forms: `f32 f64 i32 i64 bool i8 u8 i16 u16 u32 u64 f16`.
    pub fn keyword(self) -> &'static str {
        match self {
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// The type of an array's elements: a scalar, or a pair of element types (a C struct with members
/// `x1`, `x2`).
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

    /// Bytes of its numbers, without what C puts between them.
    pub fn bytes(&self) -> usize {
        match self {
            Elem::Scalar(scalar) => scalar.bytes(),
            Elem::Pair(first, second) => first.bytes() + second.bytes(),
        }
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
