//! The cost model: what a node costs, in nanoseconds of one core. It is accurate enough to refuse
//! rewrites that make a model slower, and no more.
//!
//! Work is bounded by arithmetic or by memory, whichever is slower. Every call has an additional
//! fixed cost. What constant folding computes costs nothing, because it is done before the model
//! runs. Extents that are not known count as [`NOMINAL`]. The constants are those of generated C on
//! one core of a server of 2024, rounded. `lozenge bench --costs` measures them again and prints
//! the model's error.

use graph::operators::{self, Role, Work};
use graph::{Dim, Graph, Model, Node, NodeId, ValueId};
use loops::Size;

use crate::eval::Facts;

/// An extent that is not known.
const NOMINAL: f64 = 16.0;
/// Elements of a tensor of which nothing is known.
const NOMINAL_ELEMENTS: f64 = 4096.0;
/// The cost of a call, for a runtime that schedules calls one by one. In generated C it is almost
/// nothing.
const CALL: f64 = 500.0;
/// Floating-point operations in a nanosecond: products of matrices, convolutions, and convolutions
/// whose outputs have few terms.
const PRODUCT: f64 = 80.0;
const CONVOLUTION: f64 = 64.0;
const NARROW: f64 = 24.0;
/// Outputs of convolutions with fewer terms are narrow.
const FEW_TERMS: f64 = 32.0;
/// Elements in a nanosecond: arithmetic, sums and averages, positions of a window, elements that
/// are reordered, functions.
const PLAIN: f64 = 12.0;
const SUMMED: f64 = 1.25;
const WINDOW: f64 = 7.0;
const MOVED: f64 = 0.4;
const FUNCTION: f64 = 0.15;
/// Bytes in a nanosecond, if they fit in a cache and if they do not.
const CACHED: f64 = 64.0;
const MEMORY: f64 = 16.0;
/// What fits in a cache.
const CACHE: f64 = (1 << 20) as f64;

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
    let out = node.output(0).map_or(0.0, |v| elements(graph, v));
    let input = node.input(0).map_or(out, |v| elements(graph, v));
    let entry = operators::lookup("", &op.name);
    let known = entry.map_or(Work::Plain, |entry| entry.work);
    let work = match known {
        _ if !op.is_standard() => 0.0,
        Work::Description => return CALL,
        Work::Convolution => {
            let weights = entry.and_then(|entry| entry.slot(Role::Weights)).and_then(|slot| node.input(slot));
            let terms = weights.map_or(NOMINAL, |w| elements(graph, w) / extent(graph, w, 0).max(1.0));
            2.0 * out * terms / if terms < FEW_TERMS { NARROW } else { CONVOLUTION }
        }
        Work::Product => {
            let inner = node.input(0).map_or(NOMINAL, |a| {
                let transposed = node.int("transA", 0) != 0;
                extent(graph, a, if transposed { -2 } else { -1 })
            });
            2.0 * out * inner / PRODUCT
        }
        Work::Contraction => 2.0 * out * NOMINAL / PRODUCT,
        Work::Attention => {
            let keys = node.input(1).map_or(NOMINAL, |k| extent(graph, k, -2));
            4.0 * out * keys / PRODUCT + out * keys / FUNCTION / NOMINAL
        }
        Work::Window => {
            let window: f64 =
                node.ints("kernel_shape").map_or(9.0, |k| k.iter().map(|n| *n as f64).product());
            out * window / WINDOW
        }
        Work::Permutation => out / MOVED,
        Work::Function => out / FUNCTION,
        Work::Scaling => 2.0 * out / PLAIN,
        Work::Normalisation => 3.0 * out / SUMMED,
        Work::Reduction => input / SUMMED,
        Work::Plain => out / PLAIN,
    };
    let bytes = bytes(graph, node);
    CALL + work.max(bytes / if bytes < CACHE { CACHED } else { MEMORY })
}

/// What is read and written; a value that is read twice comes once.
fn bytes(graph: &Graph, node: &Node) -> f64 {
    let inputs = node.inputs();
    let first = |k: usize, v: &ValueId| !inputs[..k.min(64)].contains(&Some(*v));
    let read = inputs.iter().enumerate().filter_map(|(k, v)| v.as_ref().filter(|v| first(k, v)));
    let values = read.chain(node.outputs().iter().flatten());
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
