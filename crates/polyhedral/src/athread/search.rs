//! The choice of tile sizes: what fits in local memory, rated by the time of transfers and
//! arithmetic.
//!
//! Memory is shared by the cores that move something: rates are measured ones by the bytes of a
//! block. Transfers of the innermost tile loop run beside the arithmetic where there is room for
//! two of each box; the others come one after another.

mod transfer_cost;

use std::collections::BTreeMap;

use self::transfer_cost::{TransferCost, in_step, together};
use super::data_mapping::{self, Group};
use super::host_split::{Kernel, Rounds};
use super::multicast::{self, Line};
use super::tile_sizes::{SAMPLE, UNKNOWN, aligned, bytes, ceil, places, stays_apart};
use super::triangles::Region;
use crate::model::Model;
use crate::names::readable;

/// Bytes of a strip of eight columns of an operand that has to be turned.
const TURNED: i64 = 5 << 10;
/// In a triangle tiles differ in what they compute, and less in what they bring in: of the shorter
/// of both as much is not hidden as if there were so many rounds.
const UNEVEN: f64 = 4.0;
/// Another way is taken where that takes at most this part of the time.
pub(super) const BETTER: f64 = 0.98;
/// Vectors are shared where that takes at most this part of the time that it takes with those that
/// stay: the memory has less to bring, too.
pub(super) const CLOSE: f64 = 0.99;

/// Extents of a group's box as a function of tile sizes: linear, found by looking at two sizes of
/// each loop.
#[derive(Clone)]
pub(super) struct Shape {
    pub group: Group,
    pub base: Vec<i64>,
    /// For each tile loop (parallel ones, then those of the part): growth of each extent per
    /// iteration.
    pub slopes: Vec<Vec<f64>>,
    /// Whether it could stay for all tiles: nothing writes it, and no parallel loop moves it.
    pub may_stay: bool,
}

impl Shape {
    pub(super) fn extents(&self, sizes: &[i64]) -> Vec<i64> {
        (0..self.base.len())
            .map(|d| {
                let grown: f64 = self
                    .slopes
                    .iter()
                    .zip(sizes)
                    .map(|(slope, size)| slope[d] * (*size - SAMPLE) as f64)
                    .sum();
                ((self.base[d] as f64 + grown).ceil() as i64).max(1)
            })
            .collect()
    }
}

