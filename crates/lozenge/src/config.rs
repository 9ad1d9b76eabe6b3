//! The configuration file `lozenge.toml`: the target, the machine and flags of the C compiler, for
//! all sources below its folder.
//!
//! It may come with sources that nobody vouches for. So it names no command, and flags only of
//! kinds that make the C compiler run nothing and read nothing. Options of the command line and
//! variables of the environment go before it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use loops::{Code, Diagnostic, Registers, Span};
use polyhedral::locality::Caches;
use serde::Deserialize;
use toml::Spanned;

use crate::encoding;
use crate::failure::{Failure, Source};
use crate::files::read_bytes;
use crate::machine;
use crate::target::{self, Target};

/// The name of the file.
pub const NAME: &str = "lozenge.toml";

/// Longer files are refused.
const MAX_BYTES: u64 = 64 << 10;

/// What is configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// The target, where the command line names none.
    pub target: Option<Target>,
    /// Caches of a core, where neither the command line nor the environment tells.
    pub caches: Option<Caches>,
    /// Vector registers, where the environment does not tell.
    pub registers: Option<Registers>,
    /// Flags of the C compiler, behind those that it gets anyway.
    pub flags: Vec<String>,
    /// Whether schedules that were tuned are looked for beside programs.
    pub tuned: bool,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    target: Option<Spanned<String>>,
    flags: Option<Vec<Spanned<String>>>,
    machine: Option<Machine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    caches: Option<Spanned<String>>,
    registers: Option<Spanned<String>>,
}

static CURRENT: OnceLock<Config> = OnceLock::new();

/// What holds for this command: nothing is configured before [`set`].
pub fn current() -> &'static Config {
    static NOTHING: Config =
        Config { target: None, caches: None, registers: None, flags: Vec::new(), tuned: false };
    CURRENT.get().unwrap_or(&NOTHING)
}

/// From now on this configuration holds for the command.
pub fn set(config: Config) {
    let _ = CURRENT.set(config);
}

/// The configuration for an input: of the nearest file in its folder or one above, or nothing.
///
/// # Errors
/// `X0016` if the file says something that it can't; `X0001` and others if it can't be read.
pub fn load(input: &Path) -> Result<Config, Failure> {
    let config = match find(input) {
        Some(path) => {
            let bytes = read_bytes(&path, MAX_BYTES)?;
            let text = String::from_utf8(bytes).map_err(|_| {
                Failure::refused("X0002", format!("{} is not UTF-8 text", encoding::name(&path)))
            })?;
            parse(&Source { path: encoding::name(&path), text })?
        }
        None => Config::default(),
    };
    Ok(Config { tuned: true, ..config })
}

/// The nearest file upward, by a short name where it lies below this folder; what is no regular
/// file is none.
fn find(input: &Path) -> Option<PathBuf> {
    let input = input.canonicalize().ok()?;
    let folder = if input.is_dir() { Some(input.as_path()) } else { input.parent() };
    let path = folder?.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())?;
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let short = here.and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok());
    Some(short.unwrap_or(path))
}

/// Reads a configuration.
///
/// # Errors
/// `X0016` with the place of what is wrong.
pub fn parse(source: &Source) -> Result<Config, Failure> {
    let written: Written = toml::from_str(&source.text).map_err(|error| unreadable(source, &error))?;
    let machine = written.machine.unwrap_or(Machine { caches: None, registers: None });
    let flags = written.flags.unwrap_or_default();
    for flag in &flags {
        if !is_harmless(flag.get_ref()) {
            return Err(refused(source, flag, format!("`{}` is no flag that this file may give", flag.get_ref()))
                .help("it may give -O, -g, -m and -std flags, and -f flags about floating-point numbers, loops and vectors; others go on the command line, after `--cflag`"));
        }
    }
    Ok(Config {
        target: written.target.map(|name| target_of(source, &name)).transpose()?,
        caches: value(source, machine.caches, machine::parse)?,
        registers: value(source, machine.registers, |text| {
            machine::parse_registers(text).ok_or_else(|| {
                "a number of vector registers and the bytes of one are wanted, such as `32x64`".to_owned()
            })
        })?,
        flags: flags.into_iter().map(Spanned::into_inner).collect(),
        tuned: false,
    })
}

fn target_of(source: &Source, name: &Spanned<String>) -> Result<Target, Failure> {
    Target::named(name.get_ref()).ok_or_else(|| {
        let all = target::names(Target::all().iter().copied());
        refused(source, name, format!("`{}` is no target", name.get_ref())).help(format!("targets are {all}"))
    })
}

