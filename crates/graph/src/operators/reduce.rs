//! Reductions over axes, and operators along one axis: running sums, softmax, positions of
//! extremes.

use functional::Prim;
use loops::Size;

use super::build::{Cx, Extents, product};
use super::elementwise::{maximum, minimum};
use super::line_reductions::{Lines, running};
use super::movement::axes_of;
use super::number_functions::{exp_of, log_of};
use super::storage_type::{bottom, fit, top};
use super::value::{Val, int, number, size};
use super::{Done, Input, Op, Refusal, row_sums};
use crate::types::ElementType;

/// What a reduction does: the first accumulator, one step, and what becomes of the last accumulator
/// over `n` elements.
struct Kind {
    /// Whether a step adds something to the accumulator.
    adds: bool,
    init: fn(ElementType) -> Val,
    step: fn(&mut Cx, ElementType, Val, Val) -> Val,
    last: fn(&mut Cx, ElementType, Val, &Size) -> Val,
}

fn zero(elem: ElementType) -> Val {
    number(super::carrier(elem).unwrap_or(loops::Scalar::F32), 0.0)
}

fn one(elem: ElementType) -> Val {
    number(super::carrier(elem).unwrap_or(loops::Scalar::F32), 1.0)
}

fn keep(_: &mut Cx, _: ElementType, acc: Val, _: &Size) -> Val {
    acc
}

/// The axes that are reduced; `None` if nothing is to be done at all.
fn reduced_axes(op: &Op, rank: usize) -> Result<Option<Vec<usize>>, Refusal> {
    match axes_of(op, 1)? {
        Some(axes) if !axes.is_empty() => op.axes(&axes, rank).map(Some),
        _ if op.int("noop_with_empty_axes", 0) != 0 => Ok(None),
        _ => Ok(Some((0..rank).collect())),
    }
}

/// The element of `x` at a place of the result and a place along the reduced axes.
fn merged(axes: &[usize], rank: usize, keepdims: bool, outer: &[Val], inner: &[Val]) -> Vec<Val> {
    let (mut outer, mut inner) = (outer.iter(), inner.iter());
    (0..rank)
        .map(|k| {
            if axes.contains(&k) {
                if keepdims {
                    outer.next();
                }
                inner.next().cloned().unwrap_or_else(|| int(0))
            } else {
                outer.next().cloned().unwrap_or_else(|| int(0))
            }
        })
        .collect()
}

/// The extents of the result of a reduction.
fn reduced_shape(shape: &[Size], axes: &[usize], keepdims: bool) -> Extents {
    (0..shape.len())
        .filter_map(|k| match (axes.contains(&k), keepdims) {
            (true, true) => Some(Size::constant(1)),
            (true, false) => None,
            (false, _) => Some(shape[k].clone()),
        })
        .collect()
}

fn reduce(op: &mut Op, kind: &Kind) -> Done {
    let x = op.input(0)?;
    let keepdims = op.int("keepdims", 1) != 0;
    let elem = x.elem;
    let axes = reduced_axes(op, x.rank())?.unwrap_or_default();
    let shape = reduced_shape(&x.shape, &axes, keepdims);
    let inner: Extents = axes.iter().map(|k| x.shape[*k].clone()).collect();
    let count = product(&inner);
    if let Some(val) = reduced_lines(op, &x, &axes, &shape, kind) {
        op.result(val, elem, shape);
        return Ok(());
    }
    let kept = x.rank() - axes.len();
    let rows = kind.adds && kept < x.rank() && axes.iter().all(|axis| *axis >= kept);
    let lanes = row_sums::kind(op.fast.is_some());
    op.tensor(elem, &shape, &mut |cx, at| {
        let init = (kind.init)(elem);
        let acc = if rows {
            let row = row_sums::flat(x.at(&at[..kept]), axes.len());
            row_sums::sum(cx, lanes, &count, &init, &mut |cx, k, acc| {
                cx.bind("v", row.at(&[k]), |cx, v| (kind.step)(cx, elem, v, acc))
            })
        } else {
            cx.fold_all(&inner, init, &mut |cx, k, acc| {
                let v = x.at(&merged(&axes, x.rank(), keepdims, at, k));
                cx.bind("v", v, |cx, v| (kind.step)(cx, elem, v, acc))
            })
        };
        cx.bind("total", acc, |cx, acc| (kind.last)(cx, elem, acc, &count))
    });
    Ok(())
}

