//! Rows that are compared with all rows of another array: neighbouring iterations of the parallel
//! loop over rows become lanes of vectors, for which the rows are packed once.
//!
//! The distances between a row and many others are chains, one behind the other, and what is made
//! of them (the nearest, a sum of functions of them) is another. In lanes a block of rows goes
//! through all of it together. Each lane sees the numbers of its row in their order, so results
//! stay the same to the last bit. A row has its elements side by side, and lanes want those of
//! different rows side by side: a block of rows is copied, which pays because it is read again for
//! each of the others. Left out: nests that store more than numbers of the iteration itself, such
//! as products of matrices; branches; loops over rows that are read once; and rows of local arrays,
//! of which a part may have no value.

use std::collections::BTreeSet;

use crate::pass::{Pass, Step, changed};
use crate::unroll_and_jam::{Block, are_independent};
use loops::facts::is_stable;
use loops::visit::{check_depth, fresh, locals, taken, with_distinct_locals};
use loops::{Access, ArrayDecl, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt, Storage, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "row-lanes",
        literature: "outer-loop vectorization (Nuzman and Zaks 2008), with packed rows (Goto and van de Geijn 2008)",
        about: "a parallel loop over rows that are each compared with many others runs over blocks of rows, which are lanes",
    },
    run: |function| changed(function, in_lanes(function)),
};

/// Bytes of one vector.
const VECTOR: i64 = 64;
/// A loop of fewer iterations is left as it is.
const MANY: i64 = 64;
/// Bodies with more expressions than this are not written twice.
const LARGEST: usize = 250;

/// The function with such loops in lanes. A function that is nested too deeply to look at, or has
/// none, comes back as it is.
fn in_lanes(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let params = distinct.params.iter().map(|p| (p.name.clone(), p.elem.clone(), p.dims.clone()));
    let arrays = params.map(|(name, elem, dims)| Matrix { name, elem, dims }).collect();
    let mut lanes = Lanes { arrays, taken: taken(&distinct), found: false };
    let body = lanes.block(&distinct.body);
    match lanes.found {
        true => simplify::function(&Function { body, ..distinct }),
        false => function.clone(),
    }
}

/// A parameter, which has a value at every place, and its extents.
struct Matrix {
    name: Name,
    elem: Elem,
    dims: Vec<Expr>,
}

struct Lanes {
    arrays: Vec<Matrix>,
    taken: BTreeSet<Name>,
    found: bool,
}

impl Lanes {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Parallel => match self.packed(l) {
                    Some(rows) => {
                        self.found = true;
                        result.extend(self.together(l, &rows));
                    }
                    None => result.push(stmt.clone()),
                },
                other => result.push(other.map(&mut Expr::clone, &mut |inner| self.block(inner))),
            }
        }
        result
    }

    fn fresh(&mut self, base: &str) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    /// The arrays whose rows are packed, if the iterations of a loop can be lanes and that pays.
    fn packed(&self, l: &Loop) -> Option<Vec<Name>> {
        let plain = l.step == 1 && l.lower == Expr::Int(0) && l.reductions.is_empty() && is_stable(&l.upper);
        let few = matches!(l.upper, Expr::Int(n) if n < MANY);
        let own = locals(&l.body).map(|local| &local.name).collect();
        let mut look = Look { of: l, own, depth: 0, rows: Vec::new(), again: false, size: 0 };
        if !plain || few || !look.block(&l.body) || !look.again || look.size > LARGEST || !are_independent(l)
        {
            return None;
        }
        let fits = |name: &Name| {
            let matrix = self.arrays.iter().find(|matrix| matrix.name == *name);
            matrix.is_some_and(|m| m.dims.len() == 2 && m.dims.iter().all(is_stable))
        };
        let written = |name: &Name| loops::visit::nodes(&l.body).any(|stmt| stmt.writes(name));
        let first = self.scalar(look.rows.first()?)?;
        let all = |name: &Name| fits(name) && !written(name) && self.scalar(name) == Some(first);
        look.rows.iter().all(all).then_some(look.rows)
    }

    /// The type of the elements, if they are floating-point numbers.
    fn scalar(&self, name: &Name) -> Option<Scalar> {
        match self.arrays.iter().find(|matrix| matrix.name == *name)?.elem {
            Elem::Scalar(scalar @ (Scalar::F32 | Scalar::F64)) => Some(scalar),
            _ => None,
        }
    }

    /// The loop over blocks of rows, and one over the rows behind the last whole block.
    fn together(&mut self, l: &Loop, rows: &[Name]) -> Vec<Stmt> {
        let bytes = rows.first().and_then(|name| self.scalar(name)).map_or(8, |scalar| scalar.bytes() as i64);
        let count = VECTOR / bytes;
        let (block, side) = (self.fresh(l.var.as_str()), self.fresh("lane"));
        let place = Expr::Var(block.clone()) * count + Expr::Var(side.clone());
        let (mut body, mut inside) = (Vec::new(), l.body.clone());
        for name in rows {
            let own = self.fresh(&format!("{name}_rows"));
            body.extend(self.pack(name, &own, &place, &side, count));
            let at = |access: Access| match access.indices.as_slice() {
                [row, column] if access.array == *name && *row == Expr::Var(l.var.clone()) => {
                    Expr::load(own.clone(), vec![column.clone(), Expr::Var(side.clone())])
                }
                _ => Expr::Load(access),
            };
            inside = with_loads(&inside, &at);
        }
        let through = |_: &Loop, _: Option<i64>| true;
        let jam = Block { var: &l.var, place, side: &side, count, kind: LoopKind::Vector, through: &through };
        body.extend(one_by_one(&jam.side_by_side(&inside), &side));
        let blocks = simplify::expr(&l.upper.clone().floor_div(count), &loops::Facts::default());
        let whole = Loop { var: block, upper: blocks.clone(), body, ..l.clone() };
        let rest = Loop { lower: blocks * count, kind: LoopKind::Sequential, ..l.clone() };
        vec![Stmt::Loop(whole), Stmt::Loop(rest)]
    }

    /// Statements that copy the rows of a block, so that those of neighbours are side by side.
    fn pack(&mut self, name: &Name, own: &Name, place: &Expr, side: &Name, count: i64) -> Vec<Stmt> {
        let Some(matrix) = self.arrays.iter().find(|matrix| matrix.name == *name) else { return Vec::new() };
        let Some(width) = matrix.dims.last().cloned() else { return Vec::new() };
        let elem = matrix.elem.clone();
        let column = self.fresh("column");
        let at = |name: &Name, indices| Access::element(name.clone(), indices);
        let value = Expr::Load(at(name, vec![place.clone(), Expr::Var(column.clone())]));
        let to = at(own, vec![Expr::Var(column.clone()), Expr::Var(side.clone())]);
        let lanes =
            Loop::upto(side.clone(), Expr::Int(count), LoopKind::Unroll(None), vec![Stmt::assign(to, value)]);
        let copy = Loop::upto(column, width.clone(), LoopKind::Sequential, vec![Stmt::Loop(lanes)]);
        let dims = vec![width, Expr::Int(count)];
        let decl = ArrayDecl { name: own.clone(), elem, dims, storage: Storage::Heap };
        vec![Stmt::Local(decl), Stmt::Loop(copy)]
    }
}

