//! The command as a user sees it: `tests/cli/*.cmd` hold shell lines, the `.out` beside each what
//! they print and their exit codes.
//!
//! Each file runs in a fresh copy of `tests/cli/files`. Times are replaced by `...`, since they
//! differ from run to run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fresh folder with the files of the tests.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the target folder can be written");
        for entry in fs::read_dir(golden::folder("cli/files")).expect("tests/cli/files is there").flatten() {
            fs::copy(entry.path(), path.join(entry.file_name())).expect("files can be copied");
        }
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn shell(folder: &Path, line: &str) -> (String, i32) {
    let bin = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().expect("a program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("NO_COLOR", "1")
        .env("LOZENGE_PROGRESS", "off")
        .env("LOZENGE_CACHES", "48K,2M")
        .env("LOZENGE_REGISTERS", "32x64")
        .env_remove("CC")
        .env("LIBRARY", golden::root().join("library"))
        .stdin(Stdio::null())
        .output()
        .expect("sh runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

fn without_times(text: &str) -> String {
    let library = golden::root().join("library").display().to_string();
    let (mut result, mut timed) = (String::new(), false);
    for line in text.replace(&library, "library").lines() {
        // The last column of a table of times.
        let last = line.rfind(' ').map_or(0, |at| at + 1);
        timed = line.ends_with(" ms") || timed && line[last..].contains('.');
        // Times, what tile sizes decide, and the memory of the machine.
        let figures = ["time: ", "traffic: "];
        let at = figures
            .iter()
            .find_map(|word| Some(line.find(word)? + word.len()))
            .or_else(|| Some(line.find(" of memory are available")? - 8))
            .or_else(|| (timed && !line.ends_with(" ms")).then_some(last));
        let _ = match at {
            Some(at) => writeln!(result, "{}...", &line[..at]),
            None => writeln!(result, "{line}"),
        };
    }
    result
}

#[test]
fn commands_print_what_is_expected() {
    golden::check("cli", "cmd", "out", |case| {
        let folder = Folder::new(&case.name);
        let mut told = String::new();
        for line in case.input.lines().filter(|l| !l.is_empty()) {
            if let Some(comment) = line.strip_prefix('#') {
                let _ = writeln!(told, "#{comment}");
                continue;
            }
            let (text, code) = shell(&folder.0, line);
            let _ = write!(told, "$ {line}\n{}", without_times(&text));
            if code != 0 {
                let _ = writeln!(told, "(exit {code})");
            }
            told.push('\n');
        }
        told
    });
}
