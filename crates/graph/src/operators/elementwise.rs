//! Elementwise operators: arithmetic, comparison, logic, bits, activations, conversions. Operands
//! are broadcast.

use loops::Scalar;

use super::build::{Cx, broadcast};
use super::number_functions::{erf_of, exp_of, log_of, tanh_of};
use super::storage_type::{cast, fit, is_unsigned};
use super::value::{Val, int, number};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// A function of one number, of the operand's element type.
fn unary(op: &mut Op, f: impl Fn(&mut Cx, ElementType, Val) -> Val) -> Done {
    let x = op.input(0)?;
    let elem = x.elem;
    op.tensor(elem, &x.shape, &mut |cx, place| cx.bind("x", x.at(place), |cx, v| f(cx, elem, v)));
    Ok(())
}

/// A function of two numbers of one element type, with a result of `to` or of the operands' type.
fn binary(op: &mut Op, to: Option<ElementType>, f: impl Fn(&mut Cx, ElementType, Val, Val) -> Val) -> Done {
    let (x, y) = (op.input(0)?, op.input(1)?);
    if x.elem != y.elem {
        return Err(Refusal::types(format!("the operands have elements of types {} and {}", x.elem, y.elem)));
    }
    let shape = broadcast(&[&x.shape, &y.shape])?;
    let elem = x.elem;
    op.tensor(to.unwrap_or(elem), &shape, &mut |cx, place| {
        cx.bind("x", x.spread(place), |cx, a| cx.bind("y", y.spread(place), |cx, b| f(cx, elem, a, b)))
    });
    Ok(())
}

/// The float constants of the attributes, in order, with their defaults.
fn activation(op: &mut Op, name: &'static str, attributes: &[(&str, f32)]) -> Done {
    let constants: Vec<f64> = attributes.iter().map(|(name, default)| op.float(name, *default)).collect();
    unary(op, |cx, elem, x| match elem.is_float() || name == "relu" || name == "sign" {
        true => cx.call_with(single(name, &x), &x, &constants),
        false => Refusal::types(format!("elements are {elem}, not floating point")).into(),
    })
}