/// Sizes that are worth a look for a loop of `trips` iterations on `cores` cores: powers of two and
/// their neighbours, and those that give every core the same number of full tiles.
fn candidates(trips: i64, cores: i64, slots: usize) -> Vec<i64> {
    let mut sizes: Vec<i64> = vec![1, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
    if slots > 12 {
        sizes.extend([2, 12, 24, 48, 96, 192, 384, 768, 2048]);
    }
    for rounds in 1..=12 {
        sizes.push(ceil(ceil(trips, cores * rounds), 4) * 4);
    }
    sizes.retain(|size| *size <= (ceil(trips, 4) * 4).max(4));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The choices for a kernel.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub model: &'a Model,
    pub kernel: &'a Kernel,
    pub shapes: &'a [Shape],
    pub grid: &'a [i64],
    pub parallel: &'a [i64],
    pub inner: &'a [Vec<i64>],
    /// The iterations of each part where they are no product.
    pub regions: &'a [Option<Region>],
    pub hints: &'a BTreeMap<String, i64>,
    /// Sizes that are given, the last one for further loops; empty if they are to be chosen.
    pub tiles: &'a [i64],
    pub ldm: i64,
    /// Whether shares may come several steps ahead.
    pub registers: bool,
    /// Whether shares of vectors may stay for all tiles.
    pub stay: bool,
}

/// Cost in seconds, sizes of the parallel loops, sizes of each part's loops.
pub(super) type Found = (f64, Vec<i64>, Vec<Vec<i64>>);

/// Sizes of a part's loops.
struct PartSizes {
    /// Seconds beside what runs during other tiles.
    cost: f64,
    /// Seconds of what comes and goes during other tiles.
    early: f64,
    own: Vec<i64>,
}

impl Search<'_> {
    /// The sizes that take the least time, if any fit.
    pub fn best(&self) -> Option<Found> {
        let ldm = self.ldm - self.turned();
        let mut best: Option<Found> = None;
        for sizes in product(&self.parallel_sizes()) {
            let shared = self.bytes(None, &sizes);
            if shared > ldm {
                continue;
            }
            let deepest = self.inner.iter().all(Vec::is_empty);
            let TransferCost { outer, inner: ahead, .. } = self.groups_cost(None, &sizes, &[], None, false);
            let mut cost = outer;
            let mut computed_all = 0.0;
            // What comes and goes during other tiles.
            let mut beside = 0.0;
            let mut parts = Vec::new();
            for p in 0..self.inner.len() {
                let Some(part) = self.best_of_part(p, &sizes, ldm - shared) else { break };
                beside += part.early;
                if deepest {
                    computed_all += self.arithmetic(p, &sizes, &part.own);
                }
                cost += part.cost;
                parts.push(part.own);
            }
            let room = shared + self.second(None, &sizes) <= ldm;
            let rounds = self.rounds(None, &sizes, &[]).last().copied().unwrap_or(1.0);
            cost += if deepest { together(ahead, computed_all, room, rounds) } else { ahead };
            if beside > 0.0 {
                // Where shares come in for each tile, they wait behind what comes as a whole.
                cost = together(beside, cost, self.holds(), self.rounds(None, &sizes, &[]).iter().product());
            }
            if parts.len() == self.inner.len() && best.as_ref().is_none_or(|(old, ..)| cost < *old) {
                best = Some((cost, sizes, parts));
            }
        }
        best
    }

    /// Sizes to try for each parallel loop.
    fn parallel_sizes(&self) -> Vec<Vec<i64>> {
        let of_loop = |(k, n): (usize, &i64)| {
            if let Some(size) = self.given(k, *n) {
                return vec![size];
            }
            if self.kernel.rounds == Rounds::Full && k == 0 {
                return vec![1];
            }
            let cores = self.grid.get(k).copied().unwrap_or(1);
            let mut sizes = candidates(*n, cores, if self.parallel.len() > 1 { 8 } else { 20 });
            if self.kernel.whole {
                sizes.extend((1..=12).map(|rounds| ceil(*n, cores * rounds)));
                sizes.sort_unstable();
                sizes.dedup();
            }
            if let Rounds::Left(multiple) = self.kernel.rounds
                && k == 1
            {
                sizes.retain(|size| multiple % size == 0);
            }
            sizes
        };
        self.parallel.iter().enumerate().map(of_loop).collect()
    }

    /// Sizes to try for each tile loop of a part.
    fn inner_sizes(&self, part: usize) -> Vec<Vec<i64>> {
        let trips = &self.inner[part];
        let single = self.kernel.parts[part].single;
        let whole = &self.kernel.parts[part].whole;
        let of_loop = |(k, n): (usize, &i64)| match whole.get(k) {
            Some(all) => vec![*all],
            None if k < single => vec![1],
            None if !self.tiles.is_empty() => self.given(self.parallel.len() + k, *n).into_iter().collect(),
            None if self.casts(part) && k + 1 == trips.len() => multicast::CAST.to_vec(),
            None => candidates(*n, 1, 8),
        };
        trips.iter().enumerate().map(of_loop).collect()
    }

    /// The sizes of a part's loops that take the least time within `room` bytes, at these sizes of
    /// the parallel loops.
    fn best_of_part(&self, p: usize, sizes: &[i64], room: i64) -> Option<PartSizes> {
        let deepest = self.inner.iter().all(Vec::is_empty);
        let mut found: Option<PartSizes> = None;
        for own in product(&self.inner_sizes(p)) {
            let all: Vec<i64> = sizes.iter().chain(&own).copied().collect();
            if !self.turns_fit(p, sizes, &own) {
                continue;
            }
            let Some(held) = self.held(p, sizes, &own) else { continue };
            let used = self.bytes(Some(p), &all) + held;
            if used > room {
                continue;
            }
            let steps = self.steps(p, &all, room - used);
            let stay = self.stay(p, sizes, &own);
            let TransferCost { outer, inner: moved, beside: early } =
                self.groups_cost(Some(p), sizes, &own, steps, stay);
            let computed = self.arithmetic(p, sizes, &own);
            // With room for two of each box the next comes while one is computed.
            let second = used + self.second(Some(p), &all) <= room;
            let mut rounds = self.rounds(Some(p), sizes, &own).iter().rev().take(2).product::<f64>();
            if self.region(Some(p)).is_some() {
                rounds = rounds.min(UNEVEN);
            }
            let inside = match self.casts(p) {
                true => in_step(moved, computed),
                false => together(moved, computed, second, rounds),
            };
            let cost = outer + if deepest { moved } else { inside };
            if found.as_ref().is_none_or(|old| cost < old.cost) {
                found = Some(PartSizes { cost, early, own });
            }
        }
        found
    }

    /// The size that is given for a loop, the parallel ones first; a loop of few iterations has
    /// none that is larger than it.
    fn given(&self, loop_: usize, trips: i64) -> Option<i64> {
        let size = self.tiles.get(loop_).or(self.tiles.last())?;
        Some((*size).clamp(1, (ceil(trips, 4) * 4).max(4)))
    }

    /// Bytes at the smallest tiles, or at those that are given.
    pub fn least(&self) -> i64 {
        let size = |k: usize, trips: &i64| self.given(k, *trips).unwrap_or(1);
        let sizes: Vec<i64> = self.parallel.iter().enumerate().map(|(k, n)| size(k, n)).collect();
        let parts = self.inner.iter().enumerate().map(|(p, trips)| {
            let single = self.kernel.parts[p].single;
            let own =
                trips.iter().enumerate().map(|(k, n)| if k < single { 1 } else { size(sizes.len() + k, n) });
            let all: Vec<i64> = sizes.iter().copied().chain(own).collect();
            self.bytes(Some(p), &all)
        });
        self.bytes(None, &sizes) + parts.max().unwrap_or(0)
    }

    pub(super) fn bytes(&self, part: Option<usize>, sizes: &[i64]) -> i64 {
        let apart = |s: &Shape| s.group.part.filter(|_| !stays_apart(self.kernel, &s.group));
        let own = self.shapes.iter().filter(|s| apart(s) == part);
        own.map(|s| places(self.kernel, &s.group) * bytes(&s.group, &s.extents(sizes))).sum()
    }

    /// The iterations of a part, or of all of them, where they are no product.
    fn region(&self, part: Option<usize>) -> Option<&Region> {
        match part {
            Some(part) => self.regions[part].as_ref(),
            None => self.regions.iter().map(Option::as_ref).collect::<Option<Vec<_>>>()?.into_iter().next(),
        }
    }

    /// Rounds of each tile loop on the slowest core; on average where there are more in some rounds
    /// of the loops around it.
    pub(super) fn rounds(&self, part: Option<usize>, sizes: &[i64], own: &[i64]) -> Vec<f64> {
        if let Some(region) = self.region(part) {
            let cores = self.grid.iter().copied().chain(std::iter::repeat(1));
            let tiles: Vec<i64> = sizes.iter().chain(own).copied().collect();
            let units: Vec<i64> = tiles.iter().zip(cores).map(|(size, cores)| size * cores).collect();
            return region.rounds(&units, &tiles);
        }
        let parallel = self
            .parallel
            .iter()
            .zip(sizes)
            .enumerate()
            .map(|(k, (n, size))| ceil(ceil(*n, *size), self.grid.get(k).copied().unwrap_or(1)) as f64);
        let inner =
            part.map_or(&[][..], |p| &self.inner[p]).iter().zip(own).map(|(n, size)| ceil(*n, *size) as f64);
        parallel.chain(inner).collect()
    }

    /// Cores that have a tile.
    fn active(&self, sizes: &[i64]) -> f64 {
        let mut active = 1;
        for (k, (n, size)) in self.parallel.iter().zip(sizes).enumerate() {
            active *= ceil(*n, *size).min(self.grid.get(k).copied().unwrap_or(1));
        }
        active as f64
    }

    /// Whether a group is moved by the innermost tile loop.
    pub(super) fn innermost(&self, group: &Group) -> bool {
        let parallel = self.parallel.len();
        match group.part {
            Some(part) => !self.inner[part].is_empty() && group.level == parallel + self.inner[part].len(),
            None => group.level == parallel && self.inner.iter().all(Vec::is_empty),
        }
    }

    /// Whether some box of a part lies across the loop that is to be made of vectors.
    fn strided(&self, part: usize) -> bool {
        let Some(last) = self.parallel.len().checked_sub(1).filter(|_| !self.kernel.whole) else {
            return false;
        };
        self.shapes.iter().filter(|s| s.group.part.is_none_or(|p| p == part)).any(|s| {
            let slopes = &s.slopes[last];
            slopes.iter().any(|s| *s > 0.0) && slopes.last().is_some_and(|s| *s == 0.0)
        })
    }

    /// Whether a part is a contraction.
    fn contracts(&self, part: usize) -> bool {
        self.kernel.parts[part].statements.iter().any(|s| {
            let s = &self.model.statements[*s];
            s.assign.update.is_some() && s.loops.len() >= 3
        })
    }

    /// Products that a contraction adds up in a step.
    fn products(&self, part: usize) -> usize {
        let of = |s: &usize| summands(&self.model.statements[*s].assign.value);
        self.kernel.parts[part].statements.iter().map(of).max().unwrap_or(1)
    }

    /// Bytes that are left free: contractions whose operand lies across turn a strip of it.
    pub(super) fn turned(&self) -> i64 {
        let any = (0..self.inner.len()).any(|p| self.contracts(p) && self.strided(p));
        if any { TURNED } else { 0 }
    }

    /// Whether a box is the same for all tiles of a core: each loop that moves it has one round.
    pub fn stays(&self, shape: &Shape, own: &[i64]) -> bool {
        let Some(part) = shape.group.part else { return false };
        let one = |k: usize| own.get(k).is_some_and(|size| *size >= self.inner[part][k]);
        let moved = |k: usize| {
            shape.group.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == self.parallel.len() + k))
        };
        shape.may_stay && (0..self.inner[part].len()).all(|k| one(k) || !moved(k))
    }

    /// Bytes of shares that stay for all tiles beside one of them: of what all cores need for each
    /// tile, where a tile has rows as a whole. None if tiles are larger than that.
    fn held(&self, part: usize, sizes: &[i64], own: &[i64]) -> Option<i64> {
        let (Some(size), Some(trips), true) = (own.last(), self.inner[part].last(), self.holds()) else {
            return Some(0);
        };
        let all: Vec<i64> = sizes.iter().chain(own).copied().collect();
        let mut bytes = 0;
        for shape in self.shapes.iter().filter(|s| s.group.part == Some(part)) {
            let Some(shared) = shape.group.shared.filter(|shared| shared.line == Line::All) else { continue };
            let extents = shape.extents(&all);
            let turns = shared.turns(extents[0])?;
            let share = shared.share(extents[0]) * data_mapping::volume(&extents[1..]) * shape.group.width;
            bytes += (ceil(ceil(*trips, *size), turns) - 1) * (aligned(share) + 64);
        }
        Some(bytes)
    }

    /// Whether cores take turns in keeping what all need.
    fn holds(&self) -> bool {
        self.kernel.whole && self.grid.iter().product::<i64>() % multicast::ROW == 0
    }

    /// Bytes of second places for what is brought in by the innermost loop.
    pub(super) fn second(&self, part: Option<usize>, sizes: &[i64]) -> i64 {
        let inner = sizes.get(self.parallel.len()..).unwrap_or(&[]);
        let own = self.shapes.iter().filter(|s| {
            s.group.part == part
                && s.group.get
                && s.group.shared.is_none()
                && self.innermost(&s.group)
                && !self.stays(s, inner)
        });
        own.map(|s| bytes(&s.group, &s.extents(sizes))).sum()
    }

    /// The box of a part whose rows take turns, if another is broadcast to all cores.
    fn in_turns(&self, part: usize) -> Option<&Shape> {
        let turns =
            |s: &&Shape| s.group.part == Some(part) && s.group.shared.is_some_and(|s| s.line == Line::Turns);
        self.shapes.iter().find(turns)
    }

    /// Whether a box of a part is broadcast.
    fn casts(&self, part: usize) -> bool {
        self.in_turns(part).is_some()
    }

    /// Whether a box of a part is broadcast in few rows, for cores that have enough to do with
    /// them; or none is.
    fn turns_fit(&self, part: usize, sizes: &[i64], own: &[i64]) -> bool {
        let all: Vec<i64> = sizes.iter().chain(own).copied().collect();
        self.in_turns(part).is_none_or(|shape| {
            shape.extents(&all)[0] >= multicast::OWN
                && own.last().is_some_and(|rows| multicast::CAST.contains(rows))
        })
    }

    /// How many boxes of their own cores have at once, if the shares of a part come several steps
    /// ahead, and there is room for that beside what is taken: some that all need, with few rows,
    /// and boxes of a core alone. The target has the same rule.
    fn steps(&self, part: usize, all: &[i64], room: i64) -> Option<i64> {
        if let Some((shape, shared)) = self.in_turns(part).and_then(|s| Some((s, s.group.shared?))) {
            let (extents, width) = (shape.extents(all), shape.group.width);
            let fits = |steps: &i64| shared.more_steps(&extents, width, *steps) <= room;
            let least = shared.boxes(&extents, width);
            return (least..=shared.steps(&extents, width)).step_by(2).filter(fits).last().or(Some(least));
        }
        let inner = self.parallel.len() + self.inner[part].len();
        let plain = self.registers && self.region(Some(part)).is_none();
        if !plain || self.inner[part].is_empty() || inner < self.grid.len() + 2 {
            return None;
        }
        let (mut turns, mut own) = (false, Vec::new());
        for shape in self.shapes.iter().filter(|s| s.group.part == Some(part)) {
            let Some(shared) = shape.group.shared.filter(|_| self.innermost(&shape.group)) else { continue };
            let extents = shape.extents(all);
            match shared.line {
                Line::All if extents.len() == 2 && shared.turns(extents[0]).is_some() => turns = true,
                // With fewer rows of its own a core has less to do in a step of few rows than the
                // exchange takes.
                Line::Alone
                    if extents[0] >= multicast::OWN
                        && shared.boxes_ahead(&extents, shape.group.width) > 1 =>
                {
                    own.push((shared, extents, shape.group.width));
                }
                _ => return None,
            }
        }
        if !turns || own.is_empty() {
            return None;
        }
        (2..=multicast::BOXES).rev().find(|most| {
            let more = own.iter().map(|(shared, extents, width)| shared.more_ahead(extents, *width, *most));
            more.sum::<i64>() <= room
        })
    }
}

