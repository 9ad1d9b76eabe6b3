//! Filters of bytes, as the left matrix of the product that a convolution is.
//!
//! Constant filters are stored in words of four bytes ([`super::fours`]). Where their zero points
//! stand in the way, which may differ from filter to filter, they are stored in pairs of bytes. At
//! each run these become words, less the zero points ([`super::pairs`]).

use loops::{Registers, Size};

use super::build::{Cx, product, reshape};
use super::fours::{self, Fours};
use super::packing::Packed;
use super::pairs::{self, Pairs};
use super::tiles::{self, Cut, Element, Last, Product, Side};
use super::value::{Val, int};
use super::{Input, Op};

/// Where the weights of a convolution are.
pub(super) enum Weights<'f> {
    /// They are input 1 as it is, so that panels can be made of them.
    Stored,
    /// They are bytes of the input with this number, from which `shift` subtracts a zero point,
    /// given the filter.
    Bytes { input: usize, w: &'f Input, shift: &'f dyn Fn(&mut Cx, Val, &Val) -> Val },
    /// They are bytes of the input with this number, less a zero point for all. The numbers of the
    /// image are bytes, and `to_number` is added to them.
    Fours { input: usize, w: &'f Input, zero: i64, x: &'f Input, to_number: &'f dyn Fn(&mut Cx) -> Val },
    /// They are computed.
    Computed,
}

/// Filters of bytes.
pub(super) enum ByteFilters<'f> {
    /// In pairs.
    Pairs(PairFilters<'f>),
    /// In fours.
    Fours { fours: Fours, packed: Packed, to_number: &'f dyn Fn(&mut Cx) -> Val },
}

/// Filters in pairs of bytes.
pub(super) struct PairFilters<'f> {
    pairs: Pairs,
    w: &'f Input,
    /// Where they are stored, if not in `w`.
    packed: Option<Packed>,
    /// What subtracts the zero point of a filter.
    shift: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

/// The element of the image at a channel, a tap and a column.
type Image<'f> = &'f dyn Fn(&mut Cx, &Val, &Val, &Val) -> Val;

impl<'f> ByteFilters<'f> {
    /// Those of a call; none if they are no bytes, or for a window at one place.
    pub(super) fn of(
        op: &mut Op,
        weights: &Weights<'f>,
        groups: i64,
        columns: i64,
    ) -> Option<ByteFilters<'f>> {
        let (Weights::Bytes { input, w, .. } | Weights::Fours { input, w, .. }) = *weights else {
            return None;
        };
        let [filters, channels] = [w.shape[0].as_constant()?, w.shape[1].as_constant()?];
        let (taps, lines) = (product(&w.shape[2..]).as_constant()?, filters / groups);
        if columns <= 1 {
            return None;
        }
        match *weights {
            Weights::Bytes { shift, .. } => {
                let pairs = pairs::of_bytes(w.elem, w.elem, channels, taps)?;
                let packed = op.packed(input, Some(pairs.rows(lines, groups)));
                Some(ByteFilters::Pairs(PairFilters { pairs, w, packed, shift }))
            }
            Weights::Fours { x, zero, to_number, .. } => {
                let fours = fours::of_bytes(x.elem, w.elem, channels, taps)?;
                let fours = Some(fours).filter(|fours| fours.to_weight(-zero) == 0)?;
                let packed = op.packed(input, Some(fours.rows(lines, groups)))?;
                Some(ByteFilters::Fours { fours, packed, to_number })
            }
            Weights::Stored | Weights::Computed => None,
        }
    }

    /// The products of the filters of a group, which `filter` gives, with the image: `extents` are
    /// the filters of the group and the columns.
    pub(super) fn product(
        &self,
        cx: &mut Cx,
        (group, filter): (&Val, &dyn Fn(&Val) -> Val),
        extents: [i64; 2],
        registers: Registers,
        image: Image<'_>,
        last: Last<'_>,
    ) -> Val {
        match self {
            ByteFilters::Pairs(filters) => {
                let pairs = filters.pairs;
                let left = |cx: &mut Cx, m: &Val, k: &Val| filters.word(cx, group, m, &filter(m), k);
                let right = |cx: &mut Cx, k: &Val, column: &Val| {
                    pairs.word(cx, k, |cx, channel, tap| image(cx, channel, tap, column))
                };
                let (left, right) = (&left, &right);
                pairs::Bytes { extents, pairs, registers, left, right, last }.build(cx)
            }
            ByteFilters::Fours { fours, packed, to_number } => {
                let stored = |m: &Val, k: &Val| packed.matrix(group).at(&m.int(), 1, k, &int(0));
                let left = |_: &mut Cx, m: &Val, k: &Val| stored(m, k);
                let right = |cx: &mut Cx, k: &Val, column: &Val| {
                    fours.word(k, |channel, tap| image(cx, channel, tap, column))
                };
                let first =
                    |cx: &mut Cx, m: &Val| fours.to_number(to_number(cx)) * stored(m, &int(fours.count()));
                let product = Product {
                    extents: tiles::sizes([extents[0], fours.count(), extents[1]]),
                    cut: Cut::default(),
                    registers,
                    scalar: loops::Scalar::I32,
                    element: Element::FilterFour { first: &first },
                    left: Side::Elements(&left),
                    right: Side::Elements(&right),
                    last,
                };
                product.build(cx)
            }
        }
    }
}

impl PairFilters<'_> {
    /// The word of a pair of a filter: the filter in its group, and its number.
    fn word(&self, cx: &mut Cx, group: &Val, line: &Val, filter: &Val, k: &Val) -> Val {
        let PairFilters { pairs, w, packed, shift } = self;
        let Some(packed) = packed else {
            let extents = [Size::constant(pairs.taps)];
            return pairs.word(cx, k, |cx, channel, tap| {
                let taps = w.at(&[filter.clone(), channel.clone()]);
                let weight = reshape(cx, &taps, &w.shape[2..], &extents).at(std::slice::from_ref(tap));
                shift(cx, weight, filter)
            });
        };
        let pair = packed.matrix(group).at(&line.int(), 1, k, &int(0));
        pairs::word(&pairs.bytes(&pair).map(|byte| shift(cx, byte, filter)))
    }
}
