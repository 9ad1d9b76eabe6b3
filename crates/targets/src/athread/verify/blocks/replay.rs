//! One core follows the text with numbers: what each element of local memory holds, which transfers
//! are running, and what has been transferred out.

use std::collections::BTreeMap;

use super::super::walk::{Followed, lost, wrong};
use super::block_text::{Reply, Step, Target, Text, Transfer};
use super::instances::Grown;
use super::number::Number;
use super::plan::{Numbers, Plan};

/// Bytes of a register.
const REGISTER: i64 = 32;
/// What an element holds while a transfer into it is running.
pub(super) const COMING: u64 = u64::MAX;
/// Steps of a core at most.
pub(super) const STEPS: usize = 10_000_000;

/// What an element of local memory holds: an element of an array that has been changed so often.
pub(super) fn held(array: usize, element: i64, stage: i64) -> u64 {
    ((array as u64 + 1) << 56) | ((stage as u64) << 32) | element as u64
}

pub(super) fn array_of(held: u64) -> Option<usize> {
    (held != 0 && held != COMING).then(|| (held >> 56) as usize - 1)
}

pub(super) fn element_of(held: u64) -> i64 {
    (held & 0xffff_ffff) as i64
}

/// What all cores have to come to alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Take(i64),
    Send(i64),
    Spread(i64),
    Barrier,
}

/// A running transfer.
pub(super) struct Flight {
    pub reply: (usize, i64),
    pub get: bool,
    /// Its first element in local memory, and what is behind the last.
    pub local: (usize, usize),
    array: usize,
    from: i64,
    rows: i64,
    columns: i64,
    pitch: i64,
}

impl Flight {
    /// Whether it moves an element of some rows of an array.
    fn meets(&self, array: usize, from: i64, rows: i64, columns: i64, pitch: i64) -> bool {
        let mine = (0..self.rows).map(|r| self.from + r * self.pitch);
        self.array == array
            && mine
                .into_iter()
                .any(|a| (0..rows).map(|r| from + r * pitch).any(|b| a < b + columns && b < a + self.columns))
    }
}

/// What is known of the replies and the memory outside of the branch.
pub(super) struct Outside {
    /// Bytes of local memory.
    pub local: i64,
    /// Replies that are several: how many.
    pub several: BTreeMap<String, i64>,
    /// Replies that are 0 before.
    pub ready: Vec<String>,
}

/// The exchanges and barriers that a core has executed.
pub(super) struct Way {
    pub events: Vec<Event>,
    /// What went to all cores.
    pub spread: Vec<Vec<u64>>,
}

pub(super) struct Core<'a> {
    pub text: &'a Text,
    pub plan: &'a Plan<'a>,
    pub numbers: &'a Numbers,
    outside: &'a Outside,
    /// Its number, and its place in the line.
    core: i64,
    place: i64,
    /// What the last core has sent to all; none for that core itself.
    heard: Option<&'a [Vec<u64>]>,
    pub places: Vec<Option<i64>>,
    pub registers: Vec<[u64; 4]>,
    pub memory: Vec<u64>,
    /// Elements of local memory that are part of a transfer.
    pub busy: Vec<bool>,
    pub flights: Vec<Flight>,
    replies: BTreeMap<(usize, i64), i64>,
    /// How often elements have been changed that are brought out, in main memory.
    out: Vec<(usize, i64, Vec<u32>)>,
    /// Sums that were taken from the core before, and those that went on.
    taken: i64,
    sent: i64,
    /// Whether some cores may still wait for what went to all.
    waiting: bool,
    way: Way,
    pub steps: usize,
    /// Elements in a loop that only computes, with their steps.
    pub moves: Vec<(usize, usize)>,
    pub grown: Vec<Grown>,
    pub solved: Vec<i64>,
    pub elements: Vec<Option<i64>>,
}

