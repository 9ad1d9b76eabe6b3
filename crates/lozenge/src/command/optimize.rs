//! `lozenge optimize`: substitution rules applied to a model until none applies.
//!
//! Not here: what rules are and how they are applied (`gsl`), models (`graph`), where rules come
//! from (`rules`).

mod compare;
mod inputs;

use std::path::Path;
use std::time::Instant;

use gsl::{Options, Report, RuleReport, Trace};
use loops::Diagnostic;
use serde_json::json;

use compare::{Asked, Checked, compare};

use crate::cli::Optimize;
use crate::failure::Failure;
use crate::files::{read_source, write_whole};
use crate::pipeline::graph::{ModelRequest, at as named};
use crate::pipeline::rewriting::{in_order, rewrite};
use crate::progress;
use crate::{models, report, rules};

/// What took how long, in seconds.
#[derive(Default)]
struct Times {
    read: f64,
    rules: f64,
    rewrite: f64,
    simplify: f64,
    write: f64,
    total: f64,
}

/// What the rules did.
pub struct Done {
    total: Report,
    replayed: Option<usize>,
    /// Nodes before and after.
    nodes: (usize, usize),
    simplified: usize,
    checked: Option<Checked>,
    times: Times,
}

/// Runs the command.
///
/// # Errors
/// As [`work`].
pub fn run(arguments: &Optimize, as_json: bool) -> Result<(), Failure> {
    if !arguments.why.is_empty() {
        return why(arguments, as_json);
    }
    let Done { total, replayed, nodes, simplified, checked, times } = work(arguments)?;
    if as_json {
        print_json(&total, nodes, simplified, checked.as_ref(), &times);
    } else {
        print_text(&total, replayed, nodes, simplified, checked.as_ref(), &times);
    }
    Ok(())
}

/// Says what rules do at nodes.
///
/// # Errors
/// Models and rule files that can't be read; `X0009` where there is no such rule or node.
fn why(arguments: &Optimize, as_json: bool) -> Result<(), Failure> {
    let rules = rules::load(&arguments.rules, &arguments.only)?;
    let model = ready(arguments)?;
    let mut told = Vec::new();
    for (rule, name) in &arguments.why {
        let missing = |what: String| Failure::usage("X0009", what);
        let node = graph::picture::find(&model.graph, name)
            .ok_or_else(|| missing(format!("the model has no node and no value `{name}`")))?;
        let lines = gsl::why(&model, &rules, rule, node)
            .ok_or_else(|| missing(format!("there is no rule `{rule}`")))?;
        told.push((format!("{rule}@{name}"), lines));
    }
    if as_json {
        let all: Vec<_> = told.iter().map(|(at, lines)| json!({ "at": at, "found": lines })).collect();
        report::print_json(json!({ "ok": true, "why": all }));
        return Ok(());
    }
    for (at, lines) in told {
        report::print(&format!("{at}:\n  {}\n", lines.join("\n  ")));
    }
    Ok(())
}

/// The model that rules are applied to: sound, with sizes, constants and outputs as the arguments
/// say, and with types.
///
/// # Errors
/// A model that can't be read or is not sound.
fn ready(arguments: &Optimize) -> Result<graph::Model, Failure> {
    let mut model = models::open_for_rules(&arguments.model)?;
    // Rewriting takes for granted that values are defined, once, and before their use.
    models::sound(&mut model, &arguments.model, arguments.standard.strict)?;
    let sizes = crate::bind::by_name(&arguments.sizes)?;
    let wrong = |problem| at(&arguments.model, problem);
    if !sizes.is_empty() {
        graph::plan::fix(&mut model, &sizes).map_err(wrong)?;
    }
    cut(&mut model, arguments).map_err(wrong)?;
    graph::infer(&mut model).map_err(wrong)?;
    models::declared(&model, &arguments.model, arguments.standard.strict)?;
    Ok(model)
}

/// Does what the command does, without a word. The output file is whole or not there.
///
/// # Errors
/// Models and rule files that can't be read, rules that do not end (`R0301`), outputs that differ
/// (`X0903`).
pub fn work(arguments: &Optimize) -> Result<Done, Failure> {
    let started = Instant::now();
    let mut times = Times::default();
    let rules = rules::load(&arguments.rules, &arguments.only)?;
    if !arguments.rules.is_empty() && !arguments.unchecked {
        for note in rules::refuse_unsound(&arguments.rules, &arguments.only)? {
            report::print_error(&format!("note: {note}\n"));
        }
    }
    times.rules = started.elapsed().as_secs_f64();
    let clock = Instant::now();
    let mut model = ready(arguments)?;
    let original = (arguments.check > 0).then(|| model.clone());
    let nodes = graph::bodies::count(&model.graph);
    if let Some(version) = arguments.upgrade {
        let wrong = |problem| at(&arguments.model, problem);
        graph::upgrade::upgrade(&mut model, version).map_err(wrong)?;
        graph::infer(&mut model).map_err(wrong)?;
    }
    times.read = clock.elapsed().as_secs_f64();
    let mut total = Report::default();
    let mut simplified = 0;
    let mut replayed = None;
    if let Some(path) = &arguments.replay {
        let trace = Trace::parse(&read_source(path)?.text).map_err(|d| Failure::from(*d))?;
        replayed = Some(trace.applications.len());
        gsl::replay(&mut model, &rules, &trace).map_err(|d| at(&arguments.model, *d))?;
    } else {
        let options = Options {
            ignore_cost: arguments.ignore_cost,
            // A replay knows nothing of folding, so a trace is of rules alone.
            fold: !arguments.no_fold && arguments.trace.is_none(),
            trace: arguments.trace.is_some(),
            limit: arguments.limit,
        };
        let request = ModelRequest { memory: arguments.memory.bytes(), ..models::request(&arguments.model) };
        let done = rewrite(&mut model, &rules, &options, &request)?;
        (total, simplified) = (done.total, done.simplified);
        (times.rewrite, times.simplify) = (done.rewrite, done.simplify);
    }
    if arguments.fp16 {
        let halved = graph::half::halve(&mut model).map_err(|problem| at(&arguments.model, problem))?;
        report::print_error(&format!("note: {}\n", said(halved)));
    }
    in_order(&mut model)?;
    let checked = match &original {
        None => None,
        Some(original) => {
            progress::say("comparing outputs before and after");
            Some(compare(original, &model, &Asked::of(arguments))?)
        }
    };
    if let Some(path) = &arguments.trace {
        write_whole(path, total.trace.to_text().as_bytes())?;
    }
    let clock = Instant::now();
    if let Some(path) = &arguments.output {
        progress::say(format!("writing {}", path.display()));
        models::write(&model, &arguments.model, path)?;
    }
    times.write = clock.elapsed().as_secs_f64();
    times.total = started.elapsed().as_secs_f64();
    let after = graph::bodies::count(&model.graph);
    Ok(Done { total, replayed, nodes: (nodes, after), simplified, checked, times })
}