/// The result of a reduction that keeps the last axes, line by line; none if going by columns is as
/// good.
fn reduced_lines(op: &mut Op, x: &Input, axes: &[usize], shape: &[Size], kind: &Kind) -> Option<Val> {
    let last = *axes.last()?;
    let outer: Extents = (0..last).filter(|k| !axes.contains(k)).map(|k| x.shape[k].clone()).collect();
    let inner: Extents = axes.iter().map(|k| x.shape[*k].clone()).collect();
    let lines = Lines::of(op, x, last, &outer)?;
    let (elem, count) = (x.elem, product(&inner));
    let cx = &mut op.cx;
    let val = cx.tensor(&outer, &mut |cx, at| {
        lines.pieces(cx, &mut |cx, first, length| {
            let starts = cx.each(Prim::MapVec, length, |_, _| (kind.init)(elem));
            let total = cx.fold_all(&inner, starts, &mut |cx, k, acc| {
                let line = merged(axes, last + 1, false, at, k);
                cx.each(Prim::MapVec, length, |cx, l| {
                    let v = lines.at(&line, &(first + l.int()));
                    cx.bind("v", v, |cx, v| (kind.step)(cx, elem, v, acc.at(&[l])))
                })
            });
            cx.bind("total", total, |cx, total| {
                cx.each(Prim::MapVec, length, |cx, l| {
                    let value = (kind.last)(cx, elem, total.at(&[l]), &count);
                    fit(cx, elem, value)
                })
            })
        })
    });
    let flat = [&outer[..], &[lines.width()]].concat();
    Some(super::build::reshape(cx, &val, &flat, shape))
}

macro_rules! reductions {
    ($adds:literal: $($name:ident = $init:expr, $step:expr, $last:expr;)*) => {
        $(pub(super) fn $name(op: &mut Op) -> Done {
            reduce(op, &Kind { adds: $adds, init: $init, step: $step, last: $last })
        })*
    };
}

reductions! { true:
    sum = zero, |_, _, v, acc| acc + v, keep;
    mean = zero, |_, _, v, acc| acc + v, |cx, elem, acc, n| {
        let n = size(n).to(acc.scalar());
        super::elementwise::arithmetic(cx, "Div", elem, acc, n)
    };
    l1 = zero, |_, _, v, acc| acc + v.abs(), keep;
    l2 = zero, |_, _, v, acc| acc + &v * &v, |_, elem, acc, _| {
        if elem.is_float() { acc.sqrt() } else { acc.to(loops::Scalar::F64).sqrt().to(acc.scalar()) }
    };
    log_sum = zero, |_, _, v, acc| acc + v, |cx, _, acc, _| log_of(cx, &acc);
    sum_square = zero, |_, _, v, acc| acc + &v * &v, keep;
}

reductions! { false:
    product_of = one, |_, _, v, acc| acc * v, keep;
    max = bottom, |cx, elem, v, acc| maximum(cx, elem, v, acc), keep;
    min = top, |cx, elem, v, acc| minimum(cx, elem, v, acc), keep;
}

/// The largest element is taken off before the exponentials, so that nothing overflows.
pub(super) fn log_sum_exp(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let keepdims = op.int("keepdims", 1) != 0;
    let elem = x.elem;
    let axes = reduced_axes(op, x.rank())?.unwrap_or_default();
    let shape = reduced_shape(&x.shape, &axes, keepdims);
    let inner: Extents = axes.iter().map(|k| x.shape[*k].clone()).collect();
    let infinity = number(x.scalar(), f64::INFINITY);
    op.tensor(elem, &shape, &mut |cx, at| {
        let element = |k: &[Val]| x.at(&merged(&axes, x.rank(), keepdims, at, k));
        let largest = cx.fold_all(&inner, bottom(elem), &mut |_, k, acc| element(k).max(&acc));
        cx.bind("largest", largest, |cx, largest| {
            let finite = largest.abs().lt(&infinity);
            cx.bind("base", largest.when(&finite, &number(largest.scalar(), 0.0)), |cx, base| {
                let total =
                    cx.fold_all(&inner, zero(elem), &mut |_, k, acc| acc + (element(k) - &base).exp());
                total.log() + base
            })
        })
    });
    Ok(())
}

