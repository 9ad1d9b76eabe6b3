//! The two theorems of bidirectional matching on random graphs, in the words of the chapter.
//!
//! `rpo(G)` lists each vertex after its predecessors: a postorder along the edges backward, from
//! the outputs in their order. Successor lists are in its order. Theorem 2 says less than it seems
//! to: the last outputs of the pattern must be listed in the order in which the graph reaches them
//! , none of them may be used inside the pattern, and no way may lead from a matched output through
//! the rest of the graph to a matched input. Without either it is false, as the last test shows;
//! the matcher of this crate does not rely on it (it tries every successor that is not matched yet,
//! where the chapter takes the one at the same place).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

/// A graph: the predecessors of each vertex in order (all of smaller number), and the outputs.
#[derive(Clone, Debug)]
struct Dag {
    preds: Vec<Vec<usize>>,
    outputs: Vec<usize>,
}

impl Dag {
    fn rpo(&self) -> Vec<usize> {
        fn visit(g: &Dag, v: usize, seen: &mut BTreeSet<usize>, order: &mut Vec<usize>) {
            if seen.insert(v) {
                g.preds[v].iter().for_each(|p| visit(g, *p, seen, order));
                order.push(v);
            }
        }
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        self.outputs.iter().for_each(|o| visit(self, *o, &mut seen, &mut order));
        order
    }

    /// Successors of each vertex, each once, in the order of `rpo`.
    fn succs(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut succs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for v in self.rpo() {
            for p in self.preds[v].iter().collect::<BTreeSet<_>>() {
                succs.entry(*p).or_default().push(v);
            }
        }
        succs
    }

    /// R(v): what reaches `v`, itself included.
    fn reaching(&self, v: usize) -> BTreeSet<usize> {
        Dag { preds: self.preds.clone(), outputs: vec![v] }.rpo().into_iter().collect()
    }
}

/// A random graph whose outputs are the vertices without successors, in a random order.
fn dag(most: usize) -> impl Strategy<Value = Dag> {
    prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..3), 3..most)
        .prop_flat_map(|rows| {
            let preds: Vec<Vec<usize>> = rows
                .iter()
                .enumerate()
                .map(|(v, row)| if v == 0 { Vec::new() } else { row.iter().map(|i| i.index(v)).collect() })
                .collect();
            let used: BTreeSet<usize> = preds.iter().flatten().copied().collect();
            let outputs: Vec<usize> = (0..preds.len()).filter(|v| !used.contains(v)).collect();
            (Just(preds), Just(outputs).prop_shuffle())
        })
        .prop_map(|(preds, outputs)| Dag { preds, outputs })
}

/// Outputs that share a reachable vertex with those before, as a rule demands of its source.
fn connected(g: &Dag) -> Dag {
    let mut outputs = vec![g.outputs[0]];
    let mut reached = g.reaching(g.outputs[0]);
    while let Some(next) =
        g.outputs.iter().find(|o| !outputs.contains(o) && !g.reaching(**o).is_disjoint(&reached))
    {
        reached.extend(g.reaching(*next));
        outputs.push(*next);
    }
    Dag { preds: g.preds.clone(), outputs }
}

/// A match: a set of vertices of the graph as a pattern, its inputs cut off from what is before
/// them.
fn pattern(g: &Dag, inside: &BTreeSet<usize>) -> Dag {
    // Predecessors of inner vertices that are not inside are inputs.
    let preds = g
        .preds
        .iter()
        .enumerate()
        .map(|(v, p)| if inside.contains(&v) { p.clone() } else { Vec::new() })
        .collect();
    let succs = g.succs();
    // Outputs that others of the match use are reached from those; only the last ones need listing.
    let is_last = |v: &usize| succs.get(v).is_none_or(|s| s.iter().all(|w| !inside.contains(w)));
    let order = g.rpo();
    let outputs = order.into_iter().filter(|v| inside.contains(v) && is_last(v)).collect();
    Dag { preds, outputs }
}

fn is_convex(g: &Dag, inside: &BTreeSet<usize>) -> bool {
    // No vertex outside lies between two inside.
    (0..g.preds.len()).filter(|v| !inside.contains(v)).all(|v| {
        let before = g.reaching(v);
        let after_inside = inside.iter().any(|w| g.reaching(*w).contains(&v));
        !(after_inside && inside.iter().any(|w| before.contains(w)))
    })
}

fn corresponds(g: &Dag, p: &Dag, inside: &BTreeSet<usize>) -> Result<(), String> {
    let (graph, pattern) = (g.succs(), p.succs());
    for (v, own) in &pattern {
        let all = graph.get(v).cloned().unwrap_or_default();
        let is_output = all.iter().any(|w| !inside.contains(w));
        if inside.contains(v) && !is_output && *own != all {
            return Err(format!("inner vertex {v}: {own:?} in the pattern, {all:?} in the graph"));
        }
        let mut rest = all.iter();
        if !own.iter().all(|w| rest.any(|x| x == w)) {
            return Err(format!("vertex {v}: {own:?} is no subsequence of {all:?}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 1 << 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// Theorem 1: when the k-th output is looked for, some matched vertex has a way to it on which
    /// each vertex but the first is the first successor of the one before that is not matched.
    #[test]
    fn a_way_of_first_unmatched_successors_leads_to_the_next_output(g in dag(24)) {
        let g = connected(&g);
        let succs = g.succs();
        let mut matched: BTreeSet<usize> = g.reaching(g.outputs[0]);
        for output in &g.outputs[1..] {
            let found = matched.iter().any(|start| {
                let mut at = *start;
                loop {
                    let next = succs.get(&at).and_then(|s| s.iter().find(|v| !matched.contains(v)));
                    match next {
                        None => return false,
                        Some(v) if v == output => return true,
                        Some(v) => at = *v,
                    }
                }
            });
            prop_assert!(found, "no way to {} in {:?}", output, g);
            matched.extend(g.reaching(*output));
        }
    }

    /// Theorem 2, for convex matches with outputs in the order of the graph.
    #[test]
    fn successors_of_a_match_correspond(g in dag(24), picks in prop::collection::vec(any::<prop::sample::Index>(), 1..8)) {
        let order = g.rpo();
        let inside: BTreeSet<usize> = picks.iter().map(|i| order[i.index(order.len())]).filter(|v| !g.preds[*v].is_empty()).collect();
        let succs = g.succs();
        let whole = inside.iter().all(|v| {
            let after = succs.get(v).map_or(&[][..], Vec::as_slice);
            after.iter().all(|w| inside.contains(w)) || !after.iter().any(|w| inside.contains(w))
        });
        prop_assume!(!inside.is_empty() && whole && is_convex(&g, &inside));
        let p = pattern(&g, &inside);
        if let Err(problem) = corresponds(&g, &p, &inside) {
            return Err(TestCaseError::fail(format!("{problem}\n{g:?}\n{inside:?} {p:?}")));
        }
    }
}

/// Outputs in another order than the graph's: the successors of an inner vertex change places.
#[test]
fn theorem_2_needs_the_order_of_the_graph() {
    // 0 -> 1 -> {2, 3}, and the pattern lists 3 before 2.
    let g = Dag { preds: vec![vec![], vec![0], vec![1], vec![1]], outputs: vec![2, 3] };
    let inside = BTreeSet::from([1, 2, 3]);
    let mut p = pattern(&g, &inside);
    assert!(corresponds(&g, &p, &inside).is_ok());
    p.outputs.reverse();
    assert!(corresponds(&g, &p, &inside).is_err());
}
