//! The index of the largest number so far: choices between the old values and new ones become a
//! branch that is seldom taken.
//!
//! `(x, i)` takes the place of `(best, at)` where `x > best`. As choices, each element waits for
//! the one before. Of numbers in random order the k-th is a new extremum once in k times, so a
//! processor guesses the branch, and nobody waits. Only where the condition compares the
//! accumulated number with the one that takes its place, since other conditions may be hard to
//! guess. The buffer in which new values stood goes. Left out: extrema alone, which processors have
//! instructions for.

use loops::visit::{check_depth, locals, nodes};
use loops::{Access, Assign, CompareOp, Expr, Function, Name, Stmt, UnaryOp};
use std::collections::BTreeSet;

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "reverse-if-conversion",
        literature: "reverse if-conversion (Warter, Mahlke, Hwu, Rau 1993)",
        about: "a pair of an extremum and its place is replaced in a branch, not by choices",
    },
    run: |function| changed(function, branching(function)),
};

/// The function with such branches. A function that is nested too deeply comes back as it is.
fn branching(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut groups = Vec::new();
    find(&function.body, &mut groups);
    let own: BTreeSet<&Name> = locals(&function.body).map(|local| &local.name).collect();
    let alone = |buffer: &Name| {
        let within = groups.iter().filter(|g| g.buffer == *buffer).map(|g| 2 * g.values.len()).sum::<usize>();
        own.contains(buffer) && uses(&function.body, buffer) == within
    };
    let buffers: BTreeSet<Name> =
        groups.iter().map(|g| g.buffer.clone()).filter(|buffer| alone(buffer)).collect();
    match buffers.is_empty() {
        true => function.clone(),
        false => Function { body: without(&function.body, &buffers), ..function.clone() },
    }
}

/// How often something of an array is read or written; a copy or a reduction counts as many times.
fn uses(stmts: &[Stmt], name: &Name) -> usize {
    const MANY: usize = 1 << 20;
    nodes(stmts)
        .map(|stmt| {
            let read: usize =
                stmt.exprs().iter().map(|e| e.loads().filter(|access| access.array == *name).count()).sum();
            let elsewhere = match stmt {
                Stmt::Copy(c) => c.from.array == *name || c.to.array == *name,
                Stmt::Loop(l) => l.reductions.iter().any(|(_, n)| n == name),
                _ => false,
            };
            read + usize::from(stmt.writes(name)) + if elsewhere { MANY } else { 0 }
        })
        .sum()
}

/// `next.p = select(cond, value, state.p)` for several `p`, and then `state.p = next.p` for them.
struct Group {
    /// Where the new values stand before they are copied.
    buffer: Name,
    /// Under which condition something changes.
    cond: Expr,
    /// What changes to what.
    values: Vec<(Access, Expr)>,
}

fn find(stmts: &[Stmt], groups: &mut Vec<Group>) {
    let mut rest = stmts;
    while let Some((first, others)) = rest.split_first() {
        match group(rest) {
            Some(group) => {
                rest = &rest[2 * group.values.len()..];
                groups.push(group);
            }
            None => {
                first.bodies().into_iter().for_each(|body| find(body, groups));
                rest = others;
            }
        }
    }
}

/// The statements with branches where the new values stood in one of the buffers.
fn without(stmts: &[Stmt], buffers: &BTreeSet<Name>) -> Vec<Stmt> {
    let (mut rest, mut out) = (stmts, Vec::with_capacity(stmts.len()));
    while let Some((first, others)) = rest.split_first() {
        match group(rest).filter(|group| buffers.contains(&group.buffer)) {
            Some(group) => {
                rest = &rest[2 * group.values.len()..];
                let set = |(to, value)| Stmt::assign(to, value);
                out.push(Stmt::when(group.cond, group.values.into_iter().map(set).collect()));
            }
            None => {
                let declares = matches!(first, Stmt::Local(local) if buffers.contains(&local.name));
                if !declares {
                    out.push(first.map(&mut Expr::clone, &mut |inner| without(inner, buffers)));
                }
                rest = others;
            }
        }
    }
    out
}

/// The group that the statements begin with.
fn group(stmts: &[Stmt]) -> Option<Group> {
    let (target, cond, ..) = choice(stmts.first()?)?;
    let buffer = target.array.clone();
    let chosen: Vec<_> = stmts
        .iter()
        .map_while(choice)
        .take_while(|(to, other, ..)| to.array == buffer && *other == cond)
        .collect();
    let copies: Vec<_> = stmts.iter().skip(chosen.len()).take(chosen.len()).map_while(copy).collect();
    let copied = |to: &Access, kept: &Access| copies.iter().any(|(a, b)| *a == kept && *b == to);
    let all = copies.len() == chosen.len() && chosen.len() >= 2;
    if !all || !chosen.iter().all(|(to, _, _, kept, _)| copied(to, kept)) {
        return None;
    }
    let state: BTreeSet<&Name> = chosen.iter().map(|(_, _, _, kept, _)| &kept.array).collect();
    let (names, values): (BTreeSet<_>, Vec<_>) =
        (chosen.iter().map(|c| c.0).collect(), chosen.iter().map(|c| (c.3.clone(), c.2.clone())).collect());
    let still = |e: &Expr| !e.reads(&buffer) && !state.iter().any(|name| e.reads(name));
    let distinct = names.len() == chosen.len()
        && chosen.iter().map(|c| c.3).collect::<BTreeSet<_>>().len() == chosen.len();
    let is_record = chosen.iter().any(|(_, _, value, kept, _)| is_extremum(cond, value, kept));
    if !distinct || state.contains(&buffer) || !is_record || !values.iter().all(|(_, value)| still(value)) {
        return None;
    }
    let holds = chosen.iter().all(|c| c.4);
    if !holds && chosen.iter().any(|c| c.4) {
        return None;
    }
    let cond = if holds { cond.clone() } else { Expr::unary(UnaryOp::Not, cond.clone()) };
    Some(Group { buffer, cond, values })
}

/// The parts of `next = select(cond, value, state)`: what is set, the condition, the new value, the
/// old one, and whether the new one is taken where the condition holds.
fn choice(stmt: &Stmt) -> Option<(&Access, &Expr, &Expr, &Access, bool)> {
    let Stmt::Assign(Assign { label: None, target, update: None, value: Expr::Select(cond, a, b) }) = stmt
    else {
        return None;
    };
    let (value, kept, holds) = match (state(b, target), state(a, target)) {
        (Some(kept), _) => (&**a, kept, true),
        (None, Some(kept)) => (&**b, kept, false),
        (None, None) => return None,
    };
    target.indices.is_empty().then_some((target, &**cond, value, kept, holds))
}

/// The old number that stays in the place of `target`, if the expression is one.
fn state<'e>(e: &'e Expr, target: &Access) -> Option<&'e Access> {
    match e {
        Expr::Load(access) if access.indices.is_empty() && access.path == target.path => Some(access),
        _ => None,
    }
}

/// The two sides of `state = next`.
fn copy(stmt: &Stmt) -> Option<(&Access, &Access)> {
    match stmt {
        Stmt::Assign(Assign { label: None, target, update: None, value: Expr::Load(from) }) => {
            Some((target, from))
        }
        _ => None,
    }
}

/// Whether the condition compares the value with the one whose place it takes.
fn is_extremum(cond: &Expr, value: &Expr, kept: &Access) -> bool {
    let Expr::Compare(op, a, b) = cond else { return false };
    let is_kept = |e: &Expr| matches!(e, Expr::Load(access) if access == kept);
    let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
    ordered && (**a == *value && is_kept(b) || **b == *value && is_kept(a))
}
