//! What comes out does not depend on time: with a clock that runs a hundred times faster, and on
//! several threads at once, every verdict and every byte is the same.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use lozenge::files::Scratch;

/// Every so many of the kernels are mapped to cores, too.
const CORES: usize = 8;

/// Definitions of the library, on the way of the polyhedral side as well.
const DEFINITIONS: [(&str, &str); 4] =
    [("blas", "dot"), ("products", "dproduct"), ("arrays", "jacobi"), ("onnx/rows", "softmax_single")];

/// The command lines, without the place that they write to.
fn commands(scratch: &Path) -> Vec<Vec<String>> {
    let root = golden::root();
    let line = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
    let mut kernels: Vec<PathBuf> = fs::read_dir(root.join("tests/c/kernels"))
        .expect("the kernels are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    kernels.sort();
    assert!(kernels.len() > 90, "{} kernels", kernels.len());
    let mut all = Vec::new();
    for (k, path) in kernels.iter().enumerate() {
        let path = path.to_str().expect("a name in UTF-8");
        all.push(line(&["compile", path]));
        if k % CORES == 0 {
            all.push(line(&["compile", path, "--target", "athread"]));
        }
    }
    for (file, definition) in DEFINITIONS {
        let path = root.join("library").join(format!("{file}.loz"));
        let path = path.to_str().expect("a name in UTF-8");
        all.push(line(&["compile", path, "--def", definition]));
        all.push(line(&["compile", path, "--def", definition, "--schedule", "auto"]));
    }
    let model = scratch.join("mlp.onnx");
    let model = model.to_str().expect("a name in UTF-8");
    assert_eq!(lozenge(line(&["generate", "mlp", "-o", model])), 0);
    all.push(line(&["compile", model]));
    all
}

/// Runs the command in this process.
fn lozenge(words: impl IntoIterator<Item = String>) -> u8 {
    let words = ["lozenge".to_owned()].into_iter().chain(words).map(OsString::from);
    lozenge::command::main(words)
}

/// What a command line gives: the exit code, and the files.
type Outcome = (u8, BTreeMap<String, Vec<u8>>);

fn outcome(command: &[String], place: &Path) -> Outcome {
    let output = ["-o".to_owned(), place.display().to_string()];
    let code = lozenge(command.iter().cloned().chain(output));
    let mut files = BTreeMap::new();
    if place.is_dir() {
        for entry in fs::read_dir(place).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            files.insert(name, fs::read(path).expect("a file"));
        }
        fs::remove_dir_all(place).expect("it can be removed");
    } else if let Ok(bytes) = fs::read(place) {
        files.insert(String::new(), bytes);
        fs::remove_file(place).expect("it can be removed");
    }
    (code, files)
}

/// The outcomes of all command lines, on two threads, in the order of the list or backwards.
fn outcomes(commands: &[Vec<String>], scratch: &Path, backwards: bool) -> Vec<Outcome> {
    let mut order: Vec<usize> = (0..commands.len()).collect();
    if backwards {
        order.reverse();
    }
    let (next, found) = (Mutex::new(order.into_iter()), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            let work = || {
                loop {
                    let Some(k) = next.lock().expect("no thread has failed").next() else { return };
                    let outcome = outcome(&commands[k], &scratch.join(format!("out{k}")));
                    found.lock().expect("no thread has failed").insert(k, outcome);
                }
            };
            scope.spawn(work);
        }
    });
    found.into_inner().expect("no thread has failed").into_values().collect()
}

#[test]
fn a_faster_clock_changes_nothing() {
    let scratch = Scratch::new().expect("there is room for files");
    let commands = commands(scratch.path());
    let slow = outcomes(&commands, scratch.path(), false);
    polyhedral::hurry(100);
    let fast = outcomes(&commands, scratch.path(), true);
    let accepted = slow.iter().filter(|(code, files)| *code == 0 && !files.is_empty()).count();
    assert!(accepted * 10 >= commands.len() * 9, "{accepted} of {} are accepted", commands.len());
    let differ: Vec<String> = commands
        .iter()
        .zip(slow.iter().zip(&fast))
        .filter(|(_, (slow, fast))| slow != fast)
        .map(|(command, (slow, fast))| format!("{}: {} and {}", command.join(" "), slow.0, fast.0))
        .collect();
    assert!(differ.is_empty(), "time decides:\n{}", differ.join("\n"));
}
