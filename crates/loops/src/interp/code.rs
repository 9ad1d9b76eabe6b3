//! The interpreter's form of a function: every name is resolved to a slot, and every type is
//! checked.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::name::Name;
use crate::program::{Access, Copy, Function, Loop, LoopKind, ParamMode, ReduceOp, Stmt};
use crate::types::{Elem, Scalar};
use crate::typing;
use crate::value::{Builtin, Value};

/// An expression whose names are slots.
#[derive(Debug)]
pub(super) enum Node {
    Const(Value),
    Var(usize),
    Load(Box<Place>),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<(Node, Node)>),
    /// Arithmetic on indices, which has no value beyond 64 bits.
    Exact(BinaryOp, Box<(Node, Node)>),
    Compare(CompareOp, Box<(Node, Node)>),
    Select(Box<(Node, Node, Node)>),
    Cast(Scalar, Box<Node>),
    Call(Builtin, Vec<Node>),
}

/// A subscript. Sums of variables times constants are evaluated directly.
#[derive(Debug)]
pub(super) enum Index {
    Linear(i64, Vec<(usize, i64)>),
    Other(Node),
}

/// An element of an array, or a range of columns of it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) array: usize,
    pub(super) first_column: usize,
    pub(super) columns: usize,
    pub(super) indices: Vec<Index>,
}

/// Statements, and the local arrays among them.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) steps: Vec<(&'a Stmt, Step<'a>)>,
    pub(super) locals: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Step<'a> {
    /// `number` counts the assignments of the function, in the order of its text.
    Assign {
        number: usize,
        target: Place,
        update: Option<ReduceOp>,
        value: Node,
    },
    Loop(Box<LoopStep<'a>>),
    If {
        cond: Node,
        then: Block<'a>,
        otherwise: Block<'a>,
    },
    Local {
        array: usize,
        dims: Vec<Node>,
    },
    Block(Block<'a>),
    Copy {
        from: Place,
        to: Place,
        extents: Vec<Node>,
        tag: Option<usize>,
    },
    Wait(usize),
}

#[derive(Debug)]
pub(super) struct LoopStep<'a> {
    pub(super) source: &'a Loop,
    pub(super) var: usize,
    pub(super) lower: Node,
    pub(super) upper: Node,
    pub(super) parallel: bool,
    pub(super) reductions: Vec<(ReduceOp, usize)>,
    pub(super) body: Block<'a>,
}

/// What is known of an array before the function runs.
#[derive(Debug)]
pub(super) struct ArrayInfo {
    pub(super) name: Name,
    pub(super) elem: Elem,
    pub(super) rank: usize,
    pub(super) readonly: bool,
}

/// A compiled function.
#[derive(Debug)]
pub(super) struct Compiled<'a> {
    /// Names of variable slots: the sizes first.
    pub(super) vars: Vec<Name>,
    /// Array slots: the parameters first.
    pub(super) arrays: Vec<ArrayInfo>,
    pub(super) assumptions: Vec<Node>,
    pub(super) param_dims: Vec<Vec<Node>>,
    pub(super) body: Block<'a>,
}

pub(super) fn compile(function: &Function) -> Result<Compiled<'_>, Diagnostic> {
    let mut compiler = Compiler::default();
    for size in &function.sizes {
        compiler.declare_var(size);
    }
    let assumptions = compiler.typed_list(&function.assumptions, Scalar::Bool)?;
    let mut param_dims = Vec::new();
    for param in &function.params {
        param_dims.push(compiler.typed_list(&param.dims, Scalar::I64)?);
    }
    for param in &function.params {
        let readonly = param.mode == ParamMode::In;
        compiler.declare_array(&param.name, &param.elem, param.dims.len(), readonly);
    }
    let body = compiler.block(&function.body)?;
    Ok(Compiled { vars: compiler.vars, arrays: compiler.arrays, assumptions, param_dims, body })
}

#[derive(Default)]
struct Compiler {
    assigns: usize,
    vars: Vec<Name>,
    arrays: Vec<ArrayInfo>,
    tags: BTreeMap<Name, usize>,
    var_scope: Vec<(Name, usize)>,
    array_scope: Vec<(Name, usize)>,
}

