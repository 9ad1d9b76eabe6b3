//! Pointers that a loop passes around among themselves, as the buffers of an iterated stencil:
//! `t = a; a = b; b = t;` at the end of each time step.
//!
//! After as many iterations as there are pointers, each points where it did. So that many copies of
//! the body are the body of a loop with that step (modulo variable expansion, Lam 1988), and in
//! each copy it is known where the pointers point. What is left of the iterations follows behind
//! conditions. After the region the pointers are passed around as often as is left.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use loops::{BinaryOp, CompareOp, Expr as Hub, Loop, LoopKind, Name, Stmt as HubStmt};

use super::carry::{Counted, DEEPEST};
use super::index::Index;
use super::resolve::{Meaning, Resolution};
use super::track::{Place, Value};
use super::{ActiveLoop, Lowering, Try};
use crate::ast::{At, For, Stmt, StmtKind};
use crate::ctype::{CType, IntType};
use crate::linear::Linear;

/// Most pointers that are passed around.
const MOST_POINTERS: usize = 3;

/// How a loop passes pointers around.
pub(super) struct Rotation {
    /// Where each of them points when the loop begins.
    before: BTreeMap<usize, Place>,
    /// The pointer whose place each takes over in an iteration.
    from: BTreeMap<usize, usize>,
    /// After so many iterations each points where it did.
    length: usize,
    /// Pointers that hold one while others are passed around: they end where these do.
    held: Vec<(usize, usize)>,
}

/// What is done with pointers after the region.
#[derive(Clone)]
pub(super) struct Turned {
    /// The pointers, each before the one whose place it takes over.
    pointers: Vec<usize>,
    /// Others, and to which of these they are equal after an iteration.
    held: Vec<(usize, usize)>,
    /// The loop that does that.
    at: At,
    /// How often it does that.
    count: Hub,
}

impl Turned {
    /// All pointers that it says something of.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.pointers.iter().copied().chain(self.held.iter().map(|(k, _)| *k))
    }
}

