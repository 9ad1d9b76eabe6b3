//! Models that the standard does not allow and that have one meaning only: they are taken with a
//! warning, and refused where that is asked for.
#![allow(missing_docs)]

mod support;

use graph::{Dim, Model, ValueType, text};
use lozenge::pipeline::graph::{ModelRequest, declared, prepare, sound};
use support::{calls, model};

/// The warnings for a model; what compiled code and evaluation make of it agrees to the last bit.
fn warnings(mut model: Model) -> Vec<String> {
    let refused = sound(&mut model.clone(), "m", true);
    let mut said = sound(&mut model, "m", false).expect("one meaning");
    let (_, types) = prepare(model.clone(), &ModelRequest::default()).expect("a model");
    let strict = prepare(model.clone(), &ModelRequest { strict: true, ..ModelRequest::default() });
    assert_eq!(refused.is_err(), !said.is_empty(), "a warning is what is refused");
    assert_eq!(strict.is_err(), !types.is_empty(), "a warning is what is refused");
    said.extend(types);
    calls(&model);
    said
}

#[test]
fn nodes_out_of_order_are_sorted() {
    let said = warnings(model(&[], "  input x: f32[3]\n  y = Neg(t)\n  t = Relu(x)\n  output y: f32[3]"));
    assert_eq!(said.len(), 1);
    assert!(said[0].ends_with("the Neg that makes `y` comes before the Relu that makes `t`"), "{said:?}");
}

#[test]
fn declared_shapes_give_way_to_what_operators_give() {
    let of = |out: &str| {
        model(
            &[],
            &format!(
                "  input x: f32[2, 6]\n  init s: i64[3] = [3, 2, 2]\n  y = Reshape(x, s)\n  output y: {out}"
            ),
        )
    };
    assert!(warnings(of("f32[3, 2, 2]")).is_empty());
    let said = warnings(of("f32[a, b]"));
    assert!(said[0].ends_with("which is declared as f32[a, b] and is f32[3, 2, 2]"), "{said:?}");
    assert_eq!(warnings(of("f32[3, 2, 5]")).len(), 1);
    // what is written afterwards is right
    let mut mended = of("f32[a, b]");
    graph::infer(&mut mended).expect("a model");
    assert_eq!(declared(&mended, "m", false).expect("a warning").len(), 1);
    assert!(mended.to_string().contains("output y: f32[3, 2, 2]"), "{mended}");
    // another element type is another model
    let mut wrong = of("i64[3, 2, 2]");
    assert_eq!(graph::infer(&mut wrong).expect_err("a contradiction").code.0, "G0301");
}

#[test]
fn negative_extents_are_unknown() {
    let mut read = model(&[], "  input x: f32[n, 3]\n  y = Relu(x)\n  output y: f32[n, 3]");
    let x = read.graph.inputs()[0];
    let shape = vec![Dim::Known(-1), Dim::Known(3)];
    read.graph.declare(
        x,
        ValueType::Tensor(graph::TensorType { elem: graph::ElementType::F32, shape: Some(shape) }),
    );
    assert!(sound(&mut read.clone(), "m", true).is_err());
    let said = sound(&mut read, "m", false).expect("one meaning");
    assert_eq!(said.len(), 1);
    let sizes = [("x.0".into(), 2)].into();
    let (prepared, _) = prepare(read, &ModelRequest { sizes, ..ModelRequest::default() }).expect("a model");
    let y = prepared.graph.value(prepared.graph.outputs()[0]).tensor_type().and_then(|t| t.known_shape());
    assert_eq!(y, Some(vec![2, 3]));
}

/// A parameter inside hides one outside, and a result that comes later is not seen inside.
#[test]
fn names_that_are_used_again_inside_of_branches() {
    let branches = |yes: &str, no: &str, later: &str| {
        model(
            &[("w", &[3])],
            &format!(
                "  input x: f32[3]
  s = ReduceSum(x) {{ keepdims: 0 }}
  c = Less(s, s)
  z = If(c) {{
    then_branch: graph yes {{ {yes} }},
    else_branch: graph no {{ {no} }}
  }}
  {later}
  v = Add(z, w)
  y = Add(v, t)
  output y: f32[3]"
            ),
        )
    };
    let hides = "init w: f32[3] = [10.0, 20.0, 30.0] o = Add(x, w) output o: f32[3]";
    let said = warnings(branches("p = Neg(x) output p: f32[3]", hides, "t = Relu(x)"));
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("defines `w` again"), "{said:?}");
    let twice = "t = Neg(x) o = Mul(t, w) output o: f32[3]";
    assert_eq!(warnings(branches(twice, hides, "t = Relu(z)")).len(), 2);
    // what is visible inside and not a parameter there has two meanings
    let mut both = branches(twice, "p = Neg(x) output p: f32[3]", "");
    both =
        text::parse_model(&both.to_string().replacen("  s = ", "  t = Relu(x)\n  s = ", 1)).expect("a model");
    assert_eq!(sound(&mut both, "m", false).expect_err("two meanings").diagnostics[0].code.0, "G0207");
    // and inside of a branch, nodes have to be in order
    let unordered = "o = Mul(q, w) q = Neg(x) output o: f32[3]";
    let mut inner = branches(unordered, "p = Neg(x) output p: f32[3]", "t = Relu(z)");
    assert_eq!(sound(&mut inner, "m", false).expect_err("no order").diagnostics[0].code.0, "G0202");
}

/// A value that is an input and an output may be declared by half as the one and in full as the
/// other.
#[test]
fn an_input_that_is_an_output_keeps_its_shape() {
    let bytes = |as_output: &[u8]| {
        // ir 8; graph g { y = Relu(x); inputs x: f32[3]; outputs y: f32[3], x }; opset 17
        let nested = |tag: u8, body: &[u8]| [&[tag, body.len() as u8], body].concat();
        let dim = nested(0x0a, &[8, 3]);
        let tensor = nested(0x12, &nested(0x0a, &[&[8, 1][..], &nested(0x12, &dim)].concat()));
        let value =
            |tag: u8, name: &str, ty: &[u8]| nested(tag, &[&nested(0x0a, name.as_bytes()), ty].concat());
        let node = [nested(0x0a, b"x"), nested(0x12, b"y"), nested(0x22, b"Relu")].concat();
        let graph = [
            nested(0x0a, &node),
            nested(0x12, b"g"),
            value(0x5a, "x", &tensor),
            value(0x62, "y", &tensor),
            value(0x62, "x", as_output),
        ]
        .concat();
        [&[8, 8][..], &nested(0x3a, &graph), &nested(0x42, &[0x0a, 0, 0x10, 17])].concat()
    };
    for as_output in [&[0x12, 4, 0x0a, 2, 8, 1][..], &[]] {
        let model = graph::onnx::read(&bytes(as_output).into()).expect("a model");
        assert_eq!(calls(&model), 1);
    }
}
