//! Records, as in `if (x[i] > m) { m = x[i]; at = i; }`: lanes ask whether anything changes, and
//! only strips in which something does are done one element after the other.
//!
//! Each element waits for the record that the ones before it have left, so no compiler makes
//! vectors of such a loop. But of numbers in random order the k-th is a record once in k times. So
//! strips of elements are compared with the record before them, in lanes. If no comparison holds,
//! the strip changes nothing. Else the strip runs as it was written. Nothing is assumed of the
//! order of numbers, so NaN, zeros of both signs and equal elements are treated as in the text.
//! Numbers in ascending order take as long as before.
//!
//! Loops of choices and branches that replace scalars by conditions, of which each compares a
//! scalar with what replaces it; what is compared is side by side in memory. Left out: conditions
//! that are no records, as they may hold often; the maximum of integers alone, of which C compilers
//! make vectors; loops that do something else, and short ones.

mod parts;

use std::collections::{BTreeMap, BTreeSet};

use loops::simplify::tidy;
use loops::typing::Types;
use loops::visit::{check_depth, fresh, taken, with_distinct_locals};
use loops::{
    Access, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt,
    UnaryOp,
};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "speculative-vectorization",
        literature: "vectorization past dependent branches through speculation (Sujon, Whaley, Yi 2013)",
        about: "records such as `if (x[i] > m) m = x[i]`: lanes ask whether a strip has one, and only such strips run in order",
    },
    run: |function| changed(function, speculating(function)),
};

/// Elements of a strip. Measured with 64, 128 and 256: of 1000 numbers in random order, strips of
/// 64 take 0.13 ns an element, of 256 0.20; the text takes 0.6.
const STRIP: i64 = 64;

/// Loops of no more iterations stay as they are: records are frequent at the beginning.
const FEWEST: i64 = 192;

/// The function with such loops in strips. A function that is nested too deeply, or has none, comes
/// back as it is.
fn speculating(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let mut pass =
        Speculation { types: Types::of_all(&distinct), taken: taken(&distinct), found: false, depth: 0 };
    let body = pass.block(&distinct.body);
    match pass.found {
        true => with_own_labels(function, Function { body, ..distinct }),
        false => function.clone(),
    }
}

struct Speculation {
    types: Types,
    taken: BTreeSet<Name>,
    found: bool,
    /// Loops around the place.
    depth: usize,
}

/// The scalars of an iteration, with what they are set to.
type Own<'a> = BTreeMap<&'a Name, Option<&'a Expr>>;

/// What a statement of such a loop does.
enum Item<'a> {
    /// Declares or sets a scalar of the iteration.
    Own(&'a Stmt),
    /// Replaces scalars under a condition: that something changes, and the statement as a branch.
    Change(Expr, Box<Stmt>),
}

