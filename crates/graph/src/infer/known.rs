//! Shape arithmetic: the elements of small integer tensors, as far as they follow from shapes and
//! constants.

use arith::number::trunc_div;

use super::call::{Call, MAX_KNOWN, add, div, mul, product, sub};
use super::elementwise_rules::attribute_type;
use super::layout::shape_range;
use crate::types::{Dim, ElementType};

/// The elements of the call's first result, if it is a small integer tensor of at most one
/// dimension and something is known. (Empty lists of dimensions and single elements look alike
/// here; the type tells them apart.)
pub(super) fn elements(call: &Call) -> Option<Vec<Dim>> {
    let found = raw(call)?;
    (found.len() <= MAX_KNOWN).then_some(found)
}

fn raw(call: &Call) -> Option<Vec<Dim>> {
    from_shapes(call).or_else(|| moved(call)).or_else(|| computed(call))
}

/// Elements that follow from shapes, constants and bounds.
fn from_shapes(call: &Call) -> Option<Vec<Dim>> {
    let node = call.node;
    Some(match call.node.op().name.as_str() {
        "Shape" => {
            let shape = call.shape(0)?;
            let (start, end) = shape_range(call, shape.len());
            shape.get(start..end.max(start))?.to_vec()
        }
        "Size" => vec![product(call.shape(0)?)],
        "Constant" => {
            use crate::attribute::AttributeValue::*;
            match &node.attributes().first()?.value {
                Int(n) => vec![Dim::Known(*n)],
                Ints(list) => list.iter().map(|n| Dim::Known(*n)).collect(),
                Tensor(t) if t.dims.len() <= 1 && t.count() <= MAX_KNOWN => {
                    t.to_ints()?.into_iter().map(Dim::Known).collect()
                }
                _ => return None,
            }
        }
        "Range" => {
            let (start, limit, step) = (call.int(0)?, call.int(1)?, call.int(2)?);
            if step == 0 || limit.abs_diff(start) / step.unsigned_abs() > MAX_KNOWN as u64 {
                return None;
            }
            let mut found = Vec::new();
            let mut at = start;
            while if step > 0 { at < limit } else { at > limit } {
                found.push(Dim::Known(at));
                at = at.checked_add(step)?;
            }
            found
        }
        "ConstantOfShape" => {
            let length = call.ints(0)?;
            let value = node.attribute("value")?.tensor()?.to_ints()?;
            match length.as_slice() {
                [] => vec![Dim::Known(*value.first()?)],
                [n] if (0..=MAX_KNOWN as i64).contains(n) => vec![Dim::Known(*value.first()?); *n as usize],
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Elements of operands in another order or number.
fn moved(call: &Call) -> Option<Vec<Dim>> {
    let node = call.node;
    let flat = |k: usize| call.rank(k).is_none_or(|r| r <= 1);
    Some(match call.node.op().name.as_str() {
        "Identity" => call.elements(0)?,
        "Cast" => {
            let to = attribute_type(call, "to")?;
            matches!(to, ElementType::I64 | ElementType::I32).then(|| call.elements(0)).flatten()?
        }
        "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" => {
            // Elements stay as they are, as long as the result has at most one dimension.
            let found = call.elements(0)?;
            match node.op().name.as_str() {
                "Unsqueeze" if call.rank(0)? > 0 => return None,
                "Reshape" if call.length(1)? > 1 => return None,
                "Flatten" => return None,
                _ => found,
            }
        }
        "Concat" => {
            let mut all = Vec::new();
            for k in 0..node.inputs().len() {
                match call.elements(k) {
                    Some(part) => all.extend(part),
                    None => all.extend(vec![Dim::Unknown; call.length(k).filter(|l| *l <= MAX_KNOWN)?]),
                }
            }
            let ints = (0..node.inputs().len())
                .all(|k| matches!(call.elem(k), Some(ElementType::I64 | ElementType::I32)));
            ints.then_some(all)?
        }
        "Gather" => {
            let from = call.elements(0).filter(|_| flat(0))?;
            let places = call.ints(1).filter(|_| flat(1))?;
            let at = |k: i64| usize::try_from(if k < 0 { k + from.len() as i64 } else { k }).ok();
            places.into_iter().map(|k| from.get(at(k)?).cloned()).collect::<Option<Vec<_>>>()?
        }
        "Slice" => {
            let from = call.elements(0).filter(|_| flat(0))?;
            let attribute = |name: &str| node.ints(name).and_then(|l| l.first().copied());
            let (start, end, step) = if node.ints("starts").is_some() {
                (attribute("starts")?, attribute("ends")?, 1)
            } else {
                let step = if call.has(4) { call.int(4)? } else { 1 };
                (call.int(1)?, call.int(2)?, step)
            };
            let n = from.len() as i64;
            let (first, count) = crate::slicing::slice(n, start, end, step)?;
            let at = |k: i64| usize::try_from(first.checked_add(k.checked_mul(step)?)?).ok();
            (0..count).map(|k| from.get(at(k)?).cloned()).collect::<Option<Vec<_>>>()?
        }
        "Split" => {
            let from = call.elements(0).filter(|_| flat(0))?;
            let parts = call.moved_ints("split", 1)??;
            from.get(..usize::try_from(*parts.first()?).ok()?)?.to_vec()
        }
        "Expand" => {
            let from = call.elements(0)?;
            let target = call.ints(1)?;
            match (from.as_slice(), target.as_slice()) {
                (_, [1] | []) => from,
                ([only], [n]) if (0..=MAX_KNOWN as i64).contains(n) => vec![only.clone(); *n as usize],
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Elements that are computed from those of the operands.
fn computed(call: &Call) -> Option<Vec<Dim>> {
    let node = call.node;
    let flat = |k: usize| call.rank(k).is_none_or(|r| r <= 1);
    Some(match call.node.op().name.as_str() {
        "Add" => pairwise(call, add)?,
        "Sub" => pairwise(call, sub)?,
        "Mul" => pairwise(call, mul)?,
        "Div" => pairwise(call, |a, b| match (a, b.known()) {
            // The operator truncates; the two agree where nothing is negative, as extents are.
            (Dim::Known(a), Some(b)) => trunc_div(*a, b).map_or(Dim::Unknown, Dim::Known),
            (Dim::Symbolic(_), Some(b)) if b > 0 => div(a, b),
            _ => Dim::Unknown,
        })?,
        "Mod" => pairwise(call, |a, b| match (a, b) {
            (Dim::Known(a), Dim::Known(b)) if *b > 0 && *a >= 0 => Dim::Known(a % b),
            _ => Dim::Unknown,
        })?,
        "Max" if node.inputs().len() == 2 => pairwise(call, |a, b| match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => Dim::Known(*a.max(b)),
            _ if a == b => a.clone(),
            _ => Dim::Unknown,
        })?,
        "Min" if node.inputs().len() == 2 => pairwise(call, |a, b| match (a, b) {
            (Dim::Known(a), Dim::Known(b)) => Dim::Known(*a.min(b)),
            _ if a == b => a.clone(),
            _ => Dim::Unknown,
        })?,
        "Neg" => call.elements(0)?.iter().map(|d| sub(&Dim::Known(0), d)).collect(),
        "ReduceProd" if reduces_all(call) => vec![product(&call.elements(0).filter(|_| flat(0))?)],
        "Where" => {
            let condition = call.constant(0)?.to_bools()?;
            let (a, b) = (call.elements(1)?, call.elements(2)?);
            let n = condition.len().max(a.len()).max(b.len());
            let at = |list: &[Dim], k: usize| list.get(if list.len() == 1 { 0 } else { k }).cloned();
            let chosen = |k: usize| {
                let c = *condition.get(if condition.len() == 1 { 0 } else { k })?;
                if c { at(&a, k) } else { at(&b, k) }
            };
            (0..n).map(chosen).collect::<Option<Vec<_>>>()?
        }
        _ => return None,
    })
}

fn reduces_all(call: &Call) -> bool {
    call.moved_ints("axes", 1).is_some_and(|axes| axes.is_none_or(|a| a == [0] || a == [-1]))
}

fn pairwise(call: &Call, op: impl Fn(&Dim, &Dim) -> Dim) -> Option<Vec<Dim>> {
    let ints = |k: usize| matches!(call.elem(k), Some(ElementType::I64 | ElementType::I32));
    let (a, b) = (call.elements(0)?, call.elements(1)?);
    if !ints(0) || !ints(1) || (a.len() != b.len() && a.len() != 1 && b.len() != 1) {
        return None;
    }
    let n = if a.len() == 1 { b.len() } else { a.len() };
    let at = |list: &[Dim], k: usize| list[if list.len() == 1 { 0 } else { k }].clone();
    Some((0..n).map(|k| op(&at(&a, k), &at(&b, k))).collect())
}
