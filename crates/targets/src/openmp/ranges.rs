//! Intervals of index expressions. They show where a quotient may be C's `/`.
//!
//! Facts come from the function's assumptions (`n >= 1`), from conditions, and from loop bounds
//! (inside `for i in 0..n`, `i >= 0` and `n >= 1`; inside `for i in 0..n * m` both sizes are
//! positive, if they are natural). Of relations between variables, only that of a loop variable and
//! its own bound is kept (there, `n - i >= 1`).

use std::collections::HashMap;

use loops::{BinaryOp, CompareOp, Expr, Loop, Name, Scalar};

/// Least and greatest value, where known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Least value.
    pub low: Option<i64>,
    /// Greatest value.
    pub high: Option<i64>,
}

impl Interval {
    fn exactly(value: i64) -> Interval {
        Interval { low: Some(value), high: Some(value) }
    }

    fn meet(self, other: Interval) -> Interval {
        let tighter = |a: Option<i64>, b: Option<i64>, pick: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (a, b) => a.or(b),
        };
        Interval {
            low: tighter(self.low, other.low, i64::max),
            high: tighter(self.high, other.high, i64::min),
        }
    }
}

/// Intervals of the names in scope.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    known: HashMap<Name, Vec<Interval>>,
    /// Names of which something was learned, by the stretch of the program in which it holds.
    stretches: Vec<Vec<Name>>,
    /// The loops around, with their exclusive bounds.
    loops: Vec<(Name, Expr)>,
}

/// How deep expressions are looked into.
const DEPTH: u32 = 16;

