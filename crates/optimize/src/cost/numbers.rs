//! Values of index expressions at sampled iterations.

use std::collections::HashMap;

use loops::{BinaryOp, CompareOp, Expr, Loop, Name, UnaryOp};

/// Iterations that are looked at.
pub(super) const SAMPLES: usize = 16;

/// One number for each sample.
type Row = [f64; SAMPLES];

/// Values of sizes and loop variables at sampled iterations.
///
/// Each sample chooses an iteration of every loop around the place, all of a loop with the same
/// probability. Its weight is the number of iterations that it stands for, relative to the others:
/// so the mean length of a triangular loop is found, and how often a condition holds.
#[derive(Clone, Debug)]
pub(super) struct Values {
    rows: HashMap<Name, Row>,
    weights: Row,
    /// Loops around the place, outermost first: the first value of each, and how far the samples
    /// are behind it. Nothing where data gives it.
    loops: Vec<(Name, Option<(Expr, Row)>)>,
    /// Whether the program runs on one thread.
    pub one_thread: bool,
}

impl Default for Values {
    fn default() -> Values {
        Values { rows: HashMap::new(), weights: [1.0; SAMPLES], loops: Vec::new(), one_thread: false }
    }
}

impl Values {
    pub fn set(&mut self, name: &Name, value: f64) {
        self.rows.insert(name.clone(), [value; SAMPLES]);
    }

    /// Into a loop: its mean number of iterations. `None` for bounds that data gives.
    pub fn enter(&mut self, l: &Loop) -> Option<f64> {
        let step = l.step.max(1) as f64;
        let (Some(lower), Some(upper)) = (self.of(&l.lower), self.of(&l.upper)) else {
            self.rows.insert(l.var.clone(), [0.0; SAMPLES]);
            self.loops.push((l.var.clone(), None));
            return None;
        };
        let trips: Row = std::array::from_fn(|s| ((upper[s] - lower[s]) / step).ceil().max(0.0));
        let mean = self.mean(&trips);
        let points = self.points();
        let behind: Row = std::array::from_fn(|s| step * (points[s] * trips[s]).floor());
        let at = std::array::from_fn(|s| lower[s] + behind[s]);
        self.rows.insert(l.var.clone(), at);
        self.loops.push((l.var.clone(), Some((l.lower.clone(), behind))));
        self.weigh(&trips);
        Some(mean)
    }

    /// Out of a loop, to what was known before it.
    pub fn leave(&mut self, l: &Loop, weights: Row) {
        self.loops.pop();
        self.weights = weights;
        self.rows.remove(&l.var);
    }

    /// How much the samples stand for.
    pub fn weights(&self) -> Row {
        self.weights
    }

    /// Back to these weights.
    pub(crate) fn set_weights(&mut self, weights: Row) {
        self.weights = weights;
    }

    /// Into a branch of a condition: how often it is taken. Half of the time if data decides.
    pub(crate) fn enter_branch(&mut self, cond: &Expr, holds: bool) -> f64 {
        let Some(row) = self.of(cond) else { return 0.5 };
        let taken = row.map(|holds_here| if (holds_here > 0.0) == holds { 1.0 } else { 0.0 });
        let share = self.mean(&taken);
        self.weigh(&taken);
        share
    }

    /// Points in 0..1 for the next loop: evenly spread, and for the loops together too (a Kronecker
    /// sequence).
    fn points(&self) -> Row {
        let depth = self.loops.len() as i32;
        let angle = 1.0 / 1.324_717_957_244_746_f64.powi(depth + 1);
        std::array::from_fn(|s| match depth {
            0 => (s as f64 + 0.5) / SAMPLES as f64,
            _ => (0.5 + (s as f64 + 1.0) * angle).fract(),
        })
    }

    fn mean(&self, row: &Row) -> f64 {
        let all: f64 = self.weights.iter().sum();
        let sum: f64 = self.weights.iter().zip(row).map(|(w, x)| w * x).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    }

