//! GSL, the graph substitution language of Lozenge: rules over computation graphs, their static
//! checks, the three matchers, the rewriter.
//!
//! Start with the values of the language, [`rule`], and their text, [`mod@parse`] and
//! [`mod@print`].
//!
//! ```
//! let (file, errors) = gsl::parse("rule twice { match y = Neg(Neg(x)) replace y = x }");
//! assert!(errors.is_empty());
//! assert_eq!(gsl::parse(&file.to_string()).0, file);
//! ```
//!
//! Deliberately not here: files, processes, printing; the meaning of operators.

mod cost;
mod eval;
mod lex;
mod matching;
mod optimize;
pub mod parse;
pub mod print;
mod program;
mod resolve;
mod rewrite;
pub mod rule;
pub mod soundness;
mod trace;
mod tree;
mod value;
mod why;

pub use cost::estimate;
pub use optimize::{Options, Report, RuleReport, RuleSet, optimize};
pub use parse::parse;
pub use print::format;
pub use program::Compiled;
pub use resolve::{compile, compile_rule};
pub use rewrite::Refusal;
pub use rule::{Rule, RuleFile};
pub use trace::{Application, Trace, replay};
pub use why::why;
