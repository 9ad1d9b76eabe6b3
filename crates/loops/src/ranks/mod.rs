//! Programs for several ranks, each with a memory of its own: the level above a [`Function`].
//!
//! All ranks run the same steps. Arrays are cut into blocks, and a rank holds its own blocks. A
//! [`Run`] is loops that each rank executes on what it holds. A [`Fetch`] brings a box of an array
//! from its owners to the ranks that need it, a [`Return`] brings a box back to its owners. No
//! other step moves data, and between them ranks do not see each other.
//!
//! Subscripts are those of the whole array everywhere. The bounds of a rank's block of a cut are
//! the names [`Cut::low`] and [`Cut::high`]. In each dimension, block `k` of a cut goes from
//! `k * width` to `(k + 1) * width` and belongs to the rank with coordinate `k mod ranks` on the
//! cut's axis.
//!
//! - The text: `Display`, and [`parse`]. `parse(&program.to_string()) == Ok(program)`.
//! - What it means: [`run`], with separate memories. It counts messages and bytes.
//! - [`check`] says whether the parts fit each other.
//!
//! Not here: which arrays are cut, and what has to move (`polyhedral::ranks`).

mod check;
mod messages;
mod parse;
mod rank_memory;
mod rank_text;
mod run;

use std::collections::BTreeSet;

use crate::expr::Expr;
use crate::name::Name;
use crate::program::{ArrayDecl, Function, ParamMode, ReduceOp, Stmt};
use crate::visit::locals;

pub use check::{check, may_fetch_ahead};
pub use messages::{Grid, Numbers, Place, Range, Transfer, transfers};
pub use parse::parse;
pub use run::{Ran, Traffic, count, run};

/// A program for several ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankProgram {
    /// Name, sizes, assumptions and parameters of the function that this computes; no body.
    pub interface: Function,
    /// Dimensions of the grid of ranks: 1 or 2.
    pub axes: usize,
    /// Ranges of subscripts that are cut into blocks.
    pub cuts: Vec<Cut>,
    /// Where each parameter is, and each array that lives between runs.
    pub places: Vec<Placed>,
    /// The steps, in order.
    pub body: Vec<Step>,
}

/// A range of subscripts `0..extent`, cut into blocks that are dealt out along an axis of the grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Its name.
    pub name: Name,
    /// The number of subscripts.
    pub extent: Expr,
    /// The axis of the grid.
    pub axis: usize,
    /// Subscripts in a block. None: as many as give each rank at most one block.
    pub width: Option<i64>,
}

impl Cut {
    /// The name of the first subscript of the rank's block.
    pub fn low(&self) -> Name {
        Name::new(format!("{}_lo", self.name))
    }

    /// The name of the end of the rank's block.
    pub fn high(&self) -> Name {
        Name::new(format!("{}_hi", self.name))
    }
}

/// An array and where its elements are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Name, element type and extents over sizes.
    pub array: ArrayDecl,
    /// Whether it is a parameter, and its direction.
    pub mode: Option<ParamMode>,
    /// For each dimension the cut, by its number in [`RankProgram::cuts`]. Along an axis on which
    /// no dimension is cut, all ranks hold the same.
    pub cut: Vec<Option<usize>>,
    /// For each dimension how many elements before and after its block a rank has room for.
    pub halo: Vec<(i64, i64)>,
}

impl Placed {
    /// Whether every rank holds the whole array.
    pub fn is_everywhere(&self) -> bool {
        self.cut.iter().all(Option::is_none)
    }

    /// Whether there is room for elements of other ranks.
    pub fn has_halo(&self) -> bool {
        self.halo.iter().any(|h| *h != (0, 0))
    }
}

/// A step that all ranks take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Every rank runs the iterations, in order.
    Loop(Repeat),
    /// Elements go from their owners to ranks that need them.
    Fetch(Fetch),
    /// Elements go back to their owners.
    Return(Return),
    /// Loops on what a rank holds.
    Run(Run),
}

/// `for (var = lower; var < upper; var += step)` on all ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repeat {
    /// The variable.
    pub var: Name,
    /// First value, over sizes and variables around.
    pub lower: Expr,
    /// Exclusive end.
    pub upper: Expr,
    /// At least 1.
    pub step: i64,
    /// Whether the fetches that the body begins with are on their way while the iteration before
    /// runs ([`may_fetch_ahead`]).
    pub ahead: bool,
    /// The steps in it.
    pub body: Vec<Step>,
}

impl Repeat {
    /// The fetches that the body begins with, and what is behind them.
    pub fn first_fetches(&self) -> (Vec<&Fetch>, &[Step]) {
        let first = self.body.iter().map_while(|step| match step {
            Step::Fetch(fetch) => Some(fetch),
            _ => None,
        });
        let first: Vec<&Fetch> = first.collect();
        let rest = &self.body[first.len()..];
        (first, rest)
    }
}

