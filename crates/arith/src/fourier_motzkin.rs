//! Fourier-Motzkin elimination, and loop bounds by it.
//!
//! A system is a conjunction of linear inequalities `sum c_k x_k + c >= 0` over variables.
//! Eliminating a variable pairs each of its lower bounds with each of its upper bounds; what
//! follows from the others is removed. The result is exact over the rationals. Over the integers it
//! is exact where in each pair one of the two coefficients is 1 (up to common factors), and the
//! result says so; else it may have solutions that no integer value of the variable extends.
//!
//! Elimination can square the number of rows at each step. All work is bounded by a [`Budget`].

use std::borrow::Borrow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use crate::linear::Linear;

/// A conjunction of inequalities, each at least 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System<V: Ord> {
    /// The inequalities, sorted, without duplicates.
    pub rows: Vec<Linear<V>>,
}

impl<V: Ord> Default for System<V> {
    fn default() -> Self {
        System { rows: Vec::new() }
    }
}

/// A system without some variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eliminated<V: Ord> {
    /// What holds of the others.
    pub system: System<V>,
    /// Whether every integer solution extends to integer values of the eliminated variables, as far
    /// as the coefficients show.
    pub exact: bool,
}

/// Bounds of one loop: the greatest of `ceil(lower / divisor)` and the least of
/// `floor(upper / divisor)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopBounds<V: Ord> {
    /// The variable.
    pub variable: V,
    /// Lower bounds over outer variables, with their divisors.
    pub lower: Vec<(Linear<V>, i128)>,
    /// Upper bounds (inclusive) over outer variables, with their divisors.
    pub upper: Vec<(Linear<V>, i128)>,
}

/// A nest of loops, outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nest<V: Ord> {
    /// What must hold of the other variables (the parameters) for there to be iterations; the
    /// bounds take it for granted.
    pub context: System<V>,
    /// The loops.
    pub loops: Vec<LoopBounds<V>>,
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

/// How much work may be done: rows at a time, and steps that are left. A step is a combination of
/// two rows, or what else a user counts as one.
#[derive(Clone, Debug)]
pub struct Budget {
    rows: usize,
    steps: Cell<u64>,
}

impl Budget {
    /// So many rows at a time and so many steps.
    pub fn new(rows: usize, steps: u64) -> Budget {
        Budget { rows, steps: Cell::new(steps) }
    }

    /// Takes some steps; whether there were so many.
    pub fn take(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps as u64);
        self.steps.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Steps that are left.
    pub fn left(&self) -> u64 {
        self.steps.get()
    }
}

impl Default for Budget {
    /// What is enough for systems of loops: about a second.
    fn default() -> Budget {
        Budget::new(MAX_ROWS, 2_000_000)
    }
}

/// Rows beyond which elimination stops where nothing else is said.
const MAX_ROWS: usize = 400;

/// Rows by their coefficients, each with the least constant: the others follow from it.
struct Rows<V: Ord>(BTreeMap<BTreeMap<V, i128>, i128>);

impl<V: Ord> Default for Rows<V> {
    fn default() -> Self {
        Rows(BTreeMap::new())
    }
}

impl<V: Ord + Clone> Rows<V> {
    /// Adds a row, unless it always holds. `false` if it never does.
    fn add(&mut self, row: Linear<V>) -> bool {
        let (terms, constant) = row.tightened().into_parts();
        let never = terms.is_empty() && constant < 0;
        if never || !terms.is_empty() {
            let slot = self.0.entry(terms).or_insert(constant);
            *slot = (*slot).min(constant);
        }
        !never
    }

    /// The variable that makes the fewest new rows.
    fn cheapest(&self) -> Option<V> {
        let mut counts: BTreeMap<&V, (usize, usize)> = BTreeMap::new();
        for (variable, coefficient) in self.0.keys().flatten() {
            let count = counts.entry(variable).or_default();
            if *coefficient > 0 { count.0 += 1 } else { count.1 += 1 }
        }
        counts
            .into_iter()
            .min_by_key(|(_, (lower, upper))| lower * upper)
            .map(|(variable, _)| variable.clone())
    }
}

/// `lower * -c + upper * d`, where `c` and `d` are the coefficients of the variable, without it.
fn combined<V: Ord + Clone>(variable: &V, lower: &Linear<V>, upper: &Linear<V>) -> Option<Linear<V>> {
    let (a, b) = (lower.coefficient(variable), upper.coefficient(variable));
    lower.times(b.checked_neg()?)?.plus_times(a, upper)
}

/// `row < 0` as an inequality.
pub fn opposite<V: Ord + Clone>(row: &Linear<V>) -> Option<Linear<V>> {
    row.negated()?.plus_constant(-1)
}

impl<V: Ord + Clone> System<V> {
    /// The conjunction of the rows, without duplicates and without those that another row of the
    /// same coefficients implies.
    pub fn new(rows: impl IntoIterator<Item = Linear<V>>) -> System<V> {
        let mut least = Rows::default();
        for row in rows {
            least.add(row);
        }
        System { rows: least.0.into_iter().map(|(terms, c)| Linear::from_parts(terms, c)).collect() }
    }

