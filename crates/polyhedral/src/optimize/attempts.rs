//! From a scheduled function to loops: ways in the order in which they are tried, and the first
//! that works out within the bounds on work.
//!
//! A later way asks for less. Which of two results is predicted to be faster is asked in
//! `candidates`.

use std::collections::{BTreeSet, VecDeque};

use loops::{Function, Name};

use super::candidates::with_or_without_tiles;
use super::freedom::Freedom;
use super::lowering::{Made, realise};
use super::{Bounds, Optimized, Options, Report, Tiling, as_text, finish};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::transform::contraction::Split;
use crate::tree::Tree;

/// A way from a schedule to loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Register tiles for contractions, with their rows or columns in parallel; tiles for other
    /// nests.
    RegisterTiles(Split),
    /// Tiles for all nests, if any are asked for.
    Tiles,
    /// The loops of the schedule as they are.
    Untiled,
    /// The order of the text, with what is free in it in parallel, or as it is.
    Text { parallel: bool },
}

impl Way {
    fn all(options: &Options) -> VecDeque<Way> {
        let mut ways = VecDeque::new();
        if options.contraction.is_some() {
            ways.extend([Split::Rows, Split::Columns].map(Way::RegisterTiles));
        }
        ways.push_back(Way::Tiles);
        if options.tiling != Tiling::None {
            ways.push_back(Way::Untiled);
        }
        ways.extend([true, false].map(|parallel| Way::Text { parallel }));
        ways
    }

    fn is_text(self) -> bool {
        matches!(self, Way::Text { .. })
    }

    /// The options of the user, as far as the way follows them.
    fn options(self, options: &Options) -> Options {
        let mut options = options.clone();
        if !matches!(self, Way::RegisterTiles(_)) {
            options.contraction = None;
        }
        match self {
            Way::Untiled => options.tiling = Tiling::None,
            Way::Text { parallel: false } => {
                options = Options { parallel: false, vector: false, jam: 1, ..options };
            }
            _ => {}
        }
        options
    }
}

/// What is to become loops.
pub(super) struct Scheduled<'a> {
    pub model: &'a Model,
    pub dependences: &'a [Dependence],
    pub function: &'a Function,
    pub options: &'a Options,
    pub bounds: Bounds,
    pub tree: Tree,
}

impl Scheduled<'_> {
    /// The result of the first way that works out.
    pub fn first(&self, mut report: Report) -> Result<Optimized> {
        let mut ways = Way::all(self.options);
        let mut tiles_given_up = false;
        while let Some(way) = ways.pop_front() {
            let error = match self.by(way, tiles_given_up, &mut report) {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            // Whether it were the register tiles that failed, and not what comes before them.
            let staged = matches!(way, Way::RegisterTiles(_)) && report.contracted;
            let limit = fault::is_limit(&error);
            if !limit && !staged {
                return Err(error);
            }
            let next_is_text = ways.front().is_none_or(|next| next.is_text());
            let what = match way {
                Way::RegisterTiles(Split::Rows) if staged => "parallel rows of register tiles were",
                Way::RegisterTiles(Split::Columns) if staged => "register tiles were",
                Way::RegisterTiles(_) => "tiles were",
                Way::Tiles if !next_is_text => "tiles were",
                Way::Tiles | Way::Untiled => "the new order was",
                Way::Text { .. } => "parallel loops were",
            };
            report.notes.push(format!("{what} given up: {}", error.message));
            tiles_given_up |= matches!(way, Way::Tiles | Way::RegisterTiles(_)) && !staged;
            if limit {
                // The work that is left is for what asks for less.
                ways.retain(|way| match way {
                    Way::RegisterTiles(_) => false,
                    Way::Tiles => staged,
                    Way::Untiled | Way::Text { .. } => true,
                });
            }
            if !way.is_text() && ways.front().is_none_or(|next| next.is_text()) {
                report.start_again();
            }
        }
        Err(fault::limit("attempts"))
    }

    /// The result of one way.
    fn by(&self, way: Way, tiles_given_up: bool, report: &mut Report) -> Result<Optimized> {
        let (at, function, bounds) = ((self.model, self.dependences), self.function, self.bounds);
        let options = &way.options(self.options);
        let (split, limits) = match way {
            Way::RegisterTiles(split) => (split, bounds.choice),
            Way::Tiles => (Split::Rows, bounds.choice),
            Way::Untiled => (Split::Rows, bounds.must),
            Way::Text { .. } => {
                let (made, tree) = as_text(at, function, options, bounds.must, report)?;
                return Ok(finish(made, tree, std::mem::take(report)));
            }
        };
        let made = realise(at, function, self.tree.clone(), options, (split, limits), report)?;
        let mut report = std::mem::take(report);
        let mut made = made;
        if matches!(way, Way::RegisterTiles(_)) {
            let tree = self.tree.clone();
            (made, report) = with_or_without_tiles(at, function, tree, (made, report), (options, bounds));
        }
        Ok(self.or_text(made, options, (report, tiles_given_up)))
    }

    /// The result; but the text as it is where the new order has won nothing: no loop is parallel
    /// or along memory, nothing is tiled, and no statement that never runs is left out. Where it
    /// has lost what is free in the text (tiles with no such loop, or a skewed nest whose tiles
    /// were given up), too.
    fn or_text(
        &self,
        (made, tree): (Made, Tree),
        options: &Options,
        (report, tiles_given_up): (Report, bool),
    ) -> Optimized {
        let originals: BTreeSet<&Name> =
            made.generated.instances.values().map(|instance| &instance.original).collect();
        let free = Freedom::of(&made.generated);
        let all = originals.len() == self.model.statements.len();
        let won = report.tiled || report.contracted || !all || !free.is_none();
        let lost = match (report.contracted, report.tiled) {
            (true, _) => false,
            (false, true) => free.is_none(),
            (false, false) => tiles_given_up || free.deepest_is_bound(),
        };
        if won && !lost || !options.parallel || !options.vector {
            return finish(made, tree, report);
        }
        let mut again = report.clone();
        again.start_again();
        let at = (self.model, self.dependences);
        match as_text(at, self.function, options, self.bounds.choice, &mut again) {
            Ok((text, order)) if !won || Freedom::of(&text.generated).is_more_than(&free, report.tiled) => {
                finish(text, order, again)
            }
            // It is right, if no better than the text.
            _ => finish(made, tree, report),
        }
    }
}
