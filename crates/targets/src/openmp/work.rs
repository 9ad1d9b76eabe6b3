//! How much work a parallel loop has, if its sizes say so. Below a few microseconds of work,
//! threads cost more than they gain.

use std::collections::BTreeSet;

use loops::poly::linear;
use loops::{Assign, BinaryOp, CompareOp, Diagnostic, Elem, Expr, Loop, LoopKind, Name, Stmt};

use crate::c::CExpr;
use crate::c_print::{Layout, Printer};
use crate::openmp::imbalance::is_remainder;
use crate::openmp::index_arithmetic;
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;

/// Statement instances that are worth a team of threads.
const ENOUGH: i64 = 10_000;

/// Bytes of the narrowest vectors.
const NARROW: i64 = 16;

impl Lower<'_> {
    /// The clause ` if (...)` of a parallel loop, or nothing if the amount of work is constant or
    /// is not known before it runs.
    pub fn enough(&mut self, l: &Loop) -> Result<String, Diagnostic> {
        if !self.native {
            return Ok(String::new());
        }
        let (test, of) = match self.amount(l)? {
            Some((test, of)) => (Some(test), of),
            None => (None, BTreeSet::new()),
        };
        let clause = test.as_ref().map_or_else(String::new, |test| format!(" if ({test})"));
        self.amounts.push(test.map(|test| (test, of)));
        Ok(clause)
    }

    /// A condition in C that holds if a parallel loop has enough work, and the variables in it.
    fn amount(&mut self, l: &Loop) -> Result<Option<(String, BTreeSet<Name>)>, Diagnostic> {
        let mut extents = Vec::new();
        let Some(statements) = extents_of(l, &mut Vec::new(), &mut extents) else { return Ok(None) };
        // For loops over tiles, which have conditions at their edges, the expressions would be
        // longer than the loops.
        if conditional(&l.body) && !extents.iter().all(plain) {
            return Ok(None);
        }
        let of = extents.iter().flat_map(Expr::vars).collect();
        let test = self.product_above(&extents, ENOUGH / statements.max(1))?;
        Ok(test.map(|test| (Printer::new(Layout::Readable).expression(&test), of)))
    }

    /// The condition that a product of extents is more than a number; none if it is known.
    pub(crate) fn product_above(
        &mut self,
        extents: &[Expr],
        least: i64,
    ) -> Result<Option<CExpr>, Diagnostic> {
        let (mut known, mut factors) = (1i64, Vec::new());
        for extent in extents {
            let factor = self.index(extent)?;
            match index_arithmetic::value(&factor) {
                Some(value) => known = known.saturating_mul(value.max(1)),
                None => factors.push(factor),
            }
        }
        // Each factor as a floating-point number: the product of sizes may not fit their type.
        let Some((first, rest)) = factors.split_first() else { return Ok(None) };
        let product = rest.iter().fold(first.clone(), |a, b| CExpr::binary("*", a, b.clone()));
        let product = if rest.is_empty() { product } else { leading_cast(product) };
        Ok(Some(CExpr::binary(">", product, CExpr::int(least / known.max(1)))))
    }

    /// Whether a vector loop does little with elements that are apart in memory (`v[2 * j]`): the
    /// lanes would be gathered one by one, which takes longer than to compute with each.
    pub(crate) fn gathers_most(&self, l: &Loop) -> bool {
        let mut apart = BTreeSet::new();
        let mut work = 0;
        for stmt in &l.body {
            let Stmt::Assign(assign) = stmt else { return false };
            work += usize::from(assign.update.is_some()) + arithmetic(&assign.value);
            apart.extend(assign.value.loads().chain([&assign.target]).filter(|access| {
                let moves = access.indices.iter().filter(|e| e.mentions(&l.var)).count();
                let last = access.indices.last().and_then(linear::<i128>);
                moves == 1 && last.is_some_and(|e| e.coefficient(&l.var).abs() > 1)
            }));
        }
        work < 2 * apart.len()
    }

    /// Whether a vector loop has too few iterations to fill a vector (the colours of a pixel).
    /// Without a pragma, compilers unroll it and vectorise the loop around it.
    pub(crate) fn fills_no_vector(&self, l: &Loop) -> Result<bool, Diagnostic> {
        let Some(count) = trips(l).filter(|_| l.reductions.is_empty()) else { return Ok(false) };
        let mut bytes = 0;
        for stmt in &l.body {
            let Stmt::Assign(assign) = stmt else { return Ok(false) };
            let Elem::Scalar(scalar) = self.array(&assign.target.array)?.elem else { return Ok(false) };
            bytes = bytes.max(count.saturating_mul(scalar.bytes() as i64));
        }
        Ok(bytes < NARROW || (bytes < 2 * NARROW && !count.unsigned_abs().is_power_of_two()))
    }

    /// The clause ` if (...)` of a vector loop around loops, which take long to begin in each lane,
    /// so that few lanes do not pay. Constant windows have no clause. gcc unrolls them first, but
    /// not in a loop that it has duplicated for the clause. That loop would then not be vectorised.
    pub(crate) fn enough_lanes(&mut self, l: &Loop) -> Result<String, Diagnostic> {
        let sequential = |l: &Loop| l.kind == LoopKind::Sequential && !constant(l);
        let around = l.body.iter().any(|s| matches!(s, Stmt::Loop(l) if sequential(l)));
        if !self.native || !around || trips(l).is_some() {
            return Ok(String::new());
        }
        let length = match &l.lower {
            Expr::Int(0) => l.upper.clone(),
            lower => l.upper.clone() - lower.clone(),
        };
        let test = CExpr::binary(">=", self.index(&length)?, CExpr::int(LANES));
        Ok(format!(" if (simd: {})", Printer::new(Layout::Readable).expression(&test)))
    }
}

