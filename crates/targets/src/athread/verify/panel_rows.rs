//! Panels: by exchanges, and without main memory, rows of a matrix in the local memories of all
//! cores become columns of it. There is no barrier.
//!
//! Two loops over cores are one text there. A core's part of each vector and matrix is followed as
//! elsewhere. For an exchange it is shown that the parts of all cores, by the number of the core,
//! are the box that this core needs. Strips that a core keeps for all panels are one box with a
//! number in it.

use super::compute;
use super::form::{Atom, Form};
use super::mapped::{Area, Bounds, Phase};
use super::property::Property;
use super::read::{Node, Term};
use super::state::{Held, NUMBER, Region, State, Value};
use super::transfer::name;
use super::walk::{CORE, Followed, States, Walker, lost, wrong};

/// What goes between main memory and local memory while panels are worked on.
#[derive(Default)]
pub(super) struct Moved {
    came: Vec<Area>,
    went: Vec<Area>,
}

/// Whether cores exchange panels in a statement.
pub(super) fn exchanges(node: &Node) -> bool {
    match node {
        Node::Block(body) => body.iter().any(exchanges),
        Node::If(_, then, otherwise) => exchanges(then) || otherwise.as_ref().is_some_and(|n| exchanges(n)),
        Node::For { body, .. } | Node::While(_, body) => exchanges(body),
        Node::Do(Term::Call(function, _)) => function == "exchange_panel" || function == "gather_panel",
        Node::Declare { .. } | Node::Do(_) => false,
    }
}

/// Whether an iteration has an exchange of its own.
pub(super) fn directly(body: &Node) -> bool {
    let call =
        |node: &Node| matches!(node, Node::Do(Term::Call(function, _)) if function == "exchange_panel");
    matches!(body, Node::Block(body) if body.iter().any(call))
}

/// Whether a loop only brings boxes in or out: then each iteration has a box of its own.
pub(super) fn only_moves(body: &Node) -> bool {
    let Node::Block(body) = body else { return false };
    body.iter().all(|node| match node {
        Node::Declare { .. } => true,
        Node::Do(Term::Binary(op, _, call)) => op == "+=" && matches!(**call, Term::Call(..)),
        _ => false,
    })
}

/// What a form is for all cores, where core `k` has `each` from `each * k` on: the same with the
/// end of all.
pub(super) fn of_all(form: &Form, core: &str, each: i64, cores: i64) -> Option<Form> {
    let end = match form.terms().collect::<Vec<_>>().as_slice() {
        [([Atom::Apply(function, parts)], 1)] if function == "LOZENGE_MIN" => match parts.as_slice() {
            [a, b] if a.constant() == Some(each) => b.clone(),
            [b, a] if a.constant() == Some(each) => b.clone(),
            _ => return None,
        },
        _ => return None,
    };
    let first = end.put(core, &Form::default());
    let shift = Form::symbol(core).times(&Form::int(each));
    (first.minus(&end) == shift).then(|| Form::apply("LOZENGE_MIN", vec![Form::int(each * cores), first]))
}

impl<'a> Walker<'a> {
    /// A loop over panels, or the loops that do the same without it.
    pub(super) fn panels(
        &mut self,
        cond: &'a Term,
        then: &'a Node,
        otherwise: Option<&'a Node>,
        states: States,
    ) -> Followed<States> {
        self.followed.insert(Property::Rows);
        let (mut yes, no) = self.branch(cond, states, true)?;
        let phase = self.phase;
        yes = self.each(yes, &mut |_, state| {
            state.keeps = true;
            Ok(())
        })?;
        self.panel = Some(Moved::default());
        self.control.push(cond);
        let yes = self.walk(then, yes)?;
        let moved = self.panel.take().unwrap_or_default();
        self.phase = phase;
        // Without barriers nothing may come in that another core has brought out.
        for area in &moved.came {
            let own = || moved.went.iter().filter(|out| out.array == area.array);
            let same = |out: &Area| {
                let later = |s: String| {
                    let next = Form::symbol(&s).plus(&Form::int(1));
                    s.ends_with(" since")
                        && (out.put(&s, &next) == *area || out.put(&s, &Form::default()) == *area)
                };
                out == area || out.symbols().into_iter().any(later)
            };
            if own().next().is_some() && !own().any(same) {
                return wrong(format!(
                    "brings in what another core may have brought out of `{}`",
                    area.array
                ));
            }
        }
        let yes = self.each(yes, &mut |walker, state| {
            walker.all_out(state)?;
            state.end_phase();
            Ok(())
        })?;
        let no = match otherwise {
            Some(node) => self.walk(node, no)?,
            None => no,
        };
        self.control.pop();
        self.phase = phase + self.together;
        Ok(yes.into_iter().chain(no).collect())
    }

