//! Parallel regions: private memory of threads, reductions, and allocations that fail on one
//! thread.
//!
//! A loop whose threads own no memory is a `parallel for`. Any other loop is a `parallel` region.
//! It allocates each thread's memory once, distributes the iterations by a `for`, and combines the
//! threads' partial results. If a parallel loop consists only of another parallel loop, threads
//! share the iterations of both.

use std::collections::BTreeSet;

use loops::poly::linear;
use loops::visit::{assigns, nodes};
use loops::{Access, Assign, Diagnostic, Elem, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt};

use crate::c::{CExpr, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::imbalance::uneven;
use crate::openmp::lower::Lower;
use crate::openmp::memory::null_test;
use crate::openmp::scope::{Array, Binding};
use crate::openmp::stmt::Code;
use crate::openmp::types::leaves;

/// A variable that stands for a scalar behind a pointer during a reduction: clauses take variables
/// only.
pub struct Accumulator {
    hub: Name,
    name: String,
    load: CStmt,
    store: CStmt,
}

/// Bytes of a line of a cache.
const LINE: i128 = 64;

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

/// Whether how much an iteration has to do is data: elements that it reads, or numbers that it
/// makes of such. What a number from outside says is the same for all iterations.
fn by_data(body: &[Stmt]) -> Option<Ends> {
    let element = |access: &Access| !access.indices.is_empty();
    let mut made = BTreeSet::new();
    loop {
        let known = made.len();
        let found = |access: &Access| element(access) || made.contains(&access.array);
        let more: Vec<&Name> =
            assigns(body).filter(|a| a.value.loads().any(found)).map(|a| &a.target.array).collect();
        made.extend(more);
        if made.len() == known {
            break;
        }
    }
    let data = |e: &Expr| e.loads().any(|access| element(access) || made.contains(&access.array));
    ends_by(body, &data)
}

fn ends_by(body: &[Stmt], data: &dyn Fn(&Expr) -> bool) -> Option<Ends> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Loop(l) if data(&l.lower) || data(&l.upper) || l.ends_early() => Some(Ends::Here),
        Stmt::Loop(l) => ends_by(&l.body, data).map(|_| Ends::Inside),
        other => other.bodies().into_iter().find_map(|inner| ends_by(inner, data)),
    })
}

