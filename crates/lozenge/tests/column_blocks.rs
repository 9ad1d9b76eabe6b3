//! Passes over a matrix whose rows depend on each other run in blocks of columns on several
//! threads: the arrays are those of the text to the last bit, whatever the number of threads and
//! blocks.
#![allow(missing_docs)]

use std::fs;
use std::path::Path;
use std::process::Command;

use lozenge::files::Scratch;

/// Kernels, and sizes of them: one block, a block and a column, several with a part of one.
const KERNELS: [(&str, &[&str]); 3] = [
    ("mvt", &["N=512", "N=513", "N=1100"]),
    ("gemver", &["N=512", "N=513", "N=1100"]),
    ("bicg", &["N=70 M=1100", "N=1100 M=70", "N=1 M=2000", "N=300 M=513"]),
];

fn built(text: &Path, program: &Path) {
    let include = format!("-I{}", golden::root().join("tests/c/kernels").display());
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-fopenmp", "-ffp-contract=off", &include, "-o"]).arg(program).arg(text).arg("-lm");
    assert!(gcc.status().expect("gcc runs").success(), "{text:?}");
}

/// The checksum that a program prints.
fn checksum(program: &Path, sizes: &str, threads: u32) -> String {
    let mut run = Command::new(program);
    run.env("OMP_NUM_THREADS", threads.to_string());
    run.envs(sizes.split(' ').filter_map(|size| size.split_once('=')));
    let output = run.output().expect("it runs");
    assert!(output.status.success(), "{program:?} {sizes}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.split_once("checksum").expect("a checksum").1.to_owned()
}

#[test]
fn blocks_of_columns_compute_the_same() {
    let scratch = Scratch::new().expect("there is room for files");
    let at = |name: &str| scratch.path().join(name);
    for (kernel, sizes) in KERNELS {
        let text = golden::root().join("tests/c/kernels").join(format!("{kernel}.c"));
        let rewritten = Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .arg("compile")
            .args([&text, Path::new("-o"), &at("rewritten.c")])
            .output()
            .expect("it runs");
        assert!(rewritten.status.success(), "{}", String::from_utf8_lossy(&rewritten.stderr));
        let result = fs::read_to_string(at("rewritten.c")).expect("it is there");
        assert!(result.contains("LOZENGE_ONE_THREAD()"), "{kernel} has no version for several threads");
        built(&text, &at("original"));
        built(&at("rewritten.c"), &at("program"));
        for sizes in sizes {
            let right = checksum(&at("original"), sizes, 1);
            for threads in [1, 2, 3, 5] {
                let got = checksum(&at("program"), sizes, threads);
                assert_eq!(got, right, "{kernel} {sizes} on {threads} threads");
            }
        }
    }
}
