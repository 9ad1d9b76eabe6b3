//! Values at the interface: tensors in and out, and the dense form that patterns make.

use std::rc::Rc;

use loops::{Data, Elem, Name, Scalar, Size, Tensor};

use super::array::{Array, Dim, Stored, Ty, Val, scalar_at};
use super::{Fault, Frame, Outcome, Tally};
use crate::types::DataType;

/// An argument or a result of a definition.
///
/// Arrays (of any rank) of numbers, or of pairs of numbers, are one tensor. The lanes of a vector
/// are its last dimension. If a pair contains an array, the value is a pair of values, and the
/// dimensions around the pair go into both: a value of type `[n]([m]f32, i64)` is the pair of a
/// tensor of shape `n x m` and one of shape `n`. Indices are `i64`.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Numbers, or pairs of numbers.
    Tensor(Tensor),
    /// A pair with arrays in it, or what arrays of such pairs hold.
    Pair(Box<Value>, Box<Value>),
}

impl Value {
    /// One double-precision number.
    pub fn f64(value: f64) -> Value {
        Value::Tensor(Tensor { shape: vec![], data: Data::F64(vec![value]) })
    }

    /// One single-precision number.
    pub fn f32(value: f32) -> Value {
        Value::Tensor(Tensor { shape: vec![], data: Data::F32(vec![value]) })
    }

    /// One integer.
    pub fn i64(value: i64) -> Value {
        Value::Tensor(Tensor { shape: vec![], data: Data::I64(vec![value]) })
    }

    /// One array of double-precision numbers.
    pub fn f64s(values: &[f64]) -> Value {
        Value::Tensor(Tensor { shape: vec![values.len()], data: Data::F64(values.to_vec()) })
    }

    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(t) => Some(t),
            Value::Pair(..) => None,
        }
    }
}

/// The element type of arrays whose innermost elements have this type, if they are one tensor.
fn elem(ty: &Ty) -> Option<Elem> {
    match ty {
        Ty::Scalar(s) => Some(Elem::Scalar(*s)),
        Ty::Pair(a, b) => Some(Elem::pair(elem(a)?, elem(b)?)),
        Ty::Array(..) => None,
    }
}

/// The dimensions around a type and what is in them.
fn dims(ty: &Ty) -> (Vec<usize>, &Ty) {
    let (mut shape, mut inner) = (Vec::new(), ty);
    while let Ty::Array(n, t) = inner {
        shape.push(*n);
        inner = t;
    }
    (shape, inner)
}

fn wrap(shape: &[usize], ty: &Ty) -> Ty {
    shape.iter().rev().fold(ty.clone(), |ty, n| Ty::Array(*n, Rc::new(ty)))
}

/// Whether a value has this type; `declared` is the type with its symbolic sizes, for indices and
/// the message.
pub(super) fn check(
    value: &Value,
    declared: &DataType,
    ty: &Ty,
    sizes: &dyn Fn(&Name) -> Option<i64>,
) -> Result<(), String> {
    fits(value, ty).map_err(|what| format!("must be {declared}: {what}"))?;
    match bounds(declared, sizes) {
        bounds if bounds.iter().all(Option::is_none) => Ok(()),
        bounds => {
            let mut columns = Vec::new();
            collect_columns(value, &mut columns);
            for (column, bound) in columns.into_iter().zip(bounds) {
                let (Data::I64(indices), Some(bound)) = (column, bound) else { continue };
                if let Some(bad) = indices.iter().find(|i| !(0..bound).contains(*i)) {
                    return Err(format!("has the index {bad}, which is not below {bound}"));
                }
            }
            Ok(())
        }
    }
}

/// For each column of a value of this type: the bound of its indices.
fn bounds(ty: &DataType, sizes: &dyn Fn(&Name) -> Option<i64>) -> Vec<Option<i64>> {
    match ty {
        DataType::Scalar(_) | DataType::Vector(..) => vec![None],
        DataType::Idx(n) => vec![n.eval(sizes).ok()],
        DataType::Array(_, t) => bounds(t, sizes),
        DataType::Pair(a, b) => {
            let mut all = bounds(a, sizes);
            all.extend(bounds(b, sizes));
            all
        }
    }
}

fn collect_columns<'v>(value: &'v Value, columns: &mut Vec<&'v Data>) {
    fn data<'v>(d: &'v Data, columns: &mut Vec<&'v Data>) {
        match d {
            Data::Pair(a, b) => {
                data(a, columns);
                data(b, columns);
            }
            _ => columns.push(d),
        }
    }
    match value {
        Value::Tensor(t) => data(&t.data, columns),
        Value::Pair(a, b) => {
            collect_columns(a, columns);
            collect_columns(b, columns);
        }
    }
}

