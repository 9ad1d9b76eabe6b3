//! `Softmax` and `LogSoftmax` of numbers that the language has: the definition, and for C several
//! rows at a time, so that the sums of some run beside the exponentials of others.
//!
//! Narrow types, which are rounded after each step, are in `reduce.rs`.

use functional::{Prim, build};
use loops::{Scalar, Size};

use super::build::{Cx, Extents, product, reshape, split_rows};
use super::number_functions::{exp_decay_of, log_of};
use super::reduce::{along, in_lanes};
use super::value::{Val, int, number};
use super::{Input, Op, Refusal, row_sums};

/// So many rows at most are computed together.
const ROWS: i64 = 8;

/// The exponentials of the rows that are computed together are at most so many.
const TOGETHER: i64 = 1 << 13;

/// Softmax along an axis, or its logarithm; false if the elements have no type of the language.
pub(super) fn rows(op: &mut Op, log: bool) -> Result<bool, Refusal> {
    let x = op.input(0)?;
    let rank = x.rank();
    if rank == 0 || !x.elem.scalar().is_some_and(Scalar::is_float) {
        return Ok(false);
    }
    // before version 13, everything from the axis on was one row
    let old = op.call.opset < 13;
    let axis = match op.int("axis", if old { 1 } else { -1 }) {
        axis if old && axis == rank as i64 => rank,
        axis => op.axis(axis, rank)?,
    };
    let shape =
        if old { vec![product(&x.shape[..axis]), product(&x.shape[axis..])] } else { x.shape.clone() };
    let axis = if old { 1 } else { axis };
    let val = reshape(&mut op.cx, &x.val, &x.shape, &shape);
    let x = Input { val, elem: x.elem, shape };
    let val = match blocks(op, &x, axis, log) {
        Some(val) => val,
        None => {
            let n = x.shape[axis].clone();
            let soft = Soft { scalar: x.scalar(), kind: row_sums::kind(op.fast.is_some()), log };
            along(&mut op.cx, &x, axis, &n, &mut |cx, row| soft.row(cx, &n, &row))
        }
    };
    let shape = op.input(0)?.shape;
    let val = if old { reshape(&mut op.cx, &val, &x.shape, &shape) } else { val };
    op.result(val, x.elem, shape);
    Ok(true)
}

/// How rows are computed.
struct Soft {
    scalar: Scalar,
    /// The kind of the loops over partial sums.
    kind: Prim,
    log: bool,
}

impl Soft {
    /// The result for one row. The largest element is taken off first, so that nothing overflows.
    fn row(&self, cx: &mut Cx, n: &Size, row: &Val) -> Val {
        let lowest = number(self.scalar, f64::NEG_INFINITY);
        let largest = cx.fold(n, lowest, |_, k, acc| row.at(&[k]).max(&acc));
        cx.bind("largest", largest, |cx, largest| {
            let exps = cx.generate(n, |cx, k| exp_decay_of(cx, &(&largest - row.at(&[k]))));
            cx.bind("exps", exps.stored(), |cx, exps| {
                let total = self.total(cx, n, &mut |_, k| exps.at(&[k]));
                let common = cx.bind("total", total, |cx, total| self.common(cx, &total));
                cx.bind("common", common, |cx, common| {
                    cx.generate(n, |_, k| match self.log {
                        true => row.at(&[k]) - &largest - &common,
                        false => exps.at(&[k]) * &common,
                    })
                })
            })
        })
    }

    /// The sum of exponentials.
    fn total(&self, cx: &mut Cx, n: &Size, exp: &mut dyn FnMut(&mut Cx, Val) -> Val) -> Val {
        let zero = number(self.scalar, 0.0);
        row_sums::sum(cx, self.kind, n, &zero, &mut |cx, k, acc| acc + exp(cx, k))
    }

    /// What all results of a row need of the sum: its reciprocal, or its logarithm.
    fn common(&self, cx: &mut Cx, total: &Val) -> Val {
        match self.log {
            true => log_of(cx, total),
            false => number(self.scalar, 1.0) / total,
        }
    }

    /// The results for a block of rows of `n` elements.
    fn block(
        &self,
        cx: &mut Cx,
        (block, n, lanes): (i64, i64, i64),
        element: &dyn Fn(&Val, &Val) -> Val,
    ) -> Val {
        let of = |all: &Val, r: &Val| all.at(std::slice::from_ref(r));
        let lowest = number(self.scalar, f64::NEG_INFINITY);
        let all = cx.each(Prim::MapSeq, block, |cx, r| {
            let larger = |value: &Val, acc: &Val| value.when(&acc.lt(value), acc);
            in_lanes(cx, (n, lanes), &lowest, &|k| element(&r, k), &larger)
        });
        let length = Size::constant(n);
        cx.bind("largest", all.stored(), |cx, all| {
            let exps = cx.each(Prim::MapSeq, block, |cx, r| {
                cx.each(Prim::MapVec, n, |cx, k| exp_decay_of(cx, &(of(&all, &r) - element(&r, &k))))
            });
            cx.bind("exps", exps.stored(), |cx, exps| {
                let totals = cx.each(Prim::MapSeq, block, |cx, r| {
                    self.total(cx, &length, &mut |_, k| exps.at(&[r.clone(), k]))
                });
                let commons = cx.bind("totals", totals.stored(), |cx, totals| {
                    let each = cx.each(Prim::MapVec, block, |cx, r| self.common(cx, &of(&totals, &r)));
                    each.stored()
                });
                cx.bind("commons", commons, |cx, commons| {
                    cx.each(Prim::MapSeq, block, |cx, r| {
                        cx.each(Prim::MapVec, n, |_, k| match self.log {
                            true => element(&r, &k) - of(&all, &r) - of(&commons, &r),
                            false => exps.at(&[r.clone(), k]) * of(&commons, &r),
                        })
                    })
                })
            })
        })
    }
}

/// The results by blocks of rows, for C, if rows are in memory and of known extents.
fn blocks(op: &mut Op, x: &Input, axis: usize, log: bool) -> Option<Val> {
    let registers = op.fast?;
    let rank = x.rank();
    if axis + 1 != rank {
        return None;
    }
    let rows = product(&x.shape[..axis]).as_constant().filter(|rows| *rows > 0)?;
    let n = x.shape[axis].as_constant().filter(|n| *n > 0)?;
    let most = (TOGETHER / n).clamp(1, ROWS);
    let block = (1..=most).rev().find(|block| rows % block == 0)?;
    let scalar = x.scalar();
    let soft = Soft { scalar, kind: Prim::MapVec, log };
    let lanes = registers.lanes(scalar);
    let flat: Extents = vec![Size::constant(rows), x.shape[axis].clone()];
    let cx = &mut op.cx;
    let matrix = reshape(cx, &x.val, &x.shape, &flat);
    let val = cx.generate(&Size::constant(rows / block), |cx, b| {
        let element = |r: &Val, k: &Val| matrix.at(&[b.int() * int(block) + r.int(), k.clone()]);
        soft.block(cx, (block, n, lanes), &element)
    });
    Some(match val.term() {
        Ok(term) if axis > 0 => split_rows(build::join(term).into(), &x.shape[..axis]),
        Ok(term) => Val::from(build::join(term)).at(&[int(0)]),
        Err(refusal) => refusal.into(),
    })
}
