//! The pipeline: model, dependences, schedule, tiles, parallel and vector loops, code, check.

mod attempts;
mod candidates;
mod freedom;
mod loop_mapping;
mod lowering;
mod parts;
mod quotients;
mod reduction_order;
mod schedule;
mod shapes;
mod thread_versions;

use std::collections::BTreeMap;
use std::rc::Rc;

use ::optimize::Machine;
use loops::{Diagnostic, Function, LoopKind, Name, Stmt};
use passes::{Applied, Pass};

use crate::check::{self, Checked};
use crate::codegen::{Generated, Instance, text_order};
use crate::dependence::Dependence;
use crate::directive;
use crate::fault::{self, Result};
use crate::known::{self, Known, Role};
use crate::limits::Limits;
use crate::locality::{self, Caches};
use crate::model::{self, Model};
use crate::scheduling::{self, Fusion};
use crate::transform::contraction::{self, Shape};
use crate::transform::{Request, identity_schedule};
use crate::tree::Tree;
use attempts::Scheduled;
use freedom::Freedom;
use lowering::Made;
use shapes::special;

pub(crate) use reduction_order::reorderable;
pub use schedule::{Code, Form, Loops, REGISTER_TILING, STEPS, Schedule, read_passes};

/// How tile sizes are chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tiling {
    /// No tiles.
    None,
    /// These sizes, outermost member first; the last one holds for further members.
    Fixed(Vec<i64>),
    /// By the caches.
    Caches(Caches),
}

/// What the pipeline does.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scheduler's choices; `None` chooses fusion by the program.
    pub fusion: Option<Fusion>,
    /// Statements in one run of the scheduler.
    pub cluster: usize,
    /// A schedule of the user's instead of the scheduler's: taken as it is, without tiles or marks
    /// of ours.
    pub schedule: Option<Schedule>,
    /// Tile sizes.
    pub tiling: Tiling,
    /// Whether outer loops are run in parallel.
    pub parallel: bool,
    /// Whether innermost loops are marked for vectors.
    pub vector: bool,
    /// Bound on the set library's operations, for each stage.
    pub operations: u64,
    /// Bound on the set library's operations, for all stages of a function together; a third is for
    /// what can be done without.
    pub total: u64,
    /// Whether the result is checked.
    pub check: bool,
    /// Whether every update may be reordered and have partial results, which changes how it is
    /// rounded.
    pub reassociate: bool,
    /// Register tiles and packed operands for contractions; `None` tiles them as other nests.
    pub contraction: Option<Shape>,
    /// Whether what is declared inside a loop is declared there again, so that its iterations do
    /// not share it.
    pub private: bool,
    /// Rows that are run at once where that saves loads and stores, or lets sums that wait for
    /// themselves overlap; 1 for none.
    pub jam: i64,
    /// Whether full tiles get code of their own, apart from partial ones.
    pub isolate: bool,
    /// What the costs of candidates are predicted for.
    pub machine: Machine,
    /// Whether candidates are made that no prediction speaks for, for those who measure them.
    pub all_candidates: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            fusion: None,
            cluster: scheduling::Options::default().cluster,
            schedule: None,
            tiling: Tiling::Caches(Caches::default()),
            parallel: true,
            vector: true,
            operations: 1_000_000,
            // The kernels of `tests/c/kernels` take at most 4 million, at half a microsecond to 2.5
            // each, and a stage of them 0.98 million.
            total: 60_000_000,
            check: true,
            reassociate: false,
            contraction: Some(Shape::default()),
            private: true,
            jam: 4,
            isolate: true,
            machine: Machine::default(),
            all_candidates: false,
        }
    }
}

/// The result of the pipeline.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The function.
    pub function: Function,
    /// Where its statements come from.
    pub instances: BTreeMap<Name, Instance>,
    /// The function with packed copies replaced by what they hold, which is what the checker saw;
    /// none if nothing is packed.
    pub unpacked: Option<Generated>,
    /// The schedule that it follows, with the passes around it.
    pub schedule: Schedule,
    /// The passes that changed something, with the function after each.
    pub applied: Vec<Applied>,
    /// What was done.
    pub report: Report,
    /// The candidates that were not chosen, by their names.
    pub others: Vec<(String, Schedule)>,
}

