//! `lozenge test` on C programs: the rewritten program must write what the original writes, byte by
//! byte.

use std::path::Path;
use std::time::Duration;

use loops::{Expr, Name};

use crate::bind::Sizes;
use crate::cli::Test;
use crate::command::bench_c::close;
use crate::command::run_athread::{NOTHING, WRITE};
use crate::failure::{Failure, Source};
use crate::files;
use crate::kernel::{ALWAYS, Program, sizes};
use crate::pipeline::Emission;
use crate::process::Compiler;
use crate::request::Request;
use targets::Stage;

/// Sizes that a program is run at beside its own: nothing, one, and primes that differ from each
/// other.
const PRIMES: [u32; 8] = [7, 11, 5, 13, 3, 17, 2, 19];

/// A program at one set of sizes, as text and as flags.
pub fn points(text: &str) -> Vec<(String, Vec<String>)> {
    let names = sizes(text);
    let mut points = vec![("its own sizes".to_owned(), Vec::new())];
    if names.is_empty() {
        return points;
    }
    let mut point = |value: &dyn Fn(usize) -> u32| {
        let set: Vec<String> = names.iter().enumerate().map(|(k, n)| format!("{n}={}", value(k))).collect();
        points.push((set.join(" "), set.iter().map(|s| format!("-D{s}")).collect()));
    };
    point(&|_| 0);
    point(&|_| 1);
    point(&|k| PRIMES[k % PRIMES.len()]);
    points
}

/// Elements of an array whose length the text of a region does not say: enough for subscripts that
/// are products of three of the primes.
const UNKNOWN_LENGTH: i64 = 1 << 13;

/// Whether a size only says how many elements of an array there are, as those of a pointer: no
/// statement has it.
fn is_length(function: &loops::Function, size: &Name) -> bool {
    let last = |dims: &[Expr]| dims.iter().skip(1).any(|extent| extent.mentions(size));
    loops::visit::nodes(&function.body).all(|stmt| stmt.exprs().iter().all(|e| !e.mentions(size)))
        && !function.params.iter().any(|param| last(&param.dims))
        && function.params.iter().any(|param| param.dims.first() == Some(&Expr::Var(size.clone())))
}

/// Sizes that a region, whose text is `original`, is run at by itself: nothing, one, and primes.
pub fn sizes_of(function: &loops::Function, original: &loops::Function) -> Vec<Sizes> {
    let value_of = |name: &Name, value: i64| match is_length(original, name) {
        true => UNKNOWN_LENGTH,
        false => value,
    };
    let all = |value: &dyn Fn(usize) -> i64| {
        function.sizes.iter().enumerate().map(|(k, name)| (name.clone(), value_of(name, value(k)))).collect()
    };
    let primes = |k: usize| i64::from(PRIMES[k % PRIMES.len()]);
    let mut points: Vec<Sizes> = vec![all(&primes)];
    if !function.sizes.is_empty() {
        let falling = |k: usize| primes(PRIMES.len() - 1 - k % PRIMES.len());
        points = vec![all(&|_| 0), all(&|_| 1), all(&primes), all(&falling)];
        // Where its assumptions do not hold, the original text runs instead.
        let holds =
            |sizes: &Sizes| function.assumptions.iter().all(|a| crate::bind::truth(a, sizes) != Some(false));
        points.retain(holds);
        points.truncate(3);
    }
    points
}

/// Rewrites the program with these macros.
///
/// # Errors
/// What the stages refuse.
pub fn rewritten(source: &Source, defines: &[String], arguments: &Test) -> Result<Emission, Failure> {
    let (reassociate, auto, preprocessor) = (arguments.reassociate, arguments.auto, defines.to_vec());
    let request = Request { assume_no_alias: true, preprocessor, reassociate, auto, ..super::request() };
    files::open(source, &request)?.emit(Stage::C, &request)
}

/// What the rewritten program tests before its regions: where that does not hold, the text of the
/// region runs as it was written.
pub fn tested(source: &Source, rewritten: &Emission) -> Vec<String> {
    let notes = rewritten.warnings.iter().filter(|d| d.code.0 == "C0501");
    notes
        .flat_map(|note| {
            let start = note.labels.first().map_or(0, |label| label.span.start as usize);
            let line = 1 + source.text[..start].matches('\n').count();
            let what = note.notes.iter().map(|n| n.trim_start_matches("tested: "));
            what.map(|what| format!("tested at run time before the region at line {line}: {what}"))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Compares original and rewritten program at one point: byte by byte, or up to roundings where
/// updates were reordered.
///
/// # Errors
/// `X0401` if the outputs differ; what compiling and running refuse.
pub fn compare(
    source: &Source,
    (rewritten, reassociated): (&str, bool),
    defines: &[String],
    compiler: &Compiler,
    arguments: &Test,
) -> Result<(), Failure> {
    let path = crate::encoding::path(&source.path);
    let compiler = &compiler.of(&path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut flags = vec!["-O1", "-ffp-contract=off", "-fopenmp", ALWAYS[0], ALWAYS[1]];
    flags.extend(defines.iter().map(String::as_str));
    let limit = Duration::from_secs(120);
    let original = Program::build(compiler, &source.text, folder, &flags, &[])?.run(1, limit)?;
    if arguments.sanitize {
        flags.extend([
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize=vla-bound",
            "-fno-sanitize-recover=all",
        ]);
    }
    let program = Program::build(compiler, rewritten, folder, &flags, &[])?;
    let ours = program.run(2, limit)?;
    // A program that writes no file may print what it computed.
    let (original, ours) = match (original.output.is_empty(), ours.output.is_empty()) {
        (true, true) => (original.stdout, ours.stdout),
        _ => (original.output, ours.output),
    };
    if original.is_empty() && ours.is_empty() {
        return Err(Failure::check("X0401", NOTHING).help(WRITE));
    }
    // Sums in another order differ by roundings.
    let close = || reassociated && close(&original, &ours, 1e-9);
    if original == ours || close() {
        return Ok(());
    }
    let first = original.iter().zip(&ours).position(|(a, b)| a != b);
    let place = first.map_or("their lengths differ".to_owned(), |k| format!("they differ from byte {k} on"));
    let failure = Failure::check(
        "X0401",
        format!(
            "the rewritten program writes something else than the original ({} and {} bytes; {place})",
            ours.len(),
            original.len()
        ),
    );
    let unknown = reassociated && crate::kernel::arrays(&original).is_none();
    Err(if unknown { failure.help(super::run_athread::ROUNDINGS) } else { failure })
}
