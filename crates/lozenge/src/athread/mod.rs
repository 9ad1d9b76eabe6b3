//! Athread programs on the emulator of `runtime/athread`, which travels inside the command: built
//! in a private folder, run, their reports read.
//!
//! Not here: where host and slave files come from (`pipeline`), and what results are compared with
//! (`command`).

pub mod host;
mod run_report;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use targets::Signature;
use targets::athread::MicroKernels;

use crate::carried::EMULATOR;
use crate::execute::Executable;
use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::process::{self, Compiler};

pub use run_report::Report;

/// A number that changes with any file of the emulator.
pub fn digest() -> u64 {
    let mut hasher = DefaultHasher::new();
    EMULATOR.hash(&mut hasher);
    hasher.finish()
}

/// Exit code of a program that has broken a rule.
pub(crate) const BROKEN_RULE: i32 = 70;

/// The emulator as a library, in a folder of its own.
#[derive(Debug)]
pub struct Emulator {
    scratch: Scratch,
    compiler: Compiler,
    objcopy: PathBuf,
    nm: PathBuf,
    /// Micro-kernels that a program had, by the names of their files.
    known: Mutex<BTreeMap<String, Arc<SlaveObject>>>,
}

/// A compiled slave file, whose functions have the prefix that hosts know them by.
#[derive(Debug)]
struct SlaveObject {
    path: PathBuf,
    /// Its functions: a line each with the name in the text and the one with the prefix.
    names: String,
}

/// Flags for C of any kind.
const COMMON: [&str; 3] = ["-std=gnu11", "-ffp-contract=off", "-Wno-psabi"];

/// Flags for slave files. What this machine's compiler puts on the stack counts as local memory,
/// and it has half as many vector registers as the cores, or fewer: of what is moved early for
/// speed more goes there.
const SLAVE: [&str; 2] = ["-O2", "-march=native"];

/// The files of a program.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// C for the management core.
    pub host: &'a str,
    /// More of it, such as a driver with a main function: names and texts.
    pub more: &'a [(&'a str, &'a str)],
    /// C for the computing cores.
    pub slave: &'a str,
    /// Files with functions that it calls.
    pub micro_kernels: &'a [MicroKernels],
    /// Headers that they include: names and texts.
    pub headers: &'a [(&'a str, &'a str)],
    /// Folder of other headers that the host includes.
    pub folder: Option<&'a Path>,
    /// Flags of the C compiler for all files but those of micro-kernels, which are the same for all
    /// programs.
    pub flags: &'a [&'a str],
}

/// A built program.
#[derive(Debug)]
pub struct Program {
    scratch: Scratch,
    program: PathBuf,
    takes_a_file: bool,
}

/// How a program is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Order of the cores.
    pub seed: u64,
    /// SW26010Pro instead of SW26010.
    pub pro: bool,
    /// Time limit.
    pub limit: Duration,
}

/// What a run gave.
#[derive(Debug)]
pub struct Run {
    /// What the program printed.
    pub stdout: Vec<u8>,
    /// What it wrote to the file that its first argument names; empty if none.
    pub output: Vec<u8>,
    /// What the emulator counted; none if nothing was spawned.
    pub report: Option<Report>,
    /// Wall-clock time of the emulation.
    pub time: Duration,
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, crate::encoding::written(text))
        .map_err(|e| Failure::environment("X0004", format!("can't write {}: {}", path.display(), reason(&e))))
}

impl Emulator {
    /// Compiles the emulator.
    ///
    /// # Errors
    /// `X0301` without a C compiler or binutils; as [`Compiler::compile_plain`].
    pub fn build(compiler: &Compiler) -> Result<Emulator, Failure> {
        let tool = |name: &str| {
            process::on_path(Path::new(name)).ok_or_else(|| {
                Failure::environment(
                    "X0301",
                    format!("`{name}` is not on the path, and the emulator needs it"),
                )
                .help("install it (Debian: apt-get install binutils)")
            })
        };
        let (objcopy, nm) = (tool("objcopy")?, tool("nm")?);
        let scratch = Scratch::new()?;
        for folder in ["include", "src"] {
            let path = scratch.path().join(folder);
            fs::create_dir(&path).map_err(|e| {
                Failure::environment("X0004", format!("can't make {}: {}", path.display(), reason(&e)))
            })?;
        }
        for (path, text) in EMULATOR.iter() {
            write(&scratch.path().join(path), text)?;
        }
        let known = Mutex::new(BTreeMap::new());
        let emulator = Emulator { scratch, compiler: compiler.clone(), objcopy, nm, known };
        let sources = EMULATOR.iter().filter(|(path, _)| path.ends_with(".c"));
        let paths: Vec<PathBuf> = sources.map(|(path, _)| emulator.scratch.path().join(path)).collect();
        let mut arguments: Vec<&OsStr> =
            ["-std=gnu11", "-O2", "-Wno-psabi", "-r", "-nostdlib"].map(OsStr::new).to_vec();
        arguments.extend(paths.iter().map(|p| p.as_os_str()));
        // One object of all: no archiver is needed.
        let library = emulator.library();
        arguments.extend([OsStr::new("-o"), library.as_os_str()]);
        emulator.compile(&arguments)?;
        Ok(emulator)
    }

