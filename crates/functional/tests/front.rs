//! The front half on data files: source text to checked core definitions, printed; and the diagnostics of bad programs.

mod support;

use functional::{print, walk};
use support::{assert_reads_back, core, diagnostics, formatted, on_large_stack, render};

#[test]
fn good_programs_have_these_core_forms() {
    golden::check("functional/types", "loz", "core", |case| {
        let definitions = core(&case.input);
        definitions.iter().for_each(assert_reads_back);
        definitions.iter().map(print::definition).collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn bad_programs_are_refused_with_these_words() {
    for area in ["functional/syntax", "functional/errors"] {
        golden::check(area, "loz", "out", |case| {
            let errors = diagnostics(&case.input);
            assert!(!errors.is_empty(), "{} is not refused", case.name);
            for error in &errors {
                let page = golden::root().join(format!("docs/errors/{}.md", error.code));
                assert!(page.exists(), "{} has no page", error.code);
            }
            render::all(&case.input, &errors)
        });
    }
}

#[test]
fn the_library_is_well_typed_and_prints() {
    let mut count = 0;
    for entry in std::fs::read_dir(golden::root().join("library")).expect("the library") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        if path.extension().is_none_or(|e| e != "loz") || text.contains("\nimport ") {
            continue;
        }
        for definition in core(&text) {
            assert_reads_back(&definition);
            count += 1;
        }
    }
    assert!(count >= 22, "the library has {count} programs");
}

/// `count` combinators, one behind another or in as many `let`s.
fn deep_program(count: usize, lets: bool) -> String {
    let mut text = String::from("def deep [n] (xs: [n]f32): [n]f32 =");
    if !lets {
        return text + " xs" + &"\n  |> mapSeq (\\x -> x + 1)".repeat(count);
    }
    let mut last = "xs".to_owned();
    for k in 0..count {
        text.push_str(&format!("\n  let x{k} = mapSeq (\\x -> x + 1) {last} in"));
        last = format!("x{k}");
    }
    text + " " + &last
}

#[test]
fn ten_thousand_combinators_pass() {
    on_large_stack(|| {
        for lets in [false, true] {
            let definitions = core(&deep_program(10_000, lets));
            assert!(walk::count(&definitions[0].body) > 30_000);
            assert_reads_back(&definitions[0]);
        }
    });
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    on_large_stack(|| {
        let nest = |open: &str, close: &str, n: usize| {
            format!("def f (x: f32): f32 = {}x{}", open.repeat(n), close.repeat(n))
        };
        let programs = [
            (nest("(", ")", 30_000), "F0103"),
            (nest("(", "", 1_000_000), "F0103"),
            (nest("-(", ")", 30_000), "F0103"),
            (nest("1 + ", "", 300_000), "F0103"),
            (nest("", " + 1", 300_000), "F0103"),
            (nest("", "[0]", 300_000), "F0103"),
            (nest("\\y -> ", "", 100_000), "F0103"),
            (nest("if true then 1 else ", "", 50_000), "F0103"),
            (format!("def f (x: {}f32): f32 = x", "[1]".repeat(100_000)), "F0103"),
            (format!("def f (x: {}f32): f32 = x", "(".repeat(100_000)), "F0103"),
            (format!("def f (x: {}f32): f32 = x", "f32 -> ".repeat(100_000)), "F0103"),
            (format!("def f: f32 = let {} = x in x", "(".repeat(100_000)), "F0103"),
            ("(".repeat(10 << 20), "F0104"),
            (deep_program(15_000, true), "F0502"),
        ];
        for (program, code) in programs {
            let start = std::time::Instant::now();
            let errors = diagnostics(&program);
            let told: Vec<&str> = errors.iter().map(|e| e.code.0).collect();
            assert!(told.contains(&code), "{code} is due, not {told:?}: {}", &program[..80]);
            assert!(errors.len() <= 60 && start.elapsed().as_secs() < 60);
        }
    });
}

#[test]
fn programs_are_formatted() {
    golden::check("functional/fmt", "loz", "out", |case| formatted(&case.input));
    for area in ["functional/types", "../library"] {
        for case in golden::cases(area, "loz") {
            assert_eq!(formatted(&case.input), case.input, "{} is not formatted", case.path.display());
        }
    }
}
