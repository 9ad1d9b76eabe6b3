//! What the tests share.
#![allow(dead_code)]

use std::fmt::Write as _;

use graph::Model;

/// Diagnostics without a renderer: line and column of each place, labels, notes, help. Each code
/// must have a page.
pub fn show(source: &str, errors: &[loops::Diagnostic]) -> String {
    let mut out = String::new();
    for error in errors {
        let _ = writeln!(out, "{error}");
        for label in &error.labels {
            let start = label.span.start as usize;
            let line = source[..start].matches('\n').count() + 1;
            let column = start - source[..start].rfind('\n').map_or(0, |k| k + 1) + 1;
            let text = &source[start..label.span.end as usize];
            let text = text.lines().next().unwrap_or("");
            let _ = writeln!(out, "  {line}:{column} `{text}`: {}", label.text);
        }
        for note in &error.notes {
            let _ = writeln!(out, "  note: {note}");
        }
        for help in &error.help {
            let _ = writeln!(out, "  help: {help}");
        }
        let page = golden::root().join(format!("docs/errors/{}.md", error.code));
        assert!(page.exists(), "{} has no page", error.code);
    }
    out
}

/// A model of a graph in textual form, with types inferred.
pub fn model(text: &str) -> Model {
    let graph = graph::text::parse_graph(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let mut model = Model::new(graph, 21);
    graph::infer(&mut model).unwrap_or_else(|e| panic!("{e}"));
    model
}

/// The graph is in order, its types can be inferred, and nothing is wrong with it.
pub fn check_valid(model: &Model) {
    assert!(model.graph.is_sorted(), "not sorted:\n{}", model.graph);
    let problems = graph::validate(model);
    let errors: Vec<String> =
        problems.iter().filter(|d| d.severity == loops::Severity::Error).map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", model.graph);
    let mut again = model.clone();
    graph::infer(&mut again).unwrap_or_else(|e| panic!("{e}\n{}", model.graph));
}
