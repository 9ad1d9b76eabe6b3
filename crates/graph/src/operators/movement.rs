//! Operators that only move, repeat or create elements: shapes, slices, paddings, concatenations,
//! constants.

use loops::Size;

use super::build::{Cx, Extents, broadcast, product, reshape};
use super::value::{Val, int, number, size, truth};
use super::{Done, Input, Op, Refusal};

/// The result is input 0 with other extents.
fn reshaped(op: &mut Op, shape: Extents) -> Done {
    let x = op.input(0)?;
    let (from, to) = (product(&x.shape), product(&shape));
    if from != to {
        return Err(Refusal::inputs(format!("{from} elements do not fill a tensor of {to}")));
    }
    let val = reshape(&mut op.cx, &x.val, &x.shape, &shape);
    op.view = Some(0);
    op.result(val, x.elem, shape);
    Ok(())
}

pub(super) fn reshape_op(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let sizes = |ints: &[i64]| ints.iter().copied().map(Size::constant).collect::<Extents>();
    let wanted = op.size_elements(1)?.or_else(|| op.ints("shape").map(sizes));
    let wanted = wanted.ok_or_else(|| Refusal::inputs("input 1 is missing"))?;
    let zero_copies = op.int("allowzero", 0) == 0;
    let mut shape: Extents = Vec::new();
    let mut open = None;
    for (k, n) in wanted.iter().enumerate() {
        shape.push(match n.as_constant() {
            Some(-1) if open.is_none() => {
                open = Some(k);
                Size::constant(1)
            }
            Some(0) if zero_copies => match x.shape.get(k) {
                Some(n) => n.clone(),
                None => return Err(Refusal::inputs(format!("there is no extent {k} to copy"))),
            },
            Some(n) if n < 0 => return Err(Refusal::inputs(format!("the extent {n} is negative"))),
            _ => n.clone(),
        });
    }
    if let Some(k) = open {
        let (all, rest) = (product(&x.shape), product(&shape));
        shape[k] = match (all.as_constant(), rest.as_constant()) {
            (Some(_), Some(0)) => Size::constant(0),
            (Some(a), Some(r)) if a % r == 0 => Size::constant(a / r),
            _ => all.exact_div(&rest).ok_or_else(|| {
                Refusal::inputs(format!("{all} elements do not divide into rows of {rest}"))
            })?,
        };
    }
    reshaped(op, shape)
}

pub(super) fn flatten(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let axis = op.int("axis", 1);
    let axis = if axis == x.rank() as i64 { x.rank() } else { op.axis(axis, x.rank().max(1))? };
    let shape = vec![product(&x.shape[..axis]), product(&x.shape[axis..])];
    reshaped(op, shape)
}

/// Axes from input `k` or the attribute `axes`.
pub(super) fn axes_of(op: &Op, k: usize) -> Result<Option<Vec<i64>>, Refusal> {
    Ok(match op.constant_ints(k)? {
        Some(axes) => Some(axes),
        None => op.ints("axes").map(<[i64]>::to_vec),
    })
}

pub(super) fn squeeze(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let one = Size::constant(1);
    let axes = match axes_of(op, 1)? {
        Some(axes) => op.axes(&axes, x.rank())?,
        None => (0..x.rank()).filter(|k| x.shape[*k] == one).collect(),
    };
    if let Some(k) = axes.iter().find(|k| x.shape[**k] != one) {
        return Err(Refusal::inputs(format!("axis {k} has extent {}, not 1", x.shape[*k])));
    }
    let shape = (0..x.rank()).filter(|k| !axes.contains(k)).map(|k| x.shape[k].clone()).collect();
    reshaped(op, shape)
}

pub(super) fn unsqueeze(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let axes = axes_of(op, 1)?.ok_or_else(|| Refusal::inputs("the axes are missing"))?;
    let rank = x.rank() + axes.len();
    let axes = op.axes(&axes, rank)?;
    let mut rest = x.shape.iter();
    let shape = (0..rank)
        .filter_map(|k| if axes.contains(&k) { Some(Size::constant(1)) } else { rest.next().cloned() })
        .collect();
    reshaped(op, shape)
}

