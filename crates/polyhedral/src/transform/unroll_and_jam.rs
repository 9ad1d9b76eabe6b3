//! Unroll-and-jam: several iterations of a loop at once, statement by statement inside the loop
//! below it.
//!
//! Two kinds of nests gain from it. Where an element is updated in each iteration of the outer loop
//! (`y[j] += A[i][j] * x[i]` in loops over `i` and `j`), it is loaded and stored once for all of
//! them. Where the inner loop waits for its own results (`A[i][j] += A[i][j - 1]`), several rows
//! are under way at a time. Each element is computed in the order that it had.
//!
//! Only nests of which the subscripts show at once that it is legal are taken: different iterations
//! of the inner loop, or of the outer one, touch different elements of all that is written. Nothing
//! is trusted: the checker sees the result. Left out: inner bounds that depend on the outer loop.
//!
//! The rewriting is that of the pass `unroll-and-jam`, which is for what has no schedule: chains in
//! local accumulators, which it multiplies. Here elements of arrays are updated in place, and each
//! copy of a statement keeps its instance for the checker.

use std::collections::{BTreeMap, BTreeSet};

use loops::poly::linear;
use loops::simplify::tidy;
use loops::visit::{assigns, taken};
use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, Stmt};

use passes::JammedBlock;

use crate::codegen::{Generated, Instance};
use crate::model::nest::by_data;
use crate::names::fresh;

/// The function with `count` rows at once where that gains something.
pub(crate) fn jam(generated: Generated, count: i64) -> Generated {
    let labels = generated.instances.keys().cloned().collect();
    let taken = taken(&generated.function);
    let instances = generated.instances.clone();
    let mut jam = Jam { count, labels, taken, instances, generated };
    let body = std::mem::take(&mut jam.generated.function.body);
    jam.generated.function.body = jam.block(body);
    jam.generated
}

struct Jam {
    count: i64,
    labels: BTreeSet<Name>,
    taken: BTreeSet<Name>,
    /// Where the statements come from, before.
    instances: BTreeMap<Name, Instance>,
    generated: Generated,
}

impl Jam {
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut result = Vec::new();
        for stmt in body {
            match stmt {
                // How often it runs is data: it is one statement.
                Stmt::Loop(nest) if by_data(&nest) => result.push(Stmt::Loop(nest)),
                Stmt::Loop(outer) => match gains(&outer) {
                    true => result.extend(self.rows(outer)),
                    false => {
                        let body = self.block(outer.body);
                        result.push(Stmt::Loop(Loop { body, ..outer }));
                    }
                },
                Stmt::If { cond, then, otherwise } => {
                    let (then, otherwise) = (self.block(then), self.block(otherwise));
                    result.push(Stmt::If { cond, then, otherwise });
                }
                // What is marked is for a later stage.
                other => result.push(other),
            }
        }
        result
    }

    /// The loop over several rows at once, and the one over those that are left. The rows are an
    /// innermost loop of a few iterations, which the target writes out.
    fn rows(&mut self, outer: Loop) -> Vec<Stmt> {
        let [Stmt::Loop(inner)] = outer.body.as_slice() else { return vec![Stmt::Loop(outer)] };
        let trips = linear::<i128>(&(outer.upper.clone() - outer.lower.clone()));
        let trips = trips.and_then(|n| i64::try_from(n.as_constant()?).ok());
        // Fewer rows than usual are taken at once altogether.
        let count = trips.filter(|n| *n > 0).map_or(self.count, |n| n.min(self.count));
        let row = fresh(&format!("{}_row", outer.var), &mut self.taken);
        let place = Expr::Var(outer.var.clone()) + Expr::Var(row.clone());
        self.move_instances(&inner.body, &outer.var, &place);
        let through = |l: &Loop, _| l == inner;
        let kind = LoopKind::Unroll(None);
        let block = JammedBlock { var: &outer.var, place, side: &row, count, kind, through: &through };
        let body = tidied(&block.side_by_side(&outer.body));
        let upper = tidy(&(outer.upper.clone() - Expr::Int(count - 1)));
        let many = Stmt::Loop(Loop { upper, step: count, body, ..outer.clone() });
        // Of a full tile nothing may be left.
        if trips.is_some_and(|n| n % count == 0) {
            return vec![many];
        }
        let all = (outer.upper.clone() - outer.lower.clone()).max(0);
        let whole = Expr::Int(count) * Expr::binary(BinaryOp::FloorDiv, all, Expr::Int(count));
        let middle = match &outer.lower {
            Expr::Int(0) => whole,
            lower => lower.clone() + whole,
        };
        let rest = Stmt::Loop(Loop { body: self.relabelled(&inner.body), ..inner.clone() });
        // A few rows are not worth the threads' meeting.
        let kind = LoopKind::Sequential;
        vec![many, Stmt::Loop(Loop { lower: tidy(&middle), body: vec![rest], kind, ..outer })]
    }

    /// Statements are now at another value of a loop variable.
    fn move_instances(&mut self, body: &[Stmt], var: &Name, value: &Expr) {
        let put = |e: &Expr| tidy(&e.substitute(&|name| (name == var).then(|| value.clone())));
        for label in assigns(body).filter_map(|assign| assign.label.as_ref()) {
            if let Some(Instance { original, iterators }) = self.instances.get(label) {
                let iterators = iterators.iter().map(put).collect();
                let instance = Instance { original: original.clone(), iterators };
                self.generated.instances.insert(label.clone(), instance);
            }
        }
    }

    /// The assignments under labels of their own.
    fn relabelled(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let mut copy = |assign: &Assign| {
            let label = assign.label.as_ref().map(|label| {
                let new = fresh(label, &mut self.labels);
                if let Some(instance) = self.instances.get(label) {
                    self.generated.instances.insert(new.clone(), instance.clone());
                }
                new
            });
            Stmt::Assign(Assign { label, ..assign.clone() })
        };
        assigns(body).map(&mut copy).collect()
    }
}

