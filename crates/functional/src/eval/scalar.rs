//! Scalar operations on values, as sequential C computes them.

use loops::value::{self, Undefined};
use loops::{BinaryOp, Scalar, UnaryOp};

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
pub(super) fn unary(prim: Prim) -> Option<impl Fn(&Val) -> Outcome<Val>> {
    let (own, op) = (own_unary(prim), prim.unary_operator());
    (own.is_some() || op.is_some()).then_some(move |x: &Val| match (own, op) {
        (Some(own), _) => own(x),
        (None, Some(op)) => hub_unary(op, x),
        (None, None) => Err(ill(x)),
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
        Prim::Not => |x| Ok(Val::Bool(!x.truth())),
        Prim::ToF32 => |x| cast(Scalar::F32, x),
        Prim::ToF64 => |x| cast(Scalar::F64, x),
        Prim::ToI32 => |x| cast(Scalar::I32, x),
        Prim::ToI64 => |x| cast(Scalar::I64, x),
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
        Prim::Add => arithmetic!(+, wrapping_add),
        Prim::Sub => arithmetic!(-, wrapping_sub),
        Prim::Mul => arithmetic!(*, wrapping_mul),
        Prim::Div => |x, y| match (x, y) {
            (Val::F64(x), Val::F64(y)) => Ok(Val::F64(x / y)),
            (Val::F32(x), Val::F32(y)) => Ok(Val::F32(x / y)),
            _ => hub_binary(BinaryOp::FloorDiv, x, y),
        },
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
