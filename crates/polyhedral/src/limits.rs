//! Bounds on work: a number of the set library's elementary operations, which ends work at the same place on every machine, and a time, for operations
//! differ in cost by orders of magnitude.

use std::time::{Duration, Instant};

use isl::Ctx;

/// A bound on the work of one stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The set library's elementary operations.
    pub operations: u64,
    /// When the stage ends at the latest.
    pub deadline: Option<Instant>,
}

impl From<u64> for Limits {
    /// That many operations, without an end in time.
    fn from(operations: u64) -> Limits {
        Limits { operations, deadline: None }
    }
}

impl Limits {
    /// That many operations, ending after `seconds` from now.
    pub fn within(operations: u64, seconds: u64) -> Limits {
        Limits { operations, deadline: Instant::now().checked_add(Duration::from_secs(seconds)) }
    }

    /// A part of the operations, and an end in `seconds` from now at the latest.
    pub(crate) fn sooner(self, part: u64, seconds: u64) -> Limits {
        let own = Limits::within(self.operations / part, seconds);
        Limits { deadline: [own.deadline, self.deadline].into_iter().flatten().min(), ..own }
    }

    /// Runs work on a context within the bounds.
    pub fn run<T>(self, ctx: &Ctx, work: impl FnOnce() -> T) -> T {
        match self.deadline {
            Some(deadline) => ctx.limited_until(self.operations, deadline, work),
            None => ctx.limited(self.operations, work),
        }
    }
}
