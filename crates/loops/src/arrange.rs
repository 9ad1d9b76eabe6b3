//! Loops as processors and C compilers like them, where nobody has chosen a schedule: what is near borders apart, what goes across memory in blocks, rows one behind the
//! other, chains of sums side by side, what is the same in all iterations before them. Results stay the same to the last bit.
//!
//! Not here: loops of which the model of the polyhedral side is made.

use crate::program::Function;
use crate::{blocks, borders, flat, hoist, jam, merge};

/// The function in that form.
///
/// A function that is nested too deeply to look at comes back as it is.
pub fn arranged(function: &Function) -> Function {
    let apart = blocks::across(&borders::split(function));
    hoist::invariants(&jam::chains(&flat::rows(&merge::accumulators(&apart))))
}
