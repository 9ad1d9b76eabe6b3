//! Scalar values and what the operations of the hub do to them.
//!
//! This is the one definition of the arithmetic: the interpreter runs it and the simplifier folds constants by it. It is that of C
//! without contraction or fast-math: `f32` operations round to `f32`, the functions are those of the system's `libm`, integers wrap.

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
}

/// Why an operation has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// Division or remainder of integers by zero.
    DivisionByZero,
    /// Conversion of a floating-point number that the integer type can't hold, where C's rules hold.
    Conversion,
    /// Operands of types that the operation does not take.
    Types,
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Undefined::DivisionByZero => "an integer is divided by zero",
            Undefined::Conversion => {
                "a floating-point number is converted to an integer type that can't hold it"
            }
            Undefined::Types => "operands have types that the operation does not take",
        })
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Expr {
        match value {
            Value::F32(v) => Expr::f32(v),
            Value::F64(v) => Expr::f64(v),
            Value::I32(v) => Expr::I32(v),
            Value::I64(v) => Expr::Int(v),
            Value::Bool(v) => Expr::Bool(v),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&Expr::from(*self), f)
    }
}

/// C's `fmin`: a number rather than NaN; of equal operands the second, as the x86-64 library has it for signed zeros.
macro_rules! choose {
    ($a:expr, $b:expr, $better:tt) => {
        if $a $better $b || $b.is_nan() { $a } else { $b }
    };
}

macro_rules! integer {
    ($op:expr, $variant:ident, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let nonzero = if b == 0 { Err(Undefined::DivisionByZero) } else { Ok(()) };
        let value = match $op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div => nonzero.map(|()| a.wrapping_div(b))?,
            BinaryOp::Rem => nonzero.map(|()| a.wrapping_rem(b))?,
            BinaryOp::FloorDiv => {
                nonzero?;
                let rest = a.wrapping_rem(b);
                a.wrapping_div(b).wrapping_sub((rest != 0 && (rest < 0) != (b < 0)).into())
            }
            BinaryOp::Mod => {
                nonzero?;
                let rest = a.wrapping_rem(b);
                if rest != 0 && (rest < 0) != (b < 0) { rest.wrapping_add(b) } else { rest }
            }
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            // modulo the width, whatever the sign: the low bits decide
            BinaryOp::Shl => a.wrapping_shl(b as u32),
            BinaryOp::Shr => a.wrapping_shr(b as u32),
            BinaryOp::Pow | BinaryOp::And | BinaryOp::Or => return Err(Undefined::Types),
        };
        Ok(Value::$variant(value))
    }};
}

macro_rules! float {
    ($op:expr, $variant:ident, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let value = match $op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Min => choose!(a, b, <),
            BinaryOp::Max => choose!(a, b, >),
            BinaryOp::Pow => a.powf(b),
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
            (UnaryOp::Not, Value::Bool(a)) => Ok(Value::Bool(!a)),
            _ => Err(Undefined::Types),
        }
    }

    /// A binary operation.
    ///
    /// # Errors
    /// Division by zero of integers; operands of types that it does not take.
    pub fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Undefined> {
        match (left, right) {
            (Value::F32(a), Value::F32(b)) => float!(op, F32, a, b),
            (Value::F64(a), Value::F64(b)) => float!(op, F64, a, b),
            (Value::I64(a), Value::I64(b)) => integer!(op, I64, a, b),
            (Value::I32(a), Value::I32(b)) => integer!(op, I32, a, b),
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
            _ => Err(Undefined::Types),
        }
    }

    /// Whether C says what the value becomes in another type.
    pub fn fits(self, to: Scalar) -> bool {
        let number = match self {
            Value::F32(v) => f64::from(v),
            Value::F64(v) => v,
            Value::I32(_) | Value::I64(_) | Value::Bool(_) => return true,
        };
        match to {
            Scalar::I32 => number > -2_147_483_649.0 && number < 2_147_483_648.0,
            Scalar::I64 => number >= i64::MIN as f64 && number < -(i64::MIN as f64),
            Scalar::F32 | Scalar::F64 | Scalar::Bool => true,
        }
    }

    /// Conversion as in C; where C leaves open what a floating-point number becomes, it is the nearest integer of the type, and 0 for NaN.
    pub fn cast(self, to: Scalar) -> Value {
        match to {
            Scalar::F32 => Value::F32(match self {
                Value::F32(v) => v,
                Value::F64(v) => v as f32,
                Value::I32(v) => v as f32,
                Value::I64(v) => v as f32,
                Value::Bool(v) => f32::from(u8::from(v)),
            }),
            Scalar::F64 => Value::F64(match self {
                Value::F32(v) => f64::from(v),
                Value::F64(v) => v,
                Value::I32(v) => f64::from(v),
                Value::I64(v) => v as f64,
                Value::Bool(v) => f64::from(u8::from(v)),
            }),
            Scalar::I32 => Value::I32(match self {
                Value::F32(v) => v as i32,
                Value::F64(v) => v as i32,
                Value::I32(v) => v,
                Value::I64(v) => v as i32,
                Value::Bool(v) => v.into(),
            }),
            Scalar::I64 => Value::I64(match self {
                Value::F32(v) => v as i64,
                Value::F64(v) => v as i64,
                Value::I32(v) => v.into(),
                Value::I64(v) => v,
                Value::Bool(v) => v.into(),
            }),
            Scalar::Bool => Value::Bool(match self {
                Value::F32(v) => v != 0.0,
                Value::F64(v) => v != 0.0,
                Value::I32(v) => v != 0,
                Value::I64(v) => v != 0,
                Value::Bool(v) => v,
            }),
        }
    }
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
            "fmin" => Some(Builtin::$two(|a, b| choose!(a, b, <))),
            "fmax" => Some(Builtin::$two(|a, b| choose!(a, b, >))),
            "fma" => Some(Builtin::$three($type::mul_add)),
            _ => None,
        }
    };
}

impl Builtin {
    /// The function of this C name: `sqrt` is on `f64`, `sqrtf` on `f32`.
    pub fn named(name: &str) -> Option<Builtin> {
        match name {
            "abs" => return Some(Builtin::I32(i32::wrapping_abs)),
            "labs" | "llabs" => return Some(Builtin::I64(i64::wrapping_abs)),
            _ => {}
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
        assert_eq!(Value::binary(BinaryOp::Mod, min, Value::I64(0)), Err(Undefined::DivisionByZero));
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
