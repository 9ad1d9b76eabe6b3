//! Bounds for ranks and numbers of branches: large enough that no number in the rule lies beyond.
//!
//! Proofs go through ranks and branches up to a bound, and models are drawn up to one. A rule may
//! behave differently from some number on (`if x.rank >= 6 then …`). That number occurs in the
//! rule. This module finds all places where a number of the rule is compared with a rank, an axis,
//! a length or a branch. If it is not clear how far such a place reaches, the bound is larger than
//! necessary.

use std::collections::{BTreeMap, HashMap, HashSet};

use graph::operators::{self, Role};

pub(super) mod parts;

use parts::{children, expressions, numbers};

use crate::rule::{
    Action, AttributeItem, BinaryOp, Binding, Clause, Count, Each, Expr, ExprKind, Function, Pattern, Rule,
    UnaryOp,
};

/// How deep expressions are followed.
const MAX_DEPTH: usize = 64;

/// Up to where a rule tells ranks and branches apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Reach {
    /// Ranks of tensors.
    pub rank: usize,
    /// Branches of a variadic part, results of a split.
    pub branches: usize,
}

/// What a value depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Of {
    rank: bool,
    branches: bool,
    /// It is a place among them, counted from 0.
    place: bool,
}

impl Of {
    fn or(self, other: Of) -> Of {
        Of {
            rank: self.rank || other.rank,
            branches: self.branches || other.branches,
            place: self.place || other.place,
        }
    }

    fn any(self) -> bool {
        self.rank || self.branches
    }
}

/// A sum of parts with factors, and a number. It saturates, where the forms of `arith` have no
/// value: here a number only says how far to look.
#[derive(Clone, Debug, Default)]
struct Linear {
    number: i64,
    parts: BTreeMap<String, (i64, Of)>,
    /// Numbers inside of parts that are not sums: what is added to the number, and its factor.
    more: i64,
    times: i64,
}

impl Linear {
    fn plus(mut self, other: &Linear, factor: i64) -> Linear {
        self.number = self.number.saturating_add(other.number.saturating_mul(factor));
        for (name, (k, of)) in &other.parts {
            let part = self.parts.entry(name.clone()).or_insert((0, *of));
            part.0 = part.0.saturating_add(k.saturating_mul(factor));
        }
        self.parts.retain(|_, (k, _)| *k != 0);
        self.more = self.more.saturating_add(other.more);
        self.times = self.times.max(1).saturating_mul(other.times.max(1));
        self
    }

    fn constant(&self) -> Option<i64> {
        self.parts.is_empty().then_some(self.number)
    }
}

struct Walk<'a> {
    rule: &'a Rule,
    lets: HashMap<&'a str, &'a Expr>,
    /// Inputs whose elements are axes.
    axes: HashSet<String>,
    /// Symbols that maps and folds bind, with what their values depend on.
    bound: Vec<(String, Of)>,
    depth: usize,
    reach: Reach,
}

/// Up to where a rule tells ranks and branches apart.
pub(super) fn reach(rule: &Rule) -> Reach {
    let mut walk = Walk {
        rule,
        lets: HashMap::new(),
        axes: HashSet::new(),
        bound: Vec::new(),
        depth: 0,
        reach: Reach::default(),
    };
    for line in &rule.source {
        walk.axes_of(&line.value.pattern);
    }
    for line in &rule.conditions {
        if let Clause::Let(name, e) = &line.value {
            walk.lets.insert(&name.text, e);
        }
    }
    for line in &rule.target {
        if let Action::Let(name, e) = &line.value {
            walk.lets.insert(&name.text, e);
        }
    }
    for index in &rule.indices {
        let (Count::AtLeast(e) | Count::Between(e, _) | Count::Exactly(e)) = &index.count;
        let more = i64::from(!matches!(index.count, Count::Exactly(_)));
        if let Some(n) = walk.linear(e).constant() {
            walk.need(BRANCHES, n.saturating_add(more));
        }
    }
    for line in &rule.source {
        walk.binding(&line.value, true);
    }
    for line in &rule.conditions {
        let (Clause::Require(e) | Clause::Let(_, e)) = &line.value;
        walk.expr(e);
    }
    for line in &rule.target {
        match &line.value {
            Action::Bind(binding) => walk.binding(binding, false),
            Action::Let(_, e) => walk.expr(e),
        }
    }
    walk.reach
}

