//! Sums that are chains, some of them side by side: a loop in which one accumulator waits for
//! itself takes the time of an addition for each element; four such loops of four iterations of the
//! loop around take hardly more than one ("unroll and jam").
//!
//! Where neighbours take neighbouring elements, as sums of columns do, they are lanes of vectors.
//!
//! Each accumulator sees the same numbers in the same order as before, so results stay the same to
//! the last bit. Only iterations that are independent by what they write are put together, and only
//! chains of floating-point numbers: C compilers may regroup those of integers. Not here: short
//! loops, which C compilers write out.
//!
//! The rewriting itself is [`Block::side_by_side`]. It is also for perfect nests of labelled
//! assignments between their schedule and its check (`polyhedral::transform::unroll_and_jam`),
//! where another proof says which nests those are. Here are chains in local accumulators, several
//! in a body, which no schedule shows; each iteration gets accumulators of its own.

mod block;

use std::collections::BTreeSet;

use crate::pass::{Pass, Step, changed};
use loops::facts::is_stable;
use loops::visit::{assigns, check_depth, fresh, loads, locals, nodes, taken, with_distinct_locals};
use loops::{Access, BinaryOp, Elem, Expr, Function, Local, Loop, LoopKind, Name, Scalar, Stmt, simplify};

pub use block::Block;
use block::all_trips;

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "unroll-and-jam",
        literature: "unroll-and-jam (Callahan, Carr, Kennedy 1990)",
        about: "several iterations of a loop around a sum run side by side; the order in each sum stays",
    },
    run: |function| changed(function, chains(function)),
};

/// Iterations side by side: so many additions are under way at the same time on today's processors.
const SIDE_BY_SIDE: i64 = 4;
/// Bytes of accumulators side by side where those of neighbours take neighbouring elements: some
/// vectors.
const WIDE: i64 = 128;
/// A chain of fewer elements is left to the C compiler, which writes it out.
const LONG: i64 = 48;
/// A loop of fewer iterations is left as it is.
const MANY: i64 = 16;
/// A parallel loop of fewer iterations is: threads want some.
const MANY_FOR_THREADS: i64 = 64;
/// Bodies with more expressions than this are not written twice.
const LARGEST: usize = 400;
/// Elements of a local array that each iteration may have.
const MOST_ELEMENTS: i64 = 1024;

/// The function with such loops put together, simplified. Takes time in proportion to its size,
/// times the depth of its loops.
///
/// A function that is nested too deeply to look at, or has no such loop, comes back as it is.
fn chains(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let mut names = taken(&distinct);
    match body(&distinct.body, &mut names) {
        Some(body) => simplify::function(&Function { body, ..distinct }),
        None => function.clone(),
    }
}

/// The statements with the innermost such loops put together; none if there are none.
fn body(stmts: &[Stmt], names: &mut BTreeSet<Name>) -> Option<Vec<Stmt>> {
    let mut result = Vec::with_capacity(stmts.len());
    let mut changed = false;
    for stmt in stmts {
        let mut inside = false;
        let mapped = stmt.map(&mut Expr::clone, &mut |inner| match body(inner, names) {
            Some(new) => {
                inside = true;
                new
            }
            None => inner.to_vec(),
        });
        changed |= inside;
        match &mapped {
            Stmt::Loop(l) if !inside => match together(l, names) {
                Some(parts) => {
                    changed = true;
                    result.extend(parts);
                }
                None => result.push(mapped),
            },
            _ => result.push(mapped),
        }
    }
    changed.then_some(result)
}

