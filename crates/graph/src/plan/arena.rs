//! Memory for intermediate results of a model.

use std::collections::BTreeMap;

/// Memory that is allocated and freed. The first gap that is large enough is taken. Adjacent gaps
/// are joined.
#[derive(Default)]
pub(super) struct Arena {
    /// Free gaps: offset and length.
    gaps: BTreeMap<usize, usize>,
    /// Bytes that were needed so far.
    pub(super) size: usize,
}

impl Arena {
    /// A place of so many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> usize {
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

    /// Gives a place back.
    pub(super) fn give(&mut self, mut offset: usize, mut bytes: usize) {
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
