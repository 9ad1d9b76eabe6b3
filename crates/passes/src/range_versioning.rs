//! Clamps of subscripts that move by one with an innermost loop: where the first and the last
//! iteration are in range, all are, and the loop runs without them.
//!
//! A subscript that is computed from data is clamped in each iteration (`toIdx`). Neighbouring
//! iterations then read elements that are side by side, but no compiler knows. Two tests before the
//! loop say so; the loop with the clamps stays for the other case. Sums of data wrap around, so the
//! tests compare the iterations with the room behind the first subscript, a difference of natural
//! numbers. Left out: loops whose iterations may be no lanes, subscripts that move otherwise, and
//! ones that are read from an array.

use std::collections::{BTreeMap, BTreeSet};

use crate::labels::with_own_labels;
use crate::loop_unswitching::is_short;
use crate::pass::{Pass, Step, changed};
use loops::typing::Types;
use loops::visit::{assigns, check_depth, fresh, loads, locals, taken, with_distinct_locals};
use loops::{Access, BinaryOp, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "range-versioning",
        literature: "loop versioning for range checks (Midkiff, Moreira, Snir 1998)",
        about: "a loop whose clamped subscripts are in range from its first to its last iteration runs without the clamps",
    },
    run: |function| changed(function, versioned(function)),
};

/// Clamps of one loop that are tested.
const MOST: usize = 8;

/// The function with such versions. A function that is nested too deeply to look at comes back as
/// it is.
fn versioned(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let types = Types::of_all(&distinct);
    let mut versions = Versions { taken: taken(&distinct), types, found: false };
    let body = versions.block(&distinct.body);
    match versions.found {
        true => with_own_labels(function, Function { body, ..distinct }),
        false => function.clone(),
    }
}

struct Versions {
    taken: BTreeSet<Name>,
    types: Types,
    found: bool,
}

impl Versions {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) if is_innermost(l) => self.two_versions(l, &mut result),
                other => result.push(other.map(&mut Expr::clone, &mut |inner| self.block(inner))),
            }
        }
        result
    }

    /// The loop with and without its clamps.
    fn two_versions(&mut self, l: &Loop, result: &mut Vec<Stmt>) {
        let name = fresh(&Name::new("steps"), &self.taken);
        let steps = Access::scalar(name.clone());
        let (clamps, tests) = Walk::new(l, Expr::Load(steps.clone())).tests();
        let Some(test) = tests.into_iter().reduce(Expr::and) else {
            result.push(Stmt::Loop(l.clone()));
            return;
        };
        if !are_lanes(&l.body, &l.var) {
            result.push(Stmt::Loop(l.clone()));
            return;
        }
        self.found = true;
        self.taken.insert(name.clone());
        let body = l.body.iter().map(|stmt| {
            let mut new = stmt.clone();
            if let Stmt::Assign(a) = &mut new {
                a.target = a.target.map_indices(&mut |e| without(e, &clamps, true));
                a.value = without(&a.value, &clamps, false);
            }
            new
        });
        let fast = self.with_numbers_before(Loop { body: body.collect(), ..l.clone() });
        let otherwise = vec![Stmt::Loop(l.clone())];
        let versions = Stmt::If { cond: test, then: fast, otherwise };
        let count = l.upper.clone().into_data() - l.lower.clone().into_data() - 1;
        result.push(Stmt::local(name, Elem::Scalar(Scalar::I64), Vec::new()));
        result.push(Stmt::assign(steps.clone(), count));
        // A number that is read in the loop alone may have no value where no iteration runs.
        result.push(Stmt::when(Expr::Load(steps).at_least(0), vec![versions]));
    }
}

fn is_innermost(l: &Loop) -> bool {
    let kind = matches!(l.kind, LoopKind::Sequential | LoopKind::Vector);
    kind && l.step == 1
        && !is_short(l)
        && l.body.iter().all(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::Local(_)))
}

/// `min(max(index, low), high)`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Clamp {
    index: Expr,
    low: Expr,
    high: Expr,
}

fn clamp(e: &Expr) -> Option<Clamp> {
    let Expr::Binary(BinaryOp::Min, inner, high) = e else { return None };
    let Expr::Binary(BinaryOp::Max, index, low) = &**inner else { return None };
    Some(Clamp { index: (**index).clone(), low: (**low).clone(), high: (**high).clone() })
}

