//! Privatisation: an array that every iteration of some loops writes before it reads it gets a copy
//! for each iteration.
//!
//! The iterations share nothing through it, but its one place in memory keeps them in order (the
//! workspace `sum` of `doitgen`). With a plane for each iteration the loops are parallel; a plane
//! lives in local memory as long as its iteration. After the loops the array has the values of the
//! last plane.
//!
//! The passes that expand scalars and arrays (`passes`) give elements in main memory, by the text.
//! Here planes are meant for local memory, and what is assigned is known from relations of
//! instances, which only the model has.
//!
//! Only where that is plain: loops from 0 to a size around all accesses, subscripts without these
//! loops' variables, one statement that first assigns all that is ever assigned of the array, the
//! same elements in each iteration, and reads of what their own iteration has assigned before. A
//! plane has room for those elements alone, however long the array is.

use std::collections::BTreeSet;

use isl::{Dim, Map};
use loops::visit::{assigns, fresh, nodes};
use loops::{Access, ArrayDecl, Assign, Expr, Function, Loop, LoopKind, Name, Stmt, Storage};

use super::boxes::text;
use crate::dependence;
use crate::fault::{self, Result};
use crate::model::{Model, Statement};
use crate::names::readable;

/// The function with one more array privatised; none if there is no such array.
pub(super) fn privatise(function: &Function, model: &Model) -> Result<Option<Function>> {
    for param in function.params.iter().filter(|p| !p.dims.is_empty()) {
        if let Some(workspace) = candidate(function, model, &param.name, param.dims.len())
            && stays_inside(model, &param.name, &workspace)?
        {
            let free = free(model, &param.name, &workspace)?;
            if free.contains(&true) {
                return Ok(Some(rewrite(function, &param.name, &param.elem, &workspace, &free)));
            }
        }
    }
    Ok(None)
}

/// An array that could have a plane for each iteration of some loops.
struct Workspace<'a> {
    /// The loops.
    outer: Vec<&'a Loop>,
    /// The statement that assigns it first, as position in the model.
    first: usize,
    /// The least element that this assigns and the one behind the last, for each dimension.
    ends: Vec<(i64, Expr)>,
}

/// The loops around all accesses of an array, if they and the accesses have the plain form.
fn candidate<'a>(function: &'a Function, model: &Model, array: &Name, rank: usize) -> Option<Workspace<'a>> {
    let touches = |s: &Statement| s.accesses.iter().any(|t| t.array == *array);
    let number = model.statements.iter().position(touches)?;
    let touching: Vec<&Statement> = model.statements.iter().filter(|s| touches(s)).collect();
    let first = touching.first()?;
    let depth = touching.iter().map(|s| dependence::shared_loops(first, s)).min()?.min(first.loops.len());
    // Inner loops that not all share stay; of the shared ones only those count that no subscript
    // has.
    let moved = |var: &Name| {
        touching.iter().any(|s| accesses(s, array).iter().any(|a| a.indices.iter().any(|i| i.mentions(var))))
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
    // The first statement assigns every element that is assigned: a loop over sizes alone for each
    // subscript.
    let loops = &first.loops[depth..];
    let target = &first.assign.target;
    if first.assign.update.is_some()
        || target.array != *array
        || target.indices.len() != rank
        || target.indices.iter().collect::<BTreeSet<_>>().len() != rank
    {
        return None;
    }
    let ends = target.indices.iter().map(|index| {
        let Expr::Var(var) = index else { return None };
        let (lower, upper) = bound_of(body, var).filter(|_| loops.iter().any(|l| l.var == *var))?;
        let sizes = upper.is_over(&function.sizes);
        (lower >= 0 && sizes).then(|| (lower, upper.clone()))
    });
    Some(Workspace { outer, first: number, ends: ends.collect::<Option<_>>()? })
}

/// The ends of the first loop over `var`, from a constant in steps of one.
fn bound_of<'a>(body: &'a [Stmt], var: &Name) -> Option<(i64, &'a Expr)> {
    let first = nodes(body).find_map(|s| match s {
        Stmt::Loop(l) if l.var == *var => Some((&l.lower, &l.upper, l.step)),
        _ => None,
    });
    match first {
        Some((Expr::Int(lower), upper, 1)) => Some((*lower, upper)),
        _ => None,
    }
}

fn contains(body: &[Stmt], array: &Name) -> bool {
    assigns(body).any(|assign| assign.target.array == *array || assign.value.reads(array))
}

fn accesses(statement: &Statement, array: &Name) -> Vec<Access> {
    let all = std::iter::once(&statement.assign.target).chain(statement.assign.value.loads());
    all.filter(|access| access.array == *array).cloned().collect()
}

