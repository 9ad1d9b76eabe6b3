//! What operators that sum over axes compute: products, reductions, normalisations, attention.

use std::rc::Rc;

use super::case::{Case, Mode, Step, Stop, unproved};
use super::element::{EXP_DECAY, Fold, Op, Real, fun, number, op, positive};
use super::int::Int;
use super::operators::{Call, axes};
use super::symbolic_value::Value;
use super::tensor::{At, Tensor, aligned, broadcast, product};
use super::types::{Class, Ty};

pub(super) fn batch_normalization(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    case.need(x.ty, &[Class::Float], call.op)?;
    let parameters: Vec<Tensor> = (1..5).map(|k| call.input(k)).collect::<Step<_>>()?;
    let channels = x.shape.get(1).cloned().unwrap_or_else(|| Int::from(1));
    for t in &parameters {
        if t.rank() != 1 {
            return unproved("parameters of another rank");
        }
        case.equal(&t.shape[0], &channels, call.op)?;
        if case.mode == Mode::Assume {
            // Later versions let them differ; a graph of such types is no instance that is drawn
            // either.
            case.same_type(t.ty, x.ty, call.op)?;
        }
    }
    let epsilon = call.real("epsilon", 1e-5)?;
    let (training, ty, shape) = (call.int("training_mode", 0)?, x.ty, x.shape.clone());
    let at: At = Rc::new(move |case, place| {
        if !case.norm(&training).is(0) || place.len() < 2 {
            return unproved("batch normalisation in training, or without channels");
        }
        let mut e = Vec::new();
        for t in &parameters {
            e.push(t.at(case, &place[1..2])?);
        }
        let deviation = fun("Sqrt", vec![op(Op::Add, e[3].clone(), epsilon.clone())]);
        let centred = op(Op::Sub, x.at(case, place)?, e[2].clone());
        let scaled = op(Op::Mul, op(Op::Div, centred, deviation), e[0].clone());
        Ok(op(Op::Add, scaled, e[1].clone()))
    });
    Ok(Tensor::new(shape, ty, at))
}

/// Variables for the axes of a fold, with their extents.
fn variables(case: &mut Case, shape: &[Int], axes: &[usize]) -> Vec<(u32, Int)> {
    axes.iter().map(|d| (case.variable(), shape[*d].clone())).collect()
}

/// `place` with the variables of a fold at their axes.
fn inside(place: &[Int], axes: &[usize], vars: &[(u32, Int)]) -> Vec<Int> {
    let mut at = place.to_vec();
    for (d, (v, _)) in axes.iter().zip(vars) {
        at[*d] = Int::var(*v);
    }
    at
}

/// The fold of `x` over axes at a place of which those axes do not matter.
fn folded(case: &mut Case, f: Fold, x: &Tensor, axes: &[usize], place: &[Int]) -> Step<Rc<Real>> {
    let vars = variables(case, &x.shape, axes);
    let body = x.at(case, &inside(place, axes, &vars))?;
    Ok(Rc::new(Real::Fold(f, vars, body)))
}

/// How the operators sum over axes: the last ones are rows.
fn sum_over(axes: &[usize], rank: usize) -> Fold {
    let kept = rank - axes.len();
    if axes.iter().all(|axis| *axis >= kept) { Fold::Rows } else { Fold::Sum }
}

fn mean(case: &mut Case, x: &Tensor, axes: &[usize], place: &[Int]) -> Step<Rc<Real>> {
    let sum = folded(case, sum_over(axes, x.rank()), x, axes, place)?;
    let count: Vec<Int> = axes.iter().map(|d| x.shape[*d].clone()).collect();
    Ok(op(Op::Div, sum, Rc::new(Real::Int(product(&count)))))
}

