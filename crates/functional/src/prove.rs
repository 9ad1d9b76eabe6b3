//! A small decision procedure: is a size at least 0 for all natural values of its parameters, given
//! that other sizes are?
//!
//! The goal is refuted. Linear constraints over monomials are collected: the negated goal, the
//! facts, what holds of quotients and remainders, and some products of these. Fourier-Motzkin
//! elimination ([`arith::System`]) derives a contradiction. `true` is a proof. `false` means "not
//! shown", also if the work would exceed a bound.

use std::collections::{BTreeMap, BTreeSet};

use arith::fourier_motzkin::opposite;
use arith::{Budget, Linear, System};
use loops::Size;
use loops::size::Factor;

/// Quotients within quotients deeper than this are not looked into.
const MAX_NESTING: u32 = 4;
/// Largest number of constraints at any time.
const MAX_CONSTRAINTS: usize = 160;
/// Largest number of different monomials.
const MAX_MONOMIALS: usize = 40;

/// Most combinations of constraints for one question.
const MAX_WORK: u64 = 2000;
/// What a question within a question counts for.
const NESTED_WORK: usize = 40;

/// A product of atoms; each atom is a size of one factor.
type Monomial = arith::Monomial<Size>;

/// `sum of coefficient * monomial + constant`. As a constraint: at least 0.
type Row = Linear<Monomial>;

/// A size as a sum of monomials; none beyond 128 bits, which sizes do not reach.
fn row(size: &Size) -> Option<Row> {
    let terms = size.terms().map(|(coefficient, factors)| {
        let factors = factors.into_iter().map(|(factor, e)| (factor.to_size(), e));
        Some((Monomial::product(factors)?, i128::from(coefficient)))
    });
    Some(arith::Polynomial::sum(terms.collect::<Option<Vec<_>>>()?)?.linearized())
}

/// A row, multiplied by an atom.
fn times(row: &Row, atom: &Size) -> Option<Row> {
    let factor = Monomial::of(atom.clone());
    let terms = row.terms().map(|(monomial, c)| Some((monomial.times(&factor)?, c)));
    let constant = (factor.clone(), row.constant_term());
    Linear::sum(terms.chain([Some(constant)]).collect::<Option<Vec<_>>>()?, 0)
}

/// Whether `goal >= 0` follows from all of `known` being at least 0.
pub fn nonnegative(known: &[Size], goal: &Size) -> bool {
    goal.is_natural() || nested(known, goal, MAX_NESTING, &Budget::new(MAX_CONSTRAINTS, MAX_WORK))
}

/// Whether both sizes are equal by what is known.
pub fn equal(known: &[Size], left: &Size, right: &Size) -> bool {
    let difference = left.clone() - right.clone();
    match difference.as_constant() {
        Some(c) => c == 0,
        None => nonnegative(known, &difference) && nonnegative(known, &-difference),
    }
}

fn nested(known: &[Size], goal: &Size, nesting: u32, work: &Budget) -> bool {
    if let Some(c) = goal.as_constant() {
        return c >= 0;
    }
    if goal.is_natural() {
        return true;
    }
    if nesting == 0 || work.left() < NESTED_WORK as u64 || !work.take(NESTED_WORK) {
        return false;
    }
    let mut question = Question {
        known,
        nesting,
        work,
        constraints: BTreeSet::new(),
        atoms: BTreeMap::new(),
        multipliers: BTreeSet::new(),
    };
    question.refutes(goal).unwrap_or(false)
}

struct Question<'a> {
    known: &'a [Size],
    nesting: u32,
    work: &'a Budget,
    constraints: BTreeSet<Row>,
    /// Atoms that have been looked at, and whether each is at least 0.
    atoms: BTreeMap<Size, bool>,
    /// Atoms to multiply with: divisors, and factors of products in the goal.
    multipliers: BTreeSet<Size>,
}

