//! `lozenge fuzz --of kernels`: random C kernels, rewritten for OpenMP and for the cores of a
//! Sunway chip; both programs must write what the original writes. Every second one is over all
//! types of C's integers, for OpenMP alone.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use targets::Stage;
use targets::athread::{Cores, Parallel, SW26010_PRO};

use crate::athread::{Emulator, Settings, Sources};
use crate::cli::Fuzz;
use crate::command::run_athread::{compare_programs, headers};
use crate::failure::{Failure, Source};
use crate::files::{self, Scratch, write_whole};
use crate::fuzz::kernels::any;
use crate::fuzz::{Budget, types};
use crate::kernel::{ALWAYS, Program};
use crate::pipeline::athread;
use crate::process::Compiler;
use crate::random::Random;
use crate::report;
use crate::request::Request;
use crate::value::Closeness;

/// For a compilation and for a run.
const LIMIT: Duration = Duration::from_secs(60);

/// What became of the programs.
#[derive(Default)]
struct Tally {
    programs: u64,
    openmp: u64,
    cores: u64,
    /// Of those for cores: where the check of the slave file was given up.
    unchecked: u64,
    /// Programs over all integer types whose result is equal, and those that have no meaning in C.
    typed: u64,
    meaningless: u64,
    /// Codes of refusals.
    refused: std::collections::BTreeMap<String, u64>,
}

/// Runs the command.
///
/// # Errors
/// `X0401` with the first program of which a form writes something else, and what a stage says that
/// is no refusal of its input.
pub fn run(arguments: &Fuzz, as_json: bool) -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let mut emulator: Option<Emulator> = None;
    let budget = Budget::of(arguments);
    // The preprocessor reads files.
    let scratch = Scratch::new()?;
    let file = scratch.path().join("kernel.c");
    let (mut seed, mut tally) = (arguments.seed, Tally::default());
    while budget.goes_on(seed - arguments.seed) {
        let of_types = seed % 2 == 0;
        let text = if of_types { types::program(seed / 2) } else { any(seed) };
        let source = Source { path: crate::encoding::name(&file), text };
        write_whole(&file, source.text.as_bytes())?;
        let tried = super::caught(|| {
            if of_types {
                return one_of_types(&source, &compiler, &mut tally);
            }
            if emulator.is_none() {
                emulator = Some(Emulator::build(&compiler)?);
            }
            emulator.as_ref().map_or(Ok(()), |emulator| one(seed, &source, &compiler, emulator, &mut tally))
        });
        if let Err(failure) = tried {
            if let Some(output) = &arguments.output {
                write_whole(output, source.text.as_bytes())?;
            }
            let region: String = source
                .text
                .lines()
                .skip_while(|line| !line.starts_with("static void kernel"))
                .take_while(|line| {
                    !line.starts_with("static unsigned") && !line.starts_with("static void limit")
                })
                .map(|line| format!("{line}\n"))
                .collect();
            return Err(failure
                .note(format!("the kernel of seed {seed}:\n{region}"))
                .help(format!("run it again with `lozenge fuzz --of kernels --seed {seed} --count 1`")));
        }
        tally.programs += 1;
        seed += 1;
    }
    tell(&tally, seed, as_json);
    Ok(())
}

fn tell(tally: &Tally, next: u64, as_json: bool) {
    let Tally { programs, openmp, cores, unchecked, typed, meaningless, refused } = tally;
    if as_json {
        let value = json!({
            "ok": true, "programs": programs, "openmp": openmp, "cores": cores, "unchecked": unchecked, "typed": typed, "meaningless": meaningless, "refused": refused, "next_seed": next,
        });
        report::print_json(value);
        return;
    }
    let refusals: Vec<String> = refused.iter().map(|(code, n)| format!("{code} {n}")).collect();
    let refusals =
        if refusals.is_empty() { String::new() } else { format!("; refused: {}", refusals.join(", ")) };
    report::print(&format!(
        "{programs} random kernels: {openmp} equal for OpenMP, {cores} equal on cores ({unchecked} with a slave file that was not checked to its end), {typed} over all integer types equal ({meaningless} without a meaning){refusals} (next seed {next})\n"
    ));
}

