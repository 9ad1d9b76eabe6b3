//! The facade: from a source text to any of the stages.
//!
//! [`Front::open`] reads a source, [`Front::lower`] takes a definition of it to a loop program, and [`emit`] prints a stage. Not here:
//! writing files and running programs (`files`, `execute`), and what the stages do (their rooms).

pub mod athread;
mod c;
mod certificate;
mod functional;
pub mod graph;
mod versions;

use ::functional::{Checked, Definition};
use cfront::CFile;
use loops::{Diagnostic, Function, Name, Program, Span};
use polyhedral::Optimized;

pub use c::{done, schedule_header};
pub use certificate::Sides;
use targets::{Emitted, Style};

use crate::cli::{Chip, Choice, Mode, Stage};
use crate::failure::{Failure, Source};

/// A source, read and checked as far as that goes without choosing a definition.
#[derive(Debug)]
pub struct Front {
    source: Source,
    parsed: Parsed,
}

#[derive(Debug)]
enum Parsed {
    /// `.loz`: definitions with their types.
    Functional(Box<Checked>),
    /// `.c`: regions as loop programs.
    C(Box<CFile>),
    /// `.loops`: a loop program in textual form.
    Loops(Program),
}

/// A definition that is ready for a target.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The function as the target gets it.
    pub function: Function,
    /// The function before the polyhedral side changed it, if it did.
    pub original: Option<Function>,
    /// The definition it was translated from, before any strategy; what the evaluator runs.
    pub definition: Option<Definition>,
    /// Whether a rule was applied that reorders floating-point operations.
    pub reassociated: bool,
    /// Whether it is a region of a C file.
    pub of_c: bool,
    /// What the polyhedral side did.
    pub notes: Vec<String>,
}

/// The text of a stage.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The text.
    pub text: String,
    /// Things to look at; the text is right without.
    pub warnings: Vec<Diagnostic>,
    /// Macros of C regions whose values are built into the text.
    pub macros: Vec<String>,
    /// Whether updates of C regions may be made in another order, as asked for or declared: results then differ by roundings.
    pub reassociated: bool,
}

/// The loops of a functional program, with loops of their own for what is near borders, and in blocks where they go across memory: where nothing is said of a
/// schedule, nobody else does that.
fn arranged(function: Function, choice: &Choice) -> Function {
    match choice.schedule {
        None if choice.mode == Mode::Default => loops::arrange::arranged(&function),
        _ => function,
    }
}

impl Front {
    /// Reads a source; its kind is that of its extension.
    ///
    /// # Errors
    /// `X0005` for an unknown extension, and what the front ends refuse.
    pub fn open(source: &Source, choice: &Choice) -> Result<Front, Failure> {
        let path = crate::foreign::path(&source.path);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let parsed = match extension {
            "loz" => Parsed::Functional(Box::new(functional::open(source)?)),
            "c" => Parsed::C(Box::new(c::open(source, choice)?)),
            "loops" => Parsed::Loops(valid(source)?),
            other => {
                return Err(Failure::refused(
                    "X0005",
                    format!("{}: the extension `{other}` is not known", source.path),
                )
                .help(
                    "known are .loz (functional program), .c (C with marked regions), .loops (loop program), and, for some commands, .onnx and .graph (models)",
                ));
            }
        };
        Ok(Front { source: source.clone(), parsed })
    }

    /// The definitions that can be compiled, in the order of the source.
    pub fn definitions(&self) -> Vec<String> {
        match &self.parsed {
            Parsed::Functional(checked) => {
                let own = checked.own_definitions();
                let own = own.iter().filter(|d| d.stands_alone).map(|d| d.name.to_string());
                own.chain(functional::schedules(checked)).collect()
            }
            Parsed::C(file) => file.regions.iter().map(|r| r.function.name.to_string()).collect(),
            Parsed::Loops(program) => program.functions.iter().map(|f| f.name.to_string()).collect(),
        }
    }

