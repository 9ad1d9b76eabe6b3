//! The accesses of a function as lists: which element is read or written, by which statement,
//! inside which loops and conditions.
//!
//! Dependence analysis, race checks and data movement start from these lists. Nothing is evaluated
//! here: a subscript stays an expression.

use crate::expr::Expr;
use crate::name::Name;
use crate::program::{Access, Loop, Stmt, Update};

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// Reads the element.
    Read,
    /// Writes the element.
    Write,
    /// Reads and writes it by an update.
    Update(Update),
}

/// What encloses an access.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Context<'a> {
    /// A loop.
    Loop(&'a Loop),
    /// A condition that holds there, or does not.
    Condition {
        /// The condition.
        cond: &'a Expr,
        /// Whether it holds: false in the `else` branch.
        holds: bool,
    },
    /// A block with a mark.
    Mark(&'a Name),
}

/// One access in the text of a function.
#[derive(Clone, Debug)]
pub struct AccessSite<'a> {
    /// What it does.
    pub kind: AccessKind,
    /// The element, or the first element of a box.
    pub access: &'a Access,
    /// The extents of a copied box, aligned to the last dimensions of the array.
    pub extents: Option<&'a [Expr]>,
    /// The name of the statement, if it has one.
    pub label: Option<&'a Name>,
    /// The statement.
    pub stmt: &'a Stmt,
    /// The number of the statement in the order of the text, from 0; loops and conditionals count.
    pub position: usize,
    /// Loops and conditions around it, outermost first. For a read inside a `select`, this includes
    /// the condition of its branch.
    pub context: Vec<Context<'a>>,
}

impl<'a> AccessSite<'a> {
    /// The loops around it, outermost first.
    pub fn loops(&self) -> impl Iterator<Item = &'a Loop> + '_ {
        self.context.iter().filter_map(|c| match c {
            Context::Loop(l) => Some(*l),
            _ => None,
        })
    }

    /// Whether it writes.
    pub fn writes(&self) -> bool {
        self.kind != AccessKind::Read
    }

    /// Whether it reads.
    pub fn reads(&self) -> bool {
        self.kind != AccessKind::Write
    }
}

/// All accesses of the statements in the order of the text. The reads of a statement come before
/// its write.
///
/// Subscripts, bounds, conditions and extents of local arrays count as reads of the arrays that
/// they name.
pub fn accesses(body: &[Stmt]) -> Vec<AccessSite<'_>> {
    let mut collector = Collector { sites: Vec::new(), context: Vec::new(), position: 0 };
    collector.block(body);
    collector.sites
}

struct Collector<'a> {
    sites: Vec<AccessSite<'a>>,
    context: Vec<Context<'a>>,
    position: usize,
}

impl<'a> Collector<'a> {
    fn block(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn push(
        &mut self,
        stmt: &'a Stmt,
        position: usize,
        kind: AccessKind,
        access: &'a Access,
        extents: Option<&'a [Expr]>,
    ) {
        let label = match stmt {
            Stmt::Assign(a) => a.label.as_ref(),
            _ => None,
        };
        let context = self.context.clone();
        self.sites.push(AccessSite { kind, access, extents, label, stmt, position, context });
    }

    fn reads(&mut self, stmt: &'a Stmt, position: usize, expr: &'a Expr) {
        if let Expr::Load(access) = expr {
            self.push(stmt, position, AccessKind::Read, access, None);
        }
        if let Expr::Select(cond, then, otherwise) = expr {
            self.reads(stmt, position, cond);
            for (holds, branch) in [(true, then), (false, otherwise)] {
                self.context.push(Context::Condition { cond, holds });
                self.reads(stmt, position, branch);
                self.context.pop();
            }
            return;
        }
        for child in expr.children() {
            self.reads(stmt, position, child);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        let position = self.position;
        self.position += 1;
        for expr in stmt.exprs() {
            self.reads(stmt, position, expr);
        }
        match stmt {
            Stmt::Assign(a) => {
                let kind = a.update.map_or(AccessKind::Write, AccessKind::Update);
                self.push(stmt, position, kind, &a.target, None);
            }
            Stmt::Copy(c) => {
                self.push(stmt, position, AccessKind::Read, &c.from, Some(&c.extents));
                self.push(stmt, position, AccessKind::Write, &c.to, Some(&c.extents));
            }
            Stmt::Loop(l) => self.inside(Context::Loop(l), &l.body),
            Stmt::If { cond, then, otherwise } => {
                self.inside(Context::Condition { cond, holds: true }, then);
                self.inside(Context::Condition { cond, holds: false }, otherwise);
            }
            Stmt::Block { mark: Some(mark), body } => self.inside(Context::Mark(mark), body),
            Stmt::Block { mark: None, body } => self.block(body),
            Stmt::Local(_) | Stmt::Wait(_) => {}
        }
    }

    fn inside(&mut self, context: Context<'a>, body: &'a [Stmt]) {
        self.context.push(context);
        self.block(body);
        self.context.pop();
    }
}
