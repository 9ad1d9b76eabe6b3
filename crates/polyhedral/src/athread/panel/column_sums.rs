//! Panels of columns: a matrix that is made, summed up by columns, and summed up by rows with what
//! its columns came to.
//!
//! `A[i][j] += ...; x[j] += A[i][j] * y[i]; w[i] += A[i][j] * x[j]` needs all of a column for an
//! element of `x`, and all of `x` for one of `w`; row by row that is two passes over the matrix.
//! Here a panel is some columns as a whole, whose rows are spread over the cores. What is made goes
//! out, and stays until its columns are summed up and used. Sums by columns pass from core to core,
//! so that they keep their order; those by rows do since panels come in ascending order.
//!
//! The target has a core's rows in parts, of which one comes in with each panel, for as many panels
//! as there are parts: so a row of a transfer is nearly twice as long as local memory could hold of
//! all rows. The width of a panel is chosen for that.

use std::collections::BTreeMap;

use isl::UnionSet;
use loops::{Expr, Name};

use super::super::Options;
use super::super::data_mapping::{self, Group};
use super::super::host_split::{self, Item, Kernel, Part};
use super::super::tile_sizes::{self, aligned, ceil};
use super::{Panel, WORTH, apart, around, one, union};
use crate::fault::Result;
use crate::model::Model;
use crate::names::readable;
use crate::tree::{Member, Node, SetText};

/// Bytes of a row of a panel, at least: shorter ones come in so slowly that two passes over whole
/// rows are faster.
const BLOCK: i64 = 384;
/// Bytes of a register, of which the columns of a panel are a multiple.
const REGISTER: i64 = 32;
/// Parts of a core's rows, at most.
const PARTS: i64 = 16;
/// Slots for rows that are on their way or are made, at least and at most.
const SLOTS: [i64; 2] = [3, 32];
/// Bytes that the memory would move in the time that a block takes beside its own.
const AROUND: i64 = 450;
/// Cycles from the beginning of a transfer to its end, however short it is.
const LATENCY: i64 = 3200;
/// Cycles of each panel in which the memory has nothing to do.
const PANEL: i64 = 2500;
/// Bytes that it moves in a thousand cycles.
const RATE: i64 = 14_000;

/// The loop over panels for two kernels, and up to which sizes all rows have a core; none if they
/// are not like that.
pub(super) fn whole(
    model: &Model,
    a: &Kernel,
    rows: &Kernel,
    options: &Options,
) -> Result<Option<(Item, BTreeMap<Name, i64>)>> {
    // Without sizes the rows of a core would be a guess, on which everything depends.
    if options.hints.is_empty() || apart(rows).is_none() || rows.parts.len() != 1 {
        return Ok(None);
    }
    let Some((made, sums)) = parted(model, a)? else { return Ok(None) };
    let hints = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
    let trips =
        |member: &Member| tile_sizes::trips(model, member, &host_split::read(model, &made.filter)?, &hints);
    let (height, width) = (trips(&made.parallel[0])?, trips(&made.parts[0].inner[0])?);
    if height.saturating_mul(width) < WORTH {
        return Ok(None);
    }
    let each = ceil(height, options.grid.cores());
    let kernels = |width: i64| -> Result<[Kernel; 3]> {
        Ok([
            one(model, &made, &made.filter, &made.parts, [each, width, width], true)?,
            one(model, &sums, &sums.filter, &sums.parts, [width, each, width], false)?,
            one(model, rows, &rows.filter, &rows.parts, [each, width, width], true)?,
        ])
    };
    let tried = ceil(width, 8) * 8;
    let mut groups = Vec::new();
    for kernel in kernels(tried)? {
        match data_mapping::groups(model, &kernel)? {
            Ok(own) => groups.push(own),
            Err(_) => return Ok(None),
        }
    }
    let Some(matrix) = matrix(&groups, each, tried) else { return Ok(None) };
    let room = Room::of(&groups, matrix, each, tried);
    let Some((most, block)) = room.best(each, options.grid.cores(), width, options.ldm) else {
        return Ok(None);
    };
    if block * matrix.width < BLOCK.min(width * matrix.width) {
        return Ok(None);
    }
    // Panels alike.
    let (count, step) = (ceil(width, most), REGISTER / matrix.width);
    let columns = (ceil(ceil(width, count), step) * step).min(most);
    let mut items = Vec::new();
    for (kernel, by_columns) in kernels(columns)?.into_iter().zip([false, true, false]) {
        let role = Panel { array: matrix.array.clone(), columns: by_columns };
        items.push(Item::Kernel(Kernel { panel: Some(role), ..kernel }));
    }
    // Which of the loops goes over rows is not asked: a bound on another size of the same value
    // does no harm.
    let ends = made.parts[0].statements.iter().flat_map(|s| &model.statements[*s].loops).map(|l| &l.upper);
    let rows_of = ends.filter_map(|end| match end {
        Expr::Var(name) if options.hints.get(name) == Some(&height) => Some(name.clone()),
        _ => None,
    });
    let bounds = rows_of.map(|name| (name, each * options.grid.cores())).collect();
    Ok(Some((around(model, items)?, bounds)))
}

