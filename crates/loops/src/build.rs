//! Helpers for building programs in code: operators on expressions and short constructors of
//! statements.
//!
//! Nothing here simplifies: `Expr::from(1) + Expr::from(2)` is a sum ([`crate::simplify`] folds
//! it).

use crate::expr::{BinaryOp, CompareOp, Expr};
use crate::name::Name;
use crate::program::{
    Access, ArrayDecl, Assign, Copy, CopyKind, Loop, LoopKind, Param, ParamMode, ReduceOp, Stmt, Storage,
    Update,
};
use crate::types::Elem;

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::Int(value)
    }
}

impl From<bool> for Expr {
    fn from(value: bool) -> Expr {
        Expr::Bool(value)
    }
}

impl From<Access> for Expr {
    fn from(access: Access) -> Expr {
        Expr::Load(access)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<R: Into<Expr>> std::ops::$trait<R> for Expr {
            type Output = Expr;
            fn $method(self, right: R) -> Expr {
                Expr::binary(BinaryOp::$op, self, right.into())
            }
        }
    };
}
operator!(Add, add, Add);
operator!(Sub, sub, Sub);
operator!(Mul, mul, Mul);
operator!(Div, div, Div);
operator!(Rem, rem, Rem);

impl Expr {
    /// The value of an array element.
    pub fn load(array: impl Into<Name>, indices: Vec<Expr>) -> Expr {
        Expr::Load(Access::element(array, indices))
    }

    /// The value of a scalar variable.
    pub fn scalar(name: impl Into<Name>) -> Expr {
        Expr::Load(Access::scalar(name))
    }

    /// Quotient rounded toward negative infinity.
    pub fn floor_div(self, divisor: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::FloorDiv, self, divisor.into())
    }

    /// Remainder of [`Expr::floor_div`].
    pub fn modulo(self, divisor: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Mod, self, divisor.into())
    }

    /// The smaller.
    pub fn min(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Min, self, other.into())
    }

    /// The larger.
    pub fn max(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Max, self, other.into())
    }

    /// Conjunction.
    pub fn and(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::And, self, other.into())
    }

    /// `self < other`
    pub fn less(self, other: impl Into<Expr>) -> Expr {
        Expr::compare(CompareOp::Lt, self, other.into())
    }

    /// `self <= other`
    pub fn at_most(self, other: impl Into<Expr>) -> Expr {
        Expr::compare(CompareOp::Le, self, other.into())
    }

    /// `self >= other`
    pub fn at_least(self, other: impl Into<Expr>) -> Expr {
        Expr::compare(CompareOp::Ge, self, other.into())
    }

    /// `self == other`
    pub fn equals(self, other: impl Into<Expr>) -> Expr {
        Expr::compare(CompareOp::Eq, self, other.into())
    }
}

impl Stmt {
    /// `target = value`
    pub fn assign(target: Access, value: Expr) -> Stmt {
        Stmt::Assign(Assign { label: None, target, update: None, value })
    }

    /// `target op= value`, in order.
    pub fn update(target: Access, op: ReduceOp, value: Expr) -> Stmt {
        Stmt::Assign(Assign { label: None, target, update: Some(Update { op, reorder: false }), value })
    }

    /// `target reduce op= value`, in any order.
    pub fn reduce(target: Access, op: ReduceOp, value: Expr) -> Stmt {
        Stmt::Assign(Assign { label: None, target, update: Some(Update { op, reorder: true }), value })
    }

    /// `for var in lower..upper` with stride 1 of the given kind.
    pub fn range(
        var: impl Into<Name>,
        lower: impl Into<Expr>,
        upper: impl Into<Expr>,
        kind: LoopKind,
        body: Vec<Stmt>,
    ) -> Stmt {
        Stmt::Loop(Loop {
            var: var.into(),
            lower: lower.into(),
            upper: upper.into(),
            step: 1,
            kind,
            reductions: Vec::new(),
            body,
        })
    }

    /// `if cond` without an `else`.
    pub fn when(cond: Expr, then: Vec<Stmt>) -> Stmt {
        Stmt::If { cond, then, otherwise: Vec::new() }
    }

    /// A local array wherever the target puts it.
    pub fn local(name: impl Into<Name>, elem: impl Into<Elem>, dims: Vec<Expr>) -> Stmt {
        Stmt::Local(ArrayDecl { name: name.into(), elem: elem.into(), dims, storage: Storage::Auto })
    }

    /// A block with a name.
    pub fn mark(name: impl Into<Name>, body: Vec<Stmt>) -> Stmt {
        Stmt::Block { mark: Some(name.into()), body }
    }

    /// A synchronous copy of a box.
    pub fn copy(kind: CopyKind, from: Access, to: Access, extents: Vec<Expr>) -> Stmt {
        Stmt::Copy(Copy { kind, from, to, extents, tag: None })
    }
}

impl Param {
    /// A parameter.
    pub fn new(name: impl Into<Name>, mode: ParamMode, elem: impl Into<Elem>, dims: Vec<Expr>) -> Param {
        Param { name: name.into(), elem: elem.into(), dims, mode }
    }
}
