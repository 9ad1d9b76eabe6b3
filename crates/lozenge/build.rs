//! Collects what the command carries with it: the pages of `docs/errors`, for
//! `lozenge explain CODE`, the theory in `proofs`, for `lozenge prove` (neither needs a file at run
//! time), and the commit, for `lozenge --version`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Name and path of every file with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<(String, PathBuf)> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<(String, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), fs::canonicalize(&path).ok()?)))
        .collect();
    files.sort();
    files
}

fn constant(doc: &str, name: &str, files: &[(String, PathBuf)]) -> String {
    let mut text = format!("/// {doc}\npub const {name}: &[(&str, &str)] = &[\n");
    for (key, path) in files {
        let _ = writeln!(text, "    ({key:?}, include_str!({path:?})),");
    }
    text.push_str("];\n");
    text
}

/// The commit that is built, in release builds: others would be built anew after each commit.
fn commit(root: &Path) -> Option<String> {
    if env::var_os("PROFILE").is_none_or(|profile| profile != "release") {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let log = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let pages = files(&root.join("../../docs/errors"), "md");
    let text = constant("Code and text of every page, in order of the codes.", "PAGES", &pages);
    fs::write(out.join("pages.rs"), text).expect("the output folder can be written");
    println!("cargo:rustc-env=LOZENGE_COMMIT={}", commit(&root).unwrap_or_default());
    let theory = files(&root.join("../../proofs"), "v");
    let text = constant("Name and text of every file of the theory.", "THEORY", &theory);
    fs::write(out.join("theory.rs"), text).expect("the output folder can be written");
}
