//! Subscripts of flat arrays, `A[i * n + j]`: a polynomial is divided by strides until what is left
//! is affine.
//!
//! `p = q * s + r` with `0 <= r < s` known from the loops makes `A[p]` the element `(q, r)` of a
//! view with rows of `s`.

use std::collections::BTreeSet;

use arith::number::gcd;
use loops::{BinaryOp, Expr as Hub, Name};

use super::Lowering;
use super::access::Pending;
use super::index::NotIndex;
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType, QType};
use crate::linear::Linear;

/// A sum of products of names with coefficients.
pub type Polynomial = arith::Polynomial<Name, i64>;
type Product = arith::Monomial<Name>;

/// Dimensions of a view: extents of all but the first, and how many tries are left to find them.
pub struct Split {
    pub strides: Vec<Linear>,
    pub subscripts: Vec<Linear>,
}

/// What has to be known of the parts of a polynomial.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Gathered {
    /// The affine factors of its products.
    pub factors: Vec<Linear>,
    /// The largest number that fits in all types in which the subscript wraps around, or to which
    /// it is converted.
    pub most: Option<i64>,
}

impl Gathered {
    /// What is needed of another polynomial that is a part of this one.
    pub(super) fn join(&mut self, other: &Gathered) {
        for factor in &other.factors {
            if !self.factors.contains(factor) {
                self.factors.push(factor.clone());
            }
        }
        self.most = match (self.most, other.most) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    pub(super) fn at_most(&mut self, ty: IntType) {
        let most = ty.values().1;
        self.most = Some(self.most.map_or(most, |m| m.min(most)));
    }
}

const MAX_DEGREE: usize = 4;
const MAX_TERMS: usize = 64;

/// A sum, difference or product that is small enough to be divided into subscripts.
pub(super) fn small(result: Option<Polynomial>) -> Option<Polynomial> {
    result.filter(|p| p.len() <= MAX_TERMS && p.terms().all(|(product, _)| product.degree() <= MAX_DEGREE))
}

/// Whether each of the products has at most one of these names as a factor. Then the other factors
/// can be extents of rows.
pub(crate) fn has_rows(p: &Polynomial, loops: &[&str]) -> bool {
    let inside = |product: &Product| product.expanded().filter(|f| loops.contains(&f.as_str())).count();
    p.terms().all(|(product, _)| product.degree() < 2 || inside(product) < 2)
}

/// For each product of one of these names with others: the others, the shortest first.
pub(crate) fn sizes_of_products(p: &Polynomial, loops: &[&str]) -> Vec<Vec<Name>> {
    let mut found: Vec<Vec<Name>> = Vec::new();
    for product in by_names(p).into_iter().map(|(names, _)| names).filter(|names| names.len() > 1) {
        let sizes: Vec<Name> = product.iter().filter(|n| !loops.contains(&n.as_str())).cloned().collect();
        if sizes.len() < product.len() && !sizes.is_empty() && !found.contains(&sizes) {
            found.push(sizes);
        }
    }
    found.sort_by_key(Vec::len);
    found
}

/// The factors of a single product of names with a positive coefficient.
pub fn factors(p: &Polynomial) -> Option<Vec<Linear>> {
    let (product, c) = p.single_term().filter(|(_, c)| *c > 0)?;
    let coefficient = (c > 1).then(|| Linear::constant(c));
    Some(coefficient.into_iter().chain(product.expanded().cloned().map(Linear::name)).collect())
}

/// As an expression; `value` gives the expression of a name.
pub fn expression(p: &Polynomial, value: &dyn Fn(&Name) -> Hub) -> Hub {
    let mut sum: Option<Hub> = None;
    for (names, c) in by_names(p).into_iter().rev() {
        let mut product = (c != 1 || names.is_empty()).then_some(Hub::Int(c));
        for name in &names {
            let atom = value(name);
            product = Some(match product {
                None => atom,
                Some(left) => Hub::binary(BinaryOp::Mul, left, atom),
            });
        }
        let product = product.unwrap_or(Hub::Int(1));
        sum = Some(match sum {
            None => product,
            Some(left) => Hub::binary(BinaryOp::Add, left, product),
        });
    }
    sum.unwrap_or(Hub::Int(0))
}

/// The terms in the order of their names, with each name as often as it is a factor.
fn by_names(p: &Polynomial) -> Vec<(Vec<Name>, i64)> {
    let mut terms: Vec<(Vec<Name>, i64)> =
        p.terms().map(|(product, c)| (product.expanded().cloned().collect(), c)).collect();
    terms.sort();
    terms
}

/// Quotient and rest by a form, through a name that it has with coefficient 1, or that is all of
/// it.
pub(super) fn divide(p: &Polynomial, by: &Linear) -> Option<(Polynomial, Polynomial)> {
    let multiple =
        || by.terms().next().filter(|(_, c)| *c > 1 && by.terms().count() == 1 && by.constant_term() == 0);
    let (name, times) =
        by.terms().find(|(_, c)| *c == 1).or_else(multiple).map(|(name, c)| (name.clone(), c))?;
    let divisor = Polynomial::of_linear(by);
    let (mut quotient, mut rest) = (Polynomial::default(), p.clone());
    for _ in 0..MAX_TERMS {
        let Some((product, c)) = rest.terms().find(|(product, _)| product.exponent(&name) > 0) else {
            return Some((quotient, rest));
        };
        (c % times == 0).then_some(())?;
        let part = Polynomial::term(product.over(&Product::of(name.clone()))?, c / times);
        quotient = small(quotient.plus(&part))?;
        rest = small(rest.minus(&small(part.times(&divisor))?))?;
    }
    None
}

/// Names that occur in products.
fn names_in_products(p: &Polynomial) -> Vec<Name> {
    let products = p.terms().filter(|(product, _)| product.degree() > 1);
    let names = products.flat_map(|(product, _)| product.expanded().cloned());
    names.collect::<BTreeSet<Name>>().into_iter().collect()
}

impl Lowering<'_> {
    /// An integer expression as a polynomial; `gathered` gets what has to be known of its parts.
    pub(super) fn polynomial(
        &mut self,
        e: &Expr,
        gathered: &mut Gathered,
    ) -> Result<(Polynomial, IntType), NotIndex> {
        let why = match self.index(e) {
            Ok(index) => return Ok((Polynomial::of_linear(&index.form), index.ty)),
            Err(why) => why,
        };
        if let Some(product) = self.product_named(e) {
            gathered.join(&product.gathered);
            return Ok((product.polynomial, product.ty));
        }
        let (result, ty) = match &e.kind {
            ExprKind::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) => {
                let ((a, left), (b, right)) = (self.polynomial(a, gathered)?, self.polynomial(b, gathered)?);
                let result = small(match op {
                    Binary::Add => a.plus(&b),
                    Binary::Sub => a.minus(&b),
                    _ => {
                        gathered.factors.extend([&a, &b].into_iter().filter_map(|p| p.as_linear()));
                        a.times(&b)
                    }
                });
                (result, left.common(right))
            }
            ExprKind::Unary(Unary::Minus, a) => {
                let (a, ty) = self.polynomial(a, gathered)?;
                (a.scaled(-1), ty.promoted())
            }
            ExprKind::Unary(Unary::Plus, a) => return self.polynomial(a, gathered),
            ExprKind::Cast(QType { ty: CType::Int(int), .. }, a) if int.bits() >= 32 => {
                let (value, ty) = self.polynomial(a, gathered)?;
                // What is natural is at most the whole, so that nothing is lost on the way if
                // nothing is at the end.
                let natural = self.is_natural(a);
                if !natural && (int.is_unsigned() || ty.is_unsigned() || !int.holds(ty)) {
                    return Err(why);
                }
                if !int.holds(ty) {
                    gathered.at_most(*int);
                }
                (Some(value), *int)
            }
            _ => (None, IntType::Int),
        };
        if ty.is_unsigned() {
            gathered.at_most(ty);
        }
        match result {
            // One without products is none for a reason.
            Some(result) if result.as_linear().is_none() => Ok((result, ty)),
            _ => Err(why),
        }
    }

    /// Whether sums and products of what is known not to be negative.
    pub(super) fn is_natural(&mut self, e: &Expr) -> bool {
        self.natural_parts(e).is_some_and(|parts| parts.iter().all(|part| self.holds(part)))
    }

    /// What has to be at least 0 so that an expression is a sum of products of what is not
    /// negative.
    pub(super) fn natural_parts(&mut self, e: &Expr) -> Option<Vec<Linear>> {
        if let Some(product) = self.product_named(e) {
            return product.natural;
        }
        match &e.kind {
            ExprKind::Binary(Binary::Add | Binary::Mul, a, b) => {
                let (mut a, b) = (self.natural_parts(a)?, self.natural_parts(b)?);
                a.extend(b);
                Some(a)
            }
            ExprKind::Cast(_, a) => self.natural_parts(a),
            _ => Some(vec![self.index(e).ok()?.form]),
        }
    }

    /// Whether a form is over sizes only, and no constant.
    pub(super) fn is_size_form(&self, form: &Linear) -> bool {
        !form.is_constant() && self.is_of_sizes(form)
    }

    /// Strides that could make a polynomial affine.
    pub(super) fn stride_candidates(&self, p: &Polynomial, factors: &[Linear]) -> Vec<Linear> {
        let mut candidates: Vec<Linear> = Vec::new();
        let names = names_in_products(p);
        // Rows of pixels: `3 * (y * w + x)` has rows of `3 * w`.
        let multiple = |name: &Name| {
            let of = p.terms().filter(|(product, _)| product.degree() > 1 && product.exponent(name) > 0);
            let times = of.map(|(_, c)| c.unsigned_abs()).reduce(gcd).unwrap_or(1);
            i64::try_from(times).ok().filter(|times| *times > 1).map(|times| (name.clone(), times))
        };
        let multiples = names.iter().filter_map(multiple);
        let multiples: Vec<Linear> = multiples
            .filter_map(|(name, times)| Linear::default().plus_times(times, &Linear::name(name)))
            .collect();
        let names = names.iter().cloned().map(Linear::name);
        for candidate in factors.iter().cloned().chain(names).chain(multiples) {
            if self.is_size_form(&candidate) && !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        candidates.truncate(8);
        candidates
    }

    /// Finds strides that make a polynomial affine subscripts.
    pub(super) fn split(
        &self,
        p: &Polynomial,
        factors: &[Linear],
        known: &[Linear],
        depth: usize,
    ) -> Option<Split> {
        if let Some(form) = p.as_linear() {
            return Some(Split { strides: Vec::new(), subscripts: vec![form] });
        }
        if depth >= MAX_DEGREE {
            return None;
        }
        for stride in self.stride_candidates(p, factors) {
            for (quotient, rest) in self.divisions(p, &stride, known) {
                if let Some(mut outer) = self.split(&quotient, factors, known, depth + 1) {
                    outer.strides.push(stride.clone());
                    outer.subscripts.push(rest);
                    return Some(outer);
                }
            }
        }
        None
    }

    /// The length of rows that a flat subscript would have if that were known to be positive.
    pub(super) fn row_if_positive(&self, p: &Pending, strides: &[Linear]) -> Option<Linear> {
        let candidates = match strides.last() {
            Some(stride) => vec![stride.clone()],
            None => self.stride_candidates(&p.polynomial, &p.factors),
        };
        candidates.into_iter().find(|stride| {
            let Some(positive) = stride.plus_constant(-1) else { return false };
            let known = [p.known.as_slice(), &[positive]].concat();
            match strides {
                [] => self.split(&p.polynomial, &p.factors, &known, 0).is_some(),
                _ => self.split_by(&p.polynomial, strides, &known).is_some(),
            }
        })
    }

    /// Lengths of rows that a flat subscript would have if the part next to them, the second form,
    /// were known to be below.
    pub(super) fn rows_if_below(&self, p: &Pending, strides: &[Linear]) -> Vec<(Linear, Linear)> {
        let candidates = match strides.last() {
            Some(stride) => vec![stride.clone()],
            None => self.stride_candidates(&p.polynomial, &p.factors),
        };
        let mut found = Vec::new();
        for stride in candidates {
            let Some((_, rest)) = divide(&p.polynomial, &stride) else { continue };
            let Some(rest) = rest.as_linear() else { continue };
            let Some(below) = stride.minus(&rest).and_then(|b| b.plus_constant(-1)) else { continue };
            let known = [p.known.as_slice(), &[below]].concat();
            let splits = match strides {
                [] => self.split(&p.polynomial, &p.factors, &known, 0).is_some(),
                _ => self.split_by(&p.polynomial, strides, &known).is_some(),
            };
            if splits {
                found.push((stride, rest));
            }
        }
        found
    }

    /// Subscripts of a polynomial in a view with given strides.
    pub(super) fn split_by(
        &self,
        p: &Polynomial,
        strides: &[Linear],
        known: &[Linear],
    ) -> Option<Vec<Linear>> {
        let Some((stride, outer)) = strides.split_last() else { return Some(vec![p.as_linear()?]) };
        for (quotient, rest) in self.divisions(p, stride, known) {
            if let Some(mut subscripts) = self.split_by(&quotient, outer, known) {
                subscripts.push(rest);
                return Some(subscripts);
            }
        }
        None
    }

    /// Ways to write `p = q * stride + r` with `0 <= r < stride`. At most one is right, and it is
    /// among the first few.
    pub(super) fn divisions(
        &self,
        p: &Polynomial,
        stride: &Linear,
        known: &[Linear],
    ) -> Vec<(Polynomial, Linear)> {
        let mut found = Vec::new();
        let Some((quotient, rest)) = divide(p, stride) else { return found };
        let Some(rest) = rest.as_linear() else { return found };
        for shift in [0, -1, 1] {
            let shifted = quotient.plus_constant(shift);
            let (Some(quotient), Some(rest)) = (shifted, rest.plus_times(-shift, stride)) else { continue };
            let below = stride.minus(&rest).and_then(|l| l.plus_constant(-1));
            if self.follows(known, &rest) && below.is_some_and(|b| self.follows(known, &b)) {
                found.push((quotient, rest));
                break;
            }
        }
        found
    }
}
