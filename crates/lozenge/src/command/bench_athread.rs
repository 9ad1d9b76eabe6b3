//! `lozenge bench --target athread`: the linear-algebra kernels on emulated cores, at the sizes of
//! the document. Every time is modelled.
//!
//! For each size, number of cores and kind of mapping a kernel is compiled, built, run and compared
//! with the original; then its row tells what the emulator counted. The references are modelled as
//! well: the original and a tiled form on the management core.

mod results;
mod summary;
mod translation_time;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loops::Name;
use loops::registers::Registers;
use serde_json::{Value as Json, json};
use targets::athread::{Cores, Parallel};

use self::results::{Key, Results};
use super::run_athread::{compare_programs, headers};
use crate::athread::{Emulator, Report, Settings, Sources, host};
use crate::bind::Sizes;
use crate::cli::{Bench, KernelSizes};
use crate::failure::{Failure, FailureKind, Source};
use crate::files::{self, read_source};
use crate::kernel;
use crate::pipeline::athread;
use crate::process::Compiler;
use crate::report;
use crate::request::Request;
use crate::statistics::seconds;
use crate::value::Closeness;

/// Values of the macros of each kernel, in their order: medium ones, then the document's table 2
/// (large, large rounded up, extra large, extra large rounded up).
const SIZES: [(&str, &[&[i64]]); 13] = [
    (
        "gemm",
        &[
            &[200, 220, 240],
            &[1000, 1100, 1200],
            &[1024, 1120, 1216],
            &[2000, 2300, 2600],
            &[2048, 2304, 2624],
        ],
    ),
    ("gemver", &[&[400], &[2000], &[2048], &[4000], &[4096]]),
    ("gesummv", &[&[250], &[1300], &[1312], &[2800], &[2816]]),
    ("symm", &[&[200, 240], &[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    ("syrk", &[&[200, 240], &[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    ("syr2k", &[&[200, 240], &[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    ("trmm", &[&[200, 240], &[1000, 1200], &[1024, 1216], &[2000, 2600], &[2048, 2624]]),
    (
        "2mm",
        &[
            &[180, 190, 210, 220],
            &[800, 900, 1100, 1200],
            &[800, 928, 1120, 1216],
            &[1600, 1800, 2200, 2400],
            &[1600, 1856, 2240, 2400],
        ],
    ),
    ("3mm", &[&[180, 190, 200, 210, 220], &[800, 900, 1000, 1100, 1200], &[800, 928, 1024, 1120, 1216]]),
    ("atax", &[&[390, 410], &[1900, 2100], &[1920, 2112], &[1800, 2200], &[1856, 2240]]),
    ("bicg", &[&[390, 410], &[1900, 2100], &[1920, 2112], &[1800, 2200], &[1856, 2240]]),
    ("doitgen", &[&[50, 40, 60], &[150, 140, 160], &[160, 160, 160], &[250, 220, 280], &[256, 224, 288]]),
    ("mvt", &[&[400], &[2000], &[2048], &[4000], &[4096]]),
];
const ALL_SIZES: [KernelSizes; 5] =
    [KernelSizes::Medium, KernelSizes::Large, KernelSizes::LargeUp, KernelSizes::Extra, KernelSizes::ExtraUp];

/// One setting of a kernel.
struct Row {
    key: Key,
    report: Report,
    /// Bytes that local memory of this size makes any program move, where each core has its own
    /// data.
    least: f64,
    /// Modelled seconds of the management core: the original, and its tiled form.
    host: [Option<f64>; 2],
    translation: Duration,
    /// Time an operation over that of the size rounded up, where this is a size rounded up.
    ragged: Option<f64>,
}

/// Runs the benchmark.
///
/// # Errors
/// `X0907` if there is none of the kernels; `X0402` if a kernel is refused, breaks a rule or
/// differs from the original; what is missing to run.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    if arguments.translation {
        return translation_time::run(arguments, as_json);
    }
    let compiler = Compiler::find()?;
    let emulator = Emulator::build(&compiler)?;
    let mut results = Results::open(arguments.results.as_deref())?;
    let settings = settings(arguments);
    let mut failed = Vec::new();
    if !as_json {
        report::print(summary::HEAD);
    }
    let mut rows: Vec<Row> = Vec::new();
    for file in files(arguments)? {
        let source = read_source(&file)?;
        let name = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        let Some((_, sizes)) = SIZES.iter().find(|(kernel, _)| *kernel == name) else { continue };
        for (size, values) in ALL_SIZES.into_iter().zip(sizes.iter()) {
            if !wanted(arguments, size) {
                continue;
            }
            let bench = Kernel { source: &source, file: &file, name: &name, size, values };
            let mut fail = |setting: &str, failure: &Failure| {
                let what = format!("{name} {} {setting}", size_name(size));
                report::print_error(&format!("{what}: {}\n", failure.summary()));
                failed.push(what);
            };
            let prepared = match bench.prepare(&compiler) {
                Ok(prepared) => prepared,
                Err(failure) => {
                    fail("", &failure);
                    continue;
                }
            };
            for (threads, parallel) in &settings {
                let setting =
                    Setting { threads: *threads, parallel: *parallel, seeds: arguments.seeds, bench: &bench };
                match setting.measure(&emulator, &prepared, &mut results) {
                    Ok(mut row) => {
                        row.ragged = summary::ragged(&row, &rows);
                        if !as_json {
                            report::print(&row.text());
                        }
                        rows.push(row);
                    }
                    Err(failure) => fail(&format!("{threads} cores, {}", parallel.name()), &failure),
                }
            }
        }
    }
    if rows.is_empty() && failed.is_empty() {
        return Err(nothing(arguments));
    }
    if as_json {
        let told: Vec<Json> = rows.iter().map(Row::json).collect();
        report::print_json(json!({ "ok": failed.is_empty(), "modelled": told }));
    } else {
        report::print(&summary::text(&rows, &failed, arguments.seeds));
    }
    if let Some(remark) = results.remark() {
        report::print_error(&format!("{remark}\n"));
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure {
        kind: FailureKind::Check,
        ..Failure::refused("X0402", format!("{} settings failed", failed.len()))
    })
}

/// That no kernel is among the files of which sizes are known.
fn nothing(arguments: &Bench) -> Failure {
    let names: Vec<&str> = SIZES.iter().map(|(name, _)| *name).collect();
    super::bench::nothing_to_measure(arguments)
        .help(format!("sizes are known only for the kernels {}, in files with these names", names.join(", ")))
}

/// Numbers of cores and kinds of mapping.
fn settings(arguments: &Bench) -> Vec<(u32, Parallel)> {
    let threads: &[u32] = match arguments.threads.as_slice() {
        [] if arguments.quick => &[64],
        [] => &[16, 32, 64],
        threads => threads,
    };
    let parallel: &[Parallel] = match arguments.parallel.as_slice() {
        [] if arguments.quick => &[Parallel::Two],
        [] => &[Parallel::One, Parallel::Two],
        parallel => parallel,
    };
    threads.iter().flat_map(|n| parallel.iter().map(|p| (*n, *p))).collect()
}

fn wanted(arguments: &Bench, size: KernelSizes) -> bool {
    match arguments.at.as_slice() {
        [] if arguments.quick => size == KernelSizes::Large,
        [] => size != KernelSizes::Medium,
        sizes => sizes.contains(&size),
    }
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

fn size_name(size: KernelSizes) -> &'static str {
    match size {
        KernelSizes::Medium => "medium",
        KernelSizes::Large => "large",
        KernelSizes::LargeUp => "large-up",
        KernelSizes::Extra => "extra",
        KernelSizes::ExtraUp => "extra-up",
    }
}

/// A kernel at one set of sizes.
struct Kernel<'a> {
    source: &'a Source,
    file: &'a Path,
    name: &'a str,
    size: KernelSizes,
    values: &'a [i64],
}

/// What all settings of a kernel have in common.
struct Prepared {
    defines: Vec<String>,
    /// Sizes in the program, which are called as the macros, in small letters.
    hints: Vec<(String, i64)>,
    /// What the original writes.
    expected: Vec<u8>,
    host: [Option<f64>; 2],
}

/// One setting, to be measured.
struct Setting<'a> {
    threads: u32,
    parallel: Parallel,
    seeds: u64,
    bench: &'a Kernel<'a>,
}

/// Registers that the tiled form for the management core may be made for: its own, and those of the
/// widest tiles, which the model rates faster for some kernels. Those of the machine that runs this
/// have nothing to do with it.
const HOST_REGISTERS: [Registers; 2] = [targets::athread::REGISTERS, Registers { count: 32, bytes: 64 }];

const LIMIT: Duration = Duration::from_secs(900);

/// What is asked for of a kernel, as the command `compile` does it.
fn request(stem: &str, sizes: Vec<(String, i64)>, threads: u32, parallel: Parallel) -> Request {
    let cores = Cores { parallel, ..Cores::default() };
    Request {
        assume_no_alias: true,
        settings: cores.settings(),
        threads: Some(threads),
        sizes,
        stem: stem.to_owned(),
        ..super::request()
    }
}

impl Kernel<'_> {
    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    fn prepare(&self, compiler: &Compiler) -> Result<Prepared, Failure> {
        let macros = kernel::sizes(&self.source.text);
        let defines: Vec<String> =
            macros.iter().zip(self.values).map(|(n, v)| format!("-D{n}={v}")).collect();
        let mut flags = vec!["-O3", "-march=native", "-ffp-contract=off"];
        flags.extend(defines.iter().map(String::as_str));
        let original = kernel::Program::build(compiler, &self.source.text, self.folder(), &flags, &[])?;
        let expected = original.run(1, LIMIT)?.output;
        let hints: Vec<(String, i64)> =
            macros.iter().zip(self.values).map(|(n, v)| (n.to_lowercase(), *v)).collect();
        let values: Sizes = hints.iter().map(|(n, v)| (Name::new(n), *v)).collect();
        let host = self.host(&values)?;
        Ok(Prepared { defines, hints, expected, host })
    }

    /// Modelled seconds of the management core: for the original, and for the tiled form that the
    /// other target gets.
    fn host(&self, values: &Sizes) -> Result<[Option<f64>; 2], Failure> {
        let request = Request { assume_no_alias: true, ..super::request() };
        let front = files::open(self.source, &request)?;
        let (mut naive, mut tiled) = (Some(0.0), Some(0.0));
        for name in front.definitions() {
            let mut best = None;
            for registers in HOST_REGISTERS {
                let request = Request { registers: Some(registers), ..request.of(&name) };
                let lowered = front.lower(&request)?;
                if best.is_none() {
                    let original = lowered.original.as_ref().unwrap_or(&lowered.function);
                    naive = naive.zip(host::seconds(original, values)).map(|(a, b)| a + b);
                }
                let own = host::seconds(&lowered.function, values).unwrap_or(f64::INFINITY);
                best = Some(best.map_or(own, |best: f64| best.min(own)));
            }
            tiled = tiled.zip(best.filter(|b| b.is_finite())).map(|(a, b)| a + b);
        }
        // A tiled form that is slower would flatter the cores.
        Ok([naive, naive.zip(tiled).map(|(naive, tiled)| f64::min(naive, tiled))])
    }
}

impl Setting<'_> {
    fn measure(
        &self,
        emulator: &Emulator,
        prepared: &Prepared,
        results: &mut Results,
    ) -> Result<Row, Failure> {
        let bench = self.bench;
        let request = request(bench.name, prepared.hints.clone(), self.threads, self.parallel);
        // All of it, as the command does: from the text of the source to the texts of the files.
        let began = Instant::now();
        let front = files::open(bench.source, &request)?;
        let mut all = athread::map(&front, &request)?;
        let files = athread::files(&front, &request, &mut all)?;
        let translation = began.elapsed();
        let key = Key {
            kernel: bench.name.to_owned(),
            size: size_name(bench.size).to_owned(),
            threads: self.threads,
            parallel: self.parallel.name().to_owned(),
            files: results::digest(&files, &prepared.defines),
        };
        let report = match results.find(&key, self.seeds) {
            Some(report) => report,
            None => {
                let report = self.emulate(emulator, prepared, &files)?;
                results.add(&key, self.seeds, &report)?;
                report
            }
        };
        // With S elements of fast memory, a product of operations f moves at least f / sqrt(S).
        let elements = report.ldm.1 as f64 / 8.0;
        let least = (report.flops / elements.sqrt() * 8.0).max(report.touched() as f64);
        Ok(Row { key, report, least, host: prepared.host, translation, ragged: None })
    }

    /// Runs the files in all orders of the cores.
    fn emulate(
        &self,
        emulator: &Emulator,
        prepared: &Prepared,
        files: &targets::athread::Files,
    ) -> Result<Report, Failure> {
        let flags: Vec<&str> = prepared.defines.iter().map(String::as_str).collect();
        let program = emulator.program(&Sources {
            host: &files.host,
            more: &[],
            slave: &files.slave,
            micro_kernels: &files.micro_kernels,
            headers: &headers(files),
            folder: Some(self.bench.folder()),
            flags: &flags,
        })?;
        let mut first: Option<Report> = None;
        for seed in 1..=self.seeds {
            let ours = program.run(Settings { seed, pro: false, limit: LIMIT })?;
            compare_programs(&ours.output, &prepared.expected, Closeness::Exact)?;
            let report = ours.report.ok_or_else(|| Failure::check("X0401", "no kernel was spawned"))?;
            if let Some(first) = &first
                && (first.seconds - report.seconds).abs() > 1e-12 * first.seconds
            {
                let told = format!(
                    "the modelled time is {} s in the first order of the cores and {} s in order {seed}",
                    first.seconds, report.seconds
                );
                return Err(Failure::check("X0401", told));
            }
            first.get_or_insert(report);
        }
        first.ok_or_else(|| Failure::check("X0401", "nothing was run"))
    }
}

impl Row {
    /// Modelled speed-ups over the management core: the original, and its tiled form.
    fn speedups(&self) -> [Option<f64>; 2] {
        self.host.map(|host| host.filter(|h| *h > 0.0).map(|h| h / self.report.seconds))
    }

    /// Traffic over what any program moves.
    fn excess(&self) -> f64 {
        self.report.traffic() as f64 / self.least.max(1.0)
    }

    fn text(&self) -> String {
        let r = &self.report;
        let ratio = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.0}"));
        let [naive, tiled] = self.speedups();
        format!(
            "{:<8} {:<8} {:>2} {} {:>9} {:>8.1} % {:>7.1} % {:>10.2} {:>8.2} {:>9} {:>8} {:>10} {:>9}\n",
            self.key.kernel,
            self.key.size,
            self.key.threads,
            self.key.parallel,
            seconds(r.seconds),
            100.0 * r.bound_share(),
            100.0 * r.stall_share,
            r.traffic() as f64 / r.touched().max(1) as f64,
            self.excess(),
            ratio(naive),
            ratio(tiled),
            self.ragged.map_or_else(String::new, |x| format!("{x:.2}")),
            seconds(self.translation.as_secs_f64()),
        )
    }

    fn json(&self) -> Json {
        let [naive, tiled] = self.speedups();
        json!({
            "kernel": self.key.kernel, "size": self.key.size, "threads": self.key.threads, "parallel": self.key.parallel,
            "least_bytes": self.least, "over_naive_host": naive, "over_tiled_host": tiled, "ragged_over_rounded": self.ragged,
            "translation_seconds": self.translation.as_secs_f64(), "report": self.report.json,
        })
    }
}