    /// What is moved while panels are worked on.
    pub(super) fn note(&mut self, area: &Area, get: bool) {
        let Some(moved) = &mut self.panel else { return };
        let all = if get { &mut moved.came } else { &mut moved.went };
        if !all.contains(area) {
            all.push(area.clone());
        }
    }

    /// The place of a buffer: a number, or that of one of several that are alike.
    pub(super) fn place(&mut self, state: &mut State, buffer: &str, offset: &Form) -> Followed<()> {
        if let Some(at) = offset.constant() {
            if state.keeps {
                self.labels.insert(at, buffer.to_owned());
            }
            state.declare(buffer, Value::Buffer(at));
            return Ok(());
        }
        let (at, by, mut number) = offset.steps();
        if !state.keeps || at < 0 || by <= 0 {
            return lost(format!("the place of `{buffer}` is not known"));
        }
        if number == Form::symbol(NUMBER) {
            // As many as there are numbers.
            let Some(numbers) = &self.numbers else { return lost(format!("how many `{buffer}` there are")) };
            let Some(count) = numbers.count else {
                return lost(format!("how many strips `{buffer}` is one of is not known"));
            };
            if by < self.here().size(buffer) {
                return wrong(format!("has places for several `{buffer}` that overlap"));
            }
            let there = numbers.there.clone();
            let known = Cover { bytes: by.saturating_mul(count), by, there };
            if state.covers.get(&at).is_some_and(|before| before.by != by) {
                return wrong(format!("has several `{buffer}` as far apart as others"));
            }
            state.covers.insert(at, known);
        } else {
            let Some(Cover { by: apart, there, .. }) = state.covers.get(&at) else {
                return wrong(format!("has `{buffer}` at a place that nothing was brought into"));
            };
            let Some(own) = number.times(&Form::int(by)).over(*apart) else {
                return wrong(format!("has `{buffer}` at a place between those of several"));
            };
            let known = state.follows(&state.normal(&there.put(NUMBER, &own)));
            number = own;
            let held = state.contents.get(&at).and_then(|(_, held)| held.area.as_ref());
            let other = held.is_some_and(|area| !self.wanted(state, buffer, &area.put(NUMBER, &number)));
            match known {
                _ if other && !self.here().gets(buffer).is_empty() => {
                    return wrong(format!("has `{buffer}` at the place of another one"));
                }
                Some(true) => {}
                Some(false) => return wrong(format!("uses more of `{buffer}` than were brought in")),
                None => return lost(format!("which of several `{buffer}` is used is not known")),
            }
        }
        state.declare(buffer, Value::One(at, number));
        Ok(())
    }

