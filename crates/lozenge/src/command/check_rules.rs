//! `lozenge check-rules`: whether rules are sound, rule by rule: substitution rules of models, and
//! rewrite rules of functional programs.
//!
//! Not here: how a rule is checked (`gsl::soundness`, `functional::rewrite::defined::trial`).

use std::path::{Path, PathBuf};

use gsl::Rule;
use gsl::soundness::{Counterexample, Effort, Verdict, check};
use serde_json::{Value, json};

use super::check_defined;
use crate::cli::CheckRules;
use crate::failure::{Failure, FailureKind};
use crate::files::{find, reason, write_whole};
use crate::progress::Bar;
use crate::{npy, report, rules};

/// What is known of a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Checked,
    Bounded,
    Counterexample,
    Untested,
}

/// A line of the report.
pub(super) struct Row {
    pub name: String,
    pub known: Known,
    /// The verdict in words.
    pub words: String,
    /// What follows the line.
    pub details: String,
    pub value: Value,
}

/// Runs the command.
///
/// # Errors
/// What is wrong with the files; exit code 3 if a rule has a counterexample.
pub fn run(arguments: &CheckRules, as_json: bool) -> Result<(), Failure> {
    let (mut models, mut programs) = (Vec::new(), Vec::new());
    for path in &arguments.paths {
        for file in find(path, &["gsl", "loz"])? {
            let program = file.extension().is_some_and(|e| e == "loz");
            if program { &mut programs } else { &mut models }.push(file);
        }
    }
    if arguments.emit.is_some() {
        return check_defined::lemmas(&programs, arguments, as_json);
    }
    let mut rows = Vec::new();
    if !models.is_empty() || arguments.paths.is_empty() {
        rows = of_models(&models, arguments)?;
    }
    rows.extend(check_defined::rows(&programs, arguments)?);
    rules::all_known(&arguments.only, rows.iter().map(|row| row.name.as_str()))?;
    rows.retain(|row| arguments.only.is_empty() || arguments.only.contains(&row.name));
    let failed = rows.iter().any(|row| row.known == Known::Counterexample);
    if as_json {
        let rules: Vec<&Value> = rows.iter().map(|row| &row.value).collect();
        report::print_json(json!({ "ok": !failed, "rules": rules }));
    } else {
        report::print(&text(&rows));
    }
    if failed { Err(Failure::told(FailureKind::Check)) } else { Ok(()) }
}

/// Checks the substitution rules of these files, or those that ship; only those that are asked for.
/// The others have rows without a verdict.
fn of_models(paths: &[PathBuf], arguments: &CheckRules) -> Result<Vec<Row>, Failure> {
    let effort = Effort {
        instances: arguments.instances,
        draws: 160 * arguments.instances,
        seed: arguments.seed,
        prove: true,
    };
    let all = rules::sources(paths)?;
    let mut checked: Vec<(Rule, Verdict)> = Vec::new();
    for source in &all {
        let rules = rules::parse(source)?.into_iter();
        checked.extend(rules.map(|rule| (rule, Verdict::Untested { draws: 0 })));
    }
    let wanted = |rule: &Rule| arguments.only.is_empty() || arguments.only.contains(&rule.name);
    let bar = Bar::new(checked.iter().filter(|(rule, _)| wanted(rule)).count() as u64, "checking rules");
    for (rule, verdict) in checked.iter_mut().filter(|(rule, _)| wanted(rule)) {
        // The file was compiled, so the rule has no errors of its own.
        *verdict = check(rule, effort).map_err(|errors| Failure::from(errors[0].clone()))?;
        bar.inc(1);
    }
    drop(bar);
    if let Some(folder) = &arguments.output {
        for (rule, verdict) in &checked {
            if let Verdict::Counterexample(found) = verdict {
                write(folder, &rule.name, found)?;
            }
        }
    }
    Ok(checked.iter().map(|(rule, verdict)| row(rule, verdict)).collect())
}