fn one(
    seed: u64,
    source: &Source,
    compiler: &Compiler,
    emulator: &Emulator,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let folder = Path::new(".");
    let flags = ["-O1", "-ffp-contract=off", "-fopenmp", ALWAYS[0], ALWAYS[1]];
    let original = Program::build(compiler, &source.text, folder, &flags, &["-lm"])?.run(1, LIMIT)?;
    let request = super::request();
    let emitted = files::open(source, &request).and_then(|front| front.emit(Stage::C, &request));
    match emitted {
        Ok(emission) => {
            let ours = Program::build(compiler, &emission.text, folder, &flags, &["-lm"])?.run(2, LIMIT)?;
            compare_programs(&ours.output, &original.output, Closeness::Exact)
                .map_err(|failure| failure.note("for OpenMP"))?;
            tally.openmp += 1;
        }
        Err(failure) => refusal(failure, tally, &[])?,
    }
    let mut random = Random::named(seed, "cores");
    let pick = |random: &mut Random, of: &[i64]| of[random.below(of.len() as u64) as usize];
    let parallel = if random.below(2) == 0 { Parallel::One } else { Parallel::Two };
    let pro = random.below(5) == 0;
    let chip = if pro { &SW26010_PRO } else { Cores::default().chip };
    let threads = pick(&mut random, &[64, 64, 32, 16, 8, 3]) as u32;
    let size = pick(&mut random, &[8, 40, 300, 1000]);
    let request = Request {
        settings: Cores { chip, parallel }.settings(),
        threads: Some(threads),
        sizes: vec![("n".into(), size), ("m".into(), pick(&mut random, &[8, 40, size]))],
        stem: "kernel".into(),
        ..request
    };
    let asked = format!("for {threads} cores, {parallel:?}, {}, sizes {:?}", chip.name, request.sizes);
    let made = files::open(source, &request).and_then(|front| {
        let mut all = athread::map(&front, &request)?;
        athread::files(&front, &request, &mut all)
    });
    let made = match made {
        Ok(made) => made,
        Err(failure) => {
            // What data decides is not moved to local memory.
            return refusal(failure, tally, &["P0101"]).map_err(|failure| failure.note(asked));
        }
    };
    let sources = Sources {
        host: &made.host,
        more: &[],
        slave: &made.slave,
        micro_kernels: &made.micro_kernels,
        headers: &headers(&made),
        folder: None,
        flags: &[],
    };
    let built = emulator.program(&sources);
    let ran = built.and_then(|program| program.run(Settings { seed, pro, limit: LIMIT }));
    ran.and_then(|ours| compare_programs(&ours.output, &original.output, Closeness::Exact))
        .map_err(|failure| failure.note(asked))?;
    tally.cores += 1;
    tally.unchecked += u64::from(made.unchecked.is_some());
    Ok(())
}

/// A program over all integer types, at all its sizes in one run. What it may use of the machine it
/// limits itself.
fn one_of_types(source: &Source, compiler: &Compiler, tally: &mut Tally) -> Result<(), Failure> {
    let folder = Path::new(".");
    let flags = ["-O1", "-w", "-ffp-contract=off", "-fopenmp"];
    let checks = [
        "-fsanitize=address,undefined,float-cast-overflow",
        "-fno-sanitize-recover=all",
        "-fno-omit-frame-pointer",
    ];
    let checked =
        Program::build(compiler, &source.text, folder, &[&flags[..], &checks[..]].concat(), &["-lm"])?;
    if checked.run(1, LIMIT).is_err() {
        tally.meaningless += 1;
        return Ok(());
    }
    let original = Program::build(compiler, &source.text, folder, &flags, &["-lm"])?.run(1, LIMIT)?;
    let request = super::request();
    let emitted = files::open(source, &request).and_then(|front| front.emit(Stage::C, &request));
    let emission = match emitted {
        Ok(emission) => emission,
        Err(failure) => return refusal_of_source(failure, tally),
    };
    for level in ["-O1", "-O3"] {
        let flags = [level, "-w", "-ffp-contract=off", "-fopenmp", ALWAYS[0], ALWAYS[1]];
        let ours = Program::build(compiler, &emission.text, folder, &flags, &["-lm"])?.run(2, LIMIT)?;
        if ours.output != original.output {
            let message =
                format!("the rewritten program writes something else than the original, at {level}");
            return Err(Failure::check("X0401", message));
        }
    }
    tally.typed += 1;
    Ok(())
}

/// Counts what the front end says of a source that it does not take.
fn refusal_of_source(failure: Failure, tally: &mut Tally) -> Result<(), Failure> {
    match failure.diagnostics.first().map(|d| d.code.0).filter(|code| code.starts_with('C')) {
        Some(code) => {
            *tally.refused.entry(code.to_owned()).or_default() += 1;
            Ok(())
        }
        None => refusal(failure, tally, &[]),
    }
}

/// Counts what says that an input cannot be taken; everything else is a failure: a result that a
/// check rejects, or an error of a library.
fn refusal(failure: Failure, tally: &mut Tally, more: &[&str]) -> Result<(), Failure> {
    const REFUSALS: [&str; 7] = ["P0002", "P0801", "P0802", "P0803", "P0804", "P0806", "X0802"];
    let taken = |code: &&str| REFUSALS.contains(code) || more.contains(code);
    let code = failure.diagnostics.first().map(|d| d.code.0).filter(taken);
    let Some(code) = code else { return Err(failure) };
    *tally.refused.entry(code.to_owned()).or_default() += 1;
    Ok(())
}
