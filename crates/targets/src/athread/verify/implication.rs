//! What follows from the facts at a point: comparisons that contain minima and maxima, and
//! quotients that are rounded down.
//!
//! A prover of its own on purpose: the verifier shares no proofs (`arith::Facts`, `loops::Facts`)
//! with the code whose text it judges.

use super::form::{Atom, Form};
use super::state::State;
use super::walk::CORE;

/// Least and largest values that are taken apart in one question, at most.
const CHOICES: usize = 5;

/// An application of a function that is a term of its own, and its factor: the rest of the form,
/// the factor, and the values.
fn term(form: &Form, functions: &[&str]) -> Option<(Form, i64, String, Vec<Form>)> {
    form.terms().find_map(|(product, factor)| match product {
        [Atom::Apply(function, arguments)] if functions.contains(&function.as_str()) => {
            let own = Form::apply(function, arguments.clone()).times(&Form::int(factor));
            Some((form.minus(&own), factor, function.clone(), arguments.clone()))
        }
        _ => None,
    })
}

/// A form that is above 0 where another is, without a quotient: `floor(e / d) + rest > 0` is
/// `e - d + d * rest + 1 > 0`.
fn linear(form: &Form) -> Form {
    let Some((rest, factor, _, arguments)) = term(form, &["LOZENGE_FLOOR_DIV"]) else { return form.clone() };
    let [e, by] = arguments.as_slice() else { return form.clone() };
    let Some(d) = by.constant().filter(|d| *d > 0) else { return form.clone() };
    let d = Form::int(d);
    match factor {
        1 => linear(&e.minus(&d).plus(&rest.times(&d)).plus(&Form::int(1))),
        -1 => linear(&rest.times(&d).minus(e)),
        _ => form.clone(),
    }
}

impl State {
    /// Forms that are above 0 here.
    fn positive(&self) -> Vec<Form> {
        let mut all = Vec::new();
        for (form, truth) in self.compared() {
            let form = self.normal(form);
            let form = if truth { form } else { Form::int(1).minus(&form) };
            // More than the least of two is more than either.
            match term(&form, &["LOZENGE_MIN"]) {
                Some((rest, 1, _, parts)) => all.extend(parts.iter().map(|p| linear(&rest.plus(p)))),
                _ => all.push(linear(&form)),
            }
        }
        all
    }

    /// Whether a form is above 0, if that follows from what is known.
    pub fn follows(&self, form: &Form) -> Option<bool> {
        let form = self.normal(form);
        match form.constant() {
            Some(n) => Some(n > 0),
            None => decide(&form, &self.positive(), CHOICES).or_else(|| {
                let least = |form: &Form| self.least(form, 1).is_some_and(|n| n > 0);
                let below = Form::int(1).minus(&form);
                if !form.mentions(CORE) && least(&form) {
                    Some(true)
                } else {
                    (!form.mentions(CORE) && least(&below)).then_some(false)
                }
            }),
        }
    }

    /// A form without least and largest values of which it is known which it is.
    pub fn resolve(&self, form: &Form) -> Form {
        if term(form, &["LOZENGE_MIN", "LOZENGE_MAX"]).is_none() {
            return form.clone();
        }
        self.chosen(form, &self.positive(), CHOICES)
    }

    fn chosen(&self, form: &Form, known: &[Form], choices: usize) -> Form {
        let Some((rest, factor, function, parts)) = term(form, &["LOZENGE_MIN", "LOZENGE_MAX"]) else {
            return form.clone();
        };
        let ([a, b], true) = (parts.as_slice(), choices > 0) else { return form.clone() };
        let (a, b) = (self.chosen(a, known, choices - 1), self.chosen(b, known, choices - 1));
        let above = |a: &Form, b: &Form| decide(&self.normal(&a.minus(b)), known, choices - 1);
        let one = match (above(&a, &b), above(&b, &a), function == "LOZENGE_MIN") {
            (Some(true), _, true)
            | (_, Some(false), true)
            | (Some(false), _, false)
            | (_, Some(true), false) => b,
            (Some(false), _, true)
            | (_, Some(true), true)
            | (Some(true), _, false)
            | (_, Some(false), false) => a,
            _ => Form::apply(&function, vec![a, b]),
        };
        self.chosen(&rest, known, choices - 1).plus(&one.times(&Form::int(factor)))
    }

