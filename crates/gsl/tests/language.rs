//! The language as text: layout, round trips, and what is said of syntax errors.

mod common;

use common::show;
use gsl::{RuleFile, parse};

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

/// What is said of rules that are wrong: each file has one mistake (or a few of a kind).
#[test]
fn mistakes_are_explained() {
    golden::check("gsl/check", "gsl", "out", |case| {
        let (file, mut errors) = parse(&case.input);
        if errors.is_empty() {
            errors = gsl::compile(&file).err().unwrap_or_default();
        }
        assert!(!errors.is_empty(), "nothing wrong was found");
        show(&case.input, &errors)
    });
}
