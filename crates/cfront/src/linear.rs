//! Linear forms over names, and a small prover for `form >= 0` by Fourier-Motzkin elimination over
//! the rationals.
//!
//! The prover is bounded and one-sided. It says yes only if the constraints imply it, and no if it
//! gave up.

use std::collections::BTreeMap;

use loops::{BinaryOp, Expr, Name};

/// `sum of coefficient * name + constant`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Linear {
    pub terms: BTreeMap<Name, i64>,
    pub constant: i64,
}

impl Linear {
    pub fn constant(constant: i64) -> Linear {
        Linear { terms: BTreeMap::new(), constant }
    }

    pub fn name(name: Name) -> Linear {
        Linear { terms: BTreeMap::from([(name, 1)]), constant: 0 }
    }

    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub fn coefficient(&self, name: &str) -> i64 {
        self.terms.get(name).copied().unwrap_or(0)
    }

    /// `self + factor * other`, if it fits.
    pub fn plus(&self, factor: i64, other: &Linear) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (name, coefficient) in &other.terms {
            let entry = sum.terms.entry(name.clone()).or_insert(0);
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
            if *entry == 0 {
                sum.terms.remove(name);
            }
        }
        Some(sum)
    }

    pub fn add(&self, constant: i64) -> Option<Linear> {
        Some(Linear { terms: self.terms.clone(), constant: self.constant.checked_add(constant)? })
    }

    pub fn times(&self, factor: i64) -> Option<Linear> {
        Linear::default().plus(factor, self)
    }

    /// The form with a name replaced by a form.
    pub fn replace(&self, name: &str, by: &Linear) -> Option<Linear> {
        let mut rest = self.clone();
        match rest.terms.remove(name) {
            None => Some(rest),
            Some(coefficient) => rest.plus(coefficient, by),
        }
    }

    /// The form as an expression, positive terms first; `value` gives the expression of a name.
    pub fn to_expr(&self, value: &dyn Fn(&Name) -> Expr) -> Expr {
        let mut sum: Option<Expr> = None;
        let (positive, negative): (Vec<_>, Vec<_>) = self.terms.iter().partition(|(_, c)| **c > 0);
        let mut constant = self.constant;
        if positive.is_empty() && !negative.is_empty() && constant != 0 {
            sum = Some(Expr::Int(constant));
            constant = 0;
        }
        for (name, coefficient) in positive.into_iter().chain(negative) {
            let atom = value(name);
            let magnitude = match (sum.is_some(), *coefficient) {
                (true, c) => c.checked_abs().unwrap_or(i64::MAX),
                (false, c) => c,
            };
            let term = match magnitude {
                1 => atom,
                -1 => Expr::unary(loops::UnaryOp::Neg, atom),
                m => Expr::binary(BinaryOp::Mul, Expr::Int(m), atom),
            };
            sum = Some(match sum {
                None => term,
                Some(left) if *coefficient < 0 => Expr::binary(BinaryOp::Sub, left, term),
                Some(left) => Expr::binary(BinaryOp::Add, left, term),
            });
        }
        match (sum, constant) {
            (None, c) => Expr::Int(c),
            (Some(left), 0) => left,
            (Some(left), c) if c < 0 && c != i64::MIN => Expr::binary(BinaryOp::Sub, left, Expr::Int(-c)),
            (Some(left), c) => Expr::binary(BinaryOp::Add, left, Expr::Int(c)),
        }
    }
}

/// Most constraints that the prover keeps.
const MAX_CONSTRAINTS: usize = 200;

/// Whether `goal >= 0` follows from `constraints` (each `>= 0`), as far as the prover sees.
pub fn implies(constraints: &[Linear], goal: &Linear) -> bool {
    if let Some(constant) = goal.as_constant()
        && constant >= 0
    {
        return true;
    }
    // The opposite: `-goal - 1 >= 0`.
    let Some(opposite) = goal.times(-1).and_then(|g| g.add(-1)) else { return false };
    let mut system: Vec<Linear> = relevant(constraints, &opposite);
    system.push(opposite);
    infeasible(system)
}

