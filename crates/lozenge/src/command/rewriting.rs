//! `lozenge bench --rewriting`: the time of whole `lozenge optimize` commands, and how it grows with the model.
//!
//! Each command is a process of its own: it reads the file, applies all rules that ship, folds constants, writes the result.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use graph::generate::{Scale, generate};
use serde_json::json;

use crate::cli::Bench;
use crate::failure::Failure;
use crate::files::{Scratch, write_whole};
use crate::{process, report};

/// Kinds of models (see `lozenge generate`) and their sizes in nodes.
const MODELS: [&str; 3] = ["chain", "parallel", "conv_bn"];
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Branches of one input whose time for a node is compared.
const BRANCHES: [usize; 2] = [3, 2_048];
/// Commands take no longer than this.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs the command.
///
/// # Errors
/// A command that fails, files that can't be written.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let repetitions = if arguments.quick { 1 } else { arguments.reps.min(5) };
    let sizes = if arguments.quick { &SIZES[..2] } else { &SIZES[..] };
    // What a command takes that has nothing to do: a process, and the rules read and checked.
    let empty = time(scratch.path(), "chain", 1, repetitions)?;
    let mut rows = vec![["model", "nodes", "s", "us a node"].map(str::to_owned).to_vec()];
    let mut values = Vec::new();
    let mut fits = String::new();
    for model in MODELS {
        let mut points = Vec::new();
        for size in sizes {
            let (nodes, seconds) = time(scratch.path(), model, *size, repetitions)?;
            points.push((nodes as f64, seconds));
            rows.push(vec![
                model.into(),
                nodes.to_string(),
                format!("{seconds:.3}"),
                format!("{:.2}", seconds / nodes as f64 * 1e6),
            ]);
            values.push(json!({ "model": model, "nodes": nodes, "seconds": seconds }));
        }
        let exponent = exponent(&points, empty.1);
        fits.push_str(&format!("{model}: time without the start grows as nodes^{exponent:.2}\n"));
        values.push(json!({ "model": model, "exponent": exponent }));
    }
    let mut branches = Vec::new();
    for count in BRANCHES {
        // The generator counts nodes, and a branch has three.
        let (nodes, seconds) = time(scratch.path(), "parallel", 3 * count, repetitions)?;
        branches.push(((seconds - empty.1).max(0.0) / nodes as f64, nodes));
        rows.push(vec![
            format!("parallel, {count} branches"),
            nodes.to_string(),
            format!("{seconds:.3}"),
            format!("{:.2}", seconds / nodes as f64 * 1e6),
        ]);
        values.push(json!({ "branches": count, "nodes": nodes, "seconds": seconds }));
    }
    if as_json {
        report::print(&format!(
            "{:#}\n",
            json!({ "ok": true, "start_seconds": empty.1, "rewriting": values })
        ));
    } else {
        let start = format!("start (rules read and checked, nothing to do): {:.3} s\n", empty.1);
        let many = branches.last().map_or(0.0, |b| b.0) * 1e6;
        let many = format!("2,048 branches of one input: {many:.2} us a node without the start\n");
        report::print(&format!("{}{start}{fits}{many}", report::table(&rows)));
    }
    Ok(())
}

/// Nodes of the model, and the least time of the command in seconds.
fn time(folder: &Path, model: &str, size: usize, repetitions: u32) -> Result<(usize, f64), Failure> {
    let built = generate(model, Scale::Full, size, 1)
        .ok_or_else(|| Failure::refused("X0006", format!("there is no model `{model}`")))?;
    let (input, output) = (folder.join("in.onnx"), folder.join("out.onnx"));
    write_whole(&input, &graph::onnx::write(&built))?;
    let program = std::env::current_exe().map_err(|e| {
        Failure::environment("X0906", format!("this program does not know its own file: {e}"))
    })?;
    let mut least = f64::INFINITY;
    for _ in 0..repetitions {
        let clock = Instant::now();
        let finished =
            process::run(Command::new(&program).arg("optimize").arg(&input).arg("-o").arg(&output), LIMIT)?;
        least = least.min(clock.elapsed().as_secs_f64());
        if !finished.status.success() {
            return Err(Failure::check("X0906", format!("optimizing `{model}` with {size} nodes failed"))
                .note(finished.stderr));
        }
    }
    Ok((built.graph.node_count(), least))
}

/// The exponent of growth by least squares on logarithms, after the time of the start is taken off.
fn exponent(points: &[(f64, f64)], start: f64) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(n, t)| (n.ln(), (t - start).max(1e-4).ln())).collect();
    let count = logs.len() as f64;
    let (mx, my) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let above: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let below: f64 = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    above / below
}
