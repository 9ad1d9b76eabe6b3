//! Indices that are outside of what they are indices of: refused where they are known, checked by
//! the plan where they are not.

use std::collections::HashMap;

use graph::evaluate::{Datum, evaluate};
use graph::plan::Step;
use graph::{Tensor, plan, text};
use loops::{Registers, Size};

/// A call of `x: f32[3, 2]` with indices of this shape.
fn model(call: &str, shape: &str, result: &str) -> graph::Model {
    let text = format!(
        "model ir 9\nopset \"\" 18\ngraph g {{\n  input x: f32[3, 2]\n  input i: i64[{shape}]\n  input u: f32[{result}]\n  y = {call} @here\n  output y: f32[{}]\n}}\n",
        if call.starts_with("Scatter") { "3, 2" } else { result }
    );
    let mut model = text::parse_model(&text).expect("a model");
    graph::infer(&mut model).expect("types");
    model
}

fn numbers(dims: &[usize]) -> Tensor {
    let count: usize = dims.iter().product();
    Tensor::from_f32s(dims.to_vec(), &(0..count).map(|k| k as f32).collect::<Vec<_>>())
}

/// The call, the shape of its indices, that of its updates or result, extents that the parts of an
/// index count along.
type Case = (&'static str, &'static [usize], &'static [usize], &'static [i64]);

/// Each operator.
const CALLS: [Case; 8] = [
    ("Gather(x, i)", &[2], &[2, 2], &[3]),
    ("Gather(x, i) { axis: -1 }", &[2], &[3, 2], &[2]),
    ("GatherElements(x, i) { axis: 1 }", &[3, 2], &[3, 2], &[2]),
    ("GatherND(x, i)", &[1, 2], &[1], &[3, 2]),
    ("GatherND(x, i) { batch_dims: 1 }", &[3, 1], &[3], &[2]),
    ("ScatterElements(x, i, u)", &[1, 2], &[1, 2], &[3]),
    ("ScatterND(x, i, u)", &[2, 1], &[2, 2], &[3]),
    ("ScatterND(x, i, u) { reduction: \"add\" }", &[1, 2], &[1], &[3, 2]),
];

fn shown(dims: &[usize]) -> String {
    dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn value(model: &graph::Model, indices: &Tensor, updates: &[usize]) -> Result<Vec<Datum>, loops::Diagnostic> {
    let inputs = [("x", numbers(&[3, 2])), ("i", indices.clone()), ("u", numbers(updates))];
    evaluate(
        model,
        inputs.into_iter().map(|(name, tensor)| (name.into(), tensor.into())).collect::<HashMap<_, _>>(),
    )
}

#[test]
fn the_evaluator_refuses_what_is_outside() {
    for (call, shape, updates, extents) in CALLS {
        let model = model(call, &shown(shape), &shown(updates));
        let count: usize = shape.iter().product();
        let at = |k: usize| extents[k % extents.len()];
        for k in 0..count {
            for (index, good) in
                [(at(k) - 1, true), (-at(k), true), (at(k), false), (-at(k) - 1, false), (i64::MIN, false)]
            {
                let mut list = vec![0; count];
                list[k] = index;
                let found = value(&model, &Tensor::from_i64s(shape.to_vec(), &list), updates);
                match found {
                    Ok(_) => assert!(good, "{call} takes {list:?}"),
                    Err(d) => {
                        assert!(!good, "{call} refuses {list:?}: {}", d.message);
                        assert_eq!(d.code.0, "G0506");
                        let said =
                            format!("input 1 has the index {index}, and the extent of the axis is {}", at(k));
                        assert!(d.message.ends_with(&said), "{}", d.message);
                        assert!(d.notes.iter().any(|n| n.contains("`here`")), "{:?}", d.notes);
                    }
                }
            }
        }
    }
}

#[test]
fn plans_refuse_constants_and_check_the_rest() {
    let registers = Registers { count: 16, bytes: 32 };
    for (call, shape, updates, extents) in CALLS {
        let open = model(call, &shown(shape), &shown(updates));
        let made = plan::plan(&open, registers).unwrap_or_else(|d| panic!("{call}: {}", d.message));
        let checks: Vec<_> = Step::calls(&made.steps).into_iter().flat_map(|call| &call.checks).collect();
        let count = shape.iter().product::<usize>();
        let numbers = |sizes: &[Size]| sizes.iter().filter_map(Size::as_constant).collect::<Vec<i64>>();
        assert!(
            matches!(checks[..], [check] if numbers(&check.extents) == extents && check.count.as_constant() == Some(count as i64)),
            "{call}: {checks:?}"
        );
        // The same with constants.
        for (index, good) in [(1, true), (3, false)] {
            let tensor = Tensor::from_i64s(shape.to_vec(), &vec![index; shape.iter().product()]);
            let mut closed = text::parse_model(&open.to_string().replace(
                &format!("  input i: i64[{}]\n", shown(shape)),
                &format!("  init i: i64[{}] = {:?}\n", shown(shape), tensor.to_ints().expect("integers")),
            ))
            .expect("a model");
            graph::infer(&mut closed).expect("types");
            match plan::plan(&closed, registers) {
                Ok(made) => {
                    assert!(
                        good && Step::calls(&made.steps).iter().all(|call| call.checks.is_empty()),
                        "{call} at {index}"
                    )
                }
                Err(d) => assert!(!good && d.code.0 == "G0506", "{call} at {index}: {}", d.message),
            }
        }
    }
}
