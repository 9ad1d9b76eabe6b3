//! Statements other than parallel regions.

use loops::{
    Access, ArrayDecl, Assign, BinaryOp, Copy, Diagnostic, Elem, Expr, Loop, LoopKind, Name, ReduceOp, Stmt,
};

use crate::c::{CExpr, CFor, CStmt};
use crate::openmp::arith;
use crate::openmp::helpers::Helper;
use crate::openmp::lower::{Lower, invalid};
use crate::openmp::memory::{Claims, constant_dims, null_test, reads, reads_memory};
use crate::openmp::scope::{Array, Binding, Form};
use crate::openmp::types::{at_path, elem_bytes, member};

/// Translated statements, and whether an allocation in them may have failed when they are done.
pub struct Code {
    /// The statements.
    pub stmts: Vec<CStmt>,
    /// Whether the status variable has to be looked at afterwards.
    pub may_fail: bool,
}

impl Code {
    fn sure(stmts: Vec<CStmt>) -> Code {
        Code { stmts, may_fail: false }
    }
}

/// Iterations of a loop of assignments that are written out one after the other.
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

/// The updates that directly follow `first` and are of the same element by the same sum or product, of values that do not read its array.
fn same_updates<'a>(first: &Assign, rest: &'a [Stmt]) -> Vec<&'a Assign> {
    let sums = |a: &Assign| a.update.is_some_and(|u| matches!(u.op, ReduceOp::Add | ReduceOp::Mul));
    let same = |stmt: &'a Stmt| match stmt {
        Stmt::Assign(next)
            if next.target == first.target
                && next.update == first.update
                && !next.value.arrays().contains(&first.target.array) =>
        {
            Some(next)
        }
        _ => None,
    };
    if sums(first) { rest.iter().map_while(same).collect() } else { Vec::new() }
}

/// How a loop is printed.
enum LoopForm {
    Plain,
    Unroll(i64),
    Simd,
    Parallel,
}