    fn weigh(&mut self, by: &Row) {
        self.weights.iter_mut().zip(by).for_each(|(w, x)| *w *= x);
        // Only relations count; numbers stay in range.
        let most = self.weights.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            self.weights.iter_mut().for_each(|w| *w /= most);
        }
    }

    /// The sample that stands for most.
    fn heaviest(&self) -> usize {
        (0..SAMPLES).max_by(|a, b| self.weights[*a].total_cmp(&self.weights[*b])).unwrap_or(0)
    }

    /// The value of an expression at the sample that stands for most.
    pub fn usual(&self, e: &Expr) -> Option<f64> {
        self.of(e).map(|row| row[self.heaviest()])
    }

    /// The values of an expression; nothing if data has a part in it. Those of a condition are 1 or
    /// 0.
    fn of(&self, e: &Expr) -> Option<Row> {
        let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
        let each =
            |a: &Row, b: &Row, f: &dyn Fn(f64, f64) -> f64| -> Row { std::array::from_fn(|s| f(a[s], b[s])) };
        Some(match e {
            Expr::Int(value) => [*value as f64; SAMPLES],
            Expr::I32(value) => [f64::from(*value); SAMPLES],
            Expr::Bool(value) => [truth(*value); SAMPLES],
            e if e.is_one_thread() => [truth(self.one_thread); SAMPLES],
            Expr::Var(name) => *self.rows.get(name)?,
            Expr::Unary(UnaryOp::Neg, a) => self.of(a)?.map(|x| -x),
            Expr::Unary(UnaryOp::Abs, a) => self.of(a)?.map(f64::abs),
            Expr::Unary(UnaryOp::Not, a) => self.of(a)?.map(|x| 1.0 - x),
            Expr::Cast(_, a) => self.of(a)?,
            Expr::Select(cond, a, b) => {
                let (cond, a, b) = (self.of(cond)?, self.of(a)?, self.of(b)?);
                std::array::from_fn(|s| if cond[s] > 0.0 { a[s] } else { b[s] })
            }
            Expr::Compare(op, a, b) => {
                let holds: fn(&f64, &f64) -> bool = match op {
                    CompareOp::Eq => f64::eq,
                    CompareOp::Ne => f64::ne,
                    CompareOp::Lt => f64::lt,
                    CompareOp::Le => f64::le,
                    CompareOp::Gt => f64::gt,
                    CompareOp::Ge => f64::ge,
                };
                each(&self.of(a)?, &self.of(b)?, &|a, b| truth(holds(&a, &b)))
            }
            Expr::Binary(op, a, b) => {
                let of = binary(*op)?;
                each(&self.of(a)?, &self.of(b)?, &of)
            }
            _ => return None,
        })
    }

    /// By how much an expression grows when a variable does by one, and with it the loops inside
    /// whose bounds follow it; nothing if data has a part in it.
    pub fn growth(&self, e: &Expr, var: &Name) -> Option<f64> {
        let mut next = self.clone();
        next.rows.get_mut(var)?.iter_mut().for_each(|x| *x += 1.0);
        let inside = self.loops.iter().skip_while(|(name, _)| name != var).skip(1);
        for (name, first) in inside {
            if let Some((lower, behind)) = first
                && let Some(lower) = next.of(lower)
            {
                next.rows.insert(name.clone(), std::array::from_fn(|s| lower[s] + behind[s]));
            }
        }
        Some(next.usual(e)? - self.usual(e)?)
    }

    /// Whether an expression that reads data may have another value when a variable does: it has
    /// the variable in it, a loop variable whose bounds may follow that, or a scalar.
    pub fn follows(&self, e: &Expr, var: &Name) -> bool {
        let place = |name: &Name| self.loops.iter().position(|(other, _)| other == name);
        let inside = |name: &Name| {
            let Some(own) = place(name).filter(|own| Some(*own) > place(var)) else { return false };
            self.loops[own].1.is_none() || self.growth(&Expr::Var(name.clone()), var) != Some(0.0)
        };
        e.loads().any(|access| access.indices.is_empty())
            || e.vars().into_iter().any(|name| name == *var || inside(&name))
    }

    /// The names that have values.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.rows.keys()
    }
}

fn binary(op: BinaryOp) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        BinaryOp::Add => |a, b| a + b,
        BinaryOp::Sub => |a, b| a - b,
        BinaryOp::Mul => |a, b| a * b,
        BinaryOp::Min | BinaryOp::And => f64::min,
        BinaryOp::Max | BinaryOp::Or => f64::max,
        BinaryOp::Div => |a, b| if b == 0.0 { 0.0 } else { (a / b).trunc() },
        BinaryOp::FloorDiv => |a, b| if b == 0.0 { 0.0 } else { (a / b).floor() },
        BinaryOp::Mod => |a, b| if b == 0.0 { a } else { a - b * (a / b).floor() },
        BinaryOp::Rem => |a, b| if b == 0.0 { a } else { a % b },
        _ => return None,
    })
}
