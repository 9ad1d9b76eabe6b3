//! The grammars are those that `grammar.js` says, read every file that the compiler reads, and their queries fit them.
//!
//! `BLESS=1 cargo test` writes generated files, and the expected trees of `test/corpus`; look at the differences.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use grammars::{GENERATED, LANGUAGES, complete, files, folder, generate, language, root};
use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator};

fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

/// Generates anew if that is asked for, so that the other tests look at what is there then.
fn loaded(name: &str) -> (Language, tempfile::TempDir) {
    static ONCE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONCE.lock().unwrap();
    complete(name).expect("node runs grammar.js");
    if blessing() {
        generate(name, &folder(name).join("src")).unwrap();
    }
    let library = tempfile::tempdir().unwrap();
    (language(name, library.path()).unwrap(), library)
}

fn parser(language: &Language) -> Parser {
    let mut parser = Parser::new();
    parser.set_language(language).unwrap();
    parser
}

#[test]
fn generated_files_are_those_of_the_grammar() {
    for name in LANGUAGES {
        drop(loaded(name));
        let fresh = tempfile::tempdir().unwrap();
        generate(name, fresh.path()).expect("node runs grammar.js");
        for file in GENERATED {
            let (have, want) = (folder(name).join("src").join(file), fresh.path().join(file));
            let (have, want) = (fs::read(have).unwrap_or_default(), fs::read(want).unwrap());
            assert!(
                have == want,
                "tree-sitter-{name}/src/{file} is not what grammar.js gives: BLESS=1 writes it"
            );
        }
    }
}

/// Whether the compiler finds no error of syntax in a file: it then can format it, and finds none in its strategies.
fn is_read(lozenge: &Path, file: &Path) -> bool {
    let run = |arguments: &[&str]| {
        let output = Command::new(lozenge).args(arguments).arg(file).stdin(Stdio::null()).output();
        output.expect("the compiler runs")
    };
    let formatted = run(&["fmt", "--check"]);
    if !matches!(formatted.status.code(), Some(0 | 3)) {
        return false;
    }
    let told = run(&["compile", "--emit", "functional"]);
    !String::from_utf8_lossy(&told.stderr).contains("error[S0101]")
}

fn compiler() -> PathBuf {
    let path = std::env::var_os("LOZENGE").map_or_else(|| root().join("target/debug/lozenge"), PathBuf::from);
    assert!(path.is_file(), "{} is not there: build it, or name one by LOZENGE", path.display());
    path
}

/// Where a tree has an error, as line and column from 1.
fn error(node: Node<'_>) -> Option<(usize, usize)> {
    if node.is_error() || node.is_missing() {
        let at = node.start_position();
        return Some((at.row + 1, at.column + 1));
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).find_map(error)
}

#[test]
fn what_the_compiler_reads_is_read() {
    let compiler = compiler();
    let mut wrong = String::new();
    for name in LANGUAGES {
        let (language, _library) = loaded(name);
        let mut parser = parser(&language);
        let mut read = 0;
        for place in ["library", "tests", "benches", "docs"] {
            for file in files(&root().join(place), name) {
                let text = fs::read(&file).unwrap();
                let tree = parser.parse(&text, None).expect("no time limit");
                // Where the compiler has errors of syntax, the tree may be anything.
                match error(tree.root_node()) {
                    Some((line, column)) if is_read(&compiler, &file) => {
                        let _ = writeln!(wrong, "{}:{line}:{column}", file.display());
                    }
                    Some(_) => {}
                    None => read += 1,
                }
            }
        }
        assert!(read > 20, "only {read} files of {name}");
    }
    assert!(wrong.is_empty(), "not read:\n{wrong}");
}

/// A grammar that read anything would be of no use.
#[test]
fn what_is_no_program_has_an_error() {
    for (name, text) in [
        ("loz", "def = 1"),
        ("loz", "def f (x: f32): f32 = x +"),
        ("loz", "def f [n] (xs: [n]f32 = xs"),
        ("loz", "strategy s = at 3 x"),
        ("loz", "rule r: map f xs"),
        ("loz", "rule r(k, n m): xs -> xs"),
        ("gsl", "rule r { y = Neg(x) }"),
        ("gsl", "rule r { match y = Neg(x replace y = x }"),
        ("gsl", "rule r { match y = Neg(x) z = Neg(y) replace z = x }"),
    ] {
        let (language, _library) = loaded(name);
        let tree = parser(&language).parse(text, None).unwrap();
        assert!(tree.root_node().has_error(), "{text}: {}", tree.root_node());
    }
}

#[test]
fn queries_fit_the_grammars() {
    for name in LANGUAGES {
        let (language, _library) = loaded(name);
        let queries = files(&folder(name).join("queries"), "scm");
        assert!(queries.len() >= 2);
        for file in queries {
            let text = fs::read_to_string(&file).unwrap();
            if let Err(e) = Query::new(&language, &text) {
                panic!("{}: {e}", file.display());
            }
        }
    }
}

