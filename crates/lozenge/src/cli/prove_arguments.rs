//! The command that asks Coq about programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Choice;

/// What `lozenge prove` can print.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// The certificate: both programs as data of Coq, and the theorem. Coq is not needed.
    Certificate,
}

/// `lozenge prove`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge prove library/blas.loz --def dot             Coq decides about one definition
  lozenge prove library/blas.loz --def dot -o dot.v    and the certificate is kept
  lozenge prove library                                every definition of every program, as a table
  lozenge prove dot.loz --emit certificate             the certificate to the standard output; Coq is not needed

Exit code 0 if every certificate is accepted, 3 if one is rejected, 1 if a definition has none, 4 if Coq is missing. In a table a
definition without certificate is listed with its reason and does not count. Definitions that leave their loops to a strategy get `auto`.")]
pub(crate) struct Prove {
    /// Programs, or folders of programs.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Print this instead of asking Coq.
    #[arg(long, value_enum)]
    pub emit: Option<Proof>,
    /// Write the certificate to a file (whole or not at all).
    #[arg(short, long, value_name = "FILE.v")]
    pub output: Option<PathBuf>,
    /// Certificates that Coq works on at the same time [default: the number of processors].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Time limit of Coq for one certificate.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
}
