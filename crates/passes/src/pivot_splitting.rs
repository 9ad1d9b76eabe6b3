//! Loops over rows or columns in three where an outer loop has a pivot among them: before the
//! pivot, the pivot, and behind it.
//!
//! In `a[i][j] = min(a[i][j], a[i][k] + a[k][j])` row and column `k` are read by all others, and
//! written by the iterations `i = k` and `j = k`. Split there, each part reads what no iteration of
//! its own writes: it can run in parallel or in lanes. Shortest paths, transitive closures and
//! Gauss-Jordan eliminations are of this kind. The order of the text stays.
//!
//! A loop is split at the variable of a loop around it with the same bounds, if a statement inside
//! writes an element with its own variable as a subscript and reads one of the same array with the
//! pivot in that place. Left out: pivots in other ranges, and loops that are parallel already.

use std::collections::BTreeMap;

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::visit::{assigns, check_depth, substitute};
use loops::{Assign, Expr, Function, Loop, LoopKind, Name, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "pivot-splitting",
        literature: "index-set splitting (Griebl, Feautrier, Lengauer 2000)",
        about: "a loop over rows or columns becomes three loops: before, at and behind the pivot of an outer loop",
    },
    run: |function| changed(function, split(function)),
};

/// The most loops around each other that are split: nine bodies.
const DEEPEST: usize = 2;

/// The function with such loops split. A function that is nested too deeply comes back as it is.
fn split(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let body = body(&function.body, &mut Vec::new(), 0);
    with_own_labels(function, Function { body, ..function.clone() })
}

fn body(stmts: &[Stmt], outer: &mut Vec<Loop>, depth: usize) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) => match pivot(l, outer).filter(|_| depth < DEEPEST) {
                Some(pivot) => {
                    let at = Expr::Var(pivot);
                    let before = Loop { upper: at.clone(), ..l.clone() };
                    let behind = Loop { lower: at.clone() + 1, ..l.clone() };
                    result.push(Stmt::Loop(inside(&before, outer, depth + 1)));
                    let here = substitute(&l.body, &BTreeMap::from([(l.var.clone(), at)]));
                    result.extend(body(&here, outer, depth + 1));
                    result.push(Stmt::Loop(inside(&behind, outer, depth + 1)));
                }
                None => result.push(Stmt::Loop(inside(l, outer, depth))),
            },
            Stmt::If { cond, then, otherwise } => {
                let (then, otherwise) = (body(then, outer, depth), body(otherwise, outer, depth));
                result.push(Stmt::If { cond: cond.clone(), then, otherwise });
            }
            Stmt::Block { mark, body: inner } => {
                result.push(Stmt::Block { mark: mark.clone(), body: body(inner, outer, depth) });
            }
            other => result.push(other.clone()),
        }
    }
    result
}

/// The loop with the loops inside it split.
fn inside(l: &Loop, outer: &mut Vec<Loop>, depth: usize) -> Loop {
    outer.push(Loop { body: Vec::new(), ..l.clone() });
    let body = body(&l.body, outer, depth);
    outer.pop();
    Loop { body, ..l.clone() }
}

/// The variable of the loop around this one that is the pivot among its iterations.
fn pivot(l: &Loop, outer: &[Loop]) -> Option<Name> {
    let plain = |l: &Loop| l.kind == LoopKind::Sequential && l.step == 1 && l.reductions.is_empty();
    let same = |k: &&Loop| plain(k) && k.lower == l.lower && k.upper == l.upper && k.var != l.var;
    let found = outer
        .iter()
        .rev()
        .filter(|_| plain(l))
        .filter(same)
        .find(|k| assigns(&l.body).any(|assign| reads_pivot(assign, &l.var, &k.var)))?;
    Some(found.var.clone())
}

/// Whether a statement writes an element with `var` as a subscript, and reads one of the same array
/// with the pivot in its place.
fn reads_pivot(assign: &Assign, var: &Name, pivot: &Name) -> bool {
    let mut found = false;
    for e in assign.value.nodes() {
        if let Expr::Load(access) = e
            && access.array == assign.target.array
        {
            found |= access.indices.iter().zip(&assign.target.indices).any(|(read, written)| {
                *written == Expr::Var(var.clone()) && *read == Expr::Var(pivot.clone())
            });
        }
    }
    found
}
