//! Boxes that are broadcast to all cores, and rows that take turns.
//!
//! What some cores broadcast arrives in the same place of all cores. So all cores must have met at
//! a barrier since any core used that place. The data are there for all cores after the next
//! barrier, if the cores that brought them in have waited for them. Cores run the same text, so
//! what one of them does says this of all.
//!
//! Rows that take turns are requested and copied by functions of the text (`first_rows`,
//! `turn_rows`), which are trusted. Their arguments are checked here: the box of the mapping, in
//! each step of the same loops, from the first to the last, and which half of its buffer is used.

use loops::{BinaryOp, Copy, Expr};

use super::form::Form;
use super::mapped::Area;
use super::property::Property;
use super::read::{Node, Term};
use super::shares_ahead::{Ahead, Done, How};
use super::state::{Held, Region, State};
use super::transfer::{addressed, name};
use super::walk::{CORE, Followed, Walker, lost, wrong};

/// Bytes behind what is copied in whole vectors.
const SLACK: i64 = 32;
/// Bytes of an element.
const ELEMENT: i64 = 8;

/// Whether something is broadcast in a text.
pub(super) fn casts(node: &Node) -> bool {
    match node {
        Node::Block(body) => body.iter().any(casts),
        Node::If(_, then, otherwise) => casts(then) || otherwise.as_deref().is_some_and(casts),
        Node::For { body, .. } | Node::While(_, body) => casts(body),
        Node::Do(Term::Binary(_, _, call)) => matches!(&**call, Term::Call(name, _) if name == "cast_box"),
        Node::Do(_) | Node::Declare { .. } => false,
    }
}

/// What the functions are given of rows that take turns.
struct Rows<'t> {
    stage: &'t str,
    memory: &'t Term,
    /// Rows, columns of all steps, and what rows are apart in memory.
    extents: [&'t Term; 3],
    columns: i64,
    steps: i64,
    core: &'t Term,
}

impl<'t> Rows<'t> {
    fn of(arguments: &'t [Term]) -> Option<Rows<'t>> {
        let [stage, memory, rows, whole, pitch, Term::Int(columns), Term::Int(steps), core] = arguments
        else {
            return None;
        };
        let possible = *columns > 0 && *steps > 1 && columns.checked_mul(*steps)? < 1 << 20;
        possible.then_some(Rows {
            stage: name(stage)?,
            memory,
            extents: [rows, whole, pitch],
            columns: *columns,
            steps: *steps,
            core,
        })
    }

    /// Elements from a row of one step to that of the next.
    fn apart(&self) -> i64 {
        (self.columns + 3) / 4 * 4
    }
}

/// A transfer of all columns that are left, where the box has some of them.
fn whole(copy: &Copy, columns: i64) -> Option<Copy> {
    let [rows, Expr::Binary(BinaryOp::Min, a, b)] = copy.extents.as_slice() else { return None };
    let rest = match (&**a, &**b) {
        (Expr::Int(n), rest) | (rest, Expr::Int(n)) if *n == columns => rest,
        _ => return None,
    };
    Some(Copy { extents: vec![rows.clone(), rest.clone()], ..copy.clone() })
}

impl<'a> Walker<'a> {
    /// A buffer is used by this core, or comes to it.
    pub(super) fn touch(&self, state: &mut State, region: Region) {
        if self.casts {
            state.touched.insert(region);
        }
    }

    /// A broadcast begins.
    pub(super) fn cast(&self, state: &State, region: Region, buffer: &str, core: &Term) -> Followed<()> {
        if state.form(core) != Form::symbol(CORE) {
            return wrong(format!("broadcasts to `{buffer}` as another core"));
        }
        if self.mapped.sharers.is_none_or(|sharers| self.here().cores != sharers) {
            return wrong(format!("broadcasts to `{buffer}` for other cores than those that run"));
        }
        self.alike(state, &[], "a broadcast")?;
        if !state.met || state.touched.iter().any(|used| used.meets(region)) {
            return wrong(format!("broadcasts to `{buffer}` where other cores may still use what is there"));
        }
        Ok(())
    }

    /// All cores meet.
    pub(super) fn meet(&self, state: &mut State) -> Followed<()> {
        self.alike(state, &[], "a meeting")?;
        let arrived = std::mem::take(&mut state.arriving);
        state.contents.extend(arrived);
        state.touched.clear();
        state.met = true;
        Ok(())
    }

    /// The box that rows take turns for, in a step, as the functions are given it; it has all
    /// columns from there on.
    fn rows_given(&self, state: &State, rows: &Rows) -> Option<Area> {
        let (array, offset) = addressed(rows.memory)?;
        let [count, columns, pitch] = rows.extents.map(|term| state.form(term));
        let offset = state.form(offset);
        Some(Area {
            array: array.to_owned(),
            offset,
            planes: Vec::new(),
            rows: count,
            columns,
            pitch,
            share: None,
        })
    }

