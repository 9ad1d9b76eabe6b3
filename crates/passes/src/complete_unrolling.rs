//! Short loops whose bounds are numbers become their iterations, one after another.
//!
//! Inside a loop along memory, the windows of a convolution or a stencil (`for p in 0..3 { s += x[i
//! + p] * f[p] }`) keep that loop from running in lanes. Written out, they are straight code.
//! Updates of one element that follow each other become one statement, with its operations in the
//! same order: `s = s + a + b`.
//!
//! Loops are left as they are if they have more than [`COPIES`] iterations together with the short
//! loops around them, or declare something. So are those that add integers to one element, if they
//! have [`LANES`] iterations: C compilers make vectors of them, as such sums have no order, and not of
//! straight code (a product of two blocks of 32 bytes took 32 us and takes 10).

use std::collections::{BTreeMap, BTreeSet};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::visit::{check_depth, locals, substitute};
use loops::{Access, Assign, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "complete-unrolling",
        literature: "complete loop unrolling (Allen and Kennedy 2002), before loops are vectorised",
        about: "short loops with numbers as bounds become straight code, so that a loop around them can run in lanes",
    },
    run: |function| changed(function, unrolled(function)),
};

/// The most iterations of nested short loops: windows of 5 x 5 and 3 x 3 x 3.
pub(crate) const COPIES: i64 = 32;

/// The fewest iterations of a sum of integers that compilers make vectors of: bytes in 128 bits.
const LANES: i64 = 16;

/// The function with such loops written out. A function that is nested too deeply comes back as it
/// is.
fn unrolled(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let params = function.params.iter().map(|param| (&param.name, &param.elem));
    let locals = locals(&function.body).map(|local| (&local.name, &local.elem));
    let integers = |(name, elem): (_, &Elem)| match elem {
        Elem::Scalar(scalar) if scalar.is_int() => Some(name),
        _ => None,
    };
    let integers: BTreeSet<&Name> = params.chain(locals).filter_map(integers).collect();
    let body = inside(&function.body, 0, &integers);
    with_own_labels(function, Function { body, ..function.clone() })
}

/// Whether a loop adds integers to one element, often enough for lanes.
fn adds_integers(l: &Loop, integers: &BTreeSet<&Name>) -> bool {
    let long = bounds(l).is_some_and(|(lower, upper)| l.step == 1 && upper.saturating_sub(lower) >= LANES);
    let [Stmt::Assign(Assign { target, update: Some(update), .. })] = l.body.as_slice() else { return false };
    let one = !target.indices.iter().any(|e| e.mentions(&l.var));
    long && one && update.op == ReduceOp::Add && integers.contains(&target.array)
}

/// `depth`: how many loops are around the statements.
fn inside(stmts: &[Stmt], depth: usize, integers: &BTreeSet<&Name>) -> Vec<Stmt> {
    let mut result = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            // Without a loop around, nothing comes into lanes.
            Stmt::Loop(l) if depth > 0 && !adds_integers(l, integers) => {
                match copies(l, Conditions::Left).filter(|copies| *copies <= COPIES) {
                    Some(_) => result.extend(merged(written_out(l))),
                    None => {
                        let body = inside(&l.body, depth + 1, integers);
                        result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                    }
                }
            }
            Stmt::Loop(l) => {
                let body = inside(&l.body, depth + 1, integers);
                result.push(Stmt::Loop(Loop { body, ..l.clone() }));
            }
            other => result.push(other.map(&mut Expr::clone, &mut |body| inside(body, depth, integers))),
        }
    }
    result
}

/// The bounds of a loop, if they are numbers.
fn bounds(l: &Loop) -> Option<(i64, i64)> {
    let (Expr::Int(lower), Expr::Int(upper)) = (&l.lower, &l.upper) else { return None };
    (l.kind == LoopKind::Sequential && l.step > 0 && l.reductions.is_empty()).then_some((*lower, *upper))
}

/// What is done with loops that hold conditions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// They are left as they are.
    Left,
    /// They are written out as others.
    Allowed,
}

/// The statements that a loop becomes, for each of its own; none if it stays.
pub(crate) fn copies(l: &Loop, conditions: Conditions) -> Option<i64> {
    let (lower, upper) = bounds(l)?;
    let trips = upper.checked_sub(lower)?.max(0).checked_add(l.step - 1)? / l.step;
    trips.checked_mul(statements(&l.body, conditions)?)
}

/// How many statements these become.
fn statements(stmts: &[Stmt], conditions: Conditions) -> Option<i64> {
    let own = |stmt: &Stmt| match stmt {
        Stmt::Assign(_) => Some(1),
        Stmt::Loop(inner) => copies(inner, conditions),
        Stmt::If { then, otherwise, .. } if conditions == Conditions::Allowed => {
            statements(then, conditions)?.checked_add(statements(otherwise, conditions)?)
        }
        _ => None,
    };
    stmts.iter().map(own).sum()
}

