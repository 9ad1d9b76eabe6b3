//! `lozenge run --target mpi`: the program on ranks of this machine, and with `--check` every array
//! that comes out against the sequential program.

use std::time::Duration;

use loops::{Function, Name, ParamMode, Program, Tensor};
use serde_json::json;

use super::{passed_over, run};
use crate::bind::{self, Sizes};
use crate::check;
use crate::cli::Run;
use crate::failure::Failure;
use crate::files::{self, read_source, reason, write_whole};
use crate::mpi::{Said, Tools, threads_for};
use crate::npy;
use crate::pipeline::{self, mpi};
use crate::process::Compiler;
use crate::progress::Bar;
use crate::report;
use crate::request::{Mode, Request};
use crate::statistics::Summary;
use crate::value::{Closeness, difference, show};

/// Runs the command.
///
/// # Errors
/// What the stages refuse; `X0308` without MPI; `X0401` if an array differs.
pub fn run(arguments: &Run, as_json: bool) -> Result<(), Failure> {
    passed_over::by_target(arguments.target, &arguments.choice, &arguments.settings.0)?;
    let source = read_source(&arguments.file)?;
    let request = arguments.request()?;
    let front = files::open(&source, &request)?;
    let request = request.of(&front.chosen(&request)?);
    let name = front.chosen(&request)?;
    let function = front.original(&name, &request)?;
    let arrays = run::read_arrays(&function, &arguments.arguments)?;
    let given = bind::by_name(&arguments.sizes)?;
    let sizes = bind::sizes(&function, &given, &arrays)?;
    bind::check_memory(&function, &sizes, 6)?;
    let ranks = ranks_of(&request);
    // Where arrays are is chosen for the sizes that are run.
    let known = sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let request = Request { sizes: known, ..request };
    let all = mpi::map(&front, &request)?;
    let output = mpi::files(&front, &request, &all)?;
    let inputs =
        bind::inputs(&function, &sizes, &arrays, &std::collections::BTreeMap::new(), arguments.seed)?;
    let tools = Tools::find()?;
    let bar = Bar::new(0, "compiling and running");
    let program = tools.build(&output)?;
    let grid = all.first().map_or(1, |one| one.distributed.program.axes);
    let (outputs, said) = on_ranks(&program, &function, &sizes, &inputs, (ranks, grid, &request), arguments)?;
    let agreement = match arguments.check {
        Some(_) => {
            let apart = all.iter().any(|one| one.distributed.reassociated);
            Some(compare(&function, &sizes, &inputs, &outputs, (&request, arguments, apart))?)
        }
        None => None,
    };
    drop(bar);
    let results: Vec<&Name> =
        function.params.iter().filter(|p| p.mode != ParamMode::In).map(|p| &p.name).collect();
    let mut written = Vec::new();
    if let Some(out) = &arguments.out {
        for (path, tensor) in run::out_paths(out, &results).iter().zip(&outputs) {
            write_whole(path, &npy::write(tensor))?;
            written.push(path.display().to_string());
        }
    }
    let notes = mpi::notes(&all);
    if as_json {
        report::print_json(json!({
            "ok": true, "function": function.name.as_str(), "ranks": ranks, "seed": arguments.seed,
            "seconds": said.times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            "messages": said.messages, "bytes": said.bytes, "notes": notes, "written": written, "check": agreement,
        }));
        return Ok(());
    }
    for note in &notes {
        report::print_error(&format!("note: {note}\n"));
    }
    let mut text = format!("{} of {} on {ranks} ranks\n", function.name, source.path);
    for (name, tensor) in results.iter().zip(&outputs) {
        text.push_str(&format!("{name} = {}\n", show(tensor)));
    }
    written.iter().for_each(|path| text.push_str(&format!("wrote {path}\n")));
    text.push_str(&format!("{} messages, {} bytes\n", said.messages, said.bytes));
    text.push_str(&report::times(&Summary::of(&said.times), agreement.as_deref()));
    report::print(&text);
    Ok(())
}

