//! Candidates for the order of a function, and the choice among them.
//!
//! There are the affine schedule, after the passes that let it have better tiles, and the order of
//! the text, with what is free in it in parallel or without. The cost model chooses: the text is
//! taken where the schedule is predicted to take longer by a margin.

use ::optimize::{Candidate, Cost, MARGIN, choose, cost};
use loops::{Function, Stmt};
use passes::Pass;

use super::{
    Analysed, Bounds, Loops, Made, Optimized, Options, Report, Tiling, analyse, as_it_is, as_text,
    declares_inside, finish, in_parts, lowering, of_parts, optimize_as_it_is, parts,
};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality;
use crate::model::Model;
use crate::transform::contraction::{self, Split};
use crate::tree::Tree;

/// The candidate that is predicted to take least.
pub(super) fn best(function: &Function, options: &Options, bounds: Bounds) -> Result<Optimized> {
    let affine = scheduled(function, options, bounds)?;
    let one_thread = options.machine.one_thread();
    let cycles = |function: &Function| cost(function, &one_thread).cycles();
    // Who gives tile sizes, or asks for less, gets that.
    let free = options.parallel && options.vector && matches!(options.tiling, Tiling::Caches(_));
    let behind = cycles(function) * MARGIN < cycles(&affine.function);
    let (mut first, mut others) = (Vec::new(), Vec::new());
    let all = options.all_candidates;
    // What is only repeated needs no schedule that looks at several repetitions.
    if free && parts::repeats(function) {
        first.extend(nest_by_nest(function, options));
    } else if free && (all || cycles(function) < WEAK * cycles(&affine.function)) {
        others.extend(nest_by_nest(function, options));
    }
    if free {
        others.extend(split_at_pivots(function, options, bounds));
    }
    // Windows of contractions are in their register tiles.
    if free && !affine.report.contracted {
        others.extend(written_out(function, options, bounds));
    }
    // A schedule without tiles that wins nothing on one thread has to win more than parallel loops
    // of the text do.
    let plain =
        !affine.report.tiled && !affine.report.contracted && nests(&affine.function) > nests(function);
    let level = behind || (plain && cycles(function) < MARGIN * cycles(&affine.function));
    // Where declarations could not stay inside, the schedule may have lost what is free in the
    // text.
    let shared = !affine.schedule.code.is_some_and(|code| code.private);
    let lost = (affine.gain() == 0 || shared) && declares_inside(&function.body, false);
    if free && (all || level || lost) {
        let mut of_text = in_order_of_text(function, options, bounds);
        if level && !behind {
            first.extend(of_text.pop_if(|(name, _)| name == ORDER_OF_TEXT));
        }
        others.extend(of_text.into_iter().filter(|(_, one)| one.function.body != affine.function.body));
    }
    let candidates = first.into_iter().chain([(affine.name(function), affine)]).chain(others);
    let (mut result, lines, chosen) = chosen(candidates, options)?;
    result.report.candidates = lines;
    result.report.on_one_thread = Some(on_one_thread(function, &result.function, options));
    if !(all || level || lost) && result.function.body != function.body {
        let text = cost(function, &options.machine);
        result.report.candidates.push(text.beside(AS_IT_IS, &chosen));
    }
    Ok(result)
}

/// How many times as fast as a function another one is predicted to be on one thread.
pub(super) fn on_one_thread(function: &Function, other: &Function, options: &Options) -> f64 {
    let machine = options.machine.one_thread();
    cost(function, &machine).cycles() / cost(other, &machine).cycles().max(1.0)
}

/// The candidate that is predicted to take least, with a line for each of them and what is
/// predicted for the chosen one. It keeps the schedules of the others.
fn chosen(
    candidates: impl IntoIterator<Item = (String, Optimized)>,
    options: &Options,
) -> Result<(Optimized, Vec<String>, Cost)> {
    let candidate = |(name, value): (String, Optimized)| {
        let cost = cost(&value.function, &options.machine);
        Candidate { name, value, cost }
    };
    let choice = choose(candidates.into_iter().map(candidate).collect());
    let Some(choice) = choice else { return Err(fault::limit("candidates")) };
    let mut result = choice.chosen.value;
    result.others.extend(choice.others.into_iter().map(|other| (other.name, other.value.schedule)));
    Ok((result, choice.lines, choice.chosen.cost))
}

/// What the order of the text is called, with what is free in it in parallel and in lanes.
const ORDER_OF_TEXT: &str = "the order of the text with parallel loops and lanes";

