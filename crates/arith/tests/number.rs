//! Quotients and remainders, against their definitions.

use arith::number::{
    floor_div, floor_rem, gcd, total_floor_div, total_floor_rem, total_trunc_div, total_trunc_rem, trunc_div,
    trunc_rem,
};
use proptest::prelude::*;

/// Every pair of a small type, against 64 bits and floating point, which are exact there.
#[test]
fn all_pairs_of_eight_bits() {
    for a in i8::MIN..=i8::MAX {
        for b in i8::MIN..=i8::MAX {
            let (x, y) = (f64::from(a), f64::from(b));
            let fits = |q: f64| (b != 0).then_some(q as i64).and_then(|q| i8::try_from(q).ok());
            assert_eq!(trunc_div(a, b), fits((x / y).trunc()), "{a} / {b}");
            assert_eq!(floor_div(a, b), fits((x / y).floor()), "{a} / {b}");
            let rest = |q: f64| (b != 0).then_some((x - q * y) as i8);
            assert_eq!(trunc_rem(a, b), rest((x / y).trunc()), "{a} % {b}");
            assert_eq!(floor_rem(a, b), rest((x / y).floor()), "{a} % {b}");
            let wide =
                |q: fn(i64, i64) -> Option<i64>, zero: i8| q(a.into(), b.into()).map_or(zero, |q| q as i8);
            assert_eq!(total_trunc_div(a, b), wide(trunc_div, 0));
            assert_eq!(total_floor_div(a, b), wide(floor_div, 0));
            assert_eq!(total_trunc_rem(a, b), wide(trunc_rem, a));
            assert_eq!(total_floor_rem(a, b), wide(floor_rem, a));
        }
    }
    for a in u8::MIN..=u8::MAX {
        for b in u8::MIN..=u8::MAX {
            assert_eq!(floor_div(a, b), a.checked_div(b));
            assert_eq!(trunc_div(a, b), a.checked_div(b));
            assert_eq!(floor_rem(a, b), a.checked_rem(b));
            assert_eq!(trunc_rem(a, b), a.checked_rem(b));
        }
    }
}

#[test]
fn the_ends_of_64_bits() {
    assert_eq!(floor_div(i64::MIN, -1), None);
    assert_eq!(trunc_rem(i64::MIN, -1), Some(0));
    assert_eq!(floor_rem(i64::MIN, -1), Some(0));
    assert_eq!(total_floor_div(i64::MIN, -1), i64::MIN);
    assert_eq!(floor_div(i64::MIN, i64::MAX), Some(-2));
    assert_eq!(floor_rem(i64::MIN, i64::MAX), Some(i64::MAX - 1));
    assert_eq!(gcd(i64::MIN, 6), 2);
    assert_eq!(gcd(0i64, -6), 6);
}

proptest! {
    #[test]
    fn a_common_divisor_divides(a in -1000i64..1000, b in -1000i64..1000) {
        let divisor = gcd(a, b);
        prop_assert!(divisor >= 0);
        if divisor > 0 {
            prop_assert_eq!((a % divisor, b % divisor), (0, 0));
            prop_assert_eq!(gcd(a / divisor, b / divisor), 1);
        } else {
            prop_assert_eq!((a, b), (0, 0));
        }
    }

    #[test]
    fn quotient_and_remainder_make_the_number(a: i64, b: i64) {
        for (q, r) in [(trunc_div(a, b), trunc_rem(a, b)), (floor_div(a, b), floor_rem(a, b))] {
            if let (Some(q), Some(r)) = (q, r) {
                prop_assert_eq!(i128::from(q) * i128::from(b) + i128::from(r), i128::from(a));
                prop_assert!(r.unsigned_abs() < b.unsigned_abs());
            }
        }
    }
}