/// Which ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum At {
    /// All.
    All,
    /// Rank 0 alone.
    First,
    /// The last rank alone.
    Last,
    /// All, one after another in the order of their numbers.
    Chain,
}

/// A box of an array: for each dimension the first subscript and the exclusive end. A box that
/// leaves the array is cut off at its borders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elements {
    /// The array.
    pub array: Name,
    /// Over sizes, variables around, and bounds of blocks.
    pub ranges: Vec<(Expr, Expr)>,
    /// Where this does not hold, the box is empty.
    pub when: Option<Expr>,
}

/// Brings the elements of a box to ranks that need them, from their owners.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetch {
    /// What a rank needs, by the bounds of its own blocks.
    pub what: Elements,
    /// A buffer, which then holds the whole box, its own elements too. None: the halo of the array.
    pub into: Option<Name>,
    /// Who needs it.
    pub at: At,
    /// Ranks with no block of one of these cuts need nothing.
    pub working: BTreeSet<usize>,
}

/// Brings a box from one rank to the owners of its elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Return {
    /// The box.
    pub what: Elements,
    /// The buffer that holds it; none if it is an array that every rank holds.
    pub from: Option<Name>,
    /// The rank: [`At::First`] or [`At::Last`].
    pub at: At,
}

/// Loops on what a rank holds. Arrays stand for the rank's own blocks with their halos, buffers for
/// what was fetched last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Who runs it.
    pub at: At,
    /// In a chain: what the next rank gets from the one before. `array` is a buffer, or an array
    /// that every rank holds.
    pub carried: Vec<Elements>,
    /// Arrays that every rank holds, of which each rank computes a part that is combined behind the
    /// run, in any order. Only updates by the operation touch them.
    pub reduced: Vec<(ReduceOp, Name)>,
    /// Fetches into halos that may be on their way while the inner part runs.
    pub during: Vec<Fetch>,
    /// For each cut how far the inner part stays away from the ends of a block. Cuts that are not
    /// named have no borders; nothing if there is nothing on its way.
    pub margins: Vec<Margin>,
    /// The statements, for one block of each cut that they name.
    pub body: Vec<Stmt>,
}

/// How far the inner part of a block is from its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Margin {
    /// The cut.
    pub cut: usize,
    /// Subscripts at the low end.
    pub low: i64,
    /// Subscripts at the high end.
    pub high: i64,
}

impl Run {
    /// Statements without messages on their way.
    pub fn new(at: At, body: Vec<Stmt>) -> Run {
        Run { at, carried: Vec::new(), reduced: Vec::new(), during: Vec::new(), margins: Vec::new(), body }
    }
}

impl RankProgram {
    /// Where an array is.
    pub fn place(&self, array: &Name) -> Option<&Placed> {
        self.places.iter().find(|p| p.array.name == *array)
    }

    /// The buffers, by their names, with the arrays of which they hold a part.
    pub fn buffers(&self) -> Vec<(Name, &Placed)> {
        let mut found: Vec<(Name, &Placed)> = Vec::new();
        let mut add = |fetch: &Fetch| {
            if let (Some(into), Some(placed)) = (&fetch.into, self.place(&fetch.what.array))
                && found.iter().all(|(name, _)| name != into)
            {
                found.push((into.clone(), placed));
            }
        };
        walk(&self.body, &mut |step| match step {
            Step::Fetch(fetch) => add(fetch),
            Step::Run(run) => run.during.iter().for_each(&mut add),
            _ => {}
        });
        found
    }

    /// The cuts whose bounds statements name.
    pub fn cuts_of(&self, body: &[Stmt]) -> BTreeSet<usize> {
        let names = crate::visit::names(body);
        let named = |cut: &Cut| names.contains(&cut.low()) || names.contains(&cut.high());
        (0..self.cuts.len()).filter(|k| named(&self.cuts[*k])).collect()
    }

    /// The declaration of an array or a buffer.
    pub fn declaration(&self, name: &Name) -> Option<ArrayDecl> {
        let own = self.place(name).map(|placed| placed.array.clone());
        own.or_else(|| {
            let buffers = self.buffers();
            let (_, placed) = buffers.iter().find(|(buffer, _)| buffer == name)?;
            Some(ArrayDecl { name: name.clone(), ..placed.array.clone() })
        })
    }
}

/// The arrays that statements read or write and do not declare.
pub fn arrays_of(body: &[Stmt]) -> BTreeSet<Name> {
    let own: BTreeSet<_> = locals(body).map(|local| local.name.clone()).collect();
    let sites = crate::access::accesses(body);
    sites.iter().map(|site| site.access.array.clone()).filter(|name| !own.contains(name)).collect()
}

/// Calls `f` on each step, outer ones first.
pub fn walk<'a>(steps: &'a [Step], f: &mut dyn FnMut(&'a Step)) {
    for step in steps {
        f(step);
        if let Step::Loop(repeat) = step {
            walk(&repeat.body, f);
        }
    }
}
