//! Which followed variables statements change, and what becomes of their assignments at the end.

use std::collections::BTreeSet;

use loops::{Name, Stmt as HubStmt};

use super::resolve::{Meaning, ident_token};
use super::track::Value;
use super::{Class, Lowering};
use crate::ast::{Declaration, Expr, ExprKind, For, Init, Stmt, StmtKind, parts};
use crate::ctype::CType;
use crate::linear::Linear;

impl Lowering<'_> {
    /// The followed variables that a statement may change.
    pub(super) fn changed_by(&self, stmt: &Stmt) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        self.changes(stmt, &mut out);
        out.retain(|k| self.tracked.contains(k));
        out
    }

    pub(super) fn changes(&self, stmt: &Stmt, out: &mut BTreeSet<usize>) {
        match &stmt.kind {
            StmtKind::Expr(e) => self.changes_of(e, out),
            StmtKind::Declare(declared) => declared.iter().for_each(|d| self.declares(d, out)),
            StmtKind::Block(body) => body.iter().for_each(|stmt| self.changes(stmt, out)),
            StmtKind::If { cond, then, otherwise } => {
                self.changes_of(cond, out);
                self.changes(then, out);
                otherwise.iter().for_each(|stmt| self.changes(stmt, out));
            }
            StmtKind::For(f) => {
                self.header_changes(f, out);
                self.changes(&f.body, out);
            }
            StmtKind::Pragma(_, next) => next.iter().for_each(|stmt| self.changes(stmt, out)),
            StmtKind::Empty | StmtKind::Jump(_) | StmtKind::Label(_) | StmtKind::Unsupported(_) => {}
        }
    }

    pub(super) fn header_changes(&self, f: &For, out: &mut BTreeSet<usize>) {
        f.before.iter().chain(&f.init).for_each(|stmt| self.changes(stmt, out));
        f.cond.iter().chain(&f.step).for_each(|e| self.changes_of(e, out));
        for other in &f.others {
            other.declaration.iter().for_each(|d| self.declares(d, out));
            self.changes_of(&other.step, out);
        }
    }

    pub(super) fn declares(&self, d: &Declaration, out: &mut BTreeSet<usize>) {
        out.extend(self.res.declared.get(&d.at.first));
        if let Some(Init::Expr(e)) = &d.init {
            self.changes_of(e, out);
        }
    }

    pub(super) fn changes_of(&self, e: &Expr, out: &mut BTreeSet<usize>) {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &e.kind
            && let Meaning::Object(k) =
                self.res.meanings.get(&ident_token(target)).copied().unwrap_or(Meaning::Unknown)
            && matches!(target.kind, ExprKind::Ident(_))
        {
            out.insert(k);
        }
        parts(&e.kind).into_iter().for_each(|part| self.changes_of(part, out));
    }

    /// Takes out assignments of followed integers that nothing reads as data; the variables.
    pub(super) fn drop_unread(&mut self, statements: &mut Vec<HubStmt>) -> BTreeSet<usize> {
        let mut dropped = BTreeSet::new();
        let candidates: Vec<usize> = self.arrays.keys().copied().collect();
        for k in candidates {
            let integer = matches!(self.res.objects[k].ty.ty, CType::Int(_));
            let followed = self.tracked.contains(&k) || self.followed.products.contains_key(&k);
            let scalar = self.arrays[&k].dims.is_empty();
            let Some(name) = self.names.get(&k).cloned() else { continue };
            if !integer || !scalar || !(followed || matches!(self.class(k), Class::Fixed(_))) {
                continue;
            }
            let live = self.live_after(k);
            let needed = live && self.final_text(k).is_none();
            if needed || statements.iter().any(|stmt| reads(stmt, &name)) {
                continue;
            }
            if live {
                self.rely_on(k);
            }
            without(statements, &name);
            if let Some(array) = self.arrays.get_mut(&k) {
                (array.read, array.written) = (false, false);
            }
            dropped.insert(k);
        }
        // Pointers have no statements of their own, and loop variables have none either.
        let others = self.tracked.iter().filter(|k| !self.is_data(**k) || !self.arrays.contains_key(k));
        dropped.extend(others.copied());
        dropped
    }

    /// The value of a variable after the region, in C, if that is known.
    pub(super) fn final_text(&self, k: usize) -> Option<String> {
        let value = self.value_of(k)?;
        if !value.names().into_iter().all(|name| self.is_of_sizes(&Linear::name(name))) {
            return None;
        }
        match value {
            Value::Number(index) => Some(self.computed_text(&index.expr)),
            Value::Product(product) => Some(self.computed_text(&self.polynomial_expr(&product.polynomial))),
            // A pointer that is set elsewhere in the region may have another value by then.
            Value::Place(place) if place.leading.is_empty() && !place.by_data => {
                let offset = self.computed_text(&self.polynomial_expr(&place.offset.polynomial));
                Some(format!("{} + ({offset})", self.res.objects[place.object].name))
            }
            Value::Place(_) => None,
        }
    }
}

/// Whether a statement reads a scalar, its own assignments left out.
fn reads(stmt: &HubStmt, name: &Name) -> bool {
    stmt.nodes().any(|stmt| !stmt.writes(name) && stmt.reads(name))
}

/// Takes out the declarations and assignments of a scalar.
fn without(body: &mut Vec<HubStmt>, name: &Name) {
    body.retain(|stmt| match stmt {
        HubStmt::Assign(assign) => assign.target.array != *name,
        HubStmt::Local(local) => local.name != *name,
        _ => true,
    });
    for stmt in body {
        match stmt {
            HubStmt::Loop(l) => without(&mut l.body, name),
            HubStmt::If { then, otherwise, .. } => {
                without(then, name);
                without(otherwise, name);
            }
            HubStmt::Block { body, .. } => without(body, name),
            _ => {}
        }
    }
}
