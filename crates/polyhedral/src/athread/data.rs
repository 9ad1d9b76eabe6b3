//! Data mapping (sections 5.1 to 5.3): what goes to local memory, in which boxes, and inside which loop it is moved.
//!
//! The four principles: what the cores read and have not written is brought in; what they write is brought out; scalars are arrays of no dimensions;
//! scalars that are only read are arguments of the kernel. Accesses of one array share a buffer where a box around all is no larger than their own boxes.
//! A box has constant extents and a corner that is affine in the numbers of the tiles; at the rim of the array it is cut off.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;

use isl::{Aff, Dim, Map, PwAff, UnionMap, UnionSet};
use loops::{Access, Expr, Name, ParamMode};

use super::share::Shared;
use super::split::{self, Kernel};
use crate::codegen::tidy;
use crate::dependence;
use crate::fault::{self, Result};
use crate::memo::Hull;
use crate::model::{Model, Touch};
use crate::names::readable;
use crate::tree::Member;

/// A buffer in local memory and the accesses that go to it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The array in main memory.
    pub array: Name,
    /// The part that it belongs to; all, if none.
    pub part: Option<usize>,
    /// Inside how many of the tile loops (the parallel ones included) it is moved.
    pub level: usize,
    /// The accesses: statement (as position in the model), and the access as the text has it.
    pub accesses: Vec<(usize, Access)>,
    /// Bytes of an element.
    pub width: i64,
    /// Extents of the box.
    pub extents: Vec<i64>,
    /// Its corner over the schedule's dimensions and the sizes.
    pub corner: Vec<Corner>,
    /// Whether it is brought in.
    pub get: bool,
    /// Whether it is brought out.
    pub put: bool,
    /// The cores that bring it in together.
    pub shared: Option<Shared>,
    /// Whether it is the same for all tiles of a core, and stays.
    pub kept: bool,
    /// Whether the cores have it in local memory already, other parts each, and may exchange it.
    pub exchanged: bool,
}

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
    fn of(model: &Model, aff: &Aff) -> isl::Result<Option<Corner>> {
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

/// An access of a kernel.
pub(super) struct Site<'a> {
    pub part: usize,
    pub statement: usize,
    pub access: Access,
    /// Which access of the statement it is.
    pub number: usize,
    pub touch: &'a Touch,
}

/// Type and extents of an array of the function.
pub(super) fn declared<'a>(model: &'a Model, array: &Name) -> Option<(&'a loops::Elem, &'a [Expr])> {
    let params =
        model.function.params.iter().find(|p| p.name == *array).map(|p| (&p.elem, p.dims.as_slice()));
    params.or_else(|| model.locals.iter().find(|l| l.name == *array).map(|l| (&l.elem, l.dims.as_slice())))
}

/// Whether an array is a scalar that is only read: an argument of the kernel.
pub(super) fn is_argument(model: &Model, array: &Name) -> bool {
    model.function.params.iter().any(|p| p.name == *array && p.dims.is_empty() && p.mode == ParamMode::In)
}

/// The accesses of a kernel to arrays that may go to local memory. Loads come in the order in which the model lists them.
pub(super) fn sites<'a>(model: &'a Model, kernel: &Kernel) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for (part, own) in kernel.parts.iter().enumerate() {
        for statement in &own.statements {
            let s = &model.statements[*statement];
            let mut texts: Vec<&Access> = Vec::new();
            for expr in s.assign.target.indices.iter().chain([&s.assign.value]) {
                expr.walk(&mut |e| {
                    if let Expr::Load(access) = e {
                        texts.push(access);
                    }
                });
            }
            if s.assign.update.is_some() {
                texts.push(&s.assign.target);
            }
            texts.push(&s.assign.target);
            for (number, (touch, access)) in s.accesses.iter().zip(texts).enumerate() {
                if !is_argument(model, &touch.array) {
                    sites.push(Site { part, statement: *statement, access: access.clone(), number, touch });
                }
            }
        }
    }
    sites
}

/// From instances to the numbers of the outer loops and of the first `level` tile loops.
pub(super) fn prefix(model: &Model, kernel: &Kernel, part: usize, level: usize) -> Result<UnionMap> {
    let (of, domain) = instances(model, kernel, part)?;
    prefix_on(model, (kernel, part, level), &of, &domain)
}

