//! Evaluation of whole graphs, node by node: the reference that lowering, folding and rewriting are compared with.
//!
//! Tensors go through the programs of the [operator library](crate::operators). Branches, loops, sequences and optional values are done
//! here, since they move whole values. Not here: any speed.

use std::collections::HashMap;
use std::sync::Arc;

use loops::{Code, Diagnostic, Name};

use crate::graph::{Graph, Node, Producer, ValueId};
use crate::model::Model;
use crate::operators;
use crate::tensor::Tensor;
use crate::types::{ElementType, TensorType};

/// A graph that cannot be evaluated at these inputs.
pub const FAULT: Code = Code("G0601");
/// A limit of the evaluation was reached.
pub const LIMIT: Code = Code("G0602");

/// Bodies of loops are evaluated at most this often in one graph.
const MOST_ITERATIONS: u64 = 1 << 20;
/// Graphs inside graphs are at most this deep.
const MOST_DEPTH: usize = 64;

/// A value of a graph.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// A tensor.
    Tensor(Arc<Tensor>),
    /// A sequence.
    Sequence(Vec<Datum>),
    /// A value that may be absent.
    Optional(Option<Box<Datum>>),
}

impl From<Tensor> for Datum {
    fn from(tensor: Tensor) -> Datum {
        Datum::Tensor(Arc::new(tensor))
    }
}

impl Datum {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Arc<Tensor>> {
        match self {
            Datum::Tensor(tensor) => Some(tensor),
            Datum::Optional(Some(inner)) => inner.tensor(),
            _ => None,
        }
    }

    fn sequence(&self) -> Option<&[Datum]> {
        match self {
            Datum::Sequence(list) => Some(list),
            Datum::Optional(Some(inner)) => inner.sequence(),
            _ => None,
        }
    }
}

fn fault(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(FAULT, message.into())
}

/// The outputs of a model at these inputs, which are given by name; inputs with an initializer may be left out.
///
/// # Errors
/// Missing inputs, operators or types that the library lacks, and what the evaluation of a node says, with the node's name.
pub fn evaluate(model: &Model, inputs: HashMap<Name, Datum>) -> Result<Vec<Datum>, Diagnostic> {
    let mut run = Run { model, iterations: 0, depth: 0 };
    run.graph(&model.graph, inputs, &HashMap::new())
}

struct Run<'m> {
    model: &'m Model,
    iterations: u64,
    depth: usize,
}

type Scope = HashMap<Name, Datum>;

