//! Data-driven tests: an input file, and beside it the text that is expected of it.
//!
//! Tests only: this crate is a dev-dependency of the rooms and reads and writes files, which they
//! never do. Not here: running programs, comparing numbers, or any knowledge of what the texts
//! mean.
//!
//! ```no_run
//! // For every tests/loops/print/*.loops: print it again and compare with the .out beside it.
//! golden::check("loops/print", "loops", "out", |case| case.input.to_uppercase());
//! ```
//!
//! `BLESS=1 cargo test` writes what came out as the new expectation; `GOLDEN=part` runs only files
//! whose path contains `part`. A missing expectation is a failure unless blessing, and so is a
//! folder without inputs.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// One input file.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file.
    pub path: PathBuf,
    /// Its name without the folder and the extension.
    pub name: String,
    /// Its text, with line ends as they are in the file.
    pub input: String,
}

/// Says that a test, or a part of it, is not run, and why: `skipped: REASON` on the standard error.
///
/// The line is seen although the test passes, because it does not go through what the test harness
/// captures.
pub fn skipped(reason: &str) {
    // A closed stream is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// The folder `tests/<area>` at the root of the repository.
pub fn folder(area: &str) -> PathBuf {
    root().join("tests").join(area)
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The inputs with this extension (without its dot) in `tests/<area>` and the folders below, in
/// order of their paths.
///
/// # Panics
/// If there is none, or if one can't be read.
pub fn cases(area: &str, extension: &str) -> Vec<Case> {
    let mut paths = Vec::new();
    collect(&folder(area), extension, &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no *.{extension} in {}", folder(area).display());
    let wanted = std::env::var("GOLDEN").unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().contains(&wanted));
    paths
        .into_iter()
        .map(|path| {
            let input = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Case { path, name, input }
        })
        .collect()
}

fn collect(folder: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, paths);
        } else if path.extension().is_some_and(|e| e == extension) {
            paths.push(path);
        }
    }
}

/// Runs `run` on every `tests/<area>/**/*.<extension>` and compares with the file of the same name
/// that ends in `expected`.
///
/// # Panics
/// If an output differs, an expectation is missing, `run` panics on a case, or there is no input.
/// All failures are told together.
pub fn check(area: &str, extension: &str, expected: &str, run: impl Fn(&Case) -> String) {
    let mut failures = String::new();
    for case in cases(area, extension) {
        let outcome = match catch_unwind(AssertUnwindSafe(|| run(&case))) {
            Ok(actual) => compare(&case.path.with_extension(expected), &actual),
            Err(_) => Err(format!("{}: panicked (its message is above)\n", case.path.display())),
        };
        if let Err(failure) = outcome {
            failures.push_str(&failure);
        }
    }
    assert!(failures.is_empty(), "\n{failures}\nBLESS=1 accepts what came out.");
}

/// Compares `actual` with the text of the file `expected`, or writes it there if `BLESS=1`.
///
/// # Errors
/// A readable difference, or that the file is missing.
pub fn compare(expected: &Path, actual: &str) -> Result<(), String> {
    let mut actual = actual.to_owned();
    if !actual.is_empty() && !actual.ends_with('\n') {
        actual.push('\n');
    }
    let old = fs::read_to_string(expected);
    if old.as_ref().is_ok_and(|old| *old == actual) {
        return Ok(());
    }
    let shown = expected.strip_prefix(root()).unwrap_or(expected).display().to_string();
    if std::env::var("BLESS").is_ok_and(|v| v == "1") {
        return fs::write(expected, &actual).map_err(|e| format!("{shown}: {e}\n"));
    }
    match old {
        Ok(old) => Err(format!("{shown}: differs (- expected, + came out)\n{}", diff(&old, &actual))),
        Err(error) => Err(format!("{shown}: no expectation ({error}); came out:\n{actual}")),
    }
}

/// The difference of two texts line by line: `-` only in `old`, `+` only in `new`, with two lines
/// of context.
pub fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (middle_old, middle_new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut lines: Vec<(char, &str)> = Vec::new();
    lines.extend(old[..head].iter().map(|l| (' ', *l)));
    // The table of common subsequences is quadratic: beyond a bound everything in the middle counts
    // as changed.
    if middle_old.len().saturating_mul(middle_new.len()) <= 4_000_000 {
        common_subsequence(middle_old, middle_new, &mut lines);
    } else {
        lines.extend(middle_old.iter().map(|l| ('-', *l)));
        lines.extend(middle_new.iter().map(|l| ('+', *l)));
    }
    lines.extend(old[old.len() - tail..].iter().map(|l| (' ', *l)));
    let changed: Vec<usize> = (0..lines.len()).filter(|&k| lines[k].0 != ' ').collect();
    let mut text = String::new();
    let mut last = None;
    for (k, (sign, line)) in lines.iter().enumerate() {
        let place = changed.partition_point(|&c| c + 2 < k);
        if changed.get(place).is_none_or(|&c| c > k + 2) {
            continue;
        }
        if last.is_some_and(|l| l + 1 != k) || (last.is_none() && k > 0) {
            text.push_str("  ...\n");
        }
        last = Some(k);
        let _ = writeln!(text, "{sign} {line}");
    }
    text
}

fn common_subsequence<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<(char, &'a str)>) {
    let width = new.len() + 1;
    let mut length = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            length[i * width + j] = if old[i] == new[j] {
                length[(i + 1) * width + j + 1] + 1
            } else {
                length[(i + 1) * width + j].max(length[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || (i < old.len() && length[(i + 1) * width + j] >= length[i * width + j + 1])
        {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diff_shows_changes_with_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\n";
        let new = "a\nb\nc\nd\nX\nf\ng\nh\n";
        assert_eq!(diff(old, new), "  ...\n  c\n  d\n- e\n+ X\n  f\n  g\n+ h\n");
        assert_eq!(diff(old, old), "");
    }

    #[test]
    fn compare_reports_what_is_missing_and_what_differs() {
        let missing = folder("golden").join("no-such-file");
        if std::env::var("BLESS").is_err() {
            assert!(compare(&missing, "x").unwrap_err().contains("no expectation"));
            let differs = compare(&root().join("rustfmt.toml"), "max_width = 1\n").unwrap_err();
            assert!(differs.contains("+ max_width = 1"), "{differs}");
        }
    }
}
