//! Windows over images, for C. Convolutions become matrix products of weights and patches, or go
//! row by row if groups are narrow. Pooling goes row by row. Sums keep their order.

use functional::Prim;
use loops::{Registers, Size};

use super::build::{Cx, Extents, folded, product, reshape};
use super::byte_filters::{ByteFilters, Weights};
use super::convolution::Window;
use super::epilogue::Stages;
use super::packing::Packed;
use super::pairs::Bytes;
use super::tiles::{self, Product, Side, WORTH_TILES, concatenated, packing};
use super::value::{Val, int, number, size};
use super::{Input, Op};

/// The convolution of all samples, if this way is worth it.
pub(super) fn convolution(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    (groups, weights): (i64, Weights<'_>),
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Option<Val> {
    let filters = w.shape[0].as_constant()?;
    let places = product(&win.places).as_constant()?;
    let per_group = filters / groups;
    if places == 0 || per_group == 0 {
        return None;
    }
    let zero = number(x.scalar(), 0.0);
    let stored = matches!(weights, Weights::Stored);
    // Sums of one channel are too short for tiles, which would be copied behind a padded image.
    let row = win.places.last()?.as_constant()?;
    let short = product(&w.shape[1..]).as_constant()? <= FEW_TAPS && !win.is_a_point();
    let by_rows = short && row >= LONG_ROW * registers.lanes(x.scalar());
    if groups == 1
        && stored
        && !by_rows
        && let others = tiles::columns(registers, x.scalar(), filters, Layout::of(x, win).columns(win))
        && let Some(val) = super::filter_lanes::convolution(op, x, w, win, registers, others, last)
    {
        return Some(val);
    }
    if !by_rows && let Some(val) = products(op, x, w, win, (groups, weights), registers, last) {
        return Some(val);
    }
    let step = |_: &mut Cx, acc: Val, value: Val, m: &Val, tap: &[i64]| {
        let place: Vec<Val> = std::iter::once(m.clone()).chain(tap.iter().copied().map(int)).collect();
        acc + value * w.at(&place)
    };
    let per = w.shape[1].as_constant()?;
    let channel = |m: &Val, c: i64| m.int() / int(per_group) * int(per) + int(c);
    let rows = Rows {
        channels: filters,
        per,
        channel: &channel,
        alone: per_group == 1,
        start: zero.clone(),
        step: &step,
        last,
    };
    sliding(op, x, win, &zero, &rows)
}

/// The convolution of all samples as products of matrices, if they are worth it.
pub(super) fn products(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    (groups, weights): (i64, Weights<'_>),
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Option<Val> {
    let per_group = w.shape[0].as_constant()? / groups;
    let taps = product(&w.shape[1..]).as_constant()?;
    let places = product(&win.places).as_constant()?;
    let work = per_group.saturating_mul(taps).saturating_mul(places);
    if !(per_group >= 4 || taps > MOST_TAPS) || work < WORTH_TILES {
        return None;
    }
    // The width of the tiles follows from the number of columns, which is at least the number of
    // positions.
    let extents = [per_group, taps, places];
    let pitches = [per_group.saturating_mul(taps), taps, 1];
    let packing = packing(registers, x.scalar(), extents, true, groups, pitches);
    let (mut packed, mut bytes) = (None, None);
    match weights {
        Weights::Stored => packed = op.packed(1, packing),
        Weights::Bytes { .. } => {
            bytes = Some(ByteFilters::of(op, &weights, groups, Layout::of(x, win).columns(win))?);
        }
        Weights::Computed => {}
    }
    let after = op.stages();
    let zero = number(x.scalar(), 0.0);
    let filters = Filters { w, groups, packed: packed.as_ref(), bytes, after: &after };
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        image(cx, x, win, &n, &zero, |cx, image| sample(cx, &image, &n, &filters, win, registers, last))
    }))
}

/// Windows of so few elements go row by row, if a row has so many vectors.
const FEW_TAPS: i64 = 9;
const LONG_ROW: i64 = 8;

/// Windows of more elements are not written out.
const MOST_TAPS: i64 = 64;

/// What becomes of the elements of a window: `step` for one after the other, with the accumulator,
/// the element, the channel of the result, and the channel within the group and the place in the
/// window.
type Step<'f> = &'f dyn Fn(&mut Cx, Val, Val, &Val, &[i64]) -> Val;

/// Results that are made row by row, all elements of a row at a time.
pub(super) struct Rows<'f> {
    /// Channels of the result.
    pub(super) channels: i64,
    /// Channels of the image that one of them needs.
    pub(super) per: i64,
    /// The channel of the image with this number among them.
    pub(super) channel: &'f dyn Fn(&Val, i64) -> Val,
    /// Whether no two of them need the same channel.
    pub(super) alone: bool,
    /// What a row begins with.
    pub(super) start: Val,
    /// What each element of a window does.
    pub(super) step: Step<'f>,
    /// What becomes of the last accumulator, with the channel of the result.
    pub(super) last: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

/// The results of windows over all samples, row by row, if that is worth it; `fill` is what
/// paddings are.
pub(super) fn sliding(op: &mut Op, x: &Input, win: &Window, fill: &Val, rows: &Rows) -> Option<Val> {
    let taps = win.kernel.iter().fold(rows.per, |n, k| n.saturating_mul(*k));
    let row = win.places.last()?.as_constant().filter(|row| *row >= 7)?;
    if taps > MOST_TAPS || x.shape[1..].iter().chain(&win.places).any(|n| n.as_constant().is_none()) {
        return None;
    }
    let after = op.stages();
    let lanes = op.fast.map_or(1, |registers| registers.lanes(x.scalar()));
    let sliding = Sliding { win, rows, after: &after, row, taps, lanes };
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        if rows.per == 1 && rows.alone {
            let sample = x.at(std::slice::from_ref(&n));
            return cx.generate(&Size::constant(rows.channels), |cx, m| {
                let plane = sample.at(&[(rows.channel)(&m, 0)]);
                plane_image(cx, plane, &Layout::of(x, win), win, fill, |cx, image| {
                    sliding.channel(cx, &image, &n, &m)
                })
            });
        }
        image(cx, x, win, &n, fill, |cx, image| {
            cx.generate(&Size::constant(rows.channels), |cx, m| sliding.by_rows(cx, &image, &n, &m))
        })
    }))
}