    /// The name of the chosen definition: the one named, or the only one.
    ///
    /// # Errors
    /// `X0006` if there is none, or several and none was named.
    pub fn chosen(&self, choice: &Choice) -> Result<String, Failure> {
        let names = self.definitions();
        let path = &self.source.path;
        let message = match (&choice.definition, names.as_slice()) {
            (Some(name), _) if names.contains(name) => return Ok(name.clone()),
            (None, [one]) => return Ok(one.clone()),
            (Some(name), _) if self.first_line(&Name::new(name)).is_some() => {
                format!(
                    "`{name}` of {path} cannot be compiled by itself: a parameter or its result is a function"
                )
            }
            (Some(name), _) => format!("{path} has no definition `{name}`"),
            (None, []) => format!("{path} has no definition that can be compiled"),
            (None, several) => format!("{path} has {} definitions; choose one", several.len()),
        };
        let failure = Failure::refused("X0006", message);
        let near = choice
            .definition
            .as_ref()
            .and_then(|name| loops::suggest::nearest(name, names.iter().map(String::as_str)));
        Err(match near {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => failure,
            None => failure.help(format!("choose one with --def: {}", names.join(", "))),
        })
    }

    /// Takes the chosen definition to a loop function, and through the polyhedral side where that is asked for.
    ///
    /// # Errors
    /// `X0006` if there is no such definition; what the stages refuse.
    pub fn lower(&self, choice: &Choice) -> Result<Lowered, Failure> {
        let name = self.chosen(choice)?;
        let lowered = match &self.parsed {
            Parsed::Functional(checked) => functional::lower(&self.source, checked, &name, choice)?,
            Parsed::C(file) => {
                Lowered { of_c: true, ..plain(file.regions.iter().map(|r| &r.function), &name)? }
            }
            Parsed::Loops(program) => plain(program.functions.iter(), &name)?,
        };
        let mut lowered = c::scheduled(&self.source, lowered, choice, matches!(self.parsed, Parsed::C(_)))
            .map_err(|failure| self.placed(&name, failure))?;
        if matches!(self.parsed, Parsed::Functional(_)) {
            lowered.function = arranged(lowered.function, choice);
        }
        Ok(lowered)
    }

    /// What the polyhedral side refuses in a definition without naming a place gets the line where that begins.
    fn placed(&self, name: &str, mut failure: Failure) -> Failure {
        let span = self.first_line(&Name::new(name));
        if let Some(span) =
            span.filter(|_| failure.source.as_ref().is_some_and(|s| s.path == self.source.path))
        {
            for diagnostic in failure.diagnostics.iter_mut().filter(|d| d.labels.is_empty()) {
                *diagnostic = diagnostic.clone().at(span, "begins here");
            }
        }
        failure
    }

    /// The functions of a stage of the whole source: the chosen definition, or all.
    fn all(&self, choice: &Choice) -> Result<Vec<Lowered>, Failure> {
        let one = |definition: String| self.lower(&Choice { definition: Some(definition), ..choice.clone() });
        match &choice.definition {
            Some(_) => Ok(vec![self.lower(choice)?]),
            None => self.wanted(choice)?.into_iter().map(one).collect(),
        }
    }
}

/// A loop program that was written by hand: the stages behind rely on what the validator shows.
fn valid(source: &Source) -> Result<Program, Failure> {
    let program = loops::parse(&source.text).map_err(|d| Failure::in_source(source, d))?;
    let reports = loops::validate::validate_program(&program);
    let errors: Vec<Diagnostic> = reports.iter().flat_map(|report| report.errors()).cloned().collect();
    if errors.is_empty() { Ok(program) } else { Err(Failure::in_source(source, errors)) }
}

fn plain<'f>(mut functions: impl Iterator<Item = &'f Function>, name: &str) -> Result<Lowered, Failure> {
    let function = functions.find(|f| f.name.as_str() == name).cloned();
    let function =
        function.ok_or_else(|| Failure::refused("X0006", format!("there is no definition `{name}`")))?;
    Ok(Lowered {
        function,
        original: None,
        definition: None,
        reassociated: false,
        of_c: false,
        notes: Vec::new(),
    })
}

