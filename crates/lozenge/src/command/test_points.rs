//! `lozenge test`: cases at their sizes, compiled by every compiler, run, and compared with the
//! interpreter and the evaluator.

use std::collections::BTreeMap;

use loops::{Name, Tensor};

use super::test::Verdict;
use crate::bind::{self, Given, Sizes};
use crate::check;
use crate::execute::{Build, Executable, Schedule};
use crate::failure::Failure;
use crate::pipeline::{self, Lowered};
use crate::process::{Compiler, Optimise};
use crate::request::{Mode, Request};
use crate::value::{Closeness, Value};

/// One combination of sizes of a case, ready to run.
pub(super) struct Point {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) routine: usize,
    pub(super) sizes: Sizes,
    pub(super) values: BTreeMap<Name, Value>,
    pub(super) expected: Option<Value>,
    pub(super) seed: u64,
}

/// A definition lowered by one choice of mode and strategy.
pub(super) struct Routine {
    pub(super) request: Request,
    pub(super) lowered: Lowered,
    pub(super) paper: bool,
}

impl Routine {
    /// Whether this is what another case asks for.
    pub(super) fn is_for(&self, other: &Request) -> bool {
        let own = &self.request;
        (&own.definition, own.mode, &own.strategy, &own.types)
            == (&other.definition, other.mode, &other.strategy, &other.types)
    }
}

/// A failure that says which of several compilers made the program.
pub(super) fn compiled_by(failure: Failure, compiler: &Compiler, compilers: &[Compiler]) -> Failure {
    if compilers.len() < 2 {
        return failure;
    }
    failure.note(format!("compiled by {}", compiler.command.display()))
}

/// The routines of a mode, as one program by each compiler.
struct Built<'a> {
    programs: Vec<(&'a Compiler, Executable)>,
    /// The places of the routines among all.
    places: Vec<usize>,
}

/// Compiles the routines, those of paper mode apart from the others, and runs the points.
pub(super) fn run_points(
    routines: &[Routine],
    points: Vec<Point>,
    compilers: &[Compiler],
    sanitize: bool,
) -> Vec<Verdict> {
    let mut built: BTreeMap<bool, Result<Built<'_>, Failure>> = BTreeMap::new();
    let mut verdicts = Vec::new();
    for point in points {
        let routine = &routines[point.routine];
        let built =
            built.entry(routine.paper).or_insert_with(|| build(routines, routine.paper, compilers, sanitize));
        let outcome = match built {
            Err(failure) => Err(failure.clone()),
            Ok(built) => match built.places.iter().position(|p| *p == point.routine) {
                None => Err(Failure::refused("X0601", "the compiler failed: a routine is lost")),
                Some(place) => run_point(routine, &point, &built.programs, place),
            },
        };
        let (failure, unfit) = match outcome {
            Ok(Ran::Agrees) => (None, None),
            Ok(Ran::Unfit(why)) => (None, Some(why)),
            Err(failure) => (Some(failure), None),
        };
        let (line, text) = (point.line, point.text);
        verdicts.push(Verdict { line, text, failure, unfit, ..Verdict::default() });
    }
    verdicts
}

