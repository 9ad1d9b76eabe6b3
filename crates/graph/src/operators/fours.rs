//! Products of matrices of bytes with a constant right matrix, for C: four places of a sum at a
//! time.
//!
//! Processors multiply four bytes without a sign with four bytes that have one, and add the products
//! to a sum of 32 bits, in one instruction. So the left matrix is copied to words of four bytes, and
//! the right one is stored in such words, in panels. With `a = x + p` and `b = y + q`, where `x` has
//! no sign and `y` has one, and `p` and `q` come of zero points and of types,
//!
//! ```text
//! sum of a b = sum of x y + p (sum of y + K q) + q (sum of x)
//! ```
//!
//! where `K` is the length of the sum. The sums of the columns, `sum of y`, are stored behind the
//! last words of each panel. Sums of integers wrap around, so that their order does not matter.

use functional::Prim;
use loops::{Registers, Scalar};

use super::build::Cx;
use super::packing::{Packing, Panels, Stored};
use super::pairs::WORTH_THREADS;
use super::tiles::{self, Cut, Element, Last, Product, Side};
use super::value::{Val, int, number};
use crate::types::ElementType;

/// The words of a product of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fours {
    /// Places of the sum.
    places: i64,
    /// Whether the bytes of the left matrix have a sign.
    signed: bool,
    /// Whether the bytes of the right matrix have none.
    unsigned: bool,
}

/// The words of a product of bytes with sums of so many places; none for other types.
pub(super) fn of_bytes(left: ElementType, right: ElementType, places: i64) -> Option<Fours> {
    let byte = |elem| matches!(elem, ElementType::I8 | ElementType::U8);
    let (signed, unsigned) = (left == ElementType::I8, right == ElementType::U8);
    (byte(left) && byte(right)).then_some(Fours { places, signed, unsigned })
}

fn i32(value: i64) -> Val {
    number(Scalar::I32, value as f64)
}

impl Fours {
    /// How many words there are.
    pub(super) fn count(self) -> i64 {
        (self.places + 3) / 4
    }

    /// The word with this number as it is stored, or the sum of the line behind the last one, given
    /// the byte at a place of the line.
    pub(super) fn stored(self, k: i64, byte: impl Fn(i64) -> Option<i32>) -> Option<i32> {
        let signed = |place| Some((if self.unsigned { byte(place)? - 128 } else { byte(place)? }) as i8);
        if k == self.count() {
            let places = 0..self.places;
            return places.map(|place| Some(i32::from(signed(place)?))).try_fold(0, |sum, x| Some(sum + x?));
        }
        let part = |part: i64| if 4 * k + part < self.places { signed(4 * k + part) } else { Some(0) };
        let bytes = [part(0)?, part(1)?, part(2)?, part(3)?];
        Some(i32::from_le_bytes(bytes.map(|byte| byte as u8)))
    }

    /// How the right matrix of a product with so many rows and columns is stored.
    pub(super) fn panels(
        self,
        registers: Registers,
        [m, n]: [i64; 2],
        matrices: i64,
        pitches: [i64; 3],
    ) -> Option<Packing> {
        let extents = [m, self.count() + 1, n];
        let packing = tiles::packing(registers, Scalar::I32, extents, false, matrices, pitches)?;
        Some(Packing { stored: Stored::Fours(self), ..packing })
    }

    /// The word of the left matrix with this number, given the byte at a place.
    fn word(self, k: &Val, mut at: impl FnMut(&Val) -> Val) -> Val {
        let mut byte = |part: i64| {
            let place = k.int() * int(4) + int(part);
            let byte = if self.signed { at(&place) + i32(128) } else { at(&place) };
            let byte = byte.bit_and(&i32(255));
            let exists = self.places % 4 == 0 || part < self.places % 4;
            let byte = if exists { byte } else { byte.when(&place.lt(&int(self.places)), &i32(0)) };
            if part == 0 { byte } else { byte.shift_left(&i32(8 * part)) }
        };
        let bytes = [byte(0), byte(1), byte(2), byte(3)];
        bytes.into_iter().reduce(|word, byte| word.bit_or(&byte)).unwrap_or_else(|| i32(0))
    }
}

