//! Generated code against the reference interpreter: compiled with sanitizers, run on random data at sizes 0, 1, small and prime.

mod common;

use std::path::Path;
use std::process::Command;

use common::differential::{agree, sizes_of};
use common::runner::runner;
use common::{STRICT, program, scratch, succeed};
use loops::{Name, Program};
use targets::{Options, Style, emit};

/// Compiles the runner of a function with the function; the executable's path.
fn build(folder: &Path, program: &Program, function: &Name, options: &Options, flags: &[&str]) {
    let done = emit(program, options).unwrap();
    let signature = done.signatures.iter().find(|s| s.name == *function).unwrap();
    std::fs::write(folder.join("code.c"), &done.source).unwrap();
    std::fs::write(folder.join("declared.h"), &done.header).unwrap();
    std::fs::write(folder.join("main.c"), runner(signature)).unwrap();
    let strict: &[&str] = if options.style == Style::Paper { &[] } else { &STRICT };
    let output = Command::new("gcc")
        .current_dir(folder)
        .args(strict)
        .args(["-g", "-ffp-contract=off"])
        .args(flags)
        .args(["code.c", "main.c", "-o", "run", "-lm"])
        .output()
        .unwrap();
    succeed(&format!("gcc in {}", folder.display()), &output);
}

fn check(area: &str, options: &Options, label: &str, flags: &[&str]) {
    for case in golden::cases(area, "loops") {
        let program = program(&case);
        for function in &program.functions {
            let folder = scratch(&format!("run-{label}-{}-{}", case.name, function.name));
            build(&folder, &program, &function.name, options, flags);
            for (seed, sizes) in sizes_of(function).iter().enumerate() {
                agree(&folder, function, sizes, seed as u64);
            }
        }
    }
}

#[test]
fn sanitized_code_agrees_with_the_interpreter() {
    let flags = ["-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    check("targets/openmp", &Options::default(), "sanitized", &flags);
}

#[test]
fn optimised_code_agrees_with_the_interpreter() {
    check(
        "targets/openmp",
        &Options { nested: true, ..Options::default() },
        "optimised",
        &["-O3", "-march=native", "-fopenmp"],
    );
}

#[test]
fn sequential_code_agrees_with_the_interpreter() {
    check("targets/openmp", &Options { parallel: false, ..Options::default() }, "sequential", &["-O2"]);
}

#[test]
fn paper_style_agrees_with_the_interpreter() {
    let options = Options { style: Style::Paper, callable: true, ..Options::default() };
    check("targets/paper", &options, "paper", &["-O2", "-fopenmp"]);
}
