//! What is asked of the compiler: a plain value, which the command line, Python and callers of this
//! crate fill in.
//!
//! Not here: how a command line is read (`cli`), and what is done (`pipeline`).

use std::fmt;
use std::sync::Arc;

use loops::Registers;
use polyhedral::locality::Caches;
use targets::Settings;

use crate::failure::{Failure, Source};
use crate::machine::{self, Description};
use crate::target::Target;

pub use dpia::Mode;

/// The kind of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A functional program (`.loz`).
    Functional,
    /// C with marked regions (`.c`), or C++ with such regions if its name says so (`.cpp`).
    C,
    /// Loop programs in textual form (`.loops`).
    Loops,
}

/// The order of loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Schedule {
    /// That of the compiler for C, that of the program for other sources.
    #[default]
    Usual,
    /// That of the program.
    Original,
    /// That of the compiler, whatever the source.
    Auto,
    /// That of a text, in the form that [`Stage::Schedule`](targets::Stage::Schedule) has.
    Given(Source),
}

impl Schedule {
    /// Whether the compiler is asked for its order by name.
    pub(crate) fn is_auto(&self) -> bool {
        *self == Schedule::Auto
    }
}

/// How one dimension of an array is dealt out to ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dealing {
    /// Not at all: `*`.
    Whole,
    /// One block for each rank: `block`.
    Block,
    /// Blocks of so many elements in turn: `cyclic(N)`.
    Cyclic(i64),
}

impl Dealing {
    /// Arrays with their dimensions: `A(block, *), x(cyclic(8))`.
    ///
    /// # Errors
    /// What is wrong, in a few words.
    pub fn read(text: &str) -> Result<Vec<(String, Vec<Dealing>)>, String> {
        let wrong = || "the form is ARRAY(DIM, ...), each DIM one of *, block, cyclic(N)".to_owned();
        let mut rest = text.trim();
        let mut found = Vec::new();
        while !rest.is_empty() {
            let (name, behind) = rest.split_once('(').ok_or_else(wrong)?;
            let name = name.trim();
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(wrong());
            }
            let mut dims = Vec::new();
            let mut inner = behind;
            loop {
                inner = inner.trim_start();
                let (dealing, after) = Dealing::first(inner).ok_or_else(wrong)?;
                dims.push(dealing);
                inner = after.trim_start();
                if let Some(after) = inner.strip_prefix(')') {
                    rest = after.trim_start();
                    break;
                }
                inner = inner.strip_prefix(',').ok_or_else(wrong)?;
            }
            found.push((name.to_owned(), dims));
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        if found.is_empty() { Err(wrong()) } else { Ok(found) }
    }

    /// The first word of a text, and what is behind it.
    fn first(text: &str) -> Option<(Dealing, &str)> {
        if let Some(rest) = text.strip_prefix('*') {
            return Some((Dealing::Whole, rest));
        }
        if let Some(rest) = text.strip_prefix("block") {
            return Some((Dealing::Block, rest));
        }
        let rest = text.strip_prefix("cyclic")?.trim_start();
        let (width, rest) = rest.strip_prefix('(')?.split_once(')')?;
        Some((Dealing::Cyclic(width.trim().parse().ok()?), rest))
    }
}

/// What is asked for of a target for several ranks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranks {
    /// The number of ranks that the code is made for; it is right for any number.
    pub count: Option<u32>,
    /// The extents of the grid; none: by cost.
    pub grid: Option<Vec<u32>>,
    /// Where arrays are; none: by cost.
    pub distribution: Vec<(String, Vec<Dealing>)>,
}

