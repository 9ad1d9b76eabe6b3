//! The target `athread`: files by the mapping of `pipeline::athread`, programs on emulated cores.

use graph::Model;
use loops::Program;
use targets::athread::{Athread, Cores, with_sources};
use targets::{Output, Stage};

use super::{Backend, Compiled, ModelFiles, ModelProgram};
use crate::athread::{Emulator, Sources};
use crate::cli::{Bench, Run};
use crate::failure::Failure;
use crate::pipeline::athread::{self, OnCores};
use crate::pipeline::graph::{self as pipeline, ModelRequest};
use crate::pipeline::{Front, model_on_cores};
use crate::process::Compiler;
use crate::request::Request;
use crate::{command, execute, kernel};

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

    fn compile_model(
        &self,
        model: &Model,
        stage: Stage,
        request: &ModelRequest,
    ) -> Result<ModelFiles, Failure> {
        let made = model_on_cores::compile(model, request)?;
        if stage == Stage::C {
            let parameters = pipeline::parameter_block(&made.compiled.plan);
            return Ok(ModelFiles { output: made.output(&request.function()), parameters });
        }
        let text = match stage {
            Stage::Loops => made.program.to_string(),
            Stage::Header => made.compiled.header,
            _ => return Err(super::no_stage_of_models("loops, c and header")),
        };
        let output = Output { notes: made.notes, ..Output::of_text("", text) };
        Ok(ModelFiles { output, parameters: Vec::new() })
    }

    fn build_model(
        &self,
        model: &Model,
        request: &ModelRequest,
        arguments: &Run,
    ) -> Result<ModelProgram, Failure> {
        let made = model_on_cores::compile(model, request)?;
        command::model::fits(&made.compiled, &request.numbers())?;
        let compiler = Compiler::find()?;
        let emulator = Emulator::build(&compiler)?;
        let routines = std::slice::from_ref(&made.compiled.signature);
        let driver = execute::driver(routines);
        let mut headers = command::run_athread::headers(&made.files);
        headers.push((&made.declarations.0, &made.declarations.1));
        headers.push(("program.h", &made.compiled.header));
        let program = emulator.program(&Sources {
            host: &made.files.host,
            more: &[("model.c", &made.compiled.source), ("driver.c", &driver)],
            slave: &made.files.slave,
            micro_kernels: &made.files.micro_kernels,
            headers: &headers,
            folder: None,
            flags: &[],
        })?;
        let (executable, report) = program.executable(routines, command::run_athread::settings(arguments));
        let emulated = Some((report, Cores::of(&request.settings).chip.name));
        let notes = made.notes.into_iter().chain(made.files.remarks()).collect();
        Ok(ModelProgram { compiled: made.compiled, executable, notes, emulated })
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
