//! Short forms of quasi-polynomials, for people: with remainders where these make fewer terms.
//!
//! `floor(x / d)` is `(x - x mod d) / d`. By the Chinese remainder theorem, `x mod d` is a
//! polynomial of the remainders by the powers of primes `p` that divide `d`, each to a power below
//! `p`. This is a normal form: where floors of `x` cancel, no trace of them is left. What it leaves
//! out: long quasi-polynomials and large divisors stay as they are.

use arith::Linear;
use arith::number::floor_rem;

use super::quasi_polynomial::{Atom, Numerator, Polynomial, Work, coefficients};

/// Terms beyond which no short form is looked for.
const MOST_TERMS: usize = 2000;

/// How much work the search may be.
const STEPS_A_TERM: u64 = 5000;

/// A remainder by a larger number has too many values.
const LARGEST_DIVISOR: i128 = 36;

/// The same with remainders in the place of floors, where this makes fewer terms.
pub(super) fn shorter(polynomial: Polynomial, work: &Work) -> Polynomial {
    if polynomial.numerator.len() > MOST_TERMS {
        return polynomial;
    }
    let places: Vec<u32> = polynomial.numerator.atoms().into_iter().copied().collect();
    let mut seen: Vec<Linear<String>> = Vec::new();
    places.into_iter().fold(polynomial, |best, place| {
        let Atom::Floor(form, _) = work.atom(place) else { return best };
        if seen.iter().any(|other| same_direction(other, &form)) {
            return best;
        }
        let remainders = |atom: &Atom| match atom {
            Atom::Floor(own, d) if same_direction(own, &form) => Some(Some(by_remainders(own, *d, work)?)),
            _ => Some(None),
        };
        let steps = STEPS_A_TERM * best.numerator.len() as u64 + 1000;
        let other = work.short(steps, || best.substituted(&remainders, &|p| low_powers(p, work), work));
        seen.push(form);
        other.filter(|other| other.numerator.len() < best.numerator.len()).unwrap_or(best)
    })
}

/// The same with a floor in the place of its opposite, where this makes fewer terms:
/// `floor(x / 2) = x - floor((x + 1) / 2)`.
pub(super) fn rounded_up(polynomial: Polynomial, work: &Work) -> Polynomial {
    let places: Vec<u32> = polynomial.numerator.atoms().into_iter().copied().collect();
    places.into_iter().fold(polynomial, |best, place| {
        let atom = work.atom(place);
        let Atom::Floor(form, 2) = &atom else { return best };
        let new = |own: &Atom| match *own == atom {
            true => {
                let up = work.monomial(Atom::Floor(form.plus_constant(1)?, 2));
                let up = Polynomial { numerator: Numerator::term(up, -1), denominator: 1 };
                Some(Some(Polynomial::linear(form, 1, work)?.add(&up)?))
            }
            false => Some(None),
        };
        let other = work.short(STEPS_A_TERM * MOST_TERMS as u64, || best.substituted(&new, &Some, work));
        other.filter(|other| other.numerator.len() < best.numerator.len()).unwrap_or(best)
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
        for (p, q) in prime_powers(d) {
            part = part.mul(&indicator(form, (p, q), r % q, work)?, work)?;
        }
        parts.push(part);
    }
    Polynomial::total(&parts.iter().collect::<Vec<_>>(), work)
}

/// The least divisor above 1 of a number above 1.
pub(super) fn least_factor(number: i128) -> i128 {
    (2..number).find(|p| number % p == 0).unwrap_or(number)
}

/// Primes with the powers of them whose product is a number.
fn prime_powers(mut d: i128) -> Vec<(i128, i128)> {
    let mut powers = Vec::new();
    while d > 1 {
        let (p, mut power) = (least_factor(d), 1);
        while d % p == 0 {
            (d, power) = (d / p, power * p);
        }
        powers.push((p, power));
    }
    powers
}

/// What is 1 where the form without its constant, modulo `q`, a power of the prime `p`, is `r`, and
/// else 0: for each digit of `r` to the base `p` a polynomial of Lagrange's in the remainder by the
/// power of `p` that ends with the digit.
fn indicator(form: &Linear<String>, (p, q): (i128, i128), r: i128, work: &Work) -> Option<Polynomial> {
    let mut product = Polynomial::constant(1);
    let mut below = 1;
    while below < q {
        let level = below * p;
        let direction = coefficients(form, &|c| floor_rem(c, level))?;
        let remainder = Numerator::atom(work.place(Atom::Remainder(direction, level)));
        for other in (0..p).map(|digit| r % below + digit * below) {
            let distance = r % level - other;
            if distance != 0 {
                let numerator = remainder.plus_constant(-other)?.scaled(distance.signum())?;
                product = product.mul(&Polynomial { numerator, denominator: distance.abs() }, work)?;
            }
        }
        below = level;
    }
    Some(product)
}

/// With each remainder by a power of a prime to powers below the prime.
fn low_powers(polynomial: Polynomial, work: &Work) -> Option<Polynomial> {
    work.take(polynomial.numerator.len())?;
    let (mut parts, mut low) = (Vec::new(), Vec::new());
    for (monomial, c) in polynomial.numerator.terms() {
        let mut factors = monomial.factors();
        let high = factors.find(|(place, exponent)| work.is_high(**place, *exponent));
        let Some((place, exponent)) = high.map(|(place, exponent)| (*place, exponent)) else {
            low.push((monomial.clone(), c));
            continue;
        };
        let Atom::Remainder(form, q) = work.atom(place) else { return None };
        let p = least_factor(q);
        // The power as a polynomial, by its values. The product may have other high powers.
        let rest = Numerator::term(monomial.without(&place).1, c);
        let rest = Polynomial { numerator: rest, denominator: polynomial.denominator };
        for r in 1..q {
            let value = Polynomial::constant(r.checked_pow(exponent)?);
            parts.push(indicator(&form, (p, q), r, work)?.mul(&value, work)?.mul(&rest, work)?);
        }
    }
    if parts.is_empty() {
        return Some(polynomial);
    }
    parts.push(Polynomial::of(Numerator::sum(low)?, polynomial.denominator)?);
    low_powers(Polynomial::total(&parts.iter().collect::<Vec<_>>(), work)?, work)
}
