//! The rules that ship, `library/gsl/*.gsl`: they are laid out by the formatter and have no errors,
//! and `tests/gsl/shipped` shows for each where it applies, and where it does not for want of one
//! of its conditions.

use std::path::{Path, PathBuf};

use graph::Model;
use gsl::rule::Clause;
use gsl::soundness::examples;
use gsl::{Options, Rule, RuleSet};

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

/// Models drawn for each question.
const DRAWS: usize = 4000;

/// Among so many models that are found, the shortest is shown.
const CHOICE: usize = 12;

/// Whether a rule applies to a model.
fn applies(set: &RuleSet, model: &Model) -> bool {
    let options = Options { ignore_cost: true, limit: Some(1), ..Options::default() };
    gsl::optimize(&mut model.clone(), set, &options, |_, _| ()).unwrap().applied > 0
}

fn shortest(found: impl Iterator<Item = (Model, Model)>) -> Option<(String, String)> {
    let texts = found.take(CHOICE).map(|(before, after)| (before.graph.to_string(), after.graph.to_string()));
    texts.min_by_key(|(before, _)| before.len())
}

/// The rule without one of its conditions, if that means something, and the condition.
fn without(rule: &Rule, condition: usize) -> Option<(Rule, String)> {
    let mut weaker = rule.clone();
    let Clause::Require(gone) = weaker.conditions.remove(condition).value else { return None };
    gsl::compile_rule(&weaker).is_ok().then(|| (weaker, gone.to_string()))
}

#[test]
fn each_rule_applies_where_it_should_and_nowhere_else() {
    let mut refused = 0;
    for name in ["layout", "arithmetic", "convolution", "products", "recognise", "parallel", "lower"] {
        let text = std::fs::read_to_string(folder().join(format!("{name}.gsl"))).unwrap();
        let (file, _) = gsl::parse(&text);
        let mut out = String::new();
        for rule in &file.rules {
            let set = RuleSet::new(vec![gsl::compile_rule(rule).unwrap()]);
            let (before, after) = shortest(examples(rule, DRAWS, 1).unwrap())
                .unwrap_or_else(|| panic!("{} applies to no model that was drawn", rule.name));
            out += &format!("# {} applies to\n{before}\n# and makes of it\n{after}\n", rule.name);
            for k in 0..rule.conditions.len() {
                let Some((weaker, condition)) = without(rule, k) else { continue };
                let near = examples(&weaker, DRAWS, 1).unwrap().filter(|(before, _)| !applies(&set, before));
                if let Some((before, _)) = shortest(near) {
                    refused += 1;
                    out += &format!("# but only because of `{condition}` not to\n{before}\n");
                }
            }
            out.push('\n');
        }
        let golden = golden::root().join("tests/gsl/shipped").join(format!("{name}.out"));
        golden::compare(&golden, &out).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(refused >= 40, "{refused} models are refused for one condition: the test says little");
}
