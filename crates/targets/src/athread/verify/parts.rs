//! Boxes that come and go in parts: a loop over the parts waits for each by itself. One iteration stands for all.
//!
//! Rows lie close together, so where a panel has fewer columns than the one before, a part begins before the place that it had then; parts come in ascending
//! order, each after a wait for the one that was there, and none may be wider than that.

use super::compute::{self, Use};
use super::form::{Atom, Form};
use super::mapped::Area;
use super::read::{ARRAY, Node, Term};
use super::state::{Flight, Held, Region, State, Value};
use super::touch;
use super::transfer::{addressed, name};
use super::walk::{Followed, States, Walker, lost, wrong};

/// The number of a part.
const PART: &str = "number of a part";

/// A loop over parts: its variable, how many there are, and what is done for each.
pub(super) struct Parts<'a> {
    var: &'a str,
    count: i64,
    /// Whether it goes through all of them, from the first on.
    whole: bool,
    body: &'a Node,
}

/// `array[var]`
fn element<'t>(term: &'t Term, var: &str) -> Option<&'t str> {
    match term {
        Term::Index(array, index) if name(index) == Some(var) => name(array),
        Term::Unary(op, inner) if op == "&" => element(inner, var),
        _ => None,
    }
}

/// Statements outside of further loops.
fn statements(node: &Node) -> &[Node] {
    match node {
        Node::Block(body) => body,
        other => std::slice::from_ref(other),
    }
}

/// The loop over parts that a statement is, if it sets, counts or waits for elements of an array of replies.
pub(super) fn of(node: &Node) -> Option<Parts<'_>> {
    let Node::For { init, cond: Some(Term::Binary(op, left, end)), step, body } = node else { return None };
    let ([Node::Declare { name: var, value: Some(first), .. }], [Term::Unary(by, _)]) =
        (init.as_slice(), step.as_slice())
    else {
        return None;
    };
    let (Some(own), Term::Int(count)) = (name(left), &**end) else { return None };
    let replies = |n: &Node| match n {
        Node::Do(Term::Call(function, arguments)) => {
            function == "WAIT" && matches!(arguments.first(), Some(Term::Index(..)))
        }
        Node::Do(Term::Binary(op, target, value)) => {
            let moves = matches!(&**value, Term::Call(f, _) if f == "get_box" || f == "put_box");
            let sets = op == "=" && matches!(&**value, Term::Binary(..));
            matches!(**target, Term::Index(..)) && (moves || sets)
        }
        _ => false,
    };
    let found = statements(body).iter().any(replies);
    let whole = *first == Term::Int(0) && own == var && op == "<" && by == "++";
    found.then_some(Parts { var, count: *count, whole, body })
}

/// What is known of the parts in an iteration.
#[derive(Default)]
struct Round {
    /// What was on its way before, whose part has been waited for.
    before: Option<Flight>,
    waited: bool,
    /// Rows from the first to the last of the part that was worked on.
    worked: Vec<(String, touch::Rows)>,
}

impl<'a> Walker<'a> {
    /// A loop over parts.
    pub(super) fn parts(&mut self, parts: &Parts<'a>, states: States) -> Followed<States> {
        self.each(states, &mut |walker, state| {
            state.open();
            state.declare(parts.var, Value::Number(Form::symbol(PART)));
            let mut round = Round::default();
            for node in statements(parts.body) {
                walker.of_part(state, parts, node, &mut round)?;
            }
            state.close();
            Ok(())
        })
    }

