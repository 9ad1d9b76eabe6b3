//! The command that makes up inputs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `lozenge fuzz`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge fuzz --seconds 60
  lozenge fuzz --seed 17 --seconds 1     the programs of one seed
  lozenge fuzz --of kernels              C for OpenMP and for emulated cores, against the original
  lozenge fuzz --of models               damaged ONNX files
  lozenge fuzz --of texts                schedules, loop programs, strategies, programs and rules")]
pub struct Fuzz {
    /// What is made up: programs through every stage, or damaged inputs of a reader.
    #[arg(long, value_enum, default_value_t)]
    pub of: FuzzOf,
    /// How long.
    #[arg(long, default_value_t = 10)]
    pub seconds: u64,
    /// How many programs or inputs, however long that takes.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub count: Option<u64>,
    /// Seed of the first program.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// kernels: where the program is written on which forms differ.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What `lozenge fuzz` makes up.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FuzzOf {
    /// Random programs, on which all stages have to agree.
    #[default]
    Programs,
    /// Random C kernels, rewritten for both targets, which have to write what the original writes.
    Kernels,
    /// Damaged ONNX models.
    Models,
    /// Damaged substitution rules.
    Rules,
    /// Schedules, loop programs, strategies, functional programs and rules, made from their
    /// grammars with numbers at their extremes.
    Texts,
}