impl Lower<'_> {
    /// The status variable compared with success.
    pub fn status_ok(&self) -> CExpr {
        CExpr::binary("==", CExpr::name(&self.status), CExpr::name("OK"))
    }

    /// A scope of its own: what it allocates it frees.
    pub fn block(&mut self, stmts: &[Stmt]) -> Result<Code, Diagnostic> {
        let (claims, mut out) = self.claim(stmts, &[])?;
        let body = self.sequence(stmts)?;
        if claims.is_empty() {
            return Ok(body);
        }
        self.unclaim(&claims);
        let blocks = claims.blocks();
        if self.native {
            out.extend(body.stmts);
            out.extend(self.free(&blocks));
            return Ok(Code { stmts: out, may_fail: body.may_fail });
        }
        let fail = CStmt::Assign(CExpr::name(&self.status), "=", CExpr::name("OUT_OF_MEMORY"));
        let failed = null_test(&blocks).unwrap_or_else(|| CExpr::int(0));
        out.push(CStmt::If(failed, vec![fail], body.stmts));
        out.extend(self.free(&blocks));
        Ok(Code { stmts: out, may_fail: true })
    }

    /// The names of these arrays are free again.
    pub fn unclaim(&mut self, claims: &Claims<'_>) {
        for claim in &claims.0 {
            self.claimed.remove(&std::ptr::from_ref(claim.decl));
            self.names.release(&claim.block);
            if let CExpr::Name(name) = &claim.array.base {
                self.names.release(name);
            }
        }
    }

    /// Statements one after another; the names that they declare go out of scope at the end.
    pub fn sequence(&mut self, stmts: &[Stmt]) -> Result<Code, Diagnostic> {
        self.sequence_or(stmts, &[])
    }

    /// Statements one after another; where an allocation in one of them has failed, `leave` comes next, if there is such a way out,
    /// else the statements after it are skipped.
    pub fn sequence_or(&mut self, stmts: &[Stmt], leave: &[CStmt]) -> Result<Code, Diagnostic> {
        let mut declared: Vec<(&Name, Option<String>)> = Vec::new();
        // what is being filled: the outermost list, and lists inside `if (status == OK)`
        let mut levels: Vec<Vec<CStmt>> = vec![Vec::new()];
        let mut may_fail = false;
        let mut k = 0;
        while let Some(stmt) = stmts.get(k) {
            k += 1;
            let code = match stmt {
                Stmt::Local(decl) => {
                    let next = match stmts.get(k) {
                        Some(Stmt::Assign(assign)) if initialises(assign, decl) && !self.paper() => {
                            Some(assign)
                        }
                        _ => None,
                    };
                    let (code, name) = self.local(decl, next)?;
                    if next.is_some() && !code.is_empty() {
                        k += 1;
                    }
                    declared.push((&decl.name, name));
                    Code::sure(code)
                }
                Stmt::Assign(first) if !self.paper() => {
                    let updates = same_updates(first, &stmts[k..]);
                    k += updates.len();
                    Code::sure(vec![self.assign(first, &updates)?])
                }
                _ => self.stmt(stmt)?,
            };
            match stmt {
                Stmt::Assign(assign) => self.just_written = Some(assign.target.clone()),
                Stmt::Local(_) => {}
                _ => self.just_written = None,
            }
            levels.last_mut().expect("there is always a level").extend(code.stmts);
            if code.may_fail {
                may_fail = true;
                if k == stmts.len() {
                    break;
                }
                if leave.is_empty() {
                    levels.push(Vec::new());
                } else {
                    let failed = CExpr::binary("!=", CExpr::name(&self.status), CExpr::name("OK"));
                    let leave = CStmt::If(failed, leave.to_vec(), Vec::new());
                    levels.last_mut().expect("there is always a level").push(leave);
                }
            }
        }
        for (name, c_name) in declared.into_iter().rev() {
            self.scope.pop(name);
            if let Some(c_name) = c_name {
                self.names.release(&c_name);
            }
        }
        let mut inner = levels.pop().expect("there is always a level");
        while let Some(mut outer) = levels.pop() {
            if !inner.is_empty() {
                outer.push(CStmt::If(self.status_ok(), inner, Vec::new()));
            }
            inner = outer;
        }
        Ok(Code { stmts: inner, may_fail })
    }

    /// Declares a local; the second result is the C name to be released at the end of its scope.
    fn local(
        &mut self,
        decl: &ArrayDecl,
        init: Option<&Assign>,
    ) -> Result<(Vec<CStmt>, Option<String>), Diagnostic> {
        if let Some(array) = self.claimed.get(&std::ptr::from_ref(decl)) {
            let array = array.clone();
            self.scope.push(&decl.name, Binding::Array(array));
            return Ok((Vec::new(), None));
        }
        let init = match (init, &decl.elem) {
            (Some(assign), Elem::Scalar(ty)) => Some(self.stored(&assign.value, *ty)?),
            (Some(assign), _) => Some(self.index(&assign.value)?),
            (None, _) => None,
        };
        let uses = self.usage.get(decl);
        let dims = decl.dims.iter().map(|d| self.index(d)).collect::<Result<Vec<_>, _>>()?;
        let c_name = self.names.take(&decl.name);
        self.structs.add(&decl.elem);
        self.note_type(&decl.elem);
        let array = Array {
            base: CExpr::name(&c_name),
            elem: decl.elem.clone(),
            dims: dims.clone(),
            form: Form::Nested,
            stack: true,
        };
        self.scope.push(&decl.name, Binding::Array(array));
        let mut out = Vec::new();
        if uses.read || uses.written {
            if let Some(dims) = constant_dims(decl) {
                let bytes =
                    dims.iter().fold(1usize, |p, d| p.saturating_mul(usize::try_from(*d).unwrap_or(0)));
                self.stack_bytes =
                    self.stack_bytes.saturating_add(bytes.saturating_mul(elem_bytes(&decl.elem)));
            }
            // C has no arrays of no elements
            let nonempty = |d: CExpr| if arith::value(&d).is_some_and(|v| v < 1) { CExpr::int(1) } else { d };
            out.push(CStmt::Declare {
                ty: self.elem_type(&decl.elem),
                name: c_name.clone(),
                dims: dims.into_iter().map(nonempty).collect(),
                init,
            });
            if !uses.read && !self.paper() {
                out.push(CStmt::Expr(CExpr::Cast("void".to_owned(), Box::new(CExpr::name(&c_name)))));
            }
        }
        Ok((out, Some(c_name)))
    }

    /// Notes the headers that a type needs.
    pub fn note_type(&mut self, elem: &Elem) {
        let mut todo = vec![elem];
        while let Some(elem) = todo.pop() {
            match elem {
                Elem::Scalar(loops::Scalar::Bool) => {
                    self.helpers.insert(Helper::Bool);
                }
                Elem::Scalar(_) => {}
                Elem::Pair(a, b) => todo.extend([&**a, &**b]),
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Code, Diagnostic> {
        match stmt {
            Stmt::Assign(assign) => Ok(Code::sure(vec![self.assign(assign, &[])?])),
            Stmt::Loop(l) => self.loop_(l),
            Stmt::If { cond, then, otherwise } => {
                self.ranges.begin();
                self.ranges.assume(cond);
                let then = self.block(then);
                self.ranges.end();
                let (then, otherwise) = (then?, self.block(otherwise)?);
                let (cond, _) = self.expr(cond)?;
                let may_fail = then.may_fail || otherwise.may_fail;
                let stmt = match (then.stmts.is_empty(), otherwise.stmts.is_empty()) {
                    (true, true) => return Ok(Code { stmts: Vec::new(), may_fail }),
                    (true, false) => CStmt::If(CExpr::unary("!", cond), otherwise.stmts, Vec::new()),
                    _ => CStmt::If(cond, then.stmts, otherwise.stmts),
                };
                Ok(Code { stmts: vec![stmt], may_fail })
            }
            Stmt::Block { mark, body } => {
                let code = self.block(body)?;
                let bare = mark.is_none() && !code.stmts.iter().any(|s| matches!(s, CStmt::Declare { .. }));
                if bare {
                    return Ok(code);
                }
                let mark = mark.as_ref().map(|m| m.as_str().to_owned());
                Ok(Code { stmts: vec![CStmt::Block(mark, code.stmts)], may_fail: code.may_fail })
            }
            Stmt::Copy(copy) => self.copy(copy).map(Code::sure),
            // copies are finished when they return
            Stmt::Wait(_) => Ok(Code::sure(Vec::new())),
            Stmt::Local(_) => Err(invalid("a declaration outside a sequence of statements".to_owned())),
        }
    }

    /// An assignment, and `further` updates of the same element by the same operation: one statement that loads and stores once, rounded as
    /// they would be one after the other.
    fn assign(&mut self, assign: &Assign, further: &[&Assign]) -> Result<CStmt, Diagnostic> {
        let (target, elem) = self.access(&assign.target)?;
        let Elem::Scalar(ty) = elem else {
            return Err(invalid(format!("`{}` is a pair where a scalar is assigned", assign.target.array)));
        };
        let value = match whole_number(&assign.value) {
            // the listings of the paper have `v2=0;` for numbers of every type
            Some(number) if self.paper() => CExpr::int(number),
            _ if !further.is_empty() || matches!(assign.update, Some(u) if !u.op.is_modular()) => {
                self.expr(&assign.value)?.0
            }
            _ => self.stored(&assign.value, ty)?,
        };
        let Some(update) = assign.update else {
            return Ok(CStmt::Assign(target, "=", value));
        };
        let kind = self.of_data(ty);
        let wraps = kind.wraps;
        if !further.is_empty() {
            let mut sum = self.binary(update.op.binary(), target.clone(), value, ty, kind);
            for next in further {
                let value = self.expr(&next.value)?.0;
                sum = self.binary(update.op.binary(), sum, value, ty, kind);
            }
            return Ok(CStmt::Assign(target, "=", sum));
        }
        if let (ReduceOp::Add, Expr::Unary(loops::UnaryOp::Neg, amount), true) =
            (update.op, &assign.value, ty.is_narrow() && !self.paper())
        {
            return Ok(CStmt::Assign(target, "-=", self.stored(amount, ty)?));
        }
        Ok(match update.op {
            ReduceOp::Add if !wraps && !self.paper() => CStmt::Assign(target, "+=", value),
            // Products of two such numbers can be beyond `int`.
            ReduceOp::Mul if !wraps && !self.paper() && ty != loops::Scalar::U16 => {
                CStmt::Assign(target, "*=", value)
            }
            op => {
                let updated = self.binary(op.binary(), target.clone(), value, ty, kind);
                CStmt::Assign(target, "=", updated)
            }
        })
    }

    /// A value where it is stored, or added to what is stored: C that is there already converts it then.
    fn stored(&mut self, e: &Expr, ty: loops::Scalar) -> Result<CExpr, Diagnostic> {
        if self.native
            && !ty.is_common()
            && let Expr::Cast(to, inner) = e
            && *to == ty
            && self.constant(ty, inner).is_none()
        {
            let (value, from) = self.expr(inner)?;
            return Ok(if from.is_int() { value } else { self.cast(ty, from, value, false) });
        }
        Ok(self.expr(e)?.0)
    }

    /// Whether a parallel loop at this place becomes a parallel region.
    pub fn parallel_here(&self) -> bool {
        self.options.parallel && !self.in_simd && (self.regions == 0 || self.options.nested || self.paper())
    }

    fn form(&self, l: &Loop) -> Result<LoopForm, Diagnostic> {
        Ok(match l.kind {
            LoopKind::Parallel if self.parallel_here() => LoopForm::Parallel,
            LoopKind::Vector
                if self.options.parallel
                    && !self.in_simd
                    && self.one_lane_each(l)?
                    && (self.paper() || !self.fills_no_vector(l)?) =>
            {
                LoopForm::Simd
            }
            LoopKind::Unroll(Some(times)) if times > 1 => LoopForm::Unroll(i64::from(times).min(1024)),
            LoopKind::Unroll(None) => match trips(l) {
                Some(count) if (2..=1024).contains(&count) => LoopForm::Unroll(count),
                _ => LoopForm::Plain,
            },
            _ => LoopForm::Plain,
        })
    }

    /// Whether the lanes of a vector loop need no memory of their own beside scalars and small arrays.
    fn one_lane_each(&self, l: &Loop) -> Result<bool, Diagnostic> {
        let promoted = self.promotable(l);
        for (_, name) in &l.reductions {
            if !self.in_clause(name)? && !promoted.iter().any(|e| e.array == *name) {
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

    fn loop_(&mut self, l: &Loop) -> Result<Code, Diagnostic> {
        let just_written = self.just_written.take();
        if let Some(stmts) = written_out(l).filter(|_| !self.paper()) {
            return self.sequence(&stmts);
        }
        let form = self.form(l)?;
        let mut before = Vec::new();
        let lower = self.place(&l.lower)?;
        let natural = self.ranges.of(&l.lower).low.is_some_and(|v| v >= 0);
        let mut upper = if natural { self.natural_end(&l.upper)? } else { self.place(&l.upper)? };
        let mut end_name = None;
        if reads_memory(&l.upper) {
            // the end is computed once, before the first iteration
            let name = self.names.take(&format!("{}_end", l.var));
            let ty = format!("const {}", self.loop_type(&l.var));
            before.push(CStmt::Declare { ty, name: name.clone(), dims: Vec::new(), init: Some(upper) });
            upper = CExpr::name(&name);
            end_name = Some(name);
        }
        let mut elements = self.promotable(l);
        let guarded = |e: &Access| just_written.as_ref() != Some(e);
        let guard = if elements.iter().any(guarded) && !self.runs(l) {
            // without an iteration, the element may not exist
            Some(CExpr::binary("<", lower.clone(), upper.clone()))
        } else {
            None
        };
        if self.in_simd && guard.is_some() {
            elements.clear();
        }
        let promotions = self.promote(&elements)?;
        let mut code = match form {
            LoopForm::Parallel => self.parallel_loop(l, lower, upper)?,
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
            LoopForm::Unroll(times) => {
                let body = self.counted(l, lower, upper)?;
                let mut stmts = vec![CStmt::Pragma(format!("GCC unroll {times}"))];
                stmts.extend(body.stmts);
                Code { stmts, may_fail: body.may_fail }
            }
            LoopForm::Plain => match self.carried(l, &lower, &upper)? {
                Some(code) => code,
                None => self.counted(l, lower, upper)?,
            },
        };
        code.stmts = self.demote(promotions, guard, code.stmts);
        if let Some(name) = end_name {
            self.names.release(&name);
            before.extend(code.stmts);
            code.stmts = vec![CStmt::Block(None, before)];
        }
        Ok(code)
    }

    /// The end of a loop that begins at 0 or later: a quotient may be rounded up where it is negative, since there is no iteration then.
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
                Ok(arith::div(self.index(a)?, self.index(divisor)?))
            }
            Expr::Binary(BinaryOp::Add, quotient, more) => {
                // `(a floordiv c) + k` is `(a + k * c) floordiv c`
                if let (Expr::Binary(BinaryOp::FloorDiv, a, divisor), Expr::Int(k)) = (&**quotient, &**more)
                    && let Some(more) = positive(divisor).and_then(|c| c.checked_mul(*k))
                {
                    let dividend = arith::add(self.index(a)?, CExpr::int(more));
                    return Ok(arith::div(dividend, self.index(divisor)?));
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
    pub fn c_for(&self, l: &Loop, var: String, lower: CExpr, upper: CExpr, body: Vec<CStmt>) -> CStmt {
        CStmt::For(CFor { ty: self.loop_type(&l.var), var, lower, upper, step: l.step.max(1), body })
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

    fn copy(&mut self, copy: &Copy) -> Result<Vec<CStmt>, Diagnostic> {
        let rank = copy.extents.len();
        let mut vars = Vec::new();
        let mut extents = Vec::new();
        for (d, extent) in copy.extents.iter().enumerate() {
            let single = matches!(extent, Expr::Int(1));
            extents.push(if single { None } else { Some(self.index(extent)?) });
            vars.push(if single { None } else { Some(self.names.take(&format!("c{d}"))) });
        }
        let side = |lower: &mut Self, access: &loops::Access| -> Result<(CExpr, Elem), Diagnostic> {
            let mut indices = access.indices.iter().map(|i| lower.index(i)).collect::<Result<Vec<_>, _>>()?;
            let own = indices.len();
            for (d, var) in vars.iter().enumerate() {
                let Some(var) = var else { continue };
                let place = (own + d).checked_sub(rank).and_then(|k| indices.get_mut(k));
                let Some(place) = place else {
                    return Err(invalid(format!(
                        "a copy of {rank} dimensions of `{}`, which has {own}",
                        access.array
                    )));
                };
                let first = std::mem::replace(place, CExpr::int(0));
                *place = arith::add(first, CExpr::name(var));
            }
            let array = lower.array(&access.array)?;
            if array.dims.len() != own {
                return Err(invalid(format!(
                    "`{}` has {} dimensions and {own} subscripts",
                    access.array,
                    array.dims.len()
                )));
            }
            let elem = at_path(&array.elem, &access.path)
                .ok_or_else(|| invalid(format!("`{}` has no such component", access.array)))?;
            let mut value = array.element(indices);
            for component in &access.path {
                value = CExpr::Member(Box::new(value), member(*component).to_owned());
            }
            Ok((value, elem))
        };
        let (to, _) = side(self, &copy.to)?;
        let (from, _) = side(self, &copy.from)?;
        let mut code = CStmt::Assign(to, "=", from);
        for (var, extent) in vars.iter().zip(extents).rev() {
            if let (Some(var), Some(extent)) = (var, extent) {
                code = CStmt::For(CFor {
                    ty: self.index_type.clone(),
                    var: var.clone(),
                    lower: CExpr::int(0),
                    upper: extent,
                    step: 1,
                    body: vec![code],
                });
            }
        }
        for var in vars.into_iter().flatten() {
            self.names.release(&var);
        }
        Ok(vec![code])
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

/// The value of a floating-point constant that is a small integer.
fn whole_number(e: &Expr) -> Option<i64> {
    let value = match e {
        Expr::F32(bits) => f64::from(bits.value()),
        Expr::F64(bits) => bits.value(),
        _ => return None,
    };
    let whole = value.trunc() == value && value.abs() < 1e6 && value.to_bits() != (-0.0f64).to_bits();
    whole.then_some(value as i64)
}

/// Whether the assignment gives a scalar that was just declared its first value.
fn initialises(assign: &Assign, decl: &ArrayDecl) -> bool {
    decl.dims.is_empty()
        && matches!(decl.elem, Elem::Scalar(_))
        && assign.update.is_none()
        && assign.target.array == decl.name
        && assign.target.indices.is_empty()
        && assign.target.path.is_empty()
        && !reads(&assign.value, &decl.name)
}
