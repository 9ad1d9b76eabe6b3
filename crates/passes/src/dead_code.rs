//! What no result depends on is not computed: local arrays and numbers that are never read, and
//! loops and conditions that then have nothing to do.
//!
//! A local counts if its value reaches a parameter, a bound, a condition, or a copy. Assignments to
//! others go, with their declarations. An element that is assigned to itself stays as it is without
//! that. What is left is computed as before. Not here: assignments whose value a later one
//! replaces.

use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};
use loops::visit::{check_depth, nodes, with_distinct_locals};
use loops::{Access, Assign, Expr, Function, Name, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "dead-code-elimination",
        literature: "dead code elimination (Cytron et al. 1991)",
        about: "locals that no result depends on are not filled; loops without anything to do are removed",
    },
    run: |function| changed(function, live(function)),
};

/// The function without what nobody asks for. Takes time in proportion to its size.
///
/// A function that is nested too deeply to look at, or has nothing of the kind, comes back as it
/// is.
fn live(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let needed = needed(&distinct);
    let body = kept(&distinct.body, &needed);
    match body == distinct.body {
        true => function.clone(),
        false => Function { body, ..distinct },
    }
}

/// The arrays and numbers whose values reach a parameter, or decide what is done.
fn needed(function: &Function) -> BTreeSet<Name> {
    let mut todo: Vec<Name> = function.params.iter().map(|param| param.name.clone()).collect();
    let mut reads: BTreeMap<&Name, BTreeSet<Name>> = BTreeMap::new();
    for stmt in nodes(&function.body) {
        match stmt {
            Stmt::Assign(a) if !is_of_itself(a) => {
                let from = reads.entry(&a.target.array).or_default();
                from.extend(a.value.arrays());
                a.target.indices.iter().for_each(|index| from.extend(index.arrays()));
            }
            Stmt::Assign(_) => {}
            Stmt::Loop(l) => {
                todo.extend(l.reductions.iter().map(|(_, name)| name.clone()));
                todo.extend(stmt.exprs().into_iter().flat_map(Expr::arrays));
            }
            Stmt::If { .. } => todo.extend(stmt.exprs().into_iter().flat_map(Expr::arrays)),
            Stmt::Local(local) => todo.extend(local.dims.iter().flat_map(Expr::arrays)),
            Stmt::Block { .. } | Stmt::Wait(_) => {}
            Stmt::Copy(copy) => {
                todo.extend([copy.to.array.clone(), copy.from.array.clone()]);
                todo.extend(stmt.exprs().into_iter().flat_map(Expr::arrays));
            }
        }
    }
    let mut needed = BTreeSet::new();
    while let Some(name) = todo.pop() {
        if let Some(from) = reads.remove(&name) {
            todo.extend(from);
        }
        needed.insert(name);
    }
    needed
}

/// Whether an element gets the value that it has.
fn is_of_itself(assign: &Assign) -> bool {
    let same =
        |access: &Access| *access == assign.target && access.indices.iter().all(loops::facts::is_stable);
    assign.update.is_none()
        && assign.label.is_none()
        && matches!(&assign.value, Expr::Load(from) if same(from))
}

fn kept(stmts: &[Stmt], needed: &BTreeSet<Name>) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Assign(a) if !needed.contains(&a.target.array) || is_of_itself(a) => {}
            Stmt::Local(local) if !needed.contains(&local.name) => {}
            Stmt::Loop(_) | Stmt::If { .. } | Stmt::Block { .. } => {
                let new = stmt.map(&mut Expr::clone, &mut |inner| kept(inner, needed));
                // A remark for readers is a block without statements.
                let remark = matches!(stmt, Stmt::Block { body, .. } if body.is_empty());
                if remark || !new.bodies().iter().all(|body| body.is_empty()) {
                    result.push(new);
                }
            }
            other => result.push(other.clone()),
        }
    }
    result
}
