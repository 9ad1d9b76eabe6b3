//! Elementwise arithmetic on typed slices. Operands are broadcast. Integers wrap, as everywhere
//! (`loops::value`).

use arith::number::total_trunc_div;
use loops::{Data, Scalar, value::Value};

use super::{Call, broadcast, spread};
use crate::operators::{decode, encode};
use crate::tensor::Tensor;
use crate::types::ElementType;

/// A type of elements with its bytes in a file.
trait Number: Copy {
    const WIDTH: usize;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
}

macro_rules! number {
    ($($ty:ty)*) => {
        $(impl Number for $ty {
            const WIDTH: usize = size_of::<$ty>();

            #[inline(always)]
            fn load(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().unwrap_or([0; size_of::<$ty>()]))
            }

            #[inline(always)]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

number! { f32 f64 i32 i64 }

/// The result of a function of one number.
fn map<T: Number>(x: &Tensor, f: impl Fn(T) -> T) -> Option<Tensor> {
    let bytes = x.bytes()?;
    let mut out = vec![0u8; bytes.len()];
    for (to, from) in out.chunks_exact_mut(T::WIDTH).zip(bytes.chunks_exact(T::WIDTH)) {
        f(T::load(from)).store(to);
    }
    Tensor::raw(x.elem, x.dims.clone(), out.into())
}

/// The result of a function of two numbers.
fn zip<T: Number>(call: &Call, x: &Tensor, y: &Tensor, f: impl Fn(T, T) -> T) -> Option<Tensor> {
    let dims = broadcast(&[&x.dims, &y.dims])?;
    let (a, b) = (x.bytes()?, y.bytes()?);
    let mut out = vec![0u8; call.room(&dims, T::WIDTH)?];
    if !out.is_empty() {
        let plan = Plan::of(&dims, &spread(&x.dims, dims.len()), &spread(&y.dims, dims.len()));
        let mut rows = out.chunks_exact_mut(plan.row * T::WIDTH);
        plan.each(0, 0, 0, &mut |i, j| {
            let Some(row) = rows.next() else { return };
            let words = row.chunks_exact_mut(T::WIDTH);
            let (a, b) = (&a[i * T::WIDTH..], &b[j * T::WIDTH..]);
            match plan.advances {
                Advances::None => {
                    words.for_each(|to| f(T::load(&a[..T::WIDTH]), T::load(&b[..T::WIDTH])).store(to))
                }
                Advances::First => {
                    let y = T::load(&b[..T::WIDTH]);
                    words.zip(a.chunks_exact(T::WIDTH)).for_each(|(to, x)| f(T::load(x), y).store(to));
                }
                Advances::Second => {
                    let x = T::load(&a[..T::WIDTH]);
                    words.zip(b.chunks_exact(T::WIDTH)).for_each(|(to, y)| f(x, T::load(y)).store(to));
                }
                Advances::Both => words
                    .zip(a.chunks_exact(T::WIDTH).zip(b.chunks_exact(T::WIDTH)))
                    .for_each(|(to, (x, y))| f(T::load(x), T::load(y)).store(to)),
            }
        });
    }
    Tensor::raw(x.elem, dims, out.into())
}

/// Which of two operands advances within a row; the other one stays.
#[derive(Clone, Copy)]
enum Advances {
    None,
    First,
    Second,
    Both,
}

/// How two operands are traversed together: in rows.
struct Plan {
    row: usize,
    advances: Advances,
    outer: Vec<(usize, usize, usize)>,
}

impl Plan {
    /// `a`, `b`: the distances of neighbours in the operands; they are 0 or those of elements
    /// without gaps.
    fn of(dims: &[usize], a: &[isize], b: &[isize]) -> Plan {
        // Merges axes along which both operands advance or stay as along the next inner axis.
        let mut merged: Vec<(usize, usize, usize)> = Vec::new();
        for k in (0..dims.len()).rev() {
            let (n, s, t) = (dims[k], a[k] as usize, b[k] as usize);
            if n == 1 {
                continue;
            }
            match merged.last_mut() {
                Some((m, u, v)) if s == *u * *m && t == *v * *m => *m *= n,
                _ => merged.push((n, s, t)),
            }
        }
        merged.reverse();
        let (row, s, t) = merged.pop().unwrap_or((1, 0, 0));
        let advances = match (s, t) {
            (0, 0) => Advances::None,
            (_, 0) => Advances::First,
            (0, _) => Advances::Second,
            _ => Advances::Both,
        };
        Plan { row, advances, outer: merged }
    }

    fn each(&self, depth: usize, i: usize, j: usize, f: &mut dyn FnMut(usize, usize)) {
        match self.outer.get(depth) {
            None => f(i, j),
            Some((n, s, t)) => (0..*n).for_each(|k| self.each(depth + 1, i + k * s, j + k * t, f)),
        }
    }
}

/// `Add`, `Sub`, `Mul`, `Div`.
pub(super) fn binary(op: &str, call: &Call) -> Option<Tensor> {
    let (x, y) = (call.input(0)?, call.input(1)?);
    // Old versions had attributes for broadcasting; their programs know what they mean.
    if x.elem != y.elem || !call.attributes.is_empty() {
        return None;
    }
    macro_rules! float {
        ($ty:ty) => {
            match op {
                "Add" => zip::<$ty>(call, x, y, |a, b| a + b),
                "Sub" => zip::<$ty>(call, x, y, |a, b| a - b),
                "Mul" => zip::<$ty>(call, x, y, |a, b| a * b),
                _ => zip::<$ty>(call, x, y, |a, b| a / b),
            }
        };
    }
    macro_rules! int {
        ($ty:ty) => {
            match op {
                "Add" => zip::<$ty>(call, x, y, <$ty>::wrapping_add),
                "Sub" => zip::<$ty>(call, x, y, <$ty>::wrapping_sub),
                "Mul" => zip::<$ty>(call, x, y, <$ty>::wrapping_mul),
                // By 0 it is 0, as everywhere (docs/arithmetic.md).
                _ => zip::<$ty>(call, x, y, total_trunc_div),
            }
        };
    }
    match x.elem {
        ElementType::F32 => float!(f32),
        ElementType::F64 => float!(f64),
        ElementType::I32 => int!(i32),
        ElementType::I64 => int!(i64),
        _ => None,
    }
}

/// The larger of two numbers, NaN if one of them is; of equal ones the second.
macro_rules! larger {
    ($a:expr, $b:expr) => {
        if $a > $b || $a != $a { $a } else { $b }
    };
}

macro_rules! smaller {
    ($a:expr, $b:expr) => {
        if $a < $b || $a != $a { $a } else { $b }
    };
}

#[allow(clippy::eq_op)] // how NaN is told
fn extreme(call: &Call, least: bool, x: &Tensor, y: &Tensor) -> Option<Tensor> {
    if x.elem != y.elem {
        return None;
    }
    match (x.elem, least) {
        (ElementType::F32, false) => zip::<f32>(call, x, y, |a, b| larger!(a, b)),
        (ElementType::F64, false) => zip::<f64>(call, x, y, |a, b| larger!(a, b)),
        (ElementType::F32, true) => zip::<f32>(call, x, y, |a, b| smaller!(a, b)),
        (ElementType::F64, true) => zip::<f64>(call, x, y, |a, b| smaller!(a, b)),
        (ElementType::I32, false) => zip::<i32>(call, x, y, i32::max),
        (ElementType::I64, false) => zip::<i64>(call, x, y, i64::max),
        (ElementType::I32, true) => zip::<i32>(call, x, y, i32::min),
        (ElementType::I64, true) => zip::<i64>(call, x, y, i64::min),
        _ => None,
    }
}

/// `Max`, `Min` of any number of operands, from the first one on.
pub(super) fn extremes(op: &str, call: &Call) -> Option<Tensor> {
    let inputs: Vec<&Tensor> = call.inputs.iter().copied().collect::<Option<_>>()?;
    let (first, rest) = inputs.split_first()?;
    if rest.is_empty() || !call.attributes.is_empty() {
        return None;
    }
    rest.iter().try_fold((*first).clone(), |all, x| extreme(call, op == "Min", &all, x))
}

/// Numbers beyond a bound become the bound; a NaN stays.
fn bounded(call: &Call, least: bool, x: &Tensor, bound: &Tensor) -> Option<Tensor> {
    if x.elem != bound.elem {
        return None;
    }
    macro_rules! cut {
        ($ty:ty) => {
            match least {
                true => zip::<$ty>(call, x, bound, |v, high| if v > high { high } else { v }),
                false => zip::<$ty>(call, x, bound, |v, low| if v < low { low } else { v }),
            }
        };
    }
    match x.elem {
        ElementType::F32 => cut!(f32),
        ElementType::F64 => cut!(f64),
        ElementType::I32 => cut!(i32),
        ElementType::I64 => cut!(i64),
        _ => None,
    }
}

pub(super) fn clip(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    if !call.attributes.is_empty() {
        return None;
    }
    let mut clipped = x.clone();
    for (k, least) in [(1, false), (2, true)] {
        if let Some(bound) = call.input(k) {
            // A bound is one number, whatever its rank.
            if bound.count() != 1 {
                return None;
            }
            let bound = Tensor { dims: Vec::new(), ..bound.clone() };
            clipped = bounded(call, least, &clipped, &bound)?;
        }
    }
    matches!(x.elem, ElementType::F32 | ElementType::F64 | ElementType::I32 | ElementType::I64)
        .then(|| Tensor { name: None, extra: Default::default(), ..clipped })
}

pub(super) fn unary(op: &str, call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    if !call.attributes.is_empty() {
        return None;
    }
    match (op, x.elem) {
        ("Neg", ElementType::F32) => map::<f32>(x, |a| -a),
        ("Neg", ElementType::F64) => map::<f64>(x, |a| -a),
        ("Neg", ElementType::I32) => map::<i32>(x, i32::wrapping_neg),
        ("Neg", ElementType::I64) => map::<i64>(x, i64::wrapping_neg),
        ("Abs", ElementType::F32) => map::<f32>(x, f32::abs),
        ("Abs", ElementType::F64) => map::<f64>(x, f64::abs),
        ("Abs", ElementType::I32) => map::<i32>(x, i32::wrapping_abs),
        ("Abs", ElementType::I64) => map::<i64>(x, i64::wrapping_abs),
        ("Sqrt", ElementType::F32) => map::<f32>(x, f32::sqrt),
        ("Sqrt", ElementType::F64) => map::<f64>(x, f64::sqrt),
        ("Reciprocal", ElementType::F32) => map::<f32>(x, |a| 1.0 / a),
        ("Reciprocal", ElementType::F64) => map::<f64>(x, |a| 1.0 / a),
        _ => None,
    }
}

/// Conversion, number by number, by its one definition. Numbers that the type cannot hold have no
/// result here.
pub(super) fn cast(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let to = ElementType::from_code(i32::try_from(call.int("to", 0)?).ok()?);
    if x.elem == to {
        crate::operators::carrier(to)?;
        return x.bytes().map(|_| super::view(x, x.dims.clone()));
    }
    let exact = |elem: ElementType| {
        use ElementType::*;
        matches!(elem, F32 | F64 | I32 | I64 | Bool)
    };
    if !exact(x.elem) || !exact(to) {
        return None;
    }
    let scalar = to.scalar()?;
    let value = decode(x)?;
    macro_rules! all {
        ($list:expr, $from:ident) => {
            converted($list.iter().map(|v| Value::$from(*v)), scalar)
        };
    }
    let data = match &value.data {
        Data::F32(v) => all!(v, F32),
        Data::F64(v) => all!(v, F64),
        Data::I32(v) => all!(v, I32),
        Data::I64(v) => all!(v, I64),
        Data::Bool(v) => all!(v, Bool),
        _ => None,
    }?;
    encode(to, &loops::Tensor { shape: value.shape, data })
}

fn converted(values: impl Iterator<Item = Value>, to: Scalar) -> Option<Data> {
    macro_rules! into {
        ($variant:ident) => {
            Data::$variant(
                values
                    .map(|v| match v.cast(to) {
                        Value::$variant(v) => Some(v),
                        _ => None,
                    })
                    .collect::<Option<_>>()?,
            )
        };
    }
    Some(match to {
        Scalar::F32 => into!(F32),
        Scalar::F64 => into!(F64),
        Scalar::I32 => into!(I32),
        Scalar::I64 => into!(I64),
        Scalar::Bool => into!(Bool),
        _ => return None,
    })
}
