//! Printing.

use std::fmt::{self, Formatter, Write};

use loops::Size;
use loops::size::Factor;

use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, Node, Producer, ValueId};
use crate::model::Model;
use crate::tensor::{Storage, Tensor};
use crate::types::{Dim, ElementType};

/// Whether a name needs no quotes.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text != "_"
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn name(out: &mut impl Write, text: &str) -> fmt::Result {
    if is_plain(text) && !super::lexer::is_keyword(text) {
        out.write_str(text)
    } else {
        quoted(out, text.as_bytes())
    }
}

fn quoted(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    out.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.write_str("\\\"")?,
                '\\' => out.write_str("\\\\")?,
                '\n' => out.write_str("\\n")?,
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        write!(out, "\\x{byte:02x}")?;
                    }
                }
                c => out.write_char(c)?,
            }
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    out.write_char('"')
}

fn hex(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    out.write_str("hex\"")?;
    for byte in bytes {
        write!(out, "{byte:02x}")?;
    }
    out.write_char('"')
}

fn raw(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    if bytes.is_empty() {
        return Ok(());
    }
    out.write_str(" raw ")?;
    hex(out, bytes)
}

/// An extent: a number, a name, an expression in parentheses, or `?`.
pub(crate) fn dim(out: &mut impl Write, dim: &Dim) -> fmt::Result {
    match dim {
        Dim::Known(n) => write!(out, "{n}"),
        Dim::Unknown => out.write_char('?'),
        Dim::Symbolic(s) => match s.as_param() {
            Some(param) => name(out, param),
            None => {
                out.write_char('(')?;
                size(out, s)?;
                out.write_char(')')
            }
        },
    }
}

fn size(out: &mut impl Write, value: &Size) -> fmt::Result {
    let mut any = false;
    for (coefficient, factors) in value.terms() {
        if any {
            out.write_str(" + ")?;
        }
        any = true;
        write!(out, "{coefficient}")?;
        for (factor, exponent) in factors {
            for _ in 0..exponent {
                out.write_str(" * ")?;
                match factor {
                    Factor::Param(param) => name(out, param)?,
                    Factor::Quotient(a, b) => operation(out, a, "/", b)?,
                    Factor::Remainder(a, b) => operation(out, a, "%", b)?,
                    Factor::Sum(a, b) => operation(out, a, "+", b)?,
                    Factor::Product(a, b) => operation(out, a, "*", b)?,
                }
            }
        }
    }
    if any { Ok(()) } else { out.write_char('0') }
}

fn operation(out: &mut impl Write, a: &Size, op: &str, b: &Size) -> fmt::Result {
    out.write_str("((")?;
    size(out, a)?;
    write!(out, ") {op} (")?;
    size(out, b)?;
    out.write_str("))")
}

fn float(out: &mut impl Write, x: f32) -> fmt::Result {
    if x.is_nan() { write!(out, "nan{:08x}", x.to_bits()) } else { write!(out, "{x:?}") }
}

fn list<T>(
    out: &mut impl Write,
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(&mut dyn Write, T) -> fmt::Result,
) -> fmt::Result {
    out.write_char('[')?;
    for (k, x) in items.into_iter().enumerate() {
        if k > 0 {
            out.write_str(", ")?;
        }
        item(&mut *out, x)?;
    }
    out.write_char(']')
}

struct Plain<'a>(&'a mut dyn Write);

impl Write for Plain<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.0.write_str(s)
    }
}

/// Elements of a tensor, with what else there is to say of it: the type is printed before.
fn elements(out: &mut impl Write, tensor: &Tensor) -> fmt::Result {
    match &tensor.storage {
        Storage::Strings(texts) => list(out, texts, |out, text| quoted(&mut Plain(out), text))?,
        Storage::External(external) => {
            out.write_str("external ")?;
            quoted(out, external.location.as_bytes())?;
            write!(out, " {}", external.offset)?;
            match external.length {
                Some(length) => write!(out, " {length}")?,
                None => out.write_str(" ?")?,
            }
            for (key, value) in &external.other {
                out.write_char(' ')?;
                quoted(out, key.as_bytes())?;
                out.write_char(' ')?;
                quoted(out, value.as_bytes())?;
            }
        }
        Storage::Raw(bytes) => {
            let readable = match tensor.elem {
                ElementType::F32 => tensor
                    .to_f32s()
                    .filter(|v| v.iter().all(|x| !x.is_nan()))
                    .map(|v| list(out, v, |out, x| write!(out, "{x:?}"))),
                ElementType::F64 => tensor
                    .to_f64s()
                    .filter(|v| v.iter().all(|x| !x.is_nan()))
                    .map(|v| list(out, v, |out, x| write!(out, "{x:?}"))),
                ElementType::I32 => tensor.to_i32s().map(|v| list(out, v, |out, x| write!(out, "{x}"))),
                ElementType::I64 => tensor.to_i64s().map(|v| list(out, v, |out, x| write!(out, "{x}"))),
                ElementType::Bool if bytes.iter().all(|b| *b < 2) => {
                    Some(list(out, bytes, |out, b| write!(out, "{}", *b != 0)))
                }
                _ => None,
            };
            match readable {
                Some(done) => done?,
                None => hex(out, bytes)?,
            }
        }
    }
    if let Some(own) = &tensor.name {
        out.write_str(" named ")?;
        quoted(out, own.as_bytes())?;
    }
    if !tensor.extra.is_empty() {
        // Not `raw`: that is the attribute's, if the tensor is one.
        out.write_str(" fields ")?;
        hex(out, &tensor.extra)?;
    }
    Ok(())
}

fn tensor(out: &mut impl Write, value: &Tensor) -> fmt::Result {
    write!(out, "tensor {} ", value.ty())?;
    elements(out, value)
}

