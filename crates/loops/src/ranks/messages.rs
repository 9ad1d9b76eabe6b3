//! Which elements a rank holds, and which messages a fetch or a return is: by arithmetic on numbers
//! that every rank can do for every other, so that no rank asks another.

use std::collections::BTreeMap;

use super::{At, Cut, Elements, Fetch, Placed, RankProgram, Return};
use crate::diagnostic::{Code, Diagnostic};
use crate::evaluate;
use crate::expr::Expr;
use crate::name::Name;
use crate::value::Value;

/// Values of sizes and variables.
pub type Numbers = BTreeMap<Name, i64>;

/// A half-open range of subscripts.
pub type Range = (i64, i64);

/// The extents of a grid of ranks, one for each axis. Ranks are numbered along the last axis first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid(pub Vec<i64>);

impl Grid {
    /// How many ranks there are.
    pub fn ranks(&self) -> i64 {
        self.0.iter().product()
    }

    /// The coordinates of a rank.
    pub fn coordinates(&self, rank: i64) -> Vec<i64> {
        let mut rest = rank;
        let mut found: Vec<i64> =
            self.0.iter().rev().map(|extent| (rest % extent, rest /= extent).0).collect();
        found.reverse();
        found
    }
}

/// The most that a run is given.
const NUMBERS: Code = Code("L0401");

/// The value of an index expression.
pub(super) fn number(e: &Expr, numbers: &Numbers) -> Result<i64, Diagnostic> {
    match evaluate::expr(e, &|name| numbers.get(name).copied()) {
        Ok(Value::I64(value)) => Ok(value),
        _ => Err(Diagnostic::general(NUMBERS, format!("`{e}` has no value on a rank"))),
    }
}

/// Whether a condition on indices holds.
fn holds(e: &Expr, numbers: &Numbers) -> Result<bool, Diagnostic> {
    match evaluate::expr(e, &|name| numbers.get(name).copied()) {
        Ok(Value::Bool(value)) => Ok(value),
        _ => Err(Diagnostic::general(NUMBERS, format!("`{e}` has no value on a rank"))),
    }
}

/// A cut at given sizes on a given grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sliced {
    extent: i64,
    width: i64,
    ranks: i64,
}

impl Sliced {
    fn of(cut: &Cut, grid: &Grid, sizes: &Numbers) -> Result<Sliced, Diagnostic> {
        let extent = number(&cut.extent, sizes)?.max(0);
        let ranks = grid.0[cut.axis];
        let width = cut.width.unwrap_or_else(|| (extent + ranks - 1) / ranks).max(1);
        Ok(Sliced { extent, width, ranks })
    }

    /// The blocks of a coordinate. One that has none gets an empty one at the end, so that it can
    /// say where it is.
    fn blocks(self, coordinate: i64) -> Vec<Range> {
        let first = coordinate * self.width;
        let starts = (0..).map(|k| first + k * self.width * self.ranks).take_while(|low| *low < self.extent);
        let found: Vec<Range> = starts.map(|low| (low, (low + self.width).min(self.extent))).collect();
        if found.is_empty() { vec![(self.extent, self.extent)] } else { found }
    }

    /// The coordinates that may own some of a range, in order.
    fn coordinates(self, (low, high): Range) -> Vec<i64> {
        let (first, last) = (low.max(0) / self.width, (high.min(self.extent) - 1) / self.width);
        if last - first + 1 >= self.ranks {
            return (0..self.ranks).collect();
        }
        let mut found: Vec<i64> = (first..=last).map(|block| block % self.ranks).collect();
        found.sort_unstable();
        found
    }
}

/// What ranks hold, at given sizes on a given grid.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The program.
    pub program: &'a RankProgram,
    /// The grid.
    pub grid: Grid,
    /// Values of the sizes.
    pub sizes: Numbers,
    cuts: Vec<Sliced>,
    /// For each cut and each coordinate the blocks.
    blocks: Vec<Vec<Vec<Range>>>,
}

