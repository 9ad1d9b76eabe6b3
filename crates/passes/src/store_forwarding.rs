//! Sums that are made in a local scalar and stored at the end (`s = 0; for k: s += …; C[i][j] = s`)
//! are made in the element that they are stored to.
//!
//! Then the nest is an update of that element in more loops than the element has, which is what
//! contractions look like, and no memory is needed for the scalar of each iteration, as [scalar
//! expansion](super::scalar_expansion) needs.
//!
//! It is the same program if, in the block that declares the scalar, the store is unconditional and
//! of the scalar's type; what that block mentions of the array before are other elements (`X[k][j]`
//! with `k < i`, in substitutions and factorisations); the scalar is assigned before it is read;
//! and the store is the last that mentions it. Until the store nobody can see what the element
//! holds. Where more is stored than the scalar (`C[i][j] = alpha * s`), that is done with the
//! element at the end. Left out: what is stored on top of what was there (`C[i][j] = s + beta *
//! C[i][j]`), and local arrays that share their name with others.
//!
//! Beside it: [copy propagation](super::copy_propagation) puts a value where a scalar was, before
//! any store; [scalar replacement](super::scalar_replacement) goes the other way, from the element
//! to a scalar.

use crate::pass::{Pass, Step};
use loops::facts::Facts;
use loops::visit::locals;
use loops::{Access, Assign, CompareOp, Elem, Expr, Function, Loop, Name, ParamMode, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "store-forwarding",
        literature: "forwarding of stores, contraction of scalars",
        about: "a local sum that ends in an array element is made in that element",
    },
    run: forward,
};

/// The function with such sums in their places; none if it has none.
fn forward(function: &Function) -> Option<Function> {
    let mut found = false;
    let body = block(function, &Facts::of(function), &function.body, &mut found);
    found.then(|| Function { body, ..function.clone() })
}

fn block(function: &Function, facts: &Facts, body: &[Stmt], found: &mut bool) -> Vec<Stmt> {
    let inner = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => inside(facts, l),
        _ => facts.clone(),
    };
    let mut body: Vec<Stmt> = body
        .iter()
        .map(|stmt| {
            let facts = inner(stmt);
            stmt.map(&mut Expr::clone, &mut |body| block(function, &facts, body, found))
        })
        .collect();
    let mut at = 0;
    while at < body.len() {
        match placed(function, facts, &body[at..]) {
            Some(new) => {
                body.splice(at.., new);
                *found = true;
            }
            None => at += 1,
        }
    }
    body
}

/// What holds in the body of a loop.
pub(crate) fn inside(facts: &Facts, l: &Loop) -> Facts {
    let mut facts = facts.clone();
    facts.enter(l);
    facts
}

/// The rest of a block that begins with the declaration of such a scalar, without it.
fn placed(function: &Function, facts: &Facts, rest: &[Stmt]) -> Option<Vec<Stmt>> {
    let (Stmt::Local(local), rest) = rest.split_first()? else { return None };
    if !local.dims.is_empty() {
        return None;
    }
    let first = rest.iter().position(|stmt| mentions(stmt, &local.name))?;
    let last = rest.iter().rposition(|stmt| mentions(stmt, &local.name))?;
    let Stmt::Assign(store) = &rest[last] else { return None };
    let Stmt::Assign(start) = &rest[first] else { return None };
    let scalar = Access::element(local.name.clone(), Vec::new());
    let element = &store.target;
    if first >= last
        || store.update.is_some()
        || !other_elements(facts, &store.value, element)
        || !store.value.reads(&local.name)
        || start.update.is_some()
        || start.target != scalar
        || start.value.reads(&local.name)
        || !is_element(function, element, &local.elem)
    {
        return None;
    }
    // `s = C[i][j]` needs no statement.
    let as_it_is = start.value == Expr::Load(element.clone());
    let between = &rest[first + usize::from(as_it_is)..last];
    if !rest[..first].iter().chain(between).all(|stmt| leaves(facts, stmt, element))
        || between.iter().any(|stmt| hides(stmt, element))
    {
        return None;
    }
    let mut result: Vec<Stmt> = rest[..first].to_vec();
    result.extend(put(between, &scalar, element));
    if store.value != Expr::Load(scalar.clone()) {
        result.extend(put(&rest[last..=last], &scalar, element));
    }
    result.extend(rest[last + 1..].iter().cloned());
    Some(result)
}

