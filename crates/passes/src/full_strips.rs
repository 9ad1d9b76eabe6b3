//! Loops over strips of rows, in two: whole strips, whose loops have as many iterations as a strip
//! has rows, and what is left of the last one.
//!
//! In `for it in 0..(n - 1) floordiv 16 + 1 { vec i in 16 * it..min(n, 16 * it + 16) { .. } }` a
//! compiler does not know how many lanes there are, so each visit of the loop over lanes asks, and
//! sums of the strip are stored and loaded again. Where the number is known, they stay in
//! registers. Every iteration runs as before, and in the same order.
//!
//! Columns of a band, `for j { vec i in max(16 * it, j - w)..min(16 * it + 16, j + w + 1) { .. }
//! }`, are divided likewise: those that reach all rows of a strip are a loop of their own.
//!
//! Strips may also be those of a block, `8 * b..min(8 * b + 8, (n - 1) floordiv 16 + 1)`. Left out:
//! large bodies, which would be there twice.

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
    /// Where the strips end, if that is not only where the rows do.
    end: Option<Expr>,
}

/// The strips that a loop goes over, if there are lanes in them.
fn strips(l: &Loop) -> Option<Strips> {
    let plain = l.step == 1
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
    let is_last = |e: &Expr| Poly::of(e).is_some_and(|e| e == last || Some(e) == bound(found.height - 1));
    match &l.upper {
        e if is_last(e) => (l.lower == Expr::Int(0)).then_some(found),
        Expr::Binary(BinaryOp::Min, a, b) => {
            let end = [(a, b), (b, a)].into_iter().find_map(|(a, b)| is_last(a).then(|| (**b).clone()))?;
            let stable = is_stable(&l.lower) && is_stable(&end);
            stable.then_some(Strips { end: Some(end), ..found })
        }
        _ => None,
    }
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
        (begins && fixed).then(|| Strips { rows: (**rows).clone(), height, end: None })
    })
}

impl Strips {
    /// The loop over whole strips, and the one over what is left.
    fn in_two(&self, l: &Loop, facts: &Facts) -> [Loop; 2] {
        let natural = Expr::binary(BinaryOp::Max, self.rows.clone(), Expr::Int(0));
        let whole = Expr::binary(BinaryOp::FloorDiv, natural, Expr::Int(self.height));
        let upper = match &self.end {
            Some(end) => Expr::binary(BinaryOp::Min, end.clone(), whole.clone()),
            None => whole.clone(),
        };
        let full = Loop { upper, ..l.clone() };
        let mut known = facts.clone();
        known.enter(&full);
        let end = Expr::Var(l.var.clone()) * self.height + self.height;
        known.assume(&Expr::compare(CompareOp::Le, end, self.rows.clone()), true);
        let body = simplify::body_where(&full.body, &known).iter().flat_map(columns_of_band).collect();
        let full = Loop { body, ..full };
        let lower = match &self.end {
            Some(_) => Expr::binary(BinaryOp::Max, l.lower.clone(), whole),
            None => whole,
        };
        let kind = LoopKind::Sequential;
        [full, Loop { lower, kind, reductions: Vec::new(), ..l.clone() }]
    }
}

/// The columns of a band in up to three loops: those that reach all rows of a strip are the second.
/// Anything else stays as it is.
fn columns_of_band(stmt: &Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::Loop(l) => match in_three(l) {
            Some(loops) => loops.into_iter().map(Stmt::Loop).collect(),
            None => vec![stmt.clone()],
        },
        other => vec![other.clone()],
    }
}