/// What was done, for people.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Statements of the model.
    pub statements: usize,
    /// Dependences given to the scheduler.
    pub dependences: usize,
    /// Bands, with their members, tile sizes and parallel loops, one line each.
    pub bands: Vec<String>,
    /// Whether a band was tiled.
    pub tiled: bool,
    /// Whether a nest was taken as a contraction, for packed operands and register tiles.
    pub contracted: bool,
    /// Where something was given up, and why.
    pub notes: Vec<String>,
    /// What the checker looked at; none if it was not run.
    pub checked: Option<Checked>,
    /// Why the function was left as it is, if it was.
    pub left: Option<String>,
    /// Whether the loops are those of the text.
    pub as_written: bool,
    /// The candidates, the chosen one first, with what is predicted for each.
    pub candidates: Vec<String>,
    /// How many times as fast as the text the result is predicted to be on one thread; none for a
    /// schedule that somebody has written.
    pub on_one_thread: Option<f64>,
}

impl Optimized {
    /// The result for a function of which a pass made the one that was optimised.
    fn after(mut self, pass: &'static Pass, function: Function, told: &str) -> Optimized {
        self.schedule.before.insert(0, pass);
        self.applied.insert(0, Applied { pass: pass.name(), function });
        self.report.notes.push(told.to_owned());
        self
    }

    /// What has been won: 2 for tiles, 1 for parallel loops alone.
    fn gain(&self) -> u32 {
        match self.report.tiled || self.report.contracted {
            true => 2,
            false => u32::from(any_parallel(&self.function.body)),
        }
    }
}

impl Report {
    /// Forgets what was done to bands: another way is tried.
    fn start_again(&mut self) {
        *self = Report { bands: Vec::new(), tiled: false, contracted: false, ..std::mem::take(self) };
    }
}

/// Reschedules, tiles and parallelises a function.
///
/// # Errors
/// Those of all stages. A result that fails its check is not returned.
pub fn optimize(function: &Function, options: &Options) -> Result<Optimized> {
    known::within(|| match quotients::named(function) {
        Some(named) => Ok(named.put_back(optimized(&named.function, options)?)),
        None => optimized(function, options),
    })
}

fn optimized(function: &Function, options: &Options) -> Result<Optimized> {
    let bounds = Bounds::from_now(options);
    let mut applied = Vec::new();
    // What is said of statements is said of those of the text.
    let (labelled, directives) = directive::taken(&model::label_all(function)?);
    let function = &passes::REGION.run(labelled, &mut applied);
    // The same permission as on the way to the cores: a choice of the larger value is a maximum
    // then.
    let relaxed = options.reassociate.then(|| reorderable(&crate::athread::with_updates(function, true)));
    let function_or_relaxed = relaxed.as_ref().unwrap_or(function);
    let options = &directive::options(options, &directives);
    let asked = options.schedule.is_none() && !directive::only_unfused(&directives);
    let mut result = match (&options.schedule, &relaxed) {
        _ if asked => {
            let Analysed { known, dependences, .. } = analyse(function_or_relaxed, options, bounds)?;
            let tree = directive::schedule(&known.model, &dependences, &directives)?;
            let mut result = by_schedule(function_or_relaxed, &tree.into(), options, bounds)?;
            result.report.bands.push("the order of the text, with what directives ask for".to_owned());
            result
        }
        (Some(schedule), _) => {
            let by = |function: &Function| by_schedule(function, schedule, options, bounds);
            let exact = || {
                reduction_order::exact_updates(function)
                    .or_else(|| reduction_order::exact_recurrences(function))
            };
            let exact = relaxed.is_none().then(exact).flatten();
            let mut result = match (by(function_or_relaxed), exact) {
                (Err(refused), Some(exact)) if !fault::is_limit(&refused) => {
                    by(&exact).map_err(|_| refused)?
                }
                (result, _) => result?,
            };
            // One that was printed was chosen before, and gives the same code again.
            if schedule.code.is_some() {
                result.report.on_one_thread =
                    Some(candidates::on_one_thread(function, &result.function, options));
                result.report.contracted = contraction::any(&result.function);
            }
            result
        }
        (None, None) => {
            let strict = candidates::best(function, options, bounds)?;
            match reduction_order::exact_updates(function).filter(|_| !any_parallel(&strict.function.body)) {
                Some(exact) => {
                    let free = candidates::best(&exact, options, bounds)?;
                    candidates::with_or_without_freedom(free, strict, function, options)?
                }
                None => with_blocked_recurrences(strict, function, options, bounds)?,
            }
        }
        (None, Some(relaxed)) => {
            let free = candidates::best(relaxed, options, bounds)?;
            match candidates::best(function, options, bounds) {
                Ok(strict) => candidates::with_or_without_freedom(free, strict, function, options)?,
                Err(_) => free,
            }
        }
    };
    result.applied.splice(..0, applied);
    result.report.as_written = result.function.body == function.body;
    if !options.reassociate && !any_parallel(&result.function.body) {
        let kept = reduction_order::updated_by_loops(function);
        if !kept.is_empty() {
            result.report.notes.push(format!(
                "updates of {} keep their order, and no loop is parallel: `--reassociate` lets parts of them be combined where that pays",
                kept.join(", ")
            ));
        }
    }
    Ok(result)
}

