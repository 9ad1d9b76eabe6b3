//! What a loop program takes, predicted without running it.
//!
//! Sizes are taken so that arrays have [`ELEMENTS`], and bounds and conditions are looked at in
//! sampled iterations, so that a triangular loop has its mean length. Innermost loops cost
//! arithmetic and accesses, in lanes where the accesses allow it, or the latency of what they carry
//! from one iteration to the next. Lines moved are counted as if caches were fully associative: a
//! loop brings each line of its arrays once if its body fits into the cache, and else once for each
//! iteration. So sizes and places are numbers here, and subscripts may be of any form.
//!
//! Left out: conflicts, TLBs, sharing of lines between cores, and what a C compiler does beyond
//! lanes and registers.

mod arithmetic;
mod lines;
mod numbers;

use std::collections::HashMap;

use loops::{CompareOp, Elem, Expr, Function, Local, Loop, LoopKind, Name, Stmt, Storage};

use crate::machine::{LINE, Machine};
use arithmetic::{Code, Inner, Straight, Test, innermost};
use lines::{Array, Site, moved, touched};
use numbers::Values;

/// Elements of an array whose extents are all sizes. So an extent of a vector is taken as
/// 4,000,000, of a matrix as 2000, of a batch of images as 45.
pub const ELEMENTS: f64 = 4e6;

/// What sizes are taken as that are no extents: half of the extents of a matrix, since a variable
/// of a loop around a nest that is looked at alone is such a size.
pub const STEPS: f64 = 1000.0;

/// What sizes are taken as that are assumed to be at most others: those of windows.
pub const WINDOW: f64 = 5.0;

/// Iterations of a loop that data bounds.
const BY_DATA: f64 = 16.0;

/// Cycles of one iteration of a loop beside its body.
const ITERATION: f64 = 1.0;

/// Iterations of a loop with numbers as bounds, and copies of a body in several such loops, that C
/// compilers write out. Measured: gcc and clang do so with windows of 3 x 3 x 3, and not with those
/// of 8 x 3 x 3; of one loop gcc takes 16 iterations.
const SHORT: f64 = 16.0;
const WRITTEN_OUT: f64 = 32.0;

/// Bytes of the shortest vectors.
const SHORTEST: f64 = 16.0;

/// Cycles of work that a processor looks ahead. Measured: sums in order of rows of 64 elements take
/// 0.46 of the time of one long sum, of rows of 256 elements 0.8.
const AHEAD: f64 = 160.0;

/// Cycles to begin a loop.
const BEGIN: f64 = 4.0;

/// Cycles to find out how many vectors a loop has, and what is left.
const VECTORS: f64 = 8.0;

/// Bytes from which on the C library asks the system for memory, and gives it back at once.
const MAPPED: f64 = 131_072.0;

/// Cycles for memory of the library, and for memory of the system whose first pages are used.
/// Measured: 60 ns and 1.4 us.
const ALLOCATED: f64 = 200.0;
const MAPPING: f64 = 4500.0;

/// The predicted cost of a loop program: cycles of the thread that takes longest.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cost {
    /// Arithmetic, accesses to the first cache, and loops.
    pub compute: f64,
    /// Moving lines into each cache.
    pub moves: [f64; 3],
    /// Beginning parallel loops, and getting memory.
    pub forks: f64,
    /// The sum over nests of the longer of computing and moving, and of forks.
    total: f64,
}

impl Cost {
    /// All of it, in cycles.
    pub fn cycles(&self) -> f64 {
        self.total
    }

