//! The listings of README.md, of the tutorials and of the exercises are what the commands print.
//!
//! A line `$ COMMAND` of a fenced block is run in a scratch folder with the files of its page; the
//! lines behind it are what both of its streams must show. `...` stands for any text in a line, a
//! line ` ...` for any lines. A block of code (`c`, `loz`, `gsl`, ...) must stand in a file of that
//! folder: one of the page, or one that a command wrote. `BLESS=1` writes what was printed into the
//! page.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::files::Scratch;

/// What a fence says of blocks whose text must stand in a file.
const CODE: [&str; 6] = ["c", "loz", "gsl", "graph", "loops", "pycon"];

/// A fenced block of a page: the word behind the fence, and its lines as a range of the page's.
struct Block {
    word: String,
    first: usize,
    end: usize,
}

fn blocks(lines: &[String]) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut inside = false;
    for (at, line) in lines.iter().enumerate() {
        let Some(word) = line.strip_prefix("```") else { continue };
        if inside {
            all.last_mut().expect("a block has begun").end = at;
        } else {
            all.push(Block { word: word.to_owned(), first: at + 1, end: lines.len() });
        }
        inside = !inside;
    }
    all
}

/// Whether a line is as it is shown, with `...` for any text.
fn line_fits(shown: &str, line: &str) -> bool {
    let mut pieces = shown.split("...");
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// Whether lines are as they are shown, with ` ...` for any lines.
fn fits(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&" ...", rest)) => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, lines)| line_fits(first, line) && fits(rest, lines))
        }
    }
}

/// Runs a command line in a folder; what it prints to both, without the empty lines at the end.
fn printed(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().expect("it is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .env("PATH", format!("{}:{path}", program.display()))
        .env("LOZENGE_REGISTERS", "16x32")
        .env("LOZENGE_CACHES", "32K,1M")
        .env("OMP_WAIT_POLICY", "passive")
        .env_remove("CC")
        .env("LOZENGE_PROGRESS", "off")
        .current_dir(folder)
        .output()
        .expect("a shell runs");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Copies a folder's files, and those of the folders in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())).flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// The files of a folder and of the folders in it, links not followed.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path(), all),
            Ok(kind) if kind.is_file() => all.push(entry.path()),
            _ => {}
        }
    }
}

/// Where the text of a block of this word must stand: what is said to Python in the page whose
/// listings Python's tests run, all else in a file of the folder.
fn sources(folder: &Path, word: &str) -> Vec<PathBuf> {
    if word == "pycon" {
        return vec![golden::root().join("docs/python.md")];
    }
    let mut all = Vec::new();
    files(folder, &mut all);
    all.retain(|path| path.extension().is_none_or(|extension| extension != "md"));
    all
}

/// Whether lines stand one behind the other in one of the files, with ` ...` for any lines.
fn stand_in_a_file(sources: &[PathBuf], shown: &[&str]) -> bool {
    let mut pattern = vec![" ..."];
    pattern.extend(shown);
    pattern.push(" ...");
    sources.iter().any(|path| {
        fs::read_to_string(path).is_ok_and(|text| fits(&pattern, &text.lines().collect::<Vec<_>>()))
    })
}

/// What a page shall show for what was printed: lines that fit stay as they are shown, with their
/// dots, and so do lines that stand for any number, where the lines around them are still printed.
fn blessed(shown: &[&str], text: &str) -> Vec<String> {
    let keep = |line: &str| shown.iter().find(|s| **s != " ..." && line_fits(s, line)).copied();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| match keep(line) {
            Some(shown) => shown.to_owned(),
            None if line.starts_with("time: ") => "time: ...".to_owned(),
            None => line.to_owned(),
        })
        .collect();
    for (k, _) in shown.iter().enumerate().rev().filter(|(_, line)| **line == " ...") {
        let from = match k.checked_sub(1) {
            None => Some(0),
            Some(before) => lines.iter().position(|line| line == shown[before]).map(|at| at + 1),
        };
        let to = match shown.get(k + 1) {
            None => Some(lines.len()),
            Some(after) => lines.iter().rposition(|line| line == after),
        };
        match (from, to) {
            (Some(from), Some(to)) if from <= to => _ = lines.splice(from..to, [" ...".to_owned()]),
            _ => {}
        }
    }
    lines
}

/// A command of a page: what it shows of it, and its place in the page.
struct Listing {
    command: String,
    first: usize,
    end: usize,
}

fn listings(lines: &[String], block: &Block) -> Vec<Listing> {
    let starts: Vec<usize> = (block.first..block.end).filter(|at| lines[*at].starts_with("$ ")).collect();
    starts
        .iter()
        .enumerate()
        .map(|(k, start)| Listing {
            command: lines[*start]["$ ".len()..].to_owned(),
            first: start + 1,
            end: starts.get(k + 1).copied().unwrap_or(block.end),
        })
        .collect()
}

