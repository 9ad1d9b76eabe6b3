//! The calls that programs begin with: a source or a model in, text and warnings out.
//!
//! Each runs on a stack that holds deeply nested programs, and turns a panic into a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use targets::Stage;

use crate::failure::{Failure, Source};
use crate::pipeline::Front;
use crate::pipeline::graph::{self as models, CompiledModel, ModelRequest, at};
use crate::pipeline::rewriting::by_shipped_rules;
use crate::request::{Kind, Request};
use crate::target::Compiled;

/// Programs nest as deep as their authors like, and the stages recurse; each refuses what is beyond
/// its own bound, and this stack holds that.
pub(crate) const STACK: usize = 1 << 30;

/// Does the work on a stack of its own.
///
/// # Errors
/// What the work refuses; `X0601` if it panics.
pub fn deep<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let guarded = || catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(defect(&*panic)));
    std::thread::scope(|scope| {
        match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, guarded) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| Err(defect(&*panic))),
            Err(error) => Err(Failure::environment(
                "X0004",
                format!("can't start a thread with a stack of 1 GiB: {error}"),
            )),
        }
    })
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// A panic as a failure.
fn defect(panic: &(dyn std::any::Any + Send)) -> Failure {
    if let Some(hang) = panic.downcast_ref::<polyhedral::Hang>() {
        return of_hang(hang);
    }
    Failure::refused("X0601", format!("the compiler failed: {}", panic_message(panic)))
        .help("this is a defect of lozenge: please report the program and the call")
}

/// A computation on integer sets that did not end.
pub(crate) fn of_hang(hang: &polyhedral::Hang) -> Failure {
    Failure::refused("P0003", hang.to_string()).help("split the loops, or the region, into smaller ones")
}

/// Compiles a source for the target that the request names.
///
/// C becomes C with its regions rewritten; a functional program or loop program becomes functions,
/// of all its definitions or of the one that is named.
///
/// # Errors
/// What is refused, as diagnostics with codes and places.
pub fn compile(source: &Source, kind: Kind, request: &Request) -> Result<Compiled, Failure> {
    compile_to(source, kind, Stage::C, request)
}

/// As [`compile`], and stops at a stage: its text is that of the only file.
///
/// # Errors
/// As [`compile`]; `X0007` for a stage that the source or the target does not have.
pub fn compile_to(source: &Source, kind: Kind, stage: Stage, request: &Request) -> Result<Compiled, Failure> {
    deep(|| Front::open(source, kind, request)?.compile(stage, request))
}

/// A model that was rewritten.
#[derive(Clone, Debug)]
pub struct OptimizedModel {
    /// The model, as an ONNX file.
    pub bytes: Vec<u8>,
    /// How often a rule was applied.
    pub rewrites: usize,
    /// The number of nodes before and after.
    pub nodes: (usize, usize),
    /// Things to look at; the model is right without.
    pub warnings: Vec<String>,
}

/// Rewrites an ONNX model by the substitution rules that ship, until none applies.
///
/// Sizes of the request are built into the model; other named extents stay.
///
/// # Errors
/// `G0101` and others for bytes that are no model; `G0105` for one with parameters in files of
/// their own, which bytes do not have.
pub fn optimize_model(bytes: &[u8], request: &ModelRequest) -> Result<OptimizedModel, Failure> {
    deep(|| {
        let mut model = read(bytes, request)?;
        let mut warnings = models::sound(&mut model, &request.name, request.strict)?;
        let before = graph::bodies::count(&model.graph);
        let done = by_shipped_rules(&mut model, request)?;
        warnings.extend(done.warnings);
        let nodes = (before, graph::bodies::count(&model.graph));
        let bytes = graph::onnx::write(&model);
        Ok(OptimizedModel { bytes, rewrites: done.total.applied, nodes, warnings })
    })
}

/// Compiles an ONNX model to C: one function for the whole model, and those that it calls.
///
/// # Errors
/// As [`optimize_model`]; operators without a program, and extents that have no number.
pub fn compile_model(bytes: &[u8], request: &ModelRequest) -> Result<(CompiledModel, Vec<String>), Failure> {
    deep(|| {
        let mut model = read(bytes, request)?;
        let mut warnings = models::sound(&mut model, &request.name, request.strict)?;
        let (model, declared) = models::prepare(model, request)?;
        warnings.extend(declared);
        Ok((models::compile(&model, request)?, warnings))
    })
}

/// The model of these bytes, with its functions in place of their calls.
fn read(bytes: &[u8], request: &ModelRequest) -> Result<graph::Model, Failure> {
    let refuse = |d| at(&request.name, d);
    let mut model = graph::onnx::read(&Bytes::copy_from_slice(bytes)).map_err(refuse)?;
    graph::functions::inline(&mut model).map_err(refuse)?;
    if let Some(file) = graph::onnx::external::locations(&model.graph).into_iter().next() {
        let message = format!("the data of parameters are in the file `{file}`, which is not given");
        return Err(refuse(loops::Diagnostic::general(loops::Code("G0105"), message)));
    }
    Ok(model)
}
