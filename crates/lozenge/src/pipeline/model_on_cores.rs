//! Models for core groups: each operator is mapped as a functional program is, and what is not
//! mapped is plain C for the host.
//!
//! The plan is that of `graph::plan` without tiles for vector registers: the mapping makes its own.

use graph::Model;
use graph::plan::{self, Kernel};
use loops::{Code, Function, Name, Program};
use polyhedral::athread::Mapped;
use targets::athread::{Cores, Files};
use targets::{File, Signature};

use super::athread;
use super::graph::{self as models, CompiledModel, ModelRequest};
use crate::failure::Failure;
use crate::request::{Event, Request};

/// A model for the cores of a core group.
#[derive(Debug)]
pub struct ModelOnCores {
    /// The plan, and the C of the model's function with the operators that the host runs.
    pub compiled: CompiledModel,
    /// Declarations of the functions that spawn: the name of the header and its text.
    pub declarations: (String, String),
    /// The host and slave files of the operators on cores.
    pub files: Files,
    /// What was mapped, and why the rest was not; a line each.
    pub notes: Vec<String>,
    /// The operators on cores as they were mapped, and those of the host.
    pub program: Program,
}

impl ModelOnCores {
    /// The files by their names, with what is said of them.
    pub fn output(self, stem: &str) -> targets::Output {
        let stem = targets::stem(stem);
        let mut output = self.files.output(&stem);
        output.notes.splice(0..0, self.notes);
        output.shown = output.files.len();
        output.files.push(File::new(format!("{stem}.c"), self.compiled.source));
        output.files.push(File::new(format!("{stem}.h"), self.compiled.header));
        output.files.push(File::new(self.declarations.0, self.declarations.1));
        output
    }
}

/// What became of an operator.
struct Operator {
    /// Its loops before any mapping.
    original: Function,
    /// On cores, or why not.
    mapped: Result<Mapped, Refusal>,
}

/// Why an operator is not on cores.
struct Refusal {
    code: Code,
    message: String,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        let code = failure.diagnostics.first().map_or(Code("P0801"), |first| first.code);
        let messages: Vec<String> = failure.diagnostics.into_iter().map(|d| d.message).collect();
        Refusal { code, message: messages.join("; ") }
    }
}

impl Operator {
    /// What becomes C of it.
    fn function(&self) -> &Function {
        self.mapped.as_ref().map_or(&self.original, |mapped| &mapped.function)
    }
}

/// Compiles a prepared model for a core group.
///
/// # Errors
/// Operators without a program, types that programs lack, and what the stages refuse. An operator
/// that is not mapped is no error.
pub fn compile(model: &Model, request: &ModelRequest) -> Result<ModelOnCores, Failure> {
    let progress = &request.progress;
    progress.step("planning memory and calls");
    let plan = plan::plan(model, None)?;
    let stem = request.function();
    let cores = Request {
        settings: request.settings.clone(),
        threads: request.threads,
        stem: stem.clone(),
        ..Request::default()
    };
    progress.tell(Event::Count("mapping operators", plan.kernels.len() as u64));
    let mut operators = Vec::new();
    for kernel in &plan.kernels {
        progress.tell(Event::Item(&kernel.operator.to_string()));
        operators.push(operator(kernel, &targets::stem(&stem), &cores)?);
        progress.tell(Event::Counted);
    }
    progress.tell(Event::End);
    progress.step("writing the C");
    let chip = Cores::of(&cores.settings).chip;
    let threads = athread::grid(&cores)?.cores();
    let on_cores: Vec<&Function> =
        operators.iter().filter_map(|one| one.mapped.as_ref().ok()).map(|mapped| &mapped.function).collect();
    let mut files = targets::athread::emit(&on_cores, &stem, threads, chip)?;
    let stem = targets::stem(&stem);
    files.build = targets::athread::build_script(&stem, chip, &files.micro_kernels, &[&stem]);
    let program = Program { functions: operators.iter().map(Operator::function).cloned().collect() };
    let notes = notes(&plan.kernels, &operators);
    let (compiled, declarations) = host(plan, operators, request, &stem)?;
    Ok(ModelOnCores { compiled, declarations, files, notes, program })
}

/// Maps an operator, where that can be done.
fn operator(kernel: &Kernel, stem: &str, cores: &Request) -> Result<Operator, Failure> {
    let of = |d: loops::Diagnostic| d.note(format!("in the program of {}", kernel.operator));
    let mut open = models::lower(kernel, &passes::MODEL_MAPPED).map_err(of)?;
    open.name = Name::from(format!("{stem}_{}", open.name));
    let mapped = athread::kernel(&open, cores).map_err(Refusal::from);
    // What the host runs is arranged for one core.
    let original = match &mapped {
        Ok(_) => open,
        Err(_) => models::lower(kernel, &passes::MODEL).map_err(of)?,
    };
    Ok(Operator { original, mapped })
}

/// The C of the host: the model's function, its own operators, and declarations of those on cores.
fn host(
    plan: plan::Plan,
    operators: Vec<Operator>,
    request: &ModelRequest,
    stem: &str,
) -> Result<(CompiledModel, (String, String)), Failure> {
    let alone = |spawns: bool| {
        let wanted = operators.iter().filter(move |one| one.mapped.is_ok() == spawns);
        Program { functions: wanted.map(|one| one.original.clone()).collect() }
    };
    let options = targets::Options { local: true, parallel: false, ..targets::Options::default() };
    let mut emitted = targets::emit(&alone(false), &options)?;
    let spawning = targets::emit(&alone(true), &targets::Options::default())?;
    let (mut own, mut spawned) = (emitted.signatures.into_iter(), spawning.signatures.into_iter());
    let both = operators.iter().map(|one| if one.mapped.is_ok() { spawned.next() } else { own.next() });
    let signatures: Vec<Signature> = both.flatten().collect();
    let header = format!("{stem}_kernels.h");
    emitted.source = format!("#include \"{header}\"\n{}", emitted.source);
    emitted.signatures = signatures;
    let program = Program { functions: operators.into_iter().map(|one| one.original).collect() };
    Ok((models::assembled(plan, program, emitted, request)?, (header, spawning.header)))
}

/// How many operators are on cores, and why others are not: one reason for calls of the same kind.
fn notes(kernels: &[Kernel], operators: &[Operator]) -> Vec<String> {
    let mapped = operators.iter().filter(|one| one.mapped.is_ok()).count();
    let mut notes = vec![format!("{mapped} of {} operators run on cores", operators.len())];
    let mut reasons: Vec<(&str, &Refusal, usize)> = Vec::new();
    for (kernel, operator) in kernels.iter().zip(operators) {
        let Err(why) = &operator.mapped else { continue };
        let same = |(name, known, _): &&mut (&str, &Refusal, usize)| {
            *name == kernel.operator && known.code == why.code
        };
        match reasons.iter_mut().find(same) {
            Some((.., count)) => *count += 1,
            None => reasons.push((&kernel.operator, why, 1)),
        }
    }
    notes.extend(reasons.into_iter().map(|(name, why, count)| {
        let others = if count > 1 { format!(" ({count} of them)") } else { String::new() };
        format!("{name}{others} on the host: {}: {}", why.code, why.message)
    }));
    notes
}
