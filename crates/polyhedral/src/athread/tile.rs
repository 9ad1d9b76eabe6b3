//! Tile sizes (sections 4.2 and 5.2): formulas 14 and 17 for how the iterations are spread over the cores, 23 for what fits in local memory, and a
//! cost model that chooses among what is left: the time of the slowest core as the sum of its transfers and its arithmetic.

use std::collections::BTreeMap;

use isl::Dim;
use loops::{Code, Diagnostic};

use super::boxes;
use super::conflict;
use super::data::{self, Group};
use super::panel;
use super::refuse;
use super::region::Region;
use super::search::{self, Search, Shape};
use super::share;
use super::shift;
use super::split::{self, Item, Kernel, Part};
use super::{Grid, Options};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::names::readable;
use crate::tree::{Band, Branch, Member, Node};

/// A program with tile sizes and buffers.
pub(super) struct Sized {
    pub items: Vec<Item>,
    pub grid: Grid,
}

/// What an unknown size is taken for.
pub(super) const UNKNOWN: i64 = 1000;
/// Seconds that all cores wait for each other between two kernels.
const BARRIER: f64 = 1e-6;
/// A size beyond this is taken for it: tiles are the same then, and nothing overflows.
pub(super) const MOST: i64 = 1 << 28;

/// How many of the parallel loops of a kernel are mapped to the grid: formula 17 allows two where there are two.
pub(super) fn mapped(kernel: &Kernel, grid: Grid) -> Vec<i64> {
    match grid {
        Grid::Plane(rows, columns) if kernel.parallel.len() > 1 => vec![rows, columns],
        _ => vec![grid.cores()],
    }
}