    /// A number that a form never exceeds here.
    pub fn most(&self, form: &Form) -> Option<i64> {
        let form = self.normal(form);
        if let Some(n) = form.constant() {
            return Some(n);
        }
        if let Some((rest, 1, _, arguments)) = term(&form, &["LOZENGE_FLOOR_DIV"])
            && let [e, by] = arguments.as_slice()
            && let Some(by) = by.constant().filter(|by| *by > 0)
        {
            return self.most(e)?.div_euclid(by).checked_add(self.most(&rest)?);
        }
        if let Some((rest, 1, _, parts)) = term(&form, &["LOZENGE_MAX"]) {
            let parts = parts.iter().map(|part| self.most(part)).collect::<Option<Vec<_>>>()?;
            return parts.into_iter().max()?.checked_add(self.most(&rest)?);
        }
        // What is known to be above 0 bounds what it is a number without.
        self.positive().iter().filter_map(|known| known.plus(&form).constant()).map(|n| n - 1).min()
    }

    /// A number that a sum of counts of iterations and the number of this core, one of `cores`,
    /// never falls below.
    pub fn least(&self, form: &Form, cores: i64) -> Option<i64> {
        let mut sum = 0i64;
        for (product, factor) in self.normal(form).terms() {
            let bound = match product {
                [] => 1,
                [Atom::Symbol(name)] if **name == *CORE => {
                    if factor > 0 {
                        0
                    } else {
                        cores - 1
                    }
                }
                // A loop that is no longer in its first iteration has counted.
                [Atom::Symbol(name)] if name.ends_with(" since") => {
                    if factor > 0 {
                        1
                    } else {
                        self.most(&Form::symbol(name))?
                    }
                }
                _ => return None,
            };
            sum = sum.checked_add(bound.checked_mul(factor)?)?;
        }
        Some(sum)
    }
}

fn decide(form: &Form, known: &[Form], choices: usize) -> Option<bool> {
    if let Some(n) = form.constant() {
        return Some(n > 0);
    }
    let by = |wanted: &Form| known.iter().any(|k| wanted.minus(k).constant().is_some_and(|n| n >= 0));
    if let Some((rest, factor, function, parts)) = term(form, &["LOZENGE_MIN", "LOZENGE_MAX"]) {
        if by(form) {
            return Some(true);
        }
        if by(&Form::int(1).minus(form)) {
            return Some(false);
        }
        let ([a, b], true) = (parts.as_slice(), choices > 0) else { return None };
        let (first, second) = if function == "LOZENGE_MIN" { (a, b) } else { (b, a) };
        // It is `a` where the one is not above the other, and `b` where it is.
        let cases = [(a, second.minus(first).plus(&Form::int(1))), (b, first.minus(second))];
        let mut answers = cases.into_iter().filter_map(|(value, where_)| {
            let where_ = linear(&where_);
            let never = where_.constant().is_some_and(|n| n <= 0)
                || known.iter().any(|k| k.plus(&where_).constant().is_some_and(|n| n < 2));
            let known: Vec<Form> = known.iter().cloned().chain([where_]).collect();
            (!never).then(|| decide(&rest.plus(&value.times(&Form::int(factor))), &known, choices - 1))
        });
        let first = answers.next().flatten()?;
        return answers.all(|answer| answer == Some(first)).then_some(first);
    }
    let (above, below) = (linear(form), linear(&Form::int(1).minus(form)));
    if by(&above) {
        Some(true)
    } else if by(&below) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(a: Form, b: Form) -> Form {
        Form::apply("LOZENGE_MIN", vec![a, b])
    }

    #[test]
    fn quotients_and_least_values() {
        let (n, k) = (Form::symbol("n"), Form::symbol("k"));
        let blocks =
            Form::apply("LOZENGE_FLOOR_DIV", vec![n.minus(&Form::int(1)), Form::int(16)]).plus(&Form::int(1));
        let mut state = State::default();
        // There is a block after block k.
        state.learn(blocks.minus(&k).minus(&Form::int(1)), true);
        let rest = n.minus(&k.times(&Form::int(16)));
        assert_eq!(state.resolve(&least(Form::int(16), rest.clone())), Form::int(16));
        let two = least(Form::int(32), rest.clone());
        assert_eq!(state.resolve(&two), two);
        assert_eq!(state.follows(&Form::int(16).minus(&two).plus(&Form::int(1))), Some(false));
        assert_eq!(state.follows(&rest.minus(&Form::int(17))), None);
        // There is none.
        let mut state = State::default();
        state.learn(blocks.minus(&k).minus(&Form::int(1)), false);
        assert_eq!(state.resolve(&two), rest);
        let one = least(Form::int(16), rest.clone());
        assert_eq!(state.follows(&one.minus(&two).plus(&Form::int(1))), Some(true));
    }
}
