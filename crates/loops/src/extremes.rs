//! Least and greatest values of index expressions in loops, as expressions in sizes.
//!
//! They hold wherever the loops around an expression run. Where they don't run, the two may be in
//! any order. Data of fewer than 64 bits has the bounds of its type; of other data nothing is
//! known, until `min` or `max` bounds it.

use std::collections::HashMap;

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::facts::Facts;
use crate::name::Name;
use crate::program::{Function, Loop, Stmt};
use crate::types::{Elem, Scalar};

/// Least and greatest value, both in terms of sizes only; nothing where data gives it, or where it
/// is too long.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The least value.
    pub least: Option<Expr>,
    /// The greatest value.
    pub greatest: Option<Expr>,
}

/// Parts of one bound. None of the library's or the kernels' has more.
const MOST_PARTS: usize = 256;

/// What the loops around a place say of their variables.
#[derive(Clone, Debug)]
pub struct Extremes {
    /// What is known of the sizes.
    facts: Facts,
    /// Types of arrays; nothing of names that stand for arrays of different types.
    types: HashMap<Name, Option<Elem>>,
    /// Outermost first.
    loops: Vec<(Name, Bounds)>,
}

impl Extremes {
    /// Outside of all loops of a function, where this much is known of the sizes.
    pub fn new(function: &Function, facts: Facts) -> Extremes {
        let mut types: HashMap<Name, Option<Elem>> = HashMap::new();
        let mut add = |name: &Name, elem: &Elem| {
            let known = types.entry(name.clone()).or_insert_with(|| Some(elem.clone()));
            if known.as_ref() != Some(elem) {
                *known = None;
            }
        };
        function.params.iter().for_each(|p| add(&p.name, &p.elem));
        let mut todo: Vec<&Stmt> = function.body.iter().collect();
        while let Some(stmt) = todo.pop() {
            if let Stmt::Local(local) = stmt {
                add(&local.name, &local.elem);
            }
            todo.extend(stmt.bodies().into_iter().flatten());
        }
        Extremes { facts, types, loops: Vec::new() }
    }

    /// Into the body of a loop.
    pub fn enter(&mut self, l: &Loop) {
        let (lower, upper) = (self.of(&l.lower), self.of(&l.upper));
        let last = upper.greatest.map(|upper| sub(upper, Expr::Int(1)));
        self.loops.push((l.var.clone(), Bounds { least: lower.least, greatest: last }));
    }

    /// Out of the innermost loop.
    pub fn leave(&mut self) {
        self.loops.pop();
    }

    /// Whether it is the variable of a loop around this place.
    pub fn is_loop_variable(&self, e: &Expr) -> bool {
        matches!(e, Expr::Var(name) if self.loops.iter().any(|(var, _)| var == name))
    }

    /// The bounds of an expression.
    pub fn of(&self, e: &Expr) -> Bounds {
        let bounds = match e {
            Expr::Int(_) => Bounds::exactly(e.clone()),
            Expr::I32(value) => Bounds::exactly(Expr::Int((*value).into())),
            Expr::Var(name) => match self.loops.iter().rev().find(|(var, _)| var == name) {
                Some((_, bounds)) => bounds.clone(),
                None => Bounds::exactly(e.clone()),
            },
            Expr::Select(_, a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                Bounds { least: both(min, a.least, b.least), greatest: both(max, a.greatest, b.greatest) }
            }
            // The value of an index as data.
            Expr::Cast(Scalar::I64, index) if !index.is_data() => self.of(index),
            // Of data, these can't wrap around.
            Expr::Binary(
                op @ (BinaryOp::Min | BinaryOp::Max | BinaryOp::Mod | BinaryOp::Rem | BinaryOp::FloorDiv),
                a,
                b,
            ) => self.binary(*op, &self.of(a), &self.of(b)),
            _ if e.is_data() && !is_constant(e) => self.of_type(e),
            Expr::Unary(UnaryOp::Neg, a) => {
                let a = self.of(a);
                Bounds { least: a.greatest.map(negated), greatest: a.least.map(negated) }
            }
            Expr::Unary(UnaryOp::Abs, a) => {
                let a = self.of(a);
                let greatest = both(max, a.greatest, a.least.map(negated));
                Bounds { least: Some(Expr::Int(0)), greatest }
            }
            Expr::Binary(op, a, b) => self.binary(*op, &self.of(a), &self.of(b)),
            _ => Bounds::default(),
        };
        let short = |e: &Expr| parts(e) <= MOST_PARTS;
        Bounds { least: bounds.least.filter(short), greatest: bounds.greatest.filter(short) }
    }