/// As [`prefix`], for all that lies between the bounds of the instances, whatever conditions on remainders (`i % 3 != 0`, steps) leave out.
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
        let filter = split::read(model, text)?;
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
            let function = split::function(model, member)?;
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

/// The elements that accesses touch in a tile, by the numbers of the tile loops.
fn touched(model: &Model, kernel: &Kernel, sites: &[&Site], level: usize) -> Result<Option<Map>> {
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
/// A tighter corner may be a quotient of a tile's number (blocks of a reduction); then fewer tile loops give a corner that is affine.
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

/// Groups the accesses of a kernel into buffers; the kernel has sizes for its tiles. `None` for accesses that no box can hold.
pub(super) fn groups(model: &Model, kernel: &Kernel) -> Result<std::result::Result<Vec<Group>, Name>> {
    let sites = sites(model, kernel);
    let mut arrays: Vec<&Name> = Vec::new();
    for site in &sites {
        if !arrays.contains(&&site.touch.array) {
            arrays.push(&site.touch.array);
        }
    }
    let outer = kernel.parallel.len();
    let mut groups = Vec::new();
    for array in arrays {
        let own: Vec<&Site> = sites.iter().filter(|s| s.touch.array == *array).collect();
        // One buffer for all parts, if the loops of the parts do not move it.
        let deep = |site: &Site| outer + kernel.parts[site.part].inner.len();
        if let Some((extents, _)) = boxed(model, kernel, &own, outer)? {
            let mut still = true;
            for part in 0..kernel.parts.len() {
                let here: Vec<&Site> = own.iter().copied().filter(|s| s.part == part).collect();
                let Some(first) = here.first() else { continue };
                still &= boxed(model, kernel, &here, deep(first))?.is_some_and(|(own, _)| own == extents);
            }
            if still {
                groups.push(group(model, kernel, &own, None, outer)?);
                continue;
            }
        }
        for part in 0..kernel.parts.len() {
            let here: Vec<&Site> = own.iter().copied().filter(|s| s.part == part).collect();
            if here.is_empty() {
                continue;
            }
            let level = outer + kernel.parts[part].inner.len();
            let mut buffers: Vec<Vec<&Site>> = Vec::new();
            for site in &here {
                let Some((alone, _)) = boxed(model, kernel, &[site], level)? else {
                    return Ok(Err(array.clone()));
                };
                let mut found = false;
                for buffer in &mut buffers {
                    if buffer.iter().any(|other| other.access == site.access) {
                        buffer.push(site);
                        found = true;
                        break;
                    }
                    let before = boxed(model, kernel, buffer, level)?.map_or(i64::MAX, |(e, _)| volume(&e));
                    buffer.push(site);
                    let together = boxed(model, kernel, buffer, level)?.map_or(i64::MAX, |(e, _)| volume(&e));
                    if together <= before.saturating_add(volume(&alone)) {
                        found = true;
                        break;
                    }
                    buffer.pop();
                }
                if !found {
                    buffers.push(vec![site]);
                }
            }
            for buffer in buffers {
                // The outermost place from which on the inner loops do not move the box.
                let mut at = level;
                let extents = boxed(model, kernel, &buffer, level)?.map(|(e, _)| e);
                while at > outer && boxed(model, kernel, &buffer, at - 1)?.map(|(e, _)| e) == extents {
                    at -= 1;
                }
                groups.push(group(model, kernel, &buffer, Some(part), at)?);
            }
        }
    }
    Ok(Ok(groups))
}

pub(super) fn volume(extents: &[i64]) -> i64 {
    extents.iter().fold(1, |v: i64, e| v.saturating_mul(*e))
}

fn group(
    model: &Model,
    kernel: &Kernel,
    sites: &[&Site],
    part: Option<usize>,
    level: usize,
) -> Result<Group> {
    let array = sites[0].touch.array.clone();
    let Some((extents, corner)) = boxed(model, kernel, sites, level)? else {
        return Err(fault::edit(format!("`{array}` has no box")));
    };
    let mut accesses: Vec<(usize, Access)> = Vec::new();
    for site in sites {
        let access = (site.statement, site.access.clone());
        if !accesses.contains(&access) {
            accesses.push(access);
        }
    }
    let width = declared(model, &array).map_or(8, |(elem, _)| crate::locality::bytes(elem));
    let written = sites.iter().any(|s| s.touch.write);
    let mut group = Group {
        array,
        part,
        level,
        accesses,
        width,
        extents,
        corner,
        get: true,
        put: written,
        shared: None,
        kept: false,
        exchanged: false,
    };
    group.get = !written || !written_first(model, kernel, &group, sites)?;
    // An array of the function's own that nothing but this buffer uses never leaves local memory.
    let own = model.locals.iter().any(|l| l.name == group.array);
    let elsewhere = model.statements.iter().enumerate().any(|(k, s)| {
        s.accesses.iter().any(|t| t.array == group.array) && !sites.iter().any(|site| site.statement == k)
    });
    if own && !elsewhere && !group.get && group.part.is_none() {
        group.put = false;
    }
    Ok(group)
}

/// Whether the first thing that happens to a box is that one statement writes all of it.
fn written_first(model: &Model, kernel: &Kernel, group: &Group, sites: &[&Site]) -> Result<bool> {
    let Some(first) = sites.iter().map(|s| s.part).min() else { return Ok(false) };
    let here: Vec<&&Site> = sites.iter().filter(|s| s.part == first).collect();
    let [only] = here.as_slice() else { return Ok(false) };
    if !only.touch.write || kernel.parts[first].statements.len() != 1 {
        return Ok(false);
    }
    let Some(written) = touched(model, kernel, &[only], group.level)? else { return Ok(false) };
    Ok(match box_map(model, kernel, group)? {
        Some(whole) => {
            let covers = || -> isl::Result<bool> {
                let tiles = written.domain()?;
                whole.intersect_domain(&tiles)?.is_subset(&written)
            };
            covers().map_err(fault::library)?
        }
        None => false,
    })
}

/// The box of a group as a map from the numbers of its tile loops; none if the extents of the array cannot be written as a set.
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
fn text(expr: &Expr) -> Option<String> {
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
        Expr::Binary(loops::BinaryOp::FloorDiv, a, b) => match &**b {
            Expr::Int(n) if *n > 0 => format!("floor(({}) / {n})", text(a)?),
            _ => return None,
        },
        _ => return None,
    })
}

