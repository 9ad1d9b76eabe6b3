//! Storage of element types that the language lacks: small integers in wider ones, half precision
//! in single precision.
//!
//! A stored value is always one that the narrow type has. Every operation ends in [`fit`], which
//! wraps integers and rounds floating-point numbers to the narrow type (to nearest, ties to even).
//! Unsigned integers of 64 bits are stored in `i64`, with the same bits. Conversion to and from the
//! bytes of a tensor is exact.

use loops::{Data, Scalar};

use super::Refusal;
use super::build::Cx;
use super::value::{Val, number, truth};
use crate::tensor::Tensor;
use crate::types::ElementType;

/// The scalar type in which values of an element type are stored; `None` for strings and complex
/// numbers.
pub fn carrier(elem: ElementType) -> Option<Scalar> {
    use ElementType::*;
    Some(match elem {
        F32 | F16 | Bf16 | F8E4M3Fn | F8E4M3FnUz | F8E5M2 | F8E5M2FnUz | F4E2M1 | F8E8M0 => Scalar::F32,
        F64 => Scalar::F64,
        I32 | I16 | I8 | I4 | I2 | U16 | U8 | U4 | U2 => Scalar::I32,
        I64 | U64 | U32 => Scalar::I64,
        Bool => Scalar::Bool,
        String | C64 | C128 | Other(_) => return None,
    })
}

/// Whether an element type has no negative values.
pub(super) fn is_unsigned(elem: ElementType) -> bool {
    use ElementType::*;
    matches!(elem, U2 | U4 | U8 | U16 | U32 | U64)
}

/// The least and the largest number of an integer type of at most 32 bits, or of `i64`.
pub(super) fn range(elem: ElementType) -> Option<(f64, f64)> {
    if !elem.is_int() {
        return None;
    }
    let bits = elem.bits() as i32;
    Some(match is_unsigned(elem) {
        true => (0.0, 2f64.powi(bits) - 1.0),
        false => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
    })
}

/// The value of the element type for a computed value of its storage type.
pub(super) fn fit(cx: &mut Cx, elem: ElementType, value: Val) -> Val {
    use ElementType::*;
    match elem {
        I2 | I4 | I8 | I16 => cx.call_with("wrap_signed", &value, &[elem.bits() as f64]),
        U2 | U4 | U8 | U16 | U32 => cx.call_with("wrap_unsigned", &value, &[elem.bits() as f64]),
        _ => round(cx, elem, value, true),
    }
}

/// Rounding of a single-precision value to a narrow floating-point type.
fn round(cx: &mut Cx, elem: ElementType, value: Val, saturate: bool) -> Val {
    use ElementType::*;
    let saturate = truth(saturate);
    match elem {
        F16 => cx.call("to_f16", &[value]),
        Bf16 => cx.call("to_bf16", &[value]),
        F8E4M3Fn => cx.call("to_f8e4m3fn", &[saturate, value]),
        F8E4M3FnUz => cx.call("to_f8e4m3fnuz", &[saturate, value]),
        F8E5M2 => cx.call("to_f8e5m2", &[saturate, value]),
        F8E5M2FnUz => cx.call("to_f8e5m2fnuz", &[saturate, value]),
        F4E2M1 => cx.call("to_f4e2m1", &[value]),
        F8E8M0 => cx.call("to_f8e8m0", &[saturate, value]),
        _ => value,
    }
}

/// A value of one element type converted to another.
pub(super) fn cast(cx: &mut Cx, from: ElementType, to: ElementType, saturate: bool, value: Val) -> Val {
    let Some(target) = carrier(to) else {
        return Refusal::types(format!("there is no conversion to {to}")).into();
    };
    if from == to {
        return value;
    }
    if from == ElementType::U64 && target.is_float() {
        let wide = if target == Scalar::F64 { "unsigned_to_double" } else { "unsigned_to_single" };
        let value = cx.call(wide, &[value]);
        return round(cx, to, value, saturate);
    }
    if to == ElementType::U64 && from.is_float() {
        return cx.call("double_to_unsigned", &[value.to(Scalar::F64)]);
    }
    if from.is_float() && to.is_int() && to.bits() < 32 {
        // through the widest integer, whose low bits are kept
        let whole = value.to(Scalar::I64).to(Scalar::I32);
        return fit(cx, to, whole);
    }
    let value = value.to(target);
    if to.is_int() { fit(cx, to, value) } else { round(cx, to, value, saturate) }
}

/// The first value of a maximum over an element type: below (or equal to) every other.
pub(super) fn bottom(elem: ElementType) -> Val {
    let scalar = carrier(elem).unwrap_or(Scalar::F32);
    match (elem, range(elem)) {
        (ElementType::I64, _) => integer(i64::MIN),
        (_, Some((low, _))) => number(scalar, low),
        (ElementType::Bool, _) => truth(false),
        _ => number(scalar, f64::NEG_INFINITY),
    }
}

