//! Maxima and minima that are written as choices: `if (d > r) r = d;` is a reduction.
//!
//! The loop takes the maximum of the values in a variable of its own, and behind it `r` is
//! compared with that once. So parts of the maximum can be taken side by side. This is exact for
//! values that have no sign, such as `fabs(x)`, squares and sums of these:
//!
//! - A value that is NaN changes nothing, here and there: a maximum takes a number before a NaN.
//! - If `r` is NaN it stays so, as nothing is above it.
//! - Among equal values all have the same bits. Of values with a sign, zeros have two, and the
//!   order would decide which one stays. Left out for that reason.
//!
//! Also left out: integers, for which the choice is a maximum as it stands, and loops that do
//! something else with `r`.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::{check_depth, fresh, locals, set_once, taken};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Name, ReduceOp, Scalar, Stmt,
    Storage, UnaryOp, Update,
};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "reduction-recognition",
        literature: "recognition of reductions (Pottenger and Eigenmann 1995)",
        about: "`if (d > r) r = d` in a loop is the maximum of the values, where these have no sign",
    },
    run: |function| changed(function, recognised(function)),
};

/// The function with such loops. Takes time in proportion to its size, times the depth of its
/// loops. A function that is nested too deeply to look at comes back as it is.
fn recognised(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let params = function.params.iter().map(|p| (p.name.clone(), &p.elem));
    let declared = params.chain(locals(&function.body).map(|l| (l.name.clone(), &l.elem)));
    let floats = declared.filter_map(|(name, elem)| match elem {
        Elem::Scalar(scalar @ (Scalar::F32 | Scalar::F64)) => Some((name, *scalar)),
        _ => None,
    });
    let mut found =
        Recognition { floats: floats.collect(), values: set_once(function), taken: taken(function) };
    Function { body: found.block(&function.body), ..function.clone() }
}

struct Recognition {
    floats: BTreeMap<Name, Scalar>,
    values: BTreeMap<Name, Expr>,
    taken: BTreeSet<Name>,
}

/// `r = d > r ? d : r`.
struct Choice {
    target: Access,
    compare: CompareOp,
    value: Expr,
}

