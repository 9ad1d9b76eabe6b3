//! Filters of bytes, as the left matrix of the product that a convolution is.
//!
//! Constant filters are stored in pairs of bytes. At each run they become words ([`super::pairs`]),
//! less the zero points, which may differ from filter to filter.

use loops::Size;

use super::build::{Cx, product, reshape};
use super::packing::Packed;
use super::pairs::{self, Pairs};
use super::value::{Val, int};
use super::{Input, Op};

/// Where the weights of a convolution are.
pub(super) enum Weights<'f> {
    /// They are input 1 as it is, so that panels can be made of them.
    Stored,
    /// They are bytes of the input with this number, from which `shift` subtracts a zero point,
    /// given the filter.
    Bytes { input: usize, w: &'f Input, shift: &'f dyn Fn(&mut Cx, Val, &Val) -> Val },
    /// They are computed.
    Computed,
}

/// Filters of bytes.
pub(super) struct ByteFilters<'f> {
    pub(super) pairs: Pairs,
    w: &'f Input,
    /// Where they are stored, if not in `w`.
    packed: Option<Packed>,
    /// What subtracts the zero point of a filter.
    shift: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

impl<'f> ByteFilters<'f> {
    /// Those of a call; none if they are no bytes, or for a window at one place.
    pub(super) fn of(
        op: &mut Op,
        weights: &Weights<'f>,
        groups: i64,
        columns: i64,
    ) -> Option<ByteFilters<'f>> {
        let Weights::Bytes { input, w, shift } = *weights else { return None };
        let [filters, channels] = [w.shape[0].as_constant()?, w.shape[1].as_constant()?];
        let taps = product(&w.shape[2..]).as_constant()?;
        let pairs = pairs::of_bytes(w.elem, w.elem, channels, taps).filter(|_| columns > 1)?;
        let packed = op.packed(input, Some(pairs.rows(filters / groups, groups)));
        Some(ByteFilters { pairs, w, packed, shift })
    }

    /// The word of a pair of a filter: the filter in its group, and its number.
    pub(super) fn word(&self, cx: &mut Cx, group: &Val, line: &Val, filter: &Val, k: &Val) -> Val {
        let Some(packed) = &self.packed else {
            let extents = [Size::constant(self.pairs.taps)];
            return self.pairs.word(cx, k, |cx, channel, tap| {
                let taps = self.w.at(&[filter.clone(), channel.clone()]);
                let weight = reshape(cx, &taps, &self.w.shape[2..], &extents).at(std::slice::from_ref(tap));
                (self.shift)(cx, weight, filter)
            });
        };
        let pair = packed.matrix(group).at(&line.int(), 1, k, &int(0));
        pairs::word(&self.pairs.bytes(&pair).map(|byte| (self.shift)(cx, byte, filter)))
    }
}
