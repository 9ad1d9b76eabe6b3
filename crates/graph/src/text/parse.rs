//! Reading the textual form. Nesting is bounded; every error has its place.

use std::sync::Arc;

use bytes::Bytes;
use loops::{Diagnostic, Name, Size, Span};

use super::lexer::{Token, error, tokens};
use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, NewNode, Operator, Place, Producer, ValueId};
use crate::model::Model;
use crate::tensor::{External, Storage, Tensor};
use crate::types::{Dim, ElementType, TensorType, ValueType};

/// Graphs, types and expressions nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// Reads the textual form of a model.
///
/// # Errors
/// `G0001` with the place of the first mistake.
pub fn parse_model(text: &str) -> Result<Model, Diagnostic> {
    let mut p = Parser::new(text)?;
    p.word("model")?;
    p.word("ir")?;
    let ir_version = p.integer()?;
    let mut model = Model::new(Graph::new(""), 1);
    model.ir_version = ir_version;
    model.opsets.clear();
    loop {
        match p.name()?.as_str() {
            "opset" => {
                let domain = p.name()?;
                let version = p.integer()?;
                model.opsets.push((domain, version));
            }
            "meta" => {
                let key = p.name()?;
                let value = p.name()?;
                model.metadata.push((key.as_str().to_owned(), value.as_str().to_owned()));
            }
            "raw" => model.extra = p.hex()?,
            "graph" => {
                model.graph = p.graph(0)?;
                p.end()?;
                return Ok(model);
            }
            _ => return Err(p.expected("`opset`, `meta`, `raw` or `graph`", p.at - 1)),
        }
    }
}

/// Reads the textual form of a graph.
///
/// # Errors
/// `G0001` with the place of the first mistake.
pub fn parse_graph(text: &str) -> Result<Graph, Diagnostic> {
    let mut p = Parser::new(text)?;
    p.word("graph")?;
    let graph = p.graph(0)?;
    p.end()?;
    Ok(graph)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
}

type Parsed<T> = Result<T, Diagnostic>;

