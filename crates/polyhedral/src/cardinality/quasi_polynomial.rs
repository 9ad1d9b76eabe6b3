//! Quasi-polynomials: polynomials with rational coefficients over names, `floor(form / d)` and
//! `form mod d`, where the forms are linear and `d` is a number.
//!
//! A floor has one form: its coefficients lie between `-d/2` and `d/2`, the first one above 0, its
//! constant between 0 and `d - 1`, and nothing divides all of them and `d`. What is left out: two
//! quasi-polynomials that are equal at all integers can still differ in their terms.

use std::cell::{Cell, RefCell};
use std::fmt;

use arith::number::{floor_div, floor_rem, gcd};
use arith::{Budget, Linear, Monomial};

use super::NoCount;

/// What quasi-polynomials are made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// A parameter or a variable.
    Name(String),
    /// The quotient by a number, rounded down.
    Floor(Linear<String>, i128),
    /// The remainder of that, from 0 on.
    Remainder(Linear<String>, i128),
}

/// A polynomial of places in a list of atoms.
pub(super) type Numerator = arith::Polynomial<u32>;

/// A quasi-polynomial over a list of atoms: numerators over one denominator, without a common
/// factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Polynomial {
    pub(super) numerator: Numerator,
    pub(super) denominator: i128,
}

/// What a computation has used: steps, and the atoms that it has met.
pub(super) struct Work {
    /// Combinations of inequalities that are left.
    pub rows: Budget,
    /// Products and sums of terms that are left.
    terms: Cell<u64>,
    /// The same for short forms.
    short_forms: Cell<u64>,
    /// Each with the exponent from which on [`readable`](super::readable) rewrites its powers.
    atoms: RefCell<Vec<(Atom, u32)>>,
}

impl Work {
    /// With so many combinations, steps, and steps for short forms.
    pub fn new(rows: Budget, terms: u64, short_forms: u64) -> Work {
        Work { rows, terms: Cell::new(terms), short_forms: Cell::new(short_forms), atoms: RefCell::default() }
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.terms.get() == 0 || self.rows.left() == 0
    }

    /// Why a polynomial has no value.
    pub fn reason(&self) -> NoCount {
        if self.is_over() { NoCount::Steps } else { NoCount::Numbers }
    }

    /// The atoms.
    pub fn into_atoms(self) -> Vec<Atom> {
        self.atoms.into_inner().into_iter().map(|(atom, _)| atom).collect()
    }

    /// The place of an atom in the list.
    pub fn place(&self, atom: Atom) -> u32 {
        let mut atoms = self.atoms.borrow_mut();
        let place = atoms.iter().position(|(own, _)| *own == atom).unwrap_or(atoms.len());
        // Comparing is faster than a step.
        self.terms.set(self.terms.get().saturating_sub(place as u64 / 8));
        if place == atoms.len() {
            let high = match &atom {
                Atom::Remainder(_, q) => super::readable::least_factor(*q) as u32,
                _ => u32::MAX,
            };
            atoms.push((atom, high));
        }
        // There are fewer atoms than steps.
        place as u32
    }

    /// The atom as a product.
    pub fn monomial(&self, atom: Atom) -> Monomial<u32> {
        Monomial::of(self.place(atom))
    }

    /// The atom at a place.
    pub fn atom(&self, place: u32) -> Atom {
        self.atoms.borrow()[place as usize].0.clone()
    }

    /// Whether powers with this exponent are rewritten.
    pub fn is_high(&self, place: u32, exponent: u32) -> bool {
        exponent >= self.atoms.borrow()[place as usize].1
    }

    /// Looks for a short form, in at most so many of the steps for that.
    pub fn short<T>(&self, steps: u64, work: impl FnOnce() -> Option<T>) -> Option<T> {
        let (terms, left) = (self.terms.get(), self.short_forms.get());
        let part = left.min(steps);
        self.terms.set(part);
        let result = work();
        self.short_forms.set(left - part + self.terms.get());
        self.terms.set(terms);
        result
    }

