//! Quick runs: they compile without warnings, and their errors are errors.

mod common;

use std::process::Command;

use common::{COMPILERS, STRICT, compile, installed, program, scratch, succeed};
use targets::{Options, emit, quick};

#[test]
fn quick_runs_compile_without_warnings() {
    for compiler in COMPILERS.iter().filter(|c| installed(c)) {
        for case in golden::cases("targets/openmp", "loops") {
            let program = program(&case);
            let text = quick::quick_main(&program).unwrap();
            compile(compiler, &format!("quick-{}", case.name), &text, &["-O2"]);
        }
    }
}

#[test]
fn a_quick_run_prints_times_and_checksums() {
    let text = "fn fill[n](x: in i32[n], y: out f64[n]) where n >= 0 { par i in 0..n { y[i] = 0.5 } }
                fn half[n](y: inout (f64, bool)[n]) { par i in 0..n { y[i].x1 = 1.5 y[i].x2 = true } }";
    let program = loops::parse(text).unwrap();
    let done = emit(&program, &Options { main: true, ..Options::default() }).unwrap();
    let folder = scratch("quick-run");
    std::fs::write(folder.join("code.c"), &done.source).unwrap();
    std::fs::write(folder.join("main.c"), done.main.unwrap()).unwrap();
    let sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fopenmp"];
    let output = Command::new("gcc")
        .current_dir(&folder)
        .args(STRICT)
        .args(sanitize)
        .args(["code.c", "main.c", "-o", "run"])
        .output()
        .unwrap();
    succeed("gcc", &output);
    let run = |args: &[&str]| {
        let output = Command::new(folder.join("run")).args(args).output().unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), text)
    };
    let (code, text) = run(&["fill", "8"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("checksum 4\n"), "{text}");
    let (code, text) = run(&["half", "8"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("checksum 20\n"), "{text}");
    assert_eq!(run(&["fill", "0"]).0, Some(0));
    assert_eq!(run(&["fill", "-1"]), (Some(4), "the sizes are not admissible\n".to_owned()));
    assert_eq!(run(&["fill", "8x"]).0, Some(2));
    assert_eq!(run(&["fill"]).0, Some(2));
    assert_eq!(run(&["nothing"]).0, Some(2));
    assert_eq!(run(&["fill", "9223372036854775807"]).0, Some(3));
}
