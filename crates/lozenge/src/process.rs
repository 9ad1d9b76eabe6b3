//! Child processes: the C compiler and the programs it makes. They never outlive their time limit, and what they say is kept.
//!
//! Not here: what is compiled (`pipeline`) and what is run (`execute`).

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::files::reason;
use crate::foreign;

/// What a finished process left.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output, as far as it was kept.
    pub stdout: Vec<u8>,
    /// Its standard error, as far as it was kept.
    pub stderr: String,
    /// Wall-clock time.
    pub time: Duration,
}

/// Output beyond this is read and thrown away.
const MAX_OUTPUT: usize = 64 << 20;

/// Runs a command to its end, or to the end of the time limit.
///
/// # Errors
/// `X0301` if it can't be started, `X0303` if it takes longer than `limit` (it is killed).
pub fn run(command: &mut Command, limit: Duration) -> Result<Finished, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| Failure::environment("X0301", format!("can't run `{name}`: {}", reason(&e))))?;
    // Both pipes are drained while the child runs, else it would stop when one is full.
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child, began, limit);
    let time = began.elapsed();
    let Some(status) = status else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(Failure::environment(
            "X0303",
            format!("`{name}` was stopped after its time limit of {} s", limit.as_secs_f64()),
        )
        .help("a larger limit is set by --timeout SECONDS"));
    };
    let collect = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        reader.and_then(|r| r.join().ok()).unwrap_or_default()
    };
    let stdout = collect(stdout);
    let stderr = String::from_utf8_lossy(&collect(stderr)).into_owned();
    Ok(Finished { status, stdout, stderr, time })
}

fn wait(child: &mut Child, began: Instant, limit: Duration) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => {}
            Err(_) => return None,
        }
        if began.elapsed() >= limit {
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn drain<R: Read + Send + 'static>(stream: Option<R>) -> Option<std::thread::JoinHandle<Vec<u8>>> {
    let mut stream = stream?;
    Some(std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0u8; 1 << 16];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            let room = MAX_OUTPUT.saturating_sub(kept.len());
            kept.extend_from_slice(&buffer[..n.min(room)]);
        }
        kept
    }))
}

/// A C compiler and the flags that every program gets.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The command, from `CC` or `gcc`, `cc`, `clang`, whichever there is.
    pub command: PathBuf,
    /// Time limit of one compilation.
    pub limit: Duration,
}

/// How to compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Optimise {
    /// `-O3 -march=native -ffp-contract=fast`: for speed.
    Fast,
    /// `-O1 -ffp-contract=off`: results to the last bit those of the interpreter, and a short compilation; for checks and tests.
    Exact,
    /// `-O3 -march=native -ffp-contract=off`: the optimiser of `Fast` with the results of `Exact`.
    FastExact,
}

impl Optimise {
    /// The flags.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Optimise::Fast => &["-O3", "-march=native", "-ffp-contract=fast"],
            Optimise::Exact => &["-O1", "-ffp-contract=off"],
            Optimise::FastExact => &["-O3", "-march=native", "-ffp-contract=off"],
        }
    }
}

impl Compiler {
    /// The system's compiler: `CC` if that is set, else the first of `gcc`, `cc`, `clang` on the path.
    ///
    /// # Errors
    /// `X0301` if there is none.
    pub fn find() -> Result<Compiler, Failure> {
        let limit = Duration::from_secs(300);
        if let Some(cc) = std::env::var_os("CC").filter(|v| !v.is_empty()) {
            let command = on_path(Path::new(&cc)).ok_or_else(|| {
                Failure::environment(
                    "X0301",
                    format!("the C compiler that CC names, `{}`, is not there", cc.display()),
                )
                .help("set CC to a C compiler, or unset it to use gcc")
            })?;
            return Ok(Compiler { command, limit });
        }
        let command = ["gcc", "cc", "clang"].iter().find_map(|name| on_path(Path::new(name)));
        let command = command.ok_or_else(|| {
            Failure::environment("X0301", "there is no C compiler: none of gcc, cc, clang is on the path")
                .help("install one (Debian: apt-get install gcc), or set CC")
        })?;
        Ok(Compiler { command, limit })
    }

    /// Compiles C files to a program with OpenMP. Returns the time it took.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses the files, which is a defect of the code generator; `X0301`, `X0303` as [`run`].
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
        flags: &[&str],
        libraries: &[&str],
    ) -> Result<Duration, Failure> {
        let mut command = Command::new(&self.command);
        command.args(flags).args(sources).arg("-o").arg(program).args(libraries).arg("-lm");
        let finished = run(&mut command, self.limit)?;
        if !finished.status.success() {
            let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
            let failure =
                Failure::environment("X0302", format!("`{}` does not compile the C", self.command.display()));
            let failure = if said.is_empty() { failure } else { failure.note(said) };
            return Err(failure.help("if this compiler is an old or unusual one, set CC to another; else this is a defect of lozenge"));
        }
        Ok(finished.time)
    }

    /// The text of a C file after the preprocessor, with line markers.
    ///
    /// # Errors
    /// `X0305` if the preprocessor refuses the file; `X0301`, `X0303` as [`run`].
    pub fn preprocess(&self, file: &Path, flags: &[&str]) -> Result<String, Failure> {
        let mut command = Command::new(&self.command);
        let finished = run(command.args(["-E", "-dD", "-std=gnu11"]).args(flags).arg(file), self.limit)?;
        if !finished.status.success() {
            let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
            return Err(Failure::refused("X0305", format!("the preprocessor refuses {}", file.display()))
                .note(said)
                .help("folders of headers are given by -I, macros by -D"));
        }
        foreign::read(&finished.stdout).ok_or_else(|| {
            Failure::refused("X0002", format!("{} is not UTF-8 text after the preprocessor", file.display()))
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
