//! What is computed ahead, merged and removed — and what must not be.

use std::collections::HashMap;

use graph::evaluate::{Datum, evaluate};
use graph::generate::{MODELS, Scale, generate};
use graph::simplify::{FoldOptions, merge_equal, remove_dead, simplify};
use graph::text::parse_model;
use graph::{Model, Tensor, infer, onnx, operators, validate};

fn model(lines: &str) -> Model {
    let mut model = parse_model(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} }}")).unwrap();
    infer(&mut model).unwrap();
    model
}

/// The operators that are left, in order.
fn left(lines: &str) -> Vec<String> {
    let mut model = model(lines);
    simplify(&mut model, &FoldOptions::default());
    assert_eq!(validate(&model), []);
    model.graph.nodes().map(|(_, n)| n.op().to_string()).collect()
}

#[test]
fn quantised_parameters_stay_if_they_are_to() {
    let lines = "input x: f32[2, 4] init w: i8[4, 4] = hex\"000102030405060708090a0b0c0d0e0f\" init s: f32[] = [0.5] \
        d = DequantizeLinear(w, s) y = MatMul(x, d) output y";
    let folded = |lines: &str, dequantise: bool| {
        let options = FoldOptions { dequantise, ..FoldOptions::default() };
        simplify(&mut model(lines), &options).folded
    };
    assert_eq!((folded(lines, true), folded(lines, false)), (1, 0));
    // What is no larger is computed.
    let wide =
        lines.replace("w: i8[4, 4] = hex\"000102030405060708090a0b0c0d0e0f\"", "w: i32[4, 1] = [1, 2, 3, 4]");
    assert_eq!(folded(&wide, false), 1);
}

#[test]
fn constants_are_computed() {
    let lines = "input x: f32[2] init a: f32[2] = [1.0, 2.0] init b: f32[2] = [3.0, 4.0] \
        c = Add(a, b) d = Mul(c, c) y = Sub(x, d) output y";
    let mut model = model(lines);
    let done = simplify(&mut model, &FoldOptions::default());
    assert_eq!((done.folded, done.dead), (2, 0));
    assert!(model.to_string().contains("init d: f32[2] = [16.0, 36.0]"), "{model}");
    assert!(!model.to_string().contains("init a"), "parameters that nobody reads are gone");
    // The shape of an input that is known is a constant, whatever the input is.
    assert_eq!(
        left(
            "input x: f32[2, 3] s = Shape(x) m = Constant() { value_ints: [-1] } t = Concat(m, s) { axis: 0 } \
              r = Reshape(x, t) y = Relu(r) output y"
        ),
        ["Reshape", "Relu"]
    );
}

#[test]
fn what_is_random_is_neither_computed_nor_merged() {
    assert_eq!(
        left("a = RandomNormal() { shape: [2] } b = RandomNormal() { shape: [2] } y = Sub(a, b) output y"),
        ["RandomNormal", "RandomNormal", "Sub"]
    );
    assert_eq!(
        left("input x: f32[2] a = Bernoulli(x) b = Bernoulli(x) y = Sub(a, b) output y"),
        ["Bernoulli", "Bernoulli", "Sub"]
    );
    assert_eq!(
        left(
            "input x: f32[2] init r: f32[] = [0.5] init t: bool[] = [true] a = Dropout(x, r, t) b = Dropout(x, r, t) y = Sub(a, b) output y"
        ),
        ["Dropout", "Dropout", "Sub"]
    );
}

