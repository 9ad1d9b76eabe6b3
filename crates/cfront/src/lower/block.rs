//! Statements: assignments, conditionals, local declarations, blocks.

use loops::{
    Access, ArrayDecl, Assign, BinaryOp, Expr as Hub, Name, ReduceOp, Scalar, Stmt as HubStmt, Storage,
    UnaryOp, Update,
};

use super::data::Type;
use super::{Class, Failed, Lowering, Try};
use crate::ast::{At, BREAK, Binary, CONTINUE, Declaration, Expr, ExprKind, Init, Stmt, StmtKind};
use crate::codes;
use crate::ctype::{CType, IntType};
use crate::lower::resolve::Meaning;
use crate::lower::track::Value;

/// Most values of an initialiser list in a region.
const MAX_INITIALISERS: usize = 64;

impl Lowering<'_> {
    /// Translates statements. Those that fail have left a diagnostic, so that the region is not
    /// compiled.
    pub(super) fn statements(&mut self, body: &[Stmt]) -> Vec<HubStmt> {
        let mut out = Vec::new();
        for stmt in body {
            match self.statement(stmt) {
                Ok(mut stmts) => out.append(&mut stmts),
                Err(failed) => self.told(failed, stmt.at),
            }
        }
        out
    }

    /// A failure without a diagnostic would drop the statement from the program. It is refused as a
    /// defect of the compiler.
    pub(super) fn told(&mut self, _: Failed, at: At) {
        if !self.diagnostics.is_empty() {
            return;
        }
        let message = format!("`{}` is not accepted, for an unknown reason", self.snippet(at));
        let help = "this is a defect of the compiler; keep the statement out of the region, or write it in another way";
        let _: Try<()> = self.fail_with(codes::STATEMENT, message, (at, "this statement"), help);
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) -> Try<Vec<HubStmt>> {
        self.statement_pending = self.pending.len();
        self.here = stmt.at;
        if let Some(list) = self.without_steps(stmt) {
            return self.one_by_one(&list);
        }
        match &stmt.kind {
            StmtKind::Empty => Ok(Vec::new()),
            StmtKind::Block(body) => {
                let before = self.diagnostics.len();
                let out = self.statements(body);
                if self.diagnostics.len() > before { Err(Failed) } else { Ok(out) }
            }
            StmtKind::For(f) => self.for_loop(f, stmt.at),
            StmtKind::If { cond, then, otherwise } => self.conditional(cond, then, otherwise.as_deref()),
            StmtKind::Declare(declarations) => {
                let mut out = Vec::new();
                for (number, d) in declarations.iter().enumerate() {
                    match self.declaration(d) {
                        Ok(mut stmts) => out.append(&mut stmts),
                        Err(failed) => {
                            // Nothing more is said of these where they are used.
                            let names = declarations[number..].iter().map(|d| &d.at.first);
                            self.blamed.extend(names.filter_map(|name| self.res.declared.get(name)));
                            return Err(failed);
                        }
                    }
                }
                Ok(out)
            }
            StmtKind::Expr(e) => self.expression_statement(e),
            StmtKind::Pragma(texts, next) => self.pragmas(texts, next.as_deref()),
            StmtKind::Jump(word) => {
                let message = format!("`{word}` of a loop around the region: it would leave the region");
                let help =
                    "put its loop into the region as well, or keep the statement outside of the region";
                self.fail_with(codes::STATEMENT, message, (stmt.at, "not possible in a region"), help)
            }
            // Those that jumps lead to are gone.
            StmtKind::Label(_) => Ok(Vec::new()),
            StmtKind::Unsupported(what @ (CONTINUE | BREAK)) => {
                let message = format!(
                    "the code after this {what} can be reached in several ways, so no single condition says when it runs"
                );
                let help = match *what {
                    BREAK => "leave the loop by a variable in its condition instead of using `break`",
                    _ => "put the rest of the body under an `if` instead of using `continue`",
                };
                self.fail_with(codes::STATEMENT, message, (stmt.at, "not possible in a region"), help)
            }
            StmtKind::Unsupported(what) => {
                let message = format!("{what} in a region: only loops, `if` and `switch` are possible");
                let help = "write a `for` loop with affine bounds, put what should be skipped under an `if`, or keep the loop outside of the region";
                self.fail_with(codes::STATEMENT, message, (stmt.at, "not possible in a region"), help)
            }
        }
    }

    fn conditional(&mut self, cond: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Try<Vec<HubStmt>> {
        if let Some(chosen) = self.chosen_index(cond, then, otherwise) {
            return chosen;
        }
        let condition = match self.condition(cond) {
            Ok(condition) => condition,
            Err(_) => return self.choice(cond, then, otherwise),
        };
        let mark = self.known.len();
        self.branches += 1;
        self.known.extend(condition.holds);
        let before = self.state();
        let then = self.body(then);
        let after_then = self.restore(before);
        self.known.truncate(mark);
        self.known.extend(condition.fails);
        let otherwise = otherwise.map_or(Ok(Vec::new()), |o| self.body(o));
        self.known.truncate(mark);
        self.branches -= 1;
        match condition.expr {
            Hub::Bool(true) => _ = self.restore(after_then),
            Hub::Bool(false) => {}
            _ => self.meet(&after_then, cond.at),
        }
        let (then, otherwise) = (then?, otherwise?);
        Ok(match condition.expr {
            Hub::Bool(true) => then,
            Hub::Bool(false) => otherwise,
            cond => vec![HubStmt::If { cond, then, otherwise }],
        })
    }

    /// `if (i < 0) i = 0;` is `i = i < 0 ? 0 : i` where that is an index expression.
    fn chosen_index(
        &mut self,
        cond: &Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) -> Option<Try<Vec<HubStmt>>> {
        let target = assigned_to(then)?;
        let k = self.followed_target(target).filter(|k| self.is_data(*k) && !self.active.contains(k))?;
        self.value_of(k)?;
        let value = conditional_value(cond, then, otherwise, target)?;
        let mark = self.assumed.len();
        let is_index = self.index(&value).is_ok();
        self.assumed.truncate(mark);
        is_index.then(|| self.assign_followed(k, None, target, &value, then.at))
    }

    fn declaration(&mut self, d: &Declaration) -> Try<Vec<HubStmt>> {
        let Some(k) = self.res.declared.get(&d.at.first).copied() else {
            // A constant with a value.
            return Ok(Vec::new());
        };
        // What is constant has the same values whenever it is made.
        if d.is_extern || (d.is_static && !(d.ty.is_constant() && d.init.is_some())) {
            let help = "move the declaration before the loops";
            let label = (d.at, "declared here");
            let message = refused(d, "it is static or extern, so it outlives the region");
            return self.fail_with(codes::DECLARATION, message, label, help);
        }
        if d.ty.is_volatile() {
            let message = refused(d, "it is volatile or atomic");
            return self.fail(codes::TYPE, message, d.at, "declared here");
        }
        if let Some(Init::Expr(e)) = &d.init {
            self.initial.insert(k, std::rc::Rc::new(e.clone()));
        }
        if self.declares_index(k, d)? {
            return Ok(Vec::new());
        }
        if matches!(d.ty.ty, CType::Pointer { .. }) {
            if self.tracked.contains(&k) {
                return self.pointer_declaration(k, d);
            }
            return self.bad_declaration(d, "it is a pointer");
        }
        let elem = self.declare_array(k, &d.ty, d.at)?;
        if self.arrays[&k].rows {
            return self.bad_declaration(d, "it has pointers");
        }
        let (name, dims, storage) = (self.name_of(k), self.arrays[&k].dims.clone(), Storage::Auto);
        let mut out = vec![HubStmt::Local(ArrayDecl { name, elem: elem.into(), dims, storage })];
        self.initial_value(k, elem, d, &mut out)?;
        if self.tracked.contains(&k) {
            match &d.init {
                Some(Init::Expr(e)) => self.follow(k, e),
                _ => self.forget(k, "it has no value", d.at),
            }
        }
        if out.iter().any(|stmt| matches!(stmt, HubStmt::Assign(_)))
            && let Some(array) = self.arrays.get_mut(&k)
        {
            array.written = true;
        }
        Ok(out)
    }

    fn bad_declaration<T>(&mut self, d: &Declaration, what: &str) -> Try<T> {
        self.fail(codes::DECLARATION, refused(d, what), d.at, "declared here")
    }

    /// Whether a variable is an index alone, which needs no declaration. Its value is followed
    /// then.
    fn declares_index(&mut self, k: usize, d: &Declaration) -> Try<bool> {
        match self.class(k) {
            // Declared here, set by the loops.
            Class::LoopVariable(ty) => {
                if let Some(Init::Expr(e)) = &d.init
                    && self.tracked.contains(&k)
                    && let Ok(value) = self.index(e)
                    && self.converted(&value, ty, e.at).is_ok()
                {
                    self.set_value(k, Value::Number(super::index::Index { ty, ..value }), Vec::new());
                    return Ok(true);
                }
                if d.init.is_some() {
                    return self.bad_declaration(d, "a loop variable that is initialised in its declaration");
                }
                Ok(true)
            }
            Class::Fixed(ty) => {
                let mark = self.assumed.len();
                let Some(Init::Expr(e)) = &d.init else { return Ok(false) };
                if ty.bits() < 32 {
                    return Ok(false);
                }
                let Ok(value) = self.index(e) else {
                    // It is data as well, if something reads it as that.
                    self.set_product(k, e, &d.ty, ty);
                    return Ok(false);
                };
                if self.converted(&value, ty, e.at).is_ok() {
                    self.values.insert(k, super::index::Index { ty, ..value });
                    return Ok(true);
                }
                self.assumed.truncate(mark);
                Ok(false)
            }
            Class::Size(_) | Class::Data => Ok(false),
        }
    }

    /// The assignments of a declaration with a value.
    fn initial_value(&mut self, k: usize, elem: Scalar, d: &Declaration, out: &mut Vec<HubStmt>) -> Try<()> {
        let (name, dims) = (self.name_of(k), self.arrays[&k].dims.clone());
        match &d.init {
            None => Ok(()),
            Some(Init::Expr(e)) if dims.is_empty() => {
                let (value, ty) = self.data(e)?;
                let value = self.convert(value, ty, Type::of(elem));
                out.push(self.assign(Access::scalar(name), None, value));
                Ok(())
            }
            Some(Init::List(items)) if !dims.is_empty() => {
                let positive = |d: &Hub| if let Hub::Int(n @ 1..) = d { Some(*n) } else { None };
                let extents: Option<Vec<i64>> = dims.iter().map(positive).collect();
                let total = extents.as_ref().and_then(|e| e.iter().try_fold(1i64, |p, n| p.checked_mul(*n)));
                let (Some(extents), Some(total)) = (extents, total) else {
                    return self.bad_declaration(d, "an initialiser for an array of variable extents");
                };
                if total > MAX_INITIALISERS as i64 {
                    let what = format!("an initialiser for more than {MAX_INITIALISERS} elements");
                    return self.bad_declaration(d, &what);
                }
                self.initialise(&name, elem, &extents, &[], items, d, out)
            }
            Some(Init::Unsupported(what)) => self.bad_declaration(d, what),
            Some(_) => self.bad_declaration(d, "its initialiser has another shape"),
        }
    }

    /// The declaration of a pointer: what it points to is known, or it is set later.
    fn pointer_declaration(&mut self, k: usize, d: &Declaration) -> Try<Vec<HubStmt>> {
        self.forget(k, "it has no value", d.at);
        match &d.init {
            Some(Init::Expr(e)) => self.follow(k, e),
            None => {}
            Some(_) => {
                let message = format!("the initialiser of the pointer `{}` is not understood", d.name);
                return self.fail(codes::DECLARATION, message, d.at, "declared here");
            }
        }
        Ok(Vec::new())
    }

    /// Assignments for an initialiser list; what the list leaves out is zero.
    #[allow(clippy::too_many_arguments)] // a recursion over dimensions
    fn initialise(
        &mut self,
        name: &Name,
        elem: Scalar,
        extents: &[i64],
        prefix: &[i64],
        items: &[Init],
        d: &Declaration,
        out: &mut Vec<HubStmt>,
    ) -> Try<()> {
        let Some((extent, rest)) = extents.split_first() else { return Ok(()) };
        if items.len() as i64 > *extent {
            let message = format!("the initialiser of `{}` has too many values", d.name);
            return self.fail(codes::DECLARATION, message, d.at, "declared here");
        }
        for k in 0..*extent {
            let mut at: Vec<i64> = prefix.to_vec();
            at.push(k);
            match (items.get(k as usize), rest.is_empty()) {
                (Some(Init::Expr(e)), true) => {
                    let (value, ty) = self.data(e)?;
                    let value = self.convert(value, ty, Type::of(elem));
                    let access = Access::element(name.clone(), at.iter().map(|i| Hub::Int(*i)).collect());
                    out.push(self.assign(access, None, value));
                }
                (None, true) => {
                    let access = Access::element(name.clone(), at.iter().map(|i| Hub::Int(*i)).collect());
                    let zero = Hub::constant(elem, 0);
                    out.push(self.assign(access, None, zero));
                }
                (Some(Init::List(items)), false) => {
                    self.initialise(name, elem, rest, &at, items, d, out)?;
                }
                (None, false) => self.initialise(name, elem, rest, &at, &[], d, out)?,
                _ => {
                    let message = format!("the initialiser of `{}` is not in the shape of the array", d.name);
                    return self.fail(codes::DECLARATION, message, d.at, "declared here");
                }
            }
        }
        Ok(())
    }

    pub(super) fn expression_statement(&mut self, e: &Expr) -> Try<Vec<HubStmt>> {
        match &e.kind {
            ExprKind::Assign(op, target, value) => match self.followed_target(target) {
                Some(k) => self.assign_followed(k, *op, target, value, e.at),
                None => Ok(vec![self.assignment(*op, target, value, e.at)?]),
            },
            ExprKind::Step(amount, target) => {
                if let Some(k) = self.followed_target(target) {
                    let op = if *amount > 0 { Binary::Add } else { Binary::Sub };
                    let kind = ExprKind::Int(amount.unsigned_abs(), IntType::Int);
                    let one = Expr { kind, at: e.at, height: 1 };
                    return self.assign_followed(k, Some(op), target, &one, e.at);
                }
                let (access, elem) = self.target(target)?;
                let one = Hub::constant(elem, *amount as i32);
                if elem == Scalar::Bool {
                    let message = format!("`{}` counts a `_Bool`", self.snippet(e.at));
                    return self.fail(codes::TYPE, message, e.at, "not possible on a truth value");
                }
                let update = Some(Update { op: ReduceOp::Add, reorder: false });
                Ok(vec![self.assign(access, update, one)])
            }
            ExprKind::Cast(ty, inner)
                if matches!(ty.ty, CType::Void) && matches!(inner.kind, ExprKind::Ident(_)) =>
            {
                Ok(Vec::new())
            }
            ExprKind::Call { function, args } if self.is_fill(function) => {
                self.fill(function.strip_prefix("__builtin_").unwrap_or(function), args, e.at)
            }
            ExprKind::Call { function, .. } => {
                let message = format!("a call of `{function}` as a statement: what it accesses is not known");
                let help = "a function of the file that has parameters that are numbers, pointers to numbers, and arrays that a name is given for, and returns nothing, without a `return`, takes the place of its calls; or write out what it does, or end the region before the call and begin another one after it";
                self.fail_with(codes::CALL, message, (e.at, "not possible in a region"), help)
            }
            ExprKind::Unsupported(what) => {
                let (message, label) = (format!("{what} in a region"), "not possible in a region");
                match super::array::way_out(what) {
                    Some(help) => self.fail_with(codes::EXPRESSION, message, (e.at, label), help),
                    None => self.fail(codes::EXPRESSION, message, e.at, label),
                }
            }
            // `(void)x;` says that a value is not needed.
            ExprKind::Cast(ty, inner) if matches!(ty.ty, CType::Void) && does_nothing(inner) => {
                Ok(Vec::new())
            }
            _ => {
                let message = format!("the statement `{}` does not assign anything", self.snippet(e.at));
                self.fail(codes::STATEMENT, message, e.at, "no effect")
            }
        }
    }

    /// Whether a function is one of the C library that fills memory.
    fn is_fill(&self, function: &str) -> bool {
        let plain = function.strip_prefix("__builtin_").unwrap_or(function);
        super::fill::fills(plain) && !self.cx.defined.contains(plain)
    }

    pub(super) fn assign(&mut self, target: Access, update: Option<Update>, value: Hub) -> HubStmt {
        let label = Name::new(format!("S{}", self.labels));
        self.labels += 1;
        let span = self.span(self.here);
        self.statement_spans.insert(label.clone(), span);
        HubStmt::Assign(Assign { label: Some(label), target, update, value })
    }

    /// What an assignment writes, and its element type.
    fn target(&mut self, target: &Expr) -> Try<(Access, Scalar)> {
        if let ExprKind::Ident(name) = &target.kind
            && let Meaning::Object(k) = self.meaning(target)
            && let Class::LoopVariable(_) = self.class(k)
        {
            self.blamed.insert(k);
            let message = format!("the loop variable `{name}` is assigned outside of the header of its loop");
            return self.fail(codes::LOOP_VARIABLE, message, target.at, "assigned here");
        }
        let (access, elem, k) = self.access(target)?;
        if self.res.objects[k].ty.constant {
            // An array of constants has the qualifier on its elements; the C compiler reports that.
        }
        if let Some(array) = self.arrays.get_mut(&k) {
            array.written = true;
        }
        Ok((access, elem))
    }

    pub(super) fn assignment(
        &mut self,
        op: Option<Binary>,
        target: &Expr,
        value: &Expr,
        at: At,
    ) -> Try<HubStmt> {
        if matches!(value.kind, ExprKind::Assign(..)) {
            let message = "an assignment whose value is an assignment";
            return self.fail(codes::EXPRESSION, message, value.at, "write two statements");
        }
        let written = self.target(target);
        let read = self.data(value);
        let ((access, elem), (value_expr, ty)) = (written?, read?);
        let own = Type::of(elem);
        let Some(op) = op else {
            let stored = self.convert(value_expr, ty, own);
            let (update, stored) = as_update(&access, elem, stored);
            if update.is_some() {
                self.mark_read(&access);
            }
            return Ok(self.assign(access, update, stored));
        };
        self.mark_read(&access);
        let common = own.common(ty);
        // Sums and products of integers keep their low bits, whatever type they are made in.
        let low_bits = elem.is_narrow() && !common.is_float();
        if (common == own && elem != Scalar::Bool) || low_bits {
            let operand = self.convert(value_expr.clone(), ty, own);
            let update = |op| Some(Update { op, reorder: false });
            match op {
                Binary::Add => return Ok(self.assign(access, update(ReduceOp::Add), operand)),
                Binary::Mul => return Ok(self.assign(access, update(ReduceOp::Mul), operand)),
                // x - e and x + (-e) are the same number, also where rounded or wrapped.
                Binary::Sub => return Ok(self.assign(access, update(ReduceOp::Add), negated(operand))),
                _ => {}
            }
        }
        let loaded = Hub::Load(access.clone());
        let (sum, ty) = self.arithmetic(op, (loaded, own), (value_expr, ty), at)?;
        let stored = self.convert(sum, ty, own);
        Ok(self.assign(access, None, stored))
    }

    pub(super) fn mark_read(&mut self, access: &Access) {
        let object = self.names.iter().find(|(_, name)| **name == access.array).map(|(k, _)| *k);
        if let Some(array) = object.and_then(|k| self.arrays.get_mut(&k)) {
            array.read = true;
        }
    }
}