/// Chooses sizes and buffers for all kernels; kernels whose data cannot be mapped stay on the host.
pub(super) fn choose(
    model: &Model,
    dependences: &[Dependence],
    items: Vec<Item>,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Sized> {
    let mut given_up = Vec::new();
    let items = choose_in(model, items, options, notes, &mut given_up)?;
    let _ = dependences;
    if !split::has_kernel(&items) {
        return Err(given_up.into_iter().next().unwrap_or_else(|| refuse::nothing_parallel(model, None)));
    }
    for diagnostic in given_up {
        notes.push(format!("on the host: {}", diagnostic.message));
    }
    Ok(Sized { items, grid: options.grid })
}

fn choose_in(
    model: &Model,
    items: Vec<Item>,
    options: &Options,
    notes: &mut Vec<String>,
    given_up: &mut Vec<Diagnostic>,
) -> Result<Vec<Item>> {
    let mut result = Vec::new();
    for item in items {
        match item {
            Item::Kernel(kernel) => match bounded(model, &kernel, options)? {
                Ok((kernel, line)) => {
                    notes.push(line);
                    result.push(Item::Kernel(kernel));
                }
                Err(diagnostic) => match distributed(model, &kernel, options, &diagnostic)? {
                    Some(kernels) => {
                        for (kernel, line) in kernels {
                            notes.push(line);
                            result.push(Item::Kernel(kernel));
                        }
                    }
                    None => {
                        given_up.push(diagnostic);
                        result.push(host(&kernel));
                    }
                },
            },
            Item::Loop { filter, members, items } => {
                let items = choose_in(model, items, options, notes, given_up)?;
                result.push(Item::Loop { filter, members, items });
            }
            Item::Host(branch) => result.push(Item::Host(branch)),
        }
    }
    Ok(result)
}

/// The parts of a refused kernel as kernels of their own, one after the other: since its loops are parallel, what a part needs of those before is of its own
/// iteration. Then more loops may be parallel, and a box of one part is not beside those of another. None where boxes do not meet, or one of the parts is refused.
fn distributed(
    model: &Model,
    kernel: &Kernel,
    options: &Options,
    refusal: &Diagnostic,
) -> Result<Option<Vec<(Kernel, String)>>> {
    if refusal.code.0 != "P0803" || kernel.parts.len() < 2 || kernel.outer.is_empty() || kernel.whole {
        return Ok(None);
    }
    let mut kernels = Vec::new();
    for part in &kernel.parts {
        let filter = split::read(model, &part.filter)?;
        let mut parallel = split::restricted(model, &kernel.parallel, &filter)?;
        let mut part = part.clone();
        // Parallel in each iteration of parallel loops: parallel with them.
        let more = part.inner.iter().take_while(|member| member.coincident).count();
        parallel.extend(part.inner.drain(..more.min(2usize.saturating_sub(parallel.len()))));
        let alone = Kernel { filter: part.filter.clone(), parallel, parts: vec![part], ..kernel.clone() };
        match bounded(model, &alone, options)? {
            Ok(sized) => kernels.push(sized),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(kernels))
}

/// As [`sized`], each kernel within a bound of its own; one that reaches it stays on the host.
fn bounded(
    model: &Model,
    kernel: &Kernel,
    options: &Options,
) -> Result<std::result::Result<(Kernel, String), Diagnostic>> {
    match model.ctx.limited(options.operations, || sized(model, kernel.clone(), options)) {
        Err(diagnostic) if fault::is_limit(&diagnostic) => Ok(Err(diagnostic)),
        other => other,
    }
}

/// A kernel as a nest of the host.
fn host(kernel: &Kernel) -> Item {
    let mut parts: Vec<Branch> = kernel
        .parts
        .iter()
        .map(|part| {
            let child = if part.inner.is_empty() {
                part.leaf.clone()
            } else {
                Node::Band(Band {
                    members: part.inner.clone(),
                    permutable: true,
                    isolate: None,
                    child: Box::new(part.leaf.clone()),
                })
            };
            Branch { filter: part.filter.clone(), child: Box::new(child) }
        })
        .collect();
    let child = if parts.len() == 1 { parts.remove(0).child } else { Box::new(Node::Sequence(parts)) };
    let band = Band { members: kernel.parallel.clone(), permutable: true, isolate: None, child };
    Item::Host(Branch { filter: kernel.filter.clone(), child: Box::new(Node::Band(band)) })
}

/// Number of iterations of a loop on some instances, at the values that sizes are taken to have.
pub(super) fn trips(
    model: &Model,
    member: &Member,
    filter: &isl::UnionSet,
    hints: &BTreeMap<String, i64>,
) -> Result<i64> {
    let function = split::function(model, member)?;
    let count = || -> isl::Result<i64> {
        let domain = match model.domain() {
            Ok(domain) => domain.intersect(filter)?,
            Err(_) => filter.clone(),
        };
        let range = function.graph()?.intersect_domain(&domain)?.range()?;
        let Some(mut set) = range.sets()?.into_iter().next() else { return Ok(1) };
        for k in 0..set.dim(Dim::Param)? {
            let name = set.dim_name(Dim::Param, k)?.unwrap_or_default();
            set = set.fix(Dim::Param, k, hints.get(&name).copied().unwrap_or(UNKNOWN))?;
        }
        if set.is_empty()? {
            return Ok(1);
        }
        let end = |f: isl::PwAff| -> isl::Result<i64> {
            Ok(match f.pieces()?.first() {
                Some((_, aff)) if aff.is_constant()? => aff.constant()?.to_i64().unwrap_or(UNKNOWN),
                Some((_, aff)) => {
                    let _ = aff;
                    UNKNOWN
                }
                None => UNKNOWN,
            })
        };
        let set = set.project_out(Dim::Param, 0, set.dim(Dim::Param)?)?;
        Ok(end(set.dim_max(0)?)?.saturating_sub(end(set.dim_min(0)?)?).saturating_add(1).clamp(1, MOST))
    };
    count().map_err(fault::library)
}

/// Modelled seconds of a program: of its kernels, as often as the loops around them have iterations, with a barrier for each.
pub(super) fn seconds(model: &Model, items: &[Item], options: &Options) -> Result<f64> {
    let hints: BTreeMap<String, i64> = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
    let mut all = 0.0;
    for item in items {
        all += match item {
            Item::Kernel(kernel) => kernel.cost + BARRIER,
            Item::Host(_) => 0.0,
            Item::Loop { filter, members, items } => {
                let mut times = 1.0;
                for member in members {
                    times *= trips(model, member, &split::read(model, filter)?, &hints)? as f64;
                }
                times * seconds(model, items, options)?
            }
        };
    }
    Ok(all)
}

/// The kernel that takes the most modelled seconds each time it runs.
pub(super) fn heaviest(items: &[Item]) -> Option<&Kernel> {
    fn of(item: &Item) -> Option<&Kernel> {
        match item {
            Item::Kernel(kernel) => Some(kernel),
            Item::Loop { items, .. } => heaviest(items),
            Item::Host(_) => None,
        }
    }
    items.iter().filter_map(of).max_by(|a, b| a.cost.total_cmp(&b.cost))
}

pub(super) fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1).div_euclid(b.max(1))
}

