//! Rewriting: the target of a match becomes vertices. They replace the results of the match.
//!
//! The new vertices are built beside the old ones, and their types and costs are computed. Then
//! either the match or the new vertices are removed. No rewrite is left half-done.

mod build;

use std::cell::RefCell;
use std::collections::BTreeSet;

use graph::hash_tables::{Map, Set};
use graph::{Dim, Graph, Model, NewNode, NodeId, Place, Producer, TensorType, ValueId};
use loops::Size;
use loops::size::Factor;

use crate::cost::node_cost;
use crate::eval::{Facts, Found};
use crate::program::Variant;

pub(crate) use build::Built;

/// Why a match was not rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The model would become slower.
    Cost,
    /// A value would depend on itself.
    Cycle,
    /// An expression of the target has no value for this match, or a constant has no
    /// representation.
    Undefined,
    /// The operator set of the model does not have a call like that.
    Opset,
    /// The new vertices have no valid types.
    Invalid,
    /// A result would get another type or shape.
    Differs,
    /// Nothing would change.
    Same,
}

impl Refusal {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::Cost => "slower",
            Refusal::Cycle => "cycle",
            Refusal::Undefined => "no value",
            Refusal::Opset => "not in this operator set",
            Refusal::Invalid => "invalid types",
            Refusal::Differs => "another type or shape",
            Refusal::Same => "no change",
        }
    }
}

/// What a rewrite did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// The new nodes.
    pub new: Vec<NodeId>,
    /// Values that other vertices read from now on or that lost readers.
    pub touched: Vec<ValueId>,
    /// Nodes that were removed, including those that are no longer needed.
    pub removed: usize,
    /// Change of the cost.
    pub cost: f64,
}

/// What rewriting works on.
pub(crate) struct Rewriter<'a> {
    pub model: &'a mut Model,
    pub facts: &'a mut Facts,
    /// Rewrites that lose are done too.
    pub ignore_cost: bool,
    /// Calls of constants are computed at once.
    pub fold: bool,
}

