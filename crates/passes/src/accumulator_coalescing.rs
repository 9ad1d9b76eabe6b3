//! Accumulators that hand over to each other become one: a sum over a box is translated as a sum of
//! sums, each of which begins with what the one around it has so far and gives back what it has at
//! the end.
//!
//! `b = a; …; a = b` with nothing said of `a` between, and nothing of `b` afterwards, is `…` on `a`
//! itself. Nothing else is moved or left out.

use std::collections::BTreeMap;

use crate::pass::{Pass, Step, changed};
use loops::visit::{check_depth, names, nodes, rename_arrays, with_distinct_locals};
use loops::{Access, Expr, Function, Name, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "accumulator-coalescing",
        literature: "copy coalescing of accumulators",
        about: "a local sum that is handed to another one becomes that one",
    },
    run: |function| changed(function, accumulators(function)),
};

/// The function with such accumulators as one. Takes time in proportion to its size, times its
/// depth.
///
/// A function that is nested too deeply to look at, or has none, comes back as it is.
fn accumulators(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut changed = false;
    let distinct = with_distinct_locals(function);
    let body = body(&distinct.body, &mut changed);
    match changed {
        true => Function { body, ..distinct },
        false => function.clone(),
    }
}

fn body(stmts: &[Stmt], changed: &mut bool) -> Vec<Stmt> {
    let inner = |stmt: &Stmt| stmt.map(&mut Expr::clone, &mut |inner| body(inner, changed));
    let stmts: Vec<Stmt> = stmts.iter().map(inner).collect();
    match merged(&stmts) {
        Some(merged) => {
            *changed = true;
            merged
        }
        None => stmts,
    }
}

/// The statements of a block that ends with `a = b`, without `b`.
fn merged(stmts: &[Stmt]) -> Option<Vec<Stmt>> {
    let (last, before) = stmts.split_last()?;
    let (a, b) = copy(last)?;
    let declared = before.iter().position(|stmt| matches!(stmt, Stmt::Local(local) if local.name == *b))?;
    let Stmt::Local(local) = &before[declared] else { return None };
    let begins = declared + 1;
    let (to, from) = copy(before.get(begins)?)?;
    let between = &before[begins + 1..];
    if to != b || from != a || !local.dims.is_empty() || names(between).contains(a) || is_combined(between, b)
    {
        return None;
    }
    let mut result = before[..declared].to_vec();
    result.extend(rename_arrays(between, &BTreeMap::from([(b.clone(), a.clone())])));
    Some(result)
}

/// Whether a loop combines the variable from parts, which only a variable of the function's own can
/// be.
fn is_combined(stmts: &[Stmt], name: &Name) -> bool {
    nodes(stmts).any(|stmt| matches!(stmt, Stmt::Loop(l) if l.reductions.iter().any(|(_, n)| n == name)))
}

/// The two numbers of `a = b`.
fn copy(stmt: &Stmt) -> Option<(&Name, &Name)> {
    let scalar = |access: &Access| access.indices.is_empty() && access.path.is_empty();
    match stmt {
        Stmt::Assign(a) if a.update.is_none() && a.label.is_none() && scalar(&a.target) => match &a.value {
            Expr::Load(from) if scalar(from) => Some((&a.target.array, &from.array)),
            _ => None,
        },
        _ => None,
    }
}
