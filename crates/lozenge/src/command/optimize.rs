//! `lozenge optimize`: substitution rules applied to a model until none applies.
//!
//! Not here: what rules are and how they are applied (`gsl`), models (`graph`), where rules come from (`rules`).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Instant;

use graph::evaluate::{Datum, evaluate};
use graph::simplify::FoldOptions;
use graph::{ElementType, Model, Tensor, operators};
use gsl::{Options, Report, RuleReport, Trace};
use loops::{Data, Diagnostic, Scalar};
use serde_json::json;

use crate::cli::Optimize;
use crate::failure::{Failure, FailureKind};
use crate::files::{read_bytes, read_source, write_pieces, write_whole};
use crate::pipeline::{self, graph::at};
use crate::random::Random;
use crate::{report, rules};

/// Rewriting and simplifying take turns no more often than this.
const MAX_ROUNDS: usize = 8;
/// Outputs before and after may differ by this, relative to the largest magnitude.
const TOLERANCE: f64 = 1e-5;

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

/// Runs the command. The output file is whole or not there.
///
/// # Errors
/// Models and rule files that can't be read, rules that do not end (`R0301`), outputs that differ (`X0903`).
pub fn run(arguments: &Optimize, as_json: bool) -> Result<(), Failure> {
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
    let mut model = open(&arguments.model)?;
    // Rewriting takes for granted that values are defined, once, and before their use.
    pipeline::graph::sound(&model, &arguments.model)?;
    let sizes = super::model::sizes(&arguments.sizes)?;
    if !sizes.is_empty() {
        graph::plan::fix(&mut model, &sizes).map_err(|problem| at(&arguments.model, problem))?;
    }
    let original = (arguments.check > 0).then(|| model.clone());
    if let Err(problem) = graph::infer(&mut model) {
        return Err(at(&arguments.model, problem));
    }
    times.read = clock.elapsed().as_secs_f64();
    let nodes = model.graph.node_count();
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
        let bar = report::progress(nodes as u64, "rewriting");
        for _ in 0..MAX_ROUNDS {
            let clock = Instant::now();
            let done = gsl::optimize(&mut model, &rules, &options, |done, all| {
                bar.set_length(all as u64);
                bar.set_position(done as u64);
            })
            .map_err(|d| at(&arguments.model, *d))?;
            times.rewrite += clock.elapsed().as_secs_f64();
            let applied = done.applied;
            add(&mut total, done);
            let clock = Instant::now();
            let folded = if options.fold { simplify(&mut model) } else { 0 };
            times.simplify += clock.elapsed().as_secs_f64();
            simplified += folded;
            if folded == 0 || (applied == 0 && total.sweeps > 1) || options.limit.is_some() {
                break;
            }
        }
        bar.finish_and_clear();
    }
    model.graph.sort().map_err(|_| Failure::refused("R0302", "the graph has a cycle, so it has no order"))?;
    let checked = match &original {
        None => None,
        Some(original) => Some(compare(original, &model, arguments.check, arguments.seed)?),
    };
    if let Some(path) = &arguments.trace {
        write_whole(path, total.trace.to_text().as_bytes())?;
    }
    let clock = Instant::now();
    if let Some(path) = &arguments.output {
        bring_data(&arguments.model, path)?;
        write_pieces(path, &graph::onnx::write_pieces(&model))?;
    }
    times.write = clock.elapsed().as_secs_f64();
    times.total = started.elapsed().as_secs_f64();
    let after = model.graph.node_count();
    if as_json {
        print_json(&total, (nodes, after), simplified, checked, &times);
    } else {
        print_text(&total, replayed, (nodes, after), simplified, checked, &times);
    }
    if checked.is_some_and(|(_, worst)| worst > TOLERANCE) {
        return Err(Failure::told(FailureKind::Check));
    }
    Ok(())
}

/// Reads a model: ONNX with the files of its external data, or the textual form (`.graph`).
fn open(path: &Path) -> Result<Model, Failure> {
    if path.extension().is_some_and(|e| e == "graph") {
        let source = read_source(path)?;
        let mut model =
            graph::text::parse_model(&source.text).map_err(|d| Failure::in_source(&source, vec![d]))?;
        graph::functions::inline(&mut model).map_err(|d| at(path, d))?;
        return Ok(model);
    }
    pipeline::graph::open(path)
}

