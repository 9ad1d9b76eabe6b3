//! Panels: a matrix that one nest needs by rows and the next by columns is read once for both.
//!
//! Sums over rows that keep their order give each core rows of the matrix
//! (`q[i] += A[i][j] * p[j]`), sums over columns give it columns (`s[j] += A[i][j] * r[i]`); as two
//! kernels they read the matrix twice. Here both run panel by panel, a panel being as many rows as
//! there are cores, or a small multiple: the rows of a panel are spread over the cores, then its
//! columns. All sums keep their order, since panels come in ascending order. A copy by columns is
//! marked [`EXCHANGED`]: it is in the local memories of all cores together already, so that the
//! target may exchange it between them. As loops, each core brings its columns in from main memory.

mod column_sums;

use std::collections::BTreeMap;

use isl::UnionSet;
use loops::{Code, Diagnostic, Name};

use super::coherence;
use super::data_mapping::{self, Group};
use super::host_split::{self, Item, Kernel, Part};
use super::tile_sizes::{self, aligned, ceil};
use super::{Options, multicast};
use crate::fault::{self, Result};
use crate::model::Model;
use crate::names::readable;
use crate::tree::{FunctionText, LoopCode, Member, Node, SetText};

/// The mark around a transfer of what the cores have in local memory by rows.
pub(super) const EXCHANGED: &str = "exchanged";
/// Elements of a matrix below which the second reading costs less than the steps of the panels.
const WORTH: i64 = 1 << 16;
/// Elements of a core's rows of a panel, at least: with fewer, latencies are not hidden by the
/// transfer of the next panel.
const ROWS: i64 = 1000;
/// Registers that a core has of a row in an exchange, and bytes that all have of it, at most.
const REGISTERS: [i64; 5] = [16, 8, 4, 2, 1];
const STEP: i64 = 8 << 10;
/// Bytes of a register.
const REGISTER: i64 = 32;
/// Bytes of a piece of a row that is brought in by itself, where a whole row is too long: shorter
/// ones come in too slowly.
const PIECE: [i64; 2] = [8 << 10, 4 << 10];
/// Bytes for what else a kernel has in local memory.
const REST: i64 = 512;

/// What a kernel does with a panel.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// The matrix.
    pub array: Name,
    /// Whether it has the panel's columns, not its rows.
    pub columns: bool,
}

/// Items with panels.
pub(super) struct Panels {
    /// The items.
    pub items: Vec<Item>,
    /// Sizes beyond which they are slow; none if there are no such sizes.
    pub bounds: BTreeMap<Name, i64>,
}

/// The items with neighbours made into panels; none if there are no such neighbours.
pub(super) fn panels(model: &Model, items: &[Item], options: &Options) -> Result<Option<Panels>> {
    if !options.exchange {
        return Ok(None);
    }
    for (k, two) in items.windows(2).enumerate() {
        let [Item::Kernel(a), Item::Kernel(b)] = two else { continue };
        for (rows, columns) in [(a, b), (b, a)] {
            if let Some(middle) = pair(model, rows, columns, options)? {
                let mut all = items[..k].to_vec();
                all.extend(middle);
                all.extend_from_slice(&items[k + 2..]);
                return Ok(Some(Panels { items: all, bounds: BTreeMap::new() }));
            }
        }
        if let Some((middle, bounds)) = column_sums::whole(model, a, b, options)? {
            let mut all = items[..k].to_vec();
            all.push(middle);
            all.extend_from_slice(&items[k + 2..]);
            return Ok(Some(Panels { items: all, bounds }));
        }
    }
    Ok(None)
}

/// The one part of a kernel with a loop beside the parallel one; what comes before it, and what
/// after.
fn apart(kernel: &Kernel) -> Option<(&[Part], &Part, &[Part])> {
    let deep = |part: &&Part| !part.inner.is_empty();
    let at = kernel.parts.iter().position(|part| deep(&part))?;
    let main = &kernel.parts[at];
    let plain = kernel.parallel.len() == 1
        && kernel.outer.is_empty()
        && kernel.parts.iter().filter(deep).count() == 1
        && main.inner.len() == 1
        && main.single == 0
        && main.leaf == Node::Leaf
        && main.statements.len() == 1;
    plain.then(|| (&kernel.parts[..at], main, &kernel.parts[at + 1..]))
}

