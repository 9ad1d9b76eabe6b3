//! The trace of an optimization: a list of rewrites that can be read and replayed.
//!
//! It has one line for each rewrite: the rule, its variant and plan, the value at which the match
//! begins, and the vertices of the pattern. Names of new values follow from the rewrites before. So
//! a replay finds its values again.

use std::fmt::Write as _;

use graph::{Model, NodeId};
use loops::{Code, Diagnostic};

use crate::eval::{Facts, Found};
use crate::matching::{Budget, Matcher};
use crate::optimize::RuleSet;
use crate::rewrite::{Change, Rewriter};
use crate::tree::Entry;

/// Rewrites in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The rewrites.
    pub applications: Vec<Application>,
}

/// One rewrite.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Application {
    /// The rule.
    pub rule: String,
    /// Which combination of its alternatives.
    pub variant: usize,
    /// From which of its outputs it was matched.
    pub plan: usize,
    /// The value at which the match began: a result of that output.
    pub at: String,
    /// Vertices of the pattern, each with the first result of its node.
    pub matched: Vec<(String, String)>,
    /// Values that new vertices make.
    pub made: Vec<String>,
}

impl Application {
    pub(crate) fn of(
        model: &Model,
        rules: &RuleSet,
        entry: Entry,
        anchor: NodeId,
        found: &Found,
    ) -> Application {
        let rule = &rules.rules()[entry.rule];
        let variant = &rule.variants[entry.variant];
        let mut matched = Vec::new();
        for (vertex, nodes) in variant.vertices.iter().zip(&found.vertices) {
            for (k, id) in nodes.iter().enumerate() {
                let Some(id) = id else { continue };
                let name = if vertex.symbol.is_some() {
                    format!("{}[{k}]", vertex.name)
                } else {
                    vertex.name.clone()
                };
                matched.push((name, result(model, *id)));
            }
        }
        Application {
            rule: rule.name.clone(),
            variant: entry.variant,
            plan: entry.plan,
            at: result(model, anchor),
            matched,
            made: Vec::new(),
        }
    }

    pub(crate) fn done(mut self, model: &Model, change: &Change) -> Application {
        self.made = change.new.iter().map(|id| result(model, *id)).collect();
        self
    }
}

fn result(model: &Model, id: NodeId) -> String {
    let first = model.graph.node(id).outputs().iter().flatten().next();
    first.map_or_else(String::new, |v| model.graph.value(*v).name().to_string())
}

impl Trace {
    /// The list as text: a line for each rewrite, `rule variant plan "at"`, then the vertices as a
    /// comment.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for a in &self.applications {
            let _ = write!(out, "{} {} {} {:?}  #", a.rule, a.variant, a.plan, a.at);
            for (name, value) in &a.matched {
                let _ = write!(out, " {name}={value}");
            }
            let _ = writeln!(out, " -> {}", a.made.join(" "));
        }
        out
    }

    /// Reads what [`Trace::to_text`] wrote; comments are not read.
    ///
    /// # Errors
    /// `R0303` with the first line that can't be read.
    pub fn parse(text: &str) -> Result<Trace, Box<Diagnostic>> {
        let mut trace = Trace::default();
        for (k, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            trace.applications.push(application(line).ok_or_else(|| {
                let text =
                    format!("line {} of the trace is not of the form `rule variant plan \"value\"`", k + 1);
                Box::new(Diagnostic::general(Code("R0303"), text))
            })?);
        }
        Ok(trace)
    }
}

fn application(line: &str) -> Option<Application> {
    let (head, rest) = line.split_once('"')?;
    let mut words = head.split_whitespace();
    let rule = words.next()?.to_owned();
    let (variant, plan) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let mut at = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => break,
            '\\' => match chars.next()? {
                'n' => at.push('\n'),
                't' => at.push('\t'),
                'r' => at.push('\r'),
                '0' => at.push('\0'),
                'u' => {
                    let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    at.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                c => at.push(c),
            },
            c => at.push(c),
        }
    }
    Some(Application { rule, variant, plan, at, ..Application::default() })
}

/// Applies the rewrites of a trace again, without regard to costs.
///
/// # Errors
/// `R0303` if a line does not apply to the model, `R0302` if the graph has a cycle.
pub fn replay(model: &mut Model, rules: &RuleSet, trace: &Trace) -> Result<(), Box<Diagnostic>> {
    if model.graph.sort().is_err() {
        return Err(Box::new(Diagnostic::general(
            Code("R0302"),
            "the graph has a cycle, so it has no order",
        )));
    }
    let mut facts = Facts::of(model);
    for (k, step) in trace.applications.iter().enumerate() {
        let fail = |reason: String| {
            let text = format!(
                "rewrite {} of the trace, `{}` at `{}`, can't be replayed: {reason}",
                k + 1,
                step.rule,
                step.at
            );
            Err(Box::new(Diagnostic::general(Code("R0303"), text)))
        };
        let Some(rule) = rules.rules().iter().find(|r| r.name == step.rule) else {
            return fail("there is no such rule".into());
        };
        let Some((variant, plan)) =
            rule.variants.get(step.variant).and_then(|v| Some((v, v.plans.get(step.plan)?)))
        else {
            return fail("the rule has changed".into());
        };
        let Some((anchor, _)) = model.graph.find(&step.at).and_then(|v| model.graph.producer(v)) else {
            return fail("there is no such value".into());
        };
        let mut budget = Budget::default();
        let Some(found) = Matcher::new(model, &facts, variant, plan, &mut budget).run(anchor) else {
            return fail("the rule does not match there".into());
        };
        let mut rewriter = Rewriter { model, facts: &mut facts, ignore_cost: true, fold: false };
        if let Err(refusal) = rewriter.apply(variant, &found.found) {
            return fail(format!("the rewrite was refused ({refusal:?})"));
        }
    }
    Ok(())
}
