//! Conditions in which one part is asked only where the other does not decide (`a && x[i] > 0`)
//! become operations on truth values, where nothing can go wrong in either part.
//!
//! C reads memory in the right part only if the left one holds. In the loop program that is a
//! choice `select(a, x[i] > 0, false)`, and in C a branch, which keeps compilers from making
//! vectors. It is the same value if both parts are computed, which is safe where each run of the
//! body reads or writes the same element anyway.
//!
//! Left out: parts that call functions or divide integers, and choices between other values, of
//! which compilers make vectors themselves.

use loops::poly::Poly;
use loops::{Access, BinaryOp, Expr, Function, Stmt};

use crate::pass::{Pass, Step};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "if-conversion",
        literature: "if-conversion (Allen, Kennedy, Porterfield, Warren 1983)",
        about: "parts of a condition that read elements which are accessed anyway are all computed",
    },
    run: converted,
};

fn converted(function: &Function) -> Option<Function> {
    let mut found = false;
    let body = block(&function.body, &[], &mut found);
    found.then(|| Function { body, ..function.clone() })
}

/// The statements, of which each run accesses `around` as well.
fn block(body: &[Stmt], around: &[&Access], found: &mut bool) -> Vec<Stmt> {
    let own = body.iter().filter_map(|stmt| match stmt {
        Stmt::Assign(assign) => Some(std::iter::once(&assign.target).chain(certain(&assign.value))),
        _ => None,
    });
    // What depends on data may be another element the next time.
    let fixed = |access: &&Access| !access.indices.iter().any(Expr::has_loads);
    let sure: Vec<&Access> = around.iter().copied().chain(own.flatten().filter(fixed)).collect();
    let mut changed = false;
    let body = body
        .iter()
        .map(|stmt| {
            let assigns = matches!(stmt, Stmt::Assign(_));
            let mut inner = false;
            let stmt = stmt
                .map(&mut |e| if assigns { expr(e, &sure, &mut changed) } else { e.clone() }, &mut |body| {
                    block(body, &sure, &mut inner)
                });
            *found |= inner;
            stmt
        })
        .collect();
    *found |= changed;
    body
}

/// What evaluating an expression surely reads.
fn certain(e: &Expr) -> Vec<&Access> {
    let mut reads = Vec::new();
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match e {
            Expr::Select(cond, _, _) => open.push(cond),
            _ => {
                reads.extend(if let Expr::Load(access) = e { Some(access) } else { None });
                open.extend(e.children());
            }
        }
    }
    reads
}

fn expr(e: &Expr, sure: &[&Access], changed: &mut bool) -> Expr {
    let e = e.map_children(&mut |child| expr(child, sure, changed));
    let Expr::Select(cond, then, otherwise) = &e else { return e };
    let (op, part) = match (&**then, &**otherwise) {
        (part, Expr::Bool(false)) => (BinaryOp::And, part),
        (Expr::Bool(true), part) => (BinaryOp::Or, part),
        _ => return e,
    };
    if matches!(part, Expr::Bool(_)) || !is_safe(part, sure) {
        return e;
    }
    *changed = true;
    Expr::binary(op, (**cond).clone(), part.clone())
}

/// Whether evaluating an expression can't go wrong.
fn is_safe(e: &Expr, sure: &[&Access]) -> bool {
    e.nodes().all(|e| match e {
        Expr::Load(access) => access.indices.is_empty() || sure.contains(&access) || between(access, sure),
        Expr::Call { .. } => false,
        Expr::Binary(op, _, by) => !op.divides() || matches!(**by, Expr::F32(_) | Expr::F64(_)),
        _ => true,
    })
}

/// Whether an element lies between two of its row that are accessed.
fn between(access: &Access, sure: &[&Access]) -> bool {
    let Some((last, row)) = access.indices.split_last() else { return false };
    let Some(place) = Poly::of(last) else { return false };
    let away = |other: &&Access| {
        let (end, own) = other.indices.split_last()?;
        let same = other.array == access.array && other.path == access.path && own == row;
        Poly::of(end).filter(|_| same)?.sub(&place)?.as_constant()
    };
    let sides: Vec<i64> = sure.iter().filter_map(away).collect();
    sides.iter().any(|by| *by <= 0) && sides.iter().any(|by| *by >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Option<String> {
        let program = loops::parse(text).unwrap();
        let function = (PASS.run)(&program.functions[0])?;
        assert!(loops::validate(&function).is_proved());
        Some(function.to_string())
    }

    const HEAD: &str = "fn f[n](a: in f64[n], b: in f64[n], x: inout f64[n]) {\n  for i in 0..n {\n";

    #[test]
    fn what_is_accessed_anyway_is_read_at_once() {
        let text = format!(
            "{HEAD}    x[i] = b[i]\n    x[i] = select(select(a[i] < 1.0, b[i] < 2.0, false), 0.0, x[i])\n  }}\n}}\n"
        );
        let after = after(&text).unwrap();
        assert!(after.contains("select(a[i] < 1.0 && b[i] < 2.0, 0.0, x[i])"), "{after}");
    }

    #[test]
    fn what_lies_between_elements_that_are_accessed_is_there() {
        let of = |first: &str, last: &str| {
            let text = format!(
                "{} x[i] = {first} + {last} x[i] = select(select(b[i] < 1.0, a[i] < 2.0, false), 0.0, x[i]) }} }}",
                HEAD.replace("0..n", "2..n - 2")
            );
            after(&text)
        };
        let new = of("a[i - 1]", "a[i + 2]").unwrap();
        assert!(new.contains("select(b[i] < 1.0 && a[i] < 2.0, 0.0, x[i])"), "{new}");
        assert_eq!(of("a[i - 1]", "a[i - 2]"), None);
        assert_eq!(of("a[i - 1]", "b[i + 1]"), None);
    }

    #[test]
    fn what_may_not_be_there_is_read_where_it_is_asked_for() {
        for read in ["b[i]", "b[i + 1 - 1]", "a[i - 1]"] {
            let text = format!(
                "{HEAD}    x[i] = select(select(a[i] < 1.0, {read} < 2.0, false), b[i], x[i])\n  }}\n}}\n"
            );
            assert_eq!(after(&text), None, "{read}");
        }
    }
}
