//! Images at real coordinates: resizing, sampling on grids, pooling of regions.

use loops::{Scalar, Size};

use super::build::Cx;
use super::convolution::numbers;
use super::elementwise::maximum;
use super::value::{Val, int, number, truth};
use super::{Done, Op, Refusal};
use crate::types::ElementType;

fn wide(v: f64) -> Val {
    number(Scalar::F64, v)
}

/// How one axis is resized.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) input: i64,
    pub(super) output: i64,
    scale: f64,
    roi: (f64, f64),
}

/// How coordinates and weights are computed.
pub(super) struct Rule {
    pub(super) mode: String,
    transform: String,
    nearest: String,
    cubic: f64,
    exclude: bool,
    antialias: bool,
}

impl Axis {
    /// Where an element of the result lies in the input.
    fn coordinate(&self, rule: &Rule, i: &Val) -> Val {
        let x = i.int().to(Scalar::F64);
        // the length of the result before it was rounded down
        let (n, m) = (self.input as f64, self.input as f64 * self.scale);
        match rule.transform.as_str() {
            "asymmetric" => x / wide(self.scale),
            "align_corners" if self.output == 1 || m <= 1.0 => wide(0.0),
            "align_corners" => x * wide((n - 1.0) / (m - 1.0)),
            "pytorch_half_pixel" if self.output == 1 => wide(0.0),
            "half_pixel_symmetric" => {
                let adjustment = self.output as f64 / (n * self.scale);
                let offset = n / 2.0 * (1.0 - adjustment);
                wide(offset) + (x + wide(0.5)) / wide(self.scale) - wide(0.5)
            }
            "tf_crop_and_resize" => {
                let (start, end) = self.roi;
                match self.output {
                    1 => wide(0.5 * (start + end) * (n - 1.0)),
                    _ => wide(start * (n - 1.0)) + x * wide((end - start) * (n - 1.0) / (m - 1.0)),
                }
            }
            _ => (x + wide(0.5)) / wide(self.scale) - wide(0.5),
        }
    }

    /// How many samples are used, and the first one, relative to the sample before the coordinate.
    pub(super) fn taps(&self, rule: &Rule) -> (i64, i64) {
        let shrink = self.shrink(rule);
        let reach = if rule.mode == "cubic" { 2.0 } else { 1.0 };
        let start = (-reach / shrink).floor() as i64 + 1;
        (2 - 2 * start, start)
    }

    fn shrink(&self, rule: &Rule) -> f64 {
        if rule.antialias { self.scale.min(1.0) } else { 1.0 }
    }

    /// The sample next to an element of the result.
    pub(super) fn nearest(&self, rule: &Rule, i: &Val) -> Val {
        let c = self.coordinate(rule, i);
        let rounded = match rule.nearest.as_str() {
            "floor" => c.floor(),
            "ceil" => c.ceil(),
            "round_prefer_ceil" => (c + wide(0.5)).floor(),
            _ => (c - wide(0.5)).ceil(),
        };
        rounded.to(Scalar::I64).max(&int(0)).min(&int(self.input - 1))
    }

    /// What `f` makes of the samples for an element of the result.
    pub(super) fn sampled(
        &self,
        cx: &mut Cx,
        rule: &Rule,
        i: &Val,
        f: &mut dyn FnMut(&mut Cx, &Samples) -> Val,
    ) -> Val {
        let (count, start) = self.taps(rule);
        let (taps, shrink) = (Size::constant(count), self.shrink(rule));
        let normalised = rule.exclude || (rule.antialias && shrink < 1.0);
        cx.bind("c", self.coordinate(rule, i), |cx, c| {
            cx.bind("base", c.floor(), |cx, base| {
                let first = base.to(Scalar::I64) + int(start);
                let mut samples = Samples { rule, shrink, last: int(self.input - 1), first, c, total: None };
                if !normalised {
                    return f(cx, &samples);
                }
                let total = cx.fold(&taps, wide(0.0), |cx, t, acc| acc + samples.weight(cx, &t));
                cx.bind("total", total, |cx, total| {
                    samples.total = Some(total);
                    f(cx, &samples)
                })
            })
        })
    }
}

