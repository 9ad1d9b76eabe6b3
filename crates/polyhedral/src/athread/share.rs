//! Sharing: boxes that all cores of a row, or of a column, need alike. Each of these cores brings in an eighth, and they exchange the rest.
//!
//! A shared transfer is a promise about the loops around it: the box is the same for all cores of the line, and all cores come by as often. The target decides
//! how it is kept (register communication, or remote copies), and whether it is worth it; as loops, each core still brings in the whole box for itself.

use isl::{Dim, UnionSet};

use super::data::{self, Group};
use super::split::Kernel;
use crate::fault::{self, Result};
use crate::model::Model;

/// The cores that need a box alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// Those of one row.
    Row,
    /// Those of one column.
    Column,
}

/// Cores of a line that shares; fewer are not worth it.
pub(super) const CORES: i64 = 8;
/// Bytes behind a shared box and behind a core's share of it that the exchange, which moves whole registers, may overwrite.
pub(super) const SLACK: i64 = 32;

/// The mark around a transfer that is the same for all tiles of a core, at the sizes that tiles are chosen for.
pub(super) const KEPT: &str = "kept";

impl Line {
    /// The mark around a transfer that is shared.
    pub fn mark(self) -> &'static str {
        match self {
            Line::Row => "along_row",
            Line::Column => "along_column",
        }
    }
}

/// Says of each group of a kernel on a plane of cores whether it is shared.
pub(super) fn decide(model: &Model, kernel: &Kernel, grid: &[i64], groups: &mut [Group]) -> Result<()> {
    let [rows, columns] = grid else { return Ok(()) };
    if !kernel.outer.is_empty() {
        return Ok(());
    }
    for group in groups.iter_mut() {
        let Some(part) = group.part else { continue };
        if !group.get || group.put || group.extents.len() != 2 || group.level <= kernel.parallel.len() {
            continue;
        }
        let moves = |depth: usize| group.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == depth));
        let line = match (moves(0), moves(1)) {
            (_, false) if *columns == CORES => Line::Row,
            (false, _) if *rows == CORES => Line::Column,
            _ => continue,
        };
        if !written(model, kernel, group) && uniform(model, kernel, part, group.level)? {
            group.shared = Some(line);
        }
    }
    Ok(())
}

/// Whether a kernel writes the array of a group.
pub(super) fn written(model: &Model, kernel: &Kernel, group: &Group) -> bool {
    kernel
        .parts
        .iter()
        .flat_map(|p| &p.statements)
        .any(|s| model.statements[*s].accesses.iter().any(|touch| touch.write && touch.array == group.array))
}

/// Whether the tile loops down to a level are a product: no bound depends on another loop.
fn uniform(model: &Model, kernel: &Kernel, part: usize, level: usize) -> Result<bool> {
    let tiles = data::prefix(model, kernel, part, level)?.range().map_err(fault::library)?;
    let product = || -> isl::Result<bool> {
        let Some(set) = tiles.sets()?.into_iter().next() else { return Ok(false) };
        let n = set.dim(Dim::SET)?;
        let mut all = set.clone();
        for k in 0..n {
            let mut alone = set.project_out(Dim::SET, k + 1, n - k - 1)?;
            alone = alone.project_out(Dim::SET, 0, k)?;
            alone = alone.insert_dims(Dim::SET, 0, k)?.insert_dims(Dim::SET, k + 1, n - k - 1)?;
            all = if k == 0 { alone } else { all.intersect(&alone)? };
        }
        UnionSet::of(&model.ctx, [&all])?.is_subset(&UnionSet::of(&model.ctx, [&set])?)
    };
    product().map_err(fault::library)
}

/// Bytes of local memory of a shared box with a core's share of it.
pub(super) fn bytes(extents: &[i64], width: i64) -> i64 {
    let rows = extents.first().copied().unwrap_or(1);
    let row = data::volume(extents.get(1..).unwrap_or(&[])).saturating_mul(width);
    let share = rows.saturating_add(CORES - 1) / CORES;
    super::tile::aligned(rows.saturating_mul(row).saturating_add(SLACK))
        .saturating_add(super::tile::aligned(share.saturating_mul(row).saturating_add(SLACK)))
}
