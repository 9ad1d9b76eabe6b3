//! Convolutions: direct, transposed, of integers, deformable, causal; and `Col2Im`, the reverse of
//! extracting windows.

use loops::{Registers, Size};

use super::build::{Cx, Extents};
use super::byte_filters::Weights;
use super::transposed_products::Transposed;
use super::value::{Val, int, number, size, truth};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// Strides, dilations and paddings of a window over spatial dimensions, all of them numbers.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) kernel: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) dilations: Vec<i64>,
    pub(super) before: Vec<i64>,
    pub(super) after: Vec<i64>,
    /// Number of places of the window in each dimension.
    pub(super) places: Extents,
    /// Whether what an element of the last dimension has at all places is made a row of its own.
    pub(super) apart: bool,
}

/// The extents of the image, as sizes; those that meet a window or stride must be numbers unless
/// nothing changes.
pub(super) fn window(op: &Op, image: &[Size], kernel: Vec<i64>) -> Result<Window, Refusal> {
    let rank = image.len();
    let list = |name: &str, default: i64| -> Result<Vec<i64>, Refusal> {
        let list = op.ints(name).map_or_else(|| vec![default; rank], <[i64]>::to_vec);
        if list.len() == rank && list.iter().all(|v| *v >= 1) {
            Ok(list)
        } else {
            Err(Refusal::inputs(format!("`{name}` must have {rank} positive numbers")))
        }
    };
    if kernel.len() != rank {
        return Err(Refusal::inputs("kernel and image differ in rank"));
    }
    let (strides, dilations) = (list("strides", 1)?, list("dilations", 1)?);
    let auto = op.string("auto_pad", "NOTSET");
    let pads = op.ints("pads").map_or_else(|| vec![0; 2 * rank], <[i64]>::to_vec);
    if pads.len() != 2 * rank {
        return Err(Refusal::inputs(format!("`pads` must have {} numbers", 2 * rank)));
    }
    for number in kernel.iter().chain(&strides).chain(&dilations).chain(&pads) {
        op.moderate("an attribute", *number)?;
    }
    let ceil = op.int("ceil_mode", 0) != 0;
    let mut w = Window {
        before: pads[..rank].to_vec(),
        after: pads[rank..].to_vec(),
        kernel,
        strides,
        dilations,
        places: Vec::new(),
        apart: false,
    };
    for (k, extent) in image.iter().enumerate() {
        op.moderate("an extent", extent.as_constant().unwrap_or(0))?;
        let span = w.dilations[k] * (w.kernel[k] - 1) + 1;
        let stride = w.strides[k];
        let same = matches!(auto, "SAME_UPPER" | "SAME_LOWER");
        if auto == "VALID" {
            (w.before[k], w.after[k]) = (0, 0);
        }
        let Some(n) = extent.as_constant() else {
            // Symbolic extents: only if the window has as many positions as there are elements, or
            // a simple difference.
            let shrink = span - 1 - w.before[k] - w.after[k];
            if stride != 1 || same {
                return Err(Refusal::not_constant(format!("the extent {extent} must be a number")));
            }
            w.places.push(extent.clone() - Size::constant(shrink));
            continue;
        };
        if same {
            let count = (n + stride - 1) / stride;
            let total = ((count - 1) * stride + span - n).max(0);
            let small = total / 2;
            (w.before[k], w.after[k]) =
                if auto == "SAME_UPPER" { (small, total - small) } else { (total - small, small) };
        }
        let room = n + w.before[k] + w.after[k] - span;
        let mut count = if room < 0 {
            0
        } else if ceil && !same {
            (room + stride - 1) / stride + 1
        } else {
            room / stride + 1
        };
        if ceil && count > 0 && (count - 1) * stride >= n + w.before[k] {
            count -= 1;
        }
        w.places.push(Size::constant(count));
    }
    Ok(w)
}

impl Window {
    /// The position of element `k` of the window at `place`, and whether it is inside the image
    /// (`None`: always).
    pub(super) fn element(&self, image: &[Size], place: &[Val], k: &[Val]) -> (Vec<Val>, Option<Val>) {
        let mut inside: Option<Val> = None;
        let mut at = Vec::new();
        for d in 0..image.len() {
            let i = place[d].int() * int(self.strides[d]) + k[d].int() * int(self.dilations[d])
                - int(self.before[d]);
            let mut test = |condition: Val| {
                inside = Some(match inside.take() {
                    Some(all) => all.and(&condition),
                    None => condition,
                });
            };
            if self.before[d] > 0 {
                test(int(0).le(&i));
            }
            if self.after[d] > 0 || self.overhangs(image, d) {
                test(i.lt(&size(&image[d])));
            }
            at.push(i);
        }
        (at, inside)
    }