#[test]
fn equal_nodes_are_merged_and_different_ones_not() {
    assert_eq!(left("input x: f32[2] a = Exp(x) b = Exp(x) y = Add(a, b) output y"), ["Exp", "Add"]);
    // Equal only through equal parameters.
    assert_eq!(
        left(
            "input x: f32[2] init a: f32[1] = [1.0] init b: f32[1] = [1.0] c = Add(x, a) d = Add(x, b) y = Mul(c, d) output y"
        ),
        ["Add", "Mul"]
    );
    for different in [
        "a = Softmax(x) { axis: 0 } b = Softmax(x) { axis: 1 } y = Add(a, b)",
        "a = Sub(x, z) b = Sub(z, x) y = Add(a, b)",
        "a = Clip(x, z) b = Clip(x, _, z) y = Add(a, b)",
        "a = \"com.example\".Exp(x) b = \"com.example\".Exp(x) y = Add(a, b)",
    ] {
        let before = different.matches(" = ").count();
        let mut model = parse_model(&format!(
            "model ir 10 opset \"\" 21 opset \"com.example\" 1 graph g {{ input x: f32[2, 2] input z: f32[] {different} output y }}"
        ))
        .unwrap();
        infer(&mut model).unwrap();
        simplify(&mut model, &FoldOptions::default());
        assert_eq!(model.graph.node_count(), before, "{different}");
    }
    // Both results are outputs and keep their names.
    let mut both = model("input x: f32[2] a = Exp(x) b = Exp(x) output a output b");
    assert_eq!(merge_equal(&mut both.graph).merged, 0);
    // One is.
    let mut one = model("input x: f32[2] a = Exp(x) b = Exp(x) y = Neg(a) output b output y");
    assert_eq!(merge_equal(&mut one.graph).merged, 1);
    assert_eq!(validate(&one), []);
    assert_eq!(one.graph.value(one.graph.outputs()[0]).name().as_str(), "b");
}

#[test]
fn dead_code_goes_and_what_subgraphs_use_stays() {
    let mut m = model(
        "input x: f32[2] input c: bool[] a = Exp(x) b = Log(a) u = Neg(x) \
         y = If(c) { then_branch: graph t { outer u  r = Abs(u) output r }, else_branch: graph e { outer x output x } } output y",
    );
    assert_eq!(remove_dead(&mut m.graph).dead, 2);
    assert_eq!(m.graph.node_count(), 2);
    assert_eq!(validate(&m), []);
    // A default of an input stays with it.
    let mut m =
        model("input x: f32[2] init x: f32[2] = [1.0, 2.0] init w: f32[2] = [1.0, 2.0] y = Exp(x) output y");
    remove_dead(&mut m.graph);
    assert_eq!(m.graph.initializers().count(), 1);
}

/// The small models give the same after all passes, up to the last bit: nothing is computed in
/// another way.
#[test]
fn generated_models_stay_what_they_were() {
    for name in ["mlp", "gpt", "bert", "chain", "parallel"] {
        let mut before = generate(name, Scale::Small, 30, 7).unwrap();
        assert_eq!(validate(&before), [], "{name}");
        let sizes = if name == "bert" {
            [("batch".into(), 2), ("sequence".into(), 3)].into()
        } else if name == "mlp" {
            [("batch".into(), 2)].into()
        } else {
            Default::default()
        };
        graph::plan::bind(&mut before, &sizes).unwrap();
        let mut after = before.clone();
        let done = simplify(&mut after, &FoldOptions::default());
        assert!(!["gpt", "bert"].contains(&name) || done != Default::default(), "{name}: nothing was done");
        assert_eq!(validate(&after), [], "{name}");
        let inputs = |m: &Model| -> HashMap<_, _> {
            let ids = m.graph.inputs().iter();
            ids.map(|id| {
                let ty = m.graph.value(*id).tensor_type().unwrap();
                let scalar = operators::carrier(ty.elem).unwrap();
                let mut t = loops::Tensor::random(&loops::Elem::Scalar(scalar), ty.known_shape().unwrap(), 3);
                if let loops::Data::I64(v) = &mut t.data {
                    v.iter_mut().for_each(|x| *x = x.rem_euclid(4));
                }
                (m.graph.value(*id).name().clone(), Datum::from(Tensor::from_value(&t).unwrap()))
            })
            .collect()
        };
        assert_eq!(evaluate(&before, inputs(&before)), evaluate(&after, inputs(&after)), "{name}");
    }
}

#[test]
fn all_generated_models_are_valid_and_survive_the_file() {
    for (name, _) in MODELS {
        let mut model = generate(name, Scale::Small, 30, 1).unwrap();
        assert_eq!(validate(&model), [], "{name}");
        let read = onnx::read(&onnx::write(&model).into()).unwrap();
        assert!(read == model, "{name}");
        infer(&mut model).unwrap_or_else(|e| panic!("{name}: {e} {:?}", e.notes));
        let unknown = model.graph.values().find(|(_, v)| v.ty().is_none());
        assert!(unknown.is_none(), "{name}: {unknown:?}");
    }
}
