//! The loop nests of `tests/c/nests`, written as real codes have them: each file is translated, and
//! original and result leave the same bytes in memory, through gcc and clang, at several sizes.
//! `benches/nests.py` makes the table of them.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::{Request, Source, Stage, files};

/// Nests of which no loop is taken, or not all that stands in the region; see `docs/c-nests.md`.
const MOST_REFUSED: usize = 4;

fn areas() -> Vec<PathBuf> {
    let folder = golden::root().join("tests/c/nests");
    let files = fs::read_dir(folder).expect("tests/c/nests is there").flatten().map(|entry| entry.path());
    let is_area = |path: &PathBuf| path.extension().is_some_and(|e| e == "c") && !path.ends_with("driver.c");
    let mut areas: Vec<PathBuf> = files.filter(is_area).collect();
    areas.sort();
    areas
}

/// The names of the nests of a file.
fn names(text: &str) -> Vec<&str> {
    let name = |line: &'_ str| -> Option<usize> {
        let rest = line.strip_prefix("RUN(").or_else(|| line.strip_prefix("GLOBAL("))?;
        rest.find(", ")
    };
    let named = text.lines().filter_map(|line| {
        let end = name(line)?;
        let begin = line.find('(')? + 1;
        line.get(begin..begin + end)
    });
    named.collect()
}

/// The file with its regions rewritten, and the lines of regions that are refused.
fn translated(path: &Path) -> (String, BTreeSet<usize>) {
    let text = fs::read_to_string(path).expect("it is text");
    let source = Source::new(path.display().to_string(), text);
    let request = Request {
        partial: true,
        caches: Some(polyhedral::locality::Caches::default()),
        registers: Some(loops::Registers::default()),
        ..files::request()
    };
    let emission = files::open(&source, &request).and_then(|front| front.emit(Stage::C, &request));
    let emission = emission.unwrap_or_else(|f| panic!("{path:?}: {f:?}"));
    let taken = ["C0501", "C0502", "C0503", "C0504", "C0505", "P0002"];
    let refused = emission.warnings.iter().filter(|d| !taken.contains(&d.code.0));
    let mut regions = BTreeSet::new();
    for diagnostic in refused {
        let at = diagnostic.labels.first().map_or(0, |label| label.span.start as usize);
        let end = source.text[at..].find("#pragma endscop").map_or(at, |n| at + n);
        regions.insert(source.text[..end].matches('\n').count());
    }
    (emission.text, regions)
}

fn printed(compiler: &str, work: &Path, files: &[PathBuf], name: &str) -> String {
    let program = work.join(format!("{name}-{compiler}"));
    let folder = golden::root().join("tests/c/nests");
    let mut build = Command::new(compiler);
    build.args(["-std=gnu11", "-w", "-O1", "-ffp-contract=off", "-fopenmp"]);
    // The result runs at all sizes.
    build.args(lozenge::kernel::ALWAYS).arg("-o").arg(&program);
    build.arg("-I").arg(&folder).arg("-I").arg(work).arg(folder.join("driver.c")).args(files).arg("-lm");
    let built = build.output().expect("the compiler runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(&program).env("OMP_NUM_THREADS", "2").output().expect("the program runs");
    assert!(run.status.success(), "{program:?}: {}", run.status);
    String::from_utf8(run.stdout).expect("it prints text")
}

#[test]
fn nests_of_real_codes_are_taken_and_keep_their_results() {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nests");
    fs::create_dir_all(&work).expect("a folder for the work");
    let (mut list, mut refused, mut count) = (String::new(), 0, 0);
    let areas = areas();
    let results: Vec<(String, BTreeSet<usize>)> = std::thread::scope(|scope| {
        let translate = |path: &PathBuf| {
            let path = path.clone();
            let stack = std::thread::Builder::new().stack_size(256 << 20);
            stack.spawn_scoped(scope, move || translated(&path)).expect("a thread")
        };
        let threads: Vec<_> = areas.iter().map(translate).collect();
        threads.into_iter().map(|thread| thread.join().expect("it is translated")).collect()
    });
    let mut ours = Vec::new();
    for (path, (text, regions)) in areas.iter().zip(results) {
        let original = fs::read_to_string(path).expect("it is text");
        for name in names(&original) {
            list.push_str(&format!("NEST({name})\n"));
            count += 1;
        }
        refused += regions.len();
        let file = work.join(path.file_name().expect("a file has a name"));
        fs::write(&file, text).expect("the folder can be written");
        ours.push(file);
    }
    fs::write(work.join("list.h"), list).expect("the folder can be written");
    assert!(count >= 150, "{count} nests");
    assert!(refused <= MOST_REFUSED, "{refused} of {count} nests are refused");
    std::thread::scope(|scope| {
        for compiler in ["gcc", "clang-16"] {
            let (work, areas, ours) = (&work, &areas, &ours);
            scope.spawn(move || {
                let expected = printed(compiler, work, areas, "original");
                let got = printed(compiler, work, ours, "ours");
                for (a, b) in expected.lines().zip(got.lines()) {
                    assert_eq!(a, b, "by {compiler}");
                }
                assert_eq!(expected.lines().count(), got.lines().count());
            });
        }
    });
}
