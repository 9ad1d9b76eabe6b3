//! Surface syntax: from text to tokens to a tree with places. Parsing never fails: it gives a tree
//! and a list of errors.
//!
//! Not here: names, types and sizes ([`crate::infer`]).

pub mod ast;
mod expr;
mod item;
mod parser;
mod rule_items;
pub mod token;
mod ty;

pub use ast::{Def, Expr, Ident, Module, RuleDef};
pub use parser::{MAX_BYTES, MAX_DEPTH, parse_module};
pub(crate) use rule_items::REASSOCIATE;
pub(crate) use ty::{parse_relation, parse_scheme};
