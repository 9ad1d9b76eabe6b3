//! Index arithmetic on C expressions. It is folded if both operands are literals or one is neutral.
//!
//! This is the arithmetic of the printer alone, on C expressions that it makes itself (offsets of
//! rows, lengths); subscripts of programs were simplified by `loops::simplify`.
//!
//! Folding uses 64 bits: `100000 * 100000`, printed as it is, would be a product of `int`s.

use crate::c::CExpr;

/// The value of a literal.
pub fn value(e: &CExpr) -> Option<i64> {
    match e {
        CExpr::Literal(text) => text.parse().ok(),
        CExpr::Unary("-", operand) => match &**operand {
            CExpr::Literal(text) => text.parse::<i64>().ok()?.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

/// A literal that C computes with in 64 bits.
fn wide(e: CExpr) -> CExpr {
    match value(&e) {
        Some(_) => CExpr::Cast("int64_t".to_owned(), Box::new(e)),
        None => e,
    }
}

fn fold(op: &'static str, f: fn(i64, i64) -> Option<i64>, a: CExpr, b: CExpr) -> CExpr {
    match (value(&a), value(&b)) {
        (Some(x), Some(y)) => match f(x, y) {
            Some(z) => CExpr::int(z),
            None => CExpr::binary(op, wide(a), b),
        },
        _ => CExpr::binary(op, a, b),
    }
}

/// `x + k` of an expression that ends in adding or subtracting a literal.
fn offset(e: &CExpr) -> Option<(&CExpr, i64)> {
    match e {
        CExpr::Binary("+", x, k) => Some((x, value(k)?)),
        CExpr::Binary("-", x, k) => Some((x, value(k)?.checked_neg()?)),
        _ => None,
    }
}

/// `a + k` with one literal where `a` ends in a literal: `(n - 1) + 8` is `n + 7`.
fn shifted(a: &CExpr, k: i64) -> Option<CExpr> {
    let (x, own) = offset(a)?;
    let sum = own.checked_add(k)?;
    // `x` alone may be a literal, and `x - INT64_MIN` is no sum
    (value(x).is_none() && sum != i64::MIN).then(|| add(x.clone(), CExpr::int(sum)))
}

/// `a + b`.
pub fn add(a: CExpr, b: CExpr) -> CExpr {
    if let Some(sum) = value(&b).and_then(|k| shifted(&a, k)) {
        return sum;
    }
    match (value(&a), value(&b)) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        (None, Some(y)) if y < 0 && y != i64::MIN => CExpr::binary("-", a, CExpr::int(-y)),
        _ => fold("+", i64::checked_add, a, b),
    }
}

/// `a + b`, with the terms of `b` one after another: `a + u + v` rather than `a + (u + v)`.
pub(crate) fn add_terms(a: CExpr, b: CExpr) -> CExpr {
    match b {
        CExpr::Binary("+", u, v) => add(add_terms(a, *u), *v),
        CExpr::Binary("-", u, v) => sub(add_terms(a, *u), *v),
        b => add(a, b),
    }
}

/// `a - b`.
pub fn sub(a: CExpr, b: CExpr) -> CExpr {
    if let Some(difference) = value(&b).and_then(i64::checked_neg).and_then(|k| shifted(&a, k)) {
        return difference;
    }
    match (value(&a), value(&b)) {
        (_, Some(0)) => a,
        (None, Some(y)) if y < 0 && y != i64::MIN => CExpr::binary("+", a, CExpr::int(-y)),
        _ => fold("-", i64::checked_sub, a, b),
    }
}

/// `a * b`.
pub fn mul(a: CExpr, b: CExpr) -> CExpr {
    match (value(&a), value(&b)) {
        (Some(0), _) | (_, Some(0)) => CExpr::int(0),
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => fold("*", i64::checked_mul, a, b),
    }
}

/// `a / b`, if C's quotient is the required one. A quotient by a literal 0 is left to C.
pub fn div(a: CExpr, b: CExpr) -> CExpr {
    if value(&b) == Some(1) { a } else { fold("/", i64::checked_div, a, b) }
}

/// `a % b` where C's remainder is the wanted one.
pub fn rem(a: CExpr, b: CExpr) -> CExpr {
    if value(&b) == Some(1) { CExpr::int(0) } else { fold("%", i64::checked_rem, a, b) }
}
