//! The pages of `docs/errors`, one for each code of a diagnostic, built into the command.

use crate::carried::PAGES;

/// Code and text of every page, in order of the codes.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|(name, text)| (name.trim_end_matches(".md"), text.as_str()))
}

/// The page of a code, in any case of its letters.
pub fn page(code: &str) -> Option<&'static str> {
    all().find(|(name, _)| name.eq_ignore_ascii_case(code)).map(|(_, text)| text)
}

/// The first line of a page without its mark: `X0001: a file cannot be read`.
pub fn title(page: &str) -> &str {
    page.lines().next().unwrap_or_default().trim_start_matches('#').trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The codes that stand in string literals of a source folder: a letter that stands for a crate
    /// and four digits.
    fn codes_in(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                codes_in(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let text = text.split("#[cfg(test)]").next().unwrap_or_default();
                for piece in text.split('"') {
                    let mut chars = piece.chars();
                    let letter = chars.next().is_some_and(|c| "FSDLCPRTX".contains(c));
                    if letter && piece.len() == 5 && chars.all(|c| c.is_ascii_digit()) {
                        found.push((piece.to_owned(), path.display().to_string()));
                    }
                }
            }
        }
    }

    #[test]
    fn every_code_in_the_sources_has_a_page() {
        let mut found = Vec::new();
        codes_in(&golden::root().join("crates"), &mut found);
        assert!(found.len() > 10, "the search for codes is broken");
        let missing: Vec<_> = found.iter().filter(|(code, _)| page(code).is_none()).collect();
        assert!(missing.is_empty(), "codes without a page in docs/errors: {missing:?}");
    }

    #[test]
    fn every_page_begins_with_its_code() {
        for (code, text) in all() {
            assert!(title(text).starts_with(&format!("{code}: ")), "docs/errors/{code}.md");
        }
    }
}
