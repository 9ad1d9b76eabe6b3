//! From a source text to any of the stages: the order in which the other crates are called.
//!
//! `Front::open` reads a source, `Front::lower` takes a definition of it to a loop program, and
//! `Front::emit` gives the text of a stage. What is wanted is said by a [`Request`]; results come
//! with their warnings, and nothing is printed. Not here: files and processes (`files`, `execute`),
//! which a request brings along where a source refers to others, and what the stages do.

pub mod athread;
mod c;
mod candidates;
mod certificate;
mod chosen_loops;
mod emission;
mod functional;
mod gain;
pub mod graph;
pub mod model_on_cores;
pub mod model_on_ranks;
pub mod mpi;
mod regions;
pub(crate) mod rewriting;
pub mod tuned;
mod versions;

use ::functional::{Checked, Definition};
use cfront::CFile;
use loops::{Diagnostic, Function, Name, Program, Span};
use passes::Applied;
use polyhedral::Optimized;

pub use c::{done, machine, region_text, schedule_header};
pub use candidates::{beside, candidates, cycles};
pub use certificate::Sides;
pub use emission::{Emission, Promise};
pub use functional::{AUTOMATIC, open as open_functional};
use targets::{Emitted, Stage, Style};

use crate::failure::{Failure, Source};
use crate::request::{Kind, Mode, Request, Schedule};
use crate::target::Compiled;

/// A source, read and checked as far as that goes without choosing a definition.
#[derive(Debug)]
pub struct Front {
    source: Source,
    parsed: Parsed,
    /// The definitions that can be compiled, in the order of the source.
    names: Vec<String>,
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
    /// Whether a functional program leaves its loops open, and the strategy `auto` was applied.
    pub undecided: bool,
    /// Whether it is a region of a C file.
    pub of_c: bool,
    /// What the polyhedral side did.
    pub notes: Vec<String>,
    /// What was asked for and not done; a sentence each.
    pub warnings: Vec<String>,
    /// The passes that changed the function, with the function after each.
    pub applied: Vec<Applied>,
    /// The candidates, the chosen one first, with what is predicted for each; empty without a
    /// choice.
    pub candidates: Vec<String>,
}

/// What the candidates for a functional program are called.
const DEFAULT_PASSES: &str = "the default passes";
const AFFINE: &str = "the affine scheduler";

fn with_default_passes(mut lowered: Lowered) -> Lowered {
    lowered.function = passes::DEFAULT.run(lowered.function, &mut lowered.applied);
    lowered
}

fn finished(mut lowered: Lowered) -> Lowered {
    lowered.function = passes::FINISHED.run(lowered.function, &mut lowered.applied);
    lowered
}

impl Front {
    /// Reads a source of a kind.
    ///
    /// # Errors
    /// What the front ends refuse.
    pub fn open(source: &Source, kind: Kind, request: &Request) -> Result<Front, Failure> {
        request.progress.step(format!("reading {}", source.path));
        let parsed = match kind {
            Kind::Functional => Parsed::Functional(Box::new(functional::open(source, request)?)),
            Kind::C => Parsed::C(Box::new(c::open(source, request)?)),
            Kind::Loops => Parsed::Loops(valid(source)?),
        };
        let names = match &parsed {
            Parsed::Functional(checked) => {
                let own = checked.own_definitions();
                let own = own.iter().filter(|d| d.stands_alone).map(|d| d.name.to_string());
                own.chain(functional::schedules(checked)).collect()
            }
            Parsed::C(file) => file.regions.iter().map(|r| r.function.name.to_string()).collect(),
            Parsed::Loops(program) => program.functions.iter().map(|f| f.name.to_string()).collect(),
        };
        Ok(Front { source: source.clone(), parsed, names })
    }