pub(super) fn transpose(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let rank = x.rank();
    let perm: Vec<usize> = match op.ints("perm") {
        None => (0..rank).rev().collect(),
        Some(perm) => perm.iter().map(|a| op.axis(*a, rank)).collect::<Result<_, _>>()?,
    };
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if sorted != (0..rank).collect::<Vec<_>>() {
        return Err(Refusal::inputs("`perm` is no permutation of the axes"));
    }
    let shape: Extents = perm.iter().map(|k| x.shape[*k].clone()).collect();
    op.tensor_exact(x.elem, &shape, &mut |_, place| {
        let mut from = vec![int(0); rank];
        for (to, k) in perm.iter().enumerate() {
            from[*k] = place[to].clone();
        }
        x.at(&from)
    });
    Ok(())
}

pub(super) fn expand(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let wanted = op.size_elements(1)?.ok_or_else(|| Refusal::inputs("input 1 is missing"))?;
    let shape = broadcast(&[&x.shape, &wanted])?;
    op.tensor_exact(x.elem, &shape, &mut |_, place| x.spread(place));
    Ok(())
}

pub(super) fn tile(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let repeats = op.size_elements(1)?.ok_or_else(|| Refusal::inputs("input 1 is missing"))?;
    if repeats.len() != x.rank() {
        return Err(Refusal::inputs("there must be one repeat an axis"));
    }
    let shape: Extents = x.shape.iter().zip(&repeats).map(|(n, r)| n.clone() * r.clone()).collect();
    op.tensor_exact(x.elem, &shape, &mut |_, place| {
        let from: Vec<Val> = place
            .iter()
            .zip(&x.shape)
            .zip(&repeats)
            .map(|((i, n), r)| if r.as_constant() == Some(1) { i.clone() } else { i.int() % size(n) })
            .collect();
        x.at(&from)
    });
    Ok(())
}

pub(super) fn concat(op: &mut Op) -> Done {
    let inputs = op.inputs()?;
    let Some(first) = inputs.first() else { return Err(Refusal::inputs("there are no operands")) };
    let axis = op.axis(op.int("axis", 0), first.rank())?;
    if inputs.iter().any(|x| x.rank() != first.rank() || x.elem != first.elem) {
        return Err(Refusal::inputs("the operands differ in rank or element type"));
    }
    let mut shape = first.shape.clone();
    shape[axis] = inputs.iter().fold(Size::constant(0), |sum, x| sum + x.shape[axis].clone());
    let val = joined(&mut op.cx, &inputs, axis, &mut Vec::new());
    op.result(val, first.elem, shape);
    Ok(())
}

/// Arrays one behind another along an axis.
pub(super) fn joined(cx: &mut Cx, inputs: &[Input], axis: usize, place: &mut Vec<Val>) -> Val {
    if place.len() < axis {
        let n = inputs[0].shape[place.len()].clone();
        return cx.generate(&n, |cx, i| {
            place.push(i);
            let row = joined(cx, inputs, axis, place);
            place.pop();
            row
        });
    }
    let mut parts = inputs.iter().map(|x| x.at(place));
    let first = parts.next().unwrap_or_else(|| int(0));
    parts.fold(first, |all, part| match (all.term(), part.term()) {
        (Ok(a), Ok(b)) => functional::build::concat(a, b).into(),
        (Err(refusal), _) | (_, Err(refusal)) => refusal.into(),
    })
}

