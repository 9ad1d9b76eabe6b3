//! Functions of one number. In single precision they are programs of the library, of which
//! compilers make vectors.

use loops::Scalar;

use super::build::Cx;
use super::value::{Val, number};

/// The hyperbolic tangent at the type of `x`. In single precision it is that of the library, which
/// compilers can vectorise.
pub(super) fn tanh_of(cx: &mut Cx, x: &Val) -> Val {
    match x.scalar() {
        Scalar::F32 => cx.call("tanh_single", std::slice::from_ref(x)),
        _ => x.tanh(),
    }
}

/// The exponential at the type of `x`. In single precision it is that of the library, which
/// compilers can vectorise.
pub(super) fn exp_of(cx: &mut Cx, x: &Val) -> Val {
    match x.scalar() {
        Scalar::F32 => cx.call("exp_single", std::slice::from_ref(x)),
        _ => x.exp(),
    }
}

/// The exponential of minus a number that is not negative, at its type. In single precision what is
/// less than the least normal number may become 0.
pub(super) fn exp_decay_of(cx: &mut Cx, x: &Val) -> Val {
    match x.scalar() {
        Scalar::F32 => cx.call("exp_decay", std::slice::from_ref(x)),
        _ => (number(x.scalar(), 0.0) - x).exp(),
    }
}

/// The natural logarithm at the type of `x`.
pub(super) fn log_of(cx: &mut Cx, x: &Val) -> Val {
    match x.scalar() {
        Scalar::F32 => cx.call("log_single", std::slice::from_ref(x)),
        _ => x.log(),
    }
}

/// The error function at the type of `x`.
pub(super) fn erf_of(cx: &mut Cx, x: &Val) -> Val {
    match x.scalar() {
        Scalar::F64 => cx.call("erf_double", std::slice::from_ref(x)),
        _ => cx.call("erf_single", std::slice::from_ref(x)),
    }
}
