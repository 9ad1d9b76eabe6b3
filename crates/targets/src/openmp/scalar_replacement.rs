//! Scalar replacement: an element that a loop updates in every iteration is kept in a variable
//! during the loop.
//!
//! Inside a parallel region compilers no longer know that arrays do not overlap, because `restrict`
//! does not reach into the function that they make of the region. So they would store the element
//! in each iteration. The loop IR has this information. A `reduction` clause can also name the
//! variable.

use std::collections::{BTreeMap, BTreeSet};

use loops::access::{AccessKind, AccessSite, Context, accesses};
use loops::{Access, Diagnostic, Elem, Loop, LoopKind, Name, Stmt};

use crate::c::{CExpr, CStmt};
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;
use crate::openmp::scope::{Array, Binding, Form};

/// A promoted element.
pub(crate) struct Promotion {
    array: Name,
    variable: String,
    load: CStmt,
    store: CStmt,
}

impl Lower<'_> {
    /// Elements that the loop updates and that are the same in all of its iterations.
    pub(crate) fn promotable(&self, l: &Loop) -> Vec<Access> {
        if self.paper() || l.kind == LoopKind::Parallel && self.parallel_here() {
            return Vec::new();
        }
        let mut inside = Inside { vars: vec![&l.var], locals: BTreeSet::new(), regions: false };
        inside.look(&l.body, self.parallel_here());
        if inside.regions {
            return Vec::new();
        }
        let sites = accesses(&l.body);
        let mut by_array: BTreeMap<&Name, Vec<&AccessSite<'_>>> = BTreeMap::new();
        for site in &sites {
            by_array.entry(&site.access.array).or_default().push(site);
        }
        let reduced = |name: &Name| l.reductions.iter().any(|(_, n)| n == name);
        let same = |sites: &[&AccessSite<'_>]| {
            let first = sites[0];
            let element = first.access;
            let always =
                |s: &&AccessSite<'_>| s.writes() && s.context.iter().all(|c| matches!(c, Context::Mark(_)));
            let fits = element.path.is_empty()
                && first.kind != AccessKind::Write
                && sites.iter().all(|s| s.extents.is_none() && s.access == element)
                && sites.iter().any(always)
                && !inside.locals.contains(&element.array)
                && !element.indices.iter().any(|i| i.mentions_any(&inside.vars) || i.has_loads());
            fits.then(|| element.clone())
        };
        let in_memory = |access: &Access| match self.scope.get(&access.array) {
            Some(Binding::Array(array)) => {
                let pointer = array.dims.is_empty() && !matches!(array.base, CExpr::Name(_));
                matches!(array.elem, Elem::Scalar(_))
                    && !array.stack
                    && array.form != Form::Element
                    && array.dims.len() == access.indices.len()
                    && (pointer || !array.dims.is_empty())
            }
            _ => false,
        };
        // the lanes of a vector loop update the same element only in a reduction
        let lanes = l.kind != LoopKind::Sequential && !matches!(l.kind, LoopKind::Unroll(_));
        by_array
            .values()
            .filter_map(|sites| same(sites))
            .filter(|access| in_memory(access) && (!lanes || reduced(&access.array)))
            .collect()
    }

    /// Whether some iteration surely runs.
    pub fn runs(&self, l: &Loop) -> bool {
        let (lower, upper) = (self.ranges.of(&l.lower), self.ranges.of(&l.upper));
        trips(l).is_some_and(|count| count > 0) || upper.low.zip(lower.high).is_some_and(|(u, l)| u > l)
    }

    /// Brings the variables of promoted elements into scope.
    pub fn promote(&mut self, elements: &[Access]) -> Result<Vec<Promotion>, Diagnostic> {
        let mut out = Vec::new();
        for access in elements {
            let (element, elem) = self.access(access)?;
            let array = self.array(&access.array)?.clone();
            let variable = self.names.take(&format!("{}_value", access.array));
            out.push(Promotion {
                array: access.array.clone(),
                variable: variable.clone(),
                load: CStmt::Declare {
                    ty: self.elem_type(&elem),
                    name: variable.clone(),
                    dims: Vec::new(),
                    init: Some(element.clone()),
                },
                store: CStmt::Assign(element, "=", CExpr::name(&variable)),
            });
            let binding = Array { base: CExpr::name(variable), form: Form::Element, ..array };
            self.scope.push(&access.array, Binding::Array(binding));
        }
        Ok(out)
    }

    /// The loop between the loads and stores of its promoted elements, whose scope ends here; under
    /// `guard` if there is one.
    pub(crate) fn demote(
        &mut self,
        promotions: Vec<Promotion>,
        guard: Option<CExpr>,
        stmts: Vec<CStmt>,
    ) -> Vec<CStmt> {
        if promotions.is_empty() {
            return stmts;
        }
        for promotion in promotions.iter().rev() {
            self.scope.pop(&promotion.array);
            self.names.release(&promotion.variable);
        }
        let mut out: Vec<CStmt> = promotions.iter().map(|p| p.load.clone()).collect();
        out.extend(stmts);
        out.extend(promotions.into_iter().map(|p| p.store));
        match guard {
            Some(guard) => vec![CStmt::If(guard, out, Vec::new())],
            None => vec![CStmt::Block(None, out)],
        }
    }
}

/// What is declared inside a loop.
struct Inside<'a> {
    vars: Vec<&'a Name>,
    locals: BTreeSet<Name>,
    /// Whether there are parallel regions.
    regions: bool,
}

impl<'a> Inside<'a> {
    fn look(&mut self, body: &'a [Stmt], parallel: bool) {
        for stmt in body {
            match stmt {
                Stmt::Loop(l) => {
                    self.vars.push(&l.var);
                    self.regions |= parallel && l.kind == LoopKind::Parallel;
                }
                Stmt::Local(decl) => {
                    self.locals.insert(decl.name.clone());
                }
                _ => {}
            }
            for inner in stmt.bodies() {
                self.look(inner, parallel);
            }
        }
    }
}
