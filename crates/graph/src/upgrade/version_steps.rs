//! What changes with single versions of operators.

use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, NewNode, NodeId, Place, Producer, ValueId};
use crate::tensor::Tensor;
use crate::types::ElementType;

type Step = Result<bool, String>;

/// Operators that go on under another name, and from which version on.
pub(super) fn renamed(name: &str) -> Option<(i64, &'static str)> {
    match name {
        "Upsample" => Some((10, "Resize")),
        "Scatter" => Some((11, "ScatterElements")),
        _ => None,
    }
}

/// Writes a node for the next version of its operator, where more changes than what may be left
/// out. Returns whether it did.
pub(super) fn step(graph: &mut Graph, id: NodeId, name: &str, since: i64, to: i64) -> Step {
    match (name, since) {
        ("Squeeze" | "Unsqueeze" | "ReduceSum", 13) => list(graph, id, "axes", 1),
        (_, 18) if name.starts_with("Reduce") => list(graph, id, "axes", 1),
        ("Slice", 10) => slice(graph, id),
        ("Clip", 11) => Ok(scalar(graph, id, "min", 1)? | scalar(graph, id, "max", 2)?),
        ("Pad", 11) => Ok(list(graph, id, "pads", 1)? | scalar(graph, id, "value", 2)?),
        ("TopK", 10) => list(graph, id, "k", 1),
        ("Split", 13) => list(graph, id, "split", 1),
        ("Split", 18) => parts(graph, id),
        ("Dropout", 10) if graph.node(id).output(1).is_some() => Err("its mask has another type".into()),
        ("Dropout", 12) => scalar(graph, id, "ratio", 1),
        ("BatchNormalization", 9) => match take(graph, id, "spatial").and_then(|value| value.int()) {
            Some(0) => Err("`spatial` is 0".into()),
            value => Ok(value.is_some()),
        },
        ("BatchNormalization", 14) if graph.node(id).outputs().iter().skip(1).any(Option::is_some) => {
            Err("it has results of training".into())
        }
        ("Upsample", 9) => scales(graph, id),
        ("Resize", 11) => resize(graph, id, to),
        ("Resize", 13)
            if graph.node(id).string("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn" =>
        {
            Err("`tf_half_pixel_for_nn` does not exist any more".into())
        }
        ("RoiAlign", 16) => {
            graph.set_attribute(id, "coordinate_transformation_mode", text("output_half_pixel"));
            Ok(true)
        }
        ("GridSample", 20) => modes(graph, id),
        ("Softmax" | "LogSoftmax" | "Hardmax", 13) => rows(graph, id),
        ("Scan", 9) => Err("before version 9 it ran over a batch".into()),
        ("DFT", 20) => {
            let axis = take(graph, id, "axis").and_then(|value| value.int()).unwrap_or(1);
            constant(graph, id, 2, "axis", Tensor::scalar_i64(axis));
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn text(text: &'static str) -> AttributeValue {
    AttributeValue::String(bytes::Bytes::from_static(text.as_bytes()))
}

/// Takes an attribute off a node.
pub(super) fn take(graph: &mut Graph, id: NodeId, name: &str) -> Option<AttributeValue> {
    let value = graph.node(id).attribute(name)?.clone();
    let others: Vec<Attribute> =
        graph.node(id).attributes().iter().filter(|a| &*a.name != name).cloned().collect();
    graph.set_attributes(id, others);
    Some(value)
}

/// A constant as an input.
fn constant(graph: &mut Graph, id: NodeId, input: usize, name: &str, tensor: Tensor) {
    let base = graph.node(id).output(0).map_or("value", |value| graph.value(value).name());
    let hint = format!("{base}_{name}");
    let value = graph.add_initializer(&hint, tensor);
    graph.set_input(id, input, Some(value));
}

/// An attribute of integers becomes an input with one dimension.
fn list(graph: &mut Graph, id: NodeId, name: &str, input: usize) -> Step {
    let Some(value) = take(graph, id, name) else { return Ok(false) };
    let numbers = match &value {
        AttributeValue::Int(number) => vec![*number],
        other => other.ints().ok_or_else(|| format!("`{name}` is no list of integers"))?.to_vec(),
    };
    constant(graph, id, input, name, Tensor::from_i64s(vec![numbers.len()], &numbers));
    Ok(true)
}

/// An attribute that is a number becomes an input of the type of the first one.
fn scalar(graph: &mut Graph, id: NodeId, name: &str, input: usize) -> Step {
    let Some(value) = take(graph, id, name) else { return Ok(false) };
    let number = value.float().ok_or_else(|| format!("`{name}` is no number"))?;
    let elem = graph.node(id).input(0).and_then(|x| graph.value(x).tensor_type()).map(|ty| ty.elem);
    let tensor = match elem {
        Some(ElementType::F32) => Tensor::scalar_f32(number),
        Some(ElementType::F64) => Tensor::from_f64s(vec![], &[f64::from(number)]),
        Some(other) => return Err(format!("`{name}` is no `{other}`")),
        None => return Err(format!("the type of its input, which `{name}` needs, is not known")),
    };
    constant(graph, id, input, name, tensor);
    Ok(true)
}

fn slice(graph: &mut Graph, id: NodeId) -> Step {
    for (input, name) in ["starts", "ends", "axes"].into_iter().enumerate() {
        list(graph, id, name, input + 1)?;
    }
    Ok(true)
}

/// Without lengths, the number of parts has to be said.
fn parts(graph: &mut Graph, id: NodeId) -> Step {
    let node = graph.node(id);
    if node.input(1).is_some() || node.attribute("num_outputs").is_some() {
        return Ok(false);
    }
    let count = node.outputs().len() as i64;
    graph.set_attribute(id, "num_outputs", AttributeValue::Int(count));
    Ok(true)
}

fn scales(graph: &mut Graph, id: NodeId) -> Step {
    let Some(value) = take(graph, id, "scales") else { return Ok(false) };
    let numbers = value.floats().ok_or("`scales` is no list of numbers")?.to_vec();
    constant(graph, id, 1, "scales", Tensor::from_f32s(vec![numbers.len()], &numbers));
    Ok(true)
}

/// The region of interest comes before the scales, and places are computed otherwise unless this is
/// said.
fn resize(graph: &mut Graph, id: NodeId, to: i64) -> Step {
    let node = graph.node(id);
    let (x, scales) = (node.input(0), node.input(1));
    graph.set_inputs(id, vec![x, None, scales]);
    if to < 13 {
        constant(graph, id, 1, "roi", Tensor::from_f32s(vec![0], &[]));
    }
    graph.set_attribute(id, "coordinate_transformation_mode", text("asymmetric"));
    graph.set_attribute(id, "nearest_mode", text("floor"));
    Ok(true)
}

/// The modes of interpolation have other names.
fn modes(graph: &mut Graph, id: NodeId) -> Step {
    let mode = match graph.node(id).string("mode", "bilinear") {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        "nearest" => "nearest",
        other => return Err(format!("the mode `{other}` is not known")),
    };
    graph.set_attribute(id, "mode", text(mode));
    Ok(true)
}

/// All dimensions from the axis on were one row. If that is not the last one, the tensor becomes a
/// matrix and gets its shape back.
fn rows(graph: &mut Graph, id: NodeId) -> Step {
    let axis = take(graph, id, "axis").and_then(|value| value.int()).unwrap_or(1);
    let Some(x) = graph.node(id).input(0) else { return Ok(false) };
    let rank = graph.value(x).tensor_type().and_then(|ty| ty.shape.as_ref()).map(|shape| shape.len() as i64);
    graph.set_attribute(id, "axis", AttributeValue::Int(-1));
    if axis == -1 || rank.is_some_and(|rank| axis == rank - 1) {
        return Ok(true);
    }
    let Some(y) = graph.node(id).output(0) else { return Ok(true) };
    let [matrix, shape, softened] = ["matrix", "shape", "rows"].map(|hint| {
        let hint = format!("{}_{hint}", graph.value(y).name());
        graph.add_value(&hint)
    });
    let flat = NewNode::new("Flatten", [x], [matrix]).with("axis", AttributeValue::Int(axis));
    graph.insert(flat, Place::Before(id));
    graph.insert(NewNode::new("Shape", [x], [shape]), Place::Before(id));
    graph.set_input(id, 0, Some(matrix));
    give(graph, id, softened);
    graph.insert(NewNode::new("Reshape", [softened, shape], [y]), Place::After(id));
    Ok(true)
}

/// Makes another value the first result of a node; the old one has no producer then.
fn give(graph: &mut Graph, id: NodeId, result: ValueId) {
    let entry = graph.node_entry(id);
    let old = entry.outputs[0].replace(result);
    entry.origin = None;
    graph.value_entry(result).producer = Producer::Node(id, 0);
    if let Some(old) = old {
        graph.value_entry(old).producer = Producer::Nothing;
    }
}
