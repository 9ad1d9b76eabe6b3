//! Which terms may be duplicated: small ones that cost nothing to compute again.

use crate::prim::Prim;
use crate::term::{Arg, Term, TermKind};

/// Largest number of nodes of a term that is written twice.
const MAX_NODES: usize = 24;

/// Whether the term is a name, a constant, a component, an element or a view of such, and small.
pub(super) fn is_cheap(term: &Term) -> bool {
    let mut budget = MAX_NODES;
    cheap(term, &mut budget)
}

fn cheap(term: &Term, budget: &mut usize) -> bool {
    if *budget == 0 {
        return false;
    }
    *budget -= 1;
    match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => true,
        TermKind::Let(..) => false,
        TermKind::Prim(prim, args) => {
            (is_view(*prim) || matches!(prim, Prim::Index | Prim::IdxPred))
                && args.iter().all(|arg| match arg {
                    Arg::Size(_) => true,
                    Arg::Term(term) => cheap(term, budget),
                    Arg::Fun(_) => false,
                })
        }
    }
}

/// Primitives that say where a value is, and compute nothing.
pub(crate) fn is_view(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Zero
            | Prim::One
            | Prim::Pair
            | Prim::Fst
            | Prim::Snd
            | Prim::Zip
            | Prim::Unzip
            | Prim::Split
            | Prim::Join
            | Prim::Transpose
            | Prim::Reverse
            | Prim::Copy
            | Prim::Slide
            | Prim::Take
            | Prim::Drop
            | Prim::AsVector
            | Prim::AsScalar
    )
}
