//! Normalisations: batch, layer, instance, group, root mean square, norms, local response.

use functional::Prim;
use loops::{Scalar, Size};

use super::build::{Cx, Extents, product};
use super::value::{Val, int, number, size};
use super::{Done, Input, Op, Refusal, row_sums};
use crate::types::ElementType;

/// Numbers that are summed up.
enum Numbers<'a> {
    /// Those of a box, by their places.
    Box(&'a [Size], &'a dyn Fn(&[Val]) -> Val),
    /// Those of a row of so many numbers, in partial sums of this kind.
    Row(&'a Size, Prim, &'a dyn Fn(&Val) -> Val),
}

impl Numbers<'_> {
    /// How many there are.
    fn count(&self) -> Size {
        match self {
            Numbers::Box(inner, _) => product(inner),
            Numbers::Row(n, ..) => (*n).clone(),
        }
    }

    /// The sum of what `step` adds to an accumulator for each.
    fn sum(&self, cx: &mut Cx, scalar: Scalar, step: &dyn Fn(&mut Cx, Val, Val) -> Val) -> Val {
        let zero = number(scalar, 0.0);
        match self {
            Numbers::Box(inner, element) => {
                cx.fold_all(inner, zero, &mut |cx, k, acc| step(cx, element(k), acc))
            }
            Numbers::Row(n, kind, element) => {
                row_sums::sum(cx, *kind, n, &zero, &mut |cx, k, acc| step(cx, element(&k), acc))
            }
        }
    }
}

/// Mean and variance of numbers, in two passes, for `f`.
fn moments(
    cx: &mut Cx,
    numbers: &Numbers<'_>,
    scalar: Scalar,
    f: &mut dyn FnMut(&mut Cx, Val, Val) -> Val,
) -> Val {
    let count = size(&numbers.count()).to(scalar);
    let sum = numbers.sum(cx, scalar, &|_, value, acc| acc + value);
    cx.bind("mean", sum / &count, |cx, mean| {
        let squares =
            numbers.sum(cx, scalar, &|cx, value, acc| cx.bind("d", value - &mean, |_, d| acc + &d * &d));
        cx.bind("variance", squares / &count, |cx, variance| f(cx, mean, variance))
    })
}

fn one(scalar: Scalar) -> Val {
    number(scalar, 1.0)
}

pub(super) fn batch_normalization(op: &mut Op) -> Done {
    let training = op.int("training_mode", 0) != 0;
    let x = op.ranked(0, if training { 2.. } else { 1.. })?;
    let (scale, bias) = (op.ranked(1, 1..=1)?, op.ranked(2, 1..=1)?);
    let (mean, variance) = (op.ranked(3, 1..=1)?, op.ranked(4, 1..=1)?);
    let epsilon = op.float("epsilon", 1e-5);
    let scalar = x.scalar();
    let elem = x.elem;
    let channel = |at: &[Val]| if x.rank() > 1 { at[1].clone() } else { int(0) };
    if !training {
        op.tensor(elem, &x.shape, &mut |_, at| {
            let c = [channel(at)];
            let factor = scale.at(&c) / (variance.at(&c) + number(scalar, epsilon)).sqrt();
            (x.at(at) - mean.at(&c)) * factor + bias.at(&c)
        });
        return Ok(());
    }
    let momentum = op.float("momentum", 0.9);
    let mut inner: Extents = x.shape.clone();
    inner.remove(1);
    let channels = scale.shape.clone();
    let merged = |c: &Val, k: &[Val]| [&k[..1], std::slice::from_ref(c), &k[1..]].concat();
    // mean and variance of each channel, then the results
    let statistics = op.cx.tensor(&channels, &mut |cx, c| {
        let numbers = Numbers::Box(&inner, &|k| x.at(&merged(&c[0], k)));
        moments(cx, &numbers, scalar, &mut |_, m, v| m.pair(&v))
    });
    let shape = x.shape.clone();
    let mix = |old: Val, new: Val| old * number(scalar, momentum) + new * number(scalar, 1.0 - momentum);
    let statistics = statistics.stored();
    let cx = &mut op.cx;
    let all = cx.bind("statistics", statistics, |cx, st| {
        let y = cx.tensor(&shape, &mut |_, at| {
            let c = [channel(at)];
            let s = st.at(&c);
            let factor = scale.at(&c) / (s.second() + number(scalar, epsilon)).sqrt();
            (x.at(at) - s.first()) * factor + bias.at(&c)
        });
        let new_mean = cx.tensor(&channels, &mut |_, c| mix(mean.at(c), st.at(c).first()));
        let new_variance = cx.tensor(&channels, &mut |_, c| mix(variance.at(c), st.at(c).second()));
        y.pair(&new_mean.pair(&new_variance))
    });
    several(op, all, vec![(elem, shape), (mean.elem, channels.clone()), (variance.elem, channels)])
}