/// The number of ranks that is asked for.
fn ranks_of(request: &Request) -> u32 {
    let of_grid = request.ranks.grid.as_ref().map(|grid| grid.iter().product());
    of_grid.or(request.ranks.count).unwrap_or(4)
}

/// The grid as an option of the program.
pub(super) fn grid_option(request: &Request, ranks: u32, axes: usize) -> String {
    match &request.ranks.grid {
        Some(grid) => grid.iter().map(u32::to_string).collect::<Vec<_>>().join("x"),
        None if axes == 1 => ranks.to_string(),
        None => {
            let rows = (1..=ranks).rfind(|rows| ranks.is_multiple_of(*rows) && rows * rows <= ranks);
            let rows = rows.unwrap_or(1);
            format!("{rows}x{}", ranks / rows)
        }
    }
}

fn on_ranks(
    program: &crate::mpi::Program,
    function: &Function,
    sizes: &Sizes,
    inputs: &[Tensor],
    (ranks, axes, request): (u32, usize, &Request),
    arguments: &Run,
) -> Result<(Vec<Tensor>, Said), Failure> {
    let io =
        |e: std::io::Error| Failure::environment("X0004", format!("can't exchange arrays: {}", reason(&e)));
    let mut options = vec!["--count".to_owned(), "--reps".to_owned(), arguments.reps.to_string()];
    options.extend(["--grid".to_owned(), grid_option(request, ranks, axes)]);
    for (name, value) in sizes {
        options.extend(["--size".to_owned(), format!("{name}={value}")]);
    }
    for (k, (param, tensor)) in function.params.iter().zip(inputs).enumerate() {
        if param.mode != ParamMode::Out {
            let path = program.folder().join(format!("in{k}.npy"));
            std::fs::write(&path, npy::write(tensor)).map_err(io)?;
            options.extend(["--in".to_owned(), format!("{}={}", param.name, path.display())]);
        }
        if param.mode != ParamMode::In {
            let path = program.folder().join(format!("out{k}.npy"));
            options.extend(["--out".to_owned(), format!("{}={}", param.name, path.display())]);
        }
    }
    let threads = arguments.threads.or_else(|| Some(threads_for(ranks)));
    let said = program.run(ranks, threads, &options, Duration::from_secs(arguments.timeout))?;
    let mut outputs = Vec::new();
    for (k, _) in function.params.iter().enumerate().filter(|(_, p)| p.mode != ParamMode::In) {
        let path = program.folder().join(format!("out{k}.npy"));
        let tensor = npy::read(&std::fs::read(&path).map_err(io)?)
            .map_err(|why| Failure::environment("X0304", format!("the program wrote no npy file: {why}")))?;
        outputs.push(tensor);
    }
    Ok((outputs, said))
}

/// Compares with the sequential program, built by the C compiler.
fn compare(
    function: &Function,
    sizes: &Sizes,
    inputs: &[Tensor],
    outputs: &[Tensor],
    (request, arguments, apart): (&Request, &Run, bool),
) -> Result<String, Failure> {
    let usual = Request { mode: Mode::Default, ..request.clone() };
    let original = Program { functions: vec![function.clone()] };
    let emitted = pipeline::to_c(&original, &usual, Some("program.h".into()))?;
    let limit = Duration::from_secs(arguments.timeout);
    let expected = check::by_sequential(&Compiler::find()?, &emitted, sizes, inputs, limit)?;
    let closeness =
        if apart || check::reassociates(function) { Closeness::REASSOCIATED } else { Closeness::Exact };
    let results = function.params.iter().filter(|p| p.mode != ParamMode::In);
    for ((param, ours), expected) in results.zip(outputs).zip(&expected) {
        if let Some(what) = difference(ours, expected, closeness) {
            let message = format!(
                "the program on ranks and the sequential program differ: array `{}` {what}",
                param.name
            );
            return Err(Failure::check("X0401", message));
        }
    }
    Ok(format!("the program on ranks and the sequential program agree {closeness}"))
}