impl Run<'_> {
    fn graph(&mut self, graph: &Graph, inputs: Scope, outer: &Scope) -> Result<Vec<Datum>, Diagnostic> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Diagnostic::general(LIMIT, "graphs are nested too deeply"));
        }
        let mut scope = inputs;
        for (id, tensor) in graph.initializers() {
            let name = graph.value(id).name();
            if !scope.contains_key(name) {
                scope.insert(name.clone(), Datum::from(tensor.clone()));
            }
        }
        for id in graph.inputs() {
            let name = graph.value(*id).name();
            if !scope.contains_key(name) {
                return Err(fault(format!("the input `{name}` has no value")));
            }
        }
        // what inner graphs may use: all that is in scope here, and outside
        let has_inner = graph.nodes().any(|(_, node)| node.has_subgraphs());
        for (id, node) in graph.nodes() {
            let results = if has_inner && node.has_subgraphs() {
                let mut visible = outer.clone();
                visible.extend(scope.iter().map(|(n, d)| (n.clone(), d.clone())));
                self.node(graph, node, &scope, &visible)
            } else {
                self.node(graph, node, &scope, outer)
            };
            let results = results.map_err(|d| d.note(format!("in {}", crate::infer::label(graph, id))))?;
            for (id, value) in node.outputs().iter().zip(results) {
                if let Some(id) = id {
                    scope.insert(graph.value(*id).name().clone(), value);
                }
            }
        }
        self.depth -= 1;
        graph.outputs().iter().map(|id| find(graph, *id, &scope, outer)).collect()
    }

    fn node(
        &mut self,
        graph: &Graph,
        node: &Node,
        scope: &Scope,
        outer: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let inputs: Vec<Option<Datum>> = node
            .inputs()
            .iter()
            .map(|id| id.map(|id| find(graph, id, scope, outer)).transpose())
            .collect::<Result<_, _>>()?;
        if node.op().is_standard()
            && let Some(results) = self.structural(node, &inputs, outer)?
        {
            return Ok(results);
        }
        let tensors: Vec<Option<&Tensor>> = inputs
            .iter()
            .map(|input| match input {
                None => Ok(None),
                Some(datum) => match datum.tensor() {
                    Some(tensor) => Ok(Some(&**tensor)),
                    None => Err(fault("an input is no tensor")),
                },
            })
            .collect::<Result<_, _>>()?;
        let opset = self.model.version(&node.op().domain).unwrap_or_else(|| self.model.opset());
        let outputs = node.outputs().iter().rposition(Option::is_some).map_or(1, |k| k + 1);
        let results = operators::evaluate(node.op(), opset, node.attributes(), &tensors, outputs)?;
        Ok(results.into_iter().map(Datum::from).collect())
    }

    /// Operators on whole values; `None` for those on tensors.
    fn structural(
        &mut self,
        node: &Node,
        inputs: &[Option<Datum>],
        visible: &Scope,
    ) -> Result<Option<Vec<Datum>>, Diagnostic> {
        let input = |k: usize| {
            inputs.get(k).and_then(Option::as_ref).ok_or_else(|| fault(format!("input {k} is missing")))
        };
        let sequence = |k: usize| {
            input(k)?
                .sequence()
                .map(<[Datum]>::to_vec)
                .ok_or_else(|| fault(format!("input {k} is no sequence")))
        };
        let position = |k: usize, length: usize, default: usize| -> Result<usize, Diagnostic> {
            let Some(Some(datum)) = inputs.get(k) else { return Ok(default) };
            let at = first_int(datum)?;
            let at = if at < 0 { at + length as i64 } else { at };
            usize::try_from(at)
                .ok()
                .filter(|at| *at <= length)
                .ok_or_else(|| fault(format!("there is no place {at}")))
        };
        let one = |datum: Datum| Ok(Some(vec![datum]));
        match &*node.op().name {
            "If" => {
                let branch = if first_int(input(0)?)? != 0 { "then_branch" } else { "else_branch" };
                let graph = body(node, branch)?;
                self.graph(&graph, Scope::new(), visible).map(Some)
            }
            "Loop" => self.repeat(node, inputs, visible).map(Some),
            "Scan" => self.scan(node, inputs, visible).map(Some),
            "SequenceMap" => self.map(node, inputs, visible).map(Some),
            "Identity" if input(0)?.tensor().is_none() || matches!(input(0)?, Datum::Optional(_)) => {
                one(input(0)?.clone())
            }
            "SequenceEmpty" => one(Datum::Sequence(Vec::new())),
            "SequenceConstruct" => one(Datum::Sequence(inputs.iter().flatten().cloned().collect())),
            "SequenceInsert" => {
                let mut list = sequence(0)?;
                let at = position(2, list.len(), list.len())?;
                list.insert(at, input(1)?.clone());
                one(Datum::Sequence(list))
            }
            "SequenceErase" => {
                let mut list = sequence(0)?;
                let at = position(1, list.len(), list.len().saturating_sub(1))?;
                if at >= list.len() {
                    return Err(fault("there is no such element"));
                }
                list.remove(at);
                one(Datum::Sequence(list))
            }
            "SequenceAt" => {
                let list = sequence(0)?;
                let at = position(1, list.len(), 0)?;
                list.get(at).cloned().map(|d| Some(vec![d])).ok_or_else(|| fault("there is no such element"))
            }
            "SequenceLength" => one(Datum::from(Tensor::scalar_i64(sequence(0)?.len() as i64))),
            "SplitToSequence" => {
                split(node, input(0)?, inputs.get(1).and_then(Option::as_ref)).map(|d| Some(vec![d]))
            }
            "ConcatFromSequence" => {
                let list = sequence(0)?;
                concat(node, &list).map(|d| Some(vec![d]))
            }
            "Optional" => one(Datum::Optional(inputs.first().cloned().flatten().map(Box::new))),
            "OptionalHasElement" => {
                let there = match inputs.first() {
                    None | Some(None) | Some(Some(Datum::Optional(None))) => false,
                    Some(Some(_)) => true,
                };
                one(Datum::from(Tensor::from_bools(vec![], &[there])))
            }
            "OptionalGetElement" => match input(0)? {
                Datum::Optional(Some(inner)) => one((**inner).clone()),
                Datum::Optional(None) => Err(fault("the optional value is absent")),
                datum => one(datum.clone()),
            },
            _ => Ok(None),
        }
    }

    fn count(&mut self) -> Result<(), Diagnostic> {
        self.iterations += 1;
        match self.iterations > MOST_ITERATIONS {
            true => {
                Err(Diagnostic::general(LIMIT, format!("loops take more than {MOST_ITERATIONS} iterations")))
            }
            false => Ok(()),
        }
    }

    fn repeat(
        &mut self,
        node: &Node,
        inputs: &[Option<Datum>],
        visible: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let graph = body(node, "body")?;
        let limit = match inputs.first() {
            Some(Some(datum)) => first_int(datum)?,
            _ => i64::MAX,
        };
        let mut going = match inputs.get(1) {
            Some(Some(datum)) => first_int(datum)? != 0,
            _ => true,
        };
        let mut carried: Vec<Datum> = inputs.iter().skip(2).flatten().cloned().collect();
        let mut collected: Vec<Vec<Datum>> =
            vec![Vec::new(); graph.outputs().len().saturating_sub(1 + carried.len())];
        let states = carried.len();
        let mut k = 0;
        while going && k < limit {
            self.count()?;
            let mut given =
                vec![Datum::from(Tensor::scalar_i64(k)), Datum::from(Tensor::from_bools(vec![], &[going]))];
            given.extend(carried.iter().cloned());
            let scope = named(&graph, given)?;
            let mut results = self.graph(&graph, scope, visible)?.into_iter();
            going = first_int(&results.next().ok_or_else(|| fault("the body has no result"))?)? != 0;
            for value in &mut carried {
                *value = results.next().ok_or_else(|| fault("the body has too few results"))?;
            }
            for (list, value) in collected.iter_mut().zip(results) {
                list.push(value);
            }
            k += 1;
        }
        for (j, list) in collected.into_iter().enumerate() {
            let of = graph.value(graph.outputs()[1 + states + j]).tensor_type();
            carried.push(stack(&list, 0, false, of)?);
        }
        Ok(carried)
    }

    fn scan(
        &mut self,
        node: &Node,
        inputs: &[Option<Datum>],
        visible: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let graph = body(node, "body")?;
        // before version 9 there was a batch dimension and an input for the lengths
        let old = self.model.opset() < 9;
        let inputs: Vec<Datum> = inputs.iter().skip(usize::from(old)).flatten().cloned().collect();
        let scans = usize::try_from(node.int("num_scan_inputs", 1)).unwrap_or(1).min(inputs.len());
        let states = inputs.len() - scans;
        if old {
            return self.batched_scan(node, &graph, &inputs, states, visible);
        }
        self.scan_once(node, &graph, &inputs, states, visible)
    }

    fn batched_scan(
        &mut self,
        node: &Node,
        graph: &Graph,
        inputs: &[Datum],
        states: usize,
        visible: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let batch = inputs.first().and_then(|d| d.tensor()?.dims.first().copied()).unwrap_or(0);
        let mut all: Vec<Vec<Datum>> = Vec::new();
        for b in 0..batch {
            let one: Vec<Datum> = inputs.iter().map(|d| slice(d, 0, b)).collect::<Result<_, _>>()?;
            for (k, value) in self.scan_once(node, graph, &one, states, visible)?.into_iter().enumerate() {
                if all.len() <= k {
                    all.push(Vec::new());
                }
                all[k].push(value);
            }
        }
        all.iter().map(|list| stack(list, 0, false, None)).collect()
    }

    fn scan_once(
        &mut self,
        node: &Node,
        graph: &Graph,
        inputs: &[Datum],
        states: usize,
        visible: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let scans = inputs.len() - states;
        let list = |name: &str, k: usize| node.ints(name).and_then(|l| l.get(k).copied()).unwrap_or(0);
        let mut carried = inputs[..states].to_vec();
        let outputs = graph.outputs().len().saturating_sub(states);
        let mut collected: Vec<Vec<Datum>> = vec![Vec::new(); outputs];
        let axis = |k: usize| -> Result<usize, Diagnostic> {
            let rank = inputs[states + k].tensor().map_or(0, |t| t.dims.len()) as i64;
            let axis = list("scan_input_axes", k);
            usize::try_from(if axis < 0 { axis + rank } else { axis }).map_err(|_| fault("an axis"))
        };
        let length = match inputs.get(states).and_then(Datum::tensor) {
            Some(tensor) => tensor.dims.get(axis(0)?).copied().unwrap_or(0),
            None => 0,
        };
        for t in 0..length {
            self.count()?;
            let mut given = carried.clone();
            for k in 0..scans {
                let at = if list("scan_input_directions", k) == 1 { length - 1 - t } else { t };
                given.push(slice(&inputs[states + k], axis(k)?, at)?);
            }
            let scope = named(graph, given)?;
            let mut results = self.graph(graph, scope, visible)?.into_iter();
            for value in &mut carried {
                *value = results.next().ok_or_else(|| fault("the body has too few results"))?;
            }
            for (list, value) in collected.iter_mut().zip(results) {
                list.push(value);
            }
        }
        for (k, mut values) in collected.into_iter().enumerate() {
            if list("scan_output_directions", k) == 1 {
                values.reverse();
            }
            let of = graph.value(graph.outputs()[states + k]).tensor_type();
            let rank = match values.first().and_then(Datum::tensor) {
                Some(first) => first.dims.len(),
                None => of.and_then(|t| Some(t.shape.as_ref()?.len())).unwrap_or(0),
            } as i64
                + 1;
            let axis = list("scan_output_axes", k);
            let axis =
                usize::try_from(if axis < 0 { axis + rank } else { axis }).map_err(|_| fault("an axis"))?;
            carried.push(stack(&values, axis, false, of)?);
        }
        Ok(carried)
    }

    fn map(
        &mut self,
        node: &Node,
        inputs: &[Option<Datum>],
        visible: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let graph = body(node, "body")?;
        let inputs: Vec<&Datum> = inputs.iter().flatten().collect();
        let length = inputs.first().and_then(|d| d.sequence()).map_or(0, <[Datum]>::len);
        let mut all: Vec<Vec<Datum>> = vec![Vec::new(); graph.outputs().len()];
        for k in 0..length {
            self.count()?;
            let given = inputs
                .iter()
                .map(|d| match d.sequence() {
                    Some(list) => list.get(k).cloned().ok_or_else(|| fault("sequences differ in length")),
                    None => Ok((*d).clone()),
                })
                .collect::<Result<_, _>>()?;
            let scope = named(&graph, given)?;
            for (list, value) in all.iter_mut().zip(self.graph(&graph, scope, visible)?) {
                list.push(value);
            }
        }
        Ok(all.into_iter().map(Datum::Sequence).collect())
    }
}

