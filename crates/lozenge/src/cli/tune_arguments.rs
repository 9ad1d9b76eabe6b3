//! The command that measures schedules.

use std::path::PathBuf;

use clap::Args;

use super::{Choice, size};

/// `lozenge tune`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge tune kernel.c --size n=2000                  each region, on one thread
  lozenge tune kernel.c --size n=2000 --threads 2
  lozenge tune stencil.loz --def jacobi --size n=1000 --size t=100

The candidates are what the compiler chose, the other schedules that it considered, and tiles of several sizes. Each is compiled and run
on random data, in turns. A schedule that is faster than what the compiler chose is written to FILE.tune, and compile, run and explain
use it where FILE.tune is beside FILE, unless --schedule or --no-config is given. It holds for the text that was measured alone.")]
pub struct Tune {
    /// The program.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Value of a size parameter; may be given several times.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// Number of threads.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: u32,
    /// Candidates of a definition, those first that are predicted to be fast.
    #[arg(long, value_name = "N", default_value_t = 12, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub candidates: u32,
    /// Rounds in which all candidates run.
    #[arg(long, value_name = "R", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub reps: u32,
    /// The file of schedules [default: FILE.tune].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}
