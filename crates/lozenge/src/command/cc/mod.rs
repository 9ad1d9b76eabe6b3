//! `lozenge cc`: a C compiler for build systems (`make CC="lozenge cc"`). The regions of C files
//! are translated, and all the rest is left to the system's compiler.
//!
//! It never fails where that compiler does not. A region that cannot be taken stays as it is; a
//! result that the compiler refuses, for whatever reason, is dropped, and the original is compiled.
//! Not here: the words of the command line (`arguments`).

mod arguments;

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use cfront::Language;
use loops::Diagnostic;
use targets::Stage;

use crate::failure::{Failure, Source};
use crate::files::{self, Scratch, reason};
use crate::pipeline::Front;
use crate::request::{Access, Files, Kind, Request};
use crate::{config, encoding, process, report};
use arguments::{Line, Role};

/// Time limit of the preprocessor.
const LIMIT: Duration = Duration::from_secs(300);

/// A command line may have about so many bytes; a longer one goes through a file.
const LONG_LINE: usize = 100_000;

/// The language of the compiler that a command stands for: `cc` or `c++`.
pub fn language(command: &OsStr) -> Option<Language> {
    match command.to_str()? {
        "cc" => Some(Language::C),
        "c++" => Some(Language::Cpp),
        _ => None,
    }
}

/// Runs the command, with the words behind its name, and returns the exit code of the compiler.
pub fn run(words: &[OsString], language: Language) -> u8 {
    match compiled(words, language) {
        Ok(code) => code,
        Err(failure) => {
            super::line::tell(&failure, false);
            failure.kind.exit_code()
        }
    }
}

fn compiled(words: &[OsString], language: Language) -> Result<u8, Failure> {
    let mut line = arguments::read(words).map_err(|why| Failure::usage("X0015", why))?;
    line.auto |= asked("LOZENGE_AUTO");
    line.remarks |= asked("LOZENGE_REMARKS");
    let compiler = compiler(language)?;
    let mut job = Job { line, compiler, input: None, with_openmp: Vec::new() };
    let results = if job.line.compiles() { job.results()? } else { Vec::new() };
    if results.is_empty() {
        return job.untouched();
    }
    match job.with(&results)? {
        Some(status) => Ok(code(status)),
        None => job.untouched(),
    }
}

/// Whether a variable of the environment asks for something.
fn asked(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// The command of the system's compiler, with the words that belong to it.
///
/// # Errors
/// `X0301` if there is none, or it is this command.
fn compiler(language: Language) -> Result<Vec<OsString>, Failure> {
    let (variable, usual) = match language {
        Language::C => ("LOZENGE_CC", ["cc", "gcc", "clang"]),
        Language::Cpp => ("LOZENGE_CXX", ["c++", "g++", "clang++"]),
    };
    let named = std::env::var(variable).ok().filter(|value| !value.trim().is_empty());
    let words: Vec<OsString> = match &named {
        Some(named) => named.split_whitespace().map(OsString::from).collect(),
        None => {
            let found = usual.iter().find(|name| process::on_path(Path::new(name)).is_some());
            found.map(OsString::from).into_iter().collect()
        }
    };
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    let program = words.first().and_then(|word| process::on_path(Path::new(word)));
    match program.as_deref().and_then(|program| program.canonicalize().ok()) {
        Some(real) if Some(&real) != own.as_ref() => Ok(words),
        Some(_) => Err(Failure::environment(
            "X0301",
            format!("the compiler that `lozenge {}` would call is `lozenge` itself", usual[0]),
        )
        .help(format!("set {variable} to the compiler of the system"))),
        None => Err(Failure::environment(
            "X0301",
            format!("there is no compiler for `lozenge {}` to call", usual[0]),
        )
        .help(format!("set {variable} to one, such as `{}`", usual[1]))),
    }
}

/// The exit code of a process; that of shells if a signal ended it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    u8::try_from(code.unwrap_or(1)).unwrap_or(1)
}

/// One call of the compiler.
struct Job {
    line: Line,
    compiler: Vec<OsString>,
    /// What came from the standard input, if that is a source.
    input: Option<Vec<u8>>,
    /// C files with directives of OpenMP.
    with_openmp: Vec<OsString>,
}

