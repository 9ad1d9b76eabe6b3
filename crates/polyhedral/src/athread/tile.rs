//! Tile sizes (sections 4.2 and 5.2): formulas 14 and 17 for how the iterations are spread over the cores, 23 for what fits in local memory, and a
//! cost model that chooses among what is left: the time of the slowest core as the sum of its transfers and its arithmetic.

use std::collections::BTreeMap;

use isl::Dim;
use loops::{Code, Diagnostic};

use super::data::{self, Group};
use super::split::{self, Item, Kernel};
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

/// Seconds until a transfer begins to move data.
const LATENCY: f64 = 1.7e-6;
/// Seconds of a cycle.
const CYCLE: f64 = 1.0 / 1.45e9;
/// GB/s of all cores together by the bytes of a block (measured; between the points it is interpolated).
const BANDWIDTH: [(f64, f64); 8] = [
    (8.0, 0.5),
    (64.0, 3.0),
    (128.0, 5.0),
    (256.0, 8.5),
    (512.0, 12.0),
    (1024.0, 15.0),
    (4096.0, 18.6),
    (24576.0, 20.4),
];
/// What an unknown size is taken for.
pub(super) const UNKNOWN: i64 = 1000;

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
        return Err(given_up.into_iter().next().unwrap_or_else(|| split::nothing_parallel(model)));
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
    items
        .into_iter()
        .map(|item| {
            Ok(match item {
                Item::Kernel(kernel) => match bounded(model, &kernel, options)? {
                    Ok((kernel, line)) => {
                        notes.push(line);
                        Item::Kernel(kernel)
                    }
                    Err(diagnostic) => {
                        given_up.push(diagnostic);
                        host(&kernel)
                    }
                },
                Item::Loop { filter, members, items } => {
                    Item::Loop { filter, members, items: choose_in(model, items, options, notes, given_up)? }
                }
                Item::Host(branch) => Item::Host(branch),
            })
        })
        .collect()
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
fn trips(
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
        Ok((end(set.dim_max(0)?)? - end(set.dim_min(0)?)? + 1).max(1))
    };
    count().map_err(fault::library)
}

fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1).div_euclid(b.max(1))
}

