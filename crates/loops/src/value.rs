//! Scalar values, and what the operations of the loop IR do to them.
//!
//! This is the one definition of the arithmetic: the interpreter runs it and the simplifier folds
//! constants by it. It is that of C without contraction or fast-math: `f32` operations round to
//! `f32`, the functions are those of the system's `libm`, integers wrap.

use arith::number;
use half::f16;

use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::types::Scalar;

/// A scalar value.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the names are the documentation
pub enum Value {
    F32(f32),
    F64(f64),
    I32(i32),
    I64(i64),
    Bool(bool),
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    U32(u32),
    U64(u64),
    F16(f16),
}

/// Why an operation has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// Division or remainder of integers by zero, where C's rules hold.
    DivisionByZero,
    /// Arithmetic on indices, which is exact, goes beyond 64 bits.
    Overflow,
    /// Conversion by C's rules of a floating-point number that the integer type cannot hold.
    Conversion,
    /// Operands of types that the operation does not take.
    Types,
    /// It depends on memory, or on a name without a value.
    Unknown,
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Undefined::DivisionByZero => "an integer is divided by zero",
            Undefined::Overflow => "arithmetic on indices or sizes exceeds 64 bits",
            Undefined::Conversion => {
                "a floating-point number is converted to an integer type that can't hold it"
            }
            Undefined::Types => "operands have types that the operation does not take",
            Undefined::Unknown => "the value depends on what is not known",
        })
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Expr {
        // Types without constants of their own have converted ones.
        let constant = |to, v| Expr::Cast(to, Box::new(Expr::Int(v)));
        match value {
            Value::F32(v) => Expr::f32(v),
            Value::F64(v) => Expr::f64(v),
            Value::I32(v) => Expr::I32(v),
            Value::I64(v) => Expr::Int(v),
            Value::Bool(v) => Expr::Bool(v),
            Value::I8(v) => constant(Scalar::I8, v.into()),
            Value::U8(v) => constant(Scalar::U8, v.into()),
            Value::I16(v) => constant(Scalar::I16, v.into()),
            Value::U16(v) => constant(Scalar::U16, v.into()),
            Value::U32(v) => constant(Scalar::U32, v.into()),
            Value::U64(v) => constant(Scalar::U64, v as i64),
            Value::F16(v) => Expr::Cast(Scalar::F16, Box::new(Expr::f32(v.to_f32()))),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&Expr::from(*self), f)
    }
}

/// The smaller or larger of two floating-point numbers. A number is chosen over a NaN, and -0 is
/// below +0, so the operation commutes and associates.
macro_rules! choose {
    ($type:ident, $a:expr, $b:expr, $better:tt, $of_signs:tt) => {
        if $a $better $b || $b.is_nan() {
            $a
        } else if $a == $b {
            // Equal numbers have the same bits, but for the sign of zero.
            $type::from_bits($a.to_bits() $of_signs $b.to_bits())
        } else {
            $b
        }
    };
}

/// Operations of integers.
macro_rules! integer {
    ($op:expr, $variant:ident, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let value = match $op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div => number::total_trunc_div(a, b),
            BinaryOp::Rem => number::total_trunc_rem(a, b),
            BinaryOp::FloorDiv => number::total_floor_div(a, b),
            BinaryOp::Mod => number::total_floor_rem(a, b),
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            // modulo the width, whatever the sign: the low bits decide
            BinaryOp::Shl => a.wrapping_shl(b as u32),
            BinaryOp::Shr => a.wrapping_shr(b as u32),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot | BinaryOp::And | BinaryOp::Or => {
                return Err(Undefined::Types);
            }
        };
        Ok(Value::$variant(value))
    }};
}

