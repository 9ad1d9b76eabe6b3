//! Elements that rows at once hand to each other are kept in scalars that are handed on from step
//! to step.
//!
//! With rows at once that are a step behind each other, `for t { unroll r in 0..4 { D[i + r][t - r]
//! = ... } }` reads what it stored one or two steps before: in the same row, and in the row above.
//! Through memory each step would wait for stores and loads. The rows are written out, each has a
//! scalar for what it computes, and one for each step that it is read later. Stores stay where they
//! were. Where data chooses between two integers, both are computed, so that no jump is guessed.
//!
//! Left out: elements that are updated, loops of other statements than assignments, and elements
//! of which it is not seen that nothing else stores them between.

use std::collections::{BTreeMap, BTreeSet};

use loops::access::{Context, accesses};
use loops::facts::Facts;
use loops::poly::linear;
use loops::simplify::tidy;
use loops::visit::{check_depth, fresh, taken};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt,
    Storage,
};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "rotating-registers",
        literature: "scalar replacement with rotating registers (Callahan, Carr, Kennedy 1990)",
        about: "what rows at once compute for each other and for later steps is kept in scalars",
    },
    run: |function| changed(function, rotated(function)),
};

/// Steps that an element is kept.
const MOST_STEPS: i64 = 3;

/// Assignments of a step that are written out.
const MOST_ROWS: usize = 8;

/// The function with such elements in scalars. A function that is nested too deeply comes back as
/// it is.
fn rotated(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut pass = Rotation { function, taken: taken(function), integers: BTreeMap::new() };
    Function { body: pass.block(&function.body, &Facts::of(function)), ..function.clone() }
}

struct Rotation<'a> {
    function: &'a Function,
    taken: BTreeSet<Name>,
    /// The scalars that are integers.
    integers: BTreeMap<Name, Scalar>,
}

/// An element that was stored by the assignment `row`, `steps` before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    row: usize,
    steps: i64,
}

