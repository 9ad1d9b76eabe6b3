//! Programs in `tests/dpia/programs`: what they become in both modes, and that it computes what
//! they mean.
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

/// Every definition of the library that has a strategy, in both modes.
#[test]
fn the_library_computes_what_it_means() {
    let mut files: Vec<_> =
        std::fs::read_dir(golden::root().join("library")).unwrap().flatten().map(|e| e.path()).collect();
    files.sort();
    let (mut runs, mut failures) = (0, String::new());
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "loz")) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        for d in support::library(&name, &text) {
            match translate(&d, Mode::Default) {
                Err(e) if e.code.0 == "D0101" => continue, // a strategy beside it chooses
                Err(e) => failures.push_str(&format!("{name}: {}: {e}\n", d.name)),
                Ok(t) => {
                    // Parallel reductions may differ by the order of operations.
                    let tolerance = if t.derivation.counts().contains_key("reduceParI") { 1e-3 } else { 0.0 };
                    match support::run::check(&d, tolerance) {
                        Ok(count) => runs += count,
                        Err(why) => failures.push_str(&format!("{name}: {why}\n")),
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(runs > 100, "{runs} runs");
}
