//! Substitution rules: those that ship, built into the command, and those of files.

use std::path::PathBuf;

use gsl::soundness::{Effort, Verdict, check, prove};
use gsl::{Compiled, Rule, RuleFile, RuleSet};
use loops::suggest::nearest;
use loops::{Code, Diagnostic};

use crate::failure::{Failure, Source};
use crate::files::{find, read_source};

/// The rules that ship and are applied by default, in this order; those of the last file when none
/// of the others applies any more, since what has been put side by side is not seen by rules about
/// single calls. `lower.gsl` is for those who want less: it takes operators apart.
pub(crate) const SHIPPED: [(&str, &str); 6] = [
    ("library/gsl/layout.gsl", include_str!("../../../library/gsl/layout.gsl")),
    ("library/gsl/arithmetic.gsl", include_str!("../../../library/gsl/arithmetic.gsl")),
    ("library/gsl/convolution.gsl", include_str!("../../../library/gsl/convolution.gsl")),
    ("library/gsl/products.gsl", include_str!("../../../library/gsl/products.gsl")),
    ("library/gsl/recognise.gsl", include_str!("../../../library/gsl/recognise.gsl")),
    ("library/gsl/parallel.gsl", include_str!("../../../library/gsl/parallel.gsl")),
];

/// The file whose rules come last.
const LATE: &str = "parallel.gsl";

/// The rules of these files and folders, or those that ship if there are none; only those with
/// these names if there are names.
///
/// # Errors
/// What is wrong with the first file that has errors; `X0901` if a name is not that of a rule,
/// `X0902` if two files have a rule of one name.
pub fn load(paths: &[PathBuf], names: &[String]) -> Result<RuleSet, Failure> {
    let mut sets: Vec<Vec<Compiled>> = vec![Vec::new()];
    for source in &sources(paths)? {
        if paths.is_empty() && source.path.ends_with(LATE) {
            sets.push(Vec::new());
        }
        for rule in compile(source)? {
            if sets.iter().flatten().any(|r| r.name == rule.name) {
                return Err(Failure::refused(
                    "X0902",
                    format!("{}: there is a rule `{}` already", source.path, rule.name),
                )
                .help("rules of one run have different names"));
            }
            if let Some(set) = sets.last_mut() {
                set.push(rule);
            }
        }
    }
    all_known(names, sets.iter().flatten().map(|r| r.name.as_str()))?;
    let rules = RuleSet::in_order(sets);
    Ok(if names.is_empty() { rules } else { rules.only(|name| names.iter().any(|n| n == name)) })
}

/// The texts of these files and folders, or of the rules that ship if there are none.
///
/// # Errors
/// Files that can't be read.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    if paths.is_empty() {
        let shipped = SHIPPED.iter();
        return Ok(shipped
            .map(|(path, text)| Source { path: (*path).into(), text: (*text).into() })
            .collect());
    }
    let mut sources = Vec::new();
    for path in paths {
        for file in find(path, &["gsl"])? {
            sources.push(read_source(&file)?);
        }
    }
    Ok(sources)
}

/// Looks for names that are not those of rules.
///
/// # Errors
/// `X0901` for the first.
pub fn all_known<'a>(names: &[String], rules: impl Iterator<Item = &'a str> + Clone) -> Result<(), Failure> {
    let Some(unknown) = names.iter().find(|n| !rules.clone().any(|r| r == **n)) else { return Ok(()) };
    let known: Vec<&str> = rules.collect();
    let diagnostic = Diagnostic::general(Code("X0901"), format!("there is no rule `{unknown}`"));
    Err(Failure::from(match nearest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.note(format!("the rules are {}", known.join(", "))),
    }))
}

/// The rules of one text, ready to be applied.
///
/// # Errors
/// What is wrong with it.
pub fn compile(source: &Source) -> Result<Vec<Compiled>, Failure> {
    parsed(source).map(|(_, compiled)| compiled)
}

/// The rules of one text as they are written; they have no errors.
///
/// # Errors
/// What is wrong with it.
pub fn parse(source: &Source) -> Result<Vec<Rule>, Failure> {
    parsed(source).map(|(file, _)| file.rules)
}

fn parsed(source: &Source) -> Result<(RuleFile, Vec<Compiled>), Failure> {
    let (file, errors) = gsl::parse(&source.text);
    if !errors.is_empty() {
        return Err(Failure::in_source(source, errors));
    }
    let compiled = gsl::compile(&file).map_err(|errors| Failure::in_source(source, errors))?;
    Ok((file, compiled))
}

/// Refuses rules of these files that change what models compute. Returns what is to be said of
/// those of which nothing is known.
///
/// # Errors
/// `X0905` for the first that has a counterexample.
pub(crate) fn refuse_unsound(paths: &[PathBuf], names: &[String]) -> Result<Vec<String>, Failure> {
    const EFFORT: Effort = Effort { instances: 32, draws: 4000, seed: 1, prove: false };
    let mut notes = Vec::new();
    for source in &sources(paths)? {
        for rule in parse(source)?.iter().filter(|r| names.is_empty() || names.contains(&r.name)) {
            match check(rule, EFFORT) {
                Ok(Verdict::Counterexample(found)) => {
                    return Err(Failure::refused(
                        "X0905",
                        format!(
                            "{}: the rule `{}` changes what models compute: {}",
                            source.path, rule.name, found.difference
                        ),
                    )
                    .help(format!(
                        "`lozenge check-rules {} --rule {}` shows the model",
                        source.path, rule.name
                    ))
                    .help("`--unchecked` applies the rule all the same"));
                }
                Ok(Verdict::Untested { .. }) => {
                    if let Err(why) = prove(rule) {
                        notes.push(format!(
                            "{}: the rule `{}` is applied unchecked: no model was drawn to which it applies, and there is no proof ({why})",
                            source.path, rule.name
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(notes)
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
