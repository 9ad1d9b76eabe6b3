//! Operators that rearrange, select, join and reduce.

use super::call::{
    Call, Found, MAX_RANK, add, axis, broadcast, div, exact, meet, mul, one, product, sub, sum, typed,
};
use super::elementwise_rules::attribute_type;
use crate::types::{Dim, ElementType, Shape, TensorType};

/// This number of unknown extents. `typed` gives no shape for a rank beyond the bound.
fn unknown(rank: usize) -> Shape {
    vec![Dim::Unknown; rank.min(MAX_RANK + 1)]
}

pub(super) fn shape_of(call: &Call) -> Found {
    let rank = call.rank(0).map(|rank| {
        let (start, end) = shape_range(call, rank);
        Dim::Known(end.saturating_sub(start) as i64)
    });
    one(typed(Some(ElementType::I64), Some(vec![rank.unwrap_or_default()])))
}

/// The part of the shape that a call of `Shape` asks for.
pub(super) fn shape_range(call: &Call, rank: usize) -> (usize, usize) {
    let clamp =
        |at: i64| (if at < 0 { at.saturating_add(rank as i64) } else { at }).clamp(0, rank as i64) as usize;
    (clamp(call.node.int("start", 0)), clamp(call.node.int("end", rank as i64)))
}

pub(super) fn scalar_i64() -> Found {
    one(typed(Some(ElementType::I64), Some(Shape::new())))
}

pub(super) fn constant(call: &Call) -> Found {
    let Some(attribute) = call.node.attributes().first() else { return Err("has no value".into()) };
    use crate::attribute::AttributeValue::*;
    let list = |elem, n: usize| typed(Some(elem), Some(vec![Dim::Known(n as i64)]));
    let scalar = |elem| typed(Some(elem), Some(Shape::new()));
    let ty = match &attribute.value {
        Tensor(tensor) => Some(tensor.ty()),
        Float(_) => scalar(ElementType::F32),
        Int(_) => scalar(ElementType::I64),
        String(_) => scalar(ElementType::String),
        Floats(v) => list(ElementType::F32, v.len()),
        Ints(v) => list(ElementType::I64, v.len()),
        Strings(v) => list(ElementType::String, v.len()),
        _ => None,
    };
    one(ty)
}

pub(super) fn reshape(call: &Call) -> Found {
    let elem = call.elem(0);
    let target = match call.node.ints("shape") {
        Some(list) => Some(list.iter().map(|d| (*d).into()).collect()),
        None => call.elements(1),
    };
    let Some(target): Option<Vec<Dim>> = target else {
        return one(typed(elem, call.length(1).map(unknown)));
    };
    let zero_copies = call.node.int("allowzero", 0) == 0;
    let input = call.shape(0);
    let mut shape = Shape::with_capacity(target.len());
    let mut free = None;
    for (k, dim) in target.into_iter().enumerate() {
        shape.push(match dim {
            Dim::Known(-1) if free.is_some() => return Err("has two extents of -1".into()),
            Dim::Known(-1) => {
                free = Some(k);
                Dim::Known(1)
            }
            Dim::Known(0) if zero_copies => match input {
                Some(input) => input
                    .get(k)
                    .cloned()
                    .ok_or_else(|| format!("copies extent {k} of an input of {} dimensions", input.len()))?,
                None => Dim::Unknown,
            },
            Dim::Known(n) if n < -1 => return Err(format!("has an extent of {n}")),
            other => other,
        });
    }
    if let Some(k) = free {
        shape[k] = match input {
            Some(input) => quotient(input, &shape)?,
            None => Dim::Unknown,
        };
    } else if let Some(input) = input {
        let (before, after) = (product(input), product(&shape));
        if before.surely_differs(&after) {
            return Err(format!("makes {after} elements of {before}"));
        }
    }
    one(typed(elem, Some(shape)))
}

