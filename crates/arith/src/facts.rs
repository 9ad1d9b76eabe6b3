//! What is known of integers, and what follows from it.
//!
//! Facts are polynomials that are not negative, and atoms that are multiples of numbers. Questions
//! are answered by three means: elimination over the products of atoms
//! ([`Facts::nonnegative`]), taking facts away from what is asked until every term is plainly not
//! negative ([`Facts::nonnegative_term_by_term`]), and common divisors ([`Facts::divisor_of`]).
//! All are incomplete and bounded: `true` is a proof, `false` means "not shown".

use crate::fourier_motzkin::{Budget, System};
use crate::linear::Linear;
use crate::number::{gcd, trunc_div, trunc_rem};
use crate::polynomial::{Monomial, Polynomial};

/// Known inequalities and multiples.
#[derive(Clone, Debug)]
pub struct Facts<V> {
    natural: Vec<Polynomial<V>>,
    multiples: Vec<(V, i128)>,
}

impl<V> Default for Facts<V> {
    fn default() -> Self {
        Facts { natural: Vec::new(), multiples: Vec::new() }
    }
}

impl<V: Ord + Clone> Facts<V> {
    /// From here on the polynomial is at least 0.
    pub fn learn(&mut self, natural: Polynomial<V>) {
        if !self.natural.contains(&natural) {
            self.natural.push(natural);
        }
    }

    /// From here on the atom is a multiple of a number.
    pub fn learn_multiple(&mut self, atom: V, number: i128) {
        self.multiples.push((atom, number));
    }

    /// Forgets what mentions an atom of a kind.
    pub fn forget(&mut self, mut concerns: impl FnMut(&V) -> bool) {
        self.natural.retain(|fact| !fact.atoms().into_iter().any(&mut concerns));
        self.multiples.retain(|(atom, _)| !concerns(atom));
    }

    /// The polynomials that are known not to be negative, in the order in which they were learned.
    pub fn natural(&self) -> &[Polynomial<V>] {
        &self.natural
    }

    /// Whether the polynomial is at least 0, by elimination over its products of atoms and those of
    /// the facts that have to do with it, directly or through others.
    pub fn nonnegative(&self, asked: &Polynomial<V>, budget: &Budget) -> bool {
        if let Some(constant) = asked.as_constant() {
            return constant >= 0;
        }
        // A multiple of g that is above -g is at least 0.
        let Some(asked) = asked.plus_constant(self.divisor_of(asked) - 1) else { return false };
        let goal = asked.linearized();
        let mut rows: Vec<Linear<Monomial<V>>> = self.natural.iter().map(Polynomial::linearized).collect();
        let squares = |m: &&Monomial<V>| m.degree() > 1 && m.factors().all(|(_, exponent)| exponent % 2 == 0);
        let all = rows.iter().flat_map(Linear::variables).chain(goal.variables());
        let squares: Vec<Monomial<V>> = all.filter(squares).cloned().collect();
        rows.extend(squares.into_iter().map(Linear::name));
        System { rows: concerning(&goal, rows) }.implies(&goal, budget)
    }

    /// A number of which the polynomial is a multiple, at least 1.
    pub fn divisor_of(&self, polynomial: &Polynomial<V>) -> i128 {
        let of_atom = |atom: &V| self.multiples.iter().find(|(own, _)| own == atom).map_or(1, |(_, n)| *n);
        let of_term = |(monomial, c): (&Monomial<V>, i128)| {
            // What does not fit is left out: the rest divides as well.
            monomial.expanded().fold(c, |all, atom| all.checked_mul(of_atom(atom)).unwrap_or(all))
        };
        polynomial.terms().map(of_term).fold(0, gcd).max(1)
    }

    /// The largest constant that some fact gives as a lower bound of an atom.
    pub fn least(&self, atom: &V) -> Option<i128> {
        let this = Polynomial::atom(atom.clone());
        self.natural.iter().filter_map(|fact| this.minus(fact)?.as_constant()).max()
    }

    /// Whether all coefficients are natural when every atom is counted from its least value, after
    /// at most so many facts that cancel a negative term are taken away. Polynomials of more terms
    /// than given are not multiplied out.
    pub fn nonnegative_term_by_term(
        &self,
        asked: &Polynomial<V>,
        most_facts: usize,
        most_terms: usize,
    ) -> bool {
        let counted = |asked: &Polynomial<V>| {
            let mut from = Vec::new();
            for atom in asked.atoms() {
                let least = self.least(atom)?;
                from.push((atom.clone(), Polynomial::atom(atom.clone()).plus_constant(least)?));
            }
            let by = |atom: &V| from.iter().find(|(own, _)| own == atom).map(|(_, by)| by);
            Some(asked.replace(by, most_terms)?.terms().all(|(_, c)| c >= 0))
        };
        if counted(asked) == Some(true) {
            return true;
        }
        let mut without = self.without_facts(asked, |have, c| c < 0 && have < 0);
        let next = most_facts.saturating_sub(1);
        most_facts > 0 && without.any(|rest| self.nonnegative_term_by_term(&rest, next, most_terms))
    }

    /// What is left of a polynomial when a fact is taken away as often as cancels the first of its
    /// terms that is as asked (of the coefficients in the polynomial and in the fact): the
    /// polynomial is at least 0 if one of these is.
    pub fn without_facts<'a>(
        &'a self,
        from: &'a Polynomial<V>,
        cancels: impl Fn(i128, i128) -> bool + 'a,
    ) -> impl Iterator<Item = Polynomial<V>> + 'a {
        self.natural.iter().filter_map(move |fact| {
            let times =
                fact.terms().filter(|(monomial, _)| !monomial.is_one()).find_map(|(monomial, c)| {
                    let have = from.coefficient(monomial);
                    let times = trunc_div(have, c).filter(|_| trunc_rem(have, c) == Some(0))?;
                    (times > 0 && cancels(have, c)).then_some(times)
                })?;
            from.minus(&fact.scaled(times)?)
        })
    }
}

/// The rows that share variables with the goal, directly or through others.
fn concerning<V: Ord + Clone>(goal: &Linear<V>, rows: Vec<Linear<V>>) -> Vec<Linear<V>> {
    let mut names: std::collections::BTreeSet<V> = goal.variables().cloned().collect();
    let (mut chosen, mut left) = (Vec::new(), rows);
    loop {
        let (next, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|row| row.variables().any(|name| names.contains(name)));
        if next.is_empty() {
            return chosen;
        }
        names.extend(next.iter().flat_map(Linear::variables).cloned());
        chosen.extend(next);
        left = others;
    }
}
