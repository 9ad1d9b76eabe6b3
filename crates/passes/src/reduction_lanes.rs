//! Reductions of any order inside parallel loops: their iterations become lanes. There is one level
//! of threads, so such a loop would run as a chain in which each addition waits for the one before.
//!
//! Only innermost loops over one accumulator of sums or products, which the program declares to be
//! of any order (`reducePar`). The lanes are the same in every run. Not here: loops that are not
//! inside a parallel one, whose threads get lanes from the target.

use crate::pass::{Pass, Step, changed};
use loops::visit::check_depth;
use loops::{Expr, Function, Loop, LoopKind, ReduceOp, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "reduction-lanes",
        literature: "vectorization of reductions (Allen and Kennedy 1987)",
        about: "sums of any order inside parallel loops run in vector lanes",
    },
    run: |function| changed(function, lanes(function)),
};

/// The function with such loops in lanes. A function that is nested too deeply to look at comes
/// back as it is.
fn lanes(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    Function { body: inside(&function.body, false), ..function.clone() }
}

fn inside(stmts: &[Stmt], parallel: bool) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) if parallel && is_sum(l) => Stmt::Loop(Loop { kind: LoopKind::Vector, ..l.clone() }),
        Stmt::Loop(l) => {
            let below = parallel || l.kind == LoopKind::Parallel;
            Stmt::Loop(Loop { body: inside(&l.body, below), ..l.clone() })
        }
        other => other.map(&mut Expr::clone, &mut |inner| inside(inner, parallel)),
    };
    stmts.iter().map(one).collect()
}

/// Whether a loop is parallel and does nothing but combine numbers into one.
fn is_sum(l: &Loop) -> bool {
    let [(ReduceOp::Add | ReduceOp::Mul, name)] = l.reductions.as_slice() else { return false };
    let combines = |stmt: &Stmt| match stmt {
        Stmt::Assign(a) => a.target.array == *name && a.target.indices.is_empty() && a.update.is_some(),
        _ => false,
    };
    l.kind == LoopKind::Parallel && l.body.iter().all(combines)
}
