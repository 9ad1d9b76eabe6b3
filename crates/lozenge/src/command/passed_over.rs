//! Options that a source would pass over are refused, so that nobody takes what comes out for what was asked for.
//!
//! Those of the target `athread` are refused where it is chosen (`pipeline::athread`).

use std::path::Path;

use crate::cli::{Chip, Choice, Command, Cores, Mode, Parallel, Target};
use crate::failure::Failure;

/// Options of programs that were given, in the order of the help.
fn given(choice: &Choice) -> Vec<&'static str> {
    let options = [
        ("--def", choice.definition.is_some()),
        ("--mode", choice.mode != Mode::default()),
        ("--strategy", choice.strategy.is_some()),
        ("--reassociate", choice.reassociate),
        ("--tile", !choice.tile.is_empty()),
        ("--caches", choice.caches.is_some()),
        ("--schedule", choice.schedule.is_some()),
        ("--type", !choice.types.is_empty()),
        ("-I", !choice.includes.is_empty()),
        ("-D", !choice.defines.is_empty()),
        ("--pure", !choice.pure_functions.is_empty()),
        ("--assume-no-alias", choice.assume_no_alias),
    ];
    options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

/// A model has operators with strategies of their own, and one target.
///
/// # Errors
/// `X0009` for an option of programs or of cores; `X0007` for a target that models are not translated for.
pub(super) fn by_models(
    choice: &Choice,
    target: Target,
    cores: &Cores,
    threads_of_cores: Option<u32>,
) -> Result<(), Failure> {
    if target == Target::Athread {
        return Err(Failure::refused("X0007", "a model is not translated for the target athread")
            .help("leave `--target` out to get C with OpenMP"));
    }
    let of_cores = [
        ("--chip", cores.chip != Chip::default()),
        ("--parallel", cores.parallel != Parallel::default()),
        ("--threads", threads_of_cores.is_some()),
    ];
    let of_cores = of_cores.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
    match of_cores.chain(given(choice)).next() {
        None => Ok(()),
        Some(option) => Err(Failure::usage("X0009", format!("`{option}` has no effect on a model"))
            .help("remove it; models take sizes, and to run them arrays and threads")),
    }
}

/// What only some kinds of programs take.
///
/// # Errors
/// `X0009` for the first option that the kind of this file knows nothing of.
pub(super) fn by_programs(command: &Command) -> Result<(), Failure> {
    let (path, choice) = match command {
        Command::Compile(of) => (Some(&of.file), &of.choice),
        Command::Run(of) => (Some(&of.file), &of.choice),
        Command::Explain(of) => (of.what.as_ref(), &of.choice),
        Command::Prove(of) => (of.paths.first(), &of.choice),
        Command::Deps(of) => (Some(&of.file), &of.choice),
        Command::Schedule(of) => (Some(&of.file), &of.choice),
        Command::Show(of) => (Some(&of.file), &of.choice),
        Command::Explore(of) => (Some(&of.file), &of.choice),
        _ => return Ok(()),
    };
    let extension = path.and_then(|path| path.extension()).and_then(|e| e.to_str());
    let (kind, nothing): (&str, &[&str]) = match extension {
        Some("loz") => ("a functional program", &["-I", "-D", "--pure", "--assume-no-alias"]),
        Some("loops") => {
            ("a loop program", &["--strategy", "--type", "-I", "-D", "--pure", "--assume-no-alias"])
        }
        Some("c") => ("a C file", &["--strategy", "--type"]),
        _ => return Ok(()),
    };
    let memory = match command {
        Command::Compile(of) => of.memory.memory,
        Command::Run(of) => of.memory.memory,
        _ => None,
    };
    let memory = memory.map(|_| "--memory");
    match given(choice).into_iter().find(|option| nothing.contains(option)).or(memory) {
        None => Ok(()),
        Some(option) => {
            Err(Failure::usage("X0009", format!("`{option}` has no effect on {kind}")).help("remove it"))
        }
    }
}

/// Tiles and caches are for loops that the polyhedral side orders.
///
/// # Errors
/// `X0009` where such an option is given and nothing is scheduled.
pub(super) fn without_schedule(path: &Path, choice: &Choice) -> Result<(), Failure> {
    let scheduled =
        path.extension().is_some_and(|e| e == "c") || choice.schedule.as_deref().is_some_and(|s| s != "none");
    match given(choice).into_iter().find(|option| ["--tile", "--caches"].contains(option)) {
        Some(option) if !scheduled => {
            Err(Failure::usage("X0009", format!("`{option}` has no effect where loops are not scheduled"))
                .help("add `--schedule auto`"))
        }
        _ => Ok(()),
    }
}
