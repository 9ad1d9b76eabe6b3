//! What a pattern and its expressions require before anything is drawn.

use crate::rule::{Binding, Expr, ExprKind, Pattern, UnaryOp};

/// The index symbol of a variadic binding.
pub(super) fn symbol(binding: &Binding) -> Option<&str> {
    let var = binding.names.iter().flatten().next()?;
    match &var.index.as_ref()?.kind {
        ExprKind::Name(s) => Some(s),
        _ => None,
    }
}

/// Calls `found` for every item of the vertex `name` in a pattern; without an index for all items.
pub(super) fn items(pattern: &Pattern, name: &str, found: &mut dyn FnMut(Option<&Expr>)) {
    match pattern {
        Pattern::Ref(var) if var.name.text == name => {
            if let Some(e) = &var.index {
                found(Some(e));
            }
        }
        Pattern::Call(call) => call.arguments.iter().for_each(|a| items(a, name, found)),
        Pattern::Item(base, e) => match &**base {
            Pattern::Ref(var) if var.name.text == name => found(Some(e)),
            _ => items(base, name, found),
        },
        Pattern::Spread(base, _) => match &**base {
            Pattern::Ref(var) if var.name.text == name => found(None),
            _ => items(base, name, found),
        },
        Pattern::Tuple(of, _) | Pattern::Either(of, _) => of.iter().for_each(|p| items(p, name, found)),
        _ => {}
    }
}

pub(super) fn int(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Int(n) => Some(*n),
        ExprKind::Unary(UnaryOp::Neg, inner) => int(inner).map(|n| -n),
        _ => None,
    }
}

/// The numbers of an expression.
pub(super) fn collect_numbers(e: &Expr, out: &mut Vec<f64>) {
    match &e.kind {
        ExprKind::Int(n) => out.push(*n as f64),
        ExprKind::Float(x) => out.push(*x),
        ExprKind::Bool(b) => out.push(f64::from(u8::from(*b))),
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            let from = out.len();
            collect_numbers(inner, out);
            out[from..].iter_mut().for_each(|x| *x = -*x);
        }
        ExprKind::Unary(_, inner) => collect_numbers(inner, out),
        ExprKind::Binary(_, a, b) => {
            collect_numbers(a, out);
            collect_numbers(b, out);
        }
        ExprKind::Tuple(items) => items.iter().for_each(|e| collect_numbers(e, out)),
        _ => {}
    }
}
