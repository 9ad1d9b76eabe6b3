//! Tile sizes (sections 4.2 and 5.2): formulas 14 and 17 for how the iterations are spread over the
//! cores, 23 for what fits in local memory, and a cost model that chooses among what is left: the
//! time of the slowest core as the sum of its transfers and its arithmetic.

use std::collections::BTreeMap;

use isl::Dim;
use loops::Diagnostic;

use super::data_mapping::{self, Group};
use super::host_split::{self, Item, Kernel};
use super::refusals;
use super::sizing::sized;
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

/// How many of the parallel loops of a kernel are mapped to the grid: formula 17 allows two where
/// there are two.
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
    let items = choose_in(model, items, &[], options, notes, &mut given_up)?;
    let _ = dependences;
    if !host_split::has_kernel(&items) {
        return Err(given_up.into_iter().next().unwrap_or_else(|| refusals::nothing_parallel(model, None)));
    }
    for diagnostic in given_up {
        notes.push(format!("on the host: {}", diagnostic.message));
    }
    Ok(Sized { items, grid: options.grid })
}

fn choose_in(
    model: &Model,
    items: Vec<Item>,
    outer: &[Member],
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
                    None => match steps_outside(model, &kernel, options, &diagnostic, notes)? {
                        Some(items) => result.extend(items),
                        None => {
                            given_up.push(diagnostic);
                            result.push(host(&kernel));
                        }
                    },
                },
            },
            Item::Loop { filter, members, items } => {
                let around: Vec<Member> = outer.iter().chain(&members).cloned().collect();
                let items = choose_in(model, items, &around, options, notes, given_up)?;
                let items = with_single_statements(model, items, &around, options)?;
                result.push(Item::Loop { filter, members, items });
            }
            Item::Host(branch) => result.push(Item::Host(branch)),
        }
    }
    Ok(result)
}

/// What is in a loop, with statements between kernels as kernels of one iteration: a core runs such
/// a statement, and the loop needs one spawn instead of one for each time that it comes by. As it
/// is where something else stays on the host.
fn with_single_statements(
    model: &Model,
    items: Vec<Item>,
    outer: &[Member],
    options: &Options,
) -> Result<Vec<Item>> {
    let single = |item: &Item| matches!(item, Item::Host(branch) if *branch.child == Node::Leaf);
    let whole = host_split::has_kernel(&items) && items.iter().all(|item| single(item) || is_whole(item));
    if !whole || !items.iter().any(single) {
        return Ok(items);
    }
    let mut result = Vec::new();
    for item in &items {
        match item {
            Item::Host(branch) => {
                let kernel = host_split::once(model, branch, outer)?;
                match bounded(model, &kernel, options)? {
                    Ok((kernel, _)) => result.push(Item::Kernel(kernel)),
                    Err(_) => return Ok(items),
                }
            }
            other => result.push(other.clone()),
        }
    }
    Ok(result)
}

/// Whether nothing of an item is on the host.
fn is_whole(item: &Item) -> bool {
    match item {
        Item::Kernel(_) => true,
        Item::Host(_) => false,
        Item::Loop { items, .. } => items.iter().all(is_whole),
    }
}

/// The parts of a refused kernel as kernels of their own, one after the other: since its loops are
/// parallel, what a part needs of those before is of its own iteration. Then more loops may be
/// parallel, and a box of one part is not beside those of another. None where boxes do not meet, or
/// one of the parts is refused.
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
        let filter = host_split::read(model, &part.filter)?;
        let mut parallel = host_split::restricted(model, &kernel.parallel, &filter)?;
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

/// A refused kernel as steps: the first sequential loop of each part goes outside of the loops over
/// the cores, which do not carry anything and so may be inside of it. A step is a kernel, after
/// which all is in main memory. None where a step is refused as well.
fn steps_outside(
    model: &Model,
    kernel: &Kernel,
    options: &Options,
    refusal: &Diagnostic,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<Item>>> {
    if !["P0802", "P0803"].contains(&refusal.code.0) || kernel.whole || kernel.panel.is_some() {
        return Ok(None);
    }
    if kernel.parts.iter().all(|part| part.inner.is_empty()) {
        return Ok(None);
    }
    let mut items = Vec::new();
    for part in &kernel.parts {
        let filter = host_split::read(model, &part.filter)?;
        let parallel = host_split::restricted(model, &kernel.parallel, &filter)?;
        let alone = Kernel { filter: part.filter.clone(), parallel, stepped: true, ..kernel.clone() };
        let [step, rest @ ..] = part.inner.as_slice() else {
            items.push(Item::Kernel(Kernel { parts: vec![part.clone()], ..alone }));
            continue;
        };
        let mut parts = Vec::new();
        host_split::descend(model, &filter, rest.to_vec(), part.leaf.clone(), &mut parts)?;
        let outer = kernel.outer.iter().chain([step]).cloned().collect();
        let inside = vec![Item::Kernel(Kernel { outer, parts, ..alone })];
        items.push(Item::Loop { filter: part.filter.clone(), members: vec![step.clone()], items: inside });
    }
    let (mut own, mut given_up) = (Vec::new(), Vec::new());
    let items = choose_in(model, items, &kernel.outer, options, &mut own, &mut given_up)?;
    if !given_up.is_empty() {
        return Ok(None);
    }
    notes.extend(own);
    notes.push(format!("with a barrier after each step, since otherwise {}", refusal.message));
    Ok(Some(items))
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
    let function = host_split::function(model, member)?;
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

/// Modelled seconds of a program: of its kernels, as often as the loops around them have
/// iterations, with a barrier for each.
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
                    times *= trips(model, member, &host_split::read(model, filter)?, &hints)? as f64;
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

/// Bytes of local memory of a kernel: buffers of all parts, and the largest part's own.
pub(super) fn footprint(kernel: &Kernel) -> i64 {
    let bytes = |g: &Group| places(kernel, g).saturating_mul(bytes(g, &g.extents));
    let apart = |g: &Group| g.part.filter(|_| !stays_apart(kernel, g));
    let shared: i64 = kernel.groups.iter().filter(|g| apart(g).is_none()).map(bytes).sum();
    let part = |k: usize| kernel.groups.iter().filter(|g| apart(g) == Some(k)).map(bytes).sum::<i64>();
    shared + (0..kernel.parts.len()).map(part).max().unwrap_or(0)
}

/// Whether a buffer of a part has a place of its own, so that it can come before the part and go
/// after it: rows as a whole.
pub(super) fn stays_apart(kernel: &Kernel, group: &Group) -> bool {
    kernel.whole
        && group.level == kernel.parallel.len()
        && data_mapping::moves_with_tiles(kernel, &group.corner)
}

/// How many boxes of a group are there at a time: what comes as a whole comes during the tile
/// before.
pub(super) fn places(kernel: &Kernel, group: &Group) -> i64 {
    if stays_apart(kernel, group) && group.part.is_some() && group.get && !group.put { 2 } else { 1 }
}

/// Bytes of local memory for a group at some extents.
pub(super) fn bytes(group: &Group, extents: &[i64]) -> i64 {
    match group.shared {
        Some(shared) => shared.bytes(extents, group.width),
        None => aligned(data_mapping::volume(extents).saturating_mul(group.width)),
    }
}

/// Buffers begin at multiples of 64 bytes.
pub(super) fn aligned(bytes: i64) -> i64 {
    ceil(bytes.min(1 << 50), 64) * 64
}