fn find(graph: &Graph, id: ValueId, scope: &Scope, outer: &Scope) -> Result<Datum, Diagnostic> {
    let value = graph.value(id);
    let name = value.name();
    let here = if value.producer() == Producer::Outer { None } else { scope.get(name) };
    here.or_else(|| outer.get(name))
        .or_else(|| scope.get(name))
        .cloned()
        .ok_or_else(|| fault(format!("`{name}` has no value")))
}

fn body(node: &Node, name: &str) -> Result<Arc<Graph>, Diagnostic> {
    node.attribute(name)
        .and_then(|a| a.graphs().first().cloned())
        .ok_or_else(|| fault(format!("the attribute `{name}` is missing")))
}

/// The inputs of a body, by name.
fn named(graph: &Graph, given: Vec<Datum>) -> Result<Scope, Diagnostic> {
    if given.len() != graph.inputs().len() {
        return Err(fault(format!("a body takes {} inputs, not {}", graph.inputs().len(), given.len())));
    }
    Ok(graph.inputs().iter().zip(given).map(|(id, d)| (graph.value(*id).name().clone(), d)).collect())
}

/// The one integer or truth value of a tensor.
fn first_int(datum: &Datum) -> Result<i64, Diagnostic> {
    let tensor = datum.tensor().ok_or_else(|| fault("a number is needed"))?;
    let first = match tensor.elem {
        ElementType::Bool => tensor.to_bools().and_then(|v| v.first().map(|b| i64::from(*b))),
        _ => tensor.to_ints().and_then(|v| v.first().copied()),
    };
    first.ok_or_else(|| fault("a number is needed"))
}