/// The statements with short subscripts.
fn tidied(body: &[Stmt]) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Assign(assign) => Stmt::Assign(Assign {
                target: assign.target.map_indices(&mut |e| tidy(e)),
                value: tidy(&assign.value),
                ..assign.clone()
            }),
            other => other.map(&mut Expr::clone, &mut |inner| tidied(inner)),
        })
        .collect()
}

/// Whether a nest of two loops is one that gains, and may be jammed.
fn gains(outer: &Loop) -> bool {
    let [Stmt::Loop(inner)] = outer.body.as_slice() else { return false };
    let plain = |l: &Loop| l.step == 1 && l.reductions.is_empty();
    if !matches!(outer.kind, LoopKind::Sequential | LoopKind::Parallel)
        || !plain(outer)
        || !plain(inner)
        || outer.var == inner.var
    {
        return false;
    }
    if by_data(inner) {
        return false;
    }
    if [&inner.lower, &inner.upper].iter().any(|e| e.mentions(&outer.var)) {
        return false;
    }
    let assigns: Option<Vec<&Assign>> =
        inner.body.iter().map(|s| if let Stmt::Assign(a) = s { Some(a) } else { None }).collect();
    let Some(assigns) = assigns.filter(|assigns| !assigns.is_empty() && assigns.len() <= 4) else {
        return false;
    };
    match inner.kind {
        // An element stays, and is updated by every row.
        LoopKind::Vector if outer.kind == LoopKind::Sequential => {
            let stays = |a: &&&Assign| a.update.is_some() && !mentions(&a.target, &outer.var);
            assigns.iter().any(|a| stays(&a)) && apart(&assigns, &inner.var, &outer.var)
        }
        // The loop waits for itself; other rows need not.
        LoopKind::Sequential => apart(&assigns, &outer.var, &inner.var) && waits(&assigns, &inner.var),
        _ => false,
    }
}

fn mentions(access: &Access, var: &Name) -> bool {
    access.indices.iter().any(|e| e.mentions(var))
}

fn loads<'a>(assigns: &[&'a Assign]) -> Vec<&'a Access> {
    let mut found = Vec::new();
    for assign in assigns {
        found.extend(assign.value.loads());
    }
    found
}

/// Whether different values of a loop variable touch different elements of all that is written: one
/// subscript of every access is the same expression, the variable plus something in which neither
/// it nor the nest's `other` variable occurs.
fn apart(assigns: &[&Assign], var: &Name, other: &Name) -> bool {
    let loads = loads(assigns);
    assigns.iter().all(|assign| {
        let array = &assign.target.array;
        let own: Vec<&Access> = loads
            .iter()
            .copied()
            .chain(assigns.iter().map(|a| &a.target))
            .filter(|access| access.array == *array)
            .collect();
        (0..assign.target.indices.len()).any(|k| {
            let subscript = &assign.target.indices[k];
            own.iter().all(|access| access.indices.get(k) == Some(subscript))
                && subscript.advances_with(var)
                && !subscript.mentions(other)
        })
    })
}

/// Whether an iteration needs what the one before has computed, and soon. A sum of elements whose
/// places are data waits for memory rather than for itself, and several rows at once make their
/// reads less regular: 16 elements a row took 1.25 times as long by gcc, and four times by clang,
/// which made vectors of them.
fn waits(assigns: &[&Assign], var: &Name) -> bool {
    let loads = loads(assigns);
    assigns.iter().any(|assign| {
        let gathers = assign.value.loads().any(|access| access.indices.iter().any(Expr::has_loads));
        let sums = assign.update.is_some() && !mentions(&assign.target, var) && !gathers;
        sums || loads.iter().any(|access| access.array == assign.target.array && **access != assign.target)
    })
}
