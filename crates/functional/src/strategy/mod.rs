//! Strategies: where and in which order rewrite rules are applied.
//!
//! A strategy is a value with a textual form, written next to the program. Applying it to a
//! definition gives a new definition and the [`Trace`] of every rule that was applied. The trace
//! can be printed and replayed. A strategy that does not apply says which rule stopped it, at which
//! place, and why.
//!
//! The combinators are those of strategic rewriting (Visser; ELEVATE): sequence `;`, choice `<+`,
//! `try`, `repeat`, traversals, and ways to name a place. See `docs/strategies.md`.

mod auto;
mod library;
mod parse;
mod run;
mod set;
mod trace;

use std::fmt;

use loops::{Code, Name, Size, Span};

use crate::prim::Prim;
use crate::walk::Position;

pub use library::LIBRARY;
pub use parse::parse;
pub use run::{Options, Outcome};
pub use set::Strategies;
pub use trace::{Step, Trace, is_trace, replay};

/// Text that is no strategy.
pub const SYNTAX: Code = Code("S0101");
/// A name that is neither a rule nor a strategy.
pub const UNKNOWN: Code = Code("S0102");
/// A wrong number of sizes, a size that is not known, a strategy that calls itself.
pub(crate) const BAD_CALL: Code = Code("S0103");
/// A strategy does not apply.
pub(crate) const NOT_APPLICABLE: Code = Code("S0104");
/// A strategy does not come to an end within the limit.
pub(crate) const ENDLESS: Code = Code("S0105");
/// A trace does not fit the definition.
pub(crate) const BAD_TRACE: Code = Code("S0106");

/// A strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Does nothing, and succeeds.
    Id,
    /// Never applies.
    Fail,
    /// A rule or a named strategy with its sizes.
    Call(Call),
    /// One after another; all must apply.
    Seq(Vec<Strategy>),
    /// The first that applies.
    Choice(Vec<Strategy>),
    /// Applied if it applies.
    Try(Box<Strategy>),
    /// Applied as often as it applies.
    Repeat(Box<Strategy>),
    /// Applies where the strategy does not, and does nothing.
    Not(Box<Strategy>),
    /// At the first place where it applies, outer before inner, left before right.
    TopDown(Box<Strategy>),
    /// At the first place where it applies, inner before outer, left before right.
    BottomUp(Box<Strategy>),
    /// At every place where it applies, inner before outer; once at each.
    Everywhere(Box<Strategy>),
    /// At every place where it applies, until it applies nowhere.
    Normalise(Box<Strategy>),
    /// At every direct subterm.
    All(Box<Strategy>),
    /// At the first direct subterm where it applies.
    One(Box<Strategy>),
    /// At a direct subterm, numbered from 0 as in positions.
    Child(u32, Box<Strategy>),
    /// At a position.
    AtPosition(Position, Box<Strategy>),
    /// At the n-th place (from 1) that the pattern fits, outer before inner, left before right.
    At(Pattern, u32, Box<Strategy>),
    /// In the function of the n-th place that the pattern fits.
    Inside(Pattern, u32, Box<Strategy>),
    /// Chooses a strategy for every `map` and `reduce`.
    Auto,
}

/// What names a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// A primitive.
    Prim(Prim),
    /// A `let`.
    Let,
    /// What binds a variable of this name: a primitive by its function, or a `let`. Rules keep
    /// names, so the place can be found after others were applied.
    Binder(Name),
    /// A primitive whose function binds a variable of this name.
    Named(Prim, Name),
}

/// A rule or a named strategy with its sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Its name.
    pub name: Name,
    /// Sizes.
    pub args: Vec<Size>,
    /// Where it is written; the empty span for strategies of the library.
    pub span: Span,
}

/// A strategy with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// Its name.
    pub name: Name,
    /// Size parameters.
    pub params: Vec<Name>,
    /// For a schedule: the definition that it is for. `NAME` is then that definition, rewritten.
    pub target: Option<Name>,
    /// Whether it allows rules that change the order of floating-point operations.
    pub reassociate: bool,
    /// What it does.
    pub body: Strategy,
    /// Where its text stands.
    pub span: Span,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Prim(prim) => f.write_str(prim.name()),
            Pattern::Let => f.write_str("let"),
            Pattern::Binder(name) => f.write_str(name),
            Pattern::Named(prim, name) => write!(f, "{} named {name}", prim.name()),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (k, arg) in self.args.iter().enumerate() {
            write!(f, "{}{arg}", if k == 0 { "(" } else { ", " })?;
        }
        if self.args.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// The textual form; `parse` gives the same value back.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, parts: &[Strategy], separator: &str) -> fmt::Result {
            f.write_str("(")?;
            for (k, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if k == 0 { "" } else { separator })?;
            }
            f.write_str(")")
        }
        match self {
            Strategy::Id => f.write_str("id"),
            Strategy::Fail => f.write_str("fail"),
            Strategy::Auto => f.write_str("choose"),
            Strategy::Call(call) => call.fmt(f),
            Strategy::Seq(parts) => list(f, parts, "; "),
            Strategy::Choice(parts) => list(f, parts, " <+ "),
            Strategy::Try(s) => write!(f, "try {s}"),
            Strategy::Repeat(s) => write!(f, "repeat {s}"),
            Strategy::Not(s) => write!(f, "not {s}"),
            Strategy::TopDown(s) => write!(f, "topDown {s}"),
            Strategy::BottomUp(s) => write!(f, "bottomUp {s}"),
            Strategy::Everywhere(s) => write!(f, "everywhere {s}"),
            Strategy::Normalise(s) => write!(f, "normalise {s}"),
            Strategy::All(s) => write!(f, "all {s}"),
            Strategy::One(s) => write!(f, "one {s}"),
            Strategy::Child(k, s) => write!(f, "child {k} {s}"),
            Strategy::AtPosition(position, s) => write!(f, "at position {position} {s}"),
            Strategy::At(pattern, n, s) => write!(f, "at {pattern} {n} {s}"),
            Strategy::Inside(pattern, n, s) => write!(f, "inside {pattern} {n} {s}"),
        }
    }
}
