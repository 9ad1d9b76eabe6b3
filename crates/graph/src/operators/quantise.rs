//! Quantisation: numbers as small integers with a scale and a zero point.

use super::build::Cx;
use super::carrier::range;
use super::value::{Val, number};
use crate::types::ElementType;

/// A rounded number of single precision plus a zero point, clamped to an integer type.
pub(super) fn saturated(_: &mut Cx, elem: ElementType, value: Val, zero: &Val) -> Val {
    let (low, high) = range(elem).unwrap_or((f64::from(f32::MIN), f64::from(f32::MAX)));
    let scalar = super::carrier(elem).unwrap_or(loops::Scalar::I32);
    let shifted = value + zero.to(loops::Scalar::F32);
    shifted.max(&number(loops::Scalar::F32, low)).min(&number(loops::Scalar::F32, high)).to(scalar)
}