    /// In words: cycles, and what most of them are.
    pub fn text(&self) -> String {
        let [l1, l2, l3] = self.moves;
        let parts = [
            ("arithmetic and loops", self.compute),
            ("lines into L1", l1),
            ("lines into L2", l2),
            ("lines from memory", l3),
            ("forks", self.forks),
        ];
        let most = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |part| part.0);
        format!("{:.3e} cycles, most for {most}", self.total)
    }

    /// The line of a candidate with this cost, beside the cost of the chosen one.
    pub fn beside(&self, name: &str, chosen: &Cost) -> String {
        let times = self.cycles() / chosen.cycles().max(1.0);
        format!("{name}: {times:.2} times as long, {}", self.text())
    }

    fn add(&mut self, other: &Cost) {
        self.compute += other.compute;
        self.forks += other.forks;
        self.total += other.total;
        self.moves.iter_mut().zip(other.moves).for_each(|(a, b)| *a += b);
    }
}

/// The predicted cost of a function. Work in proportion to its length times the depth of its loops.
pub fn cost(function: &Function, machine: &Machine) -> Cost {
    // Sizes that are no extents may be much larger than they are taken as: what a parallel loop
    // costs where it does not pay is no reason to leave it.
    let machine = Machine { enter: 0.0, ..machine.clone() };
    predicted(function, &machine, &|size| usual(function, size, ELEMENTS), false)
}

/// As [`cost`], with a number for each size, of a program that runs again and again: what a cache
/// can hold is in it. And where loops are short, a processor is at several of them at once.
pub(crate) fn cost_again(function: &Function, machine: &Machine, of: &dyn Fn(&Name) -> f64) -> Cost {
    predicted(function, machine, of, true)
}

fn predicted(function: &Function, machine: &Machine, of: &dyn Fn(&Name) -> f64, again: bool) -> Cost {
    let mut values = Values::default();
    values.one_thread = machine.threads <= 1.0;
    for size in &function.sizes {
        values.set(size, of(size));
    }
    let mut walk =
        Walk { machine, values, arrays: HashMap::new(), threads: machine.threads, probability: 1.0, again };
    for param in &function.params {
        walk.declare(&param.name, &param.elem, &param.dims, false);
    }
    let mut work = walk.stmts(&function.body);
    if again {
        in_caches(&mut work, machine);
    }
    // What a function of one nest does at once, one of several does one after another.
    let mut all = Cost::default();
    work.into_iter().for_each(|one| all.add(&one.finished(machine)));
    all
}

/// No lines are brought into caches that hold everything.
fn in_caches(work: &mut [Work], machine: &Machine) {
    let sites: Vec<Site> = work.iter().flat_map(|one| one.sites.iter().cloned()).collect();
    let bytes = touched(&sites) * LINE;
    for (k, cache) in machine.caches.iter().enumerate() {
        if bytes <= cache.bytes {
            work.iter_mut().for_each(|one| one.lines[k] = 0.0);
        }
    }
}

/// What a size is taken as, for arrays of so many elements.
pub(crate) fn usual(function: &Function, size: &Name, elements: f64) -> f64 {
    if is_window(function, size) {
        return WINDOW;
    }
    let with = function.params.iter().filter(|p| p.dims.iter().any(|dim| dim.mentions(size)));
    // Several sizes in one extent are those of a flat array.
    let sizes = |dims: &[Expr]| -> usize { dims.iter().map(|dim| dim.vars().len().max(1)).sum() };
    match with.map(|p| sizes(&p.dims)).max() {
        None => (STEPS * (elements / ELEMENTS).sqrt()).round().max(1.0),
        Some(rank) => elements.powf(1.0 / rank as f64).round(),
    }
}

/// Whether a size is assumed to be at most another one, and something.
fn is_window(function: &Function, size: &Name) -> bool {
    let below = |small: &Expr, large: &Expr| {
        *small == Expr::Var(size.clone())
            && large.vars().iter().any(|name| name != size && function.sizes.contains(name))
    };
    function.assumptions.iter().any(|assumption| match assumption {
        Expr::Compare(CompareOp::Le | CompareOp::Lt, a, b) => below(a, b),
        Expr::Compare(CompareOp::Ge | CompareOp::Gt, a, b) => below(b, a),
        _ => false,
    })
}

