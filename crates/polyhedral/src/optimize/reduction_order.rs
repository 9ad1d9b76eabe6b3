//! Updates whose order alone keeps loops from being parallel: what the permission to combine them
//! from parts would change.

use loops::visit::nodes;
use loops::{Assign, Function, Loop, Stmt};

use crate::names::readable;

/// What is updated again and again by a loop whose variable is in no subscript of it, and that does
/// nothing else with it: its updates could be combined from parts.
pub(super) fn updated_by_loops(function: &Function) -> Vec<String> {
    fn walk<'a>(body: &'a [Stmt], loops: &mut Vec<&'a Loop>, found: &mut Vec<String>) {
        for stmt in body {
            match stmt {
                Stmt::Loop(l) => {
                    loops.push(l);
                    walk(&l.body, loops, found);
                    loops.pop();
                }
                Stmt::Assign(a) if a.update.is_some_and(|update| !update.reorder) => {
                    let name = format!("`{}`", readable(&a.target.array));
                    let apart = |l: &&Loop| {
                        !a.target.indices.iter().any(|i| i.mentions(&l.var)) && only_updates(&l.body, a)
                    };
                    if loops.iter().any(apart) && !found.contains(&name) {
                        found.push(name);
                    }
                }
                other => other.bodies().into_iter().for_each(|body| walk(body, loops, found)),
            }
        }
    }
    let mut found = Vec::new();
    walk(&crate::athread::with_updates(function, true).body, &mut Vec::new(), &mut found);
    found
}

/// Whether all that is done with what an update writes are updates of its kind.
fn only_updates(body: &[Stmt], update: &Assign) -> bool {
    let op = |a: &Assign| a.update.map(|update| update.op);
    let array = &update.target.array;
    let other = |a: &Assign| a.target.array == *array && op(a) != op(update);
    !nodes(body).any(|stmt| stmt.reads(array) || matches!(stmt, Stmt::Assign(a) if other(a)))
}
