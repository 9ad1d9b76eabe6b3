//! The tree that inference makes: names resolved, every node with its type, ready to be unfolded.

use loops::{Name, Size, Span};

use super::inferred_types::Ty;
use crate::prim::Prim;
use crate::syntax::ast::NumberValue;

/// A local variable of one definition.
pub(crate) type Local = u32;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Local(Local),
    Number(NumberValue),
    Bool(bool),
    /// The value of a size.
    Size(Size),
    /// A primitive with its explicit sizes; a function, or a value if its type has no argument.
    Prim(Prim, Vec<Size>),
    /// A definition with its sizes and types.
    Def(Name, Vec<Size>, Vec<Ty>),
    Apply(Box<Node>, Vec<Node>),
    Lambda(Vec<Bind>, Box<Node>),
    Let(Box<Bind>, Box<Node>, Box<Node>),
    /// `a + b - c ...`, from the left.
    Chain(Box<Node>, Vec<(Prim, Node)>),
    /// An array of its elements.
    Array(Vec<Node>),
    /// A number to a constant power.
    Power(Box<Node>, u32),
    Error,
}

/// A pattern that binds.
#[derive(Clone, Debug)]
pub(crate) enum Bind {
    Local(Local),
    Ignore,
    Pair(Box<Bind>, Box<Bind>),
}

/// What is known of a local variable.
#[derive(Clone, Debug)]
pub(crate) struct LocalInfo {
    pub(crate) name: Name,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
    /// Uses in the definition.
    pub(crate) uses: u32,
    /// Whether a use stands under a lambda that is inside its binder's scope.
    pub(crate) under_lambda: bool,
    /// How many lambdas stand around the binder.
    pub(crate) level: u32,
}