/// What a stretch of the program takes, before moving and computing are put together.
#[derive(Clone, Debug, Default)]
struct Work {
    compute: f64,
    /// Cycles of these in which one iteration waits for what another one computes.
    waits: f64,
    forks: f64,
    /// Getting memory: once, since each thread keeps what a loop declares.
    memory: f64,
    /// Accesses, with the loops of the stretch around each, outermost first.
    sites: Vec<Site>,
    /// Lines into each cache, where a loop has them settled.
    lines: [f64; 3],
    /// Threads that its lines are spread over.
    spread: f64,
    /// Iterations of the loop around it that run at once, where it is straight code.
    lanes: f64,
}

impl Work {
    /// As an iteration of a loop: while it waits, a processor begins the next ones, as far as it
    /// looks ahead.
    fn overlap(&mut self) {
        let busy = self.compute - self.waits;
        let ahead = 1.0 + AHEAD / busy.max(1.0);
        let compute = (self.compute / ahead).max(busy);
        (self.compute, self.waits) = (compute, compute - busy);
    }

    fn finished(&self, machine: &Machine) -> Cost {
        let forks = self.forks + self.memory;
        let mut cost = Cost { compute: self.compute, forks, ..Cost::default() };
        for ((moves, lines), cache) in cost.moves.iter_mut().zip(self.lines).zip(&machine.caches) {
            *moves = lines * cache.line / self.spread.max(1.0).min(cache.together);
        }
        cost.total = cost.compute.max(cost.moves.iter().sum()) + cost.forks;
        cost
    }
}

struct Walk<'a> {
    machine: &'a Machine,
    values: Values,
    arrays: HashMap<Name, Array>,
    /// Threads that a parallel loop here would have.
    threads: f64,
    /// How often the place is reached, of the times that its loops come by.
    probability: f64,
    /// Whether the program runs again and again on data that caches hold.
    again: bool,
}

