//! `lozenge schedule`: the order of a loop nest in one of the representations of schedules.

use polyhedral::representation::{Form, Representation};
use polyhedral::{Model, Tree};
use serde_json::json;

use crate::cli::{Choice, Schedule, ScheduleForm};
use crate::failure::Failure;
use crate::files::read_source;
use crate::pipeline::{Front, schedule_header};
use crate::report;

/// Prints the schedule of the chosen definition, or of all.
///
/// # Errors
/// What the stages refuse; `P0602` if the representation cannot say the schedule.
pub fn run(arguments: &Schedule, as_json: bool) -> Result<(), Failure> {
    let source = read_source(&arguments.file)?;
    let front = Front::open(&source, &arguments.choice)?;
    let refuse = |d| Failure::in_source(&source, vec![d]);
    let form = match arguments.form {
        ScheduleForm::Affine => Form::Affine,
        ScheduleForm::Kelly => Form::Kelly,
        ScheduleForm::TwoDPlusOne => Form::TwoDPlusOne,
        ScheduleForm::UnionMap => Form::UnionMap,
        ScheduleForm::Tree => Form::Tree,
    };
    let names = front.wanted(&arguments.choice)?;
    let mut told = Vec::new();
    for name in &names {
        let function = front.original(name, &arguments.choice)?;
        let new = arguments.optimized || arguments.choice.schedule.as_deref().is_some_and(|s| s != "none");
        let schedule = if new {
            let schedule = arguments.choice.schedule.clone().unwrap_or_else(|| "auto".into());
            front
                .optimized(&function, &Choice { schedule: Some(schedule), ..arguments.choice.clone() })?
                .schedule
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