/// The matrix, if each kernel has it and vectors along its rows or columns, and writes nothing that
/// another has before it but the sums.
fn matrix(groups: &[Vec<Group>], each: i64, width: i64) -> Option<&Group> {
    let [made, sums, used] = groups else { return None };
    let matrix = made.iter().find(|g| g.get && g.put && g.extents == [each, width])?;
    let whole = groups.iter().all(|own| {
        own.iter().all(|g| match g.array == matrix.array {
            true => g.get && g.extents == [each, width] && g.put == std::ptr::eq(g, matrix),
            false => g.extents == [each] || g.extents == [width],
        }) && own.iter().any(|g| g.array == matrix.array)
            && own.iter().enumerate().all(|(k, g)| own[..k].iter().all(|h| h.array != g.array))
    });
    let out = |own: &[Group]| own.iter().filter(|g| g.put).map(|g| g.array.clone()).collect::<Vec<_>>();
    let (result, last) = (out(sums), out(used));
    let has = |own: &[Group], arrays: &[Name]| own.iter().any(|g| arrays.contains(&g.array));
    let apart = out(made).len() == 1
        && result.len() == 1
        && !has(made, &result)
        && !has(made, &last)
        && !has(sums, &last)
        && !last.contains(&result[0])
        && sums.iter().all(|g| !g.put || g.extents == [width])
        && used.iter().all(|g| !g.put || g.extents == [each])
        && used.iter().any(|g| g.array == result[0] && g.extents == [width]);
    (whole && apart).then_some(matrix)
}

/// A kernel that makes a matrix and sums up its columns in one loop, as one that makes it, by rows,
/// and one that sums up.
fn parted(model: &Model, a: &Kernel) -> Result<Option<(Kernel, Kernel)>> {
    let [main, rest @ ..] = a.parts.as_slice() else { return Ok(None) };
    let plain = a.parallel.len() == 1
        && a.outer.is_empty()
        && main.inner.len() == 1
        && main.single == 0
        && rest.iter().all(|part| part.inner.is_empty());
    let Node::Sequence(branches) = &main.leaf else { return Ok(None) };
    let [first, second] = branches.as_slice() else { return Ok(None) };
    if !plain || *first.child != Node::Leaf || *second.child != Node::Leaf {
        return Ok(None);
    }
    let part = |filter: &SetText, inner: &[Member]| -> Result<Part> {
        let own = host_split::read(model, filter)?;
        let mut statements = Vec::new();
        for statement in &main.statements {
            if host_split::has(&own, &model.statements[*statement])? {
                statements.push(*statement);
            }
        }
        let inner = host_split::restricted(model, inner, &own)?;
        Ok(Part { filter: filter.clone(), inner, leaf: Node::Leaf, statements, ..main.clone() })
    };
    let parallel = |own: &UnionSet, members: &[Member]| -> Result<Vec<Member>> {
        let members = host_split::restricted(model, members, own)?;
        Ok(members.into_iter().map(|m| Member { coincident: true, ..m }).collect())
    };
    let made = Kernel {
        filter: first.filter.clone(),
        parallel: parallel(&host_split::read(model, &first.filter)?, &main.inner)?,
        parts: vec![part(&first.filter, &a.parallel)?],
        ..a.clone()
    };
    let mut parts = vec![part(&second.filter, &main.inner)?];
    parts.extend(rest.iter().cloned());
    let all = union(model, parts.iter().map(|p| &p.filter))?;
    let sums = Kernel {
        parallel: parallel(&all, &a.parallel)?,
        filter: SetText::new(all.to_string()),
        parts,
        ..a.clone()
    };
    Ok(Some((made, sums)))
}

