//! Shares that are prefetched several steps ahead: the cores take turns with what all cores need,
//! and a core has several of its own boxes at once, in two buffers.
//!
//! The contents of local memory are not followed from step to step. Instead, each statement is
//! compared with the rule. The first steps are brought in before the loops. A step waits for its
//! own share and for nothing less. What replaces it is the share that this core needs next, in the
//! same loop or among the first steps of the next loop. Loops go through all steps from 0 on. So
//! each step finds what it needs, and no transfer is running after the last.

use std::cell::RefCell;

use loops::{BinaryOp, Copy, Expr};

use super::compute::{self, Use};
use super::form::Form;
use super::mapped::Area;
use super::property::Property;
use super::read::{Node, Term};
use super::round_robin_forms::{First, Next, Part, indexed, root, rule, transfer, waits};
use super::shares_ahead::{Ahead, Done, How};
use super::state::{Flight, Held, Region, State, Value};
use super::stationary_check::{self, STEP};
use super::transfer::{Transfer, addressed, core, name};
use super::walk::{CORE, Followed, Walker, lost, wrong};

/// Boxes that come at once, at most.
const BOXES: i64 = 16;

/// The innermost loops.
pub(super) struct Inside {
    pub inner: (String, Form),
    pub outer: (String, Form),
}

/// A box with the columns of several that follow each other, and the columns of one.
fn wide(copy: &Copy, boxes: i64) -> Option<(Copy, i64)> {
    let [rows, Expr::Binary(BinaryOp::Min, a, b)] = copy.extents.as_slice() else { return None };
    let (columns, rest) = match (&**a, &**b) {
        (Expr::Int(n), rest) | (rest, Expr::Int(n)) => (*n, rest.clone()),
        _ => return None,
    };
    let extents = vec![rows.clone(), Expr::Int(columns * boxes).min(rest)];
    Some((Copy { extents, ..copy.clone() }, columns))
}

impl<'a> Walker<'a> {
    /// The box of a mapped transfer for these values of names; and the loops that have not begun.
    pub(super) fn box_at(
        &self,
        state: &State,
        copy: &Copy,
        values: &[(&str, &Form)],
    ) -> Option<(Area, Vec<String>)> {
        let unknown = RefCell::new(Vec::new());
        let area = self.mapped.area(copy, &|wanted| {
            let given = values.iter().find(|(own, _)| *own == wanted).map(|(_, value)| (*value).clone());
            given.or_else(|| state.number(wanted)).or_else(|| {
                unknown.borrow_mut().push(wanted.to_owned());
                Some(Form::default())
            })
        })?;
        let mut unknown = unknown.into_inner();
        unknown.sort();
        unknown.dedup();
        Some((area, unknown))
    }