    /// Takes some steps; none if there are not so many.
    pub fn take(&self, steps: usize) -> Option<()> {
        let left = self.terms.get().checked_sub(steps as u64);
        self.terms.set(left.unwrap_or(0));
        left.map(|_| ())
    }
}

impl Atom {
    /// After how many values of the variable the atom repeats, up to a linear form.
    fn period(&self, variable: &str) -> i128 {
        match self {
            Atom::Name(_) => 1,
            Atom::Floor(form, d) | Atom::Remainder(form, d) => d / gcd(*d, form.coefficient(variable)),
        }
    }

    fn value(&self, at: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        match self {
            Atom::Name(name) => at(name),
            Atom::Floor(form, d) => floor_div(form.value(|name| at(name))?, *d),
            Atom::Remainder(form, d) => floor_rem(form.value(|name| at(name))?, *d),
        }
    }
}

/// The least common multiple, if it fits; of numbers above 0.
fn common_multiple(a: i128, b: i128) -> Option<i128> {
    (a / gcd(a, b)).checked_mul(b)
}

impl Polynomial {
    /// A constant.
    pub(super) fn constant(value: i128) -> Polynomial {
        Polynomial { numerator: Numerator::constant(value), denominator: 1 }
    }

    /// The quotient of a linear form by a number above 0.
    pub(super) fn linear(form: &Linear<String>, denominator: i128, work: &Work) -> Option<Polynomial> {
        let mut terms = vec![(Monomial::one(), form.constant_term())];
        for (name, c) in form.terms() {
            terms.push((work.monomial(Atom::Name(name.clone())), c));
        }
        Polynomial::of(Numerator::sum(terms)?, denominator)
    }

    /// `floor(form / d)` for `d` above 0: a linear form and at most one floor.
    fn floor(form: &Linear<String>, d: i128, work: &Work) -> Option<Polynomial> {
        let divisor = form.terms().fold(d, |divisor, (_, c)| gcd(divisor, c));
        let constant = floor_div(form.constant_term(), divisor)?;
        let d = d / divisor;
        // The nearest multiple of `d`, and what is left of a coefficient.
        let quotient = |c: i128| {
            let c = c / divisor;
            floor_div(c, d)?.checked_add(i128::from(floor_rem(c, d)? > d / 2))
        };
        let whole = coefficients(form, &quotient)?;
        let rest = coefficients(form, &|c| (c / divisor).checked_sub(quotient(c)?.checked_mul(d)?))?;
        if rest.terms().next().is_some_and(|(_, c)| c < 0) {
            // floor(x / d) = -floor((d - 1 - x) / d)
            let opposite = coefficients(form, &|c| (c / divisor).checked_neg())?;
            let opposite = opposite.plus_constant((d - 1).checked_sub(constant)?)?;
            return Polynomial::floor(&opposite, d, work)?.scaled(-1, 1);
        }
        let (more, left) = (floor_div(constant, d)?, floor_rem(constant, d)?);
        let whole = Polynomial::linear(&whole.plus_constant(more)?, 1, work)?;
        if rest.is_constant() {
            return Some(whole);
        }
        let atom = |left: i128, sign: i128| -> Option<Polynomial> {
            let atom = work.monomial(Atom::Floor(rest.plus_constant(left)?, d));
            Some(Polynomial { numerator: Numerator::term(atom, sign), denominator: 1 })
        };
        if (left, d) == (1, 2) {
            // Hermite's identity: floor(x / 2) + floor((x + 1) / 2) = x
            return whole.add(&Polynomial::linear(&rest, 1, work)?)?.add(&atom(0, -1)?);
        }
        whole.add(&atom(left, 1)?)
    }