/// `(uint8_t)(x + e)` as the sum of the narrow `x` and `(uint8_t)e`, which has the same bits.
fn narrowed(target: &Access, elem: Scalar, value: Hub) -> Hub {
    let is_target = |e: &Hub| match e {
        Hub::Cast(wide, e) => wide.is_int() && matches!(&**e, Hub::Load(access) if access == target),
        _ => false,
    };
    let low_bits = |e: Hub| Hub::Cast(elem, Box::new(e));
    let loaded = || Hub::Load(target.clone());
    match value {
        Hub::Cast(to, sum) if to == elem && elem.is_narrow() => match *sum {
            Hub::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) if is_target(&a) => {
                Hub::binary(op, loaded(), low_bits(*b))
            }
            Hub::Binary(op @ (BinaryOp::Add | BinaryOp::Mul), a, b) if is_target(&b) => {
                Hub::binary(op, low_bits(*a), loaded())
            }
            other => low_bits(other),
        },
        other => other,
    }
}

/// The negative of a number; of a constant, the constant.
fn negated(e: Hub) -> Hub {
    match e {
        Hub::Cast(to, constant) if matches!(*constant, Hub::I32(_)) => {
            Hub::Cast(to, Box::new(negated(*constant)))
        }
        Hub::F32(bits) => Hub::f32(-bits.value()),
        Hub::F64(bits) => Hub::f64(-bits.value()),
        Hub::I32(value) => Hub::I32(value.wrapping_neg()),
        Hub::Int(value) => Hub::Int(value.wrapping_neg()),
        other => Hub::unary(UnaryOp::Neg, other),
    }
}

