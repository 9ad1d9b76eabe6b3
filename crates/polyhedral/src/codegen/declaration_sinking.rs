//! Local arrays that an iteration has for itself are declared inside the loop again: code generation puts all declarations first, where parallel iterations
//! would share them.
//!
//! A declaration goes into the innermost block that holds all uses, as long as that block writes the array before it reads it (of an array with
//! extents, as long as it was declared inside a loop at all). What comes out is checked like everything else.

use std::collections::BTreeMap;

use loops::{ArrayDecl, Expr, Name, Stmt};

use super::Generated;
use crate::model::Model;
use crate::model::nest::by_data;

/// The function with the declarations inside the loops that have them to themselves.
pub(crate) fn sink(generated: Generated, model: &Model) -> Generated {
    let mut function = generated.function;
    let inside = |name: &Name| model.scopes.get(name).is_some_and(|around| !around.is_empty());
    let (moving, mut body): (Vec<Stmt>, Vec<Stmt>) = std::mem::take(&mut function.body)
        .into_iter()
        .partition(|stmt| matches!(stmt, Stmt::Local(local) if inside(&local.name)));
    let mut users = BTreeMap::new();
    for stmt in &moving {
        let Stmt::Local(local) = stmt else { continue };
        users.insert(local.name.clone(), local);
    }
    for local in users.into_values() {
        place(&mut body, local);
    }
    function.body = body;
    Generated { function, ..generated }
}

/// Puts the declaration into the innermost block that can have it.
fn place(body: &mut Vec<Stmt>, local: &ArrayDecl) {
    let users: Vec<usize> = (0..body.len()).filter(|k| mentions(&body[*k], &local.name)).collect();
    if let [only] = users.as_slice() {
        let first = |block: &[Stmt]| !local.dims.is_empty() || written_first(block, &local.name, &mut false);
        let inner = match &mut body[*only] {
            Stmt::Loop(l) if !by_data(l) && first(&l.body) => Some(&mut l.body),
            Stmt::Block { body, .. } => Some(body),
            Stmt::If { cond, then, otherwise } if !reads(cond, &local.name) => {
                let in_then = then.iter().any(|s| mentions(s, &local.name));
                let in_otherwise = otherwise.iter().any(|s| mentions(s, &local.name));
                match (in_then, in_otherwise) {
                    (true, false) => Some(then),
                    (false, true) => Some(otherwise),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(inner) = inner {
            return place(inner, local);
        }
    }
    let first = users.first().copied().unwrap_or(0);
    body.insert(first, Stmt::Local(local.clone()));
}

/// Whether every read comes after a write in the same run of the block; `written` is what is known at its end.
fn written_first(body: &[Stmt], name: &Name, written: &mut bool) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Assign(assign) => {
            let target = assign.target.array == *name;
            let reads = own(stmt, name) || (target && assign.update.is_some());
            let fine = *written || !reads;
            *written |= target;
            fine
        }
        // It may not run.
        Stmt::Loop(l) => (*written || !own(stmt, name)) && written_first(&l.body, name, &mut written.clone()),
        Stmt::If { cond, then, otherwise } => {
            let (mut a, mut b) = (*written, *written);
            let fine = (*written || !reads(cond, name))
                && written_first(then, name, &mut a)
                && written_first(otherwise, name, &mut b);
            *written = a && b;
            fine
        }
        Stmt::Block { body, .. } => written_first(body, name, written),
        Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => true,
    })
}

fn mentions(stmt: &Stmt, name: &Name) -> bool {
    let mut found = false;
    stmt.walk(&mut |stmt| {
        found |= own(stmt, name) || matches!(stmt, Stmt::Assign(assign) if assign.target.array == *name);
    });
    found
}

/// Whether a statement itself reads an array, not one inside it.
fn own(stmt: &Stmt, name: &Name) -> bool {
    stmt.exprs().into_iter().any(|e| reads(e, name))
}

fn reads(e: &Expr, name: &Name) -> bool {
    e.arrays().contains(name)
}
