//! Parallel loops that stand behind each other and go over the same iterations become one, if one
//! of them is a contraction: what an iteration of one writes and the next reads is then still in
//! the cache, and one team does for all. Whether iterations only hand on what is theirs is for the
//! checker to say.

use loops::{Loop, LoopKind, Stmt};

/// The statements with such loops joined; none if there are none.
pub(super) fn join(body: &[Stmt]) -> Option<Vec<Stmt>> {
    let mut result: Vec<Stmt> = Vec::new();
    let mut group: Vec<(&Loop, Vec<Stmt>, bool)> = Vec::new();
    let mut joined = false;
    for stmt in body {
        let next = parallel(stmt);
        let ends = match (group.first(), &next) {
            (Some((first, ..)), Some((l, ..))) => !alike(first, l),
            (_, next) => next.is_none(),
        };
        if ends {
            joined |= flush(&mut group, &mut result);
        }
        match next {
            Some(part) => group.push(part),
            None => result.push(stmt.clone()),
        }
    }
    joined |= flush(&mut group, &mut result);
    joined.then_some(result)
}

/// A parallel loop, what is in it, and whether that is a contraction.
fn parallel(stmt: &Stmt) -> Option<(&Loop, Vec<Stmt>, bool)> {
    let free = |l: &Loop| l.kind == LoopKind::Parallel && l.reductions.is_empty();
    match stmt {
        Stmt::Loop(l) if free(l) => Some((l, l.body.clone(), false)),
        Stmt::Block { mark: Some(mark), body } => match &body[..] {
            [Stmt::Loop(l)] if free(l) => Some((l, vec![Stmt::mark(mark.as_str(), l.body.clone())], true)),
            _ => None,
        },
        _ => None,
    }
}

fn alike(a: &Loop, b: &Loop) -> bool {
    (&a.var, &a.lower, &a.upper, a.step) == (&b.var, &b.lower, &b.upper, b.step)
}

/// Writes a group as one loop if that is worth it; whether it was.
fn flush(group: &mut Vec<(&Loop, Vec<Stmt>, bool)>, result: &mut Vec<Stmt>) -> bool {
    let worth = group.len() > 1 && group.iter().any(|(_, _, contraction)| *contraction);
    match group.first() {
        Some((l, ..)) if worth => {
            let body = group.iter().flat_map(|(_, body, _)| body.clone()).collect();
            result.push(Stmt::Loop(Loop { body, ..(*l).clone() }));
        }
        _ => result.extend(group.iter().map(|(l, body, contraction)| {
            let alone = |body: Vec<Stmt>| Stmt::Loop(Loop { body, ..(*l).clone() });
            match (&body[..], contraction) {
                ([Stmt::Block { mark: Some(mark), body }], true) => {
                    Stmt::mark(mark.as_str(), vec![alone(body.clone())])
                }
                _ => alone(body.clone()),
            }
        })),
    }
    group.clear();
    worth
}
