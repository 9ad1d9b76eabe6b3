//! Reads `special.txt`: calls of operators on special numbers, with the results that are right.

use graph::{Attribute, AttributeValue, Tensor};

/// A call with the results that it must have.
pub struct Special {
    pub op: String,
    pub attributes: Vec<Attribute>,
    /// `None` where an optional one is absent.
    pub inputs: Vec<Option<Tensor>>,
    pub results: Vec<Tensor>,
}

/// The calls of the table.
pub fn calls(text: &str) -> Vec<Special> {
    text.lines().filter(|line| !line.starts_with('#')).map(call).collect()
}

fn call(line: &str) -> Special {
    let (left, right) = line.split_once(" => ").expect("a result");
    let mut parts = left.split(" | ");
    let mut words = parts.next().expect("an operator").split(' ');
    let op = words.next().expect("a name").to_owned();
    let attributes = words.map(|word| {
        let (name, value) = word.split_once('=').expect("a value");
        Attribute::new(name, attribute(name, value))
    });
    Special {
        attributes: attributes.collect(),
        inputs: parts.map(|part| (part != "-").then(|| tensor(part))).collect(),
        results: right.split(" | ").map(tensor).collect(),
        op,
    }
}

fn attribute(name: &str, value: &str) -> AttributeValue {
    let ints: Option<Vec<i64>> = value.split(',').map(|word| word.parse().ok()).collect();
    match (ints, value.parse::<f32>()) {
        (Some(ints), _) if ints.len() > 1 => ints.into(),
        (Some(ints), _) if name != "alpha" => ints[0].into(),
        (_, Ok(number)) => number.into(),
        _ => value.into(),
    }
}

fn tensor(text: &str) -> Tensor {
    let (ty, elements) = text.split_once(' ').unwrap_or((text, ""));
    let (elem, dims) = ty.strip_suffix(']').and_then(|ty| ty.split_once('[')).expect("a type");
    let dims: Vec<usize> = dims.split(',').filter(|d| !d.is_empty()).map(|d| d.parse().unwrap()).collect();
    let words = elements.split(' ').filter(|word| !word.is_empty());
    let ints = || words.clone().map(|word| word.parse::<i64>().unwrap()).collect::<Vec<_>>();
    let bytes = || ints().into_iter().map(|x| x as u8).collect::<Vec<u8>>();
    match elem {
        "f32" => Tensor::from_f32s(dims, &words.map(|word| word.parse().unwrap()).collect::<Vec<_>>()),
        "i64" => Tensor::from_i64s(dims, &ints()),
        "bool" => Tensor::from_bools(dims, &ints().iter().map(|x| *x != 0).collect::<Vec<_>>()),
        "u8" => Tensor::raw(graph::ElementType::U8, dims, bytes().into()).unwrap(),
        "i8" => Tensor::raw(graph::ElementType::I8, dims, bytes().into()).unwrap(),
        other => panic!("elements of type {other}"),
    }
}