/// The row of `x` along an axis through a place of the other axes.
pub(super) fn row(cx: &mut Cx, x: &Input, axis: usize, others: &[Val]) -> Val {
    if axis + 1 == x.rank() {
        return x.at(others);
    }
    let n = x.shape[axis].clone();
    cx.generate(&n, |_, k| {
        let mut at = others.to_vec();
        at.insert(axis, k);
        x.at(&at)
    })
}

/// The tensor whose rows along `axis` are `f` of those of `x`; `n` is their new length.
pub(super) fn along(
    cx: &mut Cx,
    x: &Input,
    axis: usize,
    n: &Size,
    f: &mut dyn FnMut(&mut Cx, Val) -> Val,
) -> Val {
    let mut others = x.shape.clone();
    others.remove(axis);
    let rows = cx.tensor(&others, &mut |cx, at| {
        let row = row(cx, x, axis, at);
        f(cx, row)
    });
    if axis + 1 == x.rank() {
        return rows;
    }
    let mut shape = x.shape.clone();
    shape[axis] = n.clone();
    cx.bind("rows", rows.stored(), |cx, rows| {
        cx.tensor(&shape, &mut |_, at| {
            let mut from = at.to_vec();
            let k = from.remove(axis);
            from.push(k);
            rows.at(&from)
        })
    })
}

/// A program of the library on each row, fitted to the element type.
fn rows(op: &mut Op, name: &str, default_axis: i64) -> Done {
    let x = op.input(0)?;
    if x.rank() == 0 {
        return Err(Refusal::inputs("there is no axis"));
    }
    // before version 13, everything from the axis on was one row
    if op.call.opset < 13 {
        let axis = op.int("axis", 1);
        let axis = if axis == x.rank() as i64 { x.rank() } else { op.axis(axis, x.rank())? };
        let flat = vec![product(&x.shape[..axis]), product(&x.shape[axis..])];
        let matrix = super::build::reshape(&mut op.cx, &x.val, &x.shape, &flat);
        let flat_input = Input { val: matrix, elem: x.elem, shape: flat.clone() };
        let result = along(&mut op.cx, &flat_input, 1, &flat[1], &mut |cx, row| cx.call(name, &[row]));
        let val = super::build::reshape(&mut op.cx, &result, &flat, &x.shape);
        op.result(val, x.elem, x.shape);
        return Ok(());
    }
    let axis = op.axis(op.int("axis", default_axis), x.rank())?;
    let n = x.shape[axis].clone();
    let elem = x.elem;
    let val = along(&mut op.cx, &x, axis, &n, &mut |cx, row| row_program(cx, name, elem, &n, row));
    op.result(val, elem, x.shape);
    Ok(())
}

/// A program of the library on a row. Softmax of narrow types is rounded after each step, as its
/// definition by other operators is.
fn row_program(cx: &mut Cx, name: &str, elem: ElementType, n: &Size, row: Val) -> Val {
    if name == "softmax" && elem.scalar().is_none() {
        return narrow_softmax(cx, elem, n, row);
    }
    let result = cx.call(name, &[row]);
    fitted(cx, elem, n, result)
}

