//! Statements other than parallel regions.

use loops::{Access, ArrayDecl, Assign, Copy, Diagnostic, Elem, Expr, Name, ReduceOp, Scalar, Stmt};

use crate::c::{CExpr, CFor, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::index_arithmetic;
use crate::openmp::lower::{Lower, invalid};
use crate::openmp::memory::{Claims, constant_dims, null_test};
use crate::openmp::scope::{Array, Binding, Form};
use crate::openmp::types::{at_path, elem_bytes, member};

/// Translated statements, and whether an allocation in them may have failed at their end.
pub struct Code {
    /// The statements.
    pub stmts: Vec<CStmt>,
    /// Whether the status variable has to be looked at afterwards.
    pub may_fail: bool,
}

impl Code {
    pub fn sure(stmts: Vec<CStmt>) -> Code {
        Code { stmts, may_fail: false }
    }
}

/// The updates that directly follow `first` and are of the same element by the same sum or product,
/// of values that do not read its array.
fn same_updates<'a>(first: &Assign, rest: &'a [Stmt]) -> Vec<&'a Assign> {
    let sums = |a: &Assign| a.update.is_some_and(|u| matches!(u.op, ReduceOp::Add | ReduceOp::Mul));
    let same = |stmt: &'a Stmt| match stmt {
        Stmt::Assign(next)
            if next.target == first.target
                && next.update == first.update
                && !next.value.reads(&first.target.array) =>
        {
            Some(next)
        }
        _ => None,
    };
    if sums(first) { rest.iter().map_while(same).collect() } else { Vec::new() }
}

impl Lower<'_> {
    /// The status variable compared with success.
    pub(crate) fn status_ok(&self) -> CExpr {
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
    pub(crate) fn unclaim(&mut self, claims: &Claims<'_>) {
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

    /// Statements in sequence. If an allocation in one of them has failed, `leave` comes next, if
    /// there is such an exit. Otherwise the statements after it are skipped.
    pub(crate) fn sequence_or(&mut self, stmts: &[Stmt], leave: &[CStmt]) -> Result<Code, Diagnostic> {
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
            members: Vec::new(),
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
            let nonempty =
                |d: CExpr| if index_arithmetic::value(&d).is_some_and(|v| v < 1) { CExpr::int(1) } else { d };
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
    pub(crate) fn note_type(&mut self, elem: &Elem) {
        let mut todo = vec![elem];
        while let Some(elem) = todo.pop() {
            match elem {
                Elem::Scalar(Scalar::Bool) => {
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

    /// A choice by data between two integers that are both at hand, if it is that of another
    /// variable: none of them stays what it is.
    fn choice(&mut self, target: &Access, value: &Expr) -> Result<Option<CExpr>, Diagnostic> {
        let Expr::Select(cond, then, otherwise) = value else { return Ok(None) };
        let own = |name: &Name| {
            let array = self.array(name).ok().filter(|a| a.stack && a.dims.is_empty())?;
            matches!(array.elem, Elem::Scalar(Scalar::I32 | Scalar::I64)).then(|| array.elem.clone())
        };
        let side = |e: &Expr| match e {
            Expr::Load(access) if access.array != target.array => own(&access.array),
            _ => None,
        };
        let elem = own(&target.array);
        let at_hand = elem.is_some() && side(then) == elem && side(otherwise) == elem;
        if !at_hand || self.paper() || self.in_simd || !cond.has_loads() {
            return Ok(None);
        }
        let args = vec![self.expr(cond)?.0, self.expr(then)?.0, self.expr(otherwise)?.0];
        Ok(Some(self.helper(Helper::Choice, "LOZENGE_CHOICE", args)))
    }

    /// An assignment, and `further` updates of the same element by the same operation: one
    /// statement that loads and stores once, rounded as they would be one after the other.
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
            _ => match self.choice(&assign.target, &assign.value)? {
                Some(choice) => choice,
                None => self.stored(&assign.value, ty)?,
            },
        };
        let Some(update) = assign.update else {
            return Ok(CStmt::Assign(target, "=", self.vector_of(&assign.value, value)));
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
        // A difference is the sum with the negated number, to the last bit; compilers fuse it with
        // a product where they do not fuse the negation of one.
        if let (ReduceOp::Add, Expr::Unary(loops::UnaryOp::Neg, amount), true) =
            (update.op, &assign.value, (ty.is_narrow() || ty.is_float()) && !self.paper())
        {
            return Ok(CStmt::Assign(target, "-=", self.stored(amount, ty)?));
        }
        Ok(match update.op {
            ReduceOp::Add if !wraps && !self.paper() => CStmt::Assign(target, "+=", value),
            // Products of two such numbers can be beyond `int`.
            ReduceOp::Mul if !wraps && !self.paper() && ty != Scalar::U16 => {
                CStmt::Assign(target, "*=", value)
            }
            op => {
                let updated = self.binary(op.binary(), target.clone(), value, ty, kind);
                CStmt::Assign(target, "=", updated)
            }
        })
    }

    /// A value that is stored, or added to what is stored. In existing C code it is then converted.
    fn stored(&mut self, e: &Expr, ty: Scalar) -> Result<CExpr, Diagnostic> {
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
                *place = index_arithmetic::add(first, CExpr::name(var));
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
                    step: CExpr::int(1),
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
        && !assign.value.reads(&decl.name)
}
