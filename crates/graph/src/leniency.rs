//! What onnxruntime takes although the standard does not allow it, and what has one meaning only:
//! it is put right, with a warning for each. `validate` refuses it as it is.
//!
//! Not here: declared types of results that operators contradict ([`crate::infer::misdeclared`]).

use std::sync::Arc;

use loops::Name;

use crate::attribute::AttributeValue;
use crate::graph::{Graph, NodeId, Producer, ValueId};
use crate::hash_tables::Set;
use crate::infer::label;
use crate::model::Model;
use crate::types::{Dim, TensorType, ValueType};

/// Graphs nested deeper than this stay as they are; `validate` refuses them.
const MAX_DEPTH: u32 = 64;

/// Puts right what has one meaning, and says what that was, a sentence for each:
///
/// - an extent below 0, or with the name `?`, means that the extent is not known;
/// - nodes of the model's graph that come before those whose results they use are sorted;
/// - an initializer of a subgraph that has the name of a value around it stands for itself inside,
///   and so does a value whose name is that of a later result around it: they get other names.
pub fn tolerate(model: &mut Model) -> Vec<String> {
    let mut said = Vec::new();
    unknown_extents(&mut model.graph, &mut said);
    let first = out_of_order(&model.graph);
    if let Some((node, later)) = first
        && model.graph.sort().is_ok()
    {
        let (node, later) = (label(&model.graph, node), label(&model.graph, later));
        said.push(format!("nodes are out of order and were sorted: {node} comes before {later}"));
    }
    let mut taken = Set::default();
    names(&model.graph, 0, &mut taken);
    let visible = Set::default();
    rename_inside(&mut model.graph, &visible, &mut taken, 0, &mut said);
    said
}

/// A node that comes before another one whose result it uses.
fn out_of_order(graph: &Graph) -> Option<(NodeId, NodeId)> {
    graph.nodes().find_map(|(id, _)| {
        let later = graph.node_predecessors(id).find(|before| !graph.precedes(*before, id));
        later.map(|later| (id, later))
    })
}

/// Extents below 0 or named `?` become unknown, of subgraphs' values too.
fn unknown_extents(graph: &mut Graph, said: &mut Vec<String>) {
    let wrong: Vec<(ValueId, TensorType)> = graph
        .values()
        .filter(|(_, value)| value.is_declared())
        .filter_map(|(id, value)| match value.ty() {
            Some(ValueType::Tensor(ty)) if ty.shape.iter().flatten().any(means_unknown) => {
                Some((id, ty.clone()))
            }
            _ => None,
        })
        .collect();
    for (id, ty) in wrong {
        let what = match ty.shape.iter().flatten().any(|dim| matches!(dim, Dim::Known(..0))) {
            true => "a negative extent",
            false => "the name `?`",
        };
        let name = graph.value(id).name();
        said.push(format!("`{name}` is declared as {ty}: {what} is taken for an extent that is not known"));
        let known = |dim: Dim| if means_unknown(&dim) { Dim::Unknown } else { dim };
        let shape = ty.shape.map(|shape| shape.into_iter().map(known).collect());
        graph.declare(id, TensorType { elem: ty.elem, shape });
    }
    for_subgraphs(graph, |inner| {
        let before = said.len();
        unknown_extents(inner, said);
        said.len() > before
    });
}

/// Whether an extent is written as exporters write one that they do not know.
fn means_unknown(dim: &Dim) -> bool {
    match dim {
        Dim::Known(n) => *n < 0,
        Dim::Symbolic(size) => size.as_param().is_some_and(|name| **name == *"?"),
        Dim::Unknown => false,
    }
}

/// Lets a function change each subgraph of the nodes; it says whether it did.
fn for_subgraphs(graph: &mut Graph, mut change: impl FnMut(&mut Graph) -> bool) {
    let with_graphs: Vec<NodeId> =
        graph.nodes().filter(|(_, node)| node.has_subgraphs()).map(|(id, _)| id).collect();
    for id in with_graphs {
        let mut attributes = graph.node(id).attributes().to_vec();
        let mut changed = false;
        for attribute in &mut attributes {
            if let AttributeValue::Graph(inner) = &mut attribute.value {
                let mut copy = (**inner).clone();
                if change(&mut copy) {
                    *inner = Arc::new(copy);
                    changed = true;
                }
            }
        }
        if changed {
            graph.set_attributes(id, attributes);
        }
    }
}

/// The names of all values.
fn names(graph: &Graph, depth: u32, found: &mut Set<Name>) {
    found.extend(graph.values().map(|(_, value)| value.name().clone()));
    if depth < MAX_DEPTH {
        for (_, node) in graph.nodes() {
            node.attributes().iter().flat_map(|a| a.value.graphs()).for_each(|g| names(g, depth + 1, found));
        }
    }
}

/// Renames what subgraphs define again and what has one meaning. `visible` has the names of the
/// graphs around.
fn rename_inside(
    graph: &mut Graph,
    visible: &Set<Name>,
    taken: &mut Set<Name>,
    depth: u32,
    said: &mut Vec<String>,
) {
    if depth >= MAX_DEPTH {
        return;
    }
    let with_graphs: Vec<NodeId> =
        graph.nodes().filter(|(_, node)| node.has_subgraphs()).map(|(id, _)| id).collect();
    for id in with_graphs {
        let mut attributes = graph.node(id).attributes().to_vec();
        let mut changed = false;
        for attribute in &mut attributes {
            let AttributeValue::Graph(inner) = &mut attribute.value else { continue };
            let mut copy = (**inner).clone();
            let before = said.len();
            rename_here(&mut copy, graph, id, visible, taken, said);
            let mut seen = visible.clone();
            let defined = |(_, value): &(ValueId, &crate::graph::Value)| {
                !matches!(value.producer(), Producer::Nothing | Producer::Outer)
            };
            seen.extend(graph.values().filter(defined).map(|(_, value)| value.name().clone()));
            rename_inside(&mut copy, &seen, taken, depth + 1, said);
            if said.len() > before {
                *inner = Arc::new(copy);
                changed = true;
            }
        }
        if changed {
            graph.set_attributes(id, attributes);
        }
    }
}

/// Renames values of the subgraph `inner` of a node.
fn rename_here(
    inner: &mut Graph,
    graph: &Graph,
    node: NodeId,
    visible: &Set<Name>,
    taken: &mut Set<Name>,
    said: &mut Vec<String>,
) {
    let again: Vec<(ValueId, Name)> = inner
        .values()
        .filter(|(_, value)| {
            let here = graph.find(value.name()).map(|id| graph.value(id).producer());
            match (value.producer(), here) {
                (Producer::Nothing | Producer::Outer, _) => false,
                // A parameter hides what is around it.
                (Producer::Initializer, Some(around)) => around != Producer::Nothing,
                (Producer::Initializer, None) => visible.contains(value.name()),
                // What comes later can't be seen in the subgraph.
                (_, Some(Producer::Node(later, _))) => {
                    !graph.precedes(later, node) && !visible.contains(value.name())
                }
                _ => false,
            }
        })
        .map(|(id, value)| (id, value.name().clone()))
        .collect();
    for (id, old) in again {
        let new = (2..).map(|k| Name::new(format!("{old}_{k}"))).find(|name| !taken.contains(name));
        let Some(new) = new else { continue };
        taken.insert(new.clone());
        inner.rename_everywhere(id, new.clone());
        said.push(format!(
            "a subgraph of {} defines `{old}` again, which the graph around it has: it is called `{new}` there",
            label(graph, node)
        ));
    }
}
