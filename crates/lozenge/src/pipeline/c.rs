//! C in and out, and the polyhedral side, which other sources may ask for too.

use std::collections::BTreeSet;

use ::optimize::Machine;
use cfront::{AccessForm, CFile, Language, RegionInfo, Replacement, VariableKind};
use loops::{Diagnostic, Function};
use passes::{Applied, Pass};
use polyhedral::check::Checked;
use polyhedral::locality::Caches;
use polyhedral::optimize::{Code, Report, Tiling, read_passes};
use polyhedral::representation::Representation;
use polyhedral::transform::contraction::Shape;
use polyhedral::{Model, Optimized, Schedule as Given, Tree};
use targets::{Member, RegionArray, RegionNames};

use super::athread::OnCores;
use super::versions::{self, Tested};
use super::{Front, Lowered, Parsed, tuned};
use crate::failure::{Failure, Source};
use crate::request::{Request, Schedule};

/// Preprocesses a C file and reads its regions.
pub fn open(source: &Source, request: &Request) -> Result<CFile, Failure> {
    if language(&source.path) == Language::Cpp && !request.target.abilities().cpp {
        let message = format!("the target {} does not take C++", request.target.name());
        return Err(Failure::refused("X0007", message)
            .help("move the function with the region to a C file, and declare it `extern \"C\"`"));
    }
    let preprocessed = preprocessed(source, request)?;
    let pure_functions = request.pure_functions.clone();
    let mut options = cfront::Options {
        language: language(&source.path),
        pure_functions,
        auto: request.auto,
        inner: request.partial,
        apart: Vec::new(),
    };
    let parse = |options: &cfront::Options| {
        cfront::parse_with(&source.text, &preprocessed, &source.path, options)
            .map_err(|d| Failure::in_source(source, d))
    };
    let mut file = parse(&options)?;
    if request.partial && !matches!(request.schedule, Schedule::Given(_)) {
        // Where pointers may overlap, the loops beside those that use them are done.
        for region in file.regions.iter().filter(|region| region.info.marked) {
            if let Err(failure) = versions::tested(source, &region.info, Vec::new(), request)
                && !super::regions::keeps_text(source, region, request)
            {
                let why = failure.diagnostics.into_iter().next();
                options.apart.extend(why.map(|why| (region.info.bytes.start, why)));
            }
        }
        if !options.apart.is_empty() {
            file = parse(&options)?;
        }
    }
    if file.regions.is_empty() {
        return Err(Failure::refused("X0801", format!("{} has no region to work on", source.path)).help(
            match request.auto {
                true => "`--auto` takes loops that count between bounds of sizes",
                false => {
                    "put `#pragma scop` before a loop nest and `#pragma endscop` after it, or give --auto"
                }
            },
        ));
    }
    let asked = |d: &Diagnostic| d.code.0 == "C0308";
    if file.refused.iter().any(asked) {
        let wrong = file.refused.iter().filter(|d| asked(d)).cloned().collect();
        return Err(Failure::in_source(source, wrong));
    }
    if !request.partial && !file.refused.is_empty() && !is_auto(&source.text, request) {
        return Err(Failure::in_source(source, file.refused));
    }
    Ok(file)
}

/// The language of a source with regions, by its name: C if that does not say that it is C++.
pub(super) fn language(name: &str) -> Language {
    crate::files::language(&crate::encoding::path(name)).unwrap_or_default()
}

/// Whether loop nests are regions: it is asked for, and there are no pragmas.
pub(super) fn is_auto(text: &str, request: &Request) -> bool {
    let marked = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.and_then(|rest| rest.strip_prefix("pragma")).is_some_and(|rest| rest.trim() == "scop")
    };
    request.auto && !text.lines().any(marked)
}

/// What is told of a region that cannot be taken, and stays as it is.
pub(super) fn remark(refused: &Diagnostic, auto: bool) -> Diagnostic {
    let mut remark = refused.clone();
    remark.severity = if auto { loops::Severity::Note } else { loops::Severity::Warning };
    remark.note(match auto {
        true => "this loop nest stays as it is",
        false => {
            "its region stays as it is, but for loops in it that can be taken; with --strict this is an error"
        }
    })
}