impl Lowering<'_> {
    /// How the body of a loop passes pointers around, if all that it moves are passed around.
    pub(super) fn rotation(&mut self, f: &For, changed: &BTreeSet<usize>) -> Option<Rotation> {
        let place = |this: &Self, k: usize| match this.value_of(k) {
            Some(Value::Place(place)) => Some(place),
            _ => None,
        };
        let mut before: BTreeMap<usize, Place> =
            changed.iter().filter_map(|k| Some((*k, place(self, *k)?))).collect();
        if before.len() < 2 || self.trials >= DEEPEST || self.tries_left == 0 {
            return None;
        }
        let saved = self.clone();
        self.trials += 1;
        for k in changed.iter().filter(|k| !before.contains_key(k)) {
            self.forget(*k, "the loop changes it", f.body.at);
        }
        let _ = self.body(&f.body);
        let mut after: BTreeMap<usize, Option<Place>> =
            before.keys().map(|k| (*k, place(self, *k))).collect();
        let (atoms, left) = (std::mem::take(&mut self.atoms), self.tries_left.saturating_sub(1));
        *self = saved;
        self.atoms = atoms;
        self.tries_left = left;
        // Where nothing points any more, something held a pointer while others were passed around.
        let held = |k: &usize, after: &BTreeMap<_, _>| !after.values().any(|a| *a == before.get(k).cloned());
        let mut holders = Vec::new();
        while let Some(k) = after.keys().find(|k| held(k, &after)).copied() {
            holders.extend(after.remove(&k).map(|place| (k, place)));
        }
        let equal = |place: &Option<Place>| after.iter().find(|(_, a)| *a == place && a.is_some());
        let held: Vec<(usize, usize)> =
            holders.iter().filter_map(|(k, place)| Some((*k, *equal(place)?.0))).collect();
        before.retain(|k, _| after.contains_key(k));
        let mut from = BTreeMap::new();
        for (k, after) in after {
            let after = after?;
            let mut alike = before.iter().filter(|(_, place)| **place == after);
            let (other, None) = (*alike.next()?.0, alike.next()) else { return None };
            from.insert(k, other);
        }
        if before.is_empty() {
            return None;
        }
        let length = (2..=MOST_POINTERS).find(|n| before.keys().all(|k| nth(&from, *k, *n) == *k))?;
        Some(Rotation { before, from, length, held })
    }

    /// The copies of a body, and what is left of the iterations. `value` is that of the loop's
    /// variable, and what is known since `mark` is what its bounds say.
    pub(super) fn rotated_loops(
        &mut self,
        f: &For,
        (k, value): (usize, &Index),
        (changed, rotation): (&BTreeSet<usize>, &Rotation),
        (loop_, mark): (&Counted<'_>, usize),
    ) -> Try<Vec<HubStmt>> {
        let length = rotation.length as i64;
        let count = self.count_of(loop_);
        let Some(form) = loop_.upper.form.minus(&loop_.lower.form) else {
            return self.fail(crate::codes::LOOP, "a loop beyond 64 bits", loop_.at, "this loop");
        };
        let distance = Index { expr: count, form, ty: IntType::Long, substituted: false };
        let rounds = self.floor(distance, length, false);
        let variable = Linear::name(loop_.hub.clone());
        let at = |copy: usize| {
            let first = loop_.lower.form.plus_constant(copy as i64)?;
            first.plus_times(length, &variable)
        };
        // The variable of the loop program counts the rounds.
        let known = self.known.split_off(mark);
        self.known.push(variable.clone());
        let last = at(rotation.length).and_then(|next| loop_.upper.form.minus(&next));
        self.known.extend(last);
        let counted =
            ActiveLoop { var: loop_.hub.clone(), lower: Linear::default(), upper: rounds.form.clone() };
        let around = self.loops.last_mut().map(|own| std::mem::replace(own, counted));
        let mut body = Vec::new();
        for copy in 0..rotation.length {
            self.own_objects(&f.body, copy);
            let here = (loop_.hub, at(copy), copy);
            body.extend(as_statements(self.rotated_body(f, (k, value), (changed, rotation), here)?));
        }
        if let (Some(own), Some(around)) = (self.loops.last_mut(), around) {
            *own = around;
        }
        self.known.truncate(mark);
        self.known.extend(known);
        let (var, lower, upper) = (loop_.hub.clone(), Hub::Int(0), rounds.expr);
        let (kind, reductions) = (LoopKind::Sequential, Vec::new());
        let mut all = vec![HubStmt::Loop(Loop { var, lower, upper, step: 1, kind, reductions, body })];
        for left in 1..rotation.length {
            all.push(self.left_over(f, (k, value), (changed, rotation), (loop_, left))?);
        }
        if self.loops.len() == 1 && self.branches == 0 {
            let at = At { first: loop_.at.first, last: f.body.at.last };
            self.note_turned(rotation, loop_, at);
        }
        Ok(all)
    }

    /// The last iterations, if so many are left.
    fn left_over(
        &mut self,
        f: &For,
        (k, value): (usize, &Index),
        (changed, rotation): (&BTreeSet<usize>, &Rotation),
        (loop_, left): (&Counted<'_>, usize),
    ) -> Try<HubStmt> {
        let mark = self.known.len();
        let length = loop_.upper.form.minus(&loop_.lower.form);
        self.known.extend(length.and_then(|length| length.plus_constant(-(left as i64))));
        let mut then = Vec::new();
        for copy in 0..left {
            self.own_objects(&f.body, rotation.length + copy);
            let here = loop_.upper.form.plus_constant(copy as i64 - left as i64);
            let copied = self.rotated_body(f, (k, value), (changed, rotation), (loop_.hub, here, copy));
            then.extend(as_statements(copied?));
        }
        self.known.truncate(mark);
        let count = self.count_of(loop_);
        let remainder = Hub::binary(BinaryOp::Mod, count.clone(), Hub::Int(rotation.length as i64));
        let left = Hub::Int(left as i64);
        let cond = Hub::binary(
            BinaryOp::And,
            Hub::compare(CompareOp::Ge, count, left.clone()),
            Hub::compare(CompareOp::Eq, remainder, left),
        );
        Ok(HubStmt::If { cond, then, otherwise: Vec::new() })
    }

    /// The body in which the variable of the loop program is at `here`.
    fn rotated_body(
        &mut self,
        f: &For,
        (k, value): (usize, &Index),
        (changed, rotation): (&BTreeSet<usize>, &Rotation),
        (hub, here, copy): (&Name, Option<Linear>, usize),
    ) -> Try<Vec<HubStmt>> {
        let form = here.as_ref().and_then(|here| value.form.replace(hub, here));
        let Some(form) = form else {
            return self.fail(crate::codes::LOOP, "a loop beyond 64 bits", f.body.at, "this loop");
        };
        let value = Index { expr: self.form_expr(&form), form, ty: value.ty, substituted: true };
        self.set_value(k, Value::Number(value), Vec::new());
        self.place_pointers(changed, rotation, copy, f.body.at);
        self.body(&f.body)
    }

    /// Each copy but the first has variables of its own.
    fn own_objects(&mut self, body: &Stmt, copy: usize) {
        let mut declared = BTreeSet::new();
        if copy > 0 {
            declarations(body, &mut declared);
        }
        for token in declared {
            let Some(k) = self.res.declared.get(&token).copied() else { continue };
            let resolution: &mut Resolution = Rc::make_mut(&mut self.res);
            let own = resolution.objects.len();
            let object = resolution.objects[k].clone();
            resolution.objects.push(object);
            resolution.declared.insert(token, own);
            for meaning in
                resolution.meanings.values_mut().filter(|m| matches!(m, Meaning::Object(n) if *n == k))
            {
                *meaning = Meaning::Object(own);
            }
            if self.tracked.contains(&k) {
                Rc::make_mut(&mut self.tracked).insert(own);
            }
        }
    }

    /// How many iterations a loop has, unless it has none.
    fn count_of(&self, loop_: &Counted<'_>) -> Hub {
        match loop_.upper.form.minus(&loop_.lower.form) {
            Some(form) if loop_.lower.expr != Hub::Int(0) => self.form_expr(&form),
            _ => loop_.upper.expr.clone(),
        }
    }

    /// What is known of the pointers after so many iterations.
    fn place_pointers(&mut self, changed: &BTreeSet<usize>, rotation: &Rotation, copy: usize, at: At) {
        for k in changed {
            match rotation.before.get(&nth(&rotation.from, *k, copy)) {
                Some(place) => self.set_value(*k, Value::Place(place.clone()), Vec::new()),
                None => self.forget(*k, "the loop changes it", at),
            }
        }
    }

    fn note_turned(&mut self, rotation: &Rotation, loop_: &Counted<'_>, at: At) {
        let mut seen = BTreeSet::new();
        for k in rotation.before.keys() {
            let mut pointers = vec![];
            let mut next = *k;
            while seen.insert(next) {
                pointers.push(next);
                next = nth(&rotation.from, next, 1);
            }
            if pointers.len() > 1 {
                let held = rotation.held.iter().filter(|(_, k)| pointers.contains(k)).copied().collect();
                let count = self.count_of(loop_);
                self.turned.push(Turned { pointers, held, at, count });
            }
        }
    }

    /// What passes a pointer around after the region, if that alone says where it points then.
    pub(super) fn turned_by(&self, k: usize) -> Option<&Turned> {
        let turned = self.turned.iter().find(|turned| turned.all().any(|own| own == k))?;
        let passed = |k: &usize| {
            let moved = self.res.objects[*k].moved.last();
            let inside = moved.is_some_and(|at| turned.at.first <= at.first && at.last <= turned.at.last);
            inside && self.value_of(*k).is_none()
        };
        let pointer = |k: &usize| matches!(self.res.objects[*k].ty.ty, CType::Pointer { .. });
        turned.pointers.iter().chain([&k]).all(|k| passed(k) && pointer(k)).then_some(turned)
    }

    /// The statement that passes pointers around after the region.
    pub(super) fn turned_text(&self, turned: &Turned) -> String {
        let names: Vec<&str> = turned.pointers.iter().map(|k| self.res.objects[*k].name.as_str()).collect();
        let mut text = format!("__typeof__({}) lozenge_turned = {};", names[0], names[0]);
        for pair in names.windows(2) {
            text += &format!(" {} = {};", pair[0], pair[1]);
        }
        let (count, last) = (self.computed_text(&turned.count), names[names.len() - 1]);
        let mut text = format!(
            "for (long lozenge_left = ({count}) % {}; lozenge_left > 0; lozenge_left--) {{ {text} {last} = lozenge_turned; }}",
            names.len()
        );
        for (k, like) in turned.held.iter().filter(|(k, _)| self.is_named_after(*k)) {
            let [own, like] = [k, like].map(|k| &self.res.objects[*k].name);
            text += &format!(" if (({count}) > 0) {own} = {like};");
        }
        text
    }
}

/// The tokens of what a statement declares.
fn declarations(stmt: &Stmt, out: &mut BTreeSet<u32>) {
    match &stmt.kind {
        StmtKind::Declare(all) => out.extend(all.iter().map(|d| d.at.first)),
        StmtKind::Block(body) => body.iter().for_each(|stmt| declarations(stmt, out)),
        StmtKind::For(f) => {
            f.before.iter().chain(&f.init).chain([&f.body]).for_each(|stmt| declarations(stmt, out));
            out.extend(f.others.iter().flat_map(|other| &other.declaration).map(|d| d.at.first));
        }
        StmtKind::If { then, otherwise, .. } => {
            declarations(then, out);
            otherwise.iter().for_each(|stmt| declarations(stmt, out));
        }
        StmtKind::Pragma(_, next) => next.iter().for_each(|stmt| declarations(stmt, out)),
        _ => {}
    }
}

/// The pointer whose place another one has after so many iterations.
fn nth(from: &BTreeMap<usize, usize>, k: usize, times: usize) -> usize {
    (0..times).fold(k, |k, _| from.get(&k).copied().unwrap_or(k))
}

/// Statements beside others: in a block of their own if they declare something.
fn as_statements(body: Vec<HubStmt>) -> Vec<HubStmt> {
    match body.iter().any(|stmt| matches!(stmt, HubStmt::Local(_))) {
        true => vec![HubStmt::Block { mark: None, body }],
        false => body,
    }
}
