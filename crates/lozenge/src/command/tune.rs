//! `lozenge tune`: candidates for the order of loops are measured, and the fastest is kept in a
//! file beside the program.

use std::path::Path;
use std::time::Duration;

use loops::{Function, Name, Program};
use serde_json::{Value as Json, json};
use targets::Signature;

use crate::bind::{self, Sizes};
use crate::check;
use crate::cli::Tune;
use crate::execute::{Build, Executable};
use crate::failure::{Failure, FailureKind, Source};
use crate::files::{self, read_source, write_whole};
use crate::measure::{Effort, Measured, Variant, interleaved};
use crate::pipeline::tuned::{self, Entry};
use crate::pipeline::{self, Front, Lowered};
use crate::places::Range;
use crate::process::{Compiler, Optimise};
use crate::progress::Bar;
use crate::report::{self, table};
use crate::request::{Request, Schedule};
use crate::statistics::seconds;

/// Tile sizes that are tried, outermost loop first; the last one holds for further loops.
const TILES: [&[i64]; 8] =
    [&[16], &[32], &[64], &[128], &[32, 128], &[32, 256], &[16, 16, 256], &[64, 64, 16]];

/// By how much a schedule must be faster than the compiler's choice to be kept: more than times of
/// one program differ on a quiet machine.
const KEPT: f64 = 1.03;

/// What a candidate that is measured is.
struct Candidate {
    name: String,
    /// None for what the compiler does.
    schedule: Option<String>,
    lowered: Lowered,
}

/// Runs the command.
///
/// # Errors
/// What the stages refuse, sizes that are missing, a missing C compiler, a file that is no file of
/// schedules; candidates with other results than the compiler's choice.
pub fn run(arguments: &Tune, as_json: bool) -> Result<(), Failure> {
    let source = read_source(&arguments.file)?;
    let output = arguments.output.clone().unwrap_or_else(|| files::tuned_path(&arguments.file));
    let mut entries = kept_before(&output)?;
    let request = arguments.choice.request()?;
    if request.schedule != Schedule::Usual {
        return Err(Failure::refused("X0908", "there is nothing to tune where the schedule is given")
            .help("leave --schedule out"));
    }
    let compiler = Compiler::find()?;
    let front = files::open(&source, &request)?;
    let (mut told, mut differ) = (Vec::new(), false);
    for name in front.wanted(&request)? {
        let request = request.of(&name);
        let function = front.original(&name, &request)?;
        let candidates = candidates(&front, &function, &request, arguments)?;
        let measured = measure(&candidates, &request, arguments, &compiler)?;
        let wrong = wrong(&measured, &candidates);
        differ |= !wrong.is_empty();
        let best = fastest(&measured, &wrong);
        let kept = best.and_then(|k| candidates[k].schedule.as_ref().map(|schedule| (k, schedule)));
        entries.retain(|entry| entry.name != name);
        if let Some((k, schedule)) = kept {
            let about = about(&candidates[k].name, &measured, k, arguments, &compiler);
            let digest = tuned::digest(&function, &request);
            entries.push(Entry { name: name.clone(), digest, text: format!("{about}{schedule}") });
        }
        let chosen = kept.map_or(0, |(k, _)| k);
        match as_json {
            true => told.push(as_json_value(&name, &measured, chosen, &wrong)),
            false => report::print(&text(&name, &measured, chosen, &wrong, arguments)),
        }
    }
    let written = written(&output, &entries)?;
    if as_json {
        report::print_json(json!({ "ok": !differ, "written": written, "tuned": told }));
    } else if let [path] = written.as_slice() {
        report::print(&format!("written to {path}\n"));
    }
    if differ { Err(Failure::told(FailureKind::Check)) } else { Ok(()) }
}

/// The entries of the file as it is; none if there is none.
fn kept_before(path: &Path) -> Result<Vec<Entry>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let source = files::read_text(path)?;
    match source.text.starts_with(tuned::FIRST_LINE) {
        true => Ok(tuned::entries(&source.text)),
        false => Err(Failure::refused(
            "X0908",
            format!("{} is not a file of schedules that `lozenge tune` wrote", source.path),
        )
        .help("name another file with -o")),
    }
}

