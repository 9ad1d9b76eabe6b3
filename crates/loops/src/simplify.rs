//! Simplification of index arithmetic, of single expressions and of whole functions.
//!
//! Sums are brought into a short form. Quotients, remainders, comparisons, minima and maxima are
//! decided where [`Facts`] about the variables suffice: inside `for i in 0..n { for j in 0..m {`,
//! `(i * m + j) floordiv m` is `i`. Loops that never run or run once, and branches that are never
//! taken, are removed from functions.
//!
//! A simplified expression has the same value wherever the original has one and stays within 64
//! bits. Data arithmetic (floats, loads) always keeps its value, so its rounding never changes. Not
//! here: anything that moves or fuses statements.

mod statements;

use arith::Monomial;

use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::facts::{Facts, is_stable, operands};
use crate::indices;
use crate::poly::Poly;
use crate::types::Scalar;
use crate::value::Value;

pub use statements::{body_where, function, function_for_c, function_telling};

/// A shorter expression of the same value at a place where the facts hold.
pub fn expr(expr: &Expr, facts: &Facts) -> Expr {
    Simplifier { facts }.expr(expr)
}

/// The same value in fewer words, for what a person may read. Sums of variables are collected, with
/// the constant last, also where that is no shorter; data is left as it is. In contrast to
/// [`expr`], quotients keep their form: what generates loops has chosen it.
pub fn tidy(e: &Expr) -> Expr {
    let e = e.map_children(&mut tidy);
    let facts = Facts::default();
    match &e {
        _ if is_index_sum(&e) => {
            let mut order = Vec::new();
            atoms_in_order(&e, &mut order);
            let short = Poly::of(&e).and_then(|poly| poly.to_expr_with_offset(&order));
            short.unwrap_or(e)
        }
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, a, b) if a == b => (**a).clone(),
        Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Mod, ..) => Simplifier { facts: &facts }.folded(e),
        Expr::Select(cond, then, otherwise) => match **cond {
            Expr::Bool(true) => (**then).clone(),
            Expr::Bool(false) => (**otherwise).clone(),
            _ => e,
        },
        Expr::Unary(UnaryOp::Not, _) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) | Expr::Compare(..) => {
            Simplifier { facts: &facts }.operation(e)
        }
        _ => e,
    }
}

/// Whether it is a sum, difference or product of loop variables, sizes and integers: only such may
/// be reassociated.
fn is_index_sum(e: &Expr) -> bool {
    fn is_index(e: &Expr) -> bool {
        match e {
            Expr::Int(_) | Expr::Var(_) => true,
            Expr::Unary(UnaryOp::Neg, a) => is_index(a),
            Expr::Binary(op, a, b) => op.is_arithmetic() && is_index(a) && is_index(b),
            _ => false,
        }
    }
    let is_sum = matches!(
        e,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) | Expr::Unary(UnaryOp::Neg, _)
    );
    is_sum && is_index(e)
}

/// A minimum or maximum of indices without the operands that never decide it where the facts hold;
/// other expressions as they are.
pub(crate) fn extremum(e: &Expr, facts: &Facts) -> Expr {
    match e {
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), ..) if kind(e) == Some(Scalar::I64) => {
            Simplifier { facts }.extremum(*op, e)
        }
        _ => e.clone(),
    }
}

struct Simplifier<'a> {
    facts: &'a Facts,
}

/// `floordiv` and `mod` as C writes them, where they are shown to be the same.
fn divisions_in_c(e: &Expr, facts: &Facts) -> Expr {
    let mut divisions = |child: &Expr| divisions_in_c(child, facts);
    if let Expr::Select(cond, then, otherwise) = e {
        let mut holds = facts.clone();
        holds.assume(cond, true);
        let mut fails = facts.clone();
        fails.assume(cond, false);
        let then = Box::new(divisions_in_c(then, &holds));
        return Expr::Select(Box::new(divisions(cond)), then, Box::new(divisions_in_c(otherwise, &fails)));
    }
    if let Expr::Binary(op @ (BinaryOp::FloorDiv | BinaryOp::Mod), a, b) = e
        && facts.proves_natural(a)
        && facts.decide(CompareOp::Ge, b, &Expr::Int(1)) == Some(true)
    {
        let op = if *op == BinaryOp::FloorDiv { BinaryOp::Div } else { BinaryOp::Rem };
        return Expr::binary(op, divisions(a), divisions(b));
    }
    e.map_children(&mut divisions)
}