/// The constraints that share names with the goal, directly or through others.
fn relevant(constraints: &[Linear], goal: &Linear) -> Vec<Linear> {
    let mut names: std::collections::BTreeSet<&Name> = goal.terms.keys().collect();
    let mut chosen = vec![false; constraints.len()];
    loop {
        let mut changed = false;
        for (k, constraint) in constraints.iter().enumerate() {
            if !chosen[k] && constraint.terms.keys().any(|n| names.contains(n)) {
                chosen[k] = true;
                changed = true;
                names.extend(constraint.terms.keys());
            }
        }
        if !changed {
            break;
        }
    }
    constraints.iter().zip(chosen).filter(|(_, c)| *c).map(|(l, _)| l.clone()).collect()
}

/// Whether no rational point satisfies all; gives up (false) when the system grows.
fn infeasible(mut system: Vec<Linear>) -> bool {
    loop {
        system.sort();
        system.dedup();
        if system.iter().any(|l| l.terms.is_empty() && l.constant < 0) {
            return true;
        }
        system.retain(|l| !l.terms.is_empty());
        if system.len() > MAX_CONSTRAINTS {
            return false;
        }
        // The name that makes the fewest new constraints.
        let mut counts: BTreeMap<&Name, (usize, usize)> = BTreeMap::new();
        for (name, coefficient) in system.iter().flat_map(|l| &l.terms) {
            let count = counts.entry(name).or_default();
            if *coefficient > 0 {
                count.0 += 1;
            } else {
                count.1 += 1;
            }
        }
        let Some(name) = counts.iter().min_by_key(|(_, (p, n))| p * n).map(|(name, _)| (*name).clone())
        else {
            return false;
        };
        let (with, without): (Vec<_>, Vec<_>) = system.into_iter().partition(|l| l.terms.contains_key(&name));
        let (lower, upper): (Vec<_>, Vec<_>) = with.into_iter().partition(|l| l.coefficient(&name) > 0);
        system = without;
        for low in &lower {
            for up in &upper {
                let (a, b) = (low.coefficient(&name), up.coefficient(&name));
                let combined = b.checked_neg().and_then(|b| low.times(b)).and_then(|l| l.plus(a, up));
                // Leaving one out only weakens the system.
                system.extend(combined.map(reduced));
            }
        }
    }
}

/// Divided by the common divisor of the coefficients. The constant is rounded down, which is right
/// for integers.
fn reduced(form: Linear) -> Linear {
    let divisor = form.terms.values().fold(0u64, |d, c| gcd(d, c.unsigned_abs()));
    match i64::try_from(divisor) {
        Ok(divisor) if divisor > 1 => Linear {
            terms: form.terms.into_iter().map(|(n, c)| (n, c / divisor)).collect(),
            constant: form.constant.div_euclid(divisor),
        },
        _ => form,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(terms: &[(&str, i64)], constant: i64) -> Linear {
        Linear { terms: terms.iter().map(|(n, c)| (Name::new(n), *c)).collect(), constant }
    }

    #[test]
    fn follows_bounds_through_names() {
        // 0 <= j < i < n implies j < n, not j < n - 2.
        let context =
            [form(&[("j", 1)], 0), form(&[("i", 1), ("j", -1)], -1), form(&[("n", 1), ("i", -1)], -1)];
        assert!(implies(&context, &form(&[("n", 1), ("j", -1)], -1)));
        assert!(implies(&context, &form(&[("n", 1)], -2)));
        assert!(!implies(&context, &form(&[("n", 1), ("j", -1)], -3)));
    }

    #[test]
    fn uses_that_values_are_integers() {
        // 2 i >= 1 implies i >= 1.
        assert!(implies(&[form(&[("i", 2)], -1)], &form(&[("i", 1)], -1)));
    }
}
