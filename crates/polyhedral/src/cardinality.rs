//! Counting: the number of integer points of a system of inequalities as a quasi-polynomial of its
//! parameters, in pieces.
//!
//! Variables are summed from the inside out. Equations are solved first, over the integers (by
//! Euclid's algorithm, as in the Hermite normal form), and leave congruences of the parameters.
//! Where a variable has several lower or upper bounds, the points are split by which of them is the
//! tightest over the rationals, so that conditions stay linear inequalities; the sum of a
//! quasi-polynomial between two bounds is [`Polynomial::sum`]. Sources: the notes on the
//! foundations of the polyhedral model, "cardinality"; Pugh, "Counting solutions to Presburger
//! formulas", for sums by residue classes; Verdoolaege et al., "Counting integer points in
//! parametric polytopes using Barvinok's rational functions", for the form of the result.
//!
//! What it leaves out: Barvinok's signed cones, which take fewer steps where coefficients are
//! large.

mod quasi_polynomial;
mod readable;

use std::fmt;

use arith::number::{floor_div, floor_rem, gcd};
use arith::{Budget, Linear, System};

pub use quasi_polynomial::{Atom, Polynomial};
use quasi_polynomial::{Shown, Work, coefficients, substituted};

/// `form mod modulus = remainder`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Congruence {
    /// A form without a constant, its coefficients at least 0 and below the modulus.
    pub form: Linear<String>,
    /// At least 0 and below the modulus.
    pub remainder: i128,
    /// At least 2.
    pub modulus: i128,
}

/// A part of a count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Inequalities of the parameters.
    pub condition: System<String>,
    /// Congruences of the parameters, each once, in order.
    pub congruences: Vec<Congruence>,
    /// The number of points where the conditions hold.
    pub polynomial: Polynomial,
}

/// A count: the sum of the polynomials of all pieces whose conditions hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// The pieces, no two with the same conditions.
    pub pieces: Vec<Piece>,
    /// What their polynomials are made of.
    pub atoms: Vec<Atom>,
}

/// Why a set is not counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoCount {
    /// A variable has no bound on one side: there may be infinitely many points.
    Unbounded(String),
    /// More pieces than allowed.
    Pieces,
    /// More steps than allowed.
    Steps,
    /// A coefficient beyond 128 bits.
    Numbers,
}

impl fmt::Display for NoCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCount::Unbounded(variable) => write!(f, "`{variable}` is not bounded"),
            NoCount::Pieces => write!(f, "the count has more than {MAX_PIECES} pieces"),
            NoCount::Steps => {
                f.write_str("this takes too many steps: there are too many terms, remainders or chambers")
            }
            NoCount::Numbers => f.write_str("a number of the count has more than 128 bits"),
        }
    }
}

impl std::error::Error for NoCount {}

/// Pieces beyond which counting stops.
const MAX_PIECES: usize = 5000;

/// Products and sums of terms after which counting stops, each of a quarter to half a microsecond:
/// a polynomial of twelve parameters can have millions of terms.
const MAX_TERMS: u64 = 10_000_000;

/// The same for short forms of the result.
const MAX_TERMS_OF_SHORT_FORMS: u64 = 2_000_000;

/// Combinations of two inequalities after which counting stops, each of 1 to 3 microseconds.
const MAX_COMBINATIONS: u64 = 2_000_000;

/// Pieces beyond which none are joined.
const MAX_JOINED: usize = 50;

/// Places where a polynomial must be 0 to hold for a wider condition, at most.
const MAX_WIDENED: i128 = 12;

/// Rows at a time of an elimination, at most.
const MAX_ROWS: usize = 400;

