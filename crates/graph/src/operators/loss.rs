//! Losses over classes, and dropout.

use super::build::{Cx, Extents};
use super::value::{Val, int, number, truth};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// The negated log-probabilities of the chosen classes, weighted, and reduced as requested.
/// `log_probability` gives one at a position of the input.
fn negative_log_likelihood(
    op: &mut Op,
    x: &Input,
    target: &Input,
    weight: Option<Input>,
    log_probability: &dyn Fn(&mut Cx, &[Val]) -> Val,
) -> Result<(Val, Extents), Refusal> {
    let reduction = op.string("reduction", "mean").to_owned();
    let ignore = op.attribute("ignore_index").and_then(|a| a.int());
    let scalar = x.scalar();
    let shape = target.shape.clone();
    let classes = x.shape[1].clone();
    // weight of a place, 0 where the class is ignored
    let weighted = |at: &[Val]| {
        let class = target.at(at).int();
        let w = match &weight {
            Some(w) => w.at(std::slice::from_ref(&class)),
            None => number(scalar, 1.0),
        };
        match ignore {
            Some(ignored) => number(scalar, 0.0).when(&class.eq(&int(ignored)), &w),
            None => w,
        }
    };
    let loss = |cx: &mut Cx, at: &[Val]| {
        let class = target.at(at).int().below(&classes);
        let place = [&at[..1], &[class], &at[1..]].concat();
        let value = log_probability(cx, &place);
        let value = value * (number(scalar, 0.0) - weighted(at));
        match ignore {
            Some(ignored) => number(scalar, 0.0).when(&target.at(at).int().eq(&int(ignored)), &value),
            None => value,
        }
    };
    let cx = &mut op.cx;
    let zero = || number(scalar, 0.0);
    Ok(match reduction.as_str() {
        "none" => (cx.tensor(&shape, &mut |cx, at| loss(cx, at)), shape),
        "sum" => (cx.fold_all(&shape, zero(), &mut |cx, k, acc| acc + loss(cx, k)), vec![]),
        _ => {
            let total = cx.fold_all(&shape, zero(), &mut |cx, k, acc| acc + loss(cx, k));
            let weights = cx.fold_all(&shape, zero(), &mut |_, k, acc| acc + weighted(k));
            (total / weights, vec![])
        }
    })
}

/// Scores by class, the class of each place, and weights of classes.
fn operands(op: &mut Op) -> Result<(Input, Input, Option<Input>), Refusal> {
    let x = op.ranked(0, 2..)?;
    let target = op.ranked(1, x.rank() - 1..x.rank())?;
    Ok((x, target, op.optional(2)?))
}

pub(super) fn nll(op: &mut Op) -> Done {
    let (x, target, weight) = operands(op)?;
    let (val, shape) = negative_log_likelihood(op, &x, &target, weight, &|_, place| x.at(place))?;
    op.result(val, x.elem, shape);
    Ok(())
}

pub(super) fn softmax_cross_entropy(op: &mut Op) -> Done {
    let (x, target, weight) = operands(op)?;
    let classes = x.shape[1].clone();
    let table =
        super::reduce::along(&mut op.cx, &x, 1, &classes, &mut |cx, row| cx.call("log_softmax", &[row]));
    let binder = table.stored();
    let log = op.cx.hold("log_probability", binder);
    let (val, shape) = {
        let logs = log.clone();
        negative_log_likelihood(op, &x, &target, weight, &move |_, place| logs.at(place))?
    };
    let all = val.pair(&log);
    let all = op.cx.release(all);
    op.results_of(all, vec![(x.elem, shape), (x.elem, x.shape.clone())]);
    Ok(())
}

/// In inference, and with ratio 0, the input itself.
pub(super) fn dropout(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let training = match op.constant_numbers(2) {
        Ok(training) => training.is_some_and(|v| v.first().is_some_and(|t| *t != 0.0)),
        Err(_) => return Err(Refusal::not_constant("whether this is training must be known")),
    };
    let ratio = match op.constant_numbers(1) {
        Ok(Some(ratio)) => ratio.first().copied().unwrap_or(0.5),
        _ => 0.5,
    };
    if training && ratio != 0.0 && op.call.opset >= 12 {
        return Err(Refusal::types("random numbers have no program"));
    }
    op.view = (op.call.outputs < 2).then_some(0);
    op.result(x.val.clone(), x.elem, x.shape.clone());
    if op.call.outputs > 1 {
        let mask = op.cx.tensor(&x.shape, &mut |_, _| truth(true));
        op.result(mask, ElementType::Bool, x.shape);
    }
    Ok(())
}
