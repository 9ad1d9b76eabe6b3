//! From which sizes on the result for a program is faster than its text.
//!
//! A result has to begin: it enters parallel loops, gets memory, packs operands. Where there is
//! little work, or an extent is too short for a tile, the text is faster on one thread. Both are
//! predicted at growing sizes.

use std::collections::HashMap;

use loops::poly::Poly;
use loops::{Access, Assign, Expr, Function, Loop, Name, Stmt};

use crate::cost::{ELEMENTS, cost_again, usual};
use crate::machine::Machine;

/// What has to hold of the sizes for the result to be the faster one: each product of extents is
/// more than a number.
pub type BreakEven = Vec<(Vec<Expr>, i64)>;

/// By how many times arrays grow from one prediction to the next.
const GROWTH: f64 = 2.0;

/// How many times as long as beginning the result the text must take. This and the numbers below
/// are measured: on the kernels of `tests/c/kernels` with extents of 4 to 128 on one thread,
/// through gcc and clang, they leave least where the result is slower.
const BEGINNINGS: f64 = 3.0;

/// How many times as long as the rest of the result it must take beside that, since predictions of
/// loops that caches hold are right to a factor of two. With 1.5, texts ran that took 1.6 to 2.9
/// times as long at extents of 48 to 64 (products with vectors, polynomials, recursive filters);
/// with this, a triangular sum takes 1.8 times as long at 32.
const MARGIN: f64 = 1.25;

/// A text that takes so many times as long as beginning the result does not lose much by it.
const MOST_BEGINNINGS: f64 = 30.0;

/// How many times as long as a result that packs operands the text must take. With 2, products of
/// 48 to 80 in each direction ran as text, which takes 1.7 times as long; with 1.4, a factorisation
/// of 24 takes 1.5 times as long as its text.
const PACKED: f64 = 1.6;

/// Cycles of a text from which on packing is no part of what a result has to do to begin.
const LONG: f64 = 200_000.0;

/// Cycles until the result of an addition can be used, on the processors where it is soonest.
const LATENCY: f64 = 2.0;

/// Columns of a product that fill a vector, and rows with which its operands are used again.
/// Measured: 200 x 8 x 16 takes as long as the text, 1000 x 3 x 3 three times; 1 x 200 x 200 takes
/// 1.3 times as long, 2 x 300 x 300 half.
const COLUMNS: i64 = 7;
const ROWS: i64 = 1;

/// Where the result for a text is predicted to be the faster one on one thread; nothing where it
/// always is. Of a result that `packs` operands, the work for that counts as well.
pub fn break_even(text: &Function, result: &Function, packs: bool, machine: &Machine) -> BreakEven {
    let machine = Machine { latency: LATENCY, ..machine.one_thread() };
    let slow = |elements: f64| {
        let of = |size: &Name| usual(text, size, elements);
        let (text, result) = (cost_again(text, &machine, &of).cycles(), cost_again(result, &machine, &of));
        let (forks, rest) = (result.forks, result.cycles() - result.forks);
        match packs {
            true => text <= LONG && text <= PACKED * result.cycles(),
            false => text <= MARGIN * rest + BEGINNINGS * forks && text <= MOST_BEGINNINGS * forks,
        }
    };
    let scales = std::iter::successors(Some(GROWTH), |elements| Some(elements * GROWTH));
    let last = scales.take_while(|elements| *elements < ELEMENTS).filter(|elements| slow(*elements)).last();
    let at = |size: &Name| usual(text, size, last.unwrap_or(1.0) * GROWTH.sqrt());
    let iterations = nests(text).into_iter().filter_map(|nest| {
        let all = nest.extents.iter().map(|extent| value(extent, &at)).product::<Option<f64>>()?;
        Some((nest, all))
    });
    let Some((nest, all)) = iterations.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
    let mut needs = Vec::new();
    if last.is_some() && all >= 2.0 {
        needs.push((nest.extents.clone(), two_digits(all)));
    }
    if packs {
        let [columns, rows] = nest.sides();
        let same = columns.0 == rows.0;
        let sides = [columns, rows].into_iter().take(if same { 1 } else { 2 });
        needs.extend(sides.filter(|(extents, _)| !extents.is_empty()));
    }
    needs
}

/// A number with two digits that are not 0.
fn two_digits(x: f64) -> i64 {
    let unit = 10f64.powf((x.log10().floor() - 1.0).max(0.0));
    ((x / unit).round() * unit) as i64
}

