//! Scalar operations on values, as sequential C computes them.

use loops::value::{self, Undefined};
use loops::{BinaryOp, Scalar, UnaryOp};

use super::array::Val;
use super::{Fault, Outcome};
use crate::prim::Prim;

pub(super) type Unary = fn(&Val) -> Outcome<Val>;
pub(super) type Binary = fn(&Val, &Val) -> Outcome<Val>;

fn ill(x: &Val) -> Box<Fault> {
    Fault::new(format!("no operation on {x:?}"))
}

macro_rules! float_fn {
    ($name:ident) => {
        |x| match x {
            Val::F64(x) => Ok(Val::F64(x.$name())),
            Val::F32(x) => Ok(Val::F32(x.$name())),
            x => Err(ill(x)),
        }
    };
}

macro_rules! arithmetic {
    ($op:tt, $wrapping:ident) => {
        |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::F64(x $op y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::F32(x $op y)),
            (Val::I32(x), Val::I32(y)) => Ok(Val::I32(x.$wrapping(*y))),
            (Val::I64(x), Val::I64(y)) => Ok(Val::I64(x.$wrapping(*y))),
            (x, _) => Err(ill(x)),
        }
    };
}

macro_rules! comparison {
    ($op:tt) => {
        |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::Bool(x $op y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::Bool(x $op y)),
            (Val::I32(x), Val::I32(y)) => Ok(Val::Bool(x $op y)),
            (Val::I64(x), Val::I64(y)) => Ok(Val::Bool(x $op y)),
            (x, _) => Err(ill(x)),
        }
    };
}

/// The operation of a unary scalar primitive other than conversions.
pub(super) fn unary(prim: Prim) -> Option<Unary> {
    Some(match prim {
        Prim::Neg => |x| match x {
            Val::F64(x) => Ok(Val::F64(-x)),
            Val::F32(x) => Ok(Val::F32(-x)),
            Val::I32(x) => Ok(Val::I32(x.wrapping_neg())),
            Val::I64(x) => Ok(Val::I64(x.wrapping_neg())),
            x => Err(ill(x)),
        },
        Prim::Abs => |x| match x {
            Val::F64(x) => Ok(Val::F64(x.abs())),
            Val::F32(x) => Ok(Val::F32(x.abs())),
            Val::I32(x) => Ok(Val::I32(x.wrapping_abs())),
            Val::I64(x) => Ok(Val::I64(x.wrapping_abs())),
            x => Err(ill(x)),
        },
        Prim::Sqrt => float_fn!(sqrt),
        Prim::Exp => float_fn!(exp),
        Prim::Log => float_fn!(ln),
        Prim::Tanh => float_fn!(tanh),
        Prim::Sin => |x| hub_unary(UnaryOp::Sin, x),
        Prim::Cos => |x| hub_unary(UnaryOp::Cos, x),
        Prim::Atan => |x| hub_unary(UnaryOp::Atan, x),
        Prim::Tan => |x| hub_unary(UnaryOp::Tan, x),
        Prim::Asin => |x| hub_unary(UnaryOp::Asin, x),
        Prim::Acos => |x| hub_unary(UnaryOp::Acos, x),
        Prim::Sinh => |x| hub_unary(UnaryOp::Sinh, x),
        Prim::Cosh => |x| hub_unary(UnaryOp::Cosh, x),
        Prim::Exp2 => |x| hub_unary(UnaryOp::Exp2, x),
        Prim::Expm1 => |x| hub_unary(UnaryOp::Expm1, x),
        Prim::Log2 => |x| hub_unary(UnaryOp::Log2, x),
        Prim::Log10 => |x| hub_unary(UnaryOp::Log10, x),
        Prim::Log1p => |x| hub_unary(UnaryOp::Log1p, x),
        Prim::Trunc => |x| hub_unary(UnaryOp::Trunc, x),
        Prim::Floor => |x| hub_unary(UnaryOp::Floor, x),
        Prim::Ceil => |x| hub_unary(UnaryOp::Ceil, x),
        Prim::Round => |x| hub_unary(UnaryOp::Round, x),
        Prim::Bits32 | Prim::Bits64 | Prim::Float32 | Prim::Float64 => |x| hub_unary(UnaryOp::Bits, x),
        Prim::Not => |x| Ok(Val::Bool(!x.truth())),
        Prim::ToF32 => |x| cast(Scalar::F32, x),
        Prim::ToF64 => |x| cast(Scalar::F64, x),
        Prim::ToI32 => |x| cast(Scalar::I32, x),
        Prim::ToI64 => |x| cast(Scalar::I64, x),
        _ => return None,
    })
}

