//! Whether subscripts, bounds and conditions fit in 64 bits, for given ranges of the sizes.
//!
//! Interval arithmetic in 128 bits. Values that come from data (loads, calls) are not looked at:
//! their arithmetic is that of the source.

use std::collections::BTreeMap;

use arith::number::{floor_div, trunc_div};

use crate::{Access, BinaryOp, Expr, Function, Loop, Name, Scalar, Stmt, UnaryOp};

/// Least and greatest value.
pub type Range = (i128, i128);

/// Ranges of names; one that is not here may have any value that data has.
pub type Ranges = BTreeMap<Name, Range>;

/// An expression whose value may be beyond 64 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beyond(pub Expr);

/// Makes sure that all subscripts, bounds and conditions of a function fit in 64 bits.
///
/// # Errors
/// The first expression that may be beyond them.
pub fn check(function: &Function, sizes: &Ranges) -> Result<(), Beyond> {
    Walk { names: sizes.clone() }.stmts(&function.body)
}

/// The range of an expression; none if data gives it.
///
/// # Errors
/// The part of it that may be beyond 64 bits.
pub fn range(e: &Expr, names: &Ranges) -> Result<Option<Range>, Beyond> {
    let found = match e {
        Expr::Int(value) => Some((i128::from(*value), i128::from(*value))),
        Expr::I32(value) => Some((i128::from(*value), i128::from(*value))),
        Expr::Var(name) => names.get(name).copied(),
        Expr::Unary(UnaryOp::Neg, a) => range(a, names)?.map(|(low, high)| (-high, -low)),
        Expr::Binary(op, a, b) => match (range(a, names)?, range(b, names)?) {
            (Some(a), Some(b)) => binary(*op, a, b),
            _ => None,
        },
        Expr::Compare(_, a, b) => {
            range(a, names)?;
            range(b, names)?;
            None
        }
        Expr::Select(cond, a, b) => {
            range(cond, names)?;
            match (range(a, names)?, range(b, names)?) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                _ => None,
            }
        }
        Expr::Cast(to, a) => match (to, range(a, names)?) {
            (Scalar::I64, inner) => inner,
            (Scalar::I32, Some(inner)) if fits(inner, i32::MIN.into(), i32::MAX.into()) => Some(inner),
            (Scalar::I32, _) => Some((i32::MIN.into(), i32::MAX.into())),
            _ => None,
        },
        Expr::Unary(_, a) => {
            range(a, names)?;
            None
        }
        Expr::Load(access) => {
            access.indices.iter().try_for_each(|i| range(i, names).map(|_| ()))?;
            None
        }
        Expr::Call { args, .. } => {
            args.iter().try_for_each(|a| range(a, names).map(|_| ()))?;
            None
        }
        Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) => None,
    };
    match found {
        Some(found) if !fits(found, i64::MIN.into(), i64::MAX.into()) => Err(Beyond(e.clone())),
        found => Ok(found),
    }
}

/// The range of the value of an expression, if it and all its parts fit in 64 bits; none if data
/// gives it.
pub(crate) fn if_fits(e: &Expr, names: &Ranges) -> Option<Range> {
    let (low, high) = exact(e, names)?;
    let within = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into());
    Some((within(low), within(high)))
}

/// Whether the value of an operation fits in 64 bits, if those of its operands do.
pub fn operation_fits(e: &Expr, names: &Ranges) -> bool {
    exact(e, names).is_some_and(|range| fits(range, i64::MIN.into(), i64::MAX.into()))
}

/// The range of an operation's value, if its operands fit in 64 bits.
fn exact(e: &Expr, names: &Ranges) -> Option<Range> {
    match e {
        Expr::Int(value) => Some((i128::from(*value), i128::from(*value))),
        Expr::Var(name) => names.get(name).copied(),
        Expr::Unary(UnaryOp::Neg, a) => if_fits(a, names).map(|(low, high)| (-high, -low)),
        Expr::Binary(op, a, b) => binary(*op, if_fits(a, names)?, if_fits(b, names)?),
        _ => None,
    }
}

fn fits((low, high): Range, least: i128, most: i128) -> bool {
    least <= low && high <= most
}