    /// A loop that brings in, or out, all of several boxes that are alike: one iteration stands for
    /// all.
    pub(super) fn strips(
        &mut self,
        (var, lower, by): (&'a str, &'a Term, i64),
        cond: &'a Term,
        body: &'a Node,
        states: States,
    ) -> Followed<States> {
        let number = Form::symbol(NUMBER);
        let mut all = States::new();
        for mut state in states {
            let value = state.form(lower).plus(&number.times(&Form::int(by)));
            state.open();
            state.declare(var, Value::Number(value.clone()));
            let Some(there) = self.above(&state, cond) else { return lost("a loop that is not counted") };
            let mut one = state.clone();
            one.declare(var, Value::Number(value.put(NUMBER, &Form::default())));
            if let Some(there) = self.above(&one, cond) {
                self.iterations(&one, (var, &one.form(&Term::Name(var.to_owned())), by), &there, body)?;
            }
            // What is there for the last number at most; the number of a core is 0 at least.
            let rest = there.plus(&number.times(&Form::int(by))).put(CORE, &Form::default());
            let count = state.most(&rest).map(|most| (most.max(0) + by - 1) / by);
            state.learn(there.clone(), true);
            self.numbers = Some(Numbers { there, count, value, by });
            let after = self.walk(body, States::from([state]))?;
            self.numbers = None;
            all.extend(self.each(after, &mut |_, state| {
                state.close();
                state.unlearn(NUMBER);
                Ok(())
            })?);
        }
        Ok(all)
    }

    /// An expression of a place, where what is divided by the number of cores is the number of a
    /// strip.
    pub(super) fn offset(&self, state: &State, term: &Term) -> Form {
        let form = state.form(term);
        match &self.numbers {
            Some(numbers) => {
                let quotient = [numbers.value.clone(), Form::int(numbers.by)];
                form.swap("/", &quotient, &Form::symbol(NUMBER))
            }
            None => form,
        }
    }

    fn spot(&self, state: &State, term: &Term) -> Followed<Form> {
        match compute::place(term) {
            Some(offset) => Ok(state.form(&offset)),
            None => lost("an exchange outside of local memory"),
        }
    }

    fn fixed(&self, state: &State, term: &Term) -> Followed<i64> {
        match self.spot(state, term)?.constant() {
            Some(at) => Ok(at),
            None => lost("an exchange at a place that is not known"),
        }
    }

    /// The number of cores, if all of them exchange.
    fn cores(&self, core: &Term, lines: i64) -> Followed<i64> {
        let (rows, columns) = self.here().cores;
        if name(core) != Some(CORE) {
            return wrong("exchanges a panel as another core".to_owned());
        }
        if lines * 8 != rows * columns {
            return wrong("exchanges a panel among other cores than those that run".to_owned());
        }
        Ok(rows * columns)
    }

    fn fill(&self, state: &mut State, at: i64, bytes: i64, area: Option<Area>) -> Followed<()> {
        let region = Region { at, bytes };
        self.free(state, region, "a panel", "fills")?;
        self.clear(state, region)?;
        if let Some(area) = area {
            state.contents.insert(at, (region, Held { area: Some(area), age: 0 }));
        }
        Ok(())
    }

