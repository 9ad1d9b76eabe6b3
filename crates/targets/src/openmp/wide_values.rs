//! Values of 64 bits in existing C code.
//!
//! Loop variables are `long`. Sizes have the type of the C around the region, often `int`, and C
//! then computes `100 * n` in `int`. If all operands of a 64-bit operation are `int`, one of them
//! is converted: `100 * (long)n`.

use loops::{BinaryOp, Scalar};

use crate::c::CExpr;
use crate::openmp::lower::Lower;

impl Lower<'_> {
    /// The operands of an operation of 64 bits, so that C computes in 64 bits.
    pub fn widened(&self, op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar) -> (CExpr, CExpr) {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let overflows = shift || matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        let literals = is_literal(&a) && is_literal(&b) && !shift;
        if !self.native || ty != Scalar::I64 || !overflows || literals {
            return (a, b);
        }
        match (self.narrow(&a), shift || self.narrow(&b)) {
            (true, true) if is_literal(&a) && !shift => (a, long(b)),
            (true, true) => (long(a), b),
            _ => (a, b),
        }
    }

    /// A value of 64 bits whose sign is changed.
    pub(crate) fn widened_alone(&self, a: CExpr, ty: Scalar) -> CExpr {
        let narrow = self.native && ty == Scalar::I64 && self.narrow(&a) && !is_literal(&a);
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
