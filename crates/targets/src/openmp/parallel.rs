//! Parallel regions: private memory of threads, reductions, and allocations that fail on one
//! thread.
//!
//! A loop whose threads own no memory is a `parallel for`. Any other loop is a `parallel` region.
//! It allocates each thread's memory once, distributes the iterations by a `for`, and combines the
//! threads' partial results. If a parallel loop consists only of another parallel loop, threads
//! share the iterations of both.

use std::collections::BTreeSet;

use loops::visit::nodes;
use loops::{Diagnostic, Elem, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt, Value};

use crate::c::{CExpr, CFor, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::imbalance::uneven;
use crate::openmp::lower::Lower;
use crate::openmp::memory::{null_test, small};
use crate::openmp::scope::{Array, Binding, Form};
use crate::openmp::stmt::Code;
use crate::openmp::types::{leaves, member};

/// A variable that stands for a scalar behind a pointer during a reduction: clauses take variables
/// only.
pub struct Accumulator {
    hub: Name,
    name: String,
    load: CStmt,
    store: CStmt,
}

/// One thread's part of a reduced array.
struct Partial {
    hub: Name,
    op: ReduceOp,
    /// The array that all threads see.
    whole: Array,
    /// The thread's own.
    part: Array,
    /// The pointer to be freed, if `part` was allocated.
    block: Option<String>,
}

/// The symbol of a reduction clause.
fn symbol(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "+",
        ReduceOp::Mul => "*",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::And => "&&",
        ReduceOp::Or => "||",
    }
}

/// The parallel loop that is the whole body of a parallel loop, if its number of iterations is
/// always the same. Threads then share its iterations, too.
fn shared_inside(l: &Loop) -> Option<&Loop> {
    let [Stmt::Loop(inner)] = &l.body[..] else { return None };
    let counted = |l: &Loop| {
        let ends = (&l.lower, &l.upper);
        l.reductions.is_empty() && matches!(ends, (Expr::Int(_), Expr::Int(_)))
    };
    (inner.kind == LoopKind::Parallel && counted(l) && counted(inner)).then_some(inner)
}

/// Where the loops are of which data says how often they run.
enum Ends {
    /// The iterations may be short, so threads take several at a time.
    Here,
    /// In loops inside: iterations are tiles.
    Inside,
}

/// Whether how much an iteration has to do is data.
fn by_data(body: &[Stmt]) -> Option<Ends> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Loop(l) if l.lower.has_loads() || l.upper.has_loads() || l.ends_early() => Some(Ends::Here),
        Stmt::Loop(l) => by_data(&l.body).map(|_| Ends::Inside),
        other => other.bodies().into_iter().find_map(by_data),
    })
}