pub(super) const SAMPLE: i64 = 8;

/// A kernel with sizes and buffers, and a line about it; or why not. Where boxes of cores meet, accesses that never do get boxes of their own, and tiles
/// begin where loops do.
fn sized(
    model: &Model,
    kernel: Kernel,
    options: &Options,
) -> Result<std::result::Result<(Kernel, String), Diagnostic>> {
    let first = sized_as(model, kernel.clone(), options)?;
    if kernel.panel.is_some() || !first.as_ref().is_err_and(|refusal| refusal.code.0 == "P0803") {
        return Ok(first);
    }
    let kernel = Kernel { apart: true, ..kernel };
    let apart = sized_as(model, kernel.clone(), options)?;
    if apart.is_ok() {
        return Ok(apart);
    }
    let shifted = match shift::from_first(model, &kernel)? {
        Some(kernel) => sized_as(model, kernel, options)?,
        None => return Ok(first),
    };
    Ok(if shifted.is_ok() { shifted } else { first })
}

/// As [`sized`], with boxes as the kernel says.
fn sized_as(
    model: &Model,
    mut kernel: Kernel,
    options: &Options,
) -> Result<std::result::Result<(Kernel, String), Diagnostic>> {
    if let Some(role) = kernel.panel.clone() {
        return panel::sized(model, kernel, &role, options);
    }
    let grid = mapped(&kernel, options.grid);
    let hints: BTreeMap<String, i64> = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
    kernel.sizes = vec![SAMPLE; kernel.parallel.len()];
    for part in &mut kernel.parts {
        part.sizes = part.whole.clone();
        part.sizes.resize(part.inner.len(), SAMPLE);
    }
    let mut groups = loop {
        match data::groups(model, &kernel)? {
            Ok(groups) => break groups,
            // Loops without bounds inside of a tile get tiles as well, where that leaves their order.
            Err(array) if !deepen(model, &mut kernel)? => return Ok(Err(no_box(model, &array))),
            Err(_) => {}
        }
    };
    if options.share {
        share::decide(model, &kernel, &grid, &mut groups)?;
    }
    // How the boxes grow.
    let mut shapes = Vec::new();
    for group in groups {
        let sites = data::sites(model, &kernel);
        let own: Vec<&data::Site> = sites
            .iter()
            .filter(|s| {
                group.part.is_none_or(|p| p == s.part)
                    && group.accesses.contains(&(s.statement, s.access.clone()))
            })
            .collect();
        let loops = kernel.parallel.len() + group.part.map_or(0, |p| kernel.parts[p].inner.len());
        let mut slopes = Vec::new();
        for k in 0..loops {
            let mut other = kernel.clone();
            match k.checked_sub(kernel.parallel.len()) {
                None => other.sizes[k] = 2 * SAMPLE,
                Some(k) if k < fixed(&other.parts[group.part.unwrap_or(0)]) => {}
                Some(k) => other.parts[group.part.unwrap_or(0)].sizes[k] = 2 * SAMPLE,
            }
            let grown = match boxes::boxed(model, &other, &own, group.level)? {
                Some((extents, _)) => extents,
                // Where no box is found around larger tiles, its accesses will have two, which grow in what the loop moves.
                None => apart(&group, kernel.outer.len() + k),
            };
            slopes.push(
                group
                    .extents
                    .iter()
                    .zip(&grown)
                    .map(|(a, b)| (*b - *a) as f64 / SAMPLE as f64)
                    .collect::<Vec<_>>(),
            );
        }
        let moves = |depth: usize| group.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == depth));
        let may_stay = group.get
            && !group.put
            && group.part.is_some()
            && group.shared.is_none()
            && (1..=2).contains(&group.extents.len())
            && kernel.outer.is_empty()
            && !(0..kernel.parallel.len()).any(moves)
            && !share::written(model, &kernel, &group);
        shapes.push(Shape { base: group.extents.clone(), slopes, group, may_stay });
    }
    if let Some(shape) = shapes.iter().find(|s| too_far(model, &s.group)) {
        return Ok(Err(Diagnostic::general(
            Code("P0805"),
            format!(
                "rows of `{}` are further apart than the 32 bits of a transfer's stride can say",
                shape.group.array
            ),
        )
        .help("choose a layout whose last dimension is shorter")));
    }
    let all = split::read(model, &kernel.filter)?;
    let parallel =
        kernel.parallel.iter().map(|m| trips(model, m, &all, &hints)).collect::<Result<Vec<_>>>()?;
    let mut inner = Vec::new();
    for part in &kernel.parts {
        let own = split::read(model, &part.filter)?;
        inner.push(part.inner.iter().map(|m| trips(model, m, &own, &hints)).collect::<Result<Vec<_>>>()?);
    }
    let regions = (0..kernel.parts.len())
        .map(|part| Region::of(model, &kernel, part, grid.len(), &hints))
        .collect::<Result<Vec<_>>>()?;
    let mut search = Search {
        model,
        kernel: &kernel,
        shapes: &shapes,
        grid: &grid,
        parallel: &parallel,
        inner: &inner,
        regions: &regions,
        hints: &hints,
        tiles: &options.tiles,
        ldm: options.ldm,
        registers: options.exchange,
        stay: options.stay,
    };
    let mut best = search.best();
    // Vectors may be shared instead of staying.
    let mut with = shapes.clone();
    let mut vectors = options.share && !kernel.whole && {
        let mut groups: Vec<Group> = with.iter().map(|s| s.group.clone()).collect();
        let any = share::vectors(model, &kernel, &grid, &mut groups);
        for (shape, group) in with.iter_mut().zip(groups) {
            shape.may_stay &= group.shared.is_none();
            shape.group = group;
        }
        any
    };
    if vectors {
        // Shares that stay are no better than a vector that stays as a whole: they are exchanged for each tile.
        let whole = best.as_ref().is_some_and(|(_, _, parts)| {
            shapes.iter().any(|s| s.group.part.is_some_and(|part| search.stays(s, &parts[part])))
        });
        let other = Search { shapes: &with, stay: options.stay && !whole, ..search };
        let found = other.best();
        let cost =
            |found: &Option<_>| found.as_ref().map_or(f64::INFINITY, |(cost, ..): &search::Found| *cost);
        let part = if other.stay { search::CLOSE } else { search::BETTER };
        vectors = cost(&found) < part * cost(&best);
        if vectors {
            (search, best) = (other, found);
        }
    }
    // What all cores need may be broadcast instead of being handed on.
    let mut with = shapes.clone();
    // Triangles have rounds in which some cores have no tile: there the target declines.
    let plain = !vectors && !kernel.whole && regions.iter().all(Option::is_none);
    let mut cast = options.exchange && plain && {
        let mut groups: Vec<Group> = with.iter().map(|s| s.group.clone()).collect();
        let any = share::cast(model, &kernel, &grid, &mut groups);
        for (shape, group) in with.iter_mut().zip(groups) {
            shape.group = group;
        }
        any
    };
    if cast {
        let other = Search { shapes: &with, ..search };
        let found = other.best();
        let cost =
            |found: &Option<_>| found.as_ref().map_or(f64::INFINITY, |(cost, ..): &search::Found| *cost);
        cast = cost(&found) < search::BETTER * cost(&best);
        if cast {
            (search, best) = (other, found);
        }
    }
    let Some((cost, sizes, parts)) = best else {
        let least = search.least();
        return Ok(Err(too_large(model, &kernel, options, least)));
    };
    let mut kernel = kernel.clone();
    kernel.sizes = sizes;
    kernel.cost = cost;
    for (part, sizes) in kernel.parts.iter_mut().zip(parts) {
        part.sizes = sizes;
    }
    // The boxes themselves, at these sizes.
    let mut groups = match data::groups(model, &kernel)? {
        Ok(groups) => groups,
        Err(array) => return Ok(Err(no_box(model, &array))),
    };
    if options.share {
        share::decide(model, &kernel, &grid, &mut groups)?;
    }
    if vectors {
        share::vectors(model, &kernel, &grid, &mut groups);
    }
    if cast {
        share::cast(model, &kernel, &grid, &mut groups);
    }
    for (group, shape) in groups.iter_mut().zip(search.shapes) {
        if let Some(part) =
            group.part.filter(|_| vectors && group.array == shape.group.array && search.vector(shape))
            && search.stay(part, &kernel.sizes, &kernel.parts[part].sizes)
        {
            group.shared = group.shared.map(share::Shared::staying);
        }
        // Groups come in the same order at all sizes, but for boxes that have grown together.
        group.kept = group.array == shape.group.array && group.part == shape.group.part && {
            let own = group.part.map_or(&[][..], |p| &kernel.parts[p].sizes);
            search.stays(shape, own)
        };
    }
    kernel.groups = groups;
    share::pad(model, &mut kernel, &grid)?;
    let used = footprint(&kernel);
    if used > options.ldm {
        return Ok(Err(too_large(model, &kernel, options, used)));
    }
    if let Some(conflict::Conflict { reason, way_out }) = conflict::conflict(model, &kernel, grid.len())? {
        let message =
            format!("a kernel of `{}` cannot keep its data in local memory: {reason}", model.function.name);
        return Ok(Err(Diagnostic::general(Code("P0803"), message).help(way_out)));
    }
    let parts: Vec<String> = kernel.parts.iter().map(|p| format!("{:?}", p.sizes)).collect();
    let line = format!(
        "{} parallel loops on {} cores, tiles {:?} and {}, {used} bytes of local memory, about {:.3} ms",
        kernel.parallel.len(),
        grid.iter().map(i64::to_string).collect::<Vec<_>>().join(" x "),
        kernel.sizes,
        parts.join(" "),
        cost * 1e3
    );
    Ok(Ok((kernel, line)))
}

