//! The command line: names, options, help.
//!
//! Not here: what the commands do (`command`).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use targets::Stage;
use targets::athread::Parallel;

use crate::failure::Failure;
use crate::request::Request;
use crate::target::Target;

mod choice;
mod fuzz_arguments;
mod library;
mod look;
mod model_arguments;
mod polyhedral;
mod prove_arguments;
mod ranks;
mod settings;
mod tune_arguments;

pub use choice::{Choice, Mode};
pub use fuzz_arguments::{Fuzz, FuzzOf};
pub use library::Library;
pub use look::Look;
pub(crate) use look::{Completions, Man};
pub use model_arguments::{CheckRules, Generate, Memory, Optimize};
pub use polyhedral::{Deps, Explore, Poly, Schedule, ScheduleForm, Show};
pub use prove_arguments::Proof;
pub(crate) use prove_arguments::Prove;
pub use ranks::RanksOptions;
pub use settings::TargetSettings;
pub use tune_arguments::Tune;

use choice::for_target;
use settings::{all_targets, by_target, parallel, stages};

/// Compiler of functional matrix programs and C loop nests to fast parallel C, every step visible
/// and checked.
#[derive(Parser, Debug)]
#[command(name = "lozenge", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Print results and diagnostics as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing of how far a long command is.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Read no configuration file (lozenge.toml in the folder of the input, or above it).
    #[arg(long, global = true)]
    pub no_config: bool,
    /// The C compiler [default: `CC`, else gcc, cc or clang].
    #[arg(long, global = true, value_name = "COMMAND")]
    pub cc: Option<PathBuf>,
    /// The machine that code is for: a description that ships (`lozenge machine --list`), or a file
    /// [default: this machine].
    #[arg(long, global = true, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  lozenge run library/blas.loz --def dot --size n=1000000 --check
  lozenge compile library/products.loz --def sproduct_fast -o product.c
  lozenge explain library/blas.loz --def dot
  lozenge test library

Exit codes:
  0  done
  1  the input was refused (`lozenge explain CODE` shows the page of an error)
  2  the command line makes no sense
  3  a comparison or a test failed
  4  something that is needed is missing: a C compiler, memory, a writable folder";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Translate a program to C, or print one of the stages on the way.
    Compile(Compile),
    /// Compile and link C as the system's compiler does, with its options; marked loop nests are
    /// translated first.
    #[command(disable_help_flag = true)]
    Cc(Cc),
    /// Compile a definition, run it on real arrays, and compare the results where asked.
    Run(Run),
    /// Show how a definition is translated, rule by rule, or what was done with loops; or the page
    /// of an error code.
    Explain(Explain),
    /// Read programs, C with marked loops, models and rules, and say what would be refused.
    Check(Check),
    /// Run the test cases that stand in the comments of programs.
    Test(Test),
    /// Measure the benchmarks that stand in the comments of programs, against named references.
    Bench(Bench),
    /// Measure schedules of a program, and keep the fastest in a file beside it that compile reads.
    Tune(Tune),
    /// Put random programs through every stage and compare the results.
    Fuzz(Fuzz),
    /// Let Coq prove that the loops of a program compute what it says; or write the certificate.
    Prove(Prove),
    /// Write a model in a well-known shape with random weights as an ONNX file, or list them.
    Generate(Generate),
    /// Rewrite a model by substitution rules until none applies.
    Optimize(Optimize),
    /// Check substitution rules: models before and after are evaluated and compared.
    CheckRules(CheckRules),
    /// Format functional programs and rule files.
    Fmt(Fmt),
    /// Evaluate an expression over integer sets and maps.
    Poly(Poly),
    /// Print the dependences of a loop nest.
    Deps(Deps),
    /// Print the schedule of a loop nest in one of its representations.
    Schedule(Schedule),
    /// Draw the schedule of a loop nest (instances, order, tiles, dependences, and the trees), or
    /// the graph of a model.
    Show(Show),
    /// List the passes on loop programs, and the pipelines that are made of them.
    Passes,
    /// Print the description of this machine, or of the one that `--machine` names, as `--machine`
    /// reads it.
    Machine(Machine),
    /// Write a page that shows the stages of a program or model side by side, and what was done
    /// with it.
    Explore(Explore),
    /// Print the completions of this command for a shell.
    Completions(Completions),
    /// Write a manual page for each command.
    Man(Man),
    /// Serve an editor over standard input and output, by the Language Server Protocol.
    Lsp,
}

/// Options of `lozenge machine`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge machine > mine.toml                 this machine, to be edited
  lozenge machine --machine avx512            one that ships
  lozenge compile k.c --machine mine.toml")]
pub struct Machine {
    /// The names of the descriptions that ship.
    #[arg(long)]
    pub list: bool,
}

