//! Whether two assignments are the same up to index expressions, and which index expressions face each other.

use loops::{Assign, Expr};

/// Whether two assignments are equal up to index expressions.
pub(super) fn same_shape(a: &Assign, b: &Assign) -> bool {
    a.update == b.update
        && a.target.array == b.target.array
        && a.target.path == b.target.path
        && a.target.indices.len() == b.target.indices.len()
        && same_value(&a.value, &b.value)
}

fn is_index(expr: &Expr) -> bool {
    match expr {
        Expr::Var(_) | Expr::Int(_) => true,
        Expr::Unary(loops::UnaryOp::Neg, a) => is_index(a),
        Expr::Binary(op, a, b) => op.is_arithmetic() && is_index(a) && is_index(b),
        _ => false,
    }
}

pub(super) fn same_value(a: &Expr, b: &Expr) -> bool {
    if is_index(a) && is_index(b) {
        return true;
    }
    match (a, b) {
        (Expr::Load(x), Expr::Load(y)) => {
            x.array == y.array && x.path == y.path && x.indices.len() == y.indices.len()
        }
        _ => {
            let (left, right) = (a.children(), b.children());
            left.len() == right.len()
                && left.iter().zip(&right).all(|(x, y)| same_value(x, y))
                && head(a) == head(b)
        }
    }
}

/// The operation of an expression, its operands taken out.
fn head(expr: &Expr) -> Expr {
    expr.map_children(&mut |_| Expr::Int(0))
}

/// Index expressions of two assignments of one shape, in pairs.
pub(super) fn index_pairs<'a>(a: &'a Assign, b: &'a Assign, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
    pairs.extend(a.target.indices.iter().zip(&b.target.indices));
    value_pairs(&a.value, &b.value, pairs);
}

/// As [`index_pairs`], of two expressions.
pub(super) fn value_pairs<'a>(a: &'a Expr, b: &'a Expr, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
    fn go<'a>(a: &'a Expr, b: &'a Expr, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
        match (a, b) {
            _ if is_index(a) && is_index(b) => pairs.push((a, b)),
            (Expr::Load(x), Expr::Load(y)) => pairs.extend(x.indices.iter().zip(&y.indices)),
            _ => a.children().into_iter().zip(b.children()).for_each(|(x, y)| go(x, y, pairs)),
        }
    }
    go(a, b, pairs);
}