impl Rotation<'_> {
    fn block(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            result.push(match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Vector => stmt.clone(),
                Stmt::Loop(l) => match self.rows(l, facts) {
                    Some(stmt) => stmt,
                    None => {
                        let mut known = facts.clone();
                        known.enter(l);
                        Stmt::Loop(Loop { body: self.block(&l.body, &known), ..l.clone() })
                    }
                },
                other => other.map(&mut Expr::clone, &mut |inner| self.block(inner, facts)),
            });
        }
        result
    }

    /// The loop with its rows written out and their elements in scalars; none if it has no rows.
    fn rows(&mut self, l: &Loop, facts: &Facts) -> Option<Stmt> {
        let rows = written_out(l)?;
        let kept: Vec<BTreeMap<Access, Kept>> = (0..rows.len()).map(|at| reads(&rows, at, &l.var)).collect();
        let mut longest = BTreeMap::new();
        for kept in kept.iter().flat_map(BTreeMap::values) {
            let steps = longest.entry(kept.row).or_insert(0);
            *steps = kept.steps.max(*steps);
        }
        if longest.values().all(|steps| *steps == 0) {
            return None;
        }
        let mut names = BTreeMap::new();
        let (mut before, mut each) = (Vec::new(), Vec::new());
        for (row, most) in &longest {
            for steps in 0..=*most {
                let name = fresh(&Name::new(format!("{}_kept", rows[*row].target.array)), &self.taken);
                self.taken.insert(name.clone());
                let local = self.local(&rows[*row].target, &name)?;
                let scalar = Access::scalar(name);
                names.insert(Kept { row: *row, steps }, scalar.clone());
                if steps == 0 {
                    each.push(local);
                    continue;
                }
                let first = self.before_first(&rows[*row].target, l, steps, facts)?;
                before.extend([local, Stmt::assign(scalar, Expr::Load(first))]);
            }
        }
        let stays = self.stay(&rows, l);
        for (element, scalar) in &stays {
            let local = self.local(element, &scalar.array)?;
            before.extend([local, Stmt::assign(scalar.clone(), Expr::Load(element.clone()))]);
        }
        let mut known = facts.clone();
        known.enter(l);
        let above = self.above(&rows, &kept, &known);
        for (element, scalar) in &above {
            let local = self.local(element, &scalar.array)?;
            each.extend([local, Stmt::assign(scalar.clone(), Expr::Load(element.clone()))]);
        }
        let stays: BTreeMap<Access, Access> = stays.into_iter().chain(above).collect();
        for (at, row) in rows.iter().enumerate() {
            let load = |access: Access| {
                let scalar = kept[at].get(&access).and_then(|kept| names.get(kept));
                Expr::Load(scalar.or(stays.get(&access)).cloned().unwrap_or(access))
            };
            let value = row.value.map_loads(&mut { load });
            let value = self.choices(&value, &mut each);
            match names.get(&Kept { row: at, steps: 0 }) {
                Some(scalar) => {
                    each.push(Stmt::assign(scalar.clone(), value));
                    each.push(Stmt::Assign(Assign { value: Expr::Load(scalar.clone()), ..row.clone() }));
                }
                None => each.push(Stmt::Assign(Assign { value, ..row.clone() })),
            }
        }
        for (row, most) in &longest {
            for steps in (1..=*most).rev() {
                let at = |steps| names[&Kept { row: *row, steps }].clone();
                each.push(Stmt::assign(at(steps), Expr::Load(at(steps - 1))));
            }
        }
        let whole = Stmt::Loop(Loop { body: each, ..l.clone() });
        let then = before.into_iter().chain([whole]).collect();
        let cond = Expr::compare(CompareOp::Lt, l.lower.clone(), l.upper.clone());
        Some(Stmt::If { cond, then, otherwise: Vec::new() })
    }

    /// What every step reads, of arrays that none stores, and its scalar: a C compiler does not
    /// know that it stays.
    fn stay(&mut self, rows: &[Assign], l: &Loop) -> BTreeMap<Access, Access> {
        let stored: BTreeSet<&Name> = rows.iter().map(|row| &row.target.array).collect();
        let body: Vec<Stmt> = rows.iter().cloned().map(Stmt::Assign).collect();
        let mut found = BTreeMap::new();
        for site in accesses(&body) {
            let element = site.access;
            let always = site.context.iter().all(|c| matches!(c, Context::Mark(_)));
            let moves = element.indices.iter().any(|e| e.mentions(&l.var) || e.has_loads());
            let number = matches!(self.elem(element), Some(Elem::Scalar(_)));
            if always && number && !moves && !element.indices.is_empty() && !stored.contains(&element.array) {
                let name = fresh(&Name::new(format!("{}_value", element.array)), &self.taken);
                if !found.contains_key(element) && found.len() < MOST_ROWS {
                    self.taken.insert(name.clone());
                    found.insert(element.clone(), Access::scalar(name));
                }
            }
        }
        found
    }

    /// What rows read of the row above them all, where it is seen to exist: it may be read even
    /// where data says that it is not needed.
    fn above(
        &mut self,
        rows: &[Assign],
        kept: &[BTreeMap<Access, Kept>],
        facts: &Facts,
    ) -> BTreeMap<Access, Access> {
        let mut found = BTreeMap::new();
        for (row, kept) in rows.iter().zip(kept) {
            let target = &row.target;
            // Nothing of the step may have stored it.
            let other = |access: &Access| rows.iter().all(|row| differs(&row.target, access));
            let exists = |access: &Access| {
                target.indices.iter().zip(&access.indices).all(|(of_target, e)| {
                    let ahead =
                        linear::<i128>(&(of_target.clone() - e.clone())).and_then(|d| d.as_constant());
                    let natural = || facts.proves(&Expr::compare(CompareOp::Ge, e.clone(), Expr::Int(0)));
                    ahead.is_some_and(|ahead| ahead == 0 || ahead > 0 && natural())
                })
            };
            for access in row.value.loads().filter(|access| access.array == target.array) {
                if !kept.contains_key(access)
                    && other(access)
                    && exists(access)
                    && !found.contains_key(access)
                {
                    let name = fresh(&Name::new(format!("{}_above", access.array)), &self.taken);
                    self.taken.insert(name.clone());
                    found.insert(access.clone(), Access::scalar(name));
                }
            }
        }
        found
    }

    /// An expression in which both sides of each choice between integers are at hand: where data
    /// chooses at random, a jump is guessed wrongly. The sides are scalars of the step.
    fn choices(&mut self, e: &Expr, each: &mut Vec<Stmt>) -> Expr {
        let Expr::Select(cond, then, otherwise) = e else { return e.clone() };
        let ty = |e: &Expr| self.integer(e);
        let (Some(ty), true) = (ty(then), cond.has_loads()) else { return e.clone() };
        if self.integer(otherwise) != Some(ty) {
            return e.clone();
        }
        let mut side = |value: &Expr| {
            let name = fresh(&Name::new("side"), &self.taken);
            self.taken.insert(name.clone());
            let (elem, storage) = (Elem::Scalar(ty), Storage::Auto);
            each.push(Stmt::Local(ArrayDecl { name: name.clone(), elem, dims: Vec::new(), storage }));
            each.push(Stmt::assign(Access::scalar(name.clone()), wrapping(value, ty)));
            Box::new(Expr::Load(Access::scalar(name)))
        };
        let (then, otherwise) = (side(then), side(otherwise));
        Expr::Select(cond.clone(), then, otherwise)
    }

    /// The type of an expression of few operations on integers in scalars, which may be computed
    /// whatever they are.
    fn integer(&self, e: &Expr) -> Option<Scalar> {
        match e {
            Expr::I32(_) => Some(Scalar::I32),
            Expr::Load(access) if access.indices.is_empty() => self.integers.get(&access.array).copied(),
            Expr::Binary(
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max,
                a,
                b,
            ) => self.integer(a).filter(|ty| *ty == Scalar::I32 && self.integer(b) == Some(*ty)),
            _ => None,
        }
    }

    /// The element that is stored some steps before the first one; none if it is not seen to exist.
    fn before_first(&self, target: &Access, l: &Loop, steps: i64, facts: &Facts) -> Option<Access> {
        let first = tidy(&(l.lower.clone() - Expr::Int(steps)));
        let of_first = |e: &Expr| tidy(&e.substitute(&|v| (*v == l.var).then(|| first.clone())));
        let access = target.map_indices(&mut { of_first });
        // What is before the element of the first step, and not before the first element.
        let natural = |e: &Expr| facts.proves(&Expr::compare(CompareOp::Ge, e.clone(), Expr::Int(0)));
        let inside = |(now, then): (&Expr, &Expr)| !now.mentions(&l.var) || natural(then);
        target.indices.iter().zip(&access.indices).all(inside).then_some(access)
    }

    /// The declaration of a scalar for an element.
    fn local(&mut self, element: &Access, name: &Name) -> Option<Stmt> {
        let elem = self.elem(element)?;
        if let Elem::Scalar(ty @ (Scalar::I32 | Scalar::I64)) = elem {
            self.integers.insert(name.clone(), ty);
        }
        let (name, storage) = (name.clone(), Storage::Auto);
        Some(Stmt::Local(ArrayDecl { name, elem, dims: Vec::new(), storage }))
    }

    /// The type of an element that the function's parameters or only one local array have.
    fn elem(&self, access: &Access) -> Option<Elem> {
        let params = self.function.params.iter().filter(|p| p.name == access.array).map(|p| &p.elem);
        let locals = loops::visit::locals(&self.function.body).filter(|l| l.name == access.array);
        let mut all = params.chain(locals.map(|local| &local.elem));
        let elem = all.next()?.clone();
        (access.path.is_empty() && all.next().is_none()).then_some(elem)
    }
}