impl Rewriter<'_> {
    /// Replaces the match, or says why not and leaves the graph as it was.
    pub fn apply(&mut self, variant: &Variant, found: &Found) -> Result<Change, Refusal> {
        let matched = matched(variant, found);
        let place = self.place(variant, found, &matched)?;
        let memo = RefCell::new(vec![None; variant.lets.len()]);
        let mut builder = build::Builder::new(self.model, self.facts, variant, found, place, &memo);
        builder.fold = self.fold;
        let built = match builder.run() {
            Ok(replacements) => builder.finish(replacements),
            Err(refusal) => {
                builder.abandon();
                return Err(refusal);
            }
        };
        let verdict = self.judge(&matched, &built);
        let cost = match verdict {
            Ok(cost) => cost,
            Err(refusal) => {
                self.withdraw(&built);
                return Err(refusal);
            }
        };
        Ok(self.commit(&matched, built, cost))
    }

    /// The place of the new vertices in the order: after everything that they read, and before all
    /// their readers. Other nodes are moved if necessary. This is impossible if a value would
    /// depend on itself (the match is not convex).
    fn place(&mut self, variant: &Variant, found: &Found, matched: &[NodeId]) -> Result<Place, Refusal> {
        let graph = &self.model.graph;
        let label = |id: NodeId| graph.label(id);
        let inside: Set<NodeId> =
            if matched.len() > 8 { matched.iter().copied().collect() } else { Set::default() };
        let is_inside =
            |id: NodeId| if inside.is_empty() { matched.contains(&id) } else { inside.contains(&id) };
        let kept = variant.vertices.iter().enumerate().filter(|(_, v)| v.keep);
        let kept = kept.flat_map(|(v, _)| found.vertices[v].iter().flatten().copied());
        let read = found.inputs.iter().flatten().flatten().flatten();
        let producers: Vec<NodeId> =
            read.filter_map(|v| graph.producer(*v).map(|(n, _)| n)).chain(kept).collect();
        let low = producers.iter().copied().max_by_key(|id| label(*id));
        let mut high: Option<NodeId> = None;
        for output in &variant.outputs {
            for id in found.vertices[output.vertex].iter().flatten() {
                let Some(value) = graph.node(*id).output(output.item) else { continue };
                for u in graph.value(value).uses() {
                    if !is_inside(u.node) && high.is_none_or(|h| label(u.node) < label(h)) {
                        high = Some(u.node);
                    }
                }
            }
        }
        let last = matched.iter().copied().max_by_key(|id| label(*id)).ok_or(Refusal::Undefined)?;
        if high.is_none_or(|h| label(h) > label(last)) && low.is_none_or(|l| label(l) < label(last)) {
            return Ok(Place::Before(last));
        }
        match (low, high) {
            (Some(l), Some(h)) if label(l) >= label(h) => {}
            (Some(l), _) => return Ok(Place::After(l)),
            (None, _) => return Ok(Place::First),
        }
        // The predecessors of the inputs must come first. They are found backward, up to the first
        // vertex of the match.
        let first = matched.iter().copied().min_by_key(|id| label(*id)).ok_or(Refusal::Undefined)?;
        let limit = label(first);
        let mut before: Vec<NodeId> = Vec::new();
        let mut seen: Set<NodeId> = Set::default();
        let mut pending: Vec<NodeId> = producers;
        while let Some(id) = pending.pop() {
            if label(id) < limit || !seen.insert(id) {
                continue;
            }
            if is_inside(id) {
                return Err(Refusal::Cycle);
            }
            before.push(id);
            pending.extend(graph.node_predecessors(id));
        }
        before.sort_by_key(|id| label(*id));
        for id in before {
            self.model.graph.move_node(id, Place::Before(first));
        }
        Ok(Place::Before(first))
    }

    /// Whether the new vertices may take the place of the old ones; if so, by how much the cost
    /// changes.
    fn judge(&self, matched: &[NodeId], built: &Built) -> Result<f64, Refusal> {
        let graph = &self.model.graph;
        for (old, new) in &built.replacements {
            if old == new {
                return Err(Refusal::Same);
            }
            if !compatible(graph, *old, *new) {
                return Err(Refusal::Differs);
            }
            // A result that the graph returns under its name can't be one of its inputs or
            // parameters: a copy would be needed again.
            if graph.value(*old).is_output() && built.new.is_empty() && matched.len() == 1 {
                let target = graph.value(*new);
                if !matches!(target.producer(), Producer::Node(..))
                    || target.is_output()
                    || graph.is_captured(*new)
                {
                    return Err(Refusal::Same);
                }
            }
        }
        let before: f64 = matched.iter().map(|id| node_cost(graph, self.facts, *id)).sum();
        let after: f64 = built.new.iter().map(|id| node_cost(graph, self.facts, *id)).sum();
        if !self.ignore_cost && after > before * (1.0 + 1e-9) {
            return Err(Refusal::Cost);
        }
        Ok(after - before)
    }

    /// Takes the new vertices back.
    fn withdraw(&mut self, built: &Built) {
        for id in built.new.iter().rev() {
            self.model.graph.remove_node(*id);
        }
        for value in built.constants.iter().rev() {
            self.model.graph.remove_value_if_unused(*value);
        }
    }

    /// The match goes, and the new vertices produce its results under their names.
    fn commit(&mut self, matched: &[NodeId], built: Built, cost: f64) -> Change {
        let mut change = Change { cost, ..Change::default() };
        let graph = &mut self.model.graph;
        let mut read: Vec<ValueId> = Vec::new();
        for id in matched {
            read.extend(graph.node(*id).inputs().iter().flatten());
        }
        let before = graph.node_count();
        let names: Vec<_> = matched.iter().map(|id| graph.node(*id).name().clone()).collect();
        for id in matched {
            graph.remove_node(*id);
        }
        // Results of a new vertex get the old name. If there are several names, the first is kept
        // and the others are replaced.
        let mut taken: Map<ValueId, ValueId> = Map::default();
        let fresh: Set<NodeId> = built.new.iter().copied().collect();
        let mut moved: Vec<(ValueId, ValueId)> = Vec::new();
        for (old, new) in &built.replacements {
            if !graph.is_alive(*old) {
                continue;
            }
            let fresh = graph.producer(*new).is_some_and(|(id, _)| fresh.contains(&id));
            if fresh && !taken.contains_key(new) {
                taken.insert(*new, *old);
            } else {
                moved.push((*old, *new));
            }
        }
        let mut produced: Vec<NodeId> = Vec::new();
        for (k, id) in built.new.iter().enumerate() {
            let node = graph.node(*id);
            if !node.outputs().iter().flatten().any(|v| taken.contains_key(v)) {
                produced.push(*id);
                continue;
            }
            let outputs: Vec<Option<ValueId>> =
                node.outputs().iter().map(|v| v.map(|v| taken.get(&v).copied().unwrap_or(v))).collect();
            let own: Vec<ValueId> = node.outputs().iter().flatten().copied().collect();
            let users: Vec<_> = own.iter().flat_map(|v| graph.value(*v).uses().collect::<Vec<_>>()).collect();
            let mut new = NewNode::new(node.op().clone(), node.inputs().to_vec(), outputs);
            new.attributes = node.attributes().to_vec();
            new.name = names
                .first()
                .filter(|_| k + 1 == built.new.len())
                .cloned()
                .unwrap_or_else(|| node.name().clone());
            let place = graph.next(*id).map_or(Place::Last, Place::Before);
            let types: Vec<_> = own.iter().map(|v| graph.value(*v).ty().cloned()).collect();
            // Other new vertices that read the result read it under its old name from now on.
            for u in users {
                if let graph::Slot::Input(k) = u.slot {
                    let old = graph.node(u.node).input(k as usize);
                    let renamed = old.and_then(|old| taken.get(&old).copied());
                    if renamed.is_some() {
                        graph.set_input(u.node, k as usize, renamed);
                    }
                }
            }
            graph.remove_node(*id);
            // Results that are not taken over lost their values with their node.
            for output in &mut new.outputs {
                if output.is_some_and(|value| !graph.is_alive(value)) {
                    *output = None;
                }
            }
            let outputs = new.outputs.clone();
            let id = graph.insert(new, place);
            for (value, ty) in outputs.iter().zip(types) {
                if let (Some(value), Some(ty)) = (value, ty)
                    && !graph.value(*value).is_declared()
                    && more_precise(graph, *value, &ty)
                {
                    graph.set_inferred(*value, ty);
                }
            }
            produced.push(id);
        }
        for (old, new) in moved {
            // The value that the old name stands for may have been taken over itself.
            let new = taken.get(&new).copied().unwrap_or(new);
            graph.replace_value(old, new);
            graph.remove_value_if_unused(old);
            change.touched.push(new);
        }
        let added = graph.node_count() + matched.len() - before;
        change.new = produced;
        for id in change.new.clone() {
            self.facts.add(self.model, id);
        }
        let graph = &mut self.model.graph;
        read.extend(change.new.iter().flat_map(|id| graph.node(*id).outputs().iter().flatten().copied()));
        remove_unused(graph, &read);
        change.removed = (before + added).saturating_sub(graph.node_count());
        change.new.retain(|id| graph.get_node(*id).is_some());
        change.touched.extend(read.into_iter().filter(|v| graph.is_alive(*v)));
        change
    }
}

