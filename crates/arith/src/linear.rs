//! Linear forms: `sum of coefficient * variable + constant`, exact.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

use crate::number::{Integer, floor_div, gcd};

/// A linear form over variables `V`. No coefficient is 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Linear<V: Ord, C = i128> {
    terms: BTreeMap<V, C>,
    constant: C,
}

impl<V: Ord, C: Integer> Default for Linear<V, C> {
    fn default() -> Self {
        Linear::constant(C::ZERO)
    }
}

impl<V: Ord + Clone, C: Integer> Linear<V, C> {
    /// `factor * variable`.
    pub fn term(variable: V, factor: C) -> Self {
        let terms = if factor == C::ZERO { BTreeMap::new() } else { BTreeMap::from([(variable, factor)]) };
        Linear { terms, constant: C::ZERO }
    }

    /// A variable.
    pub fn name(variable: V) -> Self {
        Linear::term(variable, C::ONE)
    }

    /// `self + factor * other`, if it fits.
    pub fn plus_times(&self, factor: C, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.plus(other.constant.times(factor)?)?;
        for (variable, coefficient) in &other.terms {
            sum.add_term(variable, coefficient.times(factor)?)?;
        }
        Some(sum)
    }

    fn add_term(&mut self, variable: &V, coefficient: C) -> Option<()> {
        match self.terms.get_mut(variable) {
            Some(own) => {
                *own = own.plus(coefficient)?;
                if *own == C::ZERO {
                    self.terms.remove(variable);
                }
            }
            None if coefficient == C::ZERO => {}
            None => {
                self.terms.insert(variable.clone(), coefficient);
            }
        }
        Some(())
    }

    /// The sum, if it fits.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.plus_times(C::ONE, other)
    }

    /// The difference, if it fits.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let mut difference = self.clone();
        difference.constant = difference.constant.minus(other.constant)?;
        for (variable, coefficient) in &other.terms {
            difference.add_term(variable, coefficient.negated()?)?;
        }
        Some(difference)
    }

    /// The sum with a number, if it fits.
    pub fn plus_constant(&self, number: C) -> Option<Self> {
        Some(Linear { terms: self.terms.clone(), constant: self.constant.plus(number)? })
    }

    /// The product with a number, if it fits.
    pub fn times(&self, factor: C) -> Option<Self> {
        Linear::default().plus_times(factor, self)
    }

    /// The form with the opposite sign, if it fits.
    pub fn negated(&self) -> Option<Self> {
        Linear::default().minus(self)
    }

    /// The coefficient of a variable, if it occurs, and the form without that term.
    pub fn split<Q: Ord + ?Sized>(&self, variable: &Q) -> (Option<C>, Self)
    where
        V: Borrow<Q>,
    {
        let mut rest = self.clone();
        let coefficient = rest.terms.remove(variable);
        (coefficient, rest)
    }

    /// The form with another one in the place of a variable, if it fits.
    pub fn replace<Q: Ord + ?Sized>(&self, variable: &Q, by: &Self) -> Option<Self>
    where
        V: Borrow<Q>,
    {
        match self.split(variable) {
            (None, same) => Some(same),
            (Some(coefficient), rest) => rest.plus_times(coefficient, by),
        }
    }

    /// The terms that are as asked, and the rest of the terms; both without the constant.
    pub fn partition(&self, mut first: impl FnMut(&V, C) -> bool) -> (Self, Self) {
        let (mut yes, mut no) = (Linear::default(), Linear::default());
        for (variable, coefficient) in &self.terms {
            let side = if first(variable, *coefficient) { &mut yes } else { &mut no };
            side.terms.insert(variable.clone(), *coefficient);
        }
        (yes, no)
    }
}

impl<V: Ord, C: Integer> Linear<V, C> {
    /// A number.
    pub fn constant(constant: C) -> Self {
        Linear { terms: BTreeMap::new(), constant }
    }

    /// The sum of these terms and a number, if it fits.
    pub fn sum(terms: impl IntoIterator<Item = (V, C)>, constant: C) -> Option<Self>
    where
        V: Clone,
    {
        let mut sum = Linear::constant(constant);
        for (variable, coefficient) in terms {
            sum.add_term(&variable, coefficient)?;
        }
        Some(sum)
    }

    /// The number, if there are no terms.
    pub fn as_constant(&self) -> Option<C> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The number beside the terms.
    pub fn constant_term(&self) -> C {
        self.constant
    }

    /// The coefficient of a variable, 0 if it does not occur.
    pub fn coefficient<Q: Ord + ?Sized>(&self, variable: &Q) -> C
    where
        V: Borrow<Q>,
    {
        self.terms.get(variable).copied().unwrap_or(C::ZERO)
    }

    /// Whether a variable occurs.
    pub fn mentions<Q: Ord + ?Sized>(&self, variable: &Q) -> bool
    where
        V: Borrow<Q>,
    {
        self.terms.contains_key(variable)
    }

    /// Whether no variable occurs.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// Variables with their coefficients, in order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&V, C)> + Clone {
        self.terms.iter().map(|(variable, coefficient)| (variable, *coefficient))
    }

    /// The variables that occur, in order.
    pub fn variables(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.terms.keys()
    }

    /// The value where the variables have these values; none if one has none, or it does not fit.
    pub fn value(&self, mut of: impl FnMut(&V) -> Option<C>) -> Option<C> {
        self.terms.iter().try_fold(self.constant, |sum, (variable, coefficient)| {
            sum.plus(of(variable)?.times(*coefficient)?)
        })
    }

    /// Divided by the common divisor of the coefficients, the constant rounded down: as an
    /// inequality `form >= 0` over integers it says the same.
    #[must_use]
    pub fn tightened(mut self) -> Self {
        let divisor = self.terms.values().fold(C::ZERO, |divisor, c| gcd(divisor, *c));
        if divisor > C::ONE {
            for coefficient in self.terms.values_mut() {
                // A divisor of all of them divides each.
                *coefficient = floor_div(*coefficient, divisor).unwrap_or(*coefficient);
            }
            self.constant = floor_div(self.constant, divisor).unwrap_or(self.constant);
        }
        self
    }

    pub(crate) fn into_parts(self) -> (BTreeMap<V, C>, C) {
        (self.terms, self.constant)
    }

    pub(crate) fn from_parts(terms: BTreeMap<V, C>, constant: C) -> Self {
        Linear { terms, constant }
    }
}

impl<V: Ord + Clone> Linear<V, i64> {
    /// The same form with wider coefficients.
    pub fn widened(&self) -> Linear<V, i128> {
        let terms = self.terms.iter().map(|(variable, c)| (variable.clone(), i128::from(*c)));
        Linear { terms: terms.collect(), constant: i128::from(self.constant) }
    }
}

/// `2i - j + 3`.
impl<V: Ord + fmt::Display> fmt::Display for Linear<V, i128> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (name, c) in &self.terms {
            let sign = match (first, *c < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            first = false;
            match c.unsigned_abs() {
                1 => write!(f, "{sign}{name}")?,
                magnitude => write!(f, "{sign}{magnitude}{name}")?,
            }
        }
        match (first, self.constant) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) if c < 0 => write!(f, " - {}", c.unsigned_abs()),
            (false, c) => write!(f, " + {c}"),
        }
    }
}
