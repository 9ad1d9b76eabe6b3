//! Symbolic sizes: integer polynomials over size parameters, quotients and remainders, in a normal
//! form.
//!
//! Two sizes are equal for all values of their parameters if their normal forms are the same; for
//! polynomials also only if. Quotients and remainders are rounded toward negative infinity, with
//! `x / 0 = 0` and `x % 0 = x` (as in Coq), and are simplified only where that is right for every
//! value of the parameters. Size parameters are natural numbers.

use std::collections::BTreeSet;
use std::fmt;

use arith::Polynomial;
use arith::number::{floor_div, floor_rem};

use crate::expr::{BinaryOp, Expr};
use crate::name::Name;

/// An integer expression over size parameters, in normal form: a polynomial over parameters,
/// quotients and remainders.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(Polynomial<Atom, i64>);

type Monomial = arith::Monomial<Atom>;

/// What a size is made of besides constants.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Atom {
    /// A size parameter.
    Param(Name),
    /// A quotient that has no simpler form.
    Div(Size, Size),
    /// A remainder that has no simpler form.
    Mod(Size, Size),
    /// A sum or product whose normal form has a coefficient beyond 64 bits: kept as it is.
    Huge(BinaryOpKey, Size, Size),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum BinaryOpKey {
    Add,
    Mul,
}

/// A factor of a term of a size, as [`Size::terms`] shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor<'a> {
    /// A size parameter.
    Param(&'a Name),
    /// A quotient that has no simpler form.
    Quotient(&'a Size, &'a Size),
    /// A remainder that has no simpler form.
    Remainder(&'a Size, &'a Size),
    /// A sum with a coefficient beyond 64 bits.
    Sum(&'a Size, &'a Size),
    /// A product with a coefficient beyond 64 bits.
    Product(&'a Size, &'a Size),
}

impl Factor<'_> {
    /// The factor as a size of its own.
    pub fn to_size(self) -> Size {
        match self {
            Factor::Param(name) => Size::param(name.clone()),
            Factor::Quotient(a, b) => a.div(b),
            Factor::Remainder(a, b) => a.rem(b),
            Factor::Sum(a, b) => a.clone() + b.clone(),
            Factor::Product(a, b) => a.clone() * b.clone(),
        }
    }
}

/// Why a size has no value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// A parameter without a value.
    Unbound(Name),
    /// The value is beyond 64 bits.
    Overflow,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Unbound(name) => write!(f, "size parameter `{name}` has no value"),
            EvalError::Overflow => f.write_str("size does not fit in 64 bits"),
        }
    }
}

impl std::error::Error for EvalError {}

impl Size {
    /// The constant `value`.
    pub fn constant(value: i64) -> Size {
        Size(Polynomial::constant(value))
    }

    /// The size parameter `name`.
    pub fn param(name: impl Into<Name>) -> Size {
        Size::atom(Atom::Param(name.into()))
    }

    fn atom(atom: Atom) -> Size {
        Size(Polynomial::atom(atom))
    }

