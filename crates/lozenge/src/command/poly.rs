//! `lozenge poly` and `lozenge deps`: the polyhedral side by itself.

use polyhedral::Model;
use polyhedral::calc::{Limits, evaluate};
use polyhedral::dependence::{self, Dependence};
use serde_json::json;

use crate::cli::{Deps, Poly};
use crate::failure::{Failure, Source};
use crate::files::{self, read_source};
use crate::progress;
use crate::report;

/// Evaluates an expression over sets and maps.
///
/// # Errors
/// What is wrong with the expression.
pub(crate) fn calculate(arguments: &Poly, as_json: bool) -> Result<(), Failure> {
    let source = Source { path: "expression".into(), text: arguments.expression.clone() };
    let value = evaluate(&source.text, Limits::default())
        .map_err(|d| Failure::in_source(&source, vec![d]))?
        .to_string();
    let value = value.trim_end();
    if as_json {
        report::print_json(json!({ "ok": true, "value": value }));
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
    let request = arguments.choice.request()?;
    let front = files::open(&source, &request)?;
    let refuse = |d| Failure::in_source(&source, vec![d]);
    let mut told = Vec::new();
    for name in front.wanted(&request)? {
        let function = front.original(&name, &request)?;
        progress::say(format!("computing the dependences of `{name}`"));
        let model = Model::extract(&function).map_err(refuse)?;
        let found =
            if arguments.dataflow { dependence::dataflow(&model) } else { dependence::memory(&model) };
        let found = found.map_err(refuse)?;
        if as_json {
            let found: Vec<_> = found.iter().map(to_json).collect();
            told.push(json!({ "definition": name, "dependences": found }));
        } else {
            let lines: String = found.iter().map(|d| format!("  {d}\n")).collect();
            report::print(&format!("{name}\n{lines}"));
        }
    }
    if as_json {
        report::print_json(json!({ "ok": true, "definitions": told }));
    }
    Ok(())
}

fn to_json(dependence: &Dependence) -> serde_json::Value {
    json!({
        "kind": dependence.kind.to_string(),
        "array": dependence.array.as_str(),
        "source": dependence.source.as_str(),
        "target": dependence.target.as_str(),
        "reduction": dependence.reduction.map(|op| op.symbol()),
        "relation": dependence.relation.to_string(),
    })
}

/// The help of `lozenge poly`: every function with an example.
pub fn help() -> String {
    let mut text = String::from(
        "Examples:
  lozenge poly '{ [i] : 0 <= i < 10 } - { [i] : i % 2 = 0 }'
  lozenge poly 'A := [n] -> { S[i, j] : 0 <= i < n and 0 <= j <= i }; card(A)'
  lozenge poly '{ S[i] -> [i + 1] } . { [i] -> [2i] }'

Operators: + union, - difference, * intersection, . composition (first the left map), R(S) image, R^-1 inverse,
  = != <= < >= > comparison of sets or maps.

Functions:
",
    );
    for (name, what) in polyhedral::calc::FUNCTIONS {
        text.push_str(&format!("  {name}: {what}\n"));
        let examples = EXAMPLES.iter().filter(|example| example.starts_with(&format!("{name}(")));
        text.extend(examples.map(|example| format!("      {example}\n")));
    }
    text.trim_end().to_owned()
}

const EXAMPLES: &[&str] = &[
    "card([n] -> { S[i, j] : 0 <= i < n and 0 <= j <= i })",
    "count({ [i] : 0 <= i < 10 and i % 3 = 0 })",
    "domain([n] -> { S[i] -> [i + 1] : 0 <= i < n })",
    "range([n] -> { S[i] -> [i + 1] : 0 <= i < n })",
    "inverse({ [i] -> [i + 1] })",
    "lexmin({ [i, j] : 2 <= i < 9 and i <= j < 9 })",
    "lexmax({ [i, j] : 2 <= i < 9 and i <= j < 9 })",
    "before({ [i] : 0 <= i < 3 }, { [i] : 0 <= i < 3 })",
    "before_or_at({ [i] : 0 <= i < 3 }, { [i] : 0 <= i < 3 })",
    "identity([n] -> { S[i] : 0 <= i < n })",
    "deltas({ [i, j] -> [i + 1, j - 1] })",
    "product({ A[i] : 0 <= i < 2 }, { B[j] : 0 <= j < 3 })",
    "coalesce({ [i] : 0 <= i < 5 } + { [i] : 5 <= i < 9 })",
    "gist({ [i] : 0 <= i < 5 }, { [i] : i >= 0 })",
    "params([n] -> { [i] : 0 <= i < n })",
    "at([n] -> { [i] : 0 <= i < n }, n = 10)",
    "project({ [i, j] : 0 <= i <= j < 9 }, j)",
    "eliminate({ [i, j] : 0 <= i <= j < 9 }, j)",
    "bounds([n] -> { [i, j] : 0 <= i < n and i <= j < n })",
    "empty({ [i] : i > 3 and i < 3 })",
    "single_valued({ [i] -> [i + 1] })",
    "injective({ [i] -> [i + 1] })",
    "bijective({ [i] -> [i + 1] })",
    "isomorphic({ A[i] }, { A[j] : j > 3 })",
    "sample({ [i] : i > 41 })",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_an_example_that_evaluates() {
        for (name, _) in polyhedral::calc::FUNCTIONS {
            assert!(EXAMPLES.iter().any(|e| e.starts_with(&format!("{name}("))), "{name} has no example");
        }
        for example in EXAMPLES {
            if let Err(error) = evaluate(example, Limits::default()) {
                panic!("{example}: {error}");
            }
        }
    }
}
