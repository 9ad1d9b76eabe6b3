//! Computation graphs: nodes in an order, values with their producers and uses, and cheap edits in
//! place.
//!
//! A graph is a plain value: cloned, compared, printed and parsed without a context. Nodes and
//! values live in tables and are named by [`NodeId`] and [`ValueId`]; an identifier stays valid
//! until its node or value is removed and is never used again. Each value knows who uses it, each
//! node its place in a linked list, so that an edit costs what it touches: nothing below walks the
//! whole graph unless its documentation says so.
//!
//! Not here: files (`onnx`), meaning (`operators`), types of results (`infer`), checks of the whole
//! (`validate`).

mod edit;
mod equal;
mod node;
mod order;
mod rename;

use bytes::Bytes;
use loops::Name;

use crate::hash_tables::Map;
use crate::onnx::Role;
use crate::tensor::Tensor;
use crate::types::{Dim, TensorType, ValueType};

pub use edit::{NewNode, Place};
pub use node::{Node, Operator};

/// A node of one graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

/// A value (an edge with all its ends) of one graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(u32);

impl NodeId {
    /// The place in tables by node: below [`Graph::node_bound`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ValueId {
    /// The place in tables by value: below [`Graph::value_bound`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Producer {
    /// Undefined (so far): a name that is used and not defined. No valid graph has such a value.
    Nothing,
    /// From the caller; an input may have an initializer too, which is then its default.
    Input,
    /// From the model file: a parameter.
    Initializer,
    /// From a node: the result with this number.
    Node(NodeId, u32),
    /// From the graph around this subgraph.
    Outer,
}

/// A place where a value is used by a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Use {
    /// Who uses it.
    pub node: NodeId,
    /// As what.
    pub slot: Slot,
}

/// As what a node uses a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// As the input with this number.
    Input(u32),
    /// In one of its subgraphs, by name: the capture with this number.
    Capture(u32),
}

/// A value: its name, its type, where it comes from and who uses it.
#[derive(Clone, Debug)]
pub struct Value {
    pub(crate) name: Name,
    pub(crate) ty: Option<ValueType>,
    pub(crate) declared: bool,
    /// What was declared where operators say otherwise.
    pub(crate) misdeclared: Option<Box<ValueType>>,
    pub(crate) known: Option<Box<[Dim]>>,
    pub(crate) producer: Producer,
    pub(crate) constant: Option<Box<Constant>>,
    /// Uses in order of attachment; `None` where one was detached. Compacted when most are gone.
    pub(crate) uses: Vec<Option<Use>>,
    pub(crate) live_uses: u32,
    pub(crate) as_output: u32,
    pub(crate) alive: bool,
    /// The file's records of the value's type: as input, as output, as entry of `value_info`.
    pub(crate) records: Vec<(Role, Bytes)>,
    /// Whether name or type are not those of the records any more.
    pub(crate) stale: bool,
}

/// An initializer; most values have none.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub(crate) tensor: Tensor,
    /// The file's record of it, as long as it holds.
    pub(crate) origin: Option<Bytes>,
}

impl Value {
    /// Its name, different from that of every other value of the graph.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its type, declared or inferred.
    pub fn ty(&self) -> Option<&ValueType> {
        self.ty.as_ref()
    }

    /// Whether the type is part of the model (inputs, outputs, `value_info`) rather than only
    /// inferred.
    pub fn is_declared(&self) -> bool {
        self.declared
    }

    /// Its type, if that is known and a dense tensor.
    pub fn tensor_type(&self) -> Option<&TensorType> {
        self.ty.as_ref()?.tensor()
    }

    /// The elements of a small integer tensor (a shape, axes) as far as inference knows them.
    pub fn known_elements(&self) -> Option<&[Dim]> {
        self.known.as_deref()
    }

    /// Where it comes from.
    pub fn producer(&self) -> Producer {
        self.producer
    }

    /// The initializer: the value of a parameter, or the default of an input.
    pub fn initializer(&self) -> Option<&Tensor> {
        self.constant.as_ref().map(|c| &c.tensor)
    }

    /// Number of uses by nodes, including those from subgraphs and excluding graph outputs. A node
    /// that uses the value twice counts twice.
    pub fn use_count(&self) -> usize {
        self.live_uses as usize
    }

    /// Whether it is an output of the graph.
    pub fn is_output(&self) -> bool {
        self.as_output > 0
    }

    /// The file's record of the initializer does not hold any more.
    pub(crate) fn forget_constant(&mut self) {
        if let Some(constant) = &mut self.constant {
            constant.origin = None;
        }
    }

    /// Uses by nodes in order of attachment: for a graph that was read or built from front to back,
    /// in the order of the nodes.
    pub fn uses(&self) -> impl Iterator<Item = Use> + '_ {
        self.uses.iter().flatten().copied()
    }
}

