//! Checks that a model is consistent. Every value that is used is defined once, before its use.
//! There are no cycles. Every domain is imported. The attributes of a node have different names.
//! Subgraphs see the values that they use. Types are checked by inference (`infer`).
//!
//! Time is linear in the size of the model.

mod words;

use std::collections::HashSet;

use loops::{Code, Diagnostic, Name};

use crate::graph::{Graph, Node, NodeId, Producer};
use crate::infer::label;
use crate::model::Model;
use crate::schema::{self, Schema};
use crate::tensor::MOST_DIMENSIONS;
use crate::types::{Dim, TensorType, ValueType};

/// The oldest operator set whose signatures are known.
const OLDEST: i64 = 7;
/// After this many diagnostics the rest is left out.
const MAX_DIAGNOSTICS: usize = 20;

/// The errors of a model. The list is empty if the model is valid.
///
/// `G0201` a value that nothing defines, `G0202` a use before the definition, `G0203` a cycle,
/// `G0204` a domain that is not imported, `G0205` two attributes of one name, `G0206` an extent
/// below zero, `G0207` a name of a subgraph that the graph around it has too, `G0213` an attribute
/// that a standard operator does not have, or of another kind, `G0214` a call of a standard
/// operator that does not fit its signature, `G0106` a rank that is too high.
pub fn validate(model: &Model) -> Vec<Diagnostic> {
    let mut found = Found { list: Vec::new(), model, domains: HashSet::new() };
    found.graph(&model.graph, &mut Vec::new());
    found.list
}

struct Found<'a> {
    list: Vec<Diagnostic>,
    model: &'a Model,
    /// Domains without an import that were reported.
    domains: HashSet<Name>,
}

impl<'a> Found<'a> {
    fn push(&mut self, code: &'static str, message: String, help: &str) {
        if self.list.len() < MAX_DIAGNOSTICS {
            self.list.push(Diagnostic::general(Code(code), message).help(help));
        }
    }

    fn graph(&mut self, graph: &'a Graph, around: &mut Vec<&'a Graph>) {
        for (_, value) in graph.values() {
            match value.producer() {
                Producer::Nothing if value.use_count() > 0 || value.is_output() => {
                    let user = value.uses().next();
                    let by = user.map_or("the graph returns it".to_owned(), |u| {
                        format!("{} uses it", label(graph, u.node))
                    });
                    self.push(
                        "G0201",
                        format!("nothing defines `{}`: {by}", value.name()),
                        "an initializer or an input may be missing from the file",
                    );
                }
                Producer::Outer if !around.iter().any(|g| g.find(value.name()).is_some()) => self.push(
                    "G0201",
                    format!("a subgraph uses `{}`, which no graph around it has", value.name()),
                    "an initializer or an input may be missing from the file",
                ),
                Producer::Nothing | Producer::Outer => {}
                _ if around.iter().any(|g| {
                    g.find(value.name()).is_some_and(|v| g.value(v).producer() != Producer::Nothing)
                }) =>
                {
                    self.push(
                        "G0207",
                        format!("a subgraph defines `{}` again, which the graph around it has", value.name()),
                        "names of a subgraph differ from those that it can see: rename one",
                    );
                }
                _ => {}
            }
            let dims = value.initializer().map_or(0, |tensor| tensor.dims.len());
            if dims.max(value.tensor_type().and_then(TensorType::rank).unwrap_or(0)) > MOST_DIMENSIONS {
                self.push(
                    "G0106",
                    format!("`{}` has more than {MOST_DIMENSIONS} dimensions", value.name()),
                    "this is also the limit of NumPy",
                );
            }
            if let Some(ValueType::Tensor(ty)) = value.ty()
                && ty.shape.iter().flatten().any(|d| matches!(d, Dim::Known(..0)))
                && value.is_declared()
            {
                self.push(
                    "G0206",
                    format!("`{}` is declared as {ty}", value.name()),
                    "extents are not negative",
                );
            }
        }
        self.order(graph);
        for (id, node) in graph.nodes() {
            let domain = &node.op().domain;
            if self.model.version(domain).is_none() && self.domains.insert(domain.clone()) {
                let name = if domain.is_empty() { "the standard domain" } else { domain };
                self.push(
                    "G0204",
                    format!("{} is of a domain that the model does not import: {name}", label(graph, id)),
                    "the meaning of its operators depends on their version: add the import",
                );
            }
            let mut names = HashSet::new();
            if let Some(twice) = node.attributes().iter().find(|a| !names.insert(&a.name)) {
                self.push(
                    "G0205",
                    format!("{} has two attributes `{}`", label(graph, id), twice.name),
                    "remove one of them",
                );
            }
            self.attributes(graph, id, node);
            let subgraphs: Vec<_> = node.attributes().iter().flat_map(|a| a.value.graphs()).collect();
            if !subgraphs.is_empty() {
                around.push(graph);
                for inner in subgraphs {
                    self.graph(inner, around);
                }
                around.pop();
            }
        }
    }