/// `lozenge compile`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge compile dot.loz                         the C of the only definition, to the standard output
  lozenge compile dot.loz --emit derivation       every step of the translation with its rule
  lozenge compile dot.loz -o dot.c                the C to dot.c
  lozenge compile dot.loz --emit header -o dot.h  its declarations to dot.h
  lozenge compile dot.loz --mode paper --emit loops
  lozenge compile dot.loz --shared -o libdot.so   a library, its header libdot.h, and libdot.json

Files: .loz functional program, .c C with `#pragma scop` regions, .loops loop program in textual form.")]
pub struct Compile {
    /// The program.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Target of the generated code.
    #[arg(long, value_parser = all_targets(), default_value = Target::default().name())]
    pub target: Target,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub settings: TargetSettings,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub ranks: RanksOptions,
    /// athread: number of cores [default: 64].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Value of a named extent of a model's inputs; athread: of a size that tile sizes are chosen
    /// for (the code is right for all). May be given several times.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// Stage to print instead of C.
    #[arg(long, value_parser = stages())]
    pub emit: Option<Stage>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: Look,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub memory: Memory,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub library: Library,
    /// Write to a file (whole or not at all) instead of the standard output; for athread and mpi to
    /// a folder.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

impl Compile {
    /// What the options ask for.
    ///
    /// # Errors
    /// As [`Choice::request`].
    pub fn request(&self) -> Result<Request, Failure> {
        Ok(Request {
            threads: self.threads,
            ranks: self.ranks.request(),
            ..for_target(&self.choice, self.target, &self.settings, &self.sizes, &self.file)?
        })
    }
}

/// `lozenge cc`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  make CC=\"lozenge cc\"                       a program whose makefile knows nothing of this command
  lozenge cc -O3 -c kernels.c                  regions between `#pragma scop` and `#pragma endscop`
  LOZENGE_AUTO=1 make CC=\"lozenge cc\"       every loop nest that can be taken, without pragmas
  LOZENGE_REMARKS=1 lozenge cc -c kernels.c    what stays as it is, and why

All words go to the compiler (`LOZENGE_CC`, else cc), but for --lozenge-auto, --lozenge-remarks and --lozenge-assume-no-alias. The
result runs in parallel; LOZENGE_OPENMP=0 turns that off. Exit codes are those of the compiler.

`lozenge c++` is the same with the compiler of C++ (`LOZENGE_CXX`, else c++).")]
pub(crate) struct Cc {
    /// What the compiler gets.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    pub words: Vec<std::ffi::OsString>,
}

/// What results are compared with.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Against {
    /// The evaluator of programs and models, and the interpreter of loops.
    Evaluator,
    /// Onnxruntime.
    Ort,
}

/// `lozenge run`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge run dot.loz --size n=1000000                       random data, time of the run
  lozenge run dot.loz --arg xs=x.npy --arg ys=y.npy          sizes follow from the arrays
  lozenge run gemm.loz --def gemm --size m=64 --size n=64 --size k=64 --check
  lozenge run scale.loz --arg xs=x.npy --out result.npy
  lozenge run model.onnx --check=ort                         differences from onnxruntime
  lozenge run model.onnx --profile --reps 20 --threads 1     where the time goes
  lozenge run gemm.c --target mpi --ranks 4 --size ni=500 --size nj=500 --size nk=500 --check
  lozenge run gemm.c --target athread -DNI=200 -DNJ=220 -DNK=240 --threads 32 --parallel 1d

For athread, the host and slave files run on emulated cores, every array that comes out is compared with the sequential program, and the
time is modelled. For mpi, `mpirun` starts the ranks, and --check compares bits with the sequential program. A C file with a main function runs as a whole, and its sizes are set by -D; else data is random as elsewhere.

Arrays are .npy files of NumPy: floating-point numbers of 4 and 8 bytes, integers, truth values, records of two of these for pairs;
rows or columns first, bytes in either order. FILE.npz:MEMBER is a member of an archive, FILE.npz the one with the parameter's name.
--check compares the compiled program with the evaluator of the language and the interpreter of the loop program: to the
last bit, or within 1e-4 (f32) and 1e-10 (f64) of the largest magnitude where the program lets a reduction be reordered.")]
pub struct Run {
    /// The program.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Target.
    #[arg(long, value_parser = all_targets(), default_value = Target::default().name(), help = by_target(|target| target.backend().runs()))]
    pub target: Target,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub settings: TargetSettings,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub ranks: RanksOptions,
    /// Value of a size parameter; may be given several times.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// Value for a parameter: a file, or a number or list (`r=0.05`, `xs=[1,2]`); may be given
    /// several times. Parameters without one get random data.
    #[arg(long = "arg", value_name = "NAME=FILE|VALUE", value_parser = argument)]
    pub arguments: Vec<(String, PathBuf)>,
    /// Write the result to a file.
    #[arg(long, value_name = "FILE.npy")]
    pub out: Option<PathBuf>,
    /// Seed of the random data; athread: of the order of the cores too.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Compare with the evaluator and the interpreter; models: with `=ort` with onnxruntime, which
    /// Python runs.
    #[arg(long, value_enum, value_name = "WITH", num_args = 0..=1, require_equals = true, default_missing_value = "evaluator")]
    pub check: Option<Against>,
    /// Models: the time of each call, with the node that it was made of.
    #[arg(long)]
    pub profile: bool,
    /// Number of OpenMP threads [default: what OpenMP chooses]; athread: of cores [default: 64].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Run this many times and print the median.
    #[arg(long, value_name = "R", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub reps: u32,
    /// Time limit of the compiled program.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub memory: Memory,
}

