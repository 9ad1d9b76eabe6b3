//! Calls of functions with loops inside of expressions: each becomes a statement of its own before
//! the one that it stands in, so that the function's body can take its place (`helper`).
//!
//! C leaves open when a call happens beside the other operands, so it may be first. What a
//! condition decides about (`c ? f(x) : 0`, `a && f(x)`) is set by an `if` first. A call in a shift
//! of C++, whose operands have an order, stays.

use super::{Parser, acts};
use crate::ast::{Binary, Declaration, Expr, ExprKind, Stmt, StmtKind, mentions, parts};
use crate::ctype::{CType, IntType, QType};
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

    /// What is done before an `if` with such calls in its condition, and the condition; none if it
    /// has none, or one of them stays.
    pub(super) fn hoisted_condition(&mut self, cond: &Expr) -> Option<(Vec<Stmt>, Expr)> {
        if acts(cond) || !self.calls_helper(cond) {
            return None;
        }
        let depth = self.scopes.depth();
        self.scopes.push();
        let mut before = Vec::new();
        let done = self.without_calls(cond, cond, &mut before);
        self.scopes.truncate(depth);
        let cond = done.filter(|cond| !self.calls_helper(cond))?;
        Some((before, cond))
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

    /// The expression with variables for the calls in it. What sets these variables is added to
    /// `before`.
    fn without_calls(&mut self, e: &Expr, statement: &Expr, before: &mut Vec<Stmt>) -> Option<Expr> {
        let mut e = e.clone();
        match &mut e.kind {
            ExprKind::Conditional(first, then, otherwise) => {
                **first = self.without_calls(first, statement, before)?;
                if self.calls_helper(then) || self.calls_helper(otherwise) {
                    let (mark, at) = (self.mark(first, then, "?")?, self.mark(then, otherwise, ":")?);
                    let ty = self.value_type(&e)?;
                    let ExprKind::Conditional(first, then, otherwise) = &e.kind else { return None };
                    let branches = ((**then).clone(), (**otherwise).clone());
                    return self.chosen(ty, (**first).clone(), branches, (mark, at), statement, before);
                }
            }
            ExprKind::Binary(op @ (Binary::And | Binary::Or), first, second) => {
                **first = self.without_calls(first, statement, before)?;
                if self.calls_helper(second) {
                    let words = if *op == Binary::And { ["&&", "and"] } else { ["||", "or"] };
                    let mark = words.into_iter().find_map(|word| self.mark(first, second, word))?;
                    let number =
                        |value| Expr { kind: ExprKind::Int(value, IntType::Int), at: second.at, height: 1 };
                    let asked = match second.kind {
                        ExprKind::Binary(
                            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne,
                            ..,
                        ) => (**second).clone(),
                        _ => {
                            let kind = ExprKind::Binary(Binary::Ne, second.clone(), Box::new(number(0)));
                            Expr { kind, at: second.at, height: second.height + 1 }
                        }
                    };
                    let branches = match op {
                        Binary::And => (asked, number(0)),
                        _ => (number(1), asked),
                    };
                    let (ty, first) = (CType::Int(IntType::Int), (**first).clone());
                    return self.chosen(ty, first, branches, (mark, mark), statement, before);
                }
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

    /// The token of an operator between two operands.
    fn mark(&self, left: &Expr, right: &Expr, word: &str) -> Option<usize> {
        (left.at.last as usize..right.at.first as usize).find(|k| self.text_at(*k) == word)
    }

    /// The type of a value that may have calls of functions with loops in it.
    fn value_type(&self, e: &Expr) -> Option<CType> {
        match &e.kind {
            ExprKind::Conditional(_, a, b) => {
                super::inline::common(&self.value_type(a)?, &self.value_type(b)?)
            }
            ExprKind::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div, a, b) => {
                super::inline::common(&self.value_type(a)?, &self.value_type(b)?)
            }
            ExprKind::Call { function, .. } => match self.scopes.lookup(function)? {
                Symbol::Function(declared) if !self.is_cpp() || self.is_helper(e) => {
                    Some(declared.result.ty.clone())
                }
                _ => None,
            },
            _ => self.type_of(e),
        }
    }

    /// A variable that an `if` sets to one of two values, of which at least one has a call. Its
    /// tokens are those of the operators.
    fn chosen(
        &mut self,
        ty: CType,
        cond: Expr,
        (then, otherwise): (Expr, Expr),
        (mark, used): (usize, usize),
        statement: &Expr,
        before: &mut Vec<Stmt>,
    ) -> Option<Expr> {
        matches!(ty, CType::Int(_) | CType::Float | CType::Double).then_some(())?;
        let name = match before.len() {
            0 => "chosen_value".to_owned(),
            count => format!("chosen_value_{count}"),
        };
        if mentions(statement, &name) || self.scopes.lookup(&name).is_some() {
            return None;
        }
        let ty = QType::plain(ty);
        let variable = |token: usize| {
            let kind = ExprKind::Ident(name.clone());
            Expr { kind, at: self.since_one(token), height: 1 }
        };
        let (target, used, place) = (variable(mark), variable(used), self.since_one(mark));
        let object = Object { place: Place::Local, ..Object::parameter(ty.clone(), place) };
        self.scopes.declare(name.clone(), Symbol::Object(object));
        let at = statement.at;
        let [then, otherwise] = [then, otherwise].map(|value| {
            let (at, height) = (value.at, value.height + 1);
            let set = ExprKind::Assign(None, Box::new(target.clone()), Box::new(value));
            let set = Expr { kind: set, at, height };
            let several = match self.calls_helper(&set) {
                true => Some(self.statements_of(&set).or_else(|| self.hoisted(&set))?),
                false => None,
            };
            Some(Box::new(Stmt { kind: several.unwrap_or(StmtKind::Expr(set)), at }))
        });
        let (is_static, is_extern, init) = (false, false, None);
        let declared = Declaration { name, ty, init, is_static, is_extern, at: place };
        before.push(Stmt { kind: StmtKind::Declare(vec![declared]), at });
        let choice = StmtKind::If { cond, then: then?, otherwise: Some(otherwise?) };
        before.push(Stmt { kind: choice, at });
        Some(used)
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
        self.declared_into(Stmt { kind: StmtKind::Declare(vec![declared]), at }, before);
        before.push(Stmt { kind, at });
        Some(used)
    }
}
