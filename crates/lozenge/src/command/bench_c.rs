//! `lozenge bench` on C programs with marked regions: the original by several compilers, the
//! rewritten program, BLAS where a text of `benches/blas` says how the region is written with it,
//! and what other source-to-source compilers made of the same kernels (`--outputs`).
//!
//! Each program times its own region; programs run in turns, each in a process of its own.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cfront::Replacement;
use loops::Data;
use serde_json::{Value as Json, json};
use targets::Stage;

use crate::cli::{Bench, Extents};
use crate::extents::as_constants;
use crate::failure::{Failure, FailureKind};
use crate::files::{self, Scratch, read_source, reason, write_whole};
use crate::kernel::{self, Program, runs_by_itself};
use crate::pipeline::Front;
use crate::process::{Compiler, on_path};
use crate::progress::{self, Bar};
use crate::report;
use crate::request::Request;
use crate::statistics::{Summary, geometric_mean, seconds};

/// The kernels of the linear-algebra table.
pub(crate) const LINEAR_ALGEBRA: [&str; 13] = [
    "gemm", "gemver", "gesummv", "symm", "syrk", "syr2k", "trmm", "2mm", "3mm", "atax", "bicg", "doitgen",
    "mvt",
];
/// Compilers that are measured beside the system's, newest first.
const CLANGS: [&str; 5] = ["clang-22", "clang-19", "clang-16", "clang-14", "clang"];
/// The label of the rewritten program.
const OURS: &str = "lozenge";
/// The label of Polly with sums in any order.
const FAST: &str = "polly -ffast-math";

/// Compilers of the original program.
const COMPILERS: [&str; 4] = ["gcc", "clang", "polly", FAST];
/// Libraries that have the calls of BLAS.
const LIBRARIES: [&str; 3] = ["openblas", "blis", "mkl"];

/// One way to build a program.
struct Variant {
    label: String,
    program: Program,
}

impl Variant {
    fn new(label: &str, program: Program) -> Variant {
        Variant { label: label.to_owned(), program }
    }
}

/// Why a program that runs is not measured.
const NO_TIME: &str = "it prints no time: the word `seconds` and the time of its region behind it";

/// What was measured of one kernel.
struct Row {
    kernel: String,
    /// Whether its extents are constants.
    constants: bool,
    times: Vec<(String, Option<f64>)>,
    /// Variants whose results are not those of the original.
    differ: Vec<String>,
    /// Whether the original wrote anything that results can be held against.
    compared: bool,
    /// Why variants have no time.
    untimed: Vec<String>,
    translation: Duration,
    compile_ours: Duration,
    compile_original: Duration,
}

/// Runs the benchmarks of C programs and returns them for tools, with the kind of failure if a
/// kernel could not be measured (its reason has been told) or ours computes something else than the
/// original (its row says so).
///
/// # Errors
/// `X0004` for a folder of outputs that can't be read.
pub fn run(
    files: &[PathBuf],
    arguments: &Bench,
    compiler: &Compiler,
    as_json: bool,
) -> Result<(Vec<Json>, Option<FailureKind>), Failure> {
    for (_, folder) in &arguments.outputs {
        // A folder that is not there is a mistake; one without a kernel is not.
        std::fs::read_dir(folder).map_err(|e| {
            Failure::environment("X0004", format!("can't read {}: {}", folder.display(), reason(&e)))
        })?;
    }
    let (mut told, mut failed) = (Vec::new(), None);
    for threads in arguments.threads_or_one() {
        let mut rows = Vec::new();
        let bar = Bar::new(files.len() as u64, "measuring");
        for file in files {
            bar.set_message(file.display().to_string());
            for constants in forms(arguments.extents) {
                match measure(file, arguments, compiler, *threads, *constants) {
                    Ok(None) => {
                        let line =
                            format!("{}: its function takes no extents that are macros\n", file.display());
                        report::print_error(&line);
                    }
                    Ok(Some(row)) => {
                        let runs = row.times.iter().any(|(label, time)| label == OURS && time.is_some());
                        for why in &row.untimed {
                            let line = format!("{}: {why}\n", file.display());
                            report::print_error(&line);
                        }
                        if !runs || row.differ.iter().any(|label| label == OURS) {
                            failed = Some(FailureKind::Check);
                        }
                        progress::result(&short(&row, *threads));
                        rows.push(row);
                    }
                    Err(failure) => {
                        failed = failed.or(Some(failure.kind));
                        report::print_error(&format!("{}: {}\n", file.display(), failure.summary()));
                        // What the C compiler says is a note.
                        let notes = failure.diagnostics.iter().flat_map(|d| &d.notes);
                        for line in notes.flat_map(|note| note.lines()).take(SAID) {
                            report::print_error(&format!("  {line}\n"));
                        }
                    }
                }
            }
            bar.inc(1);
        }
        drop(bar);
        let others: Vec<&str> = arguments.outputs.iter().map(|(name, _)| name.as_str()).collect();
        if as_json {
            told.extend(rows.iter().map(|r| row_json(r, *threads, &others)));
        } else if !rows.is_empty() {
            report::print(&text(&rows, *threads, &others));
        }
    }
    Ok((told, failed))
}

