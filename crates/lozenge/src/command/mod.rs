//! The commands, one module each, and what they share: reading the command line, the deep stack,
//! reporting failures.

mod about;
pub(crate) mod bench;
pub(crate) mod bench_athread;
pub(crate) mod bench_c;
mod bench_model;
mod bench_movement;
pub(crate) mod bench_mpi;
pub(crate) mod bench_simulated;
mod cc;
mod check_defined;
mod check_files;
mod check_rules;
mod compile;
mod compile_library;
mod costs;
mod explain;
mod explain_movement;
mod explore;
mod fmt;
mod fuzz;
mod fuzz_inputs;
pub mod fuzz_kernels;
mod fuzz_texts;
mod generate;
mod line;
pub(crate) mod model;
pub mod optimize;
mod ort;
mod passed_over;
pub mod passes;
mod poly;
mod prove;
mod ran_model;
mod rewriting;
pub(crate) mod run;
pub(crate) mod run_athread;
pub(crate) mod run_mpi;
mod schedule;
mod show;
mod test;
mod test_c;
mod test_points;
pub(crate) mod translation;
mod tune;

pub(crate) use poly::help as poly_help;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::api::{STACK, of_hang, panic_message};
use crate::cli::{Cli, Command, FuzzOf, Look};
use crate::failure::Failure;
use crate::request::Request;
use crate::{cleanup, config, files, machine, models, process, progress, report};

/// What is asked for of a source in a file where no option says more; the command tells of the work
/// on it.
pub(crate) fn request() -> Request {
    Request { progress: progress::of_request(), ..files::request() }
}

/// Runs the command line and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    cleanup::clear_on_signals();
    keep_panics();
    let work = std::thread::Builder::new().stack_size(STACK).spawn(move || on_stack(arguments));
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => 1,
        Err(error) => {
            report::print_error(&format!("error: can't start a thread with a stack of 1 GiB: {error}\n"));
            4
        }
    }
}

fn on_stack(arguments: Vec<OsString>) -> u8 {
    // All its words are for a C compiler, `--help` and `--version` too.
    if let [_, command, words @ ..] = arguments.as_slice()
        && let Some(language) = cc::language(command)
    {
        return cc::run(words, language);
    }
    let parsed = line::parse(&arguments);
    let (mut cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    if let Command::Cc(of) = &cli.command {
        return cc::run(&of.words, cfront::Language::C);
    }
    report::name_command(matches.subcommand_name().unwrap_or_default());
    progress::start(cli.quiet);
    let outcome = prepare(&mut cli, &matches).and_then(|()| caught(|| dispatch(&cli)));
    progress::end();
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            let failure = failure.with_defects_told();
            // Without diagnostics, the command has said it all.
            if !failure.diagnostics.is_empty() {
                line::tell(&failure, cli.json);
            }
            failure.kind.exit_code()
        }
    }
}

/// What holds before the command begins: where its result goes, the C compiler, the configuration.
fn prepare(cli: &mut Cli, matches: &clap::ArgMatches) -> Result<(), Failure> {
    dash_is_standard_output(&mut cli.command)?;
    if let Some(command) = &cli.cc {
        process::choose(command);
    }
    if let Some(name) = &cli.machine {
        let machine = machine::description::open(name)?;
        line::chip(&mut cli.command, matches, &machine)?;
        machine::choose(machine);
    }
    if !cli.no_config
        && let Some(input) = line::input(&cli.command)
    {
        let config = config::load(input)?;
        line::configure(&mut cli.command, matches, &config);
        config::set(config);
    }
    Ok(())
}

/// `-o -` is the standard output, where a command writes to that without `-o`.
fn dash_is_standard_output(command: &mut Command) -> Result<(), Failure> {
    let (output, prints) = match command {
        Command::Compile(arguments) => (&mut arguments.output, true),
        Command::Show(arguments) => (&mut arguments.output, true),
        Command::Explore(arguments) => (&mut arguments.output, true),
        Command::Generate(arguments) => (&mut arguments.output, true),
        Command::Prove(arguments) => (&mut arguments.output, arguments.emit.is_some()),
        Command::Fuzz(arguments) => (&mut arguments.output, false),
        Command::Optimize(arguments) => (&mut arguments.output, false),
        Command::CheckRules(arguments) => (&mut arguments.output, false),
        _ => return Ok(()),
    };
    if output.as_deref() != Some(std::path::Path::new("-")) {
        return Ok(());
    }
    if !prints {
        let message = "`-o -`: this command writes no file to the standard output";
        return Err(Failure::usage("X0009", message).help("give a name; a file named `-` is `./-`"));
    }
    *output = None;
    Ok(())
}