/// The statement at which an error was found is reported once, by the innermost one.
fn at(stmt: &Stmt, error: Diagnostic) -> Diagnostic {
    if error.notes.iter().any(|note| note.starts_with("in `")) {
        return error;
    }
    error.note(format!("in `{}`", stmt.headline()))
}

impl Compiler {
    fn declare_var(&mut self, name: &Name) -> usize {
        let slot = self.vars.len();
        self.vars.push(name.clone());
        self.var_scope.push((name.clone(), slot));
        slot
    }

    fn declare_array(&mut self, name: &Name, elem: &Elem, rank: usize, readonly: bool) -> usize {
        let slot = self.arrays.len();
        self.arrays.push(ArrayInfo { name: name.clone(), elem: elem.clone(), rank, readonly });
        self.array_scope.push((name.clone(), slot));
        slot
    }

    fn var(&self, name: &Name) -> Option<usize> {
        self.var_scope.iter().rev().find(|(n, _)| n == name).map(|(_, slot)| *slot)
    }

    fn array(&self, name: &Name) -> Option<usize> {
        self.array_scope.iter().rev().find(|(n, _)| n == name).map(|(_, slot)| *slot)
    }

    fn tag(&mut self, name: &Name) -> usize {
        let next = self.tags.len();
        *self.tags.entry(name.clone()).or_insert(next)
    }

