//! The target `openmp`: readable C99 with OpenMP pragmas.
//!
//! Each function of a loop program becomes a C function
//! `int name(int64_t n, …, const float *restrict a, …, float *restrict out)`: size parameters
//! first, then the parameters in order; arrays are pointers to their first element in row-major
//! order, incoming scalars are values, outgoing scalars are pointers. The result is 0, or 1 if
//! memory ran out (outputs are then undefined), or 2 if the sizes violate the function's
//! assumptions. Arrays must not overlap.
//!
//! Compiled without contraction of products and sums (`-ffp-contract=off`) and without
//! `-ffast-math`, a function computes bit for bit what the reference interpreter computes, loops
//! with reductions excepted.
//!
//! What is deliberately not here: no decision about loops (order, tiles, which run in parallel) and
//! no file.

mod adapter;
mod extremes;
mod function;
mod halves;
pub(crate) mod harness;
mod helpers;
mod imbalance;
mod index_arithmetic;
mod integers;
mod lanes;
mod loop_form;
mod lower;
mod masked_loads;
mod memory;
pub(crate) mod names;
pub(crate) mod overflow_tests;
mod pairs;
mod parallel;
mod partial_results;
mod ranges;
mod region;
pub(crate) mod scalars;
mod scope;
mod stmt;
mod tile_sums;
mod transpositions;
pub(crate) mod types;
mod usage;
mod vectors;
mod wide_values;
mod work;

use std::collections::BTreeSet;

use loops::{Diagnostic, Elem, Function, ParamMode, Program};

use crate::c::CExpr;
use crate::c_print::{Layout, Printer};
use crate::target::{Abilities, Emission, Output, Stage, Target};
pub use region::{
    RegionArray, RegionNames, RegionText, SizeTest, emit_region, region_condition, region_text,
};
pub use scope::Member;

use helpers::Helper;
use types::Structs;

/// The target `openmp`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpenMp;

impl Target for OpenMp {
    fn name(&self) -> &'static str {
        "openmp"
    }

    fn description(&self) -> &'static str {
        "C99 with OpenMP"
    }

    fn stages(&self) -> &'static [Stage] {
        Stage::ALL
    }

    fn abilities(&self) -> Abilities {
        Abilities { models: true, libraries: true, passes: true, cpp: true, ..Abilities::default() }
    }

    fn emit(&self, functions: &[&Function], emission: &Emission) -> Result<Output, Diagnostic> {
        let program = Program { functions: functions.iter().map(|f| (*f).clone()).collect() };
        let emitted = emit(&program, &Options::default())?;
        Ok(Output::of_text(format!("{}.c", emission.stem), emitted.source))
    }
}

/// Choices of the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The form of the code.
    pub style: Style,
    /// Print pragmas; without them the code is sequential.
    pub parallel: bool,
    /// Parallel loops inside parallel loops open parallel regions of their own.
    pub nested: bool,
    /// Name of the header, if the source is to include it rather than to stand alone.
    pub header: Option<String>,
    /// Whether a `main` for a quick run is wanted; only of readable code.
    pub main: bool,
    /// In the paper's style: follow each function by one with the interface of readable code (its
    /// name is the signature's).
    pub callable: bool,
    /// Take memory from the calling thread's [`crate::model::WORKSPACE`] as long as that lasts;
    /// whoever sets that up has to know how much is wanted.
    pub workspace: bool,
    /// Whether the functions are for this file only (`static`).
    pub local: bool,
    /// Whether a region is in C++, which converts no `void *` by itself and has no `_Bool`.
    pub cpp: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            style: Style::Readable,
            parallel: true,
            nested: false,
            header: None,
            main: false,
            callable: false,
            workspace: false,
            local: false,
            cpp: false,
        }
    }
}

/// The form of the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Style {
    /// For use: checked allocation, one parallel level, no warnings.
    #[default]
    Readable,
    /// As in the listings of the paper: variable-length arrays on the stack, every parallel loop
    /// with its pragma, all operations in parentheses. Nothing is checked, and compilers may warn.
    Paper,
}

/// Generated text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// The C source.
    pub source: String,
    /// A header for it, for C and C++.
    pub header: String,
    /// Definitions of the structs that pairs in the interfaces of the functions are.
    pub structs: Vec<String>,
    /// A program that runs every function on random data, if [`Options::main`] asks for it.
    pub main: Option<String>,
    /// What a caller needs to know of the functions, in the order of the program.
    pub signatures: Vec<Signature>,
}

/// A generated function as its caller sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Name in the loop program.
    pub name: loops::Name,
    /// Name in C.
    pub c_name: String,
    /// Size parameters, by their names in the loop program.
    pub sizes: Vec<loops::Name>,
    /// Parameters after them.
    pub params: Vec<SignatureParam>,
}

