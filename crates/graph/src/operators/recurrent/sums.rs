//! The products of a recurrent network: those of the inputs of all steps, and those of the states.
//!
//! In the definition of the operator each is a sum over one row of the weights. In C, where all
//! extents are known, those of the inputs are one product of matrices before the loop over the
//! steps, and those of the states are a product in each step. In both, units are along the lanes,
//! and constant weights are stored in panels. The order of each sum is the same.

use functional::{Arg, Prim, Term, TermKind, walk};
use loops::{Registers, Scalar, Size};

use super::Network;
use super::bytes::Bytes;
use crate::operators::build::{self, Cx, reshape};
use crate::operators::packing::{Packed, Panels};
use crate::operators::tiles::{self, Element, Product, Side};
use crate::operators::value::{Val, index, int, number};
use crate::operators::{Input, Op, Refusal};

/// Threads share the product of a step if it has at least so many multiplications.
const WORTH_THREADS: i64 = 1 << 19;

/// How the products of a network are computed.
pub(super) struct Sums {
    /// Gates: rows of weights for each unit.
    gates: i64,
    /// Whether the product with the states is one for each gate.
    split: bool,
    way: Way,
}

/// The three ways.
enum Way {
    /// A sum where it is used.
    Folded,
    Tiled(Box<Tiled>),
    /// The weights are bytes.
    Bytes(Box<Bytes>),
}

/// Products in register tiles.
struct Tiled {
    registers: Registers,
    /// Steps, samples, and elements of an input.
    steps: i64,
    batch: i64,
    width: i64,
    inputs: Weights,
    states: Weights,
}

/// Weights as the right matrix of products.
enum Weights {
    /// Constant: one matrix in panels for each direction, or for each gate of each.
    Packed(Packed),
    /// Not known in advance: transposed copies, for each direction.
    Turned(Vec<Val>),
}

/// Products with one row of the weights each.
pub(super) enum Linear {
    /// Sums over the elements of a state.
    Folded { direction: i64, gates: i64, state: Val },
    /// An array: samples, and rows of the weights for so many gates from this one on.
    Stored { sums: Val, first: i64, gates: i64 },
}

impl Linear {
    /// The product of a sample's state with the weights of a unit in a gate.
    pub(super) fn at(&self, cx: &mut Cx, net: &Network, batch: &Val, (gate, unit): (i64, &Val)) -> Val {
        match self {
            Linear::Stored { sums, first, gates } => {
                let all = net.by_gates(sums.at(std::slice::from_ref(batch)));
                all.at(&[index(gate - first, &Size::constant(*gates)), unit.clone()])
            }
            Linear::Folded { direction, gates, state } => {
                let weights = net.by_gates(net.r.at(&[int(*direction)]));
                let weights = weights.at(&[index(gate, &Size::constant(*gates)), unit.clone()]);
                cx.fold(&Size::constant(net.hidden), number(net.scalar(), 0.0), |_, i, acc| {
                    acc + state.at(&[batch.clone(), i.clone()]) * weights.at(&[i])
                })
            }
        }
    }
}

/// Products of the inputs of all steps of one direction.
pub(super) struct Inputs {
    direction: i64,
    gates: i64,
    /// Rows for steps and samples, in the order of the inputs; none: they are sums where they are
    /// used.
    stored: Option<Val>,
}

impl Inputs {
    /// The product of a sample's input at a time with the weights of a unit in a gate.
    pub(super) fn at(
        &self,
        cx: &mut Cx,
        net: &Network,
        time: &Val,
        batch: &Val,
        (gate, unit): (i64, &Val),
    ) -> Val {
        let place = match net.batched {
            true => [batch.clone(), time.clone()],
            false => [time.clone(), batch.clone()],
        };
        let gate = index(gate, &Size::constant(self.gates));
        if let Some(stored) = &self.stored {
            return net.by_gates(stored.at(&place)).at(&[gate, unit.clone()]);
        }
        let weights = net.by_gates(net.w.at(&[int(self.direction)])).at(&[gate, unit.clone()]);
        let x = net.x.at(&place);
        cx.fold(&net.x.shape[2], number(net.scalar(), 0.0), |_, i, acc| {
            acc + x.at(std::slice::from_ref(&i)) * weights.at(&[i])
        })
    }
}

impl Sums {
    /// For a network with so many gates; `split`: not all of them see the same state.
    pub(super) fn of(op: &mut Op, net: &Network, gates: i64, split: bool) -> Sums {
        Sums {
            gates,
            split,
            way: tiled(op, net, gates, split).map_or(Way::Folded, |tiled| Way::Tiled(Box::new(tiled))),
        }
    }

    /// For a network with so many gates whose weights are bytes.
    pub(super) fn of_bytes(op: &mut Op, net: &Network, gates: i64) -> Result<Sums, Refusal> {
        Ok(Sums { gates, split: false, way: Way::Bytes(Box::new(Bytes::of(op, net, gates)?)) })
    }

    /// The products of the inputs of one direction.
    pub(super) fn inputs(&mut self, op: &mut Op, net: &Network, direction: usize) -> Inputs {
        let rows = build::product(&net.x.shape[..2]);
        let flat = [rows.clone(), net.x.shape[2].clone()];
        let cx = &mut op.cx;
        let left = reshape(cx, &net.x.val, &net.x.shape, &flat);
        let number = direction as i64;
        let value = match &self.way {
            Way::Folded => None,
            Way::Tiled(tiled) => {
                let extents = [tiled.steps * tiled.batch, tiled.width, self.gates * net.hidden];
                Some(tiled.product(cx, net.scalar(), &left, extents, &tiled.inputs, number))
            }
            Way::Bytes(bytes) => Some(bytes.of_inputs(cx, &left, &flat, number)),
        };
        let stored = value.map(|value| match op.cx.hold("inputs", value.stored()).term() {
            Ok(rows) => functional::build::split(net.x.shape[1].clone(), rows).into(),
            Err(refusal) => refusal.into(),
        });
        Inputs { direction: number, gates: self.gates, stored }
    }