/// Elements of a fixed number of bytes.
fn width(tensor: &Tensor) -> Result<usize, Diagnostic> {
    match tensor.elem.bits() {
        bits if bits >= 8 => Ok(bits / 8),
        _ => Err(fault(format!("elements of type {} can't be cut or put together here", tensor.elem))),
    }
}

/// The part of a tensor with index `at` along an axis, without that axis.
fn slice(datum: &Datum, axis: usize, at: usize) -> Result<Datum, Diagnostic> {
    let tensor = datum.tensor().ok_or_else(|| fault("a tensor is needed"))?;
    if axis >= tensor.dims.len() {
        return Err(fault("there is no such axis"));
    }
    let mut dims = tensor.dims.clone();
    dims.remove(axis);
    cut(tensor, axis, at, 1, dims)
}

/// `count` slices from `start` on along an axis, with these extents.
fn cut(
    tensor: &Tensor,
    axis: usize,
    start: usize,
    count: usize,
    dims: Vec<usize>,
) -> Result<Datum, Diagnostic> {
    let width = width(tensor)?;
    let bytes = tensor.bytes().ok_or_else(|| fault("elements that are not at hand"))?;
    let inner: usize = tensor.dims[axis + 1..].iter().product::<usize>() * width;
    let outer: usize = tensor.dims[..axis].iter().product();
    let length = tensor.dims[axis];
    let mut out = Vec::with_capacity(outer * count * inner);
    for o in 0..outer {
        let from = (o * length + start) * inner;
        out.extend_from_slice(&bytes[from..from + count * inner]);
    }
    Tensor::raw(tensor.elem, dims, out.into()).map(Datum::from).ok_or_else(|| fault("a slice"))
}

