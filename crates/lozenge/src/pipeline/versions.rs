//! What is tested before a region of a C file: where it does not hold, the text of the region runs
//! as it was written.
//!
//! Three things: what the front end assumes of sizes, that pointers do not overlap, and that index
//! arithmetic of the result fits in 64 bits.

use cfront::{AliasPair, RegionInfo, SizeVariable};
use loops::fits::{self, Ranges};
use loops::{Code, Diagnostic, Function, Severity};

use super::Promise;
use super::c::first_line;
use crate::failure::{Failure, Source};
use crate::request::{Request, Schedule};

/// Sizes of 64 bits are at most 2 to this power where that is tested: more elements than any memory
/// has.
const BITS: u32 = 48;

/// What is tested before a region, beside what the front end assumes.
pub(crate) struct Tested {
    /// In C.
    pub conditions: Vec<String>,
    /// All of it, for people; none if there is nothing.
    pub note: Option<Diagnostic>,
}

/// What has to be tested before the result of a region runs.
///
/// # Errors
/// `X0802` where pointers may overlap, and neither a test nor the user tells.
pub fn tested(
    source: &Source,
    info: &RegionInfo,
    sizes: Vec<(String, String)>,
    request: &Request,
) -> Result<Tested, Failure> {
    let mut all = sizes;
    let mut untested = Vec::new();
    for pair in &info.may_alias {
        match &pair.apart {
            // Who says that they do not overlap does not want them to be read for that.
            Some(_) if pair.inspects && request.assume_no_alias => {}
            Some(apart) => {
                // One condition may be for several pairs.
                let known = all.iter().any(|(condition, _)| condition == apart);
                let apart = if known { String::new() } else { apart.clone() };
                all.push((apart, format!("`{}` and `{}` do not overlap", pair.first, pair.second)));
            }
            None => untested.push(pair),
        }
    }
    if let Some(pair) = untested.first().filter(|_| !request.assume_no_alias) {
        return Err(may_overlap(source, info, (&pair.first, &pair.second), untested.len() - 1, request));
    }
    let (mut conditions, mut says): (Vec<String>, Vec<String>) = all.into_iter().unzip();
    conditions.retain(|condition| !condition.is_empty());
    says.extend(info.assumptions.iter().map(|a| {
        let line = source.text[..a.span.start as usize].matches('\n').count() + 1;
        format!("{} (line {line})", a.says)
    }));
    let note = (!says.is_empty()).then(|| {
        let message = "a condition is tested before the region; if it does not hold, the original code runs";
        let mut note = Diagnostic::error(Code("C0501"), message, first_line(source, info), "this region");
        note.severity = Severity::Note;
        says.iter().fold(note, |note, says| note.note(format!("tested: {says}")))
    });
    Ok(Tested { conditions, note })
}

/// What the result of a region goes by; `note` tells what is tested.
pub fn promise(info: &RegionInfo, note: Option<&Diagnostic>, request: &Request) -> Promise {
    let tested = |pair: &AliasPair| pair.apart.is_some() && !(pair.inspects && request.assume_no_alias);
    let untested = info.may_alias.iter().filter(|pair| !tested(pair));
    let notes = note.map(|note| note.notes.iter().map(|text| text.trim_start_matches("tested: ").to_owned()));
    Promise {
        function: info.c_function.clone(),
        assumed: untested
            .map(|pair| format!("`{}` and `{}` do not overlap", pair.first, pair.second))
            .collect(),
        tested: notes.map(Iterator::collect).unwrap_or_default(),
    }
}

/// Conditions on sizes under which all index arithmetic of a function fits in 64 bits, each with
/// what it says; none if there are no such.
pub(crate) fn sizes_that_fit(info: &RegionInfo, function: &Function) -> Option<Vec<(String, String)>> {
    let unsigned = |s: &SizeVariable| s.c_type.starts_with("unsigned");
    let long = |s: &SizeVariable| s.c_type.contains("long");
    // What has no sign is converted to `long` in any case.
    let choices: [&dyn Fn(&SizeVariable) -> bool; 4] =
        [&|s| s.tested && unsigned(s), &|s| s.tested, &|s| long(s), &|_| true];
    // Products of three, four and more sizes need smaller ones.
    let few = [20, 15, 12, 10].map(|bits| (choices[3], bits));
    choices[..3].iter().map(|tested| (*tested, BITS)).chain(few).find_map(|(tested, bits)| {
        let most = 1i128 << bits;
        // What its type bounds already needs no test.
        let tested = |s: &&SizeVariable| tested(s) && !(s.values.0 >= -most && s.values.1 <= most);
        let range = |s: &SizeVariable| {
            let range = match tested(&s) {
                true => (if unsigned(s) { 0 } else { -most }, most),
                false => s.values,
            };
            (s.name.clone(), range)
        };
        let ranges: Ranges = info.sizes.iter().map(range).collect();
        fits::check(function, &ranges).ok()?;
        Some(info.sizes.iter().filter(tested).map(|s| condition(s, bits)).collect())
    })
}

fn condition(size: &SizeVariable, bits: u32) -> (String, String) {
    let name = &size.c_name;
    match size.c_type.starts_with("unsigned") {
        true => (format!("{name} <= 1UL << {bits}"), format!("`{name}` is at most 2^{bits}")),
        false => (
            format!("{name} >= -(1L << {bits}) && {name} <= 1L << {bits}"),
            format!("`{name}` is between -2^{bits} and 2^{bits}"),
        ),
    }
}

/// The warning of a region that stays as it is, since no test would make its index arithmetic fit.
pub fn beyond(source: &Source, info: &RegionInfo) -> Diagnostic {
    let message = "the region is not optimized: in another order its index arithmetic may exceed 64 bits";
    let mut warning =
        Diagnostic::error(Code("C0504"), message, first_line(source, info), "numbers too large");
    warning.severity = Severity::Warning;
    warning.help("keep large constants out of its subscripts and bounds")
}

/// `X0802` where pointers may overlap and nothing says that they do not.
fn may_overlap(
    source: &Source,
    info: &RegionInfo,
    (first, second): (&str, &str),
    others: usize,
    request: &Request,
) -> Failure {
    let diagnostic = Diagnostic::error(
        Code("X0802"),
        format!("`{first}` and `{second}` may overlap, so their accesses can't be reordered"),
        first_line(source, info),
        "in this region",
    )
    .note(match first.ends_with(']') || second.ends_with(']') {
        true => "its rows are where pointers in memory point, which is not tested before the region",
        false => "which elements of one of them are accessed depends on data, so this cannot be tested before the region",
    });
    let diagnostic =
        if others > 0 { diagnostic.note(format!("and {others} other pairs")) } else { diagnostic };
    let diagnostic = match request.schedule {
        Schedule::Original => diagnostic
            .note("this also holds for `--schedule none`: generated code assumes that arrays are distinct"),
        _ => diagnostic,
    };
    Failure::in_source(
        source,
        vec![
            diagnostic.help(match first.ends_with(']') || second.ends_with(']') {
                true => "give --assume-no-alias if rows never overlap, or use an array of two dimensions: `double (*a)[n]`",
                false => "declare the pointers `restrict`, or give --assume-no-alias if they never overlap",
            }),
        ],
    )
}
