//! What is known of shares that come several steps ahead.

use super::state::Region;

/// What is done in a step, in its order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Done {
    /// The share of this step has been asked for.
    Asked,
    /// It is there.
    There,
    /// It has gone to others.
    Sent,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum How {
    /// By a rule of the text, again after so many steps.
    Turns { rule: String, turns: i64 },
    /// So many boxes at once.
    Boxes(i64),
    /// For each row: columns of a step, steps at once, most rows, the half used last, and the box.
    Rows { columns: i64, steps: i64, most: i64, half: Option<(i64, i64)> },
}

/// Shares that come ahead, in a place of local memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ahead {
    pub tag: String,
    pub region: Region,
    pub how: How,
    pub done: Done,
    /// Loops that the first of them was brought in outside of.
    pub loops: Vec<String>,
}

impl Ahead {
    /// Whether the share of this step is there.
    pub fn there(&self) -> bool {
        self.done == Done::There
    }
}
