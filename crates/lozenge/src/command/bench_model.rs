//! `lozenge bench --model`: what orders of loops take, measured beside what the cost model
//! predicts.
//!
//! Of each C program three texts run: the original, the compiler's choice, and its affine schedule
//! with tiles of 32. Both the times and the predictions are told as ratios to the original. The
//! rank correlation says how well predictions order candidates.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use targets::Stage;

use super::bench_c::ENOUGH;
use crate::cli::Bench;
use crate::failure::Failure;
use crate::files::{self, read_source};
use crate::kernel::Program;
use crate::pipeline;
use crate::process::Compiler;
use crate::report;
use crate::request::Request;
use crate::statistics::rank_correlation;

/// One order of a program's loops.
struct Point {
    kernel: String,
    candidate: &'static str,
    /// The original over this, as predicted.
    predicted: f64,
    /// The same as measured.
    measured: f64,
}

/// Measures candidates of C programs and compares with the predictions.
///
/// # Errors
/// What is missing to compile and run. Programs that are refused are told, and left out.
pub fn run(files: &[PathBuf], arguments: &Bench, compiler: &Compiler, as_json: bool) -> Result<(), Failure> {
    for threads in arguments.threads_or_one() {
        let mut points = Vec::new();
        for file in files {
            match candidates(file, arguments, compiler, *threads) {
                Ok(found) => points.extend(found),
                Err(failure) => report::print_error(&format!("{}: {}\n", file.display(), failure.summary())),
            }
        }
        let pairs: Vec<(f64, f64)> = points.iter().map(|p| (p.predicted, p.measured)).collect();
        let correlation = rank_correlation(&pairs);
        if as_json {
            let all = points.iter().map(|p| {
                json!({ "kernel": p.kernel, "candidate": p.candidate, "predicted": p.predicted, "measured": p.measured })
            });
            let all: Vec<_> = all.collect();
            report::print_json(
                json!({ "ok": true, "threads": threads, "model": all, "rank_correlation": correlation }),
            );
        } else {
            report::print(&text(&points, *threads, correlation));
        }
    }
    Ok(())
}

fn text(points: &[Point], threads: u32, correlation: Option<f64>) -> String {
    let threads = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
    let mut table = vec![vec![
        threads,
        "candidate".to_owned(),
        "measured: original / it".to_owned(),
        "predicted: original / it".to_owned(),
    ]];
    for p in points {
        let ratios = [p.measured, p.predicted].map(|ratio| format!("{ratio:.2}"));
        let mut row = vec![p.kernel.clone(), p.candidate.to_owned()];
        row.extend(ratios);
        table.push(row);
    }
    let correlation = correlation.map_or("none".to_owned(), |r| format!("{r:.2}"));
    format!("{}rank correlation: {correlation}, of {} candidates\n\n", report::table(&table), points.len())
}

/// Candidates of a program, each with its prediction and its time.
fn candidates(
    file: &Path,
    arguments: &Bench,
    compiler: &Compiler,
    threads: u32,
) -> Result<Vec<Point>, Failure> {
    let source = read_source(file)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let kernel = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let include = crate::process::include(folder).to_string_lossy().into_owned();
    let preprocessor = vec![include, "-DLARGE".to_owned()];
    let request = Request { assume_no_alias: true, preprocessor, ..super::request() };
    let repetitions = if arguments.quick { "-DREPS=1" } else { "-DREPS=3" };
    let flags = ["-O3", "-march=native", "-DLARGE", repetitions, "-fopenmp"];
    let mut programs = vec![(Program::build(compiler, &source.text, folder, &flags, &[])?, None)];
    for (candidate, tile) in [("chosen", Vec::new()), ("tiles of 32", vec![32])] {
        let request = Request { tile, ..request.clone() };
        let front = files::open(&source, &request)?;
        let text = front.emit(Stage::C, &request)?.text;
        let (original, ours) = pipeline::cycles(&front, &request, threads)?;
        let program = Program::build(compiler, &text, folder, &flags, &[])?;
        programs.push((program, Some((candidate, original / ours.max(1.0)))));
    }
    let mut least = vec![f64::INFINITY; programs.len()];
    let began = Instant::now();
    for round in 0..if arguments.quick { 1 } else { arguments.reps.min(5) } {
        if round >= 2 && began.elapsed() > ENOUGH {
            break;
        }
        for ((program, _), least) in programs.iter().zip(&mut least) {
            let run = program.run(threads, Duration::from_secs(300))?;
            *least = run.seconds.unwrap_or(f64::INFINITY).min(*least);
        }
    }
    let original = least[0];
    let timed = programs.into_iter().zip(&least).filter(|(_, time)| time.is_finite() && **time > 0.0);
    Ok(timed
        .filter_map(|((_, what), time)| {
            let (candidate, predicted) = what?;
            Some(Point { kernel: kernel.clone(), candidate, predicted, measured: original / time })
        })
        .collect())
}
