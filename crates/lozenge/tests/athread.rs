//! Generated host and slave files on emulated cores, against the sequential program, bit by bit:
//! every kernel of the source document at every number of cores and mapping, at sizes 0, 1, primes
//! and ragged ones, in 20 orders of the cores; both chips; sums across cores; pairs; files with
//! several definitions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use lozenge::athread::{Emulator, Program, Settings, Sources};
use lozenge::files::{self, read_source};
use lozenge::pipeline::{self, athread};
use lozenge::process::{Compiler, Optimise};
use lozenge::{Failure, Request, bind, execute, kernel};
use targets::athread::{Chip, Cores, Parallel, SW26010_PRO};

const KERNELS: [&str; 13] = [
    "gemm", "gemver", "gesummv", "symm", "syrk", "syr2k", "trmm", "2mm", "3mm", "atax", "bicg", "doitgen",
    "mvt",
];
const SETTINGS: [(u32, Parallel); 6] = [
    (64, Parallel::Two),
    (64, Parallel::One),
    (32, Parallel::Two),
    (32, Parallel::One),
    (16, Parallel::Two),
    (16, Parallel::One),
];
/// Values of the sizes of a kernel in their order.
const NOTHING: [i64; 5] = [0; 5];
const ONE: [i64; 5] = [1; 5];
const PRIMES: [i64; 5] = [13, 7, 17, 11, 5];
const RAGGED: [i64; 5] = [67, 41, 53, 37, 29];
const LIMIT: Duration = Duration::from_secs(60);

/// A program of the folder of kernels: how it is mapped, and with which macros.
struct Case<'a> {
    /// Where the program is.
    folder: &'a str,
    kernel: &'a str,
    threads: u32,
    parallel: Parallel,
    chip: &'static Chip,
    /// Sizes that its tiles are chosen for.
    tuned: Option<&'a [i64]>,
    request: Request,
}

impl<'a> Case<'a> {
    fn new(kernel: &'a str, (threads, parallel): (u32, Parallel)) -> Case<'a> {
        let request = Request { assume_no_alias: true, ..files::request() };
        Case {
            folder: "tests/c/kernels",
            kernel,
            threads,
            parallel,
            chip: Cores::default().chip,
            tuned: None,
            request,
        }
    }

    fn name(&self) -> String {
        format!("{} on {} cores, {:?}, {}", self.kernel, self.threads, self.parallel, self.chip.name)
    }
}

/// A kernel built for cores, and as it is.
struct Built {
    name: String,
    sizes: Vec<String>,
    pro: bool,
    ours: Program,
    slave: String,
    /// What the mapping says of itself.
    notes: Vec<String>,
    original: kernel::Program,
}

fn build(emulator: &Emulator, compiler: &Compiler, case: &Case) -> Result<Built, Failure> {
    let path = golden::root().join(case.folder).join(format!("{}.c", case.kernel));
    let folder = path.parent().unwrap_or(Path::new("."));
    let source = read_source(&path)?;
    let sizes = kernel::sizes(&source.text);
    let hints = case.tuned.unwrap_or_default();
    let request = Request {
        settings: Cores { parallel: case.parallel, chip: case.chip }.settings(),
        threads: Some(case.threads),
        sizes: sizes.iter().map(|name| name.to_lowercase()).zip(hints.iter().copied()).collect(),
        stem: case.kernel.to_owned(),
        ..case.request.clone()
    };
    let front = files::open(&source, &request)?;
    let mut all = athread::map(&front, &request)?;
    let files = athread::files(&front, &request, &mut all)?;
    let headers: Vec<(&str, &str)> =
        files.header.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let flags: Vec<&str> = case.request.preprocessor.iter().map(String::as_str).collect();
    let ours = emulator.program(&Sources {
        host: &files.host,
        more: &[],
        slave: &files.slave,
        micro_kernels: &files.micro_kernels,
        headers: &headers,
        folder: Some(folder),
        flags: &flags,
    })?;
    let mut sequential = vec!["-O1", "-ffp-contract=off"];
    sequential.extend(&flags);
    let original = kernel::Program::build(compiler, &source.text, folder, &sequential, &[])?;
    let slave = files.slave;
    let notes = all.iter().flat_map(|one| one.mapped.notes.clone()).collect();
    let pro = *case.chip == SW26010_PRO;
    Ok(Built { name: case.name(), sizes, pro, ours, slave, notes, original })
}

impl Built {
    fn variables(&self, values: &[i64]) -> Vec<(String, String)> {
        self.sizes.iter().cloned().zip(values.iter().map(i64::to_string)).collect()
    }

