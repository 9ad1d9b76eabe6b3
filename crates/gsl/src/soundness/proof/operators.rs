//! What operators compute, for symbolic extents and attributes: the element of the result at each
//! position.
//!
//! This is written from the standard a second time, because the programs of the operator library
//! need numbers for windows and axes. `tests.rs` compares both on drawn models. Rules with
//! operators that are not here cannot be proved.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::rule::ElementType;

use super::case::{Case, Mode, Step, Stop, unproved};
use super::element::{Op, Real, fun, number, op};
use super::int::Int;
use super::symbolic_value::Value;
use super::tensor::{At, Flat, Tensor, aligned, broadcast, pointwise, product};
use super::types::{Class, embeds};
use super::{folds, windows};

/// Attributes by name.
pub(super) type Attributes = BTreeMap<String, Value>;

/// A call.
pub(super) struct Call<'a> {
    pub op: &'a str,
    pub attributes: &'a Attributes,
    pub inputs: &'a [Option<Tensor>],
    /// How many results are asked for.
    pub results: usize,
}

impl Call<'_> {
    pub fn input(&self, k: usize) -> Step<Tensor> {
        match self.optional(k) {
            Some(t) => Ok(t),
            None => unproved(format!("`{}`: input {k} is absent", self.op)),
        }
    }

    pub fn optional(&self, k: usize) -> Option<Tensor> {
        self.inputs.get(k).cloned().flatten()
    }

    /// An integer attribute.
    pub fn int(&self, name: &str, default: i64) -> Step<Int> {
        match self.attributes.get(name) {
            None | Some(Value::None) => Ok(Int::from(default)),
            Some(Value::Int(n)) => Ok(n.clone()),
            Some(_) => unproved(format!("`{}`: the attribute `{name}` is not known", self.op)),
        }
    }

    /// An integer attribute whose value decides what is computed.
    pub fn number(&self, case: &Case, name: &str, default: i64) -> Step<i64> {
        match case.norm(&self.int(name, default)?).constant() {
            Some(n) => Ok(n),
            None => unproved(format!("`{}`: the attribute `{name}` is open", self.op)),
        }
    }

    pub fn ints(&self, case: &Case, name: &str, default: Int, count: usize) -> Step<Vec<Int>> {
        match self.attributes.get(name) {
            None | Some(Value::None) => Ok(vec![default; count]),
            Some(Value::Tuple(items)) if items.len() == count => items
                .iter()
                .map(|v| match v {
                    Value::Int(n) => Ok(n.clone()),
                    _ => unproved(format!("`{}`: the attribute `{name}` is not known", self.op)),
                })
                .collect(),
            // As many as there are axes, in a graph that is valid.
            Some(Value::Tuple(_)) if case.mode == Mode::Assume => Err(Stop::Impossible),
            Some(_) => unproved(format!("`{}`: the attribute `{name}` is not known", self.op)),
        }
    }

    pub fn real(&self, name: &str, default: f64) -> Step<Rc<Real>> {
        match self.attributes.get(name) {
            None | Some(Value::None) => Ok(number(default)),
            Some(Value::Real(x)) => Ok(x.clone()),
            Some(Value::Int(n)) => Ok(Rc::new(Real::Int(n.clone()))),
            Some(_) => unproved(format!("`{}`: the attribute `{name}` is not known", self.op)),
        }
    }

    pub fn text(&self, name: &str, default: &str) -> Step<String> {
        match self.attributes.get(name) {
            None | Some(Value::None) => Ok(default.to_owned()),
            Some(Value::Text(s)) => Ok(s.clone()),
            Some(_) => unproved(format!("`{}`: the attribute `{name}` is not known", self.op)),
        }
    }

    /// An axis, counted from the front.
    pub fn axis(&self, case: &Case, name: &str, default: i64, rank: usize) -> Step<usize> {
        let n = self.number(case, name, default)?;
        front(n, rank, case.mode)
    }

    fn all(&self) -> Step<Vec<Tensor>> {
        (0..self.inputs.len()).map(|k| self.input(k)).collect()
    }
}

