//! A small decision procedure: is a size at least 0 for all natural values of its parameters, given
//! that other sizes are?
//!
//! The goal is refuted. Linear constraints over monomials are collected: the negated goal, the
//! facts, what holds of quotients and remainders, and some products of these. Fourier-Motzkin
//! elimination derives a contradiction. `true` is a proof. `false` means "not shown", also if the
//! work would exceed a bound.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use loops::Size;
use loops::size::Factor;

/// Quotients within quotients deeper than this are not looked into.
const MAX_NESTING: u32 = 4;
/// Largest number of constraints at any time.
const MAX_CONSTRAINTS: usize = 160;
/// Largest number of different monomials.
const MAX_MONOMIALS: usize = 40;

/// Most combinations of constraints for one question.
const MAX_WORK: u32 = 2000;
/// What a question within a question counts for.
const NESTED_WORK: u32 = 40;

/// A product of atoms; each atom is a size of one factor.
type Monomial = BTreeMap<Size, u32>;

/// `sum of coefficient * monomial`; the empty monomial is 1. As a constraint: at least 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Poly(BTreeMap<Monomial, i128>);

impl Poly {
    fn of(size: &Size) -> Poly {
        let terms = size.terms().map(|(coefficient, factors)| {
            let monomial = factors.into_iter().map(|(factor, e)| (factor.to_size(), e)).collect();
            (monomial, i128::from(coefficient))
        });
        Poly(terms.collect())
    }

    fn constant(value: i128) -> Poly {
        Poly(BTreeMap::from([(Monomial::new(), value)]))
    }

    fn add_scaled(&mut self, other: &Poly, factor: i128) -> Option<()> {
        for (monomial, coefficient) in &other.0 {
            let slot = self.0.entry(monomial.clone()).or_insert(0);
            *slot = slot.checked_add(coefficient.checked_mul(factor)?)?;
        }
        self.0.retain(|_, c| *c != 0);
        Some(())
    }

    fn times(&self, atom: &Size) -> Poly {
        let product = self.0.iter().map(|(monomial, c)| {
            let mut monomial = monomial.clone();
            *monomial.entry(atom.clone()).or_insert(0) += 1;
            (monomial, *c)
        });
        Poly(product.collect())
    }

    /// Divides by the common divisor of the coefficients. The constant is rounded down, since all
    /// monomials are integers.
    fn tighten(mut self) -> Poly {
        let gcd = self.0.iter().filter(|(m, _)| !m.is_empty()).fold(0, |g, (_, c)| gcd(g, c.unsigned_abs()));
        if let Some(gcd) = i128::try_from(gcd).ok().filter(|g| *g > 1) {
            for coefficient in self.0.values_mut() {
                *coefficient = coefficient.div_euclid(gcd);
            }
            self.0.retain(|_, c| *c != 0);
        }
        self
    }

    fn is_contradiction(&self) -> bool {
        self.0.len() == 1 && self.0.get(&Monomial::new()).is_some_and(|c| *c < 0)
    }

    fn is_trivial(&self) -> bool {
        self.0.iter().all(|(m, c)| m.is_empty() && *c >= 0)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether `goal >= 0` follows from all of `known` being at least 0.
pub fn nonnegative(known: &[Size], goal: &Size) -> bool {
    goal.is_natural() || nested(known, goal, MAX_NESTING, &Cell::new(MAX_WORK))
}

/// Whether both sizes are equal by what is known.
pub fn equal(known: &[Size], left: &Size, right: &Size) -> bool {
    let difference = left.clone() - right.clone();
    match difference.as_constant() {
        Some(c) => c == 0,
        None => nonnegative(known, &difference) && nonnegative(known, &-difference),
    }
}

fn nested(known: &[Size], goal: &Size, nesting: u32, work: &Cell<u32>) -> bool {
    if let Some(c) = goal.as_constant() {
        return c >= 0;
    }
    if goal.is_natural() {
        return true;
    }
    if nesting == 0 || work.get() < NESTED_WORK {
        return false;
    }
    work.set(work.get() - NESTED_WORK);
    let mut system = System {
        known,
        nesting,
        work,
        constraints: BTreeSet::new(),
        atoms: BTreeMap::new(),
        multipliers: BTreeSet::new(),
    };
    system.refutes(goal).unwrap_or(false)
}

struct System<'a> {
    known: &'a [Size],
    nesting: u32,
    work: &'a Cell<u32>,
    constraints: BTreeSet<Poly>,
    /// Atoms that have been looked at, and whether each is at least 0.
    atoms: BTreeMap<Size, bool>,
    /// Atoms to multiply with: divisors, and factors of products in the goal.
    multipliers: BTreeSet<Size>,
}

impl System<'_> {
    fn refutes(&mut self, goal: &Size) -> Option<bool> {
        let mut negated = Poly::constant(-1);
        negated.add_scaled(&Poly::of(goal), -1)?;
        self.insert(negated.clone());
        for fact in self.known {
            self.insert(Poly::of(fact));
        }
        self.atoms_of(goal)?;
        for fact in self.known {
            self.atoms_of(fact)?;
        }
        self.products(&negated);
        let monomials: BTreeSet<Monomial> =
            self.constraints.iter().flat_map(|p| p.0.keys()).filter(|m| !m.is_empty()).cloned().collect();
        if monomials.len() > MAX_MONOMIALS {
            return None;
        }
        for monomial in &monomials {
            if monomial.iter().all(|(atom, e)| e % 2 == 0 || self.atoms.get(atom) == Some(&true)) {
                self.insert(Poly(BTreeMap::from([(monomial.clone(), 1)])));
            }
        }
        eliminate(std::mem::take(&mut self.constraints), self.work)
    }

