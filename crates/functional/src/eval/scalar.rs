//! Scalar operations on values, as sequential C computes them.

use loops::value::{self, Undefined};
use loops::{BinaryOp, CompareOp, Scalar, UnaryOp};

use super::array::Val;
use super::{Fault, Outcome};
use crate::prim::{Group, Prim};

type Unary = fn(&Val) -> Outcome<Val>;
type Binary = fn(&Val, &Val) -> Outcome<Val>;

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
    ($op:tt, $wrapping:ident, $hub:expr) => {
        |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::F64(x $op y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::F32(x $op y)),
            (Val::I32(x), Val::I32(y)) => Ok(Val::I32(x.$wrapping(*y))),
            (Val::I64(x), Val::I64(y)) => Ok(Val::I64(x.$wrapping(*y))),
            (x, y) => hub_binary($hub, x, y),
        }
    };
}

macro_rules! comparison {
    ($op:tt, $hub:expr) => {
        |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::Bool(x $op y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::Bool(x $op y)),
            (Val::I32(x), Val::I32(y)) => Ok(Val::Bool(x $op y)),
            (Val::I64(x), Val::I64(y)) => Ok(Val::Bool(x $op y)),
            (x, y) => {
                let holds = value::Value::compare($hub, to_hub(x)?, to_hub(y)?);
                Ok(Val::Bool(holds.map_err(undefined)?))
            }
        }
    };
}

/// The operation of a unary scalar primitive, conversions included.
pub(super) fn unary(prim: Prim) -> Option<impl Fn(&Val) -> Outcome<Val>> {
    let (own, op) = (own_unary(prim), prim.unary_operator());
    let to = prim.conversion();
    (own.is_some() || op.is_some() || to.is_some()).then_some(move |x: &Val| match (own, op, to) {
        (Some(own), _, _) => own(x),
        (None, Some(op), _) => hub_unary(op, x),
        (None, None, Some(to)) => Ok(from_hub(to_hub(x)?.cast(to))),
        (None, None, None) => Err(ill(x)),
    })
}

/// Those that are not left to the definition of the loop IR.
fn own_unary(prim: Prim) -> Option<Unary> {
    Some(match prim {
        Prim::Neg => |x| match x {
            Val::F64(x) => Ok(Val::F64(-x)),
            Val::F32(x) => Ok(Val::F32(-x)),
            Val::I32(x) => Ok(Val::I32(x.wrapping_neg())),
            Val::I64(x) => Ok(Val::I64(x.wrapping_neg())),
            x => hub_unary(UnaryOp::Neg, x),
        },
        Prim::Abs => |x| match x {
            Val::F64(x) => Ok(Val::F64(x.abs())),
            Val::F32(x) => Ok(Val::F32(x.abs())),
            Val::I32(x) => Ok(Val::I32(x.wrapping_abs())),
            Val::I64(x) => Ok(Val::I64(x.wrapping_abs())),
            x => hub_unary(UnaryOp::Abs, x),
        },
        Prim::Sqrt => float_fn!(sqrt),
        Prim::Exp => float_fn!(exp),
        Prim::Log => float_fn!(ln),
        Prim::Tanh => float_fn!(tanh),
        Prim::Not => |x| Ok(Val::Bool(!x.truth())),
        _ => return None,
    })
}

/// The operation of a binary scalar primitive that evaluates both sides.
pub(super) fn binary(prim: Prim) -> Option<impl Fn(&Val, &Val) -> Outcome<Val>> {
    let lazy = matches!(prim, Prim::And | Prim::Or);
    let is_scalar = prim.info().group == Group::Scalar && !lazy;
    // `own_binary` has the one that depends on the type.
    let op = prim.binary_operator(Scalar::I64).filter(|_| is_scalar);
    let own = own_binary(prim);
    (own.is_some() || op.is_some()).then_some(move |x: &Val, y: &Val| match (own, op) {
        (Some(own), _) => own(x, y),
        (None, Some(op)) => hub_binary(op, x, y),
        (None, None) => Err(ill(x)),
    })
}

/// As [`own_unary`].
fn own_binary(prim: Prim) -> Option<Binary> {
    Some(match prim {
        Prim::Add => arithmetic!(+, wrapping_add, BinaryOp::Add),
        Prim::Sub => arithmetic!(-, wrapping_sub, BinaryOp::Sub),
        Prim::Mul => arithmetic!(*, wrapping_mul, BinaryOp::Mul),
        Prim::Div => |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::F64(x / y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::F32(x / y)),
            _ => hub_binary(BinaryOp::FloorDiv, x, y),
        },
        Prim::Eq => comparison!(==, CompareOp::Eq),
        Prim::Ne => comparison!(!=, CompareOp::Ne),
        Prim::Lt => comparison!(<, CompareOp::Lt),
        Prim::Le => comparison!(<=, CompareOp::Le),
        Prim::Gt => comparison!(>, CompareOp::Gt),
        Prim::Ge => comparison!(>=, CompareOp::Ge),
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
        Val::Integer(v) => *v,
        x => return Err(ill(x)),
    })
}

pub(super) fn from_hub(x: value::Value) -> Val {
    match x {
        value::Value::F32(v) => Val::F32(v),
        value::Value::F64(v) => Val::F64(v),
        value::Value::I32(v) => Val::I32(v),
        value::Value::I64(v) => Val::I64(v),
        value::Value::Bool(v) => Val::Bool(v),
        other => Val::Integer(other),
    }
}

/// The constant of this type.
pub(super) fn constant(scalar: Scalar, value: i32) -> Val {
    from_hub(value::Value::I32(value).cast(scalar))
}
