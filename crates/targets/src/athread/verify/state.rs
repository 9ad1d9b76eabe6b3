//! What is known of a core at a point of the text: values of names, running transfers, and the
//! contents of local memory.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::form::{Atom, Form};
use super::mapped::{Area, plane};
use super::panel_rows::Cover;
use super::read::Term;
use super::shares_ahead::Ahead;
use super::stationary_check::Shares;

/// Bytes of local memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Region {
    pub at: i64,
    pub bytes: i64,
}

impl Region {
    pub fn meets(self, other: Region) -> bool {
        self.at < other.at + other.bytes && other.at < self.at + self.bytes
    }
}

/// What a name is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Value {
    /// A number, or an address in main memory.
    Number(Form),
    /// A buffer: its place.
    Buffer(i64),
    /// A buffer that is one of several alike, which follow each other: the place of the first, and
    /// the number of this one.
    One(i64, Form),
}

/// The number of one of several buffers that are alike.
pub(super) const NUMBER: &str = "number of a strip";

/// A box and how many iterations of the loop in its description ago it was asked for. Without an
/// area it is no longer what main memory holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Held {
    pub area: Option<Area>,
    pub age: u8,
}

/// A running transfer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Flight {
    pub tag: String,
    pub get: bool,
    pub region: Region,
    pub held: Held,
    /// Whether it is a broadcast, which comes to all cores.
    pub all: bool,
}

type Facts = BTreeMap<Form, (bool, u8)>;
type Here = BTreeMap<Form, (bool, usize)>;

/// What is known at a place; a set of these covers all that can be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct State {
    /// Whether forms are above 0, and the iterations that have gone by since: first, since by this
    /// most states differ.
    facts: Facts,
    /// The same of conditions that are no comparisons, with the number of blocks around: such
    /// knowledge ends with its block.
    here: Here,
    /// Loops in their first iterations: the value of their symbol.
    first: BTreeMap<String, i64>,
    scopes: Vec<Rc<BTreeMap<String, Value>>>,
    pub flights: BTreeSet<Flight>,
    /// What has come in, by place.
    pub contents: BTreeMap<i64, (Region, Held)>,
    /// Buffers that the core has written since they were declared there, by place.
    pub written: BTreeMap<i64, Region>,
    /// Results that have not gone out: place and buffer.
    pub dirty: BTreeMap<i64, (Region, String)>,
    /// Replies that have been set to 0.
    pub ready: BTreeSet<String>,
    /// Places whose boxes come in under a condition of the mapping that does not hold here: then
    /// nothing of them is used.
    pub excused: BTreeSet<i64>,
    /// Shares of which a part has gone to others since they came in, by place.
    pub sent: BTreeSet<i64>,
    /// Conditions that decided what a name is, where that was followed both ways.
    chosen: BTreeMap<String, BTreeSet<Form>>,
    /// Whether buffers keep what they hold when their block ends: so it is where panels are worked
    /// on.
    pub keeps: bool,
    /// For several buffers that are alike, by the place of the first.
    pub covers: BTreeMap<i64, Cover>,
    /// Shares of several steps, by the place of the first.
    pub shares: BTreeMap<i64, Shares>,
    /// Shares that come steps ahead, by place.
    pub ahead: BTreeMap<i64, Ahead>,
    /// What was broadcast and has been waited for, by place: it is there when all cores have met.
    pub arriving: BTreeMap<i64, (Region, Held)>,
    /// Where something is broadcast: what this core has used since all have met, and whether they
    /// have.
    pub touched: BTreeSet<Region>,
    pub met: bool,
    /// Whether loops over cores have ended since all cores have met.
    pub apart: bool,
}

impl State {
    pub fn open(&mut self) {
        self.scopes.push(Rc::default());
    }

    /// A block ends, and with it its buffers. What they hold stays only if the program keeps its
    /// address, to see whether it needs it again.
    pub fn close(&mut self) {
        let depth = self.scopes.len();
        self.here.retain(|_, (_, own)| *own < depth);
        for (name, value) in self.scopes.pop().unwrap_or_default().iter() {
            self.chosen.remove(name);
            let Value::Buffer(at) = value else { continue };
            self.sent.remove(at);
            self.ahead.remove(at);
            self.excused.remove(at);
            if self.keeps {
                continue;
            }
            self.written.remove(at);
            let area = self.contents.get(at).and_then(|(_, held)| held.area.as_ref());
            let address = area.map(|area| (area.array.clone(), area.offset.clone()));
            if address.is_none() || !self.numbers().any(|form| form.address() == address) {
                self.contents.remove(at);
            }
        }
    }

