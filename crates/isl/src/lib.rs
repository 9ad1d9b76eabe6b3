//! An owned, safe face of the integer set library (isl): the only room with `unsafe`.
//!
//! - A [`Ctx`] is a counted reference, and every object holds one: no object outlives its context,
//!   and none can be sent to another thread.
//! - Methods take their arguments by reference and give new values, as `Result`s. An error carries
//!   isl's own words, and is reset when it is reported, so that it never shows up at the next call.
//! - [`Ctx::limited`] is a fuse: work inside it stops with [`ErrorKind::Quota`] after so many of
//!   isl's elementary operations.
//! - No clock decides what comes out. One ends hangs: work that takes half an hour unwinds with a
//!   [`Hang`].
//! - A callback that panics unwinds only after isl has returned.
//! - Objects of two contexts do not mix: that is an error, not undefined behaviour.
//!
//! What is left out: isl's printers and parsers of other formats, matrices, and all that the
//! compiler does not use. isl itself checks no legality when schedules are edited: that belongs to
//! the room that edits.

#[cfg(feature = "bundled")]
use isl_rs as _;

mod ctx;
#[macro_use]
mod object;

mod aff;
mod ast;
mod callback;
mod flow;
mod map;
mod schedule;
mod set;
mod space;
mod version;
mod watch;

pub use aff::{Aff, MultiAff, MultiPwAff, MultiUnionPwAff, PwAff, PwMultiAff, UnionPwAff, UnionPwMultiAff};
pub use ast::{AstBuild, AstExpr, AstExprKind, AstNode, AstNodeKind, AstOp};
pub use ctx::{Ctx, Error, ErrorKind, Flag, Result, spent};
pub use flow::{UnionAccessInfo, UnionFlow};
pub use map::{BasicMap, FixedBox, Map, MultiVal, UnionMap};
pub use schedule::{NodeKind, Schedule, ScheduleConstraints, ScheduleNode};
pub use set::{BasicSet, Constraint, Point, Set, UnionSet};
pub use space::{Dim, Id, LocalSpace, Space, Val};
pub use version::version;
pub use watch::{HANG_SECONDS, Hang, hurry};
