//! Types of expressions: the rules, and a scope to look names up in.
//!
//! The validator and the interpreter share the rules. Bounds, initialisation and races are not
//! checked here.

use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::name::Name;
use crate::program::{Access, Component, Function, ReduceOp, Stmt};
use crate::types::{Elem, Scalar};
use crate::visit::nodes;

/// A name does not stand for anything here.
pub(crate) const UNBOUND: Code = Code("L0201");
/// Types do not fit.
pub(crate) const TYPES: Code = Code("L0203");
/// The subscripts or components of an access do not fit the array.
pub(crate) const RANK: Code = Code("L0204");

/// The type of a unary operation on an operand of this type.
pub fn unary(op: UnaryOp, operand: Scalar) -> Option<Scalar> {
    let fits = match op {
        UnaryOp::Neg | UnaryOp::Abs => operand.is_number(),
        UnaryOp::Not => operand == Scalar::Bool,
        UnaryOp::Bits => {
            return match operand {
                Scalar::F32 => Some(Scalar::I32),
                Scalar::F64 => Some(Scalar::I64),
                Scalar::I32 => Some(Scalar::F32),
                Scalar::I64 => Some(Scalar::F64),
                _ => None,
            };
        }
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc => {
            operand.is_float()
        }
        _ => op.is_transcendental() && operand.is_float(),
    };
    fits.then_some(operand)
}

/// The type of a binary operation on operands of these types.
pub fn binary(op: BinaryOp, left: Scalar, right: Scalar) -> Option<Scalar> {
    let fits = match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Min
        | BinaryOp::Max => left.is_number(),
        BinaryOp::FloorDiv
        | BinaryOp::Mod
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => left.is_int(),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => left.is_float(),
        BinaryOp::And | BinaryOp::Or => left == Scalar::Bool,
    };
    (fits && left == right).then_some(left)
}

impl ReduceOp {
    /// Whether the low bits of integers are all that the low bits of the result depend on.
    pub fn is_modular(self) -> bool {
        matches!(self, ReduceOp::Add | ReduceOp::Mul)
    }

    /// Whether values of this type can be combined by the operation.
    pub fn accepts(self, scalar: Scalar) -> bool {
        binary(self.binary(), scalar, scalar).is_some()
    }
}

/// A type beyond [`Scalar::COMMON`] that the function uses: what has it, and the type. The
/// conversion of a size to a floating-point number may pass through such a type, as C allows.
pub fn uncommon(function: &Function) -> Option<(String, Scalar)> {
    let array = |name: &Name, elem: &Elem| {
        let scalar = elem.leaves().into_iter().find(|scalar| !scalar.is_common());
        scalar.map(|scalar| (format!("`{name}`"), scalar))
    };
    let mut found = function.params.iter().find_map(|param| array(&param.name, &param.elem));
    for stmt in nodes(&function.body) {
        if let Stmt::Local(local) = stmt {
            found = found.take().or_else(|| array(&local.name, &local.elem));
        }
        for e in stmt.exprs() {
            let (mut sizes, mut others) = (0, Vec::new());
            for e in e.nodes() {
                match e {
                    Expr::Cast(to, inner) if to.is_float() => {
                        let size = matches!(&**inner, Expr::Cast(ty, e) if !ty.is_common() && matches!(**e, Expr::Var(_)));
                        sizes += usize::from(size);
                    }
                    Expr::Cast(ty, _) | Expr::Call { ty, .. } if !ty.is_common() => others.push((e, *ty)),
                    _ => {}
                }
            }
            if let Some((e, ty)) = others.first().filter(|_| others.len() > sizes) {
                found.get_or_insert_with(|| (format!("`{e}`"), *ty));
            }
        }
    }
    found
}

impl Elem {
    /// The element type at the end of a path of components.
    pub fn component(&self, path: &[Component]) -> Option<&Elem> {
        let mut elem = self;
        for step in path {
            match (elem, step) {
                (Elem::Pair(first, _), Component::First) => elem = first,
                (Elem::Pair(_, second), Component::Second) => elem = second,
                (Elem::Scalar(_), _) => return None,
            }
        }
        Some(elem)
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Elem::Scalar(scalar) => Some(*scalar),
            Elem::Pair(..) => None,
        }
    }

    /// The scalar types that it is made of, in order.
    pub fn leaves(&self) -> Vec<Scalar> {
        match self {
            Elem::Scalar(scalar) => vec![*scalar],
            Elem::Pair(first, second) => {
                let mut leaves = first.leaves();
                leaves.extend(second.leaves());
                leaves
            }
        }
    }
}

