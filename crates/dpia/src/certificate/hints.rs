//! Hints for the checker: how the loops go through the reductions of a program. They are found in
//! the loops and in the steps of the strategy.
//!
//! Nothing depends on a hint being right: with a wrong one the checker says no.

use std::collections::BTreeSet;

use functional::rewrite::AnyRule;
use functional::strategy::Step;
use functional::{Prim, Term, TermKind, walk};
use loops::visit::{assigns, locals, nodes};
use loops::{BinaryOp, Expr, Function, Loop, LoopKind, Name, Scalar, Size, Stmt};

use super::data::{Law, Op, Order, Shape, Tm};
use super::target::Target;
use super::{Result, ops};
use crate::Mode;

/// What is known of the loops before the program is exported.
pub(super) struct Hints {
    pub mode: Mode,
    /// Loops in sequence over `n floordiv k`: what is `n`, and `k`.
    cuts: Vec<(Tm, i64)>,
    /// Loops in sequence from 0 to `n` by steps of `k`: what is `n`, and `k`.
    strips: Vec<(Tm, i64)>,
    /// Sums of sums: whether they lie side by side, and how many elements a block has.
    sums: Vec<(bool, Size)>,
    /// Loops in sequence over a constant.
    lengths: Vec<i64>,
    /// Whether sums of sums were made one.
    pub joins: bool,
    /// Whether a strategy splits reductions into pairs. Otherwise loops over pairs are those of
    /// alternating buffers.
    pairs: bool,
}

impl Hints {
    pub fn new(sizes: &Target, function: &Function, mode: Mode, steps: &[Step]) -> Hints {
        let (mut cuts, mut strips, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for stmt in nodes(&function.body) {
            let Stmt::Loop(l) = stmt else { continue };
            if l.kind != LoopKind::Sequential || l.lower != Expr::Int(0) {
                continue;
            }
            match &l.upper {
                // Loops whose iterations only fill elements of their own are strips of a map.
                _ if !carries(l) => {}
                n if l.step != 1 => strips.extend(sizes.expr(n).ok().map(|(n, _)| (n, l.step))),
                Expr::Int(n) => lengths.push(*n),
                Expr::Binary(BinaryOp::FloorDiv, n, k) => {
                    if let (Ok((n, _)), Expr::Int(k)) = (sizes.expr(n), &**k) {
                        cuts.push((n, *k));
                    }
                }
                _ => {}
            }
        }
        let sum = |step: &Step| match (&step.rule, step.rule.name(), &step.args[..]) {
            (AnyRule::BuiltIn(_), "reduceTree", [k]) => Some((false, k.clone())),
            (AnyRule::BuiltIn(_), "reduceLanes", [k]) => Some((true, k.clone())),
            // Sums side by side begin with an array of zeros.
            (AnyRule::Defined(rule), _, [k]) if rule.reassociates() => {
                Some((has(&step.after, Prim::Generate), k.clone()))
            }
            _ => None,
        };
        let joins = steps.iter().any(|step| step.rule.name() == "reduceJoin");
        let two = Size::constant(2);
        let pairs =
            steps.iter().any(|step| step.rule.name().starts_with("reduce") && step.args.contains(&two));
        let sums = steps.iter().filter_map(sum).collect();
        Hints { mode, cuts, strips, sums, lengths, joins, pairs }
    }

    /// Whether an iteration of `k` steps does two at a time.
    pub fn twice(&self, k: &Tm) -> bool {
        match k {
            Tm::Int(k) => *k > 1 && self.lengths.contains(&(k / 2)) && !self.lengths.contains(k),
            _ => self.cuts.iter().any(|(n, by)| n == k && *by == 2),
        }
    }

    /// The order of a reduction of `n` elements: the largest blocks that loops have, or two at a
    /// time if arrays are accumulated.
    pub fn order(&self, n: &Tm, accumulator: &Shape) -> Order {
        let arrays = accumulator.iter().any(|(_, extents)| !extents.is_empty());
        let sizes = self.cuts.iter().filter(|(length, _)| length == n).map(|(_, by)| *by);
        match sizes.max() {
            None if arrays && matches!(n, Tm::Int(_)) && self.twice(n) => Order::Turns,
            Some(2) if arrays && !self.pairs => Order::Turns,
            Some(k) => Order::Blocks(quotient(n, Tm::Int(k)), Tm::Int(k)),
            None => match self.strips.iter().find(|(length, _)| length == n) {
                Some((_, k)) => Order::Strips(strips_of(n, *k), Tm::Int(*k)),
                None => Order::InOrder,
            },
        }
    }

    /// The order of a sum of `n` numbers that a strategy has regrouped; it needs [`laws`].
    pub fn sum(&self, sizes: &Target, n: &Tm, ty: Scalar) -> Result<Option<Order>> {
        let Some((lanes, k)) = self.sums.first() else { return Ok(None) };
        let Tm::Lit(zero) = ops::constant(ty, 0) else { return Ok(None) };
        let k = sizes.size(k)?;
        let q = quotient(n, k.clone());
        Ok(Some(if *lanes { Order::Lanes(q, k, zero) } else { Order::Tree(q, k, zero) }))
    }
}

/// Whether an iteration writes, of what is there before the loop, elements that another may write.
fn carries(l: &Loop) -> bool {
    let own: BTreeSet<&Name> = locals(&l.body).map(|local| &local.name).collect();
    let mut writes = assigns(&l.body).map(|assign| &assign.target);
    writes.any(|target| !own.contains(&target.array) && !target.indices.iter().any(|i| i.mentions(&l.var)))
}

/// Whether a primitive occurs in a term.
fn has(term: &Term, wanted: Prim) -> bool {
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        if matches!(term.kind(), TermKind::Prim(prim, _) if *prim == wanted) {
            return true;
        }
        todo.extend(walk::children(term).into_iter().map(|(_, child)| child));
    }
    false
}

/// What it takes to regroup sums of this type.
pub(super) fn laws(ty: Scalar) -> Vec<Law> {
    match (Op::named("add", ty.keyword()), ops::constant(ty, 0)) {
        (Op::Scalar(op), Tm::Lit(zero)) => {
            vec![Law::Commutes(op.clone()), Law::Associates(op.clone()), Law::Neutral(zero, op)]
        }
        _ => Vec::new(),
    }
}

/// The number of strips of `k` elements, the last of which may be shorter.
fn strips_of(n: &Tm, k: i64) -> Tm {
    let raised = Tm::Op(Op::Iadd, vec![n.clone(), Tm::Int(k - 1)]);
    quotient(&raised, Tm::Int(k))
}

fn quotient(n: &Tm, k: Tm) -> Tm {
    Tm::Op(Op::Idiv, vec![n.clone(), k])
}
