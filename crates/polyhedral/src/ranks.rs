//! From a function to a program for several ranks ([`loops::ranks`]): arrays are cut into blocks,
//! the owner of an element computes it, and what a rank needs of others is fetched in boxes.
//!
//! - `layout`: which dimension is cut along which axis. `plan`: from statements to steps. `phase`:
//!   one piece on all ranks. `bounds`: what it reads. `tidy`: fetches that are needed once.
//! - `cost`: what a program costs at supposed sizes; of several layouts the cheapest is taken.
//!
//! Results are those of the sequential program to the last bit: no sum is taken apart, unless the
//! user or the program allows it.

mod bounds;
mod cost;
mod layout;
mod lower_bounds;
mod phase;
mod plan;
mod rank_check;
mod redundant_fetches;
mod strip_mining;

use std::collections::BTreeMap;

use loops::ranks::{Grid, Numbers, RankProgram};
use loops::{Code, Diagnostic, Elem, Function, Name};

pub use cost::Network;
pub use layout::{Dealt, Distribution};
pub use lower_bounds::{Least, least};
pub use rank_check::check;

use crate::dependence::{self, Dependence};
use crate::fault::Result;
use crate::model::{self, Model};
use cost::Cost;
use plan::{HaloRoom, Mapper, Planned};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The grid; none: chosen by cost among those with `ranks` ranks.
    pub grid: Option<Vec<i64>>,
    /// The number of ranks that costs are compared for. The program runs on any number.
    pub ranks: i64,
    /// Sizes that costs are compared for.
    pub sizes: BTreeMap<Name, i64>,
    /// Where arrays are, if the user says it.
    pub distribution: Distribution,
    /// The network.
    pub network: Network,
    /// Whether sums may be taken apart: ranks then add up their parts at the same time.
    pub reassociate: bool,
    /// Iterations of a loop over what is fetched that are fetched at a time.
    pub strip: i64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            grid: None,
            ranks: 4,
            sizes: BTreeMap::new(),
            distribution: Distribution::new(),
            network: Network::default(),
            reassociate: false,
            strip: 256,
        }
    }
}

/// A distributed function.
#[derive(Clone, PartialEq, Debug)]
pub struct Distributed {
    /// The program.
    pub program: RankProgram,
    /// What is where, and what runs on one rank and why; a sentence each.
    pub notes: Vec<String>,
    /// Whether a sum is taken apart.
    pub reassociated: bool,
    /// Predicted seconds at the supposed sizes.
    pub seconds: f64,
}

/// The size that is supposed of what nobody gives a size.
const SUPPOSED: i64 = 1000;

/// The largest size is at least this where costs are compared: what is smaller needs no second
/// rank, and is run on several to see what larger ones will do.
const LARGE: i64 = 500;

/// The sizes in the same proportions, with none too small to be dealt out.
fn scale(sizes: &mut Numbers) {
    let largest = sizes.values().copied().max().unwrap_or(0);
    if (1..LARGE).contains(&largest) {
        sizes.values_mut().for_each(|n| *n = n.saturating_mul(LARGE) / largest);
    } else if largest < 1 {
        sizes.values_mut().for_each(|n| *n = LARGE);
    }
}

/// Distributes a function.
///
/// # Errors
/// `P0901`: no layout can hold its arrays; `P0902`: a distribution that does not fit the function.
pub fn map(function: &Function, options: &Options) -> Result<Distributed> {
    let function = loops::visit::with_distinct_locals(function);
    let function = model::label_all(&function)?;
    if let Some(pair) = layout::arrays(&function).iter().find(|p| matches!(p.array.elem, Elem::Pair(..))) {
        let message = format!("`{}` is an array of pairs, which ranks do not exchange", pair.array.name);
        return Err(Diagnostic::general(Code("P0901"), message).help("use two arrays"));
    }
    check_distribution(&function, options)?;
    let flows = Model::extract(&function).and_then(|model| dependence::dataflow(&model)).ok();
    let mut sizes: Numbers = function.sizes.iter().map(|name| (name.clone(), SUPPOSED)).collect();
    sizes.extend(
        options.sizes.iter().filter(|(name, _)| function.sizes.contains(name)).map(|(n, v)| (n.clone(), *v)),
    );
    scale(&mut sizes);
    let grids: Vec<Vec<i64>> = match &options.grid {
        Some(grid) => vec![grid.clone()],
        None => grids(options.ranks),
    };
    let mut best: Option<Distributed> = None;
    let mut refused = None;
    for grid in grids {
        let axes = grid.len();
        let layouts = match options.distribution.is_empty() {
            true => layout::candidates(&function, axes),
            false => vec![options.distribution.clone()],
        };
        for distribution in layouts {
            let frame = layout::frame(&function, axes, &distribution);
            let grid = Grid(grid.clone());
            match one(&function, flows.as_deref(), &frame, (&grid, &sizes, options)) {
                Ok(found) if best.as_ref().is_none_or(|best| found.seconds < best.seconds) => {
                    best = Some(found)
                }
                Ok(_) => {}
                Err(why) => refused = Some(why),
            }
        }
    }
    best.ok_or_else(|| {
        let why = refused.unwrap_or_else(|| "there is no layout".to_owned());
        Diagnostic::general(Code("P0901"), format!("`{}` cannot be distributed: {why}", function.name))
    })
}

