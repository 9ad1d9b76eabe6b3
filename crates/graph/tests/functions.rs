//! Functions of models put in place of their calls.
//!
//! `tests/graph/functions/*.models`: models in textual form with `---` between them; all but the
//! last stand for functions (`meta domain`, `meta overload`, `meta attributes` say what a model has
//! no place for, the attributes of a node `Defaults` are those with a default). Beside each the
//! model without functions, or what is said of it. The node tests of the `onnx` package go through
//! a function of their own.

mod support;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use graph::evaluate::{Datum, evaluate};
use graph::{functions, text};
use support::wire::{Writer, fields, part};

/// The function that a model stands for, as the format has it.
fn function(text_of: &str) -> Vec<u8> {
    let mut model = text::parse_model(text_of).expect("a model");
    let meta = std::mem::take(&mut model.metadata);
    let bytes = graph::onnx::write(&model);
    let mut out = Writer::default();
    let body = part(&bytes, 7).expect("a graph");
    for (number, value) in fields(&body) {
        let name = || part(&value, 1).expect("a value has a name");
        match number {
            1 if part(&value, 4).as_deref() == Some(b"Defaults") => {
                fields(&value).into_iter().filter(|(n, _)| *n == 5).for_each(|(_, a)| out.bytes(11, &a));
            }
            1 => out.bytes(7, &value),
            2 => out.bytes(1, &value),
            11 => out.bytes(4, &name()),
            12 => out.bytes(5, &name()),
            13 => out.bytes(12, &value),
            _ => {}
        }
    }
    fields(&bytes).into_iter().filter(|(n, _)| *n == 8).for_each(|(_, opset)| out.bytes(9, &opset));
    for (key, value) in &meta {
        match key.as_str() {
            "domain" => out.bytes(10, value.as_bytes()),
            "overload" => out.bytes(13, value.as_bytes()),
            "attributes" => value.split(' ').for_each(|name| out.bytes(6, name.as_bytes())),
            other => panic!("meta {other}"),
        }
    }
    out.0
}

/// The model of a case: its last part, with the others as functions.
fn model(case: &str) -> graph::Model {
    let mut parts: Vec<&str> = case.split("\n---\n").collect();
    let last = parts.pop().expect("a part");
    let mut bytes = Writer(graph::onnx::write(&text::parse_model(last).expect("a model")));
    parts.into_iter().for_each(|part| bytes.bytes(25, &function(part)));
    graph::onnx::read(&bytes.0.into()).expect("a model with functions")
}

fn told(diagnostic: &loops::Diagnostic) -> String {
    let mut out = format!("{}: {}\n", diagnostic.code.0, diagnostic.message);
    diagnostic.notes.iter().for_each(|note| writeln!(out, "note: {note}").expect("a text grows"));
    diagnostic.help.iter().for_each(|help| writeln!(out, "help: {help}").expect("a text grows"));
    out
}

#[test]
fn calls_become_what_they_call() {
    golden::check("graph/functions", "models", "out", |case| {
        let mut model = model(&case.input);
        let before = model.clone();
        match functions::inline(&mut model) {
            Ok(calls) => {
                assert!(graph::onnx::functions(&model).expect("readable").is_empty());
                let again = graph::onnx::read(&graph::onnx::write(&model).into()).expect("a model");
                assert!(again == model, "what is written is another model");
                let mut out = format!("{calls} calls\n{}", model);
                for found in graph::validate(&model) {
                    out.push_str(&told(&found));
                }
                if let Err(found) = graph::infer(&mut model) {
                    out.push_str(&told(&found));
                }
                out
            }
            Err(refused) => {
                assert!(model == before, "a refused model is changed");
                told(&refused)
            }
        }
    });
}

#[test]
fn a_model_without_calls_stays_as_it_is() {
    let uncalled = "model ir 10\nopset \"\" 18\nmeta domain f\ngraph f {\n  input x: f32[?]\n  y = Relu(x)\n  output y: f32[?]\n}\n";
    let main =
        "model ir 10\nopset \"\" 18\ngraph g {\n  input x: f32[2]\n  y = Relu(x)\n  output y: f32[2]\n}\n";
    let mut model = model(&format!("{uncalled}\n---\n{main}"));
    let before = graph::onnx::write(&model);
    assert_eq!(functions::inline(&mut model).expect("nothing to do"), 0);
    assert_eq!(graph::onnx::write(&model), before);
    assert_eq!(graph::onnx::functions(&model).expect("readable").len(), 1);
}