/// How many tile loops of a part have a size that is given.
fn fixed(part: &Part) -> usize {
    part.single.max(part.whole.len())
}

/// Takes the loops below the tile loops of each part among these, which then have tiles of one iteration: so the order stays as it is.
fn deepen(model: &Model, kernel: &mut Kernel) -> Result<bool> {
    let mut any = false;
    for part in &mut kernel.parts {
        let Node::Band(band) = part.leaf.clone() else { continue };
        let mut members = split::restricted(model, &band.members, &split::read(model, &part.filter)?)?;
        part.leaf = *band.child;
        if !band.permutable && members.len() > 1 {
            let rest = members.split_off(1);
            let child = Box::new(part.leaf.clone());
            part.leaf = Node::Band(Band { members: rest, permutable: false, isolate: None, child });
        }
        part.single = part.inner.len();
        part.sizes = vec![1; part.single];
        part.sizes.extend(vec![SAMPLE; members.len()]);
        part.inner.extend(members);
        any = true;
    }
    Ok(any)
}

/// Whether the gap between two rows does not fit in the field of a transfer, as far as extents are known.
fn too_far(model: &Model, group: &Group) -> bool {
    let dims = data::declared(model, &group.array).map_or(&[][..], |(_, dims)| dims);
    match dims.last() {
        Some(loops::Expr::Int(row)) if dims.len() > 1 => {
            row.saturating_mul(group.width) > i64::from(i32::MAX)
        }
        _ => false,
    }
}

