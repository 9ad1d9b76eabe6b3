//! Panels of columns: a matrix is computed by rows, its columns are summed up, and its rows are
//! then used with these sums. The matrix is transferred in and out once.
//!
//! The mapping has a loop over panels that contains three loops over cores: each core computes its
//! rows of the panel; the columns of the panel are summed up; rows are used with these sums. In the
//! generated code a core keeps its rows from the first loop to the last. Sums go through all cores
//! in the order of the rows, some columns at a time. Each core adds its rows to what the core
//! before has sent. The final sums go to all cores. `blocks` describes how rows are transferred.

use loops::{Access, Expr, Loop, LoopKind, Name, Stmt};

use super::write_panels::computing;
use super::{Held, ROW, around, constant, exchanged, held, plain};
use crate::athread::prefetch::{bound, factor};

/// A loop over cores: its boxes, and the loop over its rows' tiles.
pub(super) struct Step<'a> {
    body: &'a [Stmt],
    pub core: &'a Name,
    pub tiles: &'a Loop,
    pub matrix: Held,
    /// Vectors along the columns and along the rows of the matrix.
    pub down: Vec<Held>,
    pub along: Vec<Held>,
}

/// A loop over panels of columns.
pub(super) struct Columns<'a> {
    pub l: &'a Loop,
    pub made: Step<'a>,
    pub sums: Step<'a>,
    pub used: Step<'a>,
    /// The sums among the vectors along the rows of the second step.
    pub sum: usize,
    pub cores: i64,
    /// Rows of a core, and columns of a panel.
    pub each: i64,
    pub width: i64,
}

impl<'a> Step<'a> {
    /// `spread`: whether its tiles of rows are spread over the cores.
    fn of(l: &'a Loop, panels: &Name, spread: bool, exchange: bool) -> Option<Step<'a>> {
        let mut all = held(&l.body)?;
        let at = match exchange {
            true => {
                let name = exchanged(&l.body)?;
                all.iter().position(|h| h.local.name == name)?
            }
            false => all.iter().position(|h| h.local.dims.len() == 2)?,
        };
        let matrix = all.remove(at);
        let get = matrix.get.clone()?;
        let tiles = around(&l.body, &matrix.local.name)?;
        let (each, width) = (bound(&get.extents[0])?, bound(get.extents.get(1)?)?);
        let of = |e: &Expr, name: &Name, by: i64| {
            e.vars().iter().all(|v| v == name) && factor(e, name) == Some(by) && constant(e) == Some(0)
        };
        let right = of(&get.from.indices[0], &tiles.var, each)
            && of(&get.from.indices[1], panels, width)
            && (tiles.lower == if spread { Expr::Var(l.var.clone()) } else { Expr::Int(0) })
            && !tiles.upper.mentions(&l.var)
            && !tiles.upper.mentions(panels);
        let (mut down, mut along) = (Vec::new(), Vec::new());
        for h in all {
            if h.follows(&get, 0) {
                down.push(h);
            } else if h.follows(&get, 1) {
                along.push(h);
            } else {
                return None;
            }
        }
        right.then_some(Step { body: &l.body, core: &l.var, tiles, matrix, down, along })
    }

    pub fn vectors(&self) -> impl Iterator<Item = &Held> {
        self.down.iter().chain(&self.along)
    }

    /// What it computes in a tile, with the statements before and after the loop over tiles.
    pub fn computing(&self) -> [Vec<Stmt>; 3] {
        let all = unguarded(&computing(self.body, None, false), self.core);
        match all.iter().position(|s| matches!(s, Stmt::Loop(l) if l.var == self.tiles.var)) {
            Some(at) => match &all[at] {
                Stmt::Loop(l) => [all[..at].to_vec(), l.body.clone(), all[at + 1..].to_vec()],
                _ => [all.clone(), vec![], vec![]],
            },
            None => [all, vec![], vec![]],
        }
    }
}

/// Statements without conditions on the core.
fn unguarded(body: &[Stmt], core: &Name) -> Vec<Stmt> {
    body.iter()
        .flat_map(|s| match s {
            Stmt::If { cond, then, otherwise } if otherwise.is_empty() && cond.mentions(core) => {
                unguarded(then, core)
            }
            Stmt::Block { body, .. } => unguarded(body, core),
            other => vec![other.clone()],
        })
        .collect()
}

/// Elements that statements reach, whether they are written, and the loops around each.
fn reached(body: &[Stmt], loops: &mut Vec<Name>, found: &mut Vec<(Access, bool, Vec<Name>)>) {
    for stmt in body {
        for e in stmt.exprs() {
            for access in e.loads() {
                found.push((access.clone(), false, loops.clone()));
            }
        }
        match stmt {
            Stmt::Assign(a) => found.push((a.target.clone(), true, loops.clone())),
            Stmt::Loop(l) => {
                loops.push(l.var.clone());
                reached(&l.body, loops, found);
                loops.pop();
            }
            other => other.bodies().into_iter().for_each(|body| reached(body, loops, found)),
        }
    }
}

/// The loops that give a dimension of a buffer where it is reached; none if another subscript than
/// one of a single loop does.
pub(super) fn loops_over(body: &[Stmt], buffer: &Name, dim: usize) -> Option<Vec<Name>> {
    let mut found = Vec::new();
    reached(body, &mut Vec::new(), &mut found);
    let mut all = Vec::new();
    for (access, _, loops) in found.into_iter().filter(|(access, ..)| access.array == *buffer) {
        let index = access.indices.get(dim)?;
        let mut own = loops.into_iter().filter(|l| index.mentions(l));
        all.push(own.next()?);
        if own.next().is_some() {
            return None;
        }
    }
    Some(all)
}

/// Whether statements write nothing but elements of a buffer.
pub(super) fn writes_only(body: &[Stmt], buffer: &Name) -> bool {
    let mut found = Vec::new();
    reached(body, &mut Vec::new(), &mut found);
    found.iter().all(|(access, written, _)| !written || access.array == *buffer)
}

/// Whether statements reach a buffer.
pub(super) fn reads(body: &[Stmt], buffer: &Name) -> bool {
    let mut found = Vec::new();
    reached(body, &mut Vec::new(), &mut found);
    found.iter().any(|(access, ..)| access.array == *buffer)
}

/// Statements with other bounds of some loops.
pub(super) fn within(body: &[Stmt], vars: &[Name], first: &str, last: &str) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| {
            let stmt = stmt.map(&mut Expr::clone, &mut |inner| within(inner, vars, first, last));
            match stmt {
                Stmt::Loop(l) if vars.contains(&l.var) => {
                    Stmt::Loop(Loop { lower: Expr::var(first), upper: Expr::var(last), ..l })
                }
                other => other,
            }
        })
        .collect()
}

