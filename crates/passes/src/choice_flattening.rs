//! A choice within a choice in lanes is made before it: `r = a ? x : (b ? y : z)` becomes
//! `m = b ? y : z; r = a ? x : m`.
//!
//! gcc 12 makes branches of the nested form, and masks of the branches: three to four times as many
//! instructions as the two blends of the other form (a 3 by 3 maximum pooling took 0.27 ms so, and
//! takes 0.08). Only in innermost vector loops, and only for choices that may be made where they
//! are not needed: of variables that have a value there, of elements that the statement reads in
//! any case, and of arithmetic on floating-point numbers.

use std::collections::BTreeSet;

use loops::typing::Types;
use loops::visit::{check_depth, fresh, taken, with_distinct_locals};
use loops::{Access, Assign, BinaryOp, Expr, Function, LoopKind, Name, Scalar, Stmt};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "choice-flattening",
        literature: "light-weight if-conversion (Chuang, Calder, Ferrante 2003)",
        about: "a choice within a choice in lanes is made before it",
    },
    run: |function| changed(function, flattened(function)),
};

/// The function without such choices. A function that is nested too deeply, or has none, comes back
/// as it is.
fn flattened(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let types = Types::of_all(&distinct);
    let mut pass = Flattening { taken: taken(&distinct), types, changed: false };
    let body = pass.block(&distinct.body);
    if pass.changed { Function { body, ..distinct } } else { function.clone() }
}

struct Flattening {
    taken: BTreeSet<Name>,
    types: Types,
    changed: bool,
}

/// What has a value before a statement: scalars of this body, and elements that it reads in any
/// case.
struct Known {
    scalars: BTreeSet<Name>,
    read: Vec<Access>,
}

impl Flattening {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts
            .iter()
            .map(|stmt| match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Vector && l.body.iter().all(is_flat) => {
                    Stmt::Loop(loops::Loop { body: self.lanes(&l.body), ..l.clone() })
                }
                other => other.map(&mut Expr::clone, &mut |inner| self.block(inner)),
            })
            .collect()
    }

    /// The body of a loop of assignments, with inner choices in front of their statements.
    fn lanes(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let (mut out, mut scalars) = (Vec::with_capacity(body.len()), BTreeSet::new());
        for stmt in body {
            let Stmt::Assign(a) = stmt else {
                out.push(stmt.clone());
                continue;
            };
            let mut known = Known { scalars: scalars.clone(), read: Vec::new() };
            always_read(&a.value, &mut known.read);
            let value = self.without_inner(&a.value, &known, false, &mut out);
            out.push(Stmt::Assign(Assign { value, ..a.clone() }));
            if a.target.indices.is_empty() {
                scalars.insert(a.target.array.clone());
            }
        }
        out
    }

    /// The expression, with choices inside of choices in variables.
    fn without_inner(&mut self, e: &Expr, known: &Known, inside: bool, out: &mut Vec<Stmt>) -> Expr {
        let Expr::Select(cond, then, otherwise) = e else {
            return match e {
                // Subscripts, and what is evaluated under a condition that is no choice, stay.
                Expr::Load(_) | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => e.clone(),
                _ => e.map_children(&mut |child| self.without_inner(child, known, inside, out)),
            };
        };
        let sides = [then, otherwise].map(|side| Box::new(self.without_inner(side, known, true, out)));
        let [then, otherwise] = sides;
        let choice = Expr::Select(cond.clone(), then, otherwise);
        let ty = self.types.type_of(e).ok();
        match ty.filter(|_| inside && self.is_safe(e, known)) {
            Some(ty) => self.named(choice, ty, out),
            None => choice,
        }
    }

    /// Declares a variable with a value, and reads it.
    fn named(&mut self, value: Expr, ty: Scalar, out: &mut Vec<Stmt>) -> Expr {
        let name = fresh(&Name::new("chosen"), &self.taken);
        self.taken.insert(name.clone());
        self.changed = true;
        out.push(Stmt::local(name.clone(), ty, Vec::new()));
        out.push(Stmt::assign(Access::scalar(name.clone()), value));
        Expr::Load(Access::scalar(name))
    }

    /// Whether an expression may be computed where it is not needed.
    fn is_safe(&self, e: &Expr, known: &Known) -> bool {
        match e {
            Expr::Load(access) => {
                (access.indices.is_empty() && known.scalars.contains(&access.array))
                    || known.read.contains(access)
            }
            Expr::Unary(..) | Expr::Binary(..) => {
                let float = matches!(self.types.type_of(e), Ok(Scalar::F32 | Scalar::F64));
                let cheap = match e {
                    Expr::Unary(op, _) => matches!(op, loops::UnaryOp::Neg | loops::UnaryOp::Abs),
                    Expr::Binary(op, ..) => matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
                    _ => false,
                };
                float && cheap && e.children().all(|child| self.is_safe(child, known))
            }
            Expr::Compare(..) | Expr::Select(..) => e.children().all(|child| self.is_safe(child, known)),
            Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) => true,
            Expr::Var(_) | Expr::Cast(..) | Expr::Call { .. } => false,
        }
    }
}

/// The accesses that an expression makes in any case.
fn always_read(e: &Expr, out: &mut Vec<Access>) {
    match e {
        Expr::Load(access) => out.push(access.clone()),
        Expr::Select(cond, ..) => always_read(cond, out),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, first, _) => always_read(first, out),
        _ => e.children().for_each(|child| always_read(child, out)),
    }
}

fn is_flat(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Local(_) | Stmt::Assign(_))
}