/// Bytes of local memory of a kernel: buffers of all parts, and the largest part's own.
pub(super) fn footprint(kernel: &Kernel) -> i64 {
    let bytes = |g: &Group| places(kernel, g).saturating_mul(bytes(g, &g.extents));
    let apart = |g: &Group| g.part.filter(|_| !stays_apart(kernel, g));
    let shared: i64 = kernel.groups.iter().filter(|g| apart(g).is_none()).map(bytes).sum();
    let part = |k: usize| kernel.groups.iter().filter(|g| apart(g) == Some(k)).map(bytes).sum::<i64>();
    shared + (0..kernel.parts.len()).map(part).max().unwrap_or(0)
}

/// Whether a buffer of a part has a place of its own, so that it can come before the part and go after it: rows as a whole.
pub(super) fn stays_apart(kernel: &Kernel, group: &Group) -> bool {
    kernel.whole && group.level == kernel.parallel.len() && data::moves_with_tiles(kernel, &group.corner)
}

/// How many boxes of a group are there at a time: what comes as a whole comes during the tile before.
pub(super) fn places(kernel: &Kernel, group: &Group) -> i64 {
    if stays_apart(kernel, group) && group.part.is_some() && group.get && !group.put { 2 } else { 1 }
}

/// Bytes of local memory for a group at some extents.
pub(super) fn bytes(group: &Group, extents: &[i64]) -> i64 {
    match group.shared {
        Some(shared) => shared.bytes(extents, group.width),
        None => aligned(data::volume(extents).saturating_mul(group.width)),
    }
}

