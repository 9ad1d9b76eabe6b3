//! Values during evaluation: numbers, pairs, and arrays. An array is a strided window on stored
//! data, or a lazy view.

use std::rc::Rc;

use loops::{Data, Scalar};

use super::{Fault, Outcome, Tally};

/// A type with all sizes known; indices are `i64` and vectors are arrays.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    Scalar(Scalar),
    Array(usize, Rc<Ty>),
    Pair(Rc<Ty>, Rc<Ty>),
}

impl Ty {
    /// How many numbers a value consists of.
    pub(super) fn numbers(&self) -> u64 {
        match self {
            Ty::Scalar(_) => 1,
            Ty::Array(n, t) => (*n as u64).saturating_mul(t.numbers()),
            Ty::Pair(a, b) => a.numbers().saturating_add(b.numbers()),
        }
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val {
    F32(f32),
    F64(f64),
    I32(i32),
    I64(i64),
    /// An integer of another type.
    Integer(loops::Value),
    Bool(bool),
    Pair(Rc<(Val, Val)>),
    Array(Rc<Array>),
}

impl Val {
    pub(super) fn pair(a: Val, b: Val) -> Val {
        Val::Pair(Rc::new((a, b)))
    }

    pub(super) fn array(array: Array) -> Val {
        Val::Array(Rc::new(array))
    }

    pub(super) fn int(&self) -> i64 {
        match self {
            Val::I64(v) => *v,
            Val::I32(v) => i64::from(*v),
            other => unreachable!("an integer, not {other:?}"),
        }
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Val::Bool(v) => *v,
            other => unreachable!("a truth value, not {other:?}"),
        }
    }

    pub(super) fn first(&self) -> Val {
        match self {
            Val::Pair(p) => p.0.clone(),
            other => unreachable!("a pair, not {other:?}"),
        }
    }

    pub(super) fn second(&self) -> Val {
        match self {
            Val::Pair(p) => p.1.clone(),
            other => unreachable!("a pair, not {other:?}"),
        }
    }

    pub(super) fn elements(&self) -> &Rc<Array> {
        match self {
            Val::Array(a) => a,
            other => unreachable!("an array, not {other:?}"),
        }
    }
}

/// Elements in memory, counted while they live.
#[derive(Debug)]
pub(super) struct Stored {
    data: Data,
    count: u64,
    tally: Rc<Tally>,
}

impl Stored {
    /// Data whose numbers have been taken from the tally.
    pub(super) fn new(data: Data, count: u64, tally: &Rc<Tally>) -> Rc<Stored> {
        Rc::new(Stored { data, count, tally: Rc::clone(tally) })
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.tally.give(self.count);
    }
}

/// One dimension of a window: how many, and how far apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Dim {
    pub(super) len: usize,
    pub(super) stride: isize,
}

/// An array.
#[derive(Debug)]
pub(super) enum Array {
    /// A window on stored elements. There is at least one dimension.
    Strided { data: Rc<Stored>, offset: isize, dims: Vec<Dim> },
    /// Pairs below this many dimensions.
    Zip(usize, Rc<Array>, Rc<Array>),
    /// First or second components.
    Component(bool, Rc<Array>),
    /// Element `i` is element `start + i * step`.
    Slice { base: Rc<Array>, start: isize, step: isize, len: usize },
    /// `len` slices of `width`, `step` apart.
    Slices { base: Rc<Array>, len: usize, width: usize, step: usize },
    /// Rows of `width` one after another, `len` in all.
    Joined { base: Rc<Array>, width: usize, len: usize },
    /// Columns; as many as the rows are long.
    Transposed { base: Rc<Array>, len: usize },
    /// One column.
    Column { base: Rc<Array>, column: usize },
    /// `value` where the index is not one of `base`.
    Pad { base: Rc<Array>, left: usize, len: usize, value: Val },
    /// The nearest element where the index is not one of `base`, which is not empty.
    Clamp { base: Rc<Array>, left: usize, len: usize },
    /// One after another.
    Concat(Rc<Array>, Rc<Array>),
    /// Elements at indices.
    Gather(Rc<Array>, Rc<Array>),
    /// One value many times.
    Repeat(Val, usize),
}

impl Array {
    pub(super) fn len(&self) -> usize {
        match self {
            Array::Strided { dims, .. } => dims[0].len,
            Array::Zip(_, a, _) | Array::Component(_, a) => a.len(),
            Array::Slice { len, .. }
            | Array::Slices { len, .. }
            | Array::Joined { len, .. }
            | Array::Transposed { len, .. }
            | Array::Pad { len, .. }
            | Array::Clamp { len, .. }
            | Array::Repeat(_, len) => *len,
            Array::Column { base, .. } => base.len(),
            Array::Concat(a, b) => a.len() + b.len(),
            Array::Gather(is, _) => is.len(),
        }
    }

