//! Running generated C: a driver around it, one process a run, arrays by files.
//!
//! The driver knows a table of *routines*: generated functions, and hand-written references with
//! the same parameters. Not here: which sizes and arrays (`bind`), and what is compared (`check`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use loops::{Component, Data, Elem, ParamMode, Scalar, Tensor};
use targets::Signature;

use crate::athread;
use crate::bind::Sizes;
use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::process::{self, Compiler};
use crate::progress;

/// A C file of a program: its name and its text.
pub type CFile<'a> = (&'a str, &'a str);

/// A compiled program with its routines.
#[derive(Debug)]
pub struct Executable {
    scratch: Scratch,
    program: PathBuf,
    routines: Vec<Signature>,
    environment: Vec<(&'static str, String)>,
    /// Time that the C compiler took.
    pub compile_time: Duration,
}

/// What is compiled.
#[derive(Debug)]
pub struct Build<'a> {
    /// C sources and headers (`.h` files are only included).
    pub files: &'a [CFile<'a>],
    /// Functions in them that can be run; those without a declaration in `header` are declared
    /// here.
    pub routines: &'a [Signature],
    /// Header with the structs and declarations of the generated functions.
    pub header: &'a str,
    /// Flags of the C compiler.
    pub flags: &'a [&'a str],
    /// Libraries to link with.
    pub libraries: &'a [&'a str],
}

/// How a routine is run.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// OpenMP threads; what OpenMP chooses if none.
    pub threads: Option<u32>,
    /// Measured repetitions.
    pub repetitions: u32,
    /// Repetitions before them.
    pub warm_up: u32,
    /// Time limit of the whole process.
    pub limit: Duration,
}

impl Schedule {
    /// One repetition within ten minutes.
    pub const ONCE: Schedule =
        Schedule { threads: None, repetitions: 1, warm_up: 0, limit: Duration::from_secs(600) };
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    /// `Out` and `InOut` parameters after the last repetition, in their order.
    pub outputs: Vec<Tensor>,
    /// Time of each repetition, of the function alone.
    pub times: Vec<Duration>,
    /// Of a model that was asked to count: how often each of its calls ran, and seconds of all.
    pub profile: Vec<(u64, f64)>,
}

/// Two weighted sums of the results and the sum of their magnitudes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Digest(pub [f64; 3]);

impl Digest {
    /// Whether both may be of the same results, up to the order of single-precision sums: a check
    /// against gross errors, not against rounding.
    pub fn agrees(&self, other: &Digest) -> bool {
        let bound = 1e-2 * self.0[2].max(other.0[2]).max(1e-30);
        self.0.iter().zip(&other.0).all(|(a, b)| a == b || (a - b).abs() <= bound)
    }
}

impl Executable {
    /// Compiles generated C with a driver in a private folder.
    ///
    /// # Errors
    /// As [`Compiler::compile`], and if the folder can't be written.
    pub fn build(compiler: &Compiler, build: &Build<'_>) -> Result<Executable, Failure> {
        let scratch = Scratch::new()?;
        let put = |name: &str, text: &str| {
            let path = scratch.path().join(name);
            fs::write(&path, crate::encoding::written(text)).map(|()| path.clone()).map_err(|e| {
                Failure::environment("X0004", format!("can't write {}: {}", path.display(), reason(&e)))
            })
        };
        put("program.h", build.header)?;
        let mut sources = vec![put("driver.c", &driver(build.routines))?];
        for (name, text) in build.files {
            let path = put(name, text)?;
            if path.extension().is_some_and(|e| e == "c") {
                sources.push(path);
            }
        }
        let program = scratch.path().join("program");
        let paths: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        let compile_time = compiler.compile(&paths, &program, build.flags, build.libraries)?;
        let (routines, environment) = (build.routines.to_vec(), Vec::new());
        Ok(Executable { scratch, program, routines, environment, compile_time })
    }

