//! Scalar expressions of the hub in the C of hosts and slaves.

use std::collections::BTreeMap;

use loops::{Access, BinaryOp, Code, Component, Diagnostic, Expr, Name, Scalar, UnaryOp, fits};

use crate::c::CExpr;
use crate::c_print::{Layout, Printer};
use crate::openmp::scalars;

/// What a name of the hub is in C.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// An index or a scalar that is a value.
    Value(String),
    /// A scalar behind a pointer, or of type array of one element.
    Pointee(String),
    /// A pointer to the first element; how many elements the subscripts after the first advance by,
    /// as C.
    Linear {
        /// The pointer.
        base: String,
        /// Extents after the first, as C expressions.
        pitches: Vec<String>,
        /// Type of the elements.
        elem: Scalar,
    },
    /// An array of arrays.
    Nested(String),
    /// A pointer to the first of structs; only the host has them.
    Pairs {
        /// The pointer.
        base: String,
        /// As of `Linear`.
        pitches: Vec<String>,
    },
}

/// The names in scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub names: BTreeMap<Name, Binding>,
    /// Types of the elements of arrays and scalars.
    pub elems: BTreeMap<Name, Scalar>,
}

/// The C type of a scalar.
pub(super) fn c_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::I32 => "int",
        Scalar::I64 => "long",
        Scalar::Bool => "_Bool",
        Scalar::I8 => "signed char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 | Scalar::F16 => "unsigned short",
        Scalar::U32 => "unsigned int",
        Scalar::U64 => "unsigned long",
    }
}

/// `T0001` with a reason.
pub(super) fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code("T0001"), message)
}

/// C of an expression as text.
pub(super) fn print(e: &CExpr) -> String {
    Printer::new(Layout::Readable).expression(e)
}

impl Scope {
    /// An expression as text.
    pub fn text(&self, e: &Expr) -> Result<String, Diagnostic> {
        Ok(print(&self.expr(e)?))
    }

    /// An element, or a component of one.
    pub fn access(&self, access: &Access) -> Result<CExpr, Diagnostic> {
        let element = self.element(access)?;
        Ok(access.path.iter().fold(element, |value, component| {
            let member = if *component == Component::First { "x1" } else { "x2" };
            CExpr::Member(Box::new(value), member.to_owned())
        }))
    }

    fn element(&self, access: &Access) -> Result<CExpr, Diagnostic> {
        match self.names.get(&access.array) {
            Some(Binding::Value(name)) if access.indices.is_empty() => Ok(CExpr::name(name)),
            Some(Binding::Pointee(name)) if access.indices.is_empty() => {
                Ok(CExpr::unary("*", CExpr::name(name)))
            }
            Some(Binding::Nested(name)) => {
                let mut element = CExpr::name(name);
                for index in &access.indices {
                    element = CExpr::index(element, self.expr(index)?);
                }
                Ok(element)
            }
            Some(Binding::Linear { base, .. } | Binding::Pairs { base, .. }) => {
                Ok(CExpr::index(CExpr::name(base), self.offset(&access.array, &access.indices)?))
            }
            _ => Err(invalid(format!("`{}` is not an array here", access.array))),
        }
    }

    /// The number of an element in row-major order.
    pub fn offset(&self, array: &Name, indices: &[Expr]) -> Result<CExpr, Diagnostic> {
        let Some(Binding::Linear { pitches, .. } | Binding::Pairs { pitches, .. }) = self.names.get(array)
        else {
            return Err(invalid(format!("`{array}` is not an array here")));
        };
        let mut offset: Option<CExpr> = None;
        for (k, index) in indices.iter().enumerate() {
            let index = self.expr(index)?;
            offset = Some(match offset {
                None => index,
                Some(before) if before.is_zero() => index,
                Some(before) => {
                    let pitch = pitches.get(k - 1).cloned().unwrap_or_else(|| "1".to_owned());
                    let rows = CExpr::binary("*", before, CExpr::name(pitch));
                    if index.is_zero() { rows } else { CExpr::binary("+", rows, index) }
                }
            });
        }
        Ok(offset.unwrap_or_else(|| CExpr::int(0)))
    }