/// Writes the file, or removes the entries of one that has none any more.
fn written(path: &Path, entries: &[Entry]) -> Result<Vec<String>, Failure> {
    if entries.is_empty() && !path.exists() {
        return Ok(Vec::new());
    }
    write_whole(path, tuned::file(entries).as_bytes())?;
    Ok(vec![path.display().to_string()])
}

/// The compiler's choice first, then schedules that give other loops, in the order of their
/// predicted cost.
fn candidates(
    front: &Front,
    function: &Function,
    request: &Request,
    arguments: &Tune,
) -> Result<Vec<Candidate>, Failure> {
    let usual = front.lower(request)?;
    let mut all =
        vec![Candidate { name: "the compiler's choice".to_owned(), schedule: None, lowered: usual }];
    let mut schedules: Vec<(String, String)> = Vec::new();
    let text = Request { schedule: Schedule::Original, ..request.clone() };
    if let Ok(optimized) = front.optimized(function, &text) {
        schedules.push(("the text as it is".to_owned(), optimized.schedule.to_string()));
    }
    let others = front.schedules(function, request).unwrap_or_default();
    schedules.extend(others.into_iter().map(|(name, schedule)| (name, schedule.to_string())));
    for tile in TILES {
        let name = tile.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let tiled = Request { schedule: Schedule::Auto, tile: tile.to_vec(), ..request.clone() };
        if let Ok(optimized) = front.optimized(function, &tiled) {
            schedules.push((format!("tiles of {name}"), optimized.schedule.to_string()));
        }
    }
    let mut others = Vec::new();
    for (name, schedule) in schedules {
        let given = Source { path: name.clone(), text: schedule.clone() };
        let given = Request { schedule: Schedule::Given(given), ..request.clone() };
        // What cannot be said as a schedule cannot be kept in a file.
        let Ok(lowered) = front.lower(&given) else { continue };
        let known = |other: &Candidate| other.lowered.function.body == lowered.function.body;
        if !all.iter().chain(&others).any(known) {
            others.push(Candidate { name, schedule: Some(schedule), lowered });
        }
    }
    let machine = pipeline::machine(request)?;
    let cost = |one: &Candidate| ::optimize::cost(&one.lowered.function, &machine).cycles();
    others.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    others.truncate(arguments.candidates.saturating_sub(1) as usize);
    all.extend(others);
    Ok(all)
}

/// Times of all candidates.
fn measure(
    candidates: &[Candidate],
    request: &Request,
    arguments: &Tune,
    compiler: &Compiler,
) -> Result<Vec<Measured>, Failure> {
    let function = &candidates[0].lowered.function;
    let given = bind::by_name(&arguments.sizes)?;
    let sizes = bind::sizes(function, &given, &Default::default())?;
    bind::check_memory(function, &sizes, 2)?;
    let executable = build(candidates, request, compiler)?;
    let variants = variants(candidates, &sizes, &executable)?;
    let bar = Bar::new(0, "measuring");
    let effort =
        Effort { rounds: arguments.reps, budget: Duration::from_secs(20), threads: arguments.threads };
    Ok(interleaved(&variants, effort, &|label| bar.set_message(label.to_owned())))
}

fn build(candidates: &[Candidate], request: &Request, compiler: &Compiler) -> Result<Executable, Failure> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut routines: Vec<Signature> = Vec::new();
    let mut header = String::from("#include <stdbool.h>\n#include <stdint.h>\n");
    for (k, candidate) in candidates.iter().enumerate() {
        let mut function = candidate.lowered.function.clone();
        function.name = Name::new(format!("{}_{k}", function.name));
        let emitted = pipeline::to_c(&Program { functions: vec![function] }, request, None)?;
        if k == 0 {
            header = emitted.header.clone();
        }
        files.push((format!("candidate{k}.c"), emitted.source));
        routines.extend(emitted.signatures);
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let flags = Optimise::Fast.configured();
    Executable::build(
        compiler,
        &Build { files: &files, routines: &routines, header: &header, flags: &flags, libraries: &[] },
    )
}

