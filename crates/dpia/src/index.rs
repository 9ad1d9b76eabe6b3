//! Index arithmetic of views, with the simplifications that keep chains of views linear.
//!
//! `join` after `split` asks for `(i / n) * n + i % n`. Without simplification each such pair of
//! views would double the expression. Every rule here holds for all values: quotients are floored,
//! and the ranges used are those of the types.
//!
//! This is not `loops::simplify`: it works on phrases, before there are loops, and certificates
//! follow its steps. What remains is simplified as loops.

use functional::DataType;
use loops::{BinaryOp, Size};

use crate::phrase::{Exp, ExpKind};

/// `a + b`
pub fn add(a: Exp, b: Exp, ty: &DataType) -> Exp {
    match (a.kind(), b.kind()) {
        (ExpKind::Size(s), ExpKind::Size(t)) => Exp::size(s.clone() + t.clone(), ty.clone()),
        (ExpKind::Size(s), _) => add_size(b.clone(), s, ty),
        (_, ExpKind::Size(s)) => add_size(a.clone(), s, ty),
        // (e / n) * n + e % n
        (ExpKind::Arith(BinaryOp::Mul, q, n), ExpKind::Arith(BinaryOp::Mod, e, n2)) => match q.kind() {
            ExpKind::Arith(BinaryOp::FloorDiv, e2, n3) if same(n, n2) && same(n, n3) && same(e, e2) => {
                e.clone()
            }
            _ => Exp::arith(BinaryOp::Add, a, b, ty.clone()),
        },
        _ => Exp::arith(BinaryOp::Add, a, b, ty.clone()),
    }
}

/// `a + s`; the size may be negative.
pub(crate) fn add_size(a: Exp, s: &Size, ty: &DataType) -> Exp {
    match a.kind() {
        _ if s.as_constant() == Some(0) => a,
        ExpKind::Size(t) => Exp::size(t.clone() + s.clone(), ty.clone()),
        ExpKind::Arith(BinaryOp::Add, e, t) => match t.kind() {
            ExpKind::Size(t) => add_size(e.clone(), &(t.clone() + s.clone()), ty),
            _ => plus(a, s, ty),
        },
        _ => plus(a, s, ty),
    }
}

fn plus(a: Exp, s: &Size, ty: &DataType) -> Exp {
    let size = Exp::size(s.clone(), ty.clone());
    Exp::arith(BinaryOp::Add, a, size, ty.clone())
}

/// `s - a`
pub(crate) fn size_minus(s: &Size, a: Exp, ty: &DataType) -> Exp {
    match a.kind() {
        ExpKind::Size(t) => Exp::size(s.clone() - t.clone(), ty.clone()),
        // s - (t - e) = e + (s - t)
        ExpKind::Arith(BinaryOp::Sub, t, e) => match t.kind() {
            ExpKind::Size(t) => add_size(e.clone(), &(s.clone() - t.clone()), ty),
            _ => minus(s, a, ty),
        },
        _ => minus(s, a, ty),
    }
}

fn minus(s: &Size, a: Exp, ty: &DataType) -> Exp {
    Exp::arith(BinaryOp::Sub, Exp::size(s.clone(), ty.clone()), a, ty.clone())
}

/// `a * s`
pub(crate) fn mul_size(a: Exp, s: &Size, ty: &DataType) -> Exp {
    match (a.kind(), s.as_constant()) {
        (_, Some(1)) => a,
        (_, Some(0)) => Exp::size(Size::constant(0), ty.clone()),
        (ExpKind::Size(t), _) => Exp::size(t.clone() * s.clone(), ty.clone()),
        _ => Exp::arith(BinaryOp::Mul, a, Exp::size(s.clone(), ty.clone()), ty.clone()),
    }
}