/// Functions that each call the one before twice: what comes out doubles with each, and is refused
/// before memory is full.
#[test]
fn what_multiplies_is_bounded() {
    let level = |k: usize| {
        let call = |x: &str, y: &str| match k {
            0 => format!("  {y} = Neg({x})\n"),
            _ => format!("  {y} = f.g{}({x})\n", k - 1),
        };
        format!(
            "model ir 10\nopset \"\" 18\nopset f 1\nmeta domain f\ngraph g{k} {{\n  input x: f32[?]\n{}{}  output z: f32[?]\n}}",
            call("x", "y"),
            call("y", "z")
        )
    };
    let main = |k: usize| {
        format!(
            "model ir 10\nopset \"\" 18\nopset f 1\ngraph m {{\n  input x: f32[2]\n  y = f.g{k}(x)\n  output y: f32[2]\n}}"
        )
    };
    let case = |levels: usize| {
        let mut parts: Vec<String> = (0..levels).map(level).collect();
        parts.push(main(levels - 1));
        parts.join("\n---\n")
    };
    let mut small = model(&case(10));
    assert_eq!(functions::inline(&mut small).expect("a thousand nodes"), (1 << 10) - 1);
    assert_eq!(small.graph.node_count(), 1 << 10);
    let names: std::collections::HashSet<_> = small.graph.values().map(|(_, v)| v.name().clone()).collect();
    assert_eq!(names.len(), (1 << 10) + 1);
    let refused = functions::inline(&mut model(&case(60))).expect_err("2^60 nodes");
    assert_eq!(refused.code.0, "G0211", "{}", refused.message);
}

/// Chains of functions need no stack.
#[test]
fn long_chains_of_functions_are_inlined() {
    let mut parts = Vec::new();
    for k in 0..3000 {
        let body = match k {
            0 => "y = Neg(x)".to_owned(),
            _ => format!("y = f.g{}(x) @\"a name that would grow\"", k - 1),
        };
        parts.push(format!("model ir 10\nopset \"\" 18\nopset f 1\nmeta domain f\ngraph g{k} {{\n  input x: f32[?]\n  {body}\n  output y: f32[?]\n}}"));
    }
    parts.push("model ir 10\nopset \"\" 18\nopset f 1\ngraph m {\n  input x: f32[2]\n  y = f.g2999(x)\n  output y: f32[2]\n}".to_owned());
    let mut model = model(&parts.join("\n---\n"));
    assert_eq!(functions::inline(&mut model).expect("a chain"), 3000);
    assert_eq!(model.graph.node_count(), 1);
}

/// Damaged files are refused or read, and what is read is inlined or refused: nothing panics,
/// nothing takes all memory.
#[test]
fn damaged_functions_do_no_harm() {
    let (mut state, mut inlined) = (7u64, 0);
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for case in golden::cases("graph/functions", "models") {
        let file = graph::onnx::write(&model(&case.input));
        for _ in 0..300 {
            let mut bytes = file.clone();
            for _ in 0..=random(3) {
                let (at, other) = (random(bytes.len()), random(bytes.len()));
                match random(4) {
                    0 => bytes[at] ^= 1 << random(8),
                    1 => bytes[at] = bytes[other],
                    2 => bytes.truncate(bytes.len().saturating_sub(random(4))),
                    _ => {
                        let piece = bytes[at..(at + 8).min(bytes.len())].to_vec();
                        bytes.splice(other..other, piece);
                    }
                }
            }
            let Ok(mut model) = graph::onnx::read(&bytes.into()) else { continue };
            if functions::inline(&mut model).is_ok_and(|calls| calls > 0) {
                inlined += 1;
                let again = graph::onnx::read(&graph::onnx::write(&model).into()).map(|m| m.to_string());
                let model = model.to_string();
                assert!(again.as_ref() == Ok(&model), "{}: {again:?}\n instead of {model}", case.name);
            }
        }
    }
    assert!(inlined > 300, "{inlined}");
}

