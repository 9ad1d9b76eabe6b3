//! `choose`: an execution strategy for every `map` and `reduce` that has none.
//!
//! The outermost maps become parallel (one level). Loops inside are sequential, and innermost maps
//! over numbers become vector lanes. Reductions are sequential, except for an outermost one whose
//! additions may be regrouped: that one is parallel. With `--reassociate` those inside parallel
//! loops are, too, and get lanes later. Short loops are never parallel.

use loops::Diagnostic;

use super::run::Runner;
use crate::prim::Prim;
use crate::term::{Arg, Term, TermKind};
use crate::types::DataType;
use crate::walk::{self, Position};

/// Shorter loops than this are not worth a parallel region.
const SHORT: i64 = 64;

pub(super) fn choose(runner: &mut Runner<'_>, term: &Term, position: &Position) -> Result<Term, Diagnostic> {
    Ok(level(runner, term, position, false))
}

/// Whether the loop over the last argument may have many iterations.
fn is_long(args: &[Arg]) -> bool {
    match args.last() {
        Some(Arg::Term(xs)) => match xs.ty() {
            DataType::Array(n, _) => n.as_constant().is_none_or(|n| n > SHORT),
            _ => true,
        },
        _ => true,
    }
}

/// The first of the rules that applies.
fn first(runner: &mut Runner<'_>, rules: &[&'static str], term: &Term, position: &Position) -> Option<Term> {
    rules.iter().find_map(|rule| runner.rule(rule, term, position))
}

/// `parallel`: whether there is a parallel loop around this place.
fn level(runner: &mut Runner<'_>, term: &Term, position: &Position, parallel: bool) -> Term {
    let mut term = term.clone();
    let mut inside = parallel;
    if let TermKind::Prim(prim, args) = term.kind() {
        let chosen = match prim {
            Prim::Map => match !parallel && is_long(args) {
                true => first(runner, &["useMapPar"], &term, position),
                false => first(runner, &["useMapVec", "useMapSeq"], &term, position),
            },
            // Refused unless the order of additions is free, or makes no difference.
            // Inside a parallel loop it runs in lanes, for which the order has to be free.
            Prim::Reduce => match (!parallel || runner.reassociate) && is_long(args) {
                true => first(runner, &["useReducePar", "useReduceSeq"], &term, position),
                false => first(runner, &["useReduceSeq"], &term, position),
            },
            _ => None,
        };
        if let Some(chosen) = chosen {
            term = chosen;
        }
        inside |= matches!(
            term.kind(),
            TermKind::Prim(
                Prim::MapPar | Prim::ReducePar | Prim::ScanPar | Prim::ReduceByIndexPar | Prim::TransPar,
                _
            )
        );
    }
    let functions: Vec<u32> = match term.kind() {
        TermKind::Prim(_, args) => {
            (0u32..).zip(args).filter(|(_, arg)| matches!(arg, Arg::Fun(_))).map(|(k, _)| k).collect()
        }
        _ => Vec::new(),
    };
    walk::map_children(&term, |k, child| {
        let inner = if functions.contains(&k) { inside } else { parallel };
        level(runner, child, &position.child(k), inner)
    })
}
