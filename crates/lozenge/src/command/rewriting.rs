//! `lozenge bench --rewriting`: the time of whole `lozenge optimize` commands, and how it grows
//! with the model.
//!
//! Each command is a process of its own: it reads the file, applies all rules that ship, folds
//! constants, writes the result.

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
const SIZES: [usize; 4] = [1_000, 10_000, 30_000, 100_000];
/// So many branches on one input are compared with as many on inputs of their own, three on each.
const BRANCHES: usize = 2_048;
/// Commands take no longer than this.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs the command.
///
/// # Errors
/// A command that fails, files that can't be written.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let repetitions = if arguments.quick { 1 } else { arguments.reps.min(5) };
    let sizes = if arguments.quick { &SIZES[..3] } else { &SIZES[..] };
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
        let each = slope(&points) * 1e6;
        fits.push_str(&format!(
            "{model}: {each:.2} us for a node more (least squares); time without the start grows as nodes^{exponent:.2}\n"
        ));
        values.push(json!({ "model": model, "exponent": exponent, "us_for_a_node": each }));
    }
    let mut branches = Vec::new();
    for (model, how) in [("threes", "3 on an input"), ("parallel", "all on one input")] {
        // The generator counts nodes, and a branch has three.
        let (nodes, seconds) = time(scratch.path(), model, 3 * BRANCHES, repetitions)?;
        branches.push((seconds - empty.1).max(0.0) / nodes as f64 * 1e6);
        rows.push(vec![
            format!("{BRANCHES} branches, {how}"),
            nodes.to_string(),
            format!("{seconds:.3}"),
            format!("{:.2}", seconds / nodes as f64 * 1e6),
        ]);
        values.push(json!({ "branches": BRANCHES, "model": model, "nodes": nodes, "seconds": seconds }));
    }
    if as_json {
        report::print_json(json!({ "ok": true, "start_seconds": empty.1, "rewriting": values }));
    } else {
        let start = format!("start (rules read and checked, nothing to do): {:.3} s\n", empty.1);
        let many = format!(
            "{BRANCHES} branches without the start: {:.2} us a node if each 3 have an input, {:.2} if all share one\n",
            branches[0], branches[1]
        );
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
    let program = std::env::current_exe()
        .map_err(|e| Failure::environment("X0906", format!("the path of this program is not known: {e}")))?;
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

/// The exponent of growth by least squares on logarithms, after the time of the start is taken off;
/// sizes that hardly take longer than the start say nothing about growth and are left out.
fn exponent(points: &[(f64, f64)], start: f64) -> f64 {
    let telling = points.iter().filter(|(_, t)| *t > 2.0 * start);
    slope(&telling.map(|(n, t)| (n.ln(), (t - start).ln())).collect::<Vec<_>>())
}

/// The slope of the line through points by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let above: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let below: f64 = points.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program of the tests is none that optimizes, so the command fails.
    #[test]
    fn a_command_that_fails_is_told() {
        let scratch = Scratch::new().unwrap();
        let failure = time(scratch.path(), "chain", 5, 1).unwrap_err();
        let told = &failure.diagnostics[0];
        assert_eq!((told.code.0, told.message.as_str()), ("X0906", "optimizing `chain` with 5 nodes failed"));
        assert!(golden::root().join("docs/errors/X0906.md").exists());
    }

    #[test]
    fn growth_is_fitted_where_it_shows() {
        let points: Vec<(f64, f64)> = [1e3, 1e4, 1e5].iter().map(|n| (*n, 0.01 + 1e-5 * n)).collect();
        assert!((exponent(&points, 0.01) - 1.0).abs() < 1e-9);
        assert!((slope(&points) - 1e-5).abs() < 1e-12);
        let square: Vec<(f64, f64)> = points.iter().map(|(n, _)| (*n, 0.01 + 1e-9 * n * n)).collect();
        assert!((exponent(&square[1..], 0.01) - 2.0).abs() < 1e-9);
    }
}
