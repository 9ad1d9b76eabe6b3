//! Loop collapsing: two loops over whole rows become one, and the two dimensions of arrays that
//! they walk become one dimension.
//!
//! Dimensions of one element go as well. A batch of matrices has loops over images and channels
//! that always stand side by side in subscripts. As one loop they fill more cores, and boxes have
//! fewer dimensions. The order of iterations stays, and so do the places of elements in memory,
//! those of parameters included.
//!
//! Not here: variables that stand alone in a subscript, in a bound or in a value; extents that are
//! no numbers, whose product would be no affine bound; and loops whose quotients and remainders
//! would have to be told apart again ([`crate::LOOP_COALESCING`]).

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::{check_depth, locals, nodes, with_distinct_locals};
use loops::{Access, Assign, Expr, Function, Local, Loop, LoopKind, Name, Param, Stmt};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "loop-collapsing",
        literature: "loop collapsing (Padua and Wolfe 1986)",
        about: "two loops over whole rows become one, and two dimensions of their arrays one, where no subscript has one variable without the other; dimensions of one element go",
    },
    run: |function| changed(function, collapsed(function)),
};

/// The function with such loops as one. Takes time in proportion to its size, times the number of
/// its loops squared.
///
/// A function that is nested too deeply to look at, or that copies boxes, comes back as it is.
fn collapsed(function: &Function) -> Function {
    let copies = |stmt: &Stmt| matches!(stmt, Stmt::Copy(_) | Stmt::Wait(_));
    if check_depth(function).is_err() || nodes(&function.body).any(copies) {
        return function.clone();
    }
    let mut now = with_distinct_locals(function);
    let mut found = false;
    if let Some(next) = without_units(&now) {
        (now, found) = (next, true);
    }
    // Each round leaves fewer loops.
    while let Some(next) = Collapse::of(&now).and_then(|collapse| collapse.function(&now)) {
        (now, found) = (next, true);
    }
    if found { now } else { function.clone() }
}

/// The extents of all arrays.
fn arrays(function: &Function) -> BTreeMap<&Name, &[Expr]> {
    let params = function.params.iter().map(|p| (&p.name, p.dims.as_slice()));
    params.chain(locals(&function.body).map(|l| (&l.name, l.dims.as_slice()))).collect()
}

/// The function without dimensions of one element, whose subscripts are all 0; each array keeps one
/// dimension. None if there is no other.
fn without_units(function: &Function) -> Option<Function> {
    let accesses = accesses(&function.body);
    let mut dropped: BTreeMap<Name, BTreeSet<usize>> = BTreeMap::new();
    for (name, dims) in arrays(function) {
        let own: Vec<&&Access> = accesses.iter().filter(|access| access.array == *name).collect();
        let unit = |at: &usize| {
            dims[*at] == Expr::Int(1)
                && own.iter().all(|access| access.indices.get(*at) == Some(&Expr::Int(0)))
        };
        let mut units: BTreeSet<usize> = (0..dims.len()).filter(unit).collect();
        if units.len() == dims.len() {
            units.pop_first();
        }
        if !units.is_empty() {
            dropped.insert(name.clone(), units);
        }
    }
    let shape = Shape { dropped: &dropped };
    let mut dims = |name: &Name, dims: &[Expr]| shape.kept(name, dims);
    let param = |param: &Param| Param { dims: shape.kept(&param.name, &param.dims), ..param.clone() };
    let params = function.params.iter().map(param).collect();
    let body = shape.body(&function.body, &BTreeMap::new(), &mut dims);
    (!dropped.is_empty()).then(|| Function { params, body, ..function.clone() })
}

/// Arrays without some of their dimensions.
struct Shape<'a> {
    dropped: &'a BTreeMap<Name, BTreeSet<usize>>,
}

