//! Elements that a loop updates and that are the same in all of its iterations.
//!
//! Inside a parallel region compilers no longer know that arrays do not overlap, because `restrict`
//! does not reach into the function that they make of the region. They would store the element in
//! each iteration. A `reduction` clause of OpenMP can name a scalar as well, but no element.

use std::collections::{BTreeMap, BTreeSet};

use loops::access::{AccessKind, AccessSite, Context, accesses};
use loops::visit::nodes;
use loops::{Access, Assign, Expr, Loop, LoopKind, Name, Scalar, Stmt};

use crate::store_forwarding::put;

/// Short loops that a target writes out need no scalar.
const WRITTEN_OUT: i64 = 4;

/// The most elements of a loop that are only read: each takes a register.
const MOST_READ: usize = 4;

/// Elements that an innermost loop in a parallel one reads in every iteration, the same in all of
/// them, while it stores others that a compiler takes for the same ones perhaps: those of the type,
/// and all if bytes are stored. `elem`: the type of an element in memory.
pub(super) fn only_read(l: &Loop, elem: &dyn Fn(&Access) -> Option<Scalar>) -> Vec<Access> {
    if is_written_out(l) || matches!(l.kind, LoopKind::Parallel | LoopKind::Unroll(_)) {
        return Vec::new();
    }
    let mut locals = BTreeSet::from([&l.var]);
    let (mut written, mut stored) = (BTreeSet::new(), BTreeSet::new());
    for stmt in nodes(&l.body) {
        match stmt {
            Stmt::Loop(_) | Stmt::Copy(_) | Stmt::Wait(_) => return Vec::new(),
            Stmt::Local(local) => {
                locals.insert(&local.name);
            }
            Stmt::Assign(Assign { target, .. }) => {
                written.insert(&target.array);
                stored.extend(elem(target));
            }
            Stmt::If { .. } | Stmt::Block { .. } => {}
        }
    }
    let overlaps = |read: Scalar| stored.iter().any(|other| *other == read || other.bytes() == 1);
    let stands = |access: &Access| {
        let indices = &access.indices;
        !indices.iter().any(|e| e.has_loads() || e.vars().iter().any(|name| locals.contains(name)))
    };
    let mut found: Vec<Access> = Vec::new();
    for site in accesses(&l.body) {
        let access = site.access;
        let always = site.context.iter().all(|c| matches!(c, Context::Mark(_)));
        let fits = always
            && !written.contains(&access.array)
            && !locals.contains(&access.array)
            && stands(access)
            && elem(access).is_some_and(overlaps);
        if fits && found.len() < MOST_READ && !found.contains(access) {
            found.push(access.clone());
        }
    }
    found
}

/// The elements. `parallel`: whether a parallel loop is around the loop; `in_memory`: whether an
/// access is an element, a number, of an array that is no small array of the function's own.
pub(super) fn elements(l: &Loop, parallel: bool, in_memory: &dyn Fn(&Access) -> bool) -> Vec<Access> {
    let shared = |l: &Loop| !parallel && l.kind == LoopKind::Parallel;
    if shared(l) || is_written_out(l) {
        return Vec::new();
    }
    let (mut variables, mut locals) = (vec![&l.var], BTreeSet::new());
    for stmt in nodes(&l.body) {
        match stmt {
            Stmt::Loop(inner) if shared(inner) => return Vec::new(),
            Stmt::Loop(inner) => variables.push(&inner.var),
            Stmt::Local(local) => {
                locals.insert(&local.name);
            }
            _ => {}
        }
    }
    let sites = accesses(&l.body);
    let mut by_array: BTreeMap<&Name, Vec<&AccessSite<'_>>> = BTreeMap::new();
    for site in &sites {
        by_array.entry(&site.access.array).or_default().push(site);
    }
    // The lanes of a vector loop, and threads, update the same element only in a reduction.
    let alone = matches!(l.kind, LoopKind::Sequential | LoopKind::Unroll(_));
    let reduced = |name: &Name| l.reductions.iter().any(|(_, n)| n == name);
    let element = |sites: &Vec<&AccessSite<'_>>| {
        let (first, element) = (sites[0], sites[0].access);
        let always =
            |s: &&AccessSite<'_>| s.writes() && s.context.iter().all(|c| matches!(c, Context::Mark(_)));
        let fits = first.kind != AccessKind::Write
            && sites.iter().all(|s| s.extents.is_none() && s.access == element)
            && sites.iter().any(always)
            && !locals.contains(&element.array)
            && !element.indices.iter().any(|i| i.mentions_any(&variables) || i.has_loads())
            && in_memory(element)
            && (alone || reduced(&element.array));
        fits.then(|| element.clone())
    };
    by_array.values().filter_map(element).collect()
}

/// Whether a loop is unrolled, short, and made of assignments alone.
fn is_written_out(l: &Loop) -> bool {
    let short = match (&l.lower, &l.upper) {
        (Expr::Int(lower), Expr::Int(upper)) => {
            upper.checked_sub(*lower).is_some_and(|length| length <= WRITTEN_OUT * l.step.max(1))
        }
        _ => false,
    };
    short && l.kind == LoopKind::Unroll(None) && l.body.iter().all(|s| matches!(s, Stmt::Assign(_)))
}

/// The loop with a scalar in place of an element.
pub(super) fn replaced(l: &Loop, element: &Access, scalar: &Access) -> Loop {
    let body = with_reductions_of(&put(&l.body, element, scalar), &element.array, &scalar.array);
    Loop { body, reductions: renamed(&l.reductions, &element.array, &scalar.array), ..l.clone() }
}

fn with_reductions_of(body: &[Stmt], from: &Name, to: &Name) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt.map(&mut Expr::clone, &mut |inner| with_reductions_of(inner, from, to)) {
            Stmt::Loop(l) => Stmt::Loop(Loop { reductions: renamed(&l.reductions, from, to), ..l }),
            other => other,
        })
        .collect()
}

fn renamed<Op: Copy>(reductions: &[(Op, Name)], from: &Name, to: &Name) -> Vec<(Op, Name)> {
    reductions.iter().map(|(op, name)| (*op, if name == from { to.clone() } else { name.clone() })).collect()
}
