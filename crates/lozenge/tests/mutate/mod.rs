//! Mutants of loop programs: the same program with one thing changed, as a mistake of a compiler
//! would.
//!
//! Not here: whether a mutant computes anything else than the original; many do not.

pub mod fields;

use std::collections::BTreeMap;

use loops::{Assign, BinaryOp, CompareOp, Component, Expr, Function, Loop, LoopKind, Stmt};

/// What was changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A subscript is off by one, or two subscripts have changed places, or the other half of a
    /// pair is meant.
    Index,
    /// Operands have changed places.
    Order,
    /// Another operator, or an update that overwrites.
    Operator,
    /// Another constant.
    Constant,
    /// An assignment is missing.
    Missing,
    /// Two statements have changed places.
    Exchange,
    /// A loop in sequence is parallel.
    Parallel,
    /// A loop begins one late, or ends one early or one late.
    Bound,
}

/// A changed program.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub kind: Kind,
    pub function: Function,
}

/// Every program that differs from this one by one change.
pub fn mutants(function: &Function) -> Vec<Mutant> {
    let changed = bodies(&function.body);
    changed
        .into_iter()
        .map(|(kind, body)| Mutant { kind, function: Function { body, ..function.clone() } })
        .collect()
}

/// At most `most` of the mutants: of each kind about as many, from all over the program.
pub fn spread(mutants: Vec<Mutant>, most: usize) -> Vec<Mutant> {
    let mut kinds: BTreeMap<Kind, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        kinds.entry(mutant.kind).or_default().push(mutant);
    }
    let each = most.div_ceil(kinds.len().max(1));
    let mut chosen = Vec::new();
    for of_kind in kinds.into_values() {
        let step = of_kind.len().div_ceil(each).max(1);
        chosen.extend(of_kind.into_iter().step_by(step));
    }
    chosen
}

fn bodies(body: &[Stmt]) -> Vec<(Kind, Vec<Stmt>)> {
    let mut all = Vec::new();
    for (k, stmt) in body.iter().enumerate() {
        let with = |new: Option<Stmt>| {
            let rest = body.iter().skip(k + 1).cloned();
            body.iter().take(k).cloned().chain(new).chain(rest).collect::<Vec<_>>()
        };
        if matches!(stmt, Stmt::Assign(_)) {
            all.push((Kind::Missing, with(None)));
        }
        let declares = |s: &Stmt| matches!(s, Stmt::Local(_));
        if k + 1 < body.len() && !declares(stmt) && !declares(&body[k + 1]) {
            let mut exchanged = body.to_vec();
            exchanged.swap(k, k + 1);
            all.push((Kind::Exchange, exchanged));
        }
        all.extend(stmts(stmt).into_iter().map(|(kind, new)| (kind, with(Some(new)))));
    }
    all
}

fn stmts(stmt: &Stmt) -> Vec<(Kind, Stmt)> {
    match stmt {
        Stmt::Assign(a) => {
            let mut all = Vec::new();
            for (kind, e) in exprs(&Expr::Load(a.target.clone())) {
                if let Expr::Load(target) = e {
                    all.push((kind, Stmt::Assign(Assign { target, ..a.clone() })));
                }
            }
            if a.update.is_some() {
                all.push((Kind::Operator, Stmt::Assign(Assign { update: None, ..a.clone() })));
            }
            all.extend(
                exprs(&a.value)
                    .into_iter()
                    .map(|(kind, value)| (kind, Stmt::Assign(Assign { value, ..a.clone() }))),
            );
            all
        }
        Stmt::Loop(l) => {
            let with = |new: Loop| Stmt::Loop(new);
            let mut all = vec![
                (Kind::Bound, with(Loop { upper: l.upper.clone() + 1, ..l.clone() })),
                (Kind::Bound, with(Loop { upper: l.upper.clone() - 1, ..l.clone() })),
                (Kind::Bound, with(Loop { lower: l.lower.clone() + 1, ..l.clone() })),
            ];
            if matches!(l.kind, LoopKind::Sequential | LoopKind::Unroll(_)) {
                all.push((Kind::Parallel, with(Loop { kind: LoopKind::Parallel, ..l.clone() })));
            }
            all.extend(
                exprs(&l.upper)
                    .into_iter()
                    .map(|(_, upper)| (Kind::Bound, with(Loop { upper, ..l.clone() }))),
            );
            all.extend(
                bodies(&l.body).into_iter().map(|(kind, body)| (kind, with(Loop { body, ..l.clone() }))),
            );
            all
        }
        Stmt::If { cond, then, otherwise } => {
            let with = |cond: &Expr, then: &[Stmt], otherwise: &[Stmt]| Stmt::If {
                cond: cond.clone(),
                then: then.to_vec(),
                otherwise: otherwise.to_vec(),
            };
            let mut all = vec![(Kind::Order, with(cond, otherwise, then))];
            all.extend(exprs(cond).into_iter().map(|(kind, cond)| (kind, with(&cond, then, otherwise))));
            all.extend(bodies(then).into_iter().map(|(kind, then)| (kind, with(cond, &then, otherwise))));
            all.extend(bodies(otherwise).into_iter().map(|(kind, other)| (kind, with(cond, then, &other))));
            all
        }
        Stmt::Block { mark, body } => {
            let with = |(kind, body)| (kind, Stmt::Block { mark: mark.clone(), body });
            bodies(body).into_iter().map(with).collect()
        }
        Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => Vec::new(),
    }
}

