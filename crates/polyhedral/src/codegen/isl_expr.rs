//! Expressions of the set library's syntax trees as index expressions, tidied so that a person can
//! read them.

use isl::{AstExpr, AstExprKind, AstOp};
use loops::simplify::tidy;
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
        // Exact, or of a non-negative dividend: rounding does not matter. A remainder that is
        // compared with zero: nor does its sign.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_past_a_minimum_is_the_minimum_of_the_ends() {
        let (n, i) = (Expr::var("n"), Expr::var("i"));
        assert_eq!(plus(n.clone().min(i.clone() + 31), 1), (n + 1).min(i + 32));
    }
}