impl Speculation {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut one = |stmt: &Stmt| match stmt {
            Stmt::Loop(l) => match self.items(l) {
                Some((items, own)) => {
                    self.found = true;
                    self.records(l, &items, &own)
                }
                None => {
                    self.depth += 1;
                    let body = self.block(&l.body);
                    self.depth -= 1;
                    Stmt::Loop(Loop { body, ..l.clone() })
                }
            },
            other => other.map(&mut Expr::clone, &mut |inner| self.block(inner)),
        };
        stmts.iter().map(&mut one).collect()
    }

    /// The statements of a loop, if it is one of records.
    fn items<'a>(&self, l: &'a Loop) -> Option<(Vec<Item<'a>>, Own<'a>)> {
        let short = matches!((&l.lower, &l.upper), (Expr::Int(from), Expr::Int(to)) if to - from <= FEWEST);
        if l.kind != LoopKind::Sequential || l.step != 1 || !l.reductions.is_empty() || short {
            return None;
        }
        let mut own = Own::new();
        let mut items = Vec::with_capacity(l.body.len());
        for stmt in &l.body {
            match stmt {
                Stmt::Local(local) if local.dims.is_empty() => {
                    own.insert(&local.name, None);
                    items.push(Item::Own(stmt));
                }
                Stmt::Assign(a) if own.get(&a.target.array).is_some_and(Option::is_none) => {
                    if a.update.is_some() || !a.target.path.is_empty() {
                        return None;
                    }
                    own.insert(&a.target.array, Some(&a.value));
                    items.push(Item::Own(stmt));
                }
                Stmt::Assign(_) | Stmt::If { .. } => {
                    let branch = as_branch(stmt)?;
                    // Branches under one condition that is decided before are one.
                    if !joined(items.last_mut(), &branch, &own) {
                        items.push(Item::Change(condition(&branch, &own)?, Box::new(branch)));
                    }
                }
                _ => return None,
            }
        }
        self.pays(l, &items, &own).then_some((items, own))
    }

    /// Whether the loop has records, in lanes and of a kind that C compilers make no vectors of.
    fn pays(&self, l: &Loop, items: &[Item<'_>], own: &Own<'_>) -> bool {
        let (mut written, mut asked) = (BTreeSet::new(), Vec::new());
        let mut alone = true;
        for item in items {
            match item {
                Item::Own(Stmt::Assign(a)) => asked.push(&a.value),
                Item::Own(_) => {}
                Item::Change(_, branch) if !is_record(branch, own) => return false,
                Item::Change(cond, branch) => {
                    asked.push(cond);
                    let assigns: Vec<&Assign> =
                        loops::visit::assigns(std::slice::from_ref(&**branch)).collect();
                    alone &= assigns.len() == 1;
                    written.extend(assigns.iter().map(|a| &a.target.array));
                }
            }
        }
        let integer = |name: &&Name| matches!(self.types.array(name), Some((Elem::Scalar(scalar), 0)) if scalar.is_int());
        let fixed =
            |e: &Expr| !written.iter().any(|name| e.reads(name)) && !own.keys().any(|name| e.reads(name));
        let vectors = alone && written.iter().all(integer);
        let adjacent = asked.iter().any(|e| e.loads().any(|access| access.is_adjacent_along(&l.var)));
        !written.is_empty()
            && !vectors
            && adjacent
            && fixed(&l.lower)
            && fixed(&l.upper)
            && asked.iter().all(|e| in_lanes(e, &l.var))
    }

    /// A name that the function does not have.
    fn name(&mut self, base: &str) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    /// The loop in strips, unless it is short; in parts for threads, if it is long and no loop is
    /// around it.
    fn records(&mut self, l: &Loop, items: &[Item<'_>], own: &Own<'_>) -> Stmt {
        let parts = (self.depth == 0).then(|| self.parts(l, items, own)).flatten();
        let strips = self.strips(l, items);
        let all = tidy(&(l.upper.clone() - l.lower.clone()));
        let otherwise = match all {
            Expr::Int(_) => strips,
            all => Stmt::If {
                cond: Expr::compare(CompareOp::Gt, all, Expr::Int(FEWEST)),
                then: vec![strips],
                otherwise: vec![Stmt::Loop(Loop { body: in_order(items), ..l.clone() })],
            },
        };
        match parts {
            Some((long, then)) => Stmt::If { cond: long, then, otherwise: vec![otherwise] },
            None => otherwise,
        }
    }

    /// The loop in strips.
    fn strips(&mut self, l: &Loop, items: &[Item<'_>]) -> Stmt {
        let (strip, hits) = (self.name(&format!("{}_strip", l.var)), self.name("hits"));
        let from = tidy(&(l.lower.clone() + Expr::Var(strip.clone()) * Expr::Int(STRIP)));
        let to = tidy(&(from.clone() + Expr::Int(STRIP))).min(l.upper.clone());
        let range = |kind, reductions, body| {
            Stmt::Loop(Loop { lower: from.clone(), upper: to.clone(), kind, reductions, body, ..l.clone() })
        };
        let counter = self.counter(items);
        let number = |value| Expr::constant(counter, value);
        let count = Access::scalar(hits.clone());
        let (mut asking, mut changes) = (Vec::new(), None::<Expr>);
        for item in items {
            match (item, changes.take()) {
                (Item::Own(stmt), before) => {
                    asking.push((*stmt).clone());
                    changes = before;
                }
                (Item::Change(cond, _), Some(before)) => {
                    changes = Some(Expr::binary(BinaryOp::Or, before, cond.clone()));
                }
                (Item::Change(cond, _), None) => changes = Some(cond.clone()),
            }
        }
        let changes = changes.unwrap_or(Expr::Bool(false));
        let hit = Expr::Select(Box::new(changes), Box::new(number(1)), Box::new(number(0)));
        asking.push(Stmt::reduce(count.clone(), ReduceOp::Add, hit));
        let body = vec![
            Stmt::local(hits.clone(), counter, Vec::new()),
            Stmt::assign(count.clone(), number(0)),
            range(LoopKind::Vector, vec![(ReduceOp::Add, hits)], asking),
            Stmt::when(
                Expr::compare(CompareOp::Gt, Expr::Load(count), number(0)),
                vec![range(LoopKind::Sequential, Vec::new(), in_order(items))],
            ),
        ];
        let all = tidy(&(l.upper.clone() - l.lower.clone()));
        let strips = tidy(&(all.clone() + Expr::Int(STRIP - 1))).floor_div(Expr::Int(STRIP));
        Stmt::Loop(Loop::upto(strip, strips, LoopKind::Sequential, body))
    }

    /// The type of a counter that is as wide as what is compared, so that both have as many lanes.
    fn counter(&self, items: &[Item<'_>]) -> Scalar {
        let wide = |e: &Expr| match self.types.type_of(e) {
            Ok(scalar) => scalar.bytes() > 4,
            Err(_) => true,
        };
        let compared = |e: &Expr| e.nodes().any(|e| matches!(e, Expr::Compare(_, a, _) if wide(a)));
        let any = items.iter().any(|item| match item {
            Item::Own(Stmt::Assign(a)) => compared(&a.value),
            Item::Own(_) => false,
            Item::Change(cond, _) => compared(cond),
        });
        if any { Scalar::I64 } else { Scalar::I32 }
    }
}

/// The statements of an iteration, with branches in the place of choices.
fn in_order(items: &[Item<'_>]) -> Vec<Stmt> {
    let one = |item: &Item<'_>| match item {
        Item::Own(stmt) => (*stmt).clone(),
        Item::Change(_, branch) => (**branch).clone(),
    };
    items.iter().map(one).collect()
}

/// The value that a scalar of the iteration is set to, in the place of its name.
fn resolved<'a>(e: &'a Expr, own: &Own<'a>) -> &'a Expr {
    match e {
        Expr::Load(access) => own.get(&access.array).copied().flatten().unwrap_or(e),
        _ => e,
    }
}

fn is_own(e: &Expr, own: &Own<'_>) -> bool {
    matches!(e, Expr::Load(access) if own.contains_key(&access.array))
}

/// A choice between a new value and the old one as a branch; a branch as it is.
fn as_branch(stmt: &Stmt) -> Option<Stmt> {
    let Stmt::Assign(a) = stmt else { return Some(stmt.clone()) };
    let Expr::Select(cond, new, old) = &a.value else { return None };
    let own = |e: &Expr| matches!(e, Expr::Load(access) if *access == a.target);
    let (cond, value) = match (own(old), own(new)) {
        (true, false) => ((**cond).clone(), new),
        (false, true) => (Expr::unary(UnaryOp::Not, (**cond).clone()), old),
        _ => return None,
    };
    let plain = a.update.is_none() && a.target.indices.is_empty();
    plain.then(|| Stmt::when(cond, vec![Stmt::Assign(Assign { value: (**value).clone(), ..a.clone() })]))
}

/// Adds a branch to the one before it, if that has the same condition, a scalar of the iteration;
/// whether it did.
fn joined(last: Option<&mut Item<'_>>, branch: &Stmt, own: &Own<'_>) -> bool {
    let Some(Item::Change(_, one)) = last else { return false };
    let Stmt::If { cond: before, then, otherwise } = &mut **one else { return false };
    let Stmt::If { cond, then: more, otherwise: other } = branch else { return false };
    let one = before == cond && is_own(cond, own) && otherwise.is_empty() && other.is_empty();
    if one && condition(branch, own).is_some() {
        then.extend(more.iter().cloned());
        return true;
    }
    false
}

/// The condition under which a branch changes something, if it replaces scalars alone.
fn condition(branch: &Stmt, own: &Own<'_>) -> Option<Expr> {
    let Stmt::If { cond, then, otherwise } = branch else { return None };
    let replaces = |stmt: &Stmt| match stmt {
        Stmt::Assign(a) => a.target.indices.is_empty() && !own.contains_key(&a.target.array),
        _ => false,
    };
    if then.is_empty() || !then.iter().all(replaces) {
        return None;
    }
    match otherwise.as_slice() {
        [] => Some(cond.clone()),
        [other] => Some(Expr::binary(BinaryOp::Or, cond.clone(), condition(other, own)?)),
        _ => None,
    }
}

/// Whether a branch is taken for a record: of the scalars that it replaces, one is compared with
/// what replaces it. The other branch is such a one, if there is one.
fn is_record(branch: &Stmt, own: &Own<'_>) -> bool {
    let Stmt::If { cond, then, otherwise } = branch else { return false };
    let one = |a: &Assign| a.update.is_none() && record(cond, a, own, DEEPEST).is_some();
    loops::visit::assigns(then).any(one) && otherwise.iter().all(|other| is_record(other, own))
}

/// How far conditions are looked into.
const DEEPEST: usize = 16;

/// How a condition, or its negation, compares what an assignment sets with what it was, if it holds
/// only where that is above or below.
fn record(cond: &Expr, a: &Assign, own: &Own<'_>, depth: usize) -> Option<CompareOp> {
    let depth = depth.checked_sub(1)?;
    let old = |e: &Expr| matches!(e, Expr::Load(access) if *access == a.target);
    let new = |e: &Expr| *e == a.value || *resolved(e, own) == *resolved(&a.value, own);
    match resolved(cond, own) {
        Expr::Compare(CompareOp::Eq | CompareOp::Ne, ..) => None,
        Expr::Compare(op, left, right) if new(left) && old(right) => Some(*op),
        Expr::Compare(op, left, right) if old(left) && new(right) => Some(op.mirrored()),
        Expr::Binary(BinaryOp::And, left, right) => {
            record(left, a, own, depth).or_else(|| record(right, a, own, depth))
        }
        Expr::Unary(UnaryOp::Not, inner) => record(inner, a, own, depth),
        _ => None,
    }
}

/// Whether C compilers make vectors of an expression in a loop over `var`: arithmetic on elements
/// side by side, and on what is the same in all iterations.
fn in_lanes(e: &Expr, var: &Name) -> bool {
    match e {
        Expr::Load(access) => {
            access.is_adjacent_along(var)
                || access.indices.iter().all(|index| !index.mentions(var) && !index.has_loads())
        }
        Expr::Call { .. } => false,
        Expr::Unary(op, a) => {
            matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Not) && in_lanes(a, var)
        }
        Expr::Binary(op, a, b) => {
            let simple = matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::And | BinaryOp::Or
            );
            simple && in_lanes(a, var) && in_lanes(b, var)
        }
        other => other.children().all(|child| in_lanes(child, var)),
    }
}
