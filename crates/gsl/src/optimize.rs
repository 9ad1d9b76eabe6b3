//! Applies rules to a whole model until no rule applies (a fixpoint).
//!
//! A worklist begins with all nodes in order. After a rewrite, only what it changed is visited
//! again. When the list is empty and something was rewritten, all nodes are visited once more to
//! confirm the fixpoint. Everything is deterministic: nodes are in order, and rules are in the
//! order of their files.
//!
//! Termination: a rewrite may make the model cheaper, or keep its cost and make it smaller. Such
//! rewrites can happen only finitely often. All other rewrites count against a bound that is
//! proportional to the size of the model. All rewrites together count against a larger one. Rules
//! that reach a bound are named.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use graph::hash_tables::Map;
use graph::{Model, NodeId, Slot};
use loops::{Code, Diagnostic};

use crate::eval::Facts;
use crate::matching::{Budget, Match, Matcher};
use crate::program::{Compiled, Need};
use crate::rewrite::{Change, Refusal, Rewriter};
use crate::trace::{Application, Trace};
use crate::tree::{Entry, Tree};

/// The limit on rewrites that do not make the model cheaper or smaller: for each node, and in
/// addition.
const IDLE_PER_NODE: usize = 8;
const IDLE_BESIDES: usize = 1024;
/// All rewrites: this many for each node, and besides.
const ALL_PER_NODE: usize = 64;
const ALL_BESIDES: usize = 1 << 16;
/// If a value has more users than this, they are not added to the worklist. The pass over all nodes
/// finds them.
const MANY_USERS: usize = 64;
/// Looks at all nodes.
const MAX_SWEEPS: usize = 16;

/// Rules ready to be applied.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Compiled>,
    /// The end of each set of rules. A set is applied to a fixpoint before the next one begins.
    ends: Vec<usize>,
    tree: Tree,
    /// How far from its anchor a match reaches back.
    depth: usize,
}

impl RuleSet {
    /// A set of rules; they are tried in this order.
    pub fn new(rules: Vec<Compiled>) -> RuleSet {
        RuleSet::in_order(vec![rules])
    }

    /// Several sets: the rules of a set are applied when no rule of the sets before it applies any
    /// more.
    pub fn in_order(sets: Vec<Vec<Compiled>>) -> RuleSet {
        let ends = sets
            .iter()
            .scan(0, |end, set| {
                *end += set.len();
                Some(*end)
            })
            .collect();
        let rules: Vec<Compiled> = sets.into_iter().flatten().collect();
        let mut tree = Tree::new();
        let mut depth = 1;
        for (r, rule) in rules.iter().enumerate() {
            for (v, variant) in rule.variants.iter().enumerate() {
                depth = depth.max(variant.vertices.len().min(8));
                for (p, plan) in variant.plans.iter().enumerate() {
                    tree.insert(variant, &plan.tests, Entry { rule: r, variant: v, plan: p });
                }
            }
        }
        RuleSet { rules, ends, tree, depth }
    }

    /// The names of the rules, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|r| r.name.as_str())
    }

    pub(crate) fn rules(&self) -> &[Compiled] {
        &self.rules
    }

    /// Only the rules for which `keep` says so.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> RuleSet {
        let mut rest = self.rules.as_slice();
        let mut sets = Vec::new();
        for (k, end) in self.ends.iter().enumerate() {
            let before = k.checked_sub(1).map_or(0, |k| self.ends[k]);
            let (set, later) = rest.split_at(end - before);
            sets.push(set.iter().filter(|r| keep(&r.name)).cloned().collect());
            rest = later;
        }
        RuleSet::in_order(sets)
    }

    /// Number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

/// How rules are applied.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Also rewrites that make the model slower, by the model of costs.
    pub ignore_cost: bool,
    /// Calls of constants in a target are computed at once, if that is fast and the result is not
    /// much larger than its operands.
    pub fold: bool,
    /// Keep a list of what was done.
    pub trace: bool,
    /// No more rewrites than this.
    pub limit: Option<usize>,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// For each rule, in order.
    pub rules: Vec<RuleReport>,
    /// Nodes before and after.
    pub nodes: (usize, usize),
    /// Rewrites.
    pub applied: usize,
    /// Looks at all nodes.
    pub sweeps: usize,
    /// Searches that were stopped because a value has too many uses that do not match.
    pub cut: usize,
    /// Change of the cost, in nanoseconds of a core by the model of costs.
    pub cost: f64,
    /// What was done, if asked for.
    pub trace: Trace,
}

/// What was done by one rule.
#[derive(Clone, Debug, Default)]
pub struct RuleReport {
    /// The rule.
    pub name: String,
    /// Matches that were found.
    pub matches: usize,
    /// Matches that were rewritten.
    pub applied: usize,
    /// Matches that were not because the model would become slower.
    pub refused_by_cost: usize,
    /// Matches that were not for other reasons.
    pub refused: usize,
    /// The last of them.
    pub refusal: Option<Refusal>,
    /// Nodes that went.
    pub removed: usize,
    /// Nodes that came.
    pub added: usize,
    /// Change of the cost.
    pub cost: f64,
    /// Time spent in matching and rewriting.
    pub time: Duration,
}

