//! Packed copies that are the same in all iterations of a loop are made before it: the weights of a
//! convolution, say, which each row of an image would pack again.
//!
//! A local array of the heap is filled if the statements that write it stand behind its declaration
//! and before all that read it. If what they read and where they write does not change in a loop
//! around the declaration, one copy does for all of its iterations. Loops in between, on which the
//! copy does depend, give it a dimension each: memory grows by their trips, to what a packed copy
//! of the whole source takes. All bounds on the way must be known before the loop.
//!
//! Only loops that go over elements one by one are left: blocks are as large as they are because
//! what is packed for one is used often enough. Left out: arrays in registers, and fills under a
//! condition.

use std::collections::BTreeSet;

use crate::pass::{Pass, Step};
use loops::facts::{Facts, is_stable};
use loops::simplify;
use loops::visit::{check_depth, locals, nodes, with_distinct_locals};
use loops::{Access, ArrayDecl, Assign, CompareOp, Expr, Function, Loop, LoopKind, Name, Stmt, Storage};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "invariant-fills",
        literature: "loop-invariant code motion, with array expansion where a loop is crossed",
        about: "packed copies that are the same in all iterations of a loop are made once, before it",
    },
    run: moved,
};

/// The function with such copies before their loops; none if it has none.
fn moved(function: &Function) -> Option<Function> {
    if check_depth(function).is_err() {
        return None;
    }
    let distinct = with_distinct_locals(function);
    let mut mover = Mover { changed: false };
    let body = mover.stmts(&distinct.body, &Facts::of(&distinct));
    mover.changed.then_some(Function { body, ..distinct })
}

struct Mover {
    changed: bool,
}

impl Mover {
    fn stmts(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => {
                    let mut l = l.clone();
                    while let Some((before, body)) = out_of(&l, facts) {
                        self.changed = true;
                        result.extend(before);
                        l.body = body;
                    }
                    let mut inside = facts.clone();
                    inside.enter(&l);
                    let body = self.stmts(&l.body, &inside);
                    result.push(Stmt::Loop(Loop { body, ..l }));
                }
                other => result.push(other.map(&mut Expr::clone, &mut |inner| self.stmts(inner, facts))),
            }
        }
        result
    }
}

/// A filled array, with the loops between the one that is left and its declaration.
struct Fill<'a> {
    local: &'a ArrayDecl,
    path: Vec<&'a Loop>,
    /// The statements that fill it.
    fills: Vec<&'a Stmt>,
}

/// The declaration and the fill of an array that is the same in all iterations of a loop, and the
/// body of the loop without them; none if there is none.
fn out_of(l: &Loop, facts: &Facts) -> Option<(Vec<Stmt>, Vec<Stmt>)> {
    if l.step != 1 || l.ends_early() || !is_stable(&l.lower) || !is_stable(&l.upper) {
        return None;
    }
    let mut found = None;
    find(l, &l.body, &mut Vec::new(), &mut found);
    let Fill { local, path, fills } = found?;
    let used: BTreeSet<Name> =
        fills.iter().flat_map(|fill| fill.nodes()).flat_map(Stmt::exprs).flat_map(Expr::vars).collect();
    let (own, others): (Vec<&Loop>, Vec<&Loop>) = path.iter().partition(|inner| used.contains(&inner.var));
    let trips = |l: &&Loop| {
        let last = l.upper.clone() - l.lower.clone() + (l.step - 1);
        simplify::expr(&last.floor_div(l.step).max(0), facts)
    };
    let place: Vec<Expr> = own
        .iter()
        .map(|l| {
            simplify::expr(&(Expr::Var(l.var.clone()) - l.lower.clone()).floor_div(l.step), &Facts::default())
        })
        .collect();
    let dims = own.iter().map(trips).chain(local.dims.iter().cloned()).collect();
    let mut fill: Vec<Stmt> = fills.into_iter().cloned().collect();
    fill = placed(&fill, &local.name, &place);
    for l in own.into_iter().rev() {
        fill = vec![Stmt::Loop(Loop { body: fill, ..l.clone() })];
    }
    // What the source has is known where the loops run.
    let runs = others.iter().chain([&l]).map(|l| (&l.lower, &l.upper));
    let open = runs.filter(|(low, high)| facts.decide(CompareOp::Lt, low, high) != Some(true));
    let open = open.map(|(low, high)| low.clone().less(high.clone()));
    if let Some(runs) = open.reduce(Expr::and) {
        fill = vec![Stmt::when(runs, fill)];
    }
    let mut before = vec![Stmt::Local(ArrayDecl { dims, ..local.clone() })];
    before.extend(fill);
    let body = placed(&without(&l.body, &local.name), &local.name, &place);
    Some((before, body))
}

