//! `lozenge bench --target mpi`: the time at several numbers of ranks beside the OpenMP version,
//! and the messages and bytes at up to 64 ranks beside the least that must move.
//!
//! Times are of this machine, whose ranks share its cores and its memory. Counts are exact for any
//! number of ranks: no rank runs for them.

use std::path::Path;
use std::time::Duration;

use loops::Program;
use loops::ranks::{Grid, RankProgram, count};
use serde_json::{Value as Json, json};

use super::bench::nothing_to_measure;
use super::bench_simulated::Simulation;
use super::run_mpi::grid_option;
use crate::bind::{self, Sizes};
use crate::cli::Bench;
use crate::execute::{Build, Executable, Schedule};
use crate::failure::Failure;
use crate::files::{self, find, read_source};
use crate::kernel;
use crate::mpi::{Tools, threads_for};
use crate::pipeline::{self, Front, mpi};
use crate::process::{Compiler, Optimise};
use crate::report::{self, table};
use crate::request::{Ranks, Request};
use crate::statistics::{Summary, seconds};

/// Ranks at which messages are counted.
const COUNTED: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The value of a size that is not given.
const USUAL: i64 = 1000;
/// With `--quick`.
const QUICK: i64 = 200;
/// Steps of an outer loop over time, by name: as many as kernels have by default.
pub(super) const STEPS: [(&str, i64); 3] = [("tsteps", 20), ("steps", 20), ("t", 20)];
const LIMIT: Duration = Duration::from_secs(600);

/// Runs the command.
///
/// # Errors
/// What the stages refuse, and what is missing to run; `X0907` if there is nothing to measure.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    if arguments.simulate {
        let simulation = Simulation::new()?;
        return each(arguments, as_json, &|front, name, file| {
            simulation.one(front, name, (arguments, file, as_json))
        });
    }
    let tools = Tools::find()?;
    let compiler = Compiler::find()?;
    each(arguments, as_json, &|front, name, file| {
        one(front, name, (arguments, file, as_json), (&tools, &compiler))
    })
}

/// What is done with a definition of a file; what is said of it as JSON.
type Measured<'a> = &'a dyn Fn(&Front, &str, &Path) -> Result<Json, Failure>;

/// Measures all definitions that are asked for.
fn each(arguments: &Bench, as_json: bool, measured: Measured) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &arguments.paths {
        files.extend(find(path, &["loz", "loops", "c"])?);
    }
    let mut told = Vec::new();
    for file in &files {
        let source = read_source(file)?;
        if file.extension().is_some_and(|e| e == "c") && !kernel::has_region(&source.text) {
            continue;
        }
        let request = Request { target: arguments.target, stem: "program".to_owned(), ..files::request() };
        let front = files::open(&source, &request)?;
        for name in front.definitions() {
            if arguments.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
                continue;
            }
            told.push(measured(&front, &name, file)?);
        }
    }
    if told.is_empty() {
        return Err(nothing_to_measure(arguments));
    }
    if as_json {
        report::print_json(json!({ "ok": true, "benchmarks": told }));
    }
    Ok(())
}

/// The sizes of a function: those that are given, else usual ones.
fn sizes_of(function: &loops::Function, arguments: &Bench) -> Sizes {
    let usual = if arguments.quick { QUICK } else { USUAL };
    let of = |name: &loops::Name| {
        let given = arguments.sizes.iter().find(|(given, _)| given == name.as_str()).map(|(_, n)| *n);
        let steps = STEPS.iter().find(|(step, _)| *step == name.as_str()).map(|(_, n)| *n);
        given.or(steps).unwrap_or(usual)
    };
    function.sizes.iter().map(|name| (name.clone(), of(name))).collect()
}

fn one(
    front: &Front,
    name: &str,
    (arguments, file, as_json): (&Bench, &Path, bool),
    (tools, compiler): (&Tools, &Compiler),
) -> Result<Json, Failure> {
    let request =
        Request { target: arguments.target, stem: "program".to_owned(), ..files::request() }.of(name);
    let function = front.original(name, &request)?;
    let sizes = sizes_of(&function, arguments);
    let known = sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let request = Request { sizes: known, ..request };
    let openmp = openmp(front, &request, &sizes, compiler, arguments)?;
    let ranks = if arguments.ranks.is_empty() { vec![1, 2, 4] } else { arguments.ranks.clone() };
    let mut rows = vec![["", "ranks x threads", "time", "speed-up"].map(str::to_owned).to_vec()];
    for (threads, time) in &openmp {
        rows.push(vec!["OpenMP".into(), format!("1 x {threads}"), seconds(*time), ratio(openmp[0].1, *time)]);
    }
    let mut times = Vec::new();
    for count in ranks {
        let request = Request { ranks: Ranks { count: Some(count), ..Ranks::default() }, ..request.clone() };
        let all = mpi::map(front, &request)?;
        let program = tools.build(&mpi::files(front, &request, &all)?)?;
        let axes = all.first().map_or(1, |one| one.distributed.program.axes);
        let mut options = vec!["--fill".to_owned(), "1".to_owned(), "--reps".to_owned()];
        options.push((arguments.reps.min(10) + 1).to_string());
        options.extend(["--grid".to_owned(), grid_option(&request, count, axes)]);
        sizes.iter().for_each(|(name, n)| options.extend(["--size".to_owned(), format!("{name}={n}")]));
        let threads = threads_for(count);
        let said = program.run(count, Some(threads), &options, LIMIT)?;
        // The first repetition touches memory for the first time.
        let time = Summary::of(said.times.get(1..).filter(|t| !t.is_empty()).unwrap_or(&said.times)).median;
        rows.push(vec![
            "MPI".into(),
            format!("{count} x {threads}"),
            seconds(time),
            ratio(openmp[0].1, time),
        ]);
        times.push(json!({ "ranks": count, "threads": threads, "seconds": time }));
    }
    let counted = counted(front, &request, &sizes)?;
    if !as_json {
        let at: Vec<String> = sizes.iter().map(|(name, n)| format!("{name} = {n}")).collect();
        report::print(&format!("{name} of {} at {}\n{}", file.display(), at.join(", "), table(&rows)));
        let mut rows = vec![
            ["grid", "messages", "bytes", "most of a rank", "least", "ratio"].map(str::to_owned).to_vec(),
        ];
        rows.extend(counted.iter().map(|(row, _)| row.clone()));
        report::print(&format!("{}\n", table(&rows)));
    }
    Ok(json!({
        "name": name, "file": file.display().to_string(),
        "openmp": openmp.iter().map(|(threads, s)| json!({ "threads": threads, "seconds": s })).collect::<Vec<_>>(),
        "mpi": times, "traffic": counted.into_iter().map(|(_, told)| told).collect::<Vec<_>>(),
    }))
}

