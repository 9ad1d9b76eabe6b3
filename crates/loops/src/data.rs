//! Arrays as values, which the interpreter, the evaluator and the runner exchange.

use half::f16;

use crate::types::{Elem, Scalar};

/// The elements of a tensor in row-major order, one column per scalar component.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Single-precision elements.
    F32(Vec<f32>),
    /// Double-precision elements.
    F64(Vec<f64>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// 8-bit integers.
    I8(Vec<i8>),
    /// 8-bit natural numbers.
    U8(Vec<u8>),
    /// 16-bit integers.
    I16(Vec<i16>),
    /// Numbers in half precision.
    F16(Vec<f16>),
    /// 16-bit natural numbers.
    U16(Vec<u16>),
    /// 32-bit natural numbers.
    U32(Vec<u32>),
    /// 64-bit natural numbers.
    U64(Vec<u64>),
    /// Pairs, as two columns of equal length.
    Pair(Box<Data>, Box<Data>),
}

impl Data {
    /// `len` zeros (`false` for truth values) of the element type.
    pub fn zeros(elem: &Elem, len: usize) -> Data {
        match elem {
            Elem::Scalar(Scalar::F32) => Data::F32(vec![0.0; len]),
            Elem::Scalar(Scalar::F64) => Data::F64(vec![0.0; len]),
            Elem::Scalar(Scalar::I32) => Data::I32(vec![0; len]),
            Elem::Scalar(Scalar::I64) => Data::I64(vec![0; len]),
            Elem::Scalar(Scalar::Bool) => Data::Bool(vec![false; len]),
            Elem::Scalar(Scalar::I8) => Data::I8(vec![0; len]),
            Elem::Scalar(Scalar::U8) => Data::U8(vec![0; len]),
            Elem::Scalar(Scalar::I16) => Data::I16(vec![0; len]),
            Elem::Scalar(Scalar::U16) => Data::U16(vec![0; len]),
            Elem::Scalar(Scalar::F16) => Data::F16(vec![f16::ZERO; len]),
            Elem::Scalar(Scalar::U32) => Data::U32(vec![0; len]),
            Elem::Scalar(Scalar::U64) => Data::U64(vec![0; len]),
            Elem::Pair(a, b) => Data::Pair(Box::new(Data::zeros(a, len)), Box::new(Data::zeros(b, len))),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Data::F32(v) => v.len(),
            Data::F64(v) => v.len(),
            Data::I32(v) => v.len(),
            Data::I64(v) => v.len(),
            Data::Bool(v) => v.len(),
            Data::I8(v) => v.len(),
            Data::U8(v) => v.len(),
            Data::I16(v) => v.len(),
            Data::U16(v) => v.len(),
            Data::F16(v) => v.len(),
            Data::U32(v) => v.len(),
            Data::U64(v) => v.len(),
            Data::Pair(a, _) => a.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element type.
    pub fn elem(&self) -> Elem {
        match self {
            Data::F32(_) => Scalar::F32.into(),
            Data::F64(_) => Scalar::F64.into(),
            Data::I32(_) => Scalar::I32.into(),
            Data::I64(_) => Scalar::I64.into(),
            Data::Bool(_) => Scalar::Bool.into(),
            Data::I8(_) => Scalar::I8.into(),
            Data::U8(_) => Scalar::U8.into(),
            Data::I16(_) => Scalar::I16.into(),
            Data::U16(_) => Scalar::U16.into(),
            Data::F16(_) => Scalar::F16.into(),
            Data::U32(_) => Scalar::U32.into(),
            Data::U64(_) => Scalar::U64.into(),
            Data::Pair(a, b) => Elem::pair(a.elem(), b.elem()),
        }
    }
}

/// A dense array value in row-major order; a scalar has an empty shape.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// Extent of each dimension.
    pub shape: Vec<usize>,
    /// The elements; `data.len()` is the product of the extents.
    pub data: Data,
}

impl Tensor {
    /// A tensor of zeros.
    pub fn zeros(elem: &Elem, shape: Vec<usize>) -> Tensor {
        let len = shape.iter().product();
        Tensor { shape, data: Data::zeros(elem, len) }
    }

    /// A tensor of pseudo-random elements made from the seed. It is the same on all machines.
    /// Floats are in -1..1, integers in -9..=9, natural numbers in 0..=18. Integers of 8 and 16
    /// bits take any value.
    pub fn random(elem: &Elem, shape: Vec<usize>, seed: u64) -> Tensor {
        let len = shape.iter().product();
        let mut state = seed;
        Tensor { shape, data: random_data(elem, len, &mut state) }
    }
}

fn random_data(elem: &Elem, len: usize, state: &mut u64) -> Data {
    // splitmix64
    let mut next = || {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    match elem {
        Elem::Scalar(Scalar::F32) => {
            Data::F32((0..len).map(|_| (next() >> 40) as f32 / (1u32 << 23) as f32 - 1.0).collect())
        }
        Elem::Scalar(Scalar::F64) => {
            Data::F64((0..len).map(|_| (next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect())
        }
        Elem::Scalar(Scalar::I32) => Data::I32((0..len).map(|_| (next() % 19) as i32 - 9).collect()),
        Elem::Scalar(Scalar::I64) => Data::I64((0..len).map(|_| (next() % 19) as i64 - 9).collect()),
        Elem::Scalar(Scalar::Bool) => Data::Bool((0..len).map(|_| next() % 2 == 0).collect()),
        Elem::Scalar(Scalar::I8) => Data::I8((0..len).map(|_| (next() >> 40) as i8).collect()),
        Elem::Scalar(Scalar::U8) => Data::U8((0..len).map(|_| (next() >> 40) as u8).collect()),
        Elem::Scalar(Scalar::I16) => Data::I16((0..len).map(|_| (next() >> 40) as i16).collect()),
        Elem::Scalar(Scalar::U16) => Data::U16((0..len).map(|_| (next() >> 40) as u16).collect()),
        Elem::Scalar(Scalar::U32) => Data::U32((0..len).map(|_| (next() % 19) as u32).collect()),
        Elem::Scalar(Scalar::U64) => Data::U64((0..len).map(|_| next() % 19).collect()),
        Elem::Scalar(Scalar::F16) => {
            let number = |word: u64| f16::from_f32((word >> 40) as f32 / (1u32 << 23) as f32 - 1.0);
            Data::F16((0..len).map(|_| number(next())).collect())
        }
        Elem::Pair(a, b) => {
            let first = random_data(a, len, state);
            Data::Pair(Box::new(first), Box::new(random_data(b, len, state)))
        }
    }
}
