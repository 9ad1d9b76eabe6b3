//! What expressions and patterns are made of.

use crate::rule::{AttributeItem, BinaryOp, Expr, ExprKind, Pattern};

/// The parts of an expression.
pub(in crate::soundness) fn children<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Expr)) {
    match &e.kind {
        ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Is(a, _) => f(a),
        ExprKind::Item(a, b) | ExprKind::Binary(_, a, b) => {
            f(a);
            f(b);
        }
        ExprKind::Slice(a, b, c) => {
            f(a);
            b.iter().chain(c).for_each(|e| f(e));
        }
        ExprKind::Tuple(all) | ExprKind::Call(_, all) => all.iter().for_each(f),
        ExprKind::If(a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
        ExprKind::Map(each) | ExprKind::Fold(_, each) => {
            f(&each.body);
            each.over.iter().chain(&each.filter).for_each(f);
        }
        _ => {}
    }
}

/// All expressions of a pattern: attributes, indices, conditions, constants.
pub(super) fn expressions<'p>(pattern: &'p Pattern, f: &mut dyn FnMut(&'p Expr)) {
    match pattern {
        Pattern::Wildcard(_) | Pattern::Optional(_) => {}
        Pattern::Ref(var) => {
            if let Some(e) = &var.index {
                f(e);
            }
        }
        Pattern::Constant { value, ty, .. } => {
            f(value);
            ty.iter().for_each(f);
        }
        Pattern::Call(call) => {
            call.arguments.iter().for_each(|p| expressions(p, f));
            for item in &call.attributes {
                match item {
                    AttributeItem::Is(_, e) => f(e),
                    AttributeItem::Like(var) => {
                        if let Some(e) = &var.index {
                            f(e);
                        }
                    }
                }
            }
        }
        Pattern::Item(base, e) => {
            expressions(base, f);
            f(e);
        }
        Pattern::Spread(base, _) => expressions(base, f),
        Pattern::Tuple(of, _) | Pattern::Either(of, _) | Pattern::Case(_, of, _) => {
            of.iter().for_each(|p| expressions(p, f));
        }
        Pattern::If(c, p, q, _) => {
            f(c);
            expressions(p, f);
            expressions(q, f);
        }
    }
}

/// The numbers inside of an expression that is no sum.
pub(super) fn numbers(e: &Expr, more: &mut i64, times: &mut i64) {
    match &e.kind {
        ExprKind::Int(n) if n.saturating_abs() > 1 => *more = more.saturating_add(n.saturating_abs()),
        ExprKind::Binary(BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::Div | BinaryOp::Mul, a, b) => {
            for side in [a, b] {
                match side.kind {
                    ExprKind::Int(n) => *times = times.saturating_mul(n.saturating_abs().max(1)),
                    _ => numbers(side, more, times),
                }
            }
        }
        _ => children(e, &mut |e| numbers(e, more, times)),
    }
}
