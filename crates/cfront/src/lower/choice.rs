//! `if` on data. If it only chooses what is assigned, it becomes a value: `if (x[i] > m) m = x[i];`
//! is `m = x[i] > m ? x[i] : m`. The assignment then always happens, so it must be harmless if the
//! condition does not hold: its target is a scalar, or an element that the condition has read.
//!
//! Any other `if` stays a condition around statements. They may access what they access, and the
//! condition reads what it reads. A condition on something that its branches write is evaluated
//! once, before them.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::assigns;
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, Expr as Hub, Name, ReduceOp, Scalar, Stmt as HubStmt, Storage,
    UnaryOp, Update,
};

use super::condition::as_extremum;
use super::{Lowering, Try};
use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::ctype::IntType;

/// Where lowering stands.
struct Marks {
    labels: usize,
    taken: BTreeMap<Name, Option<IntType>>,
    pending: usize,
    diagnostics: usize,
    blamed: BTreeSet<usize>,
}

impl Lowering<'_> {
    /// A conditional whose condition is not affine.
    pub(super) fn choice(&mut self, cond: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Try<Vec<HubStmt>> {
        if self.ends_loop(cond) {
            return self.guard(cond, then, otherwise);
        }
        let before = self.marks();
        let mut changed = self.changed_by(then);
        otherwise.iter().for_each(|stmt| changed.extend(self.changed_by(stmt)));
        // Where the branches change what is followed, they are looked at one by one.
        let followed = changed.iter().any(|k| self.value_of(*k).is_some() || !self.is_data(*k));
        let count = assignments(then).zip(otherwise.map_or(Some(0), assignments));
        if let Some((yes, no)) = count.filter(|_| !followed) {
            if yes + no > 1 {
                let holds = self.truth(cond)?;
                let mut read = Vec::new();
                always_read(&holds, &mut read);
                self.branches += 1;
                let one = self.one_value(&read, holds, then, otherwise);
                self.branches -= 1;
                self.forget_all(&changed, cond.at);
                if let Ok(Some((target, value))) = one {
                    self.labels = before.labels;
                    return Ok(vec![self.assign(target, None, value)]);
                }
                self.again(&before);
            }
            let mut holds = self.truth(cond)?;
            let mut read = Vec::new();
            always_read(&holds, &mut read);
            let mut out = Vec::new();
            if yes + no > 1 {
                // Decided once, before anything is assigned.
                holds = self.decide(holds, &mut out);
            }
            self.branches += 1;
            let mut chosen = self.choose(&read, then, &holds, &mut out);
            self.forget_all(&changed, cond.at);
            if let (Ok(true), Some(otherwise)) = (&chosen, otherwise) {
                chosen = self.choose(&read, otherwise, &Hub::unary(UnaryOp::Not, holds), &mut out);
            }
            self.branches -= 1;
            self.forget_all(&changed, cond.at);
            if chosen? {
                return Ok(out);
            }
        }
        // Once more, as it stands.
        self.again(&before);
        self.guard(cond, then, otherwise)
    }

    /// Whether a condition is the one that a loop may end by, which stays a condition: the variable
    /// that the parser has made for that stands at the word of the loop.
    fn ends_loop(&self, cond: &Expr) -> bool {
        let word = self.cx.source.token_text(cond.at.first as usize);
        matches!(cond.kind, ExprKind::Ident(_)) && matches!(word, "for" | "while" | "do")
    }

    /// Where lowering stands, for statements that are looked at twice.
    fn marks(&self) -> Marks {
        Marks {
            labels: self.labels,
            taken: self.taken.clone(),
            pending: self.pending.len(),
            diagnostics: self.diagnostics.len(),
            blamed: self.blamed.clone(),
        }
    }

    /// Back to marks. Names that were given stay taken.
    fn again(&mut self, marks: &Marks) {
        self.labels = marks.labels;
        self.taken = marks.taken.clone();
        for name in self.names.values() {
            self.taken.entry(name.clone()).or_insert(None);
        }
        self.pending.truncate(marks.pending);
        self.diagnostics.truncate(marks.diagnostics);
        self.blamed = marks.blamed.clone();
    }

    /// Branches that assign to one element alone, as one value for it:
    /// `if (a < l) a = l; else if (a > h) a = h;` is `a = a < l ? l : a > h ? h : a`. `read` is
    /// what is read in any case.
    fn one_value(
        &mut self,
        read: &[Access],
        holds: Hub,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) -> Try<Option<(Access, Hub)>> {
        let Some((target, yes)) = self.assigned_alone(read, then)? else { return Ok(None) };
        let no = match otherwise {
            None => Hub::Load(target.clone()),
            Some(stmt) => match self.assigned_alone(read, stmt)? {
                Some((same, no)) if same == target => no,
                _ => return Ok(None),
            },
        };
        let value = Hub::Select(Box::new(holds), Box::new(yes), Box::new(no));
        Ok(Some((target, value)))
    }

    /// The only element that a branch assigns to, with its value.
    fn assigned_alone(&mut self, read: &[Access], stmt: &Stmt) -> Try<Option<(Access, Hub)>> {
        match &stmt.kind {
            StmtKind::Block(body) => match body.as_slice() {
                [one] => self.assigned_alone(read, one),
                _ => Ok(None),
            },
            StmtKind::If { cond, then, otherwise } => {
                let holds = self.truth(cond)?;
                self.one_value(read, holds, then, otherwise.as_deref())
            }
            StmtKind::Expr(e) => match self.expression_statement(e)?.as_slice() {
                [HubStmt::Assign(assign)]
                    if assign.target.indices.is_empty() || read.contains(&assign.target) =>
                {
                    self.mark_read(&assign.target);
                    Ok(Some((assign.target.clone(), new_value(assign))))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Statements that run where a condition on data holds, or does not.
    fn guard(&mut self, cond: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Try<Vec<HubStmt>> {
        let mut cond = self.truth(cond)?;
        self.branches += 1;
        let before = self.state();
        let then = self.body(then);
        let after_then = self.restore(before);
        let otherwise = otherwise.map_or(Ok(Vec::new()), |o| self.body(o));
        self.branches -= 1;
        self.meet(&after_then, self.here);
        let (then, otherwise) = (then?, otherwise?);
        let mut out = Vec::new();
        let alone = otherwise.is_empty() && matches!(then.as_slice(), [HubStmt::Assign(_)]);
        let read = cond.arrays();
        let written = assigns(&then).chain(assigns(&otherwise)).any(|a| read.contains(&a.target.array));
        if written && !alone {
            cond = self.decide(cond, &mut out);
        }
        out.push(HubStmt::If { cond, then, otherwise });
        Ok(out)
    }

    /// A truth value in a variable of its own.
    fn decide(&mut self, value: Hub, out: &mut Vec<HubStmt>) -> Hub {
        let name = self.fresh("holds");
        self.taken.insert(name.clone(), None);
        let (elem, storage) = (Scalar::Bool.into(), Storage::Auto);
        out.push(HubStmt::Local(ArrayDecl { name: name.clone(), elem, dims: Vec::new(), storage }));
        out.push(self.assign(Access::scalar(name.clone()), None, value));
        Hub::Load(Access::scalar(name))
    }

    /// The assignments of a branch as choices, where `holds`. `false` if one of them must not
    /// happen elsewhere. `read` is what the condition reads in any case.
    fn choose(&mut self, read: &[Access], stmt: &Stmt, holds: &Hub, out: &mut Vec<HubStmt>) -> Try<bool> {
        match &stmt.kind {
            StmtKind::Block(body) => {
                for stmt in body {
                    if !self.choose(read, stmt, holds, out)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            StmtKind::If { cond, then, otherwise } => {
                let inner = self.truth(cond)?;
                // Evaluated only where the outer one holds.
                let both = Hub::Select(Box::new(holds.clone()), Box::new(inner), Box::new(Hub::Bool(false)));
                let both = self.decide(both, out);
                let chosen = self.choose(read, then, &both, out)?;
                self.forget_all(&self.changed_by(then), self.here);
                if !chosen {
                    return Ok(false);
                }
                let Some(otherwise) = otherwise else { return Ok(true) };
                let neither = Hub::binary(BinaryOp::And, holds.clone(), Hub::unary(UnaryOp::Not, both));
                self.choose(read, otherwise, &neither, out)
            }
            StmtKind::Expr(e) => {
                for stmt in self.expression_statement(e)? {
                    let HubStmt::Assign(assign) = stmt else { continue };
                    if !assign.target.indices.is_empty() && !read.contains(&assign.target) {
                        return Ok(false);
                    }
                    self.mark_read(&assign.target);
                    let is_integer = self.elem_of(&assign.target).is_some_and(Scalar::is_int);
                    out.push(HubStmt::Assign(guarded(assign, holds, is_integer)));
                }
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    fn elem_of(&self, access: &Access) -> Option<Scalar> {
        let object = self.names.iter().find(|(_, name)| **name == access.array).map(|(k, _)| *k)?;
        self.arrays.get(&object).map(|array| array.elem)
    }
}

/// What evaluating an expression reads in any case: not what it reads on one side of a choice.
fn always_read(e: &Hub, out: &mut Vec<Access>) {
    match e {
        Hub::Load(access) => out.push(access.clone()),
        Hub::Select(cond, _, _) => always_read(cond, out),
        _ => e.children().for_each(|child| always_read(child, out)),
    }
}

/// The number of assignments and decisions of a branch, if it has nothing else.
fn assignments(stmt: &Stmt) -> Option<usize> {
    match &stmt.kind {
        StmtKind::Empty => Some(0),
        StmtKind::Block(body) => body.iter().map(assignments).sum(),
        StmtKind::If { then, otherwise, .. } => {
            Some(1 + assignments(then)? + otherwise.as_deref().map_or(Some(0), assignments)?)
        }
        StmtKind::Expr(e) => matches!(e.kind, ExprKind::Assign(..) | ExprKind::Step(..)).then_some(1),
        _ => None,
    }
}

/// The value that an assignment gives its target.
fn new_value(assign: &Assign) -> Hub {
    let (old, value) = (Hub::Load(assign.target.clone()), assign.value.clone());
    let Some(update) = assign.update else { return value };
    let op = update.op.binary();
    match value {
        // As it was written.
        Hub::Unary(UnaryOp::Neg, value) if op == BinaryOp::Add => Hub::binary(BinaryOp::Sub, old, *value),
        value => Hub::binary(op, old, value),
    }
}

/// The assignment of the new value where `holds`, of the old one elsewhere.
fn guarded(assign: Assign, holds: &Hub, is_integer: bool) -> Assign {
    let old = Hub::Load(assign.target.clone());
    let new = new_value(&assign);
    // Of integers, it may be the larger or the smaller one; floating point differs on NaN and -0.
    if let (true, Some(largest)) = (is_integer, as_extremum(holds, &new, &old)) {
        let op = if largest { ReduceOp::Max } else { ReduceOp::Min };
        return Assign { update: Some(Update { op, reorder: false }), value: new, ..assign };
    }
    let value = Hub::Select(Box::new(holds.clone()), Box::new(new), Box::new(old));
    Assign { update: None, value, ..assign }
}
