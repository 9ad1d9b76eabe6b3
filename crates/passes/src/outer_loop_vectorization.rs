//! Parallel loops down the columns of a matrix as lanes: each lane has its own recurrence.
//!
//! A recursive filter down columns runs one column after the other, a line of memory for each
//! element, and every step waits for the one before it. Neighbouring columns are independent, and
//! side by side in memory. So a strip of columns is taken at once: scalars of an iteration become
//! short arrays, with an element for each lane, and every assignment runs over the lanes. No
//! operation and no order in a column changes.
//!
//! The loop is parallel already, has scalars of one floating-point type and sequential loops of the
//! same length for all iterations, does arithmetic on them, and its variable is the last subscript
//! of what it stores. What is left of the last strip runs as before.

use std::collections::{BTreeMap, BTreeSet};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::facts::Facts;
use loops::visit::{check_depth, fresh, locals, taken};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp,
    Scalar, Stmt, Storage, UnaryOp, simplify,
};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "outer-loop-vectorization",
        literature: "outer-loop vectorization (Nuzman and Zaks 2008)",
        about: "a parallel loop of recurrences down columns runs over strips of columns, whose columns are lanes",
    },
    run: |function| changed(function, vectorized(function)),
};

/// Bytes of the lanes of a strip: two lines of memory, and chains enough to hide the time that each
/// step waits for the one before it.
const STRIP_BYTES: i64 = 128;

/// The function with such loops in strips. A function that is nested too deeply comes back as it
/// is.
fn vectorized(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut pass = Vectorizer { types: types(function), taken: taken(function), facts: Facts::of(function) };
    let body = pass.block(&function.body);
    with_own_labels(function, Function { body, ..function.clone() })
}

/// Element types of arrays and scalars; those of names that are declared with several types are
/// left out.
fn types(function: &Function) -> BTreeMap<Name, Option<Scalar>> {
    let mut types = BTreeMap::new();
    let mut note = |name: &Name, elem: &Elem| {
        let scalar = match elem {
            Elem::Scalar(scalar) => Some(*scalar),
            Elem::Pair(..) => None,
        };
        let known = types.entry(name.clone()).or_insert(scalar);
        if *known != scalar {
            *known = None;
        }
    };
    function.params.iter().for_each(|param| note(&param.name, &param.elem));
    for decl in locals(&function.body) {
        note(&decl.name, &decl.elem);
    }
    types
}

struct Vectorizer {
    types: BTreeMap<Name, Option<Scalar>>,
    taken: BTreeSet<Name>,
    facts: Facts,
}

/// A loop that can run over strips.
struct Columns<'a> {
    var: &'a Name,
    /// Scalars of an iteration.
    own: BTreeSet<Name>,
    scalar: Scalar,
}

