//! Double buffering: a loop whose body computes the next accumulator elsewhere and copies it back
//! runs without the copies.
//!
//! Two iterations become one, the second with the arrays exchanged. An odd last iteration stays as
//! it was. For the iterations of a stencil this halves the traffic to memory.

use std::collections::BTreeMap;

use loops::visit::{nodes, rename_arrays, substitute};
use loops::{BinaryOp, CompareOp, Expr, Loop, Name, Stmt};

/// The most statements of a body that is written twice more. For larger bodies the copies cost
/// less.
const SIZE_LIMIT: usize = 100;

/// What a staged update left behind.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    /// The number of statements of the loop's body in front of those that copy back.
    pub body: usize,
    /// The arrays of the next accumulator, each with the array that it is copied to.
    pub next: BTreeMap<Name, Name>,
}

/// The loop in turns; `None` if it is too large.
pub(super) fn about(l: &Loop, staged: &Staged) -> Option<Vec<Stmt>> {
    let count = nodes(&l.body).count();
    let (body, _) = l.body.split_at_checked(staged.body)?;
    if count > SIZE_LIMIT || l.lower != Expr::Int(0) || l.step != 1 {
        return None;
    }
    let two = Expr::Int(2);
    let at = |body: &[Stmt], index: Expr| substitute(body, &BTreeMap::from([(l.var.clone(), index)]));
    let twice = Expr::binary(BinaryOp::Mul, Expr::Var(l.var.clone()), two.clone());
    let mut exchange = staged.next.clone();
    exchange.extend(staged.next.iter().map(|(next, old)| (old.clone(), next.clone())));
    let first = at(body, twice.clone());
    let second = rename_arrays(&at(body, Expr::binary(BinaryOp::Add, twice, Expr::Int(1))), &exchange);
    let last = at(&l.body, Expr::binary(BinaryOp::Sub, l.upper.clone(), Expr::Int(1)));
    // Declarations need a scope of their own.
    let scoped = body.iter().any(|stmt| matches!(stmt, Stmt::Local(_)));
    let block = |body| if scoped { vec![Stmt::Block { mark: None, body }] } else { body };
    let half = match &l.upper {
        Expr::Int(n) => Expr::Int(n / 2),
        upper => Expr::binary(BinaryOp::FloorDiv, upper.clone(), two.clone()),
    };
    let mut pairs = Loop::upto(l.var.clone(), half, l.kind, [block(first), block(second)].concat());
    pairs.reductions = l.reductions.clone();
    let odd = Expr::compare(CompareOp::Eq, Expr::binary(BinaryOp::Mod, l.upper.clone(), two), Expr::Int(1));
    let all = Stmt::Loop(pairs);
    Some(match &l.upper {
        Expr::Int(n) if n % 2 == 0 => vec![all],
        Expr::Int(_) => std::iter::once(all).chain(block(last)).collect(),
        _ => vec![all, Stmt::If { cond: odd, then: last, otherwise: Vec::new() }],
    })
}
