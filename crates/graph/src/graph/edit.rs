//! Edits of graphs: values and nodes are added and removed, uses are redirected. The cost of an
//! edit is proportional to what it changes.

use bytes::Bytes;
use loops::Name;

use super::{Constant, Graph, Node, NodeId, Operator, Producer, Slot, Use, Value, ValueId};
use crate::attribute::{Attribute, AttributeValue};
use crate::hash_tables::Set;
use crate::onnx::Role;
use crate::tensor::Tensor;
use crate::types::{Dim, ValueType};

/// A place in the order of the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Before all others.
    First,
    /// After all others.
    Last,
    /// Right before this node.
    Before(NodeId),
    /// Right after this node.
    After(NodeId),
}

/// What a node is made from.
#[derive(Clone, Debug)]
pub struct NewNode {
    /// Its operator.
    pub op: Operator,
    /// Its name; may be empty.
    pub name: Name,
    /// Its inputs.
    pub inputs: Vec<Option<ValueId>>,
    /// Its results: values of which [`Producer::Nothing`] is the producer ([`Graph::add_value`]).
    pub outputs: Vec<Option<ValueId>>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Fields of the file that mean nothing here.
    pub extra: Bytes,
}

impl NewNode {
    /// A call with these inputs and results.
    pub fn new(
        op: impl Into<Operator>,
        inputs: impl IntoIterator<Item = impl Into<Option<ValueId>>>,
        outputs: impl IntoIterator<Item = impl Into<Option<ValueId>>>,
    ) -> NewNode {
        NewNode {
            op: op.into(),
            name: "".into(),
            inputs: inputs.into_iter().map(Into::into).collect(),
            outputs: outputs.into_iter().map(Into::into).collect(),
            attributes: Vec::new(),
            extra: Bytes::new(),
        }
    }

    /// The same with one attribute more.
    pub fn with(mut self, name: impl Into<Name>, value: impl Into<AttributeValue>) -> NewNode {
        self.attributes.push(Attribute::new(name, value));
        self
    }

    /// The same with a name.
    pub fn named(mut self, name: impl Into<Name>) -> NewNode {
        self.name = name.into();
        self
    }
}

impl Graph {
    pub(crate) fn node_entry(&mut self, id: NodeId) -> &mut Node {
        self.nodes[id.index()].as_mut().expect("a node that was not removed")
    }

    pub(crate) fn value_entry(&mut self, id: ValueId) -> &mut Value {
        &mut self.values[id.index()]
    }

    /// A new value that nothing produces yet.
    ///
    /// # Errors
    /// The value that has the name already.
    pub(crate) fn try_add_value(&mut self, name: impl Into<Name>) -> Result<ValueId, ValueId> {
        let name = name.into();
        if let Some(taken) = self.names.get(&name) {
            return Err(*taken);
        }
        let id = ValueId(u32::try_from(self.values.len()).expect("fewer than 2^32 values"));
        self.names.insert(name.clone(), id);
        self.values.push(Value {
            name,
            ty: None,
            declared: false,
            misdeclared: None,
            known: None,
            producer: Producer::Nothing,
            constant: None,
            uses: Vec::new(),
            live_uses: 0,
            as_output: 0,
            alive: true,
            records: Vec::new(),
            stale: false,
        });
        self.origin = None;
        Ok(id)
    }

    /// A new value that nothing produces yet, with a name made from this one
    /// ([`Graph::fresh_name`]).
    pub fn add_value(&mut self, hint: &str) -> ValueId {
        let name = self.fresh_name(hint);
        self.try_add_value(name).expect("a fresh name is free")
    }

    /// A new input of the graph. Its name is made from this one.
    pub fn add_input(&mut self, hint: &str, ty: impl Into<ValueType>) -> ValueId {
        let id = self.add_value(hint);
        self.declare(id, ty);
        self.make_input(id);
        id
    }

