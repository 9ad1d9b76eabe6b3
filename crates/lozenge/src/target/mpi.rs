//! The target `mpi`: files by the mapping of `pipeline::mpi`, programs by `mpirun`.

use targets::mpi::Mpi;
use targets::{Output, Stage};

use super::{Backend, Compiled};
use crate::cli::{Bench, Run};
use crate::command;
use crate::failure::Failure;
use crate::pipeline::{Front, mpi};
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
