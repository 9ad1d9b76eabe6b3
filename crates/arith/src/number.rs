//! Quotients, remainders and common divisors of integers.
//!
//! There are two ways to round and two ways to treat what has no value:
//!
//! | | toward zero, as C's `/` and `%` | toward negative infinity |
//! | --- | --- | --- |
//! | exact: no value by 0 and beyond the type | [`trunc_div`], [`trunc_rem`] | [`floor_div`], [`floor_rem`] |
//! | total, as in loop programs: `x / 0 = 0`, `x % 0 = x`, overflow wraps | [`total_trunc_div`], [`total_trunc_rem`] | [`total_floor_div`], [`total_floor_rem`] |
//!
//! Truncated remainders have the sign of the dividend, the others that of the divisor. For every
//! pair, `a = quotient * b + remainder`.

use std::fmt::{Debug, Display};
use std::hash::Hash;

mod sealed {
    pub trait Sealed {}
}

/// A built-in integer type. All operations are checked.
pub trait Integer: Copy + Ord + Hash + Debug + Display + Default + sealed::Sealed {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The sum, if it fits.
    fn plus(self, other: Self) -> Option<Self>;
    /// The difference, if it fits.
    fn minus(self, other: Self) -> Option<Self>;
    /// The product, if it fits.
    fn times(self, other: Self) -> Option<Self>;
    /// C's quotient and remainder; none by 0, and where the quotient does not fit.
    fn div_rem(self, by: Self) -> Option<(Self, Self)>;

    /// The number with the opposite sign, if it fits.
    fn negated(self) -> Option<Self> {
        Self::ZERO.minus(self)
    }
    /// Whether it is below 0.
    fn is_below_zero(self) -> bool {
        self < Self::ZERO
    }
}

macro_rules! integer {
    ($($ty:ty)*) => {
        $(
            impl sealed::Sealed for $ty {}

            impl Integer for $ty {
                const ZERO: $ty = 0;
                const ONE: $ty = 1;

                #[inline]
                fn plus(self, other: $ty) -> Option<$ty> {
                    self.checked_add(other)
                }
                #[inline]
                fn minus(self, other: $ty) -> Option<$ty> {
                    self.checked_sub(other)
                }
                #[inline]
                fn times(self, other: $ty) -> Option<$ty> {
                    self.checked_mul(other)
                }
                #[inline]
                fn div_rem(self, by: $ty) -> Option<($ty, $ty)> {
                    Some((self.checked_div(by)?, self.checked_rem(by)?))
                }
            }
        )*
    };
}

integer! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

/// The quotient rounded toward zero; none by 0, and of the least number by -1.
#[inline]
pub fn trunc_div<T: Integer>(a: T, b: T) -> Option<T> {
    a.div_rem(b).map(|(quotient, _)| quotient)
}

/// The remainder of [`trunc_div`], which has the sign of `a`; none by 0.
#[inline]
pub fn trunc_rem<T: Integer>(a: T, b: T) -> Option<T> {
    match a.div_rem(b) {
        Some((_, remainder)) => Some(remainder),
        // Only the quotient does not fit.
        None => (b != T::ZERO).then_some(T::ZERO),
    }
}

/// The quotient rounded toward negative infinity; none by 0, and of the least number by -1.
#[inline]
pub fn floor_div<T: Integer>(a: T, b: T) -> Option<T> {
    let (quotient, remainder) = a.div_rem(b)?;
    if is_between(remainder, b) { quotient.minus(T::ONE) } else { Some(quotient) }
}

/// The remainder of [`floor_div`], which has the sign of `b`; none by 0.
#[inline]
pub fn floor_rem<T: Integer>(a: T, b: T) -> Option<T> {
    let remainder = trunc_rem(a, b)?;
    if is_between(remainder, b) { remainder.plus(b) } else { Some(remainder) }
}

/// Whether rounding down goes below the truncated quotient with this remainder.
#[inline]
fn is_between<T: Integer>(remainder: T, by: T) -> bool {
    remainder != T::ZERO && remainder.is_below_zero() != by.is_below_zero()
}

/// [`trunc_div`] of loop programs: 0 by 0, and the least number by -1 is itself.
#[inline]
pub fn total_trunc_div<T: Integer>(a: T, b: T) -> T {
    trunc_div(a, b).unwrap_or(if b == T::ZERO { T::ZERO } else { a })
}

/// [`trunc_rem`] of loop programs: `a` by 0.
#[inline]
pub fn total_trunc_rem<T: Integer>(a: T, b: T) -> T {
    trunc_rem(a, b).unwrap_or(a)
}

/// [`floor_div`] of loop programs: 0 by 0, and the least number by -1 is itself.
#[inline]
pub fn total_floor_div<T: Integer>(a: T, b: T) -> T {
    floor_div(a, b).unwrap_or(if b == T::ZERO { T::ZERO } else { a })
}

/// [`floor_rem`] of loop programs: `a` by 0.
#[inline]
pub fn total_floor_rem<T: Integer>(a: T, b: T) -> T {
    floor_rem(a, b).unwrap_or(a)
}

/// The largest number that divides both; of 0 and a number, that number. It is not negative, unless
/// it is the least number of the type, whose opposite does not fit.
pub fn gcd<T: Integer>(mut a: T, mut b: T) -> T {
    while b != T::ZERO {
        (a, b) = (b, total_trunc_rem(a, b));
    }
    if a.is_below_zero() { a.negated().unwrap_or(a) } else { a }
}