/// The samples for an element of the result along one axis.
pub(super) struct Samples<'a> {
    rule: &'a Rule,
    shrink: f64,
    first: Val,
    last: Val,
    c: Val,
    /// The sum of the weights, if they are divided by it.
    total: Option<Val>,
}

impl Samples<'_> {
    /// Where the sample with a number is.
    pub(super) fn place(&self, t: &Val) -> Val {
        (&self.first + t.int()).max(&int(0)).min(&self.last)
    }

    /// What it weighs.
    pub(super) fn weight(&self, cx: &mut Cx, t: &Val) -> Val {
        let i = &self.first + t.int();
        let distance = (i.to(Scalar::F64) - &self.c) * wide(self.shrink);
        let w = match self.rule.mode.as_str() {
            "cubic" => cx.call("cubic", &[wide(self.rule.cubic), distance]),
            _ => (wide(1.0) - distance.abs()).max(&wide(0.0)),
        };
        let w = match self.rule.exclude {
            true => w.when(&int(0).le(&i).and(&i.le(&self.last)), &wide(0.0)),
            false => w,
        };
        match &self.total {
            Some(total) => w / total,
            None => w,
        }
    }
}

/// The weighted sum of samples along the axes from `k` on. `place` holds the indices before.
fn interpolate(
    cx: &mut Cx,
    axes: &[(usize, Axis)],
    rule: &Rule,
    at: &[Val],
    place: &mut Vec<Val>,
    x: &super::Input,
) -> Val {
    let k = place.len();
    if k == x.rank() {
        return x.at(place);
    }
    let mut beyond = |cx: &mut Cx, here: Val| {
        place.push(here);
        let value = interpolate(cx, axes, rule, at, place, x);
        place.pop();
        value
    };
    let Some((_, axis)) = axes.iter().find(|(a, _)| *a == k) else { return beyond(cx, at[k].clone()) };
    if rule.mode == "nearest" {
        return beyond(cx, axis.nearest(rule, &at[k]));
    }
    let scalar = x.scalar();
    let taps = Size::constant(axis.taps(rule).0);
    axis.sampled(cx, rule, &at[k], &mut |cx, samples| {
        cx.fold(&taps, number(scalar, 0.0), |cx, t, acc| {
            let w = samples.weight(cx, &t).to(scalar);
            acc + w * beyond(cx, samples.place(&t))
        })
    })
}

pub(super) fn resize(op: &mut Op) -> Done {
    // before version 11 the scales came second
    let (roi, scales, sizes) = if op.call.opset < 11 { (9, 1, 9) } else { (1, 2, 3) };
    resize_by(op, roi, scales, sizes)
}

