//! Boxes of constant extents around what accesses touch in a tile, by the numbers of the tile loops
//! (section 5.2).
//!
//! The same boxes are asked for at many sizes of tiles, in the search and again for the sizes that
//! it has chosen; questions that come again are answered from what is known ([`crate::memo`]).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;

use isl::{Aff, Dim, Map, PwAff, UnionMap, UnionSet};
use loops::simplify::tidy;
use loops::{Expr, Name};

use super::data_mapping::{Group, Site, declared};
use super::host_split::{self, Kernel};
use crate::fault::{self, Result};
use crate::memo::Hull;
use crate::model::Model;
use crate::names::readable;
use crate::tree::Member;

/// An affine function of the schedule's dimensions and the sizes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Corner {
    /// Factors of schedule dimensions, by depth.
    pub dims: Vec<(usize, i64)>,
    /// Factors of sizes.
    pub sizes: Vec<(Name, i64)>,
    /// The constant.
    pub constant: i64,
    /// Whether it can be negative, and then is cut off at 0.
    pub clip: bool,
}

impl Corner {
    pub(super) fn of(model: &Model, aff: &Aff) -> isl::Result<Option<Corner>> {
        if aff.dim(Dim::Div)? > 0 || aff.denominator()?.to_i64()? != 1 {
            return Ok(None);
        }
        let mut corner = Corner { constant: aff.constant()?.to_i64()?, ..Corner::default() };
        for k in 0..aff.dim(Dim::In)? {
            let factor = aff.coefficient(Dim::In, k)?.to_i64()?;
            if factor != 0 {
                corner.dims.push((k, factor));
            }
        }
        let space = aff.domain_space()?;
        for k in 0..aff.dim(Dim::Param)? {
            let factor = aff.coefficient(Dim::Param, k)?.to_i64()?;
            if factor != 0 {
                let name = space.dim_name(Dim::Param, k)?.unwrap_or_default();
                let size = model.function.sizes.iter().find(|size| readable(size) == name);
                let Some(size) = size else { return Ok(None) };
                corner.sizes.push((size.clone(), factor));
            }
        }
        Ok(Some(corner))
    }

    /// As an expression; `at` gives the schedule's dimensions.
    pub fn expr(&self, at: &dyn Fn(usize) -> Expr) -> Expr {
        let mut sum = Expr::Int(self.constant);
        for (dim, factor) in &self.dims {
            sum = sum + at(*dim) * *factor;
        }
        for (size, factor) in &self.sizes {
            sum = sum + Expr::Var(size.clone()) * *factor;
        }
        let sum = tidy(&sum);
        if self.clip { Expr::Int(0).max(sum) } else { sum }
    }

    /// In the set library's notation, over dimensions `t0`, `t1`, ...
    fn text(&self) -> String {
        let mut text = self.constant.to_string();
        for (dim, factor) in &self.dims {
            text.push_str(&format!(" + {factor} * t{dim}"));
        }
        for (size, factor) in &self.sizes {
            text.push_str(&format!(" + {factor} * {}", readable(size)));
        }
        text
    }
}

/// From instances to the numbers of the outer loops and of the first `level` tile loops.
pub(super) fn prefix(model: &Model, kernel: &Kernel, part: usize, level: usize) -> Result<UnionMap> {
    let (of, domain) = instances(model, kernel, part)?;
    prefix_on(model, (kernel, part, level), &of, &domain)
}

/// As [`prefix`], for all that lies between the bounds of the instances, whatever conditions on
/// remainders (`i % 3 != 0`, steps) leave out.
pub(super) fn prefix_by_bounds(
    model: &Model,
    kernel: &Kernel,
    part: usize,
    level: usize,
) -> Result<UnionMap> {
    let (of, domain) = instances(model, kernel, part)?;
    let of = format!("bounds of {of}");
    let between = || domain.remove_divs().map_err(fault::library);
    let between = model.memos.sets.get(&of, between)?;
    prefix_on(model, (kernel, part, level), &of, &between)
}

/// The instances of a part, and what they are called in questions.
fn instances(model: &Model, kernel: &Kernel, part: usize) -> Result<(String, UnionSet)> {
    let text = &kernel.parts[part].filter;
    let of = format!("part: {}", text.as_str());
    let domain = || -> Result<UnionSet> {
        let filter = host_split::read(model, text)?;
        let domain = model.domain()?.intersect(&filter).and_then(|d| d.intersect_params(&model.context));
        domain.map_err(fault::library)
    };
    let domain = model.memos.sets.get(&of, domain)?;
    Ok((of, domain))
}

/// As [`prefix`], for the instances of one statement.
fn prefix_of(model: &Model, kernel: &Kernel, site: &Site, level: usize) -> Result<UnionMap> {
    let own = format!("statement: {}", site.statement);
    let domain = || {
        let domain = model.statements[site.statement].domain.to_union();
        domain.and_then(|d| d.intersect_params(&model.context)).map_err(fault::library)
    };
    let domain = model.memos.sets.get(&own, domain)?;
    prefix_on(model, (kernel, site.part, level), &own, &domain)
}

