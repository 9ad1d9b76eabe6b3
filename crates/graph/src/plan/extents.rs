//! Numbers for the extents of inputs, by name or by position.

use std::collections::BTreeMap;
use std::sync::Arc;

use loops::{Code, Diagnostic, Name, Size};

use crate::attribute::AttributeValue;
use crate::graph::{Graph, NodeId, Producer, ValueId};
use crate::model::Model;
use crate::tensor::Tensor;
use crate::types::{Dim, TensorType, ValueType};

/// The name for an extent that has none: the input and the position, `x.0`.
pub fn extent_name(input: &Name, axis: usize) -> Name {
    Name::new(format!("{input}.{axis}"))
}

/// Gives the extents of the inputs numbers, by their names or by [`extent_name`], and infers all
/// types again; operators that inference does not know keep the types that their results were
/// declared with.
///
/// # Errors
/// `G0401` if an extent of an input is still unknown, or as in [`fix`]; `G0301` if types contradict
/// each other.
pub fn bind(model: &mut Model, sizes: &BTreeMap<Name, i64>) -> Result<(), Diagnostic> {
    let mut missing: Vec<String> = unbound(model, sizes)?.iter().map(Size::to_string).collect();
    missing.sort();
    missing.dedup();
    if let Some(first) = missing.first() {
        return Err(Diagnostic::general(
            Code("G0401"),
            format!("extents of inputs are not known: {}", missing.join(", ")),
        )
        .help(format!("give each a number: --size {first}=1")));
    }
    forget_inside(&mut model.graph);
    fix(model, sizes)
}

/// Gives some of the extents of the inputs numbers, as [`bind`]. The others stay names; those
/// without one get that of [`extent_name`].
///
/// # Errors
/// As [`bind`], except that extents may be unknown.
pub fn bind_some(model: &mut Model, sizes: &BTreeMap<Name, i64>) -> Result<(), Diagnostic> {
    unbound(model, sizes)?;
    let graph = &mut model.graph;
    for id in graph.inputs().to_vec() {
        let value = graph.value(id);
        let name = value.name().clone();
        let Some(TensorType { elem, shape: Some(shape) }) = value.tensor_type().cloned() else { continue };
        let named = shape.into_iter().enumerate().map(|(axis, dim)| match dim {
            Dim::Unknown => Dim::symbol(extent_name(&name, axis)),
            dim => dim,
        });
        graph.declare(id, TensorType::new(elem, named));
    }
    forget_inside(graph);
    fix(model, sizes)?;
    super::free::assume(model)
}

/// The extents of the inputs that these numbers do not make numbers.
///
/// # Errors
/// `G0401` for a negative number or an unknown rank, `G0402` for an input that is no tensor.
fn unbound(model: &Model, sizes: &BTreeMap<Name, i64>) -> Result<Vec<Size>, Diagnostic> {
    none_negative(sizes)?;
    let mut missing = Vec::new();
    for id in model.graph.inputs() {
        let value = model.graph.value(*id);
        let Some(ValueType::Tensor(ty)) = value.ty() else {
            let ty = value.ty().map_or("unknown".to_owned(), ToString::to_string);
            return Err(Diagnostic::general(
                Code("G0402"),
                format!("the input `{}` is not a tensor but {ty}", value.name()),
            ));
        };
        let Some(shape) = &ty.shape else {
            return Err(Diagnostic::general(
                Code("G0401"),
                format!("the input `{}` has a shape of unknown rank", value.name()),
            )
            .help(format!("give an array to `lozenge run`: --arg {}=FILE.npy", value.name())));
        };
        for (axis, dim) in shape.iter().enumerate() {
            match fixed(dim, Some((value.name(), axis)), sizes) {
                Dim::Known(_) => {}
                Dim::Symbolic(size) => missing.push(*size),
                Dim::Unknown => missing.push(Size::param(extent_name(value.name(), axis))),
            }
        }
    }
    Ok(missing)
}

/// Removes the declared types of values in branches and loops. They refer to names, and follow from
/// the inputs.
fn forget_inside(graph: &mut Graph) {
    let with_graphs: Vec<NodeId> =
        graph.nodes().filter(|(_, node)| node.has_subgraphs()).map(|(id, _)| id).collect();
    for id in with_graphs {
        let mut attributes = graph.node(id).attributes().to_vec();
        for attribute in &mut attributes {
            let AttributeValue::Graph(inner) = &mut attribute.value else { continue };
            let mut changed = (**inner).clone();
            let values: Vec<ValueId> =
                changed.values().filter(|(_, v)| v.initializer().is_none()).map(|(id, _)| id).collect();
            values.into_iter().for_each(|id| changed.forget_type(id));
            forget_inside(&mut changed);
            *inner = Arc::new(changed);
        }
        graph.set_attributes(id, attributes);
    }
}

