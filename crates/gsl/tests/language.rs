//! The language as text: layout, round trips, and what is said of syntax errors.

use std::fmt::Write as _;

use gsl::{RuleFile, parse};

/// Diagnostics without a renderer: the first place's line and column, the labels, the help.
fn show(source: &str, errors: &[loops::Diagnostic]) -> String {
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
        error.notes.iter().for_each(|n| out.push_str(&format!("  note: {n}\n")));
        error.help.iter().for_each(|n| out.push_str(&format!("  help: {n}\n")));
        let page = golden::root().join(format!("docs/errors/{}.md", error.code));
        let _ = &page;
    }
    out
}

fn round_trip(file: &RuleFile) -> String {
    let text = file.to_string();
    let (again, errors) = parse(&text);
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    assert_eq!(again, *file, "{text}");
    text
}

#[test]
fn rules_have_one_layout() {
    golden::check("gsl/format", "gsl", "out", |case| {
        let (file, errors) = parse(&case.input);
        if !errors.is_empty() {
            return show(&case.input, &errors);
        }
        let text = round_trip(&file);
        assert_eq!(gsl::format(&text).as_ref(), Ok(&text));
        text
    });
}
