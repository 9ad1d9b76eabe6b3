//! Where strategies go in a term: to a given place, to the first that fits, to all of them.

use std::collections::BTreeSet;

use loops::suggest::nearest;
use loops::{Name, Size};

use super::super::{Pattern, Strategy};
use super::{MAX_CALLS, Ran, Runner, Stop, nearer};
use crate::term::{Arg, Term, TermKind};
use crate::walk::{self, Position};

impl Runner<'_> {
    pub(super) fn at(&mut self, s: &Strategy, term: &Term, position: &Position, below: &Position) -> Ran {
        let place = position.then(below);
        let Some(found) = walk::subterm(term, below) else {
            return Err(self.refuse(
                format!("at position {place}"),
                term,
                position,
                "there is no such place",
            ));
        };
        let new = self.apply(s, found, &place)?;
        match walk::replace(term, below, &new) {
            Some(term) => Ok(term),
            None => Err(self.refuse("at", term, position, "there is no such place")),
        }
    }

    /// The pattern with the variable that a parameter of the strategy stands for.
    fn resolved(&self, pattern: &Pattern) -> Pattern {
        let given = |name: &Name| match self.frames.last() {
            Some((_, bound)) => {
                let size = bound.iter().find(|(n, _)| n == name).and_then(|(_, size)| size.as_param());
                size.cloned().unwrap_or_else(|| name.clone())
            }
            None => name.clone(),
        };
        match pattern {
            Pattern::Binder(name) => Pattern::Binder(given(name)),
            Pattern::Named(prim, name) => Pattern::Named(*prim, given(name)),
            pattern => pattern.clone(),
        }
    }

    /// Whether this argument of a strategy is the name of a variable: the strategy goes to it.
    pub(super) fn names_a_place(&self, strategy: &Name, k: usize, arg: &Size) -> bool {
        arg.as_param().is_some() && self.takes_place(strategy, k, &mut BTreeSet::new())
    }

    /// `seen` are the parameters that have been looked at.
    fn takes_place(&self, strategy: &Name, k: usize, seen: &mut BTreeSet<(Name, usize)>) -> bool {
        let known = seen.len() < MAX_CALLS && seen.insert((strategy.clone(), k));
        let Some(named) = self.strategies.get(strategy).filter(|_| known) else { return false };
        let Some(param) = named.params.get(k) else { return false };
        let mut todo = vec![&named.body];
        while let Some(strategy) = todo.pop() {
            match strategy {
                Strategy::At(pattern, _, s) | Strategy::Inside(pattern, _, s) => {
                    if matches!(pattern, Pattern::Binder(name) | Pattern::Named(_, name) if name == param) {
                        return true;
                    }
                    todo.push(s);
                }
                Strategy::Call(call) => {
                    let mut passes = |(k, arg): (usize, &Size)| {
                        arg.as_param() == Some(param) && self.takes_place(&call.name, k, seen)
                    };
                    if call.args.iter().enumerate().any(&mut passes) {
                        return true;
                    }
                }
                Strategy::Seq(parts) | Strategy::Choice(parts) => todo.extend(parts),
                Strategy::Try(s)
                | Strategy::Repeat(s)
                | Strategy::Not(s)
                | Strategy::TopDown(s)
                | Strategy::BottomUp(s)
                | Strategy::Everywhere(s)
                | Strategy::Normalise(s)
                | Strategy::All(s)
                | Strategy::One(s)
                | Strategy::Child(_, s)
                | Strategy::AtPosition(_, s) => todo.push(s),
                Strategy::Id | Strategy::Fail | Strategy::Auto => {}
            }
        }
        false
    }

    /// The n-th place that the pattern fits.
    pub(super) fn find(
        &self,
        pattern: &Pattern,
        n: u32,
        term: &Term,
        position: &Position,
    ) -> Result<Position, Stop> {
        let pattern = &self.resolved(pattern);
        let mut left = n;
        let mut todo = vec![(term, Position::root())];
        while let Some((term, here)) = todo.pop() {
            left -= u32::from(fits(pattern, term));
            if left == 0 {
                return Ok(here);
            }
            todo.extend(walk::children(term).into_iter().rev().map(|(k, child)| (child, here.child(k))));
        }
        let reason = match (n - left, pattern) {
            (0, Pattern::Binder(name)) => {
                let reason = format!("no loop and no `let` binds `{name}`, and it is no primitive");
                match nearest(name, bound_names(term).iter().map(Name::as_str)) {
                    Some(near) => format!("{reason} (did you mean `{near}`?)"),
                    None => reason,
                }
            }
            (found, Pattern::Binder(name)) => format!("`{name}` is bound {found} times only"),
            (0, Pattern::Named(prim, name)) => {
                format!("no function of a `{}` binds `{name}`", prim.name())
            }
            (0, _) => format!("there is no `{pattern}`"),
            (1, _) => format!("there is only one `{pattern}`"),
            (found, _) => format!("there are only {found} occurrences of `{pattern}`"),
        };
        Err(self.refuse(format!("at {pattern} {n}"), term, position, &reason))
    }

    /// The function of the n-th place that the pattern fits.
    pub(super) fn find_function(
        &self,
        pattern: &Pattern,
        n: u32,
        term: &Term,
        position: &Position,
    ) -> Result<Position, Stop> {
        let below = self.find(pattern, n, term, position)?;
        let Some(found) = walk::subterm(term, &below) else { return Ok(below) };
        match function_of(found) {
            Some(k) => Ok(below.child(k)),
            None => {
                let what = format!("inside {pattern}");
                Err(self.refuse(what, found, &below, "it has no function"))
            }
        }
    }

    /// The first subterm to which the strategy applies.
    pub(super) fn one(&mut self, s: &Strategy, term: &Term, position: &Position) -> Ran {
        let mut nearest = None;
        for (k, child) in walk::children(term) {
            match self.attempt(s, child, &position.child(k)) {
                Ok(new) => return Ok(replace_child(term, k, new)),
                Err(Stop::Refused(why)) => nearest = Some(nearer(nearest, why)),
                Err(stop) => return Err(stop),
            }
        }
        Err(match nearest {
            Some(why) => Stop::Refused(why),
            None => self.refuse("one", term, position, "there is no subterm"),
        })
    }

    pub(super) fn first(&mut self, s: &Strategy, term: &Term, position: &Position, before: bool) -> Ran {
        let mut nearest = None;
        if before {
            match self.attempt(s, term, position) {
                Err(Stop::Refused(why)) => nearest = Some(nearer(nearest, why)),
                other => return other,
            }
        }
        for (k, child) in walk::children(term) {
            match self.first(s, child, &position.child(k), before) {
                Ok(new) => return Ok(replace_child(term, k, new)),
                Err(Stop::Refused(why)) => nearest = Some(nearer(nearest, why)),
                Err(stop) => return Err(stop),
            }
        }
        if !before {
            match self.attempt(s, term, position) {
                Err(Stop::Refused(why)) => nearest = Some(nearer(nearest, why)),
                other => return other,
            }
        }
        Err(match nearest {
            Some(why) => Stop::Refused(why),
            None => self.refuse("traversal", term, position, "there is no place"),
        })
    }

    pub(super) fn everywhere(&mut self, s: &Strategy, term: &Term, position: &Position) -> Ran {
        let term = walk::try_map_children(term, |k, child| self.everywhere(s, child, &position.child(k)))?;
        Ok(self.attempt_option(s, &term, position)?.unwrap_or(term))
    }

    /// Outer places first, so that a replacement is looked at once. `done` are the terms that are
    /// known to be normal.
    pub(super) fn normalise(
        &mut self,
        s: &Strategy,
        term: &Term,
        position: &Position,
        done: &mut Done,
    ) -> Ran {
        if done.contains(term) {
            return Ok(term.clone());
        }
        let mut term = term.clone();
        loop {
            loop {
                let steps = self.trace.steps.len();
                match self.attempt_option(s, &term, position)? {
                    Some(next) if self.trace.steps.len() > steps => term = next,
                    _ => break,
                }
            }
            let new =
                walk::try_map_children(&term, |k, child| self.normalise(s, child, &position.child(k), done))?;
            if new.same_node(&term) {
                done.insert(term.clone());
                return Ok(term);
            }
            term = new;
        }
    }
}

