//! Rows at once that wait for each other: each runs a step or two behind the one above it.
//!
//! In `D[i][j] = min(D[i - 1][j], D[i][j - 1]) + c` rows depend on rows, and elements on the ones
//! before them: one row at a time is a chain in which each element waits for the last. With four
//! rows of which each is at `j = t - row`, what is computed at one `t` is independent. The first
//! steps of the upper rows, and the last ones of the lower rows, are loops of their own.
//! [Rotating registers](super::rotating_registers) then keep what rows hand to each other.
//!
//! It is the same program if every dependence between rows at once goes forward: both variables are
//! subscripts of all that is written, up to constants, so that all dependences are seen. Left out:
//! inner bounds that depend on the outer loop, rows whose elements do not wait or do not depend on
//! rows (polyhedral unroll-and-jam has them), and more than two steps behind.

use std::collections::{BTreeMap, BTreeSet};

use loops::poly::linear;
use loops::simplify::tidy;
use loops::visit::{check_depth, fresh, substitute, taken};
use loops::{Access, Assign, BinaryOp, Expr, Function, Loop, LoopKind, Name, Stmt};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "skewed-rows",
        literature: "unroll-and-jam (Callahan, Carr, Kennedy 1990) after loop skewing (Wolfe 1986)",
        about: "rows that wait for each other run at once, each a step or two behind the one above it",
    },
    run: |function| changed(function, skewed(function)),
};

/// Rows at once: their elements, and those of the step before, are in registers.
const ROWS: i64 = 4;

/// The largest number of steps that a row is behind the one above it.
const MOST_BEHIND: i64 = 2;

/// The function with such rows at once. A function that is nested too deeply comes back as it is.
fn skewed(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let body = block(&function.body, &mut taken(function));
    with_own_labels(function, Function { body, ..function.clone() })
}

fn block(stmts: &[Stmt], taken: &mut BTreeSet<Name>) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) => match behind(l) {
                Some(behind) => result.extend(rows(l, behind, taken)),
                None => result.push(Stmt::Loop(Loop { body: block(&l.body, taken), ..l.clone() })),
            },
            other => result.push(other.map(&mut Expr::clone, &mut |inner| block(inner, taken))),
        }
    }
    result
}

/// How many steps a row must be behind the one above it, so that rows at once do not wait for each
/// other; none if the loop is no such nest, or if that cannot be seen.
fn behind(outer: &Loop) -> Option<i64> {
    let [Stmt::Loop(inner)] = outer.body.as_slice() else { return None };
    let plain = |l: &Loop| l.kind == LoopKind::Sequential && l.step <= 1;
    let own = |e: &Expr| e.mentions(&outer.var) || e.has_loads();
    if !plain(outer) || !plain(inner) || own(&inner.lower) || own(&inner.upper) {
        return None;
    }
    let assigns: Vec<&Assign> = inner.body.iter().map(assign).collect::<Option<_>>()?;
    let mut distances = Vec::new();
    for target in assigns.iter().map(|a| &a.target) {
        let loads = assigns.iter().flat_map(|a| a.value.loads());
        let indexed = assigns.iter().flat_map(|a| a.target.indices.iter().flat_map(Expr::loads));
        let others = loads.chain(indexed).chain(assigns.iter().map(|a| &a.target));
        for access in others.filter(|access| access.array == target.array) {
            let (rows, steps) = distance(target, access, &outer.var, &inner.var)?;
            // From the earlier one to the later one.
            let forward = (rows, steps) > (0, 0);
            distances.push(if forward { (rows, steps) } else { (-rows, -steps) });
        }
    }
    let waits = distances.iter().any(|(rows, steps)| *rows == 0 && *steps > 0);
    let between = || distances.iter().filter(|(rows, _)| (1..ROWS).contains(rows));
    between().next().filter(|_| waits)?;
    (1..=MOST_BEHIND).find(|behind| between().all(|(rows, steps)| behind * rows + steps >= 1))
}

fn assign(stmt: &Stmt) -> Option<&Assign> {
    match stmt {
        Stmt::Assign(assign) => Some(assign),
        _ => None,
    }
}

