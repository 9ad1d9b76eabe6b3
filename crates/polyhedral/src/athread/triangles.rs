//! Triangles: how many rounds and tiles the loops of a kernel have where the bounds of one depend
//! on another.

use std::collections::BTreeMap;

use isl::{Dim, Set};

use super::boxes;
use super::host_split::Kernel;
use super::tile_sizes::UNKNOWN;
use crate::fault::{self, Result};
use crate::model::Model;

/// The iterations of a part where they are no product of its loops (those over tiles, the parallel
/// ones first), at the sizes that tiles are chosen for.
///
/// Each bound is looked at by itself: exact for triangles, and never too little.
pub(super) struct Region {
    /// The least and the largest value of each loop.
    ends: Vec<(i64, i64)>,
    /// Bounds that tie loops to each other: factors of these and a constant, whose sum is not
    /// negative.
    bounds: Vec<(Vec<i64>, i64)>,
    /// How many of the loops are mapped to cores.
    mapped: usize,
    /// Iterations of the other loops; none if these are a product.
    points: Option<f64>,
}

/// Iterations of each loop that make a block, and of these the ones that one core has.
struct Blocks<'a> {
    units: &'a [i64],
    tiles: &'a [i64],
}

/// How many blocks of loops that depend on each other are looked at, one by one, to count all of
/// them; where there are more, as many at equal distances.
const LOOKS: i64 = 1 << 10;

/// The least and the largest value of a loop.
fn ends(set: &Set, k: usize) -> isl::Result<Option<(i64, i64)>> {
    let end = |f: isl::PwAff| -> isl::Result<Option<i64>> {
        match f.pieces()?.first() {
            Some((_, aff)) if aff.is_constant()? => Ok(aff.constant()?.to_i64().ok()),
            _ => Ok(None),
        }
    };
    Ok(end(set.dim_min(k)?)?.zip(end(set.dim_max(k)?)?))
}

/// Bounds that tie loops to each other.
fn ties(set: &Set, loops: usize) -> isl::Result<Vec<(Vec<i64>, i64)>> {
    let mut bounds = Vec::new();
    for constraint in set.simple_hull()?.constraints()? {
        let local = |k| Ok(constraint.coefficient(Dim::Div, k)?.to_i64()? != 0);
        let local = (0..constraint.dim(Dim::Div)?).map(local).collect::<isl::Result<Vec<bool>>>()?;
        let factors = (0..loops).map(|k| constraint.coefficient(Dim::SET, k)?.to_i64());
        let factors = factors.collect::<isl::Result<Vec<i64>>>()?;
        if local.contains(&true) || factors.iter().filter(|f| **f != 0).count() < 2 {
            continue;
        }
        let constant = constraint.constant()?.to_i64()?;
        if constraint.is_equality()? {
            bounds.push((factors.iter().map(|f| -f).collect(), -constant));
        }
        bounds.push((factors, constant));
    }
    Ok(bounds)
}

/// The most that one term of a bound comes to, of a loop between two ends.
fn most(factor: i64, (low, high): (i64, i64)) -> i64 {
    factor.saturating_mul(if factor > 0 { high } else { low })
}

