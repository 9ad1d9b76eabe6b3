//! The exercises: what is there to begin with fails its check, and the solution passes it.
//!
//! Each section of `docs/exercises.md` names its file and ends with a line ``Check: `COMMAND` ``.
//! The command is run in a copy of `docs/exercises`: as it is, and with the files of
//! `docs/exercises/solutions` put over it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use lozenge::files::Scratch;

/// An exercise: its title and the command that says whether it is solved.
struct Exercise {
    title: String,
    check: String,
}

fn exercises() -> Vec<Exercise> {
    let page = fs::read_to_string(golden::root().join("docs/exercises.md")).expect("the page is there");
    let section = |text: &str| {
        let title = text.lines().next().unwrap_or_default().to_owned();
        let check = text.lines().find_map(|line| line.strip_prefix("Check: `")?.strip_suffix('`'));
        let check = check.unwrap_or_else(|| panic!("`{title}` has no check")).to_owned();
        Exercise { title, check }
    };
    page.split("\n## ").skip(1).map(section).collect()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())).flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

fn run(folder: &Path, command: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().expect("it is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", program.display()))
        .env("LOZENGE_CACHES", "32K,1M")
        .env_remove("CC")
        .current_dir(folder)
        .output()
        .expect("a shell runs")
}

#[test]
fn solutions_pass_what_starts_fail() {
    let folder = golden::root().join("docs/exercises");
    let exercises = exercises();
    assert_eq!(exercises.len(), 10);
    let (start, solved) = (Scratch::new().expect("a folder"), Scratch::new().expect("a folder"));
    copy(&folder, start.path());
    copy(&folder, solved.path());
    copy(&folder.join("solutions"), solved.path());
    for Exercise { title, check } in exercises {
        let output = run(start.path(), &check);
        let code = output.status.code();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(matches!(code, Some(1 | 3)), "{title}: the start ends with {code:?}: {check}\n{told}");
        let output = run(solved.path(), &check);
        let (told, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{title}: the solution fails: {check}\n{told}{errors}");
    }
}

/// A solution that asks for less than the start would be none.
#[test]
fn solutions_keep_the_cases() {
    let folder = golden::root().join("docs/exercises");
    let cases = |path: &Path| -> BTreeSet<String> {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        text.lines().filter(|line| line.starts_with("-- test")).map(str::to_owned).collect()
    };
    let mut pairs = 0;
    for entry in fs::read_dir(folder.join("solutions")).expect("solutions").flatten() {
        let start = folder.join(entry.file_name());
        assert!(start.is_file(), "{} has no start", entry.path().display());
        assert_eq!(cases(&start), cases(&entry.path()), "{}", start.display());
        pairs += 1;
    }
    assert_eq!(pairs, 10);
}
