//! Products of matrices of bytes, for C: two places of a sum at a time.
//!
//! Processors multiply pairs of integers of 16 bits and add both products in one instruction. So
//! the left matrix is copied to words of 32 bits, each with the numbers of two places in its
//! halves, and so is the right matrix. Constant filters of a convolution, which are the left matrix,
//! are stored in pairs of bytes. A byte less a zero point has 9 bits, so a half holds it. Sums of
//! integers wrap around, so that their order does not matter. A constant right matrix has another
//! form ([`super::fours`]).

use functional::Prim;
use loops::{Registers, Scalar};

use super::Input;
use super::build::Cx;
use super::packing::{Packing, Stored};
use super::tiles::{Element, Last, Product, Side};
use super::value::{Val, int, number};
use crate::types::ElementType;

/// A matrix of fewer words is copied by one thread.
pub(super) const WORTH_THREADS: i64 = 1 << 15;

/// The places of a sum in pairs: each place belongs to a channel and to a tap of a window, and a
/// pair has one tap of two channels. The sum of a product of matrices has one tap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pairs {
    pub(super) channels: i64,
    pub(super) taps: i64,
    /// Whether stored bytes have no sign.
    pub(super) unsigned: bool,
}

/// The pairs of a product of matrices of `u8` or `i8`; none for other types.
pub(super) fn of_bytes(left: ElementType, right: ElementType, channels: i64, taps: i64) -> Option<Pairs> {
    let byte = |elem| matches!(elem, ElementType::I8 | ElementType::U8);
    let unsigned = right == ElementType::U8;
    (byte(left) && byte(right)).then_some(Pairs { channels, taps, unsigned })
}

/// Whether these zero points are bytes.
pub(super) fn are_bytes(zeros: &[&Option<Input>]) -> bool {
    zeros.iter().all(|zero| zero.as_ref().is_none_or(|z| matches!(z.elem, ElementType::I8 | ElementType::U8)))
}

impl Pairs {
    /// How many pairs there are.
    pub(super) fn count(self) -> i64 {
        (self.channels + 1) / 2 * self.taps
    }

    /// The type of a pair of bytes.
    pub(super) fn scalar(self) -> Scalar {
        if self.unsigned { Scalar::U16 } else { Scalar::I16 }
    }

    /// The places of a pair in the tensor, the taps of each channel one after the other; the second
    /// one may not exist.
    pub(super) fn places(self, k: i64) -> [Option<i64>; 2] {
        [0, 1].map(|part| {
            let channel = 2 * (k / self.taps) + part;
            (channel < self.channels).then_some(channel * self.taps + k % self.taps)
        })
    }

    /// The word of a pair, given the number at a channel and a tap.
    pub(super) fn word(self, cx: &mut Cx, k: &Val, mut at: impl FnMut(&mut Cx, &Val, &Val) -> Val) -> Val {
        let (pair, tap) = match self.taps {
            1 => (k.int(), int(0)),
            taps => (k.int() / int(taps), k.int() % int(taps)),
        };
        let channels = [0, 1].map(|part| &pair * int(2) + int(part));
        let [low, high] = channels.each_ref().map(|channel| at(cx, channel, &tap));
        let high = match self.channels % 2 {
            0 => high,
            _ => high.when(&channels[1].lt(&int(self.channels)), &number(Scalar::I32, 0.0)),
        };
        word(&[low, high])
    }

    /// The two bytes of a stored pair.
    pub(super) fn bytes(self, pair: &Val) -> [Val; 2] {
        let pair = pair.to(Scalar::I32);
        let bits = |n: i64| number(Scalar::I32, n as f64);
        let low = match self.unsigned {
            true => pair.bit_and(&bits(255)),
            false => pair.shift_left(&bits(24)).shift_right(&bits(24)),
        };
        [low, pair.shift_right(&bits(8))]
    }

    /// How the left matrices are stored, each row by itself.
    pub(super) fn rows(self, lines: i64, matrices: i64) -> Packing {
        let length = self.channels * self.taps;
        Packing {
            matrices,
            lines,
            sum: self.count(),
            pitches: [lines * length, length, 1],
            wide: 1,
            full: lines,
            narrow: 1,
            stored: Stored::Pairs(self),
        }
    }
}

/// Two numbers of 16 bits in one word.
pub(super) fn word([low, high]: &[Val; 2]) -> Val {
    let low = low.bit_and(&number(Scalar::I32, 65535.0));
    low.bit_or(&high.shift_left(&number(Scalar::I32, 16.0)))
}

/// The two numbers of a word.
pub(super) fn halves(word: &Val) -> [Val; 2] {
    let bits = number(Scalar::I32, 16.0);
    [word.shift_left(&bits).shift_right(&bits), word.shift_right(&bits)]
}

/// A product of matrices of bytes.
pub(super) struct Bytes<'f> {
    /// `m` and `n`, both positive.
    pub(super) extents: [i64; 2],
    pub(super) pairs: Pairs,
    pub(super) registers: Registers,
    /// The word of a row and a pair.
    pub(super) left: &'f dyn Fn(&mut Cx, &Val, &Val) -> Val,
    /// The word of a pair and a column.
    pub(super) right: &'f dyn Fn(&mut Cx, &Val, &Val) -> Val,
    pub(super) last: Last<'f>,
}

impl Bytes<'_> {
    /// The result, `m` rows of `n`.
    pub(super) fn build(self, cx: &mut Cx) -> Val {
        let [m, n] = self.extents;
        let count = self.pairs.count();
        let kind = if m.saturating_mul(count) < WORTH_THREADS { Prim::MapSeq } else { Prim::MapPar };
        let words = cx.each(kind, m, |cx, i| cx.each(Prim::MapVec, count, |cx, k| (self.left)(cx, &i, &k)));
        cx.bind("words", words.stored(), |cx, words| {
            let left = |_: &mut Cx, i: &Val, k: &Val| words.at(&[i.clone(), k.clone()]);
            let product = Product {
                extents: super::tiles::sizes([m, count, n]),
                cut: super::tiles::Cut::default(),
                registers: self.registers,
                scalar: Scalar::I32,
                element: Element::Pair,
                left: Side::Elements(&left),
                right: Side::Elements(self.right),
                last: self.last,
            };
            product.build(cx)
        })
    }
}
