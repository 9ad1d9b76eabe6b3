//! `lozenge bench`: the benchmarks in the comments of programs, measured in turns with their
//! references.
//!
//! For a program `x.loz` the references are the functions `DEFINITION__NAME` of `x.c` beside it,
//! which have the parameters of the generated function; those named `blas` are linked with OpenBLAS
//! and with BLIS, where these are installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loops::{Function, Name, ParamMode, Scalar};
use serde_json::{Value as Json, json};
use targets::{Signature, SignatureParam};

use crate::bind::{self, Sizes};
use crate::cases::{self, CaseKind, Setting};
use crate::check;
use crate::cli::Bench;
use crate::command::{bench_c, bench_model};
use crate::execute::{Build, Executable};
use crate::failure::{Failure, Source};
use crate::files::{self, find, read_source};
use crate::kernel;
use crate::measure::{Effort, Measured, Variant, interleaved};
use crate::pipeline::{self, Lowered};
use crate::process::{Compiler, Optimise};
use crate::progress::Bar;
use crate::report::{self, table};
use crate::request::{Mode, Request};
use crate::statistics::seconds;
use crate::value::Value;

/// Libraries that references named `blas` are linked with: name in tables, option of the linker.
const LIBRARIES: [(&str, &str); 2] = [("openblas", "-lopenblas"), ("blis", "-lblis")];
/// The label of our own code in default mode.
const OURS: &str = "lozenge";

/// One benchmark: a definition at sizes.
struct Point {
    definition: String,
    strategy: Option<String>,
    sizes: Vec<(String, i64)>,
    against: Option<String>,
    paper: bool,
}

/// A definition that is measured, by one way through the translation.
struct Ours {
    label: String,
    lowered: Lowered,
    request: Request,
    translation: Duration,
}

/// Runs the command.
///
/// # Errors
/// What the stages refuse, and what is missing to run; `X0907` if there is no benchmark.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let mut files = Vec::new();
    for path in &arguments.paths {
        files.extend(find(path, &["loz", "loops", "c"])?);
    }
    let (kernels, files): (Vec<PathBuf>, Vec<PathBuf>) =
        files.into_iter().partition(|f| f.extension().is_some_and(|e| e == "c"));
    let wanted = |f: &PathBuf| {
        let name = f.file_stem().unwrap_or_default().to_string_lossy();
        arguments.filter.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()))
            && read_source(f).is_ok_and(|s| kernel::has_region(&s.text))
    };
    let kernels: Vec<PathBuf> = kernels.into_iter().filter(wanted).collect();
    let mut told = Vec::new();
    if !as_json {
        report::print(&format!(
            "C compiler: {}, {}\n\n",
            compiler.version(),
            Optimise::Fast.flags().join(" ")
        ));
    }
    if arguments.model {
        return bench_model::run(&kernels, arguments, &compiler, as_json);
    }
    for file in &files {
        let source = read_source(file)?;
        for point in points(&source, arguments)? {
            told.extend(bench_point(file, &source, &point, arguments, &compiler, as_json)?);
        }
    }
    let (of_kernels, failed) = bench_c::run(&kernels, arguments, &compiler, as_json)?;
    told.extend(of_kernels);
    if told.is_empty() && kernels.is_empty() {
        return Err(nothing_to_measure(arguments)
            .help("write them as comments such as `-- bench dot n=1000000`; C files with regions are measured as they are"));
    }
    if as_json {
        report::print_json(json!({ "ok": failed.is_none(), "benchmarks": told }));
    }
    failed.map_or(Ok(()), |kind| Err(Failure::told(kind)))
}

/// That no benchmark was found: a script that measures must not take that for success.
pub(super) fn nothing_to_measure(arguments: &Bench) -> Failure {
    let paths: Vec<String> = arguments.paths.iter().map(|p| p.display().to_string()).collect();
    let filter = arguments.filter.as_ref().map_or(String::new(), |f| format!(" for the filter `{f}`"));
    Failure::refused("X0907", format!("no benchmarks in {}{filter}", paths.join(", ")))
}

