//! Values in the form that the simplifier gives them, before anything else looks at them.
//!
//! `!(42 != 0)` is a constant: code that was simplified on the way has it as that, and the checker
//! compares values as they stand.

use crate::pass::{Pass, Step, changed};
use loops::facts::Facts;
use loops::{Expr, Function, Stmt, UnaryOp, Value, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "constant-folding",
        literature: "constant folding",
        about: "operations on constants, and double negations, are worked out",
    },
    run: |function| changed(function, values(function)),
};

/// The function with operations on constants, and negations, in the values of its assignments and
/// conditions worked out.
fn values(function: &Function) -> Function {
    Function { body: body(&function.body), ..function.clone() }
}

fn body(stmts: &[Stmt]) -> Vec<Stmt> {
    stmts.iter().map(stmt).collect()
}

fn stmt(stmt: &Stmt) -> Stmt {
    match stmt {
        Stmt::Assign(assign) => {
            let mut assign = assign.clone();
            assign.value = plain(&assign.value);
            Stmt::Assign(assign)
        }
        Stmt::If { cond, then, otherwise } => {
            Stmt::If { cond: plain(cond), then: body(then), otherwise: body(otherwise) }
        }
        other => other.map(&mut Expr::clone, &mut body),
    }
}

fn plain(e: &Expr) -> Expr {
    if e.nodes().any(is_open) { simplify::expr(e, &Facts::default()) } else { e.clone() }
}

/// Whether an operation has a shorter form whatever its operands are.
fn is_open(e: &Expr) -> bool {
    let constant = |e: &&Expr| matches!(Value::of(e), Some(Value::I32(_) | Value::I64(_) | Value::Bool(_)));
    match e {
        Expr::Unary(UnaryOp::Not, a) => {
            matches!(**a, Expr::Bool(_) | Expr::Compare(..) | Expr::Unary(UnaryOp::Not, _))
        }
        Expr::Unary(..) | Expr::Binary(..) | Expr::Compare(..) => e.children().all(|e| constant(&e)),
        _ => false,
    }
}