macro_rules! float {
    ($op:expr, $variant:ident, $type:ident, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let value = match $op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Min => choose!($type, a, b, <, |),
            BinaryOp::Max => choose!($type, a, b, >, &),
            BinaryOp::Pow => a.powf(b),
            BinaryOp::Atan2 => a.atan2(b),
            BinaryOp::Hypot => a.hypot(b),
            BinaryOp::Rem => a % b,
            BinaryOp::FloorDiv
            | BinaryOp::Mod
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::And
            | BinaryOp::Or => {
                return Err(Undefined::Types);
            }
        };
        Ok(Value::$variant(value))
    }};
}

macro_rules! float_unary {
    ($op:expr, $variant:ident, $a:expr, $bits:expr) => {{
        let a = $a;
        let value = match $op {
            UnaryOp::Neg => -a,
            UnaryOp::Abs => a.abs(),
            UnaryOp::Sqrt => a.sqrt(),
            UnaryOp::Exp => a.exp(),
            UnaryOp::Log => a.ln(),
            UnaryOp::Tanh => a.tanh(),
            UnaryOp::Sin => a.sin(),
            UnaryOp::Cos => a.cos(),
            UnaryOp::Floor => a.floor(),
            UnaryOp::Ceil => a.ceil(),
            UnaryOp::Round => a.round_ties_even(),
            UnaryOp::Atan => a.atan(),
            UnaryOp::Tan => a.tan(),
            UnaryOp::Asin => a.asin(),
            UnaryOp::Acos => a.acos(),
            UnaryOp::Sinh => a.sinh(),
            UnaryOp::Cosh => a.cosh(),
            UnaryOp::Exp2 => a.exp2(),
            UnaryOp::Expm1 => a.exp_m1(),
            UnaryOp::Log2 => a.log2(),
            UnaryOp::Log10 => a.log10(),
            UnaryOp::Log1p => a.ln_1p(),
            UnaryOp::Trunc => a.trunc(),
            UnaryOp::Bits => return Ok($bits),
            UnaryOp::Not => return Err(Undefined::Types),
        };
        Ok(Value::$variant(value))
    }};
}

impl Value {
    /// The type.
    pub fn scalar(self) -> Scalar {
        match self {
            Value::F32(_) => Scalar::F32,
            Value::F64(_) => Scalar::F64,
            Value::I32(_) => Scalar::I32,
            Value::I64(_) => Scalar::I64,
            Value::Bool(_) => Scalar::Bool,
            Value::I8(_) => Scalar::I8,
            Value::U8(_) => Scalar::U8,
            Value::I16(_) => Scalar::I16,
            Value::U16(_) => Scalar::U16,
            Value::U32(_) => Scalar::U32,
            Value::U64(_) => Scalar::U64,
            Value::F16(_) => Scalar::F16,
        }
    }