/// The names in scope, with what is needed to type expressions.
#[derive(Clone, Default, Debug)]
pub struct Types {
    vars: Vec<Name>,
    arrays: Vec<(Name, Elem, usize)>,
}

impl Types {
    /// The scope in which the body of a function begins: its sizes and parameters.
    pub fn of(function: &Function) -> Types {
        let mut types = Types { vars: function.sizes.clone(), arrays: Vec::new() };
        for param in &function.params {
            types.declare_array(&param.name, &param.elem, param.dims.len());
        }
        types
    }

    /// Everything that a function declares, whose names are distinct
    /// ([`crate::visit::with_distinct_locals`]).
    pub fn of_all(function: &Function) -> Types {
        let mut types = Types::of(function);
        for stmt in nodes(&function.body) {
            match stmt {
                Stmt::Loop(l) => types.declare_var(&l.var),
                Stmt::Local(local) => types.declare_array(&local.name, &local.elem, local.dims.len()),
                _ => {}
            }
        }
        types
    }

    /// Brings a loop variable or size into scope.
    pub fn declare_var(&mut self, name: &Name) {
        self.vars.push(name.clone());
    }

    /// Brings an array of this many dimensions into scope.
    pub fn declare_array(&mut self, name: &Name, elem: &Elem, rank: usize) {
        self.arrays.push((name.clone(), elem.clone(), rank));
    }

    /// What to give to [`Types::leave`] at the end of a block.
    pub fn enter(&self) -> (usize, usize) {
        (self.vars.len(), self.arrays.len())
    }

    /// Takes what was declared since the mark out of scope.
    pub fn leave(&mut self, mark: (usize, usize)) {
        self.vars.truncate(mark.0);
        self.arrays.truncate(mark.1);
    }

    /// Whether the name is a loop variable or size in scope.
    pub(crate) fn is_var(&self, name: &Name) -> bool {
        self.vars.contains(name)
    }

    /// Element type and number of dimensions of an array in scope.
    pub fn array(&self, name: &Name) -> Option<(&Elem, usize)> {
        self.arrays.iter().rev().find(|(n, ..)| n == name).map(|(_, elem, rank)| (elem, *rank))
    }

    /// The type of an expression.
    ///
    /// # Errors
    /// The innermost part that has no type: `L0201` unbound name, `L0203` operands of wrong types,
    /// `L0204` a wrong number of subscripts.
    pub fn type_of(&self, expr: &Expr) -> Result<Scalar, Diagnostic> {
        match expr {
            Expr::Int(_) => Ok(Scalar::I64),
            Expr::I32(_) => Ok(Scalar::I32),
            Expr::F32(_) => Ok(Scalar::F32),
            Expr::F64(_) => Ok(Scalar::F64),
            Expr::Bool(_) => Ok(Scalar::Bool),
            Expr::Var(name) if self.is_var(name) => Ok(Scalar::I64),
            Expr::Var(name) => Err(unbound_var(name, self.array(name).is_some())),
            Expr::Load(access) => scalar_of(access, self.access(access)?),
            Expr::Unary(op, operand) => {
                let ty = self.type_of(operand)?;
                unary(*op, ty).ok_or_else(|| misfit(expr, &[ty]))
            }
            Expr::Binary(op, left, right) => {
                let (a, b) = (self.type_of(left)?, self.type_of(right)?);
                binary(*op, a, b).ok_or_else(|| misfit(expr, &[a, b]))
            }
            Expr::Compare(_, left, right) => {
                let (a, b) = (self.type_of(left)?, self.type_of(right)?);
                if a == b && a != Scalar::F16 { Ok(Scalar::Bool) } else { Err(misfit(expr, &[a, b])) }
            }
            Expr::Select(cond, then, otherwise) => {
                let (c, a, b) = (self.type_of(cond)?, self.type_of(then)?, self.type_of(otherwise)?);
                if c == Scalar::Bool && a == b { Ok(a) } else { Err(misfit(expr, &[c, a, b])) }
            }
            Expr::Cast(ty, operand) => self.type_of(operand).map(|_| *ty),
            Expr::Call { ty, args, .. } => {
                for arg in args {
                    self.type_of(arg)?;
                }
                Ok(*ty)
            }
        }
    }