/// A computation graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Its name.
    pub name: Name,
    pub(crate) nodes: Vec<Option<Node>>,
    pub(crate) values: Vec<Value>,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<ValueId>,
    pub(crate) initializers: Vec<ValueId>,
    pub(crate) names: Map<Name, ValueId>,
    pub(crate) first: Option<NodeId>,
    pub(crate) last: Option<NodeId>,
    pub(crate) live_nodes: usize,
    pub(crate) fresh: u64,
    /// Fields of the file that mean nothing here, as they were.
    pub(crate) extra: Bytes,
    /// Values with an entry in the file's `value_info`, in its order.
    pub(crate) infos: Vec<ValueId>,
    /// The file's record of the whole graph with its name, as long as nothing was changed.
    pub(crate) origin: Option<(Bytes, Name)>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: impl Into<Name>) -> Graph {
        Graph {
            name: name.into(),
            nodes: Vec::new(),
            values: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            initializers: Vec::new(),
            names: Map::default(),
            first: None,
            last: None,
            live_nodes: 0,
            fresh: 0,
            extra: Bytes::new(),
            infos: Vec::new(),
            origin: None,
        }
    }

    /// Makes room for so many nodes and values more.
    pub(crate) fn reserve(&mut self, nodes: usize, values: usize) {
        self.nodes.reserve(nodes);
        self.values.reserve(values);
        self.names.reserve(values);
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.live_nodes
    }

    /// All node identifiers are below this.
    pub fn node_bound(&self) -> usize {
        self.nodes.len()
    }

    /// All value identifiers are below this.
    pub fn value_bound(&self) -> usize {
        self.values.len()
    }

    /// The node. Panics if it was removed.
    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes[id.index()].as_ref().expect("a node that was not removed")
    }

    /// The node, unless it was removed.
    pub fn get_node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())?.as_ref()
    }

    /// The value. Panics if it never was.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Whether the value was not removed.
    pub fn is_alive(&self, id: ValueId) -> bool {
        self.values.get(id.index()).is_some_and(|v| v.alive)
    }

    /// The values of the graph, in order of creation.
    pub fn values(&self) -> impl Iterator<Item = (ValueId, &Value)> {
        self.values.iter().enumerate().filter(|(_, v)| v.alive).map(|(k, v)| (ValueId(k as u32), v))
    }

    /// The values that were created since [`Graph::value_bound`] had this value, in order of
    /// creation.
    pub fn values_from(&self, bound: usize) -> impl Iterator<Item = (ValueId, &Value)> {
        let later = self.values.get(bound..).unwrap_or_default();
        later.iter().enumerate().filter(|(_, v)| v.alive).map(move |(k, v)| (ValueId((bound + k) as u32), v))
    }

    /// The nodes in their order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.order().map(|id| (id, self.node(id)))
    }

    /// Inputs, those with a default included.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// Outputs; one value may be several.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// Values with an initializer, in the order of the file.
    pub fn initializers(&self) -> impl Iterator<Item = (ValueId, &Tensor)> {
        self.initializers.iter().filter_map(|id| {
            let value = self.value(*id);
            Some((*id, value.initializer().filter(|_| value.alive)?))
        })
    }

    /// The value with this name.
    pub fn find(&self, name: &str) -> Option<ValueId> {
        self.names.get(name).copied()
    }

    /// The node that produces the value, with the number of the result.
    pub fn producer(&self, value: ValueId) -> Option<(NodeId, usize)> {
        match self.value(value).producer {
            Producer::Node(node, k) => Some((node, k as usize)),
            _ => None,
        }
    }

    /// Whether the value is the same for all inputs because the file says so: an initializer that
    /// is not an input.
    pub fn is_parameter(&self, value: ValueId) -> bool {
        self.value(value).producer == Producer::Initializer
    }

    /// The constant that the value is: an initializer that is not an input, or the result of a
    /// `Constant` node with a tensor.
    pub fn constant(&self, value: ValueId) -> Option<&Tensor> {
        match self.value(value).producer {
            Producer::Initializer => self.value(value).initializer(),
            Producer::Node(node, 0) => {
                let node = self.node(node);
                let constant = node.op.is("Constant");
                constant.then(|| node.attribute("value")?.tensor().map(|t| &**t)).flatten()
            }
            _ => None,
        }
    }

    /// The users of the value, each once, in the order of the graph's nodes. Sorts: `O(k log k)`
    /// for `k` uses.
    pub fn successors(&self, value: ValueId) -> Vec<NodeId> {
        let mut found: Vec<NodeId> = self.value(value).uses().map(|u| u.node).collect();
        found.sort_by_key(|id| self.label(*id));
        found.dedup();
        found
    }

    /// The nodes that use a result of this node, each once, in the order of the graph's nodes.
    pub(crate) fn node_successors(&self, id: NodeId) -> Vec<NodeId> {
        let outputs = self.node(id).outputs.iter().flatten();
        let mut found: Vec<NodeId> = outputs.flat_map(|v| self.value(*v).uses()).map(|u| u.node).collect();
        found.sort_by_key(|id| self.label(*id));
        found.dedup();
        found
    }

    /// The nodes whose results this node uses, in the order of its inputs and then its captures;
    /// one may come several times.
    pub fn node_predecessors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let node = self.node(id);
        let used = node.inputs.iter().flatten().chain(&node.captures);
        used.filter_map(|v| self.producer(*v).map(|(node, _)| node))
    }

    /// A name that no value of the graph has, made from this one.
    pub fn fresh_name(&mut self, hint: &str) -> Name {
        if !hint.is_empty() && !self.names.contains_key(hint) {
            return hint.into();
        }
        loop {
            self.fresh += 1;
            let name = format!("{hint}_{}", self.fresh);
            if !self.names.contains_key(name.as_str()) {
                return name.into();
            }
        }
    }
}