fn preprocessed(source: &Source, request: &Request) -> Result<String, Failure> {
    request.progress.step(format!("preprocessing {}", source.path));
    request.files.access().preprocess(source, &request.preprocessor)
}

impl Front {
    /// The functions of a C file that other files can call; none of other sources.
    ///
    /// # Errors
    /// What the preprocessor refuses.
    pub fn exports(&self, request: &Request) -> Result<Vec<cfront::Export>, Failure> {
        match &self.parsed {
            Parsed::C(file) if file.language == Language::Cpp => {
                let message = "functions of C++ have no names that other languages call";
                Err(Failure::refused("X0007", message)
                    .help("move the function with the region to a C file, and call it from both"))
            }
            Parsed::C(_) => Ok(cfront::exports(&self.source.text, &preprocessed(&self.source, request)?)),
            Parsed::Functional(_) | Parsed::Loops(_) => Ok(Vec::new()),
        }
    }
}

/// The polyhedral side's answer for a function, or none if it is not asked for.
pub(super) fn optimise(
    source: &Source,
    function: &Function,
    request: &Request,
    default: bool,
) -> Result<Option<Optimized>, Failure> {
    let request = &*tuned::request(request, function);
    let schedule = match &request.schedule {
        Schedule::Usual if default => None,
        Schedule::Usual | Schedule::Original => return Ok(None),
        Schedule::Auto => None,
        Schedule::Given(text) => Some(from_text(source, text, function)?),
    };
    with_schedule(source, function, schedule, request).map(Some)
}

/// The schedule for a function in a text: a tree, or times of statements.
///
/// In a text with lines `schedule NAME`, what follows such a line is for the function NAME; one
/// without such a line is for the only function.
fn from_text(source: &Source, text: &Source, function: &Function) -> Result<Given, Failure> {
    let mut own = String::new();
    let mut here = true;
    for line in text.text.lines() {
        if let Some(name) = line.strip_prefix("schedule ") {
            here = name.trim() == function.name.as_str();
            own.push('\n');
        } else {
            // Other lines become empty ones, so that errors tell the number of the line in the
            // file.
            own.push_str(if here { line } else { "" });
            own.push('\n');
        }
    }
    if own.trim().is_empty() {
        let message = format!("{} has no schedule for `{}`", text.path, function.name);
        return Err(Failure::refused("X0803", message).help(format!(
            "put it after a line `schedule {}`, or choose another region with --def",
            function.name
        )));
    }
    let refuse = |d| Failure::in_source(text, vec![d]);
    let around = passes_of(&mut own).map_err(refuse)?;
    let tree = match own.parse::<Representation>().map_err(refuse)? {
        Representation::Tree(tree) => tree,
        times => {
            let model = Model::extract(function).map_err(|d| Failure::in_source(source, vec![d]))?;
            times.to_tree(&model).map_err(refuse)?
        }
    };
    Ok(match around {
        Some((before, code)) => Given { before, tree, code: Some(code) },
        None => tree.into(),
    })
}

/// What a line `passes ...` before a schedule says; an empty line takes its place.
fn passes_of(text: &mut String) -> polyhedral::Result<Option<(Vec<&'static Pass>, Code)>> {
    let line = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let Some(first) = text.lines().find(line) else { return Ok(None) };
    let Some(passes) = first.strip_prefix("passes ") else { return Ok(None) };
    let number = text.lines().take_while(|other| *other != first).count() + 1;
    let read = read_passes(passes, number)?;
    *text = text.replacen(first, "", 1);
    Ok(Some(read))
}

/// The line before the schedule of a function in a file that has several.
pub fn schedule_header(name: &str) -> String {
    format!("schedule {name}\n")
}

