//! Programs that are scheduled in a way of their own (stencils in time, passes over a matrix), and near ones that must not be: the tree and
//! the loops that come out, and that they compute the same.

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
            text.push_str(&format!("\n{}\n{}\n", result.tree, Program { functions: vec![result.function] }));
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