/// The numbers of a rule that it may compare extents with.
pub(super) fn extents(rule: &Rule) -> Vec<usize> {
    fn go(e: &Expr, out: &mut Vec<usize>) {
        if let ExprKind::Int(n) = e.kind
            && (5..=64).contains(&n)
        {
            out.extend([n as usize, n as usize + 1]);
        }
        children(e, &mut |e| go(e, out));
    }
    let mut out = Vec::new();
    for line in &rule.conditions {
        let (Clause::Require(e) | Clause::Let(_, e)) = &line.value;
        go(e, &mut out);
    }
    for line in &rule.target {
        match &line.value {
            Action::Bind(binding) => expressions(&binding.pattern, &mut |e| go(e, &mut out)),
            Action::Let(_, e) => go(e, &mut out),
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// The input of an operator that holds axes.
fn axes_slot(op: &str) -> Option<usize> {
    operators::lookup("", op)?.slot(Role::Axes)
}

/// Attributes whose values are axes.
fn is_axis(name: &str) -> bool {
    matches!(name, "axis" | "axes" | "perm" | "batch_dims" | "start" | "end")
}

const RANK: Of = Of { rank: true, branches: false, place: false };
const BRANCHES: Of = Of { rank: false, branches: true, place: false };
const BOTH: Of = Of { rank: true, branches: true, place: false };

impl<'a> Walk<'a> {
    fn need(&mut self, of: Of, n: i64) {
        let n = usize::try_from(n).unwrap_or(0);
        if of.rank {
            self.reach.rank = self.reach.rank.max(n);
        }
        if of.branches {
            self.reach.branches = self.reach.branches.max(n);
        }
    }

    fn axes_of(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Call(call) => {
                for (k, argument) in call.arguments.iter().enumerate() {
                    let here = axes_slot(&call.operator.name) == Some(k);
                    match argument {
                        Pattern::Ref(var) if here => {
                            self.axes.insert(var.name.text.clone());
                        }
                        Pattern::Optional(name) if here => {
                            self.axes.insert(name.text.clone());
                        }
                        Pattern::Constant { value, .. } if here => self.axis(value),
                        _ => self.axes_of(argument),
                    }
                }
            }
            Pattern::Item(base, _) | Pattern::Spread(base, _) => self.axes_of(base),
            Pattern::Tuple(of, _) | Pattern::Either(of, _) => of.iter().for_each(|p| self.axes_of(p)),
            _ => {}
        }
    }

    /// An axis, or several, with which what is there is compared.
    fn axis(&mut self, e: &Expr) {
        if let ExprKind::Tuple(items) = &e.kind {
            self.need(RANK, items.len() as i64);
            items.iter().for_each(|e| self.axis(e));
        } else if let Some(n) = self.linear(e).constant() {
            self.need(RANK, if n < 0 { n.saturating_neg() } else { n.saturating_add(1) });
        }
    }

    fn binding(&mut self, binding: &'a Binding, source: bool) {
        for var in binding.names.iter().flatten() {
            if let Some(e) = &var.index {
                self.index(e);
            }
        }
        self.pattern(&binding.pattern, source, 0);
    }

    fn pattern(&mut self, pattern: &'a Pattern, source: bool, depth: usize) {
        if depth > MAX_DEPTH {
            return self.need(BOTH, i64::MAX);
        }
        match pattern {
            Pattern::Ref(var) => {
                if let Some(e) = &var.index {
                    self.index(e);
                }
            }
            Pattern::Item(base, e) => {
                self.pattern(base, source, depth + 1);
                self.index(e);
            }
            Pattern::Call(call) => {
                call.arguments.iter().for_each(|p| self.pattern(p, source, depth + 1));
                for item in &call.attributes {
                    let AttributeItem::Is(name, e) = item else { continue };
                    self.expr(e);
                    if source && is_axis(&name.text) {
                        self.axis(e);
                    } else if source && let ExprKind::Tuple(items) = &e.kind {
                        self.length(&name.text, items.len());
                    }
                }
            }
            Pattern::Spread(base, _) => self.pattern(base, source, depth + 1),
            Pattern::Tuple(of, _) | Pattern::Either(of, _) | Pattern::Case(_, of, _) => {
                of.iter().for_each(|p| self.pattern(p, source, depth + 1));
            }
            Pattern::If(c, p, q, _) => {
                self.expr(c);
                self.pattern(p, source, depth + 1);
                self.pattern(q, source, depth + 1);
            }
            Pattern::Constant { value, .. } => self.expr(value),
            Pattern::Wildcard(_) | Pattern::Optional(_) => {}
        }
    }

    /// The rank at which an attribute, or a shape, has so many numbers.
    fn length(&mut self, name: &str, n: usize) {
        let n = n as i64;
        let rank = match name {
            "pads" => n / 2 + 2,
            "strides" | "dilations" | "kernel_shape" | "output_padding" => n.saturating_add(2),
            _ => n,
        };
        self.need(RANK, rank);
    }

    /// A branch, or a result of a call, by its number.
    fn index(&mut self, e: &Expr) {
        self.expr(e);
        let at = self.linear(e);
        self.need(BRANCHES, at.number.saturating_abs().saturating_add(1));
    }

    fn expr(&mut self, e: &Expr) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.need(BOTH, i64::MAX);
        } else {
            self.expr_inner(e);
        }
        self.depth -= 1;
    }

    fn expr_inner(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Binary(o, a, b) => {
                self.expr(a);
                self.expr(b);
                match o {
                    BinaryOp::Eq | BinaryOp::Ne => self.compared(a, b, 0),
                    BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => self.compared(a, b, 1),
                    BinaryOp::In => match &b.kind {
                        ExprKind::Tuple(items) => items.iter().for_each(|item| self.compared(a, item, 0)),
                        _ => self.compared(a, b, 0),
                    },
                    BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::Div => {
                        let (n, d) = (self.linear(a), self.linear(b));
                        let of = self.depends(a);
                        let both = n.number.saturating_abs().saturating_add(d.number.saturating_abs());
                        self.need(of, both.saturating_add(1));
                    }
                    _ => {}
                }
            }
            ExprKind::Item(base, at) => {
                self.expr(base);
                self.expr(at);
                let of = self.length_of(base);
                let n = self.linear(at);
                let negative = n.constant().is_some_and(|n| n < 0);
                self.need(of, n.number.saturating_abs().saturating_add(i64::from(!negative)));
            }
            ExprKind::Slice(base, low, high) => {
                self.expr(base);
                let of = self.length_of(base);
                for e in low.iter().chain(high) {
                    self.expr(e);
                    let n = self.linear(e).number.saturating_abs();
                    self.need(of, n.saturating_add(1));
                }
            }
            ExprKind::Tuple(items) => self.among(items),
            ExprKind::Call(f, arguments) => {
                self.among(arguments);
                match (f, &arguments[..]) {
                    (Function::Range | Function::Abs, [n]) => self.compared_with_number(n, 0, 1),
                    (Function::Range, [a, b]) => self.compared(a, b, 1),
                    _ => {}
                }
            }
            ExprKind::Map(each) | ExprKind::Fold(_, each) => self.each(each),
            _ => children(e, &mut |e| self.expr(e)),
        }
    }

    /// Numbers side by side: the least or the greatest may be taken.
    fn among(&mut self, items: &[Expr]) {
        items.iter().for_each(|e| self.expr(e));
        let few = &items[..items.len().min(16)];
        for (k, a) in few.iter().enumerate() {
            few[..k].iter().for_each(|b| self.compared(a, b, 1));
        }
    }

    fn each(&mut self, each: &Each) {
        if let Some(e) = &each.over {
            self.expr(e);
        }
        let of = self.symbol(each);
        self.bound.push((each.symbol.text.clone(), of));
        self.expr(&each.body);
        if let Some(e) = &each.filter {
            self.expr(e);
        }
        self.bound.pop();
    }

    /// What the values of a bound symbol depend on.
    fn symbol(&mut self, each: &Each) -> Of {
        match &each.over {
            None => Of { place: true, ..BRANCHES },
            Some(e) => self.depends(e),
        }
    }

    fn compared(&mut self, a: &Expr, b: &Expr, beyond: i64) {
        match (&a.kind, &b.kind) {
            (ExprKind::Tuple(x), ExprKind::Tuple(y)) => {
                if x.len() == y.len() {
                    x.iter().zip(y).for_each(|(a, b)| self.compared(a, b, beyond));
                }
            }
            (ExprKind::Tuple(items), _) | (_, ExprKind::Tuple(items)) => {
                let other = if matches!(a.kind, ExprKind::Tuple(_)) { b } else { a };
                let of = self.length_of(other);
                match &other.kind {
                    ExprKind::Field(_, name) => self.length(&name.text, items.len()),
                    _ => self.need(of, items.len() as i64),
                }
                if self.depends(other).any() {
                    items.iter().for_each(|e| self.compared(other, e, beyond));
                }
            }
            _ => {
                let difference = self.linear(a).plus(&self.linear(b), -1);
                self.needed(&difference, beyond);
            }
        }
    }

    fn compared_with_number(&mut self, e: &Expr, n: i64, beyond: i64) {
        let mut difference = self.linear(e);
        difference.number = difference.number.saturating_sub(n);
        self.needed(&difference, beyond);
    }

    /// A sum is compared with 0.
    fn needed(&mut self, sum: &Linear, beyond: i64) {
        let of = sum.parts.values().fold(Of::default(), |of, (_, part)| of.or(*part));
        let least = sum.parts.values().filter(|(_, of)| of.any()).map(|(k, _)| k.saturating_abs()).min();
        let Some(least) = least.filter(|k| *k > 0) else { return };
        let n = sum.number.saturating_abs();
        let n = n / least + i64::from(n % least > 0);
        let n = n.saturating_add(beyond).saturating_add(i64::from(of.place));
        let n = match sum.times {
            0 | 1 => n,
            times => n.saturating_add(1).saturating_mul(times),
        };
        self.need(of, n.saturating_add(sum.more));
    }

    fn linear(&mut self, e: &Expr) -> Linear {
        self.depth += 1;
        let sum = if self.depth > MAX_DEPTH { Linear::default() } else { self.linear_inner(e) };
        self.depth -= 1;
        sum
    }

    fn linear_inner(&mut self, e: &Expr) -> Linear {
        match &e.kind {
            ExprKind::Int(n) => return Linear { number: *n, ..Linear::default() },
            ExprKind::Name(name) if !self.is_bound(name) => {
                if let Some(e) = self.lets.get(name.as_str()).copied() {
                    return self.linear(e);
                }
            }
            ExprKind::Unary(UnaryOp::Neg, a) => return Linear::default().plus(&self.linear(a), -1),
            ExprKind::Binary(BinaryOp::Add, a, b) => return self.linear(a).plus(&self.linear(b), 1),
            ExprKind::Binary(BinaryOp::Sub, a, b) => return self.linear(a).plus(&self.linear(b), -1),
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                let (x, y) = (self.linear(a), self.linear(b));
                if let Some(k) = x.constant() {
                    return Linear::default().plus(&y, k);
                }
                if let Some(k) = y.constant() {
                    return Linear::default().plus(&x, k);
                }
            }
            _ => {}
        }
        let of = self.depends(e);
        let (mut more, mut times) = (0, 1);
        if of.any() {
            numbers(e, &mut more, &mut times);
        }
        Linear { number: 0, parts: BTreeMap::from([(e.to_string(), (1, of))]), more, times }
    }

    fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|(n, _)| n == name)
    }

    /// Whether a value, or an item of it, is a rank, an axis, a length or a branch.
    fn depends(&mut self, e: &Expr) -> Of {
        self.depth += 1;
        let of = if self.depth > MAX_DEPTH { BOTH } else { self.depends_inner(e) };
        self.depth -= 1;
        of
    }

    fn depends_inner(&mut self, e: &Expr) -> Of {
        match &e.kind {
            ExprKind::Name(name) => {
                if let Some((_, of)) = self.bound.iter().rev().find(|(n, _)| n == name) {
                    return *of;
                }
                if let Some(e) = self.lets.get(name.as_str()).copied() {
                    return self.depends(e);
                }
                let index = self.rule.indices.iter().any(|i| i.name.text == *name);
                Of { rank: false, branches: index, place: index }
            }
            ExprKind::Field(base, name) => {
                let of_axes = match &base.kind {
                    ExprKind::Name(n) => self.axes.contains(n),
                    ExprKind::Item(n, _) => {
                        matches!(&n.kind, ExprKind::Name(n) if self.axes.contains(n))
                    }
                    _ => false,
                };
                let place = is_axis(&name.text) || of_axes && name.text == "value";
                Of { rank: place || name.text == "rank", branches: false, place }
            }
            ExprKind::Call(Function::Len, arguments) => match arguments.first() {
                Some(e) => self.length_of(e),
                None => Of::default(),
            },
            ExprKind::Call(Function::Range, arguments) => {
                let of = arguments.iter().fold(Of::default(), |of, e| of.or(self.depends(e)));
                Of { place: true, ..of }
            }
            // Of `t[k]` the item counts, not the place.
            ExprKind::Item(base, _) | ExprKind::Slice(base, ..) => self.depends(base),
            ExprKind::Map(each) | ExprKind::Fold(_, each) => {
                let over = match &each.over {
                    None => BRANCHES,
                    Some(e) => self.length_of(e),
                };
                let of = self.symbol(each);
                self.bound.push((each.symbol.text.clone(), of));
                let body = self.depends(&each.body);
                self.bound.pop();
                // A sum with one term for each axis is not a rank, but may reveal it.
                if matches!(e.kind, ExprKind::Fold(..)) { body.or(over) } else { body }
            }
            _ => {
                let mut all = Vec::new();
                children(e, &mut |e| all.push(e.clone()));
                all.iter().fold(Of::default(), |of, e| of.or(self.depends(e)))
            }
        }
    }

    /// What the length of a tuple, or the number of instances of a vertex, depends on.
    fn length_of(&mut self, e: &Expr) -> Of {
        match &e.kind {
            ExprKind::Name(name) if self.is_bound(name) => BOTH,
            ExprKind::Name(name) => match self.lets.get(name.as_str()).copied() {
                Some(e) if self.depth < MAX_DEPTH => {
                    self.depth += 1;
                    let of = self.length_of(e);
                    self.depth -= 1;
                    of
                }
                _ => BRANCHES,
            },
            ExprKind::Field(..) => RANK,
            ExprKind::Tuple(_) => Of::default(),
            ExprKind::Map(each) => match &each.over {
                None => BRANCHES,
                Some(e) => self.length_of(e),
            },
            ExprKind::Slice(base, ..) => self.length_of(base),
            _ => RANK.or(self.depends(e)),
        }
    }
}

#[cfg(test)]
mod tests;