/// The loop by blocks of iterations, and what is left behind the last whole block.
fn together(l: &Loop, names: &mut BTreeSet<Name>) -> Option<Vec<Stmt>> {
    let many = match l.kind {
        LoopKind::Sequential => MANY,
        LoopKind::Parallel => MANY_FOR_THREADS,
        LoopKind::Vector | LoopKind::Unroll(_) => return None,
    };
    let plain = l.step == 1
        && l.lower == Expr::Int(0)
        && l.reductions.is_empty()
        && is_stable(&l.upper)
        && !matches!(l.upper, Expr::Int(n) if n < many);
    let chains = chains_in(&l.body, l);
    if !plain || chains.is_empty() || !may_be_together(l, &chains) || !are_independent(l) {
        return None;
    }
    let mut new = |base: &Name| {
        let name = fresh(base, names);
        names.insert(name.clone());
        name
    };
    let (counts, kind) = match lanes(l, &chains) {
        // What the wide blocks leave is much where rows are short: half a block on average.
        Some(lanes) if chains.iter().any(|chain| is_nest(chain)) => {
            (vec![lanes, lanes / 4], LoopKind::Vector)
        }
        Some(lanes) => (vec![lanes], LoopKind::Vector),
        None => (vec![SIDE_BY_SIDE], LoopKind::Unroll(None)),
    };
    let simple = |e: Expr| simplify::expr(&e, &loops::Facts::default());
    let (mut parts, mut before): (Vec<Stmt>, Option<(Expr, i64)>) = (Vec::new(), None);
    for count in counts {
        let (block, side) = (new(&l.var), new(&Name::new("r")));
        let place = Expr::Var(block.clone()) * count + Expr::Var(side.clone());
        let through = |inner: &Loop, around| is_of_long_chains(inner, l, around);
        let jam = Block { var: &l.var, place, side: &side, count, kind, through: &through };
        let body = jam.side_by_side(&l.body);
        let upper = simple(l.upper.clone().floor_div(count));
        // The last blocks are few.
        let (lower, kind) = match before {
            None => (Expr::Int(0), l.kind),
            Some((blocks, of)) => (simple(blocks * (of / count)), LoopKind::Sequential),
        };
        before = Some((upper.clone(), count));
        parts.push(Stmt::Loop(Loop { var: block, lower, upper, kind, body, ..l.clone() }));
        if matches!(l.upper, Expr::Int(n) if n % count == 0) {
            return Some(parts);
        }
    }
    let lower = before.map_or(Expr::Int(0), |(blocks, of)| simple(blocks * of));
    parts.push(Stmt::Loop(Loop { lower, kind: LoopKind::Sequential, ..l.clone() }));
    Some(parts)
}

/// Whether a loop of chains has others inside.
fn is_nest(chain: &Loop) -> bool {
    chain.body.iter().any(|stmt| matches!(stmt, Stmt::Loop(_)))
}

/// How many iterations are lanes of vectors, if the chains of neighbours take neighbouring
/// elements.
fn lanes(l: &Loop, chains: &[&Loop]) -> Option<i64> {
    let (mut bytes, mut neighbours, mut fits) = (4, false, true);
    for local in locals(&l.body) {
        bytes = local.elem.leaves().iter().map(|scalar| scalar.bytes() as i64).fold(bytes, i64::max);
    }
    for access in chains.iter().flat_map(|chain| loads(&chain.body)) {
        let Some((last, before)) = access.indices.split_last() else { continue };
        let mentions = |index: &Expr| index.mentions(&l.var);
        let along = is_along(last, &l.var);
        neighbours |= along;
        fits &= !before.iter().any(mentions) && (along || !mentions(last));
    }
    let lanes = WIDE / bytes;
    let enough = !matches!(l.upper, Expr::Int(n) if n < 2 * lanes);
    (fits && neighbours && enough).then_some(lanes)
}

/// Whether a subscript goes up by one with a variable: the variable, and what does not depend on
/// it.
fn is_along(subscript: &Expr, var: &Name) -> bool {
    match subscript {
        Expr::Var(name) => name == var,
        Expr::Binary(BinaryOp::Add, a, b) => {
            let free = |e: &Expr| is_stable(e) && !e.mentions(var);
            (is_along(a, var) && free(b)) || (free(a) && is_along(b, var))
        }
        _ => false,
    }
}

/// Whether a loop is a chain: nothing in it but assignments, one of which goes to a number that the
/// loop finds there. Bounds are the same in all iterations of `of`. `around`: how often the loops
/// around it run in all, if that is known; one of unknown length counts as long.
fn is_chain(inner: &Loop, of: &Loop, around: Option<i64>) -> bool {
    let mut own = BTreeSet::new();
    let mut waits = false;
    for stmt in &inner.body {
        match stmt {
            Stmt::Local(local) if local.dims.is_empty() => {
                own.insert(&local.name);
            }
            Stmt::Assign(a) if a.target.indices.is_empty() => {
                waits |= !own.contains(&a.target.array);
            }
            _ => return false,
        }
    }
    let length = all_trips(inner, around);
    waits && is_sequential(inner, of) && !matches!(length, Some(n) if n < LONG)
}

fn is_sequential(inner: &Loop, of: &Loop) -> bool {
    let bound = |e: &Expr| is_stable(e) && !e.mentions(&of.var);
    inner.kind == LoopKind::Sequential
        && inner.step == 1
        && inner.reductions.is_empty()
        && bound(&inner.lower)
        && bound(&inner.upper)
}

