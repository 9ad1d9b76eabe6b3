//! `lozenge explain`: pages of error codes, derivations for reading, and what the polyhedral side
//! did.

use std::path::Path;

use targets::Stage;

use crate::cli::Explain;
use crate::command::explain_movement;
use crate::failure::Failure;
use crate::files::{self, read_source};
use crate::pages;
use crate::pipeline;
use crate::{models, report};

/// Runs the command.
///
/// # Errors
/// `X0501` for an unknown code; else as the translation.
pub fn run(arguments: &Explain, as_json: bool) -> Result<(), Failure> {
    if arguments.list {
        let list: String = pages::all().map(|(_, text)| format!("{}\n", pages::title(text))).collect();
        report::give(&list, None, as_json);
        return Ok(());
    }
    let Some(what) = &arguments.what else { return Ok(()) };
    if let Some(code) = as_code(what).filter(|_| !arguments.movement) {
        let page = pages::page(&code).ok_or_else(|| {
            Failure::refused("X0501", format!("there is no error code {code}"))
                .help("`lozenge explain --list` lists all codes")
        })?;
        report::give(page, None, as_json);
        return Ok(());
    }
    if models::is_model(what) {
        let message = format!("{} is a model, which has no derivation as a whole", what.display());
        return Err(Failure::refused("X0007", message)
            .help("`lozenge show MODEL --svg` draws it, `lozenge optimize MODEL` shows which rules apply, `lozenge compile MODEL` prints its C"));
    }
    let source = read_source(what)?;
    let request = arguments.choice.request_of(what)?;
    let front = files::open(&source, &request)?;
    if arguments.movement {
        report::give(&explain_movement::told(&front, &request, arguments)?, None, as_json);
        return Ok(());
    }
    let functional = what.extension().is_some_and(|extension| extension == "loz");
    if functional {
        let mut text = front.emit(Stage::Derivation, &request)?.text;
        text.push_str(&pipeline::candidates(&front, &request)?);
        report::give(&text, None, as_json);
    } else {
        report::give(&pipeline::done(&front, &request)?, None, as_json);
    }
    Ok(())
}

/// The code, if this looks like one and no file has that name: a letter and four digits.
fn as_code(what: &Path) -> Option<String> {
    let text = what.to_str()?;
    let mut chars = text.chars();
    let letter = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    (letter && text.len() == 5 && chars.all(|c| c.is_ascii_digit()) && !what.exists())
        .then(|| text.to_ascii_uppercase())
}
