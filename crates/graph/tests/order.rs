//! Scatters that meet a place more than once and the first elements in order, against loops that
//! say the same in another way.

use std::collections::HashMap;

use graph::evaluate::{Datum, evaluate};
use graph::text::parse_model;
use graph::{Model, Tensor, infer};

fn model(lines: &str) -> Model {
    let mut model = parse_model(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} }}")).unwrap();
    infer(&mut model).unwrap();
    model
}

fn outputs(model: &Model, given: &[(&str, Tensor)]) -> Vec<Vec<i64>> {
    let given: HashMap<_, _> = given.iter().map(|(n, t)| ((*n).into(), Datum::from(t.clone()))).collect();
    let outputs = evaluate(model, given).unwrap_or_else(|e| panic!("{}", e.message));
    outputs.iter().map(|o| o.tensor().unwrap().to_ints().unwrap()).collect()
}

/// Numbers of which many are equal.
fn few(count: usize, seed: i64) -> Vec<i64> {
    (0..count as i64).map(|i| (i * 37 + i * i / 5 + seed) % 23 - 7).collect()
}

#[test]
fn the_first_elements_are_those_of_a_sorted_row() {
    for (n, k) in [(1, 1), (9, 9), (40, 3), (63, 63), (64, 1), (64, 64), (65, 7), (100, 100), (200, 30)] {
        for largest in [true, false] {
            let given = few(n, k as i64);
            let text = format!(
                "input x: i64[{n}] init k: i64[1] = [{k}] y, at = TopK(x, k) {{ largest: {} }} output y output at",
                i64::from(largest)
            );
            let found = outputs(&model(&text), &[("x", Tensor::from_i64s(vec![n], &given))]);
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|i| if largest { -given[*i] } else { given[*i] });
            order.truncate(k);
            let values: Vec<i64> = order.iter().map(|i| given[*i]).collect();
            let places: Vec<i64> = order.iter().map(|i| *i as i64).collect();
            assert_eq!(found, [values, places], "{k} of {n}, largest: {largest}");
        }
    }
}

#[test]
fn updates_of_one_place_come_one_after_the_other() {
    let (rows, width, updates) = (6usize, 3usize, 20usize);
    let base = few(rows * width, 1);
    let values = few(updates * width, 2);
    let places: Vec<i64> = (0..updates as i64).map(|i| (i * i) % 6 - 6 * (i % 2)).collect();
    for reduction in ["none", "add", "mul", "max", "min"] {
        let mut expected = base.clone();
        for (k, at) in places.iter().enumerate() {
            for j in 0..width {
                let old = &mut expected[at.rem_euclid(rows as i64) as usize * width + j];
                let new = values[k * width + j];
                *old = match reduction {
                    "add" => old.wrapping_add(new),
                    "mul" => old.wrapping_mul(new),
                    "max" => new.max(*old),
                    "min" => new.min(*old),
                    _ => new,
                };
            }
        }
        let text = format!(
            "input x: i64[{rows}, {width}] input i: i64[{updates}, 1] input u: i64[{updates}, {width}]
             y = ScatterND(x, i, u) {{ reduction: \"{reduction}\" }} output y"
        );
        let given = [
            ("x", Tensor::from_i64s(vec![rows, width], &base)),
            ("i", Tensor::from_i64s(vec![updates, 1], &places)),
            ("u", Tensor::from_i64s(vec![updates, width], &values)),
        ];
        assert_eq!(outputs(&model(&text), &given), [expected.clone()], "ScatterND, {reduction}");
        let wide: Vec<i64> = places.iter().flat_map(|p| vec![*p; width]).collect();
        let text = text.replace("i64[20, 1]", "i64[20, 3]").replace("ScatterND", "ScatterElements");
        let given =
            [given[0].clone(), ("i", Tensor::from_i64s(vec![updates, width], &wide)), given[2].clone()];
        assert_eq!(outputs(&model(&text), &given), [expected], "ScatterElements, {reduction}");
    }
}