/// Runs and compares every listing of a page; `least` is a number of commands that it surely has.
fn check(page: &str, folder: &Path, least: usize) {
    let path = golden::root().join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{page}: {e}"));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let coq = Command::new("coqc").arg("--version").output().is_ok();
    let (mut ran, mut wrong, mut edits) = (0, String::new(), Vec::new());
    for block in blocks(&lines) {
        let shown: Vec<&str> = lines[block.first..block.end].iter().map(String::as_str).collect();
        if CODE.contains(&block.word.as_str()) && !stand_in_a_file(&sources(folder, &block.word), &shown) {
            let _ = writeln!(wrong, "{page}:{}: no file has this\n{}\n", block.first, shown.join("\n"));
        }
        for Listing { command, first, end } in listings(&lines, &block) {
            ran += 1;
            if command.starts_with("lozenge prove") && !coq {
                println!("not run without Coq: {command}");
                continue;
            }
            let shown: Vec<&str> = lines[first..end].iter().map(String::as_str).collect();
            let text = printed(folder, &command);
            if !fits(&shown, &text.lines().collect::<Vec<_>>()) {
                let _ = writeln!(
                    wrong,
                    "{page}:{first}: $ {command}\n{}",
                    golden::diff(&shown.join("\n"), &text)
                );
                edits.push((first, end, blessed(&shown, &text)));
            }
        }
    }
    assert!(ran >= least, "{page} has {ran} commands");
    if std::env::var("BLESS").is_ok_and(|v| v == "1") {
        let mut lines = lines;
        for (first, end, new) in edits.into_iter().rev() {
            lines.splice(first..end, new);
        }
        fs::write(&path, lines.join("\n") + "\n").expect("written");
    }
    assert!(wrong.is_empty(), "\n{wrong}\nBLESS=1 writes into the page what came out.");
}

/// A page whose files are copies of a folder's.
fn check_with(page: &str, files: &str, least: usize) {
    let scratch = Scratch::new().expect("there is room for files");
    copy(&golden::root().join(files), scratch.path());
    check(page, scratch.path(), least);
}

#[test]
fn readme() {
    let root = golden::root();
    let scratch = Scratch::new().expect("there is room for files");
    for folder in ["tests", "proofs"] {
        symlink(root.join(folder), scratch.path().join(folder)).expect("a link");
    }
    for folder in ["docs", "library"] {
        copy(&root.join(folder), &scratch.path().join(folder));
    }
    check("README.md", scratch.path(), 8);
}

#[test]
fn tutorial_c() {
    check_with("docs/tutorial-c.md", "docs/tutorial/c", 15);
}

#[test]
fn tutorial_loz() {
    check_with("docs/tutorial-loz.md", "docs/tutorial/loz", 15);
}

#[test]
fn tutorial_onnx() {
    check_with("docs/tutorial-onnx.md", "docs/tutorial/onnx", 12);
}

#[test]
fn the_picture_is_what_is_drawn() {
    let root = golden::root();
    let drawn = printed(&root, "lozenge show docs/images/heat.c --svg --size n=14 --size t=6");
    golden::compare(&root.join("docs/images/heat.svg"), &drawn)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn dots_stand_for_anything() {
    assert!(
        line_fits("time: ...", "time: 3 ms")
            && line_fits("a ... c ... e", "a b c d e")
            && line_fits("a", "a")
    );
    assert!(!line_fits("a", "ab") && !line_fits("a ... c", "a b d") && !line_fits("... c", "c d"));
    assert!(fits(&["a", " ...", "c"], &["a", "b", "b", "c"]) && !fits(&["a", " ..."], &["b"]));
}

#[test]
fn dots_survive_acceptance() {
    let shown = ["nodes: 3", "took ... ms"];
    assert_eq!(blessed(&shown, "nodes: 4\ntook 17 ms\ntime: 2 s"), ["nodes: 4", "took ... ms", "time: ..."]);
    let shown = ["a", " ...", "d", " ..."];
    assert_eq!(blessed(&shown, "new\na\nb\nc\nd\ne"), ["new", "a", " ...", "d", " ..."]);
    assert_eq!(blessed(&shown, "a\nb\nc"), ["a", "b", "c"]);
}

#[test]
fn code_must_stand_in_a_file() {
    let scratch = Scratch::new().expect("there is room for files");
    fs::write(scratch.path().join("x.c"), "a\nb\nc\n").expect("written");
    let stand = |word: &str, shown: &[&str]| stand_in_a_file(&sources(scratch.path(), word), shown);
    assert!(stand("c", &["b", "c"]) && stand("c", &["a", " ...", "c"]));
    assert!(!stand("c", &["a", "c"]) && !stand("c", &["c", "a"]) && !stand("pycon", &["b", "c"]));
}
