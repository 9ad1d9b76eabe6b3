//! Proofs that a rule changes nothing. Both sides are functions from positions to elements, with
//! symbols for extents and attributes. They are brought to one normal form.
//!
//! A rule stands for infinitely many graphs. Ranks, axes, permutations, the presence of optional
//! inputs, the order of operands and the number of branches are finitely many cases up to a bound.
//! All of them are enumerated. Within a case, every number (extents, strides, paddings, values) is
//! a symbol. Only what the pattern and the conditions say about it is known. So a proof holds for
//! all sizes and values, and for ranks and branches up to the bound that it states. If a rule
//! itself distinguishes ranks or branches, the bound lies beyond.
//!
//! The proof first uses laws that keep every bit. If those are not enough, it uses laws of real
//! numbers. Not here: floating-point rounding, NaN and infinities (the rest of `soundness` compares
//! instances bit by bit).

mod case;
mod element;
mod folds;
mod int;
mod open;
mod operators;
mod ring;
mod run;
mod symbolic_expr;
mod symbolic_value;
mod tensor;
#[cfg(test)]
mod tests;
mod types;
mod windows;

use super::literals;
use crate::rule::Rule;

use case::{Bounds, Case, Choices, Stop};
use run::Run;

/// How many cases a rule may have.
const MAX_CASES: usize = 4000;

/// A proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// By laws that keep every bit; else over the reals.
    pub exact: bool,
    /// The greatest rank of the tensors that the pattern leaves open.
    pub rank: usize,
    /// The greatest number of branches of a variadic part, or of results of a split.
    pub branches: usize,
    /// How many cases were distinguished.
    pub cases: usize,
}

/// Ranks up to which rules are proved, if nothing in them asks for more.
const RANK: usize = 4;
/// Branches up to which they are.
const BRANCHES: usize = 3;
/// Beyond this no rank and no number of branches is looked at.
const MAX_REACH: usize = 8;

/// Proves a rule, or says why not. The bounds go beyond every number of the rule that meets a rank
/// or a number of branches.
///
/// # Errors
/// A description of what could not be shown.
pub fn prove(rule: &Rule) -> Result<Proof, String> {
    let reach = literals::reach(rule);
    let beyond = |what: &str, limit: usize| {
        Err(format!("a number of the rule tells {what} apart, and proofs go up to {limit}"))
    };
    if reach.branches > MAX_REACH {
        return beyond("numbers of branches", MAX_REACH);
    }
    let mut best: Result<Proof, String> = Err("no case was found to which it applies".to_owned());
    let branches = BRANCHES.max(reach.branches);
    for rank in 2..=RANK.max(reach.rank.min(MAX_REACH)) {
        match prove_within(rule, Bounds { rank, branches }) {
            Outcome::Proved(proof) => best = Ok(proof),
            Outcome::Nothing => {}
            Outcome::Failed(reason) => return Err(reason),
            Outcome::TooMany => {
                best = best.map_err(|_| "it is too much work".to_owned());
                break;
            }
        }
    }
    match &best {
        Ok(proof) if proof.rank < reach.rank => beyond("ranks", proof.rank),
        _ => best,
    }
}

enum Outcome {
    Proved(Proof),
    /// No case that is possible.
    Nothing,
    Failed(String),
    TooMany,
}

fn prove_within(rule: &Rule, bounds: Bounds) -> Outcome {
    let mut choices = Choices::default();
    let (mut cases, mut exact) = (0, true);
    for _ in 0..MAX_CASES {
        let mut run = Run::new(rule, Case::new(choices, bounds));
        match run.prove() {
            Ok(equal) => {
                cases += 1;
                exact &= equal.exact;
            }
            Err(Stop::Impossible) => {}
            Err(Stop::Unproved(why)) => return Outcome::Failed(why),
            Err(Stop::Work) => return Outcome::TooMany,
        }
        choices = run.case.into_choices();
        if !choices.advance() {
            return match cases {
                0 => Outcome::Nothing,
                _ => Outcome::Proved(Proof { exact, rank: bounds.rank, branches: bounds.branches, cases }),
            };
        }
    }
    Outcome::TooMany
}