impl Walk<'_> {
    fn declare(&mut self, name: &Name, elem: &Elem, dims: &[Expr], small: bool) {
        let bytes = elem.bytes() as f64;
        let integer = matches!(elem, Elem::Scalar(scalar) if scalar.is_int());
        let extents: Vec<f64> =
            dims.iter().map(|d| self.values.usual(d).unwrap_or(BY_DATA).max(1.0)).collect();
        let mut strides = vec![1.0; extents.len()];
        for k in (1..extents.len()).rev() {
            strides[k - 1] = strides[k] * extents[k];
        }
        let elements: f64 = extents.iter().product();
        let vectors = self.machine.registers;
        let in_registers = small && elements * bytes <= (vectors.count * vectors.bytes) as f64;
        self.arrays.insert(name.clone(), Array { bytes, integer, strides, elements, in_registers });
    }

    /// The work of each statement that stands alone.
    fn stmts(&mut self, stmts: &[Stmt]) -> Vec<Work> {
        stmts.iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    /// Declares a local array; whether it is kept in registers.
    fn declare_small(&mut self, local: &Local) -> bool {
        let small = matches!(local.storage, Storage::Auto | Storage::Stack);
        self.declare(&local.name, &local.elem, &local.dims, small);
        self.arrays.get(&local.name).is_some_and(|array| array.in_registers)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Vec<Work> {
        match stmt {
            Stmt::Loop(l) => vec![self.nest(l)],
            Stmt::Block { body, .. } => self.stmts(body),
            Stmt::If { cond, then, otherwise } => {
                let (outside, weights) = (self.probability, self.values.weights());
                let mut work = Vec::new();
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let share = self.values.enter_branch(cond, holds);
                    if share > 0.0 {
                        self.probability = outside * share;
                        work.extend(self.stmts(branch));
                    }
                    self.values.set_weights(weights);
                }
                self.probability = outside;
                work
            }
            Stmt::Local(local) => {
                self.declare_small(local);
                let memory = self.allocation(local);
                if memory > 0.0 { vec![Work { memory, spread: 1.0, ..Work::default() }] } else { Vec::new() }
            }
            Stmt::Assign(assign) => {
                let unrolled = Vec::new();
                let assigns = vec![Straight { assign, unrolled, share: 1.0, guarded: false }];
                vec![self.code(Code { assigns, ..Code::default() }, None)]
            }
            Stmt::Copy(_) | Stmt::Wait(_) => Vec::new(),
        }
    }

    /// Cycles to get memory for a local array, and to give it back.
    fn allocation(&self, local: &Local) -> f64 {
        let Some(array) = self.arrays.get(&local.name).filter(|_| !local.dims.is_empty()) else { return 0.0 };
        match array.elements * array.bytes {
            _ if !matches!(local.storage, Storage::Heap) => 0.0,
            bytes if bytes < MAPPED => ALLOCATED,
            _ => MAPPING,
        }
    }

    /// Work of straight code, in one iteration of a loop.
    fn code(&self, code: Code<'_>, around: Option<&Loop>) -> Work {
        let Inner { cycles, waits, lanes } =
            innermost(&code, around, &self.arrays, &self.values, self.machine, self.again);
        let mut sites = Vec::new();
        for one in &code.assigns {
            let mut own = lines::sites(one.assign, &self.arrays, &self.values);
            for (var, trips) in &one.unrolled {
                own.iter_mut().for_each(|site| site.enter(var, *trips, 1.0));
            }
            sites.extend(own);
        }
        let lines = [moved(&sites) * self.probability; 3];
        let (compute, waits) = (cycles * self.probability, waits * self.probability);
        Work { compute, waits, sites, lines, spread: 1.0, lanes, ..Work::default() }
    }

    fn nest(&mut self, l: &Loop) -> Work {
        let weights = self.values.weights();
        let trips = self.values.enter(l).unwrap_or(BY_DATA);
        let parallel = l.kind == LoopKind::Parallel;
        let threads = self.threads;
        let used = if parallel { threads.min(trips.max(1.0)) } else { 1.0 };
        if used > 1.0 {
            self.threads = 1.0;
        }
        let mut code = Code::default();
        let mut at = Place { around: &l.var, unrolled: Vec::new(), share: 1.0, guarded: false };
        let mut body = match self.straight(&l.body, &mut at, &mut code) && !code.assigns.is_empty() {
            true => self.code(code, Some(l)),
            false => {
                let mut body = joined(self.stmts(&l.body));
                if self.again {
                    body.overlap();
                }
                body
            }
        };
        // A vector is no longer than the loop, and none is as short as the colours of a pixel.
        let lanes = body.lanes.max(1.0);
        let bytes = trips * self.machine.registers.bytes as f64 / lanes;
        let filled = if bytes < SHORTEST { 1.0 } else { lanes.min(trips.max(1.0)) };
        body.compute *= lanes / filled;
        body.lanes = filled;
        let overhead = match l.kind {
            LoopKind::Vector | LoopKind::Unroll(_) => 0.0,
            _ => ITERATION / body.lanes.max(1.0),
        };
        body.lanes = 1.0;
        let begin = if overhead > 0.0 { BEGIN * self.probability } else { 0.0 };
        let counting = overhead * self.probability;
        let busy = body.compute - body.waits + counting;
        // Counting fills cycles in which the body waits.
        let each = if self.again { body.compute.max(busy) } else { body.compute + counting };
        body.waits = each - busy;
        let fork = self.machine.fork * self.probability;
        body.compute = trips * each + begin;
        if self.again && filled > 1.0 && trips % filled != 0.0 {
            // What fills no vector at the end of the loop is done one by one: each takes as long as
            // a vector.
            body.compute += (filled - 1.0) / 2.0 * filled * each + VECTORS * self.probability;
        }
        body.waits *= trips;
        body.forks *= trips;
        // Loops of little work are not run by several threads: the generated code tests that.
        let shared = (trips / used).ceil() * each + fork;
        if used > 1.0 && shared < body.compute {
            body.compute = shared - fork + begin;
            body.forks += fork;
            body.spread *= used;
        } else if parallel {
            body.forks += self.machine.enter * self.probability;
        }
        self.lines(&mut body, l, trips);
        self.threads = threads;
        self.values.leave(l, weights);
        body
    }

    /// The lines of a loop from those of its body.
    fn lines(&self, body: &mut Work, l: &Loop, trips: f64) {
        let bytes = touched(&body.sites) * LINE;
        for site in &mut body.sites {
            site.enter(&l.var, trips, l.step.max(1) as f64);
        }
        let all = moved(&body.sites) * self.probability;
        for (lines, cache) in body.lines.iter_mut().zip(&self.machine.caches) {
            let again = *lines * trips;
            *lines = if bytes <= cache.bytes { all } else { again };
        }
    }

    /// Collects the assignments of a body that has nothing else but scalar variables, conditions,
    /// and unrolled loops of such.
    fn straight<'p>(&mut self, body: &'p [Stmt], at: &mut Place<'p>, code: &mut Code<'p>) -> bool {
        body.iter().all(|stmt| match stmt {
            Stmt::Assign(assign) => {
                let Place { unrolled, share, guarded, .. } = at.clone();
                code.assigns.push(Straight { assign, unrolled, share, guarded });
                true
            }
            Stmt::Local(local) => local.dims.is_empty() || (self.again && self.declare_small(local)),
            Stmt::Loop(l) if matches!(l.kind, LoopKind::Unroll(_)) || written_out(l, &at.unrolled) => {
                let weights = self.values.weights();
                let trips = self.values.enter(l).unwrap_or(BY_DATA);
                at.unrolled.push((&l.var, trips));
                let all = self.straight(&l.body, at, code);
                at.unrolled.pop();
                self.values.leave(l, weights);
                // Subscripts are looked at with a value for each variable.
                self.values.set(&l.var, 0.0);
                all
            }
            Stmt::If { cond, then, otherwise } => {
                let (weights, before) = (self.values.weights(), at.clone());
                let differs = cond.mentions(at.around) || cond.is_data();
                if differs {
                    let copies = at.share * at.unrolled.iter().map(|(_, trips)| trips).product::<f64>();
                    code.tests.push(Test { cond, copies });
                }
                let all = [(then, true), (otherwise, false)].into_iter().all(|(branch, holds)| {
                    at.share = before.share * self.values.enter_branch(cond, holds);
                    at.guarded = before.guarded || differs;
                    let all = at.share == 0.0 || self.straight(branch, at, code);
                    self.values.set_weights(weights);
                    all
                });
                *at = before;
                all
            }
            _ => false,
        })
    }
}

