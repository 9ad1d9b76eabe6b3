//! What is looked at between passes, and the options of the small commands.

use std::path::PathBuf;

use clap::Args;

/// Options of `lozenge completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Options of `lozenge man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Folder for the pages; it is made if it is not there.
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub output: PathBuf,
}

/// What is looked at between passes.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// Print the loop program after this pass to the standard error; may be given several times
    /// (`lozenge passes` lists them).
    #[arg(long, value_name = "PASS")]
    pub print_after: Vec<String>,
    /// Print the loop program after each pass that changed it.
    #[arg(long)]
    pub print_after_all: bool,
    /// After each pass, check the loops by the validator, and by the interpreter at small sizes.
    #[arg(long)]
    pub verify: bool,
}