/// Terms by their place in memory; they are kept, so that the places stay theirs.
#[derive(Default)]
pub(super) struct Done {
    addresses: std::collections::HashSet<usize>,
    kept: Vec<Term>,
}

impl Done {
    fn contains(&self, term: &Term) -> bool {
        self.addresses.contains(&term.address())
    }

    fn insert(&mut self, term: Term) {
        self.addresses.insert(term.address());
        self.kept.push(term);
    }
}

pub(super) fn replace_child(term: &Term, k: u32, new: Term) -> Term {
    walk::map_children(term, |step, child| if step == k { new.clone() } else { child.clone() })
}

/// The names of all variables that a term binds, and of primitives.
fn bound_names(term: &Term) -> BTreeSet<Name> {
    let mut names: BTreeSet<Name> = crate::prim::TABLE.iter().map(|info| Name::new(info.name)).collect();
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        names.extend(walk::binders(term).iter().map(|binder| binder.var.name.clone()));
        todo.extend(walk::children(term).into_iter().map(|(_, child)| child));
    }
    names
}

/// Whether a place is one that the pattern names.
fn fits(pattern: &Pattern, term: &Term) -> bool {
    let binds = |name: &Name| walk::binders(term).iter().any(|binder| binder.var.name == *name);
    match (pattern, term.kind()) {
        (Pattern::Prim(wanted), TermKind::Prim(prim, _)) => prim == wanted,
        (Pattern::Let, TermKind::Let(..)) => true,
        (Pattern::Binder(name), _) => binds(name),
        (Pattern::Named(wanted, name), TermKind::Prim(prim, _)) => prim == wanted && binds(name),
        _ => false,
    }
}

/// The step to the function of a primitive.
fn function_of(term: &Term) -> Option<u32> {
    match term.kind() {
        TermKind::Prim(_, args) => {
            (0..).zip(args).find(|(_, arg)| matches!(arg, Arg::Fun(_))).map(|(k, _)| k)
        }
        TermKind::Let(..) => Some(1),
        _ => None,
    }
}