    fn of_part(
        &mut self,
        state: &mut State,
        parts: &Parts<'a>,
        node: &'a Node,
        round: &mut Round,
    ) -> Followed<()> {
        let var = parts.var;
        match node {
            Node::Declare { name, value: Some(value), .. } => self.declare(state, name, value),
            Node::Do(Term::Binary(op, sent, value)) if op == "=" => {
                let Term::Binary(op, reply, zero) = &**value else {
                    return lost("parts that are set to something");
                };
                let (Some(sent), Some(reply)) = (element(sent, var), element(reply, var)) else {
                    return lost("parts that are set by another number");
                };
                if op != "=" || **zero != Term::Int(0) {
                    return lost("replies that are not set to 0");
                }
                self.counted(state, parts, sent)?;
                if state.flights.iter().any(|f| f.tag == reply) {
                    return wrong(format!("sets `{reply}` to 0 while it is on its way"));
                }
                state.ready.insert(reply.to_owned());
                Ok(())
            }
            Node::Do(Term::Call(function, arguments)) if function == "WAIT" => {
                let [reply, sent] = arguments.as_slice() else { return lost("a wait in another form") };
                let (Some(reply), Some(sent)) = (element(reply, var), element(sent, var)) else {
                    return wrong("waits for another part than the one that it uses".to_owned());
                };
                self.counted(state, parts, sent)?;
                if !state.ready.contains(reply) {
                    return wrong(format!("uses the reply `{reply}` before it is 0"));
                }
                round.before = state.flights.iter().find(|f| f.tag == reply).cloned();
                round.waited = true;
                self.land(state, reply);
                Ok(())
            }
            Node::Do(Term::Binary(op, sent, call)) if op == "+=" => {
                let (Some(sent), Term::Call(function, arguments)) = (element(sent, var), &**call) else {
                    return wrong("counts a transfer of a part as that of another".to_owned());
                };
                self.counted(state, parts, sent)?;
                self.moves_part(state, parts, function, arguments, round)
            }
            node if compute::only(node) => {
                let found = compute::uses(node);
                for one in &found {
                    let (Use::Read(name) | Use::Write(name)) = one else { continue };
                    let at = state.buffer(name);
                    let own = at.is_some_and(|at| round.before.as_ref().is_some_and(|f| f.region.at == at));
                    if own && !round.worked.iter().any(|(own, _)| own == name) {
                        let Some(rows) = touch::rows(state, node, name) else {
                            return lost(format!("which rows of `{name}` are worked on is not known"));
                        };
                        round.worked.extend(rows.into_iter().map(|rows| (name.clone(), rows)));
                    }
                }
                state.open();
                found.iter().try_for_each(|one| self.used(state, one))?;
                state.close();
                // What was worked on while it was not waited for has been said; of what was, only this part is there.
                match (&round.before, round.worked.first()) {
                    (Some(before), Some(_)) => {
                        let Some(area) = before.held.area.clone() else {
                            return wrong("works on parts that are out of date".to_owned());
                        };
                        self.own_rows(state, &area, round)
                    }
                    _ => Ok(()),
                }
            }
            _ => lost("a loop over parts in another form"),
        }
    }

    /// An array that has a count for each part.
    fn counted(&self, state: &State, parts: &Parts, sent: &str) -> Followed<()> {
        let length = state.number(sent);
        if !parts.whole || length != Some(Form::apply(ARRAY, vec![Form::int(parts.count)])) {
            return wrong(format!("does not go through all parts that `{sent}` counts"));
        }
        Ok(())
    }

    /// What was worked on are the rows of this part.
    fn own_rows(&self, state: &State, area: &Area, round: &Round) -> Followed<()> {
        let each = self.each_part.get(&area.array).copied().unwrap_or(0);
        let first = Form::symbol(PART).times(&Form::int(each));
        let next = first.plus(&Form::int(each));
        let last = Form::apply("LOZENGE_MIN", vec![area.rows.clone(), next]);
        for (name, (from, to)) in &round.worked {
            if !state.equal(from, &first) || !state.equal(to, &last) {
                return wrong(format!("works on rows of `{name}` in other parts than the one that is there"));
            }
        }
        Ok(())
    }

