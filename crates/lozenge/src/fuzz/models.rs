//! Models whose structure is damaged: a valid file is taken apart into messages, and some of their
//! fields become extreme.
//!
//! Ranks, extents, attributes, indices, types, names and missing inputs: what comes out is a file
//! of the format, so that the stages behind the reader meet it. Each stage has to refuse it, or to
//! take it within limits of memory and operations.

use std::collections::BTreeSet;

use graph::evaluate::Datum;
use graph::simplify::FoldOptions;
use graph::{Budget, Dim, ElementType, Model, Tensor};
use loops::{Name, Registers};

use crate::pipeline::graph::{ModelRequest, compile};
use crate::random::Random;

/// What one input may use: it is small, and so are its weights.
const MEMORY: u64 = 64 << 20;
const OPERATIONS: u64 = 1 << 24;

/// What a message is; of others only the bytes are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Type,
    TensorType,
    Shape,
    Extent,
    Opset,
    /// Text or bytes.
    Leaf,
}

impl Kind {
    /// What a field of such a message holds.
    fn inside(self, field: u64) -> Kind {
        match (self, field) {
            (Kind::Model, 7) | (Kind::Attribute, 6 | 11) => Kind::Graph,
            (Kind::Model, 8) => Kind::Opset,
            (Kind::Graph, 1) => Kind::Node,
            (Kind::Graph, 5) | (Kind::Attribute, 5 | 10) => Kind::Tensor,
            (Kind::Graph, 11..=13) => Kind::Value,
            (Kind::Node, 5) => Kind::Attribute,
            (Kind::Value, 2) => Kind::Type,
            (Kind::Type, 1) => Kind::TensorType,
            (Kind::TensorType, 2) => Kind::Shape,
            (Kind::Shape, 1) => Kind::Extent,
            _ => Kind::Leaf,
        }
    }
}

/// A field of a message.
#[derive(Clone, Debug)]
struct Field {
    number: u64,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Number(u64),
    /// Four or eight bytes.
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
    Message(Kind, Vec<Field>),
}

/// A file with some damage; the file itself if it is not of the format.
pub fn damaged(file: &[u8], random: &mut Random) -> Vec<u8> {
    let Some(mut fields) = parse(file, Kind::Model) else { return file.to_vec() };
    for _ in 0..=random.below(3) {
        let all = count(&fields);
        if all == 0 {
            break;
        }
        let mut at = random.below(all as u64) as usize;
        damage(&mut fields, Kind::Model, &mut at, random);
    }
    let mut out = Vec::new();
    write(&fields, &mut out);
    out
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 127).checked_shl(shift).unwrap_or(0);
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

fn parse(bytes: &[u8], kind: Kind) -> Option<Vec<Field>> {
    let (mut at, mut fields) = (0, Vec::new());
    while at < bytes.len() {
        let tag = varint(bytes, &mut at)?;
        let mut take = |length: usize| {
            let part = bytes.get(at..at.checked_add(length)?)?;
            at += length;
            Some(part)
        };
        let content = match tag & 7 {
            0 => Content::Number(varint(bytes, &mut at)?),
            1 => Content::Fixed(take(8)?.to_vec()),
            5 => Content::Fixed(take(4)?.to_vec()),
            2 => {
                let length = usize::try_from(varint(bytes, &mut at)?).ok()?;
                let part = bytes.get(at..at.checked_add(length)?)?;
                at += length;
                match kind.inside(tag >> 3) {
                    Kind::Leaf => Content::Bytes(part.to_vec()),
                    inside => Content::Message(inside, parse(part, inside)?),
                }
            }
            _ => return None,
        };
        fields.push(Field { number: tag >> 3, content });
    }
    Some(fields)
}