    /// Without `variable`: what holds of the others whatever its value.
    ///
    /// # Errors
    /// If the result has too many rows or coefficients.
    pub fn eliminate<Q: Ord + ?Sized>(&self, variable: &Q) -> Result<Eliminated<V>, TooLarge>
    where
        V: Borrow<Q>,
    {
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
                let (a, b) = (low.coefficient(variable), high.coefficient(variable));
                exact &= a == 1 || b == -1;
                let scaled = b.checked_neg().and_then(|b| low.times(b));
                rows.push(scaled.and_then(|low| low.plus_times(a, high)).ok_or(TooLarge)?);
            }
        }
        Ok(Eliminated { system: System::new(rows).pruned(), exact })
    }

    /// Without several variables, in this order.
    ///
    /// # Errors
    /// As [`System::eliminate`].
    pub fn eliminate_all<'a, Q: Ord + ?Sized + 'a>(
        &self,
        variables: impl IntoIterator<Item = &'a Q>,
    ) -> Result<Eliminated<V>, TooLarge>
    where
        V: Borrow<Q>,
    {
        let start = Eliminated { system: self.clone(), exact: true };
        variables.into_iter().try_fold(start, |done, variable| {
            let next = done.system.eliminate(variable)?;
            Ok(Eliminated { exact: done.exact && next.exact, ..next })
        })
    }

    /// Whether there is proved to be no integer solution, with this much work. `false` also where
    /// the proof would grow too large. A combination whose coefficients do not fit is left out,
    /// which only weakens the proof.
    pub fn is_empty_within(&self, budget: &Budget) -> bool {
        let mut rows = Rows::default();
        if !self.rows.iter().all(|row| rows.add(row.clone())) {
            return true;
        }
        while let Some(variable) = rows.cheapest() {
            let (mut lower, mut upper, mut rest) = (Vec::new(), Vec::new(), Rows::default());
            for (terms, constant) in rows.0 {
                match terms.get(&variable).map(|c| *c > 0) {
                    None => {
                        rest.0.insert(terms, constant);
                    }
                    Some(true) => lower.push(Linear::from_parts(terms, constant)),
                    Some(false) => upper.push(Linear::from_parts(terms, constant)),
                }
            }
            if rest.0.len() > budget.rows {
                return false;
            }
            for low in &lower {
                for high in &upper {
                    if !budget.take(1) {
                        return false;
                    }
                    let Some(row) = combined(&variable, low, high) else { continue };
                    if !rest.add(row) {
                        return true;
                    }
                    if rest.0.len() > budget.rows {
                        return false;
                    }
                }
            }
            rows = rest;
        }
        false
    }

    /// Whether the system is proved to imply `row >= 0` over the integers.
    pub fn implies(&self, row: &Linear<V>, budget: &Budget) -> bool {
        if let Some(constant) = row.as_constant()
            && constant >= 0
        {
            return true;
        }
        opposite(row).is_some_and(|opposite| {
            let mut rows = self.rows.clone();
            rows.push(opposite);
            System { rows }.is_empty_within(budget)
        })
    }

    /// Without the rows that the others imply.
    pub fn pruned(&self) -> System<V> {
        self.pruned_within(&Budget::default())
    }

    /// As [`System::pruned`], with this much work; rows that no steps are left for stay.
    pub fn pruned_within(&self, budget: &Budget) -> System<V> {
        let mut rows = self.rows.clone();
        drop_implied(&mut rows, &[], budget);
        System { rows }
    }

    /// Loop bounds for `order`, outermost first: variables are eliminated from the inside out, then
    /// bounds that outer loops already imply are pruned.
    ///
    /// # Errors
    /// As [`System::eliminate`].
    pub fn loop_bounds(&self, order: &[V]) -> Result<Nest<V>, TooLarge> {
        let mut system = self.pruned();
        let mut own = Vec::new();
        for variable in order.iter().rev() {
            own.push(system.rows.iter().filter(|row| row.mentions(variable)).cloned().collect::<Vec<_>>());
            system = system.eliminate(variable)?.system;
        }
        own.reverse();
        // What is known outside the loops is the context; each loop adds its own bounds for the
        // loops inside it.
        let context = system;
        let mut known = context.rows.clone();
        let mut loops = Vec::new();
        for (variable, mut kept) in order.iter().zip(own) {
            drop_implied(&mut kept, &known, &Budget::default());
            let side = |sign: i128| -> Option<Vec<(Linear<V>, i128)>> {
                let rows = kept.iter().filter(|row| row.coefficient(variable).signum() == sign);
                rows.map(|row| {
                    let rest = row.split(variable).1;
                    let bound = if sign > 0 { rest.negated()? } else { rest };
                    Some((bound, row.coefficient(variable).checked_abs()?))
                })
                .collect()
            };
            let (lower, upper) = side(1).zip(side(-1)).ok_or(TooLarge)?;
            loops.push(LoopBounds { variable: variable.clone(), lower, upper });
            known.extend(kept);
        }
        Ok(Nest { context, loops })
    }
}

/// Takes out the rows that the others and what is known imply, the first ones first. Rows that no
/// steps are left for stay.
pub fn drop_implied<V: Ord + Clone>(rows: &mut Vec<Linear<V>>, known: &[Linear<V>], budget: &Budget) {
    let mut at = 0;
    while at < rows.len() {
        let row = rows.remove(at);
        let implied = opposite(&row).is_some_and(|opposite| {
            let others = known.iter().chain(&*rows).cloned().chain([opposite]);
            System { rows: others.collect() }.is_empty_within(budget)
        });
        if !implied {
            rows.insert(at, row);
            at += 1;
        }
    }
}

impl<V: Ord + fmt::Display> fmt::Display for System<V> {
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

impl<V: Ord + fmt::Display> fmt::Display for Nest<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.context.rows.is_empty() {
            write!(f, "if {}: ", self.context)?;
        }
        let loops: Vec<String> = self.loops.iter().map(LoopBounds::to_string).collect();
        f.write_str(&loops.join("; "))
    }
}

impl<V: Ord + fmt::Display> fmt::Display for LoopBounds<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |bounds: &[(Linear<V>, i128)], round: &str, choose: &str, none: &str| {
            let one = |(row, divisor): &(Linear<V>, i128)| match divisor {
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