/// The type of an expression as far as it shows without knowing the arrays.
pub(crate) fn kind(expr: &Expr) -> Option<Scalar> {
    match expr {
        Expr::Int(_) | Expr::Var(_) => Some(Scalar::I64),
        Expr::I32(_) => Some(Scalar::I32),
        Expr::F32(_) => Some(Scalar::F32),
        Expr::F64(_) => Some(Scalar::F64),
        Expr::Bool(_) | Expr::Compare(..) => Some(Scalar::Bool),
        Expr::Load(_) => None,
        Expr::Unary(_, a) => kind(a),
        Expr::Binary(_, a, b) | Expr::Select(_, a, b) => kind(a).or_else(|| kind(b)),
        Expr::Cast(ty, _) | Expr::Call { ty, .. } => Some(*ty),
    }
}

fn size(expr: &Expr) -> usize {
    1 + expr.children().map(size).sum::<usize>()
}

fn as_int(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Int(value) => Some(*value),
        _ => None,
    }
}

impl Simplifier<'_> {
    fn expr(&self, e: &Expr) -> Expr {
        match e {
            // A whole tree of sums and products is looked at as one polynomial over its simplified
            // atoms.
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..)
            | Expr::Unary(UnaryOp::Neg, _)
                if kind(e) == Some(Scalar::I64) =>
            {
                match self.atoms(e) {
                    Expr::Cast(Scalar::I64, index) if !index.is_data() => Expr::Cast(Scalar::I64, index),
                    atoms => self.sum(atoms),
                }
            }
            Expr::Select(cond, then, otherwise) => self.select(cond, then, otherwise),
            Expr::Load(access) => Expr::Load(access.map_indices(&mut |i| self.place(i))),
            _ => self.operation(e.map_children(&mut |child| self.expr(child))),
        }
    }

    /// The tree of sums and products with everything else in it simplified.
    fn atoms(&self, e: &Expr) -> Expr {
        match e {
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                self.lifted(self.folded(Expr::binary(*op, self.atoms(a), self.atoms(b))))
            }
            Expr::Unary(UnaryOp::Neg, a) => {
                self.lifted(self.folded(Expr::unary(UnaryOp::Neg, self.atoms(a))))
            }
            _ => self.expr(e),
        }
    }

    /// Arithmetic on indices as data becomes arithmetic on the indices, if both are shown to be the
    /// same.
    fn lifted(&self, e: Expr) -> Expr {
        match indices::lifted(e.clone(), self.facts) {
            new if new == e => e,
            Expr::Cast(Scalar::I64, index) => Expr::Cast(Scalar::I64, Box::new(self.expr(&index))),
            new => self.expr(&new),
        }
    }

    /// A subscript or bound: there an index that was made data is an index again.
    fn place(&self, e: &Expr) -> Expr {
        indices::place(&self.expr(e))
    }

    /// The value of an operation on constants, or neutral and absorbing operands dropped.
    fn folded(&self, e: Expr) -> Expr {
        let constant =
            |e: &Expr| Value::of(e).filter(|v| matches!(v, Value::I64(_) | Value::I32(_) | Value::Bool(_)));
        let value = match &e {
            Expr::Unary(op, a) => constant(a).and_then(|a| Value::unary(*op, a).ok()),
            Expr::Binary(op, a, b) => {
                constant(a).zip(constant(b)).and_then(|(a, b)| Value::binary(*op, a, b).ok())
            }
            Expr::Compare(op, a, b) => constant(a)
                .zip(constant(b))
                .and_then(|(a, b)| Value::compare(*op, a, b).ok())
                .map(Value::Bool),
            Expr::Cast(ty, a) => {
                // Of other types the converted constant is the shortest form.
                let exact = matches!(ty, Scalar::I32 | Scalar::I64 | Scalar::Bool);
                constant(a).filter(|_| exact).map(|a| a.cast(*ty))
            }
            _ => None,
        };
        if let Some(value) = value {
            return value.into();
        }
        match e {
            Expr::Binary(op, a, b) => {
                let is = |e: &Expr, value: i32| {
                    kind(e).is_some_and(|ty| ty != Scalar::Bool && *e == Expr::constant(ty, value))
                };
                let is_int = |e: &Expr| kind(e).is_some_and(Scalar::is_int);
                match op {
                    // x + 0.0 is not x for x = -0.0, but x - 0.0, x * 1.0 and x / 1.0 always are.
                    BinaryOp::Add if is(&a, 0) && is_int(&a) => *b,
                    BinaryOp::Add if is(&b, 0) && is_int(&b) => *a,
                    BinaryOp::Sub if is(&b, 0) => *a,
                    BinaryOp::Mul if is(&a, 1) => *b,
                    BinaryOp::Mul if is(&b, 1) => *a,
                    BinaryOp::Mul if is(&a, 0) && is_int(&a) => *a,
                    BinaryOp::Mul if is(&b, 0) && is_int(&b) => *b,
                    BinaryOp::Div | BinaryOp::FloorDiv if is(&b, 1) => *a,
                    BinaryOp::Rem | BinaryOp::Mod if is(&b, 1) && kind(&b) == Some(Scalar::I64) => {
                        Expr::Int(0)
                    }
                    _ => Expr::Binary(op, a, b),
                }
            }
            other => other,
        }
    }

    /// The shortest form of an `i64` sum whose atoms are simplified.
    fn sum(&self, e: Expr) -> Expr {
        let Some(poly) = Poly::of(&e).and_then(|poly| self.rejoined(poly)) else { return e };
        let mut order = Vec::new();
        atoms_in_order(&e, &mut order);
        match poly.to_expr(&order) {
            Some(short) if size(&short) < size(&e) => short,
            _ => e,
        }
    }

    /// `d * (x floordiv d) + x mod d` is `x`.
    fn rejoined(&self, mut poly: Poly) -> Option<Poly> {
        for atom in poly.clone().atoms() {
            let Expr::Binary(op, x, d) = atom else { continue };
            let quotient = match op {
                BinaryOp::Mod => BinaryOp::FloorDiv,
                BinaryOp::Rem => BinaryOp::Div,
                _ => continue,
            };
            let quotient = Poly::atom(Expr::Binary(quotient, x.clone(), d.clone()));
            let remainder = Poly::atom(atom.clone());
            let c = poly.coefficient(&Monomial::of(atom.clone()));
            let Some(c) = i64::try_from(c).ok().filter(|c| *c != 0) else { continue };
            let (Some(x), Some(d)) = (Poly::of(x), Poly::of(d)) else { continue };
            let Some(product) = d.mul(&quotient) else { continue };
            if product.terms().all(|(monomial, k)| poly.coefficient(monomial) == k * i128::from(c)) {
                let joined = product.add(&remainder)?.sub(&x)?.scale(c)?;
                poly = poly.sub(&joined)?;
            }
        }
        Some(poly)
    }

    fn operation(&self, e: Expr) -> Expr {
        let e = self.lifted(self.folded(e));
        match &e {
            Expr::Binary(op @ (BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::Div | BinaryOp::Rem), a, b)
                if kind(&e) == Some(Scalar::I64) =>
            {
                self.quotient(*op, a, b).unwrap_or(e)
            }
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), ..) if kind(&e) == Some(Scalar::I64) => {
                self.extremum(*op, &e)
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let neutral = Expr::Bool(*op == BinaryOp::And);
                let absorbing = Expr::Bool(*op == BinaryOp::Or);
                if **a == neutral || a == b {
                    (**b).clone()
                } else if **b == neutral {
                    (**a).clone()
                } else if **a == absorbing || **b == absorbing {
                    absorbing
                } else {
                    e
                }
            }
            Expr::Compare(op, a, b) => match self.facts.decide(*op, a, b) {
                Some(value) => Expr::Bool(value),
                None => e,
            },
            Expr::Unary(UnaryOp::Not, a) => self.negated((**a).clone()),
            Expr::Unary(UnaryOp::Abs, a) if self.facts.proves_natural(a) => (**a).clone(),
            Expr::Cast(ty, a) if kind(a) == Some(*ty) && (*ty != Scalar::I64 || a.is_data()) => (**a).clone(),
            _ => e,
        }
    }

    fn select(&self, cond: &Expr, then: &Expr, otherwise: &Expr) -> Expr {
        let cond = self.expr(cond);
        let branch = |holds: bool, e: &Expr| {
            let mut facts = self.facts.clone();
            facts.assume(&cond, holds);
            Simplifier { facts: &facts }.expr(e)
        };
        match cond {
            Expr::Bool(true) => self.expr(then),
            Expr::Bool(false) => self.expr(otherwise),
            _ => {
                let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                if then == otherwise && is_stable(&cond) {
                    return then;
                }
                let whole = Expr::Select(Box::new(cond), Box::new(then), Box::new(otherwise));
                indices::lifted(whole, self.facts)
            }
        }
    }

    fn negated(&self, cond: Expr) -> Expr {
        match cond {
            Expr::Bool(value) => Expr::Bool(!value),
            Expr::Unary(UnaryOp::Not, inner) => *inner,
            // Only of numbers that are ordered: not (a < b) is not a >= b for NaN.
            Expr::Compare(op, a, b) if kind(&a).or(kind(&b)).is_some_and(Scalar::is_int) => {
                Expr::Compare(op.negated(), a, b)
            }
            other => Expr::unary(UnaryOp::Not, other),
        }
    }

    /// Drops operands of minima that another operand is never above, and duals.
    fn extremum(&self, op: BinaryOp, e: &Expr) -> Expr {
        let all = operands(e, op);
        if all.len() > 16 {
            return e.clone();
        }
        let order = if op == BinaryOp::Min { CompareOp::Ge } else { CompareOp::Le };
        let mut kept: Vec<&Expr> = Vec::new();
        for operand in all {
            let beaten = |by: &&Expr| **by == *operand || self.facts.decide(order, operand, by) == Some(true);
            if kept.iter().any(beaten) {
                continue;
            }
            kept.retain(|old| self.facts.decide(order, old, operand) != Some(true));
            kept.push(operand);
        }
        let mut kept = kept.into_iter();
        let first = kept.next().cloned().unwrap_or_else(|| e.clone());
        kept.fold(first, |left, right| Expr::binary(op, left, right.clone()))
    }

    /// A shorter form of an integer quotient or remainder.
    fn quotient(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        if !is_stable(a) || !is_stable(b) {
            return None;
        }
        let (pa, pb) = (Poly::of(a)?, Poly::of(b)?);
        if as_int(b) == Some(0) {
            return None;
        }
        let positive = pb.plus(-1).is_some_and(|p| self.facts.natural(&p));
        let is_quotient = matches!(op, BinaryOp::FloorDiv | BinaryOp::Div);
        // By 0 the quotient is 0, and the remainder the dividend.
        let negative = || pb.scale(-1).and_then(|p| p.plus(-1)).is_some_and(|p| self.facts.natural(&p));
        if is_quotient && !positive && !negative() {
            return Some(self.nested(op, a, b));
        }
        let mut order = Vec::new();
        atoms_in_order(a, &mut order);
        atoms_in_order(b, &mut order);
        let finished = |poly: &Poly| poly.to_expr(&order);
        // Truncation and flooring are the same where the operands are natural, and where nothing
        // remains.
        let floors =
            matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod) || (positive && self.facts.natural(&pa));
        for (quotient, rest) in candidates(&pa, &pb) {
            let in_range = |rest: &Poly| {
                let room = pb.sub(rest).and_then(|p| p.plus(-1));
                self.facts.natural(rest) && room.is_some_and(|room| self.facts.natural(&room))
            };
            let exact = rest.as_constant() == Some(0);
            if exact || (floors && in_range(&rest)) {
                return finished(if is_quotient { &quotient } else { &rest });
            }
        }
        // b q + r: the quotient is q more than that of r, the remainder that of r, where `op`
        // rounds down.
        if floors {
            // Where both parts are longer than the whole, nothing is won: `(12 - i) floordiv 2` is
            // longer as `i floordiv 2 + 6 - i`, of which nobody sees the bounds.
            let shorter = |q: &Expr, r: &Expr| size(q) + size(r) < size(a);
            let best = candidates(&pa, &pb)
                .into_iter()
                .filter(|(q, _)| q.as_constant() != Some(0))
                .filter(|(q, r)| matches!((finished(q), finished(r)), (Some(q), Some(r)) if shorter(&q, &r)))
                // What remains of a natural number must be natural too for `/` and `%` to round
                // down.
                .filter(|(_, r)| matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod) || self.facts.natural(r))
                .filter_map(|(q, r)| Some((finished(&r)?, q)))
                .min_by_key(|(r, _)| size(r));
            if let Some((rest, q)) = best
                && size(&rest) < size(a)
            {
                let inner = self.nested(op, &rest, b);
                if is_quotient {
                    return Some(self.sum(finished(&q)? + inner));
                }
                return Some(inner);
            }
        }
        Some(self.nested(op, a, b))
    }

    /// Quotients of quotients, and remainders of remainders, by positive constants.
    fn nested(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let again = |x: &Expr, b: i64| self.operation(Expr::binary(op, x.clone(), Expr::Int(b)));
        if let Expr::Binary(inner, x, d) = a
            && *inner == op
            && let (Some(d), Some(m)) = (as_int(d), as_int(b))
            && d > 0
            && m > 0
        {
            match op {
                // Symbolic divisors stay: their product may go beyond 64 bits where they do not.
                BinaryOp::FloorDiv | BinaryOp::Div => {
                    if let Some(product) = d.checked_mul(m) {
                        return again(x, product);
                    }
                }
                // x mod (k m) mod m is x mod m.
                _ if d % m == 0 => return again(x, m),
                _ => {}
            }
        }
        Expr::binary(op, a.clone(), b.clone())
    }
}

/// Ways to write `a` as `b q + r`, the likeliest first.
fn candidates(a: &Poly, b: &Poly) -> Vec<(Poly, Poly)> {
    let mut list = Vec::new();
    for floor in [false, true] {
        let Some((q, r)) = a.div_rem(b, floor) else { continue };
        for shift in [0, -1, 1] {
            let shifted = b.scale(-shift).and_then(|change| r.add(&change));
            if let (Some(q), Some(r)) = (q.plus(shift), shifted)
                && !list.contains(&(q.clone(), r.clone()))
            {
                list.push((q, r));
            }
        }
    }
    list
}

/// The atoms of a sum as they come in the text.
fn atoms_in_order(e: &Expr, order: &mut Vec<Expr>) {
    match e {
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
            atoms_in_order(a, order);
            atoms_in_order(b, order);
        }
        Expr::Unary(UnaryOp::Neg, a) => atoms_in_order(a, order),
        Expr::Int(_) => {}
        atom if order.contains(atom) => {}
        atom => order.push(atom.clone()),
    }
}
