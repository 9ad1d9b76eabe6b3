//! Operator sets of functions. A function may be written for another version than the model that
//! calls it. A model has only one version.

use loops::Diagnostic;

use super::{Function, Inliner, refused};
use crate::graph::Node;
use crate::model::NEWEST_OPSET;
use crate::schema::{self, Arity, Parameter, Schema};

/// Operators with a version that computes something else, under the same signature or by the
/// default of a new attribute.
const CHANGED: [&str; 4] = ["GroupNormalization", "RoiAlign", "Resize", "Split"];

impl Inliner {
    /// Whether a node of a function's body has the same meaning in the operator sets of the model.
    pub(super) fn fits(&mut self, function: &Function, node: &Node) -> Result<(), Diagnostic> {
        if self.functions.called(node).is_some() {
            return Ok(());
        }
        let domain = &node.op().domain;
        let shown = if domain.is_empty() { "the standard domain" } else { domain };
        let Some(wanted) = function.version(domain) else {
            let message = format!(
                "the function `{}` does not import {shown}, whose operators it uses",
                function.label()
            );
            return Err(refused("G0204", message)
                .help("the meaning of its operators depends on their version: add the import"));
        };
        let there = self.import(domain, wanted);
        if there == wanted || (domain.is_empty() && same(node, wanted, there)) {
            return Ok(());
        }
        let message = format!(
            "the function `{}` is written for version {wanted} of {shown}, the model for {there}, and {} is not known to be the same in both",
            function.label(),
            node.op()
        );
        Err(refused("G0210", message)
            .help("convert model and functions to one version, or inline functions before (onnx.inliner.inline_local_functions)"))
    }
}

/// Whether a node means the same in two versions of the standard operators.
fn same(node: &Node, a: i64, b: i64) -> bool {
    let name = &node.op().name;
    if a.max(b) > NEWEST_OPSET {
        return false;
    }
    let (Some(a), Some(b)) = (schema::lookup("", name, a), schema::lookup("", name, b)) else { return false };
    a.since == b.since || (!CHANGED.contains(&name.as_str()) && alike(node, a, b))
}

/// Whether the difference between two signatures does not matter for a node: what only one of them
/// has is optional and absent.
fn alike(node: &Node, a: &Schema, b: &Schema) -> bool {
    let parameters = |a: &[Parameter], b: &[Parameter], there: usize| {
        let kind = |arity| matches!(arity, Arity::Any | Arity::Some);
        let common = a.len().min(b.len());
        (0..common).all(|k| kind(a[k].arity) == kind(b[k].arity)) && (there <= common || a.len() == b.len())
    };
    let attributes = |a: &Schema, b: &Schema| {
        a.attributes.iter().all(|mine| match b.attribute(mine.name) {
            Some(other) => other.default == mine.default && other.kind == mine.kind,
            None => node.attribute(mine.name).is_none() && !mine.required,
        })
    };
    parameters(&a.inputs, &b.inputs, node.inputs().len())
        && parameters(&a.outputs, &b.outputs, node.outputs().len())
        && attributes(a, b)
        && attributes(b, a)
}