/// Sizes that are worth a look for a loop of `trips` iterations on `cores` cores: powers of two and their neighbours, and those that give every core
/// the same number of full tiles.
fn candidates(trips: i64, cores: i64, slots: usize) -> Vec<i64> {
    let mut sizes: Vec<i64> = vec![1, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
    if slots > 12 {
        sizes.extend([2, 12, 24, 48, 96, 192, 384, 768, 2048]);
    }
    for rounds in 1..=12 {
        sizes.push(ceil(ceil(trips, cores * rounds), 4) * 4);
    }
    sizes.retain(|size| *size <= (ceil(trips, 4) * 4).max(4));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Extents of a group's box as a function of tile sizes: linear, found by looking at two sizes of each loop.
struct Shape {
    group: Group,
    base: Vec<i64>,
    /// For each tile loop (parallel ones, then those of the part): growth of each extent per iteration.
    slopes: Vec<Vec<f64>>,
}

const SAMPLE: i64 = 8;

impl Shape {
    fn extents(&self, sizes: &[i64]) -> Vec<i64> {
        (0..self.base.len())
            .map(|d| {
                let grown: f64 = self
                    .slopes
                    .iter()
                    .zip(sizes)
                    .map(|(slope, size)| slope[d] * (*size - SAMPLE) as f64)
                    .sum();
                ((self.base[d] as f64 + grown).ceil() as i64).max(1)
            })
            .collect()
    }
}

/// A kernel with sizes and buffers, and a line about it; or why not.
fn sized(
    model: &Model,
    mut kernel: Kernel,
    options: &Options,
) -> Result<std::result::Result<(Kernel, String), Diagnostic>> {
    let grid = mapped(&kernel, options.grid);
    let hints: BTreeMap<String, i64> = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
    kernel.sizes = vec![SAMPLE; kernel.parallel.len()];
    for part in &mut kernel.parts {
        part.sizes = vec![SAMPLE; part.inner.len()];
    }
    let groups = loop {
        match data::groups(model, &kernel)? {
            Ok(groups) => break groups,
            // Loops without bounds inside of a tile get tiles as well, where that leaves their order.
            Err(array) if !deepen(model, &mut kernel)? => return Ok(Err(no_box(model, &array))),
            Err(_) => {}
        }
    };
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
                Some(k) if k < other.parts[group.part.unwrap_or(0)].single => {}
                Some(k) => other.parts[group.part.unwrap_or(0)].sizes[k] = 2 * SAMPLE,
            }
            let grown = data::boxed(model, &other, &own, group.level)?.map(|(e, _)| e).unwrap_or_default();
            slopes.push(
                group
                    .extents
                    .iter()
                    .zip(&grown)
                    .map(|(a, b)| (*b - *a) as f64 / SAMPLE as f64)
                    .collect::<Vec<_>>(),
            );
        }
        shapes.push(Shape { base: group.extents.clone(), slopes, group });
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
    let search = Search {
        model,
        kernel: &kernel,
        shapes: &shapes,
        grid: &grid,
        parallel: &parallel,
        inner: &inner,
        hints: &hints,
        ldm: options.ldm,
    };
    let Some((cost, sizes, parts)) = search.best() else {
        let least = search.least();
        return Ok(Err(too_large(model, &kernel, options.ldm, least)));
    };
    kernel.sizes = sizes;
    for (part, sizes) in kernel.parts.iter_mut().zip(parts) {
        part.sizes = sizes;
    }
    // The boxes themselves, at these sizes.
    kernel.groups = match data::groups(model, &kernel)? {
        Ok(groups) => groups,
        Err(array) => return Ok(Err(no_box(model, &array))),
    };
    let used = footprint(&kernel);
    if used > options.ldm {
        return Ok(Err(too_large(model, &kernel, options.ldm, used)));
    }
    if let Some(reason) = data::conflict(model, &kernel, grid.len())? {
        let message =
            format!("a kernel of `{}` cannot keep its data in local memory: {reason}", model.function.name);
        return Ok(Err(Diagnostic::general(Code("P0803"), message)));
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
    let bytes = |g: &Group| aligned(data::volume(&g.extents).saturating_mul(g.width));
    let shared: i64 = kernel.groups.iter().filter(|g| g.part.is_none()).map(bytes).sum();
    let part = |k: usize| kernel.groups.iter().filter(|g| g.part == Some(k)).map(bytes).sum::<i64>();
    shared + (0..kernel.parts.len()).map(part).max().unwrap_or(0)
}

/// Buffers begin at multiples of 64 bytes.
pub(super) fn aligned(bytes: i64) -> i64 {
    ceil(bytes, 64).saturating_mul(64)
}

fn bandwidth(block: f64) -> f64 {
    let mut last = BANDWIDTH[0];
    if block <= last.0 {
        return last.1 * 1e9 * block / last.0;
    }
    for point in BANDWIDTH {
        if block <= point.0 {
            let part = (block.ln() - last.0.ln()) / (point.0.ln() - last.0.ln()).max(1e-9);
            return (last.1 + part * (point.1 - last.1)) * 1e9;
        }
        last = point;
    }
    last.1 * 1e9
}

struct Search<'a> {
    model: &'a Model,
    kernel: &'a Kernel,
    shapes: &'a [Shape],
    grid: &'a [i64],
    parallel: &'a [i64],
    inner: &'a [Vec<i64>],
    hints: &'a BTreeMap<String, i64>,
    ldm: i64,
}

/// Cost in seconds, sizes of the parallel loops, sizes of each part's loops.
type Found = (f64, Vec<i64>, Vec<Vec<i64>>);

