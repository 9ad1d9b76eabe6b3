//! Subscripts and bounds that are data: subscripts (`x[col[k]]`), and bounds of loops
//! (`for (k = row[i]; k < row[i + 1]; k++)`).
//!
//! Loops with such bounds run in their order, as they stand. The loops around them need not. The
//! bounds are computed once, so the loop must not write what they read. Left out: loops downward,
//! several bounds, variables of unsigned and of short types (a conversion to these may change the
//! value).

use std::collections::BTreeSet;

use loops::visit::nodes;
use loops::{CompareOp, Expr as Hub, Loop, LoopKind, Name, Stmt as HubStmt};

use super::condition::compare_op;
use super::data::Type;
use super::index::{Index, NotIndex};
use super::inspection::{Rows, holds_subscripts};
use super::loop_header::Header;
use super::{ActiveLoop, Lowering, Try};
use crate::ast::{At, Expr, ExprKind, For};
use crate::ctype::IntType;
use crate::linear::Linear;

/// First value and exclusive end.
pub(super) struct DataBounds {
    lower: Hub,
    upper: Hub,
}

/// A bound that is no form over loop variables and sizes.
fn unknown() -> Linear {
    Linear::name(Name::new("?"))
}

/// Whether a bound is not known.
pub(super) fn is_unknown(bound: &Linear) -> bool {
    *bound == unknown()
}

