//! `lozenge bench --translation`: how long it takes from source text to C: definitions, how that
//! grows with the program, and C kernels.

use std::time::Instant;

use serde_json::json;
use targets::Stage;

use crate::cli::Bench;
use crate::command::bench_c::LINEAR_ALGEBRA;
use crate::failure::{Failure, Source};
use crate::files::{self, find, read_source};
use crate::fuzz::chain;
use crate::kernel::has_region;
use crate::pipeline::{self, Front};
use crate::report;
use crate::request::Request;
use crate::statistics::seconds;

/// Combinators of the generated programs.
const CHAINS: [u32; 4] = [10, 100, 1_000, 10_000];

/// One measurement: what was translated, and the seconds of both halves.
struct Row {
    what: String,
    front: f64,
    back: f64,
}

/// Runs the command.
///
/// # Errors
/// What the stages refuse.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut kernels = Vec::new();
    for path in &arguments.paths {
        for file in find(path, &["c"])? {
            let source = read_source(&file)?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let wanted = arguments.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
            if wanted && has_region(&source.text) {
                kernels.push((name, rewrite(&source)?));
            }
        }
        for file in find(path, &["loz"])? {
            let source = read_source(&file)?;
            let began = Instant::now();
            let front = files::open(&source, &super::request())?;
            let opened = began.elapsed().as_secs_f64();
            for name in front.definitions() {
                let what = format!("{} {name}", source.path);
                // A definition that leaves its loops to a strategy gets the plainest one.
                rows.push(translate(&front, what, opened, Some("try choose".into()), name)?);
            }
        }
    }
    if !kernels.is_empty() {
        return tell_kernels(&kernels, as_json);
    }
    let slowest = rows.iter().map(|r| r.front + r.back).fold(0.0, f64::max);
    let definitions = rows.len();
    for combinators in CHAINS {
        let source = Source { path: "chain.loz".into(), text: chain(combinators) };
        let began = Instant::now();
        let front = files::open(&source, &super::request())?;
        let opened = began.elapsed().as_secs_f64();
        let what = format!("generated, {combinators} combinators");
        rows.push(translate(&front, what, opened, None, "chain".into())?);
    }
    if as_json {
        let rows: Vec<_> =
            rows.iter().map(|r| json!({ "what": r.what, "front": r.front, "back": r.back })).collect();
        report::print_json(json!({ "ok": true, "translations": rows, "slowest": slowest }));
        return Ok(());
    }
    let mut table = vec![
        ["", "file: parse and types", "definition: rewrite to C", "together"].map(str::to_owned).to_vec(),
    ];
    for row in &rows {
        let cells = [row.front, row.back, row.front + row.back].map(seconds);
        table.push(std::iter::once(row.what.clone()).chain(cells).collect());
    }
    report::print(&format!(
        "{}slowest of {definitions} definitions: {}\n",
        report::table(&table),
        seconds(slowest)
    ));
    Ok(())
}

/// Seconds from the text of a C program to that of the rewritten one, its preprocessing by the
/// system's compiler and all checks included: the least of some runs.
fn rewrite(source: &Source) -> Result<f64, Failure> {
    let preprocessor = vec!["-DLARGE".to_owned()];
    let request = Request { assume_no_alias: true, preprocessor, ..super::request() };
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        files::open(source, &request)?.emit(Stage::C, &request)?;
        least = least.min(began.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Prints what was measured of C kernels, the slowest first.
fn tell_kernels(kernels: &[(String, f64)], as_json: bool) -> Result<(), Failure> {
    let mut kernels = kernels.to_vec();
    kernels.sort_by(|a, b| b.1.total_cmp(&a.1));
    if as_json {
        let rows: Vec<_> = kernels.iter().map(|(what, s)| json!({ "what": what, "seconds": s })).collect();
        report::print_json(json!({ "ok": true, "translations": rows }));
        return Ok(());
    }
    let mean = |chosen: &dyn Fn(&str) -> bool| -> String {
        let times: Vec<f64> = kernels.iter().filter(|(name, _)| chosen(name)).map(|(_, s)| *s).collect();
        match times.len() {
            0 => "-".to_owned(),
            n => format!("{} of {n}", seconds(times.iter().sum::<f64>() / n as f64)),
        }
    };
    let rows: Vec<Vec<String>> = kernels.iter().map(|(name, s)| vec![name.clone(), seconds(*s)]).collect();
    report::print(&format!(
        "{}mean: {}; of linear algebra: {}\n",
        report::table(&rows),
        mean(&|_| true),
        mean(&|name| LINEAR_ALGEBRA.contains(&name))
    ));
    Ok(())
}

/// Translations of each definition; the one in the middle counts, so that what happens once (the
/// library of strategies is read) does not.
const ROUNDS: usize = 5;

fn translate(
    front: &Front,
    what: String,
    opened: f64,
    strategy: Option<String>,
    name: String,
) -> Result<Row, Failure> {
    let request = Request { strategy, ..super::request().of(&name) };
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let lowered = front.lower(&request)?;
        let program = loops::Program { functions: vec![lowered.function] };
        pipeline::to_c(&program, &request, None)?;
        times.push(began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(Row { what, front: opened, back: times[ROUNDS / 2] })
}