/// Whether C compilers write a loop out before they make vectors of the loop around it.
fn written_out(l: &Loop, around: &[(&Name, f64)]) -> bool {
    let (Expr::Int(lower), Expr::Int(upper)) = (&l.lower, &l.upper) else { return false };
    let trips = (*upper as f64 - *lower as f64) / l.step.max(1) as f64;
    let copies = around.iter().map(|(_, trips)| trips).product::<f64>() * trips;
    let short = trips > 0.0 && trips <= SHORT && copies <= WRITTEN_OUT;
    l.kind == LoopKind::Sequential && l.reductions.is_empty() && short
}

/// A place in straight code.
#[derive(Clone)]
struct Place<'p> {
    /// The variable of the loop around the code.
    around: &'p Name,
    /// Unrolled loops around it.
    unrolled: Vec<(&'p Name, f64)>,
    share: f64,
    guarded: bool,
}

/// What is done one after another in one iteration.
fn joined(parts: Vec<Work>) -> Work {
    let mut all = Work { spread: 1.0, ..Work::default() };
    for part in parts {
        all.compute += part.compute;
        all.waits += part.waits;
        all.forks += part.forks;
        all.memory += part.memory;
        all.spread = all.spread.max(part.spread);
        all.lines.iter_mut().zip(part.lines).for_each(|(a, b)| *a += b);
        all.sites.extend(part.sites);
    }
    all
}
