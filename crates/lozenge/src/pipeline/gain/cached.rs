//! Tiles in time of what the first cache holds.
//!
//! They save moving data between caches. Where there is none to be moved, the loops of the text are
//! as fast, and longer. Measured on a stencil along a line (`tests/c/kernels/jacobi-1d.c`): the
//! text takes 0.83 of the time of its tiles where both arrays are in the first cache, and 1.5 times
//! as long where they are in the second.

use loops::{Expr, Function, Loop, LoopKind, Stmt, visit};

use super::{Outcome, vectorised_anyway};

/// What the data has to exceed for tiles in time to pay on one thread: a product of extents, and a
/// number. Nothing if there are no such tiles.
pub(super) fn data(outcome: Outcome) -> Option<(Vec<Expr>, i64)> {
    let text = &outcome.region.function;
    let steps = text.body.iter().any(|stmt| matches!(stmt, Stmt::Loop(l) if repeats(l)));
    let tiled = steps && innermost(outcome.function, &|l| l.kind == LoopKind::Vector && vectorised_anyway(l));
    if !tiled || deepest(&outcome.function.body) <= deepest(&text.body) {
        return None;
    }
    let rank = text.params.iter().map(|param| param.dims.len()).max().filter(|rank| *rank > 0)?;
    let mut arrays = text.params.iter().filter(|param| param.dims.len() == rank).peekable();
    let extents = arrays.peek()?.dims.clone();
    let bytes: usize = arrays.map(|param| param.elem.bytes()).sum();
    let held = outcome.machine.caches[0].bytes / bytes.max(1) as f64;
    Some((extents, held as i64))
}

/// Whether the loops in a loop do the same in each of its iterations, to the same elements.
fn repeats(l: &Loop) -> bool {
    let mut nested = false;
    let same = visit::nodes(&l.body).all(|stmt| {
        nested |= matches!(stmt, Stmt::Loop(_));
        stmt.exprs().into_iter().all(|e| !e.mentions(&l.var))
    });
    nested && same
}

/// Whether all innermost loops are of a kind.
fn innermost(function: &Function, of_kind: &dyn Fn(&Loop) -> bool) -> bool {
    visit::nodes(&function.body).all(|stmt| match stmt {
        Stmt::Loop(l) => visit::nodes(&l.body).any(|s| matches!(s, Stmt::Loop(_))) || of_kind(l),
        _ => true,
    })
}

/// The most loops around each other.
fn deepest(body: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => 1 + deepest(&l.body),
        other => other.bodies().into_iter().map(deepest).max().unwrap_or(0),
    };
    body.iter().map(of).max().unwrap_or(0)
}
