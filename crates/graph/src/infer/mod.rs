//! Inference of shapes and types without running the model. An extent is a number, an expression
//! over the names in the inputs' shapes, or unknown.
//!
//! The elements of small integer tensors are followed through shape arithmetic (`known`), so that
//! `Reshape(x, Concat(Shape(x)[0], …))` has a shape. Time is linear in the number of nodes. A model
//! that contradicts itself gets a diagnostic that names the node.
//!
//! Not here: what operators compute (`operators`), checks of structure (`validate`).

mod call;
mod elementwise;
mod known;
mod layout;
mod linear;
mod sequence;
mod table;
mod windows;

use loops::{Code, Diagnostic};

use crate::graph::{Graph, NodeId, Producer, ValueId};
use crate::model::Model;
use crate::types::ValueType;
use call::{Call, refine};

/// Graphs nested deeper than this are not looked into.
const MAX_DEPTH: u32 = 64;

/// Infers the types of all values of a model, in the order of its nodes; subgraphs of `If`, `Loop`
/// and `Scan` too.
///
/// # Errors
/// `G0301` at the first node whose inputs contradict its operator or its declared results. The
/// types found before stay.
pub fn infer(model: &mut Model) -> Result<(), Diagnostic> {
    let opset = model.opset();
    infer_graph(&mut model.graph, opset, 0)
}

fn infer_graph(graph: &mut Graph, opset: i64, depth: u32) -> Result<(), Diagnostic> {
    let mut next = graph.order().next();
    while let Some(id) = next {
        infer_at(graph, opset, id, depth)?;
        next = graph.next(id);
    }
    Ok(())
}

/// Infers the types of one node's results from those of its inputs, and records them in the graph.
///
/// # Errors
/// `G0301` if its inputs contradict its operator or its declared results.
pub fn infer_node(graph: &mut Graph, opset: i64, id: NodeId) -> Result<(), Diagnostic> {
    infer_at(graph, opset, id, 0)
}

/// Whether inference knows the operator of the standard domain.
pub fn knows(operator: &str) -> bool {
    table::find(operator).is_some() || matches!(operator, "If" | "Loop" | "Scan")
}

fn infer_at(graph: &mut Graph, opset: i64, id: NodeId, depth: u32) -> Result<(), Diagnostic> {
    let node = graph.node(id);
    if !node.op().is_standard() {
        return Ok(());
    }
    let call = Call { graph, node, opset };
    let name = node.op().name.as_str();
    let mut subgraphs = Vec::new();
    let found = if matches!(name, "If" | "Loop" | "Scan") {
        if depth >= MAX_DEPTH {
            return Ok(());
        }
        sequence::control(&call, depth).map(|(results, graphs)| {
            subgraphs = graphs;
            results
        })
    } else {
        match table::find(name) {
            Some(rule) => rule(&call),
            None => return Ok(()),
        }
    };
    let found = found.map_err(|what| contradiction(graph, id, &what))?;
    let mut refined: Vec<(ValueId, Option<ValueType>)> = Vec::with_capacity(found.len());
    for (output, found) in node.outputs().iter().zip(found) {
        let Some(output) = output else { continue };
        let value = graph.value(*output);
        let declared = value.ty().filter(|_| value.is_declared());
        let ty = refine(declared, found).map_err(|what| contradicted(graph, id, *output, &what))?;
        refined.push((*output, ty));
    }
    let known = known::elements(&call);
    if let (Some(known), Some(first)) = (known, node.output(0)) {
        graph.set_known_elements(first, Some(known));
    }
    for (output, ty) in refined {
        if let Some(ty) = ty {
            graph.set_inferred(output, ty);
        }
    }
    for (k, inferred) in subgraphs {
        graph.node_entry(id).attributes[k].value = crate::attribute::AttributeValue::Graph(inferred);
    }
    Ok(())
}

/// Checks that the declared type of a node's result does not contradict the inferred one.
///
/// # Errors
/// `G0301` if it does.
pub(crate) fn agrees(graph: &Graph, id: ValueId, declared: &ValueType) -> Result<(), Diagnostic> {
    let value = graph.value(id);
    let Producer::Node(node, _) = value.producer() else { return Ok(()) };
    match refine(Some(declared), value.ty().cloned()) {
        Ok(_) => Ok(()),
        Err(what) => Err(contradicted(graph, node, id, &what)),
    }
}

fn contradicted(graph: &Graph, node: NodeId, result: ValueId, what: &str) -> Diagnostic {
    contradiction(graph, node, &format!("has the result `{}`, which {what}", graph.value(result).name()))
}

/// The name of a node in messages: its operator, and its name or that of its first result.
pub(crate) fn label(graph: &Graph, id: NodeId) -> String {
    let node = graph.node(id);
    let first = node.outputs().iter().flatten().next().map(|v| graph.value(*v).name().as_str());
    match (node.name().as_str(), first) {
        ("", Some(first)) => format!("the {} that makes `{first}`", node.op()),
        ("", None) => format!("a node {}", node.op()),
        (name, _) => format!("the {} `{name}`", node.op()),
    }
}

fn contradiction(graph: &Graph, id: NodeId, what: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::general(Code("G0301"), format!("{} {what}", label(graph, id)));
    for (k, input) in graph.node(id).inputs().iter().enumerate().take(8) {
        if let Some(input) = input {
            let value = graph.value(*input);
            let ty = value.ty().map_or("unknown".to_owned(), ToString::to_string);
            diagnostic = diagnostic.note(format!("input {k} is `{}`: {ty}", value.name()));
        }
    }
    diagnostic
}