    /// The element at `i < len`.
    pub(super) fn get(&self, i: usize) -> Outcome<Val> {
        debug_assert!(i < self.len());
        Ok(match self {
            Array::Strided { data, offset, dims } => {
                let at = offset + i as isize * dims[0].stride;
                match &dims[1..] {
                    [] => scalar_at(&data.data, at as usize),
                    rest => {
                        Val::array(Array::Strided { data: Rc::clone(data), offset: at, dims: rest.to_vec() })
                    }
                }
            }
            Array::Zip(1, a, b) => Val::pair(a.get(i)?, b.get(i)?),
            Array::Zip(depth, a, b) => {
                let (a, b) = (a.get(i)?, b.get(i)?);
                Val::array(Array::Zip(depth - 1, Rc::clone(a.elements()), Rc::clone(b.elements())))
            }
            Array::Component(second, a) => {
                let pair = a.get(i)?;
                if *second { pair.second() } else { pair.first() }
            }
            Array::Slice { base, start, step, .. } => base.get((start + i as isize * step) as usize)?,
            Array::Slices { base, width, step, .. } => slice(base, (i * step) as isize, 1, *width),
            Array::Joined { base, width, .. } => base.get(i / width)?.elements().get(i % width)?,
            Array::Transposed { base, .. } => Val::array(Array::Column { base: Rc::clone(base), column: i }),
            Array::Column { base, column } => base.get(i)?.elements().get(*column)?,
            Array::Pad { base, left, value, .. } => match i.checked_sub(*left) {
                Some(k) if k < base.len() => base.get(k)?,
                _ => value.clone(),
            },
            Array::Clamp { base, left, .. } => base.get(i.saturating_sub(*left).min(base.len() - 1))?,
            Array::Concat(a, b) => match i.checked_sub(a.len()) {
                None => a.get(i)?,
                Some(k) => b.get(k)?,
            },
            Array::Gather(is, xs) => {
                let at = is.get(i)?.int();
                xs.get(in_range(at, xs.len())?)?
            }
            Array::Repeat(value, _) => value.clone(),
        })
    }
}

pub(super) fn scalar_at(data: &Data, at: usize) -> Val {
    match data {
        Data::F32(v) => Val::F32(v[at]),
        Data::F64(v) => Val::F64(v[at]),
        Data::I32(v) => Val::I32(v[at]),
        Data::I64(v) => Val::I64(v[at]),
        Data::Bool(v) => Val::Bool(v[at]),
        Data::Pair(a, b) => Val::pair(scalar_at(a, at), scalar_at(b, at)),
        Data::I8(v) => Val::Integer(loops::Value::I8(v[at])),
        Data::U8(v) => Val::Integer(loops::Value::U8(v[at])),
        Data::I16(v) => Val::Integer(loops::Value::I16(v[at])),
        Data::U16(v) => Val::Integer(loops::Value::U16(v[at])),
        Data::U32(v) => Val::Integer(loops::Value::U32(v[at])),
        Data::U64(v) => Val::Integer(loops::Value::U64(v[at])),
        Data::F16(v) => Val::Integer(loops::Value::F16(v[at])),
    }
}

/// The index as a position below `len`.
pub(super) fn in_range(index: i64, len: usize) -> Outcome<usize> {
    match usize::try_from(index) {
        Ok(i) if i < len => Ok(i),
        _ => Err(Fault::new(format!("index {index} is outside an array of length {len}"))),
    }
}

/// Elements `start`, `start + step`, ...; all of them must exist.
pub(super) fn slice(base: &Rc<Array>, start: isize, step: isize, len: usize) -> Val {
    Val::array(match &**base {
        Array::Strided { data, offset, dims } => {
            let first = dims[0];
            let mut dims = dims.clone();
            dims[0] = Dim { len, stride: first.stride * step };
            Array::Strided { data: Rc::clone(data), offset: offset + start * first.stride, dims }
        }
        _ => Array::Slice { base: Rc::clone(base), start, step, len },
    })
}

/// `len` windows of `width`, `step` apart; all elements must exist.
pub(super) fn slices(base: &Rc<Array>, len: usize, width: usize, step: usize) -> Val {
    Val::array(match &**base {
        Array::Strided { data, offset, dims } => {
            let first = dims[0];
            let mut new = vec![
                Dim { len, stride: first.stride * step as isize },
                Dim { len: width, stride: first.stride },
            ];
            new.extend_from_slice(&dims[1..]);
            Array::Strided { data: Rc::clone(data), offset: *offset, dims: new }
        }
        _ => Array::Slices { base: Rc::clone(base), len, width, step },
    })
}

/// Rows of `width` one after another.
pub(super) fn join(base: &Rc<Array>, width: usize) -> Val {
    let len = base.len() * width;
    Val::array(match &**base {
        Array::Strided { data, offset, dims }
            if dims.len() > 1 && dims[0].stride == dims[1].stride * width as isize =>
        {
            let mut new = dims[1..].to_vec();
            new[0].len = len;
            Array::Strided { data: Rc::clone(data), offset: *offset, dims: new }
        }
        _ => Array::Joined { base: Rc::clone(base), width, len },
    })
}

/// Columns of rows that are `len` long.
pub(super) fn transpose(base: &Rc<Array>, len: usize) -> Val {
    Val::array(match &**base {
        Array::Strided { data, offset, dims } if dims.len() > 1 => {
            let mut new = dims.clone();
            new.swap(0, 1);
            Array::Strided { data: Rc::clone(data), offset: *offset, dims: new }
        }
        _ => Array::Transposed { base: Rc::clone(base), len },
    })
}
