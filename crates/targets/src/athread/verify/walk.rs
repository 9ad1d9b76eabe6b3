//! Follows a kernel's text with all possible states, and checks each transfer, wait and use.

use std::collections::{BTreeMap, BTreeSet};

use super::ahead;
use super::blocks;
use super::branch::{compares, outer};
use super::cast;
use super::compute::{self, Use, place};
use super::form::Form;
use super::held;
use super::mapped::{Area, Mapped, Phase};
use super::panel::{self, Moved, Numbers};
use super::property::Property;
use super::read::{Node, Term};
use super::share;
use super::state::{NUMBER, Region, State, Value};
use super::transfer::{name, planes};

/// Why a text is not followed to its end.
pub(super) enum Stop {
    /// It breaks a rule.
    Wrong(String),
    /// Something is not understood.
    Lost(String),
}

/// The number of this core.
pub(super) const CORE: &str = "lozenge_core";

pub(super) type States = Vec<State>;
pub(super) type Followed<T> = Result<T, Stop>;

/// States at a place, at most.
const STATES: usize = 200;
/// States of all places, at most.
const STEPS: usize = 10_000;

pub(super) fn wrong<T>(what: String) -> Followed<T> {
    Err(Stop::Wrong(what))
}

pub(super) fn lost<T>(what: impl Into<String>) -> Followed<T> {
    Err(Stop::Lost(what.into()))
}

/// What is looked at in any text.
const ALWAYS: [Property; 5] =
    [Property::Waits, Property::Boxes, Property::Results, Property::Early, Property::Meetings];

/// Follows a kernel; the properties that were looked at.
pub(super) fn follow(mapped: &Mapped, body: &Node) -> Followed<BTreeSet<Property>> {
    let none = Phase::default();
    let mut changed = BTreeSet::new();
    assigned(body, &mut changed);
    // How many loops over cores are one text where panels are worked on.
    let together = if blocks::comes(body) {
        3
    } else if panel::exchanges(body) {
        2
    } else {
        0
    };
    let panels = if together > 0 { panel::together(&mapped.phases, together) } else { Vec::new() };
    let mut walker = Walker {
        mapped,
        none: &none,
        panels: &panels,
        together,
        panel: None,
        numbers: None,
        phase: 0,
        control: Vec::new(),
        inside: Vec::new(),
        by: Vec::new(),
        changed,
        chosen: Vec::new(),
        steps: 0,
        doubt: None,
        labels: BTreeMap::new(),
        exchanged: BTreeSet::new(),
        casts: cast::casts(body),
        followed: ALWAYS.into(),
    };
    walker.followed.extend(walker.casts.then_some(Property::Casts));
    let mut start = State::default();
    start.open();
    let ends = walker.walk(body, States::from([start]))?;
    for state in &ends {
        if let Some(flight) = state.flights.iter().next() {
            return wrong(format!("ends without waiting for `{}`", flight.tag));
        }
        walker.all_out(state)?;
    }
    if walker.phase != mapped.phases.len() {
        let told = format!("{} times of {}", walker.phase, mapped.phases.len());
        return lost(format!("loops over the cores are entered {told}"));
    }
    match walker.doubt {
        Some(doubt) => lost(format!("{doubt}, or this is not done")),
        None => Ok(walker.followed),
    }
}

pub(super) struct Walker<'a> {
    pub(super) mapped: &'a Mapped<'a>,
    none: &'a Phase,
    /// Loops over cores as one, where panels are worked on, and how many they are.
    panels: &'a [Phase],
    pub(super) together: usize,
    /// What is moved while that is so.
    pub(super) panel: Option<Moved>,
    /// The boxes of a loop that moves several.
    pub(super) numbers: Option<Numbers>,
    /// Loops over cores so far.
    pub(super) phase: usize,
    /// Conditions around the current place.
    pub(super) control: Vec<&'a Term>,
    /// Loops around the current place: what they count with, and how long.
    pub(super) inside: Vec<(&'a str, &'a Term)>,
    /// What these count by.
    pub(super) by: Vec<i64>,
    /// Names that the text assigns to: a comparison of one tells nothing of what comes after.
    pub(super) changed: BTreeSet<&'a str>,
    /// Conditions of names that are one of two, in declarations that follow each other.
    pub(super) chosen: Vec<&'a Term>,
    steps: usize,
    /// While panels are computed: the last name of a place, and matrices with exchanged columns.
    pub(super) labels: BTreeMap<i64, String>,
    pub(super) exchanged: BTreeSet<String>,
    /// Whether something is broadcast.
    pub(super) casts: bool,
    /// What was looked at so far.
    pub(super) followed: BTreeSet<Property>,
    /// What would be wrong if some condition held of which that is not known.
    doubt: Option<String>,
}

