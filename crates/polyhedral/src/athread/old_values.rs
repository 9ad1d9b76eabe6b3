//! Copies of what arrays had before: reads that see only that are of the copy, and no longer hold
//! up who writes.
//!
//! Where an array is overwritten in place, an iteration must not write what another still reads (an
//! anti-dependence), though no value goes from one to the other: in a product by a triangular
//! matrix in place, row `i` needs rows below it as they were. With those reads from a copy, made
//! before, rows are parallel. A copy costs room in main memory and two transfers of the array, so
//! it is for the cost model to say whether it is worth it.

use loops::visit::fresh;
use loops::{Access, ArrayDecl, Assign, Elem, Expr, Function, Loop, LoopKind, Name, Stmt, Storage};

use crate::dependence;
use crate::fault::{self, Result};
use crate::model::{Model, Statement, Touch};

/// The function with copies of arrays, and the names of these; none if no read is held up by what
/// it does not see.
pub(super) fn copied(model: &Model) -> Result<Option<(Function, Vec<Name>)>> {
    // Here each statement has a label.
    let mut result = model.function.clone();
    let mut arrays = Vec::new();
    for param in
        model.function.params.iter().filter(|p| !p.dims.is_empty() && matches!(p.elem, Elem::Scalar(_)))
    {
        let own: Vec<&Statement> = model
            .statements
            .iter()
            .filter(|s| s.accesses.iter().any(|t| !t.write && t.array == param.name))
            .collect();
        let mut old = Vec::new();
        for statement in own {
            if held_up(model, statement, &param.name)? {
                old.push(&statement.label);
            }
        }
        if old.is_empty() {
            continue;
        }
        result = with_copy(&result, &param.name, &param.elem, &param.dims, &old);
        arrays.push(param.name.clone());
    }
    Ok((!arrays.is_empty()).then_some((result, arrays)))
}

/// Whether a write of an element comes before or after a load of it.
struct Relation {
    never_before: bool,
    never_after: bool,
}

/// Whether the loads of an array in a statement see nothing but what it had before, and something
/// writes it later.
fn held_up(model: &Model, statement: &Statement, array: &Name) -> Result<bool> {
    let written: Vec<&Touch> = statement.accesses.iter().filter(|t| t.write && t.array == *array).collect();
    let mut later = false;
    let mut loads = 0;
    for read in statement.accesses.iter().filter(|t| !t.write && t.array == *array) {
        // What an update reads by itself is no load of its value.
        let itself = |write: &&Touch| write.relation.is_equal(&read.relation);
        if statement.assign.update.is_some() {
            let mut own = false;
            for write in &written {
                own |= itself(write).map_err(fault::library)?;
            }
            if own {
                continue;
            }
        }
        loads += 1;
        for other in &model.statements {
            for write in other.accesses.iter().filter(|t| t.write && t.array == *array) {
                let relate = || -> isl::Result<Relation> {
                    let same = write.relation.apply_range(&read.relation.reverse()?)?;
                    let earlier = same.intersect(&dependence::before(other, statement)?)?;
                    let after = same.reverse()?.intersect(&dependence::before(statement, other)?)?;
                    let none = |pairs: isl::Map| pairs.intersect_params(&model.context)?.is_empty();
                    Ok(Relation { never_before: none(earlier)?, never_after: none(after)? })
                };
                let relation = relate().map_err(fault::library)?;
                if !relation.never_before {
                    return Ok(false);
                }
                later |= !relation.never_after;
            }
        }
    }
    Ok(later && loads > 0)
}

/// The function with a copy of an array, made first, that some statements load from.
fn with_copy(function: &Function, array: &Name, elem: &Elem, dims: &[Expr], old: &[&Name]) -> Function {
    let name = fresh(&Name::new(format!("{array}_before")), &loops::visit::taken(function));
    let copied = copy(function, array, &name, elem, dims);
    let body = copied.into_iter().chain(redirected(&function.body, array, &name, old)).collect();
    Function { body, ..function.clone() }
}

/// A second array and the loops that copy an array of the function to it.
pub(super) fn copy(function: &Function, array: &Name, name: &Name, elem: &Elem, dims: &[Expr]) -> [Stmt; 2] {
    let mut taken = loops::visit::taken(function);
    taken.insert(name.clone());
    let mut vars = Vec::new();
    for _ in dims {
        let var = fresh(&Name::new("element"), &taken);
        taken.insert(var.clone());
        vars.push(var);
    }
    let element: Vec<Expr> = vars.iter().map(|v| Expr::Var(v.clone())).collect();
    let mut copy = Stmt::Assign(Assign {
        label: None,
        target: Access::element(name.clone(), element.clone()),
        update: None,
        value: Expr::Load(Access::element(array.clone(), element)),
    });
    for (var, dim) in vars.iter().zip(dims).rev() {
        copy = Stmt::Loop(Loop::upto(var.clone(), dim.clone(), LoopKind::Sequential, vec![copy]));
    }
    let dims = dims.iter().map(|dim| dim.clone().max(0)).collect();
    let local = ArrayDecl { name: name.clone(), elem: elem.clone(), dims, storage: Storage::Heap };
    [Stmt::Local(local), copy]
}

/// Statements of which some load from the copy.
fn redirected(body: &[Stmt], array: &Name, copy: &Name, old: &[&Name]) -> Vec<Stmt> {
    let load = |a: &Access| match a.array == *array {
        true => Expr::Load(Access { array: copy.clone(), ..a.clone() }),
        false => Expr::Load(a.clone()),
    };
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Assign(assign) if assign.label.as_ref().is_some_and(|label| old.contains(&label)) => {
                Stmt::Assign(Assign { value: assign.value.map_loads(&mut |a| load(&a)), ..assign.clone() })
            }
            other => other.map(&mut |e| e.clone(), &mut |inner| redirected(inner, array, copy, old)),
        })
        .collect()
}
