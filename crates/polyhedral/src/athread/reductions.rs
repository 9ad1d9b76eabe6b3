//! Reductions across cores: a sum (product, least, largest) over all iterations of a loop gets a
//! partial result for each block of iterations.
//!
//! The blocks are a parallel loop, which the mapping spreads over the cores like any other; the
//! host combines the partial results in the order of the blocks. So the result depends on the size
//! of a block, and not on the number of cores or on which of them was first. Only where that is
//! allowed: always for integers, truth values and extrema, which are exact; for sums and products
//! of floating point where the update is declared to be reorderable.
//!
//! Not here: sums with an element for each iteration of a parallel loop (rows of a matrix), which
//! need no partial results.

use std::collections::{BTreeMap, BTreeSet};

use loops::simplify::tidy;
use loops::visit::{assigns, fresh, locals, nodes};
use loops::{
    Access, ArrayDecl, Assign, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt,
    Storage, Update, Value,
};

use super::Options;

/// Below so many iterations a reduction inside a sequential loop stays on the host: a spawn costs
/// more.
const WORTH_A_SPAWN: i64 = 10_000;
/// Iterations of a block, at most.
const LARGEST: i64 = 1024;

/// A function with partial results.
pub(super) struct Blocked {
    /// The function.
    pub function: Function,
    /// Whether floating-point sums or products are added in another order.
    pub reassociated: bool,
    /// A line for each array of partial results.
    pub notes: Vec<String>,
    /// What they are partial results of.
    pub targets: Vec<Name>,
    /// What the loops of the host make that combine them, as a line about these loops says it.
    pub combined: Vec<String>,
}

/// The function with reductions in blocks; none if there are none.
pub(super) fn blocks(function: &Function, options: &Options) -> Option<Blocked> {
    let taken = loops::visit::taken(function);
    let types = types(function);
    let mut pass = Pass {
        function,
        options,
        taken,
        types,
        partial: vec![],
        reassociated: false,
        notes: vec![],
        targets: vec![],
    };
    let body = pass.block(&function.body, false);
    if pass.partial.is_empty() {
        return None;
    }
    let body = std::mem::take(&mut pass.partial).into_iter().map(Stmt::Local).chain(body).collect();
    let function = Function { body, ..function.clone() };
    let Pass { reassociated, notes, targets, .. } = pass;
    let combined = targets.iter().map(|name| format!("`{name}`")).collect();
    Some(Blocked { function, reassociated, notes, targets, combined })
}

/// The function with `x = x op e` as the update `x op= e`, for the operations that updates have;
/// where a condition chooses between that and `x`, of the neutral element. `loosely`: also where
/// that changes the sign of a zero or which NaN comes out.
pub(crate) fn with_updates(function: &Function, loosely: bool) -> Function {
    let types = types(function);
    fn block(body: &[Stmt], update: &dyn Fn(&Assign) -> Option<Assign>) -> Vec<Stmt> {
        let stmt = |stmt: &Stmt| match stmt.map(&mut Expr::clone, &mut |inner| block(inner, update)) {
            Stmt::Assign(assign) => Stmt::Assign(update(&assign).unwrap_or(assign)),
            other => other,
        };
        body.iter().map(stmt).collect()
    }
    let update = |assign: &Assign| -> Option<Assign> {
        let Some(Elem::Scalar(scalar)) = types.get(&assign.target.array) else { return None };
        let (op, value) = as_update(&assign.target, &assign.value, *scalar, loosely || !scalar.is_float())?;
        let plain = assign.update.is_none() && value.loads().all(|access| *access != assign.target);
        let update = Some(Update { op, reorder: false });
        plain.then(|| Assign { update, value, ..assign.clone() })
    };
    Function { body: block(&function.body, &update), ..function.clone() }
}

