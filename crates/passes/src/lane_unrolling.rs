//! Short loops with conditions become their iterations, where the loop around them runs in lanes.
//!
//! Of the neighbours of a cell (`for d in -1..2 { if d != 0 { s += x[j + d] } }`) a C compiler
//! unrolls the loop, but may do so behind the place where it makes lanes: the loop over the cells
//! then stays as it is. Written out, a condition on the short loop's variable is decided, and
//! others stand in straight code.
//!
//! Left as they are: loops without a condition, which compilers unroll in time, and those that
//! `complete-unrolling` leaves: with too many iterations, or that declare something.

use crate::complete_unrolling::{COPIES, Conditions, copies, merged, written_out};
use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::facts::Facts;
use loops::visit::{check_depth, nodes};
use loops::{Expr, Function, Loop, LoopKind, Stmt, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "unrolling-in-lanes",
        literature: "complete loop unrolling before outer-loop vectorization (Nuzman and Zaks 2008)",
        about: "short loops with conditions become straight code where the loop around them runs in lanes",
    },
    run: |function| changed(function, unrolled(function)),
};

/// The function with such loops written out. A function that is nested too deeply comes back as it
/// is.
fn unrolled(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let body = block(&function.body, &Facts::of(function), false);
    with_own_labels(function, Function { body, ..function.clone() })
}

/// `lanes`: whether a loop around the statements runs in lanes.
fn block(stmts: &[Stmt], facts: &Facts, lanes: bool) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Loop(l) if lanes && is_asking(l) => {
                result.extend(merged(simplify::body_where(&written_out(l), facts)));
            }
            Stmt::Loop(l) => {
                let mut known = facts.clone();
                known.enter(l);
                let body = block(&l.body, &known, lanes || l.kind == LoopKind::Vector);
                result.push(Stmt::Loop(Loop { body, ..l.clone() }));
            }
            other => result.push(other.map(&mut Expr::clone, &mut |body| block(body, facts, lanes))),
        }
    }
    result
}

/// Whether a loop is short and has a condition.
fn is_asking(l: &Loop) -> bool {
    nodes(&l.body).any(|stmt| matches!(stmt, Stmt::If { .. }))
        && copies(l, Conditions::Allowed).is_some_and(|copies| copies <= COPIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> String {
        let function = loops::parse(text).unwrap().functions.remove(0);
        let after = PASS.run(&function);
        after
            .inspect(|new| assert!(loops::validate(new).is_proved()))
            .map_or_else(String::new, |f| f.to_string())
    }

    #[test]
    fn conditions_on_the_short_loop_are_decided() {
        let text = after(
            "fn f[n](x: in i32[n + 2], y: out i32[n]) { vec i in 0..n { \
             S0: y[i] = 0i32 \
             for d in 0..3 { if d != 1 { S1: y[i] += x[i + d] } } } }",
        );
        assert!(text.contains("S1: y[i] = y[i] + x[i] + x[i + 2]"), "{text}");
        assert!(!text.contains("if"), "{text}");
    }

    #[test]
    fn other_conditions_stay_in_straight_code() {
        let text = after(
            "fn f[n](x: in i32[n], y: inout i32[n]) { vec i in 0..n { \
             for d in 0..2 { if i + d < n { S1: y[i] max= x[i + d] } } } }",
        );
        assert!(
            text.contains("y[i] max= x[i + 1]") && text.contains("if") && !text.contains("for"),
            "{text}"
        );
    }

    #[test]
    fn loops_without_lanes_or_without_conditions_stay() {
        for body in [
            "for i in 0..n { for d in 0..2 { if i + d < n { y[i] max= x[i + d] } } }",
            "vec i in 0..n { for d in 0..2 { y[i] max= x[i] + i32(d) } }",
            "vec i in 0..n { for d in 0..40 { if i + d < n { y[i] max= x[i + d] } } }",
        ] {
            assert_eq!(after(&format!("fn f[n](x: in i32[n], y: inout i32[n]) {{ {body} }}")), "", "{body}");
        }
    }
}