    /// Whether the last window goes beyond the image.
    fn overhangs(&self, image: &[Size], d: usize) -> bool {
        match (image[d].as_constant(), self.places[d].as_constant()) {
            (Some(n), Some(count)) => {
                let span = self.dilations[d] * (self.kernel[d] - 1);
                (count - 1) * self.strides[d] + span - self.before[d] >= n
            }
            _ => self.before[d] + self.after[d] > 0,
        }
    }

    /// The extents of the window.
    pub(super) fn extents(&self) -> Extents {
        self.kernel.iter().map(|n| Size::constant(*n)).collect()
    }
}

/// A number that every extent is.
pub(super) fn numbers(shape: &[Size]) -> Result<Vec<i64>, Refusal> {
    shape
        .iter()
        .map(|n| {
            n.as_constant().ok_or_else(|| Refusal::not_constant(format!("the extent {n} must be a number")))
        })
        .collect()
}

/// What a convolution is made of: input, weights, and what happens to their elements.
struct Convolution<'f> {
    x: Input,
    w: Input,
    elem: ElementType,
    /// The number of the input that the weights are.
    weights: usize,
    /// Whether `left` changes something.
    is_left_shifted: bool,
    /// Whether `right` does.
    is_right_shifted: bool,
    /// Whether the zero points are bytes.
    bytes: bool,
    left: &'f dyn Fn(&mut Cx, Val) -> Val,
    right: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
    last: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

fn convolve(op: &mut Op, c: &Convolution) -> Done {
    let (x, w) = (&c.x, &c.w);
    if x.rank() < 3 || w.rank() != x.rank() {
        return Err(Refusal::inputs("image and weights must have the same number of dimensions, at least 3"));
    }
    let image = &x.shape[2..];
    let win = window(op, image, numbers(&w.shape[2..])?)?;
    let groups = op.moderate("`group`", op.int("group", 1))?.max(1);
    let [m, cg] = numbers(&w.shape[..2])?[..] else { return Err(Refusal::inputs("weights")) };
    op.moderate("the number of channels", cg)?;
    if m % groups != 0 || x.shape[1] != Size::constant(cg * groups) {
        return Err(Refusal::inputs(format!(
            "{groups} groups of {cg} channels do not fit {} channels and {m} filters",
            x.shape[1]
        )));
    }
    let shape: Extents = [&[x.shape[0].clone(), Size::constant(m)], &win.places[..]].concat();
    let inner: Extents = [&[Size::constant(cg)], &win.extents()[..]].concat();
    if let Some(registers) = op.fast
        && matches!(c.elem, ElementType::F32 | ElementType::F64)
        && x.elem == c.elem
        && let Some(val) =
            super::image_windows::convolution(op, x, w, &win, (groups, Weights::Stored), registers, c.last)
    {
        op.result(val, c.elem, shape);
        return Ok(());
    }
    if let Some(val) = integers(op, c, &win, groups) {
        op.result(val, c.elem, shape);
        return Ok(());
    }
    op.tensor(c.elem, &shape, &mut |cx, at| {
        let zero = (c.left)(cx, x.at(&vec![int(0); x.rank()]));
        let sum = cx.fold_all(&inner, number(zero.scalar(), 0.0), &mut |cx, k, acc| {
            let channel = match groups {
                1 => k[0].clone(),
                _ => at[1].int() / int(m / groups) * int(cg) + k[0].int(),
            };
            let (place, inside) = win.element(image, &at[2..], &k[1..]);
            let from = [&[at[0].clone(), channel], &place[..]].concat();
            let value = (c.left)(cx, x.at(&from));
            let value = match inside {
                Some(inside) => value.when(&inside, &number(value.scalar(), 0.0)),
                None => value,
            };
            let weight = w.at(&[&[at[1].clone()], k].concat());
            acc + value * (c.right)(cx, weight, &at[1])
        });
        (c.last)(cx, sum, &at[1])
    });
    Ok(())
}

