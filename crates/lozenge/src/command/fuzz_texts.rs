//! `lozenge fuzz --of texts`: schedules, loop programs, strategies, functional programs and rules
//! made from their grammars, through the stages that the commands put them through.

use std::collections::BTreeMap;
use std::path::Path;

use gsl::soundness::Effort;
use targets::Stage;

use crate::failure::{Failure, Source};
use crate::files::Scratch;
use crate::fuzz::texts::{Kind, SCHEDULED, STRATEGIC};
use crate::request::{Request, Schedule};
use crate::{bind, check, files};

/// Steps of the interpreter: a program that takes longer is given up.
const STEPS: u64 = 200_000;
/// Bytes of arrays that a program of loops may have here.
const BYTES: u64 = 1 << 26;

/// Puts a text through its stages; whether none refused it.
pub fn examine(kind: Kind, text: &str, scratch: &Scratch) -> bool {
    let done = match kind {
        Kind::Schedule => schedule(text, scratch.path()),
        Kind::Loops => loops(text),
        Kind::Strategy => strategy(text),
        Kind::Program => emit("program.loz", text, &Request::default()),
        Kind::Rules => return rules(text),
    };
    done.is_ok()
}

fn emit(name: &str, text: &str, request: &Request) -> Result<(), Failure> {
    let source = Source { path: name.into(), text: text.into() };
    files::open(&source, request)?.emit(Stage::C, request).map(drop)
}

fn schedule(text: &str, folder: &Path) -> Result<(), Failure> {
    let file = folder.join("schedule");
    crate::files::write_in_place(&file, text.as_bytes())?;
    let schedule = files::schedule(file.to_str())?;
    emit("notes.loops", SCHEDULED, &Request { schedule, ..Request::default() })
}

fn strategy(text: &str) -> Result<(), Failure> {
    let request = Request { strategy: Some(text.to_owned()), reassociate: true, ..Request::default() };
    emit("rows.loz", STRATEGIC, &request)
}

/// Reads, checks and interprets a loop program, and makes C of it, as it is and scheduled.
fn loops(text: &str) -> Result<(), Failure> {
    emit("program.loops", text, &Request::default())?;
    emit("program.loops", text, &Request { schedule: Schedule::Auto, ..Request::default() })?;
    let Ok(program) = loops::parse(text) else { return Ok(()) };
    for function in &program.functions {
        let given = function.sizes.iter().map(|name| (name.clone(), 5)).collect();
        let sizes = bind::sizes(function, &given, &BTreeMap::new())?;
        bind::check_memory(function, &sizes, 3)?;
        let ranges = check::ranges(None, function, None, &sizes);
        let inputs = bind::inputs(function, &sizes, &BTreeMap::new(), &ranges, 1)?;
        let names = function.params.iter().map(|param| param.name.clone());
        let options = loops::Options { max_steps: STEPS, max_bytes: BYTES, ..loops::Options::default() };
        loops::run(function, &sizes, names.zip(inputs).collect(), &options)?;
    }
    Ok(())
}

/// Parses, formats, compiles, tries and proves rules.
fn rules(text: &str) -> bool {
    let _ = gsl::format(text);
    let (file, errors) = gsl::parse(text);
    if !errors.is_empty() || gsl::compile(&file).is_err() {
        return false;
    }
    let effort = Effort { instances: 4, draws: 200, seed: 1, prove: true };
    file.rules.iter().take(2).all(|rule| gsl::soundness::check(rule, effort).is_ok())
}