/// An axis that may count from the end.
pub(super) fn front(axis: i64, rank: usize, mode: Mode) -> Step<usize> {
    let positive = if axis < 0 { axis + rank as i64 } else { axis };
    match usize::try_from(positive) {
        Ok(axis) if axis < rank => Ok(axis),
        _ if mode == Mode::Assume => Err(Stop::Impossible),
        _ => unproved("an axis that is not there"),
    }
}

/// Distinct axes that are constants of a list, counted from the front.
pub(super) fn axes(case: &Case, list: &[Int], rank: usize) -> Step<Vec<usize>> {
    let mut out = Vec::new();
    for n in list {
        let Some(n) = case.norm(n).constant() else { return unproved("an axis is open") };
        let axis = front(n, rank, case.mode)?;
        if out.contains(&axis) {
            return if case.mode == Mode::Assume {
                Err(Stop::Impossible)
            } else {
                unproved("an axis comes twice")
            };
        }
        out.push(axis);
    }
    Ok(out)
}

/// The results of a call.
pub(super) fn apply(case: &mut Case, call: &Call<'_>) -> Step<Vec<Tensor>> {
    case.pay(20)?;
    let one = match call.op {
        "Identity" => call.input(0)?,
        "Dropout" => dropout(call)?,
        "Cast" => cast(call)?,
        "Relu" | "Abs" | "Neg" => unary(case, call, &[Class::Float, Class::Integer])?,
        "Not" => unary(case, call, &[Class::Bool])?,
        "Sqrt" | "Exp" | "Erf" | "Tanh" | "Log" | "Sigmoid" => unary(case, call, &[Class::Float])?,
        "Add" | "Sub" | "Mul" | "Div" | "Pow" => arithmetic(case, call)?,
        "Max" | "Min" => {
            let all = call.all()?;
            for t in &all[1.min(all.len())..] {
                case.same_type(t.ty, all[0].ty, call.op)?;
            }
            let Some(first) = all.first() else { return unproved("no operands") };
            let (ty, name) = (first.ty, call.op.to_owned());
            pointwise(case, &all, ty, Rc::new(move |x| fun(&name, x)))?
        }
        "Clip" => clip(case, call)?,
        "Transpose" => transpose(case, call)?,
        "Reshape" => reshape(case, call)?,
        "Squeeze" => squeeze(case, call)?,
        "Unsqueeze" => unsqueeze(case, call)?,
        "Expand" => expand(case, call)?,
        "Slice" => slice(case, call)?,
        "Concat" => concat(case, call)?,
        "Split" => return split(case, call),
        "Pad" => windows::pad(case, call)?,
        "Conv" => windows::conv(case, call)?,
        "ConvTranspose" => windows::conv_transpose(case, call)?,
        "AveragePool" => windows::average_pool(case, call)?,
        "BatchNormalization" => folds::batch_normalization(case, call)?,
        "LayerNormalization" => folds::layer_normalization(case, call)?,
        "Softmax" => folds::softmax(case, call)?,
        "ReduceSum" | "ReduceMean" | "ReduceMax" => folds::reduce(case, call)?,
        "MatMul" => folds::matmul(case, &call.input(0)?, &call.input(1)?)?,
        "Gemm" => folds::gemm(case, call)?,
        "EyeLike" => folds::eye_like(case, call)?,
        "Attention" => folds::attention(case, call)?,
        "Gelu" => return unproved("the operator has the square root of 2, the pattern a number near it"),
        op if op.starts_with('?') => opaque(case, call)?,
        op => return unproved(format!("`{op}` is not among the operators that proofs know")),
    };
    Ok(vec![one])
}

