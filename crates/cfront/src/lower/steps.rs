//! `a[k++] = *p++`: what is counted inside of an expression is counted by a statement of its own,
//! before or after the statement.
//!
//! That is the same where the variable is named once in the statement, and where the part with it
//! is evaluated in any case.

use super::{Lowering, Try};
use crate::ast::{Binary, Declaration, Expr, ExprKind, Init, Stmt, StmtKind, mentions, parts};

/// Statements before and after one.
#[derive(Default)]
struct Around {
    before: Vec<Stmt>,
    after: Vec<Stmt>,
}

impl Lowering<'_> {
    /// A statement without counting in its expressions, and the statements that count. `None` if
    /// there are none.
    pub(super) fn without_steps(&self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut around = Around::default();
        let kind = match &stmt.kind {
            StmtKind::Expr(e) => match &e.kind {
                ExprKind::Assign(op, target, value) => {
                    let counted = counts(target) || counts(value);
                    let (target, value) = counted
                        .then(|| Some((around.taken_out(target, e)?, around.taken_out(value, e)?)))??;
                    let kind = ExprKind::Assign(*op, Box::new(target), Box::new(value));
                    StmtKind::Expr(Expr { kind, ..e.clone() })
                }
                ExprKind::Step(by, target) if counts(target) => {
                    let target = around.taken_out(target, e)?;
                    StmtKind::Expr(Expr { kind: ExprKind::Step(*by, Box::new(target)), ..e.clone() })
                }
                _ => return None,
            },
            StmtKind::Declare(declared) => match declared.as_slice() {
                [Declaration { init: Some(Init::Expr(e)), .. }] if counts(e) => {
                    let init = Some(Init::Expr(around.taken_out(e, e)?));
                    StmtKind::Declare(vec![Declaration { init, ..declared[0].clone() }])
                }
                _ => return None,
            },
            _ => return None,
        };
        let Around { mut before, after } = around;
        before.push(Stmt { kind, at: stmt.at });
        before.extend(after);
        Some(before)
    }

    /// The statements in their order.
    pub(super) fn one_by_one(&mut self, list: &[Stmt]) -> Try<Vec<loops::Stmt>> {
        let mut out = Vec::new();
        for stmt in list {
            out.append(&mut self.statement(stmt)?);
        }
        Ok(out)
    }
}

impl Around {
    /// The expression without counting; `None` if the order would matter.
    fn taken_out(&mut self, e: &Expr, whole: &Expr) -> Option<Expr> {
        if !counts(e) {
            return Some(e.clone());
        }
        let kind = match &e.kind {
            ExprKind::Step(_, variable) => {
                let ExprKind::Ident(name) = &variable.kind else { return None };
                if uses(whole, name) != 1 {
                    return None;
                }
                // Parentheses stand on both sides.
                let (in_front, behind) = (variable.at.first - e.at.first, e.at.last - variable.at.last);
                let stmt = Stmt { kind: StmtKind::Expr(e.clone()), at: e.at };
                if behind > in_front {
                    self.after.push(stmt)
                } else {
                    self.before.push(stmt)
                }
                return Some((**variable).clone());
            }
            ExprKind::Index(a, b) => ExprKind::Index(self.boxed(a, whole)?, self.boxed(b, whole)?),
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, self.boxed(a, whole)?),
            ExprKind::Cast(ty, a) => ExprKind::Cast(ty.clone(), self.boxed(a, whole)?),
            ExprKind::Binary(op, a, b) if !matches!(op, Binary::And | Binary::Or) => {
                ExprKind::Binary(*op, self.boxed(a, whole)?, self.boxed(b, whole)?)
            }
            _ => return None,
        };
        Some(Expr { kind, ..e.clone() })
    }

    fn boxed(&mut self, e: &Expr, whole: &Expr) -> Option<Box<Expr>> {
        self.taken_out(e, whole).map(Box::new)
    }
}

/// Whether an expression counts something.
fn counts(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Step(..)) || parts(&e.kind).into_iter().any(counts)
}

/// How often a name is in an expression.
fn uses(e: &Expr, name: &str) -> usize {
    if !mentions(e, name) {
        return 0;
    }
    match &e.kind {
        ExprKind::Ident(_) => 1,
        kind => parts(kind).into_iter().map(|part| uses(part, name)).sum(),
    }
}