/// A C file whose regions were translated.
struct Translated {
    /// Which word of the command line names it.
    word: usize,
    path: PathBuf,
    text: String,
}

impl Job {
    /// The C files of the command line in which something was translated.
    fn results(&mut self) -> Result<Vec<Translated>, Failure> {
        let mut results: Vec<Translated> = Vec::new();
        for word in 0..self.line.words.len() {
            if self.line.words[word].role != Role::C {
                continue;
            }
            let path = PathBuf::from(&self.line.words[word].texts[0]);
            let is_input = path.as_os_str() == "-";
            let bytes = match is_input {
                true => {
                    let mut bytes = Vec::new();
                    let read = std::io::stdin().lock().read_to_end(&mut bytes);
                    read.map_err(|e| Failure::refused("X0001", format!("the input: {}", reason(&e))))?;
                    self.input = Some(bytes.clone());
                    bytes
                }
                // The compiler says what is wrong with a file that cannot be read.
                false => std::fs::read(&path).unwrap_or_default(),
            };
            let Some(text) = encoding::read(&bytes) else { continue };
            if has_openmp(&text) {
                self.with_openmp.push(path.clone().into_os_string());
            }
            if self.line.has(&Role::OldStandard) || !self.is_wanted(&text) {
                continue;
            }
            let name = if is_input { "<stdin>".to_owned() } else { encoding::name(&path) };
            let source = Source { path: name, text };
            let Some(text) = self.translated(&source, &path) else { continue };
            results.push(Translated { word, path, text });
        }
        // Headers beside a file are looked for in one more folder, which has to be that of the
        // file.
        let folders = |one: &Translated| one.path.parent().map(Path::to_path_buf);
        let first = results.first().and_then(folders);
        results.retain(|one| folders(one) == first || !one.text.contains("#include \""));
        Ok(results)
    }

    /// Whether a file may have something to translate.
    fn is_wanted(&self, text: &str) -> bool {
        text.contains("scop") && text.contains("ragma") || self.line.auto && text.contains("for")
    }

