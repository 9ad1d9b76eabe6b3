//! Panels: a matrix that one nest needs by rows and the next by columns is read once for both.
//!
//! Sums over rows that keep their order give each core rows of the matrix (`q[i] += A[i][j] * p[j]`), sums over columns give it columns
//! (`s[j] += A[i][j] * r[i]`); as two kernels they read the matrix twice. Here both run panel by panel, a panel being as many rows as there are cores, or a
//! small multiple: the rows of a panel are spread over the cores, then its columns. All sums keep their order, since panels come in ascending order. A copy by
//! columns is marked [`EXCHANGED`]: it is in the local memories of all cores together already, so that the target may exchange it between them. As
//! loops, each core brings its columns in from main memory.

use isl::UnionSet;
use loops::{Code, Diagnostic, Name};

use super::data::{self, Group};
use super::split::{self, Item, Kernel, Part};
use super::tile::{self, aligned, ceil};
use super::{Options, share};
use crate::fault::{self, Result};
use crate::model::Model;
use crate::names::readable;
use crate::tree::{FunctionText, LoopCode, Member, Node, SetText};

/// The mark around a transfer of what the cores have in local memory by rows.
pub(super) const EXCHANGED: &str = "exchanged";
/// Elements of a matrix below which the second reading costs less than the steps of the panels.
const WORTH: i64 = 1 << 18;
/// Elements of a core's rows of a panel, at least: with fewer, latencies are not hidden by the transfer of the next panel.
const ROWS: i64 = 1000;
/// Columns of a core in an exchange: whole registers of any type.
const COLUMNS: [i64; 2] = [16, 8];
/// Bytes for what else a kernel has in local memory.
const REST: i64 = 1 << 10;

/// What a kernel does with a panel.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// The matrix.
    pub array: Name,
    /// Whether it has the panel's columns, not its rows.
    pub columns: bool,
}

/// The items with neighbours made into panels; none if there are no such neighbours.
pub(super) fn panels(model: &Model, items: &[Item], options: &Options) -> Result<Option<Vec<Item>>> {
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
                return Ok(Some(all));
            }
        }
    }
    Ok(None)
}

/// The one part of a kernel with a loop beside the parallel one; what comes before it, and what after.
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
    let trips =
        |member: &Member, part: &Part| tile::trips(model, member, &split::read(model, &part.filter)?, &hints);
    let (height, width) = (trips(&rows.parallel[0], by_rows)?, trips(&by_rows.inner[0], by_rows)?);
    if height.saturating_mul(width) < WORTH {
        return Ok(None);
    }
    let cores = options.grid.cores();
    let width = ceil(width, 8) * 8;
    let wanted = ceil(ROWS, width).clamp(1, 8);
    for each in (1..=wanted).rev() {
        for strip in COLUMNS {
            let panel = cores * each;
            // Which matrix is seen from the boxes.
            let first = one(model, rows, &rows.filter, &rows.parts, [each, width, panel], false)?;
            let second = std::slice::from_ref(by_columns);
            let second = one(model, columns, &by_columns.filter, second, [strip, panel, panel], true)?;
            let (Ok(left), Ok(right)) = (data::groups(model, &first)?, data::groups(model, &second)?) else {
                return Ok(None);
            };
            let Some(matrix) = left.iter().find(|a| {
                by_row(a, each, width)
                    && right.iter().any(|b| a.array == b.array && by_column(b, panel, strip))
            }) else {
                return Ok(None);
            };
            let written = |kernel: &Kernel| share::written(model, kernel, matrix);
            if written(&first) || written(&second) {
                return Ok(None);
            }
            if room(matrix, &left, &right) > options.ldm {
                continue;
            }
            let array = matrix.array.clone();
            let kernels = [(first, false), (second, true)].map(|(kernel, columns)| {
                Item::Kernel(Kernel { panel: Some(Panel { array: array.clone(), columns }), ..kernel })
            });
            let mut items = Vec::new();
            items.extend(simple(model, columns, before)?);
            items.push(around(model, kernels)?);
            items.extend(simple(model, columns, after)?);
            return Ok(Some(items));
        }
    }
    Ok(None)
}

/// Bytes of local memory: two panels' rows, the columns of one twice (half-way and there), and the rest.
fn room(matrix: &Group, left: &[Group], right: &[Group]) -> i64 {
    let bytes = |g: &Group| aligned(data::volume(&g.extents).saturating_mul(g.width));
    let of = |groups: &[Group]| groups.iter().map(bytes).sum::<i64>();
    let (rows, columns) = (of(left), of(right));
    let column = right.iter().filter(|g| g.array == matrix.array).map(bytes).sum::<i64>();
    rows + bytes(matrix) + columns + column + REST
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

/// Parts of a kernel as a kernel inside the loop over panels; sizes of its tiles, of those of its sums, and of the panels.
fn one(
    model: &Model,
    kernel: &Kernel,
    filter: &SetText,
    parts: &[Part],
    sizes: [i64; 3],
    columns: bool,
) -> Result<Kernel> {
    let own = split::read(model, filter)?;
    let along = if columns { &parts[0].inner[0] } else { &kernel.parallel[0] };
    let number = split::function(model, &split::restricted(model, std::slice::from_ref(along), &own)?[0])?;
    let number = number.scale_down(sizes[2]).and_then(|f| f.floor()).map_err(fault::library)?;
    let outer = Member {
        function: FunctionText::new(number.to_string()),
        coincident: false,
        code: LoopCode::Default,
    };
    let part = |part: &Part| Part { sizes: vec![sizes[1]; part.inner.len()], ..part.clone() };
    Ok(Kernel {
        filter: filter.clone(),
        outer: vec![outer],
        parallel: split::restricted(model, &kernel.parallel, &own)?,
        sizes: vec![sizes[0]],
        parts: parts.iter().map(part).collect(),
        groups: vec![],
        panel: None,
    })
}

/// The parts before or after the sums: a kernel of their own.
fn simple(model: &Model, kernel: &Kernel, parts: &[Part]) -> Result<Option<Item>> {
    if parts.is_empty() {
        return Ok(None);
    }
    let filter = union(model, parts.iter().map(|p| &p.filter))?;
    Ok(Some(Item::Kernel(Kernel {
        parallel: split::restricted(model, &kernel.parallel, &filter)?,
        filter: SetText::new(filter.to_string()),
        parts: parts.to_vec(),
        ..kernel.clone()
    })))
}

/// The loop over the panels.
fn around(model: &Model, kernels: [Item; 2]) -> Result<Item> {
    let filter = union(model, kernels.iter().map(split::filter_of))?;
    let mut number = None;
    for item in &kernels {
        let Item::Kernel(kernel) = item else { continue };
        let own = split::function(model, &kernel.outer[0])?;
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
    Ok(Item::Loop {
        filter: SetText::new(filter.to_string()),
        members: vec![member],
        items: kernels.to_vec(),
    })
}

fn union<'a>(model: &Model, filters: impl Iterator<Item = &'a SetText>) -> Result<UnionSet> {
    let mut all = UnionSet::empty(&model.ctx).map_err(fault::library)?;
    for filter in filters {
        all = all.union(&split::read(model, filter)?).map_err(fault::library)?;
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
    let mut groups = match data::groups(model, &kernel)? {
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
            && !share::written(model, &kernel, group);
    }
    kernel.groups = groups;
    let used = tile::footprint(&kernel);
    if used > options.ldm {
        return Ok(Err(refused("too much local memory")));
    }
    if let Some(conflict) = data::conflict(model, &kernel, 1)? {
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
