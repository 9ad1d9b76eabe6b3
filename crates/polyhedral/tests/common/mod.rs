//! What the tests of this room share: functions from text, arguments, and runs of the interpreter.
#![allow(dead_code)] // each test uses its part

use std::collections::BTreeMap;

use loops::{BinaryOp, Data, Elem, Expr, Function, Name, ParamMode, Scalar, Tensor};

/// The one function of a text.
pub fn function(text: &str) -> Function {
    let program = loops::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    program.functions.into_iter().next().expect("a function")
}

fn eval(expr: &Expr, sizes: &BTreeMap<Name, i64>) -> i64 {
    match expr {
        Expr::Int(value) => *value,
        Expr::Var(name) => sizes[name],
        Expr::Binary(BinaryOp::Add, a, b) => eval(a, sizes) + eval(b, sizes),
        Expr::Binary(BinaryOp::Sub, a, b) => eval(a, sizes) - eval(b, sizes),
        Expr::Binary(BinaryOp::Mul, a, b) => eval(a, sizes) * eval(b, sizes),
        Expr::Binary(BinaryOp::Max, a, b) => eval(a, sizes).max(eval(b, sizes)),
        other => panic!("extents are not `{other}` in these tests"),
    }
}

/// Arguments that depend only on the names and sizes: small numbers that are exact in sums.
pub fn arguments(function: &Function, sizes: &BTreeMap<Name, i64>) -> BTreeMap<Name, Tensor> {
    let mut state = 12345u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % 17 + 1
    };
    let mut arguments = BTreeMap::new();
    for param in function.params.iter().filter(|p| p.mode != ParamMode::Out) {
        let shape: Vec<usize> = param.dims.iter().map(|e| eval(e, sizes).max(0) as usize).collect();
        let mut tensor = Tensor::zeros(&param.elem, shape);
        match (&param.elem, &mut tensor.data) {
            (Elem::Scalar(Scalar::F64), Data::F64(values)) => {
                values.iter_mut().for_each(|v| *v = next() as f64 / 16.0 + 1.0)
            }
            (_, Data::F32(values)) => values.iter_mut().for_each(|v| *v = next() as f32 / 16.0 + 1.0),
            (_, Data::I64(values)) => values.iter_mut().for_each(|v| *v = next()),
            (_, Data::I32(values)) => values.iter_mut().for_each(|v| *v = next() as i32),
            (elem, _) => panic!("no arguments of type {elem} in these tests"),
        }
        arguments.insert(param.name.clone(), tensor);
    }
    arguments
}

/// Whether sizes satisfy the assumptions, as far as a run says.
fn run(
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
    shuffle: Option<u64>,
) -> Result<BTreeMap<Name, Tensor>, String> {
    let options = loops::Options { shuffle, races: shuffle.is_some(), ..loops::Options::default() };
    loops::run(function, sizes, arguments(function, sizes), &options)
        .map_err(|d| format!("{d} {:?}", d.notes))
}

/// Runs both functions at small sizes (0, 1, primes, beyond a tile) and compares bit for bit;
/// parallel loops of the second are shuffled and watched for races. Reordered reductions are over
/// numbers whose sums are exact.
pub fn same_results(original: &Function, new: &Function, extents: &[i64]) {
    for (k, extent) in extents.iter().enumerate() {
        let sizes: BTreeMap<Name, i64> = original
            .sizes
            .iter()
            .enumerate()
            .map(|(position, name)| {
                (name.clone(), if *extent > 2 { extent + position as i64 } else { *extent })
            })
            .collect();
        match (run(original, &sizes, None), run(new, &sizes, Some(k as u64))) {
            // By their text, so that one NaN is equal to another.
            (Ok(a), Ok(b)) => assert_eq!(format!("{a:?}"), format!("{b:?}"), "results differ for {sizes:?}"),
            (Err(a), Ok(_)) => assert!(a.contains("assumption") || a.contains("L03"), "{a}"),
            (Ok(_), Err(b)) => panic!("for {sizes:?} the new function fails: {b}"),
            (Err(_), Err(_)) => {}
        }
    }
}
