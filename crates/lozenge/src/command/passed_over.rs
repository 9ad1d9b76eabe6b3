//! Options that a source or a target would pass over are refused, so that nobody takes what comes
//! out for what was asked for.

use std::path::{Path, PathBuf};

use targets::Settings;

use crate::cli::{Against, Choice, Command, Compile, Mode, RanksOptions};
use crate::failure::Failure;
use crate::target::{self, Target};

/// Options of programs that were given, in the order of the help.
fn given(choice: &Choice) -> Vec<&'static str> {
    let options = [
        ("--def", choice.definition.is_some()),
        ("--mode", choice.mode != Mode::default()),
        ("--strategy", choice.strategy.is_some()),
        ("--replay", choice.replay.is_some()),
        ("--reassociate", choice.reassociate),
        ("--tile", !choice.tile.is_empty()),
        ("--caches", choice.caches.is_some()),
        ("--schedule", choice.schedule.is_some()),
        ("--type", !choice.types.is_empty()),
        ("-I", !choice.includes.is_empty()),
        ("-D", !choice.defines.is_empty()),
        ("--pure", !choice.pure_functions.is_empty()),
        ("--assume-no-alias", choice.assume_no_alias),
        ("--strict", choice.strict),
        ("--auto", choice.auto),
        ("--lines", choice.lines),
    ];
    options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

/// Options that a target gives no effect: those of other targets, and those of an order of loops
/// where it has its own mapping.
///
/// # Errors
/// `X0009` for the first of them.
pub(super) fn by_target(target: Target, choice: &Choice, settings: &Settings) -> Result<(), Failure> {
    let own = |name: &str| target.settings().iter().any(|setting| setting.name == name);
    if let Some(name) = settings.given().find(|name| !own(name)) {
        let has = |other: &Target| other.settings().iter().any(|setting| setting.name == name);
        return Err(of_another(target, has));
    }
    let given = given(choice);
    let given = |option: &str| match option {
        "--schedule FILE" => choice.schedule.as_deref().is_some_and(|word| !["auto", "none"].contains(&word)),
        option => given.contains(&option),
    };
    match target.without_effect().iter().find(|(option, _)| given(option)) {
        None => Ok(()),
        Some((option, way_out)) => {
            let name = target.name();
            let message =
                format!("`{option}` has no effect for the target {name}, which has its own mapping");
            Err(Failure::usage("X0009", message).help(*way_out))
        }
    }
}

/// Options of targets for several ranks, where the target is for one.
///
/// # Errors
/// `X0009` for the first of them.
pub(super) fn by_ranks(target: Target, given: Option<&'static str>) -> Result<(), Failure> {
    match given.filter(|_| !target.abilities().ranks) {
        None => Ok(()),
        Some(option) => {
            let others = Target::all().iter().copied().filter(|other| other.abilities().ranks);
            let name = target::names(others);
            Err(Failure::usage("X0009", format!("`{option}` has no effect for the target {}", target.name()))
                .help(format!("add `--target {name}`, or leave the option out")))
        }
    }
}

/// Options of ranks that models do not have: where their arrays are is not asked.
///
/// # Errors
/// `X0009` for the first one.
pub(super) fn by_models_on_ranks(ranks: &RanksOptions) -> Result<(), Failure> {
    let options = [("--grid", ranks.grid.is_some()), ("--distribute", !ranks.distribute.is_empty())];
    match options.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage("X0009", format!("`{option}` has no effect on a model"))
            .help("leave it out; `--ranks` says how many ranks there are")),
    }
}

/// Options of `compile` that a target gives no effect, since its code is for all numbers of threads
/// or all sizes.
///
/// # Errors
/// `X0009` for a number of threads, `X0102` for sizes.
pub(super) fn by_target_of_code(arguments: &Compile) -> Result<(), Failure> {
    let abilities = arguments.target.abilities();
    if arguments.threads.is_some() && !abilities.threads {
        return Err(of_another(arguments.target, |other| other.abilities().threads));
    }
    if !arguments.sizes.is_empty() && !abilities.sizes {
        let others = Target::all().iter().copied().filter(|other| other.abilities().sizes);
        let message = format!(
            "`--size` is only for models and the targets {}: the C of a program is for all sizes",
            target::names(others)
        );
        return Err(Failure::refused("X0102", message)
            .help("`lozenge run` takes sizes, and `-D NAME=NUMBER` sets a macro of a C file"));
    }
    Ok(())
}

