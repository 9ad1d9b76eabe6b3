//! The text of a branch with its names resolved: numbers, buffers, registers, and what it does with
//! them.

use std::collections::BTreeMap;

use super::number::Number;

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
    /// A statement of the mapped program, by its number; what is read has the number of its access
    /// there. It has a number among all in the text.
    Update { id: usize, rule: usize, target: Spot, lanes: usize, reads: Vec<(usize, Spot)> },
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
    pub updates: usize,
    /// Names of buffers and replies.
    pub names: Vec<String>,
    /// Places of names that are known before.
    pub given: BTreeMap<String, usize>,
}

impl Text {
    /// The same, faster to follow.
    pub fn flat(mut self) -> Text {
        self.steps.iter_mut().for_each(Step::flat);
        self
    }
}

impl Step {
    fn flat(&mut self) {
        let own = |n: &mut Number| *n = n.flat();
        match self {
            Step::Set(_, n) => own(n),
            Step::SetOf(target, n) => {
                own(&mut target.index);
                own(n);
            }
            Step::Open(_) | Step::Barrier => {}
            Step::Zero(reply) => own(&mut reply.index),
            Step::Move(t) => {
                t.shape.iter_mut().for_each(own);
                [&mut t.local, &mut t.memory, &mut t.reply.index, &mut t.sent.index]
                    .into_iter()
                    .for_each(own);
            }
            Step::Wait(reply, n) => {
                own(&mut reply.index);
                own(n);
            }
            Step::Keep(a, b, c) => [a, b, c].into_iter().for_each(own),
            Step::Take(at, _, words, core) => [at, words, core].into_iter().for_each(own),
            Step::Send(at, _, rest) | Step::Spread(at, _, rest) => {
                own(at);
                rest.iter_mut().for_each(own);
            }
            Step::If(cond, yes, no) => {
                own(cond);
                yes.iter_mut().chain(no).for_each(Step::flat);
            }
            Step::Loop { cond, body, step } => {
                own(cond);
                body.iter_mut().chain(step).for_each(Step::flat);
            }
            Step::Run { end, body, .. } => {
                own(end);
                body.iter_mut().for_each(Tiny::flat);
            }
            Step::One(tiny) => tiny.flat(),
        }
    }
}

impl Tiny {
    fn flat(&mut self) {
        let own = |spot: &mut Spot| {
            if let Spot::Memory(n, _) = spot {
                *n = n.flat();
            }
        };
        match self {
            Tiny::Load { from: n, .. } | Tiny::Store { to: n, .. } => *n = n.flat(),
            Tiny::Update { target, reads, .. } => {
                own(target);
                reads.iter_mut().for_each(|(_, spot)| own(spot));
            }
        }
    }
}
