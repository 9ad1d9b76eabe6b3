//! Subscripts: `a[i]`, and `a[i + 1]` where that is shown to be in range.
//!
//! A sum of indices, sizes and whole numbers is an index if its least and its greatest value are in
//! range for all sizes. The core form has the conversion `toIdx`, whose clamping then changes
//! nothing.

use std::collections::BTreeMap;

use loops::{Name, Size, Span};

use super::Infer;
use super::expressions::{Why, error_node, prim_node};
use super::inferred_types::Ty;
use super::node::{Node, NodeKind};
use super::solve::meta_of;
use crate::prim::Prim;
use crate::syntax::ast::{BinOp, Expr, ExprKind, NumberValue, UnOp};

/// The value of a subscript, as a size in which indices are parameters of their own.
struct Sum {
    value: Size,
    /// The bounds of the indices.
    below: BTreeMap<Name, Size>,
    node: Node,
}

impl Infer<'_> {
    /// `array[subscript]`.
    pub(super) fn index(&mut self, array: Node, subscript: &Expr, span: Span) -> Node {
        let (n, t) = match self.solver.shallow(&array.ty) {
            Ty::Array(n, t) => (n, (*t).clone()),
            Ty::Error => {
                self.infer(subscript);
                return error_node(span);
            }
            _ => {
                let n = self.solver.fresh_size(array.span, "the length of this array");
                let t = self.solver.fresh(true, array.span, "the elements of this array");
                let want = Ty::array(n.clone(), t.clone());
                self.fit(&array, &want, &Why::new("what is indexed", None));
                (n, t)
            }
        };
        let index = if self.is_moved(subscript, &n) {
            self.moved(subscript, &n)
        } else {
            let why = Why::new("an index of this array", Some(array.span));
            self.check(subscript, &Ty::Idx(n), &why)
        };
        prim_node(Prim::Index, vec![array, index], t, span)
    }

    /// Whether the subscript computes with an index, or is one below another length.
    fn is_moved(&self, subscript: &Expr, n: &Size) -> bool {
        let known = |size: &Size| size.params().iter().all(|name| meta_of(name).is_none());
        match &subscript.kind {
            ExprKind::Name(name) => match self.index_bound(name) {
                Some(bound) => {
                    let (bound, n) = (self.solver.size(&bound), self.solver.size(n));
                    known(&bound) && known(&n) && !self.solver.facts.equal(&bound, &n)
                }
                None => false,
            },
            _ => self.computes_with_index(subscript) == Some(true),
        }
    }

    /// The bound of a variable that is an index.
    fn index_bound(&self, name: &Name) -> Option<Size> {
        let local = *self.scope.get(name)?.last()?;
        match self.solver.shallow(&self.locals[local as usize].ty) {
            Ty::Idx(bound) => Some(bound),
            _ => None,
        }
    }

    /// Whether an index is among what the expression adds up; none if it is no such expression.
    fn computes_with_index(&self, expr: &Expr) -> Option<bool> {
        match &expr.kind {
            ExprKind::Name(name) if self.index_bound(name).is_some() => Some(true),
            ExprKind::Name(name) => {
                let hidden = self.scope.get(name).is_some_and(|locals| !locals.is_empty());
                (!hidden && self.sizes.contains_key(name)).then_some(false)
            }
            ExprKind::Number(number) => {
                (number.suffix.is_none() && matches!(number.value, NumberValue::Int(_))).then_some(false)
            }
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
                Some(self.computes_with_index(a)? | self.computes_with_index(b)?)
            }
            ExprKind::Unary(UnOp::Neg, a) => self.computes_with_index(a),
            _ => None,
        }
    }

    /// The subscript as an index below `n`. What has to be shown is noted.
    fn moved(&mut self, subscript: &Expr, n: &Size) -> Node {
        let span = subscript.span;
        let Some(sum) = self.sum(subscript) else { return error_node(span) };
        let Sum { value, below, node } = sum;
        let (Some(least), Some(most)) =
            (self.extreme(&value, &below, false), self.extreme(&value, &below, true))
        else {
            self.no_index(span);
            return error_node(span);
        };
        self.solver.demand_natural(&least, span, "an index");
        let why = "an index must be less than the length";
        self.solver.demand(most + Size::constant(1), n.clone(), span, why);
        // So that the core form can be written and read as a program.
        self.solver.demand(1.into(), n.clone(), span, "an array with such a subscript must not be empty");
        Node { kind: node.kind, ty: node.ty, span }.into_index(n, span)
    }

    fn sum(&mut self, expr: &Expr) -> Option<Sum> {
        let span = expr.span;
        let plain = |value: Size| {
            let node = Node { kind: NodeKind::Size(value.clone()), ty: Ty::I64, span };
            Sum { value, below: BTreeMap::new(), node }
        };
        Some(match &expr.kind {
            ExprKind::Name(name) => match self.index_bound(name) {
                None => plain(Size::param(name.clone())),
                Some(bound) => {
                    let index = self.name(name, span);
                    let NodeKind::Local(local) = index.kind else { return None };
                    // No name of a size begins so.
                    let own = Name::new(format!("!{local}"));
                    let value = Size::param(own.clone());
                    let node = prim_node(Prim::ToI64, vec![index], Ty::I64, span);
                    Sum { value, below: BTreeMap::from([(own, bound)]), node }
                }
            },
            ExprKind::Number(number) => match number.value {
                NumberValue::Int(value) => plain(Size::constant(i64::try_from(value).ok()?)),
                NumberValue::Float(_) => return None,
            },
            ExprKind::Unary(_, a) => {
                let a = self.sum(a)?;
                let node = match a.node.kind {
                    NodeKind::Size(size) => Node { kind: NodeKind::Size(-size), ty: Ty::I64, span },
                    _ => prim_node(Prim::Neg, vec![a.node], Ty::I64, span),
                };
                Sum { value: -a.value, below: a.below, node }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let apply = |a: Size, b: Size| match op {
                    BinOp::Add => a + b,
                    BinOp::Sub => a - b,
                    _ => a * b,
                };
                let node = match (&a.node.kind, &b.node.kind) {
                    (NodeKind::Size(x), NodeKind::Size(y)) => {
                        Node { kind: NodeKind::Size(apply(x.clone(), y.clone())), ty: Ty::I64, span }
                    }
                    _ => prim_node(op.prim(), vec![a.node, b.node], Ty::I64, span),
                };
                let mut below = a.below;
                below.extend(b.below);
                Sum { value: apply(a.value, b.value), below, node }
            }
            _ => return None,
        })
    }

    /// The least or the greatest value, over all values of the indices, of a sum that is linear in
    /// each of them with a coefficient of known sign.
    fn extreme(&self, value: &Size, below: &BTreeMap<Name, Size>, greatest: bool) -> Option<Size> {
        let mut value = value.clone();
        for (index, bound) in below {
            if !value.params().contains(index) {
                continue;
            }
            let (factor, rest) = value.factor_in(index)?;
            let upward = if self.solver.facts.natural(&factor) {
                true
            } else if self.solver.facts.natural(&-factor.clone()) {
                false
            } else {
                return None;
            };
            value =
                if upward == greatest { factor * (bound.clone() - Size::constant(1)) + rest } else { rest };
        }
        Some(value)
    }

    fn no_index(&mut self, span: Span) {
        let message = "this subscript is not linear in its indices";
        let diagnostic =
            loops::Diagnostic::error(super::report::UNSHOWN, message, span, "nothing shows its range");
        self.error(diagnostic.help("`toIdx n x` makes an index below `n` of an integer `x`, by clamping"));
    }
}

impl Node {
    /// A whole number as an index below `n`.
    fn into_index(self, n: &Size, span: Span) -> Node {
        let ty = Ty::Idx(n.clone());
        let head = NodeKind::Prim(Prim::ToIdx, vec![n.clone()]);
        let head = Node { kind: head, ty: Ty::fun(Ty::I64, ty.clone()), span };
        Node { kind: NodeKind::Apply(Box::new(head), vec![self]), ty, span }
    }
}
