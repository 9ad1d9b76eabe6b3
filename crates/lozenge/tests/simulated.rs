//! `lozenge bench --target mpi --simulate`: what SimGrid is given, and what comes back. Where it is
//! not installed, only the message that says so is tested.

use std::process::{Command, Output};

use serde_json::Value as Json;

fn lozenge(arguments: &[&str], smpicc: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lozenge"));
    command.args(["--no-config", "-q"]).args(arguments).current_dir(golden::root());
    if let Some(smpicc) = smpicc {
        command.env("SMPICC", smpicc);
    }
    command.output().expect("the command runs")
}

/// Whether SimGrid is there.
fn is_there() -> bool {
    let there = Command::new("smpicc").arg("--version").output().is_ok();
    if !there {
        eprintln!("SimGrid is not installed (libsimgrid-dev): nothing is simulated");
    }
    there
}

const BENCH: [&str; 5] = ["bench", "--target", "mpi", "--simulate", "--json"];

/// The one benchmark of a simulation.
fn simulated(kernel: &str, more: &[&str]) -> Json {
    let file = format!("tests/c/kernels/{kernel}.c");
    let output = lozenge(&[&BENCH, &[file.as_str()] as &[&str], more].concat(), None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    json["benchmarks"][0].clone()
}

fn number(json: &Json) -> f64 {
    json.as_f64().expect("a number")
}

#[test]
fn without_simgrid_the_message_says_what_to_install() {
    let output = lozenge(&[&BENCH as &[&str], &["tests/c/kernels/gemm.c"]].concat(), Some("no-such-smpicc"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && said.contains("X0308") && said.contains("libsimgrid-dev"), "{said}");
}

#[test]
fn a_machine_that_is_no_cluster_is_refused() {
    if !is_there() {
        return;
    }
    let output =
        lozenge(&[&BENCH as &[&str], &["tests/c/kernels/gemm.c", "--machine", "avx2"]].concat(), None);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && said.contains("X0804") && said.contains("[cluster]"), "{said}");
}

#[test]
fn messages_are_those_of_real_ranks() {
    if !is_there() {
        return;
    }
    // At 4 ranks, extents of matrices are twice those of one.
    for (kernel, of_one, of_four) in [
        ("gemm", &["ni=40", "nj=52", "nk=350"] as &[&str], &["ni=80", "nj=104", "nk=700"] as &[&str]),
        ("jacobi-2d", &["n=31", "tsteps=4"], &["n=62", "tsteps=4"]),
    ] {
        let sizes = |of: &[&'static str]| of.iter().flat_map(|size| ["--size", *size]).collect::<Vec<_>>();
        let json = simulated(kernel, &[&sizes(of_one)[..], &["--ranks", "4"]].concat());
        let weak = &json["weak"][0];
        let file = format!("tests/c/kernels/{kernel}.c");
        let sizes = sizes(of_four);
        let run =
            ["run", file.as_str(), "--target", "mpi", "--ranks", "4", "--json", "--machine", "stampede"];
        let output = lozenge(&[&run[..], &sizes].concat(), None);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let real: Json = serde_json::from_slice(&output.stdout).expect("JSON");
        for what in ["messages", "bytes"] {
            assert_eq!(number(&weak[what]), number(&real[what]), "{what} of {kernel}");
        }
        assert!(number(&weak["messages"]) > 0.0, "{kernel}");
    }
}

#[test]
fn times_do_not_depend_on_the_clock_and_follow_the_model() {
    if !is_there() {
        return;
    }
    let sizes = ["ni=1024", "nj=1024", "nk=1024"].map(|size| ["--size", size]).concat();
    let arguments = [&sizes[..], &["--ranks", "1,4,16"]].concat();
    let (first, second) = (simulated("gemm", &arguments), simulated("gemm", &arguments));
    assert_eq!(first, second, "a simulation is the same twice");
    // 2 n^3 operations of the product at the peak of a node, and once through C for the factor.
    let alone = &first["weak"][0];
    let expected = 2.0 * 1024f64.powi(3) / 3.456e11 + 2.0 * 8.0 * 1024f64.powi(2) / 1.024e11;
    let computed = number(&alone["efficiency"]) * number(&alone["seconds"]);
    assert!((computed / expected - 1.0).abs() < 1e-3, "{computed} s, and by hand {expected} s");
    for row in first["weak"].as_array().expect("rows") {
        let efficiency = number(&row["efficiency"]);
        assert!(0.5 < efficiency && efficiency <= 1.0, "{row}");
    }
    // As much work on more ranks takes less time.
    let strong: Vec<f64> =
        first["strong"].as_array().expect("rows").iter().map(|row| number(&row["seconds"])).collect();
    assert!(strong.is_sorted_by(|a, b| a > b), "{strong:?}");
}

#[test]
fn triangles_are_counted_exactly_enough() {
    if !is_there() {
        return;
    }
    // Right-looking LU: two operations for each element behind the pivot, and one division.
    let json = simulated("lu-right", &["--size", "n=300", "--ranks", "1"]);
    let alone = &json["weak"][0];
    let n = 300f64;
    let least = (2.0 * n.powi(3) / 3.0) / 3.456e11;
    let computed = number(&alone["efficiency"]) * number(&alone["seconds"]);
    // Each step goes through what is left of the matrix: it is bound by memory.
    let moved = 16.0 * n.powi(3) / 3.0 / 1.024e11;
    assert!(computed > least && (computed / moved - 1.0).abs() < 0.05, "{computed} s, by hand {moved} s");
}