    /// What kind of source it is.
    pub fn kind(&self) -> Kind {
        match &self.parsed {
            Parsed::Functional(_) => Kind::Functional,
            Parsed::C(_) => Kind::C,
            Parsed::Loops(_) => Kind::Loops,
        }
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The definitions that can be compiled, in the order of the source.
    pub fn definitions(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The name of the chosen definition: the one named, or the only one.
    ///
    /// # Errors
    /// `X0006` if there is none, or several and none was named.
    pub fn chosen(&self, request: &Request) -> Result<String, Failure> {
        let names = &self.names;
        let path = &self.source.path;
        let message = match (&request.definition, names.as_slice()) {
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
        let near = request
            .definition
            .as_ref()
            .and_then(|name| loops::suggest::nearest(name, names.iter().map(String::as_str)));
        Err(match near {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => failure,
            None => failure.help(format!("choose one with --def: {}", names.join(", "))),
        })
    }

    /// Takes the chosen definition to a loop function, and through the polyhedral side where that
    /// is asked for.
    ///
    /// # Errors
    /// `X0006` if there is no such definition; what the stages refuse.
    pub fn lower(&self, request: &Request) -> Result<Lowered, Failure> {
        let name = self.chosen(request)?;
        let lowered = self.translated(request)?;
        self.passed(lowered, request).map_err(|failure| self.placed(&name, failure))
    }

    /// The chosen definition as the front end gives it, before any pass.
    fn translated(&self, request: &Request) -> Result<Lowered, Failure> {
        let name = self.chosen(request)?;
        request.progress.step(format!("translating `{name}`"));
        Ok(match &self.parsed {
            Parsed::Functional(checked) => functional::lower(&self.source, checked, &name, request)?,
            Parsed::C(file) => {
                Lowered { of_c: true, ..plain(file.regions.iter().map(|r| &r.function), &name)? }
            }
            Parsed::Loops(program) => plain(program.functions.iter(), &name)?,
        })
    }

    /// What the front end gives, after the passes and the schedule that are asked for.
    fn passed(&self, mut lowered: Lowered, request: &Request) -> Result<Lowered, Failure> {
        let functional = matches!(self.parsed, Parsed::Functional(_)) && request.mode == Mode::Default;
        if !functional {
            return c::scheduled(&self.source, lowered, request, matches!(self.parsed, Parsed::C(_)));
        }
        lowered.function = passes::TRANSLATED.run(lowered.function, &mut lowered.applied);
        let request = &*tuned::request(request, &lowered.function);
        match &request.schedule {
            Schedule::Usual if lowered.undecided => {
                let usual = with_default_passes(lowered.clone());
                let auto = Request { schedule: Schedule::Auto, ..request.clone() };
                let affine = c::affine(&self.source, lowered, &auto).ok();
                let affine = affine.map(|affine| (AFFINE, affine));
                candidates::chosen([Some((DEFAULT_PASSES, usual)), affine], request).map(finished)
            }
            // What a strategy was asked for is what comes out. Nobody else looks at borders and
            // memory.
            Schedule::Usual if self.is_by_strategy(&lowered, request) => {
                Ok(finished(with_default_passes(lowered)))
            }
            Schedule::Usual => {
                let usual = with_default_passes(lowered.clone());
                let auto = Request { schedule: Schedule::Auto, ..request.clone() };
                let affine = c::affine(&self.source, lowered, &auto).ok();
                candidates::written(usual, affine, request).map(finished)
            }
            // Nothing that is asked for by name is slower than what comes without.
            Schedule::Auto => {
                let usual = with_default_passes(lowered.clone());
                let affine = c::affine(&self.source, lowered, request)?;
                candidates::chosen([Some((AFFINE, affine)), Some((DEFAULT_PASSES, usual))], request)
                    .map(finished)
            }
            Schedule::Original | Schedule::Given(_) => c::scheduled(&self.source, lowered, request, false),
        }
    }

    /// Whether a strategy made the loops: of the command line, or one with a name in the source.
    fn is_by_strategy(&self, lowered: &Lowered, request: &Request) -> bool {
        let named = match &self.parsed {
            Parsed::Functional(checked) => functional::schedules(checked),
            _ => Vec::new(),
        };
        request.strategy.is_some() || named.iter().any(|name| *name == lowered.function.name.as_str())
    }

    /// What the polyhedral side refuses in a definition without naming a place gets the line where
    /// that begins.
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
    ///
    /// # Errors
    /// As [`Front::lower`].
    pub fn all(&self, request: &Request) -> Result<Vec<Lowered>, Failure> {
        let one = |definition: String| self.lower(&request.of(&definition));
        match &request.definition {
            Some(_) => Ok(vec![self.lower(request)?]),
            None => self.wanted(request)?.into_iter().map(one).collect(),
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
        undecided: false,
        of_c: false,
        notes: Vec::new(),
        warnings: Vec::new(),
        applied: Vec::new(),
        candidates: Vec::new(),
    })
}

/// What the passes made of one definition.
#[derive(Clone, Debug)]
pub struct History {
    /// The function before the first pass.
    pub before: Function,
    /// The passes that changed it, with the function after each.
    pub applied: Vec<Applied>,
}

impl Lowered {
    /// The warnings, as lines for people.
    pub fn told(&self) -> impl Iterator<Item = String> {
        self.warnings.iter().map(|warning| format!("warning: {warning}"))
    }
}

impl Front {
    /// The text of a stage, of the chosen definition or of all.
    ///
    /// # Errors
    /// What the stages refuse; `X0007` if the source does not go through the stage.
    pub fn emit(&self, stage: Stage, request: &Request) -> Result<Emission, Failure> {
        let source = &self.source;
        let text = match (stage, &self.parsed) {
            (Stage::C, Parsed::C(file)) => {
                return regions::rewrite(source, file, &self.wanted(request)?, request);
            }
            (Stage::Header, Parsed::C(_)) => {
                return Err(no_stage("C", "a header", "its regions are rewritten in their place"));
            }
            (Stage::Main, Parsed::C(_)) => {
                return Err(no_stage("C", "a main of ours", "its regions are rewritten in their place"));
            }
            (Stage::Main, _) if request.mode == Mode::Paper => {
                return Err(no_stage("paper mode", "a main", "its functions have another interface"));
            }
            (
                Stage::Functional | Stage::Trace | Stage::Derivation | Stage::Dpia,
                Parsed::Functional(checked),
            ) => functional::emit(source, checked, stage, &self.wanted(request)?, request)?,
            (Stage::Functional | Stage::Trace | Stage::Derivation | Stage::Dpia, Parsed::C(_)) => {
                return Err(no_stage(
                    "C",
                    "a functional form",
                    "it is translated directly to a loop program",
                ));
            }
            (Stage::Functional | Stage::Trace | Stage::Derivation | Stage::Dpia, Parsed::Loops(_)) => {
                return Err(no_stage(
                    "a loop program",
                    "a functional form",
                    "the stages after it are loops, c, header and main",
                ));
            }
            (Stage::Schedule, _) => c::trees(self, request)?,
            (Stage::Loops | Stage::C | Stage::Main | Stage::Header, _) => {
                let all = self.all(request)?;
                let warnings = all.iter().filter_map(|lowered| self.chosen_loops(lowered, request)).collect();
                let notes = all.iter().flat_map(Lowered::told).collect();
                let program = Program { functions: all.into_iter().map(|l| l.function).collect() };
                let text = match stage {
                    Stage::Loops => program.to_string(),
                    Stage::Main => targets::quick::quick_main(&program).map_err(Failure::from)?,
                    Stage::Header => to_text(&program, request, None, false)?.header,
                    _ => to_text(&program, request, None, false)?.source,
                };
                let (macros, promises) = Default::default();
                return Ok(Emission {
                    text,
                    warnings,
                    notes,
                    macros,
                    promises,
                    reassociated: request.reassociate,
                });
            }
        };
        let (warnings, notes, macros, promises) = Default::default();
        Ok(Emission { text, warnings, notes, macros, promises, reassociated: request.reassociate })
    }

    /// What the passes make of the chosen definition, or of each.
    ///
    /// # Errors
    /// What the stages refuse.
    pub fn histories(&self, request: &Request) -> Result<Vec<History>, Failure> {
        let one = |definition: String| {
            let request = request.of(&definition);
            let before = self.translated(&request)?.function;
            Ok(History { before, applied: self.lower(&request)?.applied })
        };
        self.wanted(request)?.into_iter().map(one).collect()
    }

    /// The file with its regions, of a C source.
    pub(crate) fn c_file(&self) -> Option<&CFile> {
        match &self.parsed {
            Parsed::C(file) => Some(file),
            Parsed::Functional(_) | Parsed::Loops(_) => None,
        }
    }
}

impl Front {
    /// The chosen definition, or all of them.
    ///
    /// # Errors
    /// `X0006` if there is no such definition.
    pub fn wanted(&self, request: &Request) -> Result<Vec<String>, Failure> {
        match &request.definition {
            Some(_) => Ok(vec![self.chosen(request)?]),
            None => match self.definitions() {
                // Says that there is none.
                none if none.is_empty() => self.chosen(request).map(|name| vec![name]),
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
    pub fn original(&self, name: &str, request: &Request) -> Result<Function, Failure> {
        let request = Request { schedule: Schedule::Original, ..request.of(name) };
        Ok(self.lower(&request)?.function)
    }

    /// The statements of a region that a text names (`` `S0` ``), and where they stand; none of
    /// other sources.
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

    /// A region of a C source, with what ties it to the C around it.
    pub fn region(&self, name: &str) -> Option<&cfront::Region> {
        let Parsed::C(file) = &self.parsed else { return None };
        file.regions.iter().find(|region| region.function.name.as_str() == name)
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
    pub fn optimized(&self, function: &Function, request: &Request) -> Result<Optimized, Failure> {
        c::optimised(&self.source, function, request)
    }

    /// Schedules for a function, by names for people: the compiler's choice first, then the other
    /// candidates.
    ///
    /// # Errors
    /// What the polyhedral side refuses.
    pub fn schedules(
        &self,
        function: &Function,
        request: &Request,
    ) -> Result<Vec<(String, polyhedral::Schedule)>, Failure> {
        c::schedules(&self.source, function, request)
    }
}

impl Front {
    /// As [`Front::optimized`], for a picture: with tiles of these sizes.
    ///
    /// # Errors
    /// What the polyhedral side refuses.
    pub(crate) fn optimized_small(
        &self,
        function: &Function,
        request: &Request,
        tile: &[i64],
        packed: bool,
    ) -> Result<Optimized, Failure> {
        c::optimised_small(&self.source, function, request, tile, packed)
    }
}

fn no_stage(what: &str, stage: &str, why: &str) -> Failure {
    Failure::refused("X0007", format!("{what} does not have {stage}: {why}"))
}

/// The C of a loop program, for running it: functions in the paper's style get one with the common
/// interface beside them.
///
/// # Errors
/// What the target refuses.
pub fn to_c(program: &Program, request: &Request, header: Option<String>) -> Result<Emitted, Failure> {
    to_text(program, request, header, true)
}

/// The C of a loop program, for reading: without an interface for running it.
///
/// # Errors
/// What the target refuses.
pub fn printed(program: &Program, request: &Request) -> Result<Emitted, Failure> {
    to_text(program, request, None, false)
}

fn to_text(
    program: &Program,
    request: &Request,
    header: Option<String>,
    callable: bool,
) -> Result<Emitted, Failure> {
    let style = match request.mode {
        Mode::Default => Style::Readable,
        Mode::Paper => Style::Paper,
    };
    request.progress.step("writing the C");
    let options = targets::Options { style, header, callable, ..targets::Options::default() };
    targets::emit(program, &options).map_err(Failure::from)
}

impl Front {
    /// The files of the target that the request names, or a stage on the way to them.
    ///
    /// # Errors
    /// What the stages refuse; `X0007` for a stage that the source or the target does not have.
    pub fn compile(&self, stage: Stage, request: &Request) -> Result<Compiled, Failure> {
        request.target.backend().compile(self, stage, request)
    }
}
