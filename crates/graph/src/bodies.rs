//! Bodies of branches and loops as models of their own: taken out, changed, and put back.

use std::sync::Arc;

use loops::Name;

use crate::attribute::AttributeValue;
use crate::functions::{forget_outer, names_of};
use crate::graph::{Graph, NodeId, Producer, ValueId};
use crate::hash_tables::Set;
use crate::model::Model;

/// Graphs nested deeper than this count as one node.
const MAX_DEPTH: u32 = 64;

/// The nodes of a graph and of all bodies in it.
pub fn count(graph: &Graph) -> usize {
    count_at(graph, 0)
}

fn count_at(graph: &Graph, depth: u32) -> usize {
    let inner = graph.nodes().flat_map(|(_, node)| node.attributes()).flat_map(|a| a.value.graphs());
    match depth < MAX_DEPTH {
        true => graph.node_count() + inner.map(|graph| count_at(graph, depth + 1)).sum::<usize>(),
        false => graph.node_count(),
    }
}

/// Where the bodies of a graph are: the node, and the number of its attribute.
pub fn places(graph: &Graph) -> Vec<(NodeId, usize)> {
    let nodes = graph.nodes().filter(|(_, node)| node.has_subgraphs());
    let graphs = |(k, attribute): (usize, &crate::Attribute)| {
        matches!(attribute.value, AttributeValue::Graph(_)).then_some(k)
    };
    nodes
        .flat_map(|(id, node)| node.attributes().iter().enumerate().filter_map(graphs).map(move |k| (id, k)))
        .collect()
}

/// A body as a model. What it uses of the graph around it has no producer there
/// ([`Producer::Outer`]). None if there is none at this place.
pub fn take(model: &Model, (node, attribute): (NodeId, usize)) -> Option<Model> {
    let AttributeValue::Graph(body) = &model.graph.get_node(node)?.attributes().get(attribute)?.value else {
        return None;
    };
    let mut taken = Model::new((**body).clone(), model.opset());
    taken.opsets.clone_from(&model.opsets);
    taken.ir_version = model.ir_version;
    Some(taken)
}

/// Puts a changed body back. New values of it that have names of the model get others.
pub fn put(model: &mut Model, (node, attribute): (NodeId, usize), mut body: Graph) {
    let mut attributes = model.graph.node(node).attributes().to_vec();
    let Some(AttributeValue::Graph(before)) = attributes.get(attribute).map(|a| &a.value) else { return };
    let mut own = Set::default();
    names_of(before, &mut own);
    let mut taken = Set::default();
    names_of(&model.graph, &mut taken);
    let new: Vec<(ValueId, Name)> = body
        .values()
        .filter(|(_, value)| value.producer() != Producer::Outer && !own.contains(value.name()))
        .map(|(id, value)| (id, value.name().clone()))
        .collect();
    for (id, name) in new {
        if taken.insert(name.clone()) {
            continue;
        }
        let free = (2..).map(|k| Name::new(format!("{name}_{k}"))).find(|name| !taken.contains(name));
        if let Some(free) = free {
            taken.insert(free.clone());
            body.rename_everywhere(id, free);
        }
    }
    forget_outer(&mut body);
    attributes[attribute].value = AttributeValue::Graph(Arc::new(body));
    model.graph.set_attributes(node, attributes);
}
