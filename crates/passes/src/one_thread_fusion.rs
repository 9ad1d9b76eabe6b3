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
//! A total of integers is the difference of the sums before and behind its block, since sums of
//! integers wrap around: then nothing is added twice.
//!
//! The three loops have the same bounds, and iteration `i` of the last one reads of what the second
//! one writes only what iteration `i - 1` wrote, as first subscripts show. Left out: other loops in
//! front of each other, whose results no parallel loop waits for.

use loops::visit::{check_depth, names, substitute, with_distinct_locals};
use loops::{
    Access, Assign, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt, simplify::tidy,
};
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
        let mut body = match side_by_side(before, &after) {
            Some(body) => {
                let integer =
                    |local: &loops::Local| matches!(local.elem, Elem::Scalar(Scalar::I32 | Scalar::I64));
                summed_once(&body, &integer).unwrap_or(body)
            }
            None => [before.clone(), after].concat(),
        };
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

/// What is done with a local number in a body with one loop, if it is a sum: its first value, what
/// is added before the loop, and in it.
#[derive(Default)]
struct Sum<'b> {
    first: Option<&'b Expr>,
    before: Option<&'b Expr>,
    inside: Option<&'b Expr>,
}

impl<'b> Sum<'b> {
    fn of(body: &'b [Stmt], name: &Name) -> Option<Sum<'b>> {
        let mut sum = Sum::default();
        let adds = |a: &Assign| a.update.is_some_and(|update| update.op == ReduceOp::Add);
        for stmt in body {
            match stmt {
                Stmt::Assign(a) if a.target == Access::scalar(name.clone()) => match (&sum.first, a.update) {
                    (None, None) => sum.first = Some(&a.value),
                    (Some(_), Some(_)) if adds(a) && sum.before.is_none() && sum.inside.is_none() => {
                        sum.before = Some(&a.value);
                    }
                    _ => return None,
                },
                Stmt::Loop(l) => {
                    for a in loops::visit::assigns(&l.body).filter(|a| a.target.array == *name) {
                        if !adds(a) || sum.inside.is_some() {
                            return None;
                        }
                        sum.inside = Some(&a.value);
                    }
                }
                _ => {}
            }
        }
        Some(sum)
    }
}

/// A body in which a total of integers is the difference of two other sums; none if it has no total
/// of the numbers that another sum takes.
fn summed_once(body: &[Stmt], is_integer: &dyn Fn(&loops::Local) -> bool) -> Option<Vec<Stmt>> {
    let names = || loops::visit::locals(body).filter(|local| is_integer(local)).map(|local| &local.name);
    // Where the total goes, once, behind the loop.
    let goes = |total: &Name| {
        let load = Expr::scalar(total.clone());
        let place = body.iter().position(|stmt| matches!(stmt, Stmt::Assign(a) if a.value == load))?;
        let read = loops::visit::loads(body).filter(|access| access.array == *total).count();
        let behind = body[..place].iter().any(|stmt| matches!(stmt, Stmt::Loop(_)));
        (read == 1 && behind).then_some(place)
    };
    for total in names() {
        let (Some(place), Some(sum)) = (goes(total), Sum::of(body, total)) else { continue };
        let (Some(first), None, Some(inside)) = (sum.first, sum.before, sum.inside) else { continue };
        for name in names().filter(|name| *name != total) {
            let Some(other) = Sum::of(body, name) else { continue };
            let (Some(start), Some(before), Some(more)) = (other.first, other.before, other.inside) else {
                continue;
            };
            let stays = start
                .arrays()
                .iter()
                .all(|array| !body[..place].iter().any(|s| s.nodes().any(|s| s.writes(array))));
            if !same(first, before) || !same(inside, more) || !stays {
                continue;
            }
            let value = Expr::scalar(name.clone()) - start.clone();
            let mut new = body.to_vec();
            if let Stmt::Assign(a) = &mut new[place] {
                a.value = value;
            }
            return Some(without(&new, total));
        }
    }
    None
}

/// The statements without those that declare or set a number.
fn without(stmts: &[Stmt], name: &Name) -> Vec<Stmt> {
    let keeps = |stmt: &&Stmt| match stmt {
        Stmt::Local(local) => local.name != *name,
        other => !other.writes(name),
    };
    let one = |stmt: &Stmt| stmt.map(&mut Expr::clone, &mut |inner| without(inner, name));
    stmts.iter().filter(keeps).map(one).collect()
}

/// Whether two expressions are the same element, at subscripts that are equal.
fn same(a: &Expr, b: &Expr) -> bool {
    let (Expr::Load(a), Expr::Load(b)) = (a, b) else { return false };
    let equal = |(a, b): (&Expr, &Expr)| tidy(&(a.clone() - b.clone())) == Expr::Int(0);
    let places = a.indices.len() == b.indices.len() && a.indices.iter().zip(&b.indices).all(equal);
    a.array == b.array && a.path == b.path && places
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
