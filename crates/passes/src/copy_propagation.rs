//! Local scalars that only name a value (`double d = x[j] - x[i]; s += d * d`) are replaced by it.
//!
//! A scalar that is declared in a loop's body is one place in memory for all its iterations, or
//! storage of its own for each: both stand in the way of tiles that cross time steps, of
//! wavefronts, and of local memory. Its value has neither. It is the same program if nothing that
//! the value reads is written between the assignment and the use; a scalar that is assigned again
//! (`m = m > l ? m : l`) has the new value from there on, and one that both branches of a condition
//! assign is a choice, also where that was written as two choices, the first of which leaves it
//! open (`s = select(c, a, s); s = select(!c, b, s)`).
//!
//! Left out: scalars that are used in loops below their declaration, or under a condition that does
//! more than assign them, values that more statements would compute than are allowed, and values
//! that become too long.

use std::collections::BTreeSet;

use loops::{Access, ArrayDecl, Assign, Elem, Expr, Function, Name, Stmt, UnaryOp};

use crate::pass::{Pass, Step};
use crate::store_forwarding::mentions;

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "copy-propagation",
        literature: "copy propagation, forward substitution",
        about: "a local scalar that only names a value is replaced by the value, where one statement uses it",
    },
    run: |function| substitute(function, Uses::One),
};

/// Operations and operands in a value, at most.
const SIZE: usize = 160;

/// How many statements may compute a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uses {
    /// One, but for what is a single load.
    One,
    /// Any number, but for calls of functions: where storage costs more than arithmetic.
    Any,
}

/// The function without such scalars; none if it has none.
pub fn substitute(function: &Function, uses: Uses) -> Option<Function> {
    let mut found = false;
    let body = block(&function.body, uses, false, &mut found);
    found.then(|| Function { body, ..function.clone() })
}

fn block(body: &[Stmt], allowed: Uses, inside: bool, found: &mut bool) -> Vec<Stmt> {
    let mut body: Vec<Stmt> = body
        .iter()
        .map(|stmt| {
            let inside = inside || matches!(stmt, Stmt::Loop(_));
            stmt.map(&mut Expr::clone, &mut |inner| block(inner, allowed, inside, found))
        })
        .collect();
    let mut at = 0;
    while inside && at < body.len() {
        let replaced = match &body[at] {
            Stmt::Local(local) if local.dims.is_empty() && matches!(local.elem, Elem::Scalar(_)) => {
                replaced(local, &body[at + 1..], allowed)
            }
            _ => None,
        };
        match replaced {
            Some(rest) => {
                body.splice(at.., rest);
                *found = true;
            }
            None => at += 1,
        }
    }
    body
}

/// The statements behind a declaration, without the scalar.
fn replaced(local: &ArrayDecl, rest: &[Stmt], allowed: Uses) -> Option<Vec<Stmt>> {
    let mut scalar = Named { name: &local.name, value: None, open: None, stale: false, users: 0, allowed };
    let mut result = Vec::new();
    for stmt in rest {
        if !mentions(stmt, &local.name) {
            scalar.passes(stmt)?;
            result.push(stmt.clone());
        } else if let Some(value) = scalar.assigned(stmt) {
            scalar.value = Some(value);
            (scalar.open, scalar.stale, scalar.users) = (None, false, 0);
        } else if let Some(half) = scalar.half(stmt) {
            scalar.open = Some(half);
            scalar.stale = false;
        } else {
            let stmt = scalar.used(stmt)?;
            scalar.passes(&stmt)?;
            result.push(stmt);
        }
    }
    Some(result)
}

/// A scalar and what it stands for at a place.
struct Named<'a> {
    name: &'a Name,
    value: Option<Expr>,
    /// A value under a condition, where there is none otherwise.
    open: Option<(Expr, Expr)>,
    /// Something that the value reads has been written.
    stale: bool,
    /// Statements that use the value.
    users: usize,
    allowed: Uses,
}

