//! The OpenMP target: golden files, and compilers that find nothing to warn of.

mod common;

use common::{COMPILERS, compile, installed, program, promoted};
use targets::{Emitted, Options, Style, emit};

fn emitted(case: &golden::Case, options: &Options) -> Emitted {
    let program = match options.style {
        Style::Readable => promoted(&program(case)),
        Style::Paper => program(case),
    };
    emit(&program, options).unwrap_or_else(|e| panic!("{}: {e}", case.path.display()))
}

#[test]
fn readable_code() {
    golden::check("targets/openmp", "loops", "c", |case| emitted(case, &Options::default()).source);
}

/// Every warning is an error, with and without OpenMP, unoptimised and optimised.
#[test]
fn compilers_do_not_warn() {
    for compiler in COMPILERS.iter().filter(|c| installed(c)) {
        for case in golden::cases("targets/openmp", "loops") {
            let done = emitted(&case, &Options::default());
            let nested = emitted(&case, &Options { nested: true, ..Options::default() });
            for (flags, source) in [
                (&["-fopenmp", "-O3"][..], &done.source),
                (&["-O2"], &done.source),
                (&["-fopenmp"], &nested.source),
            ] {
                compile(compiler, &case.name, source, flags);
            }
        }
    }
}

/// The header alone, in C and in C++, and a source that includes it.
#[test]
fn headers_declare_what_the_source_defines() {
    for compiler in COMPILERS.iter().filter(|c| installed(c)) {
        for case in golden::cases("targets/openmp", "loops") {
            let options = Options { header: Some("declared.h".to_owned()), ..Options::default() };
            let done = emitted(&case, &options);
            common::compile_with_header(compiler, &case.name, &done.source, &done.header);
        }
    }
}

#[test]
fn paper_style() {
    let options = Options { style: Style::Paper, ..Options::default() };
    golden::check("targets/paper", "loops", "c", |case| emitted(case, &options).source);
}

#[test]
fn paper_style_is_c() {
    let plain = golden::cases("targets/openmp", "loops");
    for case in plain.into_iter().chain(golden::cases("targets/paper", "loops")) {
        let options = Options { style: Style::Paper, ..Options::default() };
        let done = emitted(&case, &options);
        common::compile_only("gcc", &case.name, &done.source, &["-fopenmp"]);
    }
}
