//! Transposed convolutions as products, for C. Positions of the result that are equal modulo the
//! strides (a phase) use the same taps. So each phase is a product of its taps' weights with the
//! image, shifted for each tap.
//!
//! The image is padded, so that its positions are one line, and a tap is an offset that is added to
//! a position. Positions between two rows are computed and not used. Sums have the order of the
//! definition. A tap that the definition leaves out for a position adds a zero.

use functional::Prim;
use loops::{Registers, Size};

use super::Input;
use super::build::Cx;
use super::tiles::{Element, Product, Side, WORTH_TILES, concatenated, joined};
use super::value::{Val, int, number};

/// More phases than this are not worth a product each.
const MOST_PHASES: i64 = 16;

/// The parameters of a transposed convolution whose extents are all numbers. Lists have one number
/// for each dimension of the image.
pub(super) struct Transposed<'a> {
    pub(super) x: &'a Input,
    pub(super) weights: &'a Input,
    pub(super) bias: Option<&'a Input>,
    pub(super) groups: i64,
    /// Channels of the image and of the result in a group.
    pub(super) channels: [i64; 2],
    pub(super) image: &'a [i64],
    pub(super) kernel: &'a [i64],
    pub(super) strides: &'a [i64],
    pub(super) dilations: &'a [i64],
    pub(super) before: &'a [i64],
    pub(super) out: &'a [i64],
}

/// The taps of a phase along one dimension: `first`, `first + step`, …, `count` of them; the first
/// one reads `offset` places back, each other one `slope` more than the one before.
#[derive(Clone, Copy)]
struct Taps {
    first: i64,
    step: i64,
    count: i64,
    offset: i64,
    slope: i64,
}

/// Extents of the line of a padded image.
struct Line {
    /// Padding in front, along each dimension.
    front: Vec<i64>,
    /// Padded extents, and what a step along each dimension is in the line.
    extents: Vec<i64>,
    pitches: Vec<i64>,
    /// Columns of the products, and the length of the line with what the last columns read after
    /// it.
    columns: i64,
    length: i64,
}

