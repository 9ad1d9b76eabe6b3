//! Sums of rows of floating-point numbers, as the operators define them: sixteen partial sums, each
//! of every sixteenth number, then what is left in order. So a row is summed in the lanes of
//! vectors. The number of partial sums is part of the definition and depends on no machine: the
//! results are the same everywhere, and for extents that are names.
//!
//! Not here: sums over axes before the last one (`line_reductions.rs`), products of matrices.

use functional::{Prim, build};
use loops::Size;

use super::build::Cx;
use super::value::{Val, int};

/// Partial sums of a row.
const PARTS: i64 = 16;

/// The kind of the loop over partial sums: a definition has none, C has vectors.
pub(super) fn kind(fast: bool) -> Prim {
    if fast { Prim::MapVec } else { Prim::Map }
}

/// `start` and what `step` adds to it for each place below `n`.
pub(super) fn sum(
    cx: &mut Cx,
    kind: Prim,
    n: &Size,
    start: &Val,
    step: &mut dyn FnMut(&mut Cx, Val, Val) -> Val,
) -> Val {
    let short = n.as_constant().is_some_and(|n| n < PARTS);
    if short || !start.scalar().is_float() {
        return cx.fold(n, start.clone(), |cx, k, acc| step(cx, k, acc));
    }
    let (vectors, rest) = (n.div(&Size::constant(PARTS)), n.rem(&Size::constant(PARTS)));
    let starts = cx.each(kind, PARTS, |_, _| start.clone());
    let parts = cx.fold(&vectors, starts, |cx, k, acc| {
        cx.each(kind, PARTS, |cx, l| {
            step(cx, k.int() * int(PARTS) + l.int(), acc.at(std::slice::from_ref(&l)))
        })
    });
    cx.bind("parts", parts, |cx, parts| {
        let whole = halves(&|l| parts.at(&[int(l)]), 0, 1);
        if rest.as_constant() == Some(0) {
            return whole;
        }
        let first = super::value::size(&vectors) * int(PARTS);
        cx.fold(&rest, whole, |cx, k, acc| step(cx, first + k.int(), acc))
    })
}

/// The sum of the parts from `first` on that are `apart` from each other: of those at even and odd
/// places, each summed in the same way. So the first sums are of parts half of all apart.
fn halves(part: &dyn Fn(i64) -> Val, first: i64, apart: i64) -> Val {
    if apart == PARTS {
        return part(first);
    }
    halves(part, first, 2 * apart) + halves(part, first + apart, 2 * apart)
}

/// An array of so many dimensions as one row; a view.
pub(super) fn flat(array: Val, dimensions: usize) -> Val {
    (1..dimensions).fold(array, |array, _| match array.term() {
        Ok(term) => build::join(term).into(),
        Err(refusal) => refusal.into(),
    })
}
