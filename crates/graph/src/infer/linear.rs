//! Products of matrices and tensors, recurrent layers, attention, transforms.

use super::call::{Call, Found, MAX_RANK, add, broadcast, div, meet, mul, one, sub, typed};
use crate::types::{Dim, ElementType, Shape, TensorType};

/// The shape of `a * b` as `MatMul` defines it.
fn product_shape(a: &Shape, b: &Shape) -> Result<Shape, String> {
    let (Some(inner_a), false) = (a.last(), b.is_empty()) else {
        return Err("multiplies a scalar".into());
    };
    let inner_b = &b[b.len().saturating_sub(2)];
    meet(inner_a, inner_b).map_err(|_| format!("multiplies rows of {inner_a} with columns of {inner_b}"))?;
    let mut shape = broadcast(&a[..a.len().saturating_sub(2)], &b[..b.len().saturating_sub(2)])?;
    if a.len() > 1 {
        shape.push(a[a.len() - 2].clone());
    }
    if b.len() > 1 {
        shape.push(b[b.len() - 1].clone());
    }
    Ok(shape)
}

/// `MatMul` and its quantised variants: the positions of the operands and the element type of the
/// result.
pub(super) fn matmul(call: &Call, b: usize, elem: Option<ElementType>) -> Found {
    let shape = match (call.shape(0), call.shape(b)) {
        (Some(a), Some(b)) => Some(product_shape(a, b)?),
        _ => None,
    };
    one(typed(elem, shape))
}

pub(super) fn gemm(call: &Call) -> Found {
    let elem = call.elem(0).or(call.elem(1));
    let (Some(a), Some(b)) = (call.shape(0), call.shape(1)) else { return one(typed(elem, None)) };
    let ([m, k], [l, n]) = (a.as_slice(), b.as_slice()) else {
        return Err(format!("takes two matrices and has {} and {} dimensions", a.len(), b.len()));
    };
    let (m, k) = if call.node.int("transA", 0) != 0 { (k, m) } else { (m, k) };
    let (l, n) = if call.node.int("transB", 0) != 0 { (n, l) } else { (l, n) };
    meet(k, l).map_err(|_| format!("multiplies rows of {k} with columns of {l}"))?;
    if let Some(c) = call.shape(2)
        && c.len() > 2
    {
        return Err(format!("adds a tensor of {} dimensions to a matrix", c.len()));
    }
    one(typed(elem, Some(vec![m.clone(), n.clone()])))
}

/// `Einsum`: extents by letter, an ellipsis by broadcasting.
pub(super) fn einsum(call: &Call) -> Found {
    let elem = call.elem(0);
    let equation: String = call.node.string("equation", "").chars().filter(|c| !c.is_whitespace()).collect();
    let (terms, result) = match equation.split_once("->") {
        Some((terms, result)) => (terms.to_owned(), Some(result.to_owned())),
        None => (equation.clone(), None),
    };
    let terms: Vec<&str> = terms.split(',').collect();
    if terms.len() != call.node.inputs().len() {
        return Err(format!("has the equation \"{equation}\" for {} operands", call.node.inputs().len()));
    }
    let mut extents = std::collections::BTreeMap::<char, Dim>::new();
    let mut counts = std::collections::BTreeMap::<char, usize>::new();
    let mut ellipsis: Option<Shape> = None;
    for (k, term) in terms.iter().enumerate() {
        let Some(shape) = call.shape(k) else { return one(typed(elem, None)) };
        let letters: Vec<char> = term.replace("...", "").chars().collect();
        let has_ellipsis = term.contains("...");
        let fits = if has_ellipsis { letters.len() <= shape.len() } else { letters.len() == shape.len() };
        if !fits || letters.iter().any(|c| !c.is_alphabetic()) {
            return Err(format!("has the term \"{term}\" for an operand of {} dimensions", shape.len()));
        }
        let before = term.find("...").unwrap_or(letters.len());
        let inside = shape.len() - letters.len();
        if has_ellipsis {
            let dims = &shape[before..before + inside];
            ellipsis = Some(broadcast(ellipsis.as_deref().unwrap_or(&[]), dims)?);
        }
        for (at, letter) in letters.iter().enumerate() {
            let dim = &shape[if at < before { at } else { at + inside }];
            *counts.entry(*letter).or_default() += 1;
            let known = extents.entry(*letter).or_insert_with(|| dim.clone());
            *known = match (&*known, dim) {
                (Dim::Known(1), other) => other.clone(),
                (known, Dim::Known(1)) => known.clone(),
                (known, other) => meet(known, other)?,
            };
        }
    }
    let result = result.unwrap_or_else(|| {
        let once: String = counts.iter().filter(|(_, n)| **n == 1).map(|(c, _)| *c).collect();
        if ellipsis.is_some() { format!("...{once}") } else { once }
    });
    let mut shape = Shape::new();
    let mut rest = result.as_str();
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            shape.extend(ellipsis.clone().unwrap_or_default());
            rest = after;
            continue;
        }
        let extent =
            extents.get(&c).ok_or_else(|| format!("has `{c}` in the result of \"{equation}\" alone"))?;
        shape.push(extent.clone());
        rest = &rest[c.len_utf8()..];
    }
    one(typed(elem, Some(shape)))
}