impl Lower<'_> {
    /// Whether a reduction's variable can stand in a clause of the loop. Threads that end a loop
    /// combine what is in a clause in any order.
    pub(crate) fn in_clause(&self, l: &Loop, op: ReduceOp, name: &Name) -> Result<bool, Diagnostic> {
        let array = self.array(name)?;
        let scalar = array.dims.is_empty() && matches!(array.elem, Elem::Scalar(_));
        let by_turns = l.kind == LoopKind::Parallel && self.rounds(op, name)?;
        Ok(scalar && !by_turns && !self.has_no_clause(op, name)?)
    }

    /// Whether the order in which parts are combined may be seen in the result.
    pub(crate) fn rounds(&self, op: ReduceOp, name: &Name) -> Result<bool, Diagnostic> {
        let float = leaves(&self.array(name)?.elem).iter().any(|(_, ty)| ty.is_float());
        Ok(!self.paper() && float && matches!(op, ReduceOp::Add | ReduceOp::Mul))
    }

    /// Whether threads must take the same iterations of a loop, and combine their parts in the same
    /// order, in every run.
    pub(crate) fn takes_turns(&self, l: &Loop) -> Result<bool, Diagnostic> {
        for (op, name) in &l.reductions {
            if self.rounds(*op, name)? {
                return Ok(true);
            }
        }
        Ok(false)
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
            if !self.in_clause(l, *op, hub)? || matches!(array.base, CExpr::Name(_)) {
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
            if let (CExpr::Name(name), true) = (&array.base, self.in_clause(l, *op, hub)?) {
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

    /// ` firstprivate(A, m, n)`: the pointers, sizes, outer loop variables and numbers that a
    /// parallel loop reads. Shared variables are in memory, all through the function around the
    /// loop: a compiler that cannot distinguish a store from one of them would load it again after
    /// each store, and `clang` loses what `restrict` says of a pointer.
    fn copies(&self, l: &Loop) -> String {
        if !self.native {
            return String::new();
        }
        let variable = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (mut names, mut arrays, mut written) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut used: BTreeSet<Name> = l.lower.vars().into_iter().chain(l.upper.vars()).collect();
        written.extend(l.reductions.iter().map(|(_, array)| array.clone()));
        for stmt in nodes(&l.body) {
            match stmt {
                Stmt::Assign(assign) if assign.target.indices.is_empty() => {
                    written.insert(assign.target.array.clone());
                }
                Stmt::Assign(assign) => {
                    arrays.insert(assign.target.array.clone());
                }
                Stmt::Local(decl) => {
                    written.insert(decl.name.clone());
                }
                _ => {}
            }
            arrays.extend(stmt.exprs().into_iter().flat_map(Expr::arrays));
            used.extend(stmt.exprs().into_iter().flat_map(Expr::vars));
        }
        names.extend(used.iter().filter_map(|var| match self.scope.get(var) {
            Some(Binding::Index(CExpr::Name(name))) if variable(name) => Some(name.clone()),
            _ => None,
        }));
        for array in arrays.difference(&written) {
            match self.scope.get(array) {
                Some(Binding::Array(own)) if own.dims.is_empty() && own.members.is_empty() => {
                    names.extend(if let CExpr::Name(name) = &own.base { Some(name.clone()) } else { None });
                }
                _ => names.extend(self.pointers.get(array).cloned()),
            }
        }
        if names.is_empty() {
            return String::new();
        }
        format!(" firstprivate({})", names.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// The clause that says how threads share out the iterations of a loop: as they come, where
    /// some may be longer than others; around the table, if it must be the same in every run.
    fn sharing(&self, l: &Loop, by_turns: bool) -> Result<String, Diagnostic> {
        let kind = match (by_data(&l.body), by_turns) {
            _ if self.paper() => return Ok(String::new()),
            (Some(Ends::Here), false) => return Ok(" schedule(dynamic, 64)".to_owned()),
            (Some(Ends::Here), true) => return Ok(" schedule(static, 64)".to_owned()),
            (None, _) if !uneven(l) => {
                let kept = if by_turns { " schedule(static)" } else { "" };
                return Ok(kept.to_owned());
            }
            (_, false) => "dynamic",
            (_, true) => "static",
        };
        let several = match (self.of_a_line(l)?, by_turns) {
            (1, false) => String::new(),
            (iterations, _) => format!(", {iterations}"),
        };
        Ok(format!(" schedule({kind}{several})"))
    }

    /// How many iterations in a row store to the same lines of a cache, again and again in loops
    /// inside: one thread is to have them, or the lines go to and fro between cores.
    fn of_a_line(&self, l: &Loop) -> Result<i64, Diagnostic> {
        let inside: BTreeSet<&Name> = nodes(&l.body)
            .filter_map(|stmt| match stmt {
                Stmt::Loop(inner) => Some(&inner.var),
                _ => None,
            })
            .collect();
        let own: BTreeSet<&Name> = nodes(&l.body)
            .filter_map(|stmt| match stmt {
                Stmt::Local(local) => Some(&local.name),
                _ => None,
            })
            .collect();
        let mut most = 1;
        for Assign { target, .. } in assigns(&l.body) {
            let Some((last, rows)) = target.indices.split_last() else { continue };
            let again = rows.iter().any(|row| inside.iter().any(|var| row.mentions(var)));
            if !again || own.contains(&target.array) {
                continue;
            }
            let along = linear::<i128>(last).map_or(0, |e| e.coefficient(&l.var));
            let elem = self.array(&target.array)?.elem.bytes() as i128;
            let apart = along.unsigned_abs() as i128 * i128::from(l.step.max(1)) * elem;
            if apart > 0 && apart < LINE {
                most = most.max((LINE / apart) as i64);
            }
        }
        Ok(most)
    }

    /// A parallel loop whose bounds are translated already.
    pub(crate) fn parallel_loop(&mut self, l: &Loop, lower: CExpr, upper: CExpr) -> Result<Code, Diagnostic> {
        let accumulators = self.accumulators(l)?;
        let mut clauses = self.reduction_clauses(l)?;
        let by_turns = self.takes_turns(l)?;
        clauses.push_str(&self.sharing(l, by_turns)?);
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
            let status = may_fail.then_some((thread_status.as_str(), outer_status.as_str()));
            let mut region = self.gather(&partials, by_turns, status, &mut inside);
            inside.extend(self.free(&allocated));
            region.push(CStmt::Pragma(format!("omp parallel{copies}{enough}")));
            region.push(CStmt::Block(None, inside));
            // what threads are counted in has a scope of its own
            if by_turns { vec![CStmt::Block(None, region)] } else { region }
        };
        self.release_partials(&partials);
        self.unclaim(&claims);
        self.regions -= 1;
        self.status = outer_status;
        self.names.release(&thread_status);
        Ok(Code { stmts: self.around(accumulators, region), may_fail })
    }
}

/// Whether a loop only adds to, or multiplies into, numbers that its threads have for themselves:
/// each of them may have lanes, too.
pub(crate) fn is_sum(l: &Loop) -> bool {
    let combined = |op: &ReduceOp, name: &Name| {
        let own = |stmt: &Stmt| match stmt {
            Stmt::Assign(a) => a.target.array == *name && a.target.indices.is_empty() && a.update.is_some(),
            _ => false,
        };
        matches!(op, ReduceOp::Add | ReduceOp::Mul) && l.body.iter().all(own)
    };
    matches!(l.reductions.as_slice(), [(op, name)] if combined(op, name))
}
