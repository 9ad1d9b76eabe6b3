//! Transfers, waits, barriers and exchanges: what each requires of the state before it, and how it
//! changes the state.

use std::collections::BTreeSet;

use super::form::{Atom, Form};
use super::mapped::{Area, plane};
use super::read::{Node, Term};
use super::state::{Flight, Held, NUMBER, Region, State, Value};
use super::walk::{CORE, Followed, Walker, lost, wrong};

/// A transfer as it is written.
pub(super) struct Transfer<'t> {
    function: &'t str,
    pub local: &'t Term,
    pub memory: &'t Term,
    pub rows: &'t Term,
    pub columns: &'t Term,
    pub pitch: &'t Term,
    pub bytes: &'t Term,
    pub tag: &'t str,
    /// Loops over planes around it: variable and end.
    planes: Vec<(&'t str, &'t Term)>,
    /// If it is a share of the box: who shares, and this core's place among them.
    pub share: Option<(&'t str, &'t Term)>,
    /// If it is a broadcast to all cores: this core.
    cast: Option<&'t Term>,
}

pub(super) fn name(term: &Term) -> Option<&str> {
    match term {
        Term::Name(name) => Some(name),
        Term::Unary(op, inner) if op == "&" => name(inner),
        _ => None,
    }
}

/// `array` and `index` of `&array[index]`.
pub(super) fn addressed(term: &Term) -> Option<(&str, &Term)> {
    match term {
        Term::Unary(op, inner) if op == "&" => match &**inner {
            Term::Index(array, index) => Some((name(array)?, index)),
            _ => None,
        },
        _ => None,
    }
}

impl<'t> Transfer<'t> {
    pub fn of(
        function: &'t str,
        arguments: &'t [Term],
        planes: Vec<(&'t str, &'t Term)>,
    ) -> Option<Transfer<'t>> {
        let (head, tag) = match (function, arguments) {
            ("get_box" | "put_box", [head @ .., tag]) => (head, tag),
            (get, [head @ .., _, tag]) if get.starts_with("get_share_") => (head, tag),
            ("cast_box", [head @ .., _, _, tag]) => (head, tag),
            _ => return None,
        };
        let [local, memory, rows, columns, pitch, bytes] = head else { return None };
        let share = match (function.strip_prefix("get_share_"), arguments) {
            (Some(line), [.., place, _]) => Some((line, place)),
            _ => None,
        };
        Some(Transfer {
            function,
            local,
            memory,
            rows,
            columns,
            pitch,
            bytes,
            tag: name(tag)?,
            planes,
            share,
            cast: arguments.get(6).filter(|_| function == "cast_box"),
        })
    }
}

