//! Whole models on ranks that `mpirun` starts: the same bits as the evaluator at 1, 2 and 3 ranks;
//! files that build; what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

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

/// Runs a model on these numbers of ranks, and holds its results against the evaluator's; how many
/// operators are dealt out.
fn on_ranks(name: &str, ranks: &[&str], more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let model = generated(folder.path(), name);
    let mut dealt = String::new();
    for count in ranks {
        let mut arguments = vec!["run", model.to_str().expect("a path"), "--target", "mpi"];
        arguments.extend(["--ranks", count, "--check", "--json", "--quiet"]);
        arguments.extend(more);
        let json: Json = serde_json::from_str(&printed(&arguments)).expect("JSON");
        let agreement = json["check"].as_str().expect("a check");
        let exact = "the compiled model and the evaluator agree within 0.0e0 of the largest element";
        assert_eq!(agreement, exact, "{name} on {count} ranks");
        dealt = json["mapping"][0].as_str().expect("a note").to_owned();
    }
    dealt
}

#[test]
fn a_perceptron() {
    let dealt = on_ranks("mlp", &["1", "2", "3"], &["--size", "batch=5"]);
    assert_eq!(dealt, "4 of 4 operators are dealt out to ranks");
}

#[test]
fn transformers() {
    let dealt = on_ranks("bert", &["2", "3"], &["--size", "batch=1", "--size", "sequence=5"]);
    assert_eq!(dealt, "19 of 19 operators are dealt out to ranks");
}

#[test]
fn convolutions() {
    let dealt = on_ranks("mobilenet", &["3"], &[]);
    assert_eq!(dealt, "68 of 68 operators are dealt out to ranks");
}

#[test]
fn files_build_as_a_part_of_another_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = generated(folder.path(), "mlp");
    let out = folder.path().join("out");
    let (model, out) = (model.display().to_string(), out.display().to_string());
    printed(&["compile", &model, "--target", "mpi", "--size", "batch=3", "--quiet", "-o", &out]);
    let main = "#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include \"mlp.h\"\nint main(int argc, char **argv)\n{\n    MPI_Init(&argc, &argv);\n    static _Alignas(64) int64_t parameters[1 << 12];\n    FILE *file = fopen(\"mlp.parameters\", \"rb\");\n    if (!file || fread(parameters, 1, sizeof parameters, file) == 0)\n        return 1;\n    float input[64] = { 1, 2, 3 }, output[64], first[64];\n    if (mlp(3, parameters, input, output))\n        return 2;\n    for (int k = 0; k < 9; k++)\n        first[k] = output[k];\n    MPI_Bcast(first, 9, MPI_FLOAT, 0, MPI_COMM_WORLD);\n    for (int k = 0; k < 9; k++)\n        if (first[k] != output[k] || !(output[k] > 0 && output[k] < 1))\n            return 3;\n    MPI_Finalize();\n    return 0;\n}\n";
    let call = if fs::read_to_string(format!("{out}/mlp.h")).expect("a header").contains("int64_t batch") {
        main.to_owned()
    } else {
        main.replace("mlp(3, ", "mlp(")
    };
    fs::write(format!("{out}/main.c"), call).expect("a file");
    let built = Command::new("mpicc")
        .args(["-O1", "-fopenmp", "-o", "main", "main.c", "mlp.c", "-lm"])
        .current_dir(&out)
        .output()
        .expect("mpicc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "-n", "3", "./main"]).current_dir(&out);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let ran = command.output().expect("mpirun");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn what_a_model_does_not_have_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = generated(folder.path(), "mlp");
    let model = model.to_str().expect("a path");
    for (more, expected) in [
        (&["--grid", "2x1"] as &[&str], "`--grid` has no effect on a model"),
        (&["--distribute", "A(block)"], "`--distribute` has no effect on a model"),
        (&["--profile"], "`--profile` has no effect"),
    ] {
        let mut arguments = vec!["run", model, "--target", "mpi", "--size", "batch=2"];
        arguments.extend(more);
        let output = lozenge(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{more:?}: {said}");
    }
    let output = lozenge(&["compile", model, "--target", "mpi", "--size", "batch=2", "--emit", "loops"]);
    assert!(!output.status.success(), "there are no loops of a model");
}