/// A parameter of a generated function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignatureParam {
    /// Name in the loop program.
    pub name: loops::Name,
    /// Element type.
    pub elem: Elem,
    /// C type of the elements.
    pub c_type: String,
    /// Extents as C expressions over the size parameters' C names; empty for a scalar.
    pub dims: Vec<String>,
    /// Direction.
    pub mode: ParamMode,
    /// Whether the argument is a pointer: arrays, and outgoing scalars.
    pub pointer: bool,
}

/// Translates a loop program to C.
///
/// # Errors
/// If the program is nested too deeply (`L0104`, `T0004`), is not valid (`T0001`), or has local
/// arrays that cannot be allocated as it asks (`T0002`, `T0003`).
pub fn emit(program: &Program, options: &Options) -> Result<Emitted, Diagnostic> {
    let callable = options.callable && options.style == Style::Paper;
    let own = program.functions.iter().map(|f| f.name.to_string());
    let wrappers = program.functions.iter().filter(|_| callable).map(|f| format!("{}_call", f.name));
    let wanted: Vec<String> = own.chain(wrappers).collect();
    let names = names::function_names(wanted.iter().map(String::as_str));
    let (names, wrappers) = names.split_at(program.functions.len());
    let mut helpers = BTreeSet::new();
    let mut structs = Structs::default();
    let mut public_structs = Structs::default();
    let (mut functions, mut signatures) = (Vec::new(), Vec::new());
    for (function, c_name) in program.functions.iter().zip(names) {
        let done = function::translate(function, c_name, options)?;
        helpers.extend(done.helpers);
        structs.extend(done.structs);
        function.params.iter().for_each(|p| public_structs.add(&p.elem));
        functions.push(done.code);
        signatures.push(done.signature);
    }
    // simplification may have removed the last use of a function
    let mut mentioned = BTreeSet::new();
    functions.iter().flat_map(|f| &f.body).for_each(|s| {
        s.names(&mut |name| {
            mentioned.insert(name.to_owned());
        });
    });
    let in_pragma = |name: &str| functions.iter().flat_map(|f| &f.body).any(|s| s.pragma_mentions(name));
    let helpers = helpers::kept(&helpers, &|name| mentioned.contains(name) || in_pragma(name));
    let layout = match options.style {
        Style::Readable => Layout::Readable,
        Style::Paper => Layout::Paper,
    };
    let public_bool = program.functions.iter().any(|f| f.params.iter().any(|p| types::has_bool(&p.elem)));
    let mut source = Printer::new(layout);
    source.raw(&prologue(&helpers, public_bool, &functions, options));
    for definition in structs.definitions() {
        source.raw(definition);
        source.blank();
    }
    let whole_lanes = helpers.contains(&Helper::Lanes);
    if whole_lanes {
        source.raw(WHOLE_LANES[0]);
    }
    source.raw_if(&helpers::text(&helpers));
    for (k, function) in functions.iter().enumerate() {
        if k > 0 {
            source.blank();
        }
        source.function(function);
    }
    let mut wrapper_heads = Vec::new();
    for (signature, wrapper) in signatures.iter_mut().zip(wrappers) {
        let (head, body) = adapter::adapter(signature, &signature.c_name, wrapper);
        source.blank();
        source.raw(&format!("{head};\n{head} {body}"));
        wrapper_heads.push(head);
        signature.c_name.clone_from(wrapper);
    }
    if whole_lanes {
        source.blank();
        source.raw(WHOLE_LANES[1]);
    }
    let header = header(&functions, &wrapper_heads, &public_structs, public_bool);
    let main = (options.main && options.style == Style::Readable)
        .then(|| crate::quick::quick_main(program))
        .transpose()?;
    let structs = public_structs.definitions().map(str::to_owned).collect();
    Ok(Emitted { source: source.finish(), header, structs, main, signatures })
}