/// Parameters that lie in files beside the model are looked for beside what is written of it: in another folder they get copies.
///
/// # Errors
/// `X0004` if another file has the name there.
fn bring_data(model: &Path, output: &Path) -> Result<(), Failure> {
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    let (from, to) = (folder(model), folder(output));
    let full = |path: &Path| {
        std::fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path }).ok()
    };
    // A folder that is not there is said by the model that can't be written.
    if model.extension().is_some_and(|e| e == "graph") || full(&from) == full(&to) || full(&to).is_none() {
        return Ok(());
    }
    let read = |path: &Path| read_bytes(path, u64::MAX - 1);
    let bytes = read_bytes(model, graph::onnx::MAX_BYTES as u64)?;
    let mut flat = graph::onnx::read(&bytes.into()).map_err(|d| at(model, d))?;
    graph::functions::inline(&mut flat).map_err(|d| at(model, d))?;
    for location in graph::onnx::external::locations(&flat.graph) {
        let (source, target) = (from.join(&location), to.join(&location));
        let data = read(&source)?;
        if target.exists() {
            if read(&target)? != data {
                let message = format!(
                    "{} is there already and is not the data of {}",
                    target.display(),
                    model.display()
                );
                return Err(Failure::environment("X0004", message)
                    .help("write the model into an empty folder, or into its own"));
            }
            continue;
        }
        if let Some(folder) = target.parent() {
            // What can't be made is said by the file that can't be written.
            let _ = std::fs::create_dir_all(folder);
        }
        write_whole(&target, &data)?;
    }
    Ok(())
}

/// What depends on parameters only is computed, equal calls are merged, dead ones go; says how many nodes that were.
fn simplify(model: &mut Model) -> usize {
    let done = graph::simplify::simplify(model, &FoldOptions::default());
    done.dead + done.merged + done.folded
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

// ---- comparison -------------------------------------------------------------------------------------------------

/// Runs both models on random inputs; the number of runs and the greatest relative difference of an output.
fn compare(before: &Model, after: &Model, runs: u32, seed: u64) -> Result<(u32, f64), Failure> {
    let mut worst: f64 = 0.0;
    for run in 0..runs {
        let (inputs, a) = meaningful(before, seed.wrapping_add(u64::from(run)))?;
        let b = match evaluate(after, inputs) {
            Ok(b) => b,
            Err(d) if has_no_value(&d) => {
                return Err(Failure::check(
                    "X0903",
                    format!(
                        "on input {run} the model has a value, and what it became has none: {}; nothing is written",
                        d.message
                    ),
                ));
            }
            Err(d) => return Err(refuse(d)),
        };
        for (k, (a, b)) in a.iter().zip(&b).enumerate() {
            let name = before
                .graph
                .outputs()
                .get(k)
                .map_or_else(String::new, |v| before.graph.value(*v).name().to_string());
            let difference = difference(a, b).ok_or_else(|| {
                Failure::check("X0903", format!("output `{name}` has another type or shape than before"))
            })?;
            if difference > TOLERANCE || difference.is_nan() {
                return Err(Failure::check(
                    "X0903",
                    format!("output `{name}` differs by {difference:.3e} (relative) on input {run}; nothing is written"),
                )
                .help("find the rule with --rule NAME, or by the lines of --trace FILE with --limit N"));
            }
            worst = worst.max(difference);
        }
    }
    Ok((runs, worst))
}

/// So many inputs are drawn for one comparison.
const ATTEMPTS: u64 = 64;

/// What integers are drawn from: 0 and 1 are places in most things, but nothing is divided by 0, and one place is below an extent of 1.
#[derive(Clone, Copy)]
enum Integers {
    Bits,
    Ones,
    Zeros,
}

impl Integers {
    /// First the same for all inputs, then one for each.
    fn of(attempt: u64, seed: u64, name: &str) -> Integers {
        match attempt {
            0 => Integers::Bits,
            1 => Integers::Ones,
            2 => Integers::Zeros,
            _ if Random::named(seed.wrapping_add(attempt << 32), name).below(2) == 0 => Integers::Ones,
            _ => Integers::Zeros,
        }
    }

    fn from(self, x: f64) -> i32 {
        match self {
            Integers::Bits => i32::from(x > 0.0),
            Integers::Ones => 1,
            Integers::Zeros => 0,
        }
    }
}

/// Whether the inputs are at fault: an integer is divided by zero, an index is outside.
fn has_no_value(d: &Diagnostic) -> bool {
    [functional::eval::FAULT, operators::OUTSIDE].contains(&d.code)
}

fn refuse(d: Diagnostic) -> Failure {
    Failure::from(d).note("while outputs before and after were compared")
}

/// Random inputs on which the model has a value, and that value: where it has none, nothing is to be kept.
fn meaningful(model: &Model, seed: u64) -> Result<(HashMap<loops::Name, Datum>, Vec<Datum>), Failure> {
    let mut said = None;
    for attempt in 0..ATTEMPTS {
        let inputs = random_inputs(model, seed, attempt)?;
        match evaluate(model, inputs.clone()) {
            Ok(outputs) => return Ok((inputs, outputs)),
            Err(d) if has_no_value(&d) => said = Some(d),
            Err(d) => return Err(refuse(d)),
        }
    }
    let why = said.map_or_else(String::new, |d| format!(": {}", d.message));
    Err(Failure::refused("X0904", format!("the model has no value on any of {ATTEMPTS} random inputs{why}"))
        .help(
            "integers are drawn from 0 and 1; leave --check away, and compare on inputs that mean something",
        ))
}

fn random_inputs(model: &Model, seed: u64, attempt: u64) -> Result<HashMap<loops::Name, Datum>, Failure> {
    let mut inputs = HashMap::new();
    let mut sizes: BTreeMap<loops::Name, i64> = BTreeMap::new();
    for id in model.graph.inputs() {
        let value = model.graph.value(*id);
        if value.initializer().is_some() {
            continue;
        }
        let name = value.name().clone();
        let cannot = |reason: &str| {
            Failure::refused("X0904", format!("no random data for input `{name}`: {reason}"))
                .help("leave --check away, or give the model inputs of known types")
        };
        let ty = value.tensor_type().ok_or_else(|| cannot("it is not a tensor of known type"))?;
        let shape = ty.shape.as_ref().ok_or_else(|| cannot("its rank is not known"))?;
        let mut dims = Vec::new();
        let mut random = Random::named(seed, &name);
        for dim in shape {
            let n = match dim.size() {
                None => 2,
                Some(size) => {
                    for p in size.params() {
                        let next = 1 + (Random::named(seed, &p).below(4)) as i64;
                        sizes.entry(p).or_insert(next);
                    }
                    size.eval(&|p| sizes.get(p).copied()).map_err(|_| cannot("an extent has no value"))?
                }
            };
            dims.push(usize::try_from(n).map_err(|_| cannot("an extent is negative"))?);
        }
        let count = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).filter(|n| *n <= 1 << 28);
        let count = count.ok_or_else(|| cannot("it is too large"))?;
        let integers = Integers::of(attempt, seed, &name);
        let integer = |x: &f64| integers.from(*x);
        let mut units = || (0..count).map(|_| random.unit()).collect::<Vec<f64>>();
        let tensor = match ty.elem {
            ElementType::F32 => {
                Tensor::from_f32s(dims, &units().iter().map(|x| *x as f32).collect::<Vec<_>>())
            }
            ElementType::F64 => Tensor::from_f64s(dims, &units()),
            // Indices: small, so that they are inside of what they index.
            ElementType::I64 => {
                Tensor::from_i64s(dims, &units().iter().map(|x| integer(x).into()).collect::<Vec<_>>())
            }
            ElementType::I32 => Tensor::from_i32s(dims, &units().iter().map(integer).collect::<Vec<_>>()),
            ElementType::Bool => {
                Tensor::from_bools(dims, &units().iter().map(|x| *x > 0.0).collect::<Vec<_>>())
            }
            other => {
                let numbers = units();
                let data = match operators::carrier(other) {
                    Some(Scalar::I32) => Data::I32(numbers.iter().map(integer).collect()),
                    Some(Scalar::I64) => Data::I64(numbers.iter().map(|x| integer(x).into()).collect()),
                    _ => Data::F32(numbers.iter().map(|x| *x as f32).collect()),
                };
                operators::encode(other, &loops::Tensor { shape: dims, data })
                    .ok_or_else(|| cannot(&format!("its element type is {other}")))?
            }
        };
        inputs.insert(value.name().clone(), Datum::from(tensor));
    }
    Ok(inputs)
}

