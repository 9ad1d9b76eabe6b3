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
pub mod defined;
mod fusion;
mod layout;
mod lets;
mod lift;
mod memory;
mod sharing;
mod tile;
mod vector;

use std::fmt;

use loops::{Diagnostic, Size};

pub use context::{Context, Refusal};
pub use defined::DefinedRule;

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

/// A rule of the compiler, or one of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnyRule {
    /// One of [`RULES`].
    BuiltIn(&'static Rule),
    /// `rule NAME: ...`.
    Defined(DefinedRule),
}

impl AnyRule {
    /// Its name in strategies and traces.
    pub fn name(&self) -> &str {
        match self {
            AnyRule::BuiltIn(rule) => rule.name,
            AnyRule::Defined(rule) => rule.name(),
        }
    }

    /// How many sizes strategies give it.
    pub fn arity(&self) -> usize {
        match self {
            AnyRule::BuiltIn(rule) => rule.params.len(),
            AnyRule::Defined(rule) => rule.params().len(),
        }
    }

    /// Whether it changes the order of floating-point operations, and with it the result.
    pub fn reassociates(&self) -> bool {
        match self {
            AnyRule::BuiltIn(rule) => rule.reassociates,
            AnyRule::Defined(rule) => rule.reassociates(),
        }
    }

    /// Whether it may be applied at all: a rule of a program is tested first.
    ///
    /// # Errors
    /// `S0203` if it changes what programs compute.
    pub fn admitted(&self) -> Result<(), Diagnostic> {
        match self {
            AnyRule::BuiltIn(_) => Ok(()),
            AnyRule::Defined(rule) => rule.admitted(),
        }
    }

    /// The new term, of the same type.
    ///
    /// # Errors
    /// As [`Rule::apply`].
    pub fn apply(&self, cx: &mut Context<'_>, args: &[Size], term: &Term) -> Result<Term, Refusal> {
        match self {
            AnyRule::BuiltIn(rule) => rule.apply(cx, args, term),
            AnyRule::Defined(rule) => undone(cx, self.reassociates(), term, |cx| rule.apply(cx, args, term)),
        }
    }
}

/// What a rule makes of a term; if it makes nothing, no variable was used.
fn undone(
    cx: &mut Context<'_>,
    reassociates: bool,
    term: &Term,
    apply: impl FnOnce(&mut Context<'_>) -> Result<Term, Refusal>,
) -> Result<Term, Refusal> {
    if reassociates && !cx.reassociate && cx.is_float(term) {
        return Err(Refusal::new(REORDERS));
    }
    let before = cx.supply.clone();
    let result = apply(cx).and_then(|new| cx.retype(new, term.ty()));
    if result.is_err() {
        *cx.supply = before;
    }
    result
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

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
        if let Some(bad) = args.iter().find(|k| k.as_constant().is_some_and(|c| c <= 0)) {
            return Err(Refusal::new(format!("the size {bad} is not positive")));
        }
        undone(cx, self.reassociates, term, |cx| (self.apply)(cx, args, term))
    }
}
