//! Windows over images for C: convolutions as matrix products of weights and patches, or row by row where groups are narrow, and pooling
//! row by row. Sums keep their order.

use functional::Prim;
use loops::{Registers, Size};

use super::after::Stages;
use super::build::{Cx, Extents, product, reshape, split_rows};
use super::convolution::Window;
use super::packing::Packed;
use super::tiles::{Product, Side, WORTH_TILES, packing};
use super::value::{Val, int, number, size};
use super::{Input, Op};

/// The convolution of all samples, if this way is worth it.
pub(super) fn convolution(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    groups: i64,
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Option<Val> {
    let filters = w.shape[0].as_constant()?;
    let taps = product(&w.shape[1..]);
    let places = product(&win.places).as_constant()?;
    let per_group = filters / groups;
    if places == 0 || per_group == 0 {
        return None;
    }
    let taps = taps.as_constant()?;
    let zero = number(x.scalar(), 0.0);
    let work = per_group.saturating_mul(taps).saturating_mul(places);
    if (per_group >= 4 || taps > MOST_TAPS) && work >= WORTH_TILES {
        // How wide the tiles are follows from the number of columns, which is not less than that of places.
        let extents = [per_group, taps, places];
        let pitches = [per_group.saturating_mul(taps), taps, 1];
        let packing = packing(registers, x.scalar(), extents, true, groups, pitches);
        let packed = op.packed(1, packing);
        let after = op.stages();
        let filters = Filters { w, groups, packed: packed.as_ref(), after: &after };
        return Some(op.cx.generate(&x.shape[0], |cx, n| {
            image(cx, x, win, &n, &zero, |cx, image| sample(cx, &image, &n, &filters, win, registers, last))
        }));
    }
    let step = |_: &mut Cx, acc: Val, value: Val, m: &Val, tap: &[i64]| {
        let place: Vec<Val> = std::iter::once(m.clone()).chain(tap.iter().copied().map(int)).collect();
        acc + value * w.at(&place)
    };
    let per = w.shape[1].as_constant()?;
    let channel = |m: &Val, c: i64| m.int() / int(per_group) * int(per) + int(c);
    let rows = Rows { channels: filters, per, channel: &channel, start: zero.clone(), step: &step, last };
    sliding(op, x, win, &zero, &rows)
}

/// Windows of more elements are not written out.
const MOST_TAPS: i64 = 64;

/// What becomes of the elements of a window: `step` for one after the other, with the accumulator, the element, the channel of the result, and the
/// channel within the group and the place in the window.
type Step<'f> = &'f dyn Fn(&mut Cx, Val, Val, &Val, &[i64]) -> Val;

/// Results that are made row by row, all elements of a row at a time.
pub(super) struct Rows<'f> {
    /// Channels of the result.
    pub(super) channels: i64,
    /// Channels of the image that one of them needs.
    pub(super) per: i64,
    /// The channel of the image with this number among them.
    pub(super) channel: &'f dyn Fn(&Val, i64) -> Val,
    /// What a row begins with.
    pub(super) start: Val,
    /// What each element of a window does.
    pub(super) step: Step<'f>,
    /// What becomes of the last accumulator, with the channel of the result.
    pub(super) last: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

/// The results of windows over all samples, row by row, if that is worth it; `fill` is what paddings are.
pub(super) fn sliding(op: &mut Op, x: &Input, win: &Window, fill: &Val, rows: &Rows) -> Option<Val> {
    let rank = win.kernel.len();
    let taps = win.kernel.iter().fold(rows.per, |n, k| n.saturating_mul(*k));
    let row = win.places.last()?.as_constant().filter(|row| *row >= 7)?;
    if taps > MOST_TAPS || x.shape[1..].iter().chain(&win.places).any(|n| n.as_constant().is_none()) {
        return None;
    }
    let after = op.stages();
    let outer: Extents = std::iter::once(Size::constant(rows.channels))
        .chain(win.places[..rank - 1].iter().cloned())
        .collect();
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        image(cx, x, win, &n, fill, |cx, image| {
            cx.tensor(&outer, &mut |cx, at| {
                cx.each(Prim::MapVec, row, |cx, l| {
                    let mut acc = rows.start.clone();
                    let mut tap = vec![0; 1 + rank];
                    for _ in 0..taps {
                        let place: Vec<Val> = at[1..].iter().map(Val::int).chain([l.int()]).collect();
                        let channel = (rows.channel)(&at[0], tap[0]);
                        let value = image.element(win, channel, &tap[1..], &place);
                        acc = (rows.step)(cx, acc, value, &at[0], &tap);
                        next(&mut tap, &win.kernel);
                    }
                    let value = (rows.last)(cx, acc, &at[0]);
                    let place = [std::slice::from_ref(&n), at, &[l]].concat();
                    after.apply(cx, value, &place, &vec![1; 2 + rank])
                })
            })
        })
    }))
}

