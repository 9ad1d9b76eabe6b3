//! Compares the matcher with the oracle, on random graphs and on patterns that are cut out of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use graph::{Model, NodeId};
use proptest::prelude::*;

use crate::eval::Facts;
use crate::matching::{Budget, Matcher, oracle};
use crate::program::Variant;

/// Operators of the random graphs, with their numbers of inputs.
const OPS: [(&str, usize); 5] = [("Relu", 1), ("Neg", 1), ("Add", 2), ("Sub", 2), ("Where", 3)];

/// The text of a random graph. Each node has an operator and reads values before it. Some values
/// are outputs.
fn graph_text(rows: &[(usize, [prop::sample::Index; 3], bool)]) -> String {
    let mut names: Vec<String> = vec!["p".into(), "q".into()];
    let mut text = String::from("graph g {\n  input p: bool[2]\n  input q: bool[2]\n");
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut lines = Vec::new();
    for (k, (op, inputs, _)) in rows.iter().enumerate() {
        let (name, arity) = OPS[*op];
        let inputs: Vec<String> =
            inputs[..arity].iter().map(|i| names[i.index(names.len())].clone()).collect();
        used.extend(inputs.iter().cloned());
        lines.push(format!("  v{k} = {name}({})", inputs.join(", ")));
        names.push(format!("v{k}"));
    }
    text.push_str(&lines.join("\n"));
    for (k, (.., output)) in rows.iter().enumerate() {
        if *output || !used.contains(&format!("v{k}")) {
            let _ = write!(text, "\n  output v{k}: bool[2]");
        }
    }
    text + "\n}\n"
}

/// A rule whose source is the subgraph of these nodes, if it is connected. Inputs have the names of
/// their values.
fn rule_text(model: &Model, picks: &BTreeSet<usize>, repeated: bool) -> String {
    let graph = &model.graph;
    let nodes: Vec<NodeId> = graph.order().collect();
    let chosen: Vec<NodeId> = picks.iter().map(|k| nodes[*k]).collect();
    let mut text = String::from("rule r {\n  match\n");
    let mut inputs = BTreeSet::new();
    let mut roots = Vec::new();
    for id in &chosen {
        let node = graph.node(*id);
        let mut names = Vec::new();
        for (k, value) in node.inputs().iter().flatten().enumerate() {
            let inside = graph.producer(*value).is_some_and(|(n, _)| chosen.contains(&n));
            let name = match inside {
                true => format!("n_{}", graph.value(*value).name()),
                // Each use an input of its own, or one for each value.
                false if repeated => format!("i_{}_{}_{k}", graph.value(*value).name(), id.index()),
                false => format!("i_{}", graph.value(*value).name()),
            };
            if !inside {
                inputs.insert(name.clone());
            }
            names.push(name);
        }
        let Some(value) = node.output(0) else { continue };
        let _ = writeln!(text, "    n_{} = {}({})", graph.value(value).name(), node.op(), names.join(", "));
        if !graph.value(value).uses().any(|u| chosen.contains(&u.node)) {
            roots.push(graph.value(value).name().to_string());
        }
    }
    let any = inputs.iter().next().cloned().unwrap_or_default();
    text.push_str("  replace\n");
    for root in roots {
        let _ = writeln!(text, "    n_{root} = Or({any}, {any})");
    }
    text + "}\n"
}

fn variants(text: &str) -> Option<Vec<Variant>> {
    let (file, errors) = crate::parse(text);
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    let rules = crate::compile(&file);
    match rules {
        Ok(rules) => Some(rules.into_iter().flat_map(|r| r.variants).collect()),
        // Parts that are not connected are refused, and that is right.
        Err(errors) => {
            assert!(errors.iter().all(|e| e.code.0 == "R0206"), "{text}\n{errors:?}");
            None
        }
    }
}

