//! The target `mpi`: files by the mapping of `pipeline::mpi`, programs by `mpirun`.

use targets::mpi::Mpi;
use targets::{File, Output, Stage};

use graph::Model;

use super::{Backend, Compiled, ModelFiles, ModelProgram};
use crate::cli::{Bench, Run};
use crate::command;
use crate::execute::{self, Executable};
use crate::failure::Failure;
use crate::mpi::{Tools, threads_for};
use crate::pipeline::graph::ModelRequest;
use crate::pipeline::{self, Front, model_on_ranks, mpi};
use crate::request::Request;

impl Backend for Mpi {
    fn compile(&self, front: &Front, stage: Stage, request: &Request) -> Result<Compiled, Failure> {
        let all = mpi::map(front, request)?;
        let notes = mpi::notes(&all);
        let output = match stage {
            Stage::Loops => {
                let texts: Vec<String> = all.iter().map(|one| one.distributed.program.to_string()).collect();
                Output { notes, ..Output::of_text("", texts.join("\n")) }
            }
            Stage::C => {
                let mut output = mpi::files(front, request, &all)?;
                output.notes.splice(0..0, notes);
                output
            }
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
        if stage != Stage::C {
            return Err(super::no_stage_of_models("c"));
        }
        let made = model_on_ranks::compile(model, request)?;
        let parameters = pipeline::graph::parameter_block(&made.compiled.plan);
        let stem = targets::stem(&request.function());
        let mut files = vec![
            File::new(format!("{stem}.c"), made.compiled.source),
            File::new(format!("{stem}.h"), made.compiled.header),
        ];
        files.extend(targets::mpi::HEADERS.iter().map(|(name, text)| File::new(*name, *text)));
        Ok(ModelFiles { output: Output { files, shown: 0, notes: made.notes }, parameters })
    }

    fn build_model(
        &self,
        model: &Model,
        request: &ModelRequest,
        arguments: &Run,
    ) -> Result<ModelProgram, Failure> {
        let ranks = request.ranks.unwrap_or(model_on_ranks::RANKS);
        let made = model_on_ranks::compile(model, request)?;
        command::model::fits(&made.compiled, &request.numbers())?;
        let routines = std::slice::from_ref(&made.compiled.signature);
        let driver = execute::driver(routines);
        let mut files = vec![
            ("program.h", made.compiled.header.as_str()),
            ("model.c", made.compiled.source.as_str()),
            ("driver.c", driver.as_str()),
        ];
        files.extend(targets::mpi::HEADERS);
        let threads = arguments.threads.unwrap_or_else(|| threads_for(ranks));
        let (scratch, program) = Tools::find()?.build_around(&files, ranks, threads)?;
        let executable = Executable::of(scratch, program, routines, Vec::new());
        Ok(ModelProgram { compiled: made.compiled, executable, notes: made.notes, emulated: None })
    }

    fn runs(&self) -> &'static str {
        "C with MPI on ranks of this machine"
    }

    fn run(&self, arguments: &Run, as_json: bool) -> Result<(), Failure> {
        command::run_mpi::run(arguments, as_json)
    }

    fn measures(&self) -> &'static str {
        "C with MPI, measured at several numbers of ranks, with messages and bytes counted"
    }

    fn bench(&self, arguments: &Bench, as_json: bool) -> Result<(), Failure> {
        command::bench_mpi::run(arguments, as_json)
    }
}