    fn library(&self) -> PathBuf {
        self.scratch.path().join("emulator.o")
    }

    fn compile(&self, arguments: &[&OsStr]) -> Result<(), Failure> {
        tool(
            Command::new(&self.compiler.command).args(arguments).env("TMPDIR", self.scratch.path()),
            self.compiler.limit,
            "does not compile the C",
        )
        .map(drop)
    }

    /// Compiles a file of some folder, with headers from there.
    fn object(&self, source: &Path, flags: &[&OsStr]) -> Result<PathBuf, Failure> {
        let object = source.with_extension("o");
        let own = process::include(source.parent().unwrap_or(Path::new(".")));
        let headers = process::include(&self.scratch.path().join("include"));
        let mut arguments: Vec<&OsStr> = COMMON.iter().map(OsStr::new).collect();
        arguments.extend([own.as_os_str(), headers.as_os_str()]);
        arguments.extend(flags);
        arguments.extend([OsStr::new("-c"), source.as_os_str(), OsStr::new("-o"), object.as_os_str()]);
        self.compile(&arguments)?;
        Ok(object)
    }

    /// The object of micro-kernels, compiled once for all programs.
    fn micro_kernels(&self, files: &MicroKernels) -> Result<Arc<SlaveObject>, Failure> {
        // A thread that has failed leaves what others compiled as it was.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = known.get(&files.stem) {
            return Ok(Arc::clone(object));
        }
        let source = self.scratch.path().join(files.source_name());
        write(&self.scratch.path().join(files.header_name()), &files.header)?;
        write(&source, &files.source)?;
        let path = self.object(&source, &SLAVE.map(OsStr::new))?;
        let names = self.slave_names(&path)?;
        self.rename_slave(&path, &names)?;
        let object = Arc::new(SlaveObject { path, names });
        known.insert(files.stem.clone(), Arc::clone(&object));
        Ok(object)
    }

    /// Builds a program as the vendor's compilers do: host and slave files apart, then together.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses a file; `X0004`, `X0301`, `X0303` as elsewhere.
    pub fn program(&self, sources: &Sources<'_>) -> Result<Program, Failure> {
        let scratch = Scratch::new()?;
        let at = |name: &str| scratch.path().join(name);
        for (name, text) in sources.headers.iter().chain(sources.more) {
            write(&at(name), text)?;
        }
        write(&at("host.c"), sources.host)?;
        write(&at("slave.c"), sources.slave)?;
        let flags: Vec<&OsStr> = sources.flags.iter().map(OsStr::new).collect();
        let (mut objects, mut called) = (Vec::new(), String::new());
        for files in sources.micro_kernels {
            write(&at(&files.header_name()), &files.header)?;
            let object = self.micro_kernels(files)?;
            called.push_str(&object.names);
            objects.push(object.path.clone());
        }
        let slave = self.object(&at("slave.c"), &[&flags[..], &SLAVE.map(OsStr::new)].concat())?;
        self.rename_slave(&slave, &(self.slave_names(&slave)? + &called))?;
        objects.push(slave);
        let folder = sources.folder.map(process::include);
        let host_flags: Vec<&OsStr> =
            flags.into_iter().chain([OsStr::new("-O1")]).chain(folder.as_deref()).collect();
        let more = sources.more.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".c"));
        for name in std::iter::once("host.c").chain(more) {
            let host = self.object(&at(name), &host_flags)?;
            let names = self.scratch.path().join("host.syms");
            self.rename(&host, &names, &[])?;
            objects.push(host);
        }
        objects.push(self.library());
        let program = at("program");
        let mut arguments: Vec<&OsStr> = objects.iter().map(|o| o.as_os_str()).collect();
        // Symbols that are looked up when they are first called would be looked up on the stack of
        // a core.
        arguments.extend(["-Wl,-z,now", "-pthread", "-lm", "-o"].map(OsStr::new));
        arguments.push(program.as_os_str());
        self.compile(&arguments)?;
        let takes_a_file = crate::kernel::takes_a_file(sources.host);
        Ok(Program { scratch, program, takes_a_file })
    }

    /// The functions of a slave object, each with the name that hosts know it by.
    fn slave_names(&self, object: &Path) -> Result<String, Failure> {
        let mut list = Command::new(&self.nm);
        list.args(["--defined-only", "--extern-only"]).arg(object);
        let limit = self.compiler.limit;
        let symbols = tool(&mut list, limit, "does not list the functions of the slave file")?;
        let functions = String::from_utf8_lossy(&symbols);
        let functions = functions.lines().filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            (words.next()? == "T").then(|| words.next())?
        });
        Ok(functions.map(|name| format!("{name} slave_{name}\n")).collect())
    }

    /// Gives functions of a slave object other names.
    fn rename_slave(&self, object: &Path, names: &str) -> Result<(), Failure> {
        let list = object.with_extension("names");
        write(&list, names)?;
        // Its globals that are not thread-local are main memory, which the emulator keeps apart.
        self.rename(object, &list, &[".data", ".bss", ".data.rel", ".data.rel.local"])
    }

    fn rename(&self, object: &Path, names: &Path, globals: &[&str]) -> Result<(), Failure> {
        let mut flag = std::ffi::OsString::from("--redefine-syms=");
        flag.push(names);
        let mut command = Command::new(&self.objcopy);
        for section in globals {
            command.arg("--rename-section").arg(format!("{section}=slave_data,alloc,load,data,contents"));
        }
        tool(command.arg(flag).arg(object), self.compiler.limit, "does not rename functions").map(drop)
    }
}