impl Lower<'_> {
    /// Whether a reduction's variable can stand in a clause.
    pub(crate) fn in_clause(&self, op: ReduceOp, name: &Name) -> Result<bool, Diagnostic> {
        let array = self.array(name)?;
        Ok(array.dims.is_empty() && matches!(array.elem, Elem::Scalar(_)) && !self.has_no_clause(op, name)?)
    }

    /// Whether OpenMP's own operation differs: its minima and maxima do not skip NaN, and existing
    /// C code has no place to declare others.
    pub(crate) fn has_no_clause(&self, op: ReduceOp, name: &Name) -> Result<bool, Diagnostic> {
        let orders = self.native && matches!(op, ReduceOp::Min | ReduceOp::Max);
        Ok(orders && leaves(&self.array(name)?.elem).iter().any(|(_, ty)| ty.is_float()))
    }

    /// Gives the loop's reduced scalars that are behind pointers a variable of their own.
    pub fn accumulators(&mut self, l: &Loop) -> Result<Vec<Accumulator>, Diagnostic> {
        let mut out = Vec::new();
        for (op, hub) in &l.reductions {
            let array = self.array(hub)?.clone();
            if !self.in_clause(*op, hub)? || matches!(array.base, CExpr::Name(_)) {
                continue;
            }
            let name = self.names.take(&format!("{hub}_value"));
            let variable = CExpr::name(&name);
            out.push(Accumulator {
                hub: hub.clone(),
                name: name.clone(),
                load: CStmt::Declare {
                    ty: self.elem_type(&array.elem),
                    name,
                    dims: Vec::new(),
                    init: Some(array.base.clone()),
                },
                store: CStmt::Assign(array.base.clone(), "=", variable.clone()),
            });
            self.scope.push(hub, Binding::Array(Array { base: variable, ..array }));
        }
        Ok(out)
    }

    /// The loop between the loads and stores of its accumulators, whose scope ends here.
    pub fn around(&mut self, accumulators: Vec<Accumulator>, stmts: Vec<CStmt>) -> Vec<CStmt> {
        if accumulators.is_empty() {
            return stmts;
        }
        for accumulator in accumulators.iter().rev() {
            self.scope.pop(&accumulator.hub);
            self.names.release(&accumulator.name);
        }
        let mut out: Vec<CStmt> = accumulators.iter().map(|a| a.load.clone()).collect();
        out.extend(stmts);
        out.extend(accumulators.into_iter().map(|a| a.store));
        vec![CStmt::Block(None, out)]
    }

    /// ` reduction(+:a, b) reduction(max:c)`. Minima and maxima of floating-point numbers are
    /// combined by the functions that loops call, because OpenMP's own do not skip NaN.
    pub(crate) fn reduction_clauses(&mut self, l: &Loop) -> Result<String, Diagnostic> {
        let mut by_op: std::collections::BTreeMap<(ReduceOp, &str), Vec<String>> =
            std::collections::BTreeMap::new();
        for (op, hub) in &l.reductions {
            let array = self.array(hub)?.clone();
            if let (CExpr::Name(name), true) = (&array.base, self.in_clause(*op, hub)?) {
                let ty = match array.elem {
                    Elem::Scalar(ty) => ty,
                    Elem::Pair(..) => continue,
                };
                let symbol = match self.combiner(*op, ty) {
                    Some(function) => function,
                    None => symbol(*op),
                };
                by_op.entry((*op, symbol)).or_default().push(name.clone());
            }
        }
        Ok(by_op
            .iter()
            .map(|((_, symbol), names)| format!(" reduction({symbol}:{})", names.join(", ")))
            .collect())
    }

    /// The reduction that is declared for an operation, where OpenMP's own is another.
    fn combiner(&mut self, op: ReduceOp, ty: Scalar) -> Option<&'static str> {
        if self.native {
            return None;
        }
        let (function, reduction, name) = match (op, ty) {
            (ReduceOp::Min, Scalar::F32) => (Helper::MinF, Helper::ReduceMinF, "lozenge_min_f32"),
            (ReduceOp::Min, Scalar::F64) => (Helper::Min, Helper::ReduceMin, "lozenge_min_f64"),
            (ReduceOp::Max, Scalar::F32) => (Helper::MaxF, Helper::ReduceMaxF, "lozenge_max_f32"),
            (ReduceOp::Max, Scalar::F64) => (Helper::Max, Helper::ReduceMax, "lozenge_max_f64"),
            _ => return None,
        };
        self.helpers.extend([function, reduction]);
        Some(name)
    }

    /// ` firstprivate(n, m)`: the sizes and outer loop variables that a parallel loop reads, if it
    /// stores integers. Shared variables are in memory. A compiler that cannot distinguish such a
    /// store from a size would load the size again after each store.
    fn copies(&self, l: &Loop) -> String {
        if !self.native {
            return String::new();
        }
        let variable = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (mut stores, mut bytes, mut names) = (false, false, BTreeSet::new());
        let mut arrays = BTreeSet::new();
        for stmt in nodes(&l.body) {
            if let Stmt::Assign(assign) = stmt
                && !assign.target.indices.is_empty()
                && let Some(Binding::Array(array)) = self.scope.get(&assign.target.array)
            {
                stores |= matches!(array.elem, Elem::Scalar(elem) if elem.is_int());
                bytes |= matches!(array.elem, Elem::Scalar(elem) if elem.bytes() == 1);
                arrays.insert(assign.target.array.clone());
            }
            arrays.extend(stmt.exprs().into_iter().flat_map(Expr::arrays));
            names.extend(stmt.exprs().into_iter().flat_map(Expr::vars).filter_map(|var| {
                match self.scope.get(&var) {
                    Some(Binding::Index(CExpr::Name(name))) if variable(name) => Some(name.clone()),
                    _ => None,
                }
            }));
        }
        // A byte that is stored may be one of a pointer as well.
        if bytes {
            names.extend(arrays.iter().filter_map(|array| self.pointers.get(array).cloned()));
        }
        if !stores || names.is_empty() {
            return String::new();
        }
        format!(" firstprivate({})", names.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// A parallel loop whose bounds are translated already.
    pub(crate) fn parallel_loop(&mut self, l: &Loop, lower: CExpr, upper: CExpr) -> Result<Code, Diagnostic> {
        let accumulators = self.accumulators(l)?;
        let mut clauses = self.reduction_clauses(l)?;
        if !self.paper() {
            clauses.push_str(match by_data(&l.body) {
                Some(Ends::Here) => " schedule(dynamic, 64)",
                Some(Ends::Inside) => " schedule(dynamic)",
                None if uneven(l) => " schedule(dynamic)",
                None => "",
            });
        }
        let alone = self.native || self.paper() || self.options.nested;
        let shared = shared_inside(l).filter(|_| !alone);
        if shared.is_some() {
            clauses.push_str(" collapse(2)");
        }
        let enough = self.enough(l)?;
        let copies = self.copies(l);
        let outer_status = self.status.clone();
        let thread_status = self.names.take("thread_status");
        self.status.clone_from(&thread_status);
        self.regions += 1;

        let (claims, mut setup) = self.claim(&l.body, &[&l.var])?;
        let (partials, part_setup) = self.partials(l)?;
        setup.extend(part_setup);
        let var = self.enter_loop(l);
        let inner = match shared {
            Some(inner) => {
                Some((inner, self.place(&inner.lower)?, self.place(&inner.upper)?, self.enter_loop(inner)))
            }
            None => None,
        };
        let body = self.block(shared.map_or(&l.body, |inner| &inner.body))?;
        if let Some((inner, _, _, var)) = &inner {
            self.leave_loop(inner, var);
        }
        self.leave_loop(l, &var);
        let nest = |this: &Self, stmts: Vec<CStmt>| {
            let stmts = match inner {
                Some((inner, low, high, var)) => vec![this.c_for(inner, var, low, high, stmts)],
                None => stmts,
            };
            this.c_for(l, var, lower, upper, stmts)
        };

        let mut allocated = claims.blocks();
        allocated.extend(partials.iter().filter_map(|p| p.block.clone()));
        // in C that is there already, an allocation that fails ends the program
        let may_fail = body.may_fail || !(allocated.is_empty() || self.native);
        let region = if !may_fail && partials.is_empty() && allocated.is_empty() {
            let text = nest(self, body.stmts);
            match self.lanes(l).filter(|_| clauses.is_empty()) {
                Some(lanes) => self.over_lanes(l, &lanes, &format!("{copies}{enough}"), text)?,
                None => {
                    let lanes = if !self.paper() && is_sum(l) { " simd" } else { "" };
                    vec![CStmt::Pragma(format!("omp parallel for{lanes}{copies}{clauses}{enough}")), text]
                }
            }
        } else {
            let mut inside = Vec::new();
            if may_fail {
                inside.push(CStmt::Declare {
                    ty: "int".to_owned(),
                    name: thread_status.clone(),
                    dims: Vec::new(),
                    init: Some(CExpr::name("OK")),
                });
            }
            inside.extend(setup);
            let fill = self.fill(&partials);
            if let Some(failed) = null_test(&allocated).filter(|_| !self.native) {
                let fail = CStmt::Assign(CExpr::name(&thread_status), "=", CExpr::name("OUT_OF_MEMORY"));
                inside.push(CStmt::If(failed, vec![fail], fill));
            } else {
                inside.extend(fill);
            }
            let mut iteration = Vec::new();
            if may_fail {
                let failed = CExpr::binary("!=", CExpr::name(&thread_status), CExpr::name("OK"));
                iteration.push(CStmt::If(failed, vec![CStmt::Continue], Vec::new()));
            }
            iteration.extend(body.stmts);
            inside.push(CStmt::Pragma(format!("omp for{clauses}")));
            inside.push(nest(self, iteration));
            inside.extend(self.gather(&partials, may_fail, &thread_status, &outer_status));
            inside.extend(self.free(&allocated));
            vec![CStmt::Pragma(format!("omp parallel{copies}{enough}")), CStmt::Block(None, inside)]
        };
        self.release_partials(&partials);
        self.unclaim(&claims);
        self.regions -= 1;
        self.status = outer_status;
        self.names.release(&thread_status);
        Ok(Code { stmts: self.around(accumulators, region), may_fail })
    }

    /// Declares each thread's part of the reduced arrays, and brings them into scope.
    fn partials(&mut self, l: &Loop) -> Result<(Vec<Partial>, Vec<CStmt>), Diagnostic> {
        let (mut out, mut code) = (Vec::new(), Vec::new());
        for (op, hub) in &l.reductions {
            if self.in_clause(*op, hub)? {
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

    fn release_partials(&mut self, partials: &[Partial]) {
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
    fn fill(&mut self, partials: &[Partial]) -> Vec<CStmt> {
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
    /// after a failure.
    fn gather(
        &mut self,
        partials: &[Partial],
        may_fail: bool,
        thread_status: &str,
        outer_status: &str,
    ) -> Vec<CStmt> {
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
        let critical = if combine.is_empty() {
            Vec::new()
        } else {
            vec![CStmt::Pragma("omp critical".to_owned()), CStmt::Block(None, combine)]
        };
        if !may_fail {
            return critical;
        }
        let tell = vec![
            CStmt::Pragma("omp atomic write".to_owned()),
            CStmt::Assign(CExpr::name(outer_status), "=", CExpr::name(thread_status)),
        ];
        let failed = CExpr::binary("!=", CExpr::name(thread_status), CExpr::name("OK"));
        vec![CStmt::If(failed, tell, critical)]
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

/// Whether a loop only adds to, or multiplies into, numbers that its threads have for themselves:
/// each of them may have lanes, too.
fn is_sum(l: &Loop) -> bool {
    let combined = |op: &ReduceOp, name: &Name| {
        let own = |stmt: &Stmt| match stmt {
            Stmt::Assign(a) => a.target.array == *name && a.target.indices.is_empty() && a.update.is_some(),
            _ => false,
        };
        matches!(op, ReduceOp::Add | ReduceOp::Mul) && l.body.iter().all(own)
    };
    matches!(l.reductions.as_slice(), [(op, name)] if combined(op, name))
}
