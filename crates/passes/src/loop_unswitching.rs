//! A choice that is the same in all iterations of a loop is made before it: the loop stands in both
//! branches, without the choice.
//!
//! C compilers do this too, but not where a choice is between values that are read, which are kept
//! from them for another reason (`targets::openmp`). Only innermost loops of assignments, and only
//! conditions on loop variables, sizes and single numbers, which can be asked where the loop does
//! not run at all. Left out: short loops, and parallel loops, whose threads begin once.

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::visit::{check_depth, nodes};
use loops::{Expr, Function, Loop, LoopKind, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "loop-unswitching",
        literature: "loop unswitching (Allen and Cocke 1972)",
        about: "a choice that is the same in all iterations of an innermost loop is made before the loop",
    },
    run: |function| changed(function, unswitched(function)),
};

/// Choices that are taken out of one loop: four bodies at most.
const MOST: usize = 2;
/// A loop of so many iterations is left as it is.
const SHORT: i64 = 32;
/// Bodies with more expressions than this are not written twice.
const LARGEST: usize = 250;

/// The function with such choices before their loops. A function that is nested too deeply to look
/// at comes back as it is.
fn unswitched(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    with_own_labels(function, Function { body: block(&function.body), ..function.clone() })
}

fn block(stmts: &[Stmt]) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) if is_innermost(l) => without_choices(l, MOST),
        other => other.map(&mut Expr::clone, &mut block),
    };
    stmts.iter().map(one).collect()
}

/// Whether a loop is one after another, or in lanes, and holds nothing but assignments.
fn is_innermost(l: &Loop) -> bool {
    let kind = matches!(l.kind, LoopKind::Sequential | LoopKind::Vector);
    let plain = l.body.iter().all(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::Local(_)));
    kind && l.reductions.is_empty() && plain && !is_short(l)
}

/// Whether a loop has few iterations, which C compilers write out.
pub(crate) fn is_short(l: &Loop) -> bool {
    matches!((&l.lower, &l.upper), (Expr::Int(lower), Expr::Int(upper)) if upper.saturating_sub(*lower) <= SHORT)
}

fn without_choices(l: &Loop, times: usize) -> Stmt {
    let expressions = || l.body.iter().flat_map(Stmt::exprs).flat_map(Expr::nodes);
    let condition = expressions().find_map(|e| match e {
        Expr::Select(cond, ..) if is_the_same(cond, l) => Some(&**cond),
        _ => None,
    });
    let Some(cond) = condition.filter(|_| times > 0 && expressions().count() <= LARGEST) else {
        return Stmt::Loop(l.clone());
    };
    let branch = |holds: bool| {
        let body =
            l.body.iter().map(|stmt| stmt.map(&mut |e| decided(e, cond, holds), &mut <[Stmt]>::to_vec));
        vec![without_choices(&Loop { body: body.collect(), ..l.clone() }, times - 1)]
    };
    if_it_runs(l, Stmt::If { cond: cond.clone(), then: branch(true), otherwise: branch(false) })
}

/// The versions of a loop, asked for where an iteration runs: a number that is read in the loop
/// alone may have no value where none does.
fn if_it_runs(l: &Loop, versions: Stmt) -> Stmt {
    let reads = versions.exprs().into_iter().any(Expr::has_loads);
    match (&l.lower, &l.upper) {
        (Expr::Int(lower), Expr::Int(upper)) if lower < upper => versions,
        _ if reads => Stmt::when(l.lower.clone().less(l.upper.clone()), vec![versions]),
        _ => versions,
    }
}

/// The expression where a condition is known.
fn decided(e: &Expr, cond: &Expr, holds: bool) -> Expr {
    match e {
        Expr::Select(asked, a, b) if **asked == *cond => decided(if holds { a } else { b }, cond, holds),
        _ => e.map_children(&mut |child| decided(child, cond, holds)),
    }
}

/// Whether a condition does not change in a loop, and reads nothing that may not be there.
fn is_the_same(cond: &Expr, l: &Loop) -> bool {
    let number = cond.loads().all(|access| access.indices.is_empty());
    let written = |stmt: &Stmt| {
        let declared = matches!(stmt, Stmt::Local(local) if cond.reads(&local.name));
        declared || stmt.written().is_some_and(|name| cond.reads(name))
    };
    let calls = cond.nodes().any(|e| matches!(e, Expr::Call { .. }));
    let constant = cond.vars().is_empty() && !cond.has_loads();
    number && !calls && !constant && !cond.mentions(&l.var) && !nodes(&l.body).any(written)
}
