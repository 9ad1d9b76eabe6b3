//! Simplification of graphs: dead nodes are removed, equal computations are merged, and what
//! depends on constants alone is computed.
//!
//! Constants are computed by the operators' own programs ([`crate::operators`]) or by their
//! shortcut ([`crate::folding_kernels`]), if there is one. Random operators are never computed and
//! never merged. The same holds for operators of another domain than the standard one, whose
//! meaning is not known, and for nodes with subgraphs. Each pass is linear in the size of the
//! graph. Names and types of the graph's outputs stay.

use std::hash::BuildHasher;

use bytes::Bytes;
use loops::Name;

use crate::budget::{Budget, NODE};
use crate::folding_kernels;
use crate::graph::{Graph, Node, NodeId, Producer, ValueId};
use crate::hash_tables::{Hashing, Map};
use crate::model::Model;
use crate::operators;
use crate::schema;
use crate::tensor::{Storage, Tensor, elements};
use crate::types::{Dim, ElementType};

/// What a pass did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Simplified {
    /// Nodes that were removed because nobody uses their results.
    pub dead: usize,
    /// Nodes and parameters that were merged with an equal one.
    pub merged: usize,
    /// Nodes whose results became parameters.
    pub folded: usize,
}

impl std::ops::AddAssign for Simplified {
    fn add_assign(&mut self, other: Simplified) {
        self.dead += other.dead;
        self.merged += other.merged;
        self.folded += other.folded;
    }
}

/// What [`fold`] may compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoldOptions {
    /// Parameters count as constants (they are, unless they are inputs too).
    pub parameters: bool,
    /// A result larger than its inputs is computed only up to this many bytes.
    pub growth: usize,
    /// `Constant` nodes become parameters.
    pub constants: bool,
    /// Whether quantised parameters are dequantised (`DequantizeLinear`) by the rule for all
    /// operators. If not, this is done only if the result is no larger than they are.
    pub dequantise: bool,
    /// Whether results of the model are computed as well, and then are parameters that it returns:
    /// for C, where a result may also be a shape.
    pub returned: bool,
    /// All constants of a graph together may grow to this many bytes, and not at all if they are
    /// larger already. What would exceed this is left for the model to compute.
    pub most: u64,
}

impl Default for FoldOptions {
    fn default() -> FoldOptions {
        let most = Budget::default().memory / SHARE;
        FoldOptions {
            parameters: true,
            growth: 64 << 10,
            constants: true,
            dequantise: true,
            returned: false,
            most,
        }
    }
}

/// Folding may take this fraction of the memory, because constants are copied on the way to code.
const SHARE: u64 = 64;

impl FoldOptions {
    /// For a model that is written for other tools. Quantised parameters stay as they are. The
    /// model should not grow, and other tools look for the operators around them.
    pub fn for_models() -> FoldOptions {
        FoldOptions { dequantise: false, ..FoldOptions::default() }
    }

    /// The same where so much memory may be used.
    pub fn within(self, memory: u64) -> FoldOptions {
        FoldOptions { most: memory / SHARE, ..self }
    }
}

/// All passes: constants, equal nodes, dead nodes.
pub fn simplify(model: &mut Model, options: &FoldOptions) -> Simplified {
    let mut done = fold(model, options);
    done += merge_equal(&mut model.graph);
    done += remove_dead(&mut model.graph);
    done
}

/// Removes nodes whose results nobody uses, and parameters that nobody reads.
pub fn remove_dead(graph: &mut Graph) -> Simplified {
    let mut dead = 0;
    let mut next = graph.reverse_order().next();
    while let Some(id) = next {
        next = graph.previous(id);
        let used = |v: &ValueId| graph.value(*v).use_count() > 0 || graph.value(*v).is_output();
        if !graph.node(id).outputs().iter().flatten().any(used) {
            graph.remove_node(id);
            dead += 1;
        }
    }
    let unused: Vec<ValueId> = graph
        .initializers()
        .map(|(id, _)| id)
        .filter(|id| graph.value(*id).producer() == Producer::Initializer)
        .collect();
    for id in unused {
        graph.remove_value_if_unused(id);
    }
    Simplified { dead, ..Simplified::default() }
}

