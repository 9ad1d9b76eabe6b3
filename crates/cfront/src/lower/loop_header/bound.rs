//! The bound that the condition of a loop gives.

use loops::{CompareOp, Name};

use super::super::condition::compare_op;
use super::super::index::{Index, atom_number};
use super::super::{Lowering, Try};
use super::{Header, expr_mentions};
use crate::ast::{Binary, Expr, ExprKind};
use crate::codes;
use crate::linear::Linear;

/// A comparison in a header.
struct Sides {
    op: CompareOp,
    left: Index,
    right: Index,
    /// Whether the left side is the variable alone.
    alone: bool,
}

impl Lowering<'_> {
    /// The bound that a condition gives: exclusive and above for a loop upward, inclusive and below
    /// for a loop downward.
    pub(super) fn last_bound(
        &mut self,
        k: usize,
        header: &Header<'_>,
        cond: &Expr,
        variable: &Index,
        up: bool,
    ) -> Try<Index> {
        if let ExprKind::Binary(Binary::And, a, b) = &cond.kind {
            let a = self.last_bound(k, header, a, variable, up)?;
            let b = self.last_bound(k, header, b, variable, up)?;
            return self.extremum(!up, a, b, cond.at).map_err(|why| self.bad_bound(&header.name, cond, why));
        }
        let ExprKind::Binary(op, left, right) = &cond.kind else {
            return self.bad_condition(header, cond, "it is not a comparison");
        };
        let Some(op) = compare_op(*op) else {
            return self.bad_condition(header, cond, "it is not a comparison");
        };
        let Sides { op, left: left_index, right: right_index, alone } =
            self.sides(k, header, (op, left, right), variable)?;
        let var = self.variable_of(variable);
        // `i < n - i`, and `i < j` where both are counted.
        let both = self.mentions(&right_index.form, &var) && alone;
        if both && left_index.ty.common(right_index.ty).is_unsigned() {
            return self.bad_condition(
                header,
                cond,
                "the variable is on both sides of an unsigned comparison",
            );
        }
        let alone = alone && !both;
        let op = match op {
            CompareOp::Ne if header.step.abs() == 1 && alone => {
                return self.until_equal(header, cond, right_index, up);
            }
            CompareOp::Eq | CompareOp::Ne => {
                return self.bad_condition(header, cond, "it does not bound the variable");
            }
            op => op,
        };
        let sides = Sides { op, left: left_index, right: right_index, alone };
        if sides.left.ty.common(sides.right.ty).is_unsigned() {
            self.stays_positive(header, cond, &var, &sides, up)?;
        }
        if alone {
            return match (op, up) {
                (CompareOp::Lt, true) | (CompareOp::Ge, false) => Ok(sides.right),
                (CompareOp::Le, true) | (CompareOp::Gt, false) => self
                    .linear_sum(&sides.right, 1, &Index::constant(1), cond.at)
                    .map_err(|why| self.bad_bound(&header.name, cond, why)),
                _ => self.wrong_way(header, cond),
            };
        }
        self.bound_of_difference(header, cond, &var, &sides, up)
    }

    /// The two sides of a comparison, turned so that the variable is on the left if it stands
    /// alone.
    fn sides(
        &mut self,
        k: usize,
        header: &Header<'_>,
        (op, left, right): (CompareOp, &Expr, &Expr),
        variable: &Index,
    ) -> Try<Sides> {
        // The variable has its value here only, to be taken out again.
        let before = self.values.insert(k, variable.clone());
        let counting = self.counting.replace(self.variable_of(variable));
        let sides = (self.index(left), self.index(right));
        self.counting = counting;
        match before {
            Some(before) => self.values.insert(k, before),
            None => self.values.remove(&k),
        };
        let left_index = sides.0.map_err(|why| self.bad_bound(&header.name, left, why))?;
        let right_index = sides.1.map_err(|why| self.bad_bound(&header.name, right, why))?;
        let is_variable = |e: &Expr| matches!(&e.kind, ExprKind::Ident(n) if *n == header.name);
        Ok(if is_variable(left) {
            Sides { op, left: left_index, right: right_index, alone: true }
        } else if is_variable(right) {
            Sides { op: op.mirrored(), left: right_index, right: left_index, alone: true }
        } else {
            Sides { op, left: left_index, right: right_index, alone: false }
        })
    }

    /// Fails if the variable of an unsigned comparison may be negative.
    fn stays_positive(
        &mut self,
        header: &Header<'_>,
        cond: &Expr,
        var: &Name,
        Sides { op, left, right, alone }: &Sides,
        up: bool,
    ) -> Try<()> {
        let own = if self.mentions(&left.form, var) { left } else { right };
        let strictly = matches!(op, CompareOp::Gt) as i64;
        let bound = right.form.plus_constant(strictly - 1).filter(|_| *alone);
        let negative = match (up, bound) {
            (true, _) => self.turns_unsigned(header, var, own, None),
            (false, Some(bound)) => self.turns_unsigned(header, var, own, Some(&bound)),
            (false, None) => !own.ty.is_unsigned(),
        };
        if negative {
            let message = format!(
                "in the condition `{}` the variable `{}` is compared as unsigned and may be negative",
                self.snippet(cond.at),
                header.name
            );
            return self.fail(
                codes::LOOP,
                message,
                cond.at,
                "with a bound of a signed type, such as `(int)n`, it would not be",
            );
        }
        Ok(())
    }

    /// The bound that follows from the difference of two sides, neither of which is the variable
    /// alone.
    fn bound_of_difference(
        &mut self,
        header: &Header<'_>,
        cond: &Expr,
        var: &Name,
        Sides { op, left, right, .. }: &Sides,
        up: bool,
    ) -> Try<Index> {
        // `a * var + rest >= 0`
        let difference = match op {
            CompareOp::Lt | CompareOp::Le => right.form.minus(&left.form),
            _ => left.form.minus(&right.form),
        };
        let strict = i64::from(matches!(op, CompareOp::Lt | CompareOp::Gt));
        let Some(form) = difference.and_then(|d| d.plus_constant(-strict)) else {
            return self.bad_condition(header, cond, "it has a constant beyond 64 bits");
        };
        let (coefficient, rest) = form.split(var);
        let coefficient = coefficient.unwrap_or(0);
        if coefficient == 0 || self.mentions(&rest, var) {
            return self.bad_condition(
                header,
                cond,
                "it does not bound the variable by an affine expression",
            );
        }
        if (coefficient < 0) != up {
            return self.wrong_way(header, cond);
        }
        // Above: var <= floor(rest / -coefficient). Below: var >= -floor(rest / coefficient).
        let rest = Index { expr: self.form_expr(&rest), form: rest, ty: header.ty, substituted: false };
        let divisor = coefficient.unsigned_abs() as i64;
        let quotient = if divisor == 1 { rest } else { self.floor_by(rest, divisor) };
        let (base, sign) = if up { (Index::constant(1), 1) } else { (Index::constant(0), -1) };
        let bound = if up {
            self.linear_sum(&quotient, sign, &base, cond.at)
        } else {
            self.linear_sum(&base, sign, &quotient, cond.at)
        };
        bound.map_err(|why| self.bad_bound(&header.name, cond, why))
    }

    /// Whether the side with the variable is signed, compared as unsigned, and may be negative: -1
    /// is then above every bound.
    fn turns_unsigned(
        &mut self,
        header: &Header<'_>,
        var: &Name,
        own: &Index,
        bound: Option<&Linear>,
    ) -> bool {
        if own.ty.is_unsigned() {
            return false;
        }
        match bound {
            // From the first value on.
            None => {
                let Ok(first) = self.index(header.first) else { return true };
                let mark = self.known.len();
                self.known.extend(Linear::name(var.clone()).minus(&first.form));
                let holds = self.holds(&own.form);
                self.known.truncate(mark);
                !holds
            }
            // Down to the value with which the loop ends.
            Some(bound) => {
                let last = bound.plus_constant(header.step.saturating_add(1));
                !last.is_some_and(|last| self.holds(&last))
            }
        }
    }

    fn variable_of(&self, variable: &Index) -> Name {
        variable.form.variables().next().cloned().unwrap_or_else(|| Name::new(""))
    }

    /// Whether a form has the variable in it, perhaps inside an atom.
    pub(in crate::lower) fn mentions(&self, form: &Linear, var: &Name) -> bool {
        form.variables().any(|name| match atom_number(name) {
            Some(k) => expr_mentions(&self.atoms[k].expr, var),
            None => name == var,
        })
    }

    pub(in crate::lower) fn bad_condition<T>(
        &mut self,
        header: &Header<'_>,
        cond: &Expr,
        why: &str,
    ) -> Try<T> {
        let message =
            format!("the condition `{}` of the loop over `{}`: {why}", self.snippet(cond.at), header.name);
        self.fail(codes::LOOP, message, cond.at, "expected a comparison of the variable with a bound")
    }

    fn wrong_way<T>(&mut self, header: &Header<'_>, cond: &Expr) -> Try<T> {
        let way = if header.step > 0 { "up" } else { "down" };
        self.bad_condition(
            header,
            cond,
            &format!("the loop counts {way} and this does not bound it in that direction"),
        )
    }

    /// `var != bound` with steps of 1: the same as `<` or `>` where the loop ends at all.
    fn until_equal(&mut self, header: &Header<'_>, cond: &Expr, bound: Index, up: bool) -> Try<Index> {
        let first =
            self.index(header.first).map_err(|why| self.bad_bound(&header.name, header.first, why))?;
        let sign = if up { 1 } else { -1 };
        let distance = bound.form.minus(&first.form).and_then(|d| d.times(sign));
        let Some(distance) = distance else {
            return self.bad_condition(header, cond, "it has a constant beyond 64 bits");
        };
        if header.ty.wraps() {
            let first = self.snippet(header.first.at);
            let needed = self.need(&distance, cond.at, &|what| {
                format!("the loop over `{}` ends by {what}, which `{first}` has not passed", header.name)
            });
            needed.map_err(|why| self.bad_bound(&header.name, cond, why))?;
        }
        // With a signed variable, to pass the bound is to run into overflow, which C leaves
        // undefined.
        if up {
            return Ok(bound);
        }
        let one = Index::constant(1);
        self.linear_sum(&bound, 1, &one, cond.at).map_err(|why| self.bad_bound(&header.name, cond, why))
    }
}
