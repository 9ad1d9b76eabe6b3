//! Reductions of any order inside parallel loops: their iterations become lanes. There is one level
//! of threads, so such a loop would run as a chain in which each addition waits for the one before.
//!
//! Innermost loops over one accumulator: of sums or products, which the program declares to be of
//! any order (`reducePar`), and of minima or maxima, whose order no result shows (`loops::value`).
//! The lanes are the same in every run. Not here: sums that are not inside a parallel loop, whose
//! threads get lanes from the target, and minima of what is not side by side in memory.

use crate::pass::{Pass, Step, changed};
use loops::visit::check_depth;
use loops::{Access, Assign, BinaryOp, Expr, Function, Loop, LoopKind, ReduceOp, Stmt, Update};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "reduction-lanes",
        literature: "vectorization of reductions (Allen and Kennedy 1987)",
        about: "sums of any order inside parallel loops, and minima and maxima, run in vector lanes",
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
            Stmt::Loop(extremum(l).unwrap_or_else(|| Loop { body: inside(&l.body, below), ..l.clone() }))
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

/// Loops of fewer iterations are not worth the lanes.
const FEWEST: i64 = 16;

/// A loop in sequence that does nothing but take the minimum or maximum of one number, in lanes.
fn extremum(l: &Loop) -> Option<Loop> {
    let [Stmt::Assign(a)] = l.body.as_slice() else { return None };
    let plain = l.kind == LoopKind::Sequential && l.reductions.is_empty() && l.step == 1;
    let short = matches!((&l.lower, &l.upper), (Expr::Int(from), Expr::Int(to)) if to - from < FEWEST);
    if !plain || short || !a.target.indices.is_empty() || !a.target.path.is_empty() {
        return None;
    }
    let (op, value) = match (a.update, &a.value) {
        (Some(update), value) => (update.op, value),
        (None, Expr::Binary(op, x, y)) => {
            let op = match op {
                BinaryOp::Min => ReduceOp::Min,
                BinaryOp::Max => ReduceOp::Max,
                _ => return None,
            };
            let own = |e: &Expr| matches!(e, Expr::Load(access) if *access == a.target);
            (
                op,
                if own(x) {
                    &**y
                } else if own(y) {
                    &**x
                } else {
                    return None;
                },
            )
        }
        _ => return None,
    };
    let adjacent = |access: &Access| {
        access.is_adjacent_along(&l.var) || access.indices.iter().all(|e| !e.mentions(&l.var))
    };
    let reads = value.loads().any(|access| access.is_adjacent_along(&l.var));
    if !matches!(op, ReduceOp::Min | ReduceOp::Max)
        || value.reads(&a.target.array)
        || !reads
        || !value.loads().all(adjacent)
    {
        return None;
    }
    let update = Some(Update { op, reorder: true });
    let body = vec![Stmt::Assign(Assign { update, value: value.clone(), ..a.clone() })];
    Some(Loop { kind: LoopKind::Vector, reductions: vec![(op, a.target.array.clone())], body, ..l.clone() })
}
