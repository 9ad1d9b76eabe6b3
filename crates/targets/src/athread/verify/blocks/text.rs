//! The text of a branch with its names resolved: numbers, buffers, registers, and what it does with them.

use std::collections::BTreeMap;

use super::super::compute::assigns;
use super::super::read::{ARRAY, Node, Term, pure_function};
use super::super::transfer::name;
use super::super::walk::{CORE, Followed, lost, wrong};
use super::number::{Function, Number, Operation};
use super::plan::Plan;

/// What a name is.
#[derive(Clone, Debug)]
enum Kind {
    Number(usize),
    /// Several numbers: the place of the first, and how many.
    Numbers(usize, i64),
    /// A buffer: the place of its address in local memory, and bytes of an element.
    Buffer(usize, i64),
    Register(usize),
    /// An array in main memory.
    Array(usize),
}

/// Where something is read from, or written to.
#[derive(Clone, Debug)]
pub(super) enum Spot {
    Register(usize),
    /// An address in local memory, and the buffer's name.
    Memory(Number, usize),
}

/// What a computing statement does with elements.
#[derive(Clone, Debug)]
pub(super) enum Tiny {
    /// Elements into a register; one to all lanes of it, or as many as it has.
    Load { register: usize, from: Number, lanes: usize, same: bool },
    /// A register into memory, as it is.
    Store { to: Number, buffer: usize, register: usize, lanes: usize },
    /// A statement of the mapped program, by its number; what is read has the number of its access there.
    Update { rule: usize, target: Spot, lanes: usize, reads: Vec<(usize, Spot)> },
}

/// A reply: its name, and which of several.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub name: usize,
    pub index: Number,
}

/// A number that is set: its place, or one of several.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub first: usize,
    pub index: Number,
    pub many: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Transfer {
    pub get: bool,
    pub sent: Target,
    /// What the local side is called.
    pub buffer: usize,
    pub local: Number,
    pub array: usize,
    pub memory: Number,
    /// Rows, columns, pitch and bytes.
    pub shape: Box<[Number; 4]>,
    pub reply: Reply,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Set(usize, Number),
    SetOf(Target, Number),
    /// A name's value is not known from here on.
    Open(usize),
    Zero(Reply),
    Move(Box<Transfer>),
    Wait(Reply, Number),
    Barrier,
    /// To, from, registers.
    Keep(Number, Number, Number),
    /// What, its name, registers, core.
    Take(Number, usize, Number, Number),
    /// With lines of cores.
    Send(Number, usize, [Number; 3]),
    Spread(Number, usize, [Number; 3]),
    If(Number, Vec<Step>, Vec<Step>),
    Loop {
        cond: Number,
        body: Vec<Step>,
        step: Vec<Step>,
    },
    /// A loop that only computes: while what it counts with, and so much more, is below its end.
    Run {
        counter: usize,
        ahead: i64,
        end: Number,
        by: i64,
        body: Vec<Tiny>,
    },
    One(Tiny),
}

/// A branch.
pub(super) struct Text {
    pub steps: Vec<Step>,
    /// The condition that it is under.
    pub cond: Number,
    /// How many places of numbers, and of registers.
    pub places: usize,
    pub registers: usize,
    /// Names of buffers and replies.
    pub names: Vec<String>,
    /// Places of names that are known before.
    pub given: BTreeMap<String, usize>,
}

/// The text around a branch.
pub(super) struct Around<'a> {
    pub text: &'a str,
    pub names: &'a [String],
    /// Counts of transfers, which are 0.
    pub counts: Vec<String>,
}

pub(super) struct Reader<'a, 'p> {
    plan: &'a Plan<'p>,
    around: &'a Around<'a>,
    scopes: Vec<BTreeMap<String, Kind>>,
    functions: BTreeMap<String, Function>,
    places: usize,
    /// Buffers that registers were loaded from, and what they were made of since.
    loaded: Vec<Option<usize>>,
    made: Vec<Option<Vec<Leaf>>>,
    /// Lanes of registers.
    lanes: Vec<usize>,
    names: Vec<String>,
}

