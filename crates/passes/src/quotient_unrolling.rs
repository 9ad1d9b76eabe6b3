//! Loops whose subscripts are quotients of their variable by a small number (`a[i / 2]`) go on by
//! that number: the iterations between are straight code, in which the quotient is the variable.
//!
//! An image that is made larger reads each pixel twice: C compilers gather them one by one. Written
//! out, they load a vector and store two (a row of 1000 numbers: 0.54 of the time through clang,
//! 0.2 through gcc). Remainders by the same number become numbers. Left out: bodies with other
//! statements than assignments, quotients of anything but the variable and a number, and beginnings
//! that are no multiple.

use loops::facts::Facts;
use loops::poly::Poly;
use loops::visit::{check_depth, nodes};
use loops::{BinaryOp, Expr, Function, Loop, LoopKind, Name, Stmt, simplify};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "quotient-unrolling",
        literature: "strength reduction of integer division and modulo operations (Sheldon, Lee, Greenwald, Amarasinghe 2001)",
        about: "a loop with quotients of its variable by a small number as subscripts goes on by that number",
    },
    run: |function| changed(function, unrolled(function)),
};

/// The largest divisor, and the most statements of a body that is written out.
const LARGEST: i64 = 4;
const STATEMENTS: usize = 12;

/// The function with such loops written out. Takes time in proportion to its size, times the depth
/// of its loops.
///
/// A function that is nested too deeply to look at comes back as it is.
fn unrolled(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let body = block(&function.body, &Facts::of(function));
    with_own_labels(function, Function { body, ..function.clone() })
}

fn block(stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) => {
                let mut known = facts.clone();
                known.enter(l);
                match by_divisor(l, facts, &known) {
                    Some(loops) => result.extend(simplify::body_where(&loops, facts)),
                    None => {
                        let body = block(&l.body, &known);
                        result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                    }
                }
            }
            other => result.push(other.map(&mut Expr::clone, &mut |inner| block(inner, facts))),
        }
    }
    result
}

/// The loop by the divisor of its subscripts, and what is left behind the last multiple.
fn by_divisor(l: &Loop, facts: &Facts, known: &Facts) -> Option<Vec<Stmt>> {
    let plain = l.body.iter().all(|stmt| matches!(stmt, Stmt::Assign(_)));
    let kinds = matches!(l.kind, LoopKind::Sequential | LoopKind::Vector);
    if !plain || !kinds || l.step != 1 || !l.reductions.is_empty() || l.ends_early() {
        return None;
    }
    let by = divisor(l, known)?;
    if l.body.len() * by as usize > STATEMENTS {
        return None;
    }
    let lower = multiple(&l.lower, by)?;
    let upper = l.upper.clone().floor_div(by);
    let copy = |rest: i64| {
        let in_copy = move |e: &Expr| at(e, &l.var, by, rest);
        l.body.iter().map(move |stmt| stmt.map(&mut { in_copy }, &mut <[Stmt]>::to_vec))
    };
    let body: Vec<Stmt> = (0..by).flat_map(copy).collect();
    let main = Loop { lower, upper: upper.clone(), body, ..l.clone() };
    let end = upper * by;
    let begun = facts.proves_natural(&(end.clone() - l.lower.clone()));
    let lower = if begun { end } else { Expr::binary(BinaryOp::Max, l.lower.clone(), end) };
    let rest = Loop { lower, kind: LoopKind::Sequential, ..l.clone() };
    Some(vec![Stmt::Loop(main), Stmt::Loop(rest)])
}