/// Whether two calls with the same inputs always give the same results.
pub(crate) fn is_deterministic(node: &Node, opset: i64) -> bool {
    node.op().is_standard()
        && !node.has_subgraphs()
        && !is_random(node, opset)
        && schema::lookup("", &node.op().name, opset).is_some()
}

fn is_random(node: &Node, opset: i64) -> bool {
    let marked = schema::lookup("", &node.op().name, opset).is_some_and(|s| s.random);
    // Dropout is random in training. An input or (in old versions) an attribute turns training on.
    marked || (node.op().is("Dropout") && (node.input(2).is_some() || opset < 7))
}

/// What two nodes must share to be equal.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: Name,
    inputs: Vec<Option<ValueId>>,
    outputs: usize,
    attributes: Vec<u8>,
}

/// Merges nodes of the same operator with the same inputs and attributes, and parameters with the
/// same elements.
pub fn merge_equal(graph: &mut Graph) -> Simplified {
    let mut merged = merge_parameters(graph);
    let mut known: Map<Key, NodeId> = Map::default();
    let mut next = graph.order().next();
    while let Some(id) = next {
        next = graph.next(id);
        let node = graph.node(id);
        // The newest version is enough to know what is random: no operator ceased to be.
        if !is_deterministic(node, i64::MAX) {
            continue;
        }
        let key = Key {
            op: node.op().name.clone(),
            inputs: node.inputs().to_vec(),
            outputs: node.outputs().len(),
            attributes: crate::onnx::attribute_bytes(node),
        };
        let Some(first) = known.get(&key).copied() else {
            known.insert(key, id);
            continue;
        };
        let pairs: Vec<(Option<ValueId>, Option<ValueId>)> =
            node.outputs().iter().copied().zip(graph.node(first).outputs().iter().copied()).collect();
        let possible = pairs.iter().all(|pair| match pair {
            (None, _) => true,
            (Some(old), Some(new)) => {
                let by_name = |v: ValueId| graph.value(v).is_output() || graph.is_captured(v);
                !(by_name(*old) && by_name(*new))
            }
            (Some(_), None) => false,
        });
        if !possible {
            continue;
        }
        for (old, new) in pairs {
            if let (Some(old), Some(new)) = (old, new) {
                graph.replace_value(old, new);
            }
        }
        graph.remove_node(id);
        merged += 1;
    }
    Simplified { merged, ..Simplified::default() }
}

fn merge_parameters(graph: &mut Graph) -> usize {
    let hashing = Hashing::default();
    let raw = |graph: &Graph, id: ValueId| -> Option<(ElementType, Vec<usize>, Bytes)> {
        match graph.value(id).initializer()? {
            Tensor { elem, dims, storage: Storage::Raw(bytes), .. } => {
                Some((*elem, dims.clone(), bytes.clone()))
            }
            _ => None,
        }
    };
    // Weights are large and rarely equal. Only those with the same beginning and end are compared
    // as a whole.
    let mut alike: Map<u64, usize> = Map::default();
    let mut parameters = Vec::new();
    for (id, _) in graph.initializers().filter(|(id, _)| graph.is_parameter(*id)) {
        let Some((elem, dims, bytes)) = raw(graph, id) else { continue };
        let (first, last) = (&bytes[..bytes.len().min(64)], &bytes[bytes.len().saturating_sub(64)..]);
        let hash = hashing.hash_one((elem, dims, first, last));
        *alike.entry(hash).or_insert(0) += 1;
        parameters.push((id, hash));
    }
    let mut known: Map<(ElementType, Vec<usize>, Bytes), ValueId> = Map::default();
    let mut merged = 0;
    for (id, hash) in parameters {
        if alike[&hash] < 2 || graph.value(id).is_output() || graph.is_captured(id) {
            continue;
        }
        let Some(key) = raw(graph, id) else { continue };
        match known.get(&key) {
            Some(first) => {
                graph.replace_value(id, *first);
                graph.remove_value_if_unused(id);
                merged += 1;
            }
            None => {
                known.insert(key, id);
            }
        }
    }
    merged
}

