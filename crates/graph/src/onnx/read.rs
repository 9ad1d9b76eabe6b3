//! Reading: models, graphs, nodes and attributes.

pub(crate) mod functions;
mod values;

use std::sync::Arc;

use bytes::Bytes;
use loops::{Diagnostic, Name};

use super::wire::{Field, Fields, Kept, Malformed, Payload, malformed};
use super::{Header, MAX_DEPTH, Origin, Role, bad};
use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, NewNode, Operator, Place, Producer, ValueId};
use crate::hash_tables::Map;
use crate::model::Model;
use crate::tensor::Tensor;
use crate::types::{ElementType, ValueType};

/// Reads a model. The bytes are shared with it, not copied.
///
/// # Errors
/// `G0101` if the bytes are not of the format, `G0102` if a name is defined twice, `G0103` if a
/// tensor's data do not fit its type, `G0104` if graphs or types are nested too deep. Other
/// mistakes are left to [`crate::validate`].
pub fn read(file: &Bytes) -> Result<Model, Diagnostic> {
    let mut reader = Reader::new(file);
    reader.model().map_err(|error| named(error, file.len()))
}

fn named(error: Error, length: usize) -> Diagnostic {
    match error {
        Error::Wire(Malformed { what, at }) => bad("G0101", format!("not an ONNX model: {what}"))
            .note(format!("at byte {at} of {length}"))
            .help("the file may be incomplete, or of another format"),
        Error::Named(diagnostic) => *diagnostic,
    }
}

enum Error {
    Wire(Malformed),
    Named(Box<Diagnostic>),
}

impl From<Malformed> for Error {
    fn from(m: Malformed) -> Error {
        Error::Wire(m)
    }
}

impl From<Diagnostic> for Error {
    fn from(d: Diagnostic) -> Error {
        Error::Named(Box::new(d))
    }
}

type Result_<T> = Result<T, Error>;

/// The limit on nodes, values and attributes of a model: a constant, and one more for each so many
/// bytes of the file. A byte of a file must not become hundreds of bytes in memory.
const PARTS: usize = 1 << 19;
const BYTES_OF_A_PART: usize = 12;

struct Reader<'a> {
    file: &'a Bytes,
    /// Nodes, values and attributes that may still come.
    parts: usize,
    /// Operators, domains and names of attributes, each once.
    names: Map<&'a [u8], Name>,
}

/// A nested message: where it begins and ends.
type Span = (usize, usize);

impl<'a> Reader<'a> {
    fn new(file: &'a Bytes) -> Reader<'a> {
        Reader { file, names: Map::default(), parts: PARTS + file.len() / BYTES_OF_A_PART }
    }

    fn fields(&self, (start, end): Span) -> Fields<'a> {
        Fields::new(self.file, start, end)
    }

    fn span(&self, field: Field) -> Result_<Span> {
        match field.payload {
            Payload::Bytes(start, end) => Ok((start, end)),
            _ => Ok(malformed(format!("field {} should hold bytes", field.number), field.start)?),
        }
    }

    fn int(&self, field: Field) -> Result_<i64> {
        match field.payload {
            Payload::Varint(value) => Ok(value as i64),
            _ => Ok(malformed(format!("field {} should be a number", field.number), field.start)?),
        }
    }

    /// Counts a node, a value or an attribute.
    fn part(&mut self) -> Result_<()> {
        match self.parts.checked_sub(1) {
            Some(left) => self.parts = left,
            None => {
                let most = PARTS + self.file.len() / BYTES_OF_A_PART;
                return Err(bad(
                    "G0107",
                    format!("the model has more than {most} nodes, values and attributes"),
                )
                .note(format!("this is the limit for a file of {} bytes", self.file.len()))
                .into());
            }
        }
        Ok(())
    }

