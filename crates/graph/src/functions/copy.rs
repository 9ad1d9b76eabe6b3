//! Copies the body of a function to its call: values, nodes, attributes, subgraphs.

use std::sync::Arc;

use bytes::Bytes;
use loops::{Diagnostic, Name};

use super::{Function, Inliner, refused};
use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, NewNode, Node, NodeId, Place, Producer, ValueId};
use crate::hash_tables::Map;
use crate::infer::label;
use crate::tensor::{Storage, Tensor};
use crate::types::{Dim, ValueType};

/// What a value of the body is in the graph of the call.
#[derive(Clone, Copy)]
pub(super) enum Mapped {
    /// It was not met yet.
    Later,
    /// The call leaves it out.
    Absent,
    /// This one.
    Value(ValueId),
}

/// One call.
pub(super) struct Copying<'a> {
    pub(super) inliner: &'a mut Inliner,
    pub(super) function: &'a Function,
    /// Those of the call.
    pub(super) attributes: &'a [Attribute],
    /// What names begin with.
    pub(super) prefix: &'a str,
    /// Whether the body is a branch of the model itself. Its operators and the names of its extents
    /// are then the model's.
    pub(super) branch: bool,
    /// The node after which the next one comes.
    pub(super) last: Option<NodeId>,
}

/// The new name of a value of the enclosing graph; `None` if it is left out.
type Around = Map<Name, Option<Name>>;

impl Copying<'_> {
    /// Copies the nodes of a graph, one after another behind `last`.
    pub(super) fn nodes(
        &mut self,
        from: &Graph,
        map: &mut [Mapped],
        into: &mut Graph,
    ) -> Result<(), Diagnostic> {
        for (id, node) in from.nodes() {
            if !self.branch {
                self.inliner
                    .fits(self.function, node)
                    .map_err(|d| d.note(format!("at {}, in its body", label(from, id))))?;
            }
            let mut new = NewNode::new(node.op().clone(), [None::<ValueId>; 0], [None::<ValueId>; 0]);
            if !node.name().is_empty() {
                new.name = format!("{}/{}", self.prefix, node.name()).as_str().into();
            }
            self.inliner
                .count(1, 2 * (node.inputs.len() + node.outputs.len()) + new.name.len() + node.extra.len())?;
            for input in node.inputs() {
                let mapped = input.map(|v| self.value(from, v, map, into)).transpose()?.flatten();
                new.inputs.push(mapped);
            }
            // Inputs at the end that are left out are not there at all.
            new.inputs.truncate(new.inputs.iter().rposition(Option::is_some).map_or(0, |k| k + 1));
            for output in node.outputs() {
                let mapped = output.map(|v| self.value(from, v, map, into)).transpose()?.flatten();
                new.outputs.push(mapped);
            }
            new.attributes = self.attributes(from, node, map, into)?;
            new.extra = node.extra.clone();
            let place = self.last.map_or(Place::First, Place::After);
            self.last = Some(into.insert(new, place));
        }
        Ok(())
    }

    fn ty(&self, ty: &ValueType) -> ValueType {
        if self.branch { ty.clone() } else { without_names(ty) }
    }

    /// The copy of a value of the body. It is made at its first use.
    pub(super) fn value(
        &mut self,
        from: &Graph,
        id: ValueId,
        map: &mut [Mapped],
        into: &mut Graph,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let value = from.value(id);
        match map[id.index()] {
            Mapped::Absent => return Ok(None),
            Mapped::Value(found) => {
                // A result of the call. The type that the function declares is used if the caller
                // declares none.
                if into.value(found).ty().is_none()
                    && value.is_declared()
                    && let Some(ty) = value.ty()
                {
                    into.declare(found, self.ty(ty));
                }
                return Ok(Some(found));
            }
            Mapped::Later => {}
        }
        let name = self.inliner.unique(format!("{}/{}", self.prefix, value.name()));
        self.inliner.count(0, name.len())?;
        let new = into.try_add_value(name).unwrap_or_else(|known| known);
        if let Some(ty) = value.ty().filter(|_| value.is_declared()) {
            into.declare(new, self.ty(ty));
        }
        // Functions have none; branches do.
        if let Some(tensor) = value.initializer().filter(|_| from.is_parameter(id)) {
            self.inliner.count(0, bytes_of_tensor(tensor))?;
            into.set_initializer(new, tensor.clone());
        }
        map[id.index()] = Mapped::Value(new);
        Ok(Some(new))
    }

    fn attributes(
        &mut self,
        from: &Graph,
        node: &Node,
        map: &mut [Mapped],
        into: &mut Graph,
    ) -> Result<Vec<Attribute>, Diagnostic> {
        let mut around = Around::default();
        for capture in node.captures() {
            let now = self.value(from, *capture, map, into)?;
            around.insert(from.value(*capture).name().clone(), now.map(|v| into.value(v).name().clone()));
        }
        let mut attributes = Vec::with_capacity(node.attributes().len());
        for attribute in node.attributes() {
            let value = match &attribute.value {
                AttributeValue::Reference(to) => match self.referred(to)? {
                    Some(value) => value,
                    None => continue,
                },
                AttributeValue::Graph(graph) => AttributeValue::Graph(Arc::new(self.graph(graph, &around)?)),
                AttributeValue::Graphs(graphs) => AttributeValue::Graphs(
                    graphs
                        .iter()
                        .map(|g| Ok(Arc::new(self.graph(g, &around)?)))
                        .collect::<Result<_, Diagnostic>>()?,
                ),
                other => other.clone(),
            };
            self.inliner.count(0, bytes_of(&value))?;
            attributes.push(Attribute {
                name: attribute.name.clone(),
                value,
                extra: attribute.extra.clone(),
            });
        }
        Ok(attributes)
    }

    /// The call's attribute of this name, or its default; `None` if the call leaves it out.
    fn referred(&self, name: &Name) -> Result<Option<AttributeValue>, Diagnostic> {
        let given = self.attributes.iter().find(|a| a.name == *name);
        let found = given.or_else(|| self.function.defaults.iter().find(|a| a.name == *name));
        match found.map(|a| &a.value) {
            Some(AttributeValue::Reference(other)) => Err(refused(
                "G0209",
                format!(
                    "the attribute `{name}` of a call refers to `{other}` of a function around it, and there is none"
                ),
            )),
            Some(value) => Ok(Some(value.clone())),
            None if self.function.attributes.contains(name) => Ok(None),
            None => Err(refused(
                "G0209",
                format!(
                    "the function `{}` refers to an attribute `{name}`, which it does not have",
                    self.function.label()
                ),
            )
            .help("export the model again, or correct the call")),
        }
    }

    /// A branch or the body of a loop, with the new names of the values of the enclosing graph.
    fn graph(&mut self, from: &Graph, around: &Around) -> Result<Graph, Diagnostic> {
        let mut into = Graph::new(from.name.clone());
        let mut map = vec![Mapped::Later; from.value_bound()];
        for (id, value) in from.values().filter(|(_, v)| v.producer() == Producer::Outer) {
            map[id.index()] = match around.get(value.name()) {
                // Two inputs of the function may be one value of the caller.
                Some(Some(name)) => {
                    Mapped::Value(into.try_add_value(name.clone()).unwrap_or_else(|known| known))
                }
                Some(None) => Mapped::Absent,
                None => Mapped::Later,
            };
        }
        for id in from.inputs() {
            if let Some(new) = self.value(from, *id, &mut map, &mut into)? {
                into.make_input(new);
            }
        }
        for (id, value) in from.values().filter(|(_, v)| v.producer() == Producer::Initializer) {
            if value.initializer().is_none() {
                return Err(refused(
                    "G0209",
                    format!("a subgraph of the function `{}` has a sparse parameter", self.function.label()),
                ));
            }
            self.value(from, id, &mut map, &mut into)?;
        }
        for (id, tensor) in from.initializers().filter(|(id, _)| !from.is_parameter(*id)) {
            self.inliner.count(0, bytes_of_tensor(tensor))?;
            if let Some(new) = self.value(from, id, &mut map, &mut into)? {
                into.set_initializer(new, tensor.clone());
            }
        }
        let behind = self.last.take();
        self.nodes(from, &mut map, &mut into)?;
        self.last = behind;
        for id in from.outputs() {
            match self.value(from, *id, &mut map, &mut into)? {
                Some(new) => into.add_output(new),
                None => {
                    let message = format!(
                        "a subgraph of the function `{}` returns `{}`, which the call leaves out",
                        self.function.label(),
                        from.value(*id).name()
                    );
                    return Err(refused("G0209", message).help("give the call this input"));
                }
            }
        }
        into.close_over();
        Ok(into)
    }
}

