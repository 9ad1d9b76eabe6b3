//! From models to C: each distinct call of an operator through the functional language, the
//! translation and the loops, and one function that calls them.

use std::collections::BTreeMap;
use std::path::Path;

use graph::plan::{self, Kernel, Place, Plan, Step};
use graph::simplify::FoldOptions;
use graph::{Budget, Model, operators};
use loops::{Code, Diagnostic, Function, Name, Program, Registers};
use targets::Signature;
use targets::model::{self, Call, Port};

use super::History;
use crate::failure::Failure;
use crate::library;
use crate::request::{Event, Progress};

/// A model as C.
#[derive(Debug)]
pub struct CompiledModel {
    /// Places, calls, parameters.
    pub plan: Plan,
    /// The functions of the calls, as the target got them.
    pub program: Program,
    /// The C file.
    pub source: String,
    /// The declaration of the model's function. The other functions are static.
    pub header: String,
    /// The function of the whole model.
    pub signature: Signature,
    /// The function that tells the bytes that a run takes, where extents are arguments.
    pub memory: Option<String>,
    /// The functions that it calls.
    pub kernels: Vec<Signature>,
}

/// What is asked for of a model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// What messages call the model, such as the name of its file.
    pub name: String,
    /// Numbers for the named extents of its inputs.
    pub sizes: BTreeMap<Name, i64>,
    /// What becomes of the named extents without a number.
    pub extents: Extents,
    /// Bytes for constants that are computed.
    pub memory: u64,
    /// What the function of the model is called; none: by the name of the file.
    pub prefix: Option<String>,
    /// Whether the function counts the time of its calls, and prints it at the end of the program.
    pub profile: bool,
    /// Lines that the header begins with.
    pub about: Vec<String>,
    /// Whether a model is refused that the standard does not allow and that has one meaning only.
    pub strict: bool,
    /// The vector registers of a core; none: those of this machine.
    pub registers: Option<Registers>,
    /// Values of options that only some targets have.
    pub settings: targets::Settings,
    /// The number of cores, of targets whose code is for a number of them.
    pub threads: Option<u32>,
    /// The number of ranks that the code is made for, of targets for several ranks.
    pub ranks: Option<u32>,
    /// Who is told what is being done.
    pub progress: Progress,
}

/// What becomes of named extents without a number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Extents {
    /// There may be none.
    #[default]
    Numbers,
    /// They are arguments of the C function. For a run these numbers are known.
    Arguments(BTreeMap<Name, i64>),
}

impl Default for ModelRequest {
    fn default() -> ModelRequest {
        ModelRequest {
            name: "model".to_owned(),
            sizes: BTreeMap::new(),
            extents: Extents::default(),
            memory: Budget::default().memory,
            prefix: None,
            profile: false,
            about: Vec::new(),
            strict: false,
            registers: None,
            settings: targets::Settings::default(),
            threads: None,
            ranks: None,
            progress: Progress::default(),
        }
    }
}

impl ModelRequest {
    /// The name of the model's function: the prefix, or the name of the file without its ending.
    pub(crate) fn function(&self) -> String {
        let of_file = || Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.prefix.clone().or_else(of_file).filter(|name| !name.is_empty()).unwrap_or("model".to_owned())
    }

    /// The numbers that are known for a run.
    pub fn numbers(&self) -> BTreeMap<Name, i64> {
        let mut numbers = self.sizes.clone();
        if let Extents::Arguments(more) = &self.extents {
            numbers.extend(more.clone());
        }
        numbers
    }

    /// The vector registers to compile for.
    ///
    /// # Errors
    /// `X0804` if the environment says something that is no registers.
    pub fn registers(&self) -> Result<Registers, Failure> {
        self.registers.map_or_else(crate::machine::registers, Ok)
    }
}

/// A diagnostic about a model of this name.
pub fn at(name: &str, diagnostic: Diagnostic) -> Failure {
    Failure::from(diagnostic).note(format!("in {name}"))
}