/// For each plan and each node: a match is found exactly if the oracle knows one that begins there,
/// and it is one of them.
fn agree(model: &Model, variant: &Variant) -> Result<usize, TestCaseError> {
    let facts = Facts::of(model);
    let all = oracle::all_matches(model, &facts, variant);
    for plan in &variant.plans {
        for node in model.graph.order() {
            let mut budget = Budget::default();
            let found = Matcher::new(model, &facts, variant, plan, &mut budget).run(node);
            let wanted: Vec<&Vec<NodeId>> = all.iter().filter(|m| m[plan.anchor] == node).collect();
            match found {
                None => {
                    prop_assert!(wanted.is_empty(), "missed at {:?}: {:?}\n{}", node, wanted, model.graph)
                }
                Some(found) => {
                    let found: Vec<NodeId> = found.found.vertices.iter().filter_map(|v| v[0]).collect();
                    prop_assert!(
                        wanted.contains(&&found),
                        "{:?} is no match at {:?}\n{}",
                        found,
                        node,
                        model.graph
                    );
                }
            }
        }
    }
    Ok(all.len())
}

fn model(text: &str) -> Model {
    Model::new(graph::text::parse_graph(text).unwrap_or_else(|e| panic!("{e:?}\n{text}")), 21)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<(usize, [prop::sample::Index; 3], bool)>> {
    prop::collection::vec(
        (0..OPS.len(), any::<[prop::sample::Index; 3]>(), prop::bool::weighted(0.1)),
        3..most,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matches_are_those_of_the_oracle(
        rows in rows(12),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..5),
        other in rows(10),
        repeated in any::<bool>(),
    ) {
        let from = model(&graph_text(&rows));
        let picks: BTreeSet<usize> = picks.iter().map(|i| i.index(rows.len())).collect();
        let Some(variants) = variants(&rule_text(&from, &picks, repeated)) else { return Ok(()) };
        for variant in &variants {
            agree(&from, variant)?;
            agree(&model(&graph_text(&other)), variant)?;
        }
    }

    /// Branches: each chosen branch satisfies the conditions together with the first, and no other
    /// can be added.
    #[test]
    fn branches_are_as_many_as_there_are(kinds in prop::collection::vec((0..3usize, 0..2usize), 2..12)) {
        let mut text = String::from("graph g {\n  input x: f32[1, 2, 4, 4]\n");
        for (k, (wide, _)) in kinds.iter().enumerate() {
            let dims = [(1, 1), (3, 1), (1, 1)][*wide];
            let zeros = vec!["0.5"; 2 * dims.0 * dims.1].join(", ");
            let _ = writeln!(text, "  init w{k}: f32[1, 2, {}, {}] = [{zeros}]", dims.0, dims.1);
        }
        for (k, (_, group)) in kinds.iter().enumerate() {
            let _ = writeln!(text, "  y{k} = Conv(x, w{k}) {{ strides: [{}, 1] }}", group + 1);
        }
        for k in 0..kinds.len() {
            let _ = writeln!(text, "  output y{k}: f32[..]");
        }
        let mut model = model(&(text + "}\n"));
        graph::infer(&mut model).expect("a valid graph");
        let rule = "rule r[i: 2..] { match y[i] = Conv(x, w[i]) { strides: y[0].strides } where w[i].shape[2..] == w[0].shape[2..] \
                    replace y[i] = Conv(x, w[i]) }";
        let variants = variants(rule).expect("a good rule");
        let facts = Facts::of(&model);
        for (k, node) in model.graph.order().enumerate() {
            let like = |j: usize| (kinds[j].0 == 1) == (kinds[k].0 == 1) && kinds[j].1 == kinds[k].1;
            let wanted: Vec<usize> = (0..kinds.len()).filter(|j| like(*j)).collect();
            let mut budget = Budget::default();
            let found = Matcher::new(&model, &facts, &variants[0], &variants[0].plans[0], &mut budget).run(node);
            match found {
                None => prop_assert_eq!(wanted.len(), 1),
                Some(found) => {
                    let nodes: Vec<NodeId> = model.graph.order().collect();
                    let mut taken: Vec<usize> =
                        found.found.vertices[0].iter().filter_map(|v| nodes.iter().position(|n| Some(*n) == *v)).collect();
                    prop_assert_eq!(taken[0], k);
                    taken.sort_unstable();
                    prop_assert_eq!(taken, wanted);
                }
            }
        }
    }
}
