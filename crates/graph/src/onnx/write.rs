//! Writing. Parts that were not changed are written as they were read, the rest in the order of
//! field numbers.

use bytes::Bytes;
use loops::Name;

use super::wire::{Fields, Pieces};
use super::{Header, Role};
use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, Node, Producer, Value};
use crate::hash_tables::Set;
use crate::model::Model;
use crate::tensor::{Storage, Tensor};
use crate::types::{Dim, TensorType, ValueType};

/// The bytes of a model. A model that was read and not changed gives the file back.
pub fn write(model: &Model) -> Vec<u8> {
    write_pieces(model).concat()
}

/// The same as consecutive pieces. Large tensors are shared with the model instead of copied.
pub fn write_pieces(model: &Model) -> Vec<Bytes> {
    let header = Header {
        ir_version: model.ir_version,
        opsets: model.opsets.clone(),
        metadata: model.metadata.clone(),
        extra: model.extra.clone(),
    };
    let mut out = Pieces::default();
    match &model.origin {
        Some(origin) if origin.header == header => {
            if unchanged(&model.graph) {
                return vec![origin.file.clone()];
            }
            out.raw_shared(&origin.file.slice(..origin.graph.0));
            out.message(7, |out| graph(out, &model.graph));
            out.raw_shared(&origin.file.slice(origin.graph.1..));
        }
        _ => canonical(&mut out, model),
    }
    out.finish()
}

/// The attributes of a node as bytes, in the order of their names: equal for equal attributes.
pub(crate) fn attribute_bytes(node: &Node) -> Vec<u8> {
    let mut attributes: Vec<&Attribute> = node.attributes.iter().collect();
    attributes.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out = Pieces::default();
    attributes.into_iter().for_each(|a| out.message(5, |out| attribute(out, a)));
    out.finish().concat()
}

/// The bytes of a model with every part written anew, in the order of field numbers.
fn canonical(out: &mut Pieces, model: &Model) {
    out.int(1, model.ir_version);
    kept(out, &model.extra, 0..7);
    out.message(7, |out| graph(out, &model.graph));
    for (domain, version) in &model.opsets {
        out.message(8, |out| {
            out.bytes(1, domain.as_bytes());
            out.int(2, *version);
        });
    }
    kept(out, &model.extra, 8..14);
    for (key, value) in &model.metadata {
        entry(out, 14, key, value);
    }
    kept(out, &model.extra, 14..u32::MAX);
}

fn unchanged(graph: &Graph) -> bool {
    graph.origin.as_ref().is_some_and(|(_, name)| *name == graph.name)
}

/// The fields of `extra` with numbers in the range.
fn kept(out: &mut Pieces, extra: &Bytes, numbers: std::ops::Range<u32>) {
    let mut fields = Fields::new(extra, 0, extra.len());
    while let Ok(Some(field)) = fields.next() {
        if numbers.contains(&field.number) {
            out.raw(&extra[field.start..field.end]);
        }
    }
}

fn entry(out: &mut Pieces, number: u32, key: &str, value: &str) {
    out.message(number, |out| {
        out.bytes(1, key.as_bytes());
        out.bytes(2, value.as_bytes());
    });
}

fn graph(out: &mut Pieces, graph: &Graph) {
    if let Some((bytes, name)) = &graph.origin
        && *name == graph.name
    {
        out.raw_shared(bytes);
        return;
    }
    for (_, n) in graph.nodes() {
        match &n.origin {
            Some(bytes) => out.bytes(1, bytes),
            None => out.message(1, |out| node(out, graph, n)),
        }
    }
    out.bytes(2, graph.name.as_bytes());
    for (id, t) in graph.initializers() {
        let value = graph.value(id);
        match value.constant.as_ref().and_then(|c| c.origin.as_ref()) {
            Some(bytes) => out.shared(5, bytes),
            None => out.message(5, |out| tensor(out, t, Some(&value.name))),
        }
    }
    kept(out, &graph.extra, 0..11);
    for id in &graph.inputs {
        record(out, 11, Role::Input, graph.value(*id));
    }
    for id in &graph.outputs {
        record(out, 12, Role::Output, graph.value(*id));
    }
    let is_info = |value: &Value| value.alive && value.records.iter().any(|(role, _)| *role == Role::Info);
    let mut seen = Set::default();
    for id in &graph.infos {
        if is_info(graph.value(*id)) && seen.insert(*id) {
            record(out, 13, Role::Info, graph.value(*id));
        }
    }
    for (_, value) in graph.values() {
        let elsewhere = value.producer == Producer::Input || value.is_output() || !value.records.is_empty();
        if value.declared && !elsewhere {
            record(out, 13, Role::Info, value);
        }
    }
    kept(out, &graph.extra, 11..u32::MAX);
}

/// The record of a value: unchanged, or its name and type with the other fields of the old record.
fn record(out: &mut Pieces, number: u32, role: Role, value: &Value) {
    let old = value.records.iter().find(|(r, _)| *r == role).map(|(_, bytes)| bytes);
    if let (Some(old), false) = (old, value.stale) {
        return out.bytes(number, old);
    }
    out.message(number, |out| {
        out.bytes(1, value.name.as_bytes());
        if let Some(found) = &value.ty {
            out.message(2, |out| ty(out, found));
        }
        if let Some(old) = old {
            kept(out, old, 3..u32::MAX);
        }
    });
}