fn variants<'a>(
    candidates: &[Candidate],
    sizes: &Sizes,
    executable: &'a Executable,
) -> Result<Vec<Variant<'a>>, Failure> {
    let Lowered { function, definition, original, .. } = &candidates[0].lowered;
    let mut counts = Vec::new();
    for param in &function.params {
        counts.push(bind::shape(param, sizes)?.iter().product());
    }
    let ranges = check::ranges(definition.as_ref(), function, original.as_ref(), sizes);
    let mut bounds = Vec::new();
    for param in &function.params {
        bounds.push(match ranges.get(&param.name) {
            None => 0,
            Some(Range::Index(below) | Range::Below(below)) => *below,
            Some(Range::Ascending(_)) => {
                let message = format!("`{}` bounds loops, and random data cannot", param.name);
                return Err(Failure::refused("X0908", message)
                    .help("measure the whole program by `lozenge bench`, and give --schedule"));
            }
        });
    }
    let variant = |(routine, candidate): (usize, &Candidate)| Variant {
        label: candidate.name.clone(),
        executable,
        routine,
        sizes: sizes.clone(),
        counts: counts.clone(),
        bounds: bounds.clone(),
    };
    Ok(candidates.iter().enumerate().map(variant).collect())
}

/// Candidates with other results than the compiler's choice. Where no sum may change its order,
/// results are the same to the last bit.
fn wrong(measured: &[Measured], candidates: &[Candidate]) -> Vec<usize> {
    let exact = |k: usize| {
        let Lowered { function, reassociated, .. } = &candidates[k].lowered;
        !reassociated && !check::reassociates(function)
    };
    let same = |k: usize| match (measured[0].digest, measured[k].digest) {
        (Some(a), Some(b)) if exact(k) => a.0.map(f64::to_bits) == b.0.map(f64::to_bits),
        (Some(a), Some(b)) => a.agrees(&b),
        _ => true,
    };
    (1..measured.len()).filter(|k| !same(*k)).collect()
}

/// The fastest one; the compiler's choice unless another is faster by more than the times differ.
fn fastest(measured: &[Measured], wrong: &[usize]) -> Option<usize> {
    let median = |k: usize| measured[k].summary().map(|summary| summary.median);
    let usual = median(0)?;
    let right = (1..measured.len()).filter(|k| !wrong.contains(k));
    let best = right.filter_map(|k| Some((k, median(k)?))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(if best.1 * KEPT < usual { best.0 } else { 0 })
}

/// The comments of an entry.
fn about(name: &str, measured: &[Measured], k: usize, arguments: &Tune, compiler: &Compiler) -> String {
    let time = |k: usize| measured[k].summary().map_or_else(String::new, |s| seconds(s.median));
    let sizes: Vec<String> = arguments.sizes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!(
        "// {name}: {}, the compiler's choice {}; {}, {}\n// {}; {}\n",
        time(k),
        time(0),
        sizes.join(" "),
        threads(arguments.threads),
        crate::machine::processor().unwrap_or_else(|| "a processor of unknown name".to_owned()),
        compiler.version(),
    )
}

fn threads(threads: u32) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

fn text(name: &str, measured: &[Measured], chosen: usize, wrong: &[usize], arguments: &Tune) -> String {
    let usual = measured[0].summary().map(|summary| summary.median);
    let heading = format!("{name}, {}", threads(arguments.threads));
    let mut rows = vec![vec![heading, "median".into(), "spread".into(), "the compiler's choice / it".into()]];
    for (k, one) in measured.iter().enumerate() {
        let label = format!("{}{}", if k == chosen { "* " } else { "  " }, one.label);
        rows.push(match (one.summary(), &one.times) {
            (Some(_), _) if wrong.contains(&k) => {
                vec![label, "DIFFERENT RESULTS".into(), String::new(), String::new()]
            }
            (Some(summary), _) => {
                let ratio = usual.map_or_else(String::new, |usual| format!("{:.2}", usual / summary.median));
                vec![label, seconds(summary.median), format!("{:.0} %", 100.0 * summary.spread), ratio]
            }
            (None, times) => {
                let why = times.as_ref().err().map(Failure::summary).unwrap_or_default();
                vec![label, "failed".into(), why, String::new()]
            }
        });
    }
    format!("{}\n", table(&rows))
}

fn as_json_value(name: &str, measured: &[Measured], chosen: usize, wrong: &[usize]) -> Json {
    let one = |(k, one): (usize, &Measured)| {
        json!({
            "candidate": one.label,
            "median": one.summary().map(|summary| summary.median),
            "chosen": k == chosen,
            "same_results": !wrong.contains(&k),
        })
    };
    let candidates: Vec<Json> = measured.iter().enumerate().map(one).collect();
    json!({ "definition": name, "candidates": candidates })
}