impl Parser {
    fn new(text: &str) -> Parsed<Parser> {
        Ok(Parser { tokens: tokens(text)?, at: 0 })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn peek_after(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn span(&self, at: usize) -> Span {
        self.tokens[at.min(self.tokens.len() - 1)].1
    }

    fn expected(&self, what: &str, at: usize) -> Diagnostic {
        let found = self.tokens[at.min(self.tokens.len() - 1)].0.describe();
        error(self.span(at), format!("expected {what}, found {found}"), format!("expected {what}"))
    }

    fn sign(&mut self, c: char) -> Parsed<()> {
        if self.eat(c) { Ok(()) } else { Err(self.expected(&format!("`{c}`"), self.at)) }
    }

    fn eat(&mut self, c: char) -> bool {
        let found = *self.peek() == Token::Sign(c);
        self.at += usize::from(found);
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"), self.at)) }
    }

    fn end(&mut self) -> Parsed<()> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.expected("the end", self.at)) }
    }

    fn name(&mut self) -> Parsed<Name> {
        let at = self.at;
        match self.take() {
            Token::Word(word) => Ok(word.into()),
            Token::Text(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(text.into()),
                Err(_) => Err(error(self.span(at), "a name is not UTF-8", "this name")),
            },
            _ => Err(self.expected("a name", at)),
        }
    }

    fn text(&mut self) -> Parsed<Bytes> {
        let at = self.at;
        match self.take() {
            Token::Text(bytes) => Ok(bytes.into()),
            _ => Err(self.expected("a text in quotes", at)),
        }
    }

    fn hex(&mut self) -> Parsed<Bytes> {
        let at = self.at;
        match self.take() {
            Token::Hex(bytes) => Ok(bytes.into()),
            _ => Err(self.expected("bytes (`hex\"…\"`)", at)),
        }
    }

    fn raw(&mut self) -> Parsed<Bytes> {
        if self.eat_word("raw") { self.hex() } else { Ok(Bytes::new()) }
    }

    fn integer(&mut self) -> Parsed<i64> {
        let at = self.at;
        match self.take() {
            Token::Int(digits) => {
                digits.parse().map_err(|_| error(self.span(at), "a number beyond 64 bits", "this number"))
            }
            _ => Err(self.expected("an integer", at)),
        }
    }

    fn float(&mut self) -> Parsed<f32> {
        let at = self.at;
        let found = match self.take() {
            Token::Float(digits) => digits.parse().ok(),
            Token::Word(word) => word
                .strip_prefix("nan")
                .and_then(|bits| u32::from_str_radix(bits, 16).ok())
                .map(f32::from_bits),
            _ => None,
        };
        found.ok_or_else(|| self.expected("a number with a point", at))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.sign('[')?;
        let mut items = Vec::new();
        while !self.eat(']') {
            items.push(item(self)?);
            if !self.eat(',') {
                self.sign(']')?;
                break;
            }
        }
        Ok(items)
    }

    fn deeper(&self, depth: u32) -> Parsed<u32> {
        if depth < MAX_DEPTH {
            return Ok(depth + 1);
        }
        Err(error(self.span(self.at), format!("nested deeper than {MAX_DEPTH}"), "here"))
    }

    fn element(&mut self) -> Parsed<ElementType> {
        let at = self.at;
        let word = self.name()?;
        ElementType::from_word(&word).ok_or_else(|| self.expected("an element type such as `f32`", at))
    }

    fn tensor_type(&mut self) -> Parsed<TensorType> {
        let elem = self.element()?;
        if *self.peek() == Token::Sign('[') && *self.peek_after() == Token::Dots {
            self.at += 2;
            self.sign(']')?;
            return Ok(TensorType { elem, shape: None });
        }
        Ok(TensorType { elem, shape: Some(self.list(Parser::dim)?) })
    }

    fn dim(&mut self) -> Parsed<Dim> {
        match self.peek() {
            Token::Sign('?') => {
                self.at += 1;
                Ok(Dim::Unknown)
            }
            Token::Int(_) => Ok(Dim::Known(self.integer()?)),
            Token::Sign('(') => {
                let size = self.size(0)?;
                Ok(size.into())
            }
            _ => Ok(Dim::symbol(self.name()?)),
        }
    }

    /// A sum of products of atoms.
    fn size(&mut self, depth: u32) -> Parsed<Size> {
        let mut sum = self.product(depth)?;
        while self.eat('+') {
            sum = sum + self.product(depth)?;
        }
        Ok(sum)
    }

    fn product(&mut self, depth: u32) -> Parsed<Size> {
        let mut product = self.atom(depth)?;
        loop {
            if self.eat('*') {
                product = product * self.atom(depth)?;
            } else if self.eat('/') {
                product = product.div(&self.atom(depth)?);
            } else if self.eat('%') {
                product = product.rem(&self.atom(depth)?);
            } else {
                return Ok(product);
            }
        }
    }

    fn atom(&mut self, depth: u32) -> Parsed<Size> {
        let depth = self.deeper(depth)?;
        if self.eat('(') {
            let size = self.size(depth)?;
            self.sign(')')?;
            return Ok(size);
        }
        match self.peek() {
            Token::Int(_) => Ok(Size::constant(self.integer()?)),
            _ => Ok(Size::param(self.name()?)),
        }
    }

    fn ty(&mut self, depth: u32) -> Parsed<ValueType> {
        let depth = self.deeper(depth)?;
        let Token::Word(word) = self.peek().clone() else { return Err(self.expected("a type", self.at)) };
        let inside = |p: &mut Parser| -> Parsed<Box<ValueType>> {
            p.at += 1;
            p.sign('(')?;
            let inner = p.ty(depth)?;
            p.sign(')')?;
            Ok(Box::new(inner))
        };
        Ok(match word.as_str() {
            "unknown" => {
                self.at += 1;
                ValueType::Unknown
            }
            "sequence" => ValueType::Sequence(inside(self)?),
            "optional" => ValueType::Optional(inside(self)?),
            "sparse" => {
                self.at += 1;
                self.sign('(')?;
                let tensor = self.tensor_type()?;
                self.sign(')')?;
                ValueType::Sparse(tensor)
            }
            "map" => {
                self.at += 1;
                self.sign('(')?;
                let key = self.element()?;
                self.sign(',')?;
                let inner = self.ty(depth)?;
                self.sign(')')?;
                ValueType::Map(key, Box::new(inner))
            }
            _ => ValueType::Tensor(self.tensor_type()?),
        })
    }

    /// Elements of a tensor whose type was read, and what else is said of it.
    fn elements(&mut self, ty: TensorType, at: usize) -> Parsed<Tensor> {
        let place = self.span(at);
        let dims =
            ty.known_shape().ok_or_else(|| error(place, "a tensor's extents are numbers", "this type"))?;
        let count = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        let count = count.ok_or_else(|| error(place, "a tensor beyond any memory", "this type"))?;
        let storage = if self.eat_word("external") {
            let location = self.name()?.as_str().to_owned();
            let offset = self.unsigned()?;
            let length = if self.eat('?') { None } else { Some(self.unsigned()?) };
            let mut other = Vec::new();
            while matches!(self.peek(), Token::Text(_)) {
                let key = self.name()?;
                other.push((key.as_str().to_owned(), self.name()?.as_str().to_owned()));
            }
            Storage::External(External { location, offset, length, other })
        } else if let Token::Hex(_) = self.peek() {
            let bytes = self.hex()?;
            let unknown_width = matches!(ty.elem, ElementType::Other(_));
            if !unknown_width && ty.elem.raw_len(count) != Some(bytes.len()) {
                return Err(error(
                    self.span(self.at - 1),
                    format!("{} bytes for a tensor {ty}", bytes.len()),
                    "these bytes",
                ));
            }
            Storage::Raw(bytes)
        } else {
            let list_at = self.at;
            let (storage, found) = self.element_list(ty.elem)?;
            if found != count {
                return Err(error(
                    self.span(list_at),
                    format!("{found} elements for a tensor {ty}"),
                    "this list",
                ));
            }
            storage
        };
        let name = if self.eat_word("named") { Some(self.name()?) } else { None };
        let extra = if self.eat_word("fields") { self.hex()? } else { Bytes::new() };
        Ok(Tensor { elem: ty.elem, dims, storage, name, extra })
    }

    fn unsigned(&mut self) -> Parsed<u64> {
        let at = self.at;
        u64::try_from(self.integer()?).map_err(|_| self.expected("a number that is not negative", at))
    }

    fn element_list(&mut self, elem: ElementType) -> Parsed<(Storage, usize)> {
        let at = self.at;
        let mut bytes: Vec<u8> = Vec::new();
        let mut found = 0;
        let mut number = |p: &mut Parser| -> Parsed<()> {
            let at = p.at;
            found += 1;
            let token = p.take();
            let digits = match &token {
                Token::Int(d) | Token::Float(d) | Token::Word(d) => d.as_str(),
                _ => "",
            };
            let done = match elem {
                ElementType::F32 => digits.parse().map(|x: f32| bytes.extend(x.to_le_bytes())).ok(),
                ElementType::F64 => digits.parse().map(|x: f64| bytes.extend(x.to_le_bytes())).ok(),
                ElementType::I32 => digits.parse().map(|x: i32| bytes.extend(x.to_le_bytes())).ok(),
                ElementType::I64 => digits.parse().map(|x: i64| bytes.extend(x.to_le_bytes())).ok(),
                ElementType::Bool => digits.parse().map(|b: bool| bytes.push(u8::from(b))).ok(),
                _ => None,
            };
            done.ok_or_else(|| p.expected(&format!("an element of type {elem}"), at))
        };
        if elem == ElementType::String {
            let texts = self.list(Parser::text)?;
            let count = texts.len();
            return Ok((Storage::Strings(texts), count));
        }
        if elem.scalar().is_none() {
            return Err(self.expected("bytes (`hex\"…\"`)", at));
        }
        self.list(&mut number)?;
        Ok((Storage::Raw(bytes.into()), found))
    }

    fn tensor(&mut self) -> Parsed<Arc<Tensor>> {
        self.word("tensor")?;
        let at = self.at;
        let ty = self.tensor_type()?;
        Ok(Arc::new(self.elements(ty, at)?))
    }

    fn attribute_value(&mut self, depth: u32) -> Parsed<AttributeValue> {
        let depth = self.deeper(depth)?;
        let word = match self.peek() {
            Token::Word(word) => word.clone(),
            _ => String::new(),
        };
        match word.as_str() {
            "tensor" => return Ok(AttributeValue::Tensor(self.tensor()?)),
            "ints" | "floats" | "strings" => {
                self.at += 1;
                self.sign('[')?;
                self.sign(']')?;
                return Ok(match word.as_str() {
                    "ints" => AttributeValue::Ints(Vec::new()),
                    "floats" => AttributeValue::Floats(Vec::new()),
                    _ => AttributeValue::Strings(Vec::new()),
                });
            }
            "graph" => {
                self.at += 1;
                return Ok(AttributeValue::Graph(Arc::new(self.graph(depth)?)));
            }
            "tensors" => {
                self.at += 1;
                return Ok(AttributeValue::Tensors(self.list(Parser::tensor)?));
            }
            "graphs" => {
                self.at += 1;
                let graphs = self.list(|p| {
                    p.word("graph")?;
                    p.graph(depth).map(Arc::new)
                })?;
                return Ok(AttributeValue::Graphs(graphs));
            }
            "type" => {
                self.at += 1;
                return Ok(AttributeValue::Type(self.ty(0)?));
            }
            "types" => {
                self.at += 1;
                return Ok(AttributeValue::Types(self.list(|p| p.ty(0))?));
            }
            "ref" => {
                self.at += 1;
                return Ok(AttributeValue::Reference(self.name()?));
            }
            "opaque" => {
                self.at += 1;
                return Ok(AttributeValue::Opaque(self.hex()?));
            }
            _ => {}
        }
        match self.peek() {
            Token::Int(_) => Ok(AttributeValue::Int(self.integer()?)),
            Token::Text(_) => Ok(AttributeValue::String(self.text()?)),
            Token::Sign('[') => match self.peek_after() {
                Token::Int(_) => Ok(AttributeValue::Ints(self.list(Parser::integer)?)),
                Token::Text(_) => Ok(AttributeValue::Strings(self.list(Parser::text)?)),
                _ => Ok(AttributeValue::Floats(self.list(Parser::float)?)),
            },
            _ => Ok(AttributeValue::Float(self.float()?)),
        }
    }

    fn attributes(&mut self, depth: u32) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        if !self.eat('{') {
            return Ok(attributes);
        }
        while !self.eat('}') {
            let name = self.name()?;
            self.sign(':')?;
            let value = self.attribute_value(depth)?;
            attributes.push(Attribute { name, value, extra: self.raw()? });
            if !self.eat(',') {
                self.sign('}')?;
                break;
            }
        }
        Ok(attributes)
    }

    fn value(&mut self, graph: &mut Graph) -> Parsed<ValueId> {
        let name = self.name()?;
        Ok(graph.try_add_value(name).unwrap_or_else(|known| known))
    }

    fn value_or_none(&mut self, graph: &mut Graph) -> Parsed<Option<ValueId>> {
        if self.is_word("_") {
            self.at += 1;
            return Ok(None);
        }
        self.value(graph).map(Some)
    }

    fn undefined(&self, graph: &Graph, value: ValueId, at: usize) -> Parsed<()> {
        if graph.value(value).producer() == Producer::Nothing {
            return Ok(());
        }
        let name = graph.value(value).name();
        Err(error(self.span(at), format!("`{name}` is defined twice"), "the second definition"))
    }

    fn graph(&mut self, depth: u32) -> Parsed<Graph> {
        let depth = self.deeper(depth)?;
        let mut graph = Graph::new(self.name()?);
        self.sign('{')?;
        while !self.eat('}') {
            let at = self.at;
            let word = match self.peek() {
                Token::Word(word) => word.clone(),
                _ => String::new(),
            };
            match word.as_str() {
                "input" | "output" | "value" | "outer" => {
                    self.at += 1;
                    let id = self.value(&mut graph)?;
                    if self.eat(':') {
                        let ty = self.ty(0)?;
                        graph.declare(id, ty);
                    }
                    match word.as_str() {
                        "input" => {
                            self.undefined(&graph, id, at)?;
                            graph.make_input(id);
                        }
                        "output" => graph.add_output(id),
                        "outer" => {
                            self.undefined(&graph, id, at)?;
                            graph.value_entry(id).producer = Producer::Outer;
                        }
                        _ => {}
                    }
                }
                "init" => {
                    self.at += 1;
                    let id = self.value(&mut graph)?;
                    self.sign(':')?;
                    let type_at = self.at;
                    let ty = self.tensor_type()?;
                    self.sign('=')?;
                    let tensor = self.elements(ty, type_at)?;
                    if graph.value(id).producer() != Producer::Input
                        || graph.value(id).initializer().is_some()
                    {
                        self.undefined(&graph, id, at)?;
                    }
                    graph.set_initializer(id, tensor);
                }
                "raw" => graph.extra = self.raw()?,
                _ => self.node(&mut graph, depth)?,
            }
        }
        if depth > 1 {
            graph.close_over();
        }
        Ok(graph)
    }

    fn node(&mut self, graph: &mut Graph, depth: u32) -> Parsed<()> {
        let mut outputs = Vec::new();
        while !self.eat('=') {
            let at = self.at;
            let output = self.value_or_none(graph)?;
            if let Some(id) = output {
                self.undefined(graph, id, at)?;
                if outputs.contains(&output) {
                    return Err(error(self.span(at), "a node produces one value twice", "the second time"));
                }
            }
            outputs.push(output);
            if !self.eat(',') {
                self.sign('=')?;
                break;
            }
        }
        let mut op = Operator::standard(self.name()?);
        if self.eat('.') {
            op = Operator { domain: op.name, name: self.name()? };
        }
        self.sign('(')?;
        let mut inputs = Vec::new();
        while !self.eat(')') {
            inputs.push(self.value_or_none(graph)?);
            if !self.eat(',') {
                self.sign(')')?;
                break;
            }
        }
        let attributes = self.attributes(depth)?;
        let name = if self.eat('@') { self.name()? } else { "".into() };
        let extra = self.raw()?;
        graph.insert(NewNode { op, name, inputs, outputs, attributes, extra }, Place::Last);
        Ok(())
    }
}
