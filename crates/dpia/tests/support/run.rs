//! Runs a definition in the evaluator and its translation in the interpreter of loops, and
//! compares.
#![allow(dead_code)]

use std::collections::BTreeMap;

use dpia::{Mode, Translation};
use functional::eval::{Limits, Value, evaluate};
use functional::{DataType, Definition};
use loops::{Data, Name, Options, Scalar, Tensor};

pub type Sizes = BTreeMap<Name, i64>;

/// A small generator of numbers, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn small(&mut self) -> f64 {
        (self.next() % 33) as f64 / 4.0 - 4.0
    }
}

/// Where a value lies in the random data of a type.
fn fill(ty: &DataType, sizes: &Sizes, shape: &mut Vec<usize>, random: &mut Random) -> Option<Value> {
    let value_of = |name: &Name| sizes.get(name).copied();
    let count: usize = shape.iter().product();
    let tensor = |data: Data, shape: &[usize]| Value::Tensor(Tensor { shape: shape.to_vec(), data });
    Some(match ty {
        DataType::Scalar(s) => tensor(scalars(*s, count, random), shape),
        DataType::Idx(n) => {
            let n = n.eval(&value_of).ok()?;
            if n == 0 && count > 0 {
                return None;
            }
            let data = (0..count).map(|_| (random.next() as i64).rem_euclid(n.max(1))).collect();
            tensor(Data::I64(data), shape)
        }
        DataType::Array(n, t) => {
            shape.push(usize::try_from(n.eval(&value_of).ok()?).ok()?);
            let value = fill(t, sizes, shape, random);
            shape.pop();
            value?
        }
        DataType::Vector(n, s) => {
            shape.push(usize::try_from(n.eval(&value_of).ok()?).ok()?);
            let count: usize = shape.iter().product();
            let value = tensor(scalars(*s, count, random), shape);
            shape.pop();
            value
        }
        DataType::Pair(a, b) => {
            let (a, b) = (fill(a, sizes, shape, random)?, fill(b, sizes, shape, random)?);
            match (a, b) {
                (Value::Tensor(a), Value::Tensor(b)) if a.shape == b.shape && flat(ty) => {
                    Value::Tensor(Tensor {
                        shape: a.shape,
                        data: Data::Pair(Box::new(a.data), Box::new(b.data)),
                    })
                }
                (a, b) => Value::Pair(Box::new(a), Box::new(b)),
            }
        }
    })
}

fn flat(ty: &DataType) -> bool {
    match ty {
        DataType::Scalar(_) | DataType::Idx(_) => true,
        DataType::Pair(a, b) => flat(a) && flat(b),
        DataType::Array(..) | DataType::Vector(..) => false,
    }
}

fn scalars(s: Scalar, count: usize, random: &mut Random) -> Data {
    match s {
        Scalar::F32 => Data::F32((0..count).map(|_| random.small() as f32).collect()),
        Scalar::F64 => Data::F64((0..count).map(|_| random.small()).collect()),
        Scalar::I32 => Data::I32((0..count).map(|_| random.small() as i32).collect()),
        Scalar::I64 => Data::I64((0..count).map(|_| random.small() as i64).collect()),
        Scalar::Bool => Data::Bool((0..count).map(|_| random.next().is_multiple_of(2)).collect()),
        other => panic!("functional programs have no numbers of type {other}"),
    }
}

/// Random arguments; none where an index has no value at these sizes.
pub fn arguments(definition: &Definition, sizes: &Sizes, random: &mut Random) -> Option<Vec<Value>> {
    definition.params.iter().map(|p| fill(&p.ty, sizes, &mut Vec::new(), random)).collect()
}

fn tensors(value: &Value, list: &mut Vec<Tensor>) {
    match value {
        Value::Tensor(t) => list.push(t.clone()),
        Value::Pair(a, b) => {
            tensors(a, list);
            tensors(b, list);
        }
    }
}

/// The tensors of a value, in the order of the parameters that hold it.
pub fn flatten(value: &Value) -> Vec<Tensor> {
    let mut list = Vec::new();
    tensors(value, &mut list);
    list
}

/// What went wrong when a definition and its translation were compared.
pub enum Outcome {
    Same,
    /// The evaluator itself has no result.
    Undefined,
    Differs(String),
}

