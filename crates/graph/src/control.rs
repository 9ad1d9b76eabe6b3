//! Prepares branches and loops for compilation. Conditions that are constant are decided. What is
//! constant around a subgraph becomes constant in it. A `Scan` is made to go along first axes.
//!
//! This module also finds out how often a `Loop` runs. Not here: types of branches and loops
//! (`infer`), what they compute (`evaluate`), where their values are stored (`plan`).

use std::sync::Arc;

use loops::{Code, Diagnostic};

use crate::attribute::AttributeValue;
use crate::functions;
use crate::graph::{Graph, NewNode, Node, NodeId, Place, Producer, ValueId};
use crate::model::Model;
use crate::simplify::{FoldOptions, Simplified, simplify};
use crate::tensor::Tensor;

/// Rounds of deciding and folding, at most: each takes branches away.
const MOST_ROUNDS: usize = 64;
/// Graphs nested deeper than this stay as they are.
const MAX_DEPTH: u32 = 64;

/// Folds constants, decides branches by them, and does so inside of the branches and loops that
/// stay. The extents of the model's inputs must be numbers and its types inferred.
///
/// # Errors
/// As [`functions::decide`]; `G0301` if the types of what a branch leaves contradict each other.
pub fn settle(model: &mut Model, options: &FoldOptions) -> Result<(), Diagnostic> {
    settle_at(model, options, 0)
}

fn settle_at(model: &mut Model, options: &FoldOptions, depth: u32) -> Result<(), Diagnostic> {
    for _ in 0..MOST_ROUNDS {
        let Simplified { folded, .. } = simplify(model, options);
        let decided = functions::decide(model)?;
        // Shapes are constants once types are known, and other types follow from these.
        if folded + decided > 0 {
            crate::infer(model)?;
        }
        if decided == 0 && (folded == 0 || simplify(model, options).folded == 0) {
            break;
        }
        crate::infer(model)?;
    }
    if depth >= MAX_DEPTH {
        return Ok(());
    }
    if rows_first(&mut model.graph) {
        crate::infer(model)?;
    }
    let with_graphs: Vec<NodeId> =
        model.graph.nodes().filter(|(_, node)| node.has_subgraphs()).map(|(id, _)| id).collect();
    for id in &with_graphs {
        let branches = model.graph.node(*id).op().is("If");
        let mut attributes = model.graph.node(*id).attributes().to_vec();
        for attribute in &mut attributes {
            if let AttributeValue::Graph(inner) = &mut attribute.value {
                let mut inside = Model::new((**inner).clone(), model.opset());
                inside.opsets.clone_from(&model.opsets);
                bring_in(&mut inside.graph, &model.graph);
                // What a branch or a body returns is computed where its place is.
                let options = FoldOptions { returned: false, ..*options };
                match settle_at(&mut inside, &options, depth + 1) {
                    Ok(()) => {}
                    // A branch that does not fit stays as far as it came: its nodes contradict each
                    // other. Inference refuses two of them.
                    Err(d) if branches && d.code == Code("G0301") => {}
                    Err(d) => return Err(d),
                }
                *inner = Arc::new(inside.graph);
            }
        }
        model.graph.set_attributes(*id, attributes);
    }
    if !with_graphs.is_empty() {
        crate::infer(model)?;
    }
    Ok(())
}

/// Makes each `Scan` go along first axes only, by transpositions before and after it. Returns
/// whether anything changed.
fn rows_first(graph: &mut Graph) -> bool {
    let scans: Vec<NodeId> =
        graph.nodes().filter(|(_, node)| node.op().is("Scan")).map(|(id, _)| id).collect();
    let mut changed = false;
    for id in scans {
        changed |= rows_first_of(graph, id).is_some();
    }
    changed
}