/// The best in the order of the text, unless the best with updates in any order is predicted to
/// take less by a margin: more freedom gives no slower code.
pub(super) fn with_or_without_freedom(
    free: Optimized,
    strict: Optimized,
    function: &Function,
    options: &Options,
) -> Result<Optimized> {
    let candidate = |name: &str, value: Optimized| (format!("{}, {name}", value.name(function)), value);
    // What keeps the order has more orders that are as fast, and the model sees no reuse in time:
    // so the first stays unless the other is predicted to be faster by a margin.
    let candidates =
        [candidate("updates in the order of the text", strict), candidate("updates in any order", free)];
    let (mut result, lines, _) = chosen(candidates, options)?;
    // The candidates of the chosen one are listed behind these.
    let others = std::mem::replace(&mut result.report.candidates, lines);
    result.report.candidates.extend(others.into_iter().skip(1));
    Ok(result)
}

/// Nests of loops.
fn nests(function: &Function) -> usize {
    function.body.iter().filter(|stmt| matches!(stmt, Stmt::Loop(_))).count()
}

/// What the text without any change is called.
const AS_IT_IS: &str = "the text as it is";

impl Optimized {
    /// What a result of the scheduler is called among candidates.
    fn name(&self, text: &Function) -> String {
        if self.function.body == text.body {
            return AS_IT_IS.to_owned();
        }
        let written = self.schedule.code.is_some_and(|code| code.loops != Loops::Scanned);
        let before: Vec<&str> = self.schedule.before.iter().map(|pass| pass.name()).collect();
        let tiles = match (self.report.contracted, self.report.tiled) {
            (true, _) => " with register tiles",
            (false, true) => " with tiles",
            (false, false) => "",
        };
        let after = if before.is_empty() { String::new() } else { format!(" after {}", before.join(", ")) };
        let what = if written { ORDER_OF_TEXT } else { "affine schedule" };
        format!("{what}{tiles}{after}")
    }
}

/// A schedule that is predicted to be less than so many times as fast as the text is worth another
/// try.
const WEAK: f64 = 1.5;

/// The result with tiles, if they are predicted to pay; else the loops of the same schedule as they
/// are.
pub(super) fn with_or_without_tiles(
    at: (&Model, &[Dependence]),
    function: &Function,
    tree: Tree,
    tiled: ((Made, Tree), Report),
    (options, bounds): (&Options, Bounds),
) -> ((Made, Tree), Report) {
    let report = &tiled.1;
    if !report.tiled || report.contracted || !matches!(options.tiling, Tiling::Caches(_)) {
        return tiled;
    }
    let mut plainly = report.clone();
    let plain = Options { tiling: Tiling::None, contraction: None, ..options.clone() };
    match lowering::realise(at, function, tree, &plain, (Split::Rows, bounds.choice), &mut plainly) {
        Ok(untiled) => {
            let cycles = |made: &Made| cost(&made.generated.function, &options.machine).cycles();
            let (with, without) = (cycles(&tiled.0.0), cycles(&untiled.0));
            if with * MARGIN <= without {
                return tiled;
            }
            plainly.notes.push(format!(
                "tiles were left out: with them it is predicted to take {:.2} times as long, and they have to be faster by a margin",
                with / without.max(1.0)
            ));
            (untiled, plainly)
        }
        Err(_) => tiled,
    }
}

/// The function with outer loops in the order of the text, and each nest in them on its own;
/// nothing where no loop holds several or only repeats what is in it.
fn nest_by_nest(function: &Function, options: &Options) -> Option<(String, Optimized)> {
    let repeats = parts::repeats(function);
    if !parts::has_several(&function.body) && !repeats {
        return None;
    }
    let whole = as_it_is(function, fault::limit("operations")).ok()?;
    let parts = parts::one_by_one(function, options)?;
    let note = match repeats {
        true => "the loop around only repeats what is in it",
        false => "outer loops that hold several nests are in the order of the text",
    };
    Some(("nest by nest".to_owned(), of_parts(function, whole, parts, note.to_owned())))
}

/// The function in the order of its text: with what is free in it in parallel and in lanes, and as
/// it is.
fn in_order_of_text(function: &Function, options: &Options, bounds: Bounds) -> Vec<(String, Optimized)> {
    let Ok(Analysed { known, dependences, report }) = analyse(function, options, bounds) else {
        return Vec::new();
    };
    let marked = (ORDER_OF_TEXT, options.clone());
    let plain = (AS_IT_IS, Options { parallel: false, vector: false, jam: 1, ..options.clone() });
    let one = |(name, options): (&str, Options)| {
        let mut report = report.clone();
        let made = as_text((&known.model, &dependences), function, &options, bounds.choice, &mut report);
        made.ok().map(|(made, tree)| (name.to_owned(), finish(made, tree, report)))
    };
    [plain, marked].into_iter().filter_map(one).collect()
}

/// The order of the text with loops in three at the pivots of outer loops, and what is free then in
/// parallel and in lanes; nothing where there are none.
fn split_at_pivots(function: &Function, options: &Options, bounds: Bounds) -> Option<(String, Optimized)> {
    let pass = &passes::PIVOT_SPLITTING;
    let split = pass.run(function)?;
    let Analysed { known, dependences, mut report } = analyse(&split, options, bounds).ok()?;
    let at = (&known.model, &dependences[..]);
    let (made, tree) = as_text(at, &split, options, bounds.choice, &mut report).ok()?;
    let told = "loops over rows and columns are split at the pivot";
    let result = finish(made, tree, report).after(pass, split, told);
    Some((result.name(function), result))
}