impl<'a> Place<'a> {
    /// The program at these sizes on this grid.
    ///
    /// # Errors
    /// `L0401`: an extent without a value.
    pub fn new(program: &'a RankProgram, grid: &Grid, sizes: &Numbers) -> Result<Place<'a>, Diagnostic> {
        let cuts: Vec<Sliced> =
            program.cuts.iter().map(|cut| Sliced::of(cut, grid, sizes)).collect::<Result<_, _>>()?;
        let blocks = cuts.iter().map(|cut| (0..cut.ranks).map(|c| cut.blocks(c)).collect()).collect();
        Ok(Place { program, grid: grid.clone(), sizes: sizes.clone(), cuts, blocks })
    }

    /// The blocks that a rank has of a cut.
    pub fn blocks(&self, cut: usize, rank: i64) -> &[Range] {
        let axis = self.program.cuts[cut].axis;
        &self.blocks[cut][self.grid.coordinates(rank)[axis] as usize]
    }

    /// The numbers that hold on a rank for every choice of one block of each of these cuts.
    pub fn frames(&self, numbers: &Numbers, cuts: &[usize], rank: i64) -> Vec<Numbers> {
        let mut frames = vec![numbers.clone()];
        for cut in cuts {
            let (low, high) = (self.program.cuts[*cut].low(), self.program.cuts[*cut].high());
            let blocks = self.blocks(*cut, rank);
            let with = |frame: &Numbers, block: &Range| {
                let mut frame = frame.clone();
                frame.insert(low.clone(), block.0);
                frame.insert(high.clone(), block.1);
                frame
            };
            frames = frames.iter().flat_map(|f| blocks.iter().map(move |b| with(f, b))).collect();
        }
        frames
    }

    /// The extents of an array.
    ///
    /// # Errors
    /// `L0401`: one without a value.
    pub fn extents(&self, placed: &Placed) -> Result<Vec<i64>, Diagnostic> {
        placed.array.dims.iter().map(|e| Ok(number(e, &self.sizes)?.max(0))).collect()
    }

    /// What a rank owns of an array: for each dimension its ranges of subscripts.
    ///
    /// # Errors
    /// As [`Place::extents`].
    pub fn owned(&self, placed: &Placed, rank: i64) -> Result<Vec<Vec<Range>>, Diagnostic> {
        let extents = self.extents(placed)?;
        let dims = placed.cut.iter().zip(extents);
        Ok(dims
            .map(|(cut, n)| cut.map_or_else(|| vec![(0, n)], |cut| self.blocks(cut, rank).to_vec()))
            .collect())
    }

    /// The box as numbers, at the blocks of a rank: with several blocks of a cut, the hull of all.
    ///
    /// # Errors
    /// As [`Place::extents`].
    pub fn elements(&self, what: &Elements, numbers: &Numbers, rank: i64) -> Result<Vec<Range>, Diagnostic> {
        let Some(placed) = self.program.place(&what.array) else {
            return Err(Diagnostic::general(NUMBERS, format!("there is no array `{}`", what.array)));
        };
        let mut cuts: Vec<usize> = Vec::new();
        for (k, cut) in self.program.cuts.iter().enumerate() {
            let names = [cut.low(), cut.high()];
            let within = |e: &Expr| e.vars().iter().any(|name| names.contains(name));
            let bounds = what.ranges.iter().flat_map(|(low, high)| [low, high]);
            if bounds.chain(&what.when).any(within) {
                cuts.push(k);
            }
        }
        let mut hull: Option<Vec<Range>> = None;
        for frame in self.frames(numbers, &cuts, rank) {
            let mut found = Vec::with_capacity(what.ranges.len());
            if let Some(when) = &what.when
                && !holds(when, &frame)?
            {
                continue;
            }
            for ((low, high), extent) in what.ranges.iter().zip(self.extents(placed)?) {
                found.push((number(low, &frame)?.max(0), number(high, &frame)?.min(extent)));
            }
            let empty = found.iter().any(|(low, high)| low >= high);
            hull = match hull {
                None => Some(found),
                Some(hull) if empty => Some(hull),
                Some(hull) if hull.iter().any(|(low, high)| low >= high) => Some(found),
                Some(hull) => {
                    Some(hull.iter().zip(&found).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect())
                }
            };
        }
        Ok(hull.unwrap_or_else(|| vec![(0, 0); what.ranges.len()]))
    }

    /// Whether a rank has a block of each of these cuts.
    fn works(&self, cuts: impl IntoIterator<Item = usize>, rank: i64) -> bool {
        cuts.into_iter().all(|cut| self.blocks(cut, rank).iter().any(|(low, high)| low < high))
    }
}

/// A message: what goes from one rank to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The sender.
    pub from: i64,
    /// The receiver; the sender itself where it copies from its block to a buffer.
    pub to: i64,
    /// For each dimension the ranges of subscripts; the elements are their product.
    pub ranges: Vec<Vec<Range>>,
}