fn ratio(base: f64, time: f64) -> String {
    format!("{:.2}", base / time.max(1e-12))
}

/// Seconds of the OpenMP version with one thread, and with all.
fn openmp(
    front: &Front,
    request: &Request,
    sizes: &Sizes,
    compiler: &Compiler,
    arguments: &Bench,
) -> Result<Vec<(u32, f64)>, Failure> {
    let usual = Request { target: crate::target::Target::default(), sizes: Vec::new(), ..request.clone() };
    let lowered = front.lower(&usual)?;
    let program = Program { functions: vec![lowered.function.clone()] };
    let emitted = pipeline::to_c(&program, &usual, Some("program.h".into()))?;
    let executable = Executable::build(
        compiler,
        &Build {
            files: &[("program.c", &emitted.source)],
            routines: &emitted.signatures,
            header: &emitted.header,
            flags: &Optimise::FastExact.configured(),
            libraries: &[],
        },
    )?;
    let shapes = lowered.function.params.iter().map(|p| bind::shape(p, sizes));
    let counts = shapes.map(|shape| Ok(shape?.iter().product())).collect::<Result<Vec<usize>, Failure>>()?;
    let bounds = vec![0; counts.len()];
    let mut threads = vec![1, threads_for(1)];
    threads.dedup();
    let of = |threads: u32| {
        let repetitions = arguments.reps.min(10);
        let schedule = Schedule { threads: Some(threads), repetitions, warm_up: 1, limit: LIMIT };
        let (times, _) = executable.measure(0, sizes, &counts, &bounds, schedule)?;
        Ok((threads, Summary::of(&times).median))
    };
    threads.into_iter().map(of).collect()
}

/// Messages and bytes at numbers of ranks, as rows of a table and as values.
fn counted(front: &Front, request: &Request, sizes: &Sizes) -> Result<Vec<(Vec<String>, Json)>, Failure> {
    let mut found = Vec::new();
    for ranks in COUNTED {
        let ranks_of = Ranks { count: u32::try_from(ranks).ok(), ..Ranks::default() };
        let all = mpi::map(front, &Request { ranks: ranks_of, ..request.clone() })?;
        let Some(program) = all.first().map(|one| &one.distributed.program) else { continue };
        let grid = grid(program, ranks);
        let traffic = count(program, &grid, sizes).map_err(Failure::from)?;
        let least = polyhedral::ranks::least(program, &grid, sizes);
        let extents: Vec<String> = grid.0.iter().map(i64::to_string).collect();
        let bound = least.as_ref().filter(|least| least.bytes > 0.0);
        let ratio =
            bound.map_or("-".to_owned(), |least| format!("{:.2}", traffic.most_bytes as f64 / least.bytes));
        let row = vec![
            extents.join("x"),
            traffic.messages.to_string(),
            traffic.bytes.to_string(),
            traffic.most_bytes.to_string(),
            least.as_ref().map_or("-".to_owned(), |least| format!("{:.0}", least.bytes)),
            ratio,
        ];
        let told = json!({
            "grid": grid.0, "messages": traffic.messages, "bytes": traffic.bytes,
            "most_messages": traffic.most_messages, "most_bytes": traffic.most_bytes,
            "least_bytes": least.as_ref().map(|least| least.bytes), "least_of": least.as_ref().map(|least| least.of),
        });
        found.push((row, told));
    }
    Ok(found)
}

/// The squarest grid with this many ranks.
pub(super) fn grid(program: &RankProgram, ranks: i64) -> Grid {
    if program.axes == 1 {
        return Grid(vec![ranks]);
    }
    let rows = (1..=ranks).rfind(|rows| ranks % rows == 0 && rows * rows <= ranks).unwrap_or(1);
    Grid(vec![rows, ranks / rows])
}