/// What is made of an image row by row, or of one channel at a time.
struct Sliding<'s, 'f> {
    win: &'s Window,
    rows: &'s Rows<'f>,
    after: &'s Stages,
    /// Places of a row.
    row: i64,
    taps: i64,
    /// Elements of a vector.
    lanes: i64,
}

impl Sliding<'_, '_> {
    /// A channel of the result that depends on one channel of the image only. If rows are too short
    /// for vectors, all positions of the flat image are computed as one row. Those between two rows
    /// of windows are dropped.
    fn channel(&self, cx: &mut Cx, image: &Image, n: &Val, m: &Val) -> Val {
        let rank = self.win.kernel.len();
        if self.row % self.lanes == 0 || self.row >= 4 * self.lanes {
            return self.by_rows(cx, image, n, m);
        }
        let places: Vec<i64> = self.win.places.iter().map(|n| n.as_constant().unwrap_or(1)).collect();
        let pitches = image.pitches();
        let columns = 1 + (0..rank).map(|d| (places[d] - 1) * pitches[d]).sum::<i64>();
        let everywhere = self.after.is_the_same_at_places(rank);
        let done = |cx: &mut Cx, value: Val, at: &[Val]| {
            let value = (self.rows.last)(cx, value, m);
            self.after.apply(cx, value, &[&[n.clone(), m.clone()], at].concat(), &vec![1; 2 + rank])
        };
        let flat = cx.each(Prim::MapVec, columns, |cx, l| {
            let value = self.window(cx, m, |cx, tap| image.flat(cx, self.win, int(0), &tap[1..], &l.int()));
            if everywhere { done(cx, value, &vec![int(0); rank]) } else { value }
        });
        cx.bind("flat", flat.stored(), |cx, flat| {
            cx.tensor(&self.win.places[..rank - 1], &mut |cx, at| {
                let from = (0..rank - 1).fold(int(0), |sum, d| sum + at[d].int() * int(pitches[d]));
                cx.each(Prim::MapVec, self.row, |cx, l| {
                    let value = flat.at(&[from + l.int()]);
                    if everywhere { value } else { done(cx, value, &[at, &[l]].concat()) }
                })
            })
        })
    }

