//! Sharing: boxes that all cores of a row, of a column, or all cores at all need alike. Each of
//! these brings in its share, and they exchange the rest.
//!
//! A shared transfer is a promise about the loops around it: the box is the same for all these
//! cores, and all of them come by as often. The target decides how it is kept (register
//! communication, or remote copies), and whether it is worth it; as loops, each core still brings
//! in the whole box for itself.

use isl::Dim;

use super::boxes;
use super::data_mapping::{self, Group, Site};
use super::host_split::{Kernel, Pad};
use super::tile_sizes::ceil;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::SetText;

/// The cores that need a box alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// Those of one row.
    Row,
    /// Those of one column.
    Column,
    /// All.
    All,
    /// All, of a vector that they need again for each tile: their shares stay.
    Stay,
    /// One core: a box of its own that comes as shares beside it do, so that several with short
    /// rows come at once.
    Alone,
    /// All, to each of whom it is broadcast: nobody hands it on, and there are two places for it.
    Cast,
    /// One core: a box of its own beside one that is broadcast, whose rows take turns in asking for
    /// several steps.
    Turns,
}

/// Bytes of rows that boxes which come at once make, if each has fewer.
const SHORT: i64 = 512;
/// Boxes that come at once, at most.
pub(super) const BOXES: i64 = 8;
/// Rows that a core has of its own where shares come ahead, at least.
pub(super) const OWN: i64 = 16;
/// Bytes of rows of boxes that come several at once, at most.
const LONGEST: i64 = 256;
/// Bytes of a row that takes turns, at least as room is kept for it, and at most.
const TURN: (i64, i64) = (512, 1024);
/// Rows of a box that is broadcast: cores that bring in a part of a step are few, and its two
/// places small.
pub(super) const CAST: [i64; 4] = [4, 5, 6, 8];
/// Cores that use all of memory's rate with some of them at it.
const MANY: i64 = 64;

/// A line, with the rows and columns of cores of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shared {
    /// Who shares.
    pub line: Line,
    rows: i64,
    columns: i64,
}

/// Cores of a row of the chip.
pub(super) const ROW: i64 = 8;
/// Bytes behind a shared box and behind a core's share of it that the exchange, which moves whole
/// registers, may overwrite.
pub(super) const SLACK: i64 = 32;

/// The mark around a transfer that is the same for all tiles of a core, at the sizes that tiles are
/// chosen for.
pub(super) const KEPT: &str = "kept";

impl Line {
    /// The mark around a transfer that is shared.
    pub fn mark(self) -> &'static str {
        match self {
            Line::Row => "along_row",
            Line::Column => "along_column",
            Line::All => "among_all",
            Line::Stay => "kept_among_all",
            Line::Alone | Line::Turns => "by_itself",
            Line::Cast => "cast_to_all",
        }
    }
}

impl Shared {
    /// How many cores bring in a box together.
    pub fn cores(self) -> i64 {
        match self.line {
            Line::Row => self.columns,
            Line::Column => self.rows,
            Line::All | Line::Stay => self.rows * self.columns,
            Line::Alone | Line::Cast | Line::Turns => 1,
        }
    }

    /// Rows of a box that one of them brings in at most. All cores cut it by columns of cores, and
    /// each part by rows of cores.
    pub fn share(self, rows: i64) -> i64 {
        match self.line {
            Line::Row | Line::Column | Line::Alone | Line::Cast | Line::Turns => ceil(rows, self.cores()),
            Line::All | Line::Stay => ceil(ceil(rows, self.columns), self.rows),
        }
    }

    /// Steps after which a core keeps its part of what all need again, if sets of cores take turns
    /// in that: each has a row of a box with so many rows. None where a step needs more cores than
    /// a row of the chip has. The target has the same rule.
    pub fn turns(self, rows: i64) -> Option<i64> {
        let turns = self.line == Line::All && self.columns == ROW && (1..=ROW).contains(&rows);
        turns.then(|| self.rows * (ROW / (rows as u64).next_power_of_two() as i64))
    }

    /// Cycles of an exchange of some bytes: 32 are received and stored in some two and a half;
    /// where a line has idle cores, words go to one core after the other.
    pub fn cycles(self, bytes: i64) -> f64 {
        let words = bytes as f64 / 32.0;
        let along = |cores: i64| {
            let each = if cores == ROW { 0.0 } else { 2.0 - 1.0 / cores as f64 };
            (2.6 + each, 14.0 * cores as f64)
        };
        let (row, column) = (along(self.columns), along(self.rows));
        match self.line {
            Line::Row => words * row.0 + row.1,
            Line::Column => words * column.0 + column.1,
            // From one place to the other.
            Line::Alone => words * 5.0,
            // All cores meet, and begin a tile of few steps.
            Line::Cast => 250.0,
            // Short rows, and what is known of each.
            Line::Turns => words * 12.0,
            Line::All | Line::Stay if self.rows == 1 => words * row.0 + row.1,
            Line::All | Line::Stay => words * (row.0 + column.0 / self.columns as f64) + row.1 + column.1,
        }
    }