/// The first value of a minimum over an element type: above (or equal to) every other.
pub(super) fn top(elem: ElementType) -> Val {
    let scalar = carrier(elem).unwrap_or(Scalar::F32);
    match (elem, range(elem)) {
        (ElementType::I64, _) => integer(i64::MAX),
        (ElementType::U64, _) => integer(-1),
        (_, Some((_, high))) => number(scalar, high),
        (ElementType::Bool, _) => truth(true),
        _ => number(scalar, f64::INFINITY),
    }
}

fn integer(value: i64) -> Val {
    super::value::int(value)
}

/// A floating-point format of at most 16 bits.
struct Format {
    exponent: u32,
    significand: u32,
    bias: i32,
    /// Whether the largest exponent holds infinities and NaN.
    ieee: bool,
    /// Whether the bits of negative zero are the only NaN.
    one_nan: bool,
}

fn format(elem: ElementType) -> Option<Format> {
    let f = |exponent, significand, bias, ieee, one_nan| {
        Some(Format { exponent, significand, bias, ieee, one_nan })
    };
    match elem {
        ElementType::F16 => f(5, 10, 15, true, false),
        ElementType::Bf16 => f(8, 7, 127, true, false),
        ElementType::F8E4M3Fn => f(4, 3, 7, false, false),
        ElementType::F8E4M3FnUz => f(4, 3, 8, false, true),
        ElementType::F8E5M2 => f(5, 2, 15, true, false),
        ElementType::F8E5M2FnUz => f(5, 2, 16, false, true),
        ElementType::F4E2M1 => f(2, 1, 1, false, false),
        _ => None,
    }
}

/// The number that bits of a narrow floating-point type stand for.
fn widen(elem: ElementType, bits: u32) -> f32 {
    if elem == ElementType::F8E8M0 {
        return if bits == 255 { f32::NAN } else { 2f64.powi(bits as i32 - 127) as f32 };
    }
    let Some(format) = format(elem) else { return f32::from_bits(bits) };
    let width = format.exponent + format.significand;
    let (negative, magnitude) = (bits >> width & 1 == 1, bits & ((1 << width) - 1));
    let (e, m) = (magnitude >> format.significand, magnitude & ((1 << format.significand) - 1));
    let all = (1 << format.exponent) - 1;
    let value = if format.one_nan && negative && magnitude == 0 {
        f64::NAN
    } else if format.ieee && e == all {
        if m == 0 { f64::INFINITY } else { f64::NAN }
    } else if elem == ElementType::F8E4M3Fn && magnitude == (1 << width) - 1 {
        f64::NAN
    } else if e == 0 {
        f64::from(m) * 2f64.powi(1 - format.bias - format.significand as i32)
    } else {
        let significand = f64::from(m | 1 << format.significand);
        significand * 2f64.powi(e as i32 - format.bias - format.significand as i32)
    };
    (if negative { -value } else { value }) as f32
}

/// The bits of a number that a narrow floating-point type has.
fn shorten(elem: ElementType, value: f32) -> u32 {
    if elem == ElementType::F8E8M0 {
        return if value.is_nan() {
            255
        } else {
            (value.abs().log2().round() as i32 + 127).clamp(0, 254) as u32
        };
    }
    let Some(format) = format(elem) else { return value.to_bits() };
    let width = format.exponent + format.significand;
    let sign = u32::from(value.is_sign_negative()) << width;
    let all = (1u32 << format.exponent) - 1;
    if value.is_nan() {
        return match (format.one_nan, format.ieee) {
            (true, _) => 1 << width,
            (_, true) => sign | all << format.significand | 1 << (format.significand - 1),
            _ => sign | ((1 << width) - 1),
        };
    }
    let size = f64::from(value.abs());
    if size.is_infinite() {
        return sign | all << format.significand;
    }
    let least = 2f64.powi(1 - format.bias);
    let magnitude = if size < least {
        (size / 2f64.powi(1 - format.bias - format.significand as i32)).round_ties_even() as u32
    } else {
        let e = (size.to_bits() >> 52) as i32 - 1023;
        let m = (size / 2f64.powi(e - format.significand as i32)).round_ties_even() as u32;
        (((e + format.bias) as u32) << format.significand) + (m - (1 << format.significand))
    };
    if format.one_nan && magnitude == 0 { 0 } else { sign | magnitude }
}

/// The elements of a type of less than 8 bits, one a number; of others one byte string an element.
fn words(tensor: &Tensor) -> Option<Vec<u64>> {
    let bytes = tensor.bytes()?;
    let bits = tensor.elem.bits();
    let count = tensor.count();
    Some(match bits {
        2 | 4 => {
            let per = 8 / bits;
            (0..count).map(|k| u64::from(bytes[k / per] >> (k % per * bits)) & ((1 << bits) - 1)).collect()
        }
        8 | 16 | 32 | 64 => bytes
            .chunks_exact(bits / 8)
            .map(|chunk| chunk.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte)))
            .collect(),
        _ => return None,
    })
}

