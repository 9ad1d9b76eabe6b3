//! Rules for acceptors (`cga.1` to `cga.8`, and those of the further views): an acceptor at a path
//! is an element of an array.

use functional::DataType;
use loops::{Access, Size};

use super::{Generator, Place};
use crate::derivation::Phrase;
use crate::index;
use crate::phrase::{Acc, AccKind, AccView, Exp, PVar, Step, element, length};
use crate::translate::Result;

impl Generator<'_> {
    /// `CodeGen_acc(acc, path)`; the last step of the path is the next one.
    pub(super) fn access(&mut self, acc: &Acc, path: Vec<Step>) -> Result<Access> {
        let (mut acc, mut path) = (acc.clone(), path);
        loop {
            let before = Phrase::GenAcc(acc.clone(), path.clone());
            let (rule, next) = match acc.kind() {
                AccKind::Var(var) => match self.acceptor_of(var) {
                    Some(next) => {
                        acc = next;
                        continue;
                    }
                    None => {
                        let access = self.variable(var, &path)?;
                        self.record("cga.1", before, Phrase::Access(access.clone()));
                        return Ok(access);
                    }
                },
                AccKind::At(inner, i) => {
                    path.push(Step::At(i.clone()));
                    ("cga.6", inner.clone())
                }
                AccKind::View(view, inner) => match through(view, inner.ty(), &mut path) {
                    Some(rule) => (rule, inner.clone()),
                    None => return Err(self.stuck("an acceptor at too short a path")),
                },
            };
            self.record(rule, before, Phrase::GenAcc(next.clone(), path.clone()));
            acc = next;
        }
    }

    /// What an acceptor variable or an alias stands for.
    pub(super) fn acceptor_of(&self, var: &PVar) -> Option<Acc> {
        if let Some(acc) = self.bindings.get_acc(var) {
            return Some(acc.clone());
        }
        match self.places.get(&var.id) {
            Some(Place::Acc(acc)) => Some(acc.clone()),
            _ => None,
        }
    }

    /// The element of a variable in memory at a path.
    pub(super) fn variable(&mut self, var: &PVar, path: &[Step]) -> Result<Access> {
        let Some(Place::Memory(layout)) = self.places.get(&var.id).cloned() else {
            return Err(self.stuck("a variable without a place"));
        };
        let (array, indices, path) = layout.place(path, |i: &Exp| self.scalar(i))?;
        Ok(Access { array, indices, path })
    }
}

/// The path below the view that corresponds to `path` in the view, with the rule. `None` if the
/// path is too short. `beneath` is the type there.
fn through(view: &AccView, beneath: &DataType, path: &mut Vec<Step>) -> Option<&'static str> {
    let idx = |n: &Size| DataType::Idx(n.clone());
    let pop_at = |path: &mut Vec<Step>| match path.pop()? {
        Step::At(i) => Some(i),
        _ => None,
    };
    Some(match view {
        AccView::Zip1 | AccView::Zip2 => {
            let i = pop_at(path)?;
            let (component, rule) =
                if *view == AccView::Zip1 { (Step::First, "cga.2") } else { (Step::Second, "cga.3") };
            path.push(component);
            path.push(Step::At(i));
            rule
        }
        AccView::Split(k) | AccView::AsVector(k) => {
            let i = pop_at(path)?;
            let rows = idx(length(beneath)?);
            path.push(Step::At(index::mod_size(i.clone(), k, &idx(k))));
            path.push(Step::At(index::div_size(i, k, &rows)));
            if matches!(view, AccView::Split(_)) { "cga.4" } else { "cga.asVector" }
        }
        AccView::Join(n) | AccView::AsScalar(n) => {
            let i = pop_at(path)?;
            let j = pop_at(path)?;
            let ty = idx(length(beneath)?);
            path.push(Step::At(index::add(index::mul_size(i, n, &ty), j, &ty)));
            if matches!(view, AccView::Join(_)) { "cga.5" } else { "cga.asScalar" }
        }
        AccView::Pair1 => {
            path.push(Step::First);
            "cga.7"
        }
        AccView::Pair2 => {
            path.push(Step::Second);
            "cga.8"
        }
        AccView::Transpose => {
            let i = pop_at(path)?;
            let j = pop_at(path)?;
            path.push(Step::At(i));
            path.push(Step::At(j));
            "cga.transpose"
        }
        AccView::Reverse(n) => {
            let i = pop_at(path)?;
            let last = n.clone() - Size::constant(1);
            path.push(Step::At(index::size_minus(&last, i, &idx(n))));
            "cga.reverse"
        }
        AccView::Take => "cga.take",
        AccView::Drop(k) => {
            let i = pop_at(path)?;
            path.push(Step::At(index::add_size(i, k, &idx(length(beneath)?))));
            "cga.drop"
        }
        AccView::Map(view) => {
            let i = pop_at(path)?;
            through(view, &element(beneath)?, path)?;
            path.push(Step::At(i));
            "cga.map"
        }
        AccView::Unzip => {
            let i = pop_at(path)?;
            let component = path.pop()?;
            path.push(Step::At(i));
            path.push(component);
            "cga.unzip"
        }
    })
}
