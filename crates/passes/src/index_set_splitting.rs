//! Loops over elements that have neighbours, in three: those near the borders, where subscripts are
//! clamped or conditions ask whether there is a neighbour, and the rest, where nothing is asked.
//!
//! Every element is computed as before, by the same expression but for what its place decides, and
//! in the same order: the three loops follow each other, and only the one between is parallel.
//! Bounds of loops inside ask nothing: tiles at a rim are not borders. Not here: loops of which the
//! model of the polyhedral side is made, which splits what it needs itself.

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::facts::{Facts, is_stable};
use loops::visit::{check_depth, nodes};
use loops::{BinaryOp, CompareOp, Expr, Function, Loop, LoopKind, Name, Stmt, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "index-set-splitting",
        literature: "index-set splitting (Griebl, Feautrier, Lengauer 2000)",
        about: "a loop whose body treats borders apart becomes three loops: borders and interior",
    },
    run: |function| changed(function, split(function)),
};

/// The most elements on each side that count as a border.
const WIDEST: i64 = 8;
/// Bodies with more expressions than this are not written three times.
const LARGEST: usize = 250;
/// Loops around each other that are split: nine bodies at most.
const DEEPEST: usize = 2;

/// The function with such loops split.
///
/// Looks at each body as often as [`WIDEST`] says; a function that is nested too deeply comes back
/// as it is.
fn split(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let body = body(&function.body, &Facts::of(function), 0);
    with_own_labels(function, Function { body, ..function.clone() })
}

fn body(stmts: &[Stmt], facts: &Facts, depth: usize) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) => {
                match (depth < DEEPEST).then(|| in_three(l, facts).or_else(|| at_clamps(l, facts))).flatten()
                {
                    Some(parts) => {
                        result.extend(parts.map(|part| Stmt::Loop(inside(&part, facts, depth + 1))));
                    }
                    None => result.push(Stmt::Loop(inside(l, facts, depth))),
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let branch = |holds: bool, stmts: &[Stmt]| {
                    let mut known = facts.clone();
                    known.assume(cond, holds);
                    body(stmts, &known, depth)
                };
                let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                result.push(Stmt::If { cond: cond.clone(), then, otherwise });
            }
            Stmt::Block { mark, body: inner } => {
                result.push(Stmt::Block { mark: mark.clone(), body: body(inner, facts, depth) });
            }
            other => result.push(other.clone()),
        }
    }
    result
}

fn inside(l: &Loop, facts: &Facts, depth: usize) -> Loop {
    let mut known = facts.clone();
    known.enter(l);
    Loop { body: body(&l.body, &known, depth), ..l.clone() }
}

/// The three loops, if there is a width of borders between which less is asked.
fn in_three(l: &Loop, facts: &Facts) -> Option<[Loop; 3]> {
    let plain = l.step == 1 && l.lower == Expr::Int(0) && l.reductions.is_empty() && is_stable(&l.upper);
    // A window, which is as long as borders may be, is not taken apart.
    let short = matches!(l.upper, Expr::Int(n) if n <= 2 * WIDEST);
    if !plain
        || short
        || !matches!(l.kind, LoopKind::Sequential | LoopKind::Parallel | LoopKind::Vector)
        || size(&l.body) > LARGEST
    {
        return None;
    }
    let simplified = |part: &Loop| {
        let mut known = facts.clone();
        known.enter(part);
        Loop { body: simplify::body_where(&part.body, &known), ..part.clone() }
    };
    let before = asks(&simplified(l).body, &l.var);
    if before == 0 {
        return None;
    }
    let width = |k: i64| Loop { lower: Expr::Int(k), upper: l.upper.clone() - k, ..l.clone() };
    let (left, k) = (1..=WIDEST).map(|k| (asks(&simplified(&width(k)).body, &l.var), k)).min()?;
    if left >= before {
        return None;
    }
    let middle = width(k);
    let bound =
        |op: BinaryOp, end: &Expr| simplify::expr(&Expr::binary(op, Expr::Int(k), end.clone()), facts);
    let first = Loop { kind: LoopKind::Sequential, upper: bound(BinaryOp::Min, &l.upper), ..l.clone() };
    let last = Loop { kind: LoopKind::Sequential, lower: bound(BinaryOp::Max, &middle.upper), ..l.clone() };
    Some([simplified(&first), simplified(&middle), simplified(&last)])
}