/// An integer of this many bits with a sign.
fn signed(word: u64, bits: usize) -> i64 {
    let unused = 64 - bits as u32;
    (word << unused) as i64 >> unused
}

/// The tensor in the types of the language; `None` for strings, complex numbers, and elements that
/// are not loaded.
pub fn decode(tensor: &Tensor) -> Option<loops::Tensor> {
    if let Some(value) = tensor.to_value() {
        return Some(value);
    }
    let (elem, bits) = (tensor.elem, tensor.elem.bits());
    let words = words(tensor)?;
    let data = match carrier(elem)? {
        Scalar::F32 => Data::F32(words.into_iter().map(|w| widen(elem, w as u32)).collect()),
        Scalar::I32 if is_unsigned(elem) => Data::I32(words.into_iter().map(|w| w as i32).collect()),
        Scalar::I32 => Data::I32(words.into_iter().map(|w| signed(w, bits) as i32).collect()),
        Scalar::I64 => Data::I64(words.into_iter().map(|w| w as i64).collect()),
        _ => return None,
    };
    Some(loops::Tensor { shape: tensor.dims.clone(), data })
}

/// An array of the element type's own numbers, such as bytes for `u8`, as the type is stored. Other
/// arrays come back as they are.
pub fn stored(elem: ElementType, given: loops::Tensor) -> loops::Tensor {
    macro_rules! bytes {
        ($v:expr) => {
            $v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()
        };
    }
    let own = given.data.elem().as_scalar().is_some_and(|scalar| ElementType::from(scalar) == elem);
    let bytes = match &given.data {
        _ if !own => return given,
        Data::F16(v) => bytes!(v),
        Data::I8(v) => bytes!(v),
        Data::U8(v) => v.clone(),
        Data::I16(v) => bytes!(v),
        Data::U16(v) => bytes!(v),
        Data::U32(v) => bytes!(v),
        Data::U64(v) => bytes!(v),
        _ => return given,
    };
    let tensor = Tensor::raw(elem, given.shape.clone(), bytes.into());
    tensor.and_then(|tensor| decode(&tensor)).unwrap_or(given)
}

/// The tensor of this element type whose elements are stored in a value of the language.
pub fn encode(elem: ElementType, value: &loops::Tensor) -> Option<Tensor> {
    crate::tensor::elements(&value.shape)?;
    if elem.scalar().is_some() {
        let tensor = Tensor::from_value(value)?;
        return (tensor.elem == elem).then_some(tensor);
    }
    let words: Vec<u64> = match &value.data {
        Data::F32(v) => v.iter().map(|x| u64::from(shorten(elem, *x))).collect(),
        Data::I32(v) => v.iter().map(|x| *x as u64).collect(),
        Data::I64(v) => v.iter().map(|x| *x as u64).collect(),
        _ => return None,
    };
    let bits = elem.bits();
    let bytes: Vec<u8> = match bits {
        2 | 4 => words
            .chunks(8 / bits)
            .map(|chunk| {
                chunk
                    .iter()
                    .enumerate()
                    .fold(0u8, |byte, (k, w)| byte | ((w & ((1 << bits) - 1)) as u8) << (k * bits))
            })
            .collect(),
        _ => words.iter().flat_map(|w| w.to_le_bytes().into_iter().take(bits / 8)).collect(),
    };
    Tensor::raw(elem, value.shape.clone(), bytes.into())
}

/// The elements as numbers, whatever they are.
pub(super) fn numbers(tensor: &Tensor) -> Option<Vec<f64>> {
    Some(match decode(tensor)?.data {
        Data::F32(v) => v.into_iter().map(f64::from).collect(),
        Data::F64(v) => v,
        Data::I32(v) => v.into_iter().map(f64::from).collect(),
        Data::I64(v) => v.into_iter().map(|x| x as f64).collect(),
        Data::Bool(v) => v.into_iter().map(|x| f64::from(u8::from(x))).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_own_numbers_are_stored() {
        let array = |data: Data| loops::Tensor { shape: vec![2], data };
        let halves = array(Data::F16(vec![loops::nearest_half(1.0), loops::nearest_half(-2.5)]));
        assert_eq!(stored(ElementType::F16, halves).data, Data::F32(vec![1.0, -2.5]));
        assert_eq!(stored(ElementType::U8, array(Data::U8(vec![0, 255]))).data, Data::I32(vec![0, 255]));
        let signed = stored(ElementType::I16, array(Data::I16(vec![-1, 300])));
        assert_eq!(signed.data, Data::I32(vec![-1, 300]));
        // What is no array of that type is left to others to judge.
        for data in [Data::I32(vec![1, 2]), Data::F32(vec![1.0, 2.0])] {
            assert_eq!(stored(ElementType::U8, array(data.clone())).data, data);
        }
    }
}