/// The outer loops, and the first `level` tile loops of a part with the sizes of their tiles.
fn around(kernel: &Kernel, part: usize, level: usize) -> Vec<(&Member, Option<i64>)> {
    let part = &kernel.parts[part];
    let tiles =
        kernel.parallel.iter().zip(&kernel.sizes).chain(part.inner.iter().zip(&part.sizes)).take(level);
    kernel.outer.iter().map(|m| (m, None)).chain(tiles.map(|(m, size)| (m, Some(*size)))).collect()
}

/// Loops in words, as part of a question.
fn told(around: &[(&Member, Option<i64>)]) -> String {
    let each = around.iter().map(|(member, size)| format!(" | {} / {size:?}", member.function.as_str()));
    each.collect()
}

fn prefix_on(
    model: &Model,
    (kernel, part, level): (&Kernel, usize, usize),
    of: &str,
    domain: &UnionSet,
) -> Result<UnionMap> {
    let around = around(kernel, part, level);
    let mut map: Option<UnionMap> = None;
    for (k, (member, size)) in around.iter().enumerate() {
        let own = || -> Result<UnionMap> {
            let function = host_split::function(model, member)?;
            let own = || -> isl::Result<UnionMap> {
                let function = function.intersect_domain(domain)?;
                let own = match size {
                    None => function,
                    Some(size) => function.scale_down(*size)?.floor()?,
                };
                let graph = own.graph()?;
                match &map {
                    None => Ok(graph),
                    Some(before) => before.flat_range_product(&graph),
                }
            };
            own().map_err(fault::library)
        };
        let own = model.memos.prefixes.get(&format!("{of}{}", told(&around[..=k])), own)?;
        map = Some(own);
    }
    map.ok_or_else(|| fault::edit("a kernel without loops"))
}

/// The elements that an access touches while a kernel runs, by the numbers of the loops around the
/// kernel.
pub(super) fn reached(model: &Model, kernel: &Kernel, site: &Site) -> Result<UnionMap> {
    let elements = || site.touch.relation.intersect_params(&model.context)?.to_union();
    let elements = elements().map_err(fault::library)?;
    if !kernel.outer.is_empty() {
        let prefix = prefix_of(model, kernel, site, 0)?;
        return prefix.reverse().and_then(|all| all.apply_range(&elements)).map_err(fault::library);
    }
    let once = || -> isl::Result<UnionMap> {
        UnionMap::from_domain_and_range(&UnionSet::read(&model.ctx, "{ [] }")?, &elements.range()?)
    };
    once().map_err(fault::library)
}

/// Where the elements end that accesses touch in an iteration of the loops around a kernel, in each
/// dimension in which that moves with these loops.
pub(super) fn ends(model: &Model, kernel: &Kernel, sites: &[&Site]) -> Result<Vec<Option<Corner>>> {
    let none = || vec![None; sites.first().map_or(0, |site| site.access.indices.len())];
    if kernel.outer.is_empty() {
        return Ok(none());
    }
    let Some(reached) = touched(model, kernel, sites, 0)? else { return Ok(none()) };
    let last = || -> isl::Result<Vec<Option<Corner>>> {
        let end = |last: &PwAff| -> isl::Result<Option<Corner>> {
            let pieces = last.coalesce()?.pieces()?;
            let [(_, aff)] = pieces.as_slice() else { return Ok(None) };
            let last = Corner::of(model, aff)?.filter(|last| !last.dims.is_empty());
            Ok(last.map(|last| Corner { constant: last.constant + 1, ..last }))
        };
        reached.coalesce()?.max_multi_pw_aff()?.pw_affs()?.iter().map(end).collect()
    };
    last().map_err(fault::library)
}

/// The elements that accesses touch in a tile, by the numbers of the tile loops.
pub(super) fn touched(model: &Model, kernel: &Kernel, sites: &[&Site], level: usize) -> Result<Option<Map>> {
    let mut all = UnionMap::empty(&model.ctx).map_err(fault::library)?;
    let mut prefixes: BTreeMap<usize, UnionMap> = BTreeMap::new();
    for site in sites {
        let prefix = match prefixes.entry(site.statement) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(prefix_of(model, kernel, site, level)?),
        };
        let own = || prefix.reverse()?.apply_range(&site.touch.relation.to_union()?);
        all = own().and_then(|own| all.union(&own)).map_err(fault::library)?;
    }
    let maps = all.coalesce().and_then(|all| all.maps()).map_err(fault::library)?;
    Ok(maps.into_iter().next())
}

