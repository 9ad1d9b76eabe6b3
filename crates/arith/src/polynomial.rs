//! Polynomials with integer coefficients over atoms of any ordered type, in normal form.
//!
//! Two polynomials are equal exactly if they have the same normal form. Coefficients and exponents
//! are exact: what does not fit has no polynomial. How many terms are too many is up to the user.

use std::collections::BTreeMap;

use crate::linear::Linear;
use crate::number::{Integer, trunc_div, trunc_rem};

/// A product of atoms with exponents of at least 1, sorted by atom. The empty product is 1.
///
/// Products are ordered like lists of pairs of atom and exponent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Monomial<V>(Vec<(V, u32)>);

impl<V> Default for Monomial<V> {
    fn default() -> Self {
        Monomial(Vec::new())
    }
}

impl<V: Ord + Clone> Monomial<V> {
    /// The empty product.
    pub fn one() -> Self {
        Monomial::default()
    }

    /// The atom alone.
    pub fn of(atom: V) -> Self {
        Monomial(vec![(atom, 1)])
    }

    /// The product of powers, in any order. None if an exponent does not fit.
    pub fn product(factors: impl IntoIterator<Item = (V, u32)>) -> Option<Self> {
        factors.into_iter().try_fold(Monomial::one(), |product, (atom, exponent)| {
            if exponent == 0 { Some(product) } else { product.times(&Monomial(vec![(atom, exponent)])) }
        })
    }

    /// Atoms with their exponents, in order.
    pub fn factors(&self) -> impl DoubleEndedIterator<Item = (&V, u32)> + Clone {
        self.0.iter().map(|(atom, exponent)| (atom, *exponent))
    }

    /// The atoms, each as often as its exponent says.
    pub fn expanded(&self) -> impl Iterator<Item = &V> + Clone {
        self.0.iter().flat_map(|(atom, exponent)| std::iter::repeat_n(atom, *exponent as usize))
    }

    /// The atom, if it is just that.
    pub fn as_atom(&self) -> Option<&V> {
        match self.0.as_slice() {
            [(atom, 1)] => Some(atom),
            _ => None,
        }
    }

    /// The sum of the exponents.
    pub fn degree(&self) -> usize {
        self.0.iter().map(|(_, exponent)| *exponent as usize).sum()
    }

    /// Whether it is the empty product.
    pub fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    /// The exponent of an atom, 0 if it does not occur.
    pub fn exponent(&self, atom: &V) -> u32 {
        self.0.binary_search_by(|(own, _)| own.cmp(atom)).map_or(0, |at| self.0[at].1)
    }

    /// The product; none if an exponent does not fit.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (None, None) => return Some(Monomial(product)),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => a.0.cmp(&b.0),
            };
            let own = if order.is_le() { ours.next() } else { None };
            let more = if order.is_ge() { theirs.next() } else { None };
            let exponent = own.map_or(0, |f| f.1).checked_add(more.map_or(0, |f| f.1))?;
            if let Some((atom, _)) = own.or(more) {
                product.push((atom.clone(), exponent));
            }
        }
    }

    /// The quotient, if the other product divides it.
    pub fn over(&self, divisor: &Self) -> Option<Self> {
        let mut left = self.0.clone();
        for (atom, exponent) in &divisor.0 {
            let at = left.binary_search_by(|(own, _)| own.cmp(atom)).ok()?;
            left[at].1 = left[at].1.checked_sub(*exponent)?;
            if left[at].1 == 0 {
                left.remove(at);
            }
        }
        Some(Monomial(left))
    }

    /// The exponent of an atom, and the product without it.
    pub fn without(&self, atom: &V) -> (u32, Self) {
        let rest = self.0.iter().filter(|(own, _)| own != atom).cloned().collect();
        (self.exponent(atom), Monomial(rest))
    }
}