/// The components of nested pairs as results.
pub(super) fn several(op: &mut Op, all: Val, types: Vec<(ElementType, Extents)>) -> Done {
    op.results_of(all, types);
    Ok(())
}

/// Dimensions before `axis` and those from it on.
fn layer(op: &mut Op, centred: bool) -> Done {
    let (x, scale) = (op.input(0)?, op.input(1)?);
    let bias = if centred { op.optional(2)? } else { None };
    let epsilon = op.float("epsilon", 1e-5);
    let axis = op.axis(op.int("axis", -1), x.rank())?;
    let (outer, inner) = (x.shape[..axis].to_vec(), x.shape[axis..].to_vec());
    let scalar = x.scalar();
    let elem = x.elem;
    let mut kept = outer.clone();
    kept.extend(vec![Size::constant(1); inner.len()]);
    let (count, lanes) = (product(&inner), row_sums::kind(op.fast.is_some()));
    // mean (or 0) and the reciprocal of the deviation of each row
    let statistics = op.cx.tensor(&outer, &mut |cx, at| {
        let row = row_sums::flat(x.at(at), inner.len());
        let element = |k: &Val| row.at(std::slice::from_ref(k));
        let numbers = Numbers::Row(&count, lanes, &element);
        if centred {
            moments(cx, &numbers, scalar, &mut |_, mean, variance| {
                let deviation = (variance + number(scalar, epsilon)).sqrt();
                mean.pair(&(one(scalar) / deviation))
            })
        } else {
            let sum = numbers.sum(cx, scalar, &|cx, value, acc| cx.bind("v", value, |_, v| acc + &v * &v));
            let square = sum / size(&count).to(scalar);
            number(scalar, 0.0).pair(&(one(scalar) / (square + number(scalar, epsilon)).sqrt()))
        }
    });
    let statistics = if outer.is_empty() { statistics } else { statistics.stored() };
    let outputs = op.call.outputs;
    let cx = &mut op.cx;
    let all = cx.bind("statistics", statistics, |cx, st| {
        let y = cx.tensor(&x.shape, &mut |cx, at| {
            let s = st.at(&at[..axis]);
            let v = x.at(at);
            let v = if centred { v - s.first() } else { v };
            let v = v * s.second();
            let v = super::storage_type::fit(cx, elem, v);
            let v = v * scale.spread(at);
            let v = match &bias {
                Some(bias) => {
                    let v = super::storage_type::fit(cx, elem, v);
                    v + bias.spread(at)
                }
                None => v,
            };
            super::storage_type::fit(cx, elem, v)
        });
        if outputs < 2 {
            return y;
        }
        let mean = cx.tensor(&kept, &mut |_, at| st.at(&at[..axis]).first());
        let inverse = cx.tensor(&kept, &mut |_, at| st.at(&at[..axis]).second());
        y.pair(&mean.pair(&inverse))
    });
    let mut types = vec![(elem, x.shape.clone())];
    if outputs >= 2 {
        types.push((ElementType::F32, kept.clone()));
        types.push((ElementType::F32, kept));
    }
    several(op, all, types)
}

pub(super) fn layer_normalization(op: &mut Op) -> Done {
    layer(op, true)
}

pub(super) fn rms_normalization(op: &mut Op) -> Done {
    layer(op, false)
}

/// Normalisation of each group of channels of each sample.
fn grouped(op: &mut Op, x: &Input, groups: i64, per_group: bool) -> Done {
    let (scale, bias) = (op.input(1)?, op.input(2)?);
    let epsilon = op.float("epsilon", 1e-5);
    let scalar = x.scalar();
    if x.rank() < 2 {
        return Err(Refusal::inputs("at least 2 dimensions are needed"));
    }
    let width = x.shape[1]
        .exact_div(&Size::constant(groups))
        .ok_or_else(|| Refusal::inputs(format!("{} channels are not {groups} groups", x.shape[1])))?;
    let count = product(&[std::slice::from_ref(&width), &x.shape[2..]].concat());
    let lanes = row_sums::kind(op.fast.is_some());
    let outer = vec![x.shape[0].clone(), Size::constant(groups)];
    let statistics = op.cx.tensor(&outer, &mut |cx, at| {
        let sample = row_sums::flat(x.at(&at[..1]), x.rank() - 1);
        let element = |k: &Val| sample.at(&[at[1].int() * size(&count) + k.int()]);
        moments(cx, &Numbers::Row(&count, lanes, &element), scalar, &mut |_, mean, variance| {
            mean.pair(&(one(scalar) / (variance + number(scalar, epsilon)).sqrt()))
        })
    });
    let elem = x.elem;
    let val = op.cx.bind("statistics", statistics.stored(), |cx, st| {
        cx.tensor(&x.shape, &mut |cx, at| {
            let group = at[1].int() / size(&width);
            let s = st.at(&[at[0].clone(), group.clone()]);
            let p = [if per_group { group } else { at[1].clone() }];
            let v = (x.at(at) - s.first()) * s.second() * scale.at(&p) + bias.at(&p);
            super::storage_type::fit(cx, elem, v)
        })
    });
    op.result(val, elem, x.shape.clone());
    Ok(())
}

