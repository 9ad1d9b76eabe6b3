//! The interpreter of programs for several ranks: each rank has a memory of its own, and ranks run
//! in an order made from a seed. It counts messages and bytes.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::messages::{Grid, Numbers, Place, Transfer, number, returned, transfers};
use super::rank_memory::{bytes, copy_element, places, poisoned, same_element};
use super::{At, Fetch, Placed, RankProgram, Repeat, Return, Run, Step};
use crate::data::{Data, Tensor};
use crate::diagnostic::{Code, Diagnostic};
use crate::interp::{Options, run as run_function};
use crate::name::Name;
use crate::program::{Function, Param, ParamMode, ReduceOp};

/// What went between ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Messages of all ranks.
    pub messages: i64,
    /// Bytes of all messages.
    pub bytes: i64,
    /// The most bytes that one rank received.
    pub most_bytes: i64,
    /// The most messages that one rank received.
    pub most_messages: i64,
}

/// What a run gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Ran {
    /// The `out` and `inout` parameters, put together from their owners.
    pub outputs: BTreeMap<Name, Tensor>,
    /// What went between ranks, without bringing parameters to the ranks.
    pub traffic: Traffic,
}

/// A rank wrote what it does not own.
const NOT_OWNED: Code = Code("L0402");

struct Machine<'a> {
    place: Place<'a>,
    /// None: messages are counted, and nothing is computed.
    memories: Option<Vec<BTreeMap<Name, Tensor>>>,
    received: Vec<(i64, i64)>,
    traffic: Traffic,
    order: u64,
    /// The statements of runs as functions; the names that a run knows are always the same.
    functions: HashMap<*const Run, Rc<Function>>,
}

/// Runs a program on a grid of ranks with these parameters.
///
/// # Errors
/// What is wrong with sizes (`L0401`), a rank that writes what it does not own (`L0402`), and what
/// the interpreter of loop programs reports.
pub fn run(
    program: &RankProgram,
    grid: &Grid,
    sizes: &Numbers,
    args: &BTreeMap<Name, Tensor>,
    seed: u64,
) -> Result<Ran, Diagnostic> {
    let place = Place::new(program, grid, sizes)?;
    let ranks = grid.ranks();
    let mut memories = Vec::new();
    for rank in 0..ranks {
        let mut memory = BTreeMap::new();
        for placed in &program.places {
            let shape: Vec<usize> = place.extents(placed)?.iter().map(|n| *n as usize).collect();
            let mut tensor = poisoned(&placed.array, shape.clone());
            if let Some(given) = args.get(&placed.array.name) {
                let owned = place.owned(placed, rank)?;
                places(&shape, &owned, &mut |at| copy_element(&given.data, &mut tensor.data, at));
            }
            memory.insert(placed.array.name.clone(), tensor);
        }
        for (buffer, placed) in program.buffers() {
            let shape = place.extents(placed)?.iter().map(|n| *n as usize).collect();
            memory.insert(buffer, poisoned(&placed.array, shape));
        }
        memories.push(memory);
    }
    let received = vec![(0, 0); ranks as usize];
    let mut machine = Machine {
        place,
        memories: Some(memories),
        received,
        traffic: Traffic::default(),
        order: seed,
        functions: HashMap::new(),
    };
    machine.steps(&program.body, &sizes.clone())?;
    machine.outputs()
}

/// Counts what a program sends at these sizes on this grid.
///
/// # Errors
/// `L0401`: sizes that do not fit.
pub fn count(program: &RankProgram, grid: &Grid, sizes: &Numbers) -> Result<Traffic, Diagnostic> {
    let place = Place::new(program, grid, sizes)?;
    let received = vec![(0, 0); grid.ranks() as usize];
    let (traffic, functions) = Default::default();
    let mut machine = Machine { place, memories: None, received, traffic, order: 0, functions };
    machine.steps(&program.body, &sizes.clone())?;
    Ok(machine.traffic())
}