/// Grids with this many ranks: a line, and the squarest plane if there is one.
fn grids(ranks: i64) -> Vec<Vec<i64>> {
    let mut found = vec![vec![ranks.max(1)]];
    let rows = (2..).take_while(|rows| rows * rows <= ranks).filter(|rows| ranks % rows == 0).last();
    found.extend(rows.map(|rows| vec![rows, ranks / rows]));
    found
}

/// `P0902`
fn check_distribution(function: &Function, options: &Options) -> Result<()> {
    let axes = options.grid.as_ref().map_or(2, Vec::len);
    let wrong = |message: String| {
        let help = "for each dimension: `*` for whole, `block`, or `cyclic(N)`";
        Err(Diagnostic::general(Code("P0902"), message).help(help))
    };
    for (name, dealt) in &options.distribution {
        let Some(placed) = layout::arrays(function).into_iter().find(|p| p.array.name == *name) else {
            return wrong(format!("`{}` has no array `{name}` to distribute", function.name));
        };
        if placed.array.dims.len() != dealt.len() {
            let (has, given) = (placed.array.dims.len(), dealt.len());
            return wrong(format!("`{name}` has {has} dimensions, and {given} are distributed"));
        }
        let used: Vec<usize> = dealt.iter().flatten().map(|d| d.axis).collect();
        if used.iter().any(|axis| *axis >= axes) || used.iter().filter(|a| **a == 0).count() > 1 {
            return wrong(format!("the grid has too few axes for the distribution of `{name}`"));
        }
        if dealt.iter().flatten().any(|d| d.width.is_some_and(|w| w < 1)) {
            return wrong(format!("a block of `{name}` has no elements"));
        }
    }
    Ok(())
}

/// The function in one layout.
fn one(
    function: &Function,
    flows: Option<&[Dependence]>,
    frame: &RankProgram,
    (grid, sizes, options): (&Grid, &Numbers, &Options),
) -> std::result::Result<Distributed, String> {
    let network = options.network;
    let mut mapper = Mapper::new(
        frame,
        function,
        flows,
        (grid, sizes, network),
        (options.reassociate, options.strip.max(1)),
    );
    let Planned { steps, halos, .. } = mapper.block(&function.body, &[])?;
    let alone = std::mem::take(&mut mapper.alone);
    let mut program = frame.clone();
    program.body = redundant_fetches::steps(steps);
    for HaloRoom { array, dim, before: low, after: high } in halos {
        if let Some(placed) = program.places.iter_mut().find(|p| p.array.name == array) {
            placed.halo[dim].0 = placed.halo[dim].0.max(low);
            placed.halo[dim].1 = placed.halo[dim].1.max(high);
        }
    }
    redundant_fetches::unused(&mut program);
    loops::ranks::check(&program).map_err(|d| d.message)?;
    let seconds =
        Cost::new(&program, grid, sizes, network).map_or(f64::INFINITY, |c| c.steps(&program.body, sizes));
    let notes = notes(&program, &alone);
    let mut reassociated = false;
    loops::ranks::walk(&program.body, &mut |step| {
        reassociated |= matches!(step, loops::ranks::Step::Run(run) if !run.reduced.is_empty());
    });
    Ok(Distributed { program, notes, reassociated, seconds })
}

/// What is where, and what runs on one rank.
fn notes(program: &RankProgram, alone: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for placed in program.places.iter().filter(|p| !p.is_everywhere()) {
        let dims: Vec<String> = placed
            .cut
            .iter()
            .map(|cut| match cut.map(|cut| &program.cuts[cut]) {
                None => "*".to_owned(),
                Some(cut) => match cut.width {
                    None => "block".to_owned(),
                    Some(width) => format!("cyclic({width})"),
                },
            })
            .collect();
        found.push(format!("`{}` is distributed ({})", placed.array.name, dims.join(", ")));
    }
    let on_root: Vec<String> = {
        let mut heads = Vec::new();
        loops::ranks::walk(&program.body, &mut |step| {
            if let loops::ranks::Step::Run(run) = step
                && run.at == loops::ranks::At::First
            {
                heads.extend(run.body.first().map(loops::Stmt::headline));
            }
        });
        heads
    };
    if !on_root.is_empty() {
        let why: Vec<String> = alone.iter().map(|(what, why)| format!("`{what}`: {why}")).collect();
        found.push(format!("{} runs on one rank ({})", parts(on_root.len()), why.join("; ")));
    }
    found
}

fn parts(count: usize) -> String {
    if count == 1 { "a part".to_owned() } else { format!("{count} parts") }
}
