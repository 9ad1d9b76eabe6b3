//! Limits of evaluation: memory and operations. Both are counted, so the same model gives the same
//! answer on any machine.

/// What is left of memory and operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Bytes of values at one time.
    pub memory: u64,
    /// Elements computed or visited; a node counts as [`NODE`] besides.
    pub operations: u64,
}

/// Operations that each node costs in addition to those on elements, because its program is built
/// each time.
pub const NODE: u64 = 1 << 14;

impl Default for Budget {
    /// 4 GiB and 2^34 operations.
    fn default() -> Budget {
        Budget { memory: 4 << 30, operations: 1 << 34 }
    }
}

impl Budget {
    /// So many bytes, and as many operations as usual.
    pub fn of_memory(memory: u64) -> Budget {
        Budget { memory, ..Budget::default() }
    }
}