/// What is left of the first product when the second is taken out: extents that both have need not
/// be known.
fn quotient(all: &Shape, taken: &Shape) -> Result<Dim, String> {
    let mut left: Vec<Dim> = all.to_vec();
    let mut rest: Vec<Dim> = Vec::new();
    for dim in taken {
        // 0 is not divided by 0, because the quotient could be anything.
        match left.iter().position(|d| d == dim && ![Dim::Unknown, Dim::Known(0)].contains(d)) {
            Some(at) => {
                left.swap_remove(at);
            }
            None => rest.push(dim.clone()),
        }
    }
    let (left, rest) = (product(&left), product(&rest));
    match (&left, &rest) {
        (Dim::Known(0), Dim::Known(0)) => Ok(Dim::Known(0)),
        (Dim::Known(a), Dim::Known(b)) if *b == 0 || a % b != 0 => {
            Err(format!("divides {a} elements into parts of {b}"))
        }
        _ => Ok(exact(&left, &rest)),
    }
}

pub(super) fn flatten(call: &Call) -> Found {
    let shape = match call.shape(0) {
        Some(x) => {
            let at = call.node.int("axis", 1);
            let at = if at == x.len() as i64 { x.len() } else { axis(at, x.len())? };
            vec![product(&x[..at]), product(&x[at..])]
        }
        None => unknown(2),
    };
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn squeeze(call: &Call) -> Found {
    let (elem, Some(axes)) = (call.elem(0), call.moved_ints("axes", 1)) else {
        return one(typed(call.elem(0), None));
    };
    let Some(x) = call.shape(0) else { return one(typed(elem, None)) };
    let Some(axes) = axes else {
        let all_known = x.iter().all(|d| d.known().is_some());
        let kept = x.iter().filter(|d| **d != Dim::Known(1)).cloned().collect();
        return one(typed(elem, all_known.then_some(kept)));
    };
    let mut gone = vec![false; x.len()];
    for at in axes {
        let at = axis(at, x.len())?;
        if x[at].surely_differs(&Dim::Known(1)) {
            return Err(format!("squeezes an extent of {}", x[at]));
        }
        gone[at] = true;
    }
    one(typed(elem, Some(x.iter().zip(gone).filter(|(_, gone)| !gone).map(|(d, _)| d.clone()).collect())))
}

pub(super) fn unsqueeze(call: &Call) -> Found {
    let elem = call.elem(0);
    let (Some(axes), Some(x)) = (call.moved_ints("axes", 1), call.shape(0)) else {
        let rank = call.rank(0).zip(call.length(1)).map(|(a, b)| unknown(a + b));
        return one(typed(elem, rank));
    };
    let axes = axes.unwrap_or_default();
    let rank = x.len() + axes.len();
    let mut new = vec![false; rank];
    for at in axes {
        let at = axis(at, rank)?;
        if std::mem::replace(&mut new[at], true) {
            return Err(format!("inserts axis {at} twice"));
        }
    }
    let mut old = x.iter();
    let shape =
        new.into_iter().map(|n| if n { Dim::Known(1) } else { old.next().cloned().unwrap_or_default() });
    one(typed(elem, Some(shape.collect())))
}

pub(super) fn transpose(call: &Call) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let shape = match call.node.ints("perm") {
        None => x.iter().rev().cloned().collect(),
        Some(perm) => {
            let mut sorted = perm.to_vec();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq(0..x.len() as i64) {
                return Err(format!("has `perm` {perm:?} for {} dimensions", x.len()));
            }
            perm.iter().map(|k| x[*k as usize].clone()).collect()
        }
    };
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn concat(call: &Call) -> Found {
    let inputs = 0..call.node.inputs().len();
    let elem = inputs.clone().find_map(|k| call.elem(k));
    let Some(rank) = inputs.clone().find_map(|k| call.rank(k)) else { return one(typed(elem, None)) };
    let at = axis(call.node.int("axis", if call.opset < 4 { 1 } else { 0 }), rank)?;
    let mut shape = unknown(rank);
    shape[at] = Dim::Known(0);
    for k in inputs {
        let Some(x) = call.shape(k) else {
            shape[at] = Dim::Unknown;
            continue;
        };
        if x.len() != rank {
            return Err(format!("joins tensors of {rank} and {} dimensions", x.len()));
        }
        for (d, (known, dim)) in shape.iter_mut().zip(x).enumerate() {
            *known = if d == at { add(known, dim) } else { meet(known, dim)? };
        }
    }
    one(typed(elem, Some(shape)))
}

pub(super) fn split(call: &Call) -> Found {
    let outputs = call.node.outputs().len();
    let elem = call.elem(0);
    let Some(x) = call.shape(0) else { return Ok(vec![typed(elem, None).map(Into::into); outputs]) };
    let at = axis(call.node.int("axis", 0), x.len())?;
    let parts: Vec<Dim> = match call.moved_ints("split", 1) {
        Some(Some(list)) => {
            if list.len() != outputs {
                return Err(format!("has {} parts and {outputs} results", list.len()));
            }
            let total: Option<i64> = list.iter().try_fold(0i64, |a, b| a.checked_add(*b));
            if let (Dim::Known(n), Some(total)) = (&x[at], total)
                && *n != total
            {
                return Err(format!("splits an extent of {n} into parts that add up to {total}"));
            }
            list.into_iter().map(Dim::Known).collect()
        }
        Some(None) => {
            let count = call.node.int("num_outputs", outputs as i64).max(1);
            if count != outputs as i64 {
                return Err(format!("has {outputs} results and `num_outputs` {count}"));
            }
            let part = div(&add(&x[at], &Dim::Known(count - 1)), count);
            let last = sub(&x[at], &mul(&part, &Dim::Known(count - 1)));
            (0..outputs).map(|k| if k + 1 == outputs { last.clone() } else { part.clone() }).collect()
        }
        None => unknown(outputs),
    };
    let part = |dim: Dim| {
        let mut shape = x.clone();
        shape[at] = dim;
        typed(elem, Some(shape)).map(Into::into)
    };
    Ok(parts.into_iter().map(part).collect())
}

pub(super) fn slice(call: &Call) -> Found {
    let elem = call.elem(0);
    let Some(x) = call.shape(0) else { return one(typed(elem, None)) };
    let old = call.node.ints("starts").zip(call.node.ints("ends"));
    let dims = |list: &[i64]| list.iter().map(|d| Dim::Known(*d)).collect::<Vec<_>>();
    let (starts, ends, axes, steps) = match old {
        Some((starts, ends)) => (
            Some(dims(starts)),
            Some(dims(ends)),
            Some(call.node.ints("axes").map(<[i64]>::to_vec)),
            Some(None),
        ),
        None => {
            let optional = |k: usize| if call.has(k) { call.ints(k).map(Some) } else { Some(None) };
            (call.elements(1), call.elements(2), optional(3), optional(4))
        }
    };
    let Some(axes) = axes else { return one(typed(elem, Some(unknown(x.len())))) };
    let count = starts.as_ref().map(Vec::len).or(ends.as_ref().map(Vec::len)).or(call.length(1));
    let axes = match (axes, count) {
        (Some(axes), _) => axes,
        (None, Some(count)) => (0..count as i64).collect(),
        (None, None) => return one(typed(elem, Some(unknown(x.len())))),
    };
    let mut shape = x.clone();
    for (k, at) in axes.iter().enumerate() {
        let at = axis(*at, x.len())?;
        let bound =
            |list: &Option<Vec<Dim>>| list.as_ref().and_then(|l| l.get(k).cloned()).unwrap_or_default();
        let step = match &steps {
            Some(Some(steps)) => steps.get(k).copied(),
            Some(None) => Some(1),
            None => None,
        };
        shape[at] = match step {
            Some(0) => return Err("has a step of 0".into()),
            Some(step) => sliced(&x[at], &bound(&starts), &bound(&ends), step),
            None => Dim::Unknown,
        };
    }
    one(typed(elem, Some(shape)))
}

/// The number of elements from `start` to `end` by `step`, both clamped as the operator says.
fn sliced(extent: &Dim, start: &Dim, end: &Dim, step: i64) -> Dim {
    if let (Dim::Known(n), Dim::Known(start), Dim::Known(end)) = (extent, start, end) {
        let found = crate::slicing::slice(*n, *start, *end, step);
        return found.map_or(Dim::Unknown, |(_, count)| Dim::Known(count));
    }
    // A symbolic extent: only whole ranges and short prefixes from the front are surely known.
    match (start, end, step) {
        (Dim::Known(0), Dim::Known(i64::MAX | 0x7fff_ffff), 1) => extent.clone(),
        (Dim::Known(0), end, 1) if end == extent => extent.clone(),
        (Dim::Known(0), Dim::Known(end @ ..0), 1) => add(extent, &Dim::Known(*end)),
        (Dim::Known(start @ 0..), Dim::Known(i64::MAX | 0x7fff_ffff), 1) => sub(extent, &Dim::Known(*start)),
        (Dim::Known(start @ ..0), Dim::Known(i64::MAX | 0x7fff_ffff), 1) => {
            Dim::Known(start.saturating_neg())
        }
        _ => Dim::Unknown,
    }
}

pub(super) fn gather(call: &Call) -> Found {
    let (Some(x), Some(indices)) = (call.shape(0), call.shape(1)) else {
        return one(typed(call.elem(0), None));
    };
    let at = axis(call.node.int("axis", 0), x.len())?;
    let shape = x[..at].iter().chain(indices).chain(&x[at + 1..]).cloned().collect();
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn gather_elements(call: &Call) -> Found {
    one(typed(call.elem(0), call.shape(1).cloned()))
}

pub(super) fn gather_nd(call: &Call) -> Found {
    let (Some(x), Some(indices)) = (call.shape(0), call.shape(1)) else {
        return one(typed(call.elem(0), None));
    };
    let Some((last, outer)) = indices.split_last() else {
        return Err("has indices without a dimension".into());
    };
    let Some(depth) = last.known() else { return one(typed(call.elem(0), None)) };
    let batch = call.node.int("batch_dims", 0);
    let from = usize::try_from(depth.saturating_add(batch)).ok().filter(|f| *f <= x.len());
    let from = from.ok_or_else(|| format!("has indices of {depth} into {} dimensions", x.len()))?;
    one(typed(call.elem(0), Some(outer.iter().chain(&x[from..]).cloned().collect())))
}

pub(super) fn expand(call: &Call) -> Found {
    let elem = call.elem(0);
    let shape = match (call.shape(0), call.elements(1)) {
        (Some(x), Some(target)) => Some(broadcast(x, &target)?),
        (Some(x), None) => call.length(1).map(|n| unknown(n.max(x.len()))),
        _ => None,
    };
    one(typed(elem, shape))
}

pub(super) fn tile(call: &Call) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let shape = match call.elements(1) {
        Some(repeats) if repeats.len() == x.len() => x.iter().zip(&repeats).map(|(d, r)| mul(d, r)).collect(),
        Some(repeats) => return Err(format!("repeats {} of {} dimensions", repeats.len(), x.len())),
        None => unknown(x.len()),
    };
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn pad(call: &Call) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let axes = if call.has(3) { call.ints(3).map(Some) } else { Some(None) };
    let pads = call.node.ints("pads").or(call.node.ints("paddings"));
    let pads = pads.map(|p| p.iter().map(|d| (*d).into()).collect()).or_else(|| call.elements(1));
    let (Some(pads), Some(axes)): (Option<Vec<Dim>>, _) = (pads, axes) else {
        return one(typed(call.elem(0), Some(unknown(x.len()))));
    };
    let axes = axes.unwrap_or_else(|| (0..x.len() as i64).collect());
    if pads.len() != 2 * axes.len() {
        return Err(format!("has {} paddings for {} axes", pads.len(), axes.len()));
    }
    let mut shape = x.clone();
    for (k, at) in axes.iter().enumerate() {
        let at = axis(*at, x.len())?;
        shape[at] = sum([&shape[at], &pads[k], &pads[k + axes.len()]]);
    }
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn range(call: &Call) -> Found {
    let number = |k: usize| -> Option<f64> {
        match call.constant(k) {
            Some(tensor) => tensor.to_numbers()?.first().copied(),
            None => call.int(k).map(|n| n as f64),
        }
    };
    let length = match (number(0), number(1), number(2)) {
        (_, _, Some(0.0)) => return Err("has a step of 0".into()),
        (Some(start), Some(limit), Some(step)) => Dim::Known(((limit - start) / step).ceil().max(0.0) as i64),
        (Some(0.0), None, Some(1.0)) => {
            call.elements(1).and_then(|e| e.into_iter().next()).unwrap_or_default()
        }
        _ => Dim::Unknown,
    };
    one(typed(call.elem(0).or(call.elem(1)), Some(vec![length])))
}

pub(super) fn constant_of_shape(call: &Call) -> Found {
    let elem = call.node.attribute("value").and_then(|v| v.tensor()).map_or(ElementType::F32, |t| t.elem);
    let shape = call.elements(0).or_else(|| call.length(0).map(unknown));
    one(typed(Some(elem), shape))
}

pub(super) fn reduce(call: &Call) -> Found {
    let elem = call.elem(0);
    let Some(x) = call.shape(0) else { return one(typed(elem, None)) };
    let keep = call.node.int("keepdims", 1) != 0;
    let Some(axes) = call.moved_ints("axes", 1) else {
        return one(typed(elem, keep.then(|| unknown(x.len()))));
    };
    let axes = axes.unwrap_or_default();
    if axes.is_empty() && call.node.int("noop_with_empty_axes", 0) != 0 {
        return one(typed(elem, Some(x.clone())));
    }
    let mut gone = vec![axes.is_empty(); x.len()];
    for at in axes {
        gone[axis(at, x.len())?] = true;
    }
    one(typed(elem, Some(without(x, &gone, keep))))
}

fn without(x: &Shape, gone: &[bool], keep: bool) -> Shape {
    let kept = x.iter().zip(gone).filter(|(_, gone)| keep || !**gone);
    kept.map(|(d, gone)| if *gone { Dim::Known(1) } else { d.clone() }).collect()
}

pub(super) fn arg_reduce(call: &Call) -> Found {
    let shape = match call.shape(0) {
        Some(x) => {
            let mut gone = vec![false; x.len()];
            gone[axis(call.node.int("axis", 0), x.len())?] = true;
            Some(without(x, &gone, call.node.int("keepdims", 1) != 0))
        }
        None => None,
    };
    one(typed(Some(ElementType::I64), shape))
}

pub(super) fn top_k(call: &Call) -> Found {
    let shape = match call.shape(0) {
        Some(x) => {
            let at = axis(call.node.int("axis", -1), x.len())?;
            let mut shape = x.clone();
            let k = call.node.attribute("k").and_then(|k| k.int()).map(Dim::Known);
            shape[at] = k.or_else(|| call.elements(1)?.into_iter().next()).unwrap_or_default();
            Some(shape)
        }
        None => None,
    };
    let indices = typed(Some(ElementType::I64), shape.clone());
    Ok(vec![typed(call.elem(0), shape).map(Into::into), indices.map(Into::into)])
}

pub(super) fn one_hot(call: &Call) -> Found {
    let shape = match call.shape(0) {
        Some(x) => {
            let at = axis(call.node.int("axis", -1), x.len() + 1)?;
            let mut shape = x.clone();
            let depth = call.elements(1).and_then(|d| d.into_iter().next()).unwrap_or_default();
            shape.insert(at, depth);
            Some(shape)
        }
        None => None,
    };
    one(typed(call.elem(2), shape))
}

pub(super) fn non_zero(call: &Call) -> Found {
    let rank = call.rank(0).map_or(Dim::Unknown, |r| Dim::Known(r as i64));
    one(typed(Some(ElementType::I64), Some(vec![rank, Dim::Unknown])))
}

pub(super) fn compress(call: &Call) -> Found {
    let shape = match (call.node.attribute("axis").and_then(|a| a.int()), call.shape(0)) {
        (None, _) => Some(unknown(1)),
        (Some(at), Some(x)) => {
            let mut shape = x.clone();
            shape[axis(at, x.len())?] = Dim::Unknown;
            Some(shape)
        }
        _ => None,
    };
    one(typed(call.elem(0), shape))
}

pub(super) fn unique(call: &Call) -> Found {
    let first = compress(call)?.pop().flatten();
    let list = || Some(TensorType { elem: ElementType::I64, shape: Some(unknown(1)) }.into());
    Ok(vec![first, list(), list(), list()])
}

pub(super) fn depth_to_space(call: &Call, up: bool) -> Found {
    let block = call.node.int("blocksize", 1);
    let shape = match call.shape(0).map(Vec::as_slice) {
        Some([n, c, h, w]) => {
            let factor = Dim::Known(block);
            Some(if up {
                vec![n.clone(), div(c, block.saturating_mul(block)), mul(h, &factor), mul(w, &factor)]
            } else {
                vec![n.clone(), mul(&mul(c, &factor), &factor), div(h, block), div(w, block)]
            })
        }
        Some(other) => return Err(format!("has an input of {} dimensions", other.len())),
        None => None,
    };
    one(typed(call.elem(0), shape))
}

pub(super) fn resize(call: &Call) -> Found {
    let elem = call.elem(0);
    let Some(x) = call.shape(0) else { return one(typed(elem, None)) };
    let upsample = call.node.op().is("Upsample") || call.opset < 11;
    let (scales_at, sizes_at) = if upsample { (1, usize::MAX) } else { (2, 3) };
    let axes = match call.node.ints("axes") {
        Some(list) => list.iter().map(|a| axis(*a, x.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..x.len()).collect(),
    };
    let mut shape = x.clone();
    if sizes_at != usize::MAX && call.has(sizes_at) {
        let policy = call.node.string("keep_aspect_ratio_policy", "stretch");
        let sizes = call.elements(sizes_at).filter(|s| s.len() == axes.len());
        let ratio = |larger: bool| -> Option<f32> {
            let pairs = axes.iter().zip(sizes.as_ref()?);
            let ratios = pairs.map(|(at, s)| Some(s.known()? as f32 / x[*at].known()? as f32));
            ratios.collect::<Option<Vec<f32>>>()?.into_iter().reduce(if larger { f32::max } else { f32::min })
        };
        for (k, at) in axes.iter().enumerate() {
            let stretched = sizes.as_ref().map(|s| s[k].clone()).unwrap_or_default();
            shape[*at] = match policy {
                "stretch" => stretched,
                _ => match (ratio(policy == "not_smaller"), x[*at].known()) {
                    (Some(r), Some(n)) => Dim::Known((n as f32 * r).round() as i64),
                    _ => Dim::Unknown,
                },
            };
        }
        return one(typed(elem, Some(shape)));
    }
    let scales = match call.node.attribute("scales").and_then(|s| s.floats()) {
        Some(list) => Some(list.to_vec()),
        None => call.constant(scales_at).and_then(|t| t.to_f32s()),
    };
    let Some(scales) = scales.filter(|s| s.len() == axes.len()) else {
        return one(typed(elem, Some(unknown(x.len()))));
    };
    for (at, scale) in axes.into_iter().zip(scales) {
        shape[at] = match &x[at] {
            _ if scale == 1.0 => x[at].clone(),
            Dim::Known(n) => Dim::Known((*n as f32 * scale).floor() as i64),
            _ if scale.fract() == 0.0 => mul(&x[at], &Dim::Known(scale as i64)),
            _ => Dim::Unknown,
        };
    }
    one(typed(elem, Some(shape)))
}

pub(super) fn center_crop_pad(call: &Call) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let axes = match call.node.ints("axes") {
        Some(list) => list.iter().map(|a| axis(*a, x.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..x.len()).collect(),
    };
    let sizes = call.elements(1).unwrap_or_else(|| unknown(axes.len()));
    let mut shape = x.clone();
    for (at, size) in axes.into_iter().zip(sizes) {
        shape[at] = size;
    }
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn non_max_suppression() -> Found {
    one(typed(Some(ElementType::I64), Some(vec![Dim::Unknown, 3.into()])))
}

pub(super) fn multinomial(call: &Call) -> Found {
    let batch = call.shape(0).and_then(|x| x.first().cloned()).unwrap_or_default();
    let elem = attribute_type(call, "dtype").unwrap_or(ElementType::I32);
    one(typed(Some(elem), Some(vec![batch, call.node.int("sample_size", 1).into()])))
}

/// `StringSplit`: one dimension more, and how many parts each has.
pub(super) fn string_split(call: &Call) -> Found {
    let shape = call.shape(0).map(|x| x.iter().cloned().chain([Dim::Unknown]).collect());
    let counts = typed(Some(ElementType::I64), call.shape(0).cloned());
    Ok(vec![typed(Some(ElementType::String), shape).map(Into::into), counts.map(Into::into)])
}

pub(super) fn term_counts(call: &Call) -> Found {
    let terms = call
        .node
        .ints("ngram_indexes")
        .and_then(|i| i.iter().max())
        .map_or(Dim::Unknown, |m| Dim::Known(m + 1));
    let shape = match call.shape(0).map(Vec::as_slice) {
        Some([batch, _]) => Some(vec![batch.clone(), terms]),
        Some([_]) => Some(vec![terms]),
        _ => None,
    };
    one(typed(Some(ElementType::F32), shape))
}
