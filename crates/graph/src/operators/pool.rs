//! Pooling: the maximum, the mean or the norm of windows.

use loops::Size;

use super::build::{Cx, Extents};
use super::convolution::{numbers, window};
use super::elementwise::maximum;
use super::separable::separable;
use super::sliding::{Rows, sliding};
use super::storage_type::bottom;
use super::value::{Val, int, number, size};
use super::{Done, Op, Refusal};
use crate::types::ElementType;

/// The maximum of a value and of the largest value before it; NaN if one of them is. Both are bound
/// to names, because they are used more than once.
fn larger(cx: &mut Cx, elem: ElementType, value: Val, acc: Val) -> Val {
    cx.bind("v", value, |cx, v| cx.bind("most", acc, |cx, most| maximum(cx, elem, v, most)))
}

fn kernel(op: &Op) -> Result<Vec<i64>, Refusal> {
    op.ints("kernel_shape").map(<[i64]>::to_vec).ok_or_else(|| Refusal::inputs("`kernel_shape` is missing"))
}

pub(super) fn max_pool(op: &mut Op) -> Done {
    let x = op.ranked(0, 2..)?;
    let image = x.shape[2..].to_vec();
    let win = window(op, &image, kernel(op)?)?;
    let shape: Extents = [&x.shape[..2], &win.places[..]].concat();
    let elem = x.elem;
    let inner = win.extents();
    let low = bottom(elem);
    if op.fast.is_some()
        && op.call.outputs <= 1
        && let Some(val) = separable(op, &x, &win, &low, &|cx, value, acc| larger(cx, elem, value, acc))
    {
        op.result(val, elem, shape);
        return Ok(());
    }
    if op.fast.is_some()
        && op.call.outputs <= 1
        && let Some(channels) = x.shape.get(1).and_then(Size::as_constant)
    {
        let rows = Rows {
            channels,
            per: 1,
            channel: &|c, _| c.clone(),
            alone: true,
            start: low.clone(),
            step: &|cx, acc, value, _, _| larger(cx, elem, value, acc),
            last: &|_, acc, _| acc,
        };
        if let Some(val) = sliding(op, &x, &win, &low, &rows) {
            op.result(val, elem, shape);
            return Ok(());
        }
    }
    op.tensor_exact(elem, &shape, &mut |cx, at| {
        cx.fold_all(&inner, low.clone(), &mut |cx, k, acc| {
            let (place, inside) = win.element(&image, &at[2..], k);
            let value = x.at(&[&at[..2], &place].concat());
            let value = match inside {
                Some(inside) => value.when(&inside, &low),
                None => value,
            };
            larger(cx, elem, value, acc)
        })
    });
    if op.call.outputs > 1 {
        let columns = op.int("storage_order", 0) != 0;
        let sizes = numbers(&x.shape)?;
        let rank = image.len();
        let val = op.cx.tensor(&shape, &mut |cx, at| {
            let start = low.pair(&int(-1));
            let best = cx.fold_all(&inner, start, &mut |cx, k, acc| {
                let (place, inside) = win.element(&image, &at[2..], k);
                let value = x.at(&[&at[..2], &place].concat());
                let mut flat = at[0].int() * int(sizes[1]) + at[1].int();
                let order: Vec<usize> = if columns { (0..rank).rev().collect() } else { (0..rank).collect() };
                for d in order {
                    flat = flat * int(sizes[2 + d]) + place[d].clone();
                }
                cx.bind("v", value, |_, value| {
                    let best = acc.first();
                    let larger = value.gt(&best).or(&value.ne(&value).and(&best.eq(&best)));
                    let better = acc.second().lt(&int(0)).or(&larger);
                    let better = match &inside {
                        Some(inside) => inside.and(&better),
                        None => better,
                    };
                    value.pair(&flat).when(&better, &acc)
                })
            });
            best.second()
        });
        op.result(val, ElementType::I64, shape);
    }
    Ok(())
}

pub(super) fn average_pool(op: &mut Op) -> Done {
    let x = op.ranked(0, 2..)?;
    let image = x.shape[2..].to_vec();
    let win = window(op, &image, kernel(op)?)?;
    let with_padding = op.int("count_include_pad", 0) != 0;
    let shape: Extents = [&x.shape[..2], &win.places[..]].concat();
    let inner = win.extents();
    let zero = number(x.scalar(), 0.0);
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let sum = cx.fold_all(&inner, zero.clone(), &mut |_, k, acc| {
            let (place, inside) = win.element(&image, &at[2..], k);
            let value = x.at(&[&at[..2], &place].concat());
            acc + match inside {
                Some(inside) => value.when(&inside, &zero),
                None => value,
            }
        });
        // how many elements of the window count: a product over the dimensions
        let mut count = int(1);
        for d in 0..image.len() {
            let taps = Size::constant(win.kernel[d]);
            let start = at[2 + d].int() * int(win.strides[d]) - int(win.before[d]);
            let (low, high) = match with_padding {
                true => (int(-win.before[d]), size(&image[d]) + int(win.after[d])),
                false => (int(0), size(&image[d])),
            };
            let here = match (with_padding, win.before[d], win.after[d], op_ceil(&win, &image, d)) {
                (true, _, _, false) | (false, 0, 0, false) => int(win.kernel[d]),
                _ => cx.fold(&taps, int(0), |_, k, acc| {
                    let i = &start + k.int() * int(win.dilations[d]);
                    (&acc + int(1)).when(&low.le(&i).and(&i.lt(&high)), &acc)
                }),
            };
            count = count * here;
        }
        sum / count.to(x.scalar())
    });
    Ok(())
}

