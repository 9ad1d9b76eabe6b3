//! After each pass the loops are valid, and compute the same bits at small sizes: of all kernels in
//! C, and of the library. (Operators of models: `onnx_c.rs`.) Printed schedules read back.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lozenge::files::{self, Scratch, read_source};
use lozenge::pipeline::History;
use lozenge::{Request, Schedule, Stage};
use passes::Verified;

/// The files below a folder with an extension, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    fn below(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                below(&path, extension, found);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    below(&golden::root().join(folder), extension, &mut found);
    found.sort();
    found
}

/// Does something with each, two at a time, on stacks that are deep enough.
fn each<T: Sync>(all: &[T], f: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            f(one);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let thread = std::thread::Builder::new().stack_size(1 << 28);
            thread.spawn_scoped(scope, work).expect("a thread");
        }
    });
}

/// What was verified of all of them together, and what was found wrong.
fn verified(all: &[(PathBuf, Request)]) -> (Verified, Vec<String>) {
    let found = Mutex::new((Verified::default(), Vec::new()));
    each(all, |(path, request)| {
        let histories =
            read_source(path).and_then(|source| files::open(&source, request)?.histories(request));
        // What is refused has no loops to look at; other tests hold what is refused.
        for History { before, applied } in histories.unwrap_or_default() {
            let outcome = passes::verify(&before, &applied);
            let mut found = found.lock().expect("no panic");
            match outcome {
                Ok(one) => {
                    found.0.valid += one.valid;
                    found.0.runs += one.runs;
                }
                Err(fault) => found.1.push(format!("{} `{}`: {fault:?}", path.display(), before.name)),
            }
        }
    });
    found.into_inner().expect("no panic")
}

#[test]
fn passes_on_kernels_in_c_change_no_bit() {
    let kernels = files("tests/c/kernels", "c");
    let all: Vec<_> = kernels.into_iter().map(|path| (path, files::request())).collect();
    assert!(all.len() > 90, "{} kernels", all.len());
    let (verified, wrong) = verified(&all);
    assert_eq!(wrong, Vec::<String>::new());
    assert!(verified.valid > 150 && verified.runs > 500, "{verified:?}");
}

#[test]
fn passes_on_the_library_change_no_bit() {
    let mut all = Vec::new();
    for path in files("library", "loz") {
        let source = read_source(&path).expect("a file");
        let names = files::open(&source, &files::request()).expect("a program").definitions();
        for name in names {
            let request = files::request().of(&name);
            all.push((path.clone(), request.clone()));
            all.push((path.clone(), Request { schedule: Schedule::Auto, ..request }));
        }
    }
    assert!(all.len() > 300, "{} definitions, twice", all.len());
    let (verified, wrong) = verified(&all);
    assert_eq!(wrong, Vec::<String>::new());
    assert!(verified.valid > 50 && verified.runs > 200, "{verified:?}");
}

#[test]
fn a_printed_schedule_is_accepted_and_gives_the_same_c() {
    let kernels = files("tests/c/kernels", "c");
    let scratch = Scratch::new().expect("a folder");
    let wrong = Mutex::new(Vec::new());
    let same = AtomicUsize::new(0);
    each(&kernels, |path| {
        let source = read_source(path).expect("a file");
        let text = |stage, request: &Request| -> Result<String, lozenge::Failure> {
            Ok(files::open(&source, request)?.emit(stage, request)?.text)
        };
        let Ok(schedule) = text(Stage::Schedule, &files::request()) else { return };
        let file = scratch.path().join(path.with_extension("schedule").file_name().expect("a name"));
        std::fs::write(&file, schedule).expect("a file is written");
        let given =
            Request { schedule: files::schedule(file.to_str()).expect("it is there"), ..files::request() };
        match (text(Stage::C, &files::request()), text(Stage::C, &given)) {
            (Ok(first), Ok(again)) if first == again => {
                same.fetch_add(1, Ordering::Relaxed);
            }
            (Ok(_), Ok(_)) => wrong.lock().expect("no panic").push(format!("{}: other C", path.display())),
            (_, Err(refused)) | (Err(refused), _) => {
                let why = format!("{}: {}", path.display(), refused.summary());
                wrong.lock().expect("no panic").push(why);
            }
        }
    });
    assert_eq!(wrong.into_inner().expect("no panic"), Vec::<String>::new());
    assert!(same.into_inner() > 100, "of {} kernels", kernels.len());
}

#[test]
fn the_page_of_passes_is_what_the_code_has() {
    let page = lozenge::command::passes::page();
    golden::compare(&golden::root().join("docs/passes.md"), &page).unwrap_or_else(|e| panic!("{e}"));
}
