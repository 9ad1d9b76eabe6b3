//! Quantisation: numbers as small integers with a scale and a zero point.

use loops::{Registers, Scalar, Size};

use super::build::{Cx, product, reshape};
use super::reduce::in_lanes;
use super::storage_type::{cast, range};
use super::value::{Val, int, number};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// A rounded number of single precision plus a zero point, clamped to an integer type.
pub(super) fn saturated(_: &mut Cx, elem: ElementType, value: Val, zero: &Val) -> Val {
    let (low, high) = range(elem).unwrap_or((f64::from(f32::MIN), f64::from(f32::MAX)));
    let scalar = super::carrier(elem).unwrap_or(Scalar::I32);
    let shifted = value + zero.to(Scalar::F32);
    shifted.max(&number(Scalar::F32, low)).min(&number(Scalar::F32, high)).to(scalar)
}

/// The scale (or zero point) of a position: one for all, one for each slice of an axis, or one for
/// each block of an axis.
fn parameter(p: &Input, x: &Input, at: &[Val], axis: usize, block: i64) -> Val {
    match p.rank() {
        0 => p.val.clone(),
        1 if x.rank() != 1 || block == 0 => {
            if p.shape[0].as_constant() == Some(1) || x.rank() == 0 {
                p.at(&[int(0)])
            } else {
                p.at(&at[axis..=axis])
            }
        }
        _ => {
            let mut place = at.to_vec();
            if block > 0 {
                place[axis] = at[axis].int() / int(block);
            }
            p.at(&place)
        }
    }
}

/// The axis and block of the attributes, for these scales and zero points.
fn layout(op: &Op, x: &Input, scale: &Input, zero: &Option<Input>) -> Result<(usize, i64), Refusal> {
    let axis = if x.rank() == 0 { 0 } else { op.axis(op.int("axis", 1), x.rank().max(1)).unwrap_or(0) };
    for p in [Some(scale), zero.as_ref()].into_iter().flatten() {
        if p.rank() > 1 && p.rank() != x.rank() {
            return Err(Refusal::inputs("a scale or zero point has another number of dimensions"));
        }
    }
    Ok((axis, op.int("block_size", 0)))
}

pub(super) fn quantize_linear(op: &mut Op) -> Done {
    let (x, scale, zero) = (op.input(0)?, op.input(1)?, op.optional(2)?);
    let (axis, block) = layout(op, &x, &scale, &zero)?;
    let to = match (&zero, op.int("output_dtype", 0)) {
        (Some(zero), _) => zero.elem,
        (None, 0) => ElementType::U8,
        (None, code) => ElementType::from_code(code as i32),
    };
    let saturate = op.int("saturate", 1) != 0;
    let (from, by) = (x.elem, scale.elem);
    op.tensor_exact(to, &x.shape, &mut |cx, at| {
        let value = cast(cx, from, ElementType::F32, true, x.at(at));
        let value = value / cast(cx, by, ElementType::F32, true, parameter(&scale, &x, at, axis, block));
        cx.bind("v", value, |cx, value| {
            if to.is_int() {
                let none = number(Scalar::F32, 0.0);
                let shift = zero.as_ref().map_or(none, |z| parameter(z, &x, at, axis, block));
                saturated(cx, to, value.round(), &shift)
            } else {
                let value = match &zero {
                    Some(z) => value + parameter(z, &x, at, axis, block),
                    None => value,
                };
                cast(cx, ElementType::F32, to, saturate, value)
            }
        })
    });
    Ok(())
}

pub(super) fn dequantize_linear(op: &mut Op) -> Done {
    let (x, scale, zero) = (op.input(0)?, op.input(1)?, op.optional(2)?);
    let (axis, block) = layout(op, &x, &scale, &zero)?;
    let to = match op.int("output_dtype", 0) {
        0 => scale.elem,
        code => ElementType::from_code(code as i32),
    };
    op.tensor(to, &x.shape, &mut |cx, at| {
        let value = x.at(at);
        let value = match &zero {
            Some(z) => value - parameter(z, &x, at, axis, block),
            None => value,
        };
        value.to(Scalar::F32)
            * cast(cx, scale.elem, ElementType::F32, true, parameter(&scale, &x, at, axis, block))
    });
    Ok(())
}

/// Vectors that are compared side by side, so that a comparison need not wait for the one before.
const ACCUMULATORS: i64 = 4;

/// `f` of the scale and the zero point with which the elements of a box become `u8`: those of the
/// range from the least to the largest of them and 0. If all are 0, the scale is 1. With registers,
/// several are compared at a time: the least and the largest are the same in any order, as -0 is
/// below +0 and 0 is always among them.
pub(super) fn with_range(
    cx: &mut Cx,
    registers: Option<Registers>,
    shape: &[Size],
    x: &Val,
    f: impl FnOnce(&mut Cx, &Val, &Val) -> Val,
) -> Val {
    let f32 = |v: f64| number(Scalar::F32, v);
    let count = product(shape).as_constant().filter(|n| *n > 0);
    let extreme = |cx: &mut Cx, largest: bool| {
        if let (Some(registers), Some(n)) = (registers, count) {
            let flat = reshape(cx, x, shape, &[Size::constant(n)]);
            let lanes = ACCUMULATORS * registers.lanes(Scalar::F32);
            let element = |k: &Val| flat.at(std::slice::from_ref(k));
            let step = |x: &Val, acc: &Val| if largest { x.max(acc) } else { x.min(acc) };
            return in_lanes(cx, (n, lanes), &f32(0.0), &element, &step);
        }
        cx.fold_all(shape, f32(0.0), &mut |_, k, acc| {
            if largest { x.at(k).max(&acc) } else { x.at(k).min(&acc) }
        })
    };
    let (low, high) = (extreme(cx, false), extreme(cx, true));
    cx.bind("low", low, |cx, low| {
        cx.bind("high", high, |cx, high| {
            let scale = f32(1.0).when(&high.eq(&low), &((&high - &low) / f32(255.0)));
            cx.bind("scale", scale, |cx, scale| {
                let point = (f32(0.0) - &low / &scale).round().max(&f32(0.0)).min(&f32(255.0));
                cx.bind("zero", point.to(Scalar::I32), |cx, zero| f(cx, &scale, &zero))
            })
        })
    })
}

/// A number as a `u8` with this scale and zero point.
pub(super) fn byte(cx: &mut Cx, x: Val, scale: &Val, zero: &Val) -> Val {
    saturated(cx, ElementType::U8, (x / scale).round(), zero)
}

/// To `u8`, with scale and zero point from the range of the data.
pub(super) fn dynamic_quantize_linear(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let shape = x.shape.clone();
    let all = with_range(&mut op.cx, op.fast, &shape, &x.val, |cx, scale, zero| {
        cx.tensor(&shape, &mut |cx, at| byte(cx, x.at(at), scale, zero)).pair(&scale.pair(zero))
    });
    let none: Vec<Size> = Vec::new();
    op.results_of(
        all,
        vec![(ElementType::U8, shape), (ElementType::F32, none.clone()), (ElementType::U8, none)],
    );
    Ok(())
}