    /// An expression in C.
    pub fn expr(&self, e: &Expr) -> Result<CExpr, Diagnostic> {
        Ok(match e {
            Expr::Int(value) => CExpr::int(*value),
            Expr::I32(value) => CExpr::int(i64::from(*value)),
            Expr::F32(_) | Expr::F64(_) => scalars::literal(e)?,
            Expr::Bool(value) => CExpr::int(i64::from(*value)),
            Expr::Var(name) => match self.names.get(name) {
                Some(Binding::Value(name)) => CExpr::name(name),
                _ => return Err(invalid(format!("`{name}` is not declared here"))),
            },
            Expr::Load(access) => self.access(access)?,
            Expr::Unary(UnaryOp::Neg, a) if is_index(e) => CExpr::unary("-", self.expr(a)?),
            Expr::Unary(UnaryOp::Abs, a) if is_index(e) => CExpr::call("labs", vec![self.expr(a)?]),
            Expr::Unary(op, a) => scalars::unary(*op, self.expr(a)?, self.scalar(a)),
            Expr::Binary(op, a, b) if is_index(e) => index(*op, self.expr(a)?, self.expr(b)?)?,
            Expr::Binary(op, a, b) => scalars::binary(*op, self.expr(a)?, self.expr(b)?, self.scalar(a)),
            Expr::Compare(op, a, b) => CExpr::binary(op.symbol(), self.expr(a)?, self.expr(b)?),
            Expr::Select(c, a, b) => {
                CExpr::Ternary(Box::new(self.expr(c)?), Box::new(self.expr(a)?), Box::new(self.expr(b)?))
            }
            // The value of an index as data: loop variables have the type already.
            Expr::Cast(Scalar::I64, a) if !a.is_data() => self.expr(a)?,
            Expr::Cast(to, a) if to.is_int() && self.scalar(a).is_float() => {
                scalars::cast(*to, self.scalar(a), self.expr(a)?)
            }
            Expr::Cast(Scalar::Bool, a) => CExpr::binary("!=", self.expr(a)?, CExpr::int(0)),
            Expr::Cast(to, a) => CExpr::Cast(c_type(*to).to_owned(), Box::new(self.expr(a)?)),
            Expr::Call { function, args, .. } => {
                CExpr::call(function.as_str(), args.iter().map(|a| self.expr(a)).collect::<Result<_, _>>()?)
            }
        })
    }
}

impl Scope {
    /// The type of an expression.
    pub fn scalar(&self, e: &Expr) -> Scalar {
        match e {
            Expr::Int(_) | Expr::Var(_) => Scalar::I64,
            Expr::I32(_) => Scalar::I32,
            Expr::F32(_) => Scalar::F32,
            Expr::F64(_) => Scalar::F64,
            Expr::Bool(_) | Expr::Compare(..) => Scalar::Bool,
            Expr::Load(access) => self.elems.get(&access.array).copied().unwrap_or(Scalar::F64),
            Expr::Unary(op, a) => {
                let ty = self.scalar(a);
                loops::typing::unary(*op, ty).unwrap_or(ty)
            }
            Expr::Binary(_, a, _) | Expr::Select(_, a, _) => self.scalar(a),
            Expr::Cast(to, _) => *to,
            Expr::Call { ty, .. } => *ty,
        }
    }
}

/// Whether an expression is of sizes and loop variables, or of numbers of 64 bits alone that do not
/// wrap.
fn is_index(e: &Expr) -> bool {
    fn constant(e: &Expr) -> bool {
        match e {
            Expr::Int(_) => true,
            Expr::Unary(..) | Expr::Binary(..) => e.children().all(constant),
            _ => false,
        }
    }
    let by_zero = matches!(e, Expr::Binary(op, _, b) if op.divides() && **b == Expr::Int(0));
    !e.is_data() || (constant(e) && !by_zero && fits::operation_fits(e, &fits::Ranges::new()))
}

/// An operation on indices in C: the text check knows these functions.
fn index(op: BinaryOp, a: CExpr, b: CExpr) -> Result<CExpr, Diagnostic> {
    let call = |name: &str, a: CExpr, b: CExpr| CExpr::call(name, vec![a, b]);
    Ok(match op {
        BinaryOp::Add => CExpr::binary("+", a, b),
        BinaryOp::Sub => CExpr::binary("-", a, b),
        BinaryOp::Mul => CExpr::binary("*", a, b),
        BinaryOp::Div => CExpr::binary("/", a, b),
        BinaryOp::Rem => CExpr::binary("%", a, b),
        BinaryOp::FloorDiv => call("LOZENGE_FLOOR_DIV", a, b),
        BinaryOp::Mod => call("LOZENGE_MOD", a, b),
        BinaryOp::Min => call("LOZENGE_MIN", a, b),
        BinaryOp::Max => call("LOZENGE_MAX", a, b),
        BinaryOp::And => CExpr::binary("&&", a, b),
        BinaryOp::Or => CExpr::binary("||", a, b),
        BinaryOp::BitAnd => CExpr::binary("&", a, b),
        BinaryOp::BitOr => CExpr::binary("|", a, b),
        BinaryOp::BitXor => CExpr::binary("^", a, b),
        // By constants below the width: others are refused with the statement that has them.
        BinaryOp::Shl => CExpr::binary("<<", a, b),
        BinaryOp::Shr => CExpr::binary(">>", a, b),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => {
            return Err(invalid("a function of numbers that are no integers"));
        }
    })
}

/// The guard for what only the emulator knows.
pub(super) const HOOKS: &str = "\
#ifndef ATHREAD_EMULATOR
#define emulated_array(name, p, bytes, elem) ((void)0)
#define emulated_forget(p) ((void)0)
#define emulated_compute(cycles, flops) ((void)0)
#endif
";
