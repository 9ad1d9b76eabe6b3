//! Surface syntax: text to tokens to a tree with places. Parsing never fails: it gives a tree and what is wrong with it.
//!
//! Not here: names, types and sizes are the business of [`crate::infer`].

pub mod ast;
mod expr;
mod item;
mod parser;
pub mod token;
mod ty;

pub use ast::{Def, Expr, Ident, Module};
pub use parser::{MAX_BYTES, MAX_DEPTH, parse_module};
pub(crate) use ty::{parse_relation, parse_scheme};
