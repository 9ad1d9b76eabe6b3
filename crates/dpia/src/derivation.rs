//! Derivations: the steps of a translation, one for each rule that was applied, in order.

use std::collections::BTreeMap;
use std::collections::HashMap;

use loops::{Access, Expr, LoopKind, Name, Size};

use crate::phrase::{Acc, Comm, Exp, PVar, Step};

/// One application of a rule: `before = after`.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleStep {
    /// Name of the rule, as in `docs/rules.md`.
    pub rule: &'static str,
    /// The redex.
    pub before: Phrase,
    /// What stands in its place.
    pub after: Phrase,
}

/// A side of a step.
#[derive(Clone, PartialEq, Debug)]
pub enum Phrase {
    /// A command, pending or final.
    Comm(Comm),
    /// `CodeGen_comm(c)`
    GenComm(Comm),
    /// `CodeGen_acc(a, path)`; the last element of the path is the next step.
    GenAcc(Acc, Vec<Step>),
    /// `CodeGen_exp(e, path)`
    GenExp(Exp, Vec<Step>),
    /// An operator, with `CodeGen_exp` of its operands.
    GenOp(Exp),
    /// Generated: an element of an array.
    Access(Access),
    /// Generated: an expression.
    Expr(Expr),
    /// Generated: an assignment, whose sides are still pending.
    Assign(Acc, Exp),
    /// Generated: a declaration, and the rest of its block.
    Declare(Name, Comm),
    /// Generated: a loop around a pending body.
    Loop(LoopKind, Name, Size, Comm),
    /// Generated: one block after the other, both pending.
    Both(Comm, Comm),
    /// Generated: a remark, such as why an update may be in place.
    Remark(&'static str),
}

/// What the variables of a translation stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    exps: HashMap<u32, Exp>,
    accs: HashMap<u32, Acc>,
}

impl Bindings {
    /// `var` stands for `exp`.
    pub(crate) fn set(&mut self, var: &PVar, exp: Exp) {
        self.exps.insert(var.id, exp);
    }

    /// The acceptor variable `var` stands for `acc`.
    pub(crate) fn set_acc(&mut self, var: &PVar, acc: Acc) {
        self.accs.insert(var.id, acc);
    }

    /// What `var` stands for.
    pub fn get(&self, var: &PVar) -> Option<&Exp> {
        self.exps.get(&var.id)
    }

    /// What the acceptor variable `var` stands for.
    pub(crate) fn get_acc(&self, var: &PVar) -> Option<&Acc> {
        self.accs.get(&var.id)
    }
}

/// All steps of a translation, and what its variables stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derivation {
    /// The steps, in the order in which they were taken.
    pub steps: Vec<RuleStep>,
    /// Bindings of continuation and acceptor variables.
    pub bindings: Bindings,
}

impl Derivation {
    /// How often each rule was applied.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for step in &self.steps {
            *counts.entry(step.rule).or_insert(0) += 1;
        }
        counts
    }
}