/// Lines of a C compiler's messages that are shown.
const SAID: usize = 4;

/// The forms to measure: whether extents are constants.
fn forms(extents: Extents) -> &'static [bool] {
    match extents {
        Extents::Parameters => &[false],
        Extents::Constants => &[true],
        Extents::Both => &[false, true],
    }
}

/// What is measured of a kernel in one of its forms; none if it has not this form.
fn measure(
    file: &Path,
    arguments: &Bench,
    compiler: &Compiler,
    threads: u32,
    constants: bool,
) -> Result<Option<Row>, Failure> {
    let mut source = read_source(file)?;
    // The preprocessor reads files.
    let scratch = Scratch::new()?;
    if constants {
        let Some(text) = as_constants(&source.text) else { return Ok(None) };
        let path = scratch.path().join(file.file_name().unwrap_or_default());
        write_whole(&path, text.as_bytes())?;
        source = read_source(&path)?;
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let kernel = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let repetitions = if arguments.quick { "-DREPS=1" } else { "-DREPS=3" };
    let reassociate = arguments.reassociate;
    let include = crate::process::include(folder).to_string_lossy().into_owned();
    let preprocessor = vec![include, "-DLARGE".to_owned()];
    let request = Request { assume_no_alias: true, preprocessor, reassociate, ..super::request() };
    let began = Instant::now();
    let front = files::open(&source, &request)?;
    let rewritten = front.emit(Stage::C, &request)?.text;
    let translation = began.elapsed();

    let build = Build { compiler, folder, repetitions };
    let mut variants = vec![Variant::new(OURS, build.with(compiler, &rewritten, &["-fopenmp"], &[])?)];
    // Also where `--cc` names another compiler: it is what we are compared with.
    let gcc = on_path(Path::new("gcc")).map(|command| Compiler { command, ..compiler.clone() });
    let label = if gcc.is_some() { "gcc" } else { "clang" };
    variants.push(Variant::new(label, build.with(gcc.as_ref().unwrap_or(compiler), &source.text, &[], &[])?));
    variants.extend(by_clang(&build, &source.text, threads, reassociate));
    if let Some(text) = with_blas(&front, file, &kernel)? {
        variants.extend(by_libraries(&build, &text));
    }
    for (name, outputs) in &arguments.outputs {
        if let Some(text) = output_of(&front, outputs, &kernel)? {
            variants.push(Variant::new(name, build.with(compiler, &text, &["-fopenmp"], &[])?));
        }
    }

    let rounds = if arguments.quick { 1 } else { arguments.reps.min(5) };
    let Runs { samples, outputs, untimed } = in_turns(&variants, threads, rounds);
    // The original by the system's compiler says what is right.
    let right = |k: usize| outputs[k] == outputs[1] || close(&outputs[k], &outputs[1], 1e-6);
    let differ = (0..variants.len())
        .filter(|k| !samples[*k].is_empty() && !right(*k))
        .map(|k| variants[k].label.clone());
    let differ = differ.collect();
    let times = variants
        .iter()
        .zip(&samples)
        .map(|(v, s)| (v.label.clone(), (!s.is_empty()).then(|| Summary::of(s).median)))
        .collect();
    Ok(Some(Row {
        kernel,
        constants,
        times,
        differ,
        compared: !outputs[1].is_empty(),
        untimed,
        translation,
        compile_ours: variants[0].program.compile_time,
        compile_original: variants[1].program.compile_time,
    }))
}

/// What the builds of a kernel have in common.
struct Build<'a> {
    /// The system's compiler.
    compiler: &'a Compiler,
    /// The folder of the kernel.
    folder: &'a Path,
    /// The definition of how often a program repeats its region.
    repetitions: &'a str,
}

impl Build<'_> {
    fn with(
        &self,
        compiler: &Compiler,
        text: &str,
        more: &[&str],
        libraries: &[&str],
    ) -> Result<Program, Failure> {
        let base = ["-O3", "-march=native", "-DLARGE", self.repetitions];
        let flags: Vec<&str> = base.iter().chain(more).copied().collect();
        Program::build(compiler, text, self.folder, &flags, libraries)
    }
}