fn fits(value: &Value, ty: &Ty) -> Result<(), String> {
    let (shape, inner) = dims(ty);
    match (value, elem(inner), inner) {
        (Value::Tensor(t), Some(elem), _) => {
            if t.data.elem() != elem {
                return Err(format!("the elements are {}, not {elem}", t.data.elem()));
            }
            if t.shape != shape {
                return Err(format!("the shape is {:?}, not {shape:?}", t.shape));
            }
            let count = shape.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
            match count {
                Some(count) if even(&t.data, count) => Ok(()),
                _ => Err("the number of elements is not the product of the shape".to_string()),
            }
        }
        (Value::Pair(a, b), None, Ty::Pair(s, t)) => {
            fits(a, &wrap(&shape, s))?;
            fits(b, &wrap(&shape, t))
        }
        (Value::Tensor(_), None, _) => Err("a pair of arrays is needed".to_string()),
        (Value::Pair(..), _, _) => Err("one array is needed, not a pair of arrays".to_string()),
    }
}

fn even(data: &Data, count: usize) -> bool {
    match data {
        Data::Pair(a, b) => even(a, count) && even(b, count),
        other => other.len() == count,
    }
}

/// The value as the evaluator works on it; it has been checked.
pub(super) fn load(value: &Value, ty: &Ty, tally: &Rc<Tally>) -> Outcome<Val> {
    let (shape, inner) = dims(ty);
    match (value, inner) {
        (Value::Tensor(t), _) => {
            let count = ty.numbers();
            tally.take(count)?;
            Ok(dense(t.data.clone(), &shape, count, tally))
        }
        (Value::Pair(a, b), Ty::Pair(s, t)) => {
            let first = load(a, &wrap(&shape, s), tally)?;
            let second = load(b, &wrap(&shape, t), tally)?;
            Ok(zip(shape.len(), first, second))
        }
        _ => unreachable!("the value has been checked"),
    }
}

fn zip(depth: usize, first: Val, second: Val) -> Val {
    match depth {
        0 => Val::pair(first, second),
        _ => Val::array(Array::Zip(depth, Rc::clone(first.elements()), Rc::clone(second.elements()))),
    }
}

/// Elements in row-major order, whose numbers have been taken from the tally.
fn dense(data: Data, shape: &[usize], count: u64, tally: &Rc<Tally>) -> Val {
    if shape.is_empty() {
        tally.give(count);
        return scalar_at(&data, 0);
    }
    let mut stride = 1isize;
    let mut dims: Vec<Dim> = shape
        .iter()
        .rev()
        .map(|len| {
            let dim = Dim { len: *len, stride };
            stride = stride.saturating_mul(*len as isize);
            dim
        })
        .collect();
    dims.reverse();
    Val::array(Array::Strided { data: Stored::new(data, count, tally), offset: 0, dims })
}

/// Adds an integer of one of the types that have no variant of their own.
fn push_integer(column: &mut Data, value: loops::Value) {
    match (column, value) {
        (Data::I8(v), loops::Value::I8(x)) => v.push(x),
        (Data::U8(v), loops::Value::U8(x)) => v.push(x),
        (Data::I16(v), loops::Value::I16(x)) => v.push(x),
        (Data::U16(v), loops::Value::U16(x)) => v.push(x),
        (Data::U32(v), loops::Value::U32(x)) => v.push(x),
        (Data::U64(v), loops::Value::U64(x)) => v.push(x),
        (Data::F16(v), loops::Value::F16(x)) => v.push(x),
        (_, other) => unreachable!("the evaluator keeps types, but met {other}"),
    }
}

/// Values being put one after another into dense columns.
pub(super) enum Builder {
    Column(Data),
    Pair(Box<Builder>, Box<Builder>),
}

impl Builder {
    /// Columns with room for `count` values of the type. The tally must already include the
    /// numbers.
    fn columns(ty: &Ty, count: usize) -> Builder {
        let (shape, inner) = dims(ty);
        let count = shape.iter().fold(count, |product, n| product.saturating_mul(*n));
        match inner {
            Ty::Scalar(s) => Builder::Column(match s {
                Scalar::F32 => Data::F32(Vec::with_capacity(count)),
                Scalar::F64 => Data::F64(Vec::with_capacity(count)),
                Scalar::I32 => Data::I32(Vec::with_capacity(count)),
                Scalar::I64 => Data::I64(Vec::with_capacity(count)),
                Scalar::Bool => Data::Bool(Vec::with_capacity(count)),
                Scalar::I8 => Data::I8(Vec::with_capacity(count)),
                Scalar::U8 => Data::U8(Vec::with_capacity(count)),
                Scalar::I16 => Data::I16(Vec::with_capacity(count)),
                Scalar::U16 => Data::U16(Vec::with_capacity(count)),
                Scalar::U32 => Data::U32(Vec::with_capacity(count)),
                Scalar::U64 => Data::U64(Vec::with_capacity(count)),
                Scalar::F16 => Data::F16(Vec::with_capacity(count)),
            }),
            Ty::Pair(a, b) => {
                Builder::Pair(Box::new(Builder::columns(a, count)), Box::new(Builder::columns(b, count)))
            }
            Ty::Array(..) => unreachable!("dimensions are stripped"),
        }
    }