fn in_three(l: &Loop) -> Option<Vec<Loop>> {
    let [Stmt::Loop(lanes)] = l.body.as_slice() else { return None };
    let plain = l.step == 1
        && lanes.step == 1
        && (l.kind, lanes.kind) == (LoopKind::Sequential, LoopKind::Vector)
        && is_stable(&l.lower)
        && is_stable(&l.upper);
    let low = Side::of(&lanes.lower, BinaryOp::Max, &l.var);
    let high = Side::of(&lanes.upper, BinaryOp::Min, &l.var);
    let (first, last) = (low.row(&lanes.lower), high.row(&lanes.upper));
    let height = Poly::of(last)?.sub(&Poly::of(first)?)?.as_constant()?;
    if !plain || first.mentions(&l.var) || last.mentions(&l.var) || !(2..=MOST_ROWS).contains(&height) {
        return None;
    }
    // From where on, and up to where, columns reach all rows.
    let from = high.moving.map(|by| simplify::tidy(&(last.clone() - by)));
    let to = low.moving.map(|by| simplify::tidy(&(first.clone() - by + 1)));
    let of = |op: BinaryOp, a: &Expr, b: &Option<Expr>| match b {
        Some(b) => Expr::binary(op, a.clone(), b.clone()),
        None => a.clone(),
    };
    let whole = Loop { lower: first.clone(), upper: last.clone(), ..lanes.clone() };
    let whole = Loop {
        lower: of(BinaryOp::Max, &l.lower, &from),
        upper: of(BinaryOp::Min, &l.upper, &to),
        body: vec![Stmt::Loop(whole)],
        ..l.clone()
    };
    let before = from.as_ref().map(|_| Loop { upper: of(BinaryOp::Min, &l.upper, &from), ..l.clone() });
    let behind = to.as_ref().map(|_| {
        let lower = of(BinaryOp::Max, &of(BinaryOp::Max, &l.lower, &from), &to);
        Loop { lower, ..l.clone() }
    });
    let several = before.is_some() || behind.is_some();
    several.then(|| before.into_iter().chain([whole]).chain(behind).collect())
}

/// An end of a loop over rows: a row, or where a column reaches that, a number of rows from it.
struct Side<'a> {
    row: Option<&'a Expr>,
    /// How far the end is from the column, where that decides.
    moving: Option<Expr>,
}

impl<'a> Side<'a> {
    fn of(end: &'a Expr, op: BinaryOp, column: &Name) -> Side<'a> {
        let whole = Side { row: None, moving: None };
        let Expr::Binary(own, a, b) = end else { return whole };
        if *own != op {
            return whole;
        }
        let sides = [(a, b), (b, a)].into_iter();
        let found = sides.filter(|(row, other)| !row.mentions(column) && is_stable(row) && is_stable(other));
        let mut found = found.filter_map(|(row, other)| {
            let by = Poly::of(other)?.sub(&Poly::var(column))?.to_expr(&[])?;
            (!by.mentions(column)).then_some(Side { row: Some(&**row), moving: Some(by) })
        });
        found.next().unwrap_or(whole)
    }

    /// The row, where the column does not decide.
    fn row(&self, end: &'a Expr) -> &'a Expr {
        self.row.unwrap_or(end)
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
    fn strips_of_a_block_end_with_it() {
        let text = after(
            "for b in 0..(n - 1) floordiv 128 + 1 { for it in 8 * b..min(8 * b + 8, (n - 1) floordiv 16 + 1) { \
             for j in 0..n { vec i in 16 * it..min(n, 16 * it + 16) { S0: y[i] += a[i][j] } } } }",
        );
        assert!(text.contains("for it in 8 * b..min(8 * b + 8, max(n, 0) floordiv 16)"), "{text}");
        assert!(text.contains("vec i in 16 * it..16 * it + 16 {"), "{text}");
        let rest = "for it in max(8 * b, max(n, 0) floordiv 16)..min(8 * b + 8, (n - 1) floordiv 16 + 1)";
        assert!(text.contains(rest), "{text}");
    }

    #[test]
    fn columns_of_a_band_that_reach_all_rows_are_apart() {
        let text = after(
            "par it in 0..(n - 1) floordiv 16 + 1 { vec i in 16 * it..min(n, 16 * it + 16) { y[i] = 0.0 } \
             for j in max(0, 16 * it - 50)..min(n, 16 * it + 66) { \
             vec i in max(16 * it, j - 50)..min(min(n, 16 * it + 16), j + 51) { S0: y[i] += a[i][j] } } }",
        );
        let at = |of: &str| text.find(of).unwrap_or_else(|| panic!("no {of} in {text}"));
        let before = at("vec i in max(16 * it, j - 50)..min(16 * it + 16, j + 51) {");
        let whole = at("max(0, 16 * it - 50), 16 * it - 35)..min(min(n, 16 * it + 66), 16 * it + 51) {");
        assert!(before < whole && text[whole..].contains("vec i in 16 * it..16 * it + 16 {"), "{text}");
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
