//! Targets: loop programs become text (C for OpenMP, C for Sunway's cores).
//!
//! There is one module for each target, and in it a value that implements [`Target`]. A target
//! takes loop programs and returns text. It makes no decision about loops, starts no process and
//! writes no file.

pub mod athread;
pub mod c;
pub(crate) mod c_print;
pub mod foreign_names;
mod math;
pub mod model;
pub mod mpi;
pub mod openmp;
pub mod quick;
mod target;

pub use foreign_names::stem;
pub use target::{Abilities, Emission, File, Output, Setting, Settings, Stage, Target};

pub use openmp::{
    Emitted, Member, Options, RegionArray, RegionNames, RegionText, Signature, SignatureParam, Style, emit,
    emit_region, region_condition, region_text,
};