impl Search<'_> {
    fn best(&self) -> Option<Found> {
        let lists: Vec<Vec<i64>> = self
            .parallel
            .iter()
            .enumerate()
            .map(|(k, n)| {
                candidates(
                    *n,
                    self.grid.get(k).copied().unwrap_or(1),
                    if self.parallel.len() > 1 { 8 } else { 20 },
                )
            })
            .collect();
        let mut best: Option<Found> = None;
        for sizes in product(&lists) {
            let mut cost = self.groups_cost(None, &sizes, &[]);
            let shared = self.bytes(None, &sizes);
            if shared > self.ldm {
                continue;
            }
            let mut parts = Vec::new();
            for (p, trips) in self.inner.iter().enumerate() {
                let single = self.kernel.parts[p].single;
                let list = |(k, n): (usize, &i64)| if k < single { vec![1] } else { candidates(*n, 1, 8) };
                let lists: Vec<Vec<i64>> = trips.iter().enumerate().map(list).collect();
                let mut found: Option<(f64, Vec<i64>)> = None;
                for own in product(&lists) {
                    let all: Vec<i64> = sizes.iter().chain(&own).copied().collect();
                    if shared + self.bytes(Some(p), &all) > self.ldm {
                        continue;
                    }
                    let cost = self.groups_cost(Some(p), &sizes, &own) + self.arithmetic(p, &sizes, &own);
                    if found.as_ref().is_none_or(|(old, _)| cost < *old) {
                        found = Some((cost, own));
                    }
                }
                let Some((own_cost, own)) = found else { break };
                cost += own_cost;
                parts.push(own);
            }
            if parts.len() == self.inner.len() && best.as_ref().is_none_or(|(old, ..)| cost < *old) {
                best = Some((cost, sizes, parts));
            }
        }
        best
    }

    /// Bytes at the smallest tiles.
    fn least(&self) -> i64 {
        let sizes = vec![1; self.parallel.len()];
        let parts = self.inner.iter().enumerate().map(|(p, trips)| {
            let all: Vec<i64> = sizes.iter().copied().chain(trips.iter().map(|_| 1)).collect();
            self.bytes(Some(p), &all)
        });
        self.bytes(None, &sizes) + parts.max().unwrap_or(0)
    }

    fn bytes(&self, part: Option<usize>, sizes: &[i64]) -> i64 {
        let own = self.shapes.iter().filter(|s| s.group.part == part);
        own.map(|s| aligned(data::volume(&s.extents(sizes)).saturating_mul(s.group.width))).sum()
    }

    /// Rounds of each tile loop on the slowest core.
    fn rounds(&self, part: Option<usize>, sizes: &[i64], own: &[i64]) -> Vec<f64> {
        let parallel = self
            .parallel
            .iter()
            .zip(sizes)
            .enumerate()
            .map(|(k, (n, size))| ceil(ceil(*n, *size), self.grid.get(k).copied().unwrap_or(1)) as f64);
        let inner =
            part.map_or(&[][..], |p| &self.inner[p]).iter().zip(own).map(|(n, size)| ceil(*n, *size) as f64);
        parallel.chain(inner).collect()
    }

    /// Cores that have a tile.
    fn active(&self, sizes: &[i64]) -> f64 {
        let mut active = 1;
        for (k, (n, size)) in self.parallel.iter().zip(sizes).enumerate() {
            active *= ceil(*n, *size).min(self.grid.get(k).copied().unwrap_or(1));
        }
        active as f64
    }

    fn groups_cost(&self, part: Option<usize>, sizes: &[i64], own: &[i64]) -> f64 {
        let all: Vec<i64> = sizes.iter().chain(own).copied().collect();
        let rounds = self.rounds(part, sizes, own);
        // Memory is shared by the cores that use it; one alone gets no more than an eighth.
        let cores = self.active(sizes).max(8.0);
        let mut seconds = 0.0;
        for shape in self.shapes.iter().filter(|s| s.group.part == part) {
            let extents = shape.extents(&all);
            let bytes = (data::volume(&extents) * shape.group.width) as f64;
            let row = data::declared(self.model, &shape.group.array).and_then(|(_, dims)| dims.last());
            let row = row.map_or(1, |dim| value(dim, self.hints));
            let last = extents.last().copied().unwrap_or(1).min(row);
            let block = if last >= row { bytes } else { (last * shape.group.width) as f64 };
            let times = rounds.iter().take(shape.group.level).product::<f64>();
            let ways = f64::from(u8::from(shape.group.get)) + f64::from(u8::from(shape.group.put));
            seconds += times * ways * (LATENCY + bytes * cores / bandwidth(block));
        }
        seconds
    }

    fn arithmetic(&self, part: usize, sizes: &[i64], own: &[i64]) -> f64 {
        let rounds = self.rounds(Some(part), sizes, own).iter().product::<f64>();
        let points: f64 = sizes.iter().chain(own).map(|s| *s as f64).product();
        let statements = &self.kernel.parts[part].statements;
        let contracts = statements.iter().any(|s| {
            let s = &self.model.statements[*s];
            s.assign.update.is_some() && s.loops.len() >= 3
        });
        // A row of a tile costs a few cycles beside its points.
        let per_point = if contracts { 0.3 } else { 1.5 } * statements.len() as f64;
        let last = own.last().or(sizes.last()).copied().unwrap_or(1) as f64;
        rounds * points * (per_point + 4.0 / last) * CYCLE
    }
}

