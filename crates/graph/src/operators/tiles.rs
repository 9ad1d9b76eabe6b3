//! Matrix products in register tiles, for C. Each tile of the result stays in registers for the
//! whole sum, and is then written to its final place.
//!
//! The operands are given element by element. The columns of a tile are copied once to a panel. The
//! rows are read where they are. So a convolution needs no matrix of patches, and a bias is added
//! when a sum is written. Sums keep their order.
//!
//! Contractions in C programs have tiles of their own (`polyhedral::transform::contraction`): there
//! a nest has to be recognised, its domain may be a triangle, and both operands are packed at each
//! run. Here the operands are functions of the place, and packing belongs to the weights.

use functional::{Arg, DataType, Prim, Term, build};
use loops::{Registers, Scalar, Size};

use super::Refusal;
use super::build::Cx;
use super::packing::{Packing, Panels};
use super::pairs;
use super::value::{Val, index, int, number};

/// A product of fewer multiplications is not worth tiles.
pub(super) const WORTH_TILES: i64 = 1 << 15;

/// If a row of tiles has at most this many tiles, threads share the rows of the result, and all
/// panels are packed first.
const FEW_TILES: i64 = 8;

/// Panels that are larger than this together do not stay in a core's cache while all rows are
/// computed.
const LARGE_PANELS: i64 = 1 << 19;

/// A panel that is used this often is worth packing before threads share the rows.
const USES: i64 = 4;

/// A tile is at most so many vectors wide.
const MOST_VECTORS: i64 = 8;

/// Extents of tiles.
#[derive(Clone, Copy)]
struct Tile {
    rows: i64,
    lanes: i64,
    /// What the lanes of the last tile are a multiple of.
    vector: i64,
}

impl Tile {
    /// The tile for a result of `m x n`.
    fn of(registers: Registers, scalar: Scalar, m: i64, n: i64) -> Tile {
        let (vector, sums) = (registers.lanes(scalar), registers.sums());
        if n == 1 {
            // One column: as many sums as hide the latency of an addition.
            return Tile { rows: sums.min(16), lanes: 1, vector: 1 };
        }
        let vectors = registers.vectors();
        let rows = registers.rows().min(m);
        // Few rows leave registers for wider tiles.
        let vectors = (sums / rows).clamp(vectors, MOST_VECTORS.max(vectors));
        Tile { rows, lanes: vectors * vector, vector }
    }

    /// Lanes of the tile for the columns that full ones leave.
    fn rest(self, n: i64) -> i64 {
        let rest = n % self.lanes;
        (rest + self.vector - 1) / self.vector * self.vector
    }
}

/// An operand of a product.
#[derive(Clone)]
pub(super) enum Side<'f> {
    /// Element by element, given a row and a column.
    Elements(&'f dyn Fn(&mut Cx, &Val, &Val) -> Val),
    /// Stored in the panels that [`Product::packing`] says.
    Panels(Panels),
}

/// What becomes of a sum, given its row and column.
pub(super) type Last<'f> = &'f dyn Fn(&mut Cx, Val, &Val, &Val) -> Val;

/// A product of an `m x k` and a `k x n` matrix.
pub(super) struct Product<'f> {
    /// `m`, `k` and `n`, all positive.
    pub(super) extents: [i64; 3],
    /// What the tiles are to fit.
    pub(super) registers: Registers,
    /// Type of the elements and of the sums.
    pub(super) scalar: Scalar,
    /// Whether an element is a pair of integers, and a product the sum of two ([`super::pairs`]).
    pub(super) pairs: bool,
    /// The left matrix: a row has the places of the sum.
    pub(super) left: Side<'f>,
    /// The right matrix: a column has the places of the sum.
    pub(super) right: Side<'f>,
    /// What becomes of each sum.
    pub(super) last: Last<'f>,
}

/// The element of the right matrix at a place of the sum and a lane.
type Right<'f> = &'f dyn Fn(&mut Cx, &Val, &Val) -> Val;

/// Columns of the result that are computed in the same way: `count` tiles from `first` on, `lanes`
/// wide, of which `used` are columns of the result.
#[derive(Clone, Copy)]
struct Columns {
    first: i64,
    count: i64,
    lanes: i64,
    used: i64,
}

/// What threads share.
#[derive(Clone, Copy)]
enum Threads {
    /// The tiles of columns.
    Columns,
    /// The rows of one tile of columns.
    Rows,
}