    /// A channel of the result, row by row.
    fn by_rows(&self, cx: &mut Cx, image: &Image, n: &Val, m: &Val) -> Val {
        let rank = self.win.kernel.len();
        cx.tensor(&self.win.places[..rank - 1], &mut |cx, at| {
            cx.each(Prim::MapVec, self.row, |cx, l| {
                let place: Vec<Val> = at.iter().map(Val::int).chain([l.int()]).collect();
                let value = self.window(cx, m, |cx, tap| {
                    let channel = (self.rows.channel)(m, tap[0]);
                    image.element(cx, self.win, channel, &tap[1..], &place)
                });
                let value = (self.rows.last)(cx, value, m);
                let place = [&[n.clone(), m.clone()], at, &[l]].concat();
                self.after.apply(cx, value, &place, &vec![1; 2 + rank])
            })
        })
    }

    /// The last accumulator of a window, given what it has at each tap, whose channel is first.
    fn window(&self, cx: &mut Cx, m: &Val, mut element: impl FnMut(&mut Cx, &[i64]) -> Val) -> Val {
        let mut acc = self.rows.start.clone();
        let mut tap = vec![0; 1 + self.win.kernel.len()];
        for _ in 0..self.taps {
            let value = element(cx, &tap);
            acc = (self.rows.step)(cx, acc, value, m, &tap);
            next(&mut tap, &self.win.kernel);
        }
        acc
    }
}

/// The next place in a window, whose channel is first and has no end.
fn next(tap: &mut [i64], kernel: &[i64]) {
    for d in (1..tap.len()).rev() {
        tap[d] += 1;
        if tap[d] < kernel[d - 1] {
            return;
        }
        tap[d] = 0;
    }
    tap[0] += 1;
}

/// One sample in the layout for windows: padded, and split into phases for strides. So when a
/// window moves by one position, what it reads moves by one element.
pub(super) struct Image {
    val: Val,
    extents: Vec<i64>,
    form: Form,
}

/// What an image is as an array. Element `i` of phase `p` of a dimension is `stride * i + p` of the
/// padded sample.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The sample itself: `[channels][extents …]`.
    Sample,
    /// `[channels][…]`, the phases of each one after the other.
    Phases,
    /// A channel of the sample itself: `[extents …]`.
    Plane,
    /// A channel, its phases one after the other: one dimension.
    Flat,
}

impl Image {
    /// The phases of a tap, and the offset of its elements from those of a position.
    fn tap(win: &Window, tap: &[i64]) -> (Vec<i64>, Vec<i64>) {
        tap.iter().zip(&win.dilations).zip(&win.strides).map(|((k, d), s)| (k * d % s, k * d / s)).unzip()
    }

    /// What a window at a place has at a tap.
    fn element(&self, cx: &mut Cx, win: &Window, channel: Val, tap: &[i64], place: &[Val]) -> Val {
        let (_, behind) = Image::tap(win, tap);
        let from = behind.iter().zip(place).map(|(behind, place)| place + int(*behind));
        match self.form {
            Form::Sample => self.val.at(&std::iter::once(channel).chain(from).collect::<Vec<_>>()),
            Form::Plane => self.val.at(&from.collect::<Vec<_>>()),
            Form::Phases | Form::Flat => {
                let place =
                    place.iter().zip(self.pitches()).fold(int(0), |sum, (i, pitch)| sum + i * int(pitch));
                self.flat(cx, win, channel, tap, &place)
            }
        }
    }

    /// What the window at a place of a flat channel has at a tap.
    fn flat(&self, cx: &mut Cx, win: &Window, channel: Val, tap: &[i64], place: &Val) -> Val {
        let (phase, behind) = Image::tap(win, tap);
        let behind = behind.iter().zip(self.pitches()).map(|(n, pitch)| n * pitch).sum::<i64>();
        if self.form == Form::Plane {
            let extents: Extents = self.extents.iter().copied().map(Size::constant).collect();
            return reshape(cx, &self.val, &extents, &[product(&extents)]).at(&[place + int(behind)]);
        }
        let before = phase.iter().zip(win.phases()).fold(0, |n, (phase, phases)| n * phases + phase);
        let place = place + int(before * self.extents.iter().product::<i64>() + behind);
        if self.form == Form::Phases { self.val.at(&[channel, place]) } else { self.val.at(&[place]) }
    }

