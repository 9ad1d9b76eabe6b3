//! The tree-sitter grammars beside this folder: generated, compiled and loaded, for the tests here.

use std::fs;
use std::path::{Path, PathBuf};

use tree_sitter::Language;
use tree_sitter_generate::{OptLevel, generate_parser_in_directory};
use tree_sitter_loader::{CompileConfig, Loader};

/// The languages that have a grammar.
pub const LANGUAGES: [&str; 2] = ["loz", "gsl"];

/// What is generated from `grammar.js` and committed.
pub const GENERATED: [&str; 3] = ["grammar.json", "node-types.json", "parser.c"];

/// The generator's own header, which parsers include: it is written where it is missing, and not committed.
const HEADER: &str = "tree_sitter/parser.h";

/// The version of the interface that parsers have: one that editors with a tree-sitter before 0.25 know, too.
const ABI: usize = 14;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder of a grammar.
pub fn folder(language: &str) -> PathBuf {
    root().join(format!("editors/tree-sitter-{language}"))
}

/// Generates the parser of a grammar into a folder, without headers that no parser here includes. This needs `node`, which runs `grammar.js`.
///
/// # Errors
/// What is wrong with the grammar.
pub fn generate(language: &str, into: &Path) -> Result<(), String> {
    let all = tempfile::tempdir().map_err(|e| e.to_string())?;
    let grammar = folder(language).join("grammar.js");
    generate_parser_in_directory(
        folder(language),
        Some(all.path().to_path_buf()),
        Some(grammar),
        ABI,
        None,
        None,
        true,
        OptLevel::default(),
    )
    .map_err(|e| e.to_string())?;
    fs::create_dir_all(into.join("tree_sitter")).map_err(|e| e.to_string())?;
    for file in GENERATED.into_iter().chain([HEADER]) {
        fs::copy(all.path().join(file), into.join(file)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Writes the generator's header beside a committed parser, if it is missing.
///
/// # Errors
/// As [`generate`].
pub fn complete(language: &str) -> Result<(), String> {
    let header = folder(language).join("src").join(HEADER);
    if header.exists() {
        return Ok(());
    }
    let fresh = tempfile::tempdir().map_err(|e| e.to_string())?;
    generate(language, fresh.path())?;
    fs::create_dir_all(header.parent().unwrap_or(&header)).map_err(|e| e.to_string())?;
    fs::copy(fresh.path().join(HEADER), header).map(drop).map_err(|e| e.to_string())
}

/// Compiles and loads the parser of a grammar from the files that are committed; `library` is a folder for what is built.
///
/// # Errors
/// What the C compiler or the loader says.
pub fn language(language: &str, library: &Path) -> Result<Language, String> {
    let source = folder(language).join("src");
    let loader = Loader::with_parser_lib_path(library.to_path_buf());
    loader.load_language_at_path(CompileConfig::new(&source, None, None)).map_err(|e| e.to_string())
}

/// The files with this extension below a folder, in order.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
