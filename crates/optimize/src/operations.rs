//! Floating-point operations of a run, counted without running it.

use std::collections::BTreeMap;

use loops::visit::with_distinct_locals;
use loops::{Expr, Function, Loop, Name, Scalar, Stmt, Types, UnaryOp, Value, evaluate};

/// Statements that are looked at: some seconds.
const STEPS: u64 = 10_000_000;

/// Floating-point operations of a function with these sizes, by type.
///
/// Sums, products, quotients, roots, minima and the functions of `math.h` count once; signs do not
/// count. Loops whose variable has no part in the bounds and conditions inside are counted by one
/// of their iterations, so the time is that of the loops around these.
///
/// Nothing where data decides how often something is done, or where that would take too long.
pub fn operations(function: &Function, sizes: &BTreeMap<Name, i64>) -> Option<BTreeMap<Scalar, u64>> {
    let function = with_distinct_locals(function);
    let mut count =
        Count { types: Types::of_all(&function), values: sizes.clone(), steps: STEPS, given: sizes };
    let found = count.body(&function.body)?;
    Some(found.into_iter().filter(|(_, operations)| *operations > 0).collect())
}

type Operations = BTreeMap<Scalar, u64>;

fn add(all: &mut Operations, more: &Operations, times: u64) -> Option<()> {
    for (scalar, operations) in more {
        let known = all.entry(*scalar).or_default();
        *known = known.checked_add(operations.checked_mul(times)?)?;
    }
    Some(())
}

struct Count<'a> {
    types: Types,
    /// Of sizes and of the variables of the loops around.
    values: BTreeMap<Name, i64>,
    given: &'a BTreeMap<Name, i64>,
    /// What may still be looked at.
    steps: u64,
}

impl Count<'_> {
    fn body(&mut self, body: &[Stmt]) -> Option<Operations> {
        let mut all = Operations::new();
        for stmt in body {
            self.steps = self.steps.checked_sub(1)?;
            let found = match stmt {
                Stmt::Assign(assign) => {
                    let mut found = self.expr(&assign.value)?;
                    let scalar = self.types.access(&assign.target).ok()?.as_scalar()?;
                    if assign.update.is_some() && scalar.is_float() {
                        *found.entry(scalar).or_default() += 1;
                    }
                    found
                }
                Stmt::Loop(l) => self.iterations(l)?,
                Stmt::If { cond, then, otherwise } => {
                    let mut found = self.expr(cond)?;
                    let (then, otherwise) = match self.value(cond) {
                        Some(Value::Bool(true)) => (self.body(then)?, None),
                        Some(Value::Bool(false)) => (self.body(otherwise)?, None),
                        _ => (self.body(then)?, Some(self.body(otherwise)?)),
                    };
                    add(&mut found, &either(then, otherwise)?, 1)?;
                    found
                }
                Stmt::Block { body, .. } => self.body(body)?,
                Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => continue,
            };
            add(&mut all, &found, 1)?;
        }
        Some(all)
    }

    fn iterations(&mut self, l: &Loop) -> Option<Operations> {
        let (Value::I64(lower), Value::I64(upper)) = (self.value(&l.lower)?, self.value(&l.upper)?) else {
            return None;
        };
        let mut all = Operations::new();
        if lower >= upper {
            return Some(all);
        }
        self.types.declare_var(&l.var);
        let trips = upper.abs_diff(lower).div_ceil(l.step.unsigned_abs().max(1));
        let alike = !decides(&l.body, &l.var);
        let (looked_at, times) = if alike { (1, trips) } else { (trips, 1) };
        let mut at = lower;
        for _ in 0..looked_at {
            self.values.insert(l.var.clone(), at);
            let found = self.body(&l.body)?;
            add(&mut all, &found, times)?;
            at = at.saturating_add(l.step);
        }
        match self.given.get(&l.var) {
            Some(size) => self.values.insert(l.var.clone(), *size),
            None => self.values.remove(&l.var),
        };
        Some(all)
    }

    fn value(&self, e: &Expr) -> Option<Value> {
        evaluate::expr(e, &|name| self.values.get(name).copied()).ok()
    }

    fn expr(&self, e: &Expr) -> Option<Operations> {
        let mut all = Operations::new();
        match e {
            // Subscripts compute no floating-point numbers.
            Expr::Load(_) => return Some(all),
            Expr::Select(cond, then, otherwise) => {
                add(&mut all, &self.expr(cond)?, 1)?;
                let (then, otherwise) = match self.value(cond) {
                    Some(Value::Bool(true)) => (self.expr(then)?, None),
                    Some(Value::Bool(false)) => (self.expr(otherwise)?, None),
                    _ => (self.expr(then)?, Some(self.expr(otherwise)?)),
                };
                add(&mut all, &either(then, otherwise)?, 1)?;
                return Some(all);
            }
            _ => {}
        }
        for child in e.children() {
            add(&mut all, &self.expr(child)?, 1)?;
        }
        let counts = match e {
            Expr::Unary(op, _) => !matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Bits | UnaryOp::Not),
            Expr::Binary(..) | Expr::Call { .. } => true,
            _ => false,
        };
        if counts {
            let scalar = self.types.type_of(e).ok()?;
            if scalar.is_float() {
                *all.entry(scalar).or_default() += 1;
            }
        }
        Some(all)
    }
}

