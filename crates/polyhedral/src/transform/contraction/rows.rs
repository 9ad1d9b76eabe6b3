//! Bounds as rows: linear inequalities made of expressions and expressions made of them, tiles, and the range of a loop in a system.

use std::collections::BTreeMap;

use loops::expr::UnaryOp;
use loops::{BinaryOp, Expr, Name};

use crate::fourier_motzkin::{Inequality, System};

/// An expression as a sum of multiples of variables and a constant, if it is one.
pub(crate) fn linear(expr: &Expr) -> Option<Inequality> {
    let combine = |a: &Expr, b: &Expr, sign: i128| {
        let (mut a, b) = (linear(a)?, linear(b)?);
        for (name, c) in b.coefficients {
            *a.coefficients.entry(name).or_insert(0) += c.checked_mul(sign)?;
        }
        a.coefficients.retain(|_, c| *c != 0);
        a.constant += b.constant * sign;
        Some(a)
    };
    match expr {
        Expr::Int(n) => Some(Inequality::constant(i128::from(*n))),
        Expr::Var(name) => {
            Some(Inequality { coefficients: BTreeMap::from([(name.to_string(), 1)]), constant: 0 })
        }
        Expr::Unary(UnaryOp::Neg, a) => combine(&Expr::Int(0), a, -1),
        Expr::Binary(BinaryOp::Add, a, b) => combine(a, b, 1),
        Expr::Binary(BinaryOp::Sub, a, b) => combine(a, b, -1),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let (a, b) = (linear(a)?, linear(b)?);
            let (factor, mut row) = if a.coefficients.is_empty() {
                (a.constant, b)
            } else {
                (b.coefficients.is_empty().then_some(b.constant)?, a)
            };
            row.constant = row.constant.checked_mul(factor)?;
            for c in row.coefficients.values_mut() {
                *c = c.checked_mul(factor)?;
            }
            row.coefficients.retain(|_, c| *c != 0);
            Some(row)
        }
        _ => None,
    }
}

/// `left - right - slack >= 0`, one row for each choice of a maximum on the right or a minimum on the left.
pub(super) fn at_least(left: &Expr, right: &Expr, slack: i128, rows: &mut Vec<Inequality>) -> Option<()> {
    match (left, right) {
        (Expr::Binary(BinaryOp::Min, a, b), _) => {
            at_least(a, right, slack, rows)?;
            at_least(b, right, slack, rows)
        }
        (_, Expr::Binary(BinaryOp::Max, a, b)) => {
            at_least(left, a, slack, rows)?;
            at_least(left, b, slack, rows)
        }
        _ => {
            let mut row = linear(&(left.clone() - right.clone()))?;
            row.constant -= slack;
            rows.push(row);
            Some(())
        }
    }
}

pub(super) fn int(value: i128) -> Option<Expr> {
    i64::try_from(value).ok().map(Expr::Int)
}

/// The terms of a row with the given sign, and the constant if it has that sign, as a sum of positive terms.
pub(super) fn side(row: &Inequality, sign: i128) -> Option<Expr> {
    let mut sum: Option<Expr> = None;
    let mut add = |term: Expr| {
        sum = Some(match sum.take() {
            None => term,
            Some(sum) => sum + term,
        })
    };
    for (name, c) in row.coefficients.iter().filter(|(_, c)| c.signum() == sign) {
        let var = Expr::var(name.as_str());
        add(if c.abs() == 1 { var } else { int(c.abs())? * var });
    }
    if row.constant.signum() == sign {
        add(int(row.constant.abs())?);
    }
    Some(sum.unwrap_or(Expr::Int(0)))
}

/// The value of a row.
pub(crate) fn value(row: &Inequality) -> Option<Expr> {
    let (plus, minus) = (side(row, 1)?, side(row, -1)?);
    Some(if minus == Expr::Int(0) { plus } else { plus - minus })
}

/// `row >= 0`, as `negative terms <= positive terms`.
pub(super) fn holds(row: &Inequality) -> Option<Expr> {
    Some(side(row, -1)?.at_most(side(row, 1)?))
}

pub(super) fn all(conditions: Vec<Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|a, b| a.and(b))
}

/// `row` with `variable` replaced by a sum.
pub(super) fn put(row: &Inequality, variable: &str, by: &Inequality) -> Inequality {
    let c = row.coefficient(variable);
    let mut result = row.clone();
    result.coefficients.remove(variable);
    for (name, d) in &by.coefficients {
        *result.coefficients.entry(name.clone()).or_insert(0) += c * d;
    }
    result.coefficients.retain(|_, c| *c != 0);
    result.constant += c * by.constant;
    result
}