/// Rows of sums that leave a tile of registers are no copy of memory: gcc would keep the first of
/// them there for it. And a number that the next step of a sum reads again, in another row of the
/// tile, is read again: gcc would keep it from one step to the next, in registers that the tile
/// needs, and copy it to all lanes with the unit that multiplies.
const KEEP_TILES: &str = "
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize (\"no-tree-loop-distribute-patterns\", \"no-predictive-commoning\")
#endif
";

/// A comparison of numbers is no trap, which nobody sees: gcc would make a branch of two choices
/// one after the other, and no vectors of a loop with a branch. No result depends on it.
const NO_TRAPS: &str = "
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize (\"no-trapping-math\")
#endif
";

/// Helpers that choose between two numbers.
const CHOICES: [Helper; 5] =
    [Helper::Choices, Helper::AtMostF, Helper::AtMost, Helper::AtLeastF, Helper::AtLeast];

/// Vectors of the whole register: for many processors gcc would take half of it, and what was cut
/// into lanes for the whole would not stay in registers.
const WHOLE_REGISTERS: &str = "
#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target (\"prefer-vector-width=512\")
#endif
";

/// Before and behind functions with vectors of [`Helper::Lanes`]: for many processors with AVX-512,
/// clang would make two of half a register of each, and tiles would not stay in registers (the
/// product of `tests/c/kernels/gemm.c` at its large sizes took 120 ms and takes 47).
const WHOLE_LANES: [&str; 2] = [
    "#if defined(__clang__) && defined(__AVX512F__)
#pragma clang attribute push(__attribute__((min_vector_width(512))), apply_to = function)
#endif
",
    "#if defined(__clang__) && defined(__AVX512F__)
#pragma clang attribute pop
#endif
",
];

/// Whether there are loops over lanes beside an array of a function's own, which may then be a tile
/// of registers.
fn has_tile(body: &[crate::c::CStmt]) -> bool {
    body.iter().any(crate::c::CStmt::declares_array)
        && body.iter().any(|s| s.has_pragma("omp simd") || s.defines_type())
}

/// Feature macros, includes and guards against warnings.
fn prologue(
    helpers: &BTreeSet<Helper>,
    public_bool: bool,
    functions: &[crate::c::CFunction],
    options: &Options,
) -> String {
    let mut out = String::new();
    let alloc = helpers.contains(&Helper::Alloc) || helpers.contains(&Helper::WorkspaceAlloc);
    if alloc {
        out.push_str("#define _POSIX_C_SOURCE 200112L /* posix_memalign */\n");
    }
    if let Some(header) = &options.header {
        out.push_str(&format!("#include \"{header}\"\n"));
    }
    if helpers.contains(&Helper::Math) {
        out.push_str("#include <math.h>\n");
    }
    if helpers.contains(&Helper::Bool) || public_bool {
        out.push_str("#include <stdbool.h>\n");
    }
    out.push_str("#include <stdint.h>\n");
    if alloc || helpers.contains(&Helper::Stdlib) {
        out.push_str("#include <stdlib.h>\n");
    }
    if options.style == Style::Readable {
        if functions.iter().any(|f| has_tile(&f.body)) {
            out.push_str(KEEP_TILES);
        }
        if CHOICES.iter().any(|helper| helpers.contains(helper)) {
            out.push_str(NO_TRAPS);
        }
        if functions.iter().any(|f| f.body.iter().any(|s| s.has_pragma("omp"))) {
            out.push_str(WHOLE_REGISTERS);
        }
        if functions.iter().any(|f| f.body.iter().any(|s| s.has_pragma("omp"))) {
            out.push_str("\n#ifndef _OPENMP\n#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n#endif\n");
        }
        // clang says so where it does not follow a hint
        let hints = ["omp simd", "omp for simd", "omp parallel for simd", "GCC"];
        if functions.iter().any(|f| f.body.iter().any(|s| hints.iter().any(|hint| s.has_pragma(hint)))) {
            out.push_str("#ifdef __clang__\n#pragma clang diagnostic ignored \"-Wpass-failed\"\n#endif\n");
        }
    }
    out.push('\n');
    out
}

/// The guard of a header: of other functions, another one, whatever the files are called.
fn guard<'f>(functions: impl Iterator<Item = &'f str>, wrappers: &'f [String]) -> String {
    let mut names = functions.chain(wrappers.iter().map(String::as_str));
    let Some(first) = names.next() else { return "LOZENGE_H".to_owned() };
    let first_word: String = first.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    // FNV-1a of the other names.
    let step = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let others = names.flat_map(|name| name.bytes().chain([b' ']));
    match others.fold(0x811c_9dc5, step) {
        0x811c_9dc5 => format!("LOZENGE_{first_word}_H"),
        hash => format!("LOZENGE_{first_word}_{hash:08x}_H"),
    }
}

/// Declarations for other files.
fn header(
    functions: &[crate::c::CFunction],
    wrappers: &[String],
    structs: &Structs,
    public_bool: bool,
) -> String {
    let guard = guard(functions.iter().map(|f| f.name.as_str()), wrappers);
    let mut printer = Printer::new(Layout::Readable);
    printer.raw(&format!("#ifndef {guard}\n#define {guard}\n"));
    printer.blank();
    if public_bool {
        printer.raw("#include <stdbool.h>");
    }
    printer.raw("#include <stdint.h>");
    printer.blank();
    printer.raw("#ifdef __cplusplus\nextern \"C\" {\n#endif");
    printer.blank();
    for definition in structs.definitions() {
        printer.raw(definition);
        printer.blank();
    }
    for function in functions {
        let mut outside = function.clone();
        for param in &mut outside.params {
            // C++ has no `restrict`, and in a declaration it means nothing
            param.ty = param.ty.replace("*restrict", "*");
            // The functions of the source are not declared here: an extent that calls one is left
            // open.
            for dim in &mut param.dims {
                let mut all_known = true;
                dim.names(&mut |name| all_known &= function.params.iter().any(|p| p.name == name));
                if !all_known {
                    *dim = CExpr::name("*");
                }
            }
        }
        printer.prototype(&outside);
        printer.blank();
    }
    for head in wrappers {
        printer.raw(&format!("{head};"));
        printer.blank();
    }
    printer.raw("#ifdef __cplusplus\n}\n#endif");
    printer.blank();
    printer.raw("#endif");
    printer.finish()
}
