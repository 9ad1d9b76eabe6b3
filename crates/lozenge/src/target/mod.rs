//! The registry: which targets there are, and what each needs beside printing.
//!
//! A target is a value of the crate `targets` (its name, its options, its stages, its text) that
//! also implements [`Backend`] here: how a source becomes its files, how these are run, and how
//! they are measured. Whoever needs a target gets it from here by its name, and asks it what it can
//! do.

mod athread;
mod mpi;
mod openmp;

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

use graph::Model;
use loops::Diagnostic;
use targets::{Output, Setting, Stage};

use crate::cli;
use crate::execute::Executable;
use crate::failure::Failure;
use crate::pipeline::Front;
use crate::pipeline::graph::{CompiledModel, ModelRequest};
use crate::request::Request;

/// All targets; the first is the one that is meant where none is named.
static ALL: [Target; 3] =
    [Target(&targets::openmp::OpenMp), Target(&targets::athread::Athread), Target(&targets::mpi::Mpi)];

/// What a source became.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// Its files, and remarks on them.
    pub output: Output,
    /// Things to look at; the files are right without.
    pub warnings: Vec<Diagnostic>,
}

/// What a model became.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelFiles {
    /// Its files, and remarks on them.
    pub output: Output,
    /// The block of parameters; empty where a stage on the way was asked for.
    pub parameters: Vec<u8>,
}

/// A model that was built.
#[derive(Debug)]
pub(crate) struct ModelProgram {
    /// Places, calls, parameters.
    pub compiled: CompiledModel,
    /// Its first routine is the model.
    pub executable: Executable,
    /// Remarks on how it was compiled, a line each.
    pub notes: Vec<String>,
    /// Where the report of an emulator will be, and what it emulates.
    pub emulated: Option<(PathBuf, &'static str)>,
}

/// What a target needs that takes other crates, or processes.
pub(crate) trait Backend: targets::Target {
    /// The files of a source, or a stage on the way. Options of the request that the target does
    /// not have were refused before.
    fn compile(&self, front: &Front, stage: Stage, request: &Request) -> Result<Compiled, Failure>;

    /// The files of a prepared model, or a stage on the way: of targets that translate models.
    fn compile_model(&self, _: &Model, _: Stage, _: &ModelRequest) -> Result<ModelFiles, Failure> {
        Err(no_models(self.name()))
    }

    /// A prepared model as a program that runs: of targets that translate models.
    fn build_model(&self, _: &Model, _: &ModelRequest, _: &cli::Run) -> Result<ModelProgram, Failure> {
        Err(no_models(self.name()))
    }

    /// What `lozenge run` runs, in a few words.
    fn runs(&self) -> &'static str;

    /// `lozenge run`.
    fn run(&self, arguments: &cli::Run, as_json: bool) -> Result<(), Failure>;

    /// What `lozenge bench` measures, in a few words.
    fn measures(&self) -> &'static str;

    /// `lozenge bench`.
    fn bench(&self, arguments: &cli::Bench, as_json: bool) -> Result<(), Failure>;
}

/// One of the targets. It has the methods of [`targets::Target`].
#[derive(Clone, Copy)]
pub struct Target(&'static dyn Backend);

impl Target {
    /// All targets.
    pub fn all() -> &'static [Target] {
        &ALL
    }

    /// The target of this name.
    pub fn named(name: &str) -> Option<Target> {
        ALL.iter().copied().find(|target| target.name() == name)
    }

    /// What needs other crates, or processes.
    pub(crate) fn backend(self) -> &'static dyn Backend {
        self.0
    }
}

impl Deref for Target {
    type Target = dyn targets::Target;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Default for Target {
    fn default() -> Target {
        ALL[0]
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Target {}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Target").field(&self.name()).finish()
    }
}

/// The settings that some target has, each with the name of that target.
pub(crate) fn settings() -> impl Iterator<Item = (&'static str, &'static Setting)> {
    ALL.iter().flat_map(|target| target.settings().iter().map(|setting| (target.name(), setting)))
}

/// Words with commas between them, and one word before the last.
pub(crate) fn list(words: &[impl AsRef<str>], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [before @ .., end] => {
            let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
            format!("{} {last} {}", before.join(", "), end.as_ref())
        }
    }
}

/// The names of targets, for messages.
pub(crate) fn names(targets: impl Iterator<Item = Target>) -> String {
    list(&targets.map(|target| target.name()).collect::<Vec<_>>(), "and")
}

/// A target that models are not translated for.
pub(crate) fn no_models(name: &str) -> Failure {
    let others = names(ALL.iter().copied().filter(|target| target.abilities().models));
    Failure::refused("X0007", format!("a model is not translated for the target {name}"))
        .help(format!("models have the targets {others}"))
}

/// A stage that models do not have.
pub(crate) fn no_stage_of_models(stages: &str) -> Failure {
    Failure::refused("X0007", "a model does not have this stage, only its operators do")
        .help(format!("stages of models are {stages}"))
}

/// A stage that a target does not have.
pub(crate) fn no_stage(target: &dyn targets::Target) -> Failure {
    let stages: Vec<&str> = target.stages().iter().map(|stage| stage.name()).collect();
    let message = format!("the target {} does not have this stage", target.name());
    Failure::refused("X0007", message).help(format!("the stages are {}", list(&stages, "and")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_their_settings_have_names_of_their_own() {
        for target in Target::all() {
            assert_eq!(Target::named(target.name()), Some(*target));
            assert!(target.stages().contains(&Stage::C), "{target:?}");
            for setting in target.settings() {
                assert!(setting.values.iter().any(|(value, _)| *value == setting.default), "{setting:?}");
            }
        }
        let mut names: Vec<_> = settings().map(|(_, setting)| setting.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