fn node(out: &mut Pieces, graph: &Graph, node: &Node) {
    let name =
        |id: Option<crate::graph::ValueId>| id.map(|id| graph.value(id).name.as_bytes()).unwrap_or_default();
    for input in &node.inputs {
        out.bytes(1, name(*input));
    }
    for output in &node.outputs {
        out.bytes(2, name(*output));
    }
    if !node.name.is_empty() {
        out.bytes(3, node.name.as_bytes());
    }
    out.bytes(4, node.op.name.as_bytes());
    for a in &node.attributes {
        out.message(5, |out| attribute(out, a));
    }
    kept(out, &node.extra, 0..7);
    if !node.op.domain.is_empty() {
        out.bytes(7, node.op.domain.as_bytes());
    }
    kept(out, &node.extra, 7..u32::MAX);
}

fn attribute(out: &mut Pieces, attribute: &Attribute) {
    out.bytes(1, attribute.name.as_bytes());
    let kind = match &attribute.value {
        AttributeValue::Float(x) => {
            out.float(2, *x);
            1
        }
        AttributeValue::Int(n) => {
            out.int(3, *n);
            2
        }
        AttributeValue::String(s) => {
            out.bytes(4, s);
            3
        }
        AttributeValue::Tensor(t) => {
            out.message(5, |out| tensor(out, t, t.name.as_ref()));
            4
        }
        AttributeValue::Graph(g) => {
            out.message(6, |out| graph(out, g));
            5
        }
        AttributeValue::Floats(list) => {
            list.iter().for_each(|x| out.float(7, *x));
            6
        }
        AttributeValue::Ints(list) => {
            list.iter().for_each(|n| out.int(8, *n));
            7
        }
        AttributeValue::Strings(list) => {
            list.iter().for_each(|s| out.bytes(9, s));
            8
        }
        AttributeValue::Tensors(list) => {
            list.iter().for_each(|t| out.message(10, |out| tensor(out, t, t.name.as_ref())));
            9
        }
        AttributeValue::Graphs(list) => {
            list.iter().for_each(|g| out.message(11, |out| graph(out, g)));
            10
        }
        AttributeValue::Type(t) => {
            out.message(14, |out| ty(out, t));
            13
        }
        AttributeValue::Types(list) => {
            list.iter().for_each(|t| out.message(15, |out| ty(out, t)));
            14
        }
        AttributeValue::Reference(to) => {
            out.bytes(21, to.as_bytes());
            0
        }
        AttributeValue::Opaque(bytes) => {
            out.raw_shared(bytes);
            return;
        }
    };
    kept(out, &attribute.extra, 0..20);
    if kind > 0 {
        out.int(20, kind);
    }
    kept(out, &attribute.extra, 20..u32::MAX);
}

fn tensor(out: &mut Pieces, tensor: &Tensor, name: Option<&Name>) {
    for dim in &tensor.dims {
        out.int(1, *dim as i64);
    }
    out.int(2, i64::from(tensor.elem.code()));
    if let Storage::Strings(texts) = &tensor.storage {
        texts.iter().for_each(|text| out.bytes(6, text));
    }
    if let Some(name) = name {
        out.bytes(8, name.as_bytes());
    }
    if let Storage::Raw(bytes) = &tensor.storage {
        out.shared(9, bytes);
    }
    kept(out, &tensor.extra, 0..13);
    if let Storage::External(external) = &tensor.storage {
        entry(out, 13, "location", &external.location);
        if external.offset > 0 {
            entry(out, 13, "offset", &external.offset.to_string());
        }
        if let Some(length) = external.length {
            entry(out, 13, "length", &length.to_string());
        }
        for (key, value) in &external.other {
            entry(out, 13, key, value);
        }
        out.int(14, 1);
    }
    kept(out, &tensor.extra, 13..u32::MAX);
}

fn ty(out: &mut Pieces, value: &ValueType) {
    match value {
        ValueType::Tensor(t) => out.message(1, |out| tensor_type(out, t)),
        ValueType::Sparse(t) => out.message(8, |out| tensor_type(out, t)),
        ValueType::Sequence(inner) => out.message(4, |out| out.message(1, |out| ty(out, inner))),
        ValueType::Optional(inner) => out.message(9, |out| out.message(1, |out| ty(out, inner))),
        ValueType::Map(key, inner) => out.message(5, |out| {
            out.int(1, i64::from(key.code()));
            out.message(2, |out| ty(out, inner));
        }),
        ValueType::Unknown => {}
    }
}

fn tensor_type(out: &mut Pieces, tensor: &TensorType) {
    out.int(1, i64::from(tensor.elem.code()));
    let Some(shape) = &tensor.shape else { return };
    out.message(2, |out| {
        for dim in shape {
            out.message(1, |out| match dim {
                Dim::Known(n) => out.int(1, *n),
                Dim::Symbolic(size) => match size.as_param() {
                    Some(name) => out.bytes(2, name.as_bytes()),
                    None => out.bytes(2, size.to_string().as_bytes()),
                },
                Dim::Unknown => {}
            });
        }
    });
}
