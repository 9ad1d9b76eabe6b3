//! Least and greatest values of index expressions in loops, as expressions in sizes.
//!
//! They hold wherever the loops around an expression run. Where they don't run, the two may be in any order.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::facts::Facts;
use crate::name::Name;
use crate::program::Loop;

/// Least and greatest value, both in terms of sizes only.
pub type Bounds = (Expr, Expr);

/// Parts of one bound.
const MOST_PARTS: usize = 64;

/// What the loops around a place say of their variables.
#[derive(Clone, Debug)]
pub struct Extremes {
    /// What is known of the sizes.
    facts: Facts,
    /// Outermost first; nothing of those that data bounds.
    loops: Vec<(Name, Option<Bounds>)>,
}

impl Extremes {
    /// Outside of all loops, where this much is known of the sizes.
    pub fn new(facts: Facts) -> Extremes {
        Extremes { facts, loops: Vec::new() }
    }

    /// Into the body of a loop.
    pub fn enter(&mut self, l: &Loop) {
        let (lower, upper) = (self.of(&l.lower), self.of(&l.upper));
        let bounds = lower.zip(upper).map(|(lower, upper)| (lower.0, sub(upper.1, Expr::Int(1))));
        self.loops.push((l.var.clone(), bounds));
    }

    /// Out of the innermost loop.
    pub fn leave(&mut self) {
        self.loops.pop();
    }

    /// The bounds of an expression; nothing if data has a part in it, or if they are too long.
    pub fn of(&self, e: &Expr) -> Option<Bounds> {
        let bounds = match e {
            Expr::Int(_) => (e.clone(), e.clone()),
            Expr::Var(name) => match self.loops.iter().rev().find(|(var, _)| var == name) {
                Some((_, bounds)) => bounds.clone()?,
                None => (e.clone(), e.clone()),
            },
            Expr::Unary(UnaryOp::Neg, a) => {
                let (low, high) = self.of(a)?;
                (negated(high), negated(low))
            }
            Expr::Unary(UnaryOp::Abs, a) => {
                let (low, high) = self.of(a)?;
                (Expr::Int(0), max(high, negated(low)))
            }
            Expr::Binary(op, a, b) => self.binary(*op, self.of(a)?, self.of(b)?)?,
            Expr::Select(_, a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                (min(a.0, b.0), max(a.1, b.1))
            }
            _ => return None,
        };
        (parts(&bounds.0) <= MOST_PARTS && parts(&bounds.1) <= MOST_PARTS).then_some(bounds)
    }

    fn binary(&self, op: BinaryOp, a: Bounds, b: Bounds) -> Option<Bounds> {
        Some(match (op, constant(&b)) {
            (BinaryOp::Add, _) => (add(a.0, b.0), add(a.1, b.1)),
            (BinaryOp::Sub, _) => (sub(a.0, b.1), sub(a.1, b.0)),
            (BinaryOp::Mul, _) => {
                let corners = self.corners(&a, &b);
                if self.rising(&a, &b) {
                    return Some((corners.first()?.clone(), corners.last()?.clone()));
                }
                let of = |pick: fn(Expr, Expr) -> Expr| corners.iter().cloned().reduce(pick);
                (of(min)?, of(max)?)
            }
            (BinaryOp::Min, _) => (min(a.0, b.0), min(a.1, b.1)),
            (BinaryOp::Max, _) => (max(a.0, b.0), max(a.1, b.1)),
            (BinaryOp::Div | BinaryOp::FloorDiv, Some(d)) if d > 0 => {
                let by =
                    |e: Expr| if e == Expr::Int(0) || d == 1 { e } else { Expr::binary(op, e, Expr::Int(d)) };
                (by(a.0), by(a.1))
            }
            // Quotients by one positive size rise with the dividend.
            (BinaryOp::Div | BinaryOp::FloorDiv, _) if b.0 == b.1 && self.is_positive(&b.0) => {
                (Expr::binary(op, a.0, b.0.clone()), Expr::binary(op, a.1, b.0))
            }
            // No quotient is further from 0 than its dividend.
            (BinaryOp::Div | BinaryOp::FloorDiv, _) => {
                (min(a.0.clone(), negated(a.1.clone())), max(a.1, negated(a.0)))
            }
            (BinaryOp::Mod, Some(d)) if d > 0 => (Expr::Int(0), Expr::Int(d - 1)),
            // It is between 0 and the divisor, and the dividend if that is 0.
            (BinaryOp::Mod, _) => (min(min(a.0, b.0), Expr::Int(0)), max(max(a.1, b.1), Expr::Int(0))),
            (BinaryOp::Rem, _) => (min(a.0, Expr::Int(0)), max(a.1, Expr::Int(0))),
            _ => return None,
        })
    }

    /// The products among which the least and the greatest are.
    pub fn corners(&self, a: &Bounds, b: &Bounds) -> Vec<Expr> {
        let pairs = match self.rising(a, b) {
            true => vec![(&a.0, &b.0), (&a.1, &b.1)],
            false => vec![(&a.0, &b.0), (&a.0, &b.1), (&a.1, &b.0), (&a.1, &b.1)],
        };
        let mut products: Vec<Expr> = Vec::new();
        for (x, y) in pairs {
            let product = mul(x.clone(), y.clone());
            if !products.contains(&product) {
                products.push(product);
            }
        }
        products
    }

