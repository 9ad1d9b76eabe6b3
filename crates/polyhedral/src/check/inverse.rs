//! A guess at the new loops as functions of the original ones.
//!
//! Tiles write an iterator in mixed radix: `j = 24 * strip + 8 * vector + lane`, with `lane` below
//! 8 and `vector` below 3. Reading the digits off is a matter of quotients, and takes no time; the
//! set library finds the same functions by projecting the loops out, which takes most of the time
//! of a check. What is found here is a guess and nothing more: [`super::copies`] verifies it, and
//! asks the library where it is wrong.

use std::collections::BTreeMap;

use arith::Linear;
use loops::poly::linear;
use loops::{BinaryOp, Expr, Name};

use crate::model::Around;
use crate::transform::contraction::value;

/// A sum over new loops, by position, and the rest of it: sizes and a constant.
struct Form {
    loops: BTreeMap<usize, i64>,
    rest: Expr,
}

struct Guess<'a> {
    new: &'a [Around],
    /// What is known of the new loops, in terms of the original ones.
    values: Vec<Option<Expr>>,
}

/// The new loops as expressions of the original ones; none where the claim and the bounds do not
/// show them. `claim` has the original loops as expressions of the new ones.
pub(super) fn guess(new: &[Around], old: &[Name], sizes: &[Name], claim: &[Expr]) -> Option<Vec<Expr>> {
    // Names must mean one thing.
    let distinct = |names: &[&Name]| names.iter().enumerate().all(|(k, name)| !names[..k].contains(name));
    let new_names: Vec<&Name> = new.iter().map(|around| &around.var).chain(sizes).collect();
    let old_names: Vec<&Name> = old.iter().chain(sizes).collect();
    if !distinct(&new_names) || !distinct(&old_names) {
        return None;
    }
    let mut guess = Guess { new, values: vec![None; new.len()] };
    let equations: Option<Vec<(Expr, Form)>> =
        old.iter().zip(claim).map(|(name, e)| Some((Expr::Var(name.clone()), guess.form(e)?))).collect();
    let equations = equations?;
    while guess.values.contains(&None) {
        let found = equations.iter().find_map(|(left, form)| guess.digits(left, form));
        let found = found.or_else(|| guess.around_a_tile())?;
        for (k, value) in found {
            guess.values[k] = Some(value);
        }
    }
    guess.values.into_iter().collect()
}

fn plus(a: Expr, b: Expr) -> Expr {
    match (&a, &b) {
        (Expr::Int(0), _) => b,
        (_, Expr::Int(0)) => a,
        _ => a + b,
    }
}

fn times(c: i64, a: Expr) -> Expr {
    if c == 1 || a == Expr::Int(0) { a } else { Expr::Int(c) * a }
}

fn minus(a: Expr, b: Expr) -> Expr {
    if b == Expr::Int(0) { a } else { a - b }
}

fn quotient(a: Expr, divisor: i64) -> Expr {
    if divisor == 1 { a } else { a.floor_div(divisor) }
}

/// The operands of nested minima or maxima.
fn parts(op: BinaryOp, expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Binary(o, a, b) if *o == op => [parts(op, a), parts(op, b)].concat(),
        other => vec![other],
    }
}