impl Ranges {
    /// Takes over what a condition says of single names, where it holds.
    pub fn assume(&mut self, condition: &Expr) {
        let mut todo = vec![condition];
        while let Some(condition) = todo.pop() {
            match condition {
                Expr::Binary(BinaryOp::And, a, b) => todo.extend([&**a, &**b]),
                Expr::Compare(op, a, b) => match (&**a, &**b) {
                    (a, Expr::Int(value)) => self.compare(a, *op, *value),
                    (Expr::Int(value), b) => self.compare(b, op.mirrored(), *value),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn compare(&mut self, e: &Expr, op: CompareOp, value: i64) {
        let (low, high) = match op {
            CompareOp::Eq => (Some(value), Some(value)),
            CompareOp::Ge => (Some(value), None),
            CompareOp::Gt => (value.checked_add(1), None),
            CompareOp::Le => (None, Some(value)),
            CompareOp::Lt => (None, value.checked_sub(1)),
            CompareOp::Ne => return,
        };
        if let Some(low) = low {
            self.at_least(e, low, DEPTH);
        }
        if let Expr::Var(name) = e {
            self.learn(name, Interval { low: None, high });
        }
    }

    /// What `e >= least` says of the names in it.
    fn at_least(&mut self, e: &Expr, least: i64, depth: u32) {
        if depth == 0 {
            return;
        }
        let depth = depth - 1;
        match e {
            Expr::Var(name) => self.learn(name, Interval { low: Some(least), high: None }),
            Expr::Binary(op, a, b) => match (op, &**b) {
                (BinaryOp::Add, Expr::Int(k)) => {
                    if let Some(least) = least.checked_sub(*k) {
                        self.at_least(a, least, depth);
                    }
                }
                (BinaryOp::Sub, Expr::Int(k)) => {
                    if let Some(least) = least.checked_add(*k) {
                        self.at_least(a, least, depth);
                    }
                }
                (BinaryOp::FloorDiv, Expr::Int(k)) if *k > 0 => {
                    if let Some(least) = least.checked_mul(*k) {
                        self.at_least(a, least, depth);
                    }
                }
                (BinaryOp::Min, _) => {
                    self.at_least(a, least, depth);
                    self.at_least(b, least, depth);
                }
                // a positive product of natural numbers has positive factors
                (BinaryOp::Mul, _) if least > 0 => {
                    let natural = |e: &Expr| self.of(e).low.is_some_and(|v| v >= 0);
                    if natural(a) && natural(b) {
                        self.at_least(a, 1, depth);
                        self.at_least(b, 1, depth);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn learn(&mut self, name: &Name, fact: Interval) {
        let known = self.interval_of_name(name).meet(fact);
        self.push(name, known);
    }

    /// Begins a stretch of the program whose facts end with [`Ranges::end`].
    pub fn begin(&mut self) {
        self.stretches.push(Vec::new());
    }

    /// Forgets what was learned since the last [`Ranges::begin`].
    pub fn end(&mut self) {
        for name in self.stretches.pop().into_iter().flatten().rev() {
            if let Some(stack) = self.known.get_mut(&name) {
                stack.pop();
            }
        }
    }

    fn interval_of_name(&self, name: &Name) -> Interval {
        self.known.get(name).and_then(|stack| stack.last()).copied().unwrap_or_default()
    }

    fn push(&mut self, name: &Name, interval: Interval) {
        self.known.entry(name.clone()).or_default().push(interval);
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.push(name.clone());
        }
    }

    /// Enters the body of a loop: its variable, and what it says of the bound that some iteration
    /// runs.
    pub fn enter(&mut self, l: &Loop) {
        let (lower, upper) = (self.of(&l.lower), self.of(&l.upper));
        self.begin();
        if let Some(least) = lower.low.and_then(|v| v.checked_add(1)) {
            self.at_least(&l.upper, least, DEPTH);
        }
        self.loops.push((l.var.clone(), l.upper.clone()));
        self.push(&l.var, Interval { low: lower.low, high: upper.high.and_then(|v| v.checked_sub(1)) });
    }

    /// Leaves the body of a loop.
    pub fn leave(&mut self) {
        self.loops.pop();
        self.end();
    }

    /// Whether `variable` is a loop variable that ends before `bound`.
    fn is_bound(&self, bound: &Expr, variable: &Expr) -> bool {
        let Expr::Var(name) = variable else { return false };
        let Some(place) = self.loops.iter().rposition(|(var, _)| var == name) else { return false };
        // the bound's names may stand for other things further in
        let inner: Vec<&Name> = self.loops[place..].iter().map(|(var, _)| var).collect();
        if bound.mentions_any(&inner) || bound.has_loads() {
            return false;
        }
        match &self.loops[place].1 {
            Expr::Binary(BinaryOp::Min, a, b) => **a == *bound || **b == *bound,
            upper => upper == bound,
        }
    }

    /// Whether all values of a loop variable are those of an `int`: it ends at a size that is one.
    pub fn counts_in_int(&self, variable: &Expr, is_int: &dyn Fn(&Name) -> bool) -> bool {
        fn ends(e: &Expr, is_int: &dyn Fn(&Name) -> bool) -> bool {
            match e {
                Expr::Int(value) => i32::try_from(*value).is_ok(),
                Expr::Var(size) => is_int(size),
                Expr::Binary(BinaryOp::Sub, a, k) => matches!(**k, Expr::Int(0..)) && ends(a, is_int),
                Expr::Binary(BinaryOp::Min, a, b) => ends(a, is_int) || ends(b, is_int),
                _ => false,
            }
        }
        let Expr::Var(name) = variable else { return false };
        let from = self.interval_of_name(name).low.is_some_and(|low| low >= i64::from(i32::MIN));
        let end = self.loops.iter().rfind(|(var, _)| var == name).map(|(_, end)| end);
        from && end.is_some_and(|end| ends(end, is_int))
    }

    /// The interval of an `i64` expression.
    pub fn of(&self, e: &Expr) -> Interval {
        self.at_depth(e, DEPTH)
    }

    fn at_depth(&self, e: &Expr, depth: u32) -> Interval {
        let unknown = Interval::default();
        if depth == 0 {
            return unknown;
        }
        let of = |e: &Expr| self.at_depth(e, depth - 1);
        let both = |a: Option<i64>, b: Option<i64>, f: fn(i64, i64) -> Option<i64>| {
            a.zip(b).and_then(|(a, b)| f(a, b))
        };
        match e {
            Expr::Int(value) => Interval::exactly(*value),
            Expr::Var(name) => self.interval_of_name(name),
            Expr::Cast(Scalar::I64, index) if !index.is_data() => of(index),
            Expr::Binary(op, a, b) => {
                let (x, y) = (of(a), of(b));
                let natural = x.low.is_some_and(|v| v >= 0);
                let positive = y.low.is_some_and(|v| v > 0);
                let interval = match op {
                    BinaryOp::Add => Interval {
                        low: both(x.low, y.low, i64::checked_add),
                        high: both(x.high, y.high, i64::checked_add),
                    },
                    BinaryOp::Sub => Interval {
                        low: both(x.low, y.high, i64::checked_sub).max(self.is_bound(a, b).then_some(1)),
                        high: both(x.high, y.low, i64::checked_sub),
                    },
                    BinaryOp::Mul if natural && y.low.is_some_and(|v| v >= 0) => Interval {
                        low: both(x.low, y.low, i64::checked_mul),
                        high: both(x.high, y.high, i64::checked_mul),
                    },
                    BinaryOp::FloorDiv | BinaryOp::Div if natural && positive => Interval {
                        low: both(x.low, y.high, i64::checked_div).or(Some(0)),
                        high: both(x.high, y.low, i64::checked_div),
                    },
                    BinaryOp::Mod | BinaryOp::Rem if positive && (natural || *op == BinaryOp::Mod) => {
                        Interval { low: Some(0), high: y.high.and_then(|v| v.checked_sub(1)) }
                    }
                    BinaryOp::Min => {
                        Interval { low: both(x.low, y.low, |a, b| Some(a.min(b))), high: x.meet(y).high }
                    }
                    BinaryOp::Max => {
                        Interval { low: x.meet(y).low, high: both(x.high, y.high, |a, b| Some(a.max(b))) }
                    }
                    _ => unknown,
                };
                // Data wraps where the exact value is beyond 64 bits.
                let exact = interval.low.is_some() && interval.high.is_some();
                let sum = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
                if sum && !exact && e.is_data() { unknown } else { interval }
            }
            _ => unknown,
        }
    }
}
