//! `tests/c/threads`: programs whose loops may be summed up in any order. With the same number of
//! threads they print the same bits in every run.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use lozenge::{Request, Source, Stage, files};

/// Runs of a program with each number of threads.
const RUNS: usize = 50;

fn printed(binary: &PathBuf, threads: usize) -> String {
    let run = Command::new(binary).env("OMP_NUM_THREADS", threads.to_string()).output();
    let run = run.expect("the program runs");
    assert!(run.status.success(), "{binary:?}: {}", run.status);
    String::from_utf8(run.stdout).expect("it prints text")
}

#[test]
fn the_same_threads_give_the_same_bits() {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("same-bits");
    std::fs::create_dir_all(&work).expect("a folder for the work");
    for case in golden::cases("c/threads", "c") {
        let source = Source { path: case.path.display().to_string(), text: case.input.clone() };
        let request = Request {
            caches: Some(polyhedral::locality::Caches::default()),
            registers: Some(loops::Registers::default()),
            ..files::request()
        };
        let emission = files::open(&source, &request).and_then(|front| front.emit(Stage::C, &request));
        let text = emission.unwrap_or_else(|f| panic!("{}: {f:?}", case.name)).text;
        assert!(text.contains("omp for ordered"), "no part is added in turn in {text}");
        let ours = work.join(format!("{}.c", case.name));
        std::fs::write(&ours, &text).expect("a file in the folder for the work");
        for compiler in ["gcc", "clang-16"] {
            let binary = work.join(format!("{}-{compiler}", case.name));
            let mut build = Command::new(compiler);
            build.args(["-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-fopenmp", "-o"]);
            let built = build.arg(&binary).arg(&ours).arg("-lm").output().expect("the compiler runs");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            for threads in 2..=4 {
                let seen: BTreeSet<String> = (0..RUNS).map(|_| printed(&binary, threads)).collect();
                let name = &case.name;
                assert_eq!(seen.len(), 1, "{name} by {compiler} with {threads} threads: {seen:#?}");
            }
        }
    }
}