    pub(super) fn of(numerator: Numerator, denominator: i128) -> Option<Polynomial> {
        let factor = numerator.terms().fold(denominator, |factor, (_, c)| gcd(factor, c));
        if factor == 1 {
            return Some(Polynomial { numerator, denominator });
        }
        let numerator = numerator.map_coefficients(|c| c.checked_div(factor))?;
        Some(Polynomial { numerator, denominator: denominator.checked_div(factor)? })
    }

    /// The sum of all, if it fits.
    pub(super) fn total(parts: &[&Polynomial], work: &Work) -> Option<Polynomial> {
        work.take(parts.iter().map(|part| part.numerator.len()).sum())?;
        let denominator =
            parts.iter().try_fold(1, |common, part| common_multiple(common, part.denominator))?;
        let mut terms = Vec::new();
        for part in parts {
            for (monomial, c) in part.numerator.terms() {
                terms.push((monomial.clone(), c.checked_mul(denominator / part.denominator)?));
            }
        }
        Polynomial::of(Numerator::sum(terms)?, denominator)
    }

    /// The sum, if it fits; for small polynomials, because it takes no steps.
    pub(super) fn add(&self, other: &Polynomial) -> Option<Polynomial> {
        let common = common_multiple(self.denominator, other.denominator)?;
        let sum = self.numerator.scaled(common / self.denominator)?;
        Polynomial::of(sum.plus_times(common / other.denominator, &other.numerator)?, common)
    }

    /// The product; none if its numbers are too large, or no steps are left.
    pub(super) fn mul(&self, other: &Polynomial, work: &Work) -> Option<Polynomial> {
        work.take(self.numerator.len() * other.numerator.len())?;
        let product = self.numerator.times(&other.numerator)?;
        Polynomial::of(product, self.denominator.checked_mul(other.denominator)?)
    }

    pub(super) fn scaled(&self, numerator: i128, denominator: i128) -> Option<Polynomial> {
        Polynomial::of(self.numerator.scaled(numerator)?, self.denominator.checked_mul(denominator)?)
    }

    /// Whether it has no terms.
    pub(super) fn is_zero(&self) -> bool {
        self.numerator.is_empty()
    }

    /// The coefficients of the powers of a variable that occurs in no floor, lowest first.
    fn by_power(&self, variable: u32) -> Option<Vec<Polynomial>> {
        let powers = self.numerator.by_power(&variable).into_iter();
        powers.map(|numerator| Polynomial::of(numerator, self.denominator)).collect()
    }

    /// With another polynomial in the place of those atoms that have one, and each product in the
    /// form that is asked for.
    pub(super) fn substituted(
        &self,
        by: &dyn Fn(&Atom) -> Option<Option<Polynomial>>,
        form: &dyn Fn(Polynomial) -> Option<Polynomial>,
        work: &Work,
    ) -> Option<Polynomial> {
        let mut new: Vec<(u32, Polynomial)> = Vec::new();
        for place in self.numerator.atoms() {
            new.extend(by(&work.atom(*place))?.map(|by| (*place, by)));
        }
        let new = |place: &u32| Some(&new[new.binary_search_by_key(place, |(own, _)| *own).ok()?].1);
        let mut parts = Vec::new();
        for (monomial, c) in self.numerator.terms() {
            let kept = monomial.factors().filter(|(place, _)| new(place).is_none());
            let kept = Monomial::product(kept.map(|(place, exponent)| (*place, exponent)))?;
            let mut product = Polynomial::of(Numerator::term(kept, c), self.denominator)?;
            for (place, exponent) in monomial.factors() {
                if let Some(by) = new(place) {
                    for _ in 0..exponent {
                        product = form(product.mul(by, work)?)?;
                    }
                }
            }
            parts.push(product);
        }
        Polynomial::total(&parts.iter().collect::<Vec<_>>(), work)
    }

