//! Recurrent networks: plain (RNN), gated (GRU), and with long short-term memory (LSTM).
//!
//! The products with the weights are in `recurrent/sums.rs`, those with weights that are bytes in
//! `recurrent/bytes.rs`.

mod bytes;
mod sums;

use loops::Size;

use super::attention::finish;
use super::build::Cx;
use super::tiles;
use super::value::{Val, index, int, number, size};
use super::{Done, Input, Op, Refusal};
use sums::{Linear, Sums};

/// In which order a direction of a network takes the time steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Reverse,
}

/// Inputs and attributes that the three networks share.
struct Network {
    x: Input,
    w: Input,
    r: Input,
    b: Option<Input>,
    lengths: Option<Input>,
    start: Option<Input>,
    hidden: i64,
    directions: Vec<Direction>,
    /// Batch first.
    batched: bool,
    steps: Size,
    batch: Size,
    functions: Vec<String>,
    clip: Option<f64>,
}

/// The network of a call; `turned`: a line of the weights has the units for one element, not the
/// elements for one unit.
fn network(op: &mut Op, defaults: &[&str], turned: bool) -> Result<Network, Refusal> {
    let (x, w, r) = (op.input(0)?, op.input(1)?, op.input(2)?);
    let (b, lengths, start) = (op.optional(3)?, op.optional(4)?, op.optional(5)?);
    if x.rank() != 3 || w.rank() != 3 || r.rank() != 3 {
        return Err(Refusal::inputs("input and weights have 3 dimensions"));
    }
    let Some(hidden) = r.shape[if turned { 1 } else { 2 }].as_constant() else {
        return Err(Refusal::not_constant("the size of the hidden state must be known"));
    };
    let directions = match op.string("direction", "forward") {
        "forward" => vec![Direction::Forward],
        "reverse" => vec![Direction::Reverse],
        "bidirectional" => vec![Direction::Forward, Direction::Reverse],
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
        _ => directions.iter().flat_map(|_| defaults.iter().map(|s| (*s).to_owned())).collect(),
    };
    if functions.len() != directions.len() * defaults.len() {
        return Err(Refusal::inputs("another number of activations is needed"));
    }
    if let Some(f) = functions.iter().find(|f| !["sigmoid", "tanh", "relu"].contains(&f.as_str())) {
        return Err(Refusal::inputs(format!("the activation `{f}` is not supported")));
    }
    let clip = op.attribute("clip").and_then(|a| a.float()).map(f64::from);
    Ok(Network { x, w, r, b, lengths, start, hidden, directions, batched, steps, batch, functions, clip })
}

impl Network {
    fn scalar(&self) -> loops::Scalar {
        self.x.scalar()
    }

    /// The time step that is done as number `t`.
    fn time(&self, direction: usize, t: &Val) -> Val {
        match self.directions[direction] {
            Direction::Forward => t.clone(),
            Direction::Reverse => size(&self.steps) - int(1) - t.int(),
        }
    }

    /// `sum` and the bias of a unit in a gate of so many; `second`: that of the state.
    fn biased(&self, sum: Val, direction: usize, gates: i64, (gate, unit): (i64, &Val), second: bool) -> Val {
        match &self.b {
            // Adding 0 makes a positive zero of a negative one.
            None => sum + number(self.scalar(), 0.0),
            Some(b) => {
                let all = self.by_gates(b.at(&[int(direction as i64)]));
                let gate = gate + if second { gates } else { 0 };
                sum + all.at(&[index(gate, &Size::constant(2 * gates)), unit.clone()])
            }
        }
    }

    /// The units of all gates that stand one after the other, as a row for each gate; a view.
    fn by_gates(&self, all: Val) -> Val {
        match all.term() {
            Ok(term) => functional::build::split(Size::constant(self.hidden), term).into(),
            Err(refusal) => refusal.into(),
        }
    }

