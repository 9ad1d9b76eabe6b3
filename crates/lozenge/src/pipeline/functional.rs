//! From functional programs to loop programs.

use std::collections::BTreeMap;
use std::path::Path;

use dpia::Translation;
use functional::{Checked, DataType, Definition};
use loops::{Name, Scalar};

use super::Lowered;
use crate::cli::{Choice, Mode, Stage};
use crate::failure::{Failure, Source};
use crate::files::read_source;

/// Parses a program with all that it imports, and infers its types.
pub fn open(source: &Source) -> Result<Checked, Failure> {
    let mut loader = |from: &str, path: &str| -> Result<(String, String), String> {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        let found = folder.join(path);
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
        let found = Scalar::ALL.into_iter().find(|s| s.keyword() == scalar);
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
}

fn choose(source: &Source, checked: &Checked, name: &str, choice: &Choice) -> Result<Chosen, Failure> {
    let original = elaborate(source, checked, name, choice)?;
    let rewritten = original.clone();
    Ok(Chosen { original, rewritten, reassociated: false })
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
        function,
        original: None,
        definition: Some(chosen.original),
        reassociated: chosen.reassociated,
        notes: Vec::new(),
    })
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
            Stage::Derivation => translate(source, &chosen.rewritten, choice.mode)?.derivation.to_string(),
            _ => translate(source, &chosen.rewritten, choice.mode)?.commands(),
        });
    }
    Ok(texts.iter().map(|t| format!("{}\n", t.trim_end())).collect::<Vec<_>>().join("\n"))
}