    /// The value of a constant.
    pub fn of(expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Int(v) => Some(Value::I64(*v)),
            Expr::I32(v) => Some(Value::I32(*v)),
            Expr::F32(v) => Some(Value::F32(v.value())),
            Expr::F64(v) => Some(Value::F64(v.value())),
            Expr::Bool(v) => Some(Value::Bool(*v)),
            _ => None,
        }
    }

    /// A unary operation.
    ///
    /// # Errors
    /// If the operand's type is not one that it takes.
    pub fn unary(op: UnaryOp, operand: Value) -> Result<Value, Undefined> {
        match (op, operand) {
            (_, Value::F32(a)) => float_unary!(op, F32, a, Value::I32(a.to_bits() as i32)),
            (_, Value::F64(a)) => float_unary!(op, F64, a, Value::I64(a.to_bits() as i64)),
            (UnaryOp::Bits, Value::I32(a)) => Ok(Value::F32(f32::from_bits(a as u32))),
            (UnaryOp::Bits, Value::I64(a)) => Ok(Value::F64(f64::from_bits(a as u64))),
            (UnaryOp::Neg, Value::I32(a)) => Ok(Value::I32(a.wrapping_neg())),
            (UnaryOp::Neg, Value::I64(a)) => Ok(Value::I64(a.wrapping_neg())),
            (UnaryOp::Abs, Value::I32(a)) => Ok(Value::I32(a.wrapping_abs())),
            (UnaryOp::Abs, Value::I64(a)) => Ok(Value::I64(a.wrapping_abs())),
            (UnaryOp::Neg, Value::I8(a)) => Ok(Value::I8(a.wrapping_neg())),
            (UnaryOp::Neg, Value::U8(a)) => Ok(Value::U8(a.wrapping_neg())),
            (UnaryOp::Neg, Value::I16(a)) => Ok(Value::I16(a.wrapping_neg())),
            (UnaryOp::Neg, Value::U16(a)) => Ok(Value::U16(a.wrapping_neg())),
            (UnaryOp::Neg, Value::U32(a)) => Ok(Value::U32(a.wrapping_neg())),
            (UnaryOp::Neg, Value::U64(a)) => Ok(Value::U64(a.wrapping_neg())),
            (UnaryOp::Abs, Value::I8(a)) => Ok(Value::I8(a.wrapping_abs())),
            (UnaryOp::Abs, Value::I16(a)) => Ok(Value::I16(a.wrapping_abs())),
            (UnaryOp::Abs, a) if a.scalar().is_unsigned() => Ok(a),
            (UnaryOp::Not, Value::Bool(a)) => Ok(Value::Bool(!a)),
            _ => Err(Undefined::Types),
        }
    }

    /// Whether the result of an operation on integers may be beyond their width.
    pub(crate) fn may_overflow(op: BinaryOp) -> bool {
        matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv)
    }

    /// An operation on indices or sizes, which is exact.
    ///
    /// # Errors
    /// Results beyond 64 bits; operations that integers do not have.
    pub fn exact(op: BinaryOp, left: i64, right: i64) -> Result<i64, Undefined> {
        let least_by_minus_one =
            matches!(op, BinaryOp::Div | BinaryOp::FloorDiv) && left == i64::MIN && right == -1;
        let sum = match op {
            BinaryOp::Add => left.checked_add(right),
            BinaryOp::Sub => left.checked_sub(right),
            BinaryOp::Mul => left.checked_mul(right),
            _ if least_by_minus_one => None,
            _ => match Value::binary(op, Value::I64(left), Value::I64(right))? {
                Value::I64(value) => Some(value),
                _ => return Err(Undefined::Types),
            },
        };
        sum.ok_or(Undefined::Overflow)
    }

    /// A binary operation. Integers wrap. An integer divided by 0 is 0, and the remainder is the
    /// dividend.
    ///
    /// # Errors
    /// Operands of types that the operation does not take.
    pub fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Undefined> {
        match (left, right) {
            (Value::F32(a), Value::F32(b)) => float!(op, F32, f32, a, b),
            (Value::F64(a), Value::F64(b)) => float!(op, F64, f64, a, b),
            (Value::I64(a), Value::I64(b)) => integer!(op, I64, a, b),
            (Value::I32(a), Value::I32(b)) => integer!(op, I32, a, b),
            (Value::I8(a), Value::I8(b)) => integer!(op, I8, a, b),
            (Value::U8(a), Value::U8(b)) => integer!(op, U8, a, b),
            (Value::I16(a), Value::I16(b)) => integer!(op, I16, a, b),
            (Value::U16(a), Value::U16(b)) => integer!(op, U16, a, b),
            (Value::U32(a), Value::U32(b)) => integer!(op, U32, a, b),
            (Value::U64(a), Value::U64(b)) => integer!(op, U64, a, b),
            (Value::Bool(a), Value::Bool(b)) => match op {
                BinaryOp::And => Ok(Value::Bool(a && b)),
                BinaryOp::Or => Ok(Value::Bool(a || b)),
                _ => Err(Undefined::Types),
            },
            _ => Err(Undefined::Types),
        }
    }

    /// A comparison.
    ///
    /// # Errors
    /// Operands of different types.
    pub fn compare(op: CompareOp, left: Value, right: Value) -> Result<bool, Undefined> {
        fn decide<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
            match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            }
        }
        match (left, right) {
            (Value::F32(a), Value::F32(b)) => Ok(decide(op, a, b)),
            (Value::F64(a), Value::F64(b)) => Ok(decide(op, a, b)),
            (Value::I32(a), Value::I32(b)) => Ok(decide(op, a, b)),
            (Value::I64(a), Value::I64(b)) => Ok(decide(op, a, b)),
            (Value::Bool(a), Value::Bool(b)) => Ok(decide(op, a, b)),
            (Value::I8(a), Value::I8(b)) => Ok(decide(op, a, b)),
            (Value::U8(a), Value::U8(b)) => Ok(decide(op, a, b)),
            (Value::I16(a), Value::I16(b)) => Ok(decide(op, a, b)),
            (Value::U16(a), Value::U16(b)) => Ok(decide(op, a, b)),
            (Value::U32(a), Value::U32(b)) => Ok(decide(op, a, b)),
            (Value::U64(a), Value::U64(b)) => Ok(decide(op, a, b)),
            _ => Err(Undefined::Types),
        }
    }

    /// Whether it is the integer 0 of some type.
    pub(crate) fn is_zero_integer(self) -> bool {
        self.scalar().is_int() && self.cast(Scalar::I64) == Value::I64(0)
    }

    /// The greatest or the least integer of a type; none of other types.
    pub fn extreme(scalar: Scalar, greatest: bool) -> Option<Value> {
        macro_rules! one {
            ($variant:ident, $ty:ty) => {
                Value::$variant(if greatest { <$ty>::MAX } else { <$ty>::MIN })
            };
        }
        Some(match scalar {
            Scalar::F32 | Scalar::F64 | Scalar::F16 | Scalar::Bool => return None,
            Scalar::I32 => one!(I32, i32),
            Scalar::I64 => one!(I64, i64),
            Scalar::I8 => one!(I8, i8),
            Scalar::U8 => one!(U8, u8),
            Scalar::I16 => one!(I16, i16),
            Scalar::U16 => one!(U16, u16),
            Scalar::U32 => one!(U32, u32),
            Scalar::U64 => one!(U64, u64),
        })
    }

    /// Whether C says what the value becomes in another type.
    pub fn fits(self, to: Scalar) -> bool {
        let number = match self {
            Value::F32(v) => f64::from(v),
            Value::F64(v) => v,
            Value::F16(v) => v.to_f64(),
            _ => return true,
        };
        // The fraction is dropped.
        let between = |least: i64, end: i64| number > least as f64 - 1.0 && number < end as f64;
        match to {
            Scalar::I32 => between(i32::MIN.into(), 1 << 31),
            Scalar::I64 => number >= i64::MIN as f64 && number < -(i64::MIN as f64),
            Scalar::F32 | Scalar::F64 | Scalar::F16 | Scalar::Bool => true,
            Scalar::I8 => between(i8::MIN.into(), 1 << 7),
            Scalar::U8 => between(0, 1 << 8),
            Scalar::I16 => between(i16::MIN.into(), 1 << 15),
            Scalar::U16 => between(0, 1 << 16),
            Scalar::U32 => between(0, 1 << 32),
            Scalar::U64 => number > -1.0 && number < -2.0 * (i64::MIN as f64),
        }
    }

    /// Conversion as in C. If C does not define what a floating-point number becomes, it is the
    /// nearest integer of the type, and 0 for NaN.
    pub fn cast(self, to: Scalar) -> Value {
        macro_rules! number {
            ($ty:ty) => {
                match self {
                    Value::F32(v) => v as $ty,
                    Value::F64(v) => v as $ty,
                    Value::I32(v) => v as $ty,
                    Value::I64(v) => v as $ty,
                    Value::Bool(v) => u8::from(v) as $ty,
                    Value::I8(v) => v as $ty,
                    Value::U8(v) => v as $ty,
                    Value::I16(v) => v as $ty,
                    Value::U16(v) => v as $ty,
                    Value::U32(v) => v as $ty,
                    Value::U64(v) => v as $ty,
                    Value::F16(v) => v.to_f32() as $ty,
                }
            };
        }
        match to {
            Scalar::F32 => Value::F32(number!(f32)),
            Scalar::F64 => Value::F64(number!(f64)),
            Scalar::I32 => Value::I32(number!(i32)),
            Scalar::I64 => Value::I64(number!(i64)),
            Scalar::I8 => Value::I8(number!(i8)),
            Scalar::U8 => Value::U8(number!(u8)),
            Scalar::I16 => Value::I16(number!(i16)),
            Scalar::U16 => Value::U16(number!(u16)),
            Scalar::U32 => Value::U32(number!(u32)),
            Scalar::U64 => Value::U64(number!(u64)),
            // Rounded once: a double is not rounded to a single first.
            Scalar::F16 => Value::F16(match self {
                Value::F16(v) => v,
                Value::F64(v) => nearest_half(v),
                // Integers are rounded to the nearest single first, as everywhere.
                other => f16::from_f32(match other.cast(Scalar::F32) {
                    Value::F32(v) => v,
                    _ => 0.0,
                }),
            }),
            Scalar::Bool => Value::Bool(match self {
                Value::F32(v) => v != 0.0,
                Value::Bool(v) => v,
                Value::F64(v) => v != 0.0,
                Value::I32(v) => v != 0,
                Value::I64(v) => v != 0,
                Value::I8(v) => v != 0,
                Value::U8(v) => v != 0,
                Value::I16(v) => v != 0,
                Value::U16(v) => v != 0,
                Value::U32(v) => v != 0,
                Value::U64(v) => v != 0,
                Value::F16(v) => v.to_f32() != 0.0,
            }),
        }
    }
}