/// The text of a stage, of the chosen definition or of all.
///
/// # Errors
/// What the stages refuse; `X0007` if the source does not go through the stage.
pub fn emit(source: &Source, stage: Stage, choice: &Choice) -> Result<Emission, Failure> {
    let front = Front::open(source, choice)?;
    let text = match (stage, &front.parsed) {
        (Stage::C, Parsed::C(file)) => return c::rewrite(source, file, &front.wanted(choice)?, choice),
        (Stage::Header, Parsed::C(_)) => {
            return Err(no_stage("C", "a header", "its regions are rewritten in their place"));
        }
        (Stage::Main, Parsed::C(_)) => {
            return Err(no_stage("C", "a main of ours", "its regions are rewritten in their place"));
        }
        (Stage::Main, _) if choice.mode == Mode::Paper => {
            return Err(no_stage("paper mode", "a main", "its functions have another interface"));
        }
        (Stage::Functional | Stage::Trace | Stage::Derivation | Stage::Dpia, Parsed::Functional(checked)) => {
            functional::emit(source, checked, stage, &front.wanted(choice)?, choice)?
        }
        (Stage::Functional | Stage::Trace | Stage::Derivation | Stage::Dpia, Parsed::C(_)) => {
            return Err(no_stage("C", "a functional form", "it is translated directly to a loop program"));
        }
        (Stage::Functional | Stage::Trace | Stage::Derivation | Stage::Dpia, Parsed::Loops(_)) => {
            return Err(no_stage(
                "a loop program",
                "a functional form",
                "the stages after it are loops, c, header and main",
            ));
        }
        (Stage::Schedule, _) => c::trees(&front, choice)?,
        (Stage::Loops, _) => program(&front, choice)?.to_string(),
        (Stage::C, _) => to_text(&program(&front, choice)?, choice.mode, None, false)?.source,
        (Stage::Main, _) => targets::quick::quick_main(&program(&front, choice)?).map_err(Failure::from)?,
        (Stage::Header, _) => to_text(&program(&front, choice)?, choice.mode, None, false)?.header,
    };
    Ok(Emission { text, warnings: Vec::new(), macros: Vec::new(), reassociated: choice.reassociate })
}

impl Front {
    /// The chosen definition, or all of them.
    ///
    /// # Errors
    /// `X0006` if there is no such definition.
    pub fn wanted(&self, choice: &Choice) -> Result<Vec<String>, Failure> {
        match &choice.definition {
            Some(_) => Ok(vec![self.chosen(choice)?]),
            None => match self.definitions() {
                // Says that there is none.
                none if none.is_empty() => self.chosen(choice).map(|name| vec![name]),
                all => Ok(all),
            },
        }
    }
}

impl Front {
    /// The function of a definition as the front end gives it, without the polyhedral side.
    ///
    /// # Errors
    /// As [`Front::lower`].
    pub fn original(&self, name: &str, choice: &Choice) -> Result<Function, Failure> {
        let definition = Some(name.to_owned());
        Ok(self.lower(&Choice { definition, schedule: Some("none".into()), ..choice.clone() })?.function)
    }

    /// The statements of a region that a text names (`` `S0` ``), and where they stand; none of other sources.
    pub fn statements(&self, name: &Name, text: &str) -> Vec<(Name, Span)> {
        let Parsed::C(file) = &self.parsed else { return Vec::new() };
        let Some(region) = file.regions.iter().find(|region| region.function.name == *name) else {
            return Vec::new();
        };
        let own = |label: &Name| region.info.variable(label).is_none();
        let named = |label: &Name| text.contains(&format!("`{label}`")) && own(label);
        let spans = region.info.statement_spans.iter();
        spans.filter(|(label, _)| named(label)).map(|(label, span)| (label.clone(), *span)).collect()
    }