/// The result, or that with updates in any order where these are a recurrence over intervals whose
/// steps can go in blocks.
fn with_blocked_recurrences(
    strict: Optimized,
    function: &Function,
    options: &Options,
    bounds: Bounds,
) -> Result<Optimized> {
    let wanted = options.contraction.is_some() && matches!(options.tiling, Tiling::Caches(_));
    if let Some(exact) = wanted.then(|| reduction_order::exact_recurrences(function)).flatten()
        && let Ok(free) = candidates::best(&exact, options, bounds)
        && free.report.contracted
    {
        return candidates::with_or_without_freedom(free, strict, function, options);
    }
    with_recognised_reductions(strict, function, options, bounds)
}

/// The result, or that after choices of a greater number are reductions, where they keep loops from
/// being parallel: none is, or the schedule is predicted to be slower than the text on one thread.
fn with_recognised_reductions(
    strict: Optimized,
    function: &Function,
    options: &Options,
    bounds: Bounds,
) -> Result<Optimized> {
    let slow = strict.report.on_one_thread.is_some_and(|times| times < 1.0);
    let pass = &passes::REDUCTION_RECOGNITION;
    // Where nothing else is in the loop, lanes that ask for records are faster than a maximum.
    let records = passes::SPECULATIVE_VECTORIZATION.run(&strict.function).is_some();
    let wanted = options.parallel && !records && (slow || !any_parallel(&strict.function.body));
    let Some(recognised) = wanted.then(|| pass.run(function)).flatten() else { return Ok(strict) };
    let Ok(free) = candidates::best(&model::label_all(&recognised)?, options, bounds) else {
        return Ok(strict);
    };
    let free = free.after(pass, recognised, "choices of the greater or smaller number are reductions");
    candidates::with_or_without_freedom(free, strict, function, options)
}

/// What was done in the order of the text, with what is free in it.
fn in_words(line: &str, body: &[Stmt]) -> String {
    fn outermost(body: &[Stmt]) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::Loop(l) => l.kind == LoopKind::Parallel,
            other => other.bodies().into_iter().any(outermost),
        })
    }
    let lanes = |stmt: &Stmt| matches!(stmt, Stmt::Loop(l) if l.kind == LoopKind::Vector);
    let free = match (outermost(body), any_parallel(body)) {
        _ if line.contains("parallel") => "",
        (true, _) => ", outermost loop parallel",
        (_, true) => ", inner loops parallel",
        _ if loops::visit::nodes(body).any(lanes) => ", innermost loops in vector lanes",
        _ => "",
    };
    format!("{line}{free}")
}

/// Whether there is a parallel loop.
fn any_parallel(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Loop(l) => l.kind == LoopKind::Parallel || any_parallel(&l.body),
        other => other.bodies().into_iter().any(any_parallel),
    })
}

