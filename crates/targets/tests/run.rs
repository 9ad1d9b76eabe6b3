//! Generated code against the reference interpreter: compiled with sanitizers, run on random data
//! at sizes 0, 1, small and prime.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::differential::{agree, allocations_fail, sizes_of};
use common::runner::runner;
use common::{COMPILERS, STRICT, installed, program, promoted, scratch, succeed};
use loops::Program;
use targets::{Options, Style, emit};

/// Compiles a program with its runner.
fn build(compiler: &str, folder: &Path, program: &Program, options: &Options, flags: &[&str]) {
    let printed = match options.style {
        Style::Readable => promoted(program),
        Style::Paper => program.clone(),
    };
    let done = emit(&printed, options).unwrap();
    std::fs::write(folder.join("code.c"), &done.source).unwrap();
    std::fs::write(folder.join("declared.h"), &done.header).unwrap();
    std::fs::write(folder.join("main.c"), runner(&done.signatures)).unwrap();
    let strict: &[&str] = if options.style == Style::Paper { &[] } else { &STRICT };
    let output = Command::new(compiler)
        .current_dir(folder)
        .args(strict)
        .args(["-g", "-ffp-contract=off"])
        .args(flags)
        .args(["code.c", "main.c", "-o", "run", "-lm"])
        .output()
        .unwrap();
    succeed(&format!("{compiler} in {}", folder.display()), &output);
}

fn check(compiler: &str, area: &str, options: &Options, label: &str, flags: &[&str]) {
    for case in golden::cases(area, "loops") {
        let program = program(&case);
        let folder = scratch(&format!("run-{label}-{}", case.name));
        build(compiler, &folder, &program, options, flags);
        for (number, function) in program.functions.iter().enumerate() {
            for (seed, sizes) in sizes_of(function).iter().enumerate() {
                agree(&folder, number, function, sizes, seed as u64);
            }
        }
    }
}

#[test]
fn sanitized_code_agrees_with_the_interpreter() {
    let flags = ["-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    check("gcc", "targets/openmp", &Options::default(), "sanitized", &flags);
}

#[test]
fn optimised_code_agrees_with_the_interpreter() {
    check(
        "gcc",
        "targets/openmp",
        &Options { nested: true, ..Options::default() },
        "optimised",
        &["-O3", "-march=native", "-fopenmp"],
    );
}

/// Instructions for words of pairs and of fours, by the processors that have them.
#[test]
fn parts_of_words_agree_with_each_set_of_instructions() {
    let sets = [
        ("x86-64", true),
        ("x86-64-v2", is_x86_feature_detected!("sse4.2")),
        ("haswell", is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")),
        ("skylake-avx512", is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl")),
        ("icelake-client", is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vbmi2")),
    ];
    let case = golden::cases("targets/openmp", "loops").into_iter().find(|c| c.name == "parts-of-words");
    let program = program(&case.expect("the words"));
    for compiler in COMPILERS.iter().filter(|c| installed(c)) {
        for (set, _) in sets.iter().filter(|(_, there)| *there) {
            let folder = scratch(&format!("run-words-{compiler}-{set}"));
            build(compiler, &folder, &program, &Options::default(), &["-O2", &format!("-march={set}")]);
            for (number, function) in program.functions.iter().enumerate() {
                (0..50).for_each(|seed| agree(&folder, number, function, &BTreeMap::new(), seed));
            }
        }
    }
}

#[test]
fn sequential_code_agrees_with_the_interpreter() {
    let options = Options { parallel: false, ..Options::default() };
    for compiler in COMPILERS.iter().filter(|c| installed(c)) {
        check(compiler, "targets/openmp", &options, &format!("sequential-{compiler}"), &["-O2"]);
    }
}

#[test]
fn paper_style_agrees_with_the_interpreter() {
    let options = Options { style: Style::Paper, callable: true, ..Options::default() };
    check("gcc", "targets/paper", &options, "paper", &["-O2", "-fopenmp"]);
}

/// Counts allocations, and lets one of them fail.
const FAILING: &str = "
#include <stdlib.h>
int __real_posix_memalign(void **block, size_t align, size_t size);
int __wrap_posix_memalign(void **block, size_t align, size_t size);
static int calls;
int __wrap_posix_memalign(void **block, size_t align, size_t size) {
    const char *fail = getenv(\"FAIL_AT\");
    return __sync_fetch_and_add(&calls, 1) == atoi(fail) ? 12 : __real_posix_memalign(block, align, size);
}
";

#[test]
fn every_failed_allocation_is_reported_and_leaks_nothing() {
    let flags = [
        "-O1",
        "-fopenmp",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-Wl,--wrap=posix_memalign",
        "failing.c",
    ];
    let mut seen = 0;
    for case in golden::cases("targets/openmp", "loops") {
        if !["memory", "reductions", "nested", "pairs"].contains(&case.name.as_str()) {
            continue;
        }
        let program = program(&case);
        let folder = scratch(&format!("run-failing-{}", case.name));
        std::fs::write(folder.join("failing.c"), FAILING).unwrap();
        build("gcc", &folder, &program, &Options::default(), &flags);
        for (number, function) in program.functions.iter().enumerate() {
            let sizes = function.sizes.iter().map(|s| (s.clone(), 4)).collect();
            seen += allocations_fail(&folder, number, function, &sizes);
        }
    }
    assert!(seen > 20, "only {seen} allocations");
}

/// Random programs: every construct in every place, with sanitizers. `FUZZ=4000` asks for more of
/// them.
#[test]
fn random_programs_agree_with_the_interpreter() {
    let flags = ["-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let count = std::env::var("FUZZ").ok().and_then(|v| v.parse().ok()).unwrap_or(40u64);
    for first in (0..count).step_by(40) {
        let functions: String =
            (first..count.min(first + 40)).map(|seed| common::generate::function(seed, true)).collect();
        let program = loops::parse(&functions).unwrap_or_else(|e| panic!("{}\n{functions}", e[0]));
        let folder = scratch(&format!("run-random-{first}"));
        std::fs::write(folder.join("program.loops"), &functions).unwrap();
        build("gcc", &folder, &program, &Options::default(), &flags);
        for (number, function) in program.functions.iter().enumerate() {
            for (seed, sizes) in sizes_of(function).iter().skip(3).step_by(2).enumerate() {
                agree(&folder, number, function, sizes, seed as u64);
            }
        }
    }
}
