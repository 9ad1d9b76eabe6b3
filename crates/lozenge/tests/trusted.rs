//! docs/trusted.md names every module that rewrites or prints programs. A new module must say what
//! checks its result.

use std::collections::BTreeSet;
use std::fs;

/// The folders whose modules are on the page.
const FOLDERS: [&str; 9] = [
    "crates/loops/src",
    "crates/passes/src",
    "crates/polyhedral/src/transform",
    "crates/polyhedral/src/athread",
    "crates/polyhedral/src/ranks",
    "crates/targets/src",
    "crates/targets/src/openmp",
    "crates/targets/src/athread",
    "crates/graph/src/plan",
];

#[test]
fn every_pass_is_on_the_page() {
    let root = golden::root();
    let page = fs::read_to_string(root.join("docs/trusted.md")).expect("the page is there");
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        let mut modules = BTreeSet::new();
        for entry in fs::read_dir(root.join(folder)).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.is_dir()
                || path.extension().is_some_and(|e| e == "rs") && !["lib", "mod"].contains(&&*name)
            {
                modules.insert(name);
            }
        }
        let Some((_, list)) = page.split_once(&format!("\n`{folder}`\n\n")) else {
            wrong.push(format!("no list for `{folder}`"));
            continue;
        };
        // The modules of an item stand in lines of their own, below what looks at them.
        let lines = list.lines().take_while(|line| line.starts_with(['-', ' ']));
        let mut told = BTreeSet::new();
        for name in lines.filter(|line| line.starts_with("  `")).flat_map(|line| line.split(',')) {
            let name = name.trim().trim_matches('`').to_owned();
            if !name.is_empty() && !told.insert(name.clone()) {
                wrong.push(format!("`{folder}`: `{name}` is there twice"));
            }
        }
        wrong
            .extend(modules.difference(&told).map(|name| format!("`{folder}`: `{name}` is not on the page")));
        wrong.extend(told.difference(&modules).map(|name| format!("`{folder}`: there is no `{name}`")));
    }
    assert!(wrong.is_empty(), "docs/trusted.md: what looks at the results of these?\n{}", wrong.join("\n"));
}