/// Runs both at these sizes on random data. Floating-point numbers must agree bit for bit unless
/// `tolerance` is given.
pub fn compare(d: &Definition, t: &Translation, sizes: &Sizes, seed: u64, tolerance: f64) -> Outcome {
    let mut random = Random(seed);
    let Some(args) = arguments(d, sizes, &mut random) else { return Outcome::Undefined };
    let Ok(expected) = evaluate(d, sizes, &args, Limits::default()) else { return Outcome::Undefined };
    let mut given = BTreeMap::new();
    for (value, (_, names)) in args.iter().zip(&t.abi.params) {
        let parts = flatten(value);
        assert_eq!(parts.len(), names.len(), "{}: the abi and the value differ in shape", d.name);
        given.extend(names.iter().cloned().zip(parts));
    }
    let options = Options { shuffle: Some(seed), races: true, ..Options::default() };
    let result = match loops::run(&t.function, sizes, given, &options) {
        Ok(result) => result,
        Err(error) => {
            return Outcome::Differs(format!("{error}\n{:?}\n{:?}", error.notes, error.labels));
        }
    };
    let expected = flatten(&expected);
    for (name, expected) in t.abi.result.iter().zip(&expected) {
        let found = &result[name];
        if found.shape != expected.shape || !same(&found.data, &expected.data, tolerance) {
            return Outcome::Differs(format!("expected {expected:?}\nfound    {found:?}"));
        }
    }
    Outcome::Same
}

fn same(a: &Data, b: &Data, tolerance: f64) -> bool {
    let near = |x: f64, y: f64| {
        let close = || x == y || (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0);
        x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()) || (tolerance > 0.0 && close())
    };
    match (a, b) {
        (Data::F32(a), Data::F32(b)) => a.iter().zip(b).all(|(x, y)| near(f64::from(*x), f64::from(*y))),
        (Data::F64(a), Data::F64(b)) => a.iter().zip(b).all(|(x, y)| near(*x, *y)),
        (Data::Pair(a, b), Data::Pair(c, d)) => same(a, c, tolerance) && same(b, d, tolerance),
        _ => a == b,
    }
}

/// Some choices of sizes, small ones and 0 among them.
pub fn choices(definition: &Definition, seed: u64, count: usize) -> Vec<Sizes> {
    const VALUES: [i64; 8] = [0, 1, 2, 3, 5, 7, 4, 8];
    let mut random = Random(seed);
    let mut list: Vec<Sizes> =
        VALUES.iter().map(|v| definition.sizes.iter().map(|name| (name.clone(), *v)).collect()).collect();
    for _ in 0..count {
        let value = |random: &mut Random| VALUES[random.next() as usize % VALUES.len()];
        list.push(definition.sizes.iter().map(|name| (name.clone(), value(&mut random))).collect());
    }
    list.sort();
    list.dedup();
    list
}

/// Whether the validator of loop programs accepts the function. Returns how many of its loops it
/// cannot show to be free of races.
pub fn validate(t: &Translation) -> Result<usize, String> {
    let report = loops::validate(&t.function);
    if !report.is_valid() {
        let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
        return Err(errors.join("; "));
    }
    Ok(report.loops.iter().filter(|verdict| verdict.safety != loops::Safety::Proved).count())
}

/// Compares in both modes at many sizes; the text says what differs.
pub fn check(definition: &Definition, tolerance: f64) -> Result<usize, String> {
    let mut runs = 0;
    for mode in [Mode::Default, Mode::Paper] {
        let t = dpia::translate(definition, mode)
            .map_err(|e| format!("{}: {e} {:?}", definition.name, e.labels))?;
        if let Err(why) = validate(&t) {
            let text = super::program(vec![t.function.clone()]);
            return Err(format!("{} ({mode:?}): not valid: {why}\n{text}", definition.name));
        }
        for (k, sizes) in choices(definition, 7, 12).into_iter().enumerate() {
            match compare(definition, &t, &sizes, k as u64 + 1, tolerance) {
                Outcome::Same => runs += 1,
                Outcome::Undefined => {}
                Outcome::Differs(why) => {
                    let text = super::program(vec![t.function.clone()]);
                    return Err(format!("{} ({mode:?}) at {sizes:?}: {why}\n{text}", definition.name));
                }
            }
        }
    }
    Ok(runs)
}