/// The capture that decides for each piece of a text: the last one, as editors do it.
fn captures(name: &str, text: &str) -> Vec<(String, String)> {
    let (language, _library) = loaded(name);
    let query = fs::read_to_string(folder(name).join("queries/highlights.scm")).unwrap();
    let query = Query::new(&language, &query).unwrap();
    let tree = parser(&language).parse(text, None).unwrap();
    let mut found: Vec<(usize, usize, usize, String)> = Vec::new();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        for capture in one.captures {
            let name = query.capture_names()[capture.index as usize].to_owned();
            found.push((capture.node.start_byte(), capture.node.end_byte(), one.pattern_index, name));
        }
    }
    found.sort_by_key(|(start, end, pattern, _)| (*start, *end, *pattern));
    let mut decided: Vec<(usize, usize, String)> = Vec::new();
    for (start, end, _, name) in found {
        decided.retain(|(s, e, _)| (*s, *e) != (start, end));
        decided.push((start, end, name));
    }
    decided.into_iter().map(|(start, end, name)| (text[start..end].to_owned(), name)).collect()
}

fn has(captures: &[(String, String)], text: &str, name: &str) -> bool {
    captures.iter().any(|(t, n)| t == text && n == name)
}

#[test]
fn programs_are_coloured() {
    let text =
        "-- a\ndef f [n] (xs: [n]f32): f32 = reduceSeq (+) 0 xs |> g\nstrategy s = for f: try fuse(8)\nrule r(k): reassociate take k as -> bs\n";
    let found = captures("loz", text);
    for (text, name) in [
        ("-- a", "comment"),
        ("def", "keyword"),
        ("f", "function"),
        ("n", "constant"),
        ("xs", "variable.parameter"),
        ("f32", "type.builtin"),
        ("reduceSeq", "function.builtin"),
        ("0", "number"),
        ("g", "function.call"),
        ("try", "keyword"),
        ("fuse", "function.call"),
        ("rule", "keyword"),
        ("r", "function"),
        ("k", "constant"),
        ("take", "function.builtin"),
        ("|>", "operator"),
    ] {
        assert!(has(&found, text, name), "{text} is not {name}: {found:?}");
    }
}

#[test]
fn rules_are_coloured() {
    let text = "rule r(f: elementwise) {\n  match\n    y = com.microsoft.Gelu(f(x)) { axis: len(x.shape) }\n  where\n    x is parameter\n  replace\n    y = x\n}\n";
    let found = captures("gsl", text);
    for (text, name) in [
        ("rule", "keyword"),
        ("r", "function"),
        ("Gelu", "type"),
        ("axis", "property"),
        ("len", "function.builtin"),
        ("parameter", "type.builtin"),
        ("is", "keyword.operator"),
    ] {
        assert!(has(&found, text, name), "{text} is not {name}: {found:?}");
    }
}

/// A tree with one node a line, indented, with its fields.
fn tree_text(node: Node<'_>, field: Option<&str>, depth: usize, out: &mut String) {
    let _ = write!(out, "{}", "  ".repeat(depth));
    if let Some(field) = field {
        let _ = write!(out, "{field}: ");
    }
    let _ = write!(out, "({}", node.kind());
    let mut cursor = node.walk();
    if cursor.goto_first_child() {
        loop {
            if cursor.node().is_named() {
                out.push('\n');
                tree_text(cursor.node(), cursor.field_name(), depth + 1, out);
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    out.push(')');
}

/// `test/corpus` has the form of the tree-sitter command: a name between two lines of `=`, a text, a line `---`, and its tree.
#[test]
fn the_corpus_has_the_trees_that_it_says() {
    let line = "=".repeat(40) + "\n";
    for name in LANGUAGES {
        let (language, _library) = loaded(name);
        let mut parser = parser(&language);
        let corpus = files(&folder(name).join("test/corpus"), "txt");
        assert!(!corpus.is_empty());
        for file in corpus {
            let text = fs::read_to_string(&file).unwrap();
            let mut parts = text.split(&line).skip(1);
            let mut made = String::new();
            while let (Some(title), Some(rest)) = (parts.next(), parts.next()) {
                let (input, _) = rest.split_once("\n---\n").expect("a line --- stands before the tree");
                let tree = parser.parse(input, None).unwrap();
                let mut shown = String::new();
                tree_text(tree.root_node(), None, 0, &mut shown);
                assert!(!tree.root_node().has_error(), "{}: {title}{shown}", file.display());
                let _ = write!(made, "{line}{title}{line}{input}\n---\n\n{shown}\n\n");
            }
            let made = format!("{}\n", made.trim_end());
            if blessing() {
                fs::write(&file, &made).unwrap();
            }
            assert!(text == made || blessing(), "{} has other trees:\n{made}", file.display());
        }
    }
}
