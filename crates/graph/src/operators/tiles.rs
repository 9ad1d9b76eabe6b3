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
use super::packing::{Packing, Panels, Stored};
use super::value::{Val, index, int, number, size};
use super::{fours, pairs};

/// A product of fewer multiplications is not worth tiles.
pub(super) const WORTH_TILES: i64 = 1 << 15;

/// If a row of tiles has at most this many tiles, threads share the rows of the result, and all
/// panels are packed first.
const FEW_TILES: i64 = 8;

/// Panels that are larger than this together do not stay in a core's cache while all rows are
/// computed.
const LARGE_PANELS: i64 = 1 << 19;

/// A right matrix in memory of at most so many rows and bytes is read where it is, again for each
/// block of rows of the result: these are then written one after the other in the order of memory,
/// and not all of them a piece at a time.
const IN_PLACE: (i64, i64) = (64, 1 << 20);

/// A panel that is used this often is worth packing before threads share the rows.
const USES: i64 = 4;

/// A tile is at most so many vectors wide.
const MOST_VECTORS: i64 = 8;

/// What a name is taken for.
pub(super) const TYPICAL: i64 = 64;

/// Extents of tiles.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) rows: i64,
    pub(super) lanes: i64,
    /// What the lanes of the last tile are a multiple of.
    pub(super) vector: i64,
}

impl Tile {
    /// The tile for a result of `m x n`.
    pub(super) fn of(registers: Registers, scalar: Scalar, m: i64, n: i64) -> Tile {
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

    /// The tiles of so many columns.
    pub(super) fn columns(self, n: i64) -> Vec<Columns> {
        let rest = n % self.lanes;
        let one = |first: i64, count: i64, lanes, used: i64| Columns {
            first: first.into(),
            count: count.into(),
            lanes,
            used: used.into(),
        };
        vec![
            one(0, n / self.lanes, self.lanes, self.lanes),
            one(n - rest, i64::from(rest > 0), self.rest(n), rest),
        ]
    }

    /// The blocks of so many rows.
    pub(super) fn rows(self, m: i64) -> Vec<Rows> {
        let rest = m % self.rows;
        let one = |first: i64, count: i64, rows| Rows { first: first.into(), count: count.into(), rows };
        vec![one(0, m / self.rows, self.rows), one(m - rest, i64::from(rest > 0), rest)]
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
    /// The same, of a right matrix whose rows lie in memory.
    Rows(&'f dyn Fn(&mut Cx, &Val, &Val) -> Val),
    /// Stored in the panels that [`Product::packing`] says.
    Panels(Panels),
}

/// What becomes of a sum, given its row and column.
pub(super) type Last<'f> = &'f dyn Fn(&mut Cx, Val, &Val, &Val) -> Val;

/// A product of an `m x k` and a `k x n` matrix.
pub(super) struct Product<'f> {
    /// `m`, `k` and `n`; positive where they are numbers.
    pub(super) extents: [Size; 3],
    /// How the rows and columns are cut that are no numbers.
    pub(super) cut: Cut,
    /// What the tiles are to fit.
    pub(super) registers: Registers,
    /// Type of the elements and of the sums.
    pub(super) scalar: Scalar,
    /// What an element is.
    pub(super) element: Element<'f>,
    /// The left matrix: a row has the places of the sum.
    pub(super) left: Side<'f>,
    /// The right matrix: a column has the places of the sum.
    pub(super) right: Side<'f>,
    /// What becomes of each sum.
    pub(super) last: Last<'f>,
}

/// What the elements of both matrices are, and so what a product of two is.
#[derive(Clone, Copy)]
pub(super) enum Element<'f> {
    /// A number.
    Number,
    /// A pair of integers in a word; a product is the sum of two ([`super::pairs`]).
    Pair,
    /// Four bytes in a word; a product is the sum of four ([`super::fours`]). The right matrix, the
    /// weights, is stored in panels that have sums of lines.
    Four {
        /// What a sum begins with, given the row, the column (which may be beyond the last one) and
        /// the sum of the column's bytes.
        first: &'f dyn Fn(&mut Cx, &Val, &Val, Val) -> Val,
    },
    /// The same, with the weights on the left.
    FilterFour {
        /// What a sum begins with, given the row.
        first: &'f dyn Fn(&mut Cx, &Val) -> Val,
    },
}

/// The element of the right matrix at a place of the sum and a lane.
pub(super) type Right<'f> = &'f dyn Fn(&mut Cx, &Val, &Val) -> Val;

/// The element of the right matrix at a place of the sum, for a tile from a column on that has so
/// many lanes, in a lane.
type RightOfTile<'f> = &'f dyn Fn(&mut Cx, &Val, &Val, i64, &Val) -> Val;

/// Columns of the result that are computed in the same way: `count` tiles from `first` on, `lanes`
/// wide, of which `used` are columns of the result.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) first: Size,
    pub(super) count: Size,
    pub(super) lanes: i64,
    pub(super) used: Size,
}

