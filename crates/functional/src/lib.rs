//! The functional matrix language of Lozenge: syntax, size-indexed types, primitives, evaluator,
//! rewriting strategies.
//!
//! Source text is parsed into a surface tree. Its types and sizes are inferred. Definitions are
//! then unfolded into *core terms* ([`Definition`], [`Term`]): first-order, explicitly typed, with
//! functions only as arguments of primitives. The evaluator, the strategies and the translation
//! work on core terms alone.
//!
//! What is deliberately not here: no loops, no memory, no target.

pub mod blocks;
pub mod build;
pub mod check;
pub mod checked;
mod elaborate;
pub mod eval;
pub mod facts;
pub mod fmt;
pub mod infer;
pub mod prim;
pub mod print;
pub mod prove;
pub mod random;
pub mod rewrite;
pub mod strategy;
pub mod syntax;
pub mod term;
pub mod types;
pub mod typing;
pub mod walk;

pub use check::check;
pub use checked::{Checked, FileDiagnostic, SourceFile, Sources, Summary, check_module, check_sources, load};
pub use facts::SizeFacts;
pub use prim::{Group, Prim, PrimInfo};
pub use syntax::{Module, parse_module};
pub use term::{Arg, Binder, Definition, Fact, FactKind, Lambda, Literal, Term, TermKind, Var};
pub use types::DataType;
