//! Integer polynomials over expressions: the normal form of index arithmetic.
//!
//! An expression that is neither a sum nor a product is an *atom*: a variable, a quotient, a
//! minimum, a load. Coefficients are exact. If one does not fit, there is no polynomial. Equal
//! polynomials have equal values, also modulo 2^64.

use std::collections::BTreeMap;

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::name::Name;

/// A sum of products of atoms with nonzero coefficients. The atoms of a product are sorted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Poly {
    terms: BTreeMap<Vec<Expr>, i128>,
}

/// Coefficients beyond this are not worked with, so that sums and products of two of them fit.
const LARGEST: i128 = 1 << 62;
/// Products of more terms are not multiplied out.
const MOST_TERMS: usize = 64;

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Poly {
        let mut poly = Poly::default();
        if value != 0 {
            poly.terms.insert(Vec::new(), i128::from(value));
        }
        poly
    }

    /// A variable.
    pub fn var(name: &Name) -> Poly {
        Poly::atom(Expr::Var(name.clone()))
    }

    /// An expression taken as a whole.
    pub fn atom(expr: Expr) -> Poly {
        Poly { terms: BTreeMap::from([(vec![expr], 1)]) }
    }

    /// The polynomial of an `i64` expression.
    pub fn of(expr: &Expr) -> Option<Poly> {
        match expr {
            Expr::Int(value) => Some(Poly::constant(*value)).filter(Poly::is_small),
            Expr::Unary(UnaryOp::Neg, a) => Poly::of(a)?.scale(-1),
            Expr::Binary(BinaryOp::Add, a, b) => Poly::of(a)?.add(&Poly::of(b)?),
            Expr::Binary(BinaryOp::Sub, a, b) => Poly::of(a)?.sub(&Poly::of(b)?),
            Expr::Binary(BinaryOp::Mul, a, b) => Poly::of(a)?.mul(&Poly::of(b)?),
            _ => Some(Poly::atom(expr.clone())),
        }
    }

    fn is_small(&self) -> bool {
        self.terms.len() <= MOST_TERMS && self.terms.values().all(|c| c.abs() <= LARGEST)
    }

    /// The value, if there are no atoms.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get([].as_slice()).and_then(|c| i64::try_from(*c).ok()),
            _ => None,
        }
    }

    /// Sum.
    pub fn add(&self, other: &Poly) -> Option<Poly> {
        let mut sum = self.clone();
        for (monomial, c) in &other.terms {
            let entry = sum.terms.entry(monomial.clone()).or_insert(0);
            *entry += c;
            if *entry == 0 {
                sum.terms.remove(monomial);
            }
        }
        Some(sum).filter(Poly::is_small)
    }

    /// Difference.
    pub fn sub(&self, other: &Poly) -> Option<Poly> {
        self.add(&other.scale(-1)?)
    }

    /// Sum with a constant.
    pub fn plus(&self, value: i64) -> Option<Poly> {
        self.add(&Poly::constant(value))
    }

    /// Product with a constant.
    pub fn scale(&self, factor: i64) -> Option<Poly> {
        let mut product = self.clone();
        for c in product.terms.values_mut() {
            *c = c.checked_mul(i128::from(factor))?;
        }
        if factor == 0 {
            product.terms.clear();
        }
        Some(product).filter(Poly::is_small)
    }

    /// Product.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        if self.terms.len().saturating_mul(other.terms.len()) > MOST_TERMS {
            return None;
        }
        let mut product = Poly::default();
        for (ma, ca) in &self.terms {
            for (mb, cb) in &other.terms {
                let mut monomial = [ma.as_slice(), mb].concat();
                monomial.sort();
                let c = ca.checked_mul(*cb)?;
                product = product.add(&Poly { terms: BTreeMap::from([(monomial, c)]) })?;
            }
        }
        Some(product)
    }

    /// Products of atoms with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&[Expr], i128)> {
        self.terms.iter().map(|(monomial, c)| (monomial.as_slice(), *c))
    }

    /// The coefficient of a product of atoms.
    pub fn coefficient(&self, monomial: &[Expr]) -> i128 {
        self.terms.get(monomial).copied().unwrap_or(0)
    }

    /// The atoms that occur, each once.
    pub fn atoms(&self) -> Vec<&Expr> {
        let mut atoms: Vec<&Expr> = self.terms.keys().flatten().collect();
        atoms.sort();
        atoms.dedup();
        atoms
    }

    /// `(factor, rest)` with `self = factor * atom + rest`, if the atom occurs in neither.
    pub fn split(&self, atom: &Expr) -> Option<(Poly, Poly)> {
        let (mut factor, mut rest) = (Poly::default(), Poly::default());
        for (monomial, c) in &self.terms {
            match monomial.iter().position(|a| a == atom) {
                None => rest.terms.insert(monomial.clone(), *c),
                Some(k) => {
                    let mut monomial = monomial.clone();
                    monomial.remove(k);
                    if monomial.contains(atom) {
                        return None;
                    }
                    factor.terms.insert(monomial, *c)
                }
            };
        }
        Some((factor, rest))
    }

    /// The polynomial with another in the place of an atom.
    pub fn replace(&self, atom: &Expr, by: &Poly) -> Option<Poly> {
        let mut result = Poly::default();
        for (monomial, c) in &self.terms {
            let (same, other): (Vec<Expr>, Vec<Expr>) = monomial.iter().cloned().partition(|a| a == atom);
            let mut product = Poly { terms: BTreeMap::from([(other, *c)]) };
            for _ in same {
                product = product.mul(by)?;
            }
            result = result.add(&product)?;
        }
        Some(result)
    }

    /// Quotient and remainder by another polynomial: `self = divisor * quotient + remainder`. The
    /// remainder is as small as the leading term of the divisor allows. With `floor`, a coefficient
    /// that does not divide is divided with a remainder.
    pub fn div_rem(&self, divisor: &Poly, floor: bool) -> Option<(Poly, Poly)> {
        let (lead, c) = divisor.terms.iter().max_by_key(|(m, _)| m.len())?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        for (monomial, k) in &self.terms {
            let mut left = monomial.clone();
            let divides = lead
                .iter()
                .all(|atom| left.iter().position(|a| a == atom).map(|at| left.remove(at)).is_some());
            let (times, remainder) = (k.div_euclid(*c), k.rem_euclid(*c));
            if divides && times != 0 && (remainder == 0 || floor) {
                let part = Poly { terms: BTreeMap::from([(left, times)]) };
                rest = rest.sub(&part.mul(divisor)?)?;
                quotient = quotient.add(&part)?;
            }
        }
        Some((quotient, rest))
    }

    /// An expression of this value. Terms with positive coefficients come first, in the order in
    /// which `order` has their atoms. The constant comes last.
    pub fn to_expr(&self, order: &[Expr]) -> Option<Expr> {
        let rank = |atom: &Expr| order.iter().position(|a| a == atom).unwrap_or(order.len());
        let mut terms: Vec<(Vec<Expr>, i128)> = self.terms.iter().map(|(m, c)| (m.clone(), *c)).collect();
        for (monomial, _) in &mut terms {
            monomial.sort_by_key(rank);
        }
        terms.sort_by_key(|(m, c)| (*c < 0, m.is_empty(), m.iter().map(rank).collect::<Vec<_>>()));
        let mut sum: Option<Expr> = None;
        for (monomial, c) in terms {
            let subtract = c < 0 && sum.is_some();
            let factor = i64::try_from(if subtract { -c } else { c }).ok()?;
            let negate = factor == -1 && !monomial.is_empty();
            let mut product = (factor != 1 && !negate || monomial.is_empty()).then_some(Expr::Int(factor));
            for atom in monomial {
                product = Some(match product {
                    None if negate => Expr::unary(UnaryOp::Neg, atom),
                    None => atom,
                    Some(left) => Expr::binary(BinaryOp::Mul, left, atom),
                });
            }
            let product = product?;
            sum = Some(match sum {
                None => product,
                Some(left) if subtract => Expr::binary(BinaryOp::Sub, left, product),
                Some(left) => Expr::binary(BinaryOp::Add, left, product),
            });
        }
        Some(sum.unwrap_or(Expr::Int(0)))
    }
}
