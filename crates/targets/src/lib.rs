//! Loop programs become text: OpenMP C.
//!
//! One module a target. A target takes a [`loops::Program`] and returns text; it takes no decision about loops, starts no process
//! and writes no file.

pub mod athread;
pub mod c;
pub mod c_print;
mod math;
pub mod model;
pub mod openmp;
pub mod outside;
pub mod quick;

pub use outside::stem;

pub use openmp::{
    Emitted, Member, Options, RegionArray, RegionNames, Signature, SignatureParam, Style, emit, emit_region,
};