/// The original by clang and Polly, if they are there and build it.
fn by_clang(build: &Build, text: &str, threads: u32, reassociate: bool) -> Vec<Variant> {
    let Some(clang) = CLANGS.iter().find_map(|name| on_path(Path::new(name))) else { return Vec::new() };
    let clang = Compiler { command: clang, ..build.compiler.clone() };
    let polly: &[&str] = if threads > 1 {
        &["-mllvm", "-polly", "-mllvm", "-polly-parallel", "-mllvm", "-polly-omp-backend=LLVM", "-fopenmp"]
    } else {
        &["-mllvm", "-polly"]
    };
    let fast: Vec<&str> = polly.iter().chain(&["-ffast-math"]).copied().collect();
    let mut ways = vec![("clang", &[][..]), ("polly", polly)];
    // Sums in another order are for those who allow them to us as well.
    if reassociate {
        ways.push((FAST, &fast));
    }
    let built = |(label, flags)| Some(Variant::new(label, build.with(&clang, text, flags, &[]).ok()?));
    ways.into_iter().filter_map(built).collect()
}

/// A program that calls BLAS, with each library that there is.
fn by_libraries(build: &Build, text: &str) -> Vec<Variant> {
    let with = |label: &str, libraries: &[&str]| {
        Some(Variant::new(label, build.with(build.compiler, text, &[], libraries).ok()?))
    };
    let mut variants: Vec<Variant> =
        [("openblas", "-lopenblas"), ("blis", "-lblis")].iter().filter_map(|(l, n)| with(l, &[n])).collect();
    if let Some(mkl) = mkl() {
        let place = format!("-Wl,-rpath,{}", mkl.parent().unwrap_or(&mkl).display());
        let libraries = [&*mkl.to_string_lossy(), &*place, "-lgomp", "-lpthread", "-ldl"];
        variants.extend(with("mkl", &libraries));
    }
    variants
}

/// What came of running programs in turns, for each of them.
struct Runs {
    samples: Vec<Vec<Duration>>,
    outputs: Vec<Vec<u8>>,
    /// Why some have no time.
    untimed: Vec<String>,
}

/// Of a kernel with 100 ms a region, five programs run four times within this time.
pub(super) const ENOUGH: Duration = Duration::from_secs(6);
/// After so much time one round is enough.
const LONG: Duration = Duration::from_secs(20);

/// Runs each program once a round; one that fails in the first round is not run again. Long
/// programs vary little, so two rounds are enough once the programs have run for [`ENOUGH`], and
/// one after [`LONG`].
fn in_turns(variants: &[Variant], threads: u32, rounds: u32) -> Runs {
    let began = Instant::now();
    let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); variants.len()];
    let mut outputs: Vec<Vec<u8>> = vec![Vec::new(); variants.len()];
    let mut untimed = Vec::new();
    for round in 0..rounds {
        let run = began.elapsed();
        if (round >= 2 && run > ENOUGH) || (round >= 1 && run > LONG) {
            break;
        }
        progress::say(format!("round {} of {rounds}", round + 1));
        for (k, variant) in variants.iter().enumerate() {
            if round > 0 && samples[k].is_empty() {
                continue;
            }
            let run = match variant.program.run(threads, Duration::from_secs(300)) {
                Ok(run) => run,
                Err(failure) => {
                    untimed.push(format!("{}: {}", variant.label, failure.summary()));
                    continue;
                }
            };
            match run.seconds {
                Some(seconds) => samples[k].push(Duration::from_secs_f64(seconds.max(0.0))),
                None => untimed.push(format!("{}: {NO_TIME}", variant.label)),
            }
            outputs[k] = run.output;
        }
    }
    Runs { samples, outputs, untimed }
}

/// The library of MKL below `MKLROOT`, where its installer and that of the Python package `mkl` put
/// it.
fn mkl() -> Option<PathBuf> {
    let root = PathBuf::from(std::env::var_os("MKLROOT")?);
    let names =
        ["lib/libmkl_rt.so.2", "lib/intel64/libmkl_rt.so.2", "lib/libmkl_rt.so.3", "lib/libmkl_rt.so"];
    names.iter().map(|name| root.join(name)).find(|path| path.is_file())
}

