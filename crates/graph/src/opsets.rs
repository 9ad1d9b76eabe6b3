//! Checks that the operators of a model have versions that are known here.
//!
//! The meaning of operators is written for the versions in `schema.table`: operator sets from 7 on,
//! and earlier versions that have not changed since. Not here: whether the library has an operator
//! (`operators`), whether its domain is imported (`validate`).

use loops::{Code, Diagnostic};

use crate::graph::{Graph, Node, NodeId};
use crate::infer::label;
use crate::model::{Model, NEWEST_OPSET};
use crate::schema::{self, Schema};

/// The first operator set whose signatures are all known.
const OLDEST_OPSET: i64 = 7;

/// Operators that computed something else before the known version, or did so unless an old
/// attribute turned it off.
const CHANGED: [&str; 13] = [
    "BatchNormalization",
    "Cast",
    "Dropout",
    "GRU",
    "Gemm",
    "LSTM",
    "Pad",
    "PRelu",
    "RNN",
    "Selu",
    "Split",
    "Tile",
    "TopK",
];

/// What is taken otherwise than the file says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Older {
    /// The version that the model is written for.
    pub version: i64,
    /// The operators that are taken at a newer version, in which nothing that the model uses has
    /// changed.
    pub operators: Vec<&'static str>,
}

/// Checks the versions of the model's standard operators. Returns those that are read as a newer
/// version, if there are any.
///
/// # Errors
/// `G0212` at the first node whose version is not known.
pub fn check(model: &Model) -> Result<Option<Older>, Diagnostic> {
    // Without an import there is no version; `validate` says so.
    let Some(version) = model.version("") else { return Ok(None) };
    let mut operators = Vec::new();
    graph(&model.graph, version, &mut operators)?;
    operators.sort_unstable();
    Ok((!operators.is_empty()).then_some(Older { version, operators }))
}

fn graph(graph_: &Graph, version: i64, older: &mut Vec<&'static str>) -> Result<(), Diagnostic> {
    for (id, node) in graph_.nodes() {
        if node.op().is_standard() {
            at(graph_, id, node, version, older)?;
        }
        for inner in node.attributes().iter().flat_map(|a| a.value.graphs()) {
            graph(inner, version, older)?;
        }
    }
    Ok(())
}

fn at(
    graph: &Graph,
    id: NodeId,
    node: &Node,
    version: i64,
    older: &mut Vec<&'static str>,
) -> Result<(), Diagnostic> {
    let refuse = |message: String, to: i64| {
        Err(Diagnostic::general(Code("G0212"), message)
            .note(format!("at {}", label(graph, id)))
            .help(format!("convert the model (onnx.version_converter.convert_version(model, {to})), or export it for that version")))
    };
    if version > NEWEST_OPSET {
        let message = format!(
            "the model is written for version {version} of the standard operators, and the newest known is {NEWEST_OPSET}"
        );
        return refuse(message, NEWEST_OPSET);
    }
    let Some(first) = schema::versions("", &node.op().name).first() else { return Ok(()) };
    if first.since <= version {
        return Ok(());
    }
    if version >= OLDEST_OPSET {
        let message = format!(
            "{} came with version {} of the standard operators, and the model is written for {version}",
            first.name, first.since
        );
        return refuse(message, first.since);
    }
    if CHANGED.contains(&first.name) || !fits(node, first) {
        let message = format!(
            "the model is written for version {version} of the standard operators, and the meaning of {} before version {} is not known",
            first.name, first.since
        );
        return refuse(message, OLDEST_OPSET.max(first.since));
    }
    if !older.contains(&first.name) {
        older.push(first.name);
    }
    Ok(())
}

/// Whether a call could be one of this version.
fn fits(node: &Node, schema: &Schema) -> bool {
    let (least, most) = schema.input_range();
    // `consumed_inputs` told in the first version which inputs may be overwritten.
    let known = |name: &str| name == "consumed_inputs" || schema.attribute(name).is_some();
    node.attributes().iter().all(|a| known(&a.name))
        && schema.attributes.iter().all(|a| !a.required || node.attribute(a.name).is_some())
        && node.inputs().len() >= least
        && most.is_none_or(|most| node.inputs().len() <= most)
}
