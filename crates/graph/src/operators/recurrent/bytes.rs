//! The products of a recurrent network whose weights are bytes (`DynamicQuantizeLSTM`).
//!
//! The left matrix becomes bytes, with a scale and a zero point for all of its elements: the inputs
//! of all steps together, the states of all samples in each step. Products are sums of integers,
//! which the scales make numbers. A line of the weights has the units of all gates for one element,
//! so it is the right matrix as it is; constant weights are stored in panels.

use loops::{Registers, Scalar, Size};

use super::Network;
use crate::operators::build::Cx;
use crate::operators::fours::{self, Fours, ToColumn};
use crate::operators::packing::Packed;
use crate::operators::pairs;
use crate::operators::quantise::{byte, with_range};
use crate::operators::tiles;
use crate::operators::value::{Val, int, number};
use crate::operators::{Input, Op, Refusal};
use crate::types::ElementType;

/// The weights for the inputs and for the states.
pub(super) struct Bytes {
    registers: Option<Registers>,
    /// Units of all gates.
    lines: i64,
    inputs: Weights,
    states: Weights,
}

/// One matrix for each direction.
struct Weights {
    all: Input,
    /// Where they are stored in panels.
    packed: Option<(Fours, Packed)>,
    /// One number for each direction, or for each unit of it.
    scale: Input,
    zero: Option<Input>,
    /// The zero point, if it is known and one for all.
    known_zero: Option<i64>,
}

impl Bytes {
    /// Those of a call with so many gates.
    pub(super) fn of(op: &mut Op, net: &Network, gates: i64) -> Result<Bytes, Refusal> {
        let lines = gates * net.hidden;
        let samples = [&net.steps, &net.batch].map(Size::as_constant);
        let rows = samples[0].zip(samples[1]).map(|(steps, batch)| steps.saturating_mul(batch));
        let inputs = Weights::of(op, net, (1, 8), rows, lines)?;
        let states = Weights::of(op, net, (2, 10), samples[1], lines)?;
        let width = |w: &Weights| w.all.shape[1].clone();
        if width(&inputs) != net.x.shape[2] || width(&states) != Size::constant(net.hidden) {
            return Err(Refusal::inputs(
                "the weights have another number of lines than the inputs or states",
            ));
        }
        Ok(Bytes { registers: op.fast, lines, inputs, states })
    }

    /// The products of rows of inputs.
    pub(super) fn of_inputs(&self, cx: &mut Cx, rows: &Val, shape: &[Size], direction: i64) -> Val {
        self.product(cx, rows, shape, &self.inputs, direction)
    }

    /// The products of a state.
    pub(super) fn of_state(&self, cx: &mut Cx, state: &Val, shape: &[Size], direction: i64) -> Val {
        self.product(cx, state, shape, &self.states, direction)
    }

    fn product(&self, cx: &mut Cx, rows: &Val, shape: &[Size], weights: &Weights, direction: i64) -> Val {
        with_range(cx, self.registers, shape, rows, |cx, scale, zero| {
            let bytes = cx.tensor(shape, &mut |cx, at| byte(cx, rows.at(at), scale, zero));
            cx.bind("bytes", bytes.stored(), |cx, bytes| {
                let last = |_: &mut Cx, sum: Val, _: &Val, j: &Val| {
                    sum.to(Scalar::F32) * (scale * weights.scale(direction, j))
                };
                self.sums(cx, (&bytes, zero), shape, weights, direction, &last)
            })
        })
    }

