//! Tensors of a model: shared bytes that are decoded on request.
//!
//! Not here: arithmetic on tensors (the operator library), reading of files (the command loads
//! external data).

use bytes::Bytes;
use loops::{Data, Name, Scalar};

use crate::types::{ElementType, TensorType};

/// Where the elements of a tensor are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Storage {
    /// Little-endian, row-major, with sub-byte types packed. Shared with the model file if they
    /// came from one.
    Raw(Bytes),
    /// Texts (they need not be UTF-8).
    Strings(Vec<Bytes>),
    /// In another file.
    External(External),
}

/// Elements that lie in a file of their own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct External {
    /// Path relative to the model's folder.
    pub location: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; the rest of the file if absent.
    pub length: Option<u64>,
    /// Further entries (`checksum`, …), kept as they are.
    pub other: Vec<(String, String)>,
}

/// A constant of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// Type of its elements.
    pub elem: ElementType,
    /// Its extents, outermost first; a scalar has none.
    pub dims: Vec<usize>,
    /// Its elements.
    pub storage: Storage,
    /// The tensor's own name. An initializer has the name of its value. The name of an attribute is
    /// usually empty.
    pub name: Option<Name>,
    /// Fields of the file that are not interpreted here (documentation, unknown fields), unchanged.
    pub extra: Bytes,
}

macro_rules! numbers {
    ($from:ident, $to:ident, $ty:ty, $elem:ident) => {
        #[doc = concat!("A tensor of `", stringify!($ty), "` elements. Panics if their number is not the product of `dims`.")]
        pub fn $from(dims: impl Into<Vec<usize>>, elements: &[$ty]) -> Tensor {
            let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
            Tensor::raw(ElementType::$elem, dims.into(), bytes.into()).expect("as many elements as the dimensions say")
        }

        #[doc = concat!("The elements, if they are `", stringify!($ty), "` and at hand.")]
        pub fn $to(&self) -> Option<Vec<$ty>> {
            const WIDTH: usize = size_of::<$ty>();
            let (ElementType::$elem, Storage::Raw(bytes)) = (self.elem, &self.storage) else { return None };
            Some(bytes.chunks_exact(WIDTH).map(|raw| <$ty>::from_le_bytes(raw.try_into().unwrap_or([0; WIDTH]))).collect())
        }
    };
}

/// Tensors have at most so many dimensions, as NumPy's have.
pub(crate) const MOST_DIMENSIONS: usize = 64;

/// The number of elements of a tensor with these extents, if there can be one: at most 64
/// dimensions, and fewer than 2^47 elements, an extent of 0 taken as 1, so that no product of some
/// of them overflows.
pub fn elements(dims: &[usize]) -> Option<usize> {
    let room = dims.iter().try_fold(1usize, |n, d| n.checked_mul((*d).max(1)))?;
    (dims.len() <= MOST_DIMENSIONS && room < 1 << 47).then(|| dims.iter().product())
}

impl Tensor {
    numbers!(from_f32s, to_f32s, f32, F32);
    numbers!(from_f64s, to_f64s, f64, F64);
    numbers!(from_i32s, to_i32s, i32, I32);
    numbers!(from_i64s, to_i64s, i64, I64);

    /// A tensor from its raw form, if that has the right length.
    pub fn raw(elem: ElementType, dims: Vec<usize>, bytes: Bytes) -> Option<Tensor> {
        let count = elements(&dims)?;
        let fits = elem.raw_len(count)? == bytes.len();
        fits.then(|| Tensor { elem, dims, storage: Storage::Raw(bytes), name: None, extra: Bytes::new() })
    }

    /// A tensor of truth values. Panics if their number is not the product of `dims`.
    pub fn from_bools(dims: impl Into<Vec<usize>>, elements: &[bool]) -> Tensor {
        let bytes: Vec<u8> = elements.iter().map(|b| u8::from(*b)).collect();
        Tensor::raw(ElementType::Bool, dims.into(), bytes.into())
            .expect("as many elements as the dimensions say")
    }

    /// A tensor with one element and no dimensions.
    pub(crate) fn scalar_i64(value: i64) -> Tensor {
        Tensor::from_i64s(vec![], &[value])
    }

