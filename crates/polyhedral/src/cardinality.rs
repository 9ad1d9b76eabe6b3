//! Counting: the number of integer points of a system of inequalities as a polynomial of its
//! parameters, in pieces.
//!
//! Variables are summed from the inside out. Where a variable has several lower or upper bounds,
//! the points are split by which of them is the tightest; the sum of a polynomial between two
//! bounds is Faulhaber's. Every bound must have coefficient 1 on the variable that is summed: sets
//! like `{ 2i <= n }`, whose count is a polynomial only by residue classes, are refused. Source:
//! the notes on the foundations of the polyhedral model, "cardinality".

use std::fmt;

use arith::number::gcd;
use arith::{Budget, Linear, Monomial, System};

/// A polynomial with rational coefficients: numerators over one denominator, without a common
/// factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Polynomial {
    numerator: Numerator,
    denominator: i128,
}

type Numerator = arith::Polynomial<String>;

/// A count: the sum of the polynomials of all pieces whose condition holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Conditions on the parameters, and polynomials.
    pub pieces: Vec<(System<String>, Polynomial)>,
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

/// Steps after which counting stops, each of 1 to 3 microseconds: a polynomial of twelve parameters
/// can have millions of terms. Seven sums inside each other, each with a parameter of its own, take
/// fewer.
const STEPS: u64 = 2_000_000;

/// Rows at a time of an elimination, at most.
const MAX_ROWS: usize = 400;

impl Polynomial {
    /// A constant.
    pub fn constant(value: i128) -> Polynomial {
        Polynomial { numerator: Numerator::constant(value), denominator: 1 }
    }

    fn affine(row: &Linear<String>) -> Polynomial {
        Polynomial { numerator: Numerator::of_linear(row), denominator: 1 }
    }

    fn of(numerator: Numerator, denominator: i128) -> Option<Polynomial> {
        let factor = numerator.terms().fold(denominator, |factor, (_, c)| gcd(factor, c));
        let numerator = numerator.map_coefficients(|c| c.checked_div(factor))?;
        Some(Polynomial { numerator, denominator: denominator.checked_div(factor)? })
    }

    fn add(&self, other: &Polynomial) -> Option<Polynomial> {
        let common = gcd(self.denominator, other.denominator);
        let (a, b) = (other.denominator / common, self.denominator / common);
        let sum = self.numerator.scaled(a)?.plus_times(b, &other.numerator)?;
        Polynomial::of(sum, self.denominator.checked_mul(a)?)
    }

    /// The product; none if its numbers are too large, or no steps are left.
    fn mul(&self, other: &Polynomial, steps: &Budget) -> Option<Polynomial> {
        if !steps.take(self.numerator.len() * other.numerator.len()) {
            return None;
        }
        let product = self.numerator.times(&other.numerator)?;
        Polynomial::of(product, self.denominator.checked_mul(other.denominator)?)
    }

    /// The sum; none if its numbers are too large, or no steps are left.
    fn plus(&self, other: &Polynomial, steps: &Budget) -> Option<Polynomial> {
        if !steps.take(self.numerator.len() + other.numerator.len()) {
            return None;
        }
        self.add(other)
    }

    fn scaled(&self, numerator: i128, denominator: i128, steps: &Budget) -> Option<Polynomial> {
        self.mul(&Polynomial { numerator: Numerator::constant(numerator), denominator }, steps)
    }

    /// The coefficients of the powers of `variable`, lowest first.
    fn by_power(&self, variable: &String) -> Option<Vec<Polynomial>> {
        let powers = self.numerator.by_power(variable).into_iter();
        powers.map(|numerator| Polynomial::of(numerator, self.denominator)).collect()
    }

    /// The value at these parameters, if it is defined and an integer that fits.
    pub fn value(&self, at: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        let sum = self.numerator.value(|name| at(name))?;
        (sum % self.denominator == 0).then(|| sum / self.denominator)
    }
}

