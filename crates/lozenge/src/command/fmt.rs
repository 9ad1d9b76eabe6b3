//! `lozenge fmt`: functional programs and rule files in their normal layout.

use serde_json::json;

use crate::cli::Fmt;
use crate::failure::{Failure, FailureKind};
use crate::files::{find, read_source, write_in_place};
use crate::report;

/// Runs the command. A file with errors stops it before anything is written.
///
/// # Errors
/// Syntax errors; exit code 3 if `--check` finds a file that is not formatted.
pub fn run(arguments: &Fmt, as_json: bool) -> Result<(), Failure> {
    let mut changed = Vec::new();
    for path in &arguments.paths {
        for file in find(path, &["loz", "gsl"])? {
            let source = read_source(&file)?;
            let formatted = if file.extension().is_some_and(|e| e == "gsl") {
                gsl::format(&source.text)
            } else {
                functional::fmt::format(&source.text)
            };
            let text = formatted.map_err(|d| Failure::in_source(&source, d))?;
            if text != source.text {
                changed.push((file, text));
            }
        }
    }
    let mut names = Vec::new();
    for (file, text) in &changed {
        if !arguments.check {
            write_in_place(file, text.as_bytes())?;
        }
        names.push(file.display().to_string());
    }
    let failed = arguments.check && !changed.is_empty();
    if as_json {
        report::print_json(json!({ "ok": !failed, "changed": names }));
    } else {
        let verb = if arguments.check { "not formatted" } else { "formatted" };
        report::print(&names.iter().map(|n| format!("{n}: {verb}\n")).collect::<String>());
    }
    if failed { Err(Failure::told(FailureKind::Check)) } else { Ok(()) }
}