impl Machine<'_> {
    fn traffic(&self) -> Traffic {
        let most = |of: fn(&(i64, i64)) -> i64| self.received.iter().map(of).max().unwrap_or(0);
        Traffic { most_messages: most(|r| r.0), most_bytes: most(|r| r.1), ..self.traffic }
    }

    fn steps(&mut self, steps: &[Step], numbers: &Numbers) -> Result<(), Diagnostic> {
        for step in steps {
            match step {
                Step::Loop(repeat) => self.repeat(repeat, numbers)?,
                Step::Fetch(fetch) => self.fetch(fetch, numbers)?,
                Step::Return(back) => self.give_back(back, numbers)?,
                Step::Run(run) => self.run(run, numbers)?,
            }
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat, numbers: &Numbers) -> Result<(), Diagnostic> {
        let (lower, upper) = (number(&repeat.lower, numbers)?, number(&repeat.upper, numbers)?);
        let mut inner = numbers.clone();
        let mut value = lower;
        let (first, rest) = repeat.first_fetches();
        let mut coming = None;
        while value < upper {
            let next = value.checked_add(repeat.step.max(1));
            inner.insert(repeat.var.clone(), value);
            if repeat.ahead {
                match coming.take() {
                    None => self.fetches(&first, &inner)?,
                    Some(coming) => drop(self.exchange(&first, coming)),
                }
                if let Some(next) = next.filter(|next| *next < upper) {
                    let own = self.exchange(&first, Vec::new());
                    inner.insert(repeat.var.clone(), next);
                    self.fetches(&first, &inner)?;
                    coming = Some(self.exchange(&first, own));
                    inner.insert(repeat.var.clone(), value);
                }
                self.steps(rest, &inner)?;
            } else {
                self.steps(&repeat.body, &inner)?;
            }
            let Some(next) = next else { break };
            value = next;
        }
        Ok(())
    }

    fn fetches(&mut self, fetches: &[&Fetch], numbers: &Numbers) -> Result<(), Diagnostic> {
        fetches.iter().try_for_each(|fetch| self.fetch(fetch, numbers))
    }

    /// Puts other contents into the buffers of fetches; what was in them.
    fn exchange(&mut self, fetches: &[&Fetch], new: Vec<Tensor>) -> Vec<Tensor> {
        let Some(memories) = &mut self.memories else { return Vec::new() };
        let mut new = new.into_iter();
        let mut old = Vec::new();
        for memory in memories {
            for into in fetches.iter().filter_map(|fetch| fetch.into.as_ref()) {
                if let Some(tensor) = memory.get_mut(into) {
                    old.push(tensor.clone());
                    if let Some(new) = new.next() {
                        *tensor = new;
                    }
                }
            }
        }
        old
    }

    /// Counts a message.
    fn sent(&mut self, transfer: &Transfer, size: i64) {
        if !transfer.is_message() {
            return;
        }
        let bytes = transfer.elements() * size;
        self.traffic.messages += 1;
        self.traffic.bytes += bytes;
        let receiver = &mut self.received[transfer.to as usize];
        receiver.0 += 1;
        receiver.1 += bytes;
    }

    fn size_of(placed: &Placed) -> i64 {
        bytes(&Data::zeros(&placed.array.elem, 0))
    }

    fn fetch(&mut self, fetch: &Fetch, numbers: &Numbers) -> Result<(), Diagnostic> {
        let program = self.place.program;
        let Some(placed) = program.place(&fetch.what.array) else { return Ok(()) };
        let all = transfers(&self.place, fetch, numbers)?;
        let shape: Vec<usize> = self.place.extents(placed)?.iter().map(|n| *n as usize).collect();
        let into = fetch.into.as_ref().unwrap_or(&fetch.what.array);
        for transfer in &all {
            self.sent(transfer, Machine::size_of(placed));
        }
        let Some(memories) = &mut self.memories else { return Ok(()) };
        if fetch.into.is_some() {
            // What was in it is not held any more.
            for memory in memories.iter_mut() {
                memory.insert(into.clone(), poisoned(&placed.array, shape.clone()));
            }
        }
        for transfer in &all {
            send(memories, transfer, (&fetch.what.array, into), &shape);
        }
        Ok(())
    }

    fn give_back(&mut self, back: &Return, numbers: &Numbers) -> Result<(), Diagnostic> {
        let program = self.place.program;
        let Some(placed) = program.place(&back.what.array) else { return Ok(()) };
        let all = returned(&self.place, back, numbers)?;
        let shape: Vec<usize> = self.place.extents(placed)?.iter().map(|n| *n as usize).collect();
        let name = back.from.as_ref().unwrap_or(&back.what.array);
        for transfer in &all {
            self.sent(transfer, Machine::size_of(placed));
        }
        let Some(memories) = &mut self.memories else { return Ok(()) };
        for transfer in &all {
            send(memories, transfer, (name, &back.what.array), &shape);
        }
        Ok(())
    }

    /// The ranks that run, in order.
    fn who(&mut self, at: At) -> Vec<i64> {
        let ranks = self.place.grid.ranks();
        match at {
            At::First => vec![0],
            At::Last => vec![ranks - 1],
            At::Chain => (0..ranks).collect(),
            At::All => {
                let mut order: Vec<i64> = (0..ranks).collect();
                for k in (1..order.len()).rev() {
                    self.order = self
                        .order
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    order.swap(k, ((self.order >> 33) % (k as u64 + 1)) as usize);
                }
                order
            }
        }
    }

    fn run(&mut self, run: &Run, numbers: &Numbers) -> Result<(), Diagnostic> {
        if run.margins.is_empty() {
            for fetch in &run.during {
                self.fetch(fetch, numbers)?;
            }
            self.identities(run);
            for rank in self.who(run.at) {
                if run.at == At::Chain && rank > 0 {
                    self.carry(run, numbers, rank)?;
                }
                self.on_rank(run, numbers, rank, &|frame| vec![frame])?;
            }
            return self.combine(run);
        }
        let program = self.place.program;
        let who = self.who(run.at);
        for rank in &who {
            self.on_rank(run, numbers, *rank, &|frame| vec![parts(program, run, &frame).0])?;
        }
        for fetch in &run.during {
            self.fetch(fetch, numbers)?;
        }
        for rank in &who {
            self.on_rank(run, numbers, *rank, &|frame| parts(program, run, &frame).1)?;
        }
        Ok(())
    }

    /// Gives all ranks but the first the neutral element of what is reduced by sums and products.
    fn identities(&mut self, run: &Run) {
        let Some(memories) = &mut self.memories else { return };
        for (op, name) in &run.reduced {
            let neutral = match op {
                ReduceOp::Add => 0,
                ReduceOp::Mul => 1,
                // The same twice changes nothing.
                ReduceOp::Min | ReduceOp::Max | ReduceOp::And | ReduceOp::Or => continue,
            };
            for memory in &mut memories[1..] {
                if let Some(tensor) = memory.get_mut(name) {
                    fill(&mut tensor.data, neutral);
                }
            }
        }
    }

    /// Combines what ranks computed, in the order of their numbers, on all.
    fn combine(&mut self, run: &Run) -> Result<(), Diagnostic> {
        let ranks = self.place.grid.ranks();
        for (op, name) in &run.reduced {
            let Some(placed) = self.place.program.place(name) else { continue };
            let elements: i64 = self.place.extents(placed)?.iter().product();
            // Up a tree and down again.
            self.traffic.messages += 2 * (ranks - 1);
            self.traffic.bytes += 2 * (ranks - 1) * elements * Machine::size_of(placed);
            let Some(memories) = &mut self.memories else { continue };
            let mut all = memories[0][name].clone();
            for memory in &memories[1..] {
                combine(&mut all.data, &memory[name].data, *op);
            }
            memories.iter_mut().for_each(|memory| {
                memory.insert(name.clone(), all.clone());
            });
        }
        Ok(())
    }

    /// What the next rank of a chain gets.
    fn carry(&mut self, run: &Run, numbers: &Numbers, rank: i64) -> Result<(), Diagnostic> {
        for what in &run.carried {
            let program = self.place.program;
            let Some(declared) = program.declaration(&what.array) else { continue };
            let extents: Vec<i64> =
                declared.dims.iter().map(|e| number(e, &self.place.sizes)).collect::<Result<_, _>>()?;
            let mut ranges = Vec::new();
            for ((low, high), extent) in what.ranges.iter().zip(&extents) {
                ranges.push(vec![(number(low, numbers)?.max(0), number(high, numbers)?.min(*extent))]);
            }
            let transfer = Transfer { from: rank - 1, to: rank, ranges };
            let empty = transfer.ranges.iter().flatten().any(|(low, high)| low >= high);
            if empty {
                continue;
            }
            self.sent(&transfer, bytes(&Data::zeros(&declared.elem, 0)));
            let Some(memories) = &mut self.memories else { continue };
            let shape: Vec<usize> = extents.iter().map(|n| (*n).max(0) as usize).collect();
            send(memories, &transfer, (&what.array, &what.array), &shape);
        }
        Ok(())
    }

    /// Runs the statements on one rank, once for each of the frames that `parts` makes of its
    /// blocks.
    fn on_rank(
        &mut self,
        run: &Run,
        numbers: &Numbers,
        rank: i64,
        parts: &dyn Fn(Numbers) -> Vec<Numbers>,
    ) -> Result<(), Diagnostic> {
        if self.memories.is_none() {
            return Ok(());
        }
        let program = self.place.program;
        let cuts: Vec<usize> = program.cuts_of(&run.body).into_iter().collect();
        for frame in self.place.frames(numbers, &cuts, rank).into_iter().flat_map(parts) {
            self.execute(run, &frame, rank)?;
        }
        Ok(())
    }

    /// Runs the statements at the values of a frame, on the memory of a rank.
    fn execute(&mut self, run: &Run, frame: &Numbers, rank: i64) -> Result<(), Diagnostic> {
        let program = self.place.program;
        let function = match self.functions.get(&std::ptr::from_ref(run)) {
            Some(function) => Rc::clone(function),
            None => {
                let function = Rc::new(function_of(program, run, frame));
                self.functions.insert(std::ptr::from_ref(run), Rc::clone(&function));
                function
            }
        };
        let Some(memories) = &mut self.memories else { return Ok(()) };
        let memory = &mut memories[rank as usize];
        let of = |p: &Param| Some((p.name.clone(), memory.get(&p.name)?.clone()));
        let args: BTreeMap<Name, Tensor> = function.params.iter().filter_map(of).collect();
        let outputs = run_function(&function, frame, args, &Options::default())
            .map_err(|d| d.note(format!("on rank {rank} of {}", self.place.grid.ranks())))?;
        for (name, after) in outputs {
            if let Some(placed) = program.place(&name) {
                let owned = self.place.owned(placed, rank)?;
                let mut mine = vec![false; after.data.len()];
                places(&after.shape, &owned, &mut |at| mine[at] = true);
                let before = &memory[&name];
                if let Some(at) =
                    (0..mine.len()).find(|at| !mine[*at] && !same_element(&before.data, &after.data, *at))
                {
                    let message =
                        format!("rank {rank} writes element {at} of `{name}`, which it does not own");
                    return Err(Diagnostic::general(NOT_OWNED, message));
                }
            }
            memory.insert(name, after);
        }
        Ok(())
    }

    /// The parameters that come out, put together from their owners.
    fn outputs(self) -> Result<Ran, Diagnostic> {
        let traffic = self.traffic();
        let Some(memories) = &self.memories else { return Ok(Ran { outputs: BTreeMap::new(), traffic }) };
        let mut outputs = BTreeMap::new();
        for placed in &self.place.program.places {
            if !matches!(placed.mode, Some(ParamMode::Out | ParamMode::InOut)) {
                continue;
            }
            let name = &placed.array.name;
            let mut whole = memories[0][name].clone();
            for (rank, memory) in memories.iter().enumerate() {
                let owned = self.place.owned(placed, rank as i64)?;
                let shape = whole.shape.clone();
                let mut differ = None;
                places(&shape, &owned, &mut |at| {
                    if placed.is_everywhere() && !same_element(&memory[name].data, &whole.data, at) {
                        differ = Some(at);
                    }
                    copy_element(&memory[name].data, &mut whole.data, at);
                });
                if differ.is_some() {
                    let message = format!("rank {rank} and rank 0 hold different values of `{name}`");
                    return Err(Diagnostic::general(NOT_OWNED, message));
                }
            }
            outputs.insert(name.clone(), whole);
        }
        Ok(Ran { outputs, traffic })
    }
}

