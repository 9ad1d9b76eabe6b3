//! Recurrent networks: plain (RNN), gated (GRU), and with long short-term memory (LSTM).

use loops::Size;

use super::attention::finish;
use super::build::Cx;
use super::value::{Val, int, number, size};
use super::{Done, Input, Op, Refusal};

/// Inputs and attributes that the three networks share.
struct Network {
    x: Input,
    w: Input,
    r: Input,
    b: Option<Input>,
    lengths: Option<Input>,
    start: Option<Input>,
    hidden: i64,
    directions: usize,
    reversed: [bool; 2],
    /// Batch first.
    batched: bool,
    steps: Size,
    batch: Size,
    functions: Vec<String>,
    clip: Option<f64>,
}

fn network(op: &mut Op, defaults: &[&str]) -> Result<Network, Refusal> {
    let (x, w, r) = (op.input(0)?, op.input(1)?, op.input(2)?);
    let (b, lengths, start) = (op.optional(3)?, op.optional(4)?, op.optional(5)?);
    if x.rank() != 3 || w.rank() != 3 || r.rank() != 3 {
        return Err(Refusal::inputs("input and weights have 3 dimensions"));
    }
    let Some(hidden) = r.shape[2].as_constant() else {
        return Err(Refusal::not_constant("the size of the hidden state must be known"));
    };
    let (directions, reversed) = match op.string("direction", "forward") {
        "forward" => (1, [false, false]),
        "reverse" => (1, [true, false]),
        "bidirectional" => (2, [false, true]),
        other => return Err(Refusal::inputs(format!("the direction `{other}` is not known"))),
    };
    let batched = op.int("layout", 0) != 0;
    let (steps, batch) = match batched {
        true => (x.shape[1].clone(), x.shape[0].clone()),
        false => (x.shape[0].clone(), x.shape[1].clone()),
    };
    let functions: Vec<String> = match op.attribute("activations") {
        Some(crate::AttributeValue::Strings(list)) => {
            list.iter().map(|s| String::from_utf8_lossy(s).to_ascii_lowercase()).collect()
        }
        _ => (0..directions).flat_map(|_| defaults.iter().map(|s| (*s).to_owned())).collect(),
    };
    if functions.len() != directions * defaults.len() {
        return Err(Refusal::inputs("another number of activations is needed"));
    }
    if let Some(f) = functions.iter().find(|f| !["sigmoid", "tanh", "relu"].contains(&f.as_str())) {
        return Err(Refusal::inputs(format!("the activation `{f}` is not supported")));
    }
    let clip = op.attribute("clip").and_then(|a| a.float()).map(f64::from);
    Ok(Network {
        x,
        w,
        r,
        b,
        lengths,
        start,
        hidden,
        directions,
        reversed,
        batched,
        steps,
        batch,
        functions,
        clip,
    })
}

impl Network {
    fn scalar(&self) -> loops::Scalar {
        self.x.scalar()
    }

    /// The time step that is done as number `t`.
    fn time(&self, direction: usize, t: &Val) -> Val {
        match self.reversed[direction] {
            true => size(&self.steps) - int(1) - t.int(),
            false => t.int(),
        }
    }

    /// `x W` of one row of gate weights, without bias.
    fn input_part(&self, cx: &mut Cx, direction: usize, t: &Val, batch: &Val, row: &Val) -> Val {
        let time = self.time(direction, t);
        let n = self.x.shape[2].clone();
        cx.fold(&n, number(self.scalar(), 0.0), |_, i, acc| {
            let place = if self.batched {
                [batch.clone(), time, i.clone()]
            } else {
                [time, batch.clone(), i.clone()]
            };
            acc + self.x.at(&place) * self.w.at(&[int(direction as i64), row.clone(), i])
        })
    }

    /// `h R` of one row of gate weights.
    fn state_part(&self, cx: &mut Cx, direction: usize, h: &Val, batch: &Val, row: &Val) -> Val {
        let n = Size::constant(self.hidden);
        cx.fold(&n, number(self.scalar(), 0.0), |_, i, acc| {
            acc + h.at(&[batch.clone(), i.clone()]) * self.r.at(&[int(direction as i64), row.clone(), i])
        })
    }

    /// A bias: `second` counts from the biases of the state on.
    fn bias(&self, direction: usize, gates: i64, row: &Val, second: bool) -> Val {
        match &self.b {
            None => number(self.scalar(), 0.0),
            Some(b) => {
                let place = row.int() + int(if second { gates * self.hidden } else { 0 });
                b.at(&[int(direction as i64), place])
            }
        }
    }