/// An element, or as many as a register has, that is read.
#[derive(Clone, Debug)]
struct Leaf {
    spot: Spot,
    buffer: usize,
}

/// Lanes of a register.
const LANES: usize = 4;

/// Resolves a branch.
pub(super) fn read(plan: &Plan, around: &Around, cond: &Term, body: &Node) -> Followed<Text> {
    let mut reader = Reader {
        plan,
        around,
        scopes: vec![BTreeMap::new()],
        functions: BTreeMap::new(),
        places: 0,
        loaded: vec![],
        made: vec![],
        lanes: vec![],
        names: vec![],
    };
    let mut given = BTreeMap::new();
    for name in around.names.iter().chain(&around.counts).map(String::as_str).chain([CORE]) {
        let place = reader.place();
        given.insert(name.to_owned(), place);
        reader.scopes[0].insert(name.to_owned(), Kind::Number(place));
    }
    for (k, (name, _)) in plan.arrays.iter().enumerate() {
        reader.scopes[0].insert((*name).to_owned(), Kind::Array(k));
    }
    let cond = reader.number(cond)?;
    let mut steps = Vec::new();
    reader.node(body, &mut steps)?;
    let (places, registers) = (reader.places, reader.lanes.len());
    Ok(Text { steps, cond, places, registers, names: reader.names, given })
}

/// `base[index]`
fn element(term: &Term) -> Option<(&str, &Term)> {
    match term {
        Term::Index(array, index) => match &**array {
            Term::Name(name) => Some((name, index)),
            _ => None,
        },
        _ => None,
    }
}

fn sum(a: Number, b: Number) -> Number {
    match (&a, &b) {
        (Number::Int(0), _) => b,
        (_, Number::Int(0)) => a,
        _ => Number::two(Operation::Add, a, b),
    }
}

fn times(a: Number, by: i64) -> Number {
    if by == 1 { a } else { Number::two(Operation::Mul, a, Number::Int(by)) }
}

impl Reader<'_, '_> {
    fn place(&mut self) -> usize {
        self.places += 1;
        self.places - 1
    }