/// The number of integer points of disjoint systems, each with the variables that are counted, as a
/// function of the other names.
///
/// # Errors
/// If a set is unbounded, or the count too large.
pub fn count(sets: Vec<(System<String>, Vec<String>)>) -> Result<Count, NoCount> {
    let work = Work::new(Budget::new(MAX_ROWS, MAX_COMBINATIONS), MAX_TERMS, MAX_TERMS_OF_SHORT_FORMS);
    // Products of names are printed in the order of the names.
    let names = sets.iter().flat_map(|(system, _)| system.rows.iter().flat_map(Linear::variables));
    let names = Linear::sum(names.map(|name| (name.clone(), 1)), 0).unwrap_or_default();
    for name in names.variables() {
        work.place(Atom::Name(name.clone()));
    }
    let mut counting = Counting { work, result: Count::default() };
    for (system, variables) in sets {
        let polynomial = Polynomial::constant(1);
        counting.sum(Points { system, congruences: Vec::new(), variables, polynomial })?;
    }
    let Counting { work, mut result } = counting;
    result.pieces.retain(|piece| !piece.polynomial.is_zero());
    if result.pieces.len() <= MAX_JOINED {
        result.join(&work);
    }
    for piece in &mut result.pieces {
        let polynomial = std::mem::replace(&mut piece.polynomial, Polynomial::constant(0));
        piece.polynomial = readable::rounded_up(readable::shorter(polynomial, &work), &work);
    }
    result.atoms = work.into_atoms();
    Ok(result)
}

/// The sum of a polynomial over the points of a system.
#[derive(Clone)]
struct Points {
    system: System<String>,
    /// Congruences of the parameters.
    congruences: Vec<Congruence>,
    /// What is summed; the other names are parameters.
    variables: Vec<String>,
    polynomial: Polynomial,
}

struct Counting {
    work: Work,
    result: Count,
}

impl Counting {
    /// Adds a sum to the result.
    fn sum(&mut self, mut points: Points) -> Result<(), NoCount> {
        if points.polynomial.is_zero() || points.system.is_empty_within(&self.work.rows) {
            return Ok(());
        }
        if self.work.is_over() {
            return Err(NoCount::Steps);
        }
        points.system = points.system.pruned_within(&self.work.rows);
        if points.variables.is_empty() {
            let Points { system: condition, congruences, polynomial, .. } = points;
            return self.result.add(Piece { condition, congruences, polynomial }, &self.work);
        }
        if let Some(equation) = points.equation() {
            let solved = points.solved(equation, &self.work).ok_or_else(|| self.work.reason())?;
            return solved.map_or(Ok(()), |points| self.sum(points));
        }
        // The variable whose sum takes the fewest pieces and residue classes.
        let Some(variable) =
            points.variables.iter().min_by_key(|variable| points.cost(variable, &self.work)).cloned()
        else {
            return Ok(());
        };
        let (lows, highs) = points.bounds(&variable).ok_or(NoCount::Numbers)?;
        if lows.is_empty() || highs.is_empty() {
            return Err(NoCount::Unbounded(variable));
        }
        points.variables.retain(|own| *own != variable);
        let others: Vec<Linear<String>> =
            points.system.rows.iter().filter(|row| !row.mentions(&variable)).cloned().collect();
        for low in 0..lows.len() {
            for high in 0..highs.len() {
                let rows = chamber(&lows, &highs, (low, high)).ok_or(NoCount::Numbers)?;
                let mut part = points.clone();
                part.system = System::new(others.iter().cloned().chain(rows));
                if part.system.is_empty_within(&self.work.rows) {
                    continue;
                }
                let ((low, a), (high, b)) = (&lows[low], &highs[high]);
                let sum = points.polynomial.sum(&variable, (low, *a), (high, *b), &self.work);
                part.polynomial = sum.ok_or_else(|| self.work.reason())?;
                self.sum(part)?;
            }
        }
        Ok(())
    }
}

/// Bounds of a variable: forms, each with the number above 0 by which it is divided.
type Bounds = Vec<(Linear<String>, i128)>;

/// Where two bounds are the tightest (of equal ones, the first), and do not exclude each other.
fn chamber(lows: &Bounds, highs: &Bounds, (low, high): (usize, usize)) -> Option<Vec<Linear<String>>> {
    // `x / a >= y / b`, or `>`
    let at_least = |(x, a): &(Linear<String>, i128), (y, b): &(Linear<String>, i128), strictly: bool| {
        x.times(*b)?.plus_times(a.checked_neg()?, y)?.plus_constant(-i128::from(strictly))
    };
    let others = |bounds: &Bounds, at: usize| (0..bounds.len()).filter(move |k| *k != at);
    let lower = others(lows, low).map(|k| at_least(&lows[low], &lows[k], k < low));
    let upper = others(highs, high).map(|k| at_least(&highs[k], &highs[high], k < high));
    lower.chain(upper).chain([at_least(&highs[high], &lows[low], false)]).collect()
}

