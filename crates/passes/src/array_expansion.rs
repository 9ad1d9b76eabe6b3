//! Expansion of arrays that every iteration of a loop fills anew: a temporary row, say, that the
//! caller could look at afterwards.
//!
//! Such an array keeps the iterations in order although no value passes from one to the next. With
//! a part of its own for each iteration, the nests inside come apart: products of a vector and a
//! matrix, one after the other, become one contraction. What the last iteration has left is copied
//! to the array behind the loops, so that the caller sees what it would have seen.
//!
//! An array is expanded over the innermost loop that fills it and those around that, all of whose
//! bounds depend on sizes alone; memory grows by the product of their extents. It is filled if the
//! first statement of the loop's body that mentions it assigns all elements that the body mentions,
//! one by one: all of the array, or a part from its beginning (`w[160]` of which only `w[0]` to
//! `w[n - 1]` are in use). Left out: arrays that anything outside of that loop mentions.

use crate::pass::{Pass, Step};
use loops::facts::Facts;
use loops::simplify;
use loops::visit::{fresh, nodes, taken};
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
    let (filler, extents) = find(&function.body, param, &mut around)?;
    let constant = |e: &Expr| e.is_over(&function.sizes);
    let loops: Vec<&Loop> = around.iter().copied().chain([filler]).collect();
    let simple = |l: &&Loop| l.step == 1 && l.lower == Expr::Int(0) && constant(&l.upper);
    let unique = |l: &&Loop| loops.iter().filter(|other| other.var == l.var).count() == 1;
    if !loops.iter().all(|l| simple(l) && unique(l) && !repeats(l)) || !extents.iter().all(constant) {
        return None;
    }
    if !inside(filler, param, &extents) {
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
    // The extent of an array is not negative, the end of a loop may be.
    dims.extend(extents.iter().zip(&param.dims).map(|(extent, whole)| match extent == whole {
        true => extent.clone(),
        false => simplify::expr(&extent.clone().max(0), &facts),
    }));
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
    for (var, dim) in vars.iter().zip(&extents).rev() {
        copy = Stmt::Loop(Loop::upto(var.clone(), dim.clone(), LoopKind::Sequential, vec![copy]));
    }
    let runs = loops
        .iter()
        .map(|l| Expr::compare(CompareOp::Gt, l.upper.clone(), Expr::Int(0)))
        .reduce(|a, b| a.and(b))?;
    body.push(Stmt::If { cond: runs, then: vec![copy], otherwise: Vec::new() });
    Some(Function { body, ..function.clone() })
}

/// Whether the iterations of a loop all do the same: parts of their own would be memory for
/// nothing.
fn repeats(l: &&Loop) -> bool {
    !nodes(&l.body).flat_map(Stmt::exprs).any(|e| e.mentions(&l.var))
}

/// The innermost loop whose body fills the array first, and how much of it; `around` has the loops
/// around it then.
fn find<'a>(body: &'a [Stmt], param: &Param, around: &mut Vec<&'a Loop>) -> Option<(&'a Loop, Vec<Expr>)> {
    for stmt in body {
        let Stmt::Loop(l) = stmt else { continue };
        around.push(l);
        let inner = find(&l.body, param, around);
        if inner.is_some() {
            return inner;
        }
        around.pop();
        let mut over = Vec::new();
        if let Some(first) = l.body.iter().find(|stmt| count(std::slice::from_ref(stmt), &param.name) > 0)
            && !matches!(l.body.as_slice(), [_])
            && fills(first, param, &mut over)
        {
            return Some((l, over.into_iter().map(|l| l.upper.clone()).collect()));
        }
    }
    None
}

/// Whether all that the loop mentions of the array is in these extents: where they are not those of
/// the array, subscripts are variables of loops that end there.
fn inside(filler: &Loop, param: &Param, extents: &[Expr]) -> bool {
    loops::accesses(&filler.body).iter().filter(|site| site.access.array == param.name).all(|site| {
        site.access.indices.iter().zip(extents).zip(&param.dims).all(|((index, extent), whole)| {
            let Expr::Var(var) = index else { return extent == whole };
            let own = site.loops().filter(|l| l.var == *var).last();
            extent == whole
                || own.is_some_and(|l| l.upper == *extent && matches!(l.lower, Expr::Int(low) if low >= 0))
        })
    })
}

/// Whether a statement assigns every element before it reads it: loops from 0, in the order of the
/// extents, around an assignment that comes before everything else that they do with the same
/// element. `outer` has these loops then.
fn fills<'a>(stmt: &'a Stmt, param: &Param, outer: &mut Vec<&'a Loop>) -> bool {
    match stmt {
        Stmt::Loop(l) => {
            let at = outer.len();
            let whole = l.step == 1 && l.lower == Expr::Int(0) && at < param.dims.len();
            let own = Expr::Var(l.var.clone());
            let apart =
                whole && accesses(&l.body, &param.name).iter().all(|a| a.indices.get(at) == Some(&own));
            outer.push(l);
            let first = l.body.iter().find(|stmt| count(std::slice::from_ref(stmt), &param.name) > 0);
            apart && first.is_some_and(|first| fills(first, param, outer))
        }
        Stmt::Assign(assign) => {
            let here: Vec<Expr> = outer.iter().map(|l| Expr::Var(l.var.clone())).collect();
            assign.target.array == param.name
                && assign.target.path.is_empty()
                && assign.target.indices == here
                && here.len() == param.dims.len()
                && assign.update.is_none()
                && !assign.value.reads(&param.name)
        }
        _ => false,
    }
}

/// Whether a statement assigns every element of a whole array before it reads it.
pub fn fills_all(stmt: &Stmt, param: &Param) -> bool {
    let mut over = Vec::new();
    fills(stmt, param, &mut over) && over.iter().zip(&param.dims).all(|(l, dim)| l.upper == *dim)
}

/// How many accesses of an array there are.
fn count(body: &[Stmt], array: &Name) -> usize {
    accesses(body, array).len()
}

/// The accesses of an array.
fn accesses<'a>(body: &'a [Stmt], array: &Name) -> Vec<&'a Access> {
    let mut found = Vec::new();
    for stmt in nodes(body) {
        if let Stmt::Assign(assign) = stmt {
            found.push(&assign.target);
        }
        for e in stmt.exprs() {
            found.extend(e.loads());
        }
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
