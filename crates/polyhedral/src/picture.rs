//! Pictures of schedules as SVG text: for each statement its instances at small concrete sizes, the
//! order in which they run before and after, the tiles, and dependences as arrows; and the schedule
//! tree.
//!
//! Both functions are walked with concrete sizes, so what is drawn is what the loops do, not what
//! the tree claims. Left out: statements with more than three loops are drawn by their first three.

mod draw;
mod trace;
mod tree_drawing;

use std::collections::BTreeMap;

use loops::{Code, Diagnostic, Function, Name};

use crate::fault::Result;
use crate::optimize::Optimized;
use crate::tree::Tree;

/// What a picture shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Values of the sizes; a size without one gets `default`.
    pub sizes: BTreeMap<Name, i64>,
    /// Value of sizes that are not named.
    pub default: i64,
    /// Most instances that are drawn.
    pub instances: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { sizes: BTreeMap::new(), default: 6, instances: 600 }
    }
}

/// The picture of a function with labelled statements, before and after; `before` is the tree of
/// the order of the text.
///
/// # Errors
/// `P0701` if there are too many instances at these sizes, or something in the function cannot be
/// walked.
pub fn svg(function: &Function, before: &Tree, after: &Optimized, options: &Options) -> Result<String> {
    let sizes: BTreeMap<Name, i64> = function
        .sizes
        .iter()
        .map(|name| (name.clone(), options.sizes.get(name).copied().unwrap_or(options.default)))
        .collect();
    let old = trace::run(function, &sizes, None, options.instances)?;
    // A packed copy is not what an instance depends on.
    let (function, instances) = match &after.unpacked {
        Some(unpacked) => (&unpacked.function, &unpacked.instances),
        None => (&after.function, &after.instances),
    };
    let new = trace::run(function, &sizes, Some(instances), options.instances)?;
    Ok(draw::page(function, &sizes, [(before, &old), (&after.schedule.tree, &new)]))
}

/// `P0701`: this cannot be drawn.
fn cannot_draw(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code("P0701"), message.into())
        .help("choose smaller sizes with --size NAME=NUMBER, or one definition with --def")
}
