//! Compares the operators as proofs read them with the operator library. On the models that are
//! drawn for the rules, and on the rewritten ones, both must give the same numbers at every
//! position.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use graph::evaluate::{Datum, evaluate};
use graph::{AttributeValue, ElementType, Model, ValueId};

use super::case::{Bounds, Case, Choices, Mode};
use super::element::{EXP_DECAY, Fold, Op, Real};
use super::int::{Atom, Int};
use super::operators::{Attributes, Call, apply};
use super::symbolic_value::Value;
use super::tensor::Tensor;
use crate::optimize::{Options, RuleSet, optimize};
use crate::resolve::compile_rule;
use crate::soundness::values::{self, Dice};
use crate::soundness::{draw, elements};

/// Elements compared in one result.
const PLACES: usize = 12;

#[test]
fn operators_are_those_of_the_library() {
    let mut compared: BTreeMap<String, usize> = BTreeMap::new();
    for file in ["layout", "arithmetic", "convolution", "products", "recognise", "parallel", "lower"] {
        let path = golden::root().join(format!("library/gsl/{file}.gsl"));
        let (file, _) = crate::parse(&std::fs::read_to_string(path).unwrap());
        for rule in &file.rules {
            let set = RuleSet::new(vec![compile_rule(rule).unwrap()]);
            let mut dice = Dice::new(7, &rule.name);
            let mut found = 0;
            for _ in 0..1500 {
                if found >= 8 {
                    break;
                }
                let Some(mut model) = draw::model(rule, &elements::floats(rule), &mut dice) else {
                    continue;
                };
                if graph::infer(&mut model).is_err() {
                    continue;
                }
                let mut after = model.clone();
                let options = Options { ignore_cost: true, limit: Some(1), ..Options::default() };
                if optimize(&mut after, &set, &options, |_, _| ()).is_ok_and(|r| r.applied > 0) {
                    found += 1;
                    for m in [&model, &after] {
                        compare(m, &mut dice, &mut compared);
                    }
                }
            }
        }
    }
    // Operators of which something was compared: else the test says little.
    for op in [
        "Add",
        "AveragePool",
        "BatchNormalization",
        "Clip",
        "Concat",
        "Conv",
        "Div",
        "Expand",
        "EyeLike",
        "Gemm",
        "LayerNormalization",
        "MatMul",
        "Max",
        "Mul",
        "Neg",
        "Pad",
        "Pow",
        "ReduceMax",
        "ReduceMean",
        "ReduceSum",
        "Relu",
        "Reshape",
        "Softmax",
        "Split",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Transpose",
        "Unsqueeze",
        "Attention",
    ] {
        assert!(compared.get(op).is_some_and(|n| *n > 0), "{op} was never compared: {compared:?}");
    }
}

fn compare(model: &Model, dice: &mut Dice, compared: &mut BTreeMap<String, usize>) -> Option<()> {
    let graph = &model.graph;
    let mut given: HashMap<loops::Name, Datum> = HashMap::new();
    let mut data: Vec<Vec<f64>> = Vec::new();
    let mut case = Case::new(Choices::default(), Bounds { rank: 6, branches: 8 });
    case.mode = Mode::Show;
    let mut tensors: HashMap<ValueId, Tensor> = HashMap::new();
    for (id, value) in graph.values() {
        let ty = value.tensor_type();
        let tensor = match value.initializer() {
            Some(t) => t.clone(),
            None if graph.inputs().contains(&id) => {
                let ty = ty?;
                let t = values::random(ty.elem, ty.known_shape()?, false, dice)?;
                given.insert(value.name().clone(), Datum::Tensor(Arc::new(t.clone())));
                t
            }
            None => continue,
        };
        let elem = crate::rule::ElementType::parse(match tensor.elem {
            ElementType::F32 => "float32",
            ElementType::F64 => "float64",
            ElementType::I64 => "int64",
            ElementType::Bool => "bool",
            _ => return None,
        })?;
        let ty = case.types.known(elem);
        let made = match tensor.to_ints() {
            Some(items) if tensor.dims.len() == 1 => {
                Tensor::list(data.len(), items.into_iter().map(Int::from).collect(), ty)
            }
            _ => Tensor::input(data.len(), tensor.dims.iter().map(|d| Int::from(*d as i64)).collect(), ty),
        };
        let bools = || tensor.to_bools().map(|b| b.into_iter().map(|b| f64::from(u8::from(b))).collect());
        data.push(
            tensor
                .to_numbers()
                .or_else(bools)
                .or_else(|| tensor.to_ints().map(|v| v.into_iter().map(|n| n as f64).collect()))?,
        );
        tensors.insert(id, made);
    }
    let outputs = evaluate(model, given).ok()?;
    let mut ops: Vec<String> = Vec::new();
    for id in graph.order() {
        let node = graph.node(id);
        let mut attributes = Attributes::new();
        for a in node.attributes() {
            let value = match &a.value {
                AttributeValue::Int(n) if &*a.name == "to" => {
                    let ty = match ElementType::from_code(*n as i32) {
                        ElementType::F32 => crate::rule::ElementType::Float32,
                        ElementType::F64 => crate::rule::ElementType::Float64,
                        _ => return None,
                    };
                    Value::Type(case.types.known(ty))
                }
                AttributeValue::Int(n) => Value::int(*n),
                AttributeValue::Float(x) => Value::Real(Rc::new(Real::Number(f64::from(*x)))),
                AttributeValue::Ints(all) => Value::ints(all.iter().map(|n| Int::from(*n))),
                other => Value::Text(other.string()?.to_owned()),
            };
            attributes.insert(a.name.to_string(), value);
        }
        let inputs: Vec<Option<Tensor>> = node
            .inputs()
            .iter()
            .map(|v| match v {
                Some(v) => tensors.get(v).cloned().map(Some),
                None => Some(None),
            })
            .collect::<Option<_>>()?;
        let op = node.op().name.to_string();
        let call = Call { op: &op, attributes: &attributes, inputs: &inputs, results: node.outputs().len() };
        let results = apply(&mut case, &call).ok()?;
        for (output, result) in node.outputs().iter().zip(results) {
            tensors.insert((*output)?, result);
        }
        ops.push(op);
    }
    for (id, wanted) in graph.outputs().iter().zip(&outputs) {
        let (made, wanted) = (tensors.get(id)?.clone(), wanted.tensor()?);
        let shape: Vec<i64> = made.shape.iter().map(|n| case.norm(n).constant()).collect::<Option<_>>()?;
        let dims: Vec<i64> = wanted.dims.iter().map(|d| *d as i64).collect();
        assert_eq!(shape, dims, "{graph}");
        let numbers = wanted.to_numbers()?;
        let scale = numbers.iter().fold(1.0f64, |m, x| if x.is_finite() { m.max(x.abs()) } else { m });
        for (k, want) in numbers.iter().enumerate().take(PLACES) {
            let mut rest = k as i64;
            let mut place = vec![Int::default(); shape.len()];
            for d in (0..shape.len()).rev() {
                place[d] = Int::from(rest % shape[d]);
                rest /= shape[d];
            }
            let e = made.at(&mut case, &place).ok()?;
            let got = value(&case, &e, &data, &mut BTreeMap::new())?;
            let near = (got - want).abs() <= 1e-4 * scale || got.is_nan() && want.is_nan() || got == *want;
            assert!(near, "{got} and {want} at {k} of\n{graph}");
        }
    }
    for op in ops {
        *compared.entry(op).or_default() += 1;
    }
    Some(())
}

