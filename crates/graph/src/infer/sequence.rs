//! Sequences, optional values, branches and loops.

use std::sync::Arc;

use super::Way;
use super::call::{Call, Found, axis, join, one, typed};
use super::elementwise_rules::attribute_type;
use crate::attribute::AttributeValue;
use crate::control;
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

/// The subgraphs of a node with the types of what comes in, and what is inferred in them: given
/// back in the order of the attributes.
///
/// `inputs` gives the type of input `k` of the subgraph.
pub(super) fn inside(
    call: &Call,
    graph: &Graph,
    way: Way,
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
        let vague =
            |t: &ValueType| matches!(t, ValueType::Unknown) || t.tensor().is_some_and(|t| t.shape.is_none());
        // What was inferred before may be out of date.
        if let Some(ty) = inputs(k)
            && (!inner.value(id).is_declared() || inner.value(id).ty().is_none_or(vague))
        {
            inner.set_inferred(id, ty);
        }
    }
    super::infer_graph(&mut inner, Way { depth: way.depth + 1, ..way })
        .map_err(|d| format!("has a subgraph in which {}", d.message))?;
    Ok(Arc::new(inner))
}

fn outputs(graph: &Graph) -> Vec<Option<ValueType>> {
    graph.outputs().iter().map(|id| graph.value(*id).ty().cloned()).collect()
}

/// The types of a node's results, and its subgraphs with types, by the number of the attribute.
type Inside = (Vec<Option<ValueType>>, Vec<(usize, Arc<Graph>)>);

/// The nesting depth up to which loops are tried with the initial types of their states. Each try
/// doubles the work on what is inside.
const MOST_TRIES: u32 = 6;

/// Results and inferred subgraphs of `If`, `Loop`, `Scan`.
pub(super) fn control(call: &Call, way: Way) -> Result<Inside, String> {
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
    match (call.node.op().name.as_str(), graphs.as_slice()) {
        ("If", [(j, a), (k, b)]) => {
            let (a, b) = match (inside(call, a, way, &|_| None), inside(call, b, way, &|_| None)) {
                (Ok(a), Ok(b)) => (a, b),
                // Only if it is taken does a branch have to fit; its condition may be about that.
                (Ok(a), Err(_)) if b.outputs().len() == a.outputs().len() => {
                    return Ok((outputs(&a), vec![(*j, a)]));
                }
                (Err(_), Ok(b)) if b.outputs().len() == a.outputs().len() => {
                    return Ok((outputs(&b), vec![(*k, b)]));
                }
                (a, b) => (a?, b?),
            };
            if a.outputs().len() != b.outputs().len() {
                return Err("has branches with different numbers of results".into());
            }
            let results = outputs(&a).into_iter().zip(outputs(&b)).map(|(a, b)| join(a, b)).collect();
            Ok((results, vec![(*j, a), (*k, b)]))
        }
        ("Loop", [(k, body)]) => {
            let body = repeated(call, body, way)?;
            Ok((loop_results(call, &body), vec![(*k, body)]))
        }
        ("Scan", [(k, body)]) => {
            let states = scan_states(call);
            let body = inside(call, body, way, &|at| scan_input(call, states, at))?;
            Ok((scan_results(call, states, &body), vec![(*k, body)]))
        }
        _ => Ok((vec![None; call.node.outputs().len()], Vec::new())),
    }
}

/// The body of a `Loop`. States have the types that they begin with if the body leaves these as
/// they are; else their shapes may change from one round to the next.
fn repeated(call: &Call, body: &Arc<Graph>, way: Way) -> Result<Arc<Graph>, String> {
    let scalar = |elem| Some(TensorType { elem, shape: Some(Shape::new()) }.into());
    let first = |at: usize| match at {
        0 => scalar(ElementType::I64),
        1 => scalar(ElementType::Bool),
        _ => call.value_type(at).cloned(),
    };
    if way.depth < MOST_TRIES
        && let Ok(inferred) = inside(call, body, way, &first)
    {
        let states = call.node.inputs().len().saturating_sub(2);
        let stays = |k: usize| {
            let id = inferred.outputs().get(1 + k);
            id.is_some_and(|id| inferred.value(*id).ty() == call.value_type(2 + k))
        };
        if (0..states).all(stays) {
            return Ok(inferred);
        }
    }
    let any = |at: usize| match first(at) {
        Some(ValueType::Tensor(t)) if at >= 2 => Some(TensorType { elem: t.elem, shape: None }.into()),
        other => other,
    };
    inside(call, body, way, &any)
}

fn loop_results(call: &Call, body: &Graph) -> Vec<Option<ValueType>> {
    let states = call.node.inputs().len().saturating_sub(2);
    let all = outputs(body).into_iter().skip(1).enumerate();
    all.map(|(k, ty)| {
        if k < states {
            return join(call.value_type(k + 2).cloned(), ty);
        }
        let length = control::trips(call.graph, call.node, body).map_or(Dim::Unknown, Dim::Known);
        stacked(ty, 0, length)
    })
    .collect()
}

/// How many of the inputs of a `Scan` are states.
fn scan_states(call: &Call) -> usize {
    let scanned = usize::try_from(call.node.int("num_scan_inputs", 0)).unwrap_or(0);
    call.node.inputs().len().saturating_sub(scanned)
}

/// Item `k` of an attribute with one axis for each input or result; the first axis if there is
/// none.
fn axis_of(call: &Call, attribute: &str, k: usize) -> i64 {
    call.node.ints(attribute).and_then(|axes| axes.get(k).copied()).unwrap_or(0)
}

fn scan_input(call: &Call, states: usize, at: usize) -> Option<ValueType> {
    if at < states {
        return call.value_type(at).cloned();
    }
    let ty = call.ty(at)?;
    let mut shape = ty.shape.clone()?;
    shape.remove(axis(axis_of(call, "scan_input_axes", at - states), shape.len()).ok()?);
    Some(TensorType { elem: ty.elem, shape: Some(shape) }.into())
}

fn scan_results(call: &Call, states: usize, body: &Graph) -> Vec<Option<ValueType>> {
    let length = || {
        let first = call.shape(states)?;
        Some(first[axis(axis_of(call, "scan_input_axes", 0), first.len()).ok()?].clone())
    };
    let all = outputs(body).into_iter().enumerate();
    all.map(|(k, ty)| match k < states {
        true => join(call.value_type(k).cloned(), ty),
        false => stacked(ty, axis_of(call, "scan_output_axes", k - states), length()?),
    })
    .collect()
}

/// This number of tensors of a type, stacked along a new axis.
fn stacked(ty: Option<ValueType>, at: i64, length: Dim) -> Option<ValueType> {
    let Some(ValueType::Tensor(ty)) = ty else { return None };
    let mut shape = ty.shape?;
    shape.insert(axis(at, shape.len() + 1).ok()?, length);
    Some(TensorType { elem: ty.elem, shape: Some(shape) }.into())
}

/// `TensorScatter`: the cache.
pub(super) fn tensor_scatter(call: &Call) -> Found {
    Ok(vec![call.value_type(0).cloned()])
}