fn rows_first_of(graph: &mut Graph, id: NodeId) -> Option<()> {
    let mut node = graph.node(id).clone();
    let axes = |name: &str, k: usize| node.ints(name).and_then(|axes| axes.get(k).copied()).unwrap_or(0);
    let scanned = usize::try_from(node.int("num_scan_inputs", 1)).ok()?.min(node.inputs().len());
    let states = node.inputs().len() - scanned;
    let rank = |id: Option<ValueId>| Some(graph.value(id?).tensor_type()?.shape.as_ref()?.len());
    let axis = |axis: i64, rank: usize| {
        let axis = usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok()?;
        (axis < rank).then_some(axis)
    };
    // Which inputs and results are turned, by which permutation.
    let mut before = Vec::new();
    for k in 0..scanned {
        let rank = rank(node.input(states + k))?;
        let at = axis(axes("scan_input_axes", k), rank)?;
        if at != 0 {
            let others = (0..rank).filter(|d| *d != at);
            before
                .push((states + k, std::iter::once(at).chain(others).map(|d| d as i64).collect::<Vec<_>>()));
        }
    }
    let mut behind = Vec::new();
    for k in states..node.outputs().len() {
        let wanted = axes("scan_output_axes", k - states);
        if node.output(k).is_none() || wanted == 0 {
            continue;
        }
        let rank = rank(node.output(k))?;
        let at = axis(wanted, rank)?;
        let mut perm: Vec<i64> = (1..rank as i64).collect();
        perm.insert(at, 0);
        behind.push((k, perm));
    }
    if before.is_empty() && behind.is_empty() {
        return None;
    }
    let ahead = graph.previous(id);
    graph.remove_node(id);
    let mut last = ahead;
    let mut put = |graph: &mut Graph, new: NewNode| {
        last = Some(graph.insert(new, last.map_or(Place::First, Place::After)));
    };
    for (k, perm) in before {
        let turned = graph.add_value("turned");
        put(graph, NewNode::new("Transpose", [node.inputs[k]], [Some(turned)]).with("perm", perm));
        node.inputs[k] = Some(turned);
    }
    let mut turns = Vec::new();
    for (k, perm) in behind {
        let straight = graph.add_value("straight");
        turns.push(NewNode::new("Transpose", [Some(straight)], [node.outputs[k]]).with("perm", perm));
        node.outputs[k] = Some(straight);
    }
    let mut scan = NewNode::new("Scan", node.inputs, node.outputs).named(node.name);
    scan.attributes = node.attributes;
    scan.attributes.retain(|a| !matches!(a.name.as_str(), "scan_input_axes" | "scan_output_axes"));
    put(graph, scan);
    turns.into_iter().for_each(|turn| put(graph, turn));
    Some(())
}

/// Constants of the graph around become constants of a subgraph.
fn bring_in(inner: &mut Graph, around: &Graph) {
    let outer: Vec<ValueId> =
        inner.values().filter(|(_, v)| v.producer() == Producer::Outer).map(|(id, _)| id).collect();
    for id in outer {
        let name = inner.value(id).name().clone();
        let Some(tensor) = around.find(&name).and_then(|v| around.constant(v)).cloned() else { continue };
        let constant = inner.add_initializer(&name, tensor);
        inner.replace_value(id, constant);
        inner.remove_value_if_unused(id);
    }
}

/// The truth value that a value is for all inputs.
pub(crate) fn truth(graph: &Graph, value: ValueId) -> Option<bool> {
    match graph.constant(value).and_then(Tensor::to_bools)?.as_slice() {
        [truth] => Some(*truth),
        _ => None,
    }
}

/// Whether a `Loop` runs until its number of iterations is reached: its condition holds at first,
/// and is then unchanged or true.
pub(crate) fn goes_on(around: &Graph, node: &Node, body: &Graph) -> bool {
    let begins = node.input(1).is_none_or(|condition| truth(around, condition) == Some(true));
    let Some(mut next) = body.outputs().first().copied() else { return false };
    // An exporter's `Identity` of the condition that came in.
    while let Some((id, _)) = body.producer(next)
        && body.node(id).op().is("Identity")
        && let Some(input) = body.node(id).input(0)
    {
        next = input;
    }
    let value = body.value(next);
    let same = body.inputs().get(1) == Some(&next)
        || value.producer() == Producer::Outer
            && around.find(value.name()).is_some_and(|v| truth(around, v) == Some(true));
    begins && (same || truth(body, next) == Some(true))
}

/// How often a `Loop` runs, if that is known.
pub(crate) fn trips(around: &Graph, node: &Node, body: &Graph) -> Option<i64> {
    let limit = around.constant(node.input(0)?)?.to_integers()?;
    let [limit] = limit.as_slice() else { return None };
    let limit = i64::try_from(*limit).ok()?.max(0);
    goes_on(around, node, body).then_some(limit)
}
