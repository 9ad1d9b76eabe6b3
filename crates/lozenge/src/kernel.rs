//! C programs with marked regions, as wholes: compiled as they are and as rewritten, run, and their
//! outputs compared.
//!
//! A program that opens files takes the name of one as its argument, and writes to it what it
//! computed; another gets no argument. It may print a word `seconds` with the time of its region
//! behind it. Its sizes are macros that it defines as `#define N N_DEFAULT`, so that `-DN=7` sets
//! them. Not here: how a region is rewritten (`pipeline`), and what is measured against what
//! (`command::bench`).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cfront::Language;
use loops::{Data, Tensor};

use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::process::{self, Compiler};

/// What tests give to C compilers, so that the result of a region runs at all sizes, also where the
/// text would on one thread or with little work.
pub const ALWAYS: [&str; 2] = ["-DLOZENGE_PAYS(work)=1", "-DLOZENGE_ENOUGH(work)=1"];

/// A compiled program in a folder of its own.
#[derive(Debug)]
pub struct Program {
    scratch: Scratch,
    program: PathBuf,
    takes_a_file: bool,
    /// Time that the C compiler took.
    pub compile_time: Duration,
}

/// What a run gave.
#[derive(Debug)]
pub struct Run {
    /// The bytes of the output file.
    pub output: Vec<u8>,
    /// The time that the program printed.
    pub seconds: Option<f64>,
    /// All that it printed.
    pub stdout: Vec<u8>,
}

/// An array of an output file.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its elements.
    pub tensor: Tensor,
}

/// The arrays of an output file, if it is one: lines `name type count`, the bytes behind each.
pub fn arrays(output: &[u8]) -> Option<Vec<Array>> {
    let mut arrays = Vec::new();
    let mut rest = output;
    while !rest.is_empty() {
        let end = rest.iter().position(|b| *b == b'\n')?;
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        let [name, elem, count] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let count: usize = count.parse().ok()?;
        rest = &rest[end + 1..];
        fn column<const N: usize, T>(
            rest: &mut &[u8],
            count: usize,
            value: impl Fn([u8; N]) -> T,
        ) -> Option<Vec<T>> {
            let (now, later) = rest.split_at_checked(count.checked_mul(N)?)?;
            *rest = later;
            Some(now.as_chunks::<N>().0.iter().map(|c| value(*c)).collect())
        }
        let data = match elem {
            "double" => Data::F64(column(&mut rest, count, f64::from_ne_bytes)?),
            "float" => Data::F32(column(&mut rest, count, f32::from_ne_bytes)?),
            "int" => Data::I32(column(&mut rest, count, i32::from_ne_bytes)?),
            "long" => Data::I64(column(&mut rest, count, i64::from_ne_bytes)?),
            "bool" => Data::Bool(column(&mut rest, count, |[b]: [u8; 1]| b != 0)?),
            "i8" => Data::I8(column(&mut rest, count, i8::from_ne_bytes)?),
            "u8" => Data::U8(column(&mut rest, count, u8::from_ne_bytes)?),
            "i16" => Data::I16(column(&mut rest, count, i16::from_ne_bytes)?),
            "u16" => Data::U16(column(&mut rest, count, u16::from_ne_bytes)?),
            "u32" => Data::U32(column(&mut rest, count, u32::from_ne_bytes)?),
            "u64" => Data::U64(column(&mut rest, count, u64::from_ne_bytes)?),
            _ => return None,
        };
        arrays.push(Array { name: name.to_owned(), tensor: Tensor { shape: vec![count], data } });
    }
    Some(arrays)
}

/// The macros that set sizes.
pub fn sizes(text: &str) -> Vec<String> {
    let size = |line: &str| {
        let mut words = line.split_whitespace();
        let (define, name, value) = (words.next()?, words.next()?, words.next()?);
        (define == "#define" && is_name(name) && value == format!("{name}_DEFAULT")).then(|| name.to_owned())
    };
    text.lines().filter_map(size).collect()
}

/// Whether a word can be a macro's name: nothing else may become part of an option.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a C program has a main function.
pub(crate) fn runs_by_itself(text: &str) -> bool {
    text.contains(" main(")
}

