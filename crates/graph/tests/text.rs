//! The textual form: what is printed parses back, and mistakes have their places.

use graph::text::{parse_graph, parse_model};
use graph::{AttributeValue, Dim, ElementType, Graph, NewNode, Place, Tensor, TensorType, ValueType};

const EVERYTHING: &str = r#"model ir 10
opset "" 21
opset "com.example" 1
meta "author" "a \"quoted\" name\n"
raw hex"0a00ff"
graph "the graph" {
  input x: f32[batch, 4]
  input state: sequence(f32[..])
  input options: optional(map(i64, string[?]))
  input with_default: f32[2]
  init w: f32[4, 2] = [0.5, 1.0, -1.5, 2.0, inf, 3.0, 3.5e-10, 4.0]
  init with_default: f32[2] = [1.0, 2.0]
  init half: f16[2] = hex"003c0040"
  init words: string[2] = ["a", "\xff"] named "words"
  init far: f32[8] = external "weights.bin" 4096 32 "checksum" "abc"
  value h: f32[batch, (2 * batch + ((1 + 1 * "two words") / (3)))]
  h = Gemm(x, w, _) { alpha: 1.0, transB: 0 } @"first layer"
  a, _, b = Split(h, _) { axis: 1, num_outputs: 3 } raw hex"3a00"
  "input" = "com.example".Odd(a) { empty: ints [], some: [1.5, nan7fc00001], texts: ["a", "b"], t: type f32[1], k: tensor i64[2] [1, -2] }
  y = If(cond) { then_branch: graph then {
      outer x
      t = Relu(x)
      output t
    }, else_branch: graph else {
      outer b
      output b
    } }
  output y: f32[..]
}
"#;

#[test]
fn everything_prints_and_parses_back() {
    let model = parse_model(EVERYTHING).unwrap();
    let printed = model.to_string();
    let again = parse_model(&printed).unwrap_or_else(|e| panic!("{e} {:?}\n{printed}", e.labels));
    assert_eq!(model, again);
    assert_eq!(printed, again.to_string());
    let graph = &model.graph;
    let (b, x) = (graph.find("b").unwrap(), graph.find("x").unwrap());
    assert!(graph.is_captured(b) && graph.is_captured(x));
    assert_eq!(graph.value(x).use_count(), 2);
}

#[test]
fn mistakes_have_places() {
    for (text, message) in [
        ("graph g { input x: f32[2] input x: f32[2] }", "`x` is defined twice"),
        ("graph g { y = Relu(x) y = Relu(x) }", "`y` is defined twice"),
        ("graph g { y, y = Relu(x) }", "one value twice"),
        ("graph g { init w: f32[2] = [1.0] }", "1 elements for a tensor f32[2]"),
        ("graph g { init w: f32[2] = hex\"00\" }", "1 bytes for a tensor f32[2]"),
        ("graph g { init w: f32[9223372036854775807, 9] = [1.0] }", "beyond any memory"),
        ("graph g { y = Relu(x", "expected `)`, found the end"),
        ("graph g { input x: \"", "a text has no end"),
    ] {
        let error = parse_graph(text).unwrap_err();
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(error.labels.len(), 1);
    }
    let deep = "graph g { a = If(c) { b: ".repeat(1000);
    assert!(parse_graph(&deep).unwrap_err().message.contains("nested deeper"));
}

#[test]
fn a_graph_is_built_and_edited() {
    let mut g = Graph::new("g");
    let x = g.add_input("x", TensorType::new(ElementType::F32, [Dim::symbol("n"), Dim::Known(4)]));
    let w = g.add_initializer("w", Tensor::from_f32s([4, 4], &[0.5; 16]));
    let h = g.add("MatMul", [x, w]);
    let r = g.add("Relu", [h]);
    let s = g.add_with("Softmax", [r], &[("axis", AttributeValue::Int(-1))]);
    g.add_output(s);
    g.declare(s, ValueType::Tensor(TensorType::new(ElementType::F32, [Dim::symbol("n"), Dim::Known(4)])));
    assert_eq!(parse_graph(&g.to_string()).unwrap(), g);

    // The node that makes `h` is replaced by another that makes the same value.
    let (node, _) = g.producer(h).unwrap();
    let place = Place::Before(g.next(node).unwrap());
    g.remove_node(node);
    let t = g.add_value("t");
    let first = g.insert(NewNode::new("Transpose", [x], [t]), place);
    g.insert(NewNode::new("MatMul", [t, w], [h]), Place::After(first));
    assert!(g.is_sorted());
    let ops: Vec<String> = g.nodes().map(|(_, n)| n.op().to_string()).collect();
    assert_eq!(ops, ["Transpose", "MatMul", "Relu", "Softmax"]);

    // An output keeps its name when another value takes its place.
    let name = g.value(s).name().clone();
    g.replace_value(s, r);
    assert_eq!(g.value(g.outputs()[0]).name(), &name);
    assert_eq!(g.outputs(), [r]);
    g.remove_node(g.producer(s).unwrap().0);
    assert!(!g.is_alive(s));
    // An input can't give its name away: an Identity carries it.
    g.replace_value(r, x);
    assert_eq!(g.value(g.outputs()[0]).name(), &name);
    assert_eq!(g.node(g.producer(g.outputs()[0]).unwrap().0).op().to_string(), "Identity");
}
