//! `lozenge run --target athread`: the host and slave files on the emulator, and every array that
//! comes out against the sequential program.
//!
//! A C program with a main function runs as a whole, in both forms; of anything else the chosen
//! function runs on random or given arrays. Times are modelled, and marked so.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use loops::{Name, ParamMode, Program, Tensor};
use serde_json::json;
use targets::athread::Cores;
use targets::athread::verify::{Property, Unfollowed};

use super::{passed_over, run};
use crate::athread::{Emulator, Report, Settings, Sources, read_report};
use crate::bind;
use crate::check;
use crate::cli::Run;
use crate::execute::{self, Schedule};
use crate::failure::{Failure, Source};
use crate::files::{self, read_source, write_whole};
use crate::kernel;
use crate::npy;
use crate::pipeline::athread::OnCores;
use crate::pipeline::{self, Front, athread};
use crate::process::Compiler;
use crate::progress::Bar;
use crate::report;
use crate::request::{Mode, Request};
use crate::statistics::seconds;
use crate::value::{Closeness, difference};

/// What a run gave: a line for each array, and what the emulator reports.
struct Outcome {
    arrays: Vec<String>,
    report: Option<Report>,
    /// How it was mapped.
    notes: Vec<String>,
    /// What is to be told of the slave file.
    remarks: Vec<String>,
    /// Properties that the check of the slave file followed.
    followed: BTreeSet<Property>,
}

/// Runs the command.
///
/// # Errors
/// What the stages refuse; `X0404` if the program breaks a rule of the interface; `X0401` if an
/// array differs.
pub fn run(arguments: &Run, as_json: bool) -> Result<(), Failure> {
    passed_over::by_target(arguments.target, &arguments.choice, &arguments.settings.0)?;
    passed_over::by_ranks(arguments.target, arguments.ranks.given())?;
    let source = read_source(&arguments.file)?;
    let request = arguments.request()?;
    let front = files::open(&source, &request)?;
    let whole = whole(&arguments.file, &source);
    let outcome = if whole { whole_program(arguments, &request, &front)? } else { None };
    // A main function that reaches no region tells nothing.
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => one_function(arguments, &request, &front)?,
    };
    tell(arguments, &source, &outcome, as_json);
    Ok(())
}

/// Whether a source is a C program that runs by itself.
fn whole(path: &Path, source: &Source) -> bool {
    path.extension().is_some_and(|e| e == "c") && kernel::runs_by_itself(&source.text)
}

/// How to run on the emulator.
pub(crate) fn settings(arguments: &Run) -> Settings {
    Settings {
        seed: arguments.seed,
        pro: Cores::of(&arguments.settings.0).chip.crts,
        limit: Duration::from_secs(arguments.timeout),
    }
}

