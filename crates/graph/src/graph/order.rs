//! The order of the nodes: a linked list with labels that grow along it. So two nodes are compared
//! in constant time.

use super::{Graph, NodeId, Place, Producer};

/// Distance of the labels of neighbours after a relabelling.
const GAP: u64 = 1 << 32;

impl Graph {
    /// The nodes in their order.
    pub fn order(&self) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first, |id| self.node(*id).next)
    }

    /// The nodes in reverse order.
    pub(crate) fn reverse_order(&self) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.last, |id| self.node(*id).previous)
    }

    /// The node after this one.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next
    }

    /// The node before this one.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous
    }

    /// A number that grows along the order. It may change when a node is inserted.
    pub fn label(&self, id: NodeId) -> u64 {
        self.node(id).label
    }

    /// Whether the first node comes before the second in the order.
    pub fn precedes(&self, a: NodeId, b: NodeId) -> bool {
        self.label(a) < self.label(b)
    }

    /// Moves a node to another place in the order. The caller must keep the order topological, or
    /// call [`Graph::sort`] in the end.
    pub fn move_node(&mut self, id: NodeId, place: Place) {
        if place != Place::Before(id) && place != Place::After(id) {
            self.origin = None;
            self.unlink(id);
            self.link(id, place);
        }
    }

    pub(super) fn unlink(&mut self, id: NodeId) {
        let (previous, next) = (self.node(id).previous, self.node(id).next);
        match previous {
            Some(p) => self.node_entry(p).next = next,
            None => self.first = next,
        }
        match next {
            Some(n) => self.node_entry(n).previous = previous,
            None => self.last = previous,
        }
    }

    pub(super) fn link(&mut self, id: NodeId, place: Place) {
        let (previous, next) = match place {
            Place::First => (None, self.first),
            Place::Last => (self.last, None),
            Place::Before(n) => (self.node(n).previous, Some(n)),
            Place::After(p) => (Some(p), self.node(p).next),
        };
        match previous {
            Some(p) => self.node_entry(p).next = Some(id),
            None => self.first = Some(id),
        }
        match next {
            Some(n) => self.node_entry(n).previous = Some(id),
            None => self.last = Some(id),
        }
        let low = previous.map_or(0, |p| self.label(p));
        let high = next.map_or(low.saturating_add(2 * GAP), |n| self.label(n));
        let entry = self.node_entry(id);
        (entry.previous, entry.next) = (previous, next);
        entry.label = low + (high - low) / 2;
        if entry.label == low || entry.label == high {
            self.relabel(id);
        }
    }

    /// Makes room around a node: the labels of a stretch that is wide enough for its nodes are
    /// spread evenly. The stretch doubles until it is, and the wider it is the more room it must
    /// have, so that many insertions at one place cost little each.
    fn relabel(&mut self, id: NodeId) {
        let (mut first, mut last, mut count) = (id, id, 1u64);
        let mut room = 1u64 << 8;
        loop {
            let before = count;
            for _ in 0..before {
                if let Some(p) = self.node(first).previous {
                    (first, count) = (p, count + 1);
                }
                if let Some(n) = self.node(last).next {
                    (last, count) = (n, count + 1);
                }
            }
            let low = self.node(first).previous.map_or(0, |p| self.label(p));
            let whole = self.node(first).previous.is_none() && self.node(last).next.is_none();
            let high = match self.node(last).next {
                Some(n) => self.label(n),
                None => low.saturating_add((count + 1).saturating_mul(GAP)),
            };
            let gap = (high - low) / (count + 1);
            if gap >= room.min(GAP) || whole {
                let mut at = Some(first);
                for k in 1..=count {
                    let Some(id) = at else { break };
                    self.node_entry(id).label = low + k * gap;
                    at = self.node(id).next;
                }
                return;
            }
            room = room.saturating_mul(4);
        }
    }

    /// Brings the nodes into a topological order, in time linear in the size of the graph; nodes
    /// that stand right already keep their order among themselves. Subgraphs are left as they are.
    ///
    /// # Errors
    /// A node on a cycle, if there is one; the graph is then unchanged.
    pub fn sort(&mut self) -> Result<(), NodeId> {
        if self.is_sorted() {
            return Ok(());
        }
        // Depth first from each node in the present order: a reverse postorder that changes as
        // little as it must.
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.node_bound()];
        let mut sorted = Vec::with_capacity(self.live_nodes);
        let mut stack: Vec<(NodeId, usize)> = Vec::new();
        for root in self.order() {
            if marks[root.index()] != Mark::New {
                continue;
            }
            marks[root.index()] = Mark::Open;
            stack.push((root, 0));
            while let Some((id, at)) = stack.last_mut() {
                let node = self.node(*id);
                let used = match node.inputs.get(*at) {
                    Some(input) => *input,
                    None => match node.captures.get(*at - node.inputs.len()) {
                        Some(capture) => Some(*capture),
                        None => {
                            marks[id.index()] = Mark::Done;
                            sorted.push(*id);
                            stack.pop();
                            continue;
                        }
                    },
                };
                *at += 1;
                let Some(used) = used else { continue };
                let Producer::Node(before, _) = self.value(used).producer else { continue };
                match marks[before.index()] {
                    Mark::New => {
                        marks[before.index()] = Mark::Open;
                        stack.push((before, 0));
                    }
                    Mark::Open => return Err(before),
                    Mark::Done => {}
                }
            }
        }
        self.origin = None;
        self.first = sorted.first().copied();
        self.last = sorted.last().copied();
        for (k, id) in sorted.iter().enumerate() {
            let entry = self.node_entry(*id);
            entry.previous = k.checked_sub(1).map(|p| sorted[p]);
            entry.next = sorted.get(k + 1).copied();
            entry.label = (k as u64 + 1) * GAP;
        }
        Ok(())
    }

    /// Whether each node comes after those whose results it uses. Linear.
    pub fn is_sorted(&self) -> bool {
        self.order().all(|id| self.node_predecessors(id).all(|before| self.precedes(before, id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::NewNode;

    /// Labels grow along the order, however nodes came to their places.
    #[test]
    fn labels_grow_after_many_insertions_at_one_place() {
        let mut graph = Graph::new("g");
        let node = || NewNode::new("Relu", [None::<crate::ValueId>; 0], [None::<crate::ValueId>; 0]);
        let first = graph.insert(node(), Place::Last);
        let last = graph.insert(node(), Place::Last);
        let mut middle = first;
        for k in 0..3000 {
            let place = match k % 5 {
                0 => Place::Before(last),
                1 => Place::After(first),
                2 => Place::First,
                3 => Place::After(middle),
                _ => Place::Before(middle),
            };
            let new = graph.insert(node(), place);
            if k % 7 == 0 {
                middle = new;
            }
            let (previous, next) = (graph.previous(new), graph.next(new));
            assert!(
                previous.is_none_or(|p| graph.precedes(p, new))
                    && next.is_none_or(|n| graph.precedes(new, n))
            );
        }
        let labels: Vec<u64> = graph.order().map(|id| graph.label(id)).collect();
        assert_eq!(labels.len(), 3002);
        assert!(labels.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