    /// The text of a file with its regions translated; none if nothing was.
    fn translated(&self, source: &Source, path: &Path) -> Option<String> {
        let preprocessor = Preprocessor { command: self.compiler.clone(), flags: self.line.preprocessor() };
        let request = Request {
            partial: true,
            auto: self.line.auto,
            remarks: self.line.remarks,
            assume_no_alias: self.line.assume_no_alias,
            lines: true,
            files: Files::new(preprocessor),
            ..Request::default()
        };
        let work = || -> Result<_, Failure> {
            config::set(config::load(path)?);
            Front::open(source, Kind::C, &request)?.emit(Stage::C, &request)
        };
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let what = super::told_panic(&*panic);
            Err(Failure::refused("X0601", format!("the compiler failed: {what}")))
        });
        match outcome {
            Ok(emission) => {
                self.remark(Some(source), &emission.warnings);
                let marked = "/* scop: lines ";
                let done = emission.text.matches(marked).count() > source.text.matches(marked).count();
                done.then_some(emission.text)
            }
            Err(failure) => {
                self.remark(failure.source.as_ref(), &failure.diagnostics);
                None
            }
        }
    }

    /// Says what stays as it is, if that is asked for. It is never an error.
    fn remark(&self, source: Option<&Source>, diagnostics: &[Diagnostic]) {
        if !self.line.remarks {
            return;
        }
        let soft = |d: &Diagnostic| {
            let mut d = d.clone();
            if d.severity == loops::Severity::Error {
                d.severity = loops::Severity::Warning;
            }
            d
        };
        let soft: Vec<Diagnostic> = diagnostics.iter().map(soft).collect();
        let colour = report::colours(std::io::stderr().is_terminal());
        report::print_error(&report::render_all(source, &soft, colour));
    }

    /// The options with which parallel loops of a result are compiled, and objects that may have
    /// such loops are linked. They must not change what a source of the user means: there are none
    /// if one has directives of OpenMP that were to be ignored, or may have.
    fn parallel(&self) -> &'static [&'static str] {
        let off = std::env::var_os("LOZENGE_OPENMP").is_some_and(|value| value == "0");
        let changes = |word: &arguments::Word| match word.role {
            Role::C => self.with_openmp.contains(&word.texts[0]),
            Role::Input => {
                let extension = Path::new(&word.texts[0]).extension().and_then(OsStr::to_str);
                matches!(extension, Some("cpp" | "cc" | "cxx" | "C" | "c++" | "m" | "f90" | "f"))
            }
            _ => false,
        };
        let given = self.line.has(&Role::OpenMp) || self.line.has(&Role::Bare);
        if off || given || self.line.words.iter().any(changes) {
            return &[];
        }
        // Who did not ask for OpenMP is not told of it.
        &["-fopenmp", "-U_OPENMP", "-DLOZENGE_OPENMP"]
    }

    /// The compiler gets what it was given. Where nothing was read for it, it takes the place of
    /// this process.
    fn untouched(&self) -> Result<u8, Failure> {
        let mut words: Vec<OsString> = self.compiler[1..].to_vec();
        if self.line.links() {
            words.extend(self.parallel().iter().map(OsString::from));
        }
        words.extend(self.line.texts());
        let scratch = shortened(&mut words)?;
        let mut command = Command::new(&self.compiler[0]);
        command.args(&words);
        if self.input.is_none() && scratch.is_none() {
            let error = command.exec();
            return Err(cannot_run(&self.compiler[0], &error));
        }
        Ok(code(self.fed(command, self.input.as_deref(), Stdio::inherit())?.0))
    }

    /// Runs a command with this input, and returns what it printed to a standard error that is
    /// piped.
    fn fed(
        &self,
        mut command: Command,
        input: Option<&[u8]>,
        stderr: Stdio,
    ) -> Result<(ExitStatus, Vec<u8>), Failure> {
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::inherit() }).stderr(stderr);
        let cannot = |error: std::io::Error| cannot_run(&self.compiler[0], &error);
        let mut child = command.spawn().map_err(cannot)?;
        let pipe = child.stdin.take();
        let said = std::thread::scope(|scope| {
            scope.spawn(move || pipe.zip(input).map(|(mut pipe, input)| pipe.write_all(input)));
            let mut said = Vec::new();
            let _ = child.stderr.take().map(|mut stream| stream.read_to_end(&mut said));
            said
        });
        Ok((child.wait().map_err(cannot)?, said))
    }

    /// Compiles the results instead of their originals; none if the compiler refuses them.
    fn with(&self, results: &[Translated]) -> Result<Option<ExitStatus>, Failure> {
        let scratch = Scratch::new()?;
        let mut words: Vec<OsString> = self.compiler[1..].to_vec();
        words.extend(self.parallel().iter().map(OsString::from));
        if std::io::stderr().is_terminal() {
            words.push("-fdiagnostics-color=always".into());
        }
        let mut replaced: Vec<Vec<OsString>> = self.line.words.iter().map(|w| w.texts.clone()).collect();
        let mut input = self.input.as_deref();
        let mut places = Vec::new();
        for (k, one) in results.iter().enumerate() {
            if one.path.as_os_str() == "-" {
                input = Some(one.text.as_bytes());
                continue;
            }
            let folder = scratch.path().join(k.to_string());
            let name = folder.join(one.path.file_name().unwrap_or(OsStr::new("file.c")));
            let written = encoding::written(&one.text);
            std::fs::create_dir(&folder).and_then(|()| std::fs::write(&name, &*written)).map_err(|e| {
                Failure::environment("X0004", format!("can't write {}: {}", name.display(), reason(&e)))
            })?;
            let own = match one.path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            let mut map = OsString::from("-fdebug-prefix-map=");
            map.push(&folder);
            map.push("=");
            map.push(own);
            words.extend(["-iquote".into(), own.into(), map]);
            replaced[one.word] = vec![name.clone().into_os_string()];
            places.push((name, one));
        }
        words.extend(replaced.into_iter().flatten());
        let _file = shortened(&mut words)?;
        let mut command = Command::new(&self.compiler[0]);
        command.args(&words);
        let (status, said) = self.fed(command, input, Stdio::piped())?;
        if !status.success() {
            let name = self.compiler[0].to_string_lossy();
            let what = format!("`{name}` refuses the result, so the original is compiled");
            let lines: Vec<_> = String::from_utf8_lossy(&said).lines().take(10).map(str::to_owned).collect();
            self.remark(None, &Failure::environment("X0302", what).note(lines.join("\n")).diagnostics);
            return Ok(None);
        }
        let _ = std::io::stderr().lock().write_all(&said);
        for (name, one) in places {
            self.line.depends(&one.path).iter().try_for_each(|file| renamed(file, &name, &one.path))?;
        }
        Ok(Some(status))
    }
}