/// The next place in a window, whose channel is first and has no end.
fn next(tap: &mut [i64], kernel: &[i64]) {
    for d in (1..tap.len()).rev() {
        tap[d] += 1;
        if tap[d] < kernel[d - 1] {
            return;
        }
        tap[d] = 0;
    }
    tap[0] += 1;
}

/// One sample as windows find it: padded, and for strides taken apart, so that where a window goes by one place, what it reads goes by one element.
struct Image {
    /// `[channels][phases …][extents …]`; element `i` of phase `p` of a dimension is `stride * i + p` of the padded sample.
    val: Val,
    extents: Vec<i64>,
    /// Whether there are phases: not in the sample itself.
    has_phases: bool,
}

impl Image {
    /// What a window at a place has at a tap.
    fn element(&self, win: &Window, channel: Val, tap: &[i64], place: &[Val]) -> Val {
        let reach = || tap.iter().zip(&win.dilations).map(|(k, d)| k * d).zip(&win.strides);
        let mut from = vec![channel];
        if self.has_phases {
            from.extend(reach().map(|(reach, stride)| int(reach % stride)));
        }
        from.extend(reach().zip(place).map(|((reach, stride), place)| place + int(reach / stride)));
        self.val.at(&from)
    }

    /// Elements from one to the next in each dimension.
    fn pitches(&self) -> Vec<i64> {
        (0..self.extents.len()).map(|d| self.extents[d + 1..].iter().product()).collect()
    }
}

/// Calls `f` with the image of sample `n`, `fill` around it; the sample itself where it has no paddings and no strides.
fn image(
    cx: &mut Cx,
    x: &Input,
    win: &Window,
    n: &Val,
    fill: &Val,
    f: impl FnOnce(&mut Cx, Image) -> Val,
) -> Val {
    let rank = win.kernel.len();
    let sample = x.at(std::slice::from_ref(n));
    let number_of = |n: &Size| n.as_constant().unwrap_or(0);
    let here: Vec<i64> = x.shape[2..].iter().map(number_of).collect();
    let reach: Vec<i64> = (0..rank).map(|d| win.dilations[d] * (win.kernel[d] - 1)).collect();
    let extents: Vec<i64> =
        (0..rank).map(|d| number_of(&win.places[d]) + reach[d] / win.strides[d]).collect();
    let plain = (0..rank).all(|d| win.strides[d] == 1 && win.before[d] == 0 && extents[d] <= here[d]);
    if plain {
        return f(cx, Image { val: sample, extents: here, has_phases: false });
    }
    let phases = (0..rank).map(|d| win.strides[d].min(reach[d] + 1));
    let shape: Extents = std::iter::once(x.shape[1].clone())
        .chain(phases.chain(extents.iter().copied()).map(Size::constant))
        .collect();
    let val = cx.tensor(&shape, &mut |_, at| {
        let mut place = vec![at[0].clone()];
        let mut inside: Option<Val> = None;
        let mut test = |condition: Val| {
            inside = Some(match inside.take() {
                Some(all) => all.and(&condition),
                None => condition,
            });
        };
        for d in 0..rank {
            let i = at[1 + rank + d].int() * int(win.strides[d]) + at[1 + d].int() - int(win.before[d]);
            if win.before[d] > 0 {
                test(int(0).le(&i));
            }
            if (extents[d] - 1) * win.strides[d] + reach[d].min(win.strides[d] - 1) - win.before[d] >= here[d]
            {
                test(i.lt(&int(here[d])));
            }
            place.push(i);
        }
        let value = sample.at(&place);
        match inside {
            Some(inside) => value.when(&inside, fill),
            None => value,
        }
    });
    cx.bind("image", val.stored(), |cx, val| f(cx, Image { val, extents, has_phases: true }))
}