/// The sum of the products of the bytes of two words.
pub(super) fn multiplied(left: &Val, right: &Val) -> Val {
    let product = |part: i64| {
        let shifted = |x: &Val, by: i64| if by == 0 { x.clone() } else { x.shift_right(&i32(by)) };
        let left = shifted(left, 8 * part).bit_and(&i32(255));
        let above = 24 - 8 * part;
        let right = if above == 0 { right.clone() } else { right.shift_left(&i32(above)) };
        left * right.shift_right(&i32(24))
    };
    product(0) + product(1) + product(2) + product(3)
}

/// A product of matrices of bytes.
pub(super) struct Bytes<'f> {
    /// `m` and `n`, both positive.
    pub(super) extents: [i64; 2],
    pub(super) fours: Fours,
    pub(super) registers: Registers,
    /// The byte of a row at a place of the sum, as it is.
    pub(super) left: &'f dyn Fn(&mut Cx, &Val, &Val) -> Val,
    /// What is added to the bytes of a row.
    pub(super) to_row: &'f dyn Fn(&mut Cx, &Val) -> Val,
    /// What is added to the bytes of a column.
    pub(super) to_column: ToColumn<'f>,
    pub(super) panels: Panels,
    pub(super) last: Last<'f>,
}

/// What is added to the bytes of a column.
pub(super) enum ToColumn<'f> {
    /// The same number for all.
    Known(i64),
    /// It depends on the column.
    Computed(&'f dyn Fn(&mut Cx, &Val) -> Val),
}

impl Bytes<'_> {
    /// The result, `m` rows of `n`.
    pub(super) fn build(self, cx: &mut Cx) -> Val {
        let ([m, n], fours) = (self.extents, self.fours);
        let count = fours.count();
        let kind = if m.saturating_mul(count) < WORTH_THREADS { Prim::MapSeq } else { Prim::MapPar };
        let word = |cx: &mut Cx, i: &Val, k: &Val| fours.word(k, |place| (self.left)(cx, i, place));
        let words = cx.each(kind, m, |cx, i| cx.each(Prim::MapVec, count, |cx, k| word(cx, &i, &k)));
        cx.bind("words", words.stored(), |cx, words| {
            let left = |_: &mut Cx, i: &Val, k: &Val| words.at(&[i.clone(), k.clone()]);
            let more = if fours.unsigned { 128 } else { 0 };
            let to_column = |cx: &mut Cx, j: &Val| match &self.to_column {
                ToColumn::Known(known) => i32(known + more),
                ToColumn::Computed(of) => of(cx, j) + i32(more),
            };
            let none = matches!(self.to_column, ToColumn::Known(known) if known + more == 0);
            let row_sums = if none { i32(0) } else { self.row_sums(cx, &words) };
            cx.bind("row_sums", row_sums, |cx, row_sums| {
                let first = |cx: &mut Cx, i: &Val, j: &Val, of_column: Val| {
                    let to_row = (self.to_row)(cx, i) - i32(if fours.signed { 128 } else { 0 });
                    if none {
                        return to_row * of_column;
                    }
                    let to_column = to_column(cx, &j.min(&int(n - 1)));
                    let of_column = of_column + i32(fours.places) * &to_column;
                    to_row * of_column + to_column * row_sums.at(&[i.clone()])
                };
                let product = Product {
                    extents: tiles::sizes([m, count, n]),
                    cut: Cut::default(),
                    registers: self.registers,
                    scalar: Scalar::I32,
                    element: Element::Four { first: &first },
                    left: Side::Elements(&left),
                    right: Side::Panels(self.panels.clone()),
                    last: self.last,
                };
                product.build(cx)
            })
        })
    }

    /// The sum of the bytes of each row.
    fn row_sums(&self, cx: &mut Cx, words: &Val) -> Val {
        let [m, _] = self.extents;
        let sums = cx.each(Prim::MapSeq, m, |cx, i| {
            cx.fold(&self.fours.count().into(), i32(0), |_, k, sum| {
                let word = words.at(&[i.clone(), k.clone()]);
                let byte = |part: i64| word.shift_right(&i32(8 * part)).bit_and(&i32(255));
                sum + (word.bit_and(&i32(255)) + byte(1) + byte(2) + byte(3))
            })
        });
        sums.stored()
    }
}
