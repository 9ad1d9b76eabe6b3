//! `lozenge check-rules FILE.loz`: rewrite rules of functional programs, tested on random programs,
//! and what they claim, for Coq.

use std::path::PathBuf;
use std::time::Duration;

use ::functional::rewrite::DefinedRule;
use ::functional::rewrite::defined::lemma::{self, Ending, HEAD, Lemma, TACTICS};
use ::functional::rewrite::defined::trial::{self, Effort, Verdict};
use serde_json::json;

use super::check_rules::{Known, Row, indented};
use crate::cli::CheckRules;
use crate::coq::Coq;
use crate::failure::{Failure, Source};
use crate::files::{self, read_source};
use crate::pipeline;
use crate::progress::Bar;
use crate::{report, rules};

/// So many programs are drawn for each that has to agree: some have no value.
const DRAWS: usize = 8;

/// Coq tries the tactics on all rules of a file within this.
const LIMIT: Duration = Duration::from_secs(600);

/// The rules of these files, with what is known of those that are asked for.
///
/// # Errors
/// What is wrong with the files.
pub fn rows(paths: &[PathBuf], arguments: &CheckRules) -> Result<Vec<Row>, Failure> {
    let effort =
        Effort { instances: arguments.instances, draws: DRAWS * arguments.instances, seed: arguments.seed };
    let mut rows = Vec::new();
    for path in paths {
        let (_, rules) = open(path)?;
        let bar = Bar::new(rules.len() as u64, "checking rules");
        for rule in &rules {
            let asked = arguments.only.is_empty() || arguments.only.iter().any(|n| n == rule.name().as_str());
            let verdict = if asked { trial::check(rule, effort) } else { Verdict::Untested { draws: 0 } };
            rows.push(row(rule, &verdict));
            bar.inc(1);
        }
    }
    Ok(rows)
}

fn open(path: &std::path::Path) -> Result<(Source, Vec<DefinedRule>), Failure> {
    let source = read_source(path)?;
    let checked = pipeline::open_functional(&source, &files::request())?;
    Ok((source, checked.own_rules()))
}

fn row(rule: &DefinedRule, verdict: &Verdict) -> Row {
    let name = rule.name().to_string();
    let exact = !rule.reassociates();
    let (known, words, details, value) = match verdict {
        Verdict::Agrees { instances } => {
            let how = if exact { "every bit the same" } else { "equal within rounding" };
            let value = json!({ "rule": name, "verdict": "bounded", "instances": instances, "exact": exact });
            (Known::Bounded, format!("bounded ({instances})   {how}"), String::new(), value)
        }
        Verdict::Differs(found) => {
            let details = format!("\n  {}\n\n{}\n", found.difference, indented(&found.to_string()));
            let value = json!({
                "rule": name, "verdict": "counterexample", "difference": found.difference,
                "before": ::functional::print::definition(&found.before),
                "after": ::functional::print::definition(&found.after),
            });
            (Known::Counterexample, "counterexample".to_owned(), details, value)
        }
        Verdict::Untested { draws } => {
            let words = format!("untested   no instance among {draws} programs that have a value");
            let value = json!({ "rule": name, "verdict": "untested", "draws": draws });
            (Known::Untested, words, String::new(), value)
        }
    };
    Row { name, known, words, details, value }
}

/// A lemma, and whether Coq proves it by itself; none where there is no Coq.
struct Claim {
    lemma: Lemma,
    proved: Option<bool>,
}

/// Prints the lemmas of the rules of these files.
///
/// # Errors
/// What is wrong with the files; `S0204` if a rule has no lemma, `X0704` if Coq does not accept a
/// statement.
pub fn lemmas(paths: &[PathBuf], arguments: &CheckRules, as_json: bool) -> Result<(), Failure> {
    if paths.is_empty() {
        return Err(Failure::usage("X0007", "lemmas are of the rules of functional programs (.loz)")
            .help("substitution rules are checked by a normaliser: leave out `--emit`"));
    }
    let mut claims = Vec::new();
    let mut names = Vec::new();
    for path in paths {
        let (source, rules) = open(path)?;
        for rule in &rules {
            names.push(rule.name().to_string());
            if arguments.only.is_empty() || arguments.only.iter().any(|n| n == rule.name().as_str()) {
                let lemma = lemma::lemma(rule).map_err(|d| Failure::in_source(&source, vec![d]))?;
                claims.push(Claim { lemma, proved: None });
            }
        }
    }
    rules::all_known(&arguments.only, names.iter().map(String::as_str))?;
    if Coq::command().is_ok() {
        try_to_prove(&mut claims)?;
    }
    if as_json {
        let rules: Vec<_> = claims
            .iter()
            .map(|claim| {
                let verdict = if claim.proved == Some(true) { "proved" } else { "stated" };
                let lemma = claim.lemma.text(ending(claim));
                json!({ "rule": claim.lemma.name, "verdict": verdict, "lemma": lemma })
            })
            .collect();
        report::print_json(json!({ "ok": true, "rules": rules }));
    } else {
        report::print(&file(&claims));
    }
    Ok(())
}

fn ending(claim: &Claim) -> Ending {
    if claim.proved == Some(true) { Ending::Proved } else { Ending::Open }
}

/// The file for Coq.
fn file(claims: &[Claim]) -> String {
    let mut text = HEAD.to_owned();
    if claims.iter().any(|claim| claim.proved == Some(true)) {
        text += &format!("\n{TACTICS}");
    }
    for claim in claims {
        let known = match claim.proved {
            Some(true) => "proved",
            Some(false) => "not proved: Coq finds no proof by itself",
            None => "not proved: there is no Coq to try",
        };
        text += &format!("\n(* {}: {known} *)\n{}", claim.lemma.name, claim.lemma.text(ending(claim)));
    }
    text
}

/// Lets Coq try each lemma, and then read the proofs that it found.
fn try_to_prove(claims: &mut [Claim]) -> Result<(), Failure> {
    let coq = Coq::for_rules(|doing| report::print_error(&format!("{doing}\n")))?;
    let asked: String = claims.iter().map(|claim| claim.lemma.text(Ending::Asks)).collect();
    let said = coq.answer(&format!("{HEAD}{TACTICS}{asked}"), LIMIT)?;
    for claim in &mut *claims {
        let line = format!("proved {}.", claim.lemma.name);
        claim.proved = Some(said.contains(&line));
    }
    // What is printed is what Coq has read, with the proofs.
    coq.answer(&file(claims), LIMIT)?;
    Ok(())
}
