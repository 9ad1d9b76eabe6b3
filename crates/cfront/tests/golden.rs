//! `tests/cfront/**/*.c` and `*.cpp`: what becomes of a C or C++ file, its loop programs and what
//! ties them to the C, or its diagnostics.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use cfront::{CFile, Language, Options};
use loops::{Diagnostic, Program};

/// The text after the system's preprocessor, as the command runs it.
fn preprocess(text: &str, language: Language) -> String {
    let language = match language {
        Language::C => ["-std=gnu11", "-x", "c"],
        Language::Cpp => ["-std=gnu++17", "-x", "c++"],
    };
    let mut child = Command::new("gcc")
        .args(["-E", "-dD"])
        .args(language)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gcc is needed for these tests");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let text = text.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("gcc ends");
    writer.join().expect("no panic").expect("gcc reads its input");
    assert!(output.status.success(), "the preprocessor failed");
    String::from_utf8(output.stdout).expect("UTF-8 in, UTF-8 out")
}

fn place(text: &str, offset: u32) -> String {
    let before = &text[..(offset as usize).min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |n| n + 1) + 1;
    format!("{line}:{column}")
}

fn show_diagnostic(text: &str, d: &Diagnostic) -> String {
    let mut out = format!("{d}\n");
    for label in &d.labels {
        let (start, end) = (label.span.start as usize, label.span.end as usize);
        let quoted = text.get(start..end).unwrap_or("<no such place>");
        writeln!(out, "  {} `{quoted}`: {}", place(text, label.span.start), label.text).expect("a string");
    }
    d.notes.iter().for_each(|n| writeln!(out, "  note: {n}").expect("a string"));
    d.help.iter().for_each(|h| writeln!(out, "  help: {h}").expect("a string"));
    out
}

fn show(text: &str, result: Result<CFile, Vec<Diagnostic>>) -> String {
    let file = match result {
        Ok(file) => file,
        Err(diagnostics) => return diagnostics.iter().map(|d| show_diagnostic(text, d)).collect(),
    };
    let mut out: String = file.refused.iter().map(|d| show_diagnostic(text, d)).collect();
    for region in file.regions {
        let info = &region.info;
        let program = Program { functions: vec![region.function] };
        let report = loops::validate::validate(&program.functions[0]);
        assert!(report.is_valid(), "{:?}", report.errors().collect::<Vec<_>>());
        let printed = program.to_string();
        assert_eq!(loops::parse(&printed).as_ref(), Ok(&program), "the program reads back");
        out.push_str(&printed);
        let w = &mut out;
        writeln!(w, "// lines {}-{} of {}", info.lines.0, info.lines.1, info.c_function).expect("a string");
        for size in &info.sizes {
            let tested = if size.tested { ", of any value" } else { "" };
            writeln!(w, "// size {} {}{tested}", size.c_type, size.c_name).expect("a string");
        }
        for v in &info.variables {
            let written = if v.written { " written" } else { "" };
            let live = if v.live_after { " live" } else { "" };
            writeln!(w, "// {:?} {} {} {:?}{written}{live}", v.kind, v.c_type, v.c_name, v.access)
                .expect("a string");
        }
        info.may_alias.iter().for_each(|a| {
            let apart = a.apart.as_deref().unwrap_or("not known");
            writeln!(w, "// may alias {} {}; apart: {apart}", a.first, a.second).expect("a string");
        });
        info.assumptions
            .iter()
            .for_each(|a| writeln!(w, "// tested: {} ({})", a.condition, a.says).expect("a string"));
        info.epilogue.iter().for_each(|e| writeln!(w, "// after: {e}").expect("a string"));
        if !info.macros.is_empty() {
            writeln!(w, "// macros {}", info.macros.join(" ")).expect("a string");
        }
        for (object, bytes) in &info.object_sizes {
            writeln!(w, "// made for sizeof {object} = {bytes}").expect("a string");
        }
        for (name, value) in &info.macro_values {
            writeln!(w, "// made for {name} = {value}").expect("a string");
        }
        info.index_notes.iter().for_each(|n| writeln!(w, "// note: {n}").expect("a string"));
        region.warnings.iter().for_each(|d| out.push_str(&show_diagnostic(text, d)));
        out.push('\n');
    }
    if out.is_empty() {
        out.push_str("no regions\n");
    }
    out
}

#[test]
fn loop_programs_and_diagnostics() {
    golden::check("cfront", "c", "out", |case| {
        let options = Options {
            pure_functions: vec!["declared_by_option".to_string()],
            auto: case.name.starts_with("auto"),
            inner: case.name.starts_with("inner"),
            ..Options::default()
        };
        let preprocessed = preprocess(&case.input, Language::C);
        show(&case.input, cfront::parse_with(&case.input, &preprocessed, "<stdin>", &options))
    });
}

#[test]
fn regions_of_cpp() {
    golden::check("cfront", "cpp", "out", |case| {
        let options = Options { language: Language::Cpp, ..Options::default() };
        let preprocessed = preprocess(&case.input, options.language);
        show(&case.input, cfront::parse_with(&case.input, &preprocessed, "<stdin>", &options))
    });
}

#[test]
fn refused_kernels_say_why() {
    golden::check("c/refused", "c", "out", |case| {
        let preprocessed = preprocess(&case.input, Language::C);
        let result = cfront::parse(&case.input, &preprocessed, &case.name);
        assert!(result.is_err(), "this kernel is not to be taken");
        show(&case.input, result)
    });
}