/// A type without the names of extents, because in a function they mean something else at each
/// call.
fn without_names(ty: &ValueType) -> ValueType {
    match ty {
        ValueType::Tensor(tensor) => {
            let mut tensor = tensor.clone();
            for dim in tensor.shape.iter_mut().flatten() {
                if matches!(dim, Dim::Symbolic(_)) {
                    *dim = Dim::Unknown;
                }
            }
            ValueType::Tensor(tensor)
        }
        ValueType::Sequence(inner) => ValueType::Sequence(Box::new(without_names(inner))),
        ValueType::Optional(inner) => ValueType::Optional(Box::new(without_names(inner))),
        other => other.clone(),
    }
}

/// What a value takes in a file, about.
fn bytes_of(value: &AttributeValue) -> usize {
    let sum = |list: &[Bytes]| list.iter().map(|b| b.len() + 2).sum();
    match value {
        AttributeValue::String(text) | AttributeValue::Opaque(text) => text.len(),
        AttributeValue::Tensor(tensor) => bytes_of_tensor(tensor),
        AttributeValue::Tensors(list) => list.iter().map(|t| bytes_of_tensor(t)).sum(),
        AttributeValue::Floats(list) => 4 * list.len(),
        AttributeValue::Ints(list) => 8 * list.len(),
        AttributeValue::Strings(list) => sum(list),
        AttributeValue::Types(list) => 16 * list.len(),
        // A graph that the call gives is taken whole; one of the body was counted as it was copied.
        AttributeValue::Graph(graph) => graph_bytes(graph),
        AttributeValue::Graphs(list) => list.iter().map(|g| graph_bytes(g)).sum(),
        _ => 8,
    }
}

fn graph_bytes(graph: &Graph) -> usize {
    let of = |node: &Node| 64 + node.attributes.iter().map(|a| bytes_of(&a.value)).sum::<usize>();
    graph.nodes().map(|(_, node)| of(node)).sum::<usize>()
        + graph.initializers().map(|(_, t)| bytes_of_tensor(t)).sum::<usize>()
}

fn bytes_of_tensor(tensor: &Tensor) -> usize {
    match &tensor.storage {
        Storage::Raw(bytes) => bytes.len(),
        Storage::Strings(texts) => texts.iter().map(|t| t.len() + 2).sum(),
        _ => 64,
    }
}