    fn activate(&self, cx: &mut Cx, direction: usize, k: usize, x: Val) -> Val {
        let x = match self.clip {
            Some(clip) => x.max(&number(self.scalar(), -clip)).min(&number(self.scalar(), clip)),
            None => x,
        };
        let per = self.functions.len() / self.directions;
        match self.functions[direction * per + k].as_str() {
            "sigmoid" => super::elementwise::sigmoid_of(cx, &x),
            "relu" => cx.call("relu", &[x]),
            _ => super::elementwise::tanh_of(cx, &x),
        }
    }

    /// The first state of a direction.
    fn first(&self, cx: &mut Cx, direction: usize, given: &Option<Input>) -> Val {
        let shape = self.state_shape();
        cx.tensor(&shape, &mut |_, at| match given {
            None => number(self.scalar(), 0.0),
            Some(x) if self.batched => x.at(&[at[0].clone(), int(direction as i64), at[1].clone()]),
            Some(x) => x.at(&[int(direction as i64), at[0].clone(), at[1].clone()]),
        })
    }

    fn state_shape(&self) -> Vec<Size> {
        vec![self.batch.clone(), Size::constant(self.hidden)]
    }

    /// The new state if the sample is long enough, else the old one.
    fn kept(&self, direction: usize, t: &Val, batch: &Val, new: Val, old: &Val) -> Val {
        match &self.lengths {
            Some(lengths) => {
                let time = self.time(direction, t);
                new.when(&time.lt(&lengths.at(std::slice::from_ref(batch)).int()), old)
            }
            None => new,
        }
    }

    /// All states in the layout that is asked for, and the last ones.
    fn outputs(&self, op: &mut Op, states: &[Val], cells: Option<&[Val]>) -> Done {
        let h = Size::constant(self.hidden);
        let d = Size::constant(self.directions as i64);
        let scalar = self.scalar();
        let elem = self.x.elem;
        let (y_shape, last_shape) = match self.batched {
            true => (
                vec![self.batch.clone(), self.steps.clone(), d.clone(), h.clone()],
                vec![self.batch.clone(), d, h],
            ),
            false => (
                vec![self.steps.clone(), d.clone(), self.batch.clone(), h.clone()],
                vec![d, self.batch.clone(), h],
            ),
        };
        let pick = |states: &[Val], direction: &Val, place: &dyn Fn(usize) -> Vec<Val>| {
            let mut value = states[0].at(&place(0));
            if let Some(second) = states.get(1) {
                value = second.at(&place(1)).when(&direction.int().eq(&int(1)), &value);
            }
            value
        };
        let y = op.cx.tensor(&y_shape, &mut |_, at| {
            let (t, b, dir) = if self.batched { (&at[1], &at[0], &at[2]) } else { (&at[0], &at[2], &at[1]) };
            let value = pick(states, dir, &|k| vec![self.time(k, t), b.clone(), at[3].clone()]);
            match &self.lengths {
                Some(lengths) => {
                    let inside = t.int().lt(&lengths.at(std::slice::from_ref(b)).int());
                    value.when(&inside, &number(scalar, 0.0))
                }
                None => value,
            }
        });
        let last = |op: &mut Op, states: &[Val]| {
            op.cx.tensor(&last_shape, &mut |_, at| {
                let (b, dir) = if self.batched { (&at[0], &at[1]) } else { (&at[1], &at[0]) };
                pick(states, dir, &|_| vec![size(&self.steps) - int(1), b.clone(), at[2].clone()])
            })
        };
        let mut all = vec![(y, elem, y_shape.clone())];
        all.push((last(op, states), elem, last_shape.clone()));
        if let Some(cells) = cells {
            all.push((last(op, cells), elem, last_shape.clone()));
        }
        all.truncate(op.call.outputs.max(1));
        finish(op, all)
    }
}

pub(super) fn rnn(op: &mut Op) -> Done {
    let net = network(op, &["tanh"])?;
    let mut states = Vec::new();
    for d in 0..net.directions {
        let start = net.first(&mut op.cx, d, &net.start);
        let all = op.cx.scan(&net.steps, start, |cx, t, h| {
            cx.tensor(&net.state_shape(), &mut |cx, at| {
                let row = at[1].int();
                let sum = net.input_part(cx, d, &t, &at[0], &row)
                    + net.state_part(cx, d, &h, &at[0], &row)
                    + net.bias(d, 1, &row, false)
                    + net.bias(d, 1, &row, true);
                let new = net.activate(cx, d, 0, sum);
                net.kept(d, &t, &at[0], new, &h.at(at))
            })
        });
        states.push(op.cx.hold("states", all.stored()));
    }
    net.outputs(op, &states, None)
}