/// Whether a loop and those inside it have constant bounds, and few iterations in all.
fn constant(l: &Loop) -> bool {
    fn steps(body: &[Stmt], all: i64) -> bool {
        body.iter().all(|stmt| match stmt {
            Stmt::Loop(l) => match trips(l).and_then(|n| all.checked_mul(n)) {
                Some(all) => all <= WRITTEN_OUT && steps(&l.body, all),
                None => false,
            },
            other => other.bodies().into_iter().all(|body| steps(body, all)),
        })
    }
    trips(l).is_some_and(|n| n <= WRITTEN_OUT && steps(&l.body, n))
}

/// Operations of vectors that an expression of numbers takes, about.
fn arithmetic(e: &Expr) -> usize {
    let own = match e {
        Expr::Load(_) => return 0,
        Expr::Call { .. } | Expr::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Mod, _, _) => 16,
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, _, _) | Expr::Select(..) => 4,
        Expr::Unary(..) | Expr::Binary(..) | Expr::Compare(..) | Expr::Cast(..) => 1,
        _ => 0,
    };
    own + e.children().map(arithmetic).sum::<usize>()
}

/// Steps of a window that compilers write out.
const WRITTEN_OUT: i64 = 32;

/// Iterations from which on a vector loop around loops is one.
const LANES: i64 = 8;

/// A product whose first factor is converted, and with it all others.
fn leading_cast(product: CExpr) -> CExpr {
    match product {
        CExpr::Binary("*", a, b) => CExpr::Binary("*", Box::new(leading_cast(*a)), b),
        first => CExpr::Cast("double".to_owned(), Box::new(first)),
    }
}

/// Collects the numbers of iterations of a loop and of the nest inside it. Returns the number of
/// statements in the innermost loop; none if a number depends on a loop of the nest or on data.
fn extents_of(l: &Loop, inside: &mut Vec<Name>, extents: &mut Vec<Expr>) -> Option<i64> {
    let free = |e: &Expr| !e.has_loads() && e.vars().iter().all(|v| !inside.contains(v));
    let lower = without_remainders(&l.lower);
    if !free(&lower) || !free(&l.upper) {
        return None;
    }
    let length = match lower {
        Expr::Int(0) => l.upper.clone(),
        lower => l.upper.clone() - lower,
    };
    extents.push(if l.step == 1 { length } else { length.floor_div(l.step) });
    inside.push(l.var.clone());
    // Several nests: the first one stands for all, as if its conditions held.
    match first_loop(&l.body) {
        Some(inner) => extents_of(inner, inside, extents),
        None => statements(&l.body),
    }
}

