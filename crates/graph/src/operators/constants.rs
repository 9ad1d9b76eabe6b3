//! Operators that make tensors from their attributes and from shapes.

use loops::Size;

use super::build::{Extents, product, reshape};
use super::value::{Val, int, number, size, truth};
use super::{Done, Input, Op, Refusal, carrier, decode};
use crate::tensor::Tensor;
use crate::types::ElementType;

pub(super) fn shape(op: &mut Op) -> Done {
    let Some(operand) = op.operand(0) else { return Err(Refusal::inputs("input 0 is missing")) };
    let rank = operand.shape.len() as i64;
    let place = |v: i64| (if v < 0 { v + rank } else { v }).clamp(0, rank);
    let (start, end) = (place(op.int("start", 0)), place(op.int("end", rank)));
    let sizes = &operand.shape[start as usize..end.max(start) as usize];
    let values: Vec<Val> = sizes.iter().map(size).collect();
    let val = list(op, &values);
    op.result(val, ElementType::I64, vec![Size::constant(values.len() as i64)]);
    Ok(())
}

/// An array of these numbers of type `i64`.
fn list(op: &mut Op, values: &[Val]) -> Val {
    let n = Size::constant(values.len() as i64);
    let values = values.to_vec();
    op.cx.generate(&n, |_, i| {
        let i = i.int();
        let mut all = values.into_iter().enumerate().rev();
        let last = all.next().map_or_else(|| int(0), |(_, v)| v);
        all.fold(last, |rest, (k, v)| v.when(&i.eq(&int(k as i64)), &rest))
    })
}

pub(super) fn size_op(op: &mut Op) -> Done {
    let Some(operand) = op.operand(0) else { return Err(Refusal::inputs("input 0 is missing")) };
    op.result(size(&product(&operand.shape)), ElementType::I64, vec![]);
    Ok(())
}

/// The tensor as a program that makes it: a table of its elements.
fn literal(op: &mut Op, tensor: &Tensor) -> Done {
    let elem = tensor.elem;
    let Some(value) = decode(tensor) else {
        return Err(Refusal::types(format!("a constant with elements of type {elem}")));
    };
    let shape: Extents = tensor.dims.iter().map(|n| Size::constant(*n as i64)).collect();
    let scalar = carrier(elem).unwrap_or(loops::Scalar::F32);
    let elements: Vec<Val> = match value.data {
        loops::Data::F32(v) => v.iter().map(|x| number(scalar, f64::from(*x))).collect(),
        loops::Data::F64(v) => v.iter().map(|x| number(scalar, *x)).collect(),
        loops::Data::I32(v) => v.iter().map(|x| number(scalar, f64::from(*x))).collect(),
        loops::Data::I64(v) => v.iter().map(|x| int(*x)).collect(),
        loops::Data::Bool(v) => v.iter().map(|x| truth(*x)).collect(),
        other => return Err(Refusal::types(format!("a constant of type {}", other.elem()))),
    };
    const MOST: usize = 1 << 12;
    if elements.len() > MOST {
        return Err(Refusal::inputs(format!(
            "a constant of {} elements must be an initializer",
            elements.len()
        )));
    }
    let n = Size::constant(elements.len() as i64);
    let flat = op.cx.generate(&n, |_, i| {
        let i = i.int();
        choose(&i, &elements, 0)
    });
    let val = reshape(&mut op.cx, &flat, &[n], &shape);
    op.result(val, elem, shape);
    Ok(())
}

/// Element `i - first` of a table, by bisection.
fn choose(i: &Val, table: &[Val], first: i64) -> Val {
    match table {
        [] => int(0),
        [one] => one.clone(),
        _ => {
            let half = table.len() / 2;
            let middle = first + half as i64;
            choose(i, &table[..half], first).when(&i.lt(&int(middle)), &choose(i, &table[half..], middle))
        }
    }
}

