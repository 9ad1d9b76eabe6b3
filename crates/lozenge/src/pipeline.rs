//! The facade: from a source text to any of the stages.
//!
//! Not here: files and processes (`files`, `execute`), and what the stages do (their rooms).

use functional::Definition;
use loops::{Function, Program};
use targets::{Emitted, Style};

use crate::cli::{Choice, Mode, Stage};
use crate::failure::{Failure, Source};

/// What a source file is, by the extension of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `.loops`: a loop program in textual form.
    Loops,
}

/// The kind of a source.
///
/// # Errors
/// `X0005` for an unknown extension.
pub fn kind(source: &Source) -> Result<Kind, Failure> {
    let extension =
        std::path::Path::new(&source.path).extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension {
        "loops" => Ok(Kind::Loops),
        other => Err(Failure::refused(
            "X0005",
            format!("{}: the extension `{other}` is not one that is known", source.path),
        )
        .help("known are .loz (functional program), .c (C with marked regions), .loops (loop program)")),
    }
}

/// A program that is ready for a target.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The loop program: the chosen function, or all of the file.
    pub program: Program,
    /// The definition it was translated from, before any strategy; what the evaluator runs.
    pub definition: Option<Definition>,
    /// Whether a rule was applied that reorders floating-point operations.
    pub reassociated: bool,
}

impl Lowered {
    /// The function to run.
    ///
    /// # Errors
    /// `X0006` if there is not exactly one.
    pub fn function(&self, source: &Source) -> Result<&Function, Failure> {
        match self.program.functions.as_slice() {
            [one] => Ok(one),
            several => Err(no_definition(source, None, several.iter().map(|f| f.name.to_string()).collect())),
        }
    }
}

/// `X0006`: the file has no such definition, or several and none was named.
fn no_definition(source: &Source, wanted: Option<&str>, names: Vec<String>) -> Failure {
    let path = &source.path;
    let message = match (wanted, names.len()) {
        (Some(name), _) => format!("{path} has no definition `{name}`"),
        (None, 0) => format!("{path} has no definition"),
        (None, n) => format!("{path} has {n} definitions, and none was named"),
    };
    let failure = Failure::refused("X0006", message);
    if names.is_empty() {
        failure
    } else {
        failure.help(format!("name one with --def: {}", names.join(", ")))
    }
}

/// Takes a source to a loop program: the chosen function, or all where none is chosen.
///
/// # Errors
/// What the stages refuse.
pub fn lower(source: &Source, choice: &Choice) -> Result<Lowered, Failure> {
    match kind(source)? {
        Kind::Loops => {
            let refuse = |diagnostics| Failure::in_source(source, diagnostics);
            let mut program = loops::parse(&source.text).map_err(refuse)?;
            if let Some(name) = &choice.definition {
                let names = program.functions.iter().map(|f| f.name.to_string()).collect();
                program.functions.retain(|f| f.name.as_str() == name);
                if program.functions.is_empty() {
                    return Err(no_definition(source, Some(name), names));
                }
            }
            Ok(Lowered { program, definition: None, reassociated: false })
        }
    }
}

/// The text of a stage.
///
/// # Errors
/// What the stages refuse; `X0007` if the source does not go through the stage.
pub fn emit(source: &Source, stage: Stage, choice: &Choice) -> Result<String, Failure> {
    match stage {
        Stage::Loops => Ok(lower(source, choice)?.program.to_string()),
        Stage::C => Ok(to_c(&lower(source, choice)?.program, choice.mode, None)?.source),
        Stage::Header => Ok(to_c(&lower(source, choice)?.program, choice.mode, None)?.header),
        _ => Err(Failure::refused("X0007", "a loop program has no such stage")),
    }
}

/// The C of a loop program.
///
/// # Errors
/// What the target refuses.
pub fn to_c(program: &Program, mode: Mode, header: Option<String>) -> Result<Emitted, Failure> {
    let style = match mode {
        Mode::Default => Style::Readable,
        Mode::Paper => Style::Paper,
    };
    let options = targets::Options { style, header, ..targets::Options::default() };
    targets::emit(program, &options).map_err(Failure::from)
}

/// Takes every definition of a source as far as types go, without a target.
///
/// # Errors
/// What the stages refuse.
pub fn check(source: &Source) -> Result<(), Failure> {
    lower(source, &Choice::default()).map(|_| ())
}
