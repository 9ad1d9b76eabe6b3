//! `lozenge explore`: a program or a model, its stages side by side and what was done with it, as
//! one page.

use std::path::Path;

use targets::Settings;

use super::passed_over;
use crate::cli::Explore;
use crate::encoding;
use crate::explore::{self, Page};
use crate::failure::Failure;
use crate::files::{keep, read_source, spares_sources, write_whole};
use crate::target::Target;
use crate::{models, report};

/// Runs the command.
///
/// # Errors
/// What the front ends refuse; what later stages refuse stands on the page. Files that can't be
/// read or written.
pub fn run(arguments: &Explore, as_json: bool) -> Result<(), Failure> {
    let page = page(arguments)?;
    let text = page.html();
    if let Some(output) = &arguments.output {
        spares_sources(output)?;
        write_whole(output, text.as_bytes())?;
    }
    report::give(&text, arguments.output.as_deref(), as_json);
    Ok(())
}

fn page(arguments: &Explore) -> Result<Page, Failure> {
    let is_model = models::is_model(&arguments.file);
    let mut page;
    if is_model {
        passed_over::by_models(&arguments.choice, Target::default(), &Settings::default(), None)?;
        keep(&arguments.file);
        page = explore::model::page(arguments)?;
        if arguments.measure {
            explore::times::add(&mut page, arguments, None);
        }
    } else {
        let source = read_source(&arguments.file)?;
        page = explore::program::page(arguments, &source)?;
        if arguments.measure {
            explore::times::add(&mut page, arguments, Some(&source));
        }
    }
    page.command = command(&arguments.file);
    Ok(page)
}

/// The command that makes the page again, without the options.
fn command(file: &Path) -> String {
    format!("lozenge explore {}", encoding::name(file))
}