/// The operation of a binary scalar primitive that evaluates both sides.
pub(super) fn binary(prim: Prim) -> Option<Binary> {
    Some(match prim {
        Prim::Add => arithmetic!(+, wrapping_add),
        Prim::Sub => arithmetic!(-, wrapping_sub),
        Prim::Mul => arithmetic!(*, wrapping_mul),
        Prim::Div => |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::F64(x / y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::F32(x / y)),
            _ => hub_binary(BinaryOp::FloorDiv, x, y),
        },
        Prim::Mod => |x, y| hub_binary(BinaryOp::Mod, x, y),
        Prim::Min => |x, y| hub_binary(BinaryOp::Min, x, y),
        Prim::Max => |x, y| hub_binary(BinaryOp::Max, x, y),
        Prim::Pow => |x, y| hub_binary(BinaryOp::Pow, x, y),
        Prim::Atan2 => |x, y| hub_binary(BinaryOp::Atan2, x, y),
        Prim::Hypot => |x, y| hub_binary(BinaryOp::Hypot, x, y),
        Prim::Fmod => |x, y| hub_binary(BinaryOp::Rem, x, y),
        Prim::BitAnd => |x, y| hub_binary(BinaryOp::BitAnd, x, y),
        Prim::BitOr => |x, y| hub_binary(BinaryOp::BitOr, x, y),
        Prim::BitXor => |x, y| hub_binary(BinaryOp::BitXor, x, y),
        Prim::ShiftLeft => |x, y| hub_binary(BinaryOp::Shl, x, y),
        Prim::ShiftRight => |x, y| hub_binary(BinaryOp::Shr, x, y),
        Prim::Eq => comparison!(==),
        Prim::Ne => comparison!(!=),
        Prim::Lt => comparison!(<),
        Prim::Le => comparison!(<=),
        Prim::Gt => comparison!(>),
        Prim::Ge => comparison!(>=),
        _ => return None,
    })
}

/// An operation that is defined for the loop IR.
fn hub_unary(op: UnaryOp, x: &Val) -> Outcome<Val> {
    Ok(from_hub(value::Value::unary(op, to_hub(x)?).map_err(undefined)?))
}

/// As [`hub_unary`].
fn hub_binary(op: BinaryOp, x: &Val, y: &Val) -> Outcome<Val> {
    Ok(from_hub(value::Value::binary(op, to_hub(x)?, to_hub(y)?).map_err(undefined)?))
}

fn undefined(why: Undefined) -> Box<Fault> {
    Fault::new(why.to_string())
}

fn to_hub(x: &Val) -> Outcome<value::Value> {
    Ok(match x {
        Val::F32(v) => value::Value::F32(*v),
        Val::F64(v) => value::Value::F64(*v),
        Val::I32(v) => value::Value::I32(*v),
        Val::I64(v) => value::Value::I64(*v),
        Val::Bool(v) => value::Value::Bool(*v),
        x => return Err(ill(x)),
    })
}

fn from_hub(x: value::Value) -> Val {
    match x {
        value::Value::F32(v) => Val::F32(v),
        value::Value::F64(v) => Val::F64(v),
        value::Value::I32(v) => Val::I32(v),
        value::Value::I64(v) => Val::I64(v),
        value::Value::Bool(v) => Val::Bool(v),
        other => unreachable!("functional programs have no numbers of type {}", other.scalar()),
    }
}

/// Conversion as in C; out of range it saturates, where C leaves the result open.
fn cast(to: Scalar, x: &Val) -> Outcome<Val> {
    macro_rules! from {
        ($x:expr) => {
            match to {
                Scalar::F32 => Val::F32($x as f32),
                Scalar::F64 => Val::F64($x as f64),
                Scalar::I32 => Val::I32($x as i32),
                Scalar::I64 => Val::I64($x as i64),
                _ => return Err(ill(x)),
            }
        };
    }
    Ok(match x {
        Val::F32(v) => from!(*v),
        Val::F64(v) => from!(*v),
        Val::I32(v) => from!(*v),
        Val::I64(v) => from!(*v),
        Val::Bool(v) => from!(i32::from(*v)),
        x => return Err(ill(x)),
    })
}

/// The constant of this type.
pub(super) fn constant(scalar: Scalar, value: i32) -> Val {
    match scalar {
        Scalar::F32 => Val::F32(value as f32),
        Scalar::F64 => Val::F64(f64::from(value)),
        Scalar::I32 => Val::I32(value),
        Scalar::I64 => Val::I64(i64::from(value)),
        Scalar::Bool => Val::Bool(value != 0),
        other => unreachable!("functional programs have no numbers of type {other}"),
    }
}
