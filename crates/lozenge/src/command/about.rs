//! What the command says of itself: its version, completions for shells, manual pages.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::files;
use crate::machine::{self, description};
use crate::process::Compiler;
use crate::report;

/// Version, commit, and what results depend on: the set library and the C compiler that would be
/// used.
pub(super) fn version() -> String {
    let commit = match env!("LOZENGE_COMMIT") {
        "" => String::new(),
        commit => format!(" ({commit})"),
    };
    let compiler =
        Compiler::find().map_or_else(|_| "none is found".to_owned(), |compiler| compiler.version());
    format!(
        "lozenge {}{commit}\nset library: {}\nC compiler: {compiler}\n",
        env!("CARGO_PKG_VERSION"),
        isl::version()
    )
}

/// Prints the description of the machine that `--machine` names, or of this one; or what there is.
///
/// # Errors
/// `X0804` if the environment describes no machine; `X0001` if the file can't be read again.
pub(super) fn machine(list: bool, name: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let shipped = name.and_then(description::shipped);
    let text = match (list, name) {
        (true, _) => description::names().map(|name| format!("{name}\n")).collect(),
        (false, None) => description::text("mine", machine::caches(None)?, machine::registers()?),
        (false, Some(name)) => match shipped {
            Some(text) => text.to_owned(),
            None => files::read_source(Path::new(name))?.text,
        },
    };
    report::give(&text, None, as_json);
    Ok(())
}

/// Prints the completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell, as_json: bool) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lozenge", &mut text);
    report::give(&String::from_utf8_lossy(&text), None, as_json);
}

/// Writes a manual page for the command and for each of its subcommands.
///
/// # Errors
/// `X0004` if a file can't be written.
pub(super) fn manual(folder: &Path, as_json: bool) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| {
        Failure::environment("X0004", format!("can't make the folder {}", folder.display()))
            .note(files::reason(error))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let root = Cli::command();
    page(root.clone(), folder)?;
    for command in root.get_subcommands() {
        // clap wants names that live as long as the program; there are a few of them, once
        let name: &'static str = format!("lozenge-{}", command.get_name()).leak();
        page(command.clone().name(name), folder)?;
    }
    report::give("", Some(folder), as_json);
    Ok(())
}

/// Writes one page, under the name of its command.
fn page(command: clap::Command, folder: &Path) -> Result<(), Failure> {
    let file = folder.join(format!("{}.1", command.get_name()));
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(command).render(&mut text);
    written.map_err(|error| {
        Failure::environment("X0004", format!("can't write {}", file.display())).note(files::reason(&error))
    })?;
    files::write_whole(&file, &text)
}
