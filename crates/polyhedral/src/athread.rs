//! Mapping to a core group of Sunway: from a function to one whose kernels run on a grid of cores
//! with local memory.
//!
//! The modules are those of the third document (sections 4 to 6), each a function on schedule
//! trees: the heterogeneous split (`host_split`) finds the outermost bands that can run in
//! parallel; tiling (`tile_sizes`) chooses sizes by formulas 14, 17 and 23 and a cost model; data
//! mapping (`data_mapping`) decides what goes to local memory, in which boxes and inside which
//! loop; `mapped_tree` puts threads, tiles, transfers and waits into the tree; `mapped_loops` makes
//! loops of it. The result is a loop program that the interpreter runs: a block `kernel` for each
//! spawn, in it parallel loops over the cores, in them local arrays of kind scratchpad, copies and
//! waits. Two parallel loops in sequence in one kernel are separated by a barrier.
//!
//! A tile is known by its number: `floor(i / size)`, and core `rid` has the tiles with
//! `number mod rows = rid`. So sizes of arrays stay symbolic, no core has more than one tile more
//! than another, and where there is one tile a core this is the block mapping of formula 14.

mod boxes;
mod choice;
mod coherence;
mod data_mapping;
mod final_values;
mod fusion;
mod histograms;
mod host_split;
mod idle_rounds;
mod mapped_loops;
mod mapped_tree;
mod modulo_planes;
mod multicast;
mod multiversioning;
mod old_values;
pub mod pair_splitting;
mod panel;
mod privatisation;
mod reductions;
mod refusals;
mod remainder_rounds;
mod scans;
mod search;
mod shifted_loops;
mod sizing;
mod stationary_shares;
mod steps;
mod tile_sizes;
mod triangles;

use std::collections::BTreeMap;

use loops::{Diagnostic, Function, Name};

use self::host_split::Item;
use crate::check;
use crate::dependence::{self, Dependence};
use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::Model;
use crate::scheduling::{self, Fusion};
use crate::tree::Tree;

pub(crate) use self::reductions::with_updates;

/// The cores of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grid {
    /// One parallel loop, over `tid`.
    Line(i64),
    /// Two parallel loops, over rows `rid` and columns `cid`.
    Plane(i64, i64),
}

impl Grid {
    /// Number of cores.
    pub fn cores(self) -> i64 {
        match self {
            Grid::Line(n) => n,
            Grid::Plane(rows, columns) => rows * columns,
        }
    }
}

/// What the mapping needs to know.
#[derive(Clone, Debug)]
pub struct Options {
    /// The cores.
    pub grid: Grid,
    /// Bytes of a core's local memory that arrays may take.
    pub ldm: i64,
    /// Values of sizes that the tile sizes are chosen for; the code is right for all.
    pub hints: BTreeMap<Name, i64>,
    /// Tile sizes instead of those that the cost model would choose: of the parallel loops of a
    /// kernel, then of the loops inside; the last one holds for further loops. Empty where it
    /// chooses. Panels and rows as a whole have sizes of their own, and are not made then.
    pub tiles: Vec<i64>,
    /// Bound on the set library's operations, for each stage.
    pub operations: u64,
    /// Whether the target lets cores exchange boxes that they have by rows and need by columns;
    /// without that, panels are not worth it.
    pub exchange: bool,
    /// Whether cores bring in together what they need alike.
    pub share: bool,
    /// Whether what each core brings in of a vector that all need may stay, for sizes up to those
    /// that are said; not where another version is for these sizes.
    pub stay: bool,
    /// Whether the schedule trees after the modules are wanted; the mapping itself needs but the
    /// tiled one.
    pub stages: bool,
    /// Whether every update may be reordered and have partial results, which changes how it is
    /// rounded.
    pub reassociate: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            grid: Grid::Plane(8, 8),
            ldm: 60 << 10,
            hints: BTreeMap::new(),
            tiles: Vec::new(),
            operations: 4_000_000,
            exchange: false,
            share: true,
            stay: true,
            stages: true,
            reassociate: false,
        }
    }
}