    /// The bounds that the type of a piece of data gives.
    fn of_type(&self, e: &Expr) -> Bounds {
        let (least, greatest) = match self.type_of(e) {
            Some(Scalar::I8) => (i8::MIN.into(), i8::MAX.into()),
            Some(Scalar::U8) => (0, u8::MAX.into()),
            Some(Scalar::I16) => (i16::MIN.into(), i16::MAX.into()),
            Some(Scalar::U16) => (0, u16::MAX.into()),
            Some(Scalar::I32) => (i32::MIN.into(), i32::MAX.into()),
            Some(Scalar::U32) => (0, u32::MAX.into()),
            _ => return Bounds::default(),
        };
        Bounds { least: Some(Expr::Int(least)), greatest: Some(Expr::Int(greatest)) }
    }

    fn type_of(&self, e: &Expr) -> Option<Scalar> {
        match e {
            Expr::Cast(Scalar::I64, inner) => match self.type_of(inner) {
                // The same value at a wider type.
                Some(Scalar::F32 | Scalar::F64 | Scalar::U64) => None,
                narrow => narrow,
            },
            Expr::Cast(to, _) => Some(*to),
            Expr::Call { ty, .. } => Some(*ty),
            Expr::I32(_) => Some(Scalar::I32),
            Expr::Load(access) => match self.types.get(&access.array)?.as_ref()? {
                Elem::Scalar(scalar) => Some(*scalar),
                Elem::Pair(..) => None,
            },
            // At `i64` the operation may leave the bounds of a narrow operand.
            Expr::Binary(_, a, _) => match &**a {
                Expr::Cast(Scalar::I64, _) => None,
                a => self.type_of(a),
            },
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, a: &Bounds, b: &Bounds) -> Bounds {
        let (a, b) = (a.clone(), b.clone());
        let zero = || Expr::Int(0);
        let (least, greatest) = match (op, constant(&b)) {
            (BinaryOp::Add, _) => (both(add, a.least, b.least), both(add, a.greatest, b.greatest)),
            (BinaryOp::Sub, _) => (both(sub, a.least, b.greatest), both(sub, a.greatest, b.least)),
            (BinaryOp::Mul, _) => return self.product(&a, &b),
            (BinaryOp::Min, _) => (both(min, a.least, b.least), either(min, a.greatest, b.greatest)),
            (BinaryOp::Max, _) => (either(max, a.least, b.least), both(max, a.greatest, b.greatest)),
            (BinaryOp::Div | BinaryOp::FloorDiv, Some(d)) if d > 0 => {
                let by = |e: Expr| if e == zero() || d == 1 { e } else { Expr::binary(op, e, Expr::Int(d)) };
                (a.least.map(by), a.greatest.map(by))
            }
            (BinaryOp::Div | BinaryOp::FloorDiv, _) => match b.one().filter(|b| self.is_positive(b)) {
                // Quotients by one positive size rise with the dividend.
                Some(b) => {
                    let by = |e: Expr| Expr::binary(op, e, b.clone());
                    (a.least.map(by), a.greatest.map(by))
                }
                // No quotient is further from 0 than its dividend.
                None => (
                    both(min, a.least.clone(), a.greatest.clone().map(negated)),
                    both(max, a.greatest, a.least.map(negated)),
                ),
            },
            (BinaryOp::Mod, Some(d)) if d > 0 => (Some(zero()), Some(Expr::Int(d - 1))),
            (BinaryOp::Mod, _) if b.least.as_ref().is_some_and(|b| self.is_positive(b)) => {
                (Some(zero()), b.greatest.map(|d| sub(d, Expr::Int(1))))
            }
            // It is between 0 and the divisor, and the dividend if that is 0.
            (BinaryOp::Mod, _) => (
                both(min, a.least, b.least).map(|e| min(e, zero())),
                both(max, a.greatest, b.greatest).map(|e| max(e, zero())),
            ),
            (BinaryOp::Rem, _) => (a.least.map(|e| min(e, zero())), a.greatest.map(|e| max(e, zero()))),
            _ => (None, None),
        };
        Bounds { least, greatest }
    }

    fn product(&self, a: &Bounds, b: &Bounds) -> Bounds {
        let Some(corners) = self.corners(a, b) else { return Bounds::default() };
        if self.rising(a, b) {
            return Bounds { least: corners.first().cloned(), greatest: corners.last().cloned() };
        }
        let of = |pick: fn(Expr, Expr) -> Expr| corners.iter().cloned().reduce(pick);
        Bounds { least: of(min), greatest: of(max) }
    }

    /// The products among which the least and the greatest are; nothing if a factor is not bounded.
    pub fn corners(&self, a: &Bounds, b: &Bounds) -> Option<Vec<Expr>> {
        let (a_ends, b_ends) = (a.ends()?, b.ends()?);
        let pairs = match self.rising(a, b) {
            true => vec![(a_ends.0, b_ends.0), (a_ends.1, b_ends.1)],
            false => {
                vec![(a_ends.0, b_ends.0), (a_ends.0, b_ends.1), (a_ends.1, b_ends.0), (a_ends.1, b_ends.1)]
            }
        };
        let mut products: Vec<Expr> = Vec::new();
        for (x, y) in pairs {
            let product = mul(x.clone(), y.clone());
            if !products.contains(&product) {
                products.push(product);
            }
        }
        Some(products)
    }

    fn is_positive(&self, e: &Expr) -> bool {
        self.facts.proves_natural(&sub(e.clone(), Expr::Int(1)))
    }

    /// Whether the product is least at the least values and greatest at the greatest.
    fn rising(&self, a: &Bounds, b: &Bounds) -> bool {
        let natural = |bounds: &Bounds| bounds.least.as_ref().is_some_and(|e| self.facts.proves_natural(e));
        // A size has one value.
        let one = |bounds: &Bounds| bounds.one().is_some();
        (natural(a) || one(b)) && (natural(b) || one(a)) && (natural(a) || natural(b))
    }
}

impl Bounds {
    fn exactly(e: Expr) -> Bounds {
        Bounds { least: Some(e.clone()), greatest: Some(e) }
    }