pub(super) fn layer_normalization(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    case.need(x.ty, &[Class::Float], call.op)?;
    let axis = call.axis(case, "axis", -1, x.rank())?;
    let axes: Vec<usize> = (axis..x.rank()).collect();
    let (gain, shift) = (call.input(1)?, call.optional(2));
    let mut repeats = Vec::new();
    for t in std::iter::once(&gain).chain(&shift) {
        case.same_type(t.ty, x.ty, call.op)?;
        if t.rank() > x.rank() {
            return if case.mode == Mode::Assume {
                Err(Stop::Impossible)
            } else {
                unproved("the gain has too many axes")
            };
        }
        let (shape, r) = broadcast(case, &[&x.shape, &t.shape])?;
        for (n, m) in shape.iter().zip(&x.shape) {
            case.equal(n, m, call.op)?;
        }
        repeats.push(r[1].clone());
    }
    let epsilon = call.real("epsilon", 1e-5)?;
    let (ty, shape) = (x.ty, x.shape.clone());
    let at: At = Rc::new(move |case, place| {
        let m = mean(case, &x, &axes, place)?;
        let vars = variables(case, &x.shape, &axes);
        let other = x.at(case, &inside(place, &axes, &vars))?;
        let centred = op(Op::Sub, other, m.clone());
        let sum = Rc::new(Real::Fold(Fold::Rows, vars, op(Op::Mul, centred.clone(), centred)));
        let count: Vec<Int> = axes.iter().map(|d| x.shape[*d].clone()).collect();
        let variance = op(Op::Div, sum, Rc::new(Real::Int(product(&count))));
        let deviation = fun("Sqrt", vec![op(Op::Add, variance, epsilon.clone())]);
        let mut e = op(Op::Div, op(Op::Sub, x.at(case, place)?, m), deviation);
        let from = aligned(case, &gain.shape, &repeats[0], place);
        e = op(Op::Mul, e, gain.at(case, &from)?);
        if let Some(shift) = &shift {
            let from = aligned(case, &shift.shape, &repeats[1], place);
            e = op(Op::Add, e, shift.at(case, &from)?);
        }
        Ok(e)
    });
    Ok(Tensor::new(shape, ty, at))
}

/// The exponential at a place, less the greatest element, and the sum of all along the axis.
fn exponentials(
    case: &mut Case,
    x: &Tensor,
    (axis, place): (usize, &[Int]),
    (exp, sum): (&str, Fold),
) -> Step<(Rc<Real>, Rc<Real>)> {
    let greatest = folded(case, Fold::Max, x, &[axis], place)?;
    let vars = variables(case, &x.shape, &[axis]);
    let other = x.at(case, &inside(place, &[axis], &vars))?;
    let all = fun(exp, vec![op(Op::Sub, other, greatest.clone())]);
    let here = fun(exp, vec![op(Op::Sub, x.at(case, place)?, greatest)]);
    Ok((here, Rc::new(Real::Fold(sum, vars, all))))
}

/// Each number is multiplied by the reciprocal of the sum, as the operator does: not the same bits
/// as a quotient.
fn softmax_of(case: &mut Case, x: &Tensor, axis: usize, place: &[Int]) -> Step<Rc<Real>> {
    let (here, sum) = exponentials(case, x, (axis, place), (EXP_DECAY, Fold::Rows))?;
    Ok(op(Op::Mul, here, op(Op::Div, number(1.0), sum)))
}

/// That of attention, which sums in order and divides by the sum.
fn softmax_in_order(case: &mut Case, x: &Tensor, axis: usize, place: &[Int]) -> Step<Rc<Real>> {
    let (here, sum) = exponentials(case, x, (axis, place), ("Exp", Fold::Sum))?;
    Ok(op(Op::Div, here, sum))
}

pub(super) fn softmax(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    case.need(x.ty, &[Class::Float], call.op)?;
    let axis = call.axis(case, "axis", -1, x.rank())?;
    let (ty, shape) = (x.ty, x.shape.clone());
    let at: At = Rc::new(move |case, place| softmax_of(case, &x, axis, place));
    Ok(Tensor::new(shape, ty, at))
}

