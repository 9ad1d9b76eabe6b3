//! What operators with windows compute: padding, convolutions, averages.

use std::rc::Rc;

use super::case::{Case, Mode, Step, Stop, unproved};
use super::element::{Fold, Op, Real, number, op};
use super::int::Int;
use super::operators::Call;
use super::tensor::{At, Tensor, product};
use super::types::Class;

/// Zeros, or a constant, around a tensor.
pub(super) fn pad(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    if call.text("mode", "constant")? != "constant" || call.optional(3).is_some() {
        return unproved("a padding of another kind");
    }
    let pads = call.input(1)?.ints()?;
    let rank = x.rank();
    if pads.len() != 2 * rank {
        return if case.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved("paddings of another rank")
        };
    }
    let fill = call.optional(2);
    let shape: Vec<Int> = (0..rank).map(|d| x.shape[d].plus(&pads[d]).plus(&pads[rank + d])).collect();
    let ty = x.ty;
    let at: At = Rc::new(move |case, place| {
        let mut from = Vec::new();
        let mut conditions = Vec::new();
        for d in 0..place.len() {
            let i = place[d].minus(&pads[d]);
            // Without padding every place of the result is one of the operand.
            let rank = place.len();
            if !case.norm(&pads[d]).is(0) || !case.norm(&pads[rank + d]).is(0) {
                conditions.push(i.clone());
                conditions.push(x.shape[d].minus(&i).offset(-1));
            }
            from.push(i);
        }
        let inside = x.at(case, &from)?;
        let outside = match &fill {
            None => number(0.0),
            // Conditions of the rule may have said what it is.
            Some(t) => t.at(case, &vec![Int::default(); t.rank()])?,
        };
        Ok(Rc::new(Real::If(conditions, inside, outside)))
    });
    Ok(Tensor::new(shape, ty, at))
}

/// Strides, dilations, paddings and the number of places of a window.
struct Window {
    strides: Vec<Int>,
    dilations: Vec<Int>,
    before: Vec<Int>,
    places: Vec<Int>,
}

fn window(case: &mut Case, call: &Call<'_>, image: &[Int], kernel: &[Int]) -> Step<Window> {
    let n = image.len();
    let (strides, dilations) =
        (call.ints(case, "strides", Int::from(1), n)?, call.ints(case, "dilations", Int::from(1), n)?);
    let auto = call.text("auto_pad", "NOTSET")?;
    let mut w = Window { strides, dilations, before: Vec::new(), places: Vec::new() };
    if auto == "NOTSET" {
        let pads = call.ints(case, "pads", Int::default(), 2 * n)?;
        for d in 0..n {
            let span = w.dilations[d].times(&kernel[d].offset(-1));
            let room = image[d].plus(&pads[d]).plus(&pads[n + d]).minus(&span).offset(-1);
            w.places.push(Int::fun("div", vec![room, w.strides[d].clone()]).offset(1));
        }
        w.before = pads[..n].to_vec();
        return Ok(w);
    }
    // Paddings that follow from the sizes: some function of them.
    for d in 0..n {
        let of = vec![image[d].clone(), kernel[d].clone(), w.strides[d].clone(), w.dilations[d].clone()];
        w.places.push(Int::fun(&format!("places_{auto}"), of.clone()));
        w.before.push(Int::fun(&format!("before_{auto}"), of));
        case.fact(w.places[d].clone());
    }
    Ok(w)
}

/// Where a window has its element `k`, and what must not be negative for that to be inside the
/// image.
fn element(w: &Window, image: &[Int], place: &[Int], k: &[Int]) -> (Vec<Int>, Vec<Int>) {
    let mut conditions = Vec::new();
    let mut from = Vec::new();
    for d in 0..image.len() {
        let i = place[d].times(&w.strides[d]).plus(&k[d].times(&w.dilations[d])).minus(&w.before[d]);
        conditions.push(i.clone());
        conditions.push(image[d].minus(&i).offset(-1));
        from.push(i);
    }
    (from, conditions)
}