/// By how many rows and steps one access is ahead of another one, of the same array: each variable
/// is one subscript, up to a constant, and all other subscripts are the same.
fn distance(from: &Access, to: &Access, outer: &Name, inner: &Name) -> Option<(i64, i64)> {
    let (mut rows, mut steps) = (None, None);
    for (a, b) in from.indices.iter().zip(&to.indices) {
        let difference = linear::<i128>(&(b.clone() - a.clone()))?.as_constant()?;
        let difference = i64::try_from(difference).ok().filter(|d| d.abs() <= 64)?;
        match (a.advances_with(outer), a.advances_with(inner)) {
            (true, false) if !a.mentions(inner) && rows.is_none() => rows = Some(difference),
            (false, true) if !a.mentions(outer) && steps.is_none() => steps = Some(difference),
            _ if difference == 0 && !a.mentions(outer) && !a.mentions(inner) => {}
            _ => return None,
        }
    }
    rows.zip(steps)
}

/// The loop over rows at once, each some steps behind the one above it, and the one over the rows
/// that are left.
fn rows(outer: &Loop, behind: i64, taken: &mut BTreeSet<Name>) -> Vec<Stmt> {
    let [Stmt::Loop(inner)] = outer.body.as_slice() else { return vec![Stmt::Loop(outer.clone())] };
    let row = fresh(&Name::new(format!("{}_row", outer.var)), taken);
    taken.insert(row.clone());
    let (low, high) = (inner.lower.clone(), inner.upper.clone());
    // The first step at which all rows are under way, and where that is in each row.
    let begin = tidy(&(low.clone() + Expr::Int(behind * (ROWS - 1))));
    let lag = tidy(&(Expr::Int(behind) * Expr::Var(row.clone())));
    let own_begin = tidy(&(begin.clone() - lag.clone()));
    let own_end = tidy(&(high.clone() - lag.clone()));
    let step = Expr::Var(inner.var.clone());
    let part = |lower: Expr, upper: Expr, row: Expr, step: Expr| {
        let place = Expr::Var(outer.var.clone()) + row;
        let moved = BTreeMap::from([(outer.var.clone(), place), (inner.var.clone(), step)]);
        Loop { lower, upper, body: tidied(&substitute(&inner.body, &moved)), ..inner.clone() }
    };
    let at = Expr::Var(row.clone());
    let first = part(low, own_begin.clone().min(high.clone()), at.clone(), step.clone());
    // Lower rows come first in a step: what a row has computed takes the place of what it had.
    let upwards = tidy(&(Expr::Int(ROWS - 1) - at.clone()));
    let shifted = tidy(&(step.clone() - Expr::Int(behind) * upwards.clone()));
    let all = part(begin, high.clone(), upwards, shifted);
    let last = part(own_begin.max(own_end), high, at, step);
    let loop_over = |from: i64, to: i64, kind: LoopKind, body: Vec<Stmt>| {
        let (lower, upper, reductions) = (Expr::Int(from), Expr::Int(to), Vec::new());
        Stmt::Loop(Loop { var: row.clone(), lower, upper, step: 1, kind, reductions, body })
    };
    let at_once = loop_over(0, ROWS, LoopKind::Unroll(None), all.body.clone());
    let body = vec![
        loop_over(0, ROWS - 1, LoopKind::Sequential, vec![Stmt::Loop(first)]),
        Stmt::Loop(Loop { body: vec![at_once], ..all }),
        loop_over(1, ROWS, LoopKind::Sequential, vec![Stmt::Loop(last)]),
    ];
    let upper = tidy(&(outer.upper.clone() - Expr::Int(ROWS - 1)));
    let many = Stmt::Loop(Loop { upper, step: ROWS, body, ..outer.clone() });
    let count = tidy(&(outer.upper.clone() - outer.lower.clone())).max(0);
    let whole = Expr::Int(ROWS) * Expr::binary(BinaryOp::FloorDiv, count, Expr::Int(ROWS));
    let middle = tidy(&(outer.lower.clone() + whole));
    vec![many, Stmt::Loop(Loop { lower: middle, ..outer.clone() })]
}

/// The assignments with short subscripts.
fn tidied(body: &[Stmt]) -> Vec<Stmt> {
    let one = |assign: &Assign| {
        let access = |access: Access| Expr::Load(access.map_indices(&mut |e| tidy(e)));
        let target = assign.target.map_indices(&mut |e| tidy(e));
        Stmt::Assign(Assign { target, value: assign.value.map_loads(&mut { access }), ..assign.clone() })
    };
    loops::visit::assigns(body).map(one).collect()
}