    /// Makes a value without a producer an input.
    pub(crate) fn make_input(&mut self, id: ValueId) {
        self.origin = None;
        self.value_entry(id).producer = Producer::Input;
        self.inputs.push(id);
    }

    /// A new parameter. Its name is made from this one.
    pub fn add_initializer(&mut self, hint: &str, tensor: Tensor) -> ValueId {
        let id = self.add_value(hint);
        self.set_initializer(id, tensor);
        id
    }

    /// Gives a value without a producer, an input or a parameter this initializer.
    pub(crate) fn set_initializer(&mut self, id: ValueId, tensor: Tensor) {
        self.origin = None;
        let value = self.value_entry(id);
        if value.constant.is_none() {
            self.initializers.push(id);
        }
        let value = self.value_entry(id);
        if value.producer == Producer::Nothing {
            value.producer = Producer::Initializer;
        }
        if value.producer == Producer::Initializer && !value.declared {
            value.ty = Some(tensor.ty().into());
        }
        value.constant = Some(Box::new(Constant { tensor, origin: None }));
    }

    /// Removes the default of an input. The caller must then give a value.
    pub fn forget_default(&mut self, id: ValueId) {
        if self.value(id).producer == Producer::Input {
            self.origin = None;
            self.value_entry(id).constant = None;
            self.initializers.retain(|other| *other != id);
        }
    }

    /// Makes an input a parameter.
    pub fn fix_input(&mut self, id: ValueId, tensor: Tensor) {
        if self.value(id).producer() == Producer::Input {
            self.forget_default(id);
            self.inputs.retain(|other| *other != id);
            self.forget_type(id);
            self.value_entry(id).producer = Producer::Initializer;
            self.set_initializer(id, tensor);
        }
    }

    /// Makes each input that has a default a parameter: nobody gives another value.
    pub fn fix_defaults(&mut self) {
        let (fixed, given): (Vec<_>, Vec<_>) = std::mem::take(&mut self.inputs)
            .into_iter()
            .partition(|id| self.value(*id).initializer().is_some());
        self.inputs = given;
        for id in &fixed {
            self.value_entry(*id).producer = Producer::Initializer;
        }
        if !fixed.is_empty() {
            self.origin = None;
        }
    }

    /// Replaces all outputs.
    pub(crate) fn set_outputs(&mut self, ids: Vec<ValueId>) {
        self.origin = None;
        for old in std::mem::take(&mut self.outputs) {
            self.value_entry(old).as_output -= 1;
        }
        ids.into_iter().for_each(|id| self.add_output(id));
    }

    /// In a subgraph: values that are used or returned and that nothing here produces come from the
    /// graph around it.
    pub(crate) fn close_over(&mut self) {
        for value in &mut self.values {
            let used = value.live_uses > 0 || value.as_output > 0;
            if value.alive && used && value.producer == Producer::Nothing {
                value.producer = Producer::Outer;
            }
        }
    }

    /// Makes a value an output, after those there are.
    pub fn add_output(&mut self, id: ValueId) {
        self.origin = None;
        self.value_entry(id).as_output += 1;
        self.outputs.push(id);
    }

    /// Says what the value's type is, as part of the model.
    pub fn declare(&mut self, id: ValueId, ty: impl Into<ValueType>) {
        self.origin = None;
        let value = self.value_entry(id);
        value.ty = Some(ty.into());
        value.declared = true;
        value.stale = true;
    }

    /// Removes the declared type of a value, so that inference finds it again.
    pub(crate) fn forget_type(&mut self, id: ValueId) {
        self.origin = None;
        let value = self.value_entry(id);
        (value.ty, value.declared, value.stale) = (None, false, true);
        value.records.retain(|(role, _)| *role != Role::Info);
    }

    /// Takes what inference found for the type that was declared. What was declared is kept for
    /// [`crate::infer::misdeclared`].
    pub(crate) fn correct_type(&mut self, id: ValueId, declared: ValueType, found: ValueType) {
        self.declare(id, found);
        self.value_entry(id).misdeclared.get_or_insert(Box::new(declared));
    }

