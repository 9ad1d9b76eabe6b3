//! From functional programs to loop programs.

use std::collections::BTreeMap;

use dpia::{Abi, Translation};
use functional::strategy::{Options, Outcome, Step, Trace};
use functional::{Checked, DataType, Definition};
use loops::{Function, Name, Scalar};
use targets::Stage;

use super::Lowered;
use crate::failure::{Failure, Source};
use crate::request::{Mode, Request};

/// Parses a program with all that it imports, and infers its types.
pub fn open(source: &Source, request: &Request) -> Result<Checked, Failure> {
    let files = request.files.access();
    let mut loader = |from: &str, path: &str| -> Result<(String, String), String> {
        let Source { path, text } = files.import(from, path)?;
        Ok((path, text))
    };
    let (sources, mut diagnostics) = functional::load(&source.path, &source.text, &mut loader);
    if diagnostics.is_empty() {
        match functional::check_sources(&sources) {
            Ok(checked) => return Ok(checked),
            Err(found) => diagnostics = found,
        }
    }
    // The first file with errors: those of its importers mostly follow from them.
    let file = diagnostics.iter().map(|d| d.file).min().unwrap_or(0);
    let text = sources
        .files
        .get(file)
        .map_or(source.clone(), |f| Source { path: f.name.clone(), text: f.text.clone() });
    let own = diagnostics.into_iter().filter(|d| d.file == file).map(|d| d.diagnostic).collect();
    Err(Failure::in_source(&text, own))
}

/// The core form of a definition, at the chosen types.
fn elaborate(
    source: &Source,
    checked: &Checked,
    name: &str,
    request: &Request,
) -> Result<Definition, Failure> {
    let mut types = BTreeMap::new();
    for (parameter, scalar) in &request.types {
        let found = Scalar::ALL.into_iter().find(|s| s.keyword() == scalar);
        let found = found.ok_or_else(|| {
            Failure::usage("X0008", format!("`{scalar}` is not a type for `{parameter}`"))
                .help(format!("types are {}", Scalar::ALL.map(Scalar::keyword).join(", ")))
        })?;
        types.insert(Name::new(parameter), DataType::Scalar(found));
    }
    checked.elaborate_at(name, &types).map_err(|d| Failure::in_source(source, d))
}

/// The definition as it is translated: after the chosen strategy.
struct Chosen {
    original: Definition,
    rewritten: Definition,
    reassociated: bool,
    trace: Option<Trace>,
}

/// The schedules of a file: named strategies that make a definition of their own from another.
pub fn schedules(checked: &Checked) -> Vec<String> {
    checked
        .strategy_set()
        .map(|s| s.schedules().map(|(name, _)| name.to_string()).collect())
        .unwrap_or_default()
}

fn choose(source: &Source, checked: &Checked, name: &str, request: &Request) -> Result<Chosen, Failure> {
    let refuse = |d| Failure::in_source(source, vec![d]);
    let strategies = checked.strategy_set().map_err(|d| Failure::in_source(source, d))?;
    let registers = request.registers()?;
    let options = || Options { reassociate: request.reassociate, registers, ..Options::default() };
    let target =
        strategies.schedules().find(|(n, _)| n.as_str() == name).map(|(_, target)| target.to_string());
    let original = elaborate(source, checked, target.as_deref().unwrap_or(name), request)?;
    let mut chosen = Chosen { rewritten: original.clone(), original, reassociated: false, trace: None };
    let mut apply = |outcome: Outcome| {
        chosen.reassociated |= outcome.trace.reassociates();
        match &mut chosen.trace {
            Some(trace) => trace.steps.extend(outcome.trace.steps),
            None => chosen.trace = Some(outcome.trace),
        }
        chosen.rewritten = outcome.definition;
        chosen.rewritten.clone()
    };
    let mut now = chosen.original.clone();
    if target.is_some() {
        now = apply(strategies.schedule(name, &now, options()).map_err(refuse)?);
    }
    // `--schedule auto` must have a loop for every pattern before the polyhedral side can choose
    // among loops.
    let automatic = request.schedule.is_auto().then_some(AUTOMATIC);
    let wanted = request.strategy.as_deref().filter(|strategy| *strategy != NO_STRATEGY);
    if let Some(strategy) = wanted.or(automatic) {
        apply(strategies.apply(strategy, &now, options()).map_err(refuse)?);
    } else if request.strategy.is_none() && target.is_none() && request.mode == Mode::Default {
        // Loops stay what the program says; a step that only tidies is no strategy of anybody's.
        let outcome = strategies.apply(TIDY, &now, options()).map_err(refuse)?;
        if !outcome.trace.steps.is_empty() {
            apply(outcome);
        }
    }
    Ok(chosen)
}