/// The assignments of a step, if it is nothing but rows at once.
fn written_out(l: &Loop) -> Option<Vec<Assign>> {
    let [Stmt::Loop(rows)] = l.body.as_slice() else { return None };
    let (Expr::Int(first), Expr::Int(end)) = (&rows.lower, &rows.upper) else { return None };
    if l.kind != LoopKind::Sequential || l.step > 1 || rows.kind != LoopKind::Unroll(None) || rows.step > 1 {
        return None;
    }
    let mut all = Vec::new();
    for row in *first..*end {
        for stmt in &rows.body {
            let Stmt::Assign(assign) = stmt else { return None };
            if assign.update.is_some() || all.len() == MOST_ROWS {
                return None;
            }
            let put = |e: &Expr| tidy(&e.substitute(&|v| (*v == rows.var).then_some(Expr::Int(row))));
            let label = assign.label.clone().filter(|_| row == *first);
            let (target, value) =
                (assign.target.map_indices(&mut { put }), loads_tidied(&assign.value, &put));
            all.push(Assign { label, target, value, ..assign.clone() });
        }
    }
    (all.len() > 1).then_some(all)
}

/// An expression with other subscripts.
fn loads_tidied(e: &Expr, put: &dyn Fn(&Expr) -> Expr) -> Expr {
    put(e).map_loads(&mut |access| Expr::Load(access.map_indices(&mut |e| tidy(e))))
}