    /// With `by / over` in the place of a variable, where `over` is above 0.
    pub(super) fn replace(
        &self,
        variable: &str,
        (by, over): (&Linear<String>, i128),
        work: &Work,
    ) -> Option<Polynomial> {
        let new = |atom: &Atom| match atom {
            Atom::Name(name) if name == variable => Some(Some(Polynomial::linear(by, over, work)?)),
            // Counting makes no remainders before it is done.
            Atom::Floor(row, d) if row.mentions(variable) => {
                let row = substituted(row, variable, (by, over))?;
                Some(Some(Polynomial::floor(&row, d.checked_mul(over)?, work)?))
            }
            _ => Some(None),
        };
        self.substituted(&new, &Some, work)
    }

    /// After how many values of the variable the floors of each term repeat, up to linear forms.
    pub(super) fn periods(&self, variable: &str, work: &Work) -> Option<Vec<i128>> {
        work.take(self.numerator.len() + work.atoms.borrow().len() / 8)?;
        let periods: Vec<i128> = work.atoms.borrow().iter().map(|(atom, _)| atom.period(variable)).collect();
        let period = |(monomial, _): (&Monomial<u32>, i128)| {
            monomial.factors().map(|(place, _)| periods[*place as usize]).try_fold(1, common_multiple)
        };
        self.numerator.terms().map(period).collect()
    }

    /// The sum for all integers `variable` with `low / a <= variable <= high / b`, where this range
    /// is not empty over the rationals; `a` and `b` are above 0.
    ///
    /// Terms with a floor of the variable are summed by residue classes: `variable = m x + r` makes
    /// linear forms of `x`, with floors of other names, of the floors. What is left is Faulhaber's:
    /// a polynomial `T` with `T(x + 1) - T(x) = p(x)`, at the floors of the bounds. An integer
    /// range that is empty adds nothing, because it ends one before it begins.
    pub(super) fn sum(
        &self,
        variable: &str,
        (low, a): (&Linear<String>, i128),
        (high, b): (&Linear<String>, i128),
        work: &Work,
    ) -> Option<Polynomial> {
        let place = work.place(Atom::Name(variable.to_string()));
        let degree = self.numerator.terms().map(|(monomial, _)| monomial.degree()).max().unwrap_or(0);
        let sums = power_sums(place, degree, work)?;
        let periods = self.periods(variable, work)?;
        let mut classes: Vec<i128> = Vec::new();
        for m in &periods {
            if !classes.contains(m) {
                classes.push(*m);
            }
        }
        let mut parts = Vec::new();
        for m in classes {
            let terms = self.numerator.terms().zip(&periods).filter(|(_, period)| **period == m);
            let terms: Vec<_> = terms.map(|((monomial, c), _)| (monomial.clone(), c)).collect();
            let group = Polynomial::of(Numerator::sum(terms)?, self.denominator)?;
            for r in 0..m {
                work.take(group.numerator.len())?;
                let class = Linear::term(variable.to_string(), m).plus_constant(r)?;
                let class =
                    if m == 1 { group.clone() } else { group.replace(variable, (&class, 1), work)? };
                let products = class.by_power(place)?.into_iter().zip(&sums);
                let products = products.map(|(factor, sum)| factor.mul(sum, work));
                let products = products.collect::<Option<Vec<_>>>()?;
                let powers =
                    Polynomial::total(&products.iter().collect::<Vec<_>>(), work)?.by_power(place)?;
                let end = high.plus_constant(b.checked_mul(m.checked_sub(r)?)?)?;
                let start = low.plus_constant(a.checked_mul(m - r)?.checked_sub(1)?)?;
                let end = Polynomial::floor(&end, b.checked_mul(m)?, work)?;
                let start = Polynomial::floor(&start, a.checked_mul(m)?, work)?;
                parts.push(at(&powers, &end, work)?);
                parts.push(at(&powers, &start, work)?.scaled(-1, 1)?);
            }
        }
        Polynomial::total(&parts.iter().collect::<Vec<_>>(), work)
    }