    /// Bytes of local memory of a box with a core's share of it.
    pub fn bytes(self, extents: &[i64], width: i64) -> i64 {
        let rows = extents.first().copied().unwrap_or(1);
        let row = data_mapping::volume(extents.get(1..).unwrap_or(&[])).saturating_mul(width);
        let place = |rows: i64| super::tile_sizes::aligned(rows.saturating_mul(row).saturating_add(SLACK));
        match self.line {
            Line::Cast => return super::tile_sizes::aligned(rows.saturating_mul(row)).saturating_mul(2),
            // Two steps side by side, in whole vectors.
            Line::Turns => {
                let both = 2 * ceil(row, 4 * width) * 4 * width;
                let own = super::tile_sizes::aligned(rows.saturating_mul(both).saturating_add(2 * SLACK));
                return own.saturating_add(place(self.boxes(extents, width).saturating_mul(rows)));
            }
            _ => {}
        }
        place(rows).saturating_add(place(self.boxes(extents, width).saturating_mul(self.share(rows))))
    }

    /// Bytes of the place for a core's share of a vector.
    pub fn place(self, extents: &[i64], width: i64) -> i64 {
        let share = self.share(extents.first().copied().unwrap_or(1));
        super::tile_sizes::aligned(share.saturating_mul(width).saturating_add(SLACK))
    }

    /// The shares stay.
    pub fn staying(self) -> Shared {
        Shared { line: Line::Stay, ..self }
    }

    /// How many boxes come at once, as far as room is kept for them. A core alone gets an eighth of
    /// what memory gives: of few cores each brings in fewer.
    pub fn boxes(self, extents: &[i64], width: i64) -> i64 {
        let most = if self.rows * self.columns < MANY { 2 } else { 4 };
        match extents.last() {
            Some(last) if self.line == Line::Alone => (SHORT / (last * width).max(1)).clamp(1, most),
            Some(last) if self.line == Line::Turns => (TURN.0 / (last * width).max(1)).max(4) / 2 * 2,
            _ => 1,
        }
    }

    /// The same where shares come several steps ahead; 1 where they do not.
    pub(crate) fn boxes_ahead(self, extents: &[i64], width: i64) -> i64 {
        match extents.last() {
            Some(last) if self.line == Line::Alone && self.rows > 1 && last * width <= LONGEST => {
                (SHORT / (last * width).max(1)).clamp(2, BOXES)
            }
            _ => 1,
        }
    }

    /// Steps that a row which takes turns has at once, at most.
    pub fn steps(self, extents: &[i64], width: i64) -> i64 {
        let row = extents.last().map_or(1, |last| (last * width).max(1));
        (TURN.1 / row).max(self.boxes(extents, width)) / 2 * 2
    }

    /// Bytes that so many steps of rows that take turns take beyond those that are counted
    /// otherwise.
    pub(crate) fn more_steps(self, extents: &[i64], width: i64, steps: i64) -> i64 {
        let volume = data_mapping::volume(extents).saturating_mul(width);
        let place =
            |steps: i64| super::tile_sizes::aligned(steps.saturating_mul(volume).saturating_add(SLACK));
        place(steps) - place(self.boxes(extents, width))
    }

    /// Bytes that two places for boxes that come ahead, some at a time, take beyond the one that is
    /// counted otherwise.
    pub(crate) fn more_ahead(self, extents: &[i64], width: i64, most: i64) -> i64 {
        let volume = data_mapping::volume(extents).saturating_mul(width);
        let place =
            |boxes: i64| super::tile_sizes::aligned(boxes.saturating_mul(volume).saturating_add(SLACK));
        2 * place(self.boxes_ahead(extents, width).min(most)) - place(self.boxes(extents, width))
    }
}

/// Rows and columns of the cores of a kernel as they are on the chip, if these are whole rows or
/// one.
fn places(grid: &[i64]) -> Option<(i64, i64)> {
    match grid {
        [n] if *n > 1 && *n <= ROW => Some((1, *n)),
        [n] if n % ROW == 0 => Some((n / ROW, ROW)),
        [rows, columns] if *columns == ROW || (*rows == 1 && *columns > 1) => Some((*rows, *columns)),
        _ => None,
    }
}

