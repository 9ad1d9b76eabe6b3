//! Elements by index: gather, scatter, one-hot, and results whose size depends on the data.

use loops::Size;

use super::build::{Cx, Extents, product, reshape, scatter};
use super::elementwise::{maximum, minimum};
use super::value::{Val, int, number, size};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// An index that may count from the end.
fn wrapped(i: &Val, n: &Size) -> Val {
    let i = i.int();
    (&i + size(n)).when(&i.lt(&int(0)), &i)
}

pub(super) fn gather(op: &mut Op) -> Done {
    let (x, is) = (op.input(0)?, op.input(1)?);
    let axis = op.axis(op.int("axis", 0), x.rank())?;
    let shape: Extents = [&x.shape[..axis], &is.shape, &x.shape[axis + 1..]].concat();
    let q = is.rank();
    op.tensor_exact(x.elem, &shape, &mut |_, at| {
        let i = wrapped(&is.at(&at[axis..axis + q]), &x.shape[axis]);
        let from = [&at[..axis], &[i], &at[axis + q..]].concat();
        x.at(&from)
    });
    Ok(())
}

pub(super) fn gather_elements(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let is = op.ranked(1, x.rank()..=x.rank())?;
    let axis = op.axis(op.int("axis", 0), x.rank())?;
    let shape = is.shape.clone();
    op.tensor_exact(x.elem, &shape, &mut |_, at| {
        let mut from: Vec<Val> = at.to_vec();
        from[axis] = wrapped(&is.at(at), &x.shape[axis]);
        x.at(&from)
    });
    Ok(())
}

pub(super) fn gather_nd(op: &mut Op) -> Done {
    let (x, is) = (op.input(0)?, op.input(1)?);
    let batch = op.int("batch_dims", 0).max(0) as usize;
    let Some(last) = is.shape.last().and_then(Size::as_constant) else {
        return Err(Refusal::inputs("the last extent of the indices must be a number"));
    };
    let last = last as usize;
    if is.rank() == 0 || batch + last > x.rank() || batch >= is.rank() {
        return Err(Refusal::inputs("the indices have more parts than there are dimensions"));
    }
    let outer = is.rank() - 1;
    let shape: Extents = [&is.shape[..outer], &x.shape[batch + last..]].concat();
    op.tensor_exact(x.elem, &shape, &mut |_, at| {
        let mut from: Vec<Val> = at[..batch].to_vec();
        for k in 0..last {
            let place = [&at[..outer], &[int(k as i64)]].concat();
            from.push(wrapped(&is.at(&place), &x.shape[batch + k]));
        }
        from.extend_from_slice(&at[outer..]);
        x.at(&from)
    });
    Ok(())
}

/// What an update does to an element.
fn combine(cx: &mut Cx, reduction: &str, elem: ElementType, old: Val, new: Val) -> Val {
    let value = match reduction {
        "add" if elem == ElementType::Bool => old.or(&new),
        "mul" if elem == ElementType::Bool => old.and(&new),
        "add" => old + new,
        "mul" => old * new,
        "max" => maximum(cx, elem, new, old),
        "min" => minimum(cx, elem, new, old),
        _ => new,
    };
    super::storage_type::fit(cx, elem, value)
}

/// The elements of `base` after `count` updates in order. Update `k` has a (flat) position and a
/// value. The time is proportional to the elements plus the updates, not to their product.
fn updated(
    op: &mut Op,
    base: &Input,
    count: &Size,
    reduction: &str,
    update: &mut dyn FnMut(&mut Cx, &Val) -> (Val, Val),
) -> Val {
    let elem = base.elem;
    let n = product(&base.shape);
    if n.as_constant() == Some(0) || count.as_constant() == Some(0) {
        return op.cx.tensor(&base.shape, &mut |_, at| base.at(at));
    }
    let flat = reshape(&mut op.cx, &base.val, &base.shape, std::slice::from_ref(&n));
    let cx = &mut op.cx;
    let out = if matches!(reduction, "add" | "mul" | "max" | "min") {
        // one after the other, since a later one may meet the same element
        cx.fold(count, flat, |cx, k, acc| {
            let (place, value) = update(cx, &k);
            cx.bind("place", place.below(&n), |cx, place| {
                let next = combine(cx, reduction, elem, acc.at(std::slice::from_ref(&place)), value);
                let next = cx.single(next);
                scatter(cx.single(place), acc, next)
            })
        })
    } else {
        let places = cx.generate(count, |cx, k| update(cx, &k).0.below(&n));
        let values = cx.generate(count, |cx, k| {
            let value = update(cx, &k).1;
            super::storage_type::fit(cx, elem, value)
        });
        scatter(places, flat, values)
    };
    reshape(cx, &out, &[n], &base.shape)
}