/// Whether folding computes a node, where `constant` tells what is a constant by then: there is a
/// program, and the results are no larger than what they are made from, or small. One definition,
/// for folding itself and for all who ask what a model computes each time it runs.
pub fn is_folded(
    graph: &Graph,
    id: NodeId,
    opset: i64,
    options: &FoldOptions,
    constant: &dyn Fn(ValueId) -> bool,
) -> bool {
    let node = graph.node(id);
    let known = known_result(graph, node).is_some();
    if !known && !node.inputs().iter().flatten().all(|v| constant(*v)) {
        return false;
    }
    let returned = node.outputs().iter().flatten().any(|v| graph.value(*v).is_output());
    if returned && !options.returned || !node.captures().is_empty() || !is_deterministic(node, opset) {
        return false;
    }
    if known {
        return true;
    }
    if node.op().is("Constant") && node.output(0).is_some_and(|v| graph.constant(v).is_some()) {
        return options.constants;
    }
    let growth = match node.op().is("DequantizeLinear") && !options.dequantise {
        true => 0,
        false => options.growth as u64,
    };
    let (Some(made), Some(from)) = (made(graph, node), from(graph, node)) else { return false };
    made <= from.max(growth) && operators::lookup("", &node.op().name).is_some()
}

/// Bytes of a node's results.
fn made(graph: &Graph, node: &Node) -> Option<u64> {
    node.outputs().iter().flatten().map(|v| bytes(graph, *v)).sum()
}

/// Bytes of a node's inputs, each value once.
fn from(graph: &Graph, node: &Node) -> Option<u64> {
    distinct(node).map(|v| bytes(graph, v)).sum()
}

fn distinct(node: &Node) -> impl Iterator<Item = ValueId> + '_ {
    let inputs = node.inputs();
    // If there are many inputs, some may count twice. This only makes the bound larger.
    inputs.iter().enumerate().filter(|(k, v)| !inputs[..(*k).min(64)].contains(v)).filter_map(|(_, v)| *v)
}

fn bytes(graph: &Graph, value: ValueId) -> Option<u64> {
    if let Some(bytes) = graph.constant(value).and_then(Tensor::bytes) {
        return Some(bytes.len() as u64);
    }
    let ty = graph.value(value).tensor_type()?;
    Some(ty.elem.raw_len(elements(&ty.known_shape()?)?)? as u64)
}

/// Computes what depends on constants alone, and shapes that inference knows; the results become
/// parameters. Types must have been inferred.
pub fn fold(model: &mut Model, options: &FoldOptions) -> Simplified {
    let opset = model.opset();
    let graph = &mut model.graph;
    let mut folder = Folder::of(graph, options);
    let mut folded = 0;
    let mut next = graph.order().next();
    while let Some(id) = next {
        next = graph.next(id);
        let is_constant =
            |v: ValueId| graph.constant(v).is_some() && (options.parameters || !graph.is_parameter(v));
        if !is_folded(graph, id, opset, options, &is_constant) {
            continue;
        }
        let Some(results) = folder.results(graph, id, opset) else { continue };
        let (inputs, outputs) =
            (distinct(graph.node(id)).collect::<Vec<_>>(), graph.node(id).outputs().to_vec());
        graph.remove_node(id);
        for (output, tensor) in outputs.into_iter().zip(results) {
            if let Some(output) = output.filter(|o| graph.is_alive(*o)) {
                graph.set_initializer(output, tensor);
            }
        }
        // What nobody reads any more gives its memory back.
        for input in inputs {
            if graph.is_parameter(input) {
                graph.remove_value_if_unused(input);
            }
        }
        folded += 1;
    }
    Simplified { folded, ..Simplified::default() }
}