/// A convolution of integers that are stored in 32 bits, as one of numbers that are shifted before:
/// so paddings are zeros, and are made once, and sums are those of tiles. Sums wrap around, so
/// their order does not matter.
fn integers(op: &mut Op, c: &Convolution, win: &Window, groups: i64) -> Option<Val> {
    let registers = op.fast?;
    let known = |shape: &[Size]| shape.iter().all(|n| n.as_constant().is_some_and(|n| n > 0));
    let stored = [&c.x, &c.w].iter().all(|input| input.scalar() == loops::Scalar::I32);
    // Samples come one after the other, however many they are.
    let some = c.x.shape[0].as_constant() != Some(0);
    if !stored || !some || !known(&c.x.shape[1..]) || !known(&c.w.shape) {
        return None;
    }
    if let Some(val) = fours(op, c, win, groups, registers) {
        return Some(val);
    }
    let before = op.cx.holds();
    let x = shifted(op, &c.x, c.is_left_shifted, &|cx, v, _| (c.left)(cx, v));
    if c.bytes && super::pairs::of_bytes(c.x.elem, c.w.elem, 1, 1).is_some() {
        let same = |_: &mut Cx, value: Val, _: &Val| value;
        let shift = if c.is_right_shifted { c.right } else { &same };
        let weights = Weights::Bytes { input: c.weights, w: &c.w, shift };
        let found = super::image_windows::products(op, &x, &c.w, win, (groups, weights), registers, c.last);
        if let Some(val) = found {
            return Some(op.cx.release(val));
        }
    }
    let w = shifted(op, &c.w, c.is_right_shifted, c.right);
    let computed = (groups, Weights::Computed);
    let found = super::image_windows::convolution(op, &x, &w, win, computed, registers, c.last);
    if found.is_none() {
        op.cx.hold_only(before);
    }
    found.map(|val| op.cx.release(val))
}

/// A convolution of bytes whose filters are constant, and have a zero point that is none to fours.
fn fours(op: &mut Op, c: &Convolution, win: &Window, groups: i64, registers: Registers) -> Option<Val> {
    let zero = if c.is_right_shifted { op.known_zero_point(c.weights + 2)? } else { 0 };
    let to_number = |cx: &mut Cx| (c.left)(cx, number(loops::Scalar::I32, 0.0));
    let weights = Weights::Fours { input: c.weights, w: &c.w, zero, x: &c.x, to_number: &to_number };
    super::image_windows::products(op, &c.x, &c.w, win, (groups, weights), registers, c.last)
}

/// The input as numbers that are less a zero point, if it has one; made once.
fn shifted(op: &mut Op, input: &Input, shifts: bool, of: &dyn Fn(&mut Cx, Val, &Val) -> Val) -> Input {
    if !shifts {
        return input.clone();
    }
    let numbers = op.cx.tensor(&input.shape, &mut |cx, at| of(cx, input.at(at), &at[0]));
    let val = op.cx.hold("shifted", numbers.stored());
    Input { val, elem: ElementType::I32, shape: input.shape.clone() }
}

/// Whether a zero point shifts anything.
fn is_shift(op: &Op, input: usize) -> bool {
    let Some(operand) = op.operand(input) else { return false };
    let zeros = operand.constant.and_then(super::storage_type::numbers);
    zeros.is_none_or(|zeros| zeros.iter().any(|zero| *zero != 0.0))
}

pub(super) fn conv(op: &mut Op) -> Done {
    let (x, w, b) = (op.input(0)?, op.input(1)?, op.optional(2)?);
    let elem = x.elem;
    let last = |_: &mut Cx, sum: Val, m: &Val| match &b {
        Some(b) => sum + b.at(std::slice::from_ref(m)),
        None => sum,
    };
    convolve(
        op,
        &Convolution {
            x,
            w,
            elem,
            weights: 1,
            is_left_shifted: false,
            is_right_shifted: false,
            bytes: false,
            left: &|_, v| v,
            right: &|_, v, _| v,
            last: &last,
        },
    )
}

fn less(v: Val, zero: &Option<Input>, m: Option<&Val>) -> Val {
    match zero {
        None => v,
        Some(z) if z.rank() == 0 => v - &z.val,
        Some(z) if z.shape[0].as_constant() == Some(1) => v - z.at(&[int(0)]),
        Some(z) => v - z.at(&[m.cloned().unwrap_or_else(|| int(0))]),
    }
}