fn resize_by(op: &mut Op, roi: usize, scales: usize, sizes: usize) -> Done {
    let x = op.input(0)?;
    let rank = x.rank();
    let some = |list: Option<Vec<f64>>| list.filter(|l| !l.is_empty());
    let scales = match some(op.constant_numbers(scales)?) {
        Some(scales) => Some(scales),
        None => {
            op.attribute("scales").and_then(|a| a.floats()).map(|l| l.iter().map(|v| f64::from(*v)).collect())
        }
    };
    let sizes = some(op.constant_numbers(sizes)?);
    let roi = some(op.constant_numbers(roi)?);
    let axes: Vec<usize> = match op.ints("axes") {
        Some(axes) => axes.iter().map(|a| op.axis(*a, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    let old = op.call.opset < 11;
    let rule = Rule {
        mode: op.string("mode", "nearest").to_owned(),
        transform: op
            .string("coordinate_transformation_mode", if old { "asymmetric" } else { "half_pixel" })
            .to_owned(),
        nearest: op.string("nearest_mode", if old { "floor" } else { "round_prefer_floor" }).to_owned(),
        cubic: op.float("cubic_coeff_a", -0.75),
        exclude: op.int("exclude_outside", 0) != 0,
        antialias: op.int("antialias", 0) != 0,
    };
    let outside = op.float("extrapolation_value", 0.0);
    let policy = op.string("keep_aspect_ratio_policy", "stretch").to_owned();
    let dims: Vec<i64> = {
        let mut dims = vec![0; rank];
        for a in &axes {
            dims[*a] = numbers(&x.shape[*a..=*a])?[0];
        }
        dims
    };
    let mut resized = Vec::new();
    for (k, a) in axes.iter().enumerate() {
        let n = dims[*a];
        let (output, scale) = match (&scales, &sizes) {
            (Some(scales), _) => {
                let scale = *scales.get(k).ok_or_else(|| Refusal::inputs("a scale is missing"))?;
                ((n as f64 * scale).floor() as i64, scale)
            }
            (None, Some(sizes)) => {
                let ratio = |j: usize| sizes.get(j).map(|s| s / dims[axes[j]] as f64);
                let all: Vec<f64> = (0..axes.len()).filter_map(ratio).collect();
                if all.len() != axes.len() {
                    return Err(Refusal::inputs("a size is missing"));
                }
                match policy.as_str() {
                    "stretch" => (sizes[k] as i64, all[k]),
                    _ => {
                        let pick = if policy == "not_larger" { f64::min } else { f64::max };
                        let scale = all.iter().copied().reduce(pick).unwrap_or(1.0);
                        ((n as f64 * scale + 0.5).floor() as i64, scale)
                    }
                }
            }
            (None, None) => return Err(Refusal::inputs("scales or sizes are needed")),
        };
        op.moderate("an extent", output)?;
        let scale = if n == 0 && output == 0 { 1.0 } else { scale };
        if n == 0 && output != 0 || !(scale > 1e-6 && scale.is_finite()) {
            return Err(Refusal::inputs(format!("an extent of {n} can't become {output}")));
        }
        let roi = match &roi {
            Some(roi) if roi.len() == 2 * axes.len() => (roi[k], roi[axes.len() + k]),
            _ => (0.0, 1.0),
        };
        resized.push((*a, Axis { input: n, output, scale, roi }));
    }
    let mut shape = x.shape.clone();
    for (a, axis) in &resized {
        shape[*a] = Size::constant(axis.output);
    }
    // axes that stay as they are need no interpolation
    let crop = rule.transform == "tf_crop_and_resize";
    resized.retain(|(_, axis)| crop || axis.output != axis.input || axis.scale != 1.0);
    if !crop && super::resample::by_tables(op, &x, &resized, &rule, &shape).is_some() {
        return Ok(());
    }
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let value = interpolate(cx, &resized, &rule, at, &mut Vec::new(), &x);
        if !crop {
            return value;
        }
        let mut inside = truth(true);
        for (a, axis) in &resized {
            let c = axis.coordinate(&rule, &at[*a]);
            inside = inside.and(&wide(0.0).le(&c)).and(&c.le(&wide(axis.input as f64 - 1.0)));
        }
        value.when(&inside, &number(x.scalar(), outside))
    });
    Ok(())
}

/// As `Resize` before version 11.
pub(super) fn upsample(op: &mut Op) -> Done {
    resize_by(op, 9, 1, 9)
}

/// A coordinate from -1 to 1 as one of samples.
fn denormalised(n: i64, corners: bool, v: Val) -> Val {
    let s = v.scalar();
    let of = |c: f64| number(s, c);
    match corners {
        true => (v + of(1.0)) / of(2.0) * of(n as f64 - 1.0),
        false => ((v + of(1.0)) * of(n as f64) - of(1.0)) / of(2.0),
    }
}

/// A number reflected at both ends of a range until it is inside.
fn reflected(cx: &mut Cx, v: Val, low: f64, high: f64) -> Val {
    let s = v.scalar();
    let of = |c: f64| number(s, c);
    let span = high - low;
    if span <= 0.0 {
        return of(low);
    }
    // a triangle wave of period twice the range
    cx.bind("q", (v - of(low)) / of(2.0 * span), |cx, q| {
        cx.bind("r", (&q - q.floor()) * of(2.0 * span), |_, r| {
            of(low) + (of(2.0 * span) - &r).when(&r.gt(&of(span)), &r)
        })
    })
}

/// How a grid is sampled.
struct Sampling {
    mode: String,
    padding: String,
    corners: bool,
    dims: Vec<i64>,
}

impl Sampling {
    fn border(&self, d: usize) -> (f64, f64) {
        let n = self.dims[d] as f64;
        if self.corners { (0.0, n - 1.0) } else { (-0.5, n - 0.5) }
    }

    /// The weighted sum of samples along the spatial dimensions from `place` on; coordinates are
    /// bound.
    fn value(&self, cx: &mut Cx, image: &Val, coordinates: &[Val], place: &mut Vec<Val>, inside: Val) -> Val {
        let d = place.len();
        let s = coordinates.first().map_or(Scalar::F32, Val::scalar);
        if d == self.dims.len() {
            return image.at(place).when(&inside, &number(s, 0.0));
        }
        let c = coordinates[d].clone();
        let n = self.dims[d];
        let (low, high) = self.border(d);
        let tap = |cx: &mut Cx, i: Val, place: &mut Vec<Val>| {
            let (i, inside) = match self.padding.as_str() {
                "border" => (i.max(&int(0)).min(&int(n - 1)), inside.clone()),
                "reflection" => {
                    let r = reflected(cx, i.to(s), low, high).to(Scalar::I64);
                    (r, inside.clone())
                }
                _ => {
                    let here = int(0).le(&i).and(&i.lt(&int(n)));
                    (i, inside.and(&here))
                }
            };
            place.push(i);
            let value = self.value(cx, image, coordinates, place, inside);
            place.pop();
            value
        };
        if self.mode == "nearest" {
            return tap(cx, c.to(Scalar::I64), place);
        }
        let base = c.floor();
        let first = base.to(Scalar::I64);
        let mut sum = number(s, 0.0);
        let range = if self.mode == "cubic" { -1..=2 } else { 0..=1 };
        for t in range {
            let distance = &c - &base - number(s, t as f64);
            let w = match self.mode.as_str() {
                "cubic" => cx.call("cubic", &[number(s, -0.75), distance]),
                _ => number(s, 1.0) - distance.abs(),
            };
            let value = tap(cx, &first + int(t), place);
            sum = sum + w * value;
        }
        sum
    }
}

pub(super) fn grid_sample(op: &mut Op) -> Done {
    let (x, grid) = (op.input(0)?, op.input(1)?);
    let mode = match op.string("mode", "linear") {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        other => other,
    };
    let rank = x.rank();
    if rank < 3 || grid.rank() != rank {
        return Err(Refusal::inputs("image and grid differ in rank"));
    }
    let sampling = Sampling {
        mode: mode.to_owned(),
        padding: op.string("padding_mode", "zeros").to_owned(),
        corners: op.int("align_corners", 0) != 0,
        dims: numbers(&x.shape[2..])?,
    };
    let spatial = rank - 2;
    let shape = [&x.shape[..2], &grid.shape[1..rank - 1]].concat();
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let mut coordinates = Vec::new();
        for d in 0..spatial {
            // the grid names the last dimension first
            let place = [&at[..1], &at[2..], &[int((spatial - 1 - d) as i64)]].concat();
            let v = denormalised(sampling.dims[d], sampling.corners, grid.at(&place).to(x.scalar()));
            let v = if sampling.mode == "nearest" { v.round() } else { v };
            let (low, high) = sampling.border(d);
            let of = |c: f64| number(v.scalar(), c);
            coordinates.push(match sampling.padding.as_str() {
                "border" => {
                    let beyond = v.lt(&of(low)).or(&v.gt(&of(high)));
                    v.max(&of(0.0)).min(&of(sampling.dims[d] as f64 - 1.0)).when(&beyond, &v)
                }
                "reflection" => {
                    let beyond = v.lt(&of(low)).or(&v.gt(&of(high)));
                    reflected(cx, v.clone(), low, high).when(&beyond, &v)
                }
                _ => v,
            });
        }
        let image = x.at(&at[..2]);
        bound(cx, coordinates, Vec::new(), &mut |cx, coordinates| {
            sampling.value(cx, &image, coordinates, &mut Vec::new(), truth(true))
        })
    });
    Ok(())
}

