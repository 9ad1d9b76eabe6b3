//! Local arrays that an iteration has for itself are declared inside the loop again: code
//! generation puts all declarations first, where parallel iterations would share them.
//!
//! A declaration goes into the innermost block that holds all uses, as long as that block writes
//! the array before it reads it (of an array with extents, as long as it was declared inside a loop
//! at all). What comes out is checked like everything else.

use std::collections::BTreeMap;

use loops::liveness::written_before_read;
use loops::{ArrayDecl, Name, Stmt};

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
    let users: Vec<usize> = (0..body.len()).filter(|k| body[*k].accesses(&local.name)).collect();
    if let [only] = users.as_slice() {
        let first = |block: &[Stmt]| !local.dims.is_empty() || written_before_read(block, &local.name);
        let inner = match &mut body[*only] {
            Stmt::Loop(l) if !by_data(l) && first(&l.body) => Some(&mut l.body),
            Stmt::Block { body, .. } => Some(body),
            Stmt::If { cond, then, otherwise } if !cond.reads(&local.name) => {
                let in_then = then.iter().any(|s| s.accesses(&local.name));
                let in_otherwise = otherwise.iter().any(|s| s.accesses(&local.name));
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
