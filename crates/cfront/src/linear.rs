//! Linear forms over names as expressions, and what follows from some that are at least 0.

use arith::{Budget, Facts, Polynomial};
use loops::{BinaryOp, Expr, Name};

/// `sum of coefficient * name + constant`, in 64 bits.
pub type Linear = arith::Linear<Name, i64>;

/// The form as an expression, positive terms first; `value` gives the expression of a name.
pub fn expression(form: &Linear, value: &dyn Fn(&Name) -> Expr) -> Expr {
    let mut sum: Option<Expr> = None;
    let (positive, negative): (Vec<_>, Vec<_>) = form.terms().partition(|(_, c)| *c > 0);
    let mut constant = form.constant_term();
    if positive.is_empty() && !negative.is_empty() && constant != 0 {
        sum = Some(Expr::Int(constant));
        constant = 0;
    }
    for (name, coefficient) in positive.into_iter().chain(negative) {
        let atom = value(name);
        let magnitude = match (sum.is_some(), coefficient) {
            (true, c) => c.checked_abs().unwrap_or(i64::MAX),
            (false, c) => c,
        };
        let term = match magnitude {
            1 => atom,
            -1 => Expr::unary(loops::UnaryOp::Neg, atom),
            m => Expr::binary(BinaryOp::Mul, Expr::Int(m), atom),
        };
        sum = Some(match sum {
            None => term,
            Some(left) if coefficient < 0 => Expr::binary(BinaryOp::Sub, left, term),
            Some(left) => Expr::binary(BinaryOp::Add, left, term),
        });
    }
    match (sum, constant) {
        (None, c) => Expr::Int(c),
        (Some(left), 0) => left,
        (Some(left), c) if c < 0 && c != i64::MIN => Expr::binary(BinaryOp::Sub, left, Expr::Int(-c)),
        (Some(left), c) => Expr::binary(BinaryOp::Add, left, Expr::Int(c)),
    }
}

/// Most constraints that the prover keeps at a time, and most pairs of them that it combines.
const MAX_CONSTRAINTS: usize = 200;
const MAX_STEPS: u64 = 1_000_000;

/// Whether `goal >= 0` follows from `constraints` (each `>= 0`), as far as the prover sees.
pub fn implies(constraints: &[Linear], goal: &Linear) -> bool {
    let wide = |form: &Linear| Polynomial::of_linear(&form.widened());
    let mut facts = Facts::default();
    constraints.iter().for_each(|constraint| facts.learn(wide(constraint)));
    facts.nonnegative(&wide(goal), &Budget::new(MAX_CONSTRAINTS, MAX_STEPS))
}