pub(super) fn conv_integer(op: &mut Op) -> Done {
    let (x, w) = (op.input(0)?, op.input(1)?);
    let (zx, zw) = (op.optional(2)?, op.optional(3)?);
    let (is_left_shifted, is_right_shifted) = (is_shift(op, 2), is_shift(op, 3));
    convolve(
        op,
        &Convolution {
            x,
            w,
            elem: ElementType::I32,
            weights: 1,
            is_left_shifted,
            is_right_shifted,
            bytes: super::pairs::are_bytes(&[&zx, &zw]),
            left: &|_, v| less(v, &zx, None),
            right: &|_, v, m| less(v, &zw, Some(m)),
            last: &|_, sum, _| sum,
        },
    )
}

pub(super) fn qlinear_conv(op: &mut Op) -> Done {
    let (x, sx, zx) = (op.input(0)?, op.input(1)?, op.optional(2)?);
    let (w, sw, zw) = (op.input(3)?, op.input(4)?, op.optional(5)?);
    let (sy, zy, b) = (op.input(6)?, op.input(7)?, op.optional(8)?);
    let elem = zy.elem;
    let scale = |s: &Input, m: &Val| match s.shape.first().map(|n| n.as_constant() == Some(1)) {
        None => s.val.clone(),
        Some(true) => s.at(&[int(0)]),
        Some(false) => s.at(std::slice::from_ref(m)),
    };
    let (is_left_shifted, is_right_shifted) = (is_shift(op, 2), is_shift(op, 5));
    convolve(
        op,
        &Convolution {
            x,
            w,
            elem,
            weights: 3,
            is_left_shifted,
            is_right_shifted,
            bytes: super::pairs::are_bytes(&[&zx, &zw]),
            left: &|_, v| less(v, &zx, None),
            right: &|_, v, m| less(v, &zw, Some(m)),
            last: &|cx, sum, m| {
                let sum = match &b {
                    Some(b) => sum + b.at(std::slice::from_ref(m)),
                    None => sum,
                };
                let factor = scale(&sx, m) * scale(&sw, m) / scale(&sy, m);
                let value = (sum.to(loops::Scalar::F32) * factor).round();
                super::quantise::saturated(cx, elem, value, &scale(&zy, m))
            },
        },
    )
}