    fn block<'a>(&mut self, body: &'a [Stmt]) -> Result<Block<'a>, Diagnostic> {
        let arrays = self.array_scope.len();
        let mut block = Block { steps: Vec::with_capacity(body.len()), locals: Vec::new() };
        for stmt in body {
            let step = self.stmt(stmt).map_err(|error| at(stmt, error))?;
            if let Step::Local { array, .. } = step {
                block.locals.push(array);
            }
            block.steps.push((stmt, step));
        }
        self.array_scope.truncate(arrays);
        Ok(block)
    }

    fn stmt<'a>(&mut self, stmt: &'a Stmt) -> Result<Step<'a>, Diagnostic> {
        match stmt {
            Stmt::Assign(assign) => {
                let number = self.assigns;
                self.assigns += 1;
                let (target, ty) = self.scalar_place(&assign.target)?;
                self.check_writable(&assign.target, &target)?;
                let value = self.typed(&assign.value, ty)?;
                if let Some(update) = assign.update.filter(|update| !update.op.accepts(ty)) {
                    let message = format!("`{}=` does not work on `{ty}`", update.op.symbol());
                    return Err(Diagnostic::general(typing::TYPES, message));
                }
                let update = assign.update.map(|update| update.op);
                Ok(Step::Assign { number, target, update, value })
            }
            Stmt::Loop(l) => self.loop_step(l),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.typed(cond, Scalar::Bool)?;
                Ok(Step::If { cond, then: self.block(then)?, otherwise: self.block(otherwise)? })
            }
            Stmt::Local(local) => {
                let dims = self.typed_list(&local.dims, Scalar::I64)?;
                let array = self.declare_array(&local.name, &local.elem, dims.len(), false);
                Ok(Step::Local { array, dims })
            }
            Stmt::Block { body, .. } => Ok(Step::Block(self.block(body)?)),
            Stmt::Copy(copy) => self.copy(copy),
            Stmt::Wait(tag) => Ok(Step::Wait(self.tag(tag))),
        }
    }

    fn loop_step<'a>(&mut self, l: &'a Loop) -> Result<Step<'a>, Diagnostic> {
        if l.step < 1 {
            let message = format!("the stride of the loop `{}` is {}, not at least 1", l.var, l.step);
            return Err(Diagnostic::general(Code("L0211"), message));
        }
        let lower = self.typed(&l.lower, Scalar::I64)?;
        let upper = self.typed(&l.upper, Scalar::I64)?;
        let mut reductions = Vec::new();
        for (op, name) in &l.reductions {
            let Some(array) = self.array(name) else {
                return Err(typing::unbound_array(&Access::scalar(name.clone()), self.var(name).is_some()));
            };
            reductions.push((*op, array));
        }
        let scope = self.var_scope.len();
        let var = self.declare_var(&l.var);
        let body = self.block(&l.body)?;
        self.var_scope.truncate(scope);
        let parallel = matches!(l.kind, LoopKind::Parallel | LoopKind::Vector);
        Ok(Step::Loop(Box::new(LoopStep { source: l, var, lower, upper, parallel, reductions, body })))
    }

    fn copy<'a>(&mut self, copy: &Copy) -> Result<Step<'a>, Diagnostic> {
        let (from, from_elem) = self.place(&copy.from)?;
        let (to, to_elem) = self.place(&copy.to)?;
        self.check_writable(&copy.to, &to)?;
        if from_elem != to_elem {
            let message = format!(
                "the copy's source `{}` holds `{from_elem}`, its destination `{}` holds `{to_elem}`",
                copy.from, copy.to
            );
            return Err(Diagnostic::general(typing::TYPES, message));
        }
        let rank = self.arrays[from.array].rank.min(self.arrays[to.array].rank);
        if copy.extents.len() > rank {
            let message =
                format!("a copy of {} extents between arrays of {rank} dimensions", copy.extents.len());
            return Err(Diagnostic::general(typing::RANK, message));
        }
        let extents = self.typed_list(&copy.extents, Scalar::I64)?;
        Ok(Step::Copy { from, to, extents, tag: copy.tag.as_ref().map(|tag| self.tag(tag)) })
    }

    fn check_writable(&self, access: &Access, place: &Place) -> Result<(), Diagnostic> {
        if self.arrays[place.array].readonly {
            let message = format!("`{access}` is written, but `{}` is an `in` parameter", access.array);
            return Err(Diagnostic::general(Code("L0210"), message));
        }
        Ok(())
    }

    fn place(&self, access: &Access) -> Result<(Place, Elem), Diagnostic> {
        let Some(array) = self.array(&access.array) else {
            return Err(typing::unbound_array(access, self.var(&access.array).is_some()));
        };
        let info = &self.arrays[array];
        let elem = typing::element(access, &info.elem, info.rank)?;
        let mut first_column = 0;
        let mut at = &info.elem;
        for step in &access.path {
            if let Elem::Pair(first, second) = at {
                at = match step {
                    crate::program::Component::First => first,
                    crate::program::Component::Second => {
                        first_column += first.leaves().len();
                        second
                    }
                };
            }
        }
        let mut indices = Vec::with_capacity(access.indices.len());
        for index in &access.indices {
            let (node, ty) = self.expr(index)?;
            if ty != Scalar::I64 {
                return Err(typing::bad_subscript(access, index, ty));
            }
            indices.push(match linear(&node) {
                Some((base, terms)) => Index::Linear(base, terms.into_iter().filter(|t| t.1 != 0).collect()),
                None => Index::Other(node),
            });
        }
        Ok((Place { array, first_column, columns: elem.leaves().len(), indices }, elem))
    }

    fn scalar_place(&self, access: &Access) -> Result<(Place, Scalar), Diagnostic> {
        let (place, elem) = self.place(access)?;
        Ok((place, typing::scalar_of(access, elem)?))
    }

    fn typed(&self, expr: &Expr, wanted: Scalar) -> Result<Node, Diagnostic> {
        let (node, ty) = self.expr(expr)?;
        if ty == wanted {
            return Ok(node);
        }
        let message = format!("`{expr}` has type `{ty}` where `{wanted}` is needed");
        Err(Diagnostic::general(typing::TYPES, message))
    }

    fn typed_list(&self, exprs: &[Expr], wanted: Scalar) -> Result<Vec<Node>, Diagnostic> {
        exprs.iter().map(|expr| self.typed(expr, wanted)).collect()
    }

    fn expr(&self, expr: &Expr) -> Result<(Node, Scalar), Diagnostic> {
        if let Some(value) = Value::of(expr) {
            return Ok((Node::Const(value), value.scalar()));
        }
        match expr {
            Expr::Var(name) => match self.var(name) {
                Some(slot) => Ok((Node::Var(slot), Scalar::I64)),
                None => Err(typing::unbound_var(name, self.array(name).is_some())),
            },
            Expr::Load(access) => {
                let (place, ty) = self.scalar_place(access)?;
                Ok((Node::Load(Box::new(place)), ty))
            }
            Expr::Unary(op, operand) => {
                let (node, ty) = self.expr(operand)?;
                match typing::unary(*op, ty) {
                    Some(Scalar::I64) if *op == UnaryOp::Neg && !expr.is_data() => {
                        let zero = Node::Const(Value::I64(0));
                        Ok((Node::Exact(BinaryOp::Sub, Box::new((zero, node))), ty))
                    }
                    Some(result) => Ok((Node::Unary(*op, Box::new(node)), result)),
                    None => Err(typing::misfit(expr, &[ty])),
                }
            }
            Expr::Binary(op, left, right) => {
                let ((left, a), (right, b)) = (self.expr(left)?, self.expr(right)?);
                match typing::binary(*op, a, b) {
                    Some(Scalar::I64) if Value::may_overflow(*op) && !expr.is_data() => {
                        Ok((Node::Exact(*op, Box::new((left, right))), Scalar::I64))
                    }
                    Some(result) => Ok((Node::Binary(*op, Box::new((left, right))), result)),
                    None => Err(typing::misfit(expr, &[a, b])),
                }
            }
            Expr::Compare(op, left, right) => {
                let ((left, a), (right, b)) = (self.expr(left)?, self.expr(right)?);
                if a != b {
                    return Err(typing::misfit(expr, &[a, b]));
                }
                Ok((Node::Compare(*op, Box::new((left, right))), Scalar::Bool))
            }
            Expr::Select(cond, then, otherwise) => {
                let (cond, c) = self.expr(cond)?;
                let ((then, a), (otherwise, b)) = (self.expr(then)?, self.expr(otherwise)?);
                if c != Scalar::Bool || a != b {
                    return Err(typing::misfit(expr, &[c, a, b]));
                }
                Ok((Node::Select(Box::new((cond, then, otherwise))), a))
            }
            Expr::Cast(ty, operand) => Ok((Node::Cast(*ty, Box::new(self.expr(operand)?.0)), *ty)),
            Expr::Call { ty: Scalar::Bool, .. } if expr.is_one_thread() => {
                Ok((Node::Const(Value::Bool(true)), Scalar::Bool))
            }
            Expr::Call { function, ty, args } => {
                let Some(builtin) = Builtin::named(function) else {
                    let message = format!("the interpreter does not know the function `{function}`");
                    return Err(Diagnostic::general(Code("L0309"), message).help(
                        "it knows those of `math.h` by their C names: `exp` for `f64`, `expf` for `f32`",
                    ));
                };
                let mut nodes = Vec::new();
                let mut types = Vec::new();
                for arg in args {
                    let (node, ty) = self.expr(arg)?;
                    nodes.push(node);
                    types.push(ty);
                }
                let (wanted, count) = builtin.signature();
                if *ty != wanted || types.len() != count || types.iter().any(|ty| *ty != wanted) {
                    let message = format!(
                        "`{function}` takes {count} operands of type `{wanted}` and returns one: `{expr}`"
                    );
                    return Err(Diagnostic::general(typing::TYPES, message));
                }
                Ok((Node::Call(builtin, nodes), *ty))
            }
            Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) => {
                unreachable!("constants are above")
            }
        }
    }
}