type Names = BTreeMap<u32, i64>;

/// The number that an integer is; `None` if it has functions that only proofs use.
fn number(case: &Case, e: &Int, vars: &Names) -> Option<i64> {
    let e = case.replaced(e, &mut |v| vars.get(&v).map(|n| Int::from(*n)));
    let open =
        e.any_atom(&mut |a| !matches!(a, Atom::Fun(name, _) if matches!(&**name, "div" | "mod" | "max")));
    if open { None } else { e.constant() }
}

fn value(case: &Case, e: &Rc<Real>, data: &[Vec<f64>], vars: &mut Names) -> Option<f64> {
    Some(match &**e {
        Real::Number(x) => *x,
        Real::Constant(_) => return None,
        Real::Int(n) => number(case, n, vars)? as f64,
        Real::Read(input, at) => {
            let at = usize::try_from(number(case, at, vars)?).ok()?;
            *data[*input].get(at)?
        }
        Real::Op(op, a, b) => {
            let (a, b) = (value(case, a, data, vars)?, value(case, b, data, vars)?);
            match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
            }
        }
        Real::Fun(name, of) => {
            let of = of.iter().map(|a| value(case, a, data, vars)).collect::<Option<Vec<f64>>>()?;
            match (&**name, &of[..]) {
                ("Relu", [x]) => x.max(0.0),
                ("Abs", [x]) => x.abs(),
                ("Neg", [x]) => -x,
                ("Sqrt", [x]) => x.sqrt(),
                ("Exp" | EXP_DECAY, [x]) => x.exp(),
                ("Tanh", [x]) => x.tanh(),
                ("Pow", [x, y]) => x.powf(*y),
                ("Max", all) => all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                ("Min", all) => all.iter().copied().fold(f64::INFINITY, f64::min),
                (name, [x]) if name.starts_with("cast|float") => *x,
                _ => return None,
            }
        }
        Real::Fold(fold, bound, body) => {
            let extents: Vec<i64> =
                bound.iter().map(|(_, n)| number(case, n, vars)).collect::<Option<_>>()?;
            let count: i64 = extents.iter().product();
            let adds = *fold != Fold::Max;
            let mut all = if adds { 0.0 } else { f64::NEG_INFINITY };
            for k in 0..count {
                let mut rest = k;
                for ((v, _), n) in bound.iter().zip(&extents) {
                    vars.insert(*v, rest % n);
                    rest /= n;
                }
                let x = value(case, body, data, vars)?;
                all = if adds { all + x } else { all.max(x) };
            }
            bound.iter().for_each(|(v, _)| {
                vars.remove(v);
            });
            all
        }
        Real::If(conditions, yes, no) => {
            let mut holds = true;
            for c in conditions {
                holds &= number(case, c, vars)? >= 0;
            }
            value(case, if holds { yes } else { no }, data, vars)?
        }
    })
}