    /// Records the type that inference found for the value. A type that is part of the model stays
    /// as it is in the file.
    pub fn set_inferred(&mut self, id: ValueId, ty: impl Into<ValueType>) {
        self.value_entry(id).ty = Some(ty.into());
    }

    /// Notes what inference found of the elements of a small integer tensor.
    pub(crate) fn set_known_elements(&mut self, id: ValueId, elements: Option<Vec<Dim>>) {
        self.value_entry(id).known = elements.map(Vec::into_boxed_slice);
    }

    /// Whether a subgraph uses the value by name.
    pub fn is_captured(&self, id: ValueId) -> bool {
        self.value(id).uses().any(|u| matches!(u.slot, Slot::Capture(_)))
    }

    /// A new node. Outer values that its subgraphs use and this graph has are found by name and
    /// become captures; those that it does not have become values of [`Producer::Outer`] (in a
    /// subgraph) or [`Producer::Nothing`].
    ///
    /// Panics if a result has a producer already. Order is the user's business: see
    /// [`Graph::sort`].
    pub fn insert(&mut self, new: NewNode, place: Place) -> NodeId {
        self.origin = None;
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        for (k, output) in new.outputs.iter().enumerate() {
            let Some(output) = output else { continue };
            let value = self.value_entry(*output);
            assert!(value.producer == Producer::Nothing, "a result has one producer");
            value.producer = Producer::Node(id, k as u32);
        }
        let captures = self.captures_of(&new.attributes);
        let (inputs, outputs) = (new.inputs, new.outputs);
        self.nodes.push(Some(Node {
            name: new.name,
            op: new.op,
            places: vec![u32::MAX; inputs.len() + captures.len()],
            inputs,
            outputs,
            attributes: new.attributes,
            captures,
            extra: new.extra,
            origin: None,
            previous: None,
            next: None,
            label: 0,
        }));
        self.live_nodes += 1;
        self.link(id, place);
        self.attach_all(id);
        id
    }

    fn captures_of(&mut self, attributes: &[Attribute]) -> Vec<ValueId> {
        let mut captures = Vec::new();
        let mut seen = Set::default();
        for graph in attributes.iter().flat_map(|a| a.value.graphs()) {
            for (_, value) in graph.values().filter(|(_, v)| v.producer == Producer::Outer) {
                let id = match self.find(&value.name) {
                    Some(id) => id,
                    None => {
                        self.try_add_value(value.name.clone()).expect("a name that was not found is free")
                    }
                };
                if seen.insert(id) {
                    captures.push(id);
                }
            }
        }
        captures
    }

    /// A node with one result, after all others.
    pub fn add(
        &mut self,
        op: impl Into<Operator>,
        inputs: impl IntoIterator<Item = impl Into<Option<ValueId>>>,
    ) -> ValueId {
        self.add_with(op, inputs, &[])
    }

    /// A node with one result and attributes, after all others.
    pub fn add_with(
        &mut self,
        op: impl Into<Operator>,
        inputs: impl IntoIterator<Item = impl Into<Option<ValueId>>>,
        attributes: &[(&str, AttributeValue)],
    ) -> ValueId {
        let op = op.into();
        let output = self.add_value(&op.name.to_lowercase());
        let mut new = NewNode::new(op, inputs, [output]);
        new.attributes =
            attributes.iter().map(|(name, value)| Attribute::new(*name, value.clone())).collect();
        self.insert(new, Place::Last);
        output
    }

    /// Removes a node. Its results stay as values without a producer as long as someone uses them
    /// or the graph returns them: another node may then produce them. Results without uses are
    /// removed.
    pub fn remove_node(&mut self, id: NodeId) {
        self.origin = None;
        self.detach_all(id);
        self.unlink(id);
        let node = self.nodes[id.index()].take().expect("a node that was not removed");
        self.live_nodes -= 1;
        for output in node.outputs.into_iter().flatten() {
            self.value_entry(output).producer = Producer::Nothing;
            self.remove_value_if_unused(output);
        }
    }

