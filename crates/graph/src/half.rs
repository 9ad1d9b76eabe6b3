//! A model whose floating-point numbers of 32 bits are numbers of 16 bits.
//!
//! Inputs and outputs keep their types, and casts stand behind and before them. Operators that the
//! standard does not give 16 bits, bodies of branches and loops, and operators of other domains
//! stay as they are between casts. Constants are rounded to nearest; what is too large becomes the
//! largest number.

use loops::{Data, Diagnostic, Name};

use crate::attribute::AttributeValue;
use crate::graph::{Graph, NewNode, Node, NodeId, Place, Producer, ValueId};
use crate::hash_tables::Map;
use crate::model::Model;
use crate::operators::{decode, encode};
use crate::simplify::remove_dead;
use crate::tensor::Tensor;
use crate::types::{ElementType, TensorType, ValueType};

/// The largest number of 16 bits.
const LARGEST: f32 = 65504.0;

/// How the format numbers the two types.
const SINGLE: i64 = 1;
const HALF: i64 = 10;

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Halved {
    /// Nodes that compute with 16 bits.
    pub nodes: usize,
    /// Nodes with numbers of 32 bits that stay as they are.
    pub kept: usize,
    /// Numbers of constants that were too large.
    pub clamped: usize,
}

/// Makes numbers of 32 bits numbers of 16. Types must have been inferred: nodes of values without a
/// type stay as they are.
///
/// # Errors
/// What inference says of the result.
pub fn halve(model: &mut Model) -> Result<Halved, Diagnostic> {
    let opset = model.opset();
    let mut work = Work {
        graph: &mut model.graph,
        half: Map::default(),
        single: Map::default(),
        done: Halved::default(),
    };
    let nodes: Vec<NodeId> = work.graph.nodes().map(|(id, _)| id).collect();
    for id in nodes {
        let halves = halves(work.graph, work.graph.node(id), opset);
        if halves {
            work.halve(id, opset);
        } else {
            work.keep(id);
        }
    }
    let done = work.done;
    remove_dead(&mut model.graph);
    crate::infer(model)?;
    Ok(done)
}

fn elem(graph: &Graph, id: ValueId) -> Option<ElementType> {
    graph.value(id).tensor_type().map(|ty| ty.elem)
}

/// Whether a node computes with 16 bits from now on.
fn halves(graph: &Graph, node: &Node, opset: i64) -> bool {
    let values = || node.inputs().iter().chain(node.outputs()).flatten();
    let tensors = values().all(|id| graph.value(*id).tensor_type().is_some());
    if !node.op().is_standard() || node.has_subgraphs() || !tensors {
        return false;
    }
    let first = |version: i64| opset >= version;
    match node.op().name.as_str() {
        // Constants are rounded where they are used.
        "Constant" => false,
        "BitCast"
        | "BlackmanWindow"
        | "DynamicQuantizeLinear"
        | "HammingWindow"
        | "HannWindow"
        | "MelWeightMatrix"
        | "NonMaxSuppression"
        | "QLinearConv"
        | "QLinearMatMul"
        | "Range"
        | "TfIdfVectorizer" => false,
        "QuantizeLinear" => first(19),
        "DequantizeLinear" => first(19) && node.int("output_dtype", 0) == 0,
        "CumSum" => first(14),
        "IsInf" => first(20),
        "Celu" => first(28),
        // The mean is one of 32 bits.
        "LayerNormalization" => node.outputs().iter().skip(1).all(Option::is_none),
        _ => true,
    }
}

/// Whether this input has 32 bits in any case.
fn is_single(node: &Node, input: usize, opset: i64) -> bool {
    match node.op().name.as_str() {
        "Resize" => input == if opset < 11 { 1 } else { 2 },
        "Upsample" => input == 1,
        _ => false,
    }
}

/// The graph, and the values that have both forms.
struct Work<'g> {
    graph: &'g mut Graph,
    /// Of values of 32 bits, the same with 16; a value that has become one itself is its own.
    half: Map<ValueId, ValueId>,
    /// The other way round.
    single: Map<ValueId, ValueId>,
    done: Halved,
}

