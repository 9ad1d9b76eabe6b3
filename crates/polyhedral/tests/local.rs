//! Programs mapped to cores with local memory: sound ones pass, each defect is named.

mod common;

use polyhedral::local;

#[test]
fn mapped_programs_are_checked() {
    golden::check("polyhedral/local", "loops", "out", |case| {
        let capacity = case
            .input
            .lines()
            .find_map(|l| l.strip_prefix("// capacity "))
            .map_or(60 << 10, |n| n.trim().parse().expect("a number"));
        let function = common::function(&case.input);
        match local::check(&function, capacity, 4_000_000.into()) {
            Ok(report) => format!("{report:?}\n"),
            Err(diagnostic) => {
                let notes = diagnostic.notes.iter().map(|n| format!("  note: {n}\n"));
                format!("{diagnostic}\n{}", notes.collect::<String>())
            }
        }
    });
}