impl Shape<'_> {
    /// What stays of a list with an entry for each dimension.
    fn kept<T: Clone>(&self, array: &Name, all: &[T]) -> Vec<T> {
        let dropped = self.dropped.get(array);
        let stays = |at: &usize| dropped.is_none_or(|dropped| !dropped.contains(at));
        all.iter().enumerate().filter(|(at, _)| stays(at)).map(|(_, one)| one.clone()).collect()
    }

    fn access(&self, access: &Access) -> Access {
        let access = access.map_indices(&mut |index| self.expr(index));
        Access { indices: self.kept(&access.array, &access.indices), ..access }
    }

    fn expr(&self, e: &Expr) -> Expr {
        match e {
            Expr::Load(access) => Expr::Load(self.access(access)),
            _ => e.map_children(&mut |child| self.expr(child)),
        }
    }

    /// The statements, with these extents of arrays, and with pairs of loops as one.
    fn body(
        &self,
        stmts: &[Stmt],
        pairs: &BTreeMap<Name, Pair>,
        dims: &mut dyn FnMut(&Name, &[Expr]) -> Vec<Expr>,
    ) -> Vec<Stmt> {
        let one = |stmt: &Stmt| match stmt {
            Stmt::Assign(a) => {
                let (target, value) = (self.access(&a.target), self.expr(&a.value));
                Stmt::Assign(Assign { target, value, ..a.clone() })
            }
            Stmt::Local(local) => {
                Stmt::Local(Local { dims: dims(&local.name, &local.dims), ..local.clone() })
            }
            Stmt::Loop(l) => match (pairs.get(&l.var), l.body.as_slice()) {
                (Some(pair), [Stmt::Loop(inner)]) => Stmt::Loop(Loop {
                    upper: Expr::Int(pair.rows.saturating_mul(pair.columns)),
                    kind: if l.kind == inner.kind { l.kind } else { LoopKind::Sequential },
                    body: self.body(&inner.body, pairs, dims),
                    ..l.clone()
                }),
                _ => stmt.map(&mut |e| self.expr(e), &mut |inner| self.body(inner, pairs, dims)),
            },
            _ => stmt.map(&mut |e| self.expr(e), &mut |inner| self.body(inner, pairs, dims)),
        };
        stmts.iter().map(one).collect()
    }
}

/// The loop directly inside another one, and how often both run.
#[derive(Clone, PartialEq)]
struct Pair {
    inner: Name,
    rows: i64,
    columns: i64,
}

/// What becomes one.
struct Collapse {
    /// Pairs of loops, by the variable of the outer one.
    pairs: BTreeMap<Name, Pair>,
    /// The dimensions of arrays that become one with the next.
    merged: BTreeMap<Name, BTreeSet<usize>>,
}

impl Collapse {
    /// The largest set of pairs that agree on the dimensions of all arrays; none if that is empty.
    fn of(function: &Function) -> Option<Collapse> {
        let arrays = arrays(function);
        let accesses = accesses(&function.body);
        let mut pairs = pairs(&function.body);
        let alone = alone(&function.body);
        pairs.retain(|outer, pair| !alone.contains(outer) && !alone.contains(&pair.inner));
        loop {
            let now = Collapse { merged: merged(&pairs, &arrays, &accesses), pairs: pairs.clone() };
            let wrong = accesses.iter().find_map(|access| now.wrong(access));
            // Of three loops around each other the inner two are first.
            let chained = || pairs.iter().find(|(_, p)| pairs.contains_key(&p.inner)).map(|(outer, _)| outer);
            match wrong.or_else(chained).cloned() {
                Some(outer) => pairs.remove(&outer),
                None => return (!now.pairs.is_empty()).then_some(now),
            };
        }
    }

    /// A pair that an access contradicts, by its outer loop.
    fn wrong(&self, access: &Access) -> Option<&Name> {
        let merged = |at: usize| self.merged.get(&access.array).is_some_and(|all| all.contains(&at));
        access.indices.iter().enumerate().find_map(|(at, index)| {
            let Expr::Var(var) = index else { return None };
            let outer = self.pairs.get_key_value(var).map(|(outer, _)| outer);
            let outer = outer.filter(|_| !merged(at));
            let inner = self.pairs.iter().find(|(_, pair)| pair.inner == *var).map(|(outer, _)| outer);
            outer.or(inner.filter(|_| at == 0 || !merged(at - 1)))
        })
    }

    /// The function with these loops and dimensions; none if a product is too large.
    fn function(&self, function: &Function) -> Option<Function> {
        let mut fits = true;
        let mut dims = |name: &Name, dims: &[Expr]| {
            let one = self.dims(name, dims);
            fits &= one.is_some();
            one.unwrap_or_default()
        };
        let params: Vec<Param> = function
            .params
            .iter()
            .map(|param| Param { dims: dims(&param.name, &param.dims), ..param.clone() })
            .collect();
        // The dimension behind each of these goes.
        let behind = |all: &BTreeSet<usize>| all.iter().map(|at| at + 1).collect();
        let dropped = self.merged.iter().map(|(name, all)| (name.clone(), behind(all))).collect();
        let body = Shape { dropped: &dropped }.body(&function.body, &self.pairs, &mut dims);
        fits.then(|| Function { params, body, ..function.clone() })
    }

    fn dims(&self, name: &Name, dims: &[Expr]) -> Option<Vec<Expr>> {
        let Some(merged) = self.merged.get(name) else { return Some(dims.to_vec()) };
        let mut new = Vec::new();
        for (at, dim) in dims.iter().enumerate() {
            match (at.checked_sub(1).filter(|before| merged.contains(before)), dim, new.last_mut()) {
                (Some(_), Expr::Int(columns), Some(Expr::Int(rows))) => *rows = rows.checked_mul(*columns)?,
                _ => new.push(dim.clone()),
            }
        }
        Some(new)
    }
}