/// How the extents of a product are cut that are no numbers.
#[derive(Clone, Default, Debug)]
pub struct Cut {
    pub(super) rows: Option<Vec<Rows>>,
    pub(super) columns: Option<Vec<Columns>>,
}

impl Cut {
    fn is_whole(&self, m: &Size, n: &Size) -> bool {
        (m.as_constant().is_some() || self.rows.is_some())
            && (n.as_constant().is_some() || self.columns.is_some())
    }
}

/// Whether there may be some.
pub(super) fn some(count: &Size) -> bool {
    count.as_constant() != Some(0)
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
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) first: Size,
    pub(super) count: Size,
    pub(super) rows: i64,
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
    Some(Packing {
        matrices,
        lines,
        sum,
        pitches,
        wide,
        full: lines / wide,
        narrow,
        stored: Stored::Elements,
    })
}

/// Columns that the tiles of a product of `m` rows and `n` columns compute.
pub(super) fn columns(registers: Registers, scalar: Scalar, m: i64, n: i64) -> i64 {
    let tile = Tile::of(registers, scalar, m, n);
    n - n % tile.lanes + tile.rest(n)
}

impl Product<'_> {
    /// The result, `m` rows of `n`.
    pub(super) fn build(&self, cx: &mut Cx) -> Val {
        // A name is taken for a typical number where a form is chosen.
        let [m, k, n] = self.extents.each_ref().map(|n| n.as_constant().unwrap_or(TYPICAL));
        let tile = Tile::of(self.registers, self.scalar, m, n);
        let columns = self.cut.columns.clone().unwrap_or_else(|| tile.columns(n));
        let rows = self.cut.rows.clone().unwrap_or_else(|| tile.rows(m));
        if m <= tile.rows {
            return self.by_columns(cx, &rows, &columns, Threads::Columns, false);
        }
        if n > FEW_TILES * tile.lanes {
            let small = k <= IN_PLACE.0 && k * n * self.scalar.bytes() as i64 <= IN_PLACE.1;
            return match self.right {
                Side::Rows(right) if small => self.in_place(cx, &rows, columns, right),
                _ => self.by_columns(cx, &rows, &columns, Threads::Columns, true),
            };
        }
        let panels = (n - n % tile.lanes + tile.rest(n)) * k * self.scalar.bytes() as i64;
        let made = !matches!(self.right, Side::Panels(_));
        if made && panels > LARGE_PANELS && m / tile.rows >= USES {
            return self.by_columns(cx, &rows, &columns, Threads::Rows, true);
        }
        // Of the blocks behind the first ones there are few: threads share their columns.
        if let (Side::Panels(_), Some(_), [whole, rest @ ..]) = (&self.right, &self.cut.rows, &rows[..])
            && !rest.is_empty()
        {
            let whole = self.by_rows(cx, std::slice::from_ref(whole), &columns);
            let rest = self.by_columns(cx, rest, &columns, Threads::Columns, false);
            return concatenated([whole, rest].into_iter());
        }
        self.by_rows(cx, &rows, &columns)
    }

    /// Row by row of tiles, with the right matrix where it is in memory. Threads share the rows.
    fn in_place(
        &self,
        cx: &mut Cx,
        rows: &[Rows],
        columns: Vec<Columns>,
        right: &dyn Fn(&mut Cx, &Val, &Val) -> Val,
    ) -> Val {
        let (whole, rest): (Vec<_>, Vec<_>) =
            columns.into_iter().filter(|c| some(&c.count)).partition(|c| c.used == Size::constant(c.lanes));
        let element: RightOfTile = &|cx, k, first, _, l| right(cx, k, &(first + l.int()));
        let whole = (!whole.is_empty()).then(|| transposed(self.rows_of_tiles(cx, rows, &whole, element)));
        let rest =
            (!rest.is_empty()).then(|| transposed(self.by_columns(cx, rows, &rest, Threads::Columns, true)));
        transposed(concatenated(whole.into_iter().chain(rest)))
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
        let parts = columns.iter().filter(|c| some(&c.count)).map(|c| {
            let tile = |cx: &mut Cx, j: Val| {
                let first = j.int() * int(c.lanes) + size(&c.first);
                let blocks = |cx: &mut Cx, right: Right| {
                    // Where there is one tile, threads have nothing to share but its rows.
                    let kind = if c.count.as_constant() == Some(1) && packed { Prim::MapPar } else { inner };
                    let blocks = rows.iter().filter(|r| some(&r.count)).map(|r| {
                        joined(cx.each(kind, r.count.clone(), |cx, b| {
                            self.block(
                                cx,
                                &(b.int() * int(r.rows) + size(&r.first)),
                                r.rows,
                                &first,
                                c,
                                right,
                            )
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
            joined(cx.each(outer, c.count.clone(), tile))
        });
        transposed(concatenated(parts))
    }

    /// Threads share the rows; all columns are in one panel.
    fn by_rows(&self, cx: &mut Cx, rows: &[Rows], columns: &[Columns]) -> Val {
        if let Side::Panels(panels) = &self.right {
            return self
                .rows_of_tiles(cx, rows, columns, &|_, k, first, lanes, l| panels.at(first, lanes, k, l));
        }
        let panel = match &self.cut.columns {
            Some(_) => self.panel_of_parts(cx, columns),
            None => {
                let lanes = |c: &Columns| c.count.clone() * Size::constant(c.lanes);
                let all = columns.iter().fold(Size::default(), |all, c| all + lanes(c));
                self.panel(cx, Prim::MapPar, &int(0), all)
            }
        };
        cx.bind("panel", panel, |cx, panel| {
            self.rows_of_tiles(cx, rows, columns, &|_, k, first, _, l| {
                panel.at(&[k.clone(), first + l.int()])
            })
        })
    }

    /// All rows of tiles.
    fn rows_of_tiles(&self, cx: &mut Cx, rows: &[Rows], columns: &[Columns], right: RightOfTile) -> Val {
        let parts = rows.iter().filter(|r| some(&r.count)).map(|r| {
            let block = |cx: &mut Cx, b: Val| {
                let row = b.int() * int(r.rows) + size(&r.first);
                let kind = if r.count.as_constant() == Some(1) { Prim::MapPar } else { Prim::MapSeq };
                let tiles = columns.iter().filter(|c| some(&c.count)).map(|c| {
                    joined(cx.each(kind, c.count.clone(), |cx, j| {
                        let first = j.int() * int(c.lanes) + size(&c.first);
                        let right: Right = &|cx, k, l| right(cx, k, &first, c.lanes, l);
                        transposed(self.block(cx, &row, r.rows, &first, c, right))
                    }))
                });
                transposed(concatenated(tiles))
            };
            joined(cx.each(Prim::MapPar, r.count.clone(), block))
        });
        concatenated(parts)
    }

    /// The columns from `first` on, `lanes` of them, for all places of the sum, in memory.
    fn panel(&self, cx: &mut Cx, kind: Prim, first: &Val, lanes: impl Into<Size>) -> Val {
        let (k, lanes) = (self.extents[1].clone(), lanes.into());
        cx.each(kind, k, |cx, k| cx.each(Prim::MapVec, lanes, |cx, l| self.column(cx, &k, first, &l)))
            .stored()
    }

    /// All columns, for all places of the sum, in memory: those of whole tiles as they are, and
    /// those of the last tile, which has some beyond the last column.
    fn panel_of_parts(&self, cx: &mut Cx, columns: &[Columns]) -> Val {
        let (Side::Elements(right) | Side::Rows(right)) = &self.right else {
            return Refusal::internal("panels of a panel").into();
        };
        let part = |whole: bool| {
            let of = columns.iter().filter(|c| (c.used == Size::constant(c.lanes)) == whole);
            of.fold(Size::default(), |all, c| all + c.count.clone() * Size::constant(c.lanes))
        };
        let (whole, rest) = (part(true), part(false));
        let row = |cx: &mut Cx, k: Val| {
            let first = size(&whole);
            let parts = [
                cx.each(Prim::MapVec, whole.clone(), |cx, l| right(cx, &k, &l.int())),
                cx.each(Prim::MapVec, rest.clone(), |cx, l| self.column(cx, &k, &first, &l)),
            ];
            let some = [&whole, &rest].map(some);
            concatenated(parts.into_iter().zip(some).filter(|(_, some)| *some).map(|(part, _)| part))
        };
        cx.each(Prim::MapPar, self.extents[1].clone(), row).stored()
    }

    /// The element of the right matrix in lane `l` of the tile from column `first` on. Beyond the
    /// last column it is repeated.
    fn column(&self, cx: &mut Cx, k: &Val, first: &Val, l: &Val) -> Val {
        let [_, _, n] = &self.extents;
        let last = size(&(n.clone() - Size::constant(1)));
        match &self.right {
            Side::Elements(right) | Side::Rows(right) => right(cx, k, &(first + l.int()).min(&last)),
            Side::Panels(_) => Refusal::internal("an element of panels without its tile").into(),
        }
    }

    /// What is added to a sum for an element of the left and one of the right matrix.
    fn multiplied(&self, left: &Val, right: Val) -> Val {
        match self.element {
            Element::Number => left * right,
            Element::Pair => {
                let ([a, b], [c, d]) = (pairs::halves(left), pairs::halves(&right));
                a * c + b * d
            }
            Element::Four { .. } => fours::multiplied(left, &right),
            Element::FilterFour { .. } => fours::multiplied(&right, left),
        }
    }

    /// A tile: the sums of some rows and columns, whose elements of the right matrix `right` has.
    pub(super) fn block(
        &self,
        cx: &mut Cx,
        row: &Val,
        rows: i64,
        column: &Val,
        c: &Columns,
        right: Right,
    ) -> Val {
        let k = &self.extents[1];
        // One row is a row, not a matrix: its sums are updated in place.
        let each = |cx: &mut Cx, f: &mut dyn FnMut(&mut Cx, Val) -> Val| match rows {
            1 => f(cx, index(0, &Size::constant(1))),
            _ => cx.each(Prim::MapUnroll, rows, f),
        };
        let place = |r: &Val, l: Val| if rows == 1 { vec![l] } else { vec![r.clone(), l] };
        let first = each(cx, &mut |cx, r| {
            cx.each(Prim::MapVec, c.lanes, |cx, l| match self.element {
                Element::Number | Element::Pair => number(self.scalar, 0.0),
                Element::FilterFour { first } => first(cx, &(row + r.int())),
                Element::Four { first } => {
                    let of_column = right(cx, &size(k), &l);
                    first(cx, &(row + r.int()), &(column + l.int()), of_column)
                }
            })
        });
        let sums = cx.fold(k, first, |cx, k, acc| {
            each(cx, &mut |cx, r| {
                let left = match &self.left {
                    Side::Elements(left) | Side::Rows(left) => left(cx, &(row + r.int()), &k),
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
                cx.each(Prim::MapVec, c.used.clone(), |cx, l| {
                    let sum = sums.at(&place(&r, l.int()));
                    (self.last)(cx, sum, &(row + r.int()), &(column + l.int()))
                })
            })
        })
    }
}

impl Cx {
    /// The array whose element `i` is `f i`, by a loop of this kind.
    pub(super) fn each(
        &mut self,
        kind: Prim,
        n: impl Into<Size>,
        f: impl FnOnce(&mut Cx, Val) -> Val,
    ) -> Val {
        let n: Size = n.into();
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

/// The extents as sizes.
pub(super) fn sizes(extents: [i64; 3]) -> [Size; 3] {
    extents.map(Size::constant)
}

/// Whether a product is computed in tiles: its extents are positive numbers, or are cut.
pub(super) fn fits(cut: &Cut, [m, k, n]: [&Size; 3]) -> bool {
    let positive = |n: &Size| n.as_constant().is_none_or(|n| n >= 1);
    [m, k, n].into_iter().all(positive) && cut.is_whole(m, n)
}

/// The product of two matrices with `last` for each sum, the right one in `panels` where there are
/// some; none if an extent is 0, or is not known and not cut.
pub(super) fn product(
    cx: &mut Cx,
    (registers, cut): (Registers, &Cut),
    a: &Val,
    b: &Val,
    panels: Option<Panels>,
    last: Last,
) -> Option<Val> {
    let (DataType::Array(m, row), DataType::Array(_, column)) = (a.ty(), b.ty()) else { return None };
    let (DataType::Array(k, elem), DataType::Array(n, _)) = (&*row, &*column) else { return None };
    let DataType::Scalar(scalar) = **elem else { return None };
    if !fits(cut, [&m, k, n]) {
        return None;
    }
    let (extents, cut) = ([m, k.clone(), n.clone()], cut.clone());
    let left = |_: &mut Cx, i: &Val, k: &Val| a.at(&[i.clone(), k.clone()]);
    let right = |_: &mut Cx, k: &Val, j: &Val| b.at(&[k.clone(), j.clone()]);
    let right = panels.map_or(Side::Elements(&right), Side::Panels);
    let left = Side::Elements(&left);
    Some(Product { extents, cut, registers, scalar, element: Element::Number, left, right, last }.build(cx))
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
    let (extents, cut) = (sizes(extents(m, k, n)?), Cut::default());
    Some(Product { extents, cut, registers, scalar, element: Element::Number, left, right, last }.build(cx))
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
