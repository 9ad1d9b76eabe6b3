//! Elementwise operators, with and without broadcasting.

use super::call::{Call, Found, broadcast, one, typed};
use crate::types::{ElementType, Shape, TensorType};

/// The type of the first input.
pub(super) fn same(call: &Call) -> Found {
    Ok(vec![call.value_type(0).cloned()])
}

/// The shape of the first input with another element type.
pub(super) fn with_elem(call: &Call, elem: Option<ElementType>) -> Found {
    one(typed(elem, call.shape(0).cloned()))
}

/// The shape of all inputs broadcast together, if all are known.
pub(super) fn broadcast_all(call: &Call, inputs: std::ops::Range<usize>) -> Result<Option<Shape>, String> {
    let mut shape = Shape::new();
    for k in inputs {
        match call.shape(k) {
            Some(other) => shape = broadcast(&shape, other)?,
            None => return Ok(None),
        }
    }
    Ok(Some(shape))
}

/// Before version 7 the second operand could begin at an axis of the first. Nothing behind
/// inference knows that, and where extents are equal the result would only be wrong.
fn not_at_an_axis(call: &Call) -> Result<(), String> {
    if call.opset < 7 && call.node.attribute("axis").is_some() {
        return Err("has an attribute `axis`, as operators before version 7 could: convert the model to a newer operator set".into());
    }
    Ok(())
}

/// Arithmetic on two or more operands of one type.
pub(super) fn arithmetic(call: &Call) -> Found {
    not_at_an_axis(call)?;
    let inputs = call.node.inputs().len();
    let elem = (0..inputs).find_map(|k| call.elem(k));
    same_elements(call, 0..inputs)?;
    one(typed(elem, broadcast_all(call, 0..inputs)?))
}

/// `Pow`, `BitShift`: the type of the first operand.
pub(super) fn of_first(call: &Call) -> Found {
    not_at_an_axis(call)?;
    one(typed(call.elem(0), broadcast_all(call, 0..2)?))
}

/// Comparisons.
pub(super) fn comparison(call: &Call) -> Found {
    not_at_an_axis(call)?;
    same_elements(call, 0..2)?;
    one(typed(Some(ElementType::Bool), broadcast_all(call, 0..2)?))
}

pub(super) fn select(call: &Call) -> Found {
    if call.elem(0).is_some_and(|e| e != ElementType::Bool) {
        return Err("has a condition that is not of type bool".into());
    }
    same_elements(call, 1..3)?;
    one(typed(call.elem(1).or(call.elem(2)), broadcast_all(call, 0..3)?))
}

fn same_elements(call: &Call, inputs: std::ops::Range<usize>) -> Result<(), String> {
    let mut known = inputs.filter_map(|k| call.elem(k));
    let Some(first) = known.next() else { return Ok(()) };
    match known.find(|e| *e != first) {
        Some(other) => Err(format!("has operands of types {first} and {other}")),
        None => Ok(()),
    }
}

/// The element type that an attribute names.
pub(super) fn attribute_type(call: &Call, name: &str) -> Option<ElementType> {
    let code = call.node.attribute(name)?.int()?;
    Some(ElementType::from_code(i32::try_from(code).ok()?))
}

pub(super) fn cast(call: &Call) -> Found {
    with_elem(call, attribute_type(call, "to"))
}

pub(super) fn cast_like(call: &Call) -> Found {
    with_elem(call, call.elem(1))
}

/// The shape of the first input, with the type of an attribute or of that input.
pub(super) fn random_like(call: &Call) -> Found {
    with_elem(call, attribute_type(call, "dtype").or(call.elem(0)))
}

pub(super) fn random(call: &Call) -> Found {
    let shape = call.node.ints("shape").map(|s| s.iter().map(|d| (*d).into()).collect());
    one(typed(Some(attribute_type(call, "dtype").unwrap_or(ElementType::F32)), shape))
}

pub(super) fn dropout(call: &Call) -> Found {
    let mask = if call.opset >= 10 { Some(ElementType::Bool) } else { call.elem(0) };
    let mask = typed(mask, call.shape(0).cloned());
    Ok(vec![call.value_type(0).cloned(), mask.map(Into::into)])
}

pub(super) fn quantize(call: &Call) -> Found {
    let elem = call.elem(2).or_else(|| attribute_type(call, "output_dtype").filter(|e| e.code() != 0));
    let elem = elem.or((!call.has(2)).then_some(ElementType::U8));
    with_elem(call, elem)
}

pub(super) fn dequantize(call: &Call) -> Found {
    with_elem(call, attribute_type(call, "output_dtype").filter(|e| e.code() != 0).or(call.elem(1)))
}

pub(super) fn dynamic_quantize(call: &Call) -> Found {
    let scalar = |elem| Some(TensorType { elem, shape: Some(Shape::new()) }.into());
    let first = typed(Some(ElementType::U8), call.shape(0).cloned());
    Ok(vec![first.map(Into::into), scalar(ElementType::F32), scalar(ElementType::U8)])
}

/// Normalization over trailing or channel axes: the first result is as the input.
pub(super) fn batch_normalization(call: &Call) -> Found {
    if call.rank(0).is_some_and(|r| r == 0) {
        return Err("has an input without a batch dimension".into());
    }
    if let (Some(shape), Some(scale)) = (call.shape(0), call.shape(1))
        && let ([_, channels, ..], [length]) = (shape.as_slice(), scale.as_slice())
        && channels.surely_differs(length)
    {
        return Err(format!("has {channels} channels and a scale of {length}"));
    }
    let statistic = |k: usize| call.ty(k).cloned().map(Into::into);
    let mut results = vec![call.value_type(0).cloned(), statistic(3), statistic(4)];
    results.truncate(call.node.outputs().len().max(1));
    Ok(results)
}

pub(super) fn layer_normalization(call: &Call) -> Found {
    let stash = attribute_type(call, "stash_type").unwrap_or(ElementType::F32);
    let statistics = match call.shape(0) {
        Some(shape) => {
            let from = super::call::axis(call.node.int("axis", -1), shape.len())?;
            let kept = shape.iter().enumerate().map(|(k, d)| if k < from { d.clone() } else { 1.into() });
            Some(kept.collect::<Shape>())
        }
        None => None,
    };
    let statistics = typed(Some(stash), statistics).map(Into::into);
    let mut results = vec![call.value_type(0).cloned(), statistics.clone(), statistics];
    if call.node.op().is("RMSNormalization") {
        results.truncate(1);
    }
    Ok(results)
}
