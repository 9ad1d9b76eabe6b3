//! Arrays of a running program: one column for each scalar of the element type, and which elements
//! hold a value.

use crate::data::{Data, Tensor};
use crate::types::{Elem, Scalar};
use crate::value::Value;

/// What the interpreter does with the columns of scalars: all but pairs.
impl Data {
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
            Data::F32(v) => resize(v, len),
            Data::F64(v) => resize(v, len),
            Data::I32(v) => resize(v, len),
            Data::I64(v) => resize(v, len),
            Data::Bool(v) => resize(v, len),
            Data::I8(v) => resize(v, len),
            Data::U8(v) => resize(v, len),
            Data::I16(v) => resize(v, len),
            Data::U16(v) => resize(v, len),
            Data::F16(v) => resize(v, len),
            Data::U32(v) => resize(v, len),
            Data::U64(v) => resize(v, len),
            Data::Pair(..) => false,
        }
    }

    pub(super) fn get(&self, at: usize) -> Value {
        match self {
            Data::F32(v) => Value::F32(v[at]),
            Data::F64(v) => Value::F64(v[at]),
            Data::I32(v) => Value::I32(v[at]),
            Data::I64(v) => Value::I64(v[at]),
            Data::Bool(v) => Value::Bool(v[at]),
            Data::I8(v) => Value::I8(v[at]),
            Data::U8(v) => Value::U8(v[at]),
            Data::I16(v) => Value::I16(v[at]),
            Data::U16(v) => Value::U16(v[at]),
            Data::F16(v) => Value::F16(v[at]),
            Data::U32(v) => Value::U32(v[at]),
            Data::U64(v) => Value::U64(v[at]),
            Data::Pair(a, _) => a.get(at),
        }
    }

    /// The value has the column's type: the compiler of the interpreter has checked it.
    pub(super) fn set(&mut self, at: usize, value: Value) {
        match (self, value) {
            (Data::F32(v), Value::F32(x)) => v[at] = x,
            (Data::F64(v), Value::F64(x)) => v[at] = x,
            (Data::I32(v), Value::I32(x)) => v[at] = x,
            (Data::I64(v), Value::I64(x)) => v[at] = x,
            (Data::Bool(v), Value::Bool(x)) => v[at] = x,
            (Data::I8(v), Value::I8(x)) => v[at] = x,
            (Data::U8(v), Value::U8(x)) => v[at] = x,
            (Data::I16(v), Value::I16(x)) => v[at] = x,
            (Data::U16(v), Value::U16(x)) => v[at] = x,
            (Data::F16(v), Value::F16(x)) => v[at] = x,
            (Data::U32(v), Value::U32(x)) => v[at] = x,
            (Data::U64(v), Value::U64(x)) => v[at] = x,
            _ => debug_assert!(false, "a value of another type"),
        }
    }
}

/// A column without elements for each scalar.
pub(super) fn empty(leaves: Vec<Scalar>) -> Vec<Data> {
    leaves.into_iter().map(|scalar| Data::zeros(&scalar.into(), 0)).collect()
}

/// Takes a tensor's data apart into columns, in the order of [`Elem::leaves`].
pub(super) fn columns(data: Data, into: &mut Vec<Data>) {
    match data {
        Data::Pair(a, b) => {
            columns(*a, into);
            columns(*b, into);
        }
        column => into.push(column),
    }
}

/// The reverse of [`columns`].
pub(super) fn data(elem: &Elem, columns: &mut impl Iterator<Item = Data>) -> Data {
    match elem {
        Elem::Pair(a, b) => {
            let first = data(a, columns);
            Data::Pair(Box::new(first), Box::new(data(b, columns)))
        }
        Elem::Scalar(_) => columns.next().unwrap_or_else(|| Data::zeros(elem, 0)),
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
    pub(super) columns: Vec<Data>,
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
