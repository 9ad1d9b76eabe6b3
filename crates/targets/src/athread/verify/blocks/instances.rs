//! What a core computes: each instance of a statement must read what the mapping reads there, and
//! must run when the mapping runs it.

use super::super::walk::{Followed, lost, wrong};
use super::block_text::{Spot, Tiny};
use super::number::Number;
use super::replay::{COMING, Core, STEPS, array_of, element_of, held};

/// Accesses of a statement at most.
const READS: usize = 8;

/// What a statement in a loop reaches: the first instance, and what is added for each that follows,
/// for each lane, and when the loop comes again.
#[derive(Default)]
pub(super) struct Grown {
    elements: [[u64; 4]; READS],
    begun: bool,
    turns: bool,
    lanes: bool,
    comes: bool,
}

impl<'a> Core<'a> {
    /// Computing statements, so often.
    pub fn run(&mut self, body: &'a [Tiny], counter: Option<(usize, i64)>, trips: i64) -> Followed<()> {
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        for tiny in body {
            match tiny {
                Tiny::Load { from, lanes, same, .. } => {
                    moves.push(self.moving(from, counter, trips, if *same { 1 } else { *lanes })?);
                }
                Tiny::Store { to, lanes, .. } => moves.push(self.moving(to, counter, trips, *lanes)?),
                Tiny::Update { target, reads, lanes, .. } => {
                    for spot in std::iter::once(target).chain(reads.iter().map(|r| &r.1)) {
                        if let Spot::Memory(at, _) = spot {
                            moves.push(self.moving(at, counter, trips, *lanes)?);
                        }
                    }
                }
            }
        }
        self.steps = self.steps.saturating_add(body.len().saturating_mul(trips as usize));
        if self.steps > STEPS {
            return lost("panels that take too long to follow");
        }
        let mut grown = std::mem::take(&mut self.grown);
        for k in 0..trips {
            let mut next = moves.iter_mut();
            for tiny in body {
                self.tiny(tiny, &mut grown, k, &mut next)?;
            }
        }
        (self.moves, self.grown) = (moves, grown);
        Ok(())
    }

    /// The first element at an address in a loop, and by how many elements it moves.
    fn moving(
        &mut self,
        number: &Number,
        counter: Option<(usize, i64)>,
        trips: i64,
        lanes: usize,
    ) -> Followed<(usize, usize)> {
        let found = match counter {
            Some((place, by)) => {
                number.linear(place, &mut self.places).map(|(at, step)| (at, step.saturating_mul(by)))
            }
            None => number.value(&mut self.places).map(|at| (at, 0)),
        };
        let Some((at, step)) = found else { return lost("subscripts that do not grow with their loop") };
        let element = self.plan.element;
        if step % element != 0 {
            return wrong("reaches beyond its local memory, or between elements".to_owned());
        }
        let first = self.range(at, lanes as i64)?;
        self.range(at.saturating_add(step.saturating_mul(trips - 1)), lanes as i64)?;
        Ok((first.start, (step / element) as usize))
    }

    fn tiny(
        &mut self,
        tiny: &Tiny,
        grown: &mut [Grown],
        k: i64,
        next: &mut std::slice::IterMut<(usize, usize)>,
    ) -> Followed<()> {
        let mut next = || match next.next() {
            Some((at, step)) => {
                let own = *at;
                // Where it moves down the step is that many less than all.
                *at = at.wrapping_add(*step);
                own
            }
            None => 0,
        };
        match tiny {
            Tiny::Load { register, lanes, same, .. } => {
                let first = next();
                let to = &mut self.registers[*register];
                match (same, lanes) {
                    (true, _) => *to = [self.memory[first]; 4],
                    (false, 1) => to[0] = self.memory[first],
                    (false, lanes) => to[..*lanes].copy_from_slice(&self.memory[first..first + lanes]),
                }
                Ok(())
            }
            Tiny::Store { register, lanes, buffer, .. } => {
                let first = next();
                self.written(first..first + lanes, *buffer)?;
                self.memory[first..first + lanes].copy_from_slice(&self.registers[*register][..*lanes]);
                Ok(())
            }
            Tiny::Update { id, rule, target, lanes, reads } => {
                let mut spot = |spot: &Spot| match spot {
                    Spot::Register(register) => (true, *register),
                    Spot::Memory(..) => (false, next()),
                };
                let to = spot(target);
                let mut from = [(0, (true, 0)); READS];
                if reads.len() > from.len() {
                    return lost("a statement that reads many elements");
                }
                for (own, (reach, read)) in from.iter_mut().zip(reads) {
                    *own = (*reach, spot(read));
                }
                if let ((false, at), Spot::Memory(_, buffer)) = (to, target) {
                    self.written(at..at + lanes, *buffer)?;
                }
                for lane in 0..*lanes {
                    let result = self.instance(*rule, &from[..reads.len()], &mut grown[*id], k, lane)?;
                    match to {
                        (true, register) => self.registers[register][lane] = result,
                        (false, at) => self.memory[at + lane] = result,
                    }
                }
                Ok(())
            }
        }
    }

