//! `lozenge run`: compile a definition, run it on arrays, compare.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loops::{Function, Name, Param, ParamMode, Tensor};
use serde_json::{Value as Json, json};

use crate::bind::{self, Given, Sizes};
use crate::check;
use crate::cli::Run;
use crate::execute::{self, Build, Executable};
use crate::failure::{Failure, Source};
use crate::files::{self, read_source, write_whole};
use crate::pipeline::{self, Lowered};
use crate::process::{Compiler, Optimise};
use crate::report;
use crate::request::{Request, Schedule};
use crate::statistics::Summary;
use crate::value::{Closeness, Value, show};
use crate::{npy, npz};

/// Runs the command.
///
/// # Errors
/// What the stages refuse, sizes and arrays that do not fit, a missing C compiler, results that
/// differ under `--check`.
pub fn run(arguments: &Run, as_json: bool) -> Result<(), Failure> {
    super::passed_over::by_target(arguments.target, &arguments.choice, &arguments.settings.0)?;
    super::passed_over::by_ranks(arguments.target, arguments.ranks.given())?;
    super::passed_over::without_schedule(&arguments.file, &arguments.choice)?;
    let source = read_source(&arguments.file)?;
    let request = arguments.request()?;
    let front = files::open(&source, &request)?;
    report::tuned(&front, &request)?;
    let lowered = front.lower(&request)?;
    report::told(&lowered);
    let function = &lowered.function;
    let arrays = read_arrays(function, &arguments.arguments)?;
    let given = bind::by_name(&arguments.sizes)?;
    let sizes = bind::sizes(function, &given, &arrays)?;
    // The command, the driver and the files between them hold the arrays; a check adds two results
    // and what makes them.
    bind::check_memory(function, &sizes, if arguments.check.is_some() { 6 } else { 3 })?;
    let ranges = check::ranges(lowered.definition.as_ref(), function, lowered.original.as_ref(), &sizes);
    let inputs = bind::inputs(function, &sizes, &arrays, &ranges, arguments.seed)?;
    drop(arrays);

    let optimise = if arguments.check.is_some() { Optimise::FastExact } else { Optimise::Fast };
    let executable = build(&lowered, &request, optimise)?;
    let schedule = execute::Schedule {
        threads: arguments.threads,
        repetitions: arguments.reps,
        warm_up: u32::from(arguments.reps > 1),
        limit: Duration::from_secs(arguments.timeout),
    };
    let outcome = executable.run(0, &sizes, &inputs, schedule)?;
    let agreement = if arguments.check.is_some() {
        Some(compare(&lowered, function, &sizes, &inputs, &outcome.outputs)?)
    } else {
        None
    };

    let results: Vec<(&Name, &Tensor)> = function
        .params
        .iter()
        .filter(|p| p.mode != ParamMode::In)
        .map(|p| &p.name)
        .zip(&outcome.outputs)
        .collect();
    let mut written = Vec::new();
    if let Some(out) = &arguments.out {
        let names: Vec<&Name> = results.iter().map(|(name, _)| *name).collect();
        for (path, (_, tensor)) in out_paths(out, &names).iter().zip(&results) {
            write_whole(path, &npy::write(tensor))?;
            written.push(path.display().to_string());
        }
    }
    let summary = Summary::of(&outcome.times);
    if as_json {
        print_json(function, &sizes, arguments, &results, &written, &outcome.times, agreement.as_deref());
    } else {
        print_text(&source, function, &sizes, &results, &written, summary, agreement.as_deref());
        if let Some(advice) = advice(&lowered, &request, summary) {
            report::print_error(&format!("note: {advice}\n"));
        }
    }
    Ok(())
}

/// Seconds: a shorter run needs no advice.
const LONG: f64 = 0.1;

