//! Register tiles over packed operands: the code that comes out, that it computes the same, and that its checker notices damage.

mod common;

use loops::Program;
use polyhedral::transform::contraction::Shape;
use polyhedral::{Options, optimize};

/// Tiles so small that small sizes meet whole and partial ones.
fn small() -> Shape {
    Shape { rows: 2, vectors: 2, vector_bytes: 16, depth: 3, block_rows: 4, strips: 2, own_strips: 1 }
}

#[test]
fn contractions_run_as_register_tiles_and_compute_the_same() {
    golden::check("polyhedral/contraction", "loops", "out", |case| {
        let original = common::function(&case.input);
        let options = Options { contraction: Some(small()), ..Options::default() };
        let result = optimize(&original, &options).unwrap_or_else(|d| panic!("{d} {:?}", d.notes));
        assert!(result.report.checked.is_some());
        common::same_results(&original, &result.function, &[0, 1, 2, 5, 9]);
        format!(
            "{}{}\n{}",
            result.report.bands.iter().map(|line| format!("// band: {line}\n")).collect::<String>(),
            result.report.notes.iter().map(|line| format!("// note: {line}\n")).collect::<String>(),
            Program { functions: vec![result.function.clone()] }
        )
    });
}
