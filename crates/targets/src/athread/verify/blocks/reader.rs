//! Resolves the names of a branch's text, and finds the statements of the mapped program that its
//! code is made of.

use std::collections::{BTreeMap, BTreeSet};

use super::super::compute::assigns;
use super::super::read::{Node, Term, pure_function};
use super::super::transfer::name;
use super::super::walk::{CORE, Followed, lost, wrong};
use super::block_text::{Spot, Step, Text, Tiny};
use super::number::{Function, Number, Operation};
use super::plan::Plan;

/// What a name is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number(Number),
    /// Several numbers: the place of the first, and how many.
    Numbers(usize, i64),
    /// A buffer: its address in local memory, and bytes of an element.
    Buffer(Number, i64),
    Register(usize),
    /// An array in main memory.
    Array(usize),
}

/// The text around a branch.
pub(super) struct Around<'a> {
    pub text: &'a str,
    pub names: &'a [String],
    /// Counts of transfers, which are 0.
    pub counts: Vec<String>,
}

pub(super) struct Reader<'a, 'p> {
    pub plan: &'a Plan<'p>,
    pub around: &'a Around<'a>,
    pub scopes: Vec<BTreeMap<String, Kind>>,
    pub functions: BTreeMap<String, Function>,
    pub places: usize,
    /// Buffers that registers were loaded from, and what they were made of since.
    pub loaded: Vec<Option<usize>>,
    pub made: Vec<Option<Vec<Leaf>>>,
    /// Lanes of registers.
    pub lanes: Vec<usize>,
    pub names: Vec<String>,
    pub updates: usize,
    /// Names that are changed after they have a value.
    pub changed: BTreeSet<&'a str>,
    /// Places of names that are not.
    pub fixed: BTreeSet<usize>,
}

/// An element, or as many as a register has, that is read.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub spot: Spot,
    pub buffer: usize,
}

/// Lanes of a register.
pub(super) const LANES: usize = 4;

/// Resolves a branch.
pub(super) fn read<'a>(plan: &'a Plan, around: &'a Around, cond: &Term, body: &'a Node) -> Followed<Text> {
    let mut changed = BTreeSet::new();
    changes(body, &mut changed);
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
        updates: 0,
        changed,
        fixed: BTreeSet::new(),
    };
    let mut given = BTreeMap::new();
    for name in around.names.iter().chain(&around.counts).map(String::as_str).chain([CORE]) {
        let place = reader.place();
        given.insert(name.to_owned(), place);
        reader.scopes[0].insert(name.to_owned(), Kind::Number(Number::At(place)));
    }
    for (k, (name, _)) in plan.arrays.iter().enumerate() {
        reader.scopes[0].insert((*name).to_owned(), Kind::Array(k));
    }
    let cond = reader.number(cond)?;
    let mut steps = Vec::new();
    reader.node(body, &mut steps)?;
    let (places, registers) = (reader.places, reader.lanes.len());
    let updates = reader.updates;
    Ok(Text { steps, cond, places, registers, updates, names: reader.names, given })
}

/// Names that are assigned to.
fn changes<'n>(node: &'n Node, names: &mut BTreeSet<&'n str>) {
    let mut term = |term: &'n Term| match term {
        Term::Binary(op, target, _) if assigns(op) => names.extend(name(target)),
        Term::Unary(op, target) if op == "++" || op == "--" => names.extend(name(target)),
        _ => {}
    };
    match node {
        Node::Do(own) => term(own),
        Node::Block(body) => body.iter().for_each(|n| changes(n, names)),
        Node::If(_, then, otherwise) => {
            changes(then, names);
            otherwise.iter().for_each(|n| changes(n, names));
        }
        Node::For { init, step, body, .. } => {
            step.iter().for_each(term);
            init.iter().for_each(|n| changes(n, names));
            changes(body, names);
        }
        Node::While(_, body) => changes(body, names),
        Node::Declare { .. } => {}
    }
}

/// `base[index]`
pub(super) fn element(term: &Term) -> Option<(&str, &Term)> {
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
    pub fn place(&mut self) -> usize {
        self.places += 1;
        self.places - 1
    }

    pub fn name(&mut self, name: &str) -> usize {
        if let Some(k) = self.names.iter().position(|own| own == name) {
            return k;
        }
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub fn declare(&mut self, name: &str, kind: Kind) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), kind);
        }
    }

    /// Whether a name is another one for a value for as long as there is either.
    pub fn stays(&self, name: &str, value: &Number) -> bool {
        let other = match value {
            Number::Int(_) => true,
            Number::At(place) => self.fixed.contains(place),
            _ => false,
        };
        other && !self.changed.contains(name)
    }

    pub fn register(&mut self, name: &str, lanes: usize) -> usize {
        self.lanes.push(lanes);
        self.loaded.push(None);
        self.made.push(None);
        let register = self.lanes.len() - 1;
        self.declare(name, Kind::Register(register));
        register
    }

    /// A number.
    pub fn number(&mut self, term: &Term) -> Followed<Number> {
        Ok(match term {
            Term::Int(n) => Number::Int(*n),
            Term::Name(name) => match self.kind(name) {
                Some(Kind::Number(number)) => number.clone(),
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
    pub fn function(&mut self, name: &str) -> Followed<Function> {
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
            reader.declare(name, Kind::Number(Number::At(place)));
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
    pub fn local(&mut self, term: &Term) -> Followed<Option<(Number, i64, usize)>> {
        Ok(match term {
            Term::Name(name) if name == "lozenge_ldm" => Some((Number::Int(0), 1, self.name("lozenge_ldm"))),
            Term::Name(name) => match self.kind(name) {
                Some(Kind::Buffer(place, bytes)) => {
                    let (place, bytes) = (place.clone(), *bytes);
                    Some((place, bytes, self.name(name)))
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
    pub fn at(&mut self, name: &str, index: &Term) -> Followed<Option<(Number, i64, usize)>> {
        let Some(Kind::Buffer(place, bytes)) = self.kind(name) else { return Ok(None) };
        let (place, bytes) = (place.clone(), *bytes);
        let more = times(self.number(index)?, bytes);
        Ok(Some((sum(place, more), bytes, self.name(name))))
    }

    pub fn here(&mut self, term: &Term) -> Followed<(Number, usize)> {
        match self.local(term)? {
            Some((at, _, name)) => Ok((at, name)),
            None => lost("an address that is not in local memory"),
        }
    }

    /// An address in main memory: array and element.
    pub fn memory(&mut self, term: &Term) -> Followed<(usize, Number)> {
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
    pub fn leaves(&mut self, term: &Term, found: &mut Vec<Leaf>) -> Followed<()> {
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
    pub fn update(&mut self, target: Spot, buffer: usize, lanes: usize, reads: Vec<Leaf>) -> Followed<Tiny> {
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
                self.updates += 1;
                Ok(Tiny::Update { id: self.updates - 1, rule, target, lanes, reads })
            }
            0 => wrong(format!("computes `{name}` of other buffers than the mapping does")),
            _ => lost(format!("which statement computes `{name}` is not known")),
        }
    }

    /// A value into a register.
    pub fn set(&mut self, register: usize, value: &Term, out: &mut Vec<Step>) -> Followed<()> {
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
}