/// Applies rules to a model until none applies.
///
/// The graph's nodes are sorted topologically first. After an error the model is partly rewritten
/// and still valid.
///
/// # Errors
/// `R0301` if the rules do not terminate, `R0302` if the graph has a cycle.
pub fn optimize(
    model: &mut Model,
    rules: &RuleSet,
    options: &Options,
    mut progress: impl FnMut(usize, usize),
) -> Result<Report, Box<Diagnostic>> {
    if model.graph.sort().is_err() {
        return Err(Box::new(Diagnostic::general(
            Code("R0302"),
            "the graph has a cycle, so it has no order",
        )));
    }
    let mut run = Run::new(model, rules, options);
    let mut first = 0;
    for end in rules.ends.iter().copied().filter(|end| *end > 0) {
        run.sweep(first..end, &mut progress)?;
        first = end;
    }
    while run.report.applied > run.confirmed && run.report.sweeps < MAX_SWEEPS {
        run.confirmed = run.report.applied;
        run.sweep(0..first, &mut progress)?;
    }
    run.report.nodes.1 = run.model.graph.node_count();
    Ok(run.report)
}

/// Whether a node waits to be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    Not,
    /// As it was when the look at all nodes began.
    Unchanged,
    /// Something around it changed, so that rules may apply that did not.
    Changed,
}

struct Run<'a> {
    model: &'a mut Model,
    rules: &'a RuleSet,
    options: &'a Options,
    facts: Facts,
    report: Report,
    queue: VecDeque<NodeId>,
    queued: Vec<Waiting>,
    /// Rewrites that a look at all nodes, all rules at hand, came after.
    confirmed: usize,
    /// Matches that were found and refused: not again before something around them changes.
    refused: Map<NodeId, Vec<Entry>>,
    idle: usize,
    limits: (usize, usize),
    /// The last rules applied, for the message about rules without end.
    recent: VecDeque<usize>,
}

