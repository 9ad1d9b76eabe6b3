//! The measured times of a page. Results are compared where both programs give some: a time of a
//! wrong result says nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use loops::Program as Loops;
use targets::Stage;

use super::roofline::{self, Point, Work};
use super::{Page, Part, Section};
use crate::bind::{self, Sizes};
use crate::cli::Explore;
use crate::command::bench_c;
use crate::execute::{Build, Executable};
use crate::failure::{Failure, Source};
use crate::files;
use crate::kernel::{self, Program};
use crate::measure::{self, Effort, Measured, Variant};
use crate::pipeline::{self, Lowered};
use crate::process::{Compiler, Optimise};
use crate::request::{self, Request};
use crate::statistics::{Summary, seconds};

/// The time limit of a run.
const LIMIT: Duration = Duration::from_secs(600);

/// Adds what is measured, or why nothing is.
pub fn add(page: &mut Page, arguments: &Explore, source: Option<&Source>) {
    let times = match source {
        Some(source) if is_c(&arguments.file) => of_c(arguments, source),
        Some(source) => of_program(arguments, source),
        None => of_model(arguments),
    };
    let threads = match arguments.threads.unwrap_or(1) {
        1 => "one thread".to_owned(),
        several => format!("{several} threads"),
    };
    let mut section = Section::new("times", "Times");
    match times {
        Ok(times) => {
            section.parts.push(Part::Table {
                caption: format!("Measured on the machine that made this page, {threads}"),
                head: ["program", "median", "spread", "runs", "result"].map(str::to_owned).to_vec(),
                rows: times.rows,
            });
            section.parts.extend(roofline(times.work, &times.points, arguments.threads.unwrap_or(1)));
        }
        Err(failure) => section.parts.push(Part::Verbatim(crate::report::render(&failure, false))),
    }
    page.sections.insert(0, section);
}

/// What was measured.
struct Times {
    rows: Vec<Vec<String>>,
    points: Vec<Point>,
    /// What there is to do, or why that is not known.
    work: Result<Work, String>,
}

/// What the times are beside what the machine can do, or why that is not said.
fn roofline(work: Result<Work, String>, points: &[Point], threads: u32) -> Vec<Part> {
    match work {
        Ok(work) => roofline::parts(&work, points, threads)
            .unwrap_or_else(|failure| vec![Part::Verbatim(crate::report::render(&failure, false))]),
        Err(why) => vec![Part::Text(format!("No roofline: {why}."))],
    }
}

fn is_c(path: &Path) -> bool {
    crate::files::language(path).is_some()
}

fn row(label: &str, times: &[Duration], result: &str) -> Vec<String> {
    let summary = Summary::of(times);
    vec![
        label.to_owned(),
        seconds(summary.median),
        format!("{:.0} %", summary.spread * 100.0),
        summary.count.to_string(),
        result.to_owned(),
    ]
}

/// A C program as it is and rewritten, in turns.
fn of_c(arguments: &Explore, source: &Source) -> Result<Times, Failure> {
    if !kernel::runs_by_itself(&source.text) {
        let message = format!("{} has no main function, so it can't be measured", source.path);
        return Err(Failure::refused("X0907", message)
            .help("give it one that prints a word `seconds` with the time of its region behind it"));
    }
    let compiler = Compiler::find()?;
    let folder = arguments.file.parent().unwrap_or(Path::new("."));
    let mut flags: Vec<&str> = Optimise::Fast.flags().to_vec();
    let request = arguments.choice.request()?;
    flags.extend(request.preprocessor.iter().map(String::as_str));
    let rewritten = files::open(source, &request)?.emit(Stage::C, &request)?.text;
    let programs = [
        ("the C compiler alone", Program::build(&compiler, &source.text, folder, &flags, &[])?),
        ("rewritten by Lozenge", Program::build(&compiler, &rewritten, folder, &flags, &[])?),
    ];
    let mut times: [Vec<Duration>; 2] = Default::default();
    let mut outputs: [Vec<u8>; 2] = Default::default();
    for round in 0..arguments.reps {
        for turn in 0..2 {
            let k = (turn + round as usize) % 2;
            let run = programs[k].1.run(arguments.threads.unwrap_or(1), LIMIT)?;
            let Some(taken) = run.seconds else {
                let message =
                    "the program prints no time: the word `seconds` and the time of its region behind it";
                return Err(Failure::refused("X0907", message));
            };
            times[k].push(Duration::from_secs_f64(taken.max(0.0)));
            outputs[k] = run.output;
        }
    }
    let agreement = match &outputs {
        [original, _] if original.is_empty() => "not compared: it writes none",
        [original, ours] if original == ours => "the same bytes",
        [original, ours] if bench_c::close(ours, original, 1e-6) => "agrees within rounding",
        _ => "DIFFERS",
    };
    let points = programs.iter().zip(&times).map(|((label, _), times)| point(label, times));
    Ok(Times {
        points: points.collect(),
        rows: vec![row(programs[0].0, &times[0], ""), row(programs[1].0, &times[1], agreement)],
        work: work_of_region(arguments, source, &request),
    })
}

fn point(label: &str, times: &[Duration]) -> Point {
    Point { label: label.to_owned(), seconds: Summary::of(times).median }
}

