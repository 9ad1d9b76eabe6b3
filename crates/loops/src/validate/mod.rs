//! The validator: checks a loop program without running it.
//!
//! - `scopes`: names, types and shapes are decided.
//! - `bounds`, `defined`: subscripts that are certainly outside their array, and reads of what was
//!   certainly never written, are errors. What is not decided is left to the interpreter.
//! - `races`: whether the iterations of each parallel and vector loop are independent: proved,
//!   refuted by two iterations, or not known.

mod bounds;
mod defined;
mod race_rule;
mod scopes;

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::{Function, Program, Stmt};
use crate::visit::check_depth;

pub use race_rule::Safety;

/// What was found out about a function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Errors, and warnings about what could not be shown, in the order of the text within each
    /// kind of check.
    pub diagnostics: Vec<Diagnostic>,
    /// A verdict for each parallel or vector loop, in the order of the text; empty if there are
    /// errors of names or types.
    pub loops: Vec<Verdict>,
    /// Subscripts that are shown to be inside their arrays.
    pub subscripts_proved: usize,
    /// Subscripts of which this is not known.
    pub subscripts_unknown: usize,
}

/// Whether the iterations of one loop are independent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The loop, as it is printed without its body.
    pub header: String,
    /// The verdict.
    pub safety: Safety,
}

impl Report {
    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error)
    }

    /// Whether there is no error. Warnings may remain: a loop that is not shown to be free of
    /// races, for instance.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    /// Whether there is no error and every parallel and vector loop is shown to be free of races.
    pub fn is_proved(&self) -> bool {
        self.is_valid() && self.loops.iter().all(|verdict| verdict.safety == Safety::Proved)
    }
}

/// Checks a function.
pub fn validate(function: &Function) -> Report {
    let mut report = Report::default();
    if let Err(error) = check_depth(function) {
        report.diagnostics.push(error);
        return report;
    }
    scopes::check(function, &mut report.diagnostics);
    if report.is_valid() {
        defined::check(function, &mut report.diagnostics);
        bounds::check(function, &mut report);
        race_rule::check(function, &mut report);
    }
    for diagnostic in &mut report.diagnostics {
        diagnostic.notes.push(format!("in function `{}`", function.name));
    }
    report
}

/// Checks every function of a program, and that their names differ.
pub fn validate_program(program: &Program) -> Vec<Report> {
    let mut seen = BTreeSet::new();
    let check = |function: &Function| {
        let mut report = validate(function);
        if !seen.insert(function.name.clone()) {
            let message = format!("there are two functions `{}`", function.name);
            report.diagnostics.push(Diagnostic::general(DUPLICATE, message));
        }
        report
    };
    program.functions.iter().map(check).collect()
}

/// A name is declared twice, or hides another.
const DUPLICATE: Code = Code("L0202");

/// Says at which statement something was found.
fn at(stmt: &Stmt, diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.note(format!("in `{}`", stmt.headline()))
}