impl Versions {
    /// A loop that runs, in lanes, behind the numbers that are the same in all its iterations:
    /// compilers lose what is known of overlapping arrays where threads begin.
    fn with_numbers_before(&mut self, l: Loop) -> Vec<Stmt> {
        let (mut before, mut body) = (Vec::new(), l.body.clone());
        while let Some(k) = body.iter().position(|stmt| same_number(stmt, &body, &l.var)) {
            let Stmt::Assign(a) = body.remove(k) else { break };
            let own = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if local.name == a.target.array);
            before.extend(body.iter().position(own).map(|at| body.remove(at)));
            before.push(Stmt::Assign(a));
        }
        let mut elements = BTreeMap::new();
        for stmt in &body {
            stmt.exprs().into_iter().for_each(|e| same_elements(e, &body, &l.var, &mut elements));
        }
        for (access, name) in &mut elements {
            let Some(scalar) = self.types.access(access).ok().and_then(|elem| elem.as_scalar()) else {
                continue;
            };
            let own = fresh(&Name::new(format!("{}_value", access.array)), &self.taken);
            self.taken.insert(own.clone());
            before.push(Stmt::local(own.clone(), Elem::Scalar(scalar), Vec::new()));
            before.push(Stmt::assign(Access::scalar(own.clone()), Expr::Load(access.clone())));
            *name = Some(own);
        }
        let value = |access: Access| match elements.get(&access).cloned().flatten() {
            Some(name) => Expr::scalar(name),
            None => Expr::Load(access),
        };
        let one =
            |stmt: &Stmt| stmt.map(&mut |e| e.map_loads(&mut |access| value(access)), &mut <[Stmt]>::to_vec);
        let body: Vec<Stmt> = body.iter().map(one).collect();
        before.push(Stmt::Loop(Loop { kind: LoopKind::Vector, body, ..l }));
        before
    }
}

/// What a body writes or declares.
fn changing(body: &[Stmt]) -> BTreeSet<&Name> {
    body.iter().filter_map(declared).collect()
}

/// The array or number that a statement writes or declares.
fn declared(stmt: &Stmt) -> Option<&Name> {
    match stmt {
        Stmt::Local(local) => Some(&local.name),
        other => other.written(),
    }
}

/// Whether a statement gives a local number its only value, which is the same in all iterations and
/// made of such numbers.
fn same_number(stmt: &Stmt, body: &[Stmt], var: &Name) -> bool {
    let Stmt::Assign(a) = stmt else { return false };
    let name = &a.target.array;
    let declared = body.iter().any(|stmt| matches!(stmt, Stmt::Local(local) if local.name == *name));
    let once = body.iter().filter(|stmt| stmt.writes(name)).count() == 1;
    let number = a.target.indices.is_empty() && a.target.path.is_empty() && a.update.is_none();
    let changing = changing(body);
    let still = |e: &Expr| match e {
        Expr::Load(access) => access.indices.is_empty() && !changing.contains(&access.array),
        Expr::Call { .. } => false,
        _ => true,
    };
    declared && once && number && !a.value.mentions(var) && a.value.nodes().all(still)
}

/// Elements that each iteration reads, at a place that is the same in all.
fn same_elements(e: &Expr, body: &[Stmt], var: &Name, found: &mut BTreeMap<Access, Option<Name>>) {
    match e {
        // What is chosen may not be read otherwise.
        Expr::Select(cond, ..) => same_elements(cond, body, var, found),
        Expr::Load(access) if !access.indices.is_empty() => {
            let changing = changing(body);
            let number = |e: &Expr| match e {
                Expr::Load(access) => access.indices.is_empty() && !changing.contains(&access.array),
                Expr::Call { .. } => false,
                _ => true,
            };
            let still = |e: &Expr| !e.mentions(var) && e.nodes().all(number);
            if !changing.contains(&access.array) && access.indices.iter().all(still) {
                found.insert(access.clone(), None);
            }
        }
        _ => e.children().for_each(|child| same_elements(child, body, var, found)),
    }
}

/// Whether each iteration writes numbers of its own, and elements that the loop variable names,
/// which it alone reads.
fn are_lanes(body: &[Stmt], var: &Name) -> bool {
    let place = [Expr::Var(var.clone())];
    let own: BTreeSet<&Name> = locals(body).map(|local| &local.name).collect();
    let single = locals(body).all(|local| local.dims.is_empty());
    let written: BTreeSet<&Name> = assigns(body).map(|a| &a.target.array).collect();
    let apart = |access: &Access| {
        let name = &access.array;
        !written.contains(name) || own.contains(name) || access.indices == place
    };
    let stores = assigns(body).any(|a| !a.target.indices.is_empty());
    single && stores && assigns(body).map(|a| &a.target).chain(loads(body)).all(apart)
}

/// The expression without the clamps of its subscripts.
fn without(e: &Expr, clamps: &BTreeSet<Clamp>, subscript: bool) -> Expr {
    match (e, clamp(e)) {
        (_, Some(found)) if subscript && clamps.contains(&found) => found.index,
        (Expr::Load(access), _) => Expr::Load(access.map_indices(&mut |index| without(index, clamps, true))),
        _ => e.map_children(&mut |child| without(child, clamps, false)),
    }
}

