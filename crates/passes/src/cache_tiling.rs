//! Loops that go along one array and across another, as a transposition does, in blocks: a cache
//! line that is brought in is used up before it leaves.
//!
//! Only nests whose iterations write an element each, in any order, and read no array that they
//! write; what an element is computed from stays as it is. Not here: loops of which the model of
//! the polyhedral side is made, which has tiles of its own.

use std::collections::BTreeSet;

use crate::pass::{Pass, Step, changed};
use loops::facts::is_stable;
use loops::visit::{check_depth, fresh, taken};
use loops::{Access, Assign, BinaryOp, Expr, Function, Loop, LoopKind, Name, Stmt, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "cache-tiling",
        literature: "loop tiling (Wolf and Lam 1991)",
        about: "nests that go along one array and across another run in blocks of cache lines",
    },
    run: |function| changed(function, across(function)),
};

/// Elements of a block in each direction: a line of a cache holds 16 numbers of single precision.
const BLOCK: i64 = 16;

/// The function with such nests in blocks, simplified. Takes time in proportion to its size.
///
/// A function that is nested too deeply to look at, or has no such nest, comes back as it is.
fn across(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut names = taken(function);
    let mut changed = false;
    let body = body(&function.body, &mut names, &mut changed);
    match changed {
        true => simplify::function(&Function { body, ..function.clone() }),
        false => function.clone(),
    }
}

fn body(stmts: &[Stmt], names: &mut BTreeSet<Name>, changed: &mut bool) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => match nest(l).and_then(|(loops, assign)| in_blocks(&loops, assign, names)) {
            Some(blocks) => {
                *changed = true;
                blocks
            }
            None => Stmt::Loop(Loop { body: body(&l.body, names, changed), ..l.clone() }),
        },
        other => other.map(&mut Expr::clone, &mut |inner| body(inner, names, changed)),
    };
    stmts.iter().map(one).collect()
}

/// Loops with nothing beside each other around one assignment, bounds independent of each other.
fn nest(l: &Loop) -> Option<(Vec<&Loop>, &Assign)> {
    let (mut loops, mut vars, mut at) = (vec![], BTreeSet::new(), l);
    loop {
        let plain = at.step == 1
            && at.lower == Expr::Int(0)
            && at.reductions.is_empty()
            && matches!(at.kind, LoopKind::Sequential | LoopKind::Parallel)
            && is_stable(&at.upper)
            && at.upper.vars().is_disjoint(&vars);
        if !plain {
            return None;
        }
        loops.push(at);
        vars.insert(at.var.clone());
        match &at.body[..] {
            [Stmt::Loop(inner)] => at = inner,
            [Stmt::Assign(assign)] if assign.update.is_none() => return Some((loops, assign)),
            _ => return None,
        }
    }
}

/// The nest in blocks, if its innermost loop goes along the array that is written and across one
/// that is read, along which another of its loops goes.
fn in_blocks(loops: &[&Loop], assign: &Assign, names: &mut BTreeSet<Name>) -> Option<Stmt> {
    let (inner, outer) = loops.split_last()?;
    let is_written = |v: &Name| assign.target.indices.contains(&Expr::Var(v.clone()));
    let read = loads(&assign.value);
    let own = read.iter().any(|load| load.array == assign.target.array);
    // Every element once: then the order is free.
    if own || !loops.iter().all(|l| is_written(&l.var)) || !along(&assign.target, &inner.var) {
        return None;
    }
    let crosses = |a: &Name| {
        let there = |load: &&Access| along(load, a) && !along(load, &inner.var) && mentions(load, &inner.var);
        read.iter().any(there)
    };
    let a = outer.iter().position(|l| crosses(&l.var))?;
    if is_short(outer[a]) || is_short(inner) {
        return None;
    }
    let mut fresh_block = |l: &Loop| {
        let name = fresh(&l.var, names);
        names.insert(name.clone());
        name
    };
    let (first, second) = (fresh_block(outer[a]), fresh_block(inner));
    let mut inside = vec![Stmt::Assign(assign.clone())];
    for (l, block) in [(*inner, &second), (outer[a], &first)] {
        inside = vec![Stmt::Loop(Loop { body: inside, ..part(l, block) })];
    }
    inside = vec![Stmt::Loop(Loop { kind: LoopKind::Sequential, body: inside, ..count(inner, &second) })];
    for (k, l) in outer.iter().enumerate().rev() {
        let own = if k == a { count(l, &first) } else { Loop { body: vec![], ..(*l).clone() } };
        inside = vec![Stmt::Loop(Loop { body: inside, ..own })];
    }
    inside.pop()
}

/// Rows of one or two lines of the cache, which blocks would not help.
fn is_short(l: &Loop) -> bool {
    matches!(l.upper, Expr::Int(n) if n <= BLOCK)
}

/// The loop over blocks.
fn count(l: &Loop, block: &Name) -> Loop {
    let upper = Expr::binary(BinaryOp::FloorDiv, l.upper.clone() + (BLOCK - 1), Expr::Int(BLOCK));
    Loop { var: block.clone(), upper, body: vec![], ..l.clone() }
}

/// The loop over the elements of a block.
fn part(l: &Loop, block: &Name) -> Loop {
    let lower = Expr::Var(block.clone()) * BLOCK;
    let upper = Expr::binary(BinaryOp::Min, lower.clone() + BLOCK, l.upper.clone());
    Loop { lower, upper, kind: LoopKind::Sequential, body: vec![], ..l.clone() }
}

/// All that a value reads, subscripts of subscripts included.
fn loads(value: &Expr) -> Vec<&Access> {
    value.loads().collect()
}

/// Whether neighbours of a variable's values are neighbours in the array.
fn along(access: &Access, var: &Name) -> bool {
    access.indices.last().is_some_and(|last| last.mentions(var))
}

fn mentions(access: &Access, var: &Name) -> bool {
    access.indices.iter().any(|index| index.mentions(var))
}
