//! `lozenge compile`: a program to C, or to one of the stages on the way.

use std::io::IsTerminal;

use serde_json::json;

use crate::cli::{Compile, Cores, Stage, Target};
use crate::failure::Failure;
use crate::files::{read_source, spares_sources, write_whole};
use crate::foreign;
use crate::pipeline;
use crate::report;

/// Runs the command.
///
/// # Errors
/// What the stages refuse, and files that can't be read or written.
pub fn run(arguments: &Compile, as_json: bool) -> Result<(), Failure> {
    if arguments.target == Target::Athread {
        return super::compile_athread::run(arguments, as_json);
    }
    if arguments.cores != Cores::default() || arguments.threads.is_some() {
        return Err(only_athread());
    }
    if !arguments.sizes.is_empty() {
        return Err(sizes_of_models());
    }
    let source = read_source(&arguments.file)?;
    arguments.output.as_deref().map_or(Ok(()), spares_sources)?;
    let stage = arguments.emit.unwrap_or(Stage::C);
    if stage != Stage::Schedule {
        super::passed_over::without_schedule(&arguments.file, &arguments.choice)?;
    }
    super::passes::look(&arguments.look, || pipeline::histories(&source, &arguments.choice))?;
    let pipeline::Emission { text, warnings, .. } = pipeline::emit(&source, stage, &arguments.choice)?;
    let mut written = Vec::new();
    if let Some(output) = &arguments.output {
        write_whole(output, &foreign::written(&text))?;
        written.push(output.display().to_string());
    }
    if as_json {
        let text = arguments.output.is_none().then_some(text);
        let warnings: Vec<_> = warnings.iter().map(|d| report::diagnostic_json(Some(&source), d)).collect();
        let value = json!({ "ok": true, "written": written, "text": text, "diagnostics": warnings });
        report::print_json(value);
        return Ok(());
    }
    let colour = report::colours(std::io::stderr().is_terminal());
    report::print_error(&report::render_all(Some(&source), &warnings, colour));
    if arguments.output.is_none() {
        report::print_c(&text);
    }
    Ok(())
}

/// Sizes, where what comes out is for all of them.
pub(super) fn sizes_of_models() -> Failure {
    let message = "`--size` is only for models and the target athread: the C of a program is for all sizes";
    Failure::refused("X0102", message)
        .help("`lozenge run` takes sizes, and `-D NAME=NUMBER` sets a macro of a C file")
}

/// Options that ask for cores, without the target that has them.
pub(super) fn only_athread() -> Failure {
    let message = "`--chip`, `--parallel` and `compile --threads` have no effect for the target openmp";
    Failure::usage("X0009", message)
        .help("add `--target athread`; the number of OpenMP threads is set when the program runs")
}
