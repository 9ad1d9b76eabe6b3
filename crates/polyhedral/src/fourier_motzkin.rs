//! Fourier-Motzkin elimination, and loop bounds by it.
//!
//! A system is a conjunction of linear inequalities `sum c_k x_k + c >= 0` over named variables. Eliminating a variable pairs
//! each of its lower bounds with each of its upper bounds; what follows from the others is removed. The result is exact over the
//! rationals. Over the integers it is exact where in each pair one of the two coefficients is 1 (up to common factors), and the result says so;
//! else it may have solutions that no integer value of the variable extends. It is a second way to the answers of the set library, and
//! the tests hold the two against each other. Source: the notes on the foundations of the polyhedral model, "Fourier-Motzkin".

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

/// `sum coefficients + constant >= 0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Inequality {
    /// Nonzero coefficients by variable.
    pub coefficients: BTreeMap<String, i128>,
    /// Constant term.
    pub constant: i128,
}

/// A conjunction of inequalities.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct System {
    /// The inequalities, sorted, without duplicates.
    pub rows: Vec<Inequality>,
}

/// A system without some variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eliminated {
    /// What holds of the others.
    pub system: System,
    /// Whether every integer solution extends to integer values of the eliminated variables, as far as the coefficients show.
    pub exact: bool,
}

/// Bounds of one loop: the greatest of `ceil(lower / divisor)` and the least of `floor(upper / divisor)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopBounds {
    /// The variable.
    pub variable: String,
    /// Lower bounds over outer variables, with their divisors.
    pub lower: Vec<(Inequality, i128)>,
    /// Upper bounds (inclusive) over outer variables, with their divisors.
    pub upper: Vec<(Inequality, i128)>,
}

/// A nest of loops, outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nest {
    /// What must hold of the other variables (the parameters) for there to be iterations; the bounds take it for granted.
    pub context: System,
    /// The loops.
    pub loops: Vec<LoopBounds>,
}

/// Elimination was stopped: more rows than allowed, or coefficients beyond 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fourier-Motzkin elimination grew beyond its limit")
    }
}

impl std::error::Error for TooLarge {}

/// Steps that are left: combinations of two rows, or of two terms.
pub(crate) struct Steps(Cell<u64>);

impl Steps {
    /// So many.
    pub fn new(steps: u64) -> Steps {
        Steps(Cell::new(steps))
    }

