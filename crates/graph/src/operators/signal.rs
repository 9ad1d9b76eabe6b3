//! Signals: window functions and Fourier transforms, computed by their defining sums.

use loops::{Scalar, Size};

use super::build::Cx;
use super::storage_type::cast;
use super::value::{Val, int, number};
use super::{Done, Op, Refusal};
use crate::types::ElementType;

const TURN: f64 = std::f64::consts::TAU;

/// A window of a constant length: a function of the angle of each element.
fn window(op: &mut Op, f: &dyn Fn(&Val) -> Val) -> Done {
    let n = match op.constant_ints(0)?.as_deref() {
        Some([n]) => *n,
        _ => return Err(Refusal::inputs("input 0 must be one number")),
    };
    let elem = ElementType::from_code(op.int("output_datatype", 1) as i32);
    let span = if op.int("periodic", 1) != 0 { n } else { n - 1 };
    let shape = vec![Size::constant(n)];
    op.tensor_exact(elem, &shape, &mut |cx, at| {
        let angle = at[0].int().to(Scalar::F64) * number(Scalar::F64, TURN / span as f64);
        let value = cx.bind("angle", angle, |_, angle| f(&angle));
        cast(cx, ElementType::F64, elem, true, value)
    });
    Ok(())
}

fn wide(v: f64) -> Val {
    number(Scalar::F64, v)
}

pub(super) fn hann(op: &mut Op) -> Done {
    window(op, &|angle| wide(0.5) - wide(0.5) * angle.cos())
}

pub(super) fn hamming(op: &mut Op) -> Done {
    window(op, &|angle| wide(25.0 / 46.0) - wide(21.0 / 46.0) * angle.cos())
}

pub(super) fn blackman(op: &mut Op) -> Done {
    window(op, &|angle| wide(0.42) - wide(0.5) * angle.cos() + wide(0.08) * (angle * wide(2.0)).cos())
}

/// One number of a discrete Fourier transform: the sum over a signal of `n` complex numbers (zero
/// behind `known`).
fn transformed(
    cx: &mut Cx,
    n: i64,
    known: i64,
    k: &Val,
    inverse: bool,
    imaginary: &Val,
    signal: &dyn Fn(&mut Cx, &Val) -> (Val, Val),
) -> Val {
    let count = Size::constant(known.min(n));
    let sign = if inverse { 1.0 } else { -1.0 };
    let scalar = Scalar::F64;
    let sum = cx.fold(&count, number(scalar, 0.0), |cx, j, acc| {
        // the angle by its remainder, so that it keeps its precision
        let turns = (j.int() * k.int()) % int(n);
        let angle = turns.to(scalar) * number(scalar, sign * TURN / n as f64);
        cx.bind("angle", angle, |cx, angle| {
            let (re, im) = signal(cx, &j);
            let (re, im) = (re.to(scalar), im.to(scalar));
            let real = &re * angle.cos() - &im * angle.sin();
            let other = re * angle.sin() + im * angle.cos();
            acc + other.when(imaginary, &real)
        })
    });
    if inverse { sum / number(scalar, n as f64) } else { sum }
}

pub(super) fn dft(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let rank = x.rank();
    if rank < 2 {
        return Err(Refusal::inputs("a dimension for the parts of complex numbers is needed"));
    }
    let axis = match op.constant_ints(2)?.as_deref() {
        Some([axis]) => *axis,
        _ => op.int("axis", if op.call.opset < 20 { 1 } else { -2 }),
    };
    let axis = op.axis(axis, rank)?;
    let (inverse, onesided) = (op.int("inverse", 0) != 0, op.int("onesided", 0) != 0);
    let known = super::convolution::numbers(&x.shape[axis..=axis])?[0];
    let complex = x.shape[rank - 1].as_constant() == Some(2);
    let n = match op.constant_ints(1)?.as_deref() {
        Some([n]) => *n,
        _ if inverse && onesided => 2 * (known - 1),
        _ => known,
    };
    if n < 1 {
        return Err(Refusal::inputs("a transform of no elements"));
    }
    let mut shape = x.shape.clone();
    let back = inverse && onesided;
    shape[axis] = Size::constant(if onesided && !inverse { n / 2 + 1 } else { n });
    shape[rank - 1] = Size::constant(if back { 1 } else { 2 });
    let scalar = x.scalar();
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let imaginary = if back { super::value::truth(false) } else { at[rank - 1].int().eq(&int(1)) };
        let part = |place: &[Val], c: i64| {
            let mut from = place.to_vec();
            from[rank - 1] = int(c);
            if c == 1 && !complex { number(scalar, 0.0) } else { x.at(&from) }
        };
        let signal = |_: &mut Cx, j: &Val| {
            let mut place = at.to_vec();
            if !back {
                place[axis] = j.int();
                return (part(&place, 0), part(&place, 1));
            }
            // one side of a real signal's spectrum: the other is its mirror image, conjugated
            let mirrored = j.int().gt(&int(n / 2));
            place[axis] = (int(n) - j.int()).when(&mirrored, &j.int());
            let im = part(&place, 1);
            (part(&place, 0), (-&im).when(&mirrored, &im))
        };
        let reach = if back { n } else { known };
        transformed(cx, n, reach, &at[axis], inverse, &imaginary, &signal).to(scalar)
    });
    Ok(())
}

