//! Short forms of quasi-polynomials, for people: with remainders where these make fewer terms.
//!
//! `floor(x / d)` is `(x - x mod d) / d`. By the Chinese remainder theorem, `x mod d` is a
//! polynomial of the remainders by the prime powers `q` that divide `d`, each to a power below `q`.
//! This is a normal form: where floors of `x` cancel, no trace of them is left. What it leaves out:
//! long quasi-polynomials and large divisors stay as they are.

use arith::number::floor_rem;
use arith::{Linear, Monomial};

use super::quasi_polynomial::{Atom, Numerator, Polynomial, Work};

/// Terms beyond which no short form is looked for.
const MOST_TERMS: usize = 2000;

/// A remainder by a larger number has too many values.
const LARGEST_DIVISOR: i128 = 36;

/// The same with fewer terms, where a way is known.
pub(super) fn readable(polynomial: Polynomial, work: &Work) -> Polynomial {
    if polynomial.numerator.len() > MOST_TERMS {
        return polynomial;
    }
    let places: Vec<u32> = polynomial.numerator.atoms().into_iter().copied().collect();
    places.into_iter().fold(polynomial, |best, place| {
        let Atom::Floor(form, d) = work.atom(place) else { return best };
        let remainders = |atom: &Atom| match atom {
            Atom::Floor(own, d) if same_direction(own, &form) => Some(Some(by_remainders(own, *d, work)?)),
            _ => Some(None),
        };
        // floor(x / 2) = x - floor((x + 1) / 2)
        let rounded_up = |atom: &Atom| match atom {
            Atom::Floor(own, 2) if d == 2 && *own == form => {
                let up = work.monomial(Atom::Floor(form.plus_constant(1)?, 2));
                let up = Polynomial { numerator: Numerator::term(up, -1), denominator: 1 };
                Some(Some(Polynomial::linear(&form, 1, work)?.add(&up)?))
            }
            _ => Some(None),
        };
        let first = best.substituted(&remainders, work).and_then(|p| low_powers(&p, work));
        let second = best.substituted(&rounded_up, work);
        let others = [first, second].into_iter().flatten();
        others.fold(best, |best, p| if p.numerator.len() < best.numerator.len() { p } else { best })
    })
}

/// Whether two forms differ by a number.
fn same_direction(a: &Linear<String>, b: &Linear<String>) -> bool {
    a.terms().eq(b.terms())
}

/// `floor(form / d)` by remainders of the form without its constant.
fn by_remainders(form: &Linear<String>, d: i128, work: &Work) -> Option<Polynomial> {
    if d > LARGEST_DIVISOR {
        return None;
    }
    let mut parts = vec![Polynomial::linear(form, d, work)?];
    for r in 0..d {
        let mut part = Polynomial::constant(-floor_rem(form.constant_term() + r, d)?).scaled(1, d)?;
        for q in prime_powers(d) {
            let terms = form.terms().map(|(name, c)| Some((name.clone(), floor_rem(c, q)?)));
            let direction = Linear::sum(terms.collect::<Option<Vec<_>>>()?, 0)?;
            let place = work.place(Atom::Remainder(direction, q));
            part = part.mul(&indicator(place, q, r % q, work)?, work)?;
        }
        parts.push(part);
    }
    Polynomial::total(&parts, work)
}

/// The prime powers whose product is a number.
fn prime_powers(mut d: i128) -> Vec<i128> {
    let mut powers = Vec::new();
    for p in 2..=d {
        let mut power = 1;
        while d % p == 0 {
            (d, power) = (d / p, power * p);
        }
        if power > 1 {
            powers.push(power);
        }
    }
    powers
}

/// Lagrange's polynomial that is 1 where the remainder at `place` is `r`, and 0 at the other values
/// from 0 to `q - 1`.
fn indicator(place: u32, q: i128, r: i128, work: &Work) -> Option<Polynomial> {
    let others = (0..q).filter(|other| *other != r);
    others.into_iter().try_fold(Polynomial::constant(1), |product, other| {
        let numerator = Numerator::atom(place).plus_constant(-other)?;
        let sign = (r - other).signum();
        product.mul(&Polynomial { numerator: numerator.scaled(sign)?, denominator: (r - other).abs() }, work)
    })
}

/// With each remainder by `q` to powers below `q`.
fn low_powers(polynomial: &Polynomial, work: &Work) -> Option<Polynomial> {
    let mut parts = Vec::new();
    for (monomial, c) in polynomial.numerator.terms() {
        let mut product = Polynomial { numerator: Numerator::constant(c), denominator: polynomial.denominator };
        for (place, exponent) in monomial.factors() {
            let power = match work.atom(*place) {
                Atom::Remainder(_, q) if i128::from(exponent) >= q => {
                    let value = |r: i128| {
                        let power = Polynomial::constant(r.checked_pow(exponent)?);
                        indicator(*place, q, r, work)?.mul(&power, work)
                    };
                    Polynomial::total(&(0..q).map(value).collect::<Option<Vec<_>>>()?, work)?
                }
                _ => {
                    let power = Monomial::product([(*place, exponent)])?;
                    Polynomial { numerator: Numerator::term(power, 1), denominator: 1 }
                }
            };
            product = product.mul(&power, work)?;
        }
        parts.push(product);
    }
    Polynomial::total(&parts, work)
}
