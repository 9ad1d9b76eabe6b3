//! Conditions: which states continue in each branch, and names that are one of two values.

use std::collections::BTreeSet;

use super::form::Form;
use super::read::{Node, Term};
use super::state::State;
use super::transfer::{addressed, name};
use super::walk::{Followed, States, Walker};

impl<'a> Walker<'a> {
    /// A name that is one of two, followed both ways.
    pub(super) fn choose(
        &mut self,
        states: States,
        name: &str,
        cond: &'a Term,
        values: [&Term; 2],
    ) -> Followed<States> {
        let mut all = States::new();
        if !matches!(cond, Term::Binary(op, ..) if matches!(op.as_str(), "<" | "<=" | ">" | ">=")) {
            self.chosen.push(cond);
        }
        let (yes, no) = self.branch(cond, states, true)?;
        for (value, states) in values.into_iter().zip([yes, no]) {
            all.extend(self.each(states, &mut |walker, state| {
                let conditions = BTreeSet::from([state.form(cond)]);
                walker.declare(state, name, value)?;
                state.choose(name, conditions);
                Ok(())
            })?);
        }
        Ok(all)
    }

    /// Whether a condition holds, if that is known.
    pub(super) fn truth(&self, state: &State, cond: &Term) -> Option<bool> {
        match cond {
            Term::Binary(op, a, b) if op == "&&" => match (self.truth(state, a), self.truth(state, b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Term::Binary(op, a, b) if op == "==" => {
                let gap = state.form(a).minus(&state.form(b));
                let less = [&gap, &Form::default().minus(&gap)].map(|more| state.follows(more));
                match less {
                    [Some(false), Some(false)] => Some(true),
                    [Some(true), _] | [_, Some(true)] => Some(false),
                    _ => None,
                }
            }
            other => state.above(&self.above(state, other)?),
        }
    }

    /// Splits states by a condition, as far as it is not known. Of conditions of `if`, what was
    /// found is kept: loops are asked the same later.
    pub(super) fn branch(&mut self, cond: &Term, states: States, learn: bool) -> Followed<(States, States)> {
        let (mut yes, mut no) = (States::new(), States::new());
        for state in states {
            let (y, n) = self.decide(cond, state, learn);
            yes.extend(y);
            no.extend(n);
        }
        Ok((yes, no))
    }

    fn decide(&mut self, cond: &Term, state: State, learn: bool) -> (States, States) {
        if let Some(form) = self.above(&state, cond)
            && self.changed.iter().any(|name| cond.mentions(name))
        {
            let state = States::from([state]);
            return match state.first().and_then(|state| state.follows(&form)) {
                Some(true) => (state, States::new()),
                Some(false) => (States::new(), state),
                None => (state.clone(), state),
            };
        }
        match cond {
            Term::Binary(op, a, b) if op == "&&" => {
                let (first, mut no) = self.decide(a, state, learn);
                let mut yes = States::new();
                for state in first {
                    let (y, n) = self.decide(b, state, learn);
                    yes.extend(y);
                    no.extend(n);
                }
                (yes, no)
            }
            Term::Binary(op, ..) if op == "||" || op == "!=" => {
                let mut parts = Vec::new();
                disjuncts(cond, &mut parts);
                let mut pairs = Vec::new();
                for part in parts {
                    match part {
                        Term::Binary(op, a, b) if op == "!=" && name(a).is_some() => {
                            let name = name(a).unwrap_or_default().to_owned();
                            pairs.push((name, state.form(a), state.form(b)));
                        }
                        _ => {
                            return either(state.form(cond), state, learn.then_some(State::learn_here));
                        }
                    }
                }
                // An address is never 0, and numbers are what they are.
                let differ = pairs.iter().any(|(_, a, b)| {
                    a.address().is_some() != b.address().is_some()
                        || a.minus(b).constant().is_some_and(|n| n != 0)
                });
                if differ {
                    return (States::from([state]), States::new());
                }
                let mut equal = state.clone();
                let known = pairs.iter().all(|(_, a, b)| state.equal(a, b));
                equal.equate(&pairs);
                let yes = if known { States::new() } else { States::from([state]) };
                (yes, States::from([equal]))
            }
            Term::Binary(op, ..) if op == "==" => match self.truth(&state, cond) {
                Some(true) => (States::from([state]), States::new()),
                Some(false) => (States::new(), States::from([state])),
                None => either(state.form(cond), state, learn.then_some(State::learn_here)),
            },
            other => match self.above(&state, other) {
                Some(form) => either(form, state, learn.then_some(State::learn)),
                None => either(state.form(other), state, learn.then_some(State::learn_here)),
            },
        }
    }

    /// The form that is above 0 where a comparison holds.
    pub(super) fn above(&self, state: &State, cond: &Term) -> Option<Form> {
        let Term::Binary(op, a, b) = cond else { return None };
        let (a, b) = (state.form(a), state.form(b));
        Some(match op.as_str() {
            "<" => b.minus(&a),
            "<=" => b.minus(&a).plus(&Form::int(1)),
            ">" => a.minus(&b),
            ">=" => a.minus(&b).plus(&Form::int(1)),
            _ => return None,
        })
    }
}

/// A state where a form is above 0, and one where it is not, as far as that is not known.
fn either(form: Form, state: State, learn: Option<fn(&mut State, Form, bool)>) -> (States, States) {
    match state.above(&form).or_else(|| state.follows(&form)) {
        Some(truth) => {
            // It may follow from another loop's first iteration, which is not known any more when
            // this is asked again.
            let mut state = state;
            if let Some(learn) = learn.filter(|_| form.constant().is_none()) {
                learn(&mut state, form, truth);
            }
            let (here, none) = (States::from([state]), States::new());
            if truth { (here, none) } else { (none, here) }
        }
        None => {
            let (mut yes, mut no) = (state.clone(), state);
            if let Some(learn) = learn {
                learn(&mut yes, form.clone(), true);
                learn(&mut no, form, false);
            }
            (States::from([yes]), States::from([no]))
        }
    }
}

fn disjuncts<'t>(cond: &'t Term, parts: &mut Vec<&'t Term>) {
    match cond {
        Term::Binary(op, a, b) if op == "||" => {
            disjuncts(a, parts);
            disjuncts(b, parts);
        }
        other => parts.push(other),
    }
}

/// Whether a condition compares by an operator.
pub(super) fn compares(cond: &Term, by: &str) -> bool {
    match cond {
        Term::Binary(op, a, b) if op == "&&" || op == "||" => compares(a, by) || compares(b, by),
        Term::Binary(op, ..) => op == by,
        _ => false,
    }
}

/// The buffers that are filled in a statement and declared outside of it.
pub(super) fn outer<'n>(node: &'n Node, own: &mut Vec<&'n str>, filled: &mut Vec<&'n str>) {
    match node {
        Node::Block(body) => {
            let before = own.len();
            body.iter().for_each(|n| outer(n, own, filled));
            own.truncate(before);
        }
        Node::If(_, then, otherwise) => {
            outer(then, own, filled);
            otherwise.iter().for_each(|n| outer(n, own, filled));
        }
        Node::For { body, .. } | Node::While(_, body) => outer(body, own, filled),
        Node::Declare { name, .. } => own.push(name),
        Node::Do(Term::Binary(_, _, call)) => {
            if let Term::Call(function, arguments) = &**call
                && function == "get_box"
                && let Some((buffer, _)) = arguments.first().and_then(addressed)
                && !own.contains(&buffer)
            {
                filled.push(buffer);
            }
        }
        Node::Do(_) => {}
    }
}
