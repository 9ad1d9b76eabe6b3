//! A second look at slave files: transfers where the text has them, after they were moved ahead of their time, shared, and given two places.
//!
//! The text is read back and followed for one core, with all that can be known at each place (`state`): which transfers are on their way, what each buffer
//! holds. It is held against the boxes of the mapped program (`mapped`), which were checked before. Nothing here is shared with the code that writes slave files.
//!
//! - Nothing of local memory is used, filled or reused while a transfer of it is on its way, and nothing is on its way at a barrier that it must not cross, or at the end.
//! - What is read came in, or was written; and it is the box that the mapping has there, in this iteration.
//! - What goes out is what was brought in or written, goes where the mapping says, and is not overwritten before.
//! - A box that is brought in early is not changed in main memory before it is used, by this core.
//! - Cores that exchange shares of a box all come by alike; so they do at barriers.
//!
//! What is broadcast comes to all cores, between two meetings; rows that take turns are held against what the mapping has (`cast`).
//!
//! Shares that come steps ahead are held against their rule, statement by statement (`turns`).
//!
//! Panels of columns are followed with numbers, for some sizes and cores (`blocks`): their subscripts and what goes from core to core, too.
//!
//! Not here otherwise: subscripts of local arrays, and what other cores do; the mapping's check has looked at them.

mod ahead;
mod blocks;
mod branch;
mod cast;
mod compute;
mod form;
mod held;
mod mapped;
mod panel;
mod property;
mod read;
mod reason;
mod share;
mod state;
mod transfer;
mod turns;
mod walk;

use std::collections::BTreeSet;

use loops::{Code, Diagnostic, Function};

use super::kernel;
pub use property::{Property, Unfollowed, line};

/// Whether the slave file of some mapped functions moves its data as they say: the properties that were followed, and no more than these.
///
/// # Errors
/// `T0006` with the kernel and the statement that is wrong.
pub fn check(functions: &[&Function], slave: &str) -> Result<Verdict, Diagnostic> {
    let lost = |what: String| Ok(Verdict::Unknown(what));
    let read = match read::kernels(slave) {
        Ok(read) => read,
        Err(what) => return lost(what),
    };
    let defined = |name: &str| {
        let (_, rest) = slave.split_once(&format!("\n#define {name} "))?;
        rest.lines().next()?.parse::<i64>().ok()
    };
    let sharers = defined("CORE_ROWS").zip(defined("CORE_COLUMNS"));
    let rules: Vec<read::Macro> =
        [1, 2, 4, 8].iter().filter_map(|set| read::definition(slave, &format!("HELD_CORE_{set}"))).collect();
    let (mut known, mut unknown) = (BTreeSet::new(), None);
    for function in functions {
        for kernel in kernel::kernels(function)? {
            let Some(text) = read.iter().find(|k| k.name == kernel.name) else {
                return lost(format!("`{}` is not in the slave file", kernel.name));
            };
            match walk::follow(&mapped::Mapped::of(&kernel, sharers, &rules, slave), &text.body) {
                Ok(followed) => known.extend(followed),
                // Of the others it may still be seen.
                Err(walk::Stop::Lost(what)) => {
                    unknown.get_or_insert(format!("in `{}`: {what}", kernel.name));
                }
                Err(walk::Stop::Wrong(what)) => {
                    let message = format!("the slave code of `{}` {what}", kernel.name);
                    return Err(Diagnostic::general(Code("T0006"), message));
                }
            }
        }
    }
    Ok(unknown.map_or(Verdict::Followed(known), Verdict::Unknown))
}

/// What a check has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The text was followed to its end, and kept these properties. It may have others wrong, as [`Unfollowed`] lists.
    Followed(BTreeSet<Property>),
    /// The text could not be followed, and why.
    Unknown(String),
}
