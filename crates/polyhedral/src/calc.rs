//! A calculator for sets and maps: `card({ S[i,j] : 0 <= i <= j < 10 })`, `R . S`, `lexmin(R)`,
//! `A <= B`.
//!
//! Users' text is read by this module, not by isl, so that an error points at the construct and
//! says what is wrong with it; the operations are isl's (and, for counting and for elimination,
//! those of [`crate::cardinality`] and [`arith::fourier_motzkin`]). Source: the notes on the
//! foundations of the polyhedral model, "sets and maps".
//!
//! What it leaves out: nested tuples, and schedules.

mod eval;
mod lexer;
mod literal;
mod measure;
mod syntax;

pub use eval::{Limits, Value, evaluate};
pub use syntax::FUNCTIONS;

use loops::diagnostic::Code;

/// The text is not an expression.
pub(crate) const SYNTAX: Code = Code("P0501");
/// A name that nothing defines.
pub(crate) const UNKNOWN: Code = Code("P0502");
/// A formula that is not affine.
pub(crate) const NOT_AFFINE: Code = Code("P0503");
/// Operands that do not fit the operation.
pub(crate) const MISFIT: Code = Code("P0504");
/// The set library stopped, at the operation limit or for a reason of its own.
pub(crate) const STOPPED: Code = Code("P0505");
/// The set is infinite, or the formula of the number of its elements too large.
pub(crate) const NOT_COUNTED: Code = Code("P0506");
