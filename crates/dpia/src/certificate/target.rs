//! Exports the loops as data of a certificate.
//!
//! Every loop and every local array gets a number of its own. A loop that does not count from 0 by
//! 1 counts its iterations, and its variable is an expression of that count. Refused: parallel
//! reductions of more than one number, and copies of boxes.

use std::collections::{BTreeSet, HashMap};

use loops::{
    Access, Assign, Component, Elem, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Size, Stmt, UnaryOp, Value,
};

use super::data::{ArrayType, Cmd, Law, Names, Op, Tm};
use super::ops::Kind;
use super::{Result, ops, refused};

/// Where the number of an array's element is stored: an array number, and components in front of
/// those of an access.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub number: u32,
    pub components: Vec<bool>,
    pub elem: Elem,
    /// Whether its elements are indices.
    pub index: bool,
}

/// Components and their types of an element, below these components.
pub(super) fn leaves(elem: &Elem, components: &[bool], found: &mut Vec<(Vec<bool>, &'static str)>) {
    match elem {
        Elem::Scalar(ty) => found.push((components.to_vec(), ty.keyword())),
        Elem::Pair(a, b) => {
            for (second, half) in [(false, a), (true, b)] {
                leaves(half, &[components, &[second]].concat(), found);
            }
        }
    }
}

/// The names that are in scope, and the numbers given so far.
#[derive(Default, Debug)]
pub(super) struct Target {
    integers: HashMap<Name, Tm>,
    arrays: HashMap<Name, Array>,
    next_integer: u32,
    next_array: u32,
    /// The number of threads, if the loops ask for it.
    threads: Option<Tm>,
    /// Numbers and names for readers.
    pub names: Names,
    /// The arrays that have numbers, as they are declared.
    pub dims: Vec<(u32, ArrayType)>,
    /// What updates and sums in parallel need of operations.
    pub laws: BTreeSet<Law>,
    /// Loops that sum in parallel: their variable, and what threads begin with.
    pub sums: Vec<(u32, Tm)>,
}

impl Target {
    /// A number for an integer with this name.
    pub fn integer(&mut self, name: &Name) -> u32 {
        let number = self.next_integer;
        self.next_integer += 1;
        self.names.integers.push((number, name.to_string()));
        number
    }

    /// A size parameter; it is in scope everywhere.
    pub(crate) fn size_parameter(&mut self, name: &Name) -> u32 {
        let number = self.integer(name);
        self.integers.insert(name.clone(), Tm::Var(number));
        number
    }

    /// A number for the number of threads, under a name that is none of these. It is one of the
    /// sizes.
    pub(crate) fn number_of_threads(&mut self, taken: &BTreeSet<Name>) {
        let name = loops::visit::fresh(&Name::new("threads"), taken);
        self.threads = Some(Tm::Var(self.integer(&name)));
    }

    /// So many sizes there are, if they are all that has a number.
    pub(crate) fn sizes(&self) -> u32 {
        self.next_integer
    }

    /// A number for an array with this name.
    pub fn number(&mut self, name: &str) -> u32 {
        let number = self.next_array;
        self.next_array += 1;
        self.names.arrays.push((number, name.to_owned()));
        number
    }

    /// The array of this name, from here to the end of its scope; what the name was before.
    pub fn declare(&mut self, name: &Name, array: Array) -> Option<Array> {
        self.arrays.insert(name.clone(), array)
    }

    /// The first number that no array has.
    pub(crate) fn arrays_so_far(&self) -> u32 {
        self.next_array
    }

    /// A size as a term.
    pub fn size(&self, size: &Size) -> Result<Tm> {
        self.exact(&size.to_expr())
    }

    /// Statements one after another.
    pub fn body(&mut self, stmts: &[Stmt]) -> Result<Cmd> {
        self.statements(stmts, false)
    }

    /// `summing`: as the body of a loop that sums in parallel, whose update comes last.
    fn statements(&mut self, stmts: &[Stmt], summing: bool) -> Result<Cmd> {
        let Some((first, rest)) = stmts.split_first() else { return Ok(Cmd::Skip) };
        if let Stmt::Local(local) = first {
            let number = self.number(&local.name);
            let extents = local.dims.iter().map(|d| self.exact(d)).collect::<Result<_>>()?;
            let mut components = Vec::new();
            leaves(&local.elem, &[], &mut components);
            self.dims.push((number, ArrayType { components, extents }));
            let elem = local.elem.clone();
            let array = Array { number, components: Vec::new(), elem, index: false };
            let before = self.declare(&local.name, array);
            let body = self.statements(rest, summing)?;
            self.restore_array(&local.name, before);
            return Ok(Cmd::Local(number, Box::new(body)));
        }
        let first = self.stmt(first, summing && rest.is_empty())?;
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Cmd::Seq(Box::new(first), Box::new(self.statements(rest, summing)?)))
    }

    fn restore_array(&mut self, name: &Name, before: Option<Array>) {
        match before {
            Some(array) => self.arrays.insert(name.clone(), array),
            None => self.arrays.remove(name),
        };
    }

    fn stmt(&mut self, stmt: &Stmt, summing: bool) -> Result<Cmd> {
        match stmt {
            Stmt::Assign(assign) => self.assign(assign, summing),
            Stmt::Loop(l) => self.looping(l),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.expr(cond)?.0;
                let then = self.body(then)?;
                Ok(Cmd::If(cond, Box::new(then), Box::new(self.body(otherwise)?)))
            }
            Stmt::Block { body, .. } => self.statements(body, summing),
            Stmt::Local(_) => self.body(std::slice::from_ref(stmt)),
            Stmt::Copy(_) | Stmt::Wait(_) => Err(refused("a copy of a box of an array")),
        }
    }

    /// `summing`: as the update of a loop that sums in parallel.
    fn assign(&mut self, assign: &Assign, summing: bool) -> Result<Cmd> {
        let (array, components, subscripts, ty) = self.access(&assign.target)?;
        let mut value = self.expr(&assign.value)?.0;
        if let Some(update) = assign.update {
            if update.reorder != summing {
                return Err(refused("a reduction whose order is left open (`reducePar`)"));
            }
            let op = update.op.binary();
            let old = Tm::In(array, components.clone(), subscripts.clone());
            value = ops::binary(op, Kind::Data(ty), old, value);
            // `x = e + x` is written `x += e`, so the operation may have to commute.
            if let Tm::Op(Op::Scalar(name), _) = &value {
                self.laws.insert(Law::Commutes(name.clone()));
            }
        }
        Ok(Cmd::Assign { array, components, subscripts, value })
    }

    fn looping(&mut self, l: &Loop) -> Result<Cmd> {
        let (lower, upper) = (self.exact(&l.lower)?, self.exact(&l.upper)?);
        let var = self.integer(&l.var);
        let (mut count, mut value) = (upper, Tm::Var(var));
        if l.step != 1 {
            let last = l.step.checked_sub(1).ok_or_else(|| refused("a loop of so large a step"))?;
            let raised = Tm::Op(Op::Iadd, vec![Tm::Op(Op::Isub, vec![count, lower.clone()]), Tm::Int(last)]);
            count = Tm::Op(Op::Idiv, vec![raised, Tm::Int(l.step)]);
            value = Tm::Op(Op::Imul, vec![value, Tm::Int(l.step)]);
        } else if lower != Tm::Int(0) {
            count = Tm::Op(Op::Isub, vec![count, lower.clone()]);
        }
        if lower != Tm::Int(0) {
            value = Tm::Op(Op::Iadd, vec![lower, value]);
        }
        let before = self.integers.insert(l.var.clone(), value);
        let body = if l.reductions.is_empty() { self.body(&l.body)? } else { self.sum(l, var)? };
        match before {
            Some(before) => self.integers.insert(l.var.clone(), before),
            None => self.integers.remove(&l.var),
        };
        let parallel = match l.kind {
            // A sum is written as the loop in sequence; `sums` says that it is not run so.
            LoopKind::Parallel | LoopKind::Vector if !l.reductions.is_empty() => false,
            LoopKind::Parallel | LoopKind::Vector => true,
            LoopKind::Sequential | LoopKind::Unroll(_) => false,
        };
        Ok(Cmd::For { parallel, var, count, body: Box::new(body) })
    }

    /// The body of a loop that sums in parallel. One update of a number comes last. Its operation
    /// has laws.
    fn sum(&mut self, l: &Loop, var: u32) -> Result<Cmd> {
        let Some(assign) = last_update(&l.body) else {
            return Err(refused("a sum in parallel whose update is not the last of its loop (`reducePar`)"));
        };
        let ty = self.access(&assign.target)?.3;
        let op = assign.update.map(|u| u.op);
        let zero = match (op, ty) {
            (Some(ReduceOp::Add), ty) if ty != Scalar::Bool => ops::constant(ty, 0),
            (Some(ReduceOp::Mul), ty) if ty != Scalar::Bool => ops::constant(ty, 1),
            // NaN gives way to every number.
            (Some(ReduceOp::Min | ReduceOp::Max), Scalar::F32) => ops::single(f32::NAN.into()),
            (Some(ReduceOp::Min | ReduceOp::Max), Scalar::F64) => ops::double(f64::NAN.into()),
            (Some(op @ (ReduceOp::Min | ReduceOp::Max)), ty) if ty.is_int() && ty != Scalar::I64 => {
                match Value::extreme(ty, op == ReduceOp::Min).map(|bound| bound.cast(Scalar::I64)) {
                    Some(Value::I64(bound)) => ops::integer(ty, bound),
                    _ => return Err(refused(format!("extremes of `{ty}`"))),
                }
            }
            (Some(ReduceOp::And | ReduceOp::Or), Scalar::Bool) => ops::truth(op == Some(ReduceOp::And)),
            _ => {
                return Err(refused(format!(
                    "a parallel reduction of `{ty}` by this operation (`reducePar`)"
                )));
            }
        };
        let body = self.statements(&l.body, true)?;
        if let (Some(Op::Scalar(name)), Tm::Lit(zero)) = (last_op(&body), &zero) {
            self.laws.insert(Law::Commutes(name.clone()));
            self.laws.insert(Law::Associates(name.clone()));
            self.laws.insert(Law::Neutral(zero.clone(), name.clone()));
        }
        self.sums.push((var, zero));
        Ok(body)
    }

    /// Array, components, subscripts and type of an access.
    fn access(&self, access: &Access) -> Result<(u32, Vec<bool>, Vec<Tm>, Scalar)> {
        let unbound = || refused(format!("the array `{}`, which nothing declares", access.array));
        let array = self.arrays.get(&access.array).ok_or_else(unbound)?;
        let (mut components, mut elem) = (array.components.clone(), &array.elem);
        for component in &access.path {
            let Elem::Pair(first, second) = elem else {
                return Err(refused(format!("a component of `{}`, which has none", access.array)));
            };
            components.push(*component == Component::Second);
            elem = if *component == Component::Second { second } else { first };
        }
        let Elem::Scalar(ty) = elem else {
            return Err(refused(format!("a whole pair of `{}`", access.array)));
        };
        let subscripts = access.indices.iter().map(|i| Ok(self.expr(i)?.0)).collect::<Result<_>>()?;
        Ok((array.number, components, subscripts, *ty))
    }

    /// A size, an extent, a bound.
    pub fn exact(&self, expr: &Expr) -> Result<Tm> {
        Ok(self.expr(expr)?.0)
    }

    /// Whether the integer arithmetic of an expression is on data or on indices: as
    /// [`Expr::is_data`] says, except that elements of arrays of indices are indices.
    fn kind(&self, expr: &Expr, ty: Scalar) -> Kind {
        let (mut data, mut variable) = (false, false);
        for e in expr.nodes() {
            match e {
                Expr::Load(access) if self.arrays.get(&access.array).is_some_and(|array| array.index) => {
                    variable = true
                }
                Expr::Load(_) | Expr::Cast(..) | Expr::Call { .. } | Expr::Unary(UnaryOp::Bits, _) => {
                    data = true
                }
                Expr::Var(_) => variable = true,
                _ => {}
            }
        }
        if ty == Scalar::I64 && !data && variable { Kind::Index } else { Kind::Data(ty) }
    }

    /// Two operands and their type. An element of an array of indices is data if the other operand
    /// is data.
    fn operands(&self, a: &Expr, b: &Expr) -> Result<(Tm, Tm, Scalar)> {
        let ((left, ty), (right, _)) = (self.expr(a)?, self.expr(b)?);
        let kinds = (self.kind(a, ty), self.kind(b, ty));
        let data = |e: &Expr, kind| kind != Kind::Index && !matches!(e, Expr::Int(_));
        let wrapped = |e: &Expr, value: Tm, other| match e {
            Expr::Load(_) if other => ops::cast(ty, Kind::Index, value),
            _ => value,
        };
        let left = if kinds.0 == Kind::Index { wrapped(a, left, data(b, kinds.1)) } else { left };
        let right = if kinds.1 == Kind::Index { wrapped(b, right, data(a, kinds.0)) } else { right };
        Ok((left, right, ty))
    }

    /// An expression and its type.
    pub fn expr(&self, expr: &Expr) -> Result<(Tm, Scalar)> {
        Ok(match expr {
            Expr::Int(value) => (Tm::Int(*value), Scalar::I64),
            Expr::I32(value) => (ops::word(*value), Scalar::I32),
            Expr::F32(value) => (ops::single(*value), Scalar::F32),
            Expr::F64(value) => (ops::double(*value), Scalar::F64),
            Expr::Bool(value) => (ops::truth(*value), Scalar::Bool),
            Expr::Var(name) => {
                let unbound = || refused(format!("the variable `{name}`, which nothing binds"));
                (self.integers.get(name).cloned().ok_or_else(unbound)?, Scalar::I64)
            }
            Expr::Load(access) => {
                let (array, components, subscripts, ty) = self.access(access)?;
                (Tm::In(array, components, subscripts), ty)
            }
            Expr::Unary(op, a) => {
                let (a, ty) = self.expr(a)?;
                let result = loops::typing::unary(*op, ty).unwrap_or(ty);
                (ops::unary(*op, self.kind(expr, ty), a), result)
            }
            Expr::Binary(op, a, b) => {
                let (a, b, ty) = self.operands(a, b)?;
                (ops::binary(*op, self.kind(expr, ty), a, b), ty)
            }
            Expr::Compare(op, a, b) => {
                let (a, b, ty) = self.operands(a, b)?;
                (ops::compare(*op, ty, a, b), Scalar::Bool)
            }
            Expr::Select(c, a, b) => {
                let (c, (a, ty), (b, _)) = (self.expr(c)?.0, self.expr(a)?, self.expr(b)?);
                (Tm::Op(Op::Select, vec![c, a, b]), ty)
            }
            Expr::Cast(to, a) => {
                let (value, from) = self.expr(a)?;
                (ops::cast(*to, self.kind(a, from), value), *to)
            }
            Expr::Call { .. } if expr.is_one_thread() => {
                let threads = self.threads.clone().ok_or_else(|| refused("the number of threads"))?;
                (Tm::Op(Op::Ieq, vec![threads, Tm::Int(1)]), Scalar::Bool)
            }
            Expr::Call { function, .. } => {
                return Err(refused(format!("a call of the C function `{function}`")));
            }
        })
    }
}

/// The update at the end of a loop's body.
fn last_update(stmts: &[Stmt]) -> Option<&Assign> {
    match stmts.last()? {
        Stmt::Assign(assign) if assign.update.is_some() => Some(assign),
        Stmt::Block { body, .. } => last_update(body),
        _ => None,
    }
}

/// The operation of that update.
fn last_op(body: &Cmd) -> Option<&Op> {
    match body {
        Cmd::Assign { value: Tm::Op(op, _), .. } => Some(op),
        Cmd::Seq(_, last) | Cmd::Local(_, last) => last_op(last),
        _ => None,
    }
}
