//! The second look at slave files (`T0006`) over all numbers of cores and mappings: which texts it follows to their end, and why not the others.
//!
//! Programs are compiled only. What is expected is `tests/athread/followed.out`, a line for each setting that is not followed, or where cores do not share what the mapping has them share.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::thread;

use lozenge::cli::{Chip, Choice, Cores, Parallel};
use lozenge::files::read_source;
use lozenge::kernel;
use lozenge::pipeline::{Front, athread};

/// The kernels of the source document, with the sizes LARGE and EXTRALARGE of their macros.
const KERNELS: [(&str, &[i64], &[i64]); 13] = [
    ("gemm", &[1000, 1100, 1200], &[2000, 2300, 2600]),
    ("gemver", &[2000], &[4000]),
    ("gesummv", &[1300], &[2800]),
    ("symm", &[1000, 1200], &[2000, 2600]),
    ("syrk", &[1000, 1200], &[2000, 2600]),
    ("syr2k", &[1000, 1200], &[2000, 2600]),
    ("trmm", &[1000, 1200], &[2000, 2600]),
    ("2mm", &[800, 900, 1100, 1200], &[1600, 1800, 2200, 2400]),
    ("3mm", &[800, 900, 1000, 1100, 1200], &[1600, 1800, 2000, 2200, 2400]),
    ("atax", &[1900, 2100], &[1800, 2200]),
    ("bicg", &[1900, 2100], &[1800, 2200]),
    ("doitgen", &[150, 140, 160], &[250, 220, 280]),
    ("mvt", &[2000], &[4000]),
];
/// Other programs, without sizes.
const OTHERS: [&str; 8] =
    ["conv2d", "fdtd-2d", "flat-gemm", "guards", "heat-3d", "jacobi-2d", "minmax-bounds", "sgemm"];
const TINY: [i64; 5] = [13, 7, 17, 11, 5];

/// A program at a setting.
struct Setting {
    kernel: &'static str,
    size: &'static str,
    values: &'static [i64],
    threads: u32,
    parallel: Parallel,
}

fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    for threads in [64, 32, 16] {
        for parallel in [Parallel::Two, Parallel::One] {
            for (kernel, large, extra) in KERNELS {
                for (size, values) in [("large", large), ("tiny", &TINY[..]), ("extra", extra)] {
                    // The largest sizes go round.
                    if size != "extra" || all.len() % 3 == 0 {
                        all.push(Setting { kernel, size, values, threads, parallel });
                    }
                }
            }
            for kernel in OTHERS.into_iter().filter(|_| threads != 32) {
                all.push(Setting { kernel, size: "any size", values: &[], threads, parallel });
            }
        }
    }
    // Square tiles, on fewer rows than columns of cores.
    all.push(Setting {
        kernel: "syrk",
        size: "large, rounded up",
        values: &[1024, 1216],
        threads: 32,
        parallel: Parallel::Two,
    });
    // Tiny sizes make the same shapes of text on every number of cores.
    all.retain(|setting| setting.size != "tiny" || setting.threads == 16);
    all
}

/// What is said of a text that is not followed, or not shared.
fn complaints(setting: &Setting) -> Result<Vec<String>, lozenge::Failure> {
    let path = golden::root().join("tests/c/kernels").join(format!("{}.c", setting.kernel));
    let source = read_source(&path)?;
    let names = kernel::sizes(&source.text);
    let request = athread::Request {
        cores: Cores { parallel: setting.parallel, chip: Chip::Sw26010 },
        threads: Some(setting.threads),
        sizes: names.iter().map(|name| name.to_lowercase()).zip(setting.values.iter().copied()).collect(),
        stages: false,
    };
    let choice = Choice { assume_no_alias: true, ..Choice::default() };
    let front = Front::open(&source, &choice)?;
    let mut all = athread::map(&front, &choice, &request)?;
    let files = athread::files(&front, &choice, &request, &mut all, setting.kernel)?;
    let notes = all.iter().flat_map(|one| &one.mapped.notes).filter(|note| note.contains("T0006")).cloned();
    Ok(notes.chain(files.notes).chain(files.unchecked).collect())
}

#[test]
fn texts_are_followed() {
    let settings = settings();
    let (next, lines) = (Mutex::new(settings.iter().enumerate()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            // Sets of large programs take more of the stack than a test has.
            let worker = || {
                loop {
                    let Some((k, setting)) = next.lock().expect("no thread has failed").next() else {
                        return;
                    };
                    let said = match complaints(setting) {
                        Ok(said) => said,
                        Err(failure) => vec![format!("refused: {}", failure.summary())],
                    };
                    let Setting { kernel, size, threads, .. } = setting;
                    let loops = if setting.parallel == Parallel::Two { "2d" } else { "1d" };
                    lines.lock().expect("no thread has failed").extend(
                        said.into_iter()
                            .map(|said| (k, format!("{kernel} ({size}) {threads} cores {loops}: {said}"))),
                    );
                }
            };
            thread::Builder::new()
                .stack_size(256 << 20)
                .spawn_scoped(scope, worker)
                .expect("a thread can be started");
        }
    });
    let mut lines = lines.into_inner().expect("no thread has failed");
    lines.sort();
    lines.dedup_by_key(|(k, _)| *k);
    let mut text = format!("{} of {} settings are followed.\n", settings.len() - lines.len(), settings.len());
    for (_, line) in &lines {
        let _ = writeln!(text, "{line}");
    }
    if let Err(difference) = golden::compare(&golden::folder("athread/followed.out"), &text) {
        panic!("{difference}");
    }
}
