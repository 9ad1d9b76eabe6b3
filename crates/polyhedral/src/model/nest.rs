//! Loops whose bounds are data. How often they run is not known, so such a loop is one statement
//! with all that is in it: an instance for each iteration of the loops around it, in which
//! everything runs as it stands. What it touches is what it may touch: a subscript with a variable
//! of the nest, or with data, may be any number. It must not write what the bounds read.
//!
//! Left out: reductions of elements at such subscripts.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::{locals, nodes};
use loops::{Access, Assign, Expr, Loop, Name, ReduceOp, Stmt};

use super::{Place, Statement, Touch, relation};
use crate::fault::{self, Result};

/// Whether the number of a loop's iterations is data.
pub(crate) fn by_data(l: &Loop) -> bool {
    [&l.lower, &l.upper].into_iter().any(|bound| bound.has_loads() || bound.computes_data())
}

/// The loops of a nest.
pub(super) fn loops_of(l: &Loop) -> usize {
    1 + vars_inside(&l.body).len()
}

/// The variables of the loops in statements, one for each loop.
fn vars_inside(body: &[Stmt]) -> Vec<Name> {
    let mut vars = Vec::new();
    for stmt in nodes(body) {
        if let Stmt::Loop(l) = stmt {
            vars.push(l.var.clone());
        }
    }
    vars
}

/// The variables of a nest, outermost first.
pub(crate) fn vars(l: &Loop) -> BTreeSet<Name> {
    [l.var.clone()].into_iter().chain(vars_inside(&l.body)).collect()
}

/// What a nest declares.
fn declared(l: &Loop) -> BTreeSet<Name> {
    locals(&l.body).map(|local| local.name.clone()).collect()
}

/// Everything that a nest binds: what is around it needs other names.
pub(crate) fn bound(l: &Loop) -> BTreeSet<Name> {
    vars(l).into_iter().chain(declared(l)).collect()
}

/// The assignments of a nest, in the order of the text.
pub(crate) fn assigns(l: &Loop) -> Vec<&Assign> {
    loops::visit::assigns(&l.body).collect()
}

/// The statement that a loop is.
pub(super) fn statement(
    l: &Loop,
    place: &Place,
    position: usize,
    scope: &BTreeSet<Name>,
) -> Result<Statement> {
    let refuse = |reason: &str| Err(fault::outside(&format!("the loop over `{}`", l.var), reason));
    let around = place.loops.iter().map(|around| around.var.clone());
    hides(l, around.chain(place.frame.sizes().iter().cloned()).collect())?;
    for name in declared(l) {
        if scope.contains(&name) {
            return Err(fault::outside(
                &format!("the local array `{name}`"),
                "its name hides that of another array",
            ));
        }
    }
    let moves = nodes(&l.body).any(|s| matches!(s, Stmt::Copy(_) | Stmt::Wait(_)));
    if moves {
        return refuse("it belongs to a program that is already mapped to local memory");
    }
    if let Some(name) = changes_its_bounds(l) {
        return refuse(&format!("it writes `{name}`, which its bounds read"));
    }
    let all = assigns(l);
    let Some(first) = all.first() else { return refuse("its bounds depend on data, and its body is empty") };
    let (label, tuple, domain) = place.named(first)?;
    let own = declared(l);
    let inner = vars(l);
    let mut accesses = Vec::new();
    let mut touch = |access: &Access, write: bool, reduction: Option<ReduceOp>| -> Result<()> {
        if own.contains(&access.array) {
            return Ok(());
        }
        // It may be any number.
        let (relation, why) = relation(access, place, &domain, &|_| true)?;
        let by_data = access.indices.iter().any(|e| e.has_loads() || e.computes_data());
        let reduction = reduction.filter(|_| !by_data);
        let (array, path, exact) = (access.array.clone(), access.path.clone(), why.is_none());
        accesses.push(Touch { array, path, write, reduction, relation, exact });
        Ok(())
    };
    let whole = Stmt::Loop(l.clone());
    let mut exprs: Vec<&Expr> = place.guards.iter().collect();
    for stmt in whole.nodes() {
        exprs.extend(stmt.exprs())
    }
    let mut loads = BTreeSet::new();
    for expr in exprs {
        loads.extend(expr.loads());
    }
    let reduced = reductions(&all, &loads, &inner);
    for access in &loads {
        touch(access, false, None)?;
    }
    let mut done = BTreeSet::new();
    for assign in all.iter().filter(|a| done.insert((&a.target, a.update.is_some()))) {
        let reduction = reduced.get(&assign.target.array).copied();
        if assign.update.is_some() {
            touch(&assign.target, false, reduction)?;
        }
        touch(&assign.target, true, reduction)?;
    }
    let statement = place.statement(position, (label, tuple, domain), first, accesses);
    Ok(Statement { nest: Some(l.clone()), ..statement })
}

/// Refuses a nest in which a name stands for two things, or for something around it too.
fn hides(l: &Loop, mut around: BTreeSet<Name>) -> Result<()> {
    if !around.insert(l.var.clone()) {
        let what = format!("the loop over `{}`", l.var);
        return Err(fault::outside(&what, "its variable hides a size or the variable of an outer loop"));
    }
    fn inside(body: &[Stmt], around: &BTreeSet<Name>) -> Result<()> {
        body.iter().try_for_each(|stmt| match stmt {
            Stmt::Loop(l) => hides(l, around.clone()),
            other => other.bodies().into_iter().try_for_each(|body| inside(body, around)),
        })
    }
    inside(&l.body, &around)
}

/// What a loop of the nest writes though its bounds, or those of one around it in the nest, read
/// it.
fn changes_its_bounds(l: &Loop) -> Option<Name> {
    let read: BTreeSet<Name> = l.lower.arrays().union(&l.upper.arrays()).cloned().collect();
    let written = assigns(l).into_iter().map(|a| &a.target.array).find(|name| read.contains(*name)).cloned();
    fn inside(body: &[Stmt]) -> Option<Name> {
        body.iter().find_map(|stmt| match stmt {
            Stmt::Loop(l) => changes_its_bounds(l),
            other => other.bodies().into_iter().find_map(inside),
        })
    }
    written.or_else(|| inside(&l.body))
}

/// The arrays that a nest does nothing with but to update elements by one operation that may be
/// reordered, at subscripts that stay the same in it.
fn reductions(
    all: &[&Assign],
    loads: &BTreeSet<&Access>,
    inner: &BTreeSet<Name>,
) -> BTreeMap<Name, ReduceOp> {
    let mut found: BTreeMap<Name, Option<ReduceOp>> = BTreeMap::new();
    for assign in all {
        let still = assign.target.indices.iter().all(|e| e.vars().is_disjoint(inner));
        let op = assign.update.filter(|update| update.reorder && still).map(|update| update.op);
        found
            .entry(assign.target.array.clone())
            .and_modify(|before| *before = before.filter(|before| Some(*before) == op))
            .or_insert(op);
    }
    let unread = |name: &Name| loads.iter().all(|access| access.array != *name);
    found.into_iter().filter_map(|(name, op)| op.filter(|_| unread(&name)).map(|op| (name, op))).collect()
}