    /// A program that was built around [`driver`] elsewhere, and what its environment is to hold.
    pub fn of(
        scratch: Scratch,
        program: PathBuf,
        routines: &[Signature],
        environment: Vec<(&'static str, String)>,
    ) -> Executable {
        Executable {
            scratch,
            program,
            routines: routines.to_vec(),
            environment,
            compile_time: Duration::ZERO,
        }
    }

    /// The names that the routines have in the loop program, in order.
    pub(crate) fn routine_names(&self) -> impl Iterator<Item = &str> {
        self.routines.iter().map(|r| r.name.as_str())
    }

    /// Runs a routine on these tensors, one for each parameter (those of `Out` parameters give the
    /// shape).
    ///
    /// # Errors
    /// `X0303` after the time limit, `X0304` if the program fails.
    pub fn run(
        &self,
        routine: usize,
        sizes: &Sizes,
        arrays: &[Tensor],
        schedule: Schedule,
    ) -> Result<Outcome, Failure> {
        let signature = &self.routines[routine];
        let (input, output) = (self.scratch.path().join("input"), self.scratch.path().join("output"));
        let mut bytes = Vec::new();
        for (param, tensor) in signature.params.iter().zip(arrays) {
            if param.mode != ParamMode::Out {
                write_columns(&tensor.data, &mut bytes);
            }
        }
        let io = |e: std::io::Error| {
            Failure::environment("X0004", format!("can't exchange data with the program: {}", reason(&e)))
        };
        fs::write(&input, &bytes).map_err(io)?;
        drop(bytes);
        let counts: Vec<usize> = arrays.iter().map(|t| t.data.len()).collect();
        let bounds = vec![0; counts.len()];
        let said =
            self.start(routine, sizes, &counts, &bounds, [input.as_path(), output.as_path()], schedule)?;
        let raw = fs::read(&output).map_err(io)?;
        let mut rest = raw.as_slice();
        let mut outputs = Vec::new();
        for (param, tensor) in signature.params.iter().zip(arrays) {
            if param.mode != ParamMode::In {
                let data = read_columns(&param.elem, tensor.data.len(), &mut rest)
                    .ok_or_else(|| Failure::environment("X0304", "the compiled program wrote too little"))?;
                outputs.push(Tensor { shape: tensor.shape.clone(), data });
            }
        }
        Ok(Outcome { outputs, times: times(&said), profile: profile(&said) })
    }

    /// Runs a routine on data that the driver makes, for measuring: no arrays pass through files.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn measure(
        &self,
        routine: usize,
        sizes: &Sizes,
        counts: &[usize],
        bounds: &[i64],
        schedule: Schedule,
    ) -> Result<(Vec<Duration>, Digest), Failure> {
        let none = Path::new("-");
        let said = self.start(routine, sizes, counts, bounds, [none, none], schedule)?;
        let digest = said.lines().find_map(|l| {
            let numbers: Option<Vec<f64>> =
                l.strip_prefix("digest ")?.split(' ').map(|n| n.parse().ok()).collect();
            Some(Digest(numbers?.try_into().ok()?))
        });
        let digest =
            digest.ok_or_else(|| Failure::environment("X0304", "the compiled program wrote no digest"))?;
        Ok((times(&said), digest))
    }

    fn start(
        &self,
        routine: usize,
        sizes: &Sizes,
        counts: &[usize],
        bounds: &[i64],
        files: [&Path; 2],
        schedule: Schedule,
    ) -> Result<String, Failure> {
        let signature = &self.routines[routine];
        progress::say(format!("running `{}`", signature.name));
        // Paper mode keeps temporaries on the stack, as the paper does, so the stack is made as
        // large as the system allows.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "ulimit -s unlimited 2>/dev/null || ulimit -s $(ulimit -H -s) 2>/dev/null; exec \"$0\" \"$@\"",
        ]);
        command.arg(&self.program).arg(routine.to_string());
        command.arg(schedule.repetitions.to_string()).arg(schedule.warm_up.to_string()).args(files);
        let size = |name| sizes.get(name).copied().unwrap_or(0).to_string();
        command.args(signature.sizes.iter().map(size));
        command.args(counts.iter().map(ToString::to_string)).args(bounds.iter().map(ToString::to_string));
        command.env("OMP_STACKSIZE", "512M").envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(threads) = schedule.threads {
            for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"] {
                command.env(name, threads.to_string());
            }
        }
        let finished = process::run(&mut command, schedule.limit)?;
        let said = finished.stderr.lines().take(10).collect::<Vec<_>>().join("\n");
        let name = &signature.name;
        match finished.status.code() {
            Some(0) => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
            Some(11) => Err(Failure::environment("X0304", format!("`{name}` ran out of memory"))
                .help("choose smaller sizes")),
            Some(athread::BROKEN_RULE) => Err(athread::broken_rule(&finished.stderr)),
            Some(12) => {
                Err(Failure::refused("X0102", format!("the sizes are not those that `{name}` requires")))
            }
            Some(13) => {
                let what = said.lines().next().unwrap_or("rows of an array are too far apart").to_owned();
                Err(athread::too_far(&what))
            }
            Some(14) => Err(Failure::refused(
                "G0506",
                format!("an index that `{name}` is given or computes is outside of its tensor"),
            )
            .help("give the inputs that are indices with --arg NAME=FILE.npy: random ones may be too large")),
            Some(15) => {
                Err(Failure::refused("G0507", format!("`{name}` takes a branch that does not fit the sizes"))
                    .help("the comment in the C says why: `lozenge compile`"))
            }
            Some(code) => {
                Err(Failure::environment("X0304", format!("the compiled program ended with status {code}"))
                    .note(said))
            }
            None => Err(Failure::environment(
                "X0304",
                format!("the compiled program crashed ({})", finished.status),
            )
            .note(said)),
        }
    }
}