fn points(source: &Source, arguments: &Bench) -> Result<Vec<Point>, Failure> {
    let cases = cases::read(&source.text).map_err(|d| Failure::in_source(source, d))?;
    let mut points = Vec::new();
    for case in cases {
        let CaseKind::Bench(run) = case.kind else { continue };
        if arguments.filter.as_ref().is_some_and(|f| !run.definition.contains(f.as_str())) {
            continue;
        }
        let mut point = Point {
            definition: run.definition,
            strategy: None,
            sizes: Vec::new(),
            against: None,
            paper: false,
        };
        for (name, setting) in run.settings {
            match (name.as_str(), setting) {
                ("strategy", Setting::Word(word)) => point.strategy = Some(word),
                ("against", Setting::Word(word)) => point.against = Some(word),
                ("also", Setting::Word(word)) if word == "paper" => point.paper = true,
                (_, Setting::Values(values)) => match values.as_slice() {
                    [Value::Number(text)] if text.parse::<i64>().is_ok() => {
                        let size = text.parse().unwrap_or(0);
                        point.sizes.push((name, if arguments.quick { (size / 8).max(1) } else { size }));
                    }
                    _ => return Err(malformed(case.line, &format!("`{name}` is not one size"))),
                },
                (_, Setting::Word(word)) => {
                    return Err(malformed(case.line, &format!("`{name}={word}` has no meaning")));
                }
            }
        }
        points.push(point);
    }
    Ok(points)
}

fn malformed(line: usize, why: &str) -> Failure {
    Failure::refused("X0403", format!("malformed benchmark on line {line}: {why}"))
        .help("the form is `-- bench NAME n=1000 against=REFERENCE`")
}

fn bench_point(
    file: &Path,
    source: &Source,
    point: &Point,
    arguments: &Bench,
    compiler: &Compiler,
    as_json: bool,
) -> Result<Vec<Json>, Failure> {
    let ours = translations(source, point)?;
    let function = ours[0].lowered.function.clone();
    let given = point.sizes.iter().map(|(n, v)| (Name::new(n), *v)).collect();
    let sizes = bind::sizes(&function, &given, &BTreeMap::new())?;
    bind::check_memory(&function, &sizes, 2)?;
    let references = references(file, &point.definition)?;
    let (base, libraries) = build(&ours, &references, compiler)?;
    let variants = variants(&ours, &function, &sizes, &base, &libraries)?;
    let title: Vec<String> = point.sizes.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let mut told = Vec::new();
    for threads in arguments.threads_or_one() {
        let bar = Bar::new(0, &point.definition);
        let rounds = if arguments.quick { arguments.reps.min(3) } else { arguments.reps };
        let effort = Effort {
            rounds,
            budget: Duration::from_secs(if arguments.quick { 2 } else { 30 }),
            threads: *threads,
        };
        let measured = interleaved(&variants, effort, &|label| bar.set_message(label.to_owned()));
        drop(bar);
        let reference = point.against.as_deref().unwrap_or("openmp");
        if as_json {
            told.push(as_json_value(point, *threads, &measured, &ours, base.compile_time));
        } else {
            let heading = format!(
                "{} {}, {threads} thread{}",
                point.definition,
                title.join(" "),
                if *threads == 1 { "" } else { "s" }
            );
            report::print(&text(&heading, &measured, &function, &sizes, reference, &libraries));
            told.push(Json::Null);
        }
    }
    if !as_json {
        let translation: Vec<String> =
            ours.iter().map(|o| format!("{} {}", o.label, seconds(o.translation.as_secs_f64()))).collect();
        report::print(&format!(
            "  translation: {}; C compiler: {}\n\n",
            translation.join(", "),
            seconds(base.compile_time.as_secs_f64())
        ));
    }
    Ok(told)
}

/// Our code, and that of another definition of the file if the benchmark names one as reference.
fn translations(source: &Source, point: &Point) -> Result<Vec<Ours>, Failure> {
    let translate = |label: &str, definition: &str, strategy: Option<String>, mode: Mode| {
        let request = Request { mode, strategy, ..super::request().of(definition) };
        let began = Instant::now();
        let lowered = files::open(source, &request)?.lower(&request)?;
        report::told(&lowered);
        let program = loops::Program { functions: vec![lowered.function.clone()] };
        pipeline::to_c(&program, &request, None)?;
        let (label, translation) = (label.to_owned(), began.elapsed());
        Ok::<Ours, Failure>(Ours { label, lowered, request, translation })
    };
    let mut ours = vec![translate(OURS, &point.definition, point.strategy.clone(), Mode::Default)?];
    if point.paper {
        // The paper's programs say how they run; where this one leaves that to a strategy, the
        // plainest choice is taken.
        let plain = Some("try choose".to_owned());
        ours.push(translate("paper mode", &point.definition, plain, Mode::Paper)?);
    }
    let definitions = files::open(source, &super::request())?.definitions();
    if let Some(against) = point.against.as_ref().filter(|a| definitions.contains(a)) {
        ours.push(translate(against, against, None, Mode::Default)?);
    }
    Ok(ours)
}

/// The text of the C file beside the program, and the references to the definition in it.
struct References {
    text: String,
    names: Vec<String>,
}

