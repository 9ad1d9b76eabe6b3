//! Extents of the tiles and blocks of a contraction.

use loops::Registers;

use crate::locality::Caches;

/// Extents of tiles, in elements but for `vectors`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows of a register tile.
    pub rows: i64,
    /// Vectors of a row of a register tile.
    pub vectors: i64,
    /// Bytes of a vector.
    pub vector_bytes: i64,
    /// Steps of the contraction in a packed panel: the panel of a strip of columns stays in the
    /// first-level cache.
    pub depth: i64,
    /// Rows of a packed block: it stays in the second-level cache. A multiple of `rows`.
    pub block_rows: i64,
    /// Strips of columns of a packed panel: it stays in the last-level cache.
    pub strips: i64,
    /// The same where blocks of columns run in parallel, and each has a panel of its own.
    pub own_strips: i64,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { rows: 8, vectors: 3, vector_bytes: 64, depth: 256, block_rows: 64, strips: 64, own_strips: 8 }
    }
}

impl Shape {
    /// A register tile that these registers hold beside the operands. Panels have as many columns
    /// as before.
    pub fn for_registers(self, registers: Registers) -> Shape {
        let (rows, vectors, bytes) = (registers.rows(), registers.vectors(), registers.bytes);
        let wider =
            |strips: i64| (strips * self.vectors * self.vector_bytes / (vectors * bytes).max(1)).max(1);
        let block_rows = (self.block_rows / rows * rows).max(rows);
        let (strips, own_strips) = (wider(self.strips), wider(self.own_strips));
        Shape { rows, vectors, vector_bytes: bytes, block_rows, strips, own_strips, ..self }
    }

    /// The same register tile with panels and blocks for these caches: a strip of columns fills the
    /// first level, a block of rows a quarter of the second.
    pub fn for_caches(self, caches: Caches) -> Shape {
        let width = (self.vectors * self.vector_bytes).max(1);
        let depth = (caches.l1 / width / 32 * 32).clamp(32, 512);
        let rows = (caches.l2 / 4 / (8 * depth) / self.rows * self.rows)
            .clamp(self.rows, self.block_rows.max(self.rows));
        Shape { depth, block_rows: rows, ..self }
    }
}

impl Shape {
    /// For a nest of so many rows, columns and steps, where these are known: tiles with as little
    /// as possible beyond its ends, and blocks that are no larger than it is.
    pub(super) fn for_nest(
        self,
        [rows, columns, steps]: [Option<i64>; 3],
        lanes: i64,
        windows: bool,
    ) -> Shape {
        let mut shape = self;
        let in_all = |extent: i64, width: i64| ((extent - 1) / width + 1).saturating_mul(width);
        if let Some(extent) = columns {
            // The fewest vectors in all, and of those that need as many the widest tile.
            let all = |vectors: &i64| in_all(extent, vectors * lanes);
            shape.vectors = (1..=shape.vectors).rev().min_by_key(all).unwrap_or(1);
            shape.strips = shape.strips.min(in_all(extent, shape.vectors * lanes) / (shape.vectors * lanes));
        } else if windows {
            // Rows of images are short: wide tiles would compute on what is not there.
            shape.vectors = shape.vectors.min(2);
        }
        if let Some(extent) = rows {
            // A tile takes as long as its rows and what it does once.
            let all = |rows: &i64| (in_all(extent, *rows) / rows).saturating_mul(rows + ONCE);
            shape.rows = (1..=shape.rows).rev().min_by_key(all).unwrap_or(1);
            let blocks = (self.block_rows / shape.rows).max(1) * shape.rows;
            shape.block_rows = blocks.min(in_all(extent, shape.rows));
        }
        shape.depth = steps.map_or(shape.depth, |steps| shape.depth.min(steps));
        shape
    }
}

/// Rows that take as long as what a register tile does once in each step.
const ONCE: i64 = 2;
