//! Products whose extents are names: how they are cut into whole tiles (`tiles.rs`).

use loops::{Registers, Scalar, Size};

use super::tiles::{Columns, Cut, Rows, TYPICAL, Tile};

/// A name for a size that a kernel is called with, and at most so large if that is known.
pub type Fresh<'f> = &'f mut dyn FnMut(Size, Option<i64>) -> Size;

/// A product whose extents are sums of whole tiles.
pub struct CutProduct {
    /// Its tiles.
    pub cut: Cut,
    /// Its rows, as such a sum.
    pub rows: Size,
    /// Its columns.
    pub columns: Size,
}

/// Cuts the extents of an `m x n` product that are no numbers. Each becomes a sum of whole tiles,
/// whose counts get names of their own: so no tile has an edge that is not known.
pub fn cut(registers: Registers, scalar: Scalar, m: &Size, n: &Size, fresh: Fresh) -> CutProduct {
    let number = |n: &Size| n.as_constant().unwrap_or(TYPICAL);
    let tile = Tile::of(registers, scalar, number(m), number(n));
    let mut all = CutProduct { cut: Cut::default(), rows: m.clone(), columns: n.clone() };
    if m.as_constant().is_none() {
        let mut rows = vec![(tile.rows, fresh(m.div(&tile.rows.into()), None))];
        let mut rest = m.rem(&tile.rows.into());
        let mut part = (tile.rows - 1).checked_ilog2().map_or(0, |bits| 1 << bits);
        while part > 0 {
            let count = rest.div(&part.into());
            // What is left of the rows may hold the first part twice.
            let most = if rows.len() == 1 { (tile.rows - 1) / part } else { 1 };
            rows.push((part, fresh(count, Some(most))));
            rest = rest.rem(&part.into());
            part /= 2;
        }
        let mut first = Size::default();
        let blocks = rows.into_iter().map(|(rows, count)| {
            let block = Rows { first: first.clone(), count: count.clone(), rows };
            first = first.clone() + Size::constant(rows) * count;
            block
        });
        all.cut.rows = Some(blocks.collect());
        all.rows = first;
    }
    if n.as_constant().is_none() {
        let (wide, vector) = (Size::constant(tile.lanes), Size::constant(tile.vector));
        let rest = n.rem(&wide);
        let last = rest.rem(&vector);
        let mut columns = vec![(tile.lanes, fresh(n.div(&wide), None), tile.lanes.into())];
        if tile.lanes > tile.vector {
            let count = fresh(rest.div(&vector), Some(tile.lanes / tile.vector - 1));
            columns.push((tile.vector, count, tile.vector.into()));
        }
        if tile.vector > 1 {
            let some = (last.clone() + Size::constant(tile.vector - 1)).div(&vector);
            let (some, used) = (fresh(some, Some(1)), fresh(last, Some(tile.vector - 1)));
            columns.push((tile.vector, some, used));
        }
        let mut first = Size::default();
        let tiles = columns.into_iter().map(|(lanes, count, used)| {
            let tile = Columns { first: first.clone(), count: count.clone(), lanes, used: used.clone() };
            first = first.clone() + count * used;
            tile
        });
        all.cut.columns = Some(tiles.collect());
        all.columns = first;
    }
    all
}
