//! Models with numbers of 16 bits: valid, with the inputs and outputs that they had, and close.
#![allow(missing_docs)]

use std::collections::HashMap;

use graph::evaluate::{Datum, evaluate};
use graph::generate::{Scale, generate};
use graph::half::{Halved, halve};
use graph::{ElementType, Model, Tensor, operators};
use loops::{Data, Name};

/// Small numbers, indices where a model wants integers.
fn inputs(model: &Model) -> HashMap<Name, Datum> {
    let tensor = |id: &graph::ValueId| {
        let value = model.graph.value(*id);
        let ty = value.tensor_type().expect("an input is a tensor");
        let shape = ty.shape.as_ref().expect("with a shape");
        let dims: Vec<usize> = shape.iter().map(|dim| dim.known().unwrap_or(2) as usize).collect();
        let count: usize = dims.iter().product();
        let tensor = match ty.elem {
            ElementType::I64 => {
                Tensor::from_i64s(dims, &(0..count as i64).map(|i| i % 3).collect::<Vec<_>>())
            }
            ElementType::Bool => Tensor::from_bools(dims, &vec![true; count]),
            _ => {
                let data: Vec<f32> = (0..count).map(|i| ((i * 7) % 11) as f32 / 8.0 - 0.6).collect();
                Tensor::from_f32s(dims, &data)
            }
        };
        (value.name().clone(), Datum::from(tensor))
    };
    model.graph.inputs().iter().map(tensor).collect()
}

fn numbers(datum: &Datum) -> Vec<f32> {
    let tensor = datum.tensor().expect("a tensor");
    assert_eq!(tensor.elem, ElementType::F32, "outputs keep their type");
    match operators::decode(tensor).expect("numbers").data {
        Data::F32(numbers) => numbers,
        other => panic!("{other:?}"),
    }
}

/// The converted model, what was done, and the largest difference over the largest number.
fn converted(mut model: Model) -> (Model, Halved, f32) {
    graph::infer(&mut model).expect("types");
    let mut half = model.clone();
    let done = halve(&mut half).expect("the result has types");
    assert_eq!(graph::validate(&half), Vec::new(), "{half}");
    let feeds = inputs(&model);
    let wanted = evaluate(&model, feeds.clone()).expect("the old one runs");
    let found = evaluate(&half, feeds).unwrap_or_else(|d| panic!("{d:?}\n{half}"));
    let mut worst = 0f32;
    for (a, b) in wanted.iter().zip(&found) {
        let (a, b) = (numbers(a), numbers(b));
        let largest = a.iter().fold(1e-3f32, |m, x| m.max(x.abs()));
        worst = a.iter().zip(&b).fold(worst, |m, (x, y)| m.max((x - y).abs() / largest));
    }
    (half, done, worst)
}

#[test]
fn models_stay_close() {
    for name in ["mlp", "bert", "mobilenet", "resnet50"] {
        let Some(model) = generate(name, Scale::Small, 0, 1) else { panic!("{name}") };
        let bytes = graph::onnx::write(&model).len();
        let (half, done, worst) = converted(model);
        assert!(done.nodes > 3 && done.kept == 0 && done.clamped == 0, "{name}: {done:?}");
        assert!(worst > 0.0 && worst < 0.03, "{name}: {worst}");
        assert!(graph::onnx::write(&half).len() < bytes, "{name}");
        let singles = half.graph.initializers().filter(|(_, t)| t.elem == ElementType::F32).count();
        assert_eq!(singles, 0, "{name}");
    }
}

fn parsed(body: &str) -> Model {
    let text = format!("model ir 8\nopset \"\" 17\ngraph g {{\n{body}\n}}\n");
    graph::text::parse_model(&text).unwrap_or_else(|d| panic!("{body}: {d:?}"))
}

#[test]
fn what_has_32_bits_in_any_case_keeps_them() {
    let (half, done, worst) = converted(parsed(
        "input x: f32[1, 1, 2, 2] input c: bool[]
         init s: f32[4] = [1.0, 1.0, 2.0, 3.0] init big: f32[] = [1e9]
         r = Resize(x, _, s) { mode: \"linear\" }
         m = Min(r, big)
         k = Relu(m)
         y = If(c) {
           then_branch: graph t { outer k a = Neg(k) output a },
           else_branch: graph e { outer k b = Abs(k) output b },
         }
         z = Mul(y, k)
         e = Shape(z) f = ConstantOfShape(e)
         w = Add(z, f)
         output k: f32[1, 1, 4, 6]
         output w: f32[..]",
    ));
    assert_eq!(done, Halved { nodes: 6, kept: 1, clamped: 1 }, "{half}");
    assert!(worst < 2e-3, "{worst}");
    let text = half.to_string();
    for part in [
        "init s: f32[4]",
        "r = Resize(x_half, _, s)",
        "k_half = Relu(m)",
        "k = Cast(k_half) { to: 1 }",
        "outer k\n",
        "y_half = Cast(y) { to: 10 }",
        "w = Cast(w_half) { to: 1 }",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn operators_without_16_bits_stand_between_casts() {
    let (half, done, _) = converted(parsed(
        "input x: f32[3] a = Abs(x) b = Celu(a) c = Neg(b) d = IsInf(c) e = Cast(d) { to: 1 } y = Add(c, e)
         output y: f32[3]",
    ));
    assert_eq!((done.nodes, done.kept), (4, 2), "{half}");
    let text = half.to_string();
    assert!(text.contains("b = Celu(a_single)") && text.contains("e = Cast(d) { to: 10 }"), "{text}");
}