/// What both sides do, where data chooses one of them.
fn either(then: Operations, otherwise: Option<Operations>) -> Option<Operations> {
    otherwise.is_none_or(|otherwise| otherwise == then).then_some(then)
}

/// Whether a variable has a part in a bound or a condition.
fn decides(body: &[Stmt], var: &Name) -> bool {
    let chooses = |e: &Expr| e.nodes().any(|e| matches!(e, Expr::Select(cond, ..) if cond.mentions(var)));
    loops::visit::nodes(body).any(|stmt| match stmt {
        Stmt::Loop(l) => l.lower.mentions(var) || l.upper.mentions(var),
        Stmt::If { cond, .. } => cond.mentions(var),
        stmt => stmt.exprs().into_iter().any(chooses),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(body: &str, n: i64) -> Option<Vec<(Scalar, u64)>> {
        let text =
            format!("fn f[n](a: inout f64[n][n], x: in f32[n], s: inout f32, k: in i64[n]) {{ {body} }}");
        let function = loops::parse(&text).expect("it is a program").functions.remove(0);
        let found = operations(&function, &BTreeMap::from([(Name::new("n"), n)]))?;
        Some(found.into_iter().collect())
    }

    #[test]
    fn rectangles_and_triangles() {
        let square = "for i in 0..n { for j in 0..n { a[i][j] = a[i][j] * 2.0f64 + 1.0f64 } }";
        assert_eq!(counted(square, 1000), Some(vec![(Scalar::F64, 2_000_000)]));
        assert_eq!(counted(square, 0), Some(Vec::new()));
        let triangle = "for i in 0..n { for j in 0..i { for k in 0..j { a[i][j] += a[i][k] * a[j][k] } } }";
        assert_eq!(counted(triangle, 200), Some(vec![(Scalar::F64, 2 * 200 * 199 * 198 / 6)]));
        let strided = "for i in 0..n step 3 { s += sqrt(-x[i]) }";
        assert_eq!(counted(strided, 10), Some(vec![(Scalar::F32, 8)]));
    }

    #[test]
    fn conditions_on_places_are_decided() {
        let guarded = "for i in 0..n { if i >= 4 { s += x[i - 4] } }";
        assert_eq!(counted(guarded, 10), Some(vec![(Scalar::F32, 6)]));
        let chosen = "for i in 0..n { s = select(i < 3, x[i] * 2.0f32, x[i]) }";
        assert_eq!(counted(chosen, 10), Some(vec![(Scalar::F32, 3)]));
    }

    #[test]
    fn what_data_decides_is_not_counted() {
        assert_eq!(counted("for i in 0..n { if x[i] > 0.0f32 { s += x[i] } }", 10), None);
        assert_eq!(counted("for i in 0..n { for j in 0..k[i] { s += x[j] } }", 10), None);
        let alike = "for i in 0..n { if x[i] > 0.0f32 { s += x[i] } else { s += -x[i] } }";
        assert_eq!(counted(alike, 10), Some(vec![(Scalar::F32, 10)]));
        let far = "for i in 0..n { for j in 0..n { for k in i + j..n { s += x[k] } } }";
        assert_eq!(counted(far, 100_000), None);
    }
}
