//! Child processes: the C compiler and the programs it makes. They never outlive their time limit,
//! and what they print is kept.
//!
//! Each has a process group of its own, which is killed when its first process ends, at the end of
//! the time limit, and when the command is ended by a signal (`crate::cleanup`). Not here: what is
//! compiled (`pipeline`) and what is run (`execute`).

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cfront::Language;

use crate::cleanup::Group;
use crate::config;
use crate::encoding;
use crate::failure::{Failure, Source};
use crate::files::{self, Scratch, reason};
use crate::progress;

/// What a finished process left.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output, whole.
    pub stdout: Vec<u8>,
    /// Its standard error, as far as it was kept.
    pub stderr: String,
    /// Wall-clock time.
    pub time: Duration,
}

/// A longer standard output is refused; of the standard error, what is beyond is thrown away.
const MAX_OUTPUT: usize = 64 << 20;

/// A process that left its group may hold a pipe for ever. The pipe is given up so long after the
/// group was killed.
const PIPE_LIMIT: Duration = Duration::from_secs(5);

/// Runs a command to its end, or to the end of the time limit. What it leaves running is killed.
///
/// # Errors
/// `X0301` if it can't be started, `X0303` if it takes longer than `limit`, `X0306` if it prints
/// more than is read.
pub fn run(command: &mut Command, limit: Duration) -> Result<Finished, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command)
        .map_err(|e| Failure::environment("X0301", format!("can't run `{name}`: {}", reason(&e))))?;
    // Both pipes are drained while the child runs, else it would stop when one is full.
    let stdout = group.child().stdout.take().map(|stream| Pipe::drain(stream, Beyond::Stop));
    let stderr = group.child().stderr.take().map(|stream| Pipe::drain(stream, Beyond::Drop));
    let in_time = wait(&group, began, limit);
    let time = began.elapsed();
    let status = group.end();
    let Some(status) = status.filter(|_| in_time) else {
        return Err(Failure::environment(
            "X0303",
            format!("`{name}` was stopped after its time limit of {} s", limit.as_secs_f64()),
        )
        .help("a larger limit is set by --timeout SECONDS"));
    };
    let until = Instant::now() + PIPE_LIMIT;
    let stdout = stdout.map_or(Kept::default(), |pipe| pipe.kept(until));
    let stderr = stderr.map_or(Kept::default(), |pipe| pipe.kept(until));
    if stdout.beyond {
        return Err(Failure::refused(
            "X0306",
            format!("`{name}` prints more than the {} MiB that are read", MAX_OUTPUT >> 20),
        ));
    }
    let stderr = String::from_utf8_lossy(&stderr.bytes).into_owned();
    Ok(Finished { status, stdout: stdout.bytes, stderr, time })
}

/// Whether the process ended within its limit.
fn wait(group: &Group, began: Instant, limit: Duration) -> bool {
    let mut pause = Duration::from_micros(200);
    while !group.has_ended() {
        if began.elapsed() >= limit {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    true
}

/// What to do with output beyond [`MAX_OUTPUT`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// Read no more: who goes on writing is ended by the system.
    Stop,
    /// Read it and throw it away.
    Drop,
}

/// What came out of a pipe.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    /// Whether there was more than is kept.
    beyond: bool,
}

/// A pipe that a thread reads.
struct Pipe {
    kept: Arc<Mutex<Kept>>,
    ended: Receiver<()>,
}

