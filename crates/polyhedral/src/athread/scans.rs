//! Scans across cores: a sum (product, least, largest) over the iterations of a loop that also uses
//! its values on the way (`s += x[i]; y[i] = s`) runs over blocks of iterations, in three phases
//! (Blelloch 1990). Each block has a partial result; what comes before each block is combined from
//! these in their order, by the host; then each block runs from there on.
//!
//! The blocks of the first and the third phase are parallel loops, which the mapping spreads over
//! the cores like any other. As for reductions across cores, that is done only where another order
//! is allowed: always for integers, truth values and extrema, which are exact; for sums and
//! products of floating point where the update is declared to be reorderable.
//!
//! Left out: loops inside of others, whose iterations are the parallel ones if anything is.

use std::collections::BTreeSet;

use loops::simplify::tidy;
use loops::visit::{assigns, fresh, locals, nodes};
use loops::{
    Access, ArrayDecl, Assign, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt, Storage, Update,
};

use super::Options;
use super::reductions::{self, Blocked};

/// The function with scans in blocks; none if there are none.
pub(super) fn blocks(function: &Function, options: &Options) -> Option<Blocked> {
    let mut found = Blocked {
        function: function.clone(),
        reassociated: false,
        notes: Vec::new(),
        targets: Vec::new(),
        combined: Vec::new(),
    };
    let mut arrays = Vec::new();
    let mut taken = loops::visit::taken(function);
    let mut body = Vec::new();
    for stmt in &function.body {
        match stmt {
            Stmt::Loop(l) => match Scan::of(function, l) {
                Some(scan) => {
                    let size = reductions::block_size(l, options);
                    found.targets.push(scan.target.array.clone());
                    found.notes.push(format!(
                        "`{}` runs over blocks of {size} iterations, each from what comes before it on",
                        scan.target.array
                    ));
                    found.reassociated |= scan.is_rounded();
                    body.extend(scan.phases(size, &mut taken, &mut arrays));
                    let start = arrays.last().map_or_else(String::new, |start| format!("`{}`, ", start.name));
                    found.combined.push(format!("{start}`{}`", scan.target.array));
                }
                None => body.push(stmt.clone()),
            },
            other => body.push(other.clone()),
        }
    }
    if arrays.is_empty() {
        return None;
    }
    found.function.body = arrays.into_iter().map(Stmt::Local).chain(body).collect();
    Some(found)
}

/// A loop that updates an element once in each iteration, and reads it besides.
struct Scan<'a> {
    around: &'a Loop,
    target: Access,
    update: Update,
    scalar: Scalar,
    /// What an iteration adds.
    value: Expr,
}

