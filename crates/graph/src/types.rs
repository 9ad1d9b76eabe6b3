//! Types of values: element types, shapes with symbolic dimensions, and types that contain others.

use std::fmt;

use loops::{Name, Scalar, Size};

macro_rules! elements {
    ($($name:ident = $code:literal, $bits:literal, $word:literal;)*) => {
        /// The element type of a tensor: the data types of the ONNX format, by its numbers.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ElementType {
            $(#[doc = concat!("`", $word, "`, number ", stringify!($code), " of the format.")] $name,)*
            /// A number that this version of the format does not know (0 is "undefined").
            Other(i32),
        }

        impl ElementType {
            /// All types with a name.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$name),*];

            /// The type with this number of the format.
            pub fn from_code(code: i32) -> ElementType {
                match code { $($code => ElementType::$name,)* other => ElementType::Other(other) }
            }

            /// Its number in the format.
            pub fn code(self) -> i32 {
                match self { $(ElementType::$name => $code,)* ElementType::Other(code) => code }
            }

            /// Bits of an element; 0 where elements have no fixed width (strings, unknown types).
            pub fn bits(self) -> usize {
                match self { $(ElementType::$name => $bits,)* ElementType::Other(_) => 0 }
            }

            /// The type that this word of the textual form names.
            pub(crate) fn from_word(word: &str) -> Option<ElementType> {
                match word {
                    $($word => Some(ElementType::$name),)*
                    other => other.strip_prefix("element").and_then(|n| n.parse().ok()).map(ElementType::from_code),
                }
            }
        }

        impl fmt::Display for ElementType {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(ElementType::$name => f.write_str($word),)* ElementType::Other(code) => write!(f, "element{code}") }
            }
        }
    };
}

elements! {
    F32 = 1, 32, "f32";
    U8 = 2, 8, "u8";
    I8 = 3, 8, "i8";
    U16 = 4, 16, "u16";
    I16 = 5, 16, "i16";
    I32 = 6, 32, "i32";
    I64 = 7, 64, "i64";
    String = 8, 0, "string";
    Bool = 9, 8, "bool";
    F16 = 10, 16, "f16";
    F64 = 11, 64, "f64";
    U32 = 12, 32, "u32";
    U64 = 13, 64, "u64";
    C64 = 14, 64, "c64";
    C128 = 15, 128, "c128";
    Bf16 = 16, 16, "bf16";
    F8E4M3Fn = 17, 8, "f8e4m3fn";
    F8E4M3FnUz = 18, 8, "f8e4m3fnuz";
    F8E5M2 = 19, 8, "f8e5m2";
    F8E5M2FnUz = 20, 8, "f8e5m2fnuz";
    U4 = 21, 4, "u4";
    I4 = 22, 4, "i4";
    F4E2M1 = 23, 4, "f4e2m1";
    F8E8M0 = 24, 8, "f8e8m0";
    U2 = 25, 2, "u2";
    I2 = 26, 2, "i2";
}

impl ElementType {
    /// The scalar of the functional side with the same values, if there is one.
    pub fn scalar(self) -> Option<Scalar> {
        Some(match self {
            ElementType::F32 => Scalar::F32,
            ElementType::F64 => Scalar::F64,
            ElementType::I32 => Scalar::I32,
            ElementType::I64 => Scalar::I64,
            ElementType::Bool => Scalar::Bool,
            _ => return None,
        })
    }

    /// Bytes of `count` elements in the raw form (sub-byte types are packed), or `None` where there
    /// is no raw form or no such memory.
    pub fn raw_len(self, count: usize) -> Option<usize> {
        match self.bits() {
            0 => None,
            bits => Some(count.checked_mul(bits)?.div_ceil(8)),
        }
    }

    /// Whether this is a floating-point type (complex types are not).
    pub fn is_float(self) -> bool {
        use ElementType::*;
        matches!(self, F16 | Bf16 | F32 | F64 | F8E4M3Fn | F8E4M3FnUz | F8E5M2 | F8E5M2FnUz | F4E2M1 | F8E8M0)
    }

    /// Whether this is an integer type.
    pub fn is_int(self) -> bool {
        use ElementType::*;
        matches!(self, I2 | I4 | I8 | I16 | I32 | I64 | U2 | U4 | U8 | U16 | U32 | U64)
    }
}