/// The program with its region written by calls of BLAS, where `benches/blas` says how.
fn with_blas(front: &Front, file: &Path, kernel: &str) -> Result<Option<String>, Failure> {
    let root = file.ancestors().find(|a| a.join("benches/blas").is_dir());
    let folder = match root {
        Some(root) => root.join("benches/blas"),
        None if Path::new("benches/blas").is_dir() => PathBuf::from("benches/blas"),
        None => return Ok(None),
    };
    let path = folder.join(format!("{kernel}.c"));
    if !path.is_file() {
        return Ok(None);
    }
    let header = read_source(&folder.join("cblas-calls.h"))?.text;
    Ok(Some(format!("{header}\n{}", in_region(front, &read_source(&path)?.text)?)))
}

/// What another compiler made of this kernel, if its folder has it: a whole program, or the text of
/// the region.
fn output_of(front: &Front, folder: &Path, kernel: &str) -> Result<Option<String>, Failure> {
    let path = folder.join(format!("{kernel}.c"));
    if !path.is_file() {
        return Ok(None);
    }
    let text = read_source(&path)?.text;
    Ok(Some(if runs_by_itself(&text) { text } else { in_region(front, &text)? }))
}

/// The program with this text as its region.
fn in_region(front: &Front, text: &str) -> Result<String, Failure> {
    let source = front.source();
    let Some(parsed) = front.c_file() else {
        return Err(Failure::refused("X0801", format!("{} is no C file", source.path)));
    };
    let replacement = Replacement { region: 0, text: format!("{{\n{text}}}\n"), ..Replacement::default() };
    cfront::splice(&source.text, parsed, &[replacement]).map_err(|d| Failure::in_source(source, vec![d]))
}

/// Whether two output files hold the same arrays, up to contraction and the order of sums: within a
/// part of the largest magnitude of each.
pub fn close(left: &[u8], right: &[u8], part: f64) -> bool {
    let (Some(left), Some(right)) = (arrays(left), arrays(right)) else { return left == right };
    left.len() == right.len()
        && left.iter().zip(&right).all(|(a, b)| {
            let scale = a.iter().chain(b).map(|x| x.abs()).filter(|x| x.is_finite()).fold(1e-300, f64::max);
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|(x, y)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= part * scale)
        })
}

/// The arrays of an output file, as numbers.
fn arrays(bytes: &[u8]) -> Option<Vec<Vec<f64>>> {
    fn numbers<T: Copy>(v: &[T], number: impl Fn(T) -> f64) -> Vec<f64> {
        v.iter().map(|x| number(*x)).collect()
    }
    let all = kernel::arrays(bytes)?.into_iter().map(|array| match &array.tensor.data {
        Data::F32(v) => numbers(v, f64::from),
        Data::F64(v) => v.clone(),
        Data::I32(v) => numbers(v, f64::from),
        Data::I64(v) => numbers(v, |x| x as f64),
        Data::Bool(v) => numbers(v, |x| f64::from(u8::from(x))),
        Data::I8(v) => numbers(v, f64::from),
        Data::U8(v) => numbers(v, f64::from),
        Data::I16(v) => numbers(v, f64::from),
        Data::U16(v) => numbers(v, f64::from),
        Data::F16(v) => numbers(v, f64::from),
        Data::U32(v) => numbers(v, f64::from),
        Data::U64(v) => numbers(v, |x| x as f64),
        Data::Pair(..) => Vec::new(),
    });
    Some(all.collect())
}

fn labels(rows: &[Row]) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for (label, _) in rows.iter().flat_map(|r| &r.times) {
        if !labels.contains(&label.as_str()) {
            labels.push(label);
        }
    }
    labels
}

fn time_of(row: &Row, label: &str) -> Option<f64> {
    row.times.iter().find(|(l, _)| *l == label).and_then(|(_, t)| *t)
}

/// The time of the best of these over ours. Who computes something else does not count.
fn ratio(row: &Row, peers: &[&str]) -> Option<f64> {
    let right = peers.iter().filter(|p| !row.differ.iter().any(|d| d == *p));
    let best = right.filter_map(|p| time_of(row, p)).fold(f64::INFINITY, f64::min);
    let ours = time_of(row, OURS).filter(|t| *t > 0.0)?;
    best.is_finite().then(|| best / ours)
}

/// What the table says of a kernel, in one line, for who waits for the table.
fn short(row: &Row, threads: u32) -> String {
    let form = if row.constants { ", constants" } else { "" };
    let plural = if threads == 1 { "" } else { "s" };
    let of = |(name, peers): (&str, &[&str])| ratio(row, peers).map(|r| format!(", {name} / ours {r:.2}"));
    let peers = [("gcc", &["gcc"][..]), ("best compiler", &COMPILERS), ("best BLAS", &LIBRARIES)];
    let ours = time_of(row, OURS).map_or("-".to_owned(), seconds);
    let ratios: String = peers.into_iter().filter_map(of).collect();
    format!("{}{form}, {threads} thread{plural}: {ours}{ratios}", row.kernel)
}