    /// Takes some; whether there were so many.
    pub fn take(&self, steps: usize) -> bool {
        let left = self.0.get().checked_sub(steps as u64);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Steps for pruning a system where nothing else is said: two seconds.
const PRUNING: u64 = 2_000_000;

/// Rows beyond which elimination stops. The number of rows can square at each step.
const MAX_ROWS: usize = 400;

impl Inequality {
    /// `constant >= 0`.
    pub fn constant(constant: i128) -> Inequality {
        Inequality { coefficients: BTreeMap::new(), constant }
    }

    /// The coefficient of a variable, 0 if it does not occur.
    pub fn coefficient(&self, variable: &str) -> i128 {
        self.coefficients.get(variable).copied().unwrap_or(0)
    }

    /// `self * a + other * b`.
    fn combine(&self, a: i128, other: &Inequality, b: i128) -> Result<Inequality, TooLarge> {
        let term = |x: i128, y: i128| x.checked_mul(a)?.checked_add(y.checked_mul(b)?);
        let mut coefficients = BTreeMap::new();
        for name in self.coefficients.keys().chain(other.coefficients.keys()) {
            let value = term(self.coefficient(name), other.coefficient(name)).ok_or(TooLarge)?;
            if value != 0 {
                coefficients.insert(name.clone(), value);
            }
        }
        Ok(Inequality { coefficients, constant: term(self.constant, other.constant).ok_or(TooLarge)? })
    }

    /// Divided by the common factor of the coefficients, the constant rounded down (no integer solution is lost).
    fn normalised(mut self) -> Inequality {
        let factor = self.coefficients.values().fold(0, |g, c| gcd(g, c.unsigned_abs()));
        if let Ok(factor) = i128::try_from(factor)
            && factor > 1
        {
            for c in self.coefficients.values_mut() {
                *c /= factor;
            }
            self.constant = self.constant.div_euclid(factor);
        }
        self
    }

    /// Without a variable's term, negated if `negate`.
    fn without(&self, variable: &str, negate: bool) -> Inequality {
        let sign = if negate { -1 } else { 1 };
        let coefficients = self.coefficients.iter().filter(|(name, _)| *name != variable);
        Inequality {
            coefficients: coefficients.map(|(n, c)| (n.clone(), c * sign)).collect(),
            constant: self.constant * sign,
        }
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl System {
    /// The conjunction of the rows, without duplicates and without those that another row of the same coefficients implies.
    pub fn new(rows: impl IntoIterator<Item = Inequality>) -> System {
        let mut least: BTreeMap<BTreeMap<String, i128>, i128> = BTreeMap::new();
        for row in rows.into_iter().map(Inequality::normalised) {
            if row.coefficients.is_empty() && row.constant >= 0 {
                continue;
            }
            let slot = least.entry(row.coefficients).or_insert(row.constant);
            *slot = (*slot).min(row.constant);
        }
        System {
            rows: least
                .into_iter()
                .map(|(coefficients, constant)| Inequality { coefficients, constant })
                .collect(),
        }
    }

    /// The variables that occur.
    pub fn variables(&self) -> std::collections::BTreeSet<String> {
        self.rows.iter().flat_map(|row| row.coefficients.keys().cloned()).collect()
    }

    /// Without `variable`: what holds of the others whatever its value.
    ///
    /// # Errors
    /// If the result has too many rows or coefficients.
    pub fn eliminate(&self, variable: &str) -> Result<Eliminated, TooLarge> {
        let (mut lower, mut upper, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.rows {
            match row.coefficient(variable).signum() {
                1 => lower.push(row),
                -1 => upper.push(row),
                _ => rows.push(row.clone()),
            }
        }
        if lower.len() * upper.len() + rows.len() > MAX_ROWS {
            return Err(TooLarge);
        }
        let mut exact = true;
        for low in &lower {
            for high in &upper {
                let (a, b) = (low.coefficient(variable), -high.coefficient(variable));
                exact &= a == 1 || b == 1;
                rows.push(low.combine(b, high, a)?);
            }
        }
        Ok(Eliminated { system: System::new(rows).pruned(), exact })
    }

    /// Without several variables, in this order.
    ///
    /// # Errors
    /// As [`System::eliminate`].
    pub fn eliminate_all<'a>(
        &self,
        variables: impl IntoIterator<Item = &'a str>,
    ) -> Result<Eliminated, TooLarge> {
        let start = Eliminated { system: self.clone(), exact: true };
        variables.into_iter().try_fold(start, |done, variable| {
            let next = done.system.eliminate(variable)?;
            Ok(Eliminated { exact: done.exact && next.exact, ..next })
        })
    }

    /// Whether there is no rational solution; `false` where the test would grow too large.
    pub fn is_empty(&self) -> bool {
        self.is_empty_within(&Steps::new(PRUNING))
    }

    /// As [`System::is_empty`], with so many steps.
    pub(crate) fn is_empty_within(&self, steps: &Steps) -> bool {
        let mut system = self.clone();
        loop {
            if system.rows.iter().any(|row| row.coefficients.is_empty() && row.constant < 0) {
                return true;
            }
            // The variable with the fewest pairs keeps the system small.
            let cost = |name: &String| {
                let count =
                    |sign| system.rows.iter().filter(|row| row.coefficient(name).signum() == sign).count();
                count(1) * count(-1)
            };
            let Some(variable) = system.variables().into_iter().min_by_key(cost) else { return false };
            match system.eliminate_unpruned(&variable, steps) {
                Ok(next) => system = next,
                Err(TooLarge) => return false,
            }
        }
    }

    fn eliminate_unpruned(&self, variable: &str, steps: &Steps) -> Result<System, TooLarge> {
        let (lower, rest): (Vec<_>, Vec<_>) = self.rows.iter().partition(|row| row.coefficient(variable) > 0);
        let (upper, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|row| row.coefficient(variable) < 0);
        let many = lower.len() * upper.len() + rest.len();
        if many > MAX_ROWS || !steps.take(many) {
            return Err(TooLarge);
        }
        let mut rows: Vec<Inequality> = rest.into_iter().cloned().collect();
        for low in &lower {
            for high in &upper {
                rows.push(low.combine(-high.coefficient(variable), high, low.coefficient(variable))?);
            }
        }
        Ok(System::new(rows))
    }

    /// Without the rows that the others imply over the integers' rational hull: a row is redundant if its negation contradicts the others.
    pub fn pruned(&self) -> System {
        self.pruned_within(&Steps::new(PRUNING))
    }

    /// As [`System::pruned`], with so many steps; rows that no steps are left for stay.
    pub(crate) fn pruned_within(&self, steps: &Steps) -> System {
        let mut kept = self.rows.clone();
        let mut at = 0;
        while at < kept.len() {
            let row = kept.remove(at);
            let mut negation = row.without("", true);
            negation.constant -= 1;
            let others = System::new(kept.iter().cloned().chain([negation]));
            if !others.is_empty_within(steps) {
                kept.insert(at, row);
                at += 1;
            }
        }
        System { rows: kept }
    }

    /// Loop bounds for `order`, outermost first: variables are eliminated from the inside out, then bounds that outer loops already imply are pruned.
    ///
    /// # Errors
    /// As [`System::eliminate`].
    pub fn loop_bounds(&self, order: &[&str]) -> Result<Nest, TooLarge> {
        let mut system = self.pruned();
        let mut own = Vec::new();
        for variable in order.iter().rev() {
            let (mine, _): (Vec<_>, Vec<_>) =
                system.rows.iter().cloned().partition(|row| row.coefficient(variable) != 0);
            own.push(mine);
            system = system.eliminate(variable)?.system;
        }
        own.reverse();
        // What is known outside the loops is the context; each loop adds its own bounds for the loops inside it.
        let context = system;
        let mut known = context.rows.clone();
        let mut loops = Vec::new();
        for (variable, mine) in order.iter().zip(own) {
            let mut kept = mine;
            let mut at = 0;
            while at < kept.len() {
                let row = kept.remove(at);
                let mut negation = row.without("", true);
                negation.constant -= 1;
                let others = known.iter().chain(&kept).cloned().chain([negation]);
                if !System::new(others).is_empty() {
                    kept.insert(at, row);
                    at += 1;
                }
            }
            let side = |sign: i128| {
                let rows = kept.iter().filter(|row| row.coefficient(variable).signum() == sign);
                rows.map(|row| (row.without(variable, sign > 0), row.coefficient(variable).abs())).collect()
            };
            loops.push(LoopBounds { variable: (*variable).to_string(), lower: side(1), upper: side(-1) });
            known.extend(kept);
        }
        Ok(Nest { context, loops })
    }
}

impl fmt::Display for Inequality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (name, c) in &self.coefficients {
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

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return f.write_str("true");
        }
        for (k, row) in self.rows.iter().enumerate() {
            write!(f, "{}{row} >= 0", if k > 0 { " and " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Nest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.context.rows.is_empty() {
            write!(f, "if {}: ", self.context)?;
        }
        let loops: Vec<String> = self.loops.iter().map(LoopBounds::to_string).collect();
        f.write_str(&loops.join("; "))
    }
}

impl fmt::Display for LoopBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |bounds: &[(Inequality, i128)], round: &str, choose: &str, none: &str| {
            let one = |(row, divisor): &(Inequality, i128)| match divisor {
                1 => row.to_string(),
                d => format!("{round}(({row}) / {d})"),
            };
            match bounds {
                [] => none.to_string(),
                [bound] => one(bound),
                many => format!("{choose}({})", many.iter().map(one).collect::<Vec<_>>().join(", ")),
            }
        };
        let low = side(&self.lower, "ceil", "max", "-infinity");
        let high = side(&self.upper, "floor", "min", "infinity");
        write!(f, "{low} <= {} <= {high}", self.variable)
    }
}