fn translate(source: &Source, definition: &Definition, mode: Mode) -> Result<Translation, Failure> {
    dpia::translate(definition, mode).map_err(|d| Failure::in_source(source, vec![d]))
}

/// With this strategy, a program must say itself how its loops run.
const NO_STRATEGY: &str = "none";

/// The strategy for programs without one.
const TIDY: &str = "tidy";

/// The strategy for programs that do not say how their loops run.
pub const AUTOMATIC: &str = "auto";

/// A definition and its translation.
struct Decided {
    chosen: Chosen,
    translation: Translation,
    /// Whether the program does not say how its loops run, and [`AUTOMATIC`] was applied.
    undecided: bool,
}

/// The translation of a definition; of one that leaves its loops open, after [`AUTOMATIC`].
fn decide(source: &Source, checked: &Checked, name: &str, request: &Request) -> Result<Decided, Failure> {
    let chosen = choose(source, checked, name, request)?;
    match translate(source, &chosen.rewritten, request.mode) {
        Err(failure)
            if request.strategy.is_none() && failure.diagnostics.iter().any(|d| d.code.0 == "D0101") =>
        {
            let request = Request { strategy: Some(AUTOMATIC.to_owned()), ..request.clone() };
            let chosen = choose(source, checked, name, &request)?;
            let translation = translate(source, &chosen.rewritten, request.mode)?;
            Ok(Decided { chosen, translation, undecided: true })
        }
        translation => Ok(Decided { chosen, translation: translation?, undecided: false }),
    }
}

/// The loop function of a definition.
pub fn lower(source: &Source, checked: &Checked, name: &str, request: &Request) -> Result<Lowered, Failure> {
    let Decided { chosen, translation, undecided } = decide(source, checked, name, request)?;
    Ok(Lowered {
        function: translation.function,
        original: None,
        definition: Some(chosen.original),
        reassociated: chosen.reassociated,
        undecided,
        of_c: false,
        notes: Vec::new(),
        warnings: Vec::new(),
        applied: Vec::new(),
        candidates: Vec::new(),
    })
}

/// What a certificate is of.
pub(crate) struct Claimed {
    /// The definition before any strategy.
    pub original: Definition,
    /// Its loops after the chosen strategy.
    pub function: Function,
    /// How the parameters of the two relate.
    pub abi: Abi,
    /// The steps of the strategy.
    pub steps: Vec<Step>,
    /// Whether the program leaves its loops open.
    pub undecided: bool,
}

/// The definition and its loops, for a certificate.
pub fn claimed(
    source: &Source,
    checked: &Checked,
    name: &str,
    request: &Request,
) -> Result<Claimed, Failure> {
    let Decided { chosen, translation, undecided } = decide(source, checked, name, request)?;
    let steps = chosen.trace.map_or_else(Vec::new, |trace| trace.steps);
    let Translation { function, abi, .. } = translation;
    Ok(Claimed { original: chosen.original, function, abi, steps, undecided })
}

/// The text of a stage before loops.
pub fn emit(
    source: &Source,
    checked: &Checked,
    stage: Stage,
    names: &[String],
    request: &Request,
) -> Result<String, Failure> {
    let mut texts = Vec::new();
    for name in names {
        texts.push(match stage {
            Stage::Functional => {
                functional::print::definition(&choose(source, checked, name, request)?.rewritten)
            }
            Stage::Trace => choose(source, checked, name, request)?
                .trace
                .map_or_else(|| format!("{name}: no strategy\n"), |t| t.to_text()),
            Stage::Derivation => decide(source, checked, name, request)?.translation.derivation.to_string(),
            _ => decide(source, checked, name, request)?.translation.commands(),
        });
    }
    Ok(texts.iter().map(|t| format!("{}\n", t.trim_end())).collect::<Vec<_>>().join("\n"))
}
