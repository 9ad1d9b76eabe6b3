//! Bounds as rows: linear inequalities made of expressions and expressions made of them, tiles, and
//! the range of a loop in a system.

use arith::fourier_motzkin::drop_implied;
use arith::{Budget, Linear, System};
use loops::poly::linear;
use loops::{BinaryOp, Expr, Name};

/// `left - right - slack >= 0`, one row for each choice of a maximum on the right or a minimum on
/// the left.
pub(crate) fn at_least(left: &Expr, right: &Expr, slack: i128, rows: &mut Vec<Linear<Name>>) -> Option<()> {
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
            rows.push(linear(&(left.clone() - right.clone()))?.plus_constant(-slack)?);
            Some(())
        }
    }
}

pub(super) fn int(value: i128) -> Option<Expr> {
    i64::try_from(value).ok().map(Expr::Int)
}

/// The terms of a row with the given sign, and the constant if it has that sign, as a sum of
/// positive terms.
pub(super) fn side(row: &Linear<Name>, sign: i128) -> Option<Expr> {
    let mut sum: Option<Expr> = None;
    let mut add = |term: Expr| {
        sum = Some(match sum.take() {
            None => term,
            Some(sum) => sum + term,
        })
    };
    for (name, c) in row.terms().filter(|(_, c)| c.signum() == sign) {
        let var = Expr::Var(name.clone());
        add(if c == sign { var } else { int(c.checked_abs()?)? * var });
    }
    if row.constant_term().signum() == sign {
        add(int(row.constant_term().checked_abs()?)?);
    }
    Some(sum.unwrap_or(Expr::Int(0)))
}

/// The value of a row.
pub(crate) fn value(row: &Linear<Name>) -> Option<Expr> {
    let (plus, minus) = (side(row, 1)?, side(row, -1)?);
    Some(if minus == Expr::Int(0) { plus } else { plus - minus })
}

/// `row >= 0`, as `negative terms <= positive terms`.
pub(super) fn holds(row: &Linear<Name>) -> Option<Expr> {
    Some(side(row, -1)?.at_most(side(row, 1)?))
}

pub(super) fn all(conditions: Vec<Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|a, b| a.and(b))
}

pub(super) fn sum(terms: &[(&Name, i64)], constant: i64) -> Option<Linear<Name>> {
    Linear::sum(terms.iter().map(|(name, c)| ((*name).clone(), i128::from(*c))), i128::from(constant))
}

/// `base <= variable < base + extent`.
pub(super) fn tile(variable: &Name, base: &Linear<Name>, extent: i64) -> Option<[Linear<Name>; 2]> {
    let low = Linear::name(variable.clone()).minus(base)?;
    let high = low.negated()?.plus_constant(i128::from(extent) - 1)?;
    Some([low, high])
}

/// Lower and upper bounds (inclusive) of a variable in a system that holds nothing inside it,
/// without what `known` implies.
pub(super) struct Range {
    pub(super) rows: Vec<Linear<Name>>,
    variable: Name,
}

impl Range {
    /// `inside` are the variables that are eliminated first.
    pub(super) fn of(
        system: &System<Name>,
        variable: &Name,
        inside: &[&Name],
        known: &[Linear<Name>],
    ) -> Option<Range> {
        let projected = system.eliminate_all(inside.iter().copied()).ok()?.system;
        let mut rows: Vec<Linear<Name>> =
            projected.rows.into_iter().filter(|r| r.mentions(variable)).collect();
        drop_implied(&mut rows, known, &Budget::default());
        Some(Range { rows, variable: variable.clone() })
    }

    /// Bounds of `(variable - origin) / step`: lower ones rounded down, upper ones exclusive and
    /// rounded up; `origin` does not hold the variable.
    pub(super) fn steps(&self, origin: &Linear<Name>, step: i64) -> Option<(Expr, Expr)> {
        let bound = |row: &Linear<Name>, sign: i128| -> Option<Expr> {
            // sign * c * x + rest >= 0 with c > 0
            let (c, rest) = row.split(&self.variable);
            let c = c?.checked_mul(sign)?;
            // e / c - origin, over the common denominator
            let shifted = |e: Linear<Name>| value(&e.plus_times(c.checked_neg()?, origin)?);
            let divisor = i64::try_from(c).ok()?.checked_mul(step)?;
            if sign > 0 {
                // x >= ceil(-rest / c); rounded down to a step
                let low = rest.negated()?.plus_constant(if step == 1 { c - 1 } else { 0 })?;
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
        self.steps(&Linear::default(), 1)
    }
}