pub(super) fn reduce(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let classes: &[Class] =
        if call.op == "ReduceMean" { &[Class::Float] } else { &[Class::Float, Class::Integer] };
    if call.op == "ReduceMean" && case.class(x.ty) == Class::Integer {
        // Unless conditions exclude it.
        let at: At = Rc::new(|_, _| unproved("the mean of integers"));
        return Ok(Tensor::new(x.shape, x.ty, at));
    }
    case.need(x.ty, classes, call.op)?;
    let list: Vec<Int> = match (call.optional(1), call.attributes.get("axes")) {
        (Some(t), _) => t.ints()?.to_vec(),
        (None, Some(Value::Tuple(items))) => {
            items.iter().map(|v| if let Value::Int(n) = v { n.clone() } else { Int::unknown() }).collect()
        }
        _ => return unproved("axes are open"),
    };
    let axes = axes(case, &list, x.rank())?;
    if axes.is_empty() {
        return unproved("axes are open");
    }
    let keep = call.number(case, "keepdims", 1)? != 0;
    let shape: Vec<Int> = (0..x.rank())
        .filter(|d| keep || !axes.contains(d))
        .map(|d| if axes.contains(&d) { Int::from(1) } else { x.shape[d].clone() })
        .collect();
    let (ty, rank, name) = (x.ty, x.rank(), call.op.to_owned());
    let at: At = Rc::new(move |case, place| {
        let mut full = vec![Int::default(); rank];
        let mut given = place.iter();
        for (d, i) in full.iter_mut().enumerate() {
            if keep || !axes.contains(&d) {
                *i = given.next().cloned().unwrap_or_default();
            }
        }
        match &name[..] {
            "ReduceMean" => mean(case, &x, &axes, &full),
            "ReduceMax" => folded(case, Fold::Max, &x, &axes, &full),
            _ => folded(case, sum_over(&axes, rank), &x, &axes, &full),
        }
    });
    Ok(Tensor::new(shape, ty, at))
}

pub(super) fn matmul(case: &mut Case, a: &Tensor, b: &Tensor) -> Step<Tensor> {
    case.same_type(a.ty, b.ty, "MatMul")?;
    case.need(a.ty, &[Class::Float, Class::Integer], "MatMul")?;
    if a.rank() == 0 || b.rank() == 0 {
        return if case.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved("a product of numbers")
        };
    }
    let (row, column) = (a.rank() > 1, b.rank() > 1);
    let inner = a.shape[a.rank() - 1].clone();
    let at_b = if column { b.rank() - 2 } else { 0 };
    case.equal(&inner, &b.shape[at_b], "MatMul")?;
    let (batch_a, batch_b) =
        (a.shape[..a.rank().saturating_sub(2)].to_vec(), b.shape[..b.rank().saturating_sub(2)].to_vec());
    let (mut shape, repeats) = broadcast(case, &[&batch_a, &batch_b])?;
    let batch = shape.len();
    if row {
        shape.push(a.shape[a.rank() - 2].clone());
    }
    if column {
        shape.push(b.shape[b.rank() - 1].clone());
    }
    let (ty, a, b) = (a.ty, a.clone(), b.clone());
    let at: At = Rc::new(move |case, place| {
        let k = case.variable();
        let mut left = aligned(case, &batch_a, &repeats[0], &place[..batch]);
        let mut right = aligned(case, &batch_b, &repeats[1], &place[..batch]);
        if row {
            left.push(place[batch].clone());
        }
        left.push(Int::var(k));
        right.push(Int::var(k));
        if column {
            right.push(place[place.len() - 1].clone());
        }
        let body = op(Op::Mul, a.at(case, &left)?, b.at(case, &right)?);
        Ok(Rc::new(Real::Fold(Fold::Sum, vec![(k, inner.clone())], body)))
    });
    Ok(Tensor::new(shape, ty, at))
}

pub(super) fn gemm(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let (a, b, c) = (call.input(0)?, call.input(1)?, call.optional(2));
    case.same_type(a.ty, b.ty, "Gemm")?;
    case.need(a.ty, &[Class::Float, Class::Integer], "Gemm")?;
    if a.rank() != 2 || b.rank() != 2 {
        return if case.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved("a product of other ranks")
        };
    }
    let (ta, tb) = (call.number(case, "transA", 0)? != 0, call.number(case, "transB", 0)? != 0);
    let pick = |t: &Tensor, transposed: bool| {
        let (x, y) = (t.shape[0].clone(), t.shape[1].clone());
        if transposed { (y, x) } else { (x, y) }
    };
    let ((m, k), (l, n)) = (pick(&a, ta), pick(&b, tb));
    case.equal(&k, &l, "Gemm")?;
    let shape = vec![m, n];
    let mut repeats = Vec::new();
    if let Some(c) = &c {
        case.same_type(a.ty, c.ty, "Gemm")?;
        if c.rank() > 2 {
            return if case.mode == Mode::Assume {
                Err(Stop::Impossible)
            } else {
                unproved("a bias of another rank")
            };
        }
        let (wide, r) = broadcast(case, &[&shape, &c.shape])?;
        for (x, y) in wide.iter().zip(&shape) {
            case.equal(x, y, "Gemm")?;
        }
        repeats = r[1].clone();
    }
    let (alpha, beta) = (call.real("alpha", 1.0)?, call.real("beta", 1.0)?);
    let ty = a.ty;
    let at: At = Rc::new(move |case, place| {
        let v = case.variable();
        let at = |i: &Int, transposed: bool, first: bool| {
            if transposed == first { [Int::var(v), i.clone()] } else { [i.clone(), Int::var(v)] }
        };
        let x = a.at(case, &at(&place[0], ta, true))?;
        let y = b.at(case, &at(&place[1], tb, false))?;
        let sum = Rc::new(Real::Fold(Fold::Sum, vec![(v, k.clone())], op(Op::Mul, x, y)));
        let mut e = op(Op::Mul, alpha.clone(), sum);
        if let Some(c) = &c {
            let from = aligned(case, &c.shape, &repeats, place);
            e = op(Op::Add, e, op(Op::Mul, beta.clone(), c.at(case, &from)?));
        }
        Ok(e)
    });
    Ok(Tensor::new(vec![shape_at(&shape, 0), shape_at(&shape, 1)], ty, at))
}

