//! Models: a graph, the operator sets that it imports, and everything else in the file.

use bytes::Bytes;
use loops::Name;

use crate::graph::Graph;
use crate::onnx::Origin;

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Version of the file format.
    pub ir_version: i64,
    /// Operator sets: domain (empty for the standard one) and version.
    pub opsets: Vec<(Name, i64)>,
    /// Facts about the model as a whole, by key.
    pub metadata: Vec<(String, String)>,
    /// The graph.
    pub graph: Graph,
    /// Fields of the file that mean nothing here (producer, documentation, functions, training
    /// information, unknown ones), as they were.
    pub extra: Bytes,
    /// The file, as long as nothing was changed.
    pub(crate) origin: Option<Box<Origin>>,
}

impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        (self.ir_version, &self.opsets, &self.metadata, &self.extra)
            == (other.ir_version, &other.opsets, &other.metadata, &other.extra)
            && self.graph == other.graph
    }
}

/// The newest operator set of the standard domain that this version knows.
pub const NEWEST_OPSET: i64 = 28;

impl Model {
    /// A model of this graph with the standard operators at this version.
    pub fn new(graph: Graph, opset: i64) -> Model {
        Model {
            ir_version: 10,
            opsets: vec![("".into(), opset)],
            metadata: Vec::new(),
            graph,
            extra: Bytes::new(),
            origin: None,
        }
    }

    /// The version of the operators of a domain, if the model imports it.
    pub fn version(&self, domain: &str) -> Option<i64> {
        let domain = if domain == "ai.onnx" { "" } else { domain };
        self.opsets.iter().find(|(d, _)| **d == *domain).map(|(_, v)| *v)
    }

    /// The version of the standard operators; 1 where the model imports none.
    pub fn opset(&self) -> i64 {
        self.version("").unwrap_or(1)
    }
}