/// Constant and coefficients of a sum of variables, where these fit.
fn linear(node: &Node) -> Option<(i64, BTreeMap<usize, i64>)> {
    let constant = |node: &Node| match node {
        Node::Const(Value::I64(value)) => Some(*value),
        _ => None,
    };
    let scaled = |node: &Node, factor: i64| {
        let (base, mut terms) = linear(node)?;
        for c in terms.values_mut() {
            *c = c.checked_mul(factor)?;
        }
        Some((base.checked_mul(factor)?, terms))
    };
    match node {
        Node::Const(Value::I64(value)) => Some((*value, BTreeMap::new())),
        Node::Var(slot) => Some((0, BTreeMap::from([(*slot, 1)]))),
        Node::Exact(BinaryOp::Mul, operands) => match (constant(&operands.0), constant(&operands.1)) {
            (Some(factor), _) => scaled(&operands.1, factor),
            (_, Some(factor)) => scaled(&operands.0, factor),
            _ => None,
        },
        Node::Exact(op @ (BinaryOp::Add | BinaryOp::Sub), operands) => {
            let (base, mut terms) = linear(&operands.0)?;
            let (more, other) = scaled(&operands.1, if *op == BinaryOp::Add { 1 } else { -1 })?;
            for (slot, coefficient) in other {
                let entry = terms.entry(slot).or_insert(0);
                *entry = entry.checked_add(coefficient)?;
            }
            Some((base.checked_add(more)?, terms))
        }
        _ => None,
    }
}
