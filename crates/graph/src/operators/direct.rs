//! Convolutions for C: as matrix products of weights and patches, or row by row where groups are narrow. Sums keep their order.

use loops::Size;

use super::build::{Cx, Extents, product, reshape};
use super::convolution::Window;
use super::tiles::{Product, Registers};
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
    let by_products =
        per_group >= 4 && per_group.saturating_mul(taps.as_constant()?).saturating_mul(places) >= 1 << 15;
    let elem = Input { val: x.val.clone(), elem: x.elem, shape: x.shape.clone() };
    if by_products {
        return Some(op.cx.generate(&x.shape[0], |cx, n| {
            image(cx, &elem, win, &n, |cx, image| sample(cx, &image, w, win, groups, registers, last))
        }));
    }
    let row = *win.places.last()?.as_constant().filter(|n| *n >= 8).as_ref()?;
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        padded(cx, &elem, win, &n, |cx, image| rows(cx, &image, w, win, groups, row, last))
    }))
}

/// One sample with its paddings in memory, so that reading needs no test; without paddings, the sample itself.
fn padded(cx: &mut Cx, x: &Input, win: &Window, n: &Val, f: impl FnOnce(&mut Cx, Input) -> Val) -> Val {
    let sample = x.at(std::slice::from_ref(n));
    let rank = win.kernel.len();
    let mut extents: Extents = vec![x.shape[1].clone()];
    let mut needed = false;
    for d in 0..rank {
        let reach = match win.places[d].as_constant() {
            Some(count) => (count - 1) * win.strides[d] + win.dilations[d] * (win.kernel[d] - 1) + 1,
            None => 0,
        };
        let here = x.shape[1 + 1 + d].as_constant().unwrap_or(0);
        needed |= win.before[d] > 0 || reach > here;
        extents.push(Size::constant(reach.max(1)));
    }
    let shape: Extents = x.shape[1..].to_vec();
    if !needed {
        return f(cx, Input { val: sample, elem: x.elem, shape });
    }
    let zero = number(x.scalar(), 0.0);
    let image = cx.tensor(&extents, &mut |_, at| {
        let mut place = vec![at[0].clone()];
        let mut inside: Option<Val> = None;
        for d in 0..rank {
            let i = at[1 + d].int() - int(win.before[d]);
            let test = int(0).le(&i).and(&i.lt(&size(&shape[1 + d])));
            inside = Some(match inside {
                Some(all) => all.and(&test),
                None => test,
            });
            place.push(i);
        }
        let value = sample.at(&place);
        match inside {
            Some(inside) => value.when(&inside, &zero),
            None => value,
        }
    });
    let elem = x.elem;
    cx.bind("image", image.stored(), |cx, val| f(cx, Input { val, elem, shape: extents }))
}

/// Where tap `k` of the window at `place` reads in a padded image.
fn reads(win: &Window, place: &[Val], k: &[Val]) -> Vec<Val> {
    (0..win.kernel.len())
        .map(|d| place[d].int() * int(win.strides[d]) + k[d].int() * int(win.dilations[d]))
        .collect()
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
    /// Elements from one to the next in each dimension.
    fn pitches(&self) -> Vec<i64> {
        (0..self.extents.len()).map(|d| self.extents[d + 1..].iter().product()).collect()
    }
}

/// Calls `f` with the image of sample `n`; the sample itself where it has no paddings and no strides.
fn image(cx: &mut Cx, x: &Input, win: &Window, n: &Val, f: impl FnOnce(&mut Cx, Image) -> Val) -> Val {
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
    let zero = number(x.scalar(), 0.0);
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
            Some(inside) => value.when(&inside, &zero),
            None => value,
        }
    });
    cx.bind("image", val.stored(), |cx, val| f(cx, Image { val, extents, has_phases: true }))
}

/// All filters of one sample, as products of matrices: one a group. The columns of a product are the places of the flat image from the
/// first window to the last, those between two rows of windows too, which are left out at the end.
fn sample(
    cx: &mut Cx,
    image: &Image,
    w: &Input,
    win: &Window,
    groups: i64,
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Val {
    let rank = win.kernel.len();
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
        let with_last = |cx: &mut Cx, sum: Val, m: &Val, _: &Val| {
            if all_are_windows { last(cx, sum, &filter(m)) } else { sum }
        };
        let taps = taps.as_constant().unwrap_or(0);
        let extents = [per_group, taps, columns];
        let scalar = w.scalar();
        let product =
            Product { extents, registers, scalar, left: &left, right: &right, last: &with_last }.build(cx);
        let shape: Extents = [&[Size::constant(per_group)], &win.places[..]].concat();
        if all_are_windows {
            return folded(product, &win.places);
        }
        cx.bind("product", product.stored(), |cx, product| {
            cx.tensor(&shape, &mut |cx, at| {
                let column = (0..rank).fold(int(0), |sum, d| sum + at[1 + d].int() * int(pitches[d]));
                last(cx, product.at(&[at[0].clone(), column]), &filter(&at[0]))
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
    let mut flat = match matrix.term() {
        Ok(term) => Val::from(functional::build::join(term)),
        Err(refusal) => return refusal.into(),
    };
    for n in extents.iter().rev() {
        // A temporary that is made where it is wanted takes no memory; it keeps the split from being one of what is read.
        flat = match flat.stored().term() {
            Ok(term) => functional::build::split(n.clone(), term).into(),
            Err(refusal) => return refusal.into(),
        };
    }
    flat
}

/// All filters of one padded sample, row by row: the accumulator is a row of the result.
fn rows(
    cx: &mut Cx,
    image: &Input,
    w: &Input,
    win: &Window,
    groups: i64,
    row: i64,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Val {
    let rank = win.kernel.len();
    let filters = w.shape[0].as_constant().unwrap_or(0);
    let cg = w.shape[1].as_constant().unwrap_or(1);
    let outer: Extents = [std::slice::from_ref(&w.shape[0]), &win.places[..rank - 1]].concat();
    let width = Size::constant(row);
    let scalar = image.scalar();
    cx.tensor(&outer, &mut |cx, at| {
        let zeros = cx.generate(&width, |_, _| number(scalar, 0.0));
        let sums = cx.fold_all(&w.shape[1..], zeros, &mut |cx, k, acc| {
            let channel = at[0].int() / int(filters / groups) * int(cg) + k[0].int();
            let weight = w.at(&[&at[..1], k].concat());
            cx.bind("weight", weight, |cx, weight| {
                cx.generate(&width, |_, i| {
                    let place = [&at[1..], std::slice::from_ref(&i)].concat();
                    let mut from = vec![channel];
                    from.extend(reads(win, &place, &k[1..]));
                    acc.at(&[i]) + image.at(&from) * weight
                })
            })
        });
        cx.bind("sums", sums, |cx, sums| {
            cx.generate(&width, |cx, i| {
                let value = sums.at(&[i]);
                last(cx, value, &at[0])
            })
        })
    })
}
