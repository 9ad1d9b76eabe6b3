//! A local array of pairs whose elements are lanes of vectors becomes an array for each of their
//! numbers (structures of arrays).
//!
//! A pair is a C structure. Neighbouring lanes then load and store numbers with others between
//! them, which compilers gather and scatter, or do not make vectors of at all. In arrays of their
//! own the numbers of neighbouring lanes are side by side. Nothing is computed otherwise.
//!
//! Left out: parameters, whose layout the caller sees; single pairs, which C compilers keep in
//! registers; arrays of which no vector loop goes from element to element; and those with elements
//! at subscripts that are data, where all numbers of a pair come with one line of the cache.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::{fresh, loads, nodes, taken};
use loops::{Access, ArrayDecl, Component, Elem, Expr, Function, LoopKind, Name, Scalar, Stmt, Storage};

use crate::pass::{Pass, Step};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "structure-splitting",
        literature: "structure splitting (Chilimbi, Davidson, Larus 1999), to structures of arrays",
        about: "a local array of pairs that are lanes of vectors becomes an array for each of their numbers",
    },
    run: split,
};

/// The arrays that stand for an array of pairs, by the way into a pair.
type Parts = BTreeMap<Vec<Component>, Name>;

/// The function with such arrays split; none if it has none.
fn split(function: &Function) -> Option<Function> {
    let mut splitter = Splitter { taken: taken(function), found: false };
    let body = splitter.block(&function.body, &BTreeMap::new());
    splitter.found.then(|| Function { body, ..function.clone() })
}

struct Splitter {
    taken: BTreeSet<Name>,
    found: bool,
}

impl Splitter {
    /// A block, with the arrays from around it that are split.
    fn block(&mut self, body: &[Stmt], around: &BTreeMap<Name, Parts>) -> Vec<Stmt> {
        let mut known = around.clone();
        let mut result = Vec::with_capacity(body.len());
        for (k, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Local(local) if splits(local, &body[k + 1..]) => {
                    let parts = self.declare(local, &mut result);
                    known.insert(local.name.clone(), parts);
                    self.found = true;
                }
                _ => {
                    let mut new = stmt.map(
                        &mut |e| e.map_loads(&mut |access| Expr::Load(part(access, &known))),
                        &mut |inner| self.block(inner, &known),
                    );
                    if let Stmt::Assign(assign) = &mut new {
                        assign.target = part(assign.target.clone(), &known);
                    }
                    result.push(new);
                }
            }
        }
        result
    }

    /// Declares the arrays of an array of pairs, in the order of the numbers in a pair.
    fn declare(&mut self, local: &ArrayDecl, result: &mut Vec<Stmt>) -> Parts {
        // A few numbers may stand on the stack, where all compilers see that arrays do not overlap.
        let number = local.dims.iter().all(|dim| matches!(dim, Expr::Int(_)));
        let storage = if number { Storage::Auto } else { local.storage };
        let mut parts = Parts::new();
        for (path, scalar) in numbers(&local.elem) {
            let components: String = path.iter().map(suffix).collect();
            let name = fresh(&Name::new(format!("{}{components}", local.name)), &self.taken);
            self.taken.insert(name.clone());
            let decl = ArrayDecl { name: name.clone(), elem: Elem::Scalar(scalar), storage, ..local.clone() };
            result.push(Stmt::Local(decl));
            parts.insert(path, name);
        }
        parts
    }
}

fn suffix(component: &Component) -> &'static str {
    match component {
        Component::First => "_x1",
        Component::Second => "_x2",
    }
}

/// The numbers of an element, and the ways to them.
fn numbers(elem: &Elem) -> Vec<(Vec<Component>, Scalar)> {
    match elem {
        Elem::Scalar(scalar) => vec![(Vec::new(), *scalar)],
        Elem::Pair(first, second) => [(Component::First, first), (Component::Second, second)]
            .into_iter()
            .flat_map(|(component, half)| {
                let longer = move |(path, scalar): (Vec<Component>, Scalar)| {
                    ([vec![component], path].concat(), scalar)
                };
                numbers(half).into_iter().map(longer)
            })
            .collect(),
    }
}

/// The access to the array that a number is in now.
fn part(access: Access, known: &BTreeMap<Name, Parts>) -> Access {
    match known.get(&access.array).and_then(|parts| parts.get(&access.path)) {
        Some(name) => Access::element(name.clone(), access.indices),
        None => access,
    }
}

/// Whether an array is split. `rest` is its scope.
fn splits(local: &ArrayDecl, rest: &[Stmt]) -> bool {
    let pairs = matches!(local.elem, Elem::Pair(..)) && !local.dims.is_empty();
    pairs && nodes(rest).all(|stmt| stays_apart(stmt, local)) && nodes(rest).any(|stmt| in_lanes(stmt, local))
}

/// Whether a statement leaves the array as a whole alone, hides no name, and has no element at a
/// subscript that is data.
fn stays_apart(stmt: &Stmt, local: &ArrayDecl) -> bool {
    let placed = |access: &Access| access.array != local.name || !access.indices.iter().any(Expr::has_loads);
    let target = match stmt {
        Stmt::Assign(assign) => placed(&assign.target),
        Stmt::Loop(l) => l.reductions.iter().all(|(_, name)| *name != local.name),
        Stmt::Local(other) => other.name != local.name,
        Stmt::Copy(copy) => copy.from.array != local.name && copy.to.array != local.name,
        _ => true,
    };
    target && stmt.exprs().into_iter().flat_map(Expr::loads).all(placed)
}

/// Whether a statement is a vector loop that goes from element to element of the array.
fn in_lanes(stmt: &Stmt, local: &ArrayDecl) -> bool {
    let Stmt::Loop(l) = stmt else { return false };
    let beside = |access: &Access| {
        access.array == local.name
            && Access::element(access.array.clone(), access.indices.clone()).is_adjacent_along(&l.var)
    };
    let written = || nodes(&l.body).any(|stmt| matches!(stmt, Stmt::Assign(a) if beside(&a.target)));
    l.kind == LoopKind::Vector && (loads(&l.body).any(beside) || written())
}