    /// Columns of a panel for this core, of the rows that all cores have.
    pub(super) fn exchange_panel(&mut self, state: &mut State, arguments: &[Term]) -> Followed<()> {
        let [columns, half_way, rows, pitch, each, bytes, core, lines] = arguments else {
            return lost("an exchange of a panel in another form");
        };
        let [each, bytes, lines] = [each, bytes, lines].map(|t| state.form(t).constant().unwrap_or(0));
        let cores = self.cores(core, lines)?;
        self.alike(state, &[], "an exchange")?;
        let (from, by, times) = self.spot(state, rows)?.steps();
        let delta = times.times(&Form::int(by));
        self.free_in(state, from, "an exchange")?;
        let Some((_, Held { area: Some(area), .. })) = state.contents.get(&from).cloned() else {
            return wrong("exchanges rows that have not come in".to_owned());
        };
        let pitch = state.resolve(&state.form(pitch));
        let width = state.resolve(&area.columns);
        let elem = [8, 4].into_iter().find(|e| pitch.over(*e).is_some_and(|p| state.equal(&p, &width)));
        let Some(elem) = elem.filter(|e| bytes > 0 && bytes % e == 0) else {
            return wrong("takes rows to be as far apart as those of another box".to_owned());
        };
        let Some(first) = delta.over(elem) else { return lost("an exchange of parts of elements") };
        let piece = bytes / elem;
        // Core k has rows from `each * k` on.
        let shift = Form::symbol(CORE).times(&Form::int(each)).times(&area.pitch);
        let offset = area.offset.put(CORE, &Form::default());
        let all = of_all(&area.rows, CORE, each, cores).filter(|_| area.offset.minus(&offset) == shift);
        let Some(all) = all else {
            return wrong("exchanges rows that do not follow each other as the cores do".to_owned());
        };
        // This core gets columns from `piece * core` on of those from `first` on.
        let first = first.plus(&Form::symbol(CORE).times(&Form::int(piece)));
        let whole = match width.terms().collect::<Vec<_>>().as_slice() {
            [([Atom::Apply(function, parts)], 1)] if function == "LOZENGE_MIN" => match parts.as_slice() {
                [a, b] => a.constant().map(|most| (most, b.clone())),
                _ => None,
            },
            _ => None,
        };
        let rest = match whole {
            None => width.clone(),
            Some((most, rest)) => {
                let room = Form::int(most - piece).minus(&first);
                match state.least(&room, cores) {
                    None => return lost("whether a strip is of one piece of the rows is not known"),
                    Some(n) if n < 0 => {
                        return wrong("exchanges columns beyond a piece of the rows".to_owned());
                    }
                    Some(_) => {}
                }
                rest
            }
        };
        self.exchanged.insert(area.array.clone());
        let strip = Area {
            offset: offset.plus(&first),
            rows: all,
            columns: Form::apply("LOZENGE_MIN", vec![Form::int(piece), rest.minus(&first)]),
            ..area
        };
        let size = cores * each * bytes;
        let [half_way, columns] = [self.fixed(state, half_way)?, self.fixed(state, columns)?];
        self.apart([(half_way, size), (columns, size), (from, 1)])?;
        self.fill(state, half_way, size, None)?;
        self.fill(state, columns, size, Some(strip))
    }

    /// Elements of all cores, in the order of their numbers.
    pub(super) fn gather_panel(&mut self, state: &mut State, arguments: &[Term]) -> Followed<()> {
        let [all, half_way, own, bytes, core, lines] = arguments else {
            return lost("a panel that is gathered in another form");
        };
        let [bytes, lines] = [bytes, lines].map(|t| state.form(t).constant().unwrap_or(0));
        let cores = self.cores(core, lines)?;
        self.alike(state, &[], "an exchange")?;
        let from = self.fixed(state, own)?;
        self.free_in(state, from, "an exchange")?;
        let buffer = self.labels.get(&from).cloned().unwrap_or_default();
        let held = state.contents.get(&from).and_then(|(_, held)| held.area.clone());
        // A core that has none of it now.
        let mut own = self.here().puts(&buffer).iter();
        let none = own
            .find_map(|copy| self.mapped.area(copy, &|name| state.number(name)))
            .filter(|area| state.follows(&area.columns) == Some(false));
        let Some(area) = none.or(held) else {
            return wrong(format!("gathers `{buffer}` before it is there"));
        };
        let offset = area.offset.put(CORE, &Form::default());
        let each = [8, 4].into_iter().filter(|e| bytes % e == 0).map(|e| bytes / e).find(|each| {
            area.offset.minus(&offset) == Form::symbol(CORE).times(&Form::int(*each))
                && of_all(&area.columns, CORE, *each, cores).is_some()
        });
        let Some((each, columns)) =
            each.and_then(|each| Some((each, of_all(&area.columns, CORE, each, cores)?)))
        else {
            return wrong(format!(
                "gathers elements of `{buffer}` that do not follow each other as the cores do"
            ));
        };
        let _ = each;
        let words = (bytes + 31) / 32 * 32;
        state.contents.remove(&from);
        state.contents.remove(&from);
        let [half_way, all] = [self.fixed(state, half_way)?, self.fixed(state, all)?];
        self.apart([(half_way, cores * words), (all, cores * bytes), (from, words)])?;
        self.fill(state, half_way, cores * words, None)?;
        self.fill(state, all, cores * bytes, Some(Area { offset, columns, ..area }))
    }