    fn is_positive(&self, e: &Expr) -> bool {
        self.facts.proves_natural(&sub(e.clone(), Expr::Int(1)))
    }

    /// Whether the product is least at the least values and greatest at the greatest.
    fn rising(&self, a: &Bounds, b: &Bounds) -> bool {
        let natural = |bounds: &Bounds| self.facts.proves_natural(&bounds.0);
        // A size has one value.
        let one = |bounds: &Bounds| bounds.0 == bounds.1;
        (natural(a) || one(b)) && (natural(b) || one(a)) && (natural(a) || natural(b))
    }
}

fn constant(bounds: &Bounds) -> Option<i64> {
    match bounds {
        (Expr::Int(low), Expr::Int(high)) if low == high => Some(*low),
        _ => None,
    }
}

fn parts(e: &Expr) -> usize {
    1 + e.children().into_iter().map(parts).sum::<usize>()
}

/// An operation, folded if its operands are numbers of which 64 bits hold the result.
fn fold(op: BinaryOp, a: Expr, b: Expr, numbers: fn(i64, i64) -> Option<i64>) -> Expr {
    let folded = match (&a, &b) {
        (Expr::Int(a), Expr::Int(b)) => numbers(*a, *b),
        _ => None,
    };
    folded.map_or_else(|| Expr::binary(op, a, b), Expr::Int)
}

fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (a, Expr::Int(0)) => a,
        (Expr::Int(0), b) => b,
        (a, b) => fold(BinaryOp::Add, a, b, i64::checked_add),
    }
}

/// `a - b`; `(x + c) - c` and the like lose the constants.
fn sub(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (a, Expr::Int(0)) => a,
        (Expr::Binary(BinaryOp::Add, x, c), b) if *c == b => *x,
        (a, b) => fold(BinaryOp::Sub, a, b, i64::checked_sub),
    }
}

fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (a, Expr::Int(1)) => a,
        (Expr::Int(1), b) => b,
        (a, b) => fold(BinaryOp::Mul, a, b, i64::checked_mul),
    }
}

fn negated(a: Expr) -> Expr {
    sub(Expr::Int(0), a)
}

fn min(a: Expr, b: Expr) -> Expr {
    if a == b { a } else { fold(BinaryOp::Min, a, b, |a, b| Some(a.min(b))) }
}

fn max(a: Expr, b: Expr) -> Expr {
    if a == b { a } else { fold(BinaryOp::Max, a, b, |a, b| Some(a.max(b))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stmt;

    /// The bounds of the first subscript of the innermost statement.
    fn bounds(text: &str) -> Option<(String, String)> {
        let function = crate::parse(text).unwrap().functions.remove(0);
        let (mut extremes, mut at) = (Extremes::new(Facts::of(&function)), &function.body[0]);
        while let Stmt::Loop(l) = at {
            extremes.enter(l);
            at = &l.body[0];
        }
        let Stmt::Assign(assign) = at else { panic!("an assignment") };
        extremes.of(&assign.target.indices[0]).map(|(low, high)| (low.to_string(), high.to_string()))
    }

    fn in_loops(header: &str, subscript: &str) -> Option<(String, String)> {
        let ends = "}".repeat(1 + header.matches('{').count());
        bounds(&format!("fn f[n, m](c: in i64[n], a: inout i64[n]) {{ {header} a[{subscript}] = 0 {ends}"))
    }

    #[test]
    fn of_sums_products_and_remainders() {
        let of = |subscript| in_loops("for i in 0..n { for j in i..m + 1 {", subscript).unwrap();
        let bounds = |low: &str, high: &str| (low.to_owned(), high.to_owned());
        assert_eq!(of("i + j"), bounds("0", "n - 1 + m"));
        assert_eq!(of("j - i"), bounds("0 - (n - 1)", "m"));
        assert_eq!(of("2 * i"), bounds("0", "2 * (n - 1)"));
        assert_eq!(of("i * m"), bounds("min(0, (n - 1) * m)", "max(0, (n - 1) * m)"));
        assert_eq!(of("i mod 8"), bounds("0", "7"));
        assert_eq!(of("i floordiv 4"), bounds("0", "(n - 1) floordiv 4"));
    }

    #[test]
    fn quotients_by_positive_sizes_rise() {
        let text = "fn f[n, s](c: in i64[n], a: inout i64[n]) where s >= 1 {
            for i in 0..n floordiv s + 1 { a[i * s] = 0 }
        }";
        assert_eq!(bounds(text), Some(("0".to_owned(), "n floordiv s * s".to_owned())));
    }

    #[test]
    fn what_data_bounds_has_none() {
        assert_eq!(in_loops("for i in 0..c[0] {", "i"), None);
        assert_eq!(in_loops("for i in 0..n {", "i + c[i]"), None);
    }
}