fn shape_at(shape: &[Int], d: usize) -> Int {
    shape.get(d).cloned().unwrap_or_else(Int::unknown)
}

pub(super) fn eye_like(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    if x.rank() != 2 || call.attributes.contains_key("dtype") || !case.norm(&call.int("k", 0)?).is(0) {
        return unproved("a unit matrix of another form");
    }
    let at: At = Rc::new(|_, place| {
        let d = place[0].minus(&place[1]);
        Ok(Rc::new(Real::If(vec![d.negated(), d], number(1.0), number(0.0))))
    });
    Ok(Tensor::new(x.shape, x.ty, at))
}

/// Attention over queries, keys and values of four axes, without masks, caps or groups of heads.
pub(super) fn attention(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let (q, k, v) = (call.input(0)?, call.input(1)?, call.input(2)?);
    if [&q, &k, &v].iter().any(|t| t.rank() != 4)
        || call.inputs.len() > 3
        || call.attributes.keys().any(|name| name != "scale")
    {
        return unproved("attention of another form");
    }
    for t in [&k, &v] {
        case.same_type(t.ty, q.ty, "Attention")?;
        case.equal(&t.shape[0], &q.shape[0], "Attention")?;
        case.equal(&t.shape[1], &q.shape[1], "Attention")?;
    }
    case.equal(&k.shape[3], &q.shape[3], "Attention")?;
    case.equal(&k.shape[2], &v.shape[2], "Attention")?;
    let scale = call.real("scale", f64::NAN)?;
    // The operator multiplies both factors by the square root.
    if !positive(case, &scale)? {
        return unproved("the scale of attention may be negative");
    }
    let shape = vec![q.shape[0].clone(), q.shape[1].clone(), q.shape[2].clone(), v.shape[3].clone()];
    let ty: Ty = q.ty;
    let (left, right) = (q.clone(), k.clone());
    let at: At = Rc::new(move |case, place| {
        let i = case.variable();
        let x = left.at(case, &[place[0].clone(), place[1].clone(), place[2].clone(), Int::var(i)])?;
        let y = right.at(case, &[place[0].clone(), place[1].clone(), place[3].clone(), Int::var(i)])?;
        let sum = Rc::new(Real::Fold(Fold::Sum, vec![(i, left.shape[3].clone())], op(Op::Mul, x, y)));
        Ok(op(Op::Mul, scale.clone(), sum))
    });
    let scores = Tensor::new(
        vec![q.shape[0].clone(), q.shape[1].clone(), q.shape[2].clone(), k.shape[2].clone()],
        ty,
        at,
    );
    let at: At = Rc::new(move |case, place| {
        let j = case.variable();
        let from = [place[0].clone(), place[1].clone(), place[2].clone(), Int::var(j)];
        let weight = softmax_in_order(case, &scores, 3, &from)?;
        let value = v.at(case, &[place[0].clone(), place[1].clone(), Int::var(j), place[3].clone()])?;
        let body = op(Op::Mul, weight, value);
        Ok(Rc::new(Real::Fold(Fold::Sum, vec![(j, v.shape[2].clone())], body)))
    });
    Ok(Tensor::new(shape, ty, at))
}
