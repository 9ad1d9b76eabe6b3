//! A C file with its regions rewritten: what each becomes, what keeps its text, and what is tested
//! before it.
//!
//! Not here: how a file is read and a function scheduled (`c`), and the tests (`versions`).

use cfront::{CFile, RegionInfo, Replacement};
use loops::{Diagnostic, Function};

use super::Emission;
use super::c::{INSIDE, after_schedule, first_line, is_auto, names, optimise, remark};
use super::gain;
use super::versions::{self, Tested};
use crate::failure::{Failure, Source};
use crate::request::{Request, Schedule};

/// The C file with its regions rescheduled, tiled and parallel.
pub fn rewrite(
    source: &Source,
    file: &CFile,
    wanted: &[String],
    request: &Request,
) -> Result<Emission, Failure> {
    let auto = is_auto(&source.text, request);
    let told = |refused: &Diagnostic| (!auto || request.remarks).then(|| remark(refused, auto));
    let (mut replacements, mut promises) = (Vec::new(), Vec::new());
    let mut warnings: Vec<Diagnostic> = match request.definition {
        None => file.refused.iter().filter_map(told).collect(),
        Some(_) => Vec::new(),
    };
    let mut reassociated = request.reassociate;
    let (mut done, mut failed) = (0, None);
    for (k, region) in file.regions.iter().enumerate() {
        if !wanted.iter().any(|name| *name == region.function.name.as_str()) {
            continue;
        }
        let one = match rewritten(source, region, request) {
            Ok(one) => one,
            // The others are done all the same. A schedule that was given is for all of them, and
            // what is asked of a loop is done or refused.
            Err(failure)
                if request.partial
                    && !matches!(request.schedule, Schedule::Given(_))
                    && !loops::directive::any(&region.function) =>
            {
                // Of a nest in a region the region has been told.
                if region.info.marked || auto {
                    warnings.extend(failure.diagnostics.iter().filter_map(told));
                }
                failed.get_or_insert(failure);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        done += 1;
        let kept = |d: &Diagnostic| auto && !request.remarks && d.code.0 == "C0505";
        warnings.extend(one.warnings.into_iter().filter(|d| !kept(d)));
        reassociated |= crate::check::reassociates(&region.function);
        promises.extend(one.promise);
        replacements.extend(one.replacement.map(|replacement| Replacement { region: k, ..replacement }));
    }
    if let Some(failure) = failed.filter(|_| done == 0) {
        // What is wrong with regions is said of these, and not of the nests in them.
        let marked = file.regions.iter().any(|region| region.info.marked);
        if !marked && !auto && !file.refused.is_empty() {
            return Err(Failure::in_source(source, file.refused.clone()));
        }
        return Err(failure);
    }
    let splice = if request.lines { cfront::splice_with_lines } else { cfront::splice };
    let text = splice(&source.text, file, &replacements).map_err(|d| Failure::in_source(source, vec![d]))?;
    let macros = file.regions.iter().flat_map(|r| r.info.macros.iter().cloned()).collect();
    let notes = match auto {
        true => vec![summary(source, replacements.len(), request)],
        false => Vec::new(),
    };
    // A nest and the loops in it may be refused for one reason.
    let mut told = Vec::new();
    warnings.retain(|d| {
        let one = (d.code.0, d.message.clone(), d.labels.first().map(|label| label.span));
        let first = !told.contains(&one);
        told.push(one);
        first
    });
    Ok(Emission { text, warnings, notes, macros, promises, reassociated })
}

/// How many loop nests of a file without pragmas have a new text.
fn summary(source: &Source, done: usize, request: &Request) -> String {
    let nests = match done {
        1 => "1 loop nest is".to_owned(),
        _ => format!("{done} loop nests are"),
    };
    let others = match request.remarks {
        true => "others stay as they are",
        false => "`--remarks` says why others stay as they are",
    };
    format!("note: {}: {nests} translated; {others}", source.path)
}

/// What a region becomes.
#[derive(Default)]
struct Rewritten {
    /// None if it keeps its text.
    replacement: Option<Replacement>,
    warnings: Vec<Diagnostic>,
    promise: Option<super::Promise>,
}

/// What the optimizer makes of a region.
enum Made {
    /// The text stays, perhaps for a reason that is to be told.
    Text(Option<Diagnostic>),
    /// A function; with the condition under which it pays: that of [`gain::threads`], or of
    /// [`gain::work`].
    Function(Function, Option<gain::Pays>),
}

fn made(source: &Source, region: &cfront::Region, request: &Request) -> Result<Made, Failure> {
    let info = &region.info;
    let placed = |mut failure: Failure| {
        // A schedule has a text of its own.
        if failure.source.as_ref().is_some_and(|own| own.path != source.path) {
            return failure;
        }
        for diagnostic in failure.diagnostics.iter_mut().filter(|d| d.labels.is_empty()) {
            *diagnostic = diagnostic.clone().at(first_line(source, info), "this region");
        }
        failure
    };
    let optimised = optimise(source, &region.function, request, true).map_err(placed)?;
    let Some(optimised) = optimised else { return Ok(Made::Text(None)) };
    if let Some(why) = &optimised.report.left {
        let message = format!("the region is not optimized: {why}");
        let place = first_line(source, info);
        let mut warning = loops::Diagnostic::error(loops::Code("P0002"), message, place, "too large");
        warning.severity = loops::Severity::Warning;
        return Ok(Made::Text(Some(warning.help("split it into smaller regions"))));
    }
    // Records in lanes are faster on one thread, in whatever order the loops around them are.
    let speculates = passes::SPECULATIVE_VECTORIZATION.run(&optimised.function).is_some();
    let calls = gain::calls_extremes(region);
    if optimised.report.as_written && !calls && !speculates {
        return Ok(Made::Text(Some(kept(source, info))));
    }
    let (on_one_thread, contracted) = (optimised.report.on_one_thread, optimised.report.contracted);
    // Rows at once that wait for each other are faster on one thread, too.
    let faster = speculates || passes::SKEWED_ROWS.run(&optimised.function).is_some();
    let function = after_schedule(&region.function, optimised.function);
    if function.body == region.function.body && !calls {
        return Ok(Made::Text(Some(kept(source, info))));
    }
    let mut pays = None;
    let machine = super::c::machine(request)?;
    let outcome = gain::Outcome { source, region, function: &function, packs: contracted, machine: &machine };
    // To read subscripts before the region is worth it for threads alone, too.
    let inspects = info.may_alias.iter().any(|pair| pair.inspects) && !request.assume_no_alias;
    if inspects || !faster && gain::by_threads_alone(&region.function, &function, info, on_one_thread) {
        pays = gain::threads(outcome);
        if pays.is_none() {
            return Ok(Made::Text(Some(kept(source, info))));
        }
    } else if on_one_thread.is_some() && !loops::directive::any(&region.function) {
        pays = gain::work(outcome);
    }
    Ok(Made::Function(function, pays))
}

/// Whether a region keeps its text, so that it does not matter which of its pointers overlap.
pub(super) fn keeps_text(source: &Source, region: &cfront::Region, request: &Request) -> bool {
    let chosen = matches!(request.schedule, Schedule::Usual | Schedule::Auto);
    chosen && matches!(made(source, region, request), Ok(Made::Text(_)))
}

fn rewritten(source: &Source, region: &cfront::Region, request: &Request) -> Result<Rewritten, Failure> {
    let info = &region.info;
    // Where it is neither proved nor tested that pointers are apart, it is refused, unless it keeps
    // its text anyway.
    let refused = versions::tested(source, info, Vec::new(), request).err();
    if let Some(refused) = refused.filter(|_| !keeps_text(source, region, request)) {
        return Err(refused);
    }
    let mut one = Rewritten { warnings: region.warnings.clone(), ..Rewritten::default() };
    let (function, pays) = match made(source, region, request)? {
        Made::Text(why) => {
            one.warnings.extend(why);
            return Ok(one);
        }
        Made::Function(function, pays) => (function, pays),
    };
    let Some(sizes) = versions::sizes_that_fit(info, &function) else {
        one.warnings.push(versions::beyond(source, info));
        return Ok(one);
    };
    let (mut definitions, mut macros) = (Vec::new(), Vec::new());
    for defined in pays.iter().flat_map(|pays| &pays.defined) {
        match defined {
            gain::Macro::OfFile(text) => definitions.push((*text).to_owned()),
            gain::Macro::Here(text) => macros.push(text.clone()),
        }
    }
    // The tests of sizes come first: the arithmetic of the others then fits.
    let of_sizes = sizes.len();
    let Tested { mut conditions, note } = versions::tested(source, info, sizes, request)?;
    let keeps_pace = pays.is_some();
    // Not an assumption: results are the same.
    conditions.splice(of_sizes..of_sizes, pays.map(|pays| pays.condition));
    one.promise = Some(versions::promise(info, note.as_ref(), request));
    let mut names = names(&source.text, info);
    if !conditions.is_empty() || !info.assumptions.is_empty() {
        names.indent.push_str(INSIDE);
    }
    one.warnings.extend(note);
    let cpp = super::c::language(&source.path) == cfront::Language::Cpp;
    let options = targets::Options { cpp, ..targets::Options::default() };
    let made =
        targets::region_text(&function, &names, &options).map_err(|d| Failure::in_source(source, vec![d]))?;
    let targets::RegionText { text, around, .. } = made;
    one.replacement = Some(Replacement {
        region: 0,
        text,
        conditions,
        definitions,
        macros,
        keeps_pace,
        around,
        ..Replacement::default()
    });
    Ok(one)
}

/// That a region keeps its text: C compilers know best how to compile what people write.
fn kept(source: &Source, info: &RegionInfo) -> Diagnostic {
    let message = "the region keeps its text: no other order is predicted to be faster";
    let place = first_line(source, info);
    let mut note = Diagnostic::error(loops::Code("C0505"), message, place, "this region");
    note.severity = loops::Severity::Note;
    note.help("`lozenge explain` lists what was considered")
}