/// Why a kernel cannot be mapped, and what a user can do about it.
pub(super) struct Conflict {
    pub reason: String,
    pub way_out: String,
}

/// Why the buffers of a kernel would not be coherent with main memory, if they would not.
///
/// Cores share nothing while a kernel runs: what one brings out no other may touch. On one core, a value that is read through another buffer than
/// the one that it was written to must have gone out and come in between.
pub(super) fn conflict(model: &Model, kernel: &Kernel, mapped: usize) -> Result<Option<Conflict>> {
    let because = |reason: String, way_out: &str| Ok(Some(Conflict { reason, way_out: way_out.to_owned() }));
    let sites = sites(model, kernel);
    for written in kernel.groups.iter().filter(|g| g.put) {
        if written.width % 4 != 0 {
            return because(
                format!(
                    "elements of `{}` have {} bytes, and transfers move multiples of 4",
                    written.array, written.width
                ),
                "declare what the cores write with elements of 4 or 8 bytes, for example `int`",
            );
        }
        let Some(out) = by_core(model, kernel, written, mapped)? else {
            return because(
                format!("the extents of `{}` are not affine", written.array),
                "declare the array with a dimension for each loop instead of products of sizes",
            );
        };
        for other in kernel.groups.iter().filter(|g| g.array == written.array) {
            let Some(there) = by_core(model, kernel, other, mapped)? else { continue };
            let clash = || -> isl::Result<bool> {
                // Pairs of tiles of different cores that touch a common element.
                let pairs = out.apply_range(&there.reverse()?)?;
                let equal = isl::Map::identity(&pairs.space()?)?;
                Ok(!pairs.subtract(&equal)?.is_empty()?)
            };
            if clash().map_err(fault::library)? {
                return because(
                    format!("the boxes of `{}` of two cores overlap", written.array),
                    "write the results to a second array, with a statement of its own that copies them back; or use `--target openmp`",
                );
            }
            if std::ptr::eq(other, written) {
                continue;
            }
            if let (Some(a), Some(b)) = (written.part, other.part)
                && a != b
            {
                continue;
            }
            if other.put && written.part == other.part {
                return because(
                    format!("`{}` is written through two boxes", written.array),
                    "put the statements that write it into loops of their own",
                );
            }
            let level = written.level.min(other.level);
            for w in sites.iter().filter(|s| s.touch.write && of_group(s, written)) {
                for r in sites.iter().filter(|s| !s.touch.write && of_group(s, other)) {
                    let flows = || -> Result<bool> {
                        let (a, b) = (&model.statements[w.statement], &model.statements[r.statement]);
                        let pairs = w
                            .touch
                            .relation
                            .apply_range(&r.touch.relation.reverse().map_err(fault::library)?);
                        let pairs = pairs
                            .and_then(|p| p.intersect(&dependence::before(a, b)?))
                            .map_err(fault::library)?;
                        let (left, right) =
                            (prefix(model, kernel, w.part, level)?, prefix(model, kernel, r.part, level)?);
                        let same = left
                            .apply_range(&right.reverse().map_err(fault::library)?)
                            .map_err(fault::library)?;
                        let both = pairs.to_union().and_then(|p| p.intersect(&same)?.is_empty());
                        Ok(!both.map_err(fault::library)?)
                    };
                    if flows()? {
                        return because(
                            format!("`{}` is read through another box than it is written to", written.array),
                            "read it from a second array, or put the statement that reads it into a loop of its own",
                        );
                    }
                }
            }
        }
    }
    Ok(None)
}