impl Transposed<'_> {
    /// The result, if it is worth products.
    pub(super) fn build(&self, cx: &mut Cx, registers: Registers) -> Option<Val> {
        let rank = self.image.len();
        let batch = self.x.shape[0].as_constant()?;
        let float = self.x.elem.scalar().is_some_and(loops::Scalar::is_float);
        let positive =
            [self.image, self.kernel, self.dilations, self.out].iter().all(|l| l.iter().all(|n| *n > 0));
        let product = |list: &[i64]| list.iter().try_fold(1i64, |p, n| p.checked_mul(*n));
        let work = [self.image, self.kernel, &self.channels]
            .iter()
            .try_fold(1i64, |p, l| p.checked_mul(product(l)?))?;
        let (phases, [per, made]) = (product(self.strides)?, self.channels);
        let fits = batch > 0 && self.groups > 0 && per > 0 && made > 0 && self.before.iter().all(|n| *n >= 0);
        if !float || !positive || !fits || phases > MOST_PHASES || work < WORTH_TILES {
            return None;
        }
        let line = self.line()?;
        let phases: Vec<Vec<Taps>> = (0..phases).map(|p| self.phase(p)).collect();
        Some(cx.each(Prim::MapSeq, batch, |cx, image| {
            joined(cx.each(Prim::MapSeq, self.groups, |cx, group| {
                let padded = self.padded(cx, &line, &image, &group);
                cx.bind("padded", padded.stored(), |cx, padded| {
                    let parts: Vec<Val> = phases
                        .iter()
                        .map(|taps| {
                            let sums = self.product(cx, registers, &line, taps, &padded, &group);
                            cx.single(sums)
                        })
                        .collect();
                    let parts = concatenated(parts.into_iter());
                    cx.bind("phases", parts.stored(), |cx, parts| {
                        let shape: Vec<Size> = std::iter::once(made)
                            .chain(self.out.iter().copied())
                            .map(Size::constant)
                            .collect();
                        cx.tensor(&shape, &mut |_, at| {
                            let (mut phase, mut place) = (int(0), int(0));
                            for d in 0..rank {
                                let reach = at[1 + d].int() + int(self.before[d]);
                                phase = phase * int(self.strides[d]) + &reach % int(self.strides[d]);
                                place = place + reach / int(self.strides[d]) * int(line.pitches[d]);
                            }
                            let sum = parts.at(&[phase, at[0].clone(), place]);
                            match self.bias {
                                Some(b) => sum + b.at(&[group.int() * int(made) + at[0].int()]),
                                None => sum,
                            }
                        })
                    })
                })
            }))
        }))
    }

    fn line(&self) -> Option<Line> {
        let rank = self.image.len();
        let places: Vec<i64> =
            (0..rank).map(|d| (self.out[d] - 1 + self.before[d]) / self.strides[d] + 1).collect();
        let front: Vec<i64> =
            (0..rank).map(|d| (self.kernel[d] - 1) * self.dilations[d] / self.strides[d]).collect();
        let extents: Vec<i64> = (0..rank).map(|d| places[d] + front[d]).collect();
        let mut pitches = vec![1i64; rank];
        for d in (0..rank - 1).rev() {
            pitches[d] = pitches[d + 1].checked_mul(extents[d + 1])?;
        }
        let columns = pitches[0].checked_mul(places[0])?;
        let behind = (1..rank).try_fold(0i64, |sum, d| sum.checked_add(front[d].checked_mul(pitches[d])?))?;
        let length = pitches[0].checked_mul(extents[0])?.checked_add(behind)?;
        Some(Line { front, extents, pitches, columns, length })
    }

    /// The taps of the phase with this number.
    fn phase(&self, number: i64) -> Vec<Taps> {
        let mut rest = number;
        let mut taps: Vec<Taps> = (0..self.strides.len())
            .rev()
            .map(|d| {
                let (stride, dilation) = (self.strides[d], self.dilations[d]);
                let at = rest % stride;
                rest /= stride;
                let alike = |k: i64| k * dilation % stride == at;
                let Some(first) = (0..self.kernel[d].min(stride)).find(|k| alike(*k)) else {
                    return Taps { first: 0, step: 1, count: 0, offset: 0, slope: 0 };
                };
                let step = (1..stride).find(|step| alike(first + step)).unwrap_or(stride);
                let count = (self.kernel[d] - 1 - first) / step + 1;
                let offset = (first * dilation - at) / stride;
                Taps { first, step, count, offset, slope: step * dilation / stride }
            })
            .collect();
        taps.reverse();
        taps
    }

    /// The channels of a group of an image, each as a padded line.
    fn padded(&self, cx: &mut Cx, line: &Line, image: &Val, group: &Val) -> Val {
        let (rank, [per, _]) = (self.image.len(), self.channels);
        let zero = number(self.x.scalar(), 0.0);
        let extents: Vec<Size> = line.extents.iter().copied().map(Size::constant).collect();
        cx.each(Prim::MapPar, per, |cx, c| {
            let channel = group.int() * int(per) + c.int();
            let whole = cx.tensor(&extents, &mut |_, at| {
                let mut from = vec![image.clone(), channel.clone()];
                let mut inside = super::value::truth(true);
                for ((p, front), n) in at.iter().zip(&line.front).zip(self.image) {
                    let i = p.int() - int(*front);
                    inside = inside.and(&int(0).le(&i)).and(&i.lt(&int(*n)));
                    from.push(i);
                }
                self.x.at(&from).when(&inside, &zero)
            });
            let flat = (1..rank).fold(whole, |whole, _| joined(whole));
            let behind = line.length - line.extents[0] * line.pitches[0];
            match behind {
                0 => flat,
                _ => {
                    let zeros = cx.generate(&Size::constant(behind), |_, _| zero.clone());
                    concatenated([flat, zeros].into_iter())
                }
            }
        })
    }

    /// The sums of a phase: a line for each channel of the result.
    fn product(
        &self,
        cx: &mut Cx,
        registers: Registers,
        line: &Line,
        taps: &[Taps],
        padded: &Val,
        group: &Val,
    ) -> Val {
        let [per, made] = self.channels;
        let (scalar, rank) = (self.x.scalar(), taps.len());
        let each: i64 = taps.iter().map(|t| t.count).product();
        if each == 0 {
            let zero = number(scalar, 0.0);
            return cx
                .each(Prim::MapSeq, made, |cx, _| cx.each(Prim::MapVec, line.columns, |_, _| zero.clone()));
        }
        let counts: Vec<Size> =
            std::iter::once(per).chain(taps.iter().map(|t| t.count)).map(Size::constant).collect();
        let weights = cx.each(Prim::MapSeq, made, |cx, m| {
            let of = cx.tensor(&counts, &mut |_, at| {
                let mut from = vec![group.int() * int(per) + at[0].int(), m.clone()];
                from.extend((0..rank).map(|d| at[1 + d].int() * int(taps[d].step) + int(taps[d].first)));
                self.weights.at(&from)
            });
            (0..rank).fold(of, |of, _| joined(of))
        });
        cx.bind("weights", weights.stored(), |cx, weights| {
            let left = |_: &mut Cx, m: &Val, k: &Val| weights.at(&[m.clone(), k.clone()]);
            let right = |_: &mut Cx, k: &Val, j: &Val| {
                let (mut rest, mut place) = (k.int(), j.int());
                for d in (0..rank).rev() {
                    let (t, pitch) = (taps[d], line.pitches[d]);
                    place = place + int((line.front[d] - t.offset) * pitch)
                        - &rest % int(t.count) * int(t.slope * pitch);
                    rest = rest / int(t.count);
                }
                padded.at(&[rest, place])
            };
            let (left, right) = (Side::Elements(&left), Side::Elements(&right));
            let last = |_: &mut Cx, sum: Val, _: &Val, _: &Val| sum;
            let extents = super::tiles::sizes([made, per * each, line.columns]);
            let cut = super::tiles::Cut::default();
            Product { extents, cut, registers, scalar, element: Element::Number, left, right, last: &last }
                .build(cx)
        })
    }
}
