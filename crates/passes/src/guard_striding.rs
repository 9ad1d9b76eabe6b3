//! Loops that do something in every second or third iteration alone, as a condition on a remainder
//! says (`for j: if (i + j) mod 2 == colour`), go in such steps.
//!
//! The first iteration that does something is computed before the loop. Nothing changes but that
//! the others are no iterations: compilers make no use of such a condition, and vectors of masked
//! stores are slower than half as many iterations. Left out: bodies with something beside the
//! condition, and remainders of what grows by more than one.

use loops::facts::{Facts, is_stable};
use loops::poly::Poly;
use loops::visit::check_depth;
use loops::{BinaryOp, CompareOp, Expr, Function, Loop, LoopKind, Name, Stmt, simplify};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "guard-striding",
        literature: "strides of loops over lattices (Bastoul 2004)",
        about: "a loop that does something in every so many iterations alone goes in such steps",
    },
    run: |function| changed(function, strided(function)),
};

/// The largest step.
const LONGEST: i64 = 64;

/// The function with such loops. Takes time in proportion to its size, times the depth of its
/// loops.
///
/// A function that is nested too deeply to look at comes back as it is.
fn strided(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    Function { body: block(&function.body, &Facts::of(function)), ..function.clone() }
}

fn block(stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => {
            let mut known = facts.clone();
            known.enter(l);
            let l = in_steps(l, facts, &known).unwrap_or_else(|| l.clone());
            Stmt::Loop(Loop { body: block(&l.body, &known), ..l })
        }
        Stmt::If { cond, then, otherwise } => {
            let branch = |holds: bool, stmts: &[Stmt]| {
                let mut known = facts.clone();
                known.assume(cond, holds);
                block(stmts, &known)
            };
            let (then, otherwise) = (branch(true, then), branch(false, otherwise));
            Stmt::If { cond: cond.clone(), then, otherwise }
        }
        other => other.map(&mut Expr::clone, &mut |inner| block(inner, facts)),
    };
    stmts.iter().map(one).collect()
}

/// The loop in steps, if its body is such a condition. `known` holds inside of it.
fn in_steps(l: &Loop, facts: &Facts, known: &Facts) -> Option<Loop> {
    let [Stmt::If { cond, then, otherwise }] = &l.body[..] else { return None };
    let kinds = matches!(l.kind, LoopKind::Sequential | LoopKind::Parallel | LoopKind::Vector);
    if l.step != 1 || !kinds || !l.reductions.is_empty() || !otherwise.is_empty() {
        return None;
    }
    let parts = conjunction(cond);
    let (at, step, behind) = parts.iter().enumerate().find_map(|(k, part)| {
        let (step, behind) = lattice(part, l, known)?;
        Some((k, step, behind))
    })?;
    let rest = parts.into_iter().enumerate().filter(|(k, _)| *k != at).map(|(_, part)| part.clone());
    let body = match rest.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)) {
        Some(cond) => vec![Stmt::If { cond, then: then.clone(), otherwise: Vec::new() }],
        None => then.clone(),
    };
    let lower = simplify::expr(&(l.lower.clone() + behind), facts);
    // Elements that are not side by side fill no vectors.
    let kind = if l.kind == LoopKind::Vector { LoopKind::Sequential } else { l.kind };
    Some(Loop { lower, step, kind, body, ..l.clone() })
}

/// The parts of a condition that must all hold.
pub(crate) fn conjunction(cond: &Expr) -> Vec<&Expr> {
    match cond {
        Expr::Binary(BinaryOp::And, a, b) => {
            let mut parts = conjunction(a);
            parts.extend(conjunction(b));
            parts
        }
        other => vec![other],
    }
}

/// The iterations in which a condition holds: their distance, and how far the first of them is
/// behind the first of the loop.
fn lattice(cond: &Expr, l: &Loop, known: &Facts) -> Option<(i64, Expr)> {
    let Expr::Compare(CompareOp::Eq, left, right) = cond else { return None };
    let (remainder, wanted) = match (&**left, &**right) {
        (Expr::Binary(BinaryOp::Mod | BinaryOp::Rem, ..), wanted) => (&**left, wanted),
        (wanted, Expr::Binary(BinaryOp::Mod | BinaryOp::Rem, ..)) => (&**right, wanted),
        _ => return None,
    };
    let Expr::Binary(op, place, by) = remainder else { return None };
    let Expr::Int(step) = **by else { return None };
    let same = |e: &Expr| is_stable(e) && !e.mentions(&l.var);
    if !(2..=LONGEST).contains(&step) || !same(wanted) || !same(&l.lower) || !is_stable(place) {
        return None;
    }
    let in_range = known.proves_natural(wanted)
        && known.proves(&Expr::compare(CompareOp::Lt, wanted.clone(), Expr::Int(step)));
    if !in_range || (*op == BinaryOp::Rem && !known.proves_natural(place)) {
        return None;
    }
    let first = at_first(place, &l.var, &l.lower)?;
    // As many steps as are missing: `wanted - first`, with natural numbers alone.
    let missing = simplify::expr(&(wanted.clone() + first * (step - 1)), known);
    Some((step, Expr::binary(BinaryOp::Mod, missing, Expr::Int(step))))
}

/// The value at the first iteration of what grows by one in each.
fn at_first(place: &Expr, var: &Name, lower: &Expr) -> Option<Expr> {
    let (factor, rest) = Poly::of(place)?.split(&Expr::Var(var.clone()))?;
    let plain = factor.as_constant() == Some(1) && !rest.to_expr(&[])?.mentions(var);
    plain.then(|| rest.to_expr(&[]))?.map(|rest| rest + lower.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(inside: &str) -> Option<String> {
        let text = format!(
            "fn f[n](a: inout f64[n][n]) {{ for c in 0..3 {{ for i in 1..n {{ for j in 1..n {{ {inside} }} }} }} }}"
        );
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let new = (PASS.run)(&function)?;
        assert!(loops::validate(&new).is_proved());
        Some(new.to_string())
    }

    #[test]
    fn a_condition_on_a_remainder_is_a_step() {
        let new = after("if (i + j) mod 3 == c { a[i][j] = 1.0 }").unwrap();
        assert!(new.contains("step 3") && !new.contains("if "), "{new}");
        let new = after("if (j mod 2 == 1) && i < j { a[i][j] = 1.0 }").unwrap();
        assert!(new.contains("step 2") && new.contains("if i < j"), "{new}");
    }

    #[test]
    fn others_stay() {
        for inside in [
            // Never true for some; not of the variable; of two iterations at once; of data.
            "if (i + j) mod 2 == c { a[i][j] = 1.0 }",
            "if i mod 2 == 1 { a[i][j] = 1.0 }",
            "if (2 * j) mod 4 == 2 { a[i][j] = 1.0 }",
            "if j mod 2 == j - 1 { a[i][j] = 1.0 }",
            "if j mod 2 == 1 { a[i][j] = 1.0 } else { a[i][j] = 2.0 }",
            "if j mod 2 == 1 { a[i][j] = 1.0 } a[i][j] += 2.0",
            "if (j - n) % 2 == 1 { a[i][j] = 1.0 }",
        ] {
            assert_eq!(after(inside), None, "{inside}");
        }
    }
}
