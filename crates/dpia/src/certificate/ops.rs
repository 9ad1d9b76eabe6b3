//! What the operations of the loop IR mean in a certificate. Source and target both use this, so
//! the same operation always has the same name.
//!
//! Indices have the exact operations of integers. Numbers of type `i64` have the same modulo 2^64.
//! Truth values have their own. Everything else is a name of which nothing is known.

use functional::DataType;
use loops::expr::{Bits32, Bits64};
use loops::{BinaryOp, CompareOp, Scalar, UnaryOp, Value};

use super::data::{Exp, Op, Tm};

/// What numbers are. Arithmetic of indices is exact, that of data wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An index, a size, a subscript, a bound.
    Index,
    /// Numbers of this type.
    Data(Scalar),
}

impl Kind {
    /// The kind of values of a type.
    pub fn of(ty: &DataType) -> Option<Kind> {
        match ty {
            DataType::Scalar(s) => Some(Kind::Data(*s)),
            DataType::Idx(_) => Some(Kind::Index),
            _ => None,
        }
    }

    pub fn scalar(self) -> Scalar {
        match self {
            Kind::Index => Scalar::I64,
            Kind::Data(s) => s,
        }
    }
}

/// What operations build: expressions of either side.
pub(super) trait Build: Sized {
    fn int(value: i64) -> Self;
    fn op(op: Op, operands: Vec<Self>) -> Self;
    fn lit(text: String) -> Self;
    /// The integer that it is, if it is one that is written out.
    fn whole(&self) -> Option<i64>;
}

impl Build for Tm {
    fn int(value: i64) -> Tm {
        Tm::Int(value)
    }
    fn op(op: Op, operands: Vec<Tm>) -> Tm {
        Tm::Op(op, operands)
    }
    fn lit(text: String) -> Tm {
        Tm::Lit(text)
    }
    fn whole(&self) -> Option<i64> {
        if let Tm::Int(value) = self { Some(*value) } else { None }
    }
}

impl Build for Exp {
    fn int(value: i64) -> Exp {
        Exp::Size(Tm::Int(value))
    }
    fn op(op: Op, operands: Vec<Exp>) -> Exp {
        Exp::Op(op, operands)
    }
    fn lit(text: String) -> Exp {
        Exp::Lit(text)
    }
    fn whole(&self) -> Option<i64> {
        if let Exp::Size(Tm::Int(value)) = self { Some(*value) } else { None }
    }
}

/// A unary operation.
pub(super) fn unary<T: Build>(op: UnaryOp, kind: Kind, x: T) -> T {
    let ty = kind.scalar();
    let name = match op {
        UnaryOp::Not => return T::op(Op::Not, vec![x]),
        UnaryOp::Neg if ty == Scalar::I64 => {
            return T::op(if kind == Kind::Index { Op::Isub } else { Op::Wsub }, vec![T::int(0), x]);
        }
        UnaryOp::Neg => "neg",
        other => other.symbol(),
    };
    T::op(Op::named(name, ty.keyword()), vec![x])
}

/// A binary operation on operands of a type.
pub(super) fn binary<T: Build>(op: BinaryOp, kind: Kind, a: T, b: T) -> T {
    let ty = kind.scalar();
    let (integers, exact) = (ty == Scalar::I64, kind == Kind::Index);
    let op = match op {
        BinaryOp::And => Op::And,
        BinaryOp::Or => Op::Or,
        BinaryOp::Add if exact => Op::Iadd,
        BinaryOp::Sub if exact => Op::Isub,
        BinaryOp::Mul if exact => Op::Imul,
        BinaryOp::FloorDiv if exact => Op::Idiv,
        BinaryOp::Add if integers => Op::Wadd,
        BinaryOp::Sub if integers => Op::Wsub,
        BinaryOp::Mul if integers => Op::Wmul,
        BinaryOp::FloorDiv if integers => Op::Wdiv,
        BinaryOp::Mod if integers => Op::Imod,
        BinaryOp::Min if integers => Op::Imin,
        BinaryOp::Max if integers => Op::Imax,
        other => {
            let name = match other {
                BinaryOp::Add => "add",
                BinaryOp::Sub => "sub",
                BinaryOp::Mul => "mul",
                BinaryOp::Div => "div",
                BinaryOp::Rem => "rem",
                other => other.symbol(),
            };
            Op::named(name, ty.keyword())
        }
    };
    T::op(op, vec![a, b])
}

/// A comparison of operands of a type.
pub(super) fn compare<T: Build>(op: CompareOp, ty: Scalar, a: T, b: T) -> T {
    if ty == Scalar::I64 {
        return match op {
            CompareOp::Eq => T::op(Op::Ieq, vec![a, b]),
            CompareOp::Ne => T::op(Op::Ine, vec![a, b]),
            CompareOp::Lt => T::op(Op::Ilt, vec![a, b]),
            CompareOp::Le => T::op(Op::Ile, vec![a, b]),
            CompareOp::Gt => T::op(Op::Ilt, vec![b, a]),
            CompareOp::Ge => T::op(Op::Ile, vec![b, a]),
        };
    }
    let name = match op {
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
    };
    T::op(Op::named(name, ty.keyword()), vec![a, b])
}

/// A conversion; one to the same type is nothing, but that of an index to data. A constant of a
/// type that has none of its own in the loop IR is a converted one there.
pub(super) fn cast<T: Build>(to: Scalar, from: Kind, x: T) -> T {
    if from == Kind::Index && to == Scalar::I64 {
        return T::op(Op::Iwrap, vec![x]);
    }
    let from = from.scalar();
    if to == from {
        return x;
    }
    if let (Scalar::I64, true, Some(value)) = (from, to.is_int() && !to.is_common(), x.whole()) {
        return integer(to, value);
    }
    T::op(Op::Scalar(format!("{to}.of.{from}")), vec![x])
}

/// A truth value: a comparison that has it.
pub(super) fn truth<T: Build>(value: bool) -> T {
    T::op(if value { Op::Ieq } else { Op::Ine }, vec![T::int(0), T::int(0)])
}

/// A constant of single precision.
pub(super) fn single<T: Build>(value: Bits32) -> T {
    T::lit(format!("f32 {:08x}", value.value().to_bits()))
}

/// A constant of double precision.
pub(super) fn double<T: Build>(value: Bits64) -> T {
    T::lit(format!("f64 {:016x}", value.value().to_bits()))
}

/// A constant of 32 bits.
pub(super) fn word<T: Build>(value: i32) -> T {
    T::lit(format!("i32 {value}"))
}

/// A small constant of a type.
pub(super) fn constant<T: Build>(ty: Scalar, value: i32) -> T {
    match ty {
        Scalar::F32 => single((value as f32).into()),
        Scalar::F64 => double(f64::from(value).into()),
        Scalar::I32 => word(value),
        Scalar::I64 => T::int(i64::from(value)),
        Scalar::Bool => truth(value != 0),
        other => integer(other, i64::from(value)),
    }
}

/// A constant of a type of integers that has none of its own in the loop IR: what the value becomes
/// in the type.
pub(super) fn integer<T: Build>(ty: Scalar, value: i64) -> T {
    T::lit(match Value::I64(value).cast(ty) {
        Value::I8(v) => format!("{ty} {v}"),
        Value::U8(v) => format!("{ty} {v}"),
        Value::I16(v) => format!("{ty} {v}"),
        Value::U16(v) => format!("{ty} {v}"),
        Value::U32(v) => format!("{ty} {v}"),
        Value::U64(v) => format!("{ty} {v}"),
        other => format!("{ty} {other}"),
    })
}
