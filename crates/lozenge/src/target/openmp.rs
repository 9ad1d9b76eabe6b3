//! The target `openmp`: files by the pipeline, programs on this machine.

use targets::openmp::OpenMp;
use targets::{Output, Stage};

use super::{Backend, Compiled};
use crate::cli::{Bench, Run};
use crate::command;
use crate::failure::Failure;
use crate::pipeline::{Emission, Front};
use crate::request::Request;

impl Backend for OpenMp {
    fn compile(&self, front: &Front, stage: Stage, request: &Request) -> Result<Compiled, Failure> {
        let Emission { text, warnings, notes, .. } = front.emit(stage, request)?;
        let output = Output { notes, ..Output::of_text(format!("{}.c", request.stem()), text) };
        Ok(Compiled { output, warnings })
    }

    fn runs(&self) -> &'static str {
        "OpenMP C on this machine"
    }

    fn run(&self, arguments: &Run, as_json: bool) -> Result<(), Failure> {
        command::run::run(arguments, as_json)
    }

    fn measures(&self) -> &'static str {
        "OpenMP C, measured"
    }

    fn bench(&self, arguments: &Bench, as_json: bool) -> Result<(), Failure> {
        match arguments.translation {
            true => command::translation::run(arguments, as_json),
            false => command::bench::run(arguments, as_json),
        }
    }
}
