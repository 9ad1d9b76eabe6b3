//! Operators that only move elements. Bytes are copied in runs that are as long as possible.

use bytes::Bytes;

use super::{Call, axis, broadcast, count, spread, strides, view};
use crate::tensor::Tensor;

/// Whether the evaluator supports the element type, and the tensor's elements are loaded.
fn at_hand(tensor: &Tensor) -> Option<&Bytes> {
    crate::operators::carrier(tensor.elem)?;
    tensor.bytes()
}

/// Bytes of an element, if that is a whole number.
fn width(tensor: &Tensor) -> Option<usize> {
    at_hand(tensor)?;
    let bits = tensor.elem.bits();
    (bits != 0 && bits.is_multiple_of(8)).then_some(bits / 8)
}

fn reshaped(x: &Tensor, dims: Vec<usize>) -> Option<Tensor> {
    at_hand(x)?;
    (count(&dims)? == count(&x.dims)?).then(|| view(x, dims))
}

pub(super) fn reshape(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let wanted = call.list(1, "shape")??;
    let zero_copies = call.int("allowzero", 0)? == 0;
    let (mut dims, mut open) = (Vec::with_capacity(wanted.len()), None);
    for (k, n) in wanted.iter().enumerate() {
        dims.push(match n {
            -1 if open.is_none() => {
                open = Some(k);
                1
            }
            0 if zero_copies => *x.dims.get(k)?,
            n => usize::try_from(*n).ok()?,
        });
    }
    if let Some(k) = open {
        let (all, rest) = (count(&x.dims)?, count(&dims)?);
        dims[k] = match (all, rest) {
            (_, 0) => 0,
            (all, rest) if all.is_multiple_of(rest) => all / rest,
            _ => return None,
        };
    }
    reshaped(x, dims)
}

pub(super) fn flatten(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let (at, rank) = (call.int("axis", 1)?, x.dims.len());
    let at = if at == rank as i64 { rank } else { axis(at, rank.max(1))? };
    reshaped(x, vec![count(&x.dims[..at])?, count(&x.dims[at..])?])
}

/// Axes in ascending order, each once.
fn axes(list: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut found = list.iter().map(|a| axis(*a, rank)).collect::<Option<Vec<_>>>()?;
    found.sort_unstable();
    found.dedup();
    Some(found)
}

pub(super) fn squeeze(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let gone = match call.list(1, "axes")? {
        Some(list) => axes(&list, x.dims.len())?,
        None => (0..x.dims.len()).filter(|k| x.dims[*k] == 1).collect(),
    };
    let dims = (0..x.dims.len()).filter(|k| gone.binary_search(k).is_err()).map(|k| x.dims[k]).collect();
    gone.iter().all(|k| x.dims[*k] == 1).then(|| reshaped(x, dims))?
}

pub(super) fn unsqueeze(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let list = call.list(1, "axes")??;
    let rank = x.dims.len() + list.len();
    let new = axes(&list, rank)?;
    let mut rest = x.dims.iter();
    let place = |k: usize| if new.binary_search(&k).is_ok() { Some(1) } else { rest.next().copied() };
    reshaped(x, (0..rank).filter_map(place).collect())
}

pub(super) fn transpose(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let rank = x.dims.len();
    let perm: Vec<usize> = match call.attribute("perm") {
        None => (0..rank).rev().collect(),
        Some(perm) => perm.value.ints()?.iter().map(|a| axis(*a, rank)).collect::<Option<_>>()?,
    };
    if axes(&perm.iter().map(|k| *k as i64).collect::<Vec<_>>(), rank)?.len() != rank || perm.len() != rank {
        return None;
    }
    let steps = strides(&x.dims);
    let dims = perm.iter().map(|k| x.dims[*k]).collect();
    gathered(call, x, dims, 0, &perm.iter().map(|k| steps[*k]).collect::<Vec<_>>())
}

pub(super) fn expand(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let wanted = call.input(1)?.to_ints()?;
    let wanted: Vec<usize> = wanted.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<_>>()?;
    let dims = broadcast(&[&x.dims, &wanted])?;
    let steps = spread(&x.dims, dims.len());
    gathered(call, x, dims, 0, &steps)
}

pub(super) fn concat(call: &Call) -> Option<Tensor> {
    let inputs: Vec<&Tensor> = call.inputs.iter().copied().collect::<Option<_>>()?;
    let first = *inputs.first()?;
    let width = width(first)?;
    let at = axis(call.int("axis", 0)?, first.dims.len())?;
    let mut dims = first.dims.clone();
    dims[at] = 0;
    for x in &inputs {
        let rest = |dims: &[usize]| [&dims[..at], &dims[at + 1..]].concat();
        if x.elem != first.elem || x.dims.len() != dims.len() || rest(&x.dims) != rest(&dims) {
            return None;
        }
        dims[at] = dims[at].checked_add(x.dims[at])?;
    }
    let outer = count(&dims[..at])?;
    let inner = count(&dims[at + 1..])?.checked_mul(width)?;
    let parts: Vec<(&[u8], usize)> =
        inputs.iter().map(|x| Some((&**x.bytes()?, x.dims[at] * inner))).collect::<Option<_>>()?;
    let wanted = call.room(&dims, width)?;
    let mut out = Vec::with_capacity(wanted);
    // There may be very many times nothing.
    for o in 0..if wanted == 0 { 0 } else { outer } {
        for (bytes, run) in &parts {
            out.extend_from_slice(bytes.get(o * run..(o + 1) * run)?);
        }
    }
    Tensor::raw(first.elem, dims, out.into())
}

