//! `lozenge bench --target athread`: the linear-algebra kernels on emulated cores, at the sizes of the document. Every time is modelled.
//!
//! For each size, number of cores and kind of mapping a kernel is compiled, built, run and compared with the original; then its row tells what the emulator
//! counted. The references are modelled as well: the original and a tiled form on the management core.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loops::Name;
use serde_json::{Value as Json, json};

use super::run_athread::{compare_programs, headers};
use crate::athread::{Emulator, Program, Report, Settings, Sources, host};
use crate::bind::Sizes;
use crate::cli::{Bench, Choice, Cores, Parallel};
use crate::failure::{Failure, FailureKind, Source};
use crate::files::read_source;
use crate::kernel;
use crate::pipeline::{Front, athread};
use crate::process::Compiler;
use crate::report;
use crate::statistics::{geometric_mean, seconds};
use crate::value::Closeness;

/// Sizes of the document's table 2, in the order of the macros of each kernel: large, large rounded up, extra large, extra large rounded up.
const SIZES: [(&str, &[&[i64]]); 13] = [
    ("gemm", &[&[1000, 1100, 1200], &[1024, 1120, 1216], &[2000, 2300, 2600], &[2048, 2304, 2624]]),
    ("gemver", &[&[2000], &[2048], &[4000], &[4096]]),
    ("gesummv", &[&[1300], &[1312], &[2800], &[2816]]),
    ("symm", &[&[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    ("syrk", &[&[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    ("syr2k", &[&[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    ("trmm", &[&[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    (
        "2mm",
        &[
            &[800, 900, 1100, 1200],
            &[800, 928, 1120, 1216],
            &[1600, 1800, 2200, 2400],
            &[1600, 1856, 2240, 2400],
        ],
    ),
    ("3mm", &[&[800, 900, 1000, 1100, 1200], &[800, 928, 1024, 1120, 1216]]),
    ("atax", &[&[1900, 2100], &[1920, 2112], &[1800, 2200], &[1856, 2240]]),
    ("bicg", &[&[1900, 2100], &[1920, 2112], &[1800, 2200], &[1856, 2240]]),
    ("doitgen", &[&[150, 140, 160], &[160, 160, 160], &[250, 220, 280], &[256, 224, 288]]),
    ("mvt", &[&[2000], &[2048], &[4000], &[4096]]),
];
const SIZE_NAMES: [&str; 4] = ["large", "large-up", "extra", "extra-up"];

/// One setting of a kernel.
struct Row {
    kernel: String,
    size: &'static str,
    threads: u32,
    parallel: Parallel,
    report: Report,
    /// Bytes that local memory of this size makes any program move, where each core has its own data.
    least: f64,
    host_naive: Option<f64>,
    host_tiled: Option<f64>,
    translation: Duration,
}

/// Runs the benchmark.
///
/// # Errors
/// `X0402` if a kernel is refused, breaks a rule or differs from the original; what is missing to run.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let emulator = Emulator::build(&compiler)?;
    let threads = if arguments.threads == [1] { vec![16, 32, 64] } else { arguments.threads.clone() };
    let mut told = Vec::new();
    let mut failed = 0;
    if !as_json {
        report::print(
            "all times are modelled\nkernel    size      cores      time     of bound   waiting   traffic: of touched, of least   speed-up: naive, tiled   translated in\n",
        );
    }
    let mut rows = Vec::new();
    for file in files(arguments)? {
        let source = read_source(&file)?;
        let name = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        let Some((_, sizes)) = SIZES.iter().find(|(kernel, _)| *kernel == name) else { continue };
        for (size, values) in SIZE_NAMES.iter().zip(sizes.iter()) {
            if arguments.quick && *size != "large" {
                continue;
            }
            let wanted = |n: &u32| !arguments.quick || *n == 64;
            let settings: Vec<(u32, Parallel)> = threads
                .iter()
                .filter(|n| wanted(n))
                .flat_map(|n| [Parallel::One, Parallel::Two].map(|p| (*n, p)))
                .filter(|(_, p)| !arguments.quick || *p == Parallel::Two)
                .collect();
            let bench = Kernel { source: &source, file: &file, name: &name, size, values };
            match bench.measure(&compiler, &emulator, &settings) {
                Ok(outcomes) => {
                    for outcome in outcomes {
                        match outcome {
                            Ok(row) => {
                                if as_json {
                                    told.push(row.json());
                                } else {
                                    report::print(&row.text());
                                }
                                rows.push(row);
                            }
                            Err((setting, failure)) => {
                                failed += 1;
                                report::print_error(&format!(
                                    "{name} {size} {setting}: {}\n",
                                    failure.summary()
                                ));
                            }
                        }
                    }
                }
                Err(failure) => {
                    failed += 1;
                    report::print_error(&format!("{name} {size}: {}\n", failure.summary()));
                }
            }
        }
    }
    if as_json {
        report::print(&format!("{:#}\n", json!({ "ok": failed == 0, "modelled": told })));
    } else {
        report::print(&summary(&rows));
    }
    if failed == 0 {
        return Ok(());
    }
    Err(Failure {
        kind: FailureKind::Check,
        ..Failure::refused("X0402", format!("{failed} settings failed"))
    })
}

fn files(arguments: &Bench) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in &arguments.paths {
        files.extend(crate::files::find(path, &["c"])?);
    }
    let wanted = |file: &PathBuf| {
        arguments.filter.as_ref().is_none_or(|f| file.display().to_string().contains(f.as_str()))
    };
    files.retain(wanted);
    Ok(files)
}

/// A kernel at one set of sizes.
struct Kernel<'a> {
    source: &'a Source,
    file: &'a Path,
    name: &'a str,
    size: &'static str,
    values: &'a [i64],
}

type Setting = Result<Row, (String, Failure)>;

impl Kernel<'_> {
    fn measure(
        &self,
        compiler: &Compiler,
        emulator: &Emulator,
        settings: &[(u32, Parallel)],
    ) -> Result<Vec<Setting>, Failure> {
        let macros = kernel::sizes(&self.source.text);
        let defines: Vec<String> =
            macros.iter().zip(self.values).map(|(n, v)| format!("-D{n}={v}")).collect();
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut flags = vec!["-O3", "-march=native", "-ffp-contract=off"];
        flags.extend(defines.iter().map(String::as_str));
        let limit = Duration::from_secs(900);
        let original =
            kernel::Program::build(compiler, &self.source.text, folder, &flags, &[])?.run(1, limit)?;
        // Sizes in the program are called as the macros, in small letters.
        let hints: Vec<(String, i64)> =
            macros.iter().zip(self.values).map(|(n, v)| (n.to_lowercase(), *v)).collect();
        let values: Sizes = hints.iter().map(|(n, v)| (Name::new(n), *v)).collect();
        let choice = Choice { assume_no_alias: true, ..Choice::default() };
        let front = Front::open(self.source, &choice)?;
        let (naive, tiled) = self.host(&front, &choice, &values)?;
        let mut rows = Vec::new();
        for (threads, parallel) in settings {
            let told = format!("{threads} cores, {}", mapping(*parallel));
            let one = || -> Result<Row, Failure> {
                let request = athread::Request {
                    cores: Cores { parallel: *parallel, ..Cores::default() },
                    threads: Some(*threads),
                    sizes: hints.clone(),
                };
                let began = Instant::now();
                let all = athread::map(&front, &choice, &request)?;
                let files = athread::files(&front, &choice, &request, &all, self.name)?;
                let translation = began.elapsed();
                let flags: Vec<&str> = defines.iter().map(String::as_str).collect();
                let program: Program = emulator.program(&Sources {
                    host: &files.host,
                    more: &[],
                    slave: &files.slave,
                    headers: &headers(&files),
                    folder: Some(folder),
                    flags: &flags,
                })?;
                let ours = program.run(Settings { seed: 1, pro: false, limit })?;
                compare_programs(&ours.output, &original.output, Closeness::Exact)?;
                let report = ours.report.ok_or_else(|| Failure::check("X0401", "no kernel was spawned"))?;
                // With S elements of fast memory, a product of operations f moves at least f / sqrt(S).
                let elements = report.ldm.1 as f64 / 8.0;
                let least = (report.flops / elements.sqrt() * 8.0).max(report.touched() as f64);
                Ok(Row {
                    kernel: self.name.to_owned(),
                    size: self.size,
                    threads: *threads,
                    parallel: *parallel,
                    report,
                    least,
                    host_naive: naive,
                    host_tiled: tiled,
                    translation,
                })
            };
            rows.push(one().map_err(|failure| (told, failure)));
        }
        Ok(rows)
    }

    /// Modelled seconds of the management core: for the original, and for the tiled form that the other target gets.
    fn host(
        &self,
        front: &Front,
        choice: &Choice,
        values: &Sizes,
    ) -> Result<(Option<f64>, Option<f64>), Failure> {
        let (mut naive, mut tiled) = (Some(0.0), Some(0.0));
        for name in front.definitions() {
            let choice = Choice { definition: Some(name), ..choice.clone() };
            let lowered = front.lower(&choice)?;
            let original = lowered.original.as_ref().unwrap_or(&lowered.function);
            naive = naive.zip(host::seconds(original, values)).map(|(a, b)| a + b);
            tiled = tiled.zip(host::seconds(&lowered.function, values)).map(|(a, b)| a + b);
        }
        // A tiled form that is slower would flatter the cores.
        Ok((naive, naive.zip(tiled).map(|(naive, tiled)| f64::min(naive, tiled))))
    }
}

fn mapping(parallel: Parallel) -> &'static str {
    match parallel {
        Parallel::One => "1d",
        Parallel::Two => "2d",
    }
}

impl Row {
    fn over(&self, host: Option<f64>) -> Option<f64> {
        host.filter(|h| *h > 0.0).map(|h| h / self.report.seconds)
    }

    fn text(&self) -> String {
        let r = &self.report;
        let ratio = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.0}"));
        format!(
            "{:<9} {:<9} {:>2} {}  {:>10}   {:>7.1} %  {:>6.1} %   {:>10.2} {:>11.2}   {:>16} {:>7}   {:>10}\n",
            self.kernel,
            self.size,
            self.threads,
            mapping(self.parallel),
            seconds(r.seconds),
            100.0 * r.bound_share(),
            100.0 * r.stall_share,
            r.traffic() as f64 / r.touched().max(1) as f64,
            r.traffic() as f64 / self.least.max(1.0),
            ratio(self.over(self.host_naive)),
            ratio(self.over(self.host_tiled)),
            seconds(self.translation.as_secs_f64()),
        )
    }

    fn json(&self) -> Json {
        json!({
            "kernel": self.kernel, "size": self.size, "threads": self.threads, "parallel": mapping(self.parallel),
            "least_bytes": self.least, "over_naive_host": self.over(self.host_naive), "over_tiled_host": self.over(self.host_tiled),
            "translation_seconds": self.translation.as_secs_f64(), "report": self.report.json,
        })
    }
}

fn summary(rows: &[Row]) -> String {
    let mut text = String::new();
    let of = |size: &str| rows.iter().filter(|r| r.size == size).collect::<Vec<_>>();
    for (ragged, rounded) in [("large", "large-up"), ("extra", "extra-up")] {
        let (ragged, rounded) = (of(ragged), of(rounded));
        // Time an operation of the ragged size over that of the rounded one.
        let ratios: Vec<f64> = ragged
            .iter()
            .filter_map(|a| {
                let b = rounded
                    .iter()
                    .find(|b| (&b.kernel, b.threads, b.parallel) == (&a.kernel, a.threads, a.parallel))?;
                Some((a.report.seconds / a.report.flops) / (b.report.seconds / b.report.flops))
            })
            .collect();
        if let Some(mean) = geometric_mean(&ratios) {
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            text.push_str(&format!(
                "ragged over rounded sizes, time an operation: {mean:.2} on average (geometric), {worst:.2} at worst, of {} settings\n",
                ratios.len()
            ));
        }
    }
    let speed = |of: fn(&Row) -> Option<f64>| {
        let all: Vec<f64> = rows.iter().filter(|r| r.threads == 64).filter_map(of).collect();
        geometric_mean(&all)
    };
    if let (Some(naive), Some(tiled)) = (speed(|r| r.over(r.host_naive)), speed(|r| r.over(r.host_tiled))) {
        text.push_str(&format!(
            "64 cores over the management core (modelled, geometric means): {naive:.0} over the naive code, {tiled:.0} over the tiled one\n"
        ));
    }
    if !rows.is_empty() {
        let mean = rows.iter().map(|r| r.translation.as_secs_f64()).sum::<f64>() / rows.len() as f64;
        text.push_str(&format!("translated in {} on average\n", seconds(mean)));
    }
    text
}