/// All iterations of a loop, with those of the loops in it.
pub(crate) fn written_out(l: &Loop) -> Vec<Stmt> {
    let Some((lower, upper)) = bounds(l) else { return vec![Stmt::Loop(l.clone())] };
    let mut result = Vec::new();
    let mut at = lower;
    while at < upper {
        let here = BTreeMap::from([(l.var.clone(), Expr::Int(at))]);
        result.extend(substitute(&l.body, &here).iter().flat_map(straight));
        at += l.step;
    }
    result
}

/// A statement with the short loops in it written out.
fn straight(stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Loop(inner) => written_out(inner),
        other => {
            let mut inside = |stmts: &[Stmt]| stmts.iter().flat_map(straight).collect();
            vec![other.map(&mut Expr::clone, &mut inside)]
        }
    }
}

/// Updates of one element that follow each other as one statement.
pub(crate) fn merged(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut result: Vec<Stmt> = Vec::new();
    for stmt in stmts {
        if let (Stmt::Assign(next), Some(Stmt::Assign(last))) = (&stmt, result.last_mut())
            && let Some(value) = next_value(last, next)
        {
            last.value = value;
            last.update = None;
            continue;
        }
        result.push(stmt);
    }
    result
}

/// The value that an element has after two statements that update it.
fn next_value(last: &Assign, next: &Assign) -> Option<Expr> {
    let update = next.update.filter(|update| !update.reorder)?;
    let placed_by_data = next.target.indices.iter().any(|e| e.has_loads());
    if last.target != next.target || placed_by_data || reads(&next.value, &next.target) {
        return None;
    }
    let before = match last.update {
        None if reads(&last.value, &last.target) && !is_chain(&last.value, &last.target) => return None,
        None => last.value.clone(),
        Some(own) if own.reorder || reads(&last.value, &last.target) => return None,
        Some(own) => Expr::binary(own.op.binary(), Expr::Load(last.target.clone()), last.value.clone()),
    };
    Some(Expr::binary(update.op.binary(), before, next.value.clone()))
}

/// Whether an expression reads something of an array.
fn reads(value: &Expr, target: &Access) -> bool {
    value.reads(&target.array)
}

/// Whether a value is a chain of operations on what the element had before: `s + a + b`.
fn is_chain(value: &Expr, target: &Access) -> bool {
    match value {
        Expr::Load(access) => access == target,
        Expr::Binary(_, before, own) => !reads(own, target) && is_chain(before, target),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> String {
        let function = loops::parse(text).unwrap().functions.remove(0);
        PASS.run(&function).map_or_else(|| "unchanged".to_owned(), |function| function.to_string())
    }

    #[test]
    fn a_window_becomes_one_statement() {
        let text = after(
            "fn f[n](x: in f64[n + 2], w: in f64[3], y: out f64[n]) { for i in 0..n { \
             S0: y[i] = 0.0 \
             for p in 0..3 { S1: y[i] += x[i + p] * w[p] } } }",
        );
        assert!(
            text.contains("S1: y[i] = y[i] + x[i + 0] * w[0] + x[i + 1] * w[1] + x[i + 2] * w[2]"),
            "{text}"
        );
    }

    #[test]
    fn sums_of_integers_stay_where_lanes_fit() {
        let text = |elem: &str, n: i64| {
            let sum = format!("for k in 0..{n} {{ s += x[i][k] * y[i][k] }}");
            let whole = format!("for i in 0..n {{ local s: {elem} s = {elem}(0) {sum} z[i] = s }}");
            after(&format!(
                "fn f[n](x: in {elem}[n][{n}], y: in {elem}[n][{n}], z: out {elem}[n]) {{ {whole} }}"
            ))
        };
        assert_eq!(text("i32", 16), "unchanged");
        assert_ne!(text("i32", 15), "unchanged");
        assert_ne!(text("f32", 16), "unchanged");
    }

    #[test]
    fn long_loops_and_loops_at_the_top_stay() {
        for body in [
            "for i in 0..3 { x[i] = 1.0 }",
            "for i in 0..n { for j in 0..40 { x[j] = 1.0 } }",
            "for i in 0..n { for j in 0..n { x[j] = 1.0 } }",
        ] {
            assert_eq!(after(&format!("fn f[n](x: inout f64[n + 40]) {{ {body} }}")), "unchanged", "{body}");
        }
    }

    #[test]
    fn what_reads_the_element_is_not_merged() {
        let text = after(
            "fn f[n](x: inout f64[n], w: in f64[2]) { for i in 0..n { for p in 0..2 { x[i] += x[i] * w[p] } } }",
        );
        assert_eq!(text.matches("x[i] +=").count(), 2, "{text}");
        // The first update may move the place of the second.
        let text = after(
            "fn f[n](x: inout i32[n]) { for i in 0..n { for p in 0..2 { x[i64(x[i]) mod n] += i32(p) } } }",
        );
        assert_eq!(text.matches("mod n] +=").count(), 2, "{text}");
    }
}