/// Whether a model hangs together and its operators are of versions that are known. What has one
/// meaning only is put right, unless that is to be refused (`strict`). What is to be said of that
/// and of versions is the result.
///
/// # Errors
/// What validation finds, `G0212` for operator sets.
pub fn sound(model: &mut Model, name: &str, strict: bool) -> Result<Vec<String>, Failure> {
    let mut said = if strict { Vec::new() } else { short(graph::tolerate(model)) };
    let found = graph::validate(model);
    if !found.is_empty() {
        let failure = Failure { diagnostics: found, ..at(name, Diagnostic::general(Code("G0201"), "")) };
        return Err(failure.note(format!("in {name}")));
    }
    let older = graph::opsets::check(model).map_err(|d| at(name, d))?;
    said.extend(older.map(|older| {
        let treated = match older.operators.as_slice() {
            [one] => format!("{one} is"),
            several => format!("{} are", several.join(", ")),
        };
        format!(
            "{name} is written for version {} of the standard operators; {treated} treated as in a newer version, in which nothing that it uses has changed",
            older.version
        )
    }));
    Ok(said)
}

/// So many warnings of one kind are given, at most.
const MOST_SAID: usize = 8;

/// The first sentences, and how many were left out.
fn short(mut said: Vec<String>) -> Vec<String> {
    let more = said.len().saturating_sub(MOST_SAID);
    said.truncate(MOST_SAID);
    if more > 0 {
        said.push(format!("and {more} more of this kind"));
    }
    said
}

/// What is declared of results and contradicts their operators, after inference. The operators are
/// believed.
///
/// # Errors
/// `G0301` if that is to be refused (`strict`).
pub fn declared(model: &Model, name: &str, strict: bool) -> Result<Vec<String>, Failure> {
    let found = graph::infer::misdeclared(model);
    match found.first() {
        Some(first) if strict => Err(at(name, Diagnostic::general(Code("G0301"), first.clone()))),
        _ => Ok(short(found)),
    }
}

/// Gives the named extents of the inputs of a sound model numbers, infers its types, and leaves out
/// what need not be computed. The warnings are of declared types that contradict operators.
///
/// # Errors
/// What inference finds.
pub fn prepare(mut model: Model, request: &ModelRequest) -> Result<(Model, Vec<String>), Failure> {
    let refuse = |d| at(&request.name, d);
    match request.extents {
        Extents::Numbers => plan::bind(&mut model, &request.sizes),
        Extents::Arguments(_) => plan::bind_some(&mut model, &request.sizes),
    }
    .map_err(refuse)?;
    let warnings = declared(&model, &request.name, request.strict)?;
    // The compiled function has no argument for them.
    model.graph.fix_defaults();
    let options = FoldOptions { returned: true, ..FoldOptions::default() }.within(request.memory);
    graph::control::settle(&mut model, &options).map_err(refuse)?;
    Ok((model, warnings))
}

/// Compiles a prepared model.
///
/// # Errors
/// Operators without a program, types that programs lack, and what the stages refuse.
pub fn compile(model: &Model, request: &ModelRequest) -> Result<CompiledModel, Failure> {
    let progress = &request.progress;
    progress.step("planning memory and calls");
    let plan = plan::plan(model, request.registers()?)?;
    let functions = translated(&plan, progress)?;
    progress.step("writing the C");
    let program = Program { functions };
    let options = targets::Options { workspace: true, local: true, ..targets::Options::default() };
    let emitted = targets::emit(&program, &options)?;
    assembled(plan, program, emitted, request)
}