pub(super) fn sum(terms: &[(&Name, i64)], constant: i64) -> Inequality {
    let coefficients = terms.iter().map(|(name, c)| (name.to_string(), i128::from(*c))).collect();
    Inequality { coefficients, constant: i128::from(constant) }
}

/// `base <= variable < base + extent`.
pub(super) fn tile(variable: &Name, base: &Inequality, extent: i64) -> [Inequality; 2] {
    let mut low = sum(&[(variable, 1)], 0);
    for (name, c) in &base.coefficients {
        *low.coefficients.entry(name.clone()).or_insert(0) -= c;
    }
    low.constant -= base.constant;
    let mut high = low.clone();
    high.coefficients.values_mut().for_each(|c| *c = -*c);
    high.constant = i128::from(extent) - 1 - low.constant;
    [low, high]
}

/// Takes out the rows that the others and what is known imply.
pub(super) fn drop_implied(rows: &mut Vec<Inequality>, known: &[Inequality]) {
    let mut at = 0;
    while at < rows.len() {
        let row = rows.remove(at);
        let others = known.iter().chain(&*rows).cloned().chain([negated(&row)]);
        if !System::new(others).is_empty() {
            rows.insert(at, row);
            at += 1;
        }
    }
}

pub(super) fn negated(row: &Inequality) -> Inequality {
    let coefficients = row.coefficients.iter().map(|(n, c)| (n.clone(), -c)).collect();
    Inequality { coefficients, constant: -row.constant - 1 }
}

/// Lower and upper bounds (inclusive) of a variable in a system that holds nothing inside it, without what `known` implies.
pub(super) struct Range {
    pub(super) rows: Vec<Inequality>,
    variable: Name,
}

impl Range {
    /// `inside` are the variables that are eliminated first.
    pub(super) fn of(
        system: &System,
        variable: &Name,
        inside: &[&Name],
        known: &[Inequality],
    ) -> Option<Range> {
        let projected = system.eliminate_all(inside.iter().map(|n| n.as_str())).ok()?.system;
        let mut rows: Vec<Inequality> =
            projected.rows.into_iter().filter(|r| r.coefficient(variable) != 0).collect();
        drop_implied(&mut rows, known);
        Some(Range { rows, variable: variable.clone() })
    }

    /// Bounds of `(variable - origin) / step`: lower ones rounded down, upper ones exclusive and rounded up; `origin` does not hold the variable.
    pub(super) fn steps(&self, origin: &Inequality, step: i64) -> Option<(Expr, Expr)> {
        let bound = |row: &Inequality, sign: i128| -> Option<Expr> {
            // sign * c * x + rest >= 0 with c > 0
            let c = row.coefficient(&self.variable) * sign;
            let rest = put(row, &self.variable, &Inequality::constant(0));
            let c64 = i64::try_from(c).ok()?;
            let shifted = |e: Inequality| -> Option<Expr> {
                // e / c - origin, over the common denominator
                let mut e = e;
                for (name, d) in &origin.coefficients {
                    *e.coefficients.entry(name.clone()).or_insert(0) -= c * d;
                }
                e.coefficients.retain(|_, c| *c != 0);
                e.constant -= c * origin.constant;
                value(&e)
            };
            let divisor = c64.checked_mul(step)?;
            if sign > 0 {
                // x >= ceil(-rest / c); rounded down to a step
                let mut low = rest.clone();
                low.coefficients.values_mut().for_each(|v| *v = -*v);
                low.constant = -low.constant + (if step == 1 { c - 1 } else { 0 });
                let low = shifted(low)?;
                Some(if divisor == 1 { low } else { low.floor_div(divisor) })
            } else {
                // x <= floor(rest / c); exclusive
                let high = shifted(rest)?;
                Some(if divisor == 1 { high + 1 } else { high.floor_div(divisor) + 1 })
            }
        };
        let low: Option<Vec<Expr>> =
            self.rows.iter().filter(|r| r.coefficient(&self.variable) > 0).map(|r| bound(r, 1)).collect();
        let high: Option<Vec<Expr>> =
            self.rows.iter().filter(|r| r.coefficient(&self.variable) < 0).map(|r| bound(r, -1)).collect();
        Some((low?.into_iter().reduce(|a, b| a.max(b))?, high?.into_iter().reduce(|a, b| a.min(b))?))
    }

    pub(super) fn bounds(&self) -> Option<(Expr, Expr)> {
        self.steps(&Inequality::constant(0), 1)
    }
}