/// Statements in which the rows of a buffer are counted from one of them on.
pub(super) fn from_row(body: &[Stmt], buffer: &Name, first: &str) -> Vec<Stmt> {
    let moved = |mut access: Access| {
        if access.array == *buffer {
            access.indices[0] = access.indices[0].clone() - Expr::var(first);
        }
        access
    };
    body.iter()
        .map(|stmt| {
            let load = &mut |e: &Expr| e.map_loads(&mut |access| Expr::Load(moved(access)));
            match stmt.map(load, &mut |inner| from_row(inner, buffer, first)) {
                Stmt::Assign(a) => Stmt::Assign(loops::Assign { target: moved(a.target.clone()), ..a }),
                other => other,
            }
        })
        .collect()
}

impl<'a> Columns<'a> {
    pub fn of(l: &'a Loop) -> Option<Columns<'a>> {
        let inside = plain(&l.body);
        let [Stmt::Loop(made), Stmt::Loop(sums), Stmt::Loop(used)] = inside.as_slice() else { return None };
        let Expr::Int(cores) = made.upper else { return None };
        let spread = |l: &&Loop| {
            l.kind == LoopKind::Parallel
                && l.upper == Expr::Int(cores)
                && !l.body.iter().any(|s| matches!(s, Stmt::Loop(l) if l.kind == LoopKind::Parallel))
        };
        if ![made, sums, used].iter().all(spread)
            || l.step != 1
            || l.lower != Expr::Int(0)
            || cores % ROW != 0
        {
            return None;
        }
        let made = Step::of(made, &l.var, true, false)?;
        let sums = Step::of(sums, &l.var, false, true)?;
        let used = Step::of(used, &l.var, true, false)?;
        let (put, get) = (made.matrix.put.as_ref()?, made.matrix.get.as_ref()?);
        let array = &put.to.array;
        let alike = |step: &Step| {
            step.matrix.put.is_none()
                && step.matrix.array() == Some(array)
                && step.matrix.get.as_ref().map(|g| &g.extents[1]) == Some(&get.extents[1])
                && step.matrix.get.as_ref().and_then(|g| bound(&g.extents[0])) == bound(&get.extents[0])
                && step.tiles.upper == made.tiles.upper
        };
        let (each, width) = (bound(&get.extents[0])?, bound(&get.extents[1])?);
        let sum = sums.along.iter().position(|h| h.put.is_some())?;
        let result = sums.along[sum].array();
        // What is written: the matrix by the first step, sums by the second, vectors along the
        // columns by the third.
        let out = |held: &[Held]| held.iter().filter(|h| h.put.is_some()).count();
        let only = out(&made.down) + out(&made.along) + out(&sums.down) + out(&used.along) == 0
            && out(&sums.along) == 1
            && made.vectors().all(|h| h.array() != result && h.array() != Some(array))
            && sums.vectors().filter(|h| h.array() == result).count() == 1
            && used.along.iter().filter(|h| h.array() == result).count() == 1
            && used.down.iter().all(|h| h.array() != result);
        let written: Vec<_> = used.down.iter().filter(|h| h.put.is_some()).filter_map(Held::array).collect();
        let apart = written.iter().all(|name| {
            let count = |step: &Step| step.vectors().filter(|h| h.array() == Some(*name)).count();
            count(&made) + count(&sums) == 0 && count(&used) == 1
        });
        let all = alike(&sums) && alike(&used) && only && apart;
        all.then_some(Columns { l, made, sums, used, sum, cores, each, width })
    }
}
