//! Reductions from parts: each thread has a part of what a loop reduces, which is set to the
//! neutral element before the loop and combined with the whole after it.
//!
//! Sums and products of floating-point numbers are rounded, so they depend on the order of the
//! parts. Threads then combine them in the order of their numbers, and have the same iterations in
//! every run: the same number of threads gives the same bits. Parts that give the same result in
//! any order are combined as threads come. Not here: reductions that OpenMP's clauses make.

use loops::{Diagnostic, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt, Value};

use crate::c::{CExpr, CFor, CStmt};
use crate::openmp::lower::Lower;
use crate::openmp::memory::small;
use crate::openmp::scope::{Array, Binding, Form};
use crate::openmp::types::{leaves, member};

/// One thread's part of a reduced array.
pub(crate) struct Partial {
    hub: Name,
    op: ReduceOp,
    /// The array that all threads see.
    whole: Array,
    /// The thread's own.
    part: Array,
    /// The pointer to be freed, if `part` was allocated.
    pub block: Option<String>,
}

impl Lower<'_> {
    /// Declares each thread's part of the reduced arrays, and brings them into scope.
    pub(crate) fn partials(&mut self, l: &Loop) -> Result<(Vec<Partial>, Vec<CStmt>), Diagnostic> {
        let (mut out, mut code) = (Vec::new(), Vec::new());
        for (op, hub) in &l.reductions {
            if self.in_clause(l, *op, hub)? {
                continue;
            }
            let whole = self.array(hub)?.clone();
            let (part, block) = self.part_of(hub, &whole, &mut code);
            self.scope.push(hub, Binding::Array(part.clone()));
            out.push(Partial { hub: hub.clone(), op: *op, whole, part, block });
        }
        Ok((out, code))
    }

    fn part_of(&mut self, hub: &Name, whole: &Array, code: &mut Vec<CStmt>) -> (Array, Option<String>) {
        let name = self.names.take(&format!("{hub}_part"));
        let part = Array { base: CExpr::name(&name), members: Vec::new(), ..whole.clone() };
        if self.paper() || small(&whole.elem, &whole.dims) {
            let ty = self.elem_type(&whole.elem);
            // C has no arrays of no elements
            let dims =
                whole.dims.iter().map(|d| if d.is_zero() { CExpr::int(1) } else { d.clone() }).collect();
            code.push(CStmt::Declare { ty, name, dims, init: None });
            return (Array { form: Form::Nested, stack: true, ..part }, None);
        }
        let count = if self.native {
            self.native_product(whole.dims.clone())
        } else {
            let count = whole.dims.iter().cloned().reduce(|a, b| self.extent_product(a, b));
            count.unwrap_or_else(|| CExpr::int(1))
        };
        let block = self.allocate(&name, &whole.elem, count, code);
        (Array { form: Form::Linear, ..part }, Some(block))
    }

    pub(crate) fn release_partials(&mut self, partials: &[Partial]) {
        for partial in partials.iter().rev() {
            self.scope.pop(&partial.hub);
            if let CExpr::Name(name) = &partial.part.base {
                self.names.release(name);
            }
            if let Some(block) = &partial.block {
                self.names.release(block);
            }
        }
    }

    /// Sets the threads' parts to the neutral element.
    pub(crate) fn fill(&mut self, partials: &[Partial]) -> Vec<CStmt> {
        let mut out = Vec::new();
        for partial in partials {
            out.extend(self.each_element(partial, |lower, _, part, ty| {
                let neutral = lower.neutral(partial.op, ty);
                CStmt::Assign(part, "=", neutral)
            }));
        }
        out
    }

    /// Adds the threads' parts to the whole, one thread at a time, and sets the caller's status
    /// after a failure (its name is the second one). Gives what stands before the region.
    pub(crate) fn gather(
        &mut self,
        partials: &[Partial],
        by_turns: bool,
        status: Option<(&str, &str)>,
        inside: &mut Vec<CStmt>,
    ) -> Vec<CStmt> {
        let combine = self.combine(partials);
        let tell = |(of_thread, of_all)| CStmt::Assign(CExpr::name(of_all), "=", CExpr::name(of_thread));
        let failed = |(of_thread, _)| CExpr::binary("!=", CExpr::name(of_thread), CExpr::name("OK"));
        if by_turns {
            let turn = match status {
                Some(status) => vec![CStmt::If(failed(status), vec![tell(status)], combine)],
                None => combine,
            };
            return self.in_turn(turn, inside);
        }
        let critical = if combine.is_empty() {
            Vec::new()
        } else {
            vec![CStmt::Pragma("omp critical".to_owned()), CStmt::Block(None, combine)]
        };
        match status {
            Some(status) => {
                let write = vec![CStmt::Pragma("omp atomic write".to_owned()), tell(status)];
                inside.push(CStmt::If(failed(status), write, critical));
            }
            None => inside.extend(critical),
        }
        Vec::new()
    }

    /// Threads do this one after the other, in the order of their numbers: each has one iteration
    /// of a loop with as many as there are threads. They are counted before the loop that comes
    /// first, at whose end they meet.
    fn in_turn(&mut self, stmts: Vec<CStmt>, inside: &mut Vec<CStmt>) -> Vec<CStmt> {
        let (count, turn) = (self.names.take("threads"), self.names.take("turn"));
        let counted =
            [CStmt::Pragma("omp atomic".to_owned()), CStmt::Assign(CExpr::name(&count), "+=", CExpr::int(1))];
        let first = inside.iter().take_while(|stmt| matches!(stmt, CStmt::Declare { .. })).count();
        inside.splice(first..first, counted);
        inside.push(CStmt::Pragma("omp for ordered schedule(static, 1)".to_owned()));
        inside.push(CStmt::For(CFor {
            ty: "int".to_owned(),
            var: turn.clone(),
            lower: CExpr::int(0),
            upper: CExpr::name(&count),
            step: CExpr::int(1),
            body: vec![CStmt::Pragma("omp ordered".to_owned()), CStmt::Block(None, stmts)],
        }));
        self.names.release(&turn);
        self.names.release(&count);
        let ty = "int".to_owned();
        vec![CStmt::Declare { ty, name: count, dims: Vec::new(), init: Some(CExpr::int(0)) }]
    }

    /// Combines a thread's parts with the whole.
    fn combine(&mut self, partials: &[Partial]) -> Vec<CStmt> {
        let mut combine = Vec::new();
        for partial in partials {
            combine.extend(self.each_element(partial, |lower, whole, part, ty| {
                let kind = lower.of_data(ty);
                let wraps = kind.wraps;
                match partial.op {
                    ReduceOp::Add if !wraps => CStmt::Assign(whole, "+=", part),
                    ReduceOp::Mul if !wraps => CStmt::Assign(whole, "*=", part),
                    op => {
                        let value = lower.binary(op.binary(), whole.clone(), part, ty, kind);
                        CStmt::Assign(whole, "=", value)
                    }
                }
            }));
        }
        combine
    }

    /// A loop nest over the elements of a reduced array and its part; one statement for each scalar
    /// of an element.
    fn each_element(
        &mut self,
        partial: &Partial,
        mut stmt: impl FnMut(&mut Self, CExpr, CExpr, Scalar) -> CStmt,
    ) -> Vec<CStmt> {
        let vars: Vec<String> =
            (0..partial.whole.dims.len()).map(|d| self.names.take(&format!("r{d}"))).collect();
        let indices: Vec<CExpr> = vars.iter().map(CExpr::name).collect();
        let (whole, part) = (partial.whole.element(indices.clone()), partial.part.element(indices));
        let mut body = Vec::new();
        for (path, ty) in leaves(&partial.whole.elem) {
            let at = |value: &CExpr| {
                path.iter().fold(value.clone(), |v, c| CExpr::Member(Box::new(v), member(*c).to_owned()))
            };
            body.push(stmt(self, at(&whole), at(&part), ty));
        }
        for (var, dim) in vars.iter().zip(&partial.whole.dims).rev() {
            body = vec![CStmt::For(CFor {
                ty: self.index_type.clone(),
                var: var.clone(),
                lower: CExpr::int(0),
                upper: dim.clone(),
                step: CExpr::int(1),
                body,
            })];
        }
        vars.iter().for_each(|v| self.names.release(v));
        body
    }

    /// The neutral element of a reduction.
    fn neutral(&mut self, op: ReduceOp, ty: Scalar) -> CExpr {
        let extreme = |greatest: bool, lower: &mut Self| match ty {
            // NaN is what every number is preferred to.
            Scalar::F32 | Scalar::F64 => lower.nan(),
            Scalar::I32 if lower.native => {
                CExpr::literal(if greatest { "__INT_MAX__" } else { "(-__INT_MAX__ - 1)" })
            }
            Scalar::I64 if lower.native => {
                CExpr::literal(if greatest { "__LONG_MAX__" } else { "(-__LONG_MAX__ - 1L)" })
            }
            Scalar::Bool if lower.native => CExpr::int(i64::from(greatest)),
            Scalar::I32 => CExpr::literal(if greatest { "INT32_MAX" } else { "INT32_MIN" }),
            Scalar::I64 => CExpr::literal(if greatest { "INT64_MAX" } else { "INT64_MIN" }),
            Scalar::Bool => CExpr::literal(if greatest { "true" } else { "false" }),
            other => {
                let value = Value::extreme(other, greatest).map(|v| v.cast(Scalar::I64));
                value.and_then(|v| lower.constant(other, &v.into())).unwrap_or_else(|| CExpr::int(0))
            }
        };
        let native = self.native;
        let small = |value: bool| match ty {
            Scalar::F32 => CExpr::literal(if value { "1.0f" } else { "0.0f" }),
            Scalar::F64 => CExpr::literal(if value { "1.0" } else { "0.0" }),
            Scalar::Bool if native => CExpr::int(i64::from(value)),
            Scalar::Bool => CExpr::literal(if value { "true" } else { "false" }),
            _ => CExpr::int(i64::from(value)),
        };
        match op {
            ReduceOp::Add | ReduceOp::Or => small(false),
            ReduceOp::Mul | ReduceOp::And => small(true),
            ReduceOp::Min => extreme(true, self),
            ReduceOp::Max => extreme(false, self),
        }
    }
}

/// A loop that only sums up, as strips in lanes that threads share out: the lanes of a loop whose
/// parts are combined in turn.
pub(crate) fn strips(l: &Loop, name: Name) -> Loop {
    let first = Expr::Var(name.clone()) * Expr::Int(STRIP) + l.lower.clone();
    let end = (first.clone() + Expr::Int(STRIP)).min(l.upper.clone());
    let inner = Loop { kind: LoopKind::Vector, lower: first, upper: end, ..l.clone() };
    let count = (l.upper.clone() - l.lower.clone() + Expr::Int(STRIP - 1)).floor_div(Expr::Int(STRIP));
    let (lower, body) = (Expr::Int(0), vec![Stmt::Loop(inner)]);
    Loop { var: name, lower, upper: count, step: 1, body, ..l.clone() }
}

/// Numbers in a strip: enough that a thread does not notice the loop over strips.
const STRIP: i64 = 4096;
