//! The second look at slave files (`T0006`) over all numbers of cores and mappings, both chips,
//! definitions of the library and random C programs: which texts it follows to their end, and why
//! not the others.
//!
//! Programs are compiled only. What is expected is `tests/athread/followed.out`, a line for each
//! setting that is not followed, or where cores do not share what the mapping has them share.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lozenge::files::{self, Scratch, read_source, write_whole};
use lozenge::fuzz::kernels::program;
use lozenge::pipeline::athread;
use lozenge::{Request, kernel};
use targets::athread::{Chip, Cores, Parallel, SW26010_PRO};

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
const OTHERS: [&str; 11] = [
    "conv2d",
    "fdtd-2d",
    "flat-gemm",
    "guards",
    "heat-3d",
    "jacobi-2d",
    "minmax-bounds",
    "power",
    "sgemm",
    "sums",
    "thin",
];
const TINY: [i64; 5] = [13, 7, 17, 11, 5];

/// Definitions of the library that have work for the cores.
const DEFINITIONS: [(&str, &str); 13] = [
    ("blas", "axpy"),
    ("blas", "dot_par"),
    ("blas", "gemv"),
    ("blas", "gemv_t"),
    ("blas", "ger"),
    ("blas", "gemm"),
    ("blas", "batched_matmul"),
    ("neural", "dense"),
    ("neural", "softmax_rows"),
    ("neural", "layer_norm"),
    ("neural", "conv2d"),
    ("neural", "max_pool"),
    ("neural", "attention"),
];
/// Random C programs, by their seeds.
const RANDOM: u64 = 60;

/// A program at a setting.
struct Setting {
    name: String,
    program: From,
    size: &'static str,
    values: &'static [i64],
    threads: u32,
    parallel: Parallel,
    chip: &'static Chip,
}

/// Where a program comes from.
enum From {
    /// A file of C.
    Kernel(&'static str),
    /// A file of the library and a definition in it.
    Library(&'static str, &'static str),
    /// All definitions of a file.
    Several,
    /// A seed.
    Random(u64),
}

fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    let c = |kernel: &'static str, size, values, threads, parallel| Setting {
        name: kernel.to_owned(),
        program: From::Kernel(kernel),
        size,
        values,
        threads,
        parallel,
        chip: Cores::default().chip,
    };
    for threads in [64, 32, 16] {
        for parallel in [Parallel::Two, Parallel::One] {
            for (kernel, large, extra) in KERNELS {
                for (size, values) in [("large", large), ("tiny", &TINY[..]), ("extra", extra)] {
                    // The largest sizes go round.
                    if size != "extra" || all.len() % 3 == 0 {
                        all.push(c(kernel, size, values, threads, parallel));
                    }
                }
            }
            for kernel in OTHERS.into_iter().filter(|_| threads != 32) {
                all.push(c(kernel, "any size", &[], threads, parallel));
            }
        }
    }
    // Square tiles, on fewer rows than columns of cores.
    all.push(c("syrk", "large, rounded up", &[1024, 1216], 32, Parallel::Two));
    // Tiny sizes make the same shapes of text on every number of cores.
    all.retain(|setting| setting.size != "tiny" || setting.threads == 16);
    for (k, (kernel, large, _)) in KERNELS.into_iter().enumerate() {
        let parallel = if k % 2 == 0 { Parallel::Two } else { Parallel::One };
        let pro = c(kernel, "large", large, if k % 3 == 0 { 16 } else { 64 }, parallel);
        all.push(Setting { chip: &SW26010_PRO, ..pro });
        // Cores that are no row, or not all rows.
        all.push(c(kernel, "large", large, [3, 7, 24, 48][k % 4], Parallel::Two));
    }
    let functional =
        |name: String, program| Setting { name, program, ..c("", "any size", &[], 64, Parallel::Two) };
    all.push(functional("several.loz".to_owned(), From::Several));
    for (file, definition) in DEFINITIONS {
        let name = format!("{file}.loz {definition}");
        all.push(functional(name.clone(), From::Library(file, definition)));
        // With sizes, rows may be worked on as a whole.
        let said = functional(name, From::Library(file, definition));
        all.push(Setting { size: "sizes said", values: &[33, 101, 7, 3, 3, 5], ..said });
    }
    for seed in 1..=RANDOM {
        let parallel = if seed % 2 == 0 { Parallel::One } else { Parallel::Two };
        let chip = if seed % 5 == 0 { &SW26010_PRO } else { Cores::default().chip };
        let threads = [64, 32, 16, 3][seed as usize % 4];
        let random = c("", "any size", &[], threads, parallel);
        all.push(Setting { name: format!("random {seed}"), program: From::Random(seed), chip, ..random });
    }
    all
}