/// The C of the functions of a plan, with the function of the model behind them.
pub(super) fn assembled(
    plan: Plan,
    program: Program,
    emitted: targets::Emitted,
    request: &ModelRequest,
) -> Result<CompiledModel, Failure> {
    let takes = emitted.source.contains(model::WORKSPACE);
    let workspace_bytes =
        if takes { program.functions.iter().map(|f| taken(&f.body)).max().unwrap_or(0) } else { 0 };
    let port = |port: &plan::Port| Port {
        name: port.name.clone(),
        elem: operators::carrier(port.elem).unwrap_or(loops::Scalar::F32),
        dims: port.dims.clone(),
    };
    let whole = model::Model {
        name: request.function().into(),
        inputs: plan.inputs.iter().map(port).collect(),
        outputs: plan.outputs.iter().map(port).collect(),
        parameter_bytes: plan.parameter_bytes,
        arena_bytes: plan.arena_bytes.next_multiple_of(64),
        rooms: plan.rooms.iter().map(|room| room.bytes.clone()).collect(),
        extents: plan.extents.clone(),
        workspace_bytes: workspace_bytes.min(MOST_WORKSPACE),
        steps: plan.steps.iter().map(step).collect(),
        profile: request.profile,
    };
    let model::Driver { text: driver, signature, memory } = model::driver(&whole, &emitted.signatures);
    let source = format!(
        "{HEAD}{}\n{driver}",
        emitted.source.replacen("#define _POSIX_C_SOURCE 200112L /* posix_memalign */\n", "", 1)
    );
    let kernels = emitted.signatures;
    let mut compiled =
        CompiledModel { plan, program, source, header: String::new(), signature, memory, kernels };
    let name = compiled.signature.c_name.clone();
    let mut entries = vec![library::of_model(&compiled, "the file that came with the C")];
    entries.extend(library::of_memory(&compiled));
    compiled.header = library::header(&format!("{name}.h"), &request.about, &[], &entries);
    Ok(compiled)
}

/// The functions of a plan's kernels.
fn translated(plan: &Plan, progress: &Progress) -> Result<Vec<Function>, Diagnostic> {
    progress.tell(Event::Count("translating operators", plan.kernels.len() as u64));
    let one = |kernel: &Kernel| {
        progress.tell(Event::Item(&kernel.operator.to_string()));
        let function = lower(kernel, &passes::MODEL)
            .map_err(|d| d.note(format!("in the program of {}", kernel.operator)))?;
        progress.tell(Event::Counted);
        Ok(function)
    };
    let functions = plan.kernels.iter().map(one).collect();
    progress.tell(Event::End);
    functions
}

fn place(place: Place) -> model::Place {
    match place {
        Place::Input(k) => model::Place::Input(k),
        Place::Output(k) => model::Place::Output(k),
        Place::Parameters(at) => model::Place::Parameters(at),
        Place::Arena(at) => model::Place::Arena(at),
        Place::Room(k) => model::Place::Room(k),
    }
}

fn slice(slice: &plan::Slice) -> model::Slice {
    model::Slice { place: place(slice.place), first: slice.first.clone(), step: slice.step.clone() }
}

/// A step of a plan as the target takes it.
fn step(step: &Step) -> model::Step {
    let check = |check: &plan::Check| model::Check {
        place: place(check.place),
        elem: operators::carrier(check.elem).unwrap_or(loops::Scalar::I64),
        count: check.count.clone(),
        extents: check.extents.clone(),
    };
    let all = |steps: &[Step]| steps.iter().map(self::step).collect();
    match step {
        Step::Call(call) => model::Step::Call(Call {
            function: call.kernel,
            sizes: call.sizes.clone(),
            arguments: call.arguments.iter().chain(&call.results).copied().map(place).collect(),
            checks: call.checks.iter().map(check).collect(),
            comment: call.node.clone(),
        }),
        Step::Copy(copy) => {
            model::Step::Copy { from: slice(&copy.from), to: slice(&copy.to), bytes: copy.bytes.clone() }
        }
        Step::Branch(branch) => model::Step::Branch {
            condition: place(branch.condition),
            then: all(&branch.then),
            otherwise: all(&branch.otherwise),
            comment: branch.node.clone(),
        },
        Step::Fail(why) => model::Step::Fail(why.clone()),
        Step::Repeat(repeat) => model::Step::Repeat {
            rounds: match &repeat.rounds {
                plan::Rounds::Known(n) => model::Rounds::Known(n.clone()),
                plan::Rounds::Data(at) => model::Rounds::Data(place(*at)),
                plan::Rounds::Unlimited => model::Rounds::Unlimited,
            },
            condition: repeat.condition.map(place),
            number: repeat.number.map(place),
            body: all(&repeat.body),
            comment: repeat.node.clone(),
        },
    }
}

/// What the file begins with.
const HEAD: &str = "#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \"The results would be wrong: compile this file without -ffast-math, -Ofast, -fassociative-math, -ffinite-math-only.\"
#endif
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
";

