//! Conditions on loop variables and sizes: comparisons of index expressions with `&&`, `||`, `!`
//! and `? :`, and what follows from them where they hold and where they do not.

use loops::{BinaryOp, CompareOp, Expr as Hub, UnaryOp};

use super::Lowering;
use super::index::{Index, NotIndex, not, too_large};
use super::resolve::Meaning;
use crate::ast::{At, Binary, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType};
use crate::linear::Linear;

/// A condition on loop variables and sizes.
#[derive(Clone, Debug)]
pub struct Condition {
    pub expr: Hub,
    /// Forms that are at least 0 where it holds.
    pub holds: Vec<Linear>,
    /// Forms that are at least 0 where it does not.
    pub fails: Vec<Linear>,
}

impl Lowering<'_> {
    /// Translates a condition on loop variables and sizes.
    pub(super) fn condition(&mut self, e: &Expr) -> Result<Condition, NotIndex> {
        if let Some((k, op)) = self.null_test(e) {
            let name = self.res.objects[k].name.clone();
            let given = self.computed_size(format!("{name} != 0"), format!("(long)({name} != 0)"));
            let given = Index::variable(self.name_of(given), IntType::Int);
            return self.comparison(op, given, Index::constant(0), e.at);
        }
        match &e.kind {
            ExprKind::Binary(Binary::And, a, b) => {
                let a = self.condition(a)?;
                let mark = self.known.len();
                self.known.extend(a.holds.iter().cloned());
                let b = self.condition(b);
                self.known.truncate(mark);
                let b = b?;
                let expr = match (a.expr, b.expr) {
                    (Hub::Bool(true), other) | (other, Hub::Bool(true)) => other,
                    (Hub::Bool(false), _) | (_, Hub::Bool(false)) => Hub::Bool(false),
                    (a, b) => Hub::binary(BinaryOp::And, a, b),
                };
                Ok(Condition { expr, holds: [a.holds, b.holds].concat(), fails: Vec::new() })
            }
            ExprKind::Binary(Binary::Or, a, b) => {
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                let expr = match (a.expr, b.expr) {
                    (Hub::Bool(false), other) | (other, Hub::Bool(false)) => other,
                    (Hub::Bool(true), _) | (_, Hub::Bool(true)) => Hub::Bool(true),
                    (a, b) => Hub::binary(BinaryOp::Or, a, b),
                };
                Ok(Condition { expr, holds: Vec::new(), fails: [a.fails, b.fails].concat() })
            }
            ExprKind::Unary(Unary::Not, a) => {
                let a = self.condition(a)?;
                Ok(Condition { expr: negate(a.expr), holds: a.fails, fails: a.holds })
            }
            ExprKind::Binary(op, a, b) if compare_op(*op).is_some() => {
                // A wrapped difference decides otherwise without going out of bounds.
                let strict = std::mem::replace(&mut self.strict, true);
                let sides = (self.index(a), self.index(b));
                self.strict = strict;
                let (left, right) = (sides.0?, sides.1?);
                let ty = left.ty.common(right.ty);
                if ty.is_unsigned() {
                    for (side, e) in [(&left, a), (&right, b)] {
                        if !side.ty.is_unsigned() && !self.holds(&side.form) {
                            return Err(not(
                                format!(
                                    "`{}` is compared as unsigned and may be negative",
                                    self.snippet(e.at)
                                ),
                                e.at,
                            ));
                        }
                    }
                }
                let op = compare_op(*op).unwrap_or(CompareOp::Eq);
                self.comparison(op, left, right, e.at)
            }
            ExprKind::Conditional(c, a, b) => {
                let (c, a, b) = (self.condition(c)?, self.condition(a)?, self.condition(b)?);
                let then = Hub::binary(BinaryOp::And, c.expr.clone(), a.expr);
                let otherwise = Hub::binary(BinaryOp::And, negate(c.expr), b.expr);
                let expr = Hub::binary(BinaryOp::Or, then, otherwise);
                Ok(Condition { expr, holds: Vec::new(), fails: Vec::new() })
            }
            _ => {
                let value = self.index(e)?;
                self.comparison(CompareOp::Ne, value, Index::constant(0), e.at)
            }
        }
    }

    /// A pointer that the region does not move and that is compared with the null pointer, as in
    /// `if (bias)`: an argument that callers may leave out.
    fn null_test(&self, e: &Expr) -> Option<(usize, CompareOp)> {
        let pointer = |e: &Expr| {
            let ExprKind::Ident(_) = e.kind else { return None };
            let Meaning::Object(k) = self.meaning(e) else { return None };
            let object = &self.res.objects[k];
            let stays = object.place.is_some()
                && object.moved.is_empty()
                && object.loops.is_empty()
                && !object.ty.volatile
                && !object.name.contains(['.', '-', '[']);
            (stays && matches!(object.ty.ty, CType::Pointer { .. })).then_some(k)
        };
        match &e.kind {
            ExprKind::Ident(_) => pointer(e).map(|k| (k, CompareOp::Ne)),
            ExprKind::Binary(op @ (Binary::Eq | Binary::Ne), a, b) => {
                let k = match (is_null(a), is_null(b)) {
                    (false, true) => pointer(a)?,
                    (true, false) => pointer(b)?,
                    _ => return None,
                };
                Some((k, compare_op(*op)?))
            }
            _ => None,
        }
    }

    pub(super) fn comparison(
        &mut self,
        op: CompareOp,
        left: Index,
        right: Index,
        at: At,
    ) -> Result<Condition, NotIndex> {
        let less = right.form.minus(&left.form).ok_or_else(|| too_large(at))?;
        let more = less.negated().ok_or_else(|| too_large(at))?;
        let strictly = |form: &Linear| form.plus_constant(-1).ok_or_else(|| too_large(at));
        let (holds, fails) = match op {
            CompareOp::Lt => (vec![strictly(&less)?], vec![more]),
            CompareOp::Le => (vec![less], vec![strictly(&more)?]),
            CompareOp::Gt => (vec![strictly(&more)?], vec![less]),
            CompareOp::Ge => (vec![more], vec![strictly(&less)?]),
            CompareOp::Eq => (vec![less, more], Vec::new()),
            CompareOp::Ne => (Vec::new(), vec![less, more]),
        };
        if let (Some(a), Some(b)) = (left.form.as_constant(), right.form.as_constant()) {
            let value = match op {
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
            };
            return Ok(Condition { expr: Hub::Bool(value), holds: Vec::new(), fails: Vec::new() });
        }
        // A remainder is zero whichever way it was rounded.
        let left = match (left.expr, &right.expr, op) {
            (Hub::Binary(BinaryOp::Rem, a, d), Hub::Int(0), CompareOp::Eq | CompareOp::Ne) => {
                Hub::Binary(BinaryOp::Mod, a, d)
            }
            (other, ..) => other,
        };
        Ok(Condition { expr: Hub::compare(op, left, right.expr), holds, fails })
    }
}