impl Pipe {
    fn drain(mut stream: impl Read + Send + 'static, beyond: Beyond) -> Pipe {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let (end, ended) = channel::<()>();
        let pipe = Pipe { kept: Arc::clone(&kept), ended };
        std::thread::spawn(move || {
            let _end = end;
            let mut buffer = [0u8; 1 << 16];
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_OUTPUT.saturating_sub(kept.bytes.len());
                kept.bytes.extend_from_slice(&buffer[..n.min(room)]);
                kept.beyond |= n > room;
                if kept.beyond && beyond == Beyond::Stop {
                    break;
                }
            }
        });
        pipe
    }

    /// All that was printed; what was read so far if the pipe is still open at the time given.
    fn kept(self, until: Instant) -> Kept {
        let wait = until.saturating_duration_since(Instant::now());
        let _ = self.ended.recv_timeout(wait);
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The name of a file or folder as an argument of another program, which must not take it for an
/// option (`-k.c`), for the name of a file with options (`@w.c`), or for a place in its own
/// installation (`=include`).
pub fn argument(path: &Path) -> OsString {
    if is_plain(path.as_os_str()) || path.is_absolute() {
        path.into()
    } else {
        Path::new(".").join(path).into_os_string()
    }
}

/// Whether a name means nothing but itself to other programs.
fn is_plain(name: &OsStr) -> bool {
    name.as_bytes().first().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_'))
}

/// A file as C compilers may be given it. They hand the last part of the name on, as a word of its
/// own, to programs that take `@w.c` for the name of a file with options, so such a file gets
/// another name in a folder of its own, and its own folder is one of headers.
struct Input {
    /// The options and the name.
    arguments: Vec<OsString>,
    alias: Option<Scratch>,
}

impl Input {
    fn of(file: &Path) -> Result<Input, Failure> {
        if file.file_name().is_some_and(is_plain) {
            return Ok(Input { arguments: vec![argument(file)], alias: None });
        }
        let scratch = Scratch::new()?;
        let name = scratch.path().join("file.c");
        std::path::absolute(file).and_then(|file| std::os::unix::fs::symlink(file, &name)).map_err(|e| {
            Failure::environment("X0004", format!("can't make {}: {}", name.display(), reason(&e)))
        })?;
        let folder = argument(file.parent().unwrap_or(Path::new("")));
        Ok(Input { arguments: vec!["-iquote".into(), folder, name.into_os_string()], alias: Some(scratch) })
    }

    /// A file with this text.
    fn of_text(text: &str) -> Result<Input, Failure> {
        let scratch = Scratch::new()?;
        let name = scratch.path().join("file.c");
        std::fs::write(&name, &*encoding::written(text)).map_err(|e| {
            Failure::environment("X0004", format!("can't write {}: {}", name.display(), reason(&e)))
        })?;
        Ok(Input { arguments: vec![name.into_os_string()], alias: Some(scratch) })
    }

    /// What a program says of the file, with its own name.
    fn said(&self, text: &str, file: &Path) -> String {
        let Some(scratch) = &self.alias else { return text.to_owned() };
        text.replace(&scratch.path().join("file.c").display().to_string(), &encoding::name(file))
    }
}

/// The option of C compilers that adds a folder of headers; the folder of this process if the name
/// is empty.
pub fn include(folder: &Path) -> OsString {
    let mut option = OsString::from("-I");
    option.push(argument(folder));
    option
}

/// A C compiler and the flags that every program gets.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The command, from `CC` or `gcc`, `cc`, `clang`, whichever there is.
    pub command: PathBuf,
    /// Time limit of one compilation.
    pub limit: Duration,
    /// What programs as wholes are written in.
    pub language: Language,
}

/// How to compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Optimise {
    /// `-O3 -march=native -ffp-contract=fast`: for speed. No error number is set
    /// (`-fno-math-errno`), which nobody reads: with it, compilers make no vectors of roots.
    Fast,
    /// `-O1 -ffp-contract=off`: results to the last bit those of the interpreter, and a short
    /// compilation; for checks and tests.
    Exact,
    /// `-O3 -march=native -ffp-contract=off`: the optimiser of `Fast` with the results of `Exact`.
    FastExact,
}

/// Functions of `math.h` set no `errno`.
const NO_ERROR_NUMBER: &str = "-fno-math-errno";

