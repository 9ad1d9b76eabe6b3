//! Slices of all kinds, in shapes, in known elements, folded and evaluated, against the places that
//! the operator's description names.

use std::collections::HashMap;

use graph::evaluate::{Datum, evaluate};
use graph::simplify::{FoldOptions, simplify};
use graph::text::parse_model;
use graph::{Dim, Model, ValueId, infer};

/// The places from `start` by `step` as long as they are inside and before `end`.
fn places(n: i64, start: i64, end: i64, step: i64) -> Vec<i64> {
    let n = i128::from(n);
    let from_front = |at: i64| i128::from(at) + if at < 0 { n } else { 0 };
    let (start, end, step) = (from_front(start), from_front(end), i128::from(step));
    let first = if step > 0 { start.max(0) } else { start.max(0).min(n - 1) };
    let reached = |p: &i128| (p - first) % step == 0 && (p - first) / step >= 0;
    let before = |p: &i128| if step > 0 { *p < end } else { *p > end };
    let mut found: Vec<i64> = (0..n).filter(|p| reached(p) && before(p)).map(|p| p as i64).collect();
    if step < 0 {
        found.reverse();
    }
    found
}

fn value(model: &Model, name: &str) -> ValueId {
    model.graph.find(name).unwrap()
}

#[test]
fn slices_have_the_elements_that_are_named() {
    let bounds = [i64::MIN, -100, -4, -3, -2, -1, 0, 1, 2, 3, 4, 100, i64::MAX];
    for n in 0..4i64 {
        let elements: Vec<i64> = (0..n).map(|k| 10 + k).collect();
        let text: Vec<String> = elements.iter().map(i64::to_string).collect();
        for (start, end) in bounds.iter().flat_map(|s| bounds.map(|e| (*s, e))) {
            for step in [i64::MIN, -2, -1, 1, 2, i64::MAX] {
                let what = format!("{n} elements [{start}, {end}) by {step}");
                let expected: Vec<i64> =
                    places(n, start, end, step).into_iter().map(|p| elements[p as usize]).collect();
                let mut model = parse_model(&format!(
                    "model ir 10 opset \"\" 21 graph g {{ input x: i64[{n}] input q: f32[{dims}] init c: i64[{n}] = [{dims}]
                     init s: i64[1] = [{start}] init e: i64[1] = [{end}] init a: i64[1] = [0] init t: i64[1] = [{step}]
                     d = Shape(q) y = Slice(x, s, e, a, t) known = Slice(d, s, e, a, t) z = Slice(c, s, e, a, t) w = Mul(y, z) output y output w }}",
                    dims = text.join(", ")
                ))
                .unwrap();
                infer(&mut model).unwrap();
                for name in ["y", "z"] {
                    let ty = model.graph.value(value(&model, name)).tensor_type().unwrap().to_string();
                    assert_eq!(ty, format!("i64[{}]", expected.len()), "{what}");
                }
                let known = model.graph.value(value(&model, "known")).known_elements().map(<[Dim]>::to_vec);
                assert_eq!(known, Some(expected.iter().map(|e| Dim::Known(*e)).collect()), "{what}");
                // Extremes are left to the checks above: evaluation takes its time.
                if start.abs_diff(0) > 4 && start != -100 {
                    continue;
                }
                let x = graph::Tensor::from_i64s([elements.len()], &elements);
                let given = HashMap::from([
                    ("x".into(), Datum::from(x)),
                    ("q".into(), Datum::from(graph::Tensor::from_value(&zeros(&elements)).unwrap())),
                ]);
                let squares: Vec<i64> = expected.iter().map(|e| e * e).collect();
                for (out, expected) in evaluate(&model, given).unwrap().iter().zip([&expected, &squares]) {
                    assert_eq!(out.tensor().unwrap().to_ints().as_ref(), Some(expected), "{what}");
                }
                if expected.is_empty() {
                    continue;
                }
                simplify(&mut model, &FoldOptions::default());
                let z = model
                    .graph
                    .nodes()
                    .find(|(_, node)| node.op().is("Mul"))
                    .and_then(|(_, node)| node.input(1));
                let folded =
                    z.and_then(|z| model.graph.value(z).initializer()).and_then(graph::Tensor::to_ints);
                assert_eq!(folded, Some(expected), "{what}\n{model}");
            }
        }
    }
}

/// An array of these extents; not of data, which would be many.
fn zeros(dims: &[i64]) -> loops::Tensor {
    let shape: Vec<usize> = dims.iter().map(|d| *d as usize).collect();
    loops::Tensor::zeros(&loops::Elem::Scalar(loops::Scalar::F32), shape)
}
