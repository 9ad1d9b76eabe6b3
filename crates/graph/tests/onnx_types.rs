//! Inference against `onnx.shape_inference` on the models of the node tests
//! (`tests/onnx/infer_types.py`): no contradiction, and hardly anything less.
//!
//! Without the folder in `LOZENGE_ONNX_TYPES` it says so and does nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use graph::text::parse_graph;
use graph::{Dim, TensorType, infer, onnx};

/// Values of which less is known than the peer knows: operators without a rule, and extents that
/// follow from an input's contents.
const MOST_WORSE: usize = 230;

fn parse(text: &str) -> TensorType {
    let graph = parse_graph(&format!("graph g {{ input x: {text} }}")).unwrap();
    graph.value(graph.inputs()[0]).tensor_type().unwrap().clone()
}

#[test]
fn types_agree_with_the_peer() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_TYPES").map(PathBuf::from) else {
        golden::skipped("LOZENGE_ONNX_TYPES is not set; `./x onnx` sets it");
        return;
    };
    let text = std::fs::read_to_string(folder.join("types.txt")).unwrap();
    let mut cases: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.split('\t');
        let (Some(case), Some(value), Some(ty)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        cases.entry(case).or_default().push((value, ty));
    }
    let (mut same, mut better, mut worse, mut none) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (case, values) in &cases {
        let bytes = std::fs::read(folder.join(format!("{case}.onnx"))).unwrap();
        let mut model = onnx::read(&bytes.into()).unwrap();
        if let Err(error) = infer(&mut model) {
            wrong.push(format!("{case}: {error}"));
            continue;
        }
        for (name, expected) in values {
            let expected = parse(expected);
            let found = model.graph.find(name).and_then(|v| model.graph.value(v).tensor_type());
            let Some(found) = found else {
                none += 1;
                continue;
            };
            let contradiction = found.elem != expected.elem
                || match (&found.shape, &expected.shape) {
                    (Some(a), Some(b)) => {
                        a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.surely_differs(b))
                    }
                    _ => false,
                };
            if contradiction {
                wrong.push(format!("{case}: `{name}` is {found}, expected {expected}"));
                continue;
            }
            let known = |d: &Dim| usize::from(*d != Dim::Unknown);
            let count =
                |t: &TensorType| t.shape.as_ref().map_or(0, |s| 1 + s.iter().map(known).sum::<usize>());
            match count(found).cmp(&count(&expected)) {
                std::cmp::Ordering::Equal => same += 1,
                std::cmp::Ordering::Greater => better += 1,
                std::cmp::Ordering::Less => worse += 1,
            }
        }
    }
    println!("types of {} models: {same} the same, {better} better, {worse} worse, {none} none", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same + better > 0 && worse + none <= MOST_WORSE, "{worse} worse, {none} none");
}
