//! Privatisation: an array that every iteration of some loops writes before it reads it gets a copy for each iteration.
//!
//! The iterations share nothing through it, but its one place in memory keeps them in order (the workspace `sum` of `doitgen`). With a plane for each
//! iteration the loops are parallel; a plane lives in local memory as long as its iteration. After the loops the array has the values of the last plane.
//!
//! Only where that is plain: loops from 0 to a size around all accesses, subscripts without these loops' variables, one statement that first assigns the
//! whole array, and exact dataflow that never leaves an iteration.

use std::collections::BTreeSet;

use loops::visit::fresh;
use loops::{Access, ArrayDecl, Assign, Expr, Function, Loop, LoopKind, Name, Stmt, Storage};

use crate::dependence;
use crate::fault::{self, Result};
use crate::model::{Model, Statement};

/// The function with one more array privatised; none if there is no such array.
pub(super) fn privatise(function: &Function, model: &Model) -> Result<Option<Function>> {
    let arrays = function.params.iter().filter(|p| !p.dims.is_empty()).map(|p| (&p.name, &p.elem, &p.dims));
    for (array, elem, dims) in arrays {
        if let Some((depth, outer)) = candidate(function, model, array, dims) {
            let flows = dependence::dataflow(model)?;
            if stays_inside(model, array, depth, &flows)? {
                return Ok(Some(rewrite(function, array, elem, dims, &outer)));
            }
        }
    }
    Ok(None)
}

/// The loops around all accesses of an array, if they and the accesses have the plain form.
fn candidate<'a>(
    function: &'a Function,
    model: &Model,
    array: &Name,
    dims: &[Expr],
) -> Option<(usize, Vec<&'a Loop>)> {
    let touching: Vec<&Statement> =
        model.statements.iter().filter(|s| s.accesses.iter().any(|t| t.array == *array)).collect();
    let first = touching.first()?;
    let depth = touching.iter().map(|s| dependence::shared_loops(first, s)).min()?.min(first.loops.len());
    // Inner loops that not all share stay; of the shared ones only those count that no subscript has.
    let moved = |var: &Name| {
        touching
            .iter()
            .any(|s| accesses(s, array).iter().any(|a| a.indices.iter().any(|i| i.vars().contains(var))))
    };
    let depth = (0..depth).take_while(|k| !moved(&first.loops[*k].var)).count();
    if depth == 0 {
        return None;
    }
    let mut outer = Vec::new();
    let mut body = function.body.as_slice();
    for around in &first.loops[..depth] {
        let l = body.iter().find_map(|stmt| match stmt {
            Stmt::Loop(l) if l.var == around.var && contains(&l.body, array) => Some(l),
            _ => None,
        })?;
        let plain = l.lower == Expr::Int(0)
            && l.step == 1
            && l.upper.vars().iter().all(|v| function.sizes.contains(v));
        if !plain || l.upper.arrays().iter().next().is_some() {
            return None;
        }
        outer.push(l);
        body = &l.body;
    }
    // The first statement assigns every element: a loop from 0 to the extent for each subscript.
    let loops = &first.loops[depth..];
    let whole = first.assign.update.is_none()
        && first.assign.target.array == *array
        && first.assign.target.indices.len() == dims.len()
        && first.assign.target.indices.iter().zip(dims).all(|(index, dim)| {
            let Expr::Var(var) = index else { return false };
            loops.iter().any(|l| l.var == *var) && bound_of(body, var) == Some(dim)
        })
        && first.assign.target.indices.iter().collect::<BTreeSet<_>>().len() == dims.len()
        && touching.iter().all(|s| s.accesses.iter().filter(|t| !t.write && t.array == *array).count() <= 1);
    whole.then_some((depth, outer))
}

/// The end of the first loop over `var` from 0, unless something else depends on it.
fn bound_of<'a>(body: &'a [Stmt], var: &Name) -> Option<&'a Expr> {
    let mut found = None;
    for stmt in body {
        stmt.walk(&mut |s| {
            if let Stmt::Loop(l) = s
                && l.var == *var
                && found.is_none()
            {
                found = Some((&l.lower, &l.upper, l.step));
            }
        });
    }
    match found {
        Some((Expr::Int(0), upper, 1)) => Some(upper),
        _ => None,
    }
}

fn contains(body: &[Stmt], array: &Name) -> bool {
    body.iter().any(|stmt| {
        let mut found = false;
        stmt.walk(&mut |s| {
            if let Stmt::Assign(assign) = s {
                found |= assign.target.array == *array || assign.value.arrays().contains(array);
            }
        });
        found
    })
}

