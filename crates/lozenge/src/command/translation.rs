//! `lozenge bench --translation`: how long it takes from source text to C, and how that grows with the program.

use std::time::Instant;

use serde_json::json;

use crate::cli::{Bench, Choice, Mode};
use crate::failure::{Failure, Source};
use crate::files::{find, read_source};
use crate::fuzz::chain;
use crate::pipeline::{self, Front};
use crate::report;
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
    for path in &arguments.paths {
        for file in find(path, &["loz"])? {
            let source = read_source(&file)?;
            let began = Instant::now();
            let front = Front::open(&source, &Choice::default())?;
            let opened = began.elapsed().as_secs_f64();
            for name in front.definitions() {
                let what = format!("{} {name}", source.path);
                // A definition that leaves its loops to a strategy gets the plainest one.
                rows.push(translate(&front, what, opened, Some("try choose".into()), name)?);
            }
        }
    }
    let slowest = rows.iter().map(|r| r.front + r.back).fold(0.0, f64::max);
    let definitions = rows.len();
    for combinators in CHAINS {
        let source = Source { path: "chain.loz".into(), text: chain(combinators) };
        let began = Instant::now();
        let front = Front::open(&source, &Choice::default())?;
        let opened = began.elapsed().as_secs_f64();
        let what = format!("generated, {combinators} combinators");
        rows.push(translate(&front, what, opened, None, "chain".into())?);
    }
    if as_json {
        let rows: Vec<_> =
            rows.iter().map(|r| json!({ "what": r.what, "front": r.front, "back": r.back })).collect();
        report::print(&format!("{:#}\n", json!({ "ok": true, "translations": rows, "slowest": slowest })));
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

/// Translations of each definition; the one in the middle counts, so that what happens once (the library of strategies is read) does not.
const ROUNDS: usize = 5;

fn translate(
    front: &Front,
    what: String,
    opened: f64,
    strategy: Option<String>,
    name: String,
) -> Result<Row, Failure> {
    let choice = Choice { definition: Some(name), strategy, ..Choice::default() };
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let lowered = front.lower(&choice)?;
        let program = loops::Program { functions: vec![lowered.function] };
        pipeline::to_c(&program, Mode::Default, None)?;
        times.push(began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(Row { what, front: opened, back: times[ROUNDS / 2] })
}
