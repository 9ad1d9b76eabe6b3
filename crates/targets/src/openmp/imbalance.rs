//! Whether the iterations of a parallel loop differ in length, so that threads must not share them
//! out evenly.

use loops::{BinaryOp, Expr, Loop, Name, Stmt};

/// Whether an inner loop has other lengths in other iterations: either its beginning or its end
/// depends on the variable, not both.
pub(crate) fn uneven(l: &Loop) -> bool {
    Outer { var: &l.var, step: l.step.max(1) as f64 }.look(&l.body, &mut vec![&l.var])
}

/// Whether an expression has one of the variables in it, other than in a remainder.
fn follows(e: &Expr, vars: &[&Name]) -> bool {
    match e.children().next() {
        None => e.mentions_any(vars),
        Some(_) => !is_remainder(e) && e.children().any(|child| follows(child, vars)),
    }
}

/// Whether it is a remainder by a number, which differs by less than that.
pub(crate) fn is_remainder(e: &Expr) -> bool {
    matches!(e, Expr::Binary(BinaryOp::Mod | BinaryOp::Rem, _, by) if matches!(**by, Expr::Int(_)))
}

/// The parallel loop.
struct Outer<'a> {
    var: &'a Name,
    step: f64,
}

impl<'a> Outer<'a> {
    /// Whether a loop in these statements differs in length, if these variables differ.
    fn look(&self, body: &'a [Stmt], dependent: &mut Vec<&'a Name>) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::Loop(l) => {
                let low = follows(&l.lower, dependent);
                let high = if low { follows(&l.upper, dependent) } else { self.moves(&l.upper, dependent) };
                if low && high {
                    dependent.push(&l.var);
                }
                low != high || self.look(&l.body, dependent)
            }
            _ => stmt.bodies().into_iter().any(|b| self.look(b, dependent)),
        })
    }

    /// Whether an end depends on one of the variables other than by cutting off a tile at the edge:
    /// `min(32, n - t)` with `t` in steps of 32.
    fn moves(&self, e: &Expr, vars: &[&Name]) -> bool {
        match e {
            Expr::Binary(BinaryOp::Min, a, b) => match (self.moves(a, vars), self.moves(b, vars)) {
                (true, true) => true,
                (false, false) => false,
                (true, false) => self.more_than_edge(a, b),
                (false, true) => self.more_than_edge(b, a),
            },
            _ if e.children().next().is_none() => e.mentions_any(vars),
            _ if is_remainder(e) => false,
            _ => e.children().any(|c| self.moves(c, vars)),
        }
    }

    /// Whether the minimum of an end that moves and one that does not is short in more iterations
    /// than the last one: the moving end grows, or shrinks by less than the other in each
    /// iteration.
    fn more_than_edge(&self, moving: &Expr, fixed: &Expr) -> bool {
        match (self.slope(moving), fixed) {
            (Some(slope), _) if slope > 0.0 => true,
            (Some(slope), Expr::Int(length)) => slope < 0.0 && -slope * self.step < *length as f64,
            _ => false,
        }
    }

    /// By how much an expression grows with the variable, if that is plain.
    fn slope(&self, e: &Expr) -> Option<f64> {
        Some(match e {
            Expr::Int(_) => 0.0,
            Expr::Var(name) => f64::from(name == self.var),
            Expr::Binary(BinaryOp::Add, a, b) => self.slope(a)? + self.slope(b)?,
            Expr::Binary(BinaryOp::Sub, a, b) => self.slope(a)? - self.slope(b)?,
            Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
                (Expr::Int(k), other) | (other, Expr::Int(k)) => *k as f64 * self.slope(other)?,
                _ => return None,
            },
            Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Div, a, b) => match **b {
                Expr::Int(k) if k > 0 => self.slope(a)? / k as f64,
                _ => return None,
            },
            Expr::Binary(BinaryOp::Min, a, b) => {
                let (a, b) = (self.slope(a)?, self.slope(b)?);
                match (a == 0.0, b == 0.0) {
                    (false, true) => a,
                    (true, false) => b,
                    _ if a == b => a,
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use loops::{LoopKind, Stmt};

    use super::uneven;

    fn of(outer: &str, inner: &str) -> bool {
        let text = format!(
            "fn f[n](a: inout f64[n]) {{ par t in {outer} {{ for j in {inner} {{ a[t] += 1.0 }} }} }}"
        );
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let Stmt::Loop(l) = &function.body[0] else { panic!("a loop") };
        assert_eq!(l.kind, LoopKind::Parallel);
        uneven(l)
    }

    #[test]
    fn triangles_are_uneven_and_edges_are_not() {
        assert!(of("0..n", "0..t + 1"));
        assert!(of("0..n", "t..n"));
        assert!(!of("0..n", "0..n"));
        assert!(!of("0..n", "t mod 2..n"));
        assert!(!of("0..n step 32", "0..min(32, n - t)"));
        assert!(!of("0..n step 30", "0..min(5, (n - t + 5) floordiv 6)"));
        assert!(of("0..n step 30", "0..min(192, (t + 37) floordiv 8)"));
        assert!(of("0..n step 30", "0..min(min((t + 37) floordiv 8, 192), (n + 7) floordiv 8)"));
        assert!(of("0..n step 30", "0..min(192, (n - t) floordiv 8)"));
    }
}