/// Bytes of local memory that panels take: as the target has them.
struct Room {
    /// Bytes of an element of the matrix.
    element: i64,
    /// Bytes of an element of each vector along the rows of which all cores need several panels.
    ring: Vec<i64>,
    /// The same of the sums, and of what only one core adds to them.
    others: Vec<i64>,
    /// Bytes of the vectors along the columns.
    down: i64,
}

impl Room {
    /// The groups are those of `tried` columns.
    fn of(groups: &[Vec<Group>], matrix: &Group, each: i64, tried: i64) -> Room {
        let mut room = Room { element: matrix.width, ring: vec![], others: vec![], down: 0 };
        for (step, own) in groups.iter().enumerate() {
            for group in own.iter().filter(|g| g.array != matrix.array) {
                match (group.extents == [tried], step) {
                    (false, _) => room.down += aligned(each * group.width),
                    (true, 0) => room.ring.push(group.width),
                    (true, 1) => room.others.push(group.width),
                    // The sums are where they were.
                    (true, _) => {}
                }
            }
        }
        // The first core has the sums of the next panel, too.
        if let [only] = room.others.as_slice() {
            room.others.push(*only);
        }
        room
    }

    /// Cycles for the sums of a panel to go through all cores, and for what comes of them: rows are
    /// added one after the other.
    fn sums(&self, each: i64, cores: i64, columns: i64) -> i64 {
        9 * each * cores + 40 * cores + 3 * each * columns + 1500
    }

    /// Cycles of the memory for a block's row of each core.
    fn row(&self, cores: i64, parts: i64, columns: i64) -> i64 {
        cores * (parts * columns * self.element + AROUND) * 1000 / RATE
    }

    /// Slots for rows: the memory has something to do while sums go through the cores. The target
    /// has the same rule.
    fn slots(&self, each: i64, cores: i64, parts: i64, columns: i64) -> i64 {
        let [least, most] = SLOTS;
        ceil(self.sums(each, cores, columns), self.row(cores, parts, columns)).clamp(least, most)
    }

    /// Bytes for some parts and columns of a panel.
    fn bytes(&self, each: i64, cores: i64, parts: i64, columns: i64) -> i64 {
        let (rows, slots) = (ceil(each, parts), self.slots(each, cores, parts, columns));
        let ring = self.ring.iter().map(|width| aligned((parts + 1) * columns * width));
        let others = self.others.iter().map(|width| aligned(columns * width));
        aligned(parts * (parts + 1) / 2 * rows * columns * self.element)
            + aligned(slots * parts * columns * self.element)
            + ring.chain(others).sum::<i64>()
            + self.down
    }

    /// Columns of a panel, and of a row of a block, that take the least time: rows in long pieces,
    /// and few panels, each of which has sums that go through all cores.
    fn best(&self, each: i64, cores: i64, width: i64, ldm: i64) -> Option<(i64, i64)> {
        let step = REGISTER / self.element;
        let mut best: Option<(i64, i64, i64)> = None;
        for parts in 1..=PARTS.min(each) {
            for columns in (1..=ceil(width, step)).map(|k| k * step) {
                if self.bytes(each, cores, parts, columns) > ldm {
                    continue;
                }
                let block = (columns * parts).min(width);
                let bytes = block * self.element;
                let moved =
                    2 * each * cores * columns * self.element * (bytes + AROUND) / bytes * 1000 / RATE;
                let sums = self.sums(each, cores, columns);
                // The first rows are short, and wait for the memory to answer.
                let ahead = (self.slots(each, cores, parts, columns) + 1) / 2;
                let first = (each - ceil(each, parts)) * LATENCY / ahead;
                let time = first + ceil(width, columns) * (moved.max(sums) + PANEL) + sums;
                if best.is_none_or(|(least, ..)| time < least) {
                    best = Some((time, columns, block));
                }
            }
        }
        best.map(|(_, columns, block)| (columns, block))
    }
}