impl<'a> Run<'a> {
    fn new(model: &'a mut Model, rules: &'a RuleSet, options: &'a Options) -> Run<'a> {
        let nodes = model.graph.node_count();
        let facts = Facts::of(model);
        let report = Report {
            rules: rules
                .names()
                .map(|n| RuleReport { name: n.to_owned(), ..RuleReport::default() })
                .collect(),
            nodes: (nodes, nodes),
            ..Report::default()
        };
        Run {
            model,
            rules,
            options,
            facts,
            report,
            queue: VecDeque::new(),
            queued: Vec::new(),
            confirmed: 0,
            refused: Map::default(),
            idle: 0,
            limits: (IDLE_PER_NODE * nodes + IDLE_BESIDES, ALL_PER_NODE * nodes + ALL_BESIDES),
            recent: VecDeque::new(),
        }
    }

    /// Visits all nodes with these rules. What changes meanwhile is visited with the rules before
    /// them as well.
    fn sweep(
        &mut self,
        rules: Range<usize>,
        progress: &mut impl FnMut(usize, usize),
    ) -> Result<(), Box<Diagnostic>> {
        self.report.sweeps += 1;
        self.queue = self.model.graph.order().collect();
        self.queued = vec![Waiting::Unchanged; self.model.graph.node_bound()];
        let mut budgets: Map<Entry, Budget> = Map::default();
        let mut candidates = Vec::new();
        let mut done = 0;
        while let Some(id) = self.queue.pop_front() {
            let waiting = std::mem::replace(&mut self.queued[id.index()], Waiting::Not);
            let first = if waiting == Waiting::Changed { 0 } else { rules.start };
            done += 1;
            if done % 4096 == 0 {
                progress(done, done + self.queue.len());
            }
            if self.model.graph.get_node(id).is_none() {
                continue;
            }
            self.rules.tree.candidates(&self.model.graph, id, &mut candidates);
            for entry in candidates.iter().filter(|e| (first..rules.end).contains(&e.rule)) {
                if self.options.limit.is_some_and(|most| self.report.applied >= most) {
                    return Ok(());
                }
                if self.refused.get(&id).is_some_and(|r| r.contains(entry)) {
                    continue;
                }
                if self.attempt(id, *entry, budgets.entry(*entry).or_default())? {
                    break;
                }
            }
        }
        self.report.cut += budgets.values().map(|b| b.cut).sum::<usize>();
        Ok(())
    }

    /// Tries one plan at one node; says whether it was applied.
    fn attempt(&mut self, id: NodeId, entry: Entry, budget: &mut Budget) -> Result<bool, Box<Diagnostic>> {
        let variant = &self.rules.rules[entry.rule].variants[entry.variant];
        let plan = &variant.plans[entry.plan];
        if !plan.needs.iter().all(|need| self.meets(id, *need)) {
            return Ok(false);
        }
        let started = Instant::now();
        let found = Matcher::new(self.model, &self.facts, variant, plan, budget).run(id);
        let mut applied = false;
        if let Some(found) = found {
            self.report.rules[entry.rule].matches += 1;
            let application =
                self.options.trace.then(|| Application::of(self.model, self.rules, entry, id, &found.found));
            let mut rewriter = Rewriter {
                model: self.model,
                facts: &mut self.facts,
                ignore_cost: self.options.ignore_cost,
                fold: self.options.fold,
            };
            match rewriter.apply(variant, &found.found) {
                Ok(change) => {
                    applied = true;
                    self.count(entry.rule, &change);
                    if let Some(application) = application {
                        self.report.trace.applications.push(application.done(self.model, &change));
                    }
                    self.wake(&change);
                }
                Err(refusal) => self.refuse(entry, id, &found, refusal),
            }
        }
        self.report.rules[entry.rule].time += started.elapsed();
        if applied { self.bounded(entry.rule).map(|()| true) } else { Ok(false) }
    }

    fn meets(&self, id: NodeId, need: Need) -> bool {
        let graph = &self.model.graph;
        match need {
            Need::Shared(slot) => graph.node(id).input(slot).is_some_and(|v| graph.value(v).use_count() >= 2),
            Need::Constant(slot) => graph.node(id).input(slot).is_some_and(|v| graph.constant(v).is_some()),
        }
    }

    fn count(&mut self, rule: usize, change: &Change) {
        let report = &mut self.report.rules[rule];
        report.applied += 1;
        report.removed += change.removed;
        report.added += change.new.len();
        report.cost += change.cost;
        self.report.cost += change.cost;
        self.report.applied += 1;
        let smaller = change.cost < 0.0 || (change.cost == 0.0 && change.new.len() < change.removed);
        if !smaller {
            self.idle += 1;
        }
    }

    /// All branches of a match that was refused would find the same match again.
    fn refuse(&mut self, entry: Entry, id: NodeId, found: &Match, refusal: Refusal) {
        let report = &mut self.report.rules[entry.rule];
        match refusal {
            Refusal::Cost => report.refused_by_cost += 1,
            other => {
                report.refused += 1;
                report.refusal = Some(other);
            }
        }
        let variant = &self.rules.rules[entry.rule].variants[entry.variant];
        let anchor = variant.plans[entry.plan].anchor;
        self.refused.entry(id).or_default().push(entry);
        for other in found.found.vertices[anchor].iter().flatten() {
            self.refused.entry(*other).or_default().push(entry);
        }
    }

    /// Adds what may match now to the worklist: the new vertices, and their successors as far as a
    /// pattern reaches.
    fn wake(&mut self, change: &Change) {
        let graph = &self.model.graph;
        self.queued.resize(graph.node_bound(), Waiting::Not);
        let mut level: Vec<NodeId> = change.new.clone();
        for value in &change.touched {
            if graph.value(*value).use_count() <= MANY_USERS {
                let users = graph.value(*value).uses().filter(|u| matches!(u.slot, Slot::Input(_)));
                level.extend(users.map(|u| u.node));
            }
            level.extend(graph.producer(*value).map(|(n, _)| n));
        }
        for _ in 0..=self.rules.depth {
            let mut next = Vec::new();
            for id in level {
                let waiting = std::mem::replace(&mut self.queued[id.index()], Waiting::Changed);
                if waiting == Waiting::Changed {
                    continue;
                }
                self.refused.remove(&id);
                if waiting == Waiting::Not {
                    self.queue.push_back(id);
                }
                for value in graph.node(id).outputs().iter().flatten() {
                    if graph.value(*value).use_count() <= MANY_USERS {
                        next.extend(graph.value(*value).uses().map(|u| u.node));
                    }
                }
            }
            level = next;
        }
    }

    /// The bound on rewrites.
    fn bounded(&mut self, rule: usize) -> Result<(), Box<Diagnostic>> {
        self.recent.push_back(rule);
        if self.recent.len() > 64 {
            self.recent.pop_front();
        }
        let (idle, all) = self.limits;
        if self.idle <= idle && self.report.applied <= all {
            return Ok(());
        }
        let mut names: Vec<&str> = Vec::new();
        for r in &self.recent {
            let name = self.rules.rules[*r].name.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
        let text = format!(
            "the rules do not come to an end: {} rewrites of {} nodes, the last ones by {}",
            self.report.applied,
            self.report.nodes.0,
            quoted.join(", ")
        );
        Err(Box::new(
            Diagnostic::general(Code("R0301"), text)
                .note(format!(
                    "{} of them made the model neither faster nor smaller; {idle} such are allowed",
                    self.idle
                ))
                .help("a rule whose target contains its source again applies for ever: give it a condition, or leave it out with --rule"),
        ))
    }
}