impl Region {
    /// The iterations of a part, of whose loops the first few are mapped to cores; none if they are
    /// a product, or have no bounds.
    pub fn of(
        model: &Model,
        kernel: &Kernel,
        part: usize,
        mapped: usize,
        hints: &BTreeMap<String, i64>,
    ) -> Result<Option<Region>> {
        if !kernel.outer.is_empty() || kernel.whole {
            return Ok(None);
        }
        let mut single = kernel.clone();
        single.sizes.fill(1);
        single.parts[part].sizes = vec![1; kernel.parts[part].inner.len()];
        let loops = kernel.parallel.len() + kernel.parts[part].inner.len();
        let all = boxes::prefix_by_bounds(model, &single, part, loops)?;
        let read = || -> isl::Result<Option<Region>> {
            let Some(mut set) = all.range()?.coalesce()?.sets()?.into_iter().next() else { return Ok(None) };
            for k in 0..set.dim(Dim::Param)? {
                let name = set.dim_name(Dim::Param, k)?.unwrap_or_default();
                set = set.fix(Dim::Param, k, hints.get(&name).copied().unwrap_or(UNKNOWN))?;
            }
            let set = set.project_out(Dim::Param, 0, set.dim(Dim::Param)?)?;
            let mut bounds = ties(&set, loops)?;
            if bounds.is_empty() {
                return Ok(None);
            }
            let own = (0..loops).map(|k| ends(&set, k)).collect::<isl::Result<Option<Vec<_>>>>()?;
            let Some(ends) = own else { return Ok(None) };
            // What no iteration of the product breaks is no bound.
            bounds.retain(|(factors, constant)| {
                let least = factors
                    .iter()
                    .zip(&ends)
                    .map(|(f, ends)| -most(-f, *ends))
                    .fold(*constant, i64::saturating_add);
                least < 0
            });
            let mut region = Region { ends, bounds, mapped, points: None };
            if (mapped..loops).any(|k| region.tied(k)) {
                region.points = Some(region.below(&vec![1; loops]));
            }
            Ok((!region.bounds.is_empty()).then_some(region))
        };
        read().map_err(fault::library)
    }

    /// Whether later loops depend on one.
    fn tied(&self, loop_: usize) -> bool {
        let later = |factors: &[i64]| factors[loop_ + 1..].iter().any(|f| *f != 0);
        self.bounds.iter().any(|(factors, _)| factors[loop_] != 0 && later(factors))
    }

    /// The least and the largest value of a loop inside of some iterations of the loops before it;
    /// those after it have their whole range.
    fn between(&self, before: &[(i64, i64)]) -> (i64, i64) {
        let own = before.len();
        let (mut low, mut high) = self.ends[own];
        for (factors, constant) in &self.bounds {
            let at = |k: usize| if k < own { before[k] } else { self.ends[k] };
            let others = (0..factors.len()).filter(|k| *k != own).map(|k| most(factors[k], at(k)));
            let rest = others.fold(*constant, i64::saturating_add);
            match factors[own] {
                0 => {}
                n if n > 0 => low = low.max(-rest.div_euclid(n)),
                n => high = high.min(rest.div_euclid(-n)),
            }
        }
        (low, high)
    }

    /// Adds how many blocks of some iterations each loop has, all loops before it together, from
    /// one on. Of as many blocks as there are looks each counts. Of a block that cores share, each
    /// of whom has a tile of it, the later loops have those of the first or of the last tile, which
    /// of them are more.
    fn count(
        &self,
        blocks: &Blocks,
        before: &mut Vec<(i64, i64)>,
        times: f64,
        looks: i64,
        counts: &mut [f64],
    ) {
        let own = before.len();
        let (low, high) = self.between(before);
        let unit = blocks.units[own].max(1);
        let (first, last) = (low.div_euclid(unit), high.div_euclid(unit));
        if low > high {
            return;
        }
        let all = last.saturating_sub(first).saturating_add(1);
        counts[own] += all as f64 * times;
        if own + 1 == blocks.units.len() {
            return;
        }
        if !self.tied(own) {
            before.push((low, high));
            self.count(blocks, before, all as f64 * times, looks, counts);
            before.pop();
            return;
        }
        let looked = all.min(looks.max(4));
        let times = times * all as f64 / looked as f64;
        for look in 0..looked {
            // In the middle of its share of the blocks.
            let block = first + ((2 * look + 1) as i128 * all as i128 / (2 * looked) as i128) as i64;
            let begin = block.saturating_mul(unit);
            let (begin, end) = (begin.max(low), begin.saturating_add(unit - 1).min(high));
            let tile = blocks.tiles[own].max(1);
            let ends = [(begin, begin.saturating_add(tile - 1).min(end)), ((end - tile + 1).max(begin), end)];
            let of_tile = |tile: (i64, i64)| {
                let mut counts = vec![0.0; counts.len()];
                let mut before: Vec<(i64, i64)> = before.iter().copied().chain([tile]).collect();
                self.count(blocks, &mut before, times, looks / looked, &mut counts);
                counts
            };
            let mut most = of_tile(ends[0]);
            if ends[1] != ends[0] {
                let other = of_tile(ends[1]);
                if other.iter().sum::<f64>() > most.iter().sum::<f64>() {
                    most = other;
                }
            }
            counts.iter_mut().zip(most).for_each(|(all, own)| *all += own);
        }
    }

