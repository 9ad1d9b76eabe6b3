//! The documents as a book: the index names every page, every link leads somewhere, lines are
//! short. Source files have names by which they are found.
//!
//! From `# Decisions` on, `docs/SUMMARY.md` is made by this test; `BLESS=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The most columns of a line of a page, and of a comment.
const COLUMNS: usize = 100;

/// Pages with generated tables, whose rows are as long as what they show.
const WIDE_TABLES: [&str; 5] =
    ["docs/c-nests.md", "docs/language.md", "docs/operators.md", "docs/real-models.md", "docs/rules.md"];

/// Pages with a greatest number of lines.
const SHORT: [(&str, usize); 2] = [("README.md", 200), ("CHANGELOG.md", 150)];

/// The pages below a folder, as paths from it, in order.
fn pages(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, "", &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else if name.ends_with(".md") {
            found.push(name);
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The text of a page without fenced blocks and without code in lines, so that only prose is left.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            for (k, piece) in line.split('`').enumerate() {
                // What is between two backticks keeps its place, so that `[`name`](page)` is still
                // a link.
                out.push_str(if k % 2 == 0 { piece } else { "code" });
            }
        }
        out.push('\n');
    }
    out
}

/// The targets of links and pictures of a page.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let ends = |from: &str, end: char| from.split(end).next().unwrap_or_default().trim().to_owned();
    let inline = text.split("](").skip(1).map(|rest| ends(rest, ')'));
    let pictures = text.split("src=\"").skip(1).map(|rest| ends(rest, '"'));
    inline.chain(pictures).collect()
}

/// What a heading is called in a link, as GitHub and mdBook have it.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if line.starts_with('#') && !fenced {
            found.insert(slug(line.trim_start_matches('#').trim()));
        }
    }
    found
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut all, part| {
        match part {
            Component::ParentDir => _ = all.pop(),
            Component::CurDir => {}
            part => all.push(part),
        }
        all
    })
}

#[test]
fn every_link_leads_somewhere() {
    let root = golden::root();
    let docs = pages(&root.join("docs")).into_iter().map(|page| format!("docs/{page}"));
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
    let (mut seen, mut wrong) = (0, String::new());
    for page in docs.chain(top.map(str::to_owned)) {
        let path = root.join(&page);
        for link in links(&read(&path)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = path.parent().expect("a folder");
            let target = if file.is_empty() { path.clone() } else { plain(&folder.join(file)) };
            if !target.exists() {
                let _ = writeln!(wrong, "{page}: {link}: there is no such file");
            } else if !anchor.is_empty() && !anchors(&read(&target)).contains(anchor) {
                let _ = writeln!(wrong, "{page}: {link}: there is no such heading");
            }
        }
    }
    assert!(seen > 100, "{seen} links");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Paths in pages for developers: what is between backticks and begins with a folder of the
/// repository.
#[test]
fn files_that_are_named_are_there() {
    let root = golden::root();
    let folders = ["crates/", "library/", "tests/", "docs/", "benches/", "runtime/", "proofs/", "editors/"];
    let (mut seen, mut wrong) = (0, String::new());
    for page in ["CONTRIBUTING.md", "ARCHITECTURE.md", "README.md"] {
        for name in read(&root.join(page)).split('`').skip(1).step_by(2) {
            let path =
                folders.iter().any(|folder| name.starts_with(folder)) && !name.contains([' ', '*', '{']);
            // Words in capitals stand for names.
            let stands_for =
                name.split('/').any(|part| part.chars().filter(char::is_ascii_uppercase).count() > 2);
            if path && !stands_for {
                seen += 1;
                if !root.join(name).exists() {
                    let _ = writeln!(wrong, "{page}: {name}: there is no such file");
                }
            }
        }
    }
    assert!(seen > 30, "{seen} paths");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The names of the source files of a folder and those below it, without the roots of modules.
fn source_names(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            source_names(&entry.path(), found);
        } else if name.ends_with(".rs") && !["lib.rs", "main.rs", "mod.rs"].contains(&&*name) {
            found.push(name);
        }
    }
}

