//! Simplification of statements: loops that never run or run once, and branches that are never
//! taken, are removed.

use std::collections::BTreeMap;

use super::{Simplifier, divisions_in_c};
use crate::expr::{CompareOp, Expr};
use crate::facts::Facts;
use crate::program::{Assign, Function, Loop, Stmt};
use crate::visit::{check_depth, substitute};

/// The function with every expression simplified, without loops that never run or run once, and
/// without dead branches.
///
/// A function that is nested too deeply comes back unchanged.
pub fn function(function: &Function) -> Function {
    rewrite(function, Division::Keep, &mut |_, _| {})
}

/// As [`function`]. `once` is told of each loop that runs once and is removed, with the value of
/// its variable. Variables of removed loops around it already have their values there.
pub fn function_telling(function: &Function, once: &mut dyn FnMut(&Loop, &Expr)) -> Function {
    rewrite(function, Division::Keep, once)
}

/// As [`function`]. `floordiv` and `mod` also become `/` and `%` where the operands are shown to be
/// natural, since targets print these best.
pub fn function_for_c(function: &Function) -> Function {
    rewrite(function, Division::AsInC, &mut |_, _| {})
}

/// Statements at a place where the facts hold, as [`function`] does it with all of them.
pub fn body_where(stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
    Statements { division: Division::Keep, once: &mut |_, _| {} }.body(stmts, facts)
}

fn rewrite(function: &Function, division: Division, once: &mut dyn FnMut(&Loop, &Expr)) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let facts = Facts::of(function);
    Function { body: Statements { division, once }.body(&function.body, &facts), ..function.clone() }
}

/// What becomes of quotients of natural numbers.
#[derive(Clone, Copy, PartialEq)]
enum Division {
    Keep,
    AsInC,
}

struct Statements<'a> {
    division: Division,
    /// Told of loops that run once.
    once: &'a mut dyn FnMut(&Loop, &Expr),
}

impl Statements<'_> {
    fn body(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for s in stmts {
            self.stmt(s, facts, &mut result);
        }
        result
    }

    fn stmt(&mut self, stmt: &Stmt, facts: &Facts, result: &mut Vec<Stmt>) {
        let simplifier = Simplifier { facts };
        let division = self.division;
        let finished = |e: Expr| match division {
            Division::Keep => e,
            Division::AsInC => divisions_in_c(&e, facts),
        };
        let whole = |e: &Expr| finished(simplifier.expr(e));
        let place = |e: &Expr| finished(simplifier.place(e));
        match stmt {
            Stmt::Loop(l) => {
                let mut new = Loop { body: Vec::new(), ..l.clone() };
                new.lower = place(&l.lower);
                new.upper = place(&l.upper);
                if l.body.is_empty() || facts.decide(CompareOp::Le, &new.upper, &new.lower) == Some(true) {
                    return;
                }
                let runs = facts.decide(CompareOp::Lt, &new.lower, &new.upper) == Some(true);
                let next = new.lower.clone() + l.step;
                if runs && l.step >= 1 && facts.decide(CompareOp::Ge, &next, &new.upper) == Some(true) {
                    (self.once)(l, &new.lower);
                    let once = BTreeMap::from([(l.var.clone(), new.lower.clone())]);
                    let inner = self.body(&substitute(&l.body, &once), facts);
                    splice(inner, result);
                    return;
                }
                let mut inside = facts.clone();
                inside.enter(&new);
                new.body = self.body(&l.body, &inside);
                if !new.body.is_empty() {
                    result.push(Stmt::Loop(new));
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = whole(cond);
                if let Expr::Bool(value) = cond {
                    splice(self.body(if value { then } else { otherwise }, facts), result);
                    return;
                }
                let mut branch = |holds: bool, stmts: &[Stmt]| {
                    let mut inside = facts.clone();
                    inside.assume(&cond, holds);
                    self.body(stmts, &inside)
                };
                let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                match (then.is_empty(), otherwise.is_empty()) {
                    (true, true) => {}
                    (true, false) => {
                        let cond = simplifier.negated(cond);
                        result.push(Stmt::If { cond, then: otherwise, otherwise: then });
                    }
                    _ => result.push(Stmt::If { cond, then, otherwise }),
                }
            }
            Stmt::Block { mark, body: inner } => {
                let inner = self.body(inner, facts);
                match mark {
                    _ if inner.is_empty() => {}
                    None => splice(inner, result),
                    Some(_) => result.push(Stmt::Block { mark: mark.clone(), body: inner }),
                }
            }
            Stmt::Assign(assign) => result.push(Stmt::Assign(Assign {
                target: assign.target.map_indices(&mut |i| place(i)),
                value: whole(&assign.value),
                ..assign.clone()
            })),
            other => result.push(other.map(&mut |e| place(e), &mut |inner| inner.to_vec())),
        }
    }
}

/// Appends statements that were in a block of their own. The block stays if it bounds the scope of
/// a local array.
fn splice(inner: Vec<Stmt>, result: &mut Vec<Stmt>) {
    if inner.iter().any(|s| matches!(s, Stmt::Local(_))) {
        result.push(Stmt::Block { mark: None, body: inner });
    } else {
        result.extend(inner);
    }
}
