//! Loops around each other that go over whole rows, and over the rows, become one loop along
//! memory: rows of 56 numbers leave vectors half empty, and each begins anew.
//!
//! The iterations and their order stay: the pair `(k, l)` is the number `k * n + l`, of which
//! subscripts take the quotient and the remainder by `n` where an array has just these two
//! dimensions; targets see that the element is the one with that number. Not here: arrays that
//! targets may give other dimensions than those they have, loops of which the model of the
//! polyhedral side is made, and loops of vectors and registers, whose shape somebody has chosen.

use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};
use loops::visit::check_depth;
use loops::{Access, Expr, Function, Loop, LoopKind, Name, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "loop-coalescing",
        literature: "loop coalescing (Polychronopoulos 1987)",
        about: "a loop over short rows and the one over their elements become one loop along memory",
    },
    run: |function| changed(function, rows(function)),
};

/// Rows of so many numbers and more are left as they are: nothing is won.
const LONG: i64 = 512;

/// The function with such loops as one. Takes time in proportion to its size, times the depth of
/// its loops.
///
/// A function that is nested too deeply to look at, or has no such loops, comes back as it is.
fn rows(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    // what lies in memory as declared
    let dims: BTreeMap<Name, Vec<Expr>> =
        function.params.iter().map(|param| (param.name.clone(), param.dims.clone())).collect();
    Function { body: body(&function.body, &dims), ..function.clone() }
}

fn body(stmts: &[Stmt], dims: &BTreeMap<Name, Vec<Expr>>) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) => {
            let l = Loop { body: body(&l.body, dims), ..l.clone() };
            Stmt::Loop(flat(&l, dims).unwrap_or(l))
        }
        other => other.map(&mut Expr::clone, &mut |inner| body(inner, dims)),
    };
    stmts.iter().map(one).collect()
}

/// A loop over rows and the one over their elements as one.
fn flat(outer: &Loop, dims: &BTreeMap<Name, Vec<Expr>>) -> Option<Loop> {
    let [Stmt::Loop(inner)] = &outer.body[..] else { return None };
    let (rows, n) = (extent(outer)?, extent(inner)?);
    let count = rows.checked_mul(n)?;
    let innermost = inner.body.iter().all(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::Local(_)));
    if n >= LONG || !innermost || outer.var == inner.var {
        return None;
    }
    let pair = Pair { outer: &outer.var, inner: &inner.var, n, dims };
    let stmts = inner.body.iter().map(|stmt| pair.stmt(stmt)).collect::<Option<Vec<_>>>()?;
    Some(Loop { upper: Expr::Int(count), body: stmts, ..inner.clone() })
}

fn extent(l: &Loop) -> Option<i64> {
    let plain =
        l.step == 1 && l.lower == Expr::Int(0) && l.reductions.is_empty() && l.kind == LoopKind::Sequential;
    match l.upper {
        Expr::Int(n) if plain && n > 0 => Some(n),
        _ => None,
    }
}

/// Two loops as one, whose variable is the inner one's.
struct Pair<'a> {
    outer: &'a Name,
    inner: &'a Name,
    n: i64,
    dims: &'a BTreeMap<Name, Vec<Expr>>,
}

impl Pair<'_> {
    /// The statement in terms of the one variable; none if it can't be said.
    fn stmt(&self, stmt: &Stmt) -> Option<Stmt> {
        match stmt {
            Stmt::Assign(a) => {
                let (target, value) = (self.access(&a.target)?, self.expr(&a.value)?);
                Some(Stmt::Assign(loops::Assign { target, value, ..a.clone() }))
            }
            Stmt::Local(local) if local.dims.is_empty() => Some(stmt.clone()),
            _ => None,
        }
    }

    fn expr(&self, e: &Expr) -> Option<Expr> {
        let mut fits = true;
        let new = match e {
            Expr::Var(name) if name == self.outer || name == self.inner => return None,
            Expr::Load(access) => return self.access(access).map(Expr::Load),
            _ => e.map_children(&mut |child| {
                self.expr(child).unwrap_or_else(|| {
                    fits = false;
                    child.clone()
                })
            }),
        };
        fits.then_some(new)
    }

    /// The element by its number in the rows, where its subscripts are a row and the digits of a
    /// place in it.
    fn access(&self, access: &Access) -> Option<Access> {
        let vars: BTreeSet<Name> = access.indices.iter().flat_map(Expr::vars).collect();
        if !vars.contains(self.outer) && !vars.contains(self.inner) {
            return Some(access.clone());
        }
        let dims = extents(self.dims.get(&access.array)?)?;
        let at = access.indices.iter().position(|index| *index == Expr::Var(self.outer.clone()))?;
        let of_row = |end: &usize| dims[at + 1..*end].iter().product::<i64>() == self.n;
        let end = (at + 2..=dims.len()).find(of_row)?;
        let place = Expr::Var(self.inner.clone());
        let others = access.indices[..at].iter().chain(&access.indices[end..]);
        let elsewhere = others.flat_map(Expr::vars).any(|v| v == *self.outer || v == *self.inner);
        if elsewhere || access.indices[at + 1..end] != digits(&place, &dims[at + 1..end]) {
            return None;
        }
        let mut indices = access.indices.clone();
        indices.splice(at..end, digits(&place, &dims[at..end]));
        Some(Access { indices, ..access.clone() })
    }
}

/// Extents that are all known, with a number of elements that is one.
fn extents(dims: &[Expr]) -> Option<Vec<i64>> {
    let dims: Vec<i64> =
        dims.iter().map(|dim| if let Expr::Int(n) = dim { Some(*n) } else { None }).collect::<Option<_>>()?;
    dims.iter().try_fold(1i64, |count, n| count.checked_mul(*n).filter(|_| *n > 0))?;
    Some(dims)
}

/// The subscripts of the element with a number, in a box of these extents; the number is below
/// their product.
fn digits(number: &Expr, dims: &[i64]) -> Vec<Expr> {
    let digit = |k: usize| {
        let below: i64 = dims[k + 1..].iter().product();
        let quotient = if below == 1 { number.clone() } else { number.clone().floor_div(below) };
        if k == 0 { quotient } else { quotient.modulo(dims[k]) }
    };
    (0..dims.len()).map(digit).collect()
}