/// A model whose graph is a function that is called once; the attributes of its nodes come from the
/// call.
fn wrapped(bytes: &[u8]) -> Option<Vec<u8>> {
    let graph = part(bytes, 7)?;
    let (mut function, mut call, mut outer) = (Writer::default(), Writer::default(), Writer::default());
    function.bytes(1, b"Whole");
    function.bytes(10, b"wrapped");
    let mut names = Vec::new();
    for (number, value) in fields(&graph) {
        match number {
            1 => {
                let mut node = Writer::default();
                for (n, inner) in fields(&value) {
                    if n != 5 {
                        node.bytes(n, &inner);
                        continue;
                    }
                    let lifted = format!("a{}", names.len());
                    let (mut refers, mut given) = (Writer::default(), Writer::default());
                    refers.bytes(1, &part(&inner, 1)?);
                    refers.bytes(21, lifted.as_bytes());
                    given.bytes(1, lifted.as_bytes());
                    given.0.extend(support::wire::without(&inner, 1));
                    // A graph belongs to where it stands: it may use values of the body.
                    if part(&inner, 6).is_some() {
                        node.bytes(5, &inner);
                        continue;
                    }
                    node.bytes(5, &refers.0);
                    call.bytes(5, &given.0);
                    names.push(lifted);
                }
                function.bytes(7, &node.0);
            }
            5 => return None,
            11 | 12 => {
                let name = part(&value, 1)?;
                function.bytes(if number == 11 { 4 } else { 5 }, &name);
                call.bytes(if number == 11 { 1 } else { 2 }, &name);
                outer.bytes(number, &value);
            }
            _ => {}
        }
    }
    names.iter().for_each(|name| function.bytes(6, name.as_bytes()));
    call.bytes(4, b"Whole");
    call.bytes(7, b"wrapped");
    outer.bytes(1, &call.0);
    outer.bytes(2, b"outer");
    fields(bytes).into_iter().filter(|(n, _)| *n == 8).for_each(|(_, opset)| function.bytes(9, &opset));
    let mut model = Writer(support::wire::without(bytes, 7));
    let mut import = Writer::default();
    import.bytes(1, b"wrapped");
    import.0.extend([0x10, 1]);
    model.bytes(8, &import.0);
    model.bytes(7, &outer.0);
    model.bytes(25, &function.0);
    Some(model.0)
}

#[test]
fn node_tests_are_the_same_behind_a_function() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES").map(PathBuf::from) else {
        golden::skipped("LOZENGE_ONNX_CASES names no folder of cases; `./x onnx` writes one");
        return;
    };
    let index = std::fs::read_to_string(folder.join("index.txt")).expect("the list of cases");
    let (mut seen, mut compared) = (0, 0);
    for (k, line) in index.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let place = folder.join(words[0]);
        let bytes = std::fs::read(place.join("model.onnx")).expect("a model");
        let Some(wrapped) = wrapped(&bytes) else { continue };
        let plain = graph::onnx::read(&bytes.into()).expect("a model");
        let mut model = graph::onnx::read(&wrapped.into()).expect("a wrapped model");
        assert_eq!(functions::inline(&mut model).unwrap_or_else(|d| panic!("{}: {}", words[0], told(&d))), 1);
        assert_eq!(graph::validate(&model), graph::validate(&plain), "{}", words[0]);
        seen += 1;
        // Inlining is the same for all; evaluation takes time.
        let subgraphs = plain.graph.nodes().any(|(_, node)| node.has_subgraphs());
        if k % 16 != 0 && !subgraphs {
            continue;
        }
        let data =
            graph::onnx::read(&std::fs::read(place.join("data.onnx")).expect("data").into()).expect("data");
        let Ok(data) = evaluate(&data, HashMap::new()) else { continue };
        let named = |model: &graph::Model| -> HashMap<_, Datum> {
            let inputs = model.graph.inputs().iter().map(|id| model.graph.value(*id).name().clone());
            inputs.zip(data.iter().cloned()).collect()
        };
        let (Ok(want), got) = (evaluate(&plain, named(&plain)), evaluate(&model, named(&model))) else {
            continue;
        };
        assert!(
            got.as_ref().is_ok_and(|got| *got == want) || format!("{want:?}").contains("NaN"),
            "{}: {got:?}",
            words[0]
        );
        compared += 1;
    }
    assert!(seen > 1500 && compared > 90, "{seen} inlined, {compared} compared");
}
