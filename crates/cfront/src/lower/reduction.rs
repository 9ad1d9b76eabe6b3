//! Declared reductions: `#pragma lozenge reduction(+: s)`, or the same clause of an OpenMP
//! directive, before a loop.
//!
//! The declaration allows more than C does: the updates of `s` in that loop may be made in any
//! order and combined from partial results. It is checked that the loop does nothing else with `s`.
//! Other clauses and directives are dropped with a warning.

use loops::directive::{self, Wish};
use loops::{Access, Assign, BinaryOp, Expr as Hub, Name, ReduceOp, Stmt as HubStmt, Update};

use super::condition::as_extremum;
use super::resolve::Meaning;
use super::{Class, Lowering, Try};
use crate::ast::{At, Stmt, StmtKind};
use crate::codes;

/// The reductions that a pragma declares: operation and name. `None` if it has a clause that cannot
/// be read.
pub fn declared(text: &str) -> Option<Vec<(ReduceOp, String)>> {
    let rest = text.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    let mut words = rest.split_whitespace();
    let directive = words.next().unwrap_or_default();
    if !matches!(directive, "lozenge" | "omp" | "acc") {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    let mut rest = rest;
    while let Some(at) = rest.find("reduction") {
        let before = rest[..at].chars().next_back();
        rest = &rest[at + "reduction".len()..];
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some(open) = rest.trim_start().strip_prefix('(') else { continue };
        let (inside, after) = open.split_once(')')?;
        let (op, names) = inside.split_once(':')?;
        // A modifier may stand before the operation: `reduction(default, +: s)`.
        let op = match op.rsplit(',').next().unwrap_or(op).trim() {
            "+" | "-" => ReduceOp::Add,
            "*" => ReduceOp::Mul,
            "min" => ReduceOp::Min,
            "max" => ReduceOp::Max,
            "&&" => ReduceOp::And,
            "||" => ReduceOp::Or,
            _ => return None,
        };
        for name in names.split(',') {
            // `y[0:n]` and `y[:n]`: the array.
            let name = name.split('[').next().unwrap_or(name).trim();
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return None;
            }
            found.push((op, name.to_owned()));
        }
        rest = after;
    }
    Some(found)
}

/// The words of a pragma of ours.
fn own(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?.trim_start();
    let words = rest.strip_prefix("lozenge")?;
    (words.is_empty() || words.starts_with(char::is_whitespace)).then_some(words)
}

impl Lowering<'_> {
    /// Pragmas and the statement that they stand before.
    pub(super) fn pragmas(&mut self, texts: &[(String, At)], next: Option<&Stmt>) -> Try<Vec<HubStmt>> {
        let mut reductions = Vec::new();
        let mut wishes = Vec::new();
        let mut failed = false;
        for (text, at) in texts {
            let text = text.trim();
            match self.asked(text, *at, next) {
                Ok(more) => wishes.extend(more),
                Err(_) => {
                    failed = true;
                    continue;
                }
            }
            match declared(text) {
                None => {
                    let message = format!("the reduction of `{text}` is not understood");
                    let diagnostic =
                        loops::Diagnostic::error(codes::REDUCTION, message, self.span(*at), "not understood")
                            .help(
                                "write `reduction(+: s)`, with + * min max && or || and names of variables",
                            );
                    let _: Try<()> = self.report(diagnostic);
                    failed = true;
                }
                Some(named) if named.is_empty() && own(text).is_some() => {}
                Some(named) if named.is_empty() => {
                    let message = format!("`{text}` is dropped: the text of the region is replaced");
                    self.warn(codes::DROPPED_PRAGMA, message, *at, "in the region");
                }
                Some(_) if !next.is_some_and(|next| matches!(next.kind, StmtKind::For(_))) => {
                    let message = "no loop follows this reduction";
                    let _: Try<()> = self.fail(codes::REDUCTION, message, *at, "a `for` must follow");
                    failed = true;
                }
                Some(named) => reductions.push((named, *at)),
            }
        }
        let mut body = next.map_or(Ok(Vec::new()), |next| self.statement(next))?;
        for (named, at) in reductions {
            self.reorderable(&mut body, &named, at);
        }
        if !wishes.is_empty() {
            let is_loop = |stmt: &HubStmt| matches!(stmt, HubStmt::Loop(_));
            if let Some(place) = body.iter().position(is_loop) {
                let own = body[place].clone();
                body[place] = directive::asked(&wishes, vec![own]);
            }
        }
        if failed { Err(super::Failed) } else { Ok(body) }
    }

    /// What a pragma of ours asks of the loop behind it.
    fn asked(&mut self, text: &str, at: At, next: Option<&Stmt>) -> Try<Vec<Wish>> {
        let Some(words) = own(text) else { return Ok(Vec::new()) };
        // What is wrong with a reduction is said of that.
        let wishes = match directive::read(words) {
            Ok(wishes) => wishes,
            Err(_) if declared(text).is_none() => return Ok(Vec::new()),
            Err(why) => {
                let help = format!("known are {}", directive::KNOWN);
                return self.fail_with(codes::DIRECTIVE_OF_LOOP, why, (at, "not understood"), &help);
            }
        };
        if !wishes.is_empty() && !next.is_some_and(|next| matches!(next.kind, StmtKind::For(_))) {
            return self.fail(
                codes::DIRECTIVE_OF_LOOP,
                "no loop follows this directive",
                at,
                "a `for` must follow",
            );
        }
        Ok(wishes)
    }

    /// Marks the updates of what a pragma names.
    fn reorderable(&mut self, body: &mut [HubStmt], named: &[(ReduceOp, String)], at: At) {
        let meanings = self.res.reductions.get(&at.first).cloned().unwrap_or_default();
        for ((op, c_name), meaning) in named.iter().zip(meanings) {
            let Meaning::Object(k) = meaning else {
                let _: Try<()> = self.unknown_name(c_name, at);
                continue;
            };
            let name = match self.class(k) {
                Class::Data => self.name_of(k),
                _ => Name::new(c_name),
            };
            let mut marking = Marking { name: &name, op: *op, updates: 0, other: false };
            marking.block(body);
            let (symbol, why) = match (marking.updates, marking.other) {
                (_, true) => (op.symbol(), "but the loop also uses it in another way"),
                (0, false) => (op.symbol(), "but the loop does not do so"),
                _ => continue,
            };
            let message = format!("`{c_name}` is declared as a reduction by `{symbol}`, {why}");
            let _: Try<()> = self.fail(codes::REDUCTION, message, at, "declared here");
        }
    }
}