/// Whether a text has directives of OpenMP, or asks for it.
fn has_openmp(text: &str) -> bool {
    let directive = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix("pragma")).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with("omp"))
    };
    text.lines().any(directive) || text.contains("_Pragma") || text.contains("_OPENMP")
}

fn cannot_run(program: &OsStr, error: &std::io::Error) -> Failure {
    Failure::environment("X0301", format!("can't run `{}`: {}", program.to_string_lossy(), reason(error)))
}

/// A long list of words as a file of options, in the folder that comes back.
fn shortened(words: &mut Vec<OsString>) -> Result<Option<Scratch>, Failure> {
    if words.iter().map(|word| word.len() + 1).sum::<usize>() < LONG_LINE {
        return Ok(None);
    }
    let scratch = Scratch::new()?;
    let file = scratch.path().join("options");
    files::write_whole(&file, &arguments::as_file(words))?;
    let mut word = OsString::from("@");
    word.push(&file);
    *words = vec![word];
    Ok(Some(scratch))
}

/// Gives a file of dependences the name of the original.
fn renamed(file: &Path, from: &Path, to: &Path) -> Result<(), Failure> {
    let Ok(bytes) = std::fs::read(file) else { return Ok(()) };
    let (from, to) = (in_rule(from), in_rule(to));
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    let mut found = false;
    while !rest.is_empty() {
        match rest.strip_prefix(from.as_slice()) {
            Some(behind) => {
                out.extend(&to);
                (rest, found) = (behind, true);
            }
            None => {
                out.push(rest[0]);
                rest = &rest[1..];
            }
        }
    }
    if found { files::write_in_place(file, &out) } else { Ok(()) }
}

/// A name as rules of `make` have it.
fn in_rule(path: &Path) -> Vec<u8> {
    let escaped = path.as_os_str().as_bytes().iter().flat_map(|byte| match byte {
        b' ' | b'\t' | b'#' => vec![b'\\', *byte],
        b'$' => vec![b'$', b'$'],
        byte => vec![*byte],
    });
    escaped.collect()
}

/// The preprocessor of the command's compiler, with its options.
struct Preprocessor {
    command: Vec<OsString>,
    flags: Vec<OsString>,
}

impl Access for Preprocessor {
    fn import(&self, _: &str, path: &str) -> Result<Source, String> {
        Err(format!("{path} is no C"))
    }

    fn preprocess(&self, source: &Source, _: &[String]) -> Result<String, Failure> {
        let language = match files::language(&encoding::path(&source.path)) {
            Some(Language::Cpp) => "c++",
            _ => "c",
        };
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(["-E", "-dD"]).args(&self.flags).args(["-x", language]);
        let mut scratch = None;
        match source.path.as_str() {
            "<stdin>" => {
                let folder = Scratch::new()?;
                let name = folder.path().join("stdin.c");
                files::write_whole(&name, &encoding::written(&source.text))?;
                command.args(["-iquote", "."]).arg(name);
                scratch = Some(folder);
            }
            name => _ = command.arg(process::argument(&encoding::path(name))),
        }
        let finished = process::run(&mut command, LIMIT);
        drop(scratch);
        let finished = finished?;
        let refused = || Failure::refused("X0305", format!("the preprocessor refuses {}", source.path));
        match finished.status.success() {
            true => encoding::read(&finished.stdout).ok_or_else(refused),
            false => Err(refused()),
        }
    }
}