    /// A tensor with one element and no dimensions.
    pub fn scalar_f32(value: f32) -> Tensor {
        Tensor::from_f32s(vec![], &[value])
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.dims.iter().product()
    }

    /// Its type.
    pub fn ty(&self) -> TensorType {
        TensorType::new(self.elem, self.dims.iter().map(|d| *d as i64))
    }

    /// The raw form, if the elements are at hand.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.storage {
            Storage::Raw(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Truth values, if they are that and at hand.
    pub fn to_bools(&self) -> Option<Vec<bool>> {
        let (ElementType::Bool, Storage::Raw(bytes)) = (self.elem, &self.storage) else { return None };
        Some(bytes.iter().map(|b| *b != 0).collect())
    }

    /// The elements as `i64`, if they are `i32` or `i64` (axes, shapes, pads …).
    pub fn to_ints(&self) -> Option<Vec<i64>> {
        match self.elem {
            ElementType::I64 => self.to_i64s(),
            ElementType::I32 => Some(self.to_i32s()?.into_iter().map(i64::from).collect()),
            _ => None,
        }
    }

    /// The elements as integers, if they are integers of 8 bits or more and are loaded.
    pub fn to_integers(&self) -> Option<Vec<i128>> {
        let bytes = self.bytes()?;
        let width = self.elem.bits() / 8;
        if !self.elem.is_int() || width == 0 {
            return None;
        }
        use ElementType::{U8, U16, U32, U64};
        let signed = !matches!(self.elem, U8 | U16 | U32 | U64);
        let unused = 64 - 8 * width as u32;
        let one = |raw: &[u8]| {
            let word = raw.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte)) << unused;
            if signed { i128::from(word as i64 >> unused) } else { i128::from(word >> unused) }
        };
        Some(bytes.chunks_exact(width).map(one).collect())
    }

    /// The elements as `f64`; `None` for strings, complex numbers and narrow floating-point types.
    pub fn to_numbers(&self) -> Option<Vec<f64>> {
        let bytes = self.bytes()?;
        Some(match self.elem {
            ElementType::F32 => self.to_f32s()?.into_iter().map(f64::from).collect(),
            ElementType::F64 => self.to_f64s()?,
            ElementType::I32 => self.to_i32s()?.into_iter().map(f64::from).collect(),
            ElementType::I64 => self.to_i64s()?.into_iter().map(|x| x as f64).collect(),
            ElementType::Bool | ElementType::U8 => bytes.iter().map(|b| f64::from(*b)).collect(),
            ElementType::I8 => bytes.iter().map(|b| f64::from(*b as i8)).collect(),
            ElementType::F16 | ElementType::Bf16 => match crate::operators::decode(self)?.data {
                Data::F32(wide) => wide.into_iter().map(f64::from).collect(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The tensor in the form that the evaluator and the runner take, for the types that they have.
    pub fn to_value(&self) -> Option<loops::Tensor> {
        let data = match self.elem.scalar()? {
            Scalar::F32 => Data::F32(self.to_f32s()?),
            Scalar::F64 => Data::F64(self.to_f64s()?),
            Scalar::I32 => Data::I32(self.to_i32s()?),
            Scalar::I64 => Data::I64(self.to_i64s()?),
            Scalar::Bool => Data::Bool(self.to_bools()?),
            _ => return None,
        };
        Some(loops::Tensor { shape: self.dims.clone(), data })
    }

    /// The tensor that the evaluator or the runner gave; `None` for types that graphs have no
    /// values of.
    pub fn from_value(value: &loops::Tensor) -> Option<Tensor> {
        let dims = value.shape.clone();
        Some(match &value.data {
            Data::F32(v) => Tensor::from_f32s(dims, v),
            Data::F64(v) => Tensor::from_f64s(dims, v),
            Data::I32(v) => Tensor::from_i32s(dims, v),
            Data::I64(v) => Tensor::from_i64s(dims, v),
            Data::Bool(v) => Tensor::from_bools(dims, v),
            _ => return None,
        })
    }
}
