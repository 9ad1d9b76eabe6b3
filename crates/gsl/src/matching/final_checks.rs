//! Conditions that a complete match must satisfy before it can be replaced.

use graph::{Producer, Slot};

use crate::matching::Matcher;

impl Matcher<'_> {
    /// Condition 4 of a match: if a vertex is removed, all users of its results must be matched
    /// too, unless the target replaces the result. Graph outputs and subgraphs count as users. No
    /// input of the match may be such a result.
    /// The result is what is in the way, if something is.
    pub(super) fn used_elsewhere(&self) -> Option<String> {
        let graph = &self.model.graph;
        for (v, vertex) in self.variant.vertices.iter().enumerate() {
            if vertex.keep {
                continue;
            }
            for id in self.found.vertices[v].iter().flatten() {
                for (item, value) in graph.node(*id).outputs().iter().enumerate() {
                    let Some(value) = value else { continue };
                    if self.variant.outputs.iter().any(|o| o.vertex == v && o.item == item) {
                        continue;
                    }
                    let value = graph.value(*value);
                    let inside =
                        |u: graph::Use| matches!(u.slot, Slot::Input(_)) && self.is_matched_away(u.node);
                    // Pattern vertices have few users. For a value with many, the first user
                    // outside of the match decides.
                    if value.is_output() || !value.uses().all(inside) {
                        let name = value.name();
                        return Some(format!(
                            "`{name}` would go, and something outside of the match reads it"
                        ));
                    }
                }
            }
        }
        let mut inputs = self.found.inputs.iter().flatten().flatten().flatten();
        let gone = inputs.find(|value| match graph.value(**value).producer() {
            Producer::Node(node, _) => self.is_matched_away(node),
            _ => false,
        })?;
        Some(format!("`{}` is an input of the match and would go", graph.value(*gone).name()))
    }

    /// Whether a node is matched by a vertex that goes away.
    fn is_matched_away(&self, node: graph::NodeId) -> bool {
        if !self.taken.contains(node) {
            return false;
        }
        let mut kept = self.variant.vertices.iter().enumerate().filter(|(_, v)| v.keep);
        !kept.any(|(v, _)| self.found.vertices[v].iter().flatten().any(|n| *n == node))
    }
}