    /// The type of the element, or component, that an access names; its subscripts are checked too.
    ///
    /// # Errors
    /// As [`Types::type_of`].
    pub fn access(&self, access: &Access) -> Result<Elem, Diagnostic> {
        let Some((elem, rank)) = self.array(&access.array) else {
            return Err(unbound_array(access, self.is_var(&access.array)));
        };
        for index in &access.indices {
            let ty = self.type_of(index)?;
            if ty != Scalar::I64 {
                return Err(bad_subscript(access, index, ty));
            }
        }
        element(access, elem, rank)
    }
}

/// The element type that an access to an array of this element type and rank names.
pub(crate) fn element(access: &Access, elem: &Elem, rank: usize) -> Result<Elem, Diagnostic> {
    if access.indices.len() != rank {
        let message = format!(
            "`{access}` has {} subscripts, but `{}` has {rank} dimensions",
            access.indices.len(),
            access.array
        );
        return Err(Diagnostic::general(RANK, message));
    }
    elem.component(&access.path).cloned().ok_or_else(|| {
        let message = format!("`{access}` names a component that an element of type `{elem}` does not have");
        Diagnostic::general(RANK, message)
    })
}

pub(crate) fn scalar_of(access: &Access, elem: Elem) -> Result<Scalar, Diagnostic> {
    elem.as_scalar().ok_or_else(|| {
        let message =
            format!("`{access}` is a pair of type `{elem}` where a number or truth value is needed");
        Diagnostic::general(TYPES, message).help("name a component: `.x1` or `.x2`")
    })
}

pub(crate) fn unbound_var(name: &Name, is_array: bool) -> Diagnostic {
    let d = Diagnostic::general(UNBOUND, format!("no loop variable or size `{name}` is in scope"));
    if is_array { d.note(format!("there is an array `{name}`: its value is a load")) } else { d }
}

pub(crate) fn unbound_array(access: &Access, is_var: bool) -> Diagnostic {
    let d =
        Diagnostic::general(UNBOUND, format!("no array or scalar variable `{}` is in scope", access.array));
    if is_var { d.note(format!("`{}` is a loop variable or size", access.array)) } else { d }
}

pub(crate) fn bad_subscript(access: &Access, index: &Expr, ty: Scalar) -> Diagnostic {
    let message = format!("the subscript `{index}` of `{access}` has type `{ty}`, not `i64`");
    Diagnostic::general(TYPES, message).help("convert it: `i64(…)`")
}

/// Operands that an operation does not take.
pub(crate) fn misfit(expr: &Expr, operands: &[Scalar]) -> Diagnostic {
    let types: Vec<String> = operands.iter().map(|ty| format!("`{ty}`")).collect();
    let wants = match expr {
        Expr::Unary(UnaryOp::Neg | UnaryOp::Abs, _) => "a number",
        Expr::Unary(UnaryOp::Bits, _) => "a floating-point number or one with a sign of its width",
        Expr::Unary(UnaryOp::Not, _) => "a truth value",
        Expr::Unary(..) => "a floating-point number",
        Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => "two truth values",
        Expr::Binary(
            BinaryOp::FloorDiv
            | BinaryOp::Mod
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr,
            ..,
        ) => "two integers of one type",
        Expr::Binary(BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot, ..) => {
            "two floating-point numbers of one type"
        }
        Expr::Binary(..) => "two numbers of one type",
        Expr::Compare(..) => "two operands of one type",
        Expr::Select(..) => "a truth value and two operands of one type",
        _ => "other operands",
    };
    Diagnostic::general(TYPES, format!("`{expr}` needs {wants}, but has {}", types.join(" and ")))
}