fn value<T>(
    source: &Source,
    text: Option<Spanned<String>>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Failure> {
    let one = |text: Spanned<String>| {
        read(text.get_ref()).map_err(|why| refused(source, &text, format!("`{}`: {why}", text.get_ref())))
    };
    text.map(one).transpose()
}

fn refused(source: &Source, place: &Spanned<String>, message: String) -> Failure {
    Failure::in_source(source, vec![Diagnostic::error(Code("X0016"), message, span(place.span()), "here")])
}

fn span(range: Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

/// What the reader of the format says, with its place.
fn unreadable(source: &Source, error: &toml::de::Error) -> Failure {
    let place = error.span().map_or(Span::new(0, 0), span);
    let said = error.message().lines().next().unwrap_or_default();
    let diagnostic = Diagnostic::error(Code("X0016"), said, place, "here");
    let of_compiler =
        source.text.get(place.start as usize..place.end as usize).is_some_and(|key| key == "cc");
    Failure::in_source(
        source,
        vec![match of_compiler {
            true => diagnostic.help("a configuration file names no command: set CC, or say `--cc COMMAND`"),
            false => {
                diagnostic.help("its keys are `target`, `flags`, and `caches` and `registers` in `[machine]`")
            }
        }],
    )
}

/// Whether a flag makes the C compiler run no other program, read no other file, and leave no check
/// of ours out.
fn is_harmless(flag: &str) -> bool {
    let word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.=+,".contains(c));
    const FLOATS_AND_LOOPS: [&str; 14] = [
        "fp-contract",
        "fast-math",
        "finite-math-only",
        "math-errno",
        "trapping-math",
        "signed-zeros",
        "associative-math",
        "reciprocal-math",
        "unroll-loops",
        "tree-vectorize",
        "vectorize",
        "tree-loop-if-convert",
        "omit-frame-pointer",
        "strict-aliasing",
    ];
    if !flag.is_ascii() || !word(flag) {
        return false;
    }
    if let Some(option) = flag.strip_prefix("-f") {
        let option = option.strip_prefix("no-").unwrap_or(option);
        return FLOATS_AND_LOOPS.contains(&option.split('=').next().unwrap_or(option));
    }
    if let Some(machine) = flag.strip_prefix("-m") {
        return !machine.is_empty() && !machine.starts_with("llvm");
    }
    if let Some(edition) = flag.strip_prefix("-std=") {
        return edition.starts_with('c') || edition.starts_with("gnu");
    }
    let levels = ["0", "1", "2", "3", "g", "s", "z", "fast"];
    flag.strip_prefix("-O").is_some_and(|level| level.is_empty() || levels.contains(&level))
        || flag.strip_prefix("-g").is_some_and(|level| ["", "0", "1", "2", "3", "gdb"].contains(&level))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, Failure> {
        parse(&Source { path: NAME.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn what_is_written_is_read() {
        let text = "target = \"athread\"\nflags = [\"-O2\", \"-march=skylake\", \"-fno-unroll-loops\"]\n\n[machine]\ncaches = \"48K,2M\"\nregisters = \"32x64\"\n";
        let config = read(text).unwrap();
        assert_eq!(config.target, Target::named("athread"));
        assert_eq!(config.flags, ["-O2", "-march=skylake", "-fno-unroll-loops"]);
        assert_eq!(config.caches, Some(Caches { l1: 48 << 10, l2: 2 << 20 }));
        assert_eq!(config.registers, Some(Registers { count: 32, bytes: 64 }));
        assert_eq!(read("").unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, place, said) in [
            ("flags = []\ncc = \"gcc\"\n", "cc", "unknown field `cc`"),
            ("[machine]\ncores = 3\n", "cores", "unknown field `cores`"),
            ("target = \"gpu\"\n", "\"gpu\"", "`gpu` is no target"),
            (
                "flags = [\"-O2\", \"-fplugin=x.so\"]\n",
                "\"-fplugin=x.so\"",
                "no flag that this file may give",
            ),
            ("[machine]\ncaches = \"2M\"\n", "\"2M\"", "two sizes are wanted"),
            ("[machine]\nregisters = \"many\"\n", "\"many\"", "a number of vector registers"),
        ] {
            let failure = read(text).unwrap_err();
            let diagnostic = &failure.diagnostics[0];
            assert!(diagnostic.message.contains(said), "{}", diagnostic.message);
            let span = diagnostic.labels[0].span;
            assert_eq!(&text[span.start as usize..span.end as usize], place);
        }
    }

    #[test]
    fn flags_run_nothing_and_read_nothing() {
        for flag in ["-O3", "-g1", "-march=native", "-mavx2", "-ffp-contract=off", "-std=gnu11"] {
            assert!(is_harmless(flag), "{flag}");
        }
        for flag in [
            "-fplugin=a.so",
            "-wrapper",
            "-B/tmp",
            "@flags",
            "-specs=x",
            "-include",
            "-I/tmp",
            "-o",
            "x.c",
            "-Wl,-x",
            "-Xlinker",
            "-fuse-ld=x",
            "-dumpdir",
            "-m",
            "-fsanitize=address",
            "-march=native -B.",
            "-mfoo=/tmp/x",
            "-fprofile-use=x",
            "--help",
            "",
            "-O2\n-B.",
            "-fdump-tree-all",
            "-fno-plugin",
        ] {
            assert!(!is_harmless(flag), "{flag}");
        }
    }

    proptest::proptest! {
        #[test]
        fn bad_texts_never_panic(text in ".{0,120}") {
            let _ = read(&text);
        }
    }
}
