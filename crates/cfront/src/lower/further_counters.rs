//! Further variables that a loop counts: `j` in `for (i = 0, j = n - 1; i < j; i++, j--)`. Their
//! values are linear forms in the loop's variable.

use super::index::Index;
use super::loop_header::Header;
use super::resolve::Meaning;
use super::{Class, Lowering, Try};
use crate::ast::{Expr, ExprKind, For, parts};
use crate::codes;
use crate::ctype::IntType;
use crate::linear::Linear;

/// A variable that is counted along.
pub(super) struct Along<'e> {
    pub object: usize,
    ty: IntType,
    name: String,
    first: Linear,
    /// What is added for 1 that is added to the loop's variable.
    by: i64,
    step: &'e Expr,
}

impl Lowering<'_> {
    /// What a header counts besides its variable, which begins at `first`.
    pub(super) fn counted_along<'e>(
        &mut self,
        f: &'e For,
        header: &Header<'_>,
        first: &Index,
    ) -> Try<Vec<Along<'e>>> {
        let mut all: Vec<Along<'e>> = Vec::new();
        for other in &f.others {
            let at = other.step.at;
            let ExprKind::Ident(name) = &other.variable.kind else { continue };
            let (object, ty) = match self.meaning(&other.variable) {
                Meaning::Object(k) => match self.class(k) {
                    Class::LoopVariable(ty) => (k, ty),
                    _ => return self.unknown_name(name, at),
                },
                _ => return self.unknown_name(name, at),
            };
            let around = self.active.contains(&object);
            if around || object == header.object || all.iter().any(|a| a.object == object) {
                let message = format!("`{name}` is also the variable of an outer loop");
                return self.fail(codes::LOOP_VARIABLE, message, at, "this loop changes it");
            }
            let untracked = !self.tracked.contains(&object);
            let assigned = self.res.objects[object].assigned.first().copied();
            if let Some(assigned) = assigned.filter(|_| untracked) {
                let message =
                    format!("the loop variable `{name}` is assigned outside of the header of its loop");
                self.blamed.insert(object);
                return self.fail(codes::LOOP_VARIABLE, message, assigned, "assigned here");
            }
            if ty.bits() < 32 || self.res.objects[object].ty.volatile {
                let message = format!(
                    "`{name}`, a second variable of the loop header, must be an integer of 32 bits or more that is not changed otherwise"
                );
                return self.fail(codes::TYPE, message, at, "counted here");
            }
            let step = match super::loop_header::counted(&other.step) {
                Some((_, super::loop_header::Step::By(amount))) => Some(amount),
                Some((_, super::loop_header::Step::Expr(sign, by))) => {
                    let by = self.index(by).ok().and_then(|by| by.form.as_constant());
                    by.and_then(|by| by.checked_mul(sign))
                }
                None => None,
            };
            let by = step.filter(|step| step.checked_rem(header.step) == Some(0));
            let Some(by) = by.and_then(|step| step.checked_div(header.step)) else {
                let message = format!(
                    "`{name}` is counted together with `{}`, but not by a multiple of its step {}",
                    header.name,
                    header.step.unsigned_abs()
                );
                let help = "count the loop variable by 1, and compute the other one from it";
                return self.fail_with(codes::LOOP, message, (at, "counted here"), help);
            };
            let begin = self.index(&other.first);
            let start = match begin.and_then(|f| self.converted(&f, ty, other.first.at).map(|()| f)) {
                Ok(start) => start.form,
                Err(why) => {
                    let message = format!(
                        "the first value `{}` of `{name}`, a second variable of the loop header, is not affine in {}: {}",
                        self.snippet(other.first.at),
                        self.loop_list(),
                        why.reason
                    );
                    let help = "remove it from the header, and compute its value from the loop variables where it is used";
                    return self.fail_with(codes::BOUND, message, (why.at, "not affine"), help);
                }
            };
            if start.plus_times(by, &first.form).is_none() {
                return self.fail(codes::BOUND, "a constant beyond 64 bits", at, "counted here");
            }
            all.push(Along { object, ty, name: name.clone(), first: start, by, step: &other.step });
        }
        Ok(all)
    }

    /// Sets the values of these further variables where the loop's variable is `now`, and was
    /// `start` first: for the loop's condition, or for its body.
    pub(super) fn set_along(
        &mut self,
        all: &[Along<'_>],
        now: &Linear,
        start: &Linear,
        cond: Option<&Expr>,
    ) -> Try<()> {
        for other in all {
            if cond.is_some_and(|cond| self.is_in(other.object, cond)) && other.ty.is_unsigned() {
                let message = format!(
                    "the loop's condition reads `{}`, which is unsigned and may wrap around",
                    other.name
                );
                let help = format!("declare it as signed, as in `long {}`", other.name);
                return self.fail_with(codes::LOOP, message, (other.step.at, "counted here"), &help);
            }
            let travelled = now.minus(start);
            let form = travelled.and_then(|t| other.first.plus_times(other.by, &t));
            let Some(form) = form else {
                return self.fail(codes::BOUND, "a constant beyond 64 bits", other.step.at, "counted here");
            };
            if cond.is_none()
                && other.ty.is_unsigned()
                && let Err(why) = self.in_range(&form, other.ty, other.step.at)
            {
                let message =
                    format!("`{}` is unsigned, and may wrap around in the loop: {}", other.name, why.reason);
                let help = format!("declare it as signed, as in `long {}`", other.name);
                return self.fail_with(codes::LOOP, message, (other.step.at, "counted here"), &help);
            }
            let value = Index { expr: self.form_expr(&form), form, ty: other.ty, substituted: true };
            self.values.insert(other.object, value);
        }
        Ok(())
    }

    fn is_in(&self, object: usize, e: &Expr) -> bool {
        let named = matches!(e.kind, ExprKind::Ident(_)) && self.meaning(e) == Meaning::Object(object);
        named || parts(&e.kind).into_iter().any(|part| self.is_in(object, part))
    }
}