/// Whether an access is an element, of that type, of an array that the caller sees or that is the
/// only local one of its name, at a place that does not depend on data.
fn is_element(function: &Function, element: &Access, elem: &Elem) -> bool {
    let array = match function.params.iter().find(|param| param.name == element.array) {
        Some(param) => param.mode != ParamMode::In && param.elem == *elem,
        None => is_only_local(function, &element.array, elem),
    };
    matches!(elem, Elem::Scalar(_))
        && element.path.is_empty()
        && element.indices.iter().all(|e| !e.has_loads())
        && array
}

/// Whether a function declares one local array of a name, with such elements.
fn is_only_local(function: &Function, name: &Name, elem: &Elem) -> bool {
    let (mut count, mut fits) = (0, false);
    for local in locals(&function.body) {
        if local.name == *name {
            count += 1;
            fits = !local.dims.is_empty() && local.elem == *elem;
        }
    }
    count == 1 && fits
}

/// Whether accesses are of different elements, wherever both are in scope.
fn differ(facts: &Facts, a: &Access, b: &Access) -> bool {
    let apart = |(a, b): (&Expr, &Expr)| facts.decide(CompareOp::Ne, a, b) == Some(true);
    a.array != b.array || a.indices.iter().zip(&b.indices).any(apart)
}

/// Whether an expression reads no such element.
fn other_elements(facts: &Facts, value: &Expr, element: &Access) -> bool {
    value.loads().all(|access| differ(facts, access, element))
}

/// Whether a statement neither reads nor writes an element, and declares nothing of its array's
/// name.
pub(crate) fn leaves(facts: &Facts, stmt: &Stmt, element: &Access) -> bool {
    let reads = |e: &Expr| !other_elements(facts, e, element);
    let body = |facts: &Facts, body: &[Stmt]| body.iter().all(|stmt| leaves(facts, stmt, element));
    match stmt {
        Stmt::Assign(assign) => {
            differ(facts, &assign.target, element)
                && !assign.target.indices.iter().any(reads)
                && !reads(&assign.value)
        }
        Stmt::If { cond, then, otherwise } => !reads(cond) && body(facts, then) && body(facts, otherwise),
        Stmt::Loop(l) => {
            let bounds = !reads(&l.lower) && !reads(&l.upper);
            bounds
                && l.reductions.iter().all(|(_, n)| *n != element.array)
                && body(&inside(facts, l), &l.body)
        }
        Stmt::Local(local) => local.name != element.array,
        Stmt::Block { body: inner, .. } => body(facts, inner),
        Stmt::Copy(_) | Stmt::Wait(_) => false,
    }
}

/// Whether a statement reads, writes or declares what has a name.
pub fn mentions(stmt: &Stmt, name: &Name) -> bool {
    let mut found = false;
    for stmt in stmt.nodes() {
        let here = |e: &Expr| e.reads(name);
        found |= match stmt {
            Stmt::Assign(assign) => {
                assign.target.array == *name || assign.target.indices.iter().any(here) || here(&assign.value)
            }
            Stmt::If { cond, .. } => here(cond),
            Stmt::Loop(l) => here(&l.lower) || here(&l.upper) || l.reductions.iter().any(|(_, n)| n == name),
            Stmt::Local(local) => local.name == *name || local.dims.iter().any(here),
            Stmt::Block { .. } => false,
            Stmt::Copy(_) | Stmt::Wait(_) => true,
        };
    }
    found
}

/// Whether a loop has the name of a variable of the element's subscripts.
pub(crate) fn hides(stmt: &Stmt, element: &Access) -> bool {
    let mut found = false;
    for stmt in stmt.nodes() {
        if let Stmt::Loop(l) = stmt {
            found |= element.indices.iter().any(|e| e.mentions(&l.var));
        }
    }
    found
}