/// The box of `x` that begins at `starts`, `steps` apart, as a result.
fn strided(op: &mut Op, x: &Input, starts: &[Size], steps: &[i64], shape: Extents) {
    op.tensor_exact(x.elem, &shape, &mut |_, place| {
        let from: Vec<Val> = place
            .iter()
            .zip(starts.iter().zip(steps))
            .map(|(i, (start, step))| match (start.as_constant(), step) {
                (Some(0), 1) => i.clone(),
                (_, step) => i.int() * int(*step) + size(start),
            })
            .collect();
        x.at(&from)
    });
}

fn known(shape: &[Size]) -> Result<Vec<i64>, Refusal> {
    shape
        .iter()
        .map(|n| {
            n.as_constant().ok_or_else(|| Refusal::not_constant(format!("the extent {n} must be a number")))
        })
        .collect()
}

pub(super) fn slice(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let from = |op: &Op, k: usize, name: &str| -> Result<Option<Vec<i64>>, Refusal> {
        Ok(op.constant_ints(k)?.or_else(|| op.ints(name).map(<[i64]>::to_vec)))
    };
    let sizes = |op: &Op, k: usize, name: &str| -> Result<Extents, Refusal> {
        let attribute = || op.ints(name).map(|ints| ints.iter().copied().map(Size::constant).collect());
        let found = op.size_elements(k)?.or_else(attribute);
        found.ok_or_else(|| Refusal::inputs("where the slice begins and ends is missing"))
    };
    let (starts, ends) = (sizes(op, 1, "starts")?, sizes(op, 2, "ends")?);
    let axes = from(op, 3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = from(op, 4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(Refusal::inputs("starts, ends, axes and steps differ in number"));
    }
    let mut shape = x.shape.clone();
    let (mut first, mut step) = (vec![Size::default(); x.rank()], vec![1; x.rank()]);
    for k in 0..starts.len() {
        let axis = op.axis(axes[k], x.rank())?;
        let numbers = [&x.shape[axis], &starts[k], &ends[k]].map(Size::as_constant);
        let s = steps[k];
        if let [Some(n), Some(start), Some(end)] = numbers {
            let found = crate::slicing::slice(n, start, end, s);
            let (start, count) = found.ok_or_else(|| Refusal::inputs("a step is 0"))?;
            shape[axis] = Size::constant(count);
            (first[axis], step[axis]) = (Size::constant(start), if count > 1 { s } else { 1 });
            continue;
        }
        let open = crate::slicing::open(&x.shape[axis], &starts[k], &ends[k]).filter(|_| s == 1);
        let open = open.ok_or_else(|| {
            let what = format!("the length of {}[{}:{}] is not known", x.shape[axis], starts[k], ends[k]);
            Refusal::not_constant(what)
        })?;
        for (left, right) in open.at_most {
            op.require(left, right);
        }
        (shape[axis], first[axis]) = (open.count, open.start);
    }
    strided(op, &x, &first, &step, shape);
    Ok(())
}

pub(super) fn split(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let axis = op.axis(op.int("axis", 0), x.rank())?;
    let n = known(&x.shape[axis..=axis])?[0];
    let given = op.constant_ints(1)?.or_else(|| op.ints("split").map(<[i64]>::to_vec));
    let parts = match given {
        Some(parts) => parts,
        None => {
            let count = op.int("num_outputs", op.call.outputs as i64).max(1);
            if count > crate::folding_kernels::MOST_PARTS {
                return Err(Refusal::inputs(format!("there are {count} parts, which is too many")));
            }
            let width = (n + count - 1) / count;
            (0..count).map(|k| width.min((n - k * width).max(0))).collect()
        }
    };
    if parts.iter().try_fold(0i64, |sum, p| sum.checked_add(*p)) != Some(n) || parts.iter().any(|p| *p < 0) {
        return Err(Refusal::inputs(format!("the parts {parts:?} do not add up to {n}")));
    }
    let mut start = 0;
    for part in parts {
        let mut shape = x.shape.clone();
        shape[axis] = Size::constant(part);
        let mut starts = vec![Size::default(); x.rank()];
        starts[axis] = Size::constant(start);
        strided(op, &x, &starts, &vec![1; x.rank()], shape);
        start += part;
    }
    Ok(())
}

/// The source of a padded position: the position in the input, and whether it is inside.
fn padded_place(mode: &str, i: &Val, before: i64, n: i64) -> (Val, Option<Val>) {
    let p = i.int() - int(before);
    match mode {
        "edge" => (p.max(&int(0)).min(&int(n - 1)), None),
        "reflect" => {
            // a triangle wave of period 2 (n - 1)
            let period = (2 * (n - 1)).max(1);
            let q = p % int(period);
            (q.min(&(int(period) - &q)), None)
        }
        "wrap" => (p % int(n.max(1)), None),
        _ => {
            let inside = int(0).le(&p).and(&p.lt(&int(n)));
            (p, Some(inside))
        }
    }
}

pub(super) fn pad(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let rank = x.rank();
    let pads = op.constant_ints(1)?.or_else(|| op.ints("pads").map(<[i64]>::to_vec));
    let pads = pads.ok_or_else(|| Refusal::inputs("the paddings are missing"))?;
    let axes: Vec<usize> = match op.constant_ints(3)? {
        Some(axes) => axes.iter().map(|a| op.axis(*a, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(Refusal::inputs("there must be two paddings an axis"));
    }
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (k, axis) in axes.iter().enumerate() {
        let (b, a) = (pads[k], pads[axes.len() + k]);
        (before[*axis], after[*axis]) = (op.moderate("a padding", b)?, op.moderate("a padding", a)?);
    }
    let mode = op.string("mode", "constant").to_owned();
    let value = match op.optional(2)? {
        Some(value) => value.at(&vec![int(0); value.rank()]),
        None => number(x.scalar(), op.float("value", 0.0)),
    };
    let mut shape = x.shape.clone();
    for k in 0..rank {
        if before[k] != 0 || after[k] != 0 {
            let n = known(&x.shape[k..=k])?[0];
            if n + before[k] + after[k] < 0 {
                return Err(Refusal::inputs("more is cut off than there is"));
            }
            shape[k] = Size::constant(n + before[k] + after[k]);
        }
    }
    op.tensor_exact(x.elem, &shape, &mut |_, place| {
        let mut from = Vec::new();
        let mut all: Option<Val> = None;
        for (k, i) in place.iter().enumerate() {
            match x.shape[k].as_constant() {
                Some(n) if before[k] != 0 || after[k] != 0 => {
                    let (p, inside) = padded_place(&mode, i, before[k], n);
                    from.push(p);
                    all = match (all, inside) {
                        (Some(all), Some(inside)) => Some(all.and(&inside)),
                        (all, inside) => all.or(inside),
                    };
                }
                _ => from.push(i.clone()),
            }
        }
        let inner = x.at(&from);
        match all {
            Some(all) => inner.when(&all, &value),
            None => inner,
        }
    });
    Ok(())
}

pub(super) fn center_crop_pad(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let rank = x.rank();
    let wanted = op.constant_ints(1)?.ok_or_else(|| Refusal::inputs("input 1 is missing"))?;
    let axes: Vec<usize> = match op.ints("axes") {
        Some(axes) => axes.iter().map(|a| op.axis(*a, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    let sizes = known(&x.shape)?;
    let mut shift = vec![0; rank];
    let mut shape = x.shape.clone();
    for (axis, n) in axes.iter().zip(&wanted) {
        let m = sizes[*axis];
        op.moderate("an extent", *n)?;
        // cut: begin at (m - n) / 2; pad: (n - m) / 2 in front
        shift[*axis] = if m >= *n { (m - n) / 2 } else { -((n - m) / 2) };
        shape[*axis] = Size::constant(*n);
    }
    let zero = number(x.scalar(), 0.0);
    op.tensor_exact(x.elem, &shape, &mut |_, place| {
        let mut inside = truth(true);
        let from: Vec<Val> = place
            .iter()
            .enumerate()
            .map(|(k, i)| {
                if shift[k] == 0 && shape[k] == x.shape[k] {
                    return i.clone();
                }
                let p = i.int() + int(shift[k]);
                inside = inside.and(&int(0).le(&p).and(&p.lt(&int(sizes[k]))));
                p
            })
            .collect();
        x.at(&from).when(&inside, &zero)
    });
    Ok(())
}

pub(super) fn depth_to_space(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let b = op.moderate("`blocksize`", op.int("blocksize", 1))?.max(1);
    let crd = op.string("mode", "DCR") == "CRD";
    let [n, c, h, w] = &x.shape[..] else { return Err(Refusal::inputs("4 dimensions are needed")) };
    let channels =
        c.exact_div(&Size::constant(b * b)).ok_or_else(|| Refusal::inputs("the channels do not divide"))?;
    let block = Size::constant(b);
    let shape = vec![n.clone(), channels.clone(), h.clone() * block.clone(), w.clone() * block];
    op.tensor_exact(x.elem, &shape, &mut |_, at| {
        let (y, z) = (at[2].int(), at[3].int());
        let (r, s) = (&y % int(b), &z % int(b));
        let inner = r * int(b) + s;
        let channel = match crd {
            true => at[1].int() * int(b * b) + inner,
            false => inner * size(&channels) + at[1].int(),
        };
        x.at(&[at[0].clone(), channel, y / int(b), z / int(b)])
    });
    Ok(())
}

pub(super) fn space_to_depth(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let b = op.moderate("`blocksize`", op.int("blocksize", 1))?.max(1);
    let crd = op.string("mode", "DCR") == "CRD";
    let [n, c, h, w] = &x.shape[..] else { return Err(Refusal::inputs("4 dimensions are needed")) };
    let block = Size::constant(b);
    let divide = |n: &Size| n.exact_div(&block).ok_or_else(|| Refusal::inputs("the image does not divide"));
    let shape = vec![n.clone(), c.clone() * Size::constant(b * b), divide(h)?, divide(w)?];
    op.tensor_exact(x.elem, &shape, &mut |_, at| {
        let k = at[1].int();
        let (channel, inner) = match crd {
            true => (&k / int(b * b), &k % int(b * b)),
            false => (&k % size(c), &k / size(c)),
        };
        let (y, z) = (at[2].int() * int(b) + &inner / int(b), at[3].int() * int(b) + &inner % int(b));
        x.at(&[at[0].clone(), channel, y, z])
    });
    Ok(())
}

pub(super) fn trilu(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let upper = op.int("upper", 1) != 0;
    let k = match op.constant_ints(1)?.as_deref() {
        Some([k]) => *k,
        None => 0,
        _ => return Err(Refusal::inputs("input 1 must be one number")),
    };
    let rank = x.rank();
    if rank < 2 {
        return Err(Refusal::inputs("a matrix is needed"));
    }
    let zero = number(x.scalar(), 0.0);
    op.tensor_exact(x.elem, &x.shape, &mut |_, at| {
        let (row, column) = (at[rank - 2].int() + int(k), at[rank - 1].int());
        let keep = if upper { row.le(&column) } else { column.le(&row) };
        x.at(at).when(&keep, &zero)
    });
    Ok(())
}

pub(super) fn reverse_sequence(op: &mut Op) -> Done {
    let (x, lengths) = (op.input(0)?, op.input(1)?);
    let batch = op.axis(op.int("batch_axis", 1), x.rank())?;
    let time = op.axis(op.int("time_axis", 0), x.rank())?;
    op.tensor_exact(x.elem, &x.shape, &mut |_, at| {
        let length = lengths.at(&[at[batch].clone()]).int();
        let t = at[time].int();
        let mut from = at.to_vec();
        from[time] = (&length - int(1) - &t).when(&t.lt(&length), &t);
        x.at(&from)
    });
    Ok(())
}
