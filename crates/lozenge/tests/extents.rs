//! The kernels with extents as constants compute what they compute with extents as parameters,
//! before and after their loops are rewritten.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use lozenge::extents::as_constants;
use lozenge::files::Scratch;

/// Every so many of the kernels are run.
const EACH: usize = 7;

/// Kernels that are always run: with numbers as extents each kept the scheduler for minutes.
const SLOW: [&str; 3] = ["jacobi-2d.c", "lu.c", "adi.c"];

#[test]
fn both_forms_compute_the_same() {
    let folder = golden::root().join("tests/c/kernels");
    let mut kernels: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the kernels are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    kernels.sort();
    let forms: Vec<(PathBuf, String, String)> = kernels
        .into_iter()
        .filter_map(|path| {
            let text = fs::read_to_string(&path).expect("a kernel");
            as_constants(&text).map(|constants| (path, text, constants))
        })
        .collect();
    assert!(forms.len() >= 95, "{} kernels have two forms", forms.len());
    let scratch = Scratch::new().expect("there is room for files");
    let at = |name: &str| scratch.path().join(name);
    let include = format!("-I{}", folder.display());
    // The line with the checksum, without the time.
    let run = |file: &str| {
        let mut gcc = Command::new("gcc");
        let built = gcc
            .args(["-O1", &include, "-fopenmp", "-ffp-contract=off", "-o"])
            .arg(at("program"))
            .arg(at(file))
            .arg("-lm");
        assert!(built.status().expect("gcc runs").success(), "{file}");
        let output = Command::new(at("program")).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        text.split_once("checksum").expect("a checksum").1.to_owned()
    };
    let slow = |path: &PathBuf| SLOW.iter().any(|name| path.ends_with(name));
    let chosen = forms.iter().enumerate().filter(|(k, (path, ..))| k % EACH == 0 || slow(path));
    for (_, (path, text, constants)) in chosen {
        fs::write(at("parameters.c"), text).expect("written");
        fs::write(at("constants.c"), constants).expect("written");
        let rewritten = Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .args(["compile", "constants.c", "-o", "rewritten.c", &include])
            .current_dir(scratch.path())
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&rewritten.stderr);
        assert!(rewritten.status.success(), "{}: {said}", path.display());
        let right = run("parameters.c");
        assert_eq!(run("constants.c"), right, "{}", path.display());
        assert_eq!(run("rewritten.c"), right, "{}", path.display());
    }
}