    /// The element at a place of a channel, whose phases and dimensions are counted through.
    pub(super) fn flat_element(&self, cx: &mut Cx, channel: Val, place: Val) -> Val {
        if self.form == Form::Phases {
            return self.val.at(&[channel, place]);
        }
        let extents: Extents = self.extents.iter().copied().map(Size::constant).collect();
        reshape(cx, &self.val.at(&[channel]), &extents, &[product(&extents)]).at(&[place])
    }

    /// Elements from one to the next in each dimension.
    pub(super) fn pitches(&self) -> Vec<i64> {
        pitches(&self.extents)
    }
}

/// Elements from one to the next in each dimension.
fn pitches(extents: &[i64]) -> Vec<i64> {
    (0..extents.len()).map(|d| extents[d + 1..].iter().product()).collect()
}

impl Window {
    /// How many phases each dimension has.
    fn phases(&self) -> Vec<i64> {
        let reach = self.kernel.iter().zip(&self.dilations).map(|(k, d)| d * (k - 1));
        reach.zip(&self.strides).map(|(reach, stride)| (*stride).min(reach + 1)).collect()
    }

    /// Whether each window is the element at its place.
    pub(super) fn is_a_point(&self) -> bool {
        let all = |list: &[i64], n: i64| list.iter().all(|k| *k == n);
        all(&self.kernel, 1) && all(&self.strides, 1) && all(&self.before, 0) && all(&self.after, 0)
    }

    /// The window at every place from the first one to the last one.
    pub(super) fn dense(&self) -> Window {
        let places = self.places.iter().zip(&self.strides);
        let places = places.map(|(n, s)| Size::constant((n.as_constant().unwrap_or(1) - 1) * s + 1));
        Window { strides: vec![1; self.strides.len()], places: places.collect(), ..self.clone() }
    }
}

/// How the channels of an image lie.
struct Layout {
    /// Extents of the sample.
    here: Vec<i64>,
    /// Extents of a phase.
    extents: Vec<i64>,
    /// How many phases each dimension has.
    phases: Vec<i64>,
    /// Whether the sample lies like that already.
    plain: bool,
}

impl Layout {
    fn of(x: &Input, win: &Window) -> Layout {
        let rank = win.kernel.len();
        let number_of = |n: &Size| n.as_constant().unwrap_or(0);
        let here: Vec<i64> = x.shape[2..].iter().map(number_of).collect();
        let reach: Vec<i64> = (0..rank).map(|d| win.dilations[d] * (win.kernel[d] - 1)).collect();
        let extents: Vec<i64> =
            (0..rank).map(|d| number_of(&win.places[d]) + reach[d] / win.strides[d]).collect();
        let plain = (0..rank).all(|d| win.strides[d] == 1 && win.before[d] == 0 && extents[d] <= here[d]);
        Layout { here, extents, phases: win.phases(), plain }
    }

    /// Places of the flat image from the first window to the last one.
    fn columns(&self, win: &Window) -> i64 {
        let places = win.places.iter().map(|n| n.as_constant().unwrap_or(1) - 1);
        1 + places.zip(pitches(&self.extents)).map(|(n, pitch)| n * pitch).sum::<i64>()
    }

    /// A channel in this layout, in one dimension.
    fn flat(&self, cx: &mut Cx, plane: &Val, win: &Window, fill: &Val) -> Val {
        let val = self.padded(cx, plane, win, fill, &mut Vec::new());
        let shape: Extents = self.phases.iter().chain(&self.extents).copied().map(Size::constant).collect();
        reshape(cx, &val, &shape, &[product(&shape)])
    }

    /// A channel in this layout, with `fill` around it. The position of an element decides whether
    /// it is padding, so there is no test for each element.
    fn padded(&self, cx: &mut Cx, plane: &Val, win: &Window, fill: &Val, phase: &mut Vec<i64>) -> Val {
        let d = phase.len();
        if d == self.here.len() {
            return self.part(cx, plane, win, fill, phase, &mut Vec::new());
        }
        let parts: Vec<Val> = (0..self.phases[d])
            .map(|p| {
                phase.push(p);
                let inner = self.padded(cx, plane, win, fill, phase);
                phase.pop();
                cx.single(inner)
            })
            .collect();
        concatenated(parts.into_iter())
    }