fn references(file: &Path, definition: &str) -> Result<References, Failure> {
    let beside: PathBuf = file.with_extension("c");
    if !beside.is_file() {
        return Ok(References { text: String::new(), names: Vec::new() });
    }
    let text = read_source(&beside)?.text;
    let mark = format!("int {definition}__");
    let names = text
        .lines()
        .filter_map(|l| Some(l.strip_prefix(&mark)?.split('(').next()?.trim().to_owned()))
        .collect();
    Ok(References { text, names })
}

/// The program with our code, the references and the bandwidth loops; and one for each library that
/// is there.
#[allow(clippy::type_complexity)]
fn build(
    ours: &[Ours],
    references: &References,
    compiler: &Compiler,
) -> Result<(Executable, Vec<(&'static str, Option<Executable>)>), Failure> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut routines: Vec<Signature> = Vec::new();
    let mut header = String::from("#include <stdbool.h>\n#include <stdint.h>\n");
    for (k, one) in ours.iter().enumerate() {
        let mut function = one.lowered.function.clone();
        function.name = Name::new(format!("{}_{k}", function.name));
        let program = loops::Program { functions: vec![function] };
        let emitted = pipeline::to_c(&program, &one.request, None)?;
        if k == 0 {
            header = emitted.header.clone();
        }
        files.push((format!("ours{k}.c"), emitted.source));
        routines.extend(emitted.signatures);
    }
    let signature = routines[0].clone();
    let definition = ours[0].lowered.function.name.clone();
    let reference = |name: &str| Signature {
        name: Name::new(name),
        c_name: format!("{definition}__{name}"),
        ..signature.clone()
    };
    let (blas, plain): (Vec<&String>, Vec<&String>) =
        references.names.iter().partition(|n| n.as_str() == "blas");
    routines.extend(plain.iter().map(|n| reference(n)));
    routines.extend(stream_routines());
    files.push(("stream.c".into(), include_str!("../stream.c").into()));
    if !plain.is_empty() {
        files.push(("references.c".into(), references.text.clone()));
    }
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let flags = Optimise::Fast.flags();
    let base = Executable::build(
        compiler,
        &Build { files: &borrowed, routines: &routines, header: &header, flags, libraries: &[] },
    )?;
    let mut libraries = Vec::new();
    if !blas.is_empty() {
        let mut flags = flags.to_vec();
        flags.push("-DWITH_CBLAS");
        for (label, library) in LIBRARIES {
            let build = Build {
                files: &[("references.c", &references.text)],
                routines: &[reference("blas")],
                header: &header,
                flags: &flags,
                libraries: &[library],
            };
            libraries.push((label, Executable::build(compiler, &build).ok()));
        }
    }
    Ok((base, libraries))
}

fn stream_routines() -> Vec<Signature> {
    let param = |name: &str, mode, scalar| SignatureParam {
        name: name.into(),
        elem: Scalar::F64.into(),
        c_type: "double".into(),
        dims: if scalar { Vec::new() } else { vec!["n".into()] },
        mode,
        pointer: true,
    };
    let routine = |name: &str, params: Vec<SignatureParam>| Signature {
        name: name.into(),
        c_name: format!("lozenge_stream_{name}"),
        sizes: vec!["n".into()],
        params,
    };
    let (a, b) = (param("a", ParamMode::In, false), param("b", ParamMode::In, false));
    let out = param("out", ParamMode::Out, false);
    vec![
        routine("read", vec![a.clone(), param("out", ParamMode::Out, true)]),
        routine("copy", vec![a.clone(), out.clone()]),
        routine("triad", vec![a, b, out]),
    ]
}

/// Bytes that go in and bytes that come out.
fn traffic(function: &Function, sizes: &Sizes) -> (u128, u128) {
    let of = |wanted: &dyn Fn(ParamMode) -> bool| {
        let params = function.params.iter().filter(|p| wanted(p.mode)).cloned().collect();
        bind::bytes(&Function { params, body: Vec::new(), ..function.clone() }, sizes)
    };
    (of(&|m| m != ParamMode::Out), of(&|m| m != ParamMode::In))
}

fn variants<'a>(
    ours: &[Ours],
    function: &Function,
    sizes: &Sizes,
    base: &'a Executable,
    libraries: &'a [(&'static str, Option<Executable>)],
) -> Result<Vec<Variant<'a>>, Failure> {
    let shapes: Result<Vec<Vec<usize>>, Failure> =
        function.params.iter().map(|p| bind::shape(p, sizes)).collect();
    let counts: Vec<usize> = shapes?.iter().map(|s| s.iter().product()).collect();
    let by_name =
        ours[0].lowered.definition.as_ref().map(|d| check::bounds(d, function, sizes)).unwrap_or_default();
    let bounds: Vec<i64> =
        function.params.iter().map(|p| by_name.get(&p.name).copied().unwrap_or(0)).collect();
    let variant = |label: &str, executable: &'a Executable, routine: usize| Variant {
        label: label.to_owned(),
        executable,
        routine,
        sizes: sizes.clone(),
        counts: counts.clone(),
        bounds: bounds.clone(),
    };
    let mut variants: Vec<Variant<'a>> =
        ours.iter().enumerate().map(|(k, one)| variant(&one.label, base, k)).collect();
    let first = ours.len();
    for (k, name) in base.routine_names().enumerate().skip(first) {
        if !["read", "copy", "triad"].contains(&name) {
            variants.push(variant(name, base, k));
        }
    }
    for (label, executable) in libraries {
        if let Some(executable) = executable {
            variants.push(variant(label, executable, 0));
        }
    }
    // The bandwidth bound makes sense where each byte is touched about once: as many results as
    // arguments, or far fewer.
    let (bytes_in, bytes_out) = traffic(function, sizes);
    let kind = match (bytes_in, bytes_out) {
        (i, o) if o * 1000 < i => Some(("read", i, 1)),
        (i, o) if i.abs_diff(o) * 1000 < i => Some(("copy", i, 1)),
        (i, o) if i.abs_diff(2 * o) * 1000 < i => Some(("triad", o, 2)),
        _ => None,
    };
    if let Some((name, bytes, inputs)) = kind {
        let n = usize::try_from(bytes / 8).unwrap_or(0);
        let routine = base.routine_names().position(|r| r == name).unwrap_or(0);
        let mut counts = vec![n; inputs];
        counts.push(if name == "read" { 1 } else { n });
        variants.push(Variant {
            label: format!("stream {name}"),
            executable: base,
            routine,
            sizes: Sizes::from([(Name::new("n"), i64::try_from(n).unwrap_or(i64::MAX))]),
            bounds: vec![0; counts.len()],
            counts,
        });
    }
    Ok(variants)
}