impl Named<'_> {
    /// The value after a statement that only assigns the scalar.
    fn assigned(&self, stmt: &Stmt) -> Option<Expr> {
        let value = match stmt {
            Stmt::Assign(Assign { target, update: None, value, .. })
                if self.is(target) && self.value.is_none() && self.open.is_some() =>
            {
                let (cond, then) = self.open.clone().filter(|_| !self.stale)?;
                let (other, otherwise) = self.otherwise_open(value)?;
                if other != Expr::Unary(UnaryOp::Not, Box::new(cond.clone())) {
                    return None;
                }
                Expr::Select(Box::new(cond), Box::new(then), Box::new(otherwise))
            }
            Stmt::Assign(Assign { target, update, value, .. }) if self.is(target) => {
                let value = self.put(value)?;
                match update {
                    Some(update) => Expr::binary(update.op.binary(), self.current()?, value),
                    None => value,
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.put(cond)?;
                let branch = |body: &[Stmt]| match body {
                    [] => self.current(),
                    [one] => self.assigned(one),
                    _ => None,
                };
                Expr::Select(Box::new(cond), Box::new(branch(then)?), Box::new(branch(otherwise)?))
            }
            Stmt::Block { mark: None, body } => match body.as_slice() {
                [one] => self.assigned(one)?,
                _ => return None,
            },
            _ => return None,
        };
        (size(&value) <= SIZE).then_some(value)
    }

    /// A value under a condition that leaves the scalar as it was where that does not hold.
    fn otherwise_open(&self, value: &Expr) -> Option<(Expr, Expr)> {
        let Expr::Select(cond, then, rest) = value else { return None };
        let own = matches!(&**rest, Expr::Load(access) if self.is(access));
        let reads = |e: &Expr| e.reads(self.name);
        (own && !reads(cond) && !reads(then)).then(|| ((**cond).clone(), (**then).clone()))
    }

    /// The same as the first assignment of all.
    fn half(&self, stmt: &Stmt) -> Option<(Expr, Expr)> {
        match stmt {
            Stmt::Assign(Assign { target, update: None, value, .. })
                if self.is(target) && self.value.is_none() && self.open.is_none() =>
            {
                self.otherwise_open(value)
            }
            _ => None,
        }
    }

    fn is(&self, access: &Access) -> bool {
        access.array == *self.name
    }

    fn current(&self) -> Option<Expr> {
        self.value.clone().filter(|_| !self.stale)
    }

    /// An expression with the value in the scalar's place; none if there is none, or if it would be
    /// too long.
    fn put(&self, e: &Expr) -> Option<Expr> {
        if !e.reads(self.name) {
            return Some(e.clone());
        }
        let value = self.current()?;
        let uses = uses(e, self.name);
        if size(e).saturating_add(uses.saturating_mul(size(&value))) > SIZE {
            return None;
        }
        Some(e.map_loads(&mut |access| if self.is(&access) { value.clone() } else { Expr::Load(access) }))
    }

    /// Whether several statements may compute a value.
    fn again(&self, value: &Expr) -> bool {
        let calls = value.nodes().any(|e| match e {
            Expr::Call { .. } => true,
            Expr::Unary(op, _) => !matches!(op, UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs),
            _ => false,
        });
        match self.allowed {
            Uses::One => matches!(value, Expr::Load(_) | Expr::Var(_)) || !value.has_loads(),
            Uses::Any => !calls,
        }
    }

    /// A statement that uses the scalar, without it.
    fn used(&mut self, stmt: &Stmt) -> Option<Stmt> {
        self.users += 1;
        if self.users > 1 && self.value.as_ref().is_some_and(|value| !self.again(value)) {
            return None;
        }
        let Stmt::Assign(assign) = stmt else { return None };
        let mut known = true;
        let mut put = |e: &Expr| {
            let value = self.put(e);
            known &= value.is_some();
            value.unwrap_or_else(|| e.clone())
        };
        let target = assign.target.map_indices(&mut put);
        let value = put(&assign.value);
        (known && !self.is(&target)).then(|| Stmt::Assign(Assign { target, value, ..assign.clone() }))
    }

    /// Takes note of what a statement writes. None where it gives a name of the value another
    /// meaning.
    fn passes(&mut self, stmt: &Stmt) -> Option<()> {
        let (mut arrays, mut vars) = (BTreeSet::new(), BTreeSet::new());
        let halves = self.open.iter().flat_map(|(cond, value)| [cond, value]);
        for e in self.value.iter().chain(halves) {
            arrays.extend(e.arrays());
            vars.extend(e.vars());
        }
        let mut hidden = false;
        for stmt in stmt.nodes() {
            match stmt {
                Stmt::Assign(assign) => self.stale |= arrays.contains(&assign.target.array),
                Stmt::Copy(copy) => self.stale |= arrays.contains(&copy.to.array),
                Stmt::Local(local) => hidden |= arrays.contains(&local.name),
                Stmt::Loop(l) => hidden |= vars.contains(&l.var),
                _ => {}
            }
        }
        (!hidden).then_some(())
    }
}

