//! The trace of a strategy: every rule, its place, the term before and after.

use std::fmt::Write as _;

use loops::{Diagnostic, Name, Size};

use super::BAD_TRACE;
use crate::build::Supply;
use crate::facts::SizeFacts;
use crate::rewrite::{Context, rule};
use crate::term::{Definition, Term};
use crate::walk::{self, Position};

/// A rule applied at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The rule.
    pub rule: &'static str,
    /// Its sizes.
    pub args: Vec<Size>,
    /// The place in the body of the definition.
    pub position: Position,
    /// The term there.
    pub before: Term,
    /// The term that took its place.
    pub after: Term,
}

/// All steps from one definition to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The definition that was rewritten.
    pub definition: Name,
    /// Whether the order of floating-point operations was free.
    pub reassociate: bool,
    /// The steps in order.
    pub steps: Vec<Step>,
}

impl Step {
    /// `rule(sizes) at position`.
    pub fn summary(&self) -> String {
        format!("{} at {}", self.call(), self.position)
    }

    /// The rule with its sizes.
    pub(super) fn call(&self) -> String {
        let args: Vec<String> = self.args.iter().map(Size::to_string).collect();
        let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
        format!("{}{args}", self.rule)
    }
}

impl Trace {
    /// Whether a rule was applied that changes the order of floating-point operations.
    pub fn reassociates(&self) -> bool {
        self.steps.iter().any(|step| rule(step.rule).is_some_and(|rule| rule.reassociates))
    }

    /// One line for each step; [`Trace::replay_text`] reads it.
    pub fn to_text(&self) -> String {
        let mut text =
            format!("trace of {}{}\n", self.definition, if self.reassociate { " (reassociate)" } else { "" });
        for step in &self.steps {
            let _ = writeln!(text, "{}", step.summary());
        }
        text
    }

    /// Replays the same steps.
    ///
    /// # Errors
    /// If a step does not apply, because the definition is not the one that the trace was made
    /// with.
    pub fn replay(&self, definition: &Definition) -> Result<Definition, Diagnostic> {
        let mut player = Player::new(definition, self.reassociate);
        for (step, k) in self.steps.iter().zip(1..) {
            player.step(k, step.rule, &step.args, &step.position)?;
        }
        Ok(player.finish())
    }

    /// Applies a trace that was printed by [`Trace::to_text`].
    ///
    /// # Errors
    /// If the text is no trace, or a step does not apply.
    pub fn replay_text(text: &str, definition: &Definition) -> Result<Definition, Diagnostic> {
        let bad = |line: usize, what: &str| {
            Diagnostic::general(BAD_TRACE, format!("line {} of the trace: {what}", line + 1))
        };
        let mut lines = text.lines().enumerate();
        let reassociate = match lines.next() {
            Some((_, first)) if first.starts_with("trace of ") => first.ends_with("(reassociate)"),
            _ => return Err(bad(0, "it starts with `trace of NAME`")),
        };
        let mut player = Player::new(definition, reassociate);
        for (k, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let Some((call, position)) = line.rsplit_once(" at ") else {
                return Err(bad(k, "a step is `rule(sizes) at position`"));
            };
            let position: Position =
                position.trim().parse().map_err(|_| bad(k, "the position is malformed"))?;
            let parsed = super::parse(&definition.name, call, 0)?;
            let super::Strategy::Call(call) = parsed.body else {
                return Err(bad(k, "a step applies one rule"));
            };
            player.step(k, &call.name, &call.args, &position)?;
        }
        Ok(player.finish())
    }
}

struct Player {
    definition: Definition,
    supply: Supply,
    facts: SizeFacts,
    reassociate: bool,
}

impl Player {
    fn new(definition: &Definition, reassociate: bool) -> Player {
        Player {
            supply: Supply::above(definition),
            facts: SizeFacts::of(definition),
            definition: definition.clone(),
            reassociate,
        }
    }

    fn step(&mut self, k: usize, name: &str, args: &[Size], position: &Position) -> Result<(), Diagnostic> {
        let bad = |what: String| Diagnostic::general(BAD_TRACE, format!("step {k} of the trace: {what}"));
        let Some(rule) = rule(name) else { return Err(bad(format!("there is no rule `{name}`"))) };
        let Some(term) = walk::subterm(&self.definition.body, position) else {
            return Err(bad(format!("`{}` has no place {position}", self.definition.name)));
        };
        let mut cx = Context { supply: &mut self.supply, facts: &self.facts, reassociate: self.reassociate };
        let new = rule
            .apply(&mut cx, args, term)
            .map_err(|why| bad(format!("`{name}` does not apply at {position}: {why}")))?;
        match walk::replace(&self.definition.body, position, &new) {
            Some(body) => self.definition.body = body,
            None => return Err(bad(format!("there is no place {position}"))),
        }
        Ok(())
    }

    fn finish(self) -> Definition {
        self.definition
    }
}