/// What an assignment reads that one of them has stored in this step or some before, and nothing
/// has stored since.
fn reads(rows: &[Assign], at: usize, var: &Name) -> BTreeMap<Access, Kept> {
    let mut found = BTreeMap::new();
    for access in rows[at].value.loads() {
        // Later rows of the step have not been.
        let last = |row: usize| i64::from(row >= at);
        let mut all =
            (0..rows.len()).flat_map(|row| (last(row)..=MOST_STEPS).map(move |steps| Kept { row, steps }));
        let Some(kept) =
            all.find(|kept| is_read(&rows[kept.row].target, access, kept.steps, var) == Some(true))
        else {
            continue;
        };
        let since =
            (0..rows.len()).flat_map(|row| (last(row)..=kept.steps).map(move |steps| Kept { row, steps }));
        // In the step that stored it, only what came after.
        let mut since = since.filter(|other| other.steps < kept.steps || other.row > kept.row);
        let other = |other: Kept| is_read(&rows[other.row].target, access, other.steps, var) == Some(false);
        if since.all(other) {
            found.insert(access.clone(), kept);
        }
    }
    found
}

/// Whether two elements are seen to be different ones in the same step.
fn differs(a: &Access, b: &Access) -> bool {
    let constant = |(a, b): (&Expr, &Expr)| {
        linear::<i128>(&(a.clone() - b.clone())).and_then(|difference| difference.as_constant())
    };
    a.array != b.array || a.indices.iter().zip(&b.indices).any(|ab| constant(ab).is_some_and(|d| d != 0))
}

/// The operations of a side that may not be needed: what they would overflow to is not looked at,
/// but C has no such sums of signed numbers.
fn wrapping(e: &Expr, ty: Scalar) -> Expr {
    let Scalar::I32 = ty else { return e.clone() };
    match e {
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
            let natural = |e: &Expr| Expr::Cast(Scalar::U32, Box::new(wrapping(e, ty)));
            Expr::Cast(ty, Box::new(Expr::binary(*op, natural(a), natural(b))))
        }
        other => other.map_children(&mut |e| wrapping(e, ty)),
    }
}

/// Whether the element that is stored some steps before is the one that is read; none if neither
/// that nor the contrary is seen.
fn is_read(stored: &Access, read: &Access, steps: i64, var: &Name) -> Option<bool> {
    if stored.array != read.array {
        return Some(false);
    }
    let earlier = Expr::Var(var.clone()) - Expr::Int(steps);
    let before = stored.map_indices(&mut |e| e.substitute(&|v| (v == var).then(|| earlier.clone())));
    let apart = |(a, b): (&Expr, &Expr)| {
        linear::<i128>(&(a.clone() - b.clone())).and_then(|difference| difference.as_constant())
    };
    let differences: Vec<Option<i128>> = before.indices.iter().zip(&read.indices).map(apart).collect();
    match differences.iter().any(|d| d.is_some_and(|d| d != 0)) {
        true => Some(false),
        false => (before.path == read.path && differences.iter().all(|d| *d == Some(0))).then_some(true),
    }
}