/// The program of this name. In single precision it is the one that compilers can vectorise, if
/// there is one.
fn single(name: &'static str, x: &Val) -> &'static str {
    match (name, x.scalar()) {
        ("sigmoid", Scalar::F32) => "sigmoid_single",
        ("swish", Scalar::F32) => "swish_single",
        ("gelu_tanh", Scalar::F32) => "gelu_tanh_single",
        ("softplus", Scalar::F32) => "softplus_single",
        ("mish", Scalar::F32) => "mish_single",
        _ => name,
    }
}

/// The logistic function at the type of `x`.
pub(super) fn sigmoid_of(cx: &mut Cx, x: &Val) -> Val {
    cx.call(single("sigmoid", x), std::slice::from_ref(x))
}

pub(super) fn tanh(op: &mut Op) -> Done {
    unary(op, |cx, elem, x| match elem.is_float() {
        true => tanh_of(cx, &x),
        false => need_float(elem, x),
    })
}

fn need_float(elem: ElementType, value: Val) -> Val {
    if elem.is_float() {
        value
    } else {
        Refusal::types(format!("elements are {elem}, not floating point")).into()
    }
}

macro_rules! library {
    ($($function:ident = $name:literal [$(($attribute:literal, $default:expr)),*];)*) => {
        $(pub(super) fn $function(op: &mut Op) -> Done {
            activation(op, $name, &[$(($attribute, $default)),*])
        })*
    };
}

library! {
    relu = "relu" [];
    leaky_relu = "leaky_relu" [("alpha", 0.01)];
    thresholded_relu = "thresholded_relu" [("alpha", 1.0)];
    elu = "elu" [("alpha", 1.0)];
    celu = "celu" [("alpha", 1.0)];
    selu = "selu" [("alpha", 1.673_263_2), ("gamma", 1.050_701)];
    sigmoid = "sigmoid" [];
    hard_sigmoid = "hard_sigmoid" [("alpha", 0.2), ("beta", 0.5)];
    hard_swish = "hard_swish" [];
    swish = "swish" [("alpha", 1.0)];
    softplus = "softplus" [];
    softsign = "softsign" [];
    mish = "mish" [];
    reciprocal = "reciprocal" [];
    asinh = "asinh" [];
    acosh = "acosh" [];
    atanh = "atanh" [];
}

macro_rules! primitive {
    ($($function:ident = $method:ident;)*) => {
        $(pub(super) fn $function(op: &mut Op) -> Done {
            unary(op, |_, elem, x| need_float(elem, x.$method()))
        })*
    };
}

primitive! {
    sqrt = sqrt;
    sin = sin;
    cos = cos;
    tan = tan;
    asin = asin;
    acos = acos;
    atan = atan;
    sinh = sinh;
    cosh = cosh;
    floor = floor;
    ceil = ceil;
    round = round;
}

pub(super) fn shrink(op: &mut Op) -> Done {
    let (bias, lambd) = (op.float("bias", 0.0), op.float("lambd", 0.5));
    unary(op, |cx, _, x| cx.call_with("shrink", &x, &[bias, lambd]))
}

pub(super) fn exp(op: &mut Op) -> Done {
    unary(op, |cx, elem, x| match elem.is_float() {
        true => exp_of(cx, &x),
        false => need_float(elem, x),
    })
}

pub(super) fn log(op: &mut Op) -> Done {
    unary(op, |cx, elem, x| match elem.is_float() {
        true => log_of(cx, &x),
        false => need_float(elem, x),
    })
}

pub(super) fn erf(op: &mut Op) -> Done {
    unary(op, |cx, elem, x| match elem.is_float() {
        true => erf_of(cx, &x),
        false => need_float(elem, x),
    })
}

pub(super) fn gelu(op: &mut Op) -> Done {
    let tanh = op.string("approximate", "none") == "tanh";
    unary(op, |cx, elem, x| match (tanh, elem) {
        (true, _) => cx.call(single("gelu_tanh", &x), &[x]),
        (false, ElementType::F64) => cx.call("gelu_double", &[x]),
        _ => cx.call("gelu_single", &[x]),
    })
}

pub(super) fn sign(op: &mut Op) -> Done {
    unary(op, |cx, _, x| cx.call("sign", &[x]))
}

pub(super) fn abs(op: &mut Op) -> Done {
    unary(op, |_, elem, x| if is_unsigned(elem) { x } else { x.abs() })
}

pub(super) fn neg(op: &mut Op) -> Done {
    unary(op, |_, _, x| -&x)
}

pub(super) fn not(op: &mut Op) -> Done {
    unary(op, |_, _, x| x.not())
}

pub(super) fn bitwise_not(op: &mut Op) -> Done {
    unary(op, |_, _, x| number(x.scalar(), -1.0) - &x)
}

pub(super) fn identity(op: &mut Op) -> Done {
    let x = op.input(0)?;
    op.view = Some(0);
    op.result(x.val, x.elem, x.shape);
    Ok(())
}

pub(super) fn is_nan(op: &mut Op) -> Done {
    let x = op.input(0)?;
    op.tensor(ElementType::Bool, &x.shape, &mut |cx, place| cx.bind("x", x.at(place), |_, x| x.ne(&x)));
    Ok(())
}

pub(super) fn is_inf(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let positive = op.int("detect_positive", 1) != 0;
    let negative = op.int("detect_negative", 1) != 0;
    let largest = number(x.scalar(), f64::INFINITY);
    op.tensor(ElementType::Bool, &x.shape, &mut |cx, place| {
        cx.bind("x", x.at(place), |_, x| match (positive, negative) {
            (true, true) => x.abs().eq(&largest),
            (true, false) => x.eq(&largest),
            (false, true) => x.eq(&-&largest),
            (false, false) => super::value::truth(false),
        })
    });
    Ok(())
}

/// Sum, difference, product; the quotient of integers is truncated.
pub(super) fn arithmetic(cx: &mut Cx, op: &str, elem: ElementType, a: Val, b: Val) -> Val {
    match op {
        "Add" => a + b,
        "Sub" => a - b,
        "Mul" => a * b,
        _ if elem == ElementType::U64 => cx.call("divide_unsigned", &[a, b]),
        _ if elem.is_int() => cx.call("quotient", &[a, b]),
        _ => a / b,
    }
}

pub(super) fn add(op: &mut Op) -> Done {
    binary(op, None, |cx, elem, a, b| arithmetic(cx, "Add", elem, a, b))
}

pub(super) fn sub(op: &mut Op) -> Done {
    binary(op, None, |cx, elem, a, b| arithmetic(cx, "Sub", elem, a, b))
}

pub(super) fn mul(op: &mut Op) -> Done {
    binary(op, None, |cx, elem, a, b| arithmetic(cx, "Mul", elem, a, b))
}

pub(super) fn div(op: &mut Op) -> Done {
    binary(op, None, |cx, elem, a, b| arithmetic(cx, "Div", elem, a, b))
}

pub(super) fn modulo(op: &mut Op) -> Done {
    let c_like = op.int("fmod", 0) != 0;
    binary(op, None, |cx, elem, a, b| match (elem.is_float(), c_like) {
        (true, true) => a.fmod(&b),
        (true, false) => cx.call("float_mod", &[a, b]),
        (false, _) if elem == ElementType::U64 => {
            let quotient = cx.call("divide_unsigned", &[a.clone(), b.clone()]);
            a - quotient * b
        }
        (false, true) => cx.call("remainder", &[a, b]),
        (false, false) => a % b,
    })
}

/// A power with an exponent that needs no function of the C library. The last bit may differ from
/// that of the function.
fn constant_power(elem: ElementType, a: &Val, exponent: f64) -> Option<Val> {
    let square = || a * a;
    // The root of -0 is 0 here, and that of minus infinity is infinity.
    let root = || {
        let infinity = number(a.scalar(), f64::INFINITY);
        infinity.when(&a.eq(&-&infinity), &(a.sqrt() + number(a.scalar(), 0.0)))
    };
    let one = || number(a.scalar(), 1.0);
    Some(match exponent {
        1.0 => a.clone(),
        2.0 => square(),
        3.0 => square() * a.clone(),
        _ if elem.is_int() => return None,
        -1.0 => one() / a.clone(),
        0.5 => root(),
        -0.5 => one() / root(),
        _ => return None,
    })
}

/// The exponent of a power, if it is the same constant everywhere.
fn exponent(op: &Op) -> Option<f64> {
    let numbers = super::storage_type::numbers(op.operand(1)?.constant?)?;
    let (first, rest) = numbers.split_first()?;
    rest.iter().all(|x| x == first).then_some(*first)
}

pub(super) fn pow(op: &mut Op) -> Done {
    let x = op.input(0)?;
    if let (Some(y), Some(exponent)) = (op.operand(1), exponent(op))
        && constant_power(x.elem, &number(x.scalar(), 1.0), exponent).is_some()
        && (x.elem.is_float() || y.elem.is_int())
    {
        let shape = broadcast(&[&x.shape, &y.shape])?;
        op.tensor(x.elem, &shape, &mut |cx, place| {
            cx.bind("x", x.spread(place), |_, a| {
                constant_power(x.elem, &a, exponent)
                    .unwrap_or_else(|| Refusal::internal("an exponent without a program").into())
            })
        });
        return Ok(());
    }
    let (x, y) = (op.input(0)?, op.input(1)?);
    let shape = broadcast(&[&x.shape, &y.shape])?;
    let (xe, ye) = (x.elem, y.elem);
    op.tensor(xe, &shape, &mut |cx, place| {
        let (a, b) = (x.spread(place), y.spread(place));
        if xe.is_int() && ye.is_int() {
            let b = cast(cx, ye, xe, true, b);
            return cx.call("power", &[a, b]);
        }
        // of integers to a power of floating point: computed in the wider floating-point type
        let wide = if xe.is_int() { ElementType::F64 } else { xe };
        let b = cast(cx, ye, wide, true, b);
        let a = cast(cx, xe, wide, true, a);
        let power = a.pow(&b);
        cast(cx, wide, xe, true, power)
    });
    Ok(())
}

/// `x < y` at an element type.
pub(super) fn less(cx: &mut Cx, elem: ElementType, a: &Val, b: &Val) -> Val {
    match elem {
        ElementType::U64 => cx.call("below", &[a.clone(), b.clone()]),
        ElementType::Bool => b.and(&a.not()),
        _ => a.lt(b),
    }
}

pub(super) fn equal(op: &mut Op) -> Done {
    binary(op, Some(ElementType::Bool), |_, _, a, b| a.eq(&b))
}

pub(super) fn less_op(op: &mut Op) -> Done {
    binary(op, Some(ElementType::Bool), |cx, elem, a, b| less(cx, elem, &a, &b))
}

pub(super) fn greater(op: &mut Op) -> Done {
    binary(op, Some(ElementType::Bool), |cx, elem, a, b| less(cx, elem, &b, &a))
}

pub(super) fn less_or_equal(op: &mut Op) -> Done {
    binary(op, Some(ElementType::Bool), |cx, elem, a, b| match elem.is_float() {
        true => a.le(&b),
        false => less(cx, elem, &b, &a).not(),
    })
}

pub(super) fn greater_or_equal(op: &mut Op) -> Done {
    binary(op, Some(ElementType::Bool), |cx, elem, a, b| match elem.is_float() {
        true => a.ge(&b),
        false => less(cx, elem, &a, &b).not(),
    })
}

pub(super) fn and(op: &mut Op) -> Done {
    binary(op, None, |_, _, a, b| a.and(&b))
}

pub(super) fn or(op: &mut Op) -> Done {
    binary(op, None, |_, _, a, b| a.or(&b))
}

pub(super) fn xor(op: &mut Op) -> Done {
    binary(op, None, |_, _, a, b| a.ne(&b))
}

pub(super) fn bitwise_and(op: &mut Op) -> Done {
    binary(op, None, |_, _, a, b| a.bit_and(&b))
}

pub(super) fn bitwise_or(op: &mut Op) -> Done {
    binary(op, None, |_, _, a, b| a.bit_or(&b))
}

pub(super) fn bitwise_xor(op: &mut Op) -> Done {
    binary(op, None, |_, _, a, b| a.bit_xor(&b))
}

pub(super) fn bit_shift(op: &mut Op) -> Done {
    let left = op.string("direction", "LEFT") == "LEFT";
    binary(op, None, |cx, elem, a, b| {
        let width = number(a.scalar(), elem.bits() as f64);
        let zero = number(a.scalar(), 0.0);
        let inside = b.lt(&width).and(&b.ge(&zero));
        let (moved, rest) = match (left, elem) {
            (true, _) => (a.shift_left(&b), zero),
            (false, ElementType::U64) => (cx.call("shift_unsigned", &[a, b]), zero),
            (false, _) => {
                let sign = number(a.scalar(), -1.0).when(&a.lt(&zero), &zero);
                (a.shift_right(&b), sign)
            }
        };
        moved.when(&inside, &rest)
    })
}

/// The larger of two numbers; NaN if one of them is.
pub(super) fn maximum(cx: &mut Cx, elem: ElementType, a: Val, b: Val) -> Val {
    match elem {
        ElementType::U64 => {
            let below = less(cx, elem, &a, &b);
            b.when(&below, &a)
        }
        ElementType::Bool => a.or(&b),
        _ if elem.is_float() => cx.call("larger", &[a, b]),
        _ => a.max(&b),
    }
}

/// The smaller of two numbers; NaN if one of them is.
pub(super) fn minimum(cx: &mut Cx, elem: ElementType, a: Val, b: Val) -> Val {
    match elem {
        ElementType::U64 => {
            let below = less(cx, elem, &a, &b);
            a.when(&below, &b)
        }
        ElementType::Bool => a.and(&b),
        _ if elem.is_float() => cx.call("smaller", &[a, b]),
        _ => a.min(&b),
    }
}

/// Any number of operands, taken together from the first one on.
fn variadic(
    op: &mut Op,
    f: impl Fn(&mut Cx, ElementType, Val, Val) -> Val,
    last: impl Fn(Val, usize) -> Val,
) -> Done {
    let inputs = op.inputs()?;
    let Some(elem) = inputs.first().map(|x| x.elem) else {
        return Err(Refusal::inputs("there are no operands"));
    };
    let shapes: Vec<&[loops::Size]> = inputs.iter().map(|x| &x.shape[..]).collect();
    let shape = broadcast(&shapes)?;
    op.tensor(elem, &shape, &mut |cx, place| {
        let mut all = inputs.iter().map(|x| x.spread(place));
        let first = all.next().unwrap_or_else(|| int(0));
        let value = all.fold(first, |acc, x| {
            let next = f(cx, elem, acc, x);
            fit(cx, elem, next)
        });
        last(value, inputs.len())
    });
    Ok(())
}

pub(super) fn max(op: &mut Op) -> Done {
    variadic(op, maximum, |v, _| v)
}

pub(super) fn min(op: &mut Op) -> Done {
    variadic(op, minimum, |v, _| v)
}

pub(super) fn sum(op: &mut Op) -> Done {
    variadic(op, |_, _, a, b| a + b, |v, _| v)
}

pub(super) fn mean(op: &mut Op) -> Done {
    variadic(
        op,
        |_, _, a, b| a + b,
        |v, n| {
            let count = number(v.scalar(), n as f64);
            v / count
        },
    )
}

pub(super) fn clip(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let (low, high) = (op.optional(1)?, op.optional(2)?);
    let attribute = |name: &str| op.attribute(name).and_then(|a| a.float());
    let (low_attribute, high_attribute) = (attribute("min"), attribute("max"));
    let elem = x.elem;
    op.tensor(elem, &x.shape, &mut |cx, place| {
        let mut v = x.at(place);
        let bound = |input: &Option<Input>, attribute: Option<f32>| match input {
            Some(input) => Some(input.at(&vec![int(0); input.rank()])),
            None => attribute.map(|a| number(v.scalar(), f64::from(a))),
        };
        let (low, high) = (bound(&low, low_attribute), bound(&high, high_attribute));
        // A number that is undefined stays so, and a zero keeps its sign.
        if let Some(low) = low {
            v = cx.bind("x", v, |cx, v| low.when(&less(cx, elem, &v, &low), &v));
        }
        if let Some(high) = high {
            v = cx.bind("x", v, |cx, v| high.when(&less(cx, elem, &high, &v), &v));
        }
        v
    });
    Ok(())
}

pub(super) fn prelu(op: &mut Op) -> Done {
    let (x, slope) = (op.input(0)?, op.input(1)?);
    let shape = broadcast(&[&x.shape, &slope.shape])?;
    op.tensor(x.elem, &shape, &mut |cx, place| {
        cx.bind("x", x.spread(place), |_, v| {
            let zero = number(v.scalar(), 0.0);
            (slope.spread(place) * &v).when(&v.lt(&zero), &v)
        })
    });
    Ok(())
}

pub(super) fn where_op(op: &mut Op) -> Done {
    let (c, x, y) = (op.input(0)?, op.input(1)?, op.input(2)?);
    let shape = broadcast(&[&c.shape, &x.shape, &y.shape])?;
    op.tensor_exact(x.elem, &shape, &mut |_, place| x.spread(place).when(&c.spread(place), &y.spread(place)));
    Ok(())
}

fn convert(op: &mut Op, to: ElementType) -> Done {
    let x = op.input(0)?;
    let saturate = op.int("saturate", 1) != 0;
    let up = op.string("round_mode", "up");
    if to == x.elem {
        return identity(op);
    }
    if to == ElementType::F8E8M0 && up != "up" {
        return Err(Refusal::inputs(format!("the rounding `{up}` to {to} is not supported")));
    }
    let from = x.elem;
    op.tensor_exact(to, &x.shape, &mut |cx, place| {
        cx.bind("x", x.at(place), |cx, v| cast(cx, from, to, saturate, v))
    });
    Ok(())
}

pub(super) fn cast_op(op: &mut Op) -> Done {
    let to = ElementType::from_code(op.int("to", 0) as i32);
    convert(op, to)
}

pub(super) fn cast_like(op: &mut Op) -> Done {
    match op.operand(1) {
        Some(like) => convert(op, like.elem),
        None => Err(Refusal::inputs("input 1 is missing")),
    }
}

/// The same bits as another type of the same width.
pub(super) fn bit_cast(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let to = ElementType::from_code(op.int("to", 0) as i32);
    let from = x.elem;
    if from.bits() != to.bits() {
        return Err(Refusal::types(format!("{from} and {to} have different widths")));
    }
    let word = |elem: ElementType| if elem == ElementType::Bool { ElementType::U8 } else { elem };
    op.tensor(to, &x.shape, &mut |cx, place| {
        let bits = match from {
            ElementType::F32 => x.at(place).bits32(),
            ElementType::F64 => x.at(place).bits64(),
            _ if word(from).is_int() => cast(cx, from, word(from), true, x.at(place)),
            _ => Refusal::types(format!("the bits of {from} are not supported")).into(),
        };
        let Some(scalar) = super::carrier(word(to)) else {
            return Refusal::types(format!("there is no conversion to {to}")).into();
        };
        match to {
            ElementType::F32 => bits.to(Scalar::I32).float32(),
            ElementType::F64 => bits.float64(),
            _ if word(to).is_int() => {
                let value = fit(cx, word(to), bits.to(scalar));
                if to == ElementType::Bool { value.to(Scalar::Bool) } else { value }
            }
            _ => Refusal::types(format!("the bits of {to} are not supported")).into(),
        }
    });
    Ok(())
}
