//! Expansion of arrays that every iteration of a loop fills anew: a temporary row, say, that the caller could look at afterwards.
//!
//! Such an array keeps the iterations in order although no value passes from one to the next. With a part of its own for each iteration, the nests inside
//! come apart: products of a vector and a matrix, one after the other, become one contraction. What the last iteration has left is copied to the array
//! behind the loops, so that the caller sees what it would have seen.
//!
//! An array is expanded over the innermost loop that fills it and those around that, all of whose bounds depend on sizes alone; memory grows by the product of
//! their extents. It is filled if the first statement of the loop's body that
//! mentions it assigns all its elements, one by one. Left out: arrays that anything outside of that loop mentions.

use crate::pass::{Pass, Step};
use loops::facts::Facts;
use loops::simplify;
use loops::visit::{fresh, taken};
use loops::{
    Access, ArrayDecl, Assign, CompareOp, Expr, Function, Loop, LoopKind, Name, Param, ParamMode, Stmt,
    Storage,
};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "array-expansion",
        literature: "array expansion (Feautrier 1988)",
        about: "an array that each iteration fills anew gets a part for each iteration",
    },
    run: renew,
};

/// The function with one such array expanded; none if it has none.
fn renew(function: &Function) -> Option<Function> {
    function
        .params
        .iter()
        .filter(|param| param.mode != ParamMode::In && !param.dims.is_empty())
        .find_map(|param| expanded(function, param))
}

fn expanded(function: &Function, param: &Param) -> Option<Function> {
    let mut around = Vec::new();
    let filler = find(&function.body, param, &mut around)?;
    let constant = |e: &Expr| e.arrays().is_empty() && e.vars().iter().all(|v| function.sizes.contains(v));
    let loops: Vec<&Loop> = around.iter().copied().chain([filler]).collect();
    let simple = |l: &&Loop| l.step == 1 && l.lower == Expr::Int(0) && constant(&l.upper);
    let unique = |l: &&Loop| loops.iter().filter(|other| other.var == l.var).count() == 1;
    if !loops.iter().all(|l| simple(l) && unique(l)) {
        return None;
    }
    // Nothing outside of the loop mentions it, so all mentions are inside.
    let mut taken = taken(function);
    let own = fresh(&param.name, &taken);
    taken.insert(own.clone());
    let counts = (count(&function.body, &param.name), count(&filler.body, &param.name));
    if counts.0 != counts.1 || counts.0 < 2 {
        return None;
    }
    // An extent is not negative, also where a loop does not run.
    let facts = Facts::of(function);
    let mut dims: Vec<Expr> = loops.iter().map(|l| simplify::expr(&l.upper.clone().max(0), &facts)).collect();
    dims.extend(param.dims.iter().cloned());
    let mut body = vec![Stmt::Local(ArrayDecl {
        name: own.clone(),
        elem: param.elem.clone(),
        dims,
        storage: Storage::Heap,
    })];
    let place: Vec<Expr> = loops.iter().map(|l| Expr::Var(l.var.clone())).collect();
    body.extend(replaced(&function.body, &param.name, &own, &place));
    // What the last iteration has left, if there was one.
    let vars: Vec<Name> = param
        .dims
        .iter()
        .map(|_| {
            let name = fresh(&Name::new("i"), &taken);
            taken.insert(name.clone());
            name
        })
        .collect();
    let here: Vec<Expr> = vars.iter().map(|v| Expr::Var(v.clone())).collect();
    let mut from: Vec<Expr> = loops.iter().map(|l| l.upper.clone() - Expr::Int(1)).collect();
    from.extend(here.iter().cloned());
    let mut copy = Stmt::Assign(Assign {
        label: None,
        target: Access::element(param.name.clone(), here),
        update: None,
        value: Expr::Load(Access::element(own, from)),
    });
    for (var, dim) in vars.iter().zip(&param.dims).rev() {
        copy = Stmt::Loop(Loop::upto(var.clone(), dim.clone(), LoopKind::Sequential, vec![copy]));
    }
    let runs = loops
        .iter()
        .map(|l| Expr::compare(CompareOp::Gt, l.upper.clone(), Expr::Int(0)))
        .reduce(|a, b| a.and(b))?;
    body.push(Stmt::If { cond: runs, then: vec![copy], otherwise: Vec::new() });
    Some(Function { body, ..function.clone() })
}