/// The work of a program's one region at the sizes that are given, or why it is not known.
fn work_of_region(arguments: &Explore, source: &Source, request: &Request) -> Result<Work, String> {
    let summary = |failure: Failure| failure.summary();
    let front = files::open(source, request).map_err(summary)?;
    let [name] = &front.definitions()[..] else {
        return Err("the program's time is that of several regions".to_owned());
    };
    let function = front.original(name, request).map_err(summary)?;
    let given = bind::by_name(&arguments.sizes).map_err(summary)?;
    if function.sizes.iter().any(|size| !given.contains_key(size)) {
        let names: Vec<String> = function.sizes.iter().map(|size| format!("`{size}`")).collect();
        let names = names.join(", ");
        return Err(format!("it needs the sizes that the program runs with, with `--size` ({names})"));
    }
    roofline::work(&function, &given)
}

/// A definition with the loops that are chosen, with those that it writes, and with those of the
/// polyhedral side, where they differ.
fn of_program(arguments: &Explore, source: &Source) -> Result<Times, Failure> {
    let request = arguments.choice.request()?;
    let lower = |request: &Request| files::open(source, request)?.lower(request);
    let mut variants = vec![("as chosen", lower(&request)?)];
    if request.schedule == request::Schedule::Usual {
        let others = [
            ("with --schedule none", request::Schedule::Original),
            ("with --schedule auto", request::Schedule::Auto),
        ];
        for (label, schedule) in others {
            let Ok(lowered) = lower(&Request { schedule, ..request.clone() }) else { continue };
            if variants.iter().all(|(_, known)| known.function != lowered.function) {
                variants.push((label, lowered));
            }
        }
    }
    let function = &variants[0].1.function;
    let sizes = bind::sizes(function, &bind::by_name(&arguments.sizes)?, &BTreeMap::new())?;
    bind::check_memory(function, &sizes, 2)?;
    let compiler = Compiler::find()?;
    let built: Result<Vec<Executable>, Failure> =
        variants.iter().map(|(_, lowered)| build(&compiler, lowered, &request)).collect();
    let built = built?;
    let mut measured = Vec::new();
    for ((label, lowered), executable) in variants.iter().zip(&built) {
        measured.push(variant(label, lowered, executable, &sizes)?);
    }
    let effort = Effort {
        rounds: arguments.reps,
        budget: Duration::from_secs(30),
        threads: arguments.threads.unwrap_or(1),
    };
    let results = measure::interleaved(&measured, effort, &|_| {});
    let timed = results.iter().filter_map(|m| Some(point(&m.label, m.times.as_ref().ok()?)));
    // Of the loops as they are written: tiles and borders are no work of the program.
    let text = files::open(source, &request)?.original(function.name.as_str(), &request);
    let work = text.map_err(|failure| failure.summary()).and_then(|text| roofline::work(&text, &sizes));
    Ok(Times { points: timed.collect(), rows: rows(&results), work })
}

fn build(compiler: &Compiler, lowered: &Lowered, request: &Request) -> Result<Executable, Failure> {
    let program = Loops { functions: vec![lowered.function.clone()] };
    let emitted = pipeline::to_c(&program, request, Some("program.h".into()))?;
    let build = Build {
        files: &[("program.c", &emitted.source)],
        routines: &emitted.signatures,
        header: &emitted.header,
        flags: Optimise::Fast.flags(),
        libraries: &[],
    };
    Executable::build(compiler, &build)
}

fn variant<'a>(
    label: &str,
    lowered: &Lowered,
    executable: &'a Executable,
    sizes: &Sizes,
) -> Result<Variant<'a>, Failure> {
    let function = &lowered.function;
    let shapes: Result<Vec<Vec<usize>>, Failure> =
        function.params.iter().map(|p| bind::shape(p, sizes)).collect();
    let by_name =
        lowered.definition.as_ref().map(|d| crate::check::bounds(d, function, sizes)).unwrap_or_default();
    Ok(Variant {
        label: label.to_owned(),
        executable,
        routine: 0,
        sizes: sizes.clone(),
        counts: shapes?.iter().map(|s| s.iter().product()).collect(),
        bounds: function.params.iter().map(|p| by_name.get(&p.name).copied().unwrap_or(0)).collect(),
    })
}

fn rows(measured: &[Measured]) -> Vec<Vec<String>> {
    let first = measured.first().and_then(|m| m.digest);
    let of = |(k, m): (usize, &Measured)| match (&m.times, m.digest, first) {
        (Err(failure), ..) => {
            vec![m.label.clone(), "failed".into(), String::new(), String::new(), failure.summary()]
        }
        (Ok(times), ..) if k == 0 => row(&m.label, times, ""),
        (Ok(times), Some(mine), Some(first)) if mine.agrees(&first) => row(&m.label, times, "agrees"),
        (Ok(times), ..) => row(&m.label, times, "DIFFERS"),
    };
    measured.iter().enumerate().map(of).collect()
}

/// A model on random inputs.
fn of_model(arguments: &Explore) -> Result<Times, Failure> {
    let times =
        crate::command::model::times(&arguments.file, &arguments.sizes, arguments.threads, arguments.reps)?;
    Ok(Times {
        rows: vec![row("the whole model", &times, "")],
        points: Vec::new(),
        work: Err("a model is many functions".to_owned()),
    })
}
