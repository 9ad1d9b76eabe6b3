//! Loops over strips of rows, in two: whole strips, whose loops have as many iterations as a strip
//! has rows, and what is left of the last one.
//!
//! In `for it in 0..(n - 1) floordiv 16 + 1 { vec i in 16 * it..min(n, 16 * it + 16) { .. } }` a
//! compiler does not know how many lanes there are, so each visit of the loop over lanes asks, and
//! sums of the strip are stored and loaded again. Where the number is known, they stay in
//! registers. Every iteration runs as before, and in the same order.
//!
//! Left out: strips that do not begin at 0, and large bodies, which would be there twice.

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::facts::{Facts, is_stable};
use loops::poly::Poly;
use loops::visit::{check_depth, nodes};
use loops::{BinaryOp, CompareOp, Expr, Function, Loop, LoopKind, Name, Stmt, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "full-strips",
        literature: "separation of full tiles from partial ones (Ancourt and Irigoin 1991)",
        about: "a loop over strips of rows becomes two: strips with all their rows, and the rest",
    },
    run: |function| changed(function, separated(function)),
};

/// The most rows of a strip: more are no lanes that registers hold.
const MOST_ROWS: i64 = 64;
/// Bodies with more statements than this are not written twice.
const LARGEST: usize = 60;

/// The function with such loops in two. A function that is nested too deeply comes back as it is.
fn separated(function: &Function) -> Function {
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
            Stmt::Loop(l) => match strips(l) {
                Some(strips) => result.extend(strips.in_two(l, facts).map(Stmt::Loop)),
                None => {
                    let mut known = facts.clone();
                    known.enter(l);
                    result.push(Stmt::Loop(Loop { body: block(&l.body, &known), ..l.clone() }));
                }
            },
            other => result.push(other.map(&mut Expr::clone, &mut |body| block(body, facts))),
        }
    }
    result
}

/// What a loop over strips goes over.
struct Strips {
    /// How many rows there are.
    rows: Expr,
    /// Rows of a strip.
    height: i64,
}

/// The strips that a loop goes over, if there are lanes in them.
fn strips(l: &Loop) -> Option<Strips> {
    let plain = l.step == 1
        && l.lower == Expr::Int(0)
        && matches!(l.kind, LoopKind::Sequential | LoopKind::Parallel)
        && nodes(&l.body).count() <= LARGEST;
    let inner =
        nodes(&l.body).filter_map(|stmt| if let Stmt::Loop(inner) = stmt { Some(inner) } else { None });
    let found = inner
        .filter(|_| plain)
        .filter(|inner| inner.kind == LoopKind::Vector)
        .find_map(|inner| of_lanes(inner, &l.var))?;
    let bound = |more: i64| {
        let rows = found.rows.clone() + more;
        Poly::of(&simplify::tidy(&Expr::binary(BinaryOp::FloorDiv, rows, Expr::Int(found.height))))
    };
    let last = bound(-1)?.plus(1)?;
    let upper = Poly::of(&l.upper)?;
    (upper == last || Some(upper) == bound(found.height - 1)).then_some(found)
}

/// The strip that a loop over lanes runs through: `16 * it..min(rows, 16 * it + 16)`.
fn of_lanes(lanes: &Loop, strip: &Name) -> Option<Strips> {
    let Expr::Binary(BinaryOp::Min, a, b) = &lanes.upper else { return None };
    let first = Poly::of(&lanes.lower)?;
    let sides = [(a, b), (b, a)];
    sides.into_iter().find_map(|(rows, end)| {
        let height =
            Poly::of(end)?.sub(&first)?.as_constant().filter(|height| (2..=MOST_ROWS).contains(height))?;
        let begins = first == Poly::var(strip).scale(height)?;
        let fixed = is_stable(rows) && !rows.mentions(strip) && matches!(**rows, Expr::Var(_));
        (begins && fixed).then(|| Strips { rows: (**rows).clone(), height })
    })
}

impl Strips {
    /// The loop over whole strips, and the one over what is left.
    fn in_two(&self, l: &Loop, facts: &Facts) -> [Loop; 2] {
        let natural = Expr::binary(BinaryOp::Max, self.rows.clone(), Expr::Int(0));
        let whole = Expr::binary(BinaryOp::FloorDiv, natural, Expr::Int(self.height));
        let full = Loop { upper: whole.clone(), ..l.clone() };
        let mut known = facts.clone();
        known.enter(&full);
        let end = Expr::Var(l.var.clone()) * self.height + self.height;
        known.assume(&Expr::compare(CompareOp::Le, end, self.rows.clone()), true);
        let full = Loop { body: simplify::body_where(&full.body, &known), ..full };
        let kind = LoopKind::Sequential;
        [full, Loop { lower: whole, kind, reductions: Vec::new(), ..l.clone() }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(body: &str) -> String {
        let text = format!("fn f[n](a: in f64[n][n], y: inout f64[n]) {{ {body} }}");
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let after = PASS.run(&function);
        after
            .inspect(|new| assert!(loops::validate(new).is_proved(), "{new}"))
            .map_or_else(String::new, |f| f.to_string())
    }

    #[test]
    fn whole_strips_have_a_constant_number_of_lanes() {
        let text = after(
            "par it in 0..(n - 1) floordiv 16 + 1 { for j in 0..n { \
             vec i in 16 * it..min(n, 16 * it + 16) { S0: y[i] += a[i][j] } } }",
        );
        assert!(text.contains("par it in 0..max(n, 0) floordiv 16"), "{text}");
        assert!(text.contains("vec i in 16 * it..16 * it + 16 {"), "{text}");
        assert!(text.contains("for it in max(n, 0) floordiv 16..(n - 1) floordiv 16 + 1"), "{text}");
        assert!(text.contains("min(n, 16 * it + 16)"), "{text}");
    }

    #[test]
    fn other_loops_stay() {
        for body in [
            "for it in 0..(n - 1) floordiv 16 + 1 { for i in 16 * it..min(n, 16 * it + 16) { y[i] += 1.0 } }",
            "for it in 0..(n - 1) floordiv 8 + 1 { vec i in 8 * it..n { y[i] += 1.0 } }",
            "for it in 0..(n - 1) floordiv 512 + 1 { vec i in 512 * it..min(n, 512 * it + 512) { y[i] += 1.0 } }",
            "for it in 1..(n - 1) floordiv 16 + 1 { vec i in 16 * it..min(n, 16 * it + 16) { y[i] += 1.0 } }",
        ] {
            assert_eq!(after(body), "", "{body}");
        }
    }
}
