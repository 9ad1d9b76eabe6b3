//! The facade of Lozenge: files and processes around the rooms that do the work.
//!
//! The rooms take values and return values; reading files, running the C compiler and its output, and speaking to the user
//! happen here and only here. The command `lozenge` is [`command::main`]; programs that use the compiler as a library begin at
//! [`pipeline`].

pub mod athread;
pub mod bind;
pub mod cases;
pub mod check;
pub mod cli;
pub mod command;
pub mod config;
pub mod coq;
pub mod execute;
pub mod explore;
pub mod extents;
pub mod external;
pub mod failure;
pub mod files;
pub mod foreign;
pub mod fuzz;
pub mod kernel;
pub mod leftover;
pub mod library;
pub mod machine;
pub mod measure;
pub mod npy;
pub mod npz;
pub mod pages;
pub mod pipeline;
pub mod places;
pub mod process;
pub mod progress;
pub mod random;
pub mod report;
pub mod rules;
pub mod statistics;
pub mod value;

pub use failure::{Failure, FailureKind, Source};
