//! Models of old versions of the operators compute the same bits after they are written for each
//! newer one.
#![allow(missing_docs)]

use std::collections::HashMap;
use std::path::PathBuf;

use graph::evaluate::{Datum, evaluate};
use graph::model::NEWEST_OPSET;
use graph::upgrade::upgrade;
use graph::{Model, Tensor};
use loops::Name;

fn model(opset: i64, body: &str) -> Model {
    let text = format!("model ir 3\nopset \"\" {opset}\ngraph g {{\n{body}\n}}\n");
    graph::text::parse_model(&text).unwrap_or_else(|d| panic!("{body}: {d:?}"))
}

/// Small numbers of both signs, different in each place.
fn inputs(model: &Model) -> HashMap<Name, Datum> {
    let tensor = |(k, id): (usize, &graph::ValueId)| {
        let value = model.graph.value(*id);
        let ty = value.tensor_type().expect("an input is a tensor");
        let shape = ty.shape.as_ref().expect("with a shape");
        let dims: Vec<usize> =
            shape.iter().map(|dim| dim.known().expect("of known extents") as usize).collect();
        let count: usize = dims.iter().product();
        let data: Vec<f32> = (0..count).map(|i| ((i * 7 + k * 3) % 11) as f32 / 4.0 - 1.25).collect();
        (value.name().clone(), Datum::from(Tensor::from_f32s(dims, &data)))
    };
    model.graph.inputs().iter().enumerate().map(tensor).collect()
}

