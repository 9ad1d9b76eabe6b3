//! Calls of functions with loops inside of expressions: each becomes a statement of its own before
//! the one that it stands in, so that the function's body can take its place (`helper`).
//!
//! C leaves open when a call happens beside the other operands, so it may be first. A call that a
//! condition decides about stays, and so does one in a shift of C++, whose operands have an order.

use super::{Parser, acts};
use crate::ast::{Binary, Declaration, Expr, ExprKind, Stmt, StmtKind, mentions, parts};
use crate::scope::{Object, Place, Symbol};

impl Parser<'_> {
    /// The statements for one that assigns a value with such calls in it; none if it has none, or
    /// one of them stays.
    pub(super) fn hoisted(&mut self, statement: &Expr) -> Option<StmtKind> {
        let ExprKind::Assign(op, target, value) = &statement.kind else { return None };
        let whole = matches!(value.kind, ExprKind::Call { .. });
        if acts(target) || acts(value) || (!self.calls_helper(value) || whole && self.is_helper(value)) {
            return None;
        }
        let depth = self.scopes.depth();
        self.scopes.push();
        let mut before = Vec::new();
        let done = self.without_calls(value, statement, &mut before);
        let set = done.map(|value| {
            let height = value.height.max(target.height) + 1;
            let kind = ExprKind::Assign(*op, target.clone(), Box::new(value));
            Expr { kind, height, ..statement.clone() }
        });
        self.scopes.truncate(depth);
        let set = set.filter(|set| !self.calls_helper(set))?;
        before.push(Stmt { kind: StmtKind::Expr(set), at: statement.at });
        Some(StmtKind::Block(before))
    }

    /// Whether a function with loops is called that gives a value.
    fn is_helper(&self, e: &Expr) -> bool {
        let ExprKind::Call { function, .. } = &e.kind else { return false };
        let declared = match self.scopes.lookup(function) {
            Some(Symbol::Function(declared)) => declared,
            _ => return false,
        };
        let copied = self.source.copies.of_call(e.at.first as usize).is_some();
        copied && declared.inline.is_none() && declared.helper.as_ref().is_some_and(|h| h.gives_value())
    }

    fn calls_helper(&self, e: &Expr) -> bool {
        self.is_helper(e) || parts(&e.kind).into_iter().any(|part| self.calls_helper(part))
    }

    /// The expression with variables for the calls that happen in any case. What sets these
    /// variables is added to `before`.
    fn without_calls(&mut self, e: &Expr, statement: &Expr, before: &mut Vec<Stmt>) -> Option<Expr> {
        let mut e = e.clone();
        match &mut e.kind {
            ExprKind::Conditional(first, ..) | ExprKind::Binary(Binary::And | Binary::Or, first, _) => {
                **first = self.without_calls(first, statement, before)?;
            }
            ExprKind::Binary(Binary::Bits("<<" | ">>"), ..) if self.is_cpp() => return Some(e),
            ExprKind::Call { args, .. } => {
                for arg in args {
                    *arg = self.without_calls(arg, statement, before)?;
                }
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => **a = self.without_calls(a, statement, before)?,
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
                **a = self.without_calls(a, statement, before)?;
                **b = self.without_calls(b, statement, before)?;
            }
            _ => {}
        }
        if self.is_helper(&e) { self.set_before(e, statement, before) } else { Some(e) }
    }

    /// A variable with the value of a call. Its tokens are those of the call: the name, the
    /// parentheses.
    fn set_before(&mut self, call: Expr, statement: &Expr, before: &mut Vec<Stmt>) -> Option<Expr> {
        let ExprKind::Call { function, .. } = &call.kind else { return None };
        let Some(Symbol::Function(declared)) = self.scopes.lookup(function) else { return None };
        let ty = declared.result.clone();
        let name = match before.len() {
            0 => format!("{function}_value"),
            _ => format!("{function}_value_{}", before.len()),
        };
        if mentions(statement, &name) {
            return None;
        }
        let (first, last, at) = (call.at.first as usize, call.at.last as usize, call.at);
        let variable = |token: usize| {
            let kind = ExprKind::Ident(name.clone());
            Expr { kind, at: self.since_one(token), height: 1 }
        };
        let (target, used) = (variable(first + 1), variable(last));
        let place = self.since_one(first);
        let object = Object { place: Place::Local, ..Object::parameter(ty.clone(), place) };
        self.scopes.declare(name.clone(), Symbol::Object(object));
        let height = call.height + 1;
        let set = Expr { kind: ExprKind::Assign(None, Box::new(target), Box::new(call)), at, height };
        let kind = self.statements_of(&set)?;
        let (is_static, is_extern, init) = (false, false, None);
        let declared = Declaration { name, ty, init, is_static, is_extern, at: place };
        before.push(Stmt { kind: StmtKind::Declare(vec![declared]), at });
        before.push(Stmt { kind, at });
        Some(used)
    }
}
