//! Memory for intermediate results of a model.
//!
//! Results whose bytes are numbers share one block, with gaps that are used again. Results whose
//! bytes follow from named extents get rooms: a room is as large as the largest result that is ever
//! in it, which is computed when the model runs.

use std::collections::BTreeMap;

use loops::Size;

use super::{Place, aligned};

/// What a name is taken for where rooms are chosen. No result depends on it.
const TYPICAL: i64 = 64;
/// A room that is so many times larger than what is to be put in is left to larger results.
const MUCH_LARGER: i128 = 4;

/// Memory that is allocated and freed. The first gap that is large enough is taken. Adjacent gaps
/// are joined.
#[derive(Default)]
pub(super) struct Arena {
    /// Free gaps: offset and length.
    gaps: BTreeMap<usize, usize>,
    /// Bytes that were needed so far.
    pub(super) size: usize,
    /// Rooms, and whether each is free.
    rooms: Vec<(Room, bool)>,
}

/// Memory for results whose bytes are not known before the model runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// Bytes of the results that are put there, one after the other. The room is as large as the
    /// largest of them.
    pub bytes: Vec<Size>,
}

impl Arena {
    /// A place of so many bytes.
    pub(super) fn take(&mut self, bytes: &Size) -> Place {
        match bytes.as_constant() {
            Some(bytes) => Place::Arena(self.take_known(aligned(usize::try_from(bytes).unwrap_or(0)))),
            None => Place::Room(self.take_room(bytes)),
        }
    }

    /// Gives a place back.
    pub(super) fn give(&mut self, place: Place, bytes: &Size) {
        match (place, bytes.as_constant()) {
            (Place::Arena(offset), Some(bytes)) => {
                self.give_known(offset, aligned(usize::try_from(bytes).unwrap_or(0)));
            }
            (Place::Room(k), _) => self.rooms[k].1 = true,
            _ => {}
        }
    }

    /// All rooms.
    pub(super) fn rooms(&self) -> Vec<Room> {
        self.rooms.iter().map(|(room, _)| room.clone()).collect()
    }

    fn take_room(&mut self, bytes: &Size) -> usize {
        let typical = |size: &Size| size.eval(&|_| Some(TYPICAL)).map_or(i128::MAX, i128::from);
        let wanted = typical(bytes);
        // The same bytes before others, a smaller room before a larger one, what is nearest first.
        let apart = |room: &Room| {
            let has = room.bytes.iter().map(typical).max().unwrap_or(0);
            let larger = has > wanted.saturating_mul(MUCH_LARGER);
            (!larger).then(|| (!room.bytes.contains(bytes), has > wanted, has.abs_diff(wanted)))
        };
        let free = self.rooms.iter().enumerate().filter(|(_, (_, free))| *free);
        let best = free.filter_map(|(k, (room, _))| Some((apart(room)?, k))).min();
        match best {
            Some((_, k)) => {
                let (room, free) = &mut self.rooms[k];
                *free = false;
                if !room.bytes.contains(bytes) {
                    room.bytes.push(bytes.clone());
                }
                k
            }
            None => {
                self.rooms.push((Room { bytes: vec![bytes.clone()] }, false));
                self.rooms.len() - 1
            }
        }
    }

    fn take_known(&mut self, bytes: usize) -> usize {
        // The smallest gap that fits leaves the large ones whole.
        let fitting =
            self.gaps.iter().filter(|(_, length)| **length >= bytes).min_by_key(|(_, length)| **length);
        if let Some((offset, length)) = fitting.map(|(o, l)| (*o, *l)) {
            self.gaps.remove(&offset);
            if length > bytes {
                self.gaps.insert(offset + bytes, length - bytes);
            }
            return offset;
        }
        // A gap at the end grows.
        if let Some((offset, length)) = self.gaps.last_key_value().map(|(o, l)| (*o, *l))
            && offset + length == self.size
        {
            self.gaps.remove(&offset);
            self.size = offset.saturating_add(bytes);
            return offset;
        }
        let offset = self.size;
        self.size = offset.saturating_add(bytes);
        offset
    }

    fn give_known(&mut self, mut offset: usize, mut bytes: usize) {
        if let Some((before, length)) = self.gaps.range(..offset).next_back().map(|(o, l)| (*o, *l))
            && before + length == offset
        {
            self.gaps.remove(&before);
            (offset, bytes) = (before, bytes + length);
        }
        if let Some(length) = self.gaps.remove(&(offset + bytes)) {
            bytes += length;
        }
        self.gaps.insert(offset, bytes);
    }
}