/// Of ranges that are within 64 bits each.
fn binary(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    let least = corners.iter().copied().min().unwrap_or(0);
    let most = corners.iter().copied().max().unwrap_or(0);
    Some(match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
        BinaryOp::Mul => (least, most),
        BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
        BinaryOp::Div | BinaryOp::FloorDiv if b.0 == b.1 && b.0 > 0 => {
            (floor_div(a.0, b.0)?, trunc_div(a.1, b.0)?)
        }
        BinaryOp::Mod if b.0 == b.1 && b.0 > 0 => (0, b.0 - 1),
        BinaryOp::Rem if b.0 == b.1 && b.0 > 0 => (1 - b.0, b.0 - 1),
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::Rem => {
            let most = [a.0, a.1, b.0, b.1].iter().map(|v| v.abs()).max().unwrap_or(0);
            (-most, most)
        }
        _ => return None,
    })
}

struct Walk {
    names: Ranges,
}

impl Walk {
    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), Beyond> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn expr(&self, e: &Expr) -> Result<(), Beyond> {
        range(e, &self.names).map(|_| ())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Beyond> {
        match stmt {
            Stmt::Assign(assign) => {
                self.access(&assign.target)?;
                let loaded: Vec<_> = assign.value.loads().cloned().collect();
                loaded.iter().try_for_each(|access| self.access(access))
            }
            Stmt::Loop(l) => self.loop_(l),
            Stmt::If { cond, then, otherwise } => {
                self.expr(cond)?;
                self.stmts(then)?;
                self.stmts(otherwise)
            }
            Stmt::Local(local) => local.dims.iter().try_for_each(|d| self.expr(d)),
            Stmt::Block { body, .. } => self.stmts(body),
            Stmt::Copy(copy) => {
                copy.extents.iter().try_for_each(|e| self.expr(e))?;
                self.access(&copy.to)?;
                self.access(&copy.from)
            }
            Stmt::Wait(_) => Ok(()),
        }
    }

    fn access(&self, access: &Access) -> Result<(), Beyond> {
        access.indices.iter().try_for_each(|i| self.expr(i))
    }

    fn loop_(&mut self, l: &Loop) -> Result<(), Beyond> {
        let (lower, upper) = (range(&l.lower, &self.names)?, range(&l.upper, &self.names)?);
        let inside = match (lower, upper) {
            // No iteration.
            (Some(lower), Some(upper)) if upper.1 <= lower.0 => return Ok(()),
            (Some(lower), Some(upper)) => Some((lower.0, upper.1 - 1)),
            _ => None,
        };
        if let Some((_, last)) = inside
            && last + i128::from(l.step.max(1)) > i128::from(i64::MAX)
        {
            return Err(Beyond(l.upper.clone()));
        }
        let before = match inside {
            Some(range) => self.names.insert(l.var.clone(), range),
            None => self.names.remove(&l.var),
        };
        let body = self.stmts(&l.body);
        match before {
            Some(range) => self.names.insert(l.var.clone(), range),
            None => self.names.remove(&l.var),
        };
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(of: &[(&str, i128, i128)]) -> Ranges {
        of.iter().map(|(name, low, high)| (Name::new(*name), (*low, *high))).collect()
    }

    fn function(text: &str) -> Function {
        crate::parse(text).expect("a program").functions.remove(0)
    }

    #[test]
    fn a_scaled_loop_fits_for_sizes_of_32_bits_and_not_for_those_of_64() {
        let f = function(
            "fn f[n](a: inout f64[n]) {\n  for i in 0..100 * n step 100 {\n    a[i floordiv 100] = 0.0\n  }\n}\n",
        );
        assert_eq!(check(&f, &sizes(&[("n", i32::MIN.into(), i32::MAX.into())])), Ok(()));
        assert_eq!(check(&f, &sizes(&[("n", 0, 1 << 48)])), Ok(()));
        assert!(check(&f, &sizes(&[("n", 0, i64::MAX.into())])).is_err());
    }

    #[test]
    fn the_step_beyond_the_last_iteration_counts() {
        let f = function("fn f[n](a: inout f64[n]) {\n  for i in 0..n step 32 {\n    a[i] = 0.0\n  }\n}\n");
        assert_eq!(check(&f, &sizes(&[("n", 0, i128::from(i64::MAX) - 31)])), Ok(()));
        assert!(check(&f, &sizes(&[("n", 0, i64::MAX.into())])).is_err());
    }
}
