//! Choices in chains: both values are at hand, so that processors move one of them instead of
//! guessing which.
//!
//! In `left = max(x == y[j] ? before[j - 1] + 1 : before[j], left)` C compilers jump around the
//! value that is not chosen, and data decides, so processors guess wrongly every few elements. With
//! both values in variables, a target prints a choice that is no jump. Only in loops whose elements
//! wait for each other, which no compiler makes vectors of, and only for integers whose subscripts
//! are shown to be in range whichever is chosen. Left out: choices whose condition is part of the
//! chain, of which the values would wait too.

use loops::facts::Facts;
use loops::typing::Types;
use loops::visit::{check_depth, fresh, locals, taken, with_distinct_locals};
use loops::{Access, Assign, BinaryOp, CompareOp, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt};
use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "conditional-moves",
        literature: "if-conversion with conditional moves (Mahlke, Lin, Chen, Hank, Bringmann 1992)",
        about: "both values of a choice between integers in a chain are computed before it",
    },
    run: |function| changed(function, moving(function)),
};

/// The function with such choices. A function that is nested too deeply, or has none, comes back as
/// it is.
fn moving(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let types = Types::of_all(&distinct);
    let mut extents: BTreeMap<Name, Vec<Expr>> = BTreeMap::new();
    for param in &distinct.params {
        extents.insert(param.name.clone(), param.dims.clone());
    }
    extents.extend(locals(&distinct.body).map(|local| (local.name.clone(), local.dims.clone())));
    let mut pass = Moves { taken: taken(&distinct), types, extents, changed: false };
    let body = pass.block(&distinct.body, &Facts::of(&distinct));
    if pass.changed { Function { body, ..distinct } } else { function.clone() }
}

struct Moves {
    taken: BTreeSet<Name>,
    types: Types,
    extents: BTreeMap<Name, Vec<Expr>>,
    changed: bool,
}

impl Moves {
    fn block(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let mut one = |stmt: &Stmt| match stmt {
            Stmt::Loop(l) => {
                let mut known = facts.clone();
                known.enter(l);
                let chain = l.kind == LoopKind::Sequential && l.body.iter().all(is_flat);
                let body = if chain { self.chain(l, &known) } else { self.block(&l.body, &known) };
                Stmt::Loop(Loop { body, ..l.clone() })
            }
            other => other.map(&mut Expr::clone, &mut |inner| self.block(inner, facts)),
        };
        stmts.iter().map(&mut one).collect()
    }

    /// The body of a loop of assignments, with both values of its choices in front of them.
    fn chain(&mut self, l: &Loop, facts: &Facts) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(l.body.len());
        for stmt in &l.body {
            let Stmt::Assign(a) = stmt else {
                out.push(stmt.clone());
                continue;
            };
            match self.choice(a, facts) {
                Some((choice, ty)) => {
                    let chosen = self.both(&choice, ty, &mut out);
                    out.push(Stmt::Assign(Assign {
                        value: replaced(&a.value, &choice, &chosen),
                        ..a.clone()
                    }));
                    self.changed = true;
                }
                None => out.push(stmt.clone()),
            }
        }
        out
    }

    /// The choice in a number that is made of what it was, with the type of its values.
    fn choice(&self, a: &Assign, facts: &Facts) -> Option<(Expr, Scalar)> {
        let own = &a.target.array;
        let waits = a.target.indices.is_empty() && (a.update.is_some() || a.value.reads(own));
        let found = first_choice(&a.value).filter(|_| waits)?;
        let Expr::Select(cond, then, otherwise) = found else { return None };
        let ty = self.types.type_of(found).ok().filter(|ty| matches!(ty, Scalar::I32 | Scalar::I64))?;
        let reads = |e: &Expr| e.loads().any(|access| !access.indices.is_empty());
        let sides = [&**then, &**otherwise];
        let right = !found.reads(own)
            && reads(cond)
            && sides.iter().all(|side| reads(side) && self.is_safe(side, facts));
        right.then(|| (found.clone(), ty))
    }

    /// Whether an expression may be computed where it is not needed.
    fn is_safe(&self, e: &Expr, facts: &Facts) -> bool {
        match e {
            Expr::Load(access) => {
                let Some(dims) = self.extents.get(&access.array) else { return false };
                let within = |(i, dim): (&Expr, &Expr)| {
                    !i.has_loads()
                        && facts.proves_natural(i)
                        && facts.decide(CompareOp::Lt, i, dim) == Some(true)
                };
                dims.len() == access.indices.len() && access.indices.iter().zip(dims).all(within)
            }
            Expr::Int(_) | Expr::I32(_) => true,
            Expr::Binary(
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max,
                a,
                b,
            ) => self.is_safe(a, facts) && self.is_safe(b, facts),
            _ => false,
        }
    }

    /// Declares both values and the chosen one, whose name comes back.
    fn both(&mut self, choice: &Expr, ty: Scalar, out: &mut Vec<Stmt>) -> Expr {
        let Expr::Select(cond, then, otherwise) = choice else { return choice.clone() };
        let mut name = |base: &str| {
            let name = fresh(&Name::new(base), &self.taken);
            self.taken.insert(name.clone());
            name
        };
        let [chosen, so, not] = [name("chosen"), name("if_so"), name("if_not")];
        let load = |name: &Name| Expr::Load(Access::scalar(name.clone()));
        out.push(Stmt::local(chosen.clone(), ty, Vec::new()));
        for (name, value) in [(&so, then), (&not, otherwise)] {
            out.push(Stmt::local(name.clone(), ty, Vec::new()));
            out.push(Stmt::assign(Access::scalar(name.clone()), (**value).clone()));
        }
        let value = Expr::Select(cond.clone(), Box::new(load(&so)), Box::new(load(&not)));
        out.push(Stmt::assign(Access::scalar(chosen.clone()), value));
        load(&chosen)
    }
}

fn is_flat(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Local(_) | Stmt::Assign(_))
}

/// The first choice that is made in any case.
fn first_choice(e: &Expr) -> Option<&Expr> {
    match e {
        Expr::Select(..) => Some(e),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) | Expr::Load(_) => None,
        _ => e.children().find_map(first_choice),
    }
}

fn replaced(e: &Expr, old: &Expr, new: &Expr) -> Expr {
    if e == old { new.clone() } else { e.map_children(&mut |child| replaced(child, old, new)) }
}