pub(super) fn instance_normalization(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let Some(channels) = x.shape.get(1).and_then(Size::as_constant) else {
        return Err(Refusal::not_constant("the number of channels must be known"));
    };
    grouped(op, &x, channels, false)
}

pub(super) fn group_normalization(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let groups = op.int("num_groups", 1).max(1);
    let per_group = op.call.opset < 21;
    grouped(op, &x, groups, per_group)
}

pub(super) fn mean_variance_normalization(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let axes = op.ints("axes").unwrap_or(&[0, 2, 3]);
    let axes = op.axes(axes, x.rank())?;
    let scalar = x.scalar();
    let inner: Extents = axes.iter().map(|k| x.shape[*k].clone()).collect();
    let others: Vec<usize> = (0..x.rank()).filter(|k| !axes.contains(k)).collect();
    let outer: Extents = others.iter().map(|k| x.shape[*k].clone()).collect();
    let statistics = op.cx.tensor(&outer, &mut |cx, at| {
        let element = |k: &[Val]| {
            let mut place = vec![int(0); x.rank()];
            axes.iter().zip(k).for_each(|(d, i)| place[*d] = i.clone());
            others.iter().zip(at).for_each(|(d, i)| place[*d] = i.clone());
            x.at(&place)
        };
        moments(cx, &Numbers::Box(&inner, &element), scalar, &mut |_, mean, variance| mean.pair(&variance))
    });
    let statistics = if outer.is_empty() { statistics } else { statistics.stored() };
    let val = op.cx.bind("statistics", statistics, |cx, st| {
        cx.tensor(&x.shape, &mut |_, at| {
            let place: Vec<Val> = others.iter().map(|d| at[*d].clone()).collect();
            let s = st.at(&place);
            (x.at(at) - s.first()) / (s.second().sqrt() + number(scalar, 1e-9))
        })
    });
    op.result(val, x.elem, x.shape);
    Ok(())
}

/// Division by the norm along one axis; 0 where the norm is.
pub(super) fn lp_normalization(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let axis = op.axis(op.int("axis", -1), x.rank())?;
    let p = op.int("p", 2);
    let n = x.shape[axis].clone();
    let scalar = x.scalar();
    let val = super::reduce::along(&mut op.cx, &x, axis, &n, &mut |cx, row| {
        let norm = cx.fold(&n, number(scalar, 0.0), |cx, k, acc| {
            cx.bind("v", row.at(&[k]), |_, v| acc + if p == 1 { v.abs() } else { &v * &v })
        });
        let norm = if p == 1 { norm } else { norm.sqrt() };
        cx.bind("norm", norm, |cx, norm| {
            let zero = number(scalar, 0.0);
            cx.generate(&n, |_, i| (row.at(&[i]) / &norm).when(&norm.ne(&zero), &zero))
        })
    });
    op.result(val, x.elem, x.shape);
    Ok(())
}

/// Division by a power of the squares of neighbouring channels.
pub(super) fn lrn(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let (alpha, beta, bias) = (op.float("alpha", 1e-4), op.float("beta", 0.75), op.float("bias", 1.0));
    let width = op.int("size", 1).max(1);
    let scalar = x.scalar();
    let taps = Size::constant(width);
    let before = (width - 1) / 2;
    if x.rank() < 2 {
        return Err(Refusal::inputs("at least 2 dimensions are needed"));
    }
    op.tensor(x.elem, &x.shape, &mut |cx, at| {
        let squares = cx.fold(&taps, number(scalar, 0.0), |cx, k, acc| {
            let c = at[1].int() + k.int() - int(before);
            let inside = int(0).le(&c).and(&c.lt(&size(&x.shape[1])));
            let mut place = at.to_vec();
            place[1] = c;
            cx.bind("v", x.at(&place), |_, v| acc.clone() + (&v * &v).when(&inside, &number(scalar, 0.0)))
        });
        let base = number(scalar, bias) + number(scalar, alpha / width as f64) * squares;
        x.at(at) / base.pow(&number(scalar, beta))
    });
    Ok(())
}