/// Whether a C program may open a file that its argument names: it opens files, or headers of its
/// own may. What opens none may take the argument for a number, and compute nothing.
pub(crate) fn takes_a_file(text: &str) -> bool {
    ["open(", "open (", "creat("].iter().any(|call| text.contains(call)) || has_own_headers(text)
}

/// Whether a C program includes headers of its own: others than those of the system, and than those
/// that are made with it.
pub(crate) fn has_own_headers(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().strip_prefix('#').unwrap_or_default().trim_start();
        line.starts_with("include") && line.contains('"') && !line.trim_end().ends_with("_args.h\"")
    })
}

/// Whether a text has a region to work on.
pub fn has_region(text: &str) -> bool {
    text.lines().any(|l| {
        let mut words = l.trim_start().strip_prefix('#').unwrap_or_default().split_whitespace();
        words.next() == Some("pragma") && words.next() == Some("scop")
    })
}

impl Program {
    /// Compiles a program text; `folder` is where its own headers are.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses it.
    pub fn build(
        compiler: &Compiler,
        text: &str,
        folder: &Path,
        flags: &[&str],
        libraries: &[&str],
    ) -> Result<Program, Failure> {
        let scratch = Scratch::new()?;
        let (name, standard) = match compiler.language {
            Language::C => ("program.c", "-std=gnu11"),
            Language::Cpp => ("program.cpp", process::CPP_STANDARD),
        };
        let source = scratch.path().join(name);
        fs::write(&source, crate::encoding::written(text)).map_err(|e| {
            Failure::environment("X0004", format!("can't write {}: {}", source.display(), reason(&e)))
        })?;
        let program = scratch.path().join("program");
        let include = process::include(folder);
        let mut all = vec![OsStr::new(standard), &include];
        all.extend(flags.iter().map(OsStr::new));
        let compile_time = compiler.compile_plain(&[&source], &program, &all, libraries)?;
        Ok(Program { scratch, program, takes_a_file: takes_a_file(text), compile_time })
    }

    /// Runs the program.
    ///
    /// # Errors
    /// `X0304` if it fails, `X0303` after the time limit.
    pub fn run(&self, threads: u32, limit: Duration) -> Result<Run, Failure> {
        self.run_with(threads, limit, &[])
    }

    /// As [`Program::run`], with more variables in its environment.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_with(
        &self,
        threads: u32,
        limit: Duration,
        variables: &[(String, String)],
    ) -> Result<Run, Failure> {
        let output = self.scratch.path().join("output");
        let mut command = Command::new(&self.program);
        command.args(self.takes_a_file.then_some(&output)).envs(variables.iter().cloned());
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(name, threads.to_string());
        }
        // MKL's own threads need another compiler's run-time library.
        command.env("MKL_THREADING_LAYER", if threads == 1 { "SEQUENTIAL" } else { "GNU" });
        let finished = process::run(&mut command, limit)?;
        if !finished.status.success() {
            let failure =
                Failure::environment("X0304", format!("the program ended with {}", finished.status));
            return Err(if finished.stderr.is_empty() { failure } else { failure.note(finished.stderr) });
        }
        let said = String::from_utf8_lossy(&finished.stdout).into_owned();
        let mut words = said.split_whitespace().skip_while(|w| *w != "seconds").skip(1);
        let seconds = words.next().and_then(|w| w.parse().ok());
        let output = fs::read(&output).unwrap_or_default();
        Ok(Run { output, seconds, stdout: finished.stdout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_regions_are_found() {
        let text =
            "#define N_DEFAULT 3\n#ifndef N\n#define N N_DEFAULT\n#endif\n#define M 4\n  # pragma  scop\n";
        assert_eq!(sizes(text), ["N"]);
        assert!(sizes("/*\n#define @w @w_DEFAULT\n#define -o -o_DEFAULT\n*/").is_empty());
        assert!(takes_a_file("FILE *f = fopen(v[1], \"w\");") && takes_a_file("# include \"harness.h\"\n"));
        assert!(!takes_a_file(
            "#include <stdio.h>\n#include \"gemm_args.h\"\nint main(void) { puts(\"0\"); }\n"
        ));
        assert!(has_region(text) && !has_region("// #pragma scop\n#pragma scope\n"));
    }
}