/// An operator of which only the trait elementwise is known.
fn opaque(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let Some(Value::Text(key)) = call.attributes.get("*") else { return unproved("attributes are open") };
    let name = format!("{}{key}", call.op);
    let ty = case.types.image(&name, x.ty);
    pointwise(case, &[x], ty, Rc::new(move |x| fun(&name, x)))
}

fn unary(case: &mut Case, call: &Call<'_>, classes: &[Class]) -> Step<Tensor> {
    let x = call.input(0)?;
    case.need(x.ty, classes, call.op)?;
    let (ty, name) = (x.ty, call.op.to_owned());
    pointwise(case, &[x], ty, Rc::new(move |x| fun(&name, x)))
}

fn arithmetic(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    if call.op != "Pow" {
        case.same_type(a.ty, b.ty, call.op)?;
    }
    let ty = a.ty;
    let class = case.class(ty);
    if class == Class::Bool {
        return if case.mode == Mode::Assume { Err(Stop::Impossible) } else { unproved("truth values") };
    }
    let f: Rc<dyn Fn(Vec<Rc<Real>>) -> Rc<Real>> = match call.op {
        "Add" => Rc::new(|x| op(Op::Add, x[0].clone(), x[1].clone())),
        "Sub" => Rc::new(|x| op(Op::Sub, x[0].clone(), x[1].clone())),
        "Mul" => Rc::new(|x| op(Op::Mul, x[0].clone(), x[1].clone())),
        "Div" if class == Class::Float => Rc::new(|x| op(Op::Div, x[0].clone(), x[1].clone())),
        // The quotient of integers by 1 is exact; of any other nothing is known.
        "Div" => Rc::new(|x| match &*x[1] {
            Real::Number(1.0) => x[0].clone(),
            _ => fun("Quotient", x),
        }),
        // Powers of wide integers are computed in floating point if the exponent is a
        // floating-point number. Not even the power with exponent 1 is exact then.
        _ if class == Class::Integer && case.types.may_be(ty, ElementType::Int64) => {
            Rc::new(|x| fun("Power", x))
        }
        _ => Rc::new(|x| fun("Pow", x)),
    };
    pointwise(case, &[a, b], ty, f)
}

/// Dropout outside of training, or with a flag that conditions of the rule say to be false.
fn dropout(call: &Call<'_>) -> Step<Tensor> {
    let (x, training) = (call.input(0)?, call.optional(2));
    let Some(training) = training else { return Ok(x) };
    let inner = x.clone();
    let at: At = Rc::new(move |case, place| {
        let flag = bound(case, &training)?;
        let known = match &*flag {
            Real::Constant(name) => case.reals.get(name).cloned(),
            _ => None,
        };
        match known.as_deref() {
            Some(Real::Number(0.0)) => inner.at(case, place),
            _ => unproved("dropout in training"),
        }
    });
    Ok(Tensor { at, flat: None, value: None, ..x })
}

/// Casts carry their types in their names, so that casts of casts can be judged.
fn cast(call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let Some(Value::Type(to)) = call.attributes.get("to") else { return unproved("a cast without a type") };
    let to = *to;
    let (saturate, round) = (call.int("saturate", 1)?, call.text("round_mode", "up")?);
    let (inner, from) = (x.clone(), x.ty);
    // Conditions may tell the types later.
    let at: At = Rc::new(move |case, place| {
        let e = inner.at(case, place)?;
        if case.types.same(from, to) {
            return Ok(e);
        }
        let mode = format!("{}{round}", case.norm(&saturate));
        Ok(fun(&format!("cast|{}|{}|{mode}", case.types.text(from), case.types.text(to)), vec![e]))
    });
    Ok(Tensor { count: x.count, ..Tensor::new(x.shape, to, at) })
}

