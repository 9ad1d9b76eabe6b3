//! The target `mpi`: programs for several ranks ([`loops::ranks`]) as C with MPI between ranks and
//! OpenMP within one.
//!
//! The files: `STEM.c` and `STEM.h` with a function for callers whose arrays are distributed
//! already, `STEM_main.c` with a program that reads and writes npy files in parallel, two headers
//! that all programs share (`lozenge_ranks.h`, `lozenge_main.h`), and a Makefile.
//!
//! It only prints. Where arrays are and what moves is in the program for ranks.

mod boxes;
mod charge;
mod index;
mod interface;
pub mod kernels;
mod main_file;
mod shared;
mod write;

use loops::program::{ArrayDecl, Storage};
use loops::ranks::{At, Placed, RankProgram, Run, Step};
use loops::{Code, Diagnostic, Function, Param, ParamMode, Program};

use crate::openmp;
use crate::target::{Abilities, Emission, File, Output, Stage, Target};
use kernels::Kernel;
use write::Writer;

pub use kernels::{Size, kernels};
pub use shared::{Shared, shared};

/// The target `mpi`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mpi;

/// The headers that all programs share: blocks and boxes, and messages.
pub(crate) const RANKS_HEADER: &str = include_str!("lozenge_ranks.h");
pub(crate) const MESSAGES_HEADER: &str = include_str!("lozenge_messages.h");
/// The headers of programs for ranks, by their names.
pub const HEADERS: &[(&str, &str)] =
    &[("lozenge_ranks.h", RANKS_HEADER), ("lozenge_messages.h", MESSAGES_HEADER)];
/// What takes the place of memory and of computing in simulations.
const SIMULATED_HEADER: &str = include_str!("lozenge_simulated.h");
/// The header of programs around functions.
pub(crate) const MAIN_HEADER: &str = include_str!("lozenge_main.h");

/// Flags of the C compiler: results are those of the sequential program to the last bit.
pub const FLAGS: &[&str] = &["-O3", "-march=native", "-ffp-contract=off", "-fopenmp"];

impl Target for Mpi {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn description(&self) -> &'static str {
        "C with MPI between ranks and OpenMP within a rank, for clusters"
    }

    fn stages(&self) -> &'static [Stage] {
        &[Stage::Loops, Stage::C]
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            sizes: true,
            mapping: true,
            ranks: true,
            folder: true,
            models: true,
            ..Abilities::default()
        }
    }

    fn without_effect(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "--schedule FILE",
            "remove the option; which arrays are cut, and how, is chosen by `--distribute`",
        )]
    }

    /// Functions that were not distributed run on one rank.
    fn emit(&self, functions: &[&Function], emission: &Emission) -> Result<Output, Diagnostic> {
        let mut all = Vec::new();
        for function in functions {
            let program = on_one_rank(function);
            let kernels = kernels(&program);
            all.push(Ready { program, kernels });
        }
        files(&all, emission.stem)
    }
}

/// A program for ranks, and the loops of its runs as they are to be printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ready {
    /// The program.
    pub program: RankProgram,
    /// For each run its kernel; sizes and parameters are those of [`kernels`].
    pub kernels: Vec<Kernel>,
}

/// A function as it stands, on rank 0.
pub(crate) fn on_one_rank(function: &Function) -> RankProgram {
    let placed = |param: &Param| {
        let (name, elem, dims) = (param.name.clone(), param.elem.clone(), param.dims.clone());
        let rank = dims.len();
        let array = ArrayDecl { name, elem, dims, storage: Storage::Auto };
        Placed { array, mode: Some(param.mode), cut: vec![None; rank], halo: vec![(0, 0); rank] }
    };
    let places: Vec<Placed> = function.params.iter().map(placed).collect();
    let mut body = vec![Step::Run(Run::new(At::First, function.body.clone()))];
    for placed in places.iter().filter(|p| p.mode != Some(ParamMode::In)) {
        let ranges = placed.array.dims.iter().map(|n| (loops::Expr::Int(0), n.clone())).collect();
        let what = loops::ranks::Elements { array: placed.array.name.clone(), ranges, when: None };
        body.push(Step::Return(loops::ranks::Return { what, from: None, at: At::First }));
    }
    let interface = Function { body: Vec::new(), ..function.clone() };
    RankProgram { interface, axes: 1, cuts: Vec::new(), places, body }
}