fn row(rule: &Rule, verdict: &Verdict) -> Row {
    let known = match verdict {
        Verdict::Checked { .. } => Known::Checked,
        Verdict::Bounded { .. } => Known::Bounded,
        Verdict::Counterexample(_) => Known::Counterexample,
        Verdict::Untested { .. } => Known::Untested,
    };
    let mut details = String::new();
    if let Verdict::Counterexample(found) = verdict {
        details += &format!("\n  {}\n\n{}", found.difference, indented(&found.before.graph.to_string()));
        for (name, tensor) in &found.inputs {
            details += &match tensor.to_integers() {
                Some(list) => format!("    {name} = {list:?}\n"),
                None => format!("    {name} = {:?}\n", tensor.to_numbers().unwrap_or_default()),
            };
        }
        details += &format!("\n  becomes\n\n{}\n", indented(&found.after.graph.to_string()));
    }
    let (name, words) = (rule.name.clone(), words(rule, verdict));
    Row { name, known, words, details, value: as_value(rule, verdict) }
}

/// A verdict in words.
fn words(rule: &Rule, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Checked { proof, instances, integers, exact } => {
            let over = if proof.exact { "by laws that keep every bit" } else { "over the reals" };
            let branches = match rule.indices.is_empty() {
                true => String::new(),
                false => format!(", {} branches", proof.branches),
            };
            format!(
                "checked   one normal form {over}, ranks up to {}{branches}; {} agree{}, {}",
                proof.rank,
                agreed(*instances, *integers, " instances"),
                of_values(rule),
                how(*exact)
            )
        }
        Verdict::Bounded { instances, integers, exact, why } => {
            let instances = agreed(*instances, *integers, "");
            format!("bounded ({instances})   {}{}; no normal form: {why}", how(*exact), of_values(rule))
        }
        Verdict::Counterexample(_) => "counterexample".to_owned(),
        Verdict::Untested { draws } => {
            format!("untested   no instance among {draws} models that the library can evaluate")
        }
    }
}

/// How drawn instances agreed.
fn how(exact: bool) -> &'static str {
    if exact { "every bit the same" } else { "equal within rounding" }
}

/// Of which values a rule says something, where that is not all.
fn of_values(rule: &Rule) -> &'static str {
    if rule.finite { " for finite values" } else { "" }
}

/// How many instances agreed.
fn agreed(instances: usize, integers: usize, what: &str) -> String {
    match integers {
        0 => format!("{instances}{what}"),
        _ => format!("{instances}{what} and {integers} of integers"),
    }
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let lines: String =
        rows.iter().map(|row| format!("{:width$}  {}\n{}", row.name, row.words, row.details)).collect();
    let count = |known: Known| rows.iter().filter(|row| row.known == known).count();
    lines
        + &format!(
            "{} rules: {} checked, {} bounded, {} with a counterexample, {} untested\n",
            rows.len(),
            count(Known::Checked),
            count(Known::Bounded),
            count(Known::Counterexample),
            count(Known::Untested)
        )
}

pub(super) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn as_value(rule: &Rule, verdict: &Verdict) -> Value {
    let (name, finite) = (&rule.name, rule.finite);
    match verdict {
        Verdict::Checked { proof, instances, integers, exact } => json!({
            "rule": name, "verdict": "checked", "finite": finite, "over": if proof.exact { "bits" } else { "reals" }, "ranks": proof.rank,
            "branches": proof.branches, "cases": proof.cases, "instances": instances, "integers": integers,
            "exact": exact,
        }),
        Verdict::Bounded { instances, integers, exact, why } => json!({
            "rule": name, "verdict": "bounded", "finite": finite, "instances": instances, "integers": integers, "exact": exact, "why": why,
        }),
        Verdict::Counterexample(found) => json!({
            "rule": name, "verdict": "counterexample", "difference": found.difference,
            "before": found.before.to_string(), "after": found.after.to_string(),
        }),
        Verdict::Untested { draws } => json!({ "rule": name, "verdict": "untested", "draws": draws }),
    }
}

/// The models before and after, and the inputs, for others to run.
fn write(folder: &Path, name: &str, found: &Counterexample) -> Result<(), Failure> {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).map_err(|e| {
        Failure::environment("X0004", format!("can't make the folder {}", folder.display())).note(reason(&e))
    })?;
    write_whole(&folder.join("before.onnx"), &graph::onnx::write(&found.before))?;
    write_whole(&folder.join("after.onnx"), &graph::onnx::write(&found.after))?;
    for (input, tensor) in &found.inputs {
        if let Some(value) = graph::operators::decode(tensor) {
            write_whole(&folder.join(format!("{input}.npy")), &npy::write(&value))?;
        }
    }
    Ok(())
}