/// Transforms of windows of a signal, `step` apart.
pub(super) fn stft(op: &mut Op) -> Done {
    let x = op.ranked(0, 2..=3)?;
    let step = op.constant_ints(1)?.and_then(|v| v.first().copied()).unwrap_or(0);
    let window = op.optional(2)?;
    let length = op.constant_ints(3)?.and_then(|v| v.first().copied());
    let width = match (&window, length) {
        (Some(w), _) if w.rank() == 1 => super::convolution::numbers(&w.shape)?[0],
        (None, Some(n)) => n,
        _ => return Err(Refusal::inputs("a window or a length is needed")),
    };
    let n = length.unwrap_or(width);
    let onesided = op.int("onesided", 1) != 0;
    let total = super::convolution::numbers(&x.shape[1..2])?[0];
    if step < 1 || n < 1 {
        return Err(Refusal::inputs("the step and the length must be positive"));
    }
    let complex = x.rank() == 3 && x.shape[2].as_constant() == Some(2);
    let frames = (total - n) / step + 1;
    let bins = if onesided { n / 2 + 1 } else { n };
    let shape = vec![x.shape[0].clone(), Size::constant(frames), Size::constant(bins), Size::constant(2)];
    let scalar = x.scalar();
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let imaginary = at[3].int().eq(&int(1));
        let signal = |_: &mut Cx, j: &Val| {
            let place = at[1].int() * int(step) + j.int();
            let weight =
                window.as_ref().map_or_else(|| number(scalar, 1.0), |w| w.at(std::slice::from_ref(j)));
            let part = |c: i64| match x.rank() {
                2 => x.at(&[at[0].clone(), place.clone()]),
                _ => x.at(&[at[0].clone(), place.clone(), int(c)]),
            };
            let im = if complex { part(1) * &weight } else { number(scalar, 0.0) };
            (part(0) * &weight, im)
        };
        transformed(cx, n, width, &at[2], false, &imaginary, &signal).to(scalar)
    });
    Ok(())
}

/// Triangles over the bins of a spectrum, evenly spaced in mel.
pub(super) fn mel_weight_matrix(op: &mut Op) -> Done {
    let mut given = Vec::new();
    for k in 0..5 {
        match op.constant_numbers(k)?.as_deref() {
            Some([v]) => given.push(*v),
            _ => return Err(Refusal::inputs(format!("input {k} must be one number"))),
        }
    }
    let [bands, length, rate, low, high] = given[..] else {
        return Err(Refusal::inputs("5 inputs are needed"));
    };
    for number in [bands, length] {
        op.moderate("a number of bands or bins", number as i64)?;
    }
    let elem = ElementType::from_code(op.int("output_datatype", 1) as i32);
    let mel = |f: f64| 2595.0 * (f / 700.0).ln_1p() / std::f64::consts::LN_10;
    let step = (mel(high) - mel(low)) / (bands + 2.0);
    let start = mel(low);
    let shape = vec![Size::constant((length / 2.0).floor() as i64 + 1), Size::constant(bands as i64)];
    op.tensor_exact(elem, &shape, &mut |cx, at| {
        // the bin of each edge of the triangle
        let edge = |k: i64| {
            let m = (at[1].int() + int(k)).to(Scalar::F64) * wide(step) + wide(start);
            let f = wide(700.0) * ((m * wide(std::f64::consts::LN_10 / 2595.0)).exp() - wide(1.0));
            (wide(length + 1.0) * f / wide(rate)).floor()
        };
        let j = at[0].int().to(Scalar::F64);
        let value = cx.bind("left", edge(0), |cx, left| {
            cx.bind("centre", edge(1), |cx, centre| {
                cx.bind("right", edge(2), |_, right| {
                    let (zero, one) = (wide(0.0), wide(1.0));
                    let up = &centre - &left;
                    let rising = ((&j - &left) / &up).when(&up.ne(&zero), &one);
                    let rises = j
                        .ge(&left)
                        .and(&j.le(&centre))
                        .and(&up.ne(&zero))
                        .or(&up.eq(&zero).and(&j.eq(&centre)));
                    let falling = (&right - &j) / (&right - &centre);
                    let falls = j.ge(&centre).and(&j.lt(&right)).and(&right.gt(&centre));
                    falling.when(&falls, &rising.when(&rises, &zero))
                })
            })
        });
        cast(cx, ElementType::F64, elem, true, value)
    });
    Ok(())
}