/// `f` of names for all values.
fn bound(
    cx: &mut Cx,
    mut values: Vec<Val>,
    mut names: Vec<Val>,
    f: &mut dyn FnMut(&mut Cx, &[Val]) -> Val,
) -> Val {
    if values.is_empty() {
        return f(cx, &names);
    }
    let first = values.remove(0);
    cx.bind("c", first, |cx, name| {
        names.push(name);
        bound(cx, values, names, f)
    })
}

/// Coordinates of a grid under affine maps.
pub(super) fn affine_grid(op: &mut Op) -> Done {
    let theta = op.input(0)?;
    let sizes = op.constant_ints(1)?.ok_or_else(|| Refusal::inputs("input 1 is missing"))?;
    let corners = op.int("align_corners", 0) != 0;
    if sizes.len() < 3 {
        return Err(Refusal::inputs("input 1 must have 4 numbers or 5"));
    }
    let spatial = sizes.len() - 2;
    let mut shape = vec![Size::constant(sizes[0])];
    shape.extend(sizes[2..].iter().map(|n| Size::constant(*n)));
    shape.push(Size::constant(spatial as i64));
    let dims = sizes[2..].to_vec();
    op.tensor(theta.elem, &shape, &mut |_, at| {
        let row = at[spatial + 1].clone();
        let mut sum = theta.at(&[at[0].clone(), row.clone(), int(spatial as i64)]).to(Scalar::F64);
        for k in 0..spatial {
            // column k belongs to the dimension that is k from the end
            let d = spatial - 1 - k;
            let i = at[1 + d].int().to(Scalar::F64);
            let n = dims[d] as f64;
            let position = match corners {
                true => wide(-1.0) + i * wide(2.0 / (n - 1.0)),
                false => wide(-1.0 + 1.0 / n) + i * wide(2.0 / n),
            };
            sum = sum + theta.at(&[at[0].clone(), row.clone(), int(k as i64)]).to(Scalar::F64) * position;
        }
        sum.to(theta.scalar())
    });
    Ok(())
}