fn put(mut value: u64, out: &mut Vec<u8>) {
    while value > 127 {
        out.push(value as u8 & 127 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write(fields: &[Field], out: &mut Vec<u8>) {
    for field in fields {
        let (wire, bytes) = match &field.content {
            Content::Number(value) => {
                put(field.number << 3, out);
                put(*value, out);
                continue;
            }
            Content::Fixed(bytes) => {
                put(field.number << 3 | if bytes.len() == 8 { 1 } else { 5 }, out);
                out.extend_from_slice(bytes);
                continue;
            }
            Content::Bytes(bytes) => (2, bytes.clone()),
            Content::Message(_, inside) => {
                let mut bytes = Vec::new();
                write(inside, &mut bytes);
                (2, bytes)
            }
        };
        put(field.number << 3 | wire, out);
        put(bytes.len() as u64, out);
        out.extend_from_slice(&bytes);
    }
}

fn count(fields: &[Field]) -> usize {
    fields
        .iter()
        .map(|field| match &field.content {
            Content::Message(_, inside) => 1 + count(inside),
            _ => 1,
        })
        .sum()
}

/// Damages field `at`, counted through the messages; says whether that is done.
fn damage(fields: &mut Vec<Field>, kind: Kind, at: &mut usize, random: &mut Random) -> bool {
    for k in 0..fields.len() {
        if *at == 0 {
            one(fields, kind, k, random);
            return true;
        }
        *at -= 1;
        if let Content::Message(inside, list) = &mut fields[k].content
            && damage(list, *inside, at, random)
        {
            return true;
        }
    }
    false
}

/// Numbers at and beyond the ends of what anyone expects.
const EXTREMES: [i64; 20] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    64,
    65,
    1000,
    65_536,
    1 << 20,
    i32::MAX as i64,
    1 << 31,
    1 << 40,
    1 << 47,
    1 << 62,
    i64::MAX,
    i64::MIN,
    -(1 << 40),
];

fn extreme(random: &mut Random) -> i64 {
    EXTREMES[random.below(EXTREMES.len() as u64) as usize]
}

fn one(fields: &mut Vec<Field>, kind: Kind, k: usize, random: &mut Random) {
    // Lists lose and gain elements, and exchange them.
    match random.below(6) {
        0 => {
            fields.remove(k);
            return;
        }
        1 => {
            let copies = [1, 1, 2, 70][random.below(4) as usize];
            let copy = fields[k].clone();
            (0..copies).for_each(|_| fields.insert(k, copy.clone()));
            return;
        }
        2 => {
            let other = random.below(fields.len() as u64) as usize;
            if fields[k].number == fields[other].number {
                fields.swap(k, other);
            } else if let (Content::Bytes(_), Content::Bytes(bytes)) =
                (&fields[k].content, &fields[other].content)
            {
                // A name in place of another: an input becomes a result, or none.
                let bytes = bytes.clone();
                fields[k].content = Content::Bytes(bytes);
            }
            return;
        }
        _ => {}
    }
    let number = fields[k].number;
    match &mut fields[k].content {
        Content::Number(value) => *value = extreme(random) as u64,
        Content::Fixed(bytes) => {
            let floats = [f32::NAN, f32::INFINITY, -1.0, 0.0, -0.0, 1e30, 1e-30, f32::MAX];
            let float = floats[random.below(floats.len() as u64) as usize];
            *bytes = if bytes.len() == 4 {
                float.to_le_bytes().to_vec()
            } else {
                f64::from(float).to_le_bytes().to_vec()
            };
        }
        // The elements of a tensor, or the numbers of a list: as many as before.
        Content::Bytes(bytes) if (kind, number) == (Kind::Tensor, 9) => {
            for word in bytes.chunks_exact_mut(8) {
                if random.below(2) == 0 {
                    word.copy_from_slice(&extreme(random).to_le_bytes());
                }
            }
        }
        Content::Bytes(bytes) if matches!((kind, number), (Kind::Attribute, 8) | (Kind::Tensor, 1)) => {
            let length = random.below(8);
            bytes.clear();
            (0..length).for_each(|_| put(extreme(random) as u64, bytes));
        }
        Content::Bytes(bytes) => {
            if !bytes.is_empty() && random.below(2) == 0 {
                bytes.clear();
            } else {
                bytes.push(b'x');
            }
        }
        Content::Message(_, inside) => inside.clear(),
    }
}

/// Lets a model go through all stages; what each of them says of it is no matter.
pub fn examine(model: &Model, random: &mut Random) {
    if !graph::validate(model).is_empty() || graph::opsets::check(model).is_err() {
        return;
    }
    let mut typed = model.clone();
    let sizes = open(&typed).into_iter().map(|name| (name, 1 + random.below(3) as i64)).collect();
    if graph::plan::bind(&mut typed, &sizes).is_err() {
        return;
    }
    let mut prepared = typed.clone();
    let options = FoldOptions { returned: true, ..FoldOptions::default() }.within(MEMORY);
    if graph::control::settle(&mut prepared, &options).is_ok() {
        let registers = Some(Registers { count: 16, bytes: 32 });
        let request = ModelRequest { registers, ..ModelRequest::default() };
        let _ = compile(&prepared, &request);
    }
    let inputs = typed.graph.inputs().iter().filter_map(|id| {
        let value = typed.graph.value(*id);
        let ty = value.tensor_type()?;
        let tensor = drawn(ty.elem, ty.known_shape()?, random)?;
        Some((value.name().clone(), Datum::from(tensor)))
    });
    let inputs = inputs.collect();
    let _ =
        graph::evaluate::evaluate_within(&typed, inputs, Budget { memory: MEMORY, operations: OPERATIONS });
}

/// The names of extents that need a number.
fn open(model: &Model) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    for id in model.graph.inputs() {
        let value = model.graph.value(*id);
        let shape = value.tensor_type().and_then(|ty| ty.shape.as_ref());
        for (axis, dim) in shape.into_iter().flatten().enumerate() {
            match dim {
                Dim::Known(_) => {}
                Dim::Symbolic(size) => names.extend(size.params()),
                Dim::Unknown => names.extend([graph::plan::extent_name(value.name(), axis)]),
            }
        }
    }
    names
}

/// A small tensor.
fn drawn(elem: ElementType, dims: Vec<usize>, random: &mut Random) -> Option<Tensor> {
    let count = graph::tensor::elements(&dims).filter(|n| *n <= 1 << 16)?;
    let bytes = (0..elem.raw_len(count)?).map(|_| random.below(3) as u8).collect::<Vec<u8>>();
    match elem {
        ElementType::F32 => Some(Tensor::from_f32s(dims, &vec![0.5; count])),
        _ => Tensor::raw(elem, dims, bytes.into()),
    }
}
