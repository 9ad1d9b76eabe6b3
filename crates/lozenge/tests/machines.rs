//! `--machine`: code for a machine that is described, by a name that ships or in a file.

use std::fs;
use std::process::{Command, Output};

const PRODUCT: &str =
    "void f(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
";

fn lozenge(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lozenge"));
    for variable in ["LOZENGE_CACHES", "LOZENGE_REGISTERS"] {
        command.env_remove(variable);
    }
    command.args(arguments).envs(environment.iter().copied()).output().expect("the command starts")
}

fn printed(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let output = lozenge(arguments, environment);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let output = lozenge(arguments, &[]);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn a_described_machine_stands_for_the_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let product = at("product.c");
    fs::write(&product, PRODUCT).expect("written");
    let variables = [("LOZENGE_CACHES", "32K,512K"), ("LOZENGE_REGISTERS", "16x32")];
    let expected = printed(&["compile", &product], &variables);
    assert_eq!(printed(&["compile", &product, "--machine", "avx2"], &[]), expected);
    // The machine that is named goes before the environment.
    let other = [("LOZENGE_CACHES", "48K,2M"), ("LOZENGE_REGISTERS", "32x64")];
    assert_ne!(printed(&["compile", &product], &other), expected);
    assert_eq!(printed(&["compile", &product, "--machine", "avx2"], &other), expected);
    // A description that was printed is the same machine.
    fs::write(at("mine.toml"), printed(&["machine"], &variables)).expect("written");
    assert_eq!(printed(&["compile", &product, "--machine", &at("mine.toml")], &[]), expected);
}

#[test]
fn descriptions_are_listed_printed_and_refused() {
    let names = printed(&["machine", "--list"], &[]);
    assert_eq!(names, "avx2\navx512\nneon\nsw26010\nsw26010pro\ncluster\nstampede\n");
    for name in names.lines() {
        assert!(printed(&["machine", "--machine", name], &[]).contains(&format!("name = \"{name}\"")));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = folder.path().join("wrong.toml");
    fs::write(&wrong, "name = \"wrong\"\n[core]\nfork_cycle = 3.0\n").expect("written");
    let said = refused(&["machine", "--machine", wrong.to_str().expect("a path")]);
    assert!(said.contains("X0804") && said.contains("fork_cycle") && said.contains(":3:"), "{said}");
    let said = refused(&["machine", "--machine", "abacus"]);
    assert!(said.contains("there is no machine `abacus`") && said.contains("avx512"), "{said}");
    let said = refused(&["machine", "--machine", "missing.toml"]);
    assert!(said.contains("X0001"), "{said}");
}

#[test]
fn a_chip_is_a_machine_too() {
    let kernel = golden::root().join("tests/c/kernels/gemm.c");
    let kernel = kernel.to_str().expect("a path");
    let with = |more: [&str; 2]| {
        printed(&["compile", kernel, "--target", "athread", more[0], more[1], "--quiet"], &[])
    };
    assert_eq!(with(["--machine", "sw26010pro"]), with(["--chip", "sw26010pro"]));
    let folder = tempfile::tempdir().expect("a folder");
    let unknown = folder.path().join("unknown.toml");
    fs::write(&unknown, "name = \"unknown\"\nchip = \"sw1\"\n").expect("written");
    let unknown = unknown.to_str().expect("a path");
    let said = refused(&["compile", kernel, "--target", "athread", "--machine", unknown]);
    assert!(said.contains("the chip `sw1`, which is not known"), "{said}");
}

#[test]
fn a_slow_network_is_another_cluster() {
    let folder = tempfile::tempdir().expect("a folder");
    let slow = folder.path().join("slow.toml");
    let text = fs::read_to_string(golden::root().join("library/machines/cluster.toml")).expect("it ships");
    // Messages that take a second: what needs few of them is better than what needs little data.
    fs::write(&slow, text.replace("latency_s = 2e-6", "latency_s = 1.0")).expect("written");
    let kernel = golden::root().join("tests/c/kernels/atax.c");
    let kernel = kernel.to_str().expect("a path");
    let arguments = ["compile", kernel, "--target", "mpi", "--ranks", "4", "--emit", "loops", "--quiet"];
    let on = |machine: &str| printed(&[&arguments[..], &["--machine", machine]].concat(), &[]);
    assert_eq!(on("cluster"), printed(&arguments, &[]));
    assert_ne!(on("cluster"), on(slow.to_str().expect("a path")));
}