/// Pooling of regions of images, by samples between pixels.
pub(super) fn roi_align(op: &mut Op) -> Done {
    let (x, rois, batches) = (op.input(0)?, op.ranked(1, 2..=2)?, op.input(2)?);
    // Before version 16 there was the other way only.
    let usual = if op.call.opset < 16 { "output_half_pixel" } else { "half_pixel" };
    let half = op.string("coordinate_transformation_mode", usual) == "half_pixel";
    let largest = op.string("mode", "avg") == "max";
    let (ph, pw) = (op.int("output_height", 1), op.int("output_width", 1));
    let ratio = op.int("sampling_ratio", 0);
    let scale = op.float("spatial_scale", 1.0);
    let [_, channels, h, w] = &x.shape[..] else { return Err(Refusal::inputs("4 dimensions are needed")) };
    let (height, width) = (numbers(std::slice::from_ref(h))?[0], numbers(std::slice::from_ref(w))?[0]);
    let shape = vec![rois.shape[0].clone(), channels.clone(), Size::constant(ph), Size::constant(pw)];
    let (s, elem) = (x.scalar(), x.elem);
    let of = |v: f64| number(s, v);
    // an adaptive number of samples is at most what the largest region needs
    let most = if ratio > 0 {
        ratio
    } else {
        let Some(tensor) = op.operand(1).and_then(|o| o.constant) else {
            return Err(Refusal::not_constant(
                "with `sampling_ratio` 0 the number of samples depends on the regions",
            ));
        };
        let values = super::storage_type::numbers(tensor).unwrap_or_default();
        let spans = values.chunks(4).flat_map(|r| match r {
            [x0, y0, x1, y1] => [(x1 - x0) * scale / pw as f64, (y1 - y0) * scale / ph as f64],
            _ => [1.0, 1.0],
        });
        op.moderate("the number of samples", spans.fold(1.0, f64::max).ceil() as i64)? + 1
    };
    let samples = Size::constant(most);
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let edge = |k: i64| rois.at(&[at[0].clone(), int(k)]) * of(scale) - of(if half { 0.5 } else { 0.0 });
        let extent = |low: Val, high: Val| {
            let n = high - low;
            if half { n } else { n.max(&of(1.0)) }
        };
        let bin_h = extent(edge(1), edge(3)) / of(ph as f64);
        let bin_w = extent(edge(0), edge(2)) / of(pw as f64);
        bound(cx, vec![edge(0), edge(1), bin_w, bin_h], Vec::new(), &mut |cx, v| {
            let [left, top, bin_w, bin_h] = v else { return of(0.0) };
            let count = |bin: &Val| if ratio > 0 { int(ratio) } else { bin.ceil().to(Scalar::I64) };
            let (ny, nx) = (count(bin_h), count(bin_w));
            let plane = x.at(&[batches.at(&at[..1]), at[1].clone()]);
            let start = if largest { of(f64::NEG_INFINITY) } else { of(0.0) };
            let all = cx.fold(&samples, start, |cx, iy, acc| {
                cx.fold(&samples, acc, |cx, ix, acc| {
                    let sample = |origin: &Val, bin: &Val, p: &Val, i: &Val, n: &Val| {
                        origin + p.int().to(s) * bin + (i.int().to(s) + of(0.5)) * bin / n.to(s)
                    };
                    let y = sample(top, bin_h, &at[2], &iy, &ny);
                    let xx = sample(left, bin_w, &at[3], &ix, &nx);
                    let counts = iy.int().lt(&ny).and(&ix.int().lt(&nx));
                    let value = corner_values(cx, elem, &plane, [y, xx], [height, width], largest);
                    cx.bind("value", value, |cx, value| match largest {
                        true => maximum(cx, elem, value, acc.clone()).when(&counts, &acc),
                        false => (&acc + value).when(&counts, &acc),
                    })
                })
            });
            match largest {
                true => all,
                false => all / (ny * nx).max(&int(1)).to(s),
            }
        })
    });
    Ok(())
}