    /// Removes a value that is not an input if no node uses it and the graph does not return it. A
    /// node's result becomes absent.
    pub fn remove_value_if_unused(&mut self, id: ValueId) -> bool {
        let value = self.value(id);
        if !value.alive || value.live_uses > 0 || value.as_output > 0 || value.producer == Producer::Input {
            return false;
        }
        let producer = value.producer;
        self.origin = None;
        if let Producer::Node(node, k) = producer {
            let entry = self.node_entry(node);
            entry.outputs[k as usize] = None;
            entry.origin = None;
        }
        self.names.remove(&self.value(id).name.clone());
        let value = self.value_entry(id);
        (value.alive, value.producer, value.constant) = (false, Producer::Nothing, None);
        (value.records, value.uses) = (Vec::new(), Vec::new());
        true
    }

    /// Makes a node use another value (or none) as input `k`. The list of inputs grows if
    /// necessary.
    pub fn set_input(&mut self, id: NodeId, k: usize, value: Option<ValueId>) {
        let mut inputs = self.node(id).inputs.clone();
        if inputs.len() <= k {
            inputs.resize(k + 1, None);
            inputs[k] = value;
            return self.set_inputs(id, inputs);
        }
        self.origin = None;
        self.detach(id, k);
        let entry = self.node_entry(id);
        entry.inputs[k] = value;
        entry.origin = None;
        self.attach(id, k);
    }

    /// Gives a node another list of inputs.
    pub(crate) fn set_inputs(&mut self, id: NodeId, inputs: Vec<Option<ValueId>>) {
        self.origin = None;
        self.detach_all(id);
        let entry = self.node_entry(id);
        entry.places = vec![u32::MAX; inputs.len() + entry.captures.len()];
        entry.inputs = inputs;
        entry.origin = None;
        self.attach_all(id);
    }

    /// Sets an attribute, in place of one with its name if there is one.
    pub fn set_attribute(&mut self, id: NodeId, name: impl Into<Name>, value: impl Into<AttributeValue>) {
        let attribute = Attribute::new(name, value);
        let mut attributes = self.node(id).attributes.clone();
        match attributes.iter_mut().find(|a| a.name == attribute.name) {
            Some(found) => *found = attribute,
            None => attributes.push(attribute),
        }
        self.set_attributes(id, attributes);
    }

    /// Gives a node another list of attributes; captures of subgraphs follow.
    pub(crate) fn set_attributes(&mut self, id: NodeId, attributes: Vec<Attribute>) {
        self.origin = None;
        self.detach_all(id);
        let captures = self.captures_of(&attributes);
        let entry = self.node_entry(id);
        entry.places = vec![u32::MAX; entry.inputs.len() + captures.len()];
        (entry.attributes, entry.captures, entry.origin) = (attributes, captures, None);
        self.attach_all(id);
    }