/// `RNN`, `GRU`, `LSTM`, and `DynamicQuantizeLSTM`, whose weights are transposed.
pub(super) fn recurrent(call: &Call) -> Found {
    let elem = call.elem(0);
    let directions =
        Dim::Known(if call.node.string("direction", "forward") == "bidirectional" { 2 } else { 1 });
    let hidden = match call.node.attribute("hidden_size").and_then(|h| h.int()) {
        Some(hidden) => Dim::Known(hidden),
        None => {
            let at = if *call.node.op().name == *"DynamicQuantizeLSTM" { 1 } else { 2 };
            call.shape(2).and_then(|r| r.get(at).cloned()).unwrap_or_default()
        }
    };
    let (first, second) = match call.shape(0).map(Vec::as_slice) {
        Some([first, second, _]) => (first, second),
        Some(other) => return Err(format!("has an input of {} dimensions, not 3", other.len())),
        None => return Ok(vec![typed(elem, None).map(Into::into); 3]),
    };
    let batch_first = call.node.int("layout", 0) != 0;
    let (length, batch) = if batch_first { (second, first) } else { (first, second) };
    let all: Shape = if batch_first {
        vec![batch.clone(), length.clone(), directions.clone(), hidden.clone()]
    } else {
        vec![length.clone(), directions.clone(), batch.clone(), hidden.clone()]
    };
    let last: Shape = if batch_first {
        vec![batch.clone(), directions, hidden]
    } else {
        vec![directions, batch.clone(), hidden]
    };
    let last = typed(elem, Some(last)).map(Into::into);
    let mut results = vec![typed(elem, Some(all)).map(Into::into), last.clone(), last];
    if matches!(call.node.op().name.as_str(), "GRU" | "RNN") {
        results.truncate(2);
    }
    Ok(results)
}

/// `Attention` of the standard domain.
pub(super) fn attention(call: &Call) -> Found {
    let elem = call.elem(0);
    let (Some(q), Some(k), Some(v)) = (call.shape(0), call.shape(1), call.shape(2)) else {
        return Ok(vec![typed(elem, None).map(Into::into)]);
    };
    let (q_heads, kv_heads) = (call.node.int("q_num_heads", 0), call.node.int("kv_num_heads", 0));
    // Batch, heads, length and width of each, whichever way they are packed.
    let unpack = |x: &Shape, heads: i64| -> Option<[Dim; 4]> {
        match x.as_slice() {
            [b, h, l, d] => Some([b.clone(), h.clone(), l.clone(), d.clone()]),
            [b, l, w] if heads > 0 => Some([b.clone(), heads.into(), l.clone(), div(w, heads)]),
            _ => None,
        }
    };
    let (Some([batch, heads, length, _]), Some([_, kv, keys, key_width]), Some([.., width])) =
        (unpack(q, q_heads), unpack(k, kv_heads), unpack(v, kv_heads))
    else {
        return Ok(vec![typed(elem, None).map(Into::into)]);
    };
    let first = if q.len() == 3 {
        vec![batch.clone(), length.clone(), mul(&heads, &width)]
    } else {
        vec![batch.clone(), heads.clone(), length.clone(), width.clone()]
    };
    let past = call.shape(4).and_then(|p| p.get(2).cloned());
    let total = match (call.has(4), past) {
        (true, Some(past)) => add(&past, &keys),
        (true, None) => Dim::Unknown,
        (false, _) => keys,
    };
    let shapes = [
        first,
        vec![batch.clone(), kv.clone(), total.clone(), key_width],
        vec![batch.clone(), kv, total.clone(), width],
        vec![batch, heads, length, total],
    ];
    let elems = [elem, call.elem(1), call.elem(2), elem];
    Ok(shapes.into_iter().zip(elems).map(|(s, e)| typed(e, Some(s)).map(Into::into)).collect())
}

