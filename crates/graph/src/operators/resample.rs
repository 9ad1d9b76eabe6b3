//! Resizing for C. The positions and weights of the samples are the same in all lines, so they are
//! computed once for each axis. One axis is resized after the other, so that what several samples
//! share is computed once.
//!
//! The definition ([`super::image`]) computes both for each element of the result. The sums here
//! are the same sums in the same order.

use loops::{Scalar, Size};

use super::build::{Cx, Extents};
use super::image::{Axis, Rule};
use super::value::{Val, number};
use super::{Input, Op};

/// The positions and weights of the samples of an axis, for each position of the result.
struct Table {
    axis: usize,
    /// Samples for each place.
    count: i64,
    /// Input and output extents.
    extents: (i64, i64),
    places: Val,
    /// None where there is one sample, as it is.
    weights: Option<Val>,
}

/// The result of resizing `x` along these axes to this shape, if its extents allow tables.
pub(super) fn by_tables(
    op: &mut Op,
    x: &Input,
    axes: &[(usize, Axis)],
    rule: &Rule,
    shape: &[Size],
) -> Option<()> {
    op.fast?;
    let some = shape.iter().chain(&x.shape).all(|n| n.as_constant().is_some_and(|n| n > 0));
    let mut axes = axes.to_vec();
    axes.sort_by_key(|(a, _)| *a);
    let first = axes.first().filter(|_| some)?.0;
    let mut tables = Vec::new();
    for (a, axis) in &axes {
        tables.push(table(&mut op.cx, *a, axis, rule, x.scalar()));
    }
    let (after, elem) = (op.stages(), x.elem);
    let dims = vec![1; shape.len()];
    let cx = &mut op.cx;
    let val = cx.tensor(&shape[..first], &mut |cx, at| {
        let extents = x.shape[first..].to_vec();
        resized(cx, x.at(at), extents, first, &tables, &mut |cx, value, place| {
            let value = super::storage_type::fit(cx, elem, value);
            after.apply(cx, value, &[at, place].concat(), &dims)
        })
    });
    let val = cx.release(val);
    op.result(val, elem, shape.to_vec());
    Some(())
}

/// The samples of one axis, computed at the top.
fn table(cx: &mut Cx, a: usize, axis: &Axis, rule: &Rule, scalar: Scalar) -> Table {
    let n = Size::constant(axis.output);
    let (count, _) = axis.taps(rule);
    if rule.mode == "nearest" {
        let places = cx.generate(&n, |_, i| axis.nearest(rule, &i));
        let places = cx.hold("places", places.stored());
        return Table { axis: a, count: 1, extents: (axis.input, axis.output), places, weights: None };
    }
    let taps = Size::constant(count);
    let places = cx.generate(&n, |cx, i| {
        axis.sampled(cx, rule, &i, &mut |cx, samples| cx.generate(&taps, |_, t| samples.place(&t)))
    });
    let weights = cx.generate(&n, |cx, i| {
        axis.sampled(cx, rule, &i, &mut |cx, samples| {
            cx.generate(&taps, |cx, t| samples.weight(cx, &t).to(scalar))
        })
    });
    let (places, weights) = (cx.hold("places", places.stored()), cx.hold("weights", weights.stored()));
    Table { axis: a, count, extents: (axis.input, axis.output), places, weights: Some(weights) }
}

/// Computes an element of the result from its position after the first resized axis.
type Last<'f> = &'f mut dyn FnMut(&mut Cx, Val, &[Val]) -> Val;

/// The tensor `from` resized along the last of these axes first; `first` is the axis of its first
/// dimension.
fn resized(cx: &mut Cx, from: Val, extents: Extents, first: usize, axes: &[Table], last: Last) -> Val {
    let Some((table, rest)) = axes.split_last() else {
        return cx.tensor(&extents, &mut |cx, place| last(cx, from.at(place), place));
    };
    let k = table.axis - first;
    let mut out = extents;
    out[k] = Size::constant(table.extents.1);
    let element = |cx: &mut Cx, place: &[Val]| table.sum(cx, &from, place, k);
    if rest.is_empty() {
        return cx.tensor(&out, &mut |cx, place| {
            let value = element(cx, place);
            last(cx, value, place)
        });
    }
    // lines that the axes before do not look at need not be computed
    let all_needed = rest.iter().all(|t| t.extents.1.saturating_mul(t.count) >= t.extents.0);
    let values = cx.tensor(&out, &mut |cx, place| element(cx, place));
    if !all_needed || table.weights.is_none() {
        return resized(cx, values, out, first, rest, last);
    }
    cx.bind("lines", values.stored(), |cx, lines| resized(cx, lines, out, first, rest, last))
}

impl Table {
    /// The sum of the samples for a place of the result, of which dimension `k` is resized.
    fn sum(&self, cx: &mut Cx, from: &Val, place: &[Val], k: usize) -> Val {
        let there = |at: Val| {
            let mut there = place.to_vec();
            there[k] = at;
            from.at(&there)
        };
        let i = std::slice::from_ref(&place[k]);
        let Some(weights) = &self.weights else { return there(self.places.at(i)) };
        let zero = number(weights.at(&[place[k].clone(), super::value::int(0)]).scalar(), 0.0);
        cx.fold(&Size::constant(self.count), zero, |_, t, acc| {
            let at = [place[k].clone(), t];
            acc + weights.at(&at) * there(self.places.at(&at))
        })
    }
}
