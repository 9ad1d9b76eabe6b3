//! Caches as a model: fully associative, the line that was used longest ago goes, what was written
//! goes back when it goes.

use crate::machine::LINE;

/// No place, no line.
const NONE: u32 = u32::MAX;

/// What crossed a border, in lines.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Crossed {
    pub fetched: u64,
    pub written: u64,
}

/// A place of a cache: which line it holds, and the places used just before and after it.
#[derive(Clone, Copy)]
struct Place {
    line: u32,
    newer: u32,
    older: u32,
    dirty: bool,
}

/// One cache.
pub(super) struct Cache {
    places: Vec<Place>,
    capacity: usize,
    /// The place of each line.
    at: Vec<u32>,
    newest: u32,
    oldest: u32,
    pub crossed: Crossed,
}

/// What an access moves: whether the line comes from the next level, and which line goes there.
#[derive(Clone, Copy, Default)]
struct Moves {
    fetched: bool,
    written: Option<u32>,
}

impl Cache {
    fn new(bytes: f64) -> Cache {
        let capacity = ((bytes / LINE) as usize).clamp(1, NONE as usize - 1);
        Cache {
            places: Vec::new(),
            capacity,
            at: Vec::new(),
            newest: NONE,
            oldest: NONE,
            crossed: Crossed::default(),
        }
    }

    fn unlink(&mut self, place: u32) {
        let Place { newer, older, .. } = self.places[place as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.places[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.places[older as usize].newer = newer,
        }
    }

    fn push(&mut self, place: u32) {
        let before = self.newest;
        let own = &mut self.places[place as usize];
        (own.newer, own.older) = (NONE, before);
        match before {
            NONE => self.oldest = place,
            before => self.places[before as usize].newer = place,
        }
        self.newest = place;
    }

    fn access(&mut self, line: u32, write: bool) -> Moves {
        if self.at.len() <= line as usize {
            self.at.resize(line as usize + 1, NONE);
        }
        let held = self.at[line as usize];
        if held != NONE {
            if held != self.newest {
                self.unlink(held);
                self.push(held);
            }
            self.places[held as usize].dirty |= write;
            return Moves::default();
        }
        let mut moves = Moves { fetched: true, written: None };
        let own = Place { line, newer: NONE, older: NONE, dirty: write };
        let place = if self.places.len() < self.capacity {
            self.places.push(own);
            self.places.len() as u32 - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            let old = std::mem::replace(&mut self.places[place as usize], own);
            self.at[old.line as usize] = NONE;
            moves.written = old.dirty.then_some(old.line);
            place
        };
        self.at[line as usize] = place;
        self.push(place);
        self.crossed.fetched += 1;
        self.crossed.written += u64::from(moves.written.is_some());
        moves
    }

    /// The lines that were written and are still here, oldest first; they go back.
    fn drain(&mut self) -> Vec<u32> {
        let (mut lines, mut place) = (Vec::new(), self.oldest);
        while place != NONE {
            let own = &mut self.places[place as usize];
            if std::mem::take(&mut own.dirty) {
                lines.push(own.line);
            }
            place = own.newer;
        }
        self.crossed.written += lines.len() as u64;
        lines
    }
}

/// Caches one behind the other, the nearest first.
pub(super) struct Hierarchy {
    pub caches: Vec<Cache>,
    last: u32,
}

impl Hierarchy {
    pub fn new(bytes: impl IntoIterator<Item = f64>) -> Hierarchy {
        Hierarchy { caches: bytes.into_iter().map(Cache::new).collect(), last: NONE }
    }

    /// An access of the processor to a line.
    pub fn access(&mut self, line: u32, write: bool) {
        // Most accesses are to the line of the access before, or hit the nearest cache.
        if line == self.last && !write {
            return;
        }
        self.last = line;
        self.below(0, line, write);
    }

    fn below(&mut self, level: usize, line: u32, write: bool) {
        let Some(cache) = self.caches.get_mut(level) else { return };
        let moves = cache.access(line, write);
        if moves.fetched {
            self.below(level + 1, line, false);
        }
        if let Some(line) = moves.written {
            self.below(level + 1, line, true);
        }
    }

    /// What was written goes to memory.
    pub fn finish(&mut self) {
        for level in 0..self.caches.len() {
            for line in self.caches[level].drain() {
                self.below(level + 1, line, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossed(lines: &[(u32, bool)], capacity: f64) -> Crossed {
        let mut caches = Hierarchy::new([capacity * LINE]);
        lines.iter().for_each(|(line, write)| caches.access(*line, *write));
        caches.finish();
        caches.caches[0].crossed
    }

    #[test]
    fn the_line_that_was_used_longest_ago_goes() {
        let read = |lines: &[u32]| lines.iter().map(|line| (*line, false)).collect::<Vec<_>>();
        assert_eq!(crossed(&read(&[0, 1, 0, 2, 0]), 2.0).fetched, 3);
        assert_eq!(crossed(&read(&[0, 1, 2, 0]), 2.0).fetched, 4);
    }

    #[test]
    fn what_was_written_goes_back_once_if_it_stays() {
        assert_eq!(crossed(&[(0, true), (0, true), (1, false)], 2.0), Crossed { fetched: 2, written: 1 });
        assert_eq!(crossed(&[(0, true), (1, false), (0, true)], 1.0), Crossed { fetched: 3, written: 2 });
    }

    #[test]
    fn a_larger_cache_behind_sees_only_what_the_first_lacks() {
        let mut caches = Hierarchy::new([LINE, 4.0 * LINE]);
        for line in [0, 1, 0, 1] {
            caches.access(line, false);
        }
        let fetched: Vec<u64> = caches.caches.iter().map(|cache| cache.crossed.fetched).collect();
        assert_eq!(fetched, [4, 2]);
    }
}