/// Says of each group of a kernel whether it is shared.
pub(super) fn decide(model: &Model, kernel: &Kernel, grid: &[i64], groups: &mut [Group]) -> Result<()> {
    let Some((rows, columns)) = places(grid).filter(|_| kernel.outer.is_empty()) else { return Ok(()) };
    for group in groups.iter_mut() {
        if group.part.is_none()
            || !group.get
            || group.put
            || group.extents.len() != 2
            || group.level <= kernel.parallel.len()
        {
            continue;
        }
        let moves = |depth: usize| group.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == depth));
        let line = match (moves(0), grid.len() > 1 && moves(1)) {
            (false, false) if grid.len() == 1 || rows > 1 => Line::All,
            (true, _) if grid.len() == 1 => continue,
            (_, false) => Line::Row,
            (false, _) if rows > 1 => Line::Column,
            _ => continue,
        };
        if !written(model, kernel, group) && is_common(model, kernel, group)? {
            group.shared = Some(Shared { line, rows, columns });
        }
    }
    alone(model, kernel, groups);
    Ok(())
}

/// Says of vectors that all cores of one mapped loop need alike that they are shared: then tiles of
/// more rows and fewer columns cost no more of them. Returns whether there are any. The other way
/// is that they stay for all tiles, which is better where there is room for a whole one.
pub(super) fn vectors(model: &Model, kernel: &Kernel, grid: &[i64], groups: &mut [Group]) -> Result<bool> {
    let Some((rows, columns)) = places(grid).filter(|_| kernel.outer.is_empty() && grid.len() == 1) else {
        return Ok(false);
    };
    let mut any = false;
    for group in groups.iter_mut() {
        let parallel = kernel.parallel.len();
        let Some(part) = group.part else { continue };
        let moves = |depth: usize| group.corner.iter().any(|c| c.dims.iter().any(|(d, _)| *d == depth));
        if group.get
            && !group.put
            && group.shared.is_none()
            && group.extents.len() == 1
            && group.level == parallel + kernel.parts[part].inner.len()
            && group.level > parallel
            && !(0..parallel).any(moves)
            && !written(model, kernel, group)
            && is_common(model, kernel, group)?
        {
            group.shared = Some(Shared { line: Line::All, rows, columns });
            any = true;
        }
    }
    Ok(any)
}

/// Whether two tiles of the parallel loops need an element of a group at all. A box that only a
/// loop inside moves may still be another one in each tile: where that loop runs over the
/// iterations of the tile.
pub(super) fn is_common(model: &Model, kernel: &Kernel, group: &Group) -> Result<bool> {
    let sites = data_mapping::sites(model, kernel);
    let own: Vec<&Site> = sites.iter().filter(|site| group.has(site)).collect();
    let Some(touched) = boxes::touched(model, kernel, &own, kernel.parallel.len())? else { return Ok(false) };
    let pairs = || -> isl::Result<bool> {
        let pairs = touched.apply_range(&touched.reverse()?)?;
        let same = isl::Map::identity(&pairs.space()?)?;
        Ok(!pairs.subtract(&same)?.is_empty()?)
    };
    pairs().map_err(fault::library)
}

/// Boxes of one core beside shared ones, whose rows follow each other in the innermost loop.
fn alone(model: &Model, kernel: &Kernel, groups: &mut [Group]) {
    for k in 0..groups.len() {
        let group = &groups[k];
        let Some(part) = group.part else { continue };
        let innermost = kernel.parallel.len() + kernel.parts[part].inner.len() - 1;
        let beside =
            groups.iter().filter(|g| g.part == group.part && g.level == group.level).find_map(|g| g.shared);
        let by = |d: usize| group.corner[d].dims.iter().any(|(depth, _)| *depth == innermost);
        if let Some(shared) = beside
            && 2 * shared.rows * shared.columns >= MANY
            && group.shared.is_none()
            && group.get
            && !group.put
            && group.extents.len() == 2
            && group.level == innermost + 1
            && !by(0)
            && by(1)
            && !written(model, kernel, group)
        {
            groups[k].shared = Some(Shared { line: Line::Alone, ..shared });
        }
    }
}