impl Lowering<'_> {
    /// A subscript that data gives.
    pub(super) fn looked_up(&mut self, k: usize, subscript: &Expr) -> Option<Hub> {
        let (index, _) = self.taken_from_data(subscript, IntType::Long)?;
        if let Some(array) = self.arrays.get_mut(&k) {
            array.looked_up = true;
        }
        Some(index)
    }

    /// An integer of index arithmetic that is data, as C converts it to `ty` first, and its own
    /// type. `None` if something else keeps it from being affine.
    fn taken_from_data(&mut self, e: &Expr, ty: IntType) -> Option<(Hub, Type)> {
        let (diagnostics, blamed) = (self.diagnostics.len(), self.blamed.clone());
        let found = self.data(e).ok().filter(|(value, from)| match from {
            Type::F32 | Type::F64 => false,
            // What has no sign is refused for wrapping around, unless addresses do as well.
            Type::Int(int) if (!int.is_unsigned() || int.bits() == 64) && self.reading.by_data => {
                value.has_loads() || value.computes_data()
            }
            _ => value.has_loads(),
        });
        // It is reported as not affine.
        self.diagnostics.truncate(diagnostics);
        self.blamed = blamed;
        let (value, from) = found?;
        let value = self.convert(value, from, Type::Int(ty));
        Some((self.convert(value, Type::Int(ty), Type::Int(IntType::Long)), from))
    }

    /// Gives an array's first extent a name.
    pub(super) fn length_of(&mut self, k: usize) {
        if self.arrays[&k].length.is_some() {
            return;
        }
        let name = self.fresh(&format!("{}_length", self.res.objects[k].name));
        self.taken.insert(name.clone(), None);
        if let Some(array) = self.arrays.get_mut(&k) {
            array.length = Some(name);
        }
    }

    /// The bounds of a loop that counts up between values of which one is data. `None` for other
    /// kinds of loops.
    pub(super) fn data_bounds(&mut self, f: &For, header: &Header<'_>) -> Option<DataBounds> {
        let counts = header.step > 0
            && !f.counts_first
            && !f.at_least_once
            && !header.ty.is_unsigned()
            && header.ty.bits() >= 32;
        let Some(Expr { kind: ExprKind::Binary(op, left, right), .. }) = &f.cond else { return None };
        let op = compare_op(*op)?;
        let is_variable = |e: &Expr| matches!(&e.kind, ExprKind::Ident(n) if *n == header.name);
        let (op, end) = match (is_variable(left), is_variable(right)) {
            (true, false) => (op, right),
            (false, true) => (op.mirrored(), left),
            _ => return None,
        };
        let further = match op {
            CompareOp::Lt => 0,
            CompareOp::Le => 1,
            _ => return None,
        };
        if !counts || (self.index(header.first).is_ok() && self.index(end).is_ok()) {
            return None;
        }
        // The first value is converted to the type of the variable; the comparison is of both
        // sides' common type, which holds both.
        let lower = match self.index(header.first) {
            Ok(index) => {
                self.converted(&index, header.ty, header.first.at).ok()?;
                index.expr
            }
            Err(_) => self.taken_from_data(header.first, header.ty)?.0,
        };
        let upper = match self.index(end) {
            Ok(index) if index.ty.is_unsigned() => return None,
            Ok(index) => index.expr,
            Err(_) => {
                let (end, ty) = self.taken_from_data(end, IntType::Long)?;
                // Compared without a sign, a variable below zero would be beyond the end.
                if matches!(ty, Type::Int(t) if t.is_unsigned() && t.bits() >= header.ty.bits()) {
                    return None;
                }
                end
            }
        };
        Some(DataBounds { lower, upper: if further == 0 { upper } else { upper + Hub::Int(further) } })
    }

    /// The rows of a loop `for (k = a[i]; k < a[i + 1]; k++)`.
    fn rows_of_loop(&mut self, f: &For, header: &Header<'_>) -> Option<Rows> {
        let ExprKind::Binary(op, left, right) = &f.cond.as_ref()?.kind else { return None };
        let below = compare_op(*op)? == CompareOp::Lt
            && matches!(&left.kind, ExprKind::Ident(name) if *name == header.name);
        if !below || header.step != 1 || !holds_subscripts(header.ty) {
            return None;
        }
        self.rows_of(header.first, right)
    }

    pub(super) fn data_loop(
        &mut self,
        f: &For,
        header: &Header<'_>,
        DataBounds { lower, upper }: DataBounds,
        at: At,
    ) -> Try<Vec<HubStmt>> {
        let k = header.object;
        let hub = self.loop_name(k, &header.name, header.ty);
        let rows = self.rows_of_loop(f, header);
        self.loop_types.insert(hub.clone(), header.ty);
        self.loops.push(ActiveLoop { var: hub.clone(), lower: unknown(), upper: unknown() });
        let shared = self.taken.insert(hub.clone(), Some(header.ty));
        self.values.insert(k, Index::variable(hub.clone(), header.ty));
        // Names are shared by loops over the same variable: all must go along the same rows.
        let other = rows.as_ref().is_none_or(|rows| self.row_loops.get(&hub).is_some_and(|own| own != rows));
        match rows {
            Some(rows) if !other => _ = self.row_loops.insert(hub.clone(), rows),
            _ => _ = self.row_loops.remove(&hub),
        }
        let changed = self.changed_in(f);
        self.active.insert(k);
        let body = self.body(&f.body);
        self.active.remove(&k);
        self.values.remove(&k);
        for object in &changed {
            self.forget(*object, "a loop with bounds that depend on data changes it", at);
        }
        if let Some(shared) = shared {
            self.taken.insert(hub.clone(), shared);
        }
        self.loops.pop();
        self.finals.insert(k, None);
        let body = body?;
        let read: BTreeSet<Name> = lower.arrays().union(&upper.arrays()).cloned().collect();
        let mut written = None;
        for stmt in nodes(&body) {
            if let HubStmt::Assign(assign) = stmt
                && read.contains(&assign.target.array)
            {
                written.get_or_insert(assign.target.array.clone());
            }
        }
        if let (Some(array), Some(cond)) = (written, &f.cond) {
            let reason = format!("it depends on data, `{array}`, which the loop writes");
            return Err(self.bad_bound(&header.name, cond, NotIndex { reason, at, help: None }));
        }
        let (kind, step) = (LoopKind::Sequential, header.step);
        Ok(vec![HubStmt::Loop(Loop { var: hub, lower, upper, step, kind, reductions: Vec::new(), body })])
    }
}
