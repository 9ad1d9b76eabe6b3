//! The verifier of slave files. It reads the transfers in the generated text, after they were
//! prefetched, shared and double-buffered.
//!
//! The text is read back and followed for one core, with everything that can be known at each point
//! (`state`): which transfers are running, and what each buffer holds. This is compared with the
//! boxes of the mapped program (`mapped`), which were checked before. The verifier shares no code
//! with the code that writes slave files.
//!
//! - No part of local memory is used, filled or reused while a transfer of it is running. No
//!   transfer is running at a barrier that it must not cross, or at the end.
//! - What is read was brought in or written. It is the box that the mapping has there, in this
//!   iteration.
//! - What is transferred out was brought in or written. It goes where the mapping says, and is not
//!   overwritten before.
//! - A box that is prefetched is not changed in main memory by this core before it is used.
//! - Cores that exchange shares of a box all execute the exchange equally often. The same holds for
//!   barriers.
//!
//! What is broadcast arrives at all cores between two barriers. Rows that take turns are compared
//! with the mapping (`cast`).
//!
//! Shares that are prefetched several steps ahead are compared with their rule, statement by
//! statement (`turns`).
//!
//! Panels of columns are followed with numbers, for some sizes and cores (`blocks`). This includes
//! their subscripts, and what goes from core to core.
//!
//! Otherwise not here: subscripts of local arrays, and what other cores do. The check of the
//! mapping covers them.

mod blocks;
mod branch;
mod broadcast_check;
mod compute;
mod exchange;
mod form;
mod implication;
mod mapped;
mod panel_rows;
mod property;
mod read;
mod round_robin;
mod round_robin_forms;
mod shares_ahead;
mod state;
mod stationary_check;
mod transfer;
mod walk;

use std::collections::BTreeSet;

use loops::{Code, Diagnostic, Function};

use super::kernel;
pub use property::{Property, Unfollowed, line};

/// Whether the slave file of some mapped functions moves its data as they say: the properties that
/// were followed, and no more than these.
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
    /// The text was followed to its end, and kept these properties. It may have others wrong, as
    /// [`Unfollowed`] lists.
    Followed(BTreeSet<Property>),
    /// The text could not be followed, and why.
    Unknown(String),
}
