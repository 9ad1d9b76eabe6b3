//! Whole models on the emulated cores of a core group: the same bits as the evaluator, and files
//! that build with the emulator's compiler as they build with the vendor's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

/// A folder of its own, removed at the end.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn lozenge(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge")).args(arguments).output().expect("the command starts")
}

/// What a command that has to succeed prints.
fn printed(arguments: &[&str]) -> String {
    let output = lozenge(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A model in a well-known shape, small.
fn generated(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(format!("{name}.onnx"));
    printed(&["generate", name, "--small", "--quiet", "-o", path.to_str().expect("a path")]);
    path
}

/// Runs a model on emulated cores, and holds its results against the evaluator's; the first note
/// says how many operators are on cores.
fn on_cores(name: &str, more: &[&str]) -> String {
    let folder = folder();
    let model = generated(folder.path(), name);
    let mut arguments = vec!["run", model.to_str().expect("a path"), "--target", "athread"];
    arguments.extend(["--check", "--json", "--quiet"]);
    arguments.extend(more);
    let json: Json = serde_json::from_str(&printed(&arguments)).expect("JSON");
    let agreement = json["check"].as_str().expect("a check");
    assert_eq!(agreement, "the compiled model and the evaluator agree within 0.0e0 of the largest element");
    assert!(json["modelled"]["spawns"].as_u64().expect("a number of spawns") > 0);
    json["mapping"][0].as_str().expect("a note").to_owned()
}

#[test]
fn a_perceptron() {
    for batch in ["batch=1", "batch=3", "batch=67"] {
        assert_eq!(on_cores("mlp", &["--size", batch]), "4 of 4 operators run on cores", "{batch}");
    }
    let pro = ["--size", "batch=5", "--chip", "sw26010pro"];
    assert_eq!(on_cores("mlp", &pro), "4 of 4 operators run on cores");
}

#[test]
fn a_transformer() {
    // The embeddings are looked up by the host: where they are depends on data.
    let mapped = on_cores("bert", &["--size", "batch=2", "--size", "sequence=7"]);
    assert_eq!(mapped, "18 of 20 operators run on cores");
}

#[test]
fn convolutions() {
    assert_eq!(on_cores("mobilenet", &[]), "68 of 68 operators run on cores");
}

/// A program of a user around the files of `compile`.
const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "mlp.h"
int main(int count, char **names) {
    if (count < 2) return 1;
    FILE *file = fopen(names[1], "rb");
    char *parameters = aligned_alloc(64, 1 << 16);
    if (!file || !parameters || fread(parameters, 1, 1 << 16, file) == 0) return 1;
    float x[2][WIDTH], y[2][3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < WIDTH; j++) x[i][j] = (float)(i + 1) / (float)(j + 2);
    if (mlp((const int64_t *)parameters, &x[0][0], &y[0][0])) return 1;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) printf("%a\n", (double)y[i][j]);
    return 0;
}
"#;

#[test]
fn files_for_a_program_of_the_user() {
    let folder = folder();
    let model = generated(folder.path(), "mlp");
    let model = model.to_str().expect("a path");
    let at = |name: &str| folder.path().join(name);
    let cores = at("cores");
    let size = ["--size", "batch=2", "--quiet"];
    let with = |target: &str, output: &Path| {
        let mut arguments =
            vec!["compile", model, "--target", target, "-o", output.to_str().expect("a path")];
        arguments.extend(size);
        printed(&arguments);
    };
    with("athread", &cores);
    let mut names: Vec<String> = fs::read_dir(&cores)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "build.sh",
        "mlp.c",
        "mlp.h",
        "mlp.parameters",
        "mlp_args.h",
        "mlp_host.c",
        "mlp_kernels.h",
        "mlp_slave.c",
    ];
    assert_eq!(names, expected);
    let script = fs::read_to_string(cores.join("build.sh")).expect("a script");
    assert!(script.contains("sw5cc -host") && script.contains("\"$here/mlp.o\""), "{script}");

    // The same program around the C for this machine.
    with("openmp", &at("mlp.c"));
    let width = fs::read_to_string(cores.join("mlp.h")).expect("a header");
    let width = width.split("[2][").nth(1).and_then(|rest| rest.split(']').next()).expect("the width of x");
    fs::write(at("main.c"), format!("#define WIDTH {width}\n{MAIN}")).expect("written");
    let program = |command: &mut Command, name: &str, parameters: &Path| {
        let built = command.arg("-o").arg(at(name)).output().expect("the compiler starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let ran = Command::new(at(name)).arg(parameters).output().expect("the program starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text")
    };
    fs::copy(cores.join("mlp.h"), at("mlp.h")).expect("copied");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-ffp-contract=off", "-fopenmp", "-lm", "-I"]).arg(folder.path());
    gcc.args([at("main.c"), at("mlp.c")]).arg("-lm");
    let expected = program(&mut gcc, "plain", &at("mlp.parameters"));
    let mut emulated = Command::new(golden::root().join("runtime/athread/athread-cc"));
    emulated.arg(format!("-I{}", cores.display())).args(["-O1", "-ffp-contract=off"]).arg(at("main.c"));
    emulated.args([cores.join("mlp.c"), cores.join("mlp_host.c")]);
    emulated.arg("--slave").arg(cores.join("mlp_slave.c")).arg("-lm");
    let got = program(&mut emulated, "on_cores", &cores.join("mlp.parameters"));
    assert_eq!(got, expected);
    assert_eq!(got.lines().count(), 6);
}

#[test]
fn what_models_do_not_have_is_refused() {
    let folder = folder();
    let model = generated(folder.path(), "mlp");
    let model = model.to_str().expect("a path");
    let refused = lozenge(&["compile", model, "--size", "batch=1", "--target", "mpi", "--emit", "loops"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("X0007") && said.contains("stages of models are c"), "{said}");
    // What the target does not have is not passed over.
    let refused =
        lozenge(&["compile", model, "--size", "batch=1", "--target", "athread", "--emit", "functional"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("stages of models are loops, c and header"));
    let refused = lozenge(&["run", model, "--size", "batch=1", "--chip", "sw26010pro"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("X0009"));
    for more in [&["--profile"][..], &["--ranks", "3"]] {
        let mut arguments = vec!["run", model, "--size", "batch=1", "--target", "athread"];
        arguments.extend(more);
        let refused = lozenge(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("X0009"), "{more:?}");
    }
}
