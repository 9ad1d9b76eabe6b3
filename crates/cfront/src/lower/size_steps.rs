//! Loops whose variable is no affine expression of a counter: they count by a size
//! (`for (i = 0; i < n; i += b)`), or go on from where such a one is
//! (`for (i = ii; i < ii + b; i++)`). The loop program counts the iterations, and the variable is a
//! product of that counter with sizes.
//!
//! Only in the reading with products of sizes ([`super::readings`]).

use std::collections::BTreeSet;

use loops::Stmt as HubStmt;

use super::assume::{Need, operand};
use super::index::Index;
use super::loop_header::{Ready, Step, counted};
use super::polynomial::{Gathered, Polynomial, small};
use super::track::{Product, State, Value};
use super::{Class, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, For, Init, StmtKind};
use crate::ctype::IntType;
use crate::linear::Linear;
use crate::lower::resolve::Meaning;

/// A loop and what its variable is: the number of iterations, and a product.
struct Stretched {
    object: usize,
    name: String,
    ty: IntType,
    count: Index,
    first: Polynomial,
    step: Linear,
    gathered: Gathered,
}

impl Lowering<'_> {
    /// The statements of a loop of this kind; `None` for other loops.
    pub(super) fn stretched_loop(
        &mut self,
        f: &For,
        at: At,
        changed: &BTreeSet<usize>,
        around: &State,
    ) -> Option<Try<Vec<HubStmt>>> {
        if !self.reading.products || f.counts_first || f.at_least_once || !f.others.is_empty() {
            return None;
        }
        let loop_of = self.by_size(f, at).or_else(|| self.along_product(f))?;
        let Stretched { object, name, ty, count, first, step, gathered } = loop_of;
        let hub = self.loop_name(object, &name, ty);
        let me = Polynomial::of_linear(&Linear::name(hub.clone()));
        let polynomial = small(first.plus(&me.times(&Polynomial::of_linear(&step))?))?;
        let value = Value::Product(Product { polynomial, ty, gathered, natural: None });
        let ready = Ready {
            object,
            ty,
            hub,
            lower: Index::constant(0),
            upper: count,
            step: 1,
            value,
            counted: Linear::default(),
            start: Linear::default(),
        };
        Some(self.loop_body(f, at, ready, &[], (changed, around.clone())))
    }

    /// The variable, the first value and the exclusive end of a loop upward.
    fn upward<'e>(&mut self, f: &'e For) -> Option<(usize, IntType, &'e Expr, &'e Expr, Step<'e>)> {
        let (variable, step) = counted(f.step.as_ref()?)?;
        let ExprKind::Ident(name) = &variable.kind else { return None };
        let Meaning::Object(k) = self.meaning(variable) else { return None };
        let Class::LoopVariable(ty) = self.class(k) else { return None };
        let free = self.res.objects[k].assigned.is_empty() && !self.active.contains(&k);
        if !free || ty.is_unsigned() || ty.bits() < 32 || self.res.objects[k].ty.volatile {
            return None;
        }
        let first = match &f.init.as_ref()?.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                matches!(&target.kind, ExprKind::Ident(n) if n == name).then_some(&**value)?
            }
            StmtKind::Declare(declared) => match declared.as_slice() {
                [d] if d.name == *name => match &d.init {
                    Some(Init::Expr(value)) => value,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let ExprKind::Binary(Binary::Lt, left, end) = &f.cond.as_ref()?.kind else { return None };
        let alone = matches!(&left.kind, ExprKind::Ident(n) if n == name);
        alone.then_some((k, ty, first, &**end, step))
    }

    /// A loop that counts by a size between sizes.
    fn by_size(&mut self, f: &For, at: At) -> Option<Stretched> {
        let (object, ty, first, end, Step::Expr(1, by)) = self.upward(f)? else { return None };
        let (first, end, by) = (self.index(first).ok()?, self.index(end).ok()?, self.index(by).ok()?);
        let narrow = [&first, &end, &by].iter().all(|e| e.ty.bits() <= 32 && !e.ty.is_unsigned());
        let sizes = [&first, &end].iter().all(|e| self.is_of_sizes(&e.form)) && self.is_size_form(&by.form);
        if !narrow || !sizes {
            return None;
        }
        let step = by.form.clone();
        self.assume(
            Need::Natural(step.plus_constant(-1)?),
            format!("`{}` is at least 1", self.form_text(&step)),
            at,
        );
        let length = end.form.minus(&first.form)?;
        let text = |form: &Linear| operand(self.computed_text(&self.form_expr(form)));
        let (more, by) = (text(&length.plus(&step)?.plus_constant(-1)?), text(&step));
        let computed = format!("({by} > 0 ? {more} / {by} : 0)");
        let shown = format!("{} / {}", operand(self.form_text(&length)), operand(self.form_text(&step)));
        let count = self.computed_size(shown, computed);
        Some(Stretched {
            object,
            name: self.res.objects[object].name.clone(),
            ty,
            count: Index::variable(self.name_of(count), IntType::Long),
            first: Polynomial::of_linear(&first.form),
            step: step.clone(),
            gathered: Gathered { factors: vec![step], most: None },
        })
    }

    /// A loop that goes on from a product, as far as sizes say.
    fn along_product(&mut self, f: &For) -> Option<Stretched> {
        let (object, ty, first, end, step) = self.upward(f)?;
        let Step::By(1) = step else { return None };
        if self.index(first).is_ok() {
            return None;
        }
        let mut gathered = Gathered::default();
        let (from, _) = self.polynomial(first, &mut gathered).ok()?;
        let (to, _) = self.polynomial(end, &mut gathered).ok()?;
        let length = to.minus(&from)?.as_linear().filter(|length| self.is_of_sizes(length))?;
        if gathered.most.is_some() {
            return None;
        }
        let expr = self.form_expr(&length);
        Some(Stretched {
            object,
            name: self.res.objects[object].name.clone(),
            ty,
            count: Index { expr, form: length, ty: IntType::Long, substituted: false },
            first: from,
            step: Linear::constant(1),
            gathered,
        })
    }
}
