//! What a loop makes of the variables that its body changes.
//!
//! The body is translated once on trial, with a name for the value that a variable has when an
//! iteration begins. If it ends with that name plus something that no iteration changes, the
//! variable is an induction variable: `v + d * t` in iteration `t`, and `v + d * count` after the
//! loop. Then the body is translated with that. Any other variable that the body changes is not
//! known when an iteration begins, nor after the loop.

use std::collections::{BTreeMap, BTreeSet};

use loops::Name;

use super::assume::Assumed;
use super::index::{Index, atom_number};
use super::loop_header::expr_mentions;
use super::polynomial::{Gathered, Polynomial, small};
use super::track::{Place, Product, Value};
use super::{Lowering, resolve::Meaning};
use crate::ast::{At, For};
use crate::ctype::{CType, IntType};
use crate::linear::Linear;

/// Most loops that are tried for one region.
pub(super) const MOST_TRIES: usize = 200;

/// Most loops in one another that are tried.
pub(super) const DEEPEST: usize = 4;

/// The bounds of a loop of the loop program.
pub(super) struct Counted<'a> {
    pub hub: &'a Name,
    pub lower: &'a Index,
    pub upper: &'a Index,
    pub step: i64,
    pub at: At,
}

/// A variable that every iteration changes by the same.
pub(super) struct Carried {
    object: usize,
    /// Its value before the loop.
    before: Value,
    /// What has to be tested where that is used.
    conditions: Vec<Assumed>,
    by: Polynomial,
}