impl Optimise {
    /// The flags.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Optimise::Fast => &["-O3", "-march=native", "-ffp-contract=fast", NO_ERROR_NUMBER],
            Optimise::Exact => &["-O1", "-ffp-contract=off"],
            Optimise::FastExact => &["-O3", "-march=native", "-ffp-contract=off", NO_ERROR_NUMBER],
        }
    }

    /// The flags with those that are configured behind them, unless results have to be the same to
    /// the last bit.
    pub fn configured(self) -> Vec<&'static str> {
        let configured: &[String] = if self == Optimise::Fast { &config::current().flags } else { &[] };
        self.flags().iter().copied().chain(configured.iter().map(String::as_str)).collect()
    }
}

/// A C compiler may take this long for one file.
const COMPILER_LIMIT: Duration = Duration::from_secs(300);

/// The C compiler that the command line names.
static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// From now on this is the C compiler.
pub fn choose(command: &Path) {
    let _ = CHOSEN.set(command.to_path_buf());
}

/// The standard of C++ that files are read and tried by.
pub(crate) const CPP_STANDARD: &str = "-std=gnu++17";

impl Compiler {
    /// The system's compiler: the one that was chosen, `CC` if that is set, else the first of
    /// `gcc`, `cc`, `clang` on the path.
    ///
    /// # Errors
    /// `X0301` if there is none.
    pub fn find() -> Result<Compiler, Failure> {
        let of_environment = || std::env::var_os("CC").filter(|v| !v.is_empty()).map(PathBuf::from);
        let named = CHOSEN.get().cloned().map(|cc| (cc, "--cc"));
        if let Some((cc, who)) = named.or_else(|| Some((of_environment()?, "CC"))) {
            return Compiler::named(&cc, who).map_err(|failure| {
                failure.help(match who {
                    "CC" => "set CC to a C compiler, or unset it to use gcc",
                    _ => "name a C compiler, or leave `--cc` out to use CC or gcc",
                })
            });
        }
        let command = ["gcc", "cc", "clang"].iter().find_map(|name| on_path(Path::new(name)));
        let command = command.ok_or_else(|| {
            Failure::environment("X0301", "there is no C compiler: none of gcc, cc, clang is on the path")
                .help("install one (Debian: apt-get install gcc), or set CC")
        })?;
        Ok(Compiler { command, limit: COMPILER_LIMIT, language: Language::C })
    }

    /// The compiler with this name or path, which `who` asked for.
    ///
    /// # Errors
    /// `X0301` if it is not there.
    pub fn named(name: &Path, who: &str) -> Result<Compiler, Failure> {
        let command = on_path(name).ok_or_else(|| {
            let message = format!("the C compiler that {who} names, `{}`, is not there", name.display());
            Failure::environment("X0301", message)
        })?;
        Ok(Compiler { command, limit: COMPILER_LIMIT, language: Language::C })
    }

    /// The same compiler for a file of C++, by its name, or of C.
    #[must_use]
    pub fn of(&self, file: &Path) -> Compiler {
        Compiler { language: files::language(file).unwrap_or_default(), ..self.clone() }
    }

    /// Compiles C files to a program with OpenMP. Returns the time it took.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses the files, which is a defect of the code generator; `X0301`,
    /// `X0303` as [`run`].
    pub fn compile(
        &self,
        sources: &[&Path],
        program: &Path,
        flags: &[&str],
        libraries: &[&str],
    ) -> Result<Duration, Failure> {
        let flags: Vec<&str> = ["-std=c99", "-fopenmp"].iter().chain(flags).copied().collect();
        self.compile_plain(sources, program, &flags, libraries)
    }