    /// Loops over cores end: nothing in local memory is used any more.
    pub(crate) fn end_phase(&mut self) {
        self.contents.clear();
        self.written.clear();
        self.facts.clear();
        self.here.clear();
        self.keeps = false;
        self.covers.clear();
        self.shares.clear();
        self.ahead.clear();
        self.apart = true;
    }

    pub fn declare(&mut self, name: &str, value: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            Rc::make_mut(scope).insert(name.to_owned(), value);
        }
    }

    pub fn set(&mut self, name: &str, value: Value) {
        if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name)) {
            Rc::make_mut(scope).insert(name.to_owned(), value);
        }
    }

    /// A name's value depends on a condition.
    pub fn choose(&mut self, name: &str, conditions: BTreeSet<Form>) {
        if !conditions.is_empty() {
            self.chosen.entry(name.to_owned()).or_default().extend(conditions);
        }
    }

    /// The conditions that the names in some expressions depend on.
    pub fn choices<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> BTreeSet<Form> {
        if self.chosen.is_empty() {
            return BTreeSet::new();
        }
        let terms: Vec<&Term> = terms.into_iter().collect();
        let used = self.chosen.iter().filter(|(name, _)| terms.iter().any(|t| t.mentions(name)));
        used.flat_map(|(_, conditions)| conditions.iter().cloned()).collect()
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    pub fn number(&self, name: &str) -> Option<Form> {
        match self.get(name) {
            Some(Value::Number(form)) => Some(form.clone()),
            _ => None,
        }
    }

    /// The name of a buffer at a place.
    pub fn named(&self, at: i64) -> Option<String> {
        let own = |scope: &Rc<BTreeMap<String, Value>>| {
            scope.iter().find(|(_, value)| **value == Value::Buffer(at)).map(|(name, _)| name.clone())
        };
        self.scopes.iter().rev().find_map(own)
    }

    /// The place of a buffer.
    pub fn buffer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Value::Buffer(at) | Value::One(at, _)) => Some(*at),
            _ => None,
        }
    }

    /// Whether something is a number that the text counts with, and no count of transfers.
    pub fn steps(&self, target: &Term) -> bool {
        matches!(target, Term::Name(name) if !name.ends_with("_sent") && self.number(name).is_some())
    }

    /// An expression as a form.
    pub fn form(&self, term: &Term) -> Form {
        let all = |terms: &[&Term]| terms.iter().map(|t| self.form(t)).collect::<Vec<_>>();
        match term {
            Term::Int(n) => Form::int(*n),
            Term::Literal => Form::apply("literal", vec![]),
            Term::Name(name) => self.number(name).unwrap_or_else(|| Form::symbol(name)),
            Term::Binary(op, a, b) => match op.as_str() {
                "+" => self.form(a).plus(&self.form(b)),
                "-" => self.form(a).minus(&self.form(b)),
                "*" => self.form(a).times(&self.form(b)),
                _ => Form::apply(op, all(&[a, b])),
            },
            Term::Unary(op, a) => match (op.as_str(), &**a) {
                ("-", a) => Form::default().minus(&self.form(a)),
                ("&", Term::Index(array, index)) if matches!(&**array, Term::Name(_)) => {
                    let Term::Name(array) = &**array else { return Form::symbol("?") };
                    Form::apply(&format!("&{array}"), all(&[index]))
                }
                _ => Form::apply(op, all(&[a])),
            },
            Term::Ternary(c, a, b) => Form::apply("?", all(&[c, a, b])),
            Term::Call(function, arguments) => {
                Form::apply(function, arguments.iter().map(|a| self.form(a)).collect())
            }
            Term::Index(a, b) => Form::apply("[]", all(&[a, b])),
            Term::Member(a) => Form::apply(".", all(&[a])),
        }
    }

    /// A form with what is known of loops in their first iterations.
    pub fn normal(&self, form: &Form) -> Form {
        self.first.iter().fold(form.clone(), |form, (symbol, value)| form.put(symbol, &Form::int(*value)))
    }

    pub fn equal(&self, a: &Form, b: &Form) -> bool {
        a == b || self.normal(a) == self.normal(b)
    }

    /// Whether two boxes are the same elements. How far rows are apart says nothing where there is
    /// one at most; then a transfer's box may have no such number.
    pub fn same(&self, a: &Area, b: &Area) -> bool {
        let none = Form::default();
        let one = || {
            [a, b].iter().any(|area| area.pitch == none)
                || self.normal(&a.rows).bound().is_some_and(|n| n <= 1)
        };
        a.array == b.array
            && a.share == b.share
            && a.planes.len() == b.planes.len()
            && a.planes.iter().zip(&b.planes).all(|(a, b)| self.equal(a, b))
            && self.equal(&a.offset, &b.offset)
            && self.equal(&a.rows, &b.rows)
            && self.equal(&a.columns, &b.columns)
            && (self.equal(&a.pitch, &b.pitch) || one())
    }

    /// Whether two boxes have no element in common. Boxes lie inside the planes and rows of their
    /// array.
    pub fn apart(&self, a: &Area, b: &Area) -> bool {
        if a.array != b.array {
            return true;
        }
        let gap = self.normal(&b.offset.minus(&a.offset));
        let pitch = self.normal(if a.pitch == Form::default() { &b.pitch } else { &a.pitch });
        let least = |forward: bool, a: &Form, b: &Form| self.normal(if forward { a } else { b }).bound();
        let over = |by: i64, a: &Form, b: &Form| least(by > 0, a, b).is_some_and(|most| by.abs() >= most);
        // Boxes are within their planes: in other planes they are apart wherever they begin there.
        let other_planes = a.planes.iter().zip(&b.planes).enumerate().any(|(d, (own, other))| {
            let elements = self.normal(&a.offset.by(&plane(d)));
            gap.times_in(&elements).is_some_and(|by| by != 0 && over(by, own, other))
        });
        if other_planes {
            return true;
        }
        // However many planes they are from each other, they are apart if their rows are.
        let planes = (0..a.planes.len()).map(|d| self.normal(&a.offset.by(&plane(d))));
        let gap = planes.fold(gap, |gap, elements| gap.without(&elements));
        let Some((rows, columns)) = gap.multiple(&pitch) else { return false };
        (rows != 0 && over(rows, &a.rows, &b.rows)) || (columns != 0 && over(columns, &a.columns, &b.columns))
    }

    /// Whether a form is above 0, if that is known.
    pub fn above(&self, form: &Form) -> Option<bool> {
        let form = self.normal(form).question();
        if let Some(n) = form.constant() {
            return Some(n > 0);
        }
        self.known().find_map(|(known, truth)| (self.normal(known) == form).then_some(truth))
    }

    /// Whether forms are above 0, as far as that was found.
    pub fn known(&self) -> impl Iterator<Item = (&Form, bool)> {
        self.compared().chain(self.here.iter().map(|(known, (truth, _))| (known, *truth)))
    }

    /// The same of comparisons only.
    pub fn compared(&self) -> impl Iterator<Item = (&Form, bool)> {
        self.facts.iter().map(|(known, (truth, _))| (known, *truth))
    }

    /// Forgets what is known of a name's value.
    pub(crate) fn unlearn(&mut self, symbol: &str) {
        self.facts.retain(|form, _| !form.mentions(symbol));
        self.here.retain(|form, _| !form.mentions(symbol));
    }

    /// Forgets what is known of two names together.
    pub(crate) fn unlearn_both(&mut self, one: &str, other: &str) {
        self.facts.retain(|form, _| !form.mentions(one) || !form.mentions(other));
        self.here.retain(|form, _| !form.mentions(one) || !form.mentions(other));
    }

    /// Forgets how many rounds of exchanges an iteration of a loop around has had: another
    /// iteration asks again.
    pub(crate) fn unlearn_rounds(&mut self) {
        let quotient = |atom: &Atom| matches!(atom, Atom::Apply(op, _) if op == "/");
        let counted = |atom: &Atom| matches!(atom, Atom::Symbol(name) if name.ends_with(" since"));
        self.facts.retain(|form, _| !(form.any(&quotient) && form.any(&counted)));
    }

    /// What one state has become, both ways of a condition: if that is the same but for what was
    /// found of conditions, it is one way, where that is known on which both agree. Nothing that
    /// has been done depends on the rest.
    pub fn joined(mut states: Vec<State>) -> Vec<State> {
        let found: Vec<(Facts, Here)> =
            states.iter_mut().map(|s| (std::mem::take(&mut s.facts), std::mem::take(&mut s.here))).collect();
        if states.len() > 1 && states.windows(2).all(|two| two[0] == two[1]) {
            let mut found = found.into_iter();
            let (mut facts, mut here) = found.next().unwrap_or_default();
            for (other, also) in found {
                facts.retain(|form, (truth, age)| {
                    let other = other.get(form).filter(|other| other.0 == *truth);
                    *age = other.map_or(*age, |other| other.1.max(*age));
                    other.is_some()
                });
                here.retain(|form, found| also.get(form) == Some(found));
            }
            states.truncate(1);
            return states
                .into_iter()
                .map(|state| State { facts: facts.clone(), here: here.clone(), ..state })
                .collect();
        }
        states.into_iter().zip(found).map(|(state, (facts, here))| State { facts, here, ..state }).collect()
    }

    /// What is found of a condition that is no comparison.
    pub(crate) fn learn_here(&mut self, form: Form, truth: bool) {
        self.here.insert(form, (truth, self.scopes.len()));
    }

    pub(crate) fn unlearn_here(&mut self, form: &Form) {
        self.here.remove(form);
    }

    pub fn learn(&mut self, form: Form, truth: bool) {
        self.facts.insert(form.question(), (truth, 0));
    }

    /// A loop begins: its symbol is 0.
    pub fn begin(&mut self, symbol: &str) {
        self.first.insert(symbol.to_owned(), 0);
    }

    /// Replaces a name in all that is known.
    fn put(&mut self, symbol: &str, value: &Form) {
        for scope in &mut self.scopes {
            let mentions = |v: &Value| matches!(v, Value::Number(f) | Value::One(_, f) if f.mentions(symbol));
            if !scope.values().any(mentions) {
                continue;
            }
            for old in Rc::make_mut(scope).values_mut() {
                if let Value::Number(form) | Value::One(_, form) = old {
                    *form = form.put(symbol, value);
                }
            }
        }
        self.facts =
            std::mem::take(&mut self.facts).into_iter().map(|(f, t)| (f.put(symbol, value), t)).collect();
        self.each_held(&mut |held| {
            if let Some(area) = &mut held.area {
                area.each(&mut |form| *form = form.put(symbol, value));
            }
        });
    }

    /// Changes every box that is held or in transfer.
    pub(crate) fn each_held(&mut self, change: &mut dyn FnMut(&mut Held)) {
        for (_, held) in self.contents.values_mut() {
            change(held);
        }
        self.flights = std::mem::take(&mut self.flights)
            .into_iter()
            .map(|mut flight| {
                change(&mut flight.held);
                flight
            })
            .collect();
    }

    /// What is out of date is forgotten.
    pub fn forget(&mut self) {
        self.contents.retain(|_, (_, held)| held.area.is_some());
    }

    /// The next iteration of a loop: everything in terms of the new value of its symbol. So many
    /// iterations are looked at by themselves: `alone`.
    pub fn advance(&mut self, symbol: &str, step: i64, alone: i64) {
        let before = self.first.remove(symbol);
        if let Some(now) = before.map(|before| before + step).filter(|now| *now < alone * step) {
            self.first.insert(symbol.to_owned(), now);
        }
        self.here.retain(|form, _| !form.mentions(symbol));
        self.facts.retain(|form, (_, age)| {
            let mentions = form.mentions(symbol);
            *age += u8::from(mentions);
            !mentions || *age < 2
        });
        self.each_held(&mut |held| {
            if held.area.as_ref().is_some_and(|area| area.mentions(symbol)) {
                held.age += 1;
            }
        });
        if self.keeps {
            // Of panels it is enough to know those that are worked on and that come.
            self.contents.retain(|_, (_, held)| {
                held.age < 2 || held.area.as_ref().is_none_or(|area| !area.mentions(symbol))
            });
        }
        self.age(symbol, u8::try_from(alone).unwrap_or(0).max(2));
        self.put(symbol, &Form::symbol(symbol).minus(&Form::int(step)));
        self.forget();
    }

    /// Of what was found in the iteration before, only the answer to one question is kept.
    pub fn settle(&mut self, symbol: &str, own: Option<&Form>) {
        let own = own.map(Form::question);
        self.facts.retain(|form, (_, age)| *age == 0 || own.as_ref() == Some(form) || !form.mentions(symbol));
    }

    /// What has stayed for some iterations is either nothing that is used, or a box that the
    /// program itself knows: that gets names of its own.
    fn age(&mut self, symbol: &str, most: u8) {
        let old: Vec<(i64, Area)> = self
            .contents
            .iter()
            .filter(|(_, (_, held))| held.age > most)
            .filter_map(|(at, (_, held))| held.area.clone().filter(|a| a.mentions(symbol)).map(|a| (*at, a)))
            .collect();
        for (at, area) in old {
            let known =
                self.numbers().any(|form| form.address() == Some((area.array.clone(), area.offset.clone())));
            let Some((_, held)) = self.contents.get_mut(&at) else { continue };
            if !known {
                held.area = None;
                continue;
            }
            let fresh = |k: usize, form: &Form| {
                if form.mentions(symbol) { Form::symbol(&format!("? {at} {k}")) } else { form.clone() }
            };
            let names = [&area.offset, &area.rows, &area.columns].into_iter().enumerate();
            let names: Vec<Form> = names.map(|(k, form)| fresh(k, form)).collect();
            held.age = 0;
            held.area = Some(Area {
                offset: names[0].clone(),
                rows: names[1].clone(),
                columns: names[2].clone(),
                ..area.clone()
            });
            for scope in &mut self.scopes {
                for value in Rc::make_mut(scope).values_mut() {
                    let Value::Number(form) = value else { continue };
                    if form.address() == Some((area.array.clone(), area.offset.clone())) {
                        *form = Form::apply(&format!("&{}", area.array), vec![names[0].clone()]);
                    } else if *form == area.rows {
                        *form = names[1].clone();
                    } else if *form == area.columns {
                        *form = names[2].clone();
                    }
                }
            }
        }
        self.flights = std::mem::take(&mut self.flights)
            .into_iter()
            .map(|mut flight| {
                if flight.held.age > most {
                    flight.held.area = None;
                }
                flight
            })
            .collect();
    }

    fn numbers(&self) -> impl Iterator<Item = &Form> {
        self.scopes.iter().flat_map(|scope| scope.values()).filter_map(|value| match value {
            Value::Number(form) => Some(form),
            Value::Buffer(_) | Value::One(..) => None,
        })
    }

    /// A loop has ended: its symbol is the last value, or 0 if it had no iteration.
    pub fn end(&mut self, symbol: &str) {
        if self.keeps {
            // What was there for one of its iterations is used in that one.
            self.contents.retain(|_, (_, held)| held.area.as_ref().is_none_or(|area| !area.mentions(symbol)));
        }
        if let Some(value) = self.first.remove(symbol) {
            self.put(symbol, &Form::int(value));
            return;
        }
        let last = format!("{symbol} last");
        let mut mentioned = false;
        let mut look = |held: &mut Held| {
            mentioned |= held.area.as_ref().is_some_and(|area| area.mentions(symbol));
        };
        self.each_held(&mut look);
        if mentioned {
            // Of an earlier end of this loop nothing can be told any more.
            self.each_held(&mut |held| {
                if held.area.as_ref().is_some_and(|area| area.mentions(&last)) {
                    held.area = None;
                }
            });
        }
        self.here.retain(|form, _| !form.mentions(symbol));
        self.facts.retain(|form, _| !form.mentions(symbol) && !form.mentions(&last));
        for scope in &mut self.scopes {
            if !scope.values().any(|v| matches!(v, Value::Number(form) if form.mentions(&last))) {
                continue;
            }
            for (name, old) in Rc::make_mut(scope).iter_mut() {
                if let Value::Number(form) = old
                    && form.mentions(&last)
                {
                    *form = Form::symbol(&format!("? {name}"));
                }
            }
        }
        self.put(symbol, &Form::symbol(&last));
        // The last value has no name any more; only an address that the program keeps can tell what
        // it is.
        let kept: Vec<Form> =
            self.numbers().filter_map(|form| form.address().map(|(_, offset)| offset)).collect();
        self.each_held(&mut |held| {
            if held.area.as_ref().is_some_and(|area| area.mentions(&last) && !kept.contains(&area.offset)) {
                held.area = None;
            }
        });
        self.forget();
    }

    /// Two addresses, or two numbers, turn out to be equal: a name's value, and what it equals.
    pub fn equate(&mut self, pairs: &[(String, Form, Form)]) {
        let mut chosen = None;
        for (_, old, new) in pairs {
            if let (Some((array, from)), Some((other, to))) = (old.address(), new.address())
                && array == other
            {
                chosen = Some((array, from, to));
            }
        }
        let numbers: Vec<(Form, Form)> =
            pairs.iter().map(|(_, old, new)| (old.clone(), new.clone())).collect();
        if let Some((array, from, to)) = chosen {
            self.each_held(&mut |held| {
                let Some(area) = held.area.as_mut().filter(|a| a.array == array && a.offset == from) else {
                    return;
                };
                area.offset = to.clone();
                for (old, new) in &numbers {
                    for form in [&mut area.rows, &mut area.columns] {
                        if form == old {
                            *form = new.clone();
                        }
                    }
                }
                held.age = 0;
            });
        }
        for (name, _, new) in pairs {
            self.set(name, Value::Number(new.clone()));
        }
    }
}
