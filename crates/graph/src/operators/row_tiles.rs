//! Convolutions with the places of a row in the lanes of vectors. A tile is some filters and some
//! places of one row of windows.
//!
//! The padded image has room behind each row for the lanes of the last tile. So nothing else is
//! copied: no place between two rows is computed, and a tile is written where it belongs. This is
//! the way for sums that are too short to be written with a stride, and for few filters. Sums keep
//! their order.

use functional::Prim;
use loops::{Registers, Size};

use super::build::{Cx, product};
use super::convolution::Window;
use super::epilogue::Stages;
use super::image_windows::{Image, image};
use super::packing::Packed;
use super::tiles::{
    self, Cut, Element, Product, Right, Side, Tile, WORTH_TILES, concatenated, joined, packing, some,
    transposed,
};
use super::value::{Val, int, number, size};
use super::{Input, Op};

/// A row is at least so many parts of the lanes of its tiles.
const FULL: (i64, i64) = (3, 4);

/// A convolution of one group, and what is known of it.
struct Filters<'f> {
    w: &'f Input,
    win: &'f Window,
    /// What the image is made for: windows at all rows, and at places to the end of the last tile.
    padded: &'f Window,
    registers: Registers,
    packed: Packed,
    after: Stages,
    last: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
    /// Filters, elements of a window, places of a row.
    extents: [i64; 3],
}

/// The convolution of all samples, if this way is worth it.
pub(super) fn convolution(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Option<Val> {
    let filters = w.shape[0].as_constant()?;
    let taps = product(&w.shape[1..]).as_constant()?;
    let places = product(&win.places).as_constant()?;
    let row = win.places.last()?.as_constant()?;
    let lanes = tiles::columns(registers, x.scalar(), filters, row);
    let work = filters.saturating_mul(taps).saturating_mul(places);
    // Windows of one element have no places between their rows.
    let wide = win.kernel.iter().any(|k| *k > 1);
    if !wide || filters < 4 || work < WORTH_TILES || row * FULL.1 < lanes * FULL.0 {
        return None;
    }
    let extents = [filters, taps, row];
    let pitches = [filters.saturating_mul(taps), taps, 1];
    let packed = op.packed(1, packing(registers, x.scalar(), extents, true, 1, pitches))?;
    let after = op.stages();
    let mut padded = win.dense();
    *padded.places.last_mut()? = Size::constant(lanes);
    *padded.strides.last_mut()? = *win.strides.last()?;
    // A place of a phase has no number that a loop could count: so each element of a window gets
    // its own row.
    padded.apart = padded.strides.last() != Some(&1);
    let all = Filters { w, win, padded: &padded, registers, packed, after, last, extents };
    let zero = number(x.scalar(), 0.0);
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        image(cx, x, &padded, &n, &zero, |cx, image| all.sample(cx, &image, &n))
    }))
}

impl Filters<'_> {
    /// All filters of one sample. Threads share the blocks of filters and, for each of them, the
    /// rows: so results are written one after the other.
    fn sample(&self, cx: &mut Cx, image: &Image, number: &Val) -> Val {
        let ([outer @ .., _], [filters, _, row]) = (&self.win.places[..], self.extents) else {
            return int(0);
        };
        let tile = Tile::of(self.registers, self.w.scalar(), filters, row);
        let blocks = tile.rows(filters).into_iter().filter(|block| some(&block.count)).map(|block| {
            joined(cx.each(Prim::MapPar, block.count.clone(), |cx, b| {
                let m = b.int() * int(block.rows) + size(&block.first);
                transposed(cx.each(Prim::MapPar, product(outer), |cx, i| {
                    let (mut rest, mut at) = (i.int(), Vec::new());
                    for (d, n) in outer.iter().enumerate().rev() {
                        at.push(if d == 0 { rest.clone() } else { &rest % size(n) });
                        rest = rest / size(n);
                    }
                    at.reverse();
                    self.row(cx, image, &[std::slice::from_ref(number), &at].concat(), &m, block.rows)
                }))
            }))
        });
        super::build::folded(concatenated(blocks.collect::<Vec<_>>().into_iter()), outer)
    }

    /// The results of some filters from `m` on at the places of a row; `at` is the sample and the
    /// row.
    fn row(&self, cx: &mut Cx, image: &Image, at: &[Val], m: &Val, filters: i64) -> Val {
        let [all, _, row] = self.extents;
        let scalar = self.w.scalar();
        let element = |cx: &mut Cx, k: &Val, l: &Val| self.element(cx, image, &at[1..], k, l);
        let last = |cx: &mut Cx, sum: Val, m: &Val, l: &Val| {
            let value = (self.last)(cx, sum, m);
            let place = [&[at[0].clone(), m.clone()], &at[1..], std::slice::from_ref(l)].concat();
            self.after.apply(cx, value, &place, &vec![1; place.len()])
        };
        let product = Product {
            extents: tiles::sizes(self.extents),
            cut: Cut::default(),
            registers: self.registers,
            scalar,
            element: Element::Number,
            left: Side::Panels(self.packed.matrix(&int(0))),
            right: Side::Elements(&element),
            last: &last,
        };
        let tile = Tile::of(self.registers, scalar, all, row);
        let tiles = tile.columns(row).into_iter().filter(|c| some(&c.count)).map(|c| {
            joined(cx.each(Prim::MapSeq, c.count.clone(), |cx, j| {
                let first = j.int() * int(c.lanes) + size(&c.first);
                let right: Right = &|cx, k, l| element(cx, k, &(&first + l.int()));
                transposed(product.block(cx, m, filters, &first, &c, right))
            }))
        });
        transposed(concatenated(tiles.collect::<Vec<_>>().into_iter()))
    }

    /// What the window at a place of a row has at the place `k` of its sum.
    fn element(&self, cx: &mut Cx, image: &Image, at: &[Val], k: &Val, l: &Val) -> Val {
        let (mut channel, mut tap) = (k.int(), Vec::new());
        for n in self.win.kernel.iter().rev() {
            tap.push(&channel % int(*n));
            channel = channel / int(*n);
        }
        tap.reverse();
        let at = at.iter().zip(&self.win.strides).map(|(i, stride)| i.int() * int(*stride));
        let place: Vec<Val> = at.chain([l.clone()]).collect();
        image.element(cx, self.padded, channel, &tap, &place)
    }
}