/// The innermost loop whose body fills the array first, with the loops around it.
fn find<'a>(body: &'a [Stmt], param: &Param, around: &mut Vec<&'a Loop>) -> Option<&'a Loop> {
    for stmt in body {
        let Stmt::Loop(l) = stmt else { continue };
        around.push(l);
        let inner = find(&l.body, param, around);
        if inner.is_some() {
            return inner;
        }
        around.pop();
        if l.body
            .iter()
            .find(|stmt| count(std::slice::from_ref(stmt), &param.name) > 0)
            .is_some_and(|first| fills(first, param, &mut Vec::new()))
            && !matches!(l.body.as_slice(), [_])
        {
            return Some(l);
        }
    }
    None
}

/// Whether a statement assigns every element before it reads it: loops over the extents, in their order, around an assignment that comes before
/// everything else that they do with the same element.
fn fills(stmt: &Stmt, param: &Param, outer: &mut Vec<Name>) -> bool {
    match stmt {
        Stmt::Loop(l) => {
            let at = outer.len();
            let whole = l.step == 1 && l.lower == Expr::Int(0) && param.dims.get(at) == Some(&l.upper);
            let own = Expr::Var(l.var.clone());
            let apart =
                whole && accesses(&l.body, &param.name).iter().all(|a| a.indices.get(at) == Some(&own));
            outer.push(l.var.clone());
            let first = l.body.iter().find(|stmt| count(std::slice::from_ref(stmt), &param.name) > 0);
            apart && first.is_some_and(|first| fills(first, param, outer))
        }
        Stmt::Assign(assign) => {
            let here: Vec<Expr> = outer.iter().map(|v| Expr::Var(v.clone())).collect();
            assign.target.array == param.name
                && assign.target.path.is_empty()
                && assign.target.indices == here
                && here.len() == param.dims.len()
                && assign.update.is_none()
                && !assign.value.arrays().contains(&param.name)
        }
        _ => false,
    }
}

/// How many accesses of an array there are.
fn count(body: &[Stmt], array: &Name) -> usize {
    accesses(body, array).len()
}

/// The accesses of an array.
fn accesses<'a>(body: &'a [Stmt], array: &Name) -> Vec<&'a Access> {
    let mut found = Vec::new();
    for stmt in body {
        stmt.walk(&mut |stmt| {
            if let Stmt::Assign(assign) = stmt {
                found.push(&assign.target);
            }
            for e in stmt.exprs() {
                e.walk(&mut |e| {
                    if let Expr::Load(access) = e {
                        found.push(access);
                    }
                });
            }
        });
    }
    found.retain(|access| access.array == *array);
    found
}

/// Every access of the array becomes one of the part that the iteration has.
fn replaced(body: &[Stmt], array: &Name, own: &Name, place: &[Expr]) -> Vec<Stmt> {
    let access = |a: &Access| match a.array == *array {
        true => {
            let indices = place.iter().chain(&a.indices).cloned().collect();
            Access { array: own.clone(), indices, path: a.path.clone() }
        }
        false => a.clone(),
    };
    body.iter()
        .map(|stmt| {
            let value = &mut |e: &Expr| e.map_loads(&mut |a| Expr::Load(access(&a)));
            match stmt.map(value, &mut |inner| replaced(inner, array, own, place)) {
                Stmt::Assign(assign) => Stmt::Assign(Assign { target: access(&assign.target), ..assign }),
                other => other,
            }
        })
        .collect()
}