    /// The one transfer of the mapping that a share is for.
    pub(super) fn copy_of(&self, stage: &str) -> Option<&'a Copy> {
        let phases: &'a [super::mapped::Phase] = &self.mapped.phases;
        let phase = phases.get(self.phase.checked_sub(1)?)?;
        let buffer = stage.strip_prefix("share_of_").or_else(|| stage.strip_prefix("turns_of_"));
        match phase.gets(buffer?) {
            [one] if !phase.writes(one.from.array.as_str()) => Some(one),
            _ => None,
        }
    }

    /// The box of a transfer as it is written, and its place among those who share it.
    fn written_box(&self, state: &State, t: &Transfer) -> Option<(Area, Form)> {
        let (array, offset) = addressed(t.memory)?;
        let (_, place) = t.share?;
        let area = Area {
            array: array.to_owned(),
            offset: state.form(offset),
            planes: Vec::new(),
            rows: state.form(t.rows),
            columns: state.form(t.columns),
            pitch: state.form(t.pitch),
            share: None,
        };
        Some((area, state.form(place)))
    }

    /// Bytes of an element, if a transfer has them right.
    fn element(&self, state: &State, t: &Transfer, stage: &str) -> Followed<i64> {
        let element = self.here().element(stage.strip_prefix("share_of_").unwrap_or(stage));
        if state.form(t.bytes) != Form::int(element) {
            return wrong(format!("moves elements of `{stage}` with another size"));
        }
        Ok(element)
    }

    /// The two loops around, from 0 on in steps of 1, with nothing else between.
    fn loops(&self, state: &State) -> Option<Inside> {
        let [.., outer, inner] = self.inside.as_slice() else { return None };
        let [.., around, cond] = self.control.as_slice() else { return None };
        let [.., 1, 1] = self.by.as_slice() else { return None };
        if *around != outer.1 || *cond != inner.1 {
            return None;
        }
        let one = |(var, cond): &(&str, &Term)| {
            let counts = state.number(var)? == Form::symbol(&format!("{var} since"));
            counts.then_some(((*var).to_owned(), self.above(state, cond)?))
        };
        Some(Inside { inner: one(inner)?, outer: one(outer)? })
    }

    /// The shares in a place, and the loops that they are for.
    pub(super) fn ahead(&self, state: &State, stage: &str) -> Followed<(i64, Ahead, Inside)> {
        let at = state.buffer(stage);
        let Some((at, ahead)) = at.and_then(|at| Some((at, state.ahead.get(&at)?.clone()))) else {
            return wrong(format!("uses `{stage}`, of which the first steps have not been brought in"));
        };
        let Some(inside) = self.loops(state) else {
            return wrong(format!("uses `{stage}` in other loops than those over all steps"));
        };
        if ahead.loops.iter().any(|var| *var != inside.inner.0 && *var != inside.outer.0) {
            return wrong(format!("brings in `{stage}` before other loops than those that use it"));
        }
        Ok((at, ahead, inside))
    }

    pub(super) fn step(state: &State, var: &str) -> Form {
        state.number(var).unwrap_or_else(|| Form::symbol(var))
    }

    /// Cores ask for their shares of the first steps.
    pub(super) fn first_turns(&mut self, state: &mut State, first: &First<'a>) -> Followed<()> {
        self.followed.insert(Property::Turns);
        let Some(t) = transfer(first.transfer) else { return lost("shares of first steps, in another form") };
        let (Some(stage), Some((line, place))) = (name(t.local), t.share) else {
            return lost("shares of first steps, in another form");
        };
        let (Some(at), Some(copy)) = (state.buffer(stage), self.copy_of(stage)) else {
            return lost(format!("`{stage}` is for no box"));
        };
        let Some((rule, step)) = rule(place).filter(|_| line == "among_all") else {
            return lost("shares of first steps, in another form");
        };
        if !state.ready.contains(t.tag) {
            return wrong(format!("uses the reply `{}` before it is 0", t.tag));
        }
        let element = self.element(state, &t, stage)?;
        let number = Form::symbol(STEP);
        state.open();
        state.declare(first.var, Value::Number(number.clone()));
        let own = self.written_box(state, &t);
        let wanted = self.box_at(state, copy, &[(first.var, &number)]);
        let end = state.form(first.steps.0);
        let same = state.form(step) == number && !end.mentions(STEP);
        state.close();
        let (Some((area, _)), Some((wanted, loops)), true) = (own, wanted, same) else {
            return lost("shares of first steps, in another form");
        };
        if !state.same(&area, &wanted) {
            return wrong(format!("brings another box to `{stage}` than the first steps need"));
        }
        let each = self.in_turns((first.var, place), first.steps.1, &area, stage, element)?;
        let region = Region { at, bytes: each };
        let (rule, turns) = (rule.to_owned(), first.steps.1);
        let mut loops = loops;
        loops.push(first.var.to_owned());
        let how = How::Turns { rule, turns };
        self.ask(state, Ahead { tag: t.tag.to_owned(), region, how, done: Done::Asked, loops }, stage)
    }

    /// The first shares are on their way.
    fn ask(&mut self, state: &mut State, ahead: Ahead, stage: &str) -> Followed<()> {
        self.free(state, ahead.region, stage, "fills")?;
        self.clear(state, ahead.region)?;
        let held = Held { area: None, age: 0 };
        state.flights.insert(Flight {
            tag: ahead.tag.clone(),
            get: true,
            region: ahead.region,
            held,
            all: false,
        });
        state.ahead.insert(ahead.region.at, ahead);
        Ok(())
    }

    /// Whether a transfer brings in the first of several boxes.
    pub(super) fn asks_boxes(&self, state: &State, t: &Transfer) -> bool {
        let half = name(t.local).map(|stage| format!("{stage}_half"));
        t.share.is_some() && half.is_some_and(|half| state.number(&half).is_some())
    }

    /// A core asks for the first of its boxes.
    pub(super) fn first_boxes(&mut self, state: &mut State, t: &Transfer) -> Followed<()> {
        self.followed.insert(Property::Turns);
        let stage = name(t.local).unwrap_or("?");
        let (Some(at), Some(copy)) = (state.buffer(stage), self.copy_of(stage)) else {
            return lost(format!("`{stage}` is for no box"));
        };
        if !state.ready.contains(t.tag) {
            return wrong(format!("uses the reply `{}` before it is 0", t.tag));
        }
        let element = self.element(state, t, stage)?;
        let Some((area, place)) = self.written_box(state, t) else {
            return lost(format!("where `{stage}` comes from is not known"));
        };
        let own = t.share.is_some_and(|(line, _)| line == "by_itself") && place == Form::symbol(CORE);
        if !own || state.number(&format!("{stage}_half")) != Some(Form::int(1)) {
            return wrong(format!("brings the first boxes to `{stage}` as those of others"));
        }
        let found = (1..=BOXES).find_map(|boxes| {
            let (wanted, loops) = self.box_at(state, &wide(copy, boxes)?.0, &[])?;
            state.same(&area, &wanted).then_some((boxes, loops))
        });
        let Some((boxes, loops)) = found else {
            return wrong(format!("brings another box to `{stage}` than the first steps need"));
        };
        let (Some(rows), Some(columns)) = (area.rows.bound(), area.columns.bound()) else {
            return lost(format!("how large the boxes in `{stage}` are is not known"));
        };
        let region = Region { at, bytes: rows * columns * element };
        let how = How::Boxes(boxes);
        self.ask(state, Ahead { tag: t.tag.to_owned(), region, how, done: Done::Asked, loops }, stage)
    }

    /// Something is done for shares that come ahead.
    pub(super) fn goes_ahead(&mut self, state: &mut State, part: &Part<'a>) -> Followed<()> {
        match part {
            Part::Wait { place, below, tag } => self.wait_turn(state, place, *below, tag),
            Part::Next { stage, next } => self.next_turn(state, stage, next),
            Part::Boxes { stage, cond, body } => {
                let half = format!("{stage}_half");
                if state.number(&half) != Some(Form::int(1)) {
                    return lost(format!("which place of `{stage}` is used is not known"));
                }
                // It is one of two; which of them, depends on the step.
                state.open();
                state.declare(&half, Value::Number(Form::symbol(&half)));
                let result = self.next_boxes(state, stage, cond, body);
                state.close();
                result
            }
        }
    }

    /// Those whose turn it is wait for their shares.
    fn wait_turn(&mut self, state: &mut State, place: &Term, below: i64, tag: &str) -> Followed<()> {
        let stage = state.ahead.iter().find(|(_, ahead)| ahead.tag == tag).map(|(at, _)| *at);
        let Some((stage, (own, step))) = stage.and_then(|at| state.named(at)).zip(rule(place)) else {
            return wrong(format!("waits for `{tag}`, by which nothing comes"));
        };
        let (at, mut ahead, inside) = self.ahead(state, &stage)?;
        let How::Turns { rule, turns } = &ahead.how else {
            return lost(format!("a wait for `{tag}` in another form"));
        };
        let here = own == rule.as_str() && name(step) == Some(inside.inner.0.as_str());
        let rows = self.copy_of(&stage).and_then(|copy| self.box_at(state, copy, &[])?.0.rows.bound());
        let Some(rows) = rows else {
            return lost(format!("how large the shares in `{stage}` are is not known"));
        };
        if !here || !self.waits_for_all((step, place), *turns, (below, rows)) {
            return wrong(format!("does not wait for each share of `{stage}`"));
        }
        if ahead.done != Done::Asked {
            return wrong(format!("waits for a share of `{stage}` that was not asked for"));
        }
        state.flights.retain(|flight| flight.tag != tag);
        ahead.done = Done::There;
        state.ahead.insert(at, ahead);
        Ok(())
    }

    /// What follows a share in its place.
    fn next_turn(&mut self, state: &mut State, stage: &str, next: &Next) -> Followed<()> {
        let (at, mut ahead, inside) = self.ahead(state, stage)?;
        let (How::Turns { rule: own, turns }, Some(copy)) = (&ahead.how, self.copy_of(stage)) else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        if ahead.done != Done::Sent {
            return wrong(format!("fills `{stage}` before the share in it has gone to others"));
        }
        let now = Self::step(state, &inside.inner.0);
        let (later, again) =
            (now.plus(&Form::int(*turns)), Form::apply("%", vec![now.clone(), Form::int(*turns)]));
        let above = Self::step(state, &inside.outer.0).plus(&Form::int(1));
        let values: [&[(&str, &Form)]; 2] = [
            &[(inside.inner.0.as_str(), &later)],
            &[(inside.inner.0.as_str(), &again), (inside.outer.0.as_str(), &above)],
        ];
        let steps = [&later, &again];
        self.asked_in_time(state, next, &inside, *turns, stage)?;
        for (k, term) in [next.here.1, next.beyond.1].into_iter().enumerate() {
            let Some(t) = transfer(term).filter(|t| t.tag == ahead.tag && name(t.local) == Some(stage))
            else {
                return wrong(format!("brings in what follows in `{stage}` as something else"));
            };
            self.element(state, &t, stage)?;
            let place = t.share.filter(|(line, _)| *line == "among_all").and_then(|(_, place)| rule(place));
            if place.is_none_or(|(rule, step)| rule != own || state.form(step) != *steps[k]) {
                return wrong(format!("brings in the share of another place to `{stage}`"));
            }
            self.as_wanted(state, &t, copy, values[k], stage)?;
        }
        ahead.done = Done::Asked;
        state.ahead.insert(at, ahead);
        Ok(())
    }

    /// Whether a transfer is of the box that the mapping has there for some values of names.
    fn as_wanted(
        &self,
        state: &State,
        t: &Transfer,
        copy: &Copy,
        values: &[(&str, &Form)],
        stage: &str,
    ) -> Followed<()> {
        let (Some((area, _)), Some((wanted, unknown))) =
            (self.written_box(state, t), self.box_at(state, copy, values))
        else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        if !unknown.is_empty() || !state.same(&area, &wanted) {
            return wrong(format!("brings another box to `{stage}` than follows there"));
        }
        Ok(())
    }

    /// Whether the data are requested whenever a step that many steps later needs them.
    fn asked_in_time(
        &self,
        state: &State,
        next: &Next,
        inside: &Inside,
        steps: i64,
        stage: &str,
    ) -> Followed<()> {
        let here = self.above(state, next.here.0);
        let beyond = self.above(state, next.beyond.0);
        let wanted = [inside.inner.1.minus(&Form::int(steps)), inside.outer.1.minus(&Form::int(1))];
        let right = [here, beyond].iter().zip(&wanted).all(|(own, wanted)| own.as_ref() == Some(wanted));
        if right {
            Ok(())
        } else {
            wrong(format!("asks for what follows in `{stage}` too often or not always"))
        }
    }

    /// Several boxes of this core are there, and the next are asked for.
    fn next_boxes(&mut self, state: &mut State, stage: &str, cond: &Term, body: &[Node]) -> Followed<()> {
        let (at, mut ahead, inside) = self.ahead(state, stage)?;
        let (How::Boxes(boxes), Some(copy)) = (ahead.how.clone(), self.copy_of(stage)) else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        let var = inside.inner.0.as_str();
        let first = matches!(cond, Term::Binary(op, rest, zero) if op == "==" && **zero == Term::Int(0)
            && matches!(&**rest, Term::Binary(op, step, by) if op == "%" && name(step) == Some(var) && **by == Term::Int(boxes)));
        if !first {
            return wrong(format!(
                "waits for the boxes in `{stage}` in other steps than those that need them"
            ));
        }
        let [_, wait, scaled @ .., next] = body else {
            return lost(format!("what is done with `{stage}` is not known"));
        };
        if waits(wait) != Some(ahead.tag.as_str()) {
            return wrong(format!("does not wait for the boxes in `{stage}`"));
        }
        let Some(next) = Next::of(next) else {
            return wrong(format!("does not ask for the next boxes in `{stage}`"));
        };
        self.asked_in_time(state, &next, &inside, boxes, stage)?;
        let now = Self::step(state, var).plus(&Form::int(boxes));
        let above = Self::step(state, &inside.outer.0).plus(&Form::int(1));
        let zero = Form::default();
        let values: [&[(&str, &Form)]; 2] =
            [&[(var, &now)], &[(var, &zero), (inside.outer.0.as_str(), &above)]];
        let Some((all, _)) = wide(copy, boxes) else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        let mut apart = None;
        for (k, term) in [next.here.1, next.beyond.1].into_iter().enumerate() {
            let Some(t) = transfer(term).filter(|t| t.tag == ahead.tag) else {
                return wrong(format!("brings in what follows in `{stage}` as something else"));
            };
            let element = self.element(state, &t, stage)?;
            self.as_wanted(state, &t, &all, values[k], stage)?;
            let own = self.written_box(state, &t).is_some_and(|(_, place)| place == Form::symbol(CORE));
            if !own || t.share.is_none_or(|(line, _)| line != "by_itself") {
                return wrong(format!("brings the boxes of others to `{stage}`"));
            }
            // To the other place.
            let (Some((own, by)), half) =
                (stationary_check::inside(t.local), Form::symbol(&format!("{stage}_half")))
            else {
                return wrong(format!("fills `{stage}` where it is used"));
            };
            let by = state.form(by);
            let bytes = by.put(&format!("{stage}_half"), &zero).constant().unwrap_or(0);
            let other = Form::int(bytes).minus(&half.times(&Form::int(bytes)));
            let size = self.bytes_of(state, &all, element);
            let enough = size.is_some_and(|size| bytes >= size) && apart.is_none_or(|apart| apart == bytes);
            if own != stage || by != other || !enough {
                return wrong(format!("fills `{stage}` where it is used"));
            }
            apart = Some(bytes);
            ahead.region.bytes = bytes + size.unwrap_or(0);
        }
        let apart = apart.unwrap_or(0);
        for node in scaled {
            let here = self.place_of(stage, apart);
            let mut arrays = Vec::new();
            indexed(node, &mut arrays);
            let others = compute::uses(node).iter().any(|one| match one {
                Use::Read(name) | Use::Write(name) | Use::Given(name) => state.buffer(name).is_some(),
                Use::Declare(..) => true,
            });
            if !compute::only(node) || others || arrays.iter().any(|array| state.form(array) != here) {
                return wrong(format!("changes other boxes than those that have come to `{stage}`"));
            }
        }
        state.flights.retain(|flight| flight.tag != ahead.tag);
        self.free(state, ahead.region, stage, "fills")?;
        self.clear(state, ahead.region)?;
        ahead.done = Done::There;
        state.ahead.insert(at, ahead);
        Ok(())
    }

    /// Bytes of a box, at most.
    fn bytes_of(&self, state: &State, copy: &Copy, element: i64) -> Option<i64> {
        let (area, _) = self.box_at(state, copy, &[])?;
        area.rows.bound()?.checked_mul(area.columns.bound()?)?.checked_mul(element)
    }

    /// The one of two places that is used.
    fn place_of(&self, stage: &str, apart: i64) -> Form {
        let half = Form::symbol(&format!("{stage}_half"));
        Form::symbol(stage).plus(&half.times(&Form::int(apart)))
    }

    /// Whether an exchange is of a share that comes ahead.
    pub(super) fn is_ahead(&self, state: &State, place: &Term) -> bool {
        let at = root(place).and_then(|stage| state.buffer(stage));
        at.is_some_and(|at| state.ahead.contains_key(&at))
    }

    /// An exchange of a share that has come ahead, or a copy of one of several boxes.
    pub(super) fn share_ahead(
        &mut self,
        state: &mut State,
        line: &str,
        parts: [&Term; 5],
        part: Option<(&Term, &Term)>,
    ) -> Followed<()> {
        let [to, from, rows, columns, place] = parts;
        let (Some(to), Some(stage)) = (name(to), root(from)) else { return lost("an exchange of no box") };
        let (at, mut ahead, inside) = self.ahead(state, stage)?;
        let (Some(box_at), Some(copy)) = (state.buffer(to), self.copy_of(stage)) else {
            return lost(format!("`{to}` is not a buffer"));
        };
        if stage.strip_prefix("share_of_") != Some(to) {
            return wrong(format!("exchanges `{stage}` as `{to}`"));
        }
        if self.mapped.sharers.is_none_or(|sharers| self.here().cores != sharers) {
            return wrong(format!("exchanges `{to}` among other cores than those that run"));
        }
        let Some((area, _)) = self.box_at(state, copy, &[]) else {
            return lost(format!("what `{to}` is for is not known"));
        };
        if !state.equal(&area.rows, &state.form(rows)) || !state.equal(&area.columns, &state.form(columns)) {
            return wrong(format!("exchanges another box than `{stage}` has a share of"));
        }
        if ahead.done != Done::There {
            return wrong(format!("sends `{stage}`, which has not come in"));
        }
        match (&ahead.how, part) {
            (How::Turns { rule: own, .. }, None) => {
                let right = rule(place)
                    .is_some_and(|(rule, step)| rule == own && name(step) == Some(inside.inner.0.as_str()));
                if !right || line != "among_all" || name(from).is_none() {
                    return wrong(format!("exchanges `{to}` with the wrong place in the step"));
                }
                self.alike(state, &[], "an exchange")?;
                let parts = [&area.offset, &area.rows, &area.columns];
                if parts.iter().any(|form| core(&state.normal(form), &["/", "%"])) {
                    return wrong(format!("exchanges `{to}` among cores that need different boxes"));
                }
                ahead.done = Done::Sent;
            }
            (How::Boxes(boxes), Some((pitch, bytes))) => {
                self.piece(state, (stage, from), (&inside.inner.0, *boxes), copy, (pitch, bytes))?;
                if line != "by_itself" || state.form(place) != Form::symbol(CORE) {
                    return wrong(format!("copies `{to}` as the box of another core"));
                }
            }
            _ => return wrong(format!("exchanges `{to}` otherwise than it has come in")),
        }
        let (Some(rows), Some(columns)) = (area.rows.bound(), area.columns.bound()) else {
            return lost(format!("how large `{to}` is is not known"));
        };
        let region = Region { at: box_at, bytes: self.here().size(to).max(rows * columns) };
        self.free(state, region, to, "fills")?;
        self.clear(state, region)?;
        state.contents.insert(box_at, (region, Held { area: Some(area), age: 0 }));
        state.ahead.insert(at, ahead);
        Ok(())
    }

    /// Which of several boxes is copied.
    fn piece(
        &self,
        state: &mut State,
        (stage, from): (&str, &Term),
        (var, boxes): (&str, i64),
        copy: &Copy,
        (pitch, bytes): (&Term, &Term),
    ) -> Followed<()> {
        let Some((all, columns)) = wide(copy, boxes) else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        let now = Self::step(state, var);
        let past = Form::apply("%", vec![now.clone(), Form::int(boxes)]);
        let first = self.box_at(state, &all, &[(var, &now.minus(&past))]);
        // Boxes follow each other.
        let next = self.box_at(state, copy, &[(var, &now.plus(&Form::int(1)))]);
        let own = self.box_at(state, copy, &[]);
        let (Some((first, _)), Some((next, _)), Some((own, _))) = (first, next, own) else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        let element = self.here().element(stage.strip_prefix("share_of_").unwrap_or(stage));
        let follow = next.offset.minus(&own.offset) == Form::int(columns);
        if !follow
            || state.form(bytes) != Form::int(element)
            || !state.equal(&first.columns, &state.form(pitch))
        {
            return wrong(format!(
                "takes the rows of `{stage}` to be as far apart as those of another share"
            ));
        }
        let half = format!("{stage}_half");
        state.open();
        state.declare(&half, Value::Number(Form::symbol(&half)));
        let place = state.form(from);
        state.close();
        let at = state.buffer(stage).and_then(|at| state.ahead.get(&at));
        let apart = place.by(&half).constant().unwrap_or(0);
        let size = self.bytes_of(state, &all, element);
        let both = at.zip(size).is_some_and(|(ahead, size)| ahead.region.bytes == apart + size);
        let wanted = self.place_of(stage, apart).plus(&past.times(&Form::int(columns * element)));
        if !both || place != wanted {
            return wrong(format!("copies columns that `{stage}` does not have"));
        }
        Ok(())
    }
}