/// Buffers begin at multiples of 64 bytes.
pub(super) fn aligned(bytes: i64) -> i64 {
    ceil(bytes.min(1 << 50), 64) * 64
}

/// `P0802`
fn too_large(model: &Model, kernel: &Kernel, options: &Options, least: i64) -> Diagnostic {
    let mut arrays: Vec<String> = Vec::new();
    for part in &kernel.parts {
        for statement in &part.statements {
            for touch in &model.statements[*statement].accesses {
                let name = format!("`{}`", touch.array);
                if !data::is_argument(model, &touch.array) && !arrays.contains(&name) {
                    arrays.push(name);
                }
            }
        }
    }
    let (size, ldm) = (if options.tiles.is_empty() { "at least " } else { "" }, options.ldm);
    let diagnostic = Diagnostic::general(
        Code("P0802"),
        format!(
            "the data of one tile of a kernel of `{}` does not fit in local memory: {size}{least} bytes of {}, but there are {ldm}",
            model.function.name,
            arrays.join(", ")
        ),
    );
    if !options.tiles.is_empty() {
        return diagnostic.help("give smaller sizes by `--tile`, or leave it out: then they are chosen");
    }
    diagnostic.help("make the inner loops smaller, interchange them so that they can be tiled, or choose a chip with more local memory (`--chip sw26010pro`)")
}

/// Extents of a box as large as two that have grown to twice the size where a loop moves them, by the depth of the loop.
fn apart(group: &Group, depth: usize) -> Vec<i64> {
    let moved = |corner: &boxes::Corner| corner.dims.iter().any(|(dim, _)| *dim == depth);
    let each = group.extents.iter().zip(&group.corner);
    each.map(|(extent, corner)| if moved(corner) { extent.saturating_mul(4) } else { *extent }).collect()
}

/// `P0802` for an array that a tile touches without bound.
fn no_box(model: &Model, array: &loops::Name) -> Diagnostic {
    Diagnostic::general(
        Code("P0802"),
        format!(
            "one tile of a kernel of `{}` accesses a part of `{array}` without a known bound, so it cannot be placed in local memory",
            model.function.name
        ),
    )
    .help("give the inner loops constant bounds, or interchange them so that they can be tiled")
}
