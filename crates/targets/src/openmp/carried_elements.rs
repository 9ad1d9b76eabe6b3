//! Scalar replacement between iterations: an element that one iteration stores and the next one
//! reads is kept in a variable.
//!
//! In `L[i][j] = max(L[i - 1][j], L[i][j - 1])` each iteration waits for a store and the load after
//! it, if a compiler cannot tell that nothing else overlaps with `L`. (Inside a parallel region it
//! forgets `restrict`.) The loop IR has this information. Left out: elements that several
//! statements store or update, and loops that contain loops.

use loops::visit::nodes;
use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, Size, Stmt};

use super::lower::Lower;
use super::scope::{Array, Binding, Form};
use super::stmt::Code;
use crate::c::{CExpr, CStmt};

/// The element that each iteration stores, and the one of the iteration before as it reads it.
struct Carried {
    /// Which statement of the loop stores it.
    at: usize,
    stored: Access,
    read: Access,
    /// Whether every iteration reads it, so that it exists before the first one.
    surely: bool,
    /// The variable in the loop IR.
    scalar: Access,
}

/// Elements of one loop: each takes a register.
const MOST: usize = 4;

impl Lower<'_> {
    /// The loop, with the elements that it passes to the next iteration in variables; none if there
    /// are no such elements.
    pub fn carried(
        &mut self,
        l: &Loop,
        lower: &CExpr,
        upper: &CExpr,
    ) -> Result<Option<Code>, loops::Diagnostic> {
        if self.regions == 0 || self.paper() || self.in_simd || l.step != 1 {
            return Ok(None);
        }
        // The element before the first one also exists if the first one has a subscript of 1 or
        // more.
        let inside = self.ranges.of(&l.lower).low.is_some_and(|low| low >= 1);
        let mut found = carried(l);
        found.retain(|c| {
            let plain = c.stored.indices.contains(&Expr::Var(l.var.clone()));
            let known = match self.scope.get(&c.stored.array) {
                Some(Binding::Array(array)) => !array.stack && array.dims.len() == c.stored.indices.len(),
                _ => false,
            };
            known && (c.surely || (inside && plain))
        });
        found.truncate(MOST);
        if found.is_empty() {
            return Ok(None);
        }
        let mut stmts = Vec::new();
        let mut names = Vec::new();
        for Carried { stored, read, scalar, .. } in &found {
            let first = read.map_indices(&mut |e| e.substitute(&|v| (*v == l.var).then(|| l.lower.clone())));
            let (init, elem) = self.access(&first)?;
            let name = self.names.take(&format!("{}_before", stored.array));
            let binding = Array {
                base: CExpr::name(&name),
                elem: elem.clone(),
                dims: Vec::new(),
                form: Form::Element,
                stack: true,
                members: Vec::new(),
            };
            self.scope.push(&scalar.array, Binding::Array(binding));
            let ty = self.elem_type(&elem);
            stmts.push(CStmt::Declare { ty, name: name.clone(), dims: Vec::new(), init: Some(init) });
            names.push(name);
        }
        let whole = Loop { body: with_variables(&l.body, &found), ..l.clone() };
        let usage = self.usage.clone();
        self.usage.add(&whole.body);
        let made = self.counted(&whole, lower.clone(), upper.clone());
        self.usage = usage;
        for (c, name) in found.iter().zip(&names).rev() {
            self.scope.pop(&c.scalar.array);
            self.names.release(name);
        }
        let made = made?;
        stmts.extend(made.stmts);
        let stmts = match self.runs(l) {
            true => vec![CStmt::Block(None, stmts)],
            false => vec![CStmt::If(CExpr::binary("<", lower.clone(), upper.clone()), stmts, Vec::new())],
        };
        Ok(Some(Code { stmts, may_fail: made.may_fail }))
    }
}

/// What a loop passes on: elements of which it stores one in each iteration, independently of data,
/// and before that reads the one stored before.
fn carried(l: &Loop) -> Vec<Carried> {
    // Memory of local arrays is known by where they are declared, so their declarations stay.
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
    // One subscript goes on by one, up or down.
    let mut places = (0..stored.indices.len()).filter(|k| stored.indices[*k].mentions(&l.var));
    let (place, None) = (places.next()?, places.next()) else { return None };
    if stored.indices.iter().any(|e| e.has_loads()) {
        return None;
    }
    let (1 | -1, _) = size(&stored.indices[place])?.linear_in(&l.var)? else { return None };
    let mut before = stored.clone();
    let earlier = Expr::binary(BinaryOp::Sub, Expr::Var(l.var.clone()), Expr::Int(1));
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
    // No name of the loop IR has a space.
    let scalar = Access::scalar(Name::new(format!("{} before", stored.array)));
    Some(Carried { at, stored, read, surely, scalar })
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

/// The statements, with variables in place of what they store and of what they read from the
/// iteration before.
fn with_variables(body: &[Stmt], found: &[Carried]) -> Vec<Stmt> {
    let mut out = Vec::new();
    for (k, stmt) in body.iter().enumerate() {
        let mut stmt = stmt.clone();
        for c in found.iter().filter(|c| k <= c.at) {
            stmt = put(std::slice::from_ref(&stmt), c, k == c.at).remove(0);
        }
        out.push(stmt);
        if let Some(c) = found.iter().find(|c| c.at == k) {
            let (target, value) = (c.stored.clone(), Expr::Load(c.scalar.clone()));
            out.push(Stmt::Assign(Assign { label: None, target, update: None, value }));
        }
    }
    out
}

/// Statements, with the variable in place of what they read from the iteration before, and of what
/// they store, if they `store` it.
fn put(body: &[Stmt], c: &Carried, store: bool) -> Vec<Stmt> {
    let load = |access: Access| Expr::Load(if same(&access, &c.read) { c.scalar.clone() } else { access });
    let stmt = |stmt: &Stmt| match stmt
        .map(&mut |e| e.map_loads(&mut |access| load(access)), &mut |body| put(body, c, store))
    {
        Stmt::Assign(assign) if store => {
            Stmt::Assign(Assign { target: c.scalar.clone(), label: None, ..assign })
        }
        other => other,
    };
    body.iter().map(stmt).collect()
}