/// Operation and operand of a value that is an update of `target`.
fn as_update(target: &Access, value: &Expr, scalar: Scalar, loosely: bool) -> Option<(ReduceOp, Expr)> {
    let is_target = |e: &Expr| matches!(e, Expr::Load(access) if access == target);
    match value {
        Expr::Binary(op, a, b) => {
            let op = ReduceOp::ALL.into_iter().find(|reduce| reduce.binary() == *op)?;
            match (is_target(a), is_target(b)) {
                (true, false) => Some((op, (**b).clone())),
                (false, true) => Some((op, (**a).clone())),
                _ => None,
            }
        }
        Expr::Select(cond, x, y) if loosely && is_target(x) != is_target(y) => {
            let other = if is_target(x) { y } else { x };
            if let Expr::Compare(compare, a, b) = &**cond
                && ((is_target(a) && b == other) || (a == other && is_target(b)))
            {
                // What is chosen where it is on the smaller side is the smaller one.
                let less = match compare {
                    CompareOp::Lt | CompareOp::Le => a == x,
                    CompareOp::Gt | CompareOp::Ge => b == x,
                    CompareOp::Eq | CompareOp::Ne => return None,
                };
                return Some((if less { ReduceOp::Min } else { ReduceOp::Max }, (**other).clone()));
            }
            let (op, operand) = as_update(target, other, scalar, false)?;
            let (neutral, operand) = (Box::new(identity(op, scalar)), Box::new(operand));
            let (x, y) = if is_target(x) { (neutral, operand) } else { (operand, neutral) };
            Some((op, Expr::Select(cond.clone(), x, y)))
        }
        _ => None,
    }
}

/// Element types of parameters and local arrays.
pub(super) fn types(function: &Function) -> BTreeMap<Name, Elem> {
    let mut types: BTreeMap<Name, Elem> =
        function.params.iter().map(|p| (p.name.clone(), p.elem.clone())).collect();
    for local in locals(&function.body) {
        types.insert(local.name.clone(), local.elem.clone());
    }
    types
}

/// The function with every update in the order of the text: what the mapping works on.
pub(super) fn ordered(function: &Function) -> Function {
    fn block(body: &[Stmt]) -> Vec<Stmt> {
        let stmt = |stmt: &Stmt| match stmt.map(&mut Expr::clone, &mut block) {
            Stmt::Assign(assign) => {
                let update = assign.update.map(|update| Update { reorder: false, ..update });
                Stmt::Assign(Assign { update, ..assign })
            }
            other => other,
        };
        body.iter().map(stmt).collect()
    }
    Function { body: block(&function.body), ..function.clone() }
}

struct Pass<'a> {
    function: &'a Function,
    options: &'a Options,
    taken: BTreeSet<Name>,
    types: BTreeMap<Name, Elem>,
    partial: Vec<ArrayDecl>,
    reassociated: bool,
    notes: Vec<String>,
    targets: Vec<Name>,
}

/// What a loop accumulates into: the same element in all iterations.
struct Accumulator {
    target: Access,
    update: Update,
    scalar: Scalar,
}

