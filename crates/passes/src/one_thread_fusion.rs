//! Scans over blocks on one thread: the totals of blocks, the sums of totals and the elements in
//! one loop over blocks.
//!
//! Threads scan in three loops: each block's total, the totals before each block, and from these
//! the elements. So they read everything twice. One thread needs no totals beforehand: block after
//! block, it works out the block's elements and its total side by side, and adds the total to what
//! is before the next block. These are the same operations on the same numbers, so no bit differs.
//! The version for one thread stands under a test of the number of threads; the three loops remain
//! its other branch.
//!
//! The three loops have the same bounds, and iteration `i` of the last one reads of what the second
//! one writes only what iteration `i - 1` wrote, as first subscripts show. Left out: other loops in
//! front of each other, whose results no parallel loop waits for.

use loops::visit::{check_depth, names, substitute, with_distinct_locals};
use loops::{Access, Expr, Function, Loop, LoopKind, Name, Stmt, simplify::tidy};
use std::collections::{BTreeMap, BTreeSet};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "one-thread-fusion",
        literature: "loop fusion with shifting (Darte and Huard 2000), as a version for one thread",
        about: "the three loops of a scan over blocks are one loop where there is one thread",
    },
    run: |function| changed(function, fused(function)),
};

/// The function with such versions. A function that is nested too deeply, or has none, comes back
/// as it is.
fn fused(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    match block(&distinct.body, false) {
        body if body == distinct.body => function.clone(),
        body => with_own_labels(function, Function { body, ..distinct }),
    }
}

/// `parallel`: whether a parallel loop is around the statements, which then have one thread anyway.
fn block(stmts: &[Stmt], parallel: bool) -> Vec<Stmt> {
    let (mut rest, mut out) = (stmts, Vec::with_capacity(stmts.len()));
    while let Some((first, others)) = rest.split_first() {
        if let Some(scan) = scan(rest).filter(|_| !parallel)
            && let Some(one) = scan.for_one_thread()
        {
            out.extend(scan.declared.iter().map(|stmt| (*stmt).clone()));
            let cond = Expr::one_thread();
            out.push(Stmt::If { cond, then: one, otherwise: scan.as_it_is() });
            rest = &rest[scan.length..];
        } else {
            let parallel = parallel || matches!(first, Stmt::Loop(l) if l.kind == LoopKind::Parallel);
            out.push(first.map(&mut Expr::clone, &mut |inner| block(inner, parallel)));
            rest = others;
        }
    }
    out
}

/// The three loops, with declarations and assignments of numbers between them.
struct Scan<'s> {
    totals: &'s Loop,
    /// What is declared between the loops.
    declared: Vec<&'s Stmt>,
    /// Assignments in front of the second loop.
    set: Vec<&'s Stmt>,
    sums: &'s Loop,
    elements: &'s Loop,
    /// How many statements all this is.
    length: usize,
}

/// A loop from 0 upwards without reductions.
fn whole(stmt: &Stmt) -> Option<&Loop> {
    match stmt {
        Stmt::Loop(l) if l.lower == Expr::Int(0) && l.step == 1 && l.reductions.is_empty() => Some(l),
        _ => None,
    }
}

/// The scan that the statements begin with.
fn scan(stmts: &[Stmt]) -> Option<Scan<'_>> {
    let totals = whole(stmts.first()?).filter(|l| l.kind == LoopKind::Parallel)?;
    let (mut declared, mut set, mut sums) = (Vec::new(), Vec::new(), None);
    for (k, stmt) in stmts.iter().enumerate().skip(1) {
        match stmt {
            Stmt::Local(_) => declared.push(stmt),
            Stmt::Assign(a) if a.target.indices.is_empty() && sums.is_none() => set.push(stmt),
            _ => {
                let l = whole(stmt).filter(|l| l.upper == totals.upper)?;
                match sums {
                    None if l.kind == LoopKind::Sequential => sums = Some(l),
                    Some(sums) if l.kind == LoopKind::Parallel => {
                        return Some(Scan { totals, declared, set, sums, elements: l, length: k + 1 });
                    }
                    _ => return None,
                }
            }
        }
    }
    None
}

impl Scan<'_> {
    fn as_it_is(&self) -> Vec<Stmt> {
        let mut out = vec![Stmt::Loop(self.totals.clone())];
        out.extend(self.set.iter().map(|stmt| (*stmt).clone()));
        out.extend([Stmt::Loop(self.sums.clone()), Stmt::Loop(self.elements.clone())]);
        out
    }

    /// One loop that does the same, if dependences allow it.
    fn for_one_thread(&self) -> Option<Vec<Stmt>> {
        let set: Vec<Stmt> = self.set.iter().map(|stmt| (*stmt).clone()).collect();
        let [totals, sums, elements] = [self.totals, self.sums, self.elements].map(Touched::of);
        let numbers = Touched::of_stmts(&set);
        let apart = |a: &Touched, b: &Touched| {
            let all = |t: &Touched| t.reads.union(&t.writes).cloned().collect::<BTreeSet<Name>>();
            a.writes.is_disjoint(&all(b)) && b.writes.is_disjoint(&all(a))
        };
        // The totals are read where they are made, and the sums one iteration later.
        let handed = |from: &Touched, to: &Touched, l: &Loop, by: &Loop, ahead: i64| {
            from.writes.is_disjoint(&to.writes)
                && from
                    .writes
                    .intersection(&to.reads)
                    .all(|name| writes_at(&l.body, name, &l.var, ahead) && reads_at(&by.body, name, &by.var))
        };
        let right = apart(&totals, &elements)
            && apart(&numbers, &totals)
            && apart(&numbers, &elements)
            && handed(&totals, &sums, self.totals, self.sums, 0)
            && handed(&sums, &elements, self.sums, self.elements, 1);
        if !right {
            return None;
        }
        let var = Expr::Var(self.totals.var.clone());
        let here = |l: &Loop| substitute(&l.body, &BTreeMap::from([(l.var.clone(), var.clone())]));
        let (before, after) = (&self.totals.body, here(self.elements));
        let mut body = side_by_side(before, &after).unwrap_or_else(|| [before.clone(), after].concat());
        body.extend(here(self.sums));
        let fused = Loop { kind: LoopKind::Sequential, body, ..self.totals.clone() };
        Some(set.into_iter().chain([Stmt::Loop(fused)]).collect())
    }
}

