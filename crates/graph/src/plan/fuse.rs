//! Fusion: which nodes become one call. A call is a product, a convolution or an elementwise
//! function, followed by elementwise functions. Nothing else may read the values between them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use loops::Size;

use crate::graph::{Graph, NodeId, ValueId};
use crate::infer::label;
use crate::operators::{self, After, Call, Elementwise, Meaning, Operand, Output, Source};

/// Nodes of one call, at most.
const MOST_NODES: usize = 16;

/// A planned call: a node, and the operators that are fused with it.
#[derive(Debug)]
pub(super) struct Todo<'a> {
    /// The first node.
    pub(super) head: NodeId,
    pub(super) call: Call<'a>,
    pub(super) meaning: Rc<Meaning>,
    pub(super) after: After,
    /// The tensors that the functions behind read.
    pub(super) beside: Vec<ValueId>,
    /// The nodes of these functions.
    pub(super) behind: Vec<NodeId>,
    /// The results of the last node.
    pub(super) results: Vec<Output>,
}

impl Todo<'_> {
    /// The node whose results are those of the call.
    pub(super) fn tail(&self) -> NodeId {
        self.behind.last().copied().unwrap_or(self.head)
    }

    /// Its operators, for comments.
    pub(super) fn operators(&self, graph: &Graph) -> String {
        let nodes = std::iter::once(self.head).chain(self.behind.iter().copied());
        nodes.map(|id| graph.node(id).op().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Its nodes, for comments.
    pub(super) fn label(&self, graph: &Graph) -> String {
        let nodes = std::iter::once(self.head).chain(self.behind.iter().copied());
        nodes.map(|id| label(graph, id)).collect::<Vec<_>>().join(", ")
    }

    /// The values that the call reads, in the order of its parameters.
    pub(super) fn arguments(&self, graph: &Graph) -> Vec<ValueId> {
        let own = self.meaning.arguments.iter().filter_map(|k| graph.node(self.head).input(*k));
        own.chain(self.beside.iter().copied()).collect()
    }
}

/// The calls of a model in order, from the nodes that are no views.
pub(super) fn fuse<'a>(graph: &Graph, nodes: Vec<(NodeId, Call<'a>, Rc<Meaning>)>) -> Vec<Todo<'a>> {
    let at: HashMap<NodeId, usize> = nodes.iter().enumerate().map(|(at, (id, ..))| (*id, at)).collect();
    let functions = functions(&nodes);
    let all = Nodes { graph, nodes: &nodes, at: &at, functions: &functions };
    let mut taken: HashSet<usize> = HashSet::new();
    // By the last node: what functions read beside is there by then.
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for product in [true, false] {
        for head in 0..nodes.len() {
            let light = functions[head].as_ref().is_some_and(|function| function.is_light());
            let fits = if product { is_product(&nodes[head].1) } else { light };
            if fits && !taken.contains(&head) {
                let group = all.group(head, &taken, product);
                taken.extend(&group);
                groups.insert(group[group.len() - 1], group);
            }
        }
    }
    for k in 0..nodes.len() {
        if !taken.contains(&k) {
            groups.insert(k, vec![k]);
        }
    }
    let mut behind: HashMap<usize, Behind> = HashMap::new();
    for (last, group) in &groups {
        let (after, beside) = all.after(group);
        let members = group[1..].iter().map(|k| nodes[*k].0).collect();
        behind.insert(group[0], (*last, after, beside, members, nodes[*last].2.results.clone()));
    }
    let mut calls: BTreeMap<usize, Todo<'a>> = BTreeMap::new();
    for (k, (head, call, meaning)) in nodes.into_iter().enumerate() {
        if let Some((last, after, beside, behind, results)) = behind.remove(&k) {
            calls.insert(last, Todo { head, call, meaning, after, beside, behind, results });
        }
    }
    calls.into_values().collect()
}

