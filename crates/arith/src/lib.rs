//! Integer arithmetic that every stage needs: numbers, linear forms, polynomials, and what follows
//! from inequalities.
//!
//! - [`number`]: quotients and remainders, truncated and rounded down, checked and total.
//! - [`linear`]: `sum of coefficient * variable + constant`.
//! - [`polynomial`]: sums of products of atoms.
//! - [`fourier_motzkin`]: bounded elimination over conjunctions of linear inequalities.
//! - [`facts`]: known inequalities and multiples, and questions about them.
//!
//! All arithmetic is exact: what does not fit is `None` or an error, never another number. Every
//! search is bounded by a number of operations. `true` is a proof, `false` means "not shown".
//!
//! Variables and atoms are of any ordered type. What they mean, how they are printed and how they
//! become expressions of a program is up to the user of this crate.

pub mod facts;
pub mod fourier_motzkin;
pub mod linear;
pub mod number;
pub mod polynomial;

pub use facts::Facts;
pub use fourier_motzkin::{Budget, System};
pub use linear::Linear;
pub use number::Integer;
pub use polynomial::{Monomial, Polynomial};