/// Says of a box that all cores need in each step of a product with one mapped loop that it is
/// broadcast, where the other operand is a core's own. Returns whether there is one. The other way
/// is that cores bring in a part each and hand it on.
pub(super) fn cast(model: &Model, kernel: &Kernel, grid: &[i64], groups: &mut [Group]) -> bool {
    let mut any = false;
    for part in 0..kernel.parts.len() {
        let own: Vec<usize> = (0..groups.len()).filter(|k| groups[*k].part == Some(part)).collect();
        let of = |line: Line| {
            let mut found =
                own.iter().filter(|k| groups[**k].shared.is_some_and(|shared| shared.line == line));
            found.next().copied().filter(|_| found.next().is_none())
        };
        let doubles = |k: usize| {
            let elem = data_mapping::declared(model, &groups[k].array).map(|(elem, _)| elem);
            elem == Some(&loops::Elem::Scalar(loops::Scalar::F64))
        };
        let innermost = kernel.parallel.len() + kernel.parts[part].inner.len();
        let single = own.iter().filter(|k| groups[**k].level == innermost).count() == 2;
        if let (Some(all), Some(alone), [_]) = (of(Line::All), of(Line::Alone), grid)
            && single
            && innermost > 2
            && groups[all].level == innermost
            && [all, alone].into_iter().all(doubles)
        {
            for (k, line) in [(all, Line::Cast), (alone, Line::Turns)] {
                groups[k].shared = groups[k].shared.map(|shared| Shared { line, ..shared });
            }
            any = true;
        }
    }
    any
}

/// Whether a kernel writes the array of a group.
pub(super) fn written(model: &Model, kernel: &Kernel, group: &Group) -> bool {
    kernel
        .parts
        .iter()
        .flat_map(|p| &p.statements)
        .any(|s| model.statements[*s].accesses.iter().any(|touch| touch.write && touch.array == group.array))
}

/// The rounds that all cores come by for a transfer at a level of a part, and whether these are
/// more than the tiles which they have.
///
/// A core has the tiles whose numbers in the mapped loops are its own place plus a multiple of the
/// cores there: the multiples are the round. In a round there is to be for each core what there is
/// for one of them, in all loops below as well, but for numbers of mapped loops at which no core
/// has a tile: the target lets all have as many rounds of such a loop. So where loops are a
/// product, or depend only on loops that are not mapped, nothing is added.
fn rounds(
    model: &Model,
    kernel: &Kernel,
    grid: &[i64],
    part: usize,
    level: usize,
) -> Result<(SetText, bool)> {
    let tiles = boxes::prefix(model, kernel, part, level)?.range().map_err(fault::library)?;
    let hull = || -> isl::Result<(SetText, bool)> {
        let Some(set) = tiles.coalesce()?.sets()?.into_iter().next() else {
            return Ok((SetText::new("{ }"), false));
        };
        let n = set.dim(Dim::SET)?;
        let dims: Vec<String> = (0..n).map(|k| format!("t{k}")).collect();
        let rounds: Vec<String> = (0..n)
            .map(|k| match grid.get(k) {
                Some(cores) => format!("floor(t{k} / {cores})"),
                None => format!("t{k}"),
            })
            .collect();
        let round =
            isl::Map::read(&model.ctx, &format!("{{ [{}] -> [{}] }}", dims.join(", "), rounds.join(", ")))?;
        let mut all = set.apply(&round)?.apply(&round.reverse()?)?;
        for k in 0..grid.len().min(n) {
            let alone = set.project_out(Dim::SET, k + 1, n - k - 1)?.project_out(Dim::SET, 0, k)?;
            let alone = alone.insert_dims(Dim::SET, 0, k)?.insert_dims(Dim::SET, k + 1, n - k - 1)?;
            all = all.intersect(&alone)?;
        }
        let more = !all.is_subset(&set)?;
        Ok((SetText::new(all.coalesce()?.to_string()), more))
    };
    hull().map_err(fault::library)
}

/// Finds the rounds of the shared transfers of a kernel. Where one part has more than its tiles,
/// the loops of all parts are made of rounds.
pub(super) fn pad(model: &Model, kernel: &mut Kernel, grid: &[i64]) -> Result<()> {
    let outer = kernel.parallel.len();
    let mut found = Vec::new();
    for part in 0..kernel.parts.len() {
        let shared = kernel.groups.iter().filter(|g| g.shared.is_some() && g.part == Some(part));
        let level = shared.map(|g| g.level).max();
        let rounds = rounds(model, kernel, grid, part, level.unwrap_or(outer))?;
        found.push((level.is_some(), Pad { level: level.unwrap_or(outer), rounds: rounds.0 }, rounds.1));
    }
    if found.iter().any(|(shared, _, more)| *shared && *more) {
        for (part, (_, pad, _)) in kernel.parts.iter_mut().zip(found) {
            part.pad = Some(pad);
        }
    }
    Ok(())
}