    /// Rows ask for their first steps.
    pub(super) fn first_rows(&mut self, state: &mut State, arguments: &[Term]) -> Followed<()> {
        self.followed.insert(Property::Casts);
        let Some(rows) = Rows::of(arguments) else { return lost("rows that take turns, in another form") };
        let stage = rows.stage;
        let copy = self.copy_of(stage).and_then(|copy| whole(copy, rows.columns));
        let (Some(at), Some(copy)) = (state.buffer(stage), copy) else {
            return lost(format!("`{stage}` is for no box"));
        };
        let own = self.rows_given(state, &rows);
        let (Some(own), Some((wanted, loops))) = (own, self.box_at(state, &copy, &[])) else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        if !state.same(&own, &wanted) || state.form(rows.core) != Form::symbol(CORE) {
            return wrong(format!("brings other rows to `{stage}` than the first steps need"));
        }
        let Some(most) = own.rows.bound().or_else(|| state.normal(&own.rows).bound()) else {
            return lost(format!("how many rows `{stage}` has is not known"));
        };
        let element = self.here().element(stage.strip_prefix("turns_of_").unwrap_or(stage));
        if element != ELEMENT {
            return wrong(format!("moves elements of `{stage}` with another size"));
        }
        let region = Region { at, bytes: most * rows.columns * rows.steps * ELEMENT + SLACK };
        self.free(state, region, stage, "fills")?;
        self.clear(state, region)?;
        self.touch(state, region);
        let how = How::Rows { columns: rows.columns, steps: rows.steps, most, half: None };
        state
            .ahead
            .insert(at, Ahead { tag: format!("rows of {stage}"), region, how, done: Done::Asked, loops });
        Ok(())
    }

    /// Rows of a step are copied to where they are used, and those whose turn it is ask for more.
    pub(super) fn turn_rows(&mut self, state: &mut State, arguments: &[Term]) -> Followed<()> {
        let Some(([to], [given @ .., step, last, half, again, _])) = arguments.split_at_checked(1) else {
            return lost("rows that take turns, in another form");
        };
        let (Some(rows), Some(to)) = (Rows::of(given), name(to)) else {
            return lost("rows that take turns, in another form");
        };
        let stage = rows.stage;
        let (at, mut ahead, inside) = self.ahead(state, stage)?;
        let How::Rows { columns, steps, most, half: before } = ahead.how else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        if (columns, steps) != (rows.columns, rows.steps) || stage.strip_prefix("turns_of_") != Some(to) {
            return wrong(format!("takes the rows in `{stage}` for others"));
        }
        let copy = self.copy_of(stage).and_then(|copy| Some((copy, whole(copy, columns)?)));
        let (Some(box_at), Some((copy, all))) = (state.buffer(to), copy) else {
            return lost(format!("`{to}` is for no box"));
        };
        let (inner, outer) = (inside.inner.0.as_str(), inside.outer.0.as_str());
        let now = Self::step(state, inner);
        let (next, after) = (now.plus(&Form::int(1)), Self::step(state, outer).plus(&Form::int(1)));
        let zero = Form::default();
        let known = |copy: &Copy, values: &[(&str, &Form)]| {
            self.box_at(state, copy, values).filter(|(_, unknown)| unknown.is_empty()).map(|(area, _)| area)
        };
        let boxes = (
            known(copy, &[]),
            known(copy, &[(inner, &next)]),
            known(&all, &[(inner, &zero)]),
            known(&all, &[(inner, &zero), (outer, &after)]),
            self.rows_given(state, &rows),
        );
        let (Some(own), Some(follows), Some(first), Some(again_first), Some(given)) = boxes else {
            return lost(format!("what comes to `{stage}` is not known"));
        };
        // From one step to the next the box goes on by its columns, and after the last step comes
        // the first once more.
        if follows.offset.minus(&own.offset) != Form::int(columns)
            || !state.same(&given, &first)
            || !state.same(&given, &again_first)
            || state.form(rows.core) != Form::symbol(CORE)
        {
            return wrong(format!("brings other rows to `{stage}` than the steps need"));
        }
        let more = self.above(state, again);
        if state.form(step) != now
            || state.form(last).minus(&now) != inside.inner.1
            || more != Some(inside.outer.1.minus(&Form::int(1)))
        {
            return wrong(format!("asks for rows of `{stage}` too often or not always"));
        }
        let Some(half) = state.normal(&state.form(half)).constant().filter(|half| (0..2).contains(half))
        else {
            return lost(format!("which half of `{to}` is used is not known"));
        };
        let base = box_at - half * rows.apart() * ELEMENT;
        if before.is_some_and(|before| before != (1 - half, base)) {
            return wrong(format!("uses the half of `{to}` that the next step's rows are not in"));
        }
        let bytes = 2 * most * rows.apart() * ELEMENT;
        self.free(state, Region { at: base, bytes }, to, "fills")?;
        self.clear(state, Region { at: base, bytes })?;
        self.touch(state, Region { at: base, bytes });
        let region = Region { at: box_at, bytes: bytes - rows.apart() * ELEMENT };
        state.contents.insert(box_at, (region, Held { area: Some(own), age: 0 }));
        ahead.how = How::Rows { columns, steps, most, half: Some((half, base)) };
        state.ahead.insert(at, ahead);
        Ok(())
    }
}