/// Each body, the version that it is written for, and nodes that are written otherwise in the end.
const OLD: [(i64, usize, &str); 22] = [
    (9, 1, "input x: f32[2, 1, 3] y = Squeeze(x) { axes: [1] } output y: f32[2, 3]"),
    (9, 1, "input x: f32[2, 3] y = Unsqueeze(x) { axes: [0, 3] } output y: f32[1, 2, 3, 1]"),
    (9, 1, "input x: f32[2, 3] y = ReduceSum(x) { axes: [1], keepdims: 0 } output y: f32[2]"),
    (9, 0, "input x: f32[2, 3] y = ReduceMean(x) { keepdims: 0 } output y: f32[]"),
    (13, 1, "input x: f32[2, 3] y = ReduceMax(x) { axes: [-1] } output y: f32[2, 1]"),
    (9, 1, "input x: f32[4, 5] y = Slice(x) { starts: [1], ends: [-1], axes: [1] } output y: f32[4, 3]"),
    (9, 1, "input x: f32[4, 5] y = Slice(x) { starts: [1, 0], ends: [9, 2] } output y: f32[3, 2]"),
    (7, 1, "input x: f32[4] y = Clip(x) { min: -0.5 } output y: f32[4]"),
    (7, 0, "input x: f32[4] y = Clip(x) output y: f32[4]"),
    (7, 1, "input x: f32[2, 2] y = Pad(x) { pads: [1, 0, 0, 2], value: 0.5 } output y: f32[3, 4]"),
    (9, 1, "input x: f32[2, 5] y, i = TopK(x) { k: 2 } output y: f32[2, 2] output i: i64[2, 2]"),
    (9, 1, "input x: f32[5] a, b = Split(x) { split: [2, 3] } output a: f32[2] output b: f32[3]"),
    (9, 1, "input x: f32[6] a, b = Split(x) output a: f32[3] output b: f32[3]"),
    (9, 1, "input x: f32[3] y = Dropout(x) { ratio: 0.25 } output y: f32[3]"),
    (
        8,
        1,
        "input x: f32[1, 2, 3] input s: f32[2] b = Abs(s) y = BatchNormalization(x, s, s, s, b) { spatial: 1 }
         output y: f32[1, 2, 3]",
    ),
    (
        7,
        1,
        "input x: f32[1, 1, 2, 3] y = Upsample(x) { scales: [1.0, 1.0, 2.0, 1.5] } output y: f32[1, 1, 4, 4]",
    ),
    (
        10,
        1,
        "input x: f32[1, 1, 2, 2] init s: f32[4] = [1.0, 1.0, 2.0, 3.0]
         y = Resize(x, s) { mode: \"linear\" } output y: f32[1, 1, 4, 6]",
    ),
    (
        10,
        1,
        "input x: f32[1, 1, 4, 4] init r: f32[1, 4] = [0.0, 0.0, 3.0, 3.0] init b: i64[1] = [0]
         y = RoiAlign(x, r, b) { output_height: 2, output_width: 2 } output y: f32[1, 1, 2, 2]",
    ),
    (
        16,
        1,
        "input x: f32[1, 1, 3, 3] input g: f32[1, 2, 2, 2] y = GridSample(x, g) output y: f32[1, 1, 2, 2]",
    ),
    (7, 1, "input x: f32[2, 3] y = Softmax(x) { axis: 1 } output y: f32[2, 3]"),
    (7, 1, "input x: f32[2, 3, 2] y = LogSoftmax(x) output y: f32[2, 3, 2]"),
    (
        9,
        1,
        "input x: f32[4] init i: i64[2] = [2, 0] init u: f32[2] = [8.0, 9.0]
         y = Scatter(x, i, u) output y: f32[4]",
    ),
];

#[test]
fn old_models_compute_the_same_in_each_newer_version() {
    for (opset, changes, body) in OLD {
        let mut old = model(opset, body);
        graph::infer(&mut old).expect(body);
        let wanted = evaluate(&old, inputs(&old)).unwrap_or_else(|d| panic!("{body}: {d:?}"));
        for to in opset..=NEWEST_OPSET {
            let mut new = old.clone();
            let changed = upgrade(&mut new, to).unwrap_or_else(|d| panic!("{body} for {to}: {d:?}"));
            assert!(new.opset() == to && (to < NEWEST_OPSET || changed == changes), "{body}: {changed}");
            let told = || format!("for {to}: {new}");
            assert_eq!(graph::validate(&new), Vec::new(), "{}", told());
            assert_eq!(graph::opsets::check(&new), Ok(None), "{}", told());
            graph::infer(&mut new.clone()).unwrap_or_else(|d| panic!("{}: {d:?}", told()));
            let got = evaluate(&new, inputs(&new)).unwrap_or_else(|d| panic!("{}: {d:?}", told()));
            assert_eq!(got, wanted, "{}", told());
        }
    }
}

#[test]
fn bodies_are_written_for_the_version_too() {
    let mut old = model(
        11,
        "input x: f32[2, 3] init c: bool[] = [true]
         y = If(c) {
           then_branch: graph t { outer x s = Squeeze(x) n = ReduceSum(s) { axes: [0] } output n },
           else_branch: graph e { outer x n = ReduceSum(x) { axes: [1] } output n },
         }
         output y: f32[..]",
    );
    graph::infer(&mut old).expect("types");
    let wanted = evaluate(&old, inputs(&old)).expect("the old one runs");
    assert_eq!(upgrade(&mut old, NEWEST_OPSET), Ok(2));
    assert_eq!(evaluate(&old, inputs(&old)).expect("the new one runs"), wanted);
}

#[test]
fn what_is_not_known_is_refused() {
    let refused = [
        (21, 17, "y = Neg(x)", "which is newer than 17"),
        (17, 99, "y = Neg(x)", "is not known"),
        (9, 13, "y, m = Dropout(x)", "its mask has another type"),
        (11, 13, "y = Upsample(x)", "the operator does not exist any more"),
        (9, 17, "y, m, v, a, b = BatchNormalization(x, x, x, x, x)", "it has results of training"),
    ];
    for (from, to, node, why) in refused {
        let mut model = model(from, &format!("input x: f32[3]\n{node}\noutput y: f32[3]"));
        let message = upgrade(&mut model, to).map_err(|d| d.message);
        assert!(message.as_ref().is_err_and(|m| m.contains(why)), "{node}: {message:?}");
    }
}

#[test]
fn node_tests_compute_the_same_in_the_newest_version() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES").map(PathBuf::from) else {
        golden::skipped("LOZENGE_ONNX_CASES names no folder of cases; `./x onnx` writes one");
        return;
    };
    let index = std::fs::read_to_string(folder.join("index.txt")).expect("the list of cases");
    let (mut compared, mut refused) = (0, Vec::new());
    for (k, line) in index.lines().enumerate() {
        let name = line.split(' ').next().expect("a name");
        let read = |file: &str| {
            let bytes = std::fs::read(folder.join(name).join(file)).expect("a file");
            graph::onnx::read(&bytes.into()).expect("a model")
        };
        let old = read("model.onnx");
        let mut new = old.clone();
        // Without types some nodes can't be written otherwise; that is refused.
        let _ = graph::infer(&mut new);
        match upgrade(&mut new, NEWEST_OPSET) {
            Ok(0) if k % 16 != 0 => continue,
            Ok(_) => {}
            Err(d) => {
                refused.push(format!("{name}: {}", d.message));
                continue;
            }
        }
        let Ok(data) = evaluate(&read("data.onnx"), HashMap::new()) else { continue };
        let named = |model: &Model| -> HashMap<_, Datum> {
            let inputs = model.graph.inputs().iter().map(|id| model.graph.value(*id).name().clone());
            inputs.zip(data.iter().cloned()).collect()
        };
        let (Ok(wanted), got) = (evaluate(&old, named(&old)), evaluate(&new, named(&new))) else { continue };
        let same = got.as_ref().is_ok_and(|got| *got == wanted) || format!("{wanted:?}").contains("NaN");
        assert!(same, "{name}: {got:?}");
        compared += 1;
    }
    assert!(compared > 90 && refused.len() < 40, "{compared} compared, refused: {refused:#?}");
}
