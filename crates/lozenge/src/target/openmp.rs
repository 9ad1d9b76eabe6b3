//! The target `openmp`: files by the pipeline, programs on this machine.

use graph::Model;
use graph::plan::{self, Kernel};
use targets::openmp::OpenMp;
use targets::{Output, Stage};

use super::{Backend, Compiled, ModelFiles, ModelProgram};
use crate::cli::{Against, Bench, Run};
use crate::command;
use crate::failure::Failure;
use crate::pipeline::graph::{self as pipeline, ModelRequest};
use crate::pipeline::{Emission, Front};
use crate::process::Optimise;
use crate::request::Request;

impl Backend for OpenMp {
    fn compile(&self, front: &Front, stage: Stage, request: &Request) -> Result<Compiled, Failure> {
        let Emission { text, warnings, notes, .. } = front.emit(stage, request)?;
        let output = Output { notes, ..Output::of_text(format!("{}.c", request.stem()), text) };
        Ok(Compiled { output, warnings })
    }

    fn compile_model(
        &self,
        model: &Model,
        stage: Stage,
        request: &ModelRequest,
    ) -> Result<ModelFiles, Failure> {
        let text = |name: &str, text: String| Output::of_text(name, text);
        let output = match stage {
            Stage::Functional => {
                let plan = plan::plan(model, request.registers()?)?;
                let one = |k: &Kernel| {
                    format!("-- {}\n{}\n", k.operator, functional::print::definition(&k.definition))
                };
                text("", plan.kernels.iter().map(one).collect())
            }
            Stage::Loops => text("", pipeline::compile(model, request)?.program.to_string()),
            Stage::Header => text("", pipeline::compile(model, request)?.header),
            Stage::C => {
                let compiled = pipeline::compile(model, request)?;
                let parameters = pipeline::parameter_block(&compiled.plan);
                return Ok(ModelFiles { output: text("model.c", compiled.source), parameters });
            }
            _ => return Err(super::no_stage_of_models("functional, loops, c and header")),
        };
        Ok(ModelFiles { output, parameters: Vec::new() })
    }

    fn build_model(
        &self,
        model: &Model,
        request: &ModelRequest,
        arguments: &Run,
    ) -> Result<ModelProgram, Failure> {
        let compiled = pipeline::compile(model, request)?;
        command::model::fits(&compiled, &request.numbers())?;
        let exact = arguments.check == Some(Against::Evaluator);
        let optimise = if exact { Optimise::FastExact } else { Optimise::Fast };
        let executable = command::model::build(&compiled, optimise)?;
        Ok(ModelProgram { compiled, executable, notes: Vec::new(), emulated: None })
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
