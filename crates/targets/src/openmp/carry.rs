//! An element that one iteration of a loop stores and the next one reads goes from one to the other in a variable.
//!
//! `L[i][j] = max(L[i - 1][j], L[i][j - 1])` waits for a store and the load behind it in each iteration, where a compiler cannot tell that nothing else
//! overlaps with `L` (inside a parallel region it forgets `restrict`). The hub knows that. Left out: several elements, and loops with other statements.

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, Stmt};

use super::lower::Lower;
use super::memory::mentions;
use super::scope::{Array, Binding, Form};
use super::stmt::Code;
use crate::c::{CExpr, CStmt};

/// The element that each iteration stores, and the one of the iteration before as it reads it.
struct Carried {
    stored: Access,
    read: Access,
}

impl Lower<'_> {
    /// The loop with the element that it hands on in a variable; none if it hands on nothing.
    pub fn carried(
        &mut self,
        l: &Loop,
        lower: &CExpr,
        upper: &CExpr,
    ) -> Result<Option<Code>, loops::Diagnostic> {
        // The element before the first one is there: the first one is, and has a subscript of 1 or more.
        let inside = self.ranges.of(&l.lower).low.is_some_and(|low| low >= 1);
        if self.regions == 0 || self.paper() || self.in_simd || l.step != 1 || !inside {
            return Ok(None);
        }
        let Some(Carried { stored, read }) = carried(l) else { return Ok(None) };
        let Some(Binding::Array(array)) = self.scope.get(&stored.array) else { return Ok(None) };
        if array.stack || array.dims.len() != stored.indices.len() {
            return Ok(None);
        }
        let elem = array.elem.clone();
        let first = read.map_indices(&mut |e| e.substitute(&|v| (*v == l.var).then(|| l.lower.clone())));
        let (init, _) = self.access(&first)?;
        let name = self.names.take(&format!("{}_before", stored.array));
        // No name of the hub has a space.
        let hub = Name::new(format!("{} before", stored.array));
        let variable = CExpr::name(&name);
        let binding = Array {
            base: variable,
            elem: elem.clone(),
            dims: Vec::new(),
            form: Form::Element,
            stack: true,
            members: Vec::new(),
        };
        self.scope.push(&hub, Binding::Array(binding));
        let scalar = Access { array: hub.clone(), indices: Vec::new(), path: Vec::new() };
        let mut body = put(&l.body, &read, &scalar);
        body.push(Stmt::Assign(Assign {
            label: None,
            target: stored,
            update: None,
            value: Expr::Load(scalar),
        }));
        let made = self.counted(&Loop { body, ..l.clone() }, lower.clone(), upper.clone());
        self.scope.pop(&hub);
        self.names.release(&name);
        let made = made?;
        let ty = self.elem_type(&elem);
        let mut stmts = vec![CStmt::Declare { ty, name, dims: Vec::new(), init: Some(init) }];
        stmts.extend(made.stmts);
        let stmts = match self.runs(l) {
            true => vec![CStmt::Block(None, stmts)],
            false => vec![CStmt::If(CExpr::binary("<", lower.clone(), upper.clone()), stmts, Vec::new())],
        };
        Ok(Some(Code { stmts, may_fail: made.may_fail }))
    }
}

/// What a loop hands on: it stores one element in each iteration, whatever data says, and reads the one before it.
fn carried(l: &Loop) -> Option<Carried> {
    let [stmt] = l.body.as_slice() else { return None };
    if l.kind != LoopKind::Sequential {
        return None;
    }
    let mut assigns = Vec::new();
    leaves(stmt, &mut assigns)?;
    let stored = assigns.first()?.target.clone();
    let own = |k: &usize| stored.indices[*k] == Expr::Var(l.var.clone());
    let mut places = (0..stored.indices.len()).filter(own);
    let (place, None) = (places.next()?, places.next()) else { return None };
    let still = |(k, e): (usize, &Expr)| k == place || !mentions(e, &[&l.var]) && e.arrays().is_empty();
    if !stored.path.is_empty()
        || !assigns.iter().all(|a| a.target == stored && a.update.is_none())
        || !stored.indices.iter().enumerate().all(still)
    {
        return None;
    }
    let mut read = stored.clone();
    read.indices[place] = Expr::binary(BinaryOp::Sub, Expr::Var(l.var.clone()), Expr::Int(1));
    let mut found = false;
    stmt.walk(&mut |stmt| {
        for e in stmt.exprs() {
            e.walk(&mut |e| found |= matches!(e, Expr::Load(access) if *access == read));
        }
    });
    found.then_some(Carried { stored, read })
}

/// The assignments of a choice by data of which each branch is one. What runs by a condition on loop variables alone may never read the element.
fn leaves<'a>(stmt: &'a Stmt, found: &mut Vec<&'a Assign>) -> Option<()> {
    match stmt {
        Stmt::Assign(assign) => found.push(assign),
        Stmt::If { cond, then, otherwise } if !cond.arrays().is_empty() => {
            let ([then], [otherwise]) = (then.as_slice(), otherwise.as_slice()) else { return None };
            leaves(then, found)?;
            leaves(otherwise, found)?;
        }
        _ => return None,
    }
    Some(())
}

/// The statements with `scalar` in the place of what they store and of what they read of the iteration before.
fn put(body: &[Stmt], read: &Access, scalar: &Access) -> Vec<Stmt> {
    let load = |access: Access| Expr::Load(if access == *read { scalar.clone() } else { access });
    let stmt = |stmt: &Stmt| match stmt
        .map(&mut |e| e.map_loads(&mut |access| load(access)), &mut |body| put(body, read, scalar))
    {
        Stmt::Assign(assign) => Stmt::Assign(Assign { target: scalar.clone(), label: None, ..assign }),
        other => other,
    };
    body.iter().map(stmt).collect()
}
