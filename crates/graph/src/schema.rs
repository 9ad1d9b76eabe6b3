//! The signatures of the standard operators: inputs, results, attributes and traits, for each
//! version from operator set 7 on.
//!
//! This is the only place that has them. The checks of rules, the validator and inference read it.
//! `schema.table` has one line for each version of an operator. For example,
//!
//! ```text
//! 13 Split(input, split?) -> outputs*:#0 {axis: int = 0}
//! ```
//!
//! says: since operator set 13, `Split` has one input, one optional input, and any number of
//! results with the element type of input 0. (`+` means at least one, `*` any number; `:i64` would
//! be a fixed type.) It has an attribute with a default. (`!` marks an attribute that must be
//! given.) Traits follow after `@`. Not here: meaning (`operators`), shapes (`infer`).

use std::sync::OnceLock;

use crate::hash_tables::Map;
use crate::types::ElementType;

/// The signature of an operator from one version on.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// The operator.
    pub name: &'static str,
    /// The first operator set with this signature.
    pub since: i64,
    /// Whether the operator does not exist any more from here on.
    pub deprecated: bool,
    /// Inputs.
    pub inputs: Vec<Parameter>,
    /// Results.
    pub outputs: Vec<Parameter>,
    /// Attributes, by name.
    pub attributes: Vec<AttributeSchema>,
    /// One tensor in (and parameters), each element of the result from the element at its place.
    pub elementwise: bool,
    /// Element by element over inputs that are broadcast together.
    pub broadcasting: bool,
    /// The order of the first two inputs does not matter.
    pub commutative: bool,
    /// Two calls with the same inputs may give different results.
    pub random: bool,
}

/// An input or a result.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name in the standard.
    pub name: &'static str,
    /// How often it may come.
    pub arity: Arity,
    /// Of a result: its element type.
    pub ty: ResultType,
}

/// How often a parameter may come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Once.
    One,
    /// Once or not at all.
    Optional,
    /// Any number of times.
    Any,
    /// Any number of times, but once at least.
    Some,
}

/// What the signature says of the element type of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// Nothing.
    Unknown,
    /// It is that of the input with this number.
    Like(usize),
    /// It is this.
    Fixed(ElementType),
}

/// An attribute.
#[derive(Clone, PartialEq, Debug)]
pub struct AttributeSchema {
    /// Its name.
    pub name: &'static str,
    /// Its kind, as [`AttributeValue::kind`](crate::AttributeValue::kind) says it.
    pub kind: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// Its default, as text: `1`, `0.5`, `"NOTSET"`, `[1, 1]`.
    pub default: Option<&'static str>,
}

impl Schema {
    /// The least and the greatest number of inputs; `None`: no bound.
    pub fn input_range(&self) -> (usize, Option<usize>) {
        range(&self.inputs)
    }

    /// The least and the greatest number of results; `None`: no bound.
    pub fn output_range(&self) -> (usize, Option<usize>) {
        range(&self.outputs)
    }

    /// The attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&AttributeSchema> {
        self.attributes.iter().find(|a| a.name == name)
    }

    /// What is said of the element type of result `k`.
    pub fn result_type(&self, k: usize) -> ResultType {
        let last = self.outputs.last().filter(|p| matches!(p.arity, Arity::Any | Arity::Some));
        self.outputs.get(k).or(last).map_or(ResultType::Unknown, |p| p.ty)
    }
}

fn range(parameters: &[Parameter]) -> (usize, Option<usize>) {
    let needed =
        parameters.iter().rposition(|p| matches!(p.arity, Arity::One | Arity::Some)).map_or(0, |k| k + 1);
    let open = parameters.iter().any(|p| matches!(p.arity, Arity::Any | Arity::Some));
    (needed, (!open).then_some(parameters.len()))
}

/// The signature of an operator at a version of its domain; `None` for operators that are not in
/// the table.
pub fn lookup(domain: &str, name: &str, opset: i64) -> Option<&'static Schema> {
    let found = versions(domain, name).iter().rev().find(|s| s.since <= opset)?;
    (!found.deprecated).then_some(found)
}

/// All versions of an operator, the oldest first; empty for operators that are not in the table.
pub fn versions(domain: &str, name: &str) -> &'static [Schema] {
    if !domain.is_empty() && domain != "ai.onnx" {
        return &[];
    }
    table().get(name).map_or(&[], Vec::as_slice)
}

/// The names of the standard operators, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = table().keys().copied().collect();
    names.sort_unstable();
    names
}