impl Vectorizer {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts
            .iter()
            .map(|stmt| match stmt {
                Stmt::Loop(l) => match self.columns(l) {
                    Some(columns) => self.strips(l, &columns),
                    None => Stmt::Loop(Loop { body: self.block(&l.body), ..l.clone() }),
                },
                other => other.map(&mut Expr::clone, &mut |inner| self.block(inner)),
            })
            .collect()
    }

    /// What the loop is, if it is of the kind.
    fn columns<'a>(&self, l: &'a Loop) -> Option<Columns<'a>> {
        if l.kind != LoopKind::Parallel || l.step != 1 || !l.reductions.is_empty() {
            return None;
        }
        let mut own = BTreeSet::new();
        let mut scalar = None;
        let mut loops = 0;
        let inner = l.body.iter().flat_map(|stmt| match stmt {
            Stmt::Loop(inner) => inner.body.as_slice(),
            _ => &[],
        });
        for stmt in l.body.iter().chain(inner) {
            if let Stmt::Local(decl) = stmt {
                let Elem::Scalar(ty @ (Scalar::F32 | Scalar::F64)) = decl.elem else { return None };
                if !decl.dims.is_empty() || *scalar.get_or_insert(ty) != ty || !own.insert(decl.name.clone())
                {
                    return None;
                }
            }
        }
        let columns = Columns { var: &l.var, own, scalar: scalar? };
        let free = |e: &Expr| !e.has_loads() && !e.mentions(&l.var);
        let mut stores = false;
        for stmt in &l.body {
            match stmt {
                Stmt::Local(_) => {}
                Stmt::Assign(assign) => stores |= self.fits(assign, &columns)?,
                Stmt::Loop(inner) => {
                    let plain = inner.kind == LoopKind::Sequential && inner.reductions.is_empty();
                    if !plain || !free(&inner.lower) || !free(&inner.upper) || inner.var == l.var {
                        return None;
                    }
                    loops += 1;
                    for stmt in &inner.body {
                        match stmt {
                            Stmt::Local(_) => {}
                            Stmt::Assign(assign) => stores |= self.fits(assign, &columns)?,
                            _ => return None,
                        }
                    }
                }
                _ => return None,
            }
        }
        (stores && loops > 0).then_some(columns)
    }

    /// Whether an assignment can run over lanes; if so, whether it stores to an array.
    fn fits(&self, assign: &Assign, columns: &Columns<'_>) -> Option<bool> {
        let own = columns.own.contains(&assign.target.array);
        let target = own || self.adjacent(&assign.target, columns);
        let update =
            assign.update.is_none_or(|u| !u.reorder && matches!(u.op, ReduceOp::Add | ReduceOp::Mul));
        (target && update && self.in_lanes(&assign.value, columns)).then_some(!own)
    }

    /// Whether lanes side by side are elements side by side.
    fn adjacent(&self, access: &Access, columns: &Columns<'_>) -> bool {
        self.types.get(&access.array) == Some(&Some(columns.scalar)) && access.is_adjacent_along(columns.var)
    }

    /// Whether the value is arithmetic on lanes, and on what is the same for all of them.
    fn in_lanes(&self, e: &Expr, columns: &Columns<'_>) -> bool {
        let same = !e.mentions(columns.var) && e.arrays().is_disjoint(&columns.own);
        same || match e {
            Expr::Load(access) => {
                (columns.own.contains(&access.array) && access.indices.is_empty())
                    || self.adjacent(access, columns)
            }
            Expr::Unary(UnaryOp::Neg, a) => self.in_lanes(a, columns),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, a, b) => {
                self.in_lanes(a, columns) && self.in_lanes(b, columns)
            }
            _ => false,
        }
    }

    fn name(&mut self, base: String) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    /// The loop over strips.
    fn strips(&mut self, l: &Loop, columns: &Columns<'_>) -> Stmt {
        let lanes = STRIP_BYTES / columns.scalar.bytes() as i64;
        let strip = self.name(format!("{}_strip", l.var));
        let lane = self.name(format!("{}_lane", l.var));
        let own: BTreeMap<Name, Name> =
            columns.own.iter().map(|name| (name.clone(), self.name(format!("{name}_lanes")))).collect();
        let simple = |e: Expr| simplify::expr(&e, &self.facts);
        let first = simple(l.lower.clone() + Expr::Var(strip.clone()) * Expr::Int(lanes));
        let next = simple(first.clone() + Expr::Int(lanes));
        let wide = Lanes { count: lanes, lane: &lane, own: &own };
        let here = |e: &Expr| {
            e.substitute(&|name| (name == columns.var).then(|| first.clone() + Expr::Var(lane.clone())))
        };
        let full = wide.block(&l.body, &here);
        let rest = Loop {
            lower: first.clone(),
            upper: next.clone().min(l.upper.clone()),
            kind: LoopKind::Sequential,
            ..l.clone()
        };
        let cond = Expr::compare(CompareOp::Le, next, l.upper.clone());
        let body = vec![Stmt::If { cond, then: full, otherwise: vec![Stmt::Loop(rest)] }];
        let length = l.upper.clone() - l.lower.clone() + Expr::Int(lanes - 1);
        let count = simple(Expr::binary(BinaryOp::FloorDiv, length, Expr::Int(lanes)));
        Stmt::Loop(Loop::upto(strip, count, LoopKind::Parallel, body))
    }
}

/// How statements of one iteration become statements over lanes.
struct Lanes<'a> {
    count: i64,
    lane: &'a Name,
    own: &'a BTreeMap<Name, Name>,
}

impl Lanes<'_> {
    /// The statements with loops over lanes around assignments; `here` puts the column of a lane
    /// in.
    fn block(&self, stmts: &[Stmt], here: &dyn Fn(&Expr) -> Expr) -> Vec<Stmt> {
        let mut result: Vec<Stmt> = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::Local(decl) => result.push(Stmt::Local(ArrayDecl {
                    name: self.own[&decl.name].clone(),
                    dims: vec![Expr::Int(self.count)],
                    storage: Storage::Stack,
                    ..decl.clone()
                })),
                Stmt::Loop(l) => {
                    result.push(Stmt::Loop(Loop { body: self.block(&l.body, here), ..l.clone() }));
                }
                Stmt::Assign(assign) => {
                    let one = Stmt::Assign(self.assign(assign, here));
                    match result.last_mut() {
                        Some(Stmt::Loop(l)) if l.kind == LoopKind::Vector => l.body.push(one),
                        _ => {
                            let body = vec![one];
                            let lanes = Expr::Int(self.count);
                            result.push(Stmt::Loop(Loop::upto(
                                self.lane.clone(),
                                lanes,
                                LoopKind::Vector,
                                body,
                            )));
                        }
                    }
                }
                other => result.push(other.clone()),
            }
        }
        result
    }

    fn assign(&self, assign: &Assign, here: &dyn Fn(&Expr) -> Expr) -> Assign {
        let access = |access: &Access| match self.own.get(&access.array) {
            Some(own) => Access::element(own.clone(), vec![Expr::Var(self.lane.clone())]),
            None => access.map_indices(&mut |e| here(e)),
        };
        let value = here(&assign.value).map_loads(&mut |load| {
            Expr::Load(match self.own.contains_key(&load.array) {
                true => access(&load),
                false => load,
            })
        });
        Assign { target: access(&assign.target), value, ..assign.clone() }
    }
}