    /// The checked program, of a functional source.
    pub fn functional(&self) -> Option<&Checked> {
        match &self.parsed {
            Parsed::Functional(checked) => Some(checked),
            Parsed::C(_) | Parsed::Loops(_) => None,
        }
    }

    /// What ties a region to the C around it, of a C source.
    pub fn region(&self, name: &str) -> Option<&cfront::RegionInfo> {
        let Parsed::C(file) = &self.parsed else { return None };
        file.regions.iter().find(|region| region.function.name.as_str() == name).map(|region| &region.info)
    }

    /// The line with which a definition, a region or a function begins.
    pub fn first_line(&self, name: &Name) -> Option<Span> {
        let keyword = match &self.parsed {
            Parsed::C(file) => {
                let region = file.regions.iter().find(|region| region.function.name == *name)?;
                return Some(c::first_line(&self.source, &region.info));
            }
            Parsed::Functional(_) => "def ",
            Parsed::Loops(_) => "fn ",
        };
        let mut start = 0;
        for line in self.source.text.split_inclusive('\n') {
            let text = line.trim_end();
            let rest =
                text.strip_prefix(keyword).and_then(|rest| rest.trim_start().strip_prefix(name.as_str()));
            if rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
                return Some(Span::new(start, start + text.len()));
            }
            start += line.len();
        }
        None
    }

    /// What the polyhedral side makes of a function; where nothing is chosen, its own schedule.
    ///
    /// # Errors
    /// What the polyhedral side refuses.
    pub fn optimized(&self, function: &Function, choice: &Choice) -> Result<Optimized, Failure> {
        c::optimised(&self.source, function, choice)
    }
}

impl Front {
    /// As [`Front::optimized`], for a picture: with tiles of these sizes.
    ///
    /// # Errors
    /// What the polyhedral side refuses.
    pub fn optimized_small(
        &self,
        function: &Function,
        choice: &Choice,
        tile: &[i64],
        packed: bool,
    ) -> Result<Optimized, Failure> {
        c::optimised_small(&self.source, function, choice, tile, packed)
    }
}

fn no_stage(what: &str, stage: &str, why: &str) -> Failure {
    Failure::refused("X0007", format!("{what} does not have {stage}: {why}"))
}

fn program(front: &Front, choice: &Choice) -> Result<Program, Failure> {
    Ok(Program { functions: front.all(choice)?.into_iter().map(|l| l.function).collect() })
}

/// The C of a loop program, for running it: functions in the paper's style get one with the common interface beside them.
///
/// # Errors
/// What the target refuses.
pub fn to_c(program: &Program, mode: Mode, header: Option<String>) -> Result<Emitted, Failure> {
    to_text(program, mode, header, true)
}

fn to_text(
    program: &Program,
    mode: Mode,
    header: Option<String>,
    callable: bool,
) -> Result<Emitted, Failure> {
    let style = match mode {
        Mode::Default => Style::Readable,
        Mode::Paper => Style::Paper,
    };
    let options = targets::Options { style, header, callable, ..targets::Options::default() };
    targets::emit(program, &options).map_err(Failure::from)
}

/// The regions of a C source.
///
/// # Errors
/// What the preprocessor and the front end refuse.
pub fn open_c(source: &Source, choice: &Choice) -> Result<CFile, Failure> {
    c::open(source, choice)
}

/// Takes every definition of a source to a loop program, for the errors on the way.
///
/// # Errors
/// What the stages refuse.
pub fn check(source: &Source) -> Result<(), Failure> {
    let choice = Choice::default();
    Front::open(source, &choice)?.all(&choice).map(|_| ())
}

/// SW26010 with what makes its transfers fastest.
static IN_PAIRS: targets::athread::Chip = targets::athread::Chip { pairs: true, ..targets::athread::SW26010 };

/// What is known of a chip.
pub fn chip(chip: Chip) -> &'static targets::athread::Chip {
    match chip {
        Chip::Sw26010 => &IN_PAIRS,
        Chip::Sw26010Pro => &targets::athread::SW26010_PRO,
    }
}