impl Scan<'_> {
    fn of<'a>(function: &Function, l: &'a Loop) -> Option<Scan<'a>> {
        let of_sizes = |e: &Expr| e.is_over(&function.sizes);
        if l.step != 1 || !of_sizes(&l.lower) || !of_sizes(&l.upper) {
            return None;
        }
        let types = reductions::types(function);
        let updates = l.body.iter().filter_map(|stmt| match stmt {
            Stmt::Assign(assign) => Some((assign, assign.update?)),
            _ => None,
        });
        let mut found = updates.filter_map(|(assign, update)| {
            let Some(Elem::Scalar(scalar)) = types.get(&assign.target.array) else { return None };
            let (target, value) = (assign.target.clone(), assign.value.clone());
            let plain = target.path.is_empty() && target.indices.iter().all(of_sizes);
            let scan = Scan { around: l, target, update, scalar: *scalar, value };
            (plain && reductions::allowed(update, *scalar) && scan.is_alone()).then_some(scan)
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether the element is read besides and not written by anything else, and what is added can
    /// be told before the loop runs.
    fn is_alone(&self) -> bool {
        let array = &self.target.array;
        let body = &self.around.body;
        let writes = assigns(body).filter(|assign| assign.target.array == *array).count();
        let read = loops::visit::loads(body).any(|load| load.array == *array);
        let same = loops::visit::loads(body).all(|load| load.array != *array || *load == self.target);
        let plain = !nodes(body).any(|s| matches!(s, Stmt::Copy(_) | Stmt::Wait(_)));
        let needed = self.value.arrays();
        let own: BTreeSet<Name> = locals(body).map(|local| local.name.clone()).collect();
        writes == 1
            && read
            && same
            && plain
            && !own.contains(array)
            && needed.is_disjoint(&own)
            && needed.iter().all(|array| self.unchanged(array))
    }

    /// Whether what is added reads of an array only what it has before the loop: nothing writes it
    /// there, or each iteration writes but the element that it has added.
    fn unchanged(&self, array: &Name) -> bool {
        let mut added = false;
        for stmt in &self.around.body {
            added |= matches!(stmt, Stmt::Assign(assign) if assign.target == self.target);
            let written = assigns(std::slice::from_ref(stmt)).map(|assign| &assign.target);
            for target in written.filter(|target| target.array == *array) {
                let own = target.indices.contains(&Expr::Var(self.around.var.clone()));
                let mut reads = self.value.loads().filter(|load| load.array == *array);
                if !added || !own || !reads.all(|load| load == target) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether another order rounds differently.
    fn is_rounded(&self) -> bool {
        use loops::ReduceOp::{Add, Mul};
        self.scalar.is_float() && matches!(self.update.op, Add | Mul)
    }

    /// Partial results of blocks, what comes before each block, and the blocks from there on.
    fn phases(&self, size: i64, taken: &mut BTreeSet<Name>, arrays: &mut Vec<ArrayDecl>) -> Vec<Stmt> {
        let mut name = |base: String| {
            let name = fresh(&Name::new(base), taken);
            taken.insert(name.clone());
            name
        };
        let (l, array) = (self.around, &self.target.array);
        let (partial, start) = (name(format!("{array}_partial")), name(format!("{array}_start")));
        let run = name(format!("{array}_running"));
        let [first, second, third] = ["block"; 3].map(|base| name(base.to_owned()));
        let length = tidy(&(l.upper.clone() - l.lower.clone()));
        let count = tidy(&(length + (size - 1))).floor_div(size).max(0);
        let elem = Elem::Scalar(self.scalar);
        for name in [&partial, &start] {
            let (name, elem, dims) = (name.clone(), elem.clone(), vec![count.clone()]);
            arrays.push(ArrayDecl { name, elem, dims, storage: Storage::Heap });
        }
        let of = |array: &Name, block: &Name| Access::element(array.clone(), vec![Expr::Var(block.clone())]);
        let update = |target: Access, value: Expr| {
            Stmt::Assign(Assign { label: None, target, update: Some(self.update), value })
        };
        let within = |block: &Name, body: Vec<Stmt>| {
            let lower = tidy(&(l.lower.clone() + Expr::Var(block.clone()) * size));
            let upper = l.upper.clone().min(tidy(&(lower.clone() + size)));
            let kind = LoopKind::Sequential;
            Stmt::Loop(Loop { lower, upper, kind, reductions: Vec::new(), body, ..l.clone() })
        };
        let over = |block: Name, body: Vec<Stmt>| {
            Stmt::Loop(Loop::upto(block, count.clone(), LoopKind::Sequential, body))
        };
        let sums = vec![
            Stmt::assign(of(&partial, &first), reductions::identity(self.update.op, self.scalar)),
            within(&first, vec![update(of(&partial, &first), self.value.clone())]),
        ];
        let starts = vec![
            Stmt::assign(of(&start, &second), Expr::Load(self.target.clone())),
            update(self.target.clone(), Expr::Load(of(&partial, &second))),
        ];
        let running = Access::element(run.clone(), Vec::new());
        let rest = vec![
            Stmt::Local(ArrayDecl { name: run, elem, dims: Vec::new(), storage: Storage::Stack }),
            Stmt::assign(running.clone(), Expr::Load(of(&start, &third))),
            within(&third, instead(&l.body, &self.target, &running)),
        ];
        vec![over(first, sums), over(second, starts), over(third, rest)]
    }
}

/// Statements with another element in place of one.
fn instead(body: &[Stmt], element: &Access, other: &Access) -> Vec<Stmt> {
    let of = |access: &Access| if access == element { other.clone() } else { access.clone() };
    let load = |e: &Expr| e.map_loads(&mut |access| Expr::Load(of(&access)));
    body.iter()
        .map(|stmt| match stmt.map(&mut |e| load(e), &mut |inner| instead(inner, element, other)) {
            Stmt::Assign(assign) => Stmt::Assign(Assign { target: of(&assign.target), ..assign }),
            other => other,
        })
        .collect()
}
