//! What tiles do with buffers: each use needs the box that the mapping says.

use super::super::compute::{Use, place};
use super::super::mapped::Area;
use super::super::state::{NUMBER, Region, State, Value};
use super::{Followed, Walker, lost, wrong};

impl Walker<'_> {
    /// A use of a buffer by a tile.
    pub(in super::super) fn used(&mut self, state: &mut State, one: &Use) -> Followed<()> {
        if let Use::Read(name) | Use::Given(name) | Use::Write(name) = one
            && let Some(at) = state.buffer(name)
        {
            self.touch(state, self.region(state, name, at));
        }
        match one {
            Use::Declare(name, value) => {
                let Some(offset) = place(value) else {
                    return lost(format!("the place of `{name}` is not known"));
                };
                let offset = self.offset(state, &offset);
                self.place(state, name, &offset)
            }
            Use::Read(name) => match state.buffer(name) {
                Some(at) => self.reads(state, name, at),
                None => self.local(name),
            },
            Use::Given(name) => state.buffer(name).map_or(Ok(()), |at| self.reads(state, name, at)),
            Use::Write(name) => match state.buffer(name) {
                Some(at) => self.writes(state, name, at),
                None => self.local(name),
            },
        }
    }

    fn local(&self, name: &str) -> Followed<()> {
        if self.mapped.arrays.contains_key(name) {
            return wrong(format!("reaches `{name}` in main memory without a transfer"));
        }
        Ok(())
    }

    /// Where a buffer lies: what came in, or as large as it is declared.
    fn region(&self, state: &State, buffer: &str, at: i64) -> Region {
        let came = state.contents.get(&at).map_or(1, |(r, _)| r.bytes);
        Region { at, bytes: self.here().size(buffer).max(came) }
    }

    /// Whether a buffer holds a box that the mapping has there now.
    fn holds(&self, state: &State, buffer: &str, at: i64) -> Option<bool> {
        let (_, held) = state.contents.get(&at)?;
        let Some(area) = &held.area else { return Some(false) };
        if let Some(Value::One(_, number)) = state.get(buffer) {
            return Some(self.wanted(state, buffer, &area.put(NUMBER, number)));
        }
        if buffer.starts_with("share_of_") {
            return Some(true);
        }
        Some(self.wanted(state, buffer, area))
    }

    /// Whether a box is one that the mapping brings into a buffer now.
    pub(in super::super) fn wanted(&self, state: &State, buffer: &str, area: &Area) -> bool {
        self.here().gets(buffer).iter().any(|copy| {
            self.mapped.area(copy, &|name| state.number(name)).is_some_and(|other| state.same(area, &other))
        })
    }

    pub(in super::super) fn reads(&self, state: &State, buffer: &str, at: i64) -> Followed<()> {
        if let Some(ahead) = state.ahead.get(&at) {
            return match ahead.there() {
                true => Ok(()),
                false => wrong(format!("reads `{buffer}` before it has come in, or after it has gone out")),
            };
        }
        let region = self.region(state, buffer, at);
        if let Some(f) = state.flights.iter().find(|f| f.get && f.region.meets(region)) {
            return wrong(format!("reads `{buffer}` while `{}` is on its way in", f.tag));
        }
        match self.holds(state, buffer, at) {
            Some(true) => Ok(()),
            Some(false) => wrong(format!("reads `{buffer}`, which holds another box than the mapping says")),
            None if state.written.contains_key(&at) || state.excused.contains(&at) => Ok(()),
            None => wrong(format!("reads `{buffer}`, which nothing was brought into")),
        }
    }

    fn writes(&self, state: &mut State, buffer: &str, at: i64) -> Followed<()> {
        if state.excused.contains(&at) {
            return Ok(());
        }
        if state.sent.contains(&at) {
            return wrong(format!("changes `{buffer}` after a part of it went to other cores"));
        }
        let region = self.region(state, buffer, at);
        self.free(state, region, buffer, "writes")?;
        if let Some((_, (_, lost))) =
            state.dirty.iter().find(|(other, (r, _))| **other != at && r.meets(region))
        {
            return wrong(format!("overwrites `{lost}` before it is brought out"));
        }
        state.contents.retain(|other, (r, _)| *other == at || !r.meets(region));
        if self.holds(state, buffer, at) == Some(false) {
            state.contents.remove(&at);
        }
        // It is known since equal boxes were brought in that they are written back on all cores.
        if matches!(state.get(buffer), Some(Value::One(..))) && state.contents.contains_key(&at) {
            return Ok(());
        }
        if !self.here().puts(buffer).is_empty() {
            state.dirty.insert(at, (region, buffer.to_owned()));
        }
        state.written.insert(at, region);
        Ok(())
    }
}
