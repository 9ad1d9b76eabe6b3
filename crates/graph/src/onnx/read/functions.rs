//! Functions of a model: field 25 of the file. The model keeps it as bytes until it is needed.

use bytes::Bytes;
use loops::{Diagnostic, Name};

use super::{Error, Reader, Result_, Span, named, standard, twice};
use crate::functions::Function;
use crate::graph::{Graph, Node, Producer};
use crate::model::Model;
use crate::onnx::Role;
use crate::onnx::wire::{Field, Fields, Kept, Payload};

/// The field of a model that holds a function.
const FUNCTION: u32 = 25;
/// The field of a model that holds training information, whose graphs may call functions.
const TRAINING: u32 = 20;
/// The field of a node that selects one of several functions with the same name.
const OVERLOAD: u32 = 8;

/// The functions that the model carries, in the order of the file.
///
/// # Errors
/// As [`super::read`].
pub fn functions(model: &Model) -> Result<Vec<Function>, Diagnostic> {
    let mut reader = Reader::new(&model.extra);
    reader.functions().map_err(|error: Error| named(error, model.extra.len()))
}

/// The model without its functions: nobody calls them any more.
pub(crate) fn forget_functions(model: &mut Model) {
    let file = model.extra.clone();
    let mut kept = Kept::default();
    let mut fields = Fields::new(&file, 0, file.len());
    while let Ok(Some(field)) = fields.next() {
        match field.number {
            TRAINING => return,
            FUNCTION => {}
            _ => kept.keep(field),
        }
    }
    model.extra = kept.bytes(&file);
}

/// Which of several functions of one name a node means.
pub(crate) fn overload(node: &Node) -> Option<&str> {
    let mut fields = Fields::new(&node.extra, 0, node.extra.len());
    while let Ok(Some(field)) = fields.next() {
        if let (OVERLOAD, Payload::Bytes(start, end)) = (field.number, field.payload) {
            return std::str::from_utf8(&node.extra[start..end]).ok().filter(|text| !text.is_empty());
        }
    }
    None
}

impl Reader<'_> {
    fn functions(&mut self) -> Result_<Vec<Function>> {
        let mut found = Vec::new();
        let mut fields = self.fields((0, self.file.len()));
        while let Some(field) = fields.next()? {
            if field.number == FUNCTION {
                self.part()?;
                found.push(self.function(self.span(field)?)?);
            }
        }
        Ok(found)
    }

    fn function(&mut self, span: Span) -> Result_<Function> {
        let mut function = Function {
            domain: Name::new(""),
            name: Name::new(""),
            overload: Name::new(""),
            inputs: Vec::new(),
            outputs: Vec::new(),
            attributes: Vec::new(),
            defaults: Vec::new(),
            opsets: Vec::new(),
            body: Graph::new(""),
        };
        let (mut inputs, mut outputs): (Vec<Field>, Vec<Field>) = (Vec::new(), Vec::new());
        let (mut nodes, mut infos) = (Vec::new(), Vec::new());
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => function.name = self.interned(field)?,
                4 => {
                    self.part()?;
                    inputs.push(field);
                }
                5 => {
                    self.part()?;
                    outputs.push(field);
                }
                6 => {
                    self.part()?;
                    function.attributes.push(self.interned(field)?);
                }
                7 => nodes.push(self.span(field)?),
                9 => function.opsets.push(self.opset(field)?),
                10 => function.domain = standard(self.interned(field)?),
                11 => function.defaults.push(self.attribute(self.span(field)?, 0)?),
                12 => infos.push(self.span(field)?),
                13 => function.overload = self.interned(field)?,
                _ => {}
            }
        }
        let body = &mut function.body;
        body.name = function.name.clone();
        body.reserve(nodes.len(), nodes.len() + inputs.len());
        for field in inputs {
            let name = self.str(field)?;
            let id = self.value(body, name);
            if body.value(id).producer() != Producer::Nothing {
                return Err(twice(name, "the function's inputs").into());
            }
            body.make_input(id);
            function.inputs.push(id);
        }
        for field in outputs {
            let id = self.value(body, self.str(field)?);
            body.add_output(id);
            function.outputs.push(id);
        }
        for span in infos {
            self.value_info(body, Role::Info, span)?;
        }
        for span in nodes {
            self.node(body, span, 0)?;
        }
        Ok(function)
    }
}

/// Whether there is a function at all: most models have none.
pub(crate) fn has_functions(extra: &Bytes) -> bool {
    let mut fields = Fields::new(extra, 0, extra.len());
    while let Ok(Some(field)) = fields.next() {
        if field.number == FUNCTION {
            return true;
        }
    }
    false
}