    /// A phase from a dimension on, at a place of the dimensions before it.
    fn part(
        &self,
        cx: &mut Cx,
        plane: &Val,
        win: &Window,
        fill: &Val,
        phase: &[i64],
        place: &mut Vec<Val>,
    ) -> Val {
        let d = place.len();
        if d == self.here.len() {
            return plane.at(place);
        }
        let (stride, extent) = (win.strides[d], self.extents[d]);
        let behind = win.before[d] - phase[d];
        // Element `i` is `stride * i - behind` of the sample.
        let first = (behind + stride - 1).div_euclid(stride).clamp(0, extent);
        let end = ((self.here[d] - 1 + behind).div_euclid(stride) + 1).clamp(first, extent);
        let kind = if d + 1 == self.here.len() { Prim::MapVec } else { Prim::MapSeq };
        let rest: Extents = self.extents[d + 1..].iter().copied().map(Size::constant).collect();
        let around =
            |cx: &mut Cx, n: i64| cx.each(kind, n, |cx, _| cx.tensor(&rest, &mut |_, _| fill.clone()));
        let mut parts = Vec::new();
        if first > 0 {
            parts.push(around(cx, first));
        }
        if end > first {
            parts.push(cx.each(kind, end - first, |cx, i| {
                place.push((i.int() + int(first)) * int(stride) - int(behind));
                let row = self.part(cx, plane, win, fill, phase, place);
                place.pop();
                row
            }));
        }
        if extent > end {
            parts.push(around(cx, extent - end));
        }
        concatenated(parts.into_iter())
    }
}

/// Calls `f` with the image of sample `n` and `fill` around it. Without paddings and strides this
/// is the sample itself.
pub(super) fn image(
    cx: &mut Cx,
    x: &Input,
    win: &Window,
    n: &Val,
    fill: &Val,
    f: impl FnOnce(&mut Cx, Image) -> Val,
) -> Val {
    let sample = x.at(std::slice::from_ref(n));
    let layout = Layout::of(x, win);
    if layout.plain {
        return f(cx, Image { val: sample, extents: layout.here, form: Form::Sample });
    }
    let val = cx.generate(&x.shape[1], |cx, c| layout.flat(cx, &sample.at(&[c]), win, fill));
    cx.bind("image", val.stored(), |cx, val| {
        f(cx, Image { val, extents: layout.extents, form: Form::Phases })
    })
}

/// The same for one channel.
fn plane_image(
    cx: &mut Cx,
    plane: Val,
    layout: &Layout,
    win: &Window,
    fill: &Val,
    f: impl FnOnce(&mut Cx, Image) -> Val,
) -> Val {
    if layout.plain {
        return f(cx, Image { val: plane, extents: layout.here.clone(), form: Form::Plane });
    }
    let val = layout.flat(cx, &plane, win, fill);
    cx.bind("image", val.stored(), |cx, val| {
        f(cx, Image { val, extents: layout.extents.clone(), form: Form::Flat })
    })
}

/// The weights of a convolution.
struct Filters<'f> {
    w: &'f Input,
    groups: i64,
    /// Where they are stored, if not in `w`.
    packed: Option<&'f Packed>,
    /// How they are read if they are bytes.
    bytes: Option<ByteFilters<'f>>,
    /// What is done behind the convolution.
    after: &'f Stages,
}

