//! Attention with a state instead of all keys: linear attention, and the convolution before it.

use loops::{Scalar, Size};

use super::attention::finish;
use super::storage_type::fit;
use super::value::{Val, int, number, size};
use super::{Done, Op, Refusal};

/// A depthwise convolution over the past, which is an input and a result.
pub(super) fn causal_conv(op: &mut Op) -> Done {
    let (x, w) = (op.ranked(0, 3..=3)?, op.ranked(1, 3..=3)?);
    let (b, past) = (op.optional_ranked(2, 1)?, op.optional_ranked(3, 3)?);
    let activated = match op.string("activation", "none") {
        "none" => false,
        "silu" | "swish" => true,
        other => return Err(Refusal::inputs(format!("the activation `{other}` is not known"))),
    };
    let Some(taps) = w.shape.last().and_then(Size::as_constant) else {
        return Err(Refusal::not_constant("the width of the kernel must be known"));
    };
    if op.moderate("the width of the kernel", taps)? < 1 {
        return Err(Refusal::inputs("the kernel is empty"));
    }
    let elem = x.elem;
    let scalar = x.scalar();
    let before = Size::constant(taps - 1);
    let extended = vec![x.shape[0].clone(), x.shape[1].clone(), before.clone() + x.shape[2].clone()];
    let long = op.cx.tensor(&extended, &mut |_, at| {
        let i = at[2].int();
        let old = match &past {
            Some(past) if taps > 1 => past.at(&[at[0].clone(), at[1].clone(), i.clone()]),
            _ => number(scalar, 0.0),
        };
        let new = x.at(&[at[0].clone(), at[1].clone(), &i - int(taps - 1)]);
        old.when(&i.lt(&int(taps - 1)), &new)
    });
    let long = op.cx.hold("extended", long.stored());
    let kernel = Size::constant(taps);
    let y = op.cx.tensor(&x.shape, &mut |cx, at| {
        let sum = cx.fold(&kernel, number(scalar, 0.0), |_, k, acc| {
            let place = at[2].int() + k.int();
            acc + long.at(&[at[0].clone(), at[1].clone(), place]) * w.at(&[at[1].clone(), int(0), k])
        });
        let sum = match &b {
            Some(b) => sum + b.at(&at[1..2]),
            None => sum,
        };
        let sum = fit(cx, elem, sum);
        if !activated {
            return sum;
        }
        cx.bind("v", sum, |cx, v| {
            let value = super::elementwise::sigmoid_of(cx, &v) * &v;
            fit(cx, elem, value)
        })
    });
    let mut kept = x.shape.clone();
    kept[2] = before;
    let shape = x.shape.clone();
    let present = op
        .cx
        .tensor(&kept, &mut |_, at| long.at(&[at[0].clone(), at[1].clone(), at[2].int() + size(&shape[2])]));
    finish(op, vec![(y, elem, x.shape), (present, elem, kept)])
}

