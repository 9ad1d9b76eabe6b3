//! `lozenge bench --target mpi`.

use crate::cli::Bench;
use crate::failure::Failure;

/// Runs the command.
///
/// # Errors
/// What is missing to run.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let _ = (arguments, as_json);
    Err(Failure::refused("X0007", "not measured yet"))
}