/// The table; `others` are the compilers of `--outputs`.
fn text(rows: &[Row], threads: u32, others: &[&str]) -> String {
    let labels = labels(rows);
    let groups: Vec<(String, Vec<&str>)> = [
        ("gcc / ours".to_owned(), vec!["gcc"]),
        ("best compiler / ours".to_owned(), COMPILERS.to_vec()),
        ("best BLAS / ours".to_owned(), LIBRARIES.to_vec()),
    ]
    .into_iter()
    .chain(others.iter().map(|name| (format!("{name} / ours"), vec![*name])))
    .collect();
    let mut head = vec![format!("{threads} thread{}", if threads == 1 { "" } else { "s" })];
    head.extend(labels.iter().map(|l| (*l).to_owned()));
    head.extend(groups.iter().map(|(name, _)| name.clone()));
    head.extend(["result", "translate", "cc ours", "cc orig."].map(str::to_owned));
    let mut table = vec![head];
    let show = |r: Option<f64>| r.map_or("-".to_owned(), |r| format!("{r:.2}"));
    for row in rows {
        let form = if row.constants { ", constants" } else { "" };
        let mut cells = vec![format!("{}{form}", row.kernel)];
        cells.extend(labels.iter().map(|l| time_of(row, l).map_or("-".to_owned(), seconds)));
        cells.extend(groups.iter().map(|(_, peers)| show(ratio(row, peers))));
        cells.push(match row.differ.as_slice() {
            [] if row.compared => "agrees".into(),
            [] => "not compared".into(),
            differ => format!("DIFFERS: {}", differ.join(", ")),
        });
        cells.extend(
            [row.translation, row.compile_ours, row.compile_original].map(|d| seconds(d.as_secs_f64())),
        );
        table.push(cells);
    }
    let mut mean = |name: &str, chosen: &dyn Fn(&Row) -> bool| {
        let of = |peers: &[&str]| {
            let ratios: Vec<f64> =
                rows.iter().filter(|r| chosen(r)).filter_map(|r| ratio(r, peers)).collect();
            show(geometric_mean(&ratios))
        };
        let mut cells = vec![name.to_owned()];
        cells.extend(labels.iter().map(|_| String::new()));
        cells.extend(groups.iter().map(|(_, peers)| of(peers)));
        table.push(cells);
    };
    let linear = |r: &Row| LINEAR_ALGEBRA.contains(&r.kernel.as_str());
    for constants in [false, true] {
        if rows.iter().any(|r| r.constants == constants) {
            let form = if constants { ", constants" } else { "" };
            mean(&format!("geometric mean, linear algebra{form}"), &|r| {
                r.constants == constants && linear(r)
            });
            mean(&format!("geometric mean, all{form}"), &|r| r.constants == constants);
        }
    }
    let total: f64 = rows.iter().map(|r| r.translation.as_secs_f64()).sum();
    let slowest = rows.iter().map(|r| r.translation.as_secs_f64()).fold(0.0, f64::max);
    format!(
        "{}translation: mean {}, slowest {}\n\n",
        report::table(&table),
        seconds(total / rows.len().max(1) as f64),
        seconds(slowest)
    )
}

fn row_json(row: &Row, threads: u32, others: &[&str]) -> Json {
    let times: serde_json::Map<String, Json> = row.times.iter().map(|(l, t)| (l.clone(), json!(t))).collect();
    let over_ours: serde_json::Map<String, Json> =
        others.iter().map(|name| ((*name).to_owned(), json!(ratio(row, &[name])))).collect();
    json!({
        "kernel": row.kernel, "extents": if row.constants { "constants" } else { "parameters" }, "threads": threads, "seconds": times,
        "agrees": row.compared && row.differ.is_empty(), "compared": row.compared, "differ": row.differ, "untimed": row.untimed,
        "gcc_over_ours": ratio(row, &["gcc"]),
        "best_compiler_over_ours": ratio(row, &COMPILERS),
        "best_blas_over_ours": ratio(row, &LIBRARIES),
        "over_ours": over_ours,
        "translation": row.translation.as_secs_f64(),
        "c_compiler_ours": row.compile_ours.as_secs_f64(),
        "c_compiler_original": row.compile_original.as_secs_f64(),
    })
}