/// A flat index from indices and extents.
fn linear(at: &[Val], shape: &[Size]) -> Val {
    at.iter().zip(shape).fold(int(0), |sum, (i, n)| sum * size(n) + i.int())
}

/// The indices of a flat place.
fn unravel(flat: &Val, shape: &[Size]) -> Vec<Val> {
    let mut rest = flat.int();
    let mut out = Vec::new();
    for (k, n) in shape.iter().enumerate().rev() {
        if k == 0 {
            out.push(rest.clone());
        } else {
            out.push(&rest % size(n));
            rest = rest / size(n);
        }
    }
    out.reverse();
    out
}

pub(super) fn scatter_elements(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let (is, updates) = (op.ranked(1, x.rank()..=x.rank())?, op.ranked(2, x.rank()..=x.rank())?);
    let axis = op.axis(op.int("axis", 0), x.rank())?;
    let reduction = op.string("reduction", "none");
    let count = product(&is.shape);
    let val = updated(op, &x, &count, reduction, &mut |_, k| {
        let at = unravel(k, &is.shape);
        let mut to = at.clone();
        to[axis] = wrapped(&is.at(&at), &x.shape[axis]);
        (linear(&to, &x.shape), updates.at(&at))
    });
    op.result(val, x.elem, x.shape);
    Ok(())
}

pub(super) fn scatter_nd(op: &mut Op) -> Done {
    let (x, is) = (op.input(0)?, op.ranked(1, 1..)?);
    let reduction = op.string("reduction", "none");
    let Some(last) = is.shape.last().and_then(Size::as_constant) else {
        return Err(Refusal::inputs("the last extent of the indices must be a number"));
    };
    let last = last as usize;
    if last > x.rank() {
        return Err(Refusal::inputs("the indices have more parts than there are dimensions"));
    }
    let outer = is.rank() - 1;
    let parts = outer + x.rank() - last;
    let updates = op.ranked(2, parts..=parts)?;
    let count = product(&updates.shape);
    let val = updated(op, &x, &count, reduction, &mut |_, k| {
        let at = unravel(k, &updates.shape);
        let mut to: Vec<Val> = (0..last)
            .map(|j| {
                let place = [&at[..outer], &[int(j as i64)]].concat();
                wrapped(&is.at(&place), &x.shape[j])
            })
            .collect();
        to.extend_from_slice(&at[outer..]);
        (linear(&to, &x.shape), updates.at(&at))
    });
    op.result(val, x.elem, x.shape);
    Ok(())
}

/// Rows of a cache replaced from a position on.
pub(super) fn tensor_scatter(op: &mut Op) -> Done {
    let past = op.ranked(0, 1..)?;
    let update = op.ranked(1, past.rank()..=past.rank())?;
    let starts = op.optional(2)?;
    let axis = op.axis(op.int("axis", -2), past.rank())?;
    let circular = op.string("mode", "linear") == "circular";
    let (long, short) = (size(&past.shape[axis]), size(&update.shape[axis]));
    op.tensor_exact(past.elem, &past.shape, &mut |cx, at| {
        let start = match &starts {
            Some(starts) => starts.at(&at[..1]).int(),
            None => int(0),
        };
        let from = at[axis].int() - start;
        let from = if circular { from % &long } else { from };
        cx.bind("from", from, |_, from| {
            let mut place = at.to_vec();
            place[axis] = from.clone();
            let inside = int(0).le(&from).and(&from.lt(&short));
            update.at(&place).when(&inside, &past.at(at))
        })
    });
    Ok(())
}

pub(super) fn one_hot(op: &mut Op) -> Done {
    let (is, values) = (op.input(0)?, op.input(2)?);
    let depth = match op.constant_numbers(1)?.as_deref() {
        Some([depth]) => *depth as i64,
        _ => return Err(Refusal::inputs("input 1 must be one number")),
    };
    let n = Size::constant(depth);
    let axis = op.axis(op.int("axis", -1), is.rank() + 1)?;
    let mut shape = is.shape.clone();
    shape.insert(axis, n.clone());
    op.tensor_exact(values.elem, &shape, &mut |_, at| {
        let mut from = at.to_vec();
        let k = from.remove(axis).int();
        let i = wrapped(&is.at(&from).int(), &n);
        values.at(&[int(1)]).when(&i.eq(&k), &values.at(&[int(0)]))
    });
    Ok(())
}

