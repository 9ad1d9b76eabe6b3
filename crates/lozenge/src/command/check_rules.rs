//! `lozenge check-rules`: whether substitution rules are sound, rule by rule.
//!
//! Not here: how a rule is checked (`gsl::soundness`).

use std::path::Path;

use gsl::Rule;
use gsl::soundness::{Counterexample, Effort, Verdict, check};
use serde_json::{Value, json};

use crate::cli::CheckRules;
use crate::failure::{Failure, FailureKind};
use crate::files::{reason, write_whole};
use crate::progress::Bar;
use crate::{npy, report, rules};

/// Runs the command.
///
/// # Errors
/// What is wrong with the rule files; exit code 3 if a rule has a counterexample.
pub fn run(arguments: &CheckRules, as_json: bool) -> Result<(), Failure> {
    let effort = Effort {
        instances: arguments.instances,
        draws: 160 * arguments.instances,
        seed: arguments.seed,
        prove: true,
    };
    let all = rules::sources(&arguments.paths)?;
    let mut checked: Vec<(Rule, Verdict)> = Vec::new();
    for source in &all {
        let rules = rules::parse(source)?.into_iter();
        checked.extend(rules.map(|rule| (rule, Verdict::Untested { draws: 0 })));
    }
    rules::all_known(&arguments.only, checked.iter().map(|(rule, _)| rule.name.as_str()))?;
    checked.retain(|(rule, _)| arguments.only.is_empty() || arguments.only.contains(&rule.name));
    let bar = Bar::new(checked.len() as u64, "checking rules");
    for (rule, verdict) in &mut checked {
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
    let failed = checked.iter().filter(|(_, v)| matches!(v, Verdict::Counterexample(_))).count();
    if as_json {
        let rules: Vec<Value> = checked.iter().map(|(rule, verdict)| as_value(rule, verdict)).collect();
        report::print_json(json!({ "ok": failed == 0, "rules": rules }));
    } else {
        report::print(&text(&checked));
    }
    if failed > 0 { Err(Failure::told(FailureKind::Check)) } else { Ok(()) }
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

fn text(checked: &[(Rule, Verdict)]) -> String {
    let width = checked.iter().map(|(rule, _)| rule.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (rule, verdict) in checked {
        out += &format!("{:width$}  {}\n", rule.name, words(rule, verdict));
        if let Verdict::Counterexample(found) = verdict {
            out += &format!("\n  {}\n\n{}", found.difference, indented(&found.before.graph.to_string()));
            for (name, tensor) in &found.inputs {
                out += &match tensor.to_integers() {
                    Some(list) => format!("    {name} = {list:?}\n"),
                    None => format!("    {name} = {:?}\n", tensor.to_numbers().unwrap_or_default()),
                };
            }
            out += &format!("\n  becomes\n\n{}\n", indented(&found.after.graph.to_string()));
        }
    }
    let count = |wanted: fn(&Verdict) -> bool| checked.iter().filter(|(_, v)| wanted(v)).count();
    let agreed = count(|v| matches!(v, Verdict::Checked { .. }));
    let bounded = count(|v| matches!(v, Verdict::Bounded { .. }));
    let wrong = count(|v| matches!(v, Verdict::Counterexample(_)));
    out + &format!(
        "{} rules: {agreed} checked, {bounded} bounded, {wrong} with a counterexample, {} untested\n",
        checked.len(),
        checked.len() - agreed - bounded - wrong
    )
}

fn indented(text: &str) -> String {
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
