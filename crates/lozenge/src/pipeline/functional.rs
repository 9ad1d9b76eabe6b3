//! From functional programs to loop programs.

use std::collections::BTreeMap;
use std::path::Path;

use dpia::{Abi, Translation};
use functional::strategy::{Options, Outcome, Step, Trace};
use functional::{Checked, DataType, Definition};
use loops::{Function, Name, Scalar};

use super::Lowered;
use crate::cli::{Choice, Mode, Stage};
use crate::failure::{Failure, Source};
use crate::files::read_source;
use crate::foreign;

/// Parses a program with all that it imports, and infers its types.
pub fn open(source: &Source) -> Result<Checked, Failure> {
    let mut loader = |from: &str, path: &str| -> Result<(String, String), String> {
        let from = foreign::path(from);
        let found = from.parent().unwrap_or(Path::new("")).join(foreign::path(path));
        // The program names it: it must not be a device that never ends, or a pipe that waits.
        if found.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return Err(format!("{} is not a regular file", foreign::name(&found)));
        }
        let source = read_source(&found).map_err(|failure| failure.summary())?;
        Ok((source.path, source.text))
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
fn elaborate(source: &Source, checked: &Checked, name: &str, choice: &Choice) -> Result<Definition, Failure> {
    let mut types = BTreeMap::new();
    for (parameter, scalar) in &choice.types {
        let found = Scalar::COMMON.into_iter().find(|s| s.keyword() == scalar);
        let found = found.ok_or_else(|| {
            Failure::usage("X0008", format!("`{scalar}` is not a type for `{parameter}`"))
                .help("types are f32, f64, i32, i64, bool")
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

fn choose(source: &Source, checked: &Checked, name: &str, choice: &Choice) -> Result<Chosen, Failure> {
    let refuse = |d| Failure::in_source(source, vec![d]);
    let strategies = checked.strategy_set().map_err(|d| Failure::in_source(source, d))?;
    let registers = choice.registers.map_or_else(crate::machine::registers, Ok)?;
    let options = || Options { reassociate: choice.reassociate, registers, ..Options::default() };
    let target =
        strategies.schedules().find(|(n, _)| n.as_str() == name).map(|(_, target)| target.to_string());
    let original = elaborate(source, checked, target.as_deref().unwrap_or(name), choice)?;
    let mut chosen = Chosen { rewritten: original.clone(), original, reassociated: false, trace: None };
    let mut apply = |outcome: Outcome| {
        let marked = |rule: &str| functional::rewrite::rule(rule).is_some_and(|r| r.reassociates);
        chosen.reassociated |= outcome.trace.steps.iter().any(|s| marked(s.rule));
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
    // `--schedule auto` must have a loop for every pattern before the polyhedral side can choose among loops.
    let automatic = (choice.schedule.as_deref() == Some("auto")).then_some("auto");
    if let Some(strategy) = choice.strategy.as_deref().or(automatic) {
        apply(strategies.apply(strategy, &now, options()).map_err(refuse)?);
    }
    Ok(chosen)
}

fn translate(source: &Source, definition: &Definition, mode: Mode) -> Result<Translation, Failure> {
    let mode = match mode {
        Mode::Default => dpia::Mode::Default,
        Mode::Paper => dpia::Mode::Paper,
    };
    dpia::translate(definition, mode).map_err(|d| Failure::in_source(source, vec![d]))
}

/// The loop function of a definition.
pub fn lower(source: &Source, checked: &Checked, name: &str, choice: &Choice) -> Result<Lowered, Failure> {
    let chosen = choose(source, checked, name, choice)?;
    let function = translate(source, &chosen.rewritten, choice.mode)?.function;
    Ok(Lowered {
        function: match choice.mode {
            Mode::Default => loops::indices::function(&function),
            Mode::Paper => function,
        },
        original: None,
        definition: Some(chosen.original),
        reassociated: chosen.reassociated,
        of_c: false,
        notes: Vec::new(),
    })
}

/// The definition before any strategy, the loop function of it after the chosen one, how the parameters of the two relate, and the steps between.
pub fn sides(
    source: &Source,
    checked: &Checked,
    name: &str,
    choice: &Choice,
) -> Result<(Definition, Function, Abi, Vec<Step>), Failure> {
    let chosen = choose(source, checked, name, choice)?;
    let translation = translate(source, &chosen.rewritten, choice.mode)?;
    let steps = chosen.trace.map_or_else(Vec::new, |trace| trace.steps);
    Ok((chosen.original, translation.function, translation.abi, steps))
}

/// The text of a stage before loops.
pub fn emit(
    source: &Source,
    checked: &Checked,
    stage: Stage,
    names: &[String],
    choice: &Choice,
) -> Result<String, Failure> {
    let mut texts = Vec::new();
    for name in names {
        let chosen = choose(source, checked, name, choice)?;
        texts.push(match stage {
            Stage::Functional => functional::print::definition(&chosen.rewritten),
            Stage::Trace => chosen.trace.map_or_else(|| format!("{name}: no strategy\n"), |t| t.to_text()),
            Stage::Derivation => translate(source, &chosen.rewritten, choice.mode)?.derivation.to_string(),
            _ => translate(source, &chosen.rewritten, choice.mode)?.commands(),
        });
    }
    Ok(texts.iter().map(|t| format!("{}\n", t.trim_end())).collect::<Vec<_>>().join("\n"))
}
