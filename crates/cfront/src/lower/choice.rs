//! `if` on data, where it only chooses what is assigned: `if (x[i] > m) m = x[i];` is `m = x[i] > m ? x[i] : m`.
//!
//! The assignment then always happens, so it must be harmless where the condition does not hold: its target is a scalar,
//! or an element that the condition has read.

use loops::{
    Access, ArrayDecl, Assign, BinaryOp, Expr as Hub, ReduceOp, Scalar, Stmt as HubStmt, Storage, UnaryOp,
    Update,
};

use super::condition::as_extremum;
use super::index::NotIndex;
use super::{Lowering, Try};
use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::codes;

/// The conditional that is translated: what may be written in any case, and what to say if something else is.
struct Choice<'e> {
    cond: &'e Expr,
    why: NotIndex,
    read: Vec<Access>,
}

impl Lowering<'_> {
    /// A conditional whose condition is not affine, for the reason `why`.
    pub(super) fn choice(
        &mut self,
        cond: &Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        why: NotIndex,
    ) -> Try<Vec<HubStmt>> {
        let count = assignments(then).zip(otherwise.map_or(Some(0), assignments));
        let mut choice = Choice { cond, why, read: Vec::new() };
        let Some((yes, no)) = count else {
            let help = "where it chooses between values, write it as a value: `x = condition ? a : b;`";
            let refused = self.not_affine(&choice, help);
            // Both branches may have more to tell.
            let _ = self.body(then);
            let _ = otherwise.map(|o| self.body(o));
            return refused;
        };
        let mut holds = self.truth(cond)?;
        always_read(&holds, &mut choice.read);
        let mut out = Vec::new();
        if yes + no > 1 {
            // Decided once, before anything is assigned.
            holds = self.decide(holds, &mut out);
        }
        self.choose(&choice, then, &holds, &mut out)?;
        if let Some(otherwise) = otherwise {
            self.choose(&choice, otherwise, &Hub::unary(UnaryOp::Not, holds), &mut out)?;
        }
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

    /// The assignments of a branch, where `holds`.
    fn choose(&mut self, choice: &Choice<'_>, stmt: &Stmt, holds: &Hub, out: &mut Vec<HubStmt>) -> Try<()> {
        match &stmt.kind {
            StmtKind::Block(body) => body.iter().try_for_each(|s| self.choose(choice, s, holds, out)),
            StmtKind::If { cond, then, otherwise } => {
                let inner = self.truth(cond)?;
                // Evaluated only where the outer one holds.
                let both = Hub::Select(Box::new(holds.clone()), Box::new(inner), Box::new(Hub::Bool(false)));
                let both = self.decide(both, out);
                self.choose(choice, then, &both, out)?;
                let Some(otherwise) = otherwise else { return Ok(()) };
                let neither = Hub::binary(BinaryOp::And, holds.clone(), Hub::unary(UnaryOp::Not, both));
                self.choose(choice, otherwise, &neither, out)
            }
            StmtKind::Expr(e) => {
                for stmt in self.expression_statement(e)? {
                    let HubStmt::Assign(assign) = stmt else { continue };
                    if !assign.target.indices.is_empty() && !choice.read.contains(&assign.target) {
                        let text = self.snippet(e.at);
                        let help = format!("if it may be written in any case, choose the value in `{text}`");
                        return self.not_affine(choice, &help);
                    }
                    self.mark_read(&assign.target);
                    let is_integer = self.elem_of(&assign.target).is_some_and(Scalar::is_int);
                    out.push(HubStmt::Assign(guarded(assign, holds, is_integer)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn elem_of(&self, access: &Access) -> Option<Scalar> {
        let object = self.names.iter().find(|(_, name)| **name == access.array).map(|(k, _)| *k)?;
        self.arrays.get(&object).map(|array| array.elem)
    }

    fn not_affine<T>(&mut self, choice: &Choice<'_>, help: &str) -> Try<T> {
        let (text, vars) = (self.snippet(choice.cond.at), self.loop_list());
        let message = format!("the condition `{text}` is not affine in {vars}: {}", choice.why.reason);
        let span = self.span(choice.why.at);
        self.report(loops::Diagnostic::error(codes::CONDITION, message, span, "not affine").help(help))
    }
}

/// What evaluating an expression reads in any case: not what it reads on one side of a choice.
fn always_read(e: &Hub, out: &mut Vec<Access>) {
    match e {
        Hub::Load(access) => out.push(access.clone()),
        Hub::Select(cond, _, _) => always_read(cond, out),
        _ => e.children().into_iter().for_each(|child| always_read(child, out)),
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

/// The assignment of the new value where `holds`, of the old one elsewhere.
fn guarded(assign: Assign, holds: &Hub, is_integer: bool) -> Assign {
    let old = Hub::Load(assign.target.clone());
    let new = match assign.update {
        None => assign.value,
        Some(update) => {
            let op = match update.op {
                ReduceOp::Add => BinaryOp::Add,
                ReduceOp::Mul => BinaryOp::Mul,
                ReduceOp::Min => BinaryOp::Min,
                ReduceOp::Max => BinaryOp::Max,
                ReduceOp::And => BinaryOp::And,
                ReduceOp::Or => BinaryOp::Or,
            };
            match assign.value {
                // As it was written.
                Hub::Unary(UnaryOp::Neg, value) if op == BinaryOp::Add => {
                    Hub::binary(BinaryOp::Sub, old.clone(), *value)
                }
                value => Hub::binary(op, old.clone(), value),
            }
        }
    };
    // Of integers, it may be the larger or the smaller one; floating point differs on NaN and -0.
    if let (true, Some(largest)) = (is_integer, as_extremum(holds, &new, &old)) {
        let op = if largest { ReduceOp::Max } else { ReduceOp::Min };
        return Assign { update: Some(Update { op, reorder: false }), value: new, ..assign };
    }
    let value = Hub::Select(Box::new(holds.clone()), Box::new(new), Box::new(old));
    Assign { update: None, value, ..assign }
}
