//! Expansion: a scalar that is local to an iteration gets an element for each iteration, where it
//! is asked for an array a plane.
//!
//! A scalar that is declared inside loops has a value of its own in each of their iterations, but
//! one place in memory, which keeps the iterations in order. With an element an iteration the nests
//! around it can be distributed and interchanged: the temporary sum of a symmetric product becomes
//! an array, and two contractions. The two innermost loops around the declaration are expanded
//! over, where their bounds depend on sizes alone; memory grows by the product of their extents.
//! Nothing but the subscripts changes, so no dependence is lost that the declaration did not rule
//! out.
//!
//! Left out: arrays whose extents are not sizes, or whose planes would have more dimensions than
//! any parameter, what is assigned in one iteration and used in the next (it is declared outside of
//! the loop), and liveness.
//!
//! Beside it: [array expansion](super::array_expansion) expands parameters, whose last values the
//! caller sees and which are filled in parts. The front end for C privatises
//! (`cfront::lower::privatise`): it moves declarations of C inwards and adds no memory. The mapping
//! to cores privatises (`polyhedral::athread::privatisation`) with planes that live in local
//! memory.

use std::collections::BTreeMap;

use crate::pass::{Pass, Step};
use loops::facts::Facts;
use loops::visit::{fresh, taken};
use loops::{Access, ArrayDecl, Expr, Function, Loop, Name, Stmt, Storage, simplify};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "scalar-expansion",
        literature: "scalar expansion (Padua and Wolfe 1986)",
        about: "a local scalar gets an element for each iteration of the loops around it",
    },
    run: expand,
};

/// Loops over which a scalar is expanded, at most.
const LEVELS: usize = 2;

/// The function with local scalars expanded; none if there is no such scalar.
fn expand(function: &Function) -> Option<Function> {
    expand_levels(function, LEVELS, Of::Scalars)
}

/// What is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Scalars.
    Scalars,
    /// Scalars and arrays.
    Arrays,
}

/// As `expand`, over as many of the innermost loops as `levels` says.
pub fn expand_levels(function: &Function, levels: usize, of: Of) -> Option<Function> {
    let taken = taken(function);
    let mut expander = Expander { function, levels, of, loops: Vec::new(), taken, declared: Vec::new() };
    let body = expander.block(&function.body);
    if expander.declared.is_empty() {
        return None;
    }
    let body = expander.declared.into_iter().map(Stmt::Local).chain(body).collect();
    Some(Function { body, ..function.clone() })
}

struct Expander<'a> {
    function: &'a Function,
    levels: usize,
    of: Of,
    loops: Vec<&'a Loop>,
    taken: std::collections::BTreeSet<Name>,
    declared: Vec<ArrayDecl>,
}

impl<'a> Expander<'a> {
    fn block(&mut self, body: &'a [Stmt]) -> Vec<Stmt> {
        let mut elements: BTreeMap<Name, Access> = BTreeMap::new();
        let mut result = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Local(local) => match self.element(local) {
                    Some(element) => {
                        elements.insert(local.name.clone(), element);
                    }
                    None => result.push(stmt.clone()),
                },
                Stmt::Loop(l) => {
                    self.loops.push(l);
                    let body = self.block(&l.body);
                    self.loops.pop();
                    result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                }
                Stmt::If { cond, then, otherwise } => result.push(Stmt::If {
                    cond: cond.clone(),
                    then: self.block(then),
                    otherwise: self.block(otherwise),
                }),
                Stmt::Block { mark, body } => {
                    result.push(Stmt::Block { mark: mark.clone(), body: self.block(body) });
                }
                Stmt::Assign(_) | Stmt::Copy(_) | Stmt::Wait(_) => result.push(stmt.clone()),
            }
        }
        if elements.is_empty() { result } else { replace(&result, &elements) }
    }

    /// Over how many loops an array may be expanded: its planes shall have no more dimensions than
    /// what comes in or goes out, or memory could run out.
    fn room(&self, local: &ArrayDecl) -> Option<usize> {
        let most = self.function.params.iter().map(|p| p.dims.len()).max()?;
        most.checked_sub(local.dims.len()).filter(|room| *room > 0)
    }

    /// The element (of an array: the plane) that stands for a local, if it can have one; its array
    /// is noted.
    fn element(&mut self, local: &ArrayDecl) -> Option<Access> {
        if self.loops.is_empty() {
            return None;
        }
        let levels = if local.dims.is_empty() { self.levels } else { self.levels.min(self.room(local)?) };
        let around = &self.loops[self.loops.len().saturating_sub(levels)..];
        let constant = |e: &Expr| e.is_over(&self.function.sizes);
        if !local.dims.is_empty() && (self.of == Of::Scalars || !local.dims.iter().all(constant)) {
            return None;
        }
        // A loop that hides an outer one of the same name would change what the subscript means.
        let unique = |l: &Loop| self.loops.iter().filter(|other| other.var == l.var).count() == 1;
        if !around.iter().all(|l| l.step == 1 && constant(&l.lower) && constant(&l.upper) && unique(l)) {
            return None;
        }
        let name = fresh(&local.name, &self.taken);
        self.taken.insert(name.clone());
        let extent = |l: &&Loop| match &l.lower {
            Expr::Int(0) => l.upper.clone(),
            lower => l.upper.clone() - lower.clone(),
        };
        // An extent is not negative, also where a loop does not run.
        let facts = Facts::of(self.function);
        let each = around.iter().map(|l| simplify::expr(&extent(l).max(0), &facts));
        let dims = each.chain(local.dims.iter().cloned()).collect();
        let indices = around
            .iter()
            .map(|l| match &l.lower {
                Expr::Int(0) => Expr::Var(l.var.clone()),
                lower => Expr::Var(l.var.clone()) - lower.clone(),
            })
            .collect();
        self.declared.push(ArrayDecl {
            name: name.clone(),
            elem: local.elem.clone(),
            dims,
            storage: Storage::Heap,
        });
        Some(Access { array: name, indices, path: Vec::new() })
    }
}

/// Every access of a local becomes one of its element or plane.
fn replace(body: &[Stmt], elements: &BTreeMap<Name, Access>) -> Vec<Stmt> {
    let access = |a: &Access| match elements.get(&a.array) {
        Some(element) => Access {
            array: element.array.clone(),
            indices: element.indices.iter().chain(&a.indices).cloned().collect(),
            path: a.path.clone(),
        },
        None => a.clone(),
    };
    let value = |e: &Expr| e.map_loads(&mut |a| Expr::Load(access(&a)));
    body.iter()
        .map(|stmt| {
            // Inner declarations of the same name are expanded or kept by themselves: names of a
            // valid function do not repeat in a scope.
            let stmt = stmt.map(&mut |e| value(e), &mut |inner| replace(inner, elements));
            match stmt {
                Stmt::Assign(assign) => {
                    Stmt::Assign(loops::Assign { target: access(&assign.target), ..assign })
                }
                other => other,
            }
        })
        .collect()
}