    /// Places of an exchange have nothing in common.
    fn apart(&self, places: [(i64, i64); 3]) -> Followed<()> {
        let [a, b, c] = places.map(|(at, bytes)| Region { at, bytes });
        if a.meets(b) || a.meets(c) || b.meets(c) {
            return wrong("exchanges a panel through a place that it is needed at".to_owned());
        }
        Ok(())
    }

    /// Nothing is on its way into a place that others get from.
    fn free_in(&self, state: &State, at: i64, what: &str) -> Followed<()> {
        let region = Region { at, bytes: 1 };
        match state.flights.iter().find(|f| f.get && f.region.meets(region)) {
            Some(flight) => wrong(format!("has {what} of what `{}` is bringing in", flight.tag)),
            None => Ok(()),
        }
    }
}

impl Walker<'_> {
    /// A loop where panels are worked on has the iterations that the mapping has; what it counts
    /// with has a value here.
    pub(super) fn iterations(
        &self,
        state: &State,
        (var, lower, by): (&str, &Form, i64),
        there: &Form,
        body: &Node,
    ) -> Followed<()> {
        let number = |name: &str| state.number(name);
        let Some(value) = number(var) else { return Ok(()) };
        let end = there.plus(&value);
        let bounds = self.mapped.loops(var, &number);
        let same = |b: &Bounds| {
            let once = Form::apply("LOZENGE_MAX", vec![Form::int(1), b.upper.clone()]);
            b.lower == *lower && b.step == by && (end == b.upper || end == once)
        };
        if !bounds.is_empty() && !bounds.iter().any(same) {
            return wrong(format!("does not go through all iterations of `{var}`"));
        }
        let Node::Block(body) = body else { return Ok(()) };
        for node in body.iter().filter(|_| bounds.is_empty()) {
            let Node::Declare { name, value: Some(term), .. } = node else { continue };
            let bounds = self.mapped.loops(name, &number);
            let own = state.form(term);
            // Round r has those from `step * r` on, one for each core; rounds of a piece of the
            // rows follow those of the one before.
            let all = |b: &Bounds| {
                let step = Form::int(b.step);
                let rounds = Form::apply("/", vec![b.upper.plus(&Form::int(b.step - 1)), step.clone()]);
                let (at, some, _) = lower.steps();
                let next = lower.plus(&Form::int(some));
                let ends = [
                    rounds.clone(),
                    Form::apply("LOZENGE_MIN", vec![rounds.clone(), next.clone()]),
                    Form::apply("LOZENGE_MIN", vec![next, rounds]),
                ];
                let ends = if some == 0 { &ends[..1] } else { &ends[1..] };
                at == 0 && by == 1 && own == b.lower.plus(&value.times(&step)) && ends.contains(&end)
            };
            if !bounds.is_empty() && !bounds.iter().any(all) {
                return wrong(format!("does not go through all iterations of `{name}`"));
            }
        }
        Ok(())
    }
}

/// Places of several boxes that are alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cover {
    /// Bytes of all, and from one to the next.
    pub bytes: i64,
    by: i64,
    /// What is above 0 for the numbers of those that there are.
    there: Form,
}

/// Several boxes that are alike, where a loop brings them in or out.
pub(super) struct Numbers {
    /// Above 0 for the numbers that there are, and how many at most.
    there: Form,
    count: Option<i64>,
    /// What the loop counts with, and its step.
    value: Form,
    by: i64,
}

/// Loops over cores that follow each other, so many as one.
pub(super) fn together(phases: &[Phase], many: usize) -> Vec<Phase> {
    let one =
        |some: &[Phase]| some[1..].iter().fold(some[0].with(&Phase::default()), |all, next| all.with(next));
    phases.windows(many).map(one).collect()
}
