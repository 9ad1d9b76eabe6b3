//! Generated C on ranks that `mpirun` starts, against the sequential program, bit by bit; its
//! errors; and every kernel of `tests/c/kernels` on ranks with memories of their own in the
//! interpreter.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use loops::ranks::Grid;
use loops::{Function, Name, ParamMode, Tensor};
use lozenge::pipeline::mpi;
use lozenge::value::{Closeness, difference};
use lozenge::{Ranks, Request, bind, files};

/// A run of the command; what it printed.
fn lozenge(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(["--no-config", "-q"])
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        .current_dir(golden::root())
        .output()
        .expect("the command runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A kernel, options of the run, and whether messages must go.
const RUNS: [(&str, &[&str], bool); 11] = [
    ("gemm", &["--ranks", "4", "--size", "ni=37", "--size", "nj=41", "--size", "nk=29"], true),
    ("gemm", &["--grid", "1x3", "--size", "ni=5", "--size", "nj=2", "--size", "nk=1"], true),
    ("gemm", &["--ranks", "2", "--size", "ni=0", "--size", "nj=3", "--size", "nk=2"], false),
    // Strips that are fetched ahead and passed on, by ranks of which some have nothing to do.
    ("gemm", &["--ranks", "9", "--size", "ni=50", "--size", "nj=7", "--size", "nk=1100"], true),
    ("gemm", &["--grid", "2x3", "--size", "ni=300", "--size", "nj=410", "--size", "nk=1300"], true),
    ("jacobi-2d", &["--ranks", "4", "--size", "tsteps=5", "--size", "n=23"], true),
    ("jacobi-2d", &["--ranks", "7", "--size", "tsteps=2", "--size", "n=12"], true),
    ("lu-right", &["--ranks", "3", "--distribute", "A(cyclic(4), *)", "--size", "n=31"], true),
    ("atax", &["--grid", "4", "--size", "m=19", "--size", "n=23"], true),
    ("seidel-2d", &["--ranks", "2", "--size", "tsteps=3", "--size", "n=17"], true),
    ("dot", &["--ranks", "4", "--reassociate", "--size", "n=1009"], true),
];

#[test]
fn ranks_agree_with_the_sequential_program() {
    for (kernel, options, sends) in RUNS {
        let file = format!("tests/c/kernels/{kernel}.c");
        let mut arguments = vec!["run", &file, "--target", "mpi", "--check"];
        arguments.extend(options);
        let output = lozenge(&arguments);
        let text = said(&output);
        assert!(output.status.success(), "{kernel} {options:?}: {text}");
        assert!(text.contains("the program on ranks and the sequential program agree"), "{kernel}: {text}");
        assert_eq!(!text.contains("\n0 messages"), sends, "{kernel} {options:?}: {text}");
    }
}

#[test]
fn errors_end_all_ranks_with_a_message() {
    let scratch = files::Scratch::new().expect("a folder");
    let folder = scratch.path().join("scale");
    let source = scratch.path().join("scale.c");
    let text = "void scale(int n, double a[restrict n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      a[i][j] = 2 * a[i][j];\n#pragma endscop\n}\n";
    std::fs::write(&source, text).expect("a file");
    let (source, out) = (source.display().to_string(), folder.display().to_string());
    let output = lozenge(&["compile", &source, "--target", "mpi", "-o", &out]);
    assert!(output.status.success(), "{}", said(&output));
    let built = Command::new("make").current_dir(&folder).output().expect("make");
    assert!(built.status.success(), "{}", said(&built));
    let short = scratch.path().join("short.npy");
    let tensor = Tensor::random(&loops::Scalar::F32.into(), vec![3, 3], 1);
    std::fs::write(&short, lozenge::npy::write(&tensor)).expect("a file");
    let file = format!("a={}", short.display());
    for (arguments, expected) in [
        (vec!["--size", "n=3", "--in", file.as_str()], "holds elements of type `<f4`, and `a` has `f8`"),
        (vec!["--size", "n=3", "--grid", "3"], "is missing: --in a=FILE.npy"),
        (vec!["--size", "n=3", "--fill", "1", "--grid", "3"], "a grid of 3 x 1 does not have 2 ranks"),
        (vec!["--size", "n=3", "--in", "a=none.npy"], "none.npy"),
        (vec!["--size", "m=3"], "there is no size `m=3`"),
        (vec!["--size", "n=99999999999", "--fill", "1"], "too large for its memory"),
    ] {
        let mut command = Command::new("mpirun");
        command.args(["--oversubscribe", "-n", "2", "./scale_main"]).args(&arguments).current_dir(&folder);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let output = command.output().expect("mpirun");
        let text = said(&output);
        assert!(!output.status.success() && text.contains(expected), "{arguments:?}: {text}");
        assert!(text.contains("rank "), "{text}");
    }
}

/// Sizes at which kernels run in the interpreter: all the same, or all different.
fn sizes(function: &Function, extent: i64) -> BTreeMap<Name, i64> {
    let of = |k: usize| if extent > 2 { extent + k as i64 } else { extent };
    function.sizes.iter().enumerate().map(|(k, name)| (name.clone(), of(k))).collect()
}

/// Arguments at these sizes; none if they are not those that the function takes.
fn arguments(function: &Function, sizes: &BTreeMap<Name, i64>) -> Option<BTreeMap<Name, Tensor>> {
    let params = function.params.iter().filter(|p| p.mode != ParamMode::Out);
    let of = |param: &loops::Param| {
        Some((param.name.clone(), Tensor::random(&param.elem, bind::shape(param, sizes).ok()?, 7)))
    };
    params.map(of).collect()
}

#[test]
fn every_kernel_computes_the_same_on_ranks_with_memories_of_their_own() {
    let folder = golden::root().join("tests/c/kernels");
    let kernels = files::find(Path::new(&folder), &["c"]).expect("kernels");
    let (line, plane): (Vec<_>, Vec<_>) = kernels.iter().enumerate().partition(|(k, _)| k % 2 == 0);
    let count = thread::scope(|scope| {
        let halves = [(line, vec![3]), (plane, vec![2, 2])];
        let halves = halves.map(|(files, grid)| {
            thread::Builder::new()
                .stack_size(1 << 28)
                .spawn_scoped(scope, move || {
                    files.iter().map(|(_, file)| on_grid(file, &grid)).sum::<usize>()
                })
                .expect("a thread")
        });
        halves.map(|half| half.join().expect("all agree")).iter().sum::<usize>()
    });
    assert!(count > 100, "{count}");
}

/// The definitions of a kernel on a grid; how many there are.
fn on_grid(file: &Path, grid: &[u32]) -> usize {
    let source = files::read_source(file).expect("a file");
    let request = Request { target: lozenge::Target::named("mpi").expect("mpi"), ..files::request() };
    let Ok(front) = files::open(&source, &request) else { return 0 };
    let ranks = Ranks { grid: Some(grid.to_vec()), ..Ranks::default() };
    let all = mpi::map(&front, &Request { ranks, ..request });
    let all = all.unwrap_or_else(|failure| panic!("{}: {}", source.path, failure.summary()));
    let grid = Grid(grid.iter().map(|n| i64::from(*n)).collect());
    all.iter().for_each(|one| compare(one, &grid));
    all.len()
}

/// Bytes and steps of a run in the interpreter.
const MOST_BYTES: u128 = 1 << 18;
const MOST_STEPS: u64 = 30_000;

fn compare(one: &mpi::OnRanks, grid: &Grid) {
    let function = &one.original;
    for extent in [1, 7] {
        let sizes = sizes(function, extent);
        // Some kernels have large arrays of constant extents.
        if bind::bytes(function, &sizes) > MOST_BYTES {
            continue;
        }
        let Some(args) = arguments(function, &sizes) else { continue };
        // Random subscripts may be outside of their arrays.
        let options = loops::Options { max_steps: MOST_STEPS, ..loops::Options::default() };
        let Ok(expected) = loops::run(function, &sizes, args.clone(), &options) else { continue };
        let program = &one.distributed.program;
        let ran = loops::ranks::run(program, grid, &sizes, &args, 11).unwrap_or_else(|d| {
            panic!("{} at {sizes:?} on {grid:?}: {d} {:?}\n{program}", function.name, d.notes)
        });
        let apart = one.distributed.reassociated || lozenge::check::reassociates(function);
        let closeness = if apart { Closeness::REASSOCIATED } else { Closeness::Exact };
        for (name, tensor) in &expected {
            let differ = difference(&ran.outputs[name], tensor, closeness);
            assert_eq!(differ, None, "`{name}` of {} at {sizes:?} on {grid:?}\n{program}", function.name);
        }
    }
}