impl Transfer {
    /// How many elements go.
    pub fn elements(&self) -> i64 {
        self.ranges.iter().map(|ranges| ranges.iter().map(|(low, high)| high - low).sum::<i64>()).product()
    }

    /// Whether it goes from one rank to another.
    pub fn is_message(&self) -> bool {
        self.from != self.to
    }
}

/// The part of ranges that lies in a range.
fn within(ranges: &[Range], (low, high): Range) -> Vec<Range> {
    let cut = ranges.iter().map(|(a, b)| ((*a).max(low), (*b).min(high)));
    cut.filter(|(a, b)| a < b).collect()
}

/// What a coordinate of an axis has of the dimension that is cut along it, if one is.
type Along = Option<(usize, Vec<Range>)>;

/// The owners of a box, of which a rank needs them, in the order of their numbers; with what of the
/// box each has. Only coordinates that own some of it are looked at.
fn owners(place: &Place, placed: &Placed, rank: i64, wanted: &[Range]) -> Vec<(i64, Vec<Vec<Range>>)> {
    let own = place.grid.coordinates(rank);
    // For each axis the coordinates, with what they have of the dimension that is cut along it.
    let mut axes: Vec<Vec<(i64, Along)>> = own.iter().map(|c| vec![(*c, None)]).collect();
    for (d, cut) in placed.cut.iter().enumerate() {
        let Some(cut) = *cut else { continue };
        let sliced = &place.cuts[cut];
        let having = sliced.coordinates(wanted[d]).into_iter().filter_map(|coordinate| {
            let ranges = within(&place.blocks[cut][coordinate as usize], wanted[d]);
            (!ranges.is_empty()).then_some((coordinate, Some((d, ranges))))
        });
        axes[place.program.cuts[cut].axis] = having.collect();
    }
    let whole: Vec<Vec<Range>> = wanted.iter().map(|range| vec![*range]).collect();
    let mut found = vec![(0, whole)];
    for (axis, coordinates) in axes.iter().enumerate() {
        let extent = place.grid.0[axis];
        let with = |(owner, ranges): &(i64, Vec<Vec<Range>>)| -> Vec<(i64, Vec<Vec<Range>>)> {
            let one = |(coordinate, of): &(i64, Along)| {
                let mut ranges = ranges.clone();
                if let Some((d, part)) = of {
                    ranges[*d].clone_from(part);
                }
                (owner * extent + coordinate, ranges)
            };
            coordinates.iter().map(one).collect()
        };
        found = found.iter().flat_map(with).collect();
    }
    found
}

/// The transfers of a fetch, at these values of sizes and variables; and what each receiver asked
/// for.
///
/// # Errors
/// `L0401`: a bound without a value.
pub fn transfers(place: &Place, fetch: &Fetch, numbers: &Numbers) -> Result<Vec<Transfer>, Diagnostic> {
    let Some(placed) = place.program.place(&fetch.what.array) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for to in 0..place.grid.ranks() {
        let needs = match fetch.at {
            At::First => to == 0,
            At::Last => to == place.grid.ranks() - 1,
            At::All | At::Chain => place.works(fetch.working.iter().copied(), to),
        };
        if !needs {
            continue;
        }
        let wanted = place.elements(&fetch.what, numbers, to)?;
        if wanted.iter().any(|(low, high)| low >= high) {
            continue;
        }
        for (from, ranges) in owners(place, placed, to, &wanted) {
            if from != to || fetch.into.is_some() {
                found.push(Transfer { from, to, ranges });
            }
        }
    }
    Ok(found)
}

/// The transfers of a return.
///
/// # Errors
/// As [`transfers`].
pub(super) fn returned(place: &Place, back: &Return, numbers: &Numbers) -> Result<Vec<Transfer>, Diagnostic> {
    let Some(placed) = place.program.place(&back.what.array) else { return Ok(Vec::new()) };
    let from = if back.at == At::Last { place.grid.ranks() - 1 } else { 0 };
    let held = place.elements(&back.what, numbers, from)?;
    let mut found = Vec::new();
    for to in 0..place.grid.ranks() {
        if from == to && back.from.is_none() {
            continue;
        }
        let owned = place.owned(placed, to)?;
        let ranges: Vec<Vec<Range>> = owned.iter().zip(&held).map(|(o, w)| within(o, *w)).collect();
        let transfer = Transfer { from, to, ranges };
        if transfer.elements() > 0 {
            found.push(transfer);
        }
    }
    Ok(found)
}