/// Where the elements of a constant are not 0.
fn nonzero(op: &Op, k: usize) -> Result<Vec<usize>, Refusal> {
    let Some(operand) = op.operand(k) else { return Err(Refusal::inputs(format!("input {k} is missing"))) };
    let Some(tensor) = operand.constant else {
        return Err(Refusal::not_constant("the length of the result depends on the data"));
    };
    let numbers =
        super::storage_type::numbers(tensor).ok_or_else(|| Refusal::types("elements that are no numbers"))?;
    Ok(numbers.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(k, _)| k).collect())
}

/// The places of `count` true values among `n`, in order: an array of numbers.
fn places(cx: &mut Cx, truths: &Val, n: &Size, count: &Size) -> Val {
    let ranks = cx.call("places_of_true", std::slice::from_ref(truths));
    cx.bind("ranks", ranks, |cx, ranks| {
        cx.generate(count, |cx, k| {
            let k = k.int();
            cx.fold(n, int(0), |_, i, acc| i.int().when(&ranks.at(std::slice::from_ref(&i)).eq(&k), &acc))
        })
    })
}

/// The size is taken from the value; the program finds the places.
pub(super) fn non_zero(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let count = Size::constant(nonzero(op, 0)?.len() as i64);
    let n = product(&x.shape);
    let flat = reshape(&mut op.cx, &x.val, &x.shape, std::slice::from_ref(&n));
    let truths = op.cx.generate(&n, |_, i| flat.at(&[i]).to(loops::Scalar::Bool));
    let found = places(&mut op.cx, &truths, &n, &count);
    let rank = Size::constant(x.rank() as i64);
    let shape = vec![rank, count];
    let val = op.cx.bind("found", found, |cx, found| {
        cx.tensor(&shape, &mut |_, at| {
            let indices = unravel(&found.at(&at[1..]), &x.shape);
            let dim = at[0].int();
            let mut all = indices.into_iter().enumerate().rev();
            let last = all.next().map_or_else(|| int(0), |(_, v)| v);
            all.fold(last, |rest, (k, v)| v.when(&dim.eq(&int(k as i64)), &rest))
        })
    });
    op.result(val, ElementType::I64, shape);
    Ok(())
}

pub(super) fn compress(op: &mut Op) -> Done {
    let (x, condition) = (op.input(0)?, op.ranked(1, 1..=1)?);
    if condition.elem != ElementType::Bool {
        return Err(Refusal::types(format!("the condition has elements of type {}", condition.elem)));
    }
    let x = match op.attribute("axis") {
        Some(_) => x,
        None => {
            let n = product(&x.shape);
            let val = reshape(&mut op.cx, &x.val, &x.shape, std::slice::from_ref(&n));
            Input { val, elem: x.elem, shape: vec![n] }
        }
    };
    let axis = op.axis(op.int("axis", 0), x.rank())?;
    let n = condition.shape[0].clone();
    let limit = x.shape[axis].as_constant().unwrap_or(i64::MAX);
    let count = Size::constant(nonzero(op, 1)?.iter().filter(|k| (**k as i64) < limit).count() as i64);
    let found = places(&mut op.cx, &condition.val, &n, &count);
    let mut shape = x.shape.clone();
    shape[axis] = count;
    let val = op.cx.bind("found", found, |cx, found| {
        cx.tensor(&shape, &mut |_, at| {
            let mut from = at.to_vec();
            from[axis] = found.at(&at[axis..=axis]);
            x.at(&from)
        })
    });
    op.result(val, x.elem, shape);
    Ok(())
}

/// Columns by index, of the domain of classical models.
pub(super) fn array_feature_extractor(op: &mut Op) -> Done {
    let (x, is) = (op.input(0)?, op.input(1)?);
    let Some(last) = x.shape.last().cloned() else { return Err(Refusal::inputs("a scalar has no columns")) };
    let count = product(&is.shape);
    let flat = reshape(&mut op.cx, &is.val, &is.shape, std::slice::from_ref(&count));
    let mut shape = x.shape.clone();
    let rank = shape.len();
    shape[rank - 1] = count;
    if rank == 1 {
        shape.insert(0, Size::constant(1));
    }
    op.tensor_exact(x.elem, &shape, &mut |_, at| {
        let (outer, k) = at.split_at(at.len() - 1);
        let mut from = if rank == 1 { Vec::new() } else { outer.to_vec() };
        from.push(wrapped(&flat.at(k), &last));
        x.at(&from)
    });
    Ok(())
}

pub(super) fn binarizer(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let threshold = number(x.scalar(), op.float("threshold", 0.0));
    op.tensor_exact(x.elem, &x.shape, &mut |_, at| {
        number(x.scalar(), 1.0).when(&x.at(at).gt(&threshold), &number(x.scalar(), 0.0))
    });
    Ok(())
}