/// The same for a loop of a tile, which begins and ends anywhere: the borders are where the clamped
/// subscripts of its body say.
fn at_clamps(l: &Loop, facts: &Facts) -> Option<[Loop; 3]> {
    let plain = l.step == 1 && l.reductions.is_empty() && is_stable(&l.lower) && is_stable(&l.upper);
    let clamped = matches!(l.kind, LoopKind::Sequential | LoopKind::Vector);
    let bounded = matches!((&l.lower, &l.upper), (Expr::Int(_), _) | (_, Expr::Int(_)));
    let innermost = !nodes(&l.body).any(|stmt| matches!(stmt, Stmt::Loop(_)));
    if !plain || !clamped || bounded || !innermost || size(&l.body) > LARGEST {
        return None;
    }
    let before = asks(&l.body, &l.var);
    let (first, end) = clamps(&l.body, &l.var, facts)?;
    let of =
        |op: BinaryOp, a: &Expr, b: &Expr| simplify::expr(&Expr::binary(op, a.clone(), b.clone()), facts);
    let part = |kind: LoopKind, lower: Expr, upper: Expr| {
        let part = Loop { kind, lower, upper, ..l.clone() };
        let mut known = facts.clone();
        known.enter(&part);
        Loop { body: simplify::body_where(&part.body, &known), ..part }
    };
    let middle = part(l.kind, of(BinaryOp::Max, &l.lower, &first), of(BinaryOp::Min, &l.upper, &end));
    if asks(&middle.body, &l.var) >= before {
        return None;
    }
    let last = of(BinaryOp::Max, &l.lower, &of(BinaryOp::Max, &first, &end));
    Some([
        part(LoopKind::Sequential, l.lower.clone(), of(BinaryOp::Min, &l.upper, &first)),
        middle,
        part(LoopKind::Sequential, last, l.upper.clone()),
    ])
}

/// From where on and to where the minima and maxima of a variable and a bound are the variable's
/// side; none if there are several such places, or no maximum or no minimum. A border is at most
/// [`WIDEST`] elements long.
fn clamps(stmts: &[Stmt], var: &Name, facts: &Facts) -> Option<(Expr, Expr)> {
    let mut first: Option<i64> = None;
    let mut end: Option<Expr> = None;
    for e in assigned(stmts) {
        let Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) = e else { continue };
        if !is_stable(e) || !e.mentions(var) {
            continue;
        }
        let (by, bound) = match (offset(a, var), offset(b, var)) {
            (Some(by), None) if !b.mentions(var) => (by, b),
            (None, Some(by)) if !a.mentions(var) => (by, a),
            _ => return None,
        };
        match (op, &**bound) {
            (BinaryOp::Max, Expr::Int(least)) => {
                let place = least.checked_sub(by).filter(|place| *place <= WIDEST)?;
                first = Some(first.map_or(place, |first| first.max(place)));
            }
            (BinaryOp::Min, bound) => {
                let place = simplify::expr(&(bound.clone() + 1i64.checked_sub(by)?), facts);
                let nearest = match end {
                    Some(end) if facts.decide(CompareOp::Le, &end, &place) == Some(true) => end,
                    Some(end) if facts.decide(CompareOp::Le, &place, &end) != Some(true) => return None,
                    _ => place,
                };
                end = Some(nearest);
            }
            _ => return None,
        }
    }
    Some((Expr::Int(first?), end?))
}

/// What is added to the variable, if the expression is the variable and a number.
fn offset(e: &Expr, var: &Name) -> Option<i64> {
    match e {
        Expr::Var(name) if name == var => Some(0),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => match (&**a, &**b, op) {
            (Expr::Var(name), Expr::Int(by), BinaryOp::Add) if name == var => Some(*by),
            (Expr::Int(by), Expr::Var(name), BinaryOp::Add) if name == var => Some(*by),
            (Expr::Var(name), Expr::Int(by), BinaryOp::Sub) if name == var => by.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

/// How often a body asks where a loop is: choices, minima, maxima and remainders in values and
/// subscripts that depend on its variable; in an innermost loop conditions, too.
fn asks(stmts: &[Stmt], var: &Name) -> usize {
    let (mut found, mut conditions, mut loops) = (0, 0, false);
    for stmt in nodes(stmts) {
        match stmt {
            Stmt::If { cond, .. } => {
                conditions += usize::from(is_stable(cond) && cond.mentions(var));
            }
            Stmt::Loop(_) => loops = true,
            _ => {}
        }
    }
    // Those around loops are of tiles at a rim.
    if !loops {
        found += conditions;
    }
    let asks = |e: &&Expr| match e {
        Expr::Select(cond, _, _) => is_stable(cond) && cond.mentions(var),
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, _, _) => is_stable(e) && e.mentions(var),
        // Of a torus, the neighbours at the other side.
        Expr::Binary(BinaryOp::Mod, place, _) => is_stable(e) && place.mentions(var),
        _ => false,
    };
    found + assigned(stmts).filter(asks).count()
}

fn size(stmts: &[Stmt]) -> usize {
    assigned(stmts).count()
}

/// The expressions of assignments.
fn assigned(stmts: &[Stmt]) -> impl Iterator<Item = &Expr> {
    let own = nodes(stmts).filter(|stmt| matches!(stmt, Stmt::Assign(_)));
    own.flat_map(Stmt::exprs).flat_map(Expr::nodes)
}