/// The headers of files, as names and texts.
pub(crate) fn headers(files: &targets::athread::Files) -> Vec<(&str, &str)> {
    files.header.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

/// Sums may be reordered where the program or the user says so, and only there.
fn closeness(all: &[OnCores]) -> Closeness {
    let reordered = |one: &OnCores| one.mapped.reassociated || check::reassociates(&one.original);
    if all.iter().any(reordered) { Closeness::REASSOCIATED } else { Closeness::Exact }
}

/// None if the program spawns no kernel.
fn whole_program(arguments: &Run, request: &Request, front: &Front) -> Result<Option<Outcome>, Failure> {
    let source = front.source();
    athread::check_sizes(front, request)?;
    let mut all = athread::map(front, request)?;
    let files = athread::files(front, request, &mut all)?;
    let compiler = Compiler::find()?;
    let bar = Bar::new(0, "compiling and running");
    let emulator = Emulator::build(&compiler)?;
    let flags: Vec<&str> = request.preprocessor.iter().map(String::as_str).collect();
    let folder = arguments.file.parent().unwrap_or(Path::new("."));
    let program = emulator.program(&Sources {
        host: &files.host,
        more: &[],
        slave: &files.slave,
        micro_kernels: &files.micro_kernels,
        headers: &headers(&files),
        folder: Some(folder),
        flags: &flags,
    })?;
    let ours = program.run(settings(arguments))?;
    if ours.report.is_none() {
        return Ok(None);
    }
    if !arguments.arguments.is_empty() || arguments.out.is_some() {
        let message =
            "`--arg` and `--out` have no effect on a program with a main function, which has its own arrays";
        return Err(
            Failure::usage("X0009", message).help("leave them out, or give a file with the function alone")
        );
    }
    let mut sequential = vec!["-O1", "-ffp-contract=off"];
    sequential.extend(&flags);
    let limit = Duration::from_secs(arguments.timeout);
    let original =
        kernel::Program::build(&compiler, &source.text, folder, &sequential, &[])?.run(1, limit)?;
    drop(bar);
    let arrays = if ours.output.is_empty() && original.output.is_empty() {
        if ours.stdout.is_empty() && original.stdout.is_empty() {
            return Err(Failure::check("X0401", NOTHING).help(WRITE));
        }
        compare_programs(&ours.stdout, &original.stdout, Closeness::Exact)?
    } else {
        compare_programs(&ours.output, &original.output, closeness(&all))?
    };
    let notes = all.iter().flat_map(|one| one.mapped.notes.clone()).collect();
    Ok(Some(Outcome {
        arrays,
        report: ours.report,
        notes,
        remarks: files.remarks(),
        followed: files.followed,
    }))
}

/// A line for an array that is equal, or close enough.
fn agreement(name: &str, ours: &Tensor, expected: &Tensor, closeness: Closeness) -> String {
    let equal = difference(ours, expected, Closeness::Exact).is_none();
    let closeness = if equal { Closeness::Exact } else { closeness };
    format!("{name}: {} elements agree {closeness}", ours.data.len())
}

/// Of a program whose two forms cannot be compared.
pub(super) const NOTHING: &str = "the program prints nothing that could be compared";
/// The way out.
pub(super) const WRITE: &str =
    "let it print its results, or write them to the file that its first argument names";

/// Roundings are told from errors only where it is known what the bytes are.
pub(super) const ROUNDINGS: &str = "sums are computed in another order, and only arrays in a file are compared up to rounding: a line `name type count`, followed by the bytes";

/// Compares what two forms of a program have written; a line for each array.
///
/// # Errors
/// `X0401` if they differ.
pub(super) fn compare_programs(
    ours: &[u8],
    original: &[u8],
    closeness: Closeness,
) -> Result<Vec<String>, Failure> {
    let differ = |what: String| {
        Failure::check("X0401", format!("the program on cores and the sequential program differ: {what}"))
    };
    let (Some(ours_read), Some(original_read)) = (kernel::arrays(ours), kernel::arrays(original)) else {
        if ours != original {
            let failure = differ(format!("{} and {} bytes of output", ours.len(), original.len()));
            return Err(if closeness == Closeness::Exact { failure } else { failure.help(ROUNDINGS) });
        }
        return Ok(vec![format!("the {} bytes that both print agree", ours.len())]);
    };
    if ours_read.len() != original_read.len() {
        return Err(differ("one writes more arrays than the other".to_owned()));
    }
    let mut lines = Vec::new();
    for (ours, original) in ours_read.iter().zip(&original_read) {
        if ours.name != original.name || ours.tensor.shape != original.tensor.shape {
            return Err(differ(format!("array `{}` and array `{}`", ours.name, original.name)));
        }
        if let Some(what) = difference(&ours.tensor, &original.tensor, closeness) {
            return Err(differ(format!("array `{}` {what}", ours.name)));
        }
        lines.push(agreement(&ours.name, &ours.tensor, &original.tensor, closeness));
    }
    Ok(lines)
}

fn one_function(arguments: &Run, request: &Request, front: &Front) -> Result<Outcome, Failure> {
    let request = request.of(&front.chosen(request)?);
    // Before the mapping, which takes longer than everything else: what is missing.
    let function = &athread::chosen(front, &request)?;
    let arrays = run::read_arrays(function, &arguments.arguments)?;
    let given = bind::by_name(&arguments.sizes)?;
    let sizes = bind::sizes(function, &given, &arrays)?;
    bind::check_memory(function, &sizes, 6)?;
    let mut all = athread::map(front, &request)?;
    let files = athread::function_files(front, &request, &mut all)?;
    let [one] = all.as_slice() else {
        return Err(
            Failure::refused("X0006", "only one definition can be run at a time").help("name it with --def")
        );
    };
    let ranges = crate::check::ranges(None, function, None, &sizes);
    let inputs = bind::inputs(function, &sizes, &arrays, &ranges, arguments.seed)?;

    let original = Program { functions: vec![function.clone()] };
    // The host file has the interface that functions have by default, however they were translated.
    let usual = Request { mode: Mode::Default, ..request };
    let emitted = pipeline::to_c(&original, &usual, Some("program.h".into()))?;
    let compiler = Compiler::find()?;
    let bar = Bar::new(0, "compiling and running");
    let emulator = Emulator::build(&compiler)?;
    let driver = execute::driver(&emitted.signatures);
    let mut headers = headers(&files);
    headers.push(("program.h", &emitted.header));
    let program = emulator.program(&Sources {
        host: &files.host,
        more: &[("driver.c", &driver)],
        slave: &files.slave,
        micro_kernels: &files.micro_kernels,
        headers: &headers,
        folder: None,
        flags: &[],
    })?;
    let schedule = Schedule { limit: Duration::from_secs(arguments.timeout), ..Schedule::ONCE };
    let (executable, report_file) = program.executable(&emitted.signatures, settings(arguments));
    let ours = executable.run(0, &sizes, &inputs, schedule)?.outputs;
    let expected = check::by_sequential(&compiler, &emitted, &sizes, &inputs, schedule.limit)?;
    drop(bar);
    let closeness = closeness(&all);
    let results: Vec<&Name> =
        function.params.iter().filter(|p| p.mode != ParamMode::In).map(|p| &p.name).collect();
    let mut lines = Vec::new();
    for ((name, ours), expected) in results.iter().zip(&ours).zip(&expected) {
        if let Some(what) = difference(ours, expected, closeness) {
            let message =
                format!("the program on cores and the sequential program differ: array `{name}` {what}");
            return Err(Failure::check("X0401", message));
        }
        lines.push(agreement(name.as_str(), ours, expected, closeness));
    }
    write_results(arguments, &results, &ours)?;
    let notes = one.mapped.notes.clone();
    Ok(Outcome {
        arrays: lines,
        report: read_report(&report_file)?,
        notes,
        remarks: files.remarks(),
        followed: files.followed,
    })
}

fn write_results(arguments: &Run, names: &[&Name], tensors: &[Tensor]) -> Result<(), Failure> {
    let Some(out) = &arguments.out else { return Ok(()) };
    for (path, tensor) in run::out_paths(out, names).iter().zip(tensors) {
        write_whole(path, &npy::write(tensor))?;
    }
    Ok(())
}

/// What the check of the slave file followed, and what it never does.
fn text_check(outcome: &Outcome) -> serde_json::Value {
    let followed: Vec<&str> = outcome.followed.iter().map(|property| property.name()).collect();
    let not: Vec<&str> = Unfollowed::ALL.iter().map(|other| other.name()).collect();
    json!({ "followed": followed, "not_followed": not })
}

fn tell(arguments: &Run, source: &Source, outcome: &Outcome, as_json: bool) {
    if as_json {
        let report = outcome.report.as_ref().map(|r| r.json.clone());
        let value = json!({
            "ok": true, "file": source.path, "arrays": outcome.arrays, "seed": arguments.seed, "mapping": outcome.notes, "remarks": outcome.remarks, "text_check": text_check(outcome), "modelled": report,
        });
        report::print_json(value);
        return;
    }
    let chip = Cores::of(&arguments.settings.0).chip.name;
    for remark in &outcome.remarks {
        report::print_error(&format!("{remark}\n"));
    }
    let mut text = String::new();
    for line in &outcome.arrays {
        text.push_str(&format!("{line}\n"));
    }
    match &outcome.report {
        None => text.push_str("no kernel was spawned\n"),
        Some(r) => text.push_str(&modelled(r, chip)),
    }
    report::print(&text);
}

/// What the emulator counted, and the time of its model, in two lines.
pub(super) fn modelled(r: &Report, chip: &str) -> String {
    format!(
        "traffic: {} bytes in {} transfers, {:.2} times what is touched\n\
         time: {} modelled, on {} cores of {chip} in {} spawns; {:.1} % of it waiting, {:.1} % of the \
         roofline bound; {} of {} bytes of local memory\n",
        r.traffic(),
        r.commands,
        r.traffic() as f64 / r.touched().max(1) as f64,
        seconds(r.seconds),
        r.threads,
        r.spawns,
        100.0 * r.stall_share,
        100.0 * r.bound_share(),
        r.ldm.0,
        r.ldm.1
    )
}
