//! The rewriting: one block of iterations of a loop side by side, statement by statement.
//!
//! Nothing is proved here. Whoever asks for it has to know that the iterations of the block, and
//! those of the loops that they go through together, may be interleaved.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::substitute;
use loops::{Access, Expr, Local, Loop, LoopKind, Name, Stmt};

/// One block of iterations.
pub struct Block<'a> {
    /// The variable of the loop.
    pub var: &'a Name,
    /// What it is in an iteration of the block.
    pub place: Expr,
    /// The number of an iteration in its block, which has `count`.
    pub side: &'a Name,
    /// How many iterations the block has.
    pub count: i64,
    /// How assignments side by side are done.
    pub kind: LoopKind,
    /// Whether all iterations go through an inner loop together. The second argument is how often
    /// such loops around it run in all, if that is known.
    pub through: &'a dyn Fn(&Loop, Option<i64>) -> bool,
}

impl Block<'_> {
    /// The statements of the loop for all iterations of the block: its local variables once for
    /// each of them, inner loops that they go through together once for all.
    pub fn side_by_side(&self, body: &[Stmt]) -> Vec<Stmt> {
        let place = [(self.var.clone(), self.place.clone())].into();
        Jam { block: self, place, wide: BTreeSet::new() }.stmts(body, Some(1))
    }
}

struct Jam<'a> {
    block: &'a Block<'a>,
    place: BTreeMap<Name, Expr>,
    /// Local arrays of which each iteration has its own.
    wide: BTreeSet<Name>,
}

impl Jam<'_> {
    /// `around`: how often the loops around the statements that all go through run in all.
    fn stmts(&mut self, stmts: &[Stmt], around: Option<i64>) -> Vec<Stmt> {
        let Block { kind, count, .. } = *self.block;
        let mut result = vec![];
        // numbers that are computed one after the other
        let mut run = vec![];
        for stmt in stmts {
            match stmt {
                Stmt::Local(local) => {
                    self.wide.insert(local.name.clone());
                    let mut dims = vec![Expr::Int(count)];
                    dims.extend(local.dims.iter().cloned());
                    result.push(Stmt::Local(Local { dims, ..local.clone() }));
                }
                Stmt::Loop(inner) if (self.block.through)(inner, around) => {
                    self.each(&mut run, kind, &mut result);
                    let body = self.stmts(&inner.body, all_trips(inner, around));
                    result.push(Stmt::Loop(Loop { body, ..inner.clone() }));
                }
                Stmt::Block { mark, body } => {
                    self.each(&mut run, kind, &mut result);
                    result.push(Stmt::Block { mark: mark.clone(), body: self.stmts(body, around) });
                }
                Stmt::Assign(_) => run.push(stmt.clone()),
                other => {
                    self.each(&mut run, kind, &mut result);
                    self.each(&mut vec![other.clone()], LoopKind::Sequential, &mut result);
                }
            }
        }
        self.each(&mut run, kind, &mut result);
        result
    }

    /// Statements for each iteration of the block.
    fn each(&self, run: &mut Vec<Stmt>, kind: LoopKind, result: &mut Vec<Stmt>) {
        if run.is_empty() {
            return;
        }
        let here = substitute(&std::mem::take(run), &self.place);
        let body = here.iter().map(|stmt| self.own(stmt)).collect();
        let count = Expr::Int(self.block.count);
        result.push(Stmt::Loop(Loop::upto(self.block.side.clone(), count, kind, body)));
    }

    /// The statement with the iteration's own elements of local arrays.
    fn own(&self, stmt: &Stmt) -> Stmt {
        let own = |mut access: Access| {
            if self.wide.contains(&access.array) {
                access.indices.insert(0, Expr::Var(self.block.side.clone()));
            }
            access
        };
        let mut load = |access: Access| Expr::Load(own(access));
        let mut stmt = stmt.map(&mut |e| e.map_loads(&mut load), &mut |inner| {
            inner.iter().map(|stmt| self.own(stmt)).collect()
        });
        if let Stmt::Assign(a) = &mut stmt {
            a.target = own(a.target.clone());
        }
        stmt
    }
}

/// How often the body of a loop runs, inside loops that run so often in all.
pub(super) fn all_trips(l: &Loop, around: Option<i64>) -> Option<i64> {
    trips(l).zip(around).map(|(n, around)| n.saturating_mul(around))
}

fn trips(l: &Loop) -> Option<i64> {
    match (&l.lower, &l.upper) {
        (Expr::Int(a), Expr::Int(b)) => b.checked_sub(*a),
        _ => None,
    }
}