/// The value of a sum of products of sizes.
fn value(e: &Expr, of: &dyn Fn(&Name) -> f64) -> Option<f64> {
    let poly = Poly::of(e)?;
    let mut sum = 0.0;
    for (monomial, coefficient) in poly.terms() {
        let mut product = coefficient as f64;
        for atom in monomial.expanded() {
            let Expr::Var(name) = atom else { return None };
            product *= of(name);
        }
        sum += product;
    }
    Some(sum)
}

/// The loops around an assignment.
struct Nest<'a> {
    /// Their extents, as sums of products of sizes: the longest that each can be. Loops whose
    /// bounds are of another form are left out.
    extents: Vec<Expr>,
    /// Their variables.
    vars: Vec<&'a Name>,
    assign: &'a Assign,
}

impl Nest<'_> {
    /// For the columns and the rows of the element that is stored, what their numbers have to
    /// exceed. Rows are those for which no element that is read is another one in each column: the
    /// rows of an image that a window goes over are none.
    fn sides(&self) -> [(Vec<Expr>, i64); 2] {
        let (last, others) = match self.assign.target.indices.split_last() {
            Some((last, others)) => (std::slice::from_ref(last), others),
            None => (&[][..], &[][..]),
        };
        let mentions = |indices: &[Expr], var: &Name| indices.iter().any(|i| i.mentions(var));
        let is_column = |var: &Name| mentions(last, var);
        let of = |holds: &dyn Fn(&Name) -> bool| -> Vec<Expr> {
            let own = self.vars.iter().zip(&self.extents);
            own.filter(|(var, _)| holds(var)).map(|(_, e)| e.clone()).collect()
        };
        let both = |var: &Name| {
            let columns = || self.vars.iter().filter(|column| is_column(column));
            let in_both = |load: &Access| {
                mentions(&load.indices, var) && columns().any(|column| mentions(&load.indices, column))
            };
            self.assign.value.loads().any(in_both)
        };
        let free = of(&|var| mentions(others, var) && !both(var));
        let rows = if free.is_empty() { of(&|var| mentions(others, var)) } else { free };
        [(of(&is_column), COLUMNS), (rows, ROWS)]
    }
}

fn nests(function: &Function) -> Vec<Nest<'_>> {
    let mut all = Vec::new();
    nests_of(&function.body, &mut HashMap::new(), &mut (Vec::new(), Vec::new()), &mut all);
    all
}

/// The least and the greatest value of each loop variable.
type Around = HashMap<Name, (Poly, Poly)>;

fn nests_of<'a>(
    body: &'a [Stmt],
    around: &mut Around,
    loops: &mut (Vec<Expr>, Vec<&'a Name>),
    all: &mut Vec<Nest<'a>>,
) {
    for stmt in body {
        match stmt {
            Stmt::Loop(l) => {
                let range = bounds(l, around);
                let extent = range.as_ref().and_then(|(low, high)| high.sub(low)?.plus(1)?.to_expr(&[]));
                let depth = loops.0.len();
                if let Some(extent) = extent {
                    loops.0.push(extent);
                    loops.1.push(&l.var);
                }
                around.extend(range.map(|range| (l.var.clone(), range)));
                nests_of(&l.body, around, loops, all);
                around.remove(&l.var);
                loops.0.truncate(depth);
                loops.1.truncate(depth);
            }
            Stmt::Assign(assign) if !loops.0.is_empty() => {
                all.push(Nest { extents: loops.0.clone(), vars: loops.1.clone(), assign });
            }
            other => {
                other.bodies().into_iter().for_each(|body| nests_of(body, around, loops, all));
            }
        }
    }
}

/// The least and the greatest value of a loop's variable.
fn bounds(l: &Loop, around: &Around) -> Option<(Poly, Poly)> {
    let low = extreme(Poly::of(&l.lower)?, around, true)?;
    let high = extreme(Poly::of(&l.upper)?.plus(-1)?, around, false)?;
    Some((low, high))
}

