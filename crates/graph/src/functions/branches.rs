//! Branches whose condition is a constant: the branch that is taken replaces the node.

use std::sync::Arc;

use loops::Diagnostic;

use super::{Body, Function, Functions, Inliner, MAX_DEPTH, forget_outer, names_of, prefix, too_deep};
use crate::attribute::AttributeValue;
use crate::control::truth;
use crate::graph::{Graph, Node, NodeId, Producer, ValueId};
use crate::hash_tables::{Map, Set};
use crate::model::Model;

/// Replaces each `If` whose condition is a constant by the branch that is taken, also in branches
/// and loops. Returns how many were replaced.
///
/// # Errors
/// `G0211` if graphs are nested too deeply, or too much comes out.
pub fn decide(model: &mut Model) -> Result<usize, Diagnostic> {
    if !any(&model.graph) {
        return Ok(0);
    }
    let mut names = Set::default();
    names_of(&model.graph, &mut names);
    let mut inliner = Inliner {
        functions: Functions::new(Vec::new())?,
        opsets: model.opsets.clone(),
        names,
        numbers: Map::default(),
        nodes: 0,
        bytes: 0,
        calls: 0,
    };
    let mut graph = model.graph.clone();
    inliner.branches(&mut graph, 0)?;
    model.graph = graph;
    Ok(inliner.calls)
}

/// Whether there is such a node.
fn any(graph: &Graph) -> bool {
    graph.nodes().any(|(_, node)| {
        taken(graph, node).is_some()
            || node.attributes().iter().flat_map(|a| a.value.graphs()).any(|inner| any(inner))
    })
}

/// The branch that a node takes, if that is known.
fn taken<'g>(graph: &Graph, node: &'g Node) -> Option<&'g Arc<Graph>> {
    if !node.op().is("If") {
        return None;
    }
    let name = if truth(graph, node.input(0)?)? { "then_branch" } else { "else_branch" };
    match node.attribute(name)? {
        AttributeValue::Graph(branch) if branch.outputs().len() >= node.outputs().len() => Some(branch),
        _ => None,
    }
}

impl Inliner {
    fn branches(&mut self, graph: &mut Graph, depth: u32) -> Result<(), Diagnostic> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let mut next = graph.order().next();
        while let Some(id) = next {
            match taken(graph, graph.node(id)).cloned() {
                Some(branch) => next = self.branch(graph, id, &branch)?,
                None => {
                    self.inner_branches(graph, id, depth)?;
                    next = graph.next(id);
                }
            }
        }
        Ok(())
    }

    /// A branch is a body whose inputs are what it uses of the graph around it.
    fn branch(
        &mut self,
        graph: &mut Graph,
        id: NodeId,
        branch: &Graph,
    ) -> Result<Option<NodeId>, Diagnostic> {
        self.calls += 1;
        let node = graph.node(id).clone();
        let outer: Vec<ValueId> =
            branch.values().filter(|(_, v)| v.producer() == Producer::Outer).map(|(id, _)| id).collect();
        let inputs: Vec<Option<ValueId>> =
            outer.iter().map(|v| graph.find(branch.value(*v).name())).collect();
        let function = Function {
            domain: "".into(),
            name: "If".into(),
            overload: "".into(),
            inputs: outer,
            outputs: branch.outputs().to_vec(),
            attributes: Vec::new(),
            defaults: Vec::new(),
            opsets: self.opsets.clone(),
            body: branch.clone(),
        };
        let prefix = prefix(&node, "If");
        self.put(graph, id, &Body { function: &function, inputs: &inputs, prefix: &prefix, branch: true })
    }

    fn inner_branches(&mut self, graph: &mut Graph, id: NodeId, depth: u32) -> Result<(), Diagnostic> {
        if !graph.node(id).attributes().iter().flat_map(|a| a.value.graphs()).any(|inner| any(inner)) {
            return Ok(());
        }
        let mut attributes = graph.node(id).attributes().to_vec();
        for attribute in &mut attributes {
            if let AttributeValue::Graph(inner) = &mut attribute.value {
                let mut changed = (**inner).clone();
                self.branches(&mut changed, depth + 1)?;
                forget_outer(&mut changed);
                *inner = Arc::new(changed);
            }
        }
        graph.set_attributes(id, attributes);
        Ok(())
    }
}
