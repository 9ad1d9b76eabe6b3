//! Whether two assignments, or two nests, are the same up to index expressions, and which index
//! expressions face each other.

use loops::{Access, Assign, Expr, Loop, Stmt};

/// Whether two assignments are equal up to index expressions.
pub(super) fn same_shape(a: &Assign, b: &Assign) -> bool {
    a.update == b.update && same_element(&a.target, &b.target) && same_value(&a.value, &b.value)
}

/// Whether two accesses are of one array at subscripts that are equal up to index expressions.
fn same_element(x: &Access, y: &Access) -> bool {
    x.array == y.array
        && x.path == y.path
        && x.indices.len() == y.indices.len()
        && x.indices.iter().zip(&y.indices).all(|(a, b)| same_index(a, b))
}

/// Whether two subscripts or bounds face each other: those without data as functions, which is
/// asked later; those with data must be of one form.
fn same_index(a: &Expr, b: &Expr) -> bool {
    match (!a.has_loads(), !b.has_loads()) {
        (true, true) => true,
        (false, false) => same_value(a, b),
        _ => false,
    }
}

/// Whether two nests are equal up to index expressions.
pub(super) fn same_nest(a: &Loop, b: &Loop) -> bool {
    let (lower, upper) = (same_index(&a.lower, &b.lower), same_index(&a.upper, &b.upper));
    a.var == b.var
        && (a.step, a.kind, &a.reductions) == (b.step, b.kind, &b.reductions)
        && lower
        && upper
        && same_block(&a.body, &b.body)
}

fn same_block(a: &[Stmt], b: &[Stmt]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_stmt(a, b))
}

fn same_stmt(a: &Stmt, b: &Stmt) -> bool {
    match (a, b) {
        (Stmt::Assign(a), Stmt::Assign(b)) => same_shape(a, b),
        (Stmt::Loop(a), Stmt::Loop(b)) => same_nest(a, b),
        (
            Stmt::If { cond, then, otherwise },
            Stmt::If { cond: other, then: other_then, otherwise: other_otherwise },
        ) => {
            same_value(cond, other) && same_block(then, other_then) && same_block(otherwise, other_otherwise)
        }
        (Stmt::Block { mark, body }, Stmt::Block { mark: other, body: other_body }) => {
            mark == other && same_block(body, other_body)
        }
        (Stmt::Local(a), Stmt::Local(b)) => a == b,
        _ => false,
    }
}

/// Index expressions of two nests of one shape, in pairs.
pub(super) fn nest_pairs<'a>(a: &'a Loop, b: &'a Loop, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
    subscript_pairs((&a.lower, &b.lower), pairs);
    subscript_pairs((&a.upper, &b.upper), pairs);
    fn block<'a>(a: &'a [Stmt], b: &'a [Stmt], pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
        for (a, b) in a.iter().zip(b) {
            match (a, b) {
                (Stmt::Assign(a), Stmt::Assign(b)) => index_pairs(a, b, pairs),
                (Stmt::Loop(a), Stmt::Loop(b)) => nest_pairs(a, b, pairs),
                (
                    Stmt::If { cond, then, otherwise },
                    Stmt::If { cond: other, then: other_then, otherwise: other_otherwise },
                ) => {
                    value_pairs(cond, other, pairs);
                    block(then, other_then, pairs);
                    block(otherwise, other_otherwise, pairs);
                }
                _ => a.bodies().into_iter().zip(b.bodies()).for_each(|(a, b)| block(a, b, pairs)),
            }
        }
    }
    block(&a.body, &b.body, pairs);
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
        (Expr::Load(x), Expr::Load(y)) => same_element(x, y),
        _ => {
            let (left, right): (Vec<_>, Vec<_>) = (a.children().collect(), b.children().collect());
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
    a.target.indices.iter().zip(&b.target.indices).for_each(|both| subscript_pairs(both, pairs));
    value_pairs(&a.value, &b.value, pairs);
}

/// As [`index_pairs`], of two expressions.
pub(super) fn value_pairs<'a>(a: &'a Expr, b: &'a Expr, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
    fn go<'a>(a: &'a Expr, b: &'a Expr, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
        match (a, b) {
            _ if is_index(a) && is_index(b) => pairs.push((a, b)),
            (Expr::Load(x), Expr::Load(y)) => {
                x.indices.iter().zip(&y.indices).for_each(|both| subscript_pairs(both, pairs));
            }
            _ => a.children().zip(b.children()).for_each(|(x, y)| go(x, y, pairs)),
        }
    }
    go(a, b, pairs);
}

/// Two subscripts or bounds; of those with data, the index expressions inside.
fn subscript_pairs<'a>((a, b): (&'a Expr, &'a Expr), pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
    match !a.has_loads() && !b.has_loads() {
        true => pairs.push((a, b)),
        false => value_pairs(a, b, pairs),
    }
}
