//! Stationary shares: what all cores need again for each tile is brought in once, by a loop over
//! its steps. In each step some cores keep a part. A rule in the text says which position a core
//! has there. Several steps use one place in local memory, because a core keeps a part in only one
//! of them.
//!
//! Which core keeps what is counted for each core and each step. The rule repeats after a few
//! steps, so there are not many cases.

use super::form::Form;
use super::mapped::{Area, Mapped, Phase};
use super::property::Property;
use super::read::{Macro, Node, Term};
use super::state::{Flight, Held, Region, State, Value};
use super::transfer::{Transfer, addressed, name};
use super::walk::{CORE, Followed, Walker, lost, wrong};

/// The step that a share is of, in descriptions of what was brought in.
pub(super) const STEP: &str = "step of a share";
/// Steps that are counted, at most.
const STEPS: i64 = 512;
/// Rows of a box that are counted, at most.
const ROWS: i64 = 8192;

/// Shares of several steps, from a place in local memory on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Shares {
    /// Where the share of a step is, behind the first.
    at: Form,
    /// Above 0 for the steps that were brought in.
    there: Form,
}

/// A loop that brings in a share for each of its steps.
pub(super) struct Filling<'a> {
    var: &'a str,
    lower: &'a Term,
    cond: &'a Term,
    transfer: &'a Term,
}

/// Where the shares of steps are: so many bytes apart, each for some steps that follow each other.
struct Spots {
    first: i64,
    apart: i64,
    steps: i64,
}

impl Spots {
    fn of(shift: &Form) -> Option<Spots> {
        let (first, apart, number) = shift.steps();
        let steps = if apart == 0 || number == Form::symbol(STEP) {
            1
        } else {
            (1..=STEPS).find(|n| number == Form::apply("/", vec![Form::symbol(STEP), Form::int(*n)]))?
        };
        (first >= 0 && apart >= 0).then_some(Spots { first, apart, steps })
    }

    fn of_step(&self, step: i64) -> i64 {
        self.first.saturating_add(self.apart.saturating_mul(step / self.steps))
    }
}

/// A loop over one transfer of a share whose place depends on the step.
pub(super) fn filling(node: &Node) -> Option<Filling<'_>> {
    let Node::For { init, cond: Some(cond), step, body } = node else { return None };
    let ([Node::Declare { name: var, value: Some(lower), .. }], [Term::Unary(op, _)]) =
        (init.as_slice(), step.as_slice())
    else {
        return None;
    };
    let transfer = match &**body {
        Node::Block(body) => match body.as_slice() {
            [Node::Do(only)] => only,
            _ => return None,
        },
        Node::Do(only) => only,
        _ => return None,
    };
    let Term::Binary(sum, _, call) = transfer else { return None };
    let Term::Call(function, arguments) = &**call else { return None };
    let shared = sum == "+=" && op == "++" && function.starts_with("get_share_");
    let inside = matches!(arguments.first(), Some(Term::Binary(op, ..)) if op == "+");
    (shared && inside).then_some(Filling { var, lower, cond, transfer })
}

/// A buffer, and how many bytes of it are passed over.
pub(super) fn inside(place: &Term) -> Option<(&str, &Term)> {
    match place {
        Term::Binary(op, buffer, by) if op == "+" => Some((name(buffer)?, by)),
        _ => None,
    }
}