    /// The terms of the normal form: coefficients, and factors with their exponents. The size is
    /// the sum of their products.
    pub fn terms(&self) -> impl Iterator<Item = (i64, Vec<(Factor<'_>, u32)>)> {
        self.0.terms().map(|(monomial, coefficient)| {
            let factors = monomial.factors().map(|(atom, exponent)| {
                let factor = match atom {
                    Atom::Param(name) => Factor::Param(name),
                    Atom::Div(a, b) => Factor::Quotient(a, b),
                    Atom::Mod(a, b) => Factor::Remainder(a, b),
                    Atom::Huge(BinaryOpKey::Add, a, b) => Factor::Sum(a, b),
                    Atom::Huge(BinaryOpKey::Mul, a, b) => Factor::Product(a, b),
                };
                (factor, exponent)
            });
            (coefficient, factors.collect())
        })
    }

    /// The value, if it is the same for all parameters.
    pub fn as_constant(&self) -> Option<i64> {
        self.0.as_constant()
    }

    /// The parameter, if the size is just that.
    pub fn as_param(&self) -> Option<&Name> {
        match self.0.single_term()? {
            (monomial, 1) => match monomial.as_atom()? {
                Atom::Param(name) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// `self / divisor` if that is exact for all values: every coefficient and every monomial is
    /// divisible.
    ///
    /// The divisor is a single term whose value is not 0 by assumption of the caller (`n * m / n`
    /// is `m` only for `n > 0`).
    pub fn exact_div(&self, divisor: &Size) -> Option<Size> {
        let (monomial, coefficient) = divisor.0.single_term()?;
        let (quotient, rest) = self.0.divide_by_term(monomial, coefficient)?;
        rest.is_empty().then_some(Size(quotient))
    }

    /// `q` with `divisor * q == self` as polynomials, if there is one of at most 32 terms.
    ///
    /// The equation then holds for all values. `q` is the only solution only if the divisor is
    /// not 0.
    pub fn exact_quotient(&self, divisor: &Size) -> Option<Size> {
        self.0.exact_quotient(&divisor.0, 32).map(Size)
    }

    /// The quotient, rounded toward negative infinity; `x / 0 = 0`.
    pub fn div(&self, divisor: &Size) -> Size {
        match self.div_rem(divisor) {
            Some((quotient, _)) => quotient,
            None => Size::atom(Atom::Div(self.clone(), divisor.clone())),
        }
    }

    /// The remainder of [`Size::div`]; `x % 0 = x`.
    pub fn rem(&self, divisor: &Size) -> Size {
        match self.div_rem(divisor) {
            Some((_, remainder)) => remainder,
            None => Size::atom(Atom::Mod(self.clone(), divisor.clone())),
        }
    }

    /// Quotient and remainder by a constant, where the non-constant part divides exactly.
    fn div_rem(&self, divisor: &Size) -> Option<(Size, Size)> {
        let d = divisor.as_constant()?;
        if d == 0 {
            return Some((Size::constant(0), self.clone()));
        }
        if d == 1 {
            return Some((self.clone(), Size::constant(0)));
        }
        if d < 0 {
            return None;
        }
        let (divisible, rest) = self.0.partition(|monomial, c| c % d == 0 && !monomial.is_one());
        let quotient = divisible.divide_by_term(&Monomial::one(), d)?.0;
        match rest.as_constant() {
            Some(c) => {
                let quotient = quotient.plus_constant(floor_div(c, d)?)?;
                Some((Size(quotient), Size::constant(floor_rem(c, d)?)))
            }
            None if divisible.is_empty() => None,
            None => {
                let rest = Size(rest);
                let q = Polynomial::atom(Atom::Div(rest.clone(), divisor.clone()));
                let r = Size::atom(Atom::Mod(rest, divisor.clone()));
                Some((Size(quotient.plus(&q)?), r))
            }
        }
    }

    /// The value at these parameters.
    ///
    /// # Errors
    /// If a parameter is unbound or the value does not fit in 64 bits.
    pub fn eval(&self, value_of: &dyn Fn(&Name) -> Option<i64>) -> Result<i64, EvalError> {
        i64::try_from(self.eval_wide(value_of)?).map_err(|_| EvalError::Overflow)
    }

    fn eval_wide(&self, value_of: &dyn Fn(&Name) -> Option<i64>) -> Result<i128, EvalError> {
        let overflow = EvalError::Overflow;
        let mut sum = 0i128;
        for (monomial, coefficient) in self.0.terms() {
            let mut product = i128::from(coefficient);
            for (atom, exponent) in monomial.factors() {
                let base = match atom {
                    Atom::Param(name) => {
                        i128::from(value_of(name).ok_or_else(|| EvalError::Unbound(name.clone()))?)
                    }
                    Atom::Div(a, b) => match (a.eval_wide(value_of)?, b.eval_wide(value_of)?) {
                        (_, 0) => 0,
                        (a, b) => floor_div(a, b).ok_or(overflow.clone())?,
                    },
                    Atom::Mod(a, b) => match (a.eval_wide(value_of)?, b.eval_wide(value_of)?) {
                        (a, 0) => a,
                        (a, b) => floor_rem(a, b).ok_or(overflow.clone())?,
                    },
                    Atom::Huge(op, a, b) => {
                        let (a, b) = (a.eval_wide(value_of)?, b.eval_wide(value_of)?);
                        match op {
                            BinaryOpKey::Add => a.checked_add(b),
                            BinaryOpKey::Mul => a.checked_mul(b),
                        }
                        .ok_or(overflow.clone())?
                    }
                };
                let power = base.checked_pow(exponent).ok_or(overflow.clone())?;
                product = product.checked_mul(power).ok_or(overflow.clone())?;
            }
            sum = sum.checked_add(product).ok_or(overflow.clone())?;
        }
        Ok(sum)
    }

    /// Replaces parameters by sizes; those without a replacement stay.
    pub fn substitute(&self, replacement: &dyn Fn(&Name) -> Option<Size>) -> Size {
        let mut sum = Size::default();
        for (monomial, coefficient) in self.0.terms() {
            let mut product = Size::constant(coefficient);
            for (atom, exponent) in monomial.factors() {
                let base = match atom {
                    Atom::Param(name) => replacement(name).unwrap_or_else(|| Size::atom(atom.clone())),
                    Atom::Div(a, b) => a.substitute(replacement).div(&b.substitute(replacement)),
                    Atom::Mod(a, b) => a.substitute(replacement).rem(&b.substitute(replacement)),
                    Atom::Huge(BinaryOpKey::Add, a, b) => {
                        a.substitute(replacement) + b.substitute(replacement)
                    }
                    Atom::Huge(BinaryOpKey::Mul, a, b) => {
                        a.substitute(replacement) * b.substitute(replacement)
                    }
                };
                for _ in 0..exponent {
                    product = product * base.clone();
                }
            }
            sum = sum + product;
        }
        sum
    }

    /// The parameters that occur.
    pub fn params(&self) -> BTreeSet<Name> {
        let mut set = BTreeSet::new();
        self.collect_params(&mut set);
        set
    }

    fn collect_params(&self, set: &mut BTreeSet<Name>) {
        for atom in self.0.atoms() {
            match atom {
                Atom::Param(name) => {
                    set.insert(name.clone());
                }
                Atom::Div(a, b) | Atom::Mod(a, b) | Atom::Huge(_, a, b) => {
                    a.collect_params(set);
                    b.collect_params(set);
                }
            }
        }
    }

    /// If the size is `coefficient * name + rest` with `name` nowhere else and a constant, nonzero
    /// coefficient: `(coefficient, rest)`.
    ///
    /// What size inference solves equations with.
    pub fn linear_in(&self, name: &Name) -> Option<(i64, Size)> {
        let wanted = Monomial::of(Atom::Param(name.clone()));
        let (term, rest) = self.0.partition(|monomial, _| *monomial == wanted);
        let (_, coefficient) = term.single_term()?;
        let rest = Size(rest);
        if rest.params().contains(name) { None } else { Some((coefficient, rest)) }
    }

    /// If the size is `factor * name + rest` with `name` in neither: `(factor, rest)`; the factor
    /// may be symbolic.
    pub fn factor_in(&self, name: &Name) -> Option<(Size, Size)> {
        let (factor, rest) = self.0.split(&Atom::Param(name.clone()))?;
        let (factor, rest) = (Size(factor), Size(rest));
        let clean = !factor.params().contains(name) && !rest.params().contains(name) && !factor.0.is_empty();
        clean.then_some((factor, rest))
    }

    /// Whether the size is at least 0 for all natural values of its parameters, as far as the form
    /// shows it (no negative coefficient; quotients and remainders of such sizes by positive
    /// constants).
    pub fn is_natural(&self) -> bool {
        let natural_atom = |atom: &Atom| match atom {
            Atom::Param(_) => true,
            Atom::Div(a, b) | Atom::Mod(a, b) => a.is_natural() && b.as_constant().is_some_and(|c| c > 0),
            Atom::Huge(_, a, b) => a.is_natural() && b.is_natural(),
        };
        self.0.terms().all(|(monomial, c)| c > 0 && monomial.factors().all(|(atom, _)| natural_atom(atom)))
    }

    /// The same size as an `i64` expression of the loop IR, sums before differences.
    pub fn to_expr(&self) -> Expr {
        let mut result: Option<Expr> = None;
        let (positive, negative): (Vec<_>, Vec<_>) = self.0.terms().rev().partition(|(_, c)| *c > 0);
        for (monomial, coefficient) in positive.into_iter().chain(negative) {
            let subtract = coefficient < 0 && result.is_some();
            let factor = if subtract { coefficient.checked_neg().unwrap_or(i64::MAX) } else { coefficient };
            let mut product = (factor != 1 || monomial.is_one()).then_some(Expr::Int(factor));
            for (atom, exponent) in monomial.factors() {
                for _ in 0..exponent {
                    let atom = match atom {
                        Atom::Param(name) => Expr::Var(name.clone()),
                        Atom::Div(a, b) => Expr::binary(BinaryOp::FloorDiv, a.to_expr(), b.to_expr()),
                        Atom::Mod(a, b) => Expr::binary(BinaryOp::Mod, a.to_expr(), b.to_expr()),
                        Atom::Huge(BinaryOpKey::Add, a, b) => {
                            Expr::binary(BinaryOp::Add, a.to_expr(), b.to_expr())
                        }
                        Atom::Huge(BinaryOpKey::Mul, a, b) => {
                            Expr::binary(BinaryOp::Mul, a.to_expr(), b.to_expr())
                        }
                    };
                    product = Some(match product {
                        None => atom,
                        Some(left) => Expr::binary(BinaryOp::Mul, left, atom),
                    });
                }
            }
            let product = product.expect("a monomial has a factor");
            result = Some(match result {
                None => product,
                Some(left) if subtract => Expr::binary(BinaryOp::Sub, left, product),
                Some(left) => Expr::binary(BinaryOp::Add, left, product),
            });
        }
        result.unwrap_or(Expr::Int(0))
    }
}

impl From<i64> for Size {
    fn from(value: i64) -> Size {
        Size::constant(value)
    }
}

impl std::ops::Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        match self.0.plus(&other.0) {
            Some(sum) => Size(sum),
            None => Size::atom(Atom::Huge(BinaryOpKey::Add, self, other)),
        }
    }
}

impl std::ops::Mul for Size {
    type Output = Size;
    fn mul(self, other: Size) -> Size {
        match self.0.times(&other.0) {
            Some(product) => Size(product),
            None => Size::atom(Atom::Huge(BinaryOpKey::Mul, self, other)),
        }
    }
}

impl std::ops::Neg for Size {
    type Output = Size;
    fn neg(self) -> Size {
        Size::constant(-1) * self
    }
}

impl std::ops::Sub for Size {
    type Output = Size;
    fn sub(self, other: Size) -> Size {
        self + -other
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Param(name) => write!(f, "{name}"),
            Atom::Div(a, b) => write!(f, "({} / {})", Operand(a), Operand(b)),
            Atom::Mod(a, b) => write!(f, "({} % {})", Operand(a), Operand(b)),
            Atom::Huge(BinaryOpKey::Add, a, b) => write!(f, "({} + {})", Operand(a), Operand(b)),
            Atom::Huge(BinaryOpKey::Mul, a, b) => write!(f, "({} * {})", Operand(a), Operand(b)),
        }
    }
}

/// A size in parentheses, unless it is a name or a natural number.
struct Operand<'a>(&'a Size);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.as_param().is_some() || self.0.as_constant().is_some_and(|c| c >= 0) {
            write!(f, "{}", self.0)
        } else {
            write!(f, "({})", self.0)
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        let (positive, negative): (Vec<_>, Vec<_>) = self.0.terms().rev().partition(|(_, c)| *c > 0);
        for (k, (monomial, coefficient)) in positive.into_iter().chain(negative).enumerate() {
            match (k, coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            let magnitude = coefficient.unsigned_abs();
            let mut separator = "";
            if magnitude != 1 || monomial.is_one() {
                write!(f, "{magnitude}")?;
                separator = "*";
            }
            for (atom, exponent) in monomial.factors() {
                for _ in 0..exponent {
                    write!(f, "{separator}{atom}")?;
                    separator = "*";
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
