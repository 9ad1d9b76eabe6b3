//! Running a compiled function.

mod copies;

use copies::Flight;

use arith::number::gcd;

use super::Options;
use super::code::{Block, Compiled, Index, LoopStep, Node, Place, Step};
use super::memory::{Array, empty};
use super::observer::{Live, Observer};
use super::race_detection::{Conflict, Frame, Touch};
use crate::diagnostic::{Code, Diagnostic};
use crate::expr::BinaryOp;
use crate::name::Name;
use crate::program::{ReduceOp, Stmt};
use crate::types::Elem;
use crate::value::{Undefined, Value};

/// Errors are rare and diagnostics are large.
type Run<T> = Result<T, Box<Diagnostic>>;

const BOUNDS: Code = Code("L0303");
const UNINITIALISED: Code = Code("L0304");
const UNDEFINED: Code = Code("L0305");
const RACE: Code = Code("L0306");
const IN_FLIGHT: Code = Code("L0307");
const LIMIT: Code = Code("L0308");
const EXTENT: Code = Code("L0310");

/// About what the check for races remembers of an element.
const CELL_BYTES: u64 = 96;
/// About what a copy on its way remembers of an element.
const MOVE_BYTES: u64 = 128;

pub(super) struct Machine<'a> {
    code: &'a Compiled<'a>,
    vars: Vec<i64>,
    arrays: Vec<Option<Array>>,
    /// The slots of the loops that run, outermost first.
    loops: Vec<usize>,
    /// The parallel loops that run; empty unless races are looked for.
    frames: Vec<Frame>,
    flights: Vec<Flight>,
    steps_left: u64,
    bytes_left: u64,
    shuffle: Option<u64>,
    /// Whether the condition of the last `if` held.
    held: bool,
    races: bool,
    c_rules: bool,
    observer: Option<&'a mut dyn Observer>,
}

fn fault<T>(code: Code, message: String) -> Run<T> {
    Err(Box::new(Diagnostic::general(code, message)))
}