/// Whether an expression is `0` or `(void *)0`.
fn is_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(value, _) => *value == 0,
        ExprKind::Cast(ty, inner) => matches!(ty.ty, CType::Pointer { .. }) && is_null(inner),
        _ => false,
    }
}

/// If `cond ? a : b` is the larger (`true`) or smaller one of `a` and `b`.
pub(crate) fn as_extremum(cond: &Hub, a: &Hub, b: &Hub) -> Option<bool> {
    let Hub::Compare(op, left, right) = cond else { return None };
    let same = **left == *a && **right == *b;
    let swapped = **left == *b && **right == *a;
    match op {
        _ if !(same || swapped) => None,
        CompareOp::Lt | CompareOp::Le => Some(!same),
        CompareOp::Gt | CompareOp::Ge => Some(same),
        _ => None,
    }
}

/// The opposite of a truth value, with `Not` only where nothing simpler says it.
pub fn negate(e: Hub) -> Hub {
    match e {
        Hub::Compare(op, a, b) => Hub::Compare(op.negated(), a, b),
        Hub::Binary(BinaryOp::And, a, b) => Hub::binary(BinaryOp::Or, negate(*a), negate(*b)),
        Hub::Binary(BinaryOp::Or, a, b) => Hub::binary(BinaryOp::And, negate(*a), negate(*b)),
        Hub::Unary(UnaryOp::Not, a) => *a,
        Hub::Bool(value) => Hub::Bool(!value),
        other => Hub::unary(UnaryOp::Not, other),
    }
}

pub(crate) fn compare_op(op: Binary) -> Option<CompareOp> {
    Some(match op {
        Binary::Lt => CompareOp::Lt,
        Binary::Le => CompareOp::Le,
        Binary::Gt => CompareOp::Gt,
        Binary::Ge => CompareOp::Ge,
        Binary::Eq => CompareOp::Eq,
        Binary::Ne => CompareOp::Ne,
        _ => return None,
    })
}