fn of_group(site: &Site, group: &Group) -> bool {
    group.part.is_none_or(|part| part == site.part)
        && group
            .accesses
            .iter()
            .any(|(statement, access)| *statement == site.statement && *access == site.access)
}

/// The box of a group by outer loops and the tile numbers that are mapped to cores; the outer loops are kept on the side of the elements too.
fn by_core(model: &Model, kernel: &Kernel, group: &Group, mapped: usize) -> Result<Option<Map>> {
    let Some(whole) = box_map(model, kernel, group)? else { return Ok(None) };
    let outer = kernel.outer.len();
    let build = || -> Result<Map> {
        let part = group.part.unwrap_or(0);
        let mut tiles: Option<UnionSet> = None;
        let parts: Vec<usize> = match group.part {
            Some(_) => vec![part],
            None => (0..kernel.parts.len()).collect(),
        };
        for part in parts {
            let range = prefix(model, kernel, part, group.level)?.range().map_err(fault::library)?;
            tiles = Some(match tiles {
                None => range,
                Some(before) => before.union(&range).map_err(fault::library)?,
            });
        }
        let tiles = tiles.ok_or_else(|| fault::edit("a kernel without parts"))?;
        let own = || -> isl::Result<Map> {
            let whole = whole.to_union()?.intersect_domain(&tiles)?;
            let whole = whole.maps()?.into_iter().next();
            let Some(map) = whole else { return Map::empty(&box_space(model, kernel, group)?) };
            // Same outer iteration: its numbers become coordinates of the elements.
            let mut map = map;
            for k in 0..outer {
                map = map.insert_dims(Dim::Out, k, 1)?.equate((Dim::In, k), (Dim::Out, k))?;
            }
            let n = map.dim(Dim::In)?;
            let first = outer + mapped;
            if n > first { map.project_out(Dim::In, first, n - first) } else { Ok(map) }
        };
        own().map_err(fault::library)
    };
    build().map(Some)
}

fn box_space(model: &Model, kernel: &Kernel, group: &Group) -> isl::Result<isl::Space> {
    let tiles = vec!["0"; kernel.outer.len() + group.level].join(", ");
    let elements = vec!["0"; kernel.outer.len() + group.extents.len()].join(", ");
    Map::read(&model.ctx, &format!("{{ [{tiles}] -> [{elements}] }}"))?.space()
}