/// Rows of the result that are computed in the same way: `count` blocks of `rows` from `first` on.
#[derive(Clone, Copy)]
struct Rows {
    first: i64,
    count: i64,
    rows: i64,
}

/// The panels of one operand, the left or the right one, of a product of these extents (`m`, `k`,
/// `n`). `pitches` are the distances in its tensor from one matrix, line and step of the sum to the
/// next. None if panels would not make tiles faster.
pub(super) fn packing(
    registers: Registers,
    scalar: Scalar,
    [m, sum, n]: [i64; 3],
    left: bool,
    matrices: i64,
    pitches: [i64; 3],
) -> Option<Packing> {
    let tile = Tile::of(registers, scalar, m, n);
    if n == 1 {
        return None;
    }
    let (lines, wide, narrow) = match left {
        true => (m, tile.rows, m % tile.rows),
        false => (n, tile.lanes, tile.rest(n)),
    };
    Some(Packing { matrices, lines, sum, pitches, wide, full: lines / wide, narrow, pairs: None })
}

/// Columns that the tiles of a product of `m` rows and `n` columns compute.
pub(super) fn columns(registers: Registers, scalar: Scalar, m: i64, n: i64) -> i64 {
    let tile = Tile::of(registers, scalar, m, n);
    n - n % tile.lanes + tile.rest(n)
}