/// What became of numbers of 32 bits.
fn said(halved: graph::half::Halved) -> String {
    let graph::half::Halved { nodes, kept, clamped } = halved;
    let mut text = format!("nodes with numbers of 16 bits: {nodes}");
    if kept > 0 {
        text.push_str(&format!("; with 32 bits as before, between casts: {kept}"));
    }
    if clamped > 0 {
        text.push_str(&format!("; numbers of constants that are too large for 16 bits: {clamped}"));
    }
    text
}

/// Makes inputs constants, and outputs of other values, as the arguments say.
fn cut(model: &mut graph::Model, arguments: &Optimize) -> Result<(), Diagnostic> {
    for (name, numbers) in &arguments.constants {
        graph::cut::fix_input(model, name, numbers)?;
    }
    if !arguments.outputs.is_empty() {
        graph::infer(model)?;
        let kept: Vec<loops::Name> = arguments.outputs.iter().map(loops::Name::new).collect();
        graph::cut::keep_outputs(model, &kept)?;
        graph::simplify::remove_dead(&mut model.graph);
    }
    Ok(())
}

/// A diagnostic about the model of a file.
fn at(path: &Path, diagnostic: Diagnostic) -> Failure {
    named(&models::name(path), diagnostic)
}

// ---- what is said
// -----------------------------------------------------------------------------------------------

fn print_text(
    total: &Report,
    replayed: Option<usize>,
    nodes: (usize, usize),
    simplified: usize,
    checked: Option<&Checked>,
    times: &Times,
) {
    let mut rows = vec![
        ["rule", "matches", "applied", "refused", "nodes gone", "nodes new", "ms"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for rule in total.rules.iter().filter(|r| r.matches > 0) {
        rows.push(vec![
            rule.name.clone(),
            rule.matches.to_string(),
            rule.applied.to_string(),
            refused(rule),
            rule.removed.to_string(),
            rule.added.to_string(),
            format!("{:.1}", rule.time.as_secs_f64() * 1e3),
        ]);
    }
    let mut text = match replayed {
        Some(count) => format!("{count} rewrites replayed\n"),
        None if rows.len() > 1 => report::table(&rows),
        None => "no rule matches\n".to_owned(),
    };
    text.push_str(&format!("nodes: {} -> {}", nodes.0, nodes.1));
    if simplified > 0 {
        text.push_str(&format!(" ({simplified} by constants, equal and dead nodes)"));
    }
    text.push('\n');
    if total.cut > 0 {
        text.push_str(&format!("searches cut short at values with too many uses: {}\n", total.cut));
    }
    if let Some(checked) = checked {
        text.push_str(&checked.text());
    }
    text.push_str(&format!(
        "time: {:.3} s (read {:.3}, rules {:.3}, rewrite {:.3}, simplify {:.3}, write {:.3})\n",
        times.total, times.read, times.rules, times.rewrite, times.simplify, times.write
    ));
    report::print(&text);
}

fn refused(rule: &RuleReport) -> String {
    match (rule.refused_by_cost, rule.refused) {
        (0, 0) => "0".into(),
        (cost, 0) => format!("{cost} by cost"),
        (0, other) => format!("{other} ({})", reason(rule)),
        (cost, other) => format!("{cost} by cost, {other} ({})", reason(rule)),
    }
}

fn reason(rule: &RuleReport) -> &'static str {
    rule.refusal.map_or("", gsl::Refusal::text)
}

fn print_json(
    total: &Report,
    nodes: (usize, usize),
    simplified: usize,
    checked: Option<&Checked>,
    times: &Times,
) {
    let rules: Vec<_> = total
        .rules
        .iter()
        .map(|r| {
            json!({
                "rule": r.name, "matches": r.matches, "applied": r.applied, "refused_by_cost": r.refused_by_cost,
                "refused": r.refused, "reason": r.refusal.map(gsl::Refusal::text), "nodes_removed": r.removed,
                "nodes_added": r.added, "cost_ns": r.cost, "seconds": r.time.as_secs_f64(),
            })
        })
        .collect();
    let value = json!({
        "ok": true,
        "nodes": { "before": nodes.0, "after": nodes.1, "simplified": simplified },
        "rewrites": total.applied,
        "sweeps": total.sweeps,
        "cut": total.cut,
        "cost_ns": total.cost,
        "rules": rules,
        "check": checked.map(Checked::json),
        "seconds": {
            "total": times.total, "read": times.read, "rules": times.rules, "rewrite": times.rewrite,
            "simplify": times.simplify, "write": times.write,
        },
    });
    report::print_json(value);
}