/// Attention with a state matrix for each head. Each key and value decays, corrects and updates it.
pub(super) fn linear_attention(op: &mut Op) -> Done {
    let (q, k, v) = (op.ranked(0, 3..=3)?, op.ranked(1, 3..=3)?, op.ranked(2, 3..=3)?);
    let past = op.optional_ranked(3, 4)?;
    let (decay, beta) = (op.optional_ranked(4, 3)?, op.optional_ranked(5, 3)?);
    let rule = op.string("update_rule", "gated_delta").to_owned();
    let (gated, corrected) = match rule.as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => return Err(Refusal::inputs(format!("the rule `{other}` is not known"))),
    };
    let (nq, nk) = (op.int("q_num_heads", 0), op.int("kv_num_heads", 0));
    if nq < 1 || nk < 1 || nq % nk != 0 {
        return Err(Refusal::inputs("numbers of heads are needed"));
    }
    let divide = |n: &Size, by: i64| {
        n.exact_div(&Size::constant(by)).ok_or_else(|| Refusal::inputs("the heads do not divide the width"))
    };
    let (dk, dv) = (divide(&q.shape[2], nq)?, divide(&v.shape[2], nk)?);
    let Some(width) = dk.as_constant() else {
        return Err(Refusal::not_constant("the size of a head must be known"));
    };
    let scale = match op.float("scale", 0.0) {
        0.0 => 1.0 / (width as f64).sqrt(),
        scale => scale,
    };
    let single = Scalar::F32;
    let (elem, state_elem) = (q.elem, past.as_ref().map_or(q.elem, |p| p.elem));
    let state_shape = vec![q.shape[0].clone(), Size::constant(nk), dk.clone(), dv.clone()];
    let start = match &past {
        Some(past) => past.val.clone(),
        None => op.cx.tensor(&state_shape, &mut |_, _| number(single, 0.0)),
    };
    let head = |h: &Val, n: &Size, d: &Val| h.int() * size(n) + d.int();
    let steps = q.shape[1].clone();
    let vectors = vec![q.shape[0].clone(), Size::constant(nk), dv.clone()];
    let states = op.cx.scan(&steps, start.clone(), |cx, t, state| {
        let decayed = cx.tensor(&state_shape, &mut |_, at| {
            let here = state.at(at);
            match (&decay, gated) {
                (Some(decay), true) => {
                    let per_head = decay.shape[2].as_constant() == Some(nk);
                    let place = if per_head { at[1].int() } else { head(&at[1], &dk, &at[2]) };
                    here * decay.at(&[at[0].clone(), t.clone(), place]).exp()
                }
                _ => here,
            }
        });
        cx.bind("decayed", decayed.stored(), |cx, decayed| {
            let key = |b: &Val, h: &Val, d: &Val| k.at(&[b.clone(), t.clone(), head(h, &dk, d)]);
            let values = cx.tensor(&vectors, &mut |cx, at| {
                let value = v.at(&[at[0].clone(), t.clone(), head(&at[1], &dv, &at[2])]);
                match (&beta, corrected) {
                    (Some(beta), true) => {
                        let found = cx.fold(&dk, number(single, 0.0), |_, d, acc| {
                            let place = [at[0].clone(), at[1].clone(), d.clone(), at[2].clone()];
                            acc + decayed.at(&place) * key(&at[0], &at[1], &d)
                        });
                        let one = beta.shape[2].as_constant() == Some(1);
                        let b = if one { int(0) } else { at[1].int() };
                        beta.at(&[at[0].clone(), t.clone(), b]) * (value - found)
                    }
                    _ => value,
                }
            });
            cx.bind("values", values.stored(), |cx, values| {
                cx.tensor(&state_shape, &mut |_, at| {
                    let outer = key(&at[0], &at[1], &at[2])
                        * values.at(&[at[0].clone(), at[1].clone(), at[3].clone()]);
                    decayed.at(at) + outer
                })
            })
        })
    });
    let states = op.cx.hold("states", states.stored());
    let shape = vec![q.shape[0].clone(), q.shape[1].clone(), dv.clone() * Size::constant(nq)];
    let y = op.cx.tensor(&shape, &mut |cx, at| {
        let (h, m) = (at[2].int() / size(&dv), at[2].int() % size(&dv));
        let shared = &h / int(nq / nk);
        let sum = cx.fold(&dk, number(single, 0.0), |_, d, acc| {
            let x = q.at(&[at[0].clone(), at[1].clone(), head(&h, &dk, &d)]);
            acc + x * states.at(&[at[1].clone(), at[0].clone(), shared, d, m])
        });
        fit(cx, elem, number(single, scale) * sum)
    });
    let last = op.cx.tensor(&state_shape, &mut |cx, at| {
        let end = states.at(&[&[size(&steps) - int(1)], at].concat());
        fit(cx, state_elem, end)
    });
    finish(op, vec![(y, elem, shape), (last, state_elem, state_shape)])
}