/// What would make a long run shorter.
fn advice(lowered: &Lowered, request: &Request, summary: Summary) -> Option<String> {
    let own_order = matches!(request.schedule, Schedule::Usual | Schedule::Original);
    if lowered.of_c || !own_order || summary.least < LONG {
        return None;
    }
    let sum = polyhedral::locality::sum_across(&lowered.function.body)?;
    Some(format!(
        "the loop over `{}` goes across the rows of `{}`, from one line of memory to the next: `--schedule auto` looks for an order and tiles that do not",
        sum.var, sum.array
    ))
}

fn build(lowered: &Lowered, request: &Request, optimise: Optimise) -> Result<Executable, Failure> {
    let program = loops::Program { functions: vec![lowered.function.clone()] };
    let emitted = pipeline::to_c(&program, request, Some("program.h".into()))?;
    let compiler = Compiler::find()?;
    Executable::build(
        &compiler,
        &Build {
            files: &[("program.c", &emitted.source)],
            routines: &emitted.signatures,
            header: &emitted.header,
            flags: &optimise.configured(),
            libraries: &[],
        },
    )
}

fn compare(
    lowered: &Lowered,
    function: &Function,
    sizes: &Sizes,
    inputs: &[Tensor],
    outputs: &[Tensor],
) -> Result<String, Failure> {
    let exact = !check::reassociates(function) && !lowered.reassociated;
    let closeness = if exact { Closeness::Exact } else { Closeness::REASSOCIATED };
    // What the polyhedral side made is compared with what it was given.
    let reference = lowered.original.as_ref().unwrap_or(function);
    let interpreted = check::by_interpreter(reference, sizes, inputs, None, lowered.of_c)?;
    check::compare(
        function,
        ("the compiled program", outputs),
        ("the interpreter", &interpreted),
        closeness,
    )?;
    let Some(definition) = &lowered.definition else {
        return Ok(format!("the compiled program and the interpreter agree {closeness}"));
    };
    let evaluated = check::by_evaluator(definition, function, sizes, inputs)?;
    check::compare(function, ("the compiled program", outputs), ("the evaluator", &evaluated), closeness)?;
    Ok(format!("the compiled program, the interpreter and the evaluator agree {closeness}"))
}

pub(super) fn read_arrays(
    function: &Function,
    files: &[(String, PathBuf)],
) -> Result<BTreeMap<Name, Given>, Failure> {
    let mut arrays = BTreeMap::new();
    for (name, path) in files {
        let param = function.params.iter().find(|p| p.name.as_str() == name && p.mode != ParamMode::Out);
        let Some(param) = param else {
            let names: Vec<Name> =
                function.params.iter().filter(|p| p.mode != ParamMode::Out).map(|p| p.name.clone()).collect();
            return Err(Failure::refused("X0204", format!("`{}` has no parameter `{name}`", function.name))
                .help(bind::list("its parameters are", &names)));
        };
        let given = match written(path) {
            Some(value) => of_command_line(param, &value)?,
            None => Given { origin: path.display().to_string(), tensor: npz::load(name, path)? },
        };
        bind::check_type(param, &given)?;
        if arrays.insert(param.name.clone(), given).is_some() {
            return Err(Failure::usage("X0204", format!("the parameter `{name}` is given twice")));
        }
    }
    Ok(arrays)
}

/// The value that is written where the name of a file may stand: `0.05`, `true`, `[1, 2]`.
pub(super) fn written(text: &Path) -> Option<Value> {
    let (value, rest) = Value::read(text.to_str()?).ok()?;
    rest.trim().is_empty().then_some(value)
}

/// The value of the command line for a parameter.
fn of_command_line(param: &Param, value: &Value) -> Result<Given, Failure> {
    let refused = |why: String| {
        let message =
            format!("the value of the parameter `{}`, which is {}: {why}", param.name, bind::type_of(param));
        Failure::refused("X0203", message)
    };
    let shape = value.shape().ok_or_else(|| refused("its rows have different lengths".into()))?;
    let tensor = value.tensor(&param.elem, &shape).map_err(refused)?;
    Ok(Given { origin: format!("the value of {}", param.name), tensor })
}