    fn slice(&self, field: Field) -> Result_<&'a [u8]> {
        let (start, end) = self.span(field)?;
        Ok(&self.file[start..end])
    }

    fn shared(&self, field: Field) -> Result_<Bytes> {
        let (start, end) = self.span(field)?;
        Ok(self.file.slice(start..end))
    }

    fn str(&self, field: Field) -> Result_<&'a str> {
        match std::str::from_utf8(self.slice(field)?) {
            Ok(text) => Ok(text),
            Err(_) => Ok(malformed("a name is not UTF-8", field.start)?),
        }
    }

    /// A name that comes often.
    fn interned(&mut self, field: Field) -> Result_<Name> {
        let bytes = self.slice(field)?;
        if let Some(known) = self.names.get(bytes) {
            return Ok(known.clone());
        }
        let name = Name::new(self.str(field)?);
        self.names.insert(bytes, name.clone());
        Ok(name)
    }

    fn model(&mut self) -> Result_<Model> {
        let file = self.file;
        let mut header =
            Header { ir_version: 0, opsets: Vec::new(), metadata: Vec::new(), extra: Bytes::new() };
        let mut kept = Kept::default();
        let mut graph = None;
        let mut fields = self.fields((0, file.len()));
        while let Some(field) = fields.next()? {
            match field.number {
                1 => header.ir_version = self.int(field)?,
                7 if graph.is_none() => graph = Some(field),
                7 => malformed("a second graph", field.start)?,
                8 => {
                    self.part()?;
                    header.opsets.push(self.opset(field)?);
                }
                14 => {
                    self.part()?;
                    header.metadata.push(self.entry(field)?);
                }
                _ => kept.keep(field),
            }
        }
        let Some(field) = graph else { return Ok(malformed("it has no graph", file.len())?) };
        header.extra = kept.bytes(file);
        let graph = self.graph(self.span(field)?, 0)?;
        let Header { ir_version, opsets, metadata, extra } = header.clone();
        let origin = Origin { header, file: file.clone(), graph: (field.start, field.end) };
        Ok(Model { ir_version, opsets, metadata, graph, extra, origin: Some(Box::new(origin)) })
    }

    fn opset(&mut self, field: Field) -> Result_<(Name, i64)> {
        let mut fields = self.fields(self.span(field)?);
        let (mut domain, mut version) = (Name::new(""), 0);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => domain = standard(self.interned(field)?),
                2 => version = self.int(field)?,
                _ => {}
            }
        }
        Ok((domain, version))
    }

    fn entry(&self, field: Field) -> Result_<(String, String)> {
        let mut fields = self.fields(self.span(field)?);
        let (mut key, mut value) = (String::new(), String::new());
        while let Some(field) = fields.next()? {
            match field.number {
                1 => self.str(field)?.clone_into(&mut key),
                2 => self.str(field)?.clone_into(&mut value),
                _ => {}
            }
        }
        Ok((key, value))
    }

    fn graph(&mut self, span: Span, depth: u32) -> Result_<Graph> {
        if depth > MAX_DEPTH {
            return Err(too_deep("graphs").into());
        }
        let mut graph = Graph::new("");
        let mut kept = Kept::default();
        let (mut nodes, mut initializers, mut infos) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => {
                    nodes.push(self.span(field)?);
                    if nodes.len() > self.parts {
                        self.parts = 0;
                        self.part()?;
                    }
                }
                2 => graph.name = self.str(field)?.into(),
                5 => initializers.push(self.span(field)?),
                11 => infos.push((Role::Input, self.span(field)?)),
                12 => infos.push((Role::Output, self.span(field)?)),
                13 => infos.push((Role::Info, self.span(field)?)),
                15 => {
                    self.sparse_initializer(&mut graph, field)?;
                    kept.keep(field);
                }
                _ => kept.keep(field),
            }
        }
        graph.extra = kept.bytes(self.file);
        graph.reserve(nodes.len(), nodes.len() + initializers.len() + infos.len());
        for (role, span) in infos {
            self.value_info(&mut graph, role, span)?;
        }
        for span in initializers {
            self.initializer(&mut graph, span)?;
        }
        for span in nodes {
            self.node(&mut graph, span, depth)?;
        }
        if depth > 0 {
            graph.close_over();
        }
        graph.origin = Some((self.file.slice(span.0..span.1), graph.name.clone()));
        Ok(graph)
    }

    fn value(&self, graph: &mut Graph, name: &str) -> ValueId {
        match graph.find(name) {
            Some(id) => id,
            None => graph.try_add_value(name).unwrap_or_else(|known| known),
        }
    }

    fn value_info(&mut self, graph: &mut Graph, role: Role, span: Span) -> Result_<()> {
        self.part()?;
        let (mut name, mut ty) = ("", None);
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => name = self.str(field)?,
                2 => ty = Some(self.ty(self.span(field)?, 0)?),
                _ => {}
            }
        }
        if name.is_empty() {
            return Ok(malformed("a value has no name", span.0)?);
        }
        let id = self.value(graph, name);
        if role == Role::Input && graph.value(id).producer() != Producer::Nothing {
            return Err(twice(name, "the graph's inputs").into());
        }
        let record = self.file.slice(span.0..span.1);
        let value = graph.value_entry(id);
        if let Some(ty) = ty {
            // An input that is an output too may be declared twice; as an output often by half.
            let before = value.ty.take().filter(|_| value.declared && role != Role::Input);
            value.ty = Some(match before {
                Some(before) => crate::infer::better(before, ty),
                None => ty,
            });
            value.declared = true;
        }
        value.records.push((role, record));
        match role {
            Role::Input => graph.make_input(id),
            Role::Output => graph.add_output(id),
            Role::Info => graph.infos.push(id),
        }
        Ok(())
    }

    fn initializer(&mut self, graph: &mut Graph, span: Span) -> Result_<()> {
        self.part()?;
        let tensor = self.tensor(span)?;
        let name = tensor.name.clone().unwrap_or_else(|| "".into());
        if name.is_empty() {
            return Ok(malformed("an initializer has no name", span.0)?);
        }
        let id = self.value(graph, &name);
        let value = graph.value(id);
        if value.initializer().is_some() || !matches!(value.producer(), Producer::Nothing | Producer::Input) {
            return Err(twice(&name, "the initializers").into());
        }
        graph.set_initializer(id, Tensor { name: None, ..tensor });
        if let Some(constant) = &mut graph.value_entry(id).constant {
            constant.origin = Some(self.file.slice(span.0..span.1));
        }
        Ok(())
    }

    /// A sparse initializer is kept as it is. Its name is known, so that its users have a producer.
    fn sparse_initializer(&mut self, graph: &mut Graph, field: Field) -> Result_<()> {
        let mut fields = self.fields(self.span(field)?);
        while let Some(part) = fields.next()? {
            if part.number != 1 {
                continue;
            }
            let mut values = self.fields(self.span(part)?);
            while let Some(inner) = values.next()? {
                if inner.number == 8 {
                    self.part()?;
                    let id = self.value(graph, self.str(inner)?);
                    let value = graph.value_entry(id);
                    value.producer = Producer::Initializer;
                    value.ty = Some(ValueType::Unknown);
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, graph: &mut Graph, span: Span, depth: u32) -> Result_<()> {
        self.part()?;
        let mut op = Operator::standard("");
        let mut new = NewNode::new(op.clone(), [None::<ValueId>; 0], [None::<ValueId>; 0]);
        let mut kept = Kept::default();
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => {
                    let name = self.str(field)?;
                    if graph.find(name).is_none() {
                        self.part()?;
                    }
                    new.inputs.push((!name.is_empty()).then(|| self.value(graph, name)));
                }
                2 => {
                    let name = self.str(field)?;
                    self.part()?;
                    let output = (!name.is_empty()).then(|| self.value(graph, name));
                    if let Some(id) = output {
                        let twice_here = new.outputs.len() < 64 && new.outputs.contains(&output);
                        if graph.value(id).producer() != Producer::Nothing || twice_here {
                            return Err(twice(name, "the results of nodes").into());
                        }
                    }
                    new.outputs.push(output);
                }
                3 => new.name = self.str(field)?.into(),
                4 => op.name = self.interned(field)?,
                5 => new.attributes.push(self.attribute(self.span(field)?, depth)?),
                7 => op.domain = standard(self.interned(field)?),
                _ => kept.keep(field),
            }
        }
        if op.name.is_empty() {
            return Ok(malformed("a node has no operator", span.0)?);
        }
        if new.outputs.len() >= 64 {
            let mut seen = crate::hash_tables::Set::default();
            if let Some(id) = new.outputs.iter().flatten().find(|id| !seen.insert(**id)) {
                return Err(twice(graph.value(*id).name(), "the results of nodes").into());
            }
        }
        new.op = op;
        new.extra = kept.bytes(self.file);
        let id = graph.insert(new, Place::Last);
        graph.node_entry(id).origin = Some(self.file.slice(span.0..span.1));
        Ok(())
    }

    fn attribute(&mut self, span: Span, depth: u32) -> Result_<Attribute> {
        self.part()?;
        let mut name = Name::new("");
        let mut kind = 0;
        let mut kept = Kept::default();
        let mut reference = None;
        let mut found = Found::default();
        let mut seen = 0;
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => name = self.interned(field)?,
                20 => kind = self.int(field)?,
                21 => reference = Some(self.interned(field)?),
                _ => match self.attribute_value(field, depth, &mut found)? {
                    Some(guess) if seen == 0 => seen = guess,
                    Some(_) => {}
                    None => kept.keep(field),
                },
            }
        }
        // Files of early versions do not contain the kind. The field that is present determines it.
        if kind == 0 {
            kind = seen;
        }
        let value = match reference {
            Some(name) => Some(AttributeValue::Reference(name)),
            None => found.value(kind),
        };
        if let Some(value) = value {
            return Ok(Attribute { name, value, extra: kept.bytes(self.file) });
        }
        // Everything but the name, as it was.
        let mut all = Kept::default();
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            if field.number != 1 {
                all.keep(field);
            }
        }
        let value = AttributeValue::Opaque(all.bytes(self.file));
        Ok(Attribute { name, value, extra: Bytes::new() })
    }

    /// Reads a field that holds a value of an attribute; the kind that the field is for, or none if
    /// it holds no value.
    fn attribute_value(&mut self, field: Field, depth: u32, found: &mut Found) -> Result_<Option<i64>> {
        Ok(Some(match field.number {
            2 => {
                let Payload::Fixed32(bits) = field.payload else {
                    return Ok(malformed("a number is not a float", field.start)?);
                };
                found.float = f32::from_bits(bits);
                1
            }
            3 => {
                found.int = self.int(field)?;
                2
            }
            4 => {
                found.string = self.shared(field)?;
                3
            }
            5 => {
                found.tensor = Some(Arc::new(self.tensor(self.span(field)?)?));
                4
            }
            6 => {
                found.graph = Some(Arc::new(self.graph(self.span(field)?, depth + 1)?));
                5
            }
            7 => {
                self.floats(field, &mut found.floats)?;
                6
            }
            8 => {
                match field.payload {
                    Payload::Bytes(start, end) => {
                        let push = &mut |value| found.ints.push(value as i64);
                        Fields::varints(self.file, start, end, push)?;
                    }
                    _ => found.ints.push(self.int(field)?),
                }
                7
            }
            9 => {
                self.part()?;
                found.strings.push(self.shared(field)?);
                8
            }
            10 => {
                self.part()?;
                found.tensors.push(Arc::new(self.tensor(self.span(field)?)?));
                9
            }
            11 => {
                found.graphs.push(Arc::new(self.graph(self.span(field)?, depth + 1)?));
                10
            }
            14 => {
                found.ty = Some(self.ty(self.span(field)?, 0)?);
                13
            }
            15 => {
                self.part()?;
                found.types.push(self.ty(self.span(field)?, 0)?);
                14
            }
            _ => return Ok(None),
        }))
    }

    /// One float, or a packed list of them.
    fn floats(&self, field: Field, floats: &mut Vec<f32>) -> Result_<()> {
        match field.payload {
            Payload::Fixed32(bits) => floats.push(f32::from_bits(bits)),
            _ => {
                let bytes = self.slice(field)?;
                if bytes.len() % 4 != 0 {
                    malformed("a list of floats ends inside one", field.start)?;
                }
                let each = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                floats.extend(each);
            }
        }
        Ok(())
    }
}

