//! Splits and concatenates tensors along an axis, and reads the numbers that control flow needs.

use std::sync::Arc;

use loops::Diagnostic;

use super::{Datum, ELEMENT, Scope, fault, out_of_memory};
use crate::graph::{Graph, Node};
use crate::tensor::Tensor;
use crate::types::{ElementType, TensorType};

/// The inputs of a body, by name.
pub(super) fn named(graph: &Graph, given: Vec<Datum>) -> Result<Scope, Diagnostic> {
    if given.len() != graph.inputs().len() {
        return Err(fault(format!("a body takes {} inputs, not {}", graph.inputs().len(), given.len())));
    }
    Ok(graph.inputs().iter().zip(given).map(|(id, d)| (graph.value(*id).name().clone(), d)).collect())
}

/// The one integer or truth value of a tensor.
pub(super) fn first_int(datum: &Datum) -> Result<i64, Diagnostic> {
    let tensor = datum.tensor().ok_or_else(|| fault("a number is needed"))?;
    let first = match tensor.elem {
        ElementType::Bool => tensor.to_bools().and_then(|v| v.first().map(|b| i64::from(*b))),
        _ => tensor.to_ints().and_then(|v| v.first().copied()),
    };
    first.ok_or_else(|| fault("a number is needed"))
}

/// Elements of a fixed number of bytes.
pub(super) fn width(tensor: &Tensor) -> Result<usize, Diagnostic> {
    match tensor.elem.bits() {
        bits if bits >= 8 => Ok(bits / 8),
        _ => Err(fault(format!("elements of type {} can't be cut or put together here", tensor.elem))),
    }
}

/// The part of a tensor with index `at` along an axis, without that axis.
pub(super) fn slice(datum: &Datum, axis: usize, at: usize) -> Result<Datum, Diagnostic> {
    let tensor = datum.tensor().ok_or_else(|| fault("a tensor is needed"))?;
    if axis >= tensor.dims.len() {
        return Err(fault("there is no such axis"));
    }
    let mut dims = tensor.dims.clone();
    dims.remove(axis);
    cut(tensor, axis, at, 1, dims)
}

/// `count` slices from `start` on along an axis, with these extents.
pub(super) fn cut(
    tensor: &Tensor,
    axis: usize,
    start: usize,
    count: usize,
    dims: Vec<usize>,
) -> Result<Datum, Diagnostic> {
    let width = width(tensor)?;
    let bytes = tensor.bytes().ok_or_else(|| fault("elements that are not available"))?;
    let inner: usize = tensor.dims[axis + 1..].iter().product::<usize>() * width;
    let outer: usize = tensor.dims[..axis].iter().product();
    let length = tensor.dims[axis];
    let wanted = outer * count * inner;
    let mut out = Vec::with_capacity(wanted);
    // There may be very many times nothing.
    for o in 0..if wanted == 0 { 0 } else { outer } {
        let from = (o * length + start) * inner;
        out.extend_from_slice(&bytes[from..from + count * inner]);
    }
    Tensor::raw(tensor.elem, dims, out.into()).map(Datum::from).ok_or_else(|| fault("a slice"))
}

