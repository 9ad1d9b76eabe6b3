//! Rewrite rules over core terms: named values that turn a term into an equal one, or say why they
//! do not apply.
//!
//! A rule looks at one term, at its root. [`crate::strategy`] moves to a place, tries and repeats.
//! Unless a rule is marked as reassociating, the new term has the same value bit for bit wherever
//! the old one has a value. If a rule evaluates something that the old term might not have
//! evaluated, it requires that this cannot fail.
//!
//! Each family has a file. [`RULES`] is the table from which the reference page is made.

mod choose;
mod context;
mod fusion;
mod layout;
mod lets;
mod lift;
mod memory;
mod sharing;
mod tile;
mod vector;

use std::fmt;

use loops::Size;

pub use context::{Context, Refusal};

use crate::term::Term;

/// What a rule does to the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Family {
    /// Two passes over data become one, or one becomes two.
    Fusion,
    /// Views cancel or move past patterns.
    Layout,
    /// One loop becomes a nest of loops.
    Tiling,
    /// Loops of a nest change places.
    Interchange,
    /// A pattern gets its execution strategy.
    Choice,
    /// Numbers become lanes.
    Vector,
    /// Values get a place in memory.
    Memory,
    /// `let`, pairs, constants.
    Simplify,
}

/// A rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name in strategies and traces.
    pub name: &'static str,
    /// Names of its size arguments.
    pub params: &'static [&'static str],
    /// Its family.
    pub family: Family,
    /// Left side, arrow, right side; for readers.
    pub statement: &'static str,
    /// When it applies and what it is for.
    pub doc: &'static str,
    /// Whether it changes the order of floating-point operations, and with it the result.
    pub reassociates: bool,
    apply: fn(&mut Context<'_>, &[Size], &Term) -> Result<Term, Refusal>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All rules, by family.
pub static RULES: &[&[Rule]] = &[
    fusion::RULES,
    layout::RULES,
    tile::RULES,
    lift::RULES,
    choose::RULES,
    vector::RULES,
    memory::RULES,
    lets::RULES,
    sharing::RULES,
];

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().flat_map(|family| family.iter())
}

/// The rule of this name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

/// Why a rule that reorders floating-point operations is refused: the user can allow it.
pub(crate) const REORDERS: &str =
    "changes the order of floating-point operations, which is not allowed here (`reassociate`)";

impl Rule {
    /// The new term, of the same type.
    ///
    /// # Errors
    /// Why the rule does not apply here. A rule that reassociates applies only where the context
    /// allows it.
    pub fn apply(&self, cx: &mut Context<'_>, args: &[Size], term: &Term) -> Result<Term, Refusal> {
        if args.len() != self.params.len() {
            return Err(Refusal::new(format!("takes {} sizes, not {}", self.params.len(), args.len())));
        }
        if self.reassociates && !cx.reassociate && cx.is_float(term) {
            return Err(Refusal::new(REORDERS));
        }
        if let Some(bad) = args.iter().find(|k| k.as_constant().is_some_and(|c| c <= 0)) {
            return Err(Refusal::new(format!("the size {bad} is not positive")));
        }
        let before = cx.supply.clone();
        let result = (self.apply)(cx, args, term).and_then(|new| cx.retype(new, term.ty()));
        if result.is_err() {
            *cx.supply = before;
        }
        result
    }
}
