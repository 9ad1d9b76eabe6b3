//! Arrays that are declared above a nest and that each iteration of a loop fills before it reads
//! them become arrays of the loop's body. Iterations then do not depend on each other through them.
//! As with scalars (`privatise`), nothing is expanded: only the declaration moves.
//!
//! What is filled is a box: statements that run in every iteration of loops with steps of 1 write
//! elements whose subscripts are these loops' variables plus something that stays the same. A read
//! is covered if its subscripts are in one such box that comes before it, or if the same element is
//! written before it in the same block. Left out: arrays of more than [`MOST_BYTES`], and those
//! that are filled by several boxes, or by conditions.

use loops::poly::linear;
use loops::{Access, ArrayDecl, Expr, Loop, Name, Scalar, Stmt, Storage};

use crate::linear::{Linear, implies};

/// The largest array that each thread has one of.
pub const MOST_BYTES: i64 = 64 << 10;

/// First and exclusive last of each subscript.
type Filled = Vec<(Linear, Linear)>;

/// What holds at a place.
#[derive(Clone, Default)]
struct Here {
    /// Forms that are at least 0.
    facts: Vec<Linear>,
    filled: Vec<Filled>,
    /// Subscripts of elements that were written in this block.
    written: Vec<Vec<Expr>>,
}

/// Declares the array in the innermost loop whose iterations fill it before they read it; whether
/// there is one.
pub(crate) fn declared_inside(body: &mut Vec<Stmt>, name: &Name, elem: Scalar, dims: &[Expr]) -> bool {
    let mut facts = Vec::new();
    descend(body, name, elem, dims, &mut facts, false)
}

fn descend(
    body: &mut Vec<Stmt>,
    name: &Name,
    elem: Scalar,
    dims: &[Expr],
    facts: &mut Vec<Linear>,
    in_loop: bool,
) -> bool {
    let mut users = (0..body.len()).filter(|k| mentions(&body[*k], name));
    let (Some(first), None) = (users.next(), users.next()) else {
        return in_loop && declare(body, name, elem, dims, facts);
    };
    if let Stmt::Loop(l) = &mut body[first]
        && !reads_itself(l, name)
    {
        let mark = facts.len();
        facts.extend(range_of(l));
        if descend(&mut l.body, name, elem, dims, facts, true) {
            return true;
        }
        facts.truncate(mark);
    }
    in_loop && declare(body, name, elem, dims, facts)
}

/// Declares the array in front of a block, if the block fills it before it reads it.
fn declare(body: &mut Vec<Stmt>, name: &Name, elem: Scalar, dims: &[Expr], facts: &[Linear]) -> bool {
    let mut here = Here { facts: facts.to_vec(), ..Here::default() };
    if !here.block(body, name) {
        return false;
    }
    let local =
        ArrayDecl { name: name.clone(), elem: elem.into(), dims: dims.to_vec(), storage: Storage::Auto };
    body.insert(0, Stmt::Local(local));
    true
}

impl Here {
    /// Whether every read of the array in the block is of what was written before in it.
    fn block(&mut self, body: &[Stmt], name: &Name) -> bool {
        body.iter().all(|stmt| self.statement(stmt, name))
    }

    fn statement(&mut self, stmt: &Stmt, name: &Name) -> bool {
        if !stmt.exprs().into_iter().all(|e| self.reads_written(e, name)) {
            return false;
        }
        match stmt {
            Stmt::Assign(assign) => {
                if assign.target.array != *name {
                    return true;
                }
                let covered = assign.update.is_none() || self.covers(&assign.target);
                if assign.target.indices.iter().all(|e| !e.has_loads()) {
                    self.written.push(assign.target.indices.clone());
                }
                covered
            }
            Stmt::Loop(l) => {
                let mut inner = self.clone();
                inner.facts.extend(range_of(l));
                let covered = inner.block(&l.body, name);
                fills(l, name, &mut Vec::new(), &mut self.filled);
                covered
            }
            Stmt::If { then, otherwise, .. } => {
                self.clone().block(then, name) && self.clone().block(otherwise, name)
            }
            Stmt::Block { body, .. } => self.block(body, name),
            Stmt::Local(_) => true,
            Stmt::Copy(_) | Stmt::Wait(_) => false,
        }
    }

    fn reads_written(&self, e: &Expr, name: &Name) -> bool {
        let mut covered = true;
        for e in e.nodes() {
            if let Expr::Load(access) = e
                && access.array == *name
            {
                covered &= self.covers(access);
            }
        }
        covered
    }

    fn covers(&self, access: &Access) -> bool {
        if self.written.contains(&access.indices) {
            return true;
        }
        let subscripts: Option<Vec<Linear>> = access.indices.iter().map(linear).collect();
        let Some(subscripts) = subscripts else { return false };
        let at_least = |a: &Linear, b: &Linear, more: i64| {
            let form = a.minus(b).and_then(|form| form.plus_constant(-more));
            form.is_some_and(|form| implies(&self.facts, &form))
        };
        self.filled.iter().any(|filled| {
            let mut pairs = subscripts.iter().zip(filled);
            pairs
                .all(|(subscript, (first, end))| at_least(subscript, first, 0) && at_least(end, subscript, 1))
        })
    }
}

/// The boxes that a loop fills in any case.
fn fills<'l>(l: &'l Loop, name: &Name, around: &mut Vec<&'l Loop>, out: &mut Vec<Filled>) {
    around.push(l);
    for stmt in &l.body {
        match stmt {
            Stmt::Assign(assign) if assign.target.array == *name => {
                out.extend(filled(&assign.target, around))
            }
            Stmt::Loop(inner) => fills(inner, name, around, out),
            _ => {}
        }
    }
    around.pop();
}

/// The box of elements that an assignment in some loops writes.
fn filled(target: &Access, around: &[&Loop]) -> Option<Filled> {
    let mut used = vec![false; around.len()];
    let inside = |form: &Linear| form.variables().any(|v| around.iter().any(|l| l.var == *v));
    let mut found = Vec::new();
    for index in &target.indices {
        let form = linear(index)?;
        let k = around.iter().position(|l| form.coefficient(&l.var) != 0);
        let Some(k) = k else {
            found.push((form.clone(), form.plus_constant(1)?));
            continue;
        };
        let l = around[k];
        let rest = form.minus(&Linear::name(l.var.clone()))?;
        let (lower, upper) = (linear(&l.lower)?, linear(&l.upper)?);
        if inside(&rest) || used[k] || l.step != 1 || inside(&lower) || inside(&upper) {
            return None;
        }
        used[k] = true;
        found.push((lower.plus(&rest)?, upper.plus(&rest)?));
    }
    used.into_iter().all(|used| used).then_some(found)
}

/// What holds of a loop's variable.
fn range_of(l: &Loop) -> Vec<Linear> {
    let var = Linear::name(l.var.clone());
    let above = linear(&l.lower).and_then(|lower| var.minus(&lower));
    let below = linear(&l.upper).and_then(|upper| upper.minus(&var)?.plus_constant(-1));
    above.into_iter().chain(below).collect()
}

fn reads_itself(l: &Loop, name: &Name) -> bool {
    l.lower.reads(name) || l.upper.reads(name)
}

fn mentions(stmt: &Stmt, name: &Name) -> bool {
    stmt.accesses(name)
}