/// A cast of a cast that loses nothing is a cast of the operand; none if that has the type already.
pub(super) fn cast_of_cast(name: &str, arguments: &[Rc<Real>]) -> Option<Rc<Real>> {
    let types = |name: &str| -> Option<(String, String, String)> {
        let mut parts = name.strip_prefix("cast|")?.split('|').map(str::to_owned);
        Some((parts.next()?, parts.next()?, parts.next()?))
    };
    let (_, to, mode) = types(name)?;
    let [one] = arguments else { return None };
    let Real::Fun(inner, of) = &**one else { return None };
    let (from, middle, _) = types(inner)?;
    if !embeds(ElementType::parse(&from)?, ElementType::parse(&middle)?) {
        return None;
    }
    Some(if from == to { of.first()?.clone() } else { fun(&format!("cast|{from}|{to}|{mode}"), of.clone()) })
}

/// The only element of a bound, which has no axes (or is broadcast anyway).
fn bound(case: &mut Case, t: &Tensor) -> Step<Rc<Real>> {
    t.at(case, &vec![Int::default(); t.rank()])
}

fn clip(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let (low, high) = (call.optional(1), call.optional(2));
    for t in low.iter().chain(&high) {
        case.same_type(t.ty, x.ty, "Clip")?;
        if t.rank() > 0 {
            return unproved("a bound with axes");
        }
    }
    let inner = x.clone();
    let at: At = Rc::new(move |case, place| {
        let mut e = inner.at(case, place)?;
        if let Some(low) = &low {
            e = fun("Max", vec![e, bound(case, low)?]);
        }
        if let Some(high) = &high {
            e = fun("Min", vec![e, bound(case, high)?]);
        }
        Ok(e)
    });
    Ok(Tensor::new(x.shape, x.ty, at))
}

fn transpose(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let rank = x.rank();
    let perm: Vec<usize> = match call.attributes.get("perm") {
        None | Some(Value::None) => (0..rank).rev().collect(),
        Some(_) => {
            let list = call.ints(case, "perm", Int::default(), rank)?;
            let perm = axes(case, &list, rank)?;
            if perm.len() != rank {
                return unproved("a permutation of another rank");
            }
            perm
        }
    };
    let shape = perm.iter().map(|k| x.shape[*k].clone()).collect();
    let (inner, p) = (x.clone(), perm.clone());
    let at: At = Rc::new(move |case, place| {
        let mut from = vec![Int::default(); place.len()];
        for (d, k) in p.iter().enumerate() {
            from[*k] = place[d].clone();
        }
        inner.at(case, &from)
    });
    Ok(Tensor { count: x.count.clone(), ..Tensor::new(shape, x.ty, at) })
}

/// The same elements in the same order with other extents.
fn view(x: &Tensor, shape: Vec<Int>) -> Tensor {
    let (inner, extents) = (x.clone(), shape.clone());
    let at: At = Rc::new(move |case, place| {
        let at = super::tensor::offset(&extents, place);
        inner.flat(case, &at)
    });
    let inner = x.clone();
    let flat: Flat = Rc::new(move |case, at| inner.flat(case, at));
    Tensor { shape, count: x.count.clone(), ty: x.ty, at, flat: Some(flat), value: None }
}

fn reshape(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let wanted = call.input(1)?.ints()?;
    let count = case.norm(&x.count);
    let literal = wanted.iter().all(|n| case.nonneg(&case.norm(n).offset(-1)));
    let shape: Vec<Int> = if literal {
        // Positive extents: the result has them, if the number of elements is right.
        case.equal(&product(&wanted), &count, "a reshape")?;
        wanted.to_vec()
    } else {
        // -1 and 0 are placeholders. If no 0 copies an extent, the list and the number of elements
        // decide.
        let mut copies =
            !case.norm(&call.int("allowzero", 0)?).is(1) && !wanted.iter().all(|n| case.is_not_zero(n));
        if copies && case.mode == Mode::Assume {
            // No 0 at all, or one somewhere.
            match case.choose(wanted.len() + 1) {
                0 => {
                    wanted.iter().for_each(|n| case.not_zero(n.clone()));
                    copies = false;
                }
                k => case.equation(&wanted[k - 1])?,
            }
        }
        let mut from: Vec<Int> = wanted.to_vec();
        from.push(count);
        if copies {
            from.extend(x.shape.iter().cloned());
        }
        (0..wanted.len())
            .map(|d| {
                let mut arguments = vec![Int::from(d as i64)];
                arguments.extend(from.iter().cloned());
                let n = Int::fun("reshaped", arguments);
                case.fact(n.clone());
                n
            })
            .collect()
    };
    Ok(view(&x, shape))
}

