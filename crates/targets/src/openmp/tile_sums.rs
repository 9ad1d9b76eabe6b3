//! Scalar replacement of a tile: the sums of a loop are kept in an array that only unrolled loops
//! and lanes touch.
//!
//! A tile of registers that is loaded and stored element by element at the edges of a matrix has
//! subscripts that are not constant. `clang` then leaves all of it in memory, and stores every sum
//! in each step (an LU factorisation took 1.8 times as long). Around the loop that sums up, the
//! tile is copied to an array with constant subscripts and back, which both compilers keep in
//! registers.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Access, ArrayDecl, Elem, Expr, Loop, LoopKind, Name, Stmt, Storage};

use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;

/// Arrays with a subscript that a loop counts which is not unrolled.
pub(crate) fn counted_arrays(body: &[Stmt]) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    for site in loops::access::accesses(body) {
        let counted = site.loops().any(|l| {
            l.kind == LoopKind::Sequential && site.access.indices.contains(&Expr::Var(l.var.clone()))
        });
        if counted {
            found.insert(site.access.array.clone());
        }
    }
    found
}

/// A tile and the loops over its elements.
struct Tile<'a> {
    /// The loop over lanes.
    lanes: &'a Loop,
    /// Unrolled loops, outermost first.
    unrolled: Vec<&'a Loop>,
    /// The element in the innermost loop.
    element: &'a Access,
}

impl<'a> Tile<'a> {
    /// The tile that the loop adds to; none if it does something else as well.
    fn of(l: &'a Loop) -> Option<Tile<'a>> {
        let mut unrolled = Vec::new();
        let mut current = l;
        loop {
            let [Stmt::Loop(inner)] = current.body.as_slice() else { return None };
            match inner.kind {
                LoopKind::Sequential => {}
                LoopKind::Unroll(None) if inner.lower == Expr::Int(0) => unrolled.push(inner),
                LoopKind::Vector => {
                    let [Stmt::Assign(assign)] = inner.body.as_slice() else { return None };
                    assign.update?;
                    let element = &assign.target;
                    let apart = !assign.value.reads(&element.array);
                    return apart.then_some(Tile { lanes: inner, unrolled, element });
                }
                _ => return None,
            }
            current = inner;
        }
    }

    /// Extents of the tile, if each subscript is the variable of one of its loops.
    fn extents(&self) -> Option<Vec<i64>> {
        let mut extents = Vec::new();
        let mut used = BTreeSet::new();
        for index in &self.element.indices {
            let Expr::Var(name) = index else { return None };
            let own = self.unrolled.iter().copied().chain([self.lanes]).find(|l| l.var == *name)?;
            extents.push(trips(own)?);
            used.insert(name);
        }
        (used.len() == extents.len() && used.len() == self.unrolled.len() + 1).then_some(extents)
    }

    /// Loops over the tile around a copy of one element.
    fn copy(&self, to: &Name, from: &Name) -> Stmt {
        let at = |name: &Name| Access { array: name.clone(), ..self.element.clone() };
        let body = vec![Stmt::assign(at(to), Expr::Load(at(from)))];
        let innermost = Stmt::Loop(Loop { body, ..self.lanes.clone() });
        self.unrolled
            .iter()
            .rev()
            .fold(innermost, |body, l| Stmt::Loop(Loop { body: vec![body], ..(*l).clone() }))
    }
}

impl Lower<'_> {
    /// The loop with its tile in registers, and copies around it; none if it has no such tile.
    pub fn held(&self, l: &Loop) -> Option<Vec<Stmt>> {
        if self.paper() || self.in_simd {
            return None;
        }
        let tile = Tile::of(l)?;
        let name = &tile.element.array;
        let array = self.array(name).ok().filter(|a| a.stack && self.counted.contains(name))?;
        self.vectors(tile.lanes)?;
        let Elem::Scalar(scalar) = array.elem else { return None };
        let extents = tile.extents().filter(|extents| extents.len() == array.dims.len())?;
        let mut held = Name::new(format!("{name}_held"));
        while self.scope.get(&held).is_some() {
            held = Name::new(format!("{held}_"));
        }
        let decl = ArrayDecl {
            name: held.clone(),
            elem: Elem::Scalar(scalar),
            dims: extents.into_iter().map(Expr::Int).collect(),
            storage: Storage::Stack,
        };
        let renaming = BTreeMap::from([(name.clone(), held.clone())]);
        let mut body = vec![Stmt::Local(decl), tile.copy(&held, name)];
        body.extend(loops::visit::rename_arrays(&[Stmt::Loop(l.clone())], &renaming));
        body.push(tile.copy(name, &held));
        Some(vec![Stmt::Block { mark: None, body }])
    }
}