impl Points {
    /// An inequality over a variable whose opposite holds too.
    fn equation(&self) -> Option<Linear<String>> {
        let rows = &self.system.rows;
        let over_variable = |row: &&Linear<String>| self.variables.iter().any(|v| row.mentions(v));
        let is_equation =
            |row: &&Linear<String>| row.negated().is_some_and(|opposite| rows.contains(&opposite));
        rows.iter().filter(over_variable).find(is_equation).cloned()
    }

    /// With `by / over` in the place of a variable, where `over` is above 0.
    fn replace(&mut self, variable: &str, by: (&Linear<String>, i128), work: &Work) -> Option<()> {
        let rows = self.system.rows.iter().map(|row| substituted(row, variable, by));
        self.system = System::new(rows.collect::<Option<Vec<_>>>()?);
        self.polynomial = self.polynomial.replace(variable, by, work)?;
        Some(())
    }

    /// Without one of the variables of `row = 0`; none if no integers solve it.
    fn solved(mut self, mut row: Linear<String>, work: &Work) -> Option<Option<Points>> {
        loop {
            let mut terms: Vec<(String, i128)> =
                self.variables.iter().map(|v| (v.clone(), row.coefficient(v))).collect();
            terms.retain(|(_, c)| *c != 0);
            let (pivot, c) = terms.iter().min_by_key(|(_, c)| c.unsigned_abs())?.clone();
            if c.unsigned_abs() == 1 || terms.len() == 1 {
                return self.without(&pivot, &row, work);
            }
            work.take(self.system.rows.len())?;
            // Another variable in the place of this one makes the other coefficients smaller.
            let mut by = Linear::name(pivot.clone());
            for (variable, other) in terms.into_iter().filter(|(v, _)| *v != pivot) {
                by = by.plus(&Linear::term(variable, floor_div(other, c)?.checked_neg()?))?;
            }
            row = row.replace(&pivot, &by)?;
            self.replace(&pivot, (&by, 1), work)?;
        }
    }

    /// Without a variable that `row = 0` determines. If its coefficient is not 1 or -1, the row has
    /// no other variables: its parameters are in a residue class.
    fn without(mut self, variable: &str, row: &Linear<String>, work: &Work) -> Option<Option<Points>> {
        let (c, rest) = row.split(variable);
        let c = c?;
        let by = rest.times(c.signum().checked_neg()?)?;
        let modulus = c.checked_abs()?;
        let common = by.terms().fold(modulus, |common, (_, c)| gcd(common, c));
        if by.constant_term() % common != 0 {
            return Some(None);
        }
        let (modulus_left, constant) = (modulus / common, by.constant_term() / common);
        let form = coefficients(&by, &|c| floor_rem(c / common, modulus_left))?;
        if modulus_left > 1 {
            let remainder = floor_rem(constant.checked_neg()?, modulus_left)?;
            let congruence = Congruence { form, remainder, modulus: modulus_left };
            if let Err(place) = self.congruences.binary_search(&congruence) {
                self.congruences.insert(place, congruence);
            }
        }
        self.replace(variable, (&by, modulus), work)?;
        self.variables.retain(|own| own != variable);
        Some(Some(self))
    }

    /// The lower and the upper bounds of a variable.
    fn bounds(&self, variable: &str) -> Option<(Bounds, Bounds)> {
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for row in &self.system.rows {
            match row.split(variable) {
                (Some(c), rest) if c > 0 => lows.push((rest.negated()?, c)),
                (Some(c), rest) => highs.push((rest, c.checked_neg()?)),
                (None, _) => {}
            }
        }
        Some((lows, highs))
    }

    /// How much work the sum over a variable makes, about: by the number of pairs of bounds (twice,
    /// as each adds conditions to the others), divisors, and residue classes.
    fn cost(&self, variable: &str, work: &Work) -> u128 {
        let side = |sign: i128| {
            let coefficients = self.system.rows.iter().map(|row| row.coefficient(variable));
            coefficients
                .filter(|c| c.signum() == sign)
                .fold((0, 0), |(many, divisor): (u128, u128), c| (many + 1, divisor.max(c.unsigned_abs())))
        };
        let ((lower, a), (upper, b)) = (side(1), side(-1));
        let periods = self.polynomial.periods(variable, work);
        let classes = periods.and_then(|periods| periods.into_iter().max()).unwrap_or(i128::MAX);
        let factors = [lower, upper, lower, upper, a, b, classes.unsigned_abs()];
        factors.into_iter().fold(1, u128::saturating_mul)
    }
}

