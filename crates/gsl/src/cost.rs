//! What a node costs, in nanoseconds of a core: enough to refuse rewrites that lose, not a promise.
//!
//! Work is bounded by arithmetic or by memory, whichever is slower, and every call costs something besides. What depends on parameters only
//! costs nothing: it is computed before the model runs. Extents that are not known count as [`NOMINAL`].

use graph::{Dim, Graph, Model, Node, NodeId, ValueId};
use loops::Size;

use crate::eval::Facts;

/// An extent that is not known.
const NOMINAL: f64 = 16.0;
/// Elements of a tensor of which nothing is known.
const NOMINAL_ELEMENTS: f64 = 4096.0;
/// A call that does nothing.
const CALL: f64 = 500.0;
/// Operations in a nanosecond in products and convolutions, and element by element.
const DENSE: f64 = 32.0;
const SPARSE: f64 = 4.0;
/// Bytes in a nanosecond.
const BANDWIDTH: f64 = 8.0;

/// What one run of a model costs, in nanoseconds of a core. Types must have been inferred.
pub fn estimate(model: &Model) -> f64 {
    let facts = Facts::of(model);
    model.graph.nodes().map(|(id, _)| node_cost(&model.graph, &facts, id)).sum()
}

/// The cost of a node.
pub(crate) fn node_cost(graph: &Graph, facts: &Facts, id: NodeId) -> f64 {
    let node = graph.node(id);
    if node.outputs().iter().flatten().all(|v| facts.is_parameter(*v)) {
        return 0.0;
    }
    let op = node.op();
    if !op.is_standard() {
        return CALL + bytes(graph, node) / BANDWIDTH;
    }
    let out = node.output(0).map_or(0.0, |v| elements(graph, v));
    match &*op.name {
        // Only the description of the tensor changes.
        "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Shape" | "Constant" | "Dropout" => {
            CALL
        }
        "Conv" | "ConvTranspose" => {
            let per_output =
                node.input(1).map_or(NOMINAL, |w| elements(graph, w) / extent(graph, w, 0).max(1.0));
            dense(graph, node, 2.0 * out * per_output)
        }
        "MatMul" | "Gemm" => {
            let inner = node.input(0).map_or(NOMINAL, |a| {
                let transposed = node.int("transA", 0) != 0;
                extent(graph, a, if transposed { -2 } else { -1 })
            });
            dense(graph, node, 2.0 * out * inner)
        }
        "Einsum" => dense(graph, node, 2.0 * out * NOMINAL),
        "MaxPool" | "AveragePool" | "LpPool" => {
            let window: f64 =
                node.ints("kernel_shape").map_or(9.0, |k| k.iter().map(|n| *n as f64).product());
            elementwise(graph, node, out * window)
        }
        "Exp" | "Log" | "Erf" | "Tanh" | "Sigmoid" | "Softmax" | "LogSoftmax" | "Pow" | "Sin" | "Cos"
        | "Gelu" | "Softplus" | "HardSwish" | "Mish" | "Elu" | "Selu" => elementwise(graph, node, 8.0 * out),
        "Sqrt" | "Div" | "Reciprocal" => elementwise(graph, node, 3.0 * out),
        "BatchNormalization" | "LayerNormalization" | "InstanceNormalization" | "GroupNormalization" => {
            elementwise(graph, node, 4.0 * out)
        }
        name if name.starts_with("Reduce")
            || name.starts_with("GlobalAverage")
            || name.starts_with("GlobalMax") =>
        {
            elementwise(graph, node, node.input(0).map_or(out, |v| elements(graph, v)))
        }
        _ => elementwise(graph, node, out),
    }
}

fn dense(graph: &Graph, node: &Node, operations: f64) -> f64 {
    CALL + (operations / DENSE).max(bytes(graph, node) / BANDWIDTH)
}

fn elementwise(graph: &Graph, node: &Node, operations: f64) -> f64 {
    CALL + (operations / SPARSE).max(bytes(graph, node) / BANDWIDTH)
}

fn bytes(graph: &Graph, node: &Node) -> f64 {
    let values = node.inputs().iter().chain(node.outputs()).flatten();
    values.map(|v| elements(graph, *v) * width(graph, *v)).sum()
}

fn width(graph: &Graph, value: ValueId) -> f64 {
    let bits = graph.value(value).tensor_type().map_or(32, |t| t.elem.bits());
    (if bits == 0 { 64 } else { bits }) as f64 / 8.0
}

fn elements(graph: &Graph, value: ValueId) -> f64 {
    let shape = graph.value(value).tensor_type().and_then(|t| t.shape.as_ref());
    shape.map_or(NOMINAL_ELEMENTS, |s| s.iter().map(dim).product())
}

/// The extent of a dimension, counted from the end if negative.
fn extent(graph: &Graph, value: ValueId, k: isize) -> f64 {
    let Some(shape) = graph.value(value).tensor_type().and_then(|t| t.shape.as_ref()) else { return NOMINAL };
    let k = if k < 0 { shape.len().checked_add_signed(k) } else { usize::try_from(k).ok() };
    k.and_then(|k| shape.get(k)).map_or(1.0, dim)
}

fn dim(d: &Dim) -> f64 {
    match d {
        Dim::Known(n) => (*n).max(0) as f64,
        Dim::Symbolic(size) => nominal(size),
        Dim::Unknown => NOMINAL,
    }
}

fn nominal(size: &Size) -> f64 {
    size.eval(&|_| Some(NOMINAL as i64)).map_or(NOMINAL, |n| n.max(0) as f64)
}