    fn activate(&self, cx: &mut Cx, direction: usize, k: usize, x: Val) -> Val {
        let x = match self.clip {
            Some(clip) => x.max(&number(self.scalar(), -clip)).min(&number(self.scalar(), clip)),
            None => x,
        };
        let per = self.functions.len() / self.directions.len();
        match self.functions[direction * per + k].as_str() {
            "sigmoid" => super::elementwise::sigmoid_of(cx, &x),
            "relu" => cx.call("relu", &[x]),
            _ => super::number_functions::tanh_of(cx, &x),
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
                new.when(&time.int().lt(&lengths.at(std::slice::from_ref(batch)).int()), old)
            }
            None => new,
        }
    }

    /// All states in the layout that is asked for, and the last ones.
    fn outputs(&self, op: &mut Op, states: &[Val], cells: Option<&[Val]>) -> Done {
        let h = Size::constant(self.hidden);
        let d = Size::constant(self.directions.len() as i64);
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
    let net = network(op, &["tanh"], false)?;
    let mut sums = Sums::of(op, &net, 1, false);
    let mut states = Vec::new();
    for d in 0..net.directions.len() {
        let start = net.first(&mut op.cx, d, &net.start);
        let inputs = sums.inputs(op, &net, d);
        let all = op.cx.scan(&net.steps, start, |cx, t, h| {
            sums.states(cx, &net, d, &h, 0, |cx, state| {
                cx.tensor(&net.state_shape(), &mut |cx, at| {
                    let unit = (0, &at[1]);
                    let sum = inputs.at(cx, &net, &net.time(d, &t), &at[0], unit)
                        + state.at(cx, &net, &at[0], unit);
                    let sum = net.biased(sum, d, 1, unit, false);
                    let sum = net.biased(sum, d, 1, unit, true);
                    let new = net.activate(cx, d, 0, sum);
                    net.kept(d, &t, &at[0], new, &h.at(at))
                })
            })
        });
        states.push(op.cx.hold("states", all.stored()));
    }
    net.outputs(op, &states, None)
}

pub(super) fn gru(op: &mut Op) -> Done {
    let net = network(op, &["sigmoid", "tanh"], false)?;
    let after = op.int("linear_before_reset", 0) != 0;
    // The candidate needs the state behind the reset gate: a product of its own.
    let mut sums = Sums::of(op, &net, 3, !after);
    let mut states = Vec::new();
    for d in 0..net.directions.len() {
        let start = net.first(&mut op.cx, d, &net.start);
        let inputs = sums.inputs(op, &net, d);
        let gate = |cx: &mut Cx, t: &Val, state: &Linear, at: &[Val], k: i64| {
            let unit = (k, &at[1]);
            let sum = inputs.at(cx, &net, &net.time(d, t), &at[0], unit) + state.at(cx, &net, &at[0], unit);
            let sum = net.biased(sum, d, 3, unit, false);
            let sum = net.biased(sum, d, 3, unit, true);
            net.activate(cx, d, 0, sum)
        };
        let shape = net.state_shape();
        // The new state, given the reset gate and what candidate and update gate see of the state.
        let new = |cx: &mut Cx, t: &Val, h: &Val, reset: &Val, seen: [&Linear; 2]| {
            cx.tensor(&shape, &mut |cx, at| {
                let unit = (2, &at[1]);
                let x = inputs.at(cx, &net, &net.time(d, t), &at[0], unit);
                let inner = seen[0].at(cx, &net, &at[0], unit);
                let sum = match after {
                    true => x + reset.at(at) * net.biased(inner, d, 3, unit, true),
                    false => net.biased(x + inner, d, 3, unit, true),
                };
                let sum = net.biased(sum, d, 3, unit, false);
                let candidate = net.activate(cx, d, 1, sum);
                let update = gate(cx, t, seen[1], at, 0);
                cx.bind("z", update, |_, z| {
                    let new = (number(net.scalar(), 1.0) - &z) * candidate + z * h.at(at);
                    net.kept(d, t, &at[0], new, &h.at(at))
                })
            })
        };
        let all = op.cx.scan(&net.steps, start, |cx, t, h| {
            sums.states(cx, &net, d, &h, 1, |cx, of_reset| {
                let reset = cx.tensor(&shape, &mut |cx, at| gate(cx, &t, of_reset, at, 1));
                cx.bind("reset", reset.stored(), |cx, reset| {
                    if after {
                        return new(cx, &t, &h, &reset, [of_reset, of_reset]);
                    }
                    let damped = cx.tensor(&shape, &mut |_, at| reset.at(at) * h.at(at));
                    cx.bind("damped", damped.stored(), |cx, damped| {
                        sums.states(cx, &net, d, &damped, 2, |cx, of_candidate| {
                            sums.states(cx, &net, d, &h, 0, |cx, of_update| {
                                new(cx, &t, &h, &reset, [of_candidate, of_update])
                            })
                        })
                    })
                })
            })
        });
        states.push(op.cx.hold("states", all.stored()));
    }
    net.outputs(op, &states, None)
}