pub(super) fn gru(op: &mut Op) -> Done {
    let net = network(op, &["sigmoid", "tanh"])?;
    let after = op.int("linear_before_reset", 0) != 0;
    let mut states = Vec::new();
    for d in 0..net.directions {
        let start = net.first(&mut op.cx, d, &net.start);
        let gate = |cx: &mut Cx, t: &Val, h: &Val, at: &[Val], k: i64| {
            let row = at[1].int() + int(k * net.hidden);
            let sum = net.input_part(cx, d, t, &at[0], &row)
                + net.state_part(cx, d, h, &at[0], &row)
                + net.bias(d, 3, &row, false)
                + net.bias(d, 3, &row, true);
            net.activate(cx, d, 0, sum)
        };
        let all = op.cx.scan(&net.steps, start, |cx, t, h| {
            // the reset gate, and the state behind it
            let reset = cx.tensor(&net.state_shape(), &mut |cx, at| gate(cx, &t, &h, at, 1));
            cx.bind("reset", reset.stored(), |cx, reset| {
                let damped = cx.tensor(&net.state_shape(), &mut |_, at| reset.at(at) * h.at(at));
                cx.bind("damped", damped.stored(), |cx, damped| {
                    cx.tensor(&net.state_shape(), &mut |cx, at| {
                        let row = at[1].int() + int(2 * net.hidden);
                        let x = net.input_part(cx, d, &t, &at[0], &row);
                        let sum = if after {
                            let inner = net.state_part(cx, d, &h, &at[0], &row) + net.bias(d, 3, &row, true);
                            x + reset.at(at) * inner + net.bias(d, 3, &row, false)
                        } else {
                            x + net.state_part(cx, d, &damped, &at[0], &row)
                                + net.bias(d, 3, &row, true)
                                + net.bias(d, 3, &row, false)
                        };
                        let candidate = net.activate(cx, d, 1, sum);
                        let update = gate(cx, &t, &h, at, 0);
                        cx.bind("z", update, |_, z| {
                            let new = (number(net.scalar(), 1.0) - &z) * candidate + z * h.at(at);
                            net.kept(d, &t, &at[0], new, &h.at(at))
                        })
                    })
                })
            })
        });
        states.push(op.cx.hold("states", all.stored()));
    }
    net.outputs(op, &states, None)
}

pub(super) fn lstm(op: &mut Op) -> Done {
    let net = network(op, &["sigmoid", "tanh", "tanh"])?;
    let (cell, peep) = (op.optional(6)?, op.optional(7)?);
    if op.int("input_forget", 0) != 0 {
        return Err(Refusal::inputs("coupled gates (`input_forget`) are not supported"));
    }
    let (mut states, mut cells) = (Vec::new(), Vec::new());
    for d in 0..net.directions {
        let start = {
            let h = net.first(&mut op.cx, d, &net.start);
            let c = net.first(&mut op.cx, d, &cell);
            let shape = net.state_shape();
            op.cx.tensor(&shape, &mut |_, at| h.at(at).pair(&c.at(at)))
        };
        let all = op.cx.scan(&net.steps, start, |cx, t, state| {
            // the old hidden state as an array of its own
            let h = cx.tensor(&net.state_shape(), &mut |_, at| state.at(at).first());
            cx.bind("h", h.stored(), |cx, h| {
                cx.tensor(&net.state_shape(), &mut |cx, at| {
                    let linear = |cx: &mut Cx, k: i64| {
                        let row = at[1].int() + int(k * net.hidden);
                        net.input_part(cx, d, &t, &at[0], &row)
                            + net.state_part(cx, d, &h, &at[0], &row)
                            + net.bias(d, 4, &row, false)
                            + net.bias(d, 4, &row, true)
                    };
                    let through = |k: i64, c: &Val| match &peep {
                        Some(p) => p.at(&[int(d as i64), at[1].int() + int(k * net.hidden)]) * c,
                        None => number(net.scalar(), 0.0),
                    };
                    cx.bind("c", state.at(at).second(), |cx, c| {
                        let i = linear(cx, 0) + through(0, &c);
                        let i = net.activate(cx, d, 0, i);
                        let f = linear(cx, 2) + through(2, &c);
                        let f = net.activate(cx, d, 0, f);
                        let g = linear(cx, 3);
                        let g = net.activate(cx, d, 1, g);
                        cx.bind("next", f * &c + i * g, |cx, next| {
                            let o = linear(cx, 1) + through(1, &next);
                            let o = net.activate(cx, d, 0, o);
                            let seen = net.activate(cx, d, 2, next.clone());
                            let h_new = net.kept(d, &t, &at[0], o * seen, &state.at(at).first());
                            let c_new = net.kept(d, &t, &at[0], next, &c);
                            h_new.pair(&c_new)
                        })
                    })
                })
            })
        });
        let all = op.cx.hold("states", all.stored());
        let shape = [std::slice::from_ref(&net.steps), &net.state_shape()[..]].concat();
        states.push(op.cx.tensor(&shape, &mut |_, at| all.at(at).first()));
        cells.push(op.cx.tensor(&shape, &mut |_, at| all.at(at).second()));
    }
    net.outputs(op, &states, Some(&cells))
}
