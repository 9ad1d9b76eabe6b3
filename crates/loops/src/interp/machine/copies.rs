//! Copies of boxes: done at once, or pending from where they are issued to where they are waited
//! for.

use std::collections::BTreeSet;

use super::{IN_FLIGHT, LIMIT, MOVE_BYTES, Machine, Run, Touch, fault};
use crate::interp::code::{Node, Place};
use crate::program::Stmt;
use crate::value::Value;

/// A copy that was issued and not waited for.
pub(super) struct Flight {
    pub(super) tag: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) from_column: usize,
    pub(super) to_column: usize,
    pub(super) columns: usize,
    pub(super) moves: Vec<(usize, usize)>,
    pub(super) sources: BTreeSet<usize>,
    pub(super) targets: BTreeSet<usize>,
    pub(super) text: String,
}

impl Machine<'_> {
    pub(super) fn check_flights(&self, slot: usize, column: usize, offset: usize, touch: Touch) -> Run<()> {
        for flight in &self.flights {
            let covers = |first: usize| column >= first && column - first < flight.columns;
            let arrives = flight.to == slot && covers(flight.to_column) && flight.targets.contains(&offset);
            let leaves =
                flight.from == slot && covers(flight.from_column) && flight.sources.contains(&offset);
            let element = || self.element_name(slot, offset);
            if arrives {
                let action = if touch == Touch::Read { "read" } else { "written" };
                let message =
                    format!("`{}` is {action} before the copy `{}` is waited for", element(), flight.text);
                return fault(IN_FLIGHT, message);
            }
            if leaves && touch != Touch::Read {
                let message =
                    format!("`{}` is written while the copy `{}` is on its way", element(), flight.text);
                return fault(IN_FLIGHT, message);
            }
        }
        Ok(())
    }

    /// The elements of a box: pairs of offsets, source and destination.
    fn moves(&mut self, from: &Place, to: &Place, extents: &[i64]) -> Run<Vec<(usize, usize)>> {
        let mut count = 1u64;
        for extent in extents {
            if *extent <= 0 {
                return Ok(Vec::new());
            }
            count = count.saturating_mul(*extent as u64);
        }
        self.spend(count)?;
        let mut sides = Vec::new();
        for place in [from, to] {
            let mut start = Vec::new();
            for index in &place.indices {
                start.push(self.index(index)?);
            }
            let array = self.array(place.array);
            let fixed = start.len() - extents.len();
            let mut strides = vec![1i64; start.len()];
            for d in (0..start.len()).rev() {
                let last = if d < fixed { start[d] } else { start[d].saturating_add(extents[d - fixed] - 1) };
                for index in [start[d], last] {
                    if index < 0 || index >= array.dims[d] {
                        return self.out_of_bounds(place.array, d, index);
                    }
                }
                if d + 1 < start.len() {
                    strides[d] = strides[d + 1] * array.dims[d + 1];
                }
            }
            let base: i64 = start.iter().zip(&strides).map(|(i, s)| i * s).sum();
            sides.push((base, strides[fixed..].to_vec()));
        }
        let mut moves = Vec::new();
        if count.saturating_mul(MOVE_BYTES) > self.bytes_left
            || moves.try_reserve_exact(count as usize).is_err()
        {
            return fault(LIMIT, format!("a copy of {count} elements exceeds the memory limit of this run"));
        }
        let mut position = vec![0i64; extents.len()];
        for _ in 0..count {
            let at = |side: &(i64, Vec<i64>)| {
                let offset: i64 = position.iter().zip(&side.1).map(|(p, s)| p * s).sum();
                (side.0 + offset) as usize
            };
            moves.push((at(&sides[0]), at(&sides[1])));
            for d in (0..extents.len()).rev() {
                position[d] += 1;
                if position[d] < extents[d] {
                    break;
                }
                position[d] = 0;
            }
        }
        Ok(moves)
    }

    pub(super) fn copy(
        &mut self,
        stmt: &Stmt,
        from: &Place,
        to: &Place,
        extents: &[Node],
        tag: Option<usize>,
    ) -> Run<()> {
        let mut sizes = Vec::with_capacity(extents.len());
        for extent in extents {
            sizes.push(self.int(extent)?);
        }
        let moves = self.moves(from, to, &sizes)?;
        if !self.frames.is_empty() || !self.flights.is_empty() {
            for (source, target) in &moves {
                for k in 0..from.columns {
                    self.before_access(from.array, from.first_column + k, *source, Touch::Read)?;
                    self.before_access(to.array, to.first_column + k, *target, Touch::Write)?;
                }
            }
        }
        if self.observer.is_some() {
            for (source, target) in &moves {
                for k in 0..from.columns {
                    self.tell(from.array, from.first_column + k, *source, false);
                    self.tell(to.array, to.first_column + k, *target, true);
                }
            }
        }
        let flight = Flight {
            tag: tag.unwrap_or(usize::MAX),
            from: from.array,
            to: to.array,
            from_column: from.first_column,
            to_column: to.first_column,
            columns: from.columns,
            sources: BTreeSet::new(),
            targets: BTreeSet::new(),
            moves,
            text: stmt.headline(),
        };
        if tag.is_none() {
            self.land(&flight);
            return Ok(());
        }
        // `moves` has seen to it that this fits.
        self.bytes_left -= flight.moves.len() as u64 * MOVE_BYTES;
        let sources = flight.moves.iter().map(|(source, _)| *source).collect();
        let targets = flight.moves.iter().map(|(_, target)| *target).collect();
        self.flights.push(Flight { sources, targets, ..flight });
        Ok(())
    }

    /// Moves the elements. What holds no value arrives as such.
    fn land(&mut self, flight: &Flight) {
        for k in 0..flight.columns {
            let source = self.array(flight.from);
            let column = &source.columns[flight.from_column + k];
            let written = source.written.as_ref().map(|w| &w[flight.from_column + k]);
            let values: Vec<(usize, Value, bool)> = flight
                .moves
                .iter()
                .map(|(from, to)| (*to, column.get(*from), written.is_none_or(|w| w[*from])))
                .collect();
            let target = self.arrays[flight.to].as_mut().expect("an array in scope is alive");
            for (at, value, has_value) in values {
                target.columns[flight.to_column + k].set(at, value);
                if let Some(written) = &mut target.written {
                    written[flight.to_column + k][at] = has_value;
                }
            }
        }
    }

    pub(super) fn wait(&mut self, tag: usize) -> Run<()> {
        let flights = std::mem::take(&mut self.flights);
        let (landing, staying): (Vec<_>, Vec<_>) = flights.into_iter().partition(|flight| flight.tag == tag);
        self.flights = staying;
        for flight in &landing {
            self.land(flight);
            self.bytes_left += flight.moves.len() as u64 * MOVE_BYTES;
        }
        Ok(())
    }
}
