//! The target `athread`: files by the mapping of `pipeline::athread`, programs on emulated cores.

use loops::Program;
use targets::athread::{Athread, with_sources};
use targets::{Output, Stage};

use super::{Backend, Compiled};
use crate::cli::{Bench, Run};
use crate::failure::Failure;
use crate::pipeline::Front;
use crate::pipeline::athread::{self, OnCores};
use crate::request::Request;
use crate::{command, kernel};

impl Backend for Athread {
    fn compile(&self, front: &Front, stage: Stage, request: &Request) -> Result<Compiled, Failure> {
        athread::check_sizes(front, request)?;
        let mut all = match stage {
            Stage::Schedule => athread::map_in_stages(front, request)?,
            _ => athread::map(front, request)?,
        };
        let output = match stage {
            Stage::Schedule => text(athread::stages(&all), Vec::new(), &all),
            Stage::Loops => {
                // What becomes files: where cores must not share, another mapping. One that becomes
                // none is shown as it is.
                let failed = athread::files(front, request, &mut all).err();
                let notes = failed.map(|failure| format!("no files: {}", failure.summary()));
                let functions = all.iter().map(|one| one.mapped.function.clone()).collect();
                text(Program { functions }.to_string(), notes.into_iter().collect(), &all)
            }
            Stage::C => files(front, request, &mut all)?,
            _ => return Err(super::no_stage(self)),
        };
        Ok(Compiled { output, warnings: Vec::new() })
    }

    fn runs(&self) -> &'static str {
        "Athread code on the emulator of a core group"
    }

    fn run(&self, arguments: &Run, as_json: bool) -> Result<(), Failure> {
        command::run_athread::run(arguments, as_json)
    }

    fn measures(&self) -> &'static str {
        "Athread code on emulated cores, at the sizes of the document, with modelled times"
    }

    fn bench(&self, arguments: &Bench, as_json: bool) -> Result<(), Failure> {
        command::bench_athread::run(arguments, as_json)
    }
}

/// A stage as a text, with what the mapping says of each definition.
fn text(text: String, mut notes: Vec<String>, all: &[OnCores]) -> Output {
    notes.extend(told(all));
    Output { notes, ..Output::of_text("", text) }
}

/// What the mapping says of each definition.
fn told(all: &[OnCores]) -> impl Iterator<Item = String> {
    all.iter()
        .flat_map(|one| one.mapped.notes.iter().map(move |note| format!("{}: {note}", one.original.name)))
}

fn files(front: &Front, request: &Request, all: &mut Vec<OnCores>) -> Result<Output, Failure> {
    let mut files = athread::files(front, request, all)?;
    // The host file includes what the program includes, from wherever it is.
    if let Some(folder) = request.headers.as_ref().filter(|_| kernel::has_own_headers(&files.host)) {
        files.build = with_sources(&files.build, folder);
    }
    let mut output = files.output(&request.stem());
    output.notes.splice(0..0, told(all));
    Ok(output)
}