/// Loops with known numbers of iterations of which one is all that the other has inside, and whose
/// variables have no other loop.
fn pairs(body: &[Stmt]) -> BTreeMap<Name, Pair> {
    let mut found: BTreeMap<Name, Option<Pair>> = BTreeMap::new();
    let mut loops: BTreeMap<&Name, usize> = BTreeMap::new();
    for stmt in nodes(body) {
        let Stmt::Loop(l) = stmt else { continue };
        *loops.entry(&l.var).or_default() += 1;
        let pair = match l.body.as_slice() {
            [Stmt::Loop(inner)] => count(l).zip(count(inner)).map(|(rows, columns)| Pair {
                inner: inner.var.clone(),
                rows,
                columns,
            }),
            _ => None,
        };
        let known = found.entry(l.var.clone()).or_insert_with(|| pair.clone());
        if *known != pair {
            *known = None;
        }
    }
    // As many inner loops as outer ones: none of them stands elsewhere.
    let same = |outer: &Name, pair: &Pair| loops.get(outer) == loops.get(&pair.inner) && *outer != pair.inner;
    let pairs = found.into_iter().filter_map(|(outer, pair)| Some((outer, pair?)));
    let pairs: BTreeMap<Name, Pair> = pairs.filter(|(outer, pair)| same(outer, pair)).collect();
    let shared = |inner: &Name| pairs.values().filter(|pair| pair.inner == *inner).count() > 1;
    pairs.clone().into_iter().filter(|(_, pair)| !shared(&pair.inner)).collect()
}

/// How often a loop from 0 runs, where that is known.
fn count(l: &Loop) -> Option<i64> {
    let plain = l.step == 1 && l.lower == Expr::Int(0) && l.reductions.is_empty();
    match l.upper {
        Expr::Int(n) if plain && n > 0 => Some(n),
        _ => None,
    }
}

/// The dimensions of each array at which every access has a pair.
fn merged(
    pairs: &BTreeMap<Name, Pair>,
    arrays: &BTreeMap<&Name, &[Expr]>,
    accesses: &[&Access],
) -> BTreeMap<Name, BTreeSet<usize>> {
    let pair_at = |access: &Access, at: usize, columns: i64| match &access.indices[at..at + 2] {
        [Expr::Var(outer), Expr::Var(inner)] => {
            pairs.get(outer).is_some_and(|pair| pair.inner == *inner && pair.columns == columns)
        }
        _ => false,
    };
    let mut all = BTreeMap::new();
    for (name, dims) in arrays {
        let own: Vec<&&Access> = accesses.iter().filter(|access| access.array == **name).collect();
        let known = own.iter().all(|access| access.indices.len() == dims.len());
        let at = (0..dims.len().saturating_sub(1)).filter(|at| match dims[*at..*at + 2] {
            [Expr::Int(_), Expr::Int(columns)] => own.iter().all(|access| pair_at(access, *at, columns)),
            _ => false,
        });
        if known && !own.is_empty() {
            all.insert((*name).clone(), at.collect());
        }
    }
    all
}

/// All accesses, those in subscripts included.
fn accesses(body: &[Stmt]) -> Vec<&Access> {
    let mut found = Vec::new();
    for stmt in nodes(body) {
        if let Stmt::Assign(assign) = stmt {
            found.push(&assign.target);
        }
        found.extend(stmt.exprs().into_iter().flat_map(Expr::loads));
    }
    found
}

/// Variables that stand elsewhere than alone in a subscript.
fn alone(body: &[Stmt]) -> BTreeSet<Name> {
    fn look(e: &Expr, found: &mut BTreeSet<Name>) {
        match e {
            Expr::Var(name) => {
                found.insert(name.clone());
            }
            Expr::Load(access) => subscripts(access, found),
            _ => e.children().for_each(|child| look(child, found)),
        }
    }
    fn subscripts(access: &Access, found: &mut BTreeSet<Name>) {
        access
            .indices
            .iter()
            .filter(|index| !matches!(index, Expr::Var(_)))
            .for_each(|index| look(index, found));
    }
    let mut found = BTreeSet::new();
    for stmt in nodes(body) {
        match stmt {
            Stmt::Assign(assign) => {
                subscripts(&assign.target, &mut found);
                look(&assign.value, &mut found);
            }
            other => other.exprs().into_iter().for_each(|e| look(e, &mut found)),
        }
    }
    found
}