/// `x = x + e` is the update `x += e`. So are products, extrema and differences, if `x` is an
/// operand of the whole.
fn as_update(target: &Access, elem: Scalar, value: Hub) -> (Option<Update>, Hub) {
    let update = |op| Some(Update { op, reorder: false });
    let is_target = |e: &Hub| matches!(e, Hub::Load(access) if access == target);
    let (op, left, right) = match narrowed(target, elem, value) {
        Hub::Binary(op, left, right) => (op, left, right),
        other => return (None, other),
    };
    let reduce = match op {
        BinaryOp::Add | BinaryOp::Sub => ReduceOp::Add,
        BinaryOp::Mul => ReduceOp::Mul,
        BinaryOp::Min => ReduceOp::Min,
        BinaryOp::Max => ReduceOp::Max,
        _ => return (None, Hub::Binary(op, left, right)),
    };
    if is_target(&left) {
        let operand = if op == BinaryOp::Sub { negated(*right) } else { *right };
        (update(reduce), operand)
    } else if is_target(&right) && op != BinaryOp::Sub {
        (update(reduce), *left)
    } else {
        (None, Hub::Binary(op, left, right))
    }
}

fn refused(d: &Declaration, what: &str) -> String {
    format!("the declaration of `{}` in a region: {what}", d.name)
}