/// Tensors of equal extents side by side along a new axis, or one behind another along one that they have.
fn stack(list: &[Datum], axis: usize, join: bool, of: Option<&TensorType>) -> Result<Datum, Diagnostic> {
    let tensors: Vec<&Arc<Tensor>> = list
        .iter()
        .map(|d| d.tensor().ok_or_else(|| fault("a tensor is needed")))
        .collect::<Result<_, _>>()?;
    let Some(first) = tensors.first() else {
        // Nothing beside nothing: what is known of the parts says how wide they would be.
        let elem = of.map_or(ElementType::F32, |t| t.elem);
        let mut dims =
            of.and_then(TensorType::known_shape).filter(|dims| axis <= dims.len()).unwrap_or_default();
        dims.insert(axis.min(dims.len()), 0);
        let empty = Tensor::raw(elem, dims, Default::default());
        return empty.map(Datum::from).ok_or_else(|| fault("an empty result"));
    };
    let width = width(first)?;
    if axis > first.dims.len() || (join && axis == first.dims.len()) {
        return Err(fault("there is no such axis"));
    }
    let outer: usize = first.dims[..axis].iter().product();
    let mut out = Vec::new();
    for o in 0..outer {
        for tensor in &tensors {
            let bytes = tensor.bytes().ok_or_else(|| fault("elements that are not at hand"))?;
            let chunk = tensor.dims[axis..].iter().product::<usize>() * width;
            let part = bytes.get(o * chunk..(o + 1) * chunk);
            out.extend_from_slice(part.ok_or_else(|| fault("parts of different extents"))?);
        }
    }
    let mut dims = first.dims.clone();
    match join {
        true => dims[axis] = tensors.iter().map(|t| t.dims[axis]).sum(),
        false => dims.insert(axis, tensors.len()),
    }
    Tensor::raw(first.elem, dims, out.into())
        .map(Datum::from)
        .ok_or_else(|| fault("parts of different extents"))
}

fn split(node: &Node, datum: &Datum, parts: Option<&Datum>) -> Result<Datum, Diagnostic> {
    let tensor = datum.tensor().ok_or_else(|| fault("a tensor is needed"))?;
    let rank = tensor.dims.len() as i64;
    let axis = node.int("axis", 0);
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).map_err(|_| fault("an axis"))?;
    let length = *tensor.dims.get(axis).ok_or_else(|| fault("there is no such axis"))?;
    let (parts, keep) = match parts.and_then(Datum::tensor) {
        None => (vec![1; length], node.int("keepdims", 1) != 0),
        Some(given) => {
            let ints = given.to_ints().ok_or_else(|| fault("integers are needed"))?;
            match (given.dims.is_empty(), ints.first()) {
                (true, Some(width)) if *width > 0 => {
                    let width = *width as usize;
                    (
                        (0..length.div_ceil(width)).map(|k| width.min(length - k * width) as i64).collect(),
                        true,
                    )
                }
                _ => (ints, true),
            }
        }
    };
    if parts.iter().any(|p| *p < 0) || parts.iter().sum::<i64>() != length as i64 {
        return Err(fault("the parts do not add up"));
    }
    let mut list = Vec::new();
    let mut start = 0;
    for part in parts {
        let part = part as usize;
        let mut dims = tensor.dims.clone();
        match keep {
            true => dims[axis] = part,
            false => {
                dims.remove(axis);
            }
        }
        list.push(cut(tensor, axis, start, part, dims)?);
        start += part;
    }
    Ok(Datum::Sequence(list))
}

fn concat(node: &Node, list: &[Datum]) -> Result<Datum, Diagnostic> {
    let new = node.int("new_axis", 0) != 0;
    let rank = list.first().and_then(Datum::tensor).map_or(0, |t| t.dims.len()) as i64 + i64::from(new);
    let axis = node.int("axis", 0);
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).map_err(|_| fault("an axis"))?;
    stack(list, axis, !new, None)
}