/// What the polyhedral side makes of a function; its own schedule where none is chosen.
pub fn optimised(source: &Source, function: &Function, request: &Request) -> Result<Optimized, Failure> {
    match optimise(source, function, request, true)? {
        Some(optimised) => Ok(optimised),
        None => {
            let refuse = |d| Failure::in_source(source, vec![d]);
            let tree = Model::extract(function).and_then(|model| Tree::original(&model)).map_err(refuse)?;
            with_schedule(source, function, Some(tree.into()), request)
        }
    }
}

/// Schedules for a function: the compiler's choice, by its name, and candidates that were not
/// chosen.
pub fn schedules(
    source: &Source,
    function: &Function,
    request: &Request,
) -> Result<Vec<(String, Given)>, Failure> {
    let options = polyhedral::Options { all_candidates: true, ..options(request)? };
    let made = polyhedral::optimize(function, &options).map_err(|d| Failure::in_source(source, vec![d]))?;
    let chosen = made.report.candidates.first().and_then(|line| line.split_once(": ")).map(|(name, _)| name);
    let chosen = chosen.unwrap_or("the affine schedule").to_owned();
    Ok([(chosen, made.schedule)].into_iter().chain(made.others).collect())
}

/// As [`optimised`], but its own schedule has tiles of these sizes, and contractions are not packed
/// or in small tiles of registers: what a picture can show.
pub(crate) fn optimised_small(
    source: &Source,
    function: &Function,
    request: &Request,
    tile: &[i64],
    packed: bool,
) -> Result<Optimized, Failure> {
    if matches!(request.schedule, Schedule::Original | Schedule::Given(_)) {
        return optimised(source, function, request);
    }
    let options = polyhedral::Options {
        tiling: Tiling::Fixed(tile.to_vec()),
        contraction: packed.then(|| Shape {
            rows: 2,
            vectors: 1,
            vector_bytes: 16,
            depth: tile.first().copied().unwrap_or(3),
            block_rows: 4,
            strips: 2,
            own_strips: 1,
        }),
        jam: 1,
        isolate: false,
        ..polyhedral::Options::default()
    };
    polyhedral::optimize(function, &options).map_err(|d| Failure::in_source(source, vec![d]))
}

fn with_schedule(
    source: &Source,
    function: &Function,
    schedule: Option<Given>,
    request: &Request,
) -> Result<Optimized, Failure> {
    request.progress.step(format!("scheduling `{}`", function.name));
    let options = polyhedral::Options { schedule, ..options(request)? };
    polyhedral::optimize(function, &options).map_err(|d| Failure::in_source(source, vec![d]))
}

/// What the polyhedral side is asked for, but for a schedule.
fn options(request: &Request) -> Result<polyhedral::Options, Failure> {
    let default = polyhedral::Options::default();
    let caches = request.caches()?;
    let tiling = match request.tile.as_slice() {
        [] => Tiling::Caches(caches),
        sizes => Tiling::Fixed(sizes.to_vec()),
    };
    let registers = request.registers()?;
    let contraction = default.contraction.map(|shape| shape.for_registers(registers).for_caches(caches));
    let machine = machine(request)?;
    Ok(polyhedral::Options { tiling, contraction, machine, reassociate: request.reassociate, ..default })
}

/// Threads that costs are predicted for, so that what is chosen does not depend on the machine at
/// hand.
const THREADS: u32 = 2;

/// What costs are predicted for.
pub fn machine(request: &Request) -> Result<Machine, Failure> {
    let Caches { l1, l2 } = request.caches()?;
    let usual = Machine::new(THREADS, request.registers()?, l1, l2);
    let mut machine = request.machine.as_ref().map_or(usual.clone(), |described| described.costs(usual));
    // Caches that are given by themselves go before those of the description.
    for (cache, bytes) in machine.caches.iter_mut().zip([l1, l2]) {
        cache.bytes = bytes as f64;
    }
    Ok(machine)
}

