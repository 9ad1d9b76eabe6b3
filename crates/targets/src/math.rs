//! Functions of C's `math.h` for operations of one number, for all targets.

use loops::{Scalar, UnaryOp};

/// The function for an operation of a floating-point number; none if C has an operator for it, or
/// nothing.
pub(crate) fn function(op: UnaryOp) -> Option<&'static str> {
    match op {
        UnaryOp::Neg | UnaryOp::Not | UnaryOp::Bits => None,
        UnaryOp::Abs => Some("fabs"),
        UnaryOp::Round => Some("rint"),
        other => Some(other.symbol()),
    }
}

/// The name of a function of `math.h` at a type.
pub(crate) fn at(function: &str, ty: Scalar) -> String {
    format!("{function}{}", if ty == Scalar::F32 { "f" } else { "" })
}