/// Extents and corner of the box around accesses, if there is one.
///
/// A tighter corner may be a quotient of a tile's number (blocks of a reduction); then fewer tile
/// loops give a corner that is affine.
pub(super) fn boxed(
    model: &Model,
    kernel: &Kernel,
    sites: &[&Site],
    level: usize,
) -> Result<Option<(Vec<i64>, Vec<Corner>)>> {
    for level in (kernel.parallel.len().min(level)..=level).rev() {
        if let Some(found) = boxed_at(model, kernel, sites, level)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn boxed_at(
    model: &Model,
    kernel: &Kernel,
    sites: &[&Site],
    level: usize,
) -> Result<Option<(Vec<i64>, Vec<Corner>)>> {
    let mut question = String::new();
    for site in sites {
        let loops = told(&around(kernel, site.part, level));
        let _ = writeln!(question, "{} {}{loops}", site.statement, site.number);
    }
    let Some(hull) = model.memos.hulls.get(&question, || hull(model, kernel, sites, level))? else {
        return Ok(None);
    };
    let corner = || -> isl::Result<Option<Vec<Corner>>> {
        let corner = |(aff, clip): &(Aff, bool)| {
            let corner = Corner::of(model, aff)?;
            Ok(corner.map(|corner| Corner { clip: *clip, ..corner }))
        };
        hull.corner.iter().map(corner).collect()
    };
    Ok(corner().map_err(fault::library)?.map(|corner| (hull.extents, corner)))
}

/// The box around accesses in a tile.
fn hull(model: &Model, kernel: &Kernel, sites: &[&Site], level: usize) -> Result<Option<Hull>> {
    let Some(map) = touched(model, kernel, sites, level)? else { return Ok(None) };
    let read = || -> isl::Result<Option<Hull>> {
        if map.dim(Dim::Out)? == 0 {
            return Ok(Some(Hull { extents: vec![], corner: vec![] }));
        }
        let found = map.fixed_box()?;
        if !found.is_valid()? {
            return Ok(None);
        }
        let extents = found.extents()?.iter().map(|v| v.to_i64()).collect::<isl::Result<Vec<_>>>()?;
        let tiles = map.domain()?;
        let mut corner = Vec::new();
        for aff in found.offset()?.affs()? {
            let function = aff.to_pw()?;
            let zero = PwAff::constant(&function.domain_space()?, 0)?;
            let negative = !function.lt_set(&zero)?.intersect(&tiles)?.is_empty()?;
            corner.push((aff, negative));
        }
        Ok(Some(Hull { extents, corner }))
    };
    read().map_err(fault::library)
}

/// The box of a group as a map from the numbers of its tile loops; none if the extents of the array
/// cannot be written as a set.
pub(super) fn box_map(model: &Model, kernel: &Kernel, group: &Group) -> Result<Option<Map>> {
    let Some((_, dims)) = declared(model, &group.array) else { return Ok(None) };
    let sizes: Vec<String> = model.function.sizes.iter().map(|s| readable(s)).collect();
    let tiles: Vec<String> = (0..kernel.outer.len() + group.level).map(|k| format!("t{k}")).collect();
    let elements: Vec<String> = (0..dims.len()).map(|k| format!("a{k}")).collect();
    let mut conditions = Vec::new();
    for (k, (corner, extent)) in group.corner.iter().zip(&group.extents).enumerate() {
        let Some(dim) = text(&dims[k]) else { return Ok(None) };
        let corner = corner.text();
        conditions
            .push(format!("a{k} >= 0 and a{k} < {dim} and a{k} >= {corner} and a{k} < {corner} + {extent}"));
        if let Some(end) = &group.ends[k] {
            conditions.push(format!("a{k} < {}", end.text()));
        }
    }
    let array =
        group.accesses.first().map(|(_, access)| crate::model::array_tuple(&access.array, &access.path));
    let text = format!(
        "[{}] -> {{ [{}] -> {}[{}] : {} }}",
        sizes.join(", "),
        tiles.join(", "),
        array.unwrap_or_default(),
        elements.join(", "),
        if conditions.is_empty() { "true".to_owned() } else { conditions.join(" and ") }
    );
    Map::read(&model.ctx, &text).map(Some).map_err(fault::library)
}

/// An extent in the set library's notation, if it is affine.
pub(super) fn text(expr: &Expr) -> Option<String> {
    Some(match expr {
        Expr::Int(n) => n.to_string(),
        Expr::Var(name) => readable(name),
        Expr::Binary(op @ (loops::BinaryOp::Add | loops::BinaryOp::Sub), a, b) => {
            let sign = if *op == loops::BinaryOp::Add { '+' } else { '-' };
            format!("({} {sign} {})", text(a)?, text(b)?)
        }
        Expr::Binary(loops::BinaryOp::Mul, a, b) => match (&**a, &**b) {
            (Expr::Int(n), other) | (other, Expr::Int(n)) => format!("({n} * {})", text(other)?),
            _ => return None,
        },
        Expr::Binary(loops::BinaryOp::Max, a, b) => format!("max({}, {})", text(a)?, text(b)?),
        Expr::Binary(loops::BinaryOp::Min, a, b) => format!("min({}, {})", text(a)?, text(b)?),
        // Both have no element where the quotient is below 0.
        Expr::Binary(loops::BinaryOp::FloorDiv | loops::BinaryOp::Div, a, b) => match &**b {
            Expr::Int(n) if *n > 0 => format!("floor(({}) / {n})", text(a)?),
            _ => return None,
        },
        _ => return None,
    })
}