/// Whether a loop is made of chains alone, with numbers between them: all iterations of `of` go
/// through it together.
fn is_of_chains(inner: &Loop, of: &Loop) -> bool {
    is_of_long_chains(inner, of, Some(1))
}

fn is_of_long_chains(inner: &Loop, of: &Loop, around: Option<i64>) -> bool {
    let all = all_trips(inner, around);
    let between = |stmt: &Stmt| match stmt {
        Stmt::Local(local) => local.dims.is_empty(),
        Stmt::Assign(a) => a.target.indices.is_empty(),
        Stmt::Loop(deeper) => is_of_long_chains(deeper, of, all),
        _ => false,
    };
    let loops = inner.body.iter().any(|stmt| matches!(stmt, Stmt::Loop(_)));
    match loops {
        true => is_sequential(inner, of) && inner.body.iter().all(between),
        false => is_chain(inner, of, around),
    }
}

/// The loops of chains among statements.
fn chains_in<'a>(stmts: &'a [Stmt], of: &Loop) -> Vec<&'a Loop> {
    let chains = stmts.iter().map(|stmt| match stmt {
        Stmt::Loop(inner) if is_of_chains(inner, of) => vec![inner],
        Stmt::Block { body, .. } => chains_in(body, of),
        _ => vec![],
    });
    chains.flatten().collect()
}

/// Whether the statements of a loop are of kinds that go together, and not too many, and its chains
/// are of floating-point numbers.
fn may_be_together(l: &Loop, chains: &[&Loop]) -> bool {
    let (mut size, mut fits) = (0, true);
    for stmt in nodes(&l.body) {
        size += stmt.exprs().into_iter().flat_map(Expr::nodes).count();
        fits &= match stmt {
            Stmt::Local(local) => is_small(local),
            // What is no chain runs as before, for one iteration after the other.
            Stmt::Loop(l) => !matches!(l.kind, LoopKind::Parallel) && l.reductions.is_empty(),
            Stmt::Assign(a) => a.label.is_none(),
            Stmt::If { .. } | Stmt::Block { .. } => true,
            Stmt::Copy(_) | Stmt::Wait(_) => false,
        };
    }
    let other = |local: &&Local| !matches!(local.elem, Elem::Scalar(Scalar::F32 | Scalar::F64));
    let others = locals(&l.body).filter(other).map(|local| &local.name).collect();
    fits && size <= LARGEST && !chains.iter().any(|chain| carries(chain, &others))
}

/// Whether a chain goes to one of these.
fn carries(chain: &Loop, names: &BTreeSet<&Name>) -> bool {
    let own: BTreeSet<&Name> = locals(&chain.body).map(|local| &local.name).collect();
    let mut targets = assigns(&chain.body).map(|a| &a.target.array);
    targets.any(|array| names.contains(array) && !own.contains(array))
}

/// Whether some iterations may have the local at the same time: one of few elements, or a row of a
/// length that sizes give.
fn is_small(local: &Local) -> bool {
    let (mut count, mut rows) = (1i64, 0);
    for dim in &local.dims {
        match dim {
            Expr::Int(n) if *n >= 0 => count = count.saturating_mul(*n),
            other if is_stable(other) => rows += 1,
            _ => return false,
        }
    }
    count <= if rows == 0 { MOST_ELEMENTS } else { 1 } && rows <= 1
}

/// Whether no iteration reads or writes what another one writes: all that is written, but for what
/// is local, has the loop's variable as one and the same subscript wherever it occurs.
pub(crate) fn are_independent(l: &Loop) -> bool {
    let own: BTreeSet<&Name> = locals(&l.body).map(|local| &local.name).collect();
    let written: BTreeSet<&Name> = assigns(&l.body).map(|a| &a.target.array).collect();
    let all: Vec<&Access> = assigns(&l.body).map(|a| &a.target).chain(loads(&l.body)).collect();
    let var = Expr::Var(l.var.clone());
    written.iter().filter(|name| !own.contains(*name)).all(|name| {
        let mut accesses = all.iter().filter(|access| access.array == **name);
        let places = |access: &Access| -> BTreeSet<usize> {
            (0..access.indices.len()).filter(|k| access.indices[*k] == var).collect()
        };
        let first = accesses.next().map(|access| places(access)).unwrap_or_default();
        !accesses
            .fold(first, |common, access| common.intersection(&places(access)).copied().collect())
            .is_empty()
    })
}
