//! Expressions of the set library's syntax trees as index expressions, tidied so that a person can read them.

use isl::{AstExpr, AstExprKind, AstOp};
use loops::{BinaryOp, CompareOp, Expr, UnaryOp};

use crate::fault::{self, Result};

/// Depth of expressions that is accepted.
const MAX_DEPTH: usize = 400;

/// Reads an expression; `name` gives what an identifier stands for.
pub(super) fn read(expr: &AstExpr, name: &dyn Fn(&str) -> Expr) -> Result<Expr> {
    go(expr, name, 0).map(|e| tidy(&e))
}

fn go(expr: &AstExpr, name: &dyn Fn(&str) -> Expr, depth: usize) -> Result<Expr> {
    if depth > MAX_DEPTH {
        return Err(fault::limit("the depth of generated expressions"));
    }
    let (op, args) = match expr.kind().map_err(fault::library)? {
        AstExprKind::Int(value) => return Ok(Expr::Int(value)),
        AstExprKind::Id(id) => return Ok(name(&id)),
        AstExprKind::Op(op, args) => (op, args),
    };
    let args = args.iter().map(|arg| go(arg, name, depth + 1)).collect::<Result<Vec<_>>>()?;
    let mut rest = args.into_iter();
    let mut next =
        || rest.next().ok_or_else(|| fault::generation(format!("an operation without operands: {expr}")));
    let binary = match op {
        AstOp::Minus => return Ok(Expr::unary(UnaryOp::Neg, next()?)),
        AstOp::Max | AstOp::Min => {
            let op = if op == AstOp::Max { BinaryOp::Max } else { BinaryOp::Min };
            let first = next()?;
            return Ok(rest.fold(first, |a, b| Expr::binary(op, a, b)));
        }
        AstOp::Cond | AstOp::Select => {
            let (condition, yes, no) = (truth(next()?), next()?, next()?);
            return Ok(Expr::Select(Box::new(condition), Box::new(yes), Box::new(no)));
        }
        AstOp::Eq => return Ok(Expr::compare(CompareOp::Eq, next()?, next()?)),
        AstOp::Le => return Ok(Expr::compare(CompareOp::Le, next()?, next()?)),
        AstOp::Lt => return Ok(Expr::compare(CompareOp::Lt, next()?, next()?)),
        AstOp::Ge => return Ok(Expr::compare(CompareOp::Ge, next()?, next()?)),
        AstOp::Gt => return Ok(Expr::compare(CompareOp::Gt, next()?, next()?)),
        AstOp::And | AstOp::AndThen => {
            return Ok(Expr::binary(BinaryOp::And, truth(next()?), truth(next()?)));
        }
        AstOp::Or | AstOp::OrElse => return Ok(Expr::binary(BinaryOp::Or, truth(next()?), truth(next()?))),
        AstOp::Add => BinaryOp::Add,
        AstOp::Sub => BinaryOp::Sub,
        AstOp::Mul => BinaryOp::Mul,
        // Exact, or of a non-negative dividend: rounding does not matter. A remainder that is compared with zero: nor does its sign.
        AstOp::Div | AstOp::FloorDiv | AstOp::PosDiv => BinaryOp::FloorDiv,
        AstOp::PosRem | AstOp::ZeroRem => BinaryOp::Mod,
        AstOp::Call | AstOp::Access | AstOp::Member | AstOp::AddressOf => {
            return Err(fault::generation(format!("an expression that is not arithmetic: {expr}")));
        }
    };
    Ok(Expr::binary(binary, next()?, next()?))
}

/// Reads a condition.
pub(super) fn read_condition(expr: &AstExpr, name: &dyn Fn(&str) -> Expr) -> Result<Expr> {
    go(expr, name, 0).map(|e| tidy(&truth(e)))
}

/// Where a truth value is expected the set library writes numbers for the constants.
fn truth(expr: Expr) -> Expr {
    match expr {
        Expr::Int(value) => Expr::Bool(value != 0),
        other => other,
    }
}

/// `expr + n`.
pub(super) fn plus(expr: Expr, n: i64) -> Expr {
    match expr {
        // One past a minimum is the minimum of the ends.
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => {
            Expr::binary(op, plus(*a, n), plus(*b, n))
        }
        other => tidy(&Expr::binary(BinaryOp::Add, other, Expr::Int(n))),
    }
}

/// A sum as constant factors of terms, in the order in which they first occur, and a constant. A linear form of `arith` would forget the order, and with it
/// what a person wrote.
struct Sum {
    terms: Vec<(Expr, i64)>,
    constant: i64,
}

impl Sum {
    fn of(expr: &Expr) -> Option<Sum> {
        let mut sum = Sum { terms: Vec::new(), constant: 0 };
        sum.collect(expr, 1)?;
        Some(sum)
    }

