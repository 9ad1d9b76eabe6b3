//! The polyhedral room: loop programs in, loop programs out.
//!
//! A function becomes a [`Model`] (instances, accesses, order); [`dependence`] says which pairs of
//! instances must stay in order; a [`tree::Tree`] is a schedule as a plain value
//! ([`representation`] has the other forms of schedules); [`scheduling`] finds one, [`transform`]
//! edits it, [`codegen`] turns it into a function again, and [`check`] holds the generated function
//! against the dependences of the original, trusting none of the others.
//!
//! What is deliberately not here: no front end, no target, no file or process; and no `unsafe`: the
//! set library is behind the crate `isl`.

mod affine;
pub mod athread;
pub mod calc;
pub mod cardinality;
pub mod check;
pub mod codegen;
pub mod dependence;
mod directive;
mod fault;
mod known;
pub mod limits;
pub mod local;
pub mod locality;
mod memo;
pub mod model;
mod names;
pub mod optimize;
pub mod outlining;
pub mod packing_validation;
pub mod picture;
pub mod ranks;
pub mod representation;
pub mod scheduling;
pub mod transform;
pub mod tree;

pub use fault::Result;
pub use isl::{Hang, hurry};
pub use limits::Limits;
pub use model::{Model, Statement};
pub use optimize::{Optimized, Options, Schedule, optimize};
pub use outlining::{Apart, apart};
pub use tree::Tree;