/// Candidates with short loops as straight code, so that loops around them can run in lanes: the
/// affine schedule, and the order of the text; nothing where there are no such loops.
fn written_out(function: &Function, options: &Options, bounds: Bounds) -> Vec<(String, Optimized)> {
    let pass = &passes::COMPLETE_UNROLLING;
    let Some(straight) = pass.run(function) else { return Vec::new() };
    let in_order = || {
        let Analysed { known, dependences, mut report } = analyse(&straight, options, bounds).ok()?;
        let at = (&known.model, &dependences[..]);
        let made = as_text(at, &straight, options, bounds.choice, &mut report).ok()?;
        Some(finish(made.0, made.1, report))
    };
    // Of more statements the scheduler's program grows beyond what its operations count: two
    // stencils with 28 points a row, written out, kept it for more than ten minutes.
    let few = loops::visit::assigns(&straight.body).count() <= options.cluster;
    let affine = few.then(|| scheduled(&straight, options, bounds).ok()).flatten();
    let told = "short loops are straight code";
    let all = [affine, in_order()].into_iter().flatten();
    all.map(|one| one.after(pass, straight.clone(), told)).map(|one| (one.name(function), one)).collect()
}

/// The affine schedule of a function, after the passes that let it have better tiles.
fn scheduled(function: &Function, options: &Options, bounds: Bounds) -> Result<Optimized> {
    for before in &BEFORE {
        if let Some(made) = before.pass.run(function)
            && (before.asked)(function, &made, options)
            && let Ok(result) = optimize_as_it_is(&made, options, bounds)
            && (before.pays)(&result.report)
        {
            return Ok(result.after(before.pass, made, before.told));
        }
    }
    let whole = optimize_as_it_is(function, options, bounds);
    // Scalars that only name a value, if tiles or parallel loops are found without them.
    if let Ok(with) = &whole
        && options.tiling != Tiling::None
        && with.gain() < 2
        && let Some(without) = passes::COPY_PROPAGATION.run(function)
        && let Ok(result) = scheduled(&without, options, bounds)
        && result.gain() > with.gain()
    {
        let what = "values are put where local scalars name them";
        return Ok(result.after(&passes::COPY_PROPAGATION, without, what));
    }
    match whole {
        // Too large to be looked at as a whole.
        Err(limit) if fault::is_limit(&limit) => in_parts(function, options, limit),
        whole => or_shared(whole, function, options, bounds),
    }
}

/// What is declared inside a loop and could not be declared there again: its storage is shared, as
/// the order of the text allows.
fn or_shared(
    whole: Result<Optimized>,
    function: &Function,
    options: &Options,
    bounds: Bounds,
) -> Result<Optimized> {
    match whole {
        Err(refused) if options.private && declares_inside(&function.body, false) => {
            let shared = Options { private: false, ..options.clone() };
            let mut result = optimize_as_it_is(function, &shared, bounds)?;
            result.report.notes.push(format!("local arrays are shared by iterations: {}", refused.message));
            Ok(result)
        }
        whole => whole,
    }
}

/// A pass that is tried before the scheduler.
struct Before {
    pass: &'static Pass,
    /// What is told of it.
    told: &'static str,
    /// Whether it is tried, by the function before it and after it.
    asked: fn(&Function, &Function, &Options) -> bool,
    /// Whether the result is taken.
    pays: fn(&Report) -> bool,
}

/// For storage of its own where nests contract then: a scalar of each iteration, or an array that
/// it fills anew, keeps nests together. Where it is stored, or with elements of its own, they come
/// apart.
const fn expansion(pass: &'static Pass, told: &'static str) -> Before {
    Before {
        pass,
        told,
        asked: |_, made, options| options.contraction.is_some() && contraction::may_contract(made),
        pays: |report| report.contracted,
    }
}

/// The passes that are tried before the scheduler, in their order; the first that pays is taken.
const BEFORE: [Before; 4] = [
    expansion(&passes::STORE_FORWARDING, STORED),
    expansion(&passes::SCALAR_EXPANSION, "local scalars have an element for each iteration"),
    expansion(&passes::ARRAY_EXPANSION, "an array that is filled anew has a part for each iteration"),
    // A sum that goes across memory, row by row instead.
    Before {
        pass: &passes::STORE_FORWARDING,
        told: STORED,
        asked: |function, _, options| {
            let across = locality::sum_across(&function.body);
            options.tiling != Tiling::None && across.is_some_and(|sum| sum.scalar)
        },
        pays: |report| report.tiled,
    },
];

const STORED: &str = "sums are made in the elements that they are stored to";