/// The nearest number of half precision, ties to even. The number goes to single precision towards
/// zero, with a last bit that says whether something was lost, so it is rounded once.
pub fn nearest_half(number: f64) -> f16 {
    let single = number as f32;
    let back = f64::from(single);
    let mut bits = single.to_bits();
    if back != number && !number.is_nan() {
        bits -= u32::from(back.abs() > number.abs());
        bits |= 1;
    }
    f16::from_f32(f32::from_bits(bits))
}

/// A function of `math.h` or `stdlib.h` that a call can name.
#[derive(Clone, Copy, Debug)]
pub enum Builtin {
    /// `double f(double)`
    F64(fn(f64) -> f64),
    /// `double f(double, double)`
    F64x2(fn(f64, f64) -> f64),
    /// `double f(double, double, double)`
    F64x3(fn(f64, f64, f64) -> f64),
    /// `float f(float)`
    F32(fn(f32) -> f32),
    /// `float f(float, float)`
    F32x2(fn(f32, f32) -> f32),
    /// `float f(float, float, float)`
    F32x3(fn(f32, f32, f32) -> f32),
    /// `int f(int)`
    I32(fn(i32) -> i32),
    /// `int64_t f(int64_t)`
    I64(fn(i64) -> i64),
}

macro_rules! builtins {
    ($name:expr, $type:ident, $one:ident, $two:ident, $three:ident) => {
        match $name {
            "sqrt" => Some(Builtin::$one($type::sqrt)),
            "cbrt" => Some(Builtin::$one($type::cbrt)),
            "exp" => Some(Builtin::$one($type::exp)),
            "exp2" => Some(Builtin::$one($type::exp2)),
            "expm1" => Some(Builtin::$one($type::exp_m1)),
            "log" => Some(Builtin::$one($type::ln)),
            "log2" => Some(Builtin::$one($type::log2)),
            "log10" => Some(Builtin::$one($type::log10)),
            "log1p" => Some(Builtin::$one($type::ln_1p)),
            "sin" => Some(Builtin::$one($type::sin)),
            "cos" => Some(Builtin::$one($type::cos)),
            "tan" => Some(Builtin::$one($type::tan)),
            "asin" => Some(Builtin::$one($type::asin)),
            "acos" => Some(Builtin::$one($type::acos)),
            "atan" => Some(Builtin::$one($type::atan)),
            "sinh" => Some(Builtin::$one($type::sinh)),
            "cosh" => Some(Builtin::$one($type::cosh)),
            "tanh" => Some(Builtin::$one($type::tanh)),
            "floor" => Some(Builtin::$one($type::floor)),
            "ceil" => Some(Builtin::$one($type::ceil)),
            "trunc" => Some(Builtin::$one($type::trunc)),
            "round" => Some(Builtin::$one($type::round)),
            "rint" | "nearbyint" => Some(Builtin::$one($type::round_ties_even)),
            "fabs" => Some(Builtin::$one($type::abs)),
            "pow" => Some(Builtin::$two($type::powf)),
            "atan2" => Some(Builtin::$two($type::atan2)),
            "hypot" => Some(Builtin::$two($type::hypot)),
            "copysign" => Some(Builtin::$two($type::copysign)),
            "fmod" => Some(Builtin::$two(|a, b| a % b)),
            "fmin" => Some(Builtin::$two(|a, b| choose!($type, a, b, <, |))),
            "fmax" => Some(Builtin::$two(|a, b| choose!($type, a, b, >, &))),
            "fma" => Some(Builtin::$three($type::mul_add)),
            _ => None,
        }
    };
}

