//! An element that one iteration stores and the next one reads is kept in a scalar.
//!
//! In `L[i][j] = max(L[i - 1][j], L[i][j - 1])` each iteration waits for a store and the load after
//! it, if a compiler cannot tell that nothing else overlaps with `L`. (Inside a parallel region it
//! forgets `restrict`.) The loop IR has this information. Left out: loops outside of parallel ones,
//! elements that several statements store or update, and loops that contain loops.

use std::collections::BTreeSet;

use loops::facts::Facts;
use loops::simplify::tidy;
use loops::visit::{check_depth, fresh, locals, nodes, taken};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, Size, Stmt,
    Storage,
};

use crate::pass::{Pass, Step, changed};
use crate::register_promotion::is_in_memory;

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "predictive-commoning",
        literature: "predictive commoning (O'Brien 1990); scalar replacement (Callahan, Carr, Kennedy 1990)",
        about: "an element that one iteration stores and the next one reads is kept in a scalar",
    },
    run: |function| changed(function, commoned(function)),
};

/// Elements of one loop: each takes a register.
const MOST: usize = 4;

/// The function with such elements in scalars. A function that is nested too deeply comes back as
/// it is.
fn commoned(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut pass = Commoning { function, taken: taken(function) };
    Function { body: pass.block(&function.body, &Facts::of(function), false), ..function.clone() }
}

struct Commoning<'a> {
    function: &'a Function,
    taken: BTreeSet<Name>,
}

/// The element that each iteration stores, and the one of the iteration before as it reads it.
struct Carried {
    /// Which statement of the loop stores it.
    at: usize,
    stored: Access,
    read: Access,
    /// Whether every iteration reads it, so that it exists before the first one.
    surely: bool,
}

/// A carried element and the scalar that it is kept in.
struct Kept {
    element: Carried,
    scalar: Access,
}

impl Commoning<'_> {
    /// `parallel`: whether a parallel loop is around the statements.
    fn block(&mut self, stmts: &[Stmt], facts: &Facts, parallel: bool) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            result.push(match stmt {
                // Lanes have no iteration before.
                Stmt::Loop(l) if l.kind == LoopKind::Vector => stmt.clone(),
                Stmt::Loop(l) => match parallel.then(|| self.with_scalars(l, facts)).flatten() {
                    Some(stmt) => stmt,
                    None => {
                        let mut known = facts.clone();
                        known.enter(l);
                        let parallel = parallel || l.kind == LoopKind::Parallel;
                        Stmt::Loop(Loop { body: self.block(&l.body, &known, parallel), ..l.clone() })
                    }
                },
                Stmt::If { cond, then, otherwise } => {
                    let mut branch = |holds: bool, stmts: &[Stmt]| {
                        let mut known = facts.clone();
                        known.assume(cond, holds);
                        self.block(stmts, &known, parallel)
                    };
                    let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                    Stmt::If { cond: cond.clone(), then, otherwise }
                }
                other => other.map(&mut Expr::clone, &mut |inner| self.block(inner, facts, parallel)),
            });
        }
        result
    }

    /// The loop, with the elements that it passes to the next iteration in scalars; none if there
    /// are no such elements.
    fn with_scalars(&mut self, l: &Loop, facts: &Facts) -> Option<Stmt> {
        // The element before the first one also exists if the first one has a subscript of a step
        // or more.
        let inside = facts.proves(&Expr::compare(CompareOp::Ge, l.lower.clone(), Expr::Int(l.step.max(1))));
        let (mut before, mut kept) = (Vec::new(), Vec::new());
        for element in carried(l) {
            let plain = element.stored.indices.contains(&Expr::Var(l.var.clone()));
            let Some(elem) = self.in_memory(&element.stored).filter(|_| kept.len() < MOST) else { continue };
            if !(element.surely || inside && plain) {
                continue;
            }
            let name = fresh(&Name::new(format!("{}_before", element.stored.array)), &self.taken);
            self.taken.insert(name.clone());
            let scalar = Access::scalar(name.clone());
            let of_first = |e: &Expr| e.substitute(&|v| (*v == l.var).then(|| l.lower.clone()));
            let first = element.read.map_indices(&mut |e| tidy(&of_first(e)));
            let local = ArrayDecl { name, elem, dims: Vec::new(), storage: Storage::Auto };
            before.extend([Stmt::Local(local), Stmt::assign(scalar.clone(), Expr::Load(first))]);
            kept.push(Kept { element, scalar });
        }
        if kept.is_empty() {
            return None;
        }
        // The scalars are in no scope but this one.
        kept.iter().for_each(|one: &Kept| {
            self.taken.remove(&one.scalar.array);
        });
        let whole = Stmt::Loop(Loop { body: with_variables(&l.body, &kept), ..l.clone() });
        let body = before.into_iter().chain([whole]).collect();
        let runs = Expr::compare(CompareOp::Lt, l.lower.clone(), l.upper.clone());
        Some(match facts.proves(&runs) {
            true => Stmt::Block { mark: None, body },
            false => Stmt::If { cond: runs, then: body, otherwise: Vec::new() },
        })
    }

    /// The type of an element of an array that compilers do not see as the function's own.
    fn in_memory(&self, access: &Access) -> Option<Elem> {
        let param = |p: &'_ &loops::Param| p.name == access.array;
        if let Some(param) = self.function.params.iter().find(param) {
            return Some(param.elem.clone());
        }
        let mut all = locals(&self.function.body).filter(|local| local.name == access.array).peekable();
        let elem = all.peek()?.elem.clone();
        all.all(|local| is_in_memory(local) && local.elem == elem).then_some(elem)
    }
}

