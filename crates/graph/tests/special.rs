//! Operators on NaN, infinities, zeros of both signs and the ends of the range: what onnxruntime
//! and the reference evaluator give (`tests/onnx/special.py` writes the table).

#[path = "../../../tests/onnx/special.rs"]
mod special;

use graph::{Operator, Tensor, folding_kernels, operators};
use special::{Special, calls};

fn table() -> Vec<Special> {
    let text = std::fs::read_to_string(golden::root().join("tests/onnx/special.txt")).expect("the table");
    let calls = calls(&text);
    assert!(calls.len() > 80, "{}", calls.len());
    calls
}

/// Why a result is not the right one, if it is not: NaN for NaN, infinities and zeros with their
/// signs, others nearly.
fn wrong(got: &Tensor, want: &Tensor) -> Option<String> {
    if (got.elem, &got.dims) != (want.elem, &want.dims) {
        return Some(format!("{} for {}", got.ty(), want.ty()));
    }
    let (Some(g), Some(w)) = (got.to_f32s(), want.to_f32s()) else {
        return (got.bytes() != want.bytes())
            .then(|| format!("{:?} for {:?}", got.to_ints(), want.to_ints()));
    };
    let differs = |g: f32, w: f32| match (g.is_nan(), w.is_nan()) {
        (true, true) => false,
        _ if g == 0.0 && w == 0.0 => g.is_sign_negative() != w.is_sign_negative(),
        _ => g != w && ((g - w).is_nan() || (g - w).abs() > 1e-6 + 1e-4 * w.abs()),
    };
    let k = (0..g.len()).find(|k| differs(g[*k], w[*k]))?;
    Some(format!("element {k} is {:?} for {:?}", g[k], w[k]))
}

fn compare(call: &Special, got: &[Tensor], failures: &mut Vec<String>) {
    for (k, want) in call.results.iter().enumerate() {
        match got.get(k).map(|got| wrong(got, want)) {
            Some(None) => {}
            Some(Some(why)) => failures.push(format!("{} {:?}, result {k}: {why}", call.op, call.attributes)),
            None => failures.push(format!("{}: no result {k}", call.op)),
        }
    }
}

#[test]
fn special_numbers_have_the_results_of_the_table() {
    let mut failures = Vec::new();
    for call in table() {
        let op = Operator::from(call.op.as_str());
        let inputs: Vec<Option<&Tensor>> = call.inputs.iter().map(Option::as_ref).collect();
        match operators::evaluate(&op, 21, &call.attributes, &inputs, call.results.len()) {
            Ok(got) => compare(&call, &got, &mut failures),
            Err(error) => failures.push(format!("{}: {error}", call.op)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_shortcut_of_folding_gives_them_too() {
    let (mut failures, mut taken) = (Vec::new(), 0);
    for call in table() {
        let op = Operator::from(call.op.as_str());
        let inputs: Vec<Option<&Tensor>> = call.inputs.iter().map(Option::as_ref).collect();
        if let Some(got) =
            folding_kernels::evaluate(&op, &call.attributes, &inputs, call.results.len(), usize::MAX)
        {
            taken += 1;
            compare(&call, &got, &mut failures);
        }
    }
    assert!(taken >= 8, "{taken}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