impl Recognition {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            let Stmt::Loop(_) = stmt else {
                out.push(stmt.map(&mut Expr::clone, &mut |inner| self.block(inner)));
                continue;
            };
            let mut behind = Vec::new();
            let mut now = stmt.clone();
            for choice in self.choices(stmt) {
                now = self.reduced(&now, &choice, &mut out, &mut behind);
            }
            match behind.is_empty() {
                true => out.push(stmt.map(&mut Expr::clone, &mut |inner| self.block(inner))),
                false => out.push(now),
            }
            out.append(&mut behind);
        }
        out
    }

    /// The choices in a loop whose targets it does nothing else with.
    fn choices(&self, around: &Stmt) -> Vec<Choice> {
        let inside: BTreeSet<&Name> = match around {
            Stmt::Loop(l) => locals(&l.body).map(|local| &local.name).collect(),
            _ => BTreeSet::new(),
        };
        let alone = |choice: &Choice| {
            let name = &choice.target.array;
            let uses = around
                .nodes()
                .filter(|stmt| stmt.written() == Some(name) || stmt.exprs().iter().any(|e| e.reads(name)));
            uses.count() == 1 && !inside.contains(name)
        };
        let all = around.nodes().filter_map(|stmt| match stmt {
            Stmt::Assign(a) => choice(a),
            _ => None,
        });
        let known =
            |c: &Choice| self.floats.contains_key(&c.target.array) && self.has_no_sign(&c.value, DEEPEST);
        all.filter(|c| known(c) && alone(c)).collect()
    }

    /// The loop with a reduction in the place of a choice, with what stands before and behind it.
    fn reduced(
        &mut self,
        around: &Stmt,
        choice: &Choice,
        before: &mut Vec<Stmt>,
        behind: &mut Vec<Stmt>,
    ) -> Stmt {
        let scalar = self.floats[&choice.target.array];
        let greatest = matches!(choice.compare, CompareOp::Gt | CompareOp::Ge);
        let (op, word) = if greatest { (ReduceOp::Max, "greatest") } else { (ReduceOp::Min, "least") };
        let name = fresh(&Name::new(format!("{word}_{}", choice.target.array)), &self.taken);
        self.taken.insert(name.clone());
        let own = Access { array: name.clone(), ..choice.target.clone() };
        let sign = if greatest { -1.0 } else { 1.0 };
        let first = match scalar {
            Scalar::F32 => Expr::f32(sign as f32 * f32::INFINITY),
            _ => Expr::f64(sign * f64::INFINITY),
        };
        let (elem, dims, storage) = (Elem::Scalar(scalar), Vec::new(), Storage::Auto);
        before.push(Stmt::Local(ArrayDecl { name, elem, dims, storage }));
        let set =
            |target: &Access, value| Assign { label: None, target: target.clone(), update: None, value };
        before.push(Stmt::Assign(set(&own, first)));
        let (new, old) = (Expr::Load(own.clone()), Expr::Load(choice.target.clone()));
        let above = Expr::compare(choice.compare, new.clone(), old.clone());
        let chosen = Expr::Select(Box::new(above), Box::new(new), Box::new(old));
        behind.push(Stmt::Assign(set(&choice.target, chosen)));
        let update = Some(Update { op, reorder: true });
        replaced(around, choice, &|a| Assign {
            target: own.clone(),
            update,
            value: choice.value.clone(),
            ..a.clone()
        })
    }

    /// Whether a number of floating point has no sign, unless it is NaN: neither below 0 nor -0.
    fn has_no_sign(&self, e: &Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let both = |a: &Expr, b: &Expr| self.has_no_sign(a, depth) && self.has_no_sign(b, depth);
        match e {
            Expr::F32(value) => value.value().is_sign_positive(),
            Expr::F64(value) => value.value().is_sign_positive(),
            Expr::Unary(UnaryOp::Abs | UnaryOp::Exp, _) => true,
            Expr::Unary(UnaryOp::Sqrt, a) => self.has_no_sign(a, depth),
            Expr::Binary(BinaryOp::Mul, a, b) => a == b || both(a, b),
            Expr::Binary(BinaryOp::Add | BinaryOp::Div | BinaryOp::Max | BinaryOp::Min, a, b) => both(a, b),
            Expr::Load(access) if access.indices.is_empty() && access.path.is_empty() => {
                let value = self.values.get(&access.array);
                self.floats.contains_key(&access.array) && value.is_some_and(|v| self.has_no_sign(v, depth))
            }
            _ => false,
        }
    }
}

/// How far values are looked into.
const DEEPEST: usize = 24;

/// An assignment as a choice of the greater or the smaller one.
fn choice(a: &Assign) -> Option<Choice> {
    let Expr::Select(cond, new, old) = &a.value else { return None };
    let Expr::Compare(op, left, right) = &**cond else { return None };
    let plain = a.update.is_none() && a.target.indices.is_empty() && a.target.path.is_empty();
    let own = |e: &Expr| matches!(e, Expr::Load(access) if *access == a.target);
    let compare = match (left == new && own(right), own(left) && right == new) {
        (true, _) => *op,
        (_, true) => op.mirrored(),
        _ => return None,
    };
    let ordered = matches!(compare, CompareOp::Gt | CompareOp::Ge | CompareOp::Lt | CompareOp::Le);
    let value = (**new).clone();
    let taken = plain && ordered && own(old) && !value.reads(&a.target.array);
    taken.then(|| Choice { target: a.target.clone(), compare, value })
}

/// A statement with another assignment in the place of a choice.
fn replaced(stmt: &Stmt, choice: &Choice, new: &dyn Fn(&Assign) -> Assign) -> Stmt {
    match stmt {
        Stmt::Assign(a) if a.target == choice.target => Stmt::Assign(new(a)),
        other => other.map(&mut Expr::clone, &mut |inner| {
            inner.iter().map(|stmt| replaced(stmt, choice, new)).collect()
        }),
    }
}