/// One program with all routines of a mode.
fn build<'a>(
    routines: &[Routine],
    paper: bool,
    compilers: &'a [Compiler],
    sanitize: bool,
) -> Result<Built<'a>, Failure> {
    let places: Vec<usize> = (0..routines.len()).filter(|k| routines[*k].paper == paper).collect();
    let mut program = loops::Program::default();
    for place in &places {
        // One definition may be there several times, by different strategies.
        let mut function = routines[*place].lowered.function.clone();
        function.name = Name::new(format!("{}_{place}", function.name));
        program.functions.push(function);
    }
    let mode = if paper { Mode::Paper } else { Mode::Default };
    let emitted = pipeline::to_c(&program, &Request { mode, ..super::request() }, Some("program.h".into()))?;
    let mut flags = Optimise::Exact.flags().to_vec();
    if sanitize {
        flags.extend(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    let build = Build {
        files: &[("program.c", &emitted.source)],
        routines: &emitted.signatures,
        header: &emitted.header,
        flags: &flags,
        libraries: &[],
    };
    let programs = compilers.iter().map(|compiler| {
        let program = Executable::build(compiler, &build);
        Ok((compiler, program.map_err(|failure| compiled_by(failure, compiler, compilers))?))
    });
    Ok(Built { programs: programs.collect::<Result<_, Failure>>()?, places })
}

/// Whether a program left an array, read what is not set, or did what has no value.
fn has_no_meaning(failure: &Failure) -> bool {
    let codes = ["L0303", "L0304", "L0305", "L0310"];
    failure.diagnostics.iter().any(|d| codes.contains(&d.code.0))
}

/// What came of a point.
enum Ran {
    /// All results are the same.
    Agrees,
    /// C has no meaning on the random data that takes the place of arguments: the text of the
    /// region leaves an array, say.
    Unfit(Failure),
}

fn run_point(
    routine: &Routine,
    point: &Point,
    programs: &[(&Compiler, Executable)],
    place: usize,
) -> Result<Ran, Failure> {
    let lowered = &routine.lowered;
    let function = &lowered.function;
    let mut arrays = BTreeMap::new();
    for (name, value) in &point.values {
        let Some(param) = function.params.iter().find(|p| p.name == *name) else { continue };
        let mut shape = value
            .shape()
            .ok_or_else(|| Failure::refused("X0205", format!("the rows of `{name}` differ in length")))?;
        // A list without elements does not say its inner extents; the sizes do.
        if shape.last() == Some(&0) && shape.len() < param.dims.len() {
            let known = param
                .dims
                .iter()
                .map(|d| bind::integer(d, &point.sizes).and_then(|v| usize::try_from(v).ok()));
            if let Some(known) = known.collect::<Option<Vec<usize>>>() {
                shape.extend_from_slice(&known[shape.len()..]);
            }
        }
        let tensor = value.tensor(&param.elem, &shape).map_err(|why| {
            Failure::refused("X0205", format!("`{name}` is {}, but {why}", bind::type_of(param)))
        })?;
        arrays.insert(name.clone(), Given { origin: format!("the value of `{name}`"), tensor });
    }
    let sizes = bind::sizes(function, &point.sizes, &arrays)?;
    bind::check_memory(function, &sizes, 6)?;
    let ranges = check::ranges(lowered.definition.as_ref(), function, lowered.original.as_ref(), &sizes);
    let inputs = bind::inputs(function, &sizes, &arrays, &ranges, point.seed)?;

    let exact = !check::reassociates(function) && !lowered.reassociated;
    let closeness = if exact { Closeness::Exact } else { Closeness::REASSOCIATED };
    let reference = match &lowered.definition {
        Some(definition) => ("the evaluator", check::by_evaluator(definition, function, &sizes, &inputs)?),
        None => {
            let original = lowered.original.as_ref().unwrap_or(function);
            match check::by_interpreter(original, &sizes, &inputs, None, lowered.of_c) {
                Err(failure) if lowered.of_c && has_no_meaning(&failure) => return Ok(Ran::Unfit(failure)),
                outputs => ("the interpreter", outputs?),
            }
        }
    };
    for shuffle in [None, Some(point.seed), Some(!point.seed)] {
        let interpreted = check::by_interpreter(function, &sizes, &inputs, shuffle, lowered.of_c)?;
        check::compare(function, ("the interpreter", &interpreted), (reference.0, &reference.1), closeness)?;
    }
    for (compiler, program) in programs {
        let schedule = Schedule { threads: Some(2), ..Schedule::ONCE };
        let outcome = program.run(place, &sizes, &inputs, schedule)?;
        let told = if programs.len() < 2 {
            "the compiled program".to_owned()
        } else {
            format!("the program compiled by {}", compiler.command.display())
        };
        let reference = (reference.0, &reference.1[..]);
        check::compare(function, (&told, &outcome.outputs), reference, closeness)?;
    }
    match &point.expected {
        None => Ok(Ran::Agrees),
        Some(expected) => compare_expected(function, &reference.1, expected).map(|()| Ran::Agrees),
    }
}

fn compare_expected(function: &loops::Function, results: &[Tensor], expected: &Value) -> Result<(), Failure> {
    // Several results are written as nested pairs; each takes the first half and leaves the second.
    let mut rest = expected.clone();
    let mut tensors = Vec::new();
    for (k, result) in results.iter().enumerate() {
        let value = match rest {
            Value::Pair(first, second) if k + 1 < results.len() => {
                rest = *second;
                *first
            }
            ref other => other.clone(),
        };
        let shape = match value.shape() {
            Some(shape) if shape.last() == Some(&0) && result.data.is_empty() => result.shape.clone(),
            Some(shape) => shape,
            None => {
                return Err(Failure::refused("X0205", "the rows of the expected result differ in length"));
            }
        };
        let elem = result.data.elem();
        tensors.push(
            value
                .tensor(&elem, &shape)
                .map_err(|why| Failure::refused("X0205", format!("the result is {elem}, but {why}")))?,
        );
    }
    check::compare(function, ("the program", results), ("the expected result", &tensors), Closeness::WRITTEN)
}
