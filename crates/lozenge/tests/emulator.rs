//! The Athread emulator of `runtime/athread`, used as a user of hand-written programs uses it.
//!
//! `tests/athread/mutants/RULE.mutant`: example programs with defects that break a rule of the
//! emulator, and beside them what it says. `nothing` has programs that it must not blame,
//! `wrong-results` defects that only the results show.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock};
use std::{fs, thread};

const EXAMPLES: [&str; 6] = ["product", "stencil", "dot", "matvec", "remote", "descriptors"];

fn emulator() -> PathBuf {
    golden::root().join("runtime/athread")
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the target folder can be written");
    path
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{:?}: {e}", command.get_program()))
}

fn succeed(command: &mut Command) {
    let output = run(command);
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The emulator, compiled once.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = scratch("library");
        let sources = files(&emulator().join("src"), "c");
        let flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Wno-psabi", "-Werror", "-c"];
        succeed(Command::new("gcc").args(flags).args(&sources).current_dir(&folder));
        let library = folder.join("libathread.a");
        succeed(Command::new("ar").arg("rcs").arg(&library).args(files(&folder, "o")));
        library
    })
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there").flatten().map(|e| e.path());
    let mut paths: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    paths
}

/// Builds `NAME_host.c` and `NAME_slave.c` of a folder.
fn build(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let program = folder.join(name);
    let file = |part: &str| folder.join(format!("{name}_{part}.c"));
    succeed(
        Command::new(emulator().join("athread-cc"))
            .arg("-O1")
            .args(flags)
            .arg("-o")
            .arg(&program)
            .arg(file("host"))
            .arg("--slave")
            .arg(file("slave"))
            .env("ATHREAD_LIBRARY", library()),
    );
    program
}

/// A defect: which program, what is replaced in it, and how it is run.
#[derive(Default)]
struct Mutant {
    name: String,
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    flags: Vec<String>,
    /// Part (`host`, `slave`), old text, new text.
    edits: Vec<(String, String, String)>,
}

impl Mutant {
    /// All of a file: each begins with a line `mutant NAME`.
    fn all(text: &str) -> Vec<Mutant> {
        let parts = text.strip_prefix("mutant ").expect("the first line names a mutant");
        parts.split("\nmutant ").map(Mutant::parse).collect()
    }

    fn parse(text: &str) -> Mutant {
        let (name, text) = text.split_once('\n').expect("something follows the name");
        let mut mutant = Mutant { name: name.to_owned(), ..Mutant::default() };
        let words = |s: &str| s.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            match line.split_once(' ') {
                Some(("#", _)) => {}
                None if line.is_empty() => {}
                Some(("program", name)) => mutant.program = name.to_owned(),
                Some(("arguments", rest)) => mutant.arguments = words(rest),
                Some(("flags", rest)) => mutant.flags = words(rest),
                Some(("environment", rest)) => {
                    let pairs = words(rest);
                    mutant.environment = pairs
                        .iter()
                        .map(|p| p.split_once('=').expect("NAME=VALUE"))
                        .map(|(n, v)| (n.to_owned(), v.to_owned()))
                        .collect();
                }
                Some(("in", part)) => {
                    let mut take = |sign: &str| {
                        let mut text = Vec::new();
                        while let Some(line) = lines.peek().and_then(|l| l.strip_prefix(sign)) {
                            text.push(line);
                            lines.next();
                        }
                        text.join("\n")
                    };
                    let (old, new) = (take("- "), take("+ "));
                    mutant.edits.push((part.to_owned(), old, new));
                }
                _ => panic!("what is `{line}`?"),
            }
        }
        mutant
    }

    /// What the program says, and how it ends.
    fn outcome(&self) -> String {
        let name = &self.name;
        let folder = scratch(name);
        let examples = emulator().join("examples");
        for part in ["host.c", "slave.c"] {
            let file = format!("{}_{part}", self.program);
            let mut text = fs::read_to_string(examples.join(&file)).expect("the example is there");
            for (_, old, new) in self.edits.iter().filter(|(p, ..)| part.starts_with(p.as_str())) {
                assert!(text.contains(old), "{name}: {file} has no\n{old}");
                text = text.replace(old, new);
            }
            fs::write(folder.join(file), text).expect("a file can be written");
        }
        let header = format!("{}.h", self.program);
        fs::copy(examples.join(&header), folder.join(&header)).expect("the header is there");
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let program = build(&folder, &self.program, &flags);
        let said = |mode: Option<&str>| {
            let mut command = Command::new(&program);
            command.args(&self.arguments).envs(self.environment.iter().cloned());
            command.envs(mode.map(|mode| ("ATHREAD_MODE", mode)));
            let output = run(&mut command);
            let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.push_str(&String::from_utf8_lossy(&output.stderr));
            format!("{}(exit {})\n", without_addresses(&said), output.status.code().unwrap_or(-1))
        };
        let outcome = said(None);
        if self.environment.iter().all(|(variable, _)| variable != "ATHREAD_MODE") {
            assert_eq!(outcome, said(Some("threads")), "{name}, with a thread for each core");
        }
        let _ = fs::remove_dir_all(folder);
        outcome
    }
}