impl<'a> Core<'a> {
    pub fn new(
        (text, plan, outside): (&'a Text, &'a Plan<'a>, &'a Outside),
        numbers: &'a Numbers,
        sizes: &BTreeMap<String, i64>,
        (core, place): (i64, i64),
        heard: Option<&'a [Vec<u64>]>,
    ) -> Core<'a> {
        let mut places = vec![None; text.places];
        for (name, place) in &text.given {
            places[*place] = sizes.get(name).copied().or((name != super::super::walk::CORE).then_some(0));
        }
        if let Some(own) = text.given.get(super::super::walk::CORE) {
            places[*own] = Some(core);
        }
        let many = (outside.local / plan.element.max(1)) as usize;
        let mut replies = BTreeMap::new();
        for ready in &outside.ready {
            if let Some(k) = text.names.iter().position(|name| name == ready) {
                replies.insert((k, 0), 0);
            }
        }
        let out = numbers.owned.iter().map(|r| (r.array, r.from, vec![0; (r.to - r.from) as usize]));
        Core {
            text,
            plan,
            numbers,
            outside,
            core,
            place,
            heard,
            places,
            registers: vec![[0; 4]; text.registers],
            memory: vec![0; many],
            busy: vec![false; many],
            flights: vec![],
            replies,
            out: out.collect(),
            taken: 0,
            sent: 0,
            waiting: false,
            way: Way { events: vec![], spread: vec![] },
            steps: 0,
            moves: vec![],
            grown: (0..text.updates).map(|_| Grown::default()).collect(),
            solved: vec![],
            elements: vec![],
        }
    }

    /// Whether the condition holds under which the branch is taken.
    pub fn taken(&mut self) -> Option<bool> {
        self.text.cond.value(&mut self.places).map(|n| n != 0)
    }

    /// Follows the branch to its end.
    pub fn follow(mut self) -> Followed<Way> {
        let text = self.text;
        self.all(&text.steps)?;
        if let Some(flight) = self.flights.first() {
            return wrong(format!("ends without waiting for `{}`", self.text.names[flight.reply.0]));
        }
        if self.waiting {
            return wrong("leaves panels while some cores may still wait for sums".to_owned());
        }
        let array = |k: usize| self.plan.arrays[k].0;
        if self.sent != self.numbers.totals[self.numbers.sums] {
            return wrong(format!("does not hand all sums of `{}` on", array(self.numbers.sums)));
        }
        for (k, _, stages) in &self.out {
            if stages.iter().any(|s| i64::from(*s) != self.numbers.finals[*k]) {
                return wrong(format!("does not bring out all of `{}`", array(*k)));
            }
        }
        Ok(self.way)
    }

    fn number(&mut self, number: &Number) -> Followed<i64> {
        match number.value(&mut self.places) {
            Some(n) => Ok(n),
            None => wrong("counts with a number that has no value".to_owned()),
        }
    }

    fn all(&mut self, steps: &'a [Step]) -> Followed<()> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &'a Step) -> Followed<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return lost("panels that take too long to follow");
        }
        match step {
            Step::Set(place, value) => {
                self.places[*place] = Some(self.number(value)?);
                Ok(())
            }
            Step::Open(place) => {
                self.places[*place] = None;
                Ok(())
            }
            Step::SetOf(target, value) => {
                let value = self.number(value)?;
                self.set(target, value)
            }
            Step::Zero(reply) => {
                let key = self.reply(reply)?;
                if self.flights.iter().any(|f| f.reply == key) {
                    return wrong(format!("sets `{}` to 0 while it is on its way", self.text.names[key.0]));
                }
                self.replies.insert(key, 0);
                Ok(())
            }
            Step::Move(transfer) => self.moves(transfer),
            Step::Wait(reply, count) => self.wait(reply, count),
            Step::Barrier => {
                self.waiting = false;
                self.way.events.push(Event::Barrier);
                Ok(())
            }
            Step::Keep(to, from, words) => {
                let (to, from, words) = (self.number(to)?, self.number(from)?, self.number(words)?);
                let (to, from) = (self.some(to, words)?, self.some(from, words)?);
                if self.memory[from.clone()].contains(&COMING) {
                    return wrong("keeps elements that are on their way in".to_owned());
                }
                self.free(to.clone(), "keeps elements where others are on their way")?;
                self.memory.copy_within(from, to.start);
                Ok(())
            }
            Step::Take(to, name, words, core) => self.take(to, *name, words, core),
            Step::Send(from, name, rest) => self.send(from, *name, rest),
            Step::Spread(all, name, rest) => self.spread(all, *name, rest),
            Step::If(cond, yes, no) => {
                let way = if self.number(cond)? != 0 { yes } else { no };
                self.all(way)
            }
            Step::Loop { cond, body, step } => {
                while self.number(cond)? != 0 {
                    self.all(body)?;
                    self.all(step)?;
                    self.steps += 1;
                    if self.steps > STEPS {
                        return lost("panels that take too long to follow");
                    }
                }
                Ok(())
            }
            Step::Run { counter, ahead, end, by, body } => {
                let end = self.number(end)?;
                let first = self.number(&Number::At(*counter))?;
                let trips = end.saturating_sub(first).saturating_add(by - 1 - ahead).max(0) / by;
                if trips > 0 {
                    self.run(body, Some((*counter, *by)), trips)?;
                    self.places[*counter] = Some(first + trips * by);
                }
                Ok(())
            }
            Step::One(tiny) => self.run(std::slice::from_ref(tiny), None, 1),
        }
    }

    fn set(&mut self, target: &Target, value: i64) -> Followed<()> {
        let index = self.number(&target.index)?;
        if !(0..target.many).contains(&index) {
            return wrong("counts with a number that is not there".to_owned());
        }
        self.places[target.first + index as usize] = Some(value);
        Ok(())
    }

    fn reply(&mut self, reply: &Reply) -> Followed<(usize, i64)> {
        let index = self.number(&reply.index)?;
        let name = &self.text.names[reply.name];
        let many = self.outside.several.get(name).copied().unwrap_or(1);
        if !(0..many).contains(&index) {
            return wrong(format!("uses a reply beyond those of `{name}`"));
        }
        Ok((reply.name, index))
    }

    /// Elements of some registers from an address on.
    fn some(&self, at: i64, words: i64) -> Followed<std::ops::Range<usize>> {
        self.range(at, words.saturating_mul(REGISTER / self.plan.element))
    }

    pub fn range(&self, at: i64, many: i64) -> Followed<std::ops::Range<usize>> {
        let element = self.plan.element;
        let first = at / element;
        if at < 0 || at % element != 0 || many < 0 || first.saturating_add(many) > self.memory.len() as i64 {
            return wrong("reaches beyond its local memory, or between elements".to_owned());
        }
        Ok(first as usize..(first + many) as usize)
    }

    fn free(&self, range: std::ops::Range<usize>, what: &str) -> Followed<()> {
        if self.busy[range].contains(&true) { wrong(what.to_owned()) } else { Ok(()) }
    }

    fn wait(&mut self, reply: &Reply, count: &Number) -> Followed<()> {
        let key = self.reply(reply)?;
        let count = self.number(count)?;
        let name = &self.text.names[key.0];
        let Some(all) = self.replies.get(&key) else {
            return wrong(format!("uses the reply `{name}` before it is 0"));
        };
        if *all != count {
            return wrong(format!("waits for `{name}` with another count"));
        }
        let (done, rest): (Vec<Flight>, Vec<Flight>) =
            std::mem::take(&mut self.flights).into_iter().partition(|f| f.reply == key);
        self.flights = rest;
        for flight in done {
            if flight.get {
                let mut at = flight.local.0;
                for row in 0..flight.rows {
                    let from = flight.from + row * flight.pitch;
                    for k in 0..flight.columns {
                        self.memory[at] = held(flight.array, from + k, self.outcome(flight.array, from + k));
                        at += 1;
                    }
                }
            }
            self.busy[flight.local.0..flight.local.1].fill(false);
        }
        // Others may move the same.
        for flight in &self.flights {
            self.busy[flight.local.0..flight.local.1].fill(true);
        }
        Ok(())
    }

    /// How often an element in main memory has been changed.
    fn outcome(&self, array: usize, element: i64) -> i64 {
        for (own, from, stages) in &self.out {
            if *own == array && (*from..*from + stages.len() as i64).contains(&element) {
                return i64::from(stages[(element - from) as usize]);
            }
        }
        0
    }

    fn moves(&mut self, t: &Transfer) -> Followed<()> {
        let [rows, columns, pitch, bytes] = [0, 1, 2, 3].map(|k| self.number(&t.shape[k]));
        let (rows, columns, pitch, bytes) = (rows?, columns?, pitch?, bytes?);
        let (local, from, key) = (self.number(&t.local)?, self.number(&t.memory)?, self.reply(&t.reply)?);
        let (buffer, tag) = (&self.text.names[t.buffer], &self.text.names[key.0]);
        let array = self.plan.arrays[t.array].0;
        let Some(all) = self.replies.get_mut(&key) else {
            return wrong(format!("uses the reply `{tag}` before it is 0"));
        };
        if bytes != self.plan.element {
            return wrong(format!("moves elements of `{buffer}` with another size"));
        }
        if rows <= 0 || columns <= 0 {
            return Ok(());
        }
        *all += 1;
        let range = self.range(local, rows.saturating_mul(columns))?;
        let last = (rows - 1).saturating_mul(pitch).saturating_add(from).saturating_add(columns);
        if from < 0 || last > self.numbers.totals[t.array] || (rows > 1 && pitch < columns) {
            return wrong(format!("moves elements beyond the end of `{array}`"));
        }
        for other in &self.flights {
            let meets = other.local.0 < range.end && range.start < other.local.1;
            if meets && (t.get || other.get) {
                let what = if t.get { "fills" } else { "brings out" };
                let way = if other.get { "in" } else { "out" };
                let tag = &self.text.names[other.reply.0];
                return wrong(format!("{what} `{buffer}` while `{tag}` is on its way {way}"));
            }
            if other.get != t.get && other.meets(t.array, from, rows, columns, pitch) {
                return wrong(format!("moves elements of `{array}` in and out at the same time"));
            }
        }
        if t.get {
            self.memory[range.clone()].fill(COMING);
        } else {
            let mut at = range.start;
            for row in 0..rows {
                for k in 0..columns {
                    self.bring_out(t, at, from + row * pitch + k)?;
                    at += 1;
                }
            }
        }
        self.busy[range.clone()].fill(true);
        let local = (range.start, range.end);
        self.flights.push(Flight {
            reply: key,
            get: t.get,
            local,
            array: t.array,
            from,
            rows,
            columns,
            pitch,
        });
        let index = self.number(&t.sent.index)?;
        let before = self.number(&Number::Of(t.sent.first, Box::new(Number::Int(index)), t.sent.many))?;
        self.set(&t.sent, before + 1)
    }

    fn bring_out(&mut self, t: &Transfer, at: usize, element: i64) -> Followed<()> {
        let done = self.numbers.finals[t.array];
        let (buffer, array) = (&self.text.names[t.buffer], self.plan.arrays[t.array].0);
        let own = self.memory[at];
        if own != held(t.array, element, done) {
            if own == COMING {
                return wrong(format!("brings out `{buffer}` while it is on its way in"));
            }
            if array_of(own) == Some(t.array) && element_of(own) == element {
                return wrong(format!("brings out `{buffer}` before it is done"));
            }
            return wrong(format!("brings `{buffer}` to another place of `{array}` than the mapping"));
        }
        for (own, from, stages) in &mut self.out {
            if *own == t.array && (*from..*from + stages.len() as i64).contains(&element) {
                stages[(element - *from) as usize] = done as u32;
                return Ok(());
            }
        }
        wrong(format!("brings out what another core has of `{array}`"))
    }

    /// How many sums come next in a call of so many registers.
    fn next(&self, done: i64, words: i64, name: usize) -> Followed<i64> {
        match self.numbers.ends.iter().find(|end| **end > done) {
            Some(end) => Ok((end - done).min(words.saturating_mul(REGISTER / self.plan.element)).max(0)),
            None => wrong(format!("hands on more of `{}` than there is", self.text.names[name])),
        }
    }

    /// All cores take part in an exchange, as those that they are.
    fn among(&mut self, core: &Number, lines: Option<&Number>) -> Followed<()> {
        if self.number(core)? != self.core {
            return wrong("hands sums on as another core".to_owned());
        }
        if let Some(lines) = lines
            && self.number(lines)?.saturating_mul(8) != self.plan.cores
        {
            return wrong("hands sums on among other cores than those that run".to_owned());
        }
        Ok(())
    }

    fn take(&mut self, to: &Number, name: usize, words: &Number, core: &Number) -> Followed<()> {
        self.among(core, None)?;
        let (to, words) = (self.number(to)?, self.number(words)?);
        if self.waiting {
            return wrong("hands sums on while some cores may still wait for those before".to_owned());
        }
        if self.taken != self.sent {
            return wrong(format!("takes `{}` from the core before twice", self.text.names[name]));
        }
        let many = self.next(self.taken, words, name)?;
        self.way.events.push(Event::Take(words));
        if self.place > 0 {
            let range = self.some(to, words)?;
            self.free(range.clone(), "takes sums to where others are on their way")?;
            self.memory[range.clone()].fill(0);
            for k in 0..many {
                let sums = held(self.numbers.sums, self.taken + k, self.numbers.before);
                self.memory[range.start + k as usize] = sums;
            }
        }
        self.taken += many;
        Ok(())
    }

    fn send(&mut self, from: &Number, name: usize, [words, core, lines]: &[Number; 3]) -> Followed<()> {
        self.among(core, Some(lines))?;
        let (from, words) = (self.number(from)?, self.number(words)?);
        if self.waiting {
            return wrong("hands sums on while some cores may still wait for those before".to_owned());
        }
        let many = self.next(self.sent, words, name)?;
        if self.sent + many != self.taken {
            return wrong(format!("hands on sums in `{}` that it has not taken", self.text.names[name]));
        }
        self.way.events.push(Event::Send(words));
        let range = self.some(from, words)?;
        for k in 0..many {
            let own = self.memory[range.start + k as usize];
            let sums = held(self.numbers.sums, self.sent + k, self.numbers.after);
            if own != sums {
                let same = array_of(own) == Some(self.numbers.sums) && element_of(own) == self.sent + k;
                let what = if same { "without all rows of this core" } else { "that are others" };
                return wrong(format!("hands on sums in `{}` {what}", self.text.names[name]));
            }
        }
        self.sent += many;
        Ok(())
    }

    fn spread(&mut self, all: &Number, name: usize, [words, core, lines]: &[Number; 3]) -> Followed<()> {
        self.among(core, Some(lines))?;
        let (all, words) = (self.number(all)?, self.number(words)?);
        let name = &self.text.names[name];
        if self.taken != self.sent {
            return wrong(format!("sends `{name}` to all while sums are handed on"));
        }
        let range = self.some(all, words)?;
        self.waiting = true;
        match self.heard {
            None => {
                let what = self.memory[range].to_vec();
                if what.contains(&COMING) {
                    return wrong(format!("sends `{name}` to all while it is on its way in"));
                }
                self.way.spread.push(what);
            }
            Some(heard) => {
                let before = self.way.events.iter().filter(|e| matches!(e, Event::Spread(_))).count();
                let Some(what) = heard.get(before).filter(|what| what.len() == range.len()) else {
                    return wrong("has an exchange that some cores may not reach".to_owned());
                };
                self.free(range.clone(), "gets what goes to all where something is on its way")?;
                self.memory[range].copy_from_slice(what);
            }
        }
        self.way.events.push(Event::Spread(words));
        Ok(())
    }
}
