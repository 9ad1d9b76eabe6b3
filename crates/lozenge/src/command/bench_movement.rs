//! `lozenge bench --movement`: what the text and the generated order of programs move behind each
//! cache, over what any order moves at least. Counted, so it needs no quiet machine.

use std::collections::BTreeMap;

use optimize::Border;
use serde_json::json;

use super::explain_movement::values;
use crate::cli::Bench;
use crate::failure::Failure;
use crate::files::{self, find, read_source};
use crate::movement::{Moved, Steps, moved};
use crate::pipeline;
use crate::report;
use crate::statistics::geometric_mean;

/// Where sizes are open, what runs for some tenths of a second: a hundred programs take minutes.
const STEPS: Steps = Steps { chosen: 1 << 22, most: 1 << 34 };

/// Runs the command.
///
/// # Errors
/// What can't be read. Programs that are refused, or that no data can be made up for, are named
/// and left out.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let mut all = Vec::new();
    let mut left_out = Vec::new();
    for path in &arguments.paths {
        for file in find(path, &["c", "loz"])? {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if arguments.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
                continue;
            }
            let source = read_source(&file)?;
            let request = crate::request::Request { reassociate: arguments.reassociate, ..super::request() };
            let caches = pipeline::machine(&request)?.caches;
            let found = files::open(&source, &request)
                .and_then(|front| moved(&front, &request, &BTreeMap::new(), &caches, STEPS));
            match found {
                Ok(found) => all.extend(found),
                Err(failure) => left_out.push(format!("{name}: {}", failure.summary())),
            }
        }
    }
    if all.is_empty() && left_out.is_empty() {
        return Err(super::bench::nothing_to_measure(arguments));
    }
    if as_json {
        print_json(&all, &left_out);
    } else {
        report::print(&shown(&all, &left_out));
    }
    Ok(())
}

/// Over the least, for the text and for the generated order.
fn ratios(border: &Border) -> Option<[f64; 2]> {
    (border.least > 0.0).then(|| [border.text / border.least, border.generated / border.least])
}

fn shown(all: &[Moved], left_out: &[String]) -> String {
    let Some(first) = all.first() else { return left_out.iter().map(|why| format!("{why}\n")).collect() };
    let mut rows = vec![vec!["over what any order moves".to_owned()]];
    for border in &first.movement.borders {
        rows[0].extend([format!("{} text", border.cache), "generated".into(), "least by".into()]);
    }
    for one in all {
        let mut row = vec![format!("{}{}", one.name, values(&one.sizes))];
        for border in &one.movement.borders {
            let shown = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
            let both = ratios(border);
            row.extend([shown(both.map(|r| r[0])), shown(both.map(|r| r[1]))]);
            row.push(if border.by_accesses { "accesses" } else { "data" }.to_owned());
        }
        rows.push(row);
    }
    let mut means = vec!["geometric mean".to_owned()];
    for level in 0..first.movement.borders.len() {
        let of = |k: usize| {
            let both = all.iter().filter_map(|one| ratios(one.movement.borders.get(level)?));
            let one: Vec<f64> = both.map(|ratio| ratio[k]).collect();
            geometric_mean(&one).map_or("-".to_owned(), |mean| format!("{mean:.2}"))
        };
        means.extend([of(0), of(1), String::new()]);
    }
    rows.push(means);
    let mut text = report::table(&rows);
    left_out.iter().for_each(|why| text.push_str(&format!("left out: {why}\n")));
    text
}

fn print_json(all: &[Moved], left_out: &[String]) {
    let border = |border: &Border| {
        json!({ "cache": border.cache, "bytes": border.capacity, "text": border.text,
            "generated": border.generated, "least": border.least,
            "by": if border.by_accesses { "accesses" } else { "data" } })
    };
    let programs: Vec<_> = all
        .iter()
        .map(|one| {
            let sizes: BTreeMap<&str, i64> = one.sizes.iter().map(|(n, v)| (n.as_str(), *v)).collect();
            let borders: Vec<_> = one.movement.borders.iter().map(border).collect();
            json!({ "name": one.name, "sizes": sizes, "movement": borders })
        })
        .collect();
    report::print_json(json!({ "ok": true, "programs": programs, "left_out": left_out }));
}