/// Where results go: into the file that was asked for, or beside it, each with its name in the
/// file's name. What file names lack (the names of a model's outputs may have slashes) becomes `_`,
/// and names that are the same then get a number.
pub(super) fn out_paths(out: &Path, names: &[&Name]) -> Vec<PathBuf> {
    if names.len() == 1 {
        return vec![out.to_path_buf()];
    }
    let extension = out.extension().and_then(|e| e.to_str()).unwrap_or("npy");
    file_names(names).iter().map(|name| out.with_extension(format!("{name}.{extension}"))).collect()
}

/// Parts of file names for these names, all different, also where case does not count.
fn file_names(names: &[&Name]) -> Vec<String> {
    let lacks = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    let safe = |name: &str| -> String { name.chars().map(|c| if lacks(c) { '_' } else { c }).collect() };
    // Names that need no change keep what they are.
    let mut taken: HashSet<String> =
        names.iter().filter(|n| safe(n.as_str()) == n.as_str()).map(|n| n.as_str().to_lowercase()).collect();
    let mut kept: HashSet<String> = HashSet::new();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let base = safe(name.as_str());
        if base == name.as_str() && kept.insert(base.to_lowercase()) {
            found.push(base);
            continue;
        }
        let numbered = (2..).map(|k: u64| format!("{base}_{k}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|n| taken.insert(n.to_lowercase()));
        found.push(free.unwrap_or(base));
    }
    found
}

fn print_text(
    source: &Source,
    function: &Function,
    sizes: &Sizes,
    results: &[(&Name, &Tensor)],
    written: &[String],
    summary: Summary,
    agreement: Option<&str>,
) {
    let at: Vec<String> = sizes.iter().map(|(n, v)| format!("{n} = {v}")).collect();
    let mut text = format!("{} of {}", function.name, source.path);
    if !at.is_empty() {
        text.push_str(&format!(" at {}", at.join(", ")));
    }
    text.push('\n');
    for (name, tensor) in results {
        text.push_str(&format!("{name} = {}\n", show(tensor)));
    }
    for path in written {
        text.push_str(&format!("wrote {path}\n"));
    }
    text.push_str(&report::times(&summary, agreement));
    report::print(&text);
}

fn print_json(
    function: &Function,
    sizes: &Sizes,
    arguments: &Run,
    results: &[(&Name, &Tensor)],
    written: &[String],
    times: &[Duration],
    agreement: Option<&str>,
) {
    let results: Vec<Json> = results
        .iter()
        .enumerate()
        .map(|(k, (name, tensor))| {
            json!({
                "name": name.as_str(), "shape": tensor.shape, "type": tensor.data.elem().to_string(),
                "file": written.get(k), "value": show(tensor),
            })
        })
        .collect();
    let sizes: BTreeMap<&str, i64> = sizes.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    let value = json!({
        "ok": true,
        "function": function.name.as_str(),
        "sizes": sizes,
        "seed": arguments.seed,
        "results": results,
        "seconds": times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
        "check": agreement,
    });
    report::print_json(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_files_of_their_own() {
        let names: Vec<Name> =
            ["/fc/Relu", "_fc_Relu", "a", "A", "a:", "a/", "..", "", "\0"].map(Name::new).to_vec();
        let names: Vec<&Name> = names.iter().collect();
        let paths = out_paths(Path::new("there/o.npy"), &names);
        let shown: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        assert_eq!(
            shown,
            [
                "there/o._fc_Relu_2.npy",
                "there/o._fc_Relu.npy",
                "there/o.a.npy",
                "there/o.A_2.npy",
                "there/o.a_.npy",
                "there/o.a__2.npy",
                "there/o....npy",
                "there/o..npy",
                "there/o._.npy"
            ]
        );
        assert_eq!(out_paths(Path::new("o"), &names[..1]), [Path::new("o")]);
    }
}
