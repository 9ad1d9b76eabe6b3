//! Evaluation of whole graphs, node by node. Lowering, folding and rewriting are compared with it.
//!
//! Tensors go through the programs of the [operator library](crate::operators). Branches, loops,
//! sequences and optional values are evaluated here, because they move whole values. Memory and
//! operations are counted ([`Budget`]). Speed is not a goal here.

mod pieces;

use std::collections::HashMap;
use std::sync::Arc;

use loops::{Code, Diagnostic, Name};

use crate::budget::Budget;
use crate::graph::{Graph, Node, Producer, ValueId};
use crate::model::Model;
use crate::operators;
use crate::tensor::Tensor;
use pieces::{concat, first_int, named, slice, split, stack};

/// A graph that cannot be evaluated at these inputs.
pub const FAULT: Code = Code("G0601");
/// A limit of the evaluation was reached.
pub const LIMIT: Code = Code("G0602");

/// Bodies of loops are evaluated at most this often in one graph.
const MOST_ITERATIONS: u64 = 1 << 16;
/// Graphs inside graphs are at most this deep.
const MOST_DEPTH: usize = 64;

/// Bytes of an element of a sequence, its tensor not counted.
const ELEMENT: u64 = size_of::<Datum>() as u64;

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

    /// Bytes that it takes where nothing else has its tensors.
    fn bytes(&self) -> u64 {
        match self {
            Datum::Tensor(tensor) => tensor.bytes().map_or(0, |bytes| bytes.len() as u64),
            Datum::Sequence(list) => ELEMENT.saturating_mul(list.len() as u64),
            Datum::Optional(inner) => inner.as_ref().map_or(0, |inner| inner.bytes()),
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

fn out_of_memory(wanted: u64, room: u64) -> Diagnostic {
    let message = format!("the evaluation needs {wanted} bytes more and has {room} left of its memory");
    Diagnostic::general(LIMIT, message)
}

/// The outputs of a model for these inputs, which are given by name. Inputs with an initializer may
/// be left out.
///
/// # Errors
/// Missing inputs, operators or types that the library lacks, and errors in the evaluation of a
/// node, with the node's name.
pub fn evaluate(model: &Model, inputs: HashMap<Name, Datum>) -> Result<Vec<Datum>, Diagnostic> {
    evaluate_within(model, inputs, Budget::default())
}

/// The same with this limit of memory and of operations.
///
/// # Errors
/// As [`evaluate`]; `G0602` or `F0602` with the node at which the budget is used up.
pub fn evaluate_within(
    model: &Model,
    inputs: HashMap<Name, Datum>,
    budget: Budget,
) -> Result<Vec<Datum>, Diagnostic> {
    let mut run = Run { model, iterations: 0, depth: 0, live: 0, budget };
    run.graph(&model.graph, inputs, &HashMap::new())
}

struct Run<'m> {
    model: &'m Model,
    iterations: u64,
    depth: usize,
    /// Bytes of the values that are in scope.
    live: u64,
    budget: Budget,
}

type Scope = HashMap<Name, Datum>;

impl Run<'_> {
    fn graph(&mut self, graph: &Graph, inputs: Scope, outer: &Scope) -> Result<Vec<Datum>, Diagnostic> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Diagnostic::general(LIMIT, "graphs are nested too deeply"));
        }
        let before = self.live;
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
                    self.live = self.live.saturating_add(value.bytes());
                    scope.insert(graph.value(*id).name().clone(), value);
                }
            }
        }
        self.depth -= 1;
        let outputs: Vec<Datum> =
            graph.outputs().iter().map(|id| find(graph, *id, &scope, outer)).collect::<Result<_, _>>()?;
        self.live = before;
        Ok(outputs)
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
                    None => Err(fault("an input is not a tensor")),
                },
            })
            .collect::<Result<_, _>>()?;
        let opset = self.model.version(&node.op().domain).unwrap_or_else(|| self.model.opset());
        let outputs = node.outputs().iter().rposition(Option::is_some).map_or(1, |k| k + 1);
        let mut left = Budget { memory: self.room(), ..self.budget };
        let results =
            operators::evaluate_within(node.op(), opset, node.attributes(), &tensors, outputs, &mut left);
        self.budget.operations = left.operations;
        let results = results?;
        Ok(results.into_iter().map(Datum::from).collect())
    }

    /// Bytes that are left.
    fn room(&self) -> u64 {
        self.budget.memory.saturating_sub(self.live)
    }

    /// Room for a sequence of so many elements.
    fn list(&self, length: usize) -> Result<(), Diagnostic> {
        let wanted = ELEMENT.saturating_mul(length as u64);
        if wanted > self.room() { Err(out_of_memory(wanted, self.room())) } else { Ok(()) }
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
                .ok_or_else(|| fault(format!("input {k} is not a sequence")))
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
                self.list(list.len() + 1)?;
                let at = position(2, list.len(), list.len())?;
                list.insert(at, input(1)?.clone());
                one(Datum::Sequence(list))
            }
            "SequenceErase" => {
                let mut list = sequence(0)?;
                self.list(list.len())?;
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
            "SplitToSequence" => split(node, input(0)?, inputs.get(1).and_then(Option::as_ref), self.room())
                .map(|d| Some(vec![d])),
            "ConcatFromSequence" => {
                let list = sequence(0)?;
                concat(node, &list, self.room()).map(|d| Some(vec![d]))
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

    /// What a loop holds between two iterations in addition to what was there before: its states,
    /// and the values that it collects.
    fn hold(&mut self, before: u64, carried: &[Datum], kept: u64) -> Result<(), Diagnostic> {
        let held = carried.iter().map(Datum::bytes).fold(kept, u64::saturating_add);
        self.live = before.saturating_add(held);
        if self.live > self.budget.memory {
            Err(out_of_memory(held, self.budget.memory - before.min(self.budget.memory)))
        } else {
            Ok(())
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
        let (before, mut kept) = (self.live, 0u64);
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
                kept = kept.saturating_add(value.bytes()).saturating_add(ELEMENT);
                list.push(value);
            }
            self.hold(before, &carried, kept)?;
            k += 1;
        }
        for (j, list) in collected.into_iter().enumerate() {
            let of = graph.value(graph.outputs()[1 + states + j]).tensor_type();
            carried.push(stack(&list, 0, false, of, self.room())?);
        }
        self.live = before;
        Ok(carried)
    }

    fn scan(
        &mut self,
        node: &Node,
        inputs: &[Option<Datum>],
        visible: &Scope,
    ) -> Result<Vec<Datum>, Diagnostic> {
        let graph = body(node, "body")?;
        // Before version 9 there was a batch dimension, and an input for the lengths.
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
        all.iter().map(|list| stack(list, 0, false, None, self.room())).collect()
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
        let (before, mut kept) = (self.live, 0u64);
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
                kept = kept.saturating_add(value.bytes()).saturating_add(ELEMENT);
                list.push(value);
            }
            self.hold(before, &carried, kept)?;
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
            carried.push(stack(&values, axis, false, of, self.room())?);
        }
        self.live = before;
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
        let (before, mut kept) = (self.live, 0u64);
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
                kept = kept.saturating_add(value.bytes()).saturating_add(ELEMENT);
                list.push(value);
            }
            self.hold(before, &[], kept)?;
        }
        self.live = before;
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
