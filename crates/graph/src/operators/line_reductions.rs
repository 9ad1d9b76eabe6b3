//! Reductions and running sums along axes before the last one, for C. They go line by line, in the
//! order of memory, with accumulators for a piece of a line. The definition goes down one column
//! after the other. Each accumulator sees the same numbers in the same order.

use functional::Prim;
use loops::{Scalar, Size};

use super::build::{Cx, Extents, product, reshape};
use super::tiles::{concatenated, joined, transposed};
use super::value::{Val, int};
use super::{Input, Op};

/// The maximal number of accumulators side by side. They stay in the first-level cache, and several
/// pieces give work to several threads.
const PIECE: i64 = 1024;

/// Lines of fewer elements are no vectors.
const LEAST: i64 = 8;

/// With fewer elements threads are not worth starting.
const WORTH_THREADS: i64 = 32_768;

/// Accumulators for a piece of a line: given where the line is (the places of all axes up to the
/// last one that is gone along) and the place in it.
pub(super) struct Lines {
    /// The tensor with all axes after the last reduced one merged into one.
    val: Val,
    /// Elements of a line.
    width: i64,
    /// How pieces are done.
    kind: Prim,
}

impl Lines {
    /// The lines of `x` behind this axis, if they are worth it; `outer` counts what is computed for
    /// each place in a line.
    pub(super) fn of(op: &mut Op, x: &Input, axis: usize, outer: &[Size]) -> Option<Lines> {
        op.fast?;
        let all = product(&x.shape).as_constant()?;
        let width = product(&x.shape[axis + 1..]).as_constant()?;
        if all == 0 || width < LEAST {
            return None;
        }
        let shape = [&x.shape[..=axis], &[Size::constant(width)]].concat();
        let few = product(outer).as_constant()? < 4;
        let kind = if few && all >= WORTH_THREADS { Prim::MapPar } else { Prim::MapSeq };
        Some(Lines { val: reshape(&mut op.cx, &x.val, &x.shape, &shape), width, kind })
    }

    /// The elements of a line.
    pub(super) fn width(&self) -> Size {
        Size::constant(self.width)
    }

    /// The element at a place of a line.
    pub(super) fn at(&self, line: &[Val], place: &Val) -> Val {
        self.val.at(&[line, std::slice::from_ref(place)].concat())
    }

    /// The concatenated results of `f` for the pieces. `f` gets the start and the length of a
    /// piece.
    pub(super) fn pieces(&self, cx: &mut Cx, f: &mut dyn FnMut(&mut Cx, &Val, i64) -> Val) -> Val {
        let rest = self.width % PIECE;
        let parts = [(0, self.width / PIECE, PIECE), (self.width - rest, i64::from(rest > 0), rest)];
        let parts: Vec<Val> = parts
            .into_iter()
            .filter(|(_, count, _)| *count > 0)
            .map(|(first, count, length)| {
                joined(
                    cx.each(self.kind, count, |cx, p| f(cx, &(p.int() * int(length) + int(first)), length)),
                )
            })
            .collect();
        concatenated(parts.into_iter())
    }
}

/// Running sums (or products) along an axis before the last one; none if going by columns is as
/// good.
pub(super) fn running(
    op: &mut Op,
    x: &Input,
    axis: usize,
    exclusive: bool,
    start: &Val,
    step: &dyn Fn(Val, Val) -> Val,
) -> Option<Val> {
    x.elem.scalar().filter(|s| *s != Scalar::Bool)?;
    let outer: Extents = x.shape[..axis].to_vec();
    let lines = Lines::of(op, x, axis, &outer)?;
    let n = x.shape[axis].clone();
    let cx = &mut op.cx;
    let val = cx.tensor(&outer, &mut |cx, at| {
        let columns = lines.pieces(cx, &mut |cx, first, length| {
            let starts = cx.each(Prim::MapVec, length, |_, _| start.clone());
            transposed(cx.scan(&n, starts, |cx, k, acc| {
                let row = if exclusive { k.int() - int(1) } else { k.clone() };
                let line = [at, &[row]].concat();
                cx.each(Prim::MapVec, length, |_, l| {
                    let v = lines.at(&line, &(first + l.int()));
                    let v = if exclusive { start.when(&k.int().eq(&int(0)), &v) } else { v };
                    step(acc.at(&[l]), v)
                })
            }))
        });
        transposed(columns)
    });
    let flat = [&x.shape[..=axis], &[lines.width()]].concat();
    Some(reshape(cx, &val, &flat, &x.shape))
}
