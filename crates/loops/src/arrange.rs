//! Loops as processors and C compilers like them, where nobody has chosen a schedule: what is near borders apart, what goes across memory in blocks, rows one behind the
//! other, chains of sums side by side, what is the same in all iterations before them. Results stay the same to the last bit.
//!
//! Not here: loops of which the model of the polyhedral side is made.

use crate::program::Function;
use crate::{blocks, borders, flat, hoist, jam, merge};

/// What changes a function here.
pub type Pass = fn(&Function) -> Function;

/// The passes with their names, in order.
pub const PASSES: [(&str, Pass); 6] = [
    ("borders", borders::split),
    ("blocks", blocks::across),
    ("accumulators", merge::accumulators),
    ("rows", flat::rows),
    ("chains", jam::chains),
    ("invariants", hoist::invariants),
];

/// The function in that form.
///
/// A function that is nested too deeply to look at comes back as it is.
pub fn arranged(function: &Function) -> Function {
    PASSES.iter().fold(function.clone(), |function, (_, pass)| pass(&function))
}

/// As [`arranged`], with the names of the passes that changed something.
pub fn told(function: &Function) -> (Function, Vec<&'static str>) {
    let mut changed = Vec::new();
    let mut now = function.clone();
    for (name, pass) in PASSES {
        let next = pass(&now);
        if next != now {
            changed.push(name);
        }
        now = next;
    }
    (now, changed)
}