impl Run {
    /// What the options ask for.
    ///
    /// # Errors
    /// As [`Choice::request`].
    pub fn request(&self) -> Result<Request, Failure> {
        let request = for_target(&self.choice, self.target, &self.settings, &self.sizes, &self.file)?;
        // Of other targets it is the number of threads of the run.
        let threads = self.threads.filter(|_| self.target.abilities().threads);
        Ok(Request { threads, ranks: self.ranks.request(), ..request })
    }
}

/// `lozenge explain`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge explain dot.loz --def dot      the derivation, for reading
  lozenge explain kernel.c               what was done with the loops of each region, and why not more
  lozenge explain X0103                  the page of an error
  lozenge explain --list                 all error codes")]
pub(crate) struct Explain {
    /// A program, or an error code.
    #[arg(required_unless_present = "list")]
    pub what: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// List all error codes.
    #[arg(long)]
    pub list: bool,
    /// Count the bytes that the text and the generated order move behind each cache, beside what
    /// any order moves at least.
    #[arg(long, conflicts_with = "list")]
    pub movement: bool,
    /// With `--movement`: the value of a size; may be given several times [default: as large as a
    /// count of some seconds allows].
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size, requires = "movement")]
    pub sizes: Vec<(String, i64)>,
}

/// `lozenge check`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge check program.loz             every definition, as far as loops
  lozenge check src                     every program, marked C file, model and rule file below src

The exit code is 1 if anything is refused.")]
pub struct Check {
    /// Files or folders.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Models: what only onnxruntime takes is refused.
    #[arg(long)]
    pub strict: bool,
}

/// `lozenge test`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge test library                   every case of every program below library
  lozenge test library --filter gemm     only cases whose text contains `gemm`

A case is a comment such as `-- test dot xs=[1, 2] ys=[3, 4] => 11`; the guide describes the forms.")]
pub struct Test {
    /// Files or folders.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Only cases whose line contains this text.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Seed of the random data.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Compile with the address and undefined-behaviour sanitizers.
    #[arg(long)]
    pub sanitize: bool,
    /// Compile and run every case with this C compiler, too; may be given several times.
    #[arg(long, value_name = "COMMAND")]
    pub also_cc: Vec<PathBuf>,
    /// C programs: updates may be reordered; results are compared within 1e-9 of the largest
    /// magnitude of an array.
    #[arg(long)]
    pub reassociate: bool,
    /// C programs without pragmas: every loop nest that can be taken is tested.
    #[arg(long)]
    pub auto: bool,
}

/// The forms of C kernels that are measured.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extents {
    /// As they are written: the function takes its sizes.
    #[default]
    Parameters,
    /// With macros of numbers in the place of these.
    Constants,
    /// Both.
    Both,
}

/// `lozenge bench`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge bench benches/paper --threads 1,2
  lozenge bench benches/paper --filter dot --quick
  lozenge bench tests/c/kernels --target athread --filter gemm
  lozenge bench gemm.c --target mpi --simulate --ranks 1,64,1024
  lozenge bench tests/c/kernels --outputs pluto=outputs/pluto
  lozenge bench tests/c/kernels --extents both --threads 1,2