fn squeeze(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let list = match (call.optional(1), call.attributes.get("axes")) {
        (Some(t), _) => t.ints()?.to_vec(),
        _ => return unproved("axes are open"),
    };
    let gone = axes(case, &list, x.rank())?;
    for d in &gone {
        case.equal(&x.shape[*d], &Int::from(1), "a squeezed axis")?;
    }
    let keeps: Vec<usize> = (0..x.rank()).filter(|d| !gone.contains(d)).collect();
    let shape = keeps.iter().map(|d| x.shape[*d].clone()).collect();
    let mut out = view(&x, shape);
    let rank = x.rank();
    out.at = Rc::new(move |case, place| {
        let mut from = vec![Int::default(); rank];
        for (k, d) in keeps.iter().enumerate() {
            from[*d] = place[k].clone();
        }
        x.at(case, &from)
    });
    Ok(out)
}

fn unsqueeze(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let list = call.input(1)?.ints()?.to_vec();
    let rank = x.rank() + list.len();
    let new = axes(case, &list, rank)?;
    let mut old = x.shape.iter().cloned();
    let shape: Vec<Int> = (0..rank)
        .map(|d| if new.contains(&d) { Int::from(1) } else { old.next().unwrap_or_else(Int::unknown) })
        .collect();
    let mut out = view(&x, shape);
    out.at = Rc::new(move |case, place| {
        let from: Vec<Int> =
            place.iter().enumerate().filter(|(d, _)| !new.contains(d)).map(|(_, i)| i.clone()).collect();
        x.at(case, &from)
    });
    Ok(out)
}

fn expand(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let wanted = call.input(1)?.ints()?;
    let (shape, repeats) = broadcast(case, &[&x.shape, &wanted])?;
    let ty = x.ty;
    let at: At = Rc::new(move |case, place| {
        let from = aligned(case, &x.shape, &repeats[0], place);
        x.at(case, &from)
    });
    Ok(Tensor::new(shape, ty, at))
}

fn slice(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    let (begin, end) = (call.input(1)?.ints()?, call.input(2)?.ints()?);
    let along = match call.optional(3) {
        Some(t) => axes(case, &t.ints()?, x.rank())?,
        None => (0..begin.len()).collect(),
    };
    let steps = match call.optional(4) {
        Some(t) => t.ints()?.to_vec(),
        None => vec![Int::from(1); begin.len()],
    };
    if [begin.len(), end.len(), steps.len()].iter().any(|n| *n != along.len()) || along.len() > x.rank() {
        return if case.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved("lists of different lengths")
        };
    }
    let mut shape = x.shape.clone();
    let mut taken: Vec<Option<(Int, Int)>> = vec![None; x.rank()];
    for (k, d) in along.iter().enumerate() {
        let n = x.shape[*d].clone();
        let arguments = vec![n.clone(), begin[k].clone(), end[k].clone(), steps[k].clone()];
        shape[*d] = Int::fun("slice_extent", arguments);
        case.fact(shape[*d].clone());
        taken[*d] =
            Some((Int::fun("slice_begin", vec![n, begin[k].clone(), steps[k].clone()]), steps[k].clone()));
    }
    let (ty, whole, results) = (x.ty, x.shape.clone(), shape.clone());
    let at: At = Rc::new(move |case, place| {
        let from: Vec<Int> = place
            .iter()
            .zip(&taken)
            .enumerate()
            .map(|(d, (i, t))| match t {
                None => i.clone(),
                // With step 1 as many elements as there are: all of them.
                Some((_, step)) if case.norm(step).is(1) && case.same(&whole[d], &results[d]) => i.clone(),
                Some((begin, step)) => begin.plus(&i.times(step)),
            })
            .collect();
        x.at(case, &from)
    });
    Ok(Tensor::new(shape, ty, at))
}

