//! What a program for ranks costs at sizes that are supposed: messages, bytes, and the work of the
//! rank that has most. Loops are sampled.

use std::collections::{BTreeMap, HashMap};

use loops::ranks::{At, Fetch, Grid, Numbers, Place, Range, RankProgram, Repeat, Run, Step, Transfer};
use loops::{Expr, Stmt, Value, evaluate};

/// A network of ranks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Network {
    /// Seconds until the first byte of a message is there.
    pub latency: f64,
    /// Bytes in a second, after that.
    pub bandwidth: f64,
    /// Operations that a rank does in a second.
    pub operations: f64,
}

impl Default for Network {
    /// Round numbers of `library/machines/cluster.toml`.
    fn default() -> Network {
        Network { latency: 2e-6, bandwidth: 1e10, operations: 5e9 }
    }
}

/// Estimates for one program.
pub(super) struct Cost<'a> {
    pub place: Place<'a>,
    pub network: Network,
}

/// Bytes that a rank has to have before it passes on a part of a message.
const PART: f64 = (1 << 16) as f64;
/// Places of a loop that are looked at.
const SAMPLES: i64 = 3;

impl<'a> Cost<'a> {
    /// None if a size that is supposed gives an extent no value.
    pub fn new(program: &'a RankProgram, grid: &Grid, sizes: &Numbers, network: Network) -> Option<Cost<'a>> {
        Some(Cost { place: Place::new(program, grid, sizes).ok()?, network })
    }

    /// Seconds.
    pub fn steps(&self, steps: &[Step], numbers: &Numbers) -> f64 {
        steps.iter().map(|step| self.step(step, numbers)).sum()
    }

    fn step(&self, step: &Step, numbers: &Numbers) -> f64 {
        match step {
            Step::Loop(repeat) => self.repeat(repeat, numbers),
            Step::Fetch(fetch) => self.fetch(fetch, numbers),
            Step::Return(back) => {
                let fetch = Fetch { what: back.what.clone(), into: None, at: At::All, working: [].into() };
                // As much as if the owners fetched it from one rank.
                let all = loops::ranks::transfers(&self.place, &whole(&fetch), numbers).unwrap_or_default();
                self.messages(&all, &back.what.array)
            }
            Step::Run(run) => self.run(run, numbers),
        }
    }

    fn repeat(&self, repeat: &Repeat, numbers: &Numbers) -> f64 {
        let (Some(lower), Some(upper)) = (value(&repeat.lower, numbers), value(&repeat.upper, numbers))
        else {
            return f64::INFINITY;
        };
        let trips = (upper - lower + repeat.step - 1).div_euclid(repeat.step.max(1)).max(0);
        let samples = trips.min(SAMPLES);
        let mut sum = 0.0;
        for k in 0..samples {
            let trip = if samples < 2 { 0 } else { k * (trips - 1) / (samples - 1) };
            let mut inner = numbers.clone();
            inner.insert(repeat.var.clone(), lower + trip * repeat.step);
            sum += self.steps(&repeat.body, &inner);
        }
        if samples == 0 { 0.0 } else { sum / samples as f64 * trips as f64 }
    }

    fn fetch(&self, fetch: &Fetch, numbers: &Numbers) -> f64 {
        let all = loops::ranks::transfers(&self.place, fetch, numbers).unwrap_or_default();
        self.messages(&all, &fetch.what.array)
    }

    /// The time of the rank that sends or receives most. What several ranks need alike is sent once
    /// and passed on; the last one of them gets it late.
    fn messages(&self, all: &[Transfer], array: &loops::Name) -> f64 {
        let size = self.place.program.place(array).map_or(8, |p| bytes(&p.array.elem)) as f64;
        let mut ranks: BTreeMap<(bool, i64), f64> = BTreeMap::new();
        let mut copies: HashMap<(i64, &[Vec<Range>]), f64> = HashMap::new();
        for transfer in all {
            let data = transfer.elements() as f64 * size;
            // A copy into a buffer of one's own goes through memory twice.
            let time = match transfer.is_message() {
                true => self.network.latency + data / self.network.bandwidth,
                false => data / self.network.bandwidth,
            };
            *ranks.entry((true, transfer.to)).or_default() += time;
            if !transfer.is_message() {
                continue;
            }
            let late = self.network.latency + data.min(PART) / self.network.bandwidth;
            let sent = copies.entry((transfer.from, &transfer.ranges)).or_default();
            *ranks.entry((false, transfer.from)).or_default() += if *sent == 0.0 { time } else { late };
            *sent += 1.0;
        }
        ranks.values().copied().fold(0.0, f64::max)
    }

    fn run(&self, run: &Run, numbers: &Numbers) -> f64 {
        let program = self.place.program;
        let messages: f64 = run.during.iter().map(|fetch| self.fetch(fetch, numbers)).sum();
        let cuts: Vec<usize> = program.cuts_of(&run.body).into_iter().collect();
        let ranks = self.place.grid.ranks();
        let who = if run.at == At::First { 0..1 } else { 0..ranks };
        let mut each = who.map(|rank| {
            let frames = self.place.frames(numbers, &cuts, rank);
            frames.iter().map(|frame| work(&run.body, &mut frame.clone())).sum::<f64>()
        });
        let work = match run.at {
            At::Chain => each.sum::<f64>(),
            _ => each.by_ref().fold(0.0, f64::max),
        };
        let passed = if run.at == At::Chain { ranks as f64 } else { 0.0 };
        messages + work / self.network.operations + passed * (self.network.latency * 2.0)
    }
}

/// The fetch of everything, by ranks that hold none of it.
fn whole(fetch: &Fetch) -> Fetch {
    Fetch { at: At::First, into: Some(fetch.what.array.clone()), ..fetch.clone() }
}

/// Bytes of an element.
pub(super) fn bytes(elem: &loops::Elem) -> i64 {
    use loops::{Elem, Scalar};
    match elem {
        Elem::Scalar(Scalar::F64 | Scalar::I64 | Scalar::U64) => 8,
        Elem::Scalar(Scalar::F32 | Scalar::I32 | Scalar::U32) => 4,
        Elem::Scalar(Scalar::I16 | Scalar::U16) => 2,
        Elem::Scalar(_) => 1,
        Elem::Pair(a, b) => bytes(a) + bytes(b),
    }
}

fn value(e: &Expr, numbers: &Numbers) -> Option<i64> {
    match evaluate::expr(e, &|name| numbers.get(name).copied()) {
        Ok(Value::I64(value)) => Some(value),
        _ => None,
    }
}

/// Iterations of a loop whose bounds are data.
const SUPPOSED: i64 = 16;

/// Operations of statements; variables of loops are in the middle of their ranges.
fn work(body: &[Stmt], numbers: &mut Numbers) -> f64 {
    let mut sum = 0.0;
    for stmt in body {
        sum += match stmt {
            Stmt::Assign(assign) => {
                let mut operations = 1;
                for _ in assign.value.nodes() {
                    operations += 1
                }
                f64::from(operations) / 2.0
            }
            Stmt::Loop(l) => {
                let (lower, upper) = (value(&l.lower, numbers), value(&l.upper, numbers));
                let (lower, upper) = lower.zip(upper).unwrap_or((0, SUPPOSED));
                let trips = ((upper - lower).max(0) + l.step - 1) / l.step.max(1);
                let old = numbers.insert(l.var.clone(), lower + (upper - lower) / 2);
                let inner = if trips > 0 { work(&l.body, numbers) } else { 0.0 };
                match old {
                    Some(old) => numbers.insert(l.var.clone(), old),
                    None => numbers.remove(&l.var),
                };
                trips as f64 * inner
            }
            Stmt::If { cond, then, otherwise } => {
                match evaluate::expr(cond, &|name| numbers.get(name).copied()) {
                    Ok(Value::Bool(true)) => work(then, numbers),
                    Ok(Value::Bool(false)) => work(otherwise, numbers),
                    _ => work(then, numbers).max(work(otherwise, numbers)),
                }
            }
            Stmt::Block { body, .. } => work(body, numbers),
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => 0.0,
        };
    }
    sum
}