    /// Lets everyone who uses `old` use `new` instead: nodes, subgraphs, and the graph's outputs,
    /// whose names stay.
    ///
    /// Where subgraphs or the graph's outputs know `old` by name, `new` takes the name over; if
    /// `new` must keep its own (it is an input, an output or captured itself, or has a name that
    /// the file's parameters have), an `Identity` node after its producer carries the name. `old`
    /// stays, without uses. Costs the number of uses of the two.
    pub fn replace_value(&mut self, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        self.origin = None;
        let by_name = self.value(old).is_output() || self.is_captured(old);
        let mut named = new;
        if by_name {
            let target = self.value(new);
            let free =
                matches!(target.producer, Producer::Node(..) | Producer::Nothing) && !target.is_output();
            let (name, stale) = (self.value(old).name.clone(), self.value(old).stale);
            self.names.remove(&name);
            let spare = self.fresh_name(&format!("{name}_old"));
            self.put_name(old, spare);
            if free && !self.is_captured(new) {
                self.names.remove(&self.value(new).name.clone());
                self.put_name(new, name);
            } else {
                named = self.try_add_value(name).expect("the name was given up");
                let place = match self.value(new).producer {
                    Producer::Node(node, _) => Place::After(node),
                    _ => Place::First,
                };
                let ty = self.value(new).ty.clone();
                self.value_entry(named).ty = ty;
                self.insert(NewNode::new("Identity", [new], [named]), place);
            }
            if self.value(old).declared {
                // The type is the same and the name is kept: the records hold.
                let value = self.value_entry(old);
                (value.declared, value.stale) = (false, false);
                let (ty, records) = (value.ty.clone(), std::mem::take(&mut value.records));
                let value = self.value_entry(named);
                (value.ty, value.declared, value.records, value.stale) = (ty, true, records, stale);
                self.infos.push(named);
            }
        }
        let uses: Vec<Use> = self.value(old).uses().collect();
        for u in uses {
            let (at, target) = match u.slot {
                Slot::Input(k) => (k as usize, new),
                Slot::Capture(k) => (self.node(u.node).inputs.len() + k as usize, named),
            };
            self.detach(u.node, at);
            let entry = self.node_entry(u.node);
            match u.slot {
                Slot::Input(k) => {
                    entry.inputs[k as usize] = Some(target);
                    entry.origin = None;
                }
                Slot::Capture(k) => entry.captures[k as usize] = target,
            }
            self.attach(u.node, at);
        }
        if self.value(old).is_output() {
            let count = self.value(old).as_output;
            for output in &mut self.outputs {
                if *output == old {
                    *output = named;
                }
            }
            self.value_entry(old).as_output = 0;
            self.value_entry(named).as_output += count;
        }
    }

    /// Gives a value a name that no other has; its old one must have been given up.
    fn put_name(&mut self, id: ValueId, name: Name) {
        self.names.insert(name.clone(), id);
        let producer = self.value(id).producer;
        let value = self.value_entry(id);
        value.name = name;
        value.stale = true;
        value.forget_constant();
        self.forget_origins(id, producer);
    }

    // Uses.

    fn attach_all(&mut self, id: NodeId) {
        for at in 0..self.node(id).places.len() {
            self.attach(id, at);
        }
    }

    fn detach_all(&mut self, id: NodeId) {
        for at in 0..self.node(id).places.len() {
            self.detach(id, at);
        }
    }

    fn slot(node: &Node, at: usize) -> (Slot, Option<ValueId>) {
        match at.checked_sub(node.inputs.len()) {
            None => (Slot::Input(at as u32), node.inputs[at]),
            Some(k) => (Slot::Capture(k as u32), node.captures.get(k).copied()),
        }
    }

    fn attach(&mut self, id: NodeId, at: usize) {
        let (slot, Some(used)) = Graph::slot(self.node(id), at) else { return };
        let value = self.value_entry(used);
        let place = value.uses.len() as u32;
        value.uses.push(Some(Use { node: id, slot }));
        value.live_uses += 1;
        self.node_entry(id).places[at] = place;
    }

    fn detach(&mut self, id: NodeId, at: usize) {
        let place = self.node(id).places[at];
        let (_, Some(used)) = Graph::slot(self.node(id), at) else { return };
        if place == u32::MAX {
            return;
        }
        self.node_entry(id).places[at] = u32::MAX;
        let value = self.value_entry(used);
        value.uses[place as usize] = None;
        value.live_uses -= 1;
        if value.uses.len() > 8 && (value.live_uses as usize) < value.uses.len() / 2 {
            let kept: Vec<Use> = value.uses.iter().flatten().copied().collect();
            value.uses = kept.iter().copied().map(Some).collect();
            for (place, u) in kept.into_iter().enumerate() {
                let entry = self.node_entry(u.node);
                let at = match u.slot {
                    Slot::Input(k) => k as usize,
                    Slot::Capture(k) => entry.inputs.len() + k as usize,
                };
                entry.places[at] = place as u32;
            }
        }
    }
}