/// A function on the bits of a number that gcc and clang have, by its name without `__builtin_`.
/// They say nothing of the zeros of 0.
fn bits_of(name: &str) -> Option<Builtin> {
    Some(match name {
        "popcount" => Builtin::I32(|a| a.count_ones() as i32),
        "parity" => Builtin::I32(|a| (a.count_ones() % 2) as i32),
        "ctz" => Builtin::I32(|a| a.trailing_zeros() as i32),
        "clz" => Builtin::I32(|a| a.leading_zeros() as i32),
        "ffs" => Builtin::I32(|a| if a == 0 { 0 } else { a.trailing_zeros() as i32 + 1 }),
        "popcountl" | "popcountll" => Builtin::I64(|a| a.count_ones().into()),
        "parityl" | "parityll" => Builtin::I64(|a| (a.count_ones() % 2).into()),
        "ctzl" | "ctzll" => Builtin::I64(|a| a.trailing_zeros().into()),
        "clzl" | "clzll" => Builtin::I64(|a| a.leading_zeros().into()),
        "ffsl" | "ffsll" => Builtin::I64(|a| if a == 0 { 0 } else { i64::from(a.trailing_zeros()) + 1 }),
        _ => return None,
    })
}

impl Builtin {
    /// The function of this C name: `sqrt` is on `f64`, `sqrtf` on `f32`.
    pub fn named(name: &str) -> Option<Builtin> {
        match name {
            "abs" => return Some(Builtin::I32(i32::wrapping_abs)),
            "labs" | "llabs" => return Some(Builtin::I64(i64::wrapping_abs)),
            _ => {}
        }
        if let Some(bits) = name.strip_prefix("__builtin_") {
            return bits_of(bits);
        }
        let double: Option<Builtin> = builtins!(name, f64, F64, F64x2, F64x3);
        let single = || name.strip_suffix('f').and_then(|name| builtins!(name, f32, F32, F32x2, F32x3));
        double.or_else(single)
    }