fn undefined(reason: Undefined) -> Box<Diagnostic> {
    Box::new(Diagnostic::general(UNDEFINED, reason.to_string()))
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        code: &'a Compiled<'a>,
        options: &Options,
        observer: Option<&'a mut dyn Observer>,
    ) -> Machine<'a> {
        Machine {
            observer,
            code,
            vars: vec![0; code.vars.len()],
            arrays: code.arrays.iter().map(|_| None).collect(),
            loops: Vec::new(),
            frames: Vec::new(),
            flights: Vec::new(),
            steps_left: options.max_steps,
            bytes_left: options.max_bytes,
            shuffle: options.shuffle,
            held: true,
            races: options.races,
            c_rules: options.c_rules,
        }
    }

    pub(super) fn set_var(&mut self, slot: usize, value: i64) {
        self.vars[slot] = value;
    }

    pub(super) fn set_array(&mut self, slot: usize, array: Array) {
        if let Some(observer) = &mut self.observer {
            let info = &self.code.arrays[slot];
            let (name, columns) = (&info.name, info.elem.leaves());
            observer.array(Live { array: slot, name, columns, elements: array.len() });
        }
        self.arrays[slot] = Some(array);
    }

    fn tell(&mut self, array: usize, column: usize, element: usize, write: bool) {
        if let Some(observer) = &mut self.observer {
            observer.access(array, column, element, write);
        }
    }

    pub(super) fn take_array(&mut self, slot: usize) -> Option<Array> {
        self.arrays[slot].take()
    }

    pub(super) fn truth(&mut self, node: &Node) -> Result<bool, Diagnostic> {
        self.bool(node).map_err(|error| *error)
    }

    pub(super) fn run(&mut self) -> Result<(), Diagnostic> {
        let code = self.code;
        self.block(&code.body).map_err(|error| *error)?;
        if let Some(flight) = self.flights.first() {
            let message = format!("the copy `{}` is never waited for", flight.text);
            return Err(Diagnostic::general(IN_FLIGHT, message));
        }
        Ok(())
    }

    /// The values of extents, none of them negative.
    pub(super) fn extents(&mut self, dims: &[Node], name: &Name) -> Result<Vec<i64>, Diagnostic> {
        self.extents_of(dims, name).map_err(|error| *error)
    }

    fn extents_of(&mut self, dims: &[Node], name: &Name) -> Run<Vec<i64>> {
        let mut extents = Vec::with_capacity(dims.len());
        let mut len = 1i64;
        for dim in dims {
            let extent = self.int(dim)?;
            if extent < 0 {
                return fault(EXTENT, format!("the array `{name}` has the negative extent {extent}"));
            }
            match len.checked_mul(extent.max(1)) {
                Some(product) => len = product,
                None => return fault(EXTENT, format!("the array `{name}` has more than 2^63 elements")),
            }
            extents.push(extent);
        }
        Ok(extents)
    }

    /// An array of zeros.
    pub(super) fn allocate(&mut self, name: &Name, elem: &Elem, dims: Vec<i64>) -> Result<Array, Diagnostic> {
        let mut array = Array {
            dims,
            columns: empty(elem.leaves()),
            written: Some(Vec::new()),
            depth: self.frames.len(),
            reserved: 0,
        };
        self.reserve(&mut array, elem, name).map_err(|error| *error)?;
        Ok(array)
    }

    /// Makes the columns as long as the extents say, and marks all elements as never written.
    fn reserve(&mut self, array: &mut Array, elem: &Elem, name: &Name) -> Run<()> {
        let len = array.len();
        let leaves = elem.leaves();
        let each: u64 = leaves.iter().map(|scalar| scalar.bytes() as u64 + 1).sum();
        let needed = (len.saturating_sub(array.reserved) as u64).saturating_mul(each);
        let too_much = || -> Run<()> {
            fault(LIMIT, format!("the array `{name}` of {len} elements exceeds the memory limit of this run"))
        };
        self.bytes_left = match self.bytes_left.checked_sub(needed) {
            Some(left) => left,
            None => return too_much(),
        };
        array.reserved = array.reserved.max(len);
        self.spend(len as u64 / 16)?;
        let mut written = array.written.take().unwrap_or_default();
        written.resize(leaves.len(), Vec::new());
        for (column, flags) in array.columns.iter_mut().zip(&mut written) {
            flags.clear();
            if !column.resize(len) || flags.try_reserve_exact(len).is_err() {
                return too_much();
            }
            flags.resize(len, false);
        }
        array.written = Some(written);
        Ok(())
    }

    fn spend(&mut self, steps: u64) -> Run<()> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => fault(LIMIT, "the run exceeds its limit of steps".to_owned()),
        }
    }

    /// Adds to an error where it happened, if that is not known yet.
    fn locate(&self, stmt: &Stmt, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        if error.notes.is_empty() {
            error.notes.push(format!("at `{}`", stmt.headline()));
            if !self.loops.is_empty() {
                let values: Vec<String> = self
                    .loops
                    .iter()
                    .map(|slot| format!("{} = {}", self.code.vars[*slot], self.vars[*slot]))
                    .collect();
                error.notes.push(format!("where {}", values.join(", ")));
            }
        }
        error
    }

    fn block(&mut self, block: &Block<'a>) -> Run<()> {
        for (stmt, step) in &block.steps {
            self.spend(1).and_then(|()| self.step(stmt, step)).map_err(|error| self.locate(stmt, error))?;
        }
        if !self.flights.is_empty() {
            for local in &block.locals {
                if let Some(flight) = self.flights.iter().find(|f| f.from == *local || f.to == *local) {
                    let message = format!(
                        "the array `{}` goes out of scope while the copy `{}` is on its way",
                        self.code.arrays[*local].name, flight.text
                    );
                    return fault(IN_FLIGHT, message);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, stmt: &Stmt, step: &Step<'a>) -> Run<()> {
        match step {
            Step::Assign { number, target, update, value } => {
                if let Some(observer) = &mut self.observer {
                    observer.assignment(*number);
                }
                self.assign(target, *update, value)
            }
            Step::Loop(l) => self.run_loop(l),
            Step::If { cond, then, otherwise } => {
                let holds = self.bool(cond)?;
                let done = self.block(if holds { then } else { otherwise });
                self.held = holds;
                done
            }
            Step::Local { array, dims } => self.declare(*array, dims),
            Step::Block(body) => self.block(body),
            Step::Copy { from, to, extents, tag } => self.copy(stmt, from, to, extents, *tag),
            Step::Wait(tag) => self.wait(*tag),
        }
    }

    fn declare(&mut self, slot: usize, dims: &[Node]) -> Run<()> {
        let info = &self.code.arrays[slot];
        let dims = self.extents_of(dims, &info.name)?;
        let mut array = self.arrays[slot].take().unwrap_or_else(|| Array {
            dims: vec![0],
            columns: empty(info.elem.leaves()),
            written: Some(Vec::new()),
            depth: 0,
            reserved: 0,
        });
        array.dims = dims;
        array.depth = self.frames.len();
        self.reserve(&mut array, &info.elem, &info.name)?;
        self.set_array(slot, array);
        Ok(())
    }

    fn assign(&mut self, target: &Place, update: Option<ReduceOp>, value: &Node) -> Run<()> {
        let mut value = self.eval(value)?;
        let offset = self.offset(target)?;
        if let Some(op) = update {
            let old = self.read(target, offset, Touch::Update(op))?;
            value = Value::binary(op.binary(), old, value).map_err(undefined)?;
        }
        let touch = update.map_or(Touch::Write, Touch::Update);
        self.before_access(target.array, target.first_column, offset, touch)?;
        self.tell(target.array, target.first_column, offset, true);
        let array = self.arrays[target.array].as_mut().expect("an array in scope is alive");
        array.columns[target.first_column].set(offset, value);
        if let Some(written) = &mut array.written {
            written[target.first_column][offset] = true;
        }
        Ok(())
    }

    fn run_loop(&mut self, l: &LoopStep<'a>) -> Run<()> {
        let (lower, upper) = (self.int(&l.lower)?, self.int(&l.upper)?);
        let step = l.source.step;
        let span = (i128::from(upper) - i128::from(lower)).max(0);
        let count = (span + i128::from(step) - 1) / i128::from(step);
        // The order of iteration k is (a k + b) mod count, which is a permutation if a and count
        // have no common divisor.
        let (mut a, mut b) = (1i128, 0i128);
        if l.parallel && count > 1 && self.shuffle.is_some() {
            b = i128::from(self.random()) % count;
            loop {
                a = i128::from(self.random()) % count;
                if gcd(a, count) == 1 {
                    break;
                }
            }
        }
        let checked = self.races && l.parallel;
        let ends_early = l.source.ends_early();
        if checked {
            self.frames.push(Frame::new(l.var, l.source.header(), l.reductions.clone()));
        }
        self.loops.push(l.var);
        let mut k = 0i128;
        while k < count {
            // No product is beyond 2^126: both factors are below 2^63 where a is not 1.
            let iteration = if l.parallel { (a * k + b) % count } else { k };
            // Below `upper` and at least `lower`, so within 64 bits.
            let value = (i128::from(lower) + iteration * i128::from(step)) as i64;
            self.vars[l.var] = value;
            if checked && let Some(frame) = self.frames.last_mut() {
                frame.iteration = value;
            }
            let flights = self.flights.len();
            self.spend(1)?;
            self.block(&l.body)?;
            if ends_early && !self.held {
                break;
            }
            if l.parallel && self.flights.len() > flights {
                let message = format!(
                    "the copy `{}` is not waited for in the iteration of a parallel loop that issues it",
                    self.flights[flights].text
                );
                return fault(IN_FLIGHT, message);
            }
            k += 1;
        }
        self.loops.pop();
        if checked && let Some(frame) = self.frames.pop() {
            self.bytes_left += frame.len() as u64 * CELL_BYTES;
        }
        Ok(())
    }

    /// The next number of the seeded generator (splitmix64), as a natural number.
    fn random(&mut self) -> i64 {
        let state = self.shuffle.unwrap_or(0).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.shuffle = Some(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 1) as i64
    }

    fn index(&mut self, index: &Index) -> Run<i64> {
        match index {
            Index::Linear(base, terms) => {
                let mut sum = *base;
                for (slot, coefficient) in terms {
                    let term = self.vars[*slot].checked_mul(*coefficient);
                    match term.and_then(|term| sum.checked_add(term)) {
                        Some(next) => sum = next,
                        None => return Err(undefined(Undefined::Overflow)),
                    }
                }
                Ok(sum)
            }
            Index::Other(node) => self.int(node),
        }
    }

    fn offset(&mut self, place: &Place) -> Run<usize> {
        let mut offset = 0i64;
        for (d, index) in place.indices.iter().enumerate() {
            let index = self.index(index)?;
            let extent = self.array(place.array).dims[d];
            if index < 0 || index >= extent {
                return self.out_of_bounds(place.array, d, index);
            }
            // Below the number of elements, which fits.
            offset = offset * extent + index;
        }
        Ok(offset as usize)
    }

    #[cold]
    fn out_of_bounds<T>(&self, array: usize, dimension: usize, index: i64) -> Run<T> {
        let name = &self.code.arrays[array].name;
        let extent = self.array(array).dims[dimension];
        let message = format!("subscript {index} of dimension {dimension} of `{name}` is not in 0..{extent}");
        fault(BOUNDS, message)
    }

    fn array(&self, slot: usize) -> &Array {
        self.arrays[slot].as_ref().expect("an array in scope is alive")
    }

    fn element_name(&self, slot: usize, offset: usize) -> String {
        format!("{}{}", self.code.arrays[slot].name, self.array(slot).subscripts(offset))
    }

    /// Races and copies on their way, before an element is read or written.
    fn before_access(&mut self, slot: usize, column: usize, offset: usize, touch: Touch) -> Run<()> {
        if !self.flights.is_empty() {
            self.check_flights(slot, column, offset, touch)?;
        }
        if self.frames.is_empty() {
            return Ok(());
        }
        let depth = self.array(slot).depth;
        for k in depth..self.frames.len() {
            let known = self.frames[k].len();
            let result = self.frames[k].touch(slot, column, offset, touch);
            if self.frames[k].len() > known {
                self.bytes_left = match self.bytes_left.checked_sub(CELL_BYTES) {
                    Some(left) => left,
                    None => {
                        return fault(
                            LIMIT,
                            "the check for races exceeds the memory limit of this run".to_owned(),
                        );
                    }
                };
            }
            if let Err(conflict) = result {
                let frame = &self.frames[k];
                let element = self.element_name(slot, offset);
                let var = &self.code.vars[frame.var];
                let message = match conflict {
                    Conflict::Iterations { earlier, now } => format!(
                        "in `{}` iteration {var} = {} {} `{element}` and iteration {var} = {} {} it",
                        frame.header, earlier.0, earlier.1, now.0, now.1
                    ),
                    Conflict::Accumulator => format!(
                        "in `{}` the accumulator `{element}` is used in another way than by its reduction",
                        frame.header
                    ),
                };
                return fault(RACE, message);
            }
        }
        Ok(())
    }

    fn read(&mut self, place: &Place, offset: usize, touch: Touch) -> Run<Value> {
        if !self.frames.is_empty() || !self.flights.is_empty() {
            self.before_access(place.array, place.first_column, offset, touch)?;
        }
        self.tell(place.array, place.first_column, offset, false);
        let array = self.array(place.array);
        if array.written.as_ref().is_some_and(|written| !written[place.first_column][offset]) {
            let message =
                format!("`{}` is read before it is written", self.element_name(place.array, offset));
            return fault(UNINITIALISED, message);
        }
        Ok(array.columns[place.first_column].get(offset))
    }

    fn int(&mut self, node: &Node) -> Run<i64> {
        match node {
            Node::Const(Value::I64(value)) => Ok(*value),
            Node::Var(slot) => Ok(self.vars[*slot]),
            Node::Exact(op, operands) => {
                let (a, b) = (self.int(&operands.0)?, self.int(&operands.1)?);
                if b == 0 && self.c_rules && op.divides() {
                    return Err(undefined(Undefined::DivisionByZero));
                }
                Value::exact(*op, a, b).map_err(undefined)
            }
            _ => match self.eval(node)? {
                Value::I64(value) => Ok(value),
                _ => Err(undefined(Undefined::Types)),
            },
        }
    }

    fn bool(&mut self, node: &Node) -> Run<bool> {
        match self.eval(node)? {
            Value::Bool(value) => Ok(value),
            _ => Err(undefined(Undefined::Types)),
        }
    }

    fn eval(&mut self, node: &Node) -> Run<Value> {
        match node {
            Node::Const(value) => Ok(*value),
            Node::Var(slot) => Ok(Value::I64(self.vars[*slot])),
            Node::Load(place) => {
                let offset = self.offset(place)?;
                self.read(place, offset, Touch::Read)
            }
            Node::Unary(op, operand) => {
                let operand = self.eval(operand)?;
                Value::unary(*op, operand).map_err(undefined)
            }
            Node::Binary(op, operands) => {
                let left = self.eval(&operands.0)?;
                let right = self.eval(&operands.1)?;
                match (op, left, right) {
                    (BinaryOp::Add, Value::F32(a), Value::F32(b)) => Ok(Value::F32(a + b)),
                    (BinaryOp::Mul, Value::F32(a), Value::F32(b)) => Ok(Value::F32(a * b)),
                    (BinaryOp::Add, Value::F64(a), Value::F64(b)) => Ok(Value::F64(a + b)),
                    (BinaryOp::Mul, Value::F64(a), Value::F64(b)) => Ok(Value::F64(a * b)),
                    _ if self.c_rules && op.divides() && right.is_zero_integer() => {
                        Err(undefined(Undefined::DivisionByZero))
                    }
                    _ => Value::binary(*op, left, right).map_err(undefined),
                }
            }
            Node::Exact(..) => self.int(node).map(Value::I64),
            Node::Compare(op, operands) => {
                let left = self.eval(&operands.0)?;
                let right = self.eval(&operands.1)?;
                Value::compare(*op, left, right).map(Value::Bool).map_err(undefined)
            }
            Node::Select(parts) => {
                let chosen = if self.bool(&parts.0)? { &parts.1 } else { &parts.2 };
                self.eval(chosen)
            }
            Node::Cast(ty, operand) => {
                let value = self.eval(operand)?;
                if self.c_rules && !value.fits(*ty) {
                    return Err(undefined(Undefined::Conversion));
                }
                Ok(value.cast(*ty))
            }
            Node::Call(builtin, args) => {
                let mut values = [Value::Bool(false); 3];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = self.eval(arg)?;
                }
                builtin.call(&values[..args.len().min(3)]).map_err(undefined)
            }
        }
    }
}
