//! Shares that stay: of a vector that all cores need again for each tile, each core keeps its share
//! for as long as the loops over cores run, so that the vector is read once. How many shares there
//! are depends on the sizes, so the host asks whether they are such that all have a place.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Expr, Name, Stmt};

use super::mapped_tree::KERNEL;
use super::multicast::Line;
use super::search::{Search, Shape};
use super::tile_sizes::ceil;
use super::{Mapped, Options, multiversioning};
use crate::names::readable;

impl Search<'_> {
    /// Whether a box is one of a vector that all cores need in each step.
    pub fn vector(&self, shape: &Shape) -> bool {
        let all = shape.group.shared.is_some_and(|shared| shared.line == Line::All);
        all && shape.group.extents.len() == 1 && self.innermost(&shape.group)
    }

    /// Whether shares of the vectors of a part stay for all tiles: the tiles need them again, the
    /// innermost loop alone moves them, all sizes are said, and there is room for the shares of all
    /// its steps beside two places of what comes ahead.
    pub fn stay(&self, part: usize, sizes: &[i64], own: &[i64]) -> bool {
        let (Some(size), Some(trips)) = (own.last(), self.inner[part].last()) else { return false };
        let said = self.model.function.sizes.iter().all(|name| self.hints.contains_key(&readable(name)));
        let plain = !self.kernel.whole && self.regions.iter().all(Option::is_none);
        if !self.stay || !plain || !said {
            return false;
        }
        let all: Vec<i64> = sizes.iter().chain(own).copied().collect();
        let innermost = all.len() - 1;
        let again = self.rounds(Some(part), sizes, own).iter().take(innermost).product::<f64>() > 1.0;
        let steps = ceil(multiversioning::bound(*trips), *size);
        let (mut any, mut more) = (false, 0_i64);
        for shape in self.shapes.iter().filter(|s| s.group.part == Some(part) && self.vector(s)) {
            let Some(shared) = shape.group.shared else { continue };
            if shape.group.corner.iter().any(|c| c.dims.iter().any(|(depth, _)| *depth != innermost)) {
                return false;
            }
            any = true;
            let place = shared.place(&shape.extents(&all), shape.group.width);
            more = more.saturating_add((steps - 1).saturating_mul(place));
        }
        let used = self.bytes(None, sizes) + self.bytes(Some(part), &all) + self.second(Some(part), &all);
        any && again && used.saturating_add(more) <= self.ldm - self.turned()
    }
}

/// A mapped program in which each kernel with shares that stay is there twice: for sizes for which
/// they have places, and for all. Where no size says how many there are, once.
pub(super) fn bounded(mut mapped: Mapped, options: &Options) -> Mapped {
    let bounds: BTreeMap<Name, i64> = mapped
        .function
        .sizes
        .iter()
        .filter_map(|name| Some((name.clone(), multiversioning::bound(*options.hints.get(name)?))))
        .collect();
    let mut told = BTreeSet::new();
    let body = std::mem::take(&mut mapped.function.body);
    mapped.function.body = either(&body, &bounds, &mut told);
    mapped.notes.extend(told);
    mapped
}

/// Statements with each kernel as it is to be, and what is to be said of them.
fn either(body: &[Stmt], bounds: &BTreeMap<Name, i64>, told: &mut BTreeSet<String>) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Block { mark: Some(mark), .. } if mark.as_str() == KERNEL => {
                let (arrays, asked) = asked(stmt, bounds);
                let line = format!("what each core brings in of {} for all of them stays", arrays.join(", "));
                let cond = asked.iter().map(|(name, n)| Expr::Var((*name).clone()).at_most(*n));
                let Some(cond) = cond.reduce(Expr::and) else {
                    told.extend((!arrays.is_empty()).then_some(line));
                    return stmt.clone();
                };
                let sizes: Vec<String> = asked.iter().map(|(name, n)| format!("{name} <= {n}")).collect();
                told.insert(format!("{line} for {}", sizes.join(", ")));
                let otherwise = without(std::slice::from_ref(stmt));
                Stmt::If { cond, then: multiversioning::relabelled(vec![stmt.clone()], "stay"), otherwise }
            }
            Stmt::Block { .. } | Stmt::Loop(_) | Stmt::If { .. } => {
                stmt.map(&mut Expr::clone, &mut |body| either(body, bounds, told))
            }
            other => other.clone(),
        })
        .collect()
}

/// The arrays of a kernel whose shares stay, and the sizes that say how many these are: those in
/// the bounds of the loops around.
fn asked<'b>(stmt: &Stmt, bounds: &'b BTreeMap<Name, i64>) -> (Vec<String>, BTreeMap<&'b Name, i64>) {
    let (mut arrays, mut asked) = (BTreeSet::new(), BTreeMap::new());
    for s in stmt.nodes() {
        let Stmt::Loop(l) = s else { continue };
        let [Stmt::Block { mark: None, body }] = l.body.as_slice() else { continue };
        for copies in body.iter().filter_map(staying) {
            arrays.extend(copies.iter().filter_map(|s| match s {
                Stmt::Copy(copy) => Some(format!("`{}`", copy.from.array)),
                _ => None,
            }));
            let names = l.upper.vars();
            asked.extend(bounds.iter().filter(|(name, _)| names.contains(*name)).map(|(name, n)| (name, *n)));
        }
    }
    (arrays.into_iter().collect(), asked)
}

/// What is in a mark around a transfer whose shares stay.
fn staying(stmt: &Stmt) -> Option<&[Stmt]> {
    match stmt {
        Stmt::Block { mark: Some(mark), body } if mark.as_str() == Line::Stay.mark() => Some(body),
        _ => None,
    }
}

/// Statements whose shares come again for each tile.
fn without(body: &[Stmt]) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match staying(stmt) {
            Some(body) => Stmt::Block { mark: Some(Name::new(Line::All.mark())), body: body.to_vec() },
            None => stmt.map(&mut Expr::clone, &mut without),
        })
        .collect()
}