/// Copies elements from the memory of one rank to that of another.
fn send(
    memories: &mut [BTreeMap<Name, Tensor>],
    transfer: &Transfer,
    (from, to): (&Name, &Name),
    shape: &[usize],
) {
    // Out of its memory meanwhile, which may be that of the receiver.
    let Some(source) = memories[transfer.from as usize].remove(from) else { return };
    if let Some(target) = memories[transfer.to as usize].get_mut(to) {
        places(shape, &transfer.ranges, &mut |at| copy_element(&source.data, &mut target.data, at));
    }
    memories[transfer.from as usize].insert(from.clone(), source);
}

/// Sets every element to a small number.
fn fill(data: &mut Data, value: i32) {
    match data {
        Data::F32(v) => v.fill(value as f32),
        Data::F64(v) => v.fill(value.into()),
        Data::I32(v) => v.fill(value),
        Data::I64(v) => v.fill(value.into()),
        Data::I8(v) => v.fill(value as i8),
        Data::U8(v) => v.fill(value as u8),
        Data::I16(v) => v.fill(value as i16),
        Data::U16(v) => v.fill(value as u16),
        Data::F16(v) => v.fill(half::f16::from_f32(value as f32)),
        Data::U32(v) => v.fill(value as u32),
        Data::U64(v) => v.fill(value as u64),
        Data::Bool(v) => v.fill(value != 0),
        Data::Pair(a, b) => {
            fill(a, value);
            fill(b, value);
        }
    }
}

