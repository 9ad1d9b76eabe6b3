//! Programs mapped to cores with local memory: sound ones pass, each defect is named.

mod common;

use loops::Function;
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
        // A second function is what the first was made from; without one, all sizes count.
        let functions = loops::parse(&case.input).expect("a program").functions;
        let original =
            functions.get(1).cloned().unwrap_or_else(|| Function { body: Vec::new(), ..function.clone() });
        match local::check(&original, &function, capacity, 4_000_000.into()) {
            Ok(report) => format!("{report:?}\n"),
            Err(diagnostic) => {
                let notes = diagnostic.notes.iter().map(|n| format!("  note: {n}\n"));
                format!("{diagnostic}\n{}", notes.collect::<String>())
            }
        }
    });
}
