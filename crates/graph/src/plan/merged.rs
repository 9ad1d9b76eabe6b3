//! Leading extents that a call treats alike become one: `[batch, sequence, 768]` is as many rows of
//! 768 as the product says. So threads share the rows, however they divide into batches.

use loops::Size;

use crate::attribute::AttributeValue;
use crate::operators::{self, After, Call, Meaning, Operand};

/// The call with its leading extents as one, if it has several that are not all numbers.
pub(super) fn merged<'a>(call: &Call<'a>, after: &After, meaning: &Meaning) -> Option<(Call<'a>, After)> {
    let [result] = &meaning.results[..] else { return None };
    let shape = &result.shape;
    // What decides a shape would not go along.
    let all_read = call.inputs.iter().flatten().count() == meaning.arguments.len();
    let elementwise = all_read && operators::elementwise(meaning).is_some();
    let many = alike(call, shape.len(), elementwise)?;
    let all = |count: usize| {
        let rows = shape.get(..count)?;
        let open = count > 1 && rows.iter().any(|n| n.as_constant().is_none());
        if !open {
            return None;
        }
        let one = |o: &[Size]| merge(o, shape.len(), rows);
        let input = |(k, o): (usize, &Option<Operand<'a>>)| match o {
            // The table of a `Gather` has rows of its own, and indices have no others.
            Some(o) if call.op.is("Gather") => match k {
                0 => Some(Some(o.clone())),
                _ => Some(Some(Operand { shape: vec![rows_of(&o.shape)], ..o.clone() })),
            },
            Some(o) => Some(Some(Operand { shape: one(&o.shape)?, ..o.clone() })),
            None => Some(None),
        };
        let inputs = call.inputs.iter().enumerate().map(input).collect::<Option<Vec<_>>>()?;
        let beside = |(elem, o): &(_, Vec<Size>)| Some((*elem, one(o)?));
        let operands = after.operands.iter().map(beside).collect::<Option<Vec<_>>>()?;
        Some((Call { inputs, ..call.clone() }, After { operands, stages: after.stages.clone() }))
    };
    many.rev().find_map(all)
}

/// How many leading extents a call may treat alike.
fn alike(call: &Call<'_>, rank: usize, elementwise: bool) -> Option<std::ops::RangeInclusive<usize>> {
    let attribute = |name: &str| call.attributes.iter().find(|a| &*a.name == name).map(|a| &a.value);
    let int = |name: &str| attribute(name).and_then(AttributeValue::int);
    if !call.op.is_standard() {
        return None;
    }
    let first = call.inputs.first()?.as_ref()?;
    let behind = match &*call.op.name {
        "Gather" if int("axis").unwrap_or(0) == 0 => {
            let many = call.inputs.get(1)?.as_ref()?.shape.len();
            return Some(many..=many);
        }
        "Softmax" | "LogSoftmax" if call.opset >= 13 => int("axis").unwrap_or(-1),
        "LayerNormalization" => int("axis").unwrap_or(-1),
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceL2" | "ReduceSumSquare" => {
            let input = call.inputs.get(1).and_then(|o| o.as_ref());
            let given = input.map(|o| o.constant.and_then(|t| t.to_ints()).unwrap_or_default());
            let axes = given.or_else(|| attribute("axes")?.ints().map(<[i64]>::to_vec))?;
            axes.iter().copied().min()?
        }
        _ if elementwise && attribute("axis").is_none() => {
            let last = first.shape.last().is_some_and(|n| n.as_constant().is_none());
            return Some(2..=if last { rank } else { rank.saturating_sub(1) });
        }
        _ => return None,
    };
    // Axes that count from the end stay where they are.
    let most = usize::try_from(first.shape.len() as i64 + behind).ok().filter(|_| behind < 0)?;
    Some(2..=most.min(rank))
}

fn rows_of(shape: &[Size]) -> Size {
    shape.iter().fold(Size::constant(1), |n, d| n * d.clone())
}

/// The extents of an operand with those that are aligned with these rows of the result as one.
fn merge(shape: &[Size], rank: usize, rows: &[Size]) -> Option<Vec<Size>> {
    let one = Size::constant(1);
    if shape.len() + rows.len() <= rank {
        return Some(shape.to_vec());
    }
    let (first, rest) = shape.split_at_checked(rows.len()).filter(|_| shape.len() >= rank)?;
    match (first == rows, first.iter().all(|n| *n == one)) {
        (true, _) => Some([&[rows_of(rows)], rest].concat()),
        (_, true) => Some([&[one], rest].concat()),
        _ => None,
    }
}