/// Nodes of an expression.
fn size(e: &Expr) -> usize {
    e.nodes().count()
}

fn uses(e: &Expr, name: &Name) -> usize {
    e.loads().filter(|access| access.array == *name).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substituted(body: &str) -> Option<String> {
        let text = format!(
            "fn f[n](a: in f64[n], b: inout f64[n], c: inout f64[n]) {{\n for i in 0..n {{\n local s: f64\n {body}\n }}\n}}"
        );
        let program = loops::parse(&text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        substitute(&program.functions[0], Uses::One)
            .map(|function| loops::Program { functions: vec![function] }.to_string())
    }

    #[test]
    fn a_value_takes_the_place_of_its_name() {
        let text = substituted("s = a[i] * a[0]\n b[i] = s + c[i]").unwrap();
        assert!(!text.contains("local") && text.contains("b[i] = a[i] * a[0] + c[i]"), "{text}");
        // Assigned again, and on a condition.
        let text = substituted("s = a[i]\n s = max(s, a[0])\n s += 1.0\n b[i] = s").unwrap();
        assert!(text.contains("b[i] = max(a[i], a[0]) + 1.0"), "{text}");
        let text = substituted("if a[i] > 0.0 {\n s = a[0]\n } else {\n s = c[i]\n }\n b[i] = s").unwrap();
        assert!(text.contains("b[i] = select(a[i] > 0.0, a[0], c[i])"), "{text}");
        let text = substituted(
            "local c: bool\n c = a[i] > 0.0\n s = select(c, a[0], s)\n s = select(!c, b[0], s)\n b[i] = s",
        )
        .unwrap();
        assert!(text.contains("b[i] = select(a[i] > 0.0, a[0], b[0])"), "{text}");
        // A single load may be read again; what it reads is not written before.
        assert!(substituted("s = a[i]\n b[i] = s\n c[i] = s").is_some());
        // The read of the old element comes before the write of the same statement.
        assert!(substituted("s = b[i]\n b[i] = s * 2.0").is_some());
    }

    #[test]
    fn what_is_written_in_between_keeps_the_scalar() {
        for body in [
            "s = b[i]\n b[i] = a[i]\n c[i] = s",
            "s = b[i]\n b[i] = s * 2.0\n c[i] = s",
            "s = a[i] * a[0]\n b[i] = s\n c[i] = s",
            "s = a[i]\n for k in 0..n {\n b[k] = s\n }",
            "s = 0.0\n for k in 0..n {\n s += a[k]\n }\n b[i] = s",
            "b[i] = s",
            "if a[i] > 0.0 {\n s = a[0]\n }\n b[i] = s",
            "s = select(a[i] > 0.0, a[0], s)\n b[i] = s",
            "s = select(a[i] > 0.0, a[0], s)\n s = select(!(a[0] > 0.0), b[0], s)\n b[i] = s",
            "s = select(a[i] > 0.0, b[0], s)\n b[0] = 1.0\n s = select(!(a[i] > 0.0), b[0], s)\n c[i] = s",
        ] {
            assert_eq!(substituted(body), None, "{body}");
        }
    }
}
