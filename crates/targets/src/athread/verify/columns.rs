//! Panels of columns: sums go through all cores, each of which adds what it has of the rows, and the last one sends them to all.
//!
//! Cores are told apart by their place in that line: the first, which has the sums to begin with, the last, which has what they come to, and those between.

use super::compute::{self, Use};
use super::form::Form;
use super::mapped::Area;
use super::panel::of_all;
use super::read::{Node, Term};
use super::state::{Held, Region, State, Value};
use super::touch;
use super::transfer::name;
use super::walk::{CORE, Followed, States, Walker, lost, wrong};

/// The place of this core in the line through all cores.
pub(super) const PLACE: &str = "place in the line";
/// The number of the first element of sums that are handed on together.
const UNIT: &str = "first of some sums";
/// Bytes of a register.
const REGISTER: i64 = 32;

/// Functions of panels of columns.
const LINE: [&str; 3] = ["take_columns", "send_columns", "spread_columns"];

fn calls(node: &Node) -> bool {
    matches!(node, Node::Do(Term::Call(function, _)) if LINE.contains(&function.as_str()))
}

/// Whether sums go through all cores in a statement.
pub(super) fn lines(node: &Node) -> bool {
    match node {
        Node::Block(body) => body.iter().any(lines),
        Node::If(_, then, otherwise) => lines(then) || otherwise.as_ref().is_some_and(|n| lines(n)),
        Node::For { body, .. } | Node::While(_, body) => lines(body),
        other => calls(other),
    }
}

/// Whether sums are handed on in each iteration of a loop with this body.
pub(super) fn hands_on(body: &Node) -> bool {
    matches!(body, Node::Block(body) if body.iter().any(calls))
}

/// Whether a block gives the variables of the mapping their values for this core.
pub(super) fn names(node: &Node) -> bool {
    let name = |n: &Node| matches!(n, Node::Declare { value: Some(Term::Name(_)), .. });
    matches!(node, Node::Block(body) if body.iter().any(name))
}

/// How far sums have come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Line {
    /// Nothing is between cores.
    #[default]
    Free,
    /// All rows are in the sums, which the last core has.
    Summed,
    /// They go to all cores: some may still wait for them.
    Spread,
}

/// Where in the line a core is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    First,
    Between,
    Last,
}

/// Elements that are handed on: the buffer, its place, and the first of them.
struct Summed<'t> {
    buffer: &'t str,
    at: i64,
    index: Form,
}

impl<'a> Walker<'a> {
    /// The states of cores by their place in the line.
    pub(super) fn places(&self, states: States) -> States {
        let (rows, columns) = self.here().cores;
        let (place, last) = (Form::symbol(PLACE), rows * columns - 1);
        let mut all = States::new();
        for state in states {
            for kind in [Kind::First, Kind::Between, Kind::Last] {
                let mut state = state.clone();
                let (least, most) = match kind {
                    Kind::First => (0, 0),
                    Kind::Between => (1, last - 1),
                    Kind::Last => (last, last),
                };
                state.learn(place.plus(&Form::int(1 - least)), true);
                state.learn(Form::int(most + 1).minus(&place), true);
                all.push(state);
            }
        }
        all
    }

    fn kind(&self, state: &State) -> Kind {
        let (rows, columns) = self.here().cores;
        let place = Form::symbol(PLACE);
        if state.follows(&place) == Some(false) {
            Kind::First
        } else if state.follows(&place.minus(&Form::int(rows * columns - 2))) == Some(true) {
            Kind::Last
        } else {
            Kind::Between
        }
    }

    /// The number of cores, which all take part.
    fn line(&self, core: &Term, lines: Option<i64>) -> Followed<i64> {
        let (rows, columns) = self.here().cores;
        if name(core) != Some(CORE) {
            return wrong("hands sums on as another core".to_owned());
        }
        if lines.is_some_and(|lines| lines * 8 != rows * columns) {
            return wrong("hands sums on among other cores than those that run".to_owned());
        }
        Ok(rows * columns)
    }

    /// The box of sums here, as the mapping has it.
    fn sums(&self, state: &State, buffer: &str) -> Followed<Area> {
        let put = self.here().puts(buffer).first();
        match put.and_then(|copy| self.mapped.area(copy, &|name| state.number(name))) {
            Some(area) => Ok(area),
            None => lost(format!("which sums `{buffer}` has is not known")),
        }
    }