    /// Rounds of each of the first loops in one of those before it, on average; units are the
    /// iterations of a round, tiles those of one core in it.
    pub fn rounds(&self, units: &[i64], tiles: &[i64]) -> Vec<f64> {
        let mut counts = vec![0.0; units.len()];
        self.count(&Blocks { units, tiles }, &mut Vec::new(), 1.0, LOOKS, &mut counts);
        let before = std::iter::once(1.0).chain(counts.iter().copied());
        counts.iter().zip(before).map(|(own, before)| own / before.max(1.0)).collect()
    }

    /// Blocks of the loops that are not mapped, whatever the others are at.
    fn below(&self, units: &[i64]) -> f64 {
        let mut counts = vec![0.0; units.len()];
        let blocks = Blocks { units, tiles: units };
        self.count(&blocks, &mut self.ends[..self.mapped].to_vec(), 1.0, LOOKS, &mut counts);
        counts.last().copied().unwrap_or(1.0)
    }

    /// Which share of the tiles of the loops that are not mapped has iterations in it.
    pub fn filled(&self, sizes: &[i64]) -> f64 {
        let Some(points) = self.points else { return 1.0 };
        let tile: f64 = sizes[self.mapped..].iter().map(|size| *size as f64).product();
        (points / (self.below(sizes) * tile).max(1.0)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops `0 <= s < t`, `2s <= i < 2s + n` and `2s <= j < 2s + n`.
    fn skewed(t: i64, n: i64) -> Region {
        let bounds =
            vec![(vec![-2, 1, 0], 0), (vec![2, -1, 0], n - 1), (vec![-2, 0, 1], 0), (vec![2, 0, -1], n - 1)];
        let most = 2 * t + n - 3;
        Region { ends: vec![(0, t - 1), (0, most), (0, most)], bounds, mapped: 0, points: None }
    }

    const ONES: Blocks = Blocks { units: &[1; 3], tiles: &[1; 3] };

    #[test]
    fn blocks_of_small_loops_are_counted() {
        let mut counts = [0.0; 3];
        skewed(10, 20).count(&ONES, &mut Vec::new(), 1.0, LOOKS, &mut counts);
        assert_eq!(counts, [10.0, 200.0, 4000.0]);
    }

    /// Blocks of 1024 iterations, one after the other: what a core has of them are its own.
    #[test]
    fn a_core_has_the_rounds_of_its_own_blocks() {
        let bounds = vec![(vec![-1024, 1], 0), (vec![1024, -1], 1023)];
        let sum = Region { ends: vec![(0, 63), (0, 65535)], bounds, mapped: 1, points: None };
        assert_eq!(sum.rounds(&[64, 1024], &[1, 1024]), [1.0, 1.0]);
        assert_eq!(sum.rounds(&[256, 1024], &[4, 1024]), [1.0, 4.0]);
        assert_eq!(sum.rounds(&[64, 512], &[1, 512]), [1.0, 2.0]);
    }

    /// One by one these would be 10^12.
    #[test]
    fn blocks_of_large_loops_are_estimated() {
        let mut counts = [0.0; 3];
        skewed(1_000_000, 1_000_000).count(&ONES, &mut Vec::new(), 1.0, LOOKS, &mut counts);
        for (count, exact) in counts.iter().zip([1e6, 1e12, 1e18]) {
            assert!((count / exact - 1.0).abs() < 0.01, "{counts:?}");
        }
    }
}
