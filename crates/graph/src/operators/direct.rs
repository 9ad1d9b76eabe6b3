//! Convolutions for C: as matrix products of weights and patches, or row by row where groups are narrow. Sums keep their order.

use loops::Size;

use super::build::{Cx, Extents, fast_product, product, reshape};
use super::convolution::Window;
use super::value::{Val, int, number, size};
use super::{Input, Op};

/// The convolution of all samples, if this way is worth it.
pub(super) fn convolution(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    groups: i64,
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
            padded(cx, &elem, win, &n, |cx, image| sample(cx, &image, w, win, groups, last))
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

/// All filters of one padded sample, as products of matrices: one a group.
fn sample(
    cx: &mut Cx,
    image: &Input,
    w: &Input,
    win: &Window,
    groups: i64,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Val {
    let taps = product(&w.shape[1..]);
    let places = product(&win.places);
    let filters = w.shape[0].as_constant().unwrap_or(0);
    let per_group = Size::constant(filters / groups);
    let cg = w.shape[1].as_constant().unwrap_or(1);
    let plain = win.kernel.iter().all(|k| *k == 1) && win.strides.iter().all(|s| *s == 1);
    let group = |cx: &mut Cx, g: Val| {
        let weights = cx.generate(&per_group, |cx, m| {
            let filter = if groups == 1 { m } else { &g * int(filters / groups) + m.int() };
            let row = w.at(&[filter]);
            reshape(cx, &row, &w.shape[1..], std::slice::from_ref(&taps))
        });
        let patches = if plain && groups == 1 {
            let flat = [image.shape[0].clone(), places.clone()];
            reshape(cx, &image.val, &image.shape, &flat)
        } else {
            cx.generate(&taps, |cx, k| {
                cx.generate(&places, |_, p| {
                    let mut rest = k.int();
                    let mut inner = Vec::new();
                    for n in w.shape[2..].iter().rev() {
                        inner.push(&rest % size(n));
                        rest = rest / size(n);
                    }
                    inner.reverse();
                    let channel = &g * int(cg) + rest;
                    let mut rest = p.int();
                    let mut place = Vec::new();
                    for (d, n) in win.places.iter().enumerate().rev() {
                        place.push(if d == 0 { rest.clone() } else { &rest % size(n) });
                        rest = rest / size(n);
                    }
                    place.reverse();
                    let mut from = vec![channel];
                    from.extend(reads(win, &place, &inner));
                    image.at(&from)
                })
            })
        };
        let product = fast_product(cx, weights, patches)
            .unwrap_or_else(|| super::Refusal::internal("a product of these types").into());
        cx.bind("product", product.stored(), |cx, product| {
            let shape: Extents = [std::slice::from_ref(&per_group), &win.places[..]].concat();
            cx.tensor(&shape, &mut |cx, at| {
                let mut flat = int(0);
                for (i, n) in at[1..].iter().zip(&win.places) {
                    flat = flat * size(n) + i.int();
                }
                let m = &g * int(filters / groups) + at[0].int();
                let m = if groups == 1 { at[0].clone() } else { m };
                last(cx, product.at(&[at[0].clone(), flat]), &m)
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