    /// The type of its operands and of its result, and the number of operands.
    pub fn signature(self) -> (Scalar, usize) {
        match self {
            Builtin::F64(_) => (Scalar::F64, 1),
            Builtin::F64x2(_) => (Scalar::F64, 2),
            Builtin::F64x3(_) => (Scalar::F64, 3),
            Builtin::F32(_) => (Scalar::F32, 1),
            Builtin::F32x2(_) => (Scalar::F32, 2),
            Builtin::F32x3(_) => (Scalar::F32, 3),
            Builtin::I32(_) => (Scalar::I32, 1),
            Builtin::I64(_) => (Scalar::I64, 1),
        }
    }

    /// The result.
    ///
    /// # Errors
    /// Operands that do not fit the signature.
    pub fn call(self, args: &[Value]) -> Result<Value, Undefined> {
        match (self, args) {
            (Builtin::F64(f), [Value::F64(a)]) => Ok(Value::F64(f(*a))),
            (Builtin::F64x2(f), [Value::F64(a), Value::F64(b)]) => Ok(Value::F64(f(*a, *b))),
            (Builtin::F64x3(f), [Value::F64(a), Value::F64(b), Value::F64(c)]) => {
                Ok(Value::F64(f(*a, *b, *c)))
            }
            (Builtin::F32(f), [Value::F32(a)]) => Ok(Value::F32(f(*a))),
            (Builtin::F32x2(f), [Value::F32(a), Value::F32(b)]) => Ok(Value::F32(f(*a, *b))),
            (Builtin::F32x3(f), [Value::F32(a), Value::F32(b), Value::F32(c)]) => {
                Ok(Value::F32(f(*a, *b, *c)))
            }
            (Builtin::I32(f), [Value::I32(a)]) => Ok(Value::I32(f(*a))),
            (Builtin::I64(f), [Value::I64(a)]) => Ok(Value::I64(f(*a))),
            _ => Err(Undefined::Types),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_division_and_modulo() {
        for a in -7i64..=7 {
            for b in [-3i64, -2, -1, 1, 2, 3] {
                let q = Value::binary(BinaryOp::FloorDiv, Value::I64(a), Value::I64(b)).unwrap();
                let r = Value::binary(BinaryOp::Mod, Value::I64(a), Value::I64(b)).unwrap();
                assert_eq!(q, Value::I64((a as f64 / b as f64).floor() as i64), "{a} {b}");
                let (Value::I64(q), Value::I64(r)) = (q, r) else { unreachable!() };
                assert_eq!(q * b + r, a);
                assert!(r == 0 || (r < 0) == (b < 0), "{a} {b}");
            }
        }
        let min = Value::I64(i64::MIN);
        assert_eq!(Value::binary(BinaryOp::FloorDiv, min, Value::I64(-1)), Ok(min));
        assert_eq!(Value::binary(BinaryOp::Rem, min, Value::I64(-1)), Ok(Value::I64(0)));
        assert_eq!(Value::binary(BinaryOp::Mod, min, Value::I64(0)), Ok(min));
        assert_eq!(Value::binary(BinaryOp::Div, min, Value::I64(0)), Ok(Value::I64(0)));
    }

    #[test]
    fn conversions_are_those_of_c_or_saturate() {
        assert_eq!(Value::F64(-2.9).cast(Scalar::I32), Value::I32(-2));
        assert_eq!(Value::F64(2147483648.0).cast(Scalar::I32), Value::I32(i32::MAX));
        assert_eq!(Value::F64(-2147483648.9).cast(Scalar::I32), Value::I32(i32::MIN));
        assert_eq!(Value::F32(9.223_372e18).cast(Scalar::I64), Value::I64(i64::MAX));
        assert_eq!(Value::F64(f64::NAN).cast(Scalar::I64), Value::I64(0));
        for (number, fits) in
            [(2147483647.9, true), (2147483648.0, false), (-2147483648.9, true), (-2147483649.0, false)]
        {
            assert_eq!(Value::F64(number).fits(Scalar::I32), fits, "{number}");
        }
        assert!(Value::F64(-9223372036854775808.0).fits(Scalar::I64));
        assert!(!Value::F32(9.223_372e18).fits(Scalar::I64) && !Value::F64(f64::NAN).fits(Scalar::I64));
        assert!(Value::F64(f64::NAN).fits(Scalar::Bool) && Value::F64(1e300).fits(Scalar::F32));
        assert_eq!(Value::F64(f64::NAN).cast(Scalar::Bool), Value::Bool(true));
        assert_eq!(Value::I64(1 << 32).cast(Scalar::I32), Value::I32(0));
    }
}