    /// Both, if both are known.
    pub fn ends(&self) -> Option<(&Expr, &Expr)> {
        self.least.as_ref().zip(self.greatest.as_ref())
    }

    /// The only value.
    fn one(&self) -> Option<Expr> {
        self.ends().filter(|(least, greatest)| least == greatest).map(|(least, _)| least.clone())
    }
}

/// What two bounds give if both are known.
fn both(of: fn(Expr, Expr) -> Expr, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    a.zip(b).map(|(a, b)| of(a, b))
}

/// What two bounds give, each of which holds alone.
fn either(of: fn(Expr, Expr) -> Expr, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(of(a, b)),
        (a, b) => a.or(b),
    }
}

fn is_constant(e: &Expr) -> bool {
    matches!(e, Expr::Int(_))
        || matches!(e, Expr::Unary(..) | Expr::Binary(..)) && e.children().all(is_constant)
}

fn constant(bounds: &Bounds) -> Option<i64> {
    match bounds.one() {
        Some(Expr::Int(value)) => Some(value),
        _ => None,
    }
}

fn parts(e: &Expr) -> usize {
    1 + e.children().map(parts).sum::<usize>()
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
        let (mut extremes, mut at) = (Extremes::new(&function, Facts::of(&function)), &function.body[0]);
        while let Stmt::Loop(l) = at {
            extremes.enter(l);
            at = &l.body[0];
        }
        let Stmt::Assign(assign) = at else { panic!("an assignment") };
        let bounds = extremes.of(&assign.target.indices[0]);
        bounds.ends().map(|(least, greatest)| (least.to_string(), greatest.to_string()))
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
