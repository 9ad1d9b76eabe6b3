//! Updates whose order alone keeps loops from being parallel: what the permission to combine them
//! from parts would change.

use std::collections::BTreeSet;

use loops::visit::{assigns, locals, nodes};
use loops::{Assign, Elem, Expr, Function, Loop, Name, ReduceOp, Stmt, Update};

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

/// The function with every update as a reduction.
pub(crate) fn reorderable(function: &Function) -> Function {
    with_reductions(function, &|_, _| true)
}

/// The function with updates that are the same in any order as reductions: those of integers, which
/// wrap around, and the larger or smaller one of numbers. None where no loop does nothing but such.
pub(super) fn exact_updates(function: &Function) -> Option<Function> {
    let function = &crate::athread::with_updates(function, false);
    let inexact = inexact(function);
    let exact = |target: &Name, update: Update| is_exact(&inexact, target, update);
    let updated = updated_by_loops(function);
    let updates = assigns(&function.body).filter_map(|a| Some((&a.target.array, a.update?)));
    let found = |(name, update): (&Name, Update)| {
        exact(name, update) && updated.contains(&format!("`{}`", readable(name)))
    };
    updates.into_iter().any(found).then(|| with_reductions(function, &exact))
}

/// The same for recurrences over intervals: an element of two indices is updated in three loops
/// from others of its array. None where there is no such update, scalars that only name a value
/// apart.
pub(super) fn exact_recurrences(function: &Function) -> Option<Function> {
    fn inside(body: &[Stmt], around: usize) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::Assign(a) => {
                let free = a.update.is_some_and(|update| update.reorder);
                around == 3 && free && a.target.indices.len() == 2 && a.value.reads(&a.target.array)
            }
            Stmt::Loop(l) => inside(&l.body, around + 1),
            other => other.bodies().into_iter().any(|body| inside(body, around)),
        })
    }
    let function = &crate::athread::with_updates(function, false);
    let inexact = inexact(function);
    let exact = with_reductions(function, &|target, update| is_exact(&inexact, target, update));
    let plain = passes::COPY_PROPAGATION.run(&exact);
    inside(&plain.as_ref().unwrap_or(&exact).body, 0).then_some(exact)
}

/// Arrays and scalars of other numbers than integers.
fn inexact(function: &Function) -> BTreeSet<Name> {
    let params = function.params.iter().map(|param| (&param.name, &param.elem));
    params
        .chain(locals(&function.body).map(|decl| (&decl.name, &decl.elem)))
        .filter(|(_, elem)| !matches!(elem, Elem::Scalar(scalar) if scalar.is_int()))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Whether an update gives the same bits in any order.
fn is_exact(inexact: &BTreeSet<Name>, target: &Name, update: Update) -> bool {
    matches!(update.op, ReduceOp::Min | ReduceOp::Max) || !inexact.contains(target)
}

/// The function with some updates as reductions.
fn with_reductions(function: &Function, of: &dyn Fn(&Name, Update) -> bool) -> Function {
    fn block(body: &[Stmt], of: &dyn Fn(&Name, Update) -> bool) -> Vec<Stmt> {
        let stmt = |stmt: &Stmt| match stmt.map(&mut Expr::clone, &mut |inner| block(inner, of)) {
            Stmt::Assign(assign) => {
                let reorder = |update: Update| update.reorder || of(&assign.target.array, update);
                let update = assign.update.map(|update| Update { reorder: reorder(update), ..update });
                Stmt::Assign(Assign { update, ..assign })
            }
            other => other,
        };
        body.iter().map(stmt).collect()
    }
    Function { body: block(&function.body, of), ..function.clone() }
}
