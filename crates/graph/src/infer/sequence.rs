//! Sequences, optional values, branches and loops.

use std::sync::Arc;

use super::call::{Call, Found, axis, join, one, typed};
use super::elementwise::attribute_type;
use crate::attribute::AttributeValue;
use crate::graph::{Graph, Producer};
use crate::types::{Dim, ElementType, Shape, TensorType, ValueType};

fn sequence(inner: Option<ValueType>) -> Found {
    Ok(vec![Some(ValueType::Sequence(Box::new(inner.unwrap_or(ValueType::Unknown))))])
}

pub(super) fn construct(call: &Call) -> Found {
    let mut types = (0..call.node.inputs().len()).map(|k| call.value_type(k).cloned());
    let first = types.next().flatten();
    sequence(types.fold(first, join))
}

pub(super) fn empty(call: &Call) -> Found {
    let elem = attribute_type(call, "dtype").unwrap_or(ElementType::F32);
    sequence(Some(TensorType { elem, shape: None }.into()))
}

fn inner<'g>(call: &Call<'g>, k: usize) -> Option<&'g ValueType> {
    match call.value_type(k)? {
        ValueType::Sequence(inner) | ValueType::Optional(inner) => Some(inner),
        _ => None,
    }
}

pub(super) fn at(call: &Call) -> Found {
    Ok(vec![inner(call, 0).cloned()])
}

pub(super) fn insert(call: &Call) -> Found {
    sequence(join(inner(call, 0).cloned(), call.value_type(1).cloned()))
}

pub(super) fn erase(call: &Call) -> Found {
    Ok(vec![call.value_type(0).cloned()])
}

pub(super) fn concat(call: &Call) -> Found {
    let Some(ValueType::Tensor(part)) = inner(call, 0) else { return Ok(vec![None]) };
    let shape = match &part.shape {
        Some(x) => {
            let new = call.node.int("new_axis", 0) != 0;
            let at = axis(call.node.int("axis", 0), x.len() + usize::from(new))?;
            let mut shape = x.clone();
            if new {
                shape.insert(at, Dim::Unknown);
            } else {
                shape[at] = Dim::Unknown;
            }
            Some(shape)
        }
        None => None,
    };
    one(typed(Some(part.elem), shape))
}

pub(super) fn split(call: &Call) -> Found {
    let Some(ty) = call.ty(0) else { return sequence(None) };
    let shape = match &ty.shape {
        Some(x) => {
            let at = axis(call.node.int("axis", 0), x.len())?;
            let mut shape = x.clone();
            if call.has(1) {
                shape[at] = match (call.rank(1), call.int(1), &shape[at]) {
                    (Some(0), Some(n), Dim::Known(all)) if n > 0 && all % n == 0 => Dim::Known(n),
                    _ => Dim::Unknown,
                };
            } else if call.node.int("keepdims", 1) != 0 {
                shape[at] = Dim::Known(1);
            } else {
                shape.remove(at);
            }
            Some(shape)
        }
        None => None,
    };
    sequence(typed(Some(ty.elem), shape).map(Into::into))
}

pub(super) fn optional(call: &Call) -> Found {
    let of = match call.node.attribute("type") {
        Some(AttributeValue::Type(ty)) => Some(ty.clone()),
        _ => call.value_type(0).cloned(),
    };
    Ok(vec![of.map(|ty| ValueType::Optional(Box::new(ty)))])
}

pub(super) fn optional_element(call: &Call) -> Found {
    Ok(vec![match call.value_type(0) {
        Some(ValueType::Optional(inner)) => Some((**inner).clone()),
        other => other.cloned(),
    }])
}

/// The subgraphs of a node with the types of what comes in, and what is inferred in them: given back in the order of the attributes.
///
/// `inputs` gives the type of input `k` of the subgraph.
pub(super) fn inside(
    call: &Call,
    graph: &Graph,
    depth: u32,
    inputs: &dyn Fn(usize) -> Option<ValueType>,
) -> Result<Arc<Graph>, String> {
    let mut inner = graph.clone();
    let outer: Vec<_> =
        inner.values().filter(|(_, v)| v.producer() == Producer::Outer).map(|(id, _)| id).collect();
    for id in outer {
        let known = call.graph.find(inner.value(id).name()).map(|o| call.graph.value(o));
        if let Some(ty) = known.and_then(|o| o.ty().cloned()) {
            inner.set_inferred(id, ty);
        }
        if let Some(elements) = known.and_then(|o| o.known_elements()) {
            inner.set_known_elements(id, Some(elements.to_vec()));
        }
    }
    for (k, id) in inner.inputs().to_vec().into_iter().enumerate() {
        if let Some(ty) = inputs(k)
            && inner.value(id).ty().is_none_or(|t| {
                matches!(t, ValueType::Unknown) || t.tensor().is_some_and(|t| t.shape.is_none())
            })
        {
            inner.set_inferred(id, ty);
        }
    }
    super::infer_graph(&mut inner, call.opset, depth + 1)
        .map_err(|d| format!("has a subgraph in which {}", d.message))?;
    Ok(Arc::new(inner))
}