fn accesses(statement: &Statement, array: &Name) -> Vec<Access> {
    let mut all = Vec::new();
    if statement.assign.target.array == *array {
        all.push(statement.assign.target.clone());
    }
    statement.assign.value.walk(&mut |e| {
        if let Expr::Load(a) = e
            && a.array == *array
        {
            all.push(a.clone());
        }
    });
    all
}

/// Whether each read sees a write of its own iteration of the outer loops.
fn stays_inside(model: &Model, array: &Name, depth: usize, flows: &[dependence::Dependence]) -> Result<bool> {
    let own: Vec<_> = flows.iter().filter(|d| d.array == *array).collect();
    for flow in &own {
        for k in 0..depth {
            let inside = || -> isl::Result<bool> {
                let relation = flow.relation.intersect_params(&model.context)?;
                relation.is_subset(&relation.equate((isl::Dim::In, k), (isl::Dim::Out, k))?)
            };
            if !inside().map_err(fault::library)? {
                return Ok(false);
            }
        }
    }
    for statement in &model.statements {
        for touch in statement.accesses.iter().filter(|t| !t.write && t.array == *array) {
            let covered = || -> isl::Result<bool> {
                let mut left = touch.relation.domain()?.intersect_params(&model.context)?;
                for flow in own.iter().filter(|d| d.target == statement.label) {
                    left = left.subtract(&flow.relation.range()?)?;
                }
                left.is_empty()
            };
            if !covered().map_err(fault::library)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn rewrite(
    function: &Function,
    array: &Name,
    elem: &loops::Elem,
    dims: &[Expr],
    outer: &[&Loop],
) -> Function {
    let mut taken = loops::visit::taken(function);
    let name = fresh(&Name::new(format!("{array}_planes")), &taken);
    taken.insert(name.clone());
    let vars: Vec<Expr> = outer.iter().map(|l| Expr::Var(l.var.clone())).collect();
    let access = |a: &Access| match a.array == *array {
        true => Access {
            array: name.clone(),
            indices: vars.iter().cloned().chain(a.indices.iter().cloned()).collect(),
            path: a.path.clone(),
        },
        false => a.clone(),
    };
    let body = replace(&function.body, &access);
    let extents = outer.iter().map(|l| l.upper.clone().max(0)).chain(dims.iter().cloned()).collect();
    let local = ArrayDecl { name: name.clone(), elem: elem.clone(), dims: extents, storage: Storage::Heap };
    // The last plane is what the loops leave behind: its iteration says so, while it is there.
    let mut back = Vec::new();
    let mut inner = Vec::new();
    for _ in dims {
        let var = fresh(&Name::new("last"), &taken);
        taken.insert(var.clone());
        inner.push(var);
    }
    let own: Vec<Expr> = inner.iter().map(|v| Expr::Var(v.clone())).collect();
    let from = Access {
        array: name.clone(),
        indices: vars.iter().cloned().chain(own.iter().cloned()).collect(),
        path: vec![],
    };
    back.push(Stmt::Assign(Assign {
        label: None,
        target: Access::element(array.clone(), own),
        update: None,
        value: Expr::Load(from),
    }));
    for (var, dim) in inner.iter().zip(dims).rev() {
        back = vec![Stmt::Loop(Loop::upto(var.clone(), dim.clone(), LoopKind::Sequential, back))];
    }
    for l in outer.iter().rev() {
        let cond = Expr::Var(l.var.clone()).equals(l.upper.clone() - 1);
        back = vec![Stmt::If { cond, then: back, otherwise: vec![] }];
    }
    let mut result = vec![Stmt::Local(local)];
    result.extend(ending(body, &name, outer, &mut back));
    Function { body: result, ..function.clone() }
}

/// A body whose loops around an array end with some statements.
fn ending(body: Vec<Stmt>, array: &Name, outer: &[&Loop], last: &mut Vec<Stmt>) -> Vec<Stmt> {
    let Some((around, inside)) = outer.split_first() else {
        return body.into_iter().chain(std::mem::take(last)).collect();
    };
    body.into_iter()
        .map(|stmt| match stmt {
            Stmt::Loop(l) if l.var == around.var && contains(&l.body, array) => {
                let body = ending(l.body, array, inside, last);
                Stmt::Loop(Loop { body, ..l })
            }
            other => other,
        })
        .collect()
}

fn replace(body: &[Stmt], access: &dyn Fn(&Access) -> Access) -> Vec<Stmt> {
    let value = |e: &Expr| e.map_loads(&mut |a| Expr::Load(access(&a)));
    body.iter()
        .map(|stmt| match stmt.map(&mut |e| value(e), &mut |inner| replace(inner, access)) {
            Stmt::Assign(assign) => Stmt::Assign(Assign { target: access(&assign.target), ..assign }),
            other => other,
        })
        .collect()
}
