//! Planes that take turns: `u[(t + 1) % 2][i]` from `u[t % 2][i - 1]`, in a loop over time.
//!
//! Which plane is meant changes with every step, so that no box of constant extents holds one of
//! them without the other. Two steps (as many as there are planes) become one iteration, in which
//! each plane has a number. The last iteration may be cut short, by a condition on each step but
//! the first.
//!
//! Only loops from a constant that is not negative, in steps of one. Remainders of what is data,
//! and of sizes, stay as they are.

use arith::Monomial;
use arith::number::floor_rem;
use loops::poly::Poly;
use loops::simplify::tidy;
use loops::visit::{nodes, substitute, with_distinct_locals};
use loops::{Assign, BinaryOp, Expr, Function, Loop, LoopKind, Name, Stmt};

/// Planes that take turns, at most.
const MOST: i64 = 4;
/// Statements of the steps that become one iteration, at most.
const STATEMENTS: usize = 64;

/// The function with as many steps in an iteration as there are planes; none if it has no such
/// loop.
pub(super) fn in_turns(function: &Function) -> Option<Function> {
    let mut found = false;
    let body = block(&function.body, &mut found);
    found.then(|| with_distinct_locals(&Function { body, ..function.clone() }))
}

fn block(body: &[Stmt], found: &mut bool) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Loop(l) if let Some(steps) = steps(l) => {
                *found = true;
                Stmt::Loop(steps)
            }
            other => other.map(&mut Expr::clone, &mut |inner| block(inner, found)),
        })
        .collect()
}

/// The loop over as many steps an iteration as there are planes.
fn steps(l: &Loop) -> Option<Loop> {
    let Expr::Int(first) = l.lower else { return None };
    let plain = first >= 0 && l.step == 1 && l.kind == LoopKind::Sequential && l.reductions.is_empty();
    let turns = turns(l).filter(|_| plain)?;
    let mut body = Vec::new();
    for step in 0..turns {
        let now = tidy(&(Expr::Var(l.var.clone()) * turns + first.checked_add(step)?));
        let all = substitute(&l.body, &[(l.var.clone(), now.clone())].into());
        let own = told(&all, step > 0);
        body.extend(match step {
            0 => own,
            _ => vec![Stmt::If { cond: now.less(l.upper.clone()), then: own, otherwise: Vec::new() }],
        });
    }
    let iterations = tidy(&(l.upper.clone() - first + (turns - 1))).floor_div(turns);
    Some(Loop { lower: Expr::Int(0), upper: iterations, body, ..l.clone() })
}

/// The divisor of all remainders in subscripts and conditions that change from one iteration of a
/// loop to the next.
fn turns(l: &Loop) -> Option<i64> {
    let (mut divisors, mut statements) = (Vec::new(), 0);
    for stmt in nodes(&l.body) {
        statements += usize::from(matches!(stmt, Stmt::Assign(_)));
        for expr in stmt.exprs() {
            for e in expr.nodes() {
                divisors.extend(divisor(e, &l.var))
            }
        }
    }
    divisors.dedup();
    let [one] = divisors.as_slice() else { return None };
    let fits = usize::try_from(*one).is_ok_and(|n| statements.saturating_mul(n) <= STATEMENTS);
    (fits && (2..=MOST).contains(one)).then_some(*one)
}

fn divisor(e: &Expr, var: &Name) -> Option<i64> {
    match e {
        Expr::Binary(BinaryOp::Mod, value, by) if value.mentions(var) => match **by {
            Expr::Int(n) => Some(n),
            _ => None,
        },
        _ => None,
    }
}

/// Statements with the remainders that are known, and without what never runs; those that were
/// there before have their labels.
fn told(body: &[Stmt], again: bool) -> Vec<Stmt> {
    let mut result = Vec::new();
    for stmt in body {
        match stmt.map(&mut |e| tidy(&known(e)), &mut |inner| told(inner, again)) {
            Stmt::If { cond: Expr::Bool(holds), then, otherwise } => {
                result.extend(if holds { then } else { otherwise });
            }
            Stmt::Assign(assign) if again => result.push(Stmt::Assign(Assign { label: None, ..assign })),
            other => result.push(other),
        }
    }
    result
}

fn known(e: &Expr) -> Expr {
    let e = e.map_children(&mut |inner| known(inner));
    let remainder = match &e {
        Expr::Binary(BinaryOp::Mod, value, by) => match **by {
            Expr::Int(by) if by > 0 => remainder(value, by),
            _ => None,
        },
        _ => None,
    };
    remainder.map_or(e, Expr::Int)
}

/// The remainder of a sum, if all that changes in it are multiples of the divisor.
fn remainder(value: &Expr, by: i64) -> Option<i64> {
    let poly = Poly::of(value)?;
    let by = i128::from(by);
    let rest = poly.coefficient(&Monomial::one());
    let mut multiples = poly.terms().filter(|(atoms, _)| !atoms.is_one());
    let exact = multiples.all(|(_, factor)| floor_rem(factor, by) == Some(0));
    exact.then(|| i64::try_from(floor_rem(rest, by)?).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(body: &str) -> Option<String> {
        let text = format!("fn f[n, m](u: inout f64[2][n], v: inout f64[n]) {{\n{body}\n}}");
        let program = loops::parse(&text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        let function = in_turns(&program.functions[0])?;
        assert!(loops::validate(&function).is_valid());
        Some(loops::Program { functions: vec![function] }.to_string())
    }

    #[test]
    fn each_plane_has_a_number() {
        let text =
            turned("for t in 0..m {\n for i in 0..n {\n A: u[(t + 1) mod 2][i] = u[t mod 2][i]\n }\n}")
                .unwrap();
        assert!(text.contains("A: u[1][i] = u[0][i]") && text.contains(" u[0][i] = u[1][i]"), "{text}");
        let text = turned("for t in 1..m {\n if t mod 2 == 0 {\n v[t] = 1.0\n } else {\n v[t] = 2.0\n }\n}")
            .unwrap();
        assert!(text.contains("v[2 * t + 1] = 2.0") && text.contains("v[2 * t + 2] = 1.0"), "{text}");
    }

    #[test]
    fn what_does_not_take_turns_stays() {
        for body in [
            // No remainder of the loop; from a size on; of two divisors; of an index that is no
            // sum.
            "for t in 0..m {\n u[n mod 2][t] = 1.0\n}",
            "for t in n..m {\n u[t mod 2][0] = 1.0\n}",
            "for t in 0..m {\n u[t mod 2][t mod 3] = 1.0\n}",
            "for t in 0..m {\n u[t mod 7][0] = 1.0\n}",
        ] {
            assert_eq!(turned(body), None, "{body}");
        }
    }
}