/// A mapped function.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// Equal in meaning to the function it was made from.
    pub function: Function,
    /// The schedule tree after each module, by the module's name; none if they are not wanted.
    pub stages: Vec<(&'static str, Tree)>,
    /// What was done, a line for each kernel, and what was given up.
    pub notes: Vec<String>,
    /// Whether sums or products of floating point have another order than in the text.
    pub reassociated: bool,
    /// Seconds that the kernels take by the cost model that the mapping was chosen by; 0 where
    /// there was none.
    pub seconds: f64,
    /// Parallel loops of the kernel that takes the longest; 0 where nothing was looked for.
    pub parallel: usize,
    /// Nests of loops that the host runs.
    pub on_host: usize,
    /// Whether there are barriers after steps which another form of the program may do without.
    pub stepped: bool,
}

/// Maps a function.
///
/// # Errors
/// `P0801` nothing is parallel; `P0802` the data of a tile does not fit; `P0806` integers that
/// cores are not given; those of the model and the set library.
pub fn map(function: &Function, options: &Options) -> Result<Mapped> {
    if let Some((what, scalar)) = loops::typing::uncommon(function) {
        return Err(refusals::uncommon(&what, scalar));
    }
    let mut options = options.clone();
    options.hints.values_mut().for_each(|size| *size = (*size).min(tile_sizes::MOST));
    choice::best(function, &options)
}

/// Heavy operations of the scheduler, at most 0.4 ms each; the kernels for which a schedule is
/// found take up to 57,000. Then the order of the text is mapped.
const HEAVY: u64 = 60_000;

/// A stage with its bound on operations; a refusal because of it tells which stage it was.
fn stage<T>(ctx: &isl::Ctx, bound: u64, what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    ctx.limited(bound, work).map_err(|diagnostic| match fault::is_limit(&diagnostic) {
        true => diagnostic.note(format!("it was reached by {what}, on the way to the cores")),
        false => diagnostic,
    })
}

