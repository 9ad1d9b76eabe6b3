//! Programs that ship and C kernels, through the command: every stage must agree on every case.

use std::process::Command;

fn passes(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(arguments)
        .current_dir(golden::root())
        .env_remove("CC")
        .output()
        .expect("the command runs");
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "lozenge {}\n{told}{errors}", arguments.join(" "));
    assert!(told.contains(" cases passed"), "{told}");
    assert!(!told.starts_with("0 of"), "there were no cases: {told}");
}

#[test]
fn library() {
    passes(&["test", "library"]);
}

#[test]
fn library_under_sanitizers() {
    passes(&["test", "library", "--sanitize"]);
}

#[test]
fn arithmetic() {
    passes(&["test", "tests/arithmetic"]);
}

#[test]
fn arithmetic_under_sanitizers() {
    passes(&["test", "tests/arithmetic", "--sanitize"]);
}

#[test]
fn library_is_formatted() {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(["fmt", "--check", "library"])
        .current_dir(golden::root())
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "not formatted: {}", String::from_utf8_lossy(&output.stdout));
}

/// By gcc and by clang with its OpenMP.
#[test]
fn c_kernels() {
    let installed = Command::new("clang-16").arg("--version").output().is_ok();
    assert!(installed, "clang-16 is missing: ./x setup installs it");
    passes(&["test", "tests/c/kernels", "tests/cpp", "--also-cc", "clang-16"]);
}

#[test]
fn random_programs() {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(["fuzz", "--seconds", "10", "--seed", "1000"])
        .output()
        .expect("the command runs");
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}{errors}");
}