/// The name of a file says what is inside, so that it can be found by its name.
#[test]
fn few_files_of_a_crate_have_the_same_name() {
    let crates = golden::root().join("crates");
    let (mut seen, mut wrong) = (0, String::new());
    for entry in fs::read_dir(&crates).expect("the crates are there").flatten() {
        let mut names = Vec::new();
        source_names(&entry.path().join("src"), &mut names);
        names.sort();
        seen += names.len();
        let twice: Vec<&String> =
            names.chunk_by(|a, b| a == b).filter(|g| g.len() > 1).map(|g| &g[0]).collect();
        if twice.len() > 12 {
            let name = entry.file_name();
            let _ = writeln!(wrong, "{}: {} names occur twice: {twice:?}", name.display(), twice.len());
        }
    }
    assert!(seen > 500, "{seen} files");
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_index_names_every_page() {
    let docs = golden::root().join("docs");
    let path = docs.join("SUMMARY.md");
    let old = read(&path);
    let (head, _) = old.split_once("# Decisions\n").expect("the index has a part for decisions");
    let all = pages(&docs);
    let title = |page: &str| {
        let text = read(&docs.join(page));
        text.lines().next().unwrap_or_default().trim_start_matches("# ").replace(['`', '[', ']'], "")
    };
    let below =
        |folder: &str| -> Vec<&String> { all.iter().filter(|page| page.starts_with(folder)).collect() };
    let mut new = format!("{head}# Decisions\n\n- [Decisions](decisions/README.md)\n");
    for page in below("decisions/").into_iter().filter(|page| !page.ends_with("README.md")) {
        let _ = writeln!(new, "  - [{}]({page})", title(page));
    }
    new.push_str("\n# Error codes\n\n");
    // Folded by the letter of the code, under chapters without a page.
    let code = |page: &str| page["errors/".len()..].trim_end_matches(".md").to_owned();
    for group in below("errors/").chunk_by(|a, b| code(a).get(..1) == code(b).get(..1)) {
        let (first, last) = (code(group[0]), code(group[group.len() - 1]));
        let _ = writeln!(new, "- [{first} to {last}]()");
        for page in group {
            let _ = writeln!(new, "  - [{}]({page})", title(page));
        }
    }
    golden::compare(&path, &new).unwrap_or_else(|difference| panic!("\n{difference}\nBLESS=1 accepts it."));
    let named: Vec<String> = links(&new).into_iter().filter(|link| !link.is_empty()).collect();
    let missing: Vec<&String> =
        all.iter().filter(|page| *page != "SUMMARY.md" && !named.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
    let twice: BTreeSet<&String> = named.iter().collect();
    assert_eq!(twice.len(), named.len(), "docs/SUMMARY.md names a page twice");
}

/// Whether a line is nothing but a link, which can't be broken.
fn is_link(line: &str) -> bool {
    let item = line.trim_start().trim_start_matches(|c: char| "-. ".contains(c) || c.is_ascii_digit());
    item.starts_with('[') && item.ends_with(')') && item.matches("](").count() == 1
}

/// Lines of a page that are too long. What is in a fence is code, or what a command prints.
fn too_long<'a>(page: &str, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let wide = WIDE_TABLES.contains(&page) || page.starts_with("docs/performance/");
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        fenced ^= line.trim_start().starts_with("```");
        let exempt = fenced || is_link(line) || (wide && line.starts_with('|'));
        line.chars().count() > COLUMNS && !exempt
    })
}

