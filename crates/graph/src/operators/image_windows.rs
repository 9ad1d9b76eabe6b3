//! Windows over images, for C. Convolutions become matrix products of weights and patches, or go
//! row by row if groups are narrow. Pooling goes row by row. Sums keep their order.

use functional::Prim;
use loops::{Registers, Size};

use super::build::{Cx, Extents, folded, product, reshape};
use super::byte_filters::{ByteFilters, Weights};
use super::convolution::Window;
use super::epilogue::Stages;
use super::packing::Packed;
use super::sliding::{MOST_TAPS, Rows, sliding};
use super::tiles::{self, Element, Product, Side, WORTH_TILES, concatenated, packing};
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
    if groups == 1 && stored {
        if let Some(found) = super::whole_images::convolution(op, x, w, win, registers, last) {
            return Some(found);
        }
        let others = tiles::columns(registers, x.scalar(), filters, Layout::of(x, win).columns(win));
        let found = super::filter_lanes::convolution(op, x, w, win, registers, others, last)
            .or_else(|| super::row_tiles::convolution(op, x, w, win, registers, last));
        if found.is_some() {
            return found;
        }
    }
    if let Some(val) = products(op, x, w, win, (groups, weights), registers, last) {
        return Some(val);
    }
    let step = |_: &mut Cx, acc: Val, value: Val, m: &Val, tap: &[Val]| {
        acc + value * w.at(&[std::slice::from_ref(m), tap].concat())
    };
    let per = w.shape[1].as_constant()?;
    let channel = |m: &Val, c: &Val| m.int() / int(per_group) * int(per) + c.int();
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
        Weights::Bytes { .. } | Weights::Fours { .. } => {
            bytes = Some(ByteFilters::of(op, &weights, groups, Layout::of(x, win).columns(win))?);
        }
        Weights::Computed => {}
    }
    let after = op.stages();
    let zero = match weights {
        Weights::Fours { to_number, .. } => number(x.scalar(), 0.0) - to_number(&mut op.cx),
        _ => number(x.scalar(), 0.0),
    };
    let filters = Filters { w, groups, packed: packed.as_ref(), bytes, after: &after };
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        image(cx, x, win, &n, &zero, |cx, image| sample(cx, &image, &n, &filters, win, registers, last))
    }))
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
    /// A channel of the sample itself: `[extents …]`, read with the strides of the window.
    Plane,
    /// A channel, its phases one after the other: one dimension.
    Flat,
}

impl Image {
    /// What a window at a place has at a tap.
    pub(super) fn element(&self, cx: &mut Cx, win: &Window, channel: Val, tap: &[Val], place: &[Val]) -> Val {
        let at = |d: usize| &place[d] * int(win.strides[d]) + &tap[d] * int(win.dilations[d]);
        let from = (0..place.len()).map(at);
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
    pub(super) fn flat(&self, cx: &mut Cx, win: &Window, channel: Val, tap: &[Val], place: &Val) -> Val {
        let (mut phase, mut place) = (int(0), place.clone());
        let pitches = self.pitches();
        for (d, phases) in win.phases().into_iter().enumerate() {
            let (reach, split) = (&tap[d] * int(win.dilations[d]), win.split(d));
            phase = phase * int(phases);
            if win.reach(d) < split {
                phase = phase + reach;
            } else {
                phase = phase + &reach % int(split);
                place = place + reach / int(split) * int(pitches[d]);
            }
        }
        if self.form == Form::Plane {
            let extents: Extents = self.extents.iter().copied().map(Size::constant).collect();
            return reshape(cx, &self.val, &extents, &[product(&extents)]).at(&[place]);
        }
        let place = phase * int(self.extents.iter().product::<i64>()) + place;
        if self.form == Form::Phases { self.val.at(&[channel, place]) } else { self.val.at(&[place]) }
    }

    /// Whether it is a channel of the sample itself, of which windows with strides read elements.
    pub(super) fn is_strided(&self, win: &Window) -> bool {
        self.form == Form::Plane && win.strides.iter().any(|stride| *stride > 1)
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
    /// From the first element of a window to the last one.
    pub(super) fn reach(&self, d: usize) -> i64 {
        self.dilations[d] * (self.kernel[d] - 1)
    }

    /// From one element of a phase to the next: the stride, or more than a window if each of its
    /// elements has a phase.
    fn split(&self, d: usize) -> i64 {
        if self.apart && d + 1 == self.kernel.len() { self.reach(d) + 1 } else { self.strides[d] }
    }

    /// How many phases each dimension has.
    fn phases(&self) -> Vec<i64> {
        (0..self.kernel.len()).map(|d| self.split(d).min(self.reach(d) + 1)).collect()
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
pub(super) struct Layout {
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
    pub(super) fn of(x: &Input, win: &Window) -> Layout {
        let rank = win.kernel.len();
        let number_of = |n: &Size| n.as_constant().unwrap_or(0);
        let here: Vec<i64> = x.shape[2..].iter().map(number_of).collect();
        let extents: Vec<i64> =
            (0..rank).map(|d| number_of(&win.places[d]) + win.reach(d) / win.split(d)).collect();
        let unsplit = |d: usize| win.strides[d] == 1 && win.split(d) == 1;
        let plain = (0..rank).all(|d| unsplit(d) && win.before[d] == 0 && extents[d] <= here[d]);
        Layout { here, extents, phases: win.phases(), plain }
    }

    /// Whether windows need a copy of the sample.
    pub(super) fn is_copied(&self) -> bool {
        !self.plain
    }

    /// Elements of a row of one phase: of all dimensions but the first one.
    pub(super) fn row_elements(&self) -> i64 {
        self.extents.iter().skip(1).product()
    }

    /// Whether no two windows have an element in common, and all are inside of the sample.
    fn is_read_once(&self, win: &Window) -> bool {
        (0..self.here.len()).all(|d| {
            let last = win.places[d].as_constant().map_or(0, |n| (n - 1) * win.strides[d]);
            let apart = win.kernel[d] <= win.strides[d] && (win.dilations[d] == 1 || win.kernel[d] == 1);
            apart && win.before[d] == 0 && last + win.reach(d) < self.here[d]
        })
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

/// The same for one channel. One whose elements are read once at most is not split for strides.
pub(super) fn plane_image(
    cx: &mut Cx,
    plane: Val,
    layout: &Layout,
    win: &Window,
    fill: &Val,
    f: impl FnOnce(&mut Cx, Image) -> Val,
) -> Val {
    if layout.plain || layout.is_read_once(win) {
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
            let image =
                |cx: &mut Cx, channel: &Val, tap: &Val, column: &Val| element(cx, Some(channel), tap, column);
            let extents = [per_group, columns];
            let product = bytes.product(cx, (&g, &filter), extents, registers, &image, &with_last);
            return placed(cx, product);
        }
        let left = match packed {
            Some(packed) => Side::Panels(packed.matrix(&g)),
            None => Side::Elements(&left),
        };
        let right = |cx: &mut Cx, k: &Val, column: &Val| element(cx, None, k, column);
        let in_rows = image.form == Form::Sample && win.kernel.iter().chain(&win.strides).all(|n| *n == 1);
        let right = if in_rows { Side::Rows(&right) } else { Side::Elements(&right) };
        let (element, last) = (Element::Number, &with_last);
        let (extents, cut) = (tiles::sizes(extents), tiles::Cut::default());
        let product = Product { extents, cut, registers, scalar, element, left, right, last }.build(cx);
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