/// Whether the last window goes beyond the padded image.
fn op_ceil(win: &super::convolution::Window, image: &[Size], d: usize) -> bool {
    match (image[d].as_constant(), win.places[d].as_constant()) {
        (Some(n), Some(count)) => {
            (count - 1) * win.strides[d] + win.dilations[d] * (win.kernel[d] - 1) - win.before[d]
                >= n + win.after[d]
        }
        _ => false,
    }
}

fn lp(op: &mut Op, shape: Extents, element: &dyn Fn(&[Val], &[Val]) -> Val, inner: Extents) -> Done {
    let x = op.input(0)?;
    let p = op.attribute("p").and_then(|a| a.int().map(|p| p as f64).or_else(|| a.float().map(f64::from)));
    let p = p.unwrap_or(2.0);
    let exponent = number(x.scalar(), p);
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let sum = cx.fold_all(&inner, number(x.scalar(), 0.0), &mut |cx, k, acc| {
            cx.bind("v", element(at, k), |_, v| {
                acc + if p == 2.0 {
                    &v * &v
                } else if p == 1.0 {
                    v.abs()
                } else {
                    v.abs().pow(&exponent)
                }
            })
        });
        if p == 2.0 {
            sum.sqrt()
        } else if p == 1.0 {
            sum
        } else {
            sum.pow(&(number(x.scalar(), 1.0) / &exponent))
        }
    });
    Ok(())
}

pub(super) fn lp_pool(op: &mut Op) -> Done {
    let x = op.ranked(0, 2..)?;
    let image = x.shape[2..].to_vec();
    let win = window(op, &image, kernel(op)?)?;
    let shape: Extents = [&x.shape[..2], &win.places[..]].concat();
    let inner = win.extents();
    let zero = number(x.scalar(), 0.0);
    lp(
        op,
        shape,
        &|at, k| {
            let (place, inside) = win.element(&image, &at[2..], k);
            let value = x.at(&[&at[..2], &place].concat());
            match inside {
                Some(inside) => value.when(&inside, &zero),
                None => value,
            }
        },
        inner,
    )
}

pub(super) fn global_lp_pool(op: &mut Op) -> Done {
    let x = op.ranked(0, 2..)?;
    let inner = x.shape[2..].to_vec();
    let mut shape = x.shape[..2].to_vec();
    shape.extend(vec![Size::constant(1); inner.len()]);
    lp(op, shape, &|at, k| x.at(&[&at[..2], k].concat()), inner)
}

pub(super) fn global_average_pool(op: &mut Op) -> Done {
    super::reduce::global_pool(op, false)
}

pub(super) fn global_max_pool(op: &mut Op) -> Done {
    super::reduce::global_pool(op, true)
}

/// Values put back at the places that pooling took them from; 0 elsewhere.
pub(super) fn max_unpool(op: &mut Op) -> Done {
    let kernel = kernel(op)?;
    let rank = kernel.len();
    let (x, is) = (op.ranked(0, rank + 2..=rank + 2)?, op.ranked(1, rank + 2..=rank + 2)?);
    let sizes = numbers(&x.shape)?;
    let strides = op.ints("strides").map_or_else(|| vec![1; rank], <[i64]>::to_vec);
    let pads = op.ints("pads").map_or_else(|| vec![0; 2 * rank], <[i64]>::to_vec);
    if strides.len() != rank || pads.len() != 2 * rank {
        return Err(Refusal::inputs("an attribute has another number of dimensions"));
    }
    for number in kernel.iter().chain(&strides).chain(&pads) {
        op.moderate("an attribute", *number)?;
    }
    let natural: Vec<i64> = sizes[..2]
        .iter()
        .copied()
        .chain((0..rank).map(|d| (sizes[2 + d] - 1) * strides[d] + kernel[d] - pads[d] - pads[rank + d]))
        .collect();
    let out = op.constant_ints(2)?.unwrap_or_else(|| natural.clone());
    if out.len() != rank + 2 {
        return Err(Refusal::inputs("input 2 has another number of dimensions"));
    }
    let shape: Extents = out.iter().map(|n| Size::constant(*n)).collect();
    let inner: Extents = x.shape.clone();
    let zero = number(x.scalar(), 0.0);
    op.tensor_exact(x.elem, &shape, &mut |cx, at| {
        // an index counts the places of the image that pooling saw
        let mut flat = int(0);
        let mut inside = super::value::truth(true);
        for (d, i) in at.iter().enumerate() {
            flat = flat * int(natural[d]) + i.int();
            if natural[d] < out[d] {
                inside = inside.and(&i.int().lt(&int(natural[d])));
            }
        }
        let found =
            cx.fold_all(&inner, zero.clone(), &mut |_, k, acc| x.at(k).when(&is.at(k).eq(&flat), &acc));
        found.when(&inside, &zero)
    });
    Ok(())
}
