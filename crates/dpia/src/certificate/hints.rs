//! How the loops go through the reductions of a program: found in the loops and in the steps of the strategy, for the checker to begin with.
//!
//! Nothing depends on a hint being right: with a wrong one the checker says no.

use functional::strategy::Step;
use loops::{BinaryOp, Expr, Function, LoopKind, Scalar, Size, Stmt};

use super::data::{Law, Op, Order, Tm};
use super::target::Target;
use super::{Result, ops};
use crate::Mode;

/// What is known of the loops before the program is exported.
pub(super) struct Hints {
    pub mode: Mode,
    /// Loops in sequence over `n floordiv k`: what is `n`, and `k`.
    cuts: Vec<(Tm, i64)>,
    /// Sums of sums: whether they lie side by side, and how many elements a block has.
    sums: Vec<(bool, Size)>,
}

impl Hints {
    pub fn new(sizes: &Target, function: &Function, mode: Mode, steps: &[Step]) -> Hints {
        let mut cuts = Vec::new();
        let mut visit = |stmt: &Stmt| {
            if let Stmt::Loop(l) = stmt
                && l.kind == LoopKind::Sequential
                && l.lower == Expr::Int(0)
                && let Expr::Binary(BinaryOp::FloorDiv, n, k) = &l.upper
                && let (Ok((n, _)), Expr::Int(k)) = (sizes.expr(n), &**k)
            {
                cuts.push((n, *k));
            }
        };
        function.body.iter().for_each(|stmt| stmt.walk(&mut visit));
        let sum = |step: &Step| match (step.rule, &step.args[..]) {
            ("reduceTree", [k]) => Some((false, k.clone())),
            ("reduceLanes", [k]) => Some((true, k.clone())),
            _ => None,
        };
        Hints { mode, cuts, sums: steps.iter().filter_map(sum).collect() }
    }

    /// Whether an iteration of `k` steps does two at a time.
    pub fn twice(&self, k: &Tm) -> bool {
        self.cuts.iter().any(|(n, by)| n == k && *by == 2)
    }

    /// The order of a reduction of `n` elements: the largest blocks that loops have.
    pub fn blocks(&self, n: &Tm) -> Order {
        let sizes = self.cuts.iter().filter(|(length, _)| length == n).map(|(_, by)| *by);
        match sizes.max() {
            Some(k) => Order::Blocks(quotient(n, Tm::Int(k)), Tm::Int(k)),
            None => Order::InOrder,
        }
    }

    /// The order of a sum of `n` numbers that a strategy has regrouped, and the laws that this needs.
    pub fn sum(&self, sizes: &Target, n: &Tm, ty: Scalar) -> Result<(Option<Order>, Vec<Law>)> {
        let Some((lanes, k)) = self.sums.first() else { return Ok((None, Vec::new())) };
        let Tm::Lit(zero) = ops::constant(ty, 0) else { return Ok((None, Vec::new())) };
        let k = sizes.size(k)?;
        let q = quotient(n, k.clone());
        let Op::Scalar(op) = Op::named("add", ty.keyword()) else { return Ok((None, Vec::new())) };
        let laws =
            vec![Law::Commutes(op.clone()), Law::Associates(op.clone()), Law::Neutral(zero.clone(), op)];
        let order = if *lanes { Order::Lanes(q, k, zero) } else { Order::Tree(q, k, zero) };
        Ok((Some(order), laws))
    }
}

fn quotient(n: &Tm, k: Tm) -> Tm {
    Tm::Op(Op::Idiv, vec![n.clone(), k])
}