pub(super) fn determinant(call: &Call) -> Found {
    let shape = call.shape(0).map(|x| x[..x.len().saturating_sub(2)].to_vec());
    one(typed(call.elem(0), shape))
}

pub(super) fn dft(call: &Call) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let at = if call.opset >= 20 {
        if call.has(2) { call.int(2) } else { Some(-2) }
    } else {
        Some(call.node.int("axis", 1))
    };
    let Some(at) = at else { return one(typed(call.elem(0), Some(vec![Dim::Unknown; x.len()]))) };
    let at = super::call::axis(at, x.len())?;
    let mut shape = x.clone();
    let (inverse, onesided) = (call.node.int("inverse", 0) != 0, call.node.int("onesided", 0) != 0);
    if call.has(1) {
        shape[at] = call.int(1).map_or(Dim::Unknown, Dim::Known);
    }
    if onesided && inverse && !call.has(1) {
        shape[at] = mul(&add(&shape[at], &Dim::Known(-1)), &Dim::Known(2));
    } else if onesided && !inverse {
        shape[at] = add(&div(&shape[at], 2), &Dim::Known(1));
    }
    if let Some(last) = shape.last_mut() {
        *last = Dim::Known(if inverse && onesided { 1 } else { 2 });
    }
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn short_time_transform(call: &Call) -> Found {
    let elem = call.elem(0);
    let frame = call.int(3).or_else(|| call.length(2).map(|l| l as i64));
    let (Some(signal), Some(step)) = (call.shape(0), call.int(1)) else { return one(typed(elem, None)) };
    let (Some(frame), true, true) = (frame, signal.len() >= 2, step > 0) else {
        return one(typed(elem, None));
    };
    let frames = add(&div(&sub(&signal[1], &Dim::Known(frame)), step), &Dim::Known(1));
    let bins = if call.node.int("onesided", 1) != 0 { frame / 2 + 1 } else { frame };
    one(typed(elem, Some(vec![signal[0].clone(), frames, bins.into(), 2.into()])))
}

/// `HannWindow` and its kin.
pub(super) fn window(call: &Call) -> Found {
    let elem = super::elementwise_rules::attribute_type(call, "output_datatype").unwrap_or(ElementType::F32);
    one(Some(TensorType { elem, shape: Some(vec![call.int(0).map_or(Dim::Unknown, Dim::Known)]) }))
}

pub(super) fn mel_weights(call: &Call) -> Found {
    let elem = super::elementwise_rules::attribute_type(call, "output_datatype").unwrap_or(ElementType::F32);
    let bins = call.int(1).map_or(Dim::Unknown, |n| Dim::Known(n / 2 + 1));
    let mels = call.int(0).map_or(Dim::Unknown, Dim::Known);
    one(Some(TensorType { elem, shape: Some(vec![bins, mels]) }))
}

/// Losses: a scalar, or one number a target.
pub(super) fn loss(call: &Call, with_log: bool) -> Found {
    let reduction = call.node.string("reduction", "mean");
    let shape = if reduction == "none" { call.shape(1).cloned() } else { Some(Shape::new()) };
    let mut results = vec![typed(call.elem(0), shape).map(Into::into)];
    if with_log && call.node.outputs().len() > 1 {
        results.push(call.value_type(0).cloned());
    }
    Ok(results)
}

/// `AffineGrid`, `GridSample`.
pub(super) fn affine_grid(call: &Call) -> Found {
    let Some(size) = call.elements(1) else {
        let rank = call.length(1);
        let shape = rank.filter(|r| (2..=MAX_RANK).contains(r)).map(|r| {
            let mut shape = vec![Dim::Unknown; r];
            shape[r - 1] = Dim::Known(r as i64 - 2);
            shape
        });
        return one(typed(call.elem(0), shape));
    };
    let Some((batch, rest)) = size.split_first() else { return Err("has an empty size".into()) };
    let spatial = rest.get(1..).unwrap_or(&[]);
    let shape = std::iter::once(batch.clone()).chain(spatial.iter().cloned());
    let shape = shape.chain([Dim::Known(spatial.len() as i64)]).collect();
    one(typed(call.elem(0), Some(shape)))
}

pub(super) fn grid_sample(call: &Call) -> Found {
    let (Some(x), Some(grid)) = (call.shape(0), call.shape(1)) else { return one(typed(call.elem(0), None)) };
    if x.len() != grid.len() || x.len() < 3 {
        return Err(format!("samples an image of {} dimensions by a grid of {}", x.len(), grid.len()));
    }
    let shape = x[..2].iter().chain(&grid[1..grid.len() - 1]).cloned().collect();
    one(typed(call.elem(0), Some(shape)))
}
