//! Nodes: calls of operators.

use std::fmt;

use bytes::Bytes;
use loops::Name;

use super::{NodeId, ValueId};
use crate::attribute::{Attribute, AttributeValue};

/// An operator: its domain (empty for the standard one) and name. The model's imports determine its
/// version.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operator {
    /// The domain; `ai.onnx` is written as the empty text here.
    pub domain: Name,
    /// The name.
    pub name: Name,
}

impl Operator {
    /// An operator of the standard domain.
    pub fn standard(name: impl Into<Name>) -> Operator {
        Operator { domain: "".into(), name: name.into() }
    }

    /// Whether it is the operator of the standard domain with this name.
    pub fn is(&self, name: &str) -> bool {
        self.domain.is_empty() && &*self.name == name
    }

    /// Whether it belongs to the standard domain.
    pub fn is_standard(&self) -> bool {
        self.domain.is_empty()
    }
}

impl From<&str> for Operator {
    /// `Conv`, or `domain.of.it.Name`: what follows the last dot is the name.
    fn from(text: &str) -> Operator {
        match text.rsplit_once('.') {
            Some((domain, name)) if domain != "ai.onnx" => {
                Operator { domain: domain.into(), name: name.into() }
            }
            Some((_, name)) => Operator::standard(name),
            None => Operator::standard(text),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.domain.is_empty() {
            write!(f, "{}.", self.domain)?;
        }
        f.write_str(&self.name)
    }
}

/// A call of an operator.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) name: Name,
    pub(crate) op: Operator,
    pub(crate) inputs: Vec<Option<ValueId>>,
    pub(crate) outputs: Vec<Option<ValueId>>,
    pub(crate) attributes: Vec<Attribute>,
    /// Outer values that its subgraphs use, each once.
    pub(crate) captures: Vec<ValueId>,
    /// Where each input and then each capture stands in its value's list of uses.
    pub(crate) places: Vec<u32>,
    pub(crate) extra: Bytes,
    pub(crate) origin: Option<Bytes>,
    pub(crate) previous: Option<NodeId>,
    pub(crate) next: Option<NodeId>,
    pub(crate) label: u64,
}

impl Node {
    /// Its name, often empty; names of nodes need not differ.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its operator.
    pub fn op(&self) -> &Operator {
        &self.op
    }

    /// Its inputs in order; `None` for an optional one that is absent.
    pub fn inputs(&self) -> &[Option<ValueId>] {
        &self.inputs
    }

    /// The input with this number, if it is there.
    pub fn input(&self, k: usize) -> Option<ValueId> {
        self.inputs.get(k).copied().flatten()
    }

    /// Its results in order; `None` for an optional result that is not requested.
    pub fn outputs(&self) -> &[Option<ValueId>] {
        &self.outputs
    }

    /// The result with this number, if it is requested.
    pub fn output(&self, k: usize) -> Option<ValueId> {
        self.outputs.get(k).copied().flatten()
    }

    /// Values of this graph that its subgraphs use by name, each once.
    pub fn captures(&self) -> &[ValueId] {
        &self.captures
    }

    /// Its attributes, in the order of the file.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&AttributeValue> {
        self.attributes.iter().find(|a| &*a.name == name).map(|a| &a.value)
    }

    /// The integer attribute with this name, or the default where there is none.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).and_then(AttributeValue::int).unwrap_or(default)
    }

    /// The numeric attribute with this name, or the default where there is none.
    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).and_then(AttributeValue::float).unwrap_or(default)
    }

    /// The list of integers with this name.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        self.attribute(name)?.ints()
    }

    /// The text with this name, or the default where there is none.
    pub fn string<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.attribute(name).and_then(AttributeValue::string).unwrap_or(default)
    }

    /// Whether it has subgraphs.
    pub fn has_subgraphs(&self) -> bool {
        self.attributes.iter().any(|a| !a.value.graphs().is_empty())
    }
}