/// Exponentials divided by their sum, each step rounded to the element type.
pub(super) fn narrow_softmax(cx: &mut Cx, elem: ElementType, n: &Size, row: Val) -> Val {
    let largest = cx.fold(n, bottom(elem), |_, k, acc| row.at(&[k]).max(&acc));
    cx.bind("largest", largest, |cx, largest| {
        let exps = cx.generate(n, |cx, k| {
            let shifted = fit(cx, elem, row.at(&[k]) - &largest);
            let e = exp_of(cx, &shifted);
            fit(cx, elem, e)
        });
        cx.bind("exps", exps.stored(), |cx, exps| {
            // sums of half precision are kept in single precision, as everywhere; the other types
            // round each step
            let each = elem != ElementType::F16;
            let total = cx.fold(n, zero(elem), |cx, k, acc| {
                let sum = acc + exps.at(&[k]);
                if each { fit(cx, elem, sum) } else { sum }
            });
            let total = fit(cx, elem, total);
            cx.bind("total", total, |cx, total| cx.generate(n, |cx, k| fit(cx, elem, exps.at(&[k]) / &total)))
        })
    })
}

/// A row whose elements are fitted to the element type, where that does anything.
fn fitted(cx: &mut Cx, elem: ElementType, n: &Size, row: Val) -> Val {
    if elem.scalar().is_some() {
        return row;
    }
    cx.bind("row", row, |cx, row| {
        cx.generate(n, |cx, i| {
            let v = row.at(&[i]);
            fit(cx, elem, v)
        })
    })
}

/// `n` numbers put together by an operation that may take them in any order, in vectors.
pub(super) fn in_lanes(
    cx: &mut Cx,
    (n, lanes): (i64, i64),
    start: &Val,
    element: &dyn Fn(&Val) -> Val,
    step: &dyn Fn(&Val, &Val) -> Val,
) -> Val {
    let (vectors, rest) = (n / lanes, n % lanes);
    if vectors < 2 {
        return cx.fold(&Size::constant(n), start.clone(), |_, k, acc| step(&element(&k), &acc));
    }
    let starts = cx.each(Prim::MapVec, lanes, |_, _| start.clone());
    let each = cx.fold(&Size::constant(vectors), starts, |cx, k, acc| {
        cx.each(Prim::MapVec, lanes, |_, l| {
            step(&element(&(k.int() * int(lanes) + l.int())), &acc.at(std::slice::from_ref(&l)))
        })
    });
    cx.bind("each", each, |cx, each| {
        let parts = (0..lanes).map(|l| each.at(&[int(l)])).collect();
        in_pairs(cx, parts, step, &mut |cx, of_all| {
            cx.fold(&Size::constant(rest), of_all, |_, k, acc| {
                step(&element(&(k.int() + int(vectors * lanes))), &acc)
            })
        })
    })
}

/// `last` of what numbers give together: of two at a time, until one is left.
fn in_pairs(
    cx: &mut Cx,
    parts: Vec<Val>,
    step: &dyn Fn(&Val, &Val) -> Val,
    last: &mut dyn FnMut(&mut Cx, Val) -> Val,
) -> Val {
    fn pairs(
        cx: &mut Cx,
        (parts, mut done): (&[Val], Vec<Val>),
        step: &dyn Fn(&Val, &Val) -> Val,
        last: &mut dyn FnMut(&mut Cx, Val) -> Val,
    ) -> Val {
        match parts {
            [a, b, rest @ ..] => cx.bind("both", step(a, b), |cx, both| {
                done.push(both);
                pairs(cx, (rest, done), step, last)
            }),
            rest => {
                done.extend_from_slice(rest);
                in_pairs(cx, done, step, last)
            }
        }
    }
    match &parts[..] {
        [one] => last(cx, one.clone()),
        parts => pairs(cx, (parts, Vec::new()), step, last),
    }
}

pub(super) fn softmax(op: &mut Op) -> Done {
    if super::softmax::rows(op, false)? { Ok(()) } else { rows(op, "softmax", -1) }
}

pub(super) fn log_softmax(op: &mut Op) -> Done {
    if super::softmax::rows(op, true)? { Ok(()) } else { rows(op, "log_softmax", -1) }
}

pub(super) fn hardmax(op: &mut Op) -> Done {
    rows(op, "hardmax", -1)
}