/// Whether each read sees what its own iteration of the outer loops has assigned before, and none
/// assigns elements that the first statement does not assign.
fn stays_inside(model: &Model, array: &Name, workspace: &Workspace) -> Result<bool> {
    let depth = workspace.outer.len();
    let first = &model.statements[workspace.first];
    let Some(start) = first.accesses.iter().find(|t| t.write && t.array == *array) else { return Ok(false) };
    let start = start.relation.intersect_params(&model.context).map_err(fault::library)?;
    if !assigns_all(model, &start, workspace)? {
        return Ok(false);
    }
    for statement in &model.statements {
        for touch in statement.accesses.iter().filter(|t| t.array == *array) {
            let covered = || -> isl::Result<bool> {
                // From each instance by an element of its to who assigns that first: one element
                // each.
                let all = touch.relation.intersect_params(&model.context)?;
                let mut begun = all.apply_range(&start.reverse()?)?;
                for k in 0..depth {
                    begun = begun.equate((Dim::In, k), (Dim::Out, k))?;
                }
                if !touch.write {
                    begun = begun.intersect(&dependence::before(first, statement)?.reverse()?)?;
                }
                all.is_subset(&begun.apply_range(&start)?)
            };
            if !covered().map_err(fault::library)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Which of the outer loops nothing but the array holds up: these get planes. A loop over time that
/// other arrays keep in order needs none.
fn free(model: &Model, array: &Name, workspace: &Workspace) -> Result<Vec<bool>> {
    let first = &model.statements[workspace.first];
    let mut free = vec![true; workspace.outer.len()];
    for dependence in dependence::memory(model)?.iter().filter(|d| d.array != *array && !d.private) {
        let inside = |label: &Name| {
            let statement = model.statements.iter().find(|s| s.label == *label);
            statement.map_or(0, |s| dependence::shared_loops(first, s))
        };
        let shared = inside(&dependence.source).min(inside(&dependence.target));
        let mut relation = dependence.relation.intersect_params(&model.context).map_err(fault::library)?;
        for (k, free) in free.iter_mut().enumerate().take(shared) {
            let equal = relation.equate((Dim::In, k), (Dim::Out, k)).map_err(fault::library)?;
            *free &= relation.is_subset(&equal).map_err(fault::library)?;
            relation = equal;
        }
    }
    Ok(free)
}

/// Whether the first statement assigns, in each iteration of the outer loops, all elements between
/// the ends: conditions may leave some out.
fn assigns_all(model: &Model, start: &Map, workspace: &Workspace) -> Result<bool> {
    let depth = workspace.outer.len();
    let (mut numbers, mut elements, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    for (k, around) in workspace.outer.iter().enumerate() {
        let Some(end) = text(&around.upper) else { return Ok(false) };
        numbers.push(format!("o{k}"));
        bounds.push(format!("0 <= o{k} < {end}"));
    }
    for (k, (first, end)) in workspace.ends.iter().enumerate() {
        let Some(end) = text(end) else { return Ok(false) };
        elements.push(format!("a{k}"));
        bounds.push(format!("{first} <= a{k} < {end}"));
    }
    let sizes: Vec<String> = model.function.sizes.iter().map(|size| readable(size)).collect();
    let [sizes, numbers, elements] = [sizes, numbers, elements].map(|names| names.join(", "));
    let all = format!("[{sizes}] -> {{ [{numbers}] -> [{elements}] : {} }}", bounds.join(" and "));
    let covered = || -> isl::Result<bool> {
        let all = Map::read(&model.ctx, &all)?.intersect_params(&model.context)?;
        let inner = start.dim(Dim::In)? - depth;
        let own = start.project_out(Dim::In, depth, inner)?.reset_tuple_name(Dim::Out)?;
        all.is_subset(&own.reset_tuple_name(Dim::In)?)
    };
    covered().map_err(fault::library)
}

fn rewrite(
    function: &Function,
    array: &Name,
    elem: &loops::Elem,
    Workspace { outer, ends, .. }: &Workspace,
    free: &[bool],
) -> Function {
    let mut taken = loops::visit::taken(function);
    let name = fresh(&Name::new(format!("{array}_planes")), &taken);
    taken.insert(name.clone());
    let planes = || outer.iter().zip(free).filter(|(_, free)| **free).map(|(l, _)| *l);
    let vars: Vec<Expr> = planes().map(|l| Expr::Var(l.var.clone())).collect();
    let access = |a: &Access| match a.array == *array {
        true => Access {
            array: name.clone(),
            indices: vars.iter().cloned().chain(a.indices.iter().cloned()).collect(),
            path: a.path.clone(),
        },
        false => a.clone(),
    };
    let body = replace(&function.body, &access);
    let natural = |end: &Expr| match end {
        Expr::Var(_) => end.clone(),
        other => other.clone().max(0),
    };
    let extents = planes().map(|l| l.upper.clone().max(0));
    let extents = extents.chain(ends.iter().map(|(_, end)| natural(end))).collect();
    let local = ArrayDecl { name: name.clone(), elem: elem.clone(), dims: extents, storage: Storage::Heap };
    // The last plane is what the loops leave behind: its iteration says so, while it is there.
    let mut back = Vec::new();
    let mut inner = Vec::new();
    for _ in ends {
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
    for (var, (lower, upper)) in inner.iter().zip(ends).rev() {
        let all = Loop::upto(var.clone(), upper.clone(), LoopKind::Sequential, back);
        back = vec![Stmt::Loop(Loop { lower: Expr::Int(*lower), ..all })];
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