/// How many of `all` each of `groups` has.
fn share(case: &mut Case, all: &Int, groups: &Int, what: &str) -> Step<Int> {
    let (all, groups) = (case.norm(all), case.norm(groups));
    if groups.is(1) {
        return Ok(all);
    }
    if let Some((q, rest)) = all.divide(&groups)
        && rest.is_zero()
    {
        return Ok(q);
    }
    if case.mode == Mode::Show {
        return unproved(format!("{what}: `{groups}` may not divide `{all}`"));
    }
    let each = case.extent("share");
    case.equation(&all.minus(&groups.times(&each)))?;
    Ok(each)
}

pub(super) fn conv(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let (x, w, b) = (call.input(0)?, call.input(1)?, call.optional(2));
    case.need(x.ty, &[Class::Float], "Conv")?;
    case.same_type(x.ty, w.ty, "Conv")?;
    if x.rank() < 3 || w.rank() != x.rank() {
        return if case.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved("ranks of a convolution")
        };
    }
    if case.mode == Mode::Assume {
        // There is a filter, and it has an element.
        w.shape.iter().for_each(|n| case.fact(n.offset(-1)));
    }
    let groups = call.int("group", 1)?;
    let per = w.shape[1].clone();
    case.equal(&x.shape[1], &groups.times(&per), "Conv")?;
    let filters = w.shape[0].clone();
    let each = share(case, &filters, &groups, "Conv")?;
    if let Some(b) = &b {
        case.same_type(x.ty, b.ty, "Conv")?;
        if b.rank() != 1 {
            return if case.mode == Mode::Assume {
                Err(Stop::Impossible)
            } else {
                unproved("a bias of another rank")
            };
        }
        case.equal(&b.shape[0], &filters, "Conv")?;
    }
    let (image, kernel) = (x.shape[2..].to_vec(), w.shape[2..].to_vec());
    let win = window(case, call, &image, &kernel)?;
    let shape: Vec<Int> = [&[x.shape[0].clone(), filters], &win.places[..]].concat();
    let ty = x.ty;
    let at: At = Rc::new(move |case, place| {
        let c = case.variable();
        let mut vars = vec![(c, per.clone())];
        let mut k = Vec::new();
        for n in &kernel {
            let v = case.variable();
            vars.push((v, n.clone()));
            k.push(Int::var(v));
        }
        let channel = if case.norm(&groups).is(1) {
            Int::var(c)
        } else {
            Int::fun("div", vec![place[1].clone(), each.clone()]).times(&per).plus(&Int::var(c))
        };
        let (from, conditions) = element(&win, &image, &place[2..], &k);
        let read = x.at(case, &[&[place[0].clone(), channel], &from[..]].concat())?;
        let read = Rc::new(Real::If(conditions, read, number(0.0)));
        let weight = w.at(case, &[&[place[1].clone(), Int::var(c)], &k[..]].concat())?;
        let sum = Rc::new(Real::Fold(Fold::Sum, vars, op(Op::Mul, read, weight)));
        match &b {
            Some(b) => Ok(op(Op::Add, sum, b.at(case, &place[1..2])?)),
            None => Ok(sum),
        }
    });
    Ok(Tensor::new(shape, ty, at))
}