/// Stacks tensors of equal extents along a new axis, or concatenates them along an existing one.
/// The result may have at most `room` bytes.
pub(super) fn stack(
    list: &[Datum],
    axis: usize,
    join: bool,
    of: Option<&TensorType>,
    room: u64,
) -> Result<Datum, Diagnostic> {
    let tensors: Vec<&Arc<Tensor>> = list
        .iter()
        .map(|d| d.tensor().ok_or_else(|| fault("a tensor is needed")))
        .collect::<Result<_, _>>()?;
    let Some(first) = tensors.first() else {
        // An empty list has no parts. Their known type gives the extents of the result.
        let elem = of.map_or(ElementType::F32, |t| t.elem);
        let mut dims =
            of.and_then(TensorType::known_shape).filter(|dims| axis <= dims.len()).unwrap_or_default();
        dims.insert(axis.min(dims.len()), 0);
        let empty = Tensor::raw(elem, dims, Default::default());
        return empty.map(Datum::from).ok_or_else(|| fault("an empty result"));
    };
    let width = width(first)?;
    if axis > first.dims.len() || (join && axis == first.dims.len()) {
        return Err(fault("there is no such axis"));
    }
    if tensors.iter().any(|t| t.dims.len() != first.dims.len() || t.elem != first.elem) {
        return Err(fault("parts of different ranks or types"));
    }
    let wanted: u64 = tensors.iter().map(|t| t.bytes().map_or(0, |b| b.len() as u64)).sum();
    if wanted > room {
        return Err(out_of_memory(wanted, room));
    }
    let outer: usize = first.dims[..axis].iter().product();
    let mut out = Vec::new();
    for o in 0..if wanted == 0 { 0 } else { outer } {
        for tensor in &tensors {
            let bytes = tensor.bytes().ok_or_else(|| fault("elements that are not available"))?;
            let chunk = tensor.dims[axis..].iter().product::<usize>() * width;
            let part = bytes.get(o * chunk..(o + 1) * chunk);
            out.extend_from_slice(part.ok_or_else(|| fault("parts of different extents"))?);
        }
    }
    let mut dims = first.dims.clone();
    match join {
        true => {
            let all = tensors.iter().try_fold(0usize, |sum, t| sum.checked_add(t.dims[axis]));
            dims[axis] = all.ok_or_else(|| fault("an extent that is too large"))?;
        }
        false => dims.insert(axis, tensors.len()),
    }
    Tensor::raw(first.elem, dims, out.into())
        .map(Datum::from)
        .ok_or_else(|| fault("parts of different extents"))
}

/// The parts of a tensor along an axis, as a sequence of at most `room` bytes.
pub(super) fn split(
    node: &Node,
    datum: &Datum,
    parts: Option<&Datum>,
    room: u64,
) -> Result<Datum, Diagnostic> {
    let tensor = datum.tensor().ok_or_else(|| fault("a tensor is needed"))?;
    let rank = tensor.dims.len() as i64;
    let axis = node.int("axis", 0);
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).map_err(|_| fault("an axis"))?;
    let length = *tensor.dims.get(axis).ok_or_else(|| fault("there is no such axis"))?;
    let wanted = (length as u64).saturating_mul(ELEMENT);
    if wanted > room {
        return Err(out_of_memory(wanted, room));
    }
    let (parts, keep) = match parts.and_then(Datum::tensor) {
        None => (vec![1; length], node.int("keepdims", 1) != 0),
        Some(given) => {
            let ints = given.to_ints().ok_or_else(|| fault("integers are needed"))?;
            match (given.dims.is_empty(), ints.first()) {
                (true, Some(width)) if *width > 0 => {
                    let width = *width as usize;
                    (
                        (0..length.div_ceil(width)).map(|k| width.min(length - k * width) as i64).collect(),
                        true,
                    )
                }
                _ => (ints, true),
            }
        }
    };
    let total = parts.iter().try_fold(0i64, |sum, p| sum.checked_add(*p));
    if parts.iter().any(|p| *p < 0) || total != Some(length as i64) {
        return Err(fault("the parts do not add up"));
    }
    let mut list = Vec::new();
    let mut start = 0;
    for part in parts {
        let part = part as usize;
        let mut dims = tensor.dims.clone();
        match keep {
            true => dims[axis] = part,
            false => {
                dims.remove(axis);
            }
        }
        list.push(cut(tensor, axis, start, part, dims)?);
        start += part;
    }
    Ok(Datum::Sequence(list))
}

/// `ConcatFromSequence`: a tensor of at most `room` bytes.
pub(super) fn concat(node: &Node, list: &[Datum], room: u64) -> Result<Datum, Diagnostic> {
    let new = node.int("new_axis", 0) != 0;
    let rank = list.first().and_then(Datum::tensor).map_or(0, |t| t.dims.len()) as i64 + i64::from(new);
    let axis = node.int("axis", 0);
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).map_err(|_| fault("an axis"))?;
    stack(list, axis, !new, None, room)
}