/// A sum of products of atoms. No coefficient is 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Polynomial<V, C = i128> {
    terms: BTreeMap<Monomial<V>, C>,
}

impl<V, C> Default for Polynomial<V, C> {
    fn default() -> Self {
        Polynomial { terms: BTreeMap::new() }
    }
}

impl<V: Ord + Clone, C: Integer> Polynomial<V, C> {
    /// A number.
    pub fn constant(value: C) -> Self {
        Polynomial::term(Monomial::one(), value)
    }

    /// An atom.
    pub fn atom(atom: V) -> Self {
        Polynomial::term(Monomial::of(atom), C::ONE)
    }

    /// `coefficient * monomial`.
    pub fn term(monomial: Monomial<V>, coefficient: C) -> Self {
        let terms = (coefficient != C::ZERO).then_some((monomial, coefficient));
        Polynomial { terms: terms.into_iter().collect() }
    }

    /// The same as a polynomial.
    pub fn of_linear(form: &Linear<V, C>) -> Self {
        let mut terms: BTreeMap<Monomial<V>, C> =
            form.terms().map(|(atom, c)| (Monomial::of(atom.clone()), c)).collect();
        if form.constant_term() != C::ZERO {
            terms.insert(Monomial::one(), form.constant_term());
        }
        Polynomial { terms }
    }

    /// The same as a linear form, if it has no products.
    pub fn as_linear(&self) -> Option<Linear<V, C>> {
        let names = self.terms.iter().filter(|(monomial, _)| !monomial.is_one());
        let names = names.map(|(monomial, c)| Some((monomial.as_atom()?.clone(), *c)));
        Linear::sum(names.collect::<Option<Vec<_>>>()?, self.constant_term())
    }

    /// The linear form in which each product of atoms is a variable.
    pub fn linearized(&self) -> Linear<Monomial<V>, C> {
        let products = self.terms.iter().filter(|(monomial, _)| !monomial.is_one());
        Linear::from_parts(products.map(|(m, c)| (m.clone(), *c)).collect(), self.constant_term())
    }

    /// Products with their coefficients, in order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial<V>, C)> + Clone {
        self.terms.iter().map(|(monomial, c)| (monomial, *c))
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether it is 0.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value, if there are no atoms.
    pub fn as_constant(&self) -> Option<C> {
        match self.terms.len() {
            0 => Some(C::ZERO),
            1 => self.terms.get(&Monomial::one()).copied(),
            _ => None,
        }
    }

    /// The only term, if there is one and no other.
    pub fn single_term(&self) -> Option<(&Monomial<V>, C)> {
        let mut terms = self.terms();
        match (terms.next(), terms.next()) {
            (Some(term), None) => Some(term),
            _ => None,
        }
    }

    /// The coefficient of a product, 0 if it does not occur.
    pub fn coefficient(&self, monomial: &Monomial<V>) -> C {
        self.terms.get(monomial).copied().unwrap_or(C::ZERO)
    }

    /// The number beside the products.
    pub fn constant_term(&self) -> C {
        self.coefficient(&Monomial::one())
    }

    /// The atoms that occur, each once, in order.
    pub fn atoms(&self) -> Vec<&V> {
        let mut atoms: Vec<&V> = self.terms.keys().flat_map(|m| m.factors().map(|(atom, _)| atom)).collect();
        atoms.sort();
        atoms.dedup();
        atoms
    }

    fn add_term(&mut self, monomial: Monomial<V>, coefficient: C) -> Option<()> {
        use std::collections::btree_map::Entry;
        match self.terms.entry(monomial) {
            Entry::Vacant(_) if coefficient == C::ZERO => {}
            Entry::Vacant(slot) => {
                slot.insert(coefficient);
            }
            Entry::Occupied(mut slot) => match slot.get().plus(coefficient)? {
                sum if sum == C::ZERO => {
                    slot.remove();
                }
                sum => {
                    slot.insert(sum);
                }
            },
        }
        Some(())
    }