pub(super) fn constant(op: &mut Op) -> Done {
    if let Some(tensor) = op.attribute("value").and_then(|a| a.tensor()) {
        let tensor = tensor.clone();
        return literal(op, &tensor);
    }
    if let Some(x) = op.attribute("value_float").and_then(|a| a.float()) {
        return literal(op, &Tensor::scalar_f32(x));
    }
    if let Some(x) = op.attribute("value_int").and_then(|a| a.int()) {
        return literal(op, &Tensor::scalar_i64(x));
    }
    if let Some(x) = op.attribute("value_floats").and_then(|a| a.floats()) {
        return literal(op, &Tensor::from_f32s(vec![x.len()], x));
    }
    if let Some(x) = op.ints("value_ints") {
        return literal(op, &Tensor::from_i64s(vec![x.len()], x));
    }
    Err(Refusal::types("a constant of strings, or without a value"))
}

pub(super) fn constant_of_shape(op: &mut Op) -> Done {
    let shape = op.size_elements(0)?.ok_or_else(|| Refusal::inputs("input 0 is missing"))?;
    let (elem, value) = match op.attribute("value").and_then(|a| a.tensor()) {
        None => (ElementType::F32, 0.0),
        Some(tensor) => {
            let numbers = super::storage_type::numbers(tensor);
            match numbers.as_deref() {
                Some([value]) => (tensor.elem, *value),
                _ => return Err(Refusal::inputs("`value` must be one number")),
            }
        }
    };
    let Some(scalar) = carrier(elem) else {
        return Err(Refusal::types(format!("elements of type {elem}")));
    };
    op.tensor_exact(elem, &shape, &mut |_, _| number(scalar, value));
    Ok(())
}

/// The limit of a range from 0 in steps of 1, if it follows from extents.
fn open_limit(op: &Op) -> Option<Size> {
    let one = |k: usize| match op.size_elements(k) {
        Ok(Some(sizes)) if sizes.len() == 1 => sizes.into_iter().next(),
        _ => None,
    };
    let (start, limit, step) = (one(0)?, one(1)?, one(2)?);
    let counts = start == Size::constant(0) && step == Size::constant(1);
    (counts && limit.as_constant().is_none()).then_some(limit)
}

pub(super) fn range(op: &mut Op) -> Done {
    if let Some(limit) = open_limit(op) {
        let start = op.input(0)?;
        op.tensor(start.elem, &[limit], &mut |_, place| place[0].int().to(start.scalar()));
        return Ok(());
    }
    let mut numbers = Vec::new();
    for k in 0..3 {
        match op.constant_numbers(k)?.as_deref() {
            Some([value]) => numbers.push(*value),
            _ => return Err(Refusal::inputs(format!("input {k} must be one number"))),
        }
    }
    let (start, step) = (op.input(0)?, op.input(2)?);
    let count = ((numbers[1] - numbers[0]) / numbers[2]).ceil().max(0.0);
    if !count.is_finite() || count > 1e12 {
        return Err(Refusal::inputs("the range has no end"));
    }
    let shape = vec![Size::constant(count as i64)];
    let one = |x: &Input| x.at(&vec![int(0); x.rank()]);
    op.tensor(start.elem, &shape, &mut |_, place| {
        let i = place[0].int().to(start.scalar());
        one(&start) + i * one(&step)
    });
    Ok(())
}

pub(super) fn eye_like(op: &mut Op) -> Done {
    let Some(operand) = op.operand(0) else { return Err(Refusal::inputs("input 0 is missing")) };
    let elem = match op.attribute("dtype").and_then(|a| a.int()) {
        Some(code) => ElementType::from_code(code as i32),
        None => operand.elem,
    };
    let Some(scalar) = carrier(elem) else {
        return Err(Refusal::types(format!("elements of type {elem}")));
    };
    let k = op.int("k", 0);
    let shape = operand.shape.clone();
    if shape.len() != 2 {
        return Err(Refusal::inputs("a matrix is needed"));
    }
    op.tensor_exact(elem, &shape, &mut |_, at| {
        number(scalar, 1.0).when(&(at[0].int() + int(k)).eq(&at[1].int()), &number(scalar, 0.0))
    });
    Ok(())
}
