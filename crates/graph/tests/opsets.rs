//! Models whose operator sets are known or not.

use graph::opsets::{Older, check};
use graph::text::parse_model;

fn model(version: i64, node: &str) -> graph::Model {
    let text = format!(
        "model ir 3\nopset \"\" {version}\ngraph g {{\n  input x: f32[2, 2]\n  input b: f32[2]\n  y = {node} @here\n  output y: f32[2, 2]\n}}\n"
    );
    parse_model(&text).expect("a model")
}

#[test]
fn versions_that_are_known_are_taken() {
    for (version, node) in [
        (7, "Add(x, b)"),
        (13, "Add(x, b)"),
        (28, "Add(x, b)"),
        (1, "MatMul(x, x)"),
        (20, "Gelu(x)"),
        (6, "Relu(x)"),
        (99, "odd.Op(x)"),
        (9, "NobodyKnows(x)"),
    ] {
        assert_eq!(check(&model(version, node)), Ok(None), "{version} {node}");
    }
}

#[test]
fn older_versions_without_a_difference_are_told() {
    for (version, node, name) in [
        (6, "Add(x, x)", "Add"),
        (3, "Relu(x)", "Relu"),
        (1, "Relu(x) { consumed_inputs: [0] }", "Relu"),
        (3, "Concat(x, x) { axis: 1 }", "Concat"),
    ] {
        assert_eq!(
            check(&model(version, node)),
            Ok(Some(Older { version, operators: vec![name] })),
            "{node}"
        );
    }
}

#[test]
fn versions_that_are_not_known_are_refused() {
    for (version, node, said) in [
        (29, "Add(x, b)", "the newest known is 28"),
        (99, "NobodyKnows(x)", "the newest known is 28"),
        (6, "Add(x, b) { axis: 0, broadcast: 1 }", "the meaning of Add before version 7"),
        (6, "Dropout(x)", "the meaning of Dropout before version 7"),
        (4, "Reshape(x) { shape: [4] }", "the meaning of Reshape before version 5"),
        (3, "Concat(x, x)", "the meaning of Concat before version 4"),
        (13, "Gelu(x)", "Gelu came with version 20"),
    ] {
        let refused = check(&model(version, node)).expect_err(node);
        assert_eq!(refused.code.0, "G0212");
        assert!(refused.message.contains(said), "{}", refused.message);
        assert!(
            refused.notes[0].contains("`here`") && refused.help[0].contains("convert_version"),
            "{refused:?}"
        );
    }
}

/// Branches are looked into.
#[test]
fn subgraphs_are_of_the_same_version() {
    let text = "model ir 8\nopset \"\" 13\ngraph g {\n  input x: f32[2]\n  input go: bool[]\n  y = If(go) {\n    then_branch: graph a { t = Gelu(x) output t: f32[2] },\n    else_branch: graph b { e = Neg(x) output e: f32[2] }\n  }\n  output y: f32[2]\n}\n";
    let refused = check(&parse_model(text).expect("a model")).expect_err("a branch");
    assert!(refused.message.contains("Gelu came"), "{}", refused.message);
}

/// Whatever the node tests use is of their version.
#[test]
fn node_tests_are_of_versions_that_are_known() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES").map(std::path::PathBuf::from) else {
        golden::skipped("LOZENGE_ONNX_CASES names no folder of cases; `./x onnx` writes one");
        return;
    };
    let index = std::fs::read_to_string(folder.join("index.txt")).expect("the list of cases");
    for line in index.lines() {
        let name = line.split(' ').next().expect("a name");
        let bytes = std::fs::read(folder.join(name).join("model.onnx")).expect("a model");
        let model = graph::onnx::read(&bytes.into()).expect("a model");
        assert_eq!(check(&model), Ok(None), "{name}");
    }
}