/// The values that the fields of an attribute hold; the attribute's kind says which of them counts.
#[derive(Default)]
struct Found {
    float: f32,
    int: i64,
    string: Bytes,
    tensor: Option<Arc<Tensor>>,
    graph: Option<Arc<Graph>>,
    floats: Vec<f32>,
    ints: Vec<i64>,
    strings: Vec<Bytes>,
    tensors: Vec<Arc<Tensor>>,
    graphs: Vec<Arc<Graph>>,
    ty: Option<ValueType>,
    types: Vec<ValueType>,
}

impl Found {
    /// The value of this kind; none if the kind is not known or its value is missing.
    fn value(self, kind: i64) -> Option<AttributeValue> {
        Some(match kind {
            1 => AttributeValue::Float(self.float),
            2 => AttributeValue::Int(self.int),
            3 => AttributeValue::String(self.string),
            4 => AttributeValue::Tensor(self.tensor?),
            5 => AttributeValue::Graph(self.graph?),
            6 => AttributeValue::Floats(self.floats),
            7 => AttributeValue::Ints(self.ints),
            8 => AttributeValue::Strings(self.strings),
            9 => AttributeValue::Tensors(self.tensors),
            10 => AttributeValue::Graphs(self.graphs),
            13 => AttributeValue::Type(self.ty.unwrap_or(ValueType::Unknown)),
            14 => AttributeValue::Types(self.types),
            _ => return None,
        })
    }
}

/// `ai.onnx` is another name of the standard domain.
fn standard(domain: Name) -> Name {
    if &*domain == "ai.onnx" { "".into() } else { domain }
}

fn element(code: i64) -> ElementType {
    ElementType::from_code(i32::try_from(code).unwrap_or(i32::MAX))
}

fn twice(name: &str, list: &str) -> Diagnostic {
    bad("G0102", format!("`{name}` is defined twice, the second time among {list}"))
        .note("each value has one definition: an input, an initializer, or a result of one node")
        .help("export the model again, or rename one of the two")
}

fn too_deep(what: &str) -> Diagnostic {
    bad("G0104", format!("{what} are nested more than {MAX_DEPTH} deep"))
}