/// Bytes of the workspace, at most; what does not fit takes memory of its own.
const MOST_WORKSPACE: usize = 1 << 30;

/// Bytes that local arrays take at most on the thread that calls: those inside parallel loops
/// belong to other threads.
fn taken(body: &[loops::Stmt]) -> usize {
    use loops::{Expr, LoopKind, Stmt};
    let of = |stmt: &Stmt| match stmt {
        Stmt::Local(local) => {
            let extent = |dim: &Expr| match dim {
                Expr::Int(n) => usize::try_from(*n).unwrap_or(0),
                _ => 0,
            };
            let count = local.dims.iter().map(extent).fold(1, usize::saturating_mul);
            let bytes: usize = local.elem.leaves().iter().map(|scalar| scalar.bytes().max(1)).sum();
            count.saturating_mul(bytes).saturating_add(64)
        }
        Stmt::Loop(l) if l.kind == LoopKind::Parallel => 0,
        other => other.bodies().into_iter().map(taken).fold(0, usize::saturating_add),
    };
    body.iter().map(of).fold(0, usize::saturating_add)
}

/// The loop function of a kernel after a list of passes.
pub(super) fn lower(kernel: &Kernel, pipeline: &passes::Pipeline) -> Result<Function, Diagnostic> {
    let definition = &kernel.definition;
    let translated = dpia::translate(definition, dpia::Mode::Default)?.function;
    let function = pipeline.run(translated, &mut Vec::new());
    let expected = definition.params.len() + kernel.results.len();
    // Results without dimensions that stand beside each other are one pair in memory; in a model
    // each has a place of its own.
    let function = match polyhedral::athread::pair_splitting::apart(&function) {
        Some(apart) if function.params.len() < expected => apart.function,
        _ => function,
    };
    if function.params.len() != expected {
        let message =
            format!("a function of {} parameters where {expected} are needed", function.params.len());
        return Err(Diagnostic::general(Code("G0405"), message));
    }
    Ok(function)
}

/// The loops of an operator's program, as models have them: extents are numbers, so most of what
/// subscripts are clamped to, and divided by, can be decided.
///
/// # Errors
/// What the translation refuses.
pub fn at_known_extents(definition: &functional::Definition) -> Result<Function, Diagnostic> {
    let History { before, mut applied } = history(definition)?;
    Ok(applied.pop().map_or(before, |last| last.function))
}

/// What the passes make of an operator's program.
///
/// # Errors
/// What the translation refuses.
pub fn history(definition: &functional::Definition) -> Result<History, Diagnostic> {
    let before = dpia::translate(definition, dpia::Mode::Default)?.function;
    let mut applied = Vec::new();
    passes::MODEL.run(before.clone(), &mut applied);
    Ok(History { before, applied })
}

/// The block of parameters: what a compiled model gets as its first argument.
pub fn parameter_block(plan: &Plan) -> Vec<u8> {
    let mut block = vec![0; plan.parameter_bytes];
    for (offset, _, tensor) in &plan.parameters {
        write_elements(&tensor.data, &mut block[*offset..]);
    }
    block
}

fn write_elements(data: &loops::Data, out: &mut [u8]) {
    macro_rules! numbers {
        ($v:expr, $n:literal) => {
            for (x, place) in $v.iter().zip(out.chunks_exact_mut($n)) {
                place.copy_from_slice(&x.to_ne_bytes());
            }
        };
    }
    match data {
        loops::Data::F32(v) => numbers!(v, 4),
        loops::Data::F64(v) => numbers!(v, 8),
        loops::Data::I32(v) => numbers!(v, 4),
        loops::Data::I64(v) => numbers!(v, 8),
        loops::Data::Bool(v) => v.iter().zip(out).for_each(|(x, place)| *place = u8::from(*x)),
        loops::Data::I8(v) => numbers!(v, 1),
        loops::Data::U8(v) => numbers!(v, 1),
        loops::Data::I16(v) => numbers!(v, 2),
        loops::Data::U16(v) => numbers!(v, 2),
        // Graphs have no others.
        _ => {}
    }
}