/// The nodes of a match that go away.
fn matched(variant: &Variant, found: &Found) -> Vec<NodeId> {
    let gone = variant.vertices.iter().enumerate().filter(|(_, v)| !v.keep);
    gone.flat_map(|(v, _)| found.vertices[v].iter().flatten().copied()).collect()
}

/// Whether a value can replace another: its type and shape are not certainly different.
fn compatible(graph: &Graph, old: ValueId, new: ValueId) -> bool {
    let (Some(a), Some(b)) = (graph.value(old).tensor_type(), graph.value(new).tensor_type()) else {
        return graph.value(new).ty().is_none_or(|t| t.tensor().is_some())
            || graph.value(old).ty() == graph.value(new).ty();
    };
    a.elem == b.elem && same_shape(graph, a, b)
}

fn same_shape(graph: &Graph, a: &TensorType, b: &TensorType) -> bool {
    let (Some(x), Some(y)) = (&a.shape, &b.shape) else { return true };
    x.len() == y.len()
        && x.iter()
            .zip(y)
            .all(|(a, b)| a == b || !(a.surely_differs(b) || differ_for_some_input(graph, a, b)))
}

/// Whether two extents are different numbers for most inputs: different sums of products of the
/// same names of the extents of inputs. Other names, as those that results are declared with, may
/// be any number, and so may quotients, or two names that the model needs to be the same.
fn differ_for_some_input(graph: &Graph, a: &Dim, b: &Dim) -> bool {
    let (Some(a), Some(b)) = (a.size(), b.size()) else { return false };
    let polynomial = |size: &Size| {
        size.terms().all(|(_, factors)| factors.iter().all(|(factor, _)| matches!(factor, Factor::Param(_))))
    };
    if a == b || a.params() != b.params() || !polynomial(&a) || !polynomial(&b) {
        return false;
    }
    let inputs = graph.inputs().iter().filter_map(|v| graph.value(*v).tensor_type()?.shape.as_ref());
    let named: BTreeSet<_> = inputs.flatten().filter_map(Dim::size).flat_map(|size| size.params()).collect();
    a.params().iter().chain(&b.params()).all(|name| named.contains(name))
}

fn more_precise(graph: &Graph, value: ValueId, ty: &graph::ValueType) -> bool {
    graph.value(value).ty().is_none() && ty.tensor().is_some()
}

/// Removes nodes and parameters that are no longer needed, beginning with the producers of these
/// values.
fn remove_unused(graph: &mut Graph, values: &[ValueId]) {
    let mut pending: Vec<ValueId> = values.to_vec();
    while let Some(value) = pending.pop() {
        if !graph.is_alive(value) || graph.value(value).use_count() > 0 || graph.value(value).is_output() {
            continue;
        }
        match graph.value(value).producer() {
            Producer::Node(id, _) => {
                let node = graph.node(id);
                let needed = |v: &ValueId| graph.value(*v).use_count() > 0 || graph.value(*v).is_output();
                if !node.outputs().iter().flatten().any(needed) {
                    pending.extend(node.inputs().iter().flatten().chain(node.captures()));
                    graph.remove_node(id);
                }
            }
            Producer::Initializer => drop(graph.remove_value_if_unused(value)),
            _ => {}
        }
    }
}
