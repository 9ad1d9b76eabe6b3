//! The rules that ship, `library/gsl/*.gsl`: they are laid out by the formatter and have no errors.

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/gsl")
}

#[test]
fn rules_that_ship_are_right() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 7);
    let mut wrong = String::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let (file, mut errors) = gsl::parse(&text);
        if errors.is_empty() {
            errors = gsl::compile(&file).err().unwrap_or_default();
        }
        for e in errors {
            let at = e.labels.first().map_or(0, |l| text[..l.span.start as usize].lines().count());
            wrong += &format!("{}:{at}: {} {:?}\n", path.display(), e.message, e.labels);
        }
        if wrong.is_empty() && file.to_string() != text {
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&path, file.to_string()).unwrap();
            } else {
                wrong += &format!("{}: the layout is not the formatter's\n", path.display());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