fn pair(model: &Model, rows: &Kernel, columns: &Kernel, options: &Options) -> Result<Option<Vec<Item>>> {
    let (Some((_, by_rows, _)), Some((before, by_columns, after))) = (apart(rows), apart(columns)) else {
        return Ok(None);
    };
    let hints = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
    let trips = |member: &Member, part: &Part| {
        tile_sizes::trips(model, member, &host_split::read(model, &part.filter)?, &hints)
    };
    let (height, width) = (trips(&rows.parallel[0], by_rows)?, trips(&by_rows.inner[0], by_rows)?);
    if height.saturating_mul(width) < WORTH {
        return Ok(None);
    }
    let cores = options.grid.cores();
    let width = ceil(width, 8) * 8;
    // Which matrix is seen from the boxes, at any sizes.
    let only = std::slice::from_ref(by_columns);
    let tried = Cut { each: 1, length: width, strip: 8 };
    let (first, second) = (
        one(model, rows, &rows.filter, &rows.parts, tried.rows(cores), false)?,
        one(model, columns, &by_columns.filter, only, tried.columns(cores), true)?,
    );
    let (Ok(left), Ok(right)) = (data_mapping::groups(model, &first)?, data_mapping::groups(model, &second)?)
    else {
        return Ok(None);
    };
    let Some(matrix) = left.iter().find(|a| {
        by_row(a, 1, width) && right.iter().any(|b| a.array == b.array && by_column(b, cores, tried.strip))
    }) else {
        return Ok(None);
    };
    let written = |kernel: &Kernel| multicast::written(model, kernel, matrix);
    if written(&first) || written(&second) {
        return Ok(None);
    }
    // Where columns need what the rows make, a row has to be there as a whole.
    let apart = !left.iter().any(|a| a.put && right.iter().any(|b| a.array == b.array));
    let room = |cut: &Cut| room(cut, &tried, cores, matrix, &left, &right);
    let Some(cut) = cuts(width, cores, matrix.width, apart).into_iter().find(|cut| room(cut) <= options.ldm)
    else {
        return Ok(None);
    };
    let kernels = [
        (one(model, rows, &rows.filter, &rows.parts, cut.rows(cores), false)?, false),
        (one(model, columns, &by_columns.filter, only, cut.columns(cores), true)?, true),
    ];
    let array = matrix.array.clone();
    let kernels = kernels.map(|(kernel, columns)| {
        Item::Kernel(Kernel { panel: Some(Panel { array: array.clone(), columns }), ..kernel })
    });
    let mut items = Vec::new();
    items.extend(simple(model, columns, before)?);
    items.push(around(model, kernels.into())?);
    items.extend(simple(model, columns, after)?);
    Ok(Some(items))
}

/// How a matrix is cut: rows of a core in a panel, elements of a row that come in together, columns
/// of a core in an exchange.
struct Cut {
    each: i64,
    length: i64,
    strip: i64,
}

impl Cut {
    fn rows(&self, cores: i64) -> [i64; 3] {
        [self.each, self.length, cores * self.each]
    }

    fn columns(&self, cores: i64) -> [i64; 3] {
        [self.strip, cores * self.each, cores * self.each]
    }
}

/// Ways to cut rows of some length, best first; `apart`: whether pieces of a row may come one after
/// the other.
fn cuts(width: i64, cores: i64, bytes: i64, apart: bool) -> Vec<Cut> {
    let mut all = Vec::new();
    let strips: Vec<i64> =
        REGISTERS.iter().filter(|r| *r * REGISTER * cores <= STEP).map(|r| r * REGISTER / bytes).collect();
    for each in (1..=ceil(ROWS, width).clamp(1, 8)).rev() {
        all.extend(strips.iter().map(|strip| Cut { each, length: width, strip: *strip }));
    }
    // Each step of an exchange is within one piece.
    for piece in PIECE.into_iter().filter(|_| apart) {
        for strip in &strips {
            let length = piece / bytes;
            if length < width && length % (cores * strip) == 0 {
                all.push(Cut { each: 1, length, strip: *strip });
            }
        }
    }
    all
}

/// Bytes of local memory: rows twice, the columns of a panel twice (half-way and there), vectors
/// along the rows and a core's strips of vectors as a whole, and the rest. The groups are those of
/// `tried`.
fn room(cut: &Cut, tried: &Cut, cores: i64, matrix: &Group, left: &[Group], right: &[Group]) -> i64 {
    let bytes = |elements: i64, g: &Group| aligned(elements.saturating_mul(g.width));
    let moves = |g: &Group, depth: usize| g.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == depth));
    let rounds = ceil(tried.length, cut.strip * cores);
    let of_rows = left.iter().filter(|g| g.array != matrix.array).map(|g| match moves(g, 2) {
        true => bytes(ceil(tried.length, cut.length) * cut.length, g),
        false => 2 * bytes(cut.each, g),
    });
    let of_columns = right.iter().filter(|g| g.array != matrix.array).map(|g| match moves(g, 1) {
        true => rounds * bytes(cut.strip, g),
        false => bytes(cores * cut.each, g) + 2 * bytes(cut.each, g),
    });
    2 * bytes(cut.each * cut.length, matrix)
        + 2 * bytes(cores * cut.each * cut.strip, matrix)
        + of_rows.chain(of_columns).sum::<i64>()
        + REST
}

fn by_row(group: &Group, each: i64, width: i64) -> bool {
    group.get
        && group.extents == [each, width]
        && matches!(group.corner.as_slice(), [r, c] if r.dims == [(1, each)] && c.dims == [(2, width)])
        && group.corner.iter().all(|c| c.constant == 0 && c.sizes.is_empty() && !c.clip)
}