    /// Adds `factor * expr`; `None` on overflow.
    fn collect(&mut self, expr: &Expr, factor: i64) -> Option<()> {
        match expr {
            Expr::Int(value) => self.constant = self.constant.checked_add(value.checked_mul(factor)?)?,
            Expr::Binary(BinaryOp::Add, a, b) => {
                self.collect(a, factor)?;
                self.collect(b, factor)?;
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                self.collect(a, factor)?;
                self.collect(b, factor.checked_neg()?)?;
            }
            Expr::Unary(UnaryOp::Neg, a) => self.collect(a, factor.checked_neg()?)?,
            Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
                (Expr::Int(value), other) | (other, Expr::Int(value)) => {
                    self.collect(other, factor.checked_mul(*value)?)?;
                }
                _ => self.term(expr, factor)?,
            },
            _ => self.term(expr, factor)?,
        }
        Some(())
    }

    fn term(&mut self, expr: &Expr, factor: i64) -> Option<()> {
        match self.terms.iter_mut().find(|(term, _)| term == expr) {
            Some((_, old)) => *old = old.checked_add(factor)?,
            None => self.terms.push((expr.clone(), factor)),
        }
        Some(())
    }

    fn build(self) -> Option<Expr> {
        let mut result: Option<Expr> = None;
        let terms = self.terms.into_iter().filter(|(_, factor)| *factor != 0);
        let (positive, negative): (Vec<_>, Vec<_>) = terms.partition(|(_, factor)| *factor > 0);
        for (term, factor) in positive.into_iter().chain(negative) {
            let scaled = |magnitude: i64| match magnitude {
                1 => term.clone(),
                n => Expr::binary(BinaryOp::Mul, Expr::Int(n), term.clone()),
            };
            result = Some(match result {
                None if factor == -1 => Expr::unary(UnaryOp::Neg, term),
                None => scaled(factor),
                Some(sum) if factor < 0 => Expr::binary(BinaryOp::Sub, sum, scaled(factor.checked_neg()?)),
                Some(sum) => Expr::binary(BinaryOp::Add, sum, scaled(factor)),
            });
        }
        Some(match (result, self.constant) {
            (None, c) => Expr::Int(c),
            (Some(sum), 0) => sum,
            (Some(Expr::Unary(UnaryOp::Neg, a)), c) => Expr::binary(BinaryOp::Sub, Expr::Int(c), *a),
            (Some(sum), c) if c < 0 => Expr::binary(BinaryOp::Sub, sum, Expr::Int(c.checked_neg()?)),
            (Some(sum), c) => Expr::binary(BinaryOp::Add, sum, Expr::Int(c)),
        })
    }
}

/// The same value in fewer words: integer sums are collected, data expressions are left as they are.
pub(crate) fn tidy(expr: &Expr) -> Expr {
    if is_index_sum(expr)
        && let Some(tidied) = Sum::of(&expr.map_children(&mut tidy)).and_then(Sum::build)
    {
        return tidied;
    }
    let expr = expr.map_children(&mut tidy);
    match &expr {
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, a, b) if a == b => (**a).clone(),
        Expr::Binary(BinaryOp::FloorDiv, a, b) if **b == Expr::Int(1) => (**a).clone(),
        Expr::Compare(op, a, b) => match (&**a, &**b) {
            (Expr::Int(a), Expr::Int(b)) => Expr::Bool(match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            }),
            _ => expr,
        },
        Expr::Unary(UnaryOp::Not, a) => match **a {
            Expr::Bool(value) => Expr::Bool(!value),
            _ => expr,
        },
        Expr::Select(cond, yes, no) => match **cond {
            Expr::Bool(true) => (**yes).clone(),
            Expr::Bool(false) => (**no).clone(),
            _ => expr,
        },
        Expr::Binary(BinaryOp::And, a, b) => match (&**a, &**b) {
            (Expr::Bool(true), other) | (other, Expr::Bool(true)) => other.clone(),
            (Expr::Bool(false), _) | (_, Expr::Bool(false)) => Expr::Bool(false),
            _ => expr,
        },
        Expr::Binary(BinaryOp::Or, a, b) => match (&**a, &**b) {
            (Expr::Bool(false), other) | (other, Expr::Bool(false)) => other.clone(),
            (Expr::Bool(true), _) | (_, Expr::Bool(true)) => Expr::Bool(true),
            _ => expr,
        },
        _ => expr,
    }
}

/// Whether a sum, difference or product is of loop variables, sizes and integers: only such may be reassociated.
fn is_index_sum(expr: &Expr) -> bool {
    fn index(expr: &Expr) -> bool {
        match expr {
            Expr::Int(_) | Expr::Var(_) => true,
            Expr::Unary(UnaryOp::Neg, a) => index(a),
            Expr::Binary(op, a, b) => op.is_arithmetic() && index(a) && index(b),
            _ => false,
        }
    }
    let sum = matches!(
        expr,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) | Expr::Unary(UnaryOp::Neg, _)
    );
    sum && index(expr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i() -> Expr {
        Expr::var("i")
    }

    #[test]
    fn sums_are_collected_and_data_is_left() {
        let sum = Expr::Int(4) * (i() + 2) - (i() * 3) - 8;
        assert_eq!(tidy(&sum), i());
        assert_eq!(tidy(&(Expr::Int(0) - i() + 5)), Expr::Int(5) - i());
        let data = Expr::load("a", vec![i() + 1 - 1]) + Expr::load("a", vec![i()]);
        assert_eq!(tidy(&data), Expr::load("a", vec![i()]) + Expr::load("a", vec![i()]));
        let huge = Expr::Int(i64::MAX) + i() + 1;
        assert_eq!(tidy(&huge), i() + i64::MAX + 1, "what would overflow is not added up");
        assert_eq!(plus(Expr::var("n").min(i() + 31), 1), (Expr::var("n") + 1).min(i() + 32));
    }
}
