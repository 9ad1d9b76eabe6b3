//! Core terms: what the language means after inference and unfolding of definitions.

use std::sync::Arc;

use loops::diagnostic::Span;
use loops::{Name, Scalar, Size};

use crate::prim::Prim;
use crate::types::DataType;

/// A variable. The name is for readers; the number tells variables of one definition apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var {
    /// As the user wrote it.
    pub name: Name,
    /// Unique among the binders of a definition.
    pub id: u32,
}

/// A typed term. Cloning is a reference count; sharing has no meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term(Arc<TermNode>);

#[derive(PartialEq, Eq, Debug)]
struct TermNode {
    kind: TermKind,
    ty: DataType,
    span: Span,
}

/// The forms of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TermKind {
    /// A variable: a parameter of the definition, of a lambda, or of a `let`.
    Var(Var),
    /// A constant.
    Literal(Literal),
    /// The value of a size, as `i64` or, where the type says so, as an index.
    Size(Size),
    /// `let v = value in body`.
    Let(Binder, Term, Term),
    /// A primitive applied to all its arguments, in the order of its type.
    Prim(Prim, Vec<Arg>),
}

/// An argument of a primitive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// An explicit size, such as the block length of `split`.
    Size(Size),
    /// A function.
    Fun(Lambda),
    /// A value.
    Term(Term),
}

/// A variable where it is bound, with its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binder {
    /// The variable.
    pub var: Var,
    /// Its type.
    pub ty: DataType,
}

/// A function of one or more parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lambda {
    /// Parameters.
    pub params: Vec<Binder>,
    /// Result.
    pub body: Term,
}

/// A typed constant. Floating-point constants are equal when their bits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Literal {
    /// Bits of an `f32`.
    F32(u32),
    /// Bits of an `f64`.
    F64(u64),
    /// 32-bit integer.
    I32(i32),
    /// 64-bit integer.
    I64(i64),
    /// An integer of another type, converted as C does.
    Integer(Scalar, i64),
    /// Truth value.
    Bool(bool),
}

/// A definition in core form: closed but for its sizes and parameters, all calls unfolded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Its name.
    pub name: Name,
    /// Size parameters (natural numbers), in the order of declaration.
    pub sizes: Vec<Name>,
    /// What callers guarantee of the sizes.
    pub facts: Vec<Fact>,
    /// Parameters.
    pub params: Vec<Binder>,
    /// The body; its type is the result's.
    pub body: Term,
    /// Where it stands in the source.
    pub span: Span,
}

/// A guaranteed relation between sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// Relation.
    pub kind: FactKind,
    /// Left side.
    pub left: Size,
    /// Right side.
    pub right: Size,
}

/// Relations of [`Fact`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactKind {
    /// Left is at most right.
    AtMost,
    /// Both are equal.
    Equal,
}

/// Without recursion, so that a deep term does not need a deep stack to go away.
impl Drop for TermNode {
    fn drop(&mut self) {
        fn take(kind: &mut TermKind, todo: &mut Vec<Term>) {
            match kind {
                TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => return,
                TermKind::Let(..) | TermKind::Prim(..) => {}
            }
            match std::mem::replace(kind, TermKind::Literal(Literal::Bool(false))) {
                TermKind::Let(_, value, body) => todo.extend([value, body]),
                TermKind::Prim(_, args) => todo.extend(args.into_iter().filter_map(|arg| match arg {
                    Arg::Size(_) => None,
                    Arg::Fun(f) => Some(f.body),
                    Arg::Term(t) => Some(t),
                })),
                _ => {}
            }
        }
        let mut todo = Vec::new();
        take(&mut self.kind, &mut todo);
        while let Some(term) = todo.pop() {
            if let Some(mut node) = Arc::into_inner(term.0) {
                take(&mut node.kind, &mut todo);
            }
        }
    }
}

impl Term {
    /// A term of this form and type.
    pub fn new(kind: TermKind, ty: DataType, span: Span) -> Term {
        Term(Arc::new(TermNode { kind, ty, span }))
    }

    /// Its form.
    pub fn kind(&self) -> &TermKind {
        &self.0.kind
    }

    /// Its type.
    pub fn ty(&self) -> &DataType {
        &self.0.ty
    }

    /// Where it stands in the source; the empty span at 0 for terms that a rule made.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// The address of the node: the same for clones, and different from that of every other living
    /// term.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Whether both are the same node in memory (a quick test of equality; `false` says nothing).
    pub fn same_node(&self, other: &Term) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Literal {
    /// Its type.
    pub fn scalar(self) -> Scalar {
        match self {
            Literal::F32(_) => Scalar::F32,
            Literal::F64(_) => Scalar::F64,
            Literal::I32(_) => Scalar::I32,
            Literal::I64(_) => Scalar::I64,
            Literal::Integer(scalar, _) => scalar,
            Literal::Bool(_) => Scalar::Bool,
        }
    }
}
