//! `lozenge bench --costs`: what calls take, measured, beside what the model of costs says that
//! rewriting goes by.
//!
//! Each probe is a small model that is compiled to C and run on one thread. The constants in
//! `gsl::cost` are set by hand from this table: they need be right to a factor of two or three,
//! since a rewrite is refused only where the model says that it loses.

use std::collections::BTreeMap;
use std::time::Duration;

use graph::Model;
use serde_json::json;

use super::model;
use crate::cli::Bench;
use crate::execute::Schedule;
use crate::failure::Failure;
use crate::pipeline::graph as pipeline;
use crate::pipeline::graph::ModelRequest;
use crate::process::Optimise;
use crate::report;
use crate::statistics::Summary;

/// A probe: a name, what is declared, and one call `y = …` of the value `x`, which is done so
/// often, each time to its own result.
struct Probe {
    name: &'static str,
    declared: &'static str,
    call: &'static str,
    times: usize,
}

const fn probe(name: &'static str, declared: &'static str, call: &'static str, times: usize) -> Probe {
    Probe { name, declared, call, times }
}

const PROBES: [Probe; 20] = [
    probe("a call that does nothing", "input x: f32[1]", "Neg(x)", 64),
    probe("negation, in cache", "input x: f32[8192]", "Neg(x)", 32),
    probe("sum, in cache", "input x: f32[8192]", "Add(x, x)", 32),
    probe("sum, from memory", "input x: f32[8388608]", "Add(x, x)", 1),
    probe("root", "input x: f32[8192]", "Sqrt(x)", 32),
    probe("quotient", "input x: f32[8192]", "Div(x, x)", 32),
    probe("hyperbolic tangent", "input x: f32[8192]", "Tanh(x)", 32),
    probe("softmax", "input x: f32[128, 1024]", "Softmax(x)", 4),
    probe("mean of rows", "input x: f32[512, 1024]", "ReduceMean(x) { axes: [1] }", 1),
    probe("global average", "input x: f32[1, 256, 56, 56]", "GlobalAveragePool(x)", 1),
    probe(
        "largest of windows, 3 x 3",
        "input x: f32[1, 64, 56, 56]",
        "MaxPool(x) { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }",
        1,
    ),
    probe("copy, in cache", "input x: f32[64, 128]", "Concat(x, x) { axis: 0 }", 1),
    probe("copy, from memory", "input x: f32[1, 256, 128, 128]", "Concat(x, x) { axis: 1 }", 1),
    probe("transposition", "input x: f32[1024, 1024]", "Transpose(x) { perm: [1, 0] }", 2),
    probe("product 512 x 512 x 512", "input x: f32[512, 512]", "MatMul(x, x)", 2),
    probe("product 128 x 768 x 768", "input x: f32[128, 768] input w: f32[768, 768]", "MatMul(x, w)", 2),
    probe(
        "convolution 3 x 3, 64 to 64",
        "input x: f32[1, 64, 56, 56] input w: f32[64, 64, 3, 3]",
        "Conv(x, w) { pads: [1, 1, 1, 1] }",
        1,
    ),
    probe(
        "convolution 1 x 1, 256 to 64",
        "input x: f32[1, 256, 28, 28] input w: f32[64, 256, 1, 1]",
        "Conv(x, w)",
        1,
    ),
    probe(
        "convolution 1 x 1, 64 to 256",
        "input x: f32[1, 64, 56, 56] input w: f32[256, 64, 1, 1]",
        "Conv(x, w)",
        1,
    ),
    probe(
        "convolution 3 x 3, by channel",
        "input x: f32[1, 128, 28, 28] input w: f32[128, 1, 3, 3]",
        "Conv(x, w) { pads: [1, 1, 1, 1], group: 128 }",
        1,
    ),
];

/// Runs the command.
///
/// # Errors
/// What the stages refuse, what is missing to compile and run.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let mut rows =
        vec![["one call", "measured us", "model us", "model / measured"].map(str::to_owned).to_vec()];
    let mut values = Vec::new();
    for probe in &PROBES {
        let (measured, estimated) = time(probe, arguments.reps.max(3))?;
        rows.push(vec![
            probe.name.into(),
            format!("{measured:.2}"),
            format!("{estimated:.2}"),
            format!("{:.2}", estimated / measured),
        ]);
        values.push(json!({ "call": probe.name, "measured_us": measured, "model_us": estimated }));
    }
    if as_json {
        report::print_json(json!({ "ok": true, "costs": values }));
    } else {
        report::print(&report::table(&rows));
    }
    Ok(())
}

/// Least time of one call and the model's, in microseconds.
fn time(probe: &Probe, repetitions: u32) -> Result<(f64, f64), Failure> {
    let model = built(probe)?;
    let compiled = pipeline::compile(&model, &ModelRequest::default())?;
    let executable = model::build(&compiled, Optimise::Fast)?;
    let inputs = compiled.plan.inputs.iter().map(|port| {
        let scalar = graph::operators::carrier(port.elem).unwrap_or(loops::Scalar::F32);
        let shape = model::shape(port, &BTreeMap::new())?;
        Ok((port.name.clone(), model::random(&loops::Elem::Scalar(scalar), shape, 1)))
    });
    let inputs = inputs.collect::<Result<BTreeMap<_, _>, Failure>>()?;
    let arrays = model::arrays(&compiled, &inputs, &BTreeMap::new())?;
    let schedule = Schedule { threads: Some(1), repetitions, warm_up: 2, limit: Duration::from_secs(60) };
    let outcome = executable.run(0, &BTreeMap::new(), &arrays, schedule)?;
    let calls = probe.times as f64;
    Ok((Summary::of(&outcome.times).least * 1e6 / calls, gsl::estimate(&model) * 1e-3 / calls))
}

fn built(probe: &Probe) -> Result<Model, Failure> {
    let mut text = format!("model ir 8 opset \"\" 17 graph probe {{ {}", probe.declared);
    for k in 0..probe.times {
        text.push_str(&format!(" y{k} = {} output y{k}", probe.call));
    }
    text.push_str(" }");
    let mut model = graph::text::parse_model(&text)?;
    graph::infer(&mut model)?;
    Ok(model)
}
