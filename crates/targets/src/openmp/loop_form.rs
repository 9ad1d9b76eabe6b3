//! Loops: which form each takes in C, and its bounds.

use loops::{BinaryOp, Diagnostic, Expr, Loop, LoopKind, Name, Stmt};

use crate::c::{CExpr, CFor, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::index_arithmetic;
use crate::openmp::lower::Lower;
use crate::openmp::masked_loads::{self, Care};
use crate::openmp::parallel::is_sum;
use crate::openmp::partial_results::strips;
use crate::openmp::scope::Binding;
use crate::openmp::stmt::Code;
use crate::openmp::vectors::Shape;

/// The maximal number of iterations of a loop of assignments that is unrolled.
const WRITTEN_OUT: i64 = 4;

/// The assignments of a small loop that is to be unrolled, one iteration after the other.
fn written_out(l: &Loop) -> Option<Vec<Stmt>> {
    let count = trips(l).filter(|count| (1..=WRITTEN_OUT).contains(count))?;
    let Expr::Int(first) = l.lower else { return None };
    if l.kind != LoopKind::Unroll(None) || !l.body.iter().all(|s| matches!(s, Stmt::Assign(_))) {
        return None;
    }
    let iteration = |k: i64| {
        let value = Expr::Int(first + k * l.step.max(1));
        loops::visit::substitute(&l.body, &[(l.var.clone(), value)].into_iter().collect())
    };
    Some((0..count).flat_map(iteration).collect())
}

/// How a loop is printed.
enum LoopForm {
    Plain,
    Unroll(i64),
    Simd,
    Vectors(Shape),
    Parallel,
}

impl Lower<'_> {
    /// Whether a parallel loop at this place becomes a parallel region.
    pub(crate) fn parallel_here(&self) -> bool {
        self.options.parallel && !self.in_simd && (self.regions == 0 || self.options.nested || self.paper())
    }

    fn form(&self, l: &Loop) -> Result<LoopForm, Diagnostic> {
        Ok(match l.kind {
            LoopKind::Parallel if self.parallel_here() => LoopForm::Parallel,
            LoopKind::Vector
                if self.options.parallel
                    && !self.in_simd
                    && self.one_lane_each(l)?
                    && (self.paper() || !self.fills_no_vector(l)? && !self.gathers_most(l)) =>
            {
                self.vectors(l).map_or(LoopForm::Simd, LoopForm::Vectors)
            }
            LoopKind::Unroll(Some(times)) if times > 1 => LoopForm::Unroll(i64::from(times).min(1024)),
            LoopKind::Unroll(None) => match trips(l) {
                Some(count) if (2..=1024).contains(&count) => LoopForm::Unroll(count),
                _ => LoopForm::Plain,
            },
            _ => LoopForm::Plain,
        })
    }

    /// Whether the lanes of a vector loop need no private memory except scalars and small arrays.
    fn one_lane_each(&self, l: &Loop) -> Result<bool, Diagnostic> {
        for (op, name) in &l.reductions {
            if !self.in_clause(l, *op, name)? {
                return Ok(false);
            }
        }
        let mut todo: Vec<&Stmt> = l.body.iter().collect();
        while let Some(stmt) = todo.pop() {
            match stmt {
                Stmt::Local(decl) if self.on_heap(decl)? => return Ok(false),
                Stmt::Loop(inner) => todo.extend(&inner.body),
                Stmt::If { then, otherwise, .. } => todo.extend(then.iter().chain(otherwise)),
                Stmt::Block { body, .. } => todo.extend(body),
                _ => {}
            }
        }
        Ok(true)
    }

    pub fn loop_(&mut self, l: &Loop) -> Result<Code, Diagnostic> {
        if let Some(pairs) = self.pair_sums(l).filter(|_| !self.in_simd) {
            return Ok(Code::sure(self.pair_sums_calls(l, &pairs)?));
        }
        if let Some(block) = self.transposition(l) {
            return Ok(Code::sure(self.transposition_call(l, block)?));
        }
        let mut form = self.form(l)?;
        if matches!(form, LoopForm::Parallel) && is_sum(l) && l.step <= 1 && self.takes_turns(l)? {
            let mut name = Name::new(format!("{}_strip", l.var));
            while self.scope.get(&name).is_some() {
                name = Name::new(format!("{name}_"));
            }
            return self.loop_(&strips(l, name));
        }
        let care = match form {
            _ if self.paper() => Care::None,
            LoopForm::Plain | LoopForm::Unroll(_) => masked_loads::care(l, self.native),
            // Lanes, and iterations that threads share out, are not unrolled as a whole.
            LoopForm::Parallel | LoopForm::Simd | LoopForm::Vectors(_) => {
                masked_loads::care(l, false).only(Care::Scalar)
            }
        };
        if care == Care::Scalar && !matches!(form, LoopForm::Parallel) {
            form = LoopForm::Plain;
        }
        if let Some(stmts) = written_out(l).filter(|_| !self.paper() && care == Care::None) {
            return self.sequence(&stmts);
        }
        if let (LoopForm::Plain, Care::None, Some(stmts)) = (&form, care, self.held(l)) {
            self.usage.add(&stmts);
            return self.sequence(&stmts);
        }
        let mut before = Vec::new();
        let lower = self.place(&l.lower)?;
        let natural = self.ranges.of(&l.lower).low.is_some_and(|v| v >= 0);
        let mut upper = if natural { self.natural_end(&l.upper)? } else { self.place(&l.upper)? };
        let mut end_name = None;
        if l.upper.has_loads() {
            // the end is computed once, before the first iteration
            let name = self.names.take(&format!("{}_end", l.var));
            let ty = format!("const {}", self.index_type);
            before.push(CStmt::Declare { ty, name: name.clone(), dims: Vec::new(), init: Some(upper) });
            upper = CExpr::name(&name);
            end_name = Some(name);
        }
        let mut code = match form {
            LoopForm::Parallel => self.parallel_loop(l, lower, upper)?,
            LoopForm::Vectors(shape) => Code::sure(self.vector_loop(l, shape)?),
            LoopForm::Simd => {
                let mut pragma = "omp simd".to_owned();
                if let Some(lanes @ (2 | 4 | 8 | 16)) = trips(l) {
                    pragma.push_str(&format!(" simdlen({lanes})"));
                }
                let accumulators = self.accumulators(l)?;
                pragma.push_str(&self.enough_lanes(l)?);
                pragma.push_str(&self.reduction_clauses(l)?);
                self.in_simd = true;
                let body = self.counted(l, lower, upper);
                self.in_simd = false;
                let mut stmts = vec![CStmt::Pragma(pragma)];
                stmts.extend(body?.stmts);
                Code::sure(self.around(accumulators, stmts))
            }
            LoopForm::Plain | LoopForm::Unroll(_) if care == Care::Rolled => {
                let body = self.counted(l, lower, upper)?;
                let mut stmts = vec![CStmt::Pragma("GCC unroll 1".to_owned())];
                stmts.extend(body.stmts);
                Code { stmts, may_fail: body.may_fail }
            }
            LoopForm::Unroll(times) => {
                let body = self.counted(l, lower, upper)?;
                let mut stmts = vec![CStmt::Pragma(format!("GCC unroll {times}"))];
                stmts.extend(body.stmts);
                Code { stmts, may_fail: body.may_fail }
            }
            LoopForm::Plain => self.counted(l, lower, upper)?,
        };
        if care == Care::Scalar {
            let apart = CStmt::Expr(self.helper(Helper::Apart, "LOZENGE_APART", Vec::new()));
            begin(&mut code.stmts, &apart);
        }
        if let Some(name) = end_name {
            self.names.release(&name);
            before.extend(code.stmts);
            code.stmts = vec![CStmt::Block(None, before)];
        }
        Ok(code)
    }

    /// Whether some iteration surely runs.
    pub fn runs(&self, l: &Loop) -> bool {
        let (lower, upper) = (self.ranges.of(&l.lower), self.ranges.of(&l.upper));
        trips(l).is_some_and(|count| count > 0) || upper.low.zip(lower.high).is_some_and(|(u, l)| u > l)
    }

    /// The end of a loop that begins at 0 or later. A quotient may be rounded up if it is negative,
    /// because there is no iteration then.
    fn natural_end(&mut self, e: &Expr) -> Result<CExpr, Diagnostic> {
        let positive = |e: &Expr| match e {
            Expr::Int(divisor) if *divisor > 0 => Some(*divisor),
            _ => None,
        };
        match e {
            Expr::Binary(BinaryOp::Min, a, b) => {
                let (a, b) = (self.natural_end(a)?, self.natural_end(b)?);
                Ok(self.binary(
                    BinaryOp::Min,
                    a,
                    b,
                    loops::Scalar::I64,
                    super::lower::Kind { natural: false, wraps: false },
                ))
            }
            Expr::Binary(BinaryOp::FloorDiv, a, divisor) if positive(divisor).is_some() => {
                Ok(index_arithmetic::div(self.index(a)?, self.index(divisor)?))
            }
            Expr::Binary(BinaryOp::Add, quotient, more) => {
                // `(a floordiv c) + k` is `(a + k * c) floordiv c`
                if let (Expr::Binary(BinaryOp::FloorDiv, a, divisor), Expr::Int(k)) = (&**quotient, &**more)
                    && let Some(more) = positive(divisor).and_then(|c| c.checked_mul(*k))
                {
                    let dividend = index_arithmetic::add(self.index(a)?, CExpr::int(more));
                    return Ok(index_arithmetic::div(dividend, self.index(divisor)?));
                }
                self.index(e)
            }
            _ => self.place(e),
        }
    }

    /// The loop itself, with bounds that are translated already.
    pub fn counted(&mut self, l: &Loop, lower: CExpr, upper: CExpr) -> Result<Code, Diagnostic> {
        let var = self.enter_loop(l);
        let body = self.block(&l.body);
        self.leave_loop(l, &var);
        let mut body = body?;
        if l.ends_early() {
            leave_unless(&mut body.stmts);
        }
        if body.may_fail {
            body.stmts.push(CStmt::If(
                CExpr::binary("!=", CExpr::name(&self.status), CExpr::name("OK")),
                vec![CStmt::Break],
                Vec::new(),
            ));
        }
        Ok(Code { stmts: vec![self.c_for(l, var, lower, upper, body.stmts)], may_fail: body.may_fail })
    }

    /// The C loop.
    pub(crate) fn c_for(&self, l: &Loop, var: String, lower: CExpr, upper: CExpr, body: Vec<CStmt>) -> CStmt {
        let step = CExpr::int(l.step.max(1));
        CStmt::For(CFor { ty: self.index_type.clone(), var, lower, upper, step, body })
    }

    /// Brings the loop variable into scope; its C name.
    pub fn enter_loop(&mut self, l: &Loop) -> String {
        let var = self.names.take(&l.var);
        self.ranges.enter(l);
        self.scope.push(&l.var, Binding::Index(CExpr::name(&var)));
        var
    }

    /// Takes it out of scope.
    pub fn leave_loop(&mut self, l: &Loop, var: &str) {
        self.scope.pop(&l.var);
        self.ranges.leave();
        self.names.release(var);
    }
}