impl Product<'_> {
    /// The result, `m` rows of `n`.
    pub(super) fn build(&self, cx: &mut Cx) -> Val {
        let [m, _, n] = self.extents;
        let tile = Tile::of(self.registers, self.scalar, m, n);
        let wide = tile.lanes;
        let rest = n % wide;
        let lanes = tile.rest(n);
        let columns = [
            Columns { first: 0, count: n / wide, lanes: wide, used: wide },
            Columns { first: n - rest, count: i64::from(rest > 0), lanes, used: rest },
        ];
        let rows = [
            Rows { first: 0, count: m / tile.rows, rows: tile.rows },
            Rows { first: m - m % tile.rows, count: i64::from(m % tile.rows > 0), rows: m % tile.rows },
        ];
        if m <= tile.rows {
            return self.by_columns(cx, &rows, &columns, Threads::Columns, false);
        }
        if n > FEW_TILES * wide {
            return self.by_columns(cx, &rows, &columns, Threads::Columns, true);
        }
        let panels = (n - rest + lanes) * self.extents[1] * self.scalar.bytes() as i64;
        let made = matches!(self.right, Side::Elements(_));
        if made && panels > LARGE_PANELS && rows[0].count >= USES {
            return self.by_columns(cx, &rows, &columns, Threads::Rows, true);
        }
        self.by_rows(cx, &rows, &columns)
    }

    /// One tile of columns after the other, each with a panel of its own; none if there is one
    /// block of rows. Threads share the tiles, or the panel and the rows of each.
    fn by_columns(
        &self,
        cx: &mut Cx,
        rows: &[Rows],
        columns: &[Columns],
        threads: Threads,
        packed: bool,
    ) -> Val {
        let (outer, inner) = match threads {
            Threads::Columns => (Prim::MapPar, Prim::MapSeq),
            Threads::Rows => (Prim::MapSeq, Prim::MapPar),
        };
        let parts = columns.iter().filter(|c| c.count > 0).map(|c| {
            let tile = |cx: &mut Cx, j: Val| {
                let first = j.int() * int(c.lanes) + int(c.first);
                let blocks = |cx: &mut Cx, right: Right| {
                    // Where there is one tile, threads have nothing to share but its rows.
                    let kind = if c.count == 1 && packed { Prim::MapPar } else { inner };
                    let blocks = rows.iter().filter(|r| r.count > 0).map(|r| {
                        joined(cx.each(kind, r.count, |cx, b| {
                            self.block(cx, &(b.int() * int(r.rows) + int(r.first)), r.rows, &first, c, right)
                        }))
                    });
                    transposed(concatenated(blocks))
                };
                if let Side::Panels(panels) = &self.right {
                    return blocks(cx, &|_, k, l| panels.at(&first, c.lanes, k, l));
                }
                if !packed {
                    return blocks(cx, &|cx, k, l| self.column(cx, k, &first, l));
                }
                let panel = self.panel(cx, inner, &first, c.lanes);
                cx.bind("panel", panel, |cx, panel| blocks(cx, &|_, k, l| panel.at(&[k.clone(), l.clone()])))
            };
            joined(cx.each(outer, c.count, tile))
        });
        transposed(concatenated(parts))
    }

    /// Threads share the rows; all columns are in one panel.
    fn by_rows(&self, cx: &mut Cx, rows: &[Rows], columns: &[Columns]) -> Val {
        if let Side::Panels(panels) = &self.right {
            return self
                .rows_of_tiles(cx, rows, columns, &|k, first, lanes, l| panels.at(first, lanes, k, l));
        }
        let all = columns.iter().map(|c| c.count * c.lanes).sum();
        let panel = self.panel(cx, Prim::MapPar, &int(0), all);
        cx.bind("panel", panel, |cx, panel| {
            self.rows_of_tiles(cx, rows, columns, &|k, first, _, l| panel.at(&[k.clone(), first + l.int()]))
        })
    }

    /// All rows of tiles; `right` has the elements of the right matrix at a place of the sum, for a
    /// tile from a column on that has so many lanes, in a lane.
    fn rows_of_tiles(
        &self,
        cx: &mut Cx,
        rows: &[Rows],
        columns: &[Columns],
        right: &dyn Fn(&Val, &Val, i64, &Val) -> Val,
    ) -> Val {
        let parts = rows.iter().filter(|r| r.count > 0).map(|r| {
            let block = |cx: &mut Cx, b: Val| {
                let row = b.int() * int(r.rows) + int(r.first);
                let kind = if r.count == 1 { Prim::MapPar } else { Prim::MapSeq };
                let tiles = columns.iter().filter(|c| c.count > 0).map(|c| {
                    joined(cx.each(kind, c.count, |cx, j| {
                        let first = j.int() * int(c.lanes) + int(c.first);
                        let right: Right = &|_, k, l| right(k, &first, c.lanes, l);
                        transposed(self.block(cx, &row, r.rows, &first, c, right))
                    }))
                });
                transposed(concatenated(tiles))
            };
            joined(cx.each(Prim::MapPar, r.count, block))
        });
        concatenated(parts)
    }

    /// The columns from `first` on, `lanes` of them, for all places of the sum, in memory.
    fn panel(&self, cx: &mut Cx, kind: Prim, first: &Val, lanes: i64) -> Val {
        let [_, k, _] = self.extents;
        cx.each(kind, k, |cx, k| cx.each(Prim::MapVec, lanes, |cx, l| self.column(cx, &k, first, &l)))
            .stored()
    }

    /// The element of the right matrix in lane `l` of the tile from column `first` on. Beyond the
    /// last column it is repeated.
    fn column(&self, cx: &mut Cx, k: &Val, first: &Val, l: &Val) -> Val {
        let [_, _, n] = self.extents;
        match &self.right {
            Side::Elements(right) => right(cx, k, &(first + l.int()).min(&int(n - 1))),
            Side::Panels(_) => Refusal::internal("an element of panels without its tile").into(),
        }
    }

    /// What is added to a sum for an element of the left and one of the right matrix.
    fn multiplied(&self, left: &Val, right: Val) -> Val {
        if !self.pairs {
            return left * right;
        }
        let [a, b] = pairs::halves(left);
        let [c, d] = match &self.right {
            Side::Panels(panels) => panels.numbers(&right),
            Side::Elements(_) => pairs::halves(&right),
        };
        a * c + b * d
    }

    /// A tile: the sums of some rows and columns, whose elements of the right matrix `right` has.
    fn block(&self, cx: &mut Cx, row: &Val, rows: i64, column: &Val, c: &Columns, right: Right) -> Val {
        let [_, k, _] = self.extents;
        // One row is a row, not a matrix: its sums are updated in place.
        let each = |cx: &mut Cx, f: &mut dyn FnMut(&mut Cx, Val) -> Val| match rows {
            1 => f(cx, index(0, &Size::constant(1))),
            _ => cx.each(Prim::MapUnroll, rows, f),
        };
        let place = |r: &Val, l: Val| if rows == 1 { vec![l] } else { vec![r.clone(), l] };
        let zeros = each(cx, &mut |cx, _| cx.each(Prim::MapVec, c.lanes, |_, _| number(self.scalar, 0.0)));
        let sums = cx.fold(&Size::constant(k), zeros, |cx, k, acc| {
            each(cx, &mut |cx, r| {
                let left = match &self.left {
                    Side::Elements(left) => left(cx, &(row + r.int()), &k),
                    Side::Panels(panels) => panels.at(row, rows, &k, &r),
                };
                cx.each(Prim::MapVec, c.lanes, |cx, l| {
                    let product = self.multiplied(&left, right(cx, &k, &l));
                    acc.at(&place(&r, l)) + product
                })
            })
        });
        cx.bind("sums", sums, |cx, sums| {
            cx.each(Prim::MapUnroll, rows, |cx, r| {
                cx.each(Prim::MapVec, c.used, |cx, l| {
                    let sum = sums.at(&place(&r, l.int()));
                    (self.last)(cx, sum, &(row + r.int()), &(column + l.int()))
                })
            })
        })
    }
}

