//! What takes long to compute and is the same in all iterations of a loop is computed before it:
//! quotients, roots, exponentials, and the numbers that programs give names to.
//!
//! C compilers leave much of this where it is, since a division may trap, and a function may set
//! `errno`. Only out of loops that are shown to run at least once, and only what is computed in
//! each iteration: then the same operations are done on the same numbers, less often. Not here:
//! sums and products, which C compilers move themselves.

use std::collections::BTreeSet;

use crate::pass::{Pass, Step, changed};
use loops::facts::Facts;
use loops::typing::Types;
use loops::visit::{check_depth, fresh, nodes, taken, with_distinct_locals};
use loops::{
    Access, BinaryOp, CompareOp, Elem, Expr, Function, Local, Loop, Name, Scalar, Stmt, Storage, UnaryOp,
};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "invariant-code-motion",
        literature: "loop-invariant code motion",
        about: "expensive operations that are the same in all iterations are computed before the loop",
    },
    run: |function| changed(function, invariants(function)),
};

/// The function with such computations before their loops. Takes time in proportion to its size,
/// times the depth of its loops.
///
/// A function that is nested too deeply to look at, or has nothing to move, comes back as it is.
fn invariants(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let types = Types::of_all(&distinct);
    let mut hoist = Hoist { names: taken(&distinct), types, changed: false };
    let body = hoist.stmts(&distinct.body, &Facts::of(&distinct));
    match hoist.changed {
        true => Function { body, ..distinct },
        false => function.clone(),
    }
}

struct Hoist {
    names: BTreeSet<Name>,
    types: Types,
    changed: bool,
}

impl Hoist {
    fn stmts(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => {
                    let mut known = facts.clone();
                    known.enter(l);
                    let mut new = Loop { body: self.stmts(&l.body, &known), ..l.clone() };
                    if facts.decide(CompareOp::Lt, &l.lower, &l.upper) == Some(true) {
                        result.append(&mut self.out_of(&mut new));
                    }
                    result.push(Stmt::Loop(new));
                }
                other => result.push(other.map(&mut Expr::clone, &mut |inner| self.stmts(inner, facts))),
            }
        }
        result
    }

    /// Takes what need not be in the body of a loop out of it: statements for the place before the
    /// loop.
    fn out_of(&mut self, l: &mut Loop) -> Vec<Stmt> {
        let mut changing = changing(l);
        let (mut body, mut before) = (Vec::with_capacity(l.body.len()), Vec::new());
        let stmts = std::mem::take(&mut l.body);
        for (k, stmt) in stmts.iter().enumerate() {
            match stmt {
                // a number with a name that is given once
                Stmt::Local(local) if given_once(local, &stmts[k + 1..], &changing) => {
                    changing.remove(&local.name);
                    before.push(stmt.clone());
                }
                Stmt::Assign(a) if a.target.indices.is_empty() && !changing.contains(&a.target.array) => {
                    before.push(stmt.clone());
                }
                Stmt::Assign(a) => {
                    let value = self.without(&a.value, &changing, &mut before);
                    body.push(Stmt::Assign(loops::Assign { value, ..a.clone() }));
                }
                other => body.push(other.clone()),
            }
        }
        self.changed |= !before.is_empty();
        l.body = body;
        before
    }

    /// The expression with variables for what takes long and does not change.
    fn without(&mut self, e: &Expr, changing: &BTreeSet<Name>, before: &mut Vec<Stmt>) -> Expr {
        if is_the_same(e, changing) {
            let ty = self.types.type_of(e).ok().filter(|ty| ty.is_float() && self.takes_long(e));
            let Some(ty) = ty else { return e.clone() };
            return Expr::Load(Access::scalar(self.variable(ty, e, before)));
        }
        match e {
            // what is chosen may not be computed otherwise
            Expr::Select(cond, then, otherwise) => {
                let cond = self.without(cond, changing, before);
                Expr::Select(Box::new(cond), then.clone(), otherwise.clone())
            }
            // subscripts take no time
            Expr::Load(_) => e.clone(),
            _ => e.map_children(&mut |child| self.without(child, changing, before)),
        }
    }

    /// A variable that has this value in the loop; `before` is all that this loop has before it, so
    /// what has the value there has it throughout.
    fn variable(&mut self, ty: Scalar, value: &Expr, before: &mut Vec<Stmt>) -> Name {
        let same = before.iter().find_map(|stmt| match stmt {
            Stmt::Assign(a) if a.value == *value => Some(&a.target.array),
            _ => None,
        });
        if let Some(name) = same {
            return name.clone();
        }
        let name = fresh(&Name::new(NAME), &self.names);
        self.names.insert(name.clone());
        let elem = Elem::Scalar(ty);
        self.types.declare_array(&name, &elem, 0);
        before.push(Stmt::Local(Local { name: name.clone(), elem, dims: vec![], storage: Storage::Auto }));
        before.push(Stmt::assign(Access::scalar(name.clone()), value.clone()));
        name
    }

    fn takes_long(&self, e: &Expr) -> bool {
        e.nodes().any(|e| match e {
            Expr::Unary(op, _) => *op == UnaryOp::Sqrt || op.is_transcendental(),
            Expr::Binary(op, ..) => {
                let slow = matches!(op, BinaryOp::Div | BinaryOp::Rem) || op.is_transcendental();
                slow && self.types.type_of(e).is_ok_and(Scalar::is_float)
            }
            Expr::Call { .. } => true,
            _ => false,
        })
    }
}

/// What variables for values that programs have no name for are called.
const NAME: &str = "same";

/// The loop's variable, and all that is written or declared in it.
fn changing(l: &Loop) -> BTreeSet<Name> {
    let mut found: BTreeSet<Name> = l.reductions.iter().map(|(_, name)| name.clone()).collect();
    found.insert(l.var.clone());
    for stmt in nodes(&l.body) {
        match stmt {
            Stmt::Assign(a) => {
                found.insert(a.target.array.clone());
            }
            Stmt::Loop(inner) => {
                found.insert(inner.var.clone());
            }
            Stmt::Local(local) => {
                found.insert(local.name.clone());
            }
            Stmt::Copy(copy) => {
                found.insert(copy.to.array.clone());
            }
            _ => {}
        }
    }
    found
}

fn is_the_same(e: &Expr, changing: &BTreeSet<Name>) -> bool {
    let here = match e {
        Expr::Var(name) => !changing.contains(name),
        Expr::Load(access) => !changing.contains(&access.array),
        _ => true,
    };
    here && e.children().all(|child| is_the_same(child, changing))
}

/// Whether a number is given by one statement of these, in every iteration, the same each time.
fn given_once(local: &Local, rest: &[Stmt], changing: &BTreeSet<Name>) -> bool {
    let gives = |stmt: &Stmt| {
        let mut count = 0;
        for stmt in stmt.nodes() {
            count += match stmt {
                Stmt::Assign(a) => usize::from(a.target.array == local.name),
                Stmt::Copy(copy) => usize::from(copy.to.array == local.name),
                Stmt::Loop(l) => usize::from(l.reductions.iter().any(|(_, name)| *name == local.name)),
                _ => 0,
            };
        }
        count
    };
    let here = rest.iter().any(|stmt| match stmt {
        Stmt::Assign(a) => {
            let whole = a.target.array == local.name && a.target.path.is_empty() && a.update.is_none();
            whole && is_the_same(&a.value, changing)
        }
        _ => false,
    });
    local.dims.is_empty()
        && matches!(local.elem, Elem::Scalar(_))
        && here
        && rest.iter().map(gives).sum::<usize>() == 1
}