/// The value between four pixels, or the largest of their weighted values; 0 more than one pixel
/// outside.
fn corner_values(
    cx: &mut Cx,
    elem: ElementType,
    plane: &Val,
    [y, x]: [Val; 2],
    [height, width]: [i64; 2],
    largest: bool,
) -> Val {
    let s = y.scalar();
    bound(cx, vec![y, x], Vec::new(), &mut |cx, v| {
        let of = |c: f64| number(s, c);
        let (y, x) = (&v[0], &v[1]);
        let outside =
            y.lt(&of(-1.0)).or(&y.gt(&of(height as f64))).or(&x.lt(&of(-1.0))).or(&x.gt(&of(width as f64)));
        let low = |v: &Val, n: i64| v.max(&of(0.0)).to(Scalar::I64).min(&int(n - 1));
        bound(cx, vec![low(y, height), low(x, width)], Vec::new(), &mut |cx, i| {
            let (y0, x0) = (&i[0], &i[1]);
            let part = |v: &Val, i: &Val, n: i64| {
                let f = v.max(&of(0.0)) - i.to(s);
                of(0.0).when(&i.ge(&int(n - 1)), &f)
            };
            let (fy, fx) = (part(y, y0, height), part(x, x0, width));
            let (y1, x1) = ((y0 + int(1)).min(&int(height - 1)), (x0 + int(1)).min(&int(width - 1)));
            let (gy, gx) = (of(1.0) - &fy, of(1.0) - &fx);
            let corner = |i: &Val, j: &Val, w: Val| w * plane.at(&[i.clone(), j.clone()]);
            let parts = [
                corner(y0, x0, &gy * &gx),
                corner(y0, &x1, gy * &fx),
                corner(&y1, x0, &fy * gx),
                corner(&y1, &x1, fy * fx),
            ];
            let [a, b, c, d] = parts;
            let value = match largest {
                true => [b, c, d].into_iter().fold(a, |most, v| maximum(cx, elem, v, most)),
                false => a + b + c + d,
            };
            of(0.0).when(&outside, &value)
        })
    })
}
