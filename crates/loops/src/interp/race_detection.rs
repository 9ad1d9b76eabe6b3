//! Race detection: conflicts of parallel iterations, found while they run one after another.

use std::collections::HashMap;

use crate::program::ReduceOp;

/// How an element is touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touch {
    Read,
    Write,
    Update(ReduceOp),
}

/// A parallel loop that runs, and what its iterations have touched of the arrays that they share.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) var: usize,
    pub(super) header: String,
    pub(super) iteration: i64,
    pub(super) reductions: Vec<(ReduceOp, usize)>,
    cells: HashMap<(usize, usize, usize), Cell>,
}

#[derive(Debug, Default)]
struct Cell {
    writer: Option<i64>,
    reader: Option<i64>,
    other_reader: Option<i64>,
}

/// Two iterations that must not access the same element, or one that accesses an accumulator other
/// than by its reduction.
#[derive(Debug)]
pub(super) enum Conflict {
    Iterations { earlier: (i64, &'static str), now: (i64, &'static str) },
    Accumulator,
}

impl Frame {
    pub(super) fn new(var: usize, header: String, reductions: Vec<(ReduceOp, usize)>) -> Frame {
        Frame { var, header, iteration: 0, reductions, cells: HashMap::new() }
    }

    /// How many elements it remembers.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn touch(
        &mut self,
        array: usize,
        column: usize,
        offset: usize,
        touch: Touch,
    ) -> Result<(), Conflict> {
        if let Some((op, _)) = self.reductions.iter().find(|(_, slot)| *slot == array) {
            return if touch == Touch::Update(*op) { Ok(()) } else { Err(Conflict::Accumulator) };
        }
        let now = self.iteration;
        let cell = self.cells.entry((array, column, offset)).or_default();
        let other = |iteration: Option<i64>| iteration.filter(|other| *other != now);
        let conflict = |earlier, before, action| {
            Err(Conflict::Iterations { earlier: (earlier, before), now: (now, action) })
        };
        let action = if touch == Touch::Read { "reads" } else { "writes" };
        if let Some(writer) = other(cell.writer) {
            return conflict(writer, "writes", action);
        }
        if touch == Touch::Read {
            match cell.reader {
                None => cell.reader = Some(now),
                Some(reader) if reader != now => cell.other_reader = Some(now),
                Some(_) => {}
            }
            return Ok(());
        }
        if let Some(reader) = other(cell.reader).or(other(cell.other_reader)) {
            return conflict(reader, "reads", action);
        }
        cell.writer = Some(now);
        Ok(())
    }
}