/// Maps a function as it is written, in the best way of those that there are.
fn map_as_it_is(function: &Function, options: &Options) -> Result<Mapped> {
    let ctx = isl::Ctx::new();
    let bound = options.operations;
    let exact = || Model::with_whole_updates(&ctx, function)?.exact();
    let model = stage(&ctx, bound, "the model", exact).map_err(refusals::on_cores)?;
    if let Some(refusal) = guarded(&model).or_else(|| refusals::not_for_cores(&model)) {
        return Err(refusal);
    }
    let mut dependences = stage(&ctx, bound, "dependences", || dependence::memory(&model))?;
    // Local memory is given out by the mapping, not by where something is declared.
    let (storage, own): (Vec<Dependence>, Vec<Dependence>) =
        dependences.iter().cloned().partition(|dependence| dependence.private);
    dependences.iter_mut().for_each(|dependence| dependence.private = false);
    let scheduling = scheduling::Options {
        fusion: Fusion::None,
        limits: Limits::from(options.operations),
        heavy: HEAVY,
        arrays_chain: true,
        ..scheduling::Options::default()
    };
    let scheduled = scheduling::schedule(&model, &dependences, &scheduling)?.tree;
    let (program, in_order) = stage(&ctx, bound, "the split into kernels", || {
        split_into_kernels(&model, &dependences, &scheduled)
    })?;
    if !host_split::has_kernel(&program) {
        if !storage.is_empty()
            && let Ok(apart) = scheduling::schedule(&model, &own, &scheduling)
            && refusals::has_band(&apart.tree, &|band| band.members.iter().any(|m| m.coincident))
        {
            return Err(refusals::one_place(&model, &storage));
        }
        return Err(refusals::nothing_parallel(&model, Some(&scheduled)));
    }
    let chosen = options.tiles.is_empty();
    let panels = || if chosen { panel::panels(&model, &program, options) } else { Ok(None) };
    let panels = stage(&ctx, bound, "panels", panels)?;
    if let Some(panels) = panels
        && let Ok(with_panels) = mapped(&model, &dependences, panels.items, options)
    {
        if panels.bounds.is_empty() {
            return Ok(with_panels);
        }
        // Panels are slow where there are more rows than cores have places for.
        let any = mapped(&model, &dependences, program, &Options { stay: false, ..options.clone() })?;
        return Ok(multiversioning::either(&panels.bounds, with_panels, any));
    }
    // One question at a time: rows as a whole ask how large sizes are as well.
    let stay = options.stay && !model.locals.iter().any(|local| !local.dims.is_empty());
    let options = &Options { stay, ..options.clone() };
    let mut any = mapped(&model, &dependences, program, options)?;
    // A skewed nest with few parallel loops may take longer than the loops inside, started one time
    // step after the other.
    if let Some(other) = in_order
        && let Ok(steps) = mapped(&model, &dependences, other, options)
        && steps.seconds < any.seconds
    {
        any = steps;
    }
    if !chosen {
        return Ok(stationary_shares::bounded(any, options));
    }
    let apart = stage(&ctx, bound, "full rounds", || {
        let Some(apart) = remainder_rounds::apart(&model, &dependences, options)? else { return Ok(None) };
        let own = Model::extract_in(&ctx, &apart.function)?.exact()?;
        let mut between = dependence::memory(&own)?;
        between.iter_mut().for_each(|dependence| dependence.private = false);
        Ok(Some((apart, own, between)))
    });
    // What cannot be told is left as it is.
    let apart = apart.ok().flatten();
    let mut small = rows_as_a_whole(&model, &dependences, options, None);
    if let (Some((_, one)), Some((apart, model, dependences))) = (&small, &apart)
        && let Some(two) = rows_as_a_whole(model, dependences, options, Some(apart))
        && remainder_rounds::is_better(&two.1, one)
    {
        small = Some(two);
    }
    if let Some((bounds, small)) = small
        && multiversioning::is_worth_it(&small, &any)
    {
        return Ok(multiversioning::either(&bounds, small, any));
    }
    if let Some((apart, model, dependences)) = &apart
        && let Ok(scheduled) = scheduling::schedule(model, dependences, &scheduling)
        && let Ok(mut program) =
            stage(&ctx, bound, "full rounds", || host_split::split(model, dependences, &scheduled.tree))
    {
        apart.mark(model, &mut program);
        if let Ok(two) = mapped(model, dependences, program, options)
            && remainder_rounds::is_better(&two, &any)
        {
            return Ok(stationary_shares::bounded(two, options));
        }
    }
    Ok(stationary_shares::bounded(any, options))
}

/// The refusal of a model with a statement that has a condition.
fn guarded(model: &Model) -> Option<Diagnostic> {
    let (guard, statement) = model.statements.iter().find_map(|s| Some((s.guards.first()?, &s.label)))?;
    let refusal = fault::outside(
        &format!("the condition `{guard}` of `{statement}`"),
        "on cores with local memory the data that is moved must not depend on data",
    );
    Some(
        refusal
            .help("write it as a choice between values, `y = condition ? a : y;`, or use `--target openmp`"),
    )
}

