//! `lozenge schedule`: the order of a loop nest in one of the representations of schedules.

use polyhedral::representation::{Form, Representation};
use polyhedral::{Model, Tree};
use serde_json::json;

use crate::cli::{Schedule, ScheduleForm};
use crate::failure::Failure;
use crate::files::{self, read_source};
use crate::pipeline::schedule_header;
use crate::report;
use crate::request::{self, Request};

/// Prints the schedule of the chosen definition, or of all.
///
/// # Errors
/// What the stages refuse; `P0602` if the representation cannot say the schedule.
pub fn run(arguments: &Schedule, as_json: bool) -> Result<(), Failure> {
    let source = read_source(&arguments.file)?;
    let request = arguments.choice.request_of(&arguments.file)?;
    let front = files::open(&source, &request)?;
    let refuse = |d| Failure::in_source(&source, vec![d]);
    let form = match arguments.form {
        ScheduleForm::Affine => Form::Affine,
        ScheduleForm::Kelly => Form::Kelly,
        ScheduleForm::TwoDPlusOne => Form::TwoDPlusOne,
        ScheduleForm::UnionMap => Form::UnionMap,
        ScheduleForm::Tree => Form::Tree,
    };
    let names = front.wanted(&request)?;
    let mut told = Vec::new();
    for name in &names {
        let function = front.original(name, &request)?;
        let new = arguments.optimized
            || !matches!(request.schedule, request::Schedule::Usual | request::Schedule::Original);
        let schedule = if new {
            let schedule = match &request.schedule {
                request::Schedule::Usual => request::Schedule::Auto,
                given => given.clone(),
            };
            front.optimized(&function, &Request { schedule, ..request.clone() })?.schedule
        } else {
            let model = Model::extract(&function).map_err(refuse)?;
            Tree::original(&model).map_err(refuse)?.into()
        };
        let text = match form {
            Form::Tree => schedule.to_string(),
            form => Representation::of_tree(&schedule.tree, form).map_err(refuse)?.to_string(),
        };
        if as_json {
            told.push(json!({ "definition": name, "form": form.name(), "schedule": text }));
        } else {
            if names.len() > 1 {
                report::print(&schedule_header(name));
            }
            report::print(&text);
        }
    }
    if as_json {
        report::print_json(json!({ "ok": true, "schedules": told }));
    }
    Ok(())
}
