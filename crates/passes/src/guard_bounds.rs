//! Loops that do something up to a place alone, as a condition on the variable says (`for j in
//! 0..n: if j < i`), end or begin there.
//!
//! A value that is kept where the condition does not hold (`s = if j < i then s + x else s`) counts
//! as such a condition. The iterations that go did nothing. Left out: bodies with something beside
//! the condition, and conditions on data.

use loops::facts::{Facts, is_stable};
use loops::visit::check_depth;
use loops::{Assign, BinaryOp, CompareOp, Expr, Function, Loop, Name, Stmt, UnaryOp, simplify};

use crate::guard_striding::conjunction;
use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "guard-bounds",
        literature: "loop bounds from guards, as polyhedral code generation makes them (Bastoul 2004)",
        about: "a loop that does something before or behind a place alone ends or begins there",
    },
    run: |function| changed(function, narrowed(function)),
};

/// The function with such loops. Takes time in proportion to its size, times the depth of its
/// loops.
///
/// A function that is nested too deeply to look at comes back as it is.
fn narrowed(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let new = Function { body: block(&function.body, &Facts::of(function)), ..function.clone() };
    // A loop that is left with one iteration becomes its body.
    if new == *function { new } else { simplify::function(&new) }
}

fn block(stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => {
            let l = between(l, facts).unwrap_or_else(|| l.clone());
            let mut known = facts.clone();
            known.enter(&l);
            Stmt::Loop(Loop { body: block(&l.body, &known), ..l })
        }
        other => other.map(&mut Expr::clone, &mut |inner| block(inner, facts)),
    };
    stmts.iter().map(one).collect()
}

/// The loop between the bounds that its condition has.
fn between(l: &Loop, facts: &Facts) -> Option<Loop> {
    let (cond, body) = guarded(&l.body)?;
    if l.step != 1 {
        return None;
    }
    let (mut lower, mut upper, mut rest) = (l.lower.clone(), l.upper.clone(), Vec::new());
    for part in conjunction(&cond) {
        let Some((op, place)) = bound(part, &l.var) else {
            rest.push(part.clone());
            continue;
        };
        if matches!(op, CompareOp::Lt | CompareOp::Le | CompareOp::Eq) {
            let end = if op == CompareOp::Lt { place.clone() } else { place.clone() + 1 };
            upper = Expr::binary(BinaryOp::Min, upper, end);
        }
        if matches!(op, CompareOp::Gt | CompareOp::Ge | CompareOp::Eq) {
            let first = if op == CompareOp::Gt { place + 1 } else { place };
            lower = Expr::binary(BinaryOp::Max, lower, first);
        }
    }
    if lower == l.lower && upper == l.upper {
        return None;
    }
    let body = match rest.into_iter().reduce(|a, b| Expr::binary(BinaryOp::And, a, b)) {
        Some(cond) => vec![Stmt::If { cond, then: body, otherwise: Vec::new() }],
        None => body,
    };
    let (lower, upper) = (simplify::expr(&lower, facts), simplify::expr(&upper, facts));
    Some(Loop { lower, upper, body, ..l.clone() })
}

/// The condition under which a body does something, and what it does.
fn guarded(body: &[Stmt]) -> Option<(Expr, Vec<Stmt>)> {
    if let [Stmt::If { cond, then, otherwise }] = body
        && otherwise.is_empty()
    {
        return Some((cond.clone(), then.clone()));
    }
    let kept: Vec<(Expr, Stmt)> = body.iter().map(kept).collect::<Option<_>>()?;
    let (cond, _) = kept.first()?.clone();
    let same = kept.iter().all(|(other, _)| *other == cond);
    same.then(|| (cond, kept.into_iter().map(|(_, stmt)| stmt).collect()))
}

/// `a = if c then e else a` as `c` and `a = e`.
fn kept(stmt: &Stmt) -> Option<(Expr, Stmt)> {
    let Stmt::Assign(a) = stmt else { return None };
    let (Expr::Select(cond, yes, no), None) = (&a.value, a.update) else { return None };
    let own = |e: &Expr| *e == Expr::Load(a.target.clone());
    let (cond, value) = match (own(no), own(yes)) {
        (true, _) => ((**cond).clone(), yes),
        (_, true) => (Expr::Unary(UnaryOp::Not, cond.clone()), no),
        _ => return None,
    };
    is_stable(&cond).then(|| (cond, Stmt::Assign(Assign { value: (**value).clone(), ..a.clone() })))
}

/// A comparison of the variable itself with a place that does not depend on it.
fn bound(cond: &Expr, var: &Name) -> Option<(CompareOp, Expr)> {
    let Expr::Compare(op, a, b) = cond else { return None };
    let is_var = |e: &Expr| *e == Expr::Var(var.clone());
    let (op, place) = match (is_var(a), is_var(b)) {
        (true, false) => (*op, &**b),
        (false, true) => (op.mirrored(), &**a),
        _ => return None,
    };
    let fits = is_stable(place) && !place.mentions(var) && op != CompareOp::Ne;
    fits.then(|| (op, place.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(inside: &str) -> Option<String> {
        let text = format!(
            "fn f[n](a: inout f64[n]) {{ for i in 0..n {{ local s: f64 stack s = 0.0 for j in 0..n {{ {inside} }} a[i] = s }} }}"
        );
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let new = (PASS.run)(&function)?;
        assert!(loops::validate(&new).is_proved());
        Some(new.to_string())
    }

    #[test]
    fn a_condition_on_the_variable_is_a_bound() {
        for (inside, head) in [
            ("if j < i { s = s + a[j] }", "for j in 0..i {"),
            ("s = select(j < i, s + 1.0, s)", "for j in 0..i {"),
            ("s = select(i >= j, s + 1.0, s)", "for j in 0..i + 1 {"),
            ("if j > i && s < 9.0 { s = s + 1.0 }", "for j in i + 1..n {"),
            ("s = select(j == i, 3.0, s)", "s = 0.0\n    s = 3.0"),
        ] {
            let new = after(inside).unwrap();
            assert!(new.contains(head), "{inside}: {new}");
        }
    }

    #[test]
    fn what_is_done_elsewhere_stays() {
        for inside in
            ["s = select(j < i, s + 1.0, 2.0)", "if 2 * j < i { s = s + 1.0 }", "if s < 1.0 { s = 2.0 }"]
        {
            assert_eq!(after(inside), None, "{inside}");
        }
    }
}