/// A lowered function after the polyhedral side, where that is asked for.
pub fn scheduled(
    source: &Source,
    lowered: Lowered,
    request: &Request,
    default: bool,
) -> Result<Lowered, Failure> {
    let optimised = match optimise(source, &lowered.function, request, default) {
        Ok(Some(optimised)) => optimised,
        Ok(None) => return Ok(lowered),
        Err(refused) => return by_nests(&refused, lowered, request).ok_or(refused),
    };
    let mut notes = optimised.report.bands;
    notes.extend(optimised.report.notes);
    notes.extend(optimised.report.left.map(|why| format!("not optimized: {why}")));
    let reassociated = lowered.reassociated || request.reassociate;
    let mut applied: Vec<_> = lowered.applied.into_iter().chain(optimised.applied).collect();
    let function = passes::SCHEDULED.run(optimised.function, &mut applied);
    Ok(Lowered { function, applied, original: Some(lowered.function), notes, reassociated, ..lowered })
}

/// A functional program after the affine scheduler. Where loops can end early they do, and what is
/// in them is scheduled: as instances of statements, the turns behind the end would run.
pub(super) fn affine(source: &Source, lowered: Lowered, request: &Request) -> Result<Lowered, Failure> {
    if let Some(function) = passes::EARLY_EXIT.run(&lowered.function) {
        let mut early = lowered.clone();
        early.applied.push(Applied { pass: passes::EARLY_EXIT.name(), function: function.clone() });
        if let Some(nests) = nest_by_nest(Lowered { function, ..early }, request) {
            return Ok(nests);
        }
    }
    scheduled(source, lowered, request, false)
}

/// A function that the model cannot hold as a whole, nest by nest, and one that takes it too long,
/// as it is; none if it was refused for something else.
fn by_nests(refused: &Failure, lowered: Lowered, request: &Request) -> Option<Lowered> {
    let too_long = refused.diagnostics.iter().find(|d| d.code.0 == "P0002");
    if let (true, Some(why)) = (request.schedule.is_auto(), too_long) {
        let note = format!("`{}` is not optimized: {}", lowered.function.name, why.message);
        return Some(Lowered { notes: vec![note.clone()], warnings: vec![note], ..lowered });
    }
    let unheld = |d: &Diagnostic| matches!(d.code.0, "P0101" | "P0102");
    if !request.schedule.is_auto() || !refused.diagnostics.iter().any(unheld) {
        return None;
    }
    nest_by_nest(lowered, request)
}

/// A function with each of its nests that the model can hold scheduled for itself; none if there is
/// nothing between them.
fn nest_by_nest(lowered: Lowered, request: &Request) -> Option<Lowered> {
    let options = options(request).ok()?;
    let polyhedral::Apart { function, notes } = polyhedral::apart(&lowered.function, &options).ok()??;
    let reassociated = lowered.reassociated || request.reassociate;
    let mut applied = lowered.applied;
    applied.push(Applied { pass: "affine-scheduling", function: function.clone() });
    Some(Lowered { function, original: Some(lowered.function), notes, reassociated, applied, ..lowered })
}

/// The schedule trees of the chosen definitions; each under its name where there are several.
pub fn trees(front: &Front, request: &Request) -> Result<String, Failure> {
    let mut text = String::new();
    let names = front.wanted(request)?;
    for name in &names {
        let function = front.original(name, request)?;
        if names.len() > 1 {
            text.push_str(&schedule_header(name));
        }
        text.push_str(&optimised(&front.source, &function, request)?.schedule.to_string());
    }
    Ok(text)
}

