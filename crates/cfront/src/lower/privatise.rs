//! Scalars that are dead after the region and always written before they are read become locals of the innermost block
//! that holds all their uses: each iteration then has its own, and no dependence runs through the one variable.

use loops::{ArrayDecl, Expr, Name, Scalar, Stmt, Storage};

/// Declares the scalar in the innermost block that can have it; not if its value may come in from outside.
pub fn localise(body: &mut Vec<Stmt>, name: &Name, elem: Scalar) -> bool {
    let local = written_first(body, name, &mut false);
    if local {
        place(body, name, elem);
    }
    local
}

/// Puts the declaration into the innermost block: here, if two statements mention the scalar.
fn place(body: &mut Vec<Stmt>, name: &Name, elem: Scalar) {
    let users: Vec<usize> = (0..body.len()).filter(|k| mentions(&body[*k], name)).collect();
    if let [only] = users.as_slice() {
        match &mut body[*only] {
            Stmt::Loop(l) => {
                return place(&mut l.body, name, elem);
            }
            Stmt::Block { body: inner, .. } => {
                return place(inner, name, elem);
            }
            Stmt::If { then, otherwise, .. } => {
                let in_then = then.iter().any(|s| mentions(s, name));
                let in_otherwise = otherwise.iter().any(|s| mentions(s, name));
                if in_then != in_otherwise {
                    let side = if in_then { then } else { otherwise };
                    return place(side, name, elem);
                }
            }
            _ => {}
        }
    }
    let first = users.first().copied().unwrap_or(0);
    let local = ArrayDecl { name: name.clone(), elem: elem.into(), dims: Vec::new(), storage: Storage::Auto };
    body.insert(first, Stmt::Local(local));
}

/// Whether every read comes after a write in the same run of the block; `assigned` is what is known at its end.
fn written_first(body: &[Stmt], name: &Name, assigned: &mut bool) -> bool {
    for stmt in body {
        match stmt {
            Stmt::Assign(a) => {
                let target = a.target.array == *name;
                let reads = own(stmt, name) || (target && a.update.is_some());
                if reads && !*assigned {
                    return false;
                }
                *assigned |= target;
            }
            Stmt::Loop(l) => {
                if own(stmt, name) && !*assigned {
                    return false;
                }
                // It may not run; and what one iteration writes is gone for the next one if the scalar is local to it.
                let mut inner = *assigned;
                if !written_first(&l.body, name, &mut inner) {
                    return false;
                }
            }
            Stmt::If { then, otherwise, .. } => {
                if own(stmt, name) && !*assigned {
                    return false;
                }
                let (mut a, mut b) = (*assigned, *assigned);
                if !written_first(then, name, &mut a) || !written_first(otherwise, name, &mut b) {
                    return false;
                }
                *assigned = a && b;
            }
            Stmt::Block { body, .. } => {
                if !written_first(body, name, assigned) {
                    return false;
                }
            }
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
    }
    true
}

fn mentions(stmt: &Stmt, name: &Name) -> bool {
    own(stmt, name)
        || matches!(stmt, Stmt::Assign(a) if a.target.array == *name)
        || stmt.bodies().into_iter().flatten().any(|stmt| mentions(stmt, name))
}

/// Whether a statement itself reads a scalar, not one inside it.
fn own(stmt: &Stmt, name: &Name) -> bool {
    match stmt {
        Stmt::Assign(a) => reads(&a.value, name),
        other => other.exprs().into_iter().any(|e| reads(e, name)),
    }
}

/// Whether an expression reads a scalar. There can be thousands of scalars and statements, so nothing is collected.
fn reads(e: &Expr, name: &Name) -> bool {
    match e {
        Expr::Load(access) => access.array == *name || access.indices.iter().any(|e| reads(e, name)),
        Expr::Unary(_, a) | Expr::Cast(_, a) => reads(a, name),
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => reads(a, name) || reads(b, name),
        Expr::Select(a, b, c) => reads(a, name) || reads(b, name) || reads(c, name),
        Expr::Call { args, .. } => args.iter().any(|a| reads(a, name)),
        _ => false,
    }
}