/// The statements with other loads.
fn with_loads(stmts: &[Stmt], at: &dyn Fn(Access) -> Expr) -> Vec<Stmt> {
    let one = |stmt: &Stmt| {
        stmt.map(&mut |e| e.map_loads(&mut |access| at(access)), &mut |inner| with_loads(inner, at))
    };
    stmts.iter().map(one).collect()
}

/// The statements with a loop over lanes for each assignment: lanes do not look at each other.
fn one_by_one(stmts: &[Stmt], side: &Name) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Loop(l) if l.var == *side => {
            let alone = |stmt: &Stmt| Stmt::Loop(Loop { body: vec![stmt.clone()], ..l.clone() });
            l.body.iter().map(alone).collect()
        }
        other => vec![other.map(&mut Expr::clone, &mut |inner| one_by_one(inner, side))],
    };
    stmts.iter().flat_map(one).collect()
}

/// What is found in the body of a loop over rows.
struct Look<'l> {
    of: &'l Loop,
    /// What it declares.
    own: BTreeSet<&'l Name>,
    /// Loops around the statement inside it.
    depth: usize,
    /// The arrays of which the iteration reads its row, element by element.
    rows: Vec<Name>,
    /// Whether a loop reads such a row again and again.
    again: bool,
    size: usize,
}

impl<'l> Look<'l> {
    /// Whether all iterations can go through the statements together.
    fn block(&mut self, stmts: &'l [Stmt]) -> bool {
        stmts.iter().all(|stmt| match stmt {
            Stmt::Local(local) => local.dims.is_empty(),
            Stmt::Assign(a) => {
                let number = a.target.indices.is_empty() && self.own.contains(&a.target.array);
                let here = number || self.depth == 0;
                let indices = a.target.indices.iter().all(is_stable);
                here && indices && a.label.is_none() && stmt.exprs().into_iter().all(|e| self.expression(e))
            }
            Stmt::Loop(l) => {
                let still = |e: &Expr| is_stable(e) && !e.mentions(&self.of.var);
                let plain = l.kind == LoopKind::Sequential && l.step == 1 && l.reductions.is_empty();
                if !plain || !still(&l.lower) || !still(&l.upper) {
                    return false;
                }
                self.depth += 1;
                let fits = self.block(&l.body);
                self.depth -= 1;
                fits
            }
            Stmt::If { .. } | Stmt::Block { .. } | Stmt::Copy(_) | Stmt::Wait(_) => false,
        })
    }

    /// Whether an expression reads nothing but what is the same for all lanes, side by side, or in
    /// their rows.
    fn expression(&mut self, e: &'l Expr) -> bool {
        self.size += e.nodes().count();
        let row = Expr::Var(self.of.var.clone());
        e.loads().all(|access| {
            let depends = |e: &Expr| e.mentions(&self.of.var) || e.has_loads();
            match access.indices.as_slice() {
                [first] if *first == row => true,
                [first, column] if *first == row && !depends(column) && access.path.is_empty() => {
                    if self.depth > 0 && !self.rows.contains(&access.array) {
                        self.rows.push(access.array.clone());
                    }
                    self.again |= self.depth > 1;
                    true
                }
                indices => !indices.iter().any(depends),
            }
        })
    }
}