impl Work<'_> {
    /// The node takes and gives numbers of 32 bits.
    fn keep(&mut self, id: NodeId) {
        let inputs = self.graph.node(id).inputs().to_vec();
        for (k, input) in inputs.into_iter().enumerate() {
            let Some(input) = input.filter(|input| self.half.get(input) == Some(input)) else { continue };
            let single = self.as_single(input);
            self.graph.set_input(id, k, Some(single));
        }
        let node = self.graph.node(id);
        let single = |id: &ValueId| elem(self.graph, *id) == Some(ElementType::F32);
        let counts =
            !node.op().is("Constant") && node.inputs().iter().chain(node.outputs()).flatten().any(single);
        self.done.kept += usize::from(counts);
    }

    fn halve(&mut self, id: NodeId, opset: i64) {
        let mut changes = false;
        for (k, input) in self.graph.node(id).inputs().to_vec().into_iter().enumerate() {
            let Some(input) = input else { continue };
            let is_half = self.half.get(&input) == Some(&input);
            let other = match is_single(self.graph.node(id), k, opset) {
                true if is_half => self.as_single(input),
                false if !is_half && elem(self.graph, input) == Some(ElementType::F32) => self.as_half(input),
                _ => continue,
            };
            changes = true;
            self.graph.set_input(id, k, Some(other));
        }
        for k in 0..self.graph.node(id).outputs().len() {
            let output = self.graph.node(id).output(k);
            if let Some(output) = output.filter(|id| elem(self.graph, *id) == Some(ElementType::F32)) {
                changes = true;
                self.result(id, k, output);
            }
        }
        if changes {
            self.done.nodes += 1;
            self.attributes(id);
        }
    }

    /// A result of 32 bits has 16 from now on. If others know it by name, a cast has the name.
    fn result(&mut self, id: NodeId, k: usize, output: ValueId) {
        let ty = self.graph.value(output).ty().cloned().map(|ty| of(ElementType::F16, ty));
        let named = self.graph.value(output).is_output() || self.graph.is_captured(output);
        if !named {
            if let Some(ty) = ty {
                let declared = self.graph.value(output).is_declared();
                if declared { self.graph.declare(output, ty) } else { self.graph.set_inferred(output, ty) }
            }
            self.half.insert(output, output);
            return;
        }
        let half = self.named(output, "half");
        let entry = self.graph.node_entry(id);
        (entry.outputs[k], entry.origin) = (Some(half), None);
        self.graph.value_entry(half).producer = Producer::Node(id, k as u32);
        self.graph.value_entry(output).producer = Producer::Nothing;
        if let Some(ty) = ty {
            self.graph.set_inferred(half, ty);
        }
        let cast = NewNode::new("Cast", [half], [output]).with("to", AttributeValue::Int(SINGLE));
        self.graph.insert(cast, Place::After(id));
        self.half.insert(half, half);
        self.half.insert(output, half);
        self.single.insert(half, output);
    }

    fn named(&mut self, value: ValueId, suffix: &str) -> ValueId {
        let hint = format!("{}_{suffix}", self.graph.value(value).name());
        self.graph.add_value(&hint)
    }

    /// The value of 32 bits that a value of 16 is.
    fn as_single(&mut self, half: ValueId) -> ValueId {
        if let Some(single) = self.single.get(&half) {
            return *single;
        }
        let single = self.named(half, "single");
        self.cast(half, single, SINGLE);
        self.single.insert(half, single);
        single
    }

    /// The value of 16 bits for one of 32: a constant, or by a cast.
    fn as_half(&mut self, single: ValueId) -> ValueId {
        if let Some(half) = self.half.get(&single) {
            return *half;
        }
        let name = format!("{}_half", self.graph.value(single).name());
        let half = match self.graph.constant(single).cloned().and_then(|tensor| self.rounded(&tensor)) {
            Some(tensor) => self.graph.add_initializer(&name, tensor),
            None => {
                let half = self.graph.add_value(&name);
                self.cast(single, half, HALF);
                half
            }
        };
        self.half.insert(single, half);
        half
    }

    fn cast(&mut self, from: ValueId, to: ValueId, code: i64) {
        let place = match self.graph.producer(from) {
            Some((node, _)) => Place::After(node),
            None => Place::First,
        };
        if let Some(ty) = self.graph.value(from).ty().cloned() {
            let elem = if code == HALF { ElementType::F16 } else { ElementType::F32 };
            self.graph.set_inferred(to, of(elem, ty));
        }
        self.graph.insert(NewNode::new("Cast", [from], [to]).with("to", AttributeValue::Int(code)), place);
    }

    /// A constant of 16 bits.
    fn rounded(&mut self, tensor: &Tensor) -> Option<Tensor> {
        let mut value = decode(tensor)?;
        let Data::F32(numbers) = &mut value.data else { return None };
        for number in numbers.iter_mut().filter(|number| number.is_finite() && number.abs() > LARGEST) {
            *number = LARGEST.copysign(*number);
            self.done.clamped += 1;
        }
        encode(ElementType::F16, &value)
    }

    /// Attributes that say the type of a result.
    fn attributes(&mut self, id: NodeId) {
        let node = self.graph.node(id);
        let half = node.output(0).is_some_and(|y| elem(self.graph, y) == Some(ElementType::F16));
        if !half {
            return;
        }
        let set = |graph: &mut Graph, name: &str, value| graph.set_attribute(id, Name::new(name), value);
        match node.op().name.as_str() {
            "Cast" => set(self.graph, "to", AttributeValue::Int(HALF)),
            "RandomNormal" | "RandomUniform" => set(self.graph, "dtype", AttributeValue::Int(HALF)),
            "Bernoulli" | "EyeLike" | "RandomNormalLike" | "RandomUniformLike"
                if node.int("dtype", 0) == SINGLE =>
            {
                set(self.graph, "dtype", AttributeValue::Int(HALF));
            }
            "ConstantOfShape" => {
                let given = node.attribute("value").and_then(|value| value.tensor()).cloned();
                let tensor =
                    given.map_or_else(|| Tensor::from_f32s(vec![1], &[0.0]), |tensor| (*tensor).clone());
                if let Some(tensor) = self.rounded(&tensor) {
                    set(self.graph, "value", AttributeValue::Tensor(tensor.into()));
                }
            }
            _ => {}
        }
    }
}

fn of(elem: ElementType, ty: ValueType) -> ValueType {
    match ty {
        ValueType::Tensor(tensor) => ValueType::Tensor(TensorType { elem, ..tensor }),
        other => other,
    }
}