    /// Gives `f` the products of a state that gate `gate` needs: all of them, or its own only where
    /// gates see different states.
    pub(super) fn states(
        &self,
        cx: &mut Cx,
        net: &Network,
        direction: usize,
        state: &Val,
        gate: i64,
        f: impl FnOnce(&mut Cx, &Linear) -> Val,
    ) -> Val {
        let direction = direction as i64;
        let (gates, number, first) = match self.split {
            true => (1, direction * self.gates + gate, gate),
            false => (self.gates, direction, 0),
        };
        let value = match &self.way {
            Way::Folded => {
                return f(cx, &Linear::Folded { direction, gates: self.gates, state: state.clone() });
            }
            Way::Tiled(tiled) => {
                let extents = [tiled.batch, net.hidden, gates * net.hidden];
                let value = tiled.product(cx, net.scalar(), state, extents, &tiled.states, number);
                let small = extents.iter().product::<i64>() < WORTH_THREADS;
                if small { on_one_thread(value) } else { value }
            }
            Way::Bytes(bytes) => on_one_thread(bytes.of_state(cx, state, &net.state_shape(), number)),
        };
        cx.bind("sums", value.stored(), |cx, sums| f(cx, &Linear::Stored { sums, first, gates }))
    }
}

impl Tiled {
    /// The product of rows with the weights of this number.
    fn product(
        &self,
        cx: &mut Cx,
        scalar: Scalar,
        left: &Val,
        extents: [i64; 3],
        weights: &Weights,
        number: i64,
    ) -> Val {
        let rows = |_: &mut Cx, i: &Val, k: &Val| left.at(&[i.clone(), k.clone()]);
        let panels: Panels;
        let turned;
        let right = match weights {
            Weights::Packed(packed) => {
                panels = packed.known_matrix(number);
                Side::Panels(panels)
            }
            Weights::Turned(all) => {
                let matrix = all[number as usize].clone();
                turned = move |_: &mut Cx, k: &Val, j: &Val| matrix.at(&[k.clone(), j.clone()]);
                Side::Elements(&turned)
            }
        };
        let last = |_: &mut Cx, sum: Val, _: &Val, _: &Val| sum;
        let (registers, left) = (self.registers, Side::Elements(&rows));
        let (extents, cut) = (tiles::sizes(extents), tiles::Cut::default());
        Product { extents, cut, registers, scalar, element: Element::Number, left, right, last: &last }
            .build(cx)
    }
}

/// Products in tiles, if code is generated and all extents are known.
fn tiled(op: &mut Op, net: &Network, gates: i64, split: bool) -> Option<Tiled> {
    let registers = op.fast?;
    let whole = matches!(net.scalar(), Scalar::F32 | Scalar::F64) && net.x.elem.scalar().is_some();
    let known = |size: &Size| size.as_constant().filter(|n| *n > 0);
    let (steps, batch, width) = (known(&net.steps)?, known(&net.batch)?, known(&net.x.shape[2])?);
    if !whole || net.hidden <= 0 {
        return None;
    }
    let scalar = net.scalar();
    let (rows, hidden, directions) = (gates * net.hidden, net.hidden, net.directions.len() as i64);
    let inputs = tiles::packing(
        registers,
        scalar,
        [steps * batch, width, rows],
        false,
        directions,
        [rows * width, width, 1],
    );
    let (count, lines) = if split { (directions * gates, hidden) } else { (directions, rows) };
    let states =
        tiles::packing(registers, scalar, [batch, hidden, lines], false, count, [lines * hidden, hidden, 1]);
    let mut weights = |input: usize, packing, of: &Input, count: i64, lines: i64, sum: i64| {
        match op.packed(input, packing) {
            Some(packed) => Weights::Packed(packed),
            None => Weights::Turned(
                (0..count)
                    .map(|k| {
                        // Matrix `k` of those that stand below each other in a direction.
                        let per = rows / lines;
                        let shape = [Size::constant(sum), Size::constant(lines)];
                        let turned = op.cx.tensor(&shape, &mut |_, at| {
                            of.at(&[int(k / per), at[1].int() + int(k % per * lines), at[0].clone()])
                        });
                        op.cx.hold("weights", turned.stored())
                    })
                    .collect(),
            ),
        }
    };
    let inputs = weights(1, inputs, &net.w, directions, rows, width);
    let states = weights(2, states, &net.r, count, lines, hidden);
    Some(Tiled { registers, steps, batch, width, inputs, states })
}

/// The same value with loops that no threads share.
fn on_one_thread(value: Val) -> Val {
    match value.term() {
        Ok(term) => sequential(&term).into(),
        Err(refusal) => refusal.into(),
    }
}

fn sequential(term: &Term) -> Term {
    let term = walk::map_children(term, |_, child| sequential(child));
    let args: Vec<Arg> = match term.kind() {
        TermKind::Prim(Prim::MapPar, args) => args.clone(),
        _ => return term,
    };
    Term::new(TermKind::Prim(Prim::MapSeq, args), term.ty().clone(), term.span())
}