/// The first array below a loop that can be filled before it.
fn find<'a>(left: &Loop, body: &'a [Stmt], path: &mut Vec<&'a Loop>, found: &mut Option<Fill<'a>>) {
    for (at, stmt) in body.iter().enumerate() {
        match stmt {
            _ if found.is_some() => return,
            Stmt::Local(local) if local.storage == Storage::Heap && !local.dims.is_empty() => {
                *found = filled(left, local, &body[at + 1..], path);
            }
            Stmt::Block { body, .. } => find(left, body, path, found),
            Stmt::Loop(l) if crossed(left, l, path) => {
                path.push(l);
                find(left, &l.body, path, found);
                path.pop();
            }
            _ => {}
        }
    }
}

/// Whether the trips of a loop are known before the one that is left, which is around the path.
fn crossed(left: &Loop, l: &Loop, path: &[&Loop]) -> bool {
    let mut around = path.iter().map(|l| &l.var).chain([&left.var]);
    let free = |e: &Expr| is_stable(e) && !around.clone().any(|var| e.mentions(var));
    l.step >= 1
        && !l.ends_early()
        && l.reductions.is_empty()
        && matches!(l.kind, LoopKind::Sequential | LoopKind::Parallel)
        && free(&l.lower)
        && free(&l.upper)
        && around.all(|var| *var != l.var)
}

/// The fill of an array in the statements behind its declaration, if it is the same in all
/// iterations of the loop that is left.
fn filled<'a>(left: &Loop, local: &'a ArrayDecl, rest: &'a [Stmt], path: &[&'a Loop]) -> Option<Fill<'a>> {
    let writes = |stmt: &Stmt| stmt.nodes().any(|s| s.writes(&local.name));
    let reads = |stmt: &Stmt| stmt.nodes().any(|s| s.reads(&local.name));
    let last = rest.iter().rposition(writes)?;
    if rest[..=last].iter().any(reads) {
        return None;
    }
    let fills: Vec<&Stmt> = rest[..=last].iter().filter(|stmt| writes(stmt)).collect();
    let mut changed: BTreeSet<&Name> = nodes(&left.body).filter_map(Stmt::written).collect();
    changed.extend(locals(&left.body).map(|local| &local.name));
    let around = |name: &Name| *name == left.var || path.iter().any(|l| l.var == *name);
    let same = |s: &Stmt| match s {
        Stmt::Assign(a) => {
            let plain = a.target.array == local.name && a.target.path.is_empty() && a.update.is_none();
            plain && s.exprs().into_iter().flat_map(Expr::loads).all(|load| !changed.contains(&load.array))
        }
        // A variable of that name would be another one.
        Stmt::Loop(l) => !around(&l.var) && !l.ends_early() && l.reductions.is_empty() && known(l, &changed),
        Stmt::If { cond, .. } => cond.loads().all(|load| !changed.contains(&load.array)),
        Stmt::Block { .. } => true,
        Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => false,
    };
    let names_left = |s: &Stmt| s.exprs().into_iter().any(|e| e.mentions(&left.var));
    let ok = fills.iter().flat_map(|fill| fill.nodes()).all(|s| same(s) && !names_left(s));
    let extents = local.dims.iter().all(|e| is_stable(e) && !e.vars().iter().any(around));
    (ok && extents).then(|| Fill { local, path: path.to_vec(), fills })
}

/// Whether the bounds of a loop read nothing that changes.
fn known(l: &Loop, changed: &BTreeSet<&Name>) -> bool {
    [&l.lower, &l.upper].into_iter().flat_map(Expr::loads).all(|load| !changed.contains(&load.array))
}

/// The statements without the declaration of an array and what fills it.
fn without(body: &[Stmt], name: &Name) -> Vec<Stmt> {
    let declared = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if local.name == *name);
    let here = body.iter().any(declared);
    let goes = |stmt: &&Stmt| here && (declared(stmt) || stmt.nodes().any(|s| s.writes(name)));
    let kept = body.iter().filter(|stmt| !goes(stmt));
    kept.map(|stmt| stmt.map(&mut Expr::clone, &mut |inner| without(inner, name))).collect()
}

/// Every access of the array has these subscripts before its own.
fn placed(body: &[Stmt], name: &Name, place: &[Expr]) -> Vec<Stmt> {
    let access = |a: &Access| match a.array == *name {
        true => Access { indices: place.iter().chain(&a.indices).cloned().collect(), ..a.clone() },
        false => a.clone(),
    };
    let one = |stmt: &Stmt| {
        let value = &mut |e: &Expr| e.map_loads(&mut |a| Expr::Load(access(&a)));
        match stmt.map(value, &mut |inner| placed(inner, name, place)) {
            Stmt::Assign(assign) => Stmt::Assign(Assign { target: access(&assign.target), ..assign }),
            other => other,
        }
    };
    body.iter().map(one).collect()
}