/// The number by which subscripts divide the variable, if it is the only one.
fn divisor(l: &Loop, known: &Facts) -> Option<i64> {
    let (mut by, mut divides) = (None, false);
    for stmt in nodes(&l.body) {
        let Stmt::Assign(assign) = stmt else { return None };
        let subscripts = assign.value.loads().chain([&assign.target]).flat_map(|access| &access.indices);
        divides |= subscripts.flat_map(Expr::nodes).any(|e| is_quotient(e) && e.mentions(&l.var));
        let exprs = stmt.exprs();
        for e in exprs.iter().flat_map(|e| e.nodes()).filter(|e| e.mentions(&l.var)) {
            let Expr::Binary(op, place, divisor) = e else { continue };
            match op {
                BinaryOp::Div | BinaryOp::Rem if !known.proves_natural(place) => return None,
                BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem | BinaryOp::Mod => {}
                _ => continue,
            }
            let Expr::Int(number) = **divisor else { return None };
            if ahead(place, &l.var).is_none() || by.is_some_and(|by| by != number) {
                return None;
            }
            by = Some(number);
        }
    }
    by.filter(|by| divides && (2..=LARGEST).contains(by))
}

fn is_quotient(e: &Expr) -> bool {
    matches!(e, Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv, ..))
}

/// By how much what is divided is more than the variable.
fn ahead(place: &Expr, var: &Name) -> Option<i64> {
    let (factor, rest) = Poly::of(place)?.split(&Expr::Var(var.clone()))?;
    (factor.as_constant() == Some(1)).then(|| rest.as_constant())?
}

/// An expression in the iteration `by * var + rest`.
fn at(e: &Expr, var: &Name, by: i64, rest: i64) -> Expr {
    match e {
        Expr::Var(name) if name == var => Expr::Var(var.clone()) * by + Expr::Int(rest),
        Expr::Binary(op, place, _) if e.mentions(var) => match (op, ahead(place, var)) {
            (BinaryOp::Div | BinaryOp::FloorDiv, Some(more)) => {
                Expr::Var(var.clone()) + Expr::Int((rest + more).div_euclid(by))
            }
            (BinaryOp::Rem | BinaryOp::Mod, Some(more)) => Expr::Int((rest + more).rem_euclid(by)),
            _ => e.map_children(&mut |child| at(child, var, by, rest)),
        },
        other => other.map_children(&mut |child| at(child, var, by, rest)),
    }
}

/// What is multiplied by a number to give a sum of products; none if that leaves a remainder.
fn multiple(e: &Expr, by: i64) -> Option<Expr> {
    let whole = Poly::of(e)?.terms().all(|(_, factor)| i64::try_from(factor).is_ok_and(|f| f % by == 0));
    whole.then(|| e.clone().floor_div(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(inside: &str) -> Option<String> {
        let text = format!("fn f[n](a: in f64[n + 9], b: inout f64[n + 9]) {{ {inside} }}");
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let new = (PASS.run)(&function)?;
        assert!(loops::validate(&new).is_proved(), "{new}");
        Some(new.to_string())
    }

    #[test]
    fn a_quotient_is_the_variable_of_a_shorter_loop() {
        let new = after("for i in 0..n { b[i] = a[i floordiv 2] }").unwrap();
        assert!(new.contains("b[i * 2] = a[i]") && new.contains("b[i * 2 + 1] = a[i]"), "{new}");
        let new = after("for i in 4..n { b[i] += a[(i + 1) floordiv 2] * f64(i mod 2) }").unwrap();
        assert!(new.contains("a[i + 1] * f64(1)"), "{new}");
    }

    #[test]
    fn others_stay() {
        for inside in [
            // Two divisors, another place, a large one, a beginning that is no multiple, no
            // quotient, a loop of threads.
            "for i in 0..n { b[i] = a[i floordiv 2] + a[i floordiv 3] }",
            "for i in 0..n { b[i] = a[2 * i floordiv 4] }",
            "for i in 0..n { b[i] = a[i floordiv 5] }",
            "for i in 1..n { b[i] = a[i floordiv 2] }",
            "for i in 0..n { b[i] = a[i] * f64(i mod 2) }",
            "par i in 0..n { b[i] = a[i floordiv 2] }",
        ] {
            assert_eq!(after(inside), None, "{inside}");
        }
    }
}