impl Pass<'_> {
    fn name(&mut self, base: &str) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    fn block(&mut self, body: &[Stmt], inside: bool) -> Vec<Stmt> {
        let mut result = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Loop(l) => match self.accumulators(l, inside) {
                    found if found.is_empty() => {
                        let body = self.block(&l.body, true);
                        result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                    }
                    found => match apart(l, &found) {
                        Some((sums, rest)) => {
                            result.extend(self.in_blocks(&sums, found));
                            result.extend(self.block(&[Stmt::Loop(rest)], inside));
                        }
                        None => result.extend(self.in_blocks(l, found)),
                    },
                },
                Stmt::Block { mark, body } => {
                    result.push(Stmt::Block { mark: mark.clone(), body: self.block(body, inside) });
                }
                Stmt::If { cond, then, otherwise } => result.push(Stmt::If {
                    cond: cond.clone(),
                    then: self.block(then, inside),
                    otherwise: self.block(otherwise, inside),
                }),
                other => result.push(other.clone()),
            }
        }
        result
    }

    /// The elements that a loop only updates, by one operation each.
    fn accumulators(&self, l: &Loop, inside: bool) -> Vec<Accumulator> {
        let of_sizes = |e: &Expr| e.is_over(&self.function.sizes);
        let plain = l.step == 1 && of_sizes(&l.lower) && of_sizes(&l.upper);
        if !plain || (inside && self.work(l) < WORTH_A_SPAWN) {
            return Vec::new();
        }
        let mut found: Vec<Accumulator> = Vec::new();
        let mut excluded: BTreeSet<Name> = BTreeSet::new();
        for s in nodes(&l.body) {
            s.exprs().into_iter().for_each(|e| excluded.extend(e.arrays()));
            match s {
                Stmt::Local(local) => {
                    excluded.insert(local.name.clone());
                }
                Stmt::Copy(copy) => excluded.extend([copy.from.array.clone(), copy.to.array.clone()]),
                Stmt::Assign(assign) => {
                    let target = &assign.target;
                    let scalar = match self.types.get(&target.array) {
                        Some(Elem::Scalar(scalar)) => Some(*scalar),
                        _ => None,
                    };
                    match (assign.update, scalar) {
                        (Some(update), Some(scalar))
                            if target.path.is_empty()
                                && target.indices.iter().all(of_sizes)
                                && allowed(update, scalar) =>
                        {
                            match found.iter().find(|a| a.target.array == target.array) {
                                None => found.push(Accumulator { target: target.clone(), update, scalar }),
                                Some(a) if a.target == *target && a.update.op == update.op => {}
                                Some(_) => {
                                    excluded.insert(target.array.clone());
                                }
                            }
                        }
                        _ => {
                            excluded.insert(target.array.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        found.retain(|a| !excluded.contains(&a.target.array));
        found
    }

    /// Iterations of a loop and of those in it, at the sizes that tiles are chosen for.
    fn work(&self, l: &Loop) -> i64 {
        let inner =
            l.body.iter().filter_map(|s| if let Stmt::Loop(l) = s { Some(self.work(l)) } else { None });
        let own = trips(l, self.options).unwrap_or(super::tile_sizes::UNKNOWN);
        own.saturating_mul(inner.max().unwrap_or(1))
    }

    /// The loop over blocks, and the combination of what they leave.
    fn in_blocks(&mut self, l: &Loop, accumulators: Vec<Accumulator>) -> Vec<Stmt> {
        let size = block_size(l, self.options);
        let block = self.name("block");
        let length = tidy(&(l.upper.clone() - l.lower.clone()));
        let count = tidy(&(length + (size - 1))).floor_div(size).max(0);
        let mut body = Vec::new();
        let mut combined = Vec::new();
        let mut partial = BTreeMap::new();
        for Accumulator { target, update, scalar } in accumulators {
            let name = self.name(&format!("{}_partial", target.array));
            self.targets.push(target.array.clone());
            self.notes.push(format!(
                "`{}` has a partial result for each {size} iterations, combined in their order",
                target.array
            ));
            self.reassociated |= scalar.is_float() && matches!(update.op, ReduceOp::Add | ReduceOp::Mul);
            self.partial.push(ArrayDecl {
                name: name.clone(),
                elem: Elem::Scalar(scalar),
                dims: vec![count.clone()],
                storage: Storage::Heap,
            });
            let own = Access::element(name, vec![Expr::Var(block.clone())]);
            body.push(Stmt::assign(own.clone(), identity(update.op, scalar)));
            let var = self.name("block");
            let part = Access { indices: vec![Expr::Var(var.clone())], ..own.clone() };
            let add =
                Assign { label: None, target: target.clone(), update: Some(update), value: Expr::Load(part) };
            let add = vec![Stmt::Assign(add)];
            combined.push(Stmt::Loop(Loop::upto(var, count.clone(), LoopKind::Sequential, add)));
            partial.insert(target.array, own);
        }
        let first = tidy(&(l.lower.clone() + Expr::Var(block.clone()) * size));
        body.push(Stmt::Loop(Loop {
            lower: first.clone(),
            upper: l.upper.clone().min(tidy(&(first + size))),
            kind: LoopKind::Sequential,
            reductions: Vec::new(),
            body: to_partial(&l.body, &partial),
            ..l.clone()
        }));
        let blocks = Loop::upto(block, count, LoopKind::Sequential, body);
        std::iter::once(Stmt::Loop(blocks)).chain(combined).collect()
    }
}

/// Iterations of a loop at the sizes that tiles are chosen for, if these are said.
pub(super) fn trips(l: &Loop, options: &Options) -> Option<i64> {
    let length = l.upper.clone() - l.lower.clone();
    let known = length.vars().iter().all(|var| options.hints.contains_key(var));
    known.then(|| {
        let value = |name: &Name| options.hints.get(name).map(|n| Expr::Int(*n));
        match tidy(&length.substitute(&value)) {
            Expr::Int(n) => n.max(0),
            _ => super::tile_sizes::UNKNOWN,
        }
    })
}

/// Iterations of a block that has a partial result.
pub(super) fn block_size(l: &Loop, options: &Options) -> i64 {
    let nest = l.body.iter().any(|s| matches!(s, Stmt::Loop(_)));
    match trips(l, options) {
        Some(n) => {
            let each = (n / options.grid.cores().max(1)).max(1);
            (1 << each.ilog2()).clamp(if nest { 1 } else { 8 }, LARGEST)
        }
        None if nest => 8,
        None => 256,
    }
}

/// A loop as one with the updates of accumulators and one with the rest, which may be a chain; none
/// if there is no rest, or if the updates need it.
fn apart(l: &Loop, accumulators: &[Accumulator]) -> Option<(Loop, Loop)> {
    let accumulates = |assign: &Assign| accumulators.iter().any(|a| a.target.array == assign.target.array);
    let sums = only(&l.body, &accumulates);
    let rest = only(&l.body, &|assign| !accumulates(assign));
    let (mut needed, mut written, mut plain) = (BTreeSet::new(), BTreeSet::new(), true);
    for s in nodes(&l.body) {
        plain &= !matches!(s, Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_))
    }
    for s in nodes(&sums) {
        s.exprs().into_iter().for_each(|e| needed.extend(e.arrays()))
    }
    written.extend(assigns(&rest).map(|assign| assign.target.array.clone()));
    let with = |body| Loop { body, ..l.clone() };
    (plain && !written.is_empty() && needed.is_disjoint(&written)).then(|| (with(sums), with(rest)))
}

/// Statements with only the assignments that are wanted, and what is around them.
fn only(body: &[Stmt], wanted: &dyn Fn(&Assign) -> bool) -> Vec<Stmt> {
    let mut result = Vec::new();
    for stmt in body {
        let kept = match stmt {
            Stmt::Assign(assign) => wanted(assign).then(|| stmt.clone()),
            Stmt::Loop(l) => {
                let body = only(&l.body, wanted);
                (!body.is_empty()).then(|| Stmt::Loop(Loop { body, ..l.clone() }))
            }
            Stmt::Block { mark, body } => {
                let body = only(body, wanted);
                (!body.is_empty()).then(|| Stmt::Block { mark: mark.clone(), body })
            }
            Stmt::If { cond, then, otherwise } => {
                let (then, otherwise) = (only(then, wanted), only(otherwise, wanted));
                let empty = then.is_empty() && otherwise.is_empty();
                (!empty).then(|| Stmt::If { cond: cond.clone(), then, otherwise })
            }
            other => Some(other.clone()),
        };
        result.extend(kept);
    }
    result
}

/// Whether partial results may be combined: they are exact, or the program says so.
pub(super) fn allowed(update: Update, scalar: Scalar) -> bool {
    let exact = !scalar.is_float() || matches!(update.op, ReduceOp::Min | ReduceOp::Max);
    update.reorder || exact
}

/// The greatest or the least integer of a type.
fn extreme(scalar: Scalar, greatest: bool) -> Expr {
    Value::extreme(scalar, greatest).map_or(Expr::constant(scalar, 0), Expr::from)
}

/// What an operation leaves as it is. An extremum of floating point gives way to a number only if
/// it is not one.
pub(super) fn identity(op: ReduceOp, scalar: Scalar) -> Expr {
    match (op, scalar) {
        (ReduceOp::Add, _) => Expr::constant(scalar, 0),
        (ReduceOp::Mul | ReduceOp::And, _) => Expr::constant(scalar, 1),
        (ReduceOp::Or, _) => Expr::constant(scalar, 0),
        (ReduceOp::Min | ReduceOp::Max, Scalar::F32) => Expr::f32(f32::NAN),
        (ReduceOp::Min | ReduceOp::Max, Scalar::F64) => Expr::f64(f64::NAN),
        (ReduceOp::Min, Scalar::Bool) => Expr::Bool(true),
        (ReduceOp::Max, Scalar::Bool) => Expr::Bool(false),
        (ReduceOp::Min, _) => extreme(scalar, true),
        (ReduceOp::Max, _) => extreme(scalar, false),
    }
}

/// Statements that update the partial results in place of the accumulators. Loops in them run in
/// order.
fn to_partial(body: &[Stmt], partial: &BTreeMap<Name, Access>) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt.map(&mut Expr::clone, &mut |inner| to_partial(inner, partial)) {
            Stmt::Assign(assign) => match partial.get(&assign.target.array) {
                Some(own) => Stmt::Assign(Assign { target: own.clone(), ..assign }),
                None => Stmt::Assign(assign),
            },
            Stmt::Loop(l) if l.reductions.iter().any(|(_, name)| partial.contains_key(name)) => {
                Stmt::Loop(Loop { kind: LoopKind::Sequential, reductions: Vec::new(), ..l })
            }
            other => other,
        })
        .collect()
}
