//! Inference of shapes and types without running the model. An extent is a number, an expression
//! over the names in the inputs' shapes, or unknown.
//!
//! The elements of small integer tensors are followed through shape arithmetic (`known`), so that
//! `Reshape(x, Concat(Shape(x)[0], …))` has a shape. Time is linear in the number of nodes. A model
//! that contradicts itself gets a diagnostic that names the node.
//!
//! Not here: what operators compute (`operators`), checks of structure (`validate`).

mod call;
mod elementwise_rules;
mod known;
mod layout;
mod linear;
mod rule_table;
mod sequence;
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
/// A result whose declared shape contradicts its operator gets the shape that the operator gives it
/// ([`misdeclared`] lists these). A branch of an `If` whose nodes contradict each other gets no
/// types: the `If` has those of the other branch.
///
/// # Errors
/// `G0301` at the first node whose inputs contradict its operator, or whose result is declared with
/// another element type. The types found before stay.
pub fn infer(model: &mut Model) -> Result<(), Diagnostic> {
    let way = Way { opset: model.opset(), depth: 0, corrects: true };
    infer_graph(&mut model.graph, way)
}

/// What was declared of results and contradicts their operators, a sentence for each, those in
/// subgraphs too; after [`infer`].
pub fn misdeclared(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    misdeclared_in(&model.graph, 0, &mut found);
    found
}

fn misdeclared_in(graph: &Graph, depth: u32, found: &mut Vec<String>) {
    for (_, value) in graph.values() {
        if let (Some(declared), Producer::Node(node, _)) = (&value.misdeclared, value.producer()) {
            let is = value.ty().map_or("unknown".to_owned(), ToString::to_string);
            found.push(format!(
                "{} has the result `{}`, which is declared as {declared} and is {is}",
                label(graph, node),
                value.name()
            ));
        }
    }
    if depth < MAX_DEPTH {
        let inner = graph.nodes().flat_map(|(_, node)| node.attributes()).flat_map(|a| a.value.graphs());
        inner.for_each(|inner| misdeclared_in(inner, depth + 1, found));
    }
}

/// How types are inferred.
#[derive(Clone, Copy)]
struct Way {
    opset: i64,
    /// How deep the graph is inside of others.
    depth: u32,
    /// Whether a declared shape gives way to what the operator says.
    corrects: bool,
}

fn infer_graph(graph: &mut Graph, way: Way) -> Result<(), Diagnostic> {
    let mut next = graph.order().next();
    while let Some(id) = next {
        infer_at(graph, id, way)?;
        next = graph.next(id);
    }
    Ok(())
}

/// Infers the types of one node's results from those of its inputs, and records them in the graph.
///
/// # Errors
/// `G0301` if its inputs contradict its operator or its declared results.
pub fn infer_node(graph: &mut Graph, opset: i64, id: NodeId) -> Result<(), Diagnostic> {
    infer_at(graph, id, Way { opset, depth: 0, corrects: false })
}

fn infer_at(graph: &mut Graph, id: NodeId, way: Way) -> Result<(), Diagnostic> {
    let node = graph.node(id);
    if !node.op().is_standard() && !rule_table::contributed(node.op()) {
        return Ok(());
    }
    let call = Call { graph, node, opset: way.opset };
    let name = node.op().name.as_str();
    let mut subgraphs = Vec::new();
    let found = if matches!(name, "If" | "Loop" | "Scan") {
        if way.depth >= MAX_DEPTH {
            return Ok(());
        }
        sequence::control(&call, way).map(|(results, graphs)| {
            subgraphs = graphs;
            results
        })
    } else {
        match rule_table::find(name) {
            Some(rule) => rule(&call),
            None => return Ok(()),
        }
    };
    let found = found.map_err(|what| contradiction(graph, id, &what))?;
    let mut refined: Vec<(ValueId, Option<ValueType>)> = Vec::with_capacity(found.len());
    let mut corrected: Vec<(ValueId, ValueType, ValueType)> = Vec::new();
    for (output, found) in node.outputs().iter().zip(found) {
        let Some(output) = output else { continue };
        let value = graph.value(*output);
        let declared = value.ty().filter(|_| value.is_declared());
        match refine(declared, found.clone()) {
            Ok(ty) => refined.push((*output, ty)),
            Err(what) => match (declared, found) {
                (Some(said), Some(found)) if way.corrects && same_elements(said, &found) => {
                    corrected.push((*output, said.clone(), found));
                }
                _ => return Err(contradicted(graph, id, *output, &what)),
            },
        }
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
    for (output, declared, found) in corrected {
        graph.correct_type(output, declared, found);
    }
    for (k, inferred) in subgraphs {
        graph.node_entry(id).attributes[k].value = crate::attribute::AttributeValue::Graph(inferred);
    }
    Ok(())
}

/// Checks that the declared type of a node's result does not contradict the inferred one; a shape
/// that does gives way to it.
///
/// # Errors
/// `G0301` for another element type.
pub(crate) fn agree(graph: &mut Graph, id: ValueId, declared: &ValueType) -> Result<(), Diagnostic> {
    let value = graph.value(id);
    let Producer::Node(node, _) = value.producer() else { return Ok(()) };
    let found = value.ty().cloned();
    match (refine(Some(declared), found.clone()), found) {
        (Ok(_), _) => Ok(()),
        (Err(_), Some(found)) if same_elements(declared, &found) => {
            graph.correct_type(id, declared.clone(), found);
            Ok(())
        }
        (Err(what), _) => Err(contradicted(graph, node, id, &what)),
    }
}

/// The better known one of two types that are declared of one value: the first one where they
/// contradict each other.
pub(crate) fn better(first: ValueType, second: ValueType) -> ValueType {
    match refine(Some(&first), Some(second)) {
        Ok(Some(refined)) => refined,
        _ => first,
    }
}

/// Whether both are tensors with elements of one type.
fn same_elements(a: &ValueType, b: &ValueType) -> bool {
    matches!((a.tensor(), b.tensor()), (Some(a), Some(b)) if a.elem == b.elem)
}

/// Why the nodes of a branch of an `If` contradict each other, if they do, at the types that the
/// graph around it has.
pub(crate) fn misfit(graph: &Graph, opset: i64, node: NodeId, branch: &Graph) -> Option<String> {
    let call = Call { graph, node: graph.node(node), opset };
    let way = Way { opset, depth: 0, corrects: true };
    sequence::inside(&call, branch, way, &|_| None).err()
}

fn contradicted(graph: &Graph, node: NodeId, result: ValueId, what: &str) -> Diagnostic {
    contradiction(graph, node, &format!("has the result `{}`, which {what}", graph.value(result).name()))
}

/// The name of a node in messages: its operator, and its name or that of its first result.
pub fn label(graph: &Graph, id: NodeId) -> String {
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