impl Cx {
    /// The array whose element `i` is `f i`, by a loop of this kind.
    pub(super) fn each(&mut self, kind: Prim, n: i64, f: impl FnOnce(&mut Cx, Val) -> Val) -> Val {
        let n = Size::constant(n);
        if n.as_constant() == Some(1) && kind != Prim::MapVec {
            let only = f(self, index(0, &n));
            return self.single(only);
        }
        let indices = self.generate(&n, |_, i| i);
        match self.function("i", DataType::Idx(n), f).and_then(|f| Ok((f, indices.term()?))) {
            Ok((f, indices)) => build::map(kind, f, indices).into(),
            Err(refusal) => refusal.into(),
        }
    }
}

/// The extents of a product of an `m x k` and a `k x n` matrix, if they are known and not 0.
pub(super) fn extents(m: &Size, k: &Size, n: &Size) -> Option<[i64; 3]> {
    let extents = [m.as_constant()?, k.as_constant()?, n.as_constant()?];
    extents.iter().all(|n| *n >= 1).then_some(extents)
}

/// The product of two matrices with `last` for each sum, the right one in `panels` where there are
/// some; none if an extent is not known or 0.
pub(super) fn product(
    cx: &mut Cx,
    registers: Registers,
    a: &Val,
    b: &Val,
    panels: Option<Panels>,
    last: Last,
) -> Option<Val> {
    let (DataType::Array(m, row), DataType::Array(_, column)) = (a.ty(), b.ty()) else { return None };
    let (DataType::Array(k, elem), DataType::Array(n, _)) = (&*row, &*column) else { return None };
    let DataType::Scalar(scalar) = **elem else { return None };
    let extents = extents(&m, k, n)?;
    let left = |_: &mut Cx, i: &Val, k: &Val| a.at(&[i.clone(), k.clone()]);
    let right = |_: &mut Cx, k: &Val, j: &Val| b.at(&[k.clone(), j.clone()]);
    let right = panels.map_or(Side::Elements(&right), Side::Panels);
    let left = Side::Elements(&left);
    Some(Product { extents, registers, scalar, pairs: false, left, right, last }.build(cx))
}

/// The product of an `m x k` and a `k x n` matrix, the left one given element by element; none if
/// an extent is not known or 0.
pub(super) fn elements(
    cx: &mut Cx,
    (registers, scalar): (Registers, Scalar),
    [m, k, n]: &[Size; 3],
    left: &dyn Fn(&mut Cx, &Val, &Val) -> Val,
    right: Side<'_>,
    last: Last,
) -> Option<Val> {
    let left = Side::Elements(left);
    let extents = extents(m, k, n)?;
    Some(Product { extents, registers, scalar, pairs: false, left, right, last }.build(cx))
}

fn viewed(value: Val, view: impl FnOnce(Term) -> build::Built) -> Val {
    match value.term() {
        Ok(term) => view(term).into(),
        Err(refusal) => refusal.into(),
    }
}

pub(super) fn joined(value: Val) -> Val {
    viewed(value, build::join)
}

pub(super) fn transposed(value: Val) -> Val {
    viewed(value, build::transpose)
}

/// One after the other; there is at least one.
pub(super) fn concatenated(parts: impl Iterator<Item = Val>) -> Val {
    let both = |a: Val, b: Val| match (a.term(), b.term()) {
        (Ok(a), Ok(b)) => build::apply(Prim::Concat, vec![Arg::Term(a), Arg::Term(b)]).into(),
        (Err(refusal), _) | (_, Err(refusal)) => Val::from(refusal),
    };
    parts.reduce(both).unwrap_or_else(|| Refusal::internal("a product of no rows or columns").into())
}
