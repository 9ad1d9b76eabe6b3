//! Scalars that are not used after the region and are always written before they are read become
//! locals of the innermost blocks that hold their uses. Each iteration then has its own, and no
//! dependence runs through the one variable.

use loops::{ArrayDecl, Expr, Name, Scalar, Stmt, Storage};

/// Declares the scalar in the innermost blocks that can have it. Returns the names of these locals,
/// of which all but the first are `fresh`. `None` if its value may come from outside.
pub fn localise(
    body: &mut Vec<Stmt>,
    name: &Name,
    elem: Scalar,
    fresh: &mut dyn FnMut() -> Name,
) -> Vec<Name> {
    let mut names = Vec::new();
    if written_first(body, name, &mut false) {
        place(body, name, elem, fresh, &mut names);
    }
    names
}

/// Puts the declaration into the innermost blocks. A statement gets a declaration of its own if a
/// loop or conditional in it encloses all its uses of the scalar, and no value of the scalar passes
/// between it and other statements. All other statements share one here.
fn place(
    body: &mut Vec<Stmt>,
    name: &Name,
    elem: Scalar,
    fresh: &mut dyn FnMut() -> Name,
    names: &mut Vec<Name>,
) {
    let users: Vec<usize> = (0..body.len()).filter(|k| mentions(&body[*k], name)).collect();
    // No value goes from before a part to a read in it: all of its reads come after writes in it,
    // and so do those of what follows. So each part could have its own variable.
    let (mut alone, mut here) = (Vec::new(), Vec::new());
    let (mut end, mut part) = (body.len(), Vec::new());
    for k in users.into_iter().rev() {
        part.push(k);
        if written_first(&body[k..end], name, &mut false) {
            match part.as_slice() {
                [only] if inner(&mut body[*only], name).is_some() => alone.push(*only),
                _ => here.append(&mut part),
            }
            end = k;
            part.clear();
        }
    }
    here.append(&mut part);
    let mut free = here.is_empty();
    for k in alone.into_iter().rev() {
        let own = if std::mem::take(&mut free) { name.clone() } else { fresh() };
        if own != *name {
            let renaming = [(name.clone(), own.clone())].into();
            let renamed = loops::visit::rename_arrays(std::slice::from_ref(&body[k]), &renaming);
            body.splice(k..=k, renamed);
        }
        if let Some(inner) = inner(&mut body[k], &own) {
            place(inner, &own, elem, fresh, names);
        }
    }
    if let Some(first) = here.into_iter().min() {
        let elem = elem.into();
        let local = ArrayDecl { name: name.clone(), elem, dims: Vec::new(), storage: Storage::Auto };
        body.insert(first, Stmt::Local(local));
        names.push(name.clone());
    }
}

/// The block inside a statement that has all its uses of a scalar.
fn inner<'s>(stmt: &'s mut Stmt, name: &Name) -> Option<&'s mut Vec<Stmt>> {
    match stmt {
        Stmt::Loop(l) => Some(&mut l.body),
        Stmt::Block { body, .. } => Some(body),
        Stmt::If { then, otherwise, .. } => {
            let in_then = then.iter().any(|s| mentions(s, name));
            let in_otherwise = otherwise.iter().any(|s| mentions(s, name));
            let side = if in_then { then } else { otherwise };
            (in_then != in_otherwise).then_some(side)
        }
        _ => None,
    }
}

/// Whether every read comes after a write in the same run of the block. `assigned` is what is known
/// at its end.
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
                // It may not run; and what one iteration writes is gone for the next one if the
                // scalar is local to it.
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
        Stmt::Assign(a) => reads(&a.value, name) || a.target.indices.iter().any(|e| reads(e, name)),
        other => other.exprs().into_iter().any(|e| reads(e, name)),
    }
}

/// Whether an expression reads a scalar. There can be thousands of scalars and statements, so
/// nothing is collected.
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
