//! Index arithmetic as polynomials over expressions.
//!
//! An expression that is neither a sum nor a product is an *atom*: a variable, a quotient, a
//! minimum, a load. Coefficients are exact ([`arith::Polynomial`]). A polynomial that would be
//! large or have large coefficients is not worked with. Equal polynomials have equal values, also
//! modulo 2^64.

use arith::number::{Integer, floor_div, floor_rem};
use arith::{Linear, Monomial, Polynomial};

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::name::Name;

/// A small polynomial over expressions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Poly(Polynomial<Expr>);

/// An index expression as a sum of multiples of variables and a constant, if it is one.
pub fn linear<C: Integer + From<i64>>(expr: &Expr) -> Option<Linear<Name, C>> {
    match expr {
        Expr::Int(n) => Some(Linear::constant(C::from(*n))),
        Expr::Var(name) => Some(Linear::name(name.clone())),
        Expr::Unary(UnaryOp::Neg, a) => linear(a)?.negated(),
        Expr::Binary(BinaryOp::Add, a, b) => linear(a)?.plus(&linear(b)?),
        Expr::Binary(BinaryOp::Sub, a, b) => linear(a)?.minus(&linear(b)?),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let (a, b) = (linear(a)?, linear(b)?);
            match (a.as_constant(), b.as_constant()) {
                (Some(factor), _) => b.times(factor),
                (None, factor) => a.times(factor?),
            }
        }
        _ => None,
    }
}

