//! `lozenge bench --outputs`: what other compilers made of a kernel is built, run and compared, and
//! who computes something else does not count.
#![allow(missing_docs)]

use std::process::Command;

fn bench(arguments: &[&str]) -> (bool, String) {
    let folder = golden::root().join("tests/outputs");
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(["bench", "scale.c", "--quick", "--json", "--quiet"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn outputs_of_others_are_measured_and_compared() {
    let (ok, text) = bench(&["--outputs", "other=other", "--outputs", "wrong=wrong", "--outputs", "none=."]);
    assert!(ok, "{text}");
    let told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let row = &told["benchmarks"][0];
    // The region alone, spliced in; a whole program, whose result is another; a folder in which
    // this kernel is the original itself.
    assert_eq!(row["seconds"]["other"], 0.001, "{text}");
    assert_eq!(row["seconds"]["wrong"], 0.0005, "{text}");
    assert_eq!(row["seconds"]["none"], 0.001, "{text}");
    assert_eq!(row["differ"], serde_json::json!(["wrong"]), "{text}");
    assert_eq!(row["over_ours"]["other"], 1.0, "{text}");
    assert!(row["over_ours"]["wrong"].is_null(), "{text}");
}

#[test]
fn a_folder_that_is_missing_is_told() {
    let (ok, text) = bench(&["--outputs", "other=nowhere"]);
    assert!(!ok, "{text}");
    assert!(text.contains("can't read nowhere"), "{text}");
}