/// The kernels of a schedule, or those of the order of the text where they weigh less; and the
/// latter beside the former where they have more parallel loops.
fn split_into_kernels(
    model: &Model,
    dependences: &[Dependence],
    scheduled: &Tree,
) -> Result<(Vec<host_split::Item>, Option<Vec<host_split::Item>>)> {
    let program = host_split::split(model, dependences, scheduled)?;
    let all = host_split::everything_parallel(&program);
    let deepest = model.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0);
    if all && deepest <= host_split::most_parallel(&program) + 1 {
        return Ok((program, None));
    }
    // The order of the text may have parallel loops inside a sequential one, where the scheduler
    // has skewed them into a single nest.
    let original = Tree::original(model)?;
    let marked = host_split::coincident(model, dependences, &original)?;
    let other = host_split::split(model, dependences, &marked)?;
    Ok(match all {
        true => {
            let more = host_split::least_parallel(&other) > host_split::most_parallel(&program);
            (program, more.then_some(other))
        }
        false if host_split::weight(&other) < host_split::weight(&program) => (other, None),
        false => (program, None),
    })
}

/// A program in rows as a whole, with the bounds of its sizes; none if that cannot be. It is one
/// nest, or one with full rounds and one with the rest.
fn rows_as_a_whole(
    model: &Model,
    dependences: &[Dependence],
    options: &Options,
    apart: Option<&remainder_rounds::Apart>,
) -> Option<(BTreeMap<Name, i64>, Mapped)> {
    let nests = if apart.is_some() { 2 } else { 1 };
    let small = || multiversioning::bounded(model, dependences, options, nests);
    let mut small = stage(&model.ctx, options.operations, "rows as a whole", small).ok()??;
    if let Some(apart) = apart {
        apart.mark(&small.model, &mut small.items);
    }
    let mapped = mapped(&small.model, dependences, small.items, options).ok()?;
    Some((small.bounds, mapped))
}

/// A line about loops that are no kernel.
fn stays(names: &str) -> String {
    format!("on the host: the loops that make {names}, none of which can run in parallel")
}

/// Maps a program of kernels.
fn mapped(
    model: &Model,
    dependences: &[Dependence],
    program: Vec<Item>,
    options: &Options,
) -> Result<Mapped> {
    let (ctx, bound) = (&model.ctx, options.operations);
    let mut notes = Vec::new();
    for names in host_split::sequential(model, &program)? {
        notes.push(stays(&names));
    }
    let mut stages = Vec::new();
    if options.stages {
        stages.push(("scheduled", mapped_tree::scheduled(model, &program)?));
        stages.push(("split", mapped_tree::kernels(model, &program)?));
    }
    let choose = || tile_sizes::choose(model, dependences, program.clone(), options, &mut notes);
    let sized = stage(ctx, bound, "tiles and boxes", choose)?;
    let tiled = mapped_tree::tiled(model, &sized)?;
    let check = || check::tree(model, dependences, &tiled);
    stage(ctx, bound.saturating_mul(4), "the check of the tiled program", check)?;
    if options.stages {
        stages.push(("tiled", tiled));
        stages.push(("mapped", mapped_tree::mapped(model, &sized)?));
        stages.push(("copies", mapped_tree::copies(model, &sized)?));
        stages.push(("waits", mapped_tree::whole(model, &sized)?));
    }
    let code = || mapped_loops::generate(model, &sized, &mapped_tree::for_code(model, &sized)?, options);
    let function = idle_rounds::ended(stage(ctx, bound, "code", code)?);
    if options.share && crate::local::collective_copies::check(&function).is_err() {
        // Bounds may be written so that it is not seen that cores need a box alike: then each
        // brings in its own.
        let alone = Options { share: false, ..options.clone() };
        let mut mapped = mapped(model, dependences, program, &alone)?;
        mapped.notes.push(
            "cores do not share boxes: from the bounds it is not seen that they need them alike".to_owned(),
        );
        return Ok(mapped);
    }
    let seconds = tile_sizes::seconds(model, &sized.items, options)?;
    let parallel = tile_sizes::heaviest(&sized.items).map_or(0, |kernel| kernel.parallel.len());
    let on_host = host_split::on_host(&sized.items);
    let stepped = mapped_tree::all_kernels(&sized.items).iter().any(|kernel| kernel.stepped);
    Ok(Mapped { function, stages, notes, reassociated: false, seconds, parallel, on_host, stepped })
}
