//! Loops over numbers that are taken apart: a loop over `k` in which `k floordiv 112` and `k mod
//! 112` occur becomes one over the quotient and one over the remainder, so that subscripts are sums
//! again, which run along memory, instead of quotients for each element.
//!
//! The iterations and their order stay: `k` is `112 * q + r`. What is left behind the last whole
//! `q` is a loop of its own, if the body holds no loop that it would repeat.
//! [`loops::simplify`](mod@crate::simplify) then finds that `(112 * q + r) floordiv 112` is `q`.
//! Left out: extents that are not known, loops that do not begin at 0, and loops of vectors and
//! registers, whose shape somebody has chosen.

use std::collections::BTreeMap;

use crate::pass::{Pass, Step, changed};
use loops::visit::{check_depth, fresh, nodes, substitute, taken};
use loops::{BinaryOp, Expr, Function, Loop, LoopKind, Name, Stmt, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "strip-mining",
        literature: "strip-mining by the divisor of `/` and `%`",
        about: "a loop whose variable is divided by a constant becomes two loops without the division",
    },
    run: |function| changed(function, split(function)),
};

/// Rounds of splitting and simplifying: a number that is taken apart into more digits is left as it
/// is then.
const ROUNDS: usize = 4;

/// The function with such loops split, simplified. Takes time in proportion to its size, times the
/// depth of its loops.
///
/// A function that is nested too deeply to look at comes back as it is.
fn split(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut function = simplify::function(function);
    for _ in 0..ROUNDS {
        let next = simplify::function(&once(&function));
        if next == function {
            break;
        }
        function = next;
    }
    function
}

fn once(function: &Function) -> Function {
    let mut taken = taken(function);
    let mut fresh_name = |base: &Name| {
        let name = fresh(base, &taken);
        taken.insert(name.clone());
        name
    };
    Function { body: block(&function.body, &mut fresh_name), ..function.clone() }
}

fn block(body: &[Stmt], fresh: &mut dyn FnMut(&Name) -> Name) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(body.len());
    for stmt in body {
        match stmt.map(&mut Expr::clone, &mut |inner| block(inner, fresh)) {
            Stmt::Loop(l) => split_loop(l, fresh, &mut result),
            other => result.push(other),
        }
    }
    result
}

fn split_loop(l: Loop, fresh: &mut dyn FnMut(&Name) -> Name, result: &mut Vec<Stmt>) {
    let Some((extent, divisor)) = divisor(&l) else {
        result.push(Stmt::Loop(l));
        return;
    };
    let quotient = fresh(&l.var);
    let k = Expr::Var(quotient.clone()) * divisor + Expr::Var(l.var.clone());
    // The variable itself goes on as the remainder: what is put in for it mentions it, so inner
    // loops of that name are renamed.
    let once = BTreeMap::from([(l.var.clone(), k)]);
    let inner = Loop {
        lower: Expr::Int(0),
        upper: Expr::Int(divisor),
        kind: LoopKind::Sequential,
        body: substitute(&l.body, &once),
        ..l.clone()
    };
    let whole = extent / divisor;
    let outer = Loop { var: quotient, upper: Expr::Int(whole), body: vec![Stmt::Loop(inner)], ..l.clone() };
    result.push(Stmt::Loop(outer));
    let rest = extent - whole * divisor;
    if rest > 0 {
        let k = Expr::Var(l.var.clone()) + whole * divisor;
        let body = substitute(&l.body, &BTreeMap::from([(l.var.clone(), k)]));
        let (upper, kind) = (Expr::Int(rest), LoopKind::Sequential);
        result.push(Stmt::Loop(Loop { upper, kind, body, ..l }));
    }
}

/// The extent of a loop, and the number by which its variable is divided most often.
fn divisor(l: &Loop) -> Option<(i64, i64)> {
    let (Expr::Int(0), Expr::Int(extent)) = (&l.lower, &l.upper) else { return None };
    if l.step != 1 || !l.reductions.is_empty() || !matches!(l.kind, LoopKind::Sequential | LoopKind::Parallel)
    {
        return None;
    }
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    let (mut labels, mut loops) = (false, false);
    for stmt in nodes(&l.body) {
        labels |= matches!(stmt, Stmt::Assign(assign) if assign.label.is_some());
        loops |= matches!(stmt, Stmt::Loop(_));
        for e in stmt.exprs() {
            for e in e.nodes() {
                if let Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Mod, a, d) = e
                    && let (Expr::Var(v), Expr::Int(d)) = (&**a, &**d)
                    && *v == l.var
                    && *d >= 2
                    && *d < *extent
                {
                    *counts.entry(*d).or_insert(0) += 1;
                }
            }
        }
    }
    let divides = |d: &i64| extent % d == 0 || !(labels || loops);
    let (divisor, _) =
        counts.into_iter().filter(|(d, _)| divides(d)).max_by_key(|(d, count)| (*count, *d))?;
    Some((*extent, divisor))
}
