//! Sizes and buffers of one kernel: how its boxes grow with the tiles, which sizes the search
//! prefers for each way to share data, and the buffers at these sizes.

use std::collections::BTreeMap;

use loops::{Code, Diagnostic};

use super::Options;
use super::boxes;
use super::coherence;
use super::data_mapping::{self, Group};
use super::host_split::{self, Kernel, Part};
use super::multicast;
use super::panel;
use super::search::{self, Found, Search, Shape};
use super::shifted_loops;
use super::tile_sizes::{SAMPLE, footprint, mapped, trips};
use super::triangles::Region;
use crate::fault::Result;
use crate::model::Model;
use crate::names::readable;
use crate::tree::{Band, Node};

/// A result, or why there is none; the outer error ends the whole mapping.
type Refusable<T> = Result<std::result::Result<T, Diagnostic>>;

/// A kernel with sizes and buffers, and a line about it; or why not. Where boxes of cores meet,
/// accesses that never do get boxes of their own, tiles begin where loops do, and boxes end there.
pub(super) fn sized(model: &Model, kernel: Kernel, options: &Options) -> Refusable<(Kernel, String)> {
    let first = sized_as(model, kernel.clone(), options)?;
    if kernel.panel.is_some() || !first.as_ref().is_err_and(|refusal| refusal.code.0 == "P0803") {
        return Ok(first);
    }
    let kernel = Kernel { apart: true, ..kernel };
    let apart = sized_as(model, kernel.clone(), options)?;
    if apart.is_ok() {
        return Ok(apart);
    }
    let shifted = shifted_loops::from_first(model, &kernel)?;
    if let Some(kernel) = &shifted {
        let shifted = sized_as(model, kernel.clone(), options)?;
        if shifted.is_ok() {
            return Ok(shifted);
        }
    }
    // As for loops that begin elsewhere: only where no box comes and goes beside one that stays.
    if kernel.outer.is_empty() || kernel.parts.len() > 1 || !kernel.parts[0].inner.is_empty() {
        return Ok(first);
    }
    let ended = Kernel { ended: true, ..shifted.unwrap_or(kernel) };
    let ended = sized_as(model, ended, options)?;
    Ok(if ended.is_ok() { ended } else { first })
}

/// As [`sized`], with boxes as the kernel says.
fn sized_as(model: &Model, mut kernel: Kernel, options: &Options) -> Refusable<(Kernel, String)> {
    if let Some(role) = kernel.panel.clone() {
        return panel::sized(model, kernel, &role, options);
    }
    let grid = mapped(&kernel, options.grid);
    let hints: BTreeMap<String, i64> = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
    let mut groups = match sampled(model, &mut kernel)? {
        Ok(groups) => groups,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if options.share {
        multicast::decide(model, &kernel, &grid, &mut groups)?;
    }
    let shapes =
        groups.into_iter().map(|group| growth(model, &kernel, group)).collect::<Result<Vec<Shape>>>()?;
    if let Some(shape) = shapes.iter().find(|s| too_far(model, &s.group)) {
        return Ok(Err(rows_apart(&shape.group.array)));
    }
    let counts = Counts::of(model, &kernel, &grid, &hints)?;
    let search = Search {
        model,
        kernel: &kernel,
        shapes: &shapes,
        grid: &grid,
        parallel: &counts.parallel,
        inner: &counts.inner,
        regions: &counts.regions,
        hints: &hints,
        tiles: &options.tiles,
        ldm: options.ldm,
        registers: options.exchange,
        stay: options.stay,
    };
    let Choice { shapes, stay, way, found } = choice(&search, options)?;
    let search = Search { shapes: &shapes, stay, ..search };
    let Some((cost, sizes, parts)) = found else {
        let least = search.least();
        return Ok(Err(too_large(model, &kernel, options, least)));
    };
    let mut kernel = kernel.clone();
    kernel.sizes = sizes;
    kernel.cost = cost;
    for (part, sizes) in kernel.parts.iter_mut().zip(parts) {
        part.sizes = sizes;
    }
    kernel.groups = match buffers(&search, &kernel, way, options)? {
        Ok(groups) => groups,
        Err(refusal) => return Ok(Err(refusal)),
    };
    multicast::pad(model, &mut kernel, &grid)?;
    checked(model, kernel, &grid, options)
}

/// The groups of a kernel at the sizes that boxes are looked at first. Loops without bounds inside
/// of a tile get tiles as well, where that leaves their order.
fn sampled(model: &Model, kernel: &mut Kernel) -> Refusable<Vec<Group>> {
    kernel.sizes = vec![SAMPLE; kernel.parallel.len()];
    for part in &mut kernel.parts {
        part.sizes = part.whole.clone();
        part.sizes.resize(part.inner.len(), SAMPLE);
    }
    loop {
        match data_mapping::groups(model, kernel)? {
            Ok(groups) => return Ok(Ok(groups)),
            Err(array) if !deepen(model, kernel)? => return Ok(Err(no_box(model, &array))),
            Err(_) => {}
        }
    }
}

/// How the box of a group grows with each tile loop.
fn growth(model: &Model, kernel: &Kernel, group: Group) -> Result<Shape> {
    let sites = data_mapping::sites(model, kernel);
    let own: Vec<&data_mapping::Site> = sites.iter().filter(|site| group.has(site)).collect();
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
            // Where no box is found around larger tiles, its accesses will have two, which grow in
            // what the loop moves.
            None => apart(&group, kernel.outer.len() + k),
        };
        let slope = group.extents.iter().zip(&grown).map(|(a, b)| (*b - *a) as f64 / SAMPLE as f64);
        slopes.push(slope.collect::<Vec<_>>());
    }
    let may_stay = may_stay(model, kernel, &group) && multicast::is_common(model, kernel, &group)?;
    Ok(Shape { base: group.extents.clone(), slopes, group, may_stay })
}