/// `0^k + 1^k + ... + (x - 1)^k` at `x = bound`, by the recurrence of telescoping sums:
/// `(k + 1) S_k = x^(k+1) - sum_{j < k} binomial(k + 1, j) S_j`.
fn power_sums(bound: &Polynomial, up_to: usize, steps: &Budget) -> Option<Vec<Polynomial>> {
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
pub fn count(system: &System<String>, variables: &[String]) -> Result<Count, NoCount> {
    let mut result = Count::default();
    sum(system, variables, Polynomial::constant(1), &Budget::new(MAX_ROWS, STEPS), &mut result)?;
    Ok(result)
}

fn sum(
    system: &System<String>,
    variables: &[String],
    polynomial: Polynomial,
    steps: &Budget,
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
    // Sum the variable with the fewest pairs of bounds among those whose bounds all have
    // coefficient 1.
    let bounds = |variable: &String, sign: i128| {
        system
            .rows
            .iter()
            .filter(|row| row.coefficient(variable).signum() == sign)
            .cloned()
            .collect::<Vec<_>>()
    };
    let summable = |variable: &&String| system.rows.iter().all(|row| row.coefficient(*variable).abs() <= 1);
    let cost = |variable: &&String| bounds(variable, 1).len() * bounds(variable, -1).len();
    let Some(variable) = variables.iter().filter(summable).min_by_key(cost) else {
        return Err(NoCount::NotPolynomial(variables[0].clone()));
    };
    let rest: Vec<String> = variables.iter().filter(|v| *v != variable).cloned().collect();
    let (lower, upper) = (bounds(variable, 1), bounds(variable, -1));
    if lower.is_empty() || upper.is_empty() {
        return Err(NoCount::Unbounded(variable.clone()));
    }
    let others: Vec<Linear<String>> =
        system.rows.iter().filter(|row| row.coefficient(variable) == 0).cloned().collect();
    // Coefficients of the variable are 1 and -1.
    let lows = lower.iter().map(|row| row.split(variable).1.negated()).collect::<Option<Vec<_>>>();
    let lows = lows.ok_or(NoCount::TooLarge)?;
    let highs: Vec<Linear<String>> = upper.iter().map(|row| row.split(variable).1).collect();
    let at_least = |a: &Linear<String>, b: &Linear<String>, slack: i128| a.minus(b)?.plus_constant(-slack);
    for (i, low) in lows.iter().enumerate() {
        for (j, high) in highs.iter().enumerate() {
            let other_lows = lows.iter().enumerate().filter(|(k, _)| *k != i);
            let other_highs = highs.iter().enumerate().filter(|(k, _)| *k != j);
            let rows = others
                .iter()
                .cloned()
                .map(Some)
                .chain(other_lows.map(|(k, l)| at_least(low, l, i128::from(k < i))))
                .chain(other_highs.map(|(k, h)| at_least(h, high, i128::from(k < j))))
                .chain([at_least(high, low, 0)]);
            let rows = rows.collect::<Option<Vec<_>>>().ok_or(NoCount::TooLarge)?;
            let total = between(&polynomial, variable, (low, high), steps).ok_or(NoCount::TooLarge)?;
            sum(&System::new(rows), &rest, total, steps, result)?;
        }
    }
    Ok(())
}

/// The sum of `polynomial` for `variable` from `low` to `high`.
fn between(
    polynomial: &Polynomial,
    variable: &String,
    (low, high): (&Linear<String>, &Linear<String>),
    steps: &Budget,
) -> Option<Polynomial> {
    let powers = polynomial.by_power(variable)?;
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
                holds &= row.value(|name| at(name))? >= 0;
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
        if self.numerator.is_empty() {
            return f.write_str("0");
        }
        let mut terms: Vec<(&Monomial<String>, i128)> = self.numerator.terms().collect();
        terms.sort_by_key(|(m, _)| std::cmp::Reverse(m.degree()));
        for (k, (monomial, c)) in terms.into_iter().enumerate() {
            let sign = match (k, c < 0) {
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
            if numerator != 1 || monomial.is_one() || denominator != 1 {
                match denominator {
                    1 => write!(f, "{numerator}")?,
                    d => write!(f, "{numerator}/{d}")?,
                }
                separator = "*";
            }
            for (name, exponent) in monomial.factors() {
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