/// `if (c) { … }` at the end of a body as `if (!c) break; …`.
fn leave_unless(stmts: &mut Vec<CStmt>) {
    match stmts.pop() {
        Some(CStmt::If(cond, then, otherwise)) if otherwise.is_empty() => {
            let ends = match cond {
                CExpr::Unary("!", goes_on) => *goes_on,
                cond => CExpr::unary("!", cond),
            };
            stmts.push(CStmt::If(ends, vec![CStmt::Break], Vec::new()));
            stmts.extend(then);
        }
        last => stmts.extend(last),
    }
}

/// Puts a statement at the beginning of the bodies of loops.
fn begin(stmts: &mut [CStmt], first: &CStmt) {
    for stmt in stmts {
        match stmt {
            CStmt::For(own) => own.body.insert(0, first.clone()),
            CStmt::Block(_, body) => begin(body, first),
            CStmt::If(_, then, otherwise) => {
                begin(then, first);
                begin(otherwise, first);
            }
            _ => {}
        }
    }
}

/// The number of iterations, if it is a constant.
pub fn trips(l: &Loop) -> Option<i64> {
    match (&l.lower, &l.upper) {
        (Expr::Int(lower), Expr::Int(upper)) => {
            let length = upper.checked_sub(*lower)?.max(0);
            Some(length / l.step.max(1) + i64::from(length % l.step.max(1) != 0))
        }
        _ => None,
    }
}