    /// The sum of these terms, if it fits.
    pub fn sum(terms: impl IntoIterator<Item = (Monomial<V>, C)>) -> Option<Self> {
        let mut sum = Polynomial::default();
        for (monomial, coefficient) in terms {
            sum.add_term(monomial, coefficient)?;
        }
        Some(sum)
    }

    /// `self + factor * other`, if it fits.
    pub fn plus_times(&self, factor: C, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.terms {
            sum.add_term(monomial.clone(), coefficient.times(factor)?)?;
        }
        Some(sum)
    }

    /// The sum, if it fits.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.plus_times(C::ONE, other)
    }

    /// The difference, if it fits.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let mut difference = self.clone();
        for (monomial, coefficient) in &other.terms {
            difference.add_term(monomial.clone(), coefficient.negated()?)?;
        }
        Some(difference)
    }

    /// The sum with a number, if it fits.
    pub fn plus_constant(&self, number: C) -> Option<Self> {
        let mut sum = self.clone();
        sum.add_term(Monomial::one(), number)?;
        Some(sum)
    }

    /// The product with a number, if it fits.
    pub fn scaled(&self, factor: C) -> Option<Self> {
        Polynomial::default().plus_times(factor, self)
    }

    /// The product, if it fits. It may have as many terms as the factors have pairs.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Polynomial::default();
        for (own, a) in &self.terms {
            for (theirs, b) in &other.terms {
                product.add_term(own.times(theirs)?, a.times(*b)?)?;
            }
        }
        Some(product)
    }

    /// The product with a term, if it fits.
    pub(crate) fn times_term(&self, monomial: &Monomial<V>, coefficient: C) -> Option<Self> {
        self.times(&Polynomial::term(monomial.clone(), coefficient))
    }

    /// `(factor, rest)` with `self = factor * atom + rest`, if the atom is a factor in neither.
    pub fn split(&self, atom: &V) -> Option<(Self, Self)> {
        let (mut factor, mut rest) = (Polynomial::default(), Polynomial::default());
        for (monomial, c) in &self.terms {
            match monomial.without(atom) {
                (0, monomial) => rest.terms.insert(monomial, *c),
                (1, monomial) => factor.terms.insert(monomial, *c),
                _ => return None,
            };
        }
        Some((factor, rest))
    }

    /// The coefficients of the powers of an atom, lowest first.
    pub fn by_power(&self, atom: &V) -> Vec<Self> {
        let mut powers: Vec<Self> = Vec::new();
        for (monomial, c) in &self.terms {
            let (exponent, monomial) = monomial.without(atom);
            while powers.len() <= exponent as usize {
                powers.push(Polynomial::default());
            }
            powers[exponent as usize].terms.insert(monomial, *c);
        }
        powers
    }

    /// The terms that are as asked, and the others.
    pub fn partition(&self, mut first: impl FnMut(&Monomial<V>, C) -> bool) -> (Self, Self) {
        let (mut yes, mut no) = (Polynomial::default(), Polynomial::default());
        for (monomial, c) in &self.terms {
            let side = if first(monomial, *c) { &mut yes } else { &mut no };
            side.terms.insert(monomial.clone(), *c);
        }
        (yes, no)
    }

    /// The quotient and the rest by one term: `self = monomial * quotient * coefficient + rest`,
    /// where the rest has the terms that are no multiples.
    pub fn divide_by_term(&self, monomial: &Monomial<V>, coefficient: C) -> Option<(Self, Self)> {
        let (mut quotient, mut rest) = (Polynomial::default(), Polynomial::default());
        for (own, c) in &self.terms {
            match own.over(monomial) {
                Some(left) if trunc_rem(*c, coefficient)? == C::ZERO => {
                    quotient.terms.insert(left, trunc_div(*c, coefficient)?);
                }
                _ => {
                    rest.terms.insert(own.clone(), *c);
                }
            }
        }
        Some((quotient, rest))
    }

    /// The polynomial with another in the place of each atom, if it fits; atoms without one stay.
    /// None if a product of more than so many pairs of terms would be multiplied out.
    pub fn replace<'a>(&self, mut by: impl FnMut(&V) -> Option<&'a Self>, most_terms: usize) -> Option<Self>
    where
        Self: 'a,
    {
        let mut result = Polynomial::default();
        for (monomial, c) in &self.terms {
            let mut product = Polynomial::constant(*c);
            for (atom, exponent) in monomial.factors() {
                match by(atom) {
                    None => {
                        product = product.times_term(&Monomial(vec![(atom.clone(), exponent)]), C::ONE)?
                    }
                    Some(by) => {
                        for _ in 0..exponent {
                            if product.len().saturating_mul(by.len()) > most_terms {
                                return None;
                            }
                            product = product.times(by)?;
                        }
                    }
                }
            }
            result = result.plus(&product)?;
        }
        Some(result)
    }

    /// The leading term: of largest degree, then of the largest exponents of the first atoms.
    /// Products preserve this order.
    fn leading(&self) -> Option<(&Monomial<V>, C)> {
        fn order<V: Ord + Clone>(a: &Monomial<V>, b: &Monomial<V>) -> std::cmp::Ordering {
            let by_degree = a.degree().cmp(&b.degree());
            let (mut a, mut b) = (a.factors(), b.factors());
            by_degree.then_with(|| {
                loop {
                    match (a.next(), b.next()) {
                        (None, None) => return std::cmp::Ordering::Equal,
                        (Some(_), None) => return std::cmp::Ordering::Greater,
                        (None, Some(_)) => return std::cmp::Ordering::Less,
                        // The one that has the smaller atom has a larger exponent of it.
                        (Some((x, _)), Some((y, _))) if x != y => return y.cmp(x),
                        (Some((_, m)), Some((_, n))) if m != n => return m.cmp(&n),
                        _ => {}
                    }
                }
            })
        }
        self.terms().max_by(|(a, _), (b, _)| order(a, b))
    }

    /// `q` with `divisor * q == self` as polynomials, if there is one of at most so many terms.
    ///
    /// The equation then holds for all values; `q` is the only solution only where the divisor is
    /// not 0.
    pub fn exact_quotient(&self, divisor: &Self, most_terms: usize) -> Option<Self> {
        let (lead, coefficient) = divisor.leading()?;
        let (mut quotient, mut rest) = (Polynomial::default(), self.clone());
        for _ in 0..=most_terms {
            let Some((monomial, c)) = rest.leading() else { return Some(quotient) };
            if trunc_rem(c, coefficient)? != C::ZERO {
                return None;
            }
            let (monomial, c) = (monomial.over(lead)?, trunc_div(c, coefficient)?);
            rest = rest.minus(&divisor.times_term(&monomial, c)?)?;
            quotient.add_term(monomial, c)?;
        }
        None
    }

    /// The value where the atoms have these values; none if one has none, or it does not fit.
    pub fn value(&self, mut of: impl FnMut(&V) -> Option<C>) -> Option<C> {
        let mut sum = C::ZERO;
        for (monomial, c) in &self.terms {
            let mut product = *c;
            for (atom, exponent) in monomial.factors() {
                let base = of(atom)?;
                for _ in 0..exponent {
                    product = product.times(base)?;
                }
            }
            sum = sum.plus(product)?;
        }
        Some(sum)
    }

    /// With each coefficient changed; none if one has no new one.
    pub fn map_coefficients<D: Integer>(
        &self,
        mut f: impl FnMut(C) -> Option<D>,
    ) -> Option<Polynomial<V, D>> {
        Polynomial::sum(
            self.terms.iter().map(|(m, c)| Some((m.clone(), f(*c)?))).collect::<Option<Vec<_>>>()?,
        )
    }
}
