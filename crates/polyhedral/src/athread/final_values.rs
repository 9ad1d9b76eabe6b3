//! Renaming of final values: where one statement writes each element of an array for the last time,
//! what the array holds until then moves to a second array, and the first one is only written once.
//!
//! In a triangular solution `X[i][j] -= L[i][k] * X[k][j]` works on elements that are not finished,
//! and reads others that are. Both are in one array, and a tile would write it through two boxes:
//! that of the rows it works on, and that of rows that it finishes. With the unfinished elements in
//! an array of their own, a copy that is made first, each box has its array. (Renaming of storage:
//! Padua and Wolfe 1986; Feautrier 1988.)
//!
//! A copy costs room in main memory and two transfers of the array, so this is for programs that
//! cannot be mapped otherwise. Left out: arrays that several statements finish.

use loops::visit::fresh;
use loops::{Access, Assign, Elem, Expr, Function, Name, Stmt};

use super::old_values;
use crate::dependence;
use crate::fault::{self, Result};
use crate::model::{Model, Statement, Touch};

/// The function with unfinished elements of arrays in arrays of their own, and the names of the
/// arrays; none if there are no such arrays.
pub(super) fn renamed(model: &Model) -> Result<Option<(Function, Vec<Name>)>> {
    // Here each statement has a label.
    let mut result = model.function.clone();
    let mut arrays = Vec::new();
    let own = |p: &&loops::Param| !p.dims.is_empty() && matches!(p.elem, Elem::Scalar(_));
    for param in model.function.params.iter().filter(own) {
        let users = || model.statements.iter().filter(|s| s.accesses.iter().any(|t| t.array == param.name));
        let writers: Vec<&Statement> = users().filter(|s| s.assign.target.array == param.name).collect();
        if writers.len() < 2 || users().any(|s| !s.certain() || !s.exact()) {
            continue;
        }
        for last in writers {
            let Some(unfinished) = unfinished(model, last, &param.name)? else { continue };
            let name = fresh(&Name::new(format!("{}_unfinished", param.name)), &loops::visit::taken(&result));
            let copy = old_values::copy(&result, &param.name, &name, &param.elem, &param.dims);
            let finish = |label: &Name| *label == last.label;
            let body = redirected(&result.body, &param.name, &name, &finish, &unfinished);
            result.body = copy.into_iter().chain(body).collect();
            arrays.push(param.name.clone());
            break;
        }
    }
    Ok((!arrays.is_empty()).then_some((result, arrays)))
}

/// A load, or the target, of a statement.
type Use = (Name, Access);

/// The accesses of an array that only meet elements before the statement `last` writes them, if it
/// finishes all elements that are written, and all others meet elements after it.
fn unfinished(model: &Model, last: &Statement, array: &Name) -> Result<Option<Vec<Use>>> {
    let Some(end) = last.accesses.iter().find(|t| t.write && t.array == *array) else { return Ok(None) };
    let finished = end.relation.intersect_params(&model.context).and_then(|r| r.range());
    let finished = finished.map_err(fault::library)?;
    let (mut before, mut any_after) = (Vec::new(), false);
    for statement in &model.statements {
        for (touch, access) in uses(statement).filter(|(touch, _)| touch.array == *array) {
            if statement.label == last.label && touch.write {
                if when(model, end, last, touch, statement)? != When::Before {
                    return Ok(None);
                }
                continue;
            }
            let time = when(model, end, last, touch, statement)?;
            if touch.write {
                let within =
                    || touch.relation.intersect_params(&model.context)?.range()?.is_subset(&finished);
                if time != When::Before || !within().map_err(fault::library)? {
                    return Ok(None);
                }
            }
            match time {
                When::Before => before.push((statement.label.clone(), access.clone())),
                // The read of an update and its write are one access.
                When::After if statement.assign.update.is_none() || *access != statement.assign.target => {
                    any_after = true;
                }
                _ => return Ok(None),
            }
        }
    }
    Ok(any_after.then_some(before))
}

/// When instances meet their elements: never after these are finished, always after it, or neither.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Before,
    After,
    Either,
}

fn when(model: &Model, end: &Touch, last: &Statement, touch: &Touch, statement: &Statement) -> Result<When> {
    let relate = || -> isl::Result<When> {
        let own = touch.relation.intersect_params(&model.context)?;
        let same = end.relation.apply_range(&own.reverse()?)?;
        let later = same.intersect(&dependence::before(last, statement)?)?;
        let later = later.intersect_params(&model.context)?;
        Ok(match later.is_empty()? {
            true => When::Before,
            false if own.domain()?.is_subset(&later.range()?)? => When::After,
            false => When::Either,
        })
    };
    relate().map_err(fault::library)
}

/// What a statement accesses, with the text of each access: loads in the order in which the model
/// lists them, what an update reads, the target.
fn uses(statement: &Statement) -> impl Iterator<Item = (&Touch, &Access)> {
    let assign = &statement.assign;
    let mut texts: Vec<&Access> = Vec::new();
    for expr in assign.target.indices.iter().chain([&assign.value]) {
        texts.extend(expr.loads());
    }
    texts.extend(assign.update.map(|_| &assign.target));
    texts.push(&assign.target);
    statement.accesses.iter().zip(texts)
}

/// Statements with accesses of the second array; the one that finishes writes to the first.
fn redirected(
    body: &[Stmt],
    array: &Name,
    second: &Name,
    finishes: &dyn Fn(&Name) -> bool,
    unfinished: &[Use],
) -> Vec<Stmt> {
    let of = |label: &Name, access: &Access| -> Access {
        let moved = unfinished.iter().any(|(own, other)| own == label && other == access);
        Access { array: if moved { second.clone() } else { access.array.clone() }, ..access.clone() }
    };
    let assign = |assign: &Assign, label: &Name| -> Assign {
        let value = assign.value.map_loads(&mut |a| Expr::Load(of(label, &a)));
        if !finishes(label) {
            return Assign { target: of(label, &assign.target), value, ..assign.clone() };
        }
        match assign.update {
            Some(update) => {
                let before = Access { array: second.clone(), ..assign.target.clone() };
                let value = Expr::binary(update.op.binary(), Expr::Load(before), value);
                Assign { update: None, value, ..assign.clone() }
            }
            None => Assign { value, ..assign.clone() },
        }
    };
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Assign(own) => Stmt::Assign(match &own.label {
                Some(label) if own.target.array == *array || own.value.reads(array) => assign(own, label),
                _ => own.clone(),
            }),
            other => other
                .map(&mut Expr::clone, &mut |inner| redirected(inner, array, second, finishes, unfinished)),
        })
        .collect()
}