impl Piece {
    /// Whether the conditions of another piece differ by the constant of one row, and the
    /// polynomial is 0 where only that one's hold; as far as terms cancel.
    fn holds_in(&self, wider: &Piece, work: &Work) -> Option<bool> {
        let (own, others) = (&self.condition.rows, &wider.condition.rows);
        let mut different = own.iter().zip(others).filter(|(a, b)| a != b);
        let ((row, other), None) = (different.next()?, different.next()) else { return None };
        let strip = other.constant_term().checked_sub(row.constant_term())?;
        let alike = own.len() == others.len() && self.congruences == wider.congruences;
        if !alike || !row.terms().eq(other.terms()) || !(1..=MAX_WIDENED).contains(&strip) {
            return None;
        }
        let (name, c) = row.terms().find(|(_, c)| c.abs() == 1)?;
        for k in 1..=strip {
            // row = -k
            let by = row.split(name).1.plus_constant(k)?.times(c.checked_neg()?)?;
            let there =
                work.short(1000 * MAX_JOINED as u64, || self.polynomial.replace(name, (&by, 1), work))?;
            if !readable::shorter(there, work).is_zero() {
                return None;
            }
        }
        Some(true)
    }
}

impl Count {
    /// Adds a piece to the one with the same conditions.
    fn add(&mut self, piece: Piece, work: &Work) -> Result<(), NoCount> {
        let same = |own: &Piece| own.condition == piece.condition && own.congruences == piece.congruences;
        match self.pieces.iter().position(same) {
            Some(at) => {
                let own = &mut self.pieces[at].polynomial;
                *own = Polynomial::total(&[own, &piece.polynomial], work).ok_or_else(|| work.reason())?;
            }
            None if self.pieces.len() < MAX_PIECES => self.pieces.push(piece),
            None => return Err(NoCount::Pieces),
        }
        Ok(())
    }

    /// Joins pieces whose conditions differ by a strip where the polynomial of the narrower one
    /// is 0.
    fn join(&mut self, work: &Work) {
        let mut at = 0;
        while at < self.pieces.len() {
            let piece = &self.pieces[at];
            match self.pieces.iter().position(|wider| piece.holds_in(wider, work) == Some(true)) {
                None => at += 1,
                Some(other) => {
                    let Some(sum) =
                        Polynomial::total(&[&self.pieces[other].polynomial, &piece.polynomial], work)
                    else {
                        return;
                    };
                    self.pieces[other].polynomial = sum;
                    self.pieces.remove(at);
                    at = 0;
                }
            }
        }
    }

    /// The count at these parameters, if it fits.
    pub fn value(&self, at: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        let mut total = 0i128;
        for piece in &self.pieces {
            let mut holds = true;
            for row in &piece.condition.rows {
                holds &= row.value(|name| at(name))? >= 0;
            }
            for congruence in &piece.congruences {
                let value = congruence.form.value(|name| at(name))?;
                holds &= floor_rem(value, congruence.modulus)? == congruence.remainder;
            }
            if holds {
                total = total.checked_add(piece.polynomial.value(&self.atoms, at)?)?;
            }
        }
        Some(total)
    }
}

impl fmt::Display for Congruence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Congruence { form, remainder, modulus } = self;
        match form.terms().map(|(_, c)| c).eq([1]) {
            true => write!(f, "{form} mod {modulus} = {remainder}"),
            false => write!(f, "({form}) mod {modulus} = {remainder}"),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pieces.is_empty() {
            return f.write_str("0");
        }
        for (k, Piece { condition, congruences, polynomial }) in self.pieces.iter().enumerate() {
            let polynomial = Shown(polynomial, &self.atoms);
            if condition.rows.is_empty() && congruences.is_empty() && self.pieces.len() == 1 {
                return polynomial.fmt(f);
            }
            write!(f, "{}({polynomial} if ", if k > 0 { " + " } else { "" })?;
            if !condition.rows.is_empty() || congruences.is_empty() {
                condition.fmt(f)?;
            }
            for (k, congruence) in congruences.iter().enumerate() {
                let first = k == 0 && condition.rows.is_empty();
                write!(f, "{}{congruence}", if first { "" } else { " and " })?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}
