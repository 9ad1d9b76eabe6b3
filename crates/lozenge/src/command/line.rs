//! The command line: read, and completed by what is configured; and how its errors and those of
//! commands are told.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use targets::athread::CHIP;

use super::about;
use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::failure::Failure;
use crate::machine::Description;
use crate::{models, report};

/// `--check ort` as `--check=ort`: another word behind `--check` is a file.
fn with_values(arguments: &[OsString]) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::with_capacity(arguments.len());
    for word in arguments {
        match words.last_mut() {
            Some(last) if last == "--check" && word == "ort" => last.push("=ort"),
            _ => words.push(word.clone()),
        }
    }
    words
}

/// Reads the command line. Where there is nothing more to do, help or an error has been printed,
/// and the exit code is left.
pub(super) fn parse(arguments: &[OsString]) -> Result<(Cli, ArgMatches), u8> {
    let mut command = Cli::command();
    let arguments = &with_values(arguments);
    let parsed = command.try_get_matches_from_mut(arguments).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok((cli, matches))
    });
    parsed.map_err(|error| {
        if error.kind() == ErrorKind::DisplayVersion {
            report::print(&about::version());
            return 0;
        }
        if !error.use_stderr() {
            report::print(&told(&error, report::colours(std::io::stdout().is_terminal())));
            return 0;
        }
        // The line was not understood, so it is looked at as a whole.
        let words = arguments.iter().take_while(|word| *word != "--");
        if words.into_iter().any(|word| word == "--json") {
            tell(&usage(&error), true);
        } else {
            report::print_error(&told(&error, report::colours(std::io::stderr().is_terminal())));
        }
        2
    })
}

fn told(error: &clap::Error, colour: bool) -> String {
    if colour { error.render().ansi().to_string() } else { error.render().to_string() }
}

/// An error of the command line as a diagnostic.
fn usage(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("X0015", "no command is given").help("`lozenge --help` lists the commands");
    }
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let first = lines.next().unwrap_or_default();
    let mut message = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    // What is missing stands in lines of its own.
    while message.ends_with(':') || message.ends_with(',') {
        let Some(item) = lines.next_if(|line| !line.starts_with("Usage:")) else { break };
        let comma = if lines.peek().is_some_and(|line| !line.starts_with("Usage:")) { "," } else { "" };
        message = format!("{message} {item}{comma}");
    }
    lines.fold(Failure::usage("X0015", message), |failure, line| match line.strip_prefix("tip: ") {
        Some(tip) => failure.help(tip),
        None if line.starts_with("For more information") => failure,
        None => failure.note(line),
    })
}

/// Prints the diagnostics of a failure.
pub(super) fn tell(failure: &Failure, as_json: bool) {
    if as_json {
        report::print_json(report::to_json(failure));
    } else {
        let colour = report::colours(std::io::stderr().is_terminal());
        report::print_error(&report::render(failure, colour));
    }
}

/// The file or folder that a command works on, by which its configuration is found.
pub(super) fn input(command: &Command) -> Option<&Path> {
    match command {
        Command::Compile(of) => Some(&of.file),
        Command::Run(of) => Some(&of.file),
        Command::Explain(of) => of.what.as_deref(),
        Command::Test(of) => of.paths.first().map(AsRef::as_ref),
        Command::Bench(of) => of.paths.first().map(AsRef::as_ref),
        Command::Prove(of) => of.paths.first().map(AsRef::as_ref),
        Command::Optimize(of) => Some(&of.model),
        Command::Deps(of) => Some(&of.file),
        Command::Schedule(of) => Some(&of.file),
        Command::Show(of) => Some(&of.file),
        Command::Tune(of) => Some(&of.file),
        _ => None,
    }
}

/// Gives the option of a chip the value that the machine has, where the command line is silent.
///
/// # Errors
/// `X0804` for a chip that no target knows.
pub(super) fn chip(
    command: &mut Command,
    matches: &ArgMatches,
    machine: &Description,
) -> Result<(), Failure> {
    let Some(chip) = &machine.chip else { return Ok(()) };
    let silent = matches.subcommand().is_some_and(|(_, own)| {
        own.try_contains_id(CHIP.name).is_ok()
            && own.value_source(CHIP.name).is_none_or(|source| source == ValueSource::DefaultValue)
    });
    let settings = match command {
        Command::Compile(of) => Some((of.target, &mut of.settings.0)),
        Command::Run(of) => Some((of.target, &mut of.settings.0)),
        _ => None,
    };
    let Some((target, settings)) = settings.filter(|_| silent) else { return Ok(()) };
    if target.settings().contains(&CHIP) && !settings.set(&CHIP, chip) {
        let known: Vec<&str> = CHIP.values.iter().map(|(name, _)| *name).collect();
        let message = format!("the machine `{}` has the chip `{chip}`, which is not known", machine.name);
        return Err(Failure::refused("X0804", message)
            .help(format!("chips are {}", crate::target::list(&known, "and"))));
    }
    Ok(())
}

/// Gives options the values that are configured, where the command line is silent.
pub(super) fn configure(command: &mut Command, matches: &ArgMatches, config: &Config) {
    let silent = matches.subcommand().is_some_and(|(_, own)| {
        own.try_contains_id("target").is_ok()
            && own.value_source("target").is_none_or(|source| source == ValueSource::DefaultValue)
    });
    let Some(target) = config.target.filter(|_| silent) else { return };
    match command {
        // Models take it from `--target` alone.
        Command::Compile(of) if !models::is_model(&of.file) => of.target = target,
        Command::Run(of) if !models::is_model(&of.file) => of.target = target,
        Command::Bench(of) => of.target = target,
        _ => {}
    }
}