/// What folding has used.
struct Folder {
    /// Bytes of the graph's constants, and how many there may be.
    live: u64,
    most: u64,
    /// Nodes that may take more operations than their elements account for.
    patience: u32,
}

/// Operations for each byte that a node reads or writes, and the additional number that some nodes
/// may take.
const OPERATIONS: u64 = 16;
const LONG: u64 = 1 << 24;
const PATIENCE: u32 = 64;

impl Folder {
    fn of(graph: &Graph, options: &FoldOptions) -> Folder {
        let size = |(_, tensor): (ValueId, &Tensor)| tensor.bytes().map_or(0, |b| b.len() as u64);
        let live = graph.initializers().map(size).fold(0, u64::saturating_add);
        Folder { live, most: live.max(options.most), patience: PATIENCE }
    }

    /// The results of a node, if memory and operations suffice.
    fn results(&mut self, graph: &Graph, id: NodeId, opset: i64) -> Option<Vec<Tensor>> {
        let node = graph.node(id);
        if let Some(tensor) = known_result(graph, node) {
            return Some(vec![tensor]);
        }
        if node.op().is("Constant")
            && let Some(tensor) = graph.constant(node.output(0)?)
        {
            return Some(vec![Tensor { name: None, ..tensor.clone() }]);
        }
        let given: Vec<Option<&Tensor>> = node
            .inputs()
            .iter()
            .map(|input| match input {
                None => Some(None),
                Some(v) => graph.constant(*v).map(Some),
            })
            .collect::<Option<_>>()?;
        let (made, from) = (made(graph, node)?, from(graph, node)?);
        let last = |v: &ValueId| {
            let value = graph.value(*v);
            let here = node.inputs().iter().flatten().filter(|w| *w == v).count();
            graph.is_parameter(*v) && !value.is_output() && value.use_count() == here
        };
        let gone = distinct(node).filter(last).filter_map(|v| bytes(graph, v)).sum::<u64>();
        let after = self.live.saturating_add(made).saturating_sub(gone);
        if after > self.most {
            return None;
        }
        let count = node.outputs().len();
        let room = usize::try_from(made).unwrap_or(usize::MAX);
        let results =
            folding_kernels::evaluate(node.op(), node.attributes(), &given, count, room).or_else(|| {
                // The programs know everything, at a price.
                let memory = 64 * (made + from) + (1 << 24);
                let mut budget = Budget { memory, operations: NODE + OPERATIONS * (made + from) };
                let run = |budget: &mut Budget| {
                    operators::evaluate_within(node.op(), opset, node.attributes(), &given, count, budget)
                };
                match run(&mut budget) {
                    Err(d) if d.code == functional::eval::LIMIT && self.patience > 0 => {
                        self.patience -= 1;
                        run(&mut Budget { memory, operations: LONG }).ok()
                    }
                    done => done.ok(),
                }
            })?;
        if results.len() < count {
            return None;
        }
        self.live = after;
        Some(results)
    }
}

/// The one result of a node, where inference knows all its elements.
fn known_result(graph: &Graph, node: &Node) -> Option<Tensor> {
    let [Some(output)] = node.outputs() else { return None };
    let value = graph.value(*output);
    let elements: Option<Vec<i64>> = value.known_elements()?.iter().map(Dim::known).collect();
    let (elements, ty) = (elements?, value.tensor_type()?);
    let dims = ty.known_shape()?;
    if self::elements(&dims)? != elements.len() {
        return None;
    }
    match ty.elem {
        ElementType::I64 => Some(Tensor::from_i64s(dims, &elements)),
        ElementType::I32 => {
            let narrow: Result<Vec<i32>, _> = elements.iter().map(|x| i32::try_from(*x)).collect();
            Some(Tensor::from_i32s(dims, &narrow.ok()?))
        }
        _ => None,
    }
}