/// A bound without loop variables: with the end of each that makes it least, or greatest.
fn extreme(mut bound: Poly, around: &Around, least: bool) -> Option<Poly> {
    loop {
        let atoms: Vec<Expr> = bound.atoms().into_iter().cloned().collect();
        let named = |atom: &Expr| match atom {
            Expr::Var(name) => Some(around.get(name)),
            _ => None,
        };
        let mut inner = None;
        for atom in &atoms {
            if let Some((low, high)) = named(atom)? {
                inner = Some((atom, low, high));
            }
        }
        let Some((atom, low, high)) = inner else { return Some(bound) };
        let (factor, _) = bound.split(atom)?;
        let end = if (factor.as_constant()? > 0) == least { low } else { high };
        bound = bound.replace(atom, end)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Function {
        loops::parse(text).unwrap().functions.remove(0)
    }

    #[test]
    fn a_result_that_has_to_begin_needs_work() {
        let text = read("fn f[n](a: inout f64[n]) { for i in 0..n { a[i] *= 2.0 } }");
        let result = read("fn f[n](a: inout f64[n]) { par i in 0..n { a[i] *= 2.0 } }");
        let machine = Machine::default();
        let needs = break_even(&text, &result, false, &machine);
        assert_eq!(needs.len(), 1);
        assert_eq!(needs[0].0, [Expr::var("n")]);
        assert!(needs[0].1 > 100, "{needs:?}");
        assert_eq!(break_even(&text, &text, false, &machine), []);
    }

    fn cycles(text: &str, size: f64) -> f64 {
        cost_again(&read(text), &Machine::default().one_thread(), &|_| size).cycles()
    }

    #[test]
    fn a_result_that_gains_less_begins_later() {
        let text = read(
            "fn f[n](a: in f64[n][n], b: inout f64[n][n]) { for i in 0..n { for j in 0..n { b[i][j] = a[j][i] * a[j][i] * 3.0 } } }",
        );
        let same = read(
            "fn f[n](a: in f64[n][n], b: inout f64[n][n]) { par i in 0..n { for j in 0..n { b[i][j] = a[j][i] * a[j][i] * 3.0 } } }",
        );
        let fast = read(
            "fn f[n](a: in f64[n][n], b: inout f64[n][n]) { par i in 0..n { for j in 0..n { b[i][j] = a[i][j] } } }",
        );
        let machine = Machine::default();
        let [same, fast] = [same, fast].map(|result| break_even(&text, &result, false, &machine)[0].1);
        assert!(same > 4 * fast, "{same} {fast}");
    }

    #[test]
    fn sums_of_short_rows_overlap() {
        let sums = "fn f[n, m](a: in f64[n][m], s: inout f64[n]) { for i in 0..n { for j in 0..m { s[i] += a[i][j] } } }";
        let of = |columns: f64| {
            let size = |name: &Name| if name.as_str() == "m" { columns } else { 4096.0 / columns };
            cost_again(&read(sums), &Machine::default().one_thread(), &size).cycles()
        };
        assert!(1.5 * of(32.0) < of(512.0), "{} {}", of(32.0), of(512.0));
    }

    #[test]
    fn what_is_read_once_is_not_waited_for() {
        let own = "fn f[n](a: inout f64[n][n], b: in f64[n][n]) { for i in 0..n { for j in 0..i { for k in 0..j { a[i][j] += a[i][k] * a[j][k] } } } }";
        let other = own.replace("a[i][k] * a[j][k]", "b[i][k] * b[j][k]");
        assert!(cycles(own, 100.0) < 1.2 * cycles(&other, 100.0));
    }

    #[test]
    fn lines_in_caches_are_not_moved() {
        let copy = "fn f[n](a: in f64[n], b: inout f64[n]) { for i in 0..n { b[i] = a[i] } }";
        let each = |size: f64| cycles(copy, size) / size;
        assert!(1.5 * each(2000.0) < each(1_000_000.0), "{} {}", each(2000.0), each(1_000_000.0));
    }

    #[test]
    fn a_product_needs_rows_and_columns() {
        let text = read(
            "fn f[n, m, l](a: in f64[n][l], b: in f64[l][m], c: inout f64[n][m]) { for i in 0..n { for j in 0..m { for k in 0..l { c[i][j] += a[i][k] * b[k][j] } } } }",
        );
        let needs = break_even(&text, &text, true, &Machine::default());
        let sides = [(vec![Expr::var("m")], COLUMNS), (vec![Expr::var("n")], ROWS)];
        assert_eq!(needs[needs.len() - 2..], sides);
    }

    #[test]
    fn extents_of_triangles_are_those_of_the_square_around_them() {
        let text = read(
            "fn f[n](a: inout f64[n][n]) { for i in 1..n { for j in i..n { for k in 0..j - i { a[i][j] *= 2.0 } } } }",
        );
        let shown: Vec<String> = nests(&text)[0].extents.iter().map(|e| format!("{e:?}")).collect();
        let squares = ["n - 1", "n - 1", "n - 2"]
            .map(|e| format!("{:?}", read(&format!("fn f[n](a: inout f64[{e}]) {{ }}")).params[0].dims[0]));
        assert_eq!(shown, squares);
    }
}