    fn push(&mut self, value: &Val, ty: &Ty) -> Outcome<()> {
        match (self, value) {
            (Builder::Column(Data::F64(v)), Val::F64(x)) => v.push(*x),
            (Builder::Column(Data::F32(v)), Val::F32(x)) => v.push(*x),
            (Builder::Column(Data::I32(v)), Val::I32(x)) => v.push(*x),
            (Builder::Column(Data::I64(v)), Val::I64(x)) => v.push(*x),
            (Builder::Column(Data::Bool(v)), Val::Bool(x)) => v.push(*x),
            (Builder::Column(column), Val::Integer(x)) => push_integer(column, *x),
            // There may be any number of empty rows.
            (builder, Val::Array(array)) => match ty {
                Ty::Array(_, row) if row.numbers() > 0 => {
                    for i in 0..array.len() {
                        builder.push(&array.get(i)?, row)?;
                    }
                }
                _ => {}
            },
            (Builder::Pair(a, b), Val::Pair(p)) => {
                let Ty::Pair(s, t) = ty else { unreachable!("the evaluator keeps types") };
                a.push(&p.0, s)?;
                b.push(&p.1, t)?;
            }
            (_, other) => unreachable!("the evaluator keeps types, but met {other:?}"),
        }
        Ok(())
    }

    fn into_data(self) -> Data {
        match self {
            Builder::Column(data) => data,
            Builder::Pair(a, b) => Data::Pair(Box::new(a.into_data()), Box::new(b.into_data())),
        }
    }

    fn finish(self, shape: &[usize], ty: &Ty, tally: &Rc<Tally>) -> Val {
        let (more, inner) = dims(ty);
        let shape: Vec<usize> = shape.iter().copied().chain(more).collect();
        match (elem(inner), inner, self) {
            (Some(_), _, builder) => {
                let count = wrap(&shape, inner).numbers();
                dense(builder.into_data(), &shape, count, tally)
            }
            (None, Ty::Pair(s, t), Builder::Pair(a, b)) => {
                let (a, b) = (a.finish(&shape, s, tally), b.finish(&shape, t, tally));
                zip(shape.len(), a, b)
            }
            _ => unreachable!("builders have the shape of the type"),
        }
    }

    fn into_value(self, ty: &Ty, outer: &[usize]) -> Value {
        let (more, inner) = dims(ty);
        let shape: Vec<usize> = outer.iter().copied().chain(more).collect();
        match (elem(inner), inner, self) {
            (Some(_), _, builder) => Value::Tensor(Tensor { shape, data: builder.into_data() }),
            (None, Ty::Pair(s, t), Builder::Pair(a, b)) => {
                Value::Pair(Box::new(a.into_value(s, &shape)), Box::new(b.into_value(t, &shape)))
            }
            _ => unreachable!("builders have the shape of the type"),
        }
    }
}

/// The dense array of `len` values of type `elem`, made by `f` in order.
pub(super) fn collect(
    len: usize,
    elem: &Ty,
    frame: &mut Frame,
    mut f: impl FnMut(&mut Frame, usize) -> Outcome<Val>,
) -> Outcome<Val> {
    let numbers = (len as u64).saturating_mul(elem.numbers());
    if len as u64 > frame.tally.limit {
        return Err(Fault::limit(format!("makes an array of {len} elements")));
    }
    frame.tally.take(numbers)?;
    frame.step(numbers.max(len as u64))?;
    let mut builder = Builder::columns(elem, len);
    for i in 0..len {
        let value = f(frame, i)?;
        builder.push(&value, elem)?;
    }
    Ok(builder.finish(&[len], elem, &frame.tally))
}

/// The same value without lazy views in it.
pub(super) fn force(value: Val, ty: &Ty, frame: &mut Frame) -> Outcome<Val> {
    match (&value, ty) {
        (Val::Array(array), Ty::Array(n, t)) => match &**array {
            Array::Strided { .. } => Ok(value),
            _ => collect(*n, t, frame, |_, i| array.get(i)),
        },
        (Val::Pair(p), Ty::Pair(a, b)) => match (&**a, &**b) {
            (Ty::Scalar(_), Ty::Scalar(_)) => Ok(value),
            _ => Ok(Val::pair(force(p.0.clone(), a, frame)?, force(p.1.clone(), b, frame)?)),
        },
        _ => Ok(value),
    }
}

/// The value as a result.
pub(super) fn store(value: &Val, ty: &Ty, frame: &mut Frame) -> Outcome<Value> {
    frame.tally.take(ty.numbers())?;
    let mut builder = Builder::columns(ty, 1);
    builder.push(value, ty)?;
    Ok(builder.into_value(ty, &[]))
}

/// The length that a size gives, or why it gives none.
pub(super) fn length(size: &Size, sizes: &dyn Fn(&Name) -> Option<i64>) -> Result<usize, String> {
    match size.eval(sizes) {
        Ok(value) => usize::try_from(value).map_err(|_| format!("the size {size} is negative: {value}")),
        Err(error) => Err(format!("the size {size} has no value: {error}")),
    }
}