impl Guess<'_> {
    fn form(&self, expr: &Expr) -> Option<Form> {
        let row: Linear<Name> = linear(expr)?;
        let place = |name: &Name| self.new.iter().position(|around| around.var == *name);
        let (inside, rest) = row.partition(|name, _| place(name).is_some());
        let loops = inside.terms().map(|(name, c)| Some((place(name)?, i64::try_from(c).ok()?)));
        let loops = loops.collect::<Option<BTreeMap<usize, i64>>>()?;
        let rest = rest.plus_constant(row.constant_term())?;
        Some(Form { loops, rest: value(&rest)? })
    }

    /// `left - form` without the loops that are not known yet, which are given beside it.
    fn residual(&self, left: &Expr, form: &Form) -> (Expr, Vec<(usize, i64)>) {
        let mut result = minus(left.clone(), form.rest.clone());
        let mut open = Vec::new();
        for (k, c) in &form.loops {
            match &self.values[*k] {
                Some(value) => result = minus(result, times(*c, value.clone())),
                None => open.push((*k, *c)),
            }
        }
        (result, open)
    }

    /// A bound whose loops are all known.
    fn known(&self, expr: &Expr) -> Option<Expr> {
        let form = self.form(expr)?;
        let terms = form.loops.iter().map(|(k, c)| Some(times(*c, self.values[*k].clone()?)));
        terms.chain([Some(form.rest)]).try_fold(Expr::Int(0), |sum, term| Some(plus(sum, term?)))
    }

    /// The unknown loops of `left == form`, as digits from the largest weight to the smallest.
    fn digits(&self, left: &Expr, form: &Form) -> Option<Vec<(usize, Expr)>> {
        let (mut residual, mut open) = self.residual(left, form);
        if let [(k, -1)] = open[..] {
            return Some(vec![(k, Expr::Int(0) - residual)]);
        }
        if open.is_empty() || open.iter().any(|(_, c)| *c <= 0) {
            return None;
        }
        let weight = |(k, c): &(usize, i64)| c.checked_mul(self.new[*k].step).unwrap_or(i64::MAX);
        open.sort_by_key(|digit| std::cmp::Reverse(weight(digit)));
        // Where each digit begins.
        let mut lows = Vec::new();
        for (position, (k, c)) in open.iter().enumerate() {
            let around = &self.new[*k];
            let low = if position == 0 {
                if around.step == 1 { Expr::Int(0) } else { self.known(&around.lower)? }
            } else {
                let constant = |e: &&Expr| matches!(e, Expr::Int(_));
                parts(BinaryOp::Max, &around.lower).into_iter().find(constant)?.clone()
            };
            residual = minus(residual, times(*c, low.clone()));
            lows.push(low);
        }
        let mut found = Vec::new();
        let mut above: Option<(i64, Expr)> = None;
        for (digit, low) in open.iter().zip(lows) {
            let own = weight(digit);
            let all = quotient(residual.clone(), own);
            let value = match above {
                None => all.clone(),
                Some((larger, _)) if larger % own != 0 => return None,
                Some((larger, quotient)) => minus(all.clone(), times(larger / own, quotient)),
            };
            found.push((digit.0, plus(low, times(self.new[digit.0].step, value))));
            above = Some((own, all));
        }
        Some(found)
    }

    /// A loop over tiles that no iterator mentions, by a loop inside whose value is known and which
    /// it bounds.
    fn around_a_tile(&self) -> Option<Vec<(usize, Expr)>> {
        for (inner, known) in self.new.iter().zip(&self.values) {
            let Some(known) = known else { continue };
            let lower = parts(BinaryOp::Max, &inner.lower).into_iter().map(|e| (e, false));
            let upper = parts(BinaryOp::Min, &inner.upper).into_iter().map(|e| (e, true));
            for (bound, above) in lower.chain(upper) {
                let Some(form) = self.form(bound) else { continue };
                let (residual, open) = self.residual(known, &form);
                let [(k, c)] = open[..] else { continue };
                let around = &self.new[k];
                let (Some(width), true) = (c.checked_mul(around.step), c > 0) else { continue };
                // An upper bound is a whole tile further.
                let residual = if above { residual + Expr::Int(width) } else { residual };
                let value = if around.step == 1 {
                    quotient(residual, width)
                } else {
                    let Some(low) = self.known(&around.lower) else { continue };
                    let steps = quotient(minus(residual, times(c, low.clone())), width);
                    plus(low, times(around.step, steps))
                };
                return Some(vec![(k, value)]);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loops::LoopKind;

    fn around(var: &str, lower: Expr, upper: Expr, step: i64) -> Around {
        Around {
            number: 0,
            var: Name::new(var),
            kind: LoopKind::Sequential,
            reductions: Vec::new(),
            lower,
            upper,
            step,
        }
    }

    #[test]
    fn digits_are_read_off_and_tiles_by_what_they_bound() {
        let v = |name: &str| Expr::var(name);
        let new = [
            around("jb", 0.into(), v("n"), 1536),
            around("kb", 0.into(), v("n"), 256),
            around("strip", 0.into(), Expr::from(64).min(v("n")), 1),
            around("k", v("kb"), v("n").min(v("kb") + 256), 1),
            around("vec", 0.into(), 3.into(), 1),
            around("lane", 0.into(), 8.into(), 1),
        ];
        let claim = [v("k"), v("jb") + v("lane") + Expr::from(24) * v("strip") + Expr::from(8) * v("vec")];
        let found =
            guess(&new, &[Name::new("k"), Name::new("j")], &[Name::new("n")], &claim).expect("a guess");
        let text: Vec<String> = found.iter().map(Expr::to_string).collect();
        assert_eq!(
            text,
            [
                "1536 * (j floordiv 1536)",
                "256 * (k floordiv 256)",
                "j floordiv 24 - 64 * (j floordiv 1536)",
                "k",
                "j floordiv 8 - 3 * (j floordiv 24)",
                "j - 8 * (j floordiv 8)",
            ]
        );
    }
}
