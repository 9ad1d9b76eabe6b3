//! Counting: the number of integer points of a system of inequalities as a polynomial of its parameters, in pieces.
//!
//! Variables are summed from the inside out. Where a variable has several lower or upper bounds, the points are split by which of
//! them is the tightest; the sum of a polynomial between two bounds is Faulhaber's. Every bound must have coefficient 1 on the
//! variable that is summed: sets like `{ 2i <= n }`, whose count is a polynomial only by residue classes, are refused.
//! Source: the notes on the foundations of the polyhedral model, "cardinality".

use std::collections::BTreeMap;
use std::fmt;

use crate::fourier_motzkin::{Inequality, Steps, System};

/// A polynomial with rational coefficients: products of variables with exponents, numerators over one denominator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Polynomial {
    terms: BTreeMap<BTreeMap<String, u32>, i128>,
    denominator: i128,
}

/// A count: the sum of the polynomials of all pieces whose condition holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Conditions on the parameters, and polynomials.
    pub pieces: Vec<(System, Polynomial)>,
}

/// Why there is no polynomial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoCount {
    /// A variable has no bound on one side: there may be infinitely many points.
    Unbounded(String),
    /// Every variable that is left has a bound with a coefficient other than 1.
    NotPolynomial(String),
    /// More pieces, larger numbers or more steps than allowed.
    TooLarge,
}

impl fmt::Display for NoCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCount::Unbounded(variable) => write!(f, "`{variable}` is not bounded"),
            NoCount::NotPolynomial(variable) => {
                write!(
                    f,
                    "a bound of `{variable}` has a coefficient other than 1, so the count depends on remainders of the parameters"
                )
            }
            NoCount::TooLarge => f.write_str("the count has too many pieces or terms, or too large numbers"),
        }
    }
}

impl std::error::Error for NoCount {}

/// Pieces beyond which counting stops.
const MAX_PIECES: usize = 500;

/// Steps after which counting stops, each of 1 to 3 microseconds: a polynomial of twelve parameters can have millions of terms. Seven sums inside each other, each
/// with a parameter of its own, take fewer.
const STEPS: u64 = 2_000_000;

impl Polynomial {
    /// A constant.
    pub fn constant(value: i128) -> Polynomial {
        Polynomial { terms: BTreeMap::from([(BTreeMap::new(), value)]), denominator: 1 }.normalised()
    }

    fn affine(row: &Inequality) -> Polynomial {
        let mut terms = BTreeMap::from([(BTreeMap::new(), row.constant)]);
        for (name, c) in &row.coefficients {
            terms.insert(BTreeMap::from([(name.clone(), 1)]), *c);
        }
        Polynomial { terms, denominator: 1 }.normalised()
    }

    fn normalised(mut self) -> Polynomial {
        self.terms.retain(|_, c| *c != 0);
        let mut factor = self.denominator.unsigned_abs();
        for c in self.terms.values() {
            factor = gcd(factor, c.unsigned_abs());
        }
        if let Ok(factor) = i128::try_from(factor)
            && factor > 1
        {
            self.denominator /= factor;
            self.terms.values_mut().for_each(|c| *c /= factor);
        }
        self
    }