    fn moves_part(
        &mut self,
        state: &mut State,
        parts: &Parts,
        function: &str,
        arguments: &[Term],
        round: &mut Round,
    ) -> Followed<()> {
        let [local, memory, rows, columns, pitch, bytes, tag] = arguments else {
            return lost("a transfer of a part in another form");
        };
        let Some(tag) = element(tag, parts.var) else {
            return wrong("counts a transfer of a part as that of another".to_owned());
        };
        if !state.ready.contains(tag) {
            return wrong(format!("uses the reply `{tag}` before it is 0"));
        }
        let (Term::Binary(plus, buffer, skipped), Term::Binary(also, array, passed)) = (local, memory) else {
            return lost("a transfer of a part in another form");
        };
        let (Some(buffer), Some((array, offset)), "+", "+") =
            (name(buffer), addressed(array), plus.as_str(), also.as_str())
        else {
            return lost("a transfer of a part in another form");
        };
        let Some(at) = state.buffer(buffer) else { return lost(format!("`{buffer}` is not a buffer")) };
        let [rows, columns, pitch, elem] = [rows, columns, pitch, bytes].map(|t| state.form(t));
        let elem = elem.constant().unwrap_or(0);
        if elem != self.here().element(buffer) {
            return wrong(format!("moves elements of `{buffer}` with another size"));
        }
        // Rows of part p: from `each * p` to the least of `each * p + each` and all rows.
        let least = rows.terms().find_map(|(product, factor)| match (product, factor) {
            ([Atom::Apply(function, parts)], 1) if function == "LOZENGE_MIN" => Some(parts.clone()),
            _ => None,
        });
        let Some([all, next]) = least.as_deref() else {
            return lost("parts whose rows do not follow each other");
        };
        let first = Form::apply("LOZENGE_MIN", vec![all.clone(), next.clone()]).minus(&rows);
        let each = next.minus(&first).constant().unwrap_or(0);
        let steps = first == Form::symbol(PART).times(&Form::int(each));
        let most = all.bound().unwrap_or(i64::MAX);
        if each <= 0 || !steps || each.saturating_mul(parts.count) < most {
            return wrong(format!("does not move all rows of `{buffer}` by its parts"));
        }
        if state.form(skipped) != first.times(&columns) || state.form(passed) != first.times(&pitch) {
            return wrong(format!("moves a part of `{buffer}` from or to the rows of another"));
        }
        self.each_part.insert(array.to_owned(), each);
        let area = Area {
            array: array.to_owned(),
            offset: state.form(offset),
            planes: Vec::new(),
            rows: all.clone(),
            columns,
            pitch,
            share: None,
        };
        let Some(width) = area.columns.bound().or_else(|| state.normal(&area.columns).bound()) else {
            return lost(format!("how wide `{buffer}` is is not known"));
        };
        let bytes = elem.saturating_mul(most).saturating_mul(width);
        let region = Region { at, bytes: bytes.max(self.here().size(buffer)) };
        let get = function == "get_box";
        if get {
            if !round.waited {
                // What is on its way says so itself.
                self.free(state, region, buffer, "fills")?;
            }
            if let Some(Held { area: Some(old), .. }) = round.before.as_ref().map(|f| &f.held) {
                let wider = area.columns.minus(&old.columns);
                if old.array != area.array || state.follows(&wider) != Some(false) {
                    return wrong(format!("brings parts of `{buffer}` to where those behind them still are"));
                }
                if !state.apart(old, &area) {
                    return wrong(format!(
                        "brings parts of `{array}` in while others of the same box are on their way out"
                    ));
                }
            }
            self.free(state, region, buffer, "fills")?;
            self.clear(state, region)?;
        } else {
            if !round.worked.iter().any(|(name, _)| name == buffer) {
                return wrong(format!("brings out parts of `{buffer}` that it has not worked on"));
            }
            self.free(state, region, buffer, "brings out")?;
            self.bring_out(state, &area, region, buffer)?;
        }
        self.note(&area, get);
        let held = Held { area: Some(area), age: 0 };
        state.flights.insert(Flight { tag: tag.to_owned(), get, region, held });
        Ok(())
    }
}