/// Transposed: each output gathers the inputs whose window covers it.
pub(super) fn conv_transpose(op: &mut Op) -> Done {
    let (x, w, b) = (op.input(0)?, op.input(1)?, op.optional(2)?);
    let rank = x.rank().saturating_sub(2);
    if rank == 0 || w.rank() != x.rank() {
        return Err(Refusal::inputs("image and weights must have the same number of dimensions, at least 3"));
    }
    let list = |name: &str, default: i64| op.ints(name).map_or_else(|| vec![default; rank], <[i64]>::to_vec);
    let (strides, dilations) = (list("strides", 1), list("dilations", 1));
    let extra = list("output_padding", 0);
    let pads = op.ints("pads").map_or_else(|| vec![0; 2 * rank], <[i64]>::to_vec);
    let image = numbers(&x.shape[2..])?;
    let kernel = numbers(&w.shape[2..])?;
    if [&strides, &dilations, &extra].iter().any(|l| l.len() != rank)
        || pads.len() != 2 * rank
        || strides.iter().any(|s| *s < 1)
    {
        return Err(Refusal::inputs("an attribute has another number of dimensions"));
    }
    for number in strides.iter().chain(&dilations).chain(&extra).chain(&pads).chain(&image).chain(&kernel) {
        op.moderate("an attribute or extent", *number)?;
    }
    let groups = op.moderate("`group`", op.int("group", 1))?.max(1);
    let [channels, mg] = numbers(&w.shape[..2])?[..] else { return Err(Refusal::inputs("weights")) };
    let full: Vec<i64> = (0..rank)
        .map(|k| strides[k] * (image[k] - 1) + extra[k] + (kernel[k] - 1) * dilations[k] + 1)
        .collect();
    let auto = op.string("auto_pad", "NOTSET");
    let mut before = pads[..rank].to_vec();
    let mut out: Vec<i64> = (0..rank).map(|k| full[k] - pads[k] - pads[rank + k]).collect();
    let asked: Option<Vec<i64>> = match op.ints("output_shape") {
        Some(shape) if shape.len() < rank => {
            return Err(Refusal::inputs(format!("`output_shape` must have {rank} numbers")));
        }
        Some(shape) => Some(shape[shape.len() - rank..].to_vec()),
        None if auto.starts_with("SAME") => Some((0..rank).map(|k| image[k] * strides[k]).collect()),
        None => None,
    };
    if let Some(asked) = asked {
        for k in 0..rank {
            op.moderate("an extent", asked[k])?;
            let total = (full[k] - asked[k]).max(0);
            before[k] = if auto == "SAME_UPPER" { total / 2 } else { total - total / 2 };
            if auto == "NOTSET" {
                before[k] = total / 2;
            }
            out[k] = asked[k];
        }
    } else if auto == "VALID" {
        before = vec![0; rank];
        out = full;
    }
    let per = channels / groups;
    let transposed = Transposed {
        x: &x,
        weights: &w,
        bias: b.as_ref(),
        groups,
        channels: [per, mg],
        image: &image,
        kernel: &kernel,
        strides: &strides,
        dilations: &dilations,
        before: &before,
        out: &out,
    };
    let phases = op.fast.and_then(|registers| transposed.build(&mut op.cx, registers));
    let out: Extents = out.into_iter().map(Size::constant).collect();
    let shape: Extents = [&[x.shape[0].clone(), Size::constant(mg * groups)], &out[..]].concat();
    if let Some(val) = phases {
        op.result(val, x.elem, shape);
        return Ok(());
    }
    let inner: Extents = std::iter::once(per).chain(kernel.iter().copied()).map(Size::constant).collect();
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let sum = cx.fold_all(&inner, number(x.scalar(), 0.0), &mut |_, k, acc| {
            let channel = at[1].int() / int(mg) * int(per) + k[0].int();
            let filter = at[1].int() % int(mg);
            let mut inside = truth(true);
            let mut from = vec![at[0].clone(), channel.clone()];
            for d in 0..rank {
                let reach = at[2 + d].int() + int(before[d]) - k[1 + d].int() * int(dilations[d]);
                let i = &reach / int(strides[d]);
                inside = inside
                    .and(&(&reach % int(strides[d])).eq(&int(0)))
                    .and(&int(0).le(&i))
                    .and(&i.lt(&int(image[d])));
                from.push(i);
            }
            let weight = w.at(&[&[channel, filter], &k[1..]].concat());
            let product = x.at(&from) * weight;
            acc + product.when(&inside, &number(x.scalar(), 0.0))
        });
        match &b {
            Some(b) => sum + b.at(&at[1..2]),
            None => sum,
        }
    });
    Ok(())
}

/// Columns of windows added up to the image that they come from.
pub(super) fn col2im(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let image = op.constant_ints(1)?.ok_or_else(|| Refusal::inputs("input 1 is missing"))?;
    let kernel = op.constant_ints(2)?.ok_or_else(|| Refusal::inputs("input 2 is missing"))?;
    let extents: Extents = image.iter().map(|n| Size::constant(*n)).collect();
    let win = window(op, &extents, kernel.clone())?;
    let rank = image.len();
    let [n, ck, _] = &x.shape[..] else { return Err(Refusal::inputs("3 dimensions are needed")) };
    let area = kernel.iter().try_fold(1i64, |area, n| area.checked_mul(*n));
    let area = area.ok_or_else(|| Refusal::inputs("the blocks are too large"))?;
    let channels =
        ck.exact_div(&Size::constant(area)).ok_or_else(|| Refusal::inputs("the channels do not divide"))?;
    let places = numbers(&win.places)?;
    let shape: Extents = [&[n.clone(), channels], &extents[..]].concat();
    let inner = win.extents();
    op.tensor(x.elem, &shape, &mut |cx, at| {
        cx.fold_all(&inner, number(x.scalar(), 0.0), &mut |_, k, acc| {
            let mut inside = truth(true);
            let (mut column, mut element) = (int(0), at[1].int());
            for d in 0..rank {
                let reach = at[2 + d].int() + int(win.before[d]) - k[d].int() * int(win.dilations[d]);
                let i = &reach / int(win.strides[d]);
                inside = inside
                    .and(&(&reach % int(win.strides[d])).eq(&int(0)))
                    .and(&int(0).le(&i))
                    .and(&i.lt(&int(places[d])));
                column = column * int(places[d]) + i;
                element = element * int(kernel[d]) + k[d].int();
            }
            let value = x.at(&[at[0].clone(), element, column]);
            acc + value.when(&inside, &number(x.scalar(), 0.0))
        })
    });
    Ok(())
}

