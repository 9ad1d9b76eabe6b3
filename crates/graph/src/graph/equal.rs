//! Equality of graphs: the same names, the same types, and the same nodes in the same order.
//! Identifiers and fields that only the file has do not count.

use super::{Graph, Producer, ValueId};
use loops::Name;

impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        let name = |g: &Graph, v: ValueId| g.value(v).name.clone();
        let names = |g: &Graph, list: &[Option<ValueId>]| -> Vec<Option<Name>> {
            list.iter().map(|v| v.map(|v| name(g, v))).collect()
        };
        if self.name != other.name
            || self.extra != other.extra
            || self.live_nodes != other.live_nodes
            || self.inputs.len() != other.inputs.len()
            || self.outputs.len() != other.outputs.len()
        {
            return false;
        }
        let all =
            |g: &Graph| g.values().filter(|(_, v)| v.producer != Producer::Nothing || v.declared).count();
        if all(self) != all(other) {
            return false;
        }
        let same_list =
            |a: &[ValueId], b: &[ValueId]| a.iter().zip(b).all(|(a, b)| name(self, *a) == name(other, *b));
        let same_values = || {
            self.values().filter(|(_, v)| v.producer != Producer::Nothing || v.declared).all(|(_, value)| {
                let Some(twin) = other.find(&value.name).map(|v| other.value(v)) else { return false };
                let kind = |p: Producer| match p {
                    Producer::Node(..) => 4,
                    Producer::Outer => 3,
                    Producer::Initializer => 2,
                    Producer::Input => 1,
                    Producer::Nothing => 0,
                };
                let declared = |v: &super::Value| v.declared.then(|| v.ty.clone());
                value.initializer() == twin.initializer()
                    && kind(value.producer) == kind(twin.producer)
                    && declared(value) == declared(twin)
            })
        };
        let initializers = |g: &Graph| g.initializers().map(|(id, _)| name(g, id)).collect::<Vec<_>>();
        same_list(&self.inputs, &other.inputs)
            && same_list(&self.outputs, &other.outputs)
            && self.nodes().zip(other.nodes()).all(|((_, a), (_, b))| {
                a.name == b.name
                    && a.op == b.op
                    && a.extra == b.extra
                    && a.attributes == b.attributes
                    && names(self, &a.inputs) == names(other, &b.inputs)
                    && names(self, &a.outputs) == names(other, &b.outputs)
            })
            && initializers(self) == initializers(other)
            && same_values()
    }
}
