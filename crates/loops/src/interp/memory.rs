//! Arrays of a running program: one column for each scalar of the element type, and which elements
//! hold a value.

use crate::data::{Data, Tensor};
use crate::types::{Elem, Scalar};
use crate::value::Value;

/// The elements of one scalar leaf.
#[derive(Debug)]
pub(super) enum Column {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Column {
    pub(super) fn empty(scalar: Scalar) -> Column {
        match scalar {
            Scalar::F32 => Column::F32(Vec::new()),
            Scalar::F64 => Column::F64(Vec::new()),
            Scalar::I32 => Column::I32(Vec::new()),
            Scalar::I64 => Column::I64(Vec::new()),
            Scalar::Bool => Column::Bool(Vec::new()),
            Scalar::I8 => Column::I8(Vec::new()),
            Scalar::U8 => Column::U8(Vec::new()),
            Scalar::I16 => Column::I16(Vec::new()),
            Scalar::U16 => Column::U16(Vec::new()),
            Scalar::U32 => Column::U32(Vec::new()),
            Scalar::U64 => Column::U64(Vec::new()),
        }
    }

    /// Makes it this long; what it holds then does not matter. False if memory does not suffice.
    pub(super) fn resize(&mut self, len: usize) -> bool {
        fn resize<T: Clone + Default>(v: &mut Vec<T>, len: usize) -> bool {
            let enough = v.try_reserve_exact(len.saturating_sub(v.len())).is_ok();
            if enough {
                v.resize(len, T::default());
            }
            enough
        }
        match self {
            Column::F32(v) => resize(v, len),
            Column::F64(v) => resize(v, len),
            Column::I32(v) => resize(v, len),
            Column::I64(v) => resize(v, len),
            Column::Bool(v) => resize(v, len),
            Column::I8(v) => resize(v, len),
            Column::U8(v) => resize(v, len),
            Column::I16(v) => resize(v, len),
            Column::U16(v) => resize(v, len),
            Column::U32(v) => resize(v, len),
            Column::U64(v) => resize(v, len),
        }
    }

    pub(super) fn get(&self, at: usize) -> Value {
        match self {
            Column::F32(v) => Value::F32(v[at]),
            Column::F64(v) => Value::F64(v[at]),
            Column::I32(v) => Value::I32(v[at]),
            Column::I64(v) => Value::I64(v[at]),
            Column::Bool(v) => Value::Bool(v[at]),
            Column::I8(v) => Value::I8(v[at]),
            Column::U8(v) => Value::U8(v[at]),
            Column::I16(v) => Value::I16(v[at]),
            Column::U16(v) => Value::U16(v[at]),
            Column::U32(v) => Value::U32(v[at]),
            Column::U64(v) => Value::U64(v[at]),
        }
    }

    /// The value has the column's type: the compiler of the interpreter has checked it.
    pub(super) fn set(&mut self, at: usize, value: Value) {
        match (self, value) {
            (Column::F32(v), Value::F32(x)) => v[at] = x,
            (Column::F64(v), Value::F64(x)) => v[at] = x,
            (Column::I32(v), Value::I32(x)) => v[at] = x,
            (Column::I64(v), Value::I64(x)) => v[at] = x,
            (Column::Bool(v), Value::Bool(x)) => v[at] = x,
            (Column::I8(v), Value::I8(x)) => v[at] = x,
            (Column::U8(v), Value::U8(x)) => v[at] = x,
            (Column::I16(v), Value::I16(x)) => v[at] = x,
            (Column::U16(v), Value::U16(x)) => v[at] = x,
            (Column::U32(v), Value::U32(x)) => v[at] = x,
            (Column::U64(v), Value::U64(x)) => v[at] = x,
            _ => debug_assert!(false, "a value of another type"),
        }
    }
}

/// Takes a tensor's data apart into columns, in the order of [`Elem::leaves`].
pub(super) fn columns(data: Data, into: &mut Vec<Column>) {
    match data {
        Data::F32(v) => into.push(Column::F32(v)),
        Data::F64(v) => into.push(Column::F64(v)),
        Data::I32(v) => into.push(Column::I32(v)),
        Data::I64(v) => into.push(Column::I64(v)),
        Data::Bool(v) => into.push(Column::Bool(v)),
        Data::I8(v) => into.push(Column::I8(v)),
        Data::U8(v) => into.push(Column::U8(v)),
        Data::I16(v) => into.push(Column::I16(v)),
        Data::U16(v) => into.push(Column::U16(v)),
        Data::U32(v) => into.push(Column::U32(v)),
        Data::U64(v) => into.push(Column::U64(v)),
        Data::Pair(a, b) => {
            columns(*a, into);
            columns(*b, into);
        }
    }
}

/// The reverse of [`columns`].
pub(super) fn data(elem: &Elem, columns: &mut impl Iterator<Item = Column>) -> Data {
    match elem {
        Elem::Pair(a, b) => {
            let first = data(a, columns);
            Data::Pair(Box::new(first), Box::new(data(b, columns)))
        }
        Elem::Scalar(scalar) => match columns.next().unwrap_or(Column::empty(*scalar)) {
            Column::F32(v) => Data::F32(v),
            Column::F64(v) => Data::F64(v),
            Column::I32(v) => Data::I32(v),
            Column::I64(v) => Data::I64(v),
            Column::Bool(v) => Data::Bool(v),
            Column::I8(v) => Data::I8(v),
            Column::U8(v) => Data::U8(v),
            Column::I16(v) => Data::I16(v),
            Column::U16(v) => Data::U16(v),
            Column::U32(v) => Data::U32(v),
            Column::U64(v) => Data::U64(v),
        },
    }
}

/// Whether every column of the data has as many elements as the shape asks for.
pub(super) fn is_whole(tensor: &Tensor) -> bool {
    fn lengths(data: &Data, len: usize) -> bool {
        match data {
            Data::Pair(a, b) => lengths(a, len) && lengths(b, len),
            other => other.len() == len,
        }
    }
    let len = tensor.shape.iter().try_fold(1usize, |len, extent| len.checked_mul(*extent));
    len.is_some_and(|len| lengths(&tensor.data, len))
}

/// An array that is alive.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) dims: Vec<i64>,
    pub(super) columns: Vec<Column>,
    /// For each column which elements have been written; none if all have a value from the start.
    pub(super) written: Option<Vec<Vec<bool>>>,
    /// How many parallel loops were running when it was declared: those inside share it.
    pub(super) depth: usize,
    /// The most elements that it ever had: what memory has been accounted for.
    pub(super) reserved: usize,
}

impl Array {
    pub(super) fn len(&self) -> usize {
        self.dims.iter().product::<i64>() as usize
    }

    /// The subscripts of an offset, for messages.
    pub(super) fn subscripts(&self, mut offset: usize) -> String {
        let mut reversed = Vec::new();
        for extent in self.dims.iter().rev() {
            let extent = (*extent).max(1) as usize;
            reversed.push(offset % extent);
            offset /= extent;
        }
        reversed.iter().rev().map(|k| format!("[{k}]")).collect()
    }
}