/// Whether a box can stay for all tiles: nothing writes it, and no parallel loop moves it.
fn may_stay(model: &Model, kernel: &Kernel, group: &Group) -> bool {
    let moves = |depth: usize| group.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == depth));
    group.get
        && !group.put
        && group.part.is_some()
        && group.shared.is_none()
        && (1..=2).contains(&group.extents.len())
        && kernel.outer.is_empty()
        && !(0..kernel.parallel.len()).any(moves)
        && !multicast::written(model, kernel, group)
}

/// How often the loops of a kernel run.
struct Counts {
    parallel: Vec<i64>,
    /// For each part, its own loops.
    inner: Vec<Vec<i64>>,
    /// The iterations of each part where they are no product.
    regions: Vec<Option<Region>>,
}

impl Counts {
    fn of(model: &Model, kernel: &Kernel, grid: &[i64], hints: &BTreeMap<String, i64>) -> Result<Counts> {
        let all = host_split::read(model, &kernel.filter)?;
        let parallel =
            kernel.parallel.iter().map(|m| trips(model, m, &all, hints)).collect::<Result<Vec<_>>>()?;
        let mut inner = Vec::new();
        for part in &kernel.parts {
            let own = host_split::read(model, &part.filter)?;
            inner.push(part.inner.iter().map(|m| trips(model, m, &own, hints)).collect::<Result<Vec<_>>>()?);
        }
        let regions = (0..kernel.parts.len())
            .map(|part| Region::of(model, kernel, part, grid.len(), hints))
            .collect::<Result<Vec<_>>>()?;
        Ok(Counts { parallel, inner, regions })
    }
}

/// How cores share data beyond what [`multicast::decide`] says.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Plain,
    /// Vectors are shared instead of staying.
    Vectors,
    /// What all cores need is broadcast instead of being handed on.
    Cast,
}

/// The way to share that takes the least time, with the shapes it has and what the search found.
struct Choice {
    shapes: Vec<Shape>,
    stay: bool,
    way: Way,
    found: Option<Found>,
}

impl Choice {
    /// Modelled seconds; infinite where nothing fits.
    fn cost(&self) -> f64 {
        self.found.as_ref().map_or(f64::INFINITY, |(cost, ..)| *cost)
    }
}

fn choice(search: &Search, options: &Options) -> Result<Choice> {
    let plain =
        Choice { shapes: search.shapes.to_vec(), stay: search.stay, way: Way::Plain, found: search.best() };
    if options.share
        && !search.kernel.whole
        && let Some(vectors) = shared_vectors(search, &plain)?
    {
        return Ok(vectors);
    }
    // Triangles have rounds in which some cores have no tile: there the target declines.
    if options.exchange
        && !search.kernel.whole
        && search.regions.iter().all(Option::is_none)
        && let Some(cast) = broadcast(search, &plain)
    {
        return Ok(cast);
    }
    Ok(plain)
}

/// Sizes with shared vectors, if that is enough better.
fn shared_vectors(search: &Search, plain: &Choice) -> Result<Option<Choice>> {
    let mut shapes = search.shapes.to_vec();
    let mut groups: Vec<Group> = shapes.iter().map(|s| s.group.clone()).collect();
    if !multicast::vectors(search.model, search.kernel, search.grid, &mut groups)? {
        return Ok(None);
    }
    for (shape, group) in shapes.iter_mut().zip(groups) {
        shape.may_stay &= group.shared.is_none();
        shape.group = group;
    }
    // Shares that stay are no better than a vector that stays as a whole: they are exchanged for
    // each tile.
    let whole = plain.found.as_ref().is_some_and(|(_, _, parts)| {
        search.shapes.iter().any(|s| s.group.part.is_some_and(|part| search.stays(s, &parts[part])))
    });
    let other = Search { shapes: &shapes, stay: search.stay && !whole, ..*search };
    let (found, stay) = (other.best(), other.stay);
    let part = if stay { search::CLOSE } else { search::BETTER };
    let choice = Choice { shapes, stay, way: Way::Vectors, found };
    Ok((choice.cost() < part * plain.cost()).then_some(choice))
}

