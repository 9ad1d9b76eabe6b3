//! Arithmetic around calls of the mathematical library runs in vectors: the loop is cut into
//! strips, and each strip runs as loops of arithmetic and loops of calls.
//!
//! No vector has a call of `exp` in it, so a loop with one runs number by number, divisions and
//! all. In a strip of 64 iterations, what is computed before a call, the calls, and what is
//! computed after them are loops of their own, and numbers that pass from one to the other stand in
//! small arrays. Each number is computed as before. What is left of the last strip runs as it was.
//!
//! Only independent iterations of assignments alone. Left out: loops with little arithmetic for
//! each call, and calls that stand in a choice, since these may be seldom made.

use loops::facts::{Facts, is_stable};
use loops::simplify::tidy;
use loops::typing::Types;
use loops::visit::{check_depth, fresh, substitute, taken, with_distinct_locals};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt, Storage,
    UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "loop-distribution",
        literature: "loop distribution with scalar expansion (Allen and Kennedy 1987), in strips",
        about: "arithmetic around calls of the mathematical library runs in vector lanes, strip by strip",
    },
    run: |function| changed(function, distributed(function)),
};

/// Iterations of a strip: their numbers stay in the nearest cache.
const STRIP: i64 = 64;
/// Arithmetic operations for each call from which on this pays.
const FOR_EACH_CALL: usize = 8;
/// Arrays of a strip.
const MOST_ARRAYS: usize = 32;

/// The function with such loops in strips. A function that is nested too deeply, or has none, comes
/// back as it is.
fn distributed(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let types = Types::of_all(&distinct);
    let mut pass = Distribution { taken: taken(&distinct), types, changed: false };
    let body = pass.block(&distinct.body, &Facts::of(&distinct));
    if pass.changed { Function { body, ..distinct } } else { function.clone() }
}

struct Distribution {
    taken: BTreeSet<Name>,
    types: Types,
    changed: bool,
}

