//! Scalars that are not used after the region and are always written before they are read become
//! locals of the innermost blocks that hold their uses. Each iteration then has its own, and no
//! dependence runs through the one variable. No pass does this: what is used after the region is
//! known from the C text around it, and nothing is expanded, only declared further inside.

use loops::liveness::written_before_read;
use loops::{ArrayDecl, Name, Scalar, Stmt, Storage};

/// Declares the scalar in the innermost blocks that can have it. Returns the names of these locals,
/// of which all but the first are `fresh`. `None` if its value may come from outside.
pub(crate) fn localise(
    body: &mut Vec<Stmt>,
    name: &Name,
    elem: Scalar,
    fresh: &mut dyn FnMut() -> Name,
) -> Vec<Name> {
    let mut names = Vec::new();
    if written_before_read(body, name) {
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
    let users: Vec<usize> = (0..body.len()).filter(|k| body[*k].accesses(name)).collect();
    // No value goes from before a part to a read in it: all of its reads come after writes in it,
    // and so do those of what follows. So each part could have its own variable.
    let (mut alone, mut here) = (Vec::new(), Vec::new());
    let (mut end, mut part) = (body.len(), Vec::new());
    for k in users.into_iter().rev() {
        part.push(k);
        if written_before_read(&body[k..end], name) {
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
            let in_then = then.iter().any(|s| s.accesses(name));
            let in_otherwise = otherwise.iter().any(|s| s.accesses(name));
            let side = if in_then { then } else { otherwise };
            (in_then != in_otherwise).then_some(side)
        }
        _ => None,
    }
}
