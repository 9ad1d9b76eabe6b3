//! `lozenge poly` and `lozenge deps`: the polyhedral side by itself.

use polyhedral::calc::{Limits, evaluate};
use polyhedral::{Model, dependence};
use serde_json::json;

use crate::cli::{Choice, Deps, Poly};
use crate::failure::{Failure, Source};
use crate::files::read_source;
use crate::pipeline::Front;
use crate::report;

/// Evaluates an expression over sets and maps.
///
/// # Errors
/// What is wrong with the expression.
pub fn calculate(arguments: &Poly, as_json: bool) -> Result<(), Failure> {
    let source = Source { path: "expression".into(), text: arguments.expression.clone() };
    let value = evaluate(&source.text, Limits::default())
        .map_err(|d| Failure::in_source(&source, vec![d]))?
        .to_string();
    let value = value.trim_end();
    if as_json {
        report::print(&format!("{:#}\n", json!({ "ok": true, "value": value })));
    } else {
        report::print(&format!("{value}\n"));
    }
    Ok(())
}

/// Prints the dependences of the chosen definition, or of all.
///
/// # Errors
/// What the stages refuse.
pub fn dependences(arguments: &Deps, as_json: bool) -> Result<(), Failure> {
    let source = read_source(&arguments.file)?;
    let front = Front::open(&source, &arguments.choice)?;
    let names = match &arguments.choice.definition {
        Some(name) => vec![name.clone()],
        None => front.definitions(),
    };
    let refuse = |d| Failure::in_source(&source, vec![d]);
    let mut told = Vec::new();
    for name in names {
        let choice = Choice {
            definition: Some(name.clone()),
            schedule: Some("none".into()),
            ..arguments.choice.clone()
        };
        let lowered = front.lower(&choice)?;
        let model = Model::extract(&lowered.function).map_err(refuse)?;
        let found =
            if arguments.dataflow { dependence::dataflow(&model) } else { dependence::memory(&model) };
        let lines: Vec<String> = found.map_err(refuse)?.iter().map(ToString::to_string).collect();
        if as_json {
            told.push(json!({ "definition": name, "dependences": lines }));
        } else {
            let lines: String = lines.iter().map(|l| format!("  {l}\n")).collect();
            report::print(&format!("{name}\n{lines}"));
        }
    }
    if as_json {
        report::print(&format!("{:#}\n", json!({ "ok": true, "definitions": told })));
    }
    Ok(())
}
