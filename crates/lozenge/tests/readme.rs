//! The listings of README.md are what the commands print: each `$ lozenge …` is run, and the C that is shown is what comes out.
//!
//! `...` stands for any text in a line, a line ` ...` for any lines.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use lozenge::files::Scratch;

/// The program of the listing with an error.
const SUM2: &str =
    "def sum2 [n m] (xs: [n]f32) (ys: [m]f32): [n]f32 =\n  zip xs ys |> mapPar (\\(x, y) -> x + y)\n";

/// The fenced blocks of a page: the word behind the fence, and the lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(word), false) => {
                all.push((word, Vec::new()));
                inside = true;
            }
            (Some(_), true) => inside = false,
            (None, true) => all.last_mut().expect("a block has begun").1.push(line),
            (None, false) => {}
        }
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
        .args(["-c", &format!("{{ {command}; }} 2>&1")])
        .env("PATH", format!("{}:{path}", program.display()))
        .env("LOZENGE_PROGRESS", "off")
        .current_dir(folder)
        .output()
        .expect("a shell runs");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

fn scratch(root: &Path) -> Scratch {
    let scratch = Scratch::new().expect("there is room for files");
    for folder in ["library", "tests", "proofs"] {
        symlink(root.join(folder), scratch.path().join(folder)).expect("a link");
    }
    fs::copy(root.join("docs/images/heat.c"), scratch.path().join("heat.c")).expect("copied");
    fs::write(scratch.path().join("sum2.loz"), SUM2).expect("written");
    scratch
}

#[test]
fn listings_are_what_is_printed() {
    let root = golden::root();
    let page = fs::read_to_string(root.join("README.md")).expect("the page is there");
    let scratch = scratch(&root);
    let (mut ran, mut wrong) = (0, Vec::new());
    let coq = Command::new("coqc").arg("--version").output().is_ok();
    for (_, lines) in blocks(&page) {
        let starts: Vec<usize> = (0..lines.len()).filter(|k| lines[*k].starts_with("$ lozenge ")).collect();
        for (k, start) in starts.iter().enumerate() {
            let command = &lines[*start]["$ ".len()..];
            if command.starts_with("lozenge prove") && !coq {
                println!("not run without Coq: {command}");
                continue;
            }
            let shown = &lines[start + 1..starts.get(k + 1).copied().unwrap_or(lines.len())];
            let text = printed(scratch.path(), command);
            ran += 1;
            if !fits(shown, &text.lines().collect::<Vec<_>>()) {
                wrong.push(format!("$ {command}\n{text}\n--- is shown as\n{}", shown.join("\n")));
            }
        }
    }
    assert!(ran >= 11, "{ran} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn shown_c_is_what_comes_out() {
    let root = golden::root();
    let page = fs::read_to_string(root.join("README.md")).expect("the page is there");
    let scratch = scratch(&root);
    let shown: Vec<String> = blocks(&page)
        .into_iter()
        .filter(|(word, _)| *word == "c")
        .map(|(_, lines)| lines.join("\n"))
        .collect();
    let [function, region] = shown.as_slice() else { panic!("{} pieces of C", shown.len()) };
    let c = printed(scratch.path(), "lozenge compile library/paper.loz --def dl_mul_dl --schedule none");
    // It is shown without its comment.
    let head = function.lines().next().expect("a line");
    let from = c.find(head).unwrap_or_else(|| panic!("no `{head}` in\n{c}"));
    assert_eq!(&c[from..], function, "README.md shows other C");
    assert!(fs::read_to_string(root.join("docs/images/heat.c")).expect("the file is there").contains(region));
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