    /// What a lane of an instance of a statement makes of its target. Elements that instances reach
    /// are linear in the iterators, so what was between two that were looked at, here or before,
    /// leads from one to another.
    fn instance(
        &mut self,
        rule: usize,
        reads: &[(usize, (bool, usize))],
        grown: &mut Grown,
        k: i64,
        lane: usize,
    ) -> Followed<u64> {
        let begins = k == 0 && lane == 0;
        let known = match begins {
            true => grown.comes,
            false => (k == 0 || grown.turns) && (lane == 0 || grown.lanes),
        };
        if known {
            let (k, l, comes) = (k as u64, lane as u64, u64::from(begins));
            let wanted = |reach: usize| {
                let [first, turn, lane, again] = grown.elements[reach];
                let more = turn.wrapping_mul(k).wrapping_add(lane.wrapping_mul(l));
                first.wrapping_add(more).wrapping_add(again.wrapping_mul(comes))
            };
            let same = |(reach, (register, at)): &(usize, (bool, usize))| {
                let own = if *register { self.registers[*at][lane] } else { self.memory[at + lane] };
                own == wanted(*reach)
            };
            if reads.iter().all(same) {
                let result = wanted(0).wrapping_add(1 << 32);
                if begins {
                    grown.elements.iter_mut().for_each(|own| own[0] = own[0].wrapping_add(own[3]));
                }
                return Ok(result);
            }
        }
        let found = self.update(rule, reads, lane)?;
        let between = |own: &[u64; 4], found: u64| found.wrapping_sub(own[0]);
        let all = grown.elements.iter_mut().zip(found);
        match (k, lane) {
            (0, 0) => {
                all.for_each(|(own, found)| (own[3], own[0]) = (between(own, found), found));
                (grown.comes, grown.begun) = (grown.begun, true);
            }
            (0, 1) => {
                all.for_each(|(own, found)| own[2] = between(own, found));
                grown.lanes = true;
            }
            (1, 0) => {
                all.for_each(|(own, found)| own[1] = between(own, found));
                grown.turns = true;
            }
            _ => {}
        }
        Ok(found[0].wrapping_add(1 << 32))
    }

    fn written(&self, range: std::ops::Range<usize>, buffer: usize) -> Followed<()> {
        if self.busy[range.clone()].contains(&true) {
            let on = self.flights.iter().find(|f| f.local.0 < range.end && range.start < f.local.1);
            let tag = on.map_or("?", |f| &self.text.names[f.reply.0]);
            let way = if on.is_some_and(|f| f.get) { "in" } else { "out" };
            let buffer = &self.text.names[buffer];
            return wrong(format!("writes `{buffer}` while `{tag}` is on its way {way}"));
        }
        Ok(())
    }

    /// A lane of an instance of a statement: what it reads is what the mapping reads there. What
    /// that is, the target before it first.
    fn update(
        &mut self,
        rule: usize,
        reads: &[(usize, (bool, usize))],
        lane: usize,
    ) -> Followed<[u64; READS]> {
        let own = &self.plan.rules[rule];
        let values = |(register, at): (bool, usize)| match register {
            true => self.registers[at][lane],
            false => self.memory[at + lane],
        };
        self.elements.clear();
        self.elements.resize(own.reads.len() + 1, None);
        let array = |reach: usize| if reach == 0 { own.target.array } else { own.reads[reach - 1].array };
        for (reach, spot) in reads {
            let value = values(*spot);
            if array_of(value) == Some(array(*reach)) {
                self.elements[*reach].get_or_insert(element_of(value));
            }
        }
        let found = self.plan.solve(rule, self.numbers, &self.elements, &mut self.solved);
        let stage = match found {
            Some(()) => self.plan.stage(rule, self.numbers, &self.solved),
            None => 0,
        };
        let numbers = &self.numbers.rules[rule];
        let expected = |reach: usize| {
            let (at, factors) = &numbers.elements[reach];
            let element = factors.iter().zip(&self.solved).fold(*at, |sum, (a, b)| sum + a * b);
            let stage = if reach == 0 { stage } else { self.numbers.finals[array(reach)] };
            let there = (0..self.numbers.totals[array(reach)]).contains(&element);
            there.then(|| held(array(reach), element, stage))
        };
        for (reach, spot) in reads {
            let value = values(*spot);
            let wanted = found.and_then(|()| expected(*reach));
            if wanted != Some(value) {
                return self.mismatch(rule, *reach, value, wanted);
            }
        }
        let mut all = [0; READS];
        for (reach, own) in all.iter_mut().enumerate().take(own.reads.len() + 1) {
            *own = match expected(reach) {
                Some(wanted) if stage >= 0 => wanted,
                _ => return self.beyond(rule),
            };
        }
        Ok(all)
    }

    #[cold]
    fn beyond<T>(&self, rule: usize) -> Followed<T> {
        let buffer = &self.plan.rules[rule].target.buffer;
        wrong(format!("computes elements of `{buffer}` that are not there"))
    }

    #[cold]
    fn mismatch<T>(&self, rule: usize, reach: usize, value: u64, wanted: Option<u64>) -> Followed<T> {
        let own = &self.plan.rules[rule];
        let (buffer, array) = match reach {
            0 => (&own.target.buffer, own.target.array),
            _ => (&own.reads[reach - 1].buffer, own.reads[reach - 1].array),
        };
        let same =
            |wanted: u64| array_of(wanted) == array_of(value) && element_of(wanted) == element_of(value);
        if value == COMING {
            return wrong(format!("reads `{buffer}` while it is on its way in"));
        }
        if value == 0 {
            return wrong(format!("reads `{buffer}`, which nothing was brought into"));
        }
        if array_of(value) == Some(array) && wanted.is_some_and(same) {
            return match reach {
                0 => wrong(format!("changes `{buffer}` in another order than the mapping, or twice")),
                _ => wrong(format!("reads `{buffer}` before it is done")),
            };
        }
        wrong(format!("reads `{buffer}`, which holds another element than the mapping says"))
    }
}