/// Addresses differ from run to run, and the compiler decides where on its stack a kernel has what.
fn without_addresses(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((at, prefix)) =
        ["0x", "stack-", " of stack", "stack "].iter().filter_map(|p| Some((rest.find(p)?, *p))).min()
    {
        let (before, behind) = rest.split_at(at);
        let behind = &behind[prefix.len()..];
        if prefix == " of stack" {
            result.push_str(before.trim_end_matches(|c: char| c.is_ascii_digit()));
            result.push_str("... of stack");
            rest = behind;
            continue;
        }
        result.push_str(before);
        result.push_str(prefix);
        let digits = behind.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(behind.len());
        let number = &behind[..digits];
        // Masks are short, and stay; so do words behind `stack`.
        if number.starts_with(|c: char| c.is_ascii_digit()) && (prefix != "0x" || digits > 6) {
            result.push_str("...");
            rest = &behind[digits..];
        } else {
            rest = behind;
        }
    }
    result.push_str(rest);
    result
}

#[test]
fn defects_are_found() {
    let cases = golden::cases("athread/mutants", "mutant");
    let mutants: Vec<Mutant> = cases.iter().flat_map(|case| Mutant::all(&case.input)).collect();
    let work = Mutex::new(mutants.iter());
    let outcomes = Mutex::new(BTreeMap::new());
    library();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(mutant) = work.lock().expect("no thread has failed").next() else { return };
                    let outcome = mutant.outcome();
                    outcomes.lock().expect("no thread has failed").insert(mutant.name.clone(), outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no thread has failed");
    golden::check("athread/mutants", "mutant", "out", |case| {
        let said = |mutant: &Mutant| format!("mutant {}\n{}", mutant.name, outcomes[&mutant.name]);
        Mutant::all(&case.input).iter().map(said).collect::<Vec<_>>().join("\n")
    });
}

/// Sound programs are not blamed, whatever the order of the cores, and the model does not depend on
/// it.
#[test]
fn seeds_change_nothing() {
    for name in EXAMPLES {
        let folder = scratch(&format!("seeds-{name}"));
        for file in [format!("{name}_host.c"), format!("{name}_slave.c"), format!("{name}.h")] {
            fs::copy(emulator().join("examples").join(&file), folder.join(&file))
                .expect("the example is there");
        }
        let program = build(&folder, name, &[]);
        let chip = if name == "remote" { "sw26010pro" } else { "sw26010" };
        let mut first: Option<String> = None;
        for seed in 0..20 {
            // The two ways in which cores take turns have the same order.
            let output = run(Command::new(&program)
                .env("ATHREAD_SEED", seed.to_string())
                .env("ATHREAD_MODE", if seed % 4 == 3 { "threads" } else { "baton" })
                .env("ATHREAD_CHIP", chip)
                .env("ATHREAD_REPORT", "json"));
            let report = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{name}, seed {seed}: {report}");
            // Words that travel to one core come in the order of the run, and take their times with
            // them.
            let report = if name == "dot" {
                report.lines().filter(|l| !l.contains("seconds") && !l.contains("share")).collect()
            } else {
                report
            };
            assert_eq!(*first.get_or_insert(report.clone()), report, "{name}, seed {seed}");
        }
    }
}

/// A flag is one word, whatever is in it.
#[test]
fn flags_keep_their_spaces() {
    let folder = scratch("flags");
    for file in ["dot_host.c", "dot_slave.c", "dot.h"] {
        fs::copy(emulator().join("examples").join(file), folder.join(file)).expect("the example is there");
    }
    let program = build(&folder, "dot", &["-DNOTE=\"it's two words\" $HOME"]);
    succeed(&mut Command::new(&program));
}

/// Cores that really run at the same time, under the thread sanitizer.
#[test]
fn examples_run_freely() {
    for name in ["product", "stencil", "dot"] {
        let folder = scratch(&format!("free-{name}"));
        for file in [format!("{name}_host.c"), format!("{name}_slave.c"), format!("{name}.h")] {
            fs::copy(emulator().join("examples").join(&file), folder.join(&file))
                .expect("the example is there");
        }
        let program = build(&folder, name, &["--free"]);
        let output = run(Command::new(&program).env("ATHREAD_MODE", "free"));
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What the emulator does not have is named, before anything runs.
#[test]
fn missing_functions_are_named() {
    let folder = scratch("missing");
    let slave = folder.join("missing_slave.c");
    let text = "#include <slave.h>\n__thread_local int x;\nvoid missing(void *p)\n{\n  dma_of_nobody(&x, p, 4);\n}\n";
    fs::write(&slave, text).expect("a file can be written");
    let host = emulator().join("examples/dot_host.c");
    let output = run(Command::new(emulator().join("athread-cc"))
        .arg("-o")
        .arg(folder.join("missing"))
        .arg(host)
        .arg("--slave")
        .arg(&slave)
        .env("ATHREAD_LIBRARY", library()));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("calls what the emulator does not have: dma_of_nobody"), "{said}");
}
