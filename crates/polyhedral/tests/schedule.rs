//! Schedules given by hand: taken as they are, checked, and refused with two instances where they are wrong.

mod common;

use polyhedral::{Options, Tree, optimize};

const TEXT: &str = "fn f[n](a: inout f64[n + 1][n + 1]) { for i in 1..n { for j in 1..n { S: a[i][j] = a[i - 1][j] + a[i][j - 1] } } }";

fn with(tree: &str) -> Result<polyhedral::Optimized, loops::Diagnostic> {
    let schedule = Some(tree.parse::<Tree>().unwrap());
    optimize(&common::function(TEXT), &Options { schedule, ..Options::default() })
}

#[test]
fn what_the_pipeline_prints_is_read_back_and_gives_the_same_code() {
    let function = common::function(TEXT);
    let first = optimize(&function, &Options::default()).unwrap();
    let again = with(&first.tree.to_string()).unwrap();
    assert_eq!(again.function, first.function);
    assert_eq!(again.tree, first.tree);
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