fn by_column(group: &Group, panel: i64, strip: i64) -> bool {
    group.get
        && group.extents == [panel, strip]
        && matches!(group.corner.as_slice(), [r, c] if (r.dims == [(0, panel)] || r.dims == [(2, panel)]) && c.dims == [(1, strip)])
        && group.corner.iter().all(|c| c.constant == 0 && c.sizes.is_empty() && !c.clip)
}

/// Parts of a kernel as a kernel inside the loop over panels; sizes of its tiles, of those of its
/// sums, and of the panels.
fn one(
    model: &Model,
    kernel: &Kernel,
    filter: &SetText,
    parts: &[Part],
    sizes: [i64; 3],
    columns: bool,
) -> Result<Kernel> {
    let own = host_split::read(model, filter)?;
    let along = if columns { &parts[0].inner[0] } else { &kernel.parallel[0] };
    let number =
        host_split::function(model, &host_split::restricted(model, std::slice::from_ref(along), &own)?[0])?;
    let number = number.scale_down(sizes[2]).and_then(|f| f.floor()).map_err(fault::library)?;
    let outer = Member {
        function: FunctionText::new(number.to_string()),
        coincident: false,
        code: LoopCode::Default,
    };
    let part = |part: &Part| Part { sizes: vec![sizes[1]; part.inner.len()], ..part.clone() };
    let parallel = host_split::restricted(model, &kernel.parallel, &own)?;
    let parts = parts.iter().map(part).collect();
    let new = Kernel::new(filter.clone(), vec![outer], parallel, parts);
    Ok(Kernel { sizes: vec![sizes[0]], ..new })
}

/// The parts before or after the sums: a kernel of their own.
fn simple(model: &Model, kernel: &Kernel, parts: &[Part]) -> Result<Option<Item>> {
    if parts.is_empty() {
        return Ok(None);
    }
    let filter = union(model, parts.iter().map(|p| &p.filter))?;
    Ok(Some(Item::Kernel(Kernel {
        parallel: host_split::restricted(model, &kernel.parallel, &filter)?,
        filter: SetText::new(filter.to_string()),
        parts: parts.to_vec(),
        ..kernel.clone()
    })))
}

/// The loop over the panels.
fn around(model: &Model, kernels: Vec<Item>) -> Result<Item> {
    let filter = union(model, kernels.iter().map(host_split::filter_of))?;
    let mut number = None;
    for item in &kernels {
        let Item::Kernel(kernel) = item else { continue };
        let own = host_split::function(model, &kernel.outer[0])?;
        number = Some(match number {
            None => own,
            Some(before) => own.union_add(&before).map_err(fault::library)?,
        });
    }
    let Some(number) = number else { return Err(fault::edit("panels without kernels")) };
    let member = Member {
        function: FunctionText::new(number.to_string()),
        coincident: false,
        code: LoopCode::Default,
    };
    Ok(Item::Loop { filter: SetText::new(filter.to_string()), members: vec![member], items: kernels })
}

fn union<'a>(model: &Model, filters: impl Iterator<Item = &'a SetText>) -> Result<UnionSet> {
    let mut all = UnionSet::empty(&model.ctx).map_err(fault::library)?;
    for filter in filters {
        all = all.union(&host_split::read(model, filter)?).map_err(fault::library)?;
    }
    Ok(all)
}

/// A kernel of a panel, whose tiles are given, with its buffers, and a line about it; or why not.
pub(super) fn sized(
    model: &Model,
    mut kernel: Kernel,
    role: &Panel,
    options: &Options,
) -> Result<std::result::Result<(Kernel, String), Diagnostic>> {
    let refused = |reason: &str| {
        let message = format!("`{}` cannot be read by panels: {reason}", role.array);
        Diagnostic::general(Code("P0802"), message)
    };
    let mut groups = match data_mapping::groups(model, &kernel)? {
        Ok(groups) => groups,
        Err(array) => return Ok(Err(refused(&format!("`{array}` has no box")))),
    };
    for group in &mut groups {
        let moves = group.corner.iter().flat_map(|c| &c.dims).any(|(depth, _)| *depth < 2);
        group.exchanged = role.columns && group.array == role.array;
        group.kept = group.get
            && !group.put
            && !moves
            && (1..=2).contains(&group.extents.len())
            && !multicast::written(model, &kernel, group);
    }
    kernel.groups = groups;
    let used = tile_sizes::footprint(&kernel);
    if used > options.ldm {
        return Ok(Err(refused("too much local memory")));
    }
    if let Some(conflict) = coherence::conflict(model, &kernel, 1)? {
        return Ok(Err(refused(&conflict.reason).help(conflict.way_out)));
    }
    let line = format!(
        "{} of `{}` by panels on {} cores, tiles {:?} and {:?}, {used} bytes of local memory",
        if role.columns { "columns" } else { "rows" },
        role.array,
        options.grid.cores(),
        kernel.sizes,
        kernel.parts.iter().map(|p| p.sizes.as_slice()).collect::<Vec<_>>().concat(),
    );
    Ok(Ok((kernel, line)))
}