fn outputs(graph: &Graph) -> Vec<Option<ValueType>> {
    graph.outputs().iter().map(|id| graph.value(*id).ty().cloned()).collect()
}

/// The types of a node's results, and its subgraphs with types, by the number of the attribute.
type Inside = (Vec<Option<ValueType>>, Vec<(usize, Arc<Graph>)>);

/// Results and inferred subgraphs of `If`, `Loop`, `Scan`.
pub(super) fn control(call: &Call, depth: u32) -> Result<Inside, String> {
    let graphs: Vec<(usize, &Arc<Graph>)> = call
        .node
        .attributes()
        .iter()
        .enumerate()
        .filter_map(|(k, a)| match &a.value {
            AttributeValue::Graph(g) => Some((k, g)),
            _ => None,
        })
        .collect();
    let mut inferred = Vec::new();
    let op = call.node.op().name.as_str();
    let loops = op == "Loop";
    let states = if op == "Scan" {
        call.node
            .inputs()
            .len()
            .saturating_sub(usize::try_from(call.node.int("num_scan_inputs", 0)).unwrap_or(0))
    } else {
        call.node.inputs().len().saturating_sub(2)
    };
    for (k, graph) in graphs {
        let scalar = |elem| Some(TensorType { elem, shape: Some(Shape::new()) }.into());
        let types = |at: usize| -> Option<ValueType> {
            match op {
                "Loop" => match at {
                    0 => scalar(ElementType::I64),
                    1 => scalar(ElementType::Bool),
                    // A state may change its shape from one round to the next.
                    _ => call.value_type(at).map(|ty| match ty {
                        ValueType::Tensor(t) => TensorType { elem: t.elem, shape: None }.into(),
                        other => other.clone(),
                    }),
                },
                "Scan" if at < states => call.value_type(at).cloned(),
                "Scan" => {
                    let ty = call.ty(at)?;
                    let axes = call.node.ints("scan_input_axes");
                    let from = axes.and_then(|a| a.get(at - states).copied()).unwrap_or(0);
                    let mut shape = ty.shape.clone()?;
                    shape.remove(axis(from, shape.len()).ok()?);
                    Some(TensorType { elem: ty.elem, shape: Some(shape) }.into())
                }
                _ => None,
            }
        };
        inferred.push((k, inside(call, graph, depth, &types)?));
    }
    let results = match (op, inferred.as_slice()) {
        ("If", [(_, a), (_, b)]) => {
            if a.outputs().len() != b.outputs().len() {
                return Err("has branches with different numbers of results".into());
            }
            outputs(a).into_iter().zip(outputs(b)).map(|(a, b)| join(a, b)).collect()
        }
        ("Loop" | "Scan", [(_, body)]) => {
            let skipped = usize::from(loops);
            let all = outputs(body).into_iter().skip(skipped).enumerate();
            all.map(|(k, ty)| {
                if k < states {
                    let before = call.value_type(if loops { k + 2 } else { k }).cloned();
                    return join(before, ty);
                }
                let Some(ValueType::Tensor(ty)) = ty else { return None };
                let mut shape = ty.shape?;
                let at = if loops {
                    0
                } else {
                    let axes = call.node.ints("scan_output_axes");
                    axis(axes.and_then(|a| a.get(k - states).copied()).unwrap_or(0), shape.len() + 1).ok()?
                };
                let length = if loops {
                    Dim::Unknown
                } else {
                    let from =
                        call.node.ints("scan_input_axes").and_then(|a| a.first().copied()).unwrap_or(0);
                    let first = call.shape(states)?;
                    first[axis(from, first.len()).ok()?].clone()
                };
                shape.insert(at, length);
                Some(TensorType { elem: ty.elem, shape: Some(shape) }.into())
            })
            .collect()
        }
        _ => vec![None; call.node.outputs().len()],
    };
    Ok((results, inferred))
}

/// `TensorScatter`: the cache.
pub(super) fn tensor_scatter(call: &Call) -> Found {
    Ok(vec![call.value_type(0).cloned()])
}