/// What is asked for of a source. [`Request::default`] asks for C with OpenMP, and leaves every
/// choice to the compiler.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The definition, function or region; the only one, or all, if none is named.
    pub definition: Option<String>,
    /// How functional programs are translated.
    pub mode: Mode,
    /// The strategy that is applied first: by its name, or as a text.
    pub strategy: Option<String>,
    /// Whether the order of floating-point operations may change.
    pub reassociate: bool,
    /// Tile sizes, the outermost loop first; the last one holds for further loops. None: by caches.
    pub tile: Vec<i64>,
    /// Caches of a core that tile sizes are chosen for; none: those of this machine.
    pub caches: Option<Caches>,
    /// The vector registers of a core; none: those of this machine.
    pub registers: Option<Registers>,
    /// The machine that code is for; none: this one.
    pub machine: Option<Description>,
    /// The order of loops.
    pub schedule: Schedule,
    /// Schedules that measurement has chosen ([`pipeline::tuned`](crate::pipeline::tuned)), for
    /// functions of whose order nothing is said.
    pub tuned: Option<Source>,
    /// Element types for type parameters of the definition, such as `("t", "f64")`.
    pub types: Vec<(String, String)>,
    /// C: options of the preprocessor (`-I...`, `-D...`).
    pub preprocessor: Vec<String>,
    /// C: functions that read nothing but their arguments and write nothing.
    pub pure_functions: Vec<String>,
    /// C: pointers of a region never overlap, where that can't be tested.
    pub assume_no_alias: bool,
    /// C: regions that can't be taken stay as they are, and are told as warnings; else they are
    /// errors, and nothing comes out.
    pub partial: bool,
    /// C: where a file has no regions, every loop nest that can be taken is one.
    pub auto: bool,
    /// C: with `auto`, loop nests that can't be taken are told too.
    pub remarks: bool,
    /// C: `#line` directives lead from the result to the lines of the original.
    pub lines: bool,
    /// What comes out.
    pub target: Target,
    /// Values of options that only some targets have.
    pub settings: Settings,
    /// The number of threads or cores, of targets whose code is for a number of them.
    pub threads: Option<u32>,
    /// Sizes that tiles are chosen for, of targets that do so. The code is right for all sizes.
    pub sizes: Vec<(String, i64)>,
    /// Ranks, of targets whose code is for several.
    pub ranks: Ranks,
    /// What names of files begin with, of targets that make several.
    pub stem: String,
    /// A folder with the headers that a C file has of its own, for build scripts.
    pub headers: Option<String>,
    /// Where imported files are, and who runs the C preprocessor.
    pub files: Files,
    /// Who is told what is being done.
    pub progress: Progress,
}

impl Request {
    /// The caches to compile for.
    ///
    /// # Errors
    /// As [`machine::caches`].
    pub(crate) fn caches(&self) -> Result<Caches, Failure> {
        machine::caches(self.caches.or(self.machine.as_ref().and_then(|machine| machine.caches)))
    }

    /// The vector registers to compile for.
    ///
    /// # Errors
    /// As [`machine::registers`].
    pub(crate) fn registers(&self) -> Result<Registers, Failure> {
        let described = || self.machine.as_ref().and_then(|machine| machine.registers);
        self.registers.or_else(described).map_or_else(machine::registers, Ok)
    }

    /// What names of files begin with.
    pub(crate) fn stem(&self) -> String {
        if self.stem.is_empty() { "program".to_owned() } else { targets::stem(&self.stem) }
    }

    /// The same for one definition.
    pub fn of(&self, definition: &str) -> Request {
        Request { definition: Some(definition.to_owned()), ..self.clone() }
    }
}

/// A step of a compilation, for people who wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// What is done from now on.
    Step(&'a str),
    /// From now on things are counted: what, and how many there are.
    Count(&'a str, u64),
    /// The thing that is worked on.
    Item(&'a str),
    /// One more of them is done.
    Counted,
    /// So many are done, of so many. This comes too often to be a step.
    Done(u64, u64),
    /// Counting has ended.
    End,
}

/// A function that is told of steps.
type Observer = dyn Fn(Event) + Send + Sync;

/// Who is told what is being done: nobody, unless a function is given.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Observer>>);

impl Progress {
    /// The function is called at each step.
    pub fn new(told: impl Fn(Event) + Send + Sync + 'static) -> Progress {
        Progress(Some(Arc::new(told)))
    }

    pub(crate) fn tell(&self, event: Event) {
        if let Some(told) = &self.0 {
            told(event);
        }
    }

    pub(crate) fn step(&self, step: impl AsRef<str>) {
        self.tell(Event::Step(step.as_ref()));
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(told)" } else { "Progress(silent)" })
    }
}

/// What a source refers to outside of its text.
pub trait Access: Send + Sync {
    /// The file that a functional program imports: `path` as it is written in the file `from`.
    ///
    /// # Errors
    /// Why there is none, in a few words.
    fn import(&self, from: &str, path: &str) -> Result<Source, String>;

    /// A C file after the preprocessor, with line markers.
    ///
    /// # Errors
    /// What the preprocessor refuses.
    fn preprocess(&self, source: &Source, options: &[String]) -> Result<String, Failure>;
}

/// The files that a source can refer to. By default a source is a text of its own: it can import
/// nothing, and in C it can include the headers of the system, and those of folders that the
/// request names.
#[derive(Clone)]
pub struct Files(Arc<dyn Access>);

impl Files {
    /// Files as this value finds them.
    pub fn new(access: impl Access + 'static) -> Files {
        Files(Arc::new(access))
    }

    pub(crate) fn access(&self) -> &dyn Access {
        &*self.0
    }
}

impl Default for Files {
    fn default() -> Files {
        Files::new(crate::files::Nowhere)
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Files")
    }
}
