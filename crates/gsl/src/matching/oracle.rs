//! A slow and simple matcher, for tests: it tries every assignment of nodes to vertices.

use graph::{Model, NodeId, Producer, Slot};

use crate::eval::{Context, Facts, Found};
use crate::matching::in_class;
use crate::program::{Arg, Item, OpPattern, Variant, What};

/// All matches of a variant without templates, as lists of nodes by vertex.
pub(crate) fn all_matches(model: &Model, facts: &Facts, variant: &Variant) -> Vec<Vec<NodeId>> {
    let nodes: Vec<NodeId> = model.graph.order().collect();
    let mut chosen = Vec::new();
    let mut out = Vec::new();
    choose(model, facts, variant, &nodes, &mut chosen, &mut out);
    out
}

fn choose(
    model: &Model,
    facts: &Facts,
    variant: &Variant,
    nodes: &[NodeId],
    chosen: &mut Vec<NodeId>,
    out: &mut Vec<Vec<NodeId>>,
) {
    if chosen.len() == variant.vertices.len() {
        if is_match(model, facts, variant, chosen) {
            out.push(chosen.clone());
        }
        return;
    }
    for node in nodes {
        let op = model.graph.node(*node).op();
        let may = match &variant.vertices[chosen.len()].op {
            OpPattern::Named(wanted) => wanted == op,
            OpPattern::Variable(k) => in_class(&variant.operators[*k], op),
        };
        // One to one.
        if may && !chosen.contains(node) {
            chosen.push(*node);
            choose(model, facts, variant, nodes, chosen, out);
            chosen.pop();
        }
    }
}

/// The definition of a match, condition by condition.
fn is_match(model: &Model, facts: &Facts, variant: &Variant, chosen: &[NodeId]) -> bool {
    let graph = &model.graph;
    let mut found = Found::new(variant);
    for (v, node) in chosen.iter().enumerate() {
        found.vertices[v] = vec![Some(*node)];
        if let OpPattern::Variable(k) = variant.vertices[v].op {
            let op = graph.node(*node).op();
            if found.operators[k].get_or_insert_with(|| op.clone()) != op {
                return false;
            }
        }
    }
    for (v, vertex) in variant.vertices.iter().enumerate() {
        let node = graph.node(chosen[v]);
        let given = node.inputs().iter().rposition(Option::is_some).map_or(0, |k| k + 1);
        let most = vertex.args.len();
        let least = vertex.args.iter().rposition(|a| !matches!(a, Arg::Optional(_))).map_or(0, |k| k + 1);
        if given < least || given > most || vertex.results.is_some_and(|n| n != node.outputs().len()) {
            return false;
        }
        for (k, arg) in vertex.args.iter().enumerate() {
            let value = node.input(k);
            let same = match arg {
                Arg::Any => value.is_some(),
                Arg::Optional(i) => {
                    *found.inputs[*i].first().cloned().flatten().get_or_insert(value) == value
                }
                Arg::Value(wanted) => match (&wanted.what, value) {
                    (_, None) => false,
                    (What::Input(i), Some(_)) => {
                        found.inputs[*i].first().copied().flatten().is_none_or(|b| b == value)
                    }
                    (What::Result(w, Item::Fixed(item)), Some(value)) => {
                        graph.producer(value) == Some((chosen[*w], *item))
                    }
                    _ => unreachable!("no computed items in these tests"),
                },
                _ => unreachable!("no templates in these tests"),
            };
            if !same {
                return false;
            }
            if let Arg::Optional(i) | Arg::Value(crate::program::ValueRef { what: What::Input(i), .. }) = arg
            {
                found.inputs[*i] = vec![Some(value)];
            }
        }
    }
    // Conditions.
    let context = Context { model, facts, variant, found: &found, memo: None };
    if !variant.constraints.iter().all(|c| context.holds(&c.what, &mut context.env())) {
        return false;
    }
    // Condition 4, and no input that goes away.
    let goes = |node: NodeId| chosen.iter().zip(&variant.vertices).any(|(n, v)| *n == node && !v.keep);
    for (v, vertex) in variant.vertices.iter().enumerate().filter(|(_, v)| !v.keep) {
        let _ = vertex;
        for (item, value) in graph.node(chosen[v]).outputs().iter().enumerate() {
            let Some(value) = value else { continue };
            let replaced = variant.outputs.iter().any(|o| (o.vertex, o.item) == (v, item));
            let outside = graph.value(*value).is_output()
                || graph.value(*value).uses().any(|u| matches!(u.slot, Slot::Capture(_)) || !goes(u.node));
            if !replaced && outside {
                return false;
            }
        }
    }
    found.inputs.iter().flatten().flatten().flatten().all(|value| match graph.value(*value).producer() {
        Producer::Node(node, _) => !goes(node),
        _ => true,
    })
}
