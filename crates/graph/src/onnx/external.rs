//! External data: which tensors have their elements in other files, and loading them from bytes
//! that the caller has read.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use loops::Diagnostic;

use super::bad;
use crate::attribute::AttributeValue;
use crate::graph::{Graph, NodeId, ValueId};
use crate::tensor::{External, Storage, Tensor};

/// The files that the graph's tensors lie in, as the model names them (relative to its own folder).
pub fn locations(graph: &Graph) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each(graph, &mut |external| {
        found.insert(external.location.clone());
    });
    found
}

fn each(graph: &Graph, f: &mut impl FnMut(&External)) {
    let mut one = |tensor: &Tensor| {
        if let Storage::External(external) = &tensor.storage {
            f(external);
        }
    };
    graph.initializers().for_each(|(_, tensor)| one(tensor));
    for attribute in graph.nodes().flat_map(|(_, n)| n.attributes()) {
        match &attribute.value {
            AttributeValue::Tensor(tensor) => one(tensor),
            AttributeValue::Tensors(list) => list.iter().for_each(|t| one(t)),
            _ => {}
        }
    }
    for attribute in graph.nodes().flat_map(|(_, n)| n.attributes()) {
        attribute.value.graphs().iter().for_each(|inner| each(inner, f));
    }
}

/// Whether a location stays below the model's folder: relative, and without `..`.
pub fn is_safe(location: &str) -> bool {
    !location.is_empty()
        && !location.starts_with(['/', '\\'])
        && !location.contains(':')
        && location.split(['/', '\\']).all(|part| part != "..")
}

/// Bytes of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Part {
    /// The file, as the model names it.
    pub location: String,
    /// Where they begin.
    pub offset: u64,
    /// How many they are.
    pub length: u64,
}

/// The files beside a model.
pub trait Files {
    /// How many bytes a file has.
    ///
    /// # Errors
    /// Why it can't be read.
    fn length(&mut self, location: &str) -> Result<u64, Diagnostic>;

    /// A part of a file; it lies inside.
    ///
    /// # Errors
    /// Why it can't be read.
    fn part(&mut self, part: &Part) -> Result<Bytes, Diagnostic>;
}

/// Loads the elements of the graph's external tensors. Only the bytes that the model names are
/// read. The graph's initializers and the tensors of its nodes are loaded, also in subgraphs. A
/// model that is written afterwards still refers to the files ([`crate::onnx::write`] keeps the
/// records), unless a tensor was replaced.
///
/// # Errors
/// `G0105` if a tensor does not lie inside its file or has another length than its type needs; what
/// `files` says.
pub fn load(graph: &mut Graph, files: &mut impl Files) -> Result<(), Diagnostic> {
    let initializers: Vec<ValueId> = graph.initializers().map(|(id, _)| id).collect();
    for id in initializers {
        let value = graph.value(id);
        if let Some(tensor) = value.initializer()
            && let Some(loaded) = elements(tensor, value.name(), files)?
        {
            // The record of the file stays: the tensor is the same.
            if let Some(constant) = &mut graph.value_entry(id).constant {
                constant.tensor = loaded;
            }
        }
    }
    let nodes: Vec<NodeId> = graph.order().collect();
    for id in nodes {
        let node = graph.node(id);
        let label = if node.name().is_empty() { node.op().to_string() } else { node.name().to_string() };
        let mut changed = Vec::new();
        for (k, attribute) in node.attributes().iter().enumerate() {
            match &attribute.value {
                AttributeValue::Tensor(tensor) => {
                    if let Some(loaded) = elements(tensor, &label, files)? {
                        changed.push((k, AttributeValue::Tensor(Arc::new(loaded))));
                    }
                }
                value if !value.graphs().is_empty() => {
                    let mut graphs = Vec::new();
                    for inner in value.graphs() {
                        let mut inner = (**inner).clone();
                        load(&mut inner, files)?;
                        graphs.push(Arc::new(inner));
                    }
                    changed.push((
                        k,
                        match (value, graphs.pop()) {
                            (AttributeValue::Graph(_), Some(only)) => AttributeValue::Graph(only),
                            (_, last) => AttributeValue::Graphs(graphs.into_iter().chain(last).collect()),
                        },
                    ));
                }
                _ => {}
            }
        }
        for (k, value) in changed {
            graph.node_entry(id).attributes[k].value = value;
        }
    }
    Ok(())
}

fn elements(tensor: &Tensor, label: &str, files: &mut impl Files) -> Result<Option<Tensor>, Diagnostic> {
    let Storage::External(external) = &tensor.storage else { return Ok(None) };
    let wrong = |what: String| {
        bad("G0105", format!("the data of tensor `{label}` in `{}`: {what}", external.location))
            .help("the file may be incomplete, or belong to another model")
    };
    if !is_safe(&external.location) {
        return Err(wrong("the path leaves the model's folder".into()));
    }
    let wanted = tensor.elem.raw_len(tensor.count()).map(|n| n as u64);
    if let (Some(wanted), Some(length)) = (wanted, external.length)
        && wanted != length
    {
        return Err(wrong(format!("they are {length} bytes where {} needs {wanted}", tensor.ty())));
    }
    let all = files.length(&external.location)?;
    let offset = external.offset;
    let Some(rest) = all.checked_sub(offset) else {
        return Err(wrong(format!("they begin at byte {offset} of {all}")));
    };
    let length = external.length.or(wanted).unwrap_or(rest);
    if length > rest {
        return Err(wrong(format!("they end beyond its {all} bytes")));
    }
    let bytes = files.part(&Part { location: external.location.clone(), offset, length })?;
    if bytes.len() as u64 != length {
        return Err(wrong(format!("{} of {length} bytes were read", bytes.len())));
    }
    Ok(Some(Tensor { storage: Storage::Raw(bytes), ..tensor.clone() }))
}