/// Names that are assigned to outside of tiles.
fn assigned<'n>(node: &'n Node, names: &mut BTreeSet<&'n str>) {
    match node {
        Node::Block(_) | Node::If(..) | Node::For { .. } | Node::While(..) if compute::only(node) => {}
        Node::Block(body) => body.iter().for_each(|n| assigned(n, names)),
        Node::If(_, then, otherwise) => {
            assigned(then, names);
            otherwise.iter().for_each(|n| assigned(n, names));
        }
        Node::For { body, .. } | Node::While(_, body) => assigned(body, names),
        Node::Do(Term::Binary(op, target, _)) if compute::assigns(op) => names.extend(name(target)),
        Node::Declare { .. } | Node::Do(_) => {}
    }
}

impl<'a> Walker<'a> {
    pub(super) fn here(&self) -> &'a Phase {
        if self.panel.is_some() {
            return self.panels.get(self.phase).unwrap_or(self.none);
        }
        self.phase.checked_sub(1).and_then(|k| self.mapped.phases.get(k)).unwrap_or(self.none)
    }

    pub(super) fn walk(&mut self, node: &'a Node, states: States) -> Followed<States> {
        self.steps += states.len();
        if states.len() > STATES || self.steps > STEPS {
            return lost("there are too many ways through it");
        }
        if matches!(node, Node::Block(_) | Node::If(..) | Node::For { .. } | Node::While(..))
            && !(self.panel.is_some() && matches!(node, Node::If(..)))
            && compute::only(node)
        {
            let found = compute::uses(node);
            return self.each(states, &mut |walker, state| {
                let mut known = true;
                if walker.runs_never(state, node) {
                    return Ok(());
                }
                if let Node::If(cond, _, None) = node
                    && walker.changed.iter().any(|name| cond.mentions(name))
                {
                    match walker.truth(state, cond) {
                        Some(false) => return Ok(()),
                        truth => known = truth.is_some(),
                    }
                }
                state.open();
                // Under an unknown condition a wrong use is skipped, and reported in the end.
                let before = (!known).then(|| state.clone());
                match (found.iter().try_for_each(|one| walker.used(state, one)), before) {
                    (Err(Stop::Wrong(what)), Some(before)) => {
                        walker.doubt.get_or_insert(what);
                        *state = before;
                    }
                    (result, _) => result?,
                }
                state.close();
                Ok(())
            });
        }
        match node {
            Node::Block(body) => {
                let mut states = self.each(states, &mut |_, state| {
                    state.open();
                    Ok(())
                })?;
                for node in body {
                    if !matches!(node, Node::Declare { .. }) && !self.chosen.is_empty() {
                        // The condition is not needed again. It would only keep states apart.
                        let chosen = std::mem::take(&mut self.chosen);
                        states = self.each(states, &mut |_, state| {
                            chosen.iter().for_each(|cond| state.unlearn_here(&state.form(cond)));
                            Ok(())
                        })?;
                    }
                    states = self.walk(node, states)?;
                }
                let over = body.iter().any(|n| matches!(n, Node::Declare { name, value: Some(v), .. } if name != CORE && v.mentions(CORE))) && self.panel.is_none();
                let states = self.each(states, &mut |_, state| {
                    state.close();
                    if over {
                        state.end_phase();
                    }
                    Ok(())
                })?;
                Ok(distinct(states))
            }
            Node::If(..) if let Some(part) = ahead::part(node) => {
                self.each(states, &mut |walker, state| walker.goes_ahead(state, &part))
            }
            Node::If(cond, then, otherwise) if self.panel.is_none() && blocks::comes(then) => {
                self.blocks(cond, then, otherwise.as_deref(), states)
            }
            Node::If(cond, then, otherwise) if self.panel.is_none() && panel::exchanges(then) => {
                self.panels(cond, then, otherwise.as_deref(), states)
            }
            Node::If(cond, then, otherwise) => {
                let (first_phase, mut all) = (self.phase, States::new());
                for state in states {
                    self.phase = first_phase;
                    all.extend(self.either_way(cond, then, otherwise.as_deref(), state)?);
                }
                Ok(distinct(all))
            }
            Node::For { init, cond: Some(cond), step, body } => {
                self.repeat(node, init, cond, step, body, states)
            }
            Node::For { .. } | Node::While(..) => lost("a loop that is not counted"),
            Node::Declare { name, value, .. } => {
                let Some(value) = value else { return Ok(states) };
                if value.mentions(CORE) && self.panel.is_none() {
                    // The first name of a loop over cores.
                    let first =
                        matches!(value, Term::Name(_)) || matches!(value, Term::Binary(op, ..) if op == "/");
                    self.phase += usize::from(first);
                    if first && states.iter().any(|state| state.apart) {
                        return wrong(
                            "begins loops over cores while some cores may still be in those before"
                                .to_owned(),
                        );
                    }
                }
                if let Term::Ternary(cond, yes, no) = value {
                    return self.choose(states, name, cond, [yes, no]);
                }
                self.each(states, &mut |walker, state| walker.declare(state, name, value))
            }
            Node::Do(term) => self.each(states, &mut |walker, state| walker.act(state, term, &[])),
        }
    }

    /// Whether a loop surely has no iteration, or all loops in a block that has nothing else.
    fn runs_never(&self, state: &mut State, node: &Node) -> bool {
        state.open();
        let never = match node {
            Node::For { init, cond: Some(cond), body, .. } => {
                let begins = init.iter().all(|node| self.declares_number(state, node));
                begins && self.truth(state, cond) == Some(false) || {
                    // In a later iteration the names of the loop are anything.
                    for node in init {
                        if let Node::Declare { name, .. } = node {
                            state.declare(name, Value::Number(Form::symbol(&format!("some {name}"))));
                        }
                    }
                    !init.is_empty() && self.runs_never(state, body)
                }
            }
            Node::Block(body) => {
                let mut loops = 0;
                let all = body.iter().all(|node| match node {
                    Node::For { .. } | Node::Block(_) => {
                        loops += 1;
                        self.runs_never(state, node)
                    }
                    Node::Do(Term::Call(name, _)) => name == "emulated_compute",
                    other => self.declares_number(state, other),
                });
                all && loops > 0
            }
            _ => false,
        };
        state.close();
        never
    }

    /// Declares a name for a number; not for a place in local memory.
    fn declares_number(&self, state: &mut State, node: &Node) -> bool {
        let Node::Declare { name, value: Some(value), .. } = node else { return false };
        if compute::place(value).is_some() {
            return false;
        }
        let number = state.form(value);
        state.declare(name, Value::Number(number));
        true
    }

    /// One state through `if`.
    fn either_way(
        &mut self,
        cond: &'a Term,
        then: &'a Node,
        otherwise: Option<&'a Node>,
        state: State,
    ) -> Followed<States> {
        let (yes, no) = self.branch(cond, States::from([state]), true)?;
        self.control.push(cond);
        let yes = self.walk(then, yes)?;
        let no = match otherwise {
            Some(node) => self.walk(node, no)?,
            None if !compares(cond, "!=") => {
                let mut filled = Vec::new();
                outer(then, &mut Vec::new(), &mut filled);
                self.each(no, &mut |_, state| {
                    let places: Vec<i64> = filled.iter().filter_map(|name| state.buffer(name)).collect();
                    state.excused.extend(places);
                    Ok(())
                })?
            }
            None => no,
        };
        self.control.pop();
        let both = yes.into_iter().chain(no).collect();
        // How far a share or a panel has been used has a meaning only with the loops around.
        let counts = self.changed.iter().any(|name| name.ends_with("_at")) || self.panel.is_some();
        Ok(if counts { both } else { State::joined(both) })
    }

    pub(super) fn each(
        &mut self,
        states: States,
        change: &mut dyn FnMut(&mut Self, &mut State) -> Followed<()>,
    ) -> Followed<States> {
        let mut changed = States::with_capacity(states.len());
        for mut state in states {
            change(self, &mut state)?;
            changed.push(state);
        }
        Ok(changed)
    }

    pub(super) fn declare(&mut self, state: &mut State, name: &str, value: &Term) -> Followed<()> {
        if matches!(value, Term::Member(_)) && state.flights.iter().any(|f| f.tag == "lozenge_reply") {
            return wrong("reads its arguments before they are there".to_owned());
        }
        let Some(offset) = place(value) else {
            let number = match value {
                Term::Member(_) => Form::symbol(name),
                Term::Name(number) if number == "CORE_NUMBER" => Form::symbol(CORE),
                other => state.form(other),
            };
            state.declare(name, Value::Number(number));
            return Ok(());
        };
        let offset = self.offset(state, &offset);
        self.place(state, name, &offset)
    }

    fn repeat(
        &mut self,
        node: &'a Node,
        init: &'a [Node],
        cond: &'a Term,
        step: &'a [Term],
        body: &'a Node,
        states: States,
    ) -> Followed<States> {
        if let Some((planes, transfer)) = planes(node) {
            return self.each(states, &mut |walker, state| walker.act(state, transfer, &planes));
        }
        if let Some(filling) = held::filling(node) {
            return self.each(states, &mut |walker, state| walker.fill_held(state, &filling));
        }
        if let Some(first) = ahead::first(node) {
            return self.each(states, &mut |walker, state| walker.first_turns(state, &first));
        }
        let ([Node::Declare { name: var, value: Some(lower), .. }], [step]) = (init, step) else {
            return lost("a loop that is not counted");
        };
        let by = match step {
            Term::Unary(op, _) if op == "++" => 1,
            Term::Binary(op, _, by) if op == "+=" => match **by {
                Term::Int(by) => by,
                _ => return lost("a step that is not known"),
            },
            _ => return lost("a loop that is not counted"),
        };
        if self.panel.is_some() && panel::only_moves(body) {
            return self.strips((var, lower, by), cond, body, states);
        }
        let symbol = format!("{var} since");
        // How many rounds of exchanges a piece has.
        let learn = self.panel.is_some() && panel::directly(body);
        let enter = |_: &mut Self, state: &mut State| -> Followed<()> {
            let value = state.form(lower).plus(&Form::symbol(&symbol));
            state.open();
            state.declare(var, Value::Number(value));
            state.begin(&symbol);
            Ok(())
        };
        let entered = self.each(states, &mut |walker, state| {
            let first = state.form(lower);
            enter(walker, state)?;
            match walker.above(state, cond).filter(|_| walker.panel.is_some()) {
                Some(there) => walker.iterations(state, (var, &first, by), &there, body),
                None => Ok(()),
            }
        })?;
        let (mut work, mut ends) = self.branch(cond, entered, learn)?;
        let mut seen = BTreeSet::new();
        // What came in for the first ones at once has no name for its iteration.
        let alone = share::parts(body);
        let first_phase = self.phase;
        self.control.push(cond);
        while !work.is_empty() {
            seen.extend(work.iter().cloned());
            if seen.len() > STATES {
                return lost("there are too many ways through a loop");
            }
            // The same loops over cores in every iteration.
            self.phase = first_phase;
            self.inside.push((var, cond));
            self.by.push(by);
            let after = self.walk(body, work)?;
            self.inside.pop();
            self.by.pop();
            let next = self.each(after, &mut |walker, state| {
                let value = state.number(var);
                if walker.panel.is_some() {
                    // Whether this core has a row of the panel before tells nothing of the next.
                    state.unlearn_both(CORE, &symbol);
                }
                state.advance(&symbol, by, alone);
                if let Some(value) = value {
                    state.set(var, Value::Number(value));
                }
                Ok(())
            })?;
            let (again, out) = self.branch(cond, next, learn)?;
            ends.extend(out);
            // What was found in the iteration before has told whether there is another.
            let again = self.each(again, &mut |walker, state| {
                let own = walker.above(state, cond);
                state.settle(&symbol, own.as_ref());
                Ok(())
            })?;
            work = distinct(again.into_iter().filter(|state| !seen.contains(state)));
        }
        self.control.pop();
        let ends = self.each(distinct(ends), &mut |walker, state| {
            if learn {
                // Rows of a panel are of no use after its columns.
                let shared = &walker.exchanged;
                state.contents.retain(|_, (_, held)| {
                    held.area.as_ref().is_none_or(|area| !shared.contains(&area.array))
                });
            }
            state.close();
            if learn {
                state.unlearn_rounds();
            }
            state.end(&symbol);
            Ok(())
        })?;
        Ok(distinct(ends))
    }

    /// A use of a buffer by a tile.
    pub(super) fn used(&mut self, state: &mut State, one: &Use) -> Followed<()> {
        if let Use::Read(name) | Use::Given(name) | Use::Write(name) = one
            && let Some(at) = state.buffer(name)
        {
            self.touch(state, self.region(state, name, at));
        }
        match one {
            Use::Declare(name, value) => {
                let Some(offset) = place(value) else {
                    return lost(format!("the place of `{name}` is not known"));
                };
                let offset = self.offset(state, &offset);
                self.place(state, name, &offset)
            }
            Use::Read(name) => match state.buffer(name) {
                Some(at) => self.reads(state, name, at),
                None => self.local(name),
            },
            Use::Given(name) => state.buffer(name).map_or(Ok(()), |at| self.reads(state, name, at)),
            Use::Write(name) => match state.buffer(name) {
                Some(at) => self.writes(state, name, at),
                None => self.local(name),
            },
        }
    }

    fn local(&self, name: &str) -> Followed<()> {
        if self.mapped.arrays.contains_key(name) {
            return wrong(format!("reaches `{name}` in main memory without a transfer"));
        }
        Ok(())
    }

    /// Where a buffer lies: what came in, or as large as it is declared.
    fn region(&self, state: &State, buffer: &str, at: i64) -> Region {
        let came = state.contents.get(&at).map_or(1, |(r, _)| r.bytes);
        Region { at, bytes: self.here().size(buffer).max(came) }
    }

    /// Whether a buffer holds a box that the mapping has there now.
    fn holds(&self, state: &State, buffer: &str, at: i64) -> Option<bool> {
        let (_, held) = state.contents.get(&at)?;
        let Some(area) = &held.area else { return Some(false) };
        if let Some(Value::One(_, number)) = state.get(buffer) {
            return Some(self.wanted(state, buffer, &area.put(NUMBER, number)));
        }
        if buffer.starts_with("share_of_") {
            return Some(true);
        }
        Some(self.wanted(state, buffer, area))
    }

    /// Whether a box is one that the mapping brings into a buffer now.
    pub(super) fn wanted(&self, state: &State, buffer: &str, area: &Area) -> bool {
        self.here().gets(buffer).iter().any(|copy| {
            self.mapped.area(copy, &|name| state.number(name)).is_some_and(|other| state.same(area, &other))
        })
    }

    pub(super) fn reads(&self, state: &State, buffer: &str, at: i64) -> Followed<()> {
        if let Some(ahead) = state.ahead.get(&at) {
            return match ahead.there() {
                true => Ok(()),
                false => wrong(format!("reads `{buffer}` before it has come in, or after it has gone out")),
            };
        }
        let region = self.region(state, buffer, at);
        if let Some(f) = state.flights.iter().find(|f| f.get && f.region.meets(region)) {
            return wrong(format!("reads `{buffer}` while `{}` is on its way in", f.tag));
        }
        match self.holds(state, buffer, at) {
            Some(true) => Ok(()),
            Some(false) => wrong(format!("reads `{buffer}`, which holds another box than the mapping says")),
            None if state.written.contains_key(&at) || state.excused.contains(&at) => Ok(()),
            None => wrong(format!("reads `{buffer}`, which nothing was brought into")),
        }
    }

    fn writes(&self, state: &mut State, buffer: &str, at: i64) -> Followed<()> {
        if state.excused.contains(&at) {
            return Ok(());
        }
        if state.sent.contains(&at) {
            return wrong(format!("changes `{buffer}` after a part of it went to other cores"));
        }
        let region = self.region(state, buffer, at);
        self.free(state, region, buffer, "writes")?;
        if let Some((_, (_, lost))) =
            state.dirty.iter().find(|(other, (r, _))| **other != at && r.meets(region))
        {
            return wrong(format!("overwrites `{lost}` before it is brought out"));
        }
        state.contents.retain(|other, (r, _)| *other == at || !r.meets(region));
        if self.holds(state, buffer, at) == Some(false) {
            state.contents.remove(&at);
        }
        // It is known since equal boxes were brought in that they are written back on all cores.
        if matches!(state.get(buffer), Some(Value::One(..))) && state.contents.contains_key(&at) {
            return Ok(());
        }
        if !self.here().puts(buffer).is_empty() {
            state.dirty.insert(at, (region, buffer.to_owned()));
        }
        state.written.insert(at, region);
        Ok(())
    }
}

/// Removes duplicate states, which mostly arise where branches meet.
fn distinct(states: impl IntoIterator<Item = State>) -> States {
    let mut all: States = states.into_iter().collect();
    if all.len() > 1 {
        all = all.into_iter().collect::<BTreeSet<State>>().into_iter().collect();
    }
    all
}