/// Sizes with boxes that are broadcast, if that is enough better.
fn broadcast(search: &Search, plain: &Choice) -> Option<Choice> {
    let mut shapes = search.shapes.to_vec();
    let mut groups: Vec<Group> = shapes.iter().map(|s| s.group.clone()).collect();
    if !multicast::cast(search.model, search.kernel, search.grid, &mut groups) {
        return None;
    }
    for (shape, group) in shapes.iter_mut().zip(groups) {
        shape.group = group;
    }
    let found = Search { shapes: &shapes, ..*search }.best();
    let choice = Choice { shapes, stay: search.stay, way: Way::Cast, found };
    (choice.cost() < search::BETTER * plain.cost()).then_some(choice)
}

/// The boxes themselves, for a kernel that has its sizes.
fn buffers(search: &Search, kernel: &Kernel, way: Way, options: &Options) -> Refusable<Vec<Group>> {
    let (model, grid) = (search.model, search.grid);
    let mut groups = match data_mapping::groups(model, kernel)? {
        Ok(groups) => groups,
        Err(array) => return Ok(Err(no_box(model, &array))),
    };
    if options.share {
        multicast::decide(model, kernel, grid, &mut groups)?;
    }
    match way {
        Way::Plain => {}
        Way::Vectors => {
            multicast::vectors(model, kernel, grid, &mut groups)?;
        }
        Way::Cast => {
            multicast::cast(model, kernel, grid, &mut groups);
        }
    }
    for (group, shape) in groups.iter_mut().zip(search.shapes) {
        let vector = way == Way::Vectors && group.array == shape.group.array && search.vector(shape);
        if let Some(part) = group.part.filter(|_| vector)
            && search.stay(part, &kernel.sizes, &kernel.parts[part].sizes)
        {
            group.shared = group.shared.map(multicast::Shared::staying);
        }
        // Groups come in the same order at all sizes, but for boxes that have grown together.
        group.kept = group.array == shape.group.array && group.part == shape.group.part && {
            let own = group.part.map_or(&[][..], |p| &kernel.parts[p].sizes);
            search.stays(shape, own)
        };
    }
    Ok(Ok(groups))
}

/// A kernel with its buffers and a line about it, if they fit and keep what they hold.
fn checked(model: &Model, kernel: Kernel, grid: &[i64], options: &Options) -> Refusable<(Kernel, String)> {
    let used = footprint(&kernel);
    if used > options.ldm {
        return Ok(Err(too_large(model, &kernel, options, used)));
    }
    if let Some(coherence::Conflict { reason, way_out }) = coherence::conflict(model, &kernel, grid.len())? {
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
        kernel.cost * 1e3
    );
    Ok(Ok((kernel, line)))
}

/// How many tile loops of a part have a size that is given.
fn fixed(part: &Part) -> usize {
    part.single.max(part.whole.len())
}

/// Takes the loops below the tile loops of each part among these, which then have tiles of one
/// iteration: so the order stays as it is.
fn deepen(model: &Model, kernel: &mut Kernel) -> Result<bool> {
    let mut any = false;
    for part in &mut kernel.parts {
        let Node::Band(band) = part.leaf.clone() else { continue };
        let mut members =
            host_split::restricted(model, &band.members, &host_split::read(model, &part.filter)?)?;
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

/// Whether the gap between two rows does not fit in the field of a transfer, as far as extents are
/// known.
fn too_far(model: &Model, group: &Group) -> bool {
    let dims = data_mapping::declared(model, &group.array).map_or(&[][..], |(_, dims)| dims);
    match dims.last() {
        Some(loops::Expr::Int(row)) if dims.len() > 1 => {
            row.saturating_mul(group.width) > i64::from(i32::MAX)
        }
        _ => false,
    }
}

/// `P0805` for an array whose rows are too far apart.
fn rows_apart(array: &loops::Name) -> Diagnostic {
    Diagnostic::general(
        Code("P0805"),
        format!("rows of `{array}` are further apart than the 32 bits of a transfer's stride can say"),
    )
    .help("choose a layout whose last dimension is shorter")
}

/// `P0802`
fn too_large(model: &Model, kernel: &Kernel, options: &Options, least: i64) -> Diagnostic {
    let mut arrays: Vec<String> = Vec::new();
    for part in &kernel.parts {
        for statement in &part.statements {
            for touch in &model.statements[*statement].accesses {
                let name = format!("`{}`", touch.array);
                if !data_mapping::is_argument(model, &touch.array) && !arrays.contains(&name) {
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

/// Extents of a box as large as two that have grown to twice the size where a loop moves them, by
/// the depth of the loop.
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