/// Coefficients beyond this are not worked with, so that sums and products of two of them fit.
/// Facts add 2^62 to a constant to show that it is far from the end of 64 bits.
const LARGEST: i128 = 1 << 63;
/// Products of more terms are not multiplied out.
pub(crate) const MOST_TERMS: usize = 64;

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Poly {
        Poly(Polynomial::constant(i128::from(value)))
    }

    /// A variable.
    pub fn var(name: &Name) -> Poly {
        Poly::atom(Expr::Var(name.clone()))
    }

    /// An expression taken as a whole.
    pub fn atom(expr: Expr) -> Poly {
        Poly(Polynomial::atom(expr))
    }

    /// The polynomial of an `i64` expression.
    pub fn of(expr: &Expr) -> Option<Poly> {
        match expr {
            Expr::Int(value) => Poly::small(Some(Polynomial::constant(i128::from(*value)))),
            Expr::Unary(UnaryOp::Neg, a) => Poly::of(a)?.scale(-1),
            Expr::Binary(BinaryOp::Add, a, b) => Poly::of(a)?.add(&Poly::of(b)?),
            Expr::Binary(BinaryOp::Sub, a, b) => Poly::of(a)?.sub(&Poly::of(b)?),
            Expr::Binary(BinaryOp::Mul, a, b) => Poly::of(a)?.mul(&Poly::of(b)?),
            _ => Some(Poly::atom(expr.clone())),
        }
    }

    /// The polynomial, if it is small enough to be worked with.
    pub(crate) fn small(polynomial: Option<Polynomial<Expr>>) -> Option<Poly> {
        let fits = |p: &Polynomial<Expr>| p.len() <= MOST_TERMS && p.terms().all(|(_, c)| c.abs() <= LARGEST);
        polynomial.filter(fits).map(Poly)
    }

    /// The polynomial without the bound on its size.
    pub(crate) fn exact(&self) -> &Polynomial<Expr> {
        &self.0
    }

    /// The value, if there are no atoms.
    pub fn as_constant(&self) -> Option<i64> {
        self.0.as_constant().and_then(|value| i64::try_from(value).ok())
    }

    /// Sum.
    pub fn add(&self, other: &Poly) -> Option<Poly> {
        Poly::small(self.0.plus(&other.0))
    }

    /// Difference.
    pub fn sub(&self, other: &Poly) -> Option<Poly> {
        Poly::small(self.0.minus(&other.0))
    }

    /// Sum with a constant.
    pub fn plus(&self, value: i64) -> Option<Poly> {
        Poly::small(self.0.plus_constant(i128::from(value)))
    }

    /// Product with a constant.
    pub fn scale(&self, factor: i64) -> Option<Poly> {
        Poly::small(self.0.scaled(i128::from(factor)))
    }

    /// Product.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        let few = self.0.len().saturating_mul(other.0.len()) <= MOST_TERMS;
        few.then(|| Poly::small(self.0.times(&other.0))).flatten()
    }

    /// Products of atoms with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial<Expr>, i128)> {
        self.0.terms()
    }

    /// The coefficient of a product of atoms.
    pub fn coefficient(&self, monomial: &Monomial<Expr>) -> i128 {
        self.0.coefficient(monomial)
    }

    /// The atoms that occur, each once.
    pub fn atoms(&self) -> Vec<&Expr> {
        self.0.atoms()
    }

    /// `(factor, rest)` with `self = factor * atom + rest`, if the atom occurs in neither.
    pub fn split(&self, atom: &Expr) -> Option<(Poly, Poly)> {
        let (factor, rest) = self.0.split(atom)?;
        Some((Poly(factor), Poly(rest)))
    }

    /// The polynomial with another in the place of an atom.
    pub fn replace(&self, atom: &Expr, by: &Poly) -> Option<Poly> {
        Poly::small(self.0.replace(|own| (own == atom).then_some(&by.0), MOST_TERMS))
    }

    /// Quotient and remainder by another polynomial: `self = divisor * quotient + remainder`. The
    /// remainder is as small as the leading term of the divisor allows. With `floor`, a coefficient
    /// that does not divide is divided with a remainder.
    pub fn div_rem(&self, divisor: &Poly, floor: bool) -> Option<(Poly, Poly)> {
        let later = |a: &Monomial<Expr>, b: &Monomial<Expr>| a.expanded().cmp(b.expanded());
        let leading =
            divisor.terms().max_by(|(a, _), (b, _)| a.degree().cmp(&b.degree()).then_with(|| later(a, b)));
        let (lead, c) = leading?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        for (monomial, k) in self.terms() {
            let (times, remainder) = (floor_div(k, c)?, floor_rem(k, c)?);
            if let Some(left) = monomial.over(lead)
                && times != 0
                && (remainder == 0 || floor)
            {
                let part = Poly(Polynomial::term(left, times));
                rest = rest.sub(&part.mul(divisor)?)?;
                quotient = quotient.add(&part)?;
            }
        }
        Some((quotient, rest))
    }

    /// An expression of this value. Terms with positive coefficients come first, in the order in
    /// which `order` has their atoms. A positive constant is the last of these.
    pub fn to_expr(&self, order: &[Expr]) -> Option<Expr> {
        self.written(order, false)
    }

    /// As [`Poly::to_expr`], with the constant behind all that is added and subtracted.
    pub(crate) fn to_expr_with_offset(&self, order: &[Expr]) -> Option<Expr> {
        self.written(order, true)
    }

    fn written(&self, order: &[Expr], offset: bool) -> Option<Expr> {
        // What is only negated follows its constant all the same: `1 - i`.
        let offset = offset && self.terms().any(|(m, c)| !m.is_one() && c != -1);
        let rank = |atom: &Expr| order.iter().position(|a| a == atom).unwrap_or(order.len());
        let mut terms: Vec<(Vec<Expr>, i128)> =
            self.terms().map(|(m, c)| (m.expanded().cloned().collect(), c)).collect();
        terms.sort();
        for (monomial, _) in &mut terms {
            monomial.sort_by_key(rank);
        }
        terms.sort_by_key(|(m, c)| {
            let last = offset && m.is_empty();
            (last, *c < 0, m.is_empty(), m.iter().map(rank).collect::<Vec<_>>())
        });
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
