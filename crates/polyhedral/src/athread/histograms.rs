//! Histograms across cores: `h[index[i]] += w[i]`, where data tells the element.
//!
//! Blocks of iterations have copies of their own of all elements (array privatisation: Tu and Padua
//! 1993), which begin with what the operation leaves as it is, and are combined in the order of the
//! blocks. That is right for any data, and exact where the order does not matter: for integers,
//! truth values and extrema; sums of floating point have to be declared as reorderable.
//!
//! A copy has to be in local memory as a whole. So its extent is a number: that of the array, or
//! where this is a size, a bound which the host asks for. Left out: arrays of several dimensions.

use std::collections::{BTreeMap, BTreeSet};

use loops::simplify::tidy;
use loops::visit::fresh;
use loops::{
    Access, ArrayDecl, Assign, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt, Storage, Update,
};

use super::Options;
use super::multiversioning;
use super::reductions;

/// Elements of a copy where neither the program nor the user says how many there are.
const ELEMENTS: i64 = 1024;
/// Iterations of a block, at least: combining copies takes time, too.
const LEAST: i64 = 256;

/// A function with copies.
pub(super) struct Private {
    /// The function, right for sizes up to the bounds.
    pub function: Function,
    /// The bounds.
    pub bounds: BTreeMap<Name, i64>,
    /// What there are copies of.
    pub targets: Vec<Name>,
    /// Whether floating-point sums or products are added in another order.
    pub reassociated: bool,
    /// The largest copy: its array, elements and bytes.
    pub largest: (Name, i64, i64),
}

/// The function with histograms in blocks; none if there are none.
pub(super) fn private(function: &Function, options: &Options) -> Option<Private> {
    let mut found = Private {
        function: function.clone(),
        bounds: BTreeMap::new(),
        targets: Vec::new(),
        reassociated: false,
        largest: (Name::new(""), 0, 0),
    };
    let mut taken = loops::visit::taken(function);
    let (mut body, mut copies) = (Vec::new(), Vec::new());
    for stmt in &function.body {
        match stmt {
            Stmt::Loop(l) => match Histogram::of(function, l) {
                Some(histogram) => {
                    let (elements, bound) = histogram.elements(options);
                    found.bounds.extend(bound);
                    found.targets.push(histogram.target.array.clone());
                    found.reassociated |= histogram.is_rounded();
                    let bytes = elements.saturating_mul(histogram.scalar.bytes() as i64);
                    if bytes > found.largest.2 {
                        found.largest = (histogram.target.array.clone(), elements, bytes);
                    }
                    body.extend(histogram.blocks(elements, options, &mut taken, &mut copies));
                }
                None => body.push(stmt.clone()),
            },
            other => body.push(other.clone()),
        }
    }
    if copies.is_empty() {
        return None;
    }
    found.function.body = copies.into_iter().map(Stmt::Local).chain(body).collect();
    let below = found.bounds.iter().map(|(name, n)| Expr::Var(name.clone()).at_most(*n));
    found.function.assumptions.extend(below);
    Some(found)
}

/// A loop whose one statement updates an element that data tells, perhaps under a condition.
struct Histogram<'a> {
    around: &'a Loop,
    target: Access,
    /// The element; where a condition leaves an iteration out, any.
    subscript: Expr,
    /// The operand; where a condition leaves an iteration out, what changes nothing.
    value: Expr,
    update: Update,
    scalar: Scalar,
    /// The extent of the array.
    extent: Expr,
}

