//! Follows a kernel's text with all possible states, and checks each transfer, wait and use.

mod uses;

use std::collections::{BTreeMap, BTreeSet};

use super::blocks;
use super::branch::{compares, outer};
use super::broadcast_check;
use super::compute::{self, place};
use super::exchange;
use super::form::Form;
use super::mapped::{Mapped, Phase};
use super::panel_rows::{self, Moved, Numbers};
use super::property::Property;
use super::read::{Node, Term};
use super::round_robin_forms;
use super::state::{State, Value};
use super::stationary_check;
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
    } else if panel_rows::exchanges(body) {
        2
    } else {
        0
    };
    let panels = if together > 0 { panel_rows::together(&mapped.phases, together) } else { Vec::new() };
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
        casts: broadcast_check::casts(body),
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
            return self.computes(node, states);
        }
        match node {
            Node::Block(body) => self.block(body, states),
            Node::If(..) if let Some(part) = round_robin_forms::part(node) => {
                self.each(states, &mut |walker, state| walker.goes_ahead(state, &part))
            }
            Node::If(cond, then, otherwise) if self.panel.is_none() && blocks::comes(then) => {
                self.blocks(cond, then, otherwise.as_deref(), states)
            }
            Node::If(cond, then, otherwise) if self.panel.is_none() && panel_rows::exchanges(then) => {
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

    /// Computations alone: what they use has to be there.
    fn computes(&mut self, node: &'a Node, states: States) -> Followed<States> {
        let found = compute::uses(node);
        self.each(states, &mut |walker, state| {
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
        })
    }

    /// Statements one after the other, and the end of the phase after the block of a loop over
    /// cores.
    fn block(&mut self, body: &'a [Node], mut states: States) -> Followed<States> {
        states = self.each(states, &mut |_, state| {
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
        let over = body.iter().any(
            |n| matches!(n, Node::Declare { name, value: Some(v), .. } if name != CORE && v.mentions(CORE)),
        ) && self.panel.is_none();
        let states = self.each(states, &mut |_, state| {
            state.close();
            if over {
                state.end_phase();
            }
            Ok(())
        })?;
        Ok(distinct(states))
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
        if let Some(filling) = stationary_check::filling(node) {
            return self.each(states, &mut |walker, state| walker.fill_held(state, &filling));
        }
        if let Some(first) = round_robin_forms::first(node) {
            return self.each(states, &mut |walker, state| walker.first_turns(state, &first));
        }
        let ([Node::Declare { name: var, value: Some(lower), .. }], [step]) = (init, step) else {
            return lost("a loop that is not counted");
        };
        let by = counted_by(step)?;
        if self.panel.is_some() && panel_rows::only_moves(body) {
            return self.strips((var, lower, by), cond, body, states);
        }
        let symbol = format!("{var} since");
        // How many rounds of exchanges a piece has.
        let learn = self.panel.is_some() && panel_rows::directly(body);
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
        let alone = exchange::parts(body);
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
            walker.leaves(state, &symbol, learn);
            Ok(())
        })?;
        Ok(distinct(ends))
    }

    /// What holds after a loop; `learn` where it goes through the rounds of a panel's exchanges.
    fn leaves(&self, state: &mut State, symbol: &str, learn: bool) {
        if learn {
            // Rows of a panel are of no use after its columns.
            let shared = &self.exchanged;
            state
                .contents
                .retain(|_, (_, held)| held.area.as_ref().is_none_or(|area| !shared.contains(&area.array)));
        }
        state.close();
        if learn {
            state.unlearn_rounds();
        }
        state.end(symbol);
    }
}

/// What a loop's step adds to its variable.
fn counted_by(step: &Term) -> Followed<i64> {
    match step {
        Term::Unary(op, _) if op == "++" => Ok(1),
        Term::Binary(op, _, by) if op == "+=" => match **by {
            Term::Int(by) => Ok(by),
            _ => lost("a step that is not known"),
        },
        _ => lost("a loop that is not counted"),
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