fn text(
    heading: &str,
    measured: &[Measured],
    function: &Function,
    sizes: &Sizes,
    reference: &str,
    libraries: &[(&'static str, Option<Executable>)],
) -> String {
    let ours = measured[0].summary();
    let (bytes_in, bytes_out) = traffic(function, sizes);
    let mut rows: Vec<Vec<String>> =
        vec![["", "median", "spread", "GB/s", "time / ours", "result"].map(str::to_owned).to_vec()];
    for m in measured {
        let Some(s) = m.summary() else {
            let why = m.times.as_ref().err().map(Failure::summary).unwrap_or_default();
            rows.push(vec![
                format!("  {}", m.label),
                "failed".into(),
                String::new(),
                String::new(),
                String::new(),
                why,
            ]);
            continue;
        };
        let ratio = ours.map_or(String::new(), |o| format!("{:.2}", s.median / o.median));
        let stream = m.label.starts_with("stream ");
        let agrees = match (m.digest, measured[0].digest) {
            _ if stream => "",
            (Some(a), Some(b)) if a.agrees(&b) => "agrees",
            _ => "DIFFERS",
        };
        let rate = (bytes_in + bytes_out) as f64 / s.median / 1e9;
        let mark = if m.label == reference { " (reference)" } else { "" };
        rows.push(vec![
            format!("  {}{mark}", m.label),
            seconds(s.median),
            format!("{:.0} %", s.spread * 100.0),
            format!("{rate:.1}"),
            ratio,
            agrees.to_owned(),
        ]);
    }
    for (label, executable) in libraries {
        if executable.is_none() {
            rows.push(vec![format!("  {label}"), "absent".into()]);
        }
    }
    format!("{heading}\n{}", table(&rows))
}

fn as_json_value(
    point: &Point,
    threads: u32,
    measured: &[Measured],
    ours: &[Ours],
    compile: Duration,
) -> Json {
    let sizes: BTreeMap<&str, i64> = point.sizes.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    let variants: Vec<Json> = measured
        .iter()
        .map(|m| {
            let s = m.summary();
            json!({
                "variant": m.label,
                "median": s.map(|s| s.median), "least": s.map(|s| s.least), "spread": s.map(|s| s.spread),
                "ratio": s.zip(measured[0].summary()).map(|(s, o)| s.median / o.median),
                "failed": m.times.as_ref().err().map(Failure::summary),
            })
        })
        .collect();
    json!({
        "definition": point.definition, "sizes": sizes, "threads": threads, "variants": variants,
        "translation": ours[0].translation.as_secs_f64(), "c_compiler": compile.as_secs_f64(),
    })
}
