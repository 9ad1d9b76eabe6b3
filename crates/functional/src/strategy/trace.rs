//! The trace of a strategy: every rule, its place, the term before and after.

use std::fmt::Write as _;

use loops::{Diagnostic, Name, Size};

use super::{BAD_TRACE, Outcome, Strategies};
use crate::build::Supply;
use crate::facts::SizeFacts;
use crate::rewrite::{AnyRule, Context};
use crate::term::{Definition, Term};
use crate::walk::{self, Position};

/// A rule applied at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The rule.
    pub rule: AnyRule,
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
        format!("{}{args}", self.rule.name())
    }
}

impl Trace {
    /// Whether a rule was applied that changes the order of floating-point operations.
    pub fn reassociates(&self) -> bool {
        self.steps.iter().any(|step| step.rule.reassociates())
    }

    /// One line for each step; [`replay`] reads it.
    pub fn to_text(&self) -> String {
        let mut text =
            format!("{FIRST_LINE}{}{}\n", self.definition, if self.reassociate { REASSOCIATE } else { "" });
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
            player.step(k, &step.rule, &step.args, &step.position)?;
        }
        Ok(player.definition)
    }
}

/// What the text of a trace begins with, before the name of the definition.
const FIRST_LINE: &str = "trace of ";
/// What follows the name if the order of floating-point operations was free.
const REASSOCIATE: &str = " (reassociate)";

/// Whether a text is meant as a trace rather than as a strategy.
pub fn is_trace(text: &str) -> bool {
    text.trim_start().starts_with(FIRST_LINE)
}

/// Applies the steps of a trace that was printed by [`Trace::to_text`], with the rules of the
/// program. The text may hold the traces of several definitions.
///
/// # Errors
/// If the text is no trace, has none of this definition, or a step does not apply.
pub fn replay(text: &str, definition: &Definition, strategies: &Strategies) -> Result<Outcome, Diagnostic> {
    crate::check::check_depth(&definition.body, &definition.name)?;
    let bad = |line: usize, what: &str| {
        Diagnostic::general(BAD_TRACE, format!("line {} of the trace: {what}", line + 1))
    };
    if !is_trace(text) {
        return Err(bad(0, "it starts with `trace of NAME`"));
    }
    let title = |line: &str| {
        let title = line.strip_prefix(FIRST_LINE)?;
        let name = title.strip_suffix(REASSOCIATE).unwrap_or(title);
        Some((name.trim() == definition.name.as_str(), title.ends_with(REASSOCIATE)))
    };
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| title(line).is_none_or(|(own, _)| !own));
    let Some((_, first)) = lines.next() else {
        let message = format!("there is no trace of `{}` in the text", definition.name);
        return Err(Diagnostic::general(BAD_TRACE, message));
    };
    let mut player = Player::new(definition, first.trim_end().ends_with(REASSOCIATE));
    for (k, line) in lines.take_while(|(_, line)| !line.trim().is_empty()) {
        let Some((call, position)) = line.rsplit_once(" at ") else {
            return Err(bad(k, "a step is `rule(sizes) at position`"));
        };
        let position: Position = position.trim().parse().map_err(|_| bad(k, "the position is malformed"))?;
        let parsed = super::parse(&definition.name, call, 0).map_err(super::set::without_place)?;
        let super::Strategy::Call(call) = parsed.body else {
            return Err(bad(k, "a step applies one rule"));
        };
        let Some(rule) = strategies.rule(&call.name) else {
            return Err(Diagnostic::general(
                BAD_TRACE,
                format!("step {k} of the trace: there is no rule `{}`", call.name),
            ));
        };
        rule.admitted()?;
        player.step(k, &rule, &call.args, &position)?;
    }
    crate::check::check(&player.definition)?;
    Ok(Outcome { definition: player.definition, trace: player.trace })
}

struct Player {
    definition: Definition,
    supply: Supply,
    facts: SizeFacts,
    trace: Trace,
}

impl Player {
    fn new(definition: &Definition, reassociate: bool) -> Player {
        Player {
            supply: Supply::above(definition),
            facts: SizeFacts::of(definition),
            definition: definition.clone(),
            trace: Trace { definition: definition.name.clone(), reassociate, steps: Vec::new() },
        }
    }

    fn step(
        &mut self,
        k: usize,
        rule: &AnyRule,
        args: &[Size],
        position: &Position,
    ) -> Result<(), Diagnostic> {
        let bad = |what: String| Diagnostic::general(BAD_TRACE, format!("step {k} of the trace: {what}"));
        let name = rule.name();
        if args.len() != rule.arity() {
            let (wanted, given) = (rule.arity(), args.len());
            return Err(bad(format!("the rule `{name}` takes {wanted} sizes, not {given}")));
        }
        let sizes = &self.definition.sizes;
        if let Some(unknown) = args.iter().flat_map(Size::params).find(|name| !sizes.contains(name)) {
            return Err(bad(format!("`{}` has no size `{unknown}`", self.definition.name)));
        }
        let Some(before) = walk::subterm(&self.definition.body, position).cloned() else {
            return Err(bad(format!("`{}` has no place {position}", self.definition.name)));
        };
        let reassociate = self.trace.reassociate;
        let mut cx = Context { supply: &mut self.supply, facts: &self.facts, reassociate };
        let after = rule
            .apply(&mut cx, args, &before)
            .map_err(|why| bad(format!("`{name}` does not apply at {position}: {why}")))?;
        match walk::replace(&self.definition.body, position, &after) {
            Some(body) => self.definition.body = body,
            None => return Err(bad(format!("there is no place {position}"))),
        }
        let (args, position) = (args.to_vec(), position.clone());
        self.trace.steps.push(Step { rule: rule.clone(), args, position, before, after });
        Ok(())
    }
}