/// The value between samples of an image plane at real coordinates: bilinear, zero outside.
pub(super) fn bilinear(cx: &mut Cx, plane: &Val, extents: &[Size; 2], y: Val, x: Val) -> Val {
    let scalar = y.scalar();
    cx.bind("y", y, |cx, y| {
        cx.bind("x", x, |cx, x| {
            let (y0, x0) = (y.floor(), x.floor());
            cx.bind("y0", y0, |cx, y0| {
                cx.bind("x0", x0, |_, x0| {
                    let (fy, fx) = (&y - &y0, &x - &x0);
                    let one = number(scalar, 1.0);
                    let corner = |dy: i64, dx: i64| {
                        let (i, j) =
                            (y0.to(loops::Scalar::I64) + int(dy), x0.to(loops::Scalar::I64) + int(dx));
                        let inside = int(0)
                            .le(&i)
                            .and(&i.lt(&size(&extents[0])))
                            .and(&int(0).le(&j))
                            .and(&j.lt(&size(&extents[1])));
                        let wy = if dy == 0 { &one - &fy } else { fy.clone() };
                        let wx = if dx == 0 { &one - &fx } else { fx.clone() };
                        let value = plane.at(&[i, j]) * wy * wx;
                        value.when(&inside, &number(scalar, 0.0))
                    };
                    corner(0, 0) + corner(0, 1) + corner(1, 0) + corner(1, 1)
                })
            })
        })
    })
}

pub(super) fn deform_conv(op: &mut Op) -> Done {
    let (x, w, offset) = (op.ranked(0, 4..=4)?, op.ranked(1, 4..=4)?, op.ranked(2, 4..=4)?);
    let (b, mask) = (op.optional(3)?, op.optional(4)?);
    let (groups, offset_groups) = (op.int("group", 1).max(1), op.int("offset_group", 1).max(1));
    let win = window(op, &x.shape[2..], numbers(&w.shape[2..])?)?;
    let [m, cg] = numbers(&w.shape[..2])?[..] else { return Err(Refusal::inputs("weights")) };
    let channels = numbers(&x.shape[1..2])?[0];
    let area = win.kernel[0] * win.kernel[1];
    let shape: Extents = [&[x.shape[0].clone(), Size::constant(m)], &win.places[..]].concat();
    let inner: Extents = [&[Size::constant(cg)], &win.extents()[..]].concat();
    let scalar = x.scalar();
    let extents = [x.shape[2].clone(), x.shape[3].clone()];
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let sum = cx.fold_all(&inner, number(scalar, 0.0), &mut |cx, k, acc| {
            let channel = at[1].int() / int(m / groups) * int(cg) + k[0].int();
            let group = &channel / int((channels / offset_groups).max(1));
            let tap = k[1].int() * int(win.kernel[1]) + k[2].int();
            let shift = |d: i64| {
                let c = (&group * int(area) + &tap) * int(2) + int(d);
                offset.at(&[at[0].clone(), c, at[2].clone(), at[3].clone()])
            };
            let base = |d: usize| {
                (at[2 + d].int() * int(win.strides[d]) + k[1 + d].int() * int(win.dilations[d])
                    - int(win.before[d]))
                .to(scalar)
            };
            let (py, px) = (base(0) + shift(0), base(1) + shift(1));
            let plane = x.at(&[at[0].clone(), channel.clone()]);
            let value = bilinear(cx, &plane, &extents, py, px);
            let value = match &mask {
                Some(mask) => {
                    let c = &group * int(area) + &tap;
                    value * mask.at(&[at[0].clone(), c, at[2].clone(), at[3].clone()])
                }
                None => value,
            };
            acc + value * w.at(&[&[at[1].clone()], k].concat())
        });
        match &b {
            Some(b) => sum + b.at(&at[1..2]),
            None => sum,
        }
    });
    Ok(())
}