impl Walker<'_> {
    /// A statement that moves data, waits, or changes a name.
    pub(super) fn act(&mut self, state: &mut State, term: &Term, planes: &[(&str, &Term)]) -> Followed<()> {
        match term {
            Term::Binary(op, target, value) if op == "+=" && state.steps(target) => {
                let Some(target) = name(target) else { return lost("a sum outside of the tiles") };
                let sum = state.form(&Term::Name(target.to_owned())).plus(&state.form(value));
                self.assign(state, target, value, state.resolve(&sum));
                Ok(())
            }
            Term::Binary(op, sent, call) if op == "+=" => {
                let (Some(sent), Term::Call(function, arguments)) = (name(sent), &**call) else {
                    return lost("a sum outside of the tiles");
                };
                let Some(transfer) = Transfer::of(function, arguments, planes.to_vec()) else {
                    return lost(format!("`{function}` is not a transfer"));
                };
                if sent != format!("{}_sent", transfer.tag) {
                    return wrong(format!("counts a transfer of `{}` in `{sent}`", transfer.tag));
                }
                self.start(state, &transfer)
            }
            Term::Binary(op, target, value) if op == "=" => {
                let Some(target) = name(target) else { return lost("an assignment outside of the tiles") };
                if **value == Term::Int(0) && state.get(target).is_none() {
                    state.ready.insert(target.to_owned());
                }
                let form = state.form(value);
                self.assign(state, target, value, form);
                Ok(())
            }
            Term::Call(function, arguments) => self.call(state, function, arguments),
            Term::Name(_) => Ok(()),
            _ => lost("a statement outside of the tiles"),
        }
    }

    fn assign(&self, state: &mut State, target: &str, value: &Term, form: Form) {
        let choices = state.choices(self.control.iter().copied().chain([value]));
        state.set(target, Value::Number(form));
        state.choose(target, choices);
    }

    fn call(&mut self, state: &mut State, function: &str, arguments: &[Term]) -> Followed<()> {
        match (function, arguments) {
            ("emulated_compute", _) => Ok(()),
            ("get_box", [local, .., reply]) if name(local) == Some("lozenge_arguments") => {
                state.flights.insert(Flight {
                    tag: name(reply).unwrap_or_default().to_owned(),
                    get: true,
                    region: Region { at: -1, bytes: 1 },
                    held: Held { area: None, age: 0 },
                    all: false,
                });
                Ok(())
            }
            ("WAIT", [tag, count]) => {
                let Some(tag) = name(tag) else { return lost("a wait for no reply") };
                let own = tag == "lozenge_reply" && *count == Term::Int(1);
                if !own && name(count) != Some(&format!("{tag}_sent")) {
                    return wrong(format!("waits for `{tag}` with another count"));
                }
                self.land(state, tag);
                Ok(())
            }
            ("BARRIER", []) => {
                self.alike(state, &[], "a barrier")?;
                if let Some(flight) = state.flights.iter().find(|f| !f.get) {
                    return wrong(format!("passes a barrier before `{}` has brought out", flight.tag));
                }
                self.all_out(state)?;
                if !state.ahead.is_empty() {
                    return wrong("passes a barrier while shares of later steps come".to_owned());
                }
                let written = &self.mapped.written;
                state.each_held(&mut |held| {
                    if held.area.as_ref().is_some_and(|area| written.contains(&area.array)) {
                        held.area = None;
                    }
                });
                state.forget();
                state.apart = false;
                Ok(())
            }
            (
                "share_along_row" | "share_along_column" | "share_among_all" | "share_by_itself",
                [to, stage, rows, columns, _, place],
            ) => {
                let line = function.strip_prefix("share_").unwrap_or(function);
                if self.is_ahead(state, stage) {
                    return self.share_ahead(state, line, [to, stage, rows, columns, place], None);
                }
                self.share(state, line, [to, stage, rows, columns, place], None)
            }
            (function, [to, stage, pitch, rows, columns, bytes, place])
                if function.starts_with("share_pieces_") =>
            {
                let line = function.strip_prefix("share_pieces_").unwrap_or(function);
                if !matches!(line, "along_row" | "along_column" | "by_itself") {
                    return lost("several boxes at once that are not shared by a line");
                }
                if self.is_ahead(state, stage) {
                    let parts = [to, stage, rows, columns, place];
                    return self.share_ahead(state, line, parts, Some((pitch, bytes)));
                }
                self.share(state, line, [to, stage, rows, columns, place], Some((pitch, bytes)))
            }
            ("MEET", []) => self.meet(state),
            ("first_rows", arguments) => self.first_rows(state, arguments),
            ("turn_rows", arguments) => self.turn_rows(state, arguments),
            ("exchange_panel", arguments) => self.exchange_panel(state, arguments),
            ("gather_panel", arguments) => self.gather_panel(state, arguments),
            _ => lost(format!("`{function}` outside of the tiles")),
        }
    }

    /// Transfers of a tag are done.
    pub(super) fn land(&mut self, state: &mut State, tag: &str) {
        let (done, rest) = std::mem::take(&mut state.flights).into_iter().partition(|f| f.tag == tag);
        state.flights = rest;
        let done: BTreeSet<Flight> = done;
        for flight in done {
            if flight.all {
                state.arriving.insert(flight.region.at, (flight.region, flight.held));
            } else if flight.get {
                state.contents.insert(flight.region.at, (flight.region, flight.held));
            }
        }
    }

    /// The box and the region of a transfer.
    fn box_of(&mut self, state: &State, t: &Transfer) -> Followed<(Area, Region)> {
        let Some((array, offset)) = addressed(t.memory) else { return lost("a transfer of no box") };
        let mut planes = Vec::new();
        let mut inside = None;
        for (d, (var, end)) in t.planes.iter().enumerate() {
            let inside = inside.get_or_insert_with(|| {
                let mut state = state.clone();
                state.open();
                state
            });
            planes.push(inside.form(end));
            inside.declare(var, Value::Number(Form::symbol(&plane(d))));
        }
        let state = inside.as_ref().unwrap_or(state);
        let (rows, columns) = (state.form(t.rows), state.form(t.columns));
        let one = state.normal(&rows) == Form::int(1) && t.planes.is_empty();
        let pitch = state.form(t.pitch);
        if pitch == Form::default() && state.normal(&rows) != Form::int(1) {
            // No pitch stands for one row.
            return wrong(format!("moves rows of `{array}` that are no distance apart"));
        }
        let area = Area {
            array: array.to_owned(),
            offset: state.form(offset),
            planes,
            pitch: if one { Form::default() } else { pitch },
            rows,
            columns,
            share: t.share.map(|(line, place)| (line.to_owned(), state.form(place))),
        };
        let (at, buffer) = match addressed(t.local) {
            Some((buffer, index)) => {
                let mut index = state.form(index);
                for d in 0..t.planes.len() {
                    index = index.put(&plane(d), &Form::default());
                }
                if index != Form::default() {
                    return wrong(format!("moves a box to the middle of `{buffer}`"));
                }
                (state.buffer(buffer), buffer)
            }
            None => (name(t.local).and_then(|n| state.buffer(n)), name(t.local).unwrap_or("?")),
        };
        let Some(at) = at else { return lost(format!("`{buffer}` is not a buffer")) };
        let bound = |form: &Form| form.bound().or_else(|| state.normal(form).bound());
        let mut rows = bound(&area.rows);
        if let Some((line, _)) = t.share {
            rows = rows.map(|rows| self.here().share(line, rows));
        }
        let parts: Option<Vec<i64>> =
            area.planes.iter().chain([&area.columns]).map(bound).chain([rows]).collect();
        let elem = state.form(t.bytes).constant().unwrap_or(1);
        let bytes = match parts {
            Some(parts) => parts.into_iter().fold(elem, |a, b| a.saturating_mul(b.max(0))),
            None => self.here().size(buffer),
        };
        Ok((area, Region { at, bytes }))
    }

    fn start(&mut self, state: &mut State, t: &Transfer) -> Followed<()> {
        if self.asks_boxes(state, t) {
            return self.first_boxes(state, t);
        }
        let (area, mut region) = self.box_of(state, t)?;
        if !state.ready.contains(t.tag) {
            return wrong(format!("uses the reply `{}` before it is 0", t.tag));
        }
        let buffer = name(t.local).or(addressed(t.local).map(|(n, _)| n)).unwrap_or("?").to_owned();
        let element = self.here().element(buffer.strip_prefix("share_of_").unwrap_or(&buffer));
        if element != 0 && state.form(t.bytes) != Form::int(element) {
            return wrong(format!("moves elements of `{buffer}` with another size"));
        }
        let get = t.function != "put_box";
        if let Some(Value::One(at, number)) = state.get(&buffer) {
            match state.covers.get(at) {
                Some(cover) if *number == Form::symbol(NUMBER) => region.bytes = cover.bytes,
                _ => return lost(format!("a transfer of one of several `{buffer}`")),
            }
        }
        if t.share.is_some() && core(&state.form(t.pitch), &["/", "%"]) {
            return wrong("shares a box with a pitch of its own".to_owned());
        }
        if let Some(core) = t.cast {
            self.cast(state, region, &buffer, core)?;
        } else {
            self.touch(state, region);
        }
        if get {
            self.free(state, region, &buffer, "fills")?;
            let out = state
                .flights
                .iter()
                .find(|f| !f.get && f.held.area.as_ref().is_some_and(|other| !state.apart(other, &area)));
            if let Some(out) = out {
                return wrong(format!(
                    "brings `{}` into `{buffer}` while `{}` may still be changing it",
                    area.array, out.tag
                ));
            }
            self.clear(state, region)?;
            if matches!(state.get(&buffer), Some(Value::One(..))) && !self.here().puts(&buffer).is_empty() {
                state.dirty.insert(region.at, (region, buffer.clone()));
            }
            state.sent.remove(&region.at);
        } else {
            self.bring_out(state, &area, region, &buffer)?;
        }
        self.note(&area, get);
        let held = Held { area: Some(area), age: 0 };
        state.flights.insert(Flight { tag: t.tag.to_owned(), get, region, held, all: t.cast.is_some() });
        Ok(())
    }

    /// Results leave a buffer.
    pub(super) fn bring_out(
        &mut self,
        state: &mut State,
        area: &Area,
        region: Region,
        buffer: &str,
    ) -> Followed<()> {
        if let Some(flight) = state.flights.iter().find(|f| f.get && f.region.meets(region)) {
            return wrong(format!("brings out `{buffer}` while `{}` is bringing in", flight.tag));
        }
        let phase = self.here();
        let here = |copy: &loops::Copy| {
            self.mapped.area(copy, &|name| state.number(name)).is_some_and(|other| state.same(area, &other))
        };
        if !phase.puts(buffer).iter().any(here) {
            return wrong(format!("brings `{buffer}` to another place of `{}` than the mapping", area.array));
        }
        let came = state
            .contents
            .get(&region.at)
            .and_then(|(_, held)| held.area.as_ref())
            .is_some_and(|held| state.same(held, area));
        let needed = phase.once(buffer) && phase.gets(buffer).iter().any(here);
        let excused = state.excused.contains(&region.at);
        let written = state.written.contains_key(&region.at) && !needed;
        if !came && !excused && !written {
            return wrong(format!("brings out `{buffer}`, which does not hold the box of `{}`", area.array));
        }
        // What was brought in before of the same elements is out of date.
        let apart: Vec<bool> =
            state.contents.values().map(|(r, held)| *r == region || apart(state, held, area)).collect();
        let mut fresh = apart.iter();
        let keep: BTreeSet<Flight> =
            state.flights.iter().filter(|f| !f.get || apart_flight(state, f, area)).cloned().collect();
        for (_, held) in state.contents.values_mut() {
            if fresh.next() == Some(&false) {
                held.area = None;
            }
        }
        state.flights = std::mem::take(&mut state.flights)
            .into_iter()
            .map(|mut flight| {
                if !keep.contains(&flight) {
                    flight.held.area = None;
                }
                flight
            })
            .collect();
        state.forget();
        state.dirty.remove(&region.at);
        if state.keeps {
            // What has gone out is what others get of it.
            state.written.remove(&region.at);
            state.contents.insert(region.at, (region, Held { area: Some(area.clone()), age: 1 }));
        }
        Ok(())
    }

    /// Nothing of a region may be on its way.
    pub(super) fn free(&self, state: &State, region: Region, buffer: &str, what: &str) -> Followed<()> {
        // Where shares come ahead there is always one.
        let ahead = state
            .ahead
            .iter()
            .find(|(at, other)| other.region.meets(region) && state.buffer(buffer) != Some(**at));
        if ahead.is_some() {
            return wrong(format!("{what} `{buffer}` where shares of later steps come"));
        }
        match state.flights.iter().find(|f| f.region.meets(region)) {
            Some(f) => {
                let way = if f.get { "in" } else { "out" };
                wrong(format!("{what} `{buffer}` while `{}` is on its way {way}", f.tag))
            }
            None => Ok(()),
        }
    }

    /// A region gets other contents.
    pub(super) fn clear(&self, state: &mut State, region: Region) -> Followed<()> {
        if let Some((_, lost)) = state.dirty.values().find(|(r, _)| r.meets(region)) {
            return wrong(format!("overwrites `{lost}` before it is brought out"));
        }
        state.contents.retain(|_, (r, _)| !r.meets(region));
        state.written.retain(|_, r| !r.meets(region));
        Ok(())
    }

    /// All results have been brought out.
    pub(super) fn all_out(&self, state: &State) -> Followed<()> {
        match state.dirty.values().next() {
            Some((_, buffer)) => wrong(format!("does not bring out `{buffer}`")),
            None => Ok(()),
        }
    }

    /// Whether all cores whose numbers may differ here execute this. The enclosing conditions must
    /// depend only on what these cores have in common.
    pub(super) fn alike(&self, state: &State, common: &[&str], what: &str) -> Followed<()> {
        let every = ["/", "%"];
        let differs: Vec<&str> = every.into_iter().filter(|op| !common.contains(op)).collect();
        // Along a row the row may matter, not the column.
        let differs: Vec<&str> = if common.is_empty() { every.to_vec() } else { differs };
        for cond in &self.control {
            if self.depends(state, cond, &differs) {
                return wrong(format!("has {what} that some cores may not reach"));
            }
        }
        Ok(())
    }

    fn depends(&self, state: &State, cond: &Term, on: &[&str]) -> bool {
        match cond {
            Term::Binary(op, a, b) if op == "&&" || op == "||" => {
                self.depends(state, a, on) || self.depends(state, b, on)
            }
            other => core(&self.above(state, other).unwrap_or_else(|| state.form(other)), on),
        }
    }
}

