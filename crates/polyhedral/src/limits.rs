//! Bounds on work, in the set library's elementary operations: work ends at the same place on every
//! machine under any load. No clock is asked.

use isl::Ctx;

/// A bound on the work of one stage, and on that of all stages together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The set library's elementary operations of a stage.
    pub operations: u64,
    /// What this thread may have spent when the stage ends, as [`isl::spent`] counts.
    end: u64,
}

impl From<u64> for Limits {
    /// That many operations a stage, of any number of stages.
    fn from(operations: u64) -> Limits {
        Limits { operations, end: u64::MAX }
    }
}

impl Limits {
    /// That many operations a stage, and `total` for all stages from now on.
    pub fn within(operations: u64, total: u64) -> Limits {
        Limits { operations, end: isl::spent().saturating_add(total) }
    }

    /// A part of the operations.
    pub(crate) fn part(self, part: u64) -> Limits {
        Limits { operations: self.operations / part, ..self }
    }

    /// The same with so many operations a stage at most.
    pub(crate) fn at_most(self, operations: u64) -> Limits {
        Limits { operations: self.operations.min(operations), ..self }
    }

    /// Runs work on a context within the bounds.
    pub fn run<T>(self, ctx: &Ctx, work: impl FnOnce() -> T) -> T {
        let left = self.end.saturating_sub(isl::spent());
        ctx.limited(self.operations.min(left), work)
    }
}
