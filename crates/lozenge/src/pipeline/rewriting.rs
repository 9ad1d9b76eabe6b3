//! Models rewritten by substitution rules, in turns with the simplifier.

use std::time::Instant;

use graph::Model;
use graph::simplify::FoldOptions;
use gsl::{Options, Report, RuleSet};
use loops::{Code, Diagnostic};

use super::graph::{ModelRequest, at, declared};
use crate::failure::Failure;
use crate::request::Event;
use crate::rules;

/// Rewriting and simplifying take turns no more often than this.
const MAX_ROUNDS: usize = 8;

/// What rules and simplifier did with a model.
#[derive(Default)]
pub struct Rewriting {
    /// What each rule did.
    pub total: Report,
    /// Nodes that the simplifier removed: constants, equal and dead ones.
    pub simplified: usize,
    /// Seconds that rules took.
    pub rewrite: f64,
    /// Seconds that the simplifier took.
    pub simplify: f64,
    /// What was declared of results and contradicts their operators.
    pub warnings: Vec<String>,
}

/// Rewrites a sound model, whose types were inferred, until no rule applies.
///
/// # Errors
/// `R0301` if the rules do not end, `R0302` for a graph with a cycle; what inference finds.
pub fn rewrite(
    model: &mut Model,
    rules: &RuleSet,
    options: &Options,
    request: &ModelRequest,
) -> Result<Rewriting, Failure> {
    request.progress.tell(Event::Count("rewriting", model.graph.node_count() as u64));
    let done = everywhere(model, rules, options, request, 0);
    request.progress.tell(Event::End);
    done
}

/// Graphs nested deeper than this stay as they are.
const MAX_DEPTH: u32 = 64;

/// Rewrites the graph of a model, and then the bodies of its branches and loops. A trace is of the
/// graph alone, since what it names are its nodes.
fn everywhere(
    model: &mut Model,
    rules: &RuleSet,
    options: &Options,
    request: &ModelRequest,
    depth: u32,
) -> Result<Rewriting, Failure> {
    let mut all = rounds(model, rules, options, request)?;
    if options.trace || depth >= MAX_DEPTH {
        return Ok(all);
    }
    for place in graph::bodies::places(&model.graph) {
        let limit = options.limit.map(|most| most.saturating_sub(all.total.applied));
        let Some(mut body) = graph::bodies::take(model, place).filter(|_| limit != Some(0)) else { continue };
        let options = Options { limit, ..options.clone() };
        let done = match everywhere(&mut body, rules, &options, request, depth + 1) {
            Ok(done) => done,
            // A branch that does not fit the sizes stays as it is.
            Err(failure) if failure.diagnostics.iter().all(|d| d.code == Code("G0301")) => continue,
            Err(failure) => return Err(failure),
        };
        if done.total.applied + done.simplified > 0 {
            in_order(&mut body)?;
            graph::bodies::put(model, place, body.graph);
        }
        all.rewrite += done.rewrite;
        all.simplify += done.simplify;
        all.simplified += done.simplified;
        let nodes = all.total.nodes;
        add(&mut all.total, done.total);
        all.total.nodes = nodes;
    }
    if depth == 0 {
        let types = graph::infer(model);
        types.map_err(|problem| at(&request.name, problem))?;
    }
    Ok(all)
}

/// Rewrites a sound model by the rules that ship; sizes of the request are built into it.
///
/// # Errors
/// As [`rewrite`].
pub(crate) fn by_shipped_rules(model: &mut Model, request: &ModelRequest) -> Result<Rewriting, Failure> {
    let refuse = |d| at(&request.name, d);
    let rules = rules::load(&[], &[])?;
    if !request.sizes.is_empty() {
        graph::plan::fix(model, &request.sizes).map_err(refuse)?;
    }
    graph::infer(model).map_err(refuse)?;
    let warnings = declared(model, &request.name, request.strict)?;
    let done = rewrite(model, &rules, &Options { fold: true, ..Options::default() }, request)?;
    in_order(model)?;
    Ok(Rewriting { warnings, ..done })
}

/// Puts the nodes of a graph into an order in which they can be evaluated.
///
/// # Errors
/// `R0302` for a cycle.
pub fn in_order(model: &mut Model) -> Result<(), Failure> {
    let cycle = |_| Failure::refused("R0302", "the graph has a cycle, so it has no order");
    model.graph.sort().map_err(cycle)
}

fn rounds(
    model: &mut Model,
    rules: &RuleSet,
    options: &Options,
    request: &ModelRequest,
) -> Result<Rewriting, Failure> {
    let mut all = Rewriting::default();
    for _ in 0..MAX_ROUNDS {
        let clock = Instant::now();
        let told = |done: usize, all: usize| request.progress.tell(Event::Done(done as u64, all as u64));
        let done = gsl::optimize(model, rules, options, told).map_err(|d| at(&request.name, *d))?;
        all.rewrite += clock.elapsed().as_secs_f64();
        let applied = done.applied;
        add(&mut all.total, done);
        let clock = Instant::now();
        let folded = match options.fold {
            true => simplify(model, request.memory).map_err(|problem| at(&request.name, problem))?,
            false => 0,
        };
        all.simplify += clock.elapsed().as_secs_f64();
        all.simplified += folded;
        if folded == 0 || (applied == 0 && all.total.sweeps > 1) || options.limit.is_some() {
            break;
        }
    }
    Ok(all)
}

/// What depends on parameters only is computed, branches are decided by it, equal calls are merged,
/// dead ones go; says how many nodes that were.
fn simplify(model: &mut Model, memory: u64) -> Result<usize, Diagnostic> {
    let options = FoldOptions::for_models().within(memory);
    let done = graph::simplify::simplify(model, &options);
    let decided = graph::functions::decide(model)?;
    if decided > 0 {
        // Conditions and branches that are not taken have no users any more.
        graph::simplify::remove_dead(&mut model.graph);
        graph::infer(model)?;
    }
    Ok(done.dead + done.merged + done.folded + decided)
}

fn add(total: &mut Report, done: Report) {
    if total.rules.is_empty() {
        *total = done;
        return;
    }
    for (a, b) in total.rules.iter_mut().zip(done.rules) {
        a.matches += b.matches;
        a.applied += b.applied;
        a.refused_by_cost += b.refused_by_cost;
        a.refused += b.refused;
        a.refusal = b.refusal.or(a.refusal);
        a.removed += b.removed;
        a.added += b.added;
        a.cost += b.cost;
        a.time += b.time;
    }
    total.nodes.1 = done.nodes.1;
    total.applied += done.applied;
    total.sweeps += done.sweeps;
    total.cut += done.cut;
    total.cost += done.cost;
    total.trace.applications.extend(done.trace.applications);
}
