//! All rules in one discrimination tree by operator. A walk from a node tells which patterns can
//! match there. What patterns have in common is tested only once.

use graph::hash_tables::Map;
use graph::{Graph, NodeId, Operator};

use crate::matching::in_class;
use crate::program::{OpPattern, Test, Variant};
use crate::rule::OperatorClass;

/// Which plan of which variant of which rule. Ordered as they are tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Entry {
    pub rule: usize,
    pub variant: usize,
    pub plan: usize,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<TreeNode>,
}

#[derive(Clone, Debug, Default)]
struct TreeNode {
    leaves: Vec<Entry>,
    edges: Vec<Edge>,
}

/// A question: which operator produces input `slot` of what question `parent` found?
#[derive(Clone, Debug)]
struct Edge {
    parent: usize,
    slot: usize,
    named: Map<Operator, usize>,
    classes: Vec<(Vec<OperatorClass>, usize)>,
}

impl Tree {
    pub fn new() -> Tree {
        Tree { nodes: vec![TreeNode::default()] }
    }

    pub fn insert(&mut self, variant: &Variant, tests: &[Test], entry: Entry) {
        let mut at = 0;
        for test in tests {
            let next = self.nodes.len();
            let node = &mut self.nodes[at];
            let found = node.edges.iter().position(|e| (e.parent, e.slot) == (test.parent, test.slot));
            let k = found.unwrap_or_else(|| {
                let (parent, slot) = (test.parent, test.slot);
                node.edges.push(Edge { parent, slot, named: Map::default(), classes: Vec::new() });
                node.edges.len() - 1
            });
            let edge = &mut node.edges[k];
            at = match &test.op {
                OpPattern::Named(op) => *edge.named.entry(op.clone()).or_insert(next),
                OpPattern::Variable(v) => {
                    let class = &variant.operators[*v];
                    match edge.classes.iter().find(|(c, _)| c == class) {
                        Some((_, child)) => *child,
                        None => {
                            edge.classes.push((class.clone(), next));
                            next
                        }
                    }
                }
            };
            if at == next {
                self.nodes.push(TreeNode::default());
            }
        }
        self.nodes[at].leaves.push(entry);
    }

    /// The plans that can match with this node as their anchor, in order.
    pub fn candidates(&self, graph: &Graph, anchor: NodeId, out: &mut Vec<Entry>) {
        out.clear();
        let mut positions = Vec::new();
        // The first question is about the anchor itself.
        for edge in &self.nodes[0].edges {
            self.follow(graph, edge, anchor, &mut positions, out);
        }
        out.sort_unstable();
    }

    fn walk(&self, graph: &Graph, at: usize, positions: &mut Vec<NodeId>, out: &mut Vec<Entry>) {
        let node = &self.nodes[at];
        out.extend_from_slice(&node.leaves);
        for edge in &node.edges {
            let Some(value) = graph.node(positions[edge.parent]).input(edge.slot) else { continue };
            let Some((child, _)) = graph.producer(value) else { continue };
            self.follow(graph, edge, child, positions, out);
        }
    }

    fn follow(
        &self,
        graph: &Graph,
        edge: &Edge,
        node: NodeId,
        positions: &mut Vec<NodeId>,
        out: &mut Vec<Entry>,
    ) {
        let op = graph.node(node).op();
        let named = edge.named.get(op).copied();
        let classes = edge.classes.iter().filter(|(class, _)| in_class(class, op)).map(|(_, child)| *child);
        for child in named.into_iter().chain(classes) {
            positions.push(node);
            self.walk(graph, child, positions, out);
            positions.pop();
        }
    }
}