    /// Runs both forms at these sizes, ours with these orders of the cores; the arrays must be
    /// equal, or `close`.
    fn agrees(
        &self,
        values: &[i64],
        seeds: std::ops::Range<u64>,
        close: &dyn Fn(&[u8], &[u8]) -> bool,
    ) -> Result<(), String> {
        let variables = self.variables(values);
        let failed = |e: Failure| format!("{} at {values:?}: {} {:?}", self.name, e.summary(), e);
        let expected = self.original.run_with(1, LIMIT, &variables).map_err(failed)?.output;
        let mut seconds: Option<f64> = None;
        for seed in seeds {
            let settings = Settings { seed, pro: self.pro, limit: LIMIT };
            let run = self.ours.run_with(settings, &variables).map_err(failed)?;
            if !close(&run.output, &expected) {
                return Err(format!("{} at {values:?}, seed {seed}: other results", self.name));
            }
            // The model does not depend on the order in which cores are emulated.
            let time = run.report.map_or(0.0, |r| r.seconds);
            if (*seconds.get_or_insert(time) - time).abs() > 1e-12 {
                return Err(format!("{} at {values:?}, seed {seed}: {time} s, not {seconds:?}", self.name));
            }
        }
        Ok(())
    }
}

fn equal(ours: &[u8], expected: &[u8]) -> bool {
    ours == expected
}

/// Up to the rounding of a sum in another order.
fn rounded(ours: &[u8], expected: &[u8]) -> bool {
    let (Some(ours), Some(expected)) = (kernel::arrays(ours), kernel::arrays(expected)) else { return false };
    ours.len() == expected.len()
        && ours.iter().zip(&expected).all(|(a, b)| {
            lozenge::value::difference(&a.tensor, &b.tensor, lozenge::value::Closeness::REASSOCIATED)
                .is_none()
        })
}

/// Runs jobs on two threads, one by gcc and the next by clang; every job that fails is told.
fn each<T: Sync>(jobs: &[T], run: impl Fn(&Emulator, &Compiler, &T) -> Result<(), String> + Sync) {
    let compilers = ["gcc", "clang-16"].map(|name| {
        let compiler = Compiler::named(Path::new(name), "this test").expect("`./x setup` installs it");
        (Emulator::build(&compiler).expect("the emulator can be built"), compiler)
    });
    let (next, failures) = (Mutex::new(jobs.iter().enumerate()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((k, job)) = next.lock().expect("no thread has failed").next() else { return };
                    let (emulator, compiler) = &compilers[k % compilers.len()];
                    if let Err(message) = run(emulator, compiler, job) {
                        let command = compiler.command.display();
                        let mut failures = failures.lock().expect("no thread has failed");
                        failures.push(format!("by {command}: {message}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread has failed");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn built(emulator: &Emulator, compiler: &Compiler, case: &Case) -> Result<Built, String> {
    build(emulator, compiler, case).map_err(|e| format!("{}: {} {e:?}", case.name(), e.summary()))
}

/// Every kernel at every setting. Which sizes it is run at beside the ragged ones, and where it is
/// run in 20 orders, goes round.
#[test]
fn kernels_at_every_setting() {
    let jobs: Vec<(usize, usize)> =
        (0..KERNELS.len()).flat_map(|k| (0..SETTINGS.len()).map(move |s| (k, s))).collect();
    each(&jobs, |emulator, compiler, (k, s)| {
        let mut case = Case::new(KERNELS[*k], SETTINGS[*s]);
        // Tiles for the sizes of the run have all cores at work; without sizes there are whole
        // tiles and idle cores.
        let tuned: [Option<&[i64]>; 3] = [Some(&RAGGED), None, Some(&PRIMES)];
        case.tuned = tuned[(k + s) % 3];
        let built = built(emulator, compiler, &case)?;
        let seeds = if (k + s) % SETTINGS.len() == 0 { 0..20 } else { 0..2 };
        built.agrees(&RAGGED, seeds, &equal)?;
        let small = [NOTHING, ONE, PRIMES][(k + s / 2) % 3];
        built.agrees(&small, 1..2, &equal)?;
        if *s == 0 { built.agrees(&PRIMES, 3..5, &equal) } else { Ok(()) }
    });
}

/// The other chip has other names, another order of arguments and four times the local memory.
#[test]
fn kernels_on_the_second_chip() {
    let mut jobs: Vec<(usize, &str, (u32, Parallel))> = ["gemm", "gemver", "trmm", "doitgen", "jacobi-1d"]
        .into_iter()
        .enumerate()
        .map(|(k, kernel)| (k, kernel, SETTINGS[k]))
        .collect();
    // Lines of 8, 4 and 2 cores, and of one row.
    let shared = [("gemm", 2), ("gemm", 5), ("doitgen", 0), ("doitgen", 4)];
    jobs.extend(shared.map(|(kernel, s)| (s, kernel, SETTINGS[s])));
    jobs.push((0, "gemm", (4, Parallel::One)));
    each(&jobs, |emulator, compiler, (k, kernel, setting)| {
        let case = Case {
            chip: &SW26010_PRO,
            tuned: (k % 2 == 0).then_some(&RAGGED[..]),
            ..Case::new(kernel, *setting)
        };
        let built = built(emulator, compiler, &case)?;
        for values in [RAGGED, PRIMES, ONE, NOTHING] {
            built.agrees(&values, 0..3, &equal)?;
        }
        Ok(())
    });
}

/// Planes that take turns, workspaces, loops that begin where the one around them is, steps that
/// rows and columns are part of, scans and histograms: every loop nest on the cores, at small,
/// prime and ragged sizes.
#[test]
fn programs_of_several_regions() {
    type Sizes = [i64; 3];
    let programs: [(&str, &[i64], &[Sizes]); 5] = [
        ("planes", &[5, 67, 41], &[[5, 67, 41], [6, 131, 7], [0, 5, 3], [1, 1, 1], [3, 2, 3], [2, 0, 0]]),
        ("workspaces", &[7, 5, 33], &[[7, 5, 33], [13, 7, 67], [1, 1, 1], [0, 3, 2], [3, 0, 2], [2, 3, 0]]),
        ("factors", &[37], &[[37, 0, 0], [67, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0]]),
        ("counts", &[500, 20], &[[500, 20, 0], [1009, 31, 0], [67, 131, 0], [0, 5, 0], [0, 0, 0], [1, 1, 0]]),
        ("steps", &[37, 29], &[[37, 29, 0], [67, 131, 0], [5, 0, 0], [0, 5, 0], [1, 1, 0], [2, 3, 0]]),
    ];
    let jobs: Vec<(usize, usize)> = (0..programs.len()).flat_map(|p| [0, 1, 5].map(|s| (p, s))).collect();
    each(&jobs, |emulator, compiler, (p, s)| {
        let (name, tuned, values) = programs[*p];
        let folder = "tests/athread/programs";
        let tuned = ((p + s) % 2 == 0).then_some(tuned);
        let case = Case { folder, tuned, ..Case::new(name, SETTINGS[*s]) };
        let built = built(emulator, compiler, &case)?;
        if built.notes.iter().any(|note| note.contains("on the host")) {
            return Err(format!("{}: {:?}", case.name(), built.notes));
        }
        values.iter().try_for_each(|values| built.agrees(values, 0..4, &equal))
    });
}

/// Boxes that several cores need alike, on other numbers of cores: a row of less than eight, three
/// rows, and a number that is no whole rows.
#[test]
fn shares_of_other_lines() {
    let settings = [
        (4, Parallel::Two),
        (5, Parallel::One),
        (24, Parallel::Two),
        (24, Parallel::One),
        (12, Parallel::One),
    ];
    let jobs: Vec<(&str, (u32, Parallel))> = settings
        .into_iter()
        .flat_map(|setting| ["gemm", "doitgen"].map(|kernel| (kernel, setting)))
        .collect();
    each(&jobs, |emulator, compiler, (kernel, setting)| {
        let case = Case { tuned: Some(&RAGGED), ..Case::new(kernel, *setting) };
        let built = built(emulator, compiler, &case)?;
        [RAGGED, PRIMES].iter().try_for_each(|values| built.agrees(values, 1..4, &equal))
    });
}

/// Products with one mapped loop whose operands come several steps ahead, or are broadcast beside
/// rows that take turns: with steps that are fewer than the cores or the steps of a turn, more, and
/// no multiple of them; one tile of columns and several; a second round of tiles; and nothing at
/// all. On five and six rows of cores, too.
#[test]
fn operands_of_later_steps() {
    let large: &[i64] = &[1000, 1100, 1200];
    let (ahead, cast) = ("HELD_CORE_8(lozenge_core, kt + ", "turn_rows(slave_");
    let mut jobs: Vec<(Case, &str)> = Vec::new();
    for (threads, form) in [(64, cast), (48, cast), (40, ahead), (32, cast)] {
        jobs.push((Case { tuned: Some(large), ..Case::new("gemm", (threads, Parallel::One)) }, form));
    }
    jobs.push((Case { tuned: Some(&[800, 900, 1100, 1200]), ..Case::new("2mm", SETTINGS[1]) }, cast));
    each(&jobs, |emulator, compiler, (case, form)| {
        let built = built(emulator, compiler, case)?;
        if !built.slave.contains(form) {
            return Err(format!("{}: there is no `{form}`", case.name()));
        }
        let seeds = if case.kernel == "gemm" && [64, 40].contains(&case.threads) { 0..20 } else { 0..1 };
        built.agrees(&[37, 451, 131, 300], seeds, &equal)?;
        let values =
            [[1030, 225, 9, 65], [16, 230, 59, 61], [1, 1, 1, 1], [0, 5, 3, 2], [5, 0, 3, 2], [5, 3, 0, 2]];
        values.iter().try_for_each(|values| built.agrees(values, 1..2, &equal))
    });
}

/// Triangles of products, one and two in a sum: rows that end inside of a vector, strips of
/// operands that are turned in several pieces, and rows that are not aligned.
#[test]
fn triangles_of_products() {
    let jobs: Vec<(&str, (u32, Parallel))> = [SETTINGS[0], SETTINGS[3]]
        .into_iter()
        .flat_map(|setting| ["syrk", "syr2k"].map(|kernel| (kernel, setting)))
        .collect();
    each(&jobs, |emulator, compiler, (kernel, setting)| {
        let case = Case { tuned: Some(&[140, 120]), ..Case::new(kernel, *setting) };
        let built = built(emulator, compiler, &case)?;
        let values = [[140, 120], [97, 131], [1, 67], [67, 1], [0, 5]];
        values.iter().try_for_each(|values| built.agrees(values, 1..3, &equal))
    });
}

/// A nest with a bound on its sizes, and the one without: below the bound (64 for the 53 that tiles
/// are chosen for), at it and above it, and with sizes 0.
#[test]
fn rows_as_a_whole() {
    let mut jobs: Vec<Case> = Vec::new();
    for setting in [SETTINGS[0], SETTINGS[1], SETTINGS[2], SETTINGS[5], (5, Parallel::One)] {
        jobs.push(Case { tuned: Some(&[67, 41, 53]), ..Case::new("doitgen", setting) });
    }
    // A tile of several rows of both loops, and more columns than rows of cores take turns with.
    jobs.push(Case { tuned: Some(&[20, 150, 131]), ..Case::new("doitgen", SETTINGS[0]) });
    // What is left over of full rounds is a nest of its own: of 20 planes on 16 cores four.
    jobs.push(Case { tuned: Some(&[20, 150, 131]), ..Case::new("doitgen", SETTINGS[5]) });
    // Steps of four rows, which half a row of cores has; and three rows of cores.
    jobs.push(Case { tuned: Some(&[20, 150, 280]), ..Case::new("doitgen", SETTINGS[0]) });
    jobs.push(Case { tuned: Some(&[67, 60, 100]), ..Case::new("doitgen", (24, Parallel::Two)) });
    jobs.push(Case { tuned: Some(&[67, 41, 53]), chip: &SW26010_PRO, ..Case::new("doitgen", SETTINGS[0]) });
    each(&jobs, |emulator, compiler, case| {
        let built = built(emulator, compiler, case)?;
        let bounded = built.notes.iter().filter(|note| note.contains("for np <=")).count();
        if case.tuned == Some(&[20, 150, 131]) && case.parallel == Parallel::One && bounded != 2 {
            return Err(format!("{}: {:?}, not two nests with rows as a whole", built.name, built.notes));
        }
        let seeds = if case.tuned.is_some_and(|sizes| sizes[0] == 20) { 0..20 } else { 1..3 };
        built.agrees(&[17, 11, 63], seeds, &equal)?;
        let values = [
            [13, 41, 64],
            [9, 10, 65],
            [67, 2, 97],
            [2, 19, 161],
            [1, 1, 1],
            [3, 5, 0],
            [0, 5, 3],
            [5, 0, 3],
        ];
        values.iter().try_for_each(|values| built.agrees(values, 1..2, &equal))
    });
}

/// Vectors that all cores need again for each tile, of which each keeps its share: below the bound
/// on the sizes (a multiple of 16), at it and above it, with fewer and more tiles than cores, on
/// one row of cores and several, and with nothing at all.
#[test]
fn vectors_that_stay() {
    let tiled = |kernel: &'static str, threads: u32, tile: &[i64]| {
        let mut case = Case { tuned: Some(&[400]), ..Case::new(kernel, (threads, Parallel::One)) };
        case.request.tile = tile.to_vec();
        case
    };
    let jobs = [
        // The sizes of a benchmark, whose tiles are chosen.
        Case { tuned: Some(&[4000]), ..Case::new("gemver", SETTINGS[5]) },
        tiled("gemver", 8, &[8, 8]),
        tiled("gemver", 24, &[4, 100]),
        tiled("mvt", 32, &[8, 40]),
        Case { chip: &SW26010_PRO, ..tiled("gesummv", 16, &[8, 40]) },
        // Extents that are numbers: nothing is asked.
        Case { folder: "tests/athread/programs", tuned: None, ..tiled("fixed", 16, &[8, 40]) },
    ];
    each(&jobs, |emulator, compiler, case| {
        let built = built(emulator, compiler, case)?;
        let said = if case.kernel == "fixed" { "for all of them stays" } else { "stays for n <= " };
        let told = built.notes.iter().any(|note| note.contains(said));
        if !built.slave.contains("(held_slave_") || !told {
            return Err(format!("{}: no shares stay: {:?}", built.name, built.notes));
        }
        let seeds = if case.kernel == "gemver" { 0..20 } else { 1..3 };
        built.agrees(&[97], seeds, &equal)?;
        let values: [[i64; 1]; 8] = [[397], [400], [401], [417], [801], [2], [1], [0]];
        values.iter().try_for_each(|values| built.agrees(values, 1..2, &equal))
    });
}

/// Sums, products and extrema of all elements: partial results of blocks, combined in their order
/// whatever the order of the cores.
#[test]
fn panels() {
    // Rows and columns of one matrix: at sizes that tiles are chosen for, where rows are longer
    // than that, and with a panel that is not full.
    let mut jobs: Vec<(Case, &[[i64; 2]])> = Vec::new();
    for kernel in ["atax", "bicg", "mvt"] {
        for setting in [SETTINGS[0], SETTINGS[3], SETTINGS[4]] {
            let case = Case { tuned: Some(&[700, 520]), ..Case::new(kernel, setting) };
            jobs.push((case, &[[131, 503], [521, 67], [67, 611], [1, 1]]));
        }
    }
    // Rows that come in pieces: one piece, two that are not full, and more than there is room for.
    for (kernel, setting, values) in [
        ("bicg", SETTINGS[0], &[[1031, 131], [2048, 67], [9001, 7], [0, 3]][..]),
        ("bicg", SETTINGS[2], &[[1024, 37], [1503, 67], [9001, 3]]),
        ("bicg", SETTINGS[5], &[[2053, 23], [9001, 3], [1, 1]]),
        ("mvt", SETTINGS[1], &[[1031, 0], [67, 0], [0, 0]]),
        ("mvt", SETTINGS[4], &[[521, 0], [1, 0]]),
    ] {
        jobs.push((Case { tuned: Some(&[4000, 600]), ..Case::new(kernel, setting) }, values));
    }
    // Panels of columns: rows for all cores, for some, more than they have room for; a panel that
    // is not full, and less than one.
    for (setting, tuned, values) in [
        (SETTINGS[0], 520, &[[520, 0], [523, 0], [577, 0], [131, 0]][..]),
        (SETTINGS[2], 700, &[[700, 0], [701, 0], [711, 0], [0, 0]]),
        (SETTINGS[5], 523, &[[523, 0], [67, 0], [529, 0], [1, 0]]),
    ] {
        jobs.push((Case { tuned: Some(Vec::leak(vec![tuned])), ..Case::new("gemver", setting) }, values));
    }
    each(&jobs, |emulator, compiler, (case, values)| {
        let built = built(emulator, compiler, case)?;
        values.iter().try_for_each(|values| built.agrees(values, 1..4, &equal))
    });
}

#[test]
fn reductions_across_cores() {
    // Element types: rounding allows another order only where that is asked for; integers and
    // extrema need no permission.
    let jobs = [
        ("dot", "double", true, 64),
        ("dot", "int", false, 32),
        ("dot", "long", false, 16),
        ("norms", "double", true, 64),
        ("norms", "float", true, 16),
        ("norms", "double", false, 32),
    ];
    each(&jobs, |emulator, compiler, (kernel, elem, reassociate, threads)| {
        let mut case = Case::new(kernel, (*threads, Parallel::Two));
        case.request.reassociate = *reassociate;
        case.request.preprocessor = vec![format!("-DDATA_TYPE={elem}")];
        let built = built(emulator, compiler, &case)?;
        let close: &(dyn Fn(&[u8], &[u8]) -> bool + Sync) = if *reassociate { &rounded } else { &equal };
        for n in [0, 1, 7, 257, 4099, 30_011] {
            built.agrees(&[n], 0..4, close)?;
        }
        built.agrees(&[9973], 0..20, close)
    });
}

/// Several definitions in one file, with pairs, sums that may be reordered, and one that stays on
/// the host: each against its sequential form.
#[test]
fn definitions_of_one_file() {
    let source = read_source(&golden::root().join("tests/athread/several.loz")).expect("the file is there");
    let request = Request { sizes: vec![("n".into(), 300)], stem: "several".to_owned(), ..files::request() };
    let front = files::open(&source, &request).expect("the file is sound");
    let mut all = athread::map(&front, &request).expect("the definitions can be mapped");
    let files = athread::files(&front, &request, &mut all).expect("there is C for them");
    let originals = loops::Program { functions: all.iter().map(|one| one.original.clone()).collect() };
    let c = pipeline::to_c(&originals, &request, Some("program.h".into())).expect("there is C for one core");
    let compiler = Compiler::find().expect("there is a C compiler");
    let emulator = Emulator::build(&compiler).expect("the emulator can be built");
    let driver = execute::driver(&c.signatures);
    let headers: Vec<(&str, &str)> = files
        .header
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .chain([("program.h", c.header.as_str())])
        .collect();
    let program = emulator
        .program(&Sources {
            host: &files.host,
            more: &[("driver.c", &driver)],
            slave: &files.slave,
            micro_kernels: &files.micro_kernels,
            headers: &headers,
            folder: None,
            flags: &[],
        })
        .expect("the C compiles");
    let (ours, _) = program.executable(&c.signatures, Settings { seed: 7, pro: false, limit: LIMIT });
    let build = execute::Build {
        files: &[("program.c", &c.source)],
        routines: &c.signatures,
        header: &c.header,
        flags: Optimise::Exact.flags(),
        libraries: &[],
    };
    let sequential = execute::Executable::build(&compiler, &build).expect("the C compiles");
    let schedule = execute::Schedule { limit: LIMIT, threads: Some(1), ..execute::Schedule::ONCE };
    for n in [1, 7, 300, 1009] {
        for (k, one) in all.iter().enumerate() {
            let none = BTreeMap::new();
            let given = one.original.sizes.iter().map(|name| (name.clone(), n)).collect();
            let sizes = bind::sizes(&one.original, &given, &BTreeMap::new()).expect("the sizes are sound");
            let inputs =
                bind::inputs(&one.original, &sizes, &BTreeMap::new(), &none, 5).expect("there are data");
            let expected = sequential.run(k, &sizes, &inputs, schedule).expect("it runs").outputs;
            let got = ours.run(k, &sizes, &inputs, schedule).unwrap_or_else(|e| panic!("{e:?}")).outputs;
            assert_eq!(got.len(), expected.len());
            for (a, b) in got.iter().zip(&expected) {
                let what = lozenge::value::difference(a, b, lozenge::value::Closeness::Exact);
                assert_eq!(what, None, "{} at {n}", one.original.name);
            }
        }
    }
    let kernels = files.header.map_or(0, |(_, text)| text.matches("struct ").count());
    assert!(kernels >= 5, "only {kernels} kernels");
}