fn arg(op: &mut Op, first: &str, last: &str) -> Done {
    let x = op.input(0)?;
    if x.rank() == 0 {
        op.result(int(0), ElementType::I64, vec![]);
        return Ok(());
    }
    if x.elem == ElementType::U64 || x.elem == ElementType::Bool {
        return Err(Refusal::types(format!("the order of {} is not supported", x.elem)));
    }
    let axis = op.axis(op.int("axis", 0), x.rank())?;
    let keepdims = op.int("keepdims", 1) != 0;
    let name = if op.int("select_last_index", 0) != 0 { last } else { first };
    let shape = reduced_shape(&x.shape, &[axis], keepdims);
    op.tensor_exact(ElementType::I64, &shape, &mut |cx, at| {
        let mut others = at.to_vec();
        if keepdims {
            others.remove(axis);
        }
        let row = row(cx, &x, axis, &others);
        cx.call(name, &[row])
    });
    Ok(())
}

pub(super) fn arg_max(op: &mut Op) -> Done {
    arg(op, "first_largest", "last_largest")
}

pub(super) fn arg_min(op: &mut Op) -> Done {
    arg(op, "first_least", "last_least")
}

fn cumulative(op: &mut Op, name: &str, start: f64) -> Done {
    let x = op.input(0)?;
    let axis = match op.constant_ints(1)?.as_deref() {
        Some([axis]) => op.axis(*axis, x.rank())?,
        _ => return Err(Refusal::inputs("input 1 must be one axis")),
    };
    let (exclusive, reverse) = (op.int("exclusive", 0) != 0, op.int("reverse", 0) != 0);
    let n = x.shape[axis].clone();
    let scalar = x.scalar();
    let elem = x.elem;
    if !reverse {
        let step = |acc: Val, v: Val| if name == "running_sum" { acc + v } else { acc * v };
        if let Some(val) = running(op, &x, axis, exclusive, &number(scalar, start), &step) {
            op.result(val, x.elem, x.shape);
            return Ok(());
        }
    }
    let val = along(&mut op.cx, &x, axis, &n, &mut |cx, row| {
        let mirrored = |cx: &mut Cx, row: Val| match reverse {
            true => cx.generate(&n, |_, i| row.at(&[size(&n) - int(1) - i.int()])),
            false => row,
        };
        let input = mirrored(cx, row);
        let sums = cx.call(name, &[input]);
        cx.bind("sums", sums, |cx, sums| {
            let shifted = match exclusive {
                true => cx.generate(&n, |_, i| {
                    let before = sums.at(&[i.int() - int(1)]);
                    number(scalar, start).when(&i.int().eq(&int(0)), &before)
                }),
                false => sums,
            };
            let out = mirrored(cx, shifted);
            fitted(cx, elem, &n, out)
        })
    });
    op.result(val, x.elem, x.shape);
    Ok(())
}

pub(super) fn cum_sum(op: &mut Op) -> Done {
    cumulative(op, "running_sum", 0.0)
}

pub(super) fn cum_prod(op: &mut Op) -> Done {
    cumulative(op, "running_product", 1.0)
}

pub(super) fn global_pool(op: &mut Op, largest: bool) -> Done {
    let x = op.input(0)?;
    if x.rank() < 2 {
        return Err(Refusal::inputs("at least 2 dimensions are needed"));
    }
    let elem = x.elem;
    let inner: Extents = x.shape[2..].to_vec();
    let mut shape = x.shape[..2].to_vec();
    shape.extend(vec![Size::constant(1); inner.len()]);
    let count = size(&product(&inner)).to(x.scalar());
    let lanes = row_sums::kind(op.fast.is_some());
    op.tensor(elem, &shape, &mut |cx, at| {
        if largest || inner.is_empty() {
            let init = if largest { bottom(elem) } else { zero(elem) };
            return cx.fold_all(&inner, init, &mut |cx, k, acc| {
                let v = x.at(&[&at[..2], k].concat());
                if largest { maximum(cx, elem, v, acc) } else { acc + v }
            });
        }
        let row = row_sums::flat(x.at(&at[..2]), inner.len());
        let total =
            row_sums::sum(cx, lanes, &product(&inner), &zero(elem), &mut |_, k, acc| acc + row.at(&[k]));
        total / &count
    });
    Ok(())
}
