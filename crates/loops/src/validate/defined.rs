//! Reads of local arrays and `out` parameters before anything has been written to them.
//!
//! Only what is certain is reported: no statement before the read, in the order of the text, writes
//! any element of the array, and the read does not wait under a condition for a later iteration of
//! a loop that writes it. The interpreter finds the rest.

use std::collections::BTreeSet;

use super::at;
use crate::diagnostic::{Code, Diagnostic};
use crate::expr::Expr;
use crate::name::Name;
use crate::program::{Function, ParamMode, Stmt};
use crate::visit::nodes;

const UNDEFINED: Code = Code("L0208");

pub(super) fn check(function: &Function, found: &mut Vec<Diagnostic>) {
    let unwritten =
        function.params.iter().filter(|p| p.mode == ParamMode::Out).map(|p| p.name.clone()).collect();
    let mut checker = Checker { unwritten, by_loops: BTreeSet::new(), found };
    checker.block(&function.body);
}

struct Checker<'a> {
    /// Arrays in scope that no statement so far writes.
    unwritten: BTreeSet<Name>,
    /// Arrays that the loops around write somewhere.
    by_loops: BTreeSet<Name>,
    found: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
        for stmt in body {
            if let Stmt::Local(local) = stmt {
                self.unwritten.remove(&local.name);
            }
        }
    }

    fn read(&mut self, stmt: &Stmt, array: &Name) {
        // Each array is reported once.
        if self.unwritten.remove(array) {
            let message = format!("`{array}` is read before it is written");
            self.found.push(at(stmt, Diagnostic::general(UNDEFINED, message)));
        }
    }

    /// The loads that are certainly done when the expression is evaluated.
    fn expr(&mut self, stmt: &Stmt, expr: &Expr) {
        if let Expr::Select(cond, ..) = expr {
            return self.expr(stmt, cond);
        }
        for child in expr.children() {
            self.expr(stmt, child);
        }
        if let Expr::Load(access) = expr {
            self.read(stmt, &access.array);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        for expr in stmt.exprs() {
            self.expr(stmt, expr);
        }
        match stmt {
            Stmt::Assign(assign) => {
                if assign.update.is_some() {
                    self.read(stmt, &assign.target.array);
                }
                self.unwritten.remove(&assign.target.array);
            }
            Stmt::Local(local) => {
                self.unwritten.insert(local.name.clone());
            }
            // Copying what holds no value is allowed: a box may be larger than what is used of it.
            Stmt::Copy(copy) => {
                self.unwritten.remove(&copy.to.array);
            }
            Stmt::If { then, otherwise, .. } => {
                // An iteration before this one may have written them.
                let perhaps: BTreeSet<Name> = self.unwritten.intersection(&self.by_loops).cloned().collect();
                self.unwritten.retain(|name| !perhaps.contains(name));
                let before = self.unwritten.clone();
                self.block(then);
                let after_then = std::mem::replace(&mut self.unwritten, before);
                self.block(otherwise);
                // Reported in one branch is reported; written in one branch is perhaps written.
                self.unwritten.retain(|name| after_then.contains(name));
                let written =
                    |name: &Name| nodes(then).chain(nodes(otherwise)).any(|s| s.written() == Some(name));
                self.unwritten.extend(perhaps.into_iter().filter(|name| !written(name)));
            }
            Stmt::Loop(l) => {
                let outside = self.by_loops.clone();
                self.by_loops.extend(nodes(&l.body).filter_map(Stmt::written).cloned());
                self.block(&l.body);
                self.by_loops = outside;
            }
            Stmt::Block { body, .. } => self.block(body),
            Stmt::Wait(_) => {}
        }
    }
}
