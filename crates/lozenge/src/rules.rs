//! Substitution rules: those that ship, built into the command, and those of files.

use std::path::PathBuf;

use gsl::{Compiled, RuleSet};
use loops::{Code, Diagnostic};

use crate::failure::{Failure, Source};
use crate::files::{find, read_source};

/// The rules that ship and are applied by default, in this order. `lower.gsl` is for those who want less: it takes operators apart.
pub const SHIPPED: [(&str, &str); 6] = [
    ("library/gsl/layout.gsl", include_str!("../../../library/gsl/layout.gsl")),
    ("library/gsl/arithmetic.gsl", include_str!("../../../library/gsl/arithmetic.gsl")),
    ("library/gsl/convolution.gsl", include_str!("../../../library/gsl/convolution.gsl")),
    ("library/gsl/products.gsl", include_str!("../../../library/gsl/products.gsl")),
    ("library/gsl/recognise.gsl", include_str!("../../../library/gsl/recognise.gsl")),
    ("library/gsl/parallel.gsl", include_str!("../../../library/gsl/parallel.gsl")),
];

/// The rules of these files and folders, or those that ship if there are none; only those with these names if there are names.
///
/// # Errors
/// What is wrong with the first file that has errors; `X0901` if a name is not that of a rule, `X0902` if two files have a rule of one name.
pub fn load(paths: &[PathBuf], names: &[String]) -> Result<RuleSet, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        for file in find(path, &["gsl"])? {
            sources.push(read_source(&file)?);
        }
    }
    if paths.is_empty() {
        sources
            .extend(SHIPPED.iter().map(|(path, text)| Source { path: (*path).into(), text: (*text).into() }));
    }
    let mut all: Vec<Compiled> = Vec::new();
    for source in &sources {
        for rule in compile(source)? {
            if all.iter().any(|r| r.name == rule.name) {
                return Err(Failure::refused(
                    "X0902",
                    format!("{}: there is a rule `{}` already", source.path, rule.name),
                )
                .help("rules of one run have different names"));
            }
            all.push(rule);
        }
    }
    if let Some(unknown) = names.iter().find(|n| !all.iter().any(|r| r.name == **n)) {
        let known: Vec<&str> = all.iter().map(|r| r.name.as_str()).collect();
        return Err(Failure::from(
            Diagnostic::general(Code("X0901"), format!("there is no rule `{unknown}`"))
                .note(format!("the rules are {}", known.join(", "))),
        ));
    }
    let rules = RuleSet::new(all);
    Ok(if names.is_empty() { rules } else { rules.only(|name| names.iter().any(|n| n == name)) })
}

/// The rules of one text.
///
/// # Errors
/// What is wrong with it.
pub fn compile(source: &Source) -> Result<Vec<Compiled>, Failure> {
    let (file, errors) = gsl::parse(&source.text);
    if !errors.is_empty() {
        return Err(Failure::in_source(source, errors));
    }
    gsl::compile(&file).map_err(|errors| Failure::in_source(source, errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shipped_files_are_built_in() {
        let mut files: Vec<String> = find(&golden::root().join("library/gsl"), &["gsl"])
            .expect("the library is there")
            .iter()
            .map(|p| format!("library/gsl/{}", p.file_name().unwrap_or_default().to_string_lossy()))
            .filter(|p| p != "library/gsl/lower.gsl")
            .collect();
        let mut shipped: Vec<String> = SHIPPED.iter().map(|(p, _)| (*p).to_owned()).collect();
        files.sort();
        shipped.sort();
        assert_eq!(files, shipped);
        assert!(load(&[], &[]).is_ok_and(|r| r.len() > 30));
    }
}