/// A schedule that is given: the passes before it, the tree, and code made as it says.
fn by_schedule(
    function: &Function,
    schedule: &Schedule,
    options: &Options,
    bounds: Bounds,
) -> Result<Optimized> {
    let mut applied = Vec::new();
    let mut now = function.clone();
    for pass in &schedule.before {
        let Some(next) = pass.run(&now) else {
            return Err(fault::edit(format!("the pass {} before the schedule changes nothing", pass.name())));
        };
        applied.push(Applied { pass: pass.name(), function: next.clone() });
        now = next;
    }
    // What a pass has added has names from here on.
    now = model::label_all(&now)?;
    let result = scheduled(&now, schedule, options, bounds);
    let mut result = match schedule.code {
        Some(_) => result?,
        None => match result {
            Err(refused) if options.private && declares_inside(&now.body, false) => {
                let shared = Options { private: false, ..options.clone() };
                let mut result = scheduled(&now, schedule, &shared, bounds)?;
                let note = format!("local arrays are shared by iterations: {}", refused.message);
                result.report.notes.push(note);
                result
            }
            result => result?,
        },
    };
    result.schedule.before.clone_from(&schedule.before);
    result.applied.splice(..0, applied);
    Ok(result)
}

/// The code of a given tree, for the function after the passes before it.
fn scheduled(
    function: &Function,
    schedule: &Schedule,
    options: &Options,
    bounds: Bounds,
) -> Result<Optimized> {
    let tree = &schedule.tree;
    let code = schedule.code.unwrap_or(Code { private: options.private, ..Code::USUAL });
    if code.loops == Loops::Nests {
        let options = Options { schedule: None, ..options.clone() };
        let made = in_parts(function, &options, fault::limit("set operations"))?;
        return schedule::has_order(tree, &made.schedule.tree).map(|()| made);
    }
    let options = &Options { private: code.private, jam: code.jam, ..options.clone() };
    let limits = bounds.must;
    let Analysed { known, dependences, mut report } = analyse(function, options, bounds)?;
    let model = &known.model;
    // Checked first as a tree: what is wrong is then said in terms of what the user wrote. Nothing
    // is added to it. If that takes too long, there is still the check of the code. That looks at
    // what iterations have for themselves: where it is declared shows in the code alone.
    let storage = |d: &Dependence| options.check && options.private && d.private;
    let ordered: Vec<Dependence> = dependences.iter().filter(|d| !storage(d)).cloned().collect();
    match limits.run(&known.ctx, || check::tree(model, &ordered, tree)) {
        Err(refused) if !options.check || !fault::is_limit(&refused) => return Err(refused),
        _ => {}
    }
    let made = lowering::by_code(model, function, tree, (code, options), limits, &mut report)?;
    let made = match code.threads {
        true => limits.run(&known.ctx, || {
            thread_versions::again(made, (model, &dependences), function, options, limits, &mut report)
        })?,
        false => made,
    };
    Ok(finish(made, tree.clone(), report))
}

/// The function nest by nest, because it is too large as a whole; as it is, if that wins nothing.
fn in_parts(function: &Function, options: &Options, limit: Diagnostic) -> Result<Optimized> {
    let whole = as_it_is(function, limit)?;
    let Some(parts) = parts::one_by_one(function, options) else { return Ok(whole) };
    let why = whole.report.left.as_deref().unwrap_or("a limit was reached");
    let note = format!("nest by nest, since the whole is too large: {why}");
    Ok(of_parts(function, whole, parts, note))
}

fn of_parts(function: &Function, whole: Optimized, parts: parts::Parts, note: String) -> Optimized {
    let mut report = Report { statements: whole.report.statements, ..parts.report };
    report.notes.push(note);
    let function = Function { body: parts.body, ..function.clone() };
    let instances = whole.instances.into_iter().chain(parts.instances).collect();
    let applied = vec![Applied { pass: schedule::NEST_BY_NEST.name, function: function.clone() }];
    let (schedule, others) = (whole.schedule, Vec::new());
    Optimized { function, instances, unpacked: None, schedule, applied, report, others }
}

/// The function as it is, because it is too large for anything else; the limit itself if not even
/// that can be said as a schedule.
fn as_it_is(function: &Function, limit: Diagnostic) -> Result<Optimized> {
    let ctx = isl::Ctx::new();
    let bounds = Limits::from(AS_IT_IS);
    let run = || -> Result<(Generated, Tree, usize)> {
        let model = Model::extract_in(&ctx, function)?;
        let tree = Tree::original(&model)?;
        Ok((text_order::as_written(&model, &tree)?, tree, model.statements.len()))
    };
    let Ok((generated, tree, statements)) = bounds.run(&ctx, run) else { return Err(limit) };
    let bands = vec!["the text as it is".to_owned()];
    let left = Some(limit.message);
    let made = Made::written(generated, function);
    let code = Code { loops: Loops::Nests, ..made.code };
    Ok(finish(Made { code, ..made }, tree, Report { statements, bands, left, ..Report::default() }))
}