/// `a / s` for a natural `a`, where `s` is positive.
pub(crate) fn div_size(a: Exp, s: &Size, ty: &DataType) -> Exp {
    if s.as_constant() == Some(1) {
        return a;
    }
    if let (ExpKind::Size(t), Some(_)) = (a.kind(), s.as_constant()) {
        return Exp::size(t.div(s), ty.clone());
    }
    if below(&a, s) {
        return Exp::size(Size::constant(0), ty.clone());
    }
    if let Some((quotient, _)) = block(&a, s) {
        return quotient;
    }
    Exp::arith(BinaryOp::FloorDiv, a, Exp::size(s.clone(), ty.clone()), ty.clone())
}

/// `a % s` for a natural `a`, where `s` is positive.
pub(crate) fn mod_size(a: Exp, s: &Size, ty: &DataType) -> Exp {
    if s.as_constant() == Some(1) {
        return Exp::size(Size::constant(0), ty.clone());
    }
    if let (ExpKind::Size(t), Some(_)) = (a.kind(), s.as_constant()) {
        return Exp::size(t.rem(s), ty.clone());
    }
    if below(&a, s) {
        return a;
    }
    if let Some((_, remainder)) = block(&a, s) {
        return remainder;
    }
    Exp::arith(BinaryOp::Mod, a, Exp::size(s.clone(), ty.clone()), ty.clone())
}

/// Whether the type says that the index is below `s`.
fn below(a: &Exp, s: &Size) -> bool {
    matches!(a.ty(), DataType::Idx(n) if n == s) && !matches!(a.kind(), ExpKind::Size(_))
}

/// `(q, r)` if the index is `q * s + r` with `0 <= r < s` by its type.
fn block(a: &Exp, s: &Size) -> Option<(Exp, Exp)> {
    let ExpKind::Arith(BinaryOp::Add, qs, r) = a.kind() else { return None };
    let ExpKind::Arith(BinaryOp::Mul, q, n) = qs.kind() else { return None };
    match n.kind() {
        ExpKind::Size(n) if n == s && below(r, s) => Some((q.clone(), r.clone())),
        _ => None,
    }
}

/// A quick test of equality that is right when it says yes.
fn same(a: &Exp, b: &Exp) -> bool {
    a.same_node(b)
        || match (a.kind(), b.kind()) {
            (ExpKind::Size(s), ExpKind::Size(t)) => s == t,
            (ExpKind::Var(v), ExpKind::Var(w)) => v.id == w.id,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrase::{PVar, Role};

    fn variable(id: u32, bound: &Size) -> Exp {
        let var = PVar { id, name: "i".into(), hint: None, role: Role::Index };
        Exp::var(&var, DataType::Idx(bound.clone()))
    }

    #[test]
    fn split_undoes_join_and_join_undoes_split() {
        let (m, n) = (Size::param("m"), Size::param("n"));
        let all = DataType::Idx(n.clone() * m.clone());
        let i = variable(0, &(n.clone() * m.clone()));
        let (row, inner) = (DataType::Idx(m.clone()), DataType::Idx(n.clone()));
        let (q, r) = (div_size(i.clone(), &n, &row), mod_size(i.clone(), &n, &inner));
        assert!(add(mul_size(q, &n, &all), r, &all).same_node(&i));

        let (i, j) = (variable(0, &m), variable(1, &n));
        let flat = add(mul_size(i.clone(), &n, &all), j.clone(), &all);
        assert!(div_size(flat.clone(), &n, &row).same_node(&i));
        assert!(mod_size(flat, &n, &inner).same_node(&j));
    }

    #[test]
    fn reversing_twice_and_dropping_often_stay_small() {
        let n = Size::param("n");
        let ty = DataType::Idx(n.clone());
        let i = variable(0, &n);
        let last = n.clone() - Size::constant(1);
        let back = size_minus(&last, size_minus(&last, i.clone(), &ty), &ty);
        assert!(back.same_node(&i));
        let mut e = i;
        for _ in 0..100 {
            e = add_size(e, &Size::constant(1), &ty);
        }
        assert!(
            matches!(e.kind(), ExpKind::Arith(BinaryOp::Add, _, k) if matches!(k.kind(), ExpKind::Size(s) if s.as_constant() == Some(100)))
        );
    }
}