fn concat(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let parts = call.all()?;
    let Some(first) = parts.first().cloned() else { return unproved("nothing to put together") };
    let axis = call.axis(case, "axis", 0, first.rank())?;
    let mut total = Int::default();
    for t in &parts {
        case.same_type(t.ty, first.ty, "Concat")?;
        if t.rank() != first.rank() {
            return if case.mode == Mode::Assume { Err(Stop::Impossible) } else { unproved("ranks differ") };
        }
        for d in (0..first.rank()).filter(|d| *d != axis) {
            case.equal(&t.shape[d], &first.shape[d], "Concat")?;
        }
        total = total.plus(&t.shape[axis]);
    }
    let mut shape = first.shape.clone();
    shape[axis] = total;
    if let [one] = &parts[..] {
        return Ok(one.clone());
    }
    let at: At = Rc::new(move |case, place| {
        let mut begins = Vec::new();
        let mut begin = Int::default();
        for t in &parts {
            begins.push(begin.clone());
            begin = begin.plus(&t.shape[axis]);
        }
        let mut all: Option<Rc<Real>> = None;
        for (t, begin) in parts.iter().zip(&begins).rev() {
            let mut from = place.to_vec();
            from[axis] = place[axis].minus(begin);
            let e = t.at(case, &from)?;
            all = Some(match all {
                None => e,
                Some(rest) => {
                    let before_end = begin.plus(&t.shape[axis]).minus(&place[axis]).offset(-1);
                    Rc::new(Real::If(vec![before_end], e, rest))
                }
            });
        }
        all.ok_or(Stop::Impossible)
    });
    Ok(Tensor::new(shape, first.ty, at))
}

fn split(case: &mut Case, call: &Call<'_>) -> Step<Vec<Tensor>> {
    let x = call.input(0)?;
    let axis = call.axis(case, "axis", 0, x.rank())?;
    let extent = x.shape[axis].clone();
    let sizes: Vec<Int> = match call.optional(1) {
        Some(t) => {
            let sizes = t.ints()?.to_vec();
            case.equal(&sizes.iter().fold(Int::default(), |s, n| s.plus(n)), &extent, "Split")?;
            sizes
        }
        None => {
            // Parts of some extents. Equal numbers of parts of equal extents are the same.
            let key = format!("{} {}", case.norm(&extent), call.results);
            match case.parts.get(&key).cloned() {
                Some(parts) => parts,
                None => {
                    let parts: Vec<Int> = (0..call.results).map(|_| case.extent("part")).collect();
                    let sum = parts.iter().fold(Int::default(), |s, n| s.plus(n));
                    if case.mode == Mode::Show {
                        return unproved("the parts of a split are open");
                    }
                    case.equation(&extent.minus(&sum))?;
                    let key = format!("{} {}", case.norm(&extent), call.results);
                    case.parts.insert(key, parts.clone());
                    parts
                }
            }
        }
    };
    if sizes.len() < call.results {
        return if case.mode == Mode::Assume { Err(Stop::Impossible) } else { unproved("too few parts") };
    }
    let mut begin = Int::default();
    let mut out = Vec::new();
    for n in sizes {
        let mut shape = x.shape.clone();
        shape[axis] = n.clone();
        let (inner, from) = (x.clone(), begin.clone());
        let at: At = Rc::new(move |case, place| {
            let mut place = place.to_vec();
            place[axis] = place[axis].plus(&from);
            inner.at(case, &place)
        });
        out.push(Tensor::new(shape, x.ty, at));
        begin = begin.plus(&n);
    }
    Ok(out)
}