/// The greatest difference relative to the greatest magnitude; `None` if types or shapes differ.
fn difference(a: &Datum, b: &Datum) -> Option<f64> {
    let (Some(a), Some(b)) = (a.tensor(), b.tensor()) else { return (a == b).then_some(0.0) };
    if a.elem != b.elem || a.dims != b.dims {
        return None;
    }
    let (Some(x), Some(y)) = (a.to_numbers(), b.to_numbers()) else {
        return Some(if a.storage == b.storage { 0.0 } else { f64::INFINITY });
    };
    let scale = x.iter().filter(|v| v.is_finite()).fold(1e-30f64, |m, v| m.max(v.abs()));
    let one =
        |(a, b): (&f64, &f64)| if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() / scale };
    Some(x.iter().zip(&y).map(one).fold(0.0, |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) }))
}

// ---- what is said -----------------------------------------------------------------------------------------------

fn print_text(
    total: &Report,
    replayed: Option<usize>,
    nodes: (usize, usize),
    simplified: usize,
    checked: Option<(u32, f64)>,
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
    if let Some((runs, worst)) = checked {
        text.push_str(&format!("check: {runs} random inputs, greatest relative difference {worst:.1e}\n"));
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
    checked: Option<(u32, f64)>,
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
        "ok": checked.is_none_or(|(_, worst)| worst <= TOLERANCE),
        "nodes": { "before": nodes.0, "after": nodes.1, "simplified": simplified },
        "rewrites": total.applied,
        "sweeps": total.sweeps,
        "cut": total.cut,
        "cost_ns": total.cost,
        "rules": rules,
        "check": checked.map(|(runs, worst)| json!({ "runs": runs, "greatest_relative_difference": worst })),
        "seconds": {
            "total": times.total, "read": times.read, "rules": times.rules, "rewrite": times.rewrite,
            "simplify": times.simplify, "write": times.write,
        },
    });
    report::print(&format!("{value:#}\n"));
}