/// The options of the first target that has something, which this one has not.
fn of_another(target: Target, has: impl Fn(&Target) -> bool) -> Failure {
    let Some(other) = Target::all().iter().find(|other| has(other)) else {
        return Failure::usage("X0009", format!("an option has no effect for the target {}", target.name()));
    };
    let mut options: Vec<String> =
        other.settings().iter().map(|setting| format!("`--{}`", setting.name)).collect();
    if other.abilities().threads && !target.abilities().threads {
        options.push("`compile --threads`".to_owned());
    }
    let verb = if options.len() == 1 { "has" } else { "have" };
    let options = target::list(&options, "and");
    Failure::usage("X0009", format!("{options} {verb} no effect for the target {}", target.name())).help(
        format!("add `--target {}`; the number of OpenMP threads is set when the program runs", other.name()),
    )
}

/// A model has operators with strategies of their own.
///
/// # Errors
/// `X0009` for an option of programs or of a target; `X0007` for a target that models are not
/// translated for.
pub(super) fn by_models(
    choice: &Choice,
    target: Target,
    settings: &Settings,
    threads_of_code: Option<u32>,
) -> Result<(), Failure> {
    if !target.abilities().models {
        return Err(target::no_models(target.name()));
    }
    let own = |name: &&str| target.settings().iter().any(|setting| setting.name == *name);
    let of_targets = settings.given().filter(|name| !own(name)).map(|name| format!("--{name}"));
    let threads = threads_of_code.filter(|_| !target.abilities().threads);
    let of_targets = of_targets.chain(threads.map(|_| "--threads".to_owned()));
    let of_programs = given(choice).into_iter().filter(|option| *option != "--strict").map(str::to_owned);
    match of_targets.chain(of_programs).next() {
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
    if let Command::Test(of) = command {
        let other = |path: &&PathBuf| path.is_file() && crate::files::language(path).is_none();
        return match of.paths.iter().find(other).filter(|_| of.auto) {
            None => Ok(()),
            Some(path) => {
                let message = format!("`--auto` has no effect on {}, which is no C file", path.display());
                Err(Failure::usage("X0009", message).help("remove it"))
            }
        };
    }
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
    const OF_C: [&str; 7] = ["-I", "-D", "--pure", "--assume-no-alias", "--strict", "--auto", "--lines"];
    const OF_NEITHER: [&str; 3] = ["--strategy", "--replay", "--type"];
    let of_neither: Vec<&str> = OF_NEITHER.into_iter().chain(OF_C).collect();
    let language = path.and_then(|path| crate::files::language(path));
    let (kind, nothing): (&str, &[&str]) = match extension {
        Some("loz") => ("a functional program", &OF_C),
        Some("loops") => ("a loop program", &of_neither),
        _ if language.is_some() => ("a C file", &["--strategy", "--replay", "--type"]),
        _ => return Ok(()),
    };
    let of_models = match command {
        Command::Compile(of) => {
            vec![("--memory", of.memory.memory.is_some()), ("--prefix", of.library.prefix.is_some())]
        }
        Command::Run(of) => {
            vec![
                ("--memory", of.memory.memory.is_some()),
                ("--profile", of.profile),
                ("--check=ort", of.check == Some(Against::Ort)),
            ]
        }
        _ => Vec::new(),
    };
    let of_models = of_models.into_iter().find(|(_, given)| *given).map(|(name, _)| name);
    match given(choice).into_iter().find(|option| nothing.contains(option)).or(of_models) {
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
        crate::files::language(path).is_some() || choice.schedule.as_deref().is_some_and(|s| s != "none");
    match given(choice).into_iter().find(|option| ["--tile", "--caches"].contains(option)) {
        Some(option) if !scheduled => {
            Err(Failure::usage("X0009", format!("`{option}` has no effect where loops are not scheduled"))
                .help("add `--schedule auto`"))
        }
        _ => Ok(()),
    }
}