/// The lines in which a model that counts tells the times of its calls.
fn profile(said: &str) -> Vec<(u64, f64)> {
    let line = |line: &str| {
        let (count, seconds) = line.strip_prefix("lozenge-profile ")?.split_once(' ')?;
        Some((count.parse().ok()?, seconds.trim().parse().ok()?))
    };
    said.lines().filter_map(line).collect()
}

fn times(said: &str) -> Vec<Duration> {
    let seconds = said.lines().filter_map(|l| l.strip_prefix("time ")?.parse::<f64>().ok());
    seconds.map(|s| Duration::from_secs_f64(s.max(0.0))).collect()
}

/// Columns of the scalar components, first components first.
fn write_columns(data: &Data, bytes: &mut Vec<u8>) {
    match data {
        Data::F32(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::F64(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::I32(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::I64(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::Bool(v) => bytes.extend(v.iter().map(|x| u8::from(*x))),
        Data::I8(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::U8(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::I16(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::U16(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::F16(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::U32(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::U64(v) => v.iter().for_each(|x| bytes.extend(x.to_ne_bytes())),
        Data::Pair(a, b) => {
            write_columns(a, bytes);
            write_columns(b, bytes);
        }
    }
}

fn read_columns(elem: &Elem, count: usize, rest: &mut &[u8]) -> Option<Data> {
    fn column<const N: usize, T>(
        count: usize,
        rest: &mut &[u8],
        value: impl Fn([u8; N]) -> T,
    ) -> Option<Vec<T>> {
        let (now, later) = rest.split_at_checked(count.checked_mul(N)?)?;
        *rest = later;
        let (chunks, _) = now.as_chunks::<N>();
        Some(chunks.iter().map(|c| value(*c)).collect())
    }
    Some(match elem {
        Elem::Scalar(Scalar::F32) => Data::F32(column(count, rest, f32::from_ne_bytes)?),
        Elem::Scalar(Scalar::F64) => Data::F64(column(count, rest, f64::from_ne_bytes)?),
        Elem::Scalar(Scalar::I32) => Data::I32(column(count, rest, i32::from_ne_bytes)?),
        Elem::Scalar(Scalar::I64) => Data::I64(column(count, rest, i64::from_ne_bytes)?),
        Elem::Scalar(Scalar::Bool) => Data::Bool(column(count, rest, |[b]: [u8; 1]| b != 0)?),
        Elem::Scalar(Scalar::I8) => Data::I8(column(count, rest, i8::from_ne_bytes)?),
        Elem::Scalar(Scalar::U8) => Data::U8(column(count, rest, u8::from_ne_bytes)?),
        Elem::Scalar(Scalar::I16) => Data::I16(column(count, rest, i16::from_ne_bytes)?),
        Elem::Scalar(Scalar::U16) => Data::U16(column(count, rest, u16::from_ne_bytes)?),
        Elem::Scalar(Scalar::F16) => Data::F16(column(count, rest, loops::f16::from_ne_bytes)?),
        Elem::Scalar(Scalar::U32) => Data::U32(column(count, rest, u32::from_ne_bytes)?),
        Elem::Scalar(Scalar::U64) => Data::U64(column(count, rest, u64::from_ne_bytes)?),
        Elem::Pair(a, b) => {
            let first = read_columns(a, count, rest)?;
            Data::Pair(Box::new(first), Box::new(read_columns(b, count, rest)?))
        }
    })
}

/// The scalar components of an element type with the members that lead to each.
fn leaves(elem: &Elem, path: &mut Vec<Component>, found: &mut Vec<(String, Scalar)>) {
    match elem {
        Elem::Scalar(scalar) => {
            let members = path.iter().map(|c| if *c == Component::First { ".x1" } else { ".x2" });
            found.push((members.collect(), *scalar));
        }
        Elem::Pair(a, b) => {
            for (part, component) in [(a, Component::First), (b, Component::Second)] {
                path.push(component);
                leaves(part, path, found);
                path.pop();
            }
        }
    }
}

fn leaves_of(elem: &Elem) -> Vec<(String, Scalar)> {
    let mut found = Vec::new();
    leaves(elem, &mut Vec::new(), &mut found);
    found
}

/// The declaration of a routine.
pub fn prototype(signature: &Signature) -> String {
    let mut params: Vec<String> = signature.sizes.iter().map(|_| "int64_t".to_owned()).collect();
    params.extend(signature.params.iter().map(|p| match (p.pointer, p.mode) {
        (false, _) => p.c_type.clone(),
        (true, ParamMode::In) => format!("const {} *restrict", p.c_type),
        (true, _) => format!("{} *restrict", p.c_type),
    }));
    if params.is_empty() {
        params.push("void".into());
    }
    format!("int {}({});", signature.c_name, params.join(", "))
}

/// The text of the driver: what depends on the routines, then the fixed part. It includes
/// `program.h`.
pub fn driver(routines: &[Signature]) -> String {
    let mut text = String::from(
        "#define _POSIX_C_SOURCE 200809L\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\n#include <time.h>\n#include \"program.h\"\n\n",
    );
    let slots = routines.iter().map(|r| r.sizes.len().max(r.params.len())).max().unwrap_or(0).max(1);
    let widest = routines.iter().flat_map(|r| &r.params).map(|p| leaves_of(&p.elem).len()).max().unwrap_or(1);
    let _ = writeln!(
        text,
        "#define ROUTINES {}\n#define SLOTS {slots}\n#define LEAVES {widest}\n",
        routines.len()
    );
    text.push_str("struct column;\nstatic int columns_of(int, int, void *, size_t, struct column *);\n");
    text.push_str("struct routine {\n    int sizes, params;\n    struct {\n        size_t bytes;\n        int mode, truth;\n    } param[SLOTS];\n};\n\n");
    for routine in routines {
        let _ = writeln!(text, "{}", prototype(routine));
    }
    text.push_str("\nstatic const struct routine routines[] = {\n");
    for routine in routines {
        let params: String = routine
            .params
            .iter()
            .map(|p| {
                let truth = leaves_of(&p.elem).iter().any(|(_, s)| *s == Scalar::Bool);
                format!("{{ sizeof({}), {}, {} }}, ", p.c_type, p.mode as u8, u8::from(truth))
            })
            .collect();
        let (sizes, count) = (routine.sizes.len(), routine.params.len());
        let _ = writeln!(
            text,
            "    {{ {sizes}, {count}, {{ {} }} }},",
            if params.is_empty() { "{ 0, 0, 0 }" } else { &params }
        );
    }
    text.push_str("};\n\nstatic int call(int routine, const int64_t *size, void **array)\n{\n    (void)size;\n    (void)array;\n    switch (routine) {\n");
    for (k, routine) in routines.iter().enumerate() {
        let mut arguments: Vec<String> = (0..routine.sizes.len()).map(|s| format!("size[{s}]")).collect();
        arguments.extend(routine.params.iter().enumerate().map(|(p, param)| {
            if param.pointer { format!("array[{p}]") } else { format!("*({} *)array[{p}]", param.c_type) }
        }));
        let _ = writeln!(text, "    case {k}: return {}({});", routine.c_name, arguments.join(", "));
    }
    text.push_str("    default: return -1;\n    }\n}\n\n");
    text.push_str(include_str!("driver.c"));
    text.push_str("\nstatic int columns_of(int routine, int param, void *array, size_t count, struct column *column)\n{\n");
    text.push_str(
        "    (void)array;\n    (void)count;\n    (void)column;\n    switch (routine * SLOTS + param) {\n",
    );
    for (k, routine) in routines.iter().enumerate() {
        for (p, param) in routine.params.iter().enumerate() {
            let _ = writeln!(text, "    case {}: {{", k * slots + p);
            let _ = writeln!(text, "        {} *a = array;", param.c_type);
            let leaves = leaves_of(&param.elem);
            for (c, (members, scalar)) in leaves.iter().enumerate() {
                let kind = Scalar::ALL.iter().position(|s| s == scalar).unwrap_or(0);
                let _ = writeln!(
                    text,
                    "        column[{c}] = (struct column){{ (char *)&(*a){members}, sizeof *a, count, {kind} }};"
                );
            }
            let _ = writeln!(text, "        return {};\n    }}", leaves.len());
        }
    }
    text.push_str("    default: return 0;\n    }\n}\n");
    text
}