fn dispatch(cli: &Cli) -> Result<(), Failure> {
    passed_over::by_programs(&cli.command)?;
    match &cli.command {
        Command::Compile(arguments)
            if arguments.look != Look::default()
                && (arguments.library.is_given() || !arguments.target.abilities().passes) =>
        {
            Err(passes::not_here())
        }
        Command::Compile(arguments) if arguments.library.is_given() => {
            compile_library::run(arguments, cli.json)
        }
        Command::Compile(arguments) if models::is_model(&arguments.file) => {
            model::compile(arguments, cli.json)
        }
        Command::Compile(arguments) => compile::run(arguments, cli.json),
        Command::Explain(arguments) => explain::run(arguments, cli.json),
        Command::Run(arguments) if models::is_model(&arguments.file) => model::run(arguments, cli.json),
        Command::Run(arguments) => arguments.target.backend().run(arguments, cli.json),
        Command::Generate(arguments) => generate::run(arguments, cli.json),
        Command::Fuzz(arguments) => match arguments.of {
            FuzzOf::Programs => fuzz::run(arguments, cli.json),
            FuzzOf::Kernels => fuzz_kernels::run(arguments, cli.json),
            FuzzOf::Models | FuzzOf::Rules | FuzzOf::Texts => fuzz_inputs::run(arguments, cli.json),
        },
        Command::Prove(arguments) => prove::run(arguments, cli.json),
        Command::Optimize(arguments) => optimize::run(arguments, cli.json),
        Command::CheckRules(arguments) => check_rules::run(arguments, cli.json),
        Command::Fmt(arguments) => fmt::run(arguments, cli.json),
        Command::Poly(arguments) => poly::calculate(arguments, cli.json),
        Command::Deps(arguments) => poly::dependences(arguments, cli.json),
        Command::Bench(arguments) if arguments.costs => costs::run(arguments, cli.json),
        Command::Bench(arguments) if arguments.movement => bench_movement::run(arguments, cli.json),
        Command::Bench(arguments) if arguments.rewriting => rewriting::run(arguments, cli.json),
        Command::Show(arguments) if models::is_model(&arguments.file) => {
            model::show_graph(arguments, cli.json)
        }
        Command::Show(arguments) => show::run(arguments, cli.json),
        Command::Explore(arguments) => explore::run(arguments, cli.json),
        Command::Schedule(arguments) => schedule::run(arguments, cli.json),
        Command::Bench(arguments) => arguments.target.backend().bench(arguments, cli.json),
        Command::Tune(arguments) => tune::run(arguments, cli.json),
        Command::Check(arguments) => check_files::run(arguments, cli.json),
        Command::Test(arguments) => test::run(arguments, cli.json),
        Command::Completions(arguments) => {
            about::completions(arguments.shell, cli.json);
            Ok(())
        }
        Command::Man(arguments) => about::manual(&arguments.output, cli.json),
        Command::Machine(of) => about::machine(of.list, cli.machine.as_deref(), cli.json),
        Command::Passes => {
            passes::run(cli.json);
            Ok(())
        }
        // It has run before, with an exit code of its own.
        Command::Cc(_) => Ok(()),
        Command::Lsp => language_server::serve_standard_streams().map_err(|stopped| {
            Failure::environment("X0011", format!("the connection to the editor ended: {stopped}"))
        }),
    }
}

/// What the first panic said, and where it was.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics are told as diagnostics. A backtrace is printed only if RUST_BACKTRACE asks for one.
fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let what = panic_message(info.payload());
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let mut first = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| format!("{what}{place}"));
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|asked| !asked.is_empty() && asked != "0") {
            report::print_error(&format!("{}\n", std::backtrace::Backtrace::force_capture()));
        }
    }));
}

/// What a panic said that was caught, and where it was if that is known.
fn told_panic(panic: &(dyn std::any::Any + Send)) -> String {
    let kept = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    kept.unwrap_or_else(|| panic_message(panic).to_owned())
}

/// A panic is a defect, and must look like one: a message with a code, an exit code, nothing
/// half-written.
fn caught(command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|panic| {
        if let Some(hang) = panic.downcast_ref::<polyhedral::Hang>() {
            return Err(of_hang(hang));
        }
        let what = told_panic(&*panic);
        let failure = Failure::refused("X0601", format!("the compiler failed: {what}"));
        Err(failure.help("with RUST_BACKTRACE=1 the command shows where in the compiler it failed"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_as_a_defect() {
        let failure = caught(|| panic!("index out of bounds")).unwrap_err().with_defects_told();
        let text = report::render(&failure, false);
        for part in
            ["error[X0601]: the compiler failed: index out of bounds", "not of your input", "issue tracker"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
}