/// The transposed convolution of one group: which input a window takes from, and whether it takes
/// at all, are some functions of place, tap and attributes.
pub(super) fn conv_transpose(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let (x, w, b) = (call.input(0)?, call.input(1)?, call.optional(2));
    case.need(x.ty, &[Class::Float], "ConvTranspose")?;
    case.same_type(x.ty, w.ty, "ConvTranspose")?;
    if x.rank() < 3 || w.rank() != x.rank() {
        return if case.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved("ranks of a convolution")
        };
    }
    if !case.norm(&call.int("group", 1)?).is(1) {
        return unproved("groups of a transposed convolution");
    }
    case.equal(&x.shape[1], &w.shape[0], "ConvTranspose")?;
    let filters = w.shape[1].clone();
    if let Some(b) = &b {
        case.same_type(x.ty, b.ty, "ConvTranspose")?;
        if b.rank() != 1 {
            return if case.mode == Mode::Assume {
                Err(Stop::Impossible)
            } else {
                unproved("a bias of another rank")
            };
        }
        case.equal(&b.shape[0], &filters, "ConvTranspose")?;
    }
    let n = x.rank() - 2;
    let auto = call.text("auto_pad", "NOTSET")?;
    let mut numbers: Vec<Int> = Vec::new();
    for (name, default, count) in [
        ("strides", 1, n),
        ("dilations", 1, n),
        ("pads", 0, 2 * n),
        ("output_padding", 0, n),
        ("output_shape", 0, n),
    ] {
        numbers.extend(call.ints(case, name, Int::from(default), count)?);
    }
    let (image, kernel) = (x.shape[2..].to_vec(), w.shape[2..].to_vec());
    numbers.extend(image.iter().chain(&kernel).cloned());
    let some = |what: &str, d: usize, more: &[Int], numbers: &[Int]| {
        let arguments = [&[Int::from(d as i64)], more, numbers].concat();
        Int::fun(&format!("transposed_{what}_{auto}"), arguments)
    };
    let mut shape = vec![x.shape[0].clone(), filters];
    for d in 0..n {
        let extent = some("extent", d, &[], &numbers);
        case.fact(extent.clone());
        shape.push(extent);
    }
    let (ty, channels) = (x.ty, x.shape[1].clone());
    let auto_name = auto.clone();
    let at: At = Rc::new(move |case, place| {
        let c = case.variable();
        let mut vars = vec![(c, channels.clone())];
        let mut k = Vec::new();
        for n in &kernel {
            let v = case.variable();
            vars.push((v, n.clone()));
            k.push(Int::var(v));
        }
        let mut from = vec![place[0].clone(), Int::var(c)];
        let mut conditions = Vec::new();
        for d in 0..kernel.len() {
            let arguments = |what: &str| {
                let more = [Int::from(d as i64), place[2 + d].clone(), k[d].clone()];
                Int::fun(&format!("transposed_{what}_{auto_name}"), [&more[..], &numbers[..]].concat())
            };
            from.push(arguments("from"));
            conditions.push(arguments("inside"));
        }
        let read = Rc::new(Real::If(conditions, x.at(case, &from)?, number(0.0)));
        let weight = w.at(case, &[&[Int::var(c), place[1].clone()], &k[..]].concat())?;
        let sum = Rc::new(Real::Fold(Fold::Sum, vars, op(Op::Mul, read, weight)));
        match &b {
            Some(b) => Ok(op(Op::Add, sum, b.at(case, &place[1..2])?)),
            None => Ok(sum),
        }
    });
    Ok(Tensor::new(shape, ty, at))
}

/// Averages that count their padding.
pub(super) fn average_pool(case: &mut Case, call: &Call<'_>) -> Step<Tensor> {
    let x = call.input(0)?;
    case.need(x.ty, &[Class::Float], "AveragePool")?;
    if x.rank() < 3 {
        return if case.mode == Mode::Assume { Err(Stop::Impossible) } else { unproved("ranks of a pool") };
    }
    let n = x.rank() - 2;
    let plain = case.norm(&call.int("count_include_pad", 0)?).is(1)
        && case.norm(&call.int("ceil_mode", 0)?).is(0)
        && call.text("auto_pad", "NOTSET")? == "NOTSET";
    if !plain {
        return unproved("an average of another kind");
    }
    let image = x.shape[2..].to_vec();
    let kernel = call.ints(case, "kernel_shape", Int::unknown(), n)?;
    let win = window(case, call, &image, &kernel)?;
    let shape: Vec<Int> = [&x.shape[..2], &win.places[..]].concat();
    let ty = x.ty;
    let at: At = Rc::new(move |case, place| {
        let vars: Vec<(u32, Int)> = kernel.iter().map(|n| (case.variable(), n.clone())).collect();
        let k: Vec<Int> = vars.iter().map(|(v, _)| Int::var(*v)).collect();
        let (from, conditions) = element(&win, &image, &place[2..], &k);
        let read = x.at(case, &[&place[..2], &from[..]].concat())?;
        let read = Rc::new(Real::If(conditions, read, number(0.0)));
        let sum = Rc::new(Real::Fold(Fold::Sum, vars, read));
        Ok(op(Op::Div, sum, Rc::new(Real::Int(product(&kernel)))))
    });
    Ok(Tensor::new(shape, ty, at))
}
