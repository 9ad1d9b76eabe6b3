//! Which values statements take from before them.

use crate::name::Name;
use crate::program::Stmt;

/// Whether each read of an array or scalar variable comes after a write in the same run of the
/// statements, so that each run could have a variable of its own.
pub fn written_before_read(body: &[Stmt], name: &Name) -> bool {
    written_first(body, name, &mut false)
}

/// As [`written_before_read`]; `written` is what is known before, and then at the end.
fn written_first(body: &[Stmt], name: &Name, written: &mut bool) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Assign(assign) => {
            let target = stmt.writes(name);
            let fine = *written || !(stmt.reads(name) || (target && assign.update.is_some()));
            *written |= target;
            fine
        }
        // It may not run; and what one iteration writes is gone for the next one if each has a
        // variable of its own.
        Stmt::Loop(l) => {
            (*written || !stmt.reads(name)) && written_first(&l.body, name, &mut written.clone())
        }
        Stmt::If { then, otherwise, .. } => {
            let (mut a, mut b) = (*written, *written);
            let fine = (*written || !stmt.reads(name))
                && written_first(then, name, &mut a)
                && written_first(otherwise, name, &mut b);
            *written = a && b;
            fine
        }
        Stmt::Block { body, .. } => written_first(body, name, written),
        Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_from_before_is_found() {
        let first = |body: &str| {
            let text = format!("fn f[n](a: inout f64[n], s: inout f64) {{ {body} }}");
            written_before_read(&crate::parse(&text).unwrap().functions.remove(0).body, &"s".into())
        };
        assert!(first("s = 1.0 a[0] = s"));
        assert!(first("for i in 0..n { s = a[i] a[i] = s }"));
        assert!(first("if n > 2 { s = 1.0 } else { s = 2.0 } a[0] = s"));
        for body in [
            "a[0] = s s = 1.0",
            "s += 1.0",
            "for i in 0..n { a[i] = s s = 1.0 }",
            "for i in 0..n { s = 1.0 } a[0] = s",
            "if n > 2 { s = 1.0 } a[0] = s",
        ] {
            assert!(!first(body), "{body}");
        }
    }
}
