//! The pipeline on whole functions: the tree and code that come out, and that they compute the
//! same.

mod common;

use loops::Program;
use polyhedral::optimize::Tiling;
use polyhedral::{Options, Tree, optimize};

#[test]
fn kernels_are_rescheduled_and_compute_the_same() {
    golden::check("polyhedral/optimize", "loops", "out", |case| {
        let original = common::function(&case.input);
        // Small tiles, so that small sizes meet full and partial ones.
        let options = Options { tiling: Tiling::Fixed(vec![4, 3, 5]), ..Options::default() };
        let result = match optimize(&original, &options) {
            Ok(result) => result,
            Err(diagnostic) => {
                let lines: Vec<String> = std::iter::once(diagnostic.to_string())
                    .chain(diagnostic.notes.iter().map(|n| format!("  note: {n}")))
                    .collect();
                return lines.join("\n") + "\n";
            }
        };
        assert!(result.report.checked.is_some());
        common::same_results(&original, &result.function, &[0, 1, 2, 3, 7, 11]);
        let text = result.schedule.tree.to_string();
        assert_eq!(text.parse::<Tree>().unwrap(), result.schedule.tree);
        format!(
            "{}{}\n{text}\n{}",
            result.report.bands.iter().map(|line| format!("// band: {line}\n")).collect::<String>(),
            result.report.notes.iter().map(|line| format!("// note: {line}\n")).collect::<String>(),
            Program { functions: vec![result.function.clone()] }
        )
    });
}
