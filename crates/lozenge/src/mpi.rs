//! Building programs with `mpicc` and running them with `mpirun`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use targets::Output;

use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::process;

/// The tools of an MPI installation.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    compiler: PathBuf,
    launcher: PathBuf,
}

/// A built program.
#[derive(Debug)]
pub struct Program {
    scratch: Scratch,
    program: PathBuf,
    tools: Tools,
}

/// What a run printed and took.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Said {
    /// Seconds of each repetition: those of the slowest rank.
    pub times: Vec<Duration>,
    /// Messages of all ranks, if they were counted.
    pub messages: u64,
    /// Bytes of all messages.
    pub bytes: u64,
}

impl Tools {
    /// `MPICC` or `mpicc`, and `MPIRUN`, `mpirun` or `mpiexec`.
    ///
    /// # Errors
    /// `X0308` if there is none.
    pub fn find() -> Result<Tools, Failure> {
        let tool = |variable: &str, names: &[&str]| {
            let named = std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
            match named {
                Some(named) => process::on_path(&named),
                None => names.iter().find_map(|name| process::on_path(Path::new(name))),
            }
        };
        let missing = |what: &str, package: &str, variable: &str| {
            Failure::environment("X0308", format!("there is no `{what}` on the path")).help(format!(
                "install an MPI library (Debian: apt-get install {package}), or set {variable} to the command"
            ))
        };
        let compiler =
            tool("MPICC", &["mpicc"]).ok_or_else(|| missing("mpicc", "libopenmpi-dev", "MPICC"))?;
        let launcher = tool("MPIRUN", &["mpirun", "mpiexec"])
            .ok_or_else(|| missing("mpirun", "openmpi-bin", "MPIRUN"))?;
        Ok(Tools { compiler, launcher })
    }

    /// Builds the program of a target's files: the only file that ends in `_main.c`.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses it, which is a defect of the code generator.
    pub fn build(&self, output: &Output) -> Result<Program, Failure> {
        let scratch = Scratch::new()?;
        let io = |e: std::io::Error| Failure::environment("X0004", format!("can't write C: {}", reason(&e)));
        let mut main = None;
        for file in &output.files {
            let path = scratch.path().join(&file.name);
            std::fs::write(&path, &file.text).map_err(io)?;
            if file.name.ends_with("_main.c") {
                main = Some(path);
            }
        }
        let Some(main) = main else {
            return Err(Failure::environment("X0302", "there is no program to build"));
        };
        let program = scratch.path().join("program");
        let mut command = Command::new(&self.compiler);
        command.env("TMPDIR", scratch.path());
        command.args(targets::mpi::FLAGS).arg("-o").arg(&program).arg(&main).arg("-lm");
        self.compiled(&mut command)?;
        Ok(Program { scratch, program, tools: self.clone() })
    }
}

/// What the environment of ranks holds so that there may be more of them than cores, also for the
/// superuser of a container: Open MPI asks to be told.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
];

impl Tools {
    /// Builds files around the driver of `crate::execute`: a script that starts it on ranks, which
    /// takes the arguments of the driver.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses them.
    pub fn build_around(
        &self,
        files: &[(&str, &str)],
        ranks: u32,
        threads: u32,
    ) -> Result<(Scratch, PathBuf), Failure> {
        let scratch = Scratch::new()?;
        let io = |e: std::io::Error| Failure::environment("X0004", format!("can't write C: {}", reason(&e)));
        let write = |name: &str, text: &str| {
            let path = scratch.path().join(name);
            std::fs::write(&path, text).map(|()| path).map_err(io)
        };
        let program = scratch.path().join("ranks");
        let mut objects = vec![write("ranks_main.c", include_str!("ranks_main.c"))?];
        for (name, text) in files {
            let path = write(name, text)?;
            if path.extension().is_some_and(|e| e == "c") {
                objects.push(path);
            }
        }
        let mut command = Command::new(&self.compiler);
        command.env("TMPDIR", scratch.path()).args(targets::mpi::FLAGS);
        // The main function of the driver gets another name, that of the ranks calls it.
        for path in &mut objects {
            let of_driver = path.ends_with("driver.c");
            let object = path.with_extension("o");
            let mut compile = Command::new(&self.compiler);
            compile.env("TMPDIR", scratch.path()).args(targets::mpi::FLAGS).arg("-c");
            if of_driver {
                compile.arg("-Dmain=lozenge_driver");
            }
            compile.arg("-o").arg(&object).arg(&path);
            self.compiled(&mut compile)?;
            *path = object;
        }
        self.compiled(command.arg("-o").arg(&program).args(&objects).arg("-lm"))?;
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
        let variables: Vec<String> =
            ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let script = format!(
            "#!/bin/sh\nexport {} OMP_NUM_THREADS={threads}\nexec {} -n {ranks} {} \"$@\"\n",
            variables.join(" "),
            quoted(&self.launcher),
            quoted(&program)
        );
        let path = write("start", &script)?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).map_err(io)?;
        Ok((scratch, path))
    }

    fn compiled(&self, command: &mut Command) -> Result<(), Failure> {
        let finished = process::run(command, Duration::from_secs(300))?;
        if finished.status.success() {
            return Ok(());
        }
        let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
        let message = format!("`{}` does not compile the C", self.compiler.display());
        Err(Failure::environment("X0302", message)
            .note(said)
            .help("if this compiler is old or unusual, set MPICC to another one; otherwise this is a defect of lozenge"))
    }
}

impl Program {
    /// A folder for what the program reads and writes.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs the program.
    ///
    /// # Errors
    /// `X0303` after the time limit, `X0304` with what it said if it fails.
    pub fn run(
        &self,
        ranks: u32,
        threads: Option<u32>,
        arguments: &[String],
        limit: Duration,
    ) -> Result<Said, Failure> {
        let mut command = Command::new(&self.tools.launcher);
        command.arg("-n").arg(ranks.to_string()).arg(&self.program).args(arguments);
        command.envs(ENVIRONMENT);
        if let Some(threads) = threads {
            command.env("OMP_NUM_THREADS", threads.to_string());
        }
        let finished = process::run(&mut command, limit)?;
        let stdout = String::from_utf8_lossy(&finished.stdout).into_owned();
        if !finished.status.success() {
            let own = finished.stderr.lines().filter(|line| line.starts_with("rank "));
            let said: Vec<&str> = own.take(4).collect();
            let said = match said.is_empty() {
                true => finished.stderr.lines().take(10).collect::<Vec<_>>().join("\n"),
                false => said.join("\n"),
            };
            return Err(Failure::environment("X0304", "the program on ranks failed").note(said));
        }
        let numbers = |word: &str| -> Vec<f64> {
            let lines = stdout.lines().filter_map(|line| line.strip_prefix(word)?.trim().parse().ok());
            lines.collect()
        };
        Ok(Said {
            times: numbers("time ").into_iter().map(|s| Duration::from_secs_f64(s.max(0.0))).collect(),
            messages: numbers("messages ").first().copied().unwrap_or(0.0) as u64,
            bytes: numbers("bytes ").first().copied().unwrap_or(0.0) as u64,
        })
    }
}

/// Threads for each rank such that no core has two.
pub(crate) fn threads_for(ranks: u32) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (u32::try_from(cores).unwrap_or(1) / ranks.max(1)).max(1)
}