#[test]
fn lines_are_short() {
    let root = golden::root();
    let mut wrong = String::new();
    let docs = pages(&root.join("docs")).into_iter().map(|page| format!("docs/{page}"));
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "runtime/athread/README.md",
        "tests/c/kernels/README.md",
        "editors/tree-sitter-loz/README.md",
    ];
    for page in docs.chain(others.map(str::to_owned)) {
        for (k, line) in too_long(&page, &read(&root.join(&page))) {
            let _ = writeln!(wrong, "{page}:{}: {} columns", k + 1, line.chars().count());
        }
    }
    for (page, most) in SHORT {
        let lines = read(&root.join(page)).lines().count();
        if lines > most {
            let _ = writeln!(wrong, "{page}: {lines} lines of at most {most}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The Rust files of a folder and those below it.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Comments whose lines are too long, by the number of the line. Examples are code, rows of tables
/// can't be broken, and what stands in a string is no comment.
fn long_comments(text: &str) -> Vec<usize> {
    let (mut found, mut fenced, mut quoted) = (Vec::new(), false, None::<String>);
    for (k, line) in text.lines().enumerate() {
        if let Some(end) = &quoted {
            quoted = (!line.contains(end.as_str())).then(|| end.clone());
            continue;
        }
        let trimmed = line.trim_start();
        if !trimmed.starts_with("//") {
            // A string of several lines.
            if let Some((_, rest)) = line.split_once("r#\"") {
                quoted = (!rest.contains("\"#")).then(|| "\"#".to_owned());
            }
            continue;
        }
        let said = trimmed.trim_start_matches(['/', '!']).trim_start();
        fenced ^= said.starts_with("```");
        if line.chars().count() > COLUMNS && !fenced && !said.starts_with('|') {
            found.push(k + 1);
        }
    }
    found
}

#[test]
fn comments_are_short() {
    let mut files = Vec::new();
    rust_files(&golden::root().join("crates"), &mut files);
    let mut wrong = String::new();
    for file in &files {
        for line in long_comments(&read(file)) {
            let _ = writeln!(wrong, "{}:{line}", file.display());
        }
    }
    assert!(files.len() > 800, "{} files", files.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn long_lines_are_found() {
    let long = "word ".repeat(25);
    assert_eq!(too_long("docs/a.md", &format!("a\n{long}\n```\n{long}\n```\n- [{long}](b)")).count(), 1);
    assert_eq!(too_long("docs/a.md", &format!("| {long} |")).count(), 1);
    assert_eq!(too_long("docs/rules.md", &format!("| {long} |")).count(), 0);
    let code =
        format!("// {long}\nlet a = r#\"\n// {long}\n\"#;\n/// ```\n/// {long}\n/// ```\n//! {long}\n");
    assert_eq!(long_comments(&code), [1, 8]);
}

/// The commands of `./x bench --all`, which `benches/tables.py --list` prints, are a listing of the
/// page that explains them.
#[test]
fn performance_names_the_commands_of_its_tables() {
    let root = golden::root();
    let list = Command::new("python3").arg(root.join("benches/tables.py")).arg("--list").output();
    let list = list.expect("python3 is there");
    assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let listing = format!("```sh\n{}```\n", String::from_utf8_lossy(&list.stdout));
    assert!(listing.lines().count() > 10, "{listing}");
    let page = read(&root.join("docs/performance.md"));
    assert!(page.contains(&listing), "docs/performance.md lacks this listing:\n{listing}");
}

#[test]
fn links_are_found() {
    let page =
        "# A `b` c\n[x](y.md#z) and `[no](no)` ![p](q.svg)\n```\n[no](no)\n# no\n```\n<img src=\"r.svg\">\n";
    assert_eq!(links(page), ["y.md#z", "q.svg", "r.svg"]);
    assert_eq!(anchors(page), BTreeSet::from(["a-b-c".to_owned()]));
    assert_eq!(plain(Path::new("a/b/../c/./d")), Path::new("a/c/d"));
}

/// Where pages say how many definitions the library has.
const COUNTED: [(&str, &str); 7] = [
    ("README.md", "accepts all {} definitions of the library"),
    ("CHANGELOG.md", "A library of {} definitions"),
    ("CHANGELOG.md", "All {} definitions of the library"),
    ("docs/certificates.md", "All {} definitions of `library/`"),
    ("docs/trusted.md", "the library's {} definitions"),
    ("docs/verification.md", "the library's {} definitions"),
    ("docs/performance.md", "The library has {} definitions now"),
];

/// Pages say how many definitions of the library have a verdict.
#[test]
fn the_library_is_counted() {
    let verdicts = read(&golden::root().join("tests/prove/library.txt"));
    // Two files of the tests are among them.
    let own = |line: &&str| !line.starts_with("pieces.loz ") && !line.starts_with("sums.loz ");
    let count = verdicts.lines().filter(own).count();
    for (page, said) in COUNTED {
        let words: Vec<String> =
            read(&golden::root().join(page)).split_whitespace().map(str::to_owned).collect();
        let said = said.replace("{}", &count.to_string());
        assert!(words.join(" ").contains(&said), "{page} does not say `{said}`");
    }
}