/// What a loop passes on: elements of which it stores one in each iteration, independently of data,
/// and before that reads the one stored before.
fn carried(l: &Loop) -> Vec<Carried> {
    let stays = |stmt: &Stmt| match stmt {
        Stmt::Loop(_) | Stmt::Copy(_) | Stmt::Wait(_) => true,
        Stmt::Local(local) => !local.dims.is_empty(),
        _ => false,
    };
    if l.kind != LoopKind::Sequential || nodes(&l.body).any(stays) {
        return Vec::new();
    }
    (0..l.body.len()).filter_map(|at| carried_by(l, at)).collect()
}

fn carried_by(l: &Loop, at: usize) -> Option<Carried> {
    let mut assigns = Vec::new();
    leaves(&l.body[at], &mut assigns)?;
    let stored = assigns.first()?.target.clone();
    let (mut writes, mut own) = (0, false);
    for stmt in nodes(&l.body) {
        match stmt {
            Stmt::Assign(a) => writes += usize::from(a.target.array == stored.array),
            Stmt::Local(local) => own |= local.name == stored.array,
            _ => {}
        }
    }
    if own
        || writes != assigns.len()
        || !stored.path.is_empty()
        || !assigns.iter().all(|a| a.target == stored && a.update.is_none())
    {
        return None;
    }
    // One subscript goes on by a step, up or down.
    let mut places = (0..stored.indices.len()).filter(|k| stored.indices[*k].mentions(&l.var));
    let (place, None) = (places.next()?, places.next()) else { return None };
    if stored.indices.iter().any(|e| e.has_loads()) {
        return None;
    }
    let (1 | -1, _) = size(&stored.indices[place])?.linear_in(&l.var)? else { return None };
    let mut before = stored.clone();
    let earlier = Expr::binary(BinaryOp::Sub, Expr::Var(l.var.clone()), Expr::Int(l.step.max(1)));
    before.indices[place] = before.indices[place].substitute(&|v| (*v == l.var).then(|| earlier.clone()));
    let (mut read, mut late) = (None, false);
    for (k, stmt) in l.body.iter().enumerate() {
        for stmt in stmt.nodes() {
            for e in stmt.exprs() {
                for e in e.nodes() {
                    match e {
                        Expr::Load(access) if same(access, &before) => {
                            late |= k > at;
                            read.get_or_insert_with(|| access.clone());
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    let read = read.filter(|_| !late)?;
    let surely = l.body[..=at].iter().any(|stmt| match stmt {
        Stmt::Assign(_) | Stmt::If { .. } => stmt.exprs().into_iter().any(|e| surely_reads(e, &before)),
        _ => false,
    });
    Some(Carried { at, stored, read, surely })
}

/// An index expression as a polynomial, if it is one.
fn size(e: &Expr) -> Option<Size> {
    Some(match e {
        Expr::Int(value) => Size::constant(*value),
        Expr::Var(name) => Size::param(name.clone()),
        Expr::Unary(loops::UnaryOp::Neg, a) => -size(a)?,
        Expr::Binary(BinaryOp::Add, a, b) => size(a)? + size(b)?,
        Expr::Binary(BinaryOp::Sub, a, b) => size(a)? - size(b)?,
        Expr::Binary(BinaryOp::Mul, a, b) => size(a)? * size(b)?,
        _ => return None,
    })
}

/// Whether two accesses are seen to be of one element.
fn same(a: &Access, b: &Access) -> bool {
    let equal = |(a, b): (&Expr, &Expr)| a == b || size(a).is_some_and(|a| size(b) == Some(a));
    a.array == b.array && a.path == b.path && a.indices.iter().zip(&b.indices).all(equal)
}

/// Whether evaluating an expression reads an element whatever data says.
fn surely_reads(e: &Expr, element: &Access) -> bool {
    match e {
        Expr::Load(access) if same(access, element) => true,
        Expr::Select(cond, _, _) => surely_reads(cond, element),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, first, _) => surely_reads(first, element),
        _ => e.children().any(|child| surely_reads(child, element)),
    }
}

/// The assignments of a choice by data in which each branch is one assignment. Code under a
/// condition on loop variables alone may never read the element.
fn leaves<'a>(stmt: &'a Stmt, found: &mut Vec<&'a Assign>) -> Option<()> {
    match stmt {
        Stmt::Assign(assign) => found.push(assign),
        Stmt::If { cond, then, otherwise } if cond.has_loads() => {
            let ([then], [otherwise]) = (then.as_slice(), otherwise.as_slice()) else { return None };
            leaves(then, found)?;
            leaves(otherwise, found)?;
        }
        _ => return None,
    }
    Some(())
}

/// The statements, with scalars in place of what they store and of what they read from the
/// iteration before.
fn with_variables(body: &[Stmt], found: &[Kept]) -> Vec<Stmt> {
    let mut out = Vec::new();
    for (k, stmt) in body.iter().enumerate() {
        let mut stmt = stmt.clone();
        for c in found.iter().filter(|c| k <= c.element.at) {
            stmt = put(std::slice::from_ref(&stmt), c, k == c.element.at).remove(0);
        }
        out.push(stmt);
        if let Some(c) = found.iter().find(|c| c.element.at == k) {
            out.push(Stmt::assign(c.element.stored.clone(), Expr::Load(c.scalar.clone())));
        }
    }
    out
}

/// Statements, with the scalar in place of what they read from the iteration before, and of what
/// they store, if they `store` it.
fn put(body: &[Stmt], c: &Kept, store: bool) -> Vec<Stmt> {
    let load =
        |access: Access| Expr::Load(if same(&access, &c.element.read) { c.scalar.clone() } else { access });
    let stmt = |stmt: &Stmt| match stmt
        .map(&mut |e| e.map_loads(&mut |access| load(access)), &mut |body| put(body, c, store))
    {
        Stmt::Assign(assign) if store => Stmt::Assign(Assign { target: c.scalar.clone(), ..assign }),
        other => other,
    };
    body.iter().map(stmt).collect()
}