fn value(dim: &loops::Expr, hints: &BTreeMap<String, i64>) -> i64 {
    use loops::{BinaryOp, Expr};
    match dim {
        Expr::Int(n) => *n,
        Expr::Var(name) => hints.get(&readable(name)).copied().unwrap_or(UNKNOWN),
        Expr::Binary(BinaryOp::Add, a, b) => value(a, hints).saturating_add(value(b, hints)),
        Expr::Binary(BinaryOp::Sub, a, b) => value(a, hints).saturating_sub(value(b, hints)),
        Expr::Binary(BinaryOp::Mul, a, b) => value(a, hints).saturating_mul(value(b, hints)),
        Expr::Binary(BinaryOp::FloorDiv, a, b) => value(a, hints).div_euclid(value(b, hints).max(1)),
        Expr::Binary(BinaryOp::Max, a, b) => value(a, hints).max(value(b, hints)),
        _ => UNKNOWN,
    }
}

/// All choices of one from each list; one empty choice if there are no lists.
fn product(lists: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        all = all
            .iter()
            .flat_map(|head: &Vec<i64>| {
                list.iter().map(move |next| head.iter().copied().chain([*next]).collect::<Vec<_>>())
            })
            .collect();
    }
    all
}

/// `P0802`
fn too_large(model: &Model, kernel: &Kernel, ldm: i64, least: i64) -> Diagnostic {
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
    Diagnostic::general(
        Code("P0802"),
        format!(
            "what one tile of a kernel of `{}` touches does not fit in local memory: at least {least} bytes of {}, and there are {ldm}",
            model.function.name,
            arrays.join(", ")
        ),
    )
    .help("make the inner loops smaller, interchange them so that they can be tiled, or choose a chip with more local memory (`--chip sw26010pro`)")
}

/// `P0802` for an array that a tile touches without bound.
fn no_box(model: &Model, array: &loops::Name) -> Diagnostic {
    Diagnostic::general(
        Code("P0802"),
        format!(
            "what one tile of a kernel of `{}` touches of `{array}` has no bound that is known when it is compiled, so no box in local memory holds it",
            model.function.name
        ),
    )
    .help("give the inner loops constant bounds, or interchange them so that they can be tiled")
}
