//! The target `athread`: host and slave C for the core groups of Sunway machines.
//!
//! The input is a mapped function: blocks `kernel` with loops over the cores in them, local arrays
//! of kind scratchpad, copies and waits. Each block becomes a spawn on the host and a function of
//! the slave file, whose parallel loops are this core's iteration, with barriers between them.

mod block;
mod boxes;
mod broadcast;
mod chip;
mod contraction;
mod cost;
mod expr;
mod host;
mod kernel;
mod micro_kernels;
mod modulo_buffers;
mod multicast;
mod operand;
mod outer_prefetch;
mod panel;
mod prefetch;
mod register_sums;
mod rounds;
mod slave;
mod stationary_boxes;
mod stationary_shares;
mod target;
mod triangular;
mod vector;
pub mod verify;

use std::collections::BTreeSet;

use loops::{Diagnostic, Function};

pub use chip::{Chip, REGISTERS, SW26010, SW26010_PRO};
pub use host::{HostNames, TOO_FAR};
pub use micro_kernels::MicroKernels;
pub use target::{Athread, CHIP, Cores, PARALLEL, Parallel};
use verify::{Property, Verdict};

/// The files of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Files {
    /// Host file.
    pub host: String,
    /// Slave file.
    pub slave: String,
    /// Header with the arguments of the kernels: its name and text.
    pub header: Option<(String, String)>,
    /// Files with functions that the slave file calls; they are the same for all programs.
    pub micro_kernels: Vec<MicroKernels>,
    /// Build script.
    pub build: String,
    /// What of the mapping the slave file makes no use of, and why.
    pub notes: Vec<String>,
    /// Properties that the second look at the slave file followed to its end; none if it could not
    /// follow it.
    pub followed: BTreeSet<Property>,
    /// Why the second look at the slave file could not follow it, if it could not.
    pub unchecked: Option<String>,
}

impl Files {
    /// What the second look at the slave file followed and what it never does; none if it could not
    /// follow it.
    pub fn verdict(&self) -> Option<String> {
        (!self.followed.is_empty()).then(|| verify::line(&self.followed))
    }

    /// What a user is to be told: what of the mapping is not used, and whether the slave file was
    /// followed to its end.
    pub fn remarks(&self) -> Vec<String> {
        let unchecked =
            self.unchecked.iter().map(|why| format!("the check of the slave file was given up: {why}"));
        self.notes.iter().cloned().chain(unchecked).collect()
    }
}

/// Files for functions with the interface of the target `openmp`; `stem` begins their names, and is
/// made plain for that ([`crate::stem`]).
///
/// # Errors
/// `T0001` for what the target cannot say; `T0005` if buffers do not fit in local memory.
pub fn emit(functions: &[&Function], stem: &str, threads: i64, chip: &Chip) -> Result<Files, Diagnostic> {
    let name = header_name(stem);
    let host = host::file(functions, &name, threads)?;
    Ok(Files { host, ..around(functions, stem, chip)? })
}

/// Files for regions of a C file; the host file is made by [`region`] and [`preamble`].
///
/// The slave file is read back and held against the mapped functions.
///
/// # Errors
/// As [`emit`]; `T0006` if the slave file moves data otherwise than the mapping says.
pub fn around(functions: &[&Function], stem: &str, chip: &Chip) -> Result<Files, Diagnostic> {
    if let Some((what, scalar)) = functions.iter().find_map(|function| loops::typing::uncommon(function)) {
        let message = format!("{what} is of type {scalar}, which has no code for cores");
        return Err(expr::invalid(message).help("use `--target openmp`, or elements of type `i32` or `i64`"));
    }
    let stem = &crate::stem(stem);
    let name = header_name(stem);
    let slave::SlaveFile { text: slave, notes, micro_kernels } = slave::file(functions, &name, chip)?;
    let guard: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let guard = format!("LOZENGE_{guard}");
    let mut header = format!("/* Arguments of the kernels. */\n#ifndef {guard}\n#define {guard}\n");
    for function in functions {
        for kernel in kernel::kernels(function)? {
            header.push('\n');
            header.push_str(&kernel::arguments(&kernel));
        }
    }
    header.push_str("\n#endif\n");
    let (followed, unchecked) = match verify::check(functions, &slave)? {
        Verdict::Followed(followed) => (followed, None),
        Verdict::Unknown(why) => (BTreeSet::new(), Some(why)),
    };
    Ok(Files {
        host: String::new(),
        slave,
        header: Some((name, header)),
        build: build_script(stem, chip, &micro_kernels, &[]),
        micro_kernels,
        notes,
        followed,
        unchecked,
    })
}

/// The statements for a region of a C file.
///
/// # Errors
/// As [`emit`].
pub fn region(function: &Function, names: &HostNames, threads: i64) -> Result<String, Diagnostic> {
    host::region(function, names, threads)
}

/// What a C file with regions begins with, whose text follows.
///
/// # Errors
/// As [`emit`].
pub fn preamble(functions: &[&Function], stem: &str, text: &str) -> Result<String, Diagnostic> {
    host::preamble(functions, &header_name(stem), text)
}

fn header_name(stem: &str) -> String {
    format!("{}_args.h", crate::stem(stem))
}

/// Where the build script is told the folder of the headers that the program has of its own.
const SOURCES: &str = "# SOURCES is the folder of headers that the program has of its own.\n";

/// A build script that looks for the headers of the program in a folder, unless it is told another
/// when it runs.
pub fn with_sources(build: &str, folder: &str) -> String {
    let folder = crate::foreign_names::shell_word(folder);
    build.replacen(SOURCES, &format!("{SOURCES}[ -n \"$SOURCES\" ] || SOURCES={folder}\n"), 1)
}

/// The script that builds the files of a program with its micro-kernels, and further files for the
/// host by these names (without their ending).
pub fn build_script(stem: &str, chip: &Chip, micro_kernels: &[MicroKernels], more: &[&str]) -> String {
    let (host, slave, hybrid) = if chip.crts {
        ("swgcc -mhost -O2", "swgcc -mslave -msimd -O2", "swgcc -mhybrid")
    } else {
        ("sw5cc -host -O2", "sw5cc -slave -msimd -O2", "sw5cc -hybrid")
    };
    let name = chip.name;
    let mut objects = format!("\"$here/{stem}_host.o\" \"$here/{stem}_slave.o\"");
    let mut compile = String::new();
    for MicroKernels { stem: file, .. } in micro_kernels {
        compile.push_str(&format!("{slave} ${{CFLAGS:-}} -c \"$here/{file}.c\" -o \"$here/{file}.o\"\n"));
        objects.push_str(&format!(" \"$here/{file}.o\""));
    }
    for file in more {
        compile.push_str(&format!(
            "{host} ${{SOURCES:+-I\"$SOURCES\"}} ${{CFLAGS:-}} -c \"$here/{file}.c\" -o \"$here/{file}.o\"\n"
        ));
        objects.push_str(&format!(" \"$here/{file}.o\""));
    }
    format!(
        r#"#!/bin/sh
# Builds {stem} for {name}, beside this script. Flags for the compilers in CFLAGS; further objects and libraries as arguments.
{SOURCES}set -e
here=$(dirname -- "$0")
case $here in [-@]*) here=./$here ;; esac
{host} ${{SOURCES:+-I"$SOURCES"}} ${{CFLAGS:-}} -c "$here/{stem}_host.c" -o "$here/{stem}_host.o"
{slave} ${{CFLAGS:-}} -c "$here/{stem}_slave.c" -o "$here/{stem}_slave.o"
{compile}{hybrid} {objects} -o "$here/{stem}" -lm "$@"
"#
    )
}