/// Every access of the scalar becomes one of the element.
pub(crate) fn put(body: &[Stmt], scalar: &Access, element: &Access) -> Vec<Stmt> {
    let access = |a: &Access| if a == scalar { element.clone() } else { a.clone() };
    let value = |e: &Expr| e.map_loads(&mut |a| Expr::Load(access(&a)));
    body.iter()
        .map(|stmt| match stmt.map(&mut |e| value(e), &mut |inner| put(inner, scalar, element)) {
            Stmt::Assign(assign) => Stmt::Assign(Assign { target: access(&assign.target), ..assign }),
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(body: &str) -> Option<String> {
        let text = format!(
            "fn f[n](a: in f64[n], b: inout f64[n], c: inout f32[n]) {{\n for i in 0..n {{\n local s: f64\n {body}\n }}\n}}"
        );
        let program = loops::parse(&text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        forward(&program.functions[0])
            .map(|function| loops::Program { functions: vec![function] }.to_string())
    }

    #[test]
    fn a_sum_is_made_where_it_is_stored() {
        let text = forwarded("s = 0.0\n for k in 0..n {\n s += a[k]\n }\n b[i] = s").unwrap();
        assert!(!text.contains('s'), "{text}");
        assert!(text.contains("b[i] = 0.0") && text.contains("b[i] += a[k]"), "{text}");
        // More than the sum: at the end.
        let text = forwarded("s = 0.0\n s += a[i]\n b[i] = s * a[0]").unwrap();
        assert!(text.contains("b[i] += a[i]") && text.contains("b[i] = b[i] * a[0]"), "{text}");
        // What the element holds is where the sum begins.
        let text = forwarded("s = b[i]\n for k in 0..n {\n s += a[k]\n }\n b[i] = s").unwrap();
        assert!(!text.contains("b[i] ="), "{text}");
    }

    #[test]
    fn other_elements_of_the_array_may_be_read() {
        let text = forwarded("s = b[i]\n for k in 0..i {\n s += a[k] * b[k]\n }\n b[i] = s / a[i]").unwrap();
        assert!(text.contains("b[i] += a[k] * b[k]") && text.contains("b[i] = b[i] / a[i]"), "{text}");
        let text = forwarded("s = 0.0\n for k in i + 1..n {\n s += b[k]\n }\n b[i] = s - b[i + 1]").unwrap();
        assert!(text.contains("b[i] = b[i] - b[i + 1]"), "{text}");
        for body in [
            // As far as the element itself; one that may be it; the loop has another variable of
            // this name; the end is data of the array.
            "s = 0.0\n for k in 0..i + 1 {\n s += b[k]\n }\n b[i] = s",
            "s = 0.0\n for k in 0..i {\n s += b[n - k]\n }\n b[i] = s",
            "s = 0.0\n for i in 0..n {\n s += b[i + 1]\n }\n b[i] = s",
            "s = 0.0\n for k in 0..i64(b[i]) {\n s += a[k]\n }\n b[i] = s",
        ] {
            assert_eq!(forwarded(body), None, "{body}");
        }
    }

    #[test]
    fn sums_of_local_arrays_are_made_there() {
        let body = |name: &str| {
            format!(
                "local t: f64[n]\n for j in 0..n {{\n local u: f64\n u = 0.0\n for k in 0..n {{\n u += a[k]\n }}\n {name}[j] = u\n }}"
            )
        };
        let text = forwarded(&body("t")).unwrap();
        assert!(text.contains("t[j] = 0.0") && text.contains("t[j] += a[k]"), "{text}");
        // Another array of the name.
        assert_eq!(forwarded(&format!("{}\n if i < 1 {{\n local t: f64[n]\n }}", body("t"))), None);
    }

    #[test]
    fn what_somebody_could_see_stays() {
        for body in [
            // Another type; on top of what was there; a condition; the array is read; the scalar is
            // used later, or before it has a value; the place depends on data.
            "s = 0.0\n s += a[i]\n c[i] = f32(s)",
            "s = 0.0\n s += a[i]\n b[i] = s + b[i]",
            "s = 0.0\n s += a[i]\n if i < 2 {\n b[i] = s\n }",
            "s = 0.0\n for k in 0..n {\n s += b[k]\n }\n b[i] = s",
            "s = 0.0\n s += a[i]\n b[i] = s\n s = s + 1.0",
            "s += a[i]\n b[i] = s",
            "s = 0.0\n if i < 2 {\n b[0] = 1.0\n }\n b[i] = s",
        ] {
            assert_eq!(forwarded(body), None, "{body}");
        }
    }
}
