//! Tiles in time of what caches hold anyway.
//!
//! They save moving data between caches. Where there is none to be moved, the loops of the text are
//! as fast, and longer. Measured on one thread, as the text's time over that of its tiles:
//! - a stencil along a line (`tests/c/kernels/jacobi-1d.c`): 0.83 where both arrays are in the
//!   first cache, and 1.5 where they are in the second;
//! - stencils in the plane (`jacobi-2d.c`, `fdtd-2d.c`) in a second cache of 1 MiB: 0.95 to 1.08
//!   through gcc and 0.77 to 0.88 through clang up to 0.9 MB, and 1.4 to 2.1 from 1.2 MB on;
//! - a stencil in space (`heat-3d.c`): 0.5 to 0.8 up to 4 MB.

use loops::{Access, Expr, Function, Loop, LoopKind, Stmt, visit};

use super::{Outcome, vectorised_anyway};

/// What the data has to exceed for tiles in time to pay on one thread: a product of extents, and a
/// number. Nothing if there are no such tiles.
pub(super) fn data(outcome: Outcome) -> Option<(Vec<Expr>, i64)> {
    let text = &outcome.region.function;
    let steps = text.body.iter().any(|stmt| matches!(stmt, Stmt::Loop(l) if repeats(l)));
    let vector = |l: &Loop| l.kind == LoopKind::Vector && vectorised_anyway(l);
    let tiled = steps && innermost(outcome.function, &|l| vector(l) || stays(l));
    if !tiled || deepest(&outcome.function.body) <= deepest(&text.body) {
        return None;
    }
    let rank = text.params.iter().map(|param| param.dims.len()).max().filter(|rank| *rank > 0)?;
    let mut arrays = text.params.iter().filter(|param| param.dims.len() == rank).peekable();
    let extents = arrays.peek()?.dims.clone();
    let bytes: usize = arrays.map(|param| param.elem.bytes()).sum();
    let [first, second, _] = outcome.machine.caches;
    let held = match rank {
        1 => first.bytes,
        2 => second.bytes,
        _ => second.bytes * 4.0,
    };
    let held = held / bytes.max(1) as f64;
    Some((extents, held as i64))
}

/// Whether the loops in a loop do the same in each of its iterations, to the same elements; a
/// number of each iteration may come from a list.
fn repeats(l: &Loop) -> bool {
    let element = |e: &Expr| e.loads().any(|access| access.indices.len() > 1 && accesses(access, l));
    let mut nested = false;
    let same = visit::nodes(&l.body).all(|stmt| match stmt {
        Stmt::Assign(assign) => !accesses(&assign.target, l) && !element(&assign.value),
        Stmt::Loop(inner) => {
            nested = true;
            !inner.lower.mentions(&l.var) && !inner.upper.mentions(&l.var)
        }
        other => other.exprs().into_iter().all(|e| !e.mentions(&l.var)),
    });
    nested && same
}

/// Whether all iterations store to the same elements, as steps of a single point do.
fn stays(l: &Loop) -> bool {
    l.body.iter().all(|stmt| matches!(stmt, Stmt::Assign(assign) if !accesses(&assign.target, l)))
}

/// Whether another element is accessed in each iteration.
fn accesses(access: &Access, l: &Loop) -> bool {
    access.indices.iter().any(|index| index.mentions(&l.var))
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