/// What the polyhedral side did with the chosen definitions, and what it gave up, for people.
///
/// # Errors
/// Those of the stages.
pub fn done(front: &Front, request: &Request) -> Result<String, Failure> {
    use std::fmt::Write;
    let mut text = String::new();
    if let (Parsed::C(file), None) = (&front.parsed, &request.definition)
        && (request.remarks || !is_auto(&front.source.text, request))
    {
        for refused in &file.refused {
            let at = refused.labels.first().map_or(0, |label| label.span.start as usize);
            let line = front.source.text[..at].matches('\n').count() + 1;
            let _ = writeln!(text, "line {line}: not taken: {}", refused.message);
            refused.help.iter().for_each(|help| _ = writeln!(text, "  help: {help}"));
        }
    }
    let wanted = front.wanted(request)?;
    for name in &wanted {
        let function = front.original(name, request)?;
        let optimised = match optimised(&front.source, &function, request) {
            // As in a translation, other regions are not held up.
            Err(why) if request.partial && wanted.len() > 1 => {
                let _ = writeln!(text, "{name}: left as it is: {}", why.summary());
                continue;
            }
            other => other?,
        };
        let Report {
            statements, dependences, bands, notes, checked, left, candidates, on_one_thread, ..
        } = optimised.report;
        let region = match &front.parsed {
            Parsed::C(file) => file.regions.iter().find(|r| r.function.name.as_str() == *name),
            _ => None,
        };
        let place = region.map_or(String::new(), |region| {
            let line = |at: usize| front.source.text[..at].matches('\n').count() + 1;
            let (first, last) = (line(region.info.bytes.start), line(region.info.bytes.end - 1));
            format!(", lines {first} to {last}")
        });
        let _ = writeln!(text, "{name}{place}: {statements} statements, {dependences} dependences");
        for (what, lines) in [("done", &bands), ("note", &notes), ("candidate", &candidates)] {
            for line in lines {
                let _ = writeln!(text, "  {what}: {line}");
            }
        }
        if let Some(times) = on_one_thread {
            let _ = writeln!(text, "  predicted on one thread: {times:.2} times as fast as the text");
        }
        if let Some(why) = &left {
            let _ = writeln!(text, "  not optimized: {why}");
        }
        if let Some(region) = region.filter(|_| left.is_none()) {
            match conditions(&front.source, &region.info, &optimised.function, request) {
                Ok(lines) => lines.iter().for_each(|line| _ = writeln!(text, "  {line}")),
                // As in a translation, other regions are not held up.
                Err(why) if request.partial => {
                    for refused in &why.diagnostics {
                        let _ = writeln!(text, "  not taken as a whole: {}", refused.message);
                        refused.help.iter().for_each(|help| _ = writeln!(text, "  help: {help}"));
                    }
                }
                Err(why) => return Err(why),
            }
        }
        if let Some(checked) = checked {
            let Checked { statements, dependences, parallel_loops } = checked;
            let _ = writeln!(
                text,
                "  checked on the generated loops: {statements} statements, {dependences} dependences, {parallel_loops} parallel or vector loops"
            );
        }
    }
    Ok(text)
}

/// What is tested at run time before a region, a line each.
fn conditions(
    source: &Source,
    info: &RegionInfo,
    function: &loops::Function,
    request: &Request,
) -> Result<Vec<String>, Failure> {
    let Some(sizes) = versions::sizes_that_fit(info, function) else {
        return Ok(vec![format!("left as it is: {}", versions::beyond(source, info).message)]);
    };
    Ok(versions::tested(source, info, sizes, request)?.note.map_or_else(Vec::new, |note| note.notes))
}

/// The C that a function becomes in the place of a region.
///
/// # Errors
/// `X0006` if there is no such region; what the target refuses.
pub fn region_text(front: &Front, name: &str, function: &Function, tested: bool) -> Result<String, Failure> {
    let Some(region) = front.region(name) else {
        return Err(Failure::refused("X0006", format!("there is no region `{name}`")));
    };
    let (source, info) = (&front.source, &region.info);
    let function = after_schedule(&region.function, function.clone());
    let mut names = names(&source.text, info);
    if tested {
        names.indent.push_str(INSIDE);
    }
    targets::emit_region(&function, &names, &targets::Options::default())
        .map_err(|d| Failure::in_source(source, vec![d]))
}

/// The function that is printed for one that was scheduled.
pub(super) fn after_schedule(text: &Function, scheduled: Function) -> Function {
    let passes = match loops::directive::any(text) {
        // Threads that are asked for stay.
        true => passes::DIRECTED,
        false => passes::SCHEDULED,
    };
    passes.run(scheduled, &mut Vec::new())
}

/// What the lines of a result begin with, where something is tested before it.
pub(super) const INSIDE: &str = "  ";