impl Distribution {
    fn block(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => match self.in_strips(l, facts) {
                    Some(loops) => {
                        self.changed = true;
                        out.extend(loops);
                    }
                    None => {
                        let mut known = facts.clone();
                        known.enter(l);
                        out.push(Stmt::Loop(Loop { body: self.block(&l.body, &known), ..l.clone() }));
                    }
                },
                other => out.push(other.map(&mut Expr::clone, &mut |inner| self.block(inner, facts))),
            }
        }
        out
    }

    /// The loop over strips, and the one over what is left; nothing where that does not pay or
    /// where something else than assignments is in the loop.
    fn in_strips(&mut self, l: &Loop, facts: &Facts) -> Option<[Stmt; 2]> {
        let independent = matches!(l.kind, LoopKind::Parallel | LoopKind::Vector) && l.reductions.is_empty();
        let plain = l.lower == Expr::Int(0) && l.step == 1 && is_stable(&l.upper);
        if !independent || !plain || !facts.proves_natural(&l.upper) || !pays(l) {
            return None;
        }
        let steps = self.steps(l)?;
        let strip = self.name("strip");
        let lane = self.name(&format!("{}_lane", l.var));
        let place = Expr::Int(STRIP) * Expr::Var(strip.clone()) + Expr::Var(lane.clone());
        let body = self.strip(&steps, &lane, &BTreeMap::from([(l.var.clone(), place)]))?;
        let whole = l.upper.clone().floor_div(STRIP);
        let kind = if l.kind == LoopKind::Vector { LoopKind::Sequential } else { l.kind };
        let lower = tidy(&(Expr::Int(STRIP) * whole.clone()));
        // What is left is too little for threads.
        let left = if l.kind == LoopKind::Parallel { LoopKind::Sequential } else { l.kind };
        Some([
            Stmt::Loop(Loop { var: strip, upper: whole, kind, body, ..l.clone() }),
            Stmt::Loop(Loop { lower, kind: left, ..l.clone() }),
        ])
    }

    fn name(&mut self, base: &str) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    /// The assignments of an iteration, with one for the operand of each call and one for the call.
    fn steps(&mut self, l: &Loop) -> Option<Steps> {
        let mut steps = Steps::default();
        for stmt in &l.body {
            match stmt {
                Stmt::Local(local) if local.dims.is_empty() && local.elem.as_scalar().is_some() => {
                    steps.own.insert(local.name.clone(), local.elem.as_scalar()?);
                }
                Stmt::Assign(a) if a.label.is_none() => self.assign(a, l, &mut steps)?,
                _ => return None,
            }
        }
        Some(steps)
    }

    fn assign(&mut self, a: &Assign, l: &Loop, steps: &mut Steps) -> Option<()> {
        let to = &a.target;
        let own = steps.own.contains_key(&to.array);
        let once = a.update.is_none() && !steps.levels.contains_key(&to.array);
        if if own { !once } else { !to.is_adjacent_along(&l.var) } {
            return None;
        }
        let (value, mut level) = self.value(&a.value, l, steps)?;
        for index in &to.indices {
            level = level.max(self.value(index, l, steps)?.1);
        }
        // In the order of the text where the same array is concerned.
        for known in [&steps.levels, &steps.read] {
            level = level.max(known.get(&to.array).copied().unwrap_or(0));
        }
        steps.levels.insert(to.array.clone(), level);
        for access in a.value.loads().chain(to.indices.iter().flat_map(Expr::loads)) {
            let read = steps.read.entry(access.array.clone()).or_default();
            *read = level.max(*read);
        }
        steps.list.push(One { assign: Assign { value, ..a.clone() }, level, call: false });
        Some(())
    }

    /// The expression with calls replaced by what they result in, and when it is known.
    fn value(&mut self, e: &Expr, l: &Loop, steps: &mut Steps) -> Option<(Expr, usize)> {
        match e {
            Expr::Call { .. } => None,
            Expr::Load(access) => {
                let still = access.indices.iter().all(|i| !i.mentions(&l.var) && !i.has_loads());
                let adjacent =
                    access.is_adjacent_along(&l.var) && !access.indices.iter().any(Expr::has_loads);
                let level = steps.levels.get(&access.array).copied().unwrap_or(0);
                (still || adjacent).then(|| (e.clone(), level))
            }
            _ if is_call(e) => {
                let operands: Vec<_> = e.children().cloned().collect();
                let (mut level, mut names) = (0, Vec::new());
                for operand in &operands {
                    let (value, at) = self.value(operand, l, steps)?;
                    let ty = self.types.type_of(operand).ok()?;
                    let name = self.name("strip_call");
                    steps.own.insert(name.clone(), ty);
                    steps.calls.insert(name.clone());
                    let assign = set(&name, value);
                    steps.list.push(One { assign, level: at, call: false });
                    (level, names) = (level.max(at), [names, vec![name]].concat());
                }
                let result = names.first()?.clone();
                let mut operands = names.into_iter().map(|name| Expr::Load(Access::scalar(name)));
                let value = e.map_children(&mut |child| operands.next().unwrap_or_else(|| child.clone()));
                steps.list.push(One { assign: set(&result, value), level: level + 1, call: true });
                Some((Expr::Load(Access::scalar(result)), level + 1))
            }
            _ => {
                let maybe = matches!(e, Expr::Select(..) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..));
                if maybe && e.children().skip(1).any(|child| child.nodes().any(is_call)) {
                    return None;
                }
                let (mut level, mut children) = (0, Vec::new());
                for child in e.children() {
                    let (value, at) = self.value(child, l, steps)?;
                    level = level.max(at);
                    children.push(value);
                }
                let mut children = children.into_iter();
                Some((e.map_children(&mut |old| children.next().unwrap_or_else(|| old.clone())), level))
            }
        }
    }

    /// The loops of a strip, level by level: calls, then arithmetic.
    fn strip(&self, steps: &Steps, lane: &Name, place: &BTreeMap<Name, Expr>) -> Option<Vec<Stmt>> {
        let crossing = steps.crossing();
        if crossing.len() > MOST_ARRAYS {
            return None;
        }
        let mut out = Vec::new();
        for name in &crossing {
            let (elem, dims) = (Elem::Scalar(*steps.own.get(name)?), vec![Expr::Int(STRIP)]);
            out.push(Stmt::Local(ArrayDecl { name: name.clone(), elem, dims, storage: Storage::Stack }));
        }
        let expanded = |one: &One| {
            let spread = |access: &Access| match crossing.contains(&access.array) {
                true => Access { indices: vec![Expr::Var(lane.clone())], ..access.clone() },
                false => access.clone(),
            };
            let value = one.assign.value.map_loads(&mut |access| Expr::Load(spread(&access)));
            let target = spread(&one.assign.target);
            substitute(&[Stmt::Assign(Assign { target, value, ..one.assign.clone() })], place)
        };
        let over = |kind, body| Stmt::Loop(Loop::upto(lane.clone(), Expr::Int(STRIP), kind, body));
        let last = steps.list.iter().map(|one| one.level).max()?;
        for level in 0..=last {
            let here = || steps.list.iter().filter(move |one| one.level == level);
            for one in here().filter(|one| one.call) {
                out.push(over(LoopKind::Sequential, expanded(one)));
            }
            let mut body = Vec::new();
            for one in here().filter(|one| !one.call) {
                let name = &one.assign.target.array;
                if let Some(ty) = steps.own.get(name).filter(|_| !crossing.contains(name)) {
                    body.push(Stmt::local(name.clone(), *ty, Vec::new()));
                }
                body.extend(expanded(one));
            }
            if !body.is_empty() {
                out.push(over(LoopKind::Vector, body));
            }
        }
        Some(out)
    }
}

