//! Training steps of optimisers, from ONNX's preview domain for training.

use super::value::{Val, int, number};
use super::{Done, Input, Op, Refusal};

/// The one number of an input, at the type of `x`.
fn one(input: &Input, x: &Input) -> Val {
    input.at(&vec![int(0); input.rank()]).to(x.scalar())
}

/// Inputs in groups of `n` behind the rate and the count: values, gradients, states.
fn groups(op: &mut Op, kinds: usize) -> Result<(Input, Input, usize), Refusal> {
    let (rate, count) = (op.input(0)?, op.input(1)?);
    let rest = op.arity() - 2;
    if rest == 0 || !rest.is_multiple_of(kinds) {
        return Err(Refusal::inputs("the inputs do not form groups"));
    }
    Ok((rate, count, rest / kinds))
}

pub(super) fn adagrad(op: &mut Op) -> Done {
    let (rate, count, n) = groups(op, 3)?;
    let (decay, epsilon, norm) =
        (op.float("decay_factor", 0.0), op.float("epsilon", 1e-6), op.float("norm_coefficient", 0.0));
    for state in [false, true] {
        for k in 0..n {
            let (x, g, h) = (op.input(2 + k)?, op.input(2 + n + k)?, op.input(2 + 2 * n + k)?);
            let s = x.scalar();
            op.tensor(x.elem, &x.shape, &mut |_, at| {
                let rate = one(&rate, &x) / (number(s, 1.0) + one(&count, &x) * number(s, decay));
                let gradient = number(s, norm) * x.at(at) + g.at(at);
                let squares = h.at(at) + &gradient * &gradient;
                if state {
                    squares
                } else {
                    x.at(at) - rate * gradient / (squares.sqrt() + number(s, epsilon))
                }
            });
        }
    }
    Ok(())
}

pub(super) fn adam(op: &mut Op) -> Done {
    let (rate, count, n) = groups(op, 4)?;
    let (alpha, beta, epsilon) = (op.float("alpha", 0.9), op.float("beta", 0.999), op.float("epsilon", 1e-6));
    let (norm, post) = (op.float("norm_coefficient", 0.0), op.float("norm_coefficient_post", 0.0));
    for result in 0..3 {
        for k in 0..n {
            let (x, g) = (op.input(2 + k)?, op.input(2 + n + k)?);
            let (v, h) = (op.input(2 + 2 * n + k)?, op.input(2 + 3 * n + k)?);
            let s = x.scalar();
            op.tensor(x.elem, &x.shape, &mut |_, at| {
                let of = |c: f64| number(s, c);
                let gradient = of(norm) * x.at(at) + g.at(at);
                let momentum = of(alpha) * v.at(at) + of(1.0 - alpha) * &gradient;
                let squares = of(beta) * h.at(at) + of(1.0 - beta) * (&gradient * &gradient);
                let t = one(&count, &x);
                let corrected =
                    one(&rate, &x) * (of(1.0) - of(beta).pow(&t)).sqrt() / (of(1.0) - of(alpha).pow(&t));
                let rate = corrected.when(&t.gt(&of(0.0)), &one(&rate, &x));
                match result {
                    0 => of(1.0 - post) * (x.at(at) - rate * (&momentum / (squares.sqrt() + of(epsilon)))),
                    1 => momentum,
                    _ => squares,
                }
            });
        }
    }
    Ok(())
}

pub(super) fn momentum(op: &mut Op) -> Done {
    let (rate, count, n) = groups(op, 3)?;
    let (alpha, beta, norm) =
        (op.float("alpha", 0.0), op.float("beta", 0.0), op.float("norm_coefficient", 0.0));
    let nesterov = op.string("mode", "standard") == "nesterov";
    for state in [false, true] {
        for k in 0..n {
            let (x, g, v) = (op.input(2 + k)?, op.input(2 + n + k)?, op.input(2 + 2 * n + k)?);
            let s = x.scalar();
            op.tensor(x.elem, &x.shape, &mut |_, at| {
                let gradient = number(s, norm) * x.at(at) + g.at(at);
                let factor = number(s, beta).when(&one(&count, &x).gt(&number(s, 0.0)), &number(s, 1.0));
                let next = number(s, alpha) * v.at(at) + factor * &gradient;
                if state {
                    return next;
                }
                let step = if nesterov { gradient + number(s, alpha) * next } else { next };
                x.at(at) - one(&rate, &x) * step
            });
        }
    }
    Ok(())
}