/// A sum, without the remainders in it: where the first iteration of a step is.
fn without_remainders(e: &Expr) -> Expr {
    match e {
        _ if is_remainder(e) => Expr::Int(0),
        Expr::Binary(BinaryOp::Add, a, b) => match (without_remainders(a), without_remainders(b)) {
            (Expr::Int(0), other) | (other, Expr::Int(0)) => other,
            (a, b) => a + b,
        },
        _ => e.clone(),
    }
}

/// Whether a body has conditions, other than that a loop runs at all.
fn conditional(body: &[Stmt]) -> bool {
    let condition = |stmt: &Stmt| match stmt {
        Stmt::If { cond, then, otherwise } => {
            let runs = |l: &Loop| *cond == Expr::compare(CompareOp::Lt, l.lower.clone(), l.upper.clone());
            let alone = |body: &[Stmt]| body.iter().any(|s| matches!(s, Stmt::Loop(l) if runs(l)));
            let within = |s: &Stmt| matches!(s, Stmt::Block { body, .. } if alone(body));
            !(otherwise.is_empty() && (alone(then) || then.iter().any(within)))
        }
        _ => false,
    };
    body.iter().any(|stmt| condition(stmt) || stmt.bodies().into_iter().any(conditional))
}

/// A sum or difference of sizes and integers.
fn plain(e: &Expr) -> bool {
    match e {
        Expr::Int(_) | Expr::Var(_) => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => plain(a) && plain(b),
        _ => false,
    }
}

fn first_loop(body: &[Stmt]) -> Option<&Loop> {
    fn find<'a>(body: &'a [Stmt], fits: &dyn Fn(&Loop) -> bool) -> Option<&'a Loop> {
        body.iter().find_map(|stmt| match stmt {
            Stmt::Loop(l) => fits(l).then_some(l),
            Stmt::If { then, otherwise, .. } => find(then, fits).or_else(|| find(otherwise, fits)),
            Stmt::Block { body, .. } => find(body, fits),
            _ => None,
        })
    }
    // A few iterations, at a border, are no nest.
    find(body, &|l| !at_border(l)).or_else(|| find(body, &|_| true))
}

/// Whether a loop has one iteration at most, by its bounds: `0..min(1, n)`, `max(1, n - 1)..n`.
fn at_border(l: &Loop) -> bool {
    let (mut lowest, mut highest) = (Vec::new(), Vec::new());
    ends(&l.lower, BinaryOp::Max, &mut lowest);
    ends(&l.upper, BinaryOp::Min, &mut highest);
    let length = |low: &Expr, high: &Expr| linear::<i128>(high)?.minus(&linear(low)?)?.as_constant();
    let short = |low: &Expr| highest.iter().any(|high| length(low, high).is_some_and(|n| n <= 1));
    lowest.into_iter().any(short)
}

/// What an end is the greatest or the least of.
fn ends<'a>(e: &'a Expr, of: BinaryOp, all: &mut Vec<&'a Expr>) {
    match e {
        Expr::Binary(op, a, b) if *op == of => [a, b].into_iter().for_each(|e| ends(e, of, all)),
        e => all.push(e),
    }
}

/// Assignments of a body without loops, as if all conditions held; none if there is anything else.
fn statements(body: &[Stmt]) -> Option<i64> {
    body.iter().try_fold(0, |all: i64, stmt| match stmt {
        // A number that is in a register is stored with what computes it.
        Stmt::Assign(Assign { update: None, value: Expr::Load(from), .. }) if from.indices.is_empty() => {
            Some(all)
        }
        Stmt::Assign(_) => Some(all + 1),
        Stmt::Local(_) => Some(all),
        Stmt::If { then, otherwise, .. } => Some(all + statements(then)? + statements(otherwise)?),
        Stmt::Block { body, .. } => Some(all + statements(body)?),
        _ => None,
    })
}