/// Operations of the set library for the model of what is left as it is.
const AS_IT_IS: u64 = 20_000_000;

/// Whether an array is declared inside a loop.
fn declares_inside(body: &[Stmt], inside: bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Local(_) => inside,
        Stmt::Loop(l) => declares_inside(&l.body, true),
        other => other.bodies().into_iter().any(|body| declares_inside(body, inside)),
    })
}

/// Bounds on the work of each stage.
#[derive(Clone, Copy)]
struct Bounds {
    /// Of stages that can fail, because there is a simpler way.
    choice: Limits,
    /// Of the others.
    must: Limits,
}

impl Bounds {
    /// A third of the work is for what can be done without.
    fn from_now(options: &Options) -> Bounds {
        let Options { operations, total, .. } = *options;
        Bounds { choice: Limits::within(operations, total / 3), must: Limits::within(operations, total) }
    }
}

/// What stages need to know of a function.
struct Analysed {
    known: Rc<Known>,
    dependences: Vec<Dependence>,
    report: Report,
}

fn analyse(function: &Function, options: &Options, bounds: Bounds) -> Result<Analysed> {
    let known = Known::of(Role::Maker, function, bounds.must)?;
    let mut report = Report { statements: known.model.statements.len(), ..Report::default() };
    let mut dependences = bounds.must.run(&known.ctx, || known.dependences())?.to_vec();
    if !options.private {
        dependences.iter_mut().for_each(|dependence| dependence.private = false);
    }
    report.dependences = dependences.len();
    Ok(Analysed { known, dependences, report })
}

fn optimize_as_it_is(function: &Function, options: &Options, bounds: Bounds) -> Result<Optimized> {
    let Analysed { known, dependences, mut report } = analyse(function, options, bounds)?;
    let model = &known.model;
    if let Some(result) = special(model, function, &dependences, options, bounds.choice, &mut report) {
        return Ok(result);
    }
    let fusion = options.fusion.unwrap_or_else(|| choose_fusion(model));
    let scheduling = scheduling::Options {
        fusion,
        limits: bounds.choice,
        cluster: options.cluster,
        beside: true,
        ..Default::default()
    };
    let scheduled = scheduling::schedule(model, &dependences, &scheduling)?;
    if scheduled.limited {
        let note = "the scheduler stopped without a schedule: the original order is kept there";
        report.notes.push(note.to_owned());
    }
    let (dependences, tree) = (&dependences[..], scheduled.tree);
    Scheduled { model, dependences, function, options, bounds, tree }.first(report)
}

fn finish(made: Made, tree: Tree, report: Report) -> Optimized {
    let Made { generated, unpacked, code, applied } = made;
    let schedule = Schedule { before: Vec::new(), tree, code: Some(code) };
    Optimized {
        function: generated.function,
        instances: generated.instances,
        unpacked,
        schedule,
        applied,
        report,
        others: Vec::new(),
    }
}

/// The order of the text, with what is free in it in parallel.
fn as_text(
    (model, dependences): (&Model, &[Dependence]),
    function: &Function,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<(Made, Tree)> {
    let caches = Caches::default();
    let request = Request { width: None, caches, parallel: options.parallel, vector: options.vector };
    limits.run(&model.ctx, || {
        let shaped = identity_schedule::text(model, dependences, request)?;
        let made = lowering::text(model, function, &shaped.tree, options, limits, report)?;
        let what = match Freedom::of(&made.generated).is_none() {
            false => in_words(&shaped.line, &made.generated.function.body),
            true => "the text as it is: nothing in it is free of dependences".to_owned(),
        };
        report.bands.push(what);
        Ok((made, shaped.tree))
    })
}

/// Statements that reuse data (more loops than subscripts) want nests of their own; the others want
/// to share one pass.
fn choose_fusion(model: &Model) -> Fusion {
    let reuses = model.statements.iter().any(|statement| {
        let rank =
            locality::subscripts(statement).iter().map(|(_, indices)| indices.len()).max().unwrap_or(0);
        statement.loops.len() > rank && statement.loops.len() >= 3
    });
    if reuses { Fusion::None } else { Fusion::Smart }
}