/// All filters of one sample, as one product of matrices for each group. The columns of a product
/// are the positions of the flat image from the first window to the last. Those between two rows of
/// windows are computed too, and dropped at the end.
fn sample(
    cx: &mut Cx,
    image: &Image,
    number: &Val,
    weights: &Filters,
    win: &Window,
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Val {
    let rank = win.kernel.len();
    let Filters { w, groups, packed, after, .. } = *weights;
    let taps = product(&w.shape[1..]);
    let places: Vec<i64> = win.places.iter().map(|n| n.as_constant().unwrap_or(0)).collect();
    let filters = w.shape[0].as_constant().unwrap_or(0);
    let per_group = filters / groups;
    let cg = w.shape[1].as_constant().unwrap_or(1);
    let (pitches, phases) = (image.pitches(), win.phases());
    let columns = 1 + (0..rank).map(|d| (places[d] - 1) * pitches[d]).sum::<i64>();
    let all_are_windows = columns == places.iter().product::<i64>();
    let group = |cx: &mut Cx, g: Val| {
        let filter = |m: &Val| if groups == 1 { m.clone() } else { &g * int(per_group) + m.int() };
        let left = |cx: &mut Cx, m: &Val, k: &Val| {
            let row = w.at(&[filter(m)]);
            reshape(cx, &row, &w.shape[1..], std::slice::from_ref(&taps)).at(std::slice::from_ref(k))
        };
        // The element of a channel, if it is given, and a place in the window; else the place is
        // in all channels.
        let element = |cx: &mut Cx, channel: Option<&Val>, k: &Val, column: &Val| {
            let mut rest = k.int();
            let mut tap = Vec::new();
            for n in w.shape[2..].iter().rev() {
                tap.push(&rest % size(n));
                rest = rest / size(n);
            }
            tap.reverse();
            let channel = channel.cloned().unwrap_or(rest);
            let channel = if groups == 1 { channel } else { &g * int(cg) + channel };
            let (mut place, mut phase) = (column.clone(), int(0));
            for d in 0..rank {
                let reach = &tap[d] * int(win.dilations[d]);
                phase = phase * int(phases[d]) + &reach % int(win.strides[d]);
                place = place + reach / int(win.strides[d]) * int(pitches[d]);
            }
            image.flat_element(cx, channel, phase * int(image.extents.iter().product()) + place)
        };
        let placed = |cx: &mut Cx, product: Val| {
            if all_are_windows {
                return folded(product, &win.places);
            }
            let shape: Extents = [&[Size::constant(per_group)], &win.places[..]].concat();
            cx.bind("product", product.stored(), |cx, product| {
                cx.tensor(&shape, &mut |cx, at| {
                    let column = (0..rank).fold(int(0), |sum, d| sum + at[1 + d].int() * int(pitches[d]));
                    let m = filter(&at[0]);
                    let value = last(cx, product.at(&[at[0].clone(), column]), &m);
                    after.apply(cx, value, &[&[number.clone(), m], &at[1..]].concat(), &vec![1; 2 + rank])
                })
            })
        };
        let with_last = |cx: &mut Cx, sum: Val, m: &Val, column: &Val| {
            if !all_are_windows {
                return sum;
            }
            let (m, dims) = (filter(m), [1, 1, rank]);
            let value = last(cx, sum, &m);
            after.apply(cx, value, &[number.clone(), m, column.clone()], &dims)
        };
        let taps = taps.as_constant().unwrap_or(0);
        let extents = [per_group, taps, columns];
        let scalar = w.scalar();
        if let Some(bytes) = &weights.bytes {
            let left = |cx: &mut Cx, m: &Val, k: &Val| bytes.word(cx, &g, m, &filter(m), k);
            let right = |cx: &mut Cx, k: &Val, column: &Val| {
                bytes.pairs.word(cx, k, |cx, channel, tap| element(cx, Some(channel), tap, column))
            };
            let extents = [per_group, columns];
            let (pairs, right) = (bytes.pairs, Side::Elements(&right));
            let product = Bytes { extents, pairs, registers, left: &left, right, last: &with_last };
            let product = product.build(cx);
            return placed(cx, product);
        }
        let left = match packed {
            Some(packed) => Side::Panels(packed.matrix(&g)),
            None => Side::Elements(&left),
        };
        let right = |cx: &mut Cx, k: &Val, column: &Val| element(cx, None, k, column);
        let (right, pairs, last) = (Side::Elements(&right), false, &with_last);
        let (extents, cut) = (tiles::sizes(extents), tiles::Cut::default());
        let product = Product { extents, cut, registers, scalar, pairs, left, right, last }.build(cx);
        placed(cx, product)
    };
    if groups == 1 {
        return group(cx, int(0));
    }
    let all = cx.generate(&Size::constant(groups), |cx, g| group(cx, g.int()));
    match all.term() {
        Ok(term) => functional::build::join(term).into(),
        Err(refusal) => refusal.into(),
    }
}