/// The functions of elements that nodes are. Those of one meaning share one.
fn functions(nodes: &[(NodeId, Call<'_>, Rc<Meaning>)]) -> Vec<Option<Rc<Elementwise>>> {
    let mut known: HashMap<*const Meaning, Option<Rc<Elementwise>>> = HashMap::new();
    let of = |meaning: &Rc<Meaning>| operators::elementwise(meaning).map(Rc::new);
    nodes
        .iter()
        .map(|(_, _, meaning)| known.entry(Rc::as_ptr(meaning)).or_insert_with(|| of(meaning)).clone())
        .collect()
}

/// What is fused with the first node of a call: its place in order, functions, tensors, nodes,
/// results.
type Behind = (usize, After, Vec<ValueId>, Vec<NodeId>, Vec<Output>);

/// Whether an operator takes functions into the tiles of its result.
fn is_product(call: &Call<'_>) -> bool {
    call.op.domain.is_empty() && matches!(&*call.op.name, "Conv" | "Gemm" | "MatMul")
}

struct Nodes<'n, 'a> {
    graph: &'n Graph,
    nodes: &'n [(NodeId, Call<'a>, Rc<Meaning>)],
    at: &'n HashMap<NodeId, usize>,
    functions: &'n [Option<Rc<Elementwise>>],
}

impl Nodes<'_, '_> {
    fn result(&self, k: usize) -> Option<ValueId> {
        self.graph.node(self.nodes[k].0).output(0)
    }

    fn operand(&self, k: usize, input: usize) -> Option<&Operand<'_>> {
        self.nodes[k].1.inputs.get(input)?.as_ref()
    }

    /// The nodes from this one on that become one call: as many as leave one result only.
    fn group(&self, head: usize, taken: &HashSet<usize>, product: bool) -> Vec<usize> {
        let mut group = vec![head];
        let mut best = 1;
        let mut next: BTreeSet<usize> = BTreeSet::new();
        self.readers(head, &mut next);
        while let Some(k) = next.pop_first() {
            if group.len() < MOST_NODES && !taken.contains(&k) && self.goes_behind(k, head, product) {
                group.push(k);
                self.readers(k, &mut next);
                if group[..group.len() - 1].iter().all(|inner| self.stays_inside(*inner, &group)) {
                    best = group.len();
                }
            }
        }
        group.truncate(best);
        group
    }

    /// The nodes that read the result of a node.
    fn readers(&self, k: usize, into: &mut BTreeSet<usize>) {
        if let Some(result) = self.result(k) {
            into.extend(self.graph.successors(result).iter().filter_map(|id| self.at.get(id)));
        }
    }

    /// Whether only nodes of the group read the results of a node.
    fn stays_inside(&self, k: usize, group: &[usize]) -> bool {
        self.result(k).is_some_and(|result| {
            !self.graph.outputs().contains(&result)
                && self
                    .graph
                    .successors(result)
                    .iter()
                    .all(|id| self.at.get(id).is_some_and(|k| group.contains(k)))
        })
    }

    /// Whether a node is a function of elements with results as the first node's.
    fn goes_behind(&self, k: usize, head: usize, product: bool) -> bool {
        let (first, here) = (&self.nodes[head].2, &self.nodes[k].2);
        let ([from], [to], Some(function)) = (&first.results[..], &here.results[..], &self.functions[k])
        else {
            return false;
        };
        let rank = to.shape.len();
        let dims = match &*self.nodes[head].1.op.name {
            "Conv" if product => vec![1, 1, rank.saturating_sub(2)],
            _ if product => vec![rank.saturating_sub(1), 1],
            _ => vec![1; rank],
        };
        from.shape == to.shape
            && to.shape.iter().all(|n| n.as_constant() != Some(0))
            && function.is_light()
            && (!product || from.elem == to.elem && rank >= 2)
            && function.inputs().all(|input| {
                self.operand(k, input).is_some_and(|o| operators::fits(&o.shape, &to.shape, &dims))
            })
    }

    /// The functions that are fused with the first node of a group, and the tensors that they read.
    fn after(&self, group: &[usize]) -> (After, Vec<ValueId>) {
        let mut after = After::default();
        let mut beside: Vec<ValueId> = Vec::new();
        for k in &group[1..] {
            let Some(function) = &self.functions[*k] else { continue };
            let mut sources = Vec::new();
            for input in function.inputs() {
                let Some(value) = self.graph.node(self.nodes[*k].0).input(input) else { continue };
                if let Some(inner) = group.iter().position(|inner| self.result(*inner) == Some(value)) {
                    sources.push(Source::Inside(inner));
                    continue;
                }
                let number = beside.iter().position(|known| *known == value).unwrap_or_else(|| {
                    if let Some(operand) = self.operand(*k, input) {
                        let shape: Vec<Size> = operand.shape.clone();
                        after.operands.push((operand.elem, shape));
                    }
                    beside.push(value);
                    beside.len() - 1
                });
                sources.push(Source::Outside(number));
            }
            after.stages.push(((**function).clone(), sources));
        }
        (after, beside)
    }
}