fn table() -> &'static Map<&'static str, Vec<Schema>> {
    static TABLE: OnceLock<Map<&'static str, Vec<Schema>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: Map<&str, Vec<Schema>> = Map::default();
        for line in include_str!("schema.table").lines() {
            let schema = row(line).unwrap_or_else(|| panic!("a row of schema.table can't be read: {line}"));
            table.entry(schema.name).or_default().push(schema);
        }
        table
    })
}

fn row(line: &'static str) -> Option<Schema> {
    let (since, rest) = line.split_once(' ')?;
    let since = since.parse().ok()?;
    if let Some(name) = rest.strip_suffix(" deprecated") {
        return Some(Schema { since, deprecated: true, ..empty(name) });
    }
    let (name, rest) = rest.split_once('(')?;
    let (inputs, rest) = rest.split_once(") -> ")?;
    let (outputs, rest) = rest.split_once(" {")?;
    let (attributes, traits) = rest.rsplit_once('}')?;
    let has = |t: &str| traits.split(" @").any(|x| x == t);
    Some(Schema {
        since,
        inputs: list(inputs).into_iter().map(parameter).collect::<Option<_>>()?,
        outputs: list(outputs).into_iter().map(parameter).collect::<Option<_>>()?,
        attributes: list(attributes).into_iter().map(attribute).collect::<Option<_>>()?,
        elementwise: has("elementwise"),
        broadcasting: has("broadcasting"),
        commutative: has("commutative"),
        random: has("random"),
        ..empty(name)
    })
}

fn empty(name: &'static str) -> Schema {
    Schema {
        name,
        since: 1,
        deprecated: false,
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
        elementwise: false,
        broadcasting: false,
        commutative: false,
        random: false,
    }
}

/// Items with commas between them; those inside brackets don't count.
fn list(text: &'static str) -> Vec<&'static str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0, 0);
    for (k, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                items.push(text[start..k].trim());
                start = k + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items.retain(|i| !i.is_empty());
    items
}

fn parameter(text: &'static str) -> Option<Parameter> {
    let (text, ty) = match text.split_once(':') {
        None => (text, ResultType::Unknown),
        Some((text, ty)) => match ty.strip_prefix('#') {
            Some(k) => (text, ResultType::Like(k.parse().ok()?)),
            None => (text, ResultType::Fixed(ElementType::from_word(ty)?)),
        },
    };
    let (name, arity) = match text.as_bytes().last()? {
        b'?' => (&text[..text.len() - 1], Arity::Optional),
        b'*' => (&text[..text.len() - 1], Arity::Any),
        b'+' => (&text[..text.len() - 1], Arity::Some),
        _ => (text, Arity::One),
    };
    Some(Parameter { name, arity, ty })
}

fn attribute(text: &'static str) -> Option<AttributeSchema> {
    let (name, rest) = text.split_once(": ")?;
    let (kind, default) = match rest.split_once(" = ") {
        Some((kind, default)) => (kind, Some(default)),
        None => (rest, None),
    };
    let required = kind.ends_with('!');
    Some(AttributeSchema { name, kind: kind.trim_end_matches('!'), required, default })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        assert!(names().len() > 180, "{}", names().len());
        for name in names() {
            assert!(versions("", name).windows(2).all(|w| w[0].since < w[1].since), "{name}");
        }
    }

    #[test]
    fn versions_differ() {
        let split = |opset| lookup("", "Split", opset).unwrap();
        assert!(split(11).attribute("split").is_some() && split(13).attribute("split").is_none());
        assert_eq!(split(13).input_range(), (1, Some(2)));
        assert_eq!(split(18).output_range(), (0, None));
        assert_eq!(split(18).result_type(5), ResultType::Like(0));
        assert_eq!(lookup("", "Shape", 13).unwrap().result_type(0), ResultType::Fixed(ElementType::I64));
        assert_eq!(
            lookup("", "Conv", 13).unwrap().attribute("auto_pad").unwrap().default,
            Some("\"NOTSET\"")
        );
        assert_eq!(lookup("", "Concat", 13).unwrap().input_range(), (1, None));
        assert!(lookup("", "Add", 13).unwrap().commutative && lookup("", "Relu", 13).unwrap().elementwise);
        assert_eq!(lookup("", "Gelu", 13), None);
        assert_eq!(lookup("", "Upsample", 13), None);
        assert_eq!(lookup("com.microsoft", "Gelu", 20), None);
    }
}