fn set(name: &Name, value: Expr) -> Assign {
    Assign { label: None, target: Access::scalar(name.clone()), update: None, value }
}

/// An assignment, when it can be made, and whether it is a call.
struct One {
    assign: Assign,
    level: usize,
    call: bool,
}

/// What an iteration does.
#[derive(Default)]
struct Steps {
    list: Vec<One>,
    /// The iteration's own numbers.
    own: BTreeMap<Name, Scalar>,
    /// Those that are operands and results of calls.
    calls: BTreeSet<Name>,
    /// When numbers are known, and up to when arrays are written.
    levels: BTreeMap<Name, usize>,
    /// Up to when something is read: what is written in its place stays behind.
    read: BTreeMap<Name, usize>,
}

impl Steps {
    /// The numbers that pass from one loop of a strip to another.
    fn crossing(&self) -> BTreeSet<Name> {
        let set_at = |name: &Name| {
            let mut all = self.list.iter().filter(|one| one.assign.target.array == *name);
            all.next().map(|one| one.level)
        };
        let later = |name: &&Name| {
            let at = set_at(name);
            self.list.iter().any(|one| Some(one.level) != at && one.assign.value.reads(name))
        };
        self.own.keys().filter(later).chain(&self.calls).cloned().collect()
    }
}

fn is_call(e: &Expr) -> bool {
    match e {
        Expr::Unary(op, _) => op.is_transcendental(),
        Expr::Binary(op, ..) => op.is_transcendental(),
        _ => false,
    }
}

/// Whether there is enough arithmetic for each call.
fn pays(l: &Loop) -> bool {
    let (mut calls, mut work) = (0, 0);
    for stmt in &l.body {
        let Stmt::Assign(a) = stmt else { continue };
        let mut todo = vec![&a.value];
        while let Some(e) = todo.pop() {
            work += match e {
                // Subscripts are no work.
                Expr::Load(_) => continue,
                _ if is_call(e) => {
                    calls += 1;
                    0
                }
                Expr::Binary(BinaryOp::Div, ..) | Expr::Unary(UnaryOp::Sqrt, _) => 4,
                Expr::Binary(..) | Expr::Unary(..) | Expr::Select(..) => 1,
                _ => 0,
            };
            todo.extend(e.children());
        }
    }
    calls > 0 && work >= FOR_EACH_CALL * calls
}