/// Products that are added to each other in a value.
fn summands(value: &loops::Expr) -> usize {
    match value {
        loops::Expr::Binary(loops::BinaryOp::Add, a, b) => summands(a) + summands(b),
        _ => 1,
    }
}

/// The value of a bound or an extent, at sizes that are said.
pub(super) fn value(dim: &loops::Expr, hints: &BTreeMap<String, i64>) -> i64 {
    use loops::{BinaryOp, Expr};
    match dim {
        Expr::Int(n) => *n,
        Expr::Var(name) => hints.get(&readable(name)).copied().unwrap_or(UNKNOWN),
        Expr::Binary(BinaryOp::Add, a, b) => value(a, hints).saturating_add(value(b, hints)),
        Expr::Binary(BinaryOp::Sub, a, b) => value(a, hints).saturating_sub(value(b, hints)),
        Expr::Binary(BinaryOp::Mul, a, b) => value(a, hints).saturating_mul(value(b, hints)),
        Expr::Binary(BinaryOp::FloorDiv, a, b) => value(a, hints).div_euclid(value(b, hints).max(1)),
        Expr::Binary(BinaryOp::Max, a, b) => value(a, hints).max(value(b, hints)),
        _ => UNKNOWN,
    }
}

/// All choices of one from each list; one empty choice if there are no lists.
fn product(lists: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        all = all
            .iter()
            .flat_map(|head: &Vec<i64>| {
                list.iter().map(move |next| head.iter().copied().chain([*next]).collect::<Vec<_>>())
            })
            .collect();
    }
    all
}
