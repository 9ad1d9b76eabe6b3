//! Programs that are scheduled in a way of their own (stencils in time, passes over a matrix), and
//! near ones that must not be: the tree and the loops that come out, and that they compute the
//! same.

mod common;

use loops::Program;
use polyhedral::optimize::Tiling;
use polyhedral::{Options, optimize};

/// Sizes around the widths: none, one, less than a tile, primes, several tiles.
const EXTENTS: [i64; 7] = [0, 1, 2, 3, 7, 17, 33];

fn shaped(input: &str) -> String {
    let original = common::function(input);
    let mut text = String::new();
    for tiling in [Tiling::Fixed(vec![4]), Options::default().tiling] {
        let options = Options { tiling, ..Options::default() };
        let result = optimize(&original, &options).unwrap_or_else(|d| panic!("{d} {:?}", d.notes));
        assert!(result.report.checked.is_some());
        common::same_results(&original, &result.function, &EXTENTS);
        for (kind, lines) in [("band", &result.report.bands), ("note", &result.report.notes)] {
            text.extend(lines.iter().map(|line| format!("// {kind}: {line}\n")));
        }
        if matches!(options.tiling, Tiling::Fixed(_)) {
            text.push_str(&format!(
                "\n{}\n{}\n",
                result.schedule.tree,
                Program { functions: vec![result.function] }
            ));
        }
    }
    text
}

#[test]
fn stencils_are_tiled_in_time() {
    golden::check("polyhedral/stencil", "loops", "out", |case| shaped(&case.input));
}

#[test]
fn a_matrix_is_read_once() {
    golden::check("polyhedral/rows", "loops", "out", |case| shaped(&case.input));
}

#[test]
fn nests_that_stream_keep_their_order() {
    golden::check("polyhedral/keep", "loops", "out", |case| {
        let original = common::function(&case.input);
        let result = optimize(&original, &Options::default()).unwrap_or_else(|d| panic!("{d} {:?}", d.notes));
        assert!(result.report.checked.is_some());
        common::same_results(&original, &result.function, &EXTENTS);
        let lines: String = result.report.bands.iter().map(|line| format!("// band: {line}\n")).collect();
        format!("{lines}\n{}", Program { functions: vec![result.function] })
    });
}

#[test]
fn reductions_run_in_parallel_where_that_is_allowed() {
    golden::check("polyhedral/reassociate", "loops", "out", |case| {
        let original = common::function(&case.input);
        let strict = optimize(&original, &Options::default()).unwrap();
        let text = Program { functions: vec![strict.function] }.to_string();
        assert!(!text.contains("reduce("), "only where it is allowed:\n{text}");
        let options = Options { reassociate: true, ..Options::default() };
        let result = optimize(&original, &options).unwrap_or_else(|d| panic!("{d} {:?}", d.notes));
        assert!(result.report.checked.is_some());
        // The interpreter runs a loop with partial results in order, so nothing is rounded in
        // another way here.
        common::same_results(&original, &result.function, &EXTENTS);
        let lines: String = result.report.bands.iter().map(|line| format!("// band: {line}\n")).collect();
        format!("{lines}\n{}\n{}", result.schedule.tree, Program { functions: vec![result.function] })
    });
}