fn attribute_value(out: &mut impl Write, value: &AttributeValue, indent: usize) -> fmt::Result {
    match value {
        AttributeValue::Float(x) => float(out, *x),
        AttributeValue::Int(n) => write!(out, "{n}"),
        AttributeValue::String(text) => quoted(out, text),
        AttributeValue::Tensor(t) => tensor(out, t),
        AttributeValue::Graph(g) => graph(out, g, indent),
        AttributeValue::Floats(v) if v.is_empty() => out.write_str("floats []"),
        AttributeValue::Floats(v) => list(out, v, |out, x| float(&mut Plain(out), *x)),
        AttributeValue::Ints(v) if v.is_empty() => out.write_str("ints []"),
        AttributeValue::Ints(v) => list(out, v, |out, n| write!(out, "{n}")),
        AttributeValue::Strings(v) if v.is_empty() => out.write_str("strings []"),
        AttributeValue::Strings(v) => list(out, v, |out, text| quoted(&mut Plain(out), text)),
        AttributeValue::Tensors(v) => {
            out.write_str("tensors ")?;
            list(out, v, |out, t| tensor(&mut Plain(out), t))
        }
        AttributeValue::Graphs(v) => {
            out.write_str("graphs ")?;
            list(out, v, |out, g| graph(&mut Plain(out), g, indent))
        }
        AttributeValue::Type(ty) => write!(out, "type {ty}"),
        AttributeValue::Types(types) => {
            out.write_str("types ")?;
            list(out, types, |out, ty| write!(out, "{ty}"))
        }
        AttributeValue::Reference(to) => {
            out.write_str("ref ")?;
            quoted(out, to.as_bytes())
        }
        AttributeValue::Opaque(bytes) => {
            out.write_str("opaque ")?;
            hex(out, bytes)
        }
    }
}

fn attribute(out: &mut impl Write, attribute: &Attribute, indent: usize) -> fmt::Result {
    name(out, &attribute.name)?;
    out.write_str(": ")?;
    attribute_value(out, &attribute.value, indent)?;
    raw(out, &attribute.extra)
}

fn values(out: &mut impl Write, graph: &Graph, list: &[Option<ValueId>]) -> fmt::Result {
    for (k, value) in list.iter().enumerate() {
        if k > 0 {
            out.write_str(", ")?;
        }
        match value {
            Some(value) => name(out, graph.value(*value).name())?,
            None => out.write_char('_')?,
        }
    }
    Ok(())
}

fn node(out: &mut impl Write, graph: &Graph, node: &Node, indent: usize) -> fmt::Result {
    values(out, graph, &node.outputs)?;
    out.write_str(if node.outputs.is_empty() { "= " } else { " = " })?;
    if !node.op.domain.is_empty() {
        quoted(out, node.op.domain.as_bytes())?;
        out.write_char('.')?;
    }
    name(out, &node.op.name)?;
    out.write_char('(')?;
    values(out, graph, &node.inputs)?;
    out.write_char(')')?;
    if !node.attributes.is_empty() {
        out.write_str(" { ")?;
        for (k, a) in node.attributes.iter().enumerate() {
            if k > 0 {
                out.write_str(", ")?;
            }
            attribute(out, a, indent)?;
        }
        out.write_str(" }")?;
    }
    if !node.name.is_empty() {
        out.write_str(" @")?;
        quoted(out, node.name.as_bytes())?;
    }
    raw(out, &node.extra)
}

fn graph(out: &mut impl Write, graph: &Graph, indent: usize) -> fmt::Result {
    out.write_str("graph ")?;
    name(out, &graph.name)?;
    out.write_str(" {")?;
    let line = |out: &mut dyn Write, word: &str| write!(out, "\n{:1$}{word}", "", indent + 2);
    let typed = |out: &mut dyn Write, id: ValueId| -> fmt::Result {
        let value = graph.value(id);
        name(&mut Plain(out), &value.name)?;
        match value.ty.as_ref().filter(|_| value.declared) {
            Some(ty) => write!(out, ": {ty}"),
            None => Ok(()),
        }
    };
    for input in &graph.inputs {
        line(out, "input ")?;
        typed(out, *input)?;
    }
    for (id, tensor) in graph.initializers() {
        line(out, "init ")?;
        name(out, &graph.value(id).name)?;
        write!(out, ": {} = ", tensor.ty())?;
        elements(out, tensor)?;
    }
    for (id, value) in graph.values() {
        if value.producer == Producer::Outer {
            line(out, "outer ")?;
            name(out, &value.name)?;
        }
        let plain = value.producer != Producer::Input && !value.is_output();
        if value.declared && plain {
            line(out, "value ")?;
            typed(out, id)?;
        }
    }
    for (_, n) in graph.nodes() {
        line(out, "")?;
        node(out, graph, n, indent + 2)?;
    }
    for output in &graph.outputs {
        line(out, "output ")?;
        typed(out, *output)?;
    }
    if !graph.extra.is_empty() {
        line(out, "")?;
        raw(out, &graph.extra)?;
    }
    write!(out, "\n{:indent$}}}", "")
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        graph(f, self, 0)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "model ir {}", self.ir_version)?;
        for (domain, version) in &self.opsets {
            f.write_str("opset ")?;
            quoted(f, domain.as_bytes())?;
            writeln!(f, " {version}")?;
        }
        for (key, value) in &self.metadata {
            f.write_str("meta ")?;
            quoted(f, key.as_bytes())?;
            f.write_char(' ')?;
            quoted(f, value.as_bytes())?;
            f.write_char('\n')?;
        }
        if !self.extra.is_empty() {
            f.write_str("raw ")?;
            hex(f, &self.extra)?;
            f.write_char('\n')?;
        }
        writeln!(f, "{}", self.graph)
    }
}