    /// As [`Compiler::compile`], with no flags but those given.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn compile_plain(
        &self,
        sources: &[&Path],
        program: &Path,
        flags: &[impl AsRef<OsStr>],
        libraries: &[&str],
    ) -> Result<Duration, Failure> {
        progress::say("compiling the C");
        let mut command = Command::new(&self.command);
        // Its own temporary files go with the folder of the program, also if it is killed.
        command.env("TMPDIR", program.parent().unwrap_or(Path::new(".")));
        command.args(flags).args(sources.iter().map(|source| argument(source)));
        command.arg("-o").arg(argument(program)).args(libraries);
        command.args((self.language == Language::Cpp).then_some("-lstdc++")).arg("-lm");
        let finished = run(&mut command, self.limit)?;
        if !finished.status.success() {
            let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
            let failure =
                Failure::environment("X0302", format!("`{}` does not compile the C", self.command.display()));
            let failure = if said.is_empty() { failure } else { failure.note(said) };
            return Err(failure.help("if this compiler is old or unusual, set CC to another one; otherwise this is a defect of lozenge"));
        }
        Ok(finished.time)
    }

    /// The text of a C file after the preprocessor, with line markers.
    ///
    /// # Errors
    /// `X0305` if the preprocessor refuses the file; `X0301`, `X0303`, `X0306` as [`run`].
    pub fn preprocess(&self, file: &Path, flags: &[String]) -> Result<String, Failure> {
        self.preprocess_input(&Input::of(file)?, file, flags)
    }

    /// The same for C that is in no file.
    ///
    /// # Errors
    /// As [`Compiler::preprocess`]; `X0004` if there is no place for a file.
    pub(crate) fn preprocess_text(&self, source: &Source, flags: &[String]) -> Result<String, Failure> {
        self.preprocess_input(&Input::of_text(&source.text)?, &encoding::path(&source.path), flags)
    }

    fn preprocess_input(&self, input: &Input, file: &Path, flags: &[String]) -> Result<String, Failure> {
        let mut command = Command::new(&self.command);
        command.args(["-E", "-dD"]);
        command.args(match files::language(file) {
            Some(Language::Cpp) => ["-x", "c++", CPP_STANDARD].as_slice(),
            _ => &["-std=gnu11"],
        });
        command.args(flags).args(&input.arguments);
        let finished =
            run(&mut command, self.limit).map_err(|failure| match failure.diagnostics.first() {
                Some(d) if d.code.0 == "X0306" => failure
                    .note(format!("it is the preprocessor, and reads {}", encoding::name(file)))
                    .help("include less, or move the regions to a file that needs fewer headers and macros"),
                _ => failure,
            })?;
        if !finished.status.success() {
            let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
            let said = input.said(&said, file);
            return Err(Failure::refused(
                "X0305",
                format!("the preprocessor refuses {}", encoding::name(file)),
            )
            .note(said)
            .help("folders of headers are given by -I, macros by -D"));
        }
        encoding::read(&finished.stdout).ok_or_else(|| {
            Failure::refused(
                "X0002",
                format!("{} is not UTF-8 text after the preprocessor", encoding::name(file)),
            )
        })
    }

    /// Name and version in one line, as the compiler tells it.
    pub fn version(&self) -> String {
        let mut command = Command::new(&self.command);
        run(command.arg("--version"), Duration::from_secs(10))
            .ok()
            .and_then(|f| String::from_utf8_lossy(&f.stdout).lines().next().map(str::to_owned))
            .unwrap_or_else(|| self.command.display().to_string())
    }
}

/// The program's path: as given if it has a folder, else the first on `PATH`.
pub fn on_path(command: &Path) -> Option<PathBuf> {
    if command.components().count() > 1 {
        return command.is_file().then(|| command.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_hangs_is_stopped() {
        let began = Instant::now();
        let failure = run(Command::new("sleep").arg("60"), Duration::from_millis(100)).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(failure.diagnostics[0].code.0, "X0303");
    }

    #[test]
    fn much_output_does_not_block() {
        let finished = run(
            Command::new("sh").args(["-c", "head -c 3000000 /dev/zero; echo said >&2"]),
            Duration::from_secs(60),
        );
        let finished = finished.unwrap();
        assert_eq!((finished.stdout.len(), finished.stderr.as_str()), (3_000_000, "said\n"));
    }
}
