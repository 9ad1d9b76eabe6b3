//! Options of a source: which definition, and what is done to it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::TargetSettings;
use crate::failure::Failure;
use crate::request::{self, Request};
use crate::target::Target;
use crate::{encoding, files, machine, progress};

/// Which definition, and what is done to it before code is generated.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Definition or function of the file; not needed if there is only one.
    #[arg(long = "def", value_name = "NAME")]
    pub definition: Option<String>,
    /// Translation: the paper's rules to the letter, or fused and in place.
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,
    /// Apply this strategy first: one of the file or of the library by name, or one written out
    /// (`"fuse; choose"`).
    #[arg(long, value_name = "NAME|TEXT")]
    pub strategy: Option<String>,
    /// Apply the steps of a trace, as `--emit trace` prints it, instead of a strategy.
    #[arg(long, value_name = "FILE", conflicts_with = "strategy")]
    pub replay: Option<PathBuf>,
    /// The order of floating-point operations may change: in strategies, and in updates such as
    /// `+=` of loops.
    #[arg(long)]
    pub reassociate: bool,
    /// Tile sizes of the polyhedral side, outermost loop first; the last one holds for further
    /// loops [default: by the caches; athread: by a cost model].
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(1..=1 << 20))]
    pub tile: Vec<i64>,
    /// Caches of a core that tile sizes are chosen for: first level (data), second level [default:
    /// `LOZENGE_CACHES`, else this machine's].
    #[arg(long, value_name = "L1,L2", value_parser = crate::machine::parse)]
    pub caches: Option<::polyhedral::locality::Caches>,
    /// Order of the loops: chosen by the compiler (auto), that of the program (none), or from a
    /// file as `lozenge schedule` prints it [default: auto for C; of a functional program, its own
    /// loops unless those of auto are predicted to be much faster].
    #[arg(long, value_name = "auto|none|FILE")]
    pub schedule: Option<String>,
    /// Element type for a type parameter of the definition, such as `t=f64`; may be given several
    /// times.
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = assignment)]
    pub types: Vec<(String, String)>,
    /// C: folder of headers, for the preprocessor.
    #[arg(short = 'I', value_name = "DIR", value_parser = include)]
    pub includes: Vec<String>,
    /// C: macro, for the preprocessor.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define)]
    pub defines: Vec<String>,
    /// C: a function that reads nothing but its arguments and writes nothing.
    #[arg(long = "pure", value_name = "FUNCTION")]
    pub pure_functions: Vec<String>,
    /// C: pointers of a region never overlap, even without `restrict`, where that can't be tested
    /// before the region.
    #[arg(long)]
    pub assume_no_alias: bool,
    /// C: a region that can't be taken is an error, and nothing is written; else it stays as it is,
    /// with a warning. Models: what the standard does not allow is an error, also where it has one
    /// meaning only; else it is taken, with a warning.
    #[arg(long)]
    pub strict: bool,
    /// C: without pragmas, every loop nest that can be taken is a region.
    #[arg(long)]
    pub auto: bool,
    /// C: with `--auto`, say why other loop nests stay as they are.
    #[arg(long, requires = "auto")]
    pub remarks: bool,
    /// C: `#line` directives, so that debuggers and messages of compilers name the lines of the
    /// original.
    #[arg(long)]
    pub lines: bool,
}

impl Choice {
    /// What the options ask for. A schedule or a trace that is named is read.
    ///
    /// # Errors
    /// As [`files::read_source`], for the file of a schedule or a trace.
    pub fn request(&self) -> Result<Request, Failure> {
        let strategy = match &self.replay {
            None => self.strategy.clone(),
            Some(path) => Some(trace(path)?),
        };
        Ok(Request {
            definition: self.definition.clone(),
            mode: self.mode.into(),
            strategy,
            reassociate: self.reassociate,
            tile: self.tile.clone(),
            caches: self.caches,
            machine: machine::chosen().cloned(),
            schedule: files::schedule(self.schedule.as_deref())?,
            types: self.types.clone(),
            preprocessor: self.includes.iter().chain(&self.defines).cloned().collect(),
            pure_functions: self.pure_functions.clone(),
            assume_no_alias: self.assume_no_alias,
            partial: !self.strict,
            auto: self.auto,
            remarks: self.remarks,
            lines: self.lines,
            progress: progress::of_request(),
            ..files::request()
        })
    }
}

impl Choice {
    /// As [`Choice::request`], with the schedules that were tuned for a program.
    ///
    /// # Errors
    /// As there, and for a file of schedules that can't be read.
    pub(crate) fn request_of(&self, program: &Path) -> Result<Request, Failure> {
        Ok(Request { tuned: files::tuned(program)?, ..self.request()? })
    }
}

/// The text of a trace.
fn trace(path: &Path) -> Result<String, Failure> {
    let source = files::read_source(path)?;
    if ::functional::strategy::is_trace(&source.text) {
        return Ok(source.text);
    }
    Err(Failure::refused("S0106", format!("{} is no trace: it begins with `trace of NAME`", source.path)))
}

/// Modes of the translation.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Maps are fused into their readers, results are written in place.
    #[default]
    Default,
    /// One temporary for each map, names as in the paper.
    Paper,
}

impl From<Mode> for request::Mode {
    fn from(mode: Mode) -> request::Mode {
        match mode {
            Mode::Default => request::Mode::Default,
            Mode::Paper => request::Mode::Paper,
        }
    }
}

/// What is asked for of a file and a target.
pub(super) fn for_target(
    choice: &Choice,
    target: Target,
    settings: &TargetSettings,
    sizes: &[(String, i64)],
    file: &Path,
) -> Result<Request, Failure> {
    let folder = file.parent().and_then(|parent| parent.join(".").canonicalize().ok());
    Ok(Request {
        target,
        settings: settings.0.clone(),
        sizes: sizes.to_vec(),
        stem: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        headers: folder.map(|folder| encoding::name(&folder)),
        ..choice.request_of(file)?
    })
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("the form is NAME=TYPE, such as t=f64")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn include(text: &str) -> Result<String, String> {
    crate::process::include(&PathBuf::from(text)).into_string().map_err(|_| "it is not UTF-8".to_owned())
}

fn define(text: &str) -> Result<String, String> {
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return Err("the form is NAME or NAME=VALUE, such as N=1000".to_owned());
    }
    Ok(format!("-D{text}"))
}
