//! Values of 64 bits in C that is there already.
//!
//! Subscripts, bounds and conditions on loop variables are printed as they are: the front end gives loop variables and sizes a type in which
//! these have room. A value is of 64 bits because the text said so (`100000L * i`, `(long)n * n`), and C computes it in `int` if its operands
//! are `int`s: one of them says so again.

use loops::{BinaryOp, Expr, Scalar};

use crate::c::CExpr;
use crate::openmp::lower::Lower;

impl Lower<'_> {
    /// The operands of an operation of 64 bits, so that C computes with as many.
    pub fn widened(&self, op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar) -> (CExpr, CExpr) {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let overflows = shift || matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        let literals = is_literal(&a) && is_literal(&b) && !shift;
        if !self.native || self.placing || ty != Scalar::I64 || !overflows || literals {
            return (a, b);
        }
        match (self.narrow(&a), shift || self.narrow(&b)) {
            (true, true) if is_literal(&b) && !shift => (a, long(b)),
            (true, true) => (long(a), b),
            _ => (a, b),
        }
    }

    /// A value of 64 bits whose sign is changed.
    pub fn widened_alone(&self, a: CExpr, ty: Scalar) -> CExpr {
        let narrow = self.native && !self.placing && ty == Scalar::I64 && self.narrow(&a) && !is_literal(&a);
        if narrow { long(a) } else { a }
    }

    /// Whether C has an `int` where the program has 64 bits.
    fn narrow(&self, e: &CExpr) -> bool {
        match e {
            CExpr::Literal(text) => text.parse().is_ok_and(|value: i64| value <= i64::from(i32::MAX)),
            CExpr::Name(name) => self.ints.contains(name),
            CExpr::Unary("-", a) => self.narrow(a),
            CExpr::Binary("<<" | ">>", a, _) => self.narrow(a),
            CExpr::Binary("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", a, b) => {
                self.narrow(a) && self.narrow(b)
            }
            CExpr::Binary(..) => true,
            CExpr::Ternary(_, a, b) => self.narrow(a) && self.narrow(b),
            CExpr::Call(function, args) if function.starts_with("LOZENGE_") => {
                args.iter().all(|a| self.narrow(a))
            }
            // What is loaded, cast or called is of the type that the program has.
            _ => false,
        }
    }
}

fn is_literal(e: &CExpr) -> bool {
    match e {
        CExpr::Literal(_) => true,
        CExpr::Unary("-", a) => is_literal(a),
        _ => false,
    }
}

/// An `int` as a `long`.
fn long(e: CExpr) -> CExpr {
    match e {
        CExpr::Literal(text) => CExpr::Literal(text + "L"),
        CExpr::Unary("-", a) if is_literal(&a) => CExpr::unary("-", long(*a)),
        e => CExpr::Cast("long".to_owned(), Box::new(e)),
    }
}

/// Whether a comparison is of loop variables and sizes alone.
pub fn of_places(a: &Expr, b: &Expr) -> bool {
    let mut data = false;
    for e in [a, b] {
        e.walk(&mut |e| data |= matches!(e, Expr::Load(_) | Expr::Call { .. }));
    }
    !data
}

/// Whether an expression is a sum of loop variables and sizes with small factors: what has become of a loop variable has room where that had.
pub fn is_sum(e: &Expr) -> bool {
    match e {
        Expr::Int(_) | Expr::Var(_) => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => is_sum(a) && is_sum(b),
        Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => n.unsigned_abs() <= FACTOR && is_sum(e),
            _ => false,
        },
        _ => false,
    }
}

/// Factors of loop variables that transformations make, at most.
const FACTOR: u64 = 4096;
