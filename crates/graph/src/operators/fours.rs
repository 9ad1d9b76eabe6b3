//! Products of matrices of bytes of which one is constant, for C: four places of a sum at a time.
//!
//! Processors multiply four bytes without a sign with four bytes that have one, and add the products
//! to a sum of 32 bits, in one instruction. So a matrix that is computed is copied to words of four
//! bytes, and the constant one, the weights, is stored in such words. With `a = x + p` for a number
//! and `b = y + q` for a weight, where `x` has no sign and `y` has one, and `p` and `q` come of zero
//! points and of types,
//!
//! ```text
//! sum of a b = sum of x y + p (sum of y + K q) + q (sum of x)
//! ```
//!
//! where `K` is the length of the sum. The sum of the weights of a line, `sum of y`, is stored behind
//! its last word. Sums of integers wrap around, so that their order does not matter.
//!
//! The weights are the right matrix of a product of matrices, and the left one, the filters, of a
//! convolution. Filters whose `q` is not 0, or is not known, are taken in pairs ([`super::pairs`]).

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
    /// Each place of the sum belongs to a channel and to a tap of a window, and a word has one tap
    /// of four channels. The sum of a product of matrices has one tap.
    channels: i64,
    taps: i64,
    /// Whether the numbers have a sign.
    signed: bool,
    /// Whether the weights have none.
    unsigned: bool,
}

/// The words of a product of bytes; none for other types.
pub(super) fn of_bytes(
    numbers: ElementType,
    weights: ElementType,
    channels: i64,
    taps: i64,
) -> Option<Fours> {
    let byte = |elem| matches!(elem, ElementType::I8 | ElementType::U8);
    let (signed, unsigned) = (numbers == ElementType::I8, weights == ElementType::U8);
    (byte(numbers) && byte(weights)).then_some(Fours { channels, taps, signed, unsigned })
}

fn i32(value: i64) -> Val {
    number(Scalar::I32, value as f64)
}

impl Fours {
    /// How many words there are.
    pub(super) fn count(self) -> i64 {
        (self.channels + 3) / 4 * self.taps
    }

    /// The word with this number as it is stored, or the sum of the line behind the last one, given
    /// the byte at a place of the line.
    pub(super) fn stored(self, k: i64, byte: impl Fn(i64) -> Option<i32>) -> Option<i32> {
        let signed = |place| Some((if self.unsigned { byte(place)? - 128 } else { byte(place)? }) as i8);
        if k == self.count() {
            let places = 0..self.channels * self.taps;
            return places.map(signed).try_fold(0_i32, |sum, x| Some(sum.wrapping_add(i32::from(x?))));
        }
        let part = |part: i64| {
            let channel = 4 * (k / self.taps) + part;
            if channel < self.channels { signed(channel * self.taps + k % self.taps) } else { Some(0) }
        };
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

    /// How filters are stored as the left matrices of products, each by itself.
    pub(super) fn rows(self, lines: i64, matrices: i64) -> Packing {
        let length = self.channels * self.taps;
        Packing {
            matrices,
            lines,
            sum: self.count() + 1,
            pitches: [lines * length, length, 1],
            wide: 1,
            full: lines,
            narrow: 1,
            stored: Stored::Fours(self),
        }
    }

    /// What is added to a stored weight, if this is known of the weight.
    pub(super) fn to_weight(self, known: i64) -> i64 {
        known + if self.unsigned { 128 } else { 0 }
    }

    /// What is added to a byte of a word, given what is added to the number.
    pub(super) fn to_number(self, given: Val) -> Val {
        if self.signed { given - i32(128) } else { given }
    }

    /// The word with this number, given the number at a channel and a tap.
    pub(super) fn word(self, k: &Val, mut at: impl FnMut(&Val, &Val) -> Val) -> Val {
        let (group, tap) = match self.taps {
            1 => (k.int(), int(0)),
            taps => (k.int() / int(taps), k.int() % int(taps)),
        };
        let mut byte = |part: i64| {
            let channel = &group * int(4) + int(part);
            let byte = at(&channel, &tap);
            let byte = if self.signed { byte + i32(128) } else { byte }.bit_and(&i32(255));
            let exists = self.channels % 4 == 0 || part < self.channels % 4;
            let byte = if exists { byte } else { byte.when(&channel.lt(&int(self.channels)), &i32(0)) };
            if part == 0 { byte } else { byte.shift_left(&i32(8 * part)) }
        };
        let bytes = [byte(0), byte(1), byte(2), byte(3)];
        bytes.into_iter().reduce(|word, byte| word.bit_or(&byte)).unwrap_or_else(|| i32(0))
    }
}

/// The sum of the products of the bytes of two words, of which the first one has numbers.
pub(super) fn multiplied(numbers: &Val, weights: &Val) -> Val {
    let product = |part: i64| {
        let shifted = |x: &Val, by: i64| if by == 0 { x.clone() } else { x.shift_right(&i32(by)) };
        let number = shifted(numbers, 8 * part).bit_and(&i32(255));
        let above = 24 - 8 * part;
        let weight = if above == 0 { weights.clone() } else { weights.shift_left(&i32(above)) };
        number * weight.shift_right(&i32(24))
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
        let word = |cx: &mut Cx, i: &Val, k: &Val| fours.word(k, |place, _| (self.left)(cx, i, place));
        let words = cx.each(kind, m, |cx, i| cx.each(Prim::MapVec, count, |cx, k| word(cx, &i, &k)));
        cx.bind("words", words.stored(), |cx, words| {
            let left = |_: &mut Cx, i: &Val, k: &Val| words.at(&[i.clone(), k.clone()]);
            let to_column = |cx: &mut Cx, j: &Val| match &self.to_column {
                ToColumn::Known(known) => i32(fours.to_weight(*known)),
                ToColumn::Computed(of) => of(cx, j) + i32(fours.to_weight(0)),
            };
            let none = matches!(self.to_column, ToColumn::Known(known) if fours.to_weight(known) == 0);
            let row_sums = if none { i32(0) } else { self.row_sums(cx, &words) };
            cx.bind("row_sums", row_sums, |cx, row_sums| {
                let first = |cx: &mut Cx, i: &Val, j: &Val, of_column: Val| {
                    let to_row = fours.to_number((self.to_row)(cx, i));
                    if none {
                        return to_row * of_column;
                    }
                    let to_column = to_column(cx, &j.min(&int(n - 1)));
                    let of_column = of_column + i32(fours.channels) * &to_column;
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
