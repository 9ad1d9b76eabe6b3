//! A model in a newer version of the standard operators.
//!
//! Of each node, the versions of its operator between the old and the new one are gone through in
//! order (`version_steps`). An attribute that became an input gets a constant. What has another
//! default gets the old one. What was renamed gets its new name. A node of which this is not known
//! is refused: nothing is guessed. Models of an older version are not made.

mod version_steps;

use loops::{Code, Diagnostic};

use crate::bodies;
use crate::graph::{Graph, NodeId};
use crate::infer::label;
use crate::model::{Model, NEWEST_OPSET};
use crate::opsets;
use crate::schema::{self, Schema};

/// The first version of the file format that has a version of the standard operators, for operator
/// sets from 9 on; the format's third version is the oldest in use.
const FORMATS: [(i64, i64); 11] =
    [(9, 4), (10, 5), (11, 6), (12, 7), (15, 8), (19, 9), (21, 10), (23, 11), (24, 12), (25, 13), (28, 14)];

/// Writes the model for this version of the standard operators. Returns the number of nodes that
/// are written otherwise. Types should have been inferred: some constants take the type of another
/// input.
///
/// # Errors
/// `G0212` if the model has an operator of a version that is not known. `G0410` if the version is
/// not known or older than the model's, and at the first node that cannot be written for it; the
/// model may be changed then.
pub fn upgrade(model: &mut Model, to: i64) -> Result<usize, Diagnostic> {
    let from = model.opset();
    if !(1..=NEWEST_OPSET).contains(&to) {
        let message = format!("version {to} of the standard operators is not known");
        return Err(Diagnostic::general(CODE, message).help(format!("the newest known is {NEWEST_OPSET}")));
    }
    if to < from {
        let message = format!("the model is written for version {from} of the standard operators");
        return Err(Diagnostic::general(CODE, format!("{message}, which is newer than {to}"))
            .help("operators are only taken to newer versions"));
    }
    opsets::check(model)?;
    let changed = in_graph(model, from, to)?;
    model.opsets.iter_mut().filter(|(domain, _)| domain.is_empty()).for_each(|(_, version)| *version = to);
    let needed = FORMATS.iter().rev().find(|(first, _)| *first <= to).map_or(3, |(_, format)| *format);
    model.ir_version = model.ir_version.max(needed);
    Ok(changed)
}

const CODE: Code = Code("G0410");

fn refused(graph: &Graph, id: NodeId, to: i64, why: &str) -> Diagnostic {
    let message = format!("{} cannot be written for version {to}: {why}", graph.node(id).op());
    Diagnostic::general(CODE, message).note(format!("at {}", label(graph, id)))
}

/// The nodes of a graph, and those of bodies in it.
fn in_graph(model: &mut Model, from: i64, to: i64) -> Result<usize, Diagnostic> {
    let mut changed = 0;
    for place in bodies::places(&model.graph) {
        let Some(mut body) = bodies::take(model, place) else { continue };
        let inside = in_graph(&mut body, from, to)?;
        if inside > 0 {
            bodies::put(model, place, body.graph);
        }
        changed += inside;
    }
    let nodes: Vec<NodeId> = model.graph.nodes().map(|(id, _)| id).collect();
    for id in nodes {
        if model.graph.node(id).op().is_standard() {
            changed += usize::from(node(&mut model.graph, id, from, to)?);
        }
    }
    Ok(changed)
}

/// Whether the node is written otherwise.
fn node(graph: &mut Graph, id: NodeId, from: i64, to: i64) -> Result<bool, Diagnostic> {
    // It told in the first versions which inputs may be overwritten.
    let mut changed = version_steps::take(graph, id, "consumed_inputs").is_some();
    let mut at = from;
    // Each step is to the next version of the operator, which may have another name from then on.
    loop {
        let name = graph.node(id).op().name.clone();
        let versions = schema::versions("", &name);
        let next = version_steps::renamed(&name).map(|(since, _)| since);
        let next = versions.iter().map(|schema| schema.since).chain(next).filter(|since| *since > at).min();
        let Some(next) = next.filter(|next| *next <= to) else { break };
        let old = versions.iter().rev().find(|schema| schema.since <= at);
        if let Some((_, new_name)) = version_steps::renamed(&name).filter(|(since, _)| *since == next) {
            graph.node_entry(id).op = crate::graph::Operator::standard(new_name);
            graph.node_entry(id).origin = None;
            changed = true;
        }
        let name = graph.node(id).op().name.clone();
        changed |=
            version_steps::step(graph, id, &name, next, to).map_err(|why| refused(graph, id, to, &why))?;
        let new = schema::versions("", &name).iter().find(|schema| schema.since == next);
        if let Some(new) = new {
            fits(graph, id, old, new).map_err(|why| refused(graph, id, to, &why))?;
        }
        at = next;
    }
    let name = &graph.node(id).op().name;
    if schema::versions("", name).iter().any(|schema| schema.since <= to)
        && schema::lookup("", name, to).is_none()
    {
        return Err(refused(graph, id, to, "the operator does not exist any more"));
    }
    Ok(changed)
}

/// Whether the call is one of the new version and means what it meant: what it has is known there,
/// and what it leaves out has the default that it had.
fn fits(graph: &Graph, id: NodeId, old: Option<&Schema>, new: &Schema) -> Result<(), String> {
    let node = graph.node(id);
    for attribute in node.attributes() {
        if new.attribute(&attribute.name).is_none() {
            return Err(format!("the attribute `{}` is not there any more", attribute.name));
        }
    }
    for attribute in &new.attributes {
        let given = node.attribute(attribute.name).is_some();
        if attribute.required && !given {
            return Err(format!("the attribute `{}` is needed", attribute.name));
        }
        let before = old.and_then(|old| old.attribute(attribute.name));
        if !given && before.is_some_and(|before| before.default != attribute.default) {
            return Err(format!("the default of `{}` is another one", attribute.name));
        }
    }
    let (least, most) = new.input_range();
    let count = node.inputs().len();
    if count < least || most.is_some_and(|most| count > most) {
        return Err(format!("it has {count} inputs"));
    }
    let results = node.outputs().iter().rposition(Option::is_some).map_or(0, |k| k + 1);
    if new.output_range().1.is_some_and(|most| results > most) {
        return Err(format!("it has {results} results"));
    }
    Ok(())
}