pub(super) fn slice(call: &Call) -> Option<Tensor> {
    let x = call.input(0)?;
    let rank = x.dims.len();
    let starts = call.list(1, "starts")??;
    let ends = call.list(2, "ends")??;
    let along = call.list(3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let by = call.list(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || along.len() != starts.len() || by.len() != starts.len() {
        return None;
    }
    let mut dims = x.dims.clone();
    let (mut first, mut step) = (vec![0i64; rank], vec![1i64; rank]);
    for k in 0..starts.len() {
        let axis = axis(along[k], rank)?;
        let (n, s) = (x.dims[axis] as i64, by[k]);
        let (start, count) = crate::slicing::slice(n, starts[k], ends[k], s)?;
        dims[axis] = count as usize;
        (first[axis], step[axis]) = (start, if count > 1 { s } else { 1 });
    }
    let all = strides(&x.dims);
    let offset = (0..rank).map(|k| first[k] as isize * all[k]).sum();
    let steps: Vec<isize> = (0..rank).map(|k| all[k] * step[k] as isize).collect();
    gathered(call, x, dims, offset, &steps)
}

/// More parts than these, given by an attribute, are refused, because parts may be empty.
pub(crate) const MOST_PARTS: i64 = 1 << 16;

pub(super) fn split(call: &Call) -> Option<Vec<Tensor>> {
    let x = call.input(0)?;
    let at = axis(call.int("axis", 0)?, x.dims.len())?;
    let n = x.dims[at] as i64;
    let parts = match call.list(1, "split")? {
        Some(parts) => parts,
        None => {
            let count = call.int("num_outputs", call.outputs as i64)?.max(1);
            if count > MOST_PARTS {
                return None;
            }
            let width = (n + count - 1) / count;
            (0..count).map(|k| width.min((n - k * width).max(0))).collect()
        }
    };
    if parts.iter().try_fold(0i64, |sum, p| sum.checked_add(*p)) != Some(n) || parts.iter().any(|p| *p < 0) {
        return None;
    }
    let steps = strides(&x.dims);
    let mut start = 0;
    parts
        .iter()
        .map(|part| {
            let mut dims = x.dims.clone();
            dims[at] = *part as usize;
            let offset = start as isize * steps[at];
            start += part;
            gathered(call, x, dims, offset, &steps)
        })
        .collect()
}

pub(super) fn gather(call: &Call) -> Option<Tensor> {
    let (x, indices) = (call.input(0)?, call.input(1)?);
    let width = width(x)?;
    let at = axis(call.int("axis", 0)?, x.dims.len())?;
    let n = x.dims[at];
    let list = indices.to_ints()?;
    let places: Vec<usize> = list.iter().map(|i| axis(*i, n)).collect::<Option<_>>()?;
    let dims = [&x.dims[..at], &indices.dims[..], &x.dims[at + 1..]].concat();
    let run = count(&x.dims[at + 1..])?.checked_mul(width)?;
    let bytes = x.bytes()?;
    let wanted = call.room(&dims, width)?;
    let mut out = Vec::with_capacity(wanted);
    for o in 0..if wanted == 0 { 0 } else { count(&x.dims[..at])? } {
        for place in &places {
            let from = (o * n + place) * run;
            out.extend_from_slice(bytes.get(from..from + run)?);
        }
    }
    Tensor::raw(x.elem, dims, out.into())
}

/// The tensor whose element at a place is the element of `x` at `offset` plus `steps` times the
/// place.
fn gathered(call: &Call, x: &Tensor, dims: Vec<usize>, offset: isize, steps: &[isize]) -> Option<Tensor> {
    let width = width(x)?;
    let bytes = x.bytes()?;
    let all = count(&dims)?;
    let mut out: Vec<u8> = Vec::with_capacity(call.room(&dims, width)?);
    if all > 0 {
        // The innermost axes that lie one behind another are one run.
        let (mut run, mut depth) = (1usize, dims.len());
        while depth > 0 && (dims[depth - 1] == 1 || steps[depth - 1] == run as isize) {
            run *= dims[depth - 1];
            depth -= 1;
        }
        let outer = (&dims[..depth], &steps[..depth]);
        match width {
            4 if run == 1 && depth > 0 => elements::<4>(bytes, outer, offset, &mut out)?,
            8 if run == 1 && depth > 0 => elements::<8>(bytes, outer, offset, &mut out)?,
            _ => each(outer, offset, &mut |from| {
                let from = usize::try_from(from).ok()? * width;
                out.extend_from_slice(bytes.get(from..from + run * width)?);
                Some(())
            })?,
        }
    }
    Tensor::raw(x.elem, dims, out.into())
}

/// Single elements of a fixed width.
fn elements<const W: usize>(
    bytes: &[u8],
    (dims, steps): (&[usize], &[isize]),
    offset: isize,
    out: &mut Vec<u8>,
) -> Option<()> {
    let (n, outer) = dims.split_last()?;
    let step = *steps.last()?;
    let (words, _) = bytes.as_chunks::<W>();
    each((outer, &steps[..outer.len()]), offset, &mut |from| {
        let mut at = from;
        for _ in 0..*n {
            out.extend_from_slice(words.get(usize::try_from(at).ok()?)?);
            at += step;
        }
        Some(())
    })
}

/// All places of a box in order, each as the sum of `offset` and its steps.
fn each(
    (dims, steps): (&[usize], &[isize]),
    offset: isize,
    f: &mut dyn FnMut(isize) -> Option<()>,
) -> Option<()> {
    match dims.split_first() {
        None => f(offset),
        Some((n, rest)) => {
            (0..*n).try_for_each(|k| each((rest, &steps[1..]), offset + k as isize * steps[0], f))
        }
    }
}
