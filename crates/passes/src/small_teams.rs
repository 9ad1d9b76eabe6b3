//! Parallel loops with little work, if that is a number: they run on one thread. A team of threads
//! takes a few microseconds to begin and end.
//!
//! Not here: loops whose work depends on sizes, which the target tests when they run.

use crate::pass::{Pass, Step, changed};
use loops::visit::check_depth;
use loops::{Expr, Function, Loop, LoopKind, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "small-teams",
        literature: "granularity control (Lopez, Hermenegildo, Debray 1996)",
        about: "parallel loops with less work than threads cost run on one thread, if their work is a number",
    },
    run: |function| changed(function, alone(function)),
};

/// Statement instances that are worth a team of threads.
const ENOUGH: i64 = 10_000;

/// The function with such loops on one thread. A function that is nested too deeply to look at
/// comes back as it is.
fn alone(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    Function { body: inside(&function.body), ..function.clone() }
}

fn inside(stmts: &[Stmt]) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => {
            let own = Loop { body: inside(&l.body), ..l.clone() };
            let small = l.kind == LoopKind::Parallel && work(stmt).is_some_and(|work| work < ENOUGH);
            Stmt::Loop(match small {
                true => Loop { kind: LoopKind::Sequential, reductions: Vec::new(), ..own },
                false => own,
            })
        }
        other => other.map(&mut Expr::clone, &mut inside),
    };
    stmts.iter().map(one).collect()
}

/// Statement instances of a statement, as if all conditions held; none if that is not a number.
fn work(stmt: &Stmt) -> Option<i64> {
    let all = |body: &[Stmt]| {
        body.iter().try_fold(0, |all: i64, stmt| work(stmt).map(|work| all.saturating_add(work)))
    };
    match stmt {
        Stmt::Assign(_) => Some(1),
        Stmt::Local(_) => Some(0),
        Stmt::Loop(l) => {
            let (Expr::Int(lower), Expr::Int(upper)) = (&l.lower, &l.upper) else { return None };
            let trips = upper.checked_sub(*lower)?.max(0) / l.step.max(1) + 1;
            Some(all(&l.body)?.saturating_mul(trips))
        }
        Stmt::If { then, otherwise, .. } => Some(all(then)?.saturating_add(all(otherwise)?)),
        Stmt::Block { body, .. } => all(body),
        Stmt::Copy(_) | Stmt::Wait(_) => None,
    }
}