    /// The value, if it is an integer that fits, where the atoms of the list have values.
    pub fn value(&self, atoms: &[Atom], at: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        let sum = self.numerator.value(|place| atoms.get(*place as usize)?.value(at))?;
        (sum % self.denominator == 0).then(|| sum / self.denominator)
    }
}

/// The form with each coefficient changed, and without the constant.
pub(super) fn coefficients(
    form: &Linear<String>,
    new: &dyn Fn(i128) -> Option<i128>,
) -> Option<Linear<String>> {
    let mut terms = Vec::new();
    for (name, c) in form.terms() {
        terms.push((name.clone(), new(c)?));
    }
    Linear::sum(terms, 0)
}

/// A row with `by / over` in the place of a variable, times `over` if it has the variable.
pub(super) fn substituted(
    row: &Linear<String>,
    variable: &str,
    (by, over): (&Linear<String>, i128),
) -> Option<Linear<String>> {
    match row.split(variable) {
        (None, same) => Some(same),
        (Some(c), rest) => rest.times(over)?.plus_times(c, by),
    }
}

/// The polynomial of these coefficients, lowest first, at `x`: Horner's scheme.
fn at(coefficients: &[Polynomial], x: &Polynomial, work: &Work) -> Option<Polynomial> {
    coefficients
        .iter()
        .rev()
        .try_fold(Polynomial::constant(0), |sum, c| Polynomial::total(&[&sum.mul(x, work)?, c], work))
}

/// `0^k + 1^k + ... + (x - 1)^k` for each `k`, by the recurrence of telescoping sums:
/// `(k + 1) S_k = x^(k+1) - sum_{j < k} binomial(k + 1, j) S_j`.
fn power_sums(x: u32, up_to: usize, work: &Work) -> Option<Vec<Polynomial>> {
    let x = Polynomial { numerator: Numerator::atom(x), denominator: 1 };
    let mut sums: Vec<Polynomial> = Vec::new();
    let mut power = x.clone();
    for k in 0..=up_to {
        let mut sum = power.clone();
        let mut binomial = 1i128;
        for (j, s) in sums.iter().enumerate() {
            sum = sum.add(&s.scaled(binomial.checked_neg()?, 1)?)?;
            binomial = binomial.checked_mul((k + 1 - j) as i128)? / (j as i128 + 1);
        }
        sums.push(sum.scaled(1, k as i128 + 1)?);
        power = power.mul(&x, work)?;
    }
    Some(sums)
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, d) = match self {
            Atom::Name(name) => return f.write_str(name),
            Atom::Floor(form, d) | Atom::Remainder(form, d) => (form, d),
        };
        let alone = form.constant_term() == 0 && form.terms().map(|(_, c)| c).eq([1]);
        let form = if alone { form.to_string() } else { format!("({form})") };
        match self {
            Atom::Floor(..) => write!(f, "floor({form}/{d})"),
            _ => write!(f, "({form} mod {d})"),
        }
    }
}

/// A polynomial with the list of its atoms.
pub(super) struct Shown<'a>(pub &'a Polynomial, pub &'a [Atom]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(Polynomial { numerator, denominator }, atoms) = self;
        if numerator.is_empty() {
            return f.write_str("0");
        }
        let most = numerator.terms().map(|(monomial, _)| monomial.degree()).max().unwrap_or(0);
        let of_degree =
            |degree: usize| numerator.terms().filter(move |(monomial, _)| monomial.degree() == degree);
        for (k, (monomial, c)) in (0..=most).rev().flat_map(of_degree).enumerate() {
            let sign = match (k, c < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            let (numerator, denominator) = (c.unsigned_abs(), denominator.unsigned_abs());
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
            for (place, exponent) in monomial.factors() {
                let atom = atoms.get(*place as usize).ok_or(fmt::Error)?;
                match exponent {
                    1 => write!(f, "{separator}{atom}")?,
                    e => write!(f, "{separator}{atom}^{e}")?,
                }
                separator = "*";
            }
        }
        Ok(())
    }
}
