//! Functions of C's `math.h` for operations of one number: the one table for all targets.

use loops::{Scalar, UnaryOp};

/// The function for an operation of a floating-point number; none if C has an operator for it, or
/// nothing.
pub(crate) fn function(op: UnaryOp) -> Option<&'static str> {
    Some(match op {
        UnaryOp::Abs => "fabs",
        UnaryOp::Sqrt => "sqrt",
        UnaryOp::Exp => "exp",
        UnaryOp::Log => "log",
        UnaryOp::Tanh => "tanh",
        UnaryOp::Sin => "sin",
        UnaryOp::Cos => "cos",
        UnaryOp::Floor => "floor",
        UnaryOp::Ceil => "ceil",
        UnaryOp::Round => "rint",
        UnaryOp::Atan => "atan",
        UnaryOp::Tan => "tan",
        UnaryOp::Asin => "asin",
        UnaryOp::Acos => "acos",
        UnaryOp::Sinh => "sinh",
        UnaryOp::Cosh => "cosh",
        UnaryOp::Exp2 => "exp2",
        UnaryOp::Expm1 => "expm1",
        UnaryOp::Log2 => "log2",
        UnaryOp::Log10 => "log10",
        UnaryOp::Log1p => "log1p",
        UnaryOp::Trunc => "trunc",
        UnaryOp::Neg | UnaryOp::Not | UnaryOp::Bits => return None,
    })
}

/// The name of a function of `math.h` at a type.
pub(crate) fn at(function: &str, ty: Scalar) -> String {
    format!("{function}{}", if ty == Scalar::F32 { "f" } else { "" })
}