    fn insert(&mut self, poly: Poly) {
        let poly = poly.tighten();
        if !poly.is_trivial() {
            self.constraints.insert(poly);
        }
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
        self.insert(Poly::of(&whole));
        self.insert(Poly::of(&-whole));
        let natural = self.holds(a) && self.holds(b);
        let positive = self.holds(&(b.clone() - Size::constant(1)));
        for size in [&q, &r] {
            self.atoms.entry(size.clone()).or_insert(natural || (positive && size == &r));
        }
        if positive {
            self.insert(Poly::of(&r));
            self.insert(Poly::of(&(b.clone() - Size::constant(1) - r.clone())));
        }
        if natural {
            self.insert(Poly::of(&(a.clone() - r.clone())));
            self.insert(Poly::of(&r));
            self.insert(Poly::of(&q));
        }
        for (_, factors) in b.terms() {
            self.multipliers.extend(factors.into_iter().map(|(factor, _)| factor.to_size()));
        }
        self.atoms_of(a)?;
        self.atoms_of(b)
    }

    /// Adds products of the constraints with atoms that are at least 0.
    fn products(&mut self, negated: &Poly) {
        let multipliers: Vec<Size> =
            self.multipliers.iter().filter(|m| self.atoms.get(*m) == Some(&true)).cloned().collect();
        let base: Vec<Poly> = self.constraints.iter().cloned().collect();
        for atom in &multipliers {
            self.insert(negated.times(atom));
        }
        for poly in base {
            let degree = poly.0.keys().map(|m| m.values().sum::<u32>()).max().unwrap_or(0);
            for atom in multipliers.iter().filter(|_| degree <= 1) {
                if self.constraints.len() < MAX_CONSTRAINTS / 2 {
                    self.insert(poly.times(atom));
                }
            }
        }
    }
}

/// Whether the constraints contradict each other; `None` where it would be too much work.
fn eliminate(mut constraints: BTreeSet<Poly>, work: &Cell<u32>) -> Option<bool> {
    loop {
        if constraints.iter().any(Poly::is_contradiction) {
            return Some(true);
        }
        let mut counts: BTreeMap<&Monomial, (usize, usize)> = BTreeMap::new();
        for (monomial, coefficient) in constraints.iter().flat_map(|p| &p.0).filter(|(m, _)| !m.is_empty()) {
            let slot = counts.entry(monomial).or_default();
            if *coefficient > 0 { slot.0 += 1 } else { slot.1 += 1 }
        }
        let cheapest = counts.iter().min_by_key(|(_, (up, down))| up * down);
        let Some(monomial) = cheapest.map(|(m, _)| (*m).clone()) else { return Some(false) };
        let (mut uppers, mut lowers, mut rest) = (Vec::new(), Vec::new(), BTreeSet::new());
        for poly in constraints {
            match poly.0.get(&monomial) {
                None => {
                    rest.insert(poly);
                }
                Some(c) if *c > 0 => lowers.push((*c, poly)),
                Some(c) => uppers.push((c.checked_neg()?, poly)),
            }
        }
        for (a, lower) in &lowers {
            for (b, upper) in &uppers {
                work.set(work.get().checked_sub(1)?);
                let mut sum = Poly::default();
                sum.add_scaled(lower, *b)?;
                sum.add_scaled(upper, *a)?;
                let sum = sum.tighten();
                if !sum.is_trivial() {
                    rest.insert(sum);
                }
                if rest.len() > MAX_CONSTRAINTS {
                    return None;
                }
            }
        }
        constraints = rest;
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
