//! Names of values: the graph, its subgraphs, and the file's records hold them.

use std::sync::Arc;

use loops::Name;

use super::{Graph, NodeId, Producer, Slot, ValueId};
use crate::attribute::AttributeValue;

impl Graph {
    /// Gives a value another name. Fails (and changes nothing) if another value has it or if
    /// subgraphs use the value by name.
    pub fn rename(&mut self, id: ValueId, name: impl Into<Name>) -> bool {
        let name = name.into();
        if self.value(id).name == name {
            return true;
        }
        if self.names.contains_key(&name) || self.is_captured(id) {
            return false;
        }
        self.rename_everywhere(id, name);
        true
    }

    /// Gives a value another name, which no value has, in subgraphs that use it by name too.
    pub(crate) fn rename_everywhere(&mut self, id: ValueId, name: Name) {
        let old = self.value(id).name.clone();
        let inside: Vec<NodeId> =
            self.value(id).uses().filter(|u| matches!(u.slot, Slot::Capture(_))).map(|u| u.node).collect();
        for node in inside {
            for attribute in &mut self.node_entry(node).attributes {
                let AttributeValue::Graph(inner) = &mut attribute.value else { continue };
                let outer = inner.find(&old).filter(|v| inner.value(*v).producer == Producer::Outer);
                if let Some(outer) = outer {
                    Arc::make_mut(inner).rename_everywhere(outer, name.clone());
                }
            }
        }
        self.names.remove(&old);
        self.names.insert(name.clone(), id);
        self.origin = None;
        let value = self.value_entry(id);
        value.name = name;
        value.stale = true;
        value.forget_constant();
        let producer = value.producer;
        self.forget_origins(id, producer);
    }

    /// Discards the file's records that contain the value's name.
    pub(super) fn forget_origins(&mut self, id: ValueId, producer: Producer) {
        let users: Vec<NodeId> = self.value(id).uses().map(|u| u.node).collect();
        for user in users {
            self.node_entry(user).origin = None;
        }
        if let Producer::Node(node, _) = producer {
            self.node_entry(node).origin = None;
        }
    }
}