/// A number that an expression is for a core in a step.
fn count(term: &Term, core: i64, (var, step): (&str, i64)) -> Option<i64> {
    let of = |t: &Term| count(t, core, (var, step));
    match term {
        Term::Int(n) => Some(*n),
        Term::Name(name) if name == CORE => Some(core),
        Term::Name(name) if name == var => Some(step),
        Term::Binary(op, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match op.as_str() {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                "/" if b != 0 => a.checked_div(b),
                "%" if b != 0 => a.checked_rem(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// After how many steps an expression repeats, if it has the step in remainders only; 1 if it has
/// none.
fn period(term: &Term, var: &str) -> Option<i64> {
    let both = |a: &Term, b: &Term| {
        let (a, b) = (period(a, var)?, period(b, var)?);
        // The larger of two of which one divides the other; all others are not counted.
        let (least, most) = (a.min(b), a.max(b));
        (most % least == 0).then_some(most)
    };
    match term {
        Term::Binary(op, a, by) if op == "%" => match (&**a, &**by) {
            (a, Term::Int(n)) if a.mentions(var) && counts(a, var) => (1..=STEPS).contains(n).then_some(*n),
            (a, b) => both(a, b),
        },
        Term::Binary(_, a, b) => both(a, b),
        other => (!other.mentions(var)).then_some(1),
    }
}

/// Whether an expression is a sum of a step and numbers, and never below 0.
fn counts(term: &Term, var: &str) -> bool {
    match term {
        Term::Name(name) => name == var,
        Term::Int(n) => *n >= 0,
        Term::Binary(op, a, b) => op == "+" && counts(a, var) && counts(b, var),
        _ => false,
    }
}

/// A call of a rule of the text, written out.
fn written_out(term: &Term, rules: &[Macro]) -> Term {
    match term {
        Term::Call(function, arguments) => {
            let Some(rule) = rules.iter().find(|rule| rule.name == *function) else { return term.clone() };
            rule.of(arguments).unwrap_or_else(|| term.clone())
        }
        other => other.clone(),
    }
}

/// Rows that a place among all cores has of so many: a part for each column, cut again for its
/// cores.
fn rows_of(place: i64, rows: i64, (lines, columns): (i64, i64)) -> i64 {
    let part = |rows: i64, cores: i64| (rows + cores - 1) / cores;
    let all = part(rows, columns);
    let own = part(all, lines);
    let left = all.min(rows - place % columns * all);
    own.min(left - place / columns * own).max(0)
}

/// Whether the places of all cores in a step are such that each part of a box has its core, and
/// goes to the others by the line that it is in.
fn everyone(places: &[i64], (lines, columns): (i64, i64)) -> bool {
    let (lines, columns) = (lines as usize, columns as usize);
    let place = |row: usize, column: usize| places[row * columns + column];
    let all = |mut found: Vec<i64>| {
        found.sort_unstable();
        found.iter().enumerate().all(|(k, place)| *place == k as i64)
    };
    let of_column = |column: usize| place(0, column) % columns as i64;
    let together = (0..columns)
        .all(|c| (0..lines).all(|r| place(r, c) >= 0 && place(r, c) % columns as i64 == of_column(c)));
    together
        && all((0..columns).map(of_column).collect())
        && (0..columns).all(|c| all((0..lines).map(|r| place(r, c) / columns as i64).collect()))
}

impl<'a> Walker<'a> {
    /// A loop that brings in a share for each step, as one transfer of all of them.
    pub(super) fn fill_held(&mut self, state: &mut State, filling: &Filling<'a>) -> Followed<()> {
        self.followed.insert(Property::Kept);
        let Term::Binary(_, sent, call) = filling.transfer else {
            return lost("shares that stay, in another form");
        };
        let Term::Call(function, arguments) = &**call else {
            return lost("shares that stay, in another form");
        };
        let Some(transfer) = Transfer::of(function, arguments, Vec::new()) else {
            return lost(format!("`{function}` is not a transfer"));
        };
        let (Some((buffer, by)), Some((line, place))) = (inside(transfer.local), transfer.share) else {
            return lost("shares that stay, in another form");
        };
        let Some(at) = state.buffer(buffer) else { return lost(format!("`{buffer}` is not a buffer")) };
        if name(sent) != Some(&format!("{}_sent", transfer.tag)) {
            return wrong(format!("counts a transfer of `{}` in another", transfer.tag));
        }
        if !state.ready.contains(transfer.tag) {
            return wrong(format!("uses the reply `{}` before it is 0", transfer.tag));
        }
        if state.form(filling.lower) != Form::default() {
            return wrong(format!("does not bring in the first of the shares in `{buffer}`"));
        }
        state.open();
        state.declare(filling.var, Value::Number(Form::symbol(STEP)));
        let Some(there) = self.above(state, filling.cond) else { return lost("a loop that is not counted") };
        // One for each step up to the end.
        let end = there.plus(&Form::symbol(STEP));
        let own = addressed(transfer.memory).map(|(array, offset)| (array.to_owned(), state.form(offset)));
        let (Some((array, offset)), false) = (own, end.mentions(STEP)) else {
            return lost("shares that stay, in another form");
        };
        let area = Area {
            array,
            offset,
            planes: Vec::new(),
            rows: state.form(transfer.rows),
            columns: state.form(transfer.columns),
            pitch: state.form(transfer.pitch),
            share: Some((line.to_owned(), state.form(place))),
        };
        let shift = state.form(by);
        let bytes = state.form(transfer.bytes).constant().unwrap_or(8);
        let Some(steps) = self.mapped.most(state, &end) else {
            return lost(format!("how many shares `{buffer}` has is not known"));
        };
        state.close();
        let Some(spots) = Spots::of(&shift) else {
            return lost(format!("where the shares in `{buffer}` are is not known"));
        };
        let each = self.turns((filling.var, place), &spots, line, &area, buffer, bytes)?;
        let region = Region { at, bytes: spots.of_step((steps - 1).max(0)) + each };
        self.free(state, region, buffer, "fills")?;
        self.clear(state, region)?;
        state.sent.remove(&at);
        state.shares.insert(at, Shares { at: shift, there });
        self.note(&area, true);
        let held = Held { area: Some(area), age: 0 };
        state.flights.insert(Flight { tag: transfer.tag.to_owned(), get: true, region, held, all: false });
        Ok(())
    }

    /// Who keeps what: each part of each step has its core, and no core two of them in one place.
    /// Bytes of a share.
    fn turns(
        &self,
        (var, place): (&str, &Term),
        spots: &Spots,
        line: &str,
        area: &Area,
        buffer: &str,
        bytes: i64,
    ) -> Followed<i64> {
        let phase: &Phase = self.here();
        if line != "among_all" {
            return lost("shares that stay, of a line");
        }
        if self.mapped.sharers != Some(phase.cores) {
            return wrong(format!("keeps shares in `{buffer}` for other cores than those that run"));
        }
        let (Some(rows), Some(columns)) = (area.rows.bound(), area.columns.bound()) else {
            return lost(format!("how large the shares in `{buffer}` are is not known"));
        };
        let place = written_out(place, &self.mapped.rules);
        let again = period(&place, var).map(|n| n.saturating_mul(spots.steps));
        let Some(again) = again.filter(|n| *n <= STEPS && rows <= ROWS) else {
            return lost(format!("which cores keep what is in `{buffer}` is not known"));
        };
        let cores = phase.cores;
        let all = cores.0 * cores.1;
        // For each core: where it has a share.
        let mut kept: Vec<Vec<i64>> = vec![Vec::new(); all as usize];
        let mut each = 0;
        // Steps that are further from each other than this are further apart in local memory than
        // some that are counted.
        for step in 0..2 * again {
            let places: Option<Vec<i64>> = (0..all).map(|core| count(&place, core, (var, step))).collect();
            let Some(places) = places else {
                return lost(format!("which cores keep what is in `{buffer}` is not known"));
            };
            let at = spots.of_step(step);
            if !everyone(&places, cores) {
                return wrong(format!("keeps a part of a share in `{buffer}` on no core, or on several"));
            }
            for (core, place) in places.iter().enumerate() {
                let most = (1..=rows).map(|n| rows_of(*place, n, cores)).max().unwrap_or(0);
                if most == 0 {
                    continue;
                }
                if kept[core].contains(&at) {
                    return wrong(format!("brings a share into `{buffer}` where the core keeps another"));
                }
                each = each.max(most * columns * bytes);
                kept[core].push(at);
            }
        }
        for mut own in kept {
            own.sort_unstable();
            if own.windows(2).any(|two| two[1] - two[0] < each) {
                return wrong(format!("has shares in `{buffer}` that overlap"));
            }
        }
        Ok(each)
    }

    /// Whether cores that take turns have all of each step, and none of them two shares before its
    /// turn comes again. Bytes of a share.
    pub(super) fn in_turns(
        &self,
        (var, place): (&str, &Term),
        turns: i64,
        area: &Area,
        buffer: &str,
        bytes: i64,
    ) -> Followed<i64> {
        let cores = self.here().cores;
        if self.mapped.sharers != Some(cores) {
            return wrong(format!("keeps shares in `{buffer}` for other cores than those that run"));
        }
        let (Some(rows), Some(columns)) = (area.rows.bound(), area.columns.bound()) else {
            return lost(format!("how large the shares in `{buffer}` are is not known"));
        };
        let place = written_out(place, &self.mapped.rules);
        let again = period(&place, var).filter(|n| *n <= STEPS && rows <= ROWS);
        let Some(again) = again.filter(|_| (1..=STEPS).contains(&turns)) else {
            return lost(format!("which cores bring in what is in `{buffer}` is not known"));
        };
        let all = cores.0 * cores.1;
        let mut steps = vec![0; all as usize];
        let mut each = 0;
        for step in 0..turns {
            let places: Option<Vec<i64>> = (0..all).map(|core| count(&place, core, (var, step))).collect();
            let Some(places) = places else {
                return lost(format!("which cores bring in what is in `{buffer}` is not known"));
            };
            if !everyone(&places, cores) {
                return wrong(format!("has a part of a step in `{buffer}` come to no core, or to several"));
            }
            for (core, place) in places.iter().enumerate() {
                let most = (1..=rows).map(|n| rows_of(*place, n, cores)).max().unwrap_or(0);
                steps[core] += i64::from(most > 0);
                each = each.max(most * columns * bytes);
            }
        }
        if turns % again != 0 || steps.iter().any(|steps| *steps > 1) {
            return wrong(format!("brings a share into `{buffer}` where the core has another"));
        }
        Ok(each)
    }

    /// Whether all cores that have a share of a step are at places below one.
    pub(super) fn waits_for_all(
        &self,
        (step, place): (&Term, &Term),
        turns: i64,
        (below, rows): (i64, i64),
    ) -> bool {
        let cores = self.here().cores;
        let place = written_out(place, &self.mapped.rules);
        let Some(var) = name(step) else { return false };
        (0..turns).all(|step| {
            (0..cores.0 * cores.1).all(|core| {
                count(&place, core, (var, step)).is_some_and(|place| {
                    place < below || (1..=rows).all(|rows| rows_of(place, rows, cores) == 0)
                })
            })
        })
    }

    /// The box that cores have shares of in the current step, if these stay.
    pub(super) fn held(
        &self,
        state: &State,
        [to, stage]: [&str; 2],
        by: &Term,
        (line, place): (&str, &Term),
    ) -> Followed<Area> {
        let at = state.buffer(stage);
        let Some((at, shares)) = at.and_then(|at| Some((at, state.shares.get(&at)?))) else {
            return lost("an exchange of a part of a share");
        };
        let Some((_, Held { area: Some(area), .. })) = state.contents.get(&at) else {
            return wrong(format!("sends `{stage}`, which has not come in"));
        };
        let Some((own, rule)) = &area.share else { return lost("shares that stay, in another form") };
        if own != line {
            return wrong(format!("sends `{stage}`, which is the share of another place"));
        }
        // The step whose share is where this one is taken from. Where a core has its share of every
        // step, its place says nothing of the step.
        let (place, by) = (state.form(place), state.form(by));
        let steps: Vec<Form> = self
            .inside
            .iter()
            .filter_map(|(var, _)| state.number(var))
            .filter(|step| state.equal(&rule.put(STEP, step), &place))
            .collect();
        if steps.is_empty() {
            return wrong(format!("exchanges `{to}` with the wrong place in the step"));
        }
        let Some(step) = steps.into_iter().find(|step| state.equal(&shares.at.put(STEP, step), &by)) else {
            return wrong(format!("sends another of the shares in `{stage}` than is due"));
        };
        if state.least(&step, 1).is_none_or(|least| least < 0) {
            return lost(format!("which of the shares in `{stage}` is sent is not known"));
        }
        let own = Area { share: None, ..area.put(STEP, &step) };
        // The loop around goes no further than that which has brought them in.
        let there = state.normal(&shares.there.put(STEP, &step));
        let rest = self
            .inside
            .iter()
            .filter_map(|(_, cond)| state.normal(&self.above(state, cond)?).minus(&there).constant());
        match rest.min() {
            Some(n) if n <= 0 => Ok(own),
            Some(_) => wrong(format!("exchanges `{to}` in a step that no share was brought in for")),
            None => match state.follows(&there) {
                Some(true) => Ok(own),
                Some(false) => wrong(format!("exchanges `{to}` in a step that no share was brought in for")),
                None => lost(format!("whether `{stage}` has a share of this step is not known")),
            },
        }
    }
}

impl Mapped<'_> {
    /// A number that a form never exceeds where the kernel runs.
    fn most(&self, state: &State, form: &Form) -> Option<i64> {
        let mut state = state.clone();
        for (size, most) in &self.bounds {
            let value = state.number(size.as_str())?;
            state.learn(Form::int(most + 1).minus(&value), true);
        }
        state.most(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_box() {
        // Eight rows on 8 x 8 cores: a row each on the first row of cores.
        let rows: Vec<i64> = (0..64).map(|place| rows_of(place, 8, (8, 8))).collect();
        assert_eq!(rows, [vec![1; 8], vec![0; 56]].concat());
        for rows in 0..200 {
            let all: i64 = (0..64).map(|place| rows_of(place, rows, (8, 8))).sum();
            assert_eq!(all, rows);
        }
    }

    #[test]
    fn places_of_all_cores() {
        let turned: Vec<i64> = (0..64).map(|core| (core + 8) % 64).collect();
        assert!(everyone(&turned, (8, 8)));
        let across: Vec<i64> = (0..64).map(|core| core % 8 * 8 + core / 8).collect();
        assert!(!everyone(&across, (8, 8)));
        let missing: Vec<i64> = (0..64).map(|core| core / 16 * 8 + core % 8).collect();
        assert!(!everyone(&missing, (8, 8)));
    }
}
