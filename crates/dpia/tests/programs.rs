//! Programs in `tests/dpia/programs`: what they become in both modes, and that it computes what they mean.
mod support;

use dpia::{Mode, translate};

fn listing(text: &str, mode: Mode) -> String {
    let mut out = String::new();
    for d in support::definitions(text) {
        match translate(&d, mode) {
            Ok(t) => out.push_str(&format!("{}\n", support::program(vec![t.function]))),
            Err(e) => {
                out.push_str(&format!("{e}\n"));
                e.labels.iter().for_each(|l| {
                    out.push_str(&format!(
                        "  at {}: {}\n",
                        &text[l.span.start as usize..l.span.end as usize],
                        l.text
                    ))
                });
                e.notes.iter().for_each(|n| out.push_str(&format!("  note: {n}\n")));
                e.help.iter().for_each(|h| out.push_str(&format!("  help: {h}\n")));
                out.push('\n');
            }
        }
    }
    out
}

#[test]
fn default_mode() {
    golden::check("dpia/programs", "loz", "loops", |case| listing(&case.input, Mode::Default));
}

#[test]
fn paper_mode() {
    golden::check("dpia/programs", "loz", "paper", |case| listing(&case.input, Mode::Paper));
}

#[test]
fn translations_compute_what_definitions_mean() {
    let mut failures = String::new();
    let mut runs = 0;
    for case in golden::cases("dpia/programs", "loz") {
        let tolerance = if case.name.contains("reassociated") { 1e-4 } else { 0.0 };
        for d in support::definitions(&case.input) {
            if translate(&d, Mode::Default).is_err() {
                continue; // its message is in the listing
            }
            match support::run::check(&d, tolerance) {
                Ok(count) => {
                    assert!(count > 0, "{}: no run has a result", d.name);
                    runs += count;
                }
                Err(why) => failures.push_str(&format!("{}: {why}\n", case.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(runs > 0);
}