/// What a statement assigns to, if it is one assignment.
fn assigned_to(stmt: &Stmt) -> Option<&Expr> {
    match &stmt.kind {
        StmtKind::Block(body) if body.len() == 1 => assigned_to(&body[0]),
        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => Some(target),
        _ => None,
    }
}

/// The value that `target` has after a conditional whose branches assign to it alone.
fn conditional_value(cond: &Expr, then: &Stmt, otherwise: Option<&Stmt>, target: &Expr) -> Option<Expr> {
    let then = branch_value(then, target)?;
    let otherwise = otherwise.map_or_else(|| Some(target.clone()), |stmt| branch_value(stmt, target))?;
    let height = cond.height.max(then.height).max(otherwise.height) + 1;
    let kind = ExprKind::Conditional(Box::new(cond.clone()), Box::new(then), Box::new(otherwise));
    Some(Expr { kind, at: cond.at, height })
}

fn branch_value(stmt: &Stmt, target: &Expr) -> Option<Expr> {
    let same =
        |e: &Expr| matches!((&e.kind, &target.kind), (ExprKind::Ident(a), ExprKind::Ident(b)) if a == b);
    match &stmt.kind {
        StmtKind::Block(body) if body.len() == 1 => branch_value(&body[0], target),
        StmtKind::If { cond, then, otherwise } => conditional_value(cond, then, otherwise.as_deref(), target),
        StmtKind::Expr(Expr { kind: ExprKind::Assign(op, to, value), at, .. }) if same(to) => {
            Some(match op {
                None => (**value).clone(),
                Some(op) => {
                    let height = value.height + 1;
                    let kind = ExprKind::Binary(*op, Box::new(target.clone()), value.clone());
                    Expr { kind, at: *at, height }
                }
            })
        }
        _ => None,
    }
}

/// Whether evaluating an expression does nothing. The operand of `sizeof` is not evaluated.
fn does_nothing(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Unsupported(what) if what.starts_with("`sizeof`")) || !crate::parser::acts(e)
}
