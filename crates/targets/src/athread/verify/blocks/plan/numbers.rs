//! The numbers of a plan for one core, at sizes that are known.

use std::collections::BTreeMap;

use loops::CopyKind;

use super::super::super::walk::{Followed, lost};
use super::{ElementBox, Elements, Numbers, Plan, Reach, Rule, RuleNumbers, number};

impl Plan<'_> {
    /// All numbers for the core at a place.
    pub fn numbers(&self, sizes: &BTreeMap<String, i64>, place: i64) -> Followed<Numbers> {
        let size = |name: &str| sizes.get(name).copied();
        let Some(panels) = self.count(&size) else { return unknown() };
        let mut extents = Vec::new();
        for (_, dims) in &self.arrays {
            let dims: Option<Vec<i64>> = dims.iter().map(|d| number(d, &size)).collect();
            let Some(dims) = dims else { return unknown() };
            extents.push(dims);
        }
        let total = |dims: &Vec<i64>| dims.iter().fold(1i64, |a, b| a.saturating_mul((*b).max(0)));
        let totals: Vec<i64> = extents.iter().map(total).collect();
        if totals.iter().any(|n| *n > 1 << 31) {
            return lost("arrays that are too large");
        }
        let mut numbers = Numbers {
            extents,
            totals,
            finals: vec![0; self.arrays.len()],
            rules: vec![],
            owned: vec![],
            sums: self.sums,
            ends: vec![],
            before: 0,
            after: 0,
        };
        for rule in &self.rules {
            let steps = match rule.along {
                Some(k) => self.steps_along(rule, k, &size, place)?,
                None => Steps { first: 0, trips: 1, before: 0, after: 0 },
            };
            numbers.before += steps.before;
            numbers.after += steps.after;
            let base = numbers.finals[rule.target.array];
            let reaches = std::iter::once(&rule.target).chain(&rule.reads);
            let elements = reaches.map(|reach| element(rule, reach, &numbers.extents)).collect();
            numbers.rules.push(RuleNumbers { base, first: steps.first, elements });
            numbers.finals[rule.target.array] += steps.trips;
        }
        for panel in 0..panels.max(1) {
            self.results_of_panel(&mut numbers, panel, &size, place)?;
        }
        numbers.owned = joined(std::mem::take(&mut numbers.owned));
        if numbers.owned.iter().map(|range| range.to - range.from).sum::<i64>() > 1 << 24 {
            return lost("arrays that are too large");
        }
        Ok(numbers)
    }

    /// The steps of a rule along its iterator `k`, whose tiles follow each other.
    fn steps_along(
        &self,
        rule: &Rule,
        k: usize,
        size: &dyn Fn(&str) -> Option<i64>,
        place: i64,
    ) -> Followed<Steps> {
        let mut steps = Steps { first: 0, trips: 0, before: 0, after: 0 };
        let l = rule.iterators[k];
        let around = match rule.phase {
            1 => self.of_cores(1)?,
            _ => self.panels,
        };
        let Some(tiles) = number(&around.upper, size) else { return unknown() };
        let mut end = None;
        for tile in 0..tiles.max(0) {
            let value = |name: &str| if *around.var == *name { Some(tile) } else { size(name) };
            let Some((from, to)) = number(&l.lower, &value).zip(number(&l.upper, &value)) else {
                return unknown();
            };
            if end.is_some_and(|end| end != from) || to < from {
                return lost("sums whose tiles do not follow each other");
            }
            steps.first = if end.is_none() { from } else { steps.first };
            end = Some(to);
            if rule.phase == 1 {
                steps.before += if tile < place { to - from } else { 0 };
                steps.after += if tile <= place { to - from } else { 0 };
            }
        }
        steps.trips = end.map_or(0, |end| end - steps.first);
        Ok(steps)
    }

    /// Adds the results that the core at a place stores for a panel, and where the panel's sums
    /// end.
    fn results_of_panel(
        &self,
        numbers: &mut Numbers,
        panel: i64,
        size: &dyn Fn(&str) -> Option<i64>,
        place: i64,
    ) -> Followed<()> {
        for phase in 0..3 {
            let l = self.of_cores(phase)?;
            let own = if phase == 1 { self.cores - 1 } else { place };
            let Some(tiles) = number(&l.upper, size) else { return unknown() };
            let value = |name: &str| match name {
                _ if *self.panels.var == *name => Some(panel),
                _ if *l.var == *name => Some(place),
                other => size(other),
            };
            for copy in self.phases[phase].copies.iter().filter(|c| c.kind == CopyKind::Put) {
                let Some(array) = self.array(&copy.to.array) else { return unknown() };
                let found = self.boxed(copy, &numbers.extents[array], &value);
                let Some(ElementBox { rows, columns, pitch, at }) = found else {
                    return lost("a box of results in another form");
                };
                if phase == 1 && array == self.sums {
                    if rows != 1 || at != numbers.ends.last().copied().unwrap_or(0) {
                        return lost("panels of sums that do not follow each other");
                    }
                    numbers.ends.push(at + columns.max(0));
                }
                if own != place || (phase != 1 && place >= tiles) {
                    continue;
                }
                for row in 0..rows {
                    let from = at + row * pitch;
                    numbers.owned.push(Elements { array, from, to: from + columns.max(0) });
                }
            }
        }
        Ok(())
    }
}

/// Steps of a rule, from the first one on.
struct Steps {
    first: i64,
    trips: i64,
    /// Steps of the cores before, and of those with the core itself, where cores follow each other.
    before: i64,
    after: i64,
}

fn unknown<T>() -> Followed<T> {
    lost("sizes of panels are not known")
}

/// The number of an element in its array: a constant, and a factor for each iterator.
fn element(rule: &Rule, reach: &Reach, extents: &[Vec<i64>]) -> (i64, Vec<i64>) {
    let dims = &extents[reach.array];
    let mut sum = (0i64, vec![0i64; rule.iterators.len()]);
    for (d, (at, factors)) in reach.coordinates.iter().enumerate() {
        let pitch = if d == 0 { 0 } else { dims[d] };
        sum.0 = sum.0 * pitch + at;
        for (k, factor) in factors.iter().enumerate() {
            sum.1[k] = sum.1[k] * pitch + factor;
        }
    }
    sum
}

/// Ranges of arrays in order, those that touch as one.
fn joined(mut ranges: Vec<Elements>) -> Vec<Elements> {
    ranges.sort_unstable();
    let mut joined: Vec<Elements> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.array == range.array && range.from <= last.to => {
                last.to = last.to.max(range.to)
            }
            _ => joined.push(range),
        }
    }
    joined
}