impl Histogram<'_> {
    fn of<'a>(function: &Function, l: &'a Loop) -> Option<Histogram<'a>> {
        let of_sizes = |e: &Expr| e.is_over(&function.sizes);
        let (condition, body) = match l.body.as_slice() {
            [Stmt::If { cond, then, otherwise }] if otherwise.is_empty() => (Some(cond), then.as_slice()),
            body => (None, body),
        };
        let [Stmt::Assign(assign)] = body else { return None };
        let (target, update) = (&assign.target, assign.update?);
        let [subscript] = target.indices.as_slice() else { return None };
        let declared = function.params.iter().find(|param| param.name == target.array)?;
        let (Elem::Scalar(scalar), [extent]) = (&declared.elem, declared.dims.as_slice()) else {
            return None;
        };
        let exprs = [subscript, &assign.value].into_iter().chain(condition);
        let needed: BTreeSet<Name> = exprs.flat_map(Expr::arrays).collect();
        let plain = l.step == 1
            && of_sizes(&l.lower)
            && of_sizes(&l.upper)
            && target.path.is_empty()
            && subscript.has_loads()
            && !needed.contains(&target.array)
            && matches!(extent, Expr::Int(_) | Expr::Var(_))
            && reductions::allowed(update, *scalar);
        plain.then(|| Histogram {
            around: l,
            target: target.clone(),
            subscript: either(condition, subscript.clone(), Expr::Int(0)),
            value: either(condition, assign.value.clone(), reductions::identity(update.op, *scalar)),
            update,
            scalar: *scalar,
            extent: extent.clone(),
        })
    }

    /// How many elements a copy has, and the bound on a size that this is.
    fn elements(&self, options: &Options) -> (i64, Option<(Name, i64)>) {
        match &self.extent {
            Expr::Int(n) => (*n, None),
            Expr::Var(size) => {
                let bound = options.hints.get(size).map_or(ELEMENTS, |said| multiversioning::bound(*said));
                (bound, Some((size.clone(), bound)))
            }
            _ => (ELEMENTS, None),
        }
    }

    /// Whether another order rounds differently.
    fn is_rounded(&self) -> bool {
        use loops::ReduceOp::{Add, Mul};
        self.scalar.is_float() && matches!(self.update.op, Add | Mul)
    }

    /// The blocks, and the combination of what they leave.
    fn blocks(
        &self,
        elements: i64,
        options: &Options,
        taken: &mut BTreeSet<Name>,
        copies: &mut Vec<ArrayDecl>,
    ) -> Vec<Stmt> {
        let mut name = |base: &str| {
            let name = fresh(&Name::new(base), taken);
            taken.insert(name.clone());
            name
        };
        let (l, array) = (self.around, &self.target.array);
        let copy = name(&format!("{array}_private"));
        let [block, again] = ["block"; 2].map(&mut name);
        let [element, other] = ["element"; 2].map(&mut name);
        // One block for each core, if it is known how many iterations there are.
        let each = reductions::trips(l, options)
            .map_or(4 * LEAST, |n| n / options.grid.cores().max(1) + 1)
            .max(LEAST);
        let size = (each as u64).next_power_of_two() as i64;
        let length = tidy(&(l.upper.clone() - l.lower.clone()));
        let count = tidy(&(length + (size - 1))).floor_div(size).max(0);
        copies.push(ArrayDecl {
            name: copy.clone(),
            elem: Elem::Scalar(self.scalar),
            dims: vec![count.clone(), Expr::Int(elements)],
            storage: Storage::Heap,
        });
        let at =
            |block: &Name, index: Expr| Access::element(copy.clone(), vec![Expr::Var(block.clone()), index]);
        let update = |target: Access, value: Expr| {
            Stmt::Assign(Assign { label: None, target, update: Some(self.update), value })
        };
        let upto = |var: &Name, end: &Expr, body: Vec<Stmt>| {
            Stmt::Loop(Loop::upto(var.clone(), end.clone(), LoopKind::Sequential, body))
        };
        let identity = reductions::identity(self.update.op, self.scalar);
        let first = tidy(&(l.lower.clone() + Expr::Var(block.clone()) * size));
        let clear = Stmt::assign(at(&block, Expr::Var(element.clone())), identity);
        let count_in = update(at(&block, self.subscript.clone()), self.value.clone());
        let within = Stmt::Loop(Loop {
            upper: l.upper.clone().min(tidy(&(first.clone() + size))),
            lower: first,
            kind: LoopKind::Sequential,
            reductions: Vec::new(),
            body: vec![count_in],
            ..l.clone()
        });
        let target = Access::element(array.clone(), vec![Expr::Var(other.clone())]);
        let sum = update(target, Expr::Load(at(&again, Expr::Var(other.clone()))));
        vec![
            upto(&block, &count, vec![upto(&element, &self.extent, vec![clear]), within]),
            upto(&other, &self.extent, vec![upto(&again, &count, vec![sum])]),
        ]
    }
}

/// What is chosen by a condition, if there is one.
fn either(condition: Option<&Expr>, yes: Expr, no: Expr) -> Expr {
    match condition {
        Some(cond) => Expr::Select(Box::new(cond.clone()), Box::new(yes), Box::new(no)),
        None => yes,
    }
}