/// A value in the body of a loop: what stays, and whether the loop variable is added to it.
#[derive(Clone)]
struct Moving {
    moves: bool,
    rest: Expr,
}

/// A walk over the body of a loop.
struct Walk<'l> {
    l: &'l Loop,
    /// What the body writes or declares.
    changing: BTreeSet<&'l Name>,
    /// Single numbers that have been given a value.
    known: BTreeMap<&'l Name, Moving>,
    /// How many iterations follow the first one.
    steps: Expr,
}

impl<'l> Walk<'l> {
    fn new(l: &'l Loop, steps: Expr) -> Walk<'l> {
        Walk { l, changing: changing(&l.body), known: BTreeMap::new(), steps }
    }

    /// The clamps that can go, and the tests under which they can.
    fn tests(mut self) -> (BTreeSet<Clamp>, Vec<Expr>) {
        let (mut clamps, mut tests) = (BTreeSet::new(), Vec::new());
        for stmt in &self.l.body {
            let Stmt::Assign(a) = stmt else { continue };
            let loads = stmt.exprs().into_iter().flat_map(Expr::loads);
            let indices = loads.flat_map(|access| &access.indices).chain(&a.target.indices);
            for found in indices.filter_map(clamp) {
                if clamps.len() < MOST
                    && !clamps.contains(&found)
                    && let Some(test) = self.in_range(&found)
                {
                    if !tests.contains(&test) {
                        tests.push(test);
                    }
                    clamps.insert(found);
                }
            }
            self.assigned(a);
        }
        (clamps, tests)
    }

    /// Takes note of the value of a single number. One that gets several values has none.
    fn assigned(&mut self, a: &'l loops::Assign) {
        let name = &a.target.array;
        let times = self.l.body.iter().filter(|stmt| stmt.writes(name)).count();
        let declared =
            self.l.body.iter().any(|stmt| matches!(stmt, Stmt::Local(local) if local.name == *name));
        let once = times == 1 && declared && a.update.is_none() && a.target.path.is_empty();
        if once
            && a.target.indices.is_empty()
            && let Some(value) = self.value(&a.value)
        {
            self.known.insert(name, value);
        }
    }

    /// An integer as what stays and the loop variable.
    fn value(&self, e: &Expr) -> Option<Moving> {
        let is_var = |e: &Expr| matches!(e, Expr::Var(name) if *name == self.l.var);
        match e {
            Expr::Cast(Scalar::I64, inner) if is_var(inner) => {
                Some(Moving { moves: true, rest: Expr::Int(0) })
            }
            _ if is_var(e) => Some(Moving { moves: true, rest: Expr::Int(0) }),
            _ if self.stays(e) => Some(Moving { moves: false, rest: e.clone().into_data() }),
            Expr::Load(access) if access.indices.is_empty() && access.path.is_empty() => {
                self.known.get(&access.array).cloned()
            }
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let rest = sum(a.rest, b.rest);
                (!(a.moves && b.moves)).then_some(Moving { moves: a.moves || b.moves, rest })
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let rest = if b.rest == Expr::Int(0) { a.rest } else { a.rest - b.rest };
                (!b.moves).then_some(Moving { moves: a.moves, rest })
            }
            Expr::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr | BinaryOp::BitAnd), a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let rest = Expr::binary(*op, a.rest, b.rest);
                (!a.moves && !b.moves).then_some(Moving { moves: false, rest })
            }
            _ => None,
        }
    }

    /// Whether an expression has the same value in all iterations, and reads nothing that may not
    /// be there.
    fn stays(&self, e: &Expr) -> bool {
        let number = |e: &Expr| match e {
            Expr::Load(access) => access.indices.is_empty() && !self.changing.contains(&access.array),
            Expr::Call { .. } => false,
            _ => true,
        };
        !e.mentions(&self.l.var) && e.nodes().all(number)
    }

    /// The test that a subscript is in range from the first iteration to the last.
    fn in_range(&self, found: &Clamp) -> Option<Expr> {
        let Moving { moves, rest } = self.value(&found.index)?;
        if !self.stays(&found.low) || !self.stays(&found.high) {
            return None;
        }
        // Behind a natural number the room is a number of 64 bits: a limit below 0 would be
        // outside of the array in the first iteration.
        let low = found.low.clone();
        if !matches!(low, Expr::Int(0..)) {
            return None;
        }
        let high = found.high.clone();
        if !moves {
            return Some(low.at_most(rest.clone()).and(rest.at_most(high)));
        }
        let first = sum(rest, self.l.lower.clone().into_data());
        Some(low.at_most(first.clone()).and(self.steps.clone().at_most(high.into_data() - first)))
    }
}

fn sum(a: Expr, b: Expr) -> Expr {
    match (&a, &b) {
        (Expr::Int(0), _) => b,
        (_, Expr::Int(0)) => a,
        _ => a + b,
    }
}