/// Runs a build tool and returns what it printed.
fn tool(command: &mut Command, limit: Duration, complaint: &str) -> Result<Vec<u8>, Failure> {
    let finished = process::run(command, limit)?;
    if finished.status.success() {
        return Ok(finished.stdout);
    }
    let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
    let name = command.get_program().to_string_lossy().into_owned();
    let failure = Failure::environment("X0302", format!("`{name}` {complaint}"));
    Err(if said.is_empty() { failure } else { failure.note(said) })
}

/// What a program says that has broken a rule.
pub(crate) fn broken_rule(said: &str) -> Failure {
    let said = said.lines().find_map(|l| l.strip_prefix("athread: ")).unwrap_or("no message");
    Failure::check("X0404", format!("the program breaks a rule of the Athread interface: {said}")).help(
        "runtime/athread/README.md lists the rules; generated code that breaks one is a defect of lozenge",
    )
}

/// What a program says of an array whose rows are further apart than a transfer can say.
pub(crate) fn too_far(said: &str) -> Failure {
    Failure::refused("P0805", said).help("choose smaller sizes, or a layout whose last dimension is shorter")
}

impl Program {
    fn output(&self) -> PathBuf {
        self.scratch.path().join("output")
    }

    /// What its environment is to hold, and where its report will be.
    fn environment(&self, settings: Settings) -> (Vec<(&'static str, String)>, PathBuf) {
        let report = self.scratch.path().join("report");
        let environment = vec![
            // The command has a limit of its own.
            ("ATHREAD_LIMIT", "0".to_owned()),
            ("ATHREAD_SEED", settings.seed.to_string()),
            ("ATHREAD_CHIP", if settings.pro { "sw26010pro" } else { "sw26010" }.to_owned()),
            ("ATHREAD_REPORT", "json".to_owned()),
            ("ATHREAD_REPORT_FILE", report.display().to_string()),
            ("ATHREAD_MODE", String::new()),
            ("ATHREAD_DIRECT", String::new()),
            ("ATHREAD_LDM", String::new()),
        ];
        (environment, report)
    }

    /// Runs the program; if it opens files, its argument is the name of the one that it writes its
    /// arrays to.
    ///
    /// # Errors
    /// `X0404` if it breaks a rule of the interface, `P0805` if rows of an array are further apart
    /// than a transfer can say, `X0304` if it fails otherwise, `X0303` after the time limit.
    pub fn run(&self, settings: Settings) -> Result<Run, Failure> {
        self.run_with(settings, &[])
    }

    /// As [`Program::run`], with more variables in its environment.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_with(&self, settings: Settings, variables: &[(String, String)]) -> Result<Run, Failure> {
        let (environment, report) = self.environment(settings);
        for old in [&self.output(), &report] {
            let _ = fs::remove_file(old);
        }
        let mut command = Command::new(&self.program);
        command
            .args(self.takes_a_file.then(|| self.output()))
            .envs(environment)
            .envs(variables.iter().cloned());
        let finished = process::run(&mut command, settings.limit)?;
        if finished.status.code() == Some(BROKEN_RULE) {
            return Err(broken_rule(&finished.stderr));
        }
        if let Some(line) = finished.stderr.lines().find(|line| line.ends_with(targets::athread::TOO_FAR)) {
            return Err(too_far(line));
        }
        if !finished.status.success() {
            let failure =
                Failure::environment("X0304", format!("the program ended with {}", finished.status));
            return Err(if finished.stderr.is_empty() {
                failure
            } else {
                failure.note(finished.stderr.trim_end())
            });
        }
        let output = fs::read(self.output()).unwrap_or_default();
        Ok(Run { stdout: finished.stdout, output, report: read_report(&report)?, time: finished.time })
    }

    /// The program around the driver of [`crate::execute`], and where its report will be.
    pub fn executable(self, routines: &[Signature], settings: Settings) -> (Executable, PathBuf) {
        let (environment, report) = self.environment(settings);
        (Executable::of(self.scratch, self.program, routines, environment), report)
    }
}

/// The report of a run; none if nothing was spawned.
///
/// # Errors
/// As [`Report::read`].
pub(crate) fn read_report(path: &Path) -> Result<Option<Report>, Failure> {
    fs::read_to_string(path).ok().map(|text| Report::read(&text)).transpose()
}