/// Combines elements by an operation.
fn combine(into: &mut Data, with: &Data, op: ReduceOp) {
    fn all<T: Copy>(into: &mut [T], with: &[T], of: impl Fn(T, T) -> T) {
        into.iter_mut().zip(with).for_each(|(a, b)| *a = of(*a, *b));
    }
    macro_rules! integers {
        ($a:ident, $b:ident) => {
            match op {
                ReduceOp::Add => all($a, $b, |a, b| a.wrapping_add(b)),
                ReduceOp::Mul => all($a, $b, |a, b| a.wrapping_mul(b)),
                ReduceOp::Min | ReduceOp::And => all($a, $b, |a, b| a.min(b)),
                ReduceOp::Max | ReduceOp::Or => all($a, $b, |a, b| a.max(b)),
            }
        };
    }
    macro_rules! floats {
        ($a:ident, $b:ident) => {
            match op {
                ReduceOp::Add => all($a, $b, |a, b| a + b),
                ReduceOp::Mul => all($a, $b, |a, b| a * b),
                ReduceOp::Min | ReduceOp::And => all($a, $b, |a, b| a.min(b)),
                ReduceOp::Max | ReduceOp::Or => all($a, $b, |a, b| a.max(b)),
            }
        };
    }
    match (into, with) {
        (Data::F32(a), Data::F32(b)) => floats!(a, b),
        (Data::F64(a), Data::F64(b)) => floats!(a, b),
        (Data::I32(a), Data::I32(b)) => integers!(a, b),
        (Data::I64(a), Data::I64(b)) => integers!(a, b),
        (Data::I8(a), Data::I8(b)) => integers!(a, b),
        (Data::U8(a), Data::U8(b)) => integers!(a, b),
        (Data::I16(a), Data::I16(b)) => integers!(a, b),
        (Data::U16(a), Data::U16(b)) => integers!(a, b),
        (Data::U32(a), Data::U32(b)) => integers!(a, b),
        (Data::U64(a), Data::U64(b)) => integers!(a, b),
        (Data::Bool(a), Data::Bool(b)) => match op {
            ReduceOp::And | ReduceOp::Min | ReduceOp::Mul => all(a, b, |a, b| a && b),
            ReduceOp::Or | ReduceOp::Max | ReduceOp::Add => all(a, b, |a, b| a || b),
        },
        (Data::Pair(a, c), Data::Pair(b, d)) => {
            combine(a, b, op);
            combine(c, d, op);
        }
        _ => {}
    }
}

