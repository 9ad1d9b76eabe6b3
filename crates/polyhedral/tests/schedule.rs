//! Schedules given by hand: taken as they are, checked, and refused with two instances where they
//! are wrong.

mod common;

use polyhedral::{Options, Tree, optimize};

const TEXT: &str = "fn f[n](a: inout f64[n + 1][n + 1]) { for i in 1..n { for j in 1..n { S: a[i][j] = a[i - 1][j] + a[i][j - 1] } } }";

fn with(tree: &str) -> Result<polyhedral::Optimized, loops::Diagnostic> {
    let schedule = Some(tree.parse::<Tree>().unwrap().into());
    optimize(&common::function(TEXT), &Options { schedule, ..Options::default() })
}

#[test]
fn what_the_pipeline_prints_is_read_back_and_gives_the_same_code() {
    let function = common::function(TEXT);
    let first = optimize(&function, &Options::default()).unwrap();
    let again = with(&first.schedule.tree.to_string()).unwrap();
    assert_eq!(again.function, first.function);
    assert_eq!(again.schedule.tree, first.schedule.tree);
}

#[test]
fn a_wavefront_by_hand() {
    let result = with(
        "domain [n] -> { S[i, j] : 0 < i < n and 0 < j < n }
band
  { S[i, j] -> [(i + j)] }
mark parallel
band
  coincident { S[i, j] -> [(i)] }
leaf
",
    )
    .unwrap();
    assert_eq!(result.report.checked.unwrap().parallel_loops, 1);
    common::same_results(&common::function(TEXT), &result.function, &[0, 1, 2, 5, 8]);
}

#[test]
fn wrong_schedules_are_refused() {
    let columns = "band
  { S[i, j] -> [(-j)] }
band
  { S[i, j] -> [(i)] }
leaf
";
    let diagnostic =
        with(&format!("domain [n] -> {{ S[i, j] : 0 < i < n and 0 < j < n }}\n{columns}")).unwrap_err();
    assert_eq!(diagnostic.code.0, "P0401", "{diagnostic}");
    let diagnostic = with(
        "domain [n] -> { S[i, j] : 0 < i < n and 0 < j < n }
mark parallel
band
  coincident { S[i, j] -> [(i)] }
band
  { S[i, j] -> [(j)] }
leaf
",
    )
    .unwrap_err();
    assert_eq!(diagnostic.code.0, "P0404", "{diagnostic}");
    assert!(diagnostic.message.contains("S(1, 1) and S(2, 1)"), "{diagnostic}");
    let diagnostic = with(
        "domain [n] -> { S[i, j] : 0 < i < n and 1 < j < n }
band
  { S[i, j] -> [(i)] }
band
  { S[i, j] -> [(j)] }
leaf
",
    )
    .unwrap_err();
    assert_eq!(diagnostic.code.0, "P0402", "{diagnostic}");
}

#[test]
fn the_passes_around_a_tree_are_read_back_and_give_the_same_code() {
    // A sum that is stored: the product contracts once the sum is made in the element.
    let text = "fn f[n](a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n]) {
  for i in 0..n { for j in 0..n {
    local s: f64
    S0: s = 0.0
    for k in 0..n { S1: s += a[i][k] * b[k][j] }
    S2: c[i][j] = s
  } }
}";
    let function = common::function(text);
    let first = optimize(&function, &Options::default()).unwrap();
    let printed = first.schedule.to_string();
    let line = printed.lines().next().unwrap();
    assert!(line.starts_with("passes store-forwarding, affine-scheduling"), "{line}");
    assert!(line.contains("register-tiling"), "{line}");
    let names = line.strip_prefix("passes ").unwrap();
    let (before, code) = polyhedral::optimize::read_passes(names, 1).unwrap();
    let tree = printed.lines().skip(1).collect::<Vec<_>>().join("\n").parse::<Tree>().unwrap();
    let given = polyhedral::Schedule { before, tree, code: Some(code) };
    assert_eq!(given, first.schedule);
    let again = optimize(&function, &Options { schedule: Some(given), ..Options::default() }).unwrap();
    assert_eq!(again.function, first.function);
    assert_eq!(again.schedule, first.schedule);
}

#[test]
fn passes_that_cannot_be_around_a_tree_are_refused() {
    let refused = |line: &str| polyhedral::optimize::read_passes(line, 1).unwrap_err();
    for line in [
        "store-forwarding",
        "store-forwardin, affine-scheduling",
        "affine-scheduling, store-forwarding",
        "affine-scheduling, unroll-and-jam",
        "affine-scheduling, unroll-and-jam 1",
        "affine-scheduling, register-tiling diagonals",
        "affine-scheduling, parallelization",
        "",
    ] {
        assert_eq!(refused(line).code.0, "P0201", "{line}");
    }
}