    /// Attributes of a standard operator must be those of its signature. An attribute that is
    /// misspelt, or of another kind, would be ignored.
    fn attributes(&mut self, graph: &Graph, id: NodeId, node: &Node) {
        let Some(version) = self.model.version("").filter(|_| node.op().is_standard()) else { return };
        // Of older versions, `opsets` says what can be taken.
        let Some(schema) = schema::lookup("", &node.op().name, version) else { return };
        if version >= OLDEST {
            self.signature(graph, id, node, schema);
        }
        for attribute in node.attributes() {
            let (name, kind) = (&attribute.name, attribute.value.kind());
            if matches!(kind, "reference" | "opaque") {
                continue;
            }
            if let (Some(words), Some(word)) =
                (words::allowed(&node.op().name, name), attribute.value.string())
                && !words.contains(&word)
            {
                self.push(
                    "G0214",
                    format!("{} has the `{name}` \"{word}\"", label(graph, id)),
                    &format!("it may be {}", words.join(", ")),
                );
            }
            match schema.attribute(name) {
                Some(known) if known.kind != kind => self.push(
                    "G0213",
                    format!(
                        "{} has `{name}` of kind {kind}, but needs kind {}",
                        label(graph, id),
                        known.kind
                    ),
                    match (known.kind, kind) {
                        ("float", "int") => "write the number with a point, as in `10.0`",
                        ("ints", "int") => "write a list, as in `[2, 2]`",
                        _ => "write a value of that kind",
                    },
                ),
                Some(_) => {}
                None => {
                    let names: Vec<String> =
                        schema.attributes.iter().map(|a| format!("`{}`", a.name)).collect();
                    let help = match names.is_empty() {
                        true => "it has none".to_owned(),
                        false => format!("it has {}", names.join(", ")),
                    };
                    let message =
                        format!("{} has no attribute `{name}` in version {version}", label(graph, id));
                    self.push("G0213", message, &help);
                }
            }
        }
    }

    /// Without this check, surplus inputs of a call would be ignored silently, and missing ones
    /// would be guessed.
    fn signature(&mut self, graph: &Graph, id: NodeId, node: &Node, schema: &Schema) {
        let name = &node.op().name;
        for (what, there, most) in [
            (
                "inputs",
                node.inputs().iter().rposition(Option::is_some).map_or(0, |k| k + 1),
                schema.input_range().1,
            ),
            ("results", node.outputs().len(), schema.output_range().1),
        ] {
            if let Some(most) = most.filter(|most| there > *most) {
                self.push(
                    "G0214",
                    format!("{} has {there} {what}, and `{name}` has {most} at most", label(graph, id)),
                    "export the model again, or correct the call",
                );
            }
        }
        let missing = schema.attributes.iter().find(|a| a.required && node.attribute(a.name).is_none());
        if let Some(missing) = missing {
            self.push(
                "G0214",
                format!("{} lacks the attribute `{}`", label(graph, id), missing.name),
                "add it: the standard has no default for it",
            );
        }
    }

    fn order(&mut self, graph: &Graph) {
        let early = graph.nodes().find_map(|(id, _)| {
            let later = graph.node_predecessors(id).find(|before| !graph.precedes(*before, id));
            later.map(|later| (id, later))
        });
        let Some((id, later)) = early else { return };
        if let Err(node) = graph.clone().sort() {
            self.push(
                "G0203",
                format!("{} depends on its own result", label(graph, node)),
                "a graph has no cycles; a loop is written with the operator Loop",
            );
            return;
        }
        self.push(
            "G0202",
            format!("{} comes before {}, although it uses its result", label(graph, id), label(graph, later)),
            "list nodes after those whose results they use",
        );
    }
}