/// The activations of an LSTM.
const OF_LSTM: [&str; 3] = ["sigmoid", "tanh", "tanh"];

pub(super) fn lstm(op: &mut Op) -> Done {
    let net = network(op, &OF_LSTM, false)?;
    let sums = Sums::of(op, &net, 4, false);
    memory(op, &net, sums)
}

/// An LSTM whose weights are bytes, and whose inputs and states become bytes before products.
pub(super) fn lstm_of_bytes(op: &mut Op) -> Done {
    let net = network(op, &OF_LSTM, true)?;
    let sums = Sums::of_bytes(op, &net, 4)?;
    memory(op, &net, sums)
}

/// An LSTM, given its products.
fn memory(op: &mut Op, net: &Network, mut sums: Sums) -> Done {
    let (cell, peep) = (op.optional(6)?, op.optional(7)?);
    if op.int("input_forget", 0) != 0 {
        return Err(Refusal::inputs("coupled gates (`input_forget`) are not supported"));
    }
    let shape = net.state_shape();
    let (mut states, mut cells) = (Vec::new(), Vec::new());
    for d in 0..net.directions.len() {
        // The hidden state and the cell, one above the other: each is an array by itself.
        let start = {
            let h = net.first(&mut op.cx, d, &net.start);
            let c = net.first(&mut op.cx, d, &cell);
            tiles::concatenated([h, c].into_iter().map(|part| op.cx.single(part)))
        };
        let inputs = sums.inputs(op, net, d);
        let all = op.cx.scan(&net.steps, start, |cx, t, state| {
            let (h, c) = (state.at(&[int(0)]), state.at(&[int(1)]));
            sums.states(cx, net, d, &h, 0, |cx, of_state| {
                let linear = |cx: &mut Cx, at: &[Val], k: i64| {
                    let unit = (k, &at[1]);
                    let sum = inputs.at(cx, net, &net.time(d, &t), &at[0], unit)
                        + of_state.at(cx, net, &at[0], unit);
                    let sum = net.biased(sum, d, 4, unit, false);
                    net.biased(sum, d, 4, unit, true)
                };
                let through = |sum: Val, at: &[Val], k: i64, c: &Val| match &peep {
                    Some(p) => {
                        let all = net.by_gates(p.at(&[int(d as i64)]));
                        sum + all.at(&[index(k, &Size::constant(3)), at[1].clone()]) * c
                    }
                    None => sum + number(net.scalar(), 0.0),
                };
                let next = cx.tensor(&shape, &mut |cx, at| {
                    let c = c.at(at);
                    let i = linear(cx, at, 0);
                    let i = through(i, at, 0, &c);
                    let i = net.activate(cx, d, 0, i);
                    let f = linear(cx, at, 2);
                    let f = through(f, at, 2, &c);
                    let f = net.activate(cx, d, 0, f);
                    let g = linear(cx, at, 3);
                    let g = net.activate(cx, d, 1, g);
                    f * &c + i * g
                });
                cx.bind("next", next.stored(), |cx, next| {
                    let hidden = cx.tensor(&shape, &mut |cx, at| {
                        let o = linear(cx, at, 1);
                        let o = through(o, at, 1, &next.at(at));
                        let o = net.activate(cx, d, 0, o);
                        let seen = net.activate(cx, d, 2, next.at(at));
                        net.kept(d, &t, &at[0], o * seen, &h.at(at))
                    });
                    let cell =
                        cx.tensor(&shape, &mut |_, at| net.kept(d, &t, &at[0], next.at(at), &c.at(at)));
                    tiles::concatenated([hidden, cell].into_iter().map(|part| cx.single(part)))
                })
            })
        });
        let all = op.cx.hold("states", all.stored());
        let whole = [std::slice::from_ref(&net.steps), &shape[..]].concat();
        let part = |k: i64, at: &[Val]| all.at(&[&at[..1], &[int(k)], &at[1..]].concat());
        states.push(op.cx.tensor(&whole, &mut |_, at| part(0, at)));
        cells.push(op.cx.tensor(&whole, &mut |_, at| part(1, at)));
    }
    net.outputs(op, &states, Some(&cells))
}