/// The weights of a convolution.
struct Filters<'f> {
    w: &'f Input,
    groups: i64,
    /// Where they are stored, if not in `w`.
    packed: Option<&'f Packed>,
    /// What is done behind the convolution.
    after: &'f Stages,
}

/// All filters of one sample, as products of matrices: one a group. The columns of a product are the places of the flat image from the
/// first window to the last, those between two rows of windows too, which are left out at the end.
fn sample(
    cx: &mut Cx,
    image: &Image,
    number: &Val,
    weights: &Filters,
    win: &Window,
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Val {
    let rank = win.kernel.len();
    let Filters { w, groups, packed, after } = *weights;
    let taps = product(&w.shape[1..]);
    let places: Vec<i64> = win.places.iter().map(|n| n.as_constant().unwrap_or(0)).collect();
    let filters = w.shape[0].as_constant().unwrap_or(0);
    let per_group = filters / groups;
    let cg = w.shape[1].as_constant().unwrap_or(1);
    let pitches = image.pitches();
    let columns = 1 + (0..rank).map(|d| (places[d] - 1) * pitches[d]).sum::<i64>();
    let all_are_windows = columns == places.iter().product::<i64>();
    let flat: Extents = image.extents.iter().copied().map(Size::constant).collect();
    let group = |cx: &mut Cx, g: Val| {
        let filter = |m: &Val| if groups == 1 { m.clone() } else { &g * int(per_group) + m.int() };
        let left = |cx: &mut Cx, m: &Val, k: &Val| {
            let row = w.at(&[filter(m)]);
            reshape(cx, &row, &w.shape[1..], std::slice::from_ref(&taps)).at(std::slice::from_ref(k))
        };
        let right = |cx: &mut Cx, k: &Val, column: &Val| {
            let mut rest = k.int();
            let mut tap = Vec::new();
            for n in w.shape[2..].iter().rev() {
                tap.push(&rest % size(n));
                rest = rest / size(n);
            }
            tap.reverse();
            let mut from = vec![if groups == 1 { rest } else { &g * int(cg) + rest }];
            let mut place = column.clone();
            for d in 0..rank {
                let reach = &tap[d] * int(win.dilations[d]);
                if image.has_phases {
                    from.push(&reach % int(win.strides[d]));
                }
                place = place + reach / int(win.strides[d]) * int(pitches[d]);
            }
            let plane = image.val.at(&from);
            reshape(cx, &plane, &flat, &[product(&flat)]).at(&[place])
        };
        let with_last = |cx: &mut Cx, sum: Val, m: &Val, column: &Val| {
            if !all_are_windows {
                return sum;
            }
            let (m, dims) = (filter(m), [1, 1, rank]);
            let value = last(cx, sum, &m);
            after.apply(cx, value, &[number.clone(), m, column.clone()], &dims)
        };
        let taps = taps.as_constant().unwrap_or(0);
        let extents = [per_group, taps, columns];
        let scalar = w.scalar();
        let left = match packed {
            Some(packed) => Side::Panels(packed.matrix(&g)),
            None => Side::Elements(&left),
        };
        let right = Side::Elements(&right);
        let product = Product { extents, registers, scalar, left, right, last: &with_last }.build(cx);
        let shape: Extents = [&[Size::constant(per_group)], &win.places[..]].concat();
        if all_are_windows {
            return folded(product, &win.places);
        }
        cx.bind("product", product.stored(), |cx, product| {
            cx.tensor(&shape, &mut |cx, at| {
                let column = (0..rank).fold(int(0), |sum, d| sum + at[1 + d].int() * int(pitches[d]));
                let m = filter(&at[0]);
                let value = last(cx, product.at(&[at[0].clone(), column]), &m);
                after.apply(cx, value, &[&[number.clone(), m], &at[1..]].concat(), &vec![1; 2 + rank])
            })
        })
    };
    if groups == 1 {
        return group(cx, int(0));
    }
    let all = cx.generate(&Size::constant(groups), |cx, g| group(cx, g.int()));
    match all.term() {
        Ok(term) => functional::build::join(term).into(),
        Err(refusal) => refusal.into(),
    }
}

/// A matrix that is made row by row, with its columns as a tensor of these extents.
fn folded(matrix: Val, extents: &[Size]) -> Val {
    let flat = match matrix.term() {
        Ok(term) => Val::from(functional::build::join(term)),
        Err(refusal) => return refusal.into(),
    };
    split_rows(flat, &[&[Size::constant(1)], extents].concat())
}
