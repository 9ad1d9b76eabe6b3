//! Integers of 8 and 16 bits and those without a sign, which only C and loop programs as text have.
//!
//! C computes with the narrow ones in `int`, so what comes back is converted; where the `int` of
//! two of them could overflow, and where bits are moved up, it is `unsigned`. Types without a sign
//! of 32 and 64 bits wrap around in C as they do here.

use loops::{BinaryOp, Diagnostic, Expr, Name, Scalar, Value};

use crate::c::CExpr;
use crate::openmp::helpers::Helper;
use crate::openmp::index_arithmetic;
use crate::openmp::lower::Lower;
use crate::openmp::scope::Binding;

/// The value of a literal of any type of integers.
fn literal(e: &CExpr) -> Option<i64> {
    match e {
        CExpr::Literal(text) => text.trim_end_matches(['u', 'l']).parse().ok(),
        e => index_arithmetic::value(e),
    }
}

impl Lower<'_> {
    /// An operation on integers of such a type.
    pub fn integer(&mut self, op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar) -> CExpr {
        let bits = 8 * ty.bytes() as i64;
        // C that is there already counts within the width.
        let count = |b: CExpr, native: bool| match native {
            true => b,
            false => CExpr::binary("&", b, CExpr::int(bits - 1)),
        };
        let native = self.native;
        let value = match op {
            BinaryOp::Min | BinaryOp::Max => return self.native(op, a, b, ty),
            BinaryOp::FloorDiv | BinaryOp::Mod if !ty.is_unsigned() => {
                let (a, b) = (self.converted(Scalar::I32, a), self.converted(Scalar::I32, b));
                let kind = super::lower::Kind { natural: false, wraps: false };
                self.binary(op, a, b, Scalar::I32, kind)
            }
            BinaryOp::Add => CExpr::binary("+", a, b),
            BinaryOp::Sub => CExpr::binary("-", a, b),
            BinaryOp::Mul if ty == Scalar::U16 => {
                let a = self.converted(Scalar::U32, a);
                CExpr::binary("*", a, b)
            }
            BinaryOp::Mul => CExpr::binary("*", a, b),
            BinaryOp::Div | BinaryOp::FloorDiv => {
                let quotient = CExpr::binary("/", a, b.clone());
                self.unless_zero(b, CExpr::int(0), quotient)
            }
            BinaryOp::Rem | BinaryOp::Mod => {
                let rest = CExpr::binary("%", a.clone(), b.clone());
                self.unless_zero(b, a, rest)
            }
            BinaryOp::BitAnd | BinaryOp::And => CExpr::binary("&", a, b),
            BinaryOp::BitOr | BinaryOp::Or => CExpr::binary("|", a, b),
            BinaryOp::BitXor | BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => CExpr::binary("^", a, b),
            BinaryOp::Shl if ty.is_narrow() => {
                let a = self.converted(Scalar::U32, a);
                CExpr::binary("<<", a, count(b, false))
            }
            BinaryOp::Shl => CExpr::binary("<<", a, count(b, native)),
            BinaryOp::Shr => CExpr::binary(">>", a, count(b, native && !ty.is_narrow())),
        };
        if ty.is_narrow() { self.converted(ty, value) } else { value }
    }

    /// The remainder of a loop variable that is an `int` in C that is there already, as such: a
    /// vector of them takes a product, where one of 64 bits takes a division for each.
    pub fn remainder_of_int(&mut self, e: &Expr) -> Result<Option<CExpr>, Diagnostic> {
        let Expr::Binary(op @ (BinaryOp::Mod | BinaryOp::Rem), place, by) = e else { return Ok(None) };
        let (Expr::Var(_), Expr::Int(divisor)) = (&**place, &**by) else { return Ok(None) };
        let natural = *op == BinaryOp::Rem || self.ranges.of(place).low.is_some_and(|low| low >= 0);
        let of_int = |size: &Name| match self.scope.get(size) {
            Some(Binding::Index(CExpr::Name(name))) => self.ints.contains(name),
            _ => false,
        };
        let fits = self.native && natural && self.ranges.counts_in_int(place, &of_int);
        if !fits || !(2..=i64::from(i32::MAX)).contains(divisor) {
            return Ok(None);
        }
        let place = self.index(place)?;
        Ok(Some(CExpr::binary("%", self.converted(Scalar::I32, place), CExpr::int(*divisor))))
    }

    /// A quotient or remainder, or what it is where the divisor is 0; in C that is there already,
    /// dividing by 0 means what it means in C.
    fn unless_zero(&self, divisor: CExpr, zero: CExpr, value: CExpr) -> CExpr {
        if self.native || literal(&divisor).is_some_and(|v| v != 0) {
            return value;
        }
        let by_zero = CExpr::binary("==", divisor, CExpr::int(0));
        CExpr::Ternary(Box::new(by_zero), Box::new(zero), Box::new(value))
    }

    /// A conversion as C writes it.
    fn converted(&self, to: Scalar, value: CExpr) -> CExpr {
        CExpr::Cast(self.scalar_type(to).to_owned(), Box::new(value))
    }

    /// A converted constant as a number with the value and, where C does not promote it, the type.
    pub fn constant(&self, to: Scalar, operand: &Expr) -> Option<CExpr> {
        let value = match Value::of(operand)? {
            value @ (Value::I32(_) | Value::I64(_)) => value.cast(to),
            _ => return None,
        };
        Some(match value {
            Value::I8(v) => CExpr::int(v.into()),
            Value::U8(v) => CExpr::int(v.into()),
            Value::I16(v) => CExpr::int(v.into()),
            Value::U16(v) => CExpr::int(v.into()),
            Value::U32(v) => CExpr::literal(format!("{v}u")),
            Value::U64(v) if self.native => CExpr::literal(format!("{v}ul")),
            Value::U64(v) => CExpr::literal(format!("UINT64_C({v})")),
            _ => return None,
        })
    }

    /// A floating-point number as an integer of such a type: of what is beyond it, the nearest.
    pub fn saturated(&mut self, to: Scalar, from: Scalar, value: CExpr) -> CExpr {
        if to == Scalar::U64 {
            return self.helper(Helper::U64OfF64, "lozenge_u64_of_f64", vec![value]);
        }
        // All of them are integers of 64 bits.
        let whole = self.cast(Scalar::I64, from, value, false);
        let kind = super::lower::Kind { natural: false, wraps: false };
        let bound = |greatest: bool| match Value::extreme(to, greatest).map(|v| v.cast(Scalar::I64)) {
            Some(Value::I64(v)) => CExpr::int(v),
            _ => CExpr::int(0),
        };
        let above = self.binary(BinaryOp::Max, whole, bound(false), Scalar::I64, kind);
        let inside = self.binary(BinaryOp::Min, above, bound(true), Scalar::I64, kind);
        self.converted(to, inside)
    }
}