/// What is said of a text that is not followed, or not shared.
fn complaints(setting: &Setting, scratch: &Scratch) -> Result<Vec<String>, lozenge::Failure> {
    let root = golden::root();
    let mut request = Request {
        assume_no_alias: true,
        settings: Cores { parallel: setting.parallel, chip: setting.chip }.settings(),
        threads: Some(setting.threads),
        stem: "program".to_owned(),
        ..files::request()
    };
    let source = match setting.program {
        From::Kernel(name) => read_source(&root.join("tests/c/kernels").join(format!("{name}.c")))?,
        From::Several => read_source(&root.join("tests/athread/several.loz"))?,
        From::Library(file, definition) => {
            request.definition = Some(definition.to_owned());
            request.types = if definition == "max_pool" { vec![] } else { vec![("t".into(), "f64".into())] };
            request.reassociate = true;
            read_source(&root.join("library").join(format!("{file}.loz")))?
        }
        From::Random(seed) => {
            // The preprocessor reads files.
            let path = scratch.path().join(format!("random{seed}.c"));
            write_whole(&path, program(seed).as_bytes())?;
            read_source(&path)?
        }
    };
    let front = files::open(&source, &request)?;
    let names = match setting.program {
        _ if setting.values.is_empty() => Vec::new(),
        From::Library(..) => {
            athread::chosen(&front, &request)?.sizes.iter().map(ToString::to_string).collect()
        }
        _ => kernel::sizes(&source.text),
    };
    request.sizes =
        names.iter().map(|name| name.to_lowercase()).zip(setting.values.iter().copied()).collect();
    let mut all = athread::map(&front, &request)?;
    let files = athread::files(&front, &request, &mut all)?;
    let notes = all.iter().flat_map(|one| &one.mapped.notes).filter(|note| note.contains("T0006")).cloned();
    Ok(notes.chain(files.remarks()).collect())
}

#[test]
fn texts_are_followed() {
    let (settings, scratch) = (settings(), Scratch::new().expect("there is room for files"));
    let (next, lines) = (Mutex::new(settings.iter().enumerate()), Mutex::new(Vec::new()));
    let none = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            // Sets of large programs take more of the stack than a test has.
            let worker = || {
                loop {
                    let Some((k, setting)) = next.lock().expect("no thread has failed").next() else {
                        return;
                    };
                    let said = match complaints(setting, &scratch) {
                        // Not every random program has work for the cores.
                        Err(failure)
                            if matches!(setting.program, From::Random(_))
                                && !failure.summary().contains("T0006") =>
                        {
                            none.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        Ok(said) => said,
                        Err(failure) => vec![format!("refused: {}", failure.summary())],
                    };
                    let Setting { name, size, threads, .. } = setting;
                    let chip = if *setting.chip == *Cores::default().chip { "" } else { " of the Pro chip" };
                    let loops = if setting.parallel == Parallel::Two { "2d" } else { "1d" };
                    lines.lock().expect("no thread has failed").extend(
                        said.into_iter().map(|said| {
                            (k, format!("{name} ({size}) {threads} cores{chip} {loops}: {said}"))
                        }),
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
    let texts = settings.len() - none.into_inner();
    let mut text = format!("{} of {texts} texts are followed.\n", texts - lines.len());
    for (_, line) in &lines {
        let _ = writeln!(text, "{line}");
    }
    if let Err(difference) = golden::compare(&golden::folder("athread/followed.out"), &text) {
        panic!("{difference}");
    }
}
