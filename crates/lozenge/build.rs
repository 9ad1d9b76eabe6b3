//! Collects the pages of `docs/errors` so that `lozenge explain CODE` needs no file at run time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = root.join("../../docs/errors");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut pages: Vec<(String, PathBuf)> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), fs::canonicalize(&path).ok()?)))
        .collect();
    pages.sort();
    let mut text = String::from(
        "/// Code and text of every page, in order of the codes.\npub const PAGES: &[(&str, &str)] = &[\n",
    );
    for (code, path) in &pages {
        let _ = writeln!(text, "    ({code:?}, include_str!({path:?})),");
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(Path::new(&out).join("pages.rs"), text).expect("the output folder can be written");
}