    fn name(&mut self, name: &str) -> usize {
        if let Some(k) = self.names.iter().position(|own| own == name) {
            return k;
        }
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    fn kind(&self, name: &str) -> Option<&Kind> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn declare(&mut self, name: &str, kind: Kind) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), kind);
        }
    }

    fn register(&mut self, name: &str, lanes: usize) -> usize {
        self.lanes.push(lanes);
        self.loaded.push(None);
        self.made.push(None);
        let register = self.lanes.len() - 1;
        self.declare(name, Kind::Register(register));
        register
    }

    /// A number.
    fn number(&mut self, term: &Term) -> Followed<Number> {
        Ok(match term {
            Term::Int(n) => Number::Int(*n),
            Term::Name(name) => match self.kind(name) {
                Some(Kind::Number(place)) => Number::At(*place),
                _ => return lost(format!("`{name}` is no number that is known")),
            },
            Term::Index(..) => {
                let Some((name, index)) = element(term) else { return lost("an element of no name") };
                match self.kind(name).cloned() {
                    Some(Kind::Numbers(first, many)) => {
                        Number::Of(first, Box::new(self.number(index)?), many)
                    }
                    _ => return lost(format!("`{name}` does not have numbers that are known")),
                }
            }
            Term::Unary(op, a) => {
                let a = self.number(a)?;
                match op.as_str() {
                    "-" => Number::two(Operation::Sub, Number::Int(0), a),
                    "!" => Number::Not(Box::new(a)),
                    "+" => a,
                    _ => return lost("a change within an expression"),
                }
            }
            Term::Binary(op, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                let (op, a, b) = match op.as_str() {
                    "+" => (Operation::Add, a, b),
                    "-" => (Operation::Sub, a, b),
                    "*" => (Operation::Mul, a, b),
                    "/" => (Operation::Div, a, b),
                    "%" => (Operation::Rem, a, b),
                    "<" => (Operation::Less, a, b),
                    "<=" => (Operation::LessEqual, a, b),
                    ">" => (Operation::Less, b, a),
                    ">=" => (Operation::LessEqual, b, a),
                    "==" => (Operation::Equal, a, b),
                    "!=" => (Operation::Different, a, b),
                    "&&" => (Operation::And, a, b),
                    "||" => (Operation::Or, a, b),
                    _ => return lost("a change within an expression"),
                };
                Number::two(op, a, b)
            }
            Term::Ternary(c, a, b) => {
                Number::Choice(Box::new([self.number(c)?, self.number(a)?, self.number(b)?]))
            }
            Term::Call(function, arguments) => {
                let own: Followed<Vec<Number>> = arguments.iter().map(|a| self.number(a)).collect();
                let own = own?;
                let op = match function.as_str() {
                    "LOZENGE_MIN" => Operation::Min,
                    "LOZENGE_MAX" => Operation::Max,
                    "LOZENGE_FLOOR_DIV" => Operation::FloorDiv,
                    "LOZENGE_MOD" => Operation::Mod,
                    _ => {
                        let function = self.function(function)?;
                        if function.parameters.len() != own.len() {
                            return lost("a function of other numbers than it has names for");
                        }
                        return Ok(Number::Call(Box::new((function, own))));
                    }
                };
                let Ok([a, b]) = <[Number; 2]>::try_from(own) else {
                    return lost("a function of two numbers");
                };
                Number::two(op, a, b)
            }
            Term::Literal | Term::Member(_) => return lost("a number that is not whole"),
        })
    }

    /// A function that the text defines before its kernels.
    fn function(&mut self, name: &str) -> Followed<Function> {
        if let Some(function) = self.functions.get(name) {
            return Ok(function.clone());
        }
        let Some(pure) = pure_function(self.around.text, name) else {
            return lost(format!("what `{name}` is is not known"));
        };
        let outside = std::mem::replace(&mut self.scopes, vec![BTreeMap::new()]);
        if pure.parameters.len() > 4 {
            return lost(format!("`{name}` is of many numbers"));
        }
        let own = |reader: &mut Self, name: &str| {
            let place = reader.place();
            reader.declare(name, Kind::Number(place));
            place
        };
        let parameters = pure.parameters.iter().map(|name| own(self, name)).collect();
        let mut steps = Vec::new();
        for (name, value) in &pure.values {
            let value = self.number(value)?;
            steps.push((own(self, name), value));
        }
        let function = Function { parameters, steps, result: self.number(&pure.result)? };
        self.scopes = outside;
        self.functions.insert(name.to_owned(), function.clone());
        Ok(function)
    }

    /// An address in local memory: bytes, the bytes of an element, and the buffer's name.
    fn local(&mut self, term: &Term) -> Followed<Option<(Number, i64, usize)>> {
        Ok(match term {
            Term::Name(name) if name == "lozenge_ldm" => Some((Number::Int(0), 1, self.name("lozenge_ldm"))),
            Term::Name(name) => match self.kind(name) {
                Some(Kind::Buffer(place, bytes)) => {
                    let (place, bytes) = (*place, *bytes);
                    Some((Number::At(place), bytes, self.name(name)))
                }
                _ => None,
            },
            Term::Unary(op, inner) if op == "&" => match element(inner) {
                Some((name, index)) => self.at(name, index)?,
                None => None,
            },
            Term::Binary(op, a, b) if op == "+" => match self.local(a)? {
                Some((at, bytes, name)) => {
                    let more = times(self.number(b)?, bytes);
                    Some((sum(at, more), bytes, name))
                }
                None => None,
            },
            _ => None,
        })
    }

    /// The address of `name[index]` in local memory.
    fn at(&mut self, name: &str, index: &Term) -> Followed<Option<(Number, i64, usize)>> {
        let Some(Kind::Buffer(place, bytes)) = self.kind(name) else { return Ok(None) };
        let (place, bytes) = (*place, *bytes);
        let more = times(self.number(index)?, bytes);
        Ok(Some((sum(Number::At(place), more), bytes, self.name(name))))
    }

    fn here(&mut self, term: &Term) -> Followed<(Number, usize)> {
        match self.local(term)? {
            Some((at, _, name)) => Ok((at, name)),
            None => lost("an address that is not in local memory"),
        }
    }

    /// An address in main memory: array and element.
    fn memory(&mut self, term: &Term) -> Followed<(usize, Number)> {
        match term {
            Term::Unary(op, inner) if op == "&" => {
                if let Some((name, index)) = element(inner)
                    && let Some(Kind::Array(array)) = self.kind(name)
                {
                    let array = *array;
                    return Ok((array, self.number(index)?));
                }
                lost("a transfer of no array")
            }
            Term::Name(name) => match self.kind(name) {
                Some(Kind::Array(array)) => Ok((*array, Number::Int(0))),
                _ => lost(format!("`{name}` is no array")),
            },
            Term::Binary(op, a, b) if op == "+" => {
                let (array, at) = self.memory(a)?;
                Ok((array, sum(at, self.number(b)?)))
            }
            _ => lost("a transfer of no array"),
        }
    }

    /// What an expression of values reads.
    fn leaves(&mut self, term: &Term, found: &mut Vec<Leaf>) -> Followed<()> {
        match term {
            Term::Int(_) | Term::Literal => Ok(()),
            Term::Name(name) => {
                match self.kind(name) {
                    Some(Kind::Register(register)) => {
                        let register = *register;
                        match (&self.made[register], self.loaded[register]) {
                            (Some(leaves), _) => found.extend(leaves.iter().cloned()),
                            (None, Some(buffer)) => {
                                found.push(Leaf { spot: Spot::Register(register), buffer });
                            }
                            (None, None) => return wrong(format!("uses `{name}` before it has a value")),
                        }
                    }
                    Some(Kind::Buffer(..) | Kind::Array(_) | Kind::Numbers(..)) => {
                        return lost(format!("`{name}` as a value"));
                    }
                    // A scalar of the program.
                    Some(Kind::Number(_)) | None => {}
                }
                Ok(())
            }
            Term::Index(..) => {
                let Some((name, index)) = element(term) else { return lost("an element of no name") };
                if let Some(Kind::Array(_)) = self.kind(name) {
                    return wrong(format!("reaches `{name}` in main memory without a transfer"));
                }
                let Some((at, _, buffer)) = self.at(name, index)? else {
                    return lost(format!("`{name}` is no buffer"));
                };
                found.push(Leaf { spot: Spot::Memory(at, buffer), buffer });
                Ok(())
            }
            Term::Unary(op, a) if op != "&" && op != "++" && op != "--" => self.leaves(a, found),
            Term::Binary(op, a, b) if !assigns(op) => {
                self.leaves(a, found)?;
                self.leaves(b, found)
            }
            Term::Ternary(c, a, b) => [c, a, b].into_iter().try_for_each(|t| self.leaves(t, found)),
            Term::Call(_, arguments) => arguments.iter().try_for_each(|a| self.leaves(a, found)),
            _ => lost("a value in another form"),
        }
    }

    /// The statement of the mapped program that some code is an instance of.
    fn update(&self, target: Spot, buffer: usize, lanes: usize, reads: Vec<Leaf>) -> Followed<Tiny> {
        let name = &self.names[buffer];
        let mut own = Vec::new();
        for (k, rule) in self.plan.rules.iter().enumerate() {
            if rule.target.buffer != *name {
                continue;
            }
            let reads: Option<Vec<(usize, Spot)>> = reads
                .iter()
                .map(|leaf| {
                    let read = &self.names[leaf.buffer];
                    let other = rule.reads.iter().position(|r| r.buffer == *read).map(|r| r + 1);
                    let own = (rule.updates && read == name).then_some(0);
                    Some((own.or(other)?, leaf.spot.clone()))
                })
                .collect();
            let Some(reads) = reads else { continue };
            let all = (usize::from(!rule.updates)..=rule.reads.len()).all(|r| reads.iter().any(|x| x.0 == r));
            if all {
                own.push((k, reads));
            }
        }
        match own.len() {
            1 => {
                let (rule, reads) = own.remove(0);
                Ok(Tiny::Update { rule, target, lanes, reads })
            }
            0 => wrong(format!("computes `{name}` of other buffers than the mapping does")),
            _ => lost(format!("which statement computes `{name}` is not known")),
        }
    }

    /// A value into a register.
    fn set(&mut self, register: usize, value: &Term, out: &mut Vec<Step>) -> Followed<()> {
        let lanes = self.lanes[register];
        if let Term::Index(..) = value {
            let mut leaves = Vec::new();
            self.leaves(value, &mut leaves)?;
            if let [Leaf { spot: Spot::Memory(from, _), buffer }] = leaves.as_slice() {
                if lanes != 1 {
                    return lost("a vector of one element");
                }
                self.loaded[register] = Some(*buffer);
                self.made[register] = None;
                out.push(Step::One(Tiny::Load { register, from: from.clone(), lanes, same: false }));
                return Ok(());
            }
        }
        let mut leaves = Vec::new();
        self.leaves(value, &mut leaves)?;
        match self.loaded[register] {
            Some(buffer) => {
                out.push(Step::One(self.update(Spot::Register(register), buffer, lanes, leaves)?));
            }
            None => self.made[register] = Some(leaves),
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, out: &mut Vec<Step>) -> Followed<()> {
        match node {
            Node::Block(body) => {
                self.scopes.push(BTreeMap::new());
                body.iter().try_for_each(|n| self.node(n, out))?;
                self.scopes.pop();
                Ok(())
            }
            Node::If(cond, then, otherwise) => {
                let cond = self.number(cond)?;
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.inside(then, &mut yes)?;
                if let Some(otherwise) = otherwise {
                    self.inside(otherwise, &mut no)?;
                }
                out.push(Step::If(cond, yes, no));
                Ok(())
            }
            Node::For { init, cond: Some(cond), step, body } => {
                self.scopes.push(BTreeMap::new());
                init.iter().try_for_each(|n| self.node(n, out))?;
                let (mut inner, mut steps) = (Vec::new(), Vec::new());
                self.inside(body, &mut inner)?;
                for term in step {
                    self.act(term, &mut steps)?;
                }
                let run = self.run(cond, &steps, &inner)?;
                out.push(match run {
                    Some(run) => run,
                    None => Step::Loop { cond: self.number(cond)?, body: inner, step: steps },
                });
                self.scopes.pop();
                Ok(())
            }
            Node::For { .. } | Node::While(..) => lost("a loop that is not counted"),
            Node::Declare { name, ty, value } => self.declaration(name, ty, value.as_ref(), out),
            Node::Do(term) => self.act(term, out),
        }
    }

    fn inside(&mut self, node: &Node, out: &mut Vec<Step>) -> Followed<()> {
        self.scopes.push(BTreeMap::new());
        self.node(node, out)?;
        self.scopes.pop();
        Ok(())
    }

    /// A loop that only computes, if it is one.
    fn run(&mut self, cond: &Term, step: &[Step], body: &[Step]) -> Followed<Option<Step>> {
        let Term::Binary(op, left, end) = cond else { return Ok(None) };
        let tiny = |s: &Step| match s {
            Step::One(tiny) => Some(tiny.clone()),
            _ => None,
        };
        let Some(body) = body.iter().map(tiny).collect::<Option<Vec<Tiny>>>() else { return Ok(None) };
        let [Step::Set(counter, next)] = step else { return Ok(None) };
        let by = match next {
            Number::Two(Operation::Add, both) => match &**both {
                [Number::At(own), Number::Int(by)] if own == counter && *by > 0 => *by,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let ahead = match self.number(left)? {
            Number::At(own) if own == *counter => 0,
            Number::Two(Operation::Add, both) => match &*both {
                [Number::At(own), Number::Int(ahead)] if own == counter => *ahead,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let end = self.number(end)?;
        if op != "<" || end.has(*counter) || body.is_empty() {
            return Ok(None);
        }
        Ok(Some(Step::Run { counter: *counter, ahead, end, by, body }))
    }

    fn declaration(
        &mut self,
        name: &str,
        ty: &str,
        value: Option<&Term>,
        out: &mut Vec<Step>,
    ) -> Followed<()> {
        if let Some(Term::Call(function, length)) = value
            && function == ARRAY
        {
            let [Term::Int(many @ 1..=1000)] = length.as_slice() else {
                return lost(format!("how many `{name}` has is not known"));
            };
            let first = self.places;
            self.places += *many as usize;
            self.declare(name, Kind::Numbers(first, *many));
            return Ok(());
        }
        match ty {
            "long" | "int" => {
                let value = value.map(|v| self.number(v)).transpose()?;
                let place = self.place();
                self.declare(name, Kind::Number(place));
                out.push(match value {
                    Some(value) => Step::Set(place, value),
                    None => Step::Open(place),
                });
                Ok(())
            }
            "doublev4" | "floatv4" | "double" | "float" => {
                if let Some(value) = value
                    && let Some((at, ..)) = self.local(value)?
                {
                    let place = self.place();
                    let bytes = match ty {
                        "double" => 8,
                        "float" => 4,
                        _ => return lost("a buffer of vectors"),
                    };
                    self.declare(name, Kind::Buffer(place, bytes));
                    out.push(Step::Set(place, at));
                    return Ok(());
                }
                let lanes = if ty.ends_with("v4") { LANES } else { 1 };
                let register = self.register(name, lanes);
                value.map_or(Ok(()), |value| self.set(register, value, out))
            }
            _ => lost(format!("`{name}` is of another kind")),
        }
    }

    fn reply(&mut self, term: &Term) -> Followed<Reply> {
        let inner = match term {
            Term::Unary(op, inner) if op == "&" => inner,
            other => other,
        };
        match (element(inner), inner) {
            (Some((own, index)), _) => {
                let index = self.number(index)?;
                Ok(Reply { name: self.name(own), index })
            }
            (None, inner) => match name(inner) {
                Some(own) => Ok(Reply { name: self.name(own), index: Number::Int(0) }),
                None => lost("a reply without a name"),
            },
        }
    }

    fn target(&mut self, term: &Term) -> Followed<Option<Target>> {
        if let Term::Name(name) = term
            && let Some(Kind::Number(place)) = self.kind(name)
        {
            return Ok(Some(Target { first: *place, index: Number::Int(0), many: 1 }));
        }
        if let Some((name, index)) = element(term)
            && let Some(Kind::Numbers(first, many)) = self.kind(name).cloned()
        {
            return Ok(Some(Target { first, index: self.number(index)?, many }));
        }
        Ok(None)
    }

    /// A statement.
    fn act(&mut self, term: &Term, out: &mut Vec<Step>) -> Followed<()> {
        match term {
            Term::Name(_) | Term::Int(_) => Ok(()),
            Term::Unary(op, a) if op == "++" || op == "--" => {
                let by = Number::Int(if op == "++" { 1 } else { -1 });
                let Some(Target { first, index: Number::Int(0), many: 1 }) = self.target(a)? else {
                    return lost("a count of something else");
                };
                out.push(Step::Set(first, Number::two(Operation::Add, Number::At(first), by)));
                Ok(())
            }
            Term::Binary(op, target, value) if assigns(op) => self.assign(op, target, value, out),
            Term::Call(function, arguments) => self.call(function, arguments, out),
            _ => lost("a statement in another form"),
        }
    }

    fn assign(&mut self, op: &str, target: &Term, value: &Term, out: &mut Vec<Step>) -> Followed<()> {
        if let (Term::Call(function, arguments), "+=") = (value, op)
            && matches!(function.as_str(), "get_box" | "put_box")
        {
            let Some(sent) = self.target(target)? else { return lost("transfers that are not counted") };
            return self.transfer(function == "get_box", sent, target, arguments, out);
        }
        if let Some(to) = self.target(target)? {
            // `sent = reply = 0`
            if let Term::Binary(also, reply, zero) = value
                && assigns(also)
            {
                if op != "=" || also != "=" || **zero != Term::Int(0) {
                    return lost("replies that are not set to 0");
                }
                let reply = self.reply(reply)?;
                out.push(Step::Zero(reply));
                out.push(Step::SetOf(to, Number::Int(0)));
                return Ok(());
            }
            let value = self.number(value)?;
            let before = || Number::Of(to.first, Box::new(to.index.clone()), to.many);
            let value = match op {
                "=" => value,
                "+=" => Number::two(Operation::Add, before(), value),
                "-=" => Number::two(Operation::Sub, before(), value),
                _ => return lost("a number that is changed in another way"),
            };
            if to.many == 1 {
                let value = match value {
                    Number::Two(op, mut both) if matches!(both[0], Number::Of(..)) => {
                        both[0] = Number::At(to.first);
                        Number::Two(op, both)
                    }
                    other => other,
                };
                out.push(Step::Set(to.first, value));
            } else {
                out.push(Step::SetOf(to, value));
            }
            return Ok(());
        }
        if let Term::Name(name) = target
            && let Some(Kind::Register(register)) = self.kind(name)
        {
            let register = *register;
            if op == "=" {
                return self.set(register, value, out);
            }
            let whole = Term::Binary(op[..1].to_owned(), Box::new(target.clone()), Box::new(value.clone()));
            return self.set(register, &whole, out);
        }
        if let Some((name, index)) = element(target) {
            if let Some(Kind::Array(_)) = self.kind(name) {
                return wrong(format!("reaches `{name}` in main memory without a transfer"));
            }
            if let Some((to, _, buffer)) = self.at(name, index)? {
                let mut leaves = Vec::new();
                if op != "=" {
                    self.leaves(target, &mut leaves)?;
                }
                self.leaves(value, &mut leaves)?;
                let plain = matches!(value, Term::Name(_));
                return self.store(to, buffer, 1, leaves, plain && op == "=", out);
            }
            // `reply[k] = 0`
            if op == "=" && *value == Term::Int(0) {
                let reply = self.reply(target)?;
                out.push(Step::Zero(reply));
                return Ok(());
            }
        }
        if let (Term::Name(_), "=", Term::Int(0)) = (target, op, value) {
            let reply = self.reply(target)?;
            out.push(Step::Zero(reply));
            return Ok(());
        }
        lost("an assignment in another form")
    }

    fn store(
        &mut self,
        to: Number,
        buffer: usize,
        lanes: usize,
        leaves: Vec<Leaf>,
        plain: bool,
        out: &mut Vec<Step>,
    ) -> Followed<()> {
        if let ([Leaf { spot: Spot::Register(register), .. }], true) = (leaves.as_slice(), plain) {
            let register = *register;
            if self.lanes[register] != lanes {
                return lost("a register that is stored as another");
            }
            out.push(Step::One(Tiny::Store { to, buffer, register, lanes }));
            return Ok(());
        }
        let update = self.update(Spot::Memory(to, buffer), buffer, lanes, leaves)?;
        out.push(Step::One(update));
        Ok(())
    }

    fn transfer(
        &mut self,
        get: bool,
        sent: Target,
        counted: &Term,
        arguments: &[Term],
        out: &mut Vec<Step>,
    ) -> Followed<()> {
        let [local, memory, rows, columns, pitch, bytes, reply] = arguments else {
            return lost("a transfer in another form");
        };
        let own = match element(counted) {
            Some((name, _)) => Some(name),
            None => name(counted),
        };
        let tag = match reply {
            Term::Unary(_, inner) => element(inner).map(|e| e.0).or(name(inner)),
            _ => None,
        };
        let (Some(own), Some(tag)) = (own, tag) else { return lost("a transfer without a reply") };
        if own != format!("{tag}_sent") {
            return wrong(format!("counts a transfer of `{tag}` in `{own}`"));
        }
        let Some((local, _, mut buffer)) = self.local(local)? else {
            return lost("a transfer of no buffer");
        };
        let (array, memory) = self.memory(memory)?;
        if self.names[buffer] == "lozenge_ldm" {
            buffer = self.name(self.plan.arrays[array].0);
        }
        let mut shape = Vec::new();
        for term in [rows, columns, pitch, bytes] {
            shape.push(self.number(term)?);
        }
        let Ok(shape) = <[Number; 4]>::try_from(shape) else { return lost("a transfer in another form") };
        let reply = self.reply(reply)?;
        let shape = Box::new(shape);
        out.push(Step::Move(Box::new(Transfer { get, sent, buffer, local, array, memory, shape, reply })));
        Ok(())
    }

    fn call(&mut self, function: &str, arguments: &[Term], out: &mut Vec<Step>) -> Followed<()> {
        match (function, arguments) {
            ("emulated_compute", _) => Ok(()),
            ("WAIT", [reply, count]) => {
                let reply = self.reply(reply)?;
                let count = self.number(count)?;
                out.push(Step::Wait(reply, count));
                Ok(())
            }
            ("BARRIER", []) => {
                out.push(Step::Barrier);
                Ok(())
            }
            ("keep_columns", [to, from, words]) => {
                let (to, _) = self.here(to)?;
                let (from, _) = self.here(from)?;
                let words = self.number(words)?;
                out.push(Step::Keep(to, from, words));
                Ok(())
            }
            ("take_columns", [to, words, core]) => {
                let (to, name) = self.here(to)?;
                let (words, core) = (self.number(words)?, self.number(core)?);
                out.push(Step::Take(to, name, words, core));
                Ok(())
            }
            ("send_columns" | "spread_columns", [what, words, core, lines]) => {
                let (what, name) = self.here(what)?;
                let rest = [self.number(words)?, self.number(core)?, self.number(lines)?];
                out.push(match function {
                    "send_columns" => Step::Send(what, name, rest),
                    _ => Step::Spread(what, name, rest),
                });
                Ok(())
            }
            ("simd_load" | "simd_loadu" | "simd_loade", [register, from]) => {
                let Some(Kind::Register(own)) = name(register).and_then(|name| self.kind(name)) else {
                    return lost("a load to no register");
                };
                let own = *own;
                let (from, buffer) = self.here(from)?;
                self.loaded[own] = Some(buffer);
                self.made[own] = None;
                let lanes = self.lanes[own];
                out.push(Step::One(Tiny::Load {
                    register: own,
                    from,
                    lanes,
                    same: function == "simd_loade",
                }));
                Ok(())
            }
            ("simd_store" | "simd_storeu", [value, to]) => {
                let (to, buffer) = self.here(to)?;
                let mut leaves = Vec::new();
                self.leaves(value, &mut leaves)?;
                let plain = match value {
                    Term::Name(name) => match self.kind(name) {
                        Some(Kind::Register(register)) => self.made[*register].is_none(),
                        _ => false,
                    },
                    _ => false,
                };
                self.store(to, buffer, LANES, leaves, plain, out)
            }
            _ => lost(format!("`{function}` in panels of columns")),
        }
    }
}