fn apart(state: &State, held: &Held, area: &Area) -> bool {
    held.area.as_ref().is_none_or(|other| state.apart(other, area))
}

fn apart_flight(state: &State, flight: &Flight, area: &Area) -> bool {
    apart(state, &flight.held, area)
}

/// Whether a form depends on a core's number: on its row (`/`), its column (`%`), or on all of it.
pub(super) fn core(form: &Form, parts: &[&str]) -> bool {
    form.any(&|atom| match atom {
        Atom::Apply(op, arguments) => {
            parts.contains(&op.as_str()) && arguments.first().is_some_and(|a| *a == Form::symbol(CORE))
        }
        Atom::Symbol(_) => false,
    }) || whole(form)
}

/// Whether a form has a core's number other than as a row or a column.
fn whole(form: &Form) -> bool {
    form.outside(&["/", "%"], CORE)
}

/// A loop over planes: the variables with their ends, and the transfer inside.
pub(super) fn planes(node: &Node) -> Option<(Vec<(&str, &Term)>, &Term)> {
    match node {
        Node::For { init, cond: Some(Term::Binary(op, _, end)), step, body } if op == "<" => {
            let [Node::Declare { name, value: Some(Term::Int(0)), .. }] = init.as_slice() else {
                return None;
            };
            let [Term::Unary(by, _)] = step.as_slice() else { return None };
            let (mut inner, transfer) = planes(body)?;
            inner.insert(0, (name, end));
            (by == "++").then_some((inner, transfer))
        }
        Node::Block(body) => match body.as_slice() {
            [only] => planes(only),
            _ => None,
        },
        Node::Do(term @ Term::Binary(op, _, call)) if op == "+=" => match &**call {
            Term::Call(function, _) if function == "get_box" || function == "put_box" => Some((vec![], term)),
            _ => None,
        },
        _ => None,
    }
}