impl From<Scalar> for ElementType {
    fn from(scalar: Scalar) -> ElementType {
        match scalar {
            Scalar::F32 => ElementType::F32,
            Scalar::F64 => ElementType::F64,
            Scalar::I32 => ElementType::I32,
            Scalar::I64 => ElementType::I64,
            Scalar::Bool => ElementType::Bool,
            Scalar::I8 => ElementType::I8,
            Scalar::U8 => ElementType::U8,
            Scalar::I16 => ElementType::I16,
            Scalar::U16 => ElementType::U16,
            Scalar::F16 => ElementType::F16,
            Scalar::U32 => ElementType::U32,
            Scalar::U64 => ElementType::U64,
        }
    }
}

/// The extent of one dimension.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub enum Dim {
    /// A number. Negative extents exist in no valid model; the validator says so.
    Known(i64),
    /// An expression over named dimensions; never a constant.
    Symbolic(Box<Size>),
    /// Nothing is known; two unknown extents need not be the same.
    #[default]
    Unknown,
}

impl Dim {
    /// The named dimension.
    pub fn symbol(name: impl Into<Name>) -> Dim {
        Dim::Symbolic(Box::new(Size::param(name)))
    }

    /// The number, if it is one.
    pub fn known(&self) -> Option<i64> {
        match self {
            Dim::Known(n) => Some(*n),
            _ => None,
        }
    }

    /// The extent as a size, if anything is known.
    pub fn size(&self) -> Option<Size> {
        match self {
            Dim::Known(n) => Some(Size::constant(*n)),
            Dim::Symbolic(size) => Some((**size).clone()),
            Dim::Unknown => None,
        }
    }

    /// Whether the two are surely different numbers.
    pub fn surely_differs(&self, other: &Dim) -> bool {
        matches!((self, other), (Dim::Known(a), Dim::Known(b)) if a != b)
    }
}

impl From<i64> for Dim {
    fn from(n: i64) -> Dim {
        Dim::Known(n)
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Dim {
        Dim::symbol(name)
    }
}

impl From<Size> for Dim {
    fn from(size: Size) -> Dim {
        match size.as_constant() {
            Some(n) => Dim::Known(n),
            None => Dim::Symbolic(Box::new(size)),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Known(n) => n.fmt(f),
            Dim::Symbolic(size) => size.fmt(f),
            Dim::Unknown => f.write_str("?"),
        }
    }
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The extents of a tensor's dimensions, outermost first.
pub type Shape = Vec<Dim>;

/// The type of a tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// Type of its elements.
    pub elem: ElementType,
    /// Its extents; `None` where not even their number is known.
    pub shape: Option<Shape>,
}

impl TensorType {
    /// A type with these extents.
    pub fn new(elem: ElementType, shape: impl IntoIterator<Item = impl Into<Dim>>) -> TensorType {
        TensorType { elem, shape: Some(shape.into_iter().map(Into::into).collect()) }
    }

    /// The extents, if all are numbers that are not negative.
    pub fn known_shape(&self) -> Option<Vec<usize>> {
        self.shape.as_ref()?.iter().map(|d| usize::try_from(d.known()?).ok()).collect()
    }

    /// The extents, if all are numbers that are not negative or expressions over names.
    pub fn sizes(&self) -> Option<Vec<Size>> {
        let size = |dim: &Dim| match dim {
            Dim::Known(n) => (*n >= 0).then(|| Size::constant(*n)),
            Dim::Symbolic(size) => Some((**size).clone()),
            Dim::Unknown => None,
        };
        self.shape.as_ref()?.iter().map(size).collect()
    }

    /// The number of dimensions, if known.
    pub fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }
}

/// The type of a value of a graph.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ValueType {
    /// A dense tensor.
    Tensor(TensorType),
    /// A sparse tensor.
    Sparse(TensorType),
    /// A sequence of values of one type.
    Sequence(Box<ValueType>),
    /// A value that may be absent.
    Optional(Box<ValueType>),
    /// A map from keys to values of one type.
    Map(ElementType, Box<ValueType>),
    /// A type that is not given, or that the format has and this program does not know.
    Unknown,
}

impl ValueType {
    /// The tensor type, if it is a dense tensor.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            ValueType::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl From<TensorType> for ValueType {
    fn from(tensor: TensorType) -> ValueType {
        ValueType::Tensor(tensor)
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.elem)?;
        let Some(shape) = &self.shape else { return f.write_str("[..]") };
        f.write_str("[")?;
        for (k, dim) in shape.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
            }
            crate::text::dim(f, dim)?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Tensor(tensor) => tensor.fmt(f),
            ValueType::Sparse(tensor) => write!(f, "sparse({tensor})"),
            ValueType::Sequence(inner) => write!(f, "sequence({inner})"),
            ValueType::Optional(inner) => write!(f, "optional({inner})"),
            ValueType::Map(key, inner) => write!(f, "map({key}, {inner})"),
            ValueType::Unknown => f.write_str("unknown"),
        }
    }
}