A benchmark is a comment such as `-- bench dot n=1000000 against=openmp`; for x.loz the references are functions
`DEFINITION__NAME` of x.c beside it. Ratios are the time of a variant over ours: above 1 ours is faster.")]
pub struct Bench {
    /// Files or folders.
    #[arg(required_unless_present_any = ["rewriting", "costs"])]
    pub paths: Vec<PathBuf>,
    /// Only benchmarks whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Numbers of threads to measure at [default: 1]; athread: of cores [default: 16,32,64].
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Measurements of each program; they are interleaved.
    #[arg(long, value_name = "R", default_value_t = 10, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub reps: u32,
    /// Small sizes and few repetitions.
    #[arg(long)]
    pub quick: bool,
    /// C programs: updates may be reordered.
    #[arg(long)]
    pub reassociate: bool,
    /// C kernels: extents as parameters of their functions, as constants (macros), or one form
    /// after the other.
    #[arg(long, value_enum, default_value_t)]
    pub extents: Extents,
    /// C programs: what another source-to-source compiler made of them, measured beside ours: a
    /// folder with KERNEL.c for some of the kernels, each a whole program or the text of the
    /// region; may be given several times.
    #[arg(long, value_name = "NAME=DIR", value_parser = outputs)]
    pub outputs: Vec<(String, PathBuf)>,
    /// Target.
    #[arg(long, value_parser = all_targets(), default_value = Target::default().name(), help = by_target(|target| target.backend().measures()))]
    pub target: Target,
    /// mpi: numbers of ranks to measure at [default: 1,2,4].
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub ranks: Vec<u32>,
    /// mpi: value of a size parameter; may be given several times.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// mpi: model the time on a cluster instead, by SimGrid, at more ranks [default: 1,4,16,64,256,
    /// 1024]; `--size` is that of one rank, `--machine` the cluster [default: stampede].
    #[arg(long)]
    pub simulate: bool,
    /// Athread: the sizes to run at [default: the four of the document; with --quick, large].
    #[arg(long, value_enum, value_name = "SIZES", value_delimiter = ',')]
    pub at: Vec<KernelSizes>,
    /// Athread: with one parallel loop or with two [default: both; with --quick, two].
    #[arg(long, value_parser = parallel(), value_delimiter = ',')]
    pub parallel: Vec<Parallel>,
    /// Athread: orders of the cores in which every setting runs; all must give the same arrays and
    /// the same modelled time.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Athread: keep results in this file; what was run there already, with the same files, is not
    /// run again.
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Measure the translation instead: of every definition, and of generated programs of up to
    /// 10,000 combinators; or of C programs; athread: of its kernels at every setting.
    #[arg(long)]
    pub translation: bool,
    /// Measure the rewriting of models instead: whole `optimize` commands on generated models of up
    /// to 100,000 nodes.
    #[arg(long, conflicts_with = "translation")]
    pub rewriting: bool,
    /// Measure what calls of operators take instead, beside the costs that rewriting goes by.
    #[arg(long, conflicts_with_all = ["translation", "rewriting"])]
    pub costs: bool,
    /// C programs: measure orders of their loops beside what the cost model predicts of each.
    #[arg(long, conflicts_with_all = ["translation", "rewriting", "costs"])]
    pub model: bool,
    /// Count instead what programs move behind each cache, over what any order moves at least.
    #[arg(long, conflicts_with_all = ["translation", "rewriting", "costs", "model"])]
    pub movement: bool,
}

/// Sizes of the linear-algebra kernels for `bench --target athread`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KernelSizes {
    /// Some hundreds: for many orders of the cores.
    Medium,
    /// LARGE of PolyBench.
    Large,
    /// Rounded up to multiples of 32.
    LargeUp,
    /// EXTRALARGE of PolyBench.
    Extra,
    /// Rounded up to multiples of 32.
    ExtraUp,
}

impl Bench {
    /// The numbers of threads, or one thread.
    pub(crate) fn threads_or_one(&self) -> &[u32] {
        if self.threads.is_empty() { &[1] } else { &self.threads }
    }
}

/// `lozenge fmt`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge fmt library                    format every .loz and .gsl file below library
  lozenge fmt --check library            only say which are not formatted; exit code 3 if there are any")]
pub(crate) struct Fmt {
    /// Files or folders.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Change nothing; exit with 3 if a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

fn size(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("the form is NAME=NUMBER, such as n=1000")?;
    let value = value.trim().replace('_', "");
    let number = value.parse().map_err(|_| format!("`{value}` is not a 64-bit integer"))?;
    Ok((name.trim().to_owned(), number))
}

fn outputs(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.trim().is_empty() && !folder.is_empty() => {
            Ok((name.trim().to_owned(), PathBuf::from(folder)))
        }
        _ => Err("the form is NAME=DIR, such as pluto=outputs/pluto".to_owned()),
    }
}

fn argument(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("the form is NAME=FILE.npy, such as xs=x.npy")?;
    Ok((name.trim().to_owned(), PathBuf::from(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_first_examples_are_there_to_be_tried() {
        let mut programs = 0;
        for line in EXAMPLES.lines().take_while(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(file) = words.iter().find(|word| word.ends_with(".loz")) else { continue };
            let text = std::fs::read_to_string(golden::root().join(file)).expect(file);
            let name = words.iter().skip_while(|word| **word != "--def").nth(1).expect(line);
            let defined = |keyword: &str| text.contains(&format!("\n{keyword} {name} "));
            assert!(defined("def") || defined("strategy"), "{line}");
            programs += 1;
        }
        assert_eq!(programs, 3);
    }
}
