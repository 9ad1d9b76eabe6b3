//! Replaces arithmetic on indices as data by arithmetic on the indices, if both have the same
//! value.
//!
//! `i64(i) * 4 + 1` wraps; `i64(i * 4 + 1)` does not. They are the same if loops and extents show
//! that 64 bits suffice. Subscripts, bounds and comparisons of such values then become affine.

use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::facts::{Facts, is_stable};
use crate::program::{Assign, Function, Loop, Stmt};
use crate::types::Scalar;
use crate::visit::check_depth;

/// The function with data arithmetic replaced by index arithmetic, where both are shown to be the
/// same, and without clamps of indices that change nothing.
///
/// A function that is nested too deeply comes back unchanged.
pub fn function(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let facts = Facts::of(function);
    Function { body: body(&function.body, &facts), ..function.clone() }
}

fn body(stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
    stmts.iter().map(|s| stmt(s, facts)).collect()
}

fn stmt(stmt: &Stmt, facts: &Facts) -> Stmt {
    match stmt {
        Stmt::Loop(l) => {
            let (lower, upper) = (place(&expr(&l.lower, facts)), place(&expr(&l.upper, facts)));
            let new = Loop { lower, upper, body: Vec::new(), ..l.clone() };
            let mut inside = facts.clone();
            inside.enter(&new);
            Stmt::Loop(Loop { body: body(&l.body, &inside), ..new })
        }
        Stmt::If { cond, then, otherwise } => {
            let cond = expr(cond, facts);
            let branch = |holds: bool, stmts: &[Stmt]| {
                let mut inside = facts.clone();
                inside.assume(&cond, holds);
                body(stmts, &inside)
            };
            let (then, otherwise) = (branch(true, then), branch(false, otherwise));
            Stmt::If { cond, then, otherwise }
        }
        Stmt::Assign(assign) => Stmt::Assign(Assign {
            target: assign.target.map_indices(&mut |i| place(&expr(i, facts))),
            value: expr(&assign.value, facts),
            ..assign.clone()
        }),
        other => other.map(&mut |e| place(&expr(e, facts)), &mut |inner| body(inner, facts)),
    }
}

fn expr(e: &Expr, facts: &Facts) -> Expr {
    match e {
        Expr::Select(cond, then, otherwise) => {
            let cond = expr(cond, facts);
            let branch = |holds: bool, e: &Expr| {
                let mut inside = facts.clone();
                inside.assume(&cond, holds);
                Box::new(expr(e, &inside))
            };
            let (then, otherwise) = (branch(true, then), branch(false, otherwise));
            lifted(Expr::Select(Box::new(cond), then, otherwise), facts)
        }
        Expr::Load(access) => Expr::Load(access.map_indices(&mut |i| place(&expr(i, facts)))),
        _ => unclamped(lifted(e.map_children(&mut |child| expr(child, facts)), facts), facts),
    }
}

/// A minimum or maximum of indices without operands that never decide it: `toIdx` clamps what is in
/// range anyway.
fn unclamped(e: Expr, facts: &Facts) -> Expr {
    let clamps = |e: &Expr| matches!(e, Expr::Binary(BinaryOp::Min | BinaryOp::Max, ..));
    match &e {
        Expr::Cast(Scalar::I64, index) if clamps(index) && !index.is_data() => {
            Expr::Cast(Scalar::I64, Box::new(crate::simplify::extremum(index, facts)))
        }
        index if clamps(index) && !index.is_data() => crate::simplify::extremum(index, facts),
        _ => e,
    }
}

/// The index of which an expression is the value as data, if there is one. A subscript or a bound
/// is that index.
pub(crate) fn place(e: &Expr) -> Expr {
    match e {
        Expr::Cast(Scalar::I64, index) if !index.is_data() => (**index).clone(),
        e => e.clone(),
    }
}

/// Replaces an operation on indices as data by one on the indices, if both are shown to have the
/// same value.
pub(crate) fn lifted(e: Expr, facts: &Facts) -> Expr {
    let of_index = |e: &Expr| matches!(e, Expr::Cast(Scalar::I64, i) if !i.is_data());
    // Operands that are indices already are those of the compiler's own subscripts.
    let index = |e: &Expr| {
        let own = is_stable(e) && crate::simplify::kind(e) == Some(Scalar::I64);
        e.as_index().or(own.then_some(e)).cloned()
    };
    let data = |e: Expr| Expr::Cast(Scalar::I64, Box::new(e));
    match &e {
        Expr::Binary(op, a, b) if of_index(a) || of_index(b) => {
            let (Some(a), Some(b)) = (index(a), index(b)) else { return e };
            let exact = Expr::binary(*op, a, b.clone());
            let fits = match op {
                BinaryOp::Min | BinaryOp::Max => true,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => facts.proves_fit(&exact),
                op if op.divides() => facts.decide(CompareOp::Ge, &b, &Expr::Int(1)) == Some(true),
                _ => false,
            };
            if fits { data(exact) } else { e }
        }
        Expr::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs), a) if of_index(a) => {
            let Some(a) = index(a) else { return e };
            let fits = facts.proves_fit(&Expr::unary(UnaryOp::Neg, a.clone()));
            if fits { data(Expr::unary(*op, a)) } else { e }
        }
        Expr::Compare(op, a, b) if of_index(a) || of_index(b) => match (index(a), index(b)) {
            (Some(a), Some(b)) => Expr::compare(*op, a, b),
            _ => e,
        },
        Expr::Select(cond, a, b) if of_index(a) || of_index(b) => match (index(a), index(b)) {
            (Some(a), Some(b)) if is_stable(cond) => {
                data(Expr::Select(cond.clone(), Box::new(a), Box::new(b)))
            }
            _ => e,
        },
        Expr::Cast(to, a) if of_index(a) => match index(a) {
            Some(index) if *to != Scalar::I64 => Expr::Cast(*to, Box::new(index)),
            _ => e,
        },
        _ => e,
    }
}