fn exprs(e: &Expr) -> Vec<(Kind, Expr)> {
    let mut all = Vec::new();
    match e {
        Expr::Int(v) => all.push((Kind::Constant, Expr::Int(v.wrapping_add(1)))),
        Expr::I32(v) => all.push((Kind::Constant, Expr::I32(v.wrapping_add(1)))),
        Expr::F32(v) => all.push((Kind::Constant, Expr::f32(v.value() + 1.0))),
        Expr::F64(v) => all.push((Kind::Constant, Expr::f64(v.value() + 1.0))),
        Expr::Bool(v) => all.push((Kind::Constant, Expr::Bool(!v))),
        Expr::Load(access) => {
            for k in 0..access.indices.len() {
                for by in [1, -1] {
                    let mut other = access.clone();
                    other.indices[k] = access.indices[k].clone() + by;
                    all.push((Kind::Index, Expr::Load(other)));
                }
                if k > 0 {
                    let mut other = access.clone();
                    other.indices.swap(k - 1, k);
                    all.push((Kind::Index, Expr::Load(other)));
                }
            }
            for k in 0..access.path.len() {
                let mut other = access.clone();
                other.path[k] =
                    if access.path[k] == Component::First { Component::Second } else { Component::First };
                all.push((Kind::Index, Expr::Load(other)));
            }
        }
        Expr::Binary(op, a, b) => {
            all.push((Kind::Order, Expr::Binary(*op, b.clone(), a.clone())));
            let other = match op {
                BinaryOp::Add => Some(BinaryOp::Sub),
                BinaryOp::Sub | BinaryOp::Mul => Some(BinaryOp::Add),
                BinaryOp::Div => Some(BinaryOp::Mul),
                BinaryOp::Min => Some(BinaryOp::Max),
                BinaryOp::Max => Some(BinaryOp::Min),
                BinaryOp::FloorDiv => Some(BinaryOp::Mod),
                BinaryOp::Mod => Some(BinaryOp::FloorDiv),
                _ => None,
            };
            all.extend(other.map(|op| (Kind::Operator, Expr::Binary(op, a.clone(), b.clone()))));
        }
        Expr::Compare(op, a, b) => {
            all.push((Kind::Order, Expr::Compare(*op, b.clone(), a.clone())));
            let other = match op {
                CompareOp::Lt => CompareOp::Le,
                CompareOp::Le => CompareOp::Lt,
                CompareOp::Gt => CompareOp::Ge,
                CompareOp::Ge => CompareOp::Gt,
                CompareOp::Eq => CompareOp::Ne,
                CompareOp::Ne => CompareOp::Eq,
            };
            all.push((Kind::Operator, Expr::Compare(other, a.clone(), b.clone())));
        }
        Expr::Select(c, a, b) => {
            all.push((Kind::Order, Expr::Select(c.clone(), b.clone(), a.clone())));
        }
        Expr::Unary(_, a) => all.push((Kind::Operator, (**a).clone())),
        Expr::Var(_) | Expr::Cast(..) | Expr::Call { .. } => {}
    }
    // One child at a time is replaced by its mutants.
    for (k, child) in e.children().enumerate() {
        for (kind, new) in exprs(child) {
            let mut at = 0;
            let changed = e.map_children(&mut |old| {
                at += 1;
                if at == k + 1 { new.clone() } else { old.clone() }
            });
            all.push((kind, changed));
        }
    }
    all
}