    fn sums(
        &self,
        cx: &mut Cx,
        (bytes, zero): (&Val, &Val),
        shape: &[Size],
        weights: &Weights,
        direction: i64,
        last: tiles::Last,
    ) -> Val {
        let columns = Size::constant(self.lines);
        let right = |_: &mut Cx, k: &Val, j: &Val| weights.at(direction, k, j);
        let extents = tiles::extents(&shape[0], &shape[1], &columns);
        if let (Some(registers), Some([m, _, n]), Some((fours, packed))) =
            (self.registers, extents, &weights.packed)
        {
            let to_column = |_: &mut Cx, j: &Val| match &weights.zero {
                Some(zero) => number(Scalar::I32, 0.0) - of(zero, direction, j),
                None => number(Scalar::I32, 0.0),
            };
            let known = weights.known_zero.map(|zero| ToColumn::Known(-zero));
            let product = fours::Bytes {
                extents: [m, n],
                fours: *fours,
                registers,
                left: &|_, i, k| bytes.at(&[i.clone(), k.clone()]),
                to_row: &|_, _| number(Scalar::I32, 0.0) - zero,
                to_column: known.unwrap_or(ToColumn::Computed(&to_column)),
                panels: packed.known_matrix(direction),
                last,
            };
            return product.build(cx);
        }
        let bytes = |at: &[Val]| bytes.at(at) - zero;
        let pairs =
            extents.and_then(|[_, sum, _]| pairs::of_bytes(ElementType::U8, weights.all.elem, sum, 1));
        let zeros = pairs::are_bytes(&[&weights.zero]);
        if let (Some(registers), Some([m, _, n]), Some(pairs), true) = (self.registers, extents, pairs, zeros)
        {
            let left =
                |cx: &mut Cx, i: &Val, k: &Val| pairs.word(cx, k, |_, k, _| bytes(&[i.clone(), k.clone()]));
            let right = |cx: &mut Cx, k: &Val, j: &Val| pairs.word(cx, k, |cx, k, _| right(cx, k, j));
            let (left, right) = (&left, &right);
            return pairs::Bytes { extents: [m, n], pairs, registers, left, right, last }.build(cx);
        }
        cx.tensor(&[shape[0].clone(), columns], &mut |cx, at| {
            let sum = cx.fold(&shape[1], number(Scalar::I32, 0.0), |cx, k, acc| {
                acc + bytes(&[at[0].clone(), k.clone()]) * right(cx, &k, &at[1])
            });
            last(cx, sum, &at[0], &at[1])
        })
    }
}

impl Weights {
    /// Those of the input `at.0`, whose scale is input `at.1` and whose zero point is the one after
    /// it, for a left matrix of so many rows.
    fn of(
        op: &mut Op,
        net: &Network,
        at: (usize, usize),
        rows: Option<i64>,
        lines: i64,
    ) -> Result<Weights, Refusal> {
        let all = op.ranked(at.0, 3..=3)?;
        let scale = op.ranked(at.1, 1..=2)?;
        let zero = op.zero_point(at.1 + 1)?;
        if !all.elem.is_int() || all.shape[2] != Size::constant(lines) {
            return Err(Refusal::inputs("the weights are bytes, with a line for each element of the input"));
        }
        let directions = Size::constant(net.directions.len() as i64);
        let fits = |p: &Input| {
            let one = p.shape.first() == Some(&directions);
            one && p.rank() <= 2 && p.shape.get(1).is_none_or(|n| *n == all.shape[2])
        };
        if !fits(&scale) || !zero.as_ref().is_none_or(fits) {
            return Err(Refusal::inputs(
                "the weights have a scale for each direction, or for each unit of it",
            ));
        }
        let extents = rows.zip(all.shape[1].as_constant()).filter(|(rows, sum)| *rows > 0 && *sum > 0);
        let packing = op.fast.zip(extents).and_then(|(registers, (rows, sum))| {
            let (directions, pitches) = (net.directions.len() as i64, [sum * lines, 1, lines]);
            let fours = fours::of_bytes(ElementType::U8, all.elem, sum, 1)?;
            Some((fours, fours.panels(registers, [rows, lines], directions, pitches)?))
        });
        let packed = packing.and_then(|(fours, packing)| Some((fours, op.packed(at.0, Some(packing))?)));
        let known_zero = if zero.is_none() { Some(0) } else { op.known_zero_point(at.1 + 1) };
        Ok(Weights { all, packed, scale, zero, known_zero })
    }

    /// A weight without its zero point.
    fn at(&self, direction: i64, k: &Val, j: &Val) -> Val {
        let value = self.all.at(&[int(direction), k.clone(), j.clone()]);
        match &self.zero {
            Some(zero) => value - of(zero, direction, j),
            None => value,
        }
    }

    fn scale(&self, direction: i64, j: &Val) -> Val {
        of(&self.scale, direction, j)
    }
}

/// The scale or zero point of a unit.
fn of(p: &Input, direction: i64, unit: &Val) -> Val {
    match p.rank() {
        1 => p.at(&[int(direction)]),
        _ => p.at(&[int(direction), unit.clone()]),
    }
}