/// The C file with its mapped regions as spawns; none for other sources.
pub fn athread(
    front: &Front,
    request: &Request,
    all: &[OnCores],
    threads: i64,
) -> Result<Option<String>, Failure> {
    let Parsed::C(file) = &front.parsed else { return Ok(None) };
    let source = &front.source;
    let mut replacements = Vec::new();
    let mut functions = Vec::new();
    for (k, region) in file.regions.iter().enumerate() {
        let Some(one) = all.iter().find(|one| one.original.name == region.function.name) else { continue };
        // The host has it as it stands.
        if scattered_in(&region.info).is_some() {
            continue;
        }
        let sizes = versions::sizes_that_fit(&region.info, &one.original);
        let Some(sizes) = sizes else {
            return Err(Failure::in_source(source, vec![versions::beyond(source, &region.info)]));
        };
        let Tested { conditions, .. } = versions::tested(source, &region.info, sizes, request)?;
        let names = names(&source.text, &region.info);
        let nested = |name: &loops::Name| {
            region.info.variable(name).is_some_and(|v| v.access == AccessForm::Subscripts)
        };
        let host = targets::athread::HostNames {
            sizes: names.sizes,
            arrays: region
                .info
                .variables
                .iter()
                .map(|v| (v.name.clone(), (v.c_name.clone(), nested(&v.name))))
                .collect(),
            indent: names.indent,
        };
        let text = targets::athread::region(&one.mapped.function, &host, threads)
            .map_err(|d| Failure::in_source(source, vec![d]))?;
        functions.push(&one.mapped.function);
        replacements.push(Replacement { region: k, text, conditions, ..Replacement::default() });
    }
    let text =
        cfront::splice(&source.text, file, &replacements).map_err(|d| Failure::in_source(source, vec![d]))?;
    let preamble = targets::athread::preamble(&functions, &request.stem(), &text)
        .map_err(|d| Failure::in_source(source, vec![d]))?;
    Ok(Some(format!("{preamble}\n{text}")))
}

/// An array of members of structures that a region refers to, or one of pointers to rows: its
/// elements are not beside each other.
pub fn scattered(front: &Front, region: &loops::Name) -> Option<String> {
    let Parsed::C(file) = &front.parsed else { return None };
    let region = file.regions.iter().find(|one| one.function.name == *region)?;
    scattered_in(&region.info)
}

fn scattered_in(info: &RegionInfo) -> Option<String> {
    let apart = |v: &&cfront::Variable| v.rows || v.members().iter().any(|(after, ..)| *after > 0);
    info.variables.iter().find(apart).map(|v| v.c_name.clone())
}

/// The line with which a region begins.
pub(super) fn first_line(source: &Source, info: &RegionInfo) -> loops::Span {
    let start = info.bytes.start;
    loops::Span::new(start, source.text[start..].find('\n').map_or(info.bytes.end, |n| start + n))
}

/// How the names of the loop program are written in the C around the region.
pub(super) fn names(text: &str, info: &RegionInfo) -> RegionNames {
    let mut taken: BTreeSet<String> = info.identifiers.clone();
    taken.extend(text.lines().filter_map(|line| {
        let name = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        Some(name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?.to_owned())
    }));
    RegionNames {
        sizes: info.sizes.iter().map(|s| (s.name.clone(), s.text.clone())).collect(),
        int_sizes: info.sizes.iter().filter(|s| s.is_int()).map(|s| s.name.clone()).collect(),
        arrays: info
            .variables
            .iter()
            .map(|v| {
                let linear = v.access == AccessForm::Linear;
                let members = v.members().into_iter();
                let members = members.map(|(after, arrow, name)| (after, Member { name, arrow })).collect();
                let pointer = matches!(v.kind, VariableKind::Pointer | VariableKind::RestrictPointer);
                (v.name.clone(), RegionArray { c_name: v.owner().to_owned(), linear, pointer, members })
            })
            .collect(),
        taken,
        indent: info.indent.clone(),
    }
}
