//! The commands, one module each, and what they share: reading the command line, the deep stack, reporting failures.

mod bench;
mod bench_athread;
mod bench_c;
mod check_rules;
mod compile;
mod compile_athread;
mod costs;
mod explain;
mod fmt;
mod fuzz;
mod fuzz_inputs;
pub mod fuzz_kernels;
mod generate;
mod model;
mod optimize;
mod passed_over;
mod poly;
mod prove;
mod rewriting;
mod run;
mod run_athread;
mod schedule;
mod show;
mod test;
mod test_c;
mod translation;

pub(crate) use poly::help as poly_help;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser;

use crate::cli::{Cli, Command, FuzzOf, Target};
use crate::failure::Failure;
use crate::report;

/// Programs nest as deep as their authors like, and the stages recurse; each refuses what is beyond its own bound, and this stack holds that.
pub(crate) const STACK: usize = 1 << 30;

/// Runs the command line and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
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
    let mut cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let text = if report::colours(std::io::stderr().is_terminal()) {
                error.render().ansi().to_string()
            } else {
                error.render().to_string()
            };
            if error.use_stderr() {
                report::print_error(&text);
                return 2;
            }
            report::print(&text);
            return 0;
        }
    };
    let dash = dash_is_standard_output(&mut cli.command);
    let outcome = dash.and_then(|()| caught(|| dispatch(&cli)));
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            if failure.diagnostics.is_empty() {
                // The command has said it all.
            } else if cli.json {
                report::print(&format!("{:#}\n", report::to_json(&failure)));
            } else {
                report::print_error(&report::render(
                    &failure,
                    report::colours(std::io::stderr().is_terminal()),
                ));
            }
            failure.kind.exit_code()
        }
    }
}

/// `-o -` is the standard output, where a command writes to that without `-o`.
fn dash_is_standard_output(command: &mut Command) -> Result<(), Failure> {
    let (output, prints) = match command {
        Command::Compile(arguments) => (&mut arguments.output, true),
        Command::Show(arguments) => (&mut arguments.output, true),
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
        Command::Compile(arguments) if model::is_model(&arguments.file) => {
            model::compile(arguments, cli.json)
        }
        Command::Compile(arguments) => compile::run(arguments, cli.json),
        Command::Explain(arguments) => explain::run(arguments, cli.json),
        Command::Run(arguments) if model::is_model(&arguments.file) => model::run(arguments, cli.json),
        Command::Run(arguments) if arguments.target == Target::Athread => {
            run_athread::run(arguments, cli.json)
        }
        Command::Run(arguments) => run::run(arguments, cli.json),
        Command::Generate(arguments) => generate::run(arguments, cli.json),
        Command::Fuzz(arguments) => match arguments.of {
            FuzzOf::Programs => fuzz::run(arguments, cli.json),
            FuzzOf::Kernels => fuzz_kernels::run(arguments, cli.json),
            FuzzOf::Models | FuzzOf::Rules => fuzz_inputs::run(arguments, cli.json),
        },
        Command::Prove(arguments) => prove::run(arguments, cli.json),
        Command::Optimize(arguments) => optimize::run(arguments, cli.json),
        Command::CheckRules(arguments) => check_rules::run(arguments, cli.json),
        Command::Fmt(arguments) => fmt::run(arguments, cli.json),
        Command::Poly(arguments) => poly::calculate(arguments, cli.json),
        Command::Deps(arguments) => poly::dependences(arguments, cli.json),
        Command::Bench(arguments) if arguments.costs => costs::run(arguments, cli.json),
        Command::Bench(arguments) if arguments.rewriting => rewriting::run(arguments, cli.json),
        Command::Bench(arguments) if arguments.target == Target::Athread => {
            bench_athread::run(arguments, cli.json)
        }
        Command::Bench(arguments) if arguments.translation => translation::run(arguments, cli.json),
        Command::Show(arguments) if model::is_model(&arguments.file) => {
            model::show_graph(arguments, cli.json)
        }
        Command::Show(arguments) => show::run(arguments, cli.json),
        Command::Schedule(arguments) => schedule::run(arguments, cli.json),
        Command::Bench(arguments) => bench::run(arguments, cli.json),
        Command::Test(arguments) => test::run(arguments, cli.json),
    }
}

/// A panic is a defect, and must look like one: a message with a code, an exit code, nothing half-written.
fn caught(command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(Failure::refused("X0601", format!("the compiler failed: {what}"))
            .help("this is a defect of lozenge: please report the program and the command line"))
    })
}