/// Gives some of the extents of the inputs numbers, and infers all types again. What cannot be
/// inferred keeps the type that it was declared with.
///
/// # Errors
/// `G0401` if a name is not one of an extent, or a number is negative; `G0301` if types contradict
/// each other.
pub fn fix(model: &mut Model, sizes: &BTreeMap<Name, i64>) -> Result<(), Diagnostic> {
    for (id, ty) in substitute(model, sizes)? {
        let value = model.graph.value(id);
        match value.ty().cloned() {
            None => model.graph.declare(id, ty),
            // An output has a type in the file.
            Some(found) if value.is_output() => {
                model.graph.declare(id, crate::infer::better(found, ValueType::Tensor(ty)));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// `G0401` for an extent below 0.
fn none_negative(sizes: &BTreeMap<Name, i64>) -> Result<(), Diagnostic> {
    match sizes.iter().find(|(_, extent)| **extent < 0) {
        Some((name, extent)) => {
            let message = format!("the extent `{name}` is {extent}, which is negative");
            Err(Diagnostic::general(Code("G0401"), message))
        }
        None => Ok(()),
    }
}

/// As [`fix`]; the types that were declared and are not any more.
fn substitute(
    model: &mut Model,
    sizes: &BTreeMap<Name, i64>,
) -> Result<Vec<(ValueId, TensorType)>, Diagnostic> {
    none_negative(sizes)?;
    let graph = &mut model.graph;
    let mut used: Vec<Name> = Vec::new();
    let mut declared: Vec<(ValueId, Option<TensorType>)> = Vec::new();
    // The declared types of results. A name there is only a name for the inferred extent.
    let mut said: Vec<(ValueId, ValueType)> = Vec::new();
    for (id, value) in graph.values() {
        let input = value.producer() == Producer::Input;
        let ty = value.tensor_type().map(|ty| {
            let shape = ty.shape.as_ref().map(|shape| {
                let number = |(axis, dim): (usize, &Dim)| {
                    let place = input.then(|| (value.name(), axis));
                    match (dim, place) {
                        (Dim::Symbolic(size), Some(_)) => used.extend(size.params()),
                        (Dim::Unknown, Some((name, axis))) => used.push(extent_name(name, axis)),
                        _ => {}
                    }
                    fixed(dim, place, sizes)
                };
                shape.iter().enumerate().map(number).collect()
            });
            TensorType { elem: ty.elem, shape }
        });
        if input || value.is_declared() {
            declared.push((id, ty));
        }
        if let (Producer::Node(..), true, Some(ty)) = (value.producer(), value.is_declared(), value.ty()) {
            said.push((id, ty.clone()));
        }
    }
    if let Some(name) = sizes.keys().find(|name| !used.contains(name)) {
        return Err(Diagnostic::general(Code("G0401"), format!("no input has an extent `{name}`")));
    }
    // Declared types speak of names that are numbers now.
    let mut forgotten = Vec::new();
    for (id, ty) in declared {
        match (graph.value(id).producer(), ty) {
            (Producer::Input, Some(ty)) => graph.declare(id, ty),
            (Producer::Input, None) => {}
            (_, ty) => {
                // No node says what a parameter is, its elements do.
                let known = graph.value(id).initializer().map(Tensor::ty);
                graph.forget_type(id);
                match known {
                    Some(known) => graph.set_inferred(id, known),
                    None => forgotten.extend(ty.map(|ty| (id, ty))),
                }
            }
        }
    }
    crate::infer::infer(model)?;
    for (id, ty) in &said {
        crate::infer::agree(&mut model.graph, *id, ty)?;
    }
    Ok(forgotten)
}

/// An extent with names replaced by their numbers; one without a name has that of its input and
/// place.
fn fixed(dim: &Dim, place: Option<(&Name, usize)>, sizes: &BTreeMap<Name, i64>) -> Dim {
    match (dim, place) {
        (Dim::Symbolic(size), _) => {
            let size = size.substitute(&|name| sizes.get(name).copied().map(Size::constant));
            size.as_constant().map_or(Dim::Symbolic(Box::new(size)), Dim::Known)
        }
        (Dim::Unknown, Some((input, axis))) => {
            sizes.get(&extent_name(input, axis)).copied().map_or(Dim::Unknown, Dim::Known)
        }
        (dim, _) => dim.clone(),
    }
}