impl Lowering<'_> {
    /// The followed variables that the body of a loop, and the loops in it, may change. Those that
    /// its header counts are not among them: to change these in the body is refused.
    pub(super) fn changed_in(&self, f: &For) -> BTreeSet<usize> {
        let mut changed = self.changed_by(&f.body);
        let own = f.step.as_ref().and_then(super::loop_header::counted).map(|(variable, _)| variable);
        for variable in own.into_iter().chain(f.others.iter().map(|other| &other.variable)) {
            if let Meaning::Object(k) = self.meaning(variable) {
                changed.remove(&k);
            }
        }
        changed
    }

    /// Finds out which of the changed variables every iteration changes by the same. What is known
    /// here is what is known where the body begins, but for them.
    pub(super) fn carried(
        &mut self,
        f: &For,
        changed: &BTreeSet<usize>,
        loop_: &Counted<'_>,
    ) -> Vec<Carried> {
        let before: Vec<(usize, Value)> =
            changed.iter().filter_map(|k| Some((*k, self.value_of(*k)?))).collect();
        if before.is_empty() || self.trials >= DEEPEST || self.tries_left == 0 {
            return Vec::new();
        }
        let saved = self.clone();
        self.trials += 1;
        for k in changed {
            self.forget(*k, "the loop changes it", f.body.at);
        }
        let mut symbols: BTreeMap<usize, Name> = BTreeMap::new();
        for (k, value) in &before {
            let name = Name::new(format!("?{k}"));
            // The same variable may be tried in several loops around each other.
            let name = (0..=self.trials).fold(name, |name, _| Name::new(format!("{name}'")));
            let symbol = Linear::name(name.clone());
            let start = match (value, &self.res.objects[*k].ty.ty) {
                (Value::Place(place), _) => {
                    let polynomial = Polynomial::of_linear(&symbol);
                    let offset =
                        Product { polynomial, gathered: Gathered::default(), ..place.offset.clone() };
                    Value::Place(Place { offset, computed: None, ..place.clone() })
                }
                (_, CType::Int(ty)) => Value::Number(Index::variable(name.clone(), *ty)),
                _ => continue,
            };
            symbols.insert(*k, name);
            self.set_value(*k, start, Vec::new());
        }
        let _ = self.body(&f.body);
        let mut found = Vec::new();
        for (k, value) in before {
            let Some(symbol) = symbols.get(&k) else { continue };
            let by = self.value_of(k).and_then(|after| {
                let same = match (&after, &value) {
                    (Value::Place(a), Value::Place(b)) => {
                        let known = !a.by_data && !b.by_data;
                        known && a.object == b.object && a.leading == b.leading
                    }
                    (Value::Place(_), _) | (_, Value::Place(_)) => false,
                    _ => true,
                };
                let start = Polynomial::of_linear(&Linear::name(symbol.clone()));
                after.polynomial().minus(&start).filter(|by| same && self.is_invariant(by, loop_.hub))
            });
            if let Some(by) = by {
                // What the trial needed to find this is needed where it is used.
                let mut conditions = saved.conditions_of(k);
                conditions.extend(self.conditions_of(k));
                found.push(Carried { object: k, before: value, conditions, by });
            }
        }
        let (atoms, left) = (std::mem::take(&mut self.atoms), self.tries_left.saturating_sub(1));
        *self = saved;
        self.atoms = atoms;
        self.tries_left = left;
        found
    }

    /// Whether a polynomial is the same in all iterations of a loop.
    fn is_invariant(&self, p: &Polynomial, hub: &Name) -> bool {
        p.atoms().into_iter().all(|name| match atom_number(name) {
            Some(k) => self.atoms[k].expr.vars().iter().all(|v| v != hub && !v.starts_with('?')),
            None => name != hub && !name.starts_with('?'),
        })
    }

    /// Sets the changed variables where the body of a loop begins.
    pub(super) fn begin_iteration(
        &mut self,
        changed: &BTreeSet<usize>,
        carried: &[Carried],
        loop_: &Counted<'_>,
    ) {
        for k in changed {
            self.forget(*k, "the loop changes it", loop_.at);
        }
        for one in carried {
            let Some(times) = self.iterations(&one.by, loop_) else { continue };
            self.advance(one, &times, loop_.at);
        }
    }

    /// The number of iterations before this one, or what takes its place if `by` is divided by the
    /// step of the loop.
    fn iterations(&mut self, by: &Polynomial, loop_: &Counted<'_>) -> Option<(Polynomial, Linear)> {
        let travelled = Linear::name(loop_.hub.clone()).minus(&loop_.lower.form)?;
        if loop_.step == 1 {
            return Some((by.clone(), travelled));
        }
        let step = loop_.step;
        if by.terms().all(|(_, c)| c % step == 0) {
            let each = Polynomial::sum(by.terms().map(|(product, c)| (product.clone(), c / step)))?;
            return Some((each, travelled));
        }
        let expr = self.form_expr(&travelled);
        let long = Index { expr, form: travelled, ty: IntType::Long, substituted: false };
        Some((by.clone(), self.floor(long, step, false).form))
    }

    /// Sets a variable to what it is after some iterations, where that is a value of its type.
    fn advance(&mut self, one: &Carried, (by, times): &(Polynomial, Linear), at: At) {
        let around = std::mem::take(&mut self.assumed);
        let value = self.advanced(one, by, times, at);
        let mut conditions = std::mem::replace(&mut self.assumed, around);
        // The place is that of the loop: only the variable can say what is tested.
        let name = &self.res.objects[one.object].name;
        conditions.iter_mut().for_each(|c| c.says = format!("`{name}` does not wrap around in the loop"));
        match value {
            Some(value) => {
                self.set_value(one.object, value, conditions);
                self.add_conditions(one.object, one.conditions.clone());
            }
            None => self.forget(one.object, "what the loop adds to it is not affine", at),
        }
    }

    fn advanced(&mut self, one: &Carried, by: &Polynomial, times: &Linear, at: At) -> Option<Value> {
        let travelled = small(by.times(&Polynomial::of_linear(times)))?;
        let polynomial = small(one.before.polynomial().plus(&travelled))?;
        let mut gathered = match &one.before {
            Value::Number(_) => Gathered::default(),
            Value::Product(product) => product.gathered.clone(),
            Value::Place(place) => place.offset.gathered.clone(),
        };
        let factors = [by.as_linear(), Some(times.clone())].into_iter().flatten().collect();
        gathered.join(&Gathered { factors, most: None });
        if let Value::Place(place) = &one.before {
            let offset = Product { polynomial, gathered, ..place.offset.clone() };
            return Some(Value::Place(Place { offset, computed: None, ..place.clone() }));
        }
        let CType::Int(ty) = self.res.objects[one.object].ty.ty else { return None };
        if let Some(form) = polynomial.as_linear() {
            // A type with a sign has no meaning for what goes beyond it.
            if ty.is_unsigned() {
                self.in_range(&form, ty, at).ok()?;
            }
            let expr = self.form_expr(&form);
            return Some(Value::Number(Index { expr, form, ty, substituted: true }));
        }
        if ty.is_unsigned() {
            let natural = |this: &Self, form: Option<Linear>| form.is_some_and(|form| this.holds(&form));
            let start = one.before.polynomial().as_linear();
            let rises =
                natural(self, start) && natural(self, by.as_linear()) && natural(self, Some(times.clone()));
            if !rises {
                return None;
            }
            gathered.at_most(ty);
        }
        let natural = ty.is_unsigned().then(Vec::new);
        Some(Value::Product(Product { polynomial, ty, gathered, natural }))
    }

    /// Sets the changed variables after a loop.
    pub(super) fn end_loop(&mut self, changed: &BTreeSet<usize>, carried: &[Carried], loop_: &Counted<'_>) {
        for k in changed {
            self.forget(*k, "a loop before changes it", loop_.at);
        }
        for one in carried {
            if one.by.is_empty() {
                self.set_value(one.object, one.before.clone(), one.conditions.clone());
                continue;
            }
            let around = std::mem::take(&mut self.assumed);
            let times = self.trip_count(loop_);
            let conditions = std::mem::replace(&mut self.assumed, around);
            let Some(times) = times else { continue };
            self.advance(one, &(one.by.clone(), times), loop_.at);
            if self.value_of(one.object).is_some() {
                self.add_conditions(one.object, conditions);
            }
        }
    }

    /// How often a loop runs.
    fn trip_count(&mut self, loop_: &Counted<'_>) -> Option<Linear> {
        let distance = loop_.upper.form.minus(&loop_.lower.form)?;
        let counts = loop_.step == 1;
        if counts && self.holds(&distance) {
            return Some(distance);
        }
        // Inside of another loop the number of iterations may be a factor: it is tested that it is
        // not negative, where that can be.
        if counts && !self.loops.is_empty() {
            let mark = self.assumed.len();
            if self.need(&distance, loop_.at, &|_| "a loop counts up".to_owned()).is_ok() {
                return Some(distance);
            }
            self.assumed.truncate(mark);
        }
        let long = |form: Linear, this: &Self| {
            let expr = this.form_expr(&form);
            Index { expr, form, ty: IntType::Long, substituted: false }
        };
        let rounded = long(distance.plus_constant(loop_.step - 1)?, self);
        let count = if counts { rounded } else { self.floor(rounded, loop_.step, false) };
        self.extremum(true, count, Index::constant(0), loop_.at).ok().map(|count| count.form)
    }

    /// The value of a loop's variable after it, where `value` is the one in iteration `hub`.
    pub(super) fn value_after(&mut self, value: &Index, loop_: &Counted<'_>) -> Option<Index> {
        if value
            .form
            .variables()
            .any(|name| atom_number(name).is_some_and(|k| expr_mentions(&self.atoms[k].expr, loop_.hub)))
        {
            return None;
        }
        let distance = loop_.upper.form.minus(&loop_.lower.form)?;
        let end = if loop_.step == 1 && self.holds(&distance) {
            loop_.upper.form.clone()
        } else {
            self.final_value(loop_.lower, loop_.upper, loop_.step, loop_.at).ok()?.form
        };
        let form = value.form.replace(loop_.hub, &end)?;
        Some(Index { expr: self.form_expr(&form), form, ty: value.ty, substituted: true })
    }
}
