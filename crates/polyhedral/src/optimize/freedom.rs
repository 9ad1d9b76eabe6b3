//! How much of a result is in parallel loops and loops of vectors: what a new order may have lost.

use std::collections::BTreeMap;

use loops::{Assign, LoopKind, Name, Stmt};

use crate::codegen::Generated;

/// Which statements are in loops that are free of dependences.
pub(super) struct Freedom {
    /// By the statement of the model: loops around it, and 2 for a parallel one among them, 1 for
    /// one of vectors, of the instance that has most.
    statements: BTreeMap<Name, (usize, usize)>,
}

impl Freedom {
    pub(super) fn of(generated: &Generated) -> Freedom {
        fn walk(
            body: &[Stmt],
            depth: usize,
            kinds: (usize, usize),
            generated: &Generated,
            found: &mut BTreeMap<Name, (usize, usize)>,
        ) {
            for stmt in body {
                match stmt {
                    Stmt::Assign(Assign { label: Some(label), .. }) => {
                        let Some(instance) = generated.instances.get(label) else { continue };
                        let best = found.entry(instance.original.clone()).or_default();
                        *best = (best.0.max(depth), best.1.max(kinds.0 + kinds.1));
                    }
                    Stmt::Loop(l) => {
                        let kinds = match l.kind {
                            LoopKind::Parallel => (2, kinds.1),
                            LoopKind::Vector => (kinds.0, 1),
                            _ => kinds,
                        };
                        walk(&l.body, depth + 1, kinds, generated, found);
                    }
                    other => {
                        other.bodies().into_iter().for_each(|body| walk(body, depth, kinds, generated, found))
                    }
                }
            }
        }
        let mut statements = BTreeMap::new();
        walk(&generated.function.body, 0, (0, 0), generated, &mut statements);
        Freedom { statements }
    }

    pub(super) fn is_none(&self) -> bool {
        self.statements.values().all(|(_, free)| *free == 0)
    }

    /// Whether a statement with most loops around it, where most of the work is, is in no such
    /// loop.
    pub(super) fn deepest_is_bound(&self) -> bool {
        let most = self.statements.values().map(|(depth, _)| *depth).max().unwrap_or(0);
        most > 1 && self.statements.values().any(|(depth, free)| *depth == most && *free == 0)
    }

    /// Whether all statements together have more of it; at least as much where nothing else has
    /// been won.
    pub(super) fn is_more_than(&self, other: &Freedom, something_won: bool) -> bool {
        let sum = |freedom: &Freedom| freedom.statements.values().map(|(_, free)| *free).sum::<usize>();
        sum(self) + usize::from(!something_won) > sum(other)
    }
}