/// Two bodies, each with one loop, as one body with one loop: the second loop has one iteration
/// more, which comes first. Nothing in one body depends on the other.
fn side_by_side(first: &[Stmt], second: &[Stmt]) -> Option<Vec<Stmt>> {
    let parts = |stmts: &[Stmt]| -> Option<(Vec<Stmt>, Loop, Vec<Stmt>)> {
        let k = stmts.iter().position(|stmt| matches!(stmt, Stmt::Loop(_)))?;
        let (Stmt::Loop(l), after) = (&stmts[k], &stmts[k + 1..]) else { return None };
        let plain = l.kind == LoopKind::Sequential && l.lower == Expr::Int(0) && l.step == 1;
        let flat = |stmt: &Stmt| matches!(stmt, Stmt::Local(_) | Stmt::Assign(_));
        let all = stmts[..k].iter().chain(after).chain(&l.body).all(flat);
        (plain && all && l.reductions.is_empty()).then(|| (stmts[..k].to_vec(), l.clone(), after.to_vec()))
    };
    let (mut out, one, end) = parts(first)?;
    let (begin, other, other_end) = parts(second)?;
    let (Expr::Int(shorter), Expr::Int(longer)) = (&one.upper, &other.upper) else { return None };
    if *longer != shorter + 1 || *shorter < 1 {
        return None;
    }
    let with = |place: Expr| {
        let body = substitute(&other.body, &BTreeMap::from([(other.var.clone(), place)]));
        let tidied = |stmt: &Stmt| stmt.map(&mut tidy, &mut <[Stmt]>::to_vec);
        body.iter().map(tidied).collect::<Vec<_>>()
    };
    out.extend(begin);
    let front = with(Expr::Int(0));
    match front.iter().any(|stmt| matches!(stmt, Stmt::Local(_))) {
        // Its locals are those of one iteration.
        true => out.push(Stmt::Block { mark: None, body: front }),
        false => out.extend(front),
    }
    let mut body = one.body.clone();
    body.extend(with(Expr::Var(one.var.clone()) + Expr::Int(1)));
    out.push(Stmt::Loop(Loop { body, ..one }));
    out.extend(end);
    out.extend(other_end);
    Some(out)
}

/// Whether an access is of the elements that belong to the variable and a number more.
fn is_at(access: &Access, var: &Name, more: i64) -> bool {
    let ahead = |e: &Expr| tidy(&(e.clone() - Expr::Var(var.clone())));
    access.indices.first().is_some_and(|e| ahead(e) == Expr::Int(more))
}

/// Whether everything that is written of an array is so many elements ahead of the variable.
fn writes_at(stmts: &[Stmt], name: &Name, var: &Name, more: i64) -> bool {
    let ahead = |a: &loops::Assign| a.target.array != *name || is_at(&a.target, var, more);
    is_plain(stmts, var) && loops::visit::assigns(stmts).all(ahead)
}

/// Whether everything that is read of an array belongs to the variable.
fn reads_at(stmts: &[Stmt], name: &Name, var: &Name) -> bool {
    let here = |access: &Access| access.array != *name || is_at(access, var, 0);
    is_plain(stmts, var) && loops::visit::loads(stmts).all(here)
}

/// Whether no statement copies boxes, and no loop has a variable of the same name.
fn is_plain(stmts: &[Stmt], var: &Name) -> bool {
    loops::visit::nodes(stmts).all(|stmt| match stmt {
        Stmt::Copy(_) => false,
        Stmt::Loop(l) => l.var != *var,
        _ => true,
    })
}

/// What statements read and write that is not their own.
struct Touched {
    reads: BTreeSet<Name>,
    writes: BTreeSet<Name>,
}

impl Touched {
    fn of(l: &Loop) -> Touched {
        Touched::of_stmts(&l.body)
    }

    fn of_stmts(stmts: &[Stmt]) -> Touched {
        let own: BTreeSet<&Name> = loops::visit::locals(stmts).map(|local| &local.name).collect();
        let foreign = |name: &Name| !own.contains(name);
        let writes: BTreeSet<Name> = loops::visit::nodes(stmts)
            .filter_map(Stmt::written)
            .filter(|name| foreign(name))
            .cloned()
            .collect();
        // An update reads what it writes.
        let reads = names(stmts).into_iter().filter(|name| foreign(name) && !writes.contains(name));
        let read_too = writes.iter().filter(|name| {
            loops::visit::nodes(stmts).any(|stmt| {
                let updates =
                    matches!(stmt, Stmt::Assign(a) if a.update.is_some() && a.target.array == **name);
                updates || stmt.reads(name)
            })
        });
        let reads = reads.chain(read_too.cloned()).collect();
        Touched { reads, writes }
    }
}