/// Marks the updates of one variable, and finds out whether it has other uses.
struct Marking<'a> {
    name: &'a Name,
    op: ReduceOp,
    updates: usize,
    other: bool,
}

impl Marking<'_> {
    fn block(&mut self, body: &mut [HubStmt]) {
        for stmt in body {
            match stmt {
                HubStmt::Assign(assign) => self.assign(assign),
                HubStmt::Loop(l) => {
                    self.expr(&l.lower);
                    self.expr(&l.upper);
                    self.block(&mut l.body);
                }
                HubStmt::If { cond, then, otherwise } => {
                    self.expr(cond);
                    self.block(then);
                    self.block(otherwise);
                }
                HubStmt::Block { body, .. } => self.block(body),
                HubStmt::Local(_) | HubStmt::Copy(_) | HubStmt::Wait(_) => {}
            }
        }
    }

    fn assign(&mut self, assign: &mut Assign) {
        assign.target.indices.iter().for_each(|e| self.expr(e));
        if assign.target.array != *self.name {
            return self.expr(&assign.value);
        }
        if let Some(value) = self.extremum(assign).or_else(|| self.logical(assign)) {
            *assign =
                Assign { update: Some(Update { op: self.op, reorder: false }), value, ..assign.clone() };
        }
        self.expr(&assign.value);
        match &mut assign.update {
            Some(update) if update.op == self.op => {
                update.reorder = true;
                self.updates += 1;
            }
            _ => self.other = true,
        }
    }

    /// The new value, if the assignment has a form such as `x = new > x ? new : x` and that is the
    /// declared operation.
    fn extremum(&self, assign: &Assign) -> Option<Hub> {
        let Hub::Select(cond, new, old) = &assign.value else { return None };
        let is_target = |e: &Hub| matches!(e, Hub::Load(access) if *access == assign.target);
        let (new, old, swapped) = if is_target(old) { (new, old, false) } else { (old, new, true) };
        if assign.update.is_some() || !is_target(old) {
            return None;
        }
        let largest = match swapped {
            false => as_extremum(cond, new, old)?,
            true => as_extremum(cond, old, new)?,
        };
        (self.op == if largest { ReduceOp::Max } else { ReduceOp::Min }).then(|| (**new).clone())
    }

    /// The new value, if the assignment has a form such as `x = x && new` and that is the declared
    /// operation. `new` is then evaluated in every iteration, also where C would not: the
    /// declaration says that the order does not matter.
    fn logical(&self, assign: &Assign) -> Option<Hub> {
        let is_target = |e: &Hub| matches!(e, Hub::Load(access) if *access == assign.target);
        let (op, new) = match &assign.value {
            Hub::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if is_target(a) != is_target(b) => {
                (*op, if is_target(a) { b } else { a })
            }
            Hub::Select(a, new, no) if is_target(a) && **no == Hub::Bool(false) => (BinaryOp::And, new),
            Hub::Select(a, yes, new) if is_target(a) && **yes == Hub::Bool(true) => (BinaryOp::Or, new),
            _ => return None,
        };
        let declared = matches!((op, self.op), (BinaryOp::And, ReduceOp::And) | (BinaryOp::Or, ReduceOp::Or));
        (declared && assign.update.is_none()).then(|| (**new).clone())
    }

    /// Any other use of the variable.
    fn expr(&mut self, e: &Hub) {
        let name = self.name;
        let found = e.nodes().any(|e| matches!(e, Hub::Load(Access { array, .. }) if array == name));
        self.other |= found;
    }
}
