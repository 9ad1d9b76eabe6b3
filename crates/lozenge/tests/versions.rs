//! `tests/c/versions`: C files whose regions assume something that not every caller keeps. What is
//! tested is printed, and original and result print the same, where it holds and where it does not.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::{Request, Source, Stage, files, pipeline};

/// The file with its regions rewritten, and what was said.
fn rewritten(path: &Path, text: &str) -> (String, Vec<loops::Diagnostic>) {
    let source = Source { path: path.display().to_string(), text: text.to_owned() };
    let request = Request {
        caches: Some(polyhedral::locality::Caches::default()),
        registers: Some(loops::Registers::default()),
        ..files::request()
    };
    let emission = files::open(&source, &request).and_then(|front| front.emit(Stage::C, &request));
    let emission = emission.unwrap_or_else(|f| panic!("{path:?}: {f:?}"));
    (emission.text, emission.warnings)
}

/// What a program prints.
fn printed(compiler: &str, level: &str, source: &Path, binary: &Path) -> String {
    let flags = ["-std=gnu11", level, "-Wall", "-Werror", "-pedantic", "-Wno-unknown-pragmas"];
    let mut build = Command::new(compiler);
    build
        .args(flags)
        .args(["-ffp-contract=off", "-fopenmp"])
        .args(lozenge::kernel::ALWAYS)
        .arg("-o")
        .arg(binary)
        .arg(source)
        .arg("-lm");
    let built = build.output().expect("the compiler runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(binary).env("OMP_NUM_THREADS", "2").output().expect("the program runs");
    assert!(run.status.success(), "{source:?} by {compiler}: {}", run.status);
    String::from_utf8(run.stdout).expect("it prints text")
}

fn installed(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|o| o.status.success())
}

#[test]
fn where_an_assumption_does_not_hold_the_original_text_runs() {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("versions");
    std::fs::create_dir_all(&work).expect("a folder for the work");
    golden::check("c/versions", "c", "out", |case| {
        let (text, said) = rewritten(&case.path, &case.input);
        assert!(text.contains("if (!("), "nothing is tested in {text}");
        let ours = work.join(format!("{}.ours.c", case.name));
        std::fs::write(&ours, &text).expect("a file in the folder for the work");
        for compiler in ["gcc", "clang-16"] {
            assert!(installed(compiler), "{compiler} is missing: ./x setup installs it");
            let expected = printed(compiler, "-O0", &case.path, &work.join(&case.name));
            for level in ["-O1", "-O3"] {
                let binary = work.join(format!("{}.ours", case.name));
                assert_eq!(printed(compiler, level, &ours, &binary), expected, "{} by {compiler}", case.name);
            }
        }
        let mut shown = String::new();
        for diagnostic in said {
            shown.push_str(&format!("{diagnostic}\n"));
            diagnostic.notes.iter().for_each(|note| shown.push_str(&format!("  {note}\n")));
        }
        let mut inside = false;
        for line in text.lines() {
            inside |= line.contains("/* scop: ");
            if inside {
                shown.push_str(&format!("{line}\n"));
            }
            inside &= !line.contains("/* endscop */");
        }
        shown
    });
}

/// A fixed number of programs over all integer types; `./x fuzz` goes on from there.
#[test]
fn programs_over_all_integer_types_keep_their_results() {
    for seed in (2..=32).step_by(2) {
        let line = format!("lozenge fuzz --of kernels --count 1 --seed {seed} --json");
        let words = line.split(' ').map(std::ffi::OsString::from);
        assert_eq!(lozenge::command::main(words), 0, "{line}");
    }
}

/// A file of the test's own: the preprocessor reads it.
fn written(name: &str, text: &str) -> PathBuf {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tested");
    std::fs::create_dir_all(&work).expect("a folder for the work");
    std::fs::write(work.join(name), text).expect("a file in the folder for the work");
    work.join(name)
}

/// A region whose subscripts are beyond 64 bits for sizes of 2^48 stays as it is; one that fits
/// there is tested.
#[test]
fn where_no_test_makes_subscripts_fit_the_region_stays() {
    let region = |factor: &str| {
        format!(
            "void f(long n, double *restrict x)\n{{\n#pragma scop\n  for (long i = 0; i < n; i++)\n    x[{factor} * i] = 1.0;\n#pragma endscop\n}}\n"
        )
    };
    let text = region("10000000000000000");
    let (rewritten_text, said) = rewritten(&written("beyond.c", &text), &text);
    assert_eq!(rewritten_text, text);
    assert_eq!(said.iter().map(|d| d.code.0).collect::<Vec<_>>(), ["C0504"]);
    let text = region("1000");
    let (rewritten_text, said) = rewritten(&written("within.c", &text), &text);
    assert!(rewritten_text.contains("n >= -(1L << 48) && n <= 1L << 48"), "{rewritten_text}");
    assert_eq!(said.iter().map(|d| d.code.0).collect::<Vec<_>>(), ["C0501"]);
}

/// `lozenge explain` of a C file says what is tested at run time.
#[test]
fn what_is_tested_is_explained() {
    let text = "void f(unsigned p, unsigned q, int x[64])\n{\n#pragma scop\n  for (unsigned i = p - q; i < p; i++)\n    x[i] += 1;\n#pragma endscop\n}\n";
    let path = written("explained.c", text);
    let source = Source { path: path.display().to_string(), text: text.to_owned() };
    let front = files::open(&source, &files::request()).expect("a file that is taken");
    let told = pipeline::done(&front, &files::request()).expect("a region that is scheduled");
    assert!(told.contains("\n  tested: `p - q` is not negative (line 4)\n"), "{told}");
}
