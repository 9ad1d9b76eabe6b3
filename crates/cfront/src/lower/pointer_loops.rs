//! Loops that a pointer counts: `for (p = a; p < a + n; p++)`. The loop program counts the
//! iterations, and the pointer is at its first place plus that many elements.
//!
//! Left out: pointers to rows, and loops downward.

use std::collections::BTreeSet;

use loops::Stmt as HubStmt;

use super::index::Index;
use super::loop_header::{Ready, Step, counted};
use super::polynomial::{Polynomial, small};
use super::track::{Place, Product, State, Value, points_to_data};
use super::{Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, For, Init, StmtKind};
use crate::ctype::IntType;
use crate::linear::Linear;
use crate::lower::resolve::Meaning;

/// A pointer that a loop counts.
struct Run {
    object: usize,
    name: String,
    first: Place,
    /// How many elements each iteration goes on.
    by: i64,
    count: Index,
}

impl Lowering<'_> {
    /// The statements of a loop of this kind; `None` for other loops.
    pub(super) fn pointer_loop(
        &mut self,
        f: &For,
        at: At,
        changed: &BTreeSet<usize>,
        around: &State,
    ) -> Option<Try<Vec<HubStmt>>> {
        if f.counts_first || f.at_least_once || !f.others.is_empty() {
            return None;
        }
        let Run { object, name, first, by, count } = self.run_of(f, changed)?;
        let hub = self.loop_name(object, &name, IntType::Long);
        let me = Polynomial::of_linear(&Linear::default().plus_times(by, &Linear::name(hub.clone()))?);
        let inside = moved(&first, &me)?;
        let lower = Index { ty: IntType::Long, ..Index::constant(0) };
        let times = self.final_value(&lower, &count, 1, at).ok()?.form.times(by)?;
        let after = moved(&first, &Polynomial::of_linear(&times))?;
        let ready = Ready {
            object,
            ty: IntType::Long,
            hub,
            lower,
            upper: count,
            step: 1,
            value: Value::Place(inside),
            counted: Linear::default(),
            start: Linear::default(),
        };
        let done = self.loop_body(f, at, ready, &[], (changed, around.clone()));
        self.set_value(object, Value::Place(after), Vec::new());
        Some(done)
    }

    fn run_of(&mut self, f: &For, changed: &BTreeSet<usize>) -> Option<Run> {
        let (variable, step) = counted(f.step.as_ref()?)?;
        let (ExprKind::Ident(name), Meaning::Object(k)) = (&variable.kind, self.meaning(variable)) else {
            return None;
        };
        let mut inside = BTreeSet::new();
        self.changes(&f.body, &mut inside);
        let free = self.tracked.contains(&k) && !self.active.contains(&k) && !inside.contains(&k);
        if !free || !points_to_data(&self.res.objects[k].ty.ty) {
            return None;
        }
        let by = match step {
            Step::By(by) => by,
            Step::Expr(sign, e) => self.index(e).ok()?.form.as_constant()?.checked_mul(sign)?,
        };
        let first = match f.init.as_ref().map(|init| &init.kind) {
            None => self.place_named(k, variable.at).ok()?,
            Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })) => {
                matches!(&target.kind, ExprKind::Ident(n) if n == name).then_some(())?;
                self.place_for(k, value).ok()?
            }
            Some(StmtKind::Declare(declared)) => match declared.as_slice() {
                [d] if d.name == *name => match &d.init {
                    Some(Init::Expr(value)) => self.place_for(k, value).ok()?,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let ExprKind::Binary(op @ (Binary::Lt | Binary::Ne), left, right) = &f.cond.as_ref()?.kind else {
            return None;
        };
        let alone = matches!(&left.kind, ExprKind::Ident(n) if n == name);
        // With another step it may pass over an end that it should meet.
        if !alone || by < 1 || (*op == Binary::Ne && by != 1) {
            return None;
        }
        let end = self.place_of(right).ok()?;
        let flat = |place: &Place| place.leading.is_empty() && !place.by_data;
        let moves = |this: &Self, e: &Expr| this.mentions_changed(e, changed);
        if end.object != first.object || !flat(&end) || !flat(&first) || moves(self, right) {
            return None;
        }
        let length = end.offset.polynomial.minus(&first.offset.polynomial)?.as_linear()?;
        let length = length.plus_constant(by - 1)?;
        let expr = self.form_expr(&length);
        let length = Index { expr, form: length, ty: IntType::Long, substituted: true };
        let count = if by == 1 { length } else { self.floor(length, by, false) };
        Some(Run { object: k, name: name.clone(), first, by, count })
    }

    /// Whether an expression reads one of some variables.
    fn mentions_changed(&self, e: &Expr, changed: &BTreeSet<usize>) -> bool {
        let own = match (&e.kind, self.meaning(e)) {
            (ExprKind::Ident(_), Meaning::Object(k)) => changed.contains(&k),
            _ => false,
        };
        own || crate::ast::parts(&e.kind).into_iter().any(|part| self.mentions_changed(part, changed))
    }
}

/// A place so many elements on.
fn moved(place: &Place, by: &Polynomial) -> Option<Place> {
    let polynomial = small(place.offset.polynomial.plus(by))?;
    let offset = Product { polynomial, ..place.offset.clone() };
    Some(Place { offset, computed: None, ..place.clone() })
}