    fn add(&self, other: &Polynomial) -> Option<Polynomial> {
        let common =
            i128::try_from(gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs())).ok()?;
        let (a, b) = (other.denominator / common, self.denominator / common);
        let mut terms = BTreeMap::new();
        for (monomial, c) in &self.terms {
            terms.insert(monomial.clone(), c.checked_mul(a)?);
        }
        for (monomial, c) in &other.terms {
            let slot = terms.entry(monomial.clone()).or_insert(0i128);
            *slot = slot.checked_add(c.checked_mul(b)?)?;
        }
        Some(Polynomial { terms, denominator: self.denominator.checked_mul(a)? }.normalised())
    }

    /// The product; none if its numbers are too large, or no steps are left.
    fn mul(&self, other: &Polynomial, steps: &Steps) -> Option<Polynomial> {
        if !steps.take(self.terms.len() * other.terms.len()) {
            return None;
        }
        let mut terms = BTreeMap::new();
        for (ma, a) in &self.terms {
            for (mb, b) in &other.terms {
                let mut monomial = ma.clone();
                for (name, exponent) in mb {
                    *monomial.entry(name.clone()).or_insert(0) += exponent;
                }
                let slot = terms.entry(monomial).or_insert(0i128);
                *slot = slot.checked_add(a.checked_mul(*b)?)?;
            }
        }
        Some(Polynomial { terms, denominator: self.denominator.checked_mul(other.denominator)? }.normalised())
    }

    /// The sum; none if its numbers are too large, or no steps are left.
    fn plus(&self, other: &Polynomial, steps: &Steps) -> Option<Polynomial> {
        if !steps.take(self.terms.len() + other.terms.len()) {
            return None;
        }
        self.add(other)
    }

    fn scaled(&self, numerator: i128, denominator: i128, steps: &Steps) -> Option<Polynomial> {
        let scale = Polynomial { terms: BTreeMap::from([(BTreeMap::new(), numerator)]), denominator };
        self.mul(&scale, steps)
    }

    /// The coefficients of the powers of `variable`, lowest first.
    fn by_power(&self, variable: &str) -> Vec<Polynomial> {
        let mut powers: Vec<Polynomial> = Vec::new();
        for (monomial, c) in &self.terms {
            let mut rest = monomial.clone();
            let exponent = rest.remove(variable).unwrap_or(0) as usize;
            while powers.len() <= exponent {
                powers.push(Polynomial { terms: BTreeMap::new(), denominator: self.denominator });
            }
            powers[exponent].terms.insert(rest, *c);
        }
        powers.into_iter().map(Polynomial::normalised).collect()
    }

    /// The value at these parameters, if it is defined and an integer that fits.
    pub fn value(&self, at: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, c) in &self.terms {
            let mut product = *c;
            for (name, exponent) in monomial {
                product = product.checked_mul(at(name)?.checked_pow(*exponent)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        (sum % self.denominator == 0).then(|| sum / self.denominator)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `0^k + 1^k + ... + (x - 1)^k` at `x = bound`, by the recurrence of telescoping sums:
/// `(k + 1) S_k = x^(k+1) - sum_{j < k} binomial(k + 1, j) S_j`.
fn power_sums(bound: &Polynomial, up_to: usize, steps: &Steps) -> Option<Vec<Polynomial>> {
    let mut sums: Vec<Polynomial> = Vec::new();
    let mut power = bound.clone();
    for k in 0..=up_to {
        let mut sum = power.clone();
        let mut binomial = 1i128;
        for (j, s) in sums.iter().enumerate() {
            sum = sum.plus(&s.scaled(binomial.checked_neg()?, 1, steps)?, steps)?;
            binomial = binomial.checked_mul((k + 1 - j) as i128)? / (j as i128 + 1);
        }
        sums.push(sum.scaled(1, k as i128 + 1, steps)?);
        power = power.mul(bound, steps)?;
    }
    Some(sums)
}

/// The number of integer points of `system` over `variables`, as a function of its other variables.
///
/// # Errors
/// If the set is unbounded, not a polynomial in the form handled here, or too large.
pub fn count(system: &System, variables: &[String]) -> Result<Count, NoCount> {
    let mut result = Count::default();
    sum(system, variables, Polynomial::constant(1), &Steps::new(STEPS), &mut result)?;
    Ok(result)
}

fn sum(
    system: &System,
    variables: &[String],
    polynomial: Polynomial,
    steps: &Steps,
    result: &mut Count,
) -> Result<(), NoCount> {
    if system.is_empty_within(steps) {
        return Ok(());
    }
    if result.pieces.len() >= MAX_PIECES || !steps.take(1) {
        return Err(NoCount::TooLarge);
    }
    let system = system.pruned_within(steps);
    if variables.is_empty() {
        match result.pieces.iter_mut().find(|(condition, _)| *condition == system) {
            Some((_, sum)) => *sum = sum.add(&polynomial).ok_or(NoCount::TooLarge)?,
            None => result.pieces.push((system, polynomial)),
        }
        return Ok(());
    }
    // Sum the variable with the fewest pairs of bounds among those whose bounds all have coefficient 1.
    let bounds = |variable: &String, sign: i128| {
        system
            .rows
            .iter()
            .filter(|row| row.coefficient(variable).signum() == sign)
            .cloned()
            .collect::<Vec<_>>()
    };
    let summable = |variable: &&String| system.rows.iter().all(|row| row.coefficient(variable).abs() <= 1);
    let cost = |variable: &&String| bounds(variable, 1).len() * bounds(variable, -1).len();
    let Some(variable) = variables.iter().filter(summable).min_by_key(cost) else {
        return Err(NoCount::NotPolynomial(variables[0].clone()));
    };
    let rest: Vec<String> = variables.iter().filter(|v| *v != variable).cloned().collect();
    let (lower, upper) = (bounds(variable, 1), bounds(variable, -1));
    if lower.is_empty() || upper.is_empty() {
        return Err(NoCount::Unbounded(variable.clone()));
    }
    let others: Vec<Inequality> =
        system.rows.iter().filter(|row| row.coefficient(variable) == 0).cloned().collect();
    let side = |row: &Inequality, sign: i128| {
        let mut value = row.clone();
        value.coefficients.remove(variable);
        for c in value.coefficients.values_mut() {
            *c *= sign;
        }
        value.constant *= sign;
        value
    };
    let lows: Vec<Inequality> = lower.iter().map(|row| side(row, -1)).collect();
    let highs: Vec<Inequality> = upper.iter().map(|row| side(row, 1)).collect();
    let at_least = |a: &Inequality, b: &Inequality, slack: i128| {
        let mut row = a.clone();
        for (name, c) in &b.coefficients {
            *row.coefficients.entry(name.clone()).or_insert(0) -= c;
        }
        row.coefficients.retain(|_, c| *c != 0);
        row.constant -= b.constant + slack;
        row
    };
    for (i, low) in lows.iter().enumerate() {
        for (j, high) in highs.iter().enumerate() {
            let mut rows = others.clone();
            rows.extend(
                lows.iter()
                    .enumerate()
                    .filter(|(k, _)| *k != i)
                    .map(|(k, l)| at_least(low, l, i128::from(k < i))),
            );
            rows.extend(
                highs
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| *k != j)
                    .map(|(k, h)| at_least(h, high, i128::from(k < j))),
            );
            rows.push(at_least(high, low, 0));
            let total = between(&polynomial, variable, (low, high), steps).ok_or(NoCount::TooLarge)?;
            sum(&System::new(rows), &rest, total, steps, result)?;
        }
    }
    Ok(())
}

/// The sum of `polynomial` for `variable` from `low` to `high`.
fn between(
    polynomial: &Polynomial,
    variable: &str,
    (low, high): (&Inequality, &Inequality),
    steps: &Steps,
) -> Option<Polynomial> {
    let powers = polynomial.by_power(variable);
    let from = power_sums(&Polynomial::affine(low), powers.len(), steps)?;
    let to = power_sums(&Polynomial::affine(high).add(&Polynomial::constant(1))?, powers.len(), steps)?;
    powers.iter().enumerate().try_fold(Polynomial::constant(0), |total, (k, coefficient)| {
        let sum = to[k].plus(&from[k].scaled(-1, 1, steps)?, steps)?;
        total.plus(&sum.mul(coefficient, steps)?, steps)
    })
}

impl Count {
    /// The count at these parameters, if it fits.
    pub fn value(&self, at: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        let mut total = 0i128;
        for (condition, polynomial) in &self.pieces {
            let mut holds = true;
            for row in &condition.rows {
                let mut value = row.constant;
                for (name, c) in &row.coefficients {
                    value = value.checked_add(c.checked_mul(at(name)?)?)?;
                }
                holds &= value >= 0;
            }
            if holds {
                total = total.checked_add(polynomial.value(at)?)?;
            }
        }
        Some(total)
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        let degree = |m: &BTreeMap<String, u32>| m.values().sum::<u32>();
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(m, _)| std::cmp::Reverse(degree(m)));
        for (k, (monomial, c)) in terms.into_iter().enumerate() {
            let sign = match (k, *c < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            let (numerator, denominator) = (c.unsigned_abs(), self.denominator.unsigned_abs());
            let common = gcd(numerator, denominator);
            let (numerator, denominator) = (numerator / common, denominator / common);
            f.write_str(sign)?;
            let mut separator = "";
            if numerator != 1 || monomial.is_empty() || denominator != 1 {
                match denominator {
                    1 => write!(f, "{numerator}")?,
                    d => write!(f, "{numerator}/{d}")?,
                }
                separator = "*";
            }
            for (name, exponent) in monomial {
                match exponent {
                    1 => write!(f, "{separator}{name}")?,
                    e => write!(f, "{separator}{name}^{e}")?,
                }
                separator = "*";
            }
        }
        Ok(())
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pieces.as_slice() {
            [] => f.write_str("0"),
            [(condition, polynomial)] if condition.rows.is_empty() => polynomial.fmt(f),
            pieces => {
                for (k, (condition, polynomial)) in pieces.iter().enumerate() {
                    write!(f, "{}({polynomial} if {condition})", if k > 0 { " + " } else { "" })?;
                }
                Ok(())
            }
        }
    }
}
