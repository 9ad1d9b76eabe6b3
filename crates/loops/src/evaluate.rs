//! Evaluates expressions that read no memory: extents, bounds, conditions on sizes.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::name::Name;
use crate::value::{Undefined, Value};

/// The value of an expression over loop variables and sizes that reads no memory. Index arithmetic
/// is exact. Arithmetic on data wraps.
///
/// # Errors
/// Index arithmetic beyond 64 bits; loads, calls, names without a value.
pub fn expr(e: &Expr, value_of: &dyn Fn(&Name) -> Option<i64>) -> Result<Value, Undefined> {
    if let Some(constant) = Value::of(e) {
        return Ok(constant);
    }
    let of = |e: &Expr| self::expr(e, value_of);
    match e {
        Expr::Var(name) => value_of(name).map(Value::I64).ok_or(Undefined::Unknown),
        Expr::Unary(UnaryOp::Neg, a) if !e.is_data() => match of(a)? {
            Value::I64(a) => Value::exact(BinaryOp::Sub, 0, a).map(Value::I64),
            a => Value::unary(UnaryOp::Neg, a),
        },
        Expr::Unary(op, a) => Value::unary(*op, of(a)?),
        Expr::Binary(op, a, b) => match (of(a)?, of(b)?) {
            (Value::I64(a), Value::I64(b)) if Value::may_overflow(*op) && !e.is_data() => {
                Value::exact(*op, a, b).map(Value::I64)
            }
            (a, b) => Value::binary(*op, a, b),
        },
        Expr::Compare(op, a, b) => Value::compare(*op, of(a)?, of(b)?).map(Value::Bool),
        Expr::Select(cond, then, otherwise) => match of(cond)? {
            Value::Bool(true) => of(then),
            Value::Bool(false) => of(otherwise),
            _ => Err(Undefined::Types),
        },
        Expr::Cast(to, a) => Ok(of(a)?.cast(*to)),
        _ => Err(Undefined::Unknown),
    }
}