/// The files of programs.
///
/// # Errors
/// `T0008`: arrays of pairs, or of more dimensions than the runtime has; what the target `openmp`
/// refuses in the loops of a rank.
pub fn files(all: &[Ready], stem: &str) -> Result<Output, Diagnostic> {
    let stem = crate::stem(stem);
    let prefixes = openmp::names::function_names(all.iter().map(|one| one.program.interface.name.as_str()));
    let functions: Vec<Function> =
        all.iter().flat_map(|one| one.kernels.iter().map(|kernel| kernel.function.clone())).collect();
    let options = openmp::Options { local: true, ..openmp::Options::default() };
    let emitted = openmp::emit(&Program { functions }, &options)?;
    let mut signatures = emitted.signatures.as_slice();
    let mut source = format!("{}\n#include \"lozenge_messages.h\"\n\n", emitted.source.trim_end());
    let mut header = header_begin(&stem);
    let mut mains = Vec::new();
    for (one, prefix) in all.iter().zip(&prefixes) {
        check(&one.program)?;
        let (own, rest) = signatures.split_at(one.kernels.len());
        signatures = rest;
        let writer = Writer::new(&one.program, &one.kernels, own, prefix, false);
        header.push_str(&main_file::describe(&one.program, &writer));
        let function = writer.function();
        mains.push((prefix.clone(), main_file::text(&one.program, &writer, &stem)));
        source.push_str(&writer.text());
        source.push_str(&function);
        source.push('\n');
    }
    header.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    let mut files = vec![File::new(format!("{stem}.c"), source), File::new(format!("{stem}.h"), header)];
    let programs: Vec<String> = match mains.as_slice() {
        [_] => vec![format!("{stem}_main")],
        several => several.iter().map(|(prefix, _)| format!("{stem}_{prefix}_main")).collect(),
    };
    for (name, (_, text)) in programs.iter().zip(&mains) {
        files.push(File::new(format!("{name}.c"), text.clone()));
    }
    files.push(File::new("lozenge_ranks.h", RANKS_HEADER));
    files.push(File::new("lozenge_messages.h", MESSAGES_HEADER));
    files.push(File::new("lozenge_main.h", MAIN_HEADER));
    files.push(File::new("Makefile", makefile(&stem, &programs)));
    Ok(Output { files, shown: 0, notes: Vec::new() })
}

/// The macro that is defined where a program is built for SimGrid's SMPI.
pub const SIMULATED: &str = "LOZENGE_SIMULATED";

/// The files of a program for a simulation: its ranks exchange messages of the same sizes, without
/// content, and say what their loops cost instead of running them.
///
/// # Errors
/// As [`files`].
pub fn simulated(program: &RankProgram, stem: &str) -> Result<Output, Diagnostic> {
    check(program)?;
    let stem = crate::stem(stem);
    let prefixes = openmp::names::function_names([program.interface.name.as_str()].into_iter());
    let writer = || Writer::new(program, &[], &[], &prefixes[0], true);
    let main = main_file::text(program, &writer(), &stem);
    let source = format!("#include \"lozenge_messages.h\"\n\n{}", writer().text());
    let files = vec![
        File::new(format!("{stem}.c"), source),
        File::new(format!("{stem}_main.c"), main),
        File::new("lozenge_ranks.h", RANKS_HEADER),
        File::new("lozenge_messages.h", MESSAGES_HEADER),
        File::new("lozenge_main.h", MAIN_HEADER),
        File::new("lozenge_simulated.h", SIMULATED_HEADER),
    ];
    Ok(Output { files, shown: 0, notes: Vec::new() })
}

/// Dimensions that the runtime has.
const MOST_DIMS: usize = 8;

/// `T0008`
fn check(program: &RankProgram) -> Result<(), Diagnostic> {
    for placed in &program.places {
        let name = &placed.array.name;
        if !write::is_plain(&placed.array.elem) {
            let message = format!("`{name}` is an array of pairs, which ranks do not exchange");
            return Err(Diagnostic::general(Code("T0008"), message).help("use two arrays"));
        }
        if placed.array.dims.len() > MOST_DIMS {
            let message = format!("`{name}` has more than {MOST_DIMS} dimensions");
            return Err(Diagnostic::general(Code("T0008"), message).help("join two of its dimensions"));
        }
    }
    Ok(())
}

fn header_begin(stem: &str) -> String {
    let guard: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let guard = format!("LOZENGE_{}_RANKS_H", guard.to_uppercase());
    format!(
        "#ifndef {guard}\n#define {guard}\n\n#include <mpi.h>\n#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
    )
}

fn makefile(stem: &str, programs: &[String]) -> String {
    let flags = FLAGS.join(" ");
    let mut text = format!(
        "# make: the program; make {stem}.o: the function for programs with distributed arrays.\nCC = mpicc\nCFLAGS = {flags}\n\nall: {}\n\n",
        programs.join(" ")
    );
    for program in programs {
        text.push_str(&format!(
            "{program}: {program}.c {stem}.c {stem}.h lozenge_ranks.h lozenge_messages.h lozenge_main.h\n\t$(CC) $(CFLAGS) -o $@ {program}.c -lm\n\n"
        ));
    }
    text.push_str(&format!(
        "{stem}.o: {stem}.c {stem}.h lozenge_ranks.h lozenge_messages.h\n\t$(CC) $(CFLAGS) -c {stem}.c\n\nclean:\n\trm -f {} {stem}.o\n\n.PHONY: all clean\n",
        programs.join(" ")
    ));
    text
}
