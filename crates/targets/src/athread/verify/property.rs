//! Lists of what the check of a slave file has followed, and of what it never follows. Every
//! message about the check prints from these lists.

use std::collections::BTreeSet;

macro_rules! sentences {
    ($(#[$meta:meta])* $name:ident { $($variant:ident: $word:literal, $sentence:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name { $(#[doc = $sentence] $variant,)* }

        impl $name {
            /// All of them, in the order in which they are printed.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// A short name.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// What it means, as a sentence.
            pub fn sentence(self) -> &'static str {
                match self { $($name::$variant => $sentence,)* }
            }
        }
    };
}

sentences! {
    /// A property of a slave file that the check follows.
    Property {
        Waits: "waits", "A transfer is waited for before its data is used, before its place is used again, before a barrier that it must not cross, and before the end.";
        Boxes: "boxes", "A tile reads the box that the mapped program has there in this iteration.";
        Results: "results", "Data that is written back was fetched or computed before, goes where the mapping says, and is not overwritten before it is sent.";
        Early: "early boxes", "A core does not change a prefetched box in main memory before it uses the box.";
        Meetings: "barriers", "All cores reach the same barriers, and a barrier stands between loops over cores that follow each other.";
        Shares: "shares", "All cores of a row or column take part in an exchange of shares, and have what the others need.";
        Kept: "kept shares", "Each part of a step that stays in local memory belongs to one core, and no core has two of them in one place.";
        Turns: "shares ahead", "Shares that are fetched several steps ahead are requested, waited for and sent as their rule says, statement by statement.";
        Casts: "broadcasts", "The place that a broadcast writes to is free since the last barrier of all cores. It is read only after the senders have waited and all cores have met at the next barrier.";
        Rows: "panels of rows", "An exchange or a gather of panels delivers the box of the mapping to each core.";
        Columns: "panels of columns", "For chosen sizes and cores, each element that is read is that of the mapping, and changes of it come in order.";
    }
}

sentences! {
    /// What the check of a slave file does not look at.
    Unfollowed {
        Values: "computed values", "The values that statements compute: operands, constants, operations, lanes of vectors.";
        Ranges: "ranges of loops", "Where loops over tiles and elements begin and end and what they count by, beyond the boxes that they touch; which tiles a core takes.";
        Calls: "arguments of micro-kernels", "The arguments of micro-kernels besides the buffers: offsets, row lengths, numbers of blocks.";
        Subscripts: "subscripts of local arrays", "Subscripts inside a buffer, other than in panels of columns.";
        Layout: "layout of local memory", "Alignment of buffers and the conditions that ask for it.";
        Helpers: "helper functions", "The functions before the kernels that send words between cores and request rows in turn, and the micro-kernels.";
        Cycles: "modelled cycles", "The cycles that are counted for the model of time.";
    }
}

/// The properties that were followed and what never is, as one line.
pub fn line(followed: &BTreeSet<Property>) -> String {
    let names: Vec<&str> = followed.iter().map(|property| property.name()).collect();
    let others: Vec<&str> = Unfollowed::ALL.iter().map(|other| other.name()).collect();
    format!(
        "the check of the slave file followed: {}; it does not follow: {}",
        names.join(", "),
        others.join(", ")
    )
}