/// The statements of a run as a function over what a rank holds.
fn function_of(program: &RankProgram, run: &Run, frame: &Numbers) -> Function {
    let used = super::arrays_of(&run.body);
    let arrays = program.places.iter().map(|p| p.array.name.clone());
    let buffers = program.buffers().into_iter().map(|(name, _)| name);
    let params = arrays.chain(buffers).filter(|name| used.contains(name));
    let sites = crate::access::accesses(&run.body);
    let written = |name: &Name| sites.iter().any(|s| s.access.array == *name && s.writes());
    let param = |name: Name| {
        let declared = program.declaration(&name)?;
        let mode = if written(&name) { ParamMode::InOut } else { ParamMode::In };
        Some(Param::new(name, mode, declared.elem, declared.dims))
    };
    Function {
        name: program.interface.name.clone(),
        sizes: frame.keys().cloned().collect(),
        assumptions: Vec::new(),
        params: params.filter_map(param).collect(),
        body: run.body.clone(),
    }
}

/// The inner part of a rank's blocks, and the parts at their borders; together all of them, once.
pub(super) fn parts(program: &RankProgram, run: &Run, frame: &Numbers) -> (Numbers, Vec<Numbers>) {
    let mut inner = frame.clone();
    let mut borders = Vec::new();
    for margin in &run.margins {
        let cut = &program.cuts[margin.cut];
        let (low, high) = (cut.low(), cut.high());
        let (Some(from), Some(to)) = (frame.get(&low), frame.get(&high)) else { continue };
        let first = (from + margin.low).min(*to);
        let last = (to - margin.high).max(first);
        for (start, end) in [(*from, first), (last, *to)] {
            let mut border = inner.clone();
            border.insert(low.clone(), start);
            border.insert(high.clone(), end);
            borders.push(border);
        }
        inner.insert(low, first);
        inner.insert(high, last);
    }
    (inner, borders)
}