    fn some<'t>(&self, state: &State, term: &'t Term) -> Followed<Summed<'t>> {
        let Term::Unary(op, inner) = term else { return lost("sums that are handed on in another form") };
        let Term::Index(array, index) = &**inner else {
            return lost("sums that are handed on in another form");
        };
        let Some(buffer) = name(array).filter(|_| op == "&") else { return lost("sums of no buffer") };
        let Some(at) = state.buffer(buffer) else { return lost(format!("`{buffer}` is not a buffer")) };
        Ok(Summed { buffer, at, index: state.form(index) })
    }

    /// A loop in which sums are taken from the core before and handed on to the next, some at a time; one iteration stands for all.
    pub(super) fn units(
        &mut self,
        (var, lower, by): (&'a str, &'a Term, i64),
        cond: &'a Term,
        body: &'a Node,
        states: States,
    ) -> Followed<States> {
        let Node::Block(body) = body else { return lost("sums that are handed on in another form") };
        self.control.push(cond);
        let all = self.each(states, &mut |walker, state| walker.unit(state, (var, lower, by), cond, body));
        self.control.pop();
        all
    }

    fn unit(
        &mut self,
        state: &mut State,
        (var, lower, by): (&'a str, &'a Term, i64),
        cond: &'a Term,
        body: &'a [Node],
    ) -> Followed<()> {
        let first = state.form(lower);
        state.open();
        state.declare(var, Value::Number(Form::symbol(UNIT)));
        let Some(there) = self.above(state, cond) else { return lost("a loop that is not counted") };
        let end = there.plus(&Form::symbol(UNIT));
        let next = Form::symbol(UNIT).plus(&Form::int(by));
        let last = [
            Form::apply("LOZENGE_MIN", vec![end.clone(), next.clone()]),
            Form::apply("LOZENGE_MIN", vec![next, end.clone()]),
        ];
        let (mut taken, mut sent) = (None, false);
        for node in body {
            match node {
                Node::Declare { name, value: Some(value), .. } => self.declare(state, name, value)?,
                Node::Do(Term::Call(function, arguments)) if LINE.contains(&function.as_str()) => {
                    self.alike(state, &[], "an exchange")?;
                    let (from, words) = match (function.as_str(), arguments.as_slice()) {
                        ("take_columns", [from, words, core]) => {
                            self.line(core, None)?;
                            if taken.is_some() {
                                return wrong("takes sums from the core before twice".to_owned());
                            }
                            (from, words)
                        }
                        ("send_columns", [from, words, core, lines]) => {
                            let lines = state.form(lines).constant().unwrap_or(0);
                            self.line(core, Some(lines))?;
                            if sent {
                                return wrong("hands sums on twice".to_owned());
                            }
                            (from, words)
                        }
                        _ => return lost("sums that are handed on in another form"),
                    };
                    let some = self.some(state, from)?;
                    let words = state.form(words).constant().unwrap_or(0);
                    if words * REGISTER != by * self.here().element(some.buffer) {
                        return wrong(format!(
                            "hands on more or fewer elements of `{}` at a time",
                            some.buffer
                        ));
                    }
                    if some.index != Form::symbol(UNIT).minus(&first) {
                        return wrong(format!("hands on other elements of `{}`", some.buffer));
                    }
                    if function == "take_columns" {
                        self.begin_sums(state, &some, &first, &end)?;
                        taken = Some(some);
                    } else if taken.as_ref().is_none_or(|own| own.at != some.at) {
                        return wrong(format!("hands on sums in `{}` that it has not taken", some.buffer));
                    } else {
                        sent = true;
                    }
                }
                node if compute::only(node) => {
                    let Some(sums) = taken.as_ref() else {
                        return wrong(
                            "adds to sums before it has taken them from the core before".to_owned(),
                        );
                    };
                    if sent {
                        return wrong("adds to sums that it has handed on".to_owned());
                    }
                    let Some(found) = touch::rows(state, node, sums.buffer) else {
                        return lost(format!(
                            "which elements of `{}` are added to is not known",
                            sums.buffer
                        ));
                    };
                    let own = |(from, to): &touch::Rows| {
                        *from == sums.index && last.iter().any(|last| *to == last.minus(&first))
                    };
                    if !found.iter().all(own) {
                        return wrong(format!(
                            "adds to other elements of `{}` than it has taken",
                            sums.buffer
                        ));
                    }
                    state.open();
                    for one in compute::uses(node) {
                        match &one {
                            Use::Read(name) | Use::Write(name) if name == sums.buffer => {}
                            Use::Read(name) => {
                                self.used(state, &one)?;
                                self.in_order(state, name)?;
                            }
                            _ => self.used(state, &one)?,
                        }
                    }
                    state.close();
                }
                node if lines(node) => {
                    return wrong("takes sums or hands them on only where a condition holds".to_owned());
                }
                _ => return lost("sums that are handed on in another form"),
            }
        }
        state.close();
        let Some(sums) = taken else {
            return wrong("adds to sums that it has not taken from the core before".to_owned());
        };
        if !sent {
            return wrong(format!("does not hand the sums in `{}` on", sums.buffer));
        }
        self.end_sums(state, &sums)
    }

    /// Sums begin: the first core has their box, and the others have room.
    fn begin_sums(&mut self, state: &mut State, sums: &Summed, first: &Form, end: &Form) -> Followed<()> {
        if state.line != Line::Free {
            return wrong("hands sums on while some cores may still wait for those before".to_owned());
        }
        let area = self.sums(state, sums.buffer)?;
        if *first != area.offset || end.minus(first) != area.columns || area.rows != Form::int(1) {
            return wrong(format!("hands on other elements of `{}` than the mapping sums up", sums.buffer));
        }
        match self.kind(state) {
            Kind::First => self.reads(state, sums.buffer, sums.at),
            Kind::Between | Kind::Last => {
                let region = Region { at: sums.at, bytes: self.here().size(sums.buffer) };
                self.free(state, region, sums.buffer, "takes sums into")?;
                self.clear(state, region)
            }
        }
    }

    /// Sums are done: the last core has them.
    fn end_sums(&mut self, state: &mut State, sums: &Summed) -> Followed<()> {
        let area = self.sums(state, sums.buffer)?;
        let region = Region { at: sums.at, bytes: self.here().size(sums.buffer) };
        state.contents.remove(&sums.at);
        state.written.remove(&sums.at);
        state.dirty.remove(&sums.at);
        if self.kind(state) == Kind::Last {
            state.contents.insert(sums.at, (region, Held { area: Some(area), age: 0 }));
            state.written.insert(sums.at, region);
            state.dirty.insert(sums.at, (region, sums.buffer.to_owned()));
        }
        state.line = Line::Summed;
        Ok(())
    }

    /// What is added up has its rows in the order of the line.
    fn in_order(&self, state: &State, buffer: &str) -> Followed<()> {
        let held = state.buffer(buffer).and_then(|at| state.contents.get(&at));
        let Some((_, Held { area: Some(area), .. })) = held else { return Ok(()) };
        let (rows, columns) = self.here().cores;
        let (length, pitch) = match area.pitch == Form::default() {
            true => (&area.columns, Form::int(1)),
            false => (&area.rows, area.pitch.clone()),
        };
        let each = length.bound().unwrap_or(0);
        let shift = Form::symbol(PLACE).times(&Form::int(each)).times(&pitch);
        let offset = area.offset.put(PLACE, &Form::default());
        if area.offset.minus(&offset) != shift || of_all(length, PLACE, each, rows * columns).is_none() {
            return wrong(format!("adds up what it has in `{buffer}` in another order than the rows have"));
        }
        Ok(())
    }

    /// The last core sends sums to all.
    pub(super) fn spread(&mut self, state: &mut State, arguments: &[Term]) -> Followed<()> {
        let [all, words, core, lines] = arguments else { return lost("sums for all cores in another form") };
        let lines = state.form(lines).constant().unwrap_or(0);
        self.line(core, Some(lines))?;
        self.alike(state, &[], "an exchange")?;
        let Some((buffer, at)) = name(all).and_then(|b| Some((b, state.buffer(b)?))) else {
            return lost("sums for all cores in another form");
        };
        if state.line != Line::Summed {
            return wrong(format!("sends `{buffer}` to all before its sums are done"));
        }
        let area = self.sums(state, buffer)?;
        let element = self.here().element(buffer).max(1);
        let a_word = REGISTER / element;
        let whole = Form::apply("/", vec![area.columns.plus(&Form::int(a_word - 1)), Form::int(a_word)]);
        if state.form(words) != whole {
            return wrong(format!("sends more or fewer elements of `{buffer}` to all than there are"));
        }
        let region = Region { at, bytes: self.here().size(buffer) };
        if self.kind(state) == Kind::Last {
            self.reads(state, buffer, at)?;
        } else {
            self.free(state, region, buffer, "fills")?;
            self.clear(state, region)?;
            state.contents.insert(at, (region, Held { area: Some(area), age: 0 }));
        }
        state.line = Line::Spread;
        Ok(())
    }

    /// A barrier: all cores have what went to them.
    pub(super) fn meet(&self, state: &mut State) -> Followed<()> {
        self.alike(state, &[], "a barrier")?;
        if state.line == Line::Spread {
            state.line = Line::Free;
        }
        Ok(())
    }

    /// Each core has the rows at its place in the line, and none is left.
    pub(super) fn all_places(&self, state: &State, var: &str) -> Followed<()> {
        let (rows, columns) = self.here().cores;
        for bounds in self.mapped.loops(var, &|name| state.number(name)) {
            let more = bounds.upper.minus(&Form::int(rows * columns));
            if state.follows(&more) != Some(false) {
                return wrong(format!("may have more of `{var}` than there are cores"));
            }
        }
        Ok(())
    }
}