impl Question<'_> {
    fn refutes(&mut self, goal: &Size) -> Option<bool> {
        let negated = opposite(&row(goal)?)?;
        self.insert(Some(negated.clone()));
        for fact in self.known {
            self.insert(row(fact));
        }
        self.atoms_of(goal)?;
        for fact in self.known {
            self.atoms_of(fact)?;
        }
        self.products(&negated);
        let monomials: BTreeSet<Monomial> =
            self.constraints.iter().flat_map(Row::variables).cloned().collect();
        if monomials.len() > MAX_MONOMIALS {
            return None;
        }
        for monomial in &monomials {
            if monomial.factors().all(|(atom, e)| e % 2 == 0 || self.atoms.get(atom) == Some(&true)) {
                self.insert(Some(Linear::name(monomial.clone())));
            }
        }
        let rows = std::mem::take(&mut self.constraints).into_iter().collect();
        Some(System { rows }.is_empty_within(self.work))
    }

    /// Adds a constraint. One that has no form is left out, which proves less.
    fn insert(&mut self, row: Option<Row>) {
        let row = row.map(Row::tightened);
        self.constraints.extend(row.filter(|row| row.as_constant().is_none_or(|constant| constant < 0)));
    }

    fn holds(&self, size: &Size) -> bool {
        size.is_natural() || nested(self.known, size, self.nesting - 1, self.work)
    }

    /// Notes the atoms of a size, and what holds of its quotients and remainders.
    fn atoms_of(&mut self, size: &Size) -> Option<()> {
        let mut found: Vec<Size> = Vec::new();
        for (_, factors) in size.terms() {
            let degree: u32 = factors.iter().map(|(_, e)| e).sum();
            for (factor, _) in factors {
                let atom = factor.to_size();
                if degree > 1 {
                    self.multipliers.insert(atom.clone());
                }
                if !self.atoms.contains_key(&atom) {
                    found.push(atom);
                }
            }
        }
        for atom in found {
            let (_, factors) = atom.terms().next()?;
            let natural = match factors.first()?.0 {
                Factor::Param(_) => true,
                Factor::Sum(a, b) | Factor::Product(a, b) => self.holds(a) && self.holds(b),
                Factor::Quotient(a, b) | Factor::Remainder(a, b) => {
                    self.division(a, b)?;
                    self.holds(a) && self.holds(b)
                }
            };
            self.atoms.insert(atom, natural);
        }
        Some(())
    }

    /// What holds of `q = a / b` and `r = a % b`. It is `a = b * q + r`, and `0 <= r < b` if
    /// `b > 0`. If only `b >= 0` and `a >= 0`, it is `0 <= b * q <= a` and `0 <= r <= a` (`b = 0`
    /// gives `q = 0`, `r = a`).
    fn division(&mut self, a: &Size, b: &Size) -> Option<()> {
        let (q, r) = (a.div(b), a.rem(b));
        let whole = b.clone() * q.clone() + r.clone() - a.clone();
        self.insert(row(&whole));
        self.insert(row(&-whole));
        let natural = self.holds(a) && self.holds(b);
        let positive = self.holds(&(b.clone() - Size::constant(1)));
        for size in [&q, &r] {
            self.atoms.entry(size.clone()).or_insert(natural || (positive && size == &r));
        }
        if positive {
            self.insert(row(&r));
            self.insert(row(&(b.clone() - Size::constant(1) - r.clone())));
        }
        if natural {
            self.insert(row(&(a.clone() - r.clone())));
            self.insert(row(&r));
            self.insert(row(&q));
        }
        for (_, factors) in b.terms() {
            self.multipliers.extend(factors.into_iter().map(|(factor, _)| factor.to_size()));
        }
        self.atoms_of(a)?;
        self.atoms_of(b)
    }

    /// Adds products of the constraints with atoms that are at least 0.
    fn products(&mut self, negated: &Row) {
        let multipliers: Vec<Size> =
            self.multipliers.iter().filter(|m| self.atoms.get(*m) == Some(&true)).cloned().collect();
        let base: Vec<Row> = self.constraints.iter().cloned().collect();
        for atom in &multipliers {
            self.insert(times(negated, atom));
        }
        for row in base {
            let degree = row.variables().map(Monomial::degree).max().unwrap_or(0);
            for atom in multipliers.iter().filter(|_| degree <= 1) {
                if self.constraints.len() < MAX_CONSTRAINTS / 2 {
                    self.insert(times(&row, atom));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(name: &str) -> Size {
        Size::param(name)
    }

    fn c(value: i64) -> Size {
        Size::constant(value)
    }

    #[test]
    fn proves_what_holds() {
        let (n, m, k) = (p("n"), p("m"), p("k"));
        assert!(nonnegative(&[n.clone() - c(3)], &(n.clone() - c(2))));
        // n / 4 <= n, and 4 * (n / 4) <= n.
        assert!(nonnegative(&[], &(n.clone() - n.div(&c(4)))));
        assert!(nonnegative(&[], &(n.clone() - c(4) * n.div(&c(4)))));
        // A symbolic divisor, which may be 0.
        assert!(nonnegative(&[], &(n.clone() - k.clone() * n.div(&k))));
        assert!(nonnegative(&[k.clone() - c(1)], &(k.clone() - c(1) - n.rem(&k))));
        // n % k = 0 makes k * (n / k) equal to n.
        let known = [-n.rem(&k)];
        assert!(equal(&known, &(k.clone() * n.div(&k)), &n));
        // (k * m) / k = m for k >= 1.
        let product = k.clone() * m.clone();
        assert!(equal(&[k.clone() - c(1)], &product.div(&k), &m));
        // (s * m) / s - 1 with windows: ((m - 1) * s + w - w) / s + 1 = m.
        assert!(nonnegative(&[m.clone() - c(1), n.clone() - m.clone()], &(n * m.clone() - m)));
    }

    #[test]
    fn does_not_prove_what_fails_somewhere() {
        let (n, m, k) = (p("n"), p("m"), p("k"));
        assert!(!nonnegative(&[], &(n.clone() - c(1))));
        assert!(!equal(&[], &(k.clone() * n.div(&k)), &n));
        assert!(!equal(&[], &(k.clone() * m.clone()).div(&k), &m));
        assert!(!nonnegative(&[], &(k.clone() - c(1) - n.rem(&k))));
        assert!(!nonnegative(&[m.clone() - n.clone()], &(n - m)));
    }
}
